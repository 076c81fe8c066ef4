"""What parameters of distributions may be: those that are known beforehand are looked at before anything is drawn."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from shardwright.compiler.tracing.dtypes import DType, kind_of, scalar_kind
from shardwright.compiler.tracing.emit import Value, dtype_of
from shardwright.diagnostics.faults import type_error, value_error


def check_parameter(
    what: str, name: str, value: Value, low: float = -math.inf, high: float = math.inf, *, whole: bool = False
) -> None:
    """
    Raises `TypeError` (SW0506) for complex numbers, `ValueError` (SW0561) for known ones that are not in [low, high].

    NaN is in no range but that of all numbers. What is known only at run time makes the numbers NaN.
    """
    if kind_of(dtype_of(value, what)) == "complex":
        raise type_error("SW0506", f"{what}: {name} is complex", help="draw real and imaginary parts")
    known = _known(value)
    if known is None or (low, high) == (-math.inf, math.inf):
        return
    fitting = (known >= low) & (known <= high)
    if whole:
        fitting &= np.isfinite(known) & (np.floor(known) == known)
    if not fitting.all():
        wrong = known[~fitting].ravel()[0]
        due = f"from {low:g} on" if high == math.inf else f"from {low:g} to {high:g}"
        kind = "a whole number" if whole else "a number"
        raise value_error("SW0561", f"{what}: {name} is {wrong:g}", help=f"it is {kind} {due}")


def check_bounds(what: str, dtype: DType, low: Value, high: Value) -> bool:
    """
    Whether the distance between two bounds of floats is more than their type holds.

    Raises `TypeError` (SW0506) for complex bounds, `ValueError` (SW0561) for known ones without numbers between them.
    """
    for name, bound in (("minval", low), ("maxval", high)):
        check_parameter(what, name, bound)
        _check_bound(what, name, _known(bound), dtype)
    bottom, top = _known(low), _known(high)
    if bottom is None or top is None:
        return False
    try:
        ordered = bool((bottom < top).all())
    except ValueError:  # shapes that do not fit are refused where they are broadcast
        return False
    if not ordered:
        raise value_error("SW0561", f"{what}: there is nothing from {low} up to {high}", help="give minval < maxval")
    return kind_of(dtype) == "float" and bool((top / 2 - bottom / 2 > _largest(dtype) / 2).any())


def _check_bound(what: str, name: str, bound: np.ndarray[Any, Any] | None, dtype: DType) -> None:
    """One known bound: a float that its type holds, or a whole number."""
    if bound is None:
        return
    if kind_of(dtype) == "float":
        beyond = ~(np.abs(bound) <= _largest(dtype))
        problem = f"is no number that {dtype.name} holds"
    else:
        beyond = np.floor(bound) != bound if bound.dtype.kind == "f" else np.zeros(bound.shape, bool)
        problem = f"is no whole number, for numbers of type {dtype.name}"
    if beyond.any():
        raise value_error(
            "SW0561", f"{what}: {name}={bound[beyond].ravel()[0]:g} {problem}", help="give bounds that the type has"
        )


def _known(value: Value) -> np.ndarray[Any, Any] | None:
    """A parameter's numbers where they are known: a Python number, or an array of NumPy."""
    if not (scalar_kind(value) is not None or isinstance(value, np.ndarray | np.generic)):
        return None
    found = np.asarray(value)
    return found.astype(np.float64) if found.dtype.kind not in "iuf" or found.dtype == np.float16 else found


def _largest(dtype: DType) -> float:
    return float((np.finfo if dtype.kind == "f" else ml_dtypes.finfo)(dtype).max)
