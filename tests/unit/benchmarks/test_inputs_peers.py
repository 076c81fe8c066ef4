"""Programs of which the inputs alone have layouts, next to XLA and Shardy: we send no more than XLA in any."""

from __future__ import annotations

import pytest

from shardwright.benchmarks import files, xla
from shardwright.benchmarks.inputs import inputs_alone, with_inputs_alone

pytestmark = pytest.mark.peers
pytest.importorskip("jax")
xla.prepare()


def test_xla_sends_no_less_for_any_of_them() -> None:
    """More than the 23 that the planner was measured on; six depend on data, and nobody can say."""
    report = inputs_alone(files.described(files.OWN))
    counted = [row for row in report.rows if row["sent"] is not None and row["xla"] is not None]
    assert len(report.rows) > 30
    assert len(counted) >= len(report.rows) - 6
    assert [row["program"] for row in counted if float(row["sent"] or 0) > float(row["xla"] or 0)] == []
    dense = [row for row in counted if row["shardy"] is not None]
    assert len(dense) > len(counted) // 4
    assert [row["program"] for row in dense if float(row["sent"] or 0) > float(row["shardy"] or 0)] == []


def test_what_is_said_of_results_and_in_between_is_gone() -> None:
    for file in files.described(files.OWN)[:20]:
        text = with_inputs_alone(file.text)
        if text is not None:
            assert "sharding_constraint" not in text
            arguments, _, rest = text.partition("->")
            assert "sdy.sharding =" in arguments
            assert "sdy.sharding =" not in rest
