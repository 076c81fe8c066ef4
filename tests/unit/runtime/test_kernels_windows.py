"""The kernels of windows against the definitions, written as loops over single elements."""

import math
from random import Random

import numpy as np
import pytest
from window_reference import naive_convolution, naive_reduce, naive_scatter

from shardwright.layout.planning.sweep import Sweep
from shardwright.runtime.kernels import windows as kernels_windows
from shardwright.runtime.kernels.windows import convolution, fold_window, reduce_window, select_and_scatter


def random_sweep(choose, size):
    """A window that may do everything at once, and that fits."""
    move = Sweep(
        choose.randint(1, 3),
        choose.randint(1, 3),
        choose.randint(-1, 2),
        choose.randint(-1, 2),
        choose.randint(1, 2),
        choose.randint(1, 2),
        choose.random() < 0.5,
    )
    return move if move.padded(size) >= 0 else Sweep(1)


def fields(moves):
    return [(m.size, m.stride, m.low, m.high, m.base, m.dilation, m.reverse) for m in moves]


def shuffled(choose, count):
    dims = list(range(count))
    choose.shuffle(dims)
    return tuple(dims)


@pytest.mark.parametrize("seed", range(60))
def test_convolution(seed, monkeypatch):
    choose, generator = Random(seed), np.random.default_rng(seed)
    monkeypatch.setattr(kernels_windows, "BLOCK_BYTES", choose.choice([1, 200, 1 << 20]))
    monkeypatch.setattr(kernels_windows, "FEW_TAPS", choose.choice([0, 100]))
    rank = choose.randint(0, 2)
    sizes = [choose.randint(3, 5) for _ in range(rank)]
    moves = [random_sweep(choose, size) for size in sizes]
    groups = choose.choice([(1, 1), (2, 1), (1, 2), (3, 1)])
    numbers = [shuffled(choose, rank + 2) for _ in range(3)]
    batch, inputs, outputs = choose.randint(1, 2) * groups[1], choose.randint(1, 2), choose.randint(1, 2) * max(groups)
    image = generator.normal(size=(batch, inputs * groups[0], *sizes))
    kernel = generator.normal(size=(inputs, outputs, *(move.size for move in moves)))
    lhs, rhs = image.transpose(np.argsort(numbers[0])), kernel.transpose(np.argsort(numbers[1]))
    found = convolution(np, lhs, rhs, numbers, fields(moves), groups)
    expected = naive_convolution(lhs, rhs, numbers, moves, groups)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    fronts = choose.choice([((2, 1), (1, 3)), ((1, 1), (1, 3)), ((2, 1), (1, 1)), ((2, 1), (2, 1))])
    lhs, rhs = (
        np.broadcast_to(x, (*front, *x.shape)) * (1 + np.arange(math.prod(front))).reshape(*front, *(1,) * x.ndim)
        for x, front in zip((lhs, rhs), fronts, strict=True)
    )
    stacked = convolution(np, lhs, rhs, numbers, fields(moves), groups)
    assert stacked.shape[:2] == np.broadcast_shapes(*fronts)
    for i, j in np.ndindex(*stacked.shape[:2]):
        one = [x[min(i, x.shape[0] - 1), min(j, x.shape[1] - 1)] for x in (lhs, rhs)]
        np.testing.assert_allclose(stacked[i, j], naive_convolution(*one, numbers, moves, groups), atol=1e-11)


COMBINE = {"sum": lambda a, b: a + b, "prod": lambda a, b: a * b, "max": max, "min": min}


@pytest.mark.parametrize("seed", range(60))
def test_reduce_window(seed, monkeypatch):
    choose, generator = Random(seed), np.random.default_rng(seed)
    monkeypatch.setattr(kernels_windows, "FEW", choose.choice([0, 1, 8]))
    sizes = [choose.randint(1, 6) for _ in range(choose.randint(1, 2))]
    moves = [random_sweep(choose, size) for size in sizes]
    array = generator.integers(-3, 4, sizes)
    kind, start = choose.choice([("sum", 0), ("sum", 2), ("prod", 1), ("max", -9), ("max", 1), ("min", 9)])
    neutral = kind in ("max", "min") or start == {"sum": 0, "prod": 1}[kind]
    expected = naive_reduce(array, start, COMBINE[kind], moves)
    assert reduce_window(np, array, np.array(start), kind, fields(moves), neutral).tolist() == expected.tolist()
    stacked = np.stack([array, array + 1])
    found = reduce_window(np, stacked, np.full(2, start), kind, fields(moves), neutral)
    again = naive_reduce(array + 1, start, COMBINE[kind], moves)
    assert found.tolist() == [expected.tolist(), again.tolist()]


@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("size", [1, 7, 40])
def test_cumulative_windows(kind, size):
    array = np.random.default_rng(0).integers(1, 3, (size, 2)).astype(np.float32)
    ufunc = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[kind]
    start = np.float32({"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf}[kind])
    for extra in (0, 3):
        forward, backward = (size + extra, 1, size + extra - 1, 0), (size + extra, 1, 0, size + extra - 1)
        for neutral in (True, False):
            found = reduce_window(np, array, start, kind, [forward, (1,)], neutral)
            assert found.tolist() == ufunc.accumulate(array, 0).tolist()
            found = reduce_window(np, array, start, kind, [backward, (1,)], neutral)
            assert found.tolist() == ufunc.accumulate(array[::-1], 0)[::-1].tolist()


def test_long_windows_that_do_not_overlap_are_reduced_as_rows():
    array = np.arange(4000.0)
    found = reduce_window(np, array, np.array(0.0), "sum", [(1000, 1000)], True)
    assert found.tolist() == array.reshape(4, 1000).sum(1).tolist()


@pytest.mark.parametrize("seed", range(30))
def test_fold_window_keeps_the_order(seed, monkeypatch):
    """Matrices multiply in order, so a product of them shows where the order changes."""
    choose, generator = Random(seed), np.random.default_rng(seed)
    monkeypatch.setattr(kernels_windows, "FEW", choose.choice([0, 1, 8]))
    size = choose.randint(1, 9)
    move = Sweep(choose.randint(1, size), choose.randint(1, 2), 0, 0, 1, 1)
    entries = [generator.integers(-2, 3, size) for _ in range(4)]

    def body(a, b, c, d, e, f, g, h):
        return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h

    found = fold_window(np, body, entries, [np.array(x) for x in (1, 0, 0, 1)], fields([move]))
    for at in range(move.result(size)):
        product = np.eye(2, dtype=int)
        for place in range(at * move.stride, at * move.stride + move.size):
            product = product @ np.array([entry[place] for entry in entries]).reshape(2, 2)
        assert [x[at] for x in found] == product.ravel().tolist()


@pytest.mark.parametrize("seed", range(40))
def test_select_and_scatter(seed):
    choose, generator = Random(seed), np.random.default_rng(seed)
    sizes = [choose.randint(1, 6) for _ in range(choose.randint(1, 2))]
    moves = []
    for size in sizes:
        move = Sweep(choose.randint(1, 3), choose.randint(1, 3), choose.randint(0, 2), choose.randint(0, 2))
        moves.append(move if move.result(size) else Sweep(1))
    operand = generator.integers(0, 4, sizes)
    source = generator.integers(-9, 9, [move.result(size) for move, size in zip(moves, sizes, strict=True)])
    bodies = (lambda a, b: (a >= b,)), (lambda a, b: (a + b,))
    found = select_and_scatter(np, *bodies, operand, source, np.array(5), fields(moves))
    assert found.tolist() == naive_scatter(operand, source, 5, moves).tolist()
    operands, starts = np.stack([operand, operand[::-1]])[:, None], np.array([0, 1])[None]
    stacked = select_and_scatter(np, *bodies, operands, source[None, None], starts, fields(moves))
    for i, j in np.ndindex(2, 2):
        assert stacked[i, j].tolist() == naive_scatter(operands[i, 0], source, j, moves).tolist()
