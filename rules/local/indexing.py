"""
Local hooks of ops that find elements by computed indices, where a dim is split of which they take or write a part.

Starts are clamped against the *global* dim first, in their own type, where they cannot wrap; then they become offsets
into the device's block, in an integer type that holds every position. What a device does not hold reads as a zero of
which the sum with any number is that number: -0.0.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.kinds import adds_nothing
from shardwright.dialects.types import (
    bit_width,
    element_dtype,
    element_of,
    integers,
    shape_of,
)
from shardwright.rules.families.indexing import scatter_kind
from shardwright.rules.local.hooks import HOOKS, Local
from shardwright.rules.reductions import is_zero
from shardwright.rules.rule import Axes

Shape = tuple[int, ...]


def _nothing(build: Local, element: Attribute, shape: Shape = ()) -> SSAValue:
    """Zeros that leave what is added to them as it is."""
    return build.literal(adds_nothing("sum", element), element, shape)


def _global_shape(value: SSAValue, local: Local) -> Shape:
    """The shape of the first operand, or of what is in its layout, on all devices."""
    sizes = zip(shape_of(value), local.operands[0].dims, strict=True)
    return tuple(extent * local.mesh.group_size(axes) for extent, axes in sizes)


def _position_type(element: Attribute, shape: Shape) -> IntegerType:
    """The integers in which to count positions: those of 32 bits where they hold indices and dims."""
    return i64 if bit_width(element) > 32 or max(shape, default=0) >= 2**31 else i32


def _highest(element: Attribute) -> int:
    import ml_dtypes

    return int(ml_dtypes.iinfo(element_dtype(element)).max)


def _clamped(local: Local, start: SSAValue, highest: int, target: Attribute) -> SSAValue:
    """A scalar start moved into 0 ... `highest`, in the type in which positions are counted."""
    low, high = (local.scalar(bound, start) for bound in (0, min(highest, _highest(element_of(start)))))
    return local.cast(local.clamp(low, start, high), target)


class _Boxes:
    """
    Where a box of a dynamic slice lies in the device's block: a window of the block that holds what is both in it.

    `starts` are the window's, `sizes` its extents. Along a dim of `part`, the box starts `lead` elements after the
    window does, or before it where that is negative.
    """

    def __init__(
        self, local: Local, operand: SSAValue, starts: Sequence[SSAValue], sizes: Sequence[int], part: set[int]
    ) -> None:
        shape, whole = shape_of(operand), _global_shape(operand, local)
        element = _position_type(element_of(starts[0]), whole)
        found = [
            _clamped(local, start, extent - size, element)
            for start, extent, size in zip(starts, whole, sizes, strict=True)
        ]
        self.element = element
        self.sizes = tuple(min(size, shape[dim]) if dim in part else size for dim, size in enumerate(sizes))
        self.starts = found
        self.lead: dict[int, SSAValue] = {}
        for dim in sorted(part):
            index = local.index(local.operands[0].dims[dim], element)
            relative = local.subtract(found[dim], local.multiply(index, local.literal(shape[dim], element)))
            found[dim] = _clamped(local, relative, shape[dim] - self.sizes[dim], element)
            self.lead[dim] = local.subtract(relative, found[dim])

    def shifts(self, local: Local, edges: Sequence[int], *, back: bool = False) -> list[SSAValue]:
        """Along each dim `edges` and `lead`, or `edges` less `lead`."""
        combine = local.subtract if back else local.add
        return [
            combine(local.literal(edge, self.element), self.lead[dim])
            if dim in self.lead
            else local.literal(0, self.element)
            for dim, edge in enumerate(edges)
        ]


def _dynamic_slice(op: stablehlo.DynamicSliceOp, local: Local) -> Sequence[SSAValue] | None:
    """
    A device gives the elements that it holds: of a window of its block, with zeros around, the box of the whole.

    Along dims that are taken whole, the box is as large as the block.
    """
    spec, shape = local.operands[0], shape_of(op.operand)
    whole = _global_shape(op.operand, local)
    part = {dim for dim, axes in enumerate(spec.dims) if axes and op.sizes[dim] != whole[dim]}
    sizes = tuple(
        extent if axes and dim not in part else size
        for dim, (extent, size, axes) in enumerate(zip(shape, op.sizes, spec.dims, strict=True))
    )
    if not part:
        op.properties["slice_sizes"] = integers(sizes)
        return None
    return [_held(local, op.operand, op.start_indices, op.sizes, sizes, part)]


def _held(
    local: Local, operand: SSAValue, starts: Sequence[SSAValue], whole: Sequence[int], sizes: Shape, part: set[int]
) -> SSAValue:
    """What a device holds of a box of `whole` sizes, which has these `sizes` on the device, and zeros."""
    boxes = _Boxes(local, operand, starts, whole, part)
    window_sizes = tuple(boxes.sizes[dim] if dim in part else size for dim, size in enumerate(sizes))
    window = local.window(operand, boxes.starts, window_sizes)
    edges = [size if dim in part else 0 for dim, size in enumerate(sizes)]
    padded = local.pad(window, _nothing(local, element_of(operand)), edges, edges)
    return local.window(padded, boxes.shifts(local, edges), sizes)


def _slice(op: stablehlo.SliceOp, local: Local) -> Sequence[SSAValue] | None:
    """Dims that are split are taken whole, or block by block; of a stretch cut out of one a device gives its part."""
    spec, shape = local.operands[0], shape_of(op.operand)
    starts, limits, strides = op.bounds
    part = {dim for dim, axes in enumerate(spec.dims) if axes and not local.spec.dims[dim]}
    ends = tuple(shape[dim] if axes else limits[dim] for dim, axes in enumerate(spec.dims))
    if not part:
        op.properties["limit_indices"] = integers(ends)
        return None
    dims = range(len(shape))
    first = [(0 if dim in part else starts[dim], ends[dim], 1 if dim in part else strides[dim]) for dim in dims]
    operand = local.slice(op.operand, *zip(*first, strict=True))
    stretch = [(size - 1) * strides[dim] + 1 if dim in part else size for dim, size in enumerate(shape_of(op.result))]
    whole = _global_shape(operand, local)
    taken = [size if dim in part else whole[dim] for dim, size in enumerate(stretch)]
    element = _position_type(i32, whole)
    corner = [local.literal(starts[dim] if dim in part else 0, element) for dim in dims]
    held = _held(local, operand, corner, taken, tuple(stretch), part)
    steps = [strides[dim] if dim in part else 1 for dim in dims]
    return [held if max(steps, default=1) == 1 else local.slice(held, [0] * len(steps), stretch, steps)]


def _dynamic_update_slice(op: stablehlo.DynamicUpdateSliceOp, local: Local) -> Sequence[SSAValue] | None:
    """A device writes what falls into its own block: a window of the block, new where the update reaches."""
    spec, update = local.operands[0], shape_of(op.update)
    new_dims = local.operands[1].dims
    whole = _global_shape(op.operand, local)
    part = {dim for dim, axes in enumerate(spec.dims) if axes and not new_dims[dim] and update[dim] != whole[dim]}
    if not part:
        return None
    total = tuple(whole[dim] if new_dims[dim] else size for dim, size in enumerate(update))
    boxes = _Boxes(local, op.operand, op.start_indices, total, part)
    sizes = tuple(boxes.sizes[dim] if dim in part else size for dim, size in enumerate(update))
    edges = [boxes.sizes[dim] if dim in part else 0 for dim in range(len(sizes))]
    shifts = boxes.shifts(local, edges, back=True)
    moved = local.window(local.pad(op.update, _nothing(local, element_of(op.update)), edges, edges), shifts, sizes)
    reach = local.pad(local.literal(True, i1, update), local.literal(False, i1), edges, edges)
    mask = local.window(reach, shifts, sizes)
    new = local.select(mask, moved, local.window(op.operand, boxes.starts, sizes))
    return [local.update(op.operand, new, boxes.starts)]


class _Indices:
    """The indices of a gather or scatter: vectors along `vector_dim` of one component for each dim of `index_map`."""

    def __init__(self, local: Local, value: SSAValue, index_map: Sequence[int], vector_dim: int) -> None:
        self.local = local
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
            return self.local.literal(numbers[0], element, self.shape)
        return self._along(self.local.literal(numbers, element, (len(numbers),)))

    def _along(self, vector: SSAValue) -> SSAValue:
        if self.vector_dim < len(self.shape):
            return self.local.broadcast(vector, self.shape, (self.vector_dim,))
        return self.local.broadcast(self.local.reshape(vector, ()), self.shape, ())

    def clamp(self, bounds: Sequence[int]) -> None:
        """Moves each component into 0 ... its bound, in its own type."""
        element = element_of(self.value)
        highest = [min(bound, _highest(element)) for bound in bounds]
        low, high = self.spread([0] * len(bounds), element), self.spread(highest, element)
        self.value = self.local.clamp(low, self.value, high)

    def shift(self, axes: dict[int, Axes], sizes: Shape, margins: dict[int, int], element: Attribute) -> None:
        """Counts the components of split dims from the block's start, less a margin; all in another type."""
        local = self.local
        self.value = local.cast(self.value, element)
        parts: list[SSAValue] = []
        for dim in self.index_map:
            offset = local.literal(0, element)
            if dim in axes:
                size, margin = local.literal(sizes[dim], element), local.literal(margins[dim], element)
                offset = local.subtract(local.multiply(local.index(axes[dim], element), size), margin)
            parts.append(local.reshape(offset, (1,)))
        vector = local.put(stablehlo.ConcatenateOp(parts, 0)) if len(parts) > 1 else parts[0]
        self.value = local.subtract(self.value, self._along(vector))

    def inside(self, bounds: Sequence[tuple[int, int]]) -> SSAValue:
        """Which components lie between their bounds, both included."""
        local, element = self.local, element_of(self.value)
        low, high = (self.spread(side, element) for side in zip(*bounds, strict=True))
        return local.both(local.compare(self.value, "GE", low), local.compare(self.value, "LE", high))

    def all_components(self, mask: SSAValue) -> SSAValue:
        """Whether a mask of the components holds for all of each index."""
        if self.vector_dim == len(self.shape):
            return mask
        if self.shape[self.vector_dim] == 1:
            return self.local.reshape(mask, self.shape[: self.vector_dim] + self.shape[self.vector_dim + 1 :])
        return self.local.every(mask, [self.vector_dim])


def _gather(op: stablehlo.GatherOp, local: Local) -> Sequence[SSAValue] | None:
    """
    A device gives the elements that it holds, and zeros: by a mask where slices have one element, else by padding.

    Along dims that are taken whole, slices are as large as the block.
    """
    spec, shape, numbers = local.operands[0], shape_of(op.operand), op.numbers
    whole = _global_shape(op.operand, local)
    split = {dim: axes for dim, axes in enumerate(spec.dims) if axes and dim not in numbers.operand_batching_dims}
    sizes = tuple(shape[dim] if dim in split and size == whole[dim] else size for dim, size in enumerate(op.sizes))
    part = {dim: axes for dim, axes in split.items() if op.sizes[dim] != whole[dim]}
    if not part:
        op.properties["slice_sizes"] = integers(sizes)
        return None
    zero = _nothing(local, element_of(op.operand))
    indices = _Indices(local, op.start_indices, numbers.start_index_map, numbers.index_vector_dim)
    element = _position_type(element_of(op.start_indices), whole)
    indices.clamp([whole[dim] - op.sizes[dim] for dim in numbers.start_index_map])
    edges = {dim: op.sizes[dim] if op.sizes[dim] > 1 else 0 for dim in part}
    indices.shift(part, shape, edges, element)
    padded = _per_dim(edges, shape)
    operand = local.pad(op.operand, zero, padded, padded) if any(padded) else op.operand
    sorted_ = op.indices_are_sorted is not None and bool(op.indices_are_sorted.value.data)
    gathered = stablehlo.GatherOp(operand, indices.value, numbers, sizes, indices_are_sorted=sorted_)
    return [_masked(gathered, indices, edges, shape, element, local)]


def _masked(
    gathered: stablehlo.GatherOp,
    indices: _Indices,
    edges: dict[int, int],
    shape: Shape,
    element: IntegerType,
    local: Local,
) -> SSAValue:
    """Puts a gather, with zeros where its indices lie outside of the block in a dim without an edge of padding."""
    masked = {dim for dim, edge in edges.items() if not edge}
    if not masked:
        return local.put(gathered)
    everything = -_highest(element), _highest(element)
    mask = indices.inside([(0, shape[dim] - 1) if dim in masked else everything for dim in indices.index_map])
    found = local.put(gathered)
    target = shape_of(found)
    held, zeros = indices.all_components(mask), _nothing(local, element_of(found), target)
    return local.select(local.broadcast(held, target, gathered.numbers.batch_dims(len(target))), found, zeros)


def _per_dim(numbers: dict[int, int], shape: Shape) -> list[int]:
    """The number of each dim, 0 where none is given."""
    return [numbers.get(dim, 0) for dim in range(len(shape))]


def _scatter(op: stablehlo.ScatterOp, local: Local) -> Sequence[SSAValue] | None:
    """
    A device writes what falls into its own block, and one of those that share the updates counts the operand.

    Windows that reach over the block's edges are written into a block with margins, which are cut off.
    """
    count = len(op.inputs)
    inputs = _counted_once(op, local)
    for place, value in enumerate(inputs):
        op.operands[place] = value
    numbers, spec = op.numbers, local.operands[0]
    shape, updates = shape_of(inputs[0]), shape_of(op.updates[0])
    whole = _global_shape(inputs[0], local)
    places = dict(zip(numbers.window_dims(len(shape)), numbers.update_window_dims, strict=True))
    sizes = tuple(updates[places[dim]] if dim in places else 1 for dim in range(len(shape)))
    shared = {dim for dim, place in places.items() if local.operands[count + 1].dims[place]}
    apart = {*numbers.input_batching_dims, *shared}
    part = {dim: axes for dim, axes in enumerate(spec.dims) if axes and dim not in apart}
    if not part:
        return None
    margins = {dim: sizes[dim] - 1 for dim in part}
    indices = _Indices(local, op.scatter_indices, numbers.scatter_dims_to_operand_dims, numbers.index_vector_dim)
    element = _position_type(element_of(op.scatter_indices), whole)
    inside = None
    if any(margins.values()):
        indices.value = local.cast(indices.value, element)
        everything = -_highest(element), _highest(element)
        inside = indices.inside(
            [(0, whole[dim] - sizes[dim]) if dim in part else everything for dim in indices.index_map]
        )
    indices.shift(part, shape, margins, element)
    if inside is None:
        op.operands[count] = indices.value
        return None
    nowhere = local.literal(-1, element, indices.shape)
    op.operands[count] = local.select(inside, indices.value, nowhere)
    return _with_margins(op, _per_dim(margins, shape), local)


def _counted_once(op: stablehlo.ScatterOp, local: Local) -> list[SSAValue]:
    """The operands, neutral on all but the first of the devices whose partial results are summed or multiplied."""
    inputs = list(op.inputs)
    kind = scatter_kind(op)
    numbers, updates = op.numbers, local.operands[len(inputs) + 1]
    dims = [dim for dim in range(len(shape_of(op.scatter_indices))) if dim != numbers.index_vector_dim]
    places = zip(dims, numbers.batch_dims(len(updates.dims)), strict=True)
    apart = numbers.scatter_indices_batching_dims
    axes = tuple(axis for dim, place in places if dim not in apart for axis in updates.dims[place])
    if not axes or kind not in ("sum", "prod") or (kind == "sum" and is_zero(inputs[0])):
        return inputs
    (value,) = inputs
    neutral = _nothing(local, element_of(value), shape_of(value)) if kind == "sum" else local.constant(1, value)
    first = local.compare(local.index(axes, i32), "EQ", local.literal(0, i32))
    return [local.select(first, value, neutral)]


def _with_margins(op: stablehlo.ScatterOp, margins: Sequence[int], local: Local) -> Sequence[SSAValue]:
    """The scatter on operands with margins, which are cut off its results."""
    inputs = [local.pad(value, _nothing(local, element_of(value)), margins, margins) for value in op.inputs]
    indices, updates, numbers = op.scatter_indices, list(op.updates), op.numbers
    body = op.update_computation
    op.detach_region(body)
    padded = local.insert(stablehlo.ScatterOp(inputs, indices, updates, numbers, body)).results
    limits = [margin + extent for margin, extent in zip(margins, shape_of(op.results[0]), strict=True)]
    return [local.slice(value, margins, limits) for value in padded]


HOOKS.update(
    {
        "stablehlo.dynamic_slice": _dynamic_slice,
        "stablehlo.dynamic_update_slice": _dynamic_update_slice,
        "stablehlo.gather": _gather,
        "stablehlo.scatter": _scatter,
        "stablehlo.slice": _slice,
    }
)
