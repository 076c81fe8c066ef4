"""
Python functions that a program of `shardwright.jax.jit` calls back, while XLA runs it.

While layouts are decided such calls take whole arrays. What only computes is then called by every device; what has an
effect by the first one, from which all others have its result. In a `shard_map` over all axes each device calls with
its own arrays, as JAX lets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import Builder, appending
from shardwright.dialects.sdy.ops import ManualComputationOp
from shardwright.dialects.stablehlo.calls.custom_calls import CustomCallOp, custom_calls, is_token
from shardwright.dialects.stablehlo.collectives import UI32, AllGatherOp, ChannelHandleAttr, PartitionIdOp
from shardwright.dialects.text.literals import dense
from shardwright.dialects.text.locations import fault
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.engines.jax.splicing import CHANNEL, highest_channel
from shardwright.passes.importing.gspmd import SHARDING
from shardwright.passes.importing.settle_calls import local_calls
from shardwright.passes.rewriter import insert_before, replace
from shardwright.rules.families.custom_calls import CALLS, EFFECTS

COMPUTES, ACTS, EACH = (f"shardwright.jax.{name}" for name in ("computes", "acts", "each"))
"""What calls are named while layouts are decided: those for a result, with an effect, and of each device by itself."""

CALLS.update(dict.fromkeys((COMPUTES, ACTS, EACH)))
EFFECTS.update((ACTS, EACH))

_TARGET = "jax.target"
"""The attribute that holds the name by which XLA knows a call."""


def hold_calls_back(module: ModuleOp) -> None:
    """
    Names calls into Python for the time in which layouts are decided, in place.

    Raises SW0431 for calls in order, which tokens keep, and for those where some axes are manual and others are not.
    """
    calls = [op for op in custom_calls(module) if op.is_callback]
    if not calls:
        return
    own = set(local_calls(module, calls))
    partly = any(isinstance(op, ManualComputationOp) for op in module.walk())
    for op in calls:
        if any(is_token(value) for value in (*op.operands, *op.results)):
            raise fault("SW0431", "a callback is to be called in the order of others", op, help=_UNORDERED)
        if partly and op not in own and _is_inside(op):
            raise fault("SW0431", "a callback stands where some axes are manual and others are not", op, help=_WHOLE)
        name = EACH if op in own and op.effects else ACTS if op.effects else COMPUTES
        op.attributes[_TARGET] = op.call_target_name
        op.properties["call_target_name"] = StringAttr(name)
        op.attributes.pop(SHARDING, None)  # which device calls


_UNORDERED = 'let it be called without ordered=True, or take fallback="xla"'
_WHOLE = 'make all axes manual in the shard_map around it, or take fallback="xla"'


def _is_inside(op: Operation) -> bool:
    """Whether an op is in a manual computation, or in a function that may be called from one."""
    outer = op.parent_op()
    while outer is not None and outer.name != "func.func":
        if isinstance(outer, ManualComputationOp):
            return True
        outer = outer.parent_op()
    return outer is None or outer.properties.get("sym_visibility") == StringAttr("private")


def called_back(module: ModuleOp) -> Iterator[CustomCallOp]:
    """The calls into Python of a module, by their names for the time being."""
    names = (COMPUTES, ACTS, EACH)
    return (op for op in custom_calls(module) if op.target in names)


def let_call_back(module: ModuleOp, devices: int) -> None:
    """Gives calls XLA's names for them, in place; those with effects are made by the first device alone."""
    channels = count(highest_channel(module) + 1)
    for op in list(called_back(module)):
        by_first = op.target == ACTS
        target = op.attributes.pop(_TARGET)
        assert isinstance(target, StringAttr)
        op.properties["call_target_name"] = target
        if by_first:
            _by_the_first(op, devices, channels)


def _by_the_first(op: CustomCallOp, devices: int, channels: Iterator[int]) -> None:
    """Lets the first device make a call, and gives its results to all."""
    build = Builder(lambda new: insert_before(op, new))
    number = build.put(PartitionIdOp.create(result_types=[tensor((), UI32)]))
    first = build.compare(number, "EQ", build.literal(0, UI32))
    types = [result.type for result in op.results]
    calling, idle = Block(), Block()
    made = op.clone()
    calling.add_ops([made, stablehlo.ReturnOp(*made.results)])
    nothing = appending(idle)
    idle.add_op(stablehlo.ReturnOp(*[nothing.zeros(result) for result in op.results]))
    found = build.insert(stablehlo.IfOp(first, Region(calling), Region(idle), types))  # pyright: ignore[reportArgumentType]
    replace(op, [_of_the_first(value, build, devices, next(channels)) for value in found.results])


def _of_the_first(value: SSAValue, build: Builder, devices: int, channel: int) -> SSAValue:
    """What the first device has, on all of them."""
    shape = shape_of(value)
    row = build.reshape(value, (1, *shape))
    groups = np.arange(devices, dtype=np.int64)[None]
    gathered = AllGatherOp.create(
        operands=[row],
        result_types=[tensor((devices, *shape), element_of(value))],
        properties={
            "all_gather_dim": IntegerAttr(0, i64),
            "replica_groups": dense(tensor(groups.shape, i64), groups.tobytes()),
            CHANNEL: ChannelHandleAttr((channel, 1)),
            "use_global_device_ids": UnitAttr(),
        },
    )
    rows = build.put(gathered)
    zeros = [0] * len(shape)
    return build.reshape(build.slice(rows, [0, *zeros], [1, *shape]), shape)
