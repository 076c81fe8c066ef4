"""What TensorFlow's operations are called, give and take: for each the element types that its CPU kernels know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shardwright.runtime.kernels.elementwise import NARROW_FLOATS, is_integer

_SIGNED = frozenset({"int8", "int16", "int32", "int64"})
_UNSIGNED = frozenset({"uint8", "uint16", "uint32", "uint64"})
_INTEGERS = _SIGNED | _UNSIGNED
_FLOATS = frozenset({"float32", "float64"})
_COMPLEX = frozenset({"complex64", "complex128"})
_REAL = _FLOATS | _INTEGERS
_NUMBERS = _REAL | _COMPLEX
_ALL = _NUMBERS | {"bool", "bfloat16", "float16"}
_PRODUCTS = _FLOATS | _COMPLEX | {"int32", "int64"}
_MOVED = _ALL | {"float8_e4m3fn", "float8_e5m2"}

TYPES = _MOVED
"""The element types that a program to export may have."""

RESULT = "result"
"""Stands for the element type of the result where a row says from which operand an attribute comes."""


@dataclass(frozen=True)
class Kernel:
    """
    One operation: the names of its outputs, which operand each type attribute is of, and the element types it is for.

    `is_list` says that the one output is a list, `count` which attribute counts the operands.
    """

    outputs: tuple[str, ...]
    types: Mapping[str, int | str]
    dtypes: frozenset[str]
    is_list: bool = False
    count: str | None = None


KERNELS: dict[str, Kernel] = {}
"""Every operation that an exported graph may hold."""


def _rows(names: str, outputs: str, types: dict[str, int | str], dtypes: frozenset[str], **options: Any) -> None:
    kernel = Kernel(tuple(outputs.split()), types, dtypes, **options)
    KERNELS.update(dict.fromkeys(names.split(), kernel))


_rows("AddV2 Sub Mul", "z", {"T": 0}, _NUMBERS)
_rows("RealDiv", "z", {"T": 0}, _FLOATS | _COMPLEX)
_rows("TruncateDiv", "z", {"T": 0}, _INTEGERS)
_rows("TruncateMod", "z", {"T": 0}, _FLOATS | {"int32", "int64"})
_rows("Pow", "z", {"T": 0}, _FLOATS | _COMPLEX | {"int32", "int64"})
_rows("Maximum Minimum", "z", {"T": 0}, _REAL)
_rows("BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift", "z", {"T": 0}, _INTEGERS)
_rows("LogicalAnd LogicalOr", "z", {}, frozenset({"bool"}))
_rows("LogicalNot", "y", {}, frozenset({"bool"}))
_rows("Atan2 Zeta Polygamma", "z", {"T": 0}, _FLOATS)
_rows("NextAfter", "output", {"T": 0}, _FLOATS)
_rows("Less LessEqual Greater GreaterEqual", "z", {"T": 0}, _REAL)
_rows("Equal NotEqual", "z", {"T": 0}, _NUMBERS | {"bool"})
_rows("Abs", "y", {"T": 0}, _FLOATS | _SIGNED)
_rows("Neg Sign", "y", {"T": 0}, _FLOATS | _COMPLEX | _SIGNED)
_rows("Square", "y", {"T": 0}, _NUMBERS)
_rows("Invert", "y", {"T": 0}, _INTEGERS)
_rows("PopulationCount", "y", {"T": 0}, _INTEGERS)
_rows(
    "Exp Expm1 Log Log1p Sqrt Rsqrt Sigmoid Tanh Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh",
    "y",
    {"T": 0},
    _FLOATS | _COMPLEX,
)
_rows("Erf Erfc Erfinv Lgamma Digamma BesselI1e Ceil Floor Rint IsFinite IsInf", "y", {"T": 0}, _FLOATS)
_rows("Bitcast", "output", {"T": 0, "type": RESULT}, _MOVED)
_rows("Cast", "y", {"SrcT": 0, "DstT": RESULT}, _MOVED)
_rows("Complex", "out", {"T": 0, "Tout": RESULT}, _FLOATS)
_rows("Real Imag", "output", {"T": 0, "Tout": RESULT}, _COMPLEX)
_rows("ComplexAbs", "y", {"T": 0, "Tout": RESULT}, _COMPLEX)
_rows("Conj", "output", {"T": 0}, _COMPLEX)
_rows("SelectV2", "output", {"T": 1}, _ALL)
_rows("Sum Prod", "output", {"T": 0, "Tidx": 1}, _NUMBERS)
_rows("Max Min", "output", {"T": 0, "Tidx": 1}, _REAL)
_rows("All Any", "output", {"Tidx": 1}, frozenset({"bool"}))
_rows("Cumsum Cumprod", "out", {"T": 0, "Tidx": 1}, _NUMBERS)
_rows("Identity", "output", {"T": 0}, _MOVED)
_rows("Const Placeholder", "output", {"dtype": RESULT}, _MOVED)
_rows("Reshape", "output", {"T": 0, "Tshape": 1}, _MOVED)
_rows("Transpose", "y", {"T": 0, "Tperm": 1}, _MOVED)
_rows("BroadcastTo", "output", {"T": 0, "Tidx": 1}, _MOVED)
_rows("StridedSlice Slice", "output", {"T": 0, "Index": 1}, _MOVED)
_rows("TensorStridedSliceUpdate", "output", {"T": 0, "Index": 1}, _MOVED)
_rows("ReverseV2", "output", {"T": 0, "Tidx": 1}, _ALL)
_rows("ConcatV2", "output", {"T": 0, "Tidx": -1}, _MOVED, count="N")
_rows("Pack", "output", {"T": 0}, _MOVED, count="N")
_rows("PadV2", "output", {"T": 0, "Tpaddings": 1}, _ALL)
_rows("Range", "output", {"Tidx": 0}, _FLOATS | {"int32", "int64"})
_rows("MatMul", "product", {"T": 0}, _PRODUCTS)
_rows("BatchMatMulV2", "output", {"T": 0}, _PRODUCTS)
_rows("Einsum", "output", {"T": 0}, _PRODUCTS, count="N")
_rows("Conv2D", "output", {"T": 0}, _FLOATS | {"int32"})
_rows("Conv3D", "output", {"T": 0}, _FLOATS)
_rows("GatherV2", "output", {"Tparams": 0, "Tindices": 1, "Taxis": 2}, _MOVED)
_rows("TensorScatterAdd TensorScatterSub", "output", {"T": 0, "Tindices": 1}, _NUMBERS)
_rows("TensorScatterMax TensorScatterMin", "output", {"T": 0, "Tindices": 1}, _REAL)
_rows("TensorScatterUpdate", "output", {"T": 0, "Tindices": 1}, _ALL)
_rows("ArgMax", "output", {"T": 0, "Tidx": 1}, _REAL)
_rows("TopKV2", "values indices", {"T": 0, "Tk": 1}, _REAL)
_rows("StatelessWhile StatelessIf StatelessCase", "output", {}, _MOVED, is_list=True)
_rows("Cholesky MatrixTriangularSolve", "output", {"T": 0}, _FLOATS | _COMPLEX)
_rows("MatrixSetDiagV3", "output", {"T": 0}, _FLOATS | _COMPLEX)
_rows("FFT FFT2D FFT3D IFFT IFFT2D IFFT3D", "output", {"Tcomplex": 0}, _COMPLEX)
_rows("RFFT RFFT2D RFFT3D", "output", {"Treal": 0, "Tcomplex": RESULT}, _FLOATS)
_rows("IRFFT IRFFT2D IRFFT3D", "output", {"Tcomplex": 0, "Treal": RESULT}, _COMPLEX)


def working(kind: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """
    The element type in which an operation is computed on elements of `dtype`.

    Narrow floats are computed in float32 and rounded once, as everywhere in Shardwright. Integers without a kernel are
    computed in wider ones, whose low bits are the result: the operations that lack kernels are products and powers.

    >>> working("AddV2", np.dtype("float16")), working("MatMul", np.dtype("uint8"))
    (dtype('float32'), dtype('int32'))
    """
    if dtype.name in KERNELS[kind].dtypes:
        return dtype
    if dtype in NARROW_FLOATS:
        return np.dtype(np.float32)
    if not is_integer(dtype):
        return dtype
    return np.dtype(np.int32 if dtype.itemsize <= 4 and "int32" in KERNELS[kind].dtypes else np.int64)
