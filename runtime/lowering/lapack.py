"""The emitter of custom calls: LAPACK's routines, each with its own way of reading the call's options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation

from shardwright.diagnostics import ShardwrightValueError
from shardwright.dialects.stablehlo.calls.custom_calls import CustomCallOp, unknown_call
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.runtime.lowering.emitters import Lowering, emitter
from shardwright.runtime.lowering.linear_algebra import lead_shape
from shardwright.runtime.program import Value


def _letters(*names: str) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """Options that are letters, by their codes."""
    return lambda options: tuple(chr(options[name]) for name in names)


def _symmetric(options: dict[str, Any]) -> tuple[Any, ...]:
    return chr(options["uplo"]), options["mode"] == ord("V")


_STATIC: dict[str, tuple[str, Callable[[dict[str, Any]], tuple[Any, ...]]]] = {
    "getrf": ("getrf", _letters()),
    "geqrf": ("geqrf", _letters()),
    "geqp3": ("geqp3", _letters()),
    "orgqr": ("orgqr", _letters()),
    "ungqr": ("orgqr", _letters()),
    "ormqr": ("ormqr", lambda options: (bool(options["left"]), bool(options["transpose"]))),
    "unmqr": ("ormqr", lambda options: (bool(options["left"]), bool(options["transpose"]))),
    "potrf": ("potrf", _letters("uplo")),
    "trsm": ("trsm", _letters("side", "uplo", "trans_x", "diag")),
    "syevd": ("syevd", _symmetric),
    "heevd": ("syevd", _symmetric),
    "gesdd": ("gesdd", _letters("mode")),
    "gesvd": ("gesdd", _letters("mode")),
    "geev": ("geev", lambda options: (options["compute_right"] == ord("V"),)),
    "gtsv": ("gtsv", _letters()),
    "gehrd": ("gehrd", lambda options: (int(options["low"]), int(options["high"]))),
    "sytrd": ("sytrd", _letters()),
    "hetrd": ("sytrd", _letters()),
}
"""For each routine its kernel, and what this takes besides arrays."""


@emitter("stablehlo.custom_call")
def _custom_call(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, CustomCallOp)
    if op.routine is None:
        raise ShardwrightValueError(unknown_call(op))
    kernel, static = _STATIC[op.routine]
    lead = lead_shape(lowering, operands)
    shapes = [lead + shape_of(result) for result in op.results]
    dtypes = [element_dtype(result.type) for result in op.results]
    if len(shapes) == 1:
        return [lowering.builder.call(kernel, operands, shapes[0], dtypes[0], *static(op.options))]
    return lowering.builder.call_many(kernel, operands, shapes, dtypes, *static(op.options))
