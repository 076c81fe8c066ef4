"""Layouts in words, for reasons and reports: `rows over data, columns over model`."""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.layout.axes import Axis


def dim_name(dim: int, rank: int) -> str:
    """
    What people call a dim of a tensor of this rank.

    >>> dim_name(0, 1), dim_name(1, 2), dim_name(1, 3)
    ('elements', 'columns', 'dim 1')
    """
    known = {1: ("elements",), 2: ("rows", "columns")}.get(rank)
    return known[dim] if known else f"dim {dim}"


def over(axes: Sequence[Axis]) -> str:
    """
    The axes that split a dim, major to minor.

    >>> over([Axis("data"), Axis("model")])
    'over data and model'
    """
    return f"over {' and '.join(axis.brief() for axis in axes)}"


def dims_in_words(dims: Sequence[Sequence[Axis]]) -> str:
    """
    How a tensor's dims are split.

    >>> dims_in_words([(Axis("data"),), (Axis("model"),)]), dims_in_words([(), ()])
    ('rows over data, columns over model', 'not split')
    """
    split = [f"{dim_name(dim, len(dims))} {over(axes)}" for dim, axes in enumerate(dims) if axes]
    return ", ".join(split) or "not split"
