"""What a program for one device is written with: its own number, tables over devices, and StableHLO's collectives."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, IntegerType, Signedness, UnitAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from shardwright.compiler.exporting.messages.devices import Numbers, digits, groups
from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.kinds import adds_nothing
from shardwright.dialects.sdy.ops import ManualComputationOp
from shardwright.dialects.stablehlo import collectives
from shardwright.dialects.stablehlo.algebra.contractions import combiner
from shardwright.dialects.types import bit_width, element_of, is_boolean, is_complex, shape_of, tensor
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.passes.rewriter import insert_before

DEVICE_TO_DEVICE = 1
"""The type of a channel between devices."""

COMBINERS: dict[str, type[Operation]] = {
    "sum": stablehlo.AddOp,
    "max": stablehlo.MaximumOp,
    "min": stablehlo.MinimumOp,
    "prod": stablehlo.MultiplyOp,
    "and": stablehlo.AndOp,
    "or": stablehlo.OrOp,
}
"""How each kind of partial results combines."""

GLOBAL_IDS = (collectives.AllReduceOp, collectives.ReduceScatterOp, collectives.AllGatherOp)
"""The collectives that say whether groups list devices of the whole program."""


class Writer:
    """Puts ops in front of `anchor`, and counts channels: each collective of a program has its own."""

    anchor: Operation

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self._channels = 0
        self._indices: dict[tuple[Block, tuple[tuple[int, int], ...]], SSAValue] = {}

    def put(self, op: Operation) -> SSAValue:
        """The result of a new op."""
        return insert_before(self.anchor, op).results[0]

    def number(self, value: int) -> SSAValue:
        """A constant index."""
        return self.put(stablehlo.make_constant(value, i32, ()))

    def index(self, axes: Sequence[Axis]) -> SSAValue:
        """This device's index over `axes`; within a block it is computed once."""
        parts = _joined([digits(axis, self.mesh) for axis in axes])
        block = self.anchor.parent
        assert block is not None
        key = (block, tuple(parts))
        if key not in self._indices:
            self._indices[key] = self._index(parts)
        return self._indices[key]

    def device(self) -> SSAValue:
        """This device's number."""
        return self.index([Axis(name) for name in self.mesh.axis_names])

    def _index(self, parts: Sequence[tuple[int, int]]) -> SSAValue:
        if not parts:
            return self.number(0)
        mine = self.put(collectives.PartitionIdOp.create(result_types=[tensor((), collectives.UI32)]))
        device = self.put(stablehlo.ConvertOp(mine, i32))
        total: SSAValue | None = None
        for stride, size in parts:
            digit = device if stride == 1 else self.put(stablehlo.DivideOp(device, self.number(stride)))
            if stride * size < self.mesh.size:
                digit = self.put(stablehlo.RemainderOp(digit, self.number(size)))
            if total is not None:
                total = self.put(stablehlo.MultiplyOp(total, self.number(size)))
            total = digit if total is None else self.put(stablehlo.AddOp(total, digit))
        assert total is not None
        return total

    def lookup(self, table: Sequence[int], index: SSAValue) -> SSAValue:
        """The number that stands in `table` at `index`."""
        if len(set(table)) == 1:
            return self.number(table[0])
        constant = self.put(stablehlo.make_constant(np.asarray(table), i32))
        one = self.put(stablehlo.DynamicSliceOp(constant, [index], [1]))
        return self.reshape(one, ())

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The value with another shape."""
        shape = tuple(shape)
        if shape_of(value) == shape:
            return value
        return self.put(stablehlo.ReshapeOp(value, tensor(shape, element_of(value))))

    def rearranged(self, value: SSAValue, cut: Sequence[int], order: Sequence[int], shape: Sequence[int]) -> SSAValue:
        """
        The value cut into dims of these extents, these in another order, and all of it in a shape.

        Dims that stay side by side move as one, and those of one element not at all: a kernel counts along fewer then.
        """
        longer = [dim for dim, extent in enumerate(cut) if extent != 1]
        runs: list[list[int]] = []
        for place in map(longer.index, filter(longer.__contains__, order)):
            if runs and place == runs[-1][-1] + 1:
                runs[-1].append(place)
            else:
                runs.append([place])
        if (before := sorted(runs)) != runs:
            value = self.reshape(value, [math.prod(cut[longer[place]] for place in run) for run in before])
            value = self.put(stablehlo.TransposeOp(value, tuple(map(before.index, runs))))
        return self.reshape(value, shape)

    def take(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """The elements along the first dim of a value in this order; some may come twice, or not at all."""
        shape = shape_of(value)
        if list(order) == list(range(shape[0])):
            return value
        starts = [at for at in range(len(order)) if at == 0 or order[at] != order[at - 1] + 1]
        runs = [order[a:b] for a, b in zip(starts, [*starts[1:], len(order)], strict=True)]
        rest = shape[1:]
        parts = [self.put(stablehlo.SliceOp(value, (run[0], *(0 for _ in rest)), (run[-1] + 1, *rest))) for run in runs]
        return self.put(stablehlo.ConcatenateOp(parts, 0))

    def part(self, value: SSAValue, front: Mapping[int, int], shape: Sequence[int]) -> SSAValue:
        """The part of a value of this shape that starts so far into some dims."""
        if shape_of(value) == tuple(shape):
            return value
        starts = tuple(front.get(dim, 0) for dim in range(len(shape)))
        stops = tuple(start + extent for start, extent in zip(starts, shape, strict=True))
        return self.put(stablehlo.SliceOp(value, starts, stops))

    def splat(self, value: Any, like: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A constant of the element type of `like`."""
        return self.put(stablehlo.make_constant(value, element_of(like), tuple(shape)))

    def all_reduce(self, value: SSAValue, kind: str, axes: Sequence[Axis]) -> SSAValue:
        """The value combined over `axes`."""
        members, shape = groups(axes, self.mesh), shape_of(value)
        if not _is_bitwise(kind, value):
            return self._collective(collectives.AllReduceOp, value, members, {}, kind)
        size, count = math.prod(shape), members.shape[1]
        row = self.reshape(value, (size,))
        if size % count:
            row = self.put(stablehlo.PadOp(row, self.splat(0, row, ()), (0,), (-size % count,), (0,)))
        combined = self.all_gather(self.reduce_scatter(row, kind, 0, axes), 0, members)
        return self.reshape(self.part(combined, {}, (size,)), shape)

    def reduce_scatter(self, value: SSAValue, kind: str, dim: int, axes: Sequence[Axis]) -> SSAValue:
        """The value combined over `axes`; each device keeps its part of `dim`."""
        members = groups(axes, self.mesh)
        if _is_bitwise(kind, value):
            return self._combined_here(self.all_to_all(value, dim, dim, members), kind, dim, members.shape[1])
        factors = {dim: -members.shape[1]}
        return self._collective(collectives.ReduceScatterOp, value, members, factors, kind, scatter_dimension=dim)

    def _combined_here(self, value: SSAValue, kind: str, dim: int, count: int) -> SSAValue:
        """The combination of so many parts of `dim`."""
        shape = shape_of(value)
        parts = self.reshape(value, (*shape[:dim], count, shape[dim] // count, *shape[dim + 1 :]))
        start = self.splat(adds_nothing(kind, element_of(value)), value, ())
        return self.put(stablehlo.ReduceOp([parts], [start], (dim,), COMBINERS[kind]))

    def all_gather(self, value: SSAValue, dim: int, members: Numbers) -> SSAValue:
        """The parts of `dim` of all devices of a group, joined."""
        return self._collective(collectives.AllGatherOp, value, members, {dim: members.shape[1]}, all_gather_dim=dim)

    def all_to_all(self, value: SSAValue, source: int, target: int, members: Numbers) -> SSAValue:
        """Each device of a group gets a part of dim `target` of each, joined along dim `source`."""
        size = members.shape[1]
        factors = {} if source == target else {target: -size, source: size}
        return self._collective(
            collectives.AllToAllOp,
            value,
            members,
            factors,
            split_dimension=target,
            concat_dimension=source,
            split_count=size,
        )

    def _collective(
        self,
        operation: type[Operation],
        value: SSAValue,
        members: Numbers,
        factors: dict[int, int],
        kind: str | None = None,
        **properties: int,
    ) -> SSAValue:
        """
        One of StableHLO's, whose result has some dims multiplied, or divided where the factor is negative.

        Where there are no elements nothing is sent, and StableHLO has no such collective.
        """
        shape = list(shape_of(value))
        for dim, factor in factors.items():
            shape[dim] = shape[dim] * factor if factor > 0 else shape[dim] // -factor
        if 0 in shape:
            return self.splat(0, value, shape)
        numbers = {name: IntegerAttr(number, i64) for name, number in properties.items()}
        return self.put(
            operation.create(
                operands=[value],
                result_types=[tensor(tuple(shape), element_of(value))],
                properties=self.listed(members, operation) | numbers,
                regions=[] if kind is None else [combiner(COMBINERS[kind], element_of(value))],
            )
        )

    def shares_axes(self) -> bool:
        """Whether the ops stand in a computation over some of the axes: XLA knows no device's number there."""
        outer = self.anchor.parent_op()
        while outer is not None and not isinstance(outer, ManualComputationOp):
            outer = outer.parent_op()
        return outer is not None and set(outer.manual_axes.data) != set(self.mesh.axis_names)

    def united(self, parts: Sequence[SSAValue], like: SSAValue) -> SSAValue:
        """The bits of all parts, of which each device has zeros in all but one; zeros where there are no parts."""
        if len(parts) < 2:
            return parts[0] if parts else self.splat(0, like, shape_of(like))
        element = element_of(like)
        if is_complex(element):
            return functools.reduce(lambda one, other: self.put(stablehlo.AddOp(one, other)), parts)
        bits = element if is_boolean(element) else IntegerType(bit_width(element), Signedness.UNSIGNED)
        words = [self.bits(part, bits) for part in parts]
        return self.bits(functools.reduce(lambda one, other: self.put(stablehlo.OrOp(one, other)), words), element)

    def bits(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The same bits as elements of another type."""
        return value if element_of(value) == element else self.put(stablehlo.BitcastConvertOp(value, element))

    def permute(self, value: SSAValue, pairs: Numbers, *, fills: bool = False) -> SSAValue:
        """
        What each device receives from the one that its pair names.

        Where these are the same nothing is sent and the value is itself, unless it is needed that it `fills` with zeros
        what devices without a pair have.
        """
        stays = (pairs[:, 0] == pairs[:, 1]).all() and (not fills or len(pairs) == self.mesh.size)
        if 0 in shape_of(value) or stays:
            return value
        return self.put(
            collectives.CollectivePermuteOp.create(
                operands=[value],
                result_types=[value.type],
                properties={"source_target_pairs": stablehlo.make_dense(pairs, i64), **self._channel()},
            )
        )

    def listed(self, members: Numbers, operation: type[Operation]) -> dict[str, Attribute]:
        """The groups, device by device, with a channel, as this collective states them."""
        ids = {"use_global_device_ids": UnitAttr()} if issubclass(operation, GLOBAL_IDS) else {}
        return {"replica_groups": stablehlo.make_dense(members, i64), **self._channel(), **ids}

    def _channel(self) -> dict[str, Attribute]:
        self._channels += 1
        return {"channel_handle": collectives.ChannelHandleAttr((self._channels, DEVICE_TO_DEVICE))}


def _is_bitwise(kind: str, value: SSAValue) -> bool:
    """Whether the bits of integers are combined: XLA compiles no collective for that, on CPUs and GPUs alike."""
    return kind in ("and", "or") and not is_boolean(element_of(value))


def _joined(parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """
    Strides and sizes without size 1, and neighbours that count on as one.

    >>> _joined([(4, 2), (2, 1), (1, 4)])
    [(1, 8)]
    """
    found: list[tuple[int, int]] = []
    for stride, size in parts:
        if size == 1:
            continue
        if found and found[-1][0] == stride * size:
            found[-1] = (stride, found[-1][1] * size)
        else:
            found.append((stride, size))
    return found
