"""Folders that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shardwright.serialization.files.atomic_folder import AtomicFolder, remove_folder
from shardwright.serialization.files.pending import remove_leftovers


def write(path: Path, text: str, replace: bool = False) -> None:
    with AtomicFolder(path, replace) as pending:
        (pending.folder / "inner").mkdir()
        (pending.folder / "inner" / "file").write_text(text)
        if path.is_dir() and (path / "inner").exists():
            assert (path / "inner" / "file").read_text() != text


def test_a_folder_appears_and_is_replaced_in_one_step(tmp_path: Path) -> None:
    for text in ("one", "two", "three"):
        write(tmp_path / "a", text, replace=True)
        assert (tmp_path / "a/inner/file").read_text() == text
        assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")])
def test_what_is_there_stays(make: object, tmp_path: Path) -> None:
    make(tmp_path / "a")  # type: ignore[operator]
    with pytest.raises(FileExistsError):
        write(tmp_path / "a", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert not (tmp_path / "a").is_dir() or list((tmp_path / "a").iterdir()) == []


def test_after_a_failure_nothing_is_left(tmp_path: Path) -> None:
    write(tmp_path / "a", "old")
    with pytest.raises(ZeroDivisionError), AtomicFolder(tmp_path / "a", replace=True):
        _ = 1 // 0
    assert (tmp_path / "a/inner/file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_that_is_removed_is_gone_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a", "text")
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    remove_folder(tmp_path / "a")
    assert not (tmp_path / "a").exists()
    monkeypatch.undo()
    assert len(remove_leftovers(tmp_path)) == 1
    assert list(tmp_path.iterdir()) == []


def test_leftovers_are_known_by_name_and_lock(tmp_path: Path) -> None:
    living = AtomicFolder(tmp_path / "a")
    mark = "0123456789abcdef.shardwright.tmp"
    for name in (f".a.{mark}", f".b.{mark}", f"a.{mark}", ".a.xyz.shardwright.tmp", ".a.0123456789abcdef.tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / f".file.{mark}").touch()
    found = [path.name for path in remove_leftovers(tmp_path)]
    assert found == [f".a.{mark}", f".b.{mark}", f".file.{mark}"]
    assert len(list(tmp_path.iterdir())) == 4
    os.close(living._lock)  # as the system does when a process dies
    assert remove_leftovers(tmp_path) == [living.folder]
