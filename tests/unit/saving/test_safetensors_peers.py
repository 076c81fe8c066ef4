"""safetensors as their own library writes and reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import shardwright as sw

pytestmark = pytest.mark.peers
safetensors = pytest.importorskip("safetensors.numpy", reason="make peers installs it")

RANDOM = np.random.default_rng(0)
ARRAYS = {
    f"{kind}.{rank}": np.asarray(RANDOM.standard_normal((3, 2, 5)[:rank]) * 9).astype(kind)
    for kind in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
    for rank in range(4)
}


def bits(array: np.ndarray) -> tuple[np.dtype, tuple[int, ...], bytes]:
    return array.dtype, array.shape, array.tobytes()


def test_its_files_are_read(tmp_path: Path) -> None:
    safetensors.save_file(ARRAYS, tmp_path / "a.safetensors", metadata={"format": "np"})
    found = sw.load_variables(tmp_path / "a.safetensors")
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert bits(found[name]) == bits(array)


def test_it_reads_ours(tmp_path: Path) -> None:
    checkpoint = sw.Checkpoint(ARRAYS).save(tmp_path / "checkpoint")
    files = sw.convert(checkpoint, tmp_path / "a.safetensors", max_file_bytes=300)
    found = {name: array for file in files[:-1] for name, array in safetensors.load_file(file).items()}
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert bits(found[name]) == bits(array)
