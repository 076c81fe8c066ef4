"""
Local hooks of ops that find elements by computed indices, where a dim is split of which they take or write a part.

Starts are clamped against the *global* dim first, in their own type, where they cannot wrap; then they become offsets
into the device's block, in an integer type that holds every position. What a device does not hold reads as a zero of
which the sum with any number is that number: -0.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerType, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.types import (
    bit_width,
    element_dtype,
    element_of,
    integers,
    is_boolean,
    is_complex,
    is_float,
    shape_of,
    tensor,
)
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.families.indexing import scatter_kind
from shardwright.rules.local.hooks import HOOKS, Local, become
from shardwright.rules.reductions import is_zero
from shardwright.rules.rule import Axes

Shape = tuple[int, ...]


@dataclass(frozen=True)
class _Code:
    """Puts ops in front of the hooked one."""

    local: Local

    def put(self, op: Operation) -> SSAValue:
        """The result of a new op."""
        return self.local.insert(op).results[0]

    def constant(self, value: Any, element: Attribute, shape: Shape = ()) -> SSAValue:
        """A constant whose elements all equal `value`, or a vector of values."""
        return self.put(stablehlo.make_constant(value, element, shape))

    def convert(self, value: SSAValue, element: Attribute) -> SSAValue:
        """A value in another element type."""
        return value if element_of(value) == element else self.put(stablehlo.ConvertOp(value, element))

    def index(self, axes: Axes, element: Attribute) -> SSAValue:
        """This device's place along some axes."""
        return self.convert(self.put(dtensor.AxisIndexOp(self.local.spec.mesh, axes)), element)

    def zero(self, element: Attribute, shape: Shape = ()) -> SSAValue:
        """Zeros that leave what is added to them as it is."""
        value = -0.0 if is_float(element) else complex(-0.0, -0.0) if is_complex(element) else 0
        return self.constant(bool(value) if is_boolean(element) else value, element, shape)

    def one(self, element: Attribute, shape: Shape) -> SSAValue:
        """Ones."""
        return self.constant(1, element, shape)

    def window(self, value: SSAValue, starts: Sequence[SSAValue], sizes: Sequence[int]) -> SSAValue:
        """A box of a value."""
        return self.put(stablehlo.DynamicSliceOp(value, starts, sizes))

    def pad(self, value: SSAValue, fill: SSAValue, edges: Sequence[int]) -> SSAValue:
        """A value with as much around each of its dims on either side."""
        return self.put(stablehlo.PadOp(value, fill, edges, edges))


def _global_shape(value: SSAValue, spec: LayoutSpec, local: Local) -> Shape:
    sizes = zip(shape_of(value), spec.dims, strict=True)
    return tuple(extent * local.mesh.group_size(axes) for extent, axes in sizes)


def _position_type(element: Attribute, shape: Shape) -> IntegerType:
    """The integers in which to count positions: those of 32 bits where they hold indices and dims."""
    return i64 if bit_width(element) > 32 or max(shape, default=0) >= 2**31 else i32


def _highest(element: Attribute) -> int:
    import ml_dtypes

    return int(ml_dtypes.iinfo(element_dtype(element)).max)


def _clamped(code: _Code, start: SSAValue, highest: int, target: Attribute) -> SSAValue:
    """A scalar start moved into 0 ... `highest`, in the type in which positions are counted."""
    element = element_of(start)
    low, high = (code.constant(bound, element) for bound in (0, min(highest, _highest(element))))
    return code.convert(code.put(stablehlo.ClampOp(low, start, high)), target)


class _Boxes:
    """
    Where a box of a dynamic slice lies in the device's block: a window of the block that holds what is both in it.

    `starts` are the window's, `sizes` its extents. Along a dim of `part`, the box starts `lead` elements after the
    window does, or before it where that is negative.
    """

    def __init__(
        self, code: _Code, operand: SSAValue, starts: Sequence[SSAValue], sizes: Sequence[int], part: set[int]
    ) -> None:
        local = code.local
        shape = shape_of(operand)
        whole = _global_shape(operand, local.operands[0], local)
        element = _position_type(element_of(starts[0]), whole)
        found = [
            _clamped(code, start, extent - size, element)
            for start, extent, size in zip(starts, whole, sizes, strict=True)
        ]
        self.element = element
        self.sizes = tuple(min(size, shape[dim]) if dim in part else size for dim, size in enumerate(sizes))
        self.starts = found
        self.lead: dict[int, SSAValue] = {}
        for dim in sorted(part):
            offset = code.put(
                stablehlo.MultiplyOp(
                    code.index(local.operands[0].dims[dim], element), code.constant(shape[dim], element)
                )
            )
            relative = code.put(stablehlo.SubtractOp(found[dim], offset))
            found[dim] = _clamped(code, relative, shape[dim] - self.sizes[dim], element)
            self.lead[dim] = code.put(stablehlo.SubtractOp(relative, found[dim]))

    def shifts(self, code: _Code, edges: Sequence[int], sign: int) -> list[SSAValue]:
        """Along each dim `edges` and `lead`, or `edges` less `lead`."""
        combine = stablehlo.AddOp if sign > 0 else stablehlo.SubtractOp
        return [
            code.put(combine(code.constant(edge, self.element), self.lead[dim]))
            if dim in self.lead
            else code.constant(0, self.element)
            for dim, edge in enumerate(edges)
        ]


def _dynamic_slice(op: Operation, local: Local) -> None:
    """
    A device gives the elements that it holds: of a window of its block, with zeros around, the box of the whole.

    Along dims that are taken whole, the box is as large as the block.
    """
    assert isinstance(op, stablehlo.DynamicSliceOp)
    spec, shape = local.operands[0], shape_of(op.operand)
    whole = _global_shape(op.operand, spec, local)
    part = {dim for dim, axes in enumerate(spec.dims) if axes and op.sizes[dim] != whole[dim]}
    sizes = tuple(
        extent if axes and dim not in part else size
        for dim, (extent, size, axes) in enumerate(zip(shape, op.sizes, spec.dims, strict=True))
    )
    if not part:
        op.properties["slice_sizes"] = integers(sizes)
        return
    become(op, _held(_Code(local), op.operand, op.start_indices, op.sizes, sizes, part), local)


def _held(
    code: _Code, operand: SSAValue, starts: Sequence[SSAValue], whole: Sequence[int], sizes: Shape, part: set[int]
) -> Operation:
    """What a device holds of a box of `whole` sizes, which has these `sizes` on the device, and zeros."""
    boxes = _Boxes(code, operand, starts, whole, part)
    window_sizes = tuple(boxes.sizes[dim] if dim in part else size for dim, size in enumerate(sizes))
    window = code.window(operand, boxes.starts, window_sizes)
    edges = [size if dim in part else 0 for dim, size in enumerate(sizes)]
    padded = code.pad(window, code.zero(element_of(operand)), edges)
    return stablehlo.DynamicSliceOp(padded, boxes.shifts(code, edges, 1), sizes)


def _slice(op: Operation, local: Local) -> None:
    """Dims that are split are taken whole, or block by block; of a stretch cut out of one a device gives its part."""
    assert isinstance(op, stablehlo.SliceOp)
    spec, shape = local.operands[0], shape_of(op.operand)
    starts, limits, strides = op.bounds
    part = {dim for dim, axes in enumerate(spec.dims) if axes and not local.spec.dims[dim]}
    ends = tuple(shape[dim] if axes else limits[dim] for dim, axes in enumerate(spec.dims))
    if not part:
        op.properties["limit_indices"] = integers(ends)
        return
    code = _Code(local)
    dims = range(len(shape))
    first = [(0 if dim in part else starts[dim], ends[dim], 1 if dim in part else strides[dim]) for dim in dims]
    operand = code.put(stablehlo.SliceOp(op.operand, *zip(*first, strict=True)))
    sizes = shape_of(op.result)
    whole = _global_shape(operand, spec, local)
    taken = [size if dim in part else whole[dim] for dim, size in enumerate(sizes)]
    element = _position_type(i32, whole)
    corner = [code.constant(starts[dim] if dim in part else 0, element) for dim in dims]
    become(op, _held(code, operand, corner, taken, sizes, part), local)


def _dynamic_update_slice(op: Operation, local: Local) -> None:
    """A device writes what falls into its own block: a window of the block, new where the update reaches."""
    assert isinstance(op, stablehlo.DynamicUpdateSliceOp)
    spec, update = local.operands[0], shape_of(op.update)
    new_dims = local.operands[1].dims
    whole = _global_shape(op.operand, spec, local)
    part = {dim for dim, axes in enumerate(spec.dims) if axes and not new_dims[dim] and update[dim] != whole[dim]}
    if not part:
        return
    code = _Code(local)
    total = tuple(whole[dim] if new_dims[dim] else size for dim, size in enumerate(update))
    boxes = _Boxes(code, op.operand, op.start_indices, total, part)
    sizes = tuple(boxes.sizes[dim] if dim in part else size for dim, size in enumerate(update))
    edges = [boxes.sizes[dim] if dim in part else 0 for dim in range(len(sizes))]
    shifts = boxes.shifts(code, edges, -1)
    moved = code.window(code.pad(op.update, code.zero(element_of(op.update)), edges), shifts, sizes)
    reach = code.pad(code.constant(True, i1, update), code.constant(False, i1), edges)
    mask = code.window(reach, shifts, sizes)
    old = code.window(op.operand, boxes.starts, sizes)
    new = code.put(stablehlo.SelectOp(mask, moved, old))
    become(op, stablehlo.DynamicUpdateSliceOp(op.operand, new, boxes.starts), local)


class _Indices:
    """The indices of a gather or scatter: vectors along `vector_dim` of one component for each dim of `index_map`."""

    def __init__(self, code: _Code, value: SSAValue, index_map: Sequence[int], vector_dim: int) -> None:
        self.code = code
        self.value = value
        self.index_map = index_map
        self.vector_dim = vector_dim

    @property
    def shape(self) -> Shape:
        """The shape of the indices."""
        return shape_of(self.value)

    def spread(self, numbers: Sequence[int], element: Attribute) -> SSAValue:
        """One number for each component, in the shape of the indices."""
        if len(set(numbers)) == 1:
            return self.code.constant(numbers[0], element, self.shape)
        vector = self.code.constant(numbers, element, (len(numbers),))
        return self._along(vector, element)

    def _along(self, vector: SSAValue, element: Attribute) -> SSAValue:
        dims = (self.vector_dim,) if self.vector_dim < len(self.shape) else ()
        if not dims:
            vector = self.code.put(stablehlo.ReshapeOp(vector, tensor((), element)))
        return self.code.put(stablehlo.BroadcastInDimOp(vector, dims, tensor(self.shape, element)))

    def clamp(self, bounds: Sequence[int]) -> None:
        """Moves each component into 0 ... its bound, in its own type."""
        element = element_of(self.value)
        highest = [min(bound, _highest(element)) for bound in bounds]
        low, high = self.spread([0] * len(bounds), element), self.spread(highest, element)
        self.value = self.code.put(stablehlo.ClampOp(low, self.value, high))

    def shift(self, axes: dict[int, Axes], sizes: dict[int, int], margins: dict[int, int], element: Attribute) -> None:
        """Counts the components of split dims from the block's start, less a margin; all in another type."""
        code = self.code
        self.value = code.convert(self.value, element)
        parts: list[SSAValue] = []
        for dim in self.index_map:
            offset = code.constant(0, element)
            if dim in axes:
                size, margin = (code.constant(number[dim], element) for number in (sizes, margins))
                offset = code.put(stablehlo.MultiplyOp(code.index(axes[dim], element), size))
                offset = code.put(stablehlo.SubtractOp(offset, margin))
            parts.append(code.put(stablehlo.ReshapeOp(offset, tensor((1,), element))))
        vector = code.put(stablehlo.ConcatenateOp(parts, 0)) if len(parts) > 1 else parts[0]
        self.value = code.put(stablehlo.SubtractOp(self.value, self._along(vector, element)))

    def inside(self, bounds: Sequence[tuple[int, int]]) -> SSAValue:
        """Which components lie between their bounds, both included."""
        code, element = self.code, element_of(self.value)
        low, high = (self.spread(side, element) for side in zip(*bounds, strict=True))
        above = code.put(stablehlo.CompareOp(self.value, low, "GE"))
        return code.put(stablehlo.AndOp(above, code.put(stablehlo.CompareOp(self.value, high, "LE"))))

    def all_components(self, mask: SSAValue) -> SSAValue:
        """Whether a mask of the components holds for all of each index."""
        if self.vector_dim == len(self.shape):
            return mask
        if self.shape[self.vector_dim] == 1:
            rest = self.shape[: self.vector_dim] + self.shape[self.vector_dim + 1 :]
            return self.code.put(stablehlo.ReshapeOp(mask, tensor(rest, i1)))
        true = self.code.constant(True, i1)
        return self.code.put(stablehlo.ReduceOp([mask], [true], [self.vector_dim], stablehlo.AndOp))


def _gather(op: Operation, local: Local) -> None:
    """
    A device gives the elements that it holds, and zeros: by a mask where slices have one element, else by padding.

    Along dims that are taken whole, slices are as large as the block.
    """
    assert isinstance(op, stablehlo.GatherOp)
    spec, shape, numbers = local.operands[0], shape_of(op.operand), op.numbers
    whole = _global_shape(op.operand, spec, local)
    split = {dim: axes for dim, axes in enumerate(spec.dims) if axes and dim not in numbers.operand_batching_dims}
    sizes = tuple(shape[dim] if dim in split and size == whole[dim] else size for dim, size in enumerate(op.sizes))
    part = {dim: axes for dim, axes in split.items() if op.sizes[dim] != whole[dim]}
    if not part:
        op.properties["slice_sizes"] = integers(sizes)
        return
    code = _Code(local)
    zero = code.zero(element_of(op.operand))
    indices = _Indices(code, op.start_indices, numbers.start_index_map, numbers.index_vector_dim)
    element = _position_type(element_of(op.start_indices), whole)
    indices.clamp([whole[dim] - op.sizes[dim] for dim in numbers.start_index_map])
    edges = {dim: op.sizes[dim] if op.sizes[dim] > 1 else 0 for dim in part}
    indices.shift(part, dict(enumerate(shape)), edges, element)
    padded = [edges.get(dim, 0) for dim in range(len(shape))]
    operand = code.pad(op.operand, zero, padded) if any(padded) else op.operand
    sorted_ = op.indices_are_sorted is not None and bool(op.indices_are_sorted.value.data)
    gathered = stablehlo.GatherOp(operand, indices.value, numbers, sizes, indices_are_sorted=sorted_)
    masked = {dim for dim in part if not edges[dim]}
    if not masked:
        become(op, gathered, local)
        return
    everything = -_highest(element), _highest(element)
    mask = indices.inside([(0, shape[dim] - 1) if dim in masked else everything for dim in numbers.start_index_map])
    found = code.put(gathered)
    target = shape_of(found)
    spread = stablehlo.BroadcastInDimOp(
        indices.all_components(mask), numbers.batch_dims(len(target)), tensor(target, i1)
    )
    zeros = code.zero(element_of(found), target)
    become(op, stablehlo.SelectOp(code.put(spread), found, zeros), local)


def _scatter(op: Operation, local: Local) -> None:
    """
    A device writes what falls into its own block, and one of those that share the updates counts the operand.

    Windows that reach over the block's edges are written into a block with margins, which are cut off.
    """
    assert isinstance(op, stablehlo.ScatterOp)
    count = len(op.inputs)
    code = _Code(local)
    inputs = _counted_once(op, code)
    for place, value in enumerate(inputs):
        op.operands[place] = value
    numbers, spec = op.numbers, local.operands[0]
    shape, updates = shape_of(inputs[0]), shape_of(op.updates[0])
    whole = _global_shape(inputs[0], spec, local)
    places = dict(zip(numbers.window_dims(len(shape)), numbers.update_window_dims, strict=True))
    sizes = tuple(updates[places[dim]] if dim in places else 1 for dim in range(len(shape)))
    shared = {dim for dim, place in places.items() if local.operands[count + 1].dims[place]}
    apart = {*numbers.input_batching_dims, *shared}
    part = {dim: axes for dim, axes in enumerate(spec.dims) if axes and dim not in apart}
    if not part:
        return
    margins = {dim: sizes[dim] - 1 for dim in part}
    indices = _Indices(code, op.scatter_indices, numbers.scatter_dims_to_operand_dims, numbers.index_vector_dim)
    element = _position_type(element_of(op.scatter_indices), whole)
    inside = None
    if any(margins.values()):
        indices.value = code.convert(indices.value, element)
        bounds = [whole[dim] - sizes[dim] if dim in part else _highest(element) for dim in indices.index_map]
        lows = [0 if dim in part else -_highest(element) for dim in indices.index_map]
        inside = indices.inside(list(zip(lows, bounds, strict=True)))
    indices.shift(part, dict(enumerate(shape)), margins, element)
    if inside is None:
        op.operands[count] = indices.value
        return
    nowhere = code.constant(-1, element, indices.shape)
    op.operands[count] = code.put(stablehlo.SelectOp(inside, indices.value, nowhere))
    _with_margins(op, [margins.get(dim, 0) for dim in range(len(shape))], code)


def _counted_once(op: stablehlo.ScatterOp, code: _Code) -> list[SSAValue]:
    """The operands, neutral on all but the first of the devices whose partial results are summed or multiplied."""
    inputs = list(op.inputs)
    kind = scatter_kind(op)
    numbers, updates = op.numbers, code.local.operands[len(inputs) + 1]
    dims = [dim for dim in range(len(shape_of(op.scatter_indices))) if dim != numbers.index_vector_dim]
    places = zip(dims, numbers.batch_dims(len(updates.dims)), strict=True)
    apart = numbers.scatter_indices_batching_dims
    axes = tuple(axis for dim, place in places if dim not in apart for axis in updates.dims[place])
    if not axes or kind not in ("sum", "prod") or (kind == "sum" and is_zero(inputs[0])):
        return inputs
    element = element_of(inputs[0])
    neutral = code.zero(element, shape_of(inputs[0])) if kind == "sum" else code.one(element, shape_of(inputs[0]))
    first = code.put(stablehlo.CompareOp(code.index(axes, i32), code.constant(0, i32), "EQ"))
    return [code.put(stablehlo.SelectOp(first, inputs[0], neutral))]


def _with_margins(op: stablehlo.ScatterOp, margins: Sequence[int], code: _Code) -> None:
    """The scatter on operands with margins, which are cut off its results."""
    inputs = [code.pad(value, code.zero(element_of(value)), margins) for value in op.inputs]
    indices, updates, numbers = op.scatter_indices, list(op.updates), op.numbers
    body = op.update_computation
    op.detach_region(body)
    padded = stablehlo.ScatterOp(inputs, indices, updates, numbers, body)
    code.put(padded)
    for old, new in zip(op.results, padded.results, strict=True):
        limits = [margin + extent for margin, extent in zip(margins, shape_of(old), strict=True)]
        cut = code.put(stablehlo.SliceOp(new, margins, limits))
        cut.name_hint = old.name_hint
        old.replace_all_uses_with(cut)
    assert op.parent is not None
    op.parent.erase_op(op)


HOOKS.update(
    {
        "stablehlo.dynamic_slice": _dynamic_slice,
        "stablehlo.dynamic_update_slice": _dynamic_update_slice,
        "stablehlo.gather": _gather,
        "stablehlo.scatter": _scatter,
        "stablehlo.slice": _slice,
    }
)
