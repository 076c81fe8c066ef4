"""The examples on JAX's devices: what they print, and that they learn what one device learns."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from shardwright.benchmarks import xla

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_a_gpt_learns_its_text_in_each_layout(capsys: pytest.CaptureFixture[str]) -> None:
    for library in ("flax", "optax"):
        pytest.importorskip(library)
    assert runpy.run_path(str(EXAMPLES / "jax_gpt.py"))["main"]() < 0.3
    losses = [float(text) for text in re.findall(r"loss ([\d.]+)", capsys.readouterr().out)]
    assert len(losses) == 4
    assert max(losses) - min(losses) < 0.01


def test_a_mixture_of_experts_learns_as_on_one_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert runpy.run_path(str(EXAMPLES / "jax_moe.py"))["main"]() < 1e-4
    said = capsys.readouterr().out
    assert "P('expert', 'data')" in said
    assert "all_to_all" in said
    first, last = re.findall(r"loss ([\d.]+) to ([\d.]+)", said)[0]
    assert float(last) < 0.6 * float(first)
