"""`recompute-values`: values that would be kept for long are computed again instead, where memory is short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.passes.collectives.holding import is_seen, limited
from shardwright.passes.collectives.recomputation import Recomputation, can_be_repeated, maker_of, seen_of
from shardwright.passes.rewriter import insert_before
from shardwright.passes.stages import RECOMPUTE


@dataclass(frozen=True)
class RecomputeValuesPass(ModulePass):
    """
    Computes values once more for later readers, until a device holds no more than the module's limit.

    So what a forward pass makes need not be there until the backward pass reads it (rematerialisation). What frees most
    for the least work goes first; nothing is sent again. A module without `dtensor.recompute` and
    `dtensor.memory_limit` stays as it is.

    Before:
        #all = #dtensor.layout<@mesh, [{}]>
        module attributes {dtensor.memory_limit = 96 : i64, dtensor.recompute, dtensor.stage = "aligned"} {
          dtensor.mesh @mesh = <["x"=2]>
          func.func public @main(%x: tensor<8xf32, #all>) -> tensor<8xf32, #all> {
            %0 = stablehlo.negate %x : tensor<8xf32, #all>
            %1 = stablehlo.exponential %0 : tensor<8xf32, #all>
            %2 = stablehlo.tanh %1 : tensor<8xf32, #all>
            %3 = stablehlo.add %2, %0 : tensor<8xf32, #all>
            func.return %3 : tensor<8xf32, #all>
          }
        }
    After:
        #all = #dtensor.layout<@mesh, [{}]>
        module attributes {dtensor.memory_limit = 96 : i64, dtensor.recompute, dtensor.stage = "aligned"} {
          dtensor.mesh @mesh = <["x"=2]>
          func.func public @main(%x: tensor<8xf32, #all>) -> tensor<8xf32, #all> {
            %0 = stablehlo.negate %x : tensor<8xf32, #all>
            %1 = stablehlo.exponential %0 : tensor<8xf32, #all>
            %2 = stablehlo.tanh %1 : tensor<8xf32, #all>
            %3 = stablehlo.negate %x {dtensor.recompute} : tensor<8xf32, #all>
            %4 = stablehlo.add %2, %3 : tensor<8xf32, #all>
            func.return %4 : tensor<8xf32, #all>
          }
        }
    """

    name = "recompute-values"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = limited(op, self.name) if RECOMPUTE in op.attributes else None
        if found is None:
            return
        plan = Recomputation(*found)
        plan.choose()
        _Rewriting(plan).run()


class _Rewriting:
    """Puts what makes values again in front of those who read them after their gaps."""

    def __init__(self, plan: Recomputation):
        self._plan = plan
        self._current: dict[SSAValue, SSAValue] = {}
        """For each value that has been made again, what it was made as the last time."""
        self._since: dict[SSAValue, int] = {}
        """Until where that is held."""
        self._read: dict[SSAValue, SSAValue] = {}
        """What those read who come later."""
        self._originals: dict[SSAValue, SSAValue] = {}
        self._origins: dict[Operation, int] = {}
        """Where what was made again stands."""

    def run(self) -> None:
        gaps = [gap for each in self._plan.dropped.values() for gap in each]
        for gap in sorted(gaps, key=lambda gap: gap.after):
            for alias in _aliases(gap.value):
                if self._place(maker_of(alias)) < gap.after:
                    self._renew(alias, gap.after)

    def _renew(self, value: SSAValue, place: int) -> None:
        """Lets the readers of a value from a place on read it as it is made again there."""
        before = self._read.get(value, value)
        if any(self._place(use.operation) >= place for use in before.uses):
            again = self._read[value] = self._made(value, place)
            before.replace_uses_with_if(again, lambda use: self._place(use.operation) >= place)

    def _place(self, op: Operation) -> int:
        outer: Operation | None = op
        while outer is not None and outer not in self._origins and outer not in self._plan.places:
            outer = outer.parent_op()
        assert outer is not None
        return self._origins[outer] if outer in self._origins else self._plan.places[outer]

    def _made(self, value: SSAValue, place: int) -> SSAValue:
        """A value at a place: as it was made again before, if that is still there, or made again now."""
        if not self._is_at_hand(value, place):
            for op in self._chain(value, place):
                again = op.clone({given: self._operand(given, place) for given in op.operands})
                for before, after in zip(op.walk(), again.walk(), strict=True):
                    after.location = before.location
                again.attributes[RECOMPUTE] = UnitAttr()
                insert_before(self._plan.ops[place], again)
                self._origins[again] = place
                for old, new in zip(op.results, again.results, strict=True):
                    self._current[old], self._since[old], self._originals[new] = new, place, old
        return self._current[value]

    def _chain(self, value: SSAValue, place: int) -> list[Operation]:
        """The ops that make a value at a place of what is there, in their order."""
        found: dict[Operation, None] = {}
        waiting = [value]
        while waiting:
            op = maker_of(waiting.pop())
            if op not in found:
                found[op] = None
                originals = [self._originals.get(operand, operand) for operand in op.operands]
                waiting += [
                    each for each in originals if self._is_missing(each, place) and not self._is_at_hand(each, place)
                ]
        return sorted(found, key=lambda op: self._plan.places[op])

    def _operand(self, given: SSAValue, place: int) -> SSAValue:
        value = self._originals.get(given, given)
        return self._current[value] if self._is_missing(value, place) else self._read.get(value, value)

    def _is_missing(self, value: SSAValue, place: int) -> bool:
        """Whether a value that is needed at a place has to be made for it."""
        plan = self._plan
        return plan.is_due(value, place) or (not plan.is_there(value, place) and can_be_repeated(value.owner))

    def _is_at_hand(self, value: SSAValue, place: int) -> bool:
        """Whether a value was made again before, and there is room for it to stay until a place."""
        since = self._since.get(value)
        if since is None or since >= place:
            return since is not None
        plan, size = self._plan, self._plan.size(seen_of(value))
        levels = plan.levels[since + 1 : place]
        if len(levels) and levels.max() + size > plan.limit:
            return False
        levels += size
        self._since[value] = place
        return True


def _aliases(value: SSAValue) -> Sequence[SSAValue]:
    """A value, and what is only seen of it, in the order in which it is made."""
    found = [value]
    for each in found:
        found += [use.operation.results[use.index] for use in each.uses if is_seen(use.operation)]
    return found
