"""NumPy's functions of distributed and traced arrays: as NumPy computes them and still distributed, or refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.frontends.functions.naming.numpy_names import ROWS

from .cases import booleans, floats, integers, positives
from .placing import EVERYWHERE, check, place

NUMPY: Any = np
X, Y, SQUARE = floats(8, 4), floats(8, 4), floats(4, 4)
POSITIVE = SQUARE @ SQUARE.T + 4 * np.eye(4, dtype="float32")
COUNTS, TRUTHS = integers(8, 4), booleans(8, 4)
Z = (floats(8, 4) + 1j * floats(8, 4)).astype("complex64")
WHERE = np.argsort(X, axis=0)
SORTED = np.sort(positives(8))


def _list(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: tuple(function(*args))


CASES: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    ("all", lambda x: np.all(x, axis=0), (TRUTHS,)),
    ("allclose", lambda x, y: np.allclose(x, y), (X, Y)),
    ("allclose", lambda x, y: np.allclose(x, y, atol=10), (X, Y)),
    ("amax", lambda x: np.amax(x, 1), (X,)),
    ("amin", lambda x: np.amin(x, axis=0, keepdims=True), (X,)),
    ("any", lambda x: np.any(x, -1), (TRUTHS,)),
    ("append", lambda x, y: np.append(x, y), (X, Y)),
    ("append", lambda x, y: np.append(x, y, axis=1), (X, Y)),
    ("argmax", lambda x: np.argmax(x, 0), (X,)),
    ("argmin", lambda x: np.argmin(x), (X,)),
    ("argsort", lambda x: np.argsort(x, axis=0), (X,)),
    ("argsort", lambda x: np.argsort(x, axis=None), (X,)),
    ("around", lambda x: np.around(x), (X,)),
    ("array_equal", lambda x, y: np.array_equal(x, y), (X, Y)),
    ("array_equal", lambda x: np.array_equal(x, x), (X,)),
    ("astype", lambda x: NUMPY.astype(x, np.float16), (X,)),
    ("atleast_1d", lambda x: np.atleast_1d(np.sum(x)), (X,)),
    ("atleast_2d", lambda x: np.atleast_2d(x), (SORTED,)),
    ("broadcast_arrays", _list(lambda x, y: np.broadcast_arrays(x, y)), (X, Y[:1])),
    ("broadcast_to", lambda x: np.broadcast_to(x, (3, 8, 4)), (X,)),
    ("clip", lambda x: np.clip(x, -0.5, 0.5), (X,)),
    ("clip", lambda x: np.clip(x, min=-0.5), (X,)),
    ("concatenate", lambda x, y: np.concatenate([x, y], 1), (X, Y)),
    ("concatenate", lambda x, y: np.concatenate((x, y), axis=None), (X, Y)),
    ("count_nonzero", lambda x: np.count_nonzero(x, axis=0), (TRUTHS,)),
    ("cross", lambda x, y: np.cross(x, y), (X[:, :3].copy(), Y[:, :3].copy())),
    ("cumprod", lambda x: np.cumprod(x), (X,)),
    ("cumsum", lambda x: np.cumsum(x), (X,)),
    ("cumsum", lambda x: np.cumsum(x, 1, np.float64), (X,)),
    ("cumulative_prod", lambda x: NUMPY.cumulative_prod(x, axis=0), (X,)),
    ("cumulative_sum", lambda x: NUMPY.cumulative_sum(x, axis=1, include_initial=True), (X,)),
    ("diagonal", lambda x: np.diagonal(x, 1), (X,)),
    ("diff", lambda x: np.diff(x, n=2, axis=0), (X,)),
    ("dot", lambda x, y: np.dot(x, y), (X, SQUARE)),
    ("dot", lambda x, y: np.dot(x, y), (X, SQUARE[0])),
    ("dot", lambda x: np.dot(x, 2), (X,)),
    ("dot", lambda x, y: np.dot(x, y), (X, floats(2, 4, 3))),
    ("einsum", lambda x, y: np.einsum("ij,kj->ik", x, y), (X, Y)),
    ("expand_dims", lambda x: np.expand_dims(x, 1), (X,)),
    ("fft.fft", lambda x: np.fft.fft(x, norm="ortho"), (X,)),
    ("fft.fftn", lambda x: np.fft.fftn(x), (X,)),
    ("fft.fftshift", lambda x: np.fft.fftshift(x), (X,)),
    ("fft.hfft", lambda x: np.fft.hfft(x), (Z,)),
    ("fft.ifft", lambda x: np.fft.ifft(x, 4, 0), (Z,)),
    ("fft.ifftn", lambda x: np.fft.ifftn(x, axes=(0,)), (Z,)),
    ("fft.ifftshift", lambda x: np.fft.ifftshift(x, axes=0), (X,)),
    ("fft.ihfft", lambda x: np.fft.ihfft(x), (X,)),
    ("fft.irfft", lambda x: np.fft.irfft(x), (Z,)),
    ("fft.irfftn", lambda x: np.fft.irfftn(x), (Z,)),
    ("fft.rfft", lambda x: np.fft.rfft(x), (X,)),
    ("fft.rfftn", lambda x: np.fft.rfftn(x), (X,)),
    ("flip", lambda x: np.flip(x), (X,)),
    ("fliplr", lambda x: np.fliplr(x), (X,)),
    ("flipud", lambda x: np.flipud(x), (X,)),
    ("full_like", lambda x: np.full_like(x, 3), (X,)),
    ("hstack", lambda x, y: np.hstack((x, y)), (X, Y)),
    ("hstack", lambda x, y: np.hstack((x, y)), (X[0], Y[0])),
    ("imag", lambda x: np.imag(x), (Z,)),
    ("inner", lambda x, y: np.inner(x, y), (X, Y)),
    ("inner", lambda x: np.inner(x, 3), (X,)),
    ("isclose", lambda x, y: np.isclose(x, y, rtol=0.5), (X, Y)),
    ("isclose", lambda x: np.isclose(x, x, equal_nan=True), (np.array([[1.0, np.nan, -np.inf]] * 4),)),
    ("isin", lambda x, y: np.isin(x, y), (COUNTS, COUNTS[:2])),
    ("linalg.cholesky", lambda x: np.linalg.cholesky(x), (POSITIVE,)),
    ("linalg.cond", lambda x: np.linalg.cond(x), (X,)),
    ("linalg.cond", lambda x: np.linalg.cond(x, -2), (X,)),
    ("linalg.cond", lambda x: np.linalg.cond(x, "fro"), (POSITIVE,)),
    ("linalg.cross", lambda x, y: NUMPY.linalg.cross(x, y), (X[:, :3].copy(), Y[:, :3].copy())),
    ("linalg.det", lambda x: np.linalg.det(x), (SQUARE,)),
    ("linalg.diagonal", lambda x: NUMPY.linalg.diagonal(x, offset=1), (floats(2, 4, 4),)),
    ("linalg.eigh", lambda x: np.linalg.eigh(x)[0], (POSITIVE,)),
    ("linalg.eigvalsh", lambda x: np.linalg.eigvalsh(x), (POSITIVE,)),
    ("linalg.inv", lambda x: np.linalg.inv(x), (POSITIVE,)),
    ("linalg.matmul", lambda x, y: NUMPY.linalg.matmul(x, y), (X, SQUARE)),
    ("linalg.matrix_norm", lambda x: NUMPY.linalg.matrix_norm(x, ord=1), (X,)),
    ("linalg.matrix_power", lambda x: np.linalg.matrix_power(x, 3), (SQUARE,)),
    ("linalg.matrix_rank", lambda x: np.linalg.matrix_rank(x), (X,)),
    ("linalg.matrix_transpose", lambda x: NUMPY.linalg.matrix_transpose(x), (X,)),
    ("linalg.norm", lambda x: np.linalg.norm(x), (X,)),
    ("linalg.norm", lambda x: np.linalg.norm(x, axis=1), (X,)),
    ("linalg.norm", lambda x: np.linalg.norm(x, 1, keepdims=True), (X,)),
    ("linalg.norm", lambda x: np.linalg.norm(x, np.inf), (SORTED,)),
    ("linalg.norm", lambda x: np.linalg.norm(x, "nuc", axis=(-2, -1)), (floats(2, 4, 4),)),
    ("linalg.outer", lambda x, y: NUMPY.linalg.outer(x, y), (SORTED, SORTED)),
    ("linalg.pinv", lambda x: np.linalg.pinv(x), (X,)),
    ("linalg.qr", lambda x: np.matmul(*np.linalg.qr(x)), (X,)),
    ("linalg.slogdet", _list(lambda x: np.linalg.slogdet(x)), (SQUARE,)),
    ("linalg.solve", lambda x, y: np.linalg.solve(x, y), (POSITIVE, SQUARE)),
    ("linalg.svd", lambda x: np.linalg.svd(x, full_matrices=False)[1], (X,)),
    ("linalg.svdvals", lambda x: NUMPY.linalg.svdvals(x), (X,)),
    ("linalg.tensordot", lambda x, y: NUMPY.linalg.tensordot(x, y, axes=1), (X, SQUARE)),
    ("linalg.trace", lambda x: NUMPY.linalg.trace(x), (floats(2, 4, 4),)),
    ("linalg.vecdot", lambda x, y: NUMPY.linalg.vecdot(x, y), (Z, Z)),
    ("linalg.vector_norm", lambda x: NUMPY.linalg.vector_norm(x, axis=0, ord=3), (X,)),
    ("matrix_transpose", lambda x: NUMPY.matrix_transpose(x), (X,)),
    ("max", lambda x: np.max(x), (X,)),
    ("mean", lambda x: np.mean(x, axis=(0, 1), keepdims=True), (X,)),
    ("meshgrid", _list(lambda x, y: np.meshgrid(x, y, indexing="ij")), (X[0], Y[:, 0].copy())),
    ("min", lambda x: np.min(x, axis=-1), (X,)),
    ("moveaxis", lambda x: np.moveaxis(x, 0, 1), (X,)),
    ("ones_like", lambda x: np.ones_like(x, dtype=np.int32), (X,)),
    ("outer", lambda x, y: np.outer(x, y), (X, SORTED)),
    ("pad", lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=3), (X,)),
    ("pad", lambda x: np.pad(x, 1, mode="constant"), (X,)),
    ("prod", lambda x: np.prod(x, axis=0), (X,)),
    ("ptp", lambda x: np.ptp(x, axis=0), (X,)),
    ("ravel", lambda x: np.ravel(x), (X,)),
    ("real", lambda x: np.real(x), (Z,)),
    ("repeat", lambda x: np.repeat(x, 2), (X,)),
    ("repeat", lambda x: np.repeat(x, 3, axis=1), (X,)),
    ("reshape", lambda x: np.reshape(x, (4, -1)), (X,)),
    ("roll", lambda x: np.roll(x, 3), (X,)),
    ("roll", lambda x: np.roll(x, 1, axis=0), (X,)),
    ("round", lambda x: np.round(x), (X,)),
    ("searchsorted", lambda x, y: np.searchsorted(x, y, side="right"), (SORTED, X)),
    ("sort", lambda x: np.sort(x, 0), (X,)),
    ("sort", lambda x: np.sort(x, axis=None), (X,)),
    ("split", _list(lambda x: np.split(x, 2, axis=1)), (X,)),
    ("split", _list(lambda x: np.split(x, [3, 5])), (X,)),
    ("squeeze", lambda x: np.squeeze(x), (X[:, None],)),
    ("squeeze", lambda x: np.squeeze(x, axis=1), (X[:, None],)),
    ("stack", lambda x, y: np.stack([x, y], axis=1), (X, Y)),
    ("std", lambda x: np.std(x, axis=0, ddof=1), (X,)),
    ("std", lambda x: np.std(x), (X,)),
    ("sum", lambda x: np.sum(x, axis=1, keepdims=True), (X,)),
    ("sum", lambda x: np.sum(x, 0, np.float64, None), (X,)),
    ("swapaxes", lambda x: np.swapaxes(x, 0, -1), (floats(2, 4, 8),)),
    ("take", lambda x: np.take(x, [5, 1]), (X,)),
    ("take", lambda x: np.take(x, [3, 1], axis=1), (X,)),
    ("take_along_axis", lambda x, y: np.take_along_axis(x, y, axis=0), (X, WHERE)),
    ("tensordot", lambda x, y: np.tensordot(x, y, axes=([1], [1])), (X, Y)),
    ("tile", lambda x: np.tile(x, 2), (X,)),
    ("tile", lambda x: np.tile(x, (2, 1, 3)), (X,)),
    ("trace", lambda x: np.trace(x, 1), (floats(4, 4, 8),)),
    ("transpose", lambda x: np.transpose(x), (floats(2, 4, 8),)),
    ("transpose", lambda x: np.transpose(x, (2, 0, 1)), (floats(2, 4, 8),)),
    ("tril", lambda x: np.tril(x, -1), (X,)),
    ("triu", lambda x: np.triu(x), (X,)),
    ("unstack", _list(lambda x: NUMPY.unstack(x, axis=1)), (X,)),
    ("var", lambda x: np.var(x, axis=-1, keepdims=True), (X,)),
    ("vdot", lambda x, y: np.vdot(x, y), (Z, Z[::-1].copy())),
    ("vstack", lambda x, y: np.vstack([x, y]), (X, Y)),
    ("vstack", lambda x, y: np.vstack([x, y]), (X[0], Y[0])),
    ("where", lambda x, y: np.where(x > 0, x, y), (X, Y)),
    ("where", lambda x, y: np.where(x, 1.0, y), (TRUTHS, X)),
    ("zeros_like", lambda x: np.zeros_like(x), (X,)),
]

WITHOUT_VALUES = ["empty_like", "result_type"]
"""Rows whose results are no values to compare; the tests below have them."""

DECIDING = ["allclose", "array_equal"]
"""Those that give Python a truth value, which traced functions have not."""


def test_every_row_has_a_case() -> None:
    assert {name for name, _, _ in CASES} | set(WITHOUT_VALUES) == set(ROWS)


@pytest.mark.every(2)
@pytest.mark.parametrize(("name", "function", "arrays"), CASES, ids=[name for name, _, _ in CASES])
@EVERYWHERE
def test_results_are_those_of_numpy_and_stay_distributed(
    name: str, function: Callable[..., Any], arrays: tuple[Any, ...], styles: Sequence[str]
) -> None:
    expected = function(*arrays)
    for style in styles:
        found = function(*[place(array, style) for array in arrays])
        if name in DECIDING:
            assert found is bool(expected)
            continue
        check(found, expected, 1e-4)
        assert all(isinstance(part, sw.DTensor) for part in (found if isinstance(found, tuple) else (found,)))
    if name not in DECIDING:
        check(sw.function(function)(*[place(array, "first") for array in arrays]), expected, 1e-4)


def test_what_is_compared_is_brought_together() -> None:
    whole = floats(128, 256)  # too large to be replicated unasked
    x = place(whole, "both")
    elsewhere = sw.relayout(whole, sw.Layout([None, "z"], sw.Mesh(z=2)))
    for one, other in ((x, whole), (whole, x), (x, place(whole, "together")), (x, elsewhere), (elsewhere, x)):
        assert np.array_equal(one, other)
        assert np.allclose(one, other)
        assert not np.array_equal(one + 1, other)
        assert not np.allclose(one, other + 0.1)
    assert not np.array_equal(x, whole[:64])
    assert np.array_equal(np.isclose(x, whole[0]), np.isclose(whole, whole[0]))
    assert np.isclose(x, whole).layout == x.layout
    assert np.array_equal(np.isclose(x, 0.3, 0.5), np.isclose(whole, 0.3, 0.5))
    assert np.allclose(place(np.full(8, 0.1, "float32"), "first"), 0.1, rtol=1e-7)  # a number is no float64
    assert not np.allclose(place(np.full(8, 0.1, "float32"), "first"), np.float64(0.1), rtol=1e-9, atol=0)


def test_what_looks_at_no_element_asks_for_none() -> None:
    x = place(X, "both")
    assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1)) == ((8, 4), 2, 32, 4)
    assert np.iscomplexobj(place(Z, "both"))
    assert np.isrealobj(x)
    assert np.result_type(x, np.float64) == np.float64
    assert np.empty_like(x).layout == x.layout
    assert np.array_equal(sw.function(lambda x: x * np.shape(x)[0] * np.ndim(x))(x), X * 16)


def test_a_variable_without_a_layout_is_an_array() -> None:
    plain, distributed = sw.Variable(SQUARE), sw.Variable(place(SQUARE, "both"))
    assert np.array_equal(np.unique(plain), np.unique(SQUARE))
    assert np.array_equal(np.median(plain, axis=0), np.median(SQUARE, axis=0))
    assert isinstance(np.sum(plain), sw.Tensor)
    for call in (lambda: np.unique(distributed), lambda: np.interp(plain, plain, distributed)):
        with pytest.raises(TypeError, match="SW0503"):
            call()
    with pytest.raises(TypeError, match="SW0503"):
        sw.function(lambda: np.unique(plain))()


def _refused(function: Callable[[Any], Any]) -> list[str]:
    texts: list[str] = []
    for call in (lambda: function(place(X, "both")), lambda: sw.function(function)(place(X, "both"))):
        with pytest.raises(TypeError) as caught:
            call()
        diagnostic = caught.value.diagnostics[0]
        assert diagnostic.code == "SW0503"
        texts += [f"{diagnostic.message}; {diagnostic.help}"]
    assert texts[0] == texts[1]
    return texts[0]


OUTSIDE = ", or, outside of traced functions, numpy.asarray(x) for each array, which gathers it"


@pytest.mark.parametrize(
    ("function", "message", "instead"),
    [
        (
            lambda x: np.median(x),
            "numpy.median does not work on distributed and traced arrays",
            "functions of shardwright",
        ),
        (
            lambda x: np.linalg.eig(x),
            "numpy.linalg.eig does not work on distributed and traced arrays",
            "functions of shardwright",
        ),
        (
            lambda x: np.dstack([x, x]),
            "numpy.dstack does not work on distributed and traced arrays",
            "shardwright.concat",
        ),
        (
            lambda x: np.sum(x, where=x > 0),
            "numpy.sum does not work on distributed and traced arrays with these arguments",
            "shardwright.sum",
        ),
        (
            lambda x: np.round(x, 2),
            "numpy.round does not work on distributed and traced arrays with these arguments",
            "shardwright.round",
        ),
        (
            lambda x: np.ravel(x, order="F"),
            "numpy.ravel does not work on distributed and traced arrays with these arguments",
            "functions of shardwright",
        ),
        (
            lambda x: np.linalg.norm(x, "fro", axis=(1, 0)),
            "numpy.linalg.norm does not work on distributed and traced arrays with these arguments",
            "shardwright.linalg.vector_norm",
        ),
        (
            lambda x: np.save("/dev/null", x),
            "numpy.save does not work on distributed and traced arrays",
            "shardwright.save",
        ),
        (
            lambda x: np.array2string(x),
            "numpy.array2string does not work on distributed and traced arrays",
            "functions of shardwright",
        ),
    ],
)
def test_what_cannot_stay_distributed_is_refused(function: Callable[[Any], Any], message: str, instead: str) -> None:
    assert _refused(function) == f"{message}; write {instead} in its place{OUTSIDE}"
