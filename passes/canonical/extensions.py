"""
Canonical forms of what is computed on all but a few elements of a dim, and then put among the others.

`x.at[1:-1].set(x[:-2] + x[2:])` and `concatenate(x[:1], f(y[:-1], x[2::2]))` compute on dims of odd sizes, which split
into nothing. The same is computed on whole dims, shifted instead of cut, and chosen by position: a shift of a split dim
exchanges what changes hands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import Builder, only_op, returned
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.passes.canonical.constants import is_bare, resplat, splat_bytes, splat_value
from shardwright.passes.rewriter import Rule, insert_before
from shardwright.passes.stages import stage_of
from shardwright.rules.reductions import MONOIDS

MOST_OPS = 24
"""So many ops are computed on whole dims, not more."""

Shape = tuple[int, ...]

_USERS = (
    *stablehlo.ELEMENTWISE_OPS,
    stablehlo.ConcatenateOp,
    stablehlo.PadOp,
    stablehlo.DynamicUpdateSliceOp,
    stablehlo.ScatterOp,
)
"""What may use a value on its way: ops that are extended themselves."""


def _evenness(size: int) -> int:
    """The largest power of two that divides a size."""
    return size & -size


def _is_odd_cut(part: Shape, whole: Shape) -> bool:
    """Whether a part lacks a few elements of some dim, and splits less evenly than the whole."""
    return any(
        _evenness(size) < _evenness(total) and total - size <= max(2, total // 4) and 2 * size > total
        for size, total in zip(part, whole, strict=True)
        if size
    )


MOST_DEAD = 4
"""So many ops, one after the other, may have lost what used them without being erased yet."""


def _users(op: Operation, deep: int = MOST_DEAD) -> list[Operation]:
    """What uses the results of an op, without ops whose own results nothing uses."""
    found = [use.operation for result in op.results for use in result.uses]
    return [user for user in found if not deep or not user.results or _users(user, deep - 1)]


@dataclass
class _Extension:
    """A part of a tensor, computed by element-wise ops on cut tensors, as a tensor of the whole shape."""

    anchor: Operation
    whole: Shape
    part: Shape
    offsets: Shape
    made: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def reaches(self, root: SSAValue) -> bool:
        """Whether all that makes `root` can be extended, and may be elsewhere, too."""
        tree: list[Operation] = []
        waiting = [root]
        while waiting:
            value = waiting.pop()
            owner = value.owner
            if shape_of(value) == () or self._is_leaf(value):
                continue
            if not (isinstance(owner, stablehlo.ELEMENTWISE_OPS) or self._is_along(owner)):
                return False
            if shape_of(value) != self.part:
                return False
            if not is_bare(value):
                return False
            assert isinstance(owner, Operation)
            if owner not in tree:
                tree.append(owner)
                waiting += owner.operands
            if len(tree) > MOST_OPS:
                return False
        users = [user for op in tree for user in _users(op)]
        return bool(tree) and all(isinstance(user, _USERS) or self._is_end(user) for user in users)

    def _is_along(self, owner: Any) -> bool:
        """Whether an op shifts what is computed along other dims than those that the part has fewer elements of."""
        if not isinstance(owner, stablehlo.PadOp) or shape_of(owner.operand) != self.part:
            return False
        moved = [dim for amounts in owner.amounts for dim, amount in enumerate(amounts) if amount]
        even = all(self.part[dim] == self.whole[dim] for dim in moved)
        return even and isinstance(owner.operand.owner, stablehlo.ELEMENTWISE_OPS)

    def _is_end(self, user: Operation) -> bool:
        """Whether an op cuts something out of a value only to put it among others, as the first row before the rows."""
        return isinstance(user, stablehlo.SliceOp) and all(other is self.anchor for other in _users(user))

    def _is_leaf(self, value: SSAValue) -> bool:
        owner = value.owner
        if splat_bytes(value) is not None:
            return True
        if isinstance(owner, stablehlo.BroadcastInDimOp):
            return shape_of(owner.operand) == ()
        if isinstance(owner, stablehlo.IotaOp):
            return not self.offsets[owner.dim]
        if isinstance(owner, stablehlo.PadOp):
            return is_bare(value) and not any(owner.amounts[2]) and not self._is_along(owner)
        return isinstance(owner, stablehlo.SliceOp) and is_bare(value)

    def extended(self, value: SSAValue) -> SSAValue:
        """The value on the whole shape; outside the part it is anything."""
        if shape_of(value) == ():
            return value
        if value not in self.made:
            self.made[value] = self._leaf(value) if self._is_leaf(value) else self._computed(value)
        return self.made[value]

    def _computed(self, value: SSAValue) -> SSAValue:
        owner = value.owner
        assert isinstance(owner, Operation)
        return self._build.put(_resized(owner, [self.extended(operand) for operand in owner.operands], self.whole))

    def _leaf(self, value: SSAValue) -> SSAValue:
        owner, type_ = value.owner, tensor(self.whole, element_of(value))
        data = splat_bytes(value)
        if data is not None:
            return self._build.put(resplat(data, type_))
        if isinstance(owner, stablehlo.BroadcastInDimOp):
            return self._build.broadcast(owner.operand, self.whole, ())
        if isinstance(owner, stablehlo.IotaOp):
            return self._build.iota(owner.dim, self.whole, type_.element_type)
        if isinstance(owner, stablehlo.PadOp):
            low = [edge + offset for edge, offset in zip(owner.amounts[0], self.offsets, strict=True)]
            return self._padded(owner.operand, low, owner.padding_value)
        assert isinstance(owner, stablehlo.SliceOp)
        return self._shifted(owner)

    def _shifted(self, cut: stablehlo.SliceOp) -> SSAValue:
        """What the slice reads, in its place in the whole: a slice by its steps of everything, then a shift."""
        source = shape_of(cut.operand)
        starts, _, strides = cut.bounds
        steps = [
            size // total if extent == 1 and size % total == 0 else stride
            for size, total, extent, stride in zip(source, self.whole, self.part, strides, strict=True)
        ]
        places = [start - step * offset for start, step, offset in zip(starts, steps, self.offsets, strict=True)]
        phases = [min(place % step, size) for place, step, size in zip(places, steps, source, strict=True)]
        value = cut.operand
        if any(step != 1 for step in steps):
            value = self._build.slice(value, phases, source, steps)
        return self._padded(value, [-(place // step) for place, step in zip(places, steps, strict=True)])

    def _padded(self, value: SSAValue, low: Sequence[int], padding: SSAValue | None = None) -> SSAValue:
        """The value moved by `low` in the whole, with this padding or any around it."""
        high = [total - size - edge for total, size, edge in zip(self.whole, shape_of(value), low, strict=True)]
        if not any(low) and not any(high):
            return value
        return self._build.pad(value, self._build.scalar(0, value) if padding is None else padding, low, high)

    def alone(self, value: SSAValue, main: _Extension) -> SSAValue:
        """A small part in its place in the whole; what is cut out of the many elements is cut out of all of these."""
        owner = value.owner
        if isinstance(owner, stablehlo.SliceOp) and owner.operand in main.made and set(owner.bounds[2]) == {1}:
            starts = zip(self.offsets, main.offsets, owner.bounds[0], strict=True)
            return self._padded(main.made[owner.operand], [at - offset - start for at, offset, start in starts])
        if isinstance(owner, stablehlo.SliceOp) and self._is_leaf(value):
            return self._shifted(owner)
        return self._padded(value, self.offsets)

    def chosen(self, inside: SSAValue, outside: SSAValue) -> Operation:
        """One value where the part is, another around it."""
        return stablehlo.SelectOp(reduce(self._build.both, list(self._masks())), inside, outside)

    def _masks(self) -> Iterator[SSAValue]:
        build = self._build
        for dim, (total, size, offset) in enumerate(zip(self.whole, self.part, self.offsets, strict=True)):
            for border, direction in ((offset, "GE"), (offset + size, "LT")):
                if 0 < border < total:
                    place, limit = build.iota(dim, self.whole), build.literal(border, i32, self.whole)
                    yield build.compare(place, direction, limit)

    @property
    def _build(self) -> Builder:
        return Builder(partial(insert_before, self.anchor))


def _may_extend(op: Operation, extension: _Extension) -> bool:
    """Whether it helps to compute a part on whole dims: they split better, and the user fixed no layout."""
    module = op.get_toplevel_object()
    local = isinstance(module, ModuleOp) and stage_of(module) == "local"
    free = is_bare(op.results[0])
    return free and not local and _is_odd_cut(extension.part, extension.whole)


def extended_join(op: stablehlo.ConcatenateOp) -> Operation | None:
    """A concatenation of few elements and many that are computed from cut tensors."""
    whole = shape_of(op.results[0])
    sizes = [shape_of(value)[op.dim] for value in op.operands]
    main = max(range(len(sizes)), key=sizes.__getitem__)
    parts = [
        _Extension(op, whole, shape_of(value), _offsets(whole, op.dim, sum(sizes[:place])))
        for place, value in enumerate(op.operands)
    ]
    if len(parts) not in (2, 3) or not _may_extend(op, parts[main]):
        return None
    if not parts[main].reaches(op.operands[main]):
        return None
    result = parts[main].extended(op.operands[main])
    *others, last = [place for place in range(len(parts)) if place != main]
    for place in others:
        chosen = parts[place].chosen(parts[place].alone(op.operands[place], parts[main]), result)
        result = insert_before(op, chosen).results[0]
    return parts[last].chosen(parts[last].alone(op.operands[last], parts[main]), result)


def _offsets(whole: Shape, dim: int, offset: int) -> Shape:
    return tuple(offset if at == dim else 0 for at in range(len(whole)))


def extended_pad(op: stablehlo.PadOp) -> Operation | None:
    """
    A pad of what is computed from cut tensors: padding around it where it is computed, then padding between elements.

    With one element between, `low = [2]` is one more element in front of the computed ones, and `low = [0]`.
    """
    low, high, interior = op.amounts
    data, steps = splat_bytes(op.padding_value), [gap + 1 for gap in interior]
    rest = [edge % step for edge, step in zip(low, steps, strict=True)]
    sizes = [-(-(n - r) // step) for n, r, step in zip(shape_of(op.results[0]), rest, steps, strict=True)]
    offsets = tuple(edge // step for edge, step in zip(low, steps, strict=True))
    extension = _Extension(op, tuple(sizes), shape_of(op.operand), offsets)
    if data is None or min((0, *low, *high)) < 0 or not _may_extend(op, extension) or not extension.reaches(op.operand):
        return None
    around = insert_before(op, resplat(data, tensor(extension.whole, element_of(op.results[0])))).results[0]
    chosen = extension.chosen(extension.extended(op.operand), around)
    if not any(interior):
        return chosen
    spread = [(size - 1) * step + 1 + r for size, step, r in zip(sizes, steps, rest, strict=True)]
    ends = [n - size for n, size in zip(shape_of(op.results[0]), spread, strict=True)]
    return stablehlo.PadOp(insert_before(op, chosen), op.padding_value, rest, ends, interior)


def cut_only(op: stablehlo.PadOp) -> Operation | None:
    """A pad that only cuts is a slice."""
    low, high, interior = op.amounts
    if any(interior) or max((0, *low, *high)) > 0:
        return None
    starts = tuple(-edge for edge in low)
    ends = tuple(size + edge for size, edge in zip(shape_of(op.operand), high, strict=True))
    fits = all(start <= end for start, end in zip(starts, ends, strict=True))
    return stablehlo.SliceOp(op.operand, starts, ends) if fits else None


def cut_computation(op: stablehlo.SliceOp) -> Operation | None:
    """A slice of what is computed on dims of odd sizes cuts what it is computed from."""
    whole, part = shape_of(op.operand), shape_of(op.results[0])
    if not is_bare(op.results[0]) or not _is_odd_border(whole, part):
        return None
    tree = _computed(op.operand, whole)
    if not 0 < len(tree) <= MOST_OPS or any(len(list(value.uses)) > 1 for value in tree):
        return None
    made: dict[SSAValue, SSAValue] = {}

    def cut(value: SSAValue) -> SSAValue:
        if value not in made:
            owner = value.owner
            if shape_of(value) == ():
                made[value] = value
            elif value not in tree:
                made[value] = insert_before(op, stablehlo.SliceOp(value, *op.bounds)).results[0]
            else:
                assert isinstance(owner, Operation)
                smaller = _resized(owner, [cut(each) for each in owner.operands], part)
                made[value] = insert_before(op, smaller).results[0]
        return made[value]

    owner = op.operand.owner
    assert isinstance(owner, Operation)
    return _resized(owner, [cut(each) for each in owner.operands], part)


def _is_odd_border(whole: Shape, part: Shape) -> bool:
    """Whether a few elements more than a part make some dim split less evenly."""
    return any(
        _evenness(total) < _evenness(size) and total - size <= max(2, size // 4)
        for size, total in zip(part, whole, strict=True)
        if size
    )


def _computed(root: SSAValue, shape: Shape) -> list[SSAValue]:
    """The values that are computed element by element on the way to `root`, itself first; no more than a few."""
    found: list[SSAValue] = []
    waiting = [root]
    while waiting and len(found) <= MOST_OPS:
        value = waiting.pop()
        owner = value.owner
        free = is_bare(value)
        if value not in found and isinstance(owner, stablehlo.ELEMENTWISE_OPS) and shape_of(value) == shape and free:
            found.append(value)
            waiting += owner.operands
    return found


def _resized(op: Operation, operands: Sequence[SSAValue], shape: Shape) -> Operation:
    """The same element-wise op on tensors of another shape."""
    return op.create(
        operands=operands,
        result_types=[tensor(shape, element_of(op.results[0]))],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )


def _extended_update(op: stablehlo.DynamicUpdateSliceOp) -> Operation | None:
    """An update at a known place by what is computed from cut tensors."""
    whole, part = shape_of(op.results[0]), shape_of(op.update)
    starts = [splat_value(value) for value in op.start_indices]
    if any(start is None for start in starts):
        return None
    known = [int(start) for start in starts if start is not None]
    offsets = tuple(max(0, min(at, total - size)) for at, total, size in zip(known, whole, part, strict=True))
    extension = _Extension(op, whole, part, offsets)
    if not _may_extend(op, extension) or not extension.reaches(op.update):
        return None
    return extension.chosen(extension.extended(op.update), op.operand)


def _extended_scatter(op: stablehlo.ScatterOp) -> Operation | None:
    """One window, written or combined at a known place, of what is computed from cut tensors: `x.at[1:-1].set(...)`."""
    numbers, indices = op.numbers, _known(op.scatter_indices)
    if len(op.results) != 1 or indices is None or indices.ndim != 1:
        return None
    (operand,), (update,) = op.inputs, op.updates
    whole, part = shape_of(operand), shape_of(update)
    every = tuple(range(len(whole)))
    if numbers.update_window_dims != every or numbers.window_dims(len(whole)) != every:
        return None
    offsets = [0] * len(whole)
    for dim, start in zip(numbers.scatter_dims_to_operand_dims, indices.tolist(), strict=True):
        offsets[dim] = start
    if any(not 0 <= at <= total - size for at, total, size in zip(offsets, whole, part, strict=True)):
        return None
    extension = _Extension(op, whole, part, tuple(offsets))
    combine = _combination(op)
    if combine is None or not _may_extend(op, extension) or not extension.reaches(update):
        return None
    return extension.chosen(combine(operand, extension.extended(update)), operand)


def _combination(op: stablehlo.ScatterOp) -> Callable[[SSAValue, SSAValue], SSAValue] | None:
    """What a scatter's body does with whole tensors: it takes the update, or combines both by one op."""
    block = op.update_computation.block
    if block.first_op is block.last_op:
        return (lambda old, new: new) if list(returned(block)) == [block.args[1]] else None
    only = only_op(block)
    if only is None or type(only) not in MONOIDS or tuple(only.operands) != block.args:
        return None
    combiner = type(only)
    return lambda old, new: insert_before(op, combiner.create(operands=[old, new], result_types=[new.type])).results[0]


def _known(value: SSAValue) -> np.ndarray[Any, Any] | None:
    """A small constant, also one that is joined of constants."""
    owner = value.owner
    if isinstance(owner, stablehlo.ConstantOp):
        return stablehlo.constant_value(owner)
    if isinstance(owner, stablehlo.ConcatenateOp):
        parts = [_known(part) for part in owner.operands]
        found = [part for part in parts if part is not None]
        return np.concatenate(found, owner.dim) if len(found) == len(parts) else None
    return None


EXTENSION_RULES: Mapping[type[Operation], Rule] = {
    stablehlo.DynamicUpdateSliceOp: _extended_update,
    stablehlo.ScatterOp: _extended_scatter,
}
