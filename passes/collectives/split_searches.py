"""`split-searches`: a bisection of a row that is split looks at one element of each part, and then into one part."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import body_of
from shardwright.dialects.trip_count import trip_count
from shardwright.dialects.types import element_dtype, element_of, shape_of, tensor
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.planner import cost_share
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.canonical.constants import splat_value
from shardwright.passes.collectives.searches import Search, is_compared, is_element, past, search_of, spec_of
from shardwright.passes.rewriter import erase, insert_before, retype
from shardwright.passes.stages import WHY, message_bytes_of, require_stage
from shardwright.rules.expansion import Axes, Dims, Site


@dataclass(frozen=True)
class SplitSearchesPass(ModulePass):
    """
    Lets a loop that halves a range of a split row (`jnp.searchsorted`) read the row where it is.

    Of a power of two of parts the first rounds only read the first elements, which go to all. Then what is left of the
    range is in one part, and who has it goes on alone; one sum tells all where it ends. So each element that is
    compared is the one that the loop would have read, in whatever order the row is. Nothing is done where that does not
    send less, or where devices would look for what others look for already.

    Before:
        #row = #dtensor.layout<@mesh, [{"x"}]>
        #one = #dtensor.layout<@mesh, []>
        #all = #dtensor.layout<@mesh, [{}]>
        #sum = #dtensor.layout<@mesh, [], unreduced=sum{"x"}>
        module attributes {dtensor.stage = "aligned"} {
          dtensor.mesh @mesh = <["x"=4]>
          func.func public @main(%a: tensor<64xi32, #row>, %q: tensor<i32, #one>) -> tensor<i32, #one> {
            %c = stablehlo.constant dense<0> : tensor<i32> -> tensor<i32, #one>
            %n = stablehlo.constant dense<64> : tensor<i32> -> tensor<i32, #one>
            %0:3 = stablehlo.while(%i = %c, %low = %c, %high = %n)
                : tensor<i32, #one>, tensor<i32, #one>, tensor<i32, #one>
            cond {
              %r = stablehlo.constant dense<7> : tensor<i32> -> tensor<i32, #one>
              %1 = stablehlo.compare LT, %i, %r, SIGNED : (tensor<i32, #one>, tensor<i32, #one>)
                  -> tensor<i1, #one>
              stablehlo.return %1 : tensor<i1, #one>
            } do {
              %2 = stablehlo.subtract %high, %low : tensor<i32, #one>
              %t = stablehlo.constant dense<2> : tensor<i32> -> tensor<i32, #one>
              %3 = stablehlo.divide %2, %t : tensor<i32, #one>
              %4 = stablehlo.add %low, %3 : tensor<i32, #one>
              %5 = stablehlo.reshape %4 : (tensor<i32, #one>) -> tensor<1xi32, #all>
              %6 = "stablehlo.gather"(%a, %5)
                  <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0],
                  start_index_map = [0]>, slice_sizes = array<i64: 1>}>
                  : (tensor<64xi32, #row>, tensor<1xi32, #all>) -> tensor<i32, #sum>
              %7 = dtensor.relayout %6 {reason = "looked up"} : tensor<i32, #sum> -> tensor<i32, #one>
              %8 = stablehlo.compare LE, %q, %7, SIGNED : (tensor<i32, #one>, tensor<i32, #one>)
                  -> tensor<i1, #one>
              %9 = stablehlo.select %8, %low, %4 : tensor<i1, #one>, tensor<i32, #one>
              %10 = stablehlo.select %8, %4, %high : tensor<i1, #one>, tensor<i32, #one>
              %o = stablehlo.constant dense<1> : tensor<i32> -> tensor<i32, #one>
              %11 = stablehlo.add %i, %o : tensor<i32, #one>
              stablehlo.return %11, %9, %10 : tensor<i32, #one>, tensor<i32, #one>, tensor<i32, #one>
            }
            return %0#2 : tensor<i32, #one>
          }
        }
    After:
        #row = #dtensor.layout<@mesh, [{"x"}]>
        #one = #dtensor.layout<@mesh, []>
        #all = #dtensor.layout<@mesh, [{}]>
        #sum = #dtensor.layout<@mesh, [], unreduced=sum{"x"}>
        #parts = #dtensor.layout<@mesh, [{"x"}, {}]>
        module attributes {dtensor.stage = "aligned"} {
          dtensor.mesh @mesh = <["x"=4]>
          func.func public @main(%a: tensor<64xi32, #row>, %q: tensor<i32, #one>) -> tensor<i32, #one> {
            %c = stablehlo.constant dense<0> : tensor<i32> -> tensor<i32, #one>
            %n = stablehlo.constant dense<64> : tensor<i32> -> tensor<i32, #one>
            %0 = stablehlo.reshape %a : (tensor<64xi32, #row>) -> tensor<4x16xi32, #parts>
            %1 = stablehlo.slice %0 [0:4, 0:1] : (tensor<4x16xi32, #parts>) -> tensor<4x1xi32, #parts>
            %2 = stablehlo.reshape %1 : (tensor<4x1xi32, #parts>) -> tensor<4xi32, #row>
            %3 = dtensor.relayout %2 {reason = "where a row is searched"} : tensor<4xi32, #row>
                -> tensor<4xi32, #all>
            %c_0 = stablehlo.constant dense<0> : tensor<i32> -> tensor<i32, #one>
            %c_1 = stablehlo.constant dense<4> : tensor<i32> -> tensor<i32, #one>
            %c_2 = stablehlo.constant dense<0> : tensor<i32> -> tensor<i32, #one>
            %4:3 = stablehlo.while(%5 = %c_2, %6 = %c_0, %7 = %c_1)
                : tensor<i32, #one>, tensor<i32, #one>, tensor<i32, #one>
            cond {
              %c_3 = stablehlo.constant dense<2> : tensor<i32> -> tensor<i32, #one>
              %8 = stablehlo.compare LT, %5, %c_3, SIGNED : (tensor<i32, #one>, tensor<i32, #one>)
                  -> tensor<i1, #one>
              stablehlo.return %8 : tensor<i1, #one>
            } do {
              %9 = stablehlo.subtract %7, %6 : tensor<i32, #one>
              %c_4 = stablehlo.constant dense<2> : tensor<i32> -> tensor<i32, #one>
              %10 = stablehlo.divide %9, %c_4 : tensor<i32, #one>
              %11 = stablehlo.add %6, %10 : tensor<i32, #one>
              %12 = stablehlo.reshape %11 : (tensor<i32, #one>) -> tensor<1xi32, #all>
              %13 = "stablehlo.gather"(%3, %12)
                  <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0],
                  start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}>
                  : (tensor<4xi32, #all>, tensor<1xi32, #all>) -> tensor<i32, #one>
              %14 = stablehlo.compare LE, %q, %13, SIGNED : (tensor<i32, #one>, tensor<i32, #one>)
                  -> tensor<i1, #one>
              %15 = stablehlo.select %14, %6, %11 : tensor<i1, #one>, tensor<i32, #one>
              %16 = stablehlo.select %14, %11, %7 : tensor<i1, #one>, tensor<i32, #one>
              %c_5 = stablehlo.constant dense<1> : tensor<i32> -> tensor<i32, #one>
              %17 = stablehlo.add %5, %c_5 : tensor<i32, #one>
              stablehlo.return %17, %15, %16 : tensor<i32, #one>, tensor<i32, #one>, tensor<i32, #one>
            }
            %c_6 = stablehlo.constant dense<1> : tensor<i32> -> tensor<i32, #one>
            %18 = stablehlo.subtract %4#2, %c_6 : tensor<i32, #one>
            %19 = stablehlo.broadcast_in_dim %q, dims = [] : (tensor<i32, #one>) -> tensor<4xi32, #row>
            %c_7 = stablehlo.constant dense<0> : tensor<4xi32> -> tensor<4xi32, #row>
            %c_8 = stablehlo.constant dense<16> : tensor<4xi32> -> tensor<4xi32, #row>
            %c_9 = stablehlo.constant dense<0> : tensor<i32> -> tensor<i32, #one>
            %20:3 = stablehlo.while(%21 = %c_9, %22 = %c_7, %23 = %c_8)
                : tensor<i32, #one>, tensor<4xi32, #row>, tensor<4xi32, #row>
            cond {
              %c_10 = stablehlo.constant dense<5> : tensor<i32> -> tensor<i32, #one>
              %24 = stablehlo.compare LT, %21, %c_10, SIGNED : (tensor<i32, #one>, tensor<i32, #one>)
                  -> tensor<i1, #one>
              stablehlo.return %24 : tensor<i1, #one>
            } do {
              %25 = stablehlo.subtract %23, %22 : tensor<4xi32, #row>
              %c_11 = stablehlo.constant dense<2> : tensor<4xi32> -> tensor<4xi32, #row>
              %26 = stablehlo.divide %25, %c_11 : tensor<4xi32, #row>
              %27 = stablehlo.add %22, %26 : tensor<4xi32, #row>
              %28 = stablehlo.reshape %27 : (tensor<4xi32, #row>) -> tensor<4x1xi32, #parts>
              %29 = "stablehlo.gather"(%0, %28)
                  <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1],
                  operand_batching_dims = [0], start_indices_batching_dims = [0],
                  start_index_map = [1], index_vector_dim = 1>,
                  indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}>
                  : (tensor<4x16xi32, #parts>, tensor<4x1xi32, #parts>) -> tensor<4xi32, #row>
              %30 = stablehlo.compare LE, %19, %29, SIGNED : (tensor<4xi32, #row>, tensor<4xi32, #row>)
                  -> tensor<4xi1, #row>
              %31 = stablehlo.select %30, %22, %27 : tensor<4xi1, #row>, tensor<4xi32, #row>
              %32 = stablehlo.select %30, %27, %23 : tensor<4xi1, #row>, tensor<4xi32, #row>
              %c_12 = stablehlo.constant dense<1> : tensor<i32> -> tensor<i32, #one>
              %33 = stablehlo.add %21, %c_12 : tensor<i32, #one>
              stablehlo.return %33, %31, %32 : tensor<i32, #one>, tensor<4xi32, #row>, tensor<4xi32, #row>
            }
            %34 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<i32, #one>) -> tensor<4xi32, #row>
            %35 = stablehlo.iota dim = 0 : tensor<4xi32, #row>
            %36 = stablehlo.compare EQ, %35, %34, SIGNED : (tensor<4xi32, #row>, tensor<4xi32, #row>)
                -> tensor<4xi1, #row>
            %c_13 = stablehlo.constant dense<0> : tensor<4xi32> -> tensor<4xi32, #row>
            %37 = stablehlo.select %36, %20#2, %c_13 : tensor<4xi1, #row>, tensor<4xi32, #row>
            %c_14 = stablehlo.constant dense<0> : tensor<i32> -> tensor<i32, #one>
            %38 = stablehlo.reduce(%37 init: %c_14) applies stablehlo.add across dimensions = [0]
                : (tensor<4xi32, #row>, tensor<i32, #one>) -> tensor<i32, #sum>
            %39 = dtensor.relayout %38 {reason = "where a row is searched"} : tensor<i32, #sum>
                -> tensor<i32, #one>
            %c_15 = stablehlo.constant dense<16> : tensor<i32> -> tensor<i32, #one>
            %40 = stablehlo.multiply %18, %c_15 : tensor<i32, #one>
            %41 = stablehlo.add %39, %40 : tensor<i32, #one>
            return %41 : tensor<i32, #one>
          }
        }
    """

    name = "split-searches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_stage(op, self.name, "aligned")
        named, weight = dtensor.meshes(op), message_bytes_of(op)
        for loop in [inner for inner in op.walk() if isinstance(inner, stablehlo.WhileOp)]:
            search = search_of(loop)
            if search is not None:
                _split(search, named[search.source_spec.mesh], weight)


def _split(search: Search, mesh: Mesh, weight: int) -> None:
    """Puts what reads the row where it is in place of the loop, if that sends less."""
    (axes,), loop = search.source_spec.dims, search.loop
    parts, (size,) = mesh.group_size(axes), shape_of(search.source)
    levels = parts.bit_length() - 1
    if parts < 2 or parts & (parts - 1) or size % parts or search.rounds < levels or search.source_spec.partial:
        return
    taken = {axis.name for dim in search.dims for axis in dim}
    if taken & {axis.name for axis in axes} or not is_compared(search):
        return
    anchor, times = _outermost(search)
    once, made = list[Operation](), list[Operation]()
    site, front = (_site(mesh, place, ops) for place, ops in ((loop, made), (anchor, once)))
    result = _Searching(site, front, search, axes, parts, levels).result()
    after = _sent([*((op, 1) for op in once), *((op, times or 1) for op in made)], mesh)
    before = _sent(_relayouts_of(search, anchor, times), mesh)
    if after[0] < before[0] and after[0] + weight * after[1] < before[0] + weight * before[1]:
        loop.results[search.high].replace_all_uses_with(result)
        brought = search.gather.operand
        erase(loop)
        if isinstance(brought.owner, dtensor.RelayoutOp) and not brought.uses:
            erase(brought.owner)
    else:
        for op in (*reversed(made), *reversed(once)):
            erase(op)


def _site(mesh: Mesh, place: Operation, made: list[Operation]) -> Site:
    """Puts ops in front of another one, and notes them."""

    def insert(op: Operation) -> Operation:
        made.append(insert_before(place, op))
        return op

    return Site(mesh, (), (), {}, "where a row is searched", insert)


def _outermost(search: Search) -> tuple[Operation, int | None]:
    """The outermost loop around a search in which the row is the same, and how often the search is made in it."""
    owner = search.source.owner
    block = owner if isinstance(owner, Block) else owner.parent
    found, times = search.loop, 1
    while found.parent is not block and isinstance(outer := found.parent_op(), stablehlo.WhileOp):
        rounds = trip_count(outer)
        found, times = outer, None if times is None or rounds is None else times * rounds
    return found, times


def _relayouts_of(search: Search, anchor: Operation, times: int | None) -> list[tuple[Operation, int]]:
    """What moves in the loop, with how often; and the row in front of it, where that is for the loop alone."""
    inside = [(op, search.rounds * (times or 1)) for op in body_of(search.loop.body.block)]
    row = search.gather.operand
    if times is None or not isinstance(row.owner, Operation) or len(list(row.uses)) > 1:
        return inside
    return [*inside, (row.owner, 1)] if row.owner.parent is anchor.parent else inside


def _sent(ops: Sequence[tuple[Operation, int]], mesh: Mesh) -> tuple[float, int]:
    """The bytes that each device sends for relayouts, and the number of messages, at least."""
    total, messages = 0.0, 0
    for op, often in ops:
        if not isinstance(op, dtensor.RelayoutOp):
            continue
        (value,), (result,) = op.operands, op.results
        share = cost_share(spec_of(value), spec_of(result), shape_of(value), mesh)
        total += often * share * math.prod(shape_of(value)) * element_dtype(element_of(value)).itemsize
        messages += often * (share > 0)
    return total, messages


Reader = Callable[[Site, SSAValue], SSAValue]


@dataclass(frozen=True)
class _Searching:
    """Puts in place what looks into the parts of a row."""

    site: Site
    front: Site
    """Where the row is, once for all searches."""
    search: Search
    axes: Axes
    parts: int
    levels: int

    def result(self) -> SSAValue:
        """Where each range ends, in the layout in which the loop has it."""
        site, search, dims, shape = self.site, self.search, self.search.dims, self.search.shape
        (size,), wide = shape_of(search.source), (self.axes, *dims)
        each = size // self.parts
        row = self.front.building((self.axes, ())).reshape(search.source, (self.parts, each))
        known = {value: site.relayout(value, dims) for value in self._outside()}
        end = self._halved(dims, shape, self.parts, self.levels, known, self._first_elements(row))
        build = site.building(dims)
        part = build.subtract(end, build.constant(1, end))
        spread = {
            old: site.building(wide).broadcast(value, (self.parts, *shape), range(1, len(shape) + 1))
            for old, value in known.items()
        }
        rounds = search.rounds - self.levels
        found = self._halved(wide, (self.parts, *shape), each, rounds, spread, partial(self._read_parts, row))
        return self._told(found, part, each)

    def _outside(self) -> list[SSAValue]:
        """What elements are compared with."""
        block, found = self.search.loop.body.block, dict[SSAValue, None]()
        waiting = [self.search.test]
        while waiting:
            value = past(waiting.pop())
            owner = value.owner
            if is_element(value, self.search.gather):
                continue
            if isinstance(owner, Operation) and owner.parent is block:
                waiting += owner.operands
            else:
                found[value] = None
        return list(found)

    def _halved(
        self,
        dims: Dims,
        shape: tuple[int, ...],
        size: int,
        rounds: int,
        known: Mapping[SSAValue, SSAValue],
        read: Reader,
    ) -> SSAValue:
        """The ends of ranges of so many elements that are halved as often."""
        element = element_of(self.search.loop.inputs[self.search.high])
        build = self.site.building(dims)

        def body(inside: Site, number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            build, (low, high) = inside.building(dims), carried
            length = build.subtract(high, low)
            half = build.put(stablehlo.DivideOp(length, build.constant(2, length)))
            middle = build.add(low, half)
            test = self._compared(inside, dims, shape, {**known}, read(inside, middle))
            halves = [(low, middle), (middle, high)][:: 1 if self.search.first else -1]
            return [build.select(test, *each) for each in zip(*halves, strict=True)]

        start = [build.literal(number, element, shape) for number in (0, size)]
        return self.site.loop(start, rounds, body)[1]

    def _compared(
        self, site: Site, dims: Dims, shape: tuple[int, ...], known: dict[SSAValue, SSAValue], read: SSAValue
    ) -> SSAValue:
        """What says which half is taken, from the elements in the middle of ranges."""

        def value(old: SSAValue) -> SSAValue:
            old = past(old)
            if is_element(old, self.search.gather):
                return read
            if old not in known:
                owner, splat = old.owner, splat_value(old)
                assert isinstance(owner, Operation)
                if splat is not None:
                    known[old] = site.building(dims).literal(splat, element_of(old), shape)
                    return known[old]
                again = owner.clone({operand: value(operand) for operand in owner.operands})
                again.attributes.pop(WHY, None)
                retype(again.results[0], tensor(shape, element_of(old)))
                (known[old],) = site.put(again, dims)
            return known[old]

        return value(self.search.test)

    def _first_elements(self, row: SSAValue) -> Reader:
        """Reads the first element of a part."""
        firsts = self.front.building((self.axes, ())).slice(row, (0, 0), (self.parts, 1))
        firsts = self.front.building((self.axes,)).reshape(firsts, (self.parts,))
        firsts = self.front.relayout(firsts, ((),))

        def read(site: Site, middle: SSAValue) -> SSAValue:
            dims = site.spec(middle).dims
            rank = len(dims)
            places = site.building((*dims, ())).reshape(middle, (*shape_of(middle), 1))
            numbers = stablehlo.GatherDimensions(collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=rank)
            return site.building(dims).put(stablehlo.GatherOp(firsts, places, numbers, (1,)))

        return read

    def _read_parts(self, row: SSAValue, site: Site, middle: SSAValue) -> SSAValue:
        """Reads an element of each part."""
        dims = site.spec(middle).dims
        places = site.building((*dims, ())).reshape(middle, (*shape_of(middle), 1))
        numbers = stablehlo.GatherDimensions(
            collapsed_slice_dims=(1,),
            operand_batching_dims=(0,),
            start_indices_batching_dims=(0,),
            start_index_map=(1,),
            index_vector_dim=len(dims),
        )
        return site.building(dims).put(stablehlo.GatherOp(row, places, numbers, (1, 1)))

    def _told(self, found: SSAValue, part: SSAValue, each: int) -> SSAValue:
        """Where ranges end in the row, from where they end in each part, of which one is meant."""
        site, shape, dims = self.site, shape_of(found), self.site.spec(found).dims
        build = site.building(dims)
        meant = build.broadcast(part, shape, range(1, len(shape)))
        own = build.compare(build.iota(0, shape, element_of(found)), "EQ", meant)
        mine = build.select(own, found, build.zeros(found))
        zero = site.building(()).scalar(0, found)
        summed = stablehlo.ReduceOp([mine], [zero], (0,), stablehlo.AddOp)
        (total,) = site.put(summed, dims[1:], partial=self.axes, kind="sum")
        wanted = site.spec(self.search.loop.inputs[self.search.high]).dims
        whole = LayoutSpec(site.mesh.name, wanted)
        total = site.insert(dtensor.RelayoutOp(total, whole, site.reason)).results[0]
        build = site.building(wanted)
        return build.add(total, build.scale(site.relayout(part, wanted), each))
