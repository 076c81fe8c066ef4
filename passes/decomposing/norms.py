"""Batch norms by their definition in StableHLO's specification."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.calls.composed import BatchNormOp
from shardwright.dialects.types import shape_of
from shardwright.passes.decomposing.parts import Decomposition, Site


def _spread(op: Operation, site: Site, value: SSAValue) -> SSAValue:
    """One number for each feature, in the operand's shape."""
    assert isinstance(op, BatchNormOp)
    return site.spread(value, [op.feature], op.operands[0])


def _others(op: Operation) -> list[int]:
    """The dims that are no features."""
    assert isinstance(op, BatchNormOp)
    return [dim for dim in range(len(shape_of(op.operands[0]))) if dim != op.feature]


def _count(op: Operation) -> int:
    """The number of elements of each feature."""
    return math.prod(shape_of(op.operands[0])[dim] for dim in _others(op))


def _deviation(op: Operation, site: Site, variance: SSAValue) -> SSAValue:
    """The square root of variance plus epsilon, for each feature."""
    assert isinstance(op, BatchNormOp)
    epsilon = site.constant(op.epsilon.value.data, variance.type)
    return site.put(stablehlo.SqrtOp(site.put(stablehlo.AddOp(variance, epsilon))))


def _normalised(op: Operation, site: Site, mean: SSAValue, variance: SSAValue) -> SSAValue:
    """The operand by `mean` and `variance`, scaled and shifted by operands 1 and 2."""
    centred = site.put(stablehlo.SubtractOp(op.operands[0], _spread(op, site, mean)))
    divided = site.put(stablehlo.DivideOp(centred, _spread(op, site, _deviation(op, site, variance))))
    scaled = site.put(stablehlo.MultiplyOp(divided, _spread(op, site, op.operands[1])))
    return site.put(stablehlo.AddOp(scaled, _spread(op, site, op.operands[2])))


def _inference(op: Operation, site: Site) -> Sequence[SSAValue]:
    assert isinstance(op, stablehlo.BatchNormInferenceOp)
    return [_normalised(op, site, op.mean, op.variance)]


def _mean(op: Operation, site: Site, value: SSAValue) -> SSAValue:
    total = site.total(value, _others(op))
    return site.put(stablehlo.DivideOp(total, site.constant(_count(op), total.type)))


def _training(op: Operation, site: Site) -> Sequence[SSAValue]:
    assert isinstance(op, stablehlo.BatchNormTrainingOp)
    mean = _mean(op, site, op.operand)
    centred = site.put(stablehlo.SubtractOp(op.operand, _spread(op, site, mean)))
    variance = _mean(op, site, site.put(stablehlo.MultiplyOp(centred, centred)))
    return [_normalised(op, site, mean, variance), mean, variance]


def _gradients(op: Operation, site: Site) -> Sequence[SSAValue]:
    assert isinstance(op, stablehlo.BatchNormGradOp)
    deviation = _deviation(op, site, op.variance)
    centred = site.put(stablehlo.SubtractOp(op.operand, _spread(op, site, op.mean)))
    normalised = site.put(stablehlo.DivideOp(centred, _spread(op, site, deviation)))
    offset = site.total(op.grad_output, _others(op))
    scale = site.total(site.put(stablehlo.MultiplyOp(op.grad_output, normalised)), _others(op))
    # The gradient without its parts along the offset and along the scale: g - mean(g) - n * mean(g * n).
    count = site.constant(_count(op), offset.type)
    along_offset = _spread(op, site, site.put(stablehlo.DivideOp(offset, count)))
    along_scale = _spread(op, site, site.put(stablehlo.DivideOp(scale, count)))
    rest = site.put(stablehlo.SubtractOp(op.grad_output, along_offset))
    rest = site.put(stablehlo.SubtractOp(rest, site.put(stablehlo.MultiplyOp(normalised, along_scale))))
    factor = site.put(stablehlo.DivideOp(op.scale, deviation))
    return [site.put(stablehlo.MultiplyOp(rest, _spread(op, site, factor))), scale, offset]


NORMS: Mapping[type[Operation], Decomposition] = {
    stablehlo.BatchNormInferenceOp: _inference,
    stablehlo.BatchNormTrainingOp: _training,
    stablehlo.BatchNormGradOp: _gradients,
}
