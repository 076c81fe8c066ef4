"""Canonical forms of concatenations: what is a roll or a pad is written as one, which splits better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.roll import RollOp
from shardwright.dialects.types import element_of, integers, shape_of, tensor
from shardwright.passes.canonical.constants import is_bare, resplat, splat_bytes
from shardwright.passes.canonical.extensions import extended_join
from shardwright.passes.rewriter import Rule, insert_before
from shardwright.passes.stages import stage_of

Span = tuple[SSAValue, int, int]
"""A tensor, and from where to where it is taken along the joined dim."""


def _simplify_concatenate(op: stablehlo.ConcatenateOp) -> Operation | SSAValue | None:
    if len(op.operands) == 1:
        return op.operands[0]
    full = [value for value in op.operands if shape_of(value)[op.dim]]
    if len(full) < len(op.operands) and full:
        properties = {"dimension": op.dimension}
        return stablehlo.ConcatenateOp.create(operands=full, result_types=op.result_types, properties=properties)
    return _roll(op) or _pad(op) or extended_join(op)


def _span(value: SSAValue, dim: int) -> Span:
    """Where a value comes from, if it is cut out of another along `dim` only; a layout on it keeps it as it is."""
    op = value.owner
    if not isinstance(op, stablehlo.SliceOp) or not is_bare(value):
        return value, 0, shape_of(value)[dim]
    starts, limits, strides = op.bounds
    source = op.operands[0]
    whole = all(
        (start, limit) == (0, size)
        for at, (start, limit, size) in enumerate(zip(starts, limits, shape_of(source), strict=True))
        if at != dim
    )
    if not whole or set(strides) != {1}:
        return value, 0, shape_of(value)[dim]
    return source, starts[dim], limits[dim]


def _roll(op: stablehlo.ConcatenateOp) -> Operation | None:
    """
    The end of a tensor, then its beginning.

    ```
    %0 = stablehlo.slice %x [5:8] : (tensor<8xf32>) -> tensor<3xf32>
    %1 = stablehlo.slice %x [0:5] : (tensor<8xf32>) -> tensor<5xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3xf32>, tensor<5xf32>) -> tensor<8xf32>
    ```
    becomes `%2 = dtensor.roll %x, dim = 0 by 3 : (tensor<8xf32>) -> tensor<8xf32>`.
    """
    if len(op.operands) != 2:
        return None
    (first, cut, end), (second, start, other) = (_span(value, op.dim) for value in op.operands)
    if first is not second or start or cut != other or end != shape_of(first)[op.dim] or not 0 < cut < end:
        return None
    return None if _is_local(op) else RollOp(first, op.dim, end - cut, op.results[0].type)


def _is_local(op: Operation) -> bool:
    """Whether the module is in the local stage, whose ops are StableHLO's."""
    module = op.get_toplevel_object()
    return isinstance(module, ModuleOp) and stage_of(module) == "local"


def _pad(op: stablehlo.ConcatenateOp) -> Operation | None:
    """
    One tensor between equal constants, as in a shift by one.

    ```
    %0 = stablehlo.slice %x [0:7] : (tensor<8xf32>) -> tensor<7xf32>
    %1 = stablehlo.concatenate %zero, %0, dim = 0 : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
    ```
    becomes `%1 = stablehlo.pad %x, %c, low = [1], high = [-1], interior = [0]`.
    """
    splats = [splat_bytes(value) for value in op.operands]
    others = [place for place, data in enumerate(splats) if data is None]
    known = {data for data in splats if data is not None}
    if len(others) != 1 or len(known) != 1:
        return None
    (place,) = others
    source, start, limit = _span(op.operands[place], op.dim)
    before, after = (_extent(side, op.dim) for side in (op.operands[:place], op.operands[place + 1 :]))
    low, high = [0] * len(shape_of(source)), [0] * len(shape_of(source))
    low[op.dim], high[op.dim] = before - start, after - (shape_of(source)[op.dim] - limit)
    padding = insert_before(op, resplat(known.pop(), tensor((), element_of(source))))
    edges = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": [0] * len(low)}
    return stablehlo.PadOp.create(
        operands=[source, padding.results[0]],
        result_types=[op.results[0].type],
        properties={name: integers(tuple(amounts)) for name, amounts in edges.items()},
    )


def _extent(values: Sequence[SSAValue], dim: int) -> int:
    return sum(shape_of(value)[dim] for value in values)


JOIN_RULES: Mapping[type[Operation], Rule] = {stablehlo.ConcatenateOp: _simplify_concatenate}
