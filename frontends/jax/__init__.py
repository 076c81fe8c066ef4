"""
`shardwright.jax`: programs that JAX exported or would lower, and `jit`, by which JAX runs what Shardwright partitions.

Everything loads on use.
"""

import typing as _typing
from importlib import import_module as _import_module

__all__ = ["auto_shardings", "from_jax", "jit", "load_mlir", "shardings"]

if _typing.TYPE_CHECKING:
    from shardwright.frontends.jax.advising import auto_shardings, shardings
    from shardwright.frontends.jax.importing import from_jax, load_mlir
    from shardwright.frontends.jax.jitting import jit
else:
    _LATER = {
        "auto_shardings": "advising",
        "from_jax": "importing",
        "jit": "jitting",
        "load_mlir": "importing",
        "shardings": "advising",
    }

    def __getattr__(name: str) -> _typing.Any:
        if name not in _LATER:
            raise AttributeError(f"module 'shardwright.jax' has no attribute {name!r}")
        return getattr(_import_module(f"shardwright.frontends.jax.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return __all__
