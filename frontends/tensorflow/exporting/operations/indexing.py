"""Gather and scatter: elements found by computed indices, as rows of a table for `GatherV2` and `TensorScatter*`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Block

from shardwright.dialects import stablehlo
from shardwright.dialects.types import shape_of
from shardwright.frontends.tensorflow.exporting.emitter import Emitter, handler
from shardwright.frontends.tensorflow.exporting.nodes import BOOL, INT32, INT64, DType, Tensor
from shardwright.frontends.tensorflow.exporting.operations.control import counted_loop
from shardwright.frontends.tensorflow.exporting.operations.pointwise import at_least, both
from shardwright.frontends.tensorflow.exporting.operations.shapes import clamped
from shardwright.runtime.kernels.elementwise import working_dtype
from shardwright.runtime.lowering.ops import reducer_kind

COMBINERS = {
    "set": "TensorScatterUpdate",
    "sum": "TensorScatterAdd",
    "subtract": "TensorScatterSub",
    "max": "TensorScatterMax",
    "min": "TensorScatterMin",
}


@dataclass(frozen=True)
class Windows:
    """
    How windows lie in an operand, and in the tensor that holds them all: a gather's result, or a scatter's updates.

    See `runtime.kernels_indexing`: `places` and `batching` say for dims of the operand which dim they have in the
    tensor of windows, `batch` which dims of it run over the indices.
    """

    rank: int
    sizes: tuple[int, ...]
    places: Mapping[int, int]
    batching: Mapping[int, int]
    batch: tuple[int, ...]
    index_map: tuple[int, ...]
    vector_dim: int

    def picked(self, shape: Sequence[int]) -> list[int]:
        """The operand's dims along which elements are picked; windows take all of the others."""
        return [dim for dim in range(len(shape)) if dim not in self.places or self.sizes[dim] != shape[dim]]

    def starts(self, e: Emitter, indices: Tensor) -> dict[int, Tensor]:
        """For each indexed dim of the operand where windows start, so that it broadcasts over the windows."""
        if self.vector_dim == len(indices.shape):
            indices = e.reshape(indices, (*indices.shape, 1))
        batch = [extent for dim, extent in enumerate(indices.shape) if dim != self.vector_dim]
        shape = [1] * self.rank
        for place, extent in zip(self.batch, batch, strict=True):
            shape[place] = extent
        return {
            dim: e.reshape(e.cut(indices, self.vector_dim, at, at + 1), shape) for at, dim in enumerate(self.index_map)
        }

    def rows(self, e: Emitter, starts: Mapping[int, Tensor], shape: Sequence[int], dtype: DType) -> Tensor:
        """The number of each element's row among those that the picked dims make, over the tensor of windows."""
        number: Tensor | None = None
        for dim in self.picked(shape):
            if number is not None and shape[dim] > 1:
                number = e.call("Mul", number, e.like(shape[dim], number))
            position = self._position(e, starts.get(dim), dim, shape, dtype)
            if position is not None:
                number = position if number is None else e.call("AddV2", number, position)
        return e.splat(0, dtype) if number is None else number

    def _position(
        self, e: Emitter, start: Tensor | None, dim: int, shape: Sequence[int], dtype: DType
    ) -> Tensor | None:
        count = shape[dim] if dim in self.batching else self.sizes[dim]
        place = self.batching.get(dim, self.places.get(dim))
        if place is None or count == 1:
            return start
        along = [count if at == place else 1 for at in range(self.rank)]
        steps = e.counted(along, place, dtype)
        return steps if start is None else e.call("AddV2", start, steps)


def _batching(
    operand_dims: Sequence[int], index_dims: Sequence[int], places: Sequence[int], vector_dim: int
) -> dict[int, int]:
    return {dim: places[at - (at > vector_dim)] for dim, at in zip(operand_dims, index_dims, strict=True)}


def _index_dtype(rows: int) -> DType:
    return INT32 if rows < 2**31 - 1 else INT64


@handler("stablehlo.gather")
def _gather(emitter: Emitter, op: stablehlo.GatherOp, operands: list[Tensor]) -> list[Tensor]:
    operand, indices = operands
    numbers, sizes, shape = op.numbers, tuple(op.sizes), shape_of(op.results[0])
    if operand.is_splat or 0 in shape:
        empty = emitter.splat(0, operand.dtype, shape) if 0 in shape else emitter.broadcast(operand, shape)
        return [empty]
    inner, batch, vector = numbers.window_dims(len(sizes)), numbers.batch_dims(len(shape)), numbers.index_vector_dim
    pairs = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    places = dict(zip(inner, numbers.offset_dims, strict=True))
    batching = _batching(*pairs, batch, vector)
    windows = Windows(len(shape), sizes, places, batching, batch, numbers.start_index_map, vector)
    return [_gathered(emitter, windows, operand, indices, shape)]


def _repeated(e: Emitter, windows: Windows, operand: Tensor, shape: Sequence[int]) -> Tensor:
    """Windows of the whole operand: all are the same one."""
    places = [windows.places[dim] for dim in range(len(operand.shape))]
    placed = [operand.shape[places.index(at)] if at in places else 1 for at in range(len(shape))]
    return e.broadcast(e.reshape(e.transpose(operand, np.argsort(places).tolist()), placed), shape)


def _gathered(e: Emitter, windows: Windows, operand: Tensor, indices: Tensor, shape: Sequence[int]) -> Tensor:
    picked = windows.picked(operand.shape)
    if not picked:
        return _repeated(e, windows, operand, shape)
    whole = [dim for dim in range(len(operand.shape)) if dim not in picked]
    count = math.prod(operand.shape[dim] for dim in picked)
    dtype = _index_dtype(count)
    starts = {
        dim: clamped(e, start, operand.shape[dim] - windows.sizes[dim], dtype)
        for dim, start in windows.starts(e, indices).items()
    }
    kept = [at for at in range(len(shape)) if at not in [windows.places[dim] for dim in whole]]
    rows = e.whole(_over(e, windows.rows(e, starts, operand.shape, dtype), shape, kept))
    axis = picked[0] if picked == list(range(picked[0], picked[-1] + 1)) else 0
    before, after = whole[:axis], whole[axis:]
    front, back = [operand.shape[dim] for dim in before], [operand.shape[dim] for dim in after]
    table = e.whole(e.reshape(e.transpose(operand, [*before, *picked, *after]), (*front, count, *back)))
    found = e.gather(table, rows, axis)
    source = [*(windows.places[dim] for dim in before), *kept, *(windows.places[dim] for dim in after)]
    return e.transpose(found, [source.index(at) for at in range(len(shape))])


def _over(e: Emitter, value: Tensor, shape: Sequence[int], kept: Sequence[int]) -> Tensor:
    """A tensor that broadcasts to the windows, over those dims alone that are kept; it does not vary along others."""
    spread = e.broadcast(value, [extent if at in kept else 1 for at, extent in enumerate(shape)])
    return e.reshape(spread, [shape[at] for at in kept])


@handler("stablehlo.scatter")
def _scatter(emitter: Emitter, op: stablehlo.ScatterOp, operands: list[Tensor]) -> list[Tensor]:
    count = len(operands) // 2
    inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    if 0 in updates[0].shape or 0 in inputs[0].shape:
        return inputs
    targets = _Targets(emitter, op, inputs[0].shape, updates[0].shape, indices)
    kind = _combiner(op.update_computation.block)
    if kind in COMBINERS and (inputs[0].dtype != BOOL or kind == "set"):
        return [targets.combined(kind, inputs[0], updates[0])]
    return targets.folded(op.update_computation.block, inputs, updates)


def _combiner(block: Block) -> str | None:
    """How a scatter of one operand combines, where its body is one op on the old element and the new one, or none."""
    ops = list(block.ops)
    if len(block.args) == 2 and len(ops) == 1:
        return "set" if ops[0].operands[0] == block.args[1] else None
    if len(ops) == 2 and isinstance(ops[0], stablehlo.SubtractOp) and list(ops[0].operands) == list(block.args):
        return "subtract" if list(ops[1].operands) == list(ops[0].results) else None
    return reducer_kind(block)


class _Targets:
    """
    Which row of a table each update is for: windows that do not fit into the operand are for one more row at its end.

    The operand is a table of rows over the dims that windows take whole; so are the updates, windows major.
    """

    def __init__(
        self, e: Emitter, op: stablehlo.ScatterOp, shape: Sequence[int], updates: Sequence[int], indices: Tensor
    ) -> None:
        self.e, self.shape = e, shape
        windows = _scattered(op, len(shape), updates)
        self.picked = windows.picked(shape)
        self.whole = [dim for dim in range(len(shape)) if dim not in self.picked]
        self.count = math.prod(shape[dim] for dim in self.picked)
        self.width = [shape[dim] for dim in self.whole]
        dtype = _index_dtype(self.count)
        starts, fits = {}, e.splat(True, BOOL)
        for dim, start in windows.starts(e, indices).items():
            highest = shape[dim] - windows.sizes[dim]
            starts[dim] = clamped(e, start, highest, dtype)
            fits = both(e, fits, _fits(e, start, highest))
        places = [windows.places[dim] for dim in self.whole]
        inside = [at for at in range(windows.rank) if at not in places and at not in windows.batch]
        kept = sorted([*windows.batch, *inside])
        rows = windows.rows(e, starts, shape, dtype)
        rows = _over(e, e.select(fits, rows, e.splat(self.count, dtype)), updates, kept)
        order = [*windows.batch, *inside]
        self.order = [*order, *places]
        self.rows = e.whole(
            e.reshape(e.transpose(rows, [kept.index(at) for at in order]), (math.prod(updates[at] for at in kept), 1))
        )

    def table(self, operand: Tensor) -> Tensor:
        """The operand's rows, and one for what does not fit."""
        rows = self.e.reshape(self.e.transpose(operand, [*self.picked, *self.whole]), (self.count, *self.width))
        spare = self.e.splat(0, operand.dtype, (1, *self.width))
        return self.e.concatenate([rows, spare], 0)

    def new(self, updates: Tensor) -> Tensor:
        """The updates' rows."""
        moved = self.e.transpose(updates, self.order)
        return self.e.whole(self.e.reshape(moved, (self.rows.shape[0], *self.width)))

    def result(self, table: Tensor) -> Tensor:
        """The operand that a table is."""
        order = [*self.picked, *self.whole]
        rows = self.e.cut(table, 0, 0, self.count)
        moved = self.e.reshape(rows, [self.shape[dim] for dim in order])
        return self.e.transpose(moved, [order.index(dim) for dim in range(len(order))])

    def combined(self, kind: str, operand: Tensor, updates: Tensor) -> Tensor:
        """By one of TensorFlow's operations; narrow floats in float32, and NaN wins over numbers."""
        e = self.e
        dtype = operand.dtype if kind == "set" else working_dtype(operand.dtype)
        table, new = self.table(e.cast(operand, dtype)), self.new(e.cast(updates, dtype))
        made = self._scatter(COMBINERS[kind], table, new)
        if kind in ("max", "min") and dtype.kind == "f":
            is_nan = e.cast(e.call("NotEqual", new, new, result=BOOL), INT32)
            hit = self._scatter("TensorScatterMax", e.whole(e.splat(0, INT32, table.shape)), is_nan)
            made = e.select(e.call("Greater", hit, e.like(0, hit), result=BOOL), e.like(np.nan, made), made)
        return e.cast(self.result(made), operand.dtype)

    def _scatter(self, name: str, table: Tensor, new: Tensor) -> Tensor:
        return self.e.node(name, (self.e.whole(table), self.rows, new), table.shape, table.dtype)

    def folded(self, block: Block, inputs: Sequence[Tensor], updates: Sequence[Tensor]) -> list[Tensor]:
        """By any body, one row of updates after the other."""
        e, count = self.e, self.rows.shape[0]
        tables = [e.whole(self.table(operand)) for operand in inputs]
        news = [self.new(each) for each in updates]

        def step(inner: Emitter, turn: Tensor, *values: Tensor) -> list[Tensor]:
            state, rows, new = values[: len(tables)], values[len(tables)], values[len(tables) + 1 :]
            row = inner.gather(rows, turn, 0)
            place = inner.reshape(row, (1, 1))
            old = [inner.gather(table, row, 0) for table in state]
            one = [inner.gather(each, inner.whole(inner.reshape(turn, (1,))), 0) for each in new]
            made = inner.pointwise(block, [*old, *one])
            one_row = (inner.whole(inner.broadcast(x, like.shape)) for x, like in zip(made, old, strict=True))
            return [
                inner.node("TensorScatterUpdate", (table, place, x), table.shape, table.dtype)
                for table, x in zip(state, one_row, strict=True)
            ]

        made = counted_loop(e, "scatter", count, tables, [self.rows, *news], step)
        return [self.result(table) for table in made]


def _fits(e: Emitter, start: Tensor, highest: int) -> Tensor:
    bound = min(highest, int(np.iinfo(start.dtype).max))
    below = e.call("LessEqual", start, e.like(bound, start), result=BOOL)
    return both(e, at_least(e, start, 0), below)


def _scattered(op: stablehlo.ScatterOp, operand_rank: int, updates: Sequence[int]) -> Windows:
    numbers = op.numbers
    inner, batch = numbers.window_dims(operand_rank), numbers.batch_dims(len(updates))
    places = dict(zip(inner, numbers.update_window_dims, strict=True))
    pairs = numbers.input_batching_dims, numbers.scatter_indices_batching_dims
    batching = _batching(*pairs, batch, numbers.index_vector_dim)
    sizes = tuple(updates[places[dim]] if dim in places else 1 for dim in range(operand_rank))
    vector = numbers.scatter_dims_to_operand_dims, numbers.index_vector_dim
    return Windows(len(updates), sizes, places, batching, batch, *vector)
