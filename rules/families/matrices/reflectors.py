"""QR factors and singular values of matrices that are split by rows, column after column; what reflectors make."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects.builtin import ComplexType, IntegerType, Signedness, i32
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.factors import conjugate, lapack, real_of, related, upper
from shardwright.dialects.stablehlo import ComparisonType
from shardwright.dialects.types import dtype_name, element_of, element_size, is_complex, shape_of
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.expansion import Axes, Dims, Site
from shardwright.rules.sharding import Shape


@dataclass(frozen=True)
class _Rows:
    """Matrices whose rows are split, `[..., row, column]`; numbers, rows and small matrices are on all devices."""

    site: Site
    batch: Dims
    axes: Axes

    @property
    def split(self) -> Builder:
        """Builds matrices whose rows are split."""
        return self.site.building((*self.batch, self.axes, ()))

    @property
    def whole(self) -> Builder:
        """Builds small matrices."""
        return self.site.building((*self.batch, (), ()))

    @property
    def rows(self) -> Builder:
        """Builds one row of each matrix."""
        return self.site.building((*self.batch, ()))

    @property
    def numbers(self) -> Builder:
        """Builds one number of each matrix."""
        return self.site.building(self.batch)

    def product(self, left: SSAValue, right: SSAValue, *, adjoint: bool = False) -> SSAValue:
        """`left @ right`; or the adjoint of `left` by `right`, as each device has it of its rows."""
        rank, batch = len(shape_of(left)), tuple(range(len(self.batch)))
        inner = (len(batch) if adjoint else rank - 1,), (len(batch),)
        left = conjugate(self.site.building(self.site.spec(left).dims), left) if adjoint else left
        exact = [stablehlo.Precision.HIGHEST] * 2
        op = stablehlo.DotGeneralOp(left, right, stablehlo.DotDimensions(batch, batch, *inner), precision=exact)
        if not adjoint:
            return self.split.put(op)
        return self.site.put(op, (*self.batch, *[()] * (rank - len(batch))), partial=self.axes, kind="sum")[0]

    def folded(self, value: SSAValue, combiner: type[Operation], kind: str) -> SSAValue:
        """The rows of each matrix in one, as each device has it of its own; zero is neutral."""
        zero = self.site.building(()).scalar(0, value)
        op = stablehlo.ReduceOp([value], [zero], (len(self.batch),), combiner)
        return self.site.put(op, (*self.batch, ()), partial=self.axes, kind=kind)[0]

    def finished(self, value: SSAValue) -> SSAValue:
        """What each device has of its rows, made one on all of them."""
        whole = LayoutSpec(self.site.mesh.name, self.site.spec(value).dims)
        return self.site.insert(dtensor.RelayoutOp(value, whole, self.site.reason)).results[0]

    def everywhere(self, value: SSAValue, like: SSAValue, *dims: int) -> SSAValue:
        """For each matrix a number, a row or a column, as often as another value has it; `dims` it has itself."""
        build = self.site.building(self.site.spec(like).dims)
        rank = len(self.batch)
        return build.broadcast(value, shape_of(like), [*range(rank), *(rank + dim for dim in dims)])


def _summed(sizes: float, parts: Mapping[int, int], factor: int) -> float:
    """What a device sends for a sum of so many bytes over the parts of a factor; other factors take a part each."""
    count = parts[factor]
    return 2 * (count - 1) / count * sizes / math.prod(number for each, number in parts.items() if each != factor)


@dataclass(frozen=True)
class ReflectorsExpansion:
    """
    QR factors of matrices that are split by rows, packed as LAPACK does: a reflector for each column, one by one.

    In a round devices sum up what their rows make of the product of a column with all others, and the row that is next.
    Signs are LAPACK's, which go by what stands on the diagonal by then.
    """

    rows: int
    shape: Shape
    element: Attribute

    @property
    def factors(self) -> frozenset[int]:
        """The rows."""
        return frozenset((self.rows,))

    @property
    def _rounds(self) -> int:
        return min(self.shape[-2:])

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float:
        """Two rows and a sign in each round; and once how large columns are, in real numbers."""
        *batch, _, columns = self.shape
        once = element_size(self.element) // (2 if isinstance(self.element, ComplexType) else 1)
        rounds = self._rounds * (2 * columns + 1) * element_size(self.element)
        return _summed(math.prod(batch) * (rounds + columns * once), parts, self.rows)

    def messages(self, parts: Mapping[int, int]) -> int:
        """One in each round, and one before."""
        return self._rounds + 1

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """The factors and their scales."""
        return _factored(_Rows(site, site.operands[0][:-2], site.factors[self.rows]), op.operands[0])


def _factored(on: _Rows, matrix: SSAValue) -> list[SSAValue]:
    """A loop over columns, of about the same size, so that no square is too large or too small."""
    shape = shape_of(matrix)
    unit = on.everywhere(on.rows.convert(_powers(on, matrix), like=matrix), matrix, 1)
    rounds = min(shape[-2:])
    start = [on.split.divide(matrix, unit), on.rows.literal(0, element_of(matrix), (*shape[:-2], rounds))]

    def body(inside: Site, number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return _reflected(replace(on, site=inside), number, *carried)

    packed, scales = on.site.loop(start, rounds, body)
    above = related(on.split, shape, "LE")
    return [on.split.select(above, on.split.multiply(packed, unit), packed), scales]


def _powers(on: _Rows, matrix: SSAValue) -> SSAValue:
    """For each column the power of two below its largest number, as far as it has an inverse."""
    real = real_of(matrix)
    parts = [stablehlo.RealOp(matrix), stablehlo.ImagOp(matrix)] if is_complex(element_of(matrix)) else []
    sizes = [on.split.put(stablehlo.AbsOp(on.split.put(part))) for part in parts]
    sizes = sizes or [on.split.put(stablehlo.AbsOp(matrix))]
    size = sizes[0] if len(sizes) == 1 else on.split.put(stablehlo.MaximumOp(*sizes))
    largest = on.finished(on.folded(size, stablehlo.MaximumOp, "max"))
    limits = np.finfo(np.dtype(dtype_name(real)))
    bits = IntegerType(limits.bits, Signedness.UNSIGNED)
    exponent = ((1 << (limits.bits - 1)) - 1) >> limits.nmant << limits.nmant
    build = on.rows
    found = build.put(stablehlo.BitcastConvertOp(largest, bits))
    power = build.put(stablehlo.BitcastConvertOp(build.both(found, build.constant(exponent, found)), real))
    low, high = float(limits.tiny), 2.0 ** (limits.maxexp - 2)
    return build.clamp(build.constant(low, power), power, build.constant(high, power))


def _reflected(on: _Rows, number: SSAValue, matrix: SSAValue, scales: SSAValue) -> Sequence[SSAValue]:
    """One round: from the column of this number below its diagonal comes the reflector, of all columns behind."""
    (*batch, rows, _), rank = shape_of(matrix), len(on.batch)
    zero = on.site.building(()).literal(0, i32)
    tall = on.site.building((*on.batch, on.axes))
    column = tall.reshape(on.split.window(matrix, [*[zero] * (rank + 1), number], (*batch, rows, 1)), (*batch, rows))
    place, here = tall.iota(rank, (*batch, rows)), tall.broadcast(number, (*batch, rows), ())
    first, below = (tall.compare(place, direction, here) for direction in ("EQ", "GT"))
    under = tall.select(below, column, tall.zeros(column))
    held = on.split.select(on.everywhere(first, matrix, 0), matrix, on.split.zeros(matrix))
    row, inner, sign = _met(on, held, on.product(under, matrix, adjoint=True), _sign(on, first, column))
    start, squares = (
        on.numbers.reshape(on.rows.window(each, [*[zero] * rank, number], (*batch, 1)), batch) for each in (row, inner)
    )
    last, scale, stretch = _reflector(on.numbers, start, squares, on.numbers.reshape(sign, batch))
    vector = tall.multiply(under, on.everywhere(stretch, under))
    bent = on.rows.multiply(on.everywhere(conjugate(on.numbers, stretch), inner), inner)
    bent = on.rows.multiply(on.everywhere(conjugate(on.numbers, scale), row), on.rows.add(row, bent))
    one = tall.select(first, tall.constant(1, vector), vector)
    change = on.split.multiply(on.everywhere(one, matrix, 0), on.everywhere(bent, matrix, 1))
    own = tall.select(first, on.everywhere(last, column), tall.select(below, vector, column))
    at, now = on.split.iota(rank + 1, shape_of(matrix)), on.split.broadcast(number, shape_of(matrix), ())
    # Numbers that are none stay where they are: others are left out of what is done, not done with zero.
    reached = on.everywhere(tall.put(stablehlo.OrOp(first, below)), matrix, 0)
    reached = on.split.both(reached, on.split.compare(at, "GT", now))
    matrix = on.split.select(reached, on.split.subtract(matrix, change), matrix)
    matrix = on.split.select(on.split.compare(at, "EQ", now), on.everywhere(own, matrix, 0), matrix)
    return matrix, on.rows.update(scales, on.rows.reshape(scale, (*batch, 1)), [*[zero] * rank, number])


def _sign(on: _Rows, first: SSAValue, column: SSAValue) -> SSAValue:
    """One or minus one, as each device has it of its rows: the sign of the first element, which -0 has as well."""
    build = on.site.building(on.site.spec(column).dims)
    real = build.put(stablehlo.RealOp(column)) if is_complex(element_of(column)) else column
    negative = build.put(stablehlo.CompareOp(real, build.zeros(real), "LT", ComparisonType.TOTALORDER))
    signs = build.select(negative, build.constant(-1, column), build.constant(1, column))
    *batch, rows = shape_of(column)
    held = on.split.reshape(build.select(first, signs, build.zeros(column)), (*batch, rows, 1))
    return on.folded(held, stablehlo.AddOp, "sum")


def _met(on: _Rows, held: SSAValue, *sums: SSAValue) -> list[SSAValue]:
    """The row that one device holds, and what else is a sum over all, in one message."""
    parts = [on.folded(held, stablehlo.AddOp, "sum"), *sums]
    every = on.finished(on.rows.put(stablehlo.ConcatenateOp(parts, len(on.batch))))
    found: list[SSAValue] = []
    ends = [*shape_of(every)[:-1], 0]
    for part in parts:
        start, ends = ends[-1], [*ends[:-1], ends[-1] + shape_of(part)[-1]]
        found.append(on.rows.slice(every, [*[0] * len(on.batch), start], ends))
    return found


def _reflector(
    build: Builder, start: SSAValue, squares: SSAValue, sign: SSAValue
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """
    What a reflector leaves of a column, its scale, and by what the column below is stretched to be its vector.

    The column begins with `start`, of this `sign`; `squares` is the sum of the squares below. Where all is zero there
    already, nothing is reflected, as in LAPACK's larfg.
    """
    complex_ = is_complex(element_of(start))
    real, squares, sign = (build.put(stablehlo.RealOp(each)) if complex_ else each for each in (start, squares, sign))
    turned = build.put(stablehlo.ImagOp(start)) if complex_ else build.zeros(start)
    size = build.add(build.multiply(real, real), build.add(build.multiply(turned, turned), squares))
    size = build.put(stablehlo.SqrtOp(size))
    zero, one = build.zeros(real), build.constant(1, real)
    negative = build.compare(sign, "LT", zero)
    still = build.both(build.compare(squares, "EQ", zero), build.compare(turned, "EQ", zero))
    last = build.select(still, real, build.select(negative, size, build.negate(size)))
    divisor = build.select(still, one, last)
    scale = build.divide(build.subtract(last, real), divisor)
    if not complex_:
        return last, scale, build.divide(one, build.select(still, one, build.subtract(real, last)))
    scale = build.put(stablehlo.ComplexOp(scale, build.negate(build.divide(turned, divisor))))
    lengths = build.put(stablehlo.ComplexOp(build.select(still, one, build.subtract(real, last)), turned))
    stretch = build.divide(build.constant(1, lengths), lengths)
    return build.put(stablehlo.ComplexOp(last, zero)), scale, stretch


@dataclass(frozen=True)
class BasisExpansion:
    """
    The first columns of the product of reflectors that are split by rows: all reflectors at once.

    Their product is `1 - V T V^H` with a small upper triangle T, which follows from what devices sum up of `V^H V`.
    """

    rows: int
    shape: Shape
    reflectors: int
    element: Attribute

    @property
    def factors(self) -> frozenset[int]:
        """The rows."""
        return frozenset((self.rows,))

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """The products of reflectors with each other, and their first rows."""
        *batch, _, columns = self.shape
        numbers = math.prod(batch) * self.reflectors * (self.reflectors + columns)
        return _summed(numbers * element_size(self.element), parts, self.rows)

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """The columns."""
        return [_basis(_Rows(site, site.operands[0][:-2], site.factors[self.rows]), *op.operands)]


def _basis(on: _Rows, packed: SSAValue, scales: SSAValue) -> SSAValue:
    """`1 - V X` where `X = T V^H`, as far as the first columns go: `(1 + D U) X = D V^H`."""
    shape, count, build, whole = shape_of(packed), shape_of(scales)[-1], on.split, on.whole
    rank, tall = len(on.batch), (*shape[:-1], count)
    vectors = build.slice(packed, [0] * (rank + 2), tall)
    ones = build.convert(related(build, tall, "EQ"), like=packed)
    vectors = build.select(related(build, tall, "GT"), vectors, ones)
    unit = build.convert(related(build, shape, "EQ"), like=packed)
    both = build.put(stablehlo.ConcatenateOp([vectors, unit], rank + 1))
    both = on.finished(on.product(vectors, both, adjoint=True))
    gram = whole.slice(both, [0] * (rank + 2), [*shape[:-2], count, count])
    first = whole.slice(both, [*[0] * (rank + 1), count], shape_of(both))
    gram, first = (whole.multiply(on.everywhere(scales, each, 0), each) for each in (gram, first))
    gram = whole.select(related(whole, shape_of(gram), "LT"), gram, whole.zeros(gram))
    solved = whole.put(stablehlo.TriangularSolveOp(gram, first, lower=False, unit_diagonal=True))
    return build.subtract(unit, on.product(vectors, solved))


@dataclass(frozen=True)
class ValuesExpansion(ReflectorsExpansion):
    """
    Singular values of matrices of many rows, which are split: those of the upper factor, which is small.

    LAPACK does so as well, where there are twice as many rows as columns.
    """

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float:
        """Reflectors, and the upper factor, of which each device has some rows."""
        *batch, _, columns = self.shape
        square = math.prod(batch) * columns**2 * element_size(self.element)
        return super().price(parts, sizes) + _summed(square, parts, self.rows)

    def messages(self, parts: Mapping[int, int]) -> int:
        """Those of the reflectors, and one more."""
        return super().messages(parts) + 1

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """The values of the upper factor; vectors are not wanted, and zero."""
        on = _Rows(site, site.operands[0][:-2], site.factors[self.rows])
        (matrix,), (*batch, _, columns), rank = op.operands, self.shape, len(on.batch)
        packed, _ = _factored(on, matrix)
        shape, dims = (*batch, columns, columns), (*on.batch, (), ())
        held = stablehlo.SliceOp(packed, [0] * (rank + 2), shape)
        triangle = upper(on.whole, on.finished(site.put(held, dims, partial=on.axes, kind="sum")[0]))

        def insert(call: Operation) -> Operation:
            site.put(call, dims, dims[:-1], dims, dims, on.batch)
            return call

        results = [(shape, self.element), (shape[:-1], real_of(matrix)), *[(shape, self.element)] * 2, (batch, i32)]
        _, values, _, _, info = lapack(Builder(insert), "gesdd", [triangle], results, mode="N")
        return [matrix, values, on.split.zeros(op.results[2]), on.whole.zeros(op.results[3]), info]
