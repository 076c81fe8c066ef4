"""TensorFlow's operations that combine elements: sums, extremes, products of matrices, running sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shardwright.frontends import arrays
from shardwright.frontends.arrays import linalg
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value, rows
from shardwright.frontends.tensorflow.importing.operations.elementwise import truncated
from shardwright.frontends.tensorflow.importing.table import row

REDUCTIONS = {"All": "all", "Any": "any", "Max": "max", "Min": "min", "Prod": "prod", "Sum": "sum"}
"""Operations over dims, and our functions that are the same; `Mean` rounds whole numbers towards zero."""

CUMULATIVE = {"Cumsum": arrays.cumulative_sum, "Cumprod": arrays.cumulative_prod}


def _dims(call: Call, x: Any, indices: Value) -> tuple[int, ...]:
    return tuple(sorted({call.dim(x, dim, scalars=True) for dim in call.numbers(indices, "dims")}))


def _dim(call: Call, x: Any, index: Value) -> int:
    return call.dim(x, call.number(index, "dim"), scalars=True)


@row(*REDUCTIONS, folds=True)
def _reduced(call: Call, x: Any, indices: Value) -> Any:
    function = getattr(call.xp, REDUCTIONS[call.node.op])
    return function(x, axis=_dims(call, x, indices), keepdims=call["keep_dims"])


@row("Mean")
def _mean(call: Call, x: Any, indices: Value) -> Any:
    """Of whole numbers in the widest type, as TensorFlow has it: of none of them it is zero."""
    dims, keep = _dims(call, x, indices), call["keep_dims"]
    if x.dtype.kind not in "iu":
        return arrays.mean(x, axis=dims, keepdims=keep)
    wide = np.dtype(np.uint64 if x.dtype.kind == "u" else np.int64)
    total = arrays.sum(x, axis=dims, keepdims=keep, dtype=wide)
    count = np.array(max(1, math.prod(x.shape[dim] for dim in dims)), wide)
    return arrays.astype(truncated(total, count)[0], x.dtype)


@row("EuclideanNorm")
def _euclidean_norm(call: Call, x: Any, indices: Value) -> Any:
    """Squares of whole numbers wrap around, and their root is rounded towards zero, as TensorFlow has it."""
    dims = _dims(call, x, indices)
    squares = arrays.multiply(x, arrays.conj(x))
    total = arrays.sum(squares, axis=dims, keepdims=call["keep_dims"], dtype=x.dtype)
    if x.dtype.kind in "iu":
        return arrays.astype(arrays.sqrt(arrays.astype(total, np.float64)), x.dtype)
    return arrays.sqrt(total)


@row(*CUMULATIVE)
def _cumulative(call: Call, x: Any, axis: Value) -> Any:
    dim = _dim(call, x, axis)
    value = arrays.flip(x, axis=dim) if call["reverse"] else x
    done = CUMULATIVE[call.node.op](value, axis=dim, dtype=x.dtype, include_initial=call["exclusive"])
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
def _einsum(call: Call, *values: Any) -> Any:
    return arrays.einsum(call["equation"], *values)


rows(
    {
        "ArgMax": lambda call, x, dim: arrays.argmax(x, axis=_dim(call, x, dim)),
        "ArgMin": lambda call, x, dim: arrays.argmin(x, axis=_dim(call, x, dim)),
        "Cross": lambda call, x, y: linalg.cross(x, y),
    }
)
