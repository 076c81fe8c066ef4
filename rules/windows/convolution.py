"""The row of convolution, and what it becomes when spatial dims are split."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo import ConvDimensions
from shardwright.dialects.types import element_of, is_integer, shape_of
from shardwright.layout.planning.sweep import Halo, Sweep, result_halo, window_halo
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.expansion import Axes, Site
from shardwright.rules.local.hooks import HOOKS, Local
from shardwright.rules.rule import PASS, PERMUTE, REPLICATE, Dim, Rule
from shardwright.rules.sharding import Shape, add_row, operand_shapes
from shardwright.rules.windows.frames import Piece, Rearrangement, framed, halo_bytes

BATCH, FEATURE = "batch", "feature"


@dataclass(frozen=True)
class Move:
    """
    A spatial dim that may be split: its number among the spatial dims, its factor, and where its parts go.

    Parts of the result go to the batch; parts of a window that is split itself are summed with the features.
    """

    place: int
    factor: int
    goes: str


@dataclass(frozen=True)
class ConvolutionExpansion:
    """
    A convolution along split spatial dims.

    Each device receives the halo of its part. The parts then are more images of the batch, or, where a gradient's
    window is as large as the image, more features to sum.
    """

    numbers: ConvDimensions
    sweeps: tuple[Sweep, ...]
    shapes: tuple[Shape, ...]
    moves: tuple[Move, ...]
    own: frozenset[int]
    """The factors of the input."""
    sums: tuple[int, ...]
    """The factors that are summed."""

    @property
    def factors(self) -> frozenset[int]:
        """The factors of the spatial dims."""
        return frozenset(move.factor for move in self.moves)

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """What a device lacks of its frames."""
        windows = {dim: (halo.window, parts[move.factor]) for move, dim, halo in self._halos(parts)}
        others = math.prod(count for factor, count in parts.items() if factor in self.own - self.factors)
        return halo_bytes(windows, others, sizes[0])

    def _halos(self, parts: Mapping[int, int]) -> Iterator[tuple[Move, int, Halo]]:
        """For each move that is taken the dim of the input and its halo."""
        for move in self.moves:
            count = parts.get(move.factor, 1)
            if count > 1:
                dim = self.numbers.input_spatial[move.place]
                make = result_halo if move.goes == BATCH else window_halo
                yield move, dim, make(self.sweeps[move.place], self.shapes[0][dim], count)

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """Frames of the input, parts among the batch or the features, a convolution of the frames, parts put back."""
        assert isinstance(op, stablehlo.ConvolutionOp)
        taken = list(self._halos({factor: site.parts(factor) for factor in self.factors}))
        axes = {move.place: site.factors[move.factor] for move, _, _ in taken}
        image = self._image(op.operands[0], site, taken)
        kernel = self._kernel(op.operands[1], site, [move for move, _, _ in taken if move.goes == FEATURE])
        sweeps = list(self.sweeps)
        for move, _, halo in taken:
            sweeps[move.place] = halo.sweep
        batch = [move.place for move, _, _ in taken if move.goes == BATCH]
        result = site.results[0]
        dims = list(result)
        for place in batch:
            dims[self.numbers.output_spatial[place]] = ()
        dims[self.numbers.output_batch] = _joined([axes[place] for place in batch], dims[self.numbers.output_batch])
        partial = tuple(axis for factor in self.sums for axis in site.factors.get(factor, ()))
        (value,) = site.put(op.moved(image, kernel, sweeps), tuple(dims), partial=partial, kind="sum")
        return [self._put_back(value, site, batch)]

    def _image(self, value: SSAValue, site: Site, taken: Sequence[tuple[Move, int, Halo]]) -> SSAValue:
        """The input in frames, with the parts in front of the batch or of the features."""
        zero = stablehlo.make_dense(0, element_of(value), ())
        dims = site.spec(value).dims
        value = framed(site, value, {dim: halo.window for _, dim, halo in taken}, zero)
        image = Rearrangement(site, value, dims)
        names = {dim: image.cut(dim, site.parts(move.factor), halo.window.frame) for move, dim, halo in taken}
        for goes, home in ((BATCH, self.numbers.input_batch), (FEATURE, self.numbers.input_feature)):
            image.target[home] = [names[dim] for move, dim, _ in taken if move.goes == goes] + image.target[home]
        return image.done()

    def _kernel(self, value: SSAValue, site: Site, moves: Sequence[Move]) -> SSAValue:
        """The kernel with the parts of its split dims in front of the features."""
        kernel = Rearrangement(site, value, site.spec(value).dims)
        for move in reversed(moves):
            dim, parts = self.numbers.kernel_spatial[move.place], site.parts(move.factor)
            name = kernel.cut(dim, parts, kernel.pieces[dim].size // parts)
            kernel.target[self.numbers.kernel_input].insert(0, name)
        return kernel.done()

    def _put_back(self, value: SSAValue, site: Site, places: Sequence[int]) -> SSAValue:
        """The parts of the result from the batch to the dims that they are of."""
        dims, home = site.results[0], self.numbers.output_batch
        result = Rearrangement(site, value, dims)
        for place in reversed(places):
            dim = self.numbers.output_spatial[place]
            parts = next(site.parts(move.factor) for move in self.moves if move.place == place)
            name = result.cut(dim, parts, result.pieces[dim].size)
            result.pieces[home] = Piece(result.pieces[home].size // parts, dims[home])
            result.source[dim] = [dim]
            result.source[home].insert(0, name)
            result.target[dim] = [name, dim]
        return result.done()


def _joined(parts: Sequence[Axes], rest: Axes) -> Axes:
    return tuple(axis for axes in parts for axis in axes) + rest


@cache
def _convolution_rule(
    shapes: tuple[Shape, ...],
    numbers: ConvDimensions,
    sweeps: tuple[Sweep, ...],
    groups: tuple[int, int],
    through: tuple[int, ...],
) -> Rule:
    """
    Batch and features with their groups as factors; a spatial dim is whole, falls into blocks, or may be expanded.

    A dim's factor has the number of elements that all tensors which it stands in can be split into. Partial sums pass
    `through` these operands.
    """
    builder = RuleBuilder()
    rank = len(shapes[0])
    lhs, rhs, out = (list[Dim]([()] * rank) for _ in range(3))
    empty = any(0 in shape for shape in shapes)
    # Sizes say how many groups a part has, those that are not zero.
    group = builder.factor(max(groups), REPLICATE if empty else PASS)
    batch = builder.factor(shapes[0][numbers.input_batch] // groups[1])
    inputs = builder.factor(shapes[1][numbers.kernel_input], "sum")
    outputs = builder.factor(shapes[1][numbers.kernel_output] // max(groups))
    lhs[numbers.input_batch] = (group if groups[1] > 1 else ()) + batch
    lhs[numbers.input_feature] = (group if groups[0] > 1 else ()) + inputs
    rhs[numbers.kernel_input], rhs[numbers.kernel_output] = inputs, group + outputs
    out[numbers.output_batch], out[numbers.output_feature] = batch, group + outputs
    moves: list[Move] = []
    spatial = zip(sweeps, numbers.input_spatial, numbers.kernel_spatial, numbers.output_spatial, strict=True)
    for place, (sweep, i, k, o) in enumerate(spatial):
        found = _spatial(builder, sweep, shapes[0][i], groups, empty=empty)
        lhs[i], rhs[k], out[o], goes = found
        factor = lhs[i]
        if goes and factor:
            moves.append(Move(place, factor[0], goes))
    own = frozenset(factor for dim in lhs for factor in dim)
    sums = inputs + tuple(move.factor for move in moves if move.goes == FEATURE)
    expansion = ConvolutionExpansion(numbers, sweeps, shapes, tuple(moves), own, sums) if moves else None
    flows = [("sum", (place,)) for place in through]
    return builder.rule([tuple(lhs), tuple(rhs)], [tuple(out)], flows, heavy=True, expansion=expansion)


def _spatial(
    builder: RuleBuilder, sweep: Sweep, size: int, groups: tuple[int, int], *, empty: bool
) -> tuple[Dim, Dim, Dim, str]:
    """
    The factors of a spatial dim in input, kernel and result, and where its parts go if it may be split.

    Where a tensor is `empty`, or no window lies anywhere, there is nothing to take apart.
    """
    result = sweep.result(size)
    blocks = sweep.blocks(size)
    if blocks is not None:
        passes = builder.factor(blocks)
        return passes, builder.factor(sweep.size, REPLICATE), passes, ""
    if empty or not result:
        i, k, o = (builder.factor(extent, REPLICATE) for extent in (size, sweep.size, result))
        return i, k, o, ""
    if sweep.size > result and groups[0] == 1:
        summed = builder.factor(math.gcd(size, sweep.size), "sum")
        return summed, summed, builder.factor(result, REPLICATE), FEATURE
    if sweep.size <= result and groups[1] == 1:
        moves = builder.factor(math.gcd(size, result), PERMUTE)
        return moves, builder.factor(sweep.size, REPLICATE), moves, BATCH
    i, k, o = (builder.factor(extent, REPLICATE) for extent in (size, sweep.size, result))
    return i, k, o, ""


def _convolution(op: stablehlo.ConvolutionOp) -> Rule:
    """Batch, features and their groups; input features leave partial sums; split spatial dims exchange halos."""
    target = element_of(op.results[0])
    # Integers that a wider result tells apart wrap around in their own type: not if they are summed afterwards.
    exact = [place for place, value in enumerate(op.operands) if element_of(value) == target or not is_integer(target)]
    return _convolution_rule(operand_shapes(op), op.numbers, op.sweeps, op.groups, tuple(exact))


def _groups(op: stablehlo.ConvolutionOp, local: Local) -> None:
    """Where groups are split, each device has some of them."""
    numbers = op.numbers
    (lhs, rhs), out = (shape_of(value) for value in op.operands), shape_of(op.results[0])
    if op.groups[0] > 1 and rhs[numbers.kernel_input]:
        op.properties["feature_group_count"] = _count(lhs[numbers.input_feature] // rhs[numbers.kernel_input])
    if op.groups[1] > 1 and out[numbers.output_batch]:
        op.properties["batch_group_count"] = _count(lhs[numbers.input_batch] // out[numbers.output_batch])


def _count(number: int) -> IntegerAttr:
    return IntegerAttr(number, i64)


add_row("stablehlo.convolution", _convolution)
HOOKS["stablehlo.convolution"] = _groups
