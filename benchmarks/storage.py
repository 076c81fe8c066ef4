"""Riegeli files next to NumPy's plain ones and protobuf's messages on the same disk, and next to the codecs alone."""

from __future__ import annotations

import io
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import Message

from shardwright.benchmarks.measure import interleave, timed
from shardwright.benchmarks.report import Cell, Report, compared
from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.riegeli import RecordReader, RecordWriter
from shardwright.serialization.riegeli.chunks.codecs import BROTLI, SNAPPY, ZSTD, package
from shardwright.serialization.splitting import splitter_for

OURS, THEIRS = "ours", "theirs"
Work = Callable[[], object]


def disk_rows(size: int, repetitions: int, folder: Path) -> list[dict[str, Cell]]:
    """One record of `size` bytes that do not compress, written and read without compression."""
    data = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)
    plain, records = folder / "plain", folder / "records"
    ours = partial(clear, records), partial(write, records, data, "uncompressed")
    theirs = partial(clear, plain), partial(write_plain, plain, data)
    rows = [_row("write and fsync", size, repetitions, ours, theirs)]
    for state, prepare in (("cold", forget), ("in cache", Path.stat)):
        ours = partial(prepare, records), partial(read, records)
        theirs = partial(prepare, plain), partial(np.fromfile, plain, np.uint8)
        rows.append(_row(f"read, {state}", size, repetitions, ours, theirs))
    parts = {"hash": partial(highwayhash64, data.data), "copy": data.copy}
    alone = interleave({name: timed(run) for name, run in parts.items()}, repetitions)
    for row in rows:
        whole = row[f"{OURS} ms"]
        assert isinstance(whole, float)
        hashing, copying = (round(alone[name].median * 1e3 / whole, 3) for name in ("hash", "copy"))
        row |= {
            "hash share": hashing,
            "copy share": copying,
            "disk and rest": round(max(0.0, 1 - hashing - copying), 3),
        }
    return rows


def codec_rows(size: int, repetitions: int) -> list[dict[str, Cell]]:
    """Floats, which compress a little, through each codec: a file in memory against one call of the codec's library."""
    data = np.random.default_rng(0).standard_normal(size // 4).astype(np.float32).view(np.uint8)
    file = mmap(-1, size + size // 4 + (1 << 20))
    rows: list[dict[str, Cell]] = []
    for text, (squeeze, expand) in alone().items():
        ours = _nothing, partial(write_in_memory, file, data, text)
        rows.append(_row(f"write {text}", size, repetitions, ours, (_nothing, partial(squeeze, data))))
        contents, packed = io.BytesIO(file[: file.tell()]), bytes(squeeze(data))
        ours = _nothing, partial(read, contents)
        rows.append(_row(f"read {text}", size, repetitions, ours, (_nothing, partial(expand, packed))))
    return rows


def record_rows(count: int, repetitions: int, folder: Path) -> list[dict[str, Cell]]:
    """So many small messages and a graph of them: ours next to protobuf's own time and a plain file."""
    nodes = [_node(number) for number in range(count)]
    graph, texts = graph_pb2.GraphDef(node=nodes), [node.SerializeToString() for node in nodes]
    size, rows = sum(map(len, texts)), list[dict[str, Cell]]()
    plain, records = folder / "messages", folder / "messages.riegeli"
    for options in ("uncompressed", "zstd:3", "transpose,zstd:3"):
        ours = partial(clear, records), partial(write_records, records, nodes, options)
        theirs = partial(clear, plain), partial(write_messages, plain, nodes)
        rows.append(_row(f"write {count:,} messages, {options}", size, repetitions, ours, theirs))
        ours, theirs = (_nothing, partial(read_records, records)), (_nothing, partial(parse, texts))
        rows.append(_row(f"read {count:,} messages, {options}", size, repetitions, ours, theirs))
    ours = partial(clear, folder / "graph.pb"), partial(write_split, folder / "graph", graph)
    theirs = partial(clear, plain), partial(write_messages, plain, [graph])
    return [*rows, _row(f"write a graph of {count:,} nodes", size, repetitions, ours, theirs)]


def _node(number: int) -> graph_pb2.NodeDef:
    inputs = [f"layer_{number - 1}/mul", f"w_{number}"]
    kind = graph_pb2.AttrValue(type=graph_pb2.DT_FLOAT)
    return graph_pb2.NodeDef(name=f"layer_{number}/mul", op="Mul", input=inputs, attr={"T": kind})


def alone() -> dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]:
    """The libraries' own ways to compress and to decompress a buffer, by our option for the same."""
    snappy, zstd, brotli = (package(kind) for kind in (SNAPPY, ZSTD, BROTLI))
    return {
        "snappy": (snappy.snappy.compress_raw, snappy.snappy.decompress_raw),
        "zstd:3": (lambda data: zstd.ZstdCompressor(3).compress(data), zstd.ZstdDecompressor().decompress),
        "brotli:1": (partial(brotli.compress, quality=1), brotli.decompress),
    }


def storage(size: int, repetitions: int) -> Report:
    """All rows, in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("SHARDWRIGHT_BENCH_FOLDER")) as name:
        rows = disk_rows(size, repetitions, Path(name)) + codec_rows(size // 4, max(1, repetitions // 3))
        rows += record_rows(min(20_000, size >> 10), repetitions, Path(name))
    title = f"riegeli files of {size / 2**20:.0f} MiB; `throughput` is ours over theirs"
    return Report("storage", title, rows)


def write(file: Path | mmap, data: np.ndarray, options: str) -> None:
    """Ours: one record, flushed to the disk when the file is closed."""
    with RecordWriter(file, options) as writer:
        writer.write(data.data)


def write_in_memory(file: mmap, data: np.ndarray, options: str) -> None:
    """Ours, no disk: memory whose pages are there from the first time on."""
    file.seek(0)
    write(file, data, options)


def write_plain(path: Path, data: np.ndarray) -> None:
    """NumPy's, flushed to the disk."""
    with path.open("wb") as file:
        data.tofile(file)
        file.flush()
        os.fsync(file.fileno())


def write_messages(path: Path, messages: Sequence[Message]) -> None:
    """Protobuf's, one after the other into a plain file, flushed to the disk."""
    with path.open("wb") as file:
        for message in messages:
            file.write(message.SerializeToString())
        file.flush()
        os.fsync(file.fileno())


def write_records(path: Path, messages: Sequence[Message], options: str) -> None:
    """Ours: a record each, flushed to the disk."""
    with RecordWriter(path, options) as writer:
        for message in messages:
            writer.write(message.SerializeToString())


def read_records(path: Path) -> int:
    """Each record read as a message; how many there were."""
    with RecordReader(path) as reader:
        return parse(reader)


def write_split(prefix: Path, message: Message) -> None:
    """Ours: a message of any size, flushed to the disk."""
    splitter_for(message).write(str(prefix))


def parse(texts: Iterable[bytes]) -> int:
    """Each text read as a message; how many there were."""
    return sum(1 for _ in map(graph_pb2.NodeDef.FromString, texts))


def read(file: Path | io.BytesIO) -> int:
    """Every record, checked; the bytes that came."""
    with RecordReader(file) as reader:
        return sum(len(view) for view in reader.views())


def clear(path: Path) -> None:
    """No file, and nothing that the disk is still busy with."""
    path.unlink(missing_ok=True)
    os.sync()


def forget(path: Path) -> None:
    """Drop a file from the system's cache, where the system can."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _nothing() -> None:
    """No preparation."""


def _row(name: str, size: int, repetitions: int, ours: tuple[Work, Work], theirs: tuple[Work, Work]) -> dict[str, Cell]:
    """
    Two contenders, each its preparation, which does not count, and its work. `throughput` is by the clock, `per cpu` by
    the seconds of processors, which other programs on the machine disturb less: ours uses two at a time.
    """
    cpu: dict[str, list[float]] = {OURS: [], THEIRS: []}

    def once(who: str, prepare: Work, run: Work) -> float:
        prepare()
        start = time.process_time()
        seconds = timed(run)()
        cpu[who].append(time.process_time() - start)
        return seconds

    samples = interleave({OURS: partial(once, OURS, *ours), THEIRS: partial(once, THEIRS, *theirs)}, repetitions)
    seconds = samples[OURS].median
    return {
        "program": name,
        **compared(samples, OURS, THEIRS),
        "GB/s": round(size / seconds / 1e9, 3),
        "throughput": round(samples[THEIRS].median / seconds, 3),
        "per cpu": round(statistics.median(cpu[THEIRS]) / statistics.median(cpu[OURS]), 3),
    }
