"""LAPACK's custom calls: LU and QR factors column by column, for all matrices of a batch at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from shardwright.dialects.stablehlo import CustomCallOp
from shardwright.frontends.tensorflow.exporting.emitter import Emitter, handler
from shardwright.frontends.tensorflow.exporting.nodes import BOOL, INT32, DType, Refusal, Shape, Tensor
from shardwright.frontends.tensorflow.exporting.operations.control import Step, counted_loop
from shardwright.frontends.tensorflow.exporting.operations.linear_algebra import adjoint, cholesky_factor, solved
from shardwright.frontends.tensorflow.exporting.operations.pointwise import at_least, both, conj, convert, equal, real


@handler("stablehlo.custom_call")
def _custom_call(emitter: Emitter, op: CustomCallOp, operands: list[Tensor]) -> list[Tensor]:
    write = ROUTINES.get(op.routine or "")
    if write is None:
        raise Refusal(f"@{op.target} has no counterpart with equal results")
    return write(emitter, operands, op.options)


def _potrf(e: Emitter, operands: list[Tensor], options: dict[str, Any]) -> list[Tensor]:
    """The factor in its triangle, the operand in the other one; TensorFlow stops where there is none."""
    (x,), lower = operands, chr(options["uplo"]) == "L"
    factor, size = cholesky_factor(e, x, lower=lower), x.shape[-1]
    rows, columns = e.counted((size, 1), 0), e.counted((1, size), 1)
    inside = e.call("GreaterEqual" if lower else "LessEqual", rows, columns, result=BOOL)
    return [e.select(inside, factor, x), e.splat(0, INT32, x.shape[:-2])]


def _trsm(e: Emitter, operands: list[Tensor], options: dict[str, Any]) -> list[Tensor]:
    side, uplo, transpose, diagonal = (chr(options[name]) for name in ("side", "uplo", "trans_x", "diag"))
    return [solved(e, operands[0], operands[1], side == "L", uplo == "L", diagonal == "U", TRANSPOSES[transpose])]


def _getrf(e: Emitter, operands: list[Tensor], options: dict[str, Any]) -> list[Tensor]:
    """Both triangles, the pivots from one, and the number of the first pivot that is zero, or 0."""
    count = min(operands[0].shape[-2:])
    return _by_columns(e, "lu", operands[0], _eliminate, [(INT32, (count,), (count,)), (INT32, (1,), ())])


def _by_columns(
    e: Emitter, name: str, matrices: Tensor, step: Step, beside: Sequence[tuple[DType, Shape, Shape]]
) -> list[Tensor]:
    """
    Factors, made one column after the other, and what is found beside them, which begins with zeros.

    `beside` says for each of those its elements, its shape for one matrix in the loop, and that of the result.
    """
    *fronts, rows, columns = matrices.shape
    batch, count = math.prod(fronts), min(rows, columns)
    if not batch or not count:
        return [matrices, *(e.splat(0, dtype, (*fronts, *shape)) for dtype, _, shape in beside)]
    work = e.reshape(matrices, (batch, rows, columns))
    state = [work, *(e.splat(0, dtype, (batch, *shape)) for dtype, shape, _ in beside)]
    shapes = [matrices.shape, *((*fronts, *shape) for _, _, shape in beside)]
    found = counted_loop(e, name, count, state, [], step)
    return [e.reshape(made, shape) for made, shape in zip(found, shapes, strict=True)]


def _eliminate(e: Emitter, turn: Tensor, work: Tensor, pivots: Tensor, info: Tensor) -> list[Tensor]:
    """One column: its largest element that is left changes places with the diagonal, and what is below is divided."""
    rows, columns = e.counted((work.shape[1], 1), 0), e.counted((1, work.shape[2]), 1)
    column = _taken(e, work, turn, 2)
    size = _by_parts(e, "Abs", column)
    left = e.call("GreaterEqual", rows, turn, result=BOOL)
    chosen = e.reshape(e.whole(e.select(left, size, e.like(-1, size))), work.shape[:2])
    place = e.node("ArgMax", (chosen, e.constant(1, INT32)), work.shape[:1], INT32, output_type=INT32)
    place = e.reshape(place, (work.shape[0], 1))
    pivot_row = e.gather(work, place, 1, batch_dims=1)
    at_place = e.call("Equal", rows, e.reshape(place, (work.shape[0], 1, 1)), result=BOOL)
    work = e.select(at_place, _taken(e, work, turn, 1), work)
    work = e.select(e.call("Equal", rows, turn, result=BOOL), pivot_row, work)
    pivot = _taken(e, pivot_row, turn, 2)
    is_zero = equal(e, pivot, 0)
    below = e.call("Greater", rows, turn, result=BOOL)
    scaled = e.call("RealDiv", _taken(e, e.whole(work), turn, 2), e.select(is_zero, e.like(1, pivot), pivot))
    right = both(e, below, e.call("Greater", columns, turn, result=BOOL))
    reduced = e.call("Sub", work, e.call("Mul", scaled, pivot_row))
    work = e.select(right, reduced, work)
    own = both(e, below, e.call("Equal", columns, turn, result=BOOL))
    work = e.select(own, scaled, work)
    number = e.call("AddV2", turn, e.like(1, turn))
    here = e.call("Equal", e.counted((1, pivots.shape[1]), 1), turn, result=BOOL)
    pivots = e.select(here, e.call("AddV2", place, e.like(1, place)), pivots)
    first = both(e, equal(e, info, 0), e.reshape(e.whole(is_zero), info.shape))
    return [work, pivots, e.select(first, number, info)]


def _taken(e: Emitter, x: Tensor, turn: Tensor, dim: int) -> Tensor:
    """One row or column of each matrix."""
    return e.gather(x, e.reshape(turn, (1,)), dim)


def _by_parts(e: Emitter, kind: str, x: Tensor) -> Tensor:
    """`Abs` or `Square`; of complex numbers the sum over both parts, as LAPACK measures them."""
    if x.dtype.kind != "c":
        return e.call(kind, x)
    parts = [e.call(kind, e.call(name, x, result=x.dtype.type(0).real.dtype)) for name in ("Real", "Imag")]
    return e.call("AddV2", *parts)


def _geqrf(e: Emitter, operands: list[Tensor], options: dict[str, Any]) -> list[Tensor]:
    """The upper factor above the reflectors, and the reflectors' scales."""
    count = min(operands[0].shape[-2:])
    return _by_columns(e, "qr", operands[0], _reflect, [(operands[0].dtype, (1, count), (count,))])


def _reflect(e: Emitter, turn: Tensor, work: Tensor, scales: Tensor) -> list[Tensor]:
    """One column: the reflector that leaves nothing below the diagonal, and the columns after it reflected."""
    rows, columns = e.counted((work.shape[1], 1), 0), e.counted((1, work.shape[2]), 1)
    column, first = _taken(e, work, turn, 2), _taken(e, _taken(e, work, turn, 1), turn, 2)
    below, here = (e.call(name, rows, turn, result=BOOL) for name in ("Greater", "Equal"))
    squares = e.select(below, _by_parts(e, "Square", column), _by_parts(e, "Square", e.like(0, column)))
    inputs = (e.whole(squares), e.integers([1]))
    tail = e.node("Sum", inputs, (column.shape[0], 1, 1), squares.dtype, keep_dims=True)
    real_first = real(e, first)
    length = e.call("Sqrt", e.call("AddV2", _by_parts(e, "Square", first), tail))
    beta = e.select(at_least(e, real_first, 0), e.call("Neg", length), length)
    nothing = both(e, equal(e, tail, 0), e.call("Equal", first, convert(e, real_first, first.dtype), result=BOOL))
    one, wide = e.like(1, first), convert(e, beta, first.dtype)
    difference = e.call("Sub", wide, first)
    scale = e.select(nothing, e.like(0, first), e.call("RealDiv", difference, e.select(nothing, one, wide)))
    divided = e.call("RealDiv", column, e.select(nothing, one, e.call("Neg", difference)))
    vector = e.select(here, e.like(1, column), e.select(below, divided, e.like(0, column)))
    reflected = _from_left(e, work, e.whole(vector), conj(e, scale))
    work = e.select(e.call("Greater", columns, turn, result=BOOL), reflected, work)
    left = e.select(nothing, convert(e, real_first, first.dtype), wide)
    made = e.select(here, left, e.select(below, vector, column))
    work = e.select(e.call("Equal", columns, turn, result=BOOL), made, work)
    own = e.call("Equal", e.counted((1, scales.shape[2]), 1), turn, result=BOOL)
    return [work, e.select(own, scale, scales)]


def _from_left(e: Emitter, work: Tensor, vector: Tensor, scale: Tensor) -> Tensor:
    """`work - scale * v @ v^H @ work`."""
    shape = (work.shape[0], 1, work.shape[2])
    product = e.node("BatchMatMulV2", (vector, e.whole(work)), shape, work.dtype, adj_x=True, adj_y=False)
    return e.call("Sub", work, e.call("Mul", e.call("Mul", scale, vector), product))


def _orgqr(e: Emitter, operands: list[Tensor], options: dict[str, Any]) -> list[Tensor]:
    """The first columns of the product of reflectors."""
    shape = operands[0].shape
    rows, columns = e.counted((shape[-2], 1), 0), e.counted((1, shape[-1]), 1)
    diagonal = e.call("Equal", rows, columns, result=BOOL)
    identity = e.broadcast(convert(e, diagonal, operands[0].dtype), shape)
    return [_product(e, operands[0], operands[1], identity, adjoint=False)]


def _ormqr(e: Emitter, operands: list[Tensor], options: dict[str, Any]) -> list[Tensor]:
    """`q @ c`, or `c @ q` as the adjoint of `q^H @ c^H`, or the same with the adjoint of q."""
    a, scales, c = operands[0], operands[1], operands[2]
    left, transpose = bool(options["left"]), bool(options["transpose"])
    if left:
        return [_product(e, a, scales, c, adjoint=transpose)]
    return [adjoint(e, _product(e, a, scales, adjoint(e, c), adjoint=not transpose))]


def _product(e: Emitter, a: Tensor, scales: Tensor, c: Tensor, *, adjoint: bool) -> Tensor:
    """The product of all reflectors, first one leftmost, or its adjoint, times `c`."""
    *fronts, rows, columns = c.shape
    batch, count = math.prod(fronts), scales.shape[-1]
    if not math.prod(c.shape) or not count:
        return c
    fixed = [e.reshape(a, (batch, *a.shape[-2:])), e.reshape(scales, (batch, 1, count))]

    def step(inner: Emitter, turn: Tensor, work: Tensor, *fixed: Tensor) -> list[Tensor]:
        at = turn if adjoint else inner.call("Sub", inner.like(count - 1, turn), turn)
        column, scale = (_taken(inner, inner.whole(each), at, 2) for each in fixed)
        place = inner.counted((rows, 1), 0)
        below, here = (inner.call(name, place, at, result=BOOL) for name in ("Greater", "Equal"))
        vector = inner.select(here, inner.like(1, column), inner.select(below, column, inner.like(0, column)))
        return [_from_left(inner, work, inner.whole(vector), conj(inner, scale) if adjoint else scale)]

    (made,) = counted_loop(e, "reflect", count, [e.reshape(c, (batch, rows, columns))], fixed, step)
    return e.reshape(made, c.shape)


Routine: TypeAlias = "Callable[[Emitter, list[Tensor], dict[str, Any]], list[Tensor]]"

ROUTINES: dict[str, Routine] = {
    "getrf": _getrf,
    "geqrf": _geqrf,
    "orgqr": _orgqr,
    "ungqr": _orgqr,
    "ormqr": _ormqr,
    "unmqr": _ormqr,
    "potrf": _potrf,
    "trsm": _trsm,
}
"""What writes each routine; eigenvectors and singular vectors are not here, which come out with other signs."""

TRANSPOSES = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}
