"""
Groups of devices as mesh axes: what a dense list of device numbers says in the mesh's own words.

Devices are numbered row-major over the mesh. Lists come from users' programs; nothing else in the compiler has any.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from shardwright.layout.axes import Axis, part
from shardwright.layout.mesh import Mesh

Digits = tuple[int, int]
"""`size` positions, each `stride` devices after the one before."""


def axes_of_groups(groups: Sequence[Sequence[int]], mesh: Mesh) -> tuple[Axis, ...] | None:
    """
    The axes, major to minor, along which the devices of each group differ, in the groups' order.

    None when the groups are no axes: of different lengths, not all devices once, or irregular.

    >>> mesh = Mesh([("x", 4), ("y", 2)])
    >>> axes_of_groups([[0, 2, 4, 6], [1, 3, 5, 7]], mesh)
    (Axis(name='x', pre=1, size=0),)
    >>> [axis.brief() for axis in axes_of_groups([[0, 4, 1, 5], [2, 6, 3, 7]], mesh)]
    ['y', 'x:(1)2']
    >>> axes_of_groups([[0, 1, 2], [3, 4, 5]], Mesh(x=6)), axes_of_groups([[0, 3], [1, 2]], Mesh(x=4))
    ((Axis(name='x', pre=2, size=3),), None)
    """
    if sorted(device for group in groups for device in group) != list(range(mesh.size)):
        return None
    first = groups[0]
    offsets = [device - first[0] for device in first]
    digits = digits_of(offsets)
    if digits is None:
        return None
    for group in groups:
        if [device - group[0] for device in group] != offsets:
            return None
        if any(group[0] // stride % size for stride, size in digits):
            return None
    return _axes(digits, mesh)


def axes_of_digits(stride: int, size: int, mesh: Mesh) -> tuple[Axis, ...] | None:
    """
    The axes whose index is `device // stride % size`; None when a border falls inside of a position.

    >>> mesh = Mesh([("x", 4), ("y", 6)])
    >>> axes_of_digits(6, 4, mesh), [axis.brief() for axis in axes_of_digits(3, 4, mesh)]
    ((Axis(name='x', pre=1, size=0),), ['x:(2)2', 'y:(1)2'])
    >>> axes_of_digits(4, 2, mesh) is None
    True
    """
    found: list[Axis] = []
    weight = mesh.size
    for name, full in mesh.sizes.items():
        top, weight = weight, weight // full
        low, high = max(stride, weight), min(stride * size, top)
        if low >= high:
            continue
        if top % high or low % weight:
            return None
        found.append(part(name, top // high, top // low, full))
    return tuple(found) if mesh.group_size(found) == size else None


def pairs_as_sources(pairs: Iterable[tuple[int, int]], mesh: Mesh) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """
    Pairs of a source and a target device as the fewest axes that say the same, and each device's source along them.

    The source is -1 for devices that receive nothing.

    >>> pairs_as_sources([(0, 2), (2, 4), (1, 3), (3, 5)], Mesh([("x", 4), ("y", 2)]))
    ((Axis(name='x', pre=1, size=0),), (-1, 0, 1, -1))
    """
    left = {(source, target) for source, target in pairs}
    weight, kept = mesh.size, list[tuple[str, int, int]]()
    for name, full in mesh.sizes.items():
        weight //= full
        reduced = _without(left, weight, full)
        if reduced is None:
            kept.append((name, weight, full))
        else:
            left = reduced
    sources = [-1] * math.prod(full for _, _, full in kept)
    for source, target in left:
        sources[_index(target, kept)] = _index(source, kept)
    return tuple(Axis(name) for name, _, _ in kept), tuple(sources)


def _without(pairs: set[tuple[int, int]], weight: int, full: int) -> set[tuple[int, int]] | None:
    """The pairs at position 0 of an axis, if all its positions have the same pairs and none leads to another."""
    if any(source // weight % full != target // weight % full for source, target in pairs):
        return None
    reduced = {
        (source - source // weight % full * weight, target - target // weight % full * weight)
        for source, target in pairs
    }
    return reduced if len(reduced) * full == len(pairs) else None


def _index(device: int, axes: Sequence[tuple[str, int, int]]) -> int:
    index = 0
    for _, weight, full in axes:
        index = index * full + device // weight % full
    return index


def digits_of(offsets: Sequence[int]) -> list[Digits] | None:
    """The digits, minor to major, that count through `offsets`."""
    digits: list[Digits] = []
    done = 1
    while done < len(offsets):
        stride, size = offsets[done], 1
        if stride <= 0:
            return None
        while size * done < len(offsets) and offsets[size * done] == size * stride:
            size += 1
        digits.append((stride, size))
        done *= size
    return digits if done == len(offsets) else None


def _axes(digits: Sequence[Digits], mesh: Mesh) -> tuple[Axis, ...] | None:
    """The axes of digits given minor to major; None when they are not parts of axes."""
    found: list[Axis] = []
    for stride, size in reversed(digits):
        axes = axes_of_digits(stride, size, mesh)
        if axes is None:
            return None
        found += axes
    return tuple(found)
