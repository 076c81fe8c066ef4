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
import typing as _typing
from importlib import import_module as _import_module
from math import e, inf, nan, pi

from shardwright import dtensor
from shardwright._version import __version__
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightTypeError, ShardwrightValueError
from shardwright.frontends import arrays as _arrays, functions as _functions, jax as jax, training as _training
from shardwright.frontends.arrays import *
from shardwright.frontends.functions import *
from shardwright.frontends.training import *
from shardwright.layout import Layout, Mesh, XlaOpSharding
from shardwright.layout.layout_map import LayoutMap

__array_api_version__ = "2024.12"

newaxis = None

__all__ = [
    "Array",
    "ArrayLike",
    "Checkpoint",
    "CheckpointManager",
    "Diagnostic",
    "Layout",
    "LayoutMap",
    "Mesh",
    "ShardwrightError",
    "ShardwrightTypeError",
    "ShardwrightValueError",
    "Workers",
    "XlaOpSharding",
    "__array_api_version__",
    "__version__",
    "dtensor",
    "e",
    "fft",
    "from_graph",
    "from_jax",
    "from_saved_model",
    "gpu_mesh",
    "inf",
    "jax",
    "linalg",
    "list_variables",
    "load",
    "load_mlir",
    "load_variables",
    "nan",
    "newaxis",
    "pi",
    "profile",
    "save",
    "to_graph_def",
    "to_saved_model",
    "verify_checkpoint",
    "visualize",
]
__all__ += _arrays.__all__
__all__ += _functions.__all__
__all__ += _training.__all__

_sys.modules["shardwright.jax"] = jax  # `import shardwright.jax`: no folder at the root may be called as JAX is

if _typing.TYPE_CHECKING:
    from shardwright.engines.cupy.gpus import gpu_mesh
    from shardwright.engines.workers.controller import Workers
    from shardwright.frontends.arrays import fft, linalg
    from shardwright.frontends.jax.importing import from_jax, load_mlir
    from shardwright.frontends.tensorflow.exporting.files import to_saved_model
    from shardwright.frontends.tensorflow.exporting.graphs import to_graph_def
    from shardwright.frontends.tensorflow.importing.importing import from_graph, from_saved_model
    from shardwright.saving.checkpoints.checkpoint import Checkpoint, list_variables, load_variables, verify_checkpoint
    from shardwright.saving.checkpoints.manager import CheckpointManager
    from shardwright.saving.directories import load, save
    from shardwright.views.pictures import visualize
    from shardwright.views.traces.profiling import profile
else:  # checkers shall not think that the module has every attribute
    _LATER = {
        "Workers": "engines.workers.controller",
        "Checkpoint": "saving.checkpoints.checkpoint",
        "CheckpointManager": "saving.checkpoints.manager",
        "from_graph": "frontends.tensorflow.importing.importing",
        "from_saved_model": "frontends.tensorflow.importing.importing",
        "from_jax": "frontends.jax.importing",
        "gpu_mesh": "engines.cupy.gpus",
        "profile": "views.traces.profiling",
        "list_variables": "saving.checkpoints.checkpoint",
        "load": "saving.directories",
        "load_mlir": "frontends.jax.importing",
        "load_variables": "saving.checkpoints.checkpoint",
        "save": "saving.directories",
        "to_graph_def": "frontends.tensorflow.exporting.graphs",
        "to_saved_model": "frontends.tensorflow.exporting.files",
        "verify_checkpoint": "saving.checkpoints.checkpoint",
        "visualize": "views.pictures",
    }

    def __getattr__(name: str) -> _typing.Any:
        if name in ("fft", "linalg"):  # loaded when they are used
            return _import_module(f"shardwright.frontends.arrays.{name}")
        if name in _LATER:
            try:
                return getattr(_import_module(f"shardwright.{_LATER[name]}"), name)
            except ModuleNotFoundError as error:
                from shardwright.saving.faults import missing_package

                raise missing_package(error) from None
        if name.startswith("_"):
            raise AttributeError(f"module 'shardwright' has no attribute {name!r}")
        from shardwright.frontends.functions.naming.suggestions import no_function

        no_function(_import_module(__name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
