"""Element types as users name them, and how they promote: the array API standard's table, with bfloat16."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects.types import dtype_element

DType: TypeAlias = "np.dtype[Any]"
DTypeLike: TypeAlias = Any

DEFAULT_FLOAT = np.dtype("float32")
DEFAULT_INTEGER = np.dtype("int32")
DEFAULT_COMPLEX = np.dtype("complex64")
BOOLEAN = np.dtype("bool")

_BRIEF = {"bool": "i1", "bfloat16": "bf16", "complex64": "c64", "complex128": "c128"}
_DEFAULTS = {"boolean": BOOLEAN, "integer": DEFAULT_INTEGER, "float": DEFAULT_FLOAT, "complex": DEFAULT_COMPLEX}
_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "c": "complex"}
"""The kinds by NumPy's letters; floats have several, since those of 16 bits and less are not all NumPy's own."""

_SCALAR_KINDS: dict[type, str] = {bool: "boolean", int: "integer", float: "float", complex: "complex"}
_LEVELS = ("boolean", "integer", "float", "complex")


def as_dtype(given: DTypeLike) -> DType:
    """
    The dtype that `given` names: a NumPy dtype, its name, a Python type, or `"bfloat16"`.

    Python's `int`, `float` and `complex` mean the default types, which have 32 bits (64 for complex).

    >>> as_dtype("float16"), as_dtype(float)
    (dtype('float16'), dtype('float32'))
    """
    if given is int or given is float or given is complex or given is bool:
        return default_dtype(_SCALAR_KINDS[given])
    try:
        dtype = _ml_dtype(given) if isinstance(given, str) and given.startswith("bfloat") else np.dtype(given)
        dtype_element(dtype)
    except TypeError:
        raise type_error(
            "SW0506", f"{given!r} is no element type that Shardwright knows", help="use one like shardwright.float32"
        ) from None
    return dtype.newbyteorder("=")


WIDE = {kind: np.dtype(name) for kind, name in (("integer", "int64"), ("float", "float64"), ("complex", "complex128"))}
"""The types that have all digits of a Python number, by its kind."""


MOST = int(np.finfo(np.float64).max)
"""Beyond this, no floating-point number comes near a Python integer."""


def default_dtype(kind: str) -> DType:
    """The dtype that a Python scalar of this kind has by itself."""
    return _DEFAULTS[kind]


def kind_of(dtype: DType) -> str:
    """
    The kind of a dtype: boolean, integer, float or complex.

    >>> kind_of(np.dtype("uint8"))
    'integer'
    """
    return _KINDS.get(dtype.kind, "float")


def scalar_kind(value: object) -> str | None:
    """The kind of a Python scalar; None for anything else (also for NumPy's scalars, which have a dtype)."""
    return _SCALAR_KINDS.get(type(value))


@cache
def brief(dtype: DType) -> str:
    """
    The short name of a dtype, as types are printed.

    >>> brief(np.dtype("float32")), brief(np.dtype("uint8"))
    ('f32', 'ui8')
    """
    return _BRIEF.get(dtype.name) or str(dtype_element(dtype))


@cache
def promote(first: DType, second: DType) -> DType | None:
    """
    The dtype of an operation on both, or None where the standard leaves it open.

    >>> promote(np.dtype("int8"), np.dtype("uint8")), promote(np.dtype("int32"), np.dtype("float32"))
    (dtype('int16'), None)
    """
    if first == second:
        return first
    kinds = [kind_of(first), kind_of(second)]
    if kinds == ["integer", "integer"]:
        found = np.promote_types(first, second)
        return found if kind_of(found) == "integer" else None
    if not set(kinds) <= {"float", "complex"}:
        return None
    # A complex number is as exact as each of its two floats.
    sizes = [dtype.itemsize // (1 + (kind == "complex")) for dtype, kind in zip((first, second), kinds, strict=True)]
    if "complex" in kinds:
        return np.dtype("complex128" if max(sizes) == 8 else "complex64")
    return None if sizes[0] == sizes[1] else first if sizes[0] > sizes[1] else second


def promote_scalar(dtype: DType, kind: str) -> DType | None:
    """
    The dtype of an operation on an array of `dtype` and a Python scalar of `kind`; None where they do not mix.

    >>> promote_scalar(np.dtype("float16"), "integer"), promote_scalar(np.dtype("int32"), "float")
    (dtype('float16'), None)
    """
    own = kind_of(dtype)
    if own == "boolean" or kind == "boolean":
        return dtype if own == kind else None
    if kind == "complex" and own == "float":
        return np.dtype("complex128" if dtype.name == "float64" else "complex64")
    return dtype if _LEVELS.index(kind) <= _LEVELS.index(own) else None


def common_dtype(dtypes: Sequence[DType], kinds: Sequence[str], what: str) -> DType:
    """The dtype of an operation on arrays of `dtypes` and Python scalars of `kinds`; TypeError (SW0506) if none."""
    if not dtypes:
        return default_dtype(max(kinds, key=_LEVELS.index))
    result = dtypes[0]
    for other in (*dtypes[1:], *kinds):
        promoted = promote_scalar(result, other) if isinstance(other, str) else promote(result, other)
        if promoted is None:
            second = f"a Python {other}" if isinstance(other, str) else brief(other)
            raise type_error(
                "SW0506",
                f"{what} cannot mix {brief(result)} and {second}",
                "the array API standard gives this pair no common type, and nothing is converted silently",
                help="say which one you mean: shardwright.astype(x, shardwright.float32), for instance",
            )
        result = promoted
    return result


def check_kind(dtype: DType, kinds: Sequence[str], what: str) -> None:
    """TypeError (SW0506) when `what` does not work on elements of `dtype`."""
    if kind_of(dtype) not in kinds:
        raise type_error(
            "SW0506",
            f"{what} needs {' or '.join(kinds)} elements, not {brief(dtype)}",
            help="convert first, with shardwright.astype(x, shardwright.float32) for instance",
        )


def listed(numbers: Any, dtype: DType | None, what: str) -> np.ndarray[Any, Any]:
    """
    The array of a nested list of numbers, which NumPy gives its type if there is none.

    Raises `ValueError` (SW0519) for lists of different lengths side by side, and for what else is no array of this
    type; (SW0506) for numbers that it does not hold.

    >>> listed([[1, 2], [3, 4]], None, "asarray").shape
    (2, 2)
    """
    try:
        return np.asarray(numbers, dtype)
    except ShardwrightError:
        raise
    except OverflowError as error:
        text = f"{what}: {str(error).removesuffix('.')}"
        raise value_error("SW0506", text, help="give a type that holds it") from None
    except (ValueError, TypeError) as error:
        unlike = _unlike(numbers)
        raise value_error(
            "SW0519",
            f"{what}: a nested list with {unlike} is no array" if unlike else f"{what}: {error}",
            help="give lists of one length, pad the shorter ones" if unlike else "give numbers of one type",
        ) from None


def _unlike(level: Sequence[Any]) -> str | None:
    """What stands side by side in a nested list, at the outermost place where that is not alike."""
    while level:
        lists = [item for item in level if isinstance(item, list | tuple)]
        if len(lists) < len(level):
            return "lists and numbers side by side" if lists else None
        lengths = sorted({len(item) for item in lists})
        if len(lengths) > 1:
            return f"lists of {lengths[0]} and {lengths[-1]} elements side by side"
        level = [each for item in lists for each in item]
    return None


def check_integer(value: int, dtype: DType) -> None:
    """ValueError (SW0506) when a Python integer does not fit `dtype`: one with fractions holds all up to `MOST`."""
    if kind_of(dtype) == "integer":
        limits = np.iinfo(dtype)
        fits = limits.min <= value <= limits.max
    else:
        fits = abs(value) <= MOST
    if not fits:
        shown = value if abs(value) <= MOST else f"an integer of {value.bit_length()} bits"
        raise value_error(
            "SW0506", f"{shown} does not fit {brief(dtype)}", help="convert the array to a wider type first"
        )


@cache
def _ml_dtype(name: str) -> DType:
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name))
