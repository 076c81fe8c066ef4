"""Chains: whichever thread is ahead of the other, and however far, the results are the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime import executable
from shardwright.runtime.codegen.crew import Crew, product_link, tile_link
from shardwright.runtime.executable import Executable, compile_module
from shardwright.runtime.kernels.shape import row_extreme

ROWS, COLUMNS = 512, 128
X, W = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{COLUMNS}x{COLUMNS}xf32>"
FORWARD = f"""
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.tanh %x : {X}
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : ({X}, {W}) -> {X}
  %2 = stablehlo.reduce(%1 init: %low) applies stablehlo.maximum across dimensions = [1]
      : ({X}, tensor<f32>) -> tensor<{ROWS}xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<{ROWS}xf32>) -> {X}
  %4 = stablehlo.subtract %1, %3 : {X}
  %5 = stablehlo.exponential %4 : {X}
  %6 = stablehlo.dot_general %5, %w, contracting_dims = [1] x [1] : ({X}, {W}) -> {X}"""
MIXING_ROWS = f"""
  %7 = stablehlo.dot_general %6, %0, contracting_dims = [0] x [0] : ({X}, {X}) -> {W}
  %8 = stablehlo.tanh %7 : {W}
  %9 = stablehlo.dot_general %5, %8, contracting_dims = [1] x [0] : ({X}, {W}) -> {X}
  %10 = stablehlo.add %9, %6 : {X}"""


class OneByOne(Crew):
    """Each thread's job runs to its end before the next one starts: the last thread first, or the first."""

    def __init__(self, size: int, backwards: bool) -> None:
        super().__init__(size)
        self.order = range(size)[::-1] if backwards else range(size)

    def share(self, job: Callable[[int], None]) -> None:
        for thread in self.order:
            job(thread)


def compiled(body: str, result: str) -> Executable:
    text = f"func.func @main(%x: {X}, %w: {W}) -> {X} {{{body}\n  return {result} : {X}\n}}"
    return compile_module(parse_module(text, "test.mlir"))


def arguments() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    x, w = (generator.standard_normal(shape) * 0.3 for shape in ((ROWS, COLUMNS), (COLUMNS, COLUMNS)))
    return x.astype(np.float32), w.astype(np.float32)


def use_crew(monkeypatch: pytest.MonkeyPatch, crew: Crew) -> None:
    def shared_crew(size: int | None) -> Crew:
        return crew

    monkeypatch.setattr(executable, "shared_crew", shared_crew)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("threads", [2, 3, 4])
def test_no_thread_needs_what_another_makes_in_a_chain(
    threads: int, backwards: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_crew(monkeypatch, OneByOne(threads, backwards))
    executable = compiled(FORWARD + MIXING_ROWS, "%10")
    x, w = (array.astype(np.float64) for array in arguments())
    product = np.tanh(x) @ w
    powers = np.exp(product - product.max(1, keepdims=True))
    last = powers @ w.T
    expected = powers @ np.tanh(last.T @ np.tanh(x)) + last
    for _ in range(2):
        np.testing.assert_allclose(executable.run(arguments())[0], expected, rtol=1e-3, atol=1e-3)
    assert executable.source.count("crew.chain(") >= 1


def test_units_cut_by_rows_are_one_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    use_crew(monkeypatch, OneByOne(2, False))
    assert compiled(FORWARD, "%6").source.count("crew.") == 1
    assert compiled(FORWARD + MIXING_ROWS, "%10").source.count("crew.") >= 3


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_chain_runs_every_link_on_every_part_once(axis: int, size: int) -> None:
    visited = np.zeros((4, 10), int)
    lhs, rhs, out = np.eye(12).reshape(1, 12, 12), np.arange(24.0).reshape(2, 12, 1), np.zeros((2, 12, 1))

    def tile(at: int, low: int, high: int, scratch: None, target: np.ndarray) -> None:
        target[at, low:high] += 1

    Crew(size).chain(tile_link(axis, tile, 4, 10, 3, [None] * size, visited), product_link(axis, lhs, rhs, out))
    assert (visited == 1).all()
    np.testing.assert_array_equal(out, rhs)


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("width", [1, 7, 64, 300])
def test_extremes_of_rows_agree_with_numpy(kind: str, width: int) -> None:
    array = np.random.default_rng(0).standard_normal((3, 5, width)).astype(np.float32)
    array[0, 1, width // 2], array[2, 3, 0], array[1, 1] = np.nan, np.inf, -np.inf
    for source in (array, array[:, ::-1]):
        target = np.empty((3, 5, 1), np.float32)
        row_extreme(np, kind, source, target)
        np.testing.assert_array_equal(target, getattr(source, kind)(axis=-1, keepdims=True))
