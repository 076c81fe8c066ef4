"""Each gradient rule against central differences in float64, and the count of ops that have one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Block, Region

import shardwright as sw
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import DTensor, chlo, stablehlo
from shardwright.dialects.stablehlo.indexing.numbers import ScatterDimensions
from shardwright.dialects.types import element_of, tensor
from shardwright.layout.planning.sweep import Sweep
from shardwright.passes.decomposing import expand_gradients
from shardwright.passes.decomposing.decompose import _RULES as TAKEN_APART
from shardwright.rules.gradients.vjp import CONSTANT, REFUSED, VJPS

from .instances import INSTANCES, Instance, differences, floats, plain, put

assert expand_gradients.ExpandGradientsPass is not None


def _tracer(op: Any) -> Tracer:
    return put(op)[0]


def _window(value: Any, operation: Any, sweeps: Sequence[Sweep]) -> Any:
    start = {stablehlo.MultiplyOp: 1.0, stablehlo.MinimumOp: np.inf}.get(operation, -np.inf)
    (seed,) = put(stablehlo.make_constant(start, element_of(value), ()))
    return stablehlo.ReduceWindowOp([value], [seed.value], sweeps, operation)


def _selected(operand: Any, first: int, second: int) -> Any:
    """A selection that compares these arguments of its body."""
    scalar = tensor((), element_of(operand))
    block = Block(arg_types=[scalar, scalar])
    compared = stablehlo.CompareOp(block.args[first], block.args[second], "GE")
    block.add_ops([compared, stablehlo.ReturnOp(compared)])
    (start,) = put(stablehlo.make_constant(0.0, element_of(operand), ()))
    window = [Sweep(2, stride=2)]
    (source,) = put(stablehlo.make_constant(np.ones(2), element_of(operand), (2,)))
    source = sw.sum(_tracer(stablehlo.NegateOp(operand))) * source
    return stablehlo.SelectAndScatterOp(operand, source.value, start.value, window, Region(block), stablehlo.AddOp)


def _multiplied(value: Any) -> Any:
    numbers = ScatterDimensions((), (0,), (), (), (0,), 1)
    places = emit.constant(np.array([[0], [1]]), np.dtype("int64"))
    update = emit.constant(np.ones(2), np.dtype("float64"))
    return stablehlo.ScatterOp([value], places.value, [update.value], numbers, stablehlo.MultiplyOp)


def _loss(instance: Instance, arguments: Sequence[Any]) -> Any:
    """A weighted sum of all results, of real and imaginary parts with other weights."""
    random = np.random.default_rng(5)
    total: Any = 0.0
    for result in instance.build(*arguments):
        assert isinstance(result, Tracer)
        if result.dtype.kind == "i":
            continue
        parts = (sw.real(result), sw.imag(result)) if result.dtype.kind == "c" else (result,)
        for part in parts:
            weights = np.asarray(random.uniform(0.5, 1.5, part.shape))
            total = total + sw.sum(part * weights)
    return total


@pytest.mark.every(3)
@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance.name)
def test_againstdifferences(instance: Instance) -> None:
    function = sw.function(lambda *arguments: _loss(instance, arguments))
    places = tuple(range(len(instance.arguments)))
    gradients = sw.function(sw.grad(lambda *arguments: _loss(instance, arguments), argnums=places))(*instance.arguments)
    for place, gradient in enumerate(gradients):
        expected = differences(function, instance.arguments, place)
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.every(5)
@pytest.mark.parametrize(
    "instance", [each for each in INSTANCES if len(each.arguments) > 1], ids=lambda each: each.name
)
def test_by_one_argument_alone(instance: Instance) -> None:
    """A rule that leaves out what nobody needs gives the rest as before."""
    function = lambda *arguments: _loss(instance, arguments)  # noqa: E731
    together = sw.grad(function, argnums=tuple(range(len(instance.arguments))))(*instance.arguments)
    for place, expected in enumerate(together):
        np.testing.assert_array_equal(sw.grad(function, argnums=place)(*instance.arguments), expected)


NO_FLOATS = frozenset(
    """
chlo.mulhi dtensor.gradient dtensor.group dtensor.mesh stablehlo.return
stablehlo.after_all stablehlo.create_token
""".split()
)
"""Ops that are no functions of floats: whole numbers, requests, declarations, tokens, ends of regions."""

ELSEWHERE = frozenset(
    """
stablehlo.case stablehlo.if stablehlo.while dtensor.checkpoint dtensor.with_gradient dtensor.relayout
dtensor.constraint dtensor.barrier dtensor.primal dtensor.transfer stablehlo.reduce_precision dtensor.result_of
""".split()
)
"""Rules that other tests check: control flow, custom gradients, functions of matrices and meshes; precision is reduced
for the value only."""


def test_every_op_has_a_rule_or_is_refused_by_name() -> None:
    names = {op.name for op in (*stablehlo.OPS, *chlo.CHLO.operations, *DTensor.operations)}
    decomposed = {op.name for op in TAKEN_APART}
    assert names - {*VJPS, *CONSTANT, *REFUSED, *decomposed, *NO_FLOATS} == set()
    assert not REFUSED & {*VJPS, *CONSTANT}


def test_every_rule_is_checked() -> None:
    assert set(VJPS) - {instance.op for instance in INSTANCES} == ELSEWHERE


@pytest.mark.parametrize(
    ("name", "build", "argument"),
    [
        ("stablehlo.reduce_window", lambda x: _window(x, stablehlo.MultiplyOp, [Sweep(2)]), np.ones(4)),
        ("stablehlo.reduce_window", lambda x: _window(x, stablehlo.MaximumOp, [Sweep(2, dilation=2)]), np.ones(4)),
        ("stablehlo.reduce_window", lambda x: _window(x, stablehlo.MaximumOp, [Sweep(2, base=2)]), np.ones(4)),
        ("stablehlo.select_and_scatter", lambda x: _selected(x, 1, 0), np.ones(4)),
        ("stablehlo.select_and_scatter", lambda x: _selected(x, 0, 0), np.ones(4)),
        ("stablehlo.scatter", _multiplied, np.ones(4)),
        ("chlo.bessel_i1e", lambda x: chlo.BesselI1eOp(x), np.ones(4)),
    ],
)
def test_what_has_no_rule_is_named(name: str, build: Callable[..., Any], argument: np.ndarray[Any, Any]) -> None:
    instance = plain(name, build, argument)
    with pytest.raises(sw.ShardwrightError, match="SW0326") as error:
        sw.grad(lambda x: _loss(instance, [x]))(argument)
    assert name in str(error.value)


@pytest.mark.parametrize("operation", [stablehlo.MaximumOp, stablehlo.MinimumOp])
@pytest.mark.parametrize("order", [2, 3, 4])
def test_gradients_of_gradients_of_pools(order: int, operation: Any) -> None:
    x = floats(2, 8)

    def pooled(x: Any) -> Any:
        chosen = _tracer(_window(x.value, operation, [Sweep(1), Sweep(3, stride=2)]))
        return sw.sum(chosen * chosen * chosen * chosen)

    def slope(x: Any, times: int = order - 1) -> Any:
        found = sw.grad(lambda x: slope(x, times - 1))(x) if times > 1 else sw.grad(pooled)(x)
        return sw.sum(found * np.arange(16.0).reshape(2, 8))

    expected = differences(sw.function(slope), [x], 0)
    assert np.any(expected)
    assert np.all(np.isfinite(expected))
    np.testing.assert_allclose(sw.function(sw.grad(slope))(x), expected, rtol=1e-5, atol=1e-5)


def test_third_derivatives_of_pools_of_parts() -> None:
    """Of x³ where a window of two has it, in parts on four devices: 6 at each element that is chosen."""
    x = np.array([3.0, 1, 2, 5, 4, 6, 8, 7])
    split = sw.relayout(x, sw.Layout(["x"], sw.Mesh(x=4)))

    def pooled(x: Any) -> Any:
        chosen = _tracer(_window(x.value, stablehlo.MaximumOp, [Sweep(2, stride=2)]))
        return sw.sum(chosen * chosen * chosen)

    def twice(x: Any) -> Any:
        return sw.sum(sw.grad(lambda x: sw.sum(sw.grad(pooled)(x)))(x))

    assert np.array_equal(sw.grad(twice)(split), [6, 0, 0, 6, 0, 6, 6, 0])
