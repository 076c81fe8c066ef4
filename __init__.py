"""
Shardwright: an SPMD partitioner that you can read.

Write a program on whole arrays, say how a few of them are distributed over a mesh, and run it on all devices:

>>> import numpy, shardwright
>>> mesh = shardwright.Mesh(batch=4, model=2)
>>> x = shardwright.relayout(numpy.ones((8, 16), "float32"), shardwright.Layout(["batch"], mesh))
>>> w = shardwright.relayout(numpy.ones((16, 4), "float32"), shardwright.Layout([None, "model"], mesh))
>>> @shardwright.function
... def layer(x, w):
...     return shardwright.nn.relu(x @ w)
>>> layer(x, w)
DTensor([[16., 16., 16., 16.],
         [16., 16., 16., 16.],
         [16., 16., 16., 16.],
         [16., 16., 16., 16.],
         [16., 16., 16., 16.],
         [16., 16., 16., 16.],
         [16., 16., 16., 16.],
         [16., 16., 16., 16.]], f32[8@batch, 4@model], Mesh(batch=4, model=2))

Functions and types have the names of the array API standard, so that `x.__array_namespace__()` is this module.
"""

import sys as _sys
import types as _types
import typing as _typing
from importlib import import_module as _import_module

from shardwright._collector import collector_paused as _collector_paused
from shardwright._version import __version__

__array_api_version__ = "2024.12"

if _typing.TYPE_CHECKING:
    from shardwright import _public
    from shardwright._public import *
    from shardwright.frontends.arrays import *
    from shardwright.frontends.functions import *
    from shardwright.frontends.training import *

    __all__ = ["__array_api_version__", "__version__"]
    __all__ += _public.__all__
else:  # loaded when a name is asked for: `shardwright --help` needs none

    def __getattr__(name: str) -> _typing.Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module 'shardwright' has no attribute {name!r}")
        public = _with_collector_paused("shardwright._public")
        found = {each: vars(public)[each] for each in public.__all__ if each in vars(public)}
        globals().update(found, __all__=["__array_api_version__", "__version__", *public.__all__])
        return globals()[name] if name in globals() else getattr(public, name)

    def _with_collector_paused(module: str) -> _types.ModuleType:
        """The module, imported without the cycle collector: what is made meanwhile, a tenth of a million, stays."""
        with _collector_paused():
            return _import_module(module)

    class _Namespace(_types.ModuleType):
        """What `import shardwright.linalg` finds until the room is loaded, which lies elsewhere."""

        def __getattr__(self, name: str) -> _typing.Any:
            if name.startswith("__") and name != "__all__":
                raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
            return getattr(self._room(), name)

        def __dir__(self) -> list[str]:
            return dir(self._room())

        def _room(self) -> _types.ModuleType:
            return getattr(_with_collector_paused("shardwright._public"), self.__name__.rpartition(".")[2])

    for _name in ("distribute", "fft", "jax", "linalg", "metrics", "nn", "optimizers", "random"):
        _sys.modules[f"shardwright.{_name}"] = _Namespace(f"shardwright.{_name}")


def __dir__() -> list[str]:
    return sorted(_sys.modules[__name__].__all__)
