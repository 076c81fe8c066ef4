"""
Transforms, factors, systems, LAPACK's calls and random bits under every even layout on a 2x2 mesh.

Matrices and transformed dims have to be whole somewhere, batch dims need not, and random bits are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from harness import Array, run
from layout_cases import Case, combinations, shape_and_dtype

MOST, MOST_SLOW = 4, 600
"""Combinations of layouts that are taken of each program, spread over all, by the default run and by `slow`."""

GRAM = (
    "    %g = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [2] x [2]"
    " : (tensor<4x4x4xf32>, tensor<4x4x4xf32>) -> tensor<4x4x4xf32>\n"
    "    %i = stablehlo.iota dim = 1 : tensor<4x4x4xi32>\n"
    "    %j = stablehlo.iota dim = 2 : tensor<4x4x4xi32>\n"
    "    %d = stablehlo.compare EQ, %i, %j : (tensor<4x4x4xi32>, tensor<4x4x4xi32>) -> tensor<4x4x4xi1>\n"
    "    %e = stablehlo.convert %d : (tensor<4x4x4xi1>) -> tensor<4x4x4xf32>\n"
    "    %m = stablehlo.add %g, %e : tensor<4x4x4xf32>\n"
)
"""Positive definite matrices `%m` from any `%a`, and the unit matrices `%e`."""


def gram(a: Array) -> Array:
    """The same."""
    return a @ a.swapaxes(1, 2) + np.eye(4, dtype=np.float32)


def solve(operands: str, left: bool, transpose: str, types: str) -> str:
    """One triangular system with a lower matrix."""
    flags = f"left_side = {str(left).lower()}, lower = true, unit_diagonal = false"
    attributes = f"<{{{flags}, transpose_a = #stablehlo<transpose {transpose}>}}>"
    return f'    %r0 = "stablehlo.triangular_solve"({operands}) {attributes} : {types}'


def lu_product(a: Array) -> Array:
    """The product of the diagonal of U: the determinant up to its sign."""
    return abs(np.linalg.det(gram(a).astype(float))).astype(np.float32)


def bits(shape: tuple[int, ...], algorithm: str) -> Array:
    """Random bits by the kernel, which other tests compare with XLA."""
    from shardwright.runtime.kernels.random import random_bits

    return random_bits(np, np.uint64([5, 7]), algorithm, shape, "int32")[1]


def random(algorithm: str, operands: str = "") -> str:
    """Bits for 4x8 elements."""
    return (
        "    %k = stablehlo.constant dense<[5, 7]> : tensor<2xui64>\n"
        f"    %s, %bits = stablehlo.rng_bit_generator %k, algorithm = {algorithm}"
        " : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x8xi32>)\n"
        f"    %r0 = stablehlo.add %bits, %a : tensor<4x8xi32>{operands}"
    )


CASES: dict[str, Case] = {
    "real transform there and back": Case(
        ("4x8xf32",),
        ("4x8xf32",),
        "    %h = stablehlo.fft %a, type = RFFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>>\n"
        "    %f = stablehlo.multiply %h, %h : tensor<4x5xcomplex<f32>>\n"
        "    %r0 = stablehlo.fft %f, type = IRFFT, length = [8] : (tensor<4x5xcomplex<f32>>) -> tensor<4x8xf32>",
        lambda a: np.fft.irfft(np.fft.rfft(a) ** 2),
    ),
    "real transform of two dims there and back": Case(
        ("4x8x8xf32",),
        ("4x8x8xf32",),
        "    %h = stablehlo.fft %a, type = RFFT, length = [8, 8] : (tensor<4x8x8xf32>) -> tensor<4x8x5xcomplex<f32>>\n"
        "    %f = stablehlo.multiply %h, %h : tensor<4x8x5xcomplex<f32>>\n"
        "    %r0 = stablehlo.fft %f, type = IRFFT, length = [8, 8]"
        " : (tensor<4x8x5xcomplex<f32>>) -> tensor<4x8x8xf32>",
        lambda a: np.fft.irfft2(np.fft.rfft2(a) ** 2),
    ),
    "transform of two dims": Case(
        ("4x4x8xf32",),
        ("4x4x8xf32",),
        "    %c = stablehlo.convert %a : (tensor<4x4x8xf32>) -> tensor<4x4x8xcomplex<f32>>\n"
        "    %f = stablehlo.fft %c, type = FFT, length = [4, 8]"
        " : (tensor<4x4x8xcomplex<f32>>) -> tensor<4x4x8xcomplex<f32>>\n"
        "    %r0 = stablehlo.imag %f : (tensor<4x4x8xcomplex<f32>>) -> tensor<4x4x8xf32>",
        lambda a: np.fft.fft2(a).imag,
    ),
    "transform of all dims": Case(
        ("4x8xf32",),
        ("4x8xf32",),
        "    %c = stablehlo.convert %a : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>\n"
        "    %f = stablehlo.fft %c, type = FFT, length = [4, 8]"
        " : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>\n"
        "    %g = stablehlo.multiply %f, %f : tensor<4x8xcomplex<f32>>\n"
        "    %h = stablehlo.fft %g, type = IFFT, length = [4, 8]"
        " : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>\n"
        "    %r0 = stablehlo.real %h : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>",
        lambda a: np.fft.ifft2(np.fft.fft2(a) ** 2).real,
    ),
    "transform of partial sums": Case(
        ("4x8xf32", "8x8xf32"),
        ("4x8xf32",),
        "    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>\n"
        "    %f = stablehlo.fft %p, type = RFFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>>\n"
        "    %q = stablehlo.real %f : (tensor<4x5xcomplex<f32>>) -> tensor<4x5xf32>\n"
        "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "    %r0 = stablehlo.pad %q, %z, low = [0, 0], high = [0, 3], interior = [0, 0]"
        " : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x8xf32>",
        lambda a, b: np.pad(np.fft.rfft(a @ b).real, ((0, 0), (0, 3))),
    ),
    "cholesky": Case(
        ("4x4x4xf32",),
        ("4x4x4xf32",),
        GRAM + "    %r0 = stablehlo.cholesky %m, lower = true : tensor<4x4x4xf32>",
        lambda a: np.linalg.cholesky(gram(a)),
    ),
    "triangular system": Case(
        ("4x4x4xf32", "4x4x8xf32"),
        ("4x4x8xf32",),
        GRAM
        + "    %c = stablehlo.cholesky %m, lower = true : tensor<4x4x4xf32>\n"
        + solve("%c, %b", True, "TRANSPOSE", "(tensor<4x4x4xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>"),
        lambda a, b: np.linalg.solve(np.linalg.cholesky(gram(a)).swapaxes(1, 2), b),
    ),
    "triangular system from the right": Case(
        ("4x4x4xf32", "4x8x4xf32"),
        ("4x8x4xf32",),
        GRAM
        + "    %c = stablehlo.cholesky %m, lower = true : tensor<4x4x4xf32>\n"
        + solve("%c, %b", False, "NO_TRANSPOSE", "(tensor<4x4x4xf32>, tensor<4x8x4xf32>) -> tensor<4x8x4xf32>"),
        lambda a, b: b @ np.linalg.inv(np.linalg.cholesky(gram(a))),
    ),
    "determinant by LU": Case(
        ("4x4x4xf32",),
        ("4xf32",),
        GRAM + "    %f:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%m) {mhlo.backend_config = {}}"
        " : (tensor<4x4x4xf32>) -> (tensor<4x4x4xf32>, tensor<4x4xi32>, tensor<4xi32>)\n"
        "    %one = stablehlo.constant dense<1.0> : tensor<f32>\n"
        "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "    %u = stablehlo.multiply %f#0, %e : tensor<4x4x4xf32>\n"
        "    %v = stablehlo.reduce(%u init: %zero) applies stablehlo.add across dimensions = [2]"
        " : (tensor<4x4x4xf32>, tensor<f32>) -> tensor<4x4xf32>\n"
        "    %w = stablehlo.reduce(%v init: %one) applies stablehlo.multiply across dimensions = [1]"
        " : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>\n"
        "    %r0 = stablehlo.abs %w : tensor<4xf32>",
        lu_product,
    ),
    "random bits by ThreeFry": Case(
        ("4x8xi32",), ("4x8xi32",), random("THREE_FRY"), lambda a: bits((4, 8), "THREE_FRY") + a
    ),
    "random bits by Philox": Case(("4x8xi32",), ("4x8xi32",), random("PHILOX"), lambda a: bits((4, 8), "PHILOX") + a),
    "batch norm": Case(
        ("4x8xf32", "8xf32"),
        ("4x8xf32", "8xf32"),
        '    %r0, %r1, %var = "stablehlo.batch_norm_training"(%a, %b, %b)'
        + " <{epsilon = 1.0 : f32, feature_index = 1 : i64}>"
        + " : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)",
        lambda a, b: ((a - a.mean(0)) / np.sqrt(a.var(0) + 1) * b + b, a.mean(0)),
    ),
}


ROWS, COLUMNS = '{"x"}, {}', '{}, {"x"}'


@pytest.mark.parametrize(
    ("given", "made", "kinds", "exchanges"),
    [
        (ROWS, ROWS, ["FFT"], 2),
        (COLUMNS, COLUMNS, ["FFT"], 2),
        # A dim is whole already while another one is split, which then may stay so.
        (ROWS, COLUMNS, ["FFT"], 1),
        (COLUMNS, ROWS, ["IFFT"], 1),
        (ROWS, ROWS, ["FFT", "IFFT"], 2),
        (COLUMNS, ROWS, ["FFT", "FFT", "IFFT"], 3),
    ],
)
def test_transformed_dims_take_turns_in_being_whole(
    given: str, made: str, kinds: Sequence[str], exchanges: int
) -> None:
    """Exchanges of an eighth of the elements, where a gather would send them all."""
    kind = "tensor<64x32xcomplex<f32>>"
    lines = [
        f"  %{at} = stablehlo.fft %{at - 1 if at else 'a'}, type = {name}, length = [64, 32] : ({kind}) -> {kind}\n"
        for at, name in enumerate(kinds)
    ]
    text = (
        'sdy.mesh @mesh = <["x"=8]>\n'
        f"func.func public @main(%a: {kind} {{sdy.sharding = #sdy.sharding<@mesh, [{given}]>}})"
        f" -> ({kind} {{sdy.sharding = #sdy.sharding<@mesh, [{made}]>}}) {{\n"
        f"{''.join(lines)}  return %{len(kinds) - 1} : {kind}\n}}"
    )
    generator = np.random.default_rng(0)
    array = (generator.standard_normal((64, 32)) + 1j * generator.standard_normal((64, 32))).astype(np.complex64)
    ran, wanted = run(text, [array]), array
    for name in kinds:
        wanted = {"FFT": np.fft.fft2, "IFFT": np.fft.ifft2}[name](wanted)
    np.testing.assert_allclose(ran.results[0], wanted, rtol=1e-3, atol=1e-2)
    assert ran.predicted == exchanges * array.nbytes // 8 * 7 // 8


@pytest.mark.parametrize("kinds", [["RFFT"], ["RFFT", "IRFFT"], ["FFT"], ["FFT", "IFFT"]], ids=" ".join)
def test_columns_that_do_not_divide_take_turns_as_well(kinds: Sequence[str]) -> None:
    """Of 33 columns each of eight devices gets five, in what goes as zeros as well: 0.31 of what a gather sends."""
    real, half = "tensor<64x64xf32>", "tensor<64x33xcomplex<f32>>"
    types = {"RFFT": (real, half), "IRFFT": (half, real), "FFT": (half, half), "IFFT": (half, half)}
    taken, given = types[kinds[0]][0], types[kinds[-1]][1]
    length = "[64, 64]" if "RFFT" in kinds else "[64, 33]"
    lines = [
        f"  %{at} = stablehlo.fft %{at - 1 if at else 'a'}, type = {kind}, length = {length}"
        f" : ({types[kind][0]}) -> {types[kind][1]}\n"
        for at, kind in enumerate(kinds)
    ]
    text = (
        'sdy.mesh @mesh = <["x"=8]>\n'
        f"func.func public @main(%a: {taken} {{sdy.sharding = #sdy.sharding<@mesh, [{ROWS}]>}})"
        f" -> ({given} {{sdy.sharding = #sdy.sharding<@mesh, [{ROWS}]>}}) {{\n"
        f"{''.join(lines)}  return %{len(kinds) - 1} : {given}\n}}"
    )
    generator = np.random.default_rng(0)
    array = generator.standard_normal((64, 64 if "RFFT" in kinds else 33)).astype(np.float32)
    array = array if "RFFT" in kinds else array.astype(np.complex64)
    wanted: Array = array
    ways = {"FFT": np.fft.fft2, "IFFT": np.fft.ifft2, "RFFT": np.fft.rfft2, "IRFFT": np.fft.irfft2}
    for kind in kinds:
        wanted = ways[kind](wanted)
    ran = run(text, [array])
    np.testing.assert_allclose(ran.results[0], wanted, rtol=1e-3, atol=1e-2)
    assert ran.predicted == 2 * len(kinds) * (64 // 8 * 40 * 8) * 7 // 8


def test_the_dim_that_grows_least_takes_the_axes() -> None:
    """Of 9 and 15 elements four devices get 12 or 16 with zeros: a third more, or a fifteenth."""
    kind, rows = "tensor<8x9x15xcomplex<f32>>", '#sdy.sharding<@mesh, [{"x"}, {}, {}]>'
    text = (
        f'sdy.mesh @mesh = <["x"=4]>\nfunc.func public @main(%a: {kind} {{sdy.sharding = {rows}}})'
        f" -> ({kind} {{sdy.sharding = {rows}}}) {{\n"
        f"  %0 = stablehlo.fft %a, type = FFT, length = [8, 9, 15] : ({kind}) -> {kind}\n  return %0 : {kind}\n}}"
    )
    array = np.random.default_rng(0).standard_normal((8, 9, 15)).astype(np.complex64)
    ran = run(text, [array])
    np.testing.assert_allclose(ran.results[0], np.fft.fftn(array), rtol=1e-4, atol=1e-3)
    assert ran.predicted == 2 * (8 // 4 * 9 * 16 * 8) * 3 // 4


def inputs(case: Case) -> list[Array]:
    """Small whole numbers, different everywhere."""
    generator = np.random.default_rng(5)
    sizes = [shape_and_dtype(text) for text in case.arguments]
    return [generator.integers(-9, 10, shape).astype(dtype) for shape, dtype in sizes]


def check(name: str, most: int, namespace: str) -> None:
    """Runs a program under some of its layouts."""
    case = CASES[name]
    every = combinations(case)
    chosen = every if len(every) <= most else Random(name).sample(every, most)
    arrays = inputs(case)
    with np.errstate(all="ignore"):
        expected: Any = case.numpy(*arrays)
    for layouts in chosen:
        ran = run(case.text(layouts), arrays, namespace=namespace)
        for found, wanted in zip(ran.results, expected if isinstance(expected, tuple) else (expected,), strict=True):
            largest = float(np.abs(wanted.astype(float)).max())
            np.testing.assert_allclose(
                found.astype(float), wanted.astype(float), 1e-3, 1e-4 * largest, err_msg=f"{name} {layouts}"
            )


@pytest.mark.every(3)
@pytest.mark.parametrize("name", CASES)
def test_layouts(name: str) -> None:
    check(name, MOST, "plain_numpy")


@pytest.mark.parametrize("name", CASES)
def test_layouts_in_the_fused_engine(name: str) -> None:
    check(name, 2, "numpy")


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_layout(name: str) -> None:
    check(name, MOST_SLOW, "plain_numpy")
