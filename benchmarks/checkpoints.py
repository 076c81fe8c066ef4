"""Checkpoints next to NumPy's files and safetensors, one for each device, of the same bytes, flushed to the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from shardwright import relayout
from shardwright.benchmarks.measure import Sample, interleave, timed
from shardwright.benchmarks.report import Cell, Report, compared
from shardwright.layout import Layout, Mesh
from shardwright.saving.checkpoints.checkpoint import Checkpoint, load_variables
from shardwright.saving.checkpoints.manifest import read_manifest
from shardwright.saving.checkpoints.store import ArrayStore, Transfers
from shardwright.serialization.files.atomic_folder import sync_tree

OURS, NUMPY, SAFETENSORS = "shardwright", "numpy", "safetensors"
MESH = Mesh(x=2, y=4)
WRITTEN = Layout(["x", "y"], MESH)
NAME = "v"


def checkpoints(size: int, repetitions: int) -> Report:
    """A matrix of `size` bytes over eight devices, written, read as it was written, and read in another layout."""
    columns = 1 << (size // 4).bit_length() // 2
    values = np.random.default_rng(0).standard_normal((size // 4 // columns, columns), np.float32)
    tensor = relayout(values, WRITTEN)
    with tempfile.TemporaryDirectory(dir=os.environ.get("SHARDWRIGHT_BENCH_FOLDER")) as name:
        folder = Path(name)
        rows = disk_rows(tensor, folder, repetitions) + box_rows(folder / OURS, size)
    title = f"a matrix of {size / 2**20:.0f} MiB on eight devices; `throughput` is ours over theirs"
    return Report("checkpoints", title, rows)


def disk_rows(tensor: Any, folder: Path, repetitions: int) -> list[dict[str, Cell]]:
    """Writing and reading against each of the others, in turn."""
    writers = {name: partial(_written, folder / name, write, tensor) for name, (write, _) in sides().items()}
    readers = {name: timed(partial(read, folder / name)) for name, (_, read) in sides().items()}
    written, read = interleave(writers, repetitions), interleave(readers, repetitions)
    return [
        _row(f"{what}, next to {other}", tensor.size * tensor.dtype.itemsize, samples, other)
        for what, samples in (("write and fsync", written), ("read, in cache", read))
        for other in samples
        if other != OURS
    ]


def box_rows(folder: Path, size: int) -> list[dict[str, Cell]]:
    """What each device reads in other layouts than the written one: its box, and what storage read for it."""
    rows: list[dict[str, Cell]] = []
    for entries in ([], ["y"], [None, ("x", "y")], [("y", "x")]):
        moved, layout = Transfers(), Layout(entries, MESH)
        entry = read_manifest(folder).arrays[NAME]
        read = timed(partial(ArrayStore(folder).read, entry, layout, moved))()
        (row,) = moved.rows
        rows.append(
            {
                "program": f"read as {layout.describe(entry.shape, 'f32')}",
                f"{OURS} ms": round(read * 1e3, 4),
                "GB/s": round(size / read / 1e9, 3),
                "boxes": row.count,
                "box bytes": row.box_bytes,
                "read over box": round(row.stored_bytes / row.box_bytes / row.count, 4),
            }
        )
    return rows


Side = tuple[Callable[[Path, Any], object], Callable[[Path], object]]


def sides() -> dict[str, Side]:
    """Who writes and reads; safetensors if it is installed."""
    found: dict[str, Side] = {OURS: (_save, _load), NUMPY: (_save_numpy, _load_numpy)}
    return found | ({SAFETENSORS: (_save_tensors, _load_tensors)} if find_spec(SAFETENSORS) else {})


def _written(folder: Path, write: Callable[[Path, Any], object], tensor: Any) -> float:
    """The seconds of writing into a folder that is not there yet."""
    shutil.rmtree(folder, ignore_errors=True)
    return timed(partial(write, folder, tensor))()


def _save(folder: Path, tensor: Any) -> None:
    Checkpoint({NAME: tensor}).save(folder)


def _load(folder: Path) -> None:
    load_variables(folder, {NAME: WRITTEN})


def _save_numpy(folder: Path, tensor: Any) -> None:
    folder.mkdir()
    for device, part in enumerate(tensor.components()):
        np.save(folder / f"{device}.npy", np.ascontiguousarray(part))
    sync_tree(folder)


def _load_numpy(folder: Path) -> list[Any]:
    return [np.load(folder / f"{device}.npy") for device in range(MESH.size)]


def _save_tensors(folder: Path, tensor: Any) -> None:
    folder.mkdir()
    save_file = import_module("safetensors.numpy").save_file
    for device, part in enumerate(tensor.components()):
        save_file({NAME: np.ascontiguousarray(part)}, folder / f"{device}.safetensors")
    sync_tree(folder)


def _load_tensors(folder: Path) -> list[Any]:
    load_file = import_module("safetensors.numpy").load_file
    return [load_file(folder / f"{device}.safetensors")[NAME] for device in range(MESH.size)]


def _row(name: str, size: int, samples: dict[str, Sample], theirs: str) -> dict[str, Cell]:
    ours = samples[OURS].median
    row = {key.replace(theirs, "theirs"): cell for key, cell in compared(samples, OURS, theirs).items()}
    return {
        "program": name,
        **row,
        "GB/s": round(size / ours / 1e9, 3),
        "throughput": round(samples[theirs].median / ours, 3),
    }
