"""Mistakes in what moves between devices: collectives, partial sums, windows, and a device's own number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from xdsl.dialects.builtin import DenseArrayBase, TensorType, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from mutated.edits import Edit, replace_with
from shardwright.dialects import stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.dtensor import AllReduceOp, AxisIndexOp, CollectiveOp, WindowOp, layout_of, with_layout
from shardwright.dialects.dtensor.attributes import AxesAttr, DimAxesAttr, KindAttr, LayoutAttr
from shardwright.dialects.dtensor.ops import mesh_of
from shardwright.dialects.stablehlo.elementwise import ElementwiseOp
from shardwright.dialects.types import element_of, integers, is_boolean, is_float, is_integer, shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh


def collective_edits(op: Operation) -> Iterator[Edit]:
    """Collectives that are missing, there twice, elsewhere, among other devices, or combine otherwise."""
    if not isinstance(op, CollectiveOp):
        return
    yield "collective dropped", _drop
    if isinstance(op, AllReduceOp) or all(a.type == b.type for a, b in zip(op.inputs, op.outputs, strict=True)):
        yield "collective doubled", _double
    if len(op.inputs) == 1:
        yield from _moves(op)
    if len({value.type for value in op.inputs}) < len(op.inputs):
        yield "collective's values exchanged", _rotate_results
    if "kind" in op.properties:
        for kind in ("sum", "max", "min", "prod"):
            if op.properties["kind"] != KindAttr(kind):
                yield "collective's kind", partial(_set, name="kind", value=KindAttr(kind))


def group_edits(op: Operation) -> Iterator[Edit]:
    """Groups of other devices, in another order, or over other dims; layouts that are taken for each other."""
    if "mesh" not in op.properties or not op.name.startswith("dtensor."):
        return
    mesh = mesh_of(op, op.properties["mesh"].root_reference.data)  # pyright: ignore
    for name, found in op.properties.items():
        if isinstance(found, AxesAttr):
            for kind, axes in other_axes(found.data, mesh):
                yield kind, partial(_set, name=name, value=AxesAttr(axes))
        elif isinstance(found, DimAxesAttr):
            for kind, dims in _other_dims(found.data, mesh):
                yield kind, partial(_set, name=name, value=DimAxesAttr(dims))
        elif isinstance(found, LayoutAttr):
            for kind, dims in _other_dims(found.data.dims, mesh):
                yield kind, partial(_set, name=name, value=LayoutAttr(found.data.with_dims(dims)))
    if "source" in op.properties and isinstance(op.properties["source"], LayoutAttr):
        yield "collective the other way", _other_way
    if "source_dim" in op.properties:
        yield "collective the other way", partial(_exchange_properties, first="source_dim", second="target_dim")


def other_axes(axes: Sequence[Axis], mesh: Mesh) -> Iterator[tuple[str, tuple[Axis, ...]]]:
    """Axes that somebody could have meant instead."""
    own = tuple(axes)
    if len(own) > 1:
        yield "order of axes", own[::-1]
    names = {axis.name for axis in own}
    for at in range(len(own)):
        yield "group too small", own[:at] + own[at + 1 :]
        size = mesh.group_size((own[at],))
        if own[at].whole and size >= 4 and size % 2 == 0:
            for part in (Axis(own[at].name, 1, 2), Axis(own[at].name, 2, size // 2)):
                yield "group of another part", (*own[:at], part, *own[at + 1 :])
        if not own[at].whole:
            yield "group of another part", (*own[:at], Axis(own[at].name), *own[at + 1 :])
        for name in mesh.sizes:
            if name not in names:
                yield "group over another axis", (*own[:at], Axis(name), *own[at + 1 :])
    for name in mesh.sizes:
        if name not in names:
            yield "group too large", (*own, Axis(name))


def _other_dims(dims: Sequence[Sequence[Axis]], mesh: Mesh) -> Iterator[tuple[str, tuple[tuple[Axis, ...], ...]]]:
    own = tuple(map(tuple, dims))
    for dim, axes in enumerate(own):
        for kind, other in other_axes(axes, mesh):
            yield kind, (*own[:dim], other, *own[dim + 1 :])
        if dim and axes != own[dim - 1]:
            yield "axes of another dim", (*own[: dim - 1], axes, own[dim - 1], *own[dim + 1 :])


def partial_edits(op: Operation) -> Iterator[Edit]:
    """Partial sums that are taken for finished ones, and the other way round; in one type, or as far as it shows."""
    for at, value in enumerate(op.results):
        if not isinstance(value.type, TensorType) or not _inside_program(op):
            continue
        spec = layout_of(value)
        if spec is None:
            if is_float(element_of(value)) or is_integer(element_of(value)):
                for axis in _axes_around(op):
                    yield "summed once more", partial(_sum_again, at=at, axis=axis)
            continue
        if spec.partial:
            yield "finished for partial", partial(_retype, at=at, far=False)
            yield "finished for partial, all along", partial(_retype, at=at, far=True)
        for axis in _axes_around(op):
            if axis not in spec.axes() and not is_boolean(element_of(value)):
                yield "partial for finished", partial(_as_partial, at=at, axis=axis, finish=False)
                yield "partial for finished, summed", partial(_as_partial, at=at, axis=axis, finish=True)


def window_edits(op: Operation) -> Iterator[Edit]:
    """Windows that start elsewhere, step otherwise, or show something else where nothing is."""
    if isinstance(op, AxisIndexOp):
        yield "device's number forgotten", _first_device
    if not isinstance(op, WindowOp):
        return
    for name in ("starts", "strides", "dilations", "frames", "steps"):
        found = op.properties.get(name)
        if isinstance(found, DenseArrayBase):
            numbers = tuple(found.get_values())
            for at in range(len(numbers)):
                for change in (-1, 1):
                    other = (*numbers[:at], numbers[at] + change, *numbers[at + 1 :])
                    yield "window's offset", partial(_set, name=name, value=integers(other))
    if op.padding is not None:
        yield "padding not neutral", _other_padding


def _inside_program(op: Operation) -> bool:
    """Whether an op computes on whole tensors: not in a reducer or comparator."""
    parent = op.parent_op()
    while parent is not None and parent.name in ("stablehlo.while", "stablehlo.case", "stablehlo.if"):
        parent = parent.parent_op()
    return parent is not None and parent.name == "func.func"


def _axes_around(op: Operation) -> list[Axis]:
    top = op
    while (parent := top.parent_op()) is not None:
        top = parent
    return [Axis(name) for each in top.walk() if each.name == "dtensor.mesh" for name in each.mesh.sizes]  # pyright: ignore


def _mesh_name(op: Operation) -> str:
    top = op
    while (parent := top.parent_op()) is not None:
        top = parent
    return next(each.sym_name.data for each in top.walk() if each.name == "dtensor.mesh")  # pyright: ignore


def _set(op: Operation, name: str, value: Attribute) -> None:
    op.properties[name] = value


def _exchange_properties(op: Operation, first: str, second: str) -> None:
    op.properties[first], op.properties[second] = op.properties[second], op.properties[first]


def _other_way(op: Operation) -> None:
    """Source for target; without layouts on the values, whose types say so too, it is the inverse move."""
    _exchange_properties(op, "source", "target")


def _rotate_results(op: Operation) -> None:
    op.operands = [*op.operands[1:], op.operands[0]]


def before(op: Operation) -> Builder:
    """Puts new ops before an op."""
    block = op.parent_block()
    assert isinstance(block, Block)

    def insert(new: Operation) -> Operation:
        block.insert_op_before(new, op)
        return new

    return Builder(insert)


def _after(op: Operation, new: Operation) -> None:
    block = op.parent_block()
    assert isinstance(block, Block)
    block.insert_op_after(new, op)


def _drop(op: Operation) -> None:
    """The operand for the result: repeated, or the first part of it, where shapes differ."""
    assert isinstance(op, CollectiveOp)
    for operand, result in zip(op.inputs, op.outputs, strict=True):
        replace_with(result, operand if layout_of(operand) is not None else _fitting(before(op), operand, result))


def _fitting(build: Builder, value: SSAValue, like: SSAValue) -> SSAValue:
    for dim, extent in enumerate(shape_of(like)):
        shape = shape_of(value)
        if extent > shape[dim] > 0:
            times = math.ceil(extent / shape[dim])
            value = build.put(stablehlo.ConcatenateOp([value] * times, dim))
    limits = shape_of(like)
    return value if shape_of(value) == limits else build.slice(value, (0,) * len(limits), limits)


def _double(op: Operation) -> None:
    copy = op.clone()
    copy.operands = op.results
    _after(op, copy)
    for old, new in zip(op.results, copy.results, strict=True):
        replace_with(old, new, but=copy)


def _moves(op: CollectiveOp) -> Iterator[Edit]:
    result, operand = op.outputs[0], op.inputs[0]
    users = {use.operation for use in result.uses}
    if len(users) == 1 and isinstance(only := next(iter(users)), ElementwiseOp):
        same = all(value is result for value in only.operands) or shape_of(result) == shape_of(operand)
        if same and only.parent_block() is op.parent_block() and shape_of(only.results[0]) == shape_of(result):
            yield "collective moved down", _move_down
    maker = operand.owner
    if isinstance(maker, ElementwiseOp) and len(list(operand.uses)) == 1 and maker.operands[0].type == operand.type:
        yield "collective moved up", _move_up


def _move_down(op: Operation) -> None:
    """Finished after the next op, not before it."""
    user = next(iter(op.results[0].uses)).operation
    user.operands = [op.operands[0] if value is op.results[0] else value for value in user.operands]
    whole = user.results[0].type
    narrow, element = op.operands[0].type, element_of(user.results[0])
    assert isinstance(narrow, TensorType)
    user.results[0]._type = TensorType(element, narrow.shape, narrow.encoding)  # pyright: ignore
    op.detach()
    _after(user, op)
    replace_with(user.results[0], op.results[0])
    op.operands = [user.results[0]]
    op.results[0]._type = whole  # pyright: ignore


def _move_up(op: Operation) -> None:
    """Finished before the op that made it, on its first operand alone."""
    maker = op.operands[0].owner
    assert isinstance(maker, Operation)
    target = op.results[0].type
    replace_with(op.results[0], maker.results[0])
    op.detach()
    block = maker.parent_block()
    assert isinstance(block, Block)
    block.insert_op_before(op, maker)
    op.operands = [maker.operands[0]]
    maker.operands = [op.results[0], *maker.operands[1:]]
    maker.results[0]._type = target  # pyright: ignore


def _sum_again(op: Operation, at: int, axis: Axis) -> None:
    value = op.results[at]
    extra = AllReduceOp([value], [value.type], _mesh_name(op), (axis,), "sum")
    _after(op, extra)
    replace_with(value, extra.results[0], but=extra)


def _retype(op: Operation, at: int, far: bool) -> None:
    """Says of a partial value that it is finished; `far`: so is all made of it, and the collectives are left out."""
    pending = [op.results[at]]
    while pending:
        value = pending.pop()
        spec = layout_of(value)
        if spec is None or not spec.partial:
            continue
        value._type = with_layout(value.type, spec.with_partial((), ""))  # pyright: ignore
        for user in [use.operation for use in value.uses] if far else []:
            if isinstance(user, AllReduceOp):
                where = list(user.operands).index(value)
                replace_with(user.results[where], value)
                pending.append(value)
            elif not isinstance(user, CollectiveOp):
                pending += user.results


def _as_partial(op: Operation, at: int, axis: Axis, finish: bool) -> None:
    """Says of a finished value that it is a partial sum, which may be finished right after."""
    value = op.results[at]
    spec = layout_of(value)
    assert spec is not None
    whole = value.type
    value._type = with_layout(whole, spec.with_partial((axis,), "sum"))  # pyright: ignore
    if finish:
        extra = AllReduceOp([value], [whole], spec.mesh, (axis,), "sum")
        _after(op, extra)
        replace_with(value, extra.results[0], but=extra)


def _first_device(op: Operation) -> None:
    replace_with(op.results[0], before(op).literal(0, i32) if layout_of(op.results[0]) is None else op.results[0])


def _other_padding(op: Operation) -> None:
    assert isinstance(op, WindowOp)
    assert op.padding is not None
    element = element_of(op.inputs[0])
    value = stablehlo.constant_value(op.padding)
    other = ~value if is_boolean(element) else value.dtype.type(3)
    op.properties["padding"] = stablehlo.make_dense(other, element, value.shape)
