"""Programs of the dense family, written in JAX: MLPs, transformer blocks, norms, losses and einsums."""
