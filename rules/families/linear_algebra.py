"""Rows of Fourier transforms, Cholesky factors, triangular systems, LAPACK calls and random bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from xdsl.ir import Attribute, Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.algebra.linear_algebra import Transpose
from shardwright.dialects.stablehlo.calls.custom_calls import lapack_batch
from shardwright.dialects.stablehlo.parts import syntax
from shardwright.dialects.types import bit_width, element_of
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.expansion import Expansion
from shardwright.rules.families.matrices.elimination import EliminationExpansion
from shardwright.rules.families.matrices.reflectors import BasisExpansion, ReflectorsExpansion, ValuesExpansion
from shardwright.rules.families.matrices.triangles import CholeskyExpansion, SolveExpansion, Triangle
from shardwright.rules.rule import PASS, PERMUTE, REPLICATE, Dim, Rule, Way
from shardwright.rules.sharding import Shape, add_row, operand_shapes, result_shapes

LEAST_WORK = 1 << 22
"""So many products one device forms in about the time of some messages: fewer are not split for the work's sake."""


def _is_heavy(matrix: Shape, columns: int) -> bool:
    """Whether devices shall share the work with matrices, of which each is read once for each of so many columns."""
    return math.prod(matrix) * columns >= LEAST_WORK


@cache
def batched_rule(operands: tuple[Shape, ...], results: tuple[Shape, ...], batch: int) -> Rule:
    """The first dims are the same everywhere and pass; all others are whole."""
    builder = RuleBuilder()
    shared = builder.tensor(next(iter((*operands, *results)), ())[:batch])
    tensors = [shared + builder.tensor(shape[batch:], REPLICATE) for shape in (*operands, *results)]
    return builder.rule(tensors[: len(operands)], tensors[len(operands) :], heavy=True)


@cache
def cholesky_rule(shape: Shape, element: Attribute, lower: bool, places: bool) -> Rule:
    """
    Batch dims pass, and rows or columns may be split, at a price. With `places` each matrix has a number as well.

    Layouts do not go through what is split at a price: where much is done with one matrix, having it whole sends less.
    """
    builder = RuleBuilder()
    batch = builder.tensor(shape[:-2])
    operand, result = ([builder.factor(shape[-1], REPLICATE) for _ in range(2)] for _ in range(2))
    said, heavy = [batch] if places else [], _is_heavy(shape, shape[-1])

    def way(taken: Sequence[Dim], given: Sequence[Dim]) -> Way:
        return ((*batch, *taken),), ((*batch, *given), *said)

    if not _in_blocks(element, shape):
        return builder.rule(*way(operand, result), heavy=heavy)
    rows, columns = (builder.factor(shape[-1], PERMUTE) for _ in range(2))
    expansion = CholeskyExpansion(rows[0], columns[0], lower, math.prod(shape[:-2]), places)
    others = [way((rows, operand[1]), (rows, result[1])), way((operand[0], columns), (result[0], columns))]
    return builder.rule(*way(operand, result), heavy=heavy, expansion=expansion, others=others)


def _in_blocks(element: Attribute, *shapes: Shape) -> bool:
    """Whether matrices may be done in blocks: not where numbers are too narrow for the sums of products in between."""
    return bit_width(element) >= 32 and all(map(all, shapes)) and shapes[0][-1] > 1


def _cholesky(op: stablehlo.CholeskyOp) -> Rule:
    """Batch dims pass; matrices that are split by rows or columns are factored in blocks."""
    return cholesky_rule(operand_shapes(op)[0], element_of(op.a), op.is_lower, False)


@cache
def solve_rule(matrix: Shape, right: Shape, triangle: Triangle, element: Attribute) -> Rule:
    """
    Each column of the right-hand side (each row, when the matrix stands right) is solved for alone.

    The solution is linear in it, so partial sums may pass. Rows or columns of the matrix may be split as the dim that
    is solved for is, at a price.
    """
    builder = RuleBuilder()
    batch = builder.tensor(matrix[:-2])
    whole = [builder.factor(matrix[-1], REPLICATE) for _ in range(2)]
    free = builder.factor(right[-1 if triangle.left else -2])

    def way(row: Dim, column: Dim, solved: Dim) -> Way:
        b = (*batch, solved, free) if triangle.left else (*batch, free, solved)
        return ((*batch, row, column), b), (b,)

    first, flows = way(whole[0], whole[1], builder.factor(matrix[-1], REPLICATE)), [("sum", (1,))]
    heavy = _is_heavy(matrix, right[-1 if triangle.left else -2])
    if not _in_blocks(element, matrix, right):
        return builder.rule(*first, flows, heavy=heavy)
    rows, columns = (builder.factor(matrix[-1], PERMUTE) for _ in range(2))
    others = [way(rows, whole[1], rows), way(whole[0], columns, columns)]
    expansion = SolveExpansion(rows[0], columns[0], triangle)
    return builder.rule(*first, flows, heavy=heavy, expansion=expansion, others=others)


def _triangular_solve(op: stablehlo.TriangularSolveOp) -> Rule:
    """Batch dims and sides that are solved for pass, as do partial sums of these; split matrices are done in blocks."""
    matrix, right = operand_shapes(op)
    triangle = Triangle(op.is_left, syntax.truth(op.lower), syntax.truth(op.unit_diagonal), op.transpose_a.data)
    return solve_rule(matrix, right, triangle, element_of(op.b))


_TRANSPOSES = {"N": Transpose.NO_TRANSPOSE, "T": Transpose.TRANSPOSE, "C": Transpose.ADJOINT}


def _rng_bit_generator(op: Operation) -> Rule:
    """Every device makes all bits: the runtime makes them once."""
    return batched_rule(operand_shapes(op), result_shapes(op), 0)


def lapack_rule(op: stablehlo.CustomCallOp) -> Rule:
    """LAPACK's matrices are whole; batch dims pass, and so do the columns of what is solved for or multiplied."""
    operands, options = operand_shapes(op), op.options
    if op.routine == "trsm":
        letters = {name: chr(option) for name, option in options.items()}
        transpose = _TRANSPOSES[letters["trans_x"]]
        triangle = Triangle(letters["side"] == "L", letters["uplo"] == "L", letters["diag"] == "U", transpose)
        return solve_rule(operands[0], operands[1], triangle, element_of(op.operands[1]))
    if op.routine == "potrf":
        return cholesky_rule(operands[0], element_of(op.operands[0]), options["uplo"] == ord("L"), True)
    if op.routine in ("ormqr", "unmqr"):
        return _product_rule(*operands, bool(options["left"]))
    if op.routine == "getrf":
        return _by_columns_rule(operands[0], element_of(op.operands[0]))
    # Singular vectors have signs that rounding decides, so these are left to LAPACK alone.
    many = len(operands[0]) > 1 and operands[0][-2] >= 2 * operands[0][-1]
    if op.routine in ("geqrf", "orgqr", "ungqr") or (op.routine == "gesdd" and options["mode"] == ord("N") and many):
        return _by_rows_rule(operands, result_shapes(op), element_of(op.operands[0]))
    return batched_rule(operands, result_shapes(op), lapack_batch(op))


@cache
def _by_columns_rule(shape: Shape, element: Attribute) -> Rule:
    """LU factors: batch dims pass, and columns may be split, at a price."""
    *fronts, rows, columns = shape
    if not all(shape) or columns == 1:
        return batched_rule((shape,), (shape, (*fronts, min(rows, columns)), tuple(fronts)), len(fronts))
    builder = RuleBuilder()
    batch, split = builder.tensor(shape[:-2]), builder.factor(columns, PERMUTE)
    before, after, pivots = (builder.factor(size, REPLICATE) for size in (rows, rows, min(rows, columns)))
    whole = [builder.factor(columns, REPLICATE) for _ in range(2)]

    def way(given: Dim, made: Dim) -> Way:
        return ((*batch, before, given),), ((*batch, after, made), (*batch, pivots), batch)

    expansion = EliminationExpansion(split[0], shape, element)
    return builder.rule(
        *way(*whole), heavy=_is_heavy(shape, min(rows, columns)), expansion=expansion, others=[way(split, split)]
    )


@cache
def _by_rows_rule(operands: tuple[Shape, ...], results: tuple[Shape, ...], element: Attribute) -> Rule:
    """QR factors, what reflectors make, and singular values: batch dims pass, and rows may be split, at a price."""
    (shape, *given), made = operands, results
    if not all(map(all, (*operands, *results))) or shape[-2] == 1:
        return batched_rule(operands, results, len(shape) - 2)
    builder = RuleBuilder()
    batch, split = builder.tensor(shape[:-2]), builder.factor(shape[-2], PERMUTE)
    expansion: Expansion
    if given:
        expansion = BasisExpansion(split[0], shape, given[0][-1], element)
    else:
        kind = ReflectorsExpansion if len(made) == 2 else ValuesExpansion
        expansion = kind(split[0], shape, element)
    # Rows are all the first dims of their size: what else there is has fewer.
    tails = [each[len(batch) :] for each in (*operands, *made)]
    others = [builder.tensor(tail, REPLICATE) for tail in tails]

    def way(rows: Dim | None) -> Way:
        tensors = [
            (*batch, rows, *other[1:])
            if rows is not None and len(tail) == 2 and tail[0] == shape[-2]
            else (*batch, *other)
            for tail, other in zip(tails, others, strict=True)
        ]
        return tuple(tensors[: len(operands)]), tuple(tensors[len(operands) :])

    return builder.rule(*way(None), heavy=_is_heavy(shape, shape[-1]), expansion=expansion, others=[way(split)])


@cache
def _product_rule(reflectors: Shape, scales: Shape, matrix: Shape, left: bool) -> Rule:
    """The product of a matrix with an orthogonal one, which is given by its reflectors and their scales."""
    builder = RuleBuilder()
    batch = builder.tensor(matrix[:-2])
    given = [batch + builder.tensor(shape[len(batch) :], REPLICATE) for shape in (reflectors, scales)]
    rows = builder.factor(matrix[-2], REPLICATE if left else PASS)
    columns = builder.factor(matrix[-1], PASS if left else REPLICATE)
    product = (*batch, rows, columns)
    return builder.rule([*given, product], [product], [("sum", (2,))], heavy=True)


add_row("stablehlo.cholesky", _cholesky)
add_row("stablehlo.triangular_solve", _triangular_solve)
add_row("stablehlo.rng_bit_generator", _rng_bit_generator)
