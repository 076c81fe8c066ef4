"""Transforms, factors and systems against closed forms and NumPy, over batches and at the corners."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from shardwright.runtime.kernels import (
    factors as kernels_reduction,
    lapack as kernels_lapack,
    linear_algebra as kernels_linear_algebra,
)
from shardwright.runtime.kernels.linear_algebra import BLOCK, cholesky, fft, lu, triangular_solve

DTYPES = (np.float32, np.float64, np.complex64, np.complex128)
TOLERANCE = {"float32": 2e-4, "complex64": 2e-4, "float64": 1e-11, "complex128": 1e-11}


def numbers(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    """Normal numbers, complex where the dtype is."""
    generator = np.random.default_rng(seed)
    found = generator.standard_normal(shape)
    return (found + 1j * generator.standard_normal(shape) if np.dtype(dtype).kind == "c" else found).astype(dtype)


def close(found: Any, expected: Any, dtype: Any) -> None:
    """Equal up to the rounding of the dtype."""
    tolerance = TOLERANCE[np.dtype(dtype).name]
    np.testing.assert_allclose(found, expected, tolerance, tolerance)


def adjoint(a: Any) -> Any:
    """The conjugate transpose."""
    return np.conjugate(np.swapaxes(a, -1, -2))


def test_the_transform_of_a_wave_is_one_peak() -> None:
    wave = np.exp(2j * np.pi * 3 * np.arange(8) / 8).astype(np.complex64)
    found = fft(np, np.stack([wave, 2 * wave]), "FFT", (8,))
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, [[0, 0, 0, 8, 0, 0, 0, 0], [0, 0, 0, 16, 0, 0, 0, 0]], atol=1e-5)


@pytest.mark.parametrize("length", [(6,), (5, 6), (2, 5, 7)])
def test_transforms_by_their_definition(length: tuple[int, ...]) -> None:
    x = numbers((3, *length), np.float64)
    expected = x.astype(complex)
    for dim, size in enumerate(length, start=1):
        matrix = np.exp(-2j * np.pi * np.outer(np.arange(size), np.arange(size)) / size)
        expected = np.moveaxis(np.tensordot(expected, matrix, (dim, 0)), -1, dim)
    np.testing.assert_allclose(fft(np, x.astype(complex), "FFT", length), expected, atol=1e-11)
    half = fft(np, x, "RFFT", length)
    np.testing.assert_allclose(half, expected[..., : length[-1] // 2 + 1], atol=1e-11)
    np.testing.assert_allclose(fft(np, half, "IRFFT", length), x, atol=1e-11)
    np.testing.assert_allclose(fft(np, expected, "IFFT", length), x, atol=1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_factors_make_the_matrix(dtype: Any, lower: bool) -> None:
    root = numbers((2, 3, 5, 5), dtype)
    matrix = root @ adjoint(root) + np.eye(5, dtype=dtype)
    unread = np.triu(np.full((5, 5), 99), 1) if lower else np.tril(np.full((5, 5), 99), -1)
    factor = cholesky(np, np.where(unread != 0, unread.astype(dtype), matrix), lower)
    assert factor.dtype == dtype
    close(factor @ adjoint(factor) if lower else adjoint(factor) @ factor, matrix, dtype)
    assert not (factor * (unread != 0)).any()


def test_cholesky_of_what_is_not_positive_definite_is_nan_for_that_matrix_alone() -> None:
    good, bad = np.diag([4.0, 9.0, 1.0]), np.array([[4.0, 2, 0], [2, 0, 0], [0, 0, 1]])
    factor = cholesky(np, np.stack([good, bad]), True)
    np.testing.assert_array_equal(factor[0], np.diag([2.0, 3.0, 1.0]))
    assert np.isnan(factor[1]).any()
    _, info = kernels_lapack.potrf(np, np.stack([good, bad, np.full((3, 3), np.nan)]), "L")
    assert info.tolist() == [0, 2, 1]


def test_cholesky_of_narrow_floats_is_rounded_once() -> None:
    matrix = np.array([[3.0, 0], [1.0, 2.0]], np.float32)
    found = cholesky(np, matrix.astype(ml_dtypes.bfloat16), True)
    expected = np.array([[3**0.5, 0], [1 / 3**0.5, (2 - 1 / 3) ** 0.5]])
    np.testing.assert_array_equal(found.astype(float), expected.astype(ml_dtypes.bfloat16).astype(float))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_every_form_of_triangular_system(dtype: Any) -> None:
    size = BLOCK + 5
    matrix = numbers((2, 1, size, size), dtype) / size + np.eye(size, dtype=dtype)
    transposes = {"NO_TRANSPOSE": lambda a: a, "TRANSPOSE": lambda a: np.swapaxes(a, -1, -2), "ADJOINT": adjoint}
    for left, lower, unit, name in product((True, False), (True, False), (True, False), transposes):
        used = np.tril(matrix) if lower else np.triu(matrix)
        if unit:
            used = used - used * np.eye(size) + np.eye(size)
        right = numbers((2, 3, size, 4) if left else (2, 3, 4, size), dtype, 1)
        solved = triangular_solve(np, matrix, right, left, lower, unit, name)
        op = transposes[name](used)
        close(op @ solved if left else solved @ op, right, dtype)


def test_a_zero_on_the_diagonal_gives_infinities() -> None:
    matrix, right = np.array([[2.0, 7], [0, 0]]), np.array([[1.0], [4]])
    with np.errstate(all="ignore"):
        found = triangular_solve(np, matrix, right, True, True, False, "NO_TRANSPOSE")
    np.testing.assert_array_equal(found, [[0.5], [np.inf]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 5, 5), (2, 2, 7, 4), (4, 6), (1, BLOCK + 8, BLOCK + 3), (2, 0, 3), (0, 2, 2)])
def test_lu_factors_make_the_permuted_matrix(dtype: Any, shape: tuple[int, ...]) -> None:
    matrix = numbers(shape, dtype)
    factors, pivots, info = lu(np, matrix)
    *fronts, rows, columns = shape
    count = min(rows, columns)
    lower = np.tril(factors[..., :count], -1) + np.eye(rows, count)
    upper = np.triu(factors[..., :count, :])
    permuted = matrix.copy()
    for index in np.ndindex(*fronts):
        for k in range(count):
            permuted[(*index, [k, pivots[index][k] - 1])] = permuted[(*index, [pivots[index][k] - 1, k])]
    close(lower @ upper, permuted, dtype)
    assert (abs(lower) <= 1.5).all()
    assert info.shape == tuple(fronts)
    assert not info.any()


def test_lu_of_a_singular_matrix_says_where() -> None:
    matrix = np.array([[1.0, 2, 3], [2, 4, 7], [1, 2, 5]])
    factors, _, info = lu(np, matrix)
    assert info == 2
    assert np.isfinite(factors).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 6, 4), (3, 5), (2, 4, 4), (2, 3, 0)])
def test_qr_factors(dtype: Any, shape: tuple[int, ...]) -> None:
    matrix = numbers(shape, dtype)
    factors, scales = kernels_lapack.geqrf(np, matrix)
    count = min(shape[-2:])
    basis = kernels_lapack.orgqr(np, factors[..., :count], scales)
    upper = np.triu(factors[..., :count, :])
    close(basis @ upper, matrix, dtype)
    close(adjoint(basis) @ basis, np.broadcast_to(np.eye(count), (*shape[:-2], count, count)), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_with_reflectors_are_products_with_their_basis(dtype: Any) -> None:
    factors, scales = kernels_lapack.geqrf(np, numbers((2, 5, 3), dtype))
    whole = kernels_lapack.ormqr(np, factors, scales, np.eye(5, dtype=dtype), True, False)
    other = numbers((2, 5, 5), dtype, 1)
    for left, transpose in product((True, False), (True, False)):
        basis = adjoint(whole) if transpose else whole
        found = kernels_lapack.ormqr(np, factors, scales, other, left, transpose)
        close(found, basis @ other if left else other @ basis, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pivoted_qr_takes_the_longest_column_first(dtype: Any) -> None:
    matrix = numbers((2, 6, 4), dtype)
    factors, order, scales = kernels_reduction.geqp3(np, matrix, np.zeros((2, 4), np.int32))
    basis = kernels_lapack.orgqr(np, factors, scales)
    permuted = np.take_along_axis(matrix, order[:, None, :] - 1, -1)
    close(basis @ np.triu(factors[:, :4]), permuted, dtype)
    lengths = abs(np.diagonal(factors, 0, -2, -1))
    assert (lengths[:, :-1] >= lengths[:, 1:] - 1e-4).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["hessenberg", "tridiagonal"])
def test_reduced_forms_are_similar_to_the_matrix(dtype: Any, form: str) -> None:
    matrix = numbers((2, 5, 5), dtype)
    if form == "hessenberg":
        packed, scales, info = kernels_reduction.gehrd(np, matrix, 1, 5)
        reduced = np.triu(packed, -1)
    else:
        matrix = matrix + adjoint(matrix)
        unread = np.where(np.triu(np.ones((5, 5)), 1) != 0, 99, matrix).astype(dtype)
        packed, diagonal, beside, scales, info = kernels_reduction.sytrd(np, unread)
        spread = np.eye(5)[:-1, :, None] * np.eye(5)[1:, None, :]
        reduced = diagonal[..., None] * np.eye(5) + np.tensordot(beside, spread + spread.swapaxes(1, 2), (-1, 0))
    inner = kernels_lapack.ormqr(np, packed[..., 1:, :-1], scales, np.eye(4, dtype=dtype), True, False)
    basis = np.zeros((2, 5, 5), dtype)
    basis[:, 0, 0], basis[:, 1:, 1:] = 1, inner
    close(basis @ reduced @ adjoint(basis), matrix, dtype)
    assert not info.any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_tridiagonal_systems(dtype: Any) -> None:
    lower, diagonal, upper = (numbers((3, 6), dtype, seed) for seed in range(3))
    diagonal[0] = 0  # only pivoting solves this one
    right = numbers((3, 6, 2), dtype, 3)
    *_, solution, info = kernels_reduction.gtsv(np, lower, diagonal, upper, right)
    matrix = np.zeros((3, 6, 6), dtype)
    for i in range(6):
        matrix[:, i, i] = diagonal[:, i]
        if i:
            matrix[:, i, i - 1], matrix[:, i - 1, i] = lower[:, i], upper[:, i - 1]
    np.testing.assert_allclose(matrix @ solution, right, 2e-3, 2e-3)
    assert not info.any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigenvectors_of_symmetric_matrices(dtype: Any, uplo: str) -> None:
    matrix = numbers((2, 3, 4, 4), dtype)
    matrix = matrix + adjoint(matrix)
    vectors, values, info = kernels_lapack.syevd(np, matrix, uplo, True)
    close(matrix @ vectors, vectors * values[..., None, :], dtype)
    assert (np.diff(values) >= 0).all()
    assert not info.any()
    close(kernels_lapack.syevd(np, matrix, uplo, False)[1], values, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["A", "S"])
def test_singular_vectors(dtype: Any, mode: str) -> None:
    matrix = numbers((2, 6, 4), dtype)
    _, values, left, right, info = kernels_lapack.gesdd(np, matrix, True, mode == "A")
    assert left.shape == (2, 6, 6 if mode == "A" else 4)
    close((left[..., :4] * values[:, None]) @ right, matrix, dtype)
    assert not info.any()
    close(kernels_lapack.gesdd(np, matrix, False, True)[1], values, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvectors_of_any_matrices(dtype: Any) -> None:
    matrix = numbers((3, 4, 4), dtype)
    *values, _, right, info = kernels_lapack.geev(np, matrix, True)
    whole = values[0] if len(values) == 1 else values[0] + 1j * values[1]
    np.testing.assert_allclose(matrix @ right, right * whole[:, None], atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(right, axis=-2), np.ones((3, 4)), rtol=1e-5)
    assert not info.any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("wanted", [True, False])
def test_schur_forms(dtype: Any, wanted: bool) -> None:
    pytest.importorskip("scipy")
    matrix = numbers((3, 4, 4), dtype)
    form, vectors, *values, count, info = kernels_lapack.gees(np, matrix, wanted)
    whole = values[0] if len(values) == 1 else values[0] + 1j * values[1]
    close(np.sort_complex(whole), np.sort_complex(np.linalg.eigvals(matrix)), dtype)
    assert not count.any()
    assert not info.any()
    if wanted:
        adjoint = vectors.conj().swapaxes(-1, -2)
        close(vectors @ form @ adjoint, matrix, dtype)
        close(vectors @ adjoint, np.broadcast_to(np.eye(4), matrix.shape), dtype)
    else:
        assert not vectors.any()
    below = np.tril(form, -2 if len(values) == 2 else -1)
    close(below, np.zeros_like(below), dtype)


def test_what_does_not_converge_is_nan_and_the_others_are_not() -> None:
    bad = np.array([[1.0, np.nan], [np.nan, 1.0]])
    vectors, values, info = kernels_lapack.syevd(np, np.stack([np.eye(2), bad]), "L", True)
    assert info.tolist() == [0, 1] or (info.tolist() == [0, 0] and np.isnan(values[1]).all())
    np.testing.assert_array_equal(values[0], [1, 1])
    np.testing.assert_array_equal(abs(vectors[0]), np.eye(2))
    _, singular, *_, info = kernels_lapack.gesdd(np, np.stack([bad, np.eye(2)]), True, False)
    assert info.tolist() == [1, 0]
    assert np.isnan(singular[0]).all()
    np.testing.assert_array_equal(singular[1], [1, 1])


def test_operands_may_vary_along_other_devices() -> None:
    """Leading dims of size one stand for what is the same everywhere."""
    matrix, right = np.tril(numbers((1, 3, 4, 4), np.float64)) + 4 * np.eye(4), numbers((2, 1, 4, 5), np.float64)
    found = triangular_solve(np, matrix, right, True, True, False, "NO_TRANSPOSE")
    close(np.broadcast_to(matrix, (2, 3, 4, 4)) @ found, np.broadcast_to(right, (2, 3, 4, 5)), np.float64)
    factors, scales = kernels_lapack.geqrf(np, matrix)
    assert kernels_lapack.ormqr(np, factors, scales, right, True, False).shape == (2, 3, 4, 5)
    assert kernels_linear_algebra.adjoint(np, right).shape == (2, 1, 5, 4)
