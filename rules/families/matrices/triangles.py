"""Triangular systems and Cholesky factors of matrices that are split by rows or columns: block after block."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.factors import adjoint, conjugate, lapack, related, turned
from shardwright.dialects.stablehlo.algebra.linear_algebra import Transpose
from shardwright.dialects.types import element_of, is_complex, shape_of, tensor
from shardwright.layout.planning.window import Window
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.expansion import Axes, Dims, Site, rounds_to_all

MOST_PARTS = 32
"""Into so many parts at most a matrix is taken: what is done is written out for each of them."""


@dataclass(frozen=True)
class Blocks:
    """
    Values of which one dim is cut into the parts that devices hold, which are a batch dim: `[..., part, row, column]`.

    Each device computes for its own part; what it computes in vain is dropped.
    """

    site: Site
    batch: Dims
    axes: Axes
    """The axes of the parts."""

    @property
    def parts(self) -> int:
        """The number of parts."""
        return self.site.mesh.group_size(self.axes)

    def on(self, *dims: Axes) -> Builder:
        """Builds values whose last dims have these axes."""
        return self.site.building((*self.batch, *dims))

    def like(self, value: SSAValue) -> Builder:
        """Builds values with the dims of another one."""
        return self.site.building(self.site.spec(value).dims)

    def sent(self, value: SSAValue, part: int) -> SSAValue:
        """What is in one part, on all devices: all parts are that one."""
        dims, place = self.site.spec(value).dims, len(self.batch)
        windows = [Window(size, size, 0) for size in shape_of(value)]
        windows[place] = Window(self.parts, self.parts, part, frame=1, step=0)
        axes = [mine if dim == place else () for dim, mine in enumerate(dims)]
        type_ = tensor(shape_of(value), element_of(value))
        moved = dtensor.WindowOp(value, type_, self.site.mesh.name, axes, windows, None, self.site.reason)
        return self.site.put(moved, dims)[0]

    def where(self, direction: str, part: int, chosen: SSAValue, other: SSAValue) -> SSAValue:
        """One value in the parts that relate so to one of them, and another value in all others."""
        build = self.site.building((self.axes,))
        mask = build.compare(build.iota(0, (self.parts,)), direction, build.literal(part, i32, (self.parts,)))
        build = self.like(chosen)
        return build.select(build.broadcast(mask, shape_of(chosen), (len(self.batch),)), chosen, other)

    def own(self, value: SSAValue, dim: int, first: int = 0) -> SSAValue:
        """
        Of the blocks along a dim, which disappears, each part's own; zeros in a part that has none.

        The block at place `i` is that of part `first + i`.
        """
        build, shape, dims = self.like(value), shape_of(value), self.site.spec(value).dims
        number = build.iota(dim, shape)
        number = build.add(number, build.literal(first, i32, shape)) if first else number
        mine = build.compare(number, "EQ", build.iota(len(self.batch), shape))
        mine = build.select(mine, value, build.zeros(value))
        zero = self.site.building(()).scalar(0, value)
        found = stablehlo.ReduceOp([mine], [zero], (dim,), stablehlo.AddOp)
        return self.site.building((*dims[:dim], *dims[dim + 1 :])).put(found)

    def cut(self, value: SSAValue, dim: int, first: int, count: int) -> SSAValue:
        """Some elements along a dim that is whole."""
        shape = shape_of(value)
        starts, ends = [0] * len(shape), list(shape)
        starts[dim], ends[dim] = first, first + count
        return value if (first, count) == (0, shape[dim]) else self.like(value).slice(value, starts, ends)

    def joined(self, values: Sequence[SSAValue], dim: int) -> SSAValue:
        """Values laid end to end along a dim that is whole."""
        found = [value for value in values if shape_of(value)[dim]]
        return found[0] if len(found) == 1 else self.like(found[0]).put(stablehlo.ConcatenateOp(found, dim))

    def product(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """The products of the matrices of all parts."""
        rank = len(shape_of(left))
        batch = tuple(range(rank - 2))
        pairs = stablehlo.DotDimensions(batch, batch, (rank - 1,), (rank - 2,))
        return self.on(self.axes, (), self.site.spec(right).dims[-1]).put(_exactly(left, right, pairs))


def _exactly(left: SSAValue, right: SSAValue, pairs: stablehlo.DotDimensions) -> stablehlo.DotGeneralOp:
    """A product that is as exact as its elements."""
    return stablehlo.DotGeneralOp(left, right, pairs, precision=[stablehlo.Precision.HIGHEST] * 2)


def _split(factors: Sequence[int], parts: Mapping[int, int]) -> tuple[int, int, int]:
    """Which of the factors is split, into how many parts, and into how many all others are together."""
    factor = next(factor for factor in factors if factor in parts)
    return factor, parts[factor], math.prod(number for each, number in parts.items() if each != factor)


@dataclass(frozen=True)
class Triangle:
    """Which system a solve is of: on which side of the solution the matrix stands, and what is done to it."""

    left: bool
    lower: bool
    unit: bool
    transpose: Transpose

    @property
    def turned(self) -> bool:
        """Whether the matrix is transposed to stand to the left of columns that are solved for."""
        return self.left == (self.transpose is not Transpose.NO_TRANSPOSE)

    @property
    def forward(self) -> bool:
        """Whether the first rows are solved for first."""
        return self.lower != self.turned

    def standing(self, build: Builder, matrix: SSAValue) -> SSAValue:
        """The matrix to the left of columns that are solved for."""
        matrix = turned(build, matrix) if self.turned else matrix
        return conjugate(build, matrix) if self.transpose is Transpose.ADJOINT else matrix

    def solved(self, blocks: Blocks, block: SSAValue, right: SSAValue) -> SSAValue:
        """The solution of blocks that stand to the left."""
        op = stablehlo.TriangularSolveOp(block, right, lower=self.forward, unit_diagonal=self.unit)
        return blocks.like(right).put(op)


@dataclass(frozen=True)
class SolveExpansion:
    """
    A triangular system whose matrix is split by rows or columns: its parts are solved for one after the other.

    Where rows are split, what is solved for is sent to all, who subtract what it means for their own rows. Where
    columns are, each device has what its part of the solution means for the next rows, which is summed up.
    """

    rows: int
    columns: int
    triangle: Triangle

    @property
    def factors(self) -> frozenset[int]:
        """The rows and the columns of the matrix."""
        return frozenset((self.rows, self.columns))

    def _by_rows(self, factor: int) -> bool:
        """Whether rows are split of the matrix as it stands to the left."""
        return (factor == self.rows) != self.triangle.turned

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """All parts of the solution but one, sent to all devices or summed up on all of them."""
        factor, count, others = _split((self.rows, self.columns), parts)
        if count > MOST_PARTS:
            return None
        once = 1 if self._by_rows(factor) else 2
        return once * ((count - 1) / count) ** 2 * sizes[1] / others

    def messages(self, parts: Mapping[int, int]) -> int:
        """One for each part but the last."""
        return _split((self.rows, self.columns), parts)[1] - 1

    def rounds(self, parts: Mapping[int, int]) -> int:
        """The same, each handed on where rows are split."""
        factor, count, _ = _split((self.rows, self.columns), parts)
        return (count - 1) * (rounds_to_all(count) if self._by_rows(factor) else 1)

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """As columns that are solved for, with the matrix to the left."""
        triangle, dims = self.triangle, site.operands[1]
        factor, _, _ = _split((self.rows, self.columns), site.numbers)
        blocks = Blocks(site, dims[:-2], site.factors[factor])
        free = dims[-1] if triangle.left else dims[-2]
        by_rows = self._by_rows(factor)
        build = blocks.on(blocks.axes, ()) if by_rows else blocks.on((), blocks.axes)
        matrix = triangle.standing(build, op.operands[0])
        right = op.operands[1] if triangle.left else turned(blocks.on(blocks.axes, free), op.operands[1])
        *batch, size, columns = shape_of(right)
        rows = size // blocks.parts
        right = blocks.on(blocks.axes, (), free).reshape(right, (*batch, blocks.parts, rows, columns))
        order = range(blocks.parts)[:: 1 if triangle.forward else -1]
        made = (self._sent if by_rows else self._summed)(blocks, matrix, right, order)
        made = blocks.on(blocks.axes, free).reshape(made, (*batch, size, columns))
        return [made if triangle.left else turned(site.building(site.results[0]), made)]

    def _sent(self, blocks: Blocks, matrix: SSAValue, right: SSAValue, order: Sequence[int]) -> SSAValue:
        """Each part of the solution goes to all, who subtract what it means for their rows."""
        *batch, parts, rows, _ = shape_of(right)
        matrix = blocks.on(blocks.axes, (), (), ()).reshape(matrix, (*batch, parts, rows, parts, rows))
        squares = blocks.own(matrix, len(batch) + 2)
        later = "GT" if self.triangle.forward else "LT"
        for part in order[:-1]:
            known = blocks.sent(self.triangle.solved(blocks, squares, right), part)
            block = blocks.cut(matrix, len(batch) + 2, part, 1)
            block = blocks.on(blocks.axes, (), ()).reshape(block, (*batch, parts, rows, rows))
            rest = blocks.like(right).subtract(right, blocks.product(block, known))
            right = blocks.where(later, part, rest, right)
        return self.triangle.solved(blocks, squares, right)

    def _summed(self, blocks: Blocks, matrix: SSAValue, right: SSAValue, order: Sequence[int]) -> SSAValue:
        """What all parts so far mean for the next rows is summed up; who has these columns keeps what is solved."""
        *batch, parts, rows, _ = shape_of(right)
        rank = len(batch)
        matrix = blocks.on((), (), blocks.axes, ()).reshape(matrix, (*batch, parts, rows, parts, rows))
        to = [*range(rank), rank + 2, rank, rank + 1, rank + 3]
        matrix = blocks.on(blocks.axes, (), (), ()).transpose(matrix, to)
        squares, solution, left = blocks.own(matrix, rank + 1), blocks.like(right).zeros(right), right
        for part in order:
            if part != order[0]:
                block = blocks.cut(matrix, rank + 1, part, 1)
                block = blocks.on(blocks.axes, (), ()).reshape(block, (*batch, parts, rows, rows))
                left = self._left_over(blocks, block, solution, right, part)
            found = self.triangle.solved(blocks, squares, left)
            solution = blocks.where("EQ", part, found, solution)
        return solution

    def _left_over(self, blocks: Blocks, block: SSAValue, solution: SSAValue, right: SSAValue, part: int) -> SSAValue:
        """The right-hand side of one part, less what is known of the solution, on all devices."""
        *batch, _, rows, columns = shape_of(right)
        site, every, free = blocks.site, tuple(range(len(batch))), blocks.site.spec(right).dims[-1]
        dims, at = (*blocks.batch, (), free), len(batch)
        pairs = stablehlo.DotDimensions(every, every, (at, at + 2), (at, at + 1))
        (known,) = site.put(_exactly(block, solution, pairs), dims, partial=blocks.axes, kind="sum")
        starts, ends = [0] * (at + 3), list(shape_of(right))
        starts[at], ends[at] = part, part + 1
        held = stablehlo.SliceOp(right, starts, ends)
        (mine,) = site.put(held, (*blocks.batch, (), (), free), partial=blocks.axes, kind="sum")
        build = site.building(dims)
        rest = build.subtract(build.reshape(mine, (*batch, rows, columns)), known)
        flowing = site.spec(right)
        whole = LayoutSpec(site.mesh.name, dims, frozenset(), flowing.partial, flowing.kind)
        rest = site.insert(dtensor.RelayoutOp(rest, whole, site.reason)).results[0]
        return blocks.like(right).broadcast(rest, shape_of(right), [*every, at + 1, at + 2])


@dataclass(frozen=True)
class CholeskyExpansion:
    """
    The Cholesky factors of matrices that are split by rows or columns, block after block.

    As lower triangles: where rows are split, those of a part, as far as they are known, are sent to all, who make the
    next columns of their own. Where columns are, those of a part are sent to all, who subtract what they mean.
    """

    rows: int
    columns: int
    lower: bool
    matrices: int
    """How many there are."""
    places: bool
    """Whether the op also says which minor is the first one that is not positive (LAPACK's potrf)."""

    @property
    def factors(self) -> frozenset[int]:
        """The rows and the columns of the matrix."""
        return frozenset((self.rows, self.columns))

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """Half of the matrix, as far as devices lack it, and whether each block is positive."""
        _, count, others = _split((self.rows, self.columns), parts)
        if count > MOST_PARTS:
            return None
        said = self.matrices / others * (4 if self.places else 1)
        return ((count - 1) / count) ** 2 * sizes[0] / others / 2 + 2 * (count - 1) / count * said

    def messages(self, parts: Mapping[int, int]) -> int:
        """One for each part but the last, and whether any fails."""
        return _split((self.rows, self.columns), parts)[1]

    def rounds(self, parts: Mapping[int, int]) -> int:
        """The same, parts handed on."""
        _, count, _ = _split((self.rows, self.columns), parts)
        return (count - 1) * rounds_to_all(count) + 1

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """As lower triangles of matrices that are split by rows or columns."""
        factor, _, _ = _split((self.rows, self.columns), site.numbers)
        (dims, *_), matrix = site.operands, op.operands[0]
        blocks = Blocks(site, dims[:-2], site.factors[factor])
        by_rows = (factor == self.rows) == self.lower
        build = blocks.on(blocks.axes, ()) if by_rows else blocks.on((), blocks.axes)
        matrix = matrix if self.lower else adjoint(build, matrix)
        found, bad = (self._by_rows if by_rows else self._by_columns)(blocks, matrix)
        said = self._said(blocks, bad)
        if not self.places:
            shape = shape_of(matrix)
            failed = build.broadcast(said, shape, range(len(shape) - 2))
            found = build.select(failed, build.constant(math.nan, found), found)
        other = matrix if self.places else build.zeros(matrix)
        found = build.select(related(build, shape_of(matrix), "GE"), found, other)
        found = found if self.lower else adjoint(site.building(site.results[0]), found)
        return [found, said] if self.places else [found]

    def _by_rows(self, blocks: Blocks, matrix: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The factors, where rows are split, with anything above the diagonal; and which parts fail, and where."""
        *batch, size, _ = shape_of(matrix)
        parts, rank = blocks.parts, len(batch)
        rows = size // parts
        matrix = blocks.on(blocks.axes, (), ()).reshape(matrix, (*batch, parts, rows, size))
        known, bad = blocks.cut(matrix, rank + 2, 0, 0), self._nothing(blocks, batch)
        for part in range(parts):
            column = blocks.cut(matrix, rank + 2, part * rows, rows)
            row = blocks.joined([known, column], rank + 2)
            row = row if part == parts - 1 else blocks.sent(row, part)
            before = blocks.cut(row, rank + 2, 0, part * rows)
            block = self._less(blocks, blocks.cut(row, rank + 2, part * rows, rows), before, before)
            square, place = self._factored(blocks, block, part)
            below = self._solved(blocks, square, self._less(blocks, column, known, before))
            known = blocks.joined([known, blocks.where("EQ", part, square, below)], rank + 2)
            bad = blocks.where("EQ", part, place, bad)
        return blocks.on(blocks.axes, ()).reshape(known, (*batch, size, size)), bad

    def _by_columns(self, blocks: Blocks, matrix: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The same, where columns are split."""
        *batch, size, _ = shape_of(matrix)
        parts, rank = blocks.parts, len(batch)
        columns, order = size // parts, [*range(rank), rank + 1, rank, rank + 2]
        matrix = blocks.on((), blocks.axes, ()).reshape(matrix, (*batch, size, parts, columns))
        matrix = blocks.on(blocks.axes, (), ()).transpose(matrix, order)
        bad, found, rest = self._nothing(blocks, batch), blocks.like(matrix).zeros(matrix), matrix
        for part in range(parts):
            square, place = self._factored(blocks, blocks.cut(rest, rank + 1, 0, columns), part)
            below = blocks.cut(rest, rank + 1, columns, size - (part + 1) * columns)
            if part < parts - 1:
                below = self._solved(blocks, square, below)
                rest = self._less_own(blocks, blocks.cut(rest, rank + 1, columns, shape_of(below)[-2]), below, part)
            above = blocks.cut(found, rank + 1, 0, part * columns)
            found = blocks.where("EQ", part, blocks.joined([above, square, below], rank + 1), found)
            bad = blocks.where("EQ", part, place, bad)
        found = blocks.on((), blocks.axes, ()).transpose(found, order)
        return blocks.on((), blocks.axes).reshape(found, (*batch, size, size)), bad

    def _less_own(self, blocks: Blocks, rest: SSAValue, below: SSAValue, part: int) -> SSAValue:
        """What is left of all columns behind a part once that part, which is sent to all, is known."""
        known = blocks.sent(below, part)
        *batch, parts, size, columns = shape_of(known)
        shape = (*batch, parts, size // columns, columns, columns)
        each = blocks.on(blocks.axes, (), (), ()).reshape(known, shape)
        return self._less(blocks, rest, known, blocks.own(each, len(batch) + 1, part + 1))

    def _less(self, blocks: Blocks, value: SSAValue, left: SSAValue, right: SSAValue) -> SSAValue:
        """`value - left @ right^H`."""
        if not shape_of(left)[-1]:
            return value
        build = blocks.like(value)
        return build.subtract(value, blocks.product(left, adjoint(build, right)))

    def _solved(self, blocks: Blocks, square: SSAValue, right: SSAValue) -> SSAValue:
        """`x` where `x @ square^H = right`."""
        transpose = Transpose.ADJOINT if is_complex(element_of(square)) else Transpose.TRANSPOSE
        op = stablehlo.TriangularSolveOp(square, right, left_side=False, lower=True, transpose_a=transpose)
        return blocks.like(right).put(op)

    def _factored(self, blocks: Blocks, block: SSAValue, part: int) -> tuple[SSAValue, SSAValue]:
        """The factor of the diagonal block of a part, and whether that fails: for LAPACK's, at which minor of all."""
        *batch, rows, _ = shape_of(block)
        marks = blocks.on(blocks.axes)
        if not self.places:
            square = blocks.like(block).put(stablehlo.CholeskyOp(block, lower=True))
            rank = len(batch)
            corner = blocks.like(block).slice(square, [0] * (rank + 2), [*batch, 1, 1])
            corner = marks.reshape(corner, batch)
            return square, marks.compare(corner, "NE", corner)
        dims = blocks.site.spec(block).dims

        def insert(op: Operation) -> Operation:
            blocks.site.put(op, dims, dims[:-2])
            return op

        results = [(shape_of(block), element_of(block)), (batch, i32)]
        square, minor = lapack(Builder(insert), "potrf", [block], results, uplo="L")
        fails = marks.compare(minor, "GT", marks.zeros(minor))
        place = marks.add(minor, marks.constant(part * rows, minor))
        return square, marks.select(fails, place, marks.constant(_NOWHERE, minor))

    def _nothing(self, blocks: Blocks, batch: Sequence[int]) -> SSAValue:
        """What is said of parts that do not fail."""
        value, element = (_NOWHERE, i32) if self.places else (False, i1)
        return blocks.on(blocks.axes).literal(value, element, (*batch, blocks.parts))

    def _said(self, blocks: Blocks, bad: SSAValue) -> SSAValue:
        """Whether any part fails, or the first minor that does."""
        site, rank = blocks.site, len(blocks.batch)
        start = site.building(()).scalar(_NOWHERE if self.places else False, bad)
        combiner, kind = (stablehlo.MinimumOp, "min") if self.places else (stablehlo.OrOp, "or")
        met = stablehlo.ReduceOp([bad], [start], (rank,), combiner)
        (found,) = site.put(met, blocks.batch, partial=blocks.axes, kind=kind)
        whole = LayoutSpec(site.mesh.name, blocks.batch)
        found = site.insert(dtensor.RelayoutOp(found, whole, site.reason)).results[0]
        if not self.places:
            return found
        build = blocks.on()
        nowhere = build.compare(found, "EQ", build.constant(_NOWHERE, found))
        return build.select(nowhere, build.zeros(found), found)


_NOWHERE = 2**31 - 1
"""The minor that fails of a matrix that is positive."""
