"""`docs/coverage.md` says what is so, and nothing is read that nobody handles."""

from __future__ import annotations

from shardwright.docs.generators import coverage
from shardwright.rules import ROWS

REFUSED = {f"stablehlo.{name}" for name in ("rng", "set_dimension_size", "infeed", "outfeed", "send", "recv")}


def test_every_op_is_handled_or_refused_by_name() -> None:
    assert set(coverage.uncovered()) == REFUSED


def test_ops_with_rows_run() -> None:
    """Those that only passes see need no kernel."""
    gone = {"stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all", "stablehlo.reduce_scatter"}
    gone |= {"dtensor.barrier", "dtensor.from_manual", "dtensor.to_manual"}
    ours = [name for name in ROWS if name.startswith(("stablehlo.", "chlo.", "dtensor."))]
    assert {name for name in ours if coverage.kernel(name) == "-"} == gone


def test_a_row_of_the_table() -> None:
    row = ("`stablehlo.slice`", coverage.rule("stablehlo.slice"), coverage.more("stablehlo.slice"))
    assert coverage.cells("stablehlo.slice")[:3] == row
    assert "hook: Dims that are split are taken whole" in row[2]
    assert "expansion: A slice, pad or reversal along split dims" in row[2]
    assert coverage.kernel("stablehlo.add") == "`numpy.add`"
    assert coverage.kernel("stablehlo.cbrt") == "`elementwise.py`"
    assert "bf16, f16, f32, f64" in coverage.cells("stablehlo.add")[4]
