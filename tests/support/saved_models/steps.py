"""Training steps: gradients in graphs, updates of variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from saved_models.making import Made, case, module, numbers


def _gradients(function: Callable[..., Any], *calls: dict[str, Any], tolerance: float = 1.0, **variables: Any) -> Made:
    """The value of a function, and its gradients by its variables and its first array."""

    def run(*values: Any, **held: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(values[0])
            loss = function(*values, **held)
        found = tape.gradient(loss, [values[0], *held.values()])
        return loss, *(tf.convert_to_tensor(one) for one in found if one is not None)

    return module(run, *calls, tolerance=tolerance, **variables)


def _step(model: Any, optimizer: Any, x: Any, y: Any, loss: str = "mean_squared_error", tolerance: float = 10) -> Made:
    """Two training steps of a Keras model, as a function that changes its variables."""
    keras.utils.set_random_seed(0)
    measure = keras.losses.get(loss)
    optimizer.build(model.trainable_variables)
    holder = tf.Module()
    holder.variables_held = [one.value for one in (*model.variables, *optimizer.variables)]

    @tf.function(input_signature=[tf.TensorSpec(x.shape, x.dtype, "x"), tf.TensorSpec(y.shape, y.dtype, "y")])
    def run(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            value = tf.reduce_mean(measure(y, model(x, training=True)))
        optimizer.apply(tape.gradient(value, model.trainable_variables), model.trainable_variables)
        return {"loss": value} | {f"v{place}": one.value.read_value() for place, one in enumerate(model.variables)}

    holder.run = run
    calls = ({"x": x, "y": y},) * 2
    return Made(lambda path: tf.saved_model.save(holder, str(path), signatures=run), calls, tolerance)


def _stack(*parts: Any, shape: tuple[int, ...]) -> Any:
    return keras.Sequential([layers.Input(shape), *parts])


@case
def step_of_objects_of_keras() -> Made:
    """The model and the optimizer are what is saved, so Keras' own variables are."""
    keras.utils.set_random_seed(0)
    x, y = numbers(8, 6), numbers(8, 3, seed=1)
    holder = tf.Module()
    holder.model = _stack(layers.Dense(5, activation="tanh"), layers.BatchNormalization(), layers.Dense(3), shape=(6,))
    holder.optimizer = keras.optimizers.AdamW(0.01)
    holder.optimizer.build(holder.model.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec(x.shape, x.dtype, "x"), tf.TensorSpec(y.shape, y.dtype, "y")])
    def run(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((holder.model(x, training=True) - y) ** 2)
        variables = holder.model.trainable_variables
        holder.optimizer.apply(tape.gradient(loss, variables), variables)
        return {"loss": loss} | {f"v{place}": one.value.read_value() for place, one in enumerate(variables)}

    holder.run = run
    calls = ({"x": x, "y": y},) * 3
    return Made(lambda path: tf.saved_model.save(holder, str(path), signatures=run), calls, 10)


@case
def gradients_of_activations() -> Made:
    def loss(x: Any) -> Any:
        kinds = [tf.nn.relu, tf.tanh, tf.sigmoid, tf.nn.elu, tf.nn.selu, tf.nn.softplus, tf.nn.relu6, tf.nn.leaky_relu]
        more = [tf.nn.softsign, tf.nn.gelu, tf.nn.swish, tf.sqrt, tf.math.rsqrt, tf.math.reciprocal, tf.math.log]
        return sum(tf.reduce_sum(kind(x)) for kind in kinds) + sum(tf.reduce_sum(kind(tf.abs(x))) for kind in more)

    return _gradients(loss, {"x": numbers(3, 4, dtype="float64")})


@case
def gradients_of_shapes() -> Made:
    def loss(x: Any, w: Any) -> Any:
        y = tf.concat([x[1:, ::2], tf.reshape(x, (2, -1))[:, :2], tf.transpose(x)[:2, :2]], 0)
        z = tf.pad(y, [[1, 0], [0, 1]]) * tf.reduce_sum(w * tf.tile(y[:1], [2, 1])) + tf.reduce_max(x)
        return (
            tf.reduce_sum(z**2) + tf.reduce_sum(tf.gather(x, [0, 2, 0]) ** 3) + tf.reduce_mean(tf.stack([x, x * 2.0]))
        )

    return _gradients(loss, {"x": numbers(3, 4, dtype="float64")}, w=numbers(2, 2, dtype="float64"))


@case
def gradients_of_convolutions() -> Made:
    def loss(x: Any, w: Any, d: Any, b: Any) -> Any:
        y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 2, "SAME"), b))
        y = tf.nn.max_pool2d(tf.nn.depthwise_conv2d(y, d, [1, 1, 1, 1], "SAME"), 3, 2, "SAME")
        return tf.reduce_sum(tf.nn.avg_pool2d(y, 2, 1, "VALID") ** 2)

    variables = {"w": numbers(3, 3, 3, 4), "d": numbers(3, 3, 4, 2), "b": numbers(4)}
    return _gradients(loss, {"x": numbers(2, 9, 8, 3)}, tolerance=5, **variables)


@case
def gradients_of_volumes() -> Made:
    def loss(x: Any, w: Any) -> Any:
        y = tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME")
        return tf.reduce_sum(tf.nn.avg_pool3d(tf.nn.max_pool3d(y, 2, 2, "SAME"), 2, 1, "SAME") ** 2)

    return _gradients(loss, {"x": numbers(2, 5, 4, 4, 2)}, w=numbers(2, 2, 2, 2, 3), tolerance=5)


@case
def gradients_of_transposed_convolutions() -> Made:
    def loss(x: Any, w: Any) -> Any:
        return tf.reduce_sum(tf.nn.conv2d_transpose(x, w, (2, 8, 8, 3), 2, "SAME") ** 2)

    return _gradients(loss, {"x": numbers(2, 4, 4, 5)}, w=numbers(3, 3, 3, 5), tolerance=5)


@case
def gradients_of_norms() -> Made:
    def loss(x: Any, scale: Any, offset: Any) -> Any:
        y, _, _ = tf.compat.v1.nn.fused_batch_norm(x, scale, offset)
        return tf.reduce_sum(y**3) + tf.reduce_sum(tf.image.resize(x, (7, 5)) ** 2)

    variables = {"scale": numbers(3, low=0.5), "offset": numbers(3)}
    return _gradients(loss, {"x": numbers(2, 5, 6, 3)}, tolerance=20, **variables)


@case
def gradients_of_linear_algebra() -> Made:
    def loss(x: Any) -> Any:
        a = tf.matmul(x, x, transpose_b=True) + 4.0 * tf.eye(4, dtype=x.dtype)
        return tf.reduce_sum(tf.linalg.cholesky(a)) + tf.linalg.logdet(a) + tf.reduce_sum(tf.linalg.solve(a, x))

    return _gradients(loss, {"x": numbers(4, 4, dtype="float64")}, tolerance=10)


@case
def gradients_of_loops() -> Made:
    def loss(x: Any, w: Any) -> Any:
        return tf.reduce_sum(tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(y @ w)), (0, x))[1])

    return _gradients(loss, {"x": numbers(2, 3, dtype="float64")}, w=numbers(3, 3, dtype="float64"))


@case
def gradients_of_branches() -> Made:
    def loss(x: Any, w: Any) -> Any:
        return tf.reduce_sum(tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.tanh(x @ w), lambda: x * 2.0))

    calls = [{"x": sign * np.abs(numbers(2, 3, dtype="float64"))} for sign in (1, -1)]
    return _gradients(loss, *calls, w=numbers(3, 3, dtype="float64"))


@case
def step_of_sgd() -> Made:
    model = _stack(layers.Dense(8, "relu"), layers.Dense(3), shape=(5,))
    return _step(model, keras.optimizers.SGD(0.1, momentum=0.9), numbers(6, 5), numbers(6, 3))


@case
def step_of_adam() -> Made:
    model = _stack(layers.Dense(8, "tanh"), layers.LayerNormalization(), layers.Dense(3), shape=(5,))
    return _step(model, keras.optimizers.Adam(0.01, clipnorm=1.0), numbers(6, 5), numbers(6, 3), tolerance=50)


@case
def step_of_a_convolutional_network() -> Made:
    parts = [layers.Conv2D(4, 3, padding="same", activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D()]
    model = _stack(*parts, layers.Flatten(), layers.Dense(3), shape=(8, 8, 2))
    return _step(model, keras.optimizers.RMSprop(0.01), numbers(4, 8, 8, 2), numbers(4, 3), tolerance=500)


@case
def step_of_an_embedding() -> Made:
    model = _stack(layers.Embedding(11, 4), layers.GlobalAveragePooling1D(), layers.Dense(3, "softmax"), shape=(6,))
    tokens, classes = numbers(5, 6, low=0, high=11, dtype="int32"), np.int32([0, 1, 2, 1, 0])
    return _step(model, keras.optimizers.SGD(0.1), tokens, classes, "sparse_categorical_crossentropy")


@case
def step_of_an_embedding_by_adagrad() -> Made:
    model = _stack(layers.Embedding(11, 4), layers.GlobalAveragePooling1D(), layers.Dense(3), shape=(6,))
    return _step(model, keras.optimizers.Adagrad(0.1), numbers(5, 6, low=0, high=11, dtype="int32"), numbers(5, 3))


@case
def step_of_other_optimizers() -> Made:
    model = _stack(layers.Dense(4, "tanh", use_bias=False), layers.Dense(3), shape=(5,))
    return _step(model, keras.optimizers.Adagrad(0.1), numbers(6, 5), numbers(6, 3))


@case
def step_of_lion() -> Made:
    model = _stack(layers.Dense(4, "tanh"), layers.Dense(3), shape=(5,))
    return _step(model, keras.optimizers.Lion(0.01), numbers(6, 5), numbers(6, 3))


@case
def step_of_an_lstm() -> Made:
    model = _stack(layers.LSTM(4), layers.Dense(3), shape=(5, 2))
    return _step(model, keras.optimizers.AdamW(0.01), numbers(3, 5, 2), numbers(3, 3), tolerance=50)


@case
def step_of_attention() -> Made:
    x = layers.Input((4, 8))
    model = keras.Model(x, layers.Dense(2)(layers.MultiHeadAttention(2, 4)(x, x)))
    return _step(
        model, keras.optimizers.SGD(0.01, nesterov=True, momentum=0.5), numbers(2, 4, 8), numbers(2, 4, 2), tolerance=50
    )


@case
def step_of_old_operations() -> Made:
    """The updates that TensorFlow's own optimizers write: one operation for each variable."""

    def run(x: Any, w: Any, m: Any, v: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(x @ w) ** 2)
        slope = tape.gradient(loss, w)
        share = {"beta1_power": 0.9, "beta2_power": 0.99, "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-7}
        constants = {name: tf.constant(value, tf.float64) for name, value in share.items()}
        tf.raw_ops.ResourceApplyAdam(var=w.handle, m=m.handle, v=v.handle, grad=slope, **constants)
        tf.raw_ops.ResourceApplyGradientDescent(var=a.handle, alpha=constants["lr"], delta=slope)
        rest = {"lr": constants["lr"], "grad": slope}
        half = tf.constant(0.5, tf.float64)
        tf.raw_ops.ResourceApplyMomentum(var=b.handle, accum=c.handle, momentum=half, use_nesterov=True, **rest)
        tf.raw_ops.ResourceApplyKerasMomentum(var=c.handle, accum=b.handle, momentum=half, use_nesterov=True, **rest)
        tf.raw_ops.ResourceApplyAdagradV2(var=a.handle, accum=d.handle, epsilon=half, **rest)
        shares = {"rho": constants["beta1"], "momentum": half, "epsilon": constants["epsilon"]}
        tf.raw_ops.ResourceApplyRMSProp(var=a.handle, ms=d.handle, mom=v.handle, **shares, **rest)
        return loss, *(one.read_value() for one in (w, m, v, a, b, c, d))

    start = {name: numbers(3, 2, seed=place, dtype="float64", low=0) for place, name in enumerate("wmvabcd")}
    return module(run, *[{"x": numbers(4, 3, dtype="float64")}] * 2, **start)
