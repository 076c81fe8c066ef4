"""Functions that a program of this process calls back."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr

from shardwright.dialects.stablehlo import CustomCallOp
from shardwright.dialects.stablehlo.calls.custom_calls import is_token
from shardwright.engines.jax.internals import host_callbacks
from shardwright.passes.importing.gspmd import SHARDING
from shardwright.rules.families.custom_calls import CALLS, EFFECTS
from shardwright.runtime.kernels.custom_calls import FUNCTIONS

_NUMBERS = itertools.count()
"""No two programs call their functions alike."""


def keep_callbacks(module: ModuleOp, lowered: Any, *, effects: bool) -> None:
    """
    Lets custom calls into Python call their function, by a name of its own; without `effects` only for a result.

    They take whole arrays, wherever JAX would have called them. The functions are kept as long as this process.
    """
    functions = host_callbacks(lowered)
    for op in module.walk():
        if isinstance(op, CustomCallOp) and op.is_callback and (effects or _is_read(op)):
            function = functions[op.options["index"]]
            if any(map(is_token, op.operands)):
                function = partial(_without_token, function)
            name = f"jax.callback.{next(_NUMBERS)}"
            CALLS[name], FUNCTIONS[name] = None, _on_arrays(function)
            if op.effects:
                EFFECTS.add(name)
            op.properties["call_target_name"] = StringAttr(name)
            for said in (SHARDING, "mhlo.backend_config"):  # which device calls, and which function it was
                op.attributes.pop(said, None)


def _is_read(op: CustomCallOp) -> bool:
    """Whether somebody needs what comes back."""
    return any(result.uses for result in op.results if not is_token(result))


def _without_token(function: Callable[..., Any], *arguments: Any) -> Sequence[Any]:
    """What a function gives that JAX calls with a token, and that gives it back, before all else."""
    _, *results = function(np.zeros(0, np.bool_), *arguments)
    return results


def _on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """JAX's function as a kernel: of arrays that it may keep, with several results in a tuple, as NumPy's arrays."""

    def kernel(*parts: Any) -> tuple[Any, ...]:
        return tuple(np.asarray(result) for result in function(*map(np.array, parts)))

    return kernel
