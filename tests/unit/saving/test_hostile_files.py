"""Files that are no files, names that lead outside and tables that expand: refused, soon and in little memory."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_models import unpacked
from hostile import bounded, outcome

import shardwright as sw
from shardwright import Checkpoint, Layout, Mesh, Variable
from shardwright.diagnostics import Diagnostic
from shardwright.dialects.text.parsing import parse_module
from shardwright.saving.directories import asset, read_message
from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.ir.files import read_module, write_module
from shardwright.serialization.merging import Merger, open_message, read_metadata, verify
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.splitting import splitter_for
from shardwright.serialization.tables.crc32c import crc32c, masked
from shardwright.serialization.tables.sorted_table import MAGIC, read_table
from shardwright.serialization.tables.tensor_bundle import TensorBundle
from shardwright.serialization.wire import varint
from shardwright.tools.main import main as shardwright_command

ROWS = Layout(["x"], Mesh(x=2))


def graph() -> graph_pb2.GraphDef:
    return graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name=f"n{number}", op="NoOp") for number in range(40)])


def stored(folder: Path) -> None:
    """One of everything that is stored, in a folder."""
    w = Variable(np.arange(8, dtype="float32"), layout=ROWS, name="w")
    step = sw.function(lambda x: x * w)
    step(sw.ones(8, layout=ROWS))
    (folder / "words.txt").write_text("one two")
    sw.save({"step": step, "w": w}, folder / "saved", assets=[folder / "words.txt"])
    Checkpoint(w=w, step=3).save(folder / "checkpoint")
    splitter_for(graph(), max_size=150).write(folder / "chunks")
    (folder / "graph.pb").write_bytes(graph().SerializeToString())
    write_module(parse_module("func.func @main() { return }"), folder / "module")
    write_module(parse_module("func.func @main() { return }"), folder / "large", max_size=60)
    shutil.copytree(unpacked() / "mlp", folder / "theirs")


def command(*arguments: str) -> Callable[[Path], Any]:
    """A command, as a loader: its error is raised again."""

    def run(folder: Path) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
            code = shardwright_command([argument.format(folder) for argument in arguments])
        assert code in (0, 1), said.getvalue()
        assert code == 0 or "error[SW" in said.getvalue()
        assert "Traceback" not in said.getvalue()
        if code:
            raise sw.ShardwrightValueError(Diagnostic(said.getvalue().split("error[")[1][:6], "refused"))

    return run


def restored(folder: Path) -> Any:
    return Checkpoint(w=Variable(np.zeros(8, "float32"), layout=ROWS), step=0).restore(folder / "checkpoint")


LOADERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "load": ("saved", lambda folder: sw.load(folder / "saved")),
    "read_message": ("saved", lambda folder: read_message(folder / "saved")),
    "asset": ("saved/assets", lambda folder: asset(folder / "saved", "words.txt")),
    "restore": ("checkpoint", restored),
    "load_variables": ("checkpoint", lambda folder: sw.load_variables(folder / "checkpoint")),
    "verify_checkpoint": ("checkpoint", lambda folder: sw.verify_checkpoint(folder / "checkpoint")),
    "list_variables": ("checkpoint/checkpoint.jsonl", lambda folder: sw.list_variables(folder / "checkpoint")),
    "Merger.read": ("chunks.cpb", lambda folder: Merger.read(folder / "chunks", graph_pb2.GraphDef())),
    "Merger.read_partial": ("chunks.cpb", lambda folder: Merger.read_partial(folder / "chunks", graph_pb2.GraphDef())),
    "read_metadata": ("chunks.cpb", lambda folder: read_metadata(folder / "chunks.cpb")),
    "verify": ("chunks.cpb", lambda folder: verify(folder / "chunks")),
    "open_message": ("chunks.cpb", lambda folder: open_message(folder / "chunks", graph_pb2.GraphDef).get("node")),
    "Merger.read, whole": ("graph.pb", lambda folder: Merger.read(folder / "graph", graph_pb2.GraphDef())),
    "read_module": ("module.pb", lambda folder: read_module(folder / "module")),
    "read_module, chunks": ("large.cpb", lambda folder: read_module(folder / "large")),
    "from_graph": ("graph.pb", lambda folder: sw.from_graph(folder / "graph.pb")),
    "from_saved_model": ("theirs", lambda folder: sw.from_saved_model(folder / "theirs")),
    "shardwright verify": ("chunks.cpb", command("verify", "{}/chunks.cpb")),
    "shardwright inspect": ("chunks.cpb", command("inspect", "{}/chunks.cpb")),
    "shardwright verify, a directory": ("saved", command("verify", "{}/saved")),
    "shardwright inspect, a directory": ("saved", command("inspect", "{}/saved")),
    "shardwright verify, a checkpoint": ("checkpoint", command("verify", "{}/checkpoint")),
    "shardwright split": ("graph.pb", command("split", "{}/graph.pb", "--type", "GraphDef", "-o", "{}/out")),
    "shardwright merge": ("chunks.cpb", command("merge", "{}/chunks.cpb", "--type", "GraphDef", "-o", "{}/out.pb")),
}


REPLACED: dict[str, Callable[[Path], Any]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a device": lambda file: file.symlink_to("/dev/zero"),
    "a link to itself": lambda file: file.symlink_to(file),
}


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("originals")
    stored(place)
    highwayhash64(bytes(1 << 17))
    for name, (_, read) in LOADERS.items():
        code, _ = outcome(lambda read=read: read(place))
        assert code in ("", "SW0891"), name
    return place


@pytest.mark.parametrize("name", LOADERS)
def test_what_is_no_file(name: str, originals: Path, tmp_path: Path) -> None:
    """Each file of what is stored becomes a pipe that nobody writes to, a folder, a device: nothing waits for it."""
    where, read = LOADERS[name]
    shutil.copytree(originals, place := tmp_path / "copy")
    top = place / where
    for file in [path for path in top.rglob("*") if path.is_file()] if top.is_dir() else [top]:
        data = file.read_bytes()
        file.unlink()
        needed, _ = outcome(lambda: read(place))
        for what, replace in REPLACED.items():
            replace(file)
            with bounded(f"{name}: {file.name} is {what}"):
                code, _ = outcome(lambda: read(place))
            assert code or not needed, (name, str(file.relative_to(place)), what)
            file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()
        file.write_bytes(data)


def block(body: bytes, kind: int = 0) -> bytes:
    """A block of a table with its checksum."""
    return body + bytes([kind]) + struct.pack("<I", masked(crc32c(body + bytes([kind]))))


def entries(*items: tuple[int, bytes, bytes]) -> bytes:
    """The contents of a block: bytes shared with the key before, the rest of the key, the value."""
    body = b"".join(
        varint(shared) + varint(len(key)) + varint(len(value)) + key + value for shared, key, value in items
    )
    return body + struct.pack("<II", 0, 1)


def table(blocks: list[bytes], handles: list[tuple[int, int]]) -> bytes:
    """A table of blocks, whose index lists what it likes."""
    data = b"".join(blocks)
    index = entries(*[(0, b"%09d" % number, varint(at) + varint(size)) for number, (at, size) in enumerate(handles)])
    footer = varint(0) + varint(0) + varint(len(data)) + varint(len(index))
    return data + block(index) + footer.ljust(40, b"\0") + struct.pack("<Q", MAGIC)


def snappy_zeros(size: int) -> bytes:
    """Zeros as snappy says them: one literal, then copies of 64 bytes in 3."""
    return varint(size) + b"\0\0" + b"\xfe\1\0" * ((size - 1) // 64)


@cache
def long() -> bytes:
    """A block of keys that share everything with the one before."""
    return entries((0, b"k" * 100_000, b""), *[(100_000, b"", b"")] * 100_000)


@cache
def many() -> bytes:
    """A block of keys that share nothing."""
    return entries(*[(0, b"key%d" % number, b"value") for number in range(50_000)])


TABLES: dict[str, Callable[[], bytes]] = {
    "keys that share everything with the one before": lambda: table([block(long())], [(0, len(long()))]),
    "one block that is listed often": lambda: table([block(many())], [(0, len(many()))] * 10_000),
    "blocks that go backwards": lambda: table([block(entries((0, b"a", b"")))] * 2, [(25, 12), (0, 12)]),
    "zeros in snappy": lambda: table(
        [block(snappy_zeros(60 << 20), 1)] * 3,
        [((len(snappy_zeros(60 << 20)) + 5) * number, 10) for number in range(3)],
    ),
    "a block of 2**63 bytes": lambda: table([block(many())], [(0, 1 << 63)]),
    "an index that lists nothing": lambda: table([block(many())], []),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_expand(name: str, tmp_path: Path) -> None:
    (tmp_path / "variables.index").write_bytes(TABLES[name]())
    read_table(unpacked() / "mlp/variables/variables.index")
    with bounded(name):
        code, found = outcome(lambda: TensorBundle(tmp_path / "variables"))
    assert code == "SW0892", found


def test_a_file_that_shrinks(tmp_path: Path) -> None:
    shutil.copytree(unpacked() / "mlp/variables", tmp_path / "variables")
    bundle = TensorBundle(tmp_path / "variables/variables")
    tensor = bundle.tensor("variables/0/.ATTRIBUTES/VARIABLE_VALUE", np.dtype("float32"))
    (tmp_path / "variables/variables.data-00000-of-00001").write_bytes(b"")
    assert tensor.sum() != 0
    assert outcome(lambda: bundle.tensor("variables/0/.ATTRIBUTES/VARIABLE_VALUE", np.dtype("float32")))[0] == "SW0892"
