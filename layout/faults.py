"""The coded errors of meshes and layouts: what is wrong, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import cast

from shardwright.diagnostics import Diagnostic, ShardwrightTypeError, ShardwrightValueError
from shardwright.diagnostics.caller import caller


def fault(code: str, message: str, help: str) -> ShardwrightValueError:
    """The `ValueError` with this diagnostic, at the user's line; raise it."""
    return ShardwrightValueError(Diagnostic(code, message, caller(), help=help))


def whole(number: object, what: str) -> int:
    """A whole number, also of NumPy's; `TypeError` (SW0109) for anything else."""
    try:
        return index(number)  # pyright: ignore[reportArgumentType]  (whether it is one is seen here)
    except TypeError:
        message = f"{what} is {number!r}, which is no whole number"
        raise ShardwrightTypeError(Diagnostic("SW0109", message, caller(), help="give one, such as 2")) from None


def truth(value: object, what: str) -> bool:
    """True or False, also as 1 and 0; `TypeError` (SW0109) for anything else."""
    if getattr(value, "shape", ()) or value not in (0, 1):
        message = f"{what} is {value!r}, which is neither True nor False"
        raise ShardwrightTypeError(Diagnostic("SW0109", message, caller(), help="give one of them"))
    return bool(value)


def sizes(shape: object) -> tuple[int, ...]:
    """The sizes of a shape; `TypeError` (SW0109) for what is none."""
    return tuple([whole(size, "a size") for size in _items(shape)])


def known_sizes(shape: object) -> tuple[int | None, ...]:
    """The same of a shape in which None is a dim of any size."""
    return tuple([None if size is None else whole(size, "a size") for size in _items(shape)])


def _items(shape: object) -> Iterable[object]:
    if isinstance(shape, Iterable) and not isinstance(shape, str | bytes):
        return cast("Iterable[object]", shape)
    message = f"{shape!r} is no shape"
    raise ShardwrightTypeError(Diagnostic("SW0109", message, caller(), help="give a list of sizes"))
