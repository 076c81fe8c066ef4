"""Programs of each device on JAX's devices: XLA compiles and runs them, JAX holds the arrays. Loads JAX on use."""

__all__: list[str] = []
