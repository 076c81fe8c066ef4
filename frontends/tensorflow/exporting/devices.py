"""
Manual computations: what each device does, written once for each device that does something else.

A value that differs between devices is an array of tensors with a dim for each atom of the mesh (`runtime.atoms`), of
size 1 where it does not differ: so what all do alike is written once. Collectives choose, join and combine tensors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects.building import blocks_in, captured_by
from shardwright.dialects.dtensor import AxisIndexOp, meshes
from shardwright.dialects.dtensor.manual import CastOp, FetchOp, FromManualOp, ToManualOp, UnvaryingOp, manual_axes
from shardwright.dialects.stablehlo import CaseOp, IfOp, WhileOp, collectives
from shardwright.dialects.types import shape_of
from shardwright.frontends.tensorflow.exporting.emitter import (
    HANDLERS,
    Emitter,
    Library,
    Parts,
    captured,
    check_types,
    missing,
)
from shardwright.frontends.tensorflow.exporting.nodes import INT32, Refusal, Tensor
from shardwright.frontends.tensorflow.exporting.operations.control import branches, loop
from shardwright.frontends.tensorflow.exporting.operations.reductions import pair_kind
from shardwright.layout.axes import Axis
from shardwright.runtime.atoms import Atoms
from shardwright.runtime.kernels.elementwise import working_dtype
from shardwright.runtime.lowering.ops import reducer_kind

MOST_DEVICES = 64
"""The most devices of a program that says what each of them does."""

SPREADING = (CastOp, AxisIndexOp, FetchOp, UnvaryingOp, collectives.GroupedOp)
"""Operations that know devices."""


def atoms_of(module: ModuleOp) -> Atoms | None:
    """The mesh of a program with manual computations, cut where they cut it; None for other programs."""
    used: list[Axis] = []
    for op in module.walk():
        used += manual_axes(op)
        if isinstance(op, CastOp):
            used += itertools.chain(*op.dim_axes.data)
    mesh = next(iter(meshes(module).values()), None)
    return Atoms.cut(mesh, used) if used and mesh is not None else None


def _differs(e: Emitter, op: Operation) -> bool:
    """Whether an operation reads what differs between devices, or asks itself which one it is on."""
    free = captured_by(blocks_in(op))
    if any(value in e.parts for value in (*op.operands, *free)):
        return True
    return any(isinstance(inner, SPREADING) for inner in op.walk())


class Devices:
    """Writes the operations of one program that differ between devices."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms

    def write(self, e: Emitter, op: Operation) -> list[Parts] | None:
        """The results of an operation for each device; None where it does not differ between them."""
        if not _differs(e, op):
            return None
        if self.atoms.mesh.size > MOST_DEVICES:
            raise Refusal(f"what each of {self.atoms.mesh.size} devices does, where at most {MOST_DEVICES} are written")
        if isinstance(op, WhileOp):
            return self._while(e, op)
        if isinstance(op, IfOp | CaseOp):
            return self._branch(e, op)
        operands = [self.held(e, operand) for operand in op.operands]
        for kind, write in WRITERS.items():
            if isinstance(op, kind):
                return [write(self, e, op, *operands)]
        for kind, (combine, same) in GROUPED.items():
            if isinstance(op, kind):
                dims = self.atoms.positions(manual_axes(op))
                return [self.per_group(combine, e, op, each, dims, same=same) for each in operands]
        check_types(op)
        return self.each(lambda *tensors: HANDLERS[op.name](e, op, list(tensors)), len(op.results), operands)

    def held(self, e: Emitter, value: SSAValue) -> Parts:
        """A value by device."""
        found = e.parts.get(value)
        return _array((1,) * self.atoms.count, [e.values[value]]) if found is None else found

    def each(self, function: Callable[..., Sequence[Tensor]], count: int, operands: Sequence[Parts]) -> list[Parts]:
        """A function of one device's tensors, called once for all devices that have the same ones."""
        shape = np.broadcast_shapes((1,) * self.atoms.count, *(operand.shape for operand in operands))
        results = [np.empty(shape, object) for _ in range(count)]
        spread = [np.broadcast_to(operand, shape) for operand in operands]
        once = cache(function)
        for at in np.ndindex(shape):
            for result, tensor in zip(results, once(*(operand.item(at) for operand in spread)), strict=True):
                result[at] = tensor
        return results

    def whole(self, parts: Parts, dims: Sequence[int]) -> Parts:
        """With all devices along some dims."""
        shape = [self.atoms.sizes[dim] if dim in dims else extent for dim, extent in enumerate(parts.shape)]
        return np.broadcast_to(parts, shape)

    def first(self, parts: Parts, axes: Iterable[Axis]) -> Parts:
        """Along some axes only what the first device has."""
        for dim in self.atoms.positions(axes):
            parts = np.take(parts, [0], dim)
        return parts

    def number(self, at: Sequence[int], dims: Sequence[int]) -> int:
        """A device's number along some dims, major to minor."""
        number = 0
        for dim in dims:
            number = number * self.atoms.sizes[dim] + at[dim]
        return number

    def per_group(
        self, function: Combining, e: Emitter, op: Any, parts: Parts, dims: Sequence[int], *, same: bool
    ) -> Parts:
        """
        What a function makes of the tensors of each group: one for each member, or the `same` for all of them.

        A group are devices that differ along some dims.
        """
        last = range(-len(dims), 0)
        kept = [extent for dim, extent in enumerate(parts.shape) if dim not in dims]
        groups = np.moveaxis(self.whole(parts, dims), dims, last).reshape([*kept, -1])
        made = np.empty((*kept, 1 if same else groups.shape[-1]), object)
        once = cache(lambda *tensors: function(e, op, list(tensors)))
        for at in np.ndindex(*kept):
            tensors: list[Tensor] = groups[at].tolist()
            made[at] = once(*tensors)
        if same:
            return np.expand_dims(made[..., 0], tuple(sorted(dims)))
        apart = made.reshape([*kept, *(self.atoms.sizes[dim] for dim in dims)])
        return np.moveaxis(apart, last, dims)

    def _while(self, e: Emitter, op: WhileOp) -> list[Parts]:
        """What differs between devices is carried once for each; they must agree on when to stop."""
        starts = [self.held(e, operand) for operand in op.operands]
        free = captured([op.condition.block, op.body.block])
        fixed = [self.held(e, value) for value in free]
        outside = [each.shape for each in fixed]
        shapes = self._settled(e, op, [start.shape for start in starts], free)

        def written(inner: Emitter, block: Block, tensors: Sequence[Tensor]) -> list[Parts]:
            return self._written(inner, block, [*block.args, *free], _unpacked(tensors, [*shapes, *outside]))

        def test(inner: Emitter, tensors: Sequence[Tensor]) -> Tensor:
            (predicate,) = written(inner, op.condition.block, tensors)
            if predicate.size > 1:
                raise Refusal("its condition differs between devices")
            return inner.whole(predicate.item())

        def body(inner: Emitter, tensors: Sequence[Tensor]) -> list[Tensor]:
            return _packed(written(inner, op.body.block, tensors), shapes)

        ends = loop(e, e.scope or "while", _packed(starts, shapes), _packed(fixed, outside), test, body)
        return _unpacked(ends, shapes)

    def _settled(
        self, e: Emitter, op: WhileOp, shapes: list[tuple[int, ...]], free: Sequence[SSAValue]
    ) -> list[tuple[int, ...]]:
        """Along which atoms the state differs: as its start does, and as the body makes of it, written for trial."""
        block = op.body.block
        while True:
            stand_ins = [_stand_in(value, shape) for value, shape in zip(block.args, shapes, strict=True)]
            parts = [*stand_ins, *(self.held(e, value) for value in free)]
            made = self._written(Emitter(Library(devices=self)), block, [*block.args, *free], parts)
            wider = [np.broadcast_shapes(shape, each.shape) for shape, each in zip(shapes, made, strict=True)]
            if wider == shapes:
                return shapes
            shapes = wider

    def _branch(self, e: Emitter, op: IfOp | CaseOp) -> list[Parts]:
        """All devices take the same branch; each result differs where it does in any of them."""
        index = self.held(e, op.operands[0])
        if index.size > 1:
            raise Refusal("its index differs between devices")
        blocks = [region.block for region in op.regions]
        free = captured(blocks)
        fixed = [self.held(e, value) for value in free]
        outside = [each.shape for each in fixed]
        trials = [self._written(Emitter(Library(devices=self)), block, free, fixed) for block in blocks]
        shapes = [np.broadcast_shapes(*(each.shape for each in made)) for made in zip(*trials, strict=True)]

        def body(inner: Emitter, block: Block, tensors: Sequence[Tensor]) -> list[Tensor]:
            return _packed(self._written(inner, block, free, _unpacked(tensors, outside)), shapes)

        outputs = _packed([_stand_in(*pair) for pair in zip(op.results, shapes, strict=True)], shapes)
        return _unpacked(branches(e, op, index.item(), _packed(fixed, outside), outputs, body), shapes)

    def _written(self, inner: Emitter, block: Block, values: Sequence[SSAValue], parts: Sequence[Parts]) -> list[Parts]:
        """What a block returns for each device inside of a function, where parts stand for what it uses."""
        for value, part in zip(values, parts, strict=True):
            inner.keep(value, part)
        inner.repeat_constants([block])
        return [self.held(inner, value) for value in inner.run(block)]


def _array(shape: Sequence[int], tensors: Iterable[Tensor]) -> Parts:
    return np.fromiter(tensors, object, math.prod(shape)).reshape(shape)


def _stand_in(value: SSAValue, shape: Sequence[int]) -> Parts:
    """Tensors of a value's type that no node makes, one for each place."""
    return _array(shape, (missing(value) for _ in range(math.prod(shape))))


def _packed(parts: Sequence[Parts], shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """Parts, broadcast to these shapes, as one list of tensors."""
    return [
        tensor for part, shape in zip(parts, shapes, strict=True) for tensor in np.broadcast_to(part, shape).reshape(-1)
    ]


def _unpacked(tensors: Iterable[Tensor], shapes: Sequence[tuple[int, ...]]) -> list[Parts]:
    """The parts of these shapes that a list of tensors is."""
    rest = iter(tensors)
    return [_array(shape, itertools.islice(rest, math.prod(shape))) for shape in shapes]


def _to_manual(devices: Devices, e: Emitter, op: ToManualOp, whole: Parts) -> Parts:
    """Each device its block."""
    split = [devices.atoms.positions(axes) for axes in op.dim_axes.data]
    parts, shape = devices.whole(whole, [dim for dims in split for dim in dims]), shape_of(op.result)

    @cache
    def block(tensor: Tensor, *numbers: int) -> Tensor:
        starts = [number * extent for number, extent in zip(numbers, shape, strict=True)]
        limits = [start + extent for start, extent in zip(starts, shape, strict=True)]
        return e.slice(tensor, starts, limits, [1] * len(shape))

    pairs = zip(parts.flat, np.ndindex(parts.shape), strict=True)
    return _array(parts.shape, (block(each, *(devices.number(at, dims) for dims in split)) for each, at in pairs))


def _from_manual(devices: Devices, e: Emitter, op: FromManualOp, parts: Parts) -> Parts:
    """The blocks joined, along the last dim first; of devices that hold the same one, the first one's."""
    parts = devices.first(parts, op.unnamed(devices.atoms.mesh))
    for dim, axes in reversed(list(enumerate(op.dim_axes.data))):
        if axes:
            parts = devices.per_group(_joined, e, dim, parts, devices.atoms.positions(axes), same=True)
    return parts


def _joined(e: Emitter, dim: int, group: list[Tensor]) -> list[Tensor]:
    return [e.concatenate(group, dim)]


def _axis_index(devices: Devices, e: Emitter, op: AxisIndexOp) -> Parts:
    dims = devices.atoms.positions(op.axes.data)
    shape = devices.atoms.lead(dims)
    return _array(shape, (e.splat(devices.number(at, dims), INT32) for at in np.ndindex(shape)))


def _unvarying(devices: Devices, e: Emitter, op: UnvaryingOp, parts: Parts) -> Parts:
    return devices.first(parts, op.axes.data)


def _combined(e: Emitter, op: Any, group: list[Tensor]) -> list[Tensor]:
    """The tensors of a group, combined by the body of a collective; narrow floats are rounded once."""
    block = op.body.block
    kind = reducer_kind(block)
    if kind is None:
        total = group[0]
        for tensor in group[1:]:
            (total,) = e.pointwise(block, [total, tensor])
        return [total]
    dtype = group[0].dtype
    total, *rest = [e.cast(tensor, working_dtype(dtype)) for tensor in group]
    for tensor in rest:
        total = e.call(pair_kind(kind, total), total, tensor)
    return [e.cast(total, dtype)]


def _gathered(e: Emitter, op: collectives.AllGatherOp, group: list[Tensor]) -> list[Tensor]:
    return _joined(e, op.dim, group)


def _scattered(e: Emitter, op: collectives.ReduceScatterOp, group: list[Tensor]) -> list[Tensor]:
    (total,), extent = _combined(e, op, group), shape_of(op.result)[op.dim]
    return [e.cut(total, op.dim, at * extent, (at + 1) * extent) for at in range(len(group))]


def _exchanged(e: Emitter, op: collectives.AllToAllOp, group: list[Tensor]) -> list[Tensor]:
    split, concat = op.dims
    extent = group[0].shape[split] // len(group)
    return [
        e.concatenate([e.cut(sender, split, at * extent, (at + 1) * extent) for sender in group], concat)
        for at in range(len(group))
    ]


def _fetched(e: Emitter, op: FetchOp, group: list[Tensor]) -> list[Tensor]:
    zeros = e.splat(0, group[0].dtype, group[0].shape)
    return [zeros if source < 0 else group[source] for source in op.sources]


Writer: TypeAlias = Callable[..., Parts]
"""Takes the devices, the emitter, the operation, and its operands by device."""

Combining: TypeAlias = "Callable[[Emitter, Any, list[Tensor]], list[Tensor]]"
"""Makes of the tensors of a group one for each member, or one for all of them."""

WRITERS: dict[type[Operation], Writer] = {
    ToManualOp: _to_manual,
    FromManualOp: _from_manual,
    AxisIndexOp: _axis_index,
    UnvaryingOp: _unvarying,
}
"""What writes each operation that knows devices."""

GROUPED: dict[type[Operation], tuple[Combining, bool]] = {
    FetchOp: (_fetched, False),
    collectives.AllReduceOp: (_combined, True),
    collectives.AllGatherOp: (_gathered, True),
    collectives.ReduceScatterOp: (_scattered, False),
    collectives.AllToAllOp: (_exchanged, False),
}
"""What writes each collective, and whether all of a group have the same of it."""
