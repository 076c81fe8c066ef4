"""Steps whose results round: Fourier transforms, factorisations, solves. And random bits, as XLA makes them."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import numpy as np

from whole.build import Array, Builder, UnfitError
from whole.registry import step


@step("fft", weight=1, local=False)
def fourier(build: Builder) -> None:
    kind = build.pick(("FFT", "IFFT", "RFFT", "IRFFT"))
    source = "f32" if kind == "RFFT" else "complex<f32>"
    value = build.some((source,), (1, 2, 3))
    rank = build.random.randint(1, min(value.rank, 2))
    axes = tuple(range(value.rank - rank, value.rank))
    lengths = [value.shape[axis] for axis in axes]
    if 0 in lengths:
        raise UnfitError
    if kind == "IRFFT":
        if value.shape[-1] < 2:
            raise UnfitError
        lengths[-1] = 2 * (value.shape[-1] - 1)
    text = f"stablehlo.fft {value.name}, type = {kind}, length = {lengths} : ({value.type}) -> RESULT"
    functions = {
        "FFT": lambda a: np.fft.fftn(a, axes=axes),
        "IFFT": lambda a: np.fft.ifftn(a, axes=axes),
        "RFFT": lambda a: np.fft.rfftn(a, axes=axes),
        "IRFFT": lambda a: np.fft.irfftn(a, s=lengths, axes=axes),
    }
    target = "f32" if kind == "IRFFT" else "complex<f32>"
    build.emit(text, [value], functions[kind], target, exact=False)


def _definite(build: Builder, batch: tuple[int, ...], size: int) -> Array:
    root = build.numbers_of((*batch, size, size), "f32").astype(np.float64)
    return (root @ np.swapaxes(root, -1, -2) + np.eye(size) * 4).astype(np.float32)


@step("cholesky", weight=0.7, local=False)
def factor(build: Builder) -> None:
    batch = build.shape(build.random.randint(0, 2))
    size = build.pick((1, 2, 3, 4))
    value = build.argument((*batch, size, size), "f32", _definite(build, batch, size))
    lower = build.chance(0.7)
    text = f"stablehlo.cholesky {value.name}, lower = {str(lower).lower()} : RESULT"
    root = build.emit(text, [value], lambda a: _factor(a, lower), exact=False)
    mask = np.tril if lower else np.triu
    # What lies on the other side of the diagonal is not defined: it is masked.
    kept = mask(np.ones((size, size), np.int64))
    rows = str(kept.tolist()).replace("1", "true").replace("0", "false")
    constant = build.emit(f"stablehlo.constant dense<{rows}> : RESULT", [], lambda: kept.astype(bool), "i1")
    dims = [len(batch), len(batch) + 1]
    text = f"stablehlo.broadcast_in_dim {constant.name}, dims = {dims} : ({constant.type}) -> RESULT"
    spread = build.emit(text, [constant], lambda a: np.broadcast_to(a, value.shape))
    zeros = build.splat(value.shape, "f32", 0)
    text = f"stablehlo.select {spread.name}, {root.name}, {zeros.name} : {spread.type}, RESULT"
    build.scope.values.remove(root)
    build.emit(text, [spread, root, zeros], np.where, "f32", exact=False)


def _factor(array: Array, lower: bool) -> Array:
    root = np.linalg.cholesky(array)
    return root if lower else np.swapaxes(root, -1, -2)


@step("triangular_solve", weight=0.7, local=False)
def solved(build: Builder) -> None:
    batch = build.shape(build.random.randint(0, 2))
    size, width = build.pick((1, 2, 3, 4)), build.pick((1, 2, 4))
    lower, left, unit = build.chance(0.5), build.chance(0.5), build.chance(0.3)
    adjoint = build.pick(("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"))
    matrix = build.argument((*batch, size, size), "f32", _definite(build, batch, size))
    right = build.argument((*batch, size, width) if left else (*batch, width, size), "f32")
    text = (
        f'"stablehlo.triangular_solve"({matrix.name}, {right.name}) <{{left_side = {str(left).lower()}, '
        f"lower = {str(lower).lower()}, transpose_a = #stablehlo<transpose {adjoint}>, "
        f"unit_diagonal = {str(unit).lower()}}}> : ({matrix.type}, {right.type}) -> RESULT"
    )

    def function(a: Array, b: Array) -> Array:
        triangle = np.tril(a) if lower else np.triu(a)
        if unit:
            eye = np.eye(size)
            triangle = triangle * (1 - eye) + eye
        triangle = triangle if adjoint == "NO_TRANSPOSE" else np.swapaxes(triangle, -1, -2)
        if left:
            return np.linalg.solve(triangle, b)
        return np.swapaxes(np.linalg.solve(np.swapaxes(triangle, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)

    build.emit(text, [matrix, right], function, exact=False)
