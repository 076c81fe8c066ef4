"""Kernels with the exact meaning of StableHLO, over stacked arrays."""
