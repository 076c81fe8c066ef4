"""
Factors of matrices, those of LAPACK, and what is made of them, as ops: array functions and gradients write the same.

Matrices stand in the last two dims. What has a gradient of its own says which function it is (`dtensor.result_of`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ComplexType, IntegerAttr, IntegerType, Signedness, i32
from xdsl.ir import Attribute, SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.dtensor.gradients import ResultOfOp
from shardwright.dialects.types import dtype_name, element_of, is_complex, shape_of, tensor

_BYTE = IntegerType(8, Signedness.UNSIGNED)
"""The type of LAPACK's options, which are letters."""

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def real_of(value: SSAValue) -> Attribute:
    """The element type of a value's real parts."""
    element = element_of(value)
    return element.element_type if isinstance(element, ComplexType) else element


def known(build: Builder, function: str, outputs: Sequence[SSAValue], inputs: Sequence[SSAValue]) -> list[SSAValue]:
    """The outputs, as what a function that has a gradient makes of the inputs."""
    return list(build.insert(ResultOfOp(function, outputs, inputs)).results)


def turned(build: Builder, value: SSAValue) -> SSAValue:
    """The matrices transposed."""
    rank = len(shape_of(value))
    return build.transpose(value, [*range(rank - 2), rank - 1, rank - 2])


def conjugate(build: Builder, value: SSAValue) -> SSAValue:
    """The complex conjugates; real numbers as they are."""
    return build.put(chlo.ConjOp(value)) if is_complex(element_of(value)) else value


def adjoint(build: Builder, value: SSAValue) -> SSAValue:
    """The matrices transposed and conjugated."""
    return conjugate(build, turned(build, value))


def product(build: Builder, left: SSAValue, right: SSAValue) -> SSAValue:
    """The products of matrices."""
    rank = len(shape_of(left))
    batch = tuple(range(rank - 2))
    dims = stablehlo.DotDimensions(batch, batch, (rank - 1,), (rank - 2,))
    return build.put(stablehlo.DotGeneralOp(left, right, dims))


def related(build: Builder, shape: Sequence[int], direction: str) -> SSAValue:
    """Where in matrices of a shape the row relates (EQ, NE, LT, LE, GT, GE) to the column."""
    rows, columns = (build.iota(len(shape) - back, shape) for back in (2, 1))
    return build.compare(rows, direction, columns)


def upper(build: Builder, value: SSAValue) -> SSAValue:
    """The elements on the diagonal and above it, zeros elsewhere."""
    return build.select(related(build, shape_of(value), "LE"), value, build.zeros(value))


def identity(build: Builder, like: SSAValue) -> SSAValue:
    """Ones on the diagonal, zeros elsewhere."""
    return build.convert(related(build, shape_of(like), "EQ"), like)


def along_columns(build: Builder, scales: SSAValue, like: SSAValue) -> SSAValue:
    """One number for each column, in the shape and type of `like`."""
    shape = shape_of(like)
    dims = [*range(len(shape) - 2), len(shape) - 1]
    return build.broadcast(build.convert(scales, like), shape, dims)


def diagonal(build: Builder, values: SSAValue, like: SSAValue) -> SSAValue:
    """The square matrices like another one with these numbers on the diagonal, zeros elsewhere."""
    wide = along_columns(build, values, like)
    return build.select(related(build, shape_of(like), "EQ"), wide, build.zeros(like))


def on_diagonal(build: Builder, value: SSAValue) -> SSAValue:
    """What stands on the diagonal of square matrices: of a row of all elements each one a row and a column further."""
    *batch, size, _ = shape_of(value)
    row = build.reshape(value, (*batch, size * size))
    return build.slice(row, [0] * (len(batch) + 1), shape_of(row), [*[1] * len(batch), size + 1])


def lapack(
    build: Builder,
    routine: str,
    operands: Sequence[SSAValue],
    results: Sequence[tuple[Sequence[int], Attribute]],
    **options: str,
) -> list[SSAValue]:
    """A call of a LAPACK routine, which its operands' type completes."""
    config: dict[str, Attribute] = {name: IntegerAttr(ord(option), _BYTE) for name, option in options.items()}
    types = [tensor(tuple(shape), element) for shape, element in results]
    target = f"lapack_{_LETTERS[dtype_name(element_of(operands[0]))]}{routine}_ffi"
    return list(build.insert(stablehlo.CustomCallOp(target, operands, types, config)).results)


def orthogonal(build: Builder, matrix: SSAValue, count: int) -> list[SSAValue]:
    """`count` orthonormal columns, and as many rows of an upper triangle, whose products are the matrices."""
    (*batch, rows, columns), element = shape_of(matrix), element_of(matrix)
    least = min(rows, columns)
    whole = (*batch, rows, columns)
    factors, scales = lapack(build, "geqrf", [matrix], [(whole, element), ((*batch, least), element)])
    kept = _box(build, factors, rows, least)
    if count > least:
        none = build.literal(0, element, (*batch, rows, count - least))
        kept = build.put(stablehlo.ConcatenateOp([kept, none], len(batch) + 1))
    routine = "ungqr" if is_complex(element) else "orgqr"
    (basis,) = lapack(build, routine, [kept, scales], [(shape_of(kept), element)])
    return known(build, "qr", [basis, upper(build, _box(build, factors, count, columns))], [matrix])


def _box(build: Builder, matrix: SSAValue, rows: int, columns: int) -> SSAValue:
    """The first rows and columns."""
    batch = shape_of(matrix)[:-2]
    limits = (*batch, rows, columns)
    return matrix if limits == shape_of(matrix) else build.slice(matrix, [0] * len(limits), limits)


def solved(build: Builder, matrix: SSAValue, right: SSAValue) -> SSAValue:
    """
    The solutions of `matrix @ x = right`, not finite for a singular matrix; batch dims of the matrix are repeated.

    By orthogonal factors: these need no exchange of rows.
    """
    basis, triangle = orthogonal(build, matrix, shape_of(matrix)[-1])
    batch = shape_of(right)[:-2]
    matrices, bases, triangles = (_repeated(build, value, batch) for value in (matrix, basis, triangle))
    result = by_triangle(build, triangles, product(build, adjoint(build, bases), right))
    (solution,) = known(build, "solve", [result], [matrices, right, bases, triangles])
    return solution


def _repeated(build: Builder, matrix: SSAValue, batch: Sequence[int]) -> SSAValue:
    shape = shape_of(matrix)
    target = (*batch, *shape[-2:])
    return matrix if shape == target else build.broadcast(matrix, target, range(len(target) - len(shape), len(target)))


def by_triangle(build: Builder, triangle: SSAValue, right: SSAValue) -> SSAValue:
    """The solutions of `triangle @ x = right`, of an upper triangle."""
    return build.put(stablehlo.TriangularSolveOp(triangle, right, lower=False))


def inverse(build: Builder, matrix: SSAValue) -> SSAValue:
    """The inverses of square matrices, not finite for singular ones."""
    basis, triangle = orthogonal(build, matrix, shape_of(matrix)[-1])
    return known(build, "inv", [by_triangle(build, triangle, adjoint(build, basis))], [matrix])[0]


def symmetric(build: Builder, matrix: SSAValue, *, vectors: bool) -> list[SSAValue]:
    """The eigenvectors of Hermitian matrices, if they are wanted, and in any case the eigenvalues, ascending."""
    *batch, size, _ = shape_of(matrix)
    element = element_of(matrix)
    routine = "heevd" if is_complex(element) else "syevd"
    results = [(shape_of(matrix), element), ((*batch, size), real_of(matrix)), (batch, i32)]
    columns, values, _ = lapack(build, routine, [matrix], results, mode="V" if vectors else "N", uplo="L")
    return known(build, *(("eigh", [columns, values]) if vectors else ("eigvalsh", [values])), [matrix])


def singular(build: Builder, matrix: SSAValue, mode: str) -> list[SSAValue]:
    """Left vectors, singular values and right vectors: all of them (A), as many as values (S); values alone (N)."""
    *batch, rows, columns = shape_of(matrix)
    least = min(rows, columns)
    some, element = mode == "S", element_of(matrix)
    left, right = (rows, least if some else rows), (least if some else columns, columns)
    shapes = [(rows, columns), (least,), left, right, ()]
    elements = [element, real_of(matrix), element, element, i32]
    results = [((*batch, *shape), kind) for shape, kind in zip(shapes, elements, strict=True)]
    _, values, vectors, adjoints, _ = lapack(build, "gesdd", [matrix], results, mode=mode)
    if mode == "N":
        return known(build, "svdvals", [values], [matrix])
    return known(build, "svd", [vectors, values, adjoints], [matrix])


def pivots(build: Builder, matrix: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The diagonal of the upper factor, and the sign of the rows' permutation: minus one for each row that moved."""
    (*batch, size, _), element = shape_of(matrix), element_of(matrix)
    results = [(shape_of(matrix), element), ((*batch, size), i32), (batch, i32)]
    factors, places, _ = lapack(build, "getrf", [matrix], results)
    own = build.add(build.iota(len(batch), shape_of(places)), build.constant(1, places))
    moved = build.compare(places, "NE", own)
    diagonals = on_diagonal(build, factors)
    signs = build.select(moved, build.constant(-1, diagonals), build.constant(1, diagonals))
    return diagonals, multiplied(build, signs)


def multiplied(build: Builder, values: SSAValue) -> SSAValue:
    """The products along the last dim."""
    dims = (len(shape_of(values)) - 1,)
    return build.put(stablehlo.ReduceOp([values], [build.scalar(1, values)], dims, stablehlo.MultiplyOp))


def determinant(build: Builder, matrix: SSAValue) -> SSAValue:
    """The determinants of square matrices."""
    diagonals, sign = pivots(build, matrix)
    return known(build, "det", [build.multiply(sign, multiplied(build, diagonals))], [matrix])[0]


def log_determinant(build: Builder, matrix: SSAValue) -> list[SSAValue]:
    """The signs of the determinants of square matrices, and the logarithms of their absolute values."""
    diagonals, turns = pivots(build, matrix)
    logarithms = build.put(stablehlo.LogOp(build.put(stablehlo.AbsOp(diagonals))))
    sign = build.multiply(turns, multiplied(build, build.put(stablehlo.SignOp(diagonals))))
    return known(build, "slogdet", [sign, build.sum(logarithms, [len(shape_of(logarithms)) - 1])], [matrix])


def cofactors(build: Builder, matrix: SSAValue) -> SSAValue:
    """
    How the determinants change with each element, for singular matrices as well.

    Of `u @ diag(s) @ vh` they are the determinants of `u` and `vh`, times the conjugate of `u @ diag(p) @ vh`, where
    `p` has for each singular value the product of all others.
    """
    left, values, right = singular(build, matrix, "S")
    ones = build.literal(1, element_of(values), shape_of(matrix))
    others = build.select(related(build, shape_of(matrix), "EQ"), ones, along_columns(build, values, ones))
    phase = build.multiply(determinant(build, left), determinant(build, right))
    scaled = build.multiply(left, along_columns(build, multiplied(build, others), left))
    found = conjugate(build, product(build, scaled, right))
    whole = build.broadcast(phase, shape_of(found), range(len(shape_of(phase))))
    return known(build, "cofactors", [build.multiply(found, whole)], [matrix])[0]
