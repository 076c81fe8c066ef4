"""Lists of devices as mesh axes, and back by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from shardwright.layout.axes import Axis
from shardwright.layout.forms.groups import axes_of_digits, axes_of_groups, pairs_as_sources
from shardwright.layout.mesh import Mesh

CUBE = Mesh([("a", 2), ("b", 3), ("c", 4)])


def groups_along(mesh: Mesh, axes: tuple[str, ...]) -> list[list[int]]:
    """Device numbers, a row for each group that differs along `axes`, in their order."""
    names = list(mesh.axis_names)
    rest = [name for name in names if name not in axes]
    ids = np.arange(mesh.size).reshape(mesh.shape)
    order = [names.index(name) for name in (*rest, *axes)]
    return ids.transpose(order).reshape(-1, mesh.group_size(map(Axis, axes))).tolist()


@pytest.mark.parametrize(
    "axes", [axes for count in range(4) for axes in itertools.permutations(("a", "b", "c"), count)], ids=str
)
def test_groups_along_whole_axes(axes: tuple[str, ...]) -> None:
    assert axes_of_groups(groups_along(CUBE, axes), CUBE) == tuple(map(Axis, axes))


def test_the_order_of_groups_does_not_matter() -> None:
    assert axes_of_groups([[4, 5], [0, 1], [6, 7], [2, 3]], Mesh([("x", 4), ("y", 2)])) == (Axis("y"),)


def test_parts_of_axes() -> None:
    mesh = Mesh(x=12)
    ids = np.arange(12)
    assert axes_of_groups(ids.reshape(3, 4).tolist(), mesh) == (Axis("x", 3, 4),)
    assert axes_of_groups(ids.reshape(3, 4).T.tolist(), mesh) == (Axis("x", 1, 3),)
    assert axes_of_groups(ids.reshape(3, 2, 2).transpose(0, 2, 1).reshape(6, 2).tolist(), mesh) == (Axis("x", 3, 2),)


def test_groups_that_straddle_axes_are_parts_of_both() -> None:
    mesh = Mesh([("x", 2), ("y", 4)])
    groups = np.arange(8).reshape(2, 2, 2).transpose(2, 0, 1).reshape(2, 4).tolist()
    assert axes_of_groups(groups, mesh) == (Axis("x"), Axis("y", 1, 2))


@pytest.mark.parametrize(
    "groups",
    [
        [],
        [[0, 1]],
        [[0, 1, 2, 3], [3, 2, 1, 0]],
        [[0, 1, 2], [3, -1, -1]],
        [[0, 3], [1, 2]],
        [[1, 0], [2, 3]],
        [[0, 1], [3, 2]],
        [[1, 3, 2, 0]],
        [[0, 0]],
    ],
    ids=str,
)
def test_what_is_no_axes(groups: list[list[int]]) -> None:
    assert axes_of_groups(groups, Mesh(x=4)) is None


def test_groups_in_another_order_are_no_axes() -> None:
    assert axes_of_groups([[0, 1, 2, 3], [4, 6, 5, 7]], Mesh(x=8)) is None
    assert axes_of_groups([[0, 1, 2, 3], [4, 5, 6, 7]], Mesh(x=8)) == (Axis("x", 2, 4),)


def test_digits_that_cut_a_position_are_no_axes() -> None:
    assert axes_of_digits(1, 2, Mesh([("x", 2), ("y", 3)])) is None
    assert axes_of_digits(3, 2, Mesh([("x", 2), ("y", 3)])) == (Axis("x"),)
    # Steps of two up to four within nine: two times two is what a part of that size would be, but nine has none.
    assert axes_of_digits(2, 2, Mesh(x=9)) is None
    assert axes_of_digits(2, 9, Mesh([("x", 2), ("y", 9)])) is None


@pytest.mark.parametrize("seed", range(20))
def test_pairs_say_the_same_along_their_axes(seed: int) -> None:
    """Pairs made of a random map along random axes are found again as no more than these axes."""
    random = np.random.default_rng(seed)
    names = list(CUBE.axis_names)
    chosen = [name for name in names if random.random() < 0.5]
    groups = groups_along(CUBE, tuple(chosen))
    size = len(groups[0])
    moves = [(int(s), int(t)) for s, t in zip(random.permutation(size), random.permutation(size), strict=True)]
    moves = moves[: int(random.integers(1, size + 1))]
    pairs = [(group[s], group[t]) for group in groups for s, t in moves]
    axes, sources = pairs_as_sources(pairs, CUBE)
    assert {axis.name for axis in axes} <= set(chosen)
    found = groups_along(CUBE, tuple(axis.name for axis in axes))
    back = {(group[source], group[target]) for group in found for target, source in enumerate(sources) if source >= 0}
    assert back == set(pairs)
