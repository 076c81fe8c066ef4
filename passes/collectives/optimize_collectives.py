"""`optimize-collectives`: independent all-reduces over the same axes travel as one message."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects import dtensor
from shardwright.dialects.building import blocks_in
from shardwright.dialects.purity import is_pure
from shardwright.dialects.text.literals import element_size
from shardwright.dialects.text.locations import fuse
from shardwright.dialects.types import element_of, shape_of
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import algebra
from shardwright.passes.collectives.lower_relayouts import reason_of
from shardwright.passes.program import entry_function
from shardwright.passes.propagation.spreading import passes_dims_on
from shardwright.passes.rewriter import erase
from shardwright.passes.stages import REGIONS_OF_TENSORS, require_stage, set_stage
from shardwright.rules.table import ROWS

Key = tuple[str, Attribute, Attribute, int]
"""Mesh, axes and kind of all-reduces that may merge, and the number of the message, since messages have a limit."""


@dataclass(frozen=True)
class OptimizeCollectivesPass(ModulePass):
    """
    Delays all-reduces, and the ops that only pass their results on, to the first op that needs one of them, and merges
    those that wait for the same axes, up to a limit of bytes per message.

    Merged operands are independent by construction: an all-reduce settles what its own operand waits for.

    Before:
        !p = tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>
        !r = tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: !p, %b: !p) -> !r {
          %0 = dtensor.all_reduce sum @mesh {"x"} %a : (!p) -> !r
          %1 = dtensor.all_reduce sum @mesh {"x"} %b : (!p) -> !r
          %2 = stablehlo.multiply %0, %1 : !r
          func.return %2 : !r
        }
    After:
        !p = tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>
        !r = tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: !p, %b: !p) -> !r {
          %0, %1 = dtensor.all_reduce sum @mesh {"x"} %a, %b : (!p, !p) -> (!r, !r)
          %2 = stablehlo.multiply %0, %1 : !r
          func.return %2 : !r
        }
    """

    name = "optimize-collectives"
    message_bytes: int = 1 << 26
    """The size of a message, per device, that no further all-reduce joins."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_stage(op, self.name, "planned")
        _optimize(entry_function(op).body.block, self.message_bytes, dtensor.meshes(op))
        set_stage(op, "planned")


def _optimize(block: Block, limit: int, meshes: dict[str, Mesh]) -> None:
    """Nothing moves into or out of the regions of a loop or branch."""
    waiting = _Waiting(limit, meshes)
    for op in list(block.ops):
        waiting.visit(op)
        if op.name in REGIONS_OF_TENSORS:
            for inner in blocks_in(op):
                _optimize(inner, limit, meshes)


class _Waiting:
    """All-reduces whose results nobody has needed yet, and the ops that wait for them."""

    def __init__(self, limit: int, meshes: dict[str, Mesh]):
        self.limit = limit
        self.meshes = meshes
        self.groups: dict[Key, list[dtensor.AllReduceOp]] = {}
        self.sizes: Counter[Key] = Counter()
        self.full: Counter[tuple[str, Attribute, Attribute]] = Counter()
        self.reduced: dict[SSAValue, Key] = {}
        self.delayed: dict[SSAValue, Operation] = {}

    def visit(self, op: Operation) -> None:
        """Lets `op` wait when it can, otherwise settles what it needs in front of it."""
        waits = [value for value in _needed(op) if value in self.reduced or value in self.delayed]
        if waits and _passes_on(op):
            self.delayed[op.results[0]] = op
            return
        for value in waits:
            self._settle(value, op)
        if isinstance(op, dtensor.AllReduceOp):
            self._wait(op)
        elif op.next_op is None:
            for value in list(self.delayed):
                self._settle(value, op)

    def _wait(self, op: dtensor.AllReduceOp) -> None:
        kind = (op.mesh_name, op.axes, op.kind)
        key = (*kind, self.full[kind])
        self.groups.setdefault(key, []).append(op)
        self.reduced.update((result, key) for result in op.outputs)
        self.sizes[key] += self._sent(op)
        if self.sizes[key] >= self.limit:
            self.full[kind] += 1

    def _sent(self, op: dtensor.AllReduceOp) -> int:
        """The bytes of a device's parts of what an op reduces."""
        return sum(map(self._bytes, op.inputs))

    def _bytes(self, value: SSAValue) -> int:
        spec = dtensor.layout_of(value)
        assert spec is not None
        shape = algebra.local_shape(spec, shape_of(value), self.meshes[spec.mesh])
        return math.prod(shape) * element_size(element_of(value))

    def _settle(self, value: SSAValue, anchor: Operation) -> None:
        """Moves what `value` waits for in front of `anchor`, operands first, and merges the all-reduces among it."""
        stack = [value]
        while stack:
            top = stack[-1]
            key, op = self.reduced.get(top), self.delayed.get(top)
            if key is not None:
                self._merge(key, anchor)
            elif op is None:
                stack.pop()
            elif waits := [operand for operand in op.operands if operand in self.reduced or operand in self.delayed]:
                stack.extend(waits)
            else:
                del self.delayed[top]
                op.detach()
                assert anchor.parent is not None
                anchor.parent.insert_op_before(op, anchor)

    def _merge(self, key: Key, anchor: Operation) -> None:
        # The largest first: its place and its reason are what is said of them all.
        group = sorted(self.groups.pop(key), key=lambda op: -self._sent(op))
        self.sizes.pop(key)
        for op in group:
            for result in op.outputs:
                del self.reduced[result]
        if len(group) > 1 or self.delayed:
            merge_all_reduces(group, anchor)


def _needed(op: Operation) -> Iterable[SSAValue]:
    """The operands of an op, and those of the ops in its regions."""
    return (value for inner in op.walk() for value in inner.operands) if op.regions else op.operands


def _passes_on(op: Operation) -> bool:
    row = ROWS.get(op.name)
    return row is not None and len(op.results) == 1 and is_pure(op) and passes_dims_on(row.rule(op))


def merge_all_reduces(group: list[dtensor.AllReduceOp], anchor: Operation) -> dtensor.AllReduceOp:
    """One all-reduce of all operands of `group`, right before `anchor`, in place of them."""
    operands = [operand for op in group for operand in op.inputs]
    results = [result for op in group for result in op.outputs]
    reasons = "; ".join(dict.fromkeys(filter(None, map(reason_of, group))))
    merged = dtensor.AllReduceOp(
        operands,
        [result.type for result in results],
        group[0].mesh_name,
        group[0].axes.data,
        group[0].kind.data,
        reasons or None,
    )
    merged.location = fuse([op.location for op in group], "all_reduce")
    assert anchor.parent is not None
    anchor.parent.insert_op_before(merged, anchor)
    for old, new in zip(results, merged.outputs, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for op in group:
        erase(op)
    return merged
