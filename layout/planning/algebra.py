"""
What each collective makes of a layout: one pure function per collective, used by verifiers and by the planner.

Every function takes and returns `LayoutSpec`s on global tensors, raises `ValueError` with a precise message where the
collective does not apply, and returns canonical spellings. Parts of axes are handled digit by digit: taking
`"x":(2)4` away from a dim split by all of `"x"` (8) leaves `"x":(1)2`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from shardwright.layout.axes import Axis, merge_adjacent, overlap, part, span
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec

DimAxes = Sequence[Sequence[Axis]]

Digits = tuple[str, int, int]
"""Digits `[start, stop)` of a mesh axis: `("x", 2, 8)` is `"x":(2)4`."""


@lru_cache(maxsize=1 << 14)
def canonical(spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
    """
    The one spelling of a layout: neighbours joined, axes of size 1 dropped, partial axes in the mesh's order.

    >>> spec = LayoutSpec("mesh", ((Axis("x", 1, 2), Axis("x", 2, 4)),), partial=(Axis("z"), Axis("y")), kind="sum")
    >>> print(canonical(spec, Mesh(x=8, y=2, z=2)))
    <@mesh, [{"x"}], unreduced=sum{"y", "z"}>
    """
    dims = tuple(_tidy(dim, mesh) for dim in spec.dims)
    partial = _tidy(_in_mesh_order(spec.partial, mesh), mesh)
    if dims == spec.dims and partial == spec.partial:
        return spec
    return LayoutSpec(spec.mesh, dims, spec.open_dims, partial, spec.kind if partial else "")


def tidy_partial(spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
    """The layout with its partial axes in their one spelling, and its dims as they are."""
    partial = _tidy(_in_mesh_order(spec.partial, mesh), mesh)
    return spec if partial == spec.partial else spec.with_partial(partial, spec.kind if partial else "")


def local_shape(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
    """
    The shape that one device holds of a tensor of `shape`.

    Raises `ValueError` when a dim does not split evenly.

    >>> local_shape(LayoutSpec("mesh", ((Axis("x"),), ())), (16, 3), Mesh(x=4))
    (4, 3)
    """
    if spec.rank != len(shape):
        raise ValueError(f"the layout {spec.body()} has {spec.rank} dims, but the tensor has {len(shape)}")
    local: list[int] = []
    for dim, (size, axes) in enumerate(zip(shape, spec.dims, strict=True)):
        parts = mesh.group_size(axes)
        if size % parts:
            raise ValueError(f"dim {dim} has {size} elements and does not split evenly into {parts} parts")
        local.append(size // parts)
    return tuple(local)


def whole_shape(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
    """
    The shape that all parts of a tensor of `shape` make up when each is as large as the first: the next that divides.

    >>> whole_shape(LayoutSpec("mesh", ((Axis("x"),), ())), (10, 3), Mesh(x=4))
    (12, 3)
    """
    sizes = ((size, mesh.group_size(axes)) for size, axes in zip(shape, spec.dims, strict=True))
    return tuple(-(-size // parts) * parts for size, parts in sizes)


def shards(spec: LayoutSpec, mesh: Mesh) -> int:
    """The number of different boxes into which the layout cuts the tensor."""
    return math.prod(mesh.group_size(dim) for dim in spec.dims)


def all_reduce(spec: LayoutSpec, axes: Iterable[Axis], mesh: Mesh) -> LayoutSpec:
    """
    The partial `axes` disappear.

    >>> partial = LayoutSpec("mesh", ((Axis("x"),),), partial=(Axis("y"),), kind="sum")
    >>> print(all_reduce(partial, [Axis("y")], Mesh(x=2, y=2)))
    <@mesh, [{"x"}]>
    """
    partial = _without_partial(spec, _digits(axes, mesh), mesh)
    return _result(spec, [list(dim) for dim in spec.dims], partial, mesh)


def reduce_scatter(spec: LayoutSpec, dim_axes: DimAxes, mesh: Mesh) -> LayoutSpec:
    """
    The partial axes named for each dim disappear and split that dim further, at its minor end.

    >>> partial = LayoutSpec("mesh", ((), ()), partial=(Axis("y"),), kind="sum")
    >>> print(reduce_scatter(partial, [[], [Axis("y")]], Mesh(x=2, y=2)))
    <@mesh, [{}, {"y"}]>
    """
    _check_rank(spec, dim_axes)
    scattered = [axis for axes in dim_axes for axis in axes]
    partial = _without_partial(spec, _digits(scattered, mesh), mesh)
    dims = [[*dim, *axes] for dim, axes in zip(spec.dims, dim_axes, strict=True)]
    return _result(spec, dims, partial, mesh)


def unreduce(spec: LayoutSpec, axes: Iterable[Axis], kind: str, mesh: Mesh) -> LayoutSpec:
    """
    The value becomes partial over `axes`, which the layout must not use yet.

    >>> print(unreduce(LayoutSpec("mesh", ((Axis("x"),),)), [Axis("y")], "sum", Mesh(x=2, y=2)))
    <@mesh, [{"x"}], unreduced=sum{"y"}>
    """
    if spec.partial and spec.kind != kind:
        raise ValueError(f"partial results that combine by {spec.kind} cannot become {kind}")
    used = list(spec.axes())
    for axis in axes:
        _digits([axis], mesh)
        taken = next((other for other in used if overlap(axis, other, mesh.sizes[axis.name])), None)
        if taken is not None:
            raise ValueError(f"cannot make partial over {axis}: {spec.body()} uses {taken} already")
        used.append(axis)
    return canonical(spec.close().with_partial((*spec.partial, *axes), kind), mesh)


def unscatter(spec: LayoutSpec, dim_axes: DimAxes, kind: str, mesh: Mesh) -> LayoutSpec:
    """
    The axes named for each dim, at its minor end, no longer split it: the value becomes partial over them.

    >>> print(unscatter(LayoutSpec("mesh", ((Axis("x"), Axis("y")),)), [[Axis("y")]], "sum", Mesh(x=2, y=2)))
    <@mesh, [{"x"}], unreduced=sum{"y"}>
    """
    return unreduce(all_gather(spec, dim_axes, mesh), [axis for axes in dim_axes for axis in axes], kind, mesh)


def all_gather(spec: LayoutSpec, dim_axes: DimAxes, mesh: Mesh) -> LayoutSpec:
    """
    The axes named for each dim no longer split it; they must be at its minor end.

    >>> print(all_gather(LayoutSpec("mesh", ((Axis("x"),),)), [[Axis("x", 2, 4)]], Mesh(x=8)))
    <@mesh, [{"x":(1)2}]>
    """
    _check_rank(spec, dim_axes)
    dims = [_without_minor(spec, dim, axes, mesh) for dim, axes in enumerate(dim_axes)]
    return _result(spec, dims, spec.partial, mesh)


def all_slice(spec: LayoutSpec, dim_axes: DimAxes, mesh: Mesh) -> LayoutSpec:
    """
    The axes named for each dim split it further, at its minor end; the layout must not use them yet.

    >>> print(all_slice(LayoutSpec("mesh", ((Axis("x"),), ())), [[], [Axis("y")]], Mesh(x=2, y=2)))
    <@mesh, [{"x"}, {"y"}]>
    """
    _check_rank(spec, dim_axes)
    used = list(spec.axes())
    for dim, axes in enumerate(dim_axes):
        _digits(axes, mesh)
        for axis in axes:
            taken = next((other for other in used if overlap(axis, other, mesh.sizes[axis.name])), None)
            if taken is not None:
                raise ValueError(f"cannot slice dim {dim} along {axis}: {spec.body()} uses {taken} already")
            used.append(axis)
    dims = [[*dim, *axes] for dim, axes in zip(spec.dims, dim_axes, strict=True)]
    return _result(spec, dims, spec.partial, mesh)


def all_to_all(spec: LayoutSpec, axes: Sequence[Axis], source_dim: int, target_dim: int, mesh: Mesh) -> LayoutSpec:
    """
    The minor `axes` of one dim become the minor axes of another.

    >>> print(all_to_all(LayoutSpec("mesh", ((Axis("x"),), ())), [Axis("x")], 0, 1, Mesh(x=2)))
    <@mesh, [{}, {"x"}]>
    """
    for dim in (source_dim, target_dim):
        if not 0 <= dim < spec.rank:
            raise ValueError(f"there is no dim {dim} in {spec.body()}")
    if source_dim == target_dim:
        raise ValueError(f"an all_to_all needs two different dims, but both are dim {source_dim}")
    dims = [list(dim) for dim in spec.dims]
    dims[source_dim] = _without_minor(spec, source_dim, axes, mesh)
    dims[target_dim].extend(axes)
    return _result(spec, dims, spec.partial, mesh)


def check_permute(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> None:
    """
    Raises `ValueError` unless sending whole buffers around turns `source` into `target`.

    Each dim must be cut into as many parts before as after; which axes cut it may change.

    >>> x, y = (LayoutSpec("mesh", ((Axis(name),),)) for name in "xy")
    >>> check_permute(x, y, Mesh(x=2, y=2))
    >>> check_permute(x, y, Mesh(x=2, y=4))
    Traceback (most recent call last):
      ...
    ValueError: a permute keeps local shapes, but dim 0 has 2 parts in [{"x"}] and 4 in [{"y"}]
    """
    check_exchange(source, target, mesh)
    for dim, (before, after) in enumerate(zip(source.dims, target.dims, strict=True)):
        parts = mesh.group_size(before), mesh.group_size(after)
        if parts[0] != parts[1]:
            raise ValueError(
                f"a permute keeps local shapes, but dim {dim} has {parts[0]} parts in {source.body()} "
                f"and {parts[1]} in {target.body()}"
            )


def check_exchange(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> None:
    """Raises `ValueError` unless both layouts have the same mesh, rank and partial axes."""
    for spec in (source, target):
        _digits(spec.axes(), mesh)
    if source.mesh != target.mesh:
        raise ValueError(f"the layouts are on different meshes: @{source.mesh} and @{target.mesh}")
    if source.rank != target.rank:
        raise ValueError(f"the layouts have {source.rank} and {target.rank} dims")
    before, after = canonical(source, mesh), canonical(target, mesh)
    if (before.partial, before.kind) != (after.partial, after.kind):
        raise ValueError(f"only a reduction changes partial axes, but {source.body()} becomes {target.body()}")


def atom_digits(specs: Iterable[LayoutSpec], mesh: Mesh) -> list[Digits]:
    """
    The coarsest parts of axes such that every axis in `specs` is a sequence of them, in the mesh's order.

    Raises `ValueError` when no such parts exist, since two parts of an axis of size 6, say, cross as 2 x 3 and 3 x 2.

    >>> specs = LayoutSpec("mesh", ((Axis("x"),),)), LayoutSpec("mesh", ((Axis("x", 2, 2),),))
    >>> atom_digits(specs, Mesh(x=8))
    [('x', 1, 2), ('x', 2, 4), ('x', 4, 8)]
    """
    used = _used(specs, mesh)
    found: list[Digits] = []
    for name in mesh.sizes:
        marks = _marks(used.get(name, ()))
        for start, stop in pairwise(marks):
            if stop % start:
                raise ValueError(f"axis {name!r} is cut after {start} and after {stop}: these parts cross")
            if any(low <= start and stop <= high for low, high in used[name]):
                found.append((name, start, stop))
    return found


def crossing_axes(specs: Iterable[LayoutSpec], mesh: Mesh) -> frozenset[str]:
    """The names of the axes because of which `atom_digits` raises."""
    used = _used(specs, mesh)
    return frozenset(
        name for name, ranges in used.items() if any(stop % start for start, stop in pairwise(_marks(ranges)))
    )


def moved_axes(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> tuple[Axis, ...]:
    """
    The axes that split other elements in one layout than in another, in the order of the layouts.

    >>> x, y, z = map(Axis, "xyz")
    >>> def moved(*dims):
    ...     one, other = (LayoutSpec("mesh", each) for each in dims)
    ...     return [axis.name for axis in moved_axes(one, other, Mesh(x=2, y=2, z=2))]
    >>> moved(((x, y), ()), ((x,), (z,))), moved(((x, y),), ((y, x),)), moved(((x, y),), ((y,),))
    (['y', 'z'], ['x', 'y'], ['x', 'y'])
    """
    before, after = (dict(_places(spec, mesh)) for spec in (source, target))
    return tuple(axis for axis in dict.fromkeys((*before, *after)) if before.get(axis) != after.get(axis))


def _places(spec: LayoutSpec, mesh: Mesh) -> Iterator[tuple[Axis, tuple[int, int]]]:
    """Each axis with the dim that it splits, -1 for partial sums, and the parts into which others split it before."""
    for dim, axes in enumerate(spec.dims):
        parts = 1
        for axis in axes:
            yield axis, (dim, parts)
            parts *= mesh.axis_size(axis)
    for axis in spec.partial:
        yield axis, (-1, 0)


def without(spec: LayoutSpec, names: Collection[str]) -> LayoutSpec:
    """
    The layout without some axes of the mesh, and without parts of them.

    >>> print(without(LayoutSpec("mesh", ((Axis("x", 1, 2), Axis("y")),)), {"x"}))
    <@mesh, [{"y"}]>
    """
    dims = tuple(tuple(axis for axis in dim if axis.name not in names) for dim in spec.dims)
    partial = tuple(axis for axis in spec.partial if axis.name not in names)
    return spec.with_dims(dims).with_partial(partial, spec.kind)


def _used(specs: Iterable[LayoutSpec], mesh: Mesh) -> dict[str, list[tuple[int, int]]]:
    used: dict[str, list[tuple[int, int]]] = {}
    for spec in specs:
        for name, start, stop in _digits(spec.axes(), mesh):
            used.setdefault(name, []).append((start, stop))
    return used


def _marks(ranges: Iterable[tuple[int, int]]) -> list[int]:
    return sorted({mark for limits in ranges for mark in limits})


def spelled(axes: Iterable[Axis], atoms: Sequence[Digits], mesh: Mesh) -> tuple[int, ...]:
    """The numbers of the atoms that make up `axes`, major to minor."""
    spans = [(axis.name, *mesh.span(axis)) for axis in axes]
    return tuple(
        number
        for name, low, high in spans
        for number, (other, start, stop) in enumerate(atoms)
        if other == name and low <= start and stop <= high
    )


def _digits(axes: Iterable[Axis], mesh: Mesh) -> list[Digits]:
    """The axes as ranges of digits, size 1 dropped; `ValueError` for one that the mesh does not have."""
    found: list[Digits] = []
    for axis in axes:
        full = mesh.dim_size(axis.name)
        start, stop = span(axis, full)
        if start < 1 or full % stop:
            raise ValueError(f"{axis} is no part of an axis of size {full}")
        if start < stop:
            found.append((axis.name, start, stop))
    return found


def _tidy(axes: Iterable[Axis], mesh: Mesh) -> tuple[Axis, ...]:
    sizes = mesh.sizes
    return merge_adjacent((axis for axis in axes if (axis.size or sizes[axis.name]) > 1), sizes)


def _in_mesh_order(axes: Sequence[Axis], mesh: Mesh) -> Sequence[Axis]:
    if len(axes) < 2:
        return axes
    order = {name: index for index, name in enumerate(mesh.sizes)}
    return sorted(axes, key=lambda axis: (order[axis.name], axis.pre))


def _result(spec: LayoutSpec, dims: Iterable[Sequence[Axis]], partial: Sequence[Axis], mesh: Mesh) -> LayoutSpec:
    closed = LayoutSpec(spec.mesh, tuple(map(tuple, dims)), frozenset(), tuple(partial), spec.kind if partial else "")
    return canonical(closed, mesh)


def _check_rank(spec: LayoutSpec, dim_axes: DimAxes) -> None:
    if len(dim_axes) != spec.rank:
        raise ValueError(f"axes are given for {len(dim_axes)} dims, but {spec.body()} has {spec.rank}")


def _without_minor(spec: LayoutSpec, dim: int, axes: Sequence[Axis], mesh: Mesh) -> list[Axis]:
    """Dim `dim` without `axes`, which must be its minor end."""
    kept = _digits(_tidy(spec.dims[dim], mesh), mesh)
    _digits(axes, mesh)
    for name, start, stop in reversed(_digits(_tidy(axes, mesh), mesh)):
        if not kept or kept[-1][0] != name or kept[-1][2] != stop or start % kept[-1][1]:
            taken = mesh.part(name, start, stop)
            raise ValueError(f"{taken} is not at the minor end of dim {dim} of {spec.body()}")
        _, low, _ = kept.pop()
        if low < start:
            kept.append((name, low, start))
    return [mesh.part(*digits) for digits in kept]


def _without_partial(spec: LayoutSpec, taken: Iterable[Digits], mesh: Mesh) -> list[Axis]:
    """The partial axes without `taken`, which must be among them."""
    kept = _digits(_tidy(_in_mesh_order(spec.partial, mesh), mesh), mesh)
    for name, start, stop in taken:
        for index, (other, low, high) in enumerate(kept):
            if other == name and start % low == 0 and high % stop == 0:
                rest = [(name, low, start), (name, stop, high)]
                kept[index : index + 1] = [digits for digits in rest if digits[1] < digits[2]]
                break
        else:
            raise ValueError(f"{part(name, start, stop, mesh.sizes[name])} is not partial in {spec.body()}")
    return [mesh.part(*digits) for digits in kept]
