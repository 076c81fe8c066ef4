"""Who sends what to whom: simulated block by block, and counted against the cost model."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from shardwright.compiler.exporting import devices
from shardwright.layout import Mesh
from shardwright.layout.boxes import box, linear_index
from shardwright.layout.layout import Layout
from shardwright.layout.planning.cost import sent_share
from shardwright.layout.planning.window import Window, missing_elements
from shardwright.layout.spec import LayoutSpec

Array = np.ndarray[Any, Any]
MESH = Mesh(x=4, y=2)
SHAPE = (16, 8)
SIDES = [
    '[{"x"}, {"y"}]', '[{"y"}, {"x"}]', '[{"x", "y"}, {}]', '[{"y", "x"}, {}]', '[{}, {"x"}]', '[{"x"}, {}]',
    '[{"x":(1)2}, {"x":(2)2}]', '[{"x":(2)2, "y"}, {"x":(1)2}]', '[{}, {"y", "x"}]', "[{}, {}]",
]  # fmt: skip


def spec(text: str) -> LayoutSpec:
    """A layout of the mesh."""
    return Layout.from_string(text, MESH).spec


def coordinates() -> list[dict[str, int]]:
    """Each device's place in the mesh, row-major."""
    return [dict(zip(MESH.axis_names, place, strict=True)) for place in product(*map(range, MESH.shape))]


def block(value: Array, side: LayoutSpec, device: int) -> Array:
    """What a device holds."""
    return value[tuple(slice(*limits) for limits in box(side, SHAPE, MESH, coordinates()[device]))]


def pieces_of(held: Array, counts: list[int]) -> list[Array]:
    """A block cut into equal pieces, in row-major order."""
    rows = np.split(held, counts[0], 0)
    return [piece for row in rows for piece in np.split(row, counts[1], 1)]


@pytest.mark.parametrize("axes", ['[{"x"}, {"y"}]', '[{"x":(2)2, "y"}, {}]', '[{"y", "x":(1)2}, {}]'])
def test_axis_index_and_groups(axes: str) -> None:
    used = [axis for dim in spec(axes).dims for axis in dim]
    expected = [linear_index(used, MESH, place) for place in coordinates()]
    assert devices.axis_index(used, MESH).tolist() == expected
    groups = devices.groups(used, MESH)
    assert sorted(groups.ravel().tolist()) == list(range(MESH.size))
    assert {tuple(expected[device] for device in group) for group in groups} == {tuple(range(groups.shape[1]))}


@pytest.mark.parametrize(("before", "after"), [(a, b) for a in SIDES for b in SIDES if a != b])
def test_exchange_gives_each_device_its_block_for_the_bytes_that_it_lacks(before: str, after: str) -> None:
    source, target = spec(before), spec(after)
    value = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    cuts = devices.cuts(source, target, MESH)
    messages = devices.exchange(source, target, MESH)
    held = [pieces_of(block(value, source, device), [cut.held for cut in cuts]) for device in range(MESH.size)]
    slots: list[dict[int, Array]] = [{} for _ in range(MESH.size)]
    for one in messages:
        slots[one.receiver][one.slot[0]] = held[one.sender][one.what[0]]
    for device in range(MESH.size):
        wanted = pieces_of(block(value, target, device), [cut.needed for cut in cuts])
        assert len(slots[device]) == len(wanted)
        for slot, piece in enumerate(wanted):
            np.testing.assert_array_equal(slots[device][slot], piece)
    share = Fraction(1)
    for cut in cuts:
        share /= cut.parts
    moved = sum(one.sender != one.receiver for one in messages)
    assert moved * share / MESH.size == sent_share("exchange", source, target, MESH)


def test_rounds_send_and_receive_once() -> None:
    messages = devices.exchange(spec('[{"x"}, {"y"}]'), spec('[{"y"}, {"x"}]'), MESH)
    plan = devices.rounds(messages, MESH.size)
    for found in plan:
        assert len({one.sender for one in found}) == len({one.receiver for one in found}) == len(found)
    assert sum(map(len, plan)) == len(messages)


@pytest.mark.parametrize(
    ("before", "after"), [('[{"x"}, {"y"}]', '[{"x"}, {"y"}]'), ('[{"x", "y"}, {}]', '[{"y", "x"}, {}]')]
)
def test_permutation_sends_each_block_to_who_needs_it(before: str, after: str) -> None:
    source, target = spec(before), spec(after)
    value = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    pairs = devices.permutation(source, target, MESH)
    for column in pairs.T:
        assert sorted(column.tolist()) == list(range(MESH.size))
    for sender, receiver in pairs:
        np.testing.assert_array_equal(block(value, source, sender), block(value, target, receiver))
    moved = Fraction(int((pairs[:, 0] != pairs[:, 1]).sum()), MESH.size)
    assert moved / 8 == sent_share("collective_permute", source, target, MESH)


WINDOWS = [
    Window(16, 16, -1), Window(16, 16, 3), Window(16, 16, 15, -1), Window(16, 8, 1, 2), Window(16, 24, -2),
    Window(16, 4, 5), Window(16, 32, -1, dilation=2),
    Window(16, 20, 2, stride=3, dilation=2), Window(16, 24, -1, frame=6, step=4),
    Window(16, 12, -2, stride=2, frame=3, step=4), Window(16, 16, -3, dilation=3, frame=4, step=7), Window(16, 4, 40),
]  # fmt: skip


@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("moved", WINDOWS)
def test_windows_are_complete_for_the_elements_that_are_lacked(moved: Window, parts: int) -> None:
    into, out = moved.operand // parts, moved.result // parts
    step, apart = devices.spacing(moved)
    results = np.full((parts, out), -1)
    crossed = 0
    for size, messages in devices.window(moved, parts).items():
        for one in messages:
            found = np.arange(one.what[0], one.what[0] + (size - 1) * abs(step) + 1, abs(step))
            assert found.max() < into
            found = found + one.sender * into
            places = slice(one.slot[0], one.slot[0] + (size - 1) * apart + 1, apart)
            assert (results[one.receiver, places] == -1).all()
            results[one.receiver, places] = found if step > 0 else found[::-1]
            crossed += size * (one.sender != one.receiver)
    np.testing.assert_array_equal(results.ravel(), [source_of(moved, index) for index in range(moved.result)])
    assert Fraction(crossed, parts) == missing_elements([(moved, parts)])


def test_windows_of_two_dims_send_each_corner_once() -> None:
    rows, columns = (Window(16, 24, -1, frame=6, step=4), 4), (Window(8, 12, -1, frame=6, step=4), 2)
    crossed = sum(
        sizes[0] * sizes[1] * (one.sender != one.receiver)
        for sizes, messages in devices.windows([rows, columns]).items()
        for one in messages
    )
    assert Fraction(crossed, 8) == missing_elements([rows, columns])


def source_of(moved: Window, index: int) -> int:
    """The element of the operand that element `index` of the result is, or -1."""
    frame, within = divmod(index, moved.frame or moved.result)
    source, rest = divmod(moved.start + moved.step * frame + moved.stride * within, moved.dilation)
    return source if rest == 0 and 0 <= source < moved.operand else -1
