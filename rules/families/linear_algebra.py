"""Rows of Fourier transforms, Cholesky factors, triangular systems, LAPACK calls and random bits."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.calls.custom_calls import lapack_batch
from shardwright.dialects.types import shape_of
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.rule import PASS, REPLICATE, Rule
from shardwright.rules.sharding import Shape, add_row, operand_shapes, result_shapes


@cache
def batched_rule(operands: tuple[Shape, ...], results: tuple[Shape, ...], batch: int) -> Rule:
    """The first dims are the same everywhere and pass; all others are whole."""
    builder = RuleBuilder()
    shared = builder.tensor(next(iter((*operands, *results)), ())[:batch])
    tensors = [shared + builder.tensor(shape[batch:], REPLICATE) for shape in (*operands, *results)]
    return builder.rule(tensors[: len(operands)], tensors[len(operands) :], heavy=True)


def _cholesky(op: Operation) -> Rule:
    """Matrices are whole, batch dims pass."""
    return batched_rule(operand_shapes(op), result_shapes(op), len(shape_of(op.operands[0].type)) - 2)


@cache
def solve_rule(matrix: Shape, right: Shape, left: bool) -> Rule:
    """
    Each column of the right-hand side (each row, when the matrix stands right) is solved for alone.

    The solution is linear in it, so partial sums may pass.
    """
    builder = RuleBuilder()
    batch = builder.tensor(matrix[:-2])
    a = batch + builder.tensor(matrix[-2:], REPLICATE)
    solved = builder.factor(matrix[-1], REPLICATE)
    free = builder.factor(right[-1 if left else -2])
    b = (*batch, solved, free) if left else (*batch, free, solved)
    return builder.rule([a, b], [b], [("sum", (1,))], heavy=True)


def _triangular_solve(op: stablehlo.TriangularSolveOp) -> Rule:
    """Matrices are whole; batch dims and the sides that are solved for pass, as do partial sums of these."""
    matrix, right = operand_shapes(op)
    return solve_rule(matrix, right, op.is_left)


def _rng_bit_generator(op: Operation) -> Rule:
    """Every device makes all bits: the runtime makes them once."""
    return batched_rule(operand_shapes(op), result_shapes(op), 0)


def lapack_rule(op: stablehlo.CustomCallOp) -> Rule:
    """LAPACK's matrices are whole; batch dims pass, and so do the columns of what is solved for or multiplied."""
    operands, options = operand_shapes(op), op.options
    if op.routine == "trsm":
        return solve_rule(operands[0], operands[1], options["side"] == ord("L"))
    if op.routine in ("ormqr", "unmqr"):
        return _product_rule(*operands, bool(options["left"]))
    return batched_rule(operands, result_shapes(op), lapack_batch(op))


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
