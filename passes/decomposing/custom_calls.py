"""Custom calls that stand for ops: CHLO's functions under MHLO's names, the largest elements, sparse products."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.building import body_of, returned
from shardwright.dialects.chlo.along import TopKOp
from shardwright.dialects.stablehlo.calls.custom_calls import PLACEMENT, memory_of
from shardwright.dialects.stablehlo.collectives import UI32
from shardwright.dialects.stablehlo.indexing.numbers import GatherDimensions, ScatterDimensions
from shardwright.dialects.text.locations import fault, label
from shardwright.dialects.types import element_of, is_integer, shape_of, tensor
from shardwright.layout.planning.sweep import Sweep
from shardwright.passes.decomposing.parts import Decomposition, Site
from shardwright.passes.stages import MEMORY

PARTITIONING = frozenset({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"})
"""GSPMD's annotations, which the import of shardings reads."""

_MHLO = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erf_inv", "sinh", "square", "tan")
"""Functions that programs call as `mhlo.NAME`, and that CHLO has under the same name."""


def _function(name: str) -> Decomposition:
    op_class = next(op for op in chlo.UNARY_OPS if op.name == f"chlo.{name}")

    def decompose(op: Operation, site: Site) -> Sequence[SSAValue]:
        return [site.put(op_class.create(operands=op.operands, result_types=op.result_types))]

    return decompose


def _same(op: Operation, site: Site) -> Sequence[SSAValue]:
    """Where a value is kept says nothing about what it is."""
    return op.operands


def _placed(op: stablehlo.CustomCallOp, site: Site) -> Sequence[SSAValue]:
    """A value in another memory of its device is the same value; a barrier remembers the memory, for an export."""
    memory = memory_of(op)
    if memory is None:
        return op.operands
    barrier = stablehlo.OptimizationBarrierOp(op.operands)
    barrier.attributes[MEMORY] = memory
    return site.insert(barrier).results


_PLACES = ("MoveToDevice", "MoveToHost", "LayoutConstraint", "InspectSharding")
"""Calls that say where or in what order a value lies, or ask how it is split, and give it as it is."""

_WORD_BITS = 32


def _combined(op: stablehlo.CustomCallOp, site: Site) -> Sequence[SSAValue]:
    """Numbers of 64 bits from their low and their high words."""
    whole, (low, high) = element_of(op.results[0]), _words(op, op.operands)
    upper = site.cast(high, whole)
    upper = site.put(stablehlo.ShiftLeftOp(upper, site.constant(_WORD_BITS, upper)))
    return [site.put(stablehlo.OrOp(site.cast(low, whole), upper))]


def _low(op: stablehlo.CustomCallOp, site: Site) -> Sequence[SSAValue]:
    """The low words of numbers of 64 bits."""
    (word,) = _words(op, op.results)
    return [site.cast(op.operands[0], element_of(word))]


def _high(op: stablehlo.CustomCallOp, site: Site) -> Sequence[SSAValue]:
    """The high words of numbers of 64 bits."""
    (word,), value = _words(op, op.results), op.operands[0]
    shifted = site.put(stablehlo.ShiftRightLogicalOp(value, site.constant(_WORD_BITS, value)))
    return [site.cast(shifted, element_of(word))]


def _words(op: stablehlo.CustomCallOp, words: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """The words of a call, which are whole numbers without a sign: what they are else, bits alone do not say."""
    if any(element_of(word) != UI32 for word in words) or not is_integer(element_of((*op.operands, *op.results)[-1])):
        raise fault("SW0431", f"the custom call @{op.target} of such words is not known", op, help=_UNSIGNED)
    return words


_UNSIGNED = "give it words of type ui32"


def _top_k(op: stablehlo.CustomCallOp, site: Site) -> Sequence[SSAValue]:
    options = op.options
    if not options.get("largest", True):
        raise fault("SW0431", f"the custom call @{op.target} for the smallest elements is not known", op, help=_LARGEST)
    count = options.get("k", shape_of(op.results[0])[-1])
    return site.insert(TopKOp(op.operands[0], count)).results


_LARGEST = "take the largest of the negated elements"


def _approximate_top_k(op: stablehlo.CustomCallOp, site: Site) -> Sequence[SSAValue]:
    """
    All elements in order, then as many of the first ones as are asked for: what XLA does on CPUs as well.

    The first half of XLA's way on TPUs asks for more of them, of which the second half takes the first.
    """
    reduced = op.options.get("reduction_dim", _written(op, "reduction_dim"))
    if reduced is None or len(op.computations) != 1:
        raise fault("SW0431", f"the custom call @{op.target} of this kind is not known", op, help=_ONE_DIM)
    count, dim = len(op.operands) // 2, int(reduced)
    inputs = op.operands[:count]
    pairs = [tensor((), element_of(value)) for value in inputs for _ in range(2)]
    comparator = _region(op, site, op.computations[0], pairs)
    ordered = site.insert(stablehlo.SortOp(inputs, dim, comparator, stable=True)).results
    if any(shape_of(result) == shape_of(value) for result, value in zip(op.results, ordered, strict=True)):
        return ordered
    zeros = [0] * len(shape_of(ordered[0]))
    return [site.slice(value, zeros, shape_of(result)) for value, result in zip(ordered, op.results, strict=True)]


def _written(op: stablehlo.CustomCallOp, name: str) -> Any:
    """What the JSON in a call's configuration says under a name; None where it says nothing."""
    config = op.backend_config
    if not isinstance(config, StringAttr) or not config.data.startswith("{"):
        return None
    try:
        return json.loads(config.data).get(name)
    except ValueError:
        return None


_ONE_DIM = "say along which dim (reduction_dim), and name one function that compares"


def _region(op: stablehlo.CustomCallOp, site: Site, name: str, wanted: Sequence[Attribute]) -> Region:
    """The body of a function as the region of an op, which gives it values of the wanted types."""
    function = site.functions.get(name)
    if function is None:
        raise fault("SW0322", f"there is no function @{name}", op, help="the module must hold the whole program")
    source = function.body.block
    if [*source.arg_types] != [*wanted]:
        taken, given = (", ".join(map(str, types)) for types in (source.arg_types, wanted))
        message = f"the custom call @{op.target} gives @{name} values of types {given}, but it takes {taken}"
        raise fault("SW0431", message, op, help=_PAIRS, labels=label(function, "it is here"))
    block = Block(arg_types=[arg.type for arg in source.args])
    values: dict[SSAValue, SSAValue] = dict(zip(source.args, block.args, strict=True))
    for inner in body_of(source):
        block.add_op(inner.clone(values))
    block.add_op(stablehlo.ReturnOp(*(values[value] for value in returned(source))))
    return Region(block)


def _sparse_rows(op: stablehlo.CustomCallOp, site: Site) -> Sequence[SSAValue]:
    """
    A sparse matrix, given by its rows, times a dense one or a vector.

    The elements of a row stand from its start to before the next one's. So the starts up to an element, counted, are
    its row and one more; what stands before the first start, or behind the last one, is in no row and is not added.
    """
    elements, starts, columns, dense = op.operands
    (count,), result = shape_of(elements), site.zeros(op.results[0])
    if not count:
        return [result]
    begun = site.literal(0, i32, (count,))
    begun = _added(begun, starts, site.literal(1, i32, shape_of(starts)), site)
    growing = [Sweep(count, low=count - 1)]
    row = site.put(stablehlo.ReduceWindowOp([begun], [site.literal(0, i32)], growing, stablehlo.AddOp))
    row = site.subtract(row, site.constant(1, row))
    inner = range(1, len(shape_of(dense)))
    numbers = GatherDimensions(tuple(inner), (0,), start_index_map=(0,), index_vector_dim=1)
    taken = site.put(stablehlo.GatherOp(dense, columns, numbers, (1, *shape_of(dense)[1:])))
    return [_added(result, row, site.multiply(site.broadcast(elements, shape_of(taken), [0]), taken), site)]


def _added(value: SSAValue, places: SSAValue, updates: SSAValue, site: Site) -> SSAValue:
    """A value with updates added at places of its first dim."""
    inner = tuple(range(1, len(shape_of(value))))
    numbers = ScatterDimensions(inner, (0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=1)
    return site.put(stablehlo.ScatterOp([value], places, [updates], numbers, stablehlo.AddOp))


_PAIRS = "let the function compare two elements of each operand: both of the first, both of the second, and so on"

CALLS: Mapping[str, Decomposition] = {
    **{f"mhlo.{name}": _function(name) for name in _MHLO},
    **dict.fromkeys(_PLACES, _same),
    PLACEMENT: _placed,
    "X64Combine": _combined,
    "X64SplitLow": _low,
    "X64SplitHigh": _high,
    **dict.fromkeys(("ApproxTopK", "PartialReduce"), _approximate_top_k),
    "TopK": _top_k,
    "mhlo.topk": _top_k,
    "cpu_csr_sparse_dense_ffi": _sparse_rows,
}
"""What becomes of custom calls that stand for ops, by target."""
