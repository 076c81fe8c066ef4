"""Gradients of traced functions, by closed forms and central differences."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation

import shardwright as sw
from shardwright.compiler.pipelines import run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes.decomposing.expand_gradients import _Differentiation

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


CUBES = sw.function(lambda x: sw.sum(x**3))
X = np.array([1.0, 2.0, 3.0])


def test_of_traced_functions() -> None:
    """What `function` made, used before or not, is differentiated as the Python function would be."""
    assert np.array_equal(sw.grad(CUBES)(X), 3 * X**2)
    assert float(CUBES(X)) == 36
    assert np.array_equal(sw.grad(CUBES)(X), 3 * X**2)
    value, gradient = sw.value_and_grad(CUBES)(X)
    assert (float(value), np.asarray(gradient).tolist()) == (36, [3, 12, 27])
    assert np.array_equal(sw.function(sw.grad(CUBES))(X), 3 * X**2)


def test_of_gradients_themselves() -> None:
    """Each time by the same name: one derivative more."""
    function: Any = lambda x: x**4  # noqa: E731
    for due in (4 * 5.0**3, 12 * 5.0**2, 24 * 5.0, 24.0, 0.0):
        function = sw.grad(function)
        assert float(function(np.array(5.0))) == pytest.approx(due)
    twice = sw.value_and_grad(sw.grad(lambda x: x**4))
    assert [float(part) for part in twice(np.array(5.0))] == pytest.approx([500, 300])


def test_of_functions_with_their_own_rules() -> None:
    own = sw.custom_gradient(lambda x: (x * x, lambda dy: dy * 7.0))
    assert np.array_equal(sw.grad(lambda x: sw.sum(sw.checkpoint(own)(x)))(X), [7, 7, 7])
    assert np.array_equal(sw.grad(sw.checkpoint(CUBES))(X), 3 * X**2)
    assert np.array_equal(sw.grad(sw.custom_gradient(sw.function(lambda x: (sw.sum(x), lambda dy: dy * X))))(X), X)


@pytest.mark.parametrize(
    ("function", "due"),
    [
        (lambda x: sw.grad(lambda w: sw.sum(x * w))(x), X),
        (lambda x: sw.grad(lambda w: sw.sum(x * x * w))(x), X**2),
        (lambda x: _by(x * x, lambda y: sw.grad(lambda w: sw.sum(y * w))(x)), X**2),
        (lambda x: sw.grad(lambda a, b: sw.sum(a * b))(x, x), X),
        (lambda x: sw.grad(lambda a, b: sw.sum(a * b), argnums=(0, 1))(x, x)[1], X),
        (lambda x: sw.grad(lambda w: sw.sum(sw.grad(lambda v: sw.sum(v * w * x))(w)))(x), X),
        (lambda x: sw.vjp(lambda w: w * x, x)[1](X)[0], X * X),
        (lambda x: sw.jvp(lambda w: w * x, (x,), (X,))[1], X * X),
        (lambda x: sw.jacobian(lambda w: w * x)(x), np.diag(X)),
        (lambda x: sw.scan(lambda c, r: (c, sw.grad(lambda w: sw.sum(x * w) * r)(x)), 0.0, x)[1], np.outer(X, X)),
        (lambda x: sw.scan(lambda c, r: (c + x, sw.grad(lambda w: sw.sum(c * w))(x)), x * 0, x)[1], [0 * X, X, 2 * X]),
        (lambda x: sw.cond(sw.sum(x) > 0, lambda: sw.grad(lambda w: sw.sum(w * x))(x), lambda: x * 0), X),
    ],
)
def test_what_a_closure_has_is_a_constant(function: Callable[[Any], Any], due: Any) -> None:
    """Only what comes by the argument counts, although the same array is there from elsewhere, too."""
    for x in (X, sw.relayout(X, sw.Layout(["x"], sw.Mesh(x=3)))):
        np.testing.assert_allclose(np.asarray(sw.function(function)(x)), due)


def _by(value: Any, function: Callable[[Any], Any]) -> Any:
    return function(value)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sw.scan(lambda c, r: (c * r + sw.sum(x), c), 1.0, x)[1],
        lambda x: sw.sum(sw.scan(lambda c, r: (c * (x * x), c), x, length=2)[0]),
        lambda x: sw.scan(lambda c, r: (sw.sum(sw.scan(lambda d, q: (d * q + x, d), r * x, x)[0]) + c, c), 0.0, x)[1],
    ],
)
def test_loops_by_what_they_use_from_outside(function: Callable[[Any], Any]) -> None:
    """Forwards and backwards, against differences along one direction."""

    def now(x: Any) -> Any:
        return np.asarray(sw.function(function)(x))

    direction, step = np.array([0.3, -1.0, 0.5]), 1e-6
    slope = (now(X + step * direction) - now(X - step * direction)) / (2 * step)
    np.testing.assert_allclose(np.asarray(sw.jvp(function, (X,), (direction,))[1]), slope, rtol=1e-6)
    back = sw.grad(lambda x: sw.sum(function(x)))(X)
    assert np.sum(np.asarray(back) * direction) == pytest.approx(slope.sum(), rel=1e-6)


def test_captured_values_of_which_one_is_made_of_the_other() -> None:
    """A loop that takes a value and its square from outside: d/dx of 2 (x + x^2) summed."""

    def total(x: Any) -> Any:
        square = x * x
        return sw.sum(sw.scan(lambda c, r: (c + x + square, r), x * 0, np.zeros(2))[0])

    np.testing.assert_allclose(np.asarray(sw.grad(total)(X)), 2 + 4 * X)
    chosen = lambda x: sw.sum(sw.cond(sw.sum(x) > 0, lambda: x + x * x, lambda: x))  # noqa: E731
    np.testing.assert_allclose(np.asarray(sw.grad(chosen)(X)), 1 + 2 * X)


W = np.random.default_rng(0).standard_normal((3, 2))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sw.tanh(x @ W),
        lambda x: {"a": x * sw.sum(x), "b": (sw.sin(x[:, 0]),)},
        lambda x: sw.scan(lambda c, r: (sw.sin(c) * r, c), x[0], x)[1],
        lambda x: sw.cond(sw.sum(x) > -100, lambda: x**2, lambda: x),
    ],
)
def test_forwards(function: Callable[[Any], Any]) -> None:
    """`jvp` is the slope in a direction, `jacobian` gives the same in all of them, `vjp` what it is transposed."""
    random = np.random.default_rng(1)
    x, direction, step = random.standard_normal((4, 3)), random.standard_normal((4, 3)), 1e-6

    def flat(tree: Any) -> Any:
        parts = [tree["a"], tree["b"][0]] if isinstance(tree, dict) else [tree]
        return np.concatenate([np.asarray(part).reshape(-1) for part in parts])

    def now(x: Any) -> Any:
        return flat(sw.function(function)(x))

    slope = (now(x + step * direction) - now(x - step * direction)) / (2 * step)
    for layout in ([None, None], ["batch", None], [None, None]):
        given = sw.relayout(x, sw.Layout(layout, MESH))
        value, change = sw.jvp(function, (given,), (direction,))
        np.testing.assert_allclose(flat(value), now(x))
        np.testing.assert_allclose(flat(change), slope, atol=1e-8)
    value, pull = sw.vjp(function, x)
    weights = random.standard_normal(slope.shape)
    shaped = iter(np.split(weights, np.cumsum([part.size for part in _parts(value)])[:-1]))
    seeds = [next(shaped).reshape(part.shape) for part in _parts(value)]
    (back,) = pull({"a": seeds[0], "b": (seeds[1],)} if isinstance(value, dict) else seeds[0])
    assert np.sum(np.asarray(back) * direction) == pytest.approx(np.sum(weights * slope), abs=1e-7)
    rows = sw.jacobian(function)(sw.relayout(x, sw.Layout(["batch", None], MESH)))
    found = np.concatenate([np.tensordot(np.asarray(part), direction, 2).reshape(-1) for part in _parts(rows)])
    np.testing.assert_allclose(found, slope, atol=1e-8)


def _parts(tree: Any) -> list[Any]:
    return [tree["a"], tree["b"][0]] if isinstance(tree, dict) else [tree]


def test_second_derivatives() -> None:
    hessian = sw.jacobian(sw.grad(lambda x: sw.sum(x**3) + x[0] * x[1]))(X)
    np.testing.assert_allclose(np.asarray(hessian), [[6, 1, 0], [1, 12, 0], [0, 0, 18]])


def test_forwards_by_complex_numbers() -> None:
    z, dz = np.array([1 + 2j, -0.5j]), np.array([0.3 - 1j, 2.0])
    np.testing.assert_allclose(np.asarray(sw.jvp(lambda z: z * z * (1 + 2j), (z,), (dz,))[1]), 2 * z * dz * (1 + 2j))


@pytest.mark.parametrize(
    "call",
    [
        lambda: sw.jvp(lambda x: x, (X,), (X[:2],)),
        lambda: sw.jvp(lambda x: x, (X,), (X.astype("float32"),)),
        lambda: sw.jvp(lambda x: x, (X,), (X, X)),
        lambda: sw.jvp(lambda x: x, (np.arange(3),), (np.arange(3),)),
        lambda: sw.jvp(lambda x: sw.argmax(x), (X,), (X,)),
        lambda: sw.vjp(lambda x: x, X)[1]((X, X)),
        lambda: sw.jacobian(lambda x: x > 0)(X),
        lambda: sw.jacobian(lambda x: x)(np.arange(3)),
    ],
)
def test_what_cannot_be_pushed_or_pulled(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="SW0520"):
        call()


def test_loops_do_not_go_through_the_whole_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each loop the gradient looks at the loop: twice as many loops are twice as many ops to look at."""
    looked = 0
    depends = _Differentiation._depends

    def counting(self: _Differentiation, op: Operation) -> bool:
        nonlocal looked
        looked += 1
        return depends(self, op)

    monkeypatch.setattr(_Differentiation, "_depends", counting)

    def visits(loops: int) -> int:
        def total(x: Any) -> Any:
            for _ in range(loops):
                x = sw.scan(lambda c, r: (sw.sin(c) * r, c), x, np.ones(2))[0]
            return sw.sum(x)

        nonlocal looked
        looked = 0
        sw.function(sw.grad(total)).trace(X).propagate()
        return looked

    few, many = visits(5), visits(20)
    assert many < 4.2 * few


# What goes with a value (`has_aux`), as `jax.grad` gives it


def squares(x: Any, by: float = 1.0) -> Any:
    return sw.sum(x * x) * by, {"rows": x + 1, "by": by}


@pytest.mark.parametrize("spread", [False, True])
def test_what_goes_with_a_value_is_handed_on(spread: bool) -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    given = sw.relayout(x, sw.Layout(["x"], sw.Mesh(x=2))) if spread else x
    gradient, aux = sw.grad(squares, has_aux=True)(given, by=3.0)
    np.testing.assert_array_equal(np.asarray(gradient), 6 * x)
    np.testing.assert_array_equal(np.asarray(aux["rows"]), x + 1)
    assert aux["by"] == 3.0
    (value, aux), (gradient,) = sw.value_and_grad(squares, argnums=(0,), has_aux=True)(given)
    assert float(value) == np.sum(x * x)
    np.testing.assert_array_equal(np.asarray(gradient), 2 * x)
    np.testing.assert_array_equal(np.asarray(aux["rows"]), x + 1)


def test_inside_of_a_traced_function_it_is_traced_too() -> None:
    @sw.function
    def step(x: Any) -> Any:
        gradient, aux = sw.grad(squares, has_aux=True)(x)
        return gradient + aux["rows"]

    np.testing.assert_array_equal(step(np.array([1.0, 2.0])), [4.0, 7.0])


@pytest.mark.parametrize("wrong", [lambda x: sw.sum(x), lambda x: (sw.sum(x), x, x), lambda x: [sw.sum(x), x]])
def test_with_has_aux_a_function_gives_a_pair(wrong: Any) -> None:
    with pytest.raises(TypeError, match="SW0520") as caught:
        sw.grad(wrong, has_aux=True)(np.ones(2))
    assert "with has_aux a function gives a pair, not" in str(caught.value)
    assert "help: return the scalar and what goes with it" in str(caught.value)


def test_what_goes_with_a_value_has_no_gradient() -> None:
    """The scalar alone is differentiated, whatever else is made of the argument."""
    gradient, _ = sw.grad(lambda x: (sw.sum(x), sw.sum(x**3)), has_aux=True)(np.array([2.0]))
    np.testing.assert_array_equal(gradient, [1.0])


@pytest.mark.parametrize("running", [sw.cumprod, lambda x, axis: sw.cumprod(x, axis, reverse=True)])
def test_running_products_of_one_element(running: Any) -> None:
    x = np.array([[0.5, 2.0, 3.0]])
    gradient = sw.grad(lambda x: sw.sum(sw.sin(running(x, 0))))
    np.testing.assert_allclose(gradient(x), np.cos(x))
    np.testing.assert_allclose(sw.grad(lambda x: sw.sum(gradient(x)))(x), -np.sin(x))


@pytest.mark.parametrize("shard", [False, True])
@pytest.mark.parametrize("part", [sw.abs, lambda z: sw.real(sw.sign(z)), lambda z: sw.imag(sw.sign(z) * z)])
def test_lengths_and_directions_of_complex_numbers_to_the_second_order(part: Any, shard: bool) -> None:
    x = np.array([0.3, -1.2, 0.7, 0.4])

    def loss(x: Any) -> Any:
        z = sw.astype(x, "complex128")
        return sw.sum(sw.sin(part(z * (1 + 0.5j) + z * z * 1j)))

    gradient = sw.grad(loss)
    given = sw.relayout(x, sw.Layout(["batch"], MESH)) if shard else x
    np.testing.assert_allclose(gradient(given), differences(loss, x), atol=1e-8)
    bent = np.stack([differences(lambda x, at=at: np.asarray(gradient(x))[at], x) for at in range(4)])
    np.testing.assert_allclose(sw.jacobian(gradient)(given), bent, atol=1e-8)


def test_a_length_of_zero_has_no_slope() -> None:
    z = np.array([0, 3 + 4j])
    assert np.allclose(sw.grad(lambda z: sw.sum(sw.abs(z)))(z), [0, 0.6 - 0.8j])
    assert np.isfinite(sw.grad(lambda x: sw.sum(sw.grad(lambda z: sw.abs(z))(x[0])))(z.real)).all()


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "int8"])
def test_what_is_computed_again_takes_numbers_as_they_are(dtype: str) -> None:
    x = sw.relayout(sw.asarray(np.arange(1, 5), dtype=dtype), sw.Layout(["batch"], MESH))
    number = 3 if dtype == "int8" else 0.1
    again = sw.checkpoint(lambda x, *, by: x * by)
    found = sw.function(lambda x: again(x, by=number))(x)
    assert found.dtype == x.dtype
    assert np.array_equal(found, x * number)  # all digits of 0.1
    assert np.array_equal(sw.function(lambda x, n: again(x, by=n))(x, number), x * number)
    if dtype == "float64":
        assert np.array_equal(sw.grad(lambda x: sw.sum(again(x, by=number)))(x), np.full(4, 0.1))
        by_number = sw.grad(lambda n: sw.sum(sw.astype(again(x, by=n), "float32")))
        assert float(by_number(np.float32(2))) == 10


@pytest.mark.parametrize("argnums", [(0, 0), (0, -2), (1, 0, 1)])
def test_an_argument_that_is_named_twice(argnums: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"SW0520\]: argnums names argument [01] twice"):
        sw.grad(lambda a, b: sw.sum(a * b), argnums)(np.ones(2), np.ones(2))


def test_arguments_of_jvp_stand_in_tuples() -> None:
    x = np.ones((1, 3))
    for given in ((x, (x,)), ((x,), x)):
        with pytest.raises(TypeError, match=r"SW0520\]: jvp takes .* in tuples, and was given a ndarray"):
            sw.jvp(sw.sin, *given)
    assert np.allclose(sw.jvp(sw.sin, [x], [x])[1], np.cos(x))


@pytest.mark.parametrize("laid_out", [False, True])
def test_numbers_have_the_digits_of_what_they_meet(laid_out: bool) -> None:
    a = np.arange(1.0, 5)
    x = sw.relayout(a, sw.Layout(["batch"], MESH)) if laid_out else a

    def f(x: Any, n: Any) -> Any:
        return sw.sum(x**n)

    value, by_n = np.sum(a**0.1), np.sum(a**0.1 * np.log(a))
    close = functools.partial(np.testing.assert_allclose, rtol=1e-14)
    for program in (sw.value_and_grad(f, 1), sw.function(lambda x, n: sw.value_and_grad(f, 1)(x, n))):
        found = program(x, 0.1)
        close(found, [value, by_n])
        assert found[1].dtype == "float64"
    close(sw.function(lambda x: sw.value_and_grad(f, 1)(x, 0.1))(x), [value, by_n])  # a constant
    close(sw.jvp(lambda n: f(x, n), (0.1,), (0.3,)), [value, 0.3 * by_n])
    found, pull = sw.vjp(lambda n: f(x, n), 0.1)
    close([found, *pull(1.0)], [value, by_n])
    close(sw.jacobian(lambda n: x**n)(0.1), a**0.1 * np.log(a))
    close(sw.grad(sw.grad(lambda n: f(x, n)))(0.1), np.sum(a**0.1 * np.log(a) ** 2))

    @sw.function
    def taped(x: Any, n: Any) -> Any:
        with sw.GradientTape() as tape:
            tape.watch(n)
            total = f(x, n)
        return tape.gradient(total, n)

    close(taped(x, 0.1), by_n)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_numbers_by_themselves_and_beside_small_floats_are_single(dtype: str) -> None:
    x = sw.asarray(np.arange(1, 4), dtype=dtype)
    program = sw.function(sw.value_and_grad(lambda n: sw.astype(sw.sum(x * n * n), "float32")))
    assert program.trace(0.5).interface.parameters[0].dtype == "float32"
    assert [(float(each), each.dtype) for each in program(0.5)] == [(1.5, "float32"), (6, "float32")]
    assert [each.dtype for each in sw.value_and_grad(lambda n: n * n)(0.1)] == ["float32", "float32"]
    by_array = sw.jvp(lambda n: x * n, (0.5,), (np.float32(2),))[1]
    assert (by_array.dtype, by_array.tolist()) == (x.dtype, [2, 4, 6])


def test_a_number_that_a_function_gives_back_keeps_its_digits() -> None:
    x = np.arange(1.0, 4)

    @sw.function
    def program(x: Any, n: Any) -> Any:
        gradient, number = sw.grad(lambda n: (n * n, n), has_aux=True)(n)
        return gradient, x * number

    gradient, product = program(x, 0.1)
    assert (gradient.dtype, gradient) == ("float32", np.float32(0.2))
    assert np.array_equal(product, x * 0.1)


def test_complex_numbers_have_all_digits_as_well() -> None:
    x, n = np.arange(1.0, 4), 0.1 + 0.3j
    found = sw.jvp(lambda n: x * n * n, (n,), (1.0,))
    np.testing.assert_allclose(found, [x * n * n, 2 * x * n], rtol=1e-15)
