"""`Function`: a Python function that is traced, partitioned and compiled for each kind of arguments."""

from __future__ import annotations

import inspect
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial, update_wrapper
from threading import RLock
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, cast, overload

import numpy as np

from shardwright.compiler.layouts.decided import Layouts, layouts_of
from shardwright.compiler.stages import Compiled, Traced
from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.emit import is_key_of_jax, is_traced_by_jax
from shardwright.compiler.tracing.interface import is_argument, positional_names, trace_function
from shardwright.compiler.tracing.pytree import Static, Tree, flatten
from shardwright.compiler.tracing.settings import settled
from shardwright.compiler.tracing.trace import current_trace
from shardwright.diagnostics.faults import no_pickle, type_error
from shardwright.frontends.functions.dtensor import BACKEND
from shardwright.frontends.functions.namespace import ARRAY_FUNCTIONS
from shardwright.frontends.functions.recording import holding, record
from shardwright.frontends.functions.signature import Signature, TensorSpec, bound, checked, undecided
from shardwright.views.limits import ACTIVE, Limits

P = ParamSpec("P")
R = TypeVar("R")
Rest = ParamSpec("Rest")
Owner = TypeVar("Owner")

CACHE_SIZE = 1024
"""How many compiled programs one function keeps; the oldest go first."""


class Function(Generic[P, R]):
    """
    A Python function on global arrays, run as one program on the devices of its arguments' mesh.

    A call traces the function, decides layouts, and compiles; calls with arguments of the same shapes, types, layouts
    and static values then reuse the program. Inside of another traced function the call is traced along.
    """

    def __init__(
        self,
        function: Callable[P, R],
        static: str | Sequence[str] = (),
        signature: Signature | None = None,
    ) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        self._function = function
        self._static_names = frozenset([static] if isinstance(static, str) else static)
        self._static_places = _places(function, self._static_names)
        self._signature = None if signature is None else checked(signature)
        self._cache: OrderedDict[Hashable, Compiled] = OrderedDict()
        self._lock = RLock()
        self._limits: tuple[Limits, ...] = ()
        update_wrapper(self, function, updated=())  # not what another Function is made of

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self  # as Python's own functions

    def __reduce__(self) -> Any:
        # By name: either its module has it, or the Python function of which it is made, or it is a program without one.
        if _named(self) is self:
            return getattr(self, "__qualname__")  # noqa: B009  (`update_wrapper` gave it)
        if _named(self._function) is self._function and not self._limits:
            return type(self), (self._function, tuple(self._static_names), self._signature)
        no_pickle(f"the function {self.name}")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if current_trace() is not None:
            return self._traced_along(args, kwargs)
        compiled, leaves = self.prepared(args, kwargs)
        held = holding(compiled.interface.captured)
        value = compiled.run(leaves)
        record(self, args, kwargs, value, held)
        return cast(R, value)

    def _traced_along(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> R:
        if self._signature is not None:
            args, kwargs = bound(self._function, self._signature, args, kwargs), {}
        return self._function(*args, **kwargs)

    def prepared(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Compiled, list[Any]]:
        """
        The program that a call with these arguments runs, and the arrays in them that it takes.

        >>> import shardwright, numpy
        >>> double = shardwright.function(lambda x: x * 2)
        >>> program, taken = double.prepared((numpy.arange(2),), {})
        >>> program.run(taken)
        array([0, 2])
        """
        leaves, tree = self._flatten(args, kwargs)
        return self._compiled(leaves, tree), leaves

    @property
    def python_function(self) -> Callable[P, R]:
        """
        The Python function that is traced.

        >>> import shardwright, numpy
        >>> double = shardwright.function(lambda x: x * 2)
        >>> double.python_function(3)
        6
        """
        return self._function

    @property
    def static_names(self) -> frozenset[str]:
        """
        The names of the arguments that are constants of the program.

        >>> import shardwright
        >>> power = shardwright.function(lambda x, n: x**n, static=["n"])
        >>> power.static_names
        frozenset({'n'})
        """
        return self._static_names

    @property
    def input_signature(self) -> Signature | None:
        """
        What every call's arguments have to be, if that was said.

        >>> import shardwright
        >>> typed = shardwright.function(abs, input_signature=[shardwright.TensorSpec((2,), "float32")])
        >>> len(typed.input_signature)
        1
        """
        return self._signature

    @property
    def specialisations(self) -> list[Compiled]:
        """
        The programs for all kinds of arguments so far, oldest first, without those of variables since moved.

        >>> import shardwright, numpy
        >>> double = shardwright.function(lambda x: x * 2)
        >>> _ = double(numpy.ones(2)), double(numpy.ones(3))
        >>> len(double.specialisations)
        2
        """
        return [compiled for compiled in list(self._cache.values()) if compiled.interface.is_current]

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: Function[Concatenate[Owner, Rest], R], instance: Owner, owner: type | None = None
    ) -> Callable[Rest, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """
        The program for these arguments, before any decision.

        Specs (`TensorSpec`) can stand for arrays; a function with an input signature needs no arguments at all.

        >>> import shardwright, numpy
        >>> shardwright.function(lambda x: x * 2).trace(numpy.ones(2)).interface.parameters[0].name
        'x'
        """
        if self._signature is not None and not args and not kwargs:
            args = tuple(self._signature)
        leaves, tree = self._flatten(args, kwargs)
        open_ended = next((leaf for leaf in leaves if isinstance(leaf, TensorSpec) and leaf.is_open), None)
        if open_ended is not None:
            raise type_error("SW0533", f"{open_ended!r} has no certain size", help="trace with a size for each dim")
        return self._trace(leaves, tree)

    def layouts(self, *args: Any, **kwargs: Any) -> Layouts:
        """
        The layouts of arguments, variables, results and all values that propagation decides for these arguments.

        >>> import shardwright
        >>> rows = shardwright.Layout(["x"], shardwright.Mesh(x=2))
        >>> print(shardwright.function(lambda x: x * 2).layouts(shardwright.TensorSpec((4,), "float32", rows)))
        x: <@mesh, [{"x"}]>
        result: <@mesh, [{"x"}]>
        """
        return layouts_of(self.trace(*args, **kwargs).propagate())

    def compiled(self, *args: Any, **kwargs: Any) -> Compiled:
        """
        The program that a call with these arguments runs.

        >>> import shardwright, numpy
        >>> double = shardwright.function(lambda x: x * 2)
        >>> double.compiled(numpy.arange(2))(numpy.arange(2))
        array([0, 2])
        """
        return self.prepared(args, kwargs)[0]

    def _trace(self, leaves: Sequence[Any], tree: Tree) -> Traced:
        given = undecided(leaves, self._signature)
        module, interface = trace_function(self._function, given, tree, ARRAY_FUNCTIONS)
        return Traced(module, interface, BACKEND)

    def limit(self, limits: Limits) -> None:
        """
        From now on its programs must keep these limits too; `shardwright.budget` and `explicit` say so.

        >>> import shardwright, numpy
        >>> double = shardwright.function(lambda x: x * 2)
        >>> double.limit(Limits(max_bytes=0))
        >>> double(numpy.arange(2))
        array([0, 2])
        """
        self._limits += (limits,)
        self._cache.clear()

    def _within_limits(self, leaves: Sequence[Any], tree: Tree) -> Compiled:
        token = ACTIVE.set((*ACTIVE.get(), *self._limits))
        try:
            return self._trace(leaves, tree).compile()
        finally:
            ACTIVE.reset(token)

    def _compiled(self, leaves: Sequence[Any], tree: Tree) -> Compiled:
        key = (tree, tuple([_leaf_key(leaf) for leaf in leaves]), ACTIVE.get())
        try:
            found = self._cache.get(key)
        except TypeError as error:
            raise type_error(
                "SW0507",
                f"an argument of {self.name} is neither an array nor hashable: {error}",
                help="pass arrays, numbers, hashable values, and dicts, lists, tuples and dataclasses of them",
            ) from error
        if found is None or not found.interface.is_current:
            with self._lock:
                found = self._cache.get(key)
                if found is None or not found.interface.is_current:
                    found = self._cache[key] = self._within_limits(leaves, tree)
                if len(self._cache) > CACHE_SIZE:
                    self._cache.popitem(last=False)
        return found

    def _flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Tree]:
        if self._signature is not None:
            args, kwargs = bound(self._function, self._signature, args, kwargs), {}
        if self._static_names:
            args, kwargs = with_static(args, kwargs, self._static_names, self._static_places)
        return flatten((args, kwargs), is_argument)


def _named(function: object) -> object:
    """What the module of a function has under its name."""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for name in getattr(function, "__qualname__", "<none>").split("."):
        found = getattr(found, name, None)
    return found


def _places(function: Callable[..., Any], static: frozenset[str]) -> frozenset[int]:
    """The positions of the static parameters; TypeError (SW0507) for a name that is no parameter."""
    if not static:
        return frozenset()
    parameters = inspect.signature(function).parameters
    unknown = sorted(static - set(parameters))
    if unknown:
        raise type_error("SW0507", f"there is no parameter {unknown[0]!r}", help=f"there are {', '.join(parameters)}")
    return static_places(parameters.values(), static)


def static_places(parameters: Iterable[inspect.Parameter], static: frozenset[str]) -> frozenset[int]:
    """
    The positions at which static parameters can be given; those that only go by name have none.

    >>> sorted(static_places(inspect.signature(lambda a, b, *c, d: None).parameters.values(), frozenset("bd")))
    [1]
    """
    return frozenset(place for place, name in enumerate(positional_names(parameters)) if name in static)


def with_static(
    args: tuple[Any, ...], kwargs: dict[str, Any], names: frozenset[str], places: frozenset[int]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with those marked that are static: by their places, or by their names."""
    marked = tuple(Static(value) if place in places else value for place, value in enumerate(args))
    return marked, {name: Static(value) if name in names else value for name, value in kwargs.items()}


def _leaf_key(leaf: Any) -> Hashable:
    if isinstance(leaf, np.ndarray):
        return leaf.shape, leaf.dtype, hasattr(leaf, "mask")  # tracing refuses masked arrays
    if isinstance(leaf, Array):
        return leaf.shape, leaf.dtype, leaf.layout
    if is_traced_by_jax(leaf) or is_key_of_jax(leaf):
        return leaf.shape, leaf.dtype, True  # tracing refuses it
    return type(leaf) if type(leaf) in (int, float, complex) else _leaf_key(np.asarray(leaf))


@overload
def function(
    function: Callable[P, R], /, *, static: str | Sequence[str] = (), input_signature: Signature | None = None
) -> Function[P, R]: ...
@overload
def function(
    *, static: str | Sequence[str] = (), input_signature: Signature | None = None
) -> Callable[[Callable[P, R]], Function[P, R]]: ...
@settled
def function(
    function: Callable[P, R] | None = None,
    /,
    *,
    static: str | Sequence[str] = (),
    input_signature: Signature | None = None,
) -> Function[P, R] | Callable[[Callable[P, R]], Function[P, R]]:
    """
    Makes a Python function run as one program on the mesh of its arguments (RFC: `tf.function`).

    Arrays and numbers in the arguments are traced, also inside of dicts, lists, tuples and dataclasses; truth values,
    strings and other objects are constants of the program, as are the arguments named in `static`. NumPy arguments are
    replicated up to 64 KiB; larger ones raise `TypeError` (SW0501), which says how to distribute them. Without any
    distributed argument the program runs on one device and returns `Tensor`s.

    Variables are taken by identity; what the function assigns to them is kept after the call. With `input_signature`,
    `TensorSpec`s for all positional arguments, numbers take the types given there, arrays without a layout are
    distributed, and other arguments are a `TypeError` (SW0533).

    >>> import shardwright, numpy
    >>> @shardwright.function
    ... def double(x):
    ...     return x + x
    >>> double(numpy.arange(3))
    array([0, 2, 4])
    """
    if function is None:
        return partial(Function[P, R], static=static, signature=input_signature)
    return Function(function, static, input_signature)
