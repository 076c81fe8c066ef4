"""Traces of runs: every line with its place and its time, every collective with its bytes, as viewers read them."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright
from shardwright.diagnostics import ShardwrightError
from shardwright.tools.main import main
from shardwright.views.traces.perfetto import trace_events
from shardwright.views.traces.recording import Step, recorded

ROOT = Path(__file__).resolve().parents[3]
MLP = ROOT / "tests" / "lit" / "run" / "mlp.mlir"
LOOP = ROOT / "tests" / "lit" / "run" / "loop_of_known_rounds.mlir"


def traced(path: Path, program: Path) -> dict[str, Any]:
    assert main(["run", str(program), "--trace", str(path)]) == 0
    return json.loads(path.read_text())


def test_a_trace_has_what_was_computed_and_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = traced(tmp_path / "trace.json", MLP)
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["tid"] < 3]
    assert [(event["name"], event["cat"]) for event in spans] == [
        ("matmul", "compute"),
        ("tanh", "compute"),
        ("matmul", "compute"),
        ("all_reduce over model", "collective"),
    ]
    assert [event["args"]["place"].split(":")[1] for event in spans] == ["23", "24", "25", "26"]
    assert spans[-1]["args"]["bytes_per_device"] == 1024
    assert trace["otherData"] == {"bytes_sent_per_device": 1024, "bytes_predicted_per_device": 1024}
    starts = [event["ts"] for event in spans]
    assert starts == sorted(starts)
    assert all(one["ts"] + one["dur"] <= other["ts"] for one, other in pairwise(spans))
    assert "ok" not in capsys.readouterr().err


def test_what_was_predicted_has_lanes_beside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Products of 4 by 64 by 64 numbers on each device, whose memory gives two TB in a second; a sum at 200 GB."""
    events = traced(tmp_path / "trace.json", MLP)["traceEvents"]
    spans = [event for event in events if event["ph"] == "X" and event["tid"] > 2]
    assert [(event["tid"], event["name"]) for event in spans] == [
        (3, "dot_general"),
        (3, "tanh"),
        (3, "dot_general"),
        (4, "all_reduce"),
    ]
    assert spans[0]["dur"] == pytest.approx(4 * (4 * 64 + 64 * 64 + 4 * 64) / 2e12 * 1e6)
    assert spans[3]["dur"] == pytest.approx((2 * 2e-6 + 1024 / 200e9) * 1e6)
    assert [event["args"]["place"].split(":")[1] for event in spans] == ["23", "24", "25", "26"]
    assert all(one["ts"] + one["dur"] == pytest.approx(other["ts"]) for one, other in pairwise(spans))
    names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M" and "tid" in event}
    assert (names[3], names[4]) == ("compute, predicted", "collectives, predicted")
    capsys.readouterr()


def test_each_round_of_a_loop_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five rounds with an all-reduce of 6 bytes each; a counter says how much was sent so far."""
    events = traced(tmp_path / "trace.json", LOOP)["traceEvents"]
    assert [event["args"]["bytes"] for event in events if event["ph"] == "C"] == [6, 12, 18, 24, 30]
    capsys.readouterr()


def test_events_have_what_the_format_asks_for() -> None:
    """Names of Google's "Trace Event Format": phases, microseconds, a process and a lane for each span."""
    steps = [Step("add", "f.py:1:2", 5_000, 7_000), Step("all_reduce over x", "f.py:2:1", 8_000, 9_500, Fraction(3, 2))]
    trace = trace_events(steps, process=3)
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [(event["ts"], event["dur"], event["pid"], event["tid"]) for event in spans] == [
        (0, 2, 3, 1),
        (3, 1.5, 3, 2),
    ]
    assert spans[1]["args"] == {"place": "f.py:2:1", "bytes_per_device": 1.5}
    named = {event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"}
    assert named == {"devices of process 3", "compute", "collectives"}
    assert json.loads(json.dumps(trace)) == trace
    assert trace_events([])["otherData"] == {"bytes_sent_per_device": 0, "bytes_predicted_per_device": None}


def test_profile_is_of_what_runs_inside(tmp_path: Path) -> None:
    double = shardwright.function(lambda x: shardwright.tanh(x * 2))
    x = np.ones((4, 4), np.float32)
    double(x)
    with shardwright.profile(tmp_path / "trace.json") as recording:
        double(x)
    double(x)
    names = [step.name for step in recording.steps]
    assert names.count("tanh") == 1
    assert all(step.end >= step.start for step in recording.steps)
    spans = [event for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if event["ph"] == "X"]
    assert len(spans) == len(names)


def test_each_process_writes_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTENSOR_NUM_CLIENTS", "2")
    monkeypatch.setenv("DTENSOR_CLIENT_ID", "1")
    with shardwright.profile(tmp_path / "trace.json"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["trace.1.json"]


def test_tracing_ends_with_the_block() -> None:
    import sys

    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError), recorded():
        _ = 1 / 0
    assert sys.gettrace() is before


def test_a_trace_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ShardwrightError, match="SW0704"), shardwright.profile(tmp_path / "no" / "trace.json"):
        pass
