"""Random programs as they are exported give through XLA on eight host devices what NumPy says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.peers

SCRIPT = Path(__file__).parent.parent / "whole" / "through_xla.py"

ALL = ""
CASES = [
    (ALL, 0, 16),
    ("manual", 0, 8),
    ("small", 123000032, 1),  # bits of integers combined
    ("loops", 123000027, 1),  # upper halves of products
    ("uneven-moving", 123000031, 1),  # padding of which each device is sent a part
    ("uneven-loops", 123002083, 1),  # a scatter of one index beyond its row, which is a part of what a device made
]


@pytest.mark.parametrize(("style", "first", "count"), CASES)
def test_programs_of_devices_come_out_right_through_xla(style: str, first: int, count: int) -> None:
    command = [sys.executable, str(SCRIPT), str(first), str(count), style, "stablehlo"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert (len(ran.stdout.splitlines()), ran.stderr) == (count, "")
