"""Rows of ops that find elements by computed indices: gather, scatter, dynamic_slice, dynamic_update_slice."""

from __future__ import annotations

from functools import cache

from xdsl.dialects import builtin
from xdsl.ir import Attribute

from shardwright.dialects import stablehlo
from shardwright.dialects.building import only_op, returned
from shardwright.dialects.stablehlo import GatherDimensions, ScatterDimensions
from shardwright.dialects.types import element_of, is_boolean, shape_of
from shardwright.layout.planning.window import Window
from shardwright.rules.builder import SCALAR, RuleBuilder
from shardwright.rules.reductions import combiner_of
from shardwright.rules.rule import ANY, PASS, PERMUTE, REPLICATE, Dim, Flows, Rule, Tensor
from shardwright.rules.sharding import Shape, add_row, operand_shapes
from shardwright.rules.windows.moves import UpdateExpansion, places_of

_WITHOUT_SUMS = (builtin.f8E8M0FNU, builtin.f6E2M3FN, builtin.f6E3M2FN, builtin.f4E2M1FN)
"""Element types that have no zero, or that no collective sums."""


def picking_kind(element: Attribute) -> str:
    """How parts combine of which each element stands in one, and zeros in all others."""
    if element in _WITHOUT_SUMS:
        return REPLICATE
    return "or" if is_boolean(element) else "sum"


@cache
def _dynamic_slice_rule(shape: Shape, sizes: Shape, kind: str) -> Rule:
    builder = RuleBuilder()
    operand: list[Dim] = []
    result: list[Dim] = []
    for extent, size in zip(shape, sizes, strict=True):
        whole = extent == size
        operand.append(builder.factor(extent, PASS if whole else kind))
        result.append(operand[-1] if whole else builder.factor(size, REPLICATE))
    return builder.rule([tuple(operand), *[SCALAR] * len(shape)], [tuple(result)], ((ANY, (0,)),))


def _dynamic_slice(op: stablehlo.DynamicSliceOp) -> Rule:
    """Dims taken whole pass; of others each device gives the elements that it holds, and zeros."""
    return _dynamic_slice_rule(shape_of(op.operand.type), op.sizes, picking_kind(element_of(op.operand)))


@cache
def _dynamic_update_slice_rule(shape: Shape, update: Shape, windows: tuple[Window, ...]) -> Rule:
    builder = RuleBuilder()
    operand = builder.tensor(shape)
    new = tuple(
        dim if extent == size else builder.factor(size, REPLICATE)
        for dim, extent, size in zip(operand, shape, update, strict=True)
    )
    starts, flows = [SCALAR] * len(shape), ((ANY, (0, 1)),)
    parts = {dim: window.common for dim, window in enumerate(windows) if window.moves and window.common > 1}
    if not parts or not all(update):
        return builder.rule([operand, new, *starts], [operand], flows)
    moved = {dim: builder.factor(count, PERMUTE) for dim, count in parts.items()}
    whole = {dim: builder.factor(shape[dim], REPLICATE) for dim in range(len(shape)) if windows[dim].moves}
    together = tuple((whole | moved).get(dim, own) for dim, own in enumerate(operand))
    placed = tuple(moved.get(dim, own) for dim, own in enumerate(new))
    expansion = UpdateExpansion(tuple((factors[0], dim) for dim, factors in moved.items()), windows)
    other = (together, placed, *starts), (together,)
    return builder.rule([operand, new, *starts], [operand], flows, expansion=expansion, others=[other])


def _dynamic_update_slice(op: stablehlo.DynamicUpdateSliceOp) -> Rule:
    """
    All dims of the operand pass: a device writes what falls into its own block of dims that are written in part.

    Where the place is known, the update may be split as well, and each device receives what falls into its block.
    """
    return _dynamic_update_slice_rule(shape_of(op.operand.type), shape_of(op.update.type), places_of(op) or ())


class _Sides:
    """The dims of the tensors of a gather or scatter, as factors are found for them."""

    def __init__(self, builder: RuleBuilder, operand: Shape, indices: Shape, windows: Shape, vector_dim: int) -> None:
        self.builder = builder
        self.shapes = operand, indices, windows
        self.operand: dict[int, Dim] = {}
        self.indices: dict[int, Dim] = {}
        self.windows: dict[int, Dim] = {}
        if vector_dim < len(indices):
            self.indices[vector_dim] = builder.factor(indices[vector_dim], REPLICATE)

    def batch(self, places: tuple[int, ...], batching: dict[int, int], kind: str) -> None:
        """Dims of the indices stand in the tensor of windows at `places`; batching dims in the operand as well."""
        dims = [dim for dim in range(len(self.shapes[1])) if dim not in self.indices]
        for dim, place in zip(dims, places, strict=True):
            factor = self.builder.factor(self.shapes[1][dim], PASS if dim in batching else kind)
            self.indices[dim] = self.windows[place] = factor
            if dim in batching:
                self.operand[batching[dim]] = factor

    def others(self, places: dict[int, int], indexed: tuple[int, ...], kind: str) -> None:
        """
        The operand's other dims, whose windows stand at `places` in the tensor of windows.

        Dims taken whole pass; of those that indices choose from, the factor is of this kind.
        """
        for dim, extent in enumerate(self.shapes[0]):
            if dim in self.operand:
                continue
            size = self.shapes[2][places[dim]] if dim in places else None
            part = kind if dim in indexed else REPLICATE
            self.operand[dim] = self.builder.factor(extent, PASS if extent == size else part)
            if size is not None:
                place = self.operand[dim] if extent == size else self.builder.factor(size, REPLICATE)
                self.windows[places[dim]] = place

    def tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        """Operand, indices and windows."""
        found = zip((self.operand, self.indices, self.windows), self.shapes, strict=True)
        operand, indices, windows = (tuple(dims[dim] for dim in range(len(shape))) for dims, shape in found)
        return operand, indices, windows


@cache
def _gather_rule(shapes: tuple[Shape, Shape, Shape], numbers: GatherDimensions, kind: str) -> Rule:
    builder = RuleBuilder()
    sides = _Sides(builder, *shapes, numbers.index_vector_dim)
    batching = dict(zip(numbers.start_indices_batching_dims, numbers.operand_batching_dims, strict=True))
    sides.batch(numbers.batch_dims(len(shapes[2])), batching, PASS)
    places = dict(zip(numbers.window_dims(len(shapes[0])), numbers.offset_dims, strict=True))
    sides.others(places, numbers.start_index_map, kind)
    operand, indices, result = sides.tensors()
    return builder.rule([operand, indices], [result], ((ANY, (0,)),))


def _gather(op: stablehlo.GatherOp) -> Rule:
    """Dims of the indices pass, and those taken whole; of indexed dims each device gives what it holds, and zeros."""
    operand, indices = operand_shapes(op)
    shapes = operand, indices, shape_of(op.result.type)
    return _gather_rule(shapes, op.numbers, picking_kind(element_of(op.operand)))


@cache
def _scatter_rule(
    shapes: tuple[Shape, Shape, Shape], numbers: ScatterDimensions, count: int, kind: str, flows: Flows
) -> Rule:
    builder = RuleBuilder()
    sides = _Sides(builder, *shapes, numbers.index_vector_dim)
    batching = dict(zip(numbers.scatter_indices_batching_dims, numbers.input_batching_dims, strict=True))
    sides.batch(numbers.batch_dims(len(shapes[2])), batching, kind)
    places = dict(zip(numbers.window_dims(len(shapes[0])), numbers.update_window_dims, strict=True))
    sides.others(places, numbers.scatter_dims_to_operand_dims, PASS)
    operand, indices, updates = sides.tensors()
    return builder.rule([operand] * count + [indices] + [updates] * count, [operand] * count, flows)


def scatter_kind(op: stablehlo.ScatterOp) -> str:
    """
    The kind of partial results that a scatter of some updates leaves; `any` when it only puts new elements in place.

    Empty when updates must follow each other on one device.
    """
    count = len(op.inputs)
    block = op.update_computation.block
    if block.first_op is block.last_op:
        return ANY if list(returned(block)) == list(block.args[count:]) else ""
    if count != 1:
        return ""
    only, monoid = only_op(block), combiner_of(block)
    if isinstance(only, stablehlo.SubtractOp):
        return "sum" if list(only.operands) == list(block.args) else ""
    return monoid.kind if monoid is not None else ""


def _scatter(op: stablehlo.ScatterOp) -> Rule:
    """Dims of the operand pass: a device writes into its own block; split indices leave partial results of a monoid."""
    kind = scatter_kind(op)
    count = len(op.inputs)
    together = (*range(count), *range(count + 1, 2 * count + 1))
    flows = ((kind, together),) if kind else ()
    if kind == "prod":
        flows = (*flows, ("sum", (0,)))
    every = operand_shapes(op)
    shapes = every[0], every[count], every[count + 1]
    return _scatter_rule(shapes, op.numbers, count, kind if kind not in ("", ANY) else REPLICATE, flows)


for _name, _compute in {
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter,
}.items():
    add_row(f"stablehlo.{_name}", _compute)
