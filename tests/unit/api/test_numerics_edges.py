"""Transforms and norms at the edges of what they take: sizes that there are not, and squares that overflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw

X = np.arange(8.0).reshape(2, 4)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("fftn: 3 sizes are given for 2 dims", lambda: sw.fft.fftn(X, s=(2, 2, 2))),
        ("rfftn: 3 sizes are given for 2 dims", lambda: sw.fft.rfftn(X, s=(2, 2, 2))),
        ("irfftn: 3 sizes are given for 2 dims", lambda: sw.fft.irfftn(X, s=(2, 2, 2))),
        ("fftfreq of -1 elements", lambda: sw.fft.fftfreq(-1)),
        ("rfftfreq of -1 elements", lambda: sw.fft.rfftfreq(-1)),
        ("rfftfreq of 0 elements", lambda: sw.fft.rfftfreq(0)),
    ],
)
def test_sizes_that_there_are_not(text: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=f"SW0510.* {text}"):
        call()


@pytest.mark.parametrize("order", [1, 2, 3, np.inf])
@pytest.mark.parametrize("layout", [None, sw.Layout(["x"], sw.Mesh(x=2))])
def test_norms_of_short_floats_whose_powers_overflow(order: float, layout: Any) -> None:
    values = np.array([300, -400, 1200, 0], "float16")
    norm = sw.linalg.vector_norm(values if layout is None else sw.relayout(values, layout), ord=order)
    assert norm.dtype == np.float16
    assert float(norm) == pytest.approx(float(np.linalg.norm(values.astype("float64"), ord=order)), rel=1e-3)
