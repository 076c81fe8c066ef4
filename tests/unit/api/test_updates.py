"""`pad`, `split` and `x.at[key]`, against NumPy: on one device and in several layouts; their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import shardwright as sw

from .cases import Case, booleans, case, floats, integers
from .placing import EVERYWHERE, MESH, check, check_everywhere, place

A, K, MASK, ROWS = floats(8, 16), integers(8, 16), booleans(8, 16), np.array([3, 0, 3, -1], "int32")

WIDTHS = [0, 2, (1, 3), ((0, 4), (2, 0)), ((4, 4), (8, 8)), ((9, 20), (0, 33))]

PADDED = [
    *[
        Case(
            f"pad {mode} {number}",
            lambda x, mode=mode, width=width: sw.pad(x, width, mode),
            lambda x, mode=mode, width=width: np.pad(x, width, mode),
            (A,),
        )
        for mode in ("constant", "edge", "reflect", "symmetric", "wrap")
        for number, width in enumerate(WIDTHS)
    ],
    case(
        "pad with a number",
        lambda x: np.pad(x, 1, constant_values=7),
        K,
        function=lambda x: sw.pad(x, 1, constant_values=7),
    ),
    case("pad one", lambda x: np.pad(x, (2, 3), "reflect"), A[:1, 0], function=lambda x: sw.pad(x, (2, 3), "reflect")),
    case("pad a number", lambda x: x, np.float32(3), function=lambda x: sw.pad(x, 2)),
]

SPLIT = [
    *[
        Case(
            f"split {number}",
            lambda x, where=where, axis=axis: tuple(sw.split(x, where, axis=axis)),
            lambda x, where=where, axis=axis: tuple(np.split(x, where, axis)),
            (A,),
        )
        for number, (where, axis) in enumerate([(2, 0), (4, 1), (1, -1), ([1, 5], 0), ([5, 3], 1), ([-4], 1), ([], 0)])
    ],
    case(
        "split past the end", lambda x: tuple(np.split(x, [6, 20])), A, function=lambda x: tuple(sw.split(x, [6, 20]))
    ),
]

KEYS: list[Any] = [
    *(2, -1, slice(2, 6), slice(None), ..., (slice(None), 3), (5, 7), None),
    *(
        (slice(1, 7, 2), slice(14, 2, -3)),
        (slice(None, None, -1),),
        (slice(3, 3),),
        (..., slice(4, 9)),
        (slice(5), None, 1),
    ),
    *(ROWS, [0, 7], (slice(None), ROWS), (ROWS, ROWS), (slice(2, 8, 2), ROWS), (ROWS[:, None], ROWS), (1, ROWS)),
]

COMBINED = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def _at(x: Any, key: Any, values: Any, how: str) -> Any:
    """What NumPy makes of it in place; `ufunc.at` goes through each place as often as it is named."""
    result = x.copy()
    if how == "set":
        result[key] = values
    else:
        COMBINED[how].at(result, key, np.asarray(values, x.dtype))
    return result


def _values(key: Any, how: str) -> Any:
    """One value for all, or one for each; of several for one place, all the same where the last one would win."""
    shape = A[key].shape
    return 3 if how == "set" or not shape else np.arange(np.prod(shape)).reshape(shape).astype("float32") % 5 - 2


UPDATED = [
    Case(
        f"at {number} {how}",
        lambda x, key=key, how=how: getattr(x.at[key], how)(_values(key, how)),
        lambda x, key=key, how=how: _at(x, key, _values(key, how), how),
        (A,),
    )
    for number, key in enumerate(KEYS)
    for how in ("set", *COMBINED)
] + [
    case("at set rows", lambda x, v: _at(x, np.s_[2:4], v, "set"), A, A[:2], function=lambda x, v: x.at[2:4].set(v)),
    case("at set whole", lambda x, y: y, A, A + 1, function=lambda x, y: x.at[:].set(y)),
    case("at set traced", lambda x, i: _at(x, i, 9, "set"), A, ROWS, function=lambda x, i: x.at[i].set(9)),
    case("at add traced", lambda x, i: _at(x, i, 9, "add"), A, ROWS, function=lambda x, i: x.at[i].add(9)),
    case("at outside", lambda x: _at(x, [1], 5, "set"), A, function=lambda x: x.at[np.array([1, 8, 99])].set(5)),
    case("at mask", lambda x, m: np.where(m, 7, x), A, MASK, function=lambda x, m: x.at[m].set(7)),
    case("at mask add", lambda x, m: np.where(m, x + 7, x), A, MASK, function=lambda x, m: x.at[m].add(7)),
    case(
        "at mask of rows",
        lambda x, m: np.where(m[:, None], 0, x),
        A,
        MASK[:, 0],
        function=lambda x, m: x.at[m].set(0),
    ),
    case("at get", lambda x: x[1:3, ::-2], A, function=lambda x: x.at[1:3, ::-2].get()),
    case("at ints", lambda x: _at(x, np.s_[:, 2], 300, "add"), K, function=lambda x: x.at[:, 2].add(300)),
]


@pytest.mark.every(4)
@pytest.mark.parametrize("case", [*PADDED, *SPLIT, *UPDATED], ids=lambda case: case.name)
@EVERYWHERE
def test_as_numpy_computes_it(case: Case, styles: Sequence[str]) -> None:
    check_everywhere(case.function, case.expected(*case.arguments), case.arguments, styles)


def test_nothing_else_changes_by_a_bit() -> None:
    """NaNs, infinities and negative zeros beside the places are what they were; a sum with zero would lose the sign."""
    x = np.array([[-0.0, np.nan, np.inf, -np.inf]] * 4, "float32")
    for how in ("set", *COMBINED):
        found = getattr(place(x, "both").at[1, 2:], how)(1)
        untouched = np.ones(x.shape, bool)
        untouched[1, 2:] = False
        assert np.asarray(found)[untouched].tobytes() == x[untouched].tobytes(), how


def test_the_old_array_stays() -> None:
    x = place(A, "first")
    x.at[0].set(0)
    np.testing.assert_array_equal(np.asarray(x), A)


def test_variables_have_places() -> None:
    v = sw.Variable(A, layout=sw.Layout(["x", "y"], MESH))
    v.assign(v.at[2].set(1))
    check(v.value, _at(A, 2, 1, "set"))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, v: sw.pad(x, ((1, 2), (0, 3))),
        lambda x, v: sw.pad(x, ((1, 2), (0, 3)), "reflect"),
        lambda x, v: sw.pad(x, 5, "wrap"),
        lambda x, v: sw.split(x, [3])[1] * 2 + 0 * sw.sum(v),
        lambda x, v: x.at[1:7:2, 3:].set(v[:3, 3:]),
        lambda x, v: x.at[ROWS].add(v[:4]),
        lambda x, v: x.at[np.array([5, 0, 2])].set(v[:3]),
        lambda x, v: x.at[MASK].set(v),
        lambda x, v: x.at[2:4].multiply(v[:2]),
    ],
)
def test_gradients_are_slopes(function: Any) -> None:
    """
    Against central differences, which are exact for functions that are linear, or quadratic, in their arguments.
    """
    generator = np.random.default_rng(0)
    x, v, dx, dv = (generator.standard_normal((8, 16)) for _ in range(4))
    weights = generator.standard_normal(np.shape(sw.function(function)(x, v)))

    def weighed(x: Any, v: Any) -> Any:
        return sw.sum(function(x, v) * weights)

    slope = (float(weighed_now(weighed, x + dx, v + dv)) - float(weighed_now(weighed, x - dx, v - dv))) / 2
    for style in ("first", "both"):
        gx, gv = sw.grad(weighed, argnums=(0, 1))(place(x, style), place(v, style))
        assert np.sum(np.asarray(gx) * dx) + np.sum(np.asarray(gv) * dv) == pytest.approx(slope, rel=1e-9)


def weighed_now(function: Any, *arguments: Any) -> Any:
    return sw.function(function)(*arguments)


@pytest.mark.parametrize(
    ("code", "error", "call"),
    [
        ("SW0510", ValueError, lambda: sw.pad(A, 1, "mirror")),
        ("SW0510", ValueError, lambda: sw.pad(A, -1)),
        ("SW0510", TypeError, lambda: sw.pad(A, 1.5)),
        ("SW0510", ValueError, lambda: sw.pad(A, ((1, 2), (3, 4), (5, 6)))),
        ("SW0504", ValueError, lambda: sw.pad(A[:0], 1, "edge")),
        ("SW0504", ValueError, lambda: sw.split(A, 3)),
        ("SW0504", ValueError, lambda: sw.split(A, 0)),
        ("SW0504", ValueError, lambda: place(A, "first").at[MASK[:4]].set(0)),
        ("SW0514", IndexError, lambda: place(A, "first").at[8].set(0)),
        ("SW0514", TypeError, lambda: place(A, "first").at[1.5].set(0)),
        ("SW0514", TypeError, lambda: place(A, "first").at[0, MASK].set(0)),
        ("SW0504", ValueError, lambda: place(A, "first").at[2:4].set(A)),
        ("SW0506", TypeError, lambda: place(A > 0, "first").at[0].subtract(True)),
        ("SW0506", TypeError, lambda: place(A > 0, "first").at[np.array([0])].subtract(True)),
    ],
)
def test_mistakes_are_named(code: str, error: type[Exception], call: Any) -> None:
    with pytest.raises(error, match=code):
        call()
