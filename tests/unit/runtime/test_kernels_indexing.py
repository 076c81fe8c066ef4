"""Gather, scatter and dynamic slices against their definitions, element by element."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import astuple
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from indexing_cases import draw_windows, elements, windows_shape

from shardwright.dialects.stablehlo import GatherDimensions, ScatterDimensions
from shardwright.runtime.kernels import indexing as kernels_indexing

Array = np.ndarray[Any, Any]


INDEX_DTYPES = (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64)


def draw_indices(generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Array:
    """Small numbers around the edges, and some at the ends of the type."""
    limits = np.iinfo(dtype)
    near = generator.integers(max(-2, limits.min), 6, shape).astype(dtype)
    far = np.array([limits.max, limits.min], dtype)[generator.integers(0, 2, shape)]
    return np.where(generator.integers(0, 10, shape) == 0, far, near)


def stacked(generator: np.random.Generator, lead: tuple[int, ...]) -> tuple[int, ...]:
    """The leading dims of an array that varies along some of the mesh."""
    return tuple(size if generator.integers(0, 2) else 1 for size in lead)


def each_device(*arrays: Array, lead: int = 2) -> Iterator[tuple[tuple[int, ...], list[Array]]]:
    """The local arrays of every device."""
    fronts = np.broadcast_shapes(*(array.shape[:lead] for array in arrays))
    for device in itertools.product(*map(range, fronts)):
        own = [
            array[tuple(min(at, n - 1) for at, n in zip(device, array.shape[:lead], strict=True))] for array in arrays
        ]
        yield device, own


@pytest.mark.parametrize("seed", range(60))
def test_gather(seed: int) -> None:
    windows, generator = draw_windows(Random(seed), (1, 2, 3, 4)), np.random.default_rng(seed)
    operand = generator.integers(0, 99, stacked(generator, (2, 3)) + windows.operand).astype(np.float32)
    indices = draw_indices(generator, stacked(generator, (2, 3)) + windows.indices, INDEX_DTYPES[seed % 6])
    found = kernels_indexing.gather(np, operand, indices, 2, astuple(windows.numbers), windows.sizes)
    for device, (values, starts) in each_device(operand, indices):
        expected = np.full(windows_shape(windows), np.nan, np.float32)
        for place, source in elements(windows, starts, clamp=True):
            expected[place] = values[source]
        np.testing.assert_array_equal(found[device], expected, strict=True)


def as_scatter(numbers: GatherDimensions) -> ScatterDimensions:
    """The scatter that puts windows where the gather would take them from."""
    return ScatterDimensions(*astuple(numbers))


COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "set": lambda old, new: new,
    "sum": lambda old, new: old + new,
    "subtract": lambda old, new: old - new,
    "prod": lambda old, new: old * new,
    "max": max,
    "min": min,
    "and": lambda old, new: old & new,
    "or": lambda old, new: old | new,
    "xor": lambda old, new: old ^ new,
}


@pytest.mark.every(4)
@pytest.mark.parametrize("seed", range(90))
@pytest.mark.parametrize("long_round", [None, 1, 8])
def test_scatter(seed: int, long_round: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Element by element, in rounds of rows, and in some rounds with the rest element by element."""
    if long_round is not None:
        monkeypatch.setattr(kernels_indexing, "WIDE_ROW", 1)
        monkeypatch.setattr(kernels_indexing, "LONG_ROUND", long_round)
    windows, generator = draw_windows(Random(seed), (1, 2, 3, 4)), np.random.default_rng(seed)
    kind = list(COMBINE)[seed % 9]
    operand, updates = (
        generator.integers(-9, 9, stacked(generator, (2, 3)) + shape).astype(np.int64)
        for shape in (windows.operand, windows_shape(windows))
    )
    indices = draw_indices(generator, stacked(generator, (2, 3)) + windows.indices, INDEX_DTYPES[seed % 6])
    numbers = astuple(as_scatter(windows.numbers))
    found = kernels_indexing.scatter(np, operand, indices, updates, 2, kind, numbers)
    for order in ("C", "F"):
        out = np.full_like(found, 77, order=order)
        kept = operand.copy()
        assert kernels_indexing.scatter(np, operand, indices, updates, 2, kind, numbers, out=out) is out
        np.testing.assert_array_equal(out, found)
        np.testing.assert_array_equal(operand, kept)
    (folded,) = kernels_indexing.scatter_fold(
        np, lambda old, new: (folds(kind)(old, new),), [operand], indices, [updates], 2, numbers
    )
    for device, (values, starts, new) in each_device(operand, indices, updates):
        expected = values.copy()
        for place, target in elements(windows, starts, clamp=False):
            expected[target] = COMBINE[kind](expected[target], new[place])
        np.testing.assert_array_equal(found[device], expected, strict=True)
        np.testing.assert_array_equal(folded[device], expected, strict=True)


@pytest.mark.every(4)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("over", [(0,), (1,), (0, 1)])
def test_a_scatter_of_all_devices_is_the_sum_of_theirs(seed: int, over: tuple[int, ...]) -> None:
    windows, generator = draw_windows(Random(seed), (1, 2, 3, 4)), np.random.default_rng(seed)
    updates = generator.integers(-9, 9, stacked(generator, (2, 3)) + windows_shape(windows))
    indices = draw_indices(generator, (2, 3, *windows.indices), INDEX_DTYPES[seed % 6])
    zeros, numbers = np.zeros((1, 1, *windows.operand), np.int64), astuple(as_scatter(windows.numbers))
    each = kernels_indexing.scatter(np, zeros, indices, updates, 2, "sum", numbers)
    expected = each.sum(axis=over, keepdims=True)
    for out in (None, np.full_like(expected, 5)):
        found = kernels_indexing.scatter(np, zeros, indices, updates, 2, "sum", numbers, over, out)
        np.testing.assert_array_equal(found, expected, strict=True)


def folds(kind: str) -> Callable[[Any, Any], Any]:
    """The combiner on arrays."""
    return {"max": np.maximum, "min": np.minimum}.get(kind, COMBINE[kind])


def test_a_scatter_by_a_body_goes_in_the_order_of_the_indices() -> None:
    """Two operands; the body keeps the last but one update of each element, which no other order gives."""
    indices, updates = np.array([[1], [1], [0], [1]]), np.array([10, 20, 30, 40])
    last, before = kernels_indexing.scatter_fold(
        np,
        lambda last, before, new, _: (new, last),
        [np.zeros(3, int), np.zeros(3, int)],
        indices,
        [updates, updates],
        0,
        ((), (0,), (), (), (0,), 1),
    )
    assert last.tolist() == [30, 40, 0]
    assert before.tolist() == [0, 20, 0]


@pytest.mark.parametrize("often", [1, 40, 900])
def test_wide_rows_are_added_in_their_order(often: int) -> None:
    """To the last bit what adding one after the other gives; `often` rows have the target of a padding token."""
    generator = np.random.default_rng(often)
    rows = generator.integers(0, 50, 1000)
    rows[:often] = 7
    new = generator.standard_normal((1000, 96)).astype(np.float32)
    expected = generator.standard_normal((50, 96)).astype(np.float32)
    numbers = ((1,), (0,), (), (), (0,), 1)
    found = kernels_indexing.scatter(np, expected.copy(), rows[:, None], new, 0, "sum", numbers)
    for row, each in zip(rows, new, strict=True):
        expected[row] += each
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("kind", ["sum", "subtract", "prod"])
@pytest.mark.parametrize("shape", [(1, 2), (1, 1, 3), (1, 1), (1, 64)])
@pytest.mark.parametrize("fronts", [((1,), (2,)), ((2,), (1,)), ((1, 2), (3, 1)), ((3, 1), (1, 1))])
def test_an_operand_that_devices_share_is_each_ones_own(
    kind: str, shape: tuple[int, ...], fronts: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    """Rows of dims of one element, which NumPy lays out as it likes where the operand is broadcast over devices."""
    generator = np.random.default_rng(0)
    mine, its = fronts
    operand = generator.integers(-9, 9, (*mine, *shape)).astype(np.float32)
    updates = generator.integers(-9, 9, (*its, 4, *shape[1:])).astype(np.float32)
    rank = len(shape)
    numbers = (tuple(range(1, rank)), (0,), (), (), (0,), 1)
    indices = np.zeros((*[1] * len(mine), 4, 1), np.int32)
    found = kernels_indexing.scatter(np, operand, indices, updates, len(mine), kind, numbers)
    out = np.empty(found.shape, found.dtype)
    kernels_indexing.scatter(np, operand, indices, updates, len(mine), kind, numbers, out=out)
    np.testing.assert_array_equal(out, found)
    expected = operand
    for row in np.moveaxis(updates, len(mine), 0):
        expected = COMBINE[kind](expected, np.expand_dims(row, len(mine)))
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_narrow_floats_are_summed_in_float32(dtype: Any) -> None:
    """One by one in their own type, 512 ones would stop at 256 in bfloat16, and 4096 at 2048 in float16."""
    count = 512 if dtype == ml_dtypes.bfloat16 else 4096
    ones = np.ones(count, dtype)
    found = kernels_indexing.scatter(
        np, np.zeros(1, dtype), np.zeros((count, 1), np.int32), ones, 0, "sum", ((), (0,), (), (), (0,), 1)
    )
    assert found.dtype == dtype
    assert float(found[0]) == count


@pytest.mark.parametrize("seed", range(40))
def test_dynamic_slices(seed: int) -> None:
    generator = np.random.default_rng(seed)
    shape = tuple(int(n) for n in generator.integers(1, 5, 3))
    sizes = tuple(int(generator.integers(0, n + 1)) for n in shape)
    dtype = INDEX_DTYPES[seed % 6]
    operand = generator.integers(0, 99, stacked(generator, (2, 3)) + shape)
    update = generator.integers(100, 199, stacked(generator, (2, 3)) + sizes)
    starts = [draw_indices(generator, stacked(generator, (2, 3)), dtype) for _ in shape]
    taken = kernels_indexing.dynamic_slice(np, operand, *starts, sizes, 2)
    written = kernels_indexing.dynamic_update_slice(np, operand, update, *starts, 2)
    for device, (values, new, *corner) in each_device(operand, update, *starts):
        clear = [min(max(int(at), 0), n - s) for at, n, s in zip(corner, shape, sizes, strict=True)]
        box = tuple(slice(at, at + size) for at, size in zip(clear, sizes, strict=True))
        expected = values.copy()
        expected[box] = new
        front = np.broadcast_to(taken, np.broadcast_shapes(taken.shape, (2, 3, *sizes)))
        np.testing.assert_array_equal(front[device], values[box], strict=True)
        np.testing.assert_array_equal(written[device], expected, strict=True)


def test_a_gather_keeps_signs_and_bits() -> None:
    """Zeros of both signs, infinities and NaN come out as they are."""
    operand = np.array([[-0.0, np.inf], [np.nan, -np.inf]], np.float32)
    found = kernels_indexing.gather(np, operand, np.array([[1], [0]]), 0, ((1,), (0,), (), (), (0,), 1), (1, 2))
    assert found.tobytes() == operand[::-1].tobytes()
