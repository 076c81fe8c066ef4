"""Batch norms by their definition in StableHLO's specification."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.calls.composed import BatchNormOp
from shardwright.dialects.types import shape_of
from shardwright.passes.decomposing.parts import Decomposition, Site


def _spread(op: BatchNormOp, site: Site, value: SSAValue) -> SSAValue:
    """One number for each feature, in the operand's shape."""
    return site.broadcast(value, shape_of(op.operands[0]), [op.feature])


def _others(op: BatchNormOp) -> list[int]:
    """The dims that are no features."""
    return [dim for dim in range(len(shape_of(op.operands[0]))) if dim != op.feature]


def _count(op: BatchNormOp) -> int:
    """The number of elements of each feature."""
    return math.prod(shape_of(op.operands[0])[dim] for dim in _others(op))


def _deviation(op: BatchNormOp, site: Site, variance: SSAValue) -> SSAValue:
    """The square root of variance plus epsilon, for each feature."""
    epsilon = site.constant(op.epsilon.value.data, variance)
    return site.put(stablehlo.SqrtOp(site.add(variance, epsilon)))


def _normalised(op: BatchNormOp, site: Site, mean: SSAValue, variance: SSAValue) -> SSAValue:
    """The operand by `mean` and `variance`, scaled and shifted by operands 1 and 2."""
    centred = site.subtract(op.operands[0], _spread(op, site, mean))
    divided = site.divide(centred, _spread(op, site, _deviation(op, site, variance)))
    scaled = site.multiply(divided, _spread(op, site, op.operands[1]))
    return site.add(scaled, _spread(op, site, op.operands[2]))


def _inference(op: stablehlo.BatchNormInferenceOp, site: Site) -> Sequence[SSAValue]:
    return [_normalised(op, site, op.mean, op.variance)]


def _mean(op: BatchNormOp, site: Site, value: SSAValue) -> SSAValue:
    total = site.sum(value, _others(op))
    return site.divide(total, site.constant(_count(op), total))


def _training(op: stablehlo.BatchNormTrainingOp, site: Site) -> Sequence[SSAValue]:
    mean = _mean(op, site, op.operand)
    centred = site.subtract(op.operand, _spread(op, site, mean))
    variance = _mean(op, site, site.multiply(centred, centred))
    return [_normalised(op, site, mean, variance), mean, variance]


def _gradients(op: stablehlo.BatchNormGradOp, site: Site) -> Sequence[SSAValue]:
    deviation = _deviation(op, site, op.variance)
    centred = site.subtract(op.operand, _spread(op, site, op.mean))
    normalised = site.divide(centred, _spread(op, site, deviation))
    offset = site.sum(op.grad_output, _others(op))
    scale = site.sum(site.multiply(op.grad_output, normalised), _others(op))
    # The gradient without its parts along the offset and along the scale: g - mean(g) - n * mean(g * n).
    count = site.constant(_count(op), offset)
    along_offset = _spread(op, site, site.divide(offset, count))
    along_scale = _spread(op, site, site.divide(scale, count))
    rest = site.subtract(op.grad_output, along_offset)
    rest = site.subtract(rest, site.multiply(normalised, along_scale))
    factor = site.divide(op.scale, deviation)
    return [site.multiply(rest, _spread(op, site, factor)), scale, offset]


NORMS: Mapping[type[Operation], Decomposition] = {
    stablehlo.BatchNormInferenceOp: _inference,
    stablehlo.BatchNormTrainingOp: _training,
    stablehlo.BatchNormGradOp: _gradients,
}
