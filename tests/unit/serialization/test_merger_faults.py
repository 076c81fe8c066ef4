"""Files and trees that TensorFlow's merger ignores, gets wrong or dies of: each is refused, by code and place."""

from __future__ import annotations

import io
import os
import random
from pathlib import Path
from typing import Any

import pytest
from chunk_cases import Many, Node, chunked_file, constant, put, tree
from chunk_faults import CHUNKS, EDITS, PATHS, TEXTS, TREE
from every_field import Old

from shardwright.serialization.merging import MergeError, Merger, read_metadata
from shardwright.serialization.merging.reading.files import find_file
from shardwright.serialization.protos import chunk_pb2, graph_pb2
from shardwright.serialization.riegeli import RecordWriter
from shardwright.serialization.splitting import splitter_for


def refusal(data: bytes, kind: Any = Many) -> MergeError:
    """The error of reading a file's contents; the message stays empty."""
    with pytest.raises(MergeError) as caught:
        Merger.read_chunked_from_string(data, message := kind())
    assert message == kind()
    return caught.value


def graph(name: str) -> graph_pb2.GraphDef:
    return graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name=name)])


@pytest.mark.parametrize("number", range(len(EDITS)))
@pytest.mark.parametrize("options", ["uncompressed", "brotli", "uncompressed,chunk_size:1"])
def test_metadata_that_do_not_fit_the_file(number: int, options: str) -> None:
    """TensorFlow ignores most of these, gives a wrong message with status OK, or crashes."""
    edit, code, chunk, text = EDITS[number]
    error = refusal(chunked_file(CHUNKS, TREE, edit, options))
    assert error.code == code
    assert error.file == "the file"
    if "is in no list of chunks" not in error.message:  # which of two faults is found first depends on the chunks
        assert error.chunk == chunk
        assert text in error.message


@pytest.mark.parametrize(("path", "code", "text"), PATHS)
def test_paths_that_the_type_does_not_have(path: Any, code: str, text: str) -> None:
    """TensorFlow aborts, or writes to a place that is not the path's."""
    root = Many(several=[Many()])
    error = refusal(chunked_file([root, b"data"], tree(0, (path, 1))))
    assert (error.code, error.chunk) == (code, 1)
    assert text in error.message
    with pytest.raises(MergeError, match=code):
        Merger.merge([root, b"data"], tree(0, (path, 1)), Many())


def test_tags_that_say_nothing() -> None:
    message = tree(0, ((10,), 1))
    message.chunked_fields[0].field_tag.add()
    assert "a tag of kind 'field', not None" not in refusal(chunked_file([Many(), b"x"], message)).message
    message.chunked_fields[0].field_tag.pop(0)
    error = refusal(chunked_file([Many(), b"x"], message))
    assert (error.code, error.message) == ("SW0837", "after the message there must be a tag of kind 'field', not None")


@pytest.mark.parametrize(("path", "text"), [(path, text) for path, texts in TEXTS for text in texts])
def test_bytes_that_are_no_value_of_their_field(path: Any, text: bytes) -> None:
    """TensorFlow takes "12abc" for 12, "True" for false, dies of numbers that are too large, and accepts any string."""
    error = refusal(chunked_file([text], tree(None, (path, 0))))
    assert (error.code, error.chunk) == ("SW0838", 0)


def test_two_chunks_for_one_number() -> None:
    error = refusal(chunked_file([b"1", b"2"], tree(None, ((6,), 0), ((6,), 1))))
    assert (error.code, error.chunk, error.path) == ("SW0838", 1, "number")


@pytest.mark.parametrize("path", [(21,), (22,), (21, 10)])
def test_another_member_of_a_oneof(path: Any) -> None:
    """Setting it would drop what another chunk put there."""
    chunk = Many() if path == (21,) else b"data"
    error = refusal(chunked_file([Many(left=Many(text="kept")), chunk], tree(0, (path, 1))))
    assert (error.code, error.chunk) == ("SW0841", 1)
    assert "would take the place of left" in error.message


def test_chunks_that_are_not_their_message() -> None:
    def as_message(found: chunk_pb2.ChunkMetadata) -> None:
        found.chunks[1].type = chunk_pb2.ChunkInfo.MESSAGE

    for junk in (b"\xff\xff", b"\x1a\x05ab", b"\x1a\x01\xff", b"\x0a\x02" * 200):
        error = refusal(chunked_file([Many(), junk], tree(0, ((1,), 1)), as_message))
        assert (error.code, error.chunk, error.path) == ("SW0839", 1, "one")


def test_required_fields_of_proto2() -> None:
    part = Old(must_int=1)
    error = refusal(chunked_file([part], tree(0)), Old)
    assert (error.code, error.message) == ("SW0842", "required fields are missing: must_bytes")
    Merger.merge([part, b"x"], tree(0, ((21,), 1)), merged := Old())
    assert merged.must_bytes == b"x"


def test_messages_of_another_type_in_memory() -> None:
    for chunks in ([Many(), Node()], [Many(), graph("a")]):
        with pytest.raises(MergeError, match=r"SW0838.*chunk 1, one: a .* cannot be merged into a chunk_cases.Many"):
            Merger.merge(chunks, tree(0, ((1,), 1)), Many())
    with pytest.raises(MergeError, match=r"SW0846.*chunk 0: a chunk is a message or bytes, not str"):
        Merger.merge(["text"], tree(0), Many())  # type: ignore[list-item]
    with pytest.raises(MergeError, match=r"SW0846.*a chunk is the message to merge into"):
        Merger.merge([same := Many()], tree(None, ((1,), 0)), same)
    with pytest.raises(MergeError, match=r"SW0846.*is a message, not <class"):
        Merger.merge([Many()], tree(0), Many)
    with pytest.raises(MergeError, match=r"SW0846.*is not empty"):
        Merger.merge([Many()], tree(0), Many(number=1))


def test_which_file_is_read(tmp_path: Path) -> None:
    prefix = tmp_path / "m"
    data, whole = chunked_file(CHUNKS, TREE), CHUNKS[0].SerializeToString()
    with pytest.raises(MergeError, match=r"SW0830.*no file .*m\.pb or .*m\.cpb"):
        Merger.read(prefix, Many())
    put(tmp_path, data)
    Merger.read(prefix, chunked := Many())
    Merger.read(os.fspath(prefix) + ".cpb", again := Many())
    assert chunked == again
    with pytest.raises(MergeError, match=r"SW0830.*m\.pb"):
        Merger.read(os.fspath(prefix) + ".pb", Many())
    put(tmp_path, whole, "m.pb")
    for name in ("m", "m.pb", "m.cpb"):
        for read in (Merger.read, Merger.read_partial):
            with pytest.raises(MergeError, match=r"SW0831.*m\.pb: m\.cpb stands beside it"):
                read(tmp_path / name, Many())
    (tmp_path / "m.cpb").unlink()
    Merger.read(prefix, root := Many())
    assert root == CHUNKS[0]
    for reading in (lambda: Merger.read_partial(prefix, Many()), lambda: read_metadata(prefix)):
        with pytest.raises(MergeError, match="SW0847"):
            reading()


def test_a_file_that_says_which_one_it_supersedes(tmp_path: Path) -> None:
    """Writing was cut short between the two: the splitter wrote the new file and did not remove the old one yet."""
    old, new = graph("old"), graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name=f"new {i}") for i in range(100)])
    (tmp_path / "m.pb").write_bytes(old.SerializeToString())
    splitter_for(new, max_size=300).write(str(tmp_path / "n"))
    (tmp_path / "n.pb").write_bytes(old.SerializeToString())
    with pytest.raises(MergeError, match="SW0831"):
        Merger.read(tmp_path / "n", graph_pb2.GraphDef())
    kept = (tmp_path / "m.pb").read_bytes()
    splitter_for(new, max_size=300).write(str(tmp_path / "m"))
    (tmp_path / "m.pb").write_bytes(kept)
    for name in ("m", "m.cpb"):
        Merger.read(tmp_path / name, merged := graph_pb2.GraphDef())
        assert merged == new
    (tmp_path / "m.pb").write_bytes(kept + b"\0")
    with pytest.raises(MergeError, match="SW0831"):
        Merger.read(tmp_path / "m", graph_pb2.GraphDef())
    (tmp_path / "m.pb").write_bytes(graph("odd").SerializeToString())
    with pytest.raises(MergeError, match="SW0831"):
        Merger.read(tmp_path / "m", graph_pb2.GraphDef())


def test_a_root_that_is_no_chunk(tmp_path: Path) -> None:
    prefix = put(tmp_path, chunked_file([b"x"], tree(None, ((10,), 0))))
    with pytest.raises(MergeError, match="SW0847"):
        Merger.read_partial(prefix, Many())


def test_files_of_another_kind(tmp_path: Path) -> None:
    draw = random.Random(3)
    for data, text in (
        (b"", "it is empty"),
        (draw.randbytes(1000), "does not begin"),
        (bytes(100), "does not begin"),
        (CHUNKS[0].SerializeToString(), "does not begin"),
        (chunked_file(CHUNKS, TREE)[:40], "does not"),
    ):
        with pytest.raises(MergeError, match=rf"SW0832.*{text}"):
            Merger.read(put(tmp_path, data), Many())
    (tmp_path / "m.cpb").unlink()
    put(tmp_path, chunked_file(CHUNKS, TREE), "n.pb")
    with pytest.raises(MergeError, match=r"SW0832.*n\.pb: it has chunks"):
        Merger.read(tmp_path / "n", Many())
    put(tmp_path, b"\xff\xff\xff", "o.pb")
    with pytest.raises(MergeError, match=r"SW0839.*o\.pb: it cannot be parsed"):
        Merger.read(tmp_path / "o", Many())
    (tmp_path / "folder.cpb").mkdir()
    with pytest.raises(MergeError, match="SW0830"):
        find_file(tmp_path / "folder")


def records(*data: bytes) -> bytes:
    file = io.BytesIO()
    with RecordWriter(file, "uncompressed,chunk_size:1") as writer:
        for record in data:
            writer.write(record)
    return file.getvalue()


@pytest.mark.parametrize("last", [b"", b"\x0a\x02\x08\x01", b"text", bytes(10), b"\xff" * 20,
                                  Many(text="a chunk").SerializeToString(), graph("a").SerializeToString(),
                                  chunk_pb2.ChunkedMessage(chunk_index=0).SerializeToString()])  # fmt: skip
def test_a_last_record_that_is_not_metadata(last: bytes) -> None:
    """TensorFlow takes a record for metadata that says nothing at all."""
    assert refusal(records(b"first", last)).code == "SW0833"


def test_files_without_records() -> None:
    assert refusal(records()).code == "SW0833"


@pytest.mark.parametrize(
    "extra",
    [
        b"\x20\x01",
        b"\x22\x00",
        b"\x0a\x02\x08\x01\x0a\x00",
        b"\x12\x02\x20\x01",
        b"\x1a\x00",
        b"\x1a\x02\x18\x01",
        b"\x1a\x06\x12\x04\x0a\x02\x20\x05",
        b"\x00",
        b"\x08",
        b"\x15",
    ],
)
def test_metadata_with_more_in_them(extra: bytes) -> None:
    """Fields of no ChunkMetadata, or a second of a kind that it has once: it is something else."""
    assert refusal(chunked_file(CHUNKS, TREE, extra=extra)).code in ("SW0833", "SW0835")


def test_a_file_cut_between_two_records() -> None:
    """Riegeli sees a shorter file without a fault; the record that is then the last is no metadata."""
    whole = chunked_file(CHUNKS, TREE, options="uncompressed,chunk_size:1")
    positions: list[int] = []

    def note(found: chunk_pb2.ChunkMetadata) -> None:
        positions.extend(chunk.offset for chunk in found.chunks)

    assert chunked_file(CHUNKS, TREE, note, options="uncompressed,chunk_size:1") == whole
    for position in positions:
        assert refusal(whole[:position]).code in ("SW0833", "SW0832")


def test_bytes_after_the_end() -> None:
    for extra in (b"\0", bytes(1000), b"garbage", random.Random(5).randbytes(70000)):
        assert refusal(chunked_file(CHUNKS, TREE) + extra).code in ("SW0802", "SW0803", "SW0804")


def test_a_record_after_the_metadata() -> None:
    file = io.BytesIO(chunked_file(CHUNKS, TREE))
    file.seek(0, io.SEEK_END)
    with RecordWriter(file, "uncompressed") as writer:
        writer.write(b"more")
    assert refusal(file.getvalue()).code == "SW0833"


def test_a_damaged_chunk_says_what_it_was_for() -> None:
    node = constant("c", b"")
    message = tree(0, ((1, [0], 5, {"s": "value"}, 8, 4), 1))
    data = bytearray(chunked_file([graph_pb2.GraphDef(node=[node]), b"content" * 9000], message))
    data[data.index(b"content") + 100] ^= 1
    error = refusal(bytes(data), graph_pb2.GraphDef)
    assert (error.code, error.chunk, error.path) == ("SW0803", 1, 'node[0].attr["value"].tensor.tensor_content')
    assert "byte " in error.message


@pytest.mark.parametrize("name", ["", "/", "."])
def test_names_that_no_file_has(name: str) -> None:
    with pytest.raises(MergeError, match="SW0830"):
        Merger.read(name, graph_pb2.GraphDef())


def test_a_file_with_another_ending_is_named(tmp_path: Path) -> None:
    (tmp_path / "graph.bin").write_bytes(b"")
    with pytest.raises(MergeError, match=r"SW0830.*graph.bin ends in neither"):
        Merger.read(tmp_path / "graph.bin", graph_pb2.GraphDef())


def test_chunks_without_a_chunked_message() -> None:
    none: Any = None
    with pytest.raises(MergeError, match=r"SW0846.*ChunkedMessage"):
        Merger.merge([], none, graph_pb2.GraphDef())


@pytest.mark.parametrize("prefix", ["", "folder/"])
def test_prefixes_without_a_name_are_not_written(prefix: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="SW0818"):
        splitter_for(graph_pb2.GraphDef()).write(prefix and f"{tmp_path}/{prefix}")
    assert not list(tmp_path.iterdir())
