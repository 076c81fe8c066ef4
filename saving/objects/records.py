"""Dataclasses and named tuples by the names of their fields: classes of the user's, or new ones that look alike."""

from __future__ import annotations

import keyword
from collections import namedtuple
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, make_dataclass
from typing import Any

from shardwright.saving.faults import SavingError, malformed


def field_names(kind: Any) -> tuple[str, ...] | None:
    """
    The names of the fields of a dataclass or named tuple, in order; None for other classes.

    >>> field_names(namedtuple("Pair", "left right")), field_names(int)
    (('left', 'right'), None)
    """
    if isinstance(kind, type) and issubclass(kind, tuple):
        return getattr(kind, "_fields", None)
    return tuple(field.name for field in fields(kind) if field.init) if is_dataclass(kind) else None


class Records:
    """
    The classes of the records in a saved directory.

    No class is ever looked for by a name that a file contains: `known` are those that the caller trusts, and for all
    others a class is made that has the name and the fields, and nothing else.
    """

    def __init__(self, known: Iterable[type[Any]] = ()) -> None:
        self._known: dict[str, type[Any]] = {}
        self._made: dict[tuple[str, tuple[str, ...], bool], type[Any]] = {}
        for kind in known:
            if field_names(kind) is None:
                fault = f"{kind!r} is neither a dataclass nor a named tuple"
                raise SavingError("SW0865", fault, help="classes= takes these two")
            self._known[kind.__name__] = kind

    def kind(self, name: str, names: tuple[str, ...], is_tuple: bool) -> type[Any]:
        """
        The class of this name with these fields.

        >>> Records().kind("Point", ("x", "y"), False)(x=1, y=2)
        Point(x=1, y=2)
        """
        known = self._known.get(name)
        if known is not None:
            if field_names(known) != names or issubclass(known, tuple) != is_tuple:
                now = ", ".join(field_names(known) or ())
                fault = f"the class {name} was saved with the fields {', '.join(names)}, and now has {now}"
                raise SavingError("SW0871", fault, help="give load a class with the fields that were saved, or none")
            return known
        key = name, names, is_tuple
        if key not in self._made:
            self._made[key] = _made(name, names, is_tuple)
        return self._made[key]


def _made(name: str, names: tuple[str, ...], is_tuple: bool) -> type[Any]:
    words = (name, *names)
    if not all(word.isidentifier() and not keyword.iskeyword(word) for word in words) or len(set(names)) < len(names):
        raise malformed(f"a record {name!r} with the fields {', '.join(map(repr, names))}")
    if any(word.startswith("__") for word in words):
        raise malformed(f"a record {name!r} with a private field")
    try:
        if is_tuple:
            return namedtuple(name, names)  # noqa: PYI024  # pyright: ignore[reportUntypedNamedTuple]
        return make_dataclass(name, names, frozen=True)
    except ValueError as error:
        raise malformed(f"a record {name!r}: {error}") from error
