"""The padded form of sorts: what stands behind the elements stays there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BoolAttr, i1
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import appending, returned
from shardwright.dialects.dtensor.kinds import highest, lowest
from shardwright.dialects.types import element_dtype, element_of, is_integer, shape_of, tensor
from shardwright.passes.canonical.constants import splat_value
from shardwright.passes.padding.site import Site
from shardwright.rules.families.sorting import cloned, places_of


def keep_behind(op: stablehlo.SortOp, site: Site) -> None:
    """
    Padding holds what comes last, and the sort is stable.

    Where no element is known that does, an operand that says where each one stood tells padding; it is put there if
    there is none.
    """
    if op.dim not in site.padded(op.inputs[0]):
        return
    last = _last_of_all(op)
    if last is not None:
        place, number = last
        value = op.inputs[place]
        op.operands[place] = site.masked(value, stablehlo.make_dense(number, element_of(value), ()), [op.dim])
        op.properties["is_stable"] = BoolAttr(True, i1)
        return
    valid, values, places = site.valid(op.inputs[0])[op.dim], list[SSAValue](op.inputs), places_of(op)
    if places is None:
        places = len(values)
        values.append(site.iota(op.dim, shape_of(values[0])))
    site.swap(stablehlo.SortOp(values, op.dim, _behind(op, values, places, valid)))


def _last_of_all(op: stablehlo.SortOp) -> tuple[int, Any] | None:
    """The one operand by which a sort orders, and an element behind which, in its order, there is no other."""
    (result,) = returned(op.comparator.block)
    compare = result.owner
    if not isinstance(compare, stablehlo.CompareOp) or compare.direction not in ("LT", "GT"):
        return None
    (first, alike), (second, others) = _key(compare.lhs), _key(compare.rhs)
    if first is None or second is None or second.index != first.index ^ 1 or alike != others:
        return None
    descends = (compare.direction == "GT") == (first.index < second.index)
    dtype = element_dtype(element_of(first))
    if is_integer(element_of(first)):
        return first.index // 2, (lowest if descends else highest)(dtype)
    if compare.order != "TOTALORDER" or dtype.name not in ("float16", "bfloat16", "float32", "float64"):
        return None
    if descends and alike:
        return first.index // 2, lowest(dtype)
    bits = np.iinfo(f"int{8 * dtype.itemsize}")
    return first.index // 2, np.asarray(-1 if descends else bits.max, bits.dtype).view(dtype)


def _key(value: SSAValue) -> tuple[BlockArgument | None, bool]:
    """The element of which a value is the key, as all NaNs may be one, and both zeros; and whether all NaNs are one."""
    rest, nans = _unless(value, "NE"), False
    if rest is not None:
        value, nans = rest, True
    rest = _unless(value, "EQ")
    value = value if rest is None else rest
    return (value, nans) if isinstance(value, BlockArgument) else (None, nans)


def _unless(value: SSAValue, relation: str) -> SSAValue | None:
    """What a value is that is one number instead where it is NaN (`NE` to itself), or zero (`EQ` to zero)."""
    op = value.owner
    if not isinstance(op, stablehlo.SelectOp) or not isinstance(test := op.pred.owner, stablehlo.CompareOp):
        return None
    number, rest = splat_value(op.on_true), op.on_false
    if number is None or test.direction != relation or _key(test.lhs)[0] is not _key(rest)[0]:
        return None
    if relation == "NE":
        return rest if test.lhs is test.rhs and np.isnan(number) and not np.signbit(number) else None
    return rest if number == 0 and splat_value(test.rhs) == 0 else None


def _behind(op: stablehlo.SortOp, values: Sequence[SSAValue], places: int, valid: int) -> Region:
    """The op's comparator for elements that stood before a place; all others come after them."""
    old = op.comparator.block
    block = Block(arg_types=[tensor((), element_of(value)) for value in values for _ in "xy"])
    build, args = appending(block), block.args
    limit = build.literal(valid, element_of(values[places]))
    first, second = (build.compare(place, "GE", limit) for place in args[2 * places : 2 * places + 2])
    before = cloned(old, build, args[: len(old.args)])
    before = build.both(build.compare(first, "EQ", second), before)
    build.insert(stablehlo.ReturnOp(build.put(stablehlo.OrOp(build.compare(first, "LT", second), before))))
    return Region(block)
