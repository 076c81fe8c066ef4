"""Reading with coded errors, writing in one step."""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path

import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.serialization.files.text import write_atomically
from shardwright.tools import opt
from shardwright.tools.programs.files import read_text


def code_of(error: ShardwrightError) -> str:
    return error.diagnostics[0].code


def test_reads_text_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f"
    path.write_text("é\n", encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"in")))
    assert read_text(str(path)) == "é\n"
    assert read_text("-") == "in"


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # as Python has it after `<&-`
    with pytest.raises(ShardwrightError, match=r"SW0702.*cannot read standard input: it is closed"):
        read_text("-")


@pytest.mark.parametrize(("name", "why"), [("missing", "does not exist"), ("", "is a directory"), ("a\0b", "null")])
def test_names_why_a_file_cannot_be_read(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(ShardwrightError, match=why) as caught:
        read_text(str(tmp_path) + "/" + name)
    assert code_of(caught.value) == "SW0702"


def test_points_at_the_first_byte_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"one\ntw\xff")
    with pytest.raises(ShardwrightError, match="0xff at offset 6") as caught:
        read_text(str(path))
    assert str(caught.value).startswith(f"{path}:2:3: error[SW0703]")


def test_refuses_zero_bytes(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a\0b")
    with pytest.raises(ShardwrightError, match="SW0703"):
        read_text(str(path))


def test_writes_with_the_usual_permissions_and_keeps_those_of_an_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    mask = os.umask(0o022)
    try:
        write_atomically(str(path), "one")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o600)
    write_atomically(str(path), "two")
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["out"]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(ShardwrightError, match="SW0704"):
        write_atomically(str(target), "text")
    with pytest.raises(ShardwrightError, match="SW0704"):
        write_atomically(str(tmp_path / "no" / "where"), "text")
    assert os.listdir(tmp_path) == ["folder"]


def test_a_link_stays_one_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(str(link), "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_link_to_nothing_yet_makes_its_file(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    write_atomically(str(link), "new")
    assert link.is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(str(pipe), "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xef\xbb\xbfmodule {}")
    assert read_text(str(path)) == "module {}"


def test_a_zero_byte_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"module {}\n\0")
    with pytest.raises(ShardwrightError, match="a NUL byte at offset 10"):
        read_text(str(path))


def test_names_of_files_that_are_no_text_stand_in_programs_as_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "caf\udce9.mlir"
    try:
        path.write_text("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n")
    except (OSError, UnicodeError):
        pytest.skip("names of files are text here")
    assert opt.main([str(path), "--print-debuginfo"]) == 0
    assert 'caf\\\\udce9.mlir":2:3)' in capsys.readouterr().out
