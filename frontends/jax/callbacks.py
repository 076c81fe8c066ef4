"""Functions that a program of this process calls back: run where they compute a value and nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr

from shardwright.dialects.stablehlo import CustomCallOp
from shardwright.engines.jax.internals import host_callbacks
from shardwright.passes.importing.gspmd import SHARDING
from shardwright.rules.families.custom_calls import CALLS
from shardwright.runtime.kernels.custom_calls import FUNCTIONS

_NUMBERS = itertools.count()
"""No two programs call their functions alike."""


def keep_callbacks(module: ModuleOp, lowered: Any) -> None:
    """
    Lets custom calls into Python without side effects call their function, by a name of its own.

    They take whole arrays, wherever JAX would have called them. The functions are kept as long as this process.
    """
    functions = host_callbacks(lowered)
    for op in module.walk():
        if isinstance(op, CustomCallOp) and op.is_callback and not op.effects and any(one.uses for one in op.results):
            function = functions[op.options["index"]]
            name = f"jax.callback.{next(_NUMBERS)}"
            CALLS[name], FUNCTIONS[name] = None, _on_arrays(function)
            op.properties["call_target_name"] = StringAttr(name)
            for said in (SHARDING, "mhlo.backend_config"):  # which device calls, and which function it was
                op.attributes.pop(said, None)


def _on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """JAX's function of arrays as a kernel: several results in a tuple, as NumPy's arrays."""

    def kernel(*parts: Any) -> tuple[Any, ...]:
        return tuple(np.asarray(result) for result in function(*parts))

    return kernel
