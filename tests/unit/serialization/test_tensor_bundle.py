"""TensorFlow's checkpoints: genuine ones read, damaged and hostile ones refused."""

import struct

import numpy as np
import pytest
from graph_models import unpacked

from shardwright.diagnostics import ShardwrightValueError
from shardwright.serialization.protos import graph_pb2, tensor_bundle_pb2
from shardwright.serialization.tables.crc32c import crc32c, masked, unmasked
from shardwright.serialization.tables.sorted_table import MAGIC, read_table
from shardwright.serialization.tables.tensor_bundle import TensorBundle

FLOAT = np.dtype("float32")


def slow_crc(data):
    """Bit by bit, as the definition has it."""
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def test_checksums():
    assert crc32c(b"") == 0
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720, and LevelDB's tests
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(bytes(range(32))) == 0x46DD794E
    random = np.random.default_rng(0)
    for size in (1, 255, 4095, 4096, 4097, 4224, 50001, 65537, 131072):
        data = random.integers(0, 256, size, dtype=np.uint8)
        assert crc32c(data) == crc32c(data.tobytes()) == slow_crc(data.tolist())
    assert unmasked(masked(0xDEADBEEF)) == 0xDEADBEEF


def test_genuine_checkpoint():
    bundle = TensorBundle(unpacked() / "mlp" / "variables" / "variables")
    key = "variables/0/.ATTRIBUTES/VARIABLE_VALUE"
    assert key in bundle.keys
    entry = bundle.entry(key)
    assert ([dim.size for dim in entry.shape.dim], entry.dtype) == ([16, 32], graph_pb2.DT_FLOAT)
    kernel = bundle.tensor(key, FLOAT)
    assert kernel.shape == (16, 32)
    assert -0.5 <= kernel.min() < kernel.max() <= 0.5
    assert b"sequential/dense/kernel" in bundle.text("_CHECKPOINTABLE_OBJECT_GRAPH")


@pytest.mark.peers
def test_as_tensorflow_reads_it():
    tf = pytest.importorskip("tensorflow")
    for model in ("mlp", "transformer", "old", "module"):
        prefix = unpacked() / model / "variables" / "variables"
        reader, bundle = tf.train.load_checkpoint(str(prefix)), TensorBundle(prefix)
        for key, theirs in reader.get_variable_to_dtype_map().items():
            if theirs == tf.string:
                assert bundle.text(key) == reader.get_tensor(key)
            else:
                ours = bundle.tensor(key, np.dtype(theirs.as_numpy_dtype))
                assert np.array_equal(ours, reader.get_tensor(key))


@pytest.mark.peers
def test_many_tensors_in_many_blocks(tmp_path):
    tf = pytest.importorskip("tensorflow")
    names = [f"layer{number:04}/weights" for number in range(3000)]
    tf.raw_ops.SaveV2(
        prefix=str(tmp_path / "many"),
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tf.constant(float(number)) for number in range(len(names))],
    )
    bundle = TensorBundle(tmp_path / "many")
    assert bundle.keys == names
    assert [float(bundle.tensor(name, FLOAT)) for name in names[::100]] == list(range(0, 3000, 100))


def varint(number):
    out = b""
    while number > 0x7F:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def block(entries, kind=0):
    body = b"".join(b"\0" + varint(len(key)) + varint(len(value)) + key + value for key, value in entries)
    body += struct.pack("<II", 0, 1)
    return body, body + bytes([kind]) + struct.pack("<I", masked(crc32c(body + bytes([kind]))))


def table(entries, kind=0, place=None):
    """The bytes of a table with one block."""
    body, data = block(entries, kind)
    index_body, index = block([(b"z", place if place is not None else varint(0) + varint(len(body)))])
    footer = varint(0) + varint(0) + varint(len(data)) + varint(len(index_body))
    return data + index + footer.ljust(40, b"\0") + struct.pack("<Q", MAGIC)


def header(**fields):
    return tensor_bundle_pb2.BundleHeaderProto(**({"num_shards": 1} | fields)).SerializeToString()


def entry(**fields):
    shape = graph_pb2.TensorShapeProto(dim=[{"size": size} for size in fields.pop("shape", [2])])
    values = {"dtype": graph_pb2.DT_FLOAT, "shape": shape, "size": 8, "crc32c": masked(crc32c(b"\0" * 8))}
    return tensor_bundle_pb2.BundleEntryProto(**(values | fields)).SerializeToString()


def checkpoint(folder, entries, data=b"\0" * 8):
    (folder / "c.index").write_bytes(table(entries))
    (folder / "c.data-00000-of-00001").write_bytes(data)
    return TensorBundle(folder / "c")


def refuses(message, call, *arguments):
    with pytest.raises(ShardwrightValueError, match=message) as caught:
        call(*arguments)
    assert "[SW0892]" in str(caught.value)


def test_a_checkpoint_made_by_hand(tmp_path):
    bundle = checkpoint(tmp_path, [(b"", header()), (b"w", entry())])
    assert bundle.tensor("w", FLOAT).tolist() == [0, 0]
    assert checkpoint(tmp_path, [(b"", header()), (b"e", entry(shape=[0, 3], size=0))]).tensor("e", FLOAT).shape == (
        0,
        3,
    )


TOP, REST = b"\0w\0\1\1\2\x80\x81\x80\x7f", b"\0w\0\1\1\2\x81\x82\x80\x7f"
"""The keys of rows 0 and 1 to 2, as TensorFlow writes them: w, two dims, from 0 one (from 1 two), from 0 all."""


def sliced(top, rest=b"", *, extents=((0, 1), (1, 2)), **fields):
    """The entries of a tensor of three rows of two numbers, which was saved in two parts."""
    parts = [{"extent": [{"start": low, "length": size}, {}]} for low, size in extents]
    return [(b"", header()), (TOP, top), (REST, rest), (b"w", entry(shape=[3, 2], size=0, slices=parts, **fields))]


def rows(low, high, **fields):
    """A part: rows of the numbers from 0 to 5, which stand in the file one behind the other."""
    numbers = np.arange(low * 2, high * 2, dtype="float32").tobytes()
    values = {"shape": [high - low, 2], "offset": low * 8, "size": len(numbers), "crc32c": masked(crc32c(numbers))}
    return entry(**(values | fields))


SIX = np.arange(6, dtype="float32")


def test_a_tensor_in_slices(tmp_path):
    bundle = checkpoint(tmp_path, sliced(rows(0, 1), rows(1, 3)), SIX.tobytes())
    assert bundle.keys == ["w"]
    assert bundle.shape("w", FLOAT) == (3, 2)
    assert bundle.tensor("w", FLOAT).tolist() == SIX.reshape(3, 2).tolist()


WRONG_SLICES = {
    "slice 1 of tensor 'w' is no message": sliced(rows(0, 1), b"\xff"),
    "slice 1 of tensor 'w' is another tensor": sliced(rows(0, 1), rows(1, 2)),
    "slice 0 of tensor 'w' is another tensor": sliced(rows(0, 1, dtype=graph_pb2.DT_INT32), rows(1, 3)),
    "have 16 bytes, which are not its own": sliced(rows(0, 1), rows(0, 1), extents=((0, 1), (0, 1))),
    "have 24 bytes, which are not its own": sliced(rows(0, 1), extents=((0, 1),) * 3),
    "lies outside of it": sliced(rows(0, 1), rows(1, 3), extents=((0, 1), (2, 2))),
    "checksum of tensor 'w' is wrong": sliced(rows(0, 1, crc32c=1), rows(1, 3)),
    "leave something out": sliced(rows(0, 1), rows(1, 3), extents=((0, 1), (0, 1), (0, 1))),
}


def test_slices_that_are_wrong(tmp_path):
    for message, entries in WRONG_SLICES.items():
        data = SIX.tobytes() if "have 24" not in message else SIX[:2].tobytes()
        refuses(message, checkpoint(tmp_path, entries, data).tensor, "w", FLOAT)


@pytest.mark.peers
@pytest.mark.parametrize("start", [0, 63, 64, 8191, 8192, 1 << 20])
def test_slices_of_tensorflow(tmp_path, start):
    tf = pytest.importorskip("tensorflow")
    rows_of = [SIX[: 2 * min(start, 1)].reshape(-1, 2)] if start < 2 else [np.zeros((start, 2), "float32")]
    parts = [part for part in (*rows_of, SIX.reshape(3, 2)) if len(part)]
    total, low, places = start + 3, 0, list[str]()
    for part in parts:
        places.append(f"{total} 2 {low},{len(part)}:-")
        low += len(part)
    tf.raw_ops.SaveV2(
        prefix=str(tmp_path / "c"),
        tensor_names=["é/w"] * len(parts),
        shape_and_slices=places,
        tensors=[tf.constant(part) for part in parts],
    )
    assert np.array_equal(TensorBundle(tmp_path / "c").tensor("é/w", FLOAT), np.concatenate(parts))


WRONG_ENTRIES = {
    "has 8 bytes, and .* needs 12": {"shape": [3]},
    "and the file has 8": {"offset": 4},
    "has 4611686018427387904 bytes at": {"shape": [1 << 60], "size": 1 << 62},
    "is in file 7 of 1": {"shard_id": 7},
    "checksum of tensor 'w' is wrong": {"crc32c": 1},
    "slice 0 of tensor 'w' is missing": {"slices": [{"extent": [{"start": 0}]}]},
    "has no shape": {"shape": [-1, -2]},
    "bytes at -4": {"offset": -4},
}


@pytest.mark.parametrize("message", WRONG_ENTRIES)
def test_wrong_entries(tmp_path, message):
    bundle = checkpoint(tmp_path, [(b"", header()), (b"w", entry(**WRONG_ENTRIES[message]))])
    refuses(message, bundle.tensor, "w", FLOAT)


def test_what_is_missing(tmp_path):
    refuses("cannot be read", TensorBundle, tmp_path / "gone")
    refuses("the header is missing", checkpoint, tmp_path, [(b"w", entry())])
    refuses("high byte first", checkpoint, tmp_path, [(b"", header(endianness=1))])
    refuses("0 files of data", checkpoint, tmp_path, [(b"", header(num_shards=0))])
    refuses("is no message", checkpoint, tmp_path, [(b"", b"\xff\xff\xff")])
    bundle = checkpoint(tmp_path, [(b"", header()), (b"w", entry())])
    refuses("'v' is missing", bundle.tensor, "v", FLOAT)
    refuses("is not one string", bundle.text, "w")
    (tmp_path / "c.data-00000-of-00001").unlink()
    refuses("cannot be read", bundle.tensor, "w", FLOAT)


def test_strings_are_checked(tmp_path):
    fields = {"dtype": graph_pb2.DT_STRING, "shape": []}
    good = varint(3) + struct.pack("<I", masked(crc32c(struct.pack("<I", 3)))) + b"abc"
    right = masked(crc32c(struct.pack("<I", 3) + good[1:]))
    stored = [(b"", header()), (b"s", entry(**fields, size=8, crc32c=right))]
    assert checkpoint(tmp_path, stored, good).text("s") == b"abc"
    refuses("checksum", checkpoint(tmp_path, stored, good[:-1] + b"x").text, "s")
    refuses("says that its string has 100 bytes", checkpoint(tmp_path, stored, b"\x64" + good[1:]).text, "s")


def test_several_strings(tmp_path):
    fields = {"dtype": graph_pb2.DT_STRING, "shape": [2, 2]}
    texts = [b"abc", b"", b"\xff", b"de"]
    lengths = b"".join(struct.pack("<I", len(text)) for text in texts)
    end = struct.pack("<I", masked(crc32c(lengths))) + b"".join(texts)
    good, right = b"\3\0\1\2" + end, masked(crc32c(lengths + end))
    stored = [(b"", header()), (b"s", entry(**fields, size=len(good), crc32c=right))]
    assert checkpoint(tmp_path, stored, good).texts("s").tolist() == [[b"abc", b""], [b"\xff", b"de"]]
    refuses("is not one string", checkpoint(tmp_path, stored, good).text, "s")
    refuses("checksum", checkpoint(tmp_path, stored, good[:-1] + b"x").texts, "s")
    refuses("its strings have 4 bytes of 14", checkpoint(tmp_path, stored, b"\1" + good[1:]).texts, "s")
    refuses("has no lengths of strings", checkpoint(tmp_path, stored, b"\xff" * len(good)).texts, "s")
    empty = [
        (b"", header()),
        (
            b"s",
            entry(
                dtype=graph_pb2.DT_STRING,
                shape=[0],
                size=4,
                crc32c=masked(crc32c(end[:0] + struct.pack("<I", masked(crc32c(b""))))),
            ),
        ),
    ]
    assert checkpoint(tmp_path, empty, struct.pack("<I", masked(crc32c(b"")))).texts("s").shape == (0,)
    for shape, message in (([4, 1 << 40], "are not .* strings"), ([-1], "no strings of a certain shape")):
        wrong = [(b"", header()), (b"s", entry(dtype=graph_pb2.DT_STRING, shape=shape, size=len(good), crc32c=right))]
        refuses(message, checkpoint(tmp_path, wrong, good).texts, "s")


def test_every_byte_of_an_index_counts(tmp_path):
    data = table([(b"", header()), (b"w", entry())])
    path = tmp_path / "t"
    for place in range(len(data) - 48):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        refuses("checksum|compression|leaves|share|follow|restart", read_table, path)
    for length in range(len(data)):
        path.write_bytes(data[:length])
        refuses("no table", read_table, path)


def test_hostile_tables(tmp_path):
    path = tmp_path / "t"
    for place, message in (
        (varint(0) + varint(1 << 60), "leaves the file"),
        (b"\xff" * 12, "does not fit into 64 bits"),
    ):
        path.write_bytes(table([(b"k", b"v")], place=place))
        refuses(message, read_table, path)
    path.write_bytes(table([(b"k", b"v")], kind=7))
    refuses("unknown compression 7", read_table, path)
    path.write_bytes(table([(b"k", b"v")], kind=1))
    refuses("cannot be decompressed|would expand", read_table, path)


def test_compressed_blocks(tmp_path):
    snappy = pytest.importorskip("cramjam").snappy
    body, _ = block([(b"k", b"v" * 1000)])
    packed = bytes(snappy.compress_raw(body))
    data = packed + b"\1" + struct.pack("<I", masked(crc32c(packed + b"\1")))
    index_body, index = block([(b"z", varint(0) + varint(len(packed)))])
    footer = varint(0) + varint(0) + varint(len(data)) + varint(len(index_body))
    (tmp_path / "t").write_bytes(data + index + footer.ljust(40, b"\0") + struct.pack("<Q", MAGIC))
    assert read_table(tmp_path / "t") == {b"k": b"v" * 1000}
    bomb = varint(1 << 40) + packed[2:]
    data = bomb + b"\1" + struct.pack("<I", masked(crc32c(bomb + b"\1")))
    index_body, index = block([(b"z", varint(0) + varint(len(bomb)))])
    footer = varint(0) + varint(0) + varint(len(data)) + varint(len(index_body))
    (tmp_path / "t").write_bytes(data + index + footer.ljust(40, b"\0") + struct.pack("<Q", MAGIC))
    refuses("would expand to 1099511627776 bytes", read_table, tmp_path / "t")
