"""Nested lists that are no array, and numbers that a type does not hold, are said at the caller's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh(x=2)
ROWS = sw.Layout([None], MESH)
RAGGED = [[1.0], [1.0, 2.0]]
VECTOR = np.ones(3)


def _split() -> Any:
    return sw.relayout(VECTOR, ROWS)


@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("asarray", lambda: sw.asarray(RAGGED)),
        ("asarray", lambda: sw.asarray(RAGGED, dtype="float64", layout=ROWS)),
        ("asarray", lambda: sw.function(lambda: sw.asarray(RAGGED))()),
        ("relayout", lambda: sw.relayout(RAGGED, ROWS)),
        ("Variable", lambda: sw.Variable(RAGGED)),
        ("Variable", lambda: sw.Variable(RAGGED, dtype="float64")),
        ("assign", lambda: sw.Variable(VECTOR).assign(RAGGED)),
        ("assign", lambda: sw.Variable(VECTOR).assign_sub(RAGGED)),
        ("assign", lambda: sw.Variable(VECTOR).scatter_add(np.array([0, 1]), RAGGED)),
        ("take", lambda: sw.take(VECTOR, [[0], [1, 2]])),
        ("at[...].set", lambda: _split().at[[0, 1]].set(RAGGED)),
        ("at[...].add", lambda: sw.function(lambda x: x.at[[0, 1]].add(RAGGED))(VECTOR)),
    ],
)
def test_lists_of_different_lengths(what: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match="SW0519") as error:
        call()
    place, _, told = str(error.value).partition(": error")
    assert place.rpartition(":")[0].rpartition(":")[0] == __file__
    assert told == (
        f"[SW0519]: {what}: a nested list with lists of 1 and 2 elements side by side is no array\n"
        "  help: give lists of one length, pad the shorter ones"
    )


@pytest.mark.parametrize(
    ("numbers", "dtype", "told"),
    [
        ([[1], 2], None, "a nested list with lists and numbers side by side is no array"),
        ([[[1], [2]], [[3], [4, 5, 6]]], None, "a nested list with lists of 1 and 3 elements side by side is no array"),
        (["a"], "int32", "invalid literal for int() with base 10: 'a'"),
        ([np.ones(2), np.ones(3)], None, "setting an array element with a sequence."),
    ],
)
def test_what_else_is_no_array(numbers: Any, dtype: Any, told: str) -> None:
    with pytest.raises(ValueError, match="SW0519") as error:
        sw.asarray(numbers, dtype=dtype)
    assert f"SW0519]: asarray: {told}" in str(error.value)


@pytest.mark.parametrize("make", [sw.asarray, sw.Variable])
@pytest.mark.parametrize("numbers", [[300], [[-1, 2]], 256])
def test_numbers_that_the_type_does_not_hold(make: Any, numbers: Any) -> None:
    with pytest.raises(ValueError, match="SW0506"):
        make(numbers, dtype="uint8")


@pytest.mark.parametrize("shape", [(1.5,), "ab", RAGGED, None])
def test_shapes_that_are_none(shape: Any) -> None:
    with pytest.raises(TypeError, match=r"SW0510.*zeros: shape cannot be "):
        sw.zeros(shape)


@pytest.mark.parametrize("shape", [(2, 1.5), [[2], [2]], None])
def test_shapes_that_nothing_gets(shape: Any) -> None:
    with pytest.raises(TypeError, match=r"SW0510.*reshape: shape cannot be "):
        sw.reshape(np.ones(4), shape)


def test_lists_of_different_lengths_in_metrics() -> None:
    with pytest.raises(ValueError, match=r"SW0519.*lists of 1 and 2 elements side by side"):
        sw.metrics.Accuracy().update_state([[1], [1, 2]], np.ones((2, 2)))


def test_texts_are_no_variables() -> None:
    with pytest.raises(TypeError, match="SW0506"):
        sw.Variable(["a"])
