"""What long work tells while it lasts, and the bars that are made of it."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import shardwright as sw
from shardwright.diagnostics.telling import LISTENER, Step, counted, lasting
from shardwright.tools.main import main
from shardwright.views import progress

ARRAYS = {"a": np.zeros(8, "float32"), "b": np.zeros((2, 3))}
PROGRAM = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"


class Heard:
    """A listener that writes down what it is told."""

    def __init__(self) -> None:
        self.works: list[tuple[str, str]] = []
        self.steps: dict[str, list[tuple[int, int]]] = {}

    @contextmanager
    def __call__(self, what: str, unit: str) -> Generator[Step]:
        self.works.append((what, unit))
        steps = self.steps.setdefault(what, [])
        yield lambda done, total: steps.append((done, total))


@pytest.fixture
def heard() -> Iterator[Heard]:
    listener = Heard()
    token = LISTENER.set(listener)
    yield listener
    LISTENER.reset(token)


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_saving_and_loading_are_told_in_bytes(heard: Heard, tmp_path: Path) -> None:
    pytest.importorskip("tensorstore")
    layout = sw.Layout(["x"], sw.Mesh(x=2))
    values = {
        "a": sw.Variable(np.zeros(8, "float32"), layout=layout),
        "b": sw.Variable(np.zeros((2, 3)), layout=layout),
    }
    sw.Checkpoint(values).save(tmp_path / "saved")
    sw.Checkpoint(values).restore(tmp_path / "saved")
    told = [(0, 80), (32, 80), (80, 80)]  # 8 floats of 4 bytes, then 6 of 8
    assert (heard.steps["saving"], heard.steps["loading"]) == (told, told)
    assert ("saving", "bytes") in heard.works


def test_each_pass_is_a_step_of_compiling(heard: Heard) -> None:
    sw.function(lambda x: x + 1).trace(sw.zeros(4)).propagate().partition()
    steps = heard.steps["compiling"]
    assert steps[0][0] == 0
    assert [done for done, total in steps if done == total]


def test_certifying_is_told(heard: Heard) -> None:
    sw.function(lambda x: x + 1).trace(sw.zeros(4)).propagate().partition().certify()
    assert ("certifying", "") in heard.works


def test_running_is_told(heard: Heard, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.mlir").write_text(PROGRAM)
    assert main(["run", str(tmp_path / "p.mlir")]) == 0
    assert ("running", "") in heard.works


def test_a_bar_is_drawn_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    console = terminal()
    bars = progress.Bars(0.0, console)
    with bars("saving", "bytes") as step:
        drawn = bars._open  # pyright: ignore[reportPrivateUsage]
        assert drawn is not None
        drawn.start()  # what the timer does, in its own time
        step(512, 2048)
        drawn.refresh()
        with bars("compiling", "") as inner:
            inner(3, 9)
            drawn.refresh()
    text = shown(console)
    assert "saving" in text
    assert "512 bytes of 2.0 KiB" in text
    assert "compiling" in text
    assert "3 of 9" in text
    assert "\x1b[2K" in text.rpartition("3 of 9")[2]  # the line is erased
    assert bars._open is None  # pyright: ignore[reportPrivateUsage]


def test_nothing_is_drawn_of_what_is_short() -> None:
    console = terminal()
    with progress.Bars(3600.0, console)("saving", "bytes") as step:
        step(1, 2)
    assert shown(console) == ""


def test_what_fails_leaves_no_bar() -> None:
    bars = progress.Bars(3600.0, terminal())
    with pytest.raises(KeyboardInterrupt), bars("saving", "bytes"):
        raise KeyboardInterrupt
    assert bars._open is None  # pyright: ignore[reportPrivateUsage]


def test_only_terminals_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    with sw.progress():
        assert LISTENER.get() is None
    monkeypatch.setattr("sys.stderr", Terminal())
    with sw.progress():
        assert LISTENER.get() is not None
    assert LISTENER.get() is None


def test_items_are_all_there(heard: Heard) -> None:
    assert list(counted("work", [3, 4], lambda item: item)) == [3, 4]
    assert heard.steps["work"] == [(0, 7), (3, 7), (7, 7)]
    with lasting("more") as step:
        assert step is not None
