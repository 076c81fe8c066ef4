"""Each array function with arguments and what NumPy (or a closed form) gives for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import shardwright as sw

_rng = np.random.default_rng(7)


def floats(*shape: int) -> np.ndarray[Any, Any]:
    """Numbers around zero."""
    return _rng.standard_normal(shape).astype("float32")


def positives(*shape: int) -> np.ndarray[Any, Any]:
    """Numbers between 0.1 and 2."""
    return _rng.uniform(0.1, 2, shape).astype("float32")


def integers(*shape: int) -> np.ndarray[Any, Any]:
    """Whole numbers from -7 to 7 without zero."""
    return (_rng.integers(1, 8, shape) * _rng.choice([-1, 1], shape)).astype("int32")


def booleans(*shape: int) -> np.ndarray[Any, Any]:
    """Truth values."""
    return _rng.random(shape) < 0.5


def names(text: str) -> list[str]:
    """The words of `text`."""
    return text.split()


@dataclass(frozen=True)
class Case:
    """One call: the function under test, what must come out as NumPy computes it, and the arguments."""

    name: str
    function: Callable[..., Any]
    expected: Callable[..., Any]
    arguments: tuple[np.ndarray[Any, Any], ...]


def case(name: str, expected: Callable[..., Any], *arguments: Any, function: Callable[..., Any] | None = None) -> Case:
    """A case of the public function `name`, unless another is given."""
    return Case(name, function or getattr(sw, name), expected, arguments)


def _erf(x: Any) -> Any:
    return np.vectorize(math.erf)(x).astype("float32")


def _softmax(x: Any, axis: Any = -1) -> Any:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _norm(x: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


A, B, C = floats(4, 8), floats(4, 8), floats(8, 4)
P, K, J, T, U = positives(4, 8), integers(4, 8), integers(4, 8), booleans(4, 8), booleans(4, 8)
SHIFT = np.abs(J) % 5
SPECIAL = np.array([[np.nan, np.inf, -np.inf, 0.0], [1.0, -1.0, 2.5, -2.5]], "float32")

UNARY = [
    case(name, getattr(np, name), A)
    for name in names("abs negative positive sign square exp expm1 sin cos tan tanh floor ceil trunc")
] + [case(name, getattr(np, name), P) for name in names("log log1p log2 log10 sqrt reciprocal")]

PLAIN_BINARY = [
    case(name, getattr(np, name), A, B)
    for name in names("""add subtract multiply divide floor_divide remainder maximum minimum logaddexp
    equal not_equal less less_equal greater greater_equal""")
]

INTEGER = [
    case(name, getattr(np, name), K, J)
    for name in names("""add subtract multiply floor_divide remainder maximum minimum
    bitwise_and bitwise_or bitwise_xor""")
] + [
    case("bitwise_invert", np.invert, K),
    case("bitwise_left_shift", np.left_shift, K, SHIFT),
    case("bitwise_right_shift", np.right_shift, K, SHIFT),
    case("abs", np.abs, K),
    case("sign", np.sign, K),
    case("floor", lambda x: x, K),
    case("sum", lambda x: x.sum(dtype="int32"), K),
    case("max", np.max, K),
    case("astype float", lambda x: x.astype("float32"), K, function=lambda x: sw.astype(x, sw.float32)),
    case("uint8 sum", lambda x: x.sum(dtype="uint32"), np.full((4, 8), 200, "uint8"), function=sw.sum),
]

LOGICAL = [
    case(name, getattr(np, name), T, U) for name in names("logical_and logical_or logical_xor equal bitwise_and")
] + [
    case("logical_not", np.logical_not, T),
    case("all", np.all, T),
    case("any", np.any, T),
    case("any axis", lambda x: x.any(1), T, function=lambda x: sw.any(x, axis=1)),
    case("where", np.where, T, A, B),
    case("where scalar", lambda c, x: np.where(c, x, 0), T, A, function=lambda c, x: sw.where(c, x, 0)),
]

OTHER = [
    case("pow", lambda x, y: np.power(x, y), P, A, function=sw.pow),
    *[case(f"pow {n}", lambda x, n=n: x**n, A, function=lambda x, n=n: x**n) for n in (1, 2, 3, 4)],
    case("pow half", lambda x: x**0.5, P, function=lambda x: x**0.5),
    case("rsqrt", lambda x: 1 / np.sqrt(x), P),
    case("round", np.round, A * 3),
    case("atan2", np.arctan2, A, B),
    case("clip", lambda x: np.clip(x, -0.5, 0.5), A, function=lambda x: sw.clip(x, -0.5, 0.5)),
    case("clip low", lambda x: np.maximum(x, 0), A, function=lambda x: sw.clip(x, min=0)),
    case("isnan", np.isnan, SPECIAL),
    case("isinf", np.isinf, SPECIAL),
    case("isfinite", np.isfinite, SPECIAL),
    case("max nan", np.max, SPECIAL, function=sw.max),
    case("argmax nan", lambda x: x.argmax(1), SPECIAL, function=lambda x: sw.argmax(x, axis=1)),
    case("logaddexp inf", np.logaddexp, SPECIAL[1:] * 0 - np.inf, SPECIAL[1:] * 0 - np.inf, function=sw.logaddexp),
    case("operators", lambda x, y: (2 - x) * y / 3 + -x, A, B, function=lambda x, y: (2 - x) * y / 3 + -x),
    case("compare", lambda x, y: (x > y) & ~(x < 0), A, B, function=lambda x, y: (x > y) & ~(x < 0)),
    case("broadcast", lambda x, y: x + y[:, None], A, floats(4), function=lambda x, y: x + y[:, None]),
]


def _reduction(namespace: Any, name: str, axis: Any, keepdims: bool) -> Callable[..., Any]:
    return lambda x: getattr(namespace, name)(x, axis=axis, keepdims=keepdims)


REDUCTIONS = [
    Case(f"{name} {axis} {keepdims}", _reduction(sw, name, axis, keepdims), _reduction(np, name, axis, keepdims), (A,))
    for name in names("sum mean max min var std prod")
    for axis, keepdims in ((None, False), (0, False), (1, True), ((0, 1), False), ((), False))
    if not (name in "max min" and axis == ())
] + [
    case("std correction", lambda x: x.std(1, ddof=1), A, function=lambda x: sw.std(x, axis=1, correction=1)),
    case("argmax", lambda x: x.argmax(1), A, function=lambda x: sw.argmax(x, axis=1)),
    case("argmax all", np.argmax, A, function=sw.argmax),
    case("argmin", lambda x: x.argmin(0), K, function=lambda x: sw.argmin(x, axis=0)),
    case("argmax ties", lambda x: x.argmax(1), K // 4, function=lambda x: sw.argmax(x, axis=1)),
    case(
        "argmax keep", lambda x: x.argmax(1, keepdims=True), A, function=lambda x: sw.argmax(x, axis=1, keepdims=True)
    ),
]

SHAPES = [
    case("reshape", lambda x: x.reshape(2, 2, 8), A, function=lambda x: sw.reshape(x, (2, 2, 8))),
    case("reshape merge", lambda x: x.reshape(-1), A, function=lambda x: sw.reshape(x, -1)),
    case("permute_dims", np.transpose, A, function=lambda x: sw.permute_dims(x, (1, 0))),
    case("T", lambda x: x.T, A, function=lambda x: x.T),
    case("mT", lambda x: x.mT, floats(2, 4, 8), function=lambda x: x.mT),
    case("moveaxis", lambda x: np.moveaxis(x, 0, 2), floats(2, 4, 8), function=lambda x: sw.moveaxis(x, 0, 2)),
    case("expand_dims", lambda x: np.expand_dims(x, (0, 2)), A, function=lambda x: sw.expand_dims(x, axis=(0, 2))),
    case("squeeze", lambda x: x.squeeze(1), floats(4, 1, 8), function=lambda x: sw.squeeze(x, axis=1)),
    case("concat", lambda x, y: np.concatenate([x, y], 1), A, B, function=lambda x, y: sw.concat([x, y], axis=1)),
    case(
        "concat flat",
        lambda x, y: np.concatenate([x, y], None),
        A,
        B,
        function=lambda x, y: sw.concat([x, y], axis=None),
    ),
    case("stack", lambda x, y: np.stack([x, y], 1), A, B, function=lambda x, y: sw.stack([x, y], axis=1)),
    case("unstack", lambda x: x[1], A, function=lambda x: sw.unstack(x)[1]),
    case("flip", lambda x: np.flip(x, 1), A, function=lambda x: sw.flip(x, axis=1)),
    case("roll", lambda x: np.roll(x, 3, 1), A, function=lambda x: sw.roll(x, 3, axis=1)),
    case("roll flat", lambda x: np.roll(x, -3), A, function=lambda x: sw.roll(x, -3)),
    case("broadcast_to", lambda x: np.broadcast_to(x, (2, 4, 8)), A, function=lambda x: sw.broadcast_to(x, (2, 4, 8))),
    case("tril", np.tril, A),
    case("triu", lambda x: np.triu(x, 1), A, function=lambda x: sw.triu(x, k=1)),
    case("tril batch", np.tril, floats(2, 4, 4), function=sw.tril),
    *[
        case(f"index {number}", lambda x, key=key: x[key], A, function=lambda x, key=key: x[key])
        for number, key in enumerate(
            [
                (2,),
                (slice(1, 3), slice(None, None, 2)),
                (..., -1),
                (slice(None, None, -1), slice(6, 1, -2)),
                (None, slice(None), 3),
                (slice(3, 3),),
                (1, 2),
                (slice(-1, -5, -1), ..., None),
            ]
        )
    ],
]

CONTRACTIONS = [
    case("matmul", np.matmul, A, C),
    case("matmul vector", np.matmul, A, floats(8), function=sw.matmul),
    case("matmul vectors", np.matmul, floats(8), floats(8), function=sw.matmul),
    case("matmul left vector", np.matmul, floats(4), A, function=sw.matmul),
    case("matmul batch", np.matmul, floats(2, 4, 8), floats(2, 8, 4), function=sw.matmul),
    case("matmul batch and matrix", np.matmul, floats(2, 4, 8), C, function=sw.matmul),
    case("matmul matrix and batch", np.matmul, A, floats(2, 8, 4), function=sw.matmul),
    case("matmul ones", np.matmul, floats(2, 1, 4, 8), floats(4, 8, 4), function=sw.matmul),
    case("matmul both ones", np.matmul, floats(1, 4, 8), floats(1, 8, 4), function=sw.matmul),
    case("matmul operator", lambda x, y: x @ y @ x, A, C, function=lambda x, y: x @ y @ x),
    case("vecdot", lambda x, y: (x * y).sum(-1), A, B),
    case("tensordot", lambda x, y: np.tensordot(x, y, 1), A, C, function=lambda x, y: sw.tensordot(x, y, axes=1)),
    case(
        "tensordot pairs",
        lambda x, y: np.tensordot(x, y, ((0, 1), (2, 0))),
        A,
        floats(8, 2, 4),
        function=lambda x, y: sw.tensordot(x, y, axes=((0, 1), (2, 0))),
    ),
]


def _einsum(text: str) -> Callable[..., Any]:
    return lambda *values: sw.einsum(text, *values)


EINSUMS = [
    Case(f"einsum {text}", _einsum(text), lambda *xs, text=text: np.einsum(text, *xs), values)
    for text, values in [
        ("ij,jk->ik", (A, C)),
        ("ij,jk", (A, C)),
        ("bij,bjk->bik", (floats(2, 4, 8), floats(2, 8, 4))),
        ("bqhd,bkhd->bhqk", (floats(2, 4, 2, 8), floats(2, 4, 2, 8))),
        ("bhqk,bkhd->bqhd", (floats(2, 2, 4, 4), floats(2, 4, 2, 8))),
        ("ij->ji", (A,)),
        ("ij->", (A,)),
        ("ij->j", (A,)),
        ("i,j->ij", (floats(4), floats(8))),
        ("ij,ij->", (A, B)),
        ("ij,jk,kl->il", (A, C, A)),
        ("...ij,jk->...ik", (floats(2, 4, 8), C)),
        ("...i,...i", (floats(2, 4), floats(1, 4))),
        ("ij,k->i", (A, floats(4))),
    ]
]

NN = [
    Case("relu", sw.nn.relu, lambda x: np.maximum(x, 0), (A,)),
    Case("sigmoid", sw.nn.sigmoid, lambda x: 1 / (1 + np.exp(-x)), (A,)),
    Case("silu", sw.nn.silu, lambda x: x / (1 + np.exp(-x)), (A,)),
    Case("gelu exact", lambda x: sw.nn.gelu(x, approximate=False), lambda x: x / 2 * (1 + _erf(x / np.sqrt(2))), (A,)),
    Case("gelu", sw.nn.gelu, lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), (A,)),
    Case("softmax", sw.nn.softmax, _softmax, (A,)),
    Case("softmax first", lambda x: sw.nn.softmax(x, axis=0), lambda x: _softmax(x, 0), (A * 50,)),
    Case("log_softmax", sw.nn.log_softmax, lambda x: np.log(_softmax(x)), (A,)),
    Case("layer_norm", sw.nn.layer_norm, _norm, (A,)),
    Case("layer_norm scaled", sw.nn.layer_norm, lambda x, s, o: _norm(x) * s + o, (A, floats(8), floats(8))),
    Case(
        "rms_norm",
        sw.nn.rms_norm,
        lambda x, s: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * s,
        (A, floats(8)),
    ),
]

CASES = [*UNARY, *PLAIN_BINARY, *INTEGER, *LOGICAL, *OTHER, *REDUCTIONS, *SHAPES, *CONTRACTIONS, *EINSUMS, *NN]
