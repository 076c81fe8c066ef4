"""Sort and top-k: whole keys as integers whose order `TopKV2` keeps stable, or a network of comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.frontends.tensorflow.exporting.emitter import HANDLERS, Emitter, handler
from shardwright.frontends.tensorflow.exporting.nodes import BOOL, INT32, Tensor
from shardwright.frontends.tensorflow.exporting.operations.pointwise import total_order_key
from shardwright.runtime.kernels.elementwise import working_dtype
from shardwright.runtime.kernels.sorting import network
from shardwright.runtime.lowering.comparators import Key, keys_of


@handler("stablehlo.sort")
def _sort(emitter: Emitter, op: stablehlo.SortOp, operands: list[Tensor]) -> list[Tensor]:
    if 0 in operands[0].shape or operands[0].shape[op.dim] == 1:
        return operands
    rank = len(operands[0].shape)
    last = [dim for dim in range(rank) if dim != op.dim] + [op.dim]
    moved = [emitter.transpose(operand, last) for operand in operands]
    keys = keys_of(op.comparator.block)
    if keys is not None:
        order = _by_keys(emitter, op, moved, keys)
        made = [_taken(emitter, operand, order) for operand in moved]
    else:
        made = _by_network(emitter, op, moved)
    return [emitter.transpose(x, [last.index(dim) for dim in range(rank)]) for x in made]


def _by_keys(e: Emitter, op: stablehlo.SortOp, operands: Sequence[Tensor], keys: Sequence[Key]) -> Tensor:
    """The places along the last dim in the order of keys, sorted by the last key first."""
    firsts: dict[SSAValue, Tensor] = dict(zip(op.comparator.block.args[::2], operands, strict=True))
    order: Tensor | None = None
    for key in reversed(keys):
        ranks = _ranking(e, _value(e, key.value, firsts), key.descends, key.total)
        ranks = e.broadcast(ranks, operands[0].shape)
        _, places = _largest(e, ranks if order is None else _taken(e, ranks, order), ranks.shape[-1])
        order = places if order is None else _taken(e, order, places)
    assert order is not None
    return order


def _value(e: Emitter, value: SSAValue, known: dict[SSAValue, Tensor]) -> Tensor:
    """A key of whole operands: the expression that the comparator computes of single elements."""
    if value not in known:
        owner = value.owner
        assert isinstance(owner, Operation)
        inputs = [_value(e, operand, known) for operand in owner.operands]
        known.update(zip(owner.results, HANDLERS[owner.name](e, owner, inputs), strict=True))
    return known[value]


def _ranking(e: Emitter, key: Tensor, descends: bool, total: bool) -> Tensor:
    """Integers that descend in the order of the key: `TopKV2` takes the largest first."""
    if key.dtype == BOOL:
        key = e.cast(key, INT32)
    wide = e.cast(key, working_dtype(key.dtype))
    if wide.dtype.kind == "f":
        wide = total_order_key(e, wide if total else e.call("AddV2", wide, e.like(0, wide)))
    return wide if descends else e.call("Invert", wide)


def _largest(e: Emitter, ranks: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest elements along the last dim, and their places; of equal ones, the first comes first."""
    inputs = (e.whole(ranks), e.constant(count, INT32))
    made = e.node("TopKV2", inputs, (*ranks.shape[:-1], count), ranks.dtype, sorted=True, index_type=INT32)
    return made, Tensor(made.node, 1, INT32, made.stored, made.shape)


def _taken(e: Emitter, value: Tensor, order: Tensor) -> Tensor:
    """The elements along the last dim in an order."""
    if value.is_splat:
        return e.broadcast(value, order.shape)
    axis = len(order.shape) - 1
    return e.gather(value, order, axis, batch_dims=axis)


def _by_network(e: Emitter, op: stablehlo.SortOp, operands: Sequence[Tensor]) -> list[Tensor]:
    """Rounds of comparisons of pairs; where neither comes first, the one at the lower place does."""
    extent, rank = operands[0].shape[-1], len(operands[0].shape)
    current = [*operands, e.counted(operands[0].shape, rank - 1)]
    for first, second in network(extent):
        partner = np.arange(extent)
        partner[first], partner[second] = second, first
        is_first = np.zeros(extent, bool)
        is_first[first] = True
        other = [e.gather(x, e.constant(partner.astype(np.int32)), rank - 1) for x in current]
        swap = _swaps(e, op, current, other, e.constant(is_first), e.constant(partner != np.arange(extent)))
        current = [e.select(swap, x, y) for x, y in zip(other, current, strict=True)]
    return current[:-1]


def _swaps(
    e: Emitter, op: stablehlo.SortOp, mine: Sequence[Tensor], other: Sequence[Tensor], is_first: Tensor, paired: Tensor
) -> Tensor:
    """Where an element changes places with its partner."""
    keys = range(len(mine) - 1)
    block = op.comparator.block
    (goes_first,) = e.pointwise(block, [side[at] for at in keys for side in (mine, other)])
    (comes_after,) = e.pointwise(block, [side[at] for at in keys for side in (other, mine)])
    undecided = e.call("Equal", goes_first, comes_after, result=BOOL)
    later = e.call("Greater", mine[-1], other[-1], result=BOOL)
    after = e.select(undecided, later, comes_after)
    before = e.call("LogicalNot", after)
    return e.call("LogicalAnd", paired, e.select(is_first, after, before))


@handler("chlo.top_k")
def _top_k(emitter: Emitter, op: chlo.TopKOp, operands: list[Tensor]) -> list[Tensor]:
    (x,) = operands
    if x.dtype.kind in "iu":
        return list(_largest(emitter, x, op.count))
    _, order = _largest(emitter, _ranking(emitter, x, True, True), op.count)
    return [_taken(emitter, x, order), order]
