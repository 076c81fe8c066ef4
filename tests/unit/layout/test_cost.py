"""Costs against closed forms, and shares against brute force over every device's box."""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Iterator
from fractions import Fraction

import pytest

from shardwright.layout.axes import Axis, parse_axis
from shardwright.layout.boxes import box
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import local_shape
from shardwright.layout.planning.cost import messages, missing_share, moved_share, sent_bytes, sent_share
from shardwright.layout.spec import LayoutSpec


def layout(*dims: str) -> LayoutSpec:
    return LayoutSpec("mesh", tuple(tuple(map(parse_axis, dim.split())) for dim in dims))


def places(mesh: Mesh) -> Iterator[dict[str, int]]:
    for indices in itertools.product(*map(range, mesh.shape)):
        yield dict(zip(mesh.axis_names, indices, strict=True))


def brute_missing(source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> Fraction:
    missing = 0
    for place in places(mesh):
        before, after = box(source, shape, mesh, place), box(target, shape, mesh, place)
        held = math.prod(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a, b in zip(before, after, strict=True))
        missing += math.prod(stop - start for start, stop in after) - held
    return Fraction(missing, mesh.size * math.prod(shape))


def brute_moved(source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> Fraction:
    changed = sum(box(source, shape, mesh, place) != box(target, shape, mesh, place) for place in places(mesh))
    return Fraction(changed, mesh.size)


def random_layout(mesh: Mesh, rank: int, chance: random.Random) -> LayoutSpec:
    parts: list[Axis] = []
    for name, size in mesh.sizes.items():
        cuts = [cut for cut in range(2, size) if size % cut == 0]
        cut = chance.choice([1, *cuts])
        parts += [mesh.part(name, a, b) for a, b in ((1, cut), (cut, size)) if a < b]
    chance.shuffle(parts)
    dims: list[list[Axis]] = [[] for _ in range(rank + 1)]
    for axis in parts:
        chance.choice(dims).append(axis)
    return LayoutSpec("mesh", tuple(map(tuple, dims[:rank])))


MESHES = [
    Mesh(x=2, y=2, z=2), Mesh(x=4, y=2), Mesh(x=3, y=2), Mesh(x=6, y=4), Mesh(x=12), Mesh(x=2, y=3, z=5), Mesh(x=4, y=6)
]  # fmt: skip


@pytest.mark.parametrize("mesh", MESHES, ids=str)
def test_missing_and_moved_shares_are_what_the_boxes_say(mesh: Mesh) -> None:
    chance = random.Random(mesh.size)
    for _ in range(120):
        rank = chance.choice([1, 2, 3])
        shape = (mesh.size,) * rank
        source, target = random_layout(mesh, rank, chance), random_layout(mesh, rank, chance)
        share = missing_share(source, target, mesh)
        assert share == brute_missing(source, target, shape, mesh), f"{source} to {target}"
        if local_shape(source, shape, mesh) == local_shape(target, shape, mesh):
            assert moved_share(source, target, mesh) == brute_moved(source, target, shape, mesh)


def test_radices_that_do_not_nest_are_counted_exactly() -> None:
    mesh = Mesh(x=3, y=2)
    for pair in ((layout("x y"), layout("y x")), (layout("x", "y"), layout("y", "x")), (layout("x"), layout("y"))):
        shape = (6,) * pair[0].rank
        assert missing_share(*pair, mesh) == brute_missing(*pair, shape, mesh)


def test_radices_that_do_not_nest_have_a_limit() -> None:
    mesh = Mesh(x=3 << 19, y=2)
    assert missing_share(layout("x y"), layout("y x"), mesh) is None
    assert moved_share(layout("x y"), layout("y x"), mesh) is None


def test_parts_that_cross_are_counted_exactly() -> None:
    # Of six devices the first and the last two want a third that lies in their half, the two in the middle half of one.
    assert missing_share(layout("x:(1)2"), layout("x:(1)3"), Mesh(x=6)) == Fraction(2, 6) * Fraction(1, 6)
    # Of three times a million the same thirds and halves.
    assert missing_share(layout("x:(1)2"), layout("x:(1)3"), Mesh(x=6 << 19)) == Fraction(1, 18)
    mesh = Mesh(x=12, y=2)
    pair = layout("y x:(1)4", "x:(4)3"), layout("x:(1)6", "y x:(6)2")
    assert missing_share(*pair, mesh) == brute_missing(*pair, (24, 24), mesh)


def test_parts_that_cross_have_a_limit() -> None:
    mesh = Mesh(x=6 << 20)
    assert missing_share(layout(f"x:(1){2 << 20}"), layout(f"x:(1){3 << 20}"), mesh) is None


def test_a_million_devices_cost_no_more_than_eight() -> None:
    mesh = Mesh(x=1 << 10, y=1 << 10)
    begin = time.process_time()
    share = missing_share(layout("x", "y"), layout("y", "x"), mesh)
    assert time.process_time() - begin < 0.05
    # Both boxes coincide where x == y, and are disjoint elsewhere.
    assert share == Fraction(1, 1 << 20) * (1 - Fraction(1, 1 << 10))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("all_reduce", 1500), ("all_gather", 750), ("reduce_scatter", 750), ("all_to_all", 750), ("all_slice", 0),
    ],
)  # fmt: skip
def test_bytes_of_bandwidth_optimal_algorithms(kind: str, expected: int) -> None:
    assert sent_bytes(kind, 1000, 4) == expected


def test_bytes_of_point_to_point_collectives_follow_the_share() -> None:
    assert sent_bytes("collective_permute", 1000, 4, Fraction(1, 4)) == 250
    assert sent_bytes("exchange", 1000, 4, Fraction(1, 3)) == Fraction(1000, 3)


def test_unknown_collectives_are_refused() -> None:
    with pytest.raises(ValueError, match="'broadcast' is no collective"):
        sent_bytes("broadcast", 1, 2)
    with pytest.raises(ValueError, match="'broadcast' is no collective"):
        sent_share("broadcast", layout(""), layout(""), Mesh(x=2))


def test_radices_that_nest_are_counted_for_any_number_of_parts() -> None:
    # Far more parts than could be visited: one of 2^11 is wanted, and it lies in a device's 2^-22 by chance alone.
    mesh = Mesh(x=1 << 22, y=1 << 11)
    assert missing_share(layout("x"), layout("y"), mesh) == Fraction(1, 1 << 11) - Fraction(1, 1 << 33)


def test_dims_that_share_no_axis_are_counted_apart() -> None:
    # Of the six parts of dim 0 that change hands, devices (0, 0) and (2, 1) keep theirs: 2 * 0 + 0 = 3 * 0 + 0, and
    # 2 * 2 + 1 = 3 * 1 + 2. All of them together with the parts of dim 1 would be too many to visit.
    mesh = Mesh(x=3, y=2, z=1 << 22)
    held = Fraction(2, 6) * Fraction(1, 6) * Fraction(1, 1 << 22)
    assert missing_share(layout("x y", "z"), layout("y x", ""), mesh) == Fraction(1, 6) - held


def test_a_slice_is_no_message() -> None:
    assert messages("all_slice") == 0
    assert messages("exchange") == messages("all_reduce") == 1


@pytest.mark.parametrize(
    ("kind", "source", "target", "buffer"),
    [
        ("all_gather", layout("x", "y"), layout("", "y"), 32),
        ("all_to_all", layout("x", "y"), layout("", "y x"), 8),
        ("all_slice", layout("", "y"), layout("x", "y"), 32),
    ],
)
def test_shares_agree_with_bytes(kind: str, source: LayoutSpec, target: LayoutSpec, buffer: int) -> None:
    assert sent_share(kind, source, target, Mesh(x=4, y=2)) == sent_bytes(kind, buffer, 4) / 64


def test_shares_of_reductions_agree_with_bytes() -> None:
    mesh = Mesh(x=4, y=2)
    partial = layout("y", "").with_partial((Axis("x"),), "sum")
    assert sent_share("all_reduce", partial, layout("y", ""), mesh) == sent_bytes("all_reduce", 32, 4) / 64
    assert sent_share("reduce_scatter", partial, layout("y", "x"), mesh) == sent_bytes("reduce_scatter", 32, 4) / 64
