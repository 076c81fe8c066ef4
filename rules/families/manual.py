"""Rows of manual computations: their borders, and the collectives that users write inside of them."""

from __future__ import annotations

from functools import cache

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.manual import CastOp, ToManualOp
from shardwright.dialects.stablehlo import collectives
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import Axis
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.rule import ANY, REPLICATE, Dim, Rule
from shardwright.rules.sharding import Shape, add_row, operand_shapes, result_shapes


def _cast(op: CastOp) -> Rule:
    """Outside, the manual axes and nothing else split the major part of a dim; the rest of it passes."""
    inwards = isinstance(op, ToManualOp)
    shapes = shape_of(op.operand.type), shape_of(op.result.type)
    return _border(*(shapes if inwards else shapes[::-1]), op.dim_axes.data, inwards)


@cache
def _border(whole: Shape, local: Shape, dim_axes: tuple[tuple[Axis, ...], ...], inwards: bool) -> Rule:
    builder = RuleBuilder()
    fixed: list[tuple[int, tuple[Axis, ...]]] = []
    outside: list[Dim] = []
    inside: list[Dim] = []
    for extent, part, axes in zip(whole, local, dim_axes, strict=True):
        major, minor = builder.factor(extent // part if part else 1), builder.factor(part)
        fixed += [(factor, axes) for factor in major]
        outside.append(major + minor)
        inside.append(minor)
    sides = (tuple(outside), tuple(inside)) if inwards else (tuple(inside), tuple(outside))
    return builder.rule([sides[0]], [sides[1]], [(ANY, (0,))], fixed=fixed)


@cache
def _whole_along(operands: tuple[Shape, ...], results: tuple[Shape, ...], dims: frozenset[int]) -> Rule:
    """Each result is its operand; dims along which devices cut or join parts are whole."""
    builder = RuleBuilder()
    sides: tuple[list[tuple[Dim, ...]], list[tuple[Dim, ...]]] = ([], [])
    for before, after in zip(operands, results, strict=True):
        passing = [() if dim in dims else builder.factor(size) for dim, size in enumerate(before)]
        for side, shape in zip(sides, (before, after), strict=True):
            whole = {dim: builder.factor(shape[dim], REPLICATE) for dim in sorted(dims)}
            side.append(tuple(whole.get(dim, factor) for dim, factor in enumerate(passing)))
    return builder.rule(*sides)


@cache
def _alike(shapes: tuple[Shape, ...], adds: bool) -> Rule:
    builder = RuleBuilder()
    tensors = [builder.tensor(shape) for shape in shapes]
    if len(shapes) > 1:
        return builder.rule(tensors, tensors, pairwise=True)
    return builder.rule(tensors, tensors, [("sum", (0,))] if adds else [])


def _all_reduce(op: collectives.AllReduceOp) -> Rule:
    """Each operand is combined element by element; sums let partial sums over other axes pass."""
    return _alike(operand_shapes(op), op.combines is stablehlo.AddOp)


def _all_gather(op: collectives.AllGatherOp) -> Rule:
    """The dim along which parts are joined is whole along other axes; all other dims pass."""
    return _whole_along(operand_shapes(op), result_shapes(op), frozenset({op.dim}))


def _reduce_scatter(op: collectives.ReduceScatterOp) -> Rule:
    """The dim that is scattered is whole along other axes; all other dims pass."""
    return _whole_along(operand_shapes(op), result_shapes(op), frozenset({op.dim}))


def _all_to_all(op: collectives.AllToAllOp) -> Rule:
    """The dims that are cut and joined are whole along other axes; all other dims pass."""
    return _whole_along(operand_shapes(op), result_shapes(op), frozenset(op.dims))


for _name in ("to_manual", "from_manual"):
    add_row(f"dtensor.{_name}", _cast)
add_row("dtensor.barrier", "... -> ...")
add_row("dtensor.fetch", "... -> ...", linear=[(0,)])
add_row("dtensor.axis_index", "-> ()")
add_row("stablehlo.all_reduce", _all_reduce)
add_row("stablehlo.all_gather", _all_gather)
add_row("stablehlo.reduce_scatter", _reduce_scatter)
add_row("stablehlo.all_to_all", _all_to_all)
