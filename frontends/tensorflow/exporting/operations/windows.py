"""Operations that move a window: convolutions, reductions over windows, and sums into the elements that they select."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo import ConvDimensions
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.frontends.tensorflow.exporting.emitter import Emitter, handler
from shardwright.frontends.tensorflow.exporting.nodes import BOOL, INT32, Refusal, Tensor
from shardwright.frontends.tensorflow.exporting.operations.pointwise import at_least, both, convert, less
from shardwright.frontends.tensorflow.exporting.operations.reductions import Combine, combiner, is_value
from shardwright.frontends.tensorflow.exporting.operations.shapes import common, padded
from shardwright.layout.planning.sweep import Sweep
from shardwright.runtime.kernels.elementwise import is_integer, working_dtype
from shardwright.runtime.lowering.ops import reducer_kind
from shardwright.runtime.stacking import identity

MOST_TAPS = 512
"""The most elements of a window that are written one by one."""

FEW = 8
"""A window of so many elements is combined one by one; longer ones by doubling."""


@handler("stablehlo.convolution")
def _convolution(emitter: Emitter, op: stablehlo.ConvolutionOp, operands: list[Tensor]) -> list[Tensor]:
    dtype, shape = element_dtype(op.result.type), shape_of(op.result)
    if not all(math.prod(each.shape) for each in operands) or 0 in shape:
        return [emitter.splat(0, dtype, shape)]
    wide = common(*(operand.dtype for operand in operands), dtype)
    lhs, rhs = (convert(emitter, operand, wide) for operand in operands)
    features, batches = op.groups
    image, kernel = _image(emitter, lhs, op.numbers, batches), _kernel(emitter, rhs, op.numbers, op.sweeps)
    made = _convolved(emitter, image, kernel, op.sweeps, max(features, batches))
    dims = (op.numbers.output_batch, *op.numbers.output_spatial, op.numbers.output_feature)
    return [convert(emitter, emitter.transpose(made, [dims.index(dim) for dim in range(len(dims))]), dtype)]


def _image(e: Emitter, lhs: Tensor, numbers: ConvDimensions, batches: int) -> Tensor:
    """Batch, space, features; groups of the batch become groups of features."""
    image = e.transpose(lhs, [numbers.input_batch, *numbers.input_spatial, numbers.input_feature])
    if batches == 1:
        return image
    batch, *space, depth = image.shape
    apart = e.reshape(image, (batches, batch // batches, *space, depth))
    rank = len(apart.shape)
    moved = e.transpose(apart, [*range(1, rank - 1), 0, rank - 1])
    return e.reshape(moved, (batch // batches, *space, batches * depth))


def _kernel(e: Emitter, rhs: Tensor, numbers: ConvDimensions, sweeps: Sequence[Sweep]) -> Tensor:
    """Space, inputs, outputs."""
    kernel = e.transpose(rhs, [*numbers.kernel_spatial, numbers.kernel_input, numbers.kernel_output])
    return e.reverse(kernel, [dim for dim, sweep in enumerate(sweeps) if sweep.reverse])


def _convolved(e: Emitter, image: Tensor, kernel: Tensor, sweeps: Sequence[Sweep], groups: int) -> Tensor:
    """The convolution of an image with a kernel whose dims lie as TensorFlow wants them."""
    dtype = image.dtype
    narrow = is_integer(dtype) and dtype.itemsize <= 4
    if len(sweeps) in (1, 2) and (dtype.kind == "f" or narrow):
        wide = INT32 if narrow else dtype
        return e.cast(_planar(e, e.cast(image, wide), e.cast(kernel, wide), sweeps), dtype)
    zero = e.splat(0, dtype)
    low, high, holes = ([getattr(sweep, name) for sweep in sweeps] for name in ("low", "high", "base"))
    image = padded(e, image, zero, (0, *low, 0), (0, *high, 0), (0, *(hole - 1 for hole in holes), 0))
    if len(sweeps) == 3 and groups == 1 and dtype.kind == "f" and all(sweep.dilation == 1 for sweep in sweeps):
        shape = _shape(image, kernel, sweeps)
        steps = [1, *(sweep.stride for sweep in sweeps), 1]
        inputs = e.whole(image), e.whole(kernel)
        return e.node("Conv3D", inputs, shape, dtype, strides=steps, padding="VALID")
    return _by_tap(e, image, kernel, sweeps, groups)


def _shape(image: Tensor, kernel: Tensor, sweeps: Sequence[Sweep]) -> tuple[int, ...]:
    """The shape of what comes of a padded image."""
    places = [(n - sweep.reach) // sweep.stride + 1 for n, sweep in zip(image.shape[1:-1], sweeps, strict=True)]
    return (image.shape[0], *places, kernel.shape[-1])


def _planar(e: Emitter, image: Tensor, kernel: Tensor, sweeps: Sequence[Sweep]) -> Tensor:
    """`Conv2D`, which knows groups of features and dilated kernels, but no gaps between the image's elements."""
    if len(sweeps) == 1:
        rows = e.reshape(image, (image.shape[0], 1, *image.shape[1:])), e.reshape(kernel, (1, *kernel.shape))
        made = _planar(e, *rows, [Sweep(1), *sweeps])
        return e.reshape(made, (made.shape[0], *made.shape[2:]))
    zero = e.splat(0, image.dtype)
    low, high = [sweep.low for sweep in sweeps], [sweep.high for sweep in sweeps]
    holes = (0, *(sweep.base - 1 for sweep in sweeps), 0)
    if any(holes) or min(*low, *high) < 0:
        image = padded(e, image, zero, (0, *low, 0), (0, *high, 0), holes)
        low, high = [0, 0], [0, 0]
    edges = [0, 0, low[0], high[0], low[1], high[1], 0, 0]
    places = [
        Sweep(sweep.size, sweep.stride, before, after, 1, sweep.dilation).result(extent)
        for extent, sweep, before, after in zip(image.shape[1:-1], sweeps, low, high, strict=True)
    ]
    padding: dict[str, Any] = (
        {"padding": "EXPLICIT", "explicit_paddings": edges} if any(edges) else {"padding": "VALID"}
    )
    return e.node(
        "Conv2D",
        (e.whole(image), e.whole(kernel)),
        (image.shape[0], *places, kernel.shape[-1]),
        image.dtype,
        strides=[1, *(sweep.stride for sweep in sweeps), 1],
        dilations=[1, *(sweep.dilation for sweep in sweeps), 1],
        **padding,
    )


def _by_tap(e: Emitter, image: Tensor, kernel: Tensor, sweeps: Sequence[Sweep], groups: int) -> Tensor:
    """One product of features for each element of the window."""
    if math.prod(sweep.size for sweep in sweeps) > MOST_TAPS:
        raise Refusal(f"a convolution over {len(sweeps)} dims with a window of more than {MOST_TAPS} elements")
    shape = _shape(image, kernel, sweeps)
    inputs, outputs = kernel.shape[-2:]
    result: Tensor | None = None
    for tap in itertools.product(*(range(sweep.size) for sweep in sweeps)):
        part, weight = image, kernel
        for dim, (at, sweep) in enumerate(zip(tap, sweeps, strict=True)):
            start, count = at * sweep.dilation, shape[dim + 1]
            part = e.cut(part, dim + 1, start, start + (count - 1) * sweep.stride + 1, sweep.stride)
            weight = e.cut(weight, dim, at, at + 1)
        rows = e.reshape(part, (math.prod(shape[:-1]), groups, inputs))
        columns = e.reshape(weight, (inputs, groups, outputs // groups))
        pair = (e.whole(rows), e.whole(columns))
        made = e.node("Einsum", pair, (*rows.shape[:2], columns.shape[2]), image.dtype, equation="ngi,igo->ngo")
        result = made if result is None else e.call("AddV2", result, made)
    assert result is not None
    return e.reshape(result, shape)


@handler("stablehlo.reduce_window")
def _reduce_window(emitter: Emitter, op: stablehlo.ReduceWindowOp, operands: list[Tensor]) -> list[Tensor]:
    count, block, sweeps = len(operands) // 2, op.body.block, op.sweeps
    inputs, starts, shape = operands[:count], operands[count:], shape_of(op.results[0])
    if 0 in shape or not math.prod(inputs[0].shape):
        return [emitter.broadcast(start, shape) for start in starts]
    kind = reducer_kind(block)
    if kind in ("sum", "prod") and inputs[0].dtype != BOOL:
        running = _running(emitter, kind, inputs[0], starts[0], sweeps)
        if running is not None:
            return [running]
    wide = [emitter.cast(x, working_dtype(x.dtype)) if kind is not None else x for x in (*inputs, *starts)]
    made = _swept(emitter, combiner(emitter, block, kind), wide[:count], wide[count:], sweeps)
    return [emitter.broadcast(emitter.cast(x, start.dtype), shape) for x, start in zip(made, starts, strict=True)]


def _running(e: Emitter, kind: str, x: Tensor, start: Tensor, sweeps: Sequence[Sweep]) -> Tensor | None:
    """Windows that reach from one end: running sums or products; None where they are others."""
    moving = [dim for dim, sweep in enumerate(sweeps) if not sweep.trivial]
    if len(moving) != 1 or not is_value(start, identity(kind, start.dtype)):
        return None
    dim = moving[0]
    sweep, extent = sweeps[dim], x.shape[dim]
    edges = (sweep.low, sweep.high)
    plain = (sweep.stride, sweep.base, sweep.dilation) == (1, 1, 1) and sweep.size == extent
    if not plain or edges not in ((sweep.size - 1, 0), (0, sweep.size - 1)):
        return None
    wide = e.whole(e.cast(x, working_dtype(x.dtype)))
    inputs, backwards = (wide, e.constant(dim, INT32)), bool(sweep.high)
    made = e.node(f"Cum{kind}", inputs, x.shape, wide.dtype, exclusive=False, reverse=backwards)
    return e.cast(made, x.dtype)


def _swept(
    e: Emitter, combine: Combine, inputs: Sequence[Tensor], starts: Sequence[Tensor], sweeps: Sequence[Sweep]
) -> list[Tensor]:
    """The windows of all dims combined, one dim after the other; the start values are the padding, and come first."""
    low, high = [sweep.low for sweep in sweeps], [sweep.high for sweep in sweeps]
    holes = [sweep.base - 1 for sweep in sweeps]
    current = [padded(e, x, start, low, high, holes) for x, start in zip(inputs, starts, strict=True)]
    for dim, sweep in enumerate(sweeps):
        if (sweep.size, sweep.stride) != (1, 1):
            current = _slide(e, combine, current, dim, sweep)
    return combine(starts, current)


def _slide(e: Emitter, combine: Combine, arrays: list[Tensor], dim: int, sweep: Sweep) -> list[Tensor]:
    """The windows of one dim: few elements one by one, more by windows of 1, 2, 4, ... elements."""
    count = (arrays[0].shape[dim] - sweep.reach) // sweep.stride + 1

    def cut(found: Sequence[Tensor], first: int, step: int, length: int) -> list[Tensor]:
        return [e.cut(x, dim, first, first + (length - 1) * step + 1, step) for x in found]

    def joined(left: list[Tensor], right: list[Tensor]) -> list[Tensor]:
        made = combine(left, right)
        return [e.broadcast(x, like.shape) for x, like in zip(made, left, strict=True)]

    total: list[Tensor] | None = None
    if sweep.size <= FEW:
        for place in range(sweep.size):
            part = cut(arrays, place * sweep.dilation, sweep.stride, count)
            total = part if total is None else joined(total, part)
        return total or arrays
    starts, taken, power = (count - 1) * sweep.stride + 1, 0, arrays
    for bit in range(sweep.size.bit_length()):
        if sweep.size >> bit & 1:
            part = cut(power, taken * sweep.dilation, 1, starts)
            total = part if total is None else joined(total, part)
            taken += 1 << bit
        if sweep.size >> (bit + 1):
            shift = (1 << bit) * sweep.dilation
            length = power[0].shape[dim] - shift
            power = joined(cut(power, 0, 1, length), cut(power, shift, 1, length))
    return cut(total or [], 0, sweep.stride, count)


@handler("stablehlo.select_and_scatter")
def _select_and_scatter(emitter: Emitter, op: stablehlo.SelectAndScatterOp, operands: list[Tensor]) -> list[Tensor]:
    operand, source, start = operands
    e, sweeps = emitter, op.sweeps
    taps = list(itertools.product(*(range(sweep.size) for sweep in sweeps)))
    if len(taps) > MOST_TAPS:
        raise Refusal(f"its window has more than {MOST_TAPS} elements")
    if 0 in (*operand.shape, *source.shape):
        return [e.broadcast(start, operand.shape)]
    chosen = _chosen(e, op, operand, source.shape, taps)
    result = e.broadcast(start, operand.shape)
    adds = reducer_kind(op.scatter.block) == "sum" and source.dtype != BOOL
    zero = e.splat(0, source.dtype)
    for number, tap in enumerate(taps):
        hit = e.call("Equal", chosen, e.like(number, chosen), result=BOOL)
        placed = _placed(e, e.select(hit, source, zero), zero, operand.shape, tap, sweeps)
        if adds:
            result = e.call("AddV2", result, placed)
            continue
        there = _placed(e, hit, e.splat(False, BOOL), operand.shape, tap, sweeps)
        (combined,) = e.pointwise(op.scatter.block, [result, placed])
        result = e.select(there, combined, result)
    return [result]


def _chosen(
    e: Emitter,
    op: stablehlo.SelectAndScatterOp,
    operand: Tensor,
    counts: Sequence[int],
    taps: Sequence[tuple[int, ...]],
) -> Tensor:
    """For each place of the window the number of the element that it selects, or -1 where all is padding."""
    sweeps, zero = op.sweeps, e.splat(0, operand.dtype)
    chosen, best = e.splat(-1, INT32, counts), e.splat(0, operand.dtype, counts)
    reach = [(count - 1) * sweep.stride + sweep.size for count, sweep in zip(counts, sweeps, strict=True)]
    low = [sweep.low for sweep in sweeps]
    high = [full - extent - before for full, extent, before in zip(reach, operand.shape, low, strict=True)]
    image = padded(e, operand, zero, low, high, [0] * len(low))
    for number, tap in enumerate(taps):
        limits = [at + (count - 1) * s.stride + 1 for at, count, s in zip(tap, counts, sweeps, strict=True)]
        new = e.slice(image, tap, limits, [sweep.stride for sweep in sweeps])
        (stays,) = e.pointwise(op.select.block, [best, new])
        takes = e.call("LogicalOr", less(e, chosen, 0), e.call("LogicalNot", stays))
        for dim, (at, sweep) in enumerate(zip(tap, sweeps, strict=True)):
            takes = _within(e, takes, counts, dim, at - sweep.low, sweep.stride, operand.shape[dim])
        best, chosen = e.select(takes, new, best), e.select(takes, e.like(number, chosen), chosen)
    return chosen


def _within(e: Emitter, takes: Tensor, counts: Sequence[int], dim: int, first: int, stride: int, extent: int) -> Tensor:
    """Only where the element along this dim is no padding."""
    last = first + (counts[dim] - 1) * stride
    if first >= 0 and last < extent:
        return takes
    place = e.counted(counts, dim)
    at = e.call("AddV2", e.call("Mul", place, e.like(stride, place)), e.like(first, place))
    return both(e, takes, both(e, at_least(e, at, 0), less(e, at, extent)))


def _placed(
    e: Emitter, value: Tensor, padding: Tensor, shape: Sequence[int], tap: Sequence[int], sweeps: Sequence[Sweep]
) -> Tensor:
    """The values of all places at the elements that this one of the window's elements meets."""
    low = [at - sweep.low for at, sweep in zip(tap, sweeps, strict=True)]
    spans = [(count - 1) * sweep.stride + 1 for count, sweep in zip(value.shape, sweeps, strict=True)]
    high = [extent - before - span for extent, before, span in zip(shape, low, spans, strict=True)]
    return padded(e, value, padding, low, high, [sweep.stride - 1 for sweep in sweeps])
