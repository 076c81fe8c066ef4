"""Reductions to an extreme and its place: which bodies are known, and that they give what the body gives one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from extremes import one_by_one, reduction

from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import Executable, compile_module


def compiled(kind: str = "f32", direction: str = "GT", tie: str = "LT", start: str | None = None) -> Executable:
    return compile_module(parse_module(reduction(kind, direction, tie, start), "test.mlir"), fused=False)


@pytest.mark.parametrize("direction", ["GT", "LT"])
@pytest.mark.parametrize("kind", ["f32", "i32"])
def test_ties_and_nan(kind: str, direction: str) -> None:
    executable = compiled(kind, direction)
    assert "fold_extreme" in executable.source
    generator = np.random.default_rng(0)
    start = {"f32": np.inf, "i32": 100}[kind] * (-1 if direction == "GT" else 1)
    for trial, ordered in itertools.product(range(30), (True, False)):
        x = generator.integers(-2, 3, (3, 7)).astype({"f32": np.float32, "i32": np.int32}[kind])
        if kind == "f32" and trial % 3 == 0:
            x[generator.random((3, 7)) < 0.2] = np.nan
        p = np.broadcast_to(np.arange(7), (3, 7)) if ordered else generator.integers(0, 50, (3, 7))
        value, place = executable.run([x, p.astype(np.int32)])
        for row in range(3):
            wanted = one_by_one(x[row].tolist(), p[row].tolist(), direction, start)
            np.testing.assert_array_equal(value[row], wanted[0])
            assert place[row] == wanted[1]


@pytest.mark.parametrize("direction", ["GT", "LT"])
@pytest.mark.parametrize(
    ("kind", "text", "start"),
    [
        ("f32", "1.0", 1.0),
        ("f32", "0x7FC00000", np.nan),
        ("f32", "0xFF800000", -np.inf),
        ("f32", "0x7F800000", np.inf),
        ("i32", "1", 1),
    ],
)
def test_a_start_that_comes_first_or_is_as_good(kind: str, text: str, start: float, direction: str) -> None:
    executable = compiled(kind, direction, start=text)
    generator = np.random.default_rng(1)
    levels = [-np.inf, -1, 0, 1, 2, np.inf, np.nan] if kind == "f32" else [-1, 0, 1, 2]
    for few in (1, 2, 4):
        x = generator.choice(levels, (40, 3, few)).astype({"f32": np.float32, "i32": np.int32}[kind])
        for each in x:
            rows = np.concatenate([each] * 7, axis=1)[:, :7]
            value, place = executable.run([rows, np.broadcast_to(np.arange(3, 10), (3, 7)).astype(np.int32)])
            for row in range(3):
                wanted = one_by_one(rows[row].tolist(), list(range(3, 10)), direction, start)
                np.testing.assert_array_equal(value[row], wanted[0])
                assert place[row] == wanted[1]


def test_a_body_that_keeps_the_higher_place_is_another() -> None:
    executable = compiled(tie="GT")
    assert "fold_extreme" not in executable.source
    x = np.array([[1, 3, 3, 2, 3, 0, 0]] * 3, np.float32)
    value, place = executable.run([x, np.broadcast_to(np.arange(7, dtype=np.int32), (3, 7)).copy()])
    assert (value.tolist(), place.tolist()) == ([3.0] * 3, [4] * 3)
