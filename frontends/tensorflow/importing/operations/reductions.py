"""TensorFlow's operations that combine elements: sums, extremes, products of matrices, running sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardwright.frontends import arrays
from shardwright.frontends.arrays import linalg
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value
from shardwright.frontends.tensorflow.importing.table import add, row

FAMILY = "reductions"

REDUCTIONS = {"All": "all", "Any": "any", "Max": "max", "Min": "min", "Prod": "prod", "Sum": "sum"}
"""Operations over dims, and our functions that are the same; `Mean` rounds whole numbers towards zero."""


def _dims(call: Call, x: Any, indices: Value) -> tuple[int, ...]:
    return tuple(sorted({_dim(call, x, dim) for dim in call.numbers(indices, "dims")}))


def _dim(call: Call, x: Any, dim: int) -> int:
    if not -x.ndim <= dim < max(x.ndim, 1):
        raise call.fault(f"there is no dim {dim} in a value of shape {list(x.shape)}")
    return dim % x.ndim if x.ndim else 0


def _reduction(function: str) -> Any:
    def evaluate(call: Call, x: Any, indices: Value) -> Any:
        return getattr(call.xp, function)(x, axis=_dims(call, x, indices), keepdims=call["keep_dims"])

    return evaluate


for _op, _function in REDUCTIONS.items():
    add(_op, _reduction(_function), FAMILY, folds=True)


@row("Mean")
def _mean(call: Call, x: Any, indices: Value) -> Any:
    dims, keep = _dims(call, x, indices), call["keep_dims"]
    if x.dtype.kind not in "iu":
        return arrays.mean(x, axis=dims, keepdims=keep)
    total = arrays.sum(x, axis=dims, keepdims=keep, dtype=x.dtype)
    count = np.array(np.prod([x.shape[dim] for dim in dims], dtype=np.int64)).astype(x.dtype)
    size = arrays.floor_divide(arrays.abs(total), count)
    return arrays.where(arrays.less(total, np.zeros((), x.dtype)), arrays.negative(size), size)


@row("EuclideanNorm")
def _euclidean_norm(call: Call, x: Any, indices: Value) -> Any:
    dims = _dims(call, x, indices)
    return arrays.sqrt(arrays.sum(arrays.square(x), axis=dims, keepdims=call["keep_dims"]))


@row("ArgMax")
def _arg_max(call: Call, x: Any, dimension: Value) -> Any:
    return arrays.argmax(x, axis=_dim(call, x, call.number(dimension, "dim")))


@row("ArgMin")
def _arg_min(call: Call, x: Any, dimension: Value) -> Any:
    return arrays.argmin(x, axis=_dim(call, x, call.number(dimension, "dim")))


@row("Cumsum")
def _cumsum(call: Call, x: Any, axis: Value) -> Any:
    return _cumulative(call, arrays.cumulative_sum, x, axis)


@row("Cumprod")
def _cumprod(call: Call, x: Any, axis: Value) -> Any:
    return _cumulative(call, arrays.cumulative_prod, x, axis)


def _cumulative(call: Call, function: Any, x: Any, axis: Value) -> Any:
    dim = _dim(call, x, call.number(axis, "dim"))
    value = arrays.flip(x, axis=dim) if call["reverse"] else x
    done = function(value, axis=dim, dtype=x.dtype, include_initial=call["exclusive"])
    if call["exclusive"]:
        done = done[(slice(None),) * dim + (slice(0, x.shape[dim]),)]
    return arrays.flip(done, axis=dim) if call["reverse"] else done


@row("MatMul")
def _matmul(call: Call, a: Any, b: Any) -> Any:
    if (a.ndim, b.ndim) != (2, 2):
        raise call.fault(f"matrices have two dims, not {a.ndim} and {b.ndim}")
    left = arrays.matrix_transpose(a) if call["transpose_a"] else a
    right = arrays.matrix_transpose(b) if call["transpose_b"] else b
    return arrays.matmul(left, right)


@row("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul(call: Call, x: Any, y: Any) -> Any:
    left, right = (
        arrays.conj(arrays.matrix_transpose(value)) if turned else value
        for value, turned in ((x, call["adj_x"]), (y, call["adj_y"]))
    )
    if call.node.op == "BatchMatMulV3":
        left, right = (arrays.astype(value, call.dtype("Tout")) for value in (left, right))
    return arrays.matmul(left, right)


@row("Einsum")
def _einsum(call: Call, *values: Value) -> Any:
    return arrays.einsum(call["equation"], *values)


@row("Cross")
def _cross(call: Call, x: Value, y: Value) -> Any:
    return linalg.cross(x, y)
