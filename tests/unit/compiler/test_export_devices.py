"""Who sends what to whom: simulated block by block, and counted against the cost model."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import prod
from typing import Any

import numpy as np
import pytest

from shardwright.compiler.exporting.messages import devices
from shardwright.layout import Mesh
from shardwright.layout.axes import Axis
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
AT_ONCE = {
    ('[{"x", "y"}, {}]', '[{"x":(1)2}, {"x":(2)2}]'),
    ('[{"x", "y"}, {}]', '[{}, {"y", "x"}]'),
    ('[{}, {"y", "x"}]', '[{"x", "y"}, {}]'),
}
"""Changes that each device takes part in alike."""


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


CHANGES = [
    ('[{"a"}, {}]', '[{"b", "a"}, {}]'), ('[{"a"}, {}]', '[{"b"}, {}]'), ('[{"a"}, {}]', '[{}, {"b"}]'),
    ('[{"a", "b"}, {}]', '[{"b", "a"}, {}]'), ('[{"b", "a"}, {}]', '[{"a"}, {}]'), ('[{"b", "a"}, {}]', '[{}, {"a"}]'),
    ('[{"a"}, {"b"}]', "[{}, {}]"), ("[{}, {}]", '[{"a"}, {"b"}]'), ('[{"a"}, {"b"}]', '[{"b"}, {}]'),
    ('[{"a":(1)2}, {"a":(2)2}]', '[{"a":(2)2}, {"b"}]'), ('[{"a":(1)2}, {}]', '[{"a":(2)2}, {}]'),
]  # fmt: skip
"""Changes that leave an axis, or a part of one, aside."""


@pytest.mark.parametrize("names", list(permutations("abc")))
@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_nothing_goes_along_an_axis_that_splits_neither_side(before: str, after: str, names: tuple[str, ...]) -> None:
    """Devices may hold other tensors along it: sums of other parts, or what each has in a manual computation."""
    mesh = Mesh({name: {"a": 4, "b": 2, "c": 3}[name] for name in names})
    source, target = (Layout.from_string(text, mesh).spec for text in (before, after))
    third = devices.axis_index([Axis("c")], mesh)
    pairs = [(one.sender, one.receiver) for one in devices.exchange(source, target, mesh)]
    found = devices.gathering(source, target, mesh)
    if found is not None:
        pairs += [(one.sender, one.receiver) for one in found.first]
        pairs += [(group[0], other) for group in found.groups for other in group]
    if len({prod(map(mesh.group_size, side.dims)) for side in (source, target)}) == 1:
        pairs += list(map(tuple, devices.permutation(source, target, mesh)))
    assert pairs
    assert all(third[sender] == third[receiver] for sender, receiver in pairs)


def test_the_nearest_of_the_holders_sends() -> None:
    for before, after in (('[{"y"}, {}]', '[{}, {"y"}]'), ("[{}, {}]", '[{"y"}, {}]')):
        messages = devices.exchange(spec(before), spec(after), MESH)
        assert {(one.sender // 2, one.receiver // 2) for one in messages} == {(row, row) for row in range(4)}
    # Along `x` nobody is near: who sends least so far sends.
    messages = devices.exchange(spec('[{"x"}, {}]'), spec('[{}, {"x"}]'), MESH)
    assert Counter(one.sender for one in messages) == dict.fromkeys(range(8), 4)


@pytest.mark.parametrize(("before", "after"), [(a, b) for a in SIDES for b in SIDES if a != b])
def test_nearness_takes_no_more_rounds(before: str, after: str) -> None:
    moving = [one for one in devices.exchange(spec(before), spec(after), MESH) if one.sender != one.receiver]
    busiest = max(Counter(one.receiver for one in moving).values(), default=0)
    assert len(devices.rounds(moving, MESH.size)) == busiest


@pytest.mark.parametrize(("before", "after"), [(a, b) for a in SIDES for b in SIDES if a != b])
def test_an_exchange_in_one_message_is_the_same_exchange(before: str, after: str) -> None:
    messages = devices.exchange(spec(before), spec(after), MESH)
    found = devices.all_to_all(messages)
    if found is None:
        assert (before, after) not in AT_ONCE
        return
    size = found.groups.shape[1]
    sends, slots = (np.array(order).reshape(size, -1) for order in (found.sends, found.slots))
    moved = [
        devices.Piece(int(sender), int(receiver), (int(what),), (int(slot),))
        for group in found.groups
        for at, sender in enumerate(group)
        for to, receiver in enumerate(group)
        for what, slot in zip(sends[to], slots[at], strict=True)
    ]
    assert Counter(moved) == Counter(messages)


GATHERED = {
    ('[{"x"}, {"y"}]', "[{}, {}]"): (1, 7),
    ('[{"x"}, {"y"}]', '[{"y"}, {}]'): (2, 4),
    ('[{"x"}, {"y"}]', '[{}, {"x"}]'): (3, 4),
    ('[{"y", "x"}, {}]', '[{}, {"x"}]'): (4, 7),
}
"""The messages of a gathering, and of the direct way: one gathers, after one for each piece that a share lacks."""


@pytest.mark.parametrize(("before", "after"), sorted({*GATHERED, *((a, b) for a in SIDES for b in SIDES if a != b)}))
def test_a_gathering_sends_what_the_exchange_does_in_fewer_messages(before: str, after: str) -> None:
    source, target = spec(before), spec(after)
    direct = devices.exchange(source, target, MESH)
    found = devices.gathering(source, target, MESH)
    if found is None:
        assert (before, after) not in GATHERED
        return
    slots = max(one.slot[0] for one in direct) + 1
    share = slots // found.groups.shape[1]
    assert sorted(found.groups.ravel().tolist()) == list(range(MESH.size))
    # Who brings each place of a device's share; a device then has the places of its group's shares one behind another.
    what = {(one.receiver, one.slot[0]): (one.sender, one.what[0]) for one in found.first}
    blocks = [devices.axis_index([axis for dim in side.dims for axis in dim], MESH) for side in (source, target)]
    for group in found.groups:
        assert len(set(blocks[1][group].tolist())) == 1
        whole = [what[device, at] for device in group for at in range(share)]
        for one in direct:
            if one.receiver in group:
                sender, place = whole[one.slot[0]]
                assert (blocks[0][sender], place) == (blocks[0][one.sender], one.what[0])
    sent = [sum(one.sender != one.receiver for one in messages) for messages in (found.first, direct)]
    assert sent[0] + MESH.size * (slots - share) == sent[1]
    moving = [[one for one in messages if one.sender != one.receiver] for messages in (found.first, direct)]
    taken = len(devices.rounds(moving[0], MESH.size)) + 1, len(devices.rounds(moving[1], MESH.size))
    assert taken[0] < taken[1]
    assert GATHERED.get((before, after), taken) == taken


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


@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("moved", WINDOWS)
def test_rounds_of_a_window_make_it_whole(moved: Window, parts: int) -> None:
    into, out, margin = moved.operand // parts, moved.result // parts, moved.operand * moved.dilation
    step, apart = devices.spacing(moved)
    results = np.full((parts, out + 2 * margin), -1)
    for (size,), messages in devices.windows([[(moved, parts)]]):
        assert len({one.sender for one in messages}) == len({one.receiver for one in messages}) == len(messages)
        assert len({one.sender == one.receiver for one in messages}) == 1
        for one in messages:
            found = one.sender * into + one.what[0] + np.arange(size) * abs(step)
            assert found[0] >= one.sender * into
            assert found[-1] < (one.sender + 1) * into
            start = margin + one.slot[0]
            results[one.receiver, start : start + (size - 1) * apart + 1 : apart] = found if step > 0 else found[::-1]
    whole = results[:, margin : margin + out].ravel()
    np.testing.assert_array_equal(whole, [source_of(moved, index) for index in range(moved.result)])


def test_windows_take_few_rounds() -> None:
    """Of as many sizes as there are borders: a round for each bit of the longest message, and one for what stays."""
    assert len(devices.windows([[(Window(480, 512, -8), 8)]])) == 4
    # Each device needs three times 32 elements, of one to three others: not a round for messages of 32 and of 64 each.
    assert len(devices.windows([[(Window(256, 768, -512), 8)]])) == 4


def test_a_window_of_odd_sizes_is_not_cut_into_single_elements() -> None:
    """Each device is sent nearly all of one and a little of the next: as single elements that were a million rounds."""
    moved = Window(1 << 20, 1 << 20, (1 << 17) + (1 << 16) - 1)
    plan = devices.windows([[(moved, 8)]])
    assert [sizes for sizes, _ in plan] == [((1 << 16) - 1,), ((1 << 16) + 1,)]


@pytest.mark.parametrize("seed", range(20))
def test_rounds_are_as_few_as_the_busiest_device_has_messages(seed: int) -> None:
    random = np.random.default_rng(seed)
    ends = {(int(a), int(b)) for a, b in random.integers(0, 7, (20, 2)) if a != b}
    messages = [devices.Piece(*pair, (at,), (at,)) for at, pair in enumerate(sorted(ends))]
    plan = devices.rounds(messages, 7)
    busiest = max(np.bincount([a for a, _ in ends]).max(), np.bincount([b for _, b in ends]).max())
    assert len(plan) == busiest
    assert sorted((one.sender, one.receiver) for found in plan for one in found) == sorted(ends)
    for found in plan:
        assert len({one.sender for one in found}) == len({one.receiver for one in found}) == len(found)


def test_windows_of_two_dims_send_each_corner_once() -> None:
    rows, columns = (Window(16, 24, -1, frame=6, step=4), 4), (Window(8, 12, -1, frame=6, step=4), 2)
    crossed = sum(
        sizes[0] * sizes[1] * (one.sender != one.receiver)
        for sizes, messages in devices.windows([[rows, columns]])
        for one in messages
    )
    assert Fraction(crossed, 8) == missing_elements([rows, columns])


def source_of(moved: Window, index: int) -> int:
    """The element of the operand that element `index` of the result is, or -1."""
    frame, within = divmod(index, moved.frame or moved.result)
    source, rest = divmod(moved.start + moved.step * frame + moved.stride * within, moved.dilation)
    return source if rest == 0 and 0 <= source < moved.operand else -1
