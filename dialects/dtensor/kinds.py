"""The kinds of partial results: which elements combine so, and what a device gives that has nothing to add."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from shardwright.dialects.types import dtype_element, element_dtype, is_complex, is_integer

if TYPE_CHECKING:
    import numpy as np


def all_ones(dtype: np.dtype[Any]) -> Any:
    """The neutral element of and: true, or the integer with every bit set."""
    import numpy as np

    return np.asarray(-1).astype(dtype)


def lowest(dtype: np.dtype[Any]) -> Any:
    """The neutral element of max: false, the smallest integer, -inf, or the lowest float where there is no -inf."""
    return _extreme(dtype, -1)


def highest(dtype: np.dtype[Any]) -> Any:
    """The neutral element of min: true, the largest integer, inf, or the highest float where there is no inf."""
    return _extreme(dtype, 1)


def _extreme(dtype: np.dtype[Any], sign: int) -> Any:
    import ml_dtypes
    import numpy as np

    if dtype.kind == "b":
        return np.asarray(sign > 0)
    if is_integer(dtype_element(dtype)):
        limits = ml_dtypes.iinfo(dtype)
        return np.asarray(limits.max if sign > 0 else limits.min).astype(dtype)
    infinity = np.asarray(sign * np.inf).astype(dtype)
    if np.isinf(infinity):
        return infinity
    bounds = ml_dtypes.finfo(dtype)
    return np.asarray(bounds.max if sign > 0 else bounds.min, dtype)


NEUTRAL: dict[str, Callable[[np.dtype[Any]], Any]] = {
    "sum": lambda dtype: 0,
    "prod": lambda dtype: 1,
    "max": lowest,
    "min": highest,
    "and": all_ones,
    "or": lambda dtype: 0,
}
"""By kind the element that leaves any other as it is, for a dtype."""


@cache
def neutral(kind: str, element_type: Attribute) -> np.ndarray[Any, Any]:
    """
    The neutral element of a kind, as an array of rank 0.

    >>> from xdsl.dialects.builtin import i8
    >>> neutral("and", i8), neutral("max", i8)
    (array(-1, dtype=int8), array(-128, dtype=int8))
    """
    import numpy as np

    dtype = element_dtype(element_type)
    found = np.asarray(NEUTRAL[kind](dtype)).astype(dtype)
    found.setflags(write=False)
    return found


def adds_nothing(kind: str, element_type: Attribute) -> np.ndarray[Any, Any]:
    """
    What a device gives that has nothing to add, as an array of rank 0: for sums -0.0, which leaves any float as it is.

    >>> from xdsl.dialects.builtin import f32
    >>> adds_nothing("sum", f32), adds_nothing("prod", f32)
    (array(-0., dtype=float32), array(1., dtype=float32))
    """
    import numpy as np

    found = neutral(kind, element_type)
    if kind != "sum" or isinstance(element_type, IntegerType):
        return found
    return np.asarray(complex(-0.0, -0.0) if is_complex(element_type) else -0.0).astype(found.dtype)


def combines(kind: str, element_type: Attribute) -> bool:
    """
    Whether elements of a type combine by a kind: bits of integers and booleans, the larger of what has an order.

    >>> from xdsl.dialects.builtin import f32
    >>> combines("max", f32), combines("and", f32)
    (True, False)
    """
    if kind in ("and", "or"):
        return isinstance(element_type, IntegerType)
    return not (kind in ("max", "min") and is_complex(element_type))
