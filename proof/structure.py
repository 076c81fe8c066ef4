"""
Whether two programs are one but for sizes: the same ops in the same order, wired alike, in the same regions.

It knows nothing of how a program was made smaller. It finds that dims are related by one function of the size, and
layouts by one function of the mesh axes and the places at which they are cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Data, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.attributes import MeshAttr
from shardwright.dialects.types import element_of, is_integer, shape_of
from shardwright.layout.axes import Axis

SIZED = frozenset(
    """
    stablehlo.slice:start_indices stablehlo.slice:limit_indices stablehlo.pad:edge_padding_low
    stablehlo.pad:edge_padding_high stablehlo.gather:slice_sizes stablehlo.dynamic_slice:slice_sizes
    stablehlo.reduce_window:window_dimensions stablehlo.reduce_window:padding dtensor.window:starts dtensor.roll:by
    chlo.top_k:k
    """.split()
)
"""The properties that hold sizes or places in dims, with their ops."""


class _Differs(Exception):
    """The first difference."""


def same_structure(program: ModuleOp, reduced: ModuleOp, *, local: bool = False) -> str | None:
    """
    The first difference between two programs that should be one but for sizes; None where there is none.

    A `local` program has the sizes of parts, and places as integers: which became which is not asked there.
    """
    try:
        _Walk(local).operation(program, reduced)
    except _Differs as difference:
        return str(difference)
    return None


def _need(holds: bool, message: str) -> None:
    if not holds:
        raise _Differs(message)


@dataclass
class _Walk:
    local: bool
    sizes: dict[int, int] = field(default_factory=dict[int, int])
    marks: dict[tuple[str, int, bool], int] = field(default_factory=dict[tuple[str, int, bool], int])
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    alike: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def operation(self, one: Operation, other: Operation) -> None:
        _need(one.name == other.name, f"{one.name} became {other.name}")
        operands = [self.values.get(value) for value in one.operands]
        _need(operands == list(other.operands), f"{one.name} takes other values")
        mine, its = ({**op.attributes, **op.properties} for op in (one, other))
        _need(mine.keys() == its.keys(), f"{one.name} has other properties")
        for name in mine:
            same = self._property(one, other, name, mine[name], its[name])
            _need(same, f"{one.name} has {name} = {its[name]} in place of {mine[name]}")
        self._define(one, one.results, other.results)
        blocks = [[block for region in op.regions for block in region.blocks] for op in (one, other)]
        _need(len(blocks[0]) == len(blocks[1]), f"{one.name} has other regions")
        for pair in zip(*blocks, strict=True):
            self._block(one, *pair)

    def _block(self, owner: Operation, one: Block, other: Block) -> None:
        self._define(owner, one.args, other.args)
        ops = list(one.ops), list(other.ops)
        _need(len(ops[0]) == len(ops[1]), f"{owner.name} has another number of ops")
        for pair in zip(*ops, strict=True):
            self.operation(*pair)

    def _define(self, op: Operation, mine: Sequence[SSAValue], its: Sequence[SSAValue]) -> None:
        _need(len(mine) == len(its), f"{op.name} has another number of values")
        for one, other in zip(mine, its, strict=True):
            self.values[one] = other
            _need(self._same(one.type, other.type), f"{op.name} has a {other.type} in place of a {one.type}")

    def _property(self, op: Operation, other: Operation, name: str, mine: Attribute, its: Attribute) -> bool:
        if isinstance(op, stablehlo.ConstantOp) and isinstance(other, stablehlo.ConstantOp) and stablehlo.is_splat(op):
            follows = self.local and is_integer(element_of(op.result))
            return stablehlo.is_splat(other) and (follows or op.value.data == other.value.data)
        return _signs(mine) == _signs(its) if f"{op.name}:{name}" in SIZED else self._same(mine, its)

    def _same(self, one: Any, other: Any) -> bool:
        """Whether attributes, or the data in them, are equal but for sizes and mesh axes; each pair is seen once."""
        key = id(one), id(other)
        if key not in self.alike and type(one) is type(other) and self._compare(one, other):
            self.alike.add(key)
        return key in self.alike

    def _compare(self, one: Any, other: Any) -> bool:
        if isinstance(one, TensorType):
            shapes = shape_of(one), shape_of(other)
            related = len(shapes[0]) == len(shapes[1]) and all(map(self._size, *shapes))
            return related and one.element_type == other.element_type and self._same(one.encoding, other.encoding)
        if isinstance(one, FunctionType):
            return self._same(one.inputs, other.inputs) and self._same(one.outputs, other.outputs)
        if isinstance(one, DictionaryAttr):
            return one.data.keys() == other.data.keys() and all(
                self._same(one.data[k], other.data[k]) for k in one.data
            )
        if isinstance(one, MeshAttr):
            return len(one.data) == len(other.data) and all(map(self._axis, one.data, other.data))
        if isinstance(one, ArrayAttr | Data):
            return self._same(cast("Any", one).data, other.data)
        if isinstance(one, Axis):
            parts = [(axis.name, axis.pre * size) for axis in (one, other) for size in (1, axis.size)]
            return one.whole == other.whole and (one.whole or all(map(self._axis, parts[:2], parts[2:])))
        if isinstance(one, tuple):
            return len(one) == len(other) and all(map(self._same, one, other))
        if is_dataclass(one) and not isinstance(one, Attribute):
            names = [item.name for item in fields(one) if item.compare]
            return all(self._same(getattr(one, name), getattr(other, name)) for name in names)
        return one == other

    def _size(self, one: int, other: int) -> bool:
        """Whether a size is what it became elsewhere; none and one stay, and nothing else becomes less than two."""
        if self.local:
            return (one == 0) == (other == 0)
        return self.sizes.setdefault(one, other) == other and (one == other if one < 2 else other >= 2)

    def _axis(self, one: tuple[str, int], other: tuple[str, int]) -> bool:
        """Whether a place between digits of an axis is what it became elsewhere, and nothing else became it."""
        (name, place), (its, new) = one, other
        there, back = self.marks.setdefault((name, place, True), new), self.marks.setdefault((name, new, False), place)
        return name == its and (there, back) == (new, place) and (place == 1) == (new == 1)


def _signs(attribute: Attribute) -> list[int]:
    """The signs of numbers."""
    values = [attribute.value.data] if isinstance(attribute, IntegerAttr) else cast("Any", attribute).get_values()
    return [(value > 0) - (value < 0) for value in values]
