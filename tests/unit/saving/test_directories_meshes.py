"""Directories on other meshes: the same numbers on fewer devices, on more, on other axes and with other layouts."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import on_job
from stored_programs import PROGRAMS, RUNNABLE, assert_right, inputs, meta

import shardwright as sw
from shardwright import Layout, Mesh, Module, Variable
from shardwright.engines.dtensor_value import scatter
from shardwright.frontends.functions.dtensor import DTensor
from shardwright.layout.forms.clients import Clients

MESH = Mesh(batch=4, model=2)
RANDOM = np.random.default_rng(1)

PLACES: dict[str, dict[str, Any]] = {
    "the same": {},
    "as many otherwise": {"mesh": Mesh(batch=2, model=4)},
    "more": {"mesh": Mesh(batch=8, model=4)},
    "fewer": {"mesh": Mesh(batch=2, model=1)},
    "more axes": {"mesh": Mesh(pipe=2, model=2, batch=2)},
    "one device": {"mesh": Mesh()},
    "one device, as axes": {"mesh": Mesh(batch=1, model=1)},
    "other names": {"mesh": Mesh(x=2, y=2), "axes": {"batch": "y", "model": "x"}},
    "an axis less": {"mesh": Mesh(batch=4), "axes": {"model": None}},
    "an axis for two": {"mesh": Mesh(a=2, b=2, model=2), "axes": {"batch": ["a", "b"]}},
}


def normal(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype("float32")


class Block(Module):
    """Attention over the sequence and a layer behind it, as transformers have them."""

    def __init__(self, width: int = 16, heads: int = 4) -> None:
        columns, rows = Layout([None, "model"], MESH), Layout(["model"], MESH)
        self.heads = heads
        self.q, self.k, self.v = (Variable(normal(width, width) / 4, layout=columns) for _ in range(3))
        self.o = Variable(normal(width, width) / 4, layout=rows)
        self.up, self.down = Variable(normal(width, 32) / 4, layout=columns), Variable(normal(32, width), layout=rows)
        self.gain = Variable(np.ones(width, "float32"))
        self.steps = Variable(0, trainable=False)

    @sw.function
    def __call__(self, x: Any) -> Any:
        self.steps.assign_add(1)
        batch, length, width = x.shape
        size = (batch, length, self.heads, width // self.heads)
        q, k, v = (sw.reshape(x @ w, size) for w in (self.q, self.k, self.v))
        scores = sw.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(size[-1])
        masked = sw.where(sw.tril(sw.ones((length, length), dtype=sw.bool)), scores, -sw.inf)
        mixed = sw.reshape(sw.einsum("bhqk,bkhd->bqhd", sw.nn.softmax(masked), v), x.shape)
        x = x + mixed @ self.o
        return x + sw.nn.gelu(sw.nn.layer_norm(x) * self.gain @ self.up) @ self.down

    @sw.function
    def learn(self, x: Any, y: Any) -> Any:
        with sw.GradientTape() as tape:
            loss = sw.mean(sw.square(self(x) - y))
        for variable, slope in zip(
            self.trainable_variables, tape.gradient(loss, self.trainable_variables), strict=True
        ):
            variable.assign_sub(0.1 * slope)
        return loss


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any, Any, Any, list[float], dict[str, Any]]:
    """A saved transformer block with what the same one computes without a mesh: a value, two losses, the end."""
    model, alone, x, y = Block(), Block(), normal(8, 4, 16), normal(8, 4, 16)
    there = Layout(["batch"], MESH)
    start = {name: variable.numpy() for name, variable in model.named_variables().items()}
    for name in start:
        setattr(alone, name, Variable(start[name], trainable=name != "steps"))
    result = alone(x)
    losses = [float(alone.learn(x, y)) for _ in range(2)]
    end = {name: variable.numpy() for name, variable in alone.named_variables().items()}
    model(sw.relayout(x, there)), model.learn(sw.relayout(x, there), sw.relayout(y, there))
    for name, variable in model.named_variables().items():
        variable.assign(start[name])
    place = sw.save(model, tmp_path_factory.mktemp("block") / "saved")
    return place, x, y, result, losses, end


SLOW = ("as many otherwise", "fewer", "more axes", "one device, as axes")


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "where", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in PLACES]
)
def test_transformer_block(where: str, block: tuple[str, Any, Any, Any, list[float], dict[str, Any]]) -> None:
    place, x, y, expected, losses, end = block
    loaded = sw.load(place, **PLACES[where])
    mesh = PLACES[where].get("mesh", MESH)
    assert loaded.q.layout.mesh == mesh
    assert np.allclose(loaded(x), expected, rtol=1e-4, atol=1e-5)
    assert int(loaded.steps) == 1
    assert np.allclose([float(loaded.learn(x, y)) for _ in range(2)], losses, rtol=1e-4)
    for name, variable in loaded.named_variables().items():
        assert np.allclose(variable, end[name], rtol=1e-3, atol=1e-5)
        assert variable.layout is None or variable.layout.mesh == mesh


def test_layouts_on_the_new_mesh(block: tuple[str, Any, Any, Any, list[float], dict[str, Any]]) -> None:
    loaded = sw.load(block[0], mesh=Mesh(a=2, b=2, model=2), axes={"batch": ["a", "b"]})
    assert loaded.q.layout.sharding_specs == ["unsharded", "model"]
    assert loaded.__call__.signatures == ["x: f32[8@a@b, 4, 16]"]
    loaded = sw.load(block[0], mesh=Mesh(model=4), axes={"batch": None, "model": "model"})
    assert loaded.__call__.signatures == ["x: f32[8, 4, 16]"]
    assert loaded.gain.layout is None


def test_variables_in_other_layouts(block: tuple[str, Any, Any, Any, list[float], dict[str, Any]]) -> None:
    place, x, y, expected, losses, _ = block
    rows = Layout(["batch", "model"], MESH)
    loaded = sw.load(place, layouts={"q": rows, "gain": Layout([], MESH)})
    assert loaded.q.layout == rows
    assert loaded.gain.layout.is_replicated
    assert np.allclose(loaded(x), expected, rtol=1e-4, atol=1e-5)
    assert np.allclose([float(loaded.learn(x, y)) for _ in range(2)], losses, rtol=1e-4)
    assert loaded.q.layout == loaded.q.value.layout == rows


def test_arguments_in_other_layouts(tmp_path: Path) -> None:
    @sw.function
    def product(a: Any, b: Any) -> Any:
        return sw.nn.relu(a @ b)

    a, b = normal(8, 16), normal(16, 4)
    rows, columns, whole = Layout(["batch"], MESH), Layout([None, "model"], MESH), Layout([], MESH)
    product(sw.relayout(a, rows), sw.relayout(b, whole))
    product(sw.relayout(a, columns), sw.relayout(b, Layout(["model"], MESH)))
    loaded = sw.load(sw.save(product, tmp_path / "saved"))
    expected = np.maximum(a @ b, 0)
    for first, second in ((rows, whole), (columns, Layout(["model"], MESH)), (whole, columns), (columns, rows)):
        arguments = sw.relayout(a, first), sw.relayout(b, second)
        result = loaded(*arguments)
        assert np.allclose(result, expected, rtol=1e-5, atol=1e-6)
        assert result.layout == product(*arguments).layout
        compiled = loaded.compiled(*arguments)
        assert [item.layout for item in compiled.interface.parameters] == [first.for_rank(2), second.for_rank(2)]
    assert np.allclose(loaded(a, sw.relayout(b, columns)), expected, rtol=1e-5, atol=1e-6)


def test_layouts_by_patterns(block: tuple[str, Any, Any, Any, list[float], dict[str, Any]]) -> None:
    place, x, _, expected, _, _ = block
    loaded = sw.load(place, layouts=sw.LayoutMap({"^(q|k)$": Layout(["batch"], MESH)}))
    assert [variable.layout.sharding_specs[0] for variable in (loaded.q, loaded.k, loaded.v)] == [
        "batch",
        "batch",
        "unsharded",
    ]
    assert np.allclose(loaded(x), expected, rtol=1e-4, atol=1e-5)


def test_variables_moved_after_loading(block: tuple[str, Any, Any, Any, list[float], dict[str, Any]]) -> None:
    place, x, _, expected, _, _ = block
    loaded = sw.load(place)
    loaded(x)
    loaded.up.set_layout(Layout(["batch"], MESH))
    assert np.allclose(loaded(x), expected, rtol=1e-4, atol=1e-5)
    loaded.up.set_layout(Layout(["x"], Mesh(x=2)))
    with pytest.raises(ValueError, match="SW0883"):
        loaded(x)


def test_static_layouts_and_meshes_move_along(tmp_path: Path) -> None:
    rows = Layout(["batch"], MESH)

    @sw.function(static=["layout", "mesh"])
    def placed(x: Any, layout: Layout, mesh: Mesh) -> Any:
        return sw.relayout(x * mesh.size, layout)

    x = np.arange(8, dtype="float32")
    placed(sw.relayout(x, rows), rows, MESH)
    mesh = Mesh(data=2)
    loaded = sw.load(sw.save(placed, tmp_path / "saved"), mesh=mesh, axes={"batch": "data", "model": None})
    result = loaded(x, Layout(["data"], mesh), mesh)
    assert np.array_equal(result, x * 8)  # what Python computed while it traced stays
    assert result.layout == Layout(["data"], mesh)


def test_programs_on_several_meshes(tmp_path: Path) -> None:
    tables = Mesh([("rows", 2)], devices=["GPU:0", "GPU:1"])
    table = Variable(normal(16, 4), layout=Layout([None, "rows"], tables))

    @sw.function
    def looked_up(x: Any) -> Any:
        return x + sw.relayout(table.value * 2, Layout(["batch"], MESH))

    x = normal(16, 4)
    looked_up(sw.relayout(x, Layout(["batch"], MESH)))
    place = sw.save({"f": looked_up, "table": table}, tmp_path / "saved")
    expected = x + 2 * table.numpy()
    loaded = sw.load(place)
    assert np.allclose(loaded["f"](x), expected)
    assert loaded["table"].layout.mesh == tables
    with pytest.raises(ValueError, match=r"SW0883.*mesh, mesh_1"):
        sw.load(place, mesh=Mesh(batch=2))
    moved = sw.load(place, mesh={"mesh": Mesh(rows=4), "mesh_1": Mesh(batch=2, model=1)})
    assert np.allclose(moved["f"](x), expected)
    assert moved["table"].layout.mesh == Mesh(rows=4)


def test_meshes_keep_their_devices_and_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mesh that two processes shared is shared by two again; one process has all of it."""
    own = threading.local()

    def far(clients: Clients) -> Mesh:
        options = {"num_clients": clients.count, "client_id": clients.place, "name": "far"}
        return Mesh.distributed({"x": 4}, [f"GPU:{place}" for place in range(4 // clients.count)], **options)

    def save(clients: Clients) -> None:
        layout = Layout(["x"], far(clients))
        sw.save({"v": Variable(DTensor(scatter(np.arange(4.0), layout), layout))}, tmp_path / "saved")

    def load(clients: Clients) -> None:
        own.clients = clients
        found = sw.load(tmp_path / "saved")["v"]
        mesh = found.layout.mesh
        assert (mesh.sizes, mesh.name, mesh.devices, mesh.clients) == ({"x": 4}, "far", names, clients)
        here = range(4) if clients.count == 1 else ((0, 1), (2, 3))[clients.place]
        assert [part.tolist() for part in found.value.components()] == [[float(at)] for at in here]

    names = far(Clients(2, 0)).devices
    on_job(monkeypatch, 2, save)
    monkeypatch.setattr(Clients, "found", lambda: own.clients)
    for count in (1, 2):
        on_job(monkeypatch, count, load)


@pytest.mark.parametrize("mesh", [MESH, Mesh(batch=2, model=2), Mesh()], ids=str)
def test_random_numbers_are_those_of_the_seed(mesh: Mesh, tmp_path: Path) -> None:
    @sw.function
    def noise(x: Any, seed: Any) -> Any:
        return x + sw.random.stateless_random_normal((8, 4), seed=sw.stack([seed, 1]))

    x = sw.relayout(normal(8, 4), Layout(["batch"], MESH))
    expected = np.asarray(noise(x, 5))
    loaded = sw.load(sw.save(noise, tmp_path / "saved"), mesh=mesh)
    assert np.allclose(loaded(np.asarray(x), 5), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mesh": Mesh(batch=3, model=2)}, "argument x of __call__.*3"),
        ({"mesh": Mesh(batch=2, model=3)}, "'q'"),
        ({"mesh": Mesh(batch=4)}, "no axis 'model'"),
        ({"mesh": Mesh(x=4), "axes": {"batch": "x", "model": "y"}}, "no axis 'y'"),
        ({"mesh": Mesh(batch=4, model=2), "axes": {"rows": "batch"}}, "no axis 'rows'"),
        ({"mesh": {"elsewhere": MESH}}, "no saved mesh 'elsewhere', but mesh"),
        ({"layouts": {"r": Layout([], MESH)}}, "names 'r'"),
        ({"layouts": {"q": Layout(["x"], Mesh(x=3))}}, "'q'"),
    ],
)
def test_meshes_that_do_not_fit(
    options: Any, text: str, block: tuple[str, Any, Any, Any, list[float], dict[str, Any]]
) -> None:
    with pytest.raises(ValueError, match=rf"SW0883.*{text}"):
        sw.load(block[0], **options)


def test_what_does_not_split_inside_of_a_program(tmp_path: Path) -> None:
    @sw.function
    def inner(x: Any) -> Any:
        return sw.sum(sw.relayout(x[:4], Layout(["batch"], MESH)))

    inner(np.ones(6, "float32"))
    place = sw.save(inner, tmp_path / "saved")
    assert float(sw.load(place, mesh=Mesh(batch=2, model=1))(np.ones(6, "float32"))) == 4.0
    loaded = sw.load(place, mesh=Mesh(batch=3, model=2))
    with pytest.raises(ValueError, match=r"SW0883.*test_directories_meshes.py"):
        loaded(np.ones(6, "float32"))


QUICK = ("clipped_adam", "gru_scan_train", "embed_features", "switch_branches", "sort_sharded", "smap_gather_scatter")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in RUNNABLE]
)
def test_programs_from_jax(name: str, tmp_path: Path) -> None:
    place = sw.save(sw.load_mlir(PROGRAMS / name / f"{name}.mlir"), tmp_path / "saved")
    meshes: list[Any] = [None]
    if "smap" not in name:
        meshes.append(Mesh([(axis, 1 if number else 2) for number, (axis, _) in enumerate(meta(name)["mesh"])]))
    for mesh in meshes:
        results = sw.load(place, mesh=mesh)(*inputs(name))
        assert_right(name, results if isinstance(results, tuple) else [results])


def test_manual_programs_stay_on_their_mesh(tmp_path: Path) -> None:
    name = "smap_gather_scatter"
    place = sw.save(sw.load_mlir(PROGRAMS / name / f"{name}.mlir"), tmp_path / "saved")
    loaded = sw.load(place, mesh=Mesh([(axis, 4) for axis, _ in meta(name)["mesh"]]))
    with pytest.raises(ValueError, match=r"SW0883.*dtensor\."):
        loaded(*inputs(name))
