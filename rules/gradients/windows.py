"""Gradients of ops that move a window over their operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.ir import Block, Region, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import only_op
from shardwright.dialects.dtensor.kinds import highest, lowest
from shardwright.dialects.stablehlo.windows import ConvDimensions
from shardwright.dialects.types import element_dtype, element_of, shape_of, tensor
from shardwright.layout.planning.sweep import Sweep, spread_back
from shardwright.rules.gradients.vjp import Gradient, Site, vjp, vjp_of_one
from shardwright.rules.reductions import combiner_of, monoid_of
from shardwright.rules.windows.windowed import accumulates


def _has_window_rule(op: stablehlo.ReduceWindowOp, needed: Callable[[SSAValue], bool]) -> bool:
    """Sums; extremes without dilation, and what goes along with them; running products; from a start that is given."""
    monoid = monoid_of(op)
    if any(map(needed, op.init_values)):
        return False
    kind = monoid.kind if monoid is not None else ""
    if kind == "prod":
        return _accumulated_dim(op) is not None or all(sweep.trivial for sweep in op.sweeps)
    dilated = any(sweep.base > 1 or sweep.dilation > 1 for sweep in op.sweeps)
    return kind == "sum" or (not dilated and (kind in ("max", "min") or _choice_of(op) is not None))


@vjp("stablehlo.reduce_window", when=_has_window_rule)
def _reduce_window(op: stablehlo.ReduceWindowOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """Of sums the sum over all windows that hold an element; of extremes to the first element that is one."""
    direction = _choice_of(op)
    if direction is not None:
        return [*(_scattered(op, each, direction, site) for each in gradients), None, None]
    (gradient,) = gradients
    assert gradient is not None, "it has one result"
    operand = op.inputs[0]
    monoid = monoid_of(op)
    assert monoid is not None, "the condition says so"
    if 0 in shape_of(gradient):
        return [site.zeros(operand), None]
    if monoid.kind == "sum":
        sweeps = [
            replace(spread_back(sweep, size), reverse=False)
            for sweep, size in zip(op.sweeps, shape_of(operand), strict=True)
        ]
        zero = site.scalar(0, gradient)
        return [site.put(stablehlo.ReduceWindowOp([gradient], [zero], sweeps, stablehlo.AddOp)), None]
    if monoid.kind == "prod":
        return [_running_product(op, gradient, site), None]
    return [_scattered(op, gradient, "GE" if monoid.kind == "max" else "LE", site), None]


def _scattered(op: stablehlo.ReduceWindowOp, gradient: Gradient, direction: str, site: Site) -> Gradient:
    """The gradient of what windows chose, at the elements that they chose by their first operand."""
    if gradient is None or 0 in shape_of(gradient):
        return gradient and site.zeros(op.inputs[0])
    zero, chosen = site.scalar(0, gradient), chooser(direction, op.inputs[0])
    return site.put(stablehlo.SelectAndScatterOp(op.inputs[0], gradient, zero, op.sweeps, chosen, stablehlo.AddOp))


def _choice_of(op: stablehlo.ReduceWindowOp) -> str | None:
    """By which comparison windows choose among pairs, as the gradient of a choice does."""
    if len(op.inputs) != 2:
        return None
    bodies = {direction: _pair_chooser(direction, op.inputs[0]) for direction in ("GE", "GT", "LE", "LT")}
    return next((direction for direction, body in bodies.items() if op.body.is_structurally_equivalent(body)), None)


def chooser(direction: str, like: SSAValue) -> Region:
    scalar = tensor((), element_of(like))
    block = Block(arg_types=[scalar, scalar])
    stays = stablehlo.CompareOp(block.args[0], block.args[1], direction)
    block.add_ops([stays, stablehlo.ReturnOp(stays)])
    return Region(block)


def _accumulated_dim(op: stablehlo.ReduceWindowOp) -> int | None:
    """The one dim along which elements are accumulated, where windows along all others hold one element."""
    shape = shape_of(op.inputs[0])
    dims = [dim for dim, sweep in enumerate(op.sweeps) if not sweep.trivial]
    return dims[0] if len(dims) == 1 and accumulates(op.sweeps[dims[0]], shape[dims[0]]) else None


def _running_product(op: stablehlo.ReduceWindowOp, gradient: SSAValue, site: Site) -> SSAValue:
    """
    For each element the running products without it, times the gradients of those that hold it; right at zeros too.

    A new dim in front of the accumulated one counts the elements that are left out. Windows of one element have the
    start without it.
    """
    operand, dim = op.inputs[0], _accumulated_dim(op)
    if dim is None:
        return site.multiply(gradient, site.broadcast(op.init_values[0], shape_of(gradient), []))
    shape = shape_of(operand)
    wide = (*shape[: dim + 1], *shape[dim:])
    dims = [*range(dim), *range(dim + 1, len(wide))]
    left_out, places = site.iota(dim, wide), site.iota(dim + 1, wide)
    spread = site.broadcast(operand, wide, dims)
    others = site.select(site.compare(left_out, "EQ", places), site.constant(1, spread), spread)
    sweeps = [*op.sweeps[:dim], Sweep(1), *op.sweeps[dim:]]
    products = site.put(stablehlo.ReduceWindowOp([others], op.init_values, sweeps, op.body.clone()))
    weighed = site.multiply(products, site.broadcast(gradient, wide, dims))
    holds = site.compare(places, "GE" if op.sweeps[dim].low else "LE", left_out)
    return site.sum(site.select(holds, weighed, site.constant(0, weighed)), [dim + 1])


def _adds(op: stablehlo.SelectAndScatterOp, needed: Callable[[SSAValue], bool]) -> bool:
    """What is put together must be added, and chosen as the larger or the smaller one."""
    combines = combiner_of(op.scatter.block)
    return combines is not None and combines.kind == "sum" and _direction(op) is not None


def _direction(op: stablehlo.SelectAndScatterOp) -> str | None:
    only = only_op(op.select.block)
    if not isinstance(only, stablehlo.CompareOp) or list(only.operands) != list(op.select.block.args):
        return None
    return str(only.direction)


@vjp_of_one("stablehlo.select_and_scatter", when=_adds)
def _select_and_scatter(op: stablehlo.SelectAndScatterOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """To the source what stands where it went: windows choose again, and the gradient comes along."""
    if not site.needed(op.source):
        return [None, None, None]
    direction = _direction(op)
    assert direction is not None
    edge = lowest if direction.startswith("G") else highest
    start = site.scalar(edge(element_dtype(element_of(op.operand))), op.operand)
    inputs, starts = [op.operand, gradient], [start, site.scalar(0, gradient)]
    chosen = stablehlo.ReduceWindowOp(inputs, starts, op.sweeps, _pair_chooser(direction, op.operand))
    return [None, site.insert(chosen).results[1], None]


def _pair_chooser(direction: str, like: SSAValue) -> Region:
    """Of two pairs the one whose first element relates to the other's."""
    scalar = tensor((), element_of(like))
    block = Block(arg_types=[scalar] * 4)
    mine, along, other, beside = block.args
    stays = stablehlo.CompareOp(mine, other, direction)
    first, second = stablehlo.SelectOp(stays, mine, other), stablehlo.SelectOp(stays, along, beside)
    block.add_ops([stays, first, second, stablehlo.ReturnOp(first, second)])
    return Region(block)


@vjp_of_one("stablehlo.convolution")
def _convolution(op: stablehlo.ConvolutionOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    if 0 in shape_of(gradient):
        return [site.zeros(op.lhs), site.zeros(op.rhs)]
    return [
        site.convert(_to_input(op, gradient, site), op.lhs) if site.needed(op.lhs) else None,
        site.convert(_to_kernel(op, gradient, site), op.rhs) if site.needed(op.rhs) else None,
    ]


def _to_input(op: stablehlo.ConvolutionOp, gradient: SSAValue, site: Site) -> SSAValue:
    """The gradient under the kernel turned around, whose inputs and outputs change places."""
    numbers, count = op.numbers, max(op.groups)
    kernel = site.convert(op.rhs, gradient)
    if count > 1:
        kernel = _moved_out(kernel, numbers.kernel_output, numbers.kernel_input, count, site)
    turned = ConvDimensions(
        numbers.output_batch,
        numbers.output_feature,
        numbers.output_spatial,
        numbers.kernel_output,
        numbers.kernel_input,
        numbers.kernel_spatial,
        numbers.input_batch,
        numbers.input_feature,
        numbers.input_spatial,
    )
    sizes = [shape_of(op.lhs)[dim] for dim in numbers.input_spatial]
    sweeps = [spread_back(sweep, size) for sweep, size in zip(op.sweeps, sizes, strict=True)]
    found = site.put(stablehlo.ConvolutionOp(gradient, kernel, turned, sweeps, feature_groups=count))
    if op.groups[1] > 1:
        found = _moved_out(found, numbers.input_feature, numbers.input_batch, count, site)
    return found


def _to_kernel(op: stablehlo.ConvolutionOp, gradient: SSAValue, site: Site) -> SSAValue:
    """The input under the gradient as kernel: batch and features change places."""
    numbers, (feature_groups, batch_groups) = op.numbers, op.groups
    turned = ConvDimensions(
        numbers.input_feature,
        numbers.input_batch,
        numbers.input_spatial,
        numbers.output_batch,
        numbers.output_feature,
        numbers.output_spatial,
        numbers.kernel_input,
        numbers.kernel_output,
        numbers.kernel_spatial,
    )
    sizes = [shape_of(op.lhs)[dim] for dim in numbers.input_spatial]
    windows = [shape_of(gradient)[dim] for dim in numbers.output_spatial]
    sweeps = [_over_results(sweep, size, window) for sweep, size, window in zip(op.sweeps, sizes, windows, strict=True)]
    found = site.put(
        stablehlo.ConvolutionOp(
            site.convert(op.lhs, gradient),
            gradient,
            turned,
            sweeps,
            feature_groups=batch_groups,
            batch_groups=feature_groups,
        )
    )
    reversed_dims = [dim for dim, sweep in zip(numbers.kernel_spatial, op.sweeps, strict=True) if sweep.reverse]
    return site.put(stablehlo.ReverseOp(found, tuple(reversed_dims))) if reversed_dims else found


def _over_results(sweep: Sweep, size: int, results: int) -> Sweep:
    """The window of all results, which fits as often as the original window has elements."""
    inputs = (size - 1) * sweep.base + 1
    reach = (results - 1) * sweep.stride + 1
    high = reach - inputs + sweep.reach - sweep.low - 1
    return Sweep(results, sweep.dilation, sweep.low, high, sweep.base, sweep.stride)


def _moved_out(value: SSAValue, source: int, target: int, count: int, site: Site) -> SSAValue:
    """The major part of a dim, of `count` elements, as the major part of another dim."""
    shape = shape_of(value)
    apart = [*shape[:source], count, shape[source] // count, *shape[source + 1 :]]
    groups = [dim + 1 if dim > source else dim for dim in range(len(shape))]
    groups[source] = source + 1
    order: list[int] = []
    for dim in range(len(shape)):
        order += [source, groups[dim]] if dim == target else [groups[dim]]
    moved = site.transpose(site.reshape(value, apart), order)
    sizes = [
        size // count if dim == source else size * count if dim == target else size for dim, size in enumerate(shape)
    ]
    return site.reshape(moved, sizes)
