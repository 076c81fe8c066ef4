"""
Programs of the same structure at smaller sizes, on a smaller mesh: large ones can be compared in exact numbers.

Traced and planned program shrink together: one function of the size of a dim, one of the axes of the mesh. The
ops, their order and wiring stay; what follows the sizes are types, layouts, and the numbers of slices and windows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    NoneAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import stablehlo
from shardwright.dialects.building import blocks_in
from shardwright.dialects.dtensor import CollectivePermuteOp, layout_of, meshes
from shardwright.dialects.dtensor.attributes import AxesAttr, DimAxesAttr, LayoutAttr, MeshAttr
from shardwright.dialects.stablehlo.collectives import ReplicaGroupsAttr
from shardwright.dialects.text.literals import DenseAttr, dense, is_splat
from shardwright.dialects.text.verify import verify_module
from shardwright.dialects.types import element_of, is_float, is_integer, shape_of
from shardwright.layout.axes import Axis, part, span
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.stages import verify_stage
from shardwright.proof.asking import Asked, New
from shardwright.proof.work import WORK, work

_MANUAL = ("dtensor.to_manual", "dtensor.from_manual", "dtensor.fetch", "dtensor.axis_index", "sdy.manual_computation")


_SMALLEST = 1e-12
"""Numbers below are no inverse of a size."""


@dataclass(frozen=True)
class Reduced:
    """A traced and a planned program at reduced sizes; what each size and the axes of the mesh became."""

    traced: ModuleOp
    planned: ModuleOp
    sizes: Mapping[int, int]
    axes: Mapping[str, int]


def reduce_programs(traced: ModuleOp, planned: ModuleOp, *, careful: bool = False) -> Reduced | str:
    """
    Both programs at smaller sizes, on a smaller mesh; or why there are none.

    Where the reduced programs agree, that is proof. Where they do not, the planned one is wrong, or a size stands in
    the program as a number, which stays, and the compiler has used that both are equal: a `careful` reduction keeps
    such sizes, and tells.

    >>> from shardwright.dialects.text.parsing import parse_module
    >>> from shardwright.compiler.pipelines import run_pipeline
    >>> traced = parse_module('''
    ...   sdy.mesh @mesh = <["x"=64]>
    ...   func.func @main(%a: tensor<4096x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    ...       -> tensor<8192x4096xf32> {
    ...     %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4096x8192xf32>) -> tensor<8192x4096xf32>
    ...     return %0 : tensor<8192x4096xf32>
    ...   }''')
    >>> planned = traced.clone()
    >>> _ = run_pipeline(planned, ["plan"])
    >>> reduced = reduce_programs(traced, planned)
    >>> reduced.sizes[4096], reduced.sizes[8192], reduced.axes
    (4, 2, {'x': 2})
    """
    reason = ""
    smallest = _Axes.smaller(planned)
    for axes in (smallest, smallest.with_whole(), _Axes.same(planned)):
        copies = traced.clone(), planned.clone()
        sizes = _solved(copies, axes, careful=careful)
        change = _Change(sizes, axes)
        for module in copies:
            change.module(module)
        reason = _fault(*copies)
        if not reason:
            new = {name: size for mesh in meshes(copies[1]).values() for name, size in mesh.sizes.items()}
            return Reduced(*copies, sizes.new, new)
    return reason


def _fault(traced: ModuleOp, planned: ModuleOp) -> str:
    """What the verifiers say of the reduced programs, if they are none; or that they are large still."""
    try:
        verify_module(traced)
        verify_module(planned)
        verify_stage(planned, "planned")
    except ShardwrightError as error:
        return f"at reduced sizes the program is none: {error.diagnostics[0].message}"
    cost = sum(work(op) for op in traced.walk() if op.name == "func.func")
    return f"running the program takes {cost:.1e} steps at reduced sizes still" if cost > WORK else ""


@dataclass
class _Axes:
    """The mesh axes, each cut where any layout cuts it; every piece becomes its smallest prime factor."""

    full: dict[str, int]
    marks: dict[str, list[int]]
    kept: set[str] = field(default_factory=set[str])

    @classmethod
    def same(cls, planned: ModuleOp) -> _Axes:
        """No axis changes."""
        full = {name: size for mesh in meshes(planned).values() for name, size in mesh.sizes.items()}
        return cls(full, {}, set(full))

    @classmethod
    def smaller(cls, planned: ModuleOp) -> _Axes:
        """As small as the planned program allows."""
        sizes = [mesh.sizes for mesh in meshes(planned).values()]
        found = cls.same(planned)
        ambiguous = {
            name for mesh in sizes for name in mesh if any(other.get(name, mesh[name]) != mesh[name] for other in sizes)
        }
        if ambiguous or any(op.name in _MANUAL for op in planned.walk()):
            return found
        marks = {name: {1, size} for name, size in found.full.items()}
        permutes: list[CollectivePermuteOp] = []
        for op in planned.walk():
            for axis in _axes_at(op):
                marks[axis.name].update(span(axis, found.full[axis.name]))
            if isinstance(op, CollectivePermuteOp):
                permutes.append(op)
        found.marks = {name: sorted(places) for name, places in marks.items()}
        found.kept = {name for name, places in found.marks.items() if not _nests(places)}
        while any(found._keeps(op) for op in permutes):
            continue
        return found

    def with_whole(self) -> _Axes:
        """The same, but axes that are cut anywhere stay as they are."""
        return replace(self, kept=self.kept | {name for name, places in self.marks.items() if len(places) > 2})

    def _keeps(self, op: CollectivePermuteOp) -> bool:
        """Keeps axes as they are where the parts before and after a permutation would have other sizes."""
        for source, target in zip(op.source.data.dims, op.target.data.dims, strict=True):
            names = {axis.name for axis in (*source, *target)} - self.kept
            if names and self.parts(source) != self.parts(target):
                self.kept |= names
                return True
        return False

    def size(self, name: str, place: int | None = None) -> int:
        """The new size of an axis, or of its digits up to a place between them."""
        place = self.full[name] if place is None else place
        if name in self.kept:
            return place
        marks = [mark for mark in self.marks[name] if mark <= place]
        return math.prod(_smallest(after // before) for before, after in pairwise(marks))

    def axis(self, axis: Axis) -> Axis:
        """What an axis, or a part of one, became."""
        if axis.whole or axis.name in self.kept:
            return axis
        start, stop = span(axis, self.full[axis.name])
        return part(axis.name, self.size(axis.name, start), self.size(axis.name, stop), self.size(axis.name))

    def parts(self, axes: Iterable[Axis], *, before: bool = False) -> int:
        """Into how many parts axes split a dim."""
        found = 1
        for axis in axes:
            start, stop = span(axis, self.full[axis.name])
            found *= stop // start if before else self.size(axis.name, stop) // self.size(axis.name, start)
        return found


def _nests(places: list[int]) -> bool:
    return all(after % before == 0 for before, after in pairwise(places))


def _smallest(number: int) -> int:
    """The smallest prime factor; one of one."""
    return next((factor for factor in range(2, math.isqrt(number) + 1) if number % factor == 0), number)


def _axes_at(op: Operation) -> Iterator[Axis]:
    """Every mesh axis that an op names, and its values' layouts."""
    for value in _values(op):
        spec = layout_of(value)
        if spec is not None:
            yield from spec.axes()
    for attribute in op.properties.values():
        if isinstance(attribute, AxesAttr):
            yield from attribute.data
        elif isinstance(attribute, DimAxesAttr):
            yield from (axis for axes in attribute.data for axis in axes)
        elif isinstance(attribute, LayoutAttr):
            yield from attribute.data.axes()
        elif isinstance(attribute, ReplicaGroupsAttr):
            yield from attribute.data.axes


def _values(op: Operation) -> Iterator[SSAValue]:
    yield from op.results
    for block in blocks_in(op):
        yield from block.args


def _solved(modules: tuple[ModuleOp, ModuleOp], axes: _Axes, *, careful: bool) -> _Sizes:
    """What sizes become, by what the ops of both programs and the layouts of the planned one ask."""
    asked = Asked()
    wanted: set[int] = set()
    ops = [op for module in modules for op in module.walk()]
    for value in (value for op in ops for value in _values(op) if isinstance(value.type, TensorType)):
        wanted.update(shape_of(value))
        _ask_layout(value, asked, axes)
    for op in ops:
        asked.add(op)
    asked.finish()
    _pin_constants(modules, wanted, asked)
    if careful:
        asked.sizes.pin(*(size for size in wanted if {size, size - 1} & _constants(modules[0])))
    return _Sizes(asked, asked.sizes.solve(wanted))


@dataclass(frozen=True)
class _Sizes:
    asked: Asked
    new: New


def _ask_layout(value: SSAValue, asked: Asked, axes: _Axes) -> None:
    """A dim falls into the parts of its axes, in the planned program."""
    spec = layout_of(value)
    if spec is None or spec.open_dims:
        return
    for size, along in zip(shape_of(value), spec.dims, strict=True):
        if along and size:
            parts = axes.parts(along)
            asked.sizes.divisible(size, parts)
            if axes.parts(along, before=True) == size:
                asked.sizes.exact[size] = parts


def _pin_constants(modules: tuple[ModuleOp, ModuleOp], wanted: set[int], asked: Asked) -> None:
    """Numbers that stand in the planned program only may come from sizes, or products of two: these stay."""
    before, after = (_constants(module) for module in modules)
    for number in after - before:
        near = {number, number + 1, -number, float(round(1 / number)) if abs(number) > _SMALLEST else 0.0}
        asked.sizes.pin(*(size for size in wanted if size in near))
        if number.is_integer():
            asked.sizes.pin(*(size for size in wanted if size > 1 and number % size == 0 and number // size in wanted))


def _constants(module: ModuleOp) -> set[float]:
    found: set[float] = set()
    for op in module.walk():
        if isinstance(op, stablehlo.ConstantOp) and stablehlo.is_splat(op):
            element = element_of(op.result)
            if is_integer(element) or is_float(element):
                number = float(stablehlo.splat_value(op))
                found.update([number] if math.isfinite(number) else [])
    return found


@dataclass
class _Change:
    """Changes programs in place: types, layouts, and the numbers that follow the sizes."""

    sizes: _Sizes
    axes: _Axes
    made: dict[Attribute, Attribute] = field(default_factory=dict[Attribute, Attribute])

    def module(self, module: ModuleOp) -> None:
        """Changes all ops of a module."""
        for op in module.walk():
            for value in _values(op):
                value._type = self.attribute(value.type)  # pyright: ignore[reportPrivateUsage]
            for name, attribute in op.properties.items():
                if isinstance(attribute, DenseIntOrFPElementsAttr):
                    if name == "value":
                        op.properties[name] = self._constant(cast(DenseAttr, attribute))
                else:
                    op.properties[name] = self.attribute(attribute)
            if op in self.sizes.asked.numbers:
                op.properties.update(self.sizes.asked.numbers[op](self.sizes.new))

    def attribute(self, attribute: Attribute) -> Attribute:
        """What an attribute became."""
        if not isinstance(attribute, _CHANGING):
            return attribute
        if attribute not in self.made:
            self.made[attribute] = self._changed(attribute)
        return self.made[attribute]

    def _changed(self, attribute: Attribute) -> Attribute:
        if isinstance(attribute, TensorType):
            tensor = cast("TensorType[Attribute]", attribute)
            shape = [self.sizes.new[size] for size in shape_of(tensor)]
            encoding = tensor.encoding if isinstance(tensor.encoding, NoneAttr) else self.attribute(tensor.encoding)
            return TensorType(tensor.element_type, shape, encoding)
        if isinstance(attribute, FunctionType):
            sides = ([self.attribute(item) for item in side] for side in (attribute.inputs, attribute.outputs))
            return FunctionType.from_lists(*sides)
        if isinstance(attribute, ArrayAttr):
            return ArrayAttr([self.attribute(item) for item in cast("ArrayAttr[Attribute]", attribute)])
        if isinstance(attribute, DictionaryAttr):
            return DictionaryAttr({name: self.attribute(item) for name, item in attribute.data.items()})
        return self._with_axes(attribute)

    def _with_axes(self, attribute: Attribute) -> Attribute:
        if isinstance(attribute, MeshAttr):
            return MeshAttr(tuple((name, self.axes.size(name)) for name, _ in attribute.data))
        if isinstance(attribute, AxesAttr):
            return AxesAttr(self._axes(attribute.data))
        if isinstance(attribute, DimAxesAttr):
            return DimAxesAttr(tuple(map(self._axes, attribute.data)))
        assert isinstance(attribute, LayoutAttr)
        return LayoutAttr(self._spec(attribute.data))

    def _spec(self, spec: LayoutSpec) -> LayoutSpec:
        found = (spec.partial, spec.withheld)
        partial, withheld = map(self._axes, found)
        return replace(spec, dims=tuple(map(self._axes, spec.dims)), partial=partial, withheld=withheld)

    def _axes(self, axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
        return tuple(map(self.axes.axis, axes))

    def _constant(self, value: DenseAttr) -> Attribute:
        """The same number everywhere, in as many places as there are now."""
        type_ = cast("TensorType[Attribute]", self.attribute(value.type))
        return dense(type_, value.data.data) if is_splat(value) else value


_CHANGING: Any = (TensorType, FunctionType, ArrayAttr, DictionaryAttr, MeshAttr, AxesAttr, DimAxesAttr, LayoutAttr)
"""The attributes that hold sizes or axes."""
