"""Random traced programs on random layouts: the same values as on one device, and just the predicted bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sampling import examples

import shardwright as sw

MESH = sw.Mesh(x=2, y=2)
SIZE = 8

STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "scaled": lambda a, b: a * 0.5 - b,
    "tanh": lambda a, b: sw.tanh(a),
    "where": lambda a, b: sw.where(a > b, a, b),
    "matmul": lambda a, b: a @ b / SIZE,
    "transposed": lambda a, b: a.T,
    "einsum": lambda a, b: sw.einsum("ij,kj->ik", a, b) / SIZE,
    "softmax": lambda a, b: sw.nn.softmax(a),
    "softmax first": lambda a, b: sw.nn.softmax(a, axis=0),
    "norm": lambda a, b: sw.nn.layer_norm(a),
    "centred": lambda a, b: a - sw.mean(a, axis=0, keepdims=True),
    "largest": lambda a, b: a - sw.max(a, axis=1)[:, None],
    "heads": lambda a, b: sw.reshape(sw.permute_dims(sw.reshape(a, (SIZE, 2, 4)), (1, 0, 2)), (SIZE, SIZE)),
    "rolled": lambda a, b: sw.roll(a, 3, axis=1),
    "triangle": lambda a, b: sw.tril(a),
    "joined": lambda a, b: sw.concat([a[:4], b[4:]]),
    "moved": lambda a, b: sw.relayout(a, sw.Layout(["y", "x"], MESH)),
}
LAYOUTS = st.sampled_from([[], ["x"], ["y"], [None, "x"], ["x", "y"], ["y", "x"], [("x", "y")], [None, ("y", "x")]])
PROGRAMS = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 5), st.integers(0, 5)), max_size=6)


@examples(40)
@given(PROGRAMS, LAYOUTS, LAYOUTS)
def test_distributed_runs_equal_the_one_on_one_device(program: Any, first: Any, second: Any) -> None:
    random = np.random.default_rng(len(program))
    a, b = (random.standard_normal((SIZE, SIZE), np.float32) for _ in range(2))

    def run(a: Any, b: Any) -> Any:
        values = [a, b]
        for name, left, right in program:
            values.append(STEPS[name](values[left % len(values)], values[right % len(values)]))
        return values[-1], sw.sum(values[-1])

    partitioned = (
        sw.function(run)
        .trace(*(sw.relayout(array, sw.Layout(axes, MESH)) for array, axes in ((a, first), (b, second))))
        .partition()
    )
    compiled = partitioned.compile()
    found = compiled(a, b)
    expected = sw.function(unmoved(run))(a, b)
    assert compiled.ledger.sent_bytes == partitioned.predicted_bytes
    for distributed, plain in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(distributed), np.asarray(plain), rtol=1e-3, atol=1e-4)


SMOOTH = sorted(set(STEPS) - {"where", "largest"} | {"scanned", "chosen", "gathered", "accumulated", "checkpointed"})
"""Steps with a derivative everywhere, so that central differences are gradients."""

ALL_STEPS = STEPS | {
    "scanned": lambda a, b: sw.scan(lambda s, row: (s * 0.5 + row, s + row), b[0], a)[1],
    "chosen": lambda a, b: sw.cond(sw.stop_gradient(a)[0, 0] > 0.1234567, lambda: sw.sin(a) + b, lambda: a * b),
    "gathered": lambda a, b: sw.take(a, np.array([3, 0, 7, 7, 1, 2, 5, 4]), axis=0),
    "accumulated": lambda a, b: sw.cumulative_sum(a, axis=1) / SIZE,
    "checkpointed": lambda a, b: sw.checkpoint(lambda x: sw.tanh(sw.sin(x) * 0.5))(a),
}
GRADED = st.lists(st.tuples(st.sampled_from(SMOOTH), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=5)


def loss_of(program: Any) -> Callable[[Any, Any], Any]:
    def loss(a: Any, b: Any) -> Any:
        values = [a, b]
        for name, left, right in program:
            values.append(ALL_STEPS[name](values[left % len(values)], values[right % len(values)]))
        return sum(sw.mean(sw.sin(value) * (place + 1)) for place, value in enumerate(values[2:]))

    return loss


def check_gradients(program: Any, first: Any, second: Any) -> None:
    """Gradients on a mesh against central differences along a random direction, on one device in float64."""
    random = np.random.default_rng(len(program))
    a, b, along_a, along_b = (random.standard_normal((SIZE, SIZE)) for _ in range(4))
    split = [sw.relayout(array, sw.Layout(axes, MESH)) for array, axes in ((a, first), (b, second))]
    by_a, by_b = sw.grad(loss_of(program), argnums=(0, 1))(*split)
    slope = float(np.sum(np.asarray(by_a) * along_a) + np.sum(np.asarray(by_b) * along_b))
    value = sw.function(unmoved(loss_of(program)))
    step = 1e-6
    ahead, behind = (float(value(a + sign * step * along_a, b + sign * step * along_b)) for sign in (1, -1))
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-6)


@examples(16)
@given(GRADED, LAYOUTS, LAYOUTS)
def test_gradients_are_differences(program: Any, first: Any, second: Any) -> None:
    check_gradients(program, first, second)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(GRADED, LAYOUTS, LAYOUTS)
def test_hundreds_of_gradients_are_differences(program: Any, first: Any, second: Any) -> None:
    check_gradients(program, first, second)


def unmoved(run: Callable[..., Any]) -> Callable[..., Any]:
    """The same program on arrays that every device holds whole."""
    replicated = sw.Layout.replicated(MESH, rank=2)
    return lambda a, b: run(sw.relayout(a, replicated), sw.relayout(b, replicated))
