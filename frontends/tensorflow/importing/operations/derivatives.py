"""TensorFlow's operations of gradients, which training steps hold; most are our own gradient of what they undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from shardwright.frontends import arrays, functions
from shardwright.frontends.arrays import nn
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value, rows
from shardwright.frontends.tensorflow.importing.operations.images import (
    resized_bicubic,
    resized_bilinear,
    resized_nearest,
)
from shardwright.frontends.tensorflow.importing.operations.indexing import strided_slice
from shardwright.frontends.tensorflow.importing.operations.networks import local_response
from shardwright.frontends.tensorflow.importing.operations.shapes import mirror_pad
from shardwright.frontends.tensorflow.importing.operations.windows import convolved, depthwise, pooled
from shardwright.frontends.tensorflow.importing.table import row

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _pulled(function: Callable[..., Any], slope: Any, *values: Any) -> tuple[Any, ...]:
    """The gradients of a function's operands, of the gradient of its result."""
    _, pull = functions.vjp(function, *values)
    return pull(slope)


def _pulled_from(function: Callable[[Any], Any], slope: Any, shape: Sequence[int]) -> Any:
    """The same of one operand in which the function is linear, so that only its shape matters."""
    (found,) = _pulled(function, slope, arrays.zeros(tuple(shape), dtype=slope.dtype))
    return found


def _like(number: float, x: Any) -> Any:
    return np.array(number).astype(x.dtype)


def _where_positive(test: Any, yes: Any, no: Any) -> Any:
    return arrays.where(arrays.greater(test, _like(0, test)), yes, no)


def _tanh_grad(call: Call, y: Any, slope: Any) -> Any:
    return arrays.multiply(slope, arrays.subtract(_like(1, y), arrays.square(y)))


def _sigmoid_grad(call: Call, y: Any, slope: Any) -> Any:
    return arrays.multiply(slope, arrays.multiply(y, arrays.subtract(_like(1, y), y)))


def _rsqrt_grad(call: Call, y: Any, slope: Any) -> Any:
    turned = arrays.conj(y)
    return arrays.multiply(arrays.multiply(slope, _like(-0.5, y)), arrays.multiply(turned, arrays.square(turned)))


def _sqrt_grad(call: Call, y: Any, slope: Any) -> Any:
    return arrays.divide(arrays.multiply(slope, _like(0.5, y)), arrays.conj(y))


def _reciprocal_grad(call: Call, y: Any, slope: Any) -> Any:
    return arrays.negative(arrays.multiply(slope, arrays.square(arrays.conj(y))))


def _relu_grad(call: Call, slope: Any, x: Any) -> Any:
    return _where_positive(x, slope, arrays.zeros_like(slope))


def _relu6_grad(call: Call, slope: Any, x: Any) -> Any:
    inside = arrays.logical_and(arrays.greater(x, _like(0, x)), arrays.less(x, _like(6, x)))
    return arrays.where(inside, slope, arrays.zeros_like(slope))


def _leaky_relu_grad(call: Call, slope: Any, x: Any) -> Any:
    return _where_positive(x, slope, arrays.multiply(slope, _like(call["alpha"], slope)))


def _elu_grad(call: Call, slope: Any, y: Any) -> Any:
    below = arrays.multiply(slope, arrays.add(y, _like(1, y)))
    return arrays.where(arrays.less(y, _like(0, y)), below, slope)


def _selu_grad(call: Call, slope: Any, y: Any) -> Any:
    below = arrays.multiply(slope, arrays.add(y, _like(SELU_SCALE * SELU_ALPHA, y)))
    return arrays.where(arrays.less(y, _like(0, y)), below, arrays.multiply(slope, _like(SELU_SCALE, y)))


def _softplus_grad(call: Call, slope: Any, x: Any) -> Any:
    return arrays.multiply(slope, nn.sigmoid(x))


def _softsign_grad(call: Call, slope: Any, x: Any) -> Any:
    return arrays.divide(slope, arrays.square(arrays.add(arrays.abs(x), _like(1, x))))


@row("BiasAddGrad")
def _bias_add_grad(call: Call, slope: Any) -> Any:
    dim = 1 if call["data_format"] == "NCHW" else slope.ndim - 1
    return arrays.sum(slope, axis=tuple(at for at in range(slope.ndim) if at != dim))


@row("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def _filter_slope(call: Call, x: Any, sizes: Value, slope: Any) -> Any:
    return _pulled_from(lambda filters: convolved(call, x, filters), slope, call.numbers(sizes, "shape of filters"))


@row("DepthwiseConv2dNativeBackpropFilter")
def _depthwise_filter_slope(call: Call, x: Any, sizes: Value, slope: Any) -> Any:
    return _pulled_from(lambda filters: depthwise(call, x, filters), slope, call.numbers(sizes, "shape of filters"))


@row("DepthwiseConv2dNativeBackpropInput")
def _depthwise_slope(call: Call, sizes: Value, filters: Any, slope: Any) -> Any:
    return _pulled_from(lambda x: depthwise(call, x, filters), slope, call.numbers(sizes, "shape of the operand"))


@row("AvgPoolGrad", "AvgPool3DGrad")
def _average_slope(call: Call, shape: Value, slope: Any) -> Any:
    return _pulled_from(lambda x: pooled(call, x), slope, call.numbers(shape, "shape of the operand"))


@row("MaxPoolGrad", "MaxPoolGradV2", "MaxPool3DGrad")
def _largest_slope(call: Call, x: Any, y: Any, slope: Any, *window: Value) -> Any:
    def forward(x: Any) -> Any:
        return pooled(call, x, *window)

    return _pulled(forward, slope, x)[0]


@row("ResizeBilinearGrad", "ResizeBicubicGrad")
def _resized_slope(call: Call, slope: Any, image: Any) -> Any:
    """The gradient of a change of size, which TensorFlow gives in the type of the image."""
    resized = resized_bilinear if call.node.op == "ResizeBilinearGrad" else resized_bicubic
    size = np.array(slope.shape[1:3], np.int32)
    return _pulled_from(lambda x: resized(call, x, size), slope, image.shape)


@row("ResizeNearestNeighborGrad")
def _nearest_slope(call: Call, slope: Any, size: Value) -> Any:
    batch, *_, features = slope.shape
    after = np.array(slope.shape[1:3], np.int32)
    shape = (batch, *call.numbers(size, "size"), features)
    return _pulled_from(lambda x: resized_nearest(call, x, after), slope, shape)


@row("StridedSliceGrad")
def _strided_slope(call: Call, shape: Value, begin: Any, end: Value, strides: Value, slope: Any) -> Any:
    return _pulled_from(
        lambda x: strided_slice(call, x, begin, end, strides), slope, call.numbers(shape, "shape of the operand")
    )


@row("MirrorPadGrad")
def _mirror_slope(call: Call, slope: Any, paddings: Value) -> Any:
    edges = call.known(paddings, "paddings")
    shape = [size - int(pair.sum()) for size, pair in zip(slope.shape, edges, strict=True)]
    return _pulled_from(lambda x: mirror_pad(call, x, paddings), slope, shape)


@row("LRNGrad")
def _local_response_slope(call: Call, slope: Any, x: Any, y: Any) -> Any:
    return _pulled(partial(local_response, call), slope, x)[0]


@row("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _batch_norm_slope(call: Call, slope: Any, x: Any, scale: Any, mean: Any, variance: Any, *_: Any) -> tuple[Any, ...]:
    """Of what is normed, its scale and its offset; in training the statistics are those of what is normed."""
    dim = 1 if call["data_format"] in ("NCHW", "NCDHW") else x.ndim - 1

    def normed(x: Any, scale: Any, offset: Any) -> Any:
        seen = nn.moments(x, [at for at in range(x.ndim) if at != dim]) if call["is_training"] else (mean, variance)
        return nn.batch_norm(x, *seen, offset, scale, axis=dim, eps=call["epsilon"])

    wide, wide_slope = (arrays.astype(value, scale.dtype) for value in (x, slope))
    found = _pulled(normed, wide_slope, wide, scale, arrays.zeros_like(scale))
    empty = np.zeros((0,), scale.dtype)
    return (arrays.astype(found[0], x.dtype), *found[1:], empty, empty)


@row("ConcatOffset", folds=True)
def _concat_offset(call: Call, dim: Value, *shapes: Value) -> tuple[Value, ...]:
    """Where each part of a concatenation begins."""
    at = call.number(dim, "dim")
    sizes = [call.numbers(shape, "shape") for shape in shapes]
    if len({len(each) for each in sizes}) != 1 or not -len(sizes[0]) <= at < len(sizes[0]):
        raise call.fault(f"shapes {sizes} are not joined along dim {at}")
    starts = np.zeros((len(sizes), len(sizes[0])), call.dtype("shape_type") if call.has("shape_type") else np.int32)
    starts[1:, at] = np.cumsum([each[at] for each in sizes[:-1]])
    return tuple(starts)


@row("BroadcastGradientArgs", folds=True)
def _broadcast_dims(call: Call, first: Value, second: Value) -> tuple[Value, ...]:
    """The dims over which the gradients of two operands that were broadcast are summed."""
    sizes = [call.numbers(value, "shape") for value in (first, second)]
    whole = np.broadcast_shapes(*map(tuple, sizes))
    aligned = [[1] * (len(whole) - len(each)) + each for each in sizes]
    dims = ([dim for dim, size in enumerate(each) if size == 1 and sizes[0] != sizes[1]] for each in aligned)
    return tuple(np.array(each, call.dtype("T")) for each in dims)


rows(
    {
        "EluGrad": _elu_grad,
        "InvGrad": _reciprocal_grad,
        "LeakyReluGrad": _leaky_relu_grad,
        "ReciprocalGrad": _reciprocal_grad,
        "Relu6Grad": _relu6_grad,
        "ReluGrad": _relu_grad,
        "RsqrtGrad": _rsqrt_grad,
        "SeluGrad": _selu_grad,
        "SigmoidGrad": _sigmoid_grad,
        "SoftplusGrad": _softplus_grad,
        "SoftsignGrad": _softsign_grad,
        "SqrtGrad": _sqrt_grad,
        "TanhGrad": _tanh_grad,
    }
)
