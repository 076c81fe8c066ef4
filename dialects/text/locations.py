"""Source locations of ops: reading them, joining them, and pointing an error at one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from shardwright.diagnostics import Diagnostic, Label, ShardwrightError, SourceLocation
from shardwright.diagnostics.caller import caller, defined_at, name_in_text
from shardwright.dialects.text.xdsl_patches import FileLineColRange, unchecked


def source_location(location: Attribute) -> SourceLocation | None:
    """
    The first place in the user's source that `location` names, or `None` when it names none.

    An inlined op counts as being where it was written, not where it was called; but what an installed library wrote is
    where that was called.

    >>> place = FileLineColLoc(StringAttr("f.mlir"), IntAttr(3), IntAttr(7))
    >>> str(source_location(NameLoc(StringAttr("jit(f)/add"), place)))
    'f.mlir:3:7'
    >>> library = FileLineColLoc(StringAttr("/lib/python3.12/site-packages/flax/linear.py"), IntAttr(1), IntAttr(2))
    >>> str(source_location(CallSiteLoc(library, place)))
    'f.mlir:3:7'
    """
    if isinstance(location, FileLineColLoc):
        return _place(location)
    library = None
    for place in _places(location):
        if not _is_library(place.file):
            return place
        library = library or place
    return library


def source_locations(location: Attribute) -> tuple[SourceLocation, ...]:
    """Every distinct place in the user's source that `location` names, the first one first."""
    found = tuple(dict.fromkeys(_places(location)))
    return tuple(place for place in found if not _is_library(place.file)) or found


def _place(location: FileLineColLoc) -> SourceLocation:
    return SourceLocation(location.filename.data, location.line.data, location.column.data)


def _places(location: Attribute) -> Iterator[SourceLocation]:
    """Every place that a location names."""
    if isinstance(location, FileLineColLoc):
        yield _place(location)
    for inner in _inner(location):
        yield from _places(inner)


@lru_cache(maxsize=1024)
def _is_library(file: str) -> bool:
    """Whether a file belongs to an installed package or to Python."""
    folders = file.replace("\\", "/").split("/")
    return bool({"site-packages", "dist-packages"}.intersection(folders)) or file.startswith("<")


GRADIENT = "gradient"
"""What the location of an op that a gradient is made of says."""


def is_backward(location: Attribute) -> bool:
    """
    Whether an op belongs to a gradient: one of ours, or one that JAX transposed.

    >>> place = FileLineColLoc(StringAttr("f.py"), IntAttr(3), IntAttr(7))
    >>> is_backward(NameLoc(StringAttr("jit(f)/transpose(jvp())/mul"), place)), is_backward(place)
    (True, False)
    """
    if isinstance(location, NameLoc) and "transpose(" in location.desc.data:
        return True
    if isinstance(location, FusedLoc) and location.metadata == StringAttr(GRADIENT):
        return True
    return any(is_backward(inner) for inner in _inner(location))


def is_known(location: Attribute) -> bool:
    """Whether `location` says anything: a place, or at least a name."""
    if isinstance(location, FileLineColLoc | NameLoc):
        return True
    return any(is_known(inner) for inner in _inner(location))


def fuse(locations: Iterable[LocationAttr], reason: str = "") -> LocationAttr:
    """The location of an op that stands for several; `reason` says why it exists."""
    distinct = list(dict.fromkeys(locations))
    if len(distinct) == 1 and not reason:
        return distinct[0]
    return unchecked(FusedLoc, locations=ArrayAttr(distinct), metadata=StringAttr(reason) if reason else NoneAttr())


def where(place: Operation | SSAValue) -> SourceLocation | None:
    """The place in the user's source of an op, or of the op or block argument that defines a value."""
    if isinstance(place, Operation | BlockArgument):
        return source_location(place.location)
    owner = place.owner
    return source_location(owner.location) if isinstance(owner, Operation) else None


def fault(
    code: str,
    message: str,
    place: Operation | SSAValue,
    *,
    notes: tuple[str, ...] = (),
    help: str | None = None,
    labels: tuple[Label, ...] = (),
    word: str = "",
    earlier: str = "",
) -> ShardwrightError:
    """The error with this diagnostic, pointing at `place`, or at a `word` of its line; raise it."""
    found = Diagnostic(code, message, where(place), notes, help, labels=labels, word=word, earlier=earlier)
    return ShardwrightError(found)


def label(place: Operation | SSAValue, text: str) -> tuple[Label, ...]:
    """What is to be said of an op or a value, at its place; nothing where that is not known."""
    location = where(place)
    return (Label(location, text),) if location is not None else ()


def _inner(location: Attribute) -> tuple[Attribute, ...]:
    if isinstance(location, FileLineColRange):
        return (location.start,)
    if isinstance(location, NameLoc):
        return (location.location,)
    if isinstance(location, CallSiteLoc):
        return (location.callee, location.caller)
    if isinstance(location, FusedLoc) and isinstance(location.locations, ArrayAttr):
        return location.locations.data
    return ()


def caller_location() -> LocationAttr:
    """Where in the user's Python source this is asked for, as an op's location."""
    return _of(caller())


def definition_location(function: Callable[..., Any]) -> LocationAttr:
    """Where a function is defined (`defined_at`), as an op's location."""
    return _of(defined_at(function))


def _of(place: SourceLocation | None) -> LocationAttr:
    return location_attribute(place) if place is not None else UnknownLoc()


@lru_cache(maxsize=4096)
def location_attribute(place: SourceLocation) -> LocationAttr:
    """A place in the user's source as an attribute."""
    return FileLineColLoc(StringAttr(name_in_text(place.file)), IntAttr(place.line), IntAttr(place.column))
