"""TensorFlow's operations of neural networks: activations, losses, norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shardwright.frontends import arrays
from shardwright.frontends.arrays import nn
from shardwright.frontends.tensorflow.importing.evaluate import Call
from shardwright.frontends.tensorflow.importing.table import row

ACTIVATIONS = {
    "Elu": nn.elu,
    "LogSoftmax": nn.log_softmax,
    "Relu": nn.relu,
    "Relu6": nn.relu6,
    "Selu": nn.selu,
    "Sigmoid": nn.sigmoid,
    "Softmax": nn.softmax,
    "Softplus": nn.softplus,
    "Softsign": nn.softsign,
}
"""Operations of one operand, and our functions that are the same."""


@row(*ACTIVATIONS)
def _activation(call: Call, x: Any) -> Any:
    return ACTIVATIONS[call.node.op](x)


@row("LeakyRelu")
def _leaky_relu(call: Call, x: Any) -> Any:
    return nn.leaky_relu(x, call["alpha"])


@row("BiasAdd", "BiasAddV1")
def _bias_add(call: Call, x: Any, bias: Any) -> Any:
    first = call.has("data_format") and call["data_format"] == "NCHW"
    dim = 1 if first else x.ndim - 1
    if bias.ndim != 1 or x.ndim < 2 or x.shape[dim] != bias.shape[0]:
        raise call.fault(f"a bias of shape {list(bias.shape)} does not fit a value of shape {list(x.shape)}")
    return arrays.add(x, arrays.reshape(bias, (*bias.shape, *(1,) * (x.ndim - 1 - dim))))


@row("L2Loss")
def _l2_loss(call: Call, x: Any) -> Any:
    return arrays.divide(arrays.sum(arrays.square(x)), np.array(2).astype(x.dtype))


@row("SoftmaxCrossEntropyWithLogits")
def _softmax_cross_entropy(call: Call, logits: Any, labels: Any) -> tuple[Any, Any]:
    shape = np.broadcast_shapes(logits.shape, labels.shape)
    logits, labels = (arrays.broadcast_to(value, shape) for value in (logits, labels))
    slope = arrays.subtract(nn.softmax(logits), labels)
    return nn.softmax_cross_entropy(logits, labels), slope


@row("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(call: Call, logits: Any, labels: Any) -> tuple[Any, Any]:
    wanted = arrays.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
    return nn.softmax_cross_entropy(logits, labels), arrays.subtract(nn.softmax(logits), wanted)


@row("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _fused_batch_norm(call: Call, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> tuple[Any, ...]:
    """Statistics are in 32 bits, the result is of the type of `x`; the last outputs are for TensorFlow's gradient."""
    dim = 1 if call["data_format"] in ("NCHW", "NCDHW") else x.ndim - 1
    if x.ndim not in (4, 5) or not all(value.shape in (scale.shape, (0,)) for value in (offset, mean, variance)):
        raise call.fault(f"statistics of shape {list(scale.shape)} do not fit a value of shape {list(x.shape)}")
    wide = arrays.astype(x, scale.dtype)
    if call["is_training"]:
        seen, spread = nn.moments(wide, [at for at in range(x.ndim) if at != dim])
        mean, variance = _running(call, x.size // x.shape[dim], (seen, spread), (mean, variance))
    else:
        seen, spread = mean, variance
    y = nn.batch_norm(wide, seen, spread, offset, scale, axis=dim, eps=call["epsilon"])
    rest = (np.zeros((0,), scale.dtype),) if call.node.op.endswith("V3") else ()
    return (arrays.astype(y, x.dtype), mean, variance, seen, spread, *rest)


def _running(call: Call, count: int, seen: tuple[Any, Any], before: tuple[Any, Any]) -> list[Any]:
    """The statistics that training keeps: of the batch, the variance without bias, mixed with those before."""
    dtype = seen[0].dtype
    unbiased = arrays.multiply(seen[1], np.array(count / max(count - 1, 1)).astype(dtype))
    share = call["exponential_avg_factor"] if call.has("exponential_avg_factor") else 1.0
    if share == 1.0:
        return [seen[0], unbiased]
    new, old = (np.array(part).astype(dtype) for part in (share, 1 - share))
    return [
        arrays.add(arrays.multiply(now, new), arrays.multiply(then, old))
        for now, then in zip((seen[0], unbiased), before, strict=True)
    ]


@row("LRN")
def local_response(call: Call, x: Any) -> Any:
    radius = min(call["depth_radius"], x.shape[-1])
    window = 2 * radius + 1
    squares = arrays.reshape(arrays.square(x), (math.prod(x.shape[:-1]), x.shape[-1], 1))
    ones = np.ones((window, 1, 1), x.dtype)
    near = arrays.reshape(nn.conv1d(squares, ones, padding=[(radius, radius)]), x.shape)
    alpha, beta, bias = (np.array(call[name]).astype(x.dtype) for name in ("alpha", "beta", "bias"))
    return arrays.divide(x, arrays.pow(arrays.add(bias, arrays.multiply(alpha, near)), beta))
