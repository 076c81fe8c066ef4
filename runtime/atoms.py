"""
Mesh atoms: the leading dims of stacked arrays.

A stacked array holds one local value of every device: leading dims for the mesh, then the local shape. Where layouts
use parts of an axis (`"x":(2)4`), the axis is cut at the parts' borders; the pieces are its *atoms*. A leading dim has
the atom's size, or 1 where the value is the same along it.

Parts of an axis may cross, as the halves and thirds of six devices do: no pieces make up both. There, between two
borders that all parts respect (a `Stretch`), the pieces are those of some of the parts, and `Atoms.fitting` gives those
of others in their place: as many, so that one is reshaped to the other.

Where several processes run a program each holds a block of the mesh: of the first axes one coordinate. The atoms there
are *across* the processes, and have size 1 in every array that a process holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.layout.axes import Axis
from shardwright.layout.forms.clients import ALONE, Clients
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec

DimAtoms = tuple[tuple[int, ...], ...]
"""For each dim the positions of the atoms that split it, major to minor."""


@dataclass(frozen=True)
class Stretch:
    """The digits `[start, stop)` of an axis in which parts cross, and the positions of the atoms there."""

    name: str
    start: int
    stop: int
    first: int
    count: int

    @property
    def positions(self) -> range:
        """Where its atoms are."""
        return range(self.first, self.first + self.count)


@dataclass(frozen=True)
class Atoms:
    """
    The pieces into which a mesh's axes are cut, major to minor; position `i` is leading dim `i` of stacked arrays.

    >>> atoms = Atoms.cut(Mesh([("x", 8)]), [Axis("x", 1, 2)])
    >>> atoms.sizes, atoms.positions([Axis("x")])
    ((2, 4), (0, 1))
    """

    mesh: Mesh
    axes: tuple[Axis, ...]
    clients: Clients = ALONE
    stretches: tuple[Stretch, ...] = ()

    @staticmethod
    def cut(mesh: Mesh, used: Iterable[Axis], clients: Clients = ALONE) -> Atoms:
        """
        The mesh's axes cut at the borders of all `used` parts, and where the block of one of several processes ends.

        Raises `ValueError` for parts that cross (SW0603) and for blocks that are no boxes of the mesh (SW0120).
        """
        pieces: list[Axis] = []
        for name, cuts in _borders(mesh, used, clients).items():
            pieces += _between(name, sorted(cuts), mesh)
        return Atoms(mesh, tuple(pieces), clients)

    @staticmethod
    def spanning(mesh: Mesh, used: Iterable[Axis], clients: Clients = ALONE) -> Atoms:
        """
        The same for parts of which some cross each other: then the atoms are those of some, and `fitting` finds others.

        Raises `ValueError` (SW0603) for parts that cross where the block of a process ends.

        >>> atoms = Atoms.spanning(Mesh(x=12), [Axis("x", 1, 2), Axis("x", 1, 3)])
        >>> atoms.sizes, atoms.fitting([Axis("x", 1, 3)]).sizes
        ((2, 6, 1), (3, 4, 1))
        """
        ends = mesh.client_borders(clients.count)
        pieces, stretches = list[Axis](), list[Stretch]()
        for name, cuts in _borders(mesh, used, clients).items():
            ordered = sorted(cuts)
            respected = [cut for cut in ordered if all(other % cut == 0 or cut % other == 0 for other in ordered)]
            if name in ends and ends[name] not in respected:
                other = next(cut for cut in ordered if cut % ends[name] and ends[name] % cut)
                raise _crossing(name, min(ends[name], other), max(ends[name], other), mesh)
            if len(respected) == 1:
                pieces.append(Axis(name))
            for start, stop in pairwise(respected):
                inside = [cut for cut in ordered if start < cut < stop]
                if inside:  # not all of them nest: each that nests with all others is respected
                    stretches.append(Stretch(name, start, stop, len(pieces), len(inside) + 1))
                    pieces += _filled(stretches[-1], _nesting(inside), mesh)
                else:
                    pieces.append(mesh.part(name, start, stop))
        return Atoms(mesh, tuple(pieces), clients, tuple(stretches))

    def fitting(self, used: Iterable[Axis]) -> Atoms:
        """
        As many atoms of which these parts are made up; the same ones where they do.

        Raises `ValueError` (SW0603) where the parts cross each other.
        """
        pieces, wanted = list(self.axes), list(used) if self.stretches else []
        for stretch in self.stretches:
            marks = {mark for axis in wanted if axis.name == stretch.name for mark in self.mesh.span(axis)}
            inside = sorted(mark for mark in marks if stretch.start < mark < stretch.stop)
            if not set(inside) <= {self.mesh.span(self.axes[at])[1] for at in stretch.positions}:
                pieces[stretch.first : stretch.first + stretch.count] = _filled(stretch, inside, self.mesh)
        return self if tuple(pieces) == self.axes else replace(self, axes=tuple(pieces))

    def refitting(self, shape: Sequence[int], other: Atoms) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """
        How a stacked array comes to have the leading dims of `other`, whose stretches are cut in another way.

        It is filled up to the first shape and reshaped to the second. What varies along a part of a stretch does so
        along all of it then.
        """
        full, parts = list(shape), list(shape)
        for stretch in self.stretches:
            if any(shape[at] > 1 for at in stretch.positions):
                for at in stretch.positions:
                    full[at], parts[at] = self.held[at], other.held[at]
        return tuple(full), tuple(parts)

    def differing(self, across: frozenset[int], other: Atoms) -> frozenset[int]:
        """The atoms of `other` across processes along which a value differs that does so along these of ours."""
        for stretch in self.stretches:
            if not across.isdisjoint(stretch.positions):
                across = across.difference(stretch.positions).union(other.across.intersection(stretch.positions))
        return across

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The size of each atom."""
        return tuple(self.mesh.axis_size(axis) for axis in self.axes)

    @cached_property
    def across(self) -> frozenset[int]:
        """The positions of the atoms along which processes differ: the first ones with parts, up to their number."""
        found, processes = list[int](), 1
        for position, size in enumerate(self.sizes):
            if processes < self.clients.count and size > 1:
                found.append(position)
                processes *= size
        return frozenset(found)

    @cached_property
    def held(self) -> tuple[int, ...]:
        """The size of each atom in the arrays of one process: 1 across processes."""
        return tuple(1 if position in self.across else size for position, size in enumerate(self.sizes))

    @cached_property
    def coordinates(self) -> dict[int, int]:
        """This process's index along each atom across processes."""
        return self.coordinates_of(self.clients.place)

    def coordinates_of(self, place: int) -> dict[int, int]:
        """
        The index along each atom across processes of the process with this number.

        >>> Atoms.cut(Mesh(x=2, y=4), [], Clients(4, 0)).coordinates_of(3)
        {0: 1, 1: 1}
        """
        found = dict[int, int]()
        for position in sorted(self.across, reverse=True):
            place, found[position] = divmod(place, self.sizes[position])
        return dict(sorted(found.items()))

    @property
    def count(self) -> int:
        """The number of leading dims."""
        return len(self.axes)

    def positions(self, axes: Iterable[Axis]) -> tuple[int, ...]:
        """The positions of the atoms that make up `axes`, in the order given."""
        return tuple(position for axis in axes for position in self._inside(axis))

    def _inside(self, axis: Axis) -> list[int]:
        start, stop = self.mesh.span(axis)
        found = [
            position
            for position, atom in enumerate(self.axes)
            if atom.name == axis.name
            and atom.size != 1  # it fills up a stretch
            and start <= self.mesh.span(atom)[0]
            and self.mesh.span(atom)[1] <= stop
        ]
        assert math.prod(self.sizes[position] for position in found) == self.mesh.axis_size(axis)
        return found

    def dims(self, spec: LayoutSpec) -> DimAtoms:
        """The atoms that split each dim of a layout."""
        return tuple(self.positions(axes) for axes in spec.dims)

    def lead(self, positions: Iterable[int]) -> tuple[int, ...]:
        """The leading shape of a value that varies along the atoms at `positions`."""
        varying = set(positions)
        return tuple(size if position in varying else 1 for position, size in enumerate(self.held))

    def held_dims(self, dims: DimAtoms) -> DimAtoms:
        """Of the atoms that split each dim those that lie in this process."""
        return tuple(tuple(at for at in positions if at not in self.across) for positions in dims)

    def group_size(self, positions: Iterable[int]) -> int:
        """The number of devices that differ only along the atoms at `positions`."""
        return math.prod(self.sizes[position] for position in positions)

    def merging(self, shape: Sequence[int], dims: DimAtoms) -> tuple[tuple[int, ...], list[int], tuple[int, ...]]:
        """
        How the leading dims of each dim's atoms come to lie in front of it, merged with it: what a gather does.

        A stacked array of this shape is broadcast to the first, transposed to the order and reshaped to the last; the
        leading dims keep size 1.

        >>> Atoms.cut(Mesh([("x", 4)]), []).merging((1, 3), ((0,),))
        ((4, 3), [0, 1], (1, 12))
        """
        count = self.count
        moved = {position for positions in dims for position in positions}
        lead = [self.sizes[at] if at in moved else extent for at, extent in enumerate(shape[:count])]
        order = [position for position in range(count) if position not in moved]
        merged = [1 if position in moved else extent for position, extent in enumerate(lead)]
        for dim, positions in enumerate(dims):
            order += [*positions, count + dim]
            merged.append(shape[count + dim] * self.group_size(positions))
        return (*lead, *shape[count:]), order, tuple(merged)

    def splitting(self, shape: Sequence[int], dims: DimAtoms) -> tuple[tuple[int, ...], dict[int, int], list[int]]:
        """
        How each dim's major parts become the leading dims of its atoms: what a slice does, the inverse of `merging`.

        A stacked array is reshaped to the first and transposed to the order, whose last dims (of size 1: the old
        leading dims) then go. In between stands at which dim of the first each moved dim of the result lies.

        >>> Atoms.cut(Mesh([("x", 4)]), []).splitting((1, 12), ((0,),))
        ((1, 4, 3), {0: 1, 1: 2}, [1, 2, 0])
        """
        parts, places = list(shape[: self.count]), dict[int, int]()
        for dim, positions in enumerate(dims):
            for position in positions:
                places[position] = len(parts)
                parts.append(self.sizes[position])
            places[self.count + dim] = len(parts)
            parts.append(shape[self.count + dim] // self.group_size(positions))
        order = [places.get(at, at) for at in range(self.count + len(dims))]
        return tuple(parts), places, [*order, *(at for at in range(len(parts)) if at not in order)]


def _borders(mesh: Mesh, used: Iterable[Axis], clients: Clients) -> dict[str, set[int]]:
    """Where each axis is cut: at the ends of parts, and where the block of one of several processes ends."""
    borders = {name: {1, size} for name, size in mesh.sizes.items()}
    for name, border in mesh.client_borders(clients.count).items():
        borders[name].add(border)
    for axis in used:
        borders[axis.name].update(mesh.span(axis))
    return borders


def _between(name: str, cuts: Sequence[int], mesh: Mesh) -> list[Axis]:
    """The pieces of an axis between these cuts, which nest (else SW0603)."""
    if len(cuts) == 1:
        return [Axis(name)]
    for start, stop in pairwise(cuts):
        if stop % start:
            raise _crossing(name, start, stop, mesh)
    return [mesh.part(name, start, stop) for start, stop in pairwise(cuts)]


def _nesting(cuts: Sequence[int]) -> list[int]:
    """The first of these cuts, and those after it that nest with all before."""
    found: list[int] = []
    for cut in cuts:
        if not found or cut % found[-1] == 0:
            found.append(cut)
    return found


def _filled(stretch: Stretch, cuts: Sequence[int], mesh: Mesh) -> list[Axis]:
    """As many pieces as the stretch has: those between these cuts inside of it, and some of size one at its end."""
    pieces = _between(stretch.name, (stretch.start, *cuts, stretch.stop), mesh)
    return [*pieces, *[Axis(stretch.name, stretch.stop, 1)] * (stretch.count - len(pieces))]


def _crossing(name: str, start: int, stop: int, mesh: Mesh) -> ShardwrightValueError:
    return ShardwrightValueError(
        Diagnostic(
            "SW0603",
            f"parts of axis {name!r} cross: one ends after {start} digits and another after {stop}, and {start} does "
            f"not divide {stop}",
            notes=(f"the mesh is {mesh}",),
            help="use parts of the axis that nest, such as (1)2 and (2)4, or one process for each device",
        )
    )
