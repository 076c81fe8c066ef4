"""How exact the corpus is: roundings are counted along the longest path, and a small mistake is larger than they."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.catalogue import Training
from corpus.checking import run

pytestmark = pytest.mark.peers
jax = pytest.importorskip("jax")


@pytest.mark.parametrize(
    ("function", "roundings"),
    [
        (lambda x, w: (x @ w).T.sum(), 32 + 4 * 32),
        (lambda x, w: jax.numpy.exp(x).sum() + w.sum(), max(1 + 4 * 32, 32 * 32) + 1),
        (lambda x, w: jax.lax.scan(lambda carry, row: (2 * carry + row, None), x[0], x)[0] + w[0], 4 * 2 + 1),
        (lambda x, w: jax.lax.while_loop(lambda c: c.sum() < 9, lambda c: c @ c, x @ w @ x.T), 32 + 32 + 7 * 4),
    ],
    ids=["product", "branches", "scan", "while"],
)
def test_roundings_add_up_along_the_longest_path(function: Any, roundings: int) -> None:
    from corpus.exporting import longest

    x, w = np.ones((4, 32)), np.ones((32, 32))
    assert longest(jax.make_jaxpr(function)(x, w).jaxpr, rounds=7) == roundings


@pytest.mark.parametrize("layout", ["data", "tensor", "fsdp"])
def test_a_mistake_in_the_tenth_digit_is_found(layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with jax.enable_x64(True):
        from corpus.exporting import Step, export, tolerance

        def function(state: Any, batch: Any) -> Any:
            loss, gradient = jax.value_and_grad(lambda state: jax.numpy.tanh(batch @ state).mean())(state)
            return state - gradient, loss, gradient

        state, batch = (np.random.default_rng(0).standard_normal(shape) for shape in ((8, 4), (16, 8)))
        training = Training(function, state, batch)
        traced = jax.jit(function).trace(state, batch)
        step = Step(training, function(state, batch), tolerance(training, traced.jaxpr.jaxpr))
        right = export(step, layout, tmp_path)
        assert run(*right, step.tolerance, capsys)[0] == 0
        after, loss, gradient = step.results
        wrong = export(replace(step, results=(after, loss, gradient * (1 + 1e-10))), layout, tmp_path)
        code, output = run(*wrong, step.tolerance, capsys)
    assert code == 1
    assert output.err.count("out_2 differs from") == 1
