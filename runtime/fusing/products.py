"""Matrix products over windows: which dims merge into rows, columns and sums, so that BLAS reads them in place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from shardwright.runtime.planning.storage import Copy, Storage, Window
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.program import Dot, Step, Value

_PARALLEL_FLOPS = 4_000_000
"""
Multiplications and additions from which a product is worth two threads.

One thread needs some 50 us for so many, and a round trip of the crew takes 16 us.
"""

_SMALLEST_MATRIX = 32
"""
Rows below which one product and a copy are preferred to a stack of products.

For matrices of one row a stack takes two to three times as long as both together, since each is a call of BLAS.
"""

Dim: TypeAlias = "tuple[int, int, int]"
"""A dim of a dot by place: (lhs dim, rhs dim, result dim), -1 where there is none."""

Dims: TypeAlias = "Sequence[Dim]"


@dataclass(eq=False)
class Product:
    """`out = lhs @ rhs` as a stack of matrices; `axis` is the dim of `out` to share between threads, if any."""

    lhs: Window
    rhs: Window
    out: Window
    axis: int | None
    location: str


@dataclass(eq=False)
class Batch:
    """Products that run together: each is worth sharing between threads, and none reads another's result."""

    products: list[Product]

    def takes(self, product: Product) -> bool:
        """Whether a product reads nothing that this batch writes."""
        written = {other.out.buffer for other in self.products}
        return product.lhs.buffer not in written and product.rhs.buffer not in written


@dataclass(frozen=True)
class _Roles:
    """The dims of a dot by what they do."""

    batch: list[Dim]
    rows: list[Dim]
    columns: list[Dim]
    summed: list[Dim]


def _batch_roles(dims: Dot, left: Sequence[int], right: Sequence[int]) -> _Roles:
    """What the batch dims do."""
    roles = _Roles([], [], [], [])
    for at, (a, b) in enumerate(dims.batch):
        if (a, b) in dims.contract:
            continue
        # A batch dim along which one operand is the same makes more rows or columns: one large product, not many.
        if left[a] > 1 and right[b] > 1:
            roles.batch.append((a, b, at))
        elif left[a] > 1:
            roles.rows.append((a, -1, at))
        elif right[b] > 1:
            roles.columns.append((-1, b, at))
    return roles


def _roles(step: Step) -> _Roles:
    dims = step.static[0]
    assert isinstance(dims, Dot)
    left, right = (operand.shape for operand in step.operands)
    roles = _batch_roles(dims, left, right)
    pairs = (*dims.batch, *dims.contract)
    free_left = [dim for dim in range(len(left)) if dim not in {a for a, _ in pairs}]
    free_right = [dim for dim in range(len(right)) if dim not in {b for _, b in pairs}]
    roles.rows.extend((dim, -1, at) for at, dim in enumerate(free_left, len(dims.batch)))
    roles.columns.extend((-1, dim, at) for at, dim in enumerate(free_right, len(dims.batch) + len(free_left)))
    roles.summed.extend((a, b, -1) for a, b in dims.contract if left[a] > 1)
    return roles


def plan_product(step: Step, lhs: Window, rhs: Window, storage: Storage) -> list[Product | Copy]:
    """The units that compute a dot: the product itself, after copies of operands whose summed dims do not merge."""
    units: list[Product | Copy] = []
    roles = _roles(step)
    # Dims that follow each other in memory merge into one: each list goes by the strides of an operand that has it.
    batch = _by_stride(roles.batch, lhs.strided, 0)
    rows = _by_stride([dim for dim in roles.rows if lhs.strided.shape[dim[0]] > 1], lhs.strided, 0)
    columns = _by_stride([dim for dim in roles.columns if rhs.strided.shape[dim[1]] > 1], rhs.strided, 1)
    summed = _sum_order(roles.summed, lhs.strided, rhs.strided)
    # BLAS sums along one dim alone; an operand in which the summed dims are not one is copied so that they are.
    if not _merges(summed, lhs.strided, 0):
        lhs = _packed(lhs, [dim[0] for dim in (*batch, *rows, *summed)], units)
    if not _merges(summed, rhs.strided, 1):
        rhs = _packed(rhs, [dim[1] for dim in (*batch, *columns, *summed)], units)
    lhs = _blasable(lhs, (batch, rows, summed), 0, units)
    rhs = _blasable(rhs, (batch, columns, summed), 1, units)
    out, final, swap = _target(step.results[0], (lhs.strided, rhs.strided), (batch, rows, columns), storage)
    units.append(_product(step, (lhs, rhs, out), batch, (rows, columns, summed), swap=swap))
    if final is not None:
        units.append(Copy(final, out))
        storage.homes[step.results[0]] = final
    return units


def _sum_order(dims: Dims, lhs: Strided, rhs: Strided) -> list[Dim]:
    """The summed dims in an order in which they merge in both operands, else in the right one, else in the left."""
    by_left, by_right = _by_stride(dims, lhs, 0), _by_stride(dims, rhs, 1)
    if (_merges(by_left, lhs, 0) and _merges(by_left, rhs, 1)) or not _merges(by_right, rhs, 1):
        return by_left
    return by_right


def _target(
    result: Value, operands: tuple[Strided, Strided], dims: tuple[Dims, Dims, Dims], storage: Storage
) -> tuple[Window, Window | None, bool]:
    """
    Where to write the result, where it has to be moved afterwards (if anywhere), and whether to multiply transposed.

    The order that the result must have, or that its readers wish, is kept where BLAS can write it in long pieces.
    """
    batch, rows, columns = dims
    final = storage.homes.get(result)
    wanted = final.strided.order() if final else storage.wishes.get(result, ())
    # BLAS writes rows one behind the other; where the left operand's dims are to be minor, b^T @ a^T does just that.
    swap = bool(wanted) and wanted[-1] in {dim[2] for dim in rows}
    minor, major = (rows, columns) if swap else (columns, rows)
    side = 1 if swap else 0
    if final is not None and _fits(final.strided, minor, major, operands[side], side):
        return final, None, swap
    order = [dim[2] for dim in (*batch, *major, *minor)]
    rest = [dim for dim in range(len(result.shape)) if dim not in order]
    if len(wanted) == len(order) and final is None:
        wished = Strided.dense(result.shape, [*rest, *wanted])
        order = list(wanted) if _fits(wished, minor, major, operands[side], side) else order
    return storage.new(result, [*rest, *order]), final, swap


def _fits(out: Strided, minor: Dims, major: Dims, operand: Strided, side: int) -> bool:
    """Whether the matrices of the result have contiguous rows, and are not many small ones."""
    single = _single(out, [dim[2] for dim in minor])
    if single is None or (single[1] != 1 and single[0] != 1):
        return False
    cut = _cut(major, ((operand, side), (out, 2)))
    return cut == 0 or math.prod(out.shape[dim[2]] for dim in major[cut:]) >= _SMALLEST_MATRIX


def _by_stride(dims: Dims, window: Strided, side: int) -> list[Dim]:
    return sorted(dims, key=lambda dim: -window.strides[dim[side]])


def _merges(dims: Dims, window: Strided, side: int) -> bool:
    return _single(window, [dim[side] for dim in dims]) is not None


def _single(window: Strided, dims: Sequence[int]) -> tuple[int, int] | None:
    """The extent and step of these dims as one; `None` when they do not merge."""
    if not dims:
        return 1, 0
    for outer, inner in pairwise(dims):
        if window.strides[outer] != window.shape[inner] * window.strides[inner]:
            return None
    return math.prod(window.shape[dim] for dim in dims), window.strides[dims[-1]]


def _packed(window: Window, order: Sequence[int], units: list[Product | Copy]) -> Window:
    """A copy whose dims lie in memory in `order`."""
    storage = Storage()
    rest = [dim for dim in range(len(window.strided.shape)) if dim not in order]
    target = storage.new(Value(window.strided.shape, window.buffer.dtype), [*rest, *order])
    units.append(Copy(target, window))
    return target


def _blasable(window: Window, dims: tuple[Dims, Dims, Dims], side: int, units: list[Product | Copy]) -> Window:
    """
    The window itself when BLAS can read its matrices, else a copy that it can read.

    NumPy would make such a copy itself, but in new memory in each run, and once for each part that a thread takes.
    """
    strided = window.strided
    batch, free, summed = ([dim[side] for dim in each] for each in dims)
    inner_free = free[_cut(dims[1], ((strided, side),)) :]
    extent = math.prod(strided.shape[dim] for dim in inner_free)
    scattered = len(inner_free) < len(free) and extent < _SMALLEST_MATRIX // 2
    if not scattered and _is_matrix(strided, inner_free, summed):
        return window
    return _packed(window, [*batch, *free, *summed], units)


def _is_matrix(strided: Strided, free: Sequence[int], summed: Sequence[int]) -> bool:
    """Whether BLAS can read these dims, the free ones as one and the summed ones as one, as a matrix."""
    (extent, free_step), (count, sum_step) = (
        (math.prod(strided.shape[dim] for dim in dims), strided.strides[dims[-1]] if dims else 0)
        for dims in (free, summed)
    )
    # One of the dims must lie without gaps, and rows of the other must not overlap (a repeated dim has a step of 0).
    row_major = (sum_step == 1 or count == 1) and (free_step >= count or extent == 1)
    column_major = (free_step == 1 or extent == 1) and (sum_step >= extent or count == 1)
    return row_major or column_major


def _product(
    step: Step,
    windows: tuple[Window, Window, Window],
    batch: list[Dim],
    sides: tuple[list[Dim], list[Dim], list[Dim]],
    *,
    swap: bool,
) -> Product:
    lhs, rhs, out = windows
    rows, columns, summed = sides
    row_cut = _cut(rows, ((lhs.strided, 0), (out.strided, 2)))
    column_cut = _cut(columns, ((rhs.strided, 1), (out.strided, 2)))
    loops = [*batch, *rows[:row_cut], *columns[:column_cut]]
    rows, columns = rows[row_cut:], columns[column_cut:]
    left = _matrix(lhs.strided, [d[0] for d in loops], [d[0] for d in rows], [d[0] for d in summed])
    right = _matrix(rhs.strided, [d[1] for d in loops], [d[1] for d in summed], [d[1] for d in columns])
    result = _matrix(out.strided, [d[2] for d in loops], [d[2] for d in rows], [d[2] for d in columns])
    if swap:
        left, right, result = _turned(right), _turned(left), _turned(result)
        lhs, rhs = rhs, lhs
    flops = 2 * result.size * left.shape[-1]
    axis = _shared_axis(result) if flops >= _PARALLEL_FLOPS else None
    return Product(Window(lhs.buffer, left), Window(rhs.buffer, right), Window(out.buffer, result), axis, step.location)


def _cut(dims: Dims, windows: Sequence[tuple[Strided, int]]) -> int:
    """How many major dims have to be loops, since they do not merge with the minor ones in every window."""
    start = len(dims)
    while start and all(
        _single(strided, [dim[side] for dim in dims[start - 1 :]]) is not None for strided, side in windows
    ):
        start -= 1
    return start


def _matrix(window: Strided, loops: Sequence[int], rows: Sequence[int], columns: Sequence[int]) -> Strided:
    row, column = _single(window, rows), _single(window, columns)
    assert row is not None
    assert column is not None
    shape = [1 if dim < 0 else window.shape[dim] for dim in loops]
    strides = [0 if dim < 0 else window.strides[dim] for dim in loops]
    return Strided((*shape, row[0], column[0]), (*strides, row[1], column[1]), window.offset)


def _turned(window: Strided) -> Strided:
    dims = len(window.shape)
    return window.transpose([*range(dims - 2), dims - 1, dims - 2])


def _shared_axis(result: Strided) -> int:
    """
    The dim to cut: a loop dim of even extent if there is one, else the longer side of the matrices.

    A cut through the matrices makes BLAS prepare one operand for each part; an odd loop dim leaves a thread waiting.
    """
    dims = len(result.shape)
    even = [dim for dim in range(dims - 2) if result.shape[dim] % 2 == 0]
    if even:
        return max(even, key=lambda dim: (result.shape[dim] >= 2, -dim))
    return dims - 2 if result.shape[-2] > result.shape[-1] else dims - 1
