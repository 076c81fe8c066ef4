"""
Single operations of TensorFlow with inputs, for `tests/data/graphs`: `python tests/support/graph_operations.py`.

Needs TensorFlow. Each case is a node of one graph, with placeholders for its arrays and constants for what is `Known`.
"""

from __future__ import annotations

import lzma
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from graph_records import distances, records
from graph_single import Case, Cases, Known, ints, longs, words

DATA = Path(__file__).resolve().parents[1] / "data" / "graphs"

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def all_cases(seed: int = 0) -> list[Case]:
    """One or more cases for each operation of the table that stands for itself."""
    cases = Cases(seed)
    groups = (elementwise, networks, reductions, shapes, moves, indexing, windows, matrices)
    for group in (*groups, derivatives, images, segments, texts, corners, chosen, distances, records):
        group(cases)
    return cases.found


def elementwise(c: Cases) -> None:
    smooth = "Cos Erf Exp Expm1 Sin Sinh Cosh Tanh Square Atan Asinh Erfc"
    c.add(*f"Abs Ceil Floor Neg Rint Round Sign {smooth}".split(), x=c.f(3, 4))
    c.add("Tan", "Asin", "Acos", "Atanh", "Erfinv", x=c.f(3, 4, low=-0.9, high=0.9))
    c.add("Log", "Log1p", "Sqrt", "Rsqrt", "Lgamma", "Digamma", x=c.f(3, 4, low=0.5, high=4.0))
    c.add("Inv", "Reciprocal", x=c.f(3, 4, low=0.5, high=4.0))
    c.add("Acosh", x=c.f(5, low=1.0, high=3.0))
    c.add("Abs", "Neg", "Sign", "Square", x=c.i(3, 4))
    c.add("Exp", "Tanh", "Abs", x=c.f(6, dtype="float64"))
    c.add("Neg", "Square", x=c.f(6, dtype="float16"))
    c.add("Neg", "Square", "Abs", x=c.f(6, dtype=BFLOAT16))
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -1.5], "float32")
    c.add("IsNan", "IsInf", "IsFinite", x=odd)
    c.add("LogicalNot", x=c.b(3, 2))
    c.add("Invert", x=c.i(5))
    c.add("PopulationCount", x=c.i(5))
    c.add("BesselI1e", x=c.f(5))
    c.add("Polygamma", a=np.array([0, 1, 2, 3], "float32"), x=c.f(4, low=0.5, high=4.0))
    c.add("Zeta", x=c.f(4, low=1.5, high=4.0), q=c.f(4, low=0.5, high=4.0))
    c.add("Invert", x=c.i(5, low=0, dtype="uint8"))
    z = (c.f(3, 2) + 1j * c.f(3, 2)).astype("complex64")
    c.add("Conj", input=z)
    c.add("Real", "Imag", input=z, Tout="float32")
    c.add("ComplexAbs", x=z, Tout="float32")
    c.add("Complex", real=c.f(3), imag=c.f(3), Tout="complex64")
    for op in ("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum"):
        c.add(op, x=c.f(3, 1, 4), y=c.f(2, 4))
        c.add(op, x=c.i(3, 4), y=c.i(4))
    c.add("AddV2", "Mul", "Sub", x=c.f(4, dtype="float64"), y=c.f(4, dtype="float64"))
    c.add("AddV2", "Mul", x=c.i(4, dtype="int64"), y=c.i(4, dtype="int64"))
    c.add("AddV2", "Mul", x=z, y=z)
    for op in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"):
        c.add(op, x=c.i(3, 4), y=c.i(1, 4))
        c.add(op, x=odd, y=np.zeros((), "float32"))
    c.add("LogicalAnd", "LogicalOr", x=c.b(4, 1), y=c.b(3))
    c.add("BitwiseAnd", "BitwiseOr", "BitwiseXor", x=c.i(6), y=c.i(6))
    c.add("LeftShift", "RightShift", x=c.i(6), y=c.i(6, low=0, high=5))
    for op in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Div", "Mod"):
        c.add(op, x=c.i(4, 5, low=-20, high=20), y=c.nonzero(5))
    for op in ("FloorDiv", "FloorMod", "RealDiv", "Div", "TruncateMod"):
        c.add(op, x=c.f(4, 5), y=c.nonzero(5, dtype="float32") * np.float32(0.7))
    c.add("DivNoNan", "MulNoNan", x=c.f(6), y=np.array([0, 1, 2, 0, -1, 3], "float32"))
    c.add("Xdivy", "Xlogy", "Xlog1py", x=np.array([0, 1, 2, 0], "float32"), y=np.array([0.0, 2, 3, 4], "float32"))
    c.add("Pow", x=c.f(3, 4, low=0.1), y=c.f(4))
    c.add("Atan2", y=c.f(6), x=c.f(6))
    c.add("NextAfter", x1=c.f(4), x2=c.f(4))
    c.add("SquaredDifference", x=c.f(3, 4), y=c.f(4))
    c.add("ApproximateEqual", x=c.f(6), y=c.f(6), tolerance=1.0)
    c.add("AddN", inputs=[c.f(3), c.f(3), c.f(3)])
    c.add("AccumulateNV2", inputs=[c.f(3), c.f(3)], shape=[3])
    c.add("ClipByValue", t=c.f(4, 3), clip_value_min=Known(np.float32(-0.5)), clip_value_max=Known(np.float32(0.5)))
    c.add("Select", condition=c.b(3), x=c.f(3, 4), y=c.f(3, 4))
    c.add("Select", condition=c.b(3, 4), x=c.f(3, 4), y=c.f(3, 4))
    c.add("SelectV2", condition=c.b(3, 1), t=c.f(4), e=c.f(3, 4))
    for target in ("int32", "bool", "float64", "float16", "complex64", "uint8", "int64"):
        c.add("Cast", x=c.f(3, 4, low=0.0, high=9.0), DstT=target)
    c.add("Cast", x=c.b(4), DstT="float32")
    c.add("Cast", x=c.i(4), DstT="float32")
    c.add("Cast", x=c.f(4), DstT="bfloat16")
    c.add("ZerosLike", "OnesLike", x=c.f(3, 2))
    c.add("Identity", "StopGradient", "PreventGradient", "Snapshot", "DebugGradientIdentity", input=c.f(3))
    c.add("CheckNumerics", "CheckNumericsV2", tensor=c.f(3), message="no")
    c.add("IdentityN", input=[c.f(3), c.i(2)])
    c.add("EnsureShape", input=c.f(3, 2), shape=[None, 2])


def networks(c: Cases) -> None:
    c.add("Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu", features=c.f(4, 5) * 3)
    c.add("Relu", features=c.i(5))
    c.add("LeakyRelu", features=c.f(5), alpha=0.3)
    c.add("Sigmoid", x=c.f(4, 5) * 4)
    c.add("Softmax", "LogSoftmax", logits=c.f(4, 5) * 3)
    c.add("Softmax", logits=c.f(2, 3, 4, dtype="float64"))
    c.add("BiasAdd", value=c.f(2, 3, 4, 5), bias=c.f(5))
    c.add("BiasAdd", value=c.f(2, 5, 3, 4), bias=c.f(5), data_format="NCHW")
    c.add("BiasAddV1", value=c.f(2, 5), bias=c.f(5))
    c.add("L2Loss", t=c.f(4, 5))
    c.add("SoftmaxCrossEntropyWithLogits", features=c.f(4, 5), labels=np.eye(5, dtype="float32")[[0, 2, 4, 1]])
    c.add("SparseSoftmaxCrossEntropyWithLogits", features=c.f(4, 5), labels=c.i(4, low=0, high=5, dtype="int64"))
    c.add("LRN", input=c.f(2, 3, 3, 8), depth_radius=2, bias=1.0, alpha=0.1, beta=0.5)
    for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        given = {"scale": c.f(3, low=0.5), "offset": c.f(3), "mean": c.f(3), "variance": c.f(3, low=0.5)}
        c.add(op, x=c.f(4, 5, 5, 3), **given, is_training=False, epsilon=0.01)
        empty = {"mean": np.zeros(0, "float32"), "variance": np.zeros(0, "float32")}
        c.add(op, x=c.f(4, 5, 5, 3), **(given | empty), is_training=True)
    c.add("FusedBatchNormV3", x=c.f(4, 5, 5, 3), **given, is_training=True, exponential_avg_factor=0.25)
    c.add("FusedBatchNormV3", x=c.f(4, 5, 5, 3, dtype="float16"), **given, is_training=False)
    for dtype in ("float16", BFLOAT16):
        c.add("Softmax", "LogSoftmax", logits=c.f(4, 5, dtype=dtype))
        c.add("Relu", "Elu", "Softplus", features=c.f(8, dtype=dtype))
        c.add("BiasAdd", value=c.f(2, 5, dtype=dtype), bias=c.f(5, dtype=dtype))


def reductions(c: Cases) -> None:
    for op in ("Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm"):
        c.add(op, input=c.f(3, 4, 5), axis=ints(0, -1))
        c.add(op, input=c.f(3, 4, 5), axis=ints(1), keep_dims=True)
        c.add(op, input=c.f(3, 4), axis=Known(np.zeros(0, np.int32)))
    c.add("Sum", "Max", "Min", "Prod", "Mean", input=c.i(3, 4), axis=ints([1]))
    c.add("Sum", input=c.i(3, 4, dtype="int64"), axis=longs([0]))
    c.add("Sum", input=c.i(3, 4, dtype="int8"), axis=longs([0]))
    c.add("All", "Any", input=c.b(3, 4), axis=ints([0]))
    c.add("All", "Any", input=c.b(3, 4), axis=ints(1), keep_dims=True)
    c.add("ArgMax", "ArgMin", input=c.f(3, 4, 5), dimension=ints(1))
    c.add("ArgMax", "ArgMin", input=c.i(3, 4), dimension=longs(-1), output_type="int32")
    for flags in ((False, False), (True, False), (False, True), (True, True)):
        options = {"exclusive": flags[0], "reverse": flags[1]}
        c.add("Cumsum", "Cumprod", x=c.f(3, 4), axis=ints(1), **options)
    c.add("Cumsum", x=c.i(5), axis=ints(0))
    for left, right in ((False, False), (True, False), (False, True), (True, True)):
        a, b = c.f(*((4, 3) if left else (3, 4))), c.f(*((5, 4) if right else (4, 5)))
        c.add("MatMul", a=a, b=b, transpose_a=left, transpose_b=right)
        x, y = c.f(2, *((4, 3) if left else (3, 4))), c.f(2, *((5, 4) if right else (4, 5)))
        c.add("BatchMatMul", "BatchMatMulV2", x=x, y=y, adj_x=left, adj_y=right)
    c.add("BatchMatMulV2", x=c.f(2, 1, 3, 4), y=c.f(5, 4, 2))
    z = (c.f(2, 3, 4) + 1j * c.f(2, 3, 4)).astype("complex64")
    c.add("BatchMatMulV2", x=z, y=z, adj_x=True)
    c.add("BatchMatMulV3", x=c.f(3, 4), y=c.f(4, 2), Tout="float32")
    c.add("BatchMatMulV3", x=c.i(3, 4, dtype="int8"), y=c.i(4, 2, dtype="int8"), Tout="int32")
    c.add("MatMul", a=c.i(3, 4), b=c.i(4, 2))
    for dtype in ("float16", BFLOAT16, "float64"):
        c.add("MatMul", a=c.f(3, 4, dtype=dtype), b=c.f(4, 5, dtype=dtype))
        c.add("Mean", "Sum", "Max", input=c.f(3, 5, dtype=dtype), axis=ints(1))
        c.add("BatchMatMulV2", x=c.f(2, 3, 4, dtype=dtype), y=c.f(2, 4, 5, dtype=dtype))
    c.add("Einsum", inputs=[c.f(3, 3)], equation="ii->i")
    c.add("Einsum", inputs=[c.f(2, 3, 4), c.f(4)], equation="bij,j->b")
    c.add("Einsum", inputs=[c.f(2, 3, 4), c.f(4, 5, 6)], equation="abc,cde->abde")
    c.add("Einsum", inputs=[c.f(2, 3, 4), c.f(2, 5, 4)], equation="...ij,...kj->...ik")
    c.add("Einsum", inputs=[c.f(3, 4)], equation="ij->ji")
    c.add("Einsum", inputs=[c.f(2, 3, 4, 5), c.f(2, 6, 4, 5)], equation="BTNH,BSNH->BNTS")
    c.add("Cross", a=c.f(4, 3), b=c.f(4, 3))


def shapes(c: Cases) -> None:
    c.add("Shape", "Size", input=c.f(3, 4), out_type="int64")
    c.add("Rank", input=c.f(3, 4))
    c.add("ShapeN", input=[c.f(3, 4), c.f(2)])
    c.add("BroadcastArgs", s0=ints(3, 1), s1=ints(1, 4))
    c.add("Reshape", tensor=c.f(3, 4), shape=ints(2, -1))
    c.add("Reshape", tensor=c.f(1), shape=Known(np.zeros(0, np.int32)))
    c.add("Reshape", tensor=c.f(0, 3), shape=ints(3, 0))
    c.add("Transpose", x=c.f(2, 3, 4), perm=ints(2, 0, 1))
    c.add("ConjugateTranspose", x=(c.f(2, 3) + 1j * c.f(2, 3)).astype("complex64"), perm=ints(1, 0))
    c.add("InvertPermutation", x=ints(2, 0, 1))
    c.add("ExpandDims", input=c.f(3, 4), axis=ints(-1))
    c.add("ExpandDims", input=c.f(3, 4), axis=ints(1))
    c.add("Squeeze", input=c.f(1, 3, 1), axis=[0])
    c.add("Squeeze", input=c.f(1, 3, 1), axis=[])
    c.add("ConcatV2", values=[c.f(2, 3), c.f(2, 1), c.f(2, 2)], axis=ints(-1))
    c.add("Concat", concat_dim=ints(0), values=[c.f(2, 3), c.f(1, 3)])
    c.add("Pack", values=[c.f(2, 3), c.f(2, 3)], axis=1)
    c.add("Unpack", value=c.f(2, 3), num=3, axis=-1)
    c.add("Split", axis=ints(1), value=c.f(2, 6), num_split=3)
    c.add("SplitV", value=c.f(6, 2), size_splits=ints(1, -1, 2), axis=ints(0), num_split=3)
    c.add("Fill", dims=ints(2, 3), value=c.f())
    c.add("BroadcastTo", input=c.f(3, 1), shape=ints(2, 3, 4))
    c.add("Tile", input=c.f(2, 3), multiples=ints(2, 1))
    c.add("Tile", input=c.f(2, 3), multiples=ints(1, 3))
    c.add("Range", start=ints(2), limit=ints(11), delta=ints(3))
    c.add("Range", start=ints(5), limit=ints(-2), delta=ints(-2))
    c.add("Range", start=Known(np.float32(0)), limit=Known(np.float32(1)), delta=Known(np.float32(0.3)))
    c.add("LinSpace", start=c.f(), stop=c.f(), num=ints(5))
    c.add("Bitcast", input=c.f(3), type="int32")
    c.add("Empty", shape=ints(2, 3), dtype="float32", init=True)
    places = np.array([[0, 1], [2, 0], [2, 3]], "int64")
    c.add("SparseToDense", sparse_indices=places, output_shape=longs([3, 4]), sparse_values=c.f(3), default_value=c.f())
    c.add("SparseToDense", sparse_indices=ints(1, 3), output_shape=ints([5]), sparse_values=c.f(), default_value=c.f())
    for adjoint in (False, True):
        given = {"a_indices": places, "a_values": c.f(3), "a_shape": longs([3, 4]), "adjoint_a": adjoint}
        c.add("SparseTensorDenseMatMul", b=c.f(3 if adjoint else 4, 2), **given)
        c.add("SparseTensorDenseMatMul", b=c.f(2, 3 if adjoint else 4), adjoint_b=True, **given)


def moves(c: Cases) -> None:
    c.add("Pad", input=c.f(2, 3), paddings=ints([[1, 0], [0, 2]]))
    c.add("PadV2", input=c.f(2, 3), paddings=ints([[1, 1], [2, 0]]), constant_values=Known(np.float32(-7)))
    for mode in ("REFLECT", "SYMMETRIC"):
        c.add("MirrorPad", input=c.f(3, 4), paddings=ints([[2, 1], [0, 3]]), mode=mode)
    c.add("ReverseV2", tensor=c.f(2, 3, 4), axis=ints([0, -1]))
    c.add("Reverse", tensor=c.f(2, 3), dims=Known(np.array([False, True])))
    c.add("Roll", input=c.f(4, 5), shift=ints([1, -2]), axis=ints([0, 1]))
    for lower, upper in ((-1, 0), (0, -1), (1, 1), (-1, -1)):
        c.add("MatrixBandPart", input=c.f(2, 4, 5), num_lower=ints(lower), num_upper=ints(upper))
    c.add("MatrixDiag", diagonal=c.f(2, 3))
    corners = {"k": ints(0), "num_rows": ints(-1), "num_cols": ints(-1), "padding_value": Known(np.float32(2))}
    c.add("MatrixDiagV2", "MatrixDiagV3", diagonal=c.f(2, 3), **corners)
    c.add("MatrixDiagPart", input=c.f(2, 3, 3))
    c.add("DepthToSpace", input=c.f(2, 3, 2, 8), block_size=2)
    c.add("SpaceToDepth", input=c.f(2, 4, 6, 2), block_size=2)
    c.add("SpaceToBatchND", input=c.f(2, 3, 4, 2), block_shape=ints([2, 2]), paddings=ints([[0, 1], [2, 0]]))
    c.add("BatchToSpaceND", input=c.f(8, 2, 3, 2), block_shape=ints([2, 2]), crops=ints([[0, 1], [2, 0]]))
    c.add("SpaceToBatchND", input=c.f(2, 6, 2), block_shape=ints([3]), paddings=ints([[0, 0]]))


def indexing(c: Cases) -> None:
    def strided(x: Any, begin: Any, end: Any, strides: Any, **masks: int) -> None:
        c.add("StridedSlice", input=x, begin=ints(begin), end=ints(end), strides=ints(strides), **masks)

    strided(c.f(6, 5), [1, 0], [5, 4], [2, 1])
    strided(c.f(6, 5), [4, -1], [0, -4], [-2, -1])
    strided(c.f(6, 5), [0, 2], [0, 0], [1, 1], begin_mask=1, end_mask=3)
    strided(c.f(6, 5), [2], [3], [1], shrink_axis_mask=1)
    strided(c.f(6, 5), [0, -1], [0, 0], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2)
    strided(c.f(2, 3, 4), [0, 1], [0, 3], [1, 1], ellipsis_mask=1)
    strided(c.f(2, 3, 4), [0, 0, 1], [0, 0, 3], [1, 1, 2], begin_mask=1, end_mask=1, new_axis_mask=2)
    strided(c.f(2, 3, 4), [0, 0, 0, 2], [0, 0, 0, 3], [1] * 4, new_axis_mask=1, ellipsis_mask=2, shrink_axis_mask=8)
    strided(c.f(6), [-10], [10], [3])
    strided(c.f(6), [5], [-10], [-1], end_mask=1)
    strided(c.i(6), [3], [3], [1])
    dynamic = {"end": ints([0]), "strides": ints([1]), "shrink_axis_mask": 1}
    c.add("StridedSlice", input=c.f(6, 2), begin=np.array([4], "int32"), **dynamic)
    c.add("Slice", input=c.f(4, 5), begin=ints(1, 2), size=ints(2, -1))
    c.add("Slice", input=c.f(4, 5), begin=np.array([1, 2], "int32"), size=ints(2, 3))
    ends = {"begin": np.array([1, 2], "int32"), "end": np.array([3, 5], "int32"), "strides": ints(1, 1)}
    c.add("TensorStridedSliceUpdate", input=c.f(4, 5), value=c.f(2, 3), **ends)
    c.add("Gather", params=c.f(5, 3), indices=c.i(2, 2, low=0, high=5))
    for axis, batch in ((0, 0), (1, 0), (-1, 0), (1, 1), (-1, 1), (2, -1)):
        indices = c.i(4, 2, low=0, high=3)
        c.add("GatherV2", params=c.f(4, 5, 3), indices=indices, axis=ints(axis), batch_dims=batch)
    c.add("GatherNd", params=c.f(4, 5, 3), indices=c.i(2, 6, 2, low=0, high=4))
    c.add("GatherNd", params=c.f(4, 5), indices=c.i(3, 1, low=0, high=4, dtype="int64"))
    places = np.array([[0, 1], [2, 2], [3, 0]], "int32")
    c.add("ScatterNd", indices=places, updates=c.f(3, 2), shape=ints(4, 3, 2))
    for op in ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin"):
        c.add(op, tensor=c.f(4, 3), indices=places, updates=c.f(3))
    segments = np.array([0, 2, 0, 1, -1], "int32")
    for op in ("UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin"):
        c.add(op, data=c.f(5, 2), segment_ids=segments, num_segments=ints(3))
    levels = {"on_value": Known(np.float32(5)), "off_value": Known(np.float32(-1))}
    c.add("OneHot", indices=c.i(3, low=-1, high=5), depth=ints(4), **levels)
    c.add("OneHot", indices=c.i(3, 2, low=0, high=4, dtype="int64"), depth=ints(4), axis=0, **levels)
    c.add("TopKV2", input=c.f(3, 6), k=ints(2))
    row = np.array([[1, 3, 5, 7]], "float32")
    c.add("LowerBound", "UpperBound", sorted_inputs=row, values=np.array([[0, 3, 4, 9]], "float32"))
    rows = np.array([[1, 3, 5, 7], [2, 2, 3, 4]], "float32")
    c.add("LowerBound", "UpperBound", sorted_inputs=rows, values=np.array([[0, 3, 9], [2, 3, 5]], "float32"))


def windows(c: Cases) -> None:
    for padding in ("SAME", "VALID"):
        for stride in (1, 2):
            common = {"strides": [1, stride, stride, 1], "padding": padding}
            c.add("Conv2D", input=c.f(2, 7, 6, 4), filter=c.f(3, 2, 4, 3), **common)
            c.add("DepthwiseConv2dNative", input=c.f(2, 7, 6, 3), filter=c.f(3, 3, 3, 2), **common)
            for op in ("MaxPool", "AvgPool"):
                name = "input" if op == "MaxPool" else "value"
                c.add(op, **{name: c.f(2, 7, 6, 3)}, ksize=[1, 3, 2, 1], **common)
            c.add("MaxPoolV2", input=c.f(2, 7, 6, 3), ksize=ints(1, 3, 2, 1), strides=ints(1, stride, stride, 1),
                  padding=padding)  # fmt: skip
        c.add("Conv2D", input=c.f(2, 8, 8, 2), filter=c.f(3, 3, 2, 3), strides=[1] * 4, padding=padding,
              dilations=[1, 2, 2, 1])  # fmt: skip
        c.add("Conv3D", input=c.f(1, 4, 5, 6, 2), filter=c.f(2, 3, 2, 2, 3), strides=[1, 1, 2, 1, 1], padding=padding)
        for op in ("MaxPool3D", "AvgPool3D"):
            c.add(op, input=c.f(1, 4, 5, 6, 2), ksize=[1, 2, 2, 3, 1], strides=[1, 2, 1, 2, 1], padding=padding)
        size = [2, 8, 6, 3]
        inner = [-(-8 // 2), -(-6 // 2)] if padding == "SAME" else [(8 - 3) // 2 + 1, (6 - 2) // 2 + 1]
        c.add("Conv2DBackpropInput", input_sizes=ints(size), filter=c.f(3, 2, 3, 4), out_backprop=c.f(2, *inner, 4),
              strides=[1, 2, 2, 1], padding=padding)  # fmt: skip
    c.add("Conv2D", input=c.f(2, 7, 6, 4), filter=c.f(3, 3, 2, 6), strides=[1] * 4, padding="SAME")
    c.add("Conv2D", input=c.f(2, 7, 6, 2), filter=c.f(3, 3, 2, 3), strides=[1, 2, 1, 1], padding="EXPLICIT",
          explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])  # fmt: skip
    c.add("MaxPool", input=c.f(2, 6, 6, 2), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="EXPLICIT",
          explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0])  # fmt: skip
    c.add("Conv3DBackpropInputV2", input_sizes=ints(1, 4, 4, 6, 2), filter=c.f(2, 2, 2, 2, 3),
          out_backprop=c.f(1, 2, 4, 3, 3), strides=[1, 2, 1, 2, 1], padding="SAME")  # fmt: skip
    for corners, half in ((False, False), (True, False), (False, True)):
        options = {"align_corners": corners, "half_pixel_centers": half}
        c.add("ResizeNearestNeighbor", "ResizeBilinear", images=c.f(2, 4, 5, 2), size=ints(7, 3), **options)
        c.add("ResizeNearestNeighbor", "ResizeBilinear", images=c.f(1, 3, 4, 1), size=ints(6, 8), **options)


def derivatives(c: Cases) -> None:
    y, slope = c.f(3, 4, low=0.1, high=0.9), c.f(3, 4)
    c.add("TanhGrad", "SigmoidGrad", "RsqrtGrad", "SqrtGrad", "InvGrad", "ReciprocalGrad", y=y, dy=slope)
    c.add(
        "ReluGrad",
        "Relu6Grad",
        "LeakyReluGrad",
        "SoftplusGrad",
        "SoftsignGrad",
        gradients=slope,
        features=c.f(3, 4) * 4,
    )
    c.add("EluGrad", "SeluGrad", gradients=slope, outputs=c.f(3, 4, low=-1.0))
    c.add("BiasAddGrad", out_backprop=c.f(2, 3, 4, 5))
    c.add("BiasAddGrad", out_backprop=c.f(2, 5, 3, 4), data_format="NCHW")
    c.add("ConcatOffset", concat_dim=ints(1), shape=[ints(2, 3, 1), ints(2, 5, 1)])
    for first, second in (
        ([2, 3], [3]),
        ([2, 3], [2, 3]),
        ([1, 3], [2, 3]),
        ([], [2]),
        ([2, 1], [1, 3]),
        ([1], [5, 1]),
    ):
        c.add("BroadcastGradientArgs", s0=Known(np.array(first, np.int32)), s1=Known(np.array(second, np.int32)))
    masks = {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}
    given = {"begin": ints([0, 2]), "end": ints([0, 3]), "strides": ints([1, 1])}
    c.add("StridedSliceGrad", shape=ints(4, 5), dy=c.f(4), **given, **masks)
    c.add("StridedSliceGrad", shape=ints([6]), begin=ints([4]), end=ints([0]), strides=ints([-2]), dy=c.f(2))
    c.add("MirrorPadGrad", input=c.f(6, 7), paddings=ints([[2, 1], [0, 3]]), mode="REFLECT")
    x = c.f(2, 3, 3, 8)
    near = sum(np.pad(x**2, ((0, 0), (0, 0), (0, 0), (2, 2)))[..., place : place + 8] for place in range(5))
    c.add("LRNGrad", input_grads=c.f(2, 3, 3, 8), input_image=x, output_image=x / np.sqrt(1 + near), depth_radius=2)
    backward_windows(c)
    for training in (True, False):
        given = {"scale": c.f(3, low=0.5), "reserve_space_1": c.f(3), "reserve_space_2": c.f(3, low=0.5)}
        x = c.f(4, 5, 5, 3)
        if training:  # what TensorFlow kept for it
            given["reserve_space_1"] = x.mean((0, 1, 2))
            given["reserve_space_2"] = x.var((0, 1, 2))
        given |= {"y_backprop": c.f(4, 5, 5, 3), "x": x, "is_training": training, "epsilon": 0.01}
        c.add("FusedBatchNormGrad", "FusedBatchNormGradV2", **given)
        c.add("FusedBatchNormGradV3", reserve_space_3=np.zeros(1, "float32"), **given)


def backward_windows(c: Cases) -> None:
    """Gradients of convolutions, pools and changes of size."""
    for padding, (height, width) in (("SAME", (4, 3)), ("VALID", (3, 3))):
        common = {"strides": [1, 2, 2, 1], "padding": padding}
        images, slope = c.f(2, 7, 6, 4), c.f(2, height, width, 3)
        c.add("Conv2DBackpropFilter", input=images, filter_sizes=ints(3, 2, 4, 3), out_backprop=slope, **common)
        deep, filters = c.f(2, height, width, 8), c.f(3, 2, 4, 2)
        c.add(
            "DepthwiseConv2dNativeBackpropFilter",
            input=images,
            filter_sizes=ints(3, 2, 4, 2),
            out_backprop=deep,
            **common,
        )
        c.add(
            "DepthwiseConv2dNativeBackpropInput",
            input_sizes=ints(2, 7, 6, 4),
            filter=filters,
            out_backprop=deep,
            **common,
        )
        pools = {"ksize": [1, 3, 2, 1], **common}
        wide = c.f(2, height, width, 4)
        c.add("AvgPoolGrad", orig_input_shape=ints(2, 7, 6, 4), grad=wide, **pools)
        c.add("MaxPoolGrad", orig_input=images, orig_output=wide, grad=wide, **pools)
        c.add("MaxPoolGradV2", orig_input=images, orig_output=wide, grad=wide, padding=padding, ksize=ints(1, 3, 2, 1),
              strides=ints(1, 2, 2, 1))  # fmt: skip
    volume = {"strides": [1, 1, 2, 1, 1], "padding": "SAME"}
    images, slope = c.f(1, 4, 5, 3, 2), c.f(1, 4, 3, 3, 2)
    c.add("Conv3DBackpropFilterV2", input=images, filter_sizes=ints(2, 3, 2, 2, 2), out_backprop=slope, **volume)
    padded = np.pad(images, ((0, 0), (0, 1), (0, 1), (0, 1), (0, 0)), constant_values=-np.inf)
    parts = [padded[:, i : i + 4, j : j + 5 : 2, k : k + 3] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    largest = np.max(parts, axis=0)
    c.add("MaxPool3DGrad", orig_input=images, orig_output=largest, grad=slope, ksize=[1, 2, 2, 2, 1], **volume)
    c.add("AvgPool3DGrad", orig_input_shape=ints(1, 4, 5, 3, 2), grad=slope, ksize=[1, 2, 2, 2, 1], **volume)
    for half in (False, True):
        c.add("ResizeBilinearGrad", "ResizeBicubicGrad", grads=c.f(2, 7, 3, 2), original_image=c.f(2, 4, 5, 2),
              half_pixel_centers=half)  # fmt: skip
        c.add("ResizeNearestNeighborGrad", grads=c.f(2, 7, 3, 2), size=ints(4, 5), half_pixel_centers=half)


def images(c: Cases) -> None:
    for half in (False, True):
        c.add("ResizeBicubic", images=c.f(2, 4, 5, 2), size=ints(7, 3), half_pixel_centers=half)
    c.add("ResizeArea", images=c.f(2, 6, 5, 2), size=ints(4, 3))
    for kind in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "triangle", "keyscubic", "mitchellcubic"):
        scales = {
            "scale": Known(np.array([7 / 4, 0.6], "float32")),
            "translation": Known(np.array([0.0, 0.3], "float32")),
        }
        c.add("ScaleAndTranslate", images=c.f(2, 4, 5, 2), size=ints(7, 3), kernel_type=kind, **scales)
    common = {"ksizes": [1, 3, 2, 1], "strides": [1, 2, 1, 1]}
    for padding, rate in (("VALID", 1), ("SAME", 1), ("SAME", 2)):
        c.add("ExtractImagePatches", images=c.f(2, 7, 6, 3), rates=[1, rate, rate, 1], padding=padding, **common)
    boxes = np.array([[0, 0, 0.5, 1], [0.9, 0.1, 0.2, 1.2], [-0.1, 0.2, 0.6, 0.6]], "float32")
    for size in (ints(4, 3), ints(1, 1)):
        c.add("CropAndResize", image=c.f(2, 6, 5, 3), boxes=boxes, box_ind=np.array([0, 1, 1], "int32"), crop_size=size,
              extrapolation_value=0.5)  # fmt: skip
    colours = c.f(2, 4, 5, 3, low=0.0, high=1.0)
    c.add("RGBToHSV", "HSVToRGB", images=colours)
    c.add("RGBToHSV", images=np.zeros((2, 3), "float32"))
    c.add("AdjustContrastv2", images=colours, contrast_factor=np.float32(1.5).reshape(()))
    c.add("AdjustHue", images=colours, delta=np.float32(0.3).reshape(()))
    c.add("AdjustSaturation", images=colours, scale=np.float32(1.5).reshape(()))


def segments(c: Cases) -> None:
    ids = Known(np.array([0, 0, 1, 3, 3], "int32"))
    for op in ("SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd"):
        c.add(op, data=c.f(5, 2), segment_ids=ids)
    unsorted = np.array([0, 2, 0, 1, -1], "int32")
    for op in ("UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"):
        c.add(op, data=c.f(5, 2), segment_ids=unsorted, num_segments=ints(4))
    c.add("UnsortedSegmentMax", "UnsortedSegmentMin", data=c.i(5, 2), segment_ids=unsorted, num_segments=ints(4))
    for kind in ("Sum", "Mean", "SqrtN"):
        chosen = {"data": c.f(6, 2), "indices": c.i(5, low=0, high=6)}
        c.add(f"SparseSegment{kind}", segment_ids=ids, **chosen)
        c.add(f"SparseSegment{kind}WithNumSegments", segment_ids=ids.value, num_segments=ints(5), **chosen)
    places = [Known(np.array([2, 0], "int32")), Known(np.array([[1, 3], [0, 4]], "int32"))]
    c.add("DynamicStitch", "ParallelDynamicStitch", indices=places, data=[c.f(2, 3), c.f(2, 2, 3)])
    c.add("Bucketize", input=c.f(3, 4), boundaries=[-1.0, 0.0, 0.5])
    c.add("Bucketize", input=c.i(6), boundaries=[-1.0, 0.0, 3.0])
    none = np.zeros(0, "float32")
    c.add("Bincount", arr=c.i(6, low=0, high=7), size=ints(5), weights=none)
    c.add("Bincount", arr=c.i(6, low=0, high=7), size=ints(5), weights=c.f(6))
    for binary in (False, True):
        c.add("DenseBincount", input=c.i(3, 6, low=0, high=7), size=ints(5), weights=none, binary_output=binary)
    c.add("DenseBincount", input=c.i(6, low=0, high=7), size=ints(5), weights=c.f(6))
    scores, targets = c.f(4, 5), np.array([0, 4, 2, 9], "int32")
    c.add("InTopKV2", predictions=scores, targets=targets, k=ints(2))
    c.add("InTopK", predictions=scores, targets=targets, k=2)


def texts(c: Cases) -> None:
    """What runs on the host: texts, ragged values, and what has a shape by data."""
    given = words("Red, RED sea!", "", "blue \u00c9t\u00e9", " a  b ")
    c.add("StringLower", "StringUpper", input=given)
    c.add("StringLower", "StringUpper", input=given, encoding="utf-8")
    c.add("StringStrip", input=given)
    for unit in ("BYTE", "UTF8_CHAR"):
        c.add("StringLength", input=given, unit=unit)
    c.add("StringJoin", inputs=[given, given[::-1].copy()], separator="-")
    for keep in (False, True):
        c.add("ReduceJoin", inputs=given.reshape(2, 2), reduction_indices=ints(0), keep_dims=keep, separator="+")
    c.add("StringSplitV2", input=given, sep=Known(b""))
    c.add("StringSplitV2", input=given, sep=Known(b" "), maxsplit=1)
    marks = r"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']"
    for pattern, rewrite in ((marks, ""), ("a|e", "x"), (r"\s+", "_"), ("[^a-z]", "")):
        c.add("StaticRegexReplace", input=given, pattern=pattern, rewrite=rewrite)
    c.add("StaticRegexReplace", input=given, pattern="e", rewrite="E", replace_global=False)
    long = np.array([bytes(range(65, 65 + size % 60)) * (1 + size // 60) for size in range(0, 260, 7)], object)
    c.add("StringToHashBucketFast", input=long, num_buckets=1 << 62)
    c.add("StringToHashBucketStrong", input=long, num_buckets=1 << 62, key=[123456789, -987654321])
    c.add("AsString", input=c.i(5))
    c.add("AsString", input=c.b(3))
    c.add("AsString", input=c.f(4))
    numbers = words("1.5", "-3e2", " 7 ", "inf", "0")
    c.add("StringToNumber", string_tensor=numbers, out_type="float32")
    c.add("StringToNumber", string_tensor=words("12", "-3"), out_type="int64")
    c.add("UnicodeDecode", input=given, input_encoding="UTF-8")
    c.add("UnicodeEncode", input_values=np.array([97, 233, 98], "int32"), input_splits=np.array([0, 2, 2, 3], "int64"),
          output_encoding="UTF-8")  # fmt: skip
    runs = {"data": words("a", "b", "c", "d"), "data_splits": np.array([0, 3, 3, 4], "int64"), "separator": " "}
    padding = {"left_pad": "<", "right_pad": ">"}
    for pad in (-1, 0, 1):
        c.add("StringNGrams", **runs, **padding, ngram_widths=[1, 3], pad_width=pad, preserve_short_sequences=False)
    c.add("Where", condition=c.b(3, 4))
    c.add("Where", condition=c.i(6))
    again = np.array([4, 1, 4, 2, 1, 9], "int32")
    c.add("Unique", "UniqueWithCounts", x=again)
    c.add("UniqueV2", x=again, axis=Known(np.zeros(0, np.int64)))
    ragged(c)


def ragged(c: Cases) -> None:
    ends = np.array([0, 2, 2, 5], "int64")
    rest = {"values": c.f(5, 2), "default_value": np.float32(-1).reshape(())}
    splits = {"row_partition_tensors": [ends], "row_partition_types": ["ROW_SPLITS"]}
    owners = {
        "row_partition_tensors": [np.array(4), np.array([0, 0, 2, 2, 2])],
        "row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"],
    }
    for shape in (longs([-1, -1, 2]), longs([4, 2, 2]), longs(-1)):
        for rows in (splits, owners):
            c.add("RaggedTensorToTensor", shape=shape, **rest, **rows)
    two = {
        "row_partition_tensors": [np.array([0, 1, 3]), ends[[0, 1, 2, 3]]],
        "row_partition_types": ["ROW_SPLITS"] * 2,
    }
    c.add("RaggedTensorToTensor", shape=longs([-1, -1, -1, 2]), **rest, **two)
    none = np.zeros(0, "float32")
    for binary in (False, True):
        c.add(
            "RaggedBincount",
            splits=ends,
            values=c.i(5, low=0, high=5),
            size=ints(4),
            weights=none,
            binary_output=binary,
        )
    c.add("RaggedBincount", splits=ends, values=c.i(5, low=0, high=5), size=ints(4), weights=c.f(5))


def chosen(c: Cases) -> None:
    """What has shapes that come from data."""
    c.add("Angle", input=np.array([1, 1j, -1, -1 - 1j, 0, -2j], "complex64"), Tout="float32")
    given = words("hello", "\u00c9t\u00e9s", "a  b,c")
    for separators in (b"", b" ", b" ,"):
        for skip in (False, True):
            c.add("StringSplit", input=given, delimiter=Known(separators), skip_empty=skip)
    for unit in ("BYTE", "UTF8_CHAR"):
        c.add("Substr", input=given, pos=ints(1), len=ints(3), unit=unit)
        c.add("Substr", input=given, pos=ints([-2, 0, 4]), len=ints([1, 9, 0]), unit=unit)
    owners = np.array([1, 0, 2, 1], "int32")
    c.add("DynamicPartition", data=c.f(4, 2), partitions=owners, num_partitions=4)
    c.add("DynamicPartition", data=c.i(2, 2), partitions=owners.reshape(2, 2), num_partitions=3)
    boxes = np.array([[0, 0, 1, 1], [1, 1, 0, 0.1], [0, 0.1, 1, 1.1], [2, 2, 3, 3], [2, 2, 2, 2]], "float32")
    scores = np.array([0.5, 0.9, 0.9, 0.2, 0.3], "float32")
    limits = {"max_output_size": ints(3), "iou_threshold": Known(np.float32(0.5))}
    c.add("NonMaxSuppressionV2", boxes=boxes, scores=scores, **limits)
    for least in (0.25, -np.inf):
        limits["score_threshold"] = Known(np.float32(least))
        c.add("NonMaxSuppressionV3", boxes=boxes, scores=scores, **limits)
        for pad in (False, True):
            c.add("NonMaxSuppressionV4", boxes=boxes[:3], scores=scores[:3], **limits, pad_to_max_output_size=pad)
    many = {"max_output_size_per_class": ints(2), "iou_threshold": Known(np.float32(0.5))}
    likely, wide = c.f(2, 5, 3, low=0.0, high=1.0), np.stack([boxes, boxes * 0.5 - 0.1])[:, :, None]
    for kinds, least, padded, cut, room in (
        (1, 0.2, True, False, 9),
        (3, 0.0, False, True, 4),
        (1, 0.9, False, False, 7),
    ):
        c.add(
            "CombinedNonMaxSuppression",
            boxes=np.tile(wide, (1, 1, kinds, 1)),
            scores=likely,
            **many,
            max_total_size=ints(room),
            score_threshold=Known(np.float32(least)),
            pad_per_class=padded,
            clip_boxes=cut,
        )
    ends, outer = np.array([0, 2, 2, 5], "int64"), np.array([0, 1, 3], "int64")
    c.add("RaggedTensorToSparse", rt_nested_splits=[ends], rt_dense_values=c.f(5))
    c.add("RaggedTensorToSparse", rt_nested_splits=[outer, ends], rt_dense_values=c.f(5, 2))
    places = np.array([[0, 1], [2, 0], [2, 3], [4, 2]], "int64")
    for shape in ([10, 2], [-1, 5], [2, -1, 2], [20]):
        c.add("SparseReshape", input_indices=places, input_shape=longs([5, 4]), new_shape=longs(shape))
    c.add(
        "SparseFillEmptyRows",
        indices=places,
        values=words("a", "b", "c", "d"),
        dense_shape=longs([6, 4]),
        default_value=Known(b"?"),
    )
    c.add(
        "SparseFillEmptyRows",
        indices=places[:0],
        values=c.f(0),
        dense_shape=longs([2, 4]),
        default_value=Known(np.float32(7)),
    )
    crossed(c, places)


def crossed(c: Cases, places: np.ndarray) -> None:
    texts, others = words("a", "b", "c", "d"), words("x", "y", "z", "a long text of more bytes", "")
    common = {"indices": [places, places[:3]], "shapes": [longs([5, 4])] * 2}
    hashed = {"hashed_output": True, "hash_key": 956888297470, "out_type": "int64", "internal_type": "int64"}
    spelled = {"hashed_output": False, "hash_key": 0, "out_type": "string", "internal_type": "string"}
    numbers, wide = [texts, c.i(3, dtype="int64")], [c.i(5, 2, dtype="int64"), others.reshape(5, 1)]
    for buckets in (0, 7):
        for dense in ([], wide):
            c.add("SparseCross", **common, values=numbers, dense_inputs=dense, num_buckets=buckets, **hashed)
    for dense in ([], wide[1:]):
        c.add("SparseCross", **common, values=[texts, texts[:3]], dense_inputs=dense, num_buckets=0, **spelled)


def matrices(c: Cases) -> None:
    a = c.f(2, 4, 4)
    definite = (a @ a.swapaxes(1, 2) + 4 * np.eye(4)).astype("float32")
    c.add("Cholesky", "MatrixDeterminant", input=definite)
    for adjoint in (False, True):
        c.add("MatrixInverse", input=definite + a, adjoint=adjoint)
        c.add("MatrixSolve", matrix=definite + a, rhs=c.f(2, 4, 3), adjoint=adjoint)
        for lower in (False, True):
            c.add("MatrixTriangularSolve", matrix=definite, rhs=c.f(2, 4, 3), lower=lower, adjoint=adjoint)
    c.add("MatrixSetDiag", input=c.f(2, 3, 4), diagonal=c.f(2, 3))
    c.add("MatrixSetDiagV2", "MatrixSetDiagV3", input=c.f(2, 4, 3), diagonal=c.f(2, 3), k=ints(0))
    for k, size in ((1, 2), (-1, 3), (-2, 2)):
        c.add("MatrixSetDiagV3", input=c.f(2, 4, 3), diagonal=c.f(2, size), k=ints(k))
        c.add("MatrixDiagPartV2", "MatrixDiagPartV3", input=c.f(2, 4, 3), k=ints(k), padding_value=Known(np.float32(0)))
    for k, rows, columns in ((1, -1, -1), (-1, 4, -1), (0, 5, 3)):
        sizes = {"k": ints(k), "num_rows": ints(rows), "num_cols": ints(columns), "padding_value": Known(np.float32(2))}
        c.add("MatrixDiagV3", diagonal=c.f(2, 3), **sizes)
    c.add("LogMatrixDeterminant", input=definite)
    c.add("SelfAdjointEigV2", input=definite, compute_v=False)
    c.add("Svd", input=c.f(2, 4, 3), compute_uv=False)
    for full in (False, True):
        c.add("Qr", input=c.f(2, 4, 3), full_matrices=full)
    z = (c.f(2, 4, 6, 5) + 1j * c.f(2, 4, 6, 5)).astype("complex64")
    c.add("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D", input=z)
    for sizes in ([6], [4, 6], [3, 4, 6]):
        suffix = f"{len(sizes)}D" if len(sizes) > 1 else ""
        c.add(f"RFFT{suffix}", input=c.f(2, 3, 4, 6), fft_length=ints(sizes))
        c.add(f"IRFFT{suffix}", input=z[:, :3, :4, :4].copy(), fft_length=ints(sizes))


def corners(c: Cases) -> None:
    """Extreme integers, complex numbers where conjugates count, NaN, and texts at their ends."""
    for dtype in ("int8", "int32", "int64"):
        least = np.iinfo(dtype).min
        pair = {"x": np.array([least, least, 1, -5], dtype), "y": np.array([2, -7, least, least], dtype)}
        c.add("TruncateDiv", **pair)
        if dtype != "int8":
            c.add("TruncateMod", **pair)
    for dtype in ("int8", "uint8", "int16", "int32", "uint64"):
        c.add("Mean", input=np.full((256, 2), np.array([5, np.iinfo(dtype).max >> 6], dtype)), axis=ints([0]))
        c.add("EuclideanNorm", input=np.array([[3, 4], [100, 100]], dtype), axis=ints([1]))
    c.add("Mean", input=np.full((2, 3), np.iinfo("int32").min, "int32"), axis=ints([0, 1]))
    c.add("Mean", input=np.array([-3, -4], "int16"), axis=ints([0]))
    c.add("Mean", input=np.zeros((0, 2), "int32"), axis=ints([0]))
    z, w = ((c.f(3, 2) + 1j * c.f(3, 2)).astype("complex64") for _ in range(2))
    c.add("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "TanhGrad", y=z, dy=w)
    c.add("SquaredDifference", x=z, y=w)
    c.add("EuclideanNorm", input=z, axis=ints([1]), keep_dims=True)
    marked = {"depth": ints(300), "on_value": Known(np.float32(1)), "off_value": Known(np.float32(0)), "axis": -1}
    c.add("OneHot", indices=np.array([0, 255, 43], "uint8"), **marked)
    c.add("Bucketize", input=np.array([np.nan, np.inf, 1, -np.inf], "float32"), boundaries=[-1.0, 0.0, 2.0])
    ends = words("a b ", " a", "", " ", "a\tb c")
    for most in (-1, 0, 1, 2):
        c.add("StringSplitV2", input=ends, sep=Known(b""), maxsplit=most)
    found = words("a\vb", "xx yy", "aab", "", "\u00e9x")
    for pattern in (r"\s", r"\S+", r"[\s,]", r"[^\s]", r"[\Sa]", "x*", "[^a]*", "a|", "|a"):
        c.add("StaticRegexReplace", input=found, pattern=pattern, rewrite="-")
    c.add("StaticRegexReplace", input=found, pattern="x*", rewrite="-", replace_global=False)


def run(cases: list[Case]) -> tuple[Any, dict[str, np.ndarray]]:
    """TensorFlow's graph of the cases, and their inputs and outputs by name: `3_MatMul/in0`, `3_MatMul/out0`."""
    import tensorflow as tf

    arrays: dict[str, np.ndarray] = {}
    with tf.Graph().as_default() as graph:
        fed, wanted = {}, {}

        def tensor(name: str, value: Any) -> Any:
            if isinstance(value, Known):
                return tf.constant(value.value)
            at = f"{name}/in{sum(key.startswith(f'{name}/in') for key in arrays)}"
            arrays[at] = value
            placeholder = tf.compat.v1.placeholder(value.dtype, value.shape, name=at)
            fed[placeholder] = value
            return placeholder

        for number, case in enumerate(cases):
            name = f"{number}_{case.op}"
            given = {}
            for key, value in case.arguments.items():
                if isinstance(value, Known | np.ndarray):
                    given[key] = tensor(name, value)
                elif isinstance(value, list) and value and isinstance(value[0], np.ndarray | Known):
                    given[key] = [tensor(name, item) for item in value]
                else:
                    given[key] = getattr(tf, value) if key in _TYPES else value
            made = getattr(tf.raw_ops, case.op)(name=f"{name}/node", **given)
            parts = [made] if isinstance(made, tf.Tensor) else tf.nest.flatten(made)
            wanted |= {f"{name}/out{place}": part for place, part in enumerate(parts)}
        with tf.compat.v1.Session(graph=graph) as session:
            arrays |= {name: np.asarray(array) for name, array in session.run(wanted, fed).items()}
    return graph.as_graph_def(), arrays


_TYPES = ("dtype", "DstT", "Tout", "out_type", "output_type", "type")


def stored(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays as NumPy's files hold them: bfloat16 as its bits, texts with a mark behind, both under other names."""
    plain: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if array.dtype == BFLOAT16:
            plain[f"{name}:bfloat16"] = array.view("uint16")
        elif array.dtype == object:
            plain[f"{name}:text"] = np.array([text + b"." for text in array.flat], "S").reshape(array.shape)
        else:
            plain[name] = array
    return plain


def loaded(path: Path) -> dict[str, np.ndarray]:
    """What `stored` gave to a file."""
    with lzma.open(path) as packed, np.load(BytesIO(packed.read())) as file:
        return dict(_as_made(name, file[name]) for name in file.files)


def _as_made(name: str, array: np.ndarray) -> tuple[str, np.ndarray]:
    plain, _, kind = name.partition(":")
    if kind == "bfloat16":
        return plain, array.view(BFLOAT16)
    if kind != "text":
        return plain, array
    texts = np.empty(array.shape, object)
    texts.reshape(-1)[:] = [text[:-1] for text in array.flat]
    return plain, texts


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    graph, arrays = run(all_cases())
    (DATA / "operations.pb").write_bytes(graph.SerializeToString(deterministic=True))
    plain = BytesIO()
    np.savez(plain, **stored(arrays))
    (DATA / "operations.npz.xz").write_bytes(lzma.compress(plain.getvalue()))
    sys.stdout.write(f"{len(all_cases())} cases, {sum(path.stat().st_size for path in DATA.iterdir())} bytes\n")
