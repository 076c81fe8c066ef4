"""Standard output that is full, closed, or has no reader: a coded line or silence, never a traceback."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.tools import main as shardwright, opt
from shardwright.tools.terminal.output import write_data, write_output, write_talk

PROGRAM = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"

Command = Callable[[str], int]
COMMANDS: dict[str, Command] = {
    "run": lambda path: shardwright.main(["run", path]),
    "explain": lambda path: shardwright.main(["explain", path]),
    "explain as data": lambda path: shardwright.main(["explain", path, "--json"]),
    "opt": lambda path: opt.main([path]),
    "passes": lambda _: opt.main(["--list-passes"]),
    "help": lambda _: shardwright.main(["--help"]),
    "help of run": lambda _: shardwright.main(["run", "--help"]),
    "version": lambda _: shardwright.main(["--version"]),
}


class Refusing:
    """A stream that takes nothing."""

    def __init__(self, error: OSError) -> None:
        self.error = error

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        raise self.error

    def isatty(self) -> bool:
        return False


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "program.mlir"
    file.write_text(PROGRAM)
    return str(file)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("stream", [Refusing(OSError(28, "No space left on device")), None], ids=["full", "closed"])
def test_output_that_takes_nothing(
    command: str, stream: object, path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    assert COMMANDS[command](path) == 1
    err = capsys.readouterr().err
    assert "error[SW0704]: cannot write to standard output: " in err
    assert "help: " in err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_left(
    command: str, path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", Refusing(BrokenPipeError(32, "Broken pipe")))
    assert COMMANDS[command](path) == 1
    assert capsys.readouterr().err == ""


def shell_run(redirection: str, path: str) -> subprocess.CompletedProcess[str]:
    """A real process, since what Python does with its streams at exit matters too."""
    arguments: Sequence[str] = (
        "sh",
        "-c",
        f'exec "$0" -m shardwright.tools.opt "$1" {redirection}',
        sys.executable,
        path,
    )
    return subprocess.run(arguments, capture_output=True, text=True, check=False, env=dict(os.environ))


@pytest.mark.parametrize("redirection", [">&-", "> /dev/full"])
def test_a_process_with_nowhere_to_write(redirection: str, path: str) -> None:
    if "full" in redirection and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = shell_run(redirection, path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error[SW0704]: cannot write to standard output: ")
    assert "Exception ignored" not in done.stderr


def test_a_process_whose_reader_left(path: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    arguments = (sys.executable, "-m", "shardwright.tools.opt", path)
    done = subprocess.run(arguments, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_talk_that_nobody_can_take_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (None, Refusing(OSError(28, "full"))):
        monkeypatch.setattr(sys, "stderr", stream)
        write_talk("anything")


def test_data_ends_with_a_newline(capsys: pytest.CaptureFixture[str]) -> None:
    write_data("one")
    write_data("two\n")
    write_data("")
    assert capsys.readouterr().out == "one\ntwo\n"


def in_ascii(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    """Standard output as a locale without other letters has it."""
    taken = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(taken, "ascii"))
    return taken


def test_letters_that_standard_output_lacks_are_escaped(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    taken = in_ascii(monkeypatch)
    write_data("┌─┐ ü")
    assert taken.getvalue() == b"+-+ \\xfc\n"
    assert shardwright.main(["price", path]) == 0
    assert b" -----" in taken.getvalue()


def test_documents_are_utf_8_there(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = in_ascii(monkeypatch)
    write_output("-", "a")
    write_output("-", "─ü")
    assert taken.getvalue().decode("utf-8") == "a\n─ü\n"


def test_the_failed_text_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Refusing(OSError(28, "full"))
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(ShardwrightError, match="SW0704"):
        write_data("text")
    assert sys.stdout is not stream
