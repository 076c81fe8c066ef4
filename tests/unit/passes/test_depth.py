"""What partitioning does for a deeper network grows as the network does: calls are counted, not timed."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import Layout, Mesh, TensorSpec
from shardwright.passes.propagation.structure import folding

MESH = Mesh(batch=2, model=2)


def traced(layers: int) -> Any:
    """A training step of a residual network: columns of the one weight and rows of the other are split."""
    columns, rows = Layout([None, "model"], MESH), Layout(["model", None], MESH)
    weights = [
        {"up": TensorSpec((8, 16), "float32", columns), "down": TensorSpec((16, 8), "float32", rows)}
        for _ in range(layers)
    ]

    def loss(weights: Any, x: Any) -> Any:
        for layer in weights:
            x = x + sw.maximum(x @ layer["up"], 0) @ layer["down"]
        return sw.sum(x * x)

    step = sw.function(sw.value_and_grad(loss))
    return step.trace(weights, TensorSpec((8, 8), np.float32, Layout(["batch", None], MESH)))


def calls(layers: int) -> Counter[str]:
    """How often functions of each file of the passes are called to partition the step."""
    program, counted = traced(layers), Counter[str]()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and "/passes/" in frame.f_code.co_filename:
            counted[frame.f_code.co_filename.rpartition("/")[2]] += 1

    sys.setprofile(note)
    try:
        program.partition()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize("smallest", [0, pytest.param(1_000_000, marks=pytest.mark.slow)], ids=["folded", "whole"])
def test_a_network_four_times_as_deep_costs_four_times_the_calls(
    smallest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "SMALLEST", smallest)
    shallow, deep = calls(8), calls(32)
    assert sum(shallow.values()) > 10_000
    assert {name: (n, shallow[name]) for name, n in deep.items() if n > 5 * shallow[name] + 1000} == {}
