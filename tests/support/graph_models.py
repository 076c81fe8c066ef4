"""
Models as TensorFlow saves them: `python tests/support/graph_models.py` writes them, with inputs and outputs.

They go to `tests/data/graphs`. Needs TensorFlow and Keras 3.
"""

from __future__ import annotations

import os
import sys
import tarfile
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data" / "graphs"


@cache
def unpacked() -> Path:
    """A folder with the stored models, one directory each: `mlp`, `convnet`, `transformer` and so on."""
    folder = Path(mkdtemp(prefix="shardwright-graphs-"))
    with tarfile.open(DATA / "models.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def stored() -> dict[str, np.ndarray]:
    """The models' inputs and what TensorFlow computes of them: `mlp/keras_tensor`, `mlp/=output`."""
    with np.load(DATA / "models.npz") as file:
        return dict(file)


def mlp() -> Any:
    from keras import Sequential, layers

    hidden = [layers.Dense(32, activation="relu"), layers.Dropout(0.5), layers.Dense(24, activation="gelu")]
    return Sequential([layers.Input((16,)), *hidden, layers.Dense(8, activation="softmax")])


def convnet() -> Any:
    """A stem, a block around which values go, a depthwise convolution, both pools, and a transposed convolution."""
    from keras import Model, layers

    images = layers.Input((16, 16, 3))
    x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(8, 3, padding="same", use_bias=False)(images)))
    y = layers.BatchNormalization()(layers.Conv2D(8, 3, strides=2, padding="same")(x))
    x = layers.Activation("swish")(layers.Add()([y, layers.Conv2D(8, 1, strides=2)(x)]))
    x = layers.MaxPooling2D()(layers.DepthwiseConv2D(3, padding="same")(x))
    x = layers.Conv2DTranspose(4, 3, strides=2, padding="same")(x)
    x = layers.AveragePooling2D(2)(layers.ZeroPadding2D(1)(layers.UpSampling2D(2)(x)))
    return Model(images, layers.Dense(5)(layers.Flatten()(x)))


def transformer() -> Any:
    """Tokens with places, a block of an encoder, and a block of a decoder that looks at it."""
    import keras
    from keras import Model, layers

    class Places(layers.Layer):
        def build(self, shape: Any) -> None:
            self.table = self.add_weight(shape=(12, 16), name="places")

        def call(self, x: Any) -> Any:
            return x + self.table[: keras.ops.shape(x)[1]]

    def feed_forward(x: Any) -> Any:
        y = layers.Dense(16)(layers.Dense(32, activation="gelu")(x))
        return layers.LayerNormalization()(x + y)

    source, target = (layers.Input((None,), dtype="int32", name=name) for name in ("source", "target"))
    words = layers.Embedding(50, 16)
    memory = Places()(words(source))
    memory = feed_forward(layers.LayerNormalization()(memory + layers.MultiHeadAttention(4, 4)(memory, memory)))
    x = Places()(words(target))
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 4)(x, x, use_causal_mask=True))
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 4)(x, memory))
    return Model([source, target], layers.Dense(50)(feed_forward(x)))


def recurrent() -> Any:
    from keras import Model, layers

    steps = layers.Input((7, 6))
    x = layers.LSTM(5, return_sequences=True)(layers.GRU(8, return_sequences=True)(steps))
    return Model(steps, layers.Dense(3)(layers.Bidirectional(layers.SimpleRNN(4))(x)))


def module() -> Any:
    """Branches, loops and calls in functions, a variable that changes, and a constant that is too large for a text."""
    import tensorflow as tf

    class Steps(tf.Module):
        def __init__(self) -> None:
            self.w = tf.Variable(tf.random.stateless_normal((4, 4), (1, 2)), name="w")
            self.calls = tf.Variable(0, trainable=False, name="calls")
            self.wide = tf.constant(np.random.default_rng(0).standard_normal((4, 5000)).astype("float32"))

        @tf.function(input_signature=[tf.TensorSpec((None, 4), name="x"), tf.TensorSpec((), tf.int32, name="n")])
        def run(self, x: Any, n: Any) -> Any:
            self.calls.assign_add(1)
            x = tf.cond(n > 2, lambda: x @ self.w, lambda: x - 1.0)
            _, looped = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.tanh(y @ self.w) + y), (0, x))
            cases = [lambda: looped, lambda: looped * 2.0, lambda: looped + 3.0]
            chosen = tf.switch_case(n - 1, cases)
            rows = tf.gather(self.w, tf.argmax(chosen, axis=1))
            wide = tf.reduce_sum(chosen @ self.wide, axis=1)
            return {"chosen": chosen, "rows": rows, "wide": wide, "calls": self.calls.read_value()}

    return Steps()


def frozen(path: Path, images: np.ndarray) -> np.ndarray:
    """A graph whose variables became constants, as tools of TensorFlow 1 wrote it."""
    import tensorflow as tf

    v1 = tf.compat.v1
    random = np.random.default_rng(1)
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, (None, 8, 8, 3), name="images")
        filters = tf.constant(random.standard_normal((3, 3, 3, 6)).astype("float32"), name="filters")
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters, 1, "SAME"), tf.fill([6], 0.1)), name="relu")
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        flat = tf.reshape(x, [tf.shape(x)[0], -1])
        weights = tf.constant(random.standard_normal((96, 200)).astype("float32"), name="weights")
        tf.nn.softmax(flat @ weights, name="probabilities")
        with v1.Session(graph=graph) as session:
            result = session.run("probabilities:0", {"images:0": images})
    path.write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))
    return result


def old(path: Path, x: np.ndarray) -> np.ndarray:
    """A SavedModel of TensorFlow 1, with reference variables and its own graph that restores them."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        given = v1.placeholder(tf.float32, (None, 4), name="x")
        w = v1.get_variable("layer/w", (4, 3), use_resource=False, initializer=v1.random_normal_initializer(seed=1))
        b = v1.get_variable("layer/b", (3,), use_resource=True, initializer=v1.random_normal_initializer(seed=2))
        y = tf.nn.sigmoid(given @ w + b)
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(path), {"x": given}, {"y": y})
        return session.run(y, {given: x})


def write() -> None:
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(0)
    folder = Path(mkdtemp())
    random = np.random.default_rng(0)
    arrays: dict[str, np.ndarray] = {
        "mlp/keras_tensor": random.standard_normal((8, 16)).astype("float32"),
        "convnet/images": random.standard_normal((4, 16, 16, 3)).astype("float32"),
        "transformer/source": random.integers(0, 50, (4, 12)).astype("int32"),
        "transformer/target": random.integers(0, 50, (4, 8)).astype("int32"),
        "recurrent/steps": random.standard_normal((4, 7, 6)).astype("float32"),
        "module/x": random.standard_normal((8, 4)).astype("float32"),
        "frozen/images": random.standard_normal((8, 8, 8, 3)).astype("float32"),
        "old/x": random.standard_normal((8, 4)).astype("float32"),
    }
    for make in (mlp, convnet, transformer, recurrent):
        name = make.__name__
        model = make()
        for variable in model.variables:  # not the zeros and ones of new norms and biases
            low = 0.5 if "variance" in variable.path or "gamma" in variable.path else -0.5
            if not variable.path.startswith("seed"):
                variable.assign(random.uniform(low, low + 1.0, variable.shape).astype("float32"))
        model.export(folder / name, verbose=False)
        given = [array for key, array in arrays.items() if key.startswith(f"{name}/") and "=" not in key]
        arrays[f"{name}/=output"] = np.asarray(model(given[0] if len(given) == 1 else given))
    steps = module()
    tf.saved_model.save(steps, str(folder / "module"), signatures=steps.run)
    for n in (1, 2, 3, 7):
        steps.calls.assign(0)
        arrays |= {f"module/={key}{n}": value.numpy() for key, value in steps.run(arrays["module/x"], n).items()}
    arrays["frozen/=output"] = frozen(DATA / "frozen.pb", arrays["frozen/images"])
    arrays["old/=output"] = old(folder / "old", arrays["old/x"])
    np.savez_compressed(DATA / "models.npz", **arrays)
    with tarfile.open(DATA / "models.tar.xz", "w:xz") as archive:
        archive.add(folder, ".")
    sys.stdout.write(f"{[(path.name, path.stat().st_size) for path in DATA.iterdir()]}\n")


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = "tensorflow"
    write()
