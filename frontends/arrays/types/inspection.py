"""What the array API standard lets a program ask of a namespace: its devices, element types and abilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shardwright.compiler.tracing.dtypes import DEFAULT_COMPLEX, DEFAULT_FLOAT, DEFAULT_INTEGER, DType
from shardwright.diagnostics.faults import value_error
from shardwright.frontends.arrays.types.dtypes import isdtype

__all__ = ["__array_namespace_info__"]

Device = str | None

DEVICE = "cpu"
"""The one device of the standard's kind: this process. Which device of a mesh holds what is a layout."""

STANDARD = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
"""The element types of the standard; bfloat16 and float16 are in addition."""

CAPABILITIES: dict[str, Any] = {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": None}


def check_device(device: object) -> None:
    """
    ValueError (SW0517) for any device but this process; None stands for it.

    >>> check_device("cpu")
    """
    if device not in (None, DEVICE):
        raise value_error("SW0517", f"there is no device {device!r}", help="the one device is called cpu")


class NamespaceInfo:
    """
    The answers of `__array_namespace_info__`, as the standard names them.

    >>> NamespaceInfo().default_dtypes()["real floating"]
    dtype('float32')
    """

    def capabilities(self) -> dict[str, Any]:
        """What may be relied on: neither masks as indices nor shapes that depend on data."""
        return dict(CAPABILITIES)

    def default_device(self) -> str:
        """The device of arrays for which none is given."""
        return DEVICE

    def default_dtypes(self, *, device: Device = None) -> dict[str, DType]:
        """The element types of arrays for which none is given."""
        check_device(device)
        return {
            "real floating": DEFAULT_FLOAT,
            "complex floating": DEFAULT_COMPLEX,
            "integral": DEFAULT_INTEGER,
            "indexing": DEFAULT_INTEGER,
        }

    def devices(self) -> list[str]:
        """All devices."""
        return [DEVICE]

    def dtypes(self, *, device: Device = None, kind: str | Sequence[str] | None = None) -> dict[str, DType]:
        """The element types of a kind, or of several, by their names."""
        check_device(device)
        every = {name: np.dtype(name) for name in STANDARD}
        if kind is None:
            return every
        kinds = kind if isinstance(kind, str) else tuple(kind)
        return {name: dtype for name, dtype in every.items() if isdtype(dtype, kinds)}


def __array_namespace_info__() -> NamespaceInfo:
    """
    What a program can ask of this module.

    >>> __array_namespace_info__().default_device()
    'cpu'
    """
    return NamespaceInfo()
