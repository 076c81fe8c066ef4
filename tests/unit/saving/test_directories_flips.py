"""A saved directory with one bit changed, or one file cut anywhere: never loaded, whatever was hit."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import Layout, Mesh, Module, ShardwrightError, Variable

CODES = ("SW0869", "SW0870", "SW0872", "SW0873", "SW0881")


class Scaled(Module):
    def __init__(self) -> None:
        self.w = Variable(np.arange(8, dtype="float32"), layout=Layout(["x"], Mesh(x=2)), name="w")
        self.rate = Variable(0.5, name="rate")

    @sw.function
    def __call__(self, x: Any) -> Any:
        return x * self.w + self.rate


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "words.txt").write_text("one two")
    model: Any = Scaled()
    model(np.ones(8, "float32"))
    return Path(sw.save(model, tmp_path / "saved", assets=[tmp_path / "words.txt"]))


def not_refused(place: Path, step: int) -> list[str]:
    """The places in the directory's files, each `step` bytes, at which a change or a cut is not refused by name."""
    wrong: list[str] = []
    for file in sorted(path for path in place.rglob("*") if path.is_file()):
        data = file.read_bytes()
        for at in range(0, len(data), min(step, max(1, len(data) // 4))):
            flipped = data[:at] + bytes([data[at] ^ 1 << at * 5 % 8]) + data[at + 1 :]
            for what, changed in (("flip", flipped), ("cut", data[:at])):
                file.write_bytes(changed)
                try:
                    sw.load(place)
                    wrong.append(f"{what} of {file.relative_to(place)} at {at}: loaded")
                except ShardwrightError as error:
                    if error.diagnostics[0].code not in CODES:
                        wrong.append(f"{what} of {file.relative_to(place)} at {at}: {error}")
        file.write_bytes(data)
    return wrong


def test_some_flips_and_cuts(place: Path) -> None:
    names = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    assert {"saved_model.pb", "fingerprint.pb", "assets/words.txt", "variables/arrays.zarr.zip"} <= names
    assert not_refused(place, 211) == []
    sw.load(place)


@pytest.mark.slow
def test_every_flip_and_every_cut(place: Path) -> None:
    assert not_refused(place, 1) == []


def test_what_is_added_or_missing(place: Path, tmp_path: Path) -> None:
    for file in sorted(path for path in place.rglob("*") if path.is_file()):
        shutil.copytree(place, copy := tmp_path / "copy")
        here = copy / file.relative_to(place)
        here.write_bytes(here.read_bytes() + b"\0")
        with pytest.raises(ShardwrightError):
            sw.load(copy)
        here.unlink()
        with pytest.raises(ShardwrightError):
            sw.load(copy)
        shutil.rmtree(copy)
