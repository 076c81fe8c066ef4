"""The demo prints what it promises, and its programs give what their unsharded runs give."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.smoke
def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    text = capsys.readouterr().out
    differences = [float(found) for found in re.findall(r"largest difference from the unsharded run: (\S+)", text)]
    assert len(differences) == 2
    assert max(differences) < 1e-3
    figures = re.findall(r"predicted (\d+) bytes per device; the run counted (\d+)", text)
    assert len(figures) == 2
    assert all(predicted == counted != "0" for predicted, counted in figures)
    assert "f32[8@batch, 32, 4@model, 16]" in text
    assert "all_reduce" in text
