"""`release-copies`: copies that would be kept for long are made again instead, where memory is short."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects.dtensor import RelayoutOp, layout_of
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.planner import cost_share
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.collectives.holding import Holding, limited, part_of, place_in
from shardwright.passes.rewriter import insert_before


@dataclass(frozen=True)
class ReleaseCopiesPass(ModulePass):
    """
    Makes copies in another layout once more for later readers, until a device holds no more than the module's limit.

    So weights that are gathered for the forward pass are not there until the backward pass, which gathers them again
    (ZeRO-3). What frees most for what it sends goes first; sums are not made again. A module without
    `dtensor.memory_limit` stays as it is.

    Before:
        #rows = #dtensor.layout<@mesh, [{"x"}]>
        #all = #dtensor.layout<@mesh, [{}]>
        module attributes {dtensor.memory_limit = 100 : i64, dtensor.stage = "aligned"} {
          dtensor.mesh @mesh = <["x"=2]>
          func.func public @main(%w: tensor<8xf32, #rows>) -> tensor<8xf32, #all> {
            %0 = dtensor.relayout %w {reason = "gathered"} : tensor<8xf32, #rows> -> tensor<8xf32, #all>
            %1 = stablehlo.negate %0 : tensor<8xf32, #all>
            %2 = stablehlo.exponential %1 : tensor<8xf32, #all>
            %3 = stablehlo.add %2, %0 : tensor<8xf32, #all>
            func.return %3 : tensor<8xf32, #all>
          }
        }
    After:
        #rows = #dtensor.layout<@mesh, [{"x"}]>
        #all = #dtensor.layout<@mesh, [{}]>
        module attributes {dtensor.memory_limit = 100 : i64, dtensor.stage = "aligned"} {
          dtensor.mesh @mesh = <["x"=2]>
          func.func public @main(%w: tensor<8xf32, #rows>) -> tensor<8xf32, #all> {
            %0 = dtensor.relayout %w {reason = "gathered"} : tensor<8xf32, #rows> -> tensor<8xf32, #all>
            %1 = stablehlo.negate %0 : tensor<8xf32, #all>
            %2 = stablehlo.exponential %1 : tensor<8xf32, #all>
            %3 = dtensor.relayout %w {reason = "gathered"} : tensor<8xf32, #rows> -> tensor<8xf32, #all>
            %4 = stablehlo.add %2, %3 : tensor<8xf32, #all>
            func.return %4 : tensor<8xf32, #all>
          }
        }
    """

    name = "release-copies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = limited(op, self.name)
        if found is not None:
            _Releasing(found.block, found.mesh).until(found.limit)


@dataclass(frozen=True, slots=True)
class _Gap:
    """
    A stretch in which nobody reads a copy: it ends at op number `after`, before which it would be made again.

    That frees `freed` bytes from `start` to there, and sends `sent` once more.
    """

    copy: RelayoutOp
    start: int
    after: int
    freed: int
    sent: float


class _Releasing:
    """A block, what a device holds at each of its ops, and which copies could be let go of for a while."""

    def __init__(self, block: Block, mesh: Mesh):
        self._ops = list(block.ops)
        self._places = {op: at for at, op in enumerate(self._ops)}
        self._block, self._mesh = block, mesh
        holding = Holding.of(block, self._size)
        self._levels = np.array(holding.levels, np.float64)
        self._gaps = [gap for op in self._ops if isinstance(op, RelayoutOp) for gap in self._gaps_of(op, holding.last)]

    def _size(self, value: SSAValue) -> int:
        return part_of(value, self._mesh)

    def _gaps_of(self, copy: RelayoutOp, last: dict[SSAValue, int]) -> Iterator[_Gap]:
        """The gaps between the readers of a copy, where its source is there to make it again."""
        source, target = layout_of(copy.operand), layout_of(copy.result)
        if source is None or target is None or source.partial:
            return
        kept = last.get(copy.operand, len(self._ops))  # arguments are there to the end
        readers = sorted({place_in(use.operation, self._block, self._places) for use in copy.result.uses})
        held, sent = self._size(copy.result), self._sent(copy.operand, source, target)
        for start, after in zip([self._places[copy], *readers], readers, strict=False):
            freed = held - (self._size(copy.operand) if kept < after else 0)
            if after - start > 1 and freed > 0 and last[copy.result] >= after:
                yield _Gap(copy, start, after, freed, sent)

    def _sent(self, value: SSAValue, source: LayoutSpec, target: LayoutSpec) -> float:
        share = cost_share(source, target, shape_of(value), self._mesh)
        return share * math.prod(shape_of(value)) * element_dtype(value.type).itemsize

    def until(self, limit: int) -> None:
        """Lets copies go where most is held, as long as that is more than the limit."""
        waiting = list(self._gaps)
        chosen: list[_Gap] = []
        while waiting and self._levels.max() > limit:
            most = int(self._levels.argmax())
            there = [gap for gap in waiting if gap.start < most < gap.after]
            if not there:
                break
            # What sends nothing frees for nothing.
            best = max(there, key=lambda gap: (gap.freed / (gap.sent + 1), -gap.start))
            self._levels[best.start + 1 : best.after] -= best.freed
            waiting.remove(best)
            chosen.append(best)
        self._make_again(chosen)

    def _make_again(self, gaps: Sequence[_Gap]) -> None:
        """Puts the copies in front of those who read them after a gap; the first gap of a copy comes last."""
        for gap in sorted(gaps, key=lambda gap: gap.after, reverse=True):
            again = gap.copy.clone()
            insert_before(self._ops[gap.after], again)
            self._places[again] = gap.after
            gap.copy.result.replace_uses_with_if(again.result, lambda use, gap=gap: self._is_after(use.operation, gap))

    def _is_after(self, reader: Operation, gap: _Gap) -> bool:
        at = place_in(reader, self._block, self._places)
        return at >= gap.after
