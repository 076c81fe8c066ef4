"""
Checkpoints next to plain files, safetensors and tensorstore: the same arrays, flushed to the disk, in interleaved runs.

`plain` is one file of all elements by NumPy, `files` one for each array. Seconds of processors stand beside those of
the clock: other programs on the machine disturb them less.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from shardwright import relayout
from shardwright.benchmarks.measure import interleave, timed
from shardwright.benchmarks.report import Cell, Report, compared
from shardwright.layout import Layout, Mesh
from shardwright.saving.checkpoints.checkpoint import Checkpoint, load_variables
from shardwright.saving.checkpoints.manifest import read_manifest
from shardwright.saving.checkpoints.reading import ArrayReader
from shardwright.saving.checkpoints.transfers import Transfers
from shardwright.serialization.files.atomic_folder import sync_tree

OURS = "shardwright"
MESH = Mesh(x=2, y=4)
WRITTEN = Layout(["x", "y"], MESH)
NAME = "v"
SMALL_ARRAYS, SMALL_BYTES = 1000, 4096

Arrays = Mapping[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Side:
    """How somebody writes arrays into a folder that is not there yet, and reads them."""

    write: Callable[[Path], object]
    read: Callable[[Path], object]


def checkpoints(size: int, repetitions: int) -> Report:
    """One array of `size` bytes, the same over eight devices, and a thousand small arrays, next to the others."""
    columns = 1 << (size // 4).bit_length() // 2
    values = np.random.default_rng(0).standard_normal((size // 4 // columns, columns), np.float32)
    tensor: Any = relayout(values, WRITTEN)
    small = {
        f"layer{at}.w": np.random.default_rng(at).random(SMALL_BYTES // 4, np.float32) for at in range(SMALL_ARRAYS)
    }
    report = Report("checkpoints", "`ratio` is our time over theirs, `cpu ratio` that of processors")
    with tempfile.TemporaryDirectory(dir=os.environ.get("SHARDWRIGHT_BENCH_FOLDER")) as name:
        folder = Path(name)
        one = sides({NAME: values}, {NAME: values}, {})
        report.rows += rows(f"one array of {size >> 20} MiB", one, folder / "one", repetitions)
        parts = {f"{NAME}{device}": np.ascontiguousarray(part) for device, part in enumerate(tensor.components())}
        split = sides(parts, {NAME: tensor}, {NAME: WRITTEN})
        report.rows += rows(f"{size >> 20} MiB on eight devices", split, folder / "split", repetitions)
        report.parts.append(Report("boxes", "what is read in other layouts", box_rows(folder / "split" / OURS, size)))
        many = sides(small, small, {}, one_file_each=True)
        title = f"{SMALL_ARRAYS:,} arrays of {SMALL_BYTES >> 10} KiB"
        report.rows += rows(title, many, folder / "many", repetitions)
    return report


def sides(
    arrays: Arrays, saved: Mapping[str, Any], layouts: Mapping[str, Layout], one_file_each: bool = False
) -> dict[str, Side]:
    """Who writes and reads, of those that are installed; the others get contiguous parts, as they need them."""
    found = {OURS: Side(partial(_save, saved), partial(load_variables, layouts=layouts))}
    found["plain"] = Side(partial(_save_plain, arrays), _load_plain)
    if one_file_each:
        found["files"] = Side(partial(_save_files, arrays), _load_files)
    if find_spec("safetensors"):
        found["safetensors"] = Side(partial(_save_safetensors, arrays), _load_safetensors)
    if find_spec("tensorstore"):
        found["tensorstore"] = Side(partial(_save_tensorstore, arrays), partial(_load_tensorstore, list(arrays)))
    return found


def rows(title: str, contenders: Mapping[str, Side], folder: Path, repetitions: int) -> list[dict[str, Cell]]:
    """Writing, reading what the system remembers, and reading what it does not, against each of the others."""
    folder.mkdir()
    found = list[dict[str, Cell]]()
    for what, run in (("write and fsync", _write), ("read, in cache", _read), ("read, cold", _read_cold)):
        cpu = {who: list[float]() for who in contenders}
        samples = interleave(
            {who: partial(run, cpu[who], side, folder / who) for who, side in contenders.items()}, repetitions
        )
        seconds = {who: statistics.median(times[-repetitions:]) for who, times in cpu.items()}
        for other in (who for who in contenders if who != OURS):
            row = {key.replace(other, "theirs"): cell for key, cell in compared(samples, OURS, other).items()}
            row |= {f"{OURS} cpu ms": round(seconds[OURS] * 1e3, 2), "theirs cpu ms": round(seconds[other] * 1e3, 2)}
            row["cpu ratio"] = round(seconds[OURS] / max(seconds[other], 1e-9), 3)
            row["their files"] = sum(path.is_file() for path in (folder / other).rglob("*"))
            found.append({"program": f"{title}: {what}, next to {other}", **row})
    return found


def box_rows(folder: Path, size: int) -> list[dict[str, Cell]]:
    """What a process reads for its devices in other layouts: their boxes, and what storage read."""
    found: list[dict[str, Cell]] = []
    for entries in ([], ["y"], [None, ("x", "y")], [("y", "x")]):
        moved, layout, manifest = Transfers(), Layout(entries, MESH), read_manifest(folder)
        reader, entry = ArrayReader(folder, manifest), manifest.arrays[NAME]
        reader.faults()
        read = timed(partial(reader.read, [(entry, layout)], moved))()
        (row,) = moved.rows
        found.append(
            {
                "program": f"read as {layout.describe(entry.shape, 'f32')}",
                f"{OURS} ms": round(read * 1e3, 4),
                "GB/s": round(size / read / 1e9, 3),
                "boxes": row.count,
                "box bytes": row.box_bytes,
                "read over box": round(row.stored_bytes / row.box_bytes / row.count, 4),
            }
        )
    return found


def _clocked(cpu: list[float], run: Callable[[], object]) -> float:
    start = time.process_time()
    seconds = timed(run)()
    cpu.append(time.process_time() - start)
    return seconds


def _write(cpu: list[float], side: Side, folder: Path) -> float:
    shutil.rmtree(folder, ignore_errors=True)
    os.sync()
    return _clocked(cpu, partial(side.write, folder))


def _read(cpu: list[float], side: Side, folder: Path) -> float:
    return _clocked(cpu, partial(side.read, folder))


def _read_cold(cpu: list[float], side: Side, folder: Path) -> float:
    """Reading what the system was told to forget, where it can."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return _clocked(cpu, partial(side.read, folder))


def _save(arrays: Mapping[str, Any], folder: Path) -> None:
    Checkpoint(dict(arrays)).save(folder)


def _save_plain(arrays: Arrays, folder: Path) -> None:
    folder.mkdir()
    with (folder / "plain").open("wb") as file:
        for array in arrays.values():
            array.tofile(file)
    sync_tree(folder)


def _load_plain(folder: Path) -> Any:
    return np.fromfile(folder / "plain", np.float32)


def _save_files(arrays: Arrays, folder: Path) -> None:
    folder.mkdir()
    for name, array in arrays.items():
        array.tofile(folder / name)
    sync_tree(folder)


def _load_files(folder: Path) -> list[Any]:
    return [np.fromfile(folder / name, np.float32) for name in os.listdir(folder)]


def _save_safetensors(arrays: Arrays, folder: Path) -> None:
    folder.mkdir()
    import_module("safetensors.numpy").save_file(dict(arrays), folder / "model.safetensors")
    sync_tree(folder)


def _load_safetensors(folder: Path) -> Any:
    return import_module("safetensors.numpy").load_file(folder / "model.safetensors")


def _save_tensorstore(arrays: Arrays, folder: Path) -> None:
    """Zarr 3 without compression, in chunks as large as ours; it flushes by itself."""
    library = import_module("tensorstore")
    context = library.Context({})
    opening = {name: _opened(library, context, folder / name, array) for name, array in arrays.items()}
    writing = [opening[name].result().write(array) for name, array in arrays.items()]
    for future in writing:
        future.result()


def _load_tensorstore(names: list[str], folder: Path) -> list[Any]:
    library = import_module("tensorstore")
    context = library.Context({})
    opening = [_opened(library, context, folder / name) for name in names]
    reading = [future.result().read() for future in opening]
    return [future.result() for future in reading]


def _opened(library: Any, context: Any, folder: Path, array: np.ndarray[Any, Any] | None = None) -> Any:
    """An array that is opened, or made for this one."""
    spec: dict[str, Any] = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{folder}/"}}
    if array is None:
        return library.open(spec, open=True, read=True, context=context)
    rows = max(1, (1 << 20) // max(1, array.nbytes // array.shape[0]))
    chunk = [min(rows, array.shape[0]), *array.shape[1:]]
    grid = {"name": "regular", "configuration": {"chunk_shape": chunk}}
    spec["metadata"] = {
        "shape": array.shape,
        "data_type": array.dtype.name,
        "chunk_grid": grid,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    }
    return library.open(spec, create=True, context=context)
