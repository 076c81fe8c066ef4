"""Strategies and layout maps: where variables and batches lie, and what runs on them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.frontends.training.distribute import DTensorStrategy, InputContext, get_strategy

MESH = sw.Mesh([("batch", 4), ("model", 2)])
COLUMNS = sw.Layout([None, "model"], MESH)
ROWS = sw.Layout(["model"], MESH)
REPLICATED = sw.Layout(sw.Mesh.UNSHARDED, MESH)


class Layer(sw.Module):
    def __init__(self) -> None:
        self.w = sw.Variable(sw.ones, shape=(4, 6), name="w")
        self.b = sw.Variable(sw.zeros, shape=(6,))


class Model(sw.Module):
    def __init__(self) -> None:
        self.layers = [Layer(), Layer()]
        self.var = sw.Variable(np.ones((2, 2), "float32"))


def strategy(layouts: dict[str, Any]) -> DTensorStrategy:
    """The strategy of the RFC's example."""
    return DTensorStrategy(default_mesh=MESH, batch_dim="batch", layout_map=sw.LayoutMap(layouts))


def test_variables_get_layouts_by_name_and_by_path() -> None:
    mp = strategy({"w$": COLUMNS, "layers/1/b": ROWS, "v.*": REPLICATED})
    with mp.scope() as entered:
        assert entered is mp is get_strategy()
        model = Model()
    assert get_strategy() is None
    assert model.layers[0].w.layout == model.layers[1].w.layout == COLUMNS
    assert model.layers[0].b.layout == sw.Layout([None], MESH)
    assert model.layers[1].b.layout == ROWS
    assert model.var.layout == sw.Layout([None, None], MESH)
    assert np.array_equal(model.layers[1].b, np.zeros(6))
    assert sw.Variable(1.0).layout is None


def test_a_layout_that_does_not_fit_names_the_variable() -> None:
    held: list[sw.Module] = []
    layouts = strategy({"layers/1/b": sw.Layout([("batch", "model")], MESH)})
    with pytest.raises(ValueError, match=r"SW0104(.|\n)*the variable is 'layers/1/b'"), layouts.scope():
        held.append(Model())


def test_a_layout_of_its_own_goes_first() -> None:
    with strategy({"w": COLUMNS}).scope():
        given = sw.Variable(sw.zeros, shape=(4, 4), layout=ROWS, name="w")
        held = sw.Variable(sw.zeros((4, 4), layout=ROWS), name="w2")
        made = sw.Variable(lambda: sw.zeros((4, 4), layout=ROWS), name="other")
        assert [one.layout for one in (given, held, made)] == [ROWS.for_rank(2)] * 3
        plain = sw.Variable(sw.ones, shape=(4, 4), name="w3")
    assert plain.layout == COLUMNS


def test_other_meshes_by_set_layout() -> None:
    embedding_mesh = sw.Mesh([("embedding", 2)], ["/worker:0/GPU:0", "/worker:0/GPU:1"])
    layout_map = sw.LayoutMap({"embedding": sw.Layout(["unsharded", "embedding"], mesh=embedding_mesh)})
    with strategy({}).scope():
        variables = [sw.Variable(np.eye(4), name="embedding/table"), sw.Variable(np.ones(3), name="bias")]
    for var in variables:
        var.set_layout(layout_map.get(var))
    assert variables[0].layout == sw.Layout([None, "embedding"], embedding_mesh)
    assert variables[1].layout == sw.Layout([None], MESH)
    assert np.array_equal(variables[0], np.eye(4))
    plain = sw.Variable(np.eye(4))
    plain.set_layout(COLUMNS)
    assert plain.layout == COLUMNS
    assert np.array_equal(plain, np.eye(4))


def test_variables_of_a_module_meet_patterns_by_their_paths() -> None:
    model = Model()
    assert all(variable.path == path for path, variable in model.named_variables().items())
    layout_map = sw.LayoutMap({"layers/1/w": COLUMNS})
    for var in model.variables:
        var.set_layout(layout_map.get(var))
    assert {path for path, var in model.named_variables().items() if var.layout == COLUMNS} == {"layers/1/w"}
    outer = sw.Module()
    outer.inner = model  # type: ignore[attr-defined]
    assert layout_map.patterns(outer.variables[0]) == []
    assert {var.path for var in outer.variables} == {f"inner/{path}" for path in model.named_variables()}


def test_layout_map_is_a_mapping() -> None:
    layout_map = sw.LayoutMap({"dense.*kernel": COLUMNS, "kernel": ROWS})
    layout_map["exact"] = REPLICATED
    assert list(layout_map) == ["dense.*kernel", "kernel", "exact"]
    assert layout_map["model/dense_1/kernel"] == COLUMNS
    assert layout_map["kernel"] == ROWS
    assert "bias" not in layout_map
    assert layout_map.get("bias") is None
    assert layout_map.get("bias", REPLICATED) == REPLICATED
    del layout_map["kernel"]
    assert len(layout_map) == 2
    with pytest.raises(KeyError):
        layout_map["kernel"]
    assert sw.LayoutMap([("w", "model"), ("b", None)][:1], MESH)["w"] == ROWS


@pytest.mark.parametrize("wrong", [{"(": ROWS}, {"w": ["model"]}, {"w": 3}])
def test_layout_map_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="SW0553"):
        sw.LayoutMap(wrong)


def test_resolve_and_apply() -> None:
    model = Model()
    layout_map = sw.LayoutMap({"layers/0/w": ROWS, "w": COLUMNS, "embedding": ROWS})
    with pytest.warns(UserWarning, match="SW0553") as caught:
        table = layout_map.resolve(model)
    (warning,) = [str(one.message) for one in caught]  # that "layers/0/w" meets "w" too is no accident
    assert "no variable meets 'embedding'" in warning
    assert [row.pattern for row in table.rows] == ["layers/0/w", None, "w", None, None]
    assert str(table).splitlines()[3].split() == [
        "layers/1/w",
        "[4,",
        "6]",
        "[{},",
        '{"model"}]',
        f"{MESH}".split()[0],
        f"{MESH}".split()[1],
        "w",
    ]
    assert model.layers[0].w.layout is None
    with pytest.warns(UserWarning, match="no variable meets 'embedding'"):
        layout_map.apply(model)
    assert model.layers[0].w.layout == ROWS.for_rank(2)


def test_warnings_name_patterns_and_variables() -> None:
    w = sw.Variable(np.ones((4, 4)), name="dense/w")
    with pytest.warns(UserWarning, match=r"dense/w meets 'dense', 'w'; the first one counts"):
        sw.LayoutMap({"dense": COLUMNS, "w": ROWS}).resolve({"dense/w": w})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.LayoutMap({"dense": COLUMNS, "w": COLUMNS}).resolve([w])
        with strategy({}).scope():
            sw.Variable(1.0)
        with strategy({"w": COLUMNS}).scope():
            pass
    with pytest.warns(UserWarning, match="no variable meets 'kernel'") as caught, strategy({"kernel": COLUMNS}).scope():
        sw.Variable(1.0, name="bias")
    assert caught[0].filename == __file__


def test_run_traces_once_and_knows_its_strategy() -> None:
    mp = strategy({})
    seen: list[Any] = []

    def step(x: Any, scale: Any = 1.0) -> Any:
        seen.append(get_strategy())
        return sw.sum(x) * scale

    x = sw.ones((8, 2), layout=mp.batch_layout)
    assert float(mp.run(step, (x,))) == 16
    assert float(mp.run(step, x, {"scale": 2.0})) == 32
    assert float(mp.run(step, [x], {"scale": 3.0})) == 48
    assert seen == [mp, mp]
    assert float(mp.run(sw.function(lambda a, b: sw.sum(a - b)), (x, 1.0))) == 0


@pytest.mark.parametrize(("operation", "expected"), [("SUM", 28.0), ("mean", 3.5), ("Max", 7.0), ("min", 0.0)])
def test_reduce(operation: str, expected: float) -> None:
    mp = strategy({})
    value = sw.relayout(np.arange(8.0), mp.batch_layout)
    assert float(mp.reduce(operation, value)) == expected
    assert float(mp.reduce(operation, sw.sum(value))) == 28.0
    assert mp.reduce("sum", sw.ones((4, 3), layout=mp.batch_layout), axis=0).shape == (3,)


def test_datasets_from_functions() -> None:
    mp = strategy({})
    contexts: list[InputContext] = []

    def dataset_fn(context: InputContext) -> Iterator[Any]:
        contexts.append(context)
        for at in range(context.num_replicas_in_sync * 2):
            yield np.full((2, 3), at, "float32"), np.array([at, at])

    dataset = mp.distribute_dataset_from_fn(dataset_fn)
    for _ in range(2):
        found = list(dataset)
        assert [np.asarray(y).tolist() for _, y in found] == [[0, 0, 1, 1, 2, 2, 3, 3], [4, 4, 5, 5, 6, 6, 7, 7]]
        assert found[0][0].layout == mp.batch_layout.for_rank(2)
    assert contexts == [InputContext(1, 0, 4)] * 2
    whole = mp.distribute_dataset_from_fn(lambda context: [np.zeros((1, 1))] * 9)
    assert len(whole) == len(list(whole)) == 2


def test_each_process_has_its_own_dataset() -> None:
    mesh = sw.Mesh.distributed({"batch": 4, "model": 2}, [f"CPU:{one}" for one in range(4)], num_clients=2, client_id=1)
    seen: list[InputContext] = []

    def dataset_fn(context: InputContext) -> list[Any]:
        seen.append(context)
        return [np.full(1, at) for at in range(8)][context.input_pipeline_id :: context.num_input_pipelines]

    batches = list(DTensorStrategy(mesh, "batch").distribute_dataset_from_fn(dataset_fn))
    assert seen == [InputContext(2, 1, 4)]
    assert [one.shape for one in batches] == [(4,), (4,)]
    found = [[part.tolist() for part in one.components()] for one in batches]
    assert found == [[[1], [1], [3], [3]], [[5], [5], [7], [7]]]  # two devices of the axis model have each row
    assert batches[0].mesh == mesh


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("SW0102", lambda: DTensorStrategy(MESH, "rows")),
        ("SW0554", lambda: DTensorStrategy(sw.Mesh())),
        ("SW0554", lambda: DTensorStrategy(MESH).reduce("product", 1.0)),
        ("SW0554", lambda: InputContext(num_replicas_in_sync=4).get_per_replica_batch_size(6)),
        ("SW0507", lambda: sw.LayoutMap({}).resolve(3)),
    ],
)
def test_mistakes(code: str, call: Any) -> None:
    with pytest.raises(sw.ShardwrightError, match=code):
        call()


def test_without_keras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keras", None)
    with pytest.raises(ValueError, match="SW0555"):
        strategy({}).keras_step(None, None, "mse")


def test_a_dataset_function_that_gives_none() -> None:
    with pytest.raises(TypeError, match=r"SW0550.*a NoneType is no dataset"):
        DTensorStrategy(sw.Mesh(batch=2), "batch").distribute_dataset_from_fn(lambda context: None)  # pyright: ignore
