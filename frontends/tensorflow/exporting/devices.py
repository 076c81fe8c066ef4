"""
Manual computations: what each device does, written once for each device that does something else.

A value that differs between devices is an array of tensors with a dim for each atom of the mesh (`runtime.atoms`), of
size 1 where it does not differ: so what all do alike is written once. Collectives choose, join and combine tensors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects.dtensor import AxisIndexOp, meshes
from shardwright.dialects.dtensor.manual import CastOp, FetchOp, FromManualOp, ToManualOp, UnvaryingOp, manual_axes
from shardwright.dialects.stablehlo import CaseOp, IfOp, WhileOp, collectives
from shardwright.dialects.types import shape_of
from shardwright.frontends.tensorflow.exporting.emitter import (
    HANDLERS,
    Emitter,
    Library,
    Parts,
    again,
    check_types,
    free_values,
    is_small_constant,
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
    used = [axis for op in module.walk() for axis in _axes(op)]
    mesh = next(iter(meshes(module).values()), None)
    return Atoms.cut(mesh, used) if used and mesh is not None else None


def _axes(op: Operation) -> tuple[Axis, ...]:
    own = manual_axes(op)
    return (*own, *itertools.chain(*op.dim_axes.data)) if isinstance(op, CastOp) else own


def places(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The places of devices, row-major."""
    return itertools.product(*map(range, shape))


class Devices:
    """Writes the operations of one program that differ between devices."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms

    def write(self, e: Emitter, op: Operation) -> list[Parts] | None:
        """The results of an operation for each device; None where it does not differ between them."""
        free = free_values([block for region in op.regions for block in region.blocks])
        spread = any(value in e.parts for value in (*op.operands, *free))
        inside = any(isinstance(inner, SPREADING) for inner in op.walk())
        if not spread and not inside:
            return None
        if self.atoms.mesh.size > MOST_DEVICES:
            raise Refusal(f"what each of {self.atoms.mesh.size} devices does, where at most {MOST_DEVICES} are written")
        if isinstance(op, SPREADING):
            return WRITERS[_kind(op)](self, e, op, [self.held(e, operand) for operand in op.operands])
        if isinstance(op, WhileOp):
            return self._while(e, op)
        if isinstance(op, IfOp | CaseOp):
            return self._branch(e, op)
        write = _one_device(op)
        operands = [self.held(e, operand) for operand in op.operands]
        return self.each(lambda *tensors: write(e, op, list(tensors)), len(op.results), operands)

    def held(self, e: Emitter, value: SSAValue) -> Parts:
        """A value by device."""
        found = e.parts.get(value)
        return self.single(e.values[value]) if found is None else found

    def single(self, tensor: Tensor) -> Parts:
        """One tensor that all devices have."""
        made = np.empty((1,) * self.atoms.count, object)
        made[...] = tensor
        return made

    def each(self, function: Callable[..., Sequence[Tensor]], count: int, operands: Sequence[Parts]) -> list[Parts]:
        """A function of one device's tensors, called once for all devices that have the same ones."""
        shape = np.broadcast_shapes((1,) * self.atoms.count, *(operand.shape for operand in operands))
        results = [np.empty(shape, object) for _ in range(count)]
        known: dict[tuple[int, ...], Sequence[Tensor]] = {}
        spread = [np.broadcast_to(operand, shape) for operand in operands]
        for at in places(shape):
            tensors = [operand[at] for operand in spread]
            key = tuple(map(id, tensors))
            if key not in known:
                known[key] = function(*tensors)
            for result, tensor in zip(results, known[key], strict=True):
                result[at] = tensor
        return results

    def along(self, axes: Iterable[Axis]) -> tuple[int, ...]:
        """The dims of the atoms of axes, major to minor."""
        return self.atoms.positions(axes)

    def whole(self, parts: Parts, dims: Sequence[int]) -> Parts:
        """With all devices along some dims."""
        shape = [self.atoms.sizes[dim] if dim in dims else extent for dim, extent in enumerate(parts.shape)]
        return np.broadcast_to(parts, shape)

    def grouped(self, parts: Parts, dims: Sequence[int]) -> Parts:
        """The groups of devices that differ along some dims: a list behind the others, which lose these dims."""
        moved = np.moveaxis(self.whole(parts, dims), dims, range(-len(dims), 0)) if dims else parts[..., None]
        if not dims:
            return moved
        kept = [dim for dim in range(parts.ndim) if dim not in dims]
        return moved.reshape([parts.shape[dim] for dim in kept] + [-1])

    def ungrouped(self, groups: Parts, dims: Sequence[int]) -> Parts:
        """The members of groups in their places."""
        if not dims:
            return groups[..., 0]
        apart = groups.reshape([*groups.shape[:-1], *(self.atoms.sizes[dim] for dim in dims)])
        return np.moveaxis(apart, range(-len(dims), 0), dims)

    def per_group(
        self, function: Callable[[list[Tensor]], Sequence[Tensor]], parts: Parts, dims: Sequence[int], *, same: bool
    ) -> Parts:
        """What a function makes of the tensors of each group: one for each member, or the same for all of them."""
        groups = self.grouped(parts, dims)
        made = np.empty((*groups.shape[:-1], 1 if same else groups.shape[-1]), object)
        known: dict[tuple[int, ...], Sequence[Tensor]] = {}
        for at in places(groups.shape[:-1]):
            tensors = list(groups[at])
            key = tuple(map(id, tensors))
            if key not in known:
                known[key] = function(tensors)
            for member, tensor in enumerate(known[key]):
                made[(*at, member)] = tensor
        if not same:
            return self.ungrouped(made, dims)
        return np.expand_dims(made[..., 0], tuple(sorted(dims)))

    def _while(self, e: Emitter, op: WhileOp) -> list[Parts]:
        """What differs between devices is carried once for each; they must agree on when to stop."""
        starts = [self.held(e, operand) for operand in op.operands]
        free = [value for value in free_values([op.condition.block, op.body.block]) if not is_small_constant(value)]
        captured = [self.held(e, value) for value in free]
        shapes = self._settled(e, op, [start.shape for start in starts], free)
        state = [np.broadcast_to(start, shape) for start, shape in zip(starts, shapes, strict=True)]
        pack, unpack = _packing(shapes)
        outer, outside = _packing([each.shape for each in captured])
        count = sum(math.prod(shape) for shape in shapes)

        def written(inner: Emitter, block: Block, tensors: Sequence[Tensor]) -> list[Parts]:
            self._bind(inner, [*block.args, *free], [*unpack(tensors[:count]), *outside(tensors[count:])], [block])
            return [self.held(inner, value) for value in inner.run(block)]

        def test(inner: Emitter, tensors: Sequence[Tensor]) -> Tensor:
            (predicate,) = written(inner, op.condition.block, tensors)
            if predicate.size > 1:
                raise Refusal("its condition differs between devices")
            return inner.whole(predicate.reshape(-1)[0])

        def body(inner: Emitter, tensors: Sequence[Tensor]) -> list[Tensor]:
            made = written(inner, op.body.block, tensors)
            return pack([np.broadcast_to(each, shape) for each, shape in zip(made, shapes, strict=True)])

        ends = loop(e, e.scope or "while", pack(state), outer(captured), test, body)
        return unpack(ends)

    def _settled(
        self, e: Emitter, op: WhileOp, shapes: list[tuple[int, ...]], free: Sequence[SSAValue]
    ) -> list[tuple[int, ...]]:
        """Along which atoms the state differs: as its start does, and as the body makes of it, written for trial."""
        while True:
            trial = Emitter(Library(devices=self))
            values = [*op.body.block.args, *free]
            stand_ins = [_stand_in(value, shape) for value, shape in zip(op.body.block.args, shapes, strict=True)]
            self._bind(trial, values, [*stand_ins, *(self.held(e, value) for value in free)], [op.body.block])
            made = [self.held(trial, value).shape for value in trial.run(op.body.block)]
            wider = [np.broadcast_shapes(*pair) for pair in zip(shapes, made, strict=True)]
            if wider == shapes:
                return shapes
            shapes = wider

    def _branch(self, e: Emitter, op: IfOp | CaseOp) -> list[Parts]:
        """All devices take the same branch; each result differs where it does in any of them."""
        index = self.held(e, op.operands[0])
        if index.size > 1:
            raise Refusal("its index differs between devices")
        blocks = [region.block for region in op.regions]
        free = [value for value in free_values(blocks) if not is_small_constant(value)]
        captured = [self.held(e, value) for value in free]
        pack, unpack = _packing([each.shape for each in captured])

        def written(inner: Emitter, block: Block, tensors: Sequence[Tensor]) -> list[Parts]:
            self._bind(inner, free, unpack(tensors), [block])
            return [self.held(inner, value) for value in inner.run(block)]

        trials = [written(Emitter(Library(devices=self)), block, pack(captured)) for block in blocks]
        shapes = [np.broadcast_shapes(*(each.shape for each in made)) for made in zip(*trials, strict=True)]
        gather, scatter = _packing(shapes)

        def body(block: Block) -> Callable[[Emitter, Sequence[Tensor]], list[Tensor]]:
            def run(inner: Emitter, tensors: Sequence[Tensor]) -> list[Tensor]:
                made = written(inner, block, tensors)
                spread = [np.broadcast_to(each, shape) for each, shape in zip(made, shapes, strict=True)]
                return [inner.whole(tensor) for tensor in gather(spread)]

            return run

        outputs = gather([_stand_in(result, shape) for result, shape in zip(op.results, shapes, strict=True)])
        made = branches(e, op, index.reshape(-1)[0], pack(captured), outputs, [body(block) for block in blocks])
        return scatter(made)

    def _bind(
        self, inner: Emitter, values: Sequence[SSAValue], parts: Sequence[Parts], blocks: Sequence[Block]
    ) -> None:
        for value, part in zip(values, parts, strict=True):
            inner.keep(value, part)
        for value in free_values(blocks):
            if is_small_constant(value):
                inner.values[value] = again(inner, value)


def _one_device(op: Operation) -> Callable[..., Sequence[Tensor]]:
    """What writes an operation for one device."""
    check_types(op)
    return HANDLERS[op.name]


def _stand_in(value: SSAValue, shape: Sequence[int]) -> Parts:
    """Tensors of a value's type that no node makes, one for each place."""
    made = np.empty(shape, object)
    for at in places(shape):
        made[at] = missing(value)
    return made


def _packing(shapes: Sequence[tuple[int, ...]]) -> tuple[Callable[..., list[Tensor]], Callable[..., list[Parts]]]:
    """Parts of these shapes as one list of tensors, and back."""
    bounds = [0, *itertools.accumulate(math.prod(shape) for shape in shapes)]

    def pack(parts: Sequence[Parts]) -> list[Tensor]:
        return [tensor for part in parts for tensor in part.reshape(-1)]

    def unpack(tensors: Sequence[Tensor]) -> list[Parts]:
        made: list[Parts] = []
        for shape, first, last in zip(shapes, bounds, bounds[1:], strict=False):
            flat = np.empty(last - first, object)
            flat[:] = list(tensors[first:last])
            made.append(flat.reshape(shape))
        return made

    return pack, unpack


Writer: TypeAlias = "Callable[[Devices, Emitter, Any, list[Parts]], list[Parts]]"


def _kind(op: Operation) -> type[Operation]:
    return next((kind for kind in WRITERS if isinstance(op, kind)), Operation)


def _to_manual(devices: Devices, e: Emitter, op: ToManualOp, operands: list[Parts]) -> list[Parts]:
    """Each device its block."""
    split = [devices.along(axes) for axes in op.dim_axes.data]
    parts = devices.whole(operands[0], [dim for dims in split for dim in dims])
    shape = shape_of(op.result)
    made = np.empty(parts.shape, object)
    known: dict[tuple[object, ...], Tensor] = {}
    for at in places(parts.shape):
        numbers = tuple(_number(devices, at, dims) for dims in split)
        key = (id(parts[at]), numbers)
        if key not in known:
            starts = [number * extent for number, extent in zip(numbers, shape, strict=True)]
            limits = [start + extent for start, extent in zip(starts, shape, strict=True)]
            known[key] = e.slice(parts[at], starts, limits, [1] * len(shape))
        made[at] = known[key]
    return [made]


def _number(devices: Devices, at: Sequence[int], dims: Sequence[int]) -> int:
    """A device's number along some dims, major to minor."""
    number = 0
    for dim in dims:
        number = number * devices.atoms.sizes[dim] + at[dim]
    return number


def _from_manual(devices: Devices, e: Emitter, op: FromManualOp, operands: list[Parts]) -> list[Parts]:
    """The blocks joined, along the last dim first; of devices that hold the same one, the first one's."""
    parts = operands[0]
    for dim in devices.along(op.whole):
        parts = np.take(parts, [0], dim)
    for dim, axes in reversed(list(enumerate(op.dim_axes.data))):
        if axes:
            parts = _joined(devices, e, parts, axes, dim)
    return [parts]


def _joined(devices: Devices, e: Emitter, parts: Parts, axes: Sequence[Axis], dim: int) -> Parts:
    return devices.per_group(lambda group: [e.concatenate(group, dim)], parts, devices.along(axes), same=True)


def _axis_index(devices: Devices, e: Emitter, op: AxisIndexOp, operands: list[Parts]) -> list[Parts]:
    dims = devices.along(op.axes.data)
    made = np.empty(devices.atoms.lead(dims), object)
    for at in places(made.shape):
        made[at] = e.splat(_number(devices, at, dims), INT32)
    return [made]


def _combined(e: Emitter, op: Any, group: list[Tensor]) -> Tensor:
    """The tensors of a group, combined by the body of a collective; narrow floats are rounded once."""
    block = op.body.block
    kind = reducer_kind(block)
    if kind is None:
        total = group[0]
        for tensor in group[1:]:
            (total,) = e.pointwise(block, [total, tensor])
        return total
    dtype = group[0].dtype
    total, *rest = [e.cast(tensor, working_dtype(dtype)) for tensor in group]
    for tensor in rest:
        total = e.call(pair_kind(kind, total), total, tensor)
    return e.cast(total, dtype)


def _all_reduce(devices: Devices, e: Emitter, op: collectives.AllReduceOp, operands: list[Parts]) -> list[Parts]:
    dims = _group_dims(devices, op)
    return [devices.per_group(lambda group: [_combined(e, op, group)], each, dims, same=True) for each in operands]


def _group_dims(devices: Devices, op: collectives.GroupedOp) -> tuple[int, ...]:
    assert op.groups is not None
    return devices.along(op.groups.axes)


def _all_gather(devices: Devices, e: Emitter, op: collectives.AllGatherOp, operands: list[Parts]) -> list[Parts]:
    dims = _group_dims(devices, op)
    return [devices.per_group(lambda group: [e.concatenate(group, op.dim)], each, dims, same=True) for each in operands]


def _reduce_scatter(
    devices: Devices, e: Emitter, op: collectives.ReduceScatterOp, operands: list[Parts]
) -> list[Parts]:
    def scattered(group: list[Tensor]) -> list[Tensor]:
        total, extent = _combined(e, op, group), shape_of(op.result)[op.dim]
        return [e.cut(total, op.dim, at * extent, (at + 1) * extent) for at in range(len(group))]

    return [devices.per_group(scattered, operands[0], _group_dims(devices, op), same=False)]


def _all_to_all(devices: Devices, e: Emitter, op: collectives.AllToAllOp, operands: list[Parts]) -> list[Parts]:
    split, concat = op.dims

    def exchanged(group: list[Tensor]) -> list[Tensor]:
        extent = group[0].shape[split] // len(group)
        return [
            e.concatenate([e.cut(sender, split, at * extent, (at + 1) * extent) for sender in group], concat)
            for at in range(len(group))
        ]

    return [devices.per_group(exchanged, each, _group_dims(devices, op), same=False) for each in operands]


def _fetch(devices: Devices, e: Emitter, op: FetchOp, operands: list[Parts]) -> list[Parts]:
    def fetched(group: list[Tensor]) -> list[Tensor]:
        zeros = e.splat(0, group[0].dtype, group[0].shape)
        return [zeros if source < 0 else group[source] for source in op.sources]

    return [devices.per_group(fetched, operands[0], devices.along(op.axes.data), same=False)]


def _unvarying(devices: Devices, e: Emitter, op: UnvaryingOp, operands: list[Parts]) -> list[Parts]:
    (parts,) = operands
    for dim in devices.along(op.axes.data):
        parts = np.take(parts, [0], dim)
    return [parts]


WRITERS: dict[type[Operation], Writer] = {
    ToManualOp: _to_manual,
    FromManualOp: _from_manual,
    AxisIndexOp: _axis_index,
    FetchOp: _fetch,
    UnvaryingOp: _unvarying,
    collectives.AllReduceOp: _all_reduce,
    collectives.AllGatherOp: _all_gather,
    collectives.ReduceScatterOp: _reduce_scatter,
    collectives.AllToAllOp: _all_to_all,
}
"""What writes each operation that knows devices."""
