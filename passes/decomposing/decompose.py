"""`decompose`: ops that other ops make up are taken apart; what has no meaning here is refused, all at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects import stablehlo
from shardwright.dialects.building import ops_in
from shardwright.dialects.func import CallOp
from shardwright.dialects.sdy import ShardingPerValueAttr
from shardwright.dialects.stablehlo.calls.custom_calls import (
    HOST_OPS,
    InfeedOp,
    OutfeedOp,
    RecvOp,
    SendOp,
    unknown_call,
)
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import shape_of
from shardwright.passes.decomposing.custom_calls import CALLS, PARTITIONING
from shardwright.passes.decomposing.indexing import INDEXING, refuse_slice
from shardwright.passes.decomposing.norms import NORMS
from shardwright.passes.decomposing.parts import Decomposition, Site
from shardwright.passes.decomposing.products import PRODUCTS
from shardwright.passes.decomposing.scans import SCANS
from shardwright.passes.importing.calls import calls_in, functions
from shardwright.passes.rewriter import erase, insert_before, replace
from shardwright.rules.families.custom_calls import is_known

SHARDING = "sdy.sharding"


@dataclass(frozen=True)
class DecomposePass(ModulePass):
    """
    Turns composites into calls, and batch norms, maps, einsums and named custom calls into the ops that they stand for.

    Custom calls that nobody knows, and ops whose results cannot be repeated, are refused: one error for all of them.

    Before:
        %0 = stablehlo.einsum %x, %x, config = "i,i->" : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
        return %0 : tensor<f32>
    After:
        %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
        return %0 : tensor<f32>
    """

    name = "decompose"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        table = functions(op)
        found = [inner for inner in ops_in(op) if type(inner) in _RULES]
        calls = [inner for inner in found if isinstance(inner, stablehlo.CustomCallOp) and inner.target in CALLS]
        taken = {name for call in calls for name in call.computations}
        _take_apart(found, table)
        for inner in found:
            if isinstance(inner, stablehlo.TupleOp):
                erase(inner)
        called = {call.callee.string_value() for function in table.values() for call in calls_in(function)}
        for name in taken - called:  # comparators, which have become regions
            erase(table[name])


def _take_apart(found: Sequence[Operation], table: dict[str, FuncOp]) -> None:
    """Replaces each op by what makes it up; raises one error of all ops that are refused."""
    refused: list[Diagnostic] = []
    for op in found:
        if (fault := _refusal(op)) is not None:
            refused.append(fault)
        elif not refused and (rule := _rule(op)) is not None:
            _replace(op, rule(op, Site(partial(insert_before, op), table)))
    if refused:
        raise ShardwrightError(refused)


def _replace(op: Operation, values: Sequence[SSAValue]) -> None:
    """Puts values in place of an op's results; what the op says of their shardings moves to the ops that make them."""
    shardings = op.attributes.get(SHARDING)
    if isinstance(shardings, ShardingPerValueAttr):
        for value, sharding in zip(values, shardings.data, strict=True):
            if isinstance(value.owner, Operation) and len(value.owner.results) == 1:
                value.owner.attributes[SHARDING] = ShardingPerValueAttr((sharding,))
    for result, value in zip(op.results, values, strict=True):
        value.name_hint = result.name_hint or value.name_hint
    replace(op, values)


def _call(op: stablehlo.CompositeOp, site: Site) -> Sequence[SSAValue]:
    """A composite is a call of its decomposition."""
    call = CallOp.create(
        operands=op.operands,
        result_types=op.result_types,
        properties={"callee": op.decomposition},
        attributes=dict(op.attributes),
    )
    op.attributes.pop(SHARDING, None)
    return site.insert(call).results


def _dimension_size(op: stablehlo.GetDimensionSizeOp, site: Site) -> Sequence[SSAValue]:
    return [site.constant(shape_of(op.operand)[op.dim], op.result)]


def _tuple_element(op: stablehlo.GetTupleElementOp, site: Site) -> Sequence[SSAValue]:
    """The operand from which the tuple was made."""
    made = op.operand.owner
    assert isinstance(made, stablehlo.TupleOp)
    return [made.inputs[op.index.value.data]]


_RULES: Mapping[type[Operation], Decomposition | None] = {
    stablehlo.CompositeOp: _call,
    **NORMS,
    **PRODUCTS,
    **INDEXING,
    **SCANS,
    stablehlo.GetDimensionSizeOp: _dimension_size,
    stablehlo.GetTupleElementOp: _tuple_element,
    stablehlo.TupleOp: None,
    stablehlo.CustomCallOp: None,
    stablehlo.SetDimensionSizeOp: None,
    stablehlo.RngOp: None,
    **dict.fromkeys(HOST_OPS),
}
"""What becomes of each op; those without an entry of their own are looked at one by one, or refused."""

TAKEN_APART = frozenset(_RULES)
"""The ops that a program has no more."""


def _rule(op: Operation) -> Decomposition | None:
    return CALLS.get(op.target) if isinstance(op, stablehlo.CustomCallOp) else _RULES[type(op)]


def _refusal(op: Operation) -> Diagnostic | None:
    if isinstance(op, stablehlo.CustomCallOp):
        known = op.target in CALLS or op.target in PARTITIONING or is_known(op)
        return None if known else unknown_call(op)
    check = _REFUSALS.get(type(op))
    return None if check is None else check(op)


def _refuse_tuple(op: Operation) -> Diagnostic | None:
    made = op.operands[0].owner if isinstance(op, stablehlo.GetTupleElementOp) else op
    if isinstance(made, stablehlo.TupleOp) and (made is not op or _only_elements(op)):
        return None
    help = "pass the values one by one: tuples are read where an element is taken from them in the same function"
    return Diagnostic("SW0432", "a tuple goes further than to its elements", where(op), help=help)


def _only_elements(op: Operation) -> bool:
    return all(isinstance(use.operation, stablehlo.GetTupleElementOp) for use in op.results[0].uses)


def _refuse_rng(op: Operation) -> Diagnostic:
    help = "make random numbers from a key: jax.random, or stablehlo.rng_bit_generator"
    return Diagnostic("SW0432", "stablehlo.rng gives numbers that no run can repeat", where(op), help=help)


def _refuse_host(op: Operation) -> Diagnostic:
    message = f"{op.name} {_TALKS[type(op)]}, which no program here has"
    help = "make them arguments or results of the program, and call it once for each"
    return Diagnostic("SW0432", message, where(op), help=help)


_TALKS: Mapping[type[Operation], str] = {
    InfeedOp: "takes values from a queue beside the program",
    OutfeedOp: "puts values into a queue beside the program",
    SendOp: "sends values to the host or to another program",
    RecvOp: "takes values from the host or from another program",
}


def _refuse_size(op: Operation) -> Diagnostic:
    help = "export the program for fixed sizes"
    return Diagnostic("SW0432", "stablehlo.set_dimension_size makes a dim of computed size", where(op), help=help)


_REFUSALS: Mapping[type[Operation], Callable[[Operation], Diagnostic | None]] = {
    stablehlo.TupleOp: _refuse_tuple,
    stablehlo.GetTupleElementOp: _refuse_tuple,
    stablehlo.RngOp: _refuse_rng,
    **dict.fromkeys(HOST_OPS, _refuse_host),
    stablehlo.SetDimensionSizeOp: _refuse_size,
    stablehlo.RealDynamicSliceOp: refuse_slice,
}
