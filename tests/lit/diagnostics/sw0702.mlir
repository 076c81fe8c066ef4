// RUN: not shardwright run %s.missing 2>&1 | filecheck %s
// CHECK: sw0702.mlir.missing:1:1: error[SW0702]: cannot read '{{.*}}sw0702.mlir.missing': it does not exist
// CHECK-NEXT: help: check the path; '-' reads standard input
