"""Operations the shape of whose result comes from data, and what the host needs beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.evaluate import Call, Value
from shardwright.frontends.tensorflow.importing.table import host_row

SUMS = {"Cumsum": np.add, "Cumprod": np.multiply}


@host_row("Const")
def _const(call: Call) -> Value:
    array = call.interpreter.state.constant(call.node)
    if array.dtype != call.dtype("dtype"):
        raise call.fault(f"its value is {array.dtype.name}, not {call.dtype('dtype').name}", "SW0887")
    return array


@host_row("Where")
def _places(call: Call, x: Any) -> Any:
    return np.argwhere(x).astype(np.int64)


@host_row("Unique", "UniqueV2", "UniqueWithCounts")
def _unique(call: Call, x: Any, *axis: Any) -> tuple[Any, ...]:
    """Each element once, in the order in which they come first; where it is for each; and how often there is one."""
    if x.ndim != 1 or (axis and call.numbers(axis[0], "dims") not in ([], [0])):
        raise call.fault("the elements of several dims are not supported", "SW0885")
    found, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    places, kind = np.empty_like(order), call.dtype("out_idx")
    places[order] = np.arange(len(order))
    rest = (counts[order].astype(kind),) if call.node.op == "UniqueWithCounts" else ()
    return found[order], places[inverse].astype(kind), *rest


@host_row(*SUMS)
def _running(call: Call, x: Any, axis: Any) -> Any:
    dim, function = call.dim(x, call.number(axis, "dim"), scalars=True), SUMS[call.node.op]
    value = np.flip(x, dim) if call["reverse"] else x
    done = function.accumulate(value, dim, dtype=x.dtype)
    if call["exclusive"]:
        edge = np.full_like(np.take(done, [0] if done.shape[dim] else [], dim), function.identity)
        done = np.concatenate([edge, np.take(done, np.arange(done.shape[dim] - 1), dim)], dim)
    return np.flip(done, dim) if call["reverse"] else done
