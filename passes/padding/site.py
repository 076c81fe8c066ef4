"""Where an op gets its padded form: how much of each value is valid, and the ops that cut, mask and pad."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.text.literals import DenseAttr
from shardwright.dialects.types import element_of, shape_of, tensor, tensor_type
from shardwright.passes.rewriter import erase, insert_before, locate, retype
from shardwright.rules.rule import Rule

Shape = tuple[int, ...]


@dataclass
class Padding:
    """What is known of the padded values of a program: what is valid of each, and what has been made of them."""

    valid: dict[SSAValue, Shape] = field(default_factory=dict[SSAValue, Shape])
    """For each value with padding, which stands at the end of its dims, the shape of what is before it."""
    known: dict[Hashable, SSAValue] = field(default_factory=dict[Hashable, SSAValue])
    """Masks and masked values, by block and by what they are."""
    became: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """What stands in the place of values whose ops were replaced, or are done on the valid part alone."""
    behind: set[Operation] = field(default_factory=set[Operation])
    """The pads behind ops that are done on the valid part alone."""
    places: int = 0
    """Kernels with padding in space that are at so many places at most get a convolution for each of these."""
    placed: bool = False
    """Whether one did."""


@dataclass(frozen=True)
class Site(Builder):
    """
    Puts ops in front of `op`, whose operands and results have their padded types already.

    What stands behind the valid part of a value is unspecified, in results as in operands.
    """

    op: Operation
    rule: Rule
    padding: Padding

    def valid(self, value: SSAValue) -> Shape:
        """The shape of a value's valid part."""
        return self.padding.valid.get(value, shape_of(value))

    def padded(self, value: SSAValue) -> list[int]:
        """The dims of a value that have padding."""
        pairs = zip(shape_of(value), self.valid(value), strict=True)
        return [dim for dim, (size, valid) in enumerate(pairs) if size != valid]

    def note(self, value: SSAValue, valid: Sequence[int]) -> SSAValue:
        """Remembers how much of a new value is valid."""
        if shape_of(value) != tuple(valid):
            self.padding.valid[value] = tuple(valid)
        return value

    def crop(self, value: SSAValue, dims: Iterable[int] | None = None) -> SSAValue:
        """The value without the padding of some dims, or of all."""
        valid, whole = self.valid(value), shape_of(value)
        chosen = set(range(len(whole)) if dims is None else dims)
        limits = tuple(valid[dim] if dim in chosen else size for dim, size in enumerate(whole))
        if limits == whole:
            return value
        owner = value.owner
        if isinstance(owner, stablehlo.PadOp) and owner in self.padding.behind and shape_of(owner.operand) == limits:
            return owner.operand
        return self.note(self.slice(value, (0,) * len(limits), limits), valid)

    def resized(self, value: SSAValue, shape: Sequence[int], low: Sequence[int] | None = None) -> SSAValue:
        """The value moved by `low` along each dim, and padded or cut at its end to have a shape; nothing is noted."""
        edges = [0] * len(shape) if low is None else list(low)
        high = [size - edge - own for size, edge, own in zip(shape, edges, shape_of(value), strict=True)]
        if not any(edges) and not any(high):
            return value
        return self.pad(value, self.scalar(FILLING, value), edges, high)

    def masked(self, value: SSAValue, fill: DenseAttr | SSAValue, dims: Iterable[int] | None = None) -> SSAValue:
        """The value with a scalar, or a literal of one, where these of its dims, or any, have padding."""
        padded = self.padded(value)
        chosen = tuple(padded if dims is None else (dim for dim in padded if dim in set(dims)))
        if not chosen:
            return value
        return self._once(
            (value, fill, chosen),
            lambda: self.note(
                self.select(self._inside(value, chosen), value, self._everywhere(fill, value)), self.valid(value)
            ),
        )

    def _inside(self, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """Where the places of a value are valid along some dims."""
        whole, valid = shape_of(value), self.valid(value)
        found = [self.before(dim, valid[dim], whole) for dim in dims]
        mask = found[0]
        for other in found[1:]:
            mask = self.both(mask, other)
        return mask

    def before(self, dim: int, limit: int, shape: Shape) -> SSAValue:
        """Where places along a dim are before a limit."""

        def make() -> SSAValue:
            size = shape[dim : dim + 1]
            before = self.compare(self.iota(0, size), "LT", self.literal(limit, i32, size))
            return self.broadcast(before, shape, (dim,))

        return self._once((dim, limit, shape), make)

    def _everywhere(self, fill: DenseAttr | SSAValue, like: SSAValue) -> SSAValue:
        if isinstance(fill, SSAValue):
            return self.broadcast(fill, shape_of(like), ())
        return self.literal(stablehlo.constant_value(fill), element_of(like), shape_of(like))

    def _once(self, key: Hashable, make: Callable[[], SSAValue]) -> SSAValue:
        """What was made in this block before, or is made now."""
        place = self.op.parent, key
        if place not in self.padding.known:
            self.padding.known[place] = make()
        return self.padding.known[place]

    def crop_operands(self, fine: Callable[[int, int], bool]) -> None:
        """Cuts off the padding of those dims of operands, by place and dim, that are not fine."""
        for place, value in enumerate(self.op.operands):
            wrong = [dim for dim in self.padded(value) if not fine(place, dim)]
            if wrong:
                self.op.operands[place] = self.crop(value, wrong)

    def make_valid(self, result: SSAValue, dims: Iterable[int] | None = None) -> None:
        """Lets the op make these dims of a result, or all, without padding; a pad behind it puts that on."""
        padded, valid, wanted = self.padded(result), self.valid(result), result.type
        chosen = set(padded if dims is None else dims).intersection(padded)
        if not chosen:
            return
        made = [valid[dim] if dim in chosen else size for dim, size in enumerate(shape_of(result))]
        retype(result, tensor(tuple(made), element_of(result)))
        del self.padding.valid[result]
        self.note(result, valid)
        behind = Site(self._after(), self.op, self.rule, self.padding)
        whole = behind.resized(result, shape_of(wanted))
        pad = whole.owner
        assert isinstance(pad, stablehlo.PadOp)
        result.replace_uses_with_if(whole, lambda use: use.operation is not pad)
        self.padding.behind.add(pad)
        whole.name_hint = result.name_hint
        self.note(retype(whole, wanted), valid)
        self.padding.became[result] = whole

    def _after(self) -> Callable[[Operation], Operation]:
        """Puts ops behind this one, one after the other."""
        last = self.op

        def insert(op: Operation) -> Operation:
            nonlocal last
            assert last.parent is not None
            last.parent.insert_op_after(locate(op, self.op), last)
            last = op
            return op

        return insert

    def replace(self, value: SSAValue) -> None:
        """Puts a new value, of the shape that it shall have, in the place of the op's one result."""
        self._become(self.op.results[0], value)
        erase(self.op)

    def swap(self, op: Operation) -> None:
        """Puts an op in the place of this one, whose results are its first ones."""
        self.insert(op)
        for result, value in zip(self.op.results, op.results, strict=False):
            self._become(result, value)
        erase(self.op)

    def _become(self, result: SSAValue, value: SSAValue) -> None:
        """Lets a new value be what a result was: its users', as valid, of the layout that the user gave it."""
        valid = self.padding.valid.pop(result, shape_of(result))
        value.name_hint = result.name_hint
        self.note(retype(value, result.type), valid)
        result.replace_all_uses_with(value)
        self.padding.became[result] = value


def site_of(op: Operation, rule: Rule, padding: Padding) -> Site:
    """Where an op gets its padded form."""
    return Site(lambda new: insert_before(op, new), op, rule, padding)


FILLING = 0
"""What pads hold whose elements nobody may look at."""


def resized_type(type_: Attribute, shape: Shape) -> TensorType[Any]:
    """The tensor type with other sizes, and the layout that it has."""
    old = tensor_type(type_)
    return TensorType(old.element_type, shape, old.encoding)
