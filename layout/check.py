"""Whether a layout fits a tensor on a mesh: the one check that every reader of layouts runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

from shardwright.diagnostics import Diagnostic
from shardwright.diagnostics.suggestions import also
from shardwright.layout.axes import Axis, overlap, part, quoted, span, symbol
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec


@lru_cache(maxsize=1 << 14)
def check_spec(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh, *, uneven: bool = False) -> Diagnostic | None:
    """
    The first reason why `spec` cannot lay out a tensor of `shape` on `mesh`, or `None` when it can.

    Where `uneven` splits may be, a dim need not divide: the last parts are shorter.

    >>> mesh = Mesh([("x", 4), ("y", 2)])
    >>> print(check_spec(LayoutSpec("mesh", ((Axis("x"),),)), (6,), mesh))
    error[SW0104]: dim 0 has 6 elements and does not split evenly over x=4
      note: the mesh is Mesh(x=4, y=2)
      help: axes that divide 6: y=2, x:(1)2; sizes that fit: 4, 8
    >>> check_spec(LayoutSpec("mesh", ((Axis("x"),),)), (8,), mesh) is None
    True
    """
    for check in _CHECKS if uneven else (*_CHECKS, _check_even):
        fault = check(spec, shape, mesh)
        if fault is not None:
            return fault
    return None


def _check_rank(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> Diagnostic | None:
    if spec.rank == len(shape):
        return None
    return Diagnostic(
        "SW0106",
        f"the layout {spec.body()} has {spec.rank} dims, but the tensor has {len(shape)}",
        help=f"write one {{...}} for each of the {len(shape)} dims",
    )


def _check_axes_exist(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> Diagnostic | None:
    for _, axis in _placed_axes(spec):
        if axis.name not in mesh.sizes:
            return Diagnostic(
                "SW0102",
                f"mesh {symbol(spec.mesh)} has no axis {axis.name!r}",
                help=also(axis.name, mesh.axis_names, f"its axes are {_axis_sizes(mesh, mesh.axis_names)}")
                if mesh.sizes
                else "it has no axes",
                word=quoted(axis.name),
            )
    return None


def _check_parts(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> Diagnostic | None:
    for _, axis in _placed_axes(spec):
        full = mesh.sizes[axis.name]
        if axis.whole or (axis.pre >= 1 and full > axis.size >= 2 and full % (axis.pre * axis.size) == 0):
            continue
        if axis.size == full and axis.pre == 1:
            message, name = f"{axis} is all of axis {axis.name!r}, and no part of it", quoted(axis.name)
            return Diagnostic("SW0107", message, help=f"write {name}", word=str(axis))
        return Diagnostic(
            "SW0107",
            f"{axis} is no part of axis {axis.name!r}, which has size {full}",
            notes=("in (pre)size, pre times size must divide the size of the axis, and size must be at least 2",),
            help=f"sizes that divide {full}: {', '.join(map(str, _divisors(full)))}",
            word=str(axis),
        )
    return None


def _check_axes_once(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> Diagnostic | None:
    seen: dict[str, list[tuple[str, Axis]]] = {}
    for place, axis in _placed_axes(spec):
        for other_place, other in seen.setdefault(axis.name, []):
            if overlap(axis, other, mesh.sizes[axis.name]):
                return Diagnostic(
                    "SW0105",
                    f"axis {axis.name!r} is used twice: by {other_place} and by {place}",
                    notes=(f"the layout is {spec.body()}",),
                    help="an axis can split one dim once; drop one of the two uses, or split the axis into sub-axes",
                    word=quoted(axis.name),
                    earlier="first used here",
                )
        seen[axis.name].append((place, axis))
    return None


def _check_nested(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> Diagnostic | None:
    marks: dict[str, set[int]] = {}
    for _, axis in _placed_axes(spec):
        marks.setdefault(axis.name, set()).update(span(axis, mesh.sizes[axis.name]))
    for name, found in marks.items():
        for low, high in pairwise(sorted(found)):
            if high % low:
                return _crossing(spec, name, low, high, mesh.sizes[name])
    return None


def _check_even(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> Diagnostic | None:
    for dim, axes in enumerate(spec.dims):
        parts = math.prod(mesh.axis_size(axis) for axis in axes)
        if shape[dim] % parts:
            return _uneven(dim, shape[dim], parts, axes, mesh)
    return None


_CHECKS: tuple[Callable[[LayoutSpec, tuple[int, ...], Mesh], Diagnostic | None], ...] = (
    _check_rank,
    _check_axes_exist,
    _check_parts,
    _check_axes_once,
    _check_nested,
)


def _uneven(dim: int, size: int, parts: int, axes: tuple[Axis, ...], mesh: Mesh) -> Diagnostic:
    over = " x ".join(f"{axis.brief()}={mesh.axis_size(axis)}" for axis in axes)
    fitting = [f"{name}={full}" for name, full in mesh.sizes.items() if full > 1 and size % full == 0]
    pieces = [(name, full, math.gcd(size, full)) for name, full in mesh.sizes.items() if size % full]
    fitting += [part(name, 1, shared, full).brief() for name, full, shared in pieces if shared > 1]
    choices = f"axes that divide {size}: {', '.join(fitting)}" if fitting else f"no axis divides {size}"
    below = size // parts * parts
    return Diagnostic(
        "SW0104",
        f"dim {dim} has {size} elements and does not split evenly over {over}",
        notes=(f"the mesh is {mesh!r}",),
        help=f"{choices}; sizes that fit: {f'{below}, ' if below else ''}{below + parts}",
        word=quoted(axes[0].name),
    )


def _crossing(spec: LayoutSpec, name: str, low: int, high: int, full: int) -> Diagnostic:
    first, second = ((part(name, 1, mark, full), part(name, mark, full, full)) for mark in (low, high))
    choices = " or ".join(f"{major} with {minor}" for major, minor in (first, second))
    return Diagnostic(
        "SW0107",
        f"parts of axis {name!r}, which has size {full}, cross: it is cut after {low} and after {high}",
        notes=(f"the layout is {spec.body()}", f"parts of an axis nest: {low} would have to divide {high}"),
        help=f"cut the axis in one place, as in {choices}",
    )


def _placed_axes(spec: LayoutSpec) -> list[tuple[str, Axis]]:
    placed = [(f"dim {dim}", axis) for dim, axes in enumerate(spec.dims) for axis in axes]
    placed += [("the unreduced axes", axis) for axis in spec.partial]
    return placed + [("the replicated axes", axis) for axis in spec.withheld]


def _axis_sizes(mesh: Mesh, names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"{name}={mesh.sizes[name]}" for name in names)


def _divisors(size: int) -> list[int]:
    small = [divisor for divisor in range(2, math.isqrt(size) + 1) if size % divisor == 0]
    return sorted({*small, *(size // divisor for divisor in small)})
