"""TensorFlow's operations that combine elements: sums, extremes, products of matrices, running sums."""

from __future__ import annotations

from typing import Any

import numpy as np

import shardwright
from shardwright.saving.graphs.evaluate import Call, Value
from shardwright.saving.graphs.table import add, row

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
        return shardwright.mean(x, axis=dims, keepdims=keep)
    total = shardwright.sum(x, axis=dims, keepdims=keep, dtype=x.dtype)
    count = np.array(np.prod([x.shape[dim] for dim in dims], dtype=np.int64)).astype(x.dtype)
    size = shardwright.floor_divide(shardwright.abs(total), count)
    return shardwright.where(shardwright.less(total, np.zeros((), x.dtype)), shardwright.negative(size), size)


@row("EuclideanNorm")
def _euclidean_norm(call: Call, x: Any, indices: Value) -> Any:
    dims = _dims(call, x, indices)
    return shardwright.sqrt(shardwright.sum(shardwright.square(x), axis=dims, keepdims=call["keep_dims"]))


@row("ArgMax")
def _arg_max(call: Call, x: Any, dimension: Value) -> Any:
    return shardwright.argmax(x, axis=_dim(call, x, call.number(dimension, "dim")))


@row("ArgMin")
def _arg_min(call: Call, x: Any, dimension: Value) -> Any:
    return shardwright.argmin(x, axis=_dim(call, x, call.number(dimension, "dim")))


@row("Cumsum")
def _cumsum(call: Call, x: Any, axis: Value) -> Any:
    return _cumulative(call, shardwright.cumulative_sum, x, axis)


@row("Cumprod")
def _cumprod(call: Call, x: Any, axis: Value) -> Any:
    return _cumulative(call, shardwright.cumulative_prod, x, axis)


def _cumulative(call: Call, function: Any, x: Any, axis: Value) -> Any:
    dim = _dim(call, x, call.number(axis, "dim"))
    value = shardwright.flip(x, axis=dim) if call["reverse"] else x
    done = function(value, axis=dim, dtype=x.dtype, include_initial=call["exclusive"])
    if call["exclusive"]:
        done = done[(slice(None),) * dim + (slice(0, x.shape[dim]),)]
    return shardwright.flip(done, axis=dim) if call["reverse"] else done


@row("MatMul")
def _matmul(call: Call, a: Any, b: Any) -> Any:
    if (a.ndim, b.ndim) != (2, 2):
        raise call.fault(f"matrices have two dims, not {a.ndim} and {b.ndim}")
    left = shardwright.matrix_transpose(a) if call["transpose_a"] else a
    right = shardwright.matrix_transpose(b) if call["transpose_b"] else b
    return shardwright.matmul(left, right)


@row("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul(call: Call, x: Any, y: Any) -> Any:
    left, right = (
        shardwright.conj(shardwright.matrix_transpose(value)) if turned else value
        for value, turned in ((x, call["adj_x"]), (y, call["adj_y"]))
    )
    if call.node.op == "BatchMatMulV3":
        left, right = (shardwright.astype(value, call.dtype("Tout")) for value in (left, right))
    return shardwright.matmul(left, right)


@row("Einsum")
def _einsum(call: Call, *values: Value) -> Any:
    return shardwright.einsum(call["equation"], *values)


@row("Cross")
def _cross(call: Call, x: Value, y: Value) -> Any:
    return shardwright.linalg.cross(x, y)
