"""Emitters of ops that are one call of a kernel: computed indices, windows, linear algebra, random bits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import astuple
from importlib.util import find_spec
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation

from shardwright.diagnostics import ShardwrightValueError
from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.calls.custom_calls import (
    CustomCallOp,
    scipy_is_missing,
    unclear_effect,
    unknown_call,
)
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.layout.planning.sweep import Sweep
from shardwright.runtime.kernels.custom_calls import FUNCTIONS
from shardwright.runtime.kernels.elementwise import working_dtype
from shardwright.runtime.lowering.emitters import Lowering, data, emitter, integers, result_dtype, result_shape
from shardwright.runtime.lowering.ops import REDUCERS, reducer_kind
from shardwright.runtime.program import EFFECT, Value
from shardwright.runtime.stacking import identity

_EDGES = ("edge_padding_low", "edge_padding_high", "interior_padding")
_TRIANGLE = ("left_side", "lower", "unit_diagonal")

_CALLS: dict[str, Callable[[Operation, int], Sequence[Any]]] = {
    "stablehlo.cholesky": lambda op, lead: [_flag(op, "lower")],
    "stablehlo.dynamic_slice": lambda op, lead: [integers(op, "slice_sizes"), lead],
    "stablehlo.dynamic_update_slice": lambda op, lead: [lead],
    "stablehlo.gather": lambda op, lead: [lead, astuple(data(op, "dimension_numbers")), integers(op, "slice_sizes")],
    "stablehlo.pad": lambda op, lead: [integers(op, name) for name in _EDGES],
    "stablehlo.triangular_solve": lambda op, lead: [
        *(_flag(op, name) for name in _TRIANGLE),
        str(data(op, "transpose_a")),
    ],
}
"""For each op with a kernel of its own name what this takes besides arrays, given the number of leading dims."""


@emitter(*_CALLS)
def _one_call(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    return lowering.kernel(op.name.partition(".")[2], op, operands, *_CALLS[op.name](op, lowering.builder.lead))


def _flag(op: Operation, name: str) -> bool:
    return name in op.properties and bool(data(op, name))


@emitter("stablehlo.fft")
def _fft(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    if not operands[0].size:  # NumPy refuses transforms of nothing
        return [lowering.builder.splat(0, lowering.fronts(operands) + result_shape(op), result_dtype(op))]
    return lowering.kernel("fft", op, operands, str(data(op, "fft_type")), integers(op, "fft_length"))


@emitter("stablehlo.rng_bit_generator")
def _rng_bit_generator(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    # DEFAULT is Philox on XLA's CPU backend.
    algorithm = "THREE_FRY" if str(data(op, "rng_algorithm")) == "THREE_FRY" else "PHILOX"
    bits = op.results[1]
    return lowering.kernel("random_bits", op, operands, algorithm, shape_of(bits), element_dtype(bits.type).name)


@emitter("stablehlo.scatter")
def _scatter(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    block, lead = op.regions[0].block, lowering.builder.lead
    numbers = astuple(data(op, "scatter_dimension_numbers"))
    kind = _combiner(block)
    if kind is not None:
        return lowering.kernel("scatter", op, operands, lead, kind, numbers)
    return lowering.kernel("scatter_fold", op, operands, lowering.region(block), lead, numbers)


def _combiner(block: Block) -> str | None:
    """How a scatter of one operand combines, when its body is one op on the old element and the new one, or none."""
    ops = list(block.ops)
    if len(block.args) != 2:
        return None
    if len(ops) == 1:
        return "set" if ops[0].operands[0] == block.args[1] else None
    if len(ops) != 2 or list(ops[1].operands) != list(ops[0].results):
        return None
    if ops[0].name == "stablehlo.subtract":
        return "subtract" if list(ops[0].operands) == list(block.args) else None
    kinds = REDUCERS | {"stablehlo.xor": "xor"}
    return kinds.get(ops[0].name) if set(ops[0].operands) == set(block.args) else None


def _fields(sweeps: Sequence[Sweep]) -> tuple[tuple[Any, ...], ...]:
    """The windows as text that a kernel's call can hold."""
    return tuple(astuple(sweep) for sweep in sweeps)


@emitter("stablehlo.convolution")
def _convolution(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, stablehlo.ConvolutionOp)
    builder, target = lowering.builder, result_dtype(op)
    shape = lowering.fronts(operands) + result_shape(op)
    if not all(operand.size for operand in operands) or 0 in shape:
        return [builder.splat(0, shape, target)]  # sums of nothing, or none
    dtype = functools.reduce(np.promote_types, map(working_dtype, (*(each.dtype for each in operands), target)))
    wide = [lowering.converted(operand, dtype) for operand in operands]
    numbers = tuple(dims for dims, _ in op.numbers.sides)
    product = builder.call("convolution", wide, shape, dtype, numbers, _fields(op.sweeps), op.groups)
    return [lowering.converted(product, target)]


@emitter("stablehlo.reduce_window")
def _reduce_window(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, stablehlo.ReduceWindowOp)
    kind, sweeps = reducer_kind(op.body.block), _fields(op.sweeps)
    if kind is None:
        return lowering.kernel("fold_window", op, operands, lowering.region(op.body.block), sweeps)
    value, start = operands
    # Edges may be filled with the start value, and it may come in once more, where that changes nothing.
    repeatable = kind in ("max", "min", "and", "or")
    neutral = repeatable or (start.splat is not None and start.splat == identity(kind, value.dtype))
    return lowering.kernel("reduce_window", op, operands, kind, sweeps, bool(neutral))


@emitter("stablehlo.select_and_scatter")
def _select_and_scatter(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, stablehlo.SelectAndScatterOp)
    bodies = [lowering.region(region.block) for region in (op.select, op.scatter)]
    return lowering.kernel("select_and_scatter", op, operands, *bodies, _fields(op.sweeps))


def _letters(*names: str) -> Callable[[CustomCallOp], tuple[Any, ...]]:
    """Options that are letters, by their codes."""
    return lambda op: tuple(chr(op.options[name]) for name in names)


def _singular(op: CustomCallOp) -> tuple[Any, ...]:
    """Whether vectors are wanted, and whether there are as many left ones as rows and right ones as columns."""
    (rows, columns), left, right = (shape_of(value)[-2:] for value in (op.operands[0], op.results[2], op.results[3]))
    return op.options["mode"] != ord("N"), (left, right) == ((rows, rows), (columns, columns))


_ROUTINES: dict[str, Callable[[CustomCallOp], tuple[Any, ...]]] = {
    "geev": lambda op: (op.options["compute_right"] == ord("V"),),
    "gees": lambda op: (op.options["mode"] == ord("V"),),
    "gehrd": lambda op: (int(op.options["low"]), int(op.options["high"])),
    "gesdd": _singular,
    "ormqr": lambda op: (bool(op.options["left"]), bool(op.options["transpose"])),
    "potrf": _letters("uplo"),
    "syevd": lambda op: (chr(op.options["uplo"]), op.options["mode"] == ord("V")),
    "trsm": _letters("side", "uplo", "trans_x", "diag"),
}
"""What LAPACK's routines take besides arrays; those not listed take nothing."""


def _users_call(lowering: Lowering, op: CustomCallOp, operands: list[Value]) -> list[Value]:
    """The call of a function from outside, which is called when the program runs and not before."""
    shapes = [shape_of(result) for result in op.results]
    dtypes = [element_dtype(result.type) for result in op.results]
    types = tuple((shape, dtype.name) for shape, dtype in zip(shapes, dtypes, strict=True))
    lead = lowering.builder.lead
    fronts = lowering.fronts(operands) if operands else (1,) * lead
    wholes, static = [fronts + shape for shape in shapes], (op.target, lead, types)
    if op.effects and lowering.atoms.clients.count > 1:
        raise ShardwrightValueError(unclear_effect(op))
    name = EFFECT if op.effects else "custom_call"
    return lowering.builder.call_many(name, operands, wholes, dtypes, *static, _said(op))


def _said(op: CustomCallOp) -> dict[str, Any]:
    """What a call says beside its operands, as far as Python has it."""
    return {name: value for name, value in op.options.items() if isinstance(value, int | float | str)}


_COMPLEX_NAMES = {"un": "or", "he": "sy"}
"""How the names of routines begin for complex matrices, and for real ones: one kernel does both."""


@emitter("stablehlo.custom_call")
def _custom_call(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, CustomCallOp)
    if op.target in FUNCTIONS:
        return _users_call(lowering, op, operands)
    if op.routine is None:
        raise ShardwrightValueError(unknown_call(op))
    if op.routine == "gees" and find_spec("scipy") is None:
        raise ShardwrightValueError(scipy_is_missing(op))
    routine = "gesdd" if op.routine == "gesvd" else op.routine  # the same factors by a slower algorithm
    routine = _COMPLEX_NAMES.get(routine[:2], routine[:2]) + routine[2:]
    static = _ROUTINES.get(routine, lambda op: ())
    return lowering.kernel(routine, op, operands, *static(op))
