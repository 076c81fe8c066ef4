"""Fourier transforms, Cholesky factors, triangular systems and random bits, for the check of their rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shardwright.rules.proof.trial import draw_small

from .op_case import Case, case


def draw_positive(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Symmetric positive definite matrices."""
    root = generator.integers(-3, 4, shape).astype(dtype)
    return root @ np.conjugate(np.swapaxes(root, -1, -2)) + 4 * np.eye(shape[-1], dtype=dtype)


def draw_not_positive(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Symmetric matrices, of which the first one is not positive definite from its second last minor on."""
    matrices = draw_positive(generator, shape, dtype)
    matrices.reshape(-1, *shape[-2:])[0, -2, -2] = -1
    return matrices


def draw_dominant(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Numbers with a large diagonal, so that triangular systems are well conditioned."""
    numbers = generator.integers(-8, 9, shape) / 8
    if dtype.kind == "c":
        numbers = numbers + 1j * generator.integers(-8, 9, shape) / 8
    return (numbers + 4 * np.eye(shape[-2], shape[-1])).astype(dtype)


def _transforms() -> Iterator[Case]:
    for kind, operand, length, result in (
        ("FFT", "4x6xcomplex<f32>", "[6]", "4x6xcomplex<f32>"),
        ("IFFT", "2x4x6xcomplex<f64>", "[4, 6]", "2x4x6xcomplex<f64>"),
        ("FFT", "2x2x4xcomplex<f32>", "[2, 2, 4]", "2x2x4xcomplex<f32>"),
        ("RFFT", "4x6xf32", "[6]", "4x4xcomplex<f32>"),
        ("RFFT", "2x4x6xf64", "[4, 6]", "2x4x4xcomplex<f64>"),
        ("IRFFT", "4x4xcomplex<f32>", "[6]", "4x6xf32"),
        ("IRFFT", "2x4x4xcomplex<f32>", "[4, 7]", "2x4x7xf32"),
    ):
        line = f"stablehlo.fft %a, type = {kind}, length = {length} : TYPES"
        yield case(f"{kind} {operand} {length}", line, [operand], [result])


def _factors() -> Iterator[Case]:
    for shape in ("2x3x4x4xf32", "4x2x2xcomplex<f64>", "0x4x4xf32"):
        for lower in ("", ", lower = true"):
            line = f"stablehlo.cholesky %a{lower} : tensor<{shape}>"
            yield case(f"cholesky {shape}{lower}", line, [shape], [shape], draw=draw_positive)


def _systems() -> Iterator[Case]:
    for left, transpose, a, b in (
        ("true", "NO_TRANSPOSE", "2x4x4xf32", "2x4x6xf32"),
        ("false", "TRANSPOSE", "2x4x4xf32", "2x6x4xf32"),
        ("true", "ADJOINT", "4x4xcomplex<f64>", "4x2xcomplex<f64>"),
    ):
        flags = f"left_side = {left}, lower = true, unit_diagonal = false"
        attributes = f"<{{{flags}, transpose_a = #stablehlo<transpose {transpose}>}}>"
        line = f'"stablehlo.triangular_solve"(%a, %b) {attributes} : TYPES'
        yield case(f"solve {left} {transpose}", line, [a, b], [b], draw=draw_dominant)


def _bits() -> Iterator[Case]:
    for algorithm, state in (("THREE_FRY", "2xui64"), ("PHILOX", "3xui64")):
        line = f"stablehlo.rng_bit_generator %a, algorithm = {algorithm} : TYPES"
        yield case(f"bits {algorithm}", line, [state], [state, "4x6xui32"])


def _calls() -> Iterator[Case]:
    flags = "side = 82 : ui8, uplo = 85 : ui8, trans_x = 78 : ui8, diag = 78 : ui8"
    for call, operands, results in (
        ("lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}}", ["2x4x6xf32"], ["2x4x6xf32", "2x4xi32", "2xi32"]),
        ("lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}}", ["4x2x2xf32"], ["4x2x2xf32", "4xi32"]),
        (f"lapack_strsm_ffi(%a, %b) {{mhlo.backend_config = {{{flags}}}}}", ["2x4x4xf32", "2x6x4xf32"], ["2x6x4xf32"]),
        (
            "lapack_sormqr_ffi(%a, %b, %c) {mhlo.backend_config = {left = true, transpose = true}}",
            ["2x4x2xf32", "2x2xf32", "2x4x6xf32"],
            ["2x4x6xf32"],
        ),
        (
            "lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}}",
            ["2x4x4xf32"],
            ["2x4x4xf32", "2x4x4xf32", "2x4xf32", "2x4xf32", "2xi32", "2xi32"],
        ),
        ("lapack_dgeqrf_ffi(%a) {backend_config = {}}", ["2x4x2xf64"], ["2x4x2xf64", "2x2xf64"]),
    ):
        draw = draw_positive if "potrf" in call else draw_dominant if "getrf" in call or "trsm" in call else draw_small
        yield case(call.split("(")[0], f"stablehlo.custom_call @{call} : TYPES", operands, results, draw=draw)


GROUPS: dict[str, Callable[[], Iterator[Case]]] = {
    "transforms": _transforms,
    "factors": _factors,
    "systems": _systems,
    "bits": _bits,
    "calls": _calls,
}
