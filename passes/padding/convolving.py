"""The padded form of convolutions: padding of images and of kernels becomes zeros, which meet none but zeros."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from xdsl.ir import SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.types import shape_of
from shardwright.layout.planning.sweep import Sweep
from shardwright.passes.padding.moving import Bond
from shardwright.passes.padding.reducing import edged, with_zeros
from shardwright.passes.padding.site import Site


def bonds_of_convolution(op: stablehlo.ConvolutionOp) -> Iterator[Bond]:
    """Each dim of space of the image, and of the larger of kernel and result."""
    numbers = op.numbers
    for i, k, o in zip(numbers.input_spatial, numbers.kernel_spatial, numbers.output_spatial, strict=True):
        image, kernel, result = shape_of(op.lhs)[i], shape_of(op.rhs)[k], shape_of(op.results[0])[o]
        if min(image, max(kernel, result)) > 1:
            yield (0, i), (1, k) if kernel > result else (2, o)


def mask_convolved(op: stablehlo.ConvolutionOp, site: Site) -> None:
    """
    Zeros around and between the elements, and as features of both sides; the edges make up for the size.

    A kernel that has padding in space, a gradient, stands at few places of the image. Where it is at one place, that
    padding meets elements that it needs at the next, and infinite ones would make NaN of its zeros: it gets a
    convolution for each place, of an image in which all that it does not reach is zero; or it is done without padding.
    """
    numbers = op.numbers
    moved = _moved(op, site)
    site.padding.placed |= bool(moved)
    _crop(op, site, moved)
    image = with_zeros(site, op.lhs, (*numbers.input_spatial, numbers.input_feature))
    kernel_dims = [numbers.kernel_spatial[place] for place in moved]
    kernel = with_zeros(site, op.rhs, (numbers.kernel_input, *kernel_dims))
    sizes = zip(op.sweeps, numbers.input_spatial, numbers.output_spatial, strict=True)
    wanted = shape_of(op.results[0])
    sweeps = [
        sweep if place in moved else edged(sweep, shape_of(image)[i], wanted[o])
        for place, (sweep, i, o) in enumerate(sizes)
    ]
    valid = site.valid(op.rhs)
    reaches = {place: replace(op.sweeps[place], size=valid[numbers.kernel_spatial[place]]).reach for place in moved}
    site.replace(_at_each_place(op, site, image, kernel, sweeps, reaches))


def _moved(op: stablehlo.ConvolutionOp, site: Site) -> list[int]:
    """The dims of space, by number, in which the kernel has padding and is at few places."""
    numbers, places = op.numbers, site.valid(op.results[0])
    have, valid = shape_of(op.rhs), site.valid(op.rhs)
    found: dict[int, int] = {}
    for place, sweep in enumerate(op.sweeps):
        k, count = numbers.kernel_spatial[place], places[numbers.output_spatial[place]]
        if have[k] > valid[k] > count > 0 and sweep.base == 1 and not sweep.reverse:
            found[place] = count
    return list(found) if prod(found.values()) <= site.padding.places else []


def _crop(op: stablehlo.ConvolutionOp, site: Site, moved: Sequence[int]) -> None:
    """Cuts off, or puts on behind, the padding of what groups share and of space, except that of `moved` dims."""
    numbers = op.numbers
    free = {(0, dim) for dim in numbers.input_spatial}
    for place, (k, o) in enumerate(zip(numbers.kernel_spatial, numbers.output_spatial, strict=True)):
        free.add((1, k) if place in moved else (2, o))
    if op.groups == (1, 1):
        free |= {(0, numbers.input_batch), (0, numbers.input_feature), (2, numbers.output_batch)}
        free |= {(1, numbers.kernel_input), (1, numbers.kernel_output), (2, numbers.output_feature)}
    site.crop_operands(lambda place, dim: (place, dim) in free)
    site.make_valid(op.results[0], [dim for dim in range(len(shape_of(op.results[0]))) if (2, dim) not in free])


def _at_each_place(
    op: stablehlo.ConvolutionOp,
    site: Site,
    image: SSAValue,
    kernel: SSAValue,
    sweeps: Sequence[Sweep],
    reaches: dict[int, int],
) -> SSAValue:
    """
    The convolution, in pieces for each place along the dims of `reaches`, along which the kernel reaches so far.

    The image moves from place to place, so that all its rows together move as far as a window over all places reaches.
    """
    if not reaches:
        return site.put(op.moved(image, kernel, sweeps))
    place, reach = next(iter(reaches.items()))
    rest = {other: far for other, far in reaches.items() if other != place}
    sweep, shape = sweeps[place], list(shape_of(image))
    dim, target = op.numbers.input_spatial[place], op.numbers.output_spatial[place]
    shape[dim] = max(shape[dim], sweep.size * sweep.dilation)
    single = edged(replace(sweep, low=0, stride=1), shape[dim], 1)
    each = [single if other == place else swept for other, swept in enumerate(sweeps)]
    inside = site.before(dim, reach, tuple(shape))
    pieces: list[SSAValue] = []
    moved, at = image, 0
    for number in range(shape_of(op.results[0])[target]):
        if at <= 0:  # what was moved up has lost its end
            moved, at = image, 0
        there = number * sweep.stride - sweep.low
        start = [at - there if other == dim else 0 for other in range(len(shape))]
        moved, at = site.resized(moved, shape, start), there
        pieces.append(_at_each_place(op, site, site.select(inside, moved, site.zeros(moved)), kernel, each, rest))
    return site.put(stablehlo.ConcatenateOp(pieces, target))
