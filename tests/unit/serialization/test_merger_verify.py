"""`verify` finds what reading finds, and more, and puts nothing large together."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from chunk_cases import Many, chunked_file, constant, put, tree
from chunk_faults import CHUNKS, EDITS, OPTIONS, PATHS, TEXTS, TREE, sample, wrong_runs
from every_field import random_message

from shardwright.serialization.merging import MergeError, Merger, verify
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.splitting import splitter_for


@pytest.mark.parametrize("seed", range(12))
def test_what_splitters_write_is_right(tmp_path: Path, seed: int) -> None:
    message = random_message(seed, budget=200, length=40)
    path = splitter_for(message, max_size=300).write(str(tmp_path / "m"))
    for kind in (type(message), None):
        report = verify(path, kind)
        assert report.file == path
        assert report.bytes == Path(path).stat().st_size
        assert report.message_type == (message.DESCRIPTOR.full_name if kind else None)
    if path.endswith(".cpb"):
        assert len(report.chunks) > 1


def test_chunks_and_progress(tmp_path: Path) -> None:
    nodes = [constant("a", bytes(3000)), constant("b", bytes(50))]
    path = splitter_for(graph_pb2.GraphDef(node=nodes), max_size=400).write(str(tmp_path / "g"))
    told = list[tuple[int, int]]()
    report = verify(path, graph_pb2.GraphDef, on_progress=lambda done, total: told.append((done, total)))
    assert [(chunk.path, chunk.kind, chunk.size) for chunk in report.chunks][1:] == [
        ('node[0].attr["value"].tensor.tensor_content', "BYTES", 3000)
    ]
    assert told[-1] == (report.message_bytes, report.message_bytes)
    assert all(one[0] < other[0] for one, other in itertools.pairwise(told))
    assert [chunk.path for chunk in verify(path).chunks] == ["", '.1[0].5["value"].8.4']


@pytest.mark.parametrize("number", range(len(EDITS)))
def test_metadata_that_do_not_fit(tmp_path: Path, number: int) -> None:
    edit, code, _, _ = EDITS[number]
    prefix = put(tmp_path, chunked_file(CHUNKS, TREE, edit))
    with pytest.raises(MergeError) as caught:
        verify(prefix, Many)
    assert caught.value.code == code
    if code != "SW0838":
        with pytest.raises(MergeError):
            verify(prefix)


@pytest.mark.parametrize(("path", "code", "text"), PATHS)
def test_paths(tmp_path: Path, path: Any, code: str, text: str) -> None:
    prefix = put(tmp_path, chunked_file([Many(several=[Many()]), b"data"], tree(0, (path, 1))))
    with pytest.raises(MergeError, match=code):
        verify(prefix, Many)


@pytest.mark.parametrize(("path", "texts"), TEXTS)
def test_values(tmp_path: Path, path: Any, texts: list[bytes]) -> None:
    prefix = put(tmp_path, chunked_file([texts[0]], tree(None, (path, 0))))
    with pytest.raises(MergeError, match="SW0838"):
        verify(prefix, Many)
    assert len(verify(prefix).chunks) == 1


@pytest.mark.parametrize("options", OPTIONS)
def test_flips(tmp_path: Path, options: str) -> None:
    data = sample(options)[0]
    prefix = put(tmp_path, data)
    verify(prefix, graph_pb2.GraphDef)
    verify(prefix)
    for place in range(0, len(data), 997):
        damaged = bytearray(data)
        damaged[place] ^= 16
        put(tmp_path, bytes(damaged))
        for kind in (graph_pb2.GraphDef, None):
            with pytest.raises(MergeError):
                verify(prefix, kind)


def test_lists_of_runs(tmp_path: Path) -> None:
    """A wrong list misleads lazy reading only; `verify` finds it."""
    graph = graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name=f"node {number}") for number in range(60)])
    for changes in ({"first": [0, 1]}, {"length": 59}, {"length": 61}, {"field": 99}):
        path = Path(splitter_for(graph, max_size=300).write(str(tmp_path / "g")))
        verify(path, graph_pb2.GraphDef)
        wrong_runs(path, **changes)
        with pytest.raises(MergeError, match="SW0848"):
            verify(path, graph_pb2.GraphDef)
        Merger.read(path, graph_pb2.GraphDef())


def test_whole_files(tmp_path: Path) -> None:
    for data, kind in ((b"\xff", graph_pb2.GraphDef), (b"\xff", None), (b"\x0a\x05a", graph_pb2.GraphDef)):
        with pytest.raises(MergeError, match="SW0839"):
            verify(put(tmp_path, data, "w.pb"), kind)


def test_untyped_tags_that_lead_nowhere(tmp_path: Path) -> None:
    for path in (([0],), (1, [0], [0]), ({"s": "x"},)):
        with pytest.raises(MergeError, match="SW0837"):
            verify(put(tmp_path, chunked_file([Many(), b"x"], tree(0, (path, 1)))))
    with pytest.raises(MergeError, match="SW0843"):
        verify(put(tmp_path, chunked_file([Many(), b"x"], tree(0, ((1,) * 500, 1)))))
