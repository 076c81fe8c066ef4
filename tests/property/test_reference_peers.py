"""The NumPy reference of the random programs says what XLA says, unsharded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.peers

SCRIPT = Path(__file__).parent.parent / "whole" / "against_xla.py"


CASES = [("small", first) for first in range(0, 200, 50)] + [
    (style, 0) for style in ("odd", "tiny", "made", "loops", "recurrent", "long")
]


@pytest.mark.parametrize(("style", "first"), CASES)
def test_reference_is_xla(style: str, first: int) -> None:
    seed, last, aborted = first, first + 50, 0
    while seed < last:
        command = [sys.executable, str(SCRIPT), str(seed), str(last - seed), style]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode <= 0, ran.stderr
        if ran.returncode == 0:
            break
        # XLA aborted on a program of its own accord: the next one.
        seed, aborted = int(ran.stdout.split()[-1]) + 1, aborted + 1
    assert aborted < 4
