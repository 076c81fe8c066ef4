"""
What expansions of windows share: dims taken apart and put together, and the frames that parts of a dim need.

Where a window crosses from one part of a split dim into the next, each device first receives its *halo*: a
`dtensor.window` in frames turns the dim into overlapping frames, one for each part. Parts and frame then are two dims:
the parts go where the op can split them, and the window moves over the frame alone.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from shardwright.dialects import dtensor
from shardwright.dialects.types import shape_of
from shardwright.layout.planning.sweep import Sweep
from shardwright.layout.planning.window import Window, missing_elements
from shardwright.rules.expansion import Axes, Dims, Site
from shardwright.rules.sharding import Shape

Key: TypeAlias = Hashable
Groups: TypeAlias = Sequence[Sequence[Key]]


@dataclass(frozen=True)
class Piece:
    """A part of a dim: its size, and the axes that split it."""

    size: int
    axes: Axes = ()


def rearranged(site: Site, value: SSAValue, source: Groups, target: Groups, pieces: Mapping[Key, Piece]) -> SSAValue:
    """
    The value with its dims, which consist of the pieces that `source` names, made of those of `target`, as in einops.

    A reshape takes the dims apart, a transpose orders the pieces, and a reshape puts them together.
    """
    before = [key for group in source for key in group]
    after = [key for group in target for key in group]
    value = _reshaped(site, value, [[key] for key in before], pieces)
    if before != after:
        order = [before.index(key) for key in after]
        value = site.building(tuple(pieces[key].axes for key in after)).transpose(value, order)
    return _reshaped(site, value, target, pieces)


class Rearrangement:
    """A value's dims as pieces, each dim at first one piece of its own number, to be cut and put together anew."""

    def __init__(self, site: Site, value: SSAValue, dims: Dims) -> None:
        self.pieces: dict[Key, Piece] = dict(enumerate(map(Piece, shape_of(value), dims)))
        self.source: list[list[Key]] = [[dim] for dim in range(len(dims))]
        self.target: list[list[Key]] = [[dim] for dim in range(len(dims))]
        self._site, self._value = site, value

    def cut(self, dim: int, parts: int, size: int) -> Key:
        """Cuts a dim into parts, which take its axes, of a size; the parts' name."""
        name = ("part", dim)
        self.pieces[name], self.pieces[dim] = Piece(parts, self.pieces[dim].axes), Piece(size)
        self.source[dim] = [name, dim]
        return name

    def done(self) -> SSAValue:
        """The value rearranged."""
        return rearranged(self._site, self._value, self.source, self.target, self.pieces)


def _reshaped(site: Site, value: SSAValue, groups: Groups, pieces: Mapping[Key, Piece]) -> SSAValue:
    shape = tuple(math.prod(pieces[key].size for key in group) for group in groups)
    dims = tuple(tuple(axis for key in group for axis in pieces[key].axes) for group in groups)
    return site.building(dims).reshape(value, shape)


def framed(site: Site, value: SSAValue, windows: Mapping[int, Window], padding: Attribute) -> SSAValue:
    """The value with the frames of each dim of `windows`, behind each other, in place of the dim."""
    shape, dims = list(shape_of(value)), site.spec(value).dims
    every = [windows.get(dim, Window(size, size, 0)) for dim, size in enumerate(shape)]
    for dim, window in windows.items():
        shape[dim] = window.result
    found = cast("TensorType[Attribute]", value.type)
    type_ = TensorType(found.element_type, shape, found.encoding)
    axes = [dims[dim] if dim in windows else () for dim in range(len(shape))]
    moved = dtensor.WindowOp(value, type_, site.mesh.name, axes, every, padding, site.reason)
    return site.insert(moved).results[0]


def halo_bytes(windows: Mapping[int, tuple[Window, int]], parts: int, size: int) -> float:
    """
    The bytes that a device receives for its frames of a tensor of `size` bytes.

    `windows` has, by dim, the window and the number of parts; all other dims together have `parts` parts.
    """
    elements = math.prod(window.operand for window, _ in windows.values()) * parts
    return float(missing_elements(list(windows.values()))) * size / elements if elements else 0.0


@dataclass(frozen=True)
class Crossing:
    """What expansions know of the dims along which windows cross from one part into the next."""

    sweeps: tuple[Sweep, ...]
    shapes: tuple[Shape, ...]
    moves: tuple[tuple[int, int], ...]
    """The factor and number of each dim along which windows cross."""
    own: frozenset[int]
    """The factors of the operand."""

    @property
    def factors(self) -> frozenset[int]:
        """The factors of the dims along which windows cross."""
        return frozenset(factor for factor, _ in self.moves)

    def taken(self, parts: Mapping[int, int]) -> dict[int, int]:
        """Into how many parts each of these dims is split, where it is."""
        return {dim: parts[factor] for factor, dim in self.moves if parts.get(factor, 1) > 1}

    def others(self, parts: Mapping[int, int]) -> int:
        """The number of parts of all other dims of the operand together."""
        return math.prod(count for factor, count in parts.items() if factor in self.own - self.factors)


def apart(site: Site, value: SSAValue, frames: Mapping[int, int]) -> SSAValue:
    """The value with each of these dims as two: its parts, which have the dim's axes, and their frames of a size."""
    pieces: dict[Key, Piece] = {}
    groups: list[list[Key]] = []
    for dim, (size, axes) in enumerate(zip(shape_of(value), site.spec(value).dims, strict=True)):
        if dim in frames:
            pieces["part", dim], pieces[dim] = Piece(size // frames[dim], axes), Piece(frames[dim])
            groups.append([("part", dim), dim])
        else:
            pieces[dim] = Piece(size, axes)
            groups.append([dim])
    return rearranged(site, value, groups, [[key] for group in groups for key in group], pieces)


def framed_apart(site: Site, value: SSAValue, windows: Mapping[int, Window], padding: Attribute) -> SSAValue:
    """The value in frames, with parts and frames as two dims."""
    moved = framed(site, value, windows, padding)
    return apart(site, moved, {dim: window.frame for dim, window in windows.items()})


def together(site: Site, value: SSAValue, dims: Collection[int]) -> SSAValue:
    """The inverse of `apart`: each of these dims is made of its parts and what is behind them."""
    groups: list[list[Key]] = []
    place = 0
    for dim in range(len(shape_of(value)) - len(dims)):
        groups.append([place, place + 1] if dim in dims else [place])
        place += len(groups[-1])
    pieces: dict[Key, Piece] = dict(enumerate(map(Piece, shape_of(value), site.spec(value).dims)))
    return rearranged(site, value, [[at] for at in range(place)], groups, pieces)
