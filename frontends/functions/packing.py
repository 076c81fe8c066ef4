"""`pack` and `unpack`: distributed tensors from every device's component, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from shardwright.compiler.control.sources import is_differentiable
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import default_dtype, scalar_kind
from shardwright.compiler.tracing.emit import as_numpy, check_layout
from shardwright.compiler.tracing.trace import current_trace
from shardwright.diagnostics.faults import type_error
from shardwright.engines.dtensor_value import filled_up, stack
from shardwright.frontends.functions.dtensor import DTensor, as_dtensor, is_ours
from shardwright.frontends.functions.recording import is_recording
from shardwright.layout import Layout

_DEFAULTS = {"i": "integer", "f": "float", "c": "complex"}


def pack(components: Sequence[ArrayLike | Sequence[Any]], layout: Layout) -> DTensor:
    """
    The distributed tensor made of every device's component, in row-major order of the mesh (RFC: `tf.dtensor.pack`).

    Of a layout that is uneven the last ones may be shorter, or empty, as `unpack` gives them. Raises `ValueError`
    (SW0512) for another number of components than devices, components of different shapes or types,
    and components that differ where the layout says that they are the same; `TypeError` (SW0520) for floats that a
    gradient tape follows.

    >>> import shardwright, numpy
    >>> mesh = shardwright.Mesh(x=2)
    >>> shardwright.pack([numpy.zeros((1, 3)), numpy.ones((1, 3))], shardwright.Layout(["x"], mesh))
    DTensor([[0., 0., 0.],
             [1., 1., 1.]], f64[2@x, 3], Mesh(x=2))
    """
    check_layout(layout, "pack")
    filled, shape = filled_up(components_of(components), layout)
    return DTensor(stack(filled, layout), layout, shape)


def unpack(dtensor: Array) -> list[np.ndarray[Any, Any]]:
    """
    Every device's component, in row-major order of the mesh (RFC: `tf.dtensor.unpack`).

    Raises `ValueError` (SW0502) for anything but a distributed tensor, and `TypeError` (SW0520) for one of floats while
    a gradient tape records, which would not know what becomes of the components.

    >>> import shardwright
    >>> mesh = shardwright.Mesh(x=2)
    >>> shardwright.unpack(shardwright.ones(4, layout=shardwright.Layout(["x"], mesh)))
    [array([1., 1.], dtype=float32), array([1., 1.], dtype=float32)]
    """
    way_out = "shardwright.relayout distributes an array; inside of a traced function there are no components"
    found = as_dtensor(dtensor, "unpack", way_out)
    _check_untaped("unpack", "of", found)
    return found.components()


def components_of(components: object) -> list[np.ndarray[Any, Any]]:
    """
    The arrays of a list of arrays, numbers, and nested lists of numbers.

    Raises `TypeError` for anything but a list of these (SW0507), and inside of traced functions (SW0503), where no
    device has a component yet.

    >>> [part.dtype.name for part in components_of([1.0, 2.0])]
    ['float32', 'float32']
    """
    if current_trace() is not None:
        raise type_error(
            "SW0503",
            "pack is not a part of traced functions: there are no components yet",
            help="call it before, and pass the result as an argument",
        )
    if isinstance(components, str | bytes | dict) or not isinstance(components, Iterable):
        raise type_error(
            "SW0507", f"pack takes a list of components, not {type(components).__name__}", help="one for each device"
        )
    given = list(components)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    _check_untaped("pack", "with", *filter(is_ours, given))  # pyright: ignore[reportUnknownArgumentType]
    return [_array(component) for component in given]  # pyright: ignore[reportUnknownVariableType]


def _check_untaped(what: str, how: str, *arrays: Array) -> None:
    """TypeError (SW0520) where a tape records: components are arrays of NumPy's, which it does not follow."""
    if is_recording() and any(is_differentiable(array.dtype) for array in arrays):
        raise type_error(
            "SW0520",
            f"a tape cannot follow what {what} does {how} a tensor: components are NumPy's",
            help=f"relayout a tensor, or {what} after the tape's block or in its stop_recording()",
        )


def _array(component: Any) -> np.ndarray[Any, Any]:
    kind = scalar_kind(component)
    if kind is not None:
        return np.asarray(component, default_dtype(kind))
    if isinstance(component, list | tuple):
        try:
            array = as_numpy(np.asarray(component), "pack")
        except ValueError as error:
            raise type_error(
                "SW0507", f"pack: {component!r} is no array: {error}", help="give each component one shape"
            ) from None
        # Lists of numbers have the types of numbers.
        return array if array.dtype.kind not in _DEFAULTS else array.astype(default_dtype(_DEFAULTS[array.dtype.kind]))
    return as_numpy(component, "pack")
