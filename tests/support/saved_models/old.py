"""Graphs as TensorFlow 1 wrote them: loops and branches of single nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import control_flow_v2_toggles as toggles

from saved_models.making import Made, case, numbers

v1 = tf.compat.v1


def _old(function: Callable[..., Any], *calls: Mapping[str, Any]) -> Made:
    """A function as a SavedModel of TensorFlow 1, with its control flow."""
    given = tuple({name: np.asarray(value) for name, value in call.items()} for call in calls)

    def save(path: Path) -> None:
        toggles.disable_control_flow_v2()
        try:
            with tf.Graph().as_default(), v1.Session() as session:
                inputs = {name: v1.placeholder(value.dtype, value.shape, name=name) for name, value in given[0].items()}
                made = function(**inputs)
                results = made if isinstance(made, tuple | list) else (made,)
                outputs = {f"output_{place}": value for place, value in enumerate(results)}
                session.run(v1.global_variables_initializer())
                v1.saved_model.simple_save(session, str(path), inputs, outputs)
        finally:
            toggles.enable_control_flow_v2()

    return Made(save, given)


@case
def old_branches() -> Made:
    def run(x: Any, n: Any) -> Any:
        w = v1.get_variable("w", (4, 4), tf.float64, v1.random_normal_initializer(seed=1))

        def inner() -> Any:
            return v1.cond(n > 5, lambda: (x * 3.0, x @ w), lambda: (x + 1.0, x))

        first, second = v1.cond(n > 2, inner, lambda: (x - 1.0, tf.ones((3, 4), tf.float64)))
        return first, second, v1.cond(n > 0, lambda: tf.reduce_sum(x), lambda: tf.constant(7.0, tf.float64))

    x = numbers(3, 4, dtype="float64")
    return _old(run, *({"x": x, "n": np.int32(n)} for n in (0, 1, 3, 9)))


@case
def old_loops() -> Made:
    def run(x: Any, n: Any) -> Any:
        w = v1.get_variable("w", (4, 4), tf.float64, v1.random_normal_initializer(seed=1))

        def body(i: Any, y: Any) -> Any:
            return i + 1, v1.cond(i % 2 > 0, lambda: tf.tanh(y @ w), lambda: y + 1.0)

        return v1.while_loop(lambda i, _: i < n, body, (0, x))

    x = numbers(3, 4, dtype="float64")
    return _old(run, *({"x": x, "n": np.int32(n)} for n in (0, 1, 5)))


@case
def old_nested_loops() -> Made:
    def run(n: Any) -> Any:
        def outer(i: Any, total: Any) -> Any:
            _, inner = v1.while_loop(lambda j, _: j < i, lambda j, s: (j + 1, s + i * j), (0, 0))
            return i + 1, total + inner

        return v1.while_loop(lambda i, _: i < n, outer, (0, 0))[1]

    return _old(run, {"n": np.int32(5)}, {"n": np.int32(0)})


@case
def old_loop_in_a_branch() -> Made:
    def run(x: Any, n: Any) -> Any:
        def looped() -> Any:
            return v1.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, y * 2.0), (0, x))[1]

        return v1.cond(n > 1, looped, lambda: -x)

    return _old(run, *({"x": numbers(3, dtype="float64"), "n": np.int32(n)} for n in (1, 3)))


@case
def old_gradients() -> Made:
    def run(x: Any) -> Any:
        loss = tf.reduce_sum(v1.cond(tf.reduce_sum(x) > 0.0, lambda: tf.tanh(x), lambda: x * x))
        return loss, v1.gradients(loss, [x])[0]

    x = np.abs(numbers(3, dtype="float64"))
    return _old(run, {"x": x}, {"x": -x})


@case
def old_gradients_of_branches_in_a_row() -> Made:
    """All branches ask the same, those of the gradients too, each of what the ones before it give."""

    def run(x: Any) -> Any:
        test = tf.reduce_sum(x) > 0.0
        first = v1.cond(test, lambda: x * 2.0, lambda: x * x)
        middle = tf.exp(tf.reduce_mean(first)) * first
        last = v1.cond(
            test, lambda: v1.cond(x[0] > 1.0, lambda: tf.sin(middle), lambda: middle), lambda: tf.cos(middle)
        )
        return last, v1.gradients(tf.reduce_sum(last * first), [x])[0]

    x = np.abs(numbers(3, dtype="float64"))
    return _old(run, {"x": x}, {"x": -x}, {"x": x + 1.0})


@case
def old_recurrent_layer() -> Made:
    def run(x: Any) -> Any:
        steps = tf.TensorArray(tf.float64, 5).unstack(tf.transpose(x, (1, 0, 2)))
        results = tf.TensorArray(tf.float64, 5)

        def body(i: Any, state: Any, results: Any) -> Any:
            state = tf.tanh(steps.read(i) + 0.5 * state)
            return i + 1, state, results.write(i, state)

        zero = tf.zeros((2, 3), tf.float64)
        _, state, results = v1.while_loop(lambda i, *_: i < 5, body, (0, zero, results))
        return state, results.stack()

    return _old(run, {"x": numbers(2, 5, 3, dtype="float64")})
