"""
Whether two programs are one but for sizes: the same ops in the same order, wired alike, in the same regions.

This is a part of the checker. It knows nothing of how a program was made smaller: it walks both, and what it finds is
that dims are related by one function of the size, and layouts by one function of mesh axes and their parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Block, Data, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.attributes import MeshAttr
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import Axis

SIZED = {
    "stablehlo.slice": {"start_indices", "limit_indices"},
    "stablehlo.pad": {"edge_padding_low", "edge_padding_high"},
    "stablehlo.gather": {"slice_sizes"},
    "stablehlo.dynamic_slice": {"slice_sizes"},
    "stablehlo.reduce_window": {"window_dimensions", "padding"},
    "dtensor.window": {"starts"},
    "dtensor.roll": {"by"},
    "chlo.top_k": {"k"},
}
"""The properties that hold sizes, or places in dims."""


def same_structure(program: ModuleOp, reduced: ModuleOp) -> str | None:
    """The first difference between two programs that should be one but for sizes; None where there is none."""
    walk = _Walk()
    return next(walk.operation(program, reduced), None)


@dataclass
class _Walk:
    sizes: dict[int, int] = field(default_factory=dict[int, int])
    marks: dict[tuple[str, int, bool], int] = field(default_factory=dict[tuple[str, int, bool], int])
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    alike: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    """Attributes that were compared, by identity: both programs live as long as the walk."""

    def operation(self, one: Operation, other: Operation) -> Iterator[str]:
        counts = [(len(op.operands), len(op.results), len(op.regions)) for op in (one, other)]
        if one.name != other.name or counts[0] != counts[1]:
            yield f"{one.name} became {other.name}"
            return
        for number, (mine, its) in enumerate(zip(one.operands, other.operands, strict=True)):
            if self.values.get(mine) is not its:
                yield f"operand {number} of {one.name} is another value"
        yield from self._properties(one, other)
        yield from self._defined(one, list(one.results), list(other.results))
        for first, second in zip(one.regions, other.regions, strict=True):
            if len(first.blocks) != len(second.blocks):
                yield f"{one.name} has other blocks"
            for pair in zip(first.blocks, second.blocks, strict=False):
                yield from self._block(one, *pair)

    def _block(self, owner: Operation, one: Block, other: Block) -> Iterator[str]:
        ops = list(one.ops), list(other.ops)
        if len(one.args) != len(other.args) or len(ops[0]) != len(ops[1]):
            yield f"a block of {owner.name} has other arguments, or another number of ops"
            return
        yield from self._defined(owner, list(one.args), list(other.args))
        for pair in zip(*ops, strict=True):
            yield from self.operation(*pair)

    def _defined(self, op: Operation, mine: list[SSAValue], its: list[SSAValue]) -> Iterator[str]:
        for one, other in zip(mine, its, strict=True):
            self.values[one] = other
            if not self._same(one.type, other.type):
                yield f"{op.name} has a value of type {other.type} in place of {one.type}"

    def _properties(self, one: Operation, other: Operation) -> Iterator[str]:
        mine, its = {**one.attributes, **one.properties}, {**other.attributes, **other.properties}
        if mine.keys() != its.keys():
            yield f"{one.name} has other properties"
        for name in mine.keys() & its.keys():
            if name == "value" and isinstance(one, stablehlo.ConstantOp):
                assert isinstance(other, stablehlo.ConstantOp)
                same = self._same_constant(one, other)
            else:
                sized = name in SIZED.get(one.name, ()) and _signs(mine[name]) == _signs(its[name])
                same = sized or self._same(mine[name], its[name])
            if not same:
                yield f"{one.name} has {name} = {its[name]} in place of {mine[name]}"

    def _same_constant(self, one: stablehlo.ConstantOp, other: stablehlo.ConstantOp) -> bool:
        if stablehlo.is_splat(one) and stablehlo.is_splat(other):
            return stablehlo.splat_value(one).tobytes() == stablehlo.splat_value(other).tobytes()
        return one.value == other.value or 0 in shape_of(one.result)

    def _same(self, one: Attribute, other: Attribute) -> bool:
        """Whether attributes are equal but for sizes and mesh axes."""
        key = id(one), id(other)
        if key not in self.alike and self._compare(one, other):
            self.alike.add(key)
        return key in self.alike

    def _compare(self, one: Attribute, other: Attribute) -> bool:
        if type(one) is not type(other):
            return False
        if isinstance(one, TensorType) and isinstance(other, TensorType):
            shapes = shape_of(one), shape_of(other)
            related = len(shapes[0]) == len(shapes[1]) and all(map(self._size, *shapes))
            return related and one.element_type == other.element_type and self._same(one.encoding, other.encoding)
        if isinstance(one, ArrayAttr | FunctionType | DictionaryAttr):
            return _keys(one) == _keys(other) and all(map(self._same, _parts(one), _parts(other)))
        if isinstance(one, DenseArrayBase | DenseIntOrFPElementsAttr | IntegerAttr) or not isinstance(one, Data):
            return one == other
        if isinstance(one, MeshAttr):
            sizes = one.data, cast(MeshAttr, other).data
            named = [name for name, _ in sizes[0]] == [name for name, _ in sizes[1]]
            return named and all(self._mark(*mine, its[1]) for mine, its in zip(*sizes, strict=True))
        return self._related(cast("Data[Any]", one).data, cast("Data[Any]", other).data)

    def _size(self, one: int, other: int) -> bool:
        """Whether a size is what it became elsewhere; none and one stay, and nothing else becomes less than two."""
        return self.sizes.setdefault(one, other) == other and (one == other if one < 2 else other >= 2)

    def _related(self, one: Any, other: Any) -> bool:
        """Whether plain data is equal but for parts of axes."""
        if type(one) is not type(other):
            return False
        if isinstance(one, Axis):
            ends = ((one.pre, other.pre), (one.pre * one.size, other.pre * other.size))
            alike = one.name == other.name and one.whole == other.whole
            return alike and (one.whole or all(self._mark(one.name, *end) for end in ends))
        if isinstance(one, tuple):
            return len(one) == len(other) and all(map(self._related, one, other))
        if is_dataclass(one):
            names = [item.name for item in fields(one) if item.compare]
            return all(self._related(getattr(one, name), getattr(other, name)) for name in names)
        return one == other

    def _mark(self, axis: str, one: int, other: int) -> bool:
        """Whether a place between digits of an axis is what it became elsewhere, and nothing else became it."""
        there = self.marks.setdefault((axis, one, True), other) == other
        return there and self.marks.setdefault((axis, other, False), one) == one and (one == 1) == (other == 1)


def _parts(attribute: ArrayAttr[Attribute] | FunctionType | DictionaryAttr) -> tuple[Attribute, ...]:
    if isinstance(attribute, FunctionType):
        return (attribute.inputs, attribute.outputs)
    return attribute.data if isinstance(attribute, ArrayAttr) else tuple(attribute.data.values())


def _keys(attribute: ArrayAttr[Attribute] | FunctionType | DictionaryAttr) -> object:
    return tuple(attribute.data) if isinstance(attribute, DictionaryAttr) else len(_parts(attribute))


def _signs(attribute: Attribute) -> list[int]:
    """The signs of the numbers of a property that holds sizes or places: none becomes none."""
    values = cast("Any", attribute).get_values() if not isinstance(attribute, IntegerAttr) else [attribute.value.data]
    return [(value > 0) - (value < 0) for value in values]
