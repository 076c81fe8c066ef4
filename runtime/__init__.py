"""Kernels, codegen and the engine: runs local-stage modules and counts what they send."""
