"""`DTensor` and `Tensor`: tensors as users see them, distributed and not, and the engine that makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from html import escape
from types import ModuleType
from typing import Any, NoReturn, cast

import numpy as np

from shardwright.compiler.control.sources import is_differentiable
from shardwright.compiler.stages import Backend
from shardwright.compiler.tracing.array import Array, Namespace, function_for, ufunc_name
from shardwright.compiler.tracing.dtypes import brief
from shardwright.compiler.tracing.reference import held
from shardwright.compiler.tracing.settings import one_place
from shardwright.compiler.tracing.trace import current_trace
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.engines.dtensor_value import DTensorValue, read_only, scatter
from shardwright.engines.one_process import OneProcess
from shardwright.frontends.functions.namespace import ARRAY_FUNCTIONS
from shardwright.frontends.functions.recording import check_unseen, is_recording
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

    def __jax_array__(self) -> _Unseen:
        return _Unseen(self)

    def __getitem__(self, index: Any) -> Any:
        place = one_place(index, self.shape) if current_trace() is None and not is_recording() else None
        if place is None or self.mesh.num_clients > 1:
            return super().__getitem__(index)
        # One element is looked up: the program of each place would have to be compiled. (Of several processes not each
        # has it.)
        whole = Layout.replicated(self.mesh, rank=0)
        return distributed(np.asarray(self.numpy()[place]), whole)


class _Unseen:
    """
    What JAX has of a distributed tensor: nothing that it computes with, and no elements, which it would take whole.

    So operators with a `jax.Array` on the left come to the tensor, and `jax.numpy.asarray` is refused.
    """

    __slots__ = ("_tensor",)

    def __init__(self, tensor: DTensor) -> None:
        self._tensor = tensor

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        refuse_to_gather(self._tensor)


def refuse_to_gather(tensor: DTensor) -> NoReturn:
    """Raises SW0579 for a tensor that JAX is given."""
    raise type_error(
        "SW0579",
        f"JAX would gather a distributed tensor: {tensor.layout.describe(tensor.shape, brief(tensor.dtype))}",
        help="compute with operators and shardwright's functions, as jax.tree.map(lambda p, u: p + u, params, "
        "updates) does, or gather it yourself: numpy.asarray(x)",
    )


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


def _seen(name: str) -> Callable[..., Any]:
    """A method of NumPy's arrays: while a tape records, NumPy's function of this name."""
    own: Callable[..., Any] = getattr(Tensor, name)
    function: Callable[..., Any] = getattr(np, {"flatten": "ravel"}.get(name, name))
    takes_dims = name in ("reshape", "transpose")

    def method(self: TapedTensor, *args: Any, **options: Any) -> Any:
        if not is_recording():
            return own(self, *args, **options)
        whole = takes_dims and args and isinstance(args[0], int | np.integer)
        return function(self, *((args,) if whole else args), **options)

    return wraps(own)(method)


class TapedTensor(Tensor):
    """
    A `Tensor` that a gradient tape can follow: floats that were made while one recorded, or what a variable holds.

    While a tape records, operators, methods and NumPy's functions are the array functions, as they always are for other
    arrays. What NumPy alone can do is done where nothing with a gradient comes of it, else refused (SW0520).
    """

    __slots__ = ()

    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]  (it never changes, as arrays of NumPy do)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        function = function_for(ufunc, method, options, ARRAY_FUNCTIONS) if is_recording() else None
        if function is not None:
            return function(*inputs)
        name = ufunc_name(ufunc) + f".{method}" * (method != "__call__")
        out: tuple[Any, ...] = options.get("out", ())
        check_unseen(name, out)
        found = getattr(ufunc, method)(*map(_untaped, inputs), **{key: _untaped(options[key]) for key in options})
        check_unseen(name, found)
        return found

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if is_recording():
            return ARRAY_FUNCTIONS.numpy(function, args, kwargs)
        return super().__array_function__(function, types, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        return Array.__getitem__(cast("Array", self), index) if is_recording() else super().__getitem__(index)

    def __iter__(self) -> Any:
        return Array.__iter__(cast("Array", self)) if is_recording() else super().__iter__()

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """
        The elements in another type.

        >>> import shardwright
        >>> shardwright.Variable([1.0, 2.5]).value.astype("int32")
        array([1, 2], dtype=int32)
        """
        if is_recording() and not args and options.keys() <= {"copy"}:
            return ARRAY_FUNCTIONS["astype"](self, np.dtype(dtype))
        found = super().astype(dtype, *args, **options)
        check_unseen("numpy.ndarray.astype", found)
        return found

    def copy(self, *args: Any, **options: Any) -> Any:
        """
        The same elements.

        >>> import shardwright
        >>> shardwright.Variable([1.0, 2.5]).value.copy()
        array([1. , 2.5], dtype=float32)
        """
        return self if is_recording() else super().copy(*args, **options)

    def compress(self, condition: Any, *args: Any, **options: Any) -> Any:
        """
        The elements for which a condition holds.

        >>> import shardwright
        >>> shardwright.Variable([1.0, 2.5]).value.compress([False, True])
        array([2.5], dtype=float32)
        """
        if is_recording():
            return np.compress(condition, self, *args, **options)
        return super().compress(condition, *args, **options)

    def byteswap(self, *args: Any, **options: Any) -> Any:
        """
        The elements with their bytes in the opposite order.

        >>> import shardwright
        >>> shardwright.Variable([1, 2]).value.byteswap().tolist()
        [16777216, 33554432]
        """
        check_unseen("numpy.ndarray.byteswap", self)
        return super().byteswap(*args, **options)

    @property
    def flat(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  (it cannot be set)
        """
        The elements in a row, one by one.

        >>> import shardwright
        >>> list(map(float, shardwright.Variable([[1.0], [2.5]]).value.flat))
        [1.0, 2.5]
        """
        check_unseen("numpy.ndarray.flat", self)
        return super().flat

    @property
    def T(self) -> Any:
        """
        The dims in the opposite order.

        >>> import shardwright
        >>> shardwright.Variable([[1.0, 2.5]]).value.T.shape
        (2, 1)
        """
        return self.transpose()

    @property
    def mT(self) -> Any:
        """
        The last two dims swapped.

        >>> import shardwright
        >>> shardwright.Variable([[1.0, 2.5]]).value.mT.shape
        (2, 1)
        """
        return self.swapaxes(-2, -1)

    @property
    def real(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  (it cannot be set)
        """
        The real parts.

        >>> import shardwright
        >>> shardwright.Variable([1.0, 2.5]).value.real
        array([1. , 2.5], dtype=float32)
        """
        return np.real(self) if is_recording() else super().real

    @property
    def imag(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  (it cannot be set)
        """
        The imaginary parts.

        >>> import shardwright
        >>> shardwright.Variable([1.0, 2.5]).value.imag
        array([0., 0.], dtype=float32)
        """
        return np.imag(self) if is_recording() else super().imag

    all, any, argmax, argmin, argsort, argpartition = map(
        _seen, ("all", "any", "argmax", "argmin", "argsort", "argpartition")
    )
    choose, clip, conj, conjugate, cumprod, cumsum = map(
        _seen, ("choose", "clip", "conj", "conjugate", "cumprod", "cumsum")
    )
    diagonal, dot, flatten, max, mean, min, nonzero = map(
        _seen, ("diagonal", "dot", "flatten", "max", "mean", "min", "nonzero")
    )
    prod, ravel, repeat, reshape, round, searchsorted = map(
        _seen, ("prod", "ravel", "repeat", "reshape", "round", "searchsorted")
    )
    squeeze, std, sum, swapaxes, take, trace, transpose, var = map(
        _seen, ("squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var")
    )


Array.register(TapedTensor)


def is_ours(x: Any) -> bool:
    """Whether only the array functions may take an array: it is distributed or traced, or a tape follows it now."""
    return isinstance(x, Array) and (is_recording() or not isinstance(x, np.ndarray))


def stacked(x: Any) -> Any:
    """A list with arrays in it that only the array functions may take: the stack of its parts; others as they are."""
    if not isinstance(x, list | tuple):
        return x
    parts = [stacked(part) for part in cast("Sequence[Any]", x)]
    if not any(map(is_ours, parts)):
        return x
    return ARRAY_FUNCTIONS["stack"]([np.asarray(part) if isinstance(part, list | tuple) else part for part in parts])


def fixed(array: Any) -> TapedTensor:
    """The same elements as a tensor that never changes: what a variable holds, and what programs take along."""
    return read_only(np.asarray(array)).view(TapedTensor)


def _untaped(value: Any) -> Any:
    """What NumPy takes as its own, also in the tuple of `out`."""
    if isinstance(value, tuple):
        return tuple([_untaped(item) for item in cast("tuple[Any, ...]", value)])
    return value.view(Tensor) if isinstance(value, TapedTensor) else value


def tensor_of(array: Any, layout: Layout | None, shape: Sequence[int] | None = None) -> Any:
    """
    The tensor that users see: a `DTensor` of a stacked array, or a `Tensor` of an array without a layout.

    The `shape` is that of the `DTensor` where its layout splits it unevenly.
    """
    if layout is not None:
        return DTensor(array, layout, shape)
    found = np.asarray(array)
    return found.view(TapedTensor if is_recording() and is_differentiable(found.dtype) else Tensor)


def as_dtensor(x: Any, name: str, way_out: str) -> DTensor:
    """What a function of this name is given; raises `ValueError` (SW0502) for anything but a distributed tensor."""
    if current_trace() is None:
        x = held(x)
    if not isinstance(x, DTensor):
        message = f"{name} takes a distributed tensor, not a {type(_untaped(x)).__name__}"
        raise value_error("SW0502", message, help=way_out)
    return x


BACKEND: Backend = OneProcess(tensor_of, StageViews())
"""Runs programs in this process, on distributed tensors and on others."""
