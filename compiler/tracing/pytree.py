"""Arguments and results as trees: nested dicts, lists, tuples, dataclasses and `None`, with arrays at the leaves."""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple, TypeAlias, cast

from shardwright.compiler.tracing.array import Array

_LEAF = "*"

IsLeaf: TypeAlias = Callable[[Any], bool]


@dataclass(frozen=True)
class Static:
    """
    A value that is part of a tree's shape: it is compared, not traced.

    >>> Static([1, slice(2)]) == Static([1, slice(2)]), Static(1) == Static(True)
    (True, False)
    """

    value: Any = field(compare=False)
    key: Hashable = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", _key(self.value))


def _key(value: Any) -> Hashable:
    """What tells values apart: equal ones of different types differ, and lists and slices can be hashed."""
    if isinstance(value, list | tuple):
        return type(value), tuple([_key(item) for item in cast("Sequence[Any]", value)])
    if isinstance(value, slice):
        return slice, _key((value.start, value.stop, value.step))
    if isinstance(value, float):  # zeros of both signs are equal, and no NaN is equal to itself
        return type(value), repr(value), math.copysign(1, value)
    if isinstance(value, complex):
        return type(value), _key(value.real), _key(value.imag)
    if isinstance(value, Array):  # compared element by element, it would not say whether it is the same
        return type(value), id(value)
    return type(value), value


class Tree(NamedTuple):
    """The shape of a tree: a container's class, its keys, and the shapes of its parts."""

    kind: Any
    keys: tuple[Any, ...] = ()
    parts: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Defaults:
    """
    The kind of a `defaultdict`, of which it makes another one: by what it makes the values that are missing.

    >>> Defaults(list)([("a", 1)])
    defaultdict(<class 'list'>, {'a': 1})
    """

    factory: Callable[[], Any] | None
    __name__ = "defaultdict"

    def __call__(self, pairs: Iterable[tuple[Any, Any]]) -> defaultdict[Any, Any]:
        return defaultdict(self.factory, pairs)


def is_mapping(kind: Any) -> bool:
    """Whether trees of this kind are dicts, whose parts go by keys: plain ones, ordered ones, those with defaults."""
    return kind is dict or kind is OrderedDict or isinstance(kind, Defaults)


LEAF = Tree(_LEAF)
"""The tree that is one leaf."""


def flatten(value: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], Tree]:
    """
    The leaves of a tree, in order, and its shape.

    Values that `is_leaf` refuses are part of the shape, and so are fields of dataclasses that hold plain Python values
    (numbers, strings, functions).

    >>> leaves, tree = flatten({"w": [1, 2], "b": None})
    >>> leaves
    [1, 2]
    >>> unflatten(tree, ["one", "two"])
    {'w': ['one', 'two'], 'b': None}
    """
    leaves: list[Any] = []
    return leaves, cast(Tree, _flatten(value, leaves, is_leaf or _any_value))


def unflatten(tree: Tree, leaves: Sequence[Any]) -> Any:
    """The tree of this shape with these leaves: the inverse of `flatten`."""
    return _unflatten(tree, iter(leaves))


def arranged(value: Any, tree: Tree | Static) -> Any:
    """
    The value with its dicts in the order of `tree`, where they have its keys.

    >>> arranged(({"a": 1, "b": 2},), flatten(({"b": 0, "a": 0},))[1])
    ({'b': 2, 'a': 1},)
    """
    kind = _kind(value)
    if isinstance(tree, Static) or tree.kind != kind:
        return value
    if is_mapping(kind) and len(value) == len(tree.keys) and set(value) == set(tree.keys):
        keys = value if kind is OrderedDict else tree.keys  # there, the order says something
        return kind((key, arranged(value[key], part)) for key, part in zip(keys, tree.parts, strict=True))
    if tree.kind in (list, tuple) and len(value) == len(tree.parts):
        return tree.kind(arranged(item, part) for item, part in zip(value, tree.parts, strict=True))
    return value


def paths(tree: Tree, root: str = "") -> list[str]:
    """
    How a program reaches each leaf from `root`.

    >>> paths(flatten({"w": [1, 2]})[1], "params")
    ["params['w'][0]", "params['w'][1]"]
    """
    return list(_paths(tree, root))


def _flatten(value: Any, leaves: list[Any], is_leaf: IsLeaf) -> Tree | Static:
    if value is None:
        return Tree(None)
    if isinstance(value, Static):
        return value
    kind = _kind(value)
    if is_mapping(kind):
        return Tree(kind, tuple(value), tuple([_flatten(part, leaves, is_leaf) for part in value.values()]))
    if isinstance(value, list | tuple):
        parts = cast("Sequence[Any]", value)
        return Tree(kind, (), tuple([_flatten(part, leaves, is_leaf) for part in parts]))
    if is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in fields(value) if field.init)
        return Tree(kind, names, tuple([_flatten_field(getattr(value, name), leaves, is_leaf) for name in names]))
    if not is_leaf(value):
        return Static(value)
    leaves.append(value)
    return LEAF


def _kind(value: Any) -> Any:
    """The class of a container; of a dict with defaults more than that."""
    kind = cast("type[Any]", type(value))
    return Defaults(value.default_factory) if kind is defaultdict else kind


def _any_value(value: Any) -> bool:
    return True


def _flatten_field(part: Any, leaves: list[Any], is_leaf: IsLeaf) -> Tree | Static:
    plain = isinstance(part, bool | int | float | complex | str | bytes) or callable(part)
    return Static(part) if plain else _flatten(part, leaves, is_leaf)


def _unflatten(tree: Tree | Static, leaves: Iterator[Any]) -> Any:
    if isinstance(tree, Static):
        return tree.value
    if tree.kind == _LEAF:
        return next(leaves)
    if tree.kind is None:
        return None
    parts = [_unflatten(part, leaves) for part in tree.parts]
    if tree.kind is list or tree.kind is tuple:
        return tree.kind(parts)
    if is_mapping(tree.kind):
        return tree.kind(zip(tree.keys, parts, strict=True))
    if tree.keys:
        return tree.kind(**dict(zip(tree.keys, parts, strict=True)))
    return tree.kind(*parts)


def _paths(tree: Tree | Static, path: str) -> Iterator[str]:
    if isinstance(tree, Static) or tree.kind is None:
        return
    if tree.kind == _LEAF:
        yield path
    elif is_mapping(tree.kind):
        for key, part in zip(tree.keys, tree.parts, strict=True):
            yield from _paths(part, f"{path}[{key!r}]")
    elif tree.keys:
        for name, part in zip(tree.keys, tree.parts, strict=True):
            yield from _paths(part, f"{path}.{name}")
    else:
        for index, part in enumerate(tree.parts):
            yield from _paths(part, f"{path}[{index}]")
