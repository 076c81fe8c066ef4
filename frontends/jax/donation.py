"""Results that take the memory of donated arguments: they have the layouts of these."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from shardwright.dialects.sdy import ShardingAttr
from shardwright.dialects.sdy.ops import ShardingGroupOp
from shardwright.frontends.jax.promised import keeps
from shardwright.passes.rewriter import insert_before

SHARDING = "sdy.sharding"


def lay_out_donated(
    function: FuncOp, donated: Sequence[int], promised: Sequence[ShardingAttr | None] | None = None
) -> None:
    """
    Gives results the shardings of the donated arguments whose memory they can have, in place.

    A result for which somebody gave a sharding keeps it, and one whose type promises another gets that one.
    """
    arguments = _entries(function.arg_attrs, len(function.args))
    results = _entries(function.res_attrs, len(_results(function)))
    for number, taken in _pairs(function, donated):
        given = arguments[number].get(SHARDING)
        if given is not None and keeps(given, promised[taken] if promised else None):
            results[taken].setdefault(SHARDING, given)
    for entry, promise in zip(results, promised or (), strict=False):
        if promise is not None:
            entry.setdefault(SHARDING, promise)
    if any(results):
        function.properties["res_attrs"] = ArrayAttr([DictionaryAttr(entry) for entry in results])


def keep_with_donated(function: FuncOp, donated: Sequence[int]) -> None:
    """
    Makes groups of donated arguments and results that can have their memory, where nobody laid out either, in place.

    The members of a group get one layout, whichever is chosen.
    """
    last = function.get_return_op()
    arguments = _entries(function.arg_attrs, len(function.args))
    results = _entries(function.res_attrs, len(_results(function)))
    known = {op.group for op in function.walk() if isinstance(op, ShardingGroupOp)}
    fresh = itertools.count(max(known, default=-1) + 1)
    for number, taken in _pairs(function, donated):
        if last is not None and SHARDING not in arguments[number] and SHARDING not in results[taken]:
            group = IntegerAttr(next(fresh), i64)
            for value in (function.args[number], last.operands[taken]):
                insert_before(last, ShardingGroupOp.create(operands=[value], properties={"group_id": group}))


def _pairs(function: FuncOp, donated: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Donated arguments and the results that have their memory: as in JAX the first of a type that none has taken."""
    types = [value.type for value in _results(function)]
    free = set(range(len(types)))
    for number in donated:
        taken = next((at for at in sorted(free) if types[at] == function.args[number].type), None)
        if taken is not None:
            free.remove(taken)
            yield number, taken


def _results(function: FuncOp) -> Sequence[SSAValue]:
    last = function.get_return_op()
    return () if last is None else last.operands


def _entries(attributes: ArrayAttr[DictionaryAttr] | None, count: int) -> list[dict[str, Attribute]]:
    return [dict(entry.data) for entry in attributes] if attributes is not None else [{} for _ in range(count)]
