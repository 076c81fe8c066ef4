"""`stream-products`: what is gathered for a product comes part by part instead, where memory is short."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects.building import blocks_in
from shardwright.dialects.dtensor import RelayoutOp, WindowOp
from shardwright.dialects.stablehlo import CaseOp, IfOp, ReturnOp, WhileOp
from shardwright.layout.mesh import Mesh
from shardwright.passes.collectives.holding import Holding, limited, part_of
from shardwright.passes.collectives.parts import Gathered, gathered, in_rounds
from shardwright.passes.collectives.recomputation import seen_of
from shardwright.passes.rewriter import erase, insert_before, replace


@dataclass(frozen=True)
class StreamProductsPass(ModulePass):
    """
    Multiplies part by part what is gathered for a product, until a device holds no more than the module's limit.

    No device has the whole operand then: in each round it is sent the part of another one, multiplies that, and lets it
    go. That sends the same bytes, in more messages; what makes most room goes first. A module without
    `dtensor.memory_limit` stays as it is.

    Before:
        #rows = #dtensor.layout<@mesh, [{"x"}, {}]>
        #all = #dtensor.layout<@mesh, [{}, {}]>
        module attributes {dtensor.memory_limit = 100 : i64, dtensor.stage = "aligned"} {
          dtensor.mesh @mesh = <["x"=2]>
          func.func public @main(%a: tensor<2x16xf32, #rows>, %b: tensor<16x8xf32, #rows>) -> tensor<2x8xf32, #rows> {
            %0 = dtensor.relayout %b {reason = "asked"} : tensor<16x8xf32, #rows> -> tensor<16x8xf32, #all>
            %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0]
              : (tensor<2x16xf32, #rows>, tensor<16x8xf32, #all>) -> tensor<2x8xf32, #rows>
            func.return %1 : tensor<2x8xf32, #rows>
          }
        }
    After:
        #rows = #dtensor.layout<@mesh, [{"x"}, {}]>
        #devices = #dtensor.layout<@mesh, [{"x"}]>
        #parts = #dtensor.layout<@mesh, [{"x"}, {}, {}]>
        #blocks = #dtensor.layout<@mesh, [{"x"}, {}, {}, {}]>
        #own = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [2], operand_batching_dims = [0],
                                 start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 1>
        module attributes {dtensor.memory_limit = 100 : i64, dtensor.stage = "aligned"} {
          dtensor.mesh @mesh = <["x"=2]>
          func.func public @main(%a: tensor<2x16xf32, #rows>, %b: tensor<16x8xf32, #rows>) -> tensor<2x8xf32, #rows> {
            %0 = stablehlo.reshape %b : (tensor<16x8xf32, #rows>) -> tensor<2x8x8xf32, #parts>
            %1 = stablehlo.reshape %a : (tensor<2x16xf32, #rows>) -> tensor<2x1x16xf32, #parts>
            %2 = stablehlo.reshape %1 : (tensor<2x1x16xf32, #parts>) -> tensor<2x1x2x8xf32, #blocks>
            %3 = stablehlo.iota dim = 0 : tensor<2xi32, #devices>
            %4 = "stablehlo.gather"(%2, %3) <{dimension_numbers = #own, indices_are_sorted = false,
              slice_sizes = array<i64: 1, 1, 1, 8>}>
              : (tensor<2x1x2x8xf32, #blocks>, tensor<2xi32, #devices>) -> tensor<2x1x8xf32, #parts>
            %5 = stablehlo.dot_general %4, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1]
              : (tensor<2x1x8xf32, #parts>, tensor<2x8x8xf32, #parts>) -> tensor<2x1x8xf32, #parts>
            %6:2 = stablehlo.optimization_barrier %0, %5 : tensor<2x8x8xf32, #parts>, tensor<2x1x8xf32, #parts>
            %7 = dtensor.window @mesh [{"x"}, {}, {}] [1, 0, 0] by [-1, 1, 1] %6#0
              {reason = "asked; it comes in 2 parts, one by one, as a device would hold too much otherwise"}
              : (tensor<2x8x8xf32, #parts>) -> tensor<2x8x8xf32, #parts>
            %8 = stablehlo.constant dense<1> : tensor<2xi32> -> tensor<2xi32, #devices>
            %9 = stablehlo.xor %3, %8 : tensor<2xi32, #devices>
            %10 = "stablehlo.gather"(%2, %9) <{dimension_numbers = #own, indices_are_sorted = false,
              slice_sizes = array<i64: 1, 1, 1, 8>}>
              : (tensor<2x1x2x8xf32, #blocks>, tensor<2xi32, #devices>) -> tensor<2x1x8xf32, #parts>
            %11 = stablehlo.dot_general %10, %7, batching_dims = [0] x [0], contracting_dims = [2] x [1]
              : (tensor<2x1x8xf32, #parts>, tensor<2x8x8xf32, #parts>) -> tensor<2x1x8xf32, #parts>
            %12 = stablehlo.add %6#1, %11 : tensor<2x1x8xf32, #parts>
            %13 = stablehlo.reshape %12 : (tensor<2x1x8xf32, #parts>) -> tensor<2x8xf32, #rows>
            func.return %13 : tensor<2x8xf32, #rows>
          }
        }
    """

    name = "stream-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = limited(op, self.name)
        if found is not None:
            _Streaming(found.block, found.mesh).until(found.limit)


@dataclass(frozen=True)
class _Stream:
    """
    A gathered value whose parts may come one by one, for all products at the place of the first.

    `rounds` are the ops that would do it, with what they make; `highest` are the bytes that they hold at most.
    """

    value: Gathered
    rounds: Block
    highest: int

    @property
    def source(self) -> SSAValue:
        """What is gathered, which is held to the last round."""
        return seen_of(self.value.copy.operand)

    @property
    def results(self) -> list[SSAValue]:
        """What the products make."""
        return [reader.product.results[0] for reader in self.value.readers]

    def drop(self) -> None:
        """Takes the ops of the rounds out of the IR."""
        for op in reversed(list(self.rounds.ops)):
            erase(op)


class _Streaming:
    """A block, what a device holds at each of its ops, and which gathered values may come part by part."""

    def __init__(self, block: Block, mesh: Mesh):
        self._mesh, self._ops = mesh, list(block.ops)
        self._places = {op: at for at, op in enumerate(self._ops)}
        holding = Holding.of(block, self._size)
        self._last, self.levels = holding.last, np.array(holding.levels, np.float64)
        self.given = sum(map(self._size, block.args))
        """What is held of the block's arguments."""
        copies = (gathered(op, mesh) for op in self._ops if isinstance(op, RelayoutOp))
        self._waiting = {each: self._span(each) for each in copies if each is not None and self._is_ready(each)}
        self._streams: dict[Gathered, _Stream] = {}
        """Those that were looked at."""

    def _size(self, value: SSAValue) -> int:
        return part_of(value, self._mesh)

    def _span(self, value: Gathered) -> tuple[int, list[int]]:
        """The places of a copy, and of the products that read it."""
        return self._places[value.copy], [self._places[reader.product] for reader in value.readers]

    def _is_ready(self, value: Gathered) -> bool:
        """Whether all that a copy is multiplied with is there at the first product."""
        first = min(self._span(value)[1])
        return all(
            self._places.get(owner, -1) < first
            for reader in value.readers
            if isinstance(owner := reader.other.owner, Operation)
        )

    def until(self, limit: float) -> None:
        """Lets values come part by part where most is held, as long as that is more than the limit."""
        while self.levels.max() > limit and (self._with_parts_here() or self._with_parts_inside(limit)):
            pass
        for stream in self._streams.values():
            stream.drop()

    def _with_parts_here(self) -> bool:
        """Lets a value that is held at the highest place come part by part, if that makes it lower."""
        most = int(self.levels.argmax())
        there = [each for each, (start, ends) in self._waiting.items() if start <= most <= max(ends)]
        after = {each: self._levels_with(each) for each in there}
        best = min(there, key=lambda each: after[each].max(), default=None)
        if best is None or after[best].max() >= self.levels[most]:
            return False
        start, ends = self._waiting.pop(best)
        self.levels[start : max(ends) + 1] = after[best]
        self._put(self._streams.pop(best), min(ends))
        return True

    def _with_parts_inside(self, limit: float) -> bool:
        """The same in the loop, or the branches, at the highest place."""
        most = int(self.levels.argmax())
        inside = [_Streaming(block, self._mesh) for block in _blocks(self._ops[most])]
        before = max((each.highest for each in inside), default=0.0)
        around = self.levels[most] - before
        for each in inside:
            each.until(limit - around + each.given)
        self.levels[most] = around + max((each.highest for each in inside), default=0.0)
        return self.levels[most] < around + before

    @property
    def highest(self) -> float:
        """The most that is held besides the arguments."""
        return float(self.levels.max()) - self.given

    def _stream(self, value: Gathered) -> _Stream:
        """A gathered value with the ops of its rounds, in a block of their own."""
        if value not in self._streams:
            block = Block()

            def insert(op: Operation) -> Operation:
                op.location = (value.copy if isinstance(op, WindowOp) else value.readers[0].product).location
                block.add_op(op)
                return op

            insert(ReturnOp(*in_rounds(value, insert, _reason(value))))
            self._streams[value] = _Stream(value, block, max(Holding.of(block, self._size).levels))
        return self._streams[value]

    def _levels_with(self, value: Gathered) -> np.ndarray[Any, np.dtype[np.float64]]:
        """What is held from a copy to its last product, were its parts to come one by one at the first."""
        stream, (start, ends) = self._stream(value), self._waiting[value]
        first = min(ends)
        levels = self.levels[start : max(ends) + 1] - self._size(value.copy.result)
        last = self._last.get(stream.source, first)  # arguments are there to the end
        levels[max(0, last + 1 - start) : first + 1 - start] += self._size(stream.source)
        for end, result in zip(ends, stream.results, strict=True):
            levels[first + 1 - start : end - start] += self._size(result)
            levels[first - start] += stream.highest - self._size(result) if end == first else 0
        return levels

    def _put(self, stream: _Stream, first: int) -> None:
        """Puts the rounds in the place of the first product; nothing is gathered for any of them any more."""
        place = self._ops[first]
        if stream.source in self._last:
            self._last[stream.source] = max(self._last[stream.source], first)
        *ops, end = stream.rounds.ops
        results = list(end.operands)
        erase(end)
        for op in ops:
            op.detach()
            insert_before(place, op)
        for reader, new in zip(stream.value.readers, results, strict=True):
            self._last[new] = self._last.pop(reader.product.results[0])
            self._forget(reader.product)
            replace(reader.product, [new])
        erase(stream.value.copy)

    def _forget(self, product: Operation) -> None:
        """The other operand of a product that is done in rounds may be gathered as well: of it, all is needed."""
        for value in [each for each in self._waiting if any(reader.product is product for reader in each.readers)]:
            del self._waiting[value]
            if value in self._streams:
                self._streams.pop(value).drop()


def _blocks(op: Operation) -> Iterable[Block]:
    """What a loop or a branch runs."""
    return blocks_in(op) if isinstance(op, WhileOp | CaseOp | IfOp) else ()


def _reason(value: Gathered) -> str:
    """Why parts are sent: who asked for all of them, and why they do not come at once."""
    asked = value.copy.reason.data if value.copy.reason is not None else ""
    limited = f"it comes in {value.count} parts, one by one, as a device would hold too much otherwise"
    return f"{asked}; {limited}" if asked else limited
