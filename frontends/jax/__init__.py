"""Programs from JAX: files that it exported, and functions that `jax.jit` made."""

from shardwright.frontends.jax.importing import from_jax, load_mlir

__all__ = ["from_jax", "load_mlir"]
