"""`shardwright.nn` against NumPy, written out: on one device and in several layouts on a 4x2 mesh."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import shardwright as sw

from .cases import Case, floats
from .placing import EVERYWHERE, MESH, check, check_everywhere, place

nn = sw.nn
A = floats(8, 16) * 3
EDGES = np.array([[-7, -3, -1, -0.5, 0, 0.5, 3, 7]] * 8, "float32")


def _conv(
    x: Any, w: Any, strides: Sequence[int], pads: Sequence[tuple[int, int]], dilations: Sequence[int], groups: int = 1
) -> Any:
    """Space last but one, filters space first: a sum over all places of the window."""
    rank = w.ndim - 2
    x = np.pad(x, [(0, 0), *pads, (0, 0)])
    reach = [(w.shape[at] - 1) * dilations[at] + 1 for at in range(rank)]
    out = [(x.shape[at + 1] - reach[at]) // strides[at] + 1 for at in range(rank)]
    inputs, outputs = w.shape[-2], w.shape[-1] // groups
    parts = []
    for group in range(groups):
        total: Any = 0
        for at in itertools.product(*map(range, w.shape[:rank])):
            starts = [place * gap for place, gap in zip(at, dilations, strict=True)]
            key = [slice(s, s + (n - 1) * step + 1, step) for s, n, step in zip(starts, out, strides, strict=True)]
            taken = x[(slice(None), *key, slice(group * inputs, (group + 1) * inputs))]
            total = total + taken @ w[(*at, slice(None), slice(group * outputs, (group + 1) * outputs))]
        parts.append(total)
    return np.concatenate(parts, -1)


def _same(size: int, window: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    total = max((-(-size // stride) - 1) * stride + (window - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


X1, X2, X3 = floats(4, 8, 4), floats(4, 8, 8, 4), floats(4, 4, 4, 4, 2)
W1, W2, W3 = floats(3, 4, 6), floats(3, 2, 4, 6), floats(2, 3, 2, 2, 4)

CONVOLUTIONS = [
    Case("conv1d", nn.conv1d, lambda x, w: _conv(x, w, [1], [(1, 1)], [1]), (X1, W1)),
    Case(
        "conv1d strided",
        lambda x, w: nn.conv1d(x, w, 2),
        lambda x, w: _conv(x, w, [2], [_same(8, 3, 2)], [1]),
        (X1, W1),
    ),
    Case(
        "conv1d valid",
        lambda x, w: nn.conv1d(x, w, 1, "VALID", dilations=2),
        lambda x, w: _conv(x, w, [1], [(0, 0)], [2]),
        (X1, W1),
    ),
    Case(
        "conv1d explicit",
        lambda x, w: nn.conv1d(x, w, 3, [(2, 1)]),
        lambda x, w: _conv(x, w, [3], [(2, 1)], [1]),
        (X1, W1),
    ),
    Case("conv2d", nn.conv2d, lambda x, w: _conv(x, w, [1, 1], [(1, 1), (0, 1)], [1, 1]), (X2, W2)),
    Case(
        "conv2d strided",
        lambda x, w: nn.conv2d(x, w, (2, 1)),
        lambda x, w: _conv(x, w, [2, 1], [_same(8, 3, 2), (0, 1)], [1, 1]),
        (X2, W2),
    ),
    Case(
        "conv2d first",
        lambda x, w: nn.conv2d(x, w, data_format="NCHW", padding="VALID"),
        lambda x, w: np.moveaxis(_conv(np.moveaxis(x, 1, 3), w, [1, 1], [(0, 0)] * 2, [1, 1]), 3, 1),
        (floats(4, 4, 8, 6), W2),
    ),
    Case(
        "conv2d groups",
        lambda x, w: nn.conv2d(x, w, groups=2, padding="VALID"),
        lambda x, w: _conv(x, w, [1, 1], [(0, 0)] * 2, [1, 1], 2),
        (X2, floats(2, 2, 2, 6)),
    ),
    Case(
        "depthwise_conv2d",
        lambda x, w: nn.depthwise_conv2d(x, w, padding="VALID"),
        lambda x, w: _conv(x, w.reshape(2, 2, 1, 12), [1, 1], [(0, 0)] * 2, [1, 1], 4),
        (X2, floats(2, 2, 4, 3)),
    ),
    Case(
        "conv3d",
        lambda x, w: nn.conv3d(x, w, 2),
        lambda x, w: _conv(x, w, [2] * 3, [(0, 0), (0, 1), (0, 0)], [1] * 3),
        (X3, W3),
    ),
]


def _back(x: Any, w: Any, shape: Sequence[int], strides: Sequence[int], pads: Sequence[tuple[int, int]]) -> Any:
    """Each element of x adds the filters, scaled, where a convolution would have looked."""
    rank = w.ndim - 2
    wide = np.zeros([x.shape[0], *(n + sum(pad) for n, pad in zip(shape, pads, strict=True)), w.shape[-2]], x.dtype)
    for at in itertools.product(*map(range, w.shape[:rank])):
        ends = zip(at, x.shape[1:-1], strides, strict=True)
        key = [slice(start, start + (n - 1) * step + 1, step) for start, n, step in ends]
        wide[(slice(None), *key)] += x @ w[at].T
    cut = [slice(low, low + n) for (low, _), n in zip(pads, shape, strict=True)]
    return wide[(slice(None), *cut)]


TRANSPOSED = [
    Case(
        "conv1d_transpose",
        lambda x, w: nn.conv1d_transpose(x, w, strides=2),
        lambda x, w: _back(x, w, [16], [2], [(0, 1)]),
        (X1, floats(3, 5, 4)),
    ),
    Case(
        "conv2d_transpose",
        lambda x, w: nn.conv2d_transpose(x, w, strides=2, padding="VALID"),
        lambda x, w: _back(x, w, [17, 16], [2, 2], [(0, 0)] * 2),
        (X2, floats(3, 2, 5, 4)),
    ),
    Case(
        "conv2d_transpose shaped",
        lambda x, w: nn.conv2d_transpose(x, w, (4, 15, 16, 5), 2),
        lambda x, w: _back(x, w, [15, 16], [2, 2], [_same(15, 3, 2), _same(16, 2, 2)]),
        (X2, floats(3, 2, 5, 4)),
    ),
    Case(
        "conv3d_transpose",
        lambda x, w: nn.conv3d_transpose(x, w, strides=(1, 2, 1), padding=[(0, 0), (1, 0), (0, 0)]),
        lambda x, w: _back(x, w, [5, 8, 4], [1, 2, 1], [(0, 0), (1, 0), (0, 0)]),
        (X3, floats(2, 3, 1, 3, 2)),
    ),
]


def _pool(x: Any, window: Sequence[int], strides: Sequence[int], pads: Sequence[tuple[int, int]], how: Any) -> Any:
    x = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=np.nan)
    out = [(n - size) // step + 1 for n, size, step in zip(x.shape[1:-1], window, strides, strict=True)]
    result = np.empty((x.shape[0], *out, x.shape[-1]), x.dtype)
    axes = tuple(range(1, len(window) + 1))
    for at in itertools.product(*map(range, out)):
        key = [slice(p * step, p * step + size) for p, step, size in zip(at, strides, window, strict=True)]
        result[(slice(None), *at)] = how(x[(slice(None), *key)], axis=axes)
    return result


def _adaptive(x: Any, count: int, how: Any) -> Any:
    size = x.shape[1]
    bounds = [(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]
    return np.stack([how(x[:, start:end], 1) for start, end in bounds], 1)


POOLS = [
    Case("max_pool1d", lambda x: nn.max_pool1d(x, 2), lambda x: _pool(x, [2], [2], [(0, 0)], np.nanmax), (X1,)),
    Case(
        "max_pool1d same",
        lambda x: nn.max_pool1d(x, 3, 1, "SAME"),
        lambda x: _pool(x, [3], [1], [(1, 1)], np.nanmax),
        (X1,),
    ),
    Case(
        "max_pool2d",
        lambda x: nn.max_pool2d(x, (3, 2), 2, "SAME"),
        lambda x: _pool(x, [3, 2], [2, 2], [(0, 1), (0, 0)], np.nanmax),
        (X2,),
    ),
    Case(
        "max_pool3d",
        lambda x: nn.max_pool3d(x, 2),
        lambda x: _pool(x, [2] * 3, [2] * 3, [(0, 0)] * 3, np.nanmax),
        (X3,),
    ),
    Case(
        "avg_pool1d",
        lambda x: nn.avg_pool1d(x, 3, 1, "SAME"),
        lambda x: _pool(x, [3], [1], [(1, 1)], np.nanmean),
        (X1,),
    ),
    Case(
        "avg_pool2d",
        lambda x: nn.avg_pool2d(x, (3, 2), (2, 3), [(1, 1), (1, 0)]),
        lambda x: _pool(x, [3, 2], [2, 3], [(1, 1), (1, 0)], np.nanmean),
        (X2,),
    ),
    Case(
        "avg_pool3d",
        lambda x: nn.avg_pool3d(x, 2, 1),
        lambda x: _pool(x, [2] * 3, [1] * 3, [(0, 0)] * 3, np.nanmean),
        (X3,),
    ),
    Case("global_max_pool", nn.global_max_pool, lambda x: x.max((1, 2)), (X2,)),
    Case(
        "global_avg_pool",
        lambda x: nn.global_avg_pool(x, data_format="channels_first"),
        lambda x: x.mean((2, 3)),
        (X2,),
    ),
    Case("adaptive_avg_pool", lambda x: nn.adaptive_avg_pool(x, 3), lambda x: _adaptive(x, 3, np.mean), (X1,)),
    Case("adaptive_max_pool", lambda x: nn.adaptive_max_pool(x, 4), lambda x: _adaptive(x, 4, np.max), (X1,)),
]


def _norm(x: Any, axes: Any, eps: float) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


SCALE, OFFSET = floats(4), floats(4)

NORMS = [
    Case("batch_norm", nn.batch_norm, lambda x: _norm(x, (0, 1, 2), 1e-3), (X2,)),
    Case("batch_norm layer", sw.batch_norm(axis=1), lambda x: _norm(x, (0, 2, 3), 1e-3), (X2,)),
    Case(
        "batch_norm known",
        lambda x, m, v, o, s: nn.batch_norm(x, m, v, o, s, eps=0.1),
        lambda x, m, v, o, s: (x - m) / np.sqrt(v + 0.1) * s + o,
        (X2, SCALE, np.abs(OFFSET), OFFSET, SCALE),
    ),
    Case(
        "group_norm",
        lambda x, s, o: nn.group_norm(x, 2, s, o),
        lambda x, s, o: _norm(x.reshape(4, 8, 8, 2, 2), (1, 2, 4), 1e-5).reshape(x.shape) * s + o,
        (X2, SCALE, OFFSET),
    ),
    Case("moments", lambda x: nn.moments(x, (0, 1)), lambda x: (x.mean((0, 1)), x.var((0, 1))), (X2,)),
    Case("l2_normalize", nn.l2_normalize, lambda x: x / np.sqrt((x**2).sum(-1, keepdims=True)), (A,)),
]


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Any) -> Any:
    return np.logaddexp(x, 0)


def _elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.2 * x),
    "elu": _elu,
    "celu": _elu,
    "selu": lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772),
    "log_sigmoid": lambda x: np.log(_sigmoid(x)),
    "swish": lambda x: x * _sigmoid(x),
    "softplus": _softplus,
    "softsign": lambda x: x / (1 + np.abs(x)),
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hard_silu": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hard_swish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hard_tanh": lambda x: np.clip(x, -1, 1),
}


def _log_softmax(x: Any) -> Any:
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


LABELS = np.array([0, 15, 3, 3, 7, 1, 2, 9], "int32")
WANTED = np.exp(_log_softmax(floats(8, 16)))
BITS = (floats(8, 16) > 0).astype("float32")

LOSSES = [
    Case("logsumexp", lambda x: nn.logsumexp(x * 100, axis=1), lambda x: np.logaddexp.reduce(x * 100, axis=1), (A,)),
    Case(
        "softmax_cross_entropy", nn.softmax_cross_entropy, lambda x, i: -_log_softmax(x)[np.arange(8), i], (A, LABELS)
    ),
    *(
        Case(
            f"softmax_cross_entropy of {kind}",
            nn.softmax_cross_entropy,
            lambda x, i: -_log_softmax(x)[np.arange(8), i],
            (floats(8, 300) * 3, LABELS.astype(kind)),
        )
        for kind in ("int8", "uint8")
    ),
    Case(
        "softmax_cross_entropy dense",
        nn.softmax_cross_entropy,
        lambda x, p: -(p * _log_softmax(x)).sum(-1),
        (A, WANTED),
    ),
    Case(
        "sparse tf",
        lambda x, i: nn.sparse_softmax_cross_entropy_with_logits(i, x),
        lambda x, i: -_log_softmax(x)[np.arange(8), i],
        (A, LABELS),
    ),
    Case(
        "dense tf",
        lambda x, p: nn.softmax_cross_entropy_with_logits(labels=p, logits=x),
        lambda x, p: -(p * _log_softmax(x)).sum(-1),
        (A, WANTED),
    ),
    Case("sigmoid_cross_entropy", nn.sigmoid_cross_entropy, lambda x, z: np.logaddexp(0, x) - x * z, (A, BITS)),
    Case(
        "sigmoid tf",
        lambda x, z: nn.sigmoid_cross_entropy_with_logits(z, x),
        lambda x, z: np.logaddexp(0, x) - x * z,
        (A, BITS),
    ),
]


def _attention(q: Any, k: Any, v: Any, mask: Any = None, bias: Any = 0.0) -> Any:
    share = q.shape[2] // k.shape[2]
    k, v = np.repeat(k, share, 2), np.repeat(v, share, 2)
    scores = np.einsum("bthd,bshd->bhts", q, k) / math.sqrt(q.shape[-1]) + bias
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhts,bshd->bthd", powers / powers.sum(-1, keepdims=True), v)


Q, K, V, G = floats(4, 8, 4, 8), floats(4, 8, 4, 8), floats(4, 8, 4, 6), floats(4, 8, 2, 8)
SEEN = np.arange(8) <= np.arange(8)[:, None]
MASK = (floats(4, 1, 8, 8) > -0.5) | np.eye(8, dtype=bool)

ATTENTION = [
    Case("attention", nn.scaled_dot_product_attention, _attention, (Q, K, V)),
    Case(
        "attention causal",
        lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, causal=True),
        lambda q, k, v: _attention(q, k, v, SEEN),
        (Q, K, V),
    ),
    Case(
        "attention groups",
        lambda q, k: nn.scaled_dot_product_attention(q, k, k),
        lambda q, k: _attention(q, k, k),
        (Q, G),
    ),
    Case(
        "attention mask",
        lambda q, k, m: nn.scaled_dot_product_attention(q, k, k, mask=m),
        lambda q, k, m: _attention(q, k, k, m),
        (Q, G, MASK),
    ),
    Case(
        "attention bias",
        lambda q, k, b: nn.scaled_dot_product_attention(q, k, k, mask=b),
        lambda q, k, b: _attention(q, k, k, bias=b),
        (Q, K, floats(4, 8, 8)),
    ),
    Case(
        "embedding_lookup",
        nn.embedding_lookup,
        lambda t, i: t[i],
        (floats(16, 4), np.arange(16, dtype="int32").reshape(8, 2)),
    ),
]

POINTWISE = [
    Case(name, getattr(nn, name), expected, (np.stack([EDGES, A[:, :8]]),)) for name, expected in ACTIVATIONS.items()
]
CASES = [*CONVOLUTIONS, *TRANSPOSED, *POOLS, *NORMS, *POINTWISE, *LOSSES, *ATTENTION]


@pytest.mark.every(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@EVERYWHERE
def test_as_numpy_computes_it(case: Case, styles: Sequence[str]) -> None:
    with np.errstate(all="ignore"):
        expected = case.expected(*case.arguments)
    check_everywhere(case.function, expected, case.arguments, styles)


@pytest.mark.parametrize("style", ["first", "both", "together"])
def test_batch_norm_of_each_replica(style: str) -> None:
    x = floats(8, 6, 4)
    parts = {"first": 4, "both": 4, "together": 8}[style]
    expected = _norm(x.reshape(parts, 8 // parts, 6, 4), (1, 2), 1e-3).reshape(x.shape)
    check(sw.batch_norm(sync=False)(place(x, style)), expected)


def test_batch_norm_of_each_replica_sends_nothing() -> None:
    x, w = place(floats(8, 8, 8, 4), "first"), floats(3, 3, 4, 8)
    layer = sw.function(lambda x, w: sw.batch_norm(sync=False)(nn.relu(nn.conv2d(x, w))))
    compiled = layer.trace(x, w).compile()
    result = compiled(x, w)
    hidden = np.maximum(_conv(x.numpy(), w, [1, 1], [(1, 1)] * 2, [1, 1]), 0)
    check(result, _norm(hidden.reshape(4, 2, 8, 8, 8), (1, 2, 3), 1e-3).reshape(hidden.shape))
    assert compiled.ledger.sent_bytes == 0


def test_batch_norm_of_unknown_parts() -> None:
    with pytest.raises(ValueError, match="SW0542"):
        sw.batch_norm(sync=False)(floats(8, 4))


def test_a_split_table_is_looked_up_with_one_sum() -> None:
    table = sw.relayout(floats(16, 8), sw.Layout(["y"], MESH))
    ids = sw.relayout(np.arange(8, dtype="int32"), sw.Layout(["x"], MESH))
    partitioned = sw.function(nn.embedding_lookup).trace(table, ids).partition()
    assert {row.kind for row in partitioned.predicted} <= {"all_reduce", "reduce_scatter"}
    assert len(partitioned.predicted) == 1


def test_the_loss_of_split_classes_moves_no_logits() -> None:
    logits = sw.relayout(floats(8, 1024), sw.Layout(["x", "y"], MESH))
    labels = sw.relayout(LABELS, sw.Layout(["x"], MESH))
    partitioned = sw.function(nn.softmax_cross_entropy).trace(logits, labels).partition()
    assert partitioned.predicted_bytes <= 3 * 8 * 4 * 8  # three numbers for each row, on each device


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8"])
def test_the_loss_of_a_label_outside_of_the_classes(dtype: str) -> None:
    """It is the logarithm of the sum of exponentials, whose slope is the softmax."""
    logits, labels = floats(2, 4).astype("float64") * 9 + 20, np.array([1, 200]).astype(dtype)
    layout = sw.Layout([None, "y"], MESH)
    powers = np.exp(logits)
    expected = np.log(powers.sum(-1)) - [logits[0, 1], 0]
    slopes = powers / powers.sum(-1, keepdims=True) - [[0, 1, 0, 0], [0, 0, 0, 0]]
    for given in (logits, sw.relayout(logits, layout)):
        check(nn.softmax_cross_entropy(given, labels), expected, 1e-12)
        check(sw.grad(lambda x: sw.sum(nn.softmax_cross_entropy(x, labels)))(given), slopes, 1e-12)


def test_relu_has_no_slope_at_zero() -> None:
    assert np.array_equal(sw.grad(lambda x: sw.sum(nn.relu(x)))(np.array([-1.0, 0.0, 2.0])), [0, 0, 1])
    assert np.array_equal(nn.relu(np.array([-1, 2])), [0, 2])
    assert np.isnan(nn.relu(np.array([np.nan]))[0])


def test_rows_of_which_nothing_is_seen_are_finite() -> None:
    x = floats(1, 2, 1, 4)
    assert np.isfinite(nn.scaled_dot_product_attention(x, x, x, mask=np.zeros((1, 1, 2, 2), bool))).all()
    assert nn.logsumexp(np.full(3, -np.inf)) == -np.inf


SMOOTH = [
    ("conv2d", lambda x: nn.conv2d(x, np.full((3, 2, 4, 2), 0.3), 2), (2, 4, 4, 4)),
    ("conv1d_transpose", lambda x: nn.conv1d_transpose(x, np.full((3, 2, 4), 0.3), strides=2), (2, 4, 4)),
    ("avg_pool2d", lambda x: nn.avg_pool2d(x, 3, 2, "SAME"), (2, 4, 4, 2)),
    ("max_pool2d", lambda x: nn.max_pool2d(x, 3, 2, "SAME"), (2, 4, 4, 2)),
    ("batch_norm", nn.batch_norm, (8, 4)),
    ("group_norm", lambda x: nn.group_norm(x, 2), (4, 4, 4)),
    ("attention", lambda x: nn.scaled_dot_product_attention(x, x, x, causal=True), (2, 4, 2, 2)),
    ("cross entropy", lambda x: nn.softmax_cross_entropy(x, np.arange(4)), (4, 8)),
    ("sigmoid cross entropy", lambda x: nn.sigmoid_cross_entropy(x, np.full((4, 4), 0.3)), (4, 4)),
    ("logsumexp", lambda x: nn.logsumexp(x, axis=1), (4, 8)),
    *[(name, getattr(nn, name), (4, 4)) for name in ACTIVATIONS],
]


@pytest.mark.every(2)
@pytest.mark.parametrize(("name", "function", "shape"), SMOOTH, ids=[name for name, *_ in SMOOTH])
def test_gradients_on_a_mesh(name: str, function: Callable[..., Any], shape: tuple[int, ...]) -> None:
    x = floats(*shape).astype("float64") * 2 + 0.0123
    weights = floats(*np.shape(function(x))).astype("float64")
    value = sw.function(lambda x: sw.sum(sw.sin(function(x)) * weights))
    expected = np.zeros_like(x)
    for at in np.ndindex(shape):
        step = np.zeros_like(x)
        step[at] = 1e-6
        expected[at] = (float(value(x + step)) - float(value(x - step))) / 2e-6
    gradient = sw.grad(lambda x: sw.sum(sw.sin(function(x)) * weights))
    for argument in (x, place(x, "both")):
        check(gradient(argument), expected, 1e-5)


MISTAKES = [
    lambda: nn.conv2d(X1, W2),
    lambda: nn.conv2d(X2, W1),
    lambda: nn.conv2d(X2, floats(3, 3, 3, 8)),
    lambda: nn.conv2d(X2, W2, data_format="NHCW"),
    lambda: nn.conv2d(X2, W2, (1, 2, 3)),
    lambda: nn.conv2d(X2, W2, padding="FULL"),
    lambda: nn.conv2d(X2, W2, padding=[(1, 1)]),
    lambda: nn.conv1d(X1, floats(9, 4, 2), padding="VALID"),
    lambda: nn.conv1d_transpose(X1, W1),
    lambda: nn.conv1d_transpose(X1, floats(3, 5, 4), (4, 99, 5), 2),
    lambda: nn.depthwise_conv2d(X2, W1),
    lambda: nn.max_pool2d(X2, 0),
    lambda: nn.global_avg_pool(A),
    lambda: nn.global_avg_pool(X2, data_format="NHWC"),
    lambda: nn.group_norm(X2, 3),
    lambda: nn.batch_norm(X2, SCALE),
    lambda: nn.softmax_cross_entropy(A, LABELS[:3]),
    lambda: nn.sigmoid_cross_entropy(A, BITS[:3]),
    lambda: nn.scaled_dot_product_attention(Q, G[..., :4], G),
    lambda: nn.scaled_dot_product_attention(Q, K, K, mask=np.ones((2, 4, 4, 8, 8), bool)),
]


@pytest.mark.parametrize("call", MISTAKES)
def test_layers_that_do_not_fit(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match="SW0541"):
        call()
