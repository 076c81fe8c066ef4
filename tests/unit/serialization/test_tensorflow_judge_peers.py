"""TensorFlow's own C++ merger and riegeli read what we write, and the model of it says the same of each file."""

from pathlib import Path
from random import Random

import pytest
from chunk_cases import Many, chunked_file, put, tree
from every_field import Every, Old, random_message
from graph_cases import full_saved_model, graph_of_constants
from graph_splitters import StrangersGraphSplitter
from ir_cases import lit_modules
from tensorflow_judge import Judge
from tensorflow_merger import Abort, read, records_of, same

from shardwright.serialization.ir.proto import module_to_proto
from shardwright.serialization.ir.splitter import IrSplitter
from shardwright.serialization.protos import graph_pb2, ir_pb2, saved_model_pb2
from shardwright.serialization.splitting import MessageSplitter, splitter_for

pytestmark = pytest.mark.peers
FROZEN = Path(__file__).parents[2] / "data" / "graphs" / "frozen.pb"
OPTIONS = [None, "brotli:3", "zstd", "snappy,transpose", "uncompressed,chunk_size:100", "zstd:1,padding:4096"]


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    types = (Every, Old, Many, graph_pb2.GraphDef, saved_model_pb2.SavedModel, ir_pb2.Module)
    made = Judge(tmp_path_factory.mktemp("judge"), [kind.DESCRIPTOR.file for kind in types])
    yield made
    made.close()


def check(judge, prefix, message) -> None:
    assert judge.read(prefix, merged := type(message)()) == "ok"
    assert same(merged, message)


@pytest.mark.parametrize("seed", range(100))
def test_random_messages(judge, seed, tmp_path) -> None:
    random = Random(seed)
    message = random_message(seed, budget=200, length=12)
    size = len(message.SerializePartialToString())
    max_size = random.randrange(80, max(80, size) + 5)
    splitter = MessageSplitter(message, max_size=max_size, chunk_size=random.choice((None, max_size // 3 + 1)))
    chunks, chunked = splitter.split()
    splitter.write(tmp_path / "message", random.choice(OPTIONS))
    said = judge.read(tmp_path / "message", merged := type(message)())
    try:
        modelled = read(records_of(chunks), chunked, type(message)(), random)
    except Abort:
        assert said != "ok"
        return
    assert said == "ok"
    assert same(modelled, message) == same(merged, message)


@pytest.mark.parametrize("options", OPTIONS)
def test_graphs_and_saved_models(judge, options, tmp_path) -> None:
    graph = graph_of_constants([50, 3000, 90] * 20, fn=[50, 900] * 9, fn2=[40])
    for message, max_size in (
        (graph, 700),
        (graph, 100_000),
        (graph_pb2.GraphDef.FromString(FROZEN.read_bytes()), 3000),
        (full_saved_model(), 300),
        (full_saved_model(), 3000),
    ):
        splitter_for(message, max_size=max_size).write(tmp_path / "saved_model", options)
        check(judge, tmp_path / "saved_model", message)
    original = graph_pb2.GraphDef()
    original.CopyFrom(graph)
    StrangersGraphSplitter(graph).write(tmp_path / "stranger", options)
    check(judge, tmp_path / "stranger", original)


def test_files_of_many_blocks(judge, tmp_path) -> None:
    graph = graph_of_constants([50, 300_000, 65_536, 40] * 6, fn=[200_000, 60] * 4)
    for options in OPTIONS:
        splitter_for(graph, max_size=150_000).write(tmp_path / "graph", options)
        check(judge, tmp_path / "graph", graph)


def test_programs(judge, tmp_path) -> None:
    for number, (_, module) in enumerate(list(lit_modules(""))[::40]):
        message = module_to_proto(module)
        IrSplitter(module, max_size=max(300, message.ByteSize() // 4)).write(tmp_path / f"module{number}")
        check(judge, tmp_path / f"module{number}", message)


PATHS = [
    [99999],
    [4, [0]],
    [2, [1]],
    [30, {"ui32": 1}],
    [36, {"s": "a"}],
    [35, {"i64": 1 << 31}],
    [32, {"boolean": True}],
    [33, {"s": "a"}],
    [[0]],
    [2, [0], [0]],
    [2, [0]],
    [20],
    [22],
    [10],
    [3],
]


@pytest.mark.parametrize("path", PATHS)
def test_the_model_says_what_tensorflow_does(judge, path, tmp_path) -> None:
    inside = Many(text="inside").SerializeToString() if path[0] not in (10, 3, 22, 4) else b"text"
    chunks, message = [b"", inside], tree(0, (path, 1))
    prefix = put(tmp_path, chunked_file(chunks, message))
    said = judge.read(prefix, merged := Many())
    try:
        modelled = read(chunks, message, Many())
    except Abort:
        assert said != "ok"
        return
    assert said == "ok"
    wide = path == [35, {"i64": 1 << 31}]
    assert wide or merged == modelled
