"""Stored programs without their annotations: the layouts that are chosen against those that somebody wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardwright.benchmarks.quality import both_ways

PROGRAMS = Path(__file__).resolve().parents[1] / "data" / "programs"

QUICK = [
    "decode_loop", "graph_message_passing", "gru_scan_train", "histogram_counts", "mlp_fwd", "moe_fwd", "tblock_fwd",
    "xent_onehot",
]  # fmt: skip

WORSE = {
    "mapped_rows": "a result whose layout is asked for is split behind the loop that stacks it, others are split in it",
    "power_iteration": "4 % more, for less memory",
    "scan_over_split_time": "time is split by hand, so that each round asks one device",
}
"""Programs of which the layouts by hand are better, and why."""


def compared(name: str) -> tuple[bool, str]:
    """Whether what is chosen sends no more, with no more memory; and the figures."""
    by_hand, found = both_ways((PROGRAMS / name / f"{name}.mlir").read_text(), name)
    if found is None:
        return False, "none fits into as much memory"
    assert found.held <= by_hand.held
    return found.sent <= by_hand.sent, f"{found.sent} bytes, by hand {by_hand.sent}"


@pytest.mark.every(2)
@pytest.mark.parametrize("name", QUICK)
def test_no_more_bytes_than_by_hand_in_as_much_memory(name: str) -> None:
    fine, figures = compared(name)
    assert fine, figures


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.parent.name for path in PROGRAMS.glob("*/*.mlir")))
def test_all_stored_programs(name: str) -> None:
    fine, figures = compared(name)
    assert fine == (name not in WORSE), figures
