"""Values in another memory of their device, as that of the host: barriers that say so, as XLA wants to read it."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue

from shardwright.dialects.building import ops_in
from shardwright.dialects.dtensor.ops import CollectiveOp
from shardwright.dialects.stablehlo import OptimizationBarrierOp, ReshapeOp
from shardwright.dialects.stablehlo.calls.custom_calls import in_memory
from shardwright.passes.rewriter import insert_before, replace_with
from shardwright.passes.stages import MEMORY

_OWN = StringAttr("device")
"""The memory that a device computes in, and sends from."""


def put_into_memories(module: ModuleOp) -> None:
    """
    Turns each barrier that puts a value into a memory into the call that XLA knows, in place.

    What a collective takes of the host's memory is fetched first, in another shape as well: nobody asked where the copy
    lies that it sends.
    """
    for op in ops_in(module):
        if isinstance(op, OptimizationBarrierOp) and isinstance(memory := op.attributes.get(MEMORY), StringAttr):
            call = replace_with(op, in_memory(op.operands[0], memory))
            if memory != _OWN:
                _fetch_for_collectives(call.results[0])


def _fetch_for_collectives(value: SSAValue) -> None:
    for use in list(value.uses):
        reader = use.operation
        if isinstance(reader, CollectiveOp):
            reader.operands[use.index] = insert_before(reader, in_memory(value, _OWN)).results[0]
        elif isinstance(reader, ReshapeOp):
            _fetch_for_collectives(reader.results[0])
