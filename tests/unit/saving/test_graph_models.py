"""Whole models as TensorFlow and Keras save them: on one device, on meshes, with gradients."""

import numpy as np
import pytest
from graph_models import DATA, stored, unpacked

import shardwright as sw

MESH = sw.Mesh(batch=2, model=2)
ARRAYS = stored()


def inputs_of(name):
    return {key.split("/")[1]: value for key, value in ARRAYS.items() if key.startswith(f"{name}/") and "=" not in key}


def close(found, due, bound=1e-5):
    np.testing.assert_allclose(np.asarray(found), due, rtol=bound, atol=bound)


def load(name, **options):
    return sw.from_saved_model(unpacked() / name, **options)


def named(program, given):
    """The inputs by name: Keras names them after a counter."""
    return {name: given.get(name, next(iter(given.values()))) for name in program.inputs}


MODELS = ["mlp", "convnet", "transformer", "recurrent", "old"]

SPLIT = {
    "mlp": {r"dense/kernel": [None, "model"], r"dense/bias": ["model"], r"dense_1/kernel": ["model"]},
    "convnet": {r"^conv2d(_\d)?/kernel": [None, None, None, "model"], r"batch_normalization/": ["model"]},
    "transformer": {
        r"(query|key|value)/kernel": [None, "model"],
        r"attention_output/kernel": ["model"],
        r"dense(_\d*[02468])?/kernel": [None, "model"],
        r"embeddings": ["model"],
    },
    "recurrent": {r"gru.*/kernel": [None, "model"], r"lstm.*/recurrent_kernel": [None, "model"]},
    "old": {r"layer/w": ["model"]},
}


@pytest.mark.parametrize("name", MODELS)
def test_on_one_device(name):
    program = load(name)
    (found,) = program(**named(program, inputs_of(name))).values()
    close(found, ARRAYS[f"{name}/=output"])


@pytest.mark.every(2)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weights", ["replicated", "split"])
def test_on_a_mesh(name, weights):
    layouts = {pattern: sw.Layout(axes, MESH) for pattern, axes in SPLIT[name].items()} if weights == "split" else {}
    program = load(name, layouts=layouts)
    rows = sw.Layout(["batch"], MESH)
    values = named(program, inputs_of(name))
    given = {key: sw.relayout(value, rows.for_rank(value.ndim)) for key, value in values.items()}
    (found,) = program(**given).values()
    assert isinstance(found, sw.DTensor)
    close(found, ARRAYS[f"{name}/=output"])
    split = [variable for variable in program.variables if variable.layout and not variable.layout.is_replicated]
    assert bool(split) == (weights == "split")
    if weights == "split":
        assert program.trace(**given).partition().predicted


def test_specs_give_shapes_and_layouts():
    rows = sw.Layout(["batch"], MESH)
    specs = {"source": sw.TensorSpec((4, 12), "int32", rows), "target": sw.TensorSpec((4, 8), "int32", rows)}
    program = load("transformer", inputs=specs)
    traced = program.trace()
    assert [parameter.name for parameter in traced.interface.parameters] == ["source", "target"]
    assert traced.interface.parameters[0].layout == rows.for_rank(2)
    result = program(**inputs_of("transformer"))["output_0"]
    assert result.layout.mesh == MESH
    close(result, ARRAYS["transformer/=output"])


def test_several_inputs_of_a_signature_have_no_order():
    program = load("transformer")
    given = inputs_of("transformer")
    for call in (program, program.trace, program.layouts, program.compiled):
        with pytest.raises(sw.ShardwrightError, match="SW0891") as caught:
            call(*given.values())
        assert "signature 'serving_default' has 2 inputs, and a SavedModel does not order them" in str(caught.value)
        assert "give them by name: transformer(source=..., target=...)" in str(caught.value)
    close(program(target=given["target"], source=given["source"])["output_0"], ARRAYS["transformer/=output"])


def test_layouts_that_do_not_fit_name_the_weight():
    with pytest.raises(sw.ShardwrightError, match=r"SW0104(.|\n)*the weight is 'sequential/dense_1/kernel'"):
        load("mlp", layouts={"dense_1/kernel": sw.Layout(["x"], sw.Mesh(x=7))})


def test_any_batch_size():
    program = load("mlp")
    x = ARRAYS["mlp/keras_tensor"]
    for count in (1, 3, 8):
        close(program(x[:count])["output_0"], ARRAYS["mlp/=output"][:count])


def test_variables_are_named_typed_and_trainable_as_in_the_model():
    names = {variable.name: variable for variable in load("convnet").variables}
    assert names["conv2d/kernel"].shape == (3, 3, 3, 8)
    assert names["conv2d/kernel"].trainable
    assert not names["batch_normalization/moving_mean"].trainable
    assert set(load("old").weights) == {"layer/w", "layer/b"}


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_functions_branches_loops_and_assignments(n):
    program = load("module")
    found = program(x=ARRAYS["module/x"], n=np.int32(n))
    for key in ("chosen", "rows", "calls"):
        close(found[key], ARRAYS[f"module/={key}{n}"], 2e-5)
    close(found["wide"], ARRAYS[f"module/=wide{n}"], 5e-4)  # sums of 5000 numbers
    assert int(found["calls"]) == 1
    assert int(program(x=ARRAYS["module/x"], n=np.int32(n))["calls"]) == 2
    assert int(program.weights["calls"]) == 2


def test_branches_and_loops_on_a_mesh():
    program = load(
        "module", layouts={"^w$": sw.Layout([None, "model"], MESH), "Const": sw.Layout([None, "model"], MESH)}
    )
    x = sw.relayout(ARRAYS["module/x"], sw.Layout(["batch"], MESH))
    found = program(x=x, n=np.int32(3))
    close(found["chosen"], ARRAYS["module/=chosen3"], 2e-5)
    close(found["wide"], ARRAYS["module/=wide3"], 5e-4)


def test_large_constants_are_weights():
    program = sw.from_graph(DATA / "frozen.pb", outputs="probabilities")
    assert list(program.weights) == ["weights"]
    close(program(ARRAYS["frozen/images"]), ARRAYS["frozen/=output"])
    program.weights["weights"].set_layout(sw.Layout([None, "model"], MESH))
    images = sw.relayout(ARRAYS["frozen/images"], sw.Layout(["batch"], MESH))
    close(program(images), ARRAYS["frozen/=output"])


def test_a_graph_is_cut_where_inputs_and_outputs_are_given():
    spec = sw.TensorSpec((8, 8, 8, 6), "float32")
    whole = sw.from_graph(DATA / "frozen.pb", outputs={"relu": "relu:0", "p": "probabilities"})
    parts = whole(ARRAYS["frozen/images"])
    rest = sw.from_graph(DATA / "frozen.pb", inputs={"relu": spec}, outputs=["probabilities"])
    close(rest(parts["relu"])[0], ARRAYS["frozen/=output"])
    assert rest.trace().interface.parameters[0].name == "relu"


def test_gradients_of_a_model():
    program = load("old")
    x, w = ARRAYS["old/x"], np.asarray(program.weights["layer/w"])

    @sw.function
    def slope(x):
        with sw.GradientTape() as tape:
            loss = sw.sum(program(x)["y"])
        return tape.gradient(loss, program.weights["layer/w"])

    y = 1 / (1 + np.exp(-(x @ w + np.asarray(program.weights["layer/b"]))))
    due = x.T @ (y * (1 - y))
    close(slope(x), due)
    program.weights["layer/w"].set_layout(sw.Layout(["model"], MESH))
    close(slope(sw.relayout(x, sw.Layout(["batch"], MESH))), due)


def test_places_are_names_of_nodes():
    traced = load("mlp").trace(ARRAYS["mlp/keras_tensor"])
    text = traced.as_text(debuginfo=True)
    assert '"sequential_1/dense_1/MatMul"' in text
    assert "mlp:sequential_1/dense_1/MatMul" in text


@pytest.mark.peers
@pytest.mark.parametrize("name", ["mlp", "convnet", "transformer", "recurrent"])
def test_tensorflow_still_computes_what_is_stored(name):
    tf = pytest.importorskip("tensorflow")
    loaded = tf.saved_model.load(str(unpacked() / name)).signatures["serving_default"]
    given = inputs_of(name)
    names = list(loaded.structured_input_signature[1])
    values = {key: tf.constant(given.get(key, next(iter(given.values())))) for key in names}
    close(loaded(**values)["output_0"].numpy(), ARRAYS[f"{name}/=output"])
