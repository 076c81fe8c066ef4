"""Traced functions: what is traced, what is kept, and what each mistake says."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.tracing.interface import REPLICATION_LIMIT

MESH = sw.Mesh(x=2, y=2)
ROWS = sw.Layout(["x"], MESH)


def spread(array: Any) -> sw.DTensor:
    """The array split over x in its first dim."""
    return sw.relayout(array, ROWS)


def error(kind: type[Exception], call: Any) -> sw.Diagnostic:
    """The one diagnostic of the coded error that `call` raises, which is a `kind`."""
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, sw.ShardwrightError)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def counted() -> tuple[Any, list[int]]:
    """A function that doubles, and a list that grows each time it is traced."""
    traces: list[int] = []

    @sw.function
    def double(x: Any) -> Any:
        traces.append(1)
        return x * 2

    return double, traces


def test_traced_once_for_each_shape_type_and_layout() -> None:
    double, traces = counted()
    kinds = [
        np.ones(4),
        np.ones(4, "float32"),
        np.ones(6),
        spread(np.ones(4)),
        sw.relayout(np.ones(4), sw.Layout(["y"], MESH)),
        sw.relayout(np.ones(4), sw.Layout(["x"], sw.Mesh(x=4))),
        2,
        2.0,
    ]
    for count, argument in enumerate(kinds, 1):
        double(argument)
        double(argument)
        assert len(traces) == count
    double(np.zeros(4))
    double(3)
    assert len(traces) == len(kinds)


def test_numbers_are_traced_and_take_the_arrays_type() -> None:
    traces: list[int] = []

    @sw.function
    def scaled(x: Any, rate: Any) -> Any:
        traces.append(1)
        return x * rate

    half = np.ones(2, "float16")
    assert scaled(half, 0.5).dtype == sw.float16
    assert scaled(half, 0.25).tolist() == [0.25, 0.25]
    assert len(traces) == 1


def test_truth_values_and_names_choose_the_program() -> None:
    @sw.function
    def layer(x: Any, training: bool, mode: str = "sum") -> Any:
        return (sw.sum(x) if mode == "sum" else sw.mean(x)) if training else x

    x = np.arange(4.0)
    assert float(layer(x, True)) == 6
    assert float(layer(x, True, mode="mean")) == 1.5
    assert layer(x, False).shape == (4,)
    assert float(layer(x, True, "mean")) == 1.5


def test_static_arguments_by_name() -> None:
    @sw.function(static=["axis"])
    def total(x: Any, axis: int) -> Any:
        return sw.sum(x, axis=axis)

    x = np.arange(6.0).reshape(2, 3)
    assert total(x, 0).tolist() == x.sum(0).tolist()
    assert total(x, axis=1).tolist() == x.sum(1).tolist()
    assert total(x, (0, 1)).shape == ()
    found = error(TypeError, lambda: sw.function(lambda x: x, static=["axes"]))
    assert found.code == "SW0507"


def test_static_arguments_that_only_go_by_name() -> None:
    @sw.function(static=["power"])
    def total(*items: Any, power: int) -> Any:
        return sum(item**power for item in items)

    ones = np.ones(3, "float32")
    assert np.array_equal(total(ones, ones * 2, ones * 3, power=2), np.full(3, 14))


def test_number_used_as_a_dim_says_static() -> None:
    @sw.function
    def total(x: Any, axis: Any) -> Any:
        return sw.sum(x, axis=(axis,))

    found = error(TypeError, lambda: total(np.ones((2, 2)), 0))
    assert found.code in ("SW0503", "SW0510")


@dataclass
class Model:
    """Arrays and a setting."""

    weight: Any
    bias: Any
    name: str = "model"
    scale: float = 2.0


class Pair(NamedTuple):
    """Two arrays."""

    first: Any
    second: Any


def test_trees_go_in_and_out() -> None:
    @sw.function
    def step(state: Any, *rest: Any, **named: Any) -> Any:
        model, pair = state["model"], state["pair"]
        assert isinstance(model, Model)
        assert (model.name, model.scale) == ("model", 2.0)
        updated = Model(model.weight * model.scale, model.bias + rest[0], model.name, model.scale)
        return {"model": updated, "pair": Pair(pair.second, pair.first), "none": None, "list": [named["z"], (1.0,)]}

    weight, bias = np.ones((2, 2)), np.zeros(2)
    state = {"model": Model(spread(weight), bias), "pair": Pair(np.int32(1), np.int32(2)), "nothing": None}
    out = step(state, 3.0, z=np.ones(3))
    assert isinstance(out["model"], Model)
    assert np.array_equal(out["model"].weight, weight * 2)
    assert np.array_equal(out["model"].bias, bias + 3)
    assert isinstance(out["pair"], Pair)
    assert (int(out["pair"].first), int(out["pair"].second)) == (2, 1)
    assert out["none"] is None
    assert out["list"][0].shape == (3,)
    assert float(out["list"][1][0]) == 1.0


def test_ordered_dicts_and_those_with_defaults_are_trees() -> None:
    """As in JAX: each comes back as what it was, an ordered one in its order, which is part of what it is."""
    x, y = np.arange(4.0), np.ones(4)
    traces: list[Any] = []

    @sw.function
    def swapped(state: Any) -> Any:
        traces.append(list(state))
        first, second = state
        return type(state)([(first, state[second]), (second, state[first])])

    for _ in range(2):
        found = swapped(OrderedDict(b=x, a=spread(y)))
        assert type(found) is OrderedDict
        assert list(found) == ["b", "a"]
        assert np.array_equal(found["b"], y)
        assert np.array_equal(found["a"], x)
    assert type(swapped({"b": x, "a": y})) is dict
    assert np.array_equal(swapped(OrderedDict(a=y, b=x))["a"], x)
    assert traces == [["b", "a"], ["b", "a"], ["a", "b"]]
    kept = sw.function(lambda state: state)(defaultdict(list, a=x))
    assert (type(kept), kept.default_factory) == (defaultdict, list)
    assert np.array_equal(kept["a"], x)
    assert kept["new"] == []
    gradient = sw.grad(lambda state: sw.sum(state["a"] * state["b"]))(OrderedDict(b=x, a=y))
    assert type(gradient) is OrderedDict
    assert np.array_equal(gradient["b"], y)
    assert np.array_equal(sw.vmap(lambda state: state["a"] * 2, in_axes=({"a": 0},))(OrderedDict(a=x)), 2 * x)
    names = sw.function(lambda state: state["a"]).trace(OrderedDict(b=x, a=y)).interface.parameters
    assert [parameter.name for parameter in names] == ["state['b']", "state['a']"]


def test_other_mappings_are_no_trees() -> None:
    with pytest.raises(TypeError, match=r"SW0507.*neither an array nor hashable: unhashable type: "):
        sw.function(lambda state: state["a"])(MappingProxyType({"a": np.ones(2)}))


def test_arguments_are_named_by_path() -> None:
    traced = sw.function(lambda params, *rest, last: last).trace({"w": [np.ones(1), np.ones(2)]}, 1.0, 2.0, last=3)
    names = [parameter.name for parameter in traced.interface.parameters]
    assert names == ["params['w'][0]", "params['w'][1]", "rest[0]", "rest[1]", "last"]


def test_result_may_be_an_argument_or_a_constant() -> None:
    @sw.function
    def passing(x: Any) -> Any:
        return x, 1, np.arange(3), True

    x = spread(np.ones(4))
    same, one, numbers, truth = passing(x)
    assert np.array_equal(same, x)
    assert int(one) == 1
    assert np.array_equal(numbers, np.arange(3))
    assert bool(truth)


def test_result_does_not_share_memory_with_a_numpy_argument() -> None:
    x = np.ones(4)
    result = sw.function(lambda x: x)(x)
    x[:] = 0
    assert np.array_equal(result, np.ones(4))


def test_functions_call_functions() -> None:
    inner, traces = counted()
    outer = sw.function(lambda x: inner(x) + inner(x))
    assert outer(np.ones(2)).tolist() == [4, 4]
    assert len(traces) == 2


def test_methods() -> None:
    class Layer:
        def __init__(self) -> None:
            self.weight = np.float64(3)

        @sw.function
        def __call__(self, x: Any) -> Any:
            return x * self.weight

    assert Layer()(np.ones(2)).tolist() == [3, 3]


def test_tensors_from_outside_become_arguments() -> None:
    weight = spread(np.arange(4.0))
    traced = sw.function(lambda x: x * weight + weight).trace(np.ones(4))
    assert [array is weight for array in traced.interface.captured] == [True]
    assert np.array_equal(traced.compile()(np.ones(4)), np.arange(4.0) * 2)


def test_small_arrays_from_outside_become_constants() -> None:
    table = np.arange(4.0)
    assert "dense<[0.0" in sw.function(lambda x: x + table).trace(np.ones(4)).as_text()
    large = np.ones(REPLICATION_LIMIT, "int8")
    sw.function(lambda x: x + large).trace(np.int8(1))
    found = error(TypeError, lambda: sw.function(lambda x: x + np.ones(REPLICATION_LIMIT + 1, "int8")).trace(1))
    assert found.code == "SW0501"


def test_small_numpy_arguments_are_replicated() -> None:
    traced = sw.function(lambda x, y: x + y).trace(spread(np.ones(4)), np.ones(4))
    assert [str(parameter) for parameter in traced.interface.parameters] == ["x: f64[4@x]", "y: f64[4]"]
    layout = traced.interface.parameters[1].layout
    assert layout is not None
    assert layout.is_replicated


def test_large_numpy_arguments_need_a_layout() -> None:
    add = sw.function(lambda small, large: sw.sum(small) + sw.sum(large))
    small = spread(np.ones(4, "float32"))
    add(small, np.ones(REPLICATION_LIMIT // 4, "float32"))
    found = error(TypeError, lambda: add(small, np.ones((128, 129), "float32")))
    assert found.code == "SW0501"
    assert "argument large is a ndarray of 66048 bytes, f32[128, 129]" in found.message
    assert found.help is not None
    assert "shardwright.relayout(large, " in found.help
    # On one device nothing is replicated.
    sw.function(lambda large: sw.sum(large))(np.ones((128, 129), "float32"))


def here() -> int:
    """The line of the caller."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_errors_point_at_the_users_line() -> None:
    lines: list[int] = []

    def wrong(x: Any) -> Any:
        lines.append(here() + 1)
        return x + np.ones(3)

    found = error(ValueError, lambda: sw.function(wrong)(np.ones(4)))
    assert found.code == "SW0504"
    assert found.location is not None
    assert (found.location.file, found.location.line) == (__file__, lines[0])
    assert found.location.column == len("        return ") + 1


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda x: 1 if x > 0 else 2, "shardwright.where"),
        (lambda x: float(x), "function's result"),
        (lambda x: int(x), "function's result"),
        (lambda x: complex(x), "function's result"),
        (lambda x: np.cbrt(x), "in shardwright"),
        (lambda x: np.median(x), "functions of shardwright"),
        (lambda x: np.asarray(x), "shardwright's functions"),
        (lambda x: np.from_dlpack(x), "result"),
        (lambda x: [1, 2][x], "static"),
        (lambda x: range(x), "static"),
    ],
)
def test_traced_value_used_as_python_value(use: Any, words: str) -> None:
    found = error(TypeError, lambda: sw.function(use)(np.int32(1)))
    assert found.code == "SW0503"
    assert found.help is not None
    assert words in found.help
    assert found.location is not None
    assert found.location.file == __file__


def test_leaked_value() -> None:
    kept: list[Any] = []
    sw.function(lambda x: kept.append(x) or x)(np.ones(2))
    found = error(TypeError, lambda: sw.function(lambda y: y + kept[0])(np.ones(2)))
    assert found.code == "SW0513"


@pytest.mark.parametrize(
    ("code", "kind", "call"),
    [
        ("SW0504", ValueError, lambda x: sw.add(x, np.ones(5))),
        ("SW0504", ValueError, lambda x: x @ np.ones((3, 3))),
        ("SW0504", ValueError, lambda x: sw.reshape(x, (3, 3))),
        ("SW0504", ValueError, lambda x: sw.concat([x, np.ones((2, 2))])),
        ("SW0504", ValueError, lambda x: sw.stack([x, np.ones(3)])),
        ("SW0504", ValueError, lambda x: sw.squeeze(x, axis=0)),
        ("SW0504", ValueError, lambda x: sw.broadcast_to(x, (3,))),
        ("SW0506", TypeError, lambda x: x + np.ones((4, 4), "int32")),
        ("SW0506", TypeError, lambda x: sw.bitwise_and(x, x)),
        ("SW0506", TypeError, lambda x: sw.where(x, 1, 2)),
        ("SW0506", TypeError, lambda x: sw.astype(x, "floaty")),
        ("SW0506", TypeError, lambda x: sw.exp(sw.astype(x, sw.int32))),
        ("SW0506", TypeError, lambda x: sw.astype(x, sw.int32) + 1.5),
        ("SW0506", ValueError, lambda x: sw.astype(x, sw.int8) + 1000),
        ("SW0507", TypeError, lambda x: sw.add(x, "text")),
        ("SW0509", TypeError, lambda x: {"result": "text"}),
        ("SW0510", ValueError, lambda x: sw.sum(x, axis=2)),
        ("SW0510", ValueError, lambda x: sw.sum(x, axis=(0, 0))),
        ("SW0510", TypeError, lambda x: sw.sum(x, axis=("a",))),
        ("SW0510", ValueError, lambda x: sw.max(x[:0])),
        ("SW0510", ValueError, lambda x: sw.permute_dims(x, (0, 0))),
        ("SW0510", ValueError, lambda x: sw.zeros((-1,))),
        ("SW0510", TypeError, lambda x: x[0].T),
        ("SW0511", ValueError, lambda x: sw.einsum("ij,jk->ik", x)),
        ("SW0511", ValueError, lambda x: sw.einsum("ijk->i", x)),
        ("SW0511", ValueError, lambda x: sw.einsum("ij->ii", x)),
        ("SW0511", ValueError, lambda x: sw.einsum("ij->k", x)),
        ("SW0511", ValueError, lambda x: sw.einsum("ij,jk->ik", x, np.ones((3, 2)))),
        ("SW0514", ValueError, lambda x: x[4]),
        ("SW0514", ValueError, lambda x: x[0, 0, 0]),
        ("SW0514", TypeError, lambda x: x["rows"]),
        ("SW0514", TypeError, lambda x: x[np.ones(4, bool)]),
        ("SW0104", ValueError, lambda x: sw.relayout(x[:3], ROWS)),
        ("SW0106", ValueError, lambda x: sw.relayout(x[0], sw.Layout([None, "x"], MESH))),
    ],
)
def test_mistakes_have_codes(code: str, kind: type[Exception], call: Any) -> None:
    assert error(kind, lambda: sw.function(call)(np.ones((4, 4)))).code == code


def test_two_meshes_in_one_function() -> None:
    other = sw.relayout(np.ones(4), sw.Layout(["x"], sw.Mesh(x=4)))
    found = error(ValueError, lambda: sw.add(spread(np.ones(4)), other))
    assert found.code == "SW0505"


def test_object_that_cannot_be_hashed() -> None:
    class Config:
        __hash__ = None  # type: ignore[assignment]

    found = error(TypeError, lambda: sw.function(lambda x, config: x)(1, Config()))
    assert found.code == "SW0507"


def test_every_code_is_registered() -> None:
    from shardwright.diagnostics.registry import ENTRIES

    assert {f"SW05{number:02}" for number in range(1, 15)} <= set(ENTRIES)


def test_numpys_functions_that_the_standard_has() -> None:
    x = np.linspace(0.1, 1, 4)
    traced = sw.function(lambda x: np.power(np.exp(x), 2) + np.arctan2(x, x) - np.abs(-x))
    expected = np.exp(x) ** 2 + np.arctan2(x, x) - x
    assert np.allclose(traced(x), expected)
    assert np.allclose(traced(spread(x)), expected)


def test_number_that_does_not_fit() -> None:
    add = sw.function(lambda x, n: x + n)
    add(np.int32(1), 2)
    assert error(TypeError, lambda: add(np.int32(1), 2**40)).code == "SW0506"


def test_functions_without_arrays_and_callables_of_all_sorts() -> None:
    class Scale:
        def __call__(self, x: Any, factor: float = 2.0) -> Any:
            return x * factor

    assert sw.function(lambda: sw.ones(3))().tolist() == [1, 1, 1]
    assert sw.function(Scale())(np.ones(2)).tolist() == [2, 2]
    assert sw.function(functools.partial(Scale(), factor=3.0))(np.ones(2)).tolist() == [3, 3]
    assert sw.function(sw.negative)(np.ones(2)).tolist() == [-1, -1]


def test_a_failed_trace_leaves_nothing_behind() -> None:
    def wrong(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sw.function(wrong)(np.ones(2))
    assert isinstance(sw.add(np.ones(2), 1), np.ndarray)


def test_threads_trace_apart() -> None:
    def work(number: int) -> float:
        scaled = sw.function(lambda x: sw.sum(x * number + sw.ones(4)))
        return float(scaled(spread(np.ones(4, "float32"))))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(12))) == [4.0 * number + 4 for number in range(12)]


def test_compiled_programs_cut_nothing_off() -> None:
    compiled = sw.function(lambda x, n: x * n).compiled(np.ones(3, "int32"), 2)
    assert compiled(np.ones(3, "int32"), 3).tolist() == [3, 3, 3]
    with pytest.raises(TypeError, match="SW0506"):
        compiled(np.ones(3, "int32"), 2.7)


HALVES = sw.Layout(["x"], sw.Mesh(x=2))


@pytest.mark.parametrize(
    ("dtype", "number", "told"),
    [
        ("float32", 0.1, "f32"),
        ("float64", 0.1, "f64"),
        ("float64", 1e300, "f64"),
        ("float16", 0.1, "f16"),
        ("float64", 3, "f64"),
        ("int64", 2**40, "i64"),
        ("int8", 7, "i8"),
        ("complex128", 0.1 + 0.2j, "c128"),
    ],
)
def test_a_number_takes_the_type_of_the_array_that_it_meets(dtype: str, number: Any, told: str) -> None:
    x = np.ones(2, dtype)
    product = sw.function(lambda x, k: x * k)
    found = product(sw.relayout(x, HALVES), number)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found.numpy(), x * number)
    assert f"k: {told}" in repr(product.trace(sw.relayout(x, HALVES), number))


def test_a_number_that_meets_arrays_of_two_types_has_the_digits_of_the_wider() -> None:
    both = sw.function(lambda x, y, k: (x * k, y * k, k))
    x, y = np.ones(2, "float32"), np.ones(2)
    one, two, alone = both(sw.relayout(x, HALVES), sw.relayout(y, HALVES), 0.1)
    np.testing.assert_array_equal(one.numpy(), x * np.float32(0.1))
    np.testing.assert_array_equal(two.numpy(), y * 0.1)
    assert (alone.dtype, float(alone)) == (np.float32, np.float32(0.1))
    counted = sw.function(lambda x, k: (x * k, k + 1))
    with pytest.raises(TypeError, match=r"SW0506.*2199023255552.*does not fit i32"):
        counted(sw.relayout(y, HALVES), 2**41)


def test_a_number_that_does_not_fit_is_refused() -> None:
    x = sw.relayout(np.ones(2, "int8"), HALVES)
    with pytest.raises(TypeError, match=r"SW0506.*300, which does not fit i8"):
        sw.function(lambda x, k: x * k)(x, 300)
