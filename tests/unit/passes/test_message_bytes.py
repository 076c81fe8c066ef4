"""What a message counts as, next to the bytes that it sends: where it is said, two messages must save that much."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh(x=4, y=2)
ROWS = sw.relayout(np.random.default_rng(0).normal(size=(64, 16)).astype("float32"), sw.Layout(["x", None], MESH))
VECTOR = sw.relayout(np.linspace(-1, 1, 16, dtype="float32"), sw.Layout([None], MESH))


def power(a: sw.Tensor, v: sw.Tensor) -> sw.Tensor:
    """One round of a power iteration: sums over the rows, 16 numbers, which the next product needs whole."""
    return a @ ((a.T @ (a @ v)) * v)


def kinds(traced: sw.Traced, message_bytes: int) -> Counter[str]:
    rows = traced.weigh_messages(message_bytes).partition().predicted
    return Counter(row.kind for row in rows if row.bytes_per_device)


@pytest.mark.parametrize("message_bytes", [8, 15])
def test_two_messages_that_save_more_than_one_counts_are_taken(message_bytes: int) -> None:
    traced = sw.function(power).trace(ROWS, VECTOR)
    assert kinds(traced, message_bytes) == {"reduce_scatter": 1, "all_gather": 1}  # 3/4 of 32, and 7/8 of 64 bytes: 80


def test_without_a_weight_bytes_decide() -> None:
    assert sw.function(power).trace(ROWS, VECTOR).partition().predicted_bytes == 80


@pytest.mark.parametrize("message_bytes", [17, 256])
def test_one_message_is_taken_where_two_save_less_than_it_counts(message_bytes: int) -> None:
    traced = sw.function(power).trace(ROWS, VECTOR)
    assert kinds(traced, message_bytes) == {"all_reduce": 1}  # twice 3/4 of 64 bytes: 96
    found = traced.weigh_messages(message_bytes).compile()(ROWS, VECTOR)
    a, v = np.asarray(ROWS.numpy()), np.asarray(VECTOR.numpy())
    np.testing.assert_allclose(found.numpy(), a @ ((a.T @ (a @ v)) * v), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("message_bytes", "messages"), [(0, 3), (100, 3), (256, 1), (1 << 14, 1)])
def test_one_gather_serves_whoever_would_move_less_in_a_message_of_their_own(message_bytes: int, messages: int) -> None:
    def shifted(x: sw.Tensor) -> tuple[sw.Tensor, ...]:
        return sw.concat([x[3:], x[:3]]), x[::2], sw.flip(x, axis=0)

    x = sw.relayout(np.arange(120, dtype="float32").reshape(40, 3), sw.Layout(["x", None], MESH))
    stage = sw.function(shifted).trace(x).weigh_messages(message_bytes).partition()
    assert len([row for row in stage.predicted if row.bytes_per_device]) == messages
    # Windows of 27, 9 and 120 bytes on average; or all thirty rows that a device lacks.
    assert stage.predicted_bytes == {3: 156, 1: 360}[messages]


def test_expansions_count_their_rounds() -> None:
    row = sw.relayout(np.linspace(1, 0, 4096, dtype="float32"), sw.Layout(["x"], MESH))
    traced = sw.function(sw.sort).trace(row)
    in_parts = kinds(traced, 0)
    assert in_parts.total() > 1
    assert "all_gather" not in in_parts
    assert kinds(traced, 256) == in_parts
    assert kinds(traced, 1 << 14) == {"all_gather": 1}


def test_a_weight_is_a_whole_number() -> None:
    traced = sw.function(power).trace(ROWS, VECTOR)
    for wrong in (-1, 0.5, "256", 1 << 63, 1 << 80):
        with pytest.raises(ValueError, match="SW0318") as caught:
            traced.weigh_messages(wrong)  # pyright: ignore[reportArgumentType]
        assert f"a message cannot weigh {wrong!r}" in str(caught.value)
