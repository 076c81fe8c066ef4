"""
Gradients of functions of matrices whose results are marked as such (`dtensor.result_of`): factors and what they give.

A rule is written for real numbers as in the literature; for complex ones that is true of conjugated gradients, so
these are conjugated on the way in and out, except where a function is differentiable in complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from shardwright.dialects import factors, stablehlo
from shardwright.dialects.dtensor.gradients import ResultOfOp
from shardwright.dialects.factors import adjoint, conjugate, product, turned
from shardwright.dialects.stablehlo import Transpose
from shardwright.dialects.text.locations import fault
from shardwright.dialects.types import element_of, is_complex, shape_of
from shardwright.rules.gradients.vjp import Gradient, Site, vjp

Rule: TypeAlias = "Callable[[ResultOfOp, Sequence[Gradient], Site], Sequence[Gradient]]"
RuleOfOne: TypeAlias = "Callable[[ResultOfOp, SSAValue, Site], Sequence[Gradient]]"

FUNCTIONS: dict[str, Rule] = {}
"""The rules, by the functions' names; they give the gradients of the inputs."""


@vjp("dtensor.result_of", when=lambda op, needed: op.function.data in FUNCTIONS)
def _result_of(op: ResultOfOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """What the function's rule says; how the outputs were computed has no gradient."""
    return [*[None] * len(op.outputs), *FUNCTIONS[op.function.data](op, gradients, site)]


def _function(name: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        FUNCTIONS[name] = rule
        return rule

    return register


def _function_of_one(name: str) -> Callable[[RuleOfOne], RuleOfOne]:
    """Registers the rule of a function with one result: where the rule is asked at all, that has a gradient."""

    def register(rule: RuleOfOne) -> RuleOfOne:
        def for_all(op: ResultOfOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
            (gradient,) = gradients
            assert gradient is not None
            return rule(op, gradient, site)

        FUNCTIONS[name] = for_all
        return rule

    return register


@_function_of_one("inv")
def _inverse(op: ResultOfOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """`-X^T G X^T`."""
    across = turned(site, op.results[0])
    return [site.negate(product(site, product(site, across, gradient), across))]


@_function_of_one("solve")
def _solve(op: ResultOfOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """To the right side `A^-T G`, by the factors that the matrices have; to the matrices minus that times `X^T`."""
    basis, triangle = op.inputs[2:]
    back = stablehlo.TriangularSolveOp(triangle, gradient, lower=False, transpose_a=Transpose.TRANSPOSE)
    right = product(site, conjugate(site, basis), site.put(back))
    matrix = site.negate(product(site, right, turned(site, op.results[0]))) if site.needed(op.inputs[0]) else None
    return [matrix, right, None, None]


@_function_of_one("det")
def _determinant(op: ResultOfOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """The cofactors, which singular matrices have as well."""
    return [_scaled(gradient, factors.cofactors(site, op.inputs[0]), site)]


@_function_of_one("cofactors")
def _cofactors(op: ResultOfOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """`(sum(G * C) I - C G^T) A^-T`."""
    (found,) = op.results
    rank = len(shape_of(found))
    total = site.sum(site.multiply(gradient, found), [rank - 2, rank - 1])
    left = _scaled(total, factors.identity(site, found), site)
    left = site.subtract(left, product(site, found, turned(site, gradient)))
    return [product(site, left, turned(site, factors.inverse(site, op.inputs[0])))]


@_function("slogdet")
def _log_determinant(op: ResultOfOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """Of `t = trace(A^-1 dA)` the logarithm changes by the real part, the sign of complex ones by the angle."""
    (sign, _), (by_sign, by_logarithm) = op.results, gradients
    scale = by_logarithm
    if is_complex(element_of(sign)):
        none = site.literal(0, factors.real_of(sign), shape_of(sign))
        turning = none if by_sign is None else site.put(stablehlo.ImagOp(site.multiply(by_sign, sign)))
        scale = site.put(stablehlo.ComplexOp(none if scale is None else scale, turning))
    if scale is None:
        return [None]
    return [_scaled(scale, turned(site, factors.inverse(site, op.inputs[0])), site)]


def _scaled(scale: SSAValue, matrix: SSAValue, site: Site) -> SSAValue:
    """The matrices, each times a number."""
    return site.multiply(matrix, site.broadcast(scale, shape_of(matrix), range(len(shape_of(scale)))))


@_function("qr")
def _orthogonal(op: ResultOfOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """
    With `M = triu(G_R R^H - Q^H G_Q)`: `(G_Q + Q (M + M^H, each real diagonal once)) R^-H`.

    Of wide matrices `[X Y]` the first columns decide about the factors, and `Y` about the rest of the triangle.
    """
    (basis, triangle), (by_basis, by_triangle) = op.results, (_conjugated(each, site) for each in gradients)
    *_, rows, columns = shape_of(op.inputs[0])
    if shape_of(basis)[-1] > columns:
        _refuse(op, by_basis, "qr with mode='complete'", "the columns beyond the matrices' own", "mode='reduced'")
        own = [_cut(basis, rows, columns, site), _cut(triangle, columns, columns, site)]
        basis, triangle = factors.known(site, "qr", own, op.inputs)
        by_triangle = None if by_triangle is None else _cut(by_triangle, columns, columns, site)
    if columns <= rows:
        found = _by_factors(basis, triangle, by_basis, by_triangle, site)
    else:
        found = _wide(op.inputs[0], (basis, triangle), (by_basis, by_triangle), site)
    return [conjugate(site, found)]


def _wide(matrix: SSAValue, made: Sequence[SSAValue], gradients: Sequence[Gradient], site: Site) -> SSAValue:
    (basis, triangle), (by_basis, by_triangle) = made, gradients
    *_, rows, columns = shape_of(matrix)
    own, rest = None, site.zeros(_cut(matrix, rows, columns, site, rows))
    if by_triangle is not None:
        own, given = _cut(by_triangle, rows, rows, site), _cut(by_triangle, rows, columns, site, rows)
        rest = product(site, basis, given)
        more = product(site, _cut(matrix, rows, columns, site, rows), adjoint(site, given))
        by_basis = more if by_basis is None else site.add(by_basis, more)
    first = _by_factors(basis, _cut(triangle, rows, rows, site), by_basis, own, site)
    return site.put(stablehlo.ConcatenateOp([first, rest], len(shape_of(matrix)) - 1))


def _by_factors(basis: SSAValue, triangle: SSAValue, by_basis: Gradient, by_triangle: Gradient, site: Site) -> SSAValue:
    """Of matrices that have at least as many rows as columns."""
    middle = site.zeros(triangle)
    if by_triangle is not None:
        middle = product(site, by_triangle, adjoint(site, triangle))
    if by_basis is not None:
        middle = site.subtract(middle, product(site, adjoint(site, basis), by_basis))
    middle = _hermitian(factors.upper(site, middle), site)
    found = product(site, basis, middle)
    if by_basis is not None:
        found = site.add(found, by_basis)
    back = stablehlo.TriangularSolveOp(triangle, found, left_side=False, lower=False, transpose_a=Transpose.ADJOINT)
    return site.put(back)


def _hermitian(value: SSAValue, site: Site) -> SSAValue:
    """The matrices and their adjoints, of which the diagonal, the real parts, counts once."""
    both = site.add(value, adjoint(site, value))
    return site.select(factors.related(site, shape_of(value), "EQ"), site.scale(both, 0.5), both)


@_function("eigh")
def _symmetric(op: ResultOfOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """
    `V (diag(g) + (V^H G) / (w_j - w_i)) V^H`; vectors of equal values have no derivative: it is not finite there.
    """
    (vectors, values), (by_vectors, by_values) = op.results, gradients
    inner: Gradient = None
    if by_vectors is not None:
        turning = product(site, adjoint(site, vectors), conjugate(site, by_vectors))
        inner = _over_gaps(turning, values, site)
    return [_by_lower(vectors, inner, by_values, site)]


@_function_of_one("eigvalsh")
def _eigenvalues(op: ResultOfOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """`V diag(g) V^H`, with the vectors that only the gradient needs."""
    vectors, _ = factors.symmetric(site, op.inputs[0], vectors=True)
    return [_by_lower(vectors, None, gradient, site)]


def _by_lower(vectors: SSAValue, inner: Gradient, by_values: Gradient, site: Site) -> SSAValue:
    """What goes to the lower triangle, which is all that was read, so that the diagonal counts once."""
    if by_values is not None:
        own = factors.diagonal(site, by_values, vectors)
        inner = own if inner is None else site.add(inner, own)
    assert inner is not None
    found = product(site, product(site, vectors, inner), adjoint(site, vectors))
    lower = site.select(factors.related(site, shape_of(found), "GE"), _hermitian(found, site), site.zeros(found))
    return conjugate(site, lower)


def _over_gaps(value: SSAValue, values: SSAValue, site: Site) -> SSAValue:
    """The elements divided by the number of their column minus that of their row, zero on the diagonal."""
    like = site.literal(0, element_of(values), shape_of(value))
    columns = factors.along_columns(site, values, like)
    gaps = site.subtract(columns, turned(site, columns))
    equal = factors.related(site, shape_of(value), "EQ")
    quotients = site.divide(value, site.convert(site.select(equal, site.constant(1, gaps), gaps), value))
    return site.select(equal, site.zeros(value), quotients)


@_function("svd")
def _singular(op: ResultOfOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """
    With `skew(X) = X - X^H` and `E = s_j^2 - s_i^2`: `U (skew(U^H G_U)/E S + S skew(V^H G_V)/E + diag(g)) V^H`, and
    what goes out of the space of the vectors; of complex ones the angle of each pair, too. Not finite for equal values.
    """
    (left, values, right), (by_left, by_values, by_right) = op.results, gradients
    *_, rows, columns = shape_of(op.inputs[0])
    least, what = min(rows, columns), "svd with full_matrices=True"
    for vectors, gradient in ((shape_of(left)[-1], by_left), (shape_of(right)[-2], by_right)):
        if vectors > least:
            _refuse(op, gradient, what, "the vectors beyond the singular values", "full_matrices=False")
    if shape_of(left)[-1] > least or shape_of(right)[-2] > least:
        own = [_cut(left, rows, least, site), values, _cut(right, least, columns, site)]
        left, values, right = factors.known(site, "svd", own, op.inputs)
    across = adjoint(site, right)
    sides = (left, _conjugated(by_left, site)), (across, _adjoined(by_right, site))
    inner, outer = _turning(sides, values, by_values, left, site)
    found = product(site, product(site, left, inner), right)
    for way, part in zip(("left", "right"), outer, strict=True):
        if part is not None and (rows if way == "left" else columns) > least:
            scaled = site.divide(part, factors.along_columns(site, values, part))
            pair = (scaled, right) if way == "left" else (left, adjoint(site, scaled))
            found = site.add(found, product(site, *pair))
    return [conjugate(site, found)]


def _turning(
    sides: Sequence[tuple[SSAValue, Gradient]], values: SSAValue, by_values: Gradient, like: SSAValue, site: Site
) -> tuple[SSAValue, list[Gradient]]:
    """What happens inside of the space of the vectors, a matrix between them, and what goes out of it on each side."""
    size = shape_of(values)[-1]
    shape = (*shape_of(like)[:-2], size, size)
    inner, outer = site.literal(0, element_of(like), shape), list[Gradient]()
    scales = factors.along_columns(site, values, inner)
    if by_values is not None:
        inner = factors.diagonal(site, by_values, inner)
    squares = site.multiply(values, values)
    for place, (vectors, gradient) in enumerate(sides):
        if gradient is None:
            outer.append(None)
            continue
        moved = product(site, adjoint(site, vectors), gradient)
        skew = site.subtract(moved, adjoint(site, moved))
        turning = site.multiply(_over_gaps(skew, squares, site), turned(site, scales) if place else scales)
        inner = site.add(inner, turning)
        if not place and is_complex(element_of(like)):
            angles = site.divide(site.scale(skew, 0.5), scales)
            inner = site.add(inner, site.select(factors.related(site, shape, "EQ"), angles, site.zeros(angles)))
        outer.append(site.subtract(gradient, product(site, vectors, moved)))
    return inner, outer


@_function_of_one("svdvals")
def _singular_values(op: ResultOfOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """`U diag(g) V^H`, with the vectors that only the gradient needs."""
    left, _, right = factors.singular(site, op.inputs[0], "S")
    scaled = site.multiply(left, factors.along_columns(site, gradient, left))
    return [conjugate(site, product(site, scaled, right))]


@_function_of_one("pinv")
def _pseudoinverse(op: ResultOfOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """`-P^H G P^H + (1 - A P) G^H P P^H + P^H P G^H (1 - P A)`, as long as the rank stays."""
    matrix, (found,) = op.inputs[0], op.results
    given, across = conjugate(site, gradient), adjoint(site, found)
    back = adjoint(site, given)
    inside = site.negate(product(site, product(site, across, given), across))
    left = product(site, product(site, back, found), across)
    left = site.subtract(left, product(site, matrix, product(site, found, left)))
    right = product(site, across, product(site, found, back))
    right = site.subtract(right, product(site, product(site, right, found), matrix))
    return [conjugate(site, site.add(inside, site.add(left, right)))]


def _conjugated(gradient: Gradient, site: Site) -> Gradient:
    return None if gradient is None else conjugate(site, gradient)


def _adjoined(gradient: Gradient, site: Site) -> Gradient:
    return None if gradient is None else turned(site, gradient)


def _cut(value: SSAValue, rows: int, columns: int, site: Site, start: int = 0) -> SSAValue:
    """The first rows, and the columns from `start` to `columns`."""
    batch = shape_of(value)[:-2]
    limits = (*batch, rows, columns)
    if limits == shape_of(value) and not start:
        return value
    return site.slice(value, [*[0] * len(batch), 0, start], limits)


def _refuse(op: ResultOfOp, gradient: Gradient, what: str, which: str, instead: str) -> None:
    """Nothing says how vectors turn that the matrices leave open."""
    if gradient is not None:
        raise fault(
            "SW0326",
            f"{what} cannot be differentiated: nothing says how {which} turn",
            op,
            help=f"use {instead}, or leave them out with stop_gradient",
        )
