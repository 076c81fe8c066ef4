"""What the array API standard's conformance suite found and tries, in small: extensions, special values, semantics."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw

from .cases import Case, floats, names
from .placing import check, place

NORM: Any = np.linalg.norm
A = floats(4, 8, 8)
Z = (floats(4, 8, 8) + 1j * floats(4, 8, 8)).astype("complex64")
H = A @ A.swapaxes(-1, -2) + 8 * np.eye(8, dtype="float32")
B = floats(4, 8, 4)
ROWS = floats(8, 3)


def _case(name: str, function: Callable[..., Any], expected: Callable[..., Any], *arguments: Any) -> Case:
    return Case(name, function, expected, arguments)


LINALG = [
    *[_case(name, getattr(sw.linalg, name), getattr(np.linalg, name), A) for name in names("det inv matrix_norm")],
    _case("inv complex", sw.linalg.inv, np.linalg.inv, Z),
    _case("solve", sw.linalg.solve, np.linalg.solve, H, B),
    _case("cholesky", sw.linalg.cholesky, np.linalg.cholesky, H),
    _case("slogdet", lambda x: tuple(sw.linalg.slogdet(x)), lambda x: tuple(np.linalg.slogdet(x)), A),
    _case("eigvalsh", sw.linalg.eigvalsh, np.linalg.eigvalsh, H),
    _case("svdvals", sw.linalg.svdvals, np.linalg.svdvals, B),
    _case("pinv", sw.linalg.pinv, np.linalg.pinv, B),
    _case("matrix_rank", sw.linalg.matrix_rank, lambda x: np.full(4, 8), A),
    _case("matrix_power", lambda x: sw.linalg.matrix_power(x, 3), lambda x: x @ x @ x, A),
    _case("trace", lambda x: sw.linalg.trace(x, offset=-2), lambda x: np.trace(x, -2, 1, 2), A),
    _case("diagonal", lambda x: sw.linalg.diagonal(x, offset=1), lambda x: np.diagonal(x, 1, 1, 2), B),
    _case("cross", lambda x, y: sw.linalg.cross(x, y), np.cross, ROWS, ROWS[::-1].copy()),
    _case("outer", sw.linalg.outer, np.outer, ROWS[:, 0], ROWS[:, 1]),
    _case("vecdot conj", sw.vecdot, np.vecdot, Z, Z[::-1].copy()),
    *[
        _case(f"norm {order}", lambda x, o=order: sw.linalg.vector_norm(x, axis=1, ord=o), expected, A)
        for order in (0, 1, 2, 3, -1, math.inf, -math.inf)
        for expected in [lambda x, o=order: NORM(x, o, axis=1)]
    ],
    *[
        _case(f"matrix norm {order}", lambda x, o=order: sw.linalg.matrix_norm(x, ord=o), expected, A)
        for order in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)
        for expected in [lambda x, o=order: NORM(x, o, axis=(1, 2))]
    ],
    _case("qr", lambda x: sw.matmul(*sw.linalg.qr(x)), lambda x: x, B),
    _case("qr complete", lambda x: sw.matmul(*sw.linalg.qr(x, mode="complete")), lambda x: x, B),
]


COMPLEX, REAL = "fft ifft fftn ifftn hfft irfftn", "fft rfft ihfft rfftn fftshift"
TRANSFORMS = [
    *[
        _case(name, getattr(sw.fft, name), getattr(np.fft, name), Z)
        for name in names("fft ifft fftn ifftn hfft irfftn")
    ],
    *[_case(name, getattr(sw.fft, name), getattr(np.fft, name), A) for name in names("fft rfft ihfft rfftn fftshift")],
    *[
        _case(
            f"{name} {norm}",
            lambda x, f=name, n=norm: getattr(sw.fft, f)(x, n=6, axis=1, norm=n),
            lambda x, f=name, n=norm: getattr(np.fft, f)(x, n=6, axis=1, norm=n),
            Z,
        )
        for name in names("fft ifft irfft hfft")
        for norm in names("backward ortho forward")
    ],
    _case("ifftshift", lambda x: sw.fft.ifftshift(x, axes=(0, 2)), lambda x: np.fft.ifftshift(x, (0, 2)), A),
]


@pytest.mark.parametrize("case", [*LINALG, *TRANSFORMS], ids=lambda case: case.name)
def test_the_extensions_compute_what_numpy_does(case: Case) -> None:
    expected = case.expected(*case.arguments)
    for arguments in (case.arguments, [place(array, "both") for array in case.arguments]):
        check(case.function(*arguments), expected, 1e-3)


def test_factors_fit_together() -> None:
    matrices = place(H, "first")
    values, vectors = sw.linalg.eigh(matrices)
    np.testing.assert_allclose(vectors * values[:, None, :] @ sw.matrix_transpose(vectors), H, atol=1e-4)
    left, sizes, right = sw.linalg.svd(place(B, "first"), full_matrices=False)
    np.testing.assert_allclose(left * sizes[:, None, :] @ right, B, atol=1e-4)
    assert sw.linalg.svd(B).U.shape == (4, 8, 8)
    q, r = sw.linalg.qr(place(B, "first"))
    np.testing.assert_allclose(sw.matrix_transpose(q) @ q, np.broadcast_to(np.eye(4), (4, 4, 4)), atol=1e-5)
    assert np.array_equal(np.asarray(r), np.triu(np.asarray(r)))


ODD = np.array([-0.0, 0.0, 1.0, -1.0, 2.5, -np.inf, np.inf, np.nan])
PLANE = np.array([complex(x, y) for x in (-0.0, 0.0, 1.5) for y in (0.0, -0.0, 2.0)])


@pytest.mark.parametrize("name", names("exp log sqrt sin cos tan tanh log1p expm1 square abs sign"))
def test_complex_functions(name: str) -> None:
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(PLANE)
    np.testing.assert_allclose(getattr(sw, name)(place(PLANE, "first")), expected, rtol=1e-12)


def test_expm1_at_infinity() -> None:
    found = sw.expm1(np.array([complex(math.inf, 0), complex(-math.inf, math.inf)]))
    assert found.tolist() == [complex(math.inf, 0), complex(-1, 0)]
    assert not np.signbit(sw.sign(np.array([-0.0]))[0])


@pytest.mark.parametrize("name", names("remainder copysign maximum minimum atan2 divide nextafter hypot"))
def test_signs_of_zeros_and_infinities(name: str) -> None:
    left, right = (part.ravel().copy() for part in np.meshgrid(ODD, ODD))
    with np.errstate(all="ignore"):
        expected = getattr(np, {"atan2": "arctan2"}.get(name, name))(left, right)
    found = np.asarray(getattr(sw, name)(place(left, "first"), place(right, "first")))
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    kept = ~np.isnan(expected)
    if name not in ("maximum", "minimum"):  # which zero is the larger one is left open
        assert np.array_equal(np.signbit(found[kept]), np.signbit(expected[kept]))


def test_a_constant_keeps_its_sign() -> None:
    x = place(np.ones(8), "first")
    assert [bool(np.asarray(sw.signbit(sw.copysign(x, zero)))[0]) for zero in (0.0, -0.0)] == [False, True]
    assert [bool(np.signbit(sw.asarray(zero))) for zero in (0.0, -0.0)] == [False, True]


def test_creation_is_exact() -> None:
    assert sw.asarray([1.1, 2**53 - 1], dtype="float64").tolist() == [1.1, 2**53 - 1]
    assert sw.asarray([2**40]).dtype == np.int64
    assert sw.linspace(0.1, 0.7, 7, dtype="float64")[-1] == 0.7
    assert sw.linspace(complex(0), 2j, 3).tolist() == [0, 1j, 2j]
    assert sw.eye(2, 3, k=2**40).tolist() == [[0, 0, 0]] * 2
    assert sw.tril(np.ones((2, 2)), k=2**40).tolist() == [[1, 1]] * 2
    assert sw.arange(5, 0, -1, dtype="uint8").tolist() == [5, 4, 3, 2, 1]
    with pytest.raises(ValueError, match="SW0510"):
        sw.asarray([1], copy=False)


def test_elements_and_operators() -> None:
    x = place(np.arange(32).reshape(8, 4), "both")
    assert int(x[3, -1]) == 15
    assert x[3, -1].shape == ()
    assert (1 << x)[0, 3] == 8
    assert (np.asarray(1024 >> x) == 1024 >> np.arange(32).reshape(8, 4)).all()
    y = x
    y += 1
    assert (int(y[0, 0]), int(x[0, 0])) == (1, 0)
    with pytest.raises(TypeError, match="an element cannot be assigned"):
        x[0, 0] = 1
    with pytest.raises(IndexError, match="SW0514"):
        x[8, 0]
    with pytest.raises(IndexError, match="SW0510"):
        sw.expand_dims(x, axis=4)
    with sw.GradientTape() as tape:
        z = place(ODD[:4], "first")
        tape.watch(z)
        one = z[2] * 3
    assert np.asarray(tape.gradient(one, z)).tolist() == [0, 0, 3, 0]


def test_inspection() -> None:
    info: Any = sw.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": None}
    assert info.default_dtypes()["indexing"] == sw.int32
    assert info.devices() == [info.default_device()] == ["cpu"]
    assert set(info.dtypes(kind=("bool", "unsigned integer"))) == {"bool", "uint8", "uint16", "uint32", "uint64"}
    assert sw.finfo(sw.complex64).dtype == sw.float32
    assert type(sw.finfo(sw.float32).eps) is float
    with pytest.raises(ValueError, match="SW0517"):
        info.dtypes(device="gpu")


def test_empty_tensors() -> None:
    empty = place(np.ones((0, 4), "float32"), "last")
    assert sw.copysign(empty, 0.0).shape == sw.remainder(empty, 2.0).shape == (0, 4)
    assert sw.linalg.inv(place(np.ones((0, 2, 2), "float32"), "first")).shape == (0, 2, 2)
    assert float(sw.sum(empty)) == float(sw.linalg.vector_norm(empty)) == 0
    # No planned buffers: NumPy would let windows reach beyond buffers without bytes.
    source = sw.function(lambda x: sw.sum(x * 2)).trace(empty).compile().source
    assert "arena" not in source


@pytest.mark.parametrize(
    ("code", "error", "call"),
    [
        ("SW0504", ValueError, lambda: sw.linalg.inv(B)),
        ("SW0506", TypeError, lambda: sw.linalg.det(np.ones((2, 2), "int32"))),
        ("SW0504", ValueError, lambda: sw.linalg.solve(A, np.ones((4, 3, 2), "float32"))),
        ("SW0504", ValueError, lambda: sw.linalg.cross(A, A)),
        ("SW0510", ValueError, lambda: sw.linalg.qr(A, mode="raw")),
        ("SW0510", ValueError, lambda: sw.linalg.matrix_norm(A, ord=3)),
        ("SW0510", ValueError, lambda: sw.fft.fft(Z, n=0)),
        ("SW0510", ValueError, lambda: sw.fft.fft(Z, norm="none")),
        ("SW0506", TypeError, lambda: sw.fft.rfft(Z)),
    ],
)
def test_mistakes_are_named(code: str, error: type[Exception], call: Any) -> None:
    with pytest.raises(error, match=code):
        call()


def test_the_page_lists_what_the_suite_skips() -> None:
    path = Path(__file__).parents[2] / "conformance" / "listing.py"
    listing: Any = module_from_spec(spec := spec_from_file_location("listing", path))
    spec.loader.exec_module(listing)
    assert listing.PAGE.read_text() == listing.page(), "run python tests/conformance/listing.py --write"
    assert len(listing.reasons()) > 2


@pytest.mark.parametrize(("one", "other"), [((3,), (1,)), ((2, 1), (2, 3)), ((3,), ()), ((0,), (1,))])
def test_what_vecdot_sums_over_does_not_broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"(?s)SW0504.*dim -1 is summed over, and not of the same size in both"):
        sw.vecdot(np.ones(one), np.ones(other))
    assert sw.vecdot(np.ones((2, 3)), np.ones((1, 3))).shape == (2,)


@pytest.mark.parametrize("name", ["isfinite", "isinf", "isnan"])
def test_parts_of_complex_numbers_may_be_infinite(name: str) -> None:
    parts = [0.0, 1.5, np.inf, -np.inf, np.nan]
    numbers = np.array([complex(one, other) for one in parts for other in (*parts, 2.0, -1.0, 0.5)])
    check(getattr(sw, name)(place(numbers, "both")), getattr(np, name)(numbers))
    check(sw.function(getattr(sw, name))(place(numbers, "both")), getattr(np, name)(numbers))


@pytest.mark.parametrize(
    ("shift", "axis"), [((1, -2), (0, 1)), (3, (0, 1)), ((2,), (1,)), ((1, 1), (0, 0)), (5, None), (-1, 1)]
)
def test_several_dims_are_rolled(shift: Any, axis: Any) -> None:
    whole = floats(8, 4)
    expected = np.roll(whole, shift, axis)
    check(sw.roll(place(whole, "both"), shift, axis=axis), expected)
    check(sw.function(lambda x: sw.roll(x, shift, axis=axis))(place(whole, "first")), expected)
    check(sw.roll(whole[:0], shift, axis=axis), whole[:0])


def test_each_dim_has_its_shift() -> None:
    with pytest.raises(ValueError, match=r"SW0510.*roll: 3 shifts for 2 dims"):
        sw.roll(floats(8, 4), (1, 2, 3), axis=(0, 1))
    with pytest.raises(TypeError, match=r"SW0510.*roll: axis cannot be \('x',\)"):
        sw.roll(floats(8, 4), 1, axis=("x",))  # pyright: ignore


def test_both_parts_of_complex_numbers_are_rounded() -> None:
    numbers = np.array([0.5 + 1.5j, -2.5 - 0.4j, 1.2 + 3.7j, 4.5 - 5.5j])
    check(sw.round(place(numbers, "first")), np.round(numbers))
