"""Whole models that TensorFlow saved, which show what single operations do not."""

import re
import shutil

import pytest
from saved_models.making import differences
from saved_models.storing import NAMES, calls, unpacked

import shardwright as sw
from shardwright.serialization.protos import saved_model_pb2


@pytest.mark.parametrize("name", NAMES)
def test_as_stored(name):
    program = sw.from_saved_model(unpacked() / name)
    for given, due in calls(name):
        assert differences(program(**given), due) == []


FILES = {
    "gone": (None, "cannot be read: No such file or directory"),
    "shorter than it says": (b"a", "has 1 lines, and 2 are due"),
    "with an empty line": (b"a\n\nb", "line 2 of the file"),
    "with a word twice": (b"a\na\nb", "has two values for one key"),
}


@pytest.mark.parametrize("case", FILES)
def test_vocabularies_that_are_wrong(case, tmp_path):
    content, text = FILES[case]
    model = tmp_path / "model"
    shutil.copytree(unpacked() / "tables_of_files", model)
    (path,) = (file for file in (model / "assets").iterdir() if b"c d" in file.read_bytes())
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(sw.ShardwrightError) as caught:
        sw.from_saved_model(model)
    assert re.search(r"error\[SW08(92|88)\]", str(caught.value))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("column", "text"), [(b"x;3;0.5", "a line has no part number 1: b'x;3;0.5'"), (b"x,y,1", "no int64")]
)
def test_columns_that_are_wrong(column, text, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(unpacked() / "tables_of_files", model)
    (path,) = (file for file in (model / "assets").iterdir() if b"x,3" in file.read_bytes())
    path.write_bytes(column)
    with pytest.raises(sw.ShardwrightError, match="SW0892") as caught:
        sw.from_saved_model(model)
    assert text in str(caught.value)


def test_only_files_of_the_model_are_read(tmp_path):
    """A graph cannot name others: neither by a path in the list of its files, nor by a text of its own."""
    secret = tmp_path / "secret.txt"
    secret.write_text("a\nb\n")
    model = tmp_path / "model"
    shutil.copytree(unpacked() / "tables_of_files", model)
    data = saved_model_pb2.SavedModel.FromString((model / "saved_model.pb").read_bytes())
    data.meta_graphs[0].asset_file_def[0].filename = "../../secret.txt"
    (model / "saved_model.pb").write_bytes(data.SerializeToString())
    with pytest.raises(sw.ShardwrightError, match=r"SW0891.*an asset is called '../../secret.txt'"):
        sw.from_saved_model(model)
    del data.meta_graphs[0].asset_file_def[:]
    (model / "saved_model.pb").write_bytes(data.SerializeToString())
    with pytest.raises(sw.ShardwrightError):
        sw.from_saved_model(model)


def restoring_copies(name, folder):
    """A stored model saved as Keras' variables are: its restoring graph fills copies of them, which nothing reads."""
    shutil.copytree(unpacked() / name, folder)
    data = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    (meta_graph,) = data.meta_graphs
    nodes = {node.name: node for node in meta_graph.graph_def.node}
    restoring = nodes[meta_graph.saver_def.restore_op_name]
    for name in [name for name, node in nodes.items() if node.op == "VarHandleOp"]:
        copy = meta_graph.graph_def.node.add()
        copy.CopyFrom(nodes[name])
        copy.name = f"copy_of_{name}"
        copy.attr["shared_name"].s = copy.name.encode()
    restoring.input[:] = [f"copy_of_{name}" if nodes[name].op == "VarHandleOp" else name for name in restoring.input]
    return data


@pytest.mark.parametrize("name", ["sparse_state", "step_of_old_operations"])
def test_variables_of_which_only_copies_are_restored(name, tmp_path):
    data = restoring_copies(name, tmp_path / "model")
    (tmp_path / "model" / "saved_model.pb").write_bytes(data.SerializeToString())
    program = sw.from_saved_model(tmp_path / "model")
    assert {one.name for one in program.weights.values()} == set(sw.from_saved_model(unpacked() / name).weights)
    for given, due in calls(name):
        assert differences(program(**given), due) == []


def test_objects_that_lead_nowhere(tmp_path):
    data = restoring_copies("sparse_state", tmp_path / "model")
    objects = data.meta_graphs[0].object_graph_def
    for child in objects.nodes[0].children:
        child.node_id = 2**31 - 1
    for function in objects.concrete_functions.values():
        function.bound_inputs.extend([-1, 2**31 - 1])
    (tmp_path / "model" / "saved_model.pb").write_bytes(data.SerializeToString())
    with pytest.raises(sw.ShardwrightError, match=r"SW0892.*the model restores no variable"):
        sw.from_saved_model(tmp_path / "model")
