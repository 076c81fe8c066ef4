"""Gradients of what LAPACK's factors give, against central differences in float64 and closed forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import chlo

from .instances import differences

linalg = sw.linalg
_random = np.random.default_rng(17)


def _matrices(*shape: int) -> np.ndarray[Any, Any]:
    return _random.normal(size=shape) + 2 * np.eye(*shape[-2:])


def _complex(*shape: int) -> np.ndarray[Any, Any]:
    return _matrices(*shape) + 1j * _random.normal(size=shape)


def _weighed(*values: Any) -> Any:
    """A sum of real and imaginary parts, each element with a weight of its own."""
    total: Any = 0.0
    for place, value in enumerate(values):
        parts = (sw.real(value), sw.imag(value)) if value.dtype.kind == "c" else (value,)
        for turn, part in enumerate(parts):
            weights = np.cos(np.arange(float(part.size)) * (place + 1.3) + turn).reshape(part.shape)
            total = total + sw.sum(part * weights)
    return total


def _power(vectors: Any, scales: Any, others: Any) -> Any:
    """What does not depend on the angles of complex vectors: a product with a function of the values in the middle."""
    return (vectors * sw.expand_dims(sw.sin(scales), axis=-2)) @ others


def _adjoint(x: Any) -> Any:
    return sw.conj(sw.matrix_transpose(x)) if x.dtype.kind == "c" else sw.matrix_transpose(x)


def _eigen(x: Any) -> Any:
    values, vectors = linalg.eigh(x)
    return _weighed(_power(vectors, values, _adjoint(vectors)), values)


def _svd(x: Any, *, full: bool = False) -> Any:
    left, values, right = linalg.svd(x, full_matrices=full)
    return _weighed(_power(left, values, right), values)


REAL: dict[str, tuple[Callable[..., Any], Sequence[np.ndarray[Any, Any]]]] = {
    "det": (lambda x: _weighed(linalg.det(x)), [_matrices(2, 3, 3)]),
    "slogdet": (lambda x: _weighed(*linalg.slogdet(x)), [_matrices(2, 3, 3)]),
    "inv": (lambda x: _weighed(linalg.inv(x)), [_matrices(2, 3, 3)]),
    "solve": (lambda x, y: _weighed(linalg.solve(x, y)), [_matrices(2, 3, 3), _matrices(2, 3, 2)]),
    "solve one": (lambda x, y: _weighed(linalg.solve(x, y)), [_matrices(3, 3), _matrices(2, 3, 2)]),
    "solve for one": (lambda x, y: _weighed(linalg.solve(x, y)), [_matrices(2, 3, 3), _matrices(3, 2)]),
    "solve a vector": (lambda x, y: _weighed(linalg.solve(x, y)), [_matrices(2, 3, 3), _matrices(1, 3)[0]]),
    "qr": (lambda x: _weighed(*linalg.qr(x)), [_matrices(2, 3, 3)]),
    "qr tall": (lambda x: _weighed(*linalg.qr(x)), [_matrices(2, 4, 3)]),
    "qr wide": (lambda x: _weighed(*linalg.qr(x)), [_matrices(2, 3, 5)]),
    "qr columns": (lambda x: _weighed(linalg.qr(x).Q), [_matrices(2, 3, 5)]),
    "qr triangle": (lambda x: _weighed(linalg.qr(x).R), [_matrices(2, 4, 3)]),
    "qr complete": (lambda x: _weighed(*linalg.qr(x, mode="complete")), [_matrices(2, 3, 4)]),
    "qr complete triangle": (lambda x: _weighed(linalg.qr(x, mode="complete").R), [_matrices(4, 3)]),
    "eigh": (_eigen, [_matrices(2, 3, 3)]),
    "eigh vectors": (lambda x: _weighed(linalg.eigh(x).eigenvectors), [_matrices(2, 3, 3)]),
    "eigvalsh": (lambda x: _weighed(linalg.eigvalsh(x)), [_matrices(2, 3, 3)]),
    "svd": (_svd, [_matrices(2, 3, 3)]),
    "svd tall": (lambda x: _weighed(*linalg.svd(x, full_matrices=False)), [_matrices(2, 4, 3)]),
    "svd wide": (lambda x: _weighed(*linalg.svd(x, full_matrices=False)), [_matrices(2, 3, 4)]),
    "svd left": (lambda x: _weighed(linalg.svd(x, full_matrices=False).U), [_matrices(4, 3)]),
    "svd right": (lambda x: _weighed(linalg.svd(x, full_matrices=False).Vh), [_matrices(3, 4)]),
    "svd full": (lambda x: _weighed(*linalg.svd(x)), [_matrices(2, 3, 3)]),
    "svd full left": (lambda x: _weighed(*linalg.svd(x)[:2]), [_matrices(3, 4)]),
    "svdvals": (lambda x: _weighed(linalg.svdvals(x)), [_matrices(2, 3, 4)]),
    "pinv": (lambda x: _weighed(linalg.pinv(x)), [_matrices(2, 4, 3)]),
    "pinv wide": (lambda x: _weighed(linalg.pinv(x)), [_matrices(2, 3, 4)]),
    "matrix_power": (lambda x: _weighed(linalg.matrix_power(x, -3)), [_matrices(2, 3, 3)]),
    **{
        f"matrix_norm {order}": (
            lambda x, order=order: _weighed(linalg.matrix_norm(x, ord=order)),
            [_matrices(2, 3, 4)],
        )
        for order in ("fro", "nuc", 2, -2, 1)
    },
    "cond": (lambda x: _weighed(np.linalg.cond(x)), [_matrices(2, 3, 3)]),
    "cholesky": (lambda x: _weighed(linalg.cholesky(x @ sw.matrix_transpose(x))), [_matrices(2, 3, 3)]),
}

COMPLEX: dict[str, tuple[Callable[..., Any], Sequence[np.ndarray[Any, Any]]]] = {
    "det": (lambda x: _weighed(linalg.det(x)), [_complex(2, 3, 3)]),
    "slogdet": (lambda x: _weighed(*linalg.slogdet(x)), [_complex(2, 3, 3)]),
    "slogdet sign": (lambda x: _weighed(linalg.slogdet(x).sign), [_complex(3, 3)]),
    "slogdet size": (lambda x: _weighed(linalg.slogdet(x).logabsdet), [_complex(3, 3)]),
    "inv": (lambda x: _weighed(linalg.inv(x)), [_complex(2, 3, 3)]),
    "solve": (lambda x, y: _weighed(linalg.solve(x, y)), [_complex(2, 3, 3), _complex(2, 3, 2)]),
    "qr": (lambda x: _weighed(*linalg.qr(x)), [_complex(2, 3, 3)]),
    "qr tall": (lambda x: _weighed(*linalg.qr(x)), [_complex(2, 4, 3)]),
    "qr wide": (lambda x: _weighed(*linalg.qr(x)), [_complex(2, 3, 5)]),
    "eigh": (_eigen, [_complex(2, 3, 3)]),
    "eigvalsh": (lambda x: _weighed(linalg.eigvalsh(x)), [_complex(2, 3, 3)]),
    "svd": (_svd, [_complex(2, 3, 3)]),
    "svd tall": (_svd, [_complex(2, 4, 3)]),
    "svd wide": (_svd, [_complex(2, 3, 4)]),
    "svdvals": (lambda x: _weighed(linalg.svdvals(x)), [_complex(2, 3, 4)]),
    "pinv": (lambda x: _weighed(linalg.pinv(x)), [_complex(2, 4, 3)]),
    "matrix_norm": (lambda x: _weighed(linalg.matrix_norm(x, ord="nuc")), [_complex(2, 3, 4)]),
    "cholesky": (lambda x: _weighed(linalg.cholesky(x @ _adjoint(x))), [_complex(2, 3, 3)]),
}

CASES = [
    *(pytest.param(*case, id=name) for name, case in REAL.items()),
    *(pytest.param(*case, id=f"complex {name}") for name, case in COMPLEX.items()),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_against_differences(function: Callable[..., Any], arguments: Sequence[np.ndarray[Any, Any]]) -> None:
    value, places = sw.function(function), tuple(range(len(arguments)))
    gradients = sw.function(sw.grad(function, argnums=places))(*arguments)
    for place, gradient in enumerate(gradients):
        np.testing.assert_allclose(gradient, differences(value, arguments, place), rtol=2e-5, atol=1e-6)


@pytest.mark.every(7)
@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_second_derivatives(function: Callable[..., Any], arguments: Sequence[np.ndarray[Any, Any]]) -> None:
    """The gradient of a weighted sum of a gradient, which takes the rules of what the first rule wrote."""

    def slope(*arguments: Any) -> Any:
        return _weighed(*sw.grad(function, argnums=tuple(range(len(arguments))))(*arguments))

    value = sw.function(slope)
    for place in range(len(arguments)):
        expected = differences(value, arguments, place)
        np.testing.assert_allclose(sw.grad(slope, argnums=place)(*arguments), expected, rtol=1e-4, atol=1e-5)


MESH = sw.Mesh(x=2, y=2)


@pytest.mark.every(9)
@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_of_layouts_rows_and_tapes(function: Callable[..., Any], arguments: Sequence[np.ndarray[Any, Any]]) -> None:
    """Rows of `vmap`, split over devices or not, have the gradients of each, and tapes see the same."""
    given = [np.stack([x, 1.3 * x]) for x in arguments]
    places = tuple(range(len(given)))
    by_row = [sw.grad(function, argnums=places)(*row) for row in zip(*given, strict=True)]
    rows = lambda *arguments: sw.sum(sw.vmap(function)(*arguments))  # noqa: E731
    split = [sw.relayout(x, sw.Layout(["x", *[None] * (x.ndim - 1)], MESH)) for x in given]
    found = [sw.grad(rows, argnums=places)(*given), sw.grad(rows, argnums=places)(*split)]
    with sw.GradientTape() as tape:
        for x in split:
            tape.watch(x)
        loss = rows(*split)
    found.append(tape.gradient(loss, split))
    for gradients in found:
        for gradient, *due in zip(gradients, *by_row, strict=True):
            np.testing.assert_allclose(np.asarray(gradient), np.stack(due), rtol=1e-9, atol=1e-9)


@pytest.mark.every(3)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("name", ["det", "slogdet", "inv", "solve", "qr tall", "eigh", "svd", "svdvals", "pinv"])
def test_of_32_bits(name: str, dtype: str) -> None:
    function, arguments = (REAL if dtype == "float32" else COMPLEX)[name]
    places = tuple(range(len(arguments)))
    single = sw.grad(function, argnums=places)(*(x.astype(dtype) for x in arguments))
    for gradient, due in zip(single, sw.grad(function, argnums=places)(*arguments), strict=True):
        assert gradient.dtype == dtype
        np.testing.assert_allclose(gradient, due, rtol=2e-3, atol=2e-3 * np.abs(due).max())


def test_forward_derivatives() -> None:
    """`d inv(A) = -inv(A) dA inv(A)`, `d log|det A| = trace(inv(A) dA)`."""
    x, along = _matrices(3, 3), _matrices(3, 3)
    inverse = np.linalg.inv(x)
    np.testing.assert_allclose(sw.jvp(linalg.inv, (x,), (along,))[1], -inverse @ along @ inverse)
    np.testing.assert_allclose(
        sw.jvp(lambda x: linalg.slogdet(x).logabsdet, (x,), (along,))[1], np.trace(inverse @ along)
    )


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_determinants_of_singular_matrices(rank: int) -> None:
    """They change by the cofactors, which are signed determinants of what is left without a row and a column."""
    x = _random.normal(size=(3, rank)) @ _random.normal(size=(rank, 3))
    due = [[(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(sw.grad(linalg.det)(x), due, atol=1e-12)


@pytest.mark.parametrize("size", [0, 1])
def test_of_hardly_any_elements(size: int) -> None:
    x = np.full((2, size, size), 4.0)
    np.testing.assert_allclose(sw.grad(lambda x: sw.sum(linalg.det(x)))(x), np.ones_like(x))
    np.testing.assert_allclose(sw.grad(lambda x: sw.sum(linalg.inv(x)))(x), -np.ones_like(x) / 16)
    np.testing.assert_allclose(sw.grad(lambda x: sw.sum(linalg.svdvals(x)))(x), np.ones_like(x))
    np.testing.assert_allclose(sw.grad(lambda x: sw.sum(linalg.qr(x).R ** 2))(x), 2 * x)


def test_equal_values() -> None:
    """Eigenvalues, norms and pseudoinverses change by a rule of their own; vectors of equal values have none."""
    x = np.eye(3)
    np.testing.assert_allclose(sw.grad(lambda x: sw.sum(linalg.eigvalsh(x)))(x), x)
    np.testing.assert_allclose(sw.grad(lambda x: linalg.matrix_norm(x, ord="nuc"))(x), x)
    np.testing.assert_allclose(sw.grad(lambda x: sw.sum(linalg.pinv(x)))(x), -np.ones((3, 3)))
    assert not np.isfinite(sw.grad(lambda x: _weighed(linalg.eigh(x).eigenvectors))(x)).all()


QR = """\
[SW0326]: qr with mode='complete' cannot be differentiated: nothing says how the columns beyond the \
matrices' own turn
  help: use mode='reduced', or leave them out with stop_gradient"""
SVD = """\
[SW0326]: svd with full_matrices=True cannot be differentiated: nothing says how the vectors beyond the singular \
values turn
  help: use full_matrices=False, or leave them out with stop_gradient"""


@pytest.mark.parametrize(
    ("function", "shape", "text"),
    [
        (lambda x: linalg.qr(x, mode="complete").Q, (4, 3), QR),
        (lambda x: linalg.svd(x).U, (4, 3), SVD),
        (lambda x: linalg.svd(x).Vh, (3, 4), SVD),
    ],
    ids=["qr", "left", "right"],
)
def test_what_matrices_leave_open_is_refused(function: Callable[[Any], Any], shape: Any, text: str) -> None:
    with pytest.raises(sw.ShardwrightError, match="SW0326") as error:
        sw.grad(lambda x: sw.sum(function(x)))(np.ones(shape))
    assert str(error.value).partition(": error")[2] == text


def test_an_own_gradient_needs_no_rule_of_what_it_stands_for() -> None:
    """SW0326 says so: where a function has a gradient of its own, nobody follows how it is computed."""

    @sw.custom_gradient
    def bessel(x: Any) -> Any:
        return Tracer(emit.trace_now(), emit.builder().put(chlo.BesselI1eOp(x.value))), lambda dy: dy * x

    np.testing.assert_allclose(sw.grad(lambda x: sw.sum(bessel(x)))(np.array([2.0, 3.0])), [2, 3])
