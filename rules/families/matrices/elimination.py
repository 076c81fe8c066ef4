"""LU factors of matrices that are split by columns: those of a part, which is there whole, for all parts behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.factors import lapack
from shardwright.dialects.types import element_of, element_size, shape_of
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.expansion import Site, rounds_to_all
from shardwright.rules.families.matrices.triangles import MOST_PARTS, Blocks
from shardwright.rules.sharding import Shape


@dataclass(frozen=True)
class EliminationExpansion:
    """
    LU factors of matrices that are split by columns, part after part: who has the columns looks for pivots in them.

    They are sent to all, with which rows trade places; those who have columns behind eliminate them there. Parts that
    are behind the last row have no factors of their own.
    """

    columns: int
    shape: Shape
    element: Attribute

    @property
    def factors(self) -> frozenset[int]:
        """The columns."""
        return frozenset((self.columns,))

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """The factors of all parts but the last, from their diagonal on; and pivots, summed up."""
        *batch, rows, columns = self.shape
        count = parts[self.columns]
        if count > MOST_PARTS:
            return None
        numbers = sum(self._sent(count)) * element_size(self.element)
        told = 2 * element_size(i32) * (min(rows, columns) + len(self._starts(count)))
        others = math.prod(number for factor, number in parts.items() if factor != self.columns)
        return (count - 1) / count * math.prod(batch) / others * (numbers + told)

    def messages(self, parts: Mapping[int, int]) -> int:
        """One of pivots for each part that has any, and one of factors for each that sends them."""
        count = parts[self.columns]
        return len(self._starts(count)) + len(self._sent(count))

    def rounds(self, parts: Mapping[int, int]) -> int:
        """The same, factors handed on."""
        count = parts[self.columns]
        return len(self._starts(count)) + len(self._sent(count)) * rounds_to_all(count)

    def _starts(self, count: int) -> range:
        """The first columns of those parts that have pivots, which are in the diagonal."""
        *_, rows, columns = self.shape
        return range(0, min(rows, columns), columns // count)

    def _sent(self, count: int) -> list[int]:
        """How many factors each part sends that sends any: there are parts behind it, and rows to eliminate."""
        *_, rows, columns = self.shape
        left = [rows - start for start in self._starts(count)[: count - 1]]
        return [height * min(height, columns // count) for height in left if height > 1]

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """Parts are a batch dim, `[..., part, row, column]`."""
        (dims,), (*batch, rows, columns), rank = site.operands, self.shape, len(self.shape) - 2
        blocks = Blocks(site, dims[:-2], site.factors[self.columns])
        parts, width = blocks.parts, columns // blocks.parts
        order = [*range(rank), rank + 1, rank, rank + 2]
        matrix = blocks.on((), blocks.axes, ()).reshape(op.operands[0], (*batch, rows, parts, width))
        matrix = blocks.on(blocks.axes, (), ()).transpose(matrix, order)
        build = blocks.on(())
        pivots: list[SSAValue] = []
        failed = blocks.on().literal(0, i32, batch)
        for part, start in enumerate(self._starts(parts)):
            done = blocks.cut(matrix, rank + 1, 0, start)
            rest, told = self._eliminated(blocks, blocks.cut(matrix, rank + 1, start, rows - start), part)
            matrix = blocks.joined([done, rest], rank + 1)
            count = shape_of(told)[-1] - 1
            found = build.slice(told, [0] * (rank + 1), [*batch, count])
            pivots.append(build.add(found, build.constant(start, found)))
            zero = build.slice(told, [*[0] * rank, count], [*batch, count + 1])
            failed = _first(blocks.on(), failed, zero, start)
        matrix = blocks.on((), blocks.axes, ()).transpose(matrix, order)
        matrix = blocks.on((), blocks.axes).reshape(matrix, self.shape)
        return [matrix, build.put(stablehlo.ConcatenateOp(pivots, rank)), failed]

    def _eliminated(self, blocks: Blocks, rest: SSAValue, part: int) -> tuple[SSAValue, SSAValue]:
        """What is left of all parts once one of them is factored, and its pivots and whether any is zero."""
        rank, (height, width) = len(blocks.batch), shape_of(rest)[-2:]
        packed, told = self._factored(blocks, rest, part)
        count = min(height, width)
        rest = _traded(blocks, rest, _order(blocks, told, count, height))
        if part < blocks.parts - 1 and height > 1:
            known = blocks.sent(blocks.cut(packed, rank + 2, 0, count), part)
            first = blocks.cut(rest, rank + 1, 0, count)
            square = blocks.cut(known, rank + 1, 0, count)
            solve = stablehlo.TriangularSolveOp(square, first, lower=True, unit_diagonal=True)
            solved = blocks.like(first).put(solve)
            behind = [solved]
            if height > count:
                below = blocks.cut(rest, rank + 1, count, height - count)
                product = blocks.product(blocks.cut(known, rank + 1, count, height - count), solved)
                behind.append(blocks.like(below).subtract(below, product))
            rest = blocks.where("GT", part, blocks.joined(behind, rank + 1), rest)
        return blocks.where("EQ", part, packed, rest), told

    def _factored(self, blocks: Blocks, rest: SSAValue, part: int) -> tuple[SSAValue, SSAValue]:
        """The factors of what is left of each part; of one part, on all devices, its pivots, and which one is zero."""
        site, rank = blocks.site, len(blocks.batch)
        shape, dims = shape_of(rest), site.spec(rest).dims

        def insert(op: Operation) -> Operation:
            site.put(op, dims, dims[:-1], dims[:-2])
            return op

        results = [(shape, element_of(rest)), ((*shape[:-2], min(shape[-2:])), i32), (shape[:-2], i32)]
        packed, pivots, zero = lapack(Builder(insert), "getrf", [rest], results)
        build = blocks.on(blocks.axes, ())
        zero = build.reshape(zero, (*shape[:-2], 1))
        told = build.put(stablehlo.ConcatenateOp([pivots, zero], rank + 1))
        told = blocks.where("EQ", part, told, build.zeros(told))
        start = site.building(()).scalar(0, told)
        summed = stablehlo.ReduceOp([told], [start], (rank,), stablehlo.AddOp)
        (found,) = site.put(summed, (*blocks.batch, ()), partial=blocks.axes, kind="sum")
        whole = LayoutSpec(site.mesh.name, (*blocks.batch, ()))
        return packed, site.insert(dtensor.RelayoutOp(found, whole, site.reason)).results[0]


def _first(build: Builder, failed: SSAValue, found: SSAValue, before: int) -> SSAValue:
    """The first pivot that is zero, from one; of a part of which so many are before it, if there is none so far."""
    found = build.reshape(found, shape_of(failed))
    counted = build.add(found, build.constant(before, found))
    fails = build.both(build.compare(failed, "EQ", build.zeros(failed)), build.compare(found, "GT", build.zeros(found)))
    return build.select(fails, counted, failed)


def _order(blocks: Blocks, told: SSAValue, count: int, rows: int) -> SSAValue:
    """Which row stands where once the rows at the first places have traded places with their pivots, in turn."""
    *batch, _ = shape_of(told)
    rank, shape = len(batch), (*batch, rows)

    def body(inside: Site, number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        build, numbers, (order,) = inside.building((*blocks.batch, ())), inside.building(blocks.batch), carried
        zero = inside.building(()).literal(0, i32)
        pivot = build.window(told, [*[zero] * rank, number], (*batch, 1))
        pivot = numbers.reshape(build.subtract(pivot, build.constant(1, pivot)), batch)
        places = build.broadcast(number, shape, ()), build.broadcast(pivot, shape, range(rank))
        masks = [build.compare(build.iota(rank, shape), "EQ", place) for place in places]
        there: list[SSAValue] = []
        for mask in masks:
            held = stablehlo.ReduceOp([build.select(mask, order, build.zeros(order))], [zero], (rank,), stablehlo.AddOp)
            there.append(build.broadcast(numbers.put(held), shape, range(rank)))
        return [build.select(masks[0], there[1], build.select(masks[1], there[0], order))]

    (order,) = blocks.site.loop([blocks.on(()).iota(rank, shape)], count, body)
    return order


def _traded(blocks: Blocks, rest: SSAValue, order: SSAValue) -> SSAValue:
    """The rows of all parts in an order."""
    *batch, parts, rows, width = shape_of(rest)
    rank = len(batch) + 1
    places = blocks.on(blocks.axes, ()).broadcast(order, (*batch, parts, rows), [*range(rank - 1), rank])
    numbers = stablehlo.GatherDimensions(
        offset_dims=(rank + 1,),
        collapsed_slice_dims=(rank,),
        operand_batching_dims=tuple(range(rank)),
        start_indices_batching_dims=tuple(range(rank)),
        start_index_map=(rank,),
        index_vector_dim=rank + 1,
    )
    return blocks.like(rest).put(stablehlo.GatherOp(rest, places, numbers, (*[1] * (rank + 1), width)))
