"""Every benchmark runs in its smallest form; without JAX it says so and still measures our side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardwright.benchmarks import __main__ as command
from shardwright.benchmarks import xla
from shardwright.benchmarks.suites import NO_JAX, SMOKE, SUITES


@pytest.mark.parametrize("name", ["compile", "step", "partition"])
def test_suite_without_jax(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla, "available", lambda: False)
    report = SUITES[name](SMOKE)
    assert report.notes == [NO_JAX]
    assert len(report.rows) == 1
    assert report.rows[0]["shardwright ms"]
    assert "ratio" not in report.rows[0]


@pytest.mark.parametrize("name", ["depth", "devices"])
def test_suite_that_is_all_jax_is_skipped_without_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla, "available", lambda: False)
    report = SUITES[name](SMOKE)
    assert (report.rows, report.notes) == ([], [NO_JAX])


def test_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["speed"])
    assert "compile, step, partition" in capsys.readouterr().err


@pytest.mark.peers
def test_everything_with_jax(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "figures.json"
    assert command.main(["--smoke", "--json", str(path)]) == 0
    figures = json.loads(path.read_text())
    assert set(figures) == {"machine", *SUITES}
    for name in ("compile", "step", "partition", "devices"):
        assert all(row["ratio"] > 0 for row in figures[name]["rows"]), name
    assert capsys.readouterr().out.count("skipped") == 0
