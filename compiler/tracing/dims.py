"""Checks of the dim arguments that users give: `axis` in the array API standard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, TypeAlias

from shardwright.diagnostics.faults import index_error, type_error, value_error

Dims: TypeAlias = "int | Sequence[int] | None"


def dim_of(axis: object, rank: int, what: str) -> int:
    """
    The dim that `axis` names, counted from the end when negative.

    >>> dim_of(-1, 3, "sum")
    2
    """
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise type_error("SW0510", f"{what}: a dim is a whole number, not {axis!r}")
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
    given = one_or_more(shape)
    if not all(hasattr(size, "__index__") for size in given):
        raise type_error("SW0510", f"{what}: {shape!r} is no shape", help=help)
    sizes = tuple(map(index, given))
    if any(size < 0 for size in sizes):
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
