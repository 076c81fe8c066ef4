"""`TensorSpec`, and the input signatures of functions that are made of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shardwright.compiler.tracing.array import Array, Namespace, TypedArray
from shardwright.compiler.tracing.dtypes import DTypeLike, as_dtype, brief, check_integer, scalar_kind
from shardwright.compiler.tracing.emit import as_numpy, check_layout, result_dtype
from shardwright.compiler.tracing.interface import is_traced, type_text
from shardwright.compiler.tracing.pytree import flatten, paths, unflatten
from shardwright.compiler.tracing.reference import held
from shardwright.compiler.tracing.settings import settled
from shardwright.compiler.tracing.trace import current_trace
from shardwright.diagnostics.faults import type_error
from shardwright.frontends.functions.dtensor import distributed
from shardwright.frontends.functions.namespace import ARRAY_FUNCTIONS
from shardwright.layout import Layout


class TensorSpec(TypedArray):
    """
    What a function is traced for, without the elements (RFC: `tf.TensorSpec`): a shape, a type, and perhaps a layout.

    In an `input_signature`, `None` is a dim of any size and no layout is any layout; with `Layout.auto(mesh)` it is the
    compiler that lays out arrays which have none. `function(...).trace` and `function(...).layouts` take specs in place
    of arrays.

    >>> import shardwright
    >>> spec = shardwright.TensorSpec((4, 2), "float32")
    >>> shardwright.function(lambda x: x + 1).trace(spec).interface.parameters[0].shape
    (4, 2)
    """

    __slots__ = ("_layout", "name")

    @settled
    def __init__(
        self,
        shape: Sequence[int | None],
        dtype: DTypeLike = "float32",
        layout: Layout | None = None,
        name: str | None = None,
    ) -> None:
        if layout is not None:
            check_layout(layout, "TensorSpec", automatic=True)
        self._shape: tuple[Any, ...] = tuple(shape)
        self._dtype = as_dtype(dtype)
        self._layout = None if layout is None else layout.for_rank(len(self._shape))
        if self._layout is not None:
            self._layout.check(self._shape)
        self.name = name

    @property
    def namespace(self) -> Namespace:
        return ARRAY_FUNCTIONS

    @property
    def layout(self) -> Layout | None:
        return self._layout

    @property
    def is_open(self) -> bool:
        """Whether a dim may have any size."""
        return any(size is None for size in self._shape)

    def __repr__(self) -> str:
        return f"TensorSpec({type_text(self.shape, self.dtype, self.layout)})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise type_error(
            "SW0533",
            f"{self!r} has no elements",
            help="call the function with arrays; trace and layouts take specs",
        )


Signature = Sequence[Any]
"""What each positional argument of a function is: a tree of specs."""


def checked(signature: Signature) -> Signature:
    """The signature, of which each leaf is a spec; TypeError (SW0533) for others."""
    for spec in flatten(tuple(signature), is_traced)[0]:
        if not isinstance(spec, TypedArray):
            raise type_error(
                "SW0533", f"{spec!r} in a signature is no TensorSpec", help="give shardwright.TensorSpec(shape, dtype)"
            )
    return signature


def bound(
    function: Callable[..., Any], signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """The arguments in order, as the signature says; TypeError (SW0533) for others."""
    try:
        given = inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise _unfit(function, str(error), signature) from error
    # Signatures leave out the object whose method is called.
    own = given.args[:1] if next(iter(given.arguments), None) == "self" else ()
    positional = given.args[len(own) :]
    if given.kwargs or len(positional) != len(signature):
        raise _unfit(function, f"{len(positional) + len(given.kwargs)} arguments were given", signature)
    return (*own, *[_fitting(function, *pair, signature) for pair in zip(positional, signature, strict=True)])


def _fitting(function: Callable[..., Any], value: Any, spec: Any, signature: Signature) -> Any:
    leaves, tree = flatten(value, _is_given)
    specs, expected = flatten(spec, is_traced)
    if tree != expected:
        raise _unfit(function, f"an argument is a {type(value).__name__} of another form", signature)
    found: list[Any] = []
    for leaf, due, path in zip(leaves, specs, paths(tree, "argument"), strict=True):
        converted = _converted(leaf, due)
        if not _fits(converted, due):
            text = type_text(converted.shape, converted.dtype, getattr(converted, "layout", None))
            raise _unfit(function, f"{path} is {text} where {due!r} is due", signature)
        found.append(converted)
    return unflatten(tree, found)


def _is_given(leaf: Any) -> bool:
    """What a spec may stand for: truth values, too, which steer Python where there is no signature."""
    return type(leaf) is bool or is_traced(leaf)


def _converted(leaf: Any, due: TensorSpec) -> Any:
    """The argument as an array: a number takes the type that is due, a plain array the layout."""
    if isinstance(leaf, Array):
        return leaf if current_trace() is not None else held(leaf)
    if type(leaf) is bool:
        return np.asarray(leaf)
    if scalar_kind(leaf) is not None:
        if result_dtype("a signature", due, leaf) != due.dtype:
            return np.asarray(leaf)
        if type(leaf) is int:
            check_integer(leaf, due.dtype)
        return np.asarray(leaf, due.dtype)
    array = as_numpy(leaf, "a traced function")
    plain = current_trace() is None and due.layout is not None and not due.layout.is_auto and _fits(array, due)
    return distributed(array, due.layout) if plain and due.layout is not None else array


def undecided(leaves: Sequence[Any], signature: Signature | None) -> Sequence[Any]:
    """The arguments of a call, those that the compiler is to lay out as specs."""
    specs = [] if signature is None else flatten(tuple(signature), is_traced)[0]
    if not any(isinstance(spec, TensorSpec) and spec.layout is not None and spec.layout.is_auto for spec in specs):
        return leaves
    return [_undecided(*pair) for pair in zip(leaves, specs, strict=True)]


def _undecided(leaf: Any, spec: TensorSpec) -> Any:
    if spec.layout is None or not spec.layout.is_auto or isinstance(leaf, Array):
        return leaf
    array = as_numpy(leaf, "a traced function")
    return TensorSpec(array.shape, array.dtype, spec.layout)


def _fits(value: Any, due: TensorSpec) -> bool:
    """Whether an array has the type that is due; a traced value's layout may be open."""
    layout = getattr(value, "layout", None)
    same = len(value.shape) == len(due.shape) and all(
        size in (None, mine) for mine, size in zip(value.shape, due.shape, strict=True)
    )
    is_open = (
        due.layout is None
        or due.layout.is_auto
        or (layout is None and not isinstance(value, TensorSpec))
        or (layout is not None and _lies_within(layout, due.layout))
    )
    return same and value.dtype == due.dtype and is_open


def _lies_within(layout: Layout, due: Layout) -> bool:
    """Whether a layout is the one that is due, or splits what that leaves open further."""
    mine, spec = layout.spec, due.spec
    if layout == due or spec.closed or layout.mesh != due.mesh:
        return layout == due
    if (mine.partial, mine.kind) != (spec.partial, spec.kind):
        return False
    return all(
        found[: len(axes)] == axes and (found == axes or dim in spec.open_dims)
        for dim, (found, axes) in enumerate(zip(mine.dims, spec.dims, strict=True))
    )


def _unfit(function: Callable[..., Any], message: str, signature: Signature) -> Exception:
    name = getattr(function, "__name__", type(function).__name__)
    return type_error(
        "SW0533",
        f"{name} has an input signature that the call does not fit: {message}",
        f"it takes {', '.join(map(_text, signature)) or 'no arguments'}",
        help="convert the arguments, or leave input_signature out to compile for each kind of arguments",
    )


def _text(spec: Any) -> str:
    """
    A spec for people: brief where it is a single one.

    >>> _text(TensorSpec((2, None), "int32"))
    'i32[2, None]'
    """
    return f"{brief(spec.dtype)}{list(spec.shape)}" if isinstance(spec, TensorSpec) else repr(spec)
