"""What TensorFlow and Keras write, with their own readers' values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw

pytestmark = pytest.mark.peers


def test_checkpoints_of_tensorflow(tmp_path: Path) -> None:
    tf: Any = pytest.importorskip("tensorflow")
    module = tf.Module()
    module.w = tf.Variable(np.arange(12, dtype=np.float32).reshape(3, 4))
    module.layers = [tf.Variable(tf.cast([1.5, 2.5], tf.bfloat16)), tf.Variable(np.int8([1, -2]))]
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=module, step=tf.Variable(7)), tmp_path, 2)
    for _ in range(3):
        manager.save()
        module.w.assign_add(tf.ones_like(module.w))
    found = sw.load_variables(tmp_path)  # the latest of two
    np.testing.assert_array_equal(found["model/w"], module.w.numpy() - 1)
    assert found["model/layers/0"].dtype.name == "bfloat16"
    np.testing.assert_array_equal(found["model/layers/0"].astype(np.float32), [1.5, 2.5])
    np.testing.assert_array_equal(found["model/layers/1"], np.int8([1, -2]))
    assert int(found["step"]) == 7
    reader = tf.train.load_checkpoint(manager.latest_checkpoint)
    for name, array in found.items():
        np.testing.assert_array_equal(array, reader.get_tensor(f"{name}/.ATTRIBUTES/VARIABLE_VALUE"))


def test_checkpoints_of_tensorflow_1(tmp_path: Path) -> None:
    tf: Any = pytest.importorskip("tensorflow")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        w = tf.compat.v1.get_variable("scope/w", initializer=np.float32([[1, 2], [3, 4]]))
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver([w]).save(session, str(tmp_path / "model"), global_step=3)
    np.testing.assert_array_equal(sw.load_variables(tmp_path)["scope/w"], [[1, 2], [3, 4]])


@pytest.mark.parametrize("ending", ["weights.h5", "keras"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_weights_of_keras(ending: str, dtype: str, tmp_path: Path) -> None:
    keras: Any = pytest.importorskip("keras")
    model = keras.Sequential(
        [keras.layers.Input((4,)), keras.layers.Dense(3, dtype=dtype), keras.layers.BatchNormalization()]
    )
    path = tmp_path / f"model.{ending}"
    model.save(path) if ending == "keras" else model.save_weights(path)
    found = sw.load_variables(path)
    kernel, bias = (np.asarray(weight) for weight in model.layers[0].get_weights())
    assert found["layers/dense/vars/0"].dtype.name == dtype
    np.testing.assert_array_equal(found["layers/dense/vars/0"], kernel)
    np.testing.assert_array_equal(found["layers/dense/vars/1"], bias)
    assert found["layers/batch_normalization/vars/0"].shape == (3,)
