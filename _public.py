"""All that `import shardwright` shows, and where the rarely used names come from when they are asked for."""

import sys as _sys
import typing as _typing
from importlib import import_module as _import_module
from math import e, inf, nan, pi

# As modules, not as names of their package: a checker that reads an installed package finds their `__all__` so alone.
import shardwright.dtensor as dtensor
import shardwright.frontends.arrays as _arrays
import shardwright.frontends.functions as _functions
import shardwright.frontends.training as _training
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightTypeError, ShardwrightValueError
from shardwright.diagnostics.tracebacks import show_users_frames as _show_users_frames
from shardwright.frontends import jax as jax
from shardwright.frontends.arrays import *
from shardwright.frontends.functions import *
from shardwright.frontends.training import *
from shardwright.layout import Layout, Link, Mesh, Topology, XlaOpSharding
from shardwright.layout.layout_map import LayoutMap

newaxis = None

__all__ = [
    "Array",
    "ArrayLike",
    "Checkpoint",
    "CheckpointManager",
    "Diagnostic",
    "Layout",
    "LayoutMap",
    "Link",
    "Mesh",
    "ShardwrightError",
    "ShardwrightTypeError",
    "ShardwrightValueError",
    "Topology",
    "Workers",
    "XlaOpSharding",
    "convert",
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
    "progress",
    "register_custom_call",
    "save",
    "to_graph_def",
    "to_saved_model",
    "verify_checkpoint",
    "visualize",
]
__all__ += _arrays.__all__
__all__ += _functions.__all__
__all__ += _training.__all__

_show_users_frames()
for _room in (_arrays.nn, _arrays.random, jax, _training.distribute, _training.metrics, _training.optimizers):
    _sys.modules[f"shardwright.{_room.__name__.rpartition('.')[2]}"] = (
        _room  # so that they can be imported by that name
    )

if _typing.TYPE_CHECKING:
    from shardwright.engines.cupy.gpus import gpu_mesh
    from shardwright.engines.workers.controller import Workers
    from shardwright.frontends.arrays import fft, linalg
    from shardwright.frontends.jax.calls.custom_calls import register_custom_call
    from shardwright.frontends.jax.importing import from_jax, load_mlir
    from shardwright.frontends.tensorflow.exporting.files import to_saved_model
    from shardwright.frontends.tensorflow.exporting.graphs import to_graph_def
    from shardwright.frontends.tensorflow.importing.importing import from_graph, from_saved_model
    from shardwright.saving.checkpoints.checkpoint import Checkpoint, list_variables, load_variables, verify_checkpoint
    from shardwright.saving.checkpoints.manager import CheckpointManager
    from shardwright.saving.directories import load, save
    from shardwright.saving.tensors.converting import convert
    from shardwright.views.pictures import visualize
    from shardwright.views.progress import progress
    from shardwright.views.traces.profiling import profile
else:  # checkers shall not think that the module has every attribute
    _LATER = {
        "Workers": "engines.workers.controller",
        "Checkpoint": "saving.checkpoints.checkpoint",
        "CheckpointManager": "saving.checkpoints.manager",
        "convert": "saving.tensors.converting",
        "from_graph": "frontends.tensorflow.importing.importing",
        "from_saved_model": "frontends.tensorflow.importing.importing",
        "from_jax": "frontends.jax.importing",
        "gpu_mesh": "engines.cupy.gpus",
        "profile": "views.traces.profiling",
        "progress": "views.progress",
        "list_variables": "saving.checkpoints.checkpoint",
        "load": "saving.directories",
        "load_mlir": "frontends.jax.importing",
        "load_variables": "saving.checkpoints.checkpoint",
        "register_custom_call": "frontends.jax.calls.custom_calls",
        "save": "saving.directories",
        "to_graph_def": "frontends.tensorflow.exporting.graphs",
        "to_saved_model": "frontends.tensorflow.exporting.files",
        "verify_checkpoint": "saving.checkpoints.checkpoint",
        "visualize": "views.pictures",
    }

    def __getattr__(name: str) -> _typing.Any:
        if name in ("fft", "linalg"):  # loaded when they are used
            found = _import_module(f"shardwright.frontends.arrays.{name}")
            _sys.modules[f"shardwright.{name}"] = found
            return found
        if name in _LATER:
            try:
                return getattr(_import_module(f"shardwright.{_LATER[name]}"), name)
            except ModuleNotFoundError as error:
                from shardwright.saving.faults import missing_package

                raise missing_package(error) from None
        if name.startswith("_"):
            raise AttributeError(f"module 'shardwright' has no attribute {name!r}")
        from shardwright.frontends.functions.naming.suggestions import no_function

        no_function(_sys.modules["shardwright"], name)
