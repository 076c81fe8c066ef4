"""Gradients of traced functions, by closed forms and central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.pipelines import run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module

MESH = sw.Mesh(batch=4, model=2)


def differences(function: Callable[[Any], Any], x: Any, step: float = 1e-6) -> Any:
    """The gradient of a scalar function by central differences."""
    found = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        shift = np.zeros_like(x)
        shift[at] = step
        found[at] = (function(x + shift) - function(x - shift)) / (2 * step)
    return found


def test_trees_and_several_arguments() -> None:
    def loss(weights: Any, x: Any) -> Any:
        return sw.sum(x @ weights["w"] + weights["b"])

    x, w, b = np.arange(6.0).reshape(2, 3), np.ones((3, 4)), np.zeros(4)
    gradient = sw.grad(loss)({"w": w, "b": b}, x)
    assert np.array_equal(gradient["w"], np.repeat(x.sum(0)[:, None], 4, 1))
    assert np.array_equal(gradient["b"], np.full(4, 2.0))
    both = sw.grad(loss, argnums=(0, 1))({"w": w, "b": b}, x)
    assert np.array_equal(both[1], np.full((2, 3), 4.0))


def test_gradients_of_gradients() -> None:
    inner = sw.grad(lambda y: sw.sum(y**3.0))
    outer = sw.grad(lambda x: sw.sum(inner(x) * x))
    assert np.allclose(outer(np.array([1.0, 2.0])), [9.0, 36.0])


def test_on_a_mesh() -> None:
    random = np.random.default_rng(0)
    x, w = random.standard_normal((16, 8)), random.standard_normal((8, 4))

    def loss(w: Any) -> Any:
        return np.mean(np.square(np.tanh(x @ w) @ w.T))

    value, gradient = sw.value_and_grad(lambda w, x: sw.mean(sw.square(sw.tanh(x @ w) @ sw.matrix_transpose(w))))(
        sw.relayout(w, sw.Layout([None, "model"], MESH)), sw.relayout(x, sw.Layout(["batch"], MESH))
    )
    assert np.isclose(float(value), loss(w))
    assert np.allclose(gradient, differences(loss, w), atol=1e-8)


def test_stopped_and_unused() -> None:
    gradient = sw.grad(lambda x, y: sw.sum(x * sw.stop_gradient(x)), argnums=(0, 1))(np.array([3.0]), np.array([1.0]))
    assert np.array_equal(gradient[0], [3.0])
    assert np.array_equal(gradient[1], [0.0])


@pytest.mark.parametrize(
    ("function", "argument", "words"),
    [
        (lambda x: x * 2, np.ones(3), "needs a real scalar result, not f64[3]"),
        (lambda x: "no", np.ones(3), "needs a scalar result, not str"),
        (lambda x: sw.sum(x), np.arange(3), "argument 0 is i64[3], which has no gradient"),
    ],
)
def test_what_has_no_gradient(function: Any, argument: Any, words: str) -> None:
    with pytest.raises(TypeError, match="SW0520") as error:
        sw.grad(function)(argument)
    assert words in str(error.value)


def test_argnums_out_of_range() -> None:
    with pytest.raises(ValueError, match="SW0520"):
        sw.grad(lambda x: sw.sum(x), argnums=1)(np.ones(3))


LOOP = """
func.func public @main(%x: tensor<3xf32>, %p: tensor<i1>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<3xf32>
  cond {
    CONDITION
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.multiply %y, %x : tensor<3xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<3xf32>
  }
  %seed = stablehlo.constant dense<1.0> : tensor<3xf32>
  %3 = "dtensor.gradient"(%0#1, %seed, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}>
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %3 : tensor<3xf32>
}
"""
COUNTED = """%n = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>"""


def test_a_counted_loop() -> None:
    from shardwright.runtime.executable import compile_module

    module = parse_module(LOOP.replace("CONDITION", COUNTED))
    run_pipeline(module, ["partition"], verify_each=True)
    x = np.array([1.0, 2.0, 3.0], np.float32)
    (gradient,) = compile_module(module).run([x, np.array(True)])
    assert np.allclose(gradient, 4 * x**3)  # the loop computes x ** 4, of x carried and x from outside


def test_a_loop_of_unknown_length_is_refused() -> None:
    module = parse_module(LOOP.replace("CONDITION", "%c = stablehlo.not %p : tensor<i1>"), "loop.mlir")
    with pytest.raises(ShardwrightError, match="SW0325"):
        run_pipeline(module, ["expand-gradients"])


def test_ops_without_a_rule_are_all_named() -> None:
    text = """
    func.func public @main(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
      %0 = chlo.zeta %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
      %1 = chlo.bessel_i1e %0 : tensor<4xf32> -> tensor<4xf32>
      %2 = "dtensor.gradient"(%1, %s, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}>
          : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %2 : tensor<4xf32>
    }"""
    module = parse_module(text, "rules.mlir")
    with pytest.raises(ShardwrightError, match="SW0326") as error:
        run_pipeline(module, ["expand-gradients"])
    assert "chlo.zeta" in str(error.value)
    assert "chlo.bessel_i1e" in str(error.value)
