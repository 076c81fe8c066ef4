"""The parts below the engine: windows, memory, threads, the ledger, and the dense programs unsharded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from stored_programs import RUNNABLE, assert_right, inputs, tagged, text

from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.axes import Axis
from shardwright.runtime.codegen.crew import Crew
from shardwright.runtime.executable import compile_module
from shardwright.runtime.ledger import Ledger, Message
from shardwright.runtime.planning.memory import SMALL, Room, assign_offsets
from shardwright.runtime.planning.strided import Strided


@given(st.permutations(range(3)), st.tuples(*[st.integers(1, 4)] * 3), st.data())
def test_reshapes_of_windows_agree_with_numpy(order: list[int], shape: tuple[int, ...], data: st.DataObject) -> None:
    array = np.arange(math.prod(shape)).reshape(shape)
    moved, left, target = array.transpose(order), math.prod(shape), list[int]()
    while left > 1:
        target.append(data.draw(st.sampled_from([n for n in range(2, left + 1) if left % n == 0])))
        left //= target[-1]
    window = Strided.dense(shape).transpose(order).reshape(target)
    expected = moved.reshape(target)
    if window is None:
        assert not np.shares_memory(expected, array)
    else:
        bytes_of = [step * array.itemsize for step in window.strides]
        np.testing.assert_array_equal(np.lib.stride_tricks.as_strided(array, window.shape, bytes_of), expected)


ALIVE = st.tuples(st.integers(0, 20), st.integers(0, 8), st.integers(1, 2 * SMALL))
ROOMS = st.lists(st.builds(Room, st.integers(0, 4 * SMALL), st.integers(0, 30)), max_size=3)


@given(st.lists(ALIVE, max_size=30), ROOMS, st.sets(st.integers(0, 30)))
def test_buffers_alive_together_never_overlap(
    buffers: list[tuple[int, int, int]], rooms: list[Room], fixed: set[int]
) -> None:
    lives = {index: (first, first + extra) for index, (first, extra, _) in enumerate(buffers)}
    sizes = {index: size for index, (_, _, size) in enumerate(buffers)}
    placed = assign_offsets(lives, sizes, rooms, fixed)
    offsets, lodged = placed.offsets, placed.lodged
    assert placed.peak <= placed.size
    assert not fixed & lodged.keys()
    for a in offsets:
        if a in lodged:
            assert offsets[a] + sizes[a] <= rooms[lodged[a]].size
            assert lives[a][1] < rooms[lodged[a]].until
        else:
            assert offsets[a] + sizes[a] <= placed.size
        for b in offsets:
            together = lives[a][0] <= lives[b][1] and lives[b][0] <= lives[a][1]
            if a < b and together and lodged.get(a) == lodged.get(b):
                assert offsets[a] + sizes[a] <= offsets[b] or offsets[b] + sizes[b] <= offsets[a]


def test_what_has_room_in_a_result_takes_none_of_the_arena() -> None:
    lives = {"first": (0, 1), "beside": (1, 2), "late": (2, 3), "small": (0, 1)}
    sizes = {"first": 4096, "beside": 4096, "late": 4096, "small": SMALL - 64}
    placed = assign_offsets(lives, sizes, [Room(4096, 3)])
    assert placed.lodged == {"first": 0}  # there is room for one at a time, until unit 3
    assert (placed.size, placed.peak) == (SMALL - 64 + 2 * 4096, 2 * 4096)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_crew_visits_every_block_once(size: int) -> None:
    visited = np.zeros((3, 10), int)

    def tile(at: int, low: int, high: int, scratch: Any, target: Any) -> None:
        target[at, low:high] += 1

    Crew(size).tiles(tile, 3, 10, 4, [None] * size, visited)
    assert (visited == 1).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_crew_multiplies_in_parts(axis: int) -> None:
    generator = np.random.default_rng(0)
    lhs, rhs = generator.random((4, 300, 20)), generator.random((1, 20, 270))
    out = np.empty((4, 300, 270))
    Crew(2).matmul((axis, lhs, rhs, out))
    np.testing.assert_allclose(out, lhs @ rhs)


def test_a_fault_in_a_crew_reaches_the_caller() -> None:
    crew = Crew(2)

    def job(thread: int) -> None:
        if thread == 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        crew.share(job)
    crew.share(lambda thread: None)


def test_the_ledger_adds_up_by_kind_and_axes() -> None:
    ledger = Ledger()
    x, xy = (Axis("x"),), (Axis("x"), Axis("y"))
    ledger.count(Message("all_gather", x, 4, 1), np.zeros((4, 3), np.int8))
    ledger.count(Message("all_gather", x, 4, 1), np.zeros((1, 5), np.int8))
    ledger.count(Message("all_reduce", xy, 8, 1), np.zeros((1, 2), np.float64), np.zeros((1, 1), np.float16))
    ledger.count(Message("all_reduce", xy, 1, 1), np.zeros(1))
    figures = {(entry["kind"], *entry["axes"]): entry["sent_bytes"] for entry in ledger.as_dict()["collectives"]}
    assert figures == {("all_gather", "x"): 6, ("all_reduce", "x", "y"): 31.5}
    assert ledger.messages == 3
    ledger.reset()
    assert ledger.as_dict() == {"sent_bytes": 0, "messages": 0, "collectives": [], "runs": {}}


@pytest.mark.parametrize("name", tagged("dense", RUNNABLE))
def test_dense_programs_run_unsharded(name: str) -> None:
    executable = compile_module(parse_module(text(name), f"{name}.mlir"))
    assert_right(name, executable.run(inputs(name)))
    assert executable.ledger.messages == 0
