"""
What expansions of windows share: dims taken apart and put together, and the frames that parts of a dim need.

Where a window crosses from one part of a split dim into the next, each device first receives its *halo*: a
`dtensor.window` in frames turns the dim into overlapping frames, one for each part. Parts and frame then are two dims:
the parts go where the op can split them, and the window moves over the frame alone.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.layout.planning.window import Window, missing_elements
from shardwright.rules.expansion import Axes, Site

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
        (value,) = site.put(stablehlo.TransposeOp(value, order), tuple(pieces[key].axes for key in after))
    return _reshaped(site, value, target, pieces)


def _reshaped(site: Site, value: SSAValue, groups: Groups, pieces: Mapping[Key, Piece]) -> SSAValue:
    shape = tuple(math.prod(pieces[key].size for key in group) for group in groups)
    if shape == shape_of(value):
        return value
    dims = tuple(tuple(axis for key in group for axis in pieces[key].axes) for group in groups)
    return site.put(stablehlo.ReshapeOp(value, tensor(shape, element_of(value))), dims)[0]


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
