"""Files of chunks: what is in them, byte by byte where that is known, and what a kill leaves."""

import os
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest
from graph_cases import graph_of_constants
from reference_merger import merge

from shardwright.serialization.errors import MergeError
from shardwright.serialization.fields import from_tags, get_field_tag
from shardwright.serialization.files import siblings
from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.merging.merger import Merger
from shardwright.serialization.protos import chunk_pb2, graph_pb2, records_pb2, versions_pb2
from shardwright.serialization.riegeli import RecordReader, RiegeliError
from shardwright.serialization.splitting import (
    ComposableSplitter,
    GraphDefSplitter,
    MessageSplitter,
    SplitError,
    writing,
)

Strings = graph_pb2.NodeDef.ExperimentalDebugInfo
GRAPH = graph_of_constants([50, 1000, 400] + [60] * 40, fn=[60] * 30)
SMALL = graph_of_constants([50])


class NoOpSplitter(ComposableSplitter):
    pass


class NamesSplitter(ComposableSplitter):
    def build_chunks(self) -> None:
        for number, text in enumerate(self._proto.original_node_names):
            self.add_chunk(text.encode(), ["original_node_names", number])


def read_file(path):
    """The records of a file, its ChunkMetadata and what it says about itself."""
    with RecordReader(path) as reader:
        records = list(reader)
        about = records_pb2.RecordsMetadata.FromString(reader.metadata or b"")
    return records[:-1], chunk_pb2.ChunkMetadata.FromString(records[-1]), about


@pytest.mark.parametrize("options", [None, "uncompressed"])
def test_what_is_not_split_is_a_plain_message(tmp_path, options) -> None:
    message = Strings(original_node_names=["a", "bc", "de"])
    path = NoOpSplitter(message).write(str(tmp_path / "none"), options)
    assert path == str(tmp_path / "none.pb")
    assert Path(path).read_bytes() == message.SerializeToString(deterministic=True)
    assert [file.name for file in tmp_path.iterdir()] == ["none.pb"]


def test_chunks_are_where_the_metadata_says(tmp_path) -> None:
    names = ["abcde", "x" * 10, "y" * 15]
    message = Strings(original_node_names=names)
    path = NamesSplitter(message, proto_as_initial_chunk=False).write(str(tmp_path / "names"))
    assert path == str(tmp_path / "names.cpb")
    records, metadata, about = read_file(path)
    assert records == [name.encode() for name in names]
    assert not metadata.message.HasField("chunk_index")
    assert [field.message.chunk_index for field in metadata.message.chunked_fields] == [0, 1, 2]
    assert metadata.version == versions_pb2.VersionDef(splitter_version=1, join_version=0)
    assert about.record_type_name == Strings.DESCRIPTOR.full_name
    assert about.num_records == 4
    with RecordReader(path) as reader:
        for info, name in zip(metadata.chunks, names, strict=True):
            assert info.type == chunk_pb2.ChunkInfo.BYTES
            assert info.size == len(name)
            assert reader.read(info.offset) == name.encode()


@pytest.mark.parametrize("options", [None, "brotli:1", "zstd", "snappy,chunk_size:300"])
def test_a_graph_comes_back(tmp_path, options) -> None:
    path = GraphDefSplitter(GRAPH, max_size=500).write(tmp_path / "graph", options)
    records, metadata, about = read_file(path)
    chunks, chunked = GraphDefSplitter(GRAPH, max_size=500).split()
    assert metadata.message == chunked
    assert [info.size for info in metadata.chunks] == list(map(len, records))
    kinds = [chunk_pb2.ChunkInfo.BYTES if isinstance(chunk, bytes) else chunk_pb2.ChunkInfo.MESSAGE for chunk in chunks]
    assert [info.type for info in metadata.chunks] == kinds
    assert merge(records, metadata.message, graph_pb2.GraphDef()) == GRAPH
    assert about.num_records == len(records) + 1
    again = graph_pb2.GraphDef()
    Merger.read(tmp_path / "graph", again)
    assert again == GRAPH


def test_runs_say_where_elements_are(tmp_path) -> None:
    path = GraphDefSplitter(GRAPH, max_size=500).write(tmp_path / "graph")
    _, metadata, about = read_file(path)
    chunks, _ = GraphDefSplitter(GRAPH, max_size=500).split()
    found = {}
    for entry in about.chunked_file.runs:
        steps = from_tags(graph_pb2.GraphDef.DESCRIPTOR, entry.message)
        found[tuple(step.field.name for step in steps), entry.field] = entry
    nodes = found[(), 1]
    assert nodes.length == len(GRAPH.node)
    assert [len(chunks[number].node) for number in nodes.chunk_index] == [
        stop - start for start, stop in pairwise([*nodes.first, nodes.length])
    ]
    function = found[("library", "function"), 3]
    assert function.length == 30
    tags = {field.message.chunk_index: list(field.field_tag) for field in metadata.message.chunked_fields}
    inside = [tags[number] for number in function.chunk_index if number]
    assert all(tag == get_field_tag(GRAPH, ["library", "function", 0]) for tag in inside)
    assert function.first[0] == 0


def test_the_same_message_gives_the_same_file(tmp_path) -> None:
    files = [Path(GraphDefSplitter(GRAPH, max_size=500).write(tmp_path / name)).read_bytes() for name in "ab"]
    assert files[0] == files[1]


@pytest.mark.parametrize("max_size", [500, 1 << 20])
def test_progress_is_told(tmp_path, max_size) -> None:
    told = []
    path = GraphDefSplitter(GRAPH, max_size=max_size).write(tmp_path / "graph", on_progress=lambda *of: told.append(of))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[0][0] == 0
    assert told[-1][0] == told[-1][1] == told[0][1]
    records = read_file(path)[0] if path.endswith(".cpb") else [Path(path).read_bytes()]
    assert told[-1][1] == sum(map(len, records))


def test_wrong_options_leave_everything_as_it_was(tmp_path) -> None:
    GraphDefSplitter(SMALL).write(tmp_path / "graph")
    for options in ("nonsense", "brotli:99"):
        with pytest.raises(ValueError, match="SW0809"):
            GraphDefSplitter(GRAPH, max_size=500).write(tmp_path / "graph", options)
    assert [file.name for file in tmp_path.iterdir()] == ["graph.pb"]


def test_the_other_file_goes_away(tmp_path) -> None:
    for graph, name in ((SMALL, "graph.pb"), (GRAPH, "graph.cpb"), (SMALL, "graph.pb"), (GRAPH, "graph.cpb")):
        GraphDefSplitter(graph, max_size=500).write(tmp_path / "graph")
        assert [file.name for file in tmp_path.iterdir()] == [name]
        again = graph_pb2.GraphDef()
        Merger.read(tmp_path / "graph", again)
        assert again == graph


@pytest.mark.parametrize(("old", "new"), [(SMALL, GRAPH), (GRAPH, SMALL), (SMALL, graph_of_constants([90]))])
def test_after_every_step_the_old_or_the_new_is_read(tmp_path, monkeypatch, old, new) -> None:
    """Each call that changes the folder is the last one once."""
    steps = ("replace", "unlink", "fsync")
    seen = set()
    for count in range(40):
        GraphDefSplitter(old, max_size=500).write(tmp_path / "graph")
        with monkeypatch.context() as patch:
            done = stop_after(patch, steps, count)
            try:
                GraphDefSplitter(new, max_size=500).write(tmp_path / "graph")
            except Killed:
                done = False
            else:
                done = True
        again = graph_pb2.GraphDef()
        Merger.read(tmp_path / "graph", again)
        assert again in (old, new)
        seen.add(again == new)
        for file in tmp_path.iterdir():
            file.unlink()
        if done:
            break
    assert done
    assert seen == {False, True}


class Killed(BaseException):
    """The process ends here."""


def stop_after(patch, names, count) -> bool:
    """Let `count` of the calls happen, and none after them."""
    left = [count]

    def guarded(original):
        def call(*args, **kwargs):
            if not left[0]:
                raise Killed
            left[0] -= 1
            return original(*args, **kwargs)

        return call

    for name in names:
        patch.setattr(os, name, guarded(getattr(os, name)))
    patch.setattr(Path, "unlink", guarded(Path.unlink))
    return False


def test_a_stale_file_is_still_an_error(tmp_path) -> None:
    GraphDefSplitter(GRAPH, max_size=500).write(tmp_path / "graph")
    (tmp_path / "graph.pb").write_bytes(SMALL.SerializeToString())
    with pytest.raises(MergeError, match="SW0831"):
        Merger.read(tmp_path / "graph", graph_pb2.GraphDef())
    assert not siblings.supersedes(tmp_path / "graph.cpb", tmp_path / "graph.pb")


def test_a_sibling_is_known_by_every_byte(tmp_path) -> None:
    data = bytes(range(256)) * 50_000
    (tmp_path / "a").write_bytes(data)
    sibling = siblings.sibling_file(tmp_path / "a")
    assert sibling == records_pb2.Sibling(size=len(data), hash=highwayhash64(data))
    (tmp_path / "b.cpb").write_bytes(b"not riegeli")
    assert not siblings.supersedes(tmp_path / "b.cpb", tmp_path / "a")
    assert not siblings.supersedes(tmp_path / "missing.cpb", tmp_path / "a")


def test_a_folder_that_is_not_there(tmp_path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        GraphDefSplitter(GRAPH, max_size=500).write(tmp_path / "nowhere" / "graph")


def test_an_error_leaves_nothing_behind(tmp_path, monkeypatch) -> None:
    def failing(self):
        raise SplitError("SW0817", "no")

    monkeypatch.setattr("shardwright.serialization.splitting.chunks.PlannedChunk.data", failing)
    with pytest.raises(SplitError):
        MessageSplitter(GRAPH, max_size=500).write(tmp_path / "graph")
    assert list(tmp_path.iterdir()) == []
    assert writing.UNCOMPRESSED.compression == "uncompressed"


BIG = """
    import resource, sys
    from shardwright.serialization.protos import graph_pb2
    from shardwright.serialization.splitting import GraphDefSplitter
    from shardwright.serialization.hashing import highwayhash64
    highwayhash64(bytes(1 << 20))
    graph = graph_pb2.GraphDef()
    for number in range(20_000):
        node = graph.node.add(name=f"node{number}", op="MatMul", input=["a", "b"])
        node.attr["T"].type = 1
    for size in [200 << 20] + [4 << 20] * 90:
        content = bytes(size)
        graph.node.add(name="c", op="Const").attr["value"].tensor.tensor_content = content
        del content
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    GraphDefSplitter(graph, max_size=100 << 20).write(sys.argv[1])
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


@pytest.mark.slow
def test_memory_stays_at_a_chunk_above_the_message(tmp_path) -> None:
    run = [sys.executable, "-c", textwrap.dedent(BIG), str(tmp_path / "big")]
    result = subprocess.run(run, capture_output=True, text=True, check=True)
    assert int(result.stdout) < 200 + 100
    assert (tmp_path / "big.cpb").stat().st_size > 560 << 20


def test_damage_is_found_by_the_reader(tmp_path) -> None:
    path = Path(GraphDefSplitter(GRAPH, max_size=500).write(tmp_path / "graph"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises((MergeError, RiegeliError)):
        Merger.read(tmp_path / "graph", graph_pb2.GraphDef())
