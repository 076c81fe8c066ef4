"""Directories: what lies in them, for TensorFlow's tools as well, whole after a kill, and split where it is large."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import Layout, Mesh, Module, Variable
from shardwright.saving.directories import asset, read_message
from shardwright.serialization.hashing import pure
from shardwright.serialization.hashing.highway import RIEGELI_KEY
from shardwright.serialization.protos import graph_pb2, saved_model_pb2

MESH = Mesh(batch=4, model=2)
ROWS = Layout(["batch"], MESH)


class Model(Module):
    def __init__(self) -> None:
        self.w = Variable(np.arange(32, dtype="float32").reshape(8, 4), layout=Layout([None, "model"], MESH), name="w")
        self.steps = Variable(np.int64(0), trainable=False, name="steps")
        self.parts = [self.w, {"again": self.steps}]

    @sw.function
    def __call__(self, x: Any, params: Any) -> Any:
        self.steps.assign_add(1)
        return {"y": x @ self.w * params["scale"], "count": self.steps.value}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, model = tmp_path_factory.mktemp("format"), Model()
    model(sw.ones((8, 8), layout=ROWS), {"scale": 2.0})
    model(sw.ones((16, 8), layout=ROWS), {"scale": np.float32(2)})
    (folder / "words").write_bytes(b"one two")
    return Path(sw.save(model, folder / "saved", assets={"text/words.txt": folder / "words"}))


def message_of(place: Path) -> saved_model_pb2.SavedModel:
    return saved_model_pb2.SavedModel.FromString((place / "saved_model.pb").read_bytes())


def test_files(place: Path) -> None:
    assert sorted(os.listdir(place)) == ["assets", "fingerprint.pb", "saved_model.pb", "variables"]
    assert asset(place, "text/words.txt").read_bytes() == b"one two"
    assert dict(sw.list_variables(place / "variables")) == {"w": (8, 4), "steps": ()}
    assert oct(place.stat().st_mode & 0o777) == oct(0o777 & ~current_mask())


def current_mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_signatures(place: Path) -> None:
    message = message_of(place)
    (graph,) = message.meta_graphs
    assert message.saved_model_schema_version == 1
    assert list(graph.meta_info_def.tags) == ["serve"]
    assert graph.meta_info_def.meta_graph_version == f"shardwright {sw.__version__}"
    assert sorted(graph.signature_def) == ["__call__:0", "__call__:1"]
    signature = graph.signature_def["__call__:1"]
    assert {name: list(info.tensor_shape.dim[0:1]) for name, info in signature.inputs.items()}.keys() == {
        "x",
        "params['scale']",
    }
    assert [dim.size for dim in signature.inputs["x"].tensor_shape.dim] == [16, 8]
    assert signature.inputs["x"].dtype == graph_pb2.DT_FLOAT
    assert {
        name: (info.dtype, [dim.size for dim in info.tensor_shape.dim]) for name, info in signature.outputs.items()
    } == {
        "result['y']": (graph_pb2.DT_FLOAT, [16, 4]),
        "result['count']": (graph_pb2.DT_INT64, []),
    }
    assert [file.filename for file in graph.asset_file_def] == ["text/words.txt"]


def test_object_graph(place: Path) -> None:
    """The nodes as TensorFlow has them: the root first, children by name, shared ones by number."""
    nodes = message_of(place).meta_graphs[0].object_graph_def.nodes
    root = {child.local_name: child.node_id for child in nodes[0].children}
    assert nodes[0].user_object.identifier == "_generic_user_object"
    assert sorted(root) == ["__call__", "parts", "steps", "w"]
    w, steps, call = nodes[root["w"]].variable, nodes[root["steps"]].variable, nodes[root["__call__"]].function
    assert (w.name, w.dtype, w.trainable, [dim.size for dim in w.shape.dim]) == ("w", graph_pb2.DT_FLOAT, True, [8, 4])
    assert (steps.name, steps.dtype, steps.trainable) == ("steps", graph_pb2.DT_INT64, False)
    assert list(call.concrete_functions) == ["__call__:0", "__call__:1"]
    parts = nodes[root["parts"]]
    assert parts.user_object.identifier == "trackable_list_wrapper"
    assert (parts.children[0].local_name, parts.children[0].node_id) == ("0", root["w"])
    assert nodes[parts.children[1].node_id].user_object.identifier == "trackable_dict_wrapper"
    captured = message_of(place).meta_graphs[0].object_graph_def.concrete_functions["__call__:0"].bound_inputs
    assert sorted(captured) == sorted([root["w"], root["steps"]])


def hashed(data: bytes) -> int:
    """HighwayHash64 in plain Python."""
    state = pure.fresh_state(RIEGELI_KEY)
    whole = len(data) - len(data) % pure.PACKET
    pure.absorb_all(state, memoryview(data)[:whole])
    return pure.finish(state, data[whole:])


def test_fingerprint(place: Path) -> None:
    found = saved_model_pb2.FingerprintDef.FromString((place / "fingerprint.pb").read_bytes())
    graph = message_of(place).meta_graphs[0]
    assert found.saved_model_checksum == hashed((place / "saved_model.pb").read_bytes())
    assert found.checkpoint_hash == hashed((place / "variables" / "checkpoint.jsonl").read_bytes())
    assert found.saved_object_graph_hash == hashed(graph.object_graph_def.SerializeToString(deterministic=True))
    assert found.uuid.startswith("shardwright-")
    assert found.version.producer == 1


@pytest.mark.peers
def test_tensorflow_reads_it(place: Path) -> None:
    """TensorFlow's own messages, and its command, see the signatures; what is ours they skip and keep."""
    theirs: Any = pytest.importorskip("tensorflow.core.protobuf.saved_model_pb2")
    data = (place / "saved_model.pb").read_bytes()
    message, ours = theirs.SavedModel.FromString(data), message_of(place)
    mine, other = ours.meta_graphs[0], message.meta_graphs[0]
    assert set(other.signature_def) == set(mine.signature_def)
    for key, signature in mine.signature_def.items():
        assert other.signature_def[key].SerializeToString(deterministic=True) == signature.SerializeToString(
            deterministic=True
        )
    assert str(other.object_graph_def) == str(mine.object_graph_def)
    again = saved_model_pb2.SavedModel.FromString(message.SerializeToString())
    assert again.shardwright == ours.shardwright
    loader: Any = pytest.importorskip("tensorflow.python.tools.saved_model_utils")
    assert loader.get_saved_model_tag_sets(str(place)) == [["serve"]]
    fingerprint: Any = pytest.importorskip("tensorflow.core.protobuf.fingerprint_pb2")
    found = fingerprint.FingerprintDef.FromString((place / "fingerprint.pb").read_bytes())
    assert found.saved_model_checksum == hashed(data)


@pytest.mark.peers
def test_directories_of_tensorflow(tmp_path: Path) -> None:
    tf: Any = pytest.importorskip("tensorflow")
    place, module = tmp_path / "theirs", tf.Module()
    module.w = tf.Variable(np.arange(8, dtype="float32").reshape(4, 2))
    spec = [tf.TensorSpec([3, 4], tf.float32)]
    module.call = tf.function(lambda x: {"y": tf.nn.relu(x @ module.w)}, input_signature=spec)
    tf.saved_model.save(module, str(place), signatures={"serving_default": module.call})
    x = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")
    expected = module.call(x)["y"].numpy()
    loaded = sw.load(place)
    assert np.allclose(loaded(x)["y"], expected)
    again = sw.load(sw.save(loaded, tmp_path / "ours"))
    assert np.allclose(again(x)["y"], expected)


@pytest.mark.parametrize("max_size", [1 << 30, 20_000, 4_000])
def test_large_programs_are_split(max_size: int, tmp_path: Path) -> None:
    weights = np.random.default_rng(0).standard_normal((64, 64)).astype("float32")

    @sw.function
    def product(x: Any) -> Any:
        return x @ weights

    x = sw.relayout(np.ones((8, 64), "float32"), ROWS)
    product(x)
    place = Path(sw.save(product, tmp_path / "saved", max_size=max_size))
    chunked = max_size < 1 << 30
    assert (place / "saved_model.cpb").exists() == chunked
    assert (place / "saved_model.pb").exists() != chunked
    for mesh in (None, Mesh(batch=2, model=1)):
        assert np.allclose(sw.load(place, mesh=mesh)(np.asarray(x)), np.asarray(x) @ weights, rtol=1e-5)
    sw.save(product, place, overwrite=True)
    assert not (place / "saved_model.cpb").exists()
    assert np.allclose(sw.load(place)(x), np.asarray(x) @ weights, rtol=1e-5)


KILLED = """
import sys, numpy, shardwright
values = [shardwright.Variable(numpy.full((256, 256), float(sys.argv[2]), "float32")) for _ in range(8)]
print("ready", flush=True)
while True:
    shardwright.save({"values": values}, sys.argv[1], overwrite=True)
"""


def test_a_kill_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    place = tmp_path / "saved"
    sw.save({"values": [Variable(np.full((256, 256), 1.0, "float32")) for _ in range(8)]}, place)
    writer = subprocess.Popen([sys.executable, "-c", KILLED, place, "2"], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"ready\n"
    time.sleep(0.1)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    found = {float(value) for variable in sw.load(place)["values"] for value in np.unique(variable)}
    assert found in ({1.0}, {2.0})


def failing(*arguments: Any, **options: Any) -> Any:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["write_arrays", "splitter_for", "fingerprint"])
def test_a_failure_leaves_nothing(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shardwright.saving.directory import writing as directory_writing

    sw.save({"v": Variable(1.0)}, tmp_path / "saved")
    monkeypatch.setattr(directory_writing, step, failing)
    for name in ("saved", "other"):
        with pytest.raises(ValueError, match=r"SW0867.*No space left"):
            sw.save({"v": Variable(2.0)}, tmp_path / name, overwrite=True)
    assert os.listdir(tmp_path) == ["saved"]
    assert float(sw.load(tmp_path / "saved")["v"]) == 1.0


def graph() -> graph_pb2.GraphDef:
    """`y = relu(x + [1, -4])`, as TensorFlow writes it."""
    made = graph_pb2.GraphDef()
    made.versions.producer = 1500
    x = made.node.add(name="x", op="Placeholder")
    x.attr["dtype"].type = graph_pb2.DT_FLOAT
    x.attr["shape"].shape.dim.add(size=2)
    bias = made.node.add(name="bias", op="Const")
    bias.attr["dtype"].type = bias.attr["value"].tensor.dtype = graph_pb2.DT_FLOAT
    bias.attr["value"].tensor.tensor_shape.dim.add(size=2)
    bias.attr["value"].tensor.tensor_content = np.float32([1, -4]).tobytes()
    for name, op, inputs in (("sum", "AddV2", ["x", "bias"]), ("y", "Relu", ["sum"])):
        made.node.add(name=name, op=op, input=inputs).attr["T"].type = graph_pb2.DT_FLOAT
    return made


def in_a_saved_model() -> saved_model_pb2.SavedModel:
    model = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    meta = model.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    meta.graph_def.CopyFrom(graph())
    signature = meta.signature_def["serving_default"]
    for side, name in ((signature.inputs, "x"), (signature.outputs, "y")):
        side[name].name, side[name].dtype = f"{name}:0", graph_pb2.DT_FLOAT
        side[name].tensor_shape.dim.add(size=2)
    return model


@pytest.mark.parametrize("made", [graph, in_a_saved_model])
def test_graphs_are_stored_as_they_are_and_run(made: Callable[[], Any], tmp_path: Path) -> None:
    message = made()
    before = message.SerializeToString(deterministic=True)
    place = sw.save(message, tmp_path / "saved")
    assert read_message(place) == message
    assert message.SerializeToString(deterministic=True) == before
    result = sw.load(place)(np.float32([2, 3]))
    assert np.array_equal(result["y"] if isinstance(result, dict) else result, [3, 0])
    with pytest.raises(ValueError, match="SW0883"):
        sw.load(place, mesh=Mesh(x=2))


def test_imported_graphs_are_saved_as_programs(tmp_path: Path) -> None:
    program = sw.from_graph(graph(), outputs="y")
    loaded = sw.load(sw.save({"program": program}, tmp_path / "saved"))
    assert np.array_equal(loaded["program"](np.float32([2, 5])), [3, 1])


def test_a_message_without_signatures(tmp_path: Path) -> None:
    place = sw.save(saved_model_pb2.SavedModel(saved_model_schema_version=1), tmp_path / "saved")
    with pytest.raises(ValueError, match=r"(?s)SW0869.*read_message"):
        sw.load(place)
