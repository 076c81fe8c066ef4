"""
Settings: arguments of array functions that are no arrays (dims, sizes, numbers, texts), read as their annotations say.

One law for all functions, by kinds. A whole number is what Python takes for an index, of 64 bits (of any size where
what it says stays within a shape, as of a diagonal), and no truth value; a number is no text and no list; a list is
whatever can be gone through, but for texts and dicts; a path is a text or what has one; of a class are its instances.
NumPy's numbers and arrays become Python's. What dims and shapes must be beyond that is checked by the functions at the
end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from inspect import signature
from operator import index
from os import PathLike
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Any,
    Literal,
    ParamSpec,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from shardwright.compiler.tracing.interface import positional_names
from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.faults import index_error, type_error, value_error

Dims: TypeAlias = int | Sequence[int] | None

LONG = 1 << 63
"""Sizes are below it: a program has 64 bits for them."""

P = ParamSpec("P")
R = TypeVar("R")

Reader = Callable[[Any], Any]
"""What becomes of a value: `_UNFIT`, where it is of another kind."""

_UNFIT = object()
_LENGTH = 40
"""The most characters of a value that a message shows."""


class Settings:
    """
    The parameters of a function that are never arrays, by its annotations, and how they are read.

    >>> def roll(x: Any, shift: int) -> None: ...
    >>> Settings(roll).read(([1, 2], np.int8(1)), {})
    (([1, 2], 1), {})
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        parameters = signature(function).parameters
        said = {name: one.annotation for name, one in parameters.items() if one.annotation is not one.empty}
        # Texts, as they are where annotations are not evaluated; a plugin may be written otherwise.
        heads = {name: _head(each) if isinstance(each, str) else each for name, each in said.items()}
        written = {name: each for name, each in heads.items() if not _ARRAYS.search(str(each))}
        kinds = get_type_hints(SimpleNamespace(__annotations__=written), function.__globals__)
        what = function.__name__.strip("_") if function.__name__ != "__init__" else function.__qualname__.split(".")[-2]
        self._readers: dict[int | str, Reader] = {name: setting(what, name, kinds[name]) for name in written}
        places = enumerate(positional_names(parameters.values()))
        self._readers |= {place: self._readers[name] for place, name in places if name in written}

    def read(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call, of which settings are as the function takes them."""
        read = self._readers
        places = tuple([read[at](value) if at in read else value for at, value in enumerate(args)])
        return places, {name: read[name](value) if name in read else value for name, value in kwargs.items()}


_ARRAYS = re.compile(r"Array|Layout|Positions|Value|Seed|(?<!Sequence\[)Any|object")
"""What stands in the annotations of arguments that are no settings; layouts are read by `check_layout` (SW0515)."""


def _head(annotation: str) -> str:
    """The annotation, of a function without what that takes."""
    return "Callable" if annotation.startswith("Callable[") and annotation.endswith("]") else annotation


def settled(function: Callable[P, R]) -> Callable[P, R]:
    """
    The same function, whose settings are read as its annotations say; array functions are so anyway.

    >>> @settled
    ... def first(x: Any, count: int) -> Any:
    ...     return x[:count]
    >>> first("abc", np.int64(2))
    'ab'
    """
    settings = Settings(function)
    written: Callable[..., R] = function

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        places, names = settings.read(args, kwargs)
        return written(*places, **names)

    return call


def setting(what: str, name: str, kind: Any) -> Reader:
    """
    How a parameter is read, which its function's annotation says to be of a kind.

    What is of another kind is a `TypeError` (SW0510).

    >>> setting("fft", "n", int | None)(np.int64(4))
    4
    """
    read = _reader(kind)

    def given(value: Any) -> Any:
        found = read(value)
        if found is _UNFIT:
            raise type_error("SW0510", f"{what}: {name} cannot be {_shown(value)}", help=f"it is {_said(kind)}")
        return found

    return given


def _reader(kind: Any) -> Reader:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return partial(_one_of, [_reader(part) for part in parts])
    if origin is tuple and Ellipsis not in parts:
        return partial(_each, [_reader(part) for part in parts])
    if origin in (Sequence, tuple):
        return partial(_several, _reader(parts[0]))
    plain = str if origin is Literal else origin or kind
    if plain in _READERS:
        return _READERS[plain]
    return partial(_of_class, plain) if _is_class(plain) else lambda value: value


def _is_class(kind: Any) -> bool:
    """Whether the kind has instances; what only says what a value can do is left to the function."""
    return isinstance(kind, type) and kind is not Any and not getattr(kind, "_is_protocol", False)


def _one_of(readers: Sequence[Reader], value: Any) -> Any:
    for read in readers:
        found = read(value)
        if found is not _UNFIT:
            return found
    return _UNFIT


def _several(read: Reader, value: Any) -> Any:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping | type | np.ma.MaskedArray):
        return _UNFIT
    if isinstance(value, np.ndarray) and not value.ndim:
        return _UNFIT
    found = [read(item) for item in value]
    if any(item is _UNFIT for item in found):
        return _UNFIT
    return found if isinstance(value, list | np.ndarray) else tuple(found)


def _each(readers: Sequence[Reader], value: Any) -> Any:
    found = _several(_as_it_is, value)
    if found is _UNFIT or len(found) != len(readers):
        return _UNFIT
    parts = tuple([read(item) for read, item in zip(readers, found, strict=True)])
    return _UNFIT if any(part is _UNFIT for part in parts) else parts


def _whole(value: Any) -> Any:
    number = _index(value)
    return number if number is _UNFIT or -LONG <= number < LONG else _UNFIT


def _index(value: Any) -> Any:
    if isinstance(value, bool | np.bool_ | type):
        return _UNFIT
    return value if type(value) is int else _called(index, value)


def _number(value: Any) -> Any:
    if type(value) in (int, float):
        return value
    lone = _as_it_is(value)
    if type(lone) in (int, float):
        return lone
    unlike = isinstance(lone, bool | str | bytes | list | type) or getattr(lone, "shape", ())
    return _UNFIT if unlike else _called(float, lone)


def _complex(value: Any) -> Any:
    found = _as_it_is(value)
    return found if type(found) is complex else _number(found)


def _truth(value: Any) -> Any:
    if type(value) is bool:
        return value
    lone = _as_it_is(value)
    if type(lone) in (bool, int):
        return bool(lone) if lone in (0, 1) else _UNFIT
    return _called(bool, lone) if hasattr(lone, "dtype") and not getattr(lone, "shape", ()) else _UNFIT


def _function(value: Any) -> Any:
    return value if callable(value) else _UNFIT


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else _UNFIT


def _path(value: Any) -> Any:
    return value if isinstance(value, str | PathLike) else _UNFIT


def _of_class(kind: Any, value: Any) -> Any:
    return value if isinstance(value, kind) else _UNFIT


def _nothing(value: Any) -> Any:
    return None if value is None else _UNFIT


def _as_it_is(value: Any) -> Any:
    """The value in Python's own numbers, where it is given in NumPy's."""
    if isinstance(value, np.generic) or type(value) is np.ndarray:
        return value.tolist()
    return type(value)(map(_as_it_is, value)) if type(value) in (list, tuple) else value


def _called(convert: Reader, value: Any) -> Any:
    """What Python makes of a value; traced values say what they cannot be (SW0503)."""
    try:
        return convert(value)
    except ShardwrightError:
        raise
    except (TypeError, ValueError, OverflowError):
        return _UNFIT


_READERS: dict[Any, Reader] = {
    bool: _truth,
    complex: _complex,
    float: _number,
    int: _whole,
    SupportsIndex: _index,
    str: _text,
    np.ndarray: _as_it_is,
    Callable: _function,
    Path: _path,
    NoneType: _nothing,
}

_WORDS = {
    bool: ("True or False", "truth values"),
    complex: ("a number", "numbers"),
    float: ("a number", "numbers"),
    int: ("a whole number", "whole numbers"),
    SupportsIndex: ("a whole number", "whole numbers"),
    str: ("a text", "texts"),
    Callable: ("a function", "functions"),
    Iterable: ("a list", "lists"),
    Mapping: ("a dict", "dicts"),
    Path: ("a path", "paths"),
    NoneType: ("None", "None"),
}


def _said(kind: Any, several: bool = False) -> str:
    """A kind in words."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _either([_said(part, several) for part in parts])
    if origin is Literal:
        return _either([*map(repr, parts)])
    if origin is tuple and Ellipsis not in parts:
        return f"({', '.join(map(_said, parts))})"
    if origin in (Sequence, tuple):
        return ("lists" if several else "a list") + (f" of {_said(parts[0], True)}" if parts[0] is not Any else "")
    plain = origin or kind
    return _WORDS[plain][several] if plain in _WORDS else f"a {plain.__name__}"


def _either(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LENGTH and "\n" not in text else f"a {type(value).__name__}"


def dim_of(axis: int, rank: int, what: str) -> int:
    """
    The dim that `axis` names, counted from the end when negative.

    >>> dim_of(-1, 3, "sum")
    2
    """
    if not -rank <= axis < rank:
        has = f"the tensor has dims 0 to {rank - 1}" if rank else "the tensor has none"
        raise index_error("SW0510", f"{what}: there is no dim {axis}", help=has)
    return axis % rank


def one_or_more(numbers: Any) -> tuple[Any, ...]:
    """
    One number or several, as several.

    >>> one_or_more(1), one_or_more([1, 2])
    ((1,), (1, 2))
    """
    return tuple(numbers) if isinstance(numbers, Iterable) else (numbers,)


def dims_of(axis: Dims, rank: int, what: str) -> tuple[int, ...]:
    """
    The dims that `axis` names, in order; None names all.

    >>> dims_of((-1, 0), 3, "sum"), dims_of(None, 2, "sum")
    ((0, 2), (0, 1))
    """
    if axis is None:
        return tuple(range(rank))
    dims = tuple(dim_of(one, rank, what) for one in one_or_more(axis))
    if len(set(dims)) != len(dims):
        raise value_error("SW0510", f"{what}: a dim is named twice in {axis}", help="name each dim once")
    return tuple(sorted(dims))


def shape_argument(shape: int | Sequence[int], what: str) -> tuple[int, ...]:
    """
    A shape given as a size or a sequence of sizes.

    >>> shape_argument(3, "zeros")
    (3,)
    """
    help = "sizes are whole numbers of at least 0"
    try:
        sizes = tuple(map(index, one_or_more(shape)))
    except ShardwrightError:
        raise
    except TypeError:
        raise type_error("SW0510", f"{what}: {shape!r} is no shape", help=help) from None
    if any(not 0 <= size < LONG for size in sizes):
        raise value_error("SW0510", f"{what}: {shape!r} is no shape", help=help)
    return sizes


def size_argument(size: int, what: str) -> int:
    """
    The size of one dim.

    >>> size_argument(3, "eye")
    3
    """
    return shape_argument((size,), what)[0]


def one_place(key: Any, shape: Sequence[int]) -> tuple[int, ...] | None:
    """
    The place of one element, if the key is a plain whole number for each dim, all inside of the tensor.

    >>> one_place((-1, 2), (2, 3)), one_place(0, (2, 3)), one_place(5, (3,))
    ((-1, 2), None, None)
    """
    items: tuple[Any, ...] = key if isinstance(key, tuple) else (key,)
    plain = len(items) == len(shape) and all(type(item) is int for item in items)
    return items if plain and all(-size <= item < size for item, size in zip(items, shape, strict=True)) else None
