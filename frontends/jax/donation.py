"""Results that take the memory of donated arguments: they have the layouts of these."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

SHARDING = "sdy.sharding"


def lay_out_donated(function: FuncOp, donated: Sequence[int]) -> None:
    """
    Gives results the shardings of the donated arguments whose memory they can have, in place.

    As JAX does, each donated argument takes the first result of its type that none has taken. A result for which
    somebody gave a sharding keeps it.
    """
    last = function.get_return_op()
    types = [] if last is None else [value.type for value in last.operands]
    arguments = _entries(function.arg_attrs, len(function.args))
    results, free = _entries(function.res_attrs, len(types)), set(range(len(types)))
    for number in donated:
        type_ = function.args[number].type
        taken = next((at for at in sorted(free) if types[at] == type_), None)
        if taken is None:
            continue
        free.remove(taken)
        given = arguments[number].get(SHARDING)
        if given is not None:
            results[taken].setdefault(SHARDING, given)
    if any(results):
        function.properties["res_attrs"] = ArrayAttr([DictionaryAttr(entry) for entry in results])


def _entries(attributes: ArrayAttr[DictionaryAttr] | None, count: int) -> list[dict[str, Attribute]]:
    return [dict(entry.data) for entry in attributes] if attributes is not None else [{} for _ in range(count)]
