"""`Tensor`: what is not distributed is a tensor too, and a NumPy array; pickling of functions and programs."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import shardwright as sw

from . import pickled
from .cases import floats
from .placing import MESH, STYLES, place

X = floats(8, 4)


def test_results_without_a_layout_are_tensors() -> None:
    made = [
        sw.sum(X),
        sw.function(lambda x: {"a": x, "b": [x + 1]})(X)["b"][0],
        sw.zeros((2, 3)),
        sw.asarray([1, 2]),
        sw.random.stateless_random_normal((4,), seed=(1, 2)),
        sw.from_dlpack(X),
        sw.asarray(X, copy=False),
        sw.Variable(X).value,
        sw.function(lambda x: x * 2).compiled(X)(X),
        sw.scan(lambda total, x: (total + x, total), 0.0, X[0])[1],
    ]
    for tensor in made:
        assert isinstance(tensor, sw.Tensor)
        assert isinstance(tensor, np.ndarray)
        assert tensor.layout is None
        assert tensor.__array_namespace__() is sw
        assert repr(tensor) == repr(np.asarray(tensor))
        for derived in (
            tensor * 2,
            tensor[...],
            np.exp(tensor),
            tensor.reshape(-1),
            pickle.loads(pickle.dumps(tensor)),
        ):
            assert isinstance(derived, sw.Tensor)
            assert derived.layout is None
    assert f"{sw.sum(X):.3f}" == f"{float(X.sum(dtype='float64')):.3f}"


def test_a_result_belongs_to_whoever_gets_it() -> None:
    given = X.copy()
    one, other = sw.function(lambda x: (x, x))(given)
    one += 1
    one[0, 0] = 7
    assert np.array_equal(given, X)
    assert np.array_equal(other, X)
    made = [sw.function(lambda: sw.ones((3,)))() for _ in range(2)]
    made[0] *= 5
    assert made[0].tolist() == [5, 5, 5]
    assert made[1].tolist() == [1, 1, 1]


OPERATIONS: list[tuple[str, Callable[[Any, Any], Any], Any]] = [
    ("+=", lambda x, y: x.__iadd__(y), np.float32(2)),
    ("-=", lambda x, y: x.__isub__(y), np.float32(2)),
    ("*=", lambda x, y: x.__imul__(y), np.float32(2)),
    ("/=", lambda x, y: x.__itruediv__(y), np.float32(2)),
    ("//=", lambda x, y: x.__ifloordiv__(y), np.float32(2)),
    ("%=", lambda x, y: x.__imod__(y), np.float32(2)),
    ("**=", lambda x, y: x.__ipow__(y), np.float32(2)),
    ("@=", lambda x, y: x.__imatmul__(y), np.eye(4, dtype="float32")),
    ("&=", lambda x, y: x.__iand__(y), 6),
    ("|=", lambda x, y: x.__ior__(y), 6),
    ("^=", lambda x, y: x.__ixor__(y), 6),
    ("<<=", lambda x, y: x.__ilshift__(y), 1),
    (">>=", lambda x, y: x.__irshift__(y), 1),
]


@pytest.mark.parametrize(("name", "operate", "other"), OPERATIONS, ids=[name for name, _, _ in OPERATIONS])
def test_in_place_it_is_numpys_and_what_a_variable_holds_stays(name: str, operate: Any, other: Any) -> None:
    start = np.arange(16).reshape(4, 4) if isinstance(other, int) else np.arange(16, dtype="float32").reshape(4, 4)
    expected = operate(start.copy(), other)
    mine = sw.asarray(start)
    alias = mine
    assert operate(mine, other) is alias
    assert np.array_equal(alias, expected)
    variable = sw.Variable(start)
    changed = operate(variable.value, other)
    assert np.array_equal(changed, expected)
    assert isinstance(changed, sw.Tensor)
    assert np.array_equal(variable.value, start)
    with pytest.raises(ValueError, match="read-only"):
        variable.value[0, 0] = 1


def test_whole_quotients_of_infinities_are_those_of_the_standard() -> None:
    """Where NumPy has NaN: a distributed tensor and one that is not give the same."""
    numbers = np.array([np.inf, -np.inf, 7.0, -7.0, 1.0, np.nan, 0.0, 5.0])
    by = np.array([2.0, 2.0, 2.0, 2.0, -np.inf, 1.0, 3.0, np.inf])
    expected = [np.inf, -np.inf, 3.0, -4.0, -0.0, np.nan, 0.0, 0.0]
    rows = sw.Layout(["x"], MESH)
    for x, y in ((sw.asarray(numbers), by), (sw.asarray(numbers), sw.asarray(by)), (sw.relayout(numbers, rows), by)):
        np.testing.assert_array_equal(np.asarray(x // y), expected)
    x = alias = sw.asarray(numbers)
    x //= 2.0
    assert alias is x
    np.testing.assert_array_equal(x[:4], expected[:4])
    counted = sw.asarray(np.array([7, -7]))
    counted //= 2
    assert counted.tolist() == [3, -4]
    with pytest.raises(TypeError, match="Cannot cast"):
        counted //= 2.5


def test_with_a_distributed_or_traced_tensor_it_becomes_one() -> None:
    kept = sw.asarray(X)

    def added(x: Any) -> Any:
        total = kept
        total += x
        return total

    for found in (added(place(X, "both")), sw.function(added)(place(X, "both"))):
        assert isinstance(found, sw.DTensor)
        assert np.array_equal(found, X + X)
    assert np.array_equal(kept, X)


def test_other_ways_of_one_tensor() -> None:
    x = sw.asarray(X)
    changed = x.at[0].set(1)
    assert isinstance(changed, sw.Tensor)
    assert changed[0].tolist() == [1, 1, 1, 1]
    assert type(x.numpy()) is np.ndarray
    assert np.shares_memory(x.numpy(), x)
    with pytest.raises(TypeError, match=r"SW0503.*there is no mesh without a layout"):
        x.mesh  # noqa: B018


def test_dlpack_goes_both_ways() -> None:
    x = sw.asarray(X)
    assert np.shares_memory(np.from_dlpack(x), x)
    assert np.shares_memory(sw.from_dlpack(X), X)
    distributed = place(X, "both")
    assert sw.from_dlpack(distributed) is distributed  # nothing is gathered
    columns = sw.Layout([None, "y"], MESH)
    assert sw.from_dlpack(distributed, layout=columns).layout == columns


@pytest.mark.parametrize("style", STYLES)
def test_dlpack_shares_what_lies_as_it_is(style: str) -> None:
    x = place(X, style)
    whole = np.from_dlpack(x)
    whole += 1  # a copy of its own
    assert np.array_equal(x, X)
    shared = np.from_dlpack(x, copy=False)
    assert np.array_equal(shared, X)
    assert np.shares_memory(shared, x.stacked)
    assert not shared.flags.writeable
    with pytest.raises(BufferError, match="SW0506"):
        x.__dlpack__(copy=False)  # who cannot be told not to write there


def test_dlpack_copies_what_lies_otherwise() -> None:
    columns = sw.pack(sw.unpack(place(X, "last")), sw.Layout([None, "y"], MESH))  # parts of rows of their own
    assert np.array_equal(np.from_dlpack(columns), X)
    with pytest.raises(BufferError, match="SW0506"):
        np.from_dlpack(columns, copy=False)


def test_asarray_shares_only_when_asked() -> None:
    assert not np.shares_memory(sw.asarray(X), X)
    assert np.shares_memory(sw.asarray(X, copy=False), X)
    with pytest.raises(ValueError, match=r"SW0510.*f32 elements cannot share memory as f64"):
        sw.asarray(X, dtype="float64", copy=False)


def test_functions_are_pickled_by_their_names() -> None:
    assert pickle.loads(pickle.dumps(pickled.doubled)) is pickled.doubled
    assert pickle.loads(pickle.dumps(sw.sum)) is sw.sum
    halved = pickle.loads(pickle.dumps(pickled.HALVED))
    assert halved.python_function is pickled.halved
    assert halved.static_names == {"times"}
    assert halved(np.float32(8), 2) == 2
    scaled = pickle.loads(pickle.dumps(pickled.Scaler(3.0).scaled))
    assert scaled(np.float32(2)) == 6
    assert copy.deepcopy({"f": pickled.HALVED})["f"] is pickled.HALVED
    assert copy.copy(pickled.HALVED) is pickled.HALVED


@pytest.mark.parametrize(
    ("made", "what"),
    [
        (lambda: sw.function(lambda x: x * 2), "the function <lambda>"),
        (lambda: sw.grad(pickled.halved), "the function halved"),
        (lambda: sw.budget(max_bytes=0)(sw.function(pickled.halved)), "the function halved"),
        (lambda: pickled.doubled.trace(X), "a stage (Traced)"),
        (lambda: pickled.doubled.trace(X).partition(), "a stage (Partitioned)"),
        (lambda: pickled.doubled.compiled(X), "a compiled program"),
    ],
)
def test_no_code_is_pickled(made: Callable[[], Any], what: str) -> None:
    with pytest.raises(TypeError) as caught:
        pickle.dumps(made())
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == "SW0536"
    assert diagnostic.message == f"{what} cannot be pickled"
    assert diagnostic.help.startswith("shardwright.save(program, path) keeps it and shardwright.load(path) runs it")


UNARY = (
    "absolute arccos arccosh arcsin arcsinh arctan arctanh ceil conjugate cos cosh exp expm1 floor isfinite isinf "
    "isnan log log10 log1p log2 negative positive reciprocal rint sign signbit sin sinh sqrt square tan tanh trunc"
).split()
BINARY = (
    "add arctan2 copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp maximum "
    "minimum multiply nextafter not_equal power remainder subtract"
).split()


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_functions_of_numpy_by_element(name: str) -> None:
    ufunc: Any = getattr(np, name)
    x = np.abs(X) / 4 + (1 if name == "arccosh" else 0.1)
    given = (x,) if name in UNARY else (x, x[::-1].copy())
    found = ufunc(*[place(each, "both") for each in given])
    assert isinstance(found, sw.DTensor)
    np.testing.assert_allclose(np.asarray(found), ufunc(*given), rtol=1e-5)


@pytest.mark.parametrize("name", ["erf", "expit", "log_expit", "expm1", "log1p"])
def test_functions_of_scipy(name: str) -> None:
    function: Any = getattr(scipy.special, name)
    found = function(place(X / 2 + 1.5, "both"))
    assert isinstance(found, sw.DTensor)
    np.testing.assert_allclose(np.asarray(found), function(X / 2 + 1.5), rtol=2e-5)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda x: np.cbrt(x), "numpy.cbrt"),
        (lambda x: np.add.reduce(x), "numpy.add"),
        (lambda x: np.exp(x, out=np.empty(x.shape)), "numpy.exp"),
        (lambda x: scipy.special.gammaln(x), "the function gammaln"),
    ],
)
def test_what_numpy_and_scipy_cannot_do_is_refused(call: Callable[[Any], Any], what: str) -> None:
    with pytest.raises(
        TypeError, match=rf"SW0503\]: {what} cannot work on DTensors, whose elements NumPy does not see"
    ):
        call(place(X, "both"))
