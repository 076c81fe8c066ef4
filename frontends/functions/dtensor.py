"""`DTensor` and `Tensor`: tensors as users see them, distributed and not, and the engine that makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from types import ModuleType
from typing import Any

import numpy as np

from shardwright.compiler.stages import Backend
from shardwright.compiler.tracing.array import Array, Namespace
from shardwright.compiler.tracing.dims import one_place
from shardwright.compiler.tracing.dtypes import brief
from shardwright.compiler.tracing.reference import held
from shardwright.compiler.tracing.trace import current_trace
from shardwright.diagnostics.faults import value_error
from shardwright.engines.dtensor_value import DTensorValue, scatter
from shardwright.engines.one_process import OneProcess
from shardwright.frontends.functions.namespace import ARRAY_FUNCTIONS
from shardwright.frontends.functions.recording import is_recording
from shardwright.layout import Layout
from shardwright.views.stages import StageViews
from shardwright.views.values import elements_text

LINE = 100
"""How long the last line of a tensor's text may be with its layout; where it is longer, that has its own line."""


class DTensor(DTensorValue, Array):
    """
    A tensor that is distributed over a mesh, seen as a whole: its shape is the global one.

    It is made by `pack`, `relayout`, creation functions with a layout, and traced functions. It works with operators,
    the functions of `shardwright`, NumPy (`numpy.asarray(x)`) and DLPack (`from_dlpack(x)`).

    >>> import shardwright, numpy
    >>> mesh = shardwright.Mesh(batch=2)
    >>> x = shardwright.relayout(numpy.arange(4.0), shardwright.Layout(["batch"], mesh))
    >>> x
    DTensor([0., 1., 2., 3.], f64[4@batch], Mesh(batch=2))
    >>> (x + 1).numpy()
    array([1., 2., 3., 4.])
    """

    __slots__ = ()

    @property
    def namespace(self) -> Namespace:
        return ARRAY_FUNCTIONS

    def __repr__(self) -> str:
        described = f"{self.layout.describe(self.shape, brief(self.dtype))}, {self.mesh!r})"
        elements = elements_text(self, "DTensor(")
        if elements is None:  # they are elsewhere, and stay there
            return f"DTensor({described}"
        last = len("DTensor(") + len(elements) - elements.rfind("\n") - 1
        between = ", " if last + len(", ") + len(described) <= LINE else ",\n        "
        return f"DTensor({elements}{between}{described}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>{self.layout.picture(self.shape, brief(self.dtype)).svg()}"

    def __getitem__(self, index: Any) -> Any:
        place = one_place(index, self.shape) if current_trace() is None and not is_recording() else None
        if place is None or self.mesh.num_clients > 1:
            return super().__getitem__(index)
        # One element is looked up: the program of each place would have to be compiled. (Of several processes not each
        # has it.)
        whole = Layout.replicated(self.mesh, rank=0)
        return distributed(np.asarray(self.numpy()[place]), whole)


def distributed(array: np.ndarray[Any, Any], layout: Layout) -> DTensor:
    """The distributed tensor of a global array; raises `ValueError` where the layout does not fit (SW0104, SW0106)."""
    return DTensor(scatter(array, layout), layout, array.shape)


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    """`x += y` and its kin: in the memory that belongs to `x` alone, else a new tensor."""
    there: Callable[[Any, Any], Any] = getattr(np.ndarray, f"__i{name}__")
    anew: Callable[[Any, Any], Any] = getattr(np.ndarray, f"__{name}__")

    def operator(self: Tensor, other: Any) -> Any:
        return there(self, other) if self.flags.writeable and not isinstance(other, Array) else anew(self, other)

    return operator


class Tensor(np.ndarray[Any, Any]):
    """
    A tensor that is not distributed: a NumPy array, and all that NumPy does with one, whose `layout` is None.

    Functions give it where no argument is distributed. It belongs to whoever gets it and may be written to; what a
    variable holds may not, and there `+=` makes a new one.

    >>> import shardwright, numpy
    >>> x = shardwright.sum(numpy.ones((2, 3)), axis=0)
    >>> x += 1
    >>> x, x.layout
    (array([3., 3., 3.]), None)
    """

    __slots__ = ()

    @property
    def namespace(self) -> Namespace:
        """The functions for `at`, as other arrays have them."""
        return ARRAY_FUNCTIONS

    @property
    def layout(self) -> None:
        """
        None: it is not distributed (RFC: `tf.Tensor.layout`).

        >>> import shardwright
        >>> shardwright.zeros(2).layout
        """
        return None

    mesh = Array.mesh
    at = Array.at

    def numpy(self) -> np.ndarray[Any, Any]:
        """
        The same memory as an array of NumPy's own type.

        >>> import shardwright
        >>> type(shardwright.zeros(2).numpy())
        <class 'numpy.ndarray'>
        """
        return self.view(np.ndarray)

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        return ARRAY_FUNCTIONS.module()

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    def __floordiv__(self, other: Any) -> Any:
        if self.dtype.kind != "f" or not (type(other) in (int, float) or getattr(other, "dtype", None) == self.dtype):
            return super().__floordiv__(other)
        return ARRAY_FUNCTIONS["floor_divide"](self, other)  # infinities as the standard has them; NumPy makes NaN

    def __ifloordiv__(self, other: Any) -> Any:
        found = self // other
        if not self.flags.writeable or isinstance(found, Array):
            return found
        np.copyto(self, found)
        return self

    __iadd__, __isub__, __imul__, __itruediv__ = map(_in_place, ("add", "sub", "mul", "truediv"))
    __imod__, __ipow__, __imatmul__ = map(_in_place, ("mod", "pow", "matmul"))
    __iand__, __ior__, __ixor__ = map(_in_place, ("and", "or", "xor"))
    __ilshift__, __irshift__ = map(_in_place, ("lshift", "rshift"))


def tensor_of(array: Any, layout: Layout | None, shape: Sequence[int] | None = None) -> Any:
    """
    The tensor that users see: a `DTensor` of a stacked array, or a `Tensor` of an array without a layout.

    The `shape` is that of the `DTensor` where its layout splits it unevenly.
    """
    return np.asarray(array).view(Tensor) if layout is None else DTensor(array, layout, shape)


def as_dtensor(x: Any, name: str, way_out: str) -> DTensor:
    """What a function of this name is given; raises `ValueError` (SW0502) for anything but a distributed tensor."""
    if current_trace() is None:
        x = held(x)
    if not isinstance(x, DTensor):
        message = f"{name} takes a distributed tensor, not a {type(x).__name__}"
        raise value_error("SW0502", message, help=way_out)
    return x


BACKEND: Backend = OneProcess(tensor_of, StageViews())
"""Runs programs in this process, on distributed tensors and on others."""
