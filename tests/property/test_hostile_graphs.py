"""Graphs with random damage run, or are refused by a coded error: nothing else ever comes out."""

import random
from functools import partial

import numpy as np
import pytest
from graph_models import stored, unpacked
from graph_operations import DATA, loaded

import shardwright as sw
from shardwright.frontends.tensorflow.importing.importing import ROWS
from shardwright.serialization.protos import graph_pb2, saved_model_pb2

NUMBERS = [-5, -2, -1, 0, 1, 2, 3, 5, 31, 1 << 33, 1 << 40, -(1 << 62)]


class Damage:
    """Changes one thing of a node."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def node(self, node, names):
        kinds = [self.attribute, self.numbers, self.tensor, self.inputs, self.inputs, self.operation, self.name]
        self.random.choice(kinds)(node, names)

    def attribute(self, node, names):
        if not node.attr:
            return
        key = self.random.choice(sorted(node.attr))
        value = node.attr[key]
        value.Clear()
        kind = self.random.randrange(7)
        if kind == 0:
            value.i = self.random.choice(NUMBERS)
        elif kind == 1:
            value.s = self.random.choice([b"", b"\xff", b"SAME", b"EXPLICIT", b"NCHW"])
        elif kind == 2:
            value.type = self.random.choice([0, 1, 3, 7, 9, 10, 14, 19, 20, 21, 77, 101])
        elif kind == 3:
            value.list.i.extend(self.random.choices(NUMBERS, k=self.random.randrange(6)))
        elif kind == 4:
            value.b = self.random.random() < 0.5
        elif kind == 5:
            del node.attr[key]

    def numbers(self, node, names):
        for key in sorted(node.attr):
            value = node.attr[key]
            if value.list.i:
                value.list.i[self.random.randrange(len(value.list.i))] = self.random.choice(NUMBERS)
            elif value.WhichOneof("value") == "i":
                value.i = self.random.choice(NUMBERS)

    def tensor(self, node, names):
        if "value" not in node.attr:
            return
        tensor = node.attr["value"].tensor
        kind = self.random.randrange(4)
        if kind == 0:
            tensor.dtype = self.random.choice([1, 3, 7, 9, 10])
        elif kind == 1 and tensor.tensor_shape.dim:
            tensor.tensor_shape.dim[0].size = self.random.choice(NUMBERS)
        elif kind == 2 and tensor.tensor_content:
            tensor.tensor_content = self.random.randbytes(len(tensor.tensor_content))
        elif tensor.int_val:
            tensor.int_val[0] = self.random.choice([-100, -1, 0, 1, 1000, 1 << 30])

    def inputs(self, node, names):
        if not node.input:
            return
        kind, place = self.random.randrange(3), self.random.randrange(len(node.input))
        if kind == 0:
            del node.input[place]
        elif kind == 1:
            node.input[place] = self.random.choice(names)
        else:
            node.input.append(node.input[place])

    def operation(self, node, names):
        node.op = self.random.choice(sorted(ROWS))

    def name(self, node, names):
        node.name = self.random.choice(names).split(":")[0]


def runs_or_is_refused(run):
    try:
        run()
    except sw.ShardwrightError as error:
        return error.diagnostics[0].code
    return None


def run_graph(graph, inputs, outputs, arguments):
    sw.from_graph(graph, inputs=inputs, outputs=outputs)(*arguments)


def run_model(path, given):
    program = sw.from_saved_model(path)
    program(*(given.get(key, next(iter(given.values()))) for key in program.inputs))


def operations(seed, rounds):
    damage = Damage(seed)
    graph, arrays = (
        graph_pb2.GraphDef.FromString((DATA / "operations.pb").read_bytes()),
        loaded(DATA / "operations.npz.xz"),
    )
    cases = sorted({name.split("/")[0] for name in arrays})
    nodes = {node.name: node for node in graph.node}
    for _ in range(rounds):
        case = damage.random.choice(cases)
        part, waiting = graph_pb2.GraphDef(), [name for name in nodes if name.startswith(f"{case}/node")]
        while waiting:
            name = waiting.pop().lstrip("^").split(":")[0]
            if all(node.name != name for node in part.node):
                part.node.add().CopyFrom(nodes[name])
                waiting += nodes[name].input
        names = [*(node.name for node in part.node), "gone", "x:9"]
        damage.node(damage.random.choice([node for node in part.node if node.op != "Placeholder"] or part.node), names)
        inputs = [name for name in arrays if name.startswith(f"{case}/in")]
        outputs = [name.replace("/out", "/node:") for name in arrays if name.startswith(f"{case}/out")]
        yield partial(run_graph, part, inputs, outputs, [arrays[name] for name in inputs])


def models(seed, rounds, folder):
    damage, arrays = Damage(seed), stored()
    for name in ("mlp", "transformer", "module"):
        whole = saved_model_pb2.SavedModel.FromString((unpacked() / name / "saved_model.pb").read_bytes())
        (folder / name).mkdir()
        (folder / name / "variables").symlink_to(unpacked() / name / "variables")
        given = {
            key.split("/")[1]: value for key, value in arrays.items() if key.startswith(f"{name}/") and "=" not in key
        }
        given["n"] = np.int32(3)
        for _ in range(rounds):
            model = saved_model_pb2.SavedModel()
            model.CopyFrom(whole)
            functions = [
                one for one in model.meta_graphs[0].graph_def.library.function if "save" not in one.signature.name
            ]
            for _ in range(damage.random.randrange(1, 4)):
                nodes = damage.random.choice(functions).node_def
                damage.node(
                    damage.random.choice(nodes), [*(f"{node.name}:output:0" for node in nodes[:20]), "gone:y:0"]
                )
            (folder / name / "saved_model.pb").write_bytes(model.SerializeToString())

            yield partial(run_model, folder / name, given)


@pytest.mark.parametrize("seed", range(2))
def test_damaged_operations(seed):
    codes = [runs_or_is_refused(run) for run in operations(seed, 40)]
    assert {"SW0886", "SW0887"} <= set(codes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 14))
def test_more_damaged_operations(seed):
    codes = [runs_or_is_refused(run) for run in operations(seed, 250)]
    assert {"SW0886", "SW0887", None} <= set(codes)


@pytest.mark.slow
def test_damaged_models(tmp_path):
    codes = [runs_or_is_refused(run) for run in models(0, 60, tmp_path)]
    assert {"SW0886", "SW0887", None} <= set(codes)
