"""Keras models trained on the mesh: the weights are those that Keras itself learns on one device."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import shardwright as sw

pytestmark = pytest.mark.peers

os.environ.setdefault("KERAS_BACKEND", "jax")
jax = pytest.importorskip("jax")
keras = pytest.importorskip("keras")

MESH = sw.Mesh([("batch", 4), ("model", 2)], [f"CPU:{i}" for i in range(8)])
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 16, (96, 12)).astype("int64")
Y = RANDOM.integers(0, 10, 96).astype("int64")
LAYOUTS = {
    "embeddings": [None, "model"],
    "dense/kernel": [None, "model"],
    "dense/bias": ["model"],
    "dense_1/kernel": ["model"],
}
OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.1, momentum=0.9),
    "adam": lambda: keras.optimizers.Adam(0.01),
    "adamw": lambda: keras.optimizers.AdamW(0.01, weight_decay=0.01, clipnorm=1.0),
}


def model() -> Any:
    """An embedding, a normalization over the batch and two layers; always the same initial weights."""
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.layers.Input((12,), dtype="int32"),
            keras.layers.Embedding(16, 8),
            keras.layers.Flatten(),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(16, activation="relu", kernel_regularizer="l2", name="dense"),
            keras.layers.Dense(10, name="dense_1"),
        ]
    )


def strategy(layouts: dict[str, Any]) -> Any:
    return sw.distribute.DTensorStrategy(MESH, "batch", sw.LayoutMap(layouts, MESH))


@pytest.mark.parametrize("name", list(OPTIMIZERS))
@pytest.mark.parametrize("layouts", [{}, LAYOUTS], ids=["data", "model"])
def test_weights_are_those_of_keras(name: str, layouts: dict[str, Any]) -> None:
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    expected = model()
    expected.compile(OPTIMIZERS[name](), loss)
    wanted = [float(expected.train_on_batch(X[at : at + 32], Y[at : at + 32])) for at in (0, 32, 64)]

    mine, optimizer = model(), OPTIMIZERS[name]()
    mp = strategy(layouts)
    step = mp.keras_step(mine, optimizer, loss)
    elements = [(X[at : at + 8], Y[at : at + 8]) for at in range(0, 96, 8)]
    dataset = mp.distribute_dataset_from_fn(lambda context: elements)
    losses = [float(mp.run(step, batch)) for batch in dataset]
    step.write_back()
    np.testing.assert_allclose(losses, wanted, rtol=1e-5)
    for one, other in zip(mine.variables, expected.variables, strict=False):
        if "metric" not in other.path:
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=2e-4, atol=2e-5, err_msg=one.path)
    assert int(optimizer.iterations) == 3


def test_variables_lie_where_the_map_says() -> None:
    mine = model()
    mp = strategy(LAYOUTS)
    step = mp.keras_step(mine, keras.optimizers.Adam(), "sparse_categorical_crossentropy")
    step(X[:32], Y[:32])
    assert step.ledger.sent_bytes > 0
    layouts = {path.partition("/")[2]: tensor.layout for path, tensor in step.tensors.items()}
    assert {name: layout for name, layout in layouts.items() if name in LAYOUTS} == {
        "dense/kernel": sw.Layout([None, "model"], MESH),
        "dense/bias": sw.Layout(["model"], MESH),
        "dense_1/kernel": sw.Layout(["model", None], MESH),
    }
    slots = [layout for name, layout in layouts.items() if name.endswith("dense_kernel_velocity")]
    assert slots == [sw.Layout([None, "model"], MESH)]
    assert layouts["dense_1/bias"].is_replicated


def test_metrics_are_those_of_keras() -> None:
    mp, mine = strategy(LAYOUTS), model()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    metrics = [keras.metrics.SparseCategoricalAccuracy(), keras.metrics.Mean(), keras.metrics.Sum()]
    step = mp.keras_step(mine, keras.optimizers.SGD(0.1), loss, metrics)
    losses = [float(mp.run(step, (X[at : at + 32], Y[at : at + 32]))) for at in (0, 32, 64)]
    step.write_back()
    expected = model()
    expected.compile(keras.optimizers.SGD(0.1), loss, metrics=[keras.metrics.SparseCategoricalAccuracy()])
    wanted = [expected.train_on_batch(X[at : at + 32], Y[at : at + 32]) for at in (0, 32, 64)]
    np.testing.assert_allclose(float(metrics[0].result()), np.mean([one[1] for one in wanted]), rtol=1e-6)
    np.testing.assert_allclose(float(metrics[1].result()), np.mean([one[0] for one in wanted]), rtol=1e-5)
    np.testing.assert_allclose(float(metrics[2].result()), np.sum(losses), rtol=1e-6)


class Twins(keras.Model):
    """Two layers of one name, so that their weights have one path; its call has nothing to do with training."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (keras.layers.Dense(4, name="same") for _ in range(2))

    def call(self, x: Any) -> Any:
        return self.second(self.first(x))


def twins() -> Any:
    keras.utils.set_random_seed(0)
    made = Twins()
    made(np.ones((1, 4), "float32"))
    return made


@pytest.mark.parametrize("optimizer", ["sgd", "adafactor"])
def test_variables_of_one_path_stay_apart(optimizer: str) -> None:
    x = RANDOM.standard_normal((8, 4)).astype("float32")
    expected, mine = twins(), twins()
    expected.compile(optimizer, "mse")
    step = strategy({}).keras_step(mine, optimizer, "mse")
    for _ in range(2):
        expected.train_on_batch(x, x)
        step(x, x)
    step.write_back()
    for one, other in zip(mine.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
    kernels = [name for name in step.tensors if name.endswith(("same/kernel", "same/kernel_1"))]
    assert [np.asarray(step.tensors[name]).tolist() for name in kernels] == [
        mine.first.kernel.numpy().tolist(),
        mine.second.kernel.numpy().tolist(),
    ]


def test_what_is_no_model_and_several_losses() -> None:
    with pytest.raises(TypeError, match=r"SW0510(.|\n)*keras_step: model cannot be 3"):
        strategy({}).keras_step(3, "sgd", "mse")
    with pytest.raises(TypeError, match=r"SW0510(.|\n)*keras_step: loss cannot be \['mse', 'mae'\]"):
        strategy({}).keras_step(model(), "sgd", ["mse", "mae"])


def test_what_keras_cannot_have_here() -> None:
    other = sw.Layout(["x"], sw.Mesh(x=2))
    step = strategy({"dense": other}).keras_step(model(), keras.optimizers.SGD(), "mse")
    with pytest.raises(ValueError, match="SW0555"):
        step(X[:32], Y[:32])
