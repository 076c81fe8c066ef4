// RUN: shardwright-opt %s -p canonicalize --verify-diagnostics

// expected-error @+1 {{canonicalize cannot run on a program that is in the planned stage}}
module attributes {dtensor.stage = "planned"} {}
