"""Gradients of Fourier transforms, Cholesky factors and triangular systems."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.factors import adjoint, conjugate, product, related, turned
from shardwright.dialects.stablehlo import FftType, Transpose
from shardwright.dialects.stablehlo.parts.syntax import complex_of, truth
from shardwright.dialects.types import element_of, is_complex, shape_of
from shardwright.rules.gradients.vjp import Gradient, Site, vjp_of_one


@vjp_of_one("stablehlo.fft")
def _fft(op: stablehlo.FftOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """Transforms of complex numbers are symmetric matrices; those of real ones are half of such a matrix."""
    if op.kind is FftType.RFFT:
        return [_of_real(op, gradient, site)]
    if op.kind is FftType.IRFFT:
        return [_to_real(op, gradient, site)]
    return [site.put(stablehlo.FftOp(gradient, op.kind, op.length))]


def _of_real(op: stablehlo.FftOp, gradient: SSAValue, site: Site) -> SSAValue:
    """The real part of the transform of the gradient, with zeros for the half that was left out."""
    none = [0] * len(shape_of(gradient))
    missing = [*none[1:], op.length[-1] - shape_of(gradient)[-1]]
    whole = site.pad(gradient, site.scalar(0, gradient), none, missing, none)
    return site.put(stablehlo.RealOp(site.put(stablehlo.FftOp(whole, FftType.FFT, op.length))))


def _to_real(op: stablehlo.FftOp, gradient: SSAValue, site: Site) -> SSAValue:
    """The transform of the gradient; what stands for two elements, which are conjugates, counts twice."""
    forward = site.put(stablehlo.FftOp(gradient, FftType.RFFT, op.length))
    size, shape = op.length[-1], shape_of(forward)
    factors = np.full(shape[-1], 2.0)
    factors[0] = 1.0
    if size % 2 == 0:
        factors[-1] = 1.0
    row = site.literal(factors / math.prod(op.length), complex_of(element_of(gradient)), shape[-1:])
    scaled = site.multiply(forward, site.broadcast(row, shape, [len(shape) - 1]))
    return site.put(chlo.ConjOp(scaled))


@vjp_of_one("stablehlo.cholesky")
def _cholesky(op: stablehlo.CholeskyOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """
    With `S = L^-H P(L^H G) L^-1`, where P takes the lower triangle and half of the diagonal: the triangle of `S + S^H`.

    Only that triangle of the operand was read, so the diagonal counts once. `G` is a conjugated gradient.
    """
    factor, gradient = op.result, conjugate(site, gradient)
    if not op.is_lower:
        gradient, factor = adjoint(site, gradient), adjoint(site, factor)
    middle = product(site, adjoint(site, factor), gradient)
    middle = _triangle(middle, "GT", 1.0, 0.5, site)
    outer = site.put(stablehlo.TriangularSolveOp(factor, middle, transpose_a=Transpose.ADJOINT))
    inner = site.put(stablehlo.TriangularSolveOp(factor, outer, left_side=False))
    found = _triangle(site.add(inner, adjoint(site, inner)), "GT", 1.0, 0.5, site)
    return [conjugate(site, found) if op.is_lower else turned(site, found)]


@vjp_of_one("stablehlo.triangular_solve")
def _triangular_solve(op: stablehlo.TriangularSolveOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """To `b` the gradient, solved for with the transposed matrix; to `a` minus its product with the solution."""
    matrix, kind = op.a, op.transpose_a.data
    conjugates = kind is Transpose.ADJOINT and is_complex(element_of(matrix))
    if conjugates:
        matrix = conjugate(site, matrix)
    plain = kind is Transpose.NO_TRANSPOSE
    lower, unit = truth(op.lower), truth(op.unit_diagonal)
    back = stablehlo.TriangularSolveOp(
        matrix,
        gradient,
        left_side=op.is_left,
        lower=lower,
        unit_diagonal=unit,
        transpose_a=Transpose.TRANSPOSE if plain else Transpose.NO_TRANSPOSE,
    )
    solved = site.put(back)
    if not site.needed(op.a):
        return [None, solved]
    left, right = (solved, turned(site, op.result)) if op.is_left else (turned(site, op.result), solved)
    whole = site.negate(product(site, left, right))
    whole = whole if plain else turned(site, whole)
    found = _triangle(whole, "GT" if lower else "LT", 1.0, 0.0 if unit else 1.0, site)
    return [conjugate(site, found) if conjugates else found, solved]


def _triangle(value: SSAValue, direction: str, side: float, diagonal: float, site: Site) -> SSAValue:
    """The matrices times `side` where rows and columns relate so, times `diagonal` on the diagonal, zero elsewhere."""
    shape = shape_of(value)
    kept = site.select(
        related(site, shape, direction), site.scale(value, side) if side != 1 else value, site.zeros(value)
    )
    return site.select(related(site, shape, "EQ"), site.scale(value, diagonal), kept)
