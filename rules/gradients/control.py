"""Gradients of ops with regions: loops, branches, and what the user says about gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Region, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import Builder, appending, body_of, captured_by, counted_loop, returned
from shardwright.dialects.dtensor.gradients import CheckpointOp, GradientOp, PrimalOp, WithGradientOp
from shardwright.dialects.text.locations import fault
from shardwright.dialects.trip_count import trip_count
from shardwright.dialects.types import plain, shape_of, tensor_type
from shardwright.rules.gradients.vjp import Gradient, Site, has_gradient, vjp


@vjp("dtensor.with_gradient")
def _with_gradient(op: WithGradientOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """What the user's rule makes of the gradients; the outputs themselves get none."""
    seeds = [_given(gradient, output, site) for gradient, output in zip(gradients, op.results, strict=True)]
    made = _cloned(op.rule.block, dict(zip(op.rule.block.args, seeds, strict=True)), site)
    return [*[None] * len(op.outputs), *made]


@vjp("dtensor.checkpoint")
def _checkpoint(op: CheckpointOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """The region once more, behind a barrier that keeps it from being merged with the first time."""
    seeds = [_given(gradient, output, site) for gradient, output in zip(gradients, op.results, strict=True)]
    captured = _captured([op.body], site)
    used = [*op.inputs, *captured]
    fresh = site.insert(stablehlo.OptimizationBarrierOp([*used, *seeds])).results
    inputs = fresh[: len(op.inputs)]
    again = dict(zip(captured, fresh[len(op.inputs) : len(used)], strict=True))
    outputs = _cloned(op.body.block, dict(zip(op.body.block.args, inputs, strict=True)) | again, site)
    sources = [value for value in fresh[: len(used)] if has_gradient(value)]
    found = site.insert(GradientOp(*_differentiable(outputs, fresh[len(used) :]), sources)).results
    made = dict(zip(sources, found, strict=True))
    for value, copy in again.items():
        site.contribute(value, made[copy])
    return [made.get(value) for value in inputs]


@vjp("stablehlo.case", "stablehlo.if")
def _branches(op: stablehlo.CaseOp | stablehlo.IfOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """The same choice again: each branch gives the gradients of all that any branch uses from outside."""
    seeds = [_given(gradient, output, site) for gradient, output in zip(gradients, op.results, strict=True)]
    captured = _captured(op.regions, site)
    if captured:
        regions = [_branch(region, seeds, captured) for region in op.regions]
        types = [plain(tensor_type(value)) for value in captured]
        again = op.create(operands=op.operands, result_types=types, regions=regions)
        for value, gradient in zip(captured, site.insert(again).results, strict=True):
            site.contribute(value, gradient)
    return [None]


def _branch(region: Region, seeds: Sequence[SSAValue], captured: Sequence[SSAValue]) -> Region:
    block = Block()
    inside = appending(block)
    primals = _primals(captured, inside)
    outputs = _cloned(region.block, primals, inside)
    found = inside.insert(GradientOp(*_differentiable(outputs, seeds), list(primals.values()))).results
    inside.insert(stablehlo.ReturnOp(*found))
    return Region(block)


@vjp("stablehlo.while")
def _while(op: stablehlo.WhileOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """
    The loop once more, keeping what each round began with; then the rounds in reverse, each computed again from there.

    It takes a loop whose text says how often it runs.
    """
    rounds = trip_count(op)
    if rounds is None:
        raise fault(
            "SW0325",
            "a loop cannot be differentiated whose number of rounds depends on the data",
            op,
            notes=("what each round began with is kept for the gradient, and that takes a known number",),
            help="count up to a constant, or use shardwright.scan; shardwright.stop_gradient leaves the loop out",
        )
    seeds = [_given(gradient, output, site) for gradient, output in zip(gradients, op.results, strict=True)]
    if rounds == 0:
        return [seed if has_gradient(value) else None for seed, value in zip(seeds, op.inputs, strict=True)]
    kept = _kept(op, rounds, site)
    return _reversed(op, rounds, kept, seeds, site)


def _kept(op: stablehlo.WhileOp, rounds: int, site: Site) -> Sequence[SSAValue]:
    """For each carried value a stack of what each round began with."""
    carried = list(op.inputs)
    types = [plain(tensor_type(value)) for value in carried]
    stacks = [site.literal(0, kind.element_type, (rounds, *kind.get_shape())) for kind in types]

    def body(inside: Builder, arguments: Sequence[SSAValue]) -> list[SSAValue]:
        index, values, piles = arguments[0], arguments[1 : 1 + len(types)], arguments[1 + len(types) :]
        piles = [_stored(pile, value, index, inside) for pile, value in zip(piles, values, strict=True)]
        following = _cloned(op.body.block, dict(zip(op.body.block.args, values, strict=True)), inside)
        return [*following, *piles]

    return counted_loop(site, [*carried, *stacks], rounds, body)[len(types) :]


def _reversed(
    op: stablehlo.WhileOp, rounds: int, kept: Sequence[SSAValue], seeds: Sequence[SSAValue], site: Site
) -> Sequence[Gradient]:
    captured = _captured([op.condition, op.body], site)
    moving = [place for place, value in enumerate(op.inputs) if has_gradient(value)]
    start = [*(seeds[place] for place in moving), *map(site.zeros, captured)]

    def body(inside: Builder, arguments: Sequence[SSAValue]) -> list[SSAValue]:
        index, mine, sums = arguments[0], arguments[1 : 1 + len(moving)], arguments[1 + len(moving) :]
        place = inside.subtract(inside.literal(rounds - 1, i32), index)
        values = [_loaded(stack, place, inside) for stack in kept]
        primals = _primals(captured, inside)
        following = _cloned(op.body.block, dict(zip(op.body.block.args, values, strict=True)) | primals, inside)
        targets = [following[at] for at in moving]
        found = inside.insert(GradientOp(targets, mine, [*(values[at] for at in moving), *primals.values()])).results
        totals = [inside.add(total, share) for total, share in zip(sums, found[len(moving) :], strict=True)]
        return [*found[: len(moving)], *totals]

    results = counted_loop(site, start, rounds, body)
    for value, total in zip(captured, results[len(moving) :], strict=True):
        site.contribute(value, total)
    gradients: list[Gradient] = [None] * len(op.inputs)
    for place, gradient in zip(moving, results[: len(moving)], strict=True):
        gradients[place] = gradient
    return gradients


def _stored(pile: SSAValue, value: SSAValue, index: SSAValue, inside: Builder) -> SSAValue:
    """A stack with `value` at `index`."""
    row = inside.reshape(value, (1, *shape_of(value)))
    return inside.update(pile, row, _starts(pile, index, inside))


def _loaded(pile: SSAValue, index: SSAValue, inside: Builder) -> SSAValue:
    """What a stack holds at `index`."""
    shape = shape_of(pile)
    return inside.reshape(inside.window(pile, _starts(pile, index, inside), (1, *shape[1:])), shape[1:])


def _starts(pile: SSAValue, index: SSAValue, inside: Builder) -> list[SSAValue]:
    zero = inside.literal(0, i32)
    return [index, *[zero] * (len(shape_of(pile)) - 1)]


def _primals(captured: Sequence[SSAValue], inside: Builder) -> dict[SSAValue, SSAValue]:
    """Values from outside anew, so that gradients by them are those of what is inside, and of nothing before."""
    return {value: inside.put(PrimalOp(value)) for value in captured}


def _cloned(block: Block, values: Mapping[SSAValue, SSAValue], build: Builder) -> list[SSAValue]:
    """The block's ops again, on other values; what its terminator returns of them."""
    mapping = dict(values)
    for op in body_of(block):
        copy = op.clone(mapping)
        for before, after in zip(op.walk(), copy.walk(), strict=True):
            after.location = before.location
        build.insert(copy)
    return [mapping.get(value, value) for value in returned(block)]


def _given(gradient: Gradient, like: SSAValue, site: Site) -> SSAValue:
    return site.zeros(like) if gradient is None else gradient


def _differentiable(targets: Sequence[SSAValue], seeds: Sequence[SSAValue]) -> tuple[list[SSAValue], list[SSAValue]]:
    pairs = [(target, seed) for target, seed in zip(targets, seeds, strict=True) if has_gradient(target)]
    return [target for target, _ in pairs], [seed for _, seed in pairs]


def _captured(regions: Sequence[Region], site: Site) -> list[SSAValue]:
    """The values from outside that the regions use and that need a gradient, each once."""
    captured = captured_by(region.block for region in regions)
    return [value for value in captured if has_gradient(value) and site.needed(value)]
