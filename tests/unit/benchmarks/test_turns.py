"""Jobs that take turns, and what a row of the benchmark says of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shardwright.benchmarks import files, processes
from shardwright.benchmarks.measure import Sample
from shardwright.benchmarks.turns import Job

CHILD = """
import sys
from shardwright.benchmarks.turns import serve
serve(sys.argv[2], int(sys.argv[1]), lambda: 1.5 if sys.argv[1] == "0" else 9.0)
"""


def test_a_job_answers_with_the_mean_of_its_first_process(tmp_path: Path) -> None:
    job = Job([[sys.executable, "-c", CHILD, str(place)] for place in range(2)], tmp_path, 2)
    try:
        assert [job.turn(), job.turn()] == [1.5, 1.5]
    finally:
        job.end()


def test_ratios_are_taken_round_by_round() -> None:
    samples = {processes.OURS: Sample((1.0, 4.0, 3.0)), processes.TORCH: Sample((2.0, 4.0, 12.0))}
    row = processes.row_of(samples)
    assert (row["processes ms"], row["torch ms"], row["of torch"]) == (3000.0, 4000.0, 0.5)
    assert row["of torch quartiles"] == "0.375-0.75"
    assert "of jax" not in row


@pytest.mark.slow
def test_peers_that_are_not_installed_are_skipped_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mpi4py", reason="the extra mpi is not installed")
    monkeypatch.setattr(processes.xla, "available", lambda: False)
    monkeypatch.setattr(processes, "has_torch", lambda: False)
    report = processes.processes(files.OWN, 1, 1)
    assert report.notes[-2:] == [processes.NO_JAX, processes.NO_TORCH]
    assert set(report.rows[0]) >= {"processes ms", "of one process"}
    assert "of torch" not in report.rows[0]
