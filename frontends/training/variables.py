"""`Variable`: an array that programs read and change."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np

from shardwright.compiler.control.regions import told_apart
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike, Namespace, Positions
from shardwright.compiler.tracing.dtypes import (
    DType,
    DTypeLike,
    as_dtype,
    brief,
    common_dtype,
    default_dtype,
    kind_of,
    listed,
    scalar_kind,
)
from shardwright.compiler.tracing.emit import as_numpy, check_layout
from shardwright.compiler.tracing.interface import positional_names
from shardwright.compiler.tracing.reference import Reference, held
from shardwright.compiler.tracing.settings import settled, shape_argument
from shardwright.compiler.tracing.trace import Tracer, current_trace, setting
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.engines.dtensor_value import Scalars
from shardwright.frontends.arrays.indexing.picking import rows_at, rows_placed
from shardwright.frontends.functions.dispatch import array_function
from shardwright.frontends.functions.dtensor import DTensor, fixed, stacked
from shardwright.frontends.functions.namespace import ARRAY_FUNCTIONS
from shardwright.frontends.functions.recording import note_read, tells_versions_apart
from shardwright.frontends.functions.relayouts import relayout
from shardwright.frontends.training.scopes import scoped_layout
from shardwright.layout import Layout

_scopes: ContextVar[tuple[str, ...]] = ContextVar("shardwright_name_scopes", default=())


@settled
@contextmanager
def name_scope(name: str) -> Generator[str]:
    """
    Variables that are made in this context have names that begin with `name` (RFC: `tf.name_scope`).

    >>> import shardwright
    >>> with shardwright.name_scope("layer"):
    ...     shardwright.Variable(0.0, name="bias").name
    'layer/bias'
    """
    with setting(_scopes, (*_scopes.get(), name)) as scopes:
        yield "/".join(scopes)


@contextmanager
def device(name: str | None) -> Generator[None]:
    """
    Accepted and ignored (RFC: "SPMD expansion ignores the `tf.device` annotations"): layouts say what is where.

    `relayout` to a mesh of one device does what such an annotation means.

    >>> import numpy, shardwright
    >>> @shardwright.function
    ... def double(x):
    ...     with shardwright.device("CPU:0"):
    ...         return x * 2
    >>> double(numpy.arange(2))
    array([0, 2])
    """
    if name is not None and not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  (untyped callers)
        raise type_error("SW0517", f"a device is called by a name, not {name!r}", help="for instance CPU:0")
    yield


def _in_place(operator: str, instead: str = "assign(variable {} value)") -> Callable[..., NoReturn]:
    """An operator that refuses (SW0589): the name would stand for a tensor, and the variable stay as it is."""
    plain = operator[:-1]

    def refuse(self: Variable, value: object) -> NoReturn:
        raise type_error(
            "SW0589",
            f"{operator} does not change {self.name}, a Variable: it would give its name to a new tensor",
            help=f"variable.{instead.format(plain)} changes it; tensor = variable {plain} value makes a tensor",
        )

    return refuse


class Variable(Reference, Scalars):
    """
    An array that programs read and change (RFC: `tf.Variable`).

    `initial_value` is an array, a number, a nested list, or a function that is called with `shape` and `dtype`, and
    with `layout` if it has such a parameter. With `layout` the variable is distributed; without it the layout is that
    of the initial value, if that is distributed. A variable works with operators and array functions like an array.

    A traced function takes the variables that it uses by identity: what they hold when it is called is read, and what
    it assigns to them is kept after the call, in their own layout. Another value never traces the function again.

    Raises `ValueError` (SW0530) when shape or layout are not the initial value's, and `TypeError` (SW0531) inside of
    traced functions, where nothing can be made that outlives the program.

    >>> import shardwright
    >>> mesh = shardwright.Mesh(x=2)
    >>> layout = shardwright.Layout(["x"], mesh)
    >>> total = shardwright.Variable(shardwright.zeros, shape=(4,), layout=layout, name="total")
    >>> @shardwright.function
    ... def add(amount):
    ...     total.assign_add(amount)
    ...     return shardwright.sum(total)
    >>> float(add(1.0)), float(add(0.5))
    (4.0, 6.0)
    >>> total
    Variable('total', f32[4@x], Mesh(x=2))
    """

    __slots__ = ("__weakref__", "_held", "_layout", "_path", "name", "trainable")

    @settled
    def __init__(
        self,
        initial_value: Any,
        shape: int | Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        layout: Layout | None = None,
        name: str | None = None,
        trainable: bool = True,
    ) -> None:
        if current_trace() is not None:
            raise type_error(
                "SW0531",
                "a Variable cannot be made in a traced function: the function runs once, the variable would stay",
                help="make it before the first call, for instance in the module's __init__",
            )
        if layout is not None:
            check_layout(layout, "Variable")
        self.name = "/".join((*_scopes.get(), name or "Variable"))
        self._path: str | None = None
        self.trainable = trainable
        sizes = None if shape is None else shape_argument(shape, "Variable")
        scoped = scoped_layout(self) if layout is None else None
        value = _initial(initial_value, sizes, None if dtype is None else as_dtype(dtype), layout or scoped)
        if sizes is not None and sizes != value.shape:
            raise self._unfit(f"the shape {list(sizes)}", f"an initial value of shape {list(value.shape)}")
        self._shape: tuple[int, ...] = value.shape
        self._dtype: DType = value.dtype
        self._held: Any = None
        self.keep(self._laid_out(value, layout, scoped))

    def _laid_out(self, value: Any, layout: Layout | None, scoped: Layout | None) -> Any:
        """The initial value in the variable's layout: the one asked for, else the value's own, else the scope's."""
        given: Layout | None = value.layout if isinstance(value, Array) else None
        layout = scoped if layout is None and given is None else layout
        self._layout = given if layout is None else layout.for_rank(len(self._shape)).close()
        if given is not None and given != self._layout:
            raise self._unfit(f"the layout {self._layout}", f"an initial value laid out as {given}")
        return value if given is not None or layout is None else relayout(value, layout)

    def __repr__(self) -> str:
        if self._layout is None:
            return f"Variable({self.name!r}, {brief(self.dtype)}{list(self.shape)})"
        return f"Variable({self.name!r}, {self._layout.describe(self.shape, brief(self.dtype))}, {self._layout.mesh!r})"

    @property
    def namespace(self) -> Namespace:
        return ARRAY_FUNCTIONS

    @property
    def layout(self) -> Layout | Any:
        """
        The layout of every tensor that the variable holds; None for plain arrays.

        >>> import shardwright
        >>> rows = shardwright.Layout(["x"], shardwright.Mesh(x=2))
        >>> shardwright.Variable(shardwright.zeros, shape=(4,), layout=rows).layout
        Layout(['x'], Mesh(x=2))
        """
        return self._layout

    @property
    def held(self) -> Any:
        return self._held

    def keep(self, value: Any) -> None:
        # An object of its own: tapes know what variables held by what holds it.
        self._held = fixed(value) if self._layout is None else DTensor(value.held, value.layout, value.shape)

    @property
    def value(self) -> Array:
        """
        The tensor that it holds: a `DTensor`, or a `Tensor` that cannot be written to, in traced functions a traced
        value.

        >>> import shardwright
        >>> total = shardwright.Variable([1.0, 2.0], name="total")
        >>> total.value
        array([1., 2.], dtype=float32)
        """
        if current_trace() is not None:
            return self.traced()
        note_read(self)
        return self._held

    def read_value(self) -> Array:
        """
        The same as `value` (RFC: `tf.Variable.read_value`).

        >>> import shardwright
        >>> total = shardwright.Variable([1.0, 2.0], name="total")
        >>> total.read_value()
        array([1., 2.], dtype=float32)
        """
        return self.value

    read = read_value  # the RFC uses both names

    def traced(self) -> Tracer:
        """
        What the variable holds at this point of the program that is being traced.

        A gradient tape adds up the gradients with respect to all that the variable held while it recorded, and follows
        none of them to what it was assigned of; outside of traced functions, too.

        >>> import shardwright, numpy
        >>> total = shardwright.Variable([1.0, 2.0], name="total")
        >>> shardwright.function(lambda: total.traced() + 1)()
        array([2., 3.], dtype=float32)
        """
        return emit.as_tracer(self)

    @property
    def path(self) -> str | None:
        """
        Where the module that was last asked for its variables reaches it; patterns of layouts meet it.

        >>> import shardwright
        >>> class Layer(shardwright.Module):
        ...     def __init__(self):
        ...         self.w = shardwright.Variable(0.0)
        >>> class Model(shardwright.Module):
        ...     def __init__(self):
        ...         self.layers = [Layer(), Layer()]
        >>> [variable.path for variable in Model().variables]
        ['layers/0/w', 'layers/1/w']
        """
        return self._path

    def reached_by(self, path: str) -> None:
        """
        Lets a module say on which path it reaches the variable.

        >>> import shardwright
        >>> total = shardwright.Variable(0.0)
        >>> total.reached_by("counters/total")
        >>> total.path
        'counters/total'
        """
        self._path = path

    def set_layout(self, layout: Layout | None) -> None:
        """
        Moves the variable to another layout, also on another mesh; functions that use it are traced again for it.

        With `None`, which is what a `LayoutMap` has for names that meet no pattern, it stays.

        >>> import shardwright
        >>> total = shardwright.Variable([1.0, 2.0], name="total")
        >>> total.set_layout(shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> total
        Variable('total', f32[2@x], Mesh(x=2))
        """
        if layout is None:
            return
        check_layout(layout, "set_layout")
        self._held = relayout(self._held, layout)
        self._layout = self._held.layout

    def assign(self, value: ArrayLike | Sequence[Any], *, relayout: bool = False) -> Array:
        """
        Lets the variable hold another value, of its shape and type; the new value.

        Outside of traced functions an array without a layout is distributed. Raises `ValueError` (SW0530) for another
        shape and, unless `relayout` says to bring it here, for a tensor in another layout; `TypeError` (SW0506) for
        another type.

        >>> import shardwright
        >>> total = shardwright.Variable([1.0, 2.0], name="total")
        >>> total.assign([3.0, 4.0])
        array([3., 4.], dtype=float32)
        """
        given = self._given(held(value) if current_trace() is None else value, relayout)
        return self._put(np.array(given) if isinstance(given, np.ndarray) else given)

    def _put(self, given: Any) -> Array:
        """Holds a value of its type, which nobody else changes, in the layout of the variable."""
        if given.shape != self._shape:
            raise self._unfit(f"the shape {list(self._shape)}", f"a value of shape {list(given.shape)}")
        trace = current_trace()
        if trace is not None:
            value = emit.as_tracer(given)
            trace.assign(self, told_apart(self, value) if tells_versions_apart() else value)
        elif self._layout is None or getattr(given, "layout", None) == self._layout:
            self.keep(given)
        else:
            self.keep(relayout(given, self._layout))
        return self.value

    def assign_add(self, delta: ArrayLike | Sequence[Any], *, relayout: bool = True) -> Array:
        """
        Adds to what the variable holds; the new value, in the variable's layout.

        Like any addition it takes a tensor in another layout; `relayout=False` refuses that, as `assign` does (SW0530).

        >>> import shardwright
        >>> shardwright.Variable([1.0, 2.0]).assign_add(1.0)
        array([2., 3.], dtype=float32)
        """
        return self._put(_moved(self, self._given(delta, relayout), "assign_add", self._settled))

    def assign_sub(self, delta: ArrayLike | Sequence[Any], *, relayout: bool = True) -> Array:
        """
        Subtracts from what the variable holds, as `assign_add` adds.

        >>> import shardwright
        >>> total = shardwright.Variable([1.0, 2.0], name="total")
        >>> total.assign_sub(1.0)
        array([0., 1.], dtype=float32)
        """
        return self._put(_moved(self, self._given(delta, relayout), "assign_sub", self._settled))

    def gather(self, indices: Positions) -> Array:
        """
        The rows at `indices`, whole numbers of any shape; an index outside of the variable is clamped.

        >>> import numpy, shardwright
        >>> shardwright.Variable([[1.0, 2.0], [3.0, 4.0]]).gather(numpy.array([1, 1, 0]))
        array([[3., 4.],
               [3., 4.],
               [1., 2.]], dtype=float32)
        """
        return _gathered(self, indices)

    def scatter_update(self, indices: Positions, updates: ArrayLike | Sequence[Any]) -> Array:
        """
        Replaces the rows at `indices`; an index outside of the variable is left out.

        `updates` has the shape of `indices` followed by that of a row, or broadcasts to it. Where an index occurs
        twice, one of its rows wins.

        >>> import shardwright, numpy
        >>> total = shardwright.Variable([1.0, 2.0], name="total")
        >>> total.scatter_update(numpy.array([1]), 5.0)
        array([1., 5.], dtype=float32)
        """
        return self._put(_scattered(self, indices, self._typed(updates), False, self._settled))

    def scatter_add(self, indices: Positions, updates: ArrayLike | Sequence[Any]) -> Array:
        """
        Adds to the rows at `indices`, which may repeat; an index outside of the variable is left out.

        >>> import numpy, shardwright
        >>> counts = shardwright.Variable([0, 0, 0])
        >>> counts.scatter_add(numpy.array([0, 2, 0]), 1)
        array([2, 0, 1], dtype=int32)
        """
        return self._put(_scattered(self, indices, self._typed(updates), True, self._settled))

    def scatter_sub(self, indices: Positions, updates: ArrayLike | Sequence[Any]) -> Array:
        """
        Subtracts from the rows at `indices`, which may repeat.

        >>> import shardwright, numpy
        >>> total = shardwright.Variable([1.0, 2.0], name="total")
        >>> total.scatter_sub(numpy.array([1]), 5.0)
        array([ 1., -3.], dtype=float32)
        """
        return self.scatter_add(indices, ARRAY_FUNCTIONS["negative"](self._typed(updates)))

    __iadd__, __isub__ = _in_place("+=", "assign_add(value)"), _in_place("-=", "assign_sub(value)")
    __imul__, __itruediv__, __ifloordiv__ = _in_place("*="), _in_place("/="), _in_place("//=")
    __imod__, __ipow__, __imatmul__ = _in_place("%="), _in_place("**="), _in_place("@=")
    __iand__, __ior__, __ixor__ = _in_place("&="), _in_place("|="), _in_place("^=")
    __ilshift__, __irshift__ = _in_place("<<="), _in_place(">>=")

    @property
    def _settled(self) -> Layout | None:
        """The layout that a new value must have at once; in a traced function there is time until its end."""
        return self._layout if current_trace() is None else None

    def _given(self, value: Any, relayout: bool) -> Any:
        """The value as an array of the variable's type, and of its layout if it has one and is not to be relaid."""
        given = self._typed(value)
        layout = given.layout if isinstance(given, Array) else None
        if layout is not None and layout != self._layout and not relayout:
            mine = "no layout" if self._layout is None else f"the layout {self._layout}"
            raise self._unfit(mine, f"a tensor laid out as {layout}")
        return given

    def _typed(self, value: Any) -> Any:
        """The value as an array of the variable's type; numbers and lists take it, arrays must have it."""
        value = stacked(value)
        if isinstance(value, Array) and emit.weak_kind(value) is None:
            array = value
        elif isinstance(value, Tracer):
            array = emit.fit(value, emit.result_dtype("assign", self, value), value.shape)
        elif scalar_kind(value) is not None or isinstance(value, list | tuple):
            array = _fitting(value, self._dtype)
        else:
            array = as_numpy(value, "assign")
        if array.dtype == self._dtype:
            return array
        raise type_error(
            "SW0506",
            f"{self.name} is {brief(self._dtype)} and cannot hold {brief(array.dtype)}",
            help=f'convert the value: shardwright.astype(value, "{self._dtype.name}")',
        )

    def _unfit(self, mine: str, given: str) -> Exception:
        return value_error(
            "SW0530",
            f"{self.name} has {mine}, but was given {given}",
            help="shardwright.relayout changes a layout (x.layout, shardwright.Layout), shardwright.reshape a shape",
        )

    def numpy(self) -> np.ndarray[Any, Any]:
        """
        The global array; not in traced functions.

        >>> import shardwright
        >>> total = shardwright.Variable([1.0, 2.0], name="total")
        >>> total.numpy()
        array([1., 2.], dtype=float32)
        """
        return self.__array__()

    def _seen(self) -> Any:
        return self.value  # a traced value refuses, and says why

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._seen(), dtype=dtype, copy=copy)

    def __jax_array__(self) -> Any:
        """What JAX's functions take: a distributed value refuses, as it does by itself."""
        seen = self._seen()
        return seen.__jax_array__() if hasattr(seen, "__jax_array__") else np.array(seen)

    def __dlpack__(self, **options: Any) -> Any:
        seen = self._seen()
        return (np.array(seen) if isinstance(seen, np.ndarray) else seen).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._held.__dlpack_device__()


def _initial(given: Any, shape: tuple[int, ...] | None, dtype: DType | None, layout: Layout | None) -> Any:
    """The initial value as an array of its final type: a distributed tensor, or a NumPy array of its own."""
    value = stacked(held(_called(given, shape, dtype, layout) if callable(given) else given))
    if isinstance(value, Array):
        return value if dtype is None or dtype == value.dtype else ARRAY_FUNCTIONS["astype"](value, dtype)
    return _converted(value, dtype)


def _called(
    function: Callable[..., Any], shape: tuple[int, ...] | None, dtype: DType | None, layout: Layout | None
) -> Any:
    """What an initial value's function gives: its parameters are found by name, else by place."""
    if shape is None and dtype is None:
        return function()
    given = {"shape": shape, "dtype": dtype, "layout": layout}
    known = {name: value for name, value in given.items() if value is not None}
    placed = [value for name, value in known.items() if name != "layout"]
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return function(*placed)
    if "shape" in parameters or "dtype" in parameters:
        return function(**{name: value for name, value in known.items() if name in parameters})
    return function(*placed[: len(positional_names(parameters.values()))])


def _converted(value: Any, dtype: DType | None, what: str = "Variable") -> np.ndarray[Any, Any]:
    """A NumPy array of its own; numbers and lists get the default types."""
    if scalar_kind(value) is None and not isinstance(value, list | tuple):
        array = as_numpy(value, "Variable")
        return np.array(array, dtype or array.dtype)
    plain = listed(value, None, what)
    kinds = {"i": "integer", "u": "integer", "f": "float", "c": "complex"}
    kind = kinds.get(plain.dtype.kind)
    target = dtype or (plain.dtype if kind is None else default_dtype(kind))
    return plain.astype(as_dtype(target)) if dtype is None else listed(value, target, what)


def _fitting(value: Any, dtype: DType) -> np.ndarray[Any, Any]:
    """Numbers as an array of this type, or of another one if they do not fit."""
    plain = _converted(value, None, "assign")
    try:
        return np.array(value, dtype) if common_dtype([dtype], [kind_of(plain.dtype)], "assign") == dtype else plain
    except OverflowError as error:
        raise type_error("SW0506", f"{value!r} does not fit {brief(dtype)}: {error}") from error


def _kept(value: Tracer, layout: Layout | None) -> Tracer:
    """The new value of a variable: outside of traced functions it comes in the variable's layout at once."""
    return value if layout is None else emit.relayout(value, layout, "a variable keeps its layout")


@array_function
def _moved(variable: ArrayLike, delta: ArrayLike, what: str, layout: Layout | None) -> Array:
    operation = stablehlo.AddOp if what == "assign_add" else stablehlo.SubtractOp
    return _kept(emit.binary(operation, *emit.operands(what, variable, delta)), layout)


@array_function
def _gathered(variable: ArrayLike, indices: Positions) -> Array:
    return rows_at(variable, indices)


@array_function
def _scattered(variable: Array, indices: Positions, updates: ArrayLike, adds: bool, layout: Layout | None) -> Array:
    sum_of_rows = stablehlo.OrOp if kind_of(variable.dtype) == "boolean" else stablehlo.AddOp
    return _kept(rows_placed(sum_of_rows if adds else None, variable, indices, updates), layout)
