"""
Padded forms: what an op becomes when dims of its operands and results have padding at their ends.

The rule decides. Dims that pass are done with their padding, which then is that of the results; a dim along which an op
does anything else loses it first, and gets it back afterwards. Ops that read across dims in a way that padding can be
kept out of have a form of their own, which masks, moves or clamps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

from xdsl.ir import Operation

from shardwright.dialects import chlo, dtensor, stablehlo
from shardwright.dialects.dtensor.roll import RollOp
from shardwright.dialects.types import element_of, shape_of
from shardwright.passes.padding import convolving, indexed, moving, reducing, sorting
from shardwright.passes.padding.moving import Bond
from shardwright.passes.padding.site import Shape, Site
from shardwright.passes.program import Node
from shardwright.rules.rule import PASS, Rule
from shardwright.rules.table import HOOKS

Bonds: TypeAlias = Callable[[Any], Iterator[Bond]]


@dataclass(frozen=True)
class Form:
    """How the ops of a class are padded, and which dims are to be padded alike beyond those that share a factor."""

    rewrite: Callable[[Any, Site], None]
    bonds: Bonds | None = None


def _along_rule(op: Operation, site: Site) -> None:
    """Dims that pass keep their padding; all others are done without."""
    passing = _passing(op, site)
    count = len(op.operands)
    site.crop_operands(lambda place, dim: (place, dim) in passing)
    for number, result in enumerate(op.results):
        site.make_valid(result, [dim for dim in range(len(shape_of(result))) if (count + number, dim) not in passing])


def _passing(op: Operation, site: Site) -> set[tuple[int, int]]:
    """The dims, by tensor, that pass wherever their factor stands."""
    if op.name in HOOKS or isinstance(op, _WHOLE):
        return set()
    alone, compound = _places(site.rule, [site.valid(value) for value in (*op.operands, *op.results)])
    return {
        place
        for factor, places in alone.items()
        if site.rule.kinds[factor] == PASS and factor not in compound
        for place in places
    }


def _places(rule: Rule, shapes: Sequence[Shape]) -> tuple[dict[int, list[tuple[int, int]]], set[int]]:
    """For each factor the dims, by tensor, that it makes up alone; and the factors that are but a part of some dim."""
    alone: dict[int, list[tuple[int, int]]] = {}
    compound: set[int] = set()
    for place, (tensor, shape) in enumerate(zip(rule.tensors(), shapes, strict=True)):
        for dim, (factors, size) in enumerate(zip(tensor, shape, strict=True)):
            if len(factors) == 1 and rule.sizes[factors[0]] == size:
                alone.setdefault(factors[0], []).append((place, dim))
            else:
                compound.update(factors)
    return alone, compound


def _make_splat(op: stablehlo.ConstantOp, site: Site) -> None:
    """A larger splat; other constants are padded."""
    (result,) = op.results
    if stablehlo.is_splat(op):
        op.properties["value"] = stablehlo.make_dense(stablehlo.splat_value(op), element_of(result), shape_of(result))
    else:
        site.make_valid(result)


def _as_it_is(op: Operation, site: Site) -> None:
    """What an op asks or makes for all places it does for padding, too."""


def _resize_operand(op: dtensor.RelayoutOp | dtensor.ConstraintOp, site: Site) -> None:
    """A dim of one element may be padded here alone."""
    op.operands[0] = site.resized(op.operand, shape_of(op.result))


def _same_dims(op: Operation) -> Iterator[Bond]:
    return (((0, dim), (1, dim)) for dim in range(len(shape_of(op.operands[0]))))


_WHOLE = (stablehlo.CustomCallOp, stablehlo.CholeskyOp)
"""Ops that may fail on elements that are anything, and then do so for all others with them."""

FORMS: dict[type[Operation], Form] = {
    stablehlo.ConstantOp: Form(_make_splat),
    stablehlo.IotaOp: Form(_as_it_is),
    dtensor.RelayoutOp: Form(_resize_operand, _same_dims),
    dtensor.ConstraintOp: Form(_resize_operand, _same_dims),
    stablehlo.SliceOp: Form(moving.cut_slice, moving.bonds_along),
    stablehlo.PadOp: Form(moving.widen_pad, moving.bonds_along),
    RollOp: Form(moving.roll_valid),
    stablehlo.ReverseOp: Form(moving.shift_reverse, moving.bonds_along),
    stablehlo.ConcatenateOp: Form(moving.place_operands, moving.bonds_of_concatenate),
    stablehlo.ReshapeOp: Form(moving.reshape_in_stretches, moving.bonds_of_reshape),
    stablehlo.DynamicSliceOp: Form(indexed.hold_slice),
    stablehlo.DynamicUpdateSliceOp: Form(indexed.hold_update),
    stablehlo.GatherOp: Form(indexed.hold_gather),
    stablehlo.ScatterOp: Form(indexed.hold_scatter),
    stablehlo.DotGeneralOp: Form(reducing.mask_products),
    stablehlo.ReduceOp: Form(reducing.mask_reduced),
    chlo.TopKOp: Form(reducing.mask_candidates),
    stablehlo.SortOp: Form(sorting.keep_behind),
    stablehlo.ReduceWindowOp: Form(reducing.mask_windows, reducing.bonds_of_reduce_window),
    stablehlo.SelectAndScatterOp: Form(reducing.mask_selected, reducing.bonds_of_selection),
    stablehlo.ConvolutionOp: Form(convolving.mask_convolved, convolving.bonds_of_convolution),
}
"""The forms that are not those of the rule alone."""


def bonds(node: Node) -> Iterator[Bond]:
    """Which dims at a node are to be padded alike: those of one factor, and those that its op's form names."""
    if node.rule.pairwise:
        rank = len(node.rule.tensors()[0])
        others = range(1, len(node.values))
        return (((0, dim), (place, dim)) for dim in range(rank) for place in others)
    alone, _ = _places(node.rule, [shape_of(value) for value in (*node.op.operands, *node.op.results)])
    shared = ((places[0], other) for places in alone.values() for other in places[1:])
    form = FORMS.get(type(node.op))
    return chain(shared, form.bonds(node.op) if form is not None and form.bonds is not None else ())


def pad_op(op: Operation, site: Site) -> None:
    """Gives an op its padded form."""
    form = FORMS.get(type(op))
    if not isinstance(op, dtensor.RelayoutOp | dtensor.ConstraintOp):
        _without_single(op, site)
    (_along_rule if form is None else form.rewrite)(op, site)


def _without_single(op: Operation, site: Site) -> None:
    """Rules know no dims of one element, so that these are done as they are."""
    site.crop_operands(lambda place, dim: site.valid(op.operands[place])[dim] != 1)
    for result in op.results:
        site.make_valid(result, [dim for dim, size in enumerate(site.valid(result)) if size == 1])
