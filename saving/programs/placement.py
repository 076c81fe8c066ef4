"""Where saved programs go: the meshes on which they were saved, or others, with the axes of layouts renamed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, ParametrizedAttribute

from shardwright.dialects.dtensor import AxisIndexOp, MeshOp, RelayoutOp, with_layout
from shardwright.dialects.dtensor.attributes import LayoutAttr, MeshAttr, mesh_symbol
from shardwright.dialects.dtensor.manual import CastOp, FetchOp, UnvaryingOp
from shardwright.dialects.dtensor.transfers import TransferOp
from shardwright.dialects.stablehlo.collectives import GroupedOp
from shardwright.layout import Layout, Mesh
from shardwright.layout.axes import Axis, part
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before, retype
from shardwright.saving.faults import SavingError

AxisNames: TypeAlias = "Mapping[str, str | Sequence[str] | None]"
"""For axes of the saved meshes: those that take their place, or None for none."""

_FIXED = (CastOp, FetchOp, UnvaryingOp, GroupedOp, AxisIndexOp)
"""Ops that were written for one device's share of a certain mesh."""


class Placement:
    """
    The meshes of a saved directory, and what each of them becomes.

    `mesh` is the new mesh, or for several saved ones a mapping from their names; `axes` says which axes take the place
    of others; `here(number)` is a saved mesh that stays, on the processes of this job. Raises `SavingError` (SW0883)
    for what there is not.

    >>> placed = Placement([Mesh(x=4)], Mesh(batch=2), {"x": "batch"})
    >>> placed.layout(0, LayoutSpec("mesh", ((Axis("x"),), ())))
    Layout(['batch', 'unsharded'], Mesh(batch=2))
    """

    def __init__(
        self,
        saved: Sequence[Mesh],
        mesh: Mesh | Mapping[str, Mesh] | None = None,
        axes: AxisNames | None = None,
        here: Callable[[int], Mesh] | None = None,
    ) -> None:
        self.saved = list(saved)
        given = _given(self.saved, mesh)
        kept = here or self.saved.__getitem__
        self.meshes = [kept(number) if new is None else new for number, new in enumerate(given)]
        self._axes = dict(axes or {})
        known = {axis for old in self.saved for axis in old.axis_names}
        new = {axis for here in self.meshes for axis in here.axis_names}
        for name, targets in self._axes.items():
            if name not in known:
                raise _no_axis(name, "the saved meshes have", known)
            for target in _names(targets):
                if target not in new:
                    raise _no_axis(target, "the mesh has", new)

    def moves(self, number: int) -> bool:
        """Whether layouts on a mesh are written otherwise than they were saved."""
        same = list(self.saved[number].sizes.items()) == list(self.meshes[number].sizes.items())
        return not same or any(_names(to) != (name,) for name, to in self._axes.items())

    def spec(self, number: int, spec: LayoutSpec) -> LayoutSpec:
        """A layout on a saved mesh as it is on the mesh that takes its place, under the same symbol."""
        if not self.moves(number):
            return spec
        return replace(
            spec,
            dims=tuple(self._moved(number, dim) for dim in spec.dims),
            partial=self._moved(number, spec.partial),
            withheld=self._moved(number, spec.withheld),
        )

    def layout(self, number: int, spec: LayoutSpec) -> Layout:
        """The layout on the new mesh."""
        mesh = self.meshes[number]
        return Layout.from_spec(replace(self.spec(number, spec), mesh=mesh.name), mesh)

    def _moved(self, number: int, axes: Iterable[Axis]) -> tuple[Axis, ...]:
        return tuple(new for axis in axes for new in self._axis(number, axis))

    def _axis(self, number: int, axis: Axis) -> tuple[Axis, ...]:
        mesh = self.meshes[number]
        targets = _names(self._axes.get(axis.name, axis.name))
        if axis.name not in self._axes and axis.name not in mesh.sizes:
            if mesh.size == 1:  # the one device holds everything, whatever the layout
                return ()
            raise _no_axis(axis.name, f"{mesh!r} has", mesh.axis_names)
        if axis.whole or not targets:
            return tuple(map(Axis, targets))
        target, *others = targets
        if others:
            raise SavingError("SW0883", f"the part {axis.brief()} of an axis cannot go to {', '.join(targets)}")
        return (part(target, axis.pre, axis.pre * axis.size, mesh.dim_size(target)),)


def _names(targets: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if targets is None else (targets,) if isinstance(targets, str) else tuple(targets)


def _no_axis(name: str, where: str, known: Iterable[str]) -> SavingError:
    there = ", ".join(sorted(known)) or "no axes"
    return SavingError("SW0883", f"there is no axis {name!r}: {where} {there}")


def _given(saved: Sequence[Mesh], mesh: Mesh | Mapping[str, Mesh] | None) -> list[Mesh | None]:
    """The mesh that takes the place of each saved one; None where it stays."""
    if mesh is None:
        return [None] * len(saved)
    if isinstance(mesh, Mesh):
        if len([old for old in saved if old.axis_names]) > 1:
            names = ", ".join(old.name for old in saved)
            fault = f"there are {len(saved)} saved meshes, {names}, and one was given"
            raise SavingError("SW0883", fault, help="say which is which: mesh={'name': mesh, ...}")
        return [mesh if old.axis_names or len(saved) == 1 else None for old in saved]
    unknown = sorted(set(mesh) - {old.name for old in saved})
    if unknown:
        raise SavingError(
            "SW0883", f"there is no saved mesh {unknown[0]!r}, but {', '.join(m.name for m in saved) or 'none'}"
        )
    return [mesh.get(old.name) for old in saved]


def placed_module(module: ModuleOp, numbers: Mapping[str, int], placement: Placement) -> None:
    """
    Writes a traced program for other meshes, in place; `numbers` are those of its meshes, by symbol.

    Raises `SavingError` (SW0883) for what was written for one device of the old mesh.
    """
    for op in module.walk():
        if isinstance(op, _FIXED):
            raise SavingError("SW0883", f"the program has {op.name}, which belongs to the mesh of old")
        if isinstance(op, MeshOp):
            op.properties["axes"] = MeshAttr(tuple(placement.meshes[numbers[op.sym_name.data]].sizes.items()))
    _rewrite_layouts(module, lambda spec: placement.spec(numbers[spec.mesh], spec))


def rename_meshes(module: ModuleOp, symbols: Mapping[str, str]) -> None:
    """Lets a program's layouts name meshes by other symbols, in place; their declarations stay."""
    if all(old == new for old, new in symbols.items()):
        return
    _rewrite_layouts(module, lambda spec: replace(spec, mesh=symbols.get(spec.mesh, spec.mesh)))
    for op in module.walk():
        if isinstance(op, TransferOp) and op.source is not None:
            name = op.source.string_value()
            op.properties["source"] = mesh_symbol(symbols.get(name, name))


def _rewrite_layouts(module: ModuleOp, change: Callable[[LayoutSpec], LayoutSpec]) -> None:
    """Changes every layout in the types and attributes of a program, in place."""
    known: dict[Attribute, Attribute] = {}

    def changed(attribute: Attribute) -> Attribute:
        if attribute not in known:
            known[attribute] = _changed(attribute, change, changed)
        return known[attribute]

    for op in module.walk():
        op.properties.update({name: changed(value) for name, value in op.properties.items()})
        op.attributes.update({name: changed(value) for name, value in op.attributes.items()})
        values = [argument for region in op.regions for block in region.blocks for argument in block.args]
        for value in (*op.results, *values):
            retype(value, changed(value.type))


def _changed(
    attribute: Attribute, change: Callable[[LayoutSpec], LayoutSpec], changed: Callable[[Attribute], Attribute]
) -> Attribute:
    if isinstance(attribute, LayoutAttr):
        return LayoutAttr(change(attribute.data))
    if isinstance(attribute, ArrayAttr):
        parts = [changed(item) for item in attribute.data]
        return attribute if _same(parts, attribute.data) else ArrayAttr(parts)
    if isinstance(attribute, DictionaryAttr):
        values = {name: changed(value) for name, value in attribute.data.items()}
        return attribute if _same(values.values(), attribute.data.values()) else DictionaryAttr(values)
    if isinstance(attribute, ParametrizedAttribute):
        parts = [changed(item) for item in attribute.parameters]
        return attribute if _same(parts, attribute.parameters) else type(attribute).new(parts)
    return attribute


def _same(new: Iterable[Attribute], old: Iterable[Attribute]) -> bool:
    return all(one is other for one, other in zip(new, old, strict=True))


def relay_captured(module: ModuleOp, first: int, layouts: Mapping[int, LayoutSpec], updated: Mapping[int, int]) -> None:
    """
    Lets a traced program take some captured arrays in other layouts, in place.

    `layouts` are those of the arguments that come after the first `first`, counted from there; `updated` says which of
    them has its new value in which of the last results.
    """
    function = entry_function(module)
    for place, spec in layouts.items():
        argument = function.args[first + place]
        retype(argument, with_layout(argument.type, spec))
    last = function.get_return_op()
    assert last is not None
    for place, result in updated.items():
        if place in layouts:
            _relay_result(last, result, layouts[place])
    function.update_function_type()


def _relay_result(last: ReturnOp, place: int, spec: LayoutSpec) -> None:
    """Gives a result another layout; what brought it into the old one goes, if nobody else uses that."""
    value = last.operands[place]
    owner = value.owner
    source = owner.operand if isinstance(owner, RelayoutOp) else value
    relayout = insert_before(last, RelayoutOp(source, spec, "a variable keeps its layout"))
    last.operands[place] = relayout.results[0]
    if isinstance(owner, RelayoutOp) and source is not value and not any(owner.result.uses):
        assert owner.parent is not None
        owner.parent.erase_op(owner)
