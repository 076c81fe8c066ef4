"""One process of many: messages and bytes of its part of a step, which closed forms give."""

from __future__ import annotations

import math

import pytest

from shardwright.benchmarks.network import LATENCY, SECONDS_PER_BYTE
from shardwright.benchmarks.scaling import FAMILY, HIDDEN, ROWS, WIDTH, scaled

WEIGHTS = 4 * WIDTH * HIDDEN
"""Bytes of one of the two matrices on a device that has all of its own."""


def shared(count: int, length: int) -> int:
    """The bytes that a process sends of so many in an all-reduce."""
    return 2 * (count - 1) * length // count


@pytest.mark.parametrize("count", [4, 16, 1024])
def test_a_process_tells_its_network_what_closed_forms_say(count: int) -> None:
    rounds = 2 * int(math.log2(count))
    agreed = shared(count, 16)
    data, tensor = scaled("data parallel", count), scaled("tensor parallel", count)
    assert (data["messages"], data["bytes sent"]) == (3 * rounds, 2 * shared(count, WEIGHTS) + agreed)
    assert (tensor["messages"], tensor["bytes sent"]) == (2 * rounds, shared(count, 4 * ROWS * WIDTH) + agreed)
    for row in (data, tensor):
        assert float(row["bytes sent"] or 0) - agreed == row["predicted"]
        seconds = int(row["messages"] or 0) * LATENCY + int(row["bytes sent"] or 0) * SECONDS_PER_BYTE
        assert float(row["network ms"] or 0) == pytest.approx(seconds * 1e3, abs=1e-3)


@pytest.mark.parametrize("count", [16, 256])
def test_where_weights_are_sharded_each_process_talks_to_each(count: int) -> None:
    row = scaled("fully sharded", count)
    # Two gathers and two scattered sums, each a message to every other process.
    assert (row["partners"], row["messages"]) == (count - 1, 4 * (count - 1) + 2 * int(math.log2(count)))
    assert row["predicted"] == 4 * (count - 1) * WEIGHTS // count
    assert row["bytes sent"] == 4 * (count - 1) * WEIGHTS // count + shared(count, 16)


def test_both_axes_grow() -> None:
    assert [FAMILY["2D"](count)[:2] for count in (2, 4, 8, 1024)] == [(1, 2), (2, 2), (2, 4), (32, 32)]
