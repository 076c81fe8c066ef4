"""Functions that choose, order and accumulate elements, against NumPy: on one device and in several layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import shardwright as sw

from .cases import Case, case, floats, integers, names, positives
from .placing import EVERYWHERE, check_everywhere

A, B, P, K = floats(8, 16), floats(8, 16), positives(8, 16), integers(8, 16)
Z = (floats(8, 16) + 1j * floats(8, 16)).astype("complex64")
ROW = np.sort(floats(16))
PLACES = np.array([[0, 15], [7, 3], [2, 2], [-1, -16]], "int32")
TIED = np.array([[0.0, -0.0, np.nan, 2, 2, -np.nan, -1, np.inf]] * 8, "float32")
IDS = np.array([3, 0, 1, 3, 7, 2, 0, -1], "int32")
BATCHED = np.array([[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11], [12, 13], [14, 15]], "int32")

INVERSE = {name: f"arc{name[1:]}" for name in names("acos acosh asin asinh atan atanh")}

POINTWISE = [
    *[case(name, getattr(np, INVERSE[name]), P / 2.5) for name in names("acos asin atan asinh atanh")],
    case("acosh", np.arccosh, P + 1),
    *[case(name, getattr(np, name), A) for name in names("cosh sinh signbit")],
    *[case(name, getattr(np, name), A, B) for name in names("copysign hypot nextafter")],
    *[case(name, getattr(np, name), Z) for name in names("conj real imag")],
    case("conj of reals", np.conj, A, function=sw.conj),
    case("imag of reals", np.imag, A, function=sw.imag),
    case("copysign zero", np.copysign, A, A * -0.0, function=sw.copysign),
    case("hypot large", np.hypot, A * 1e30, B * 1e30, function=sw.hypot),
    case("hypot edges", np.hypot, TIED, TIED[:, ::-1].copy(), function=sw.hypot),
]


def _scatter(x: Any, ids: Any, updates: Any, operation: Any) -> Any:
    result = x.copy()
    inside = (ids >= 0) & (ids < len(x))
    operation.at(result, ids[inside], updates[inside])
    return result


def _last(x: Any, places: Any, value: float) -> Any:
    result = x.copy()
    result[:, places] = value
    return result


ORDERED = [
    case("sort", np.sort, A),
    case("sort first", lambda x: np.sort(x, 0), K, function=lambda x: sw.sort(x, axis=0)),
    case("sort down", lambda x: -np.sort(-x), A, function=lambda x: sw.sort(x, descending=True)),
    case("sort nan", np.sort, TIED, function=sw.sort),
    case("argsort", lambda x: np.argsort(x, kind="stable"), TIED),
    case("argsort ints", lambda x: np.argsort(x, 0, "stable"), K, function=lambda x: sw.argsort(x, axis=0)),
    case(
        "argsort down",
        lambda x: np.argsort(-x, kind="stable"),
        K,
        function=lambda x: sw.argsort(x, descending=True),
    ),
    case(
        "top_k",
        lambda x: (-np.sort(-x)[:, :3], np.argsort(-x, kind="stable")[:, :3].astype("int32")),
        A,
        function=lambda x: sw.top_k(x, 3),
    ),
    case(
        "top_k first",
        lambda x: (-np.sort(-x, 0)[:2], np.argsort(-x, 0, "stable")[:2].astype("int32")),
        A,
        function=lambda x: sw.top_k(x, 2, axis=0),
    ),
    *[
        Case(
            f"searchsorted {side}",
            lambda row, x, side=side: sw.searchsorted(row, x, side=side),
            lambda row, x, side=side: np.searchsorted(row, x, side),
            (ROW, np.concatenate([A[0], ROW])),
        )
        for side in ("left", "right")
    ],
    case(
        "searchsorted sorter",
        lambda row, x: np.searchsorted(row, x, sorter=np.argsort(row)),
        A[0],
        B,
        function=lambda row, x: sw.searchsorted(row, x, sorter=sw.argsort(row)),
    ),
    case("isin", np.isin, K, np.array([1, -3, 5, 2], "int32")),
    case(
        "isin inverted",
        lambda x: ~np.isin(x, [1, 2]),
        K,
        function=lambda x: sw.isin(x, np.array([1, 2], "int32"), invert=True),
    ),
    case("count_nonzero", lambda x: np.count_nonzero(x, 1), K // 4, function=lambda x: sw.count_nonzero(x, axis=1)),
]

CHOSEN = [
    case("gather", lambda x, i: x[i], A, PLACES % 8),
    case("gather reversed", lambda i, x: x[i], PLACES % 8, A, function=sw.gather),
    case("gather axis", lambda x, i: x[:, i], A, PLACES, function=lambda x, i: sw.gather(x, i, axis=1)),
    case(
        "gather batch",
        np.take_along_axis,
        A,
        BATCHED,
        function=lambda x, i: sw.gather(x, i, axis=1, batch_dims=1),
    ),
    case("take", lambda x, i: np.take(x, i, 1), A, PLACES[:, 0], function=lambda x, i: sw.take(x, i, axis=1)),
    case("take_along_axis", lambda x, i: np.take_along_axis(x, i, 1), A, BATCHED, function=sw.take_along_axis),
    case(
        "take_along_axis first",
        lambda x, i: np.take_along_axis(x, i, 0),
        A,
        K[:4] % 8,
        function=lambda x, i: sw.take_along_axis(x, i, axis=0),
    ),
    case("index rows", lambda x, i: x[i], A, PLACES % 8, function=lambda x, i: x[i]),
    case("index columns", lambda x, i: x[:, i], A, PLACES, function=lambda x, i: x[:, i]),
    case("index pairs", lambda x, i: x[i, i], A, IDS[:7], function=lambda x, i: x[i, i]),
    case(
        "index apart",
        lambda x, i: x[i, None, 1:5, i],
        floats(8, 8, 8),
        IDS % 8,
        function=lambda x, i: x[i, None, 1:5, i],
    ),
    case("index beside", lambda x, i: x[:, 1, i], floats(8, 8, 8), IDS % 8, function=lambda x, i: x[:, 1, i]),
    case("index last", lambda x, i: x[..., i], floats(8, 8, 8), IDS, function=lambda x, i: x[..., i]),
    case("index one", lambda x, i: x[i], A, np.array(3), function=lambda x, i: x[i]),
    *(
        case(f"index by {name}", lambda x, i: x[i], floats(200, 4), IDS.astype("int8"), function=function)
        for name, function in {"bytes": lambda x, i: x[i], "known bytes": lambda x, i: x[IDS.astype("int8")]}.items()
    ),
    case("index known", lambda x: x[[1, 5], ::2], A, function=lambda x: x[[1, 5], ::2]),
    case("one_hot", lambda i: np.eye(8, dtype="float32")[i], IDS % 8, function=lambda i: sw.one_hot(i, 8)),
    case(
        "one_hot of bytes",
        lambda i: np.eye(300, dtype="float32")[i],
        np.array([0, 255, 43], "uint8"),
        function=lambda i: sw.one_hot(i, 300),
    ),
    case(
        "one_hot first",
        lambda i: np.where(np.arange(8)[:, None] == i, 5, -1),
        IDS,
        function=lambda i: sw.one_hot(i, 8, 5, -1, axis=0, dtype="int32"),
    ),
]

PLACED = [
    case(
        "segment_sum",
        lambda x, i: _scatter(np.zeros((4, 16), "float32"), i, x, np.add),
        A,
        IDS,
        function=lambda x, i: sw.segment_sum(x, i, 4),
    ),
    case(
        "segment_max",
        lambda x, i: _scatter(np.full((8, 16), -np.inf, "float32"), i, x, np.maximum),
        A,
        IDS,
        function=lambda x, i: sw.segment_max(x, i, 8),
    ),
    case(
        "segment_min",
        lambda x, i: _scatter(np.full((8, 16), 2147483647, "int32"), i, x, np.minimum),
        K,
        IDS,
        function=lambda x, i: sw.segment_min(x, i, 8),
    ),
    case(
        "scatter_add",
        lambda x, u: _scatter(x, IDS % 8, u, np.add),
        A,
        B,
        function=lambda x, u: sw.scatter_add(x, IDS, u),
    ),
    case(
        "scatter_max",
        lambda x, u: _scatter(x, IDS % 8, u, np.maximum),
        A,
        B,
        function=lambda x, u: sw.scatter_max(x, IDS, u),
    ),
    case(
        "scatter_min",
        lambda x, u: _scatter(x, IDS % 8, u, np.minimum),
        A,
        B,
        function=lambda x, u: sw.scatter_min(x, IDS, u),
    ),
    case(
        "scatter_update",
        lambda x, i: _last(x, i, 5.0),
        A,
        PLACES[:, 0],
        function=lambda x, i: sw.scatter_update(x, i, 5.0, axis=1),
    ),
]


def _running(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    turned = np.flip(x, axis) if reverse else x
    total = np.cumsum(turned, axis, dtype=x.dtype)
    total = total - turned if exclusive else total
    return np.flip(total, axis) if reverse else total


RUNNING = [
    *[
        Case(
            f"cumsum {axis} {exclusive} {reverse}",
            lambda x, a=axis, e=exclusive, r=reverse: sw.cumsum(x, a, exclusive=e, reverse=r),
            lambda x, a=axis, e=exclusive, r=reverse: _running(x, a, e, r),
            (K,),
        )
        for axis in (0, 1)
        for exclusive in (False, True)
        for reverse in (False, True)
    ],
    case("cumprod", lambda x: np.cumprod(x, 1), P, function=lambda x: sw.cumprod(x, 1)),
    case("cumulative_sum", np.cumsum, A[0]),
    case(
        "cumulative_sum initial",
        lambda x: np.concatenate([np.zeros((8, 1), "float32"), np.cumsum(x, 1)], 1),
        A,
        function=lambda x: sw.cumulative_sum(x, axis=1, include_initial=True),
    ),
    case(
        "cumulative_prod initial",
        lambda x: np.concatenate([np.ones((1, 16), "float32"), np.cumprod(x, 0)], 0),
        P,
        function=lambda x: sw.cumulative_prod(x, axis=0, include_initial=True),
    ),
    case("diff", lambda x: np.diff(x, axis=0), A, function=lambda x: sw.diff(x, axis=0)),
    case("diff twice", lambda x: np.diff(x, 2), A, function=lambda x: sw.diff(x, n=2)),
    case(
        "diff edges",
        lambda x, y: np.diff(x, prepend=y, append=x),
        A,
        B,
        function=lambda x, y: sw.diff(x, prepend=y, append=x),
    ),
]

REPEATED = [
    case("repeat", lambda x: np.repeat(x, 2, 0), A, function=lambda x: sw.repeat(x, 2, axis=0)),
    case("repeat flat", lambda x: np.repeat(x, 3), A, function=lambda x: sw.repeat(x, 3)),
    case(
        "repeat each", lambda x: np.repeat(x, range(8), 0), A, function=lambda x: sw.repeat(x, list(range(8)), axis=0)
    ),
    case("tile", lambda x: np.tile(x, (2, 1, 3)), A, function=lambda x: sw.tile(x, (2, 1, 3))),
    case("tile short", lambda x: np.tile(x, 2), A, function=lambda x: sw.tile(x, (2,))),
    case("meshgrid", lambda x, y: tuple(np.meshgrid(x, y)), A[0], B[1], function=lambda x, y: tuple(sw.meshgrid(x, y))),
    case(
        "meshgrid ij",
        lambda x, y: tuple(np.meshgrid(x, y, indexing="ij")),
        A[0],
        B[1],
        function=lambda x, y: tuple(sw.meshgrid(x, y, indexing="ij")),
    ),
]


def _einsum(text: str, *values: Any) -> Case:
    return Case(
        f"einsum {text}", lambda *given: sw.einsum(text, *given), lambda *given: np.einsum(text, *given), values
    )


DIAGONALS = [
    _einsum("ii->i", floats(8, 8)),
    _einsum("ii", floats(8, 8)),
    _einsum("iij->j", floats(8, 8, 4)),
    _einsum("iii->i", floats(8, 8, 8)),
    _einsum("bii,bi->b", floats(4, 8, 8), floats(4, 8)),
]

CASES = [*POINTWISE, *ORDERED, *CHOSEN, *PLACED, *RUNNING, *REPEATED, *DIAGONALS]


@pytest.mark.every(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@EVERYWHERE
def test_as_numpy_computes_it(case: Case, styles: Sequence[str]) -> None:
    with np.errstate(all="ignore"):
        expected = case.expected(*case.arguments)
    check_everywhere(case.function, expected, case.arguments, styles)


@pytest.mark.parametrize(
    ("code", "error", "call"),
    [
        ("SW0540", TypeError, lambda: sw.nonzero(A)),
        *[
            ("SW0540", TypeError, lambda name=name: getattr(sw, f"unique_{name}")(A))
            for name in names("all counts inverse values")
        ],
        ("SW0540", TypeError, lambda: sw.function(lambda x, n: sw.repeat(x, n))(A[0], np.ones(16, "int32"))),
        ("SW0514", TypeError, lambda: sw.gather(A, B)),
        ("SW0504", ValueError, lambda: sw.gather(A, PLACES, axis=1, batch_dims=1)),
        ("SW0514", TypeError, lambda: sw.one_hot(A, 3)),
        ("SW0504", ValueError, lambda: sw.segment_sum(A, PLACES[:3, 0], 4)),
        ("SW0514", TypeError, lambda: sw.segment_sum(A, A[:, 0], 4)),
        ("SW0504", ValueError, lambda: sw.scatter_update(A, IDS[:2], A)),
        ("SW0510", ValueError, lambda: sw.top_k(A, 17)),
        ("SW0510", ValueError, lambda: sw.searchsorted(ROW, A, side="middle")),
        ("SW0510", ValueError, lambda: sw.searchsorted(A, A)),
        ("SW0510", ValueError, lambda: sw.cumulative_sum(A)),
        ("SW0510", ValueError, lambda: sw.take(A, PLACES[0])),
        ("SW0504", ValueError, lambda: sw.take_along_axis(A, PLACES[0])),
        ("SW0510", ValueError, lambda: sw.diff(A, n=-1)),
        ("SW0510", ValueError, lambda: sw.meshgrid(A[0], A[1], indexing="yx")),
        ("SW0504", ValueError, lambda: sw.meshgrid(A, A)),
        ("SW0511", ValueError, lambda: sw.einsum("ii->i", A)),
    ],
)
def test_mistakes_are_named(code: str, error: type[Exception], call: Any) -> None:
    with pytest.raises(error, match=code):
        call()


@pytest.mark.parametrize("spec", [None, ["x", None], [None, "x"]])
def test_truth_values_are_counted(spec: list[str | None] | None) -> None:
    hits = np.random.default_rng(0).random((8, 4)) < 0.4
    given = hits if spec is None else sw.relayout(hits, sw.Layout(spec, sw.Mesh(x=2)))
    for axis in (None, 0, 1):
        count, share = sw.sum(given, axis=axis), sw.mean(given, axis=axis)
        np.testing.assert_array_equal(count, np.sum(hits, axis=axis))
        np.testing.assert_allclose(share, np.mean(hits, axis=axis), rtol=1e-6)
        assert (count.dtype, share.dtype) == (sw.int32, sw.float32)
    np.testing.assert_array_equal(sw.cumulative_sum(given, axis=0), np.cumsum(hits, axis=0))
    assert sw.sum(given, dtype="float64").dtype == sw.float64
    with pytest.raises(TypeError, match=r"SW0506.*prod needs integer or float or complex elements, not i1"):
        sw.prod(given)


def test_arguments_of_gather_in_either_order() -> None:
    table, places = np.arange(5.0), np.array([4, 0])
    assert np.array_equal(sw.gather(places, table), [4.0, 0.0])
    assert np.array_equal(sw.gather(table, places), [4.0, 0.0])
    assert np.array_equal(sw.gather(np.array([7, 8]), np.array([1, 0])), [8, 7])  # two of whole numbers: params first


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal"])
def test_complex_numbers_have_no_order(name: str) -> None:
    z = np.ones(2, "complex64")
    with pytest.raises(TypeError, match=f"SW0506.*{name} needs boolean or integer or float elements, not c64"):
        getattr(sw, name)(z, z)
    assert getattr(sw, name)(np.array([True]), np.array([False])).shape == (1,)


@pytest.mark.parametrize("side", ["left", "right"])
def test_nan_belongs_behind_all_numbers(side: Any) -> None:
    row = np.array([-np.inf, -1, 2, 2, np.inf, np.nan, np.nan], "float32")
    values = np.array([np.nan, 2, np.inf, -np.inf, 0.5, -3], "float32")
    assert np.array_equal(sw.searchsorted(row, values, side=side), np.searchsorted(row, values, side))


@pytest.mark.parametrize("correction", [3, 3.5, 9])
def test_a_variance_of_no_count_is_nan(correction: float) -> None:
    rows = sw.relayout(A[:3], sw.Layout(["x"], sw.Mesh(x=3)))
    for array in (A[:3], rows):
        assert np.isnan(np.asarray(sw.var(array, axis=0, correction=correction))).all()
        assert np.isnan(np.asarray(sw.std(array, axis=0, correction=correction))).all()
    np.testing.assert_allclose(sw.var(rows, axis=0, correction=2.5), A[:3].var(0) * 6, rtol=1e-6)


def empty_rows(split: bool) -> sw.Array:
    return sw.relayout(np.ones((0, 3)), sw.Layout(["x"] if split else [], sw.Mesh(x=2)))


@pytest.mark.parametrize("split", [True, False])
def test_nothing_is_chosen_of_nothing(split: bool) -> None:
    nothing, none = empty_rows(split), np.zeros(0, "int64")
    assert nothing[none].shape == sw.take(nothing, none, axis=0).shape == (0, 3)
    assert sw.take(nothing, np.zeros((2, 0), int), axis=0).shape == (2, 0, 3)
    assert sw.gather(nothing, np.zeros((0, 4), int)).shape == (0, 4, 3)
    assert nothing[none, none].shape == (0,)
    assert sw.take_along_axis(nothing, np.zeros((0, 3), int), axis=0).shape == (0, 3)
    assert sw.grad(lambda x: sw.sum(x[none]))(nothing).shape == (0, 3)


@pytest.mark.parametrize(
    "choose",
    [
        lambda x: x[np.array([0])],
        lambda x: sw.take(x, np.array([0]), axis=0),
        lambda x: sw.take_along_axis(x, np.zeros((2, 3), int), axis=0),
    ],
)
def test_nothing_to_choose_from(choose: Any) -> None:
    with pytest.raises(IndexError, match=r"SW0514\]: dim 0 has no elements to choose from"):
        choose(empty_rows(False))
