"""Functions of one row as functions of all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from shardwright.compiler.control import regions
from shardwright.compiler.control.batching import control, indexing, products
from shardwright.compiler.control.batching.rows import Rows
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dtypes import DType
from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.pytree import Static, Tree, flatten, paths, unflatten
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects.building import free_values, returned
from shardwright.dialects.dtensor.gradients import GradientOp
from shardwright.dialects.types import shape_of

_RULES = (control, indexing, products)
"""What is imported for the rules that it adds."""


@dataclass(frozen=True)
class _Row:
    """What a function of one row is given."""

    shape: tuple[int, ...]
    dtype: DType


def _is_value(leaf: Any) -> bool:
    """What a function gives for a row: truth values as well, which steer Python where they are arguments."""
    return type(leaf) is bool or is_traced(leaf)


def mapped(function: Callable[..., Any], in_axes: Any, out_axes: Any, axis_size: int | None) -> Callable[..., Any]:
    """The traced function that does for all rows what `function` does for one."""

    def traced(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = flatten((args, kwargs), is_traced)
        positional, named = tree.parts
        dims = [*_spread(in_axes, positional, "in_axes"), *_spread(0, named, "in_axes")]
        values = [leaf if dim is None else _front(leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
        wide: list[Tracer] = [value for value, dim in zip(values, dims, strict=True) if dim is not None]
        made: list[Tree] = []

        def one(rows: list[Tracer]) -> list[Tracer]:
            taken = iter(rows)
            given = [value if dim is None else next(taken) for value, dim in zip(values, dims, strict=True)]
            inner_args, inner_kwargs = unflatten(tree, given)
            results, found = flatten(function(*inner_args, **inner_kwargs), _is_value)
            made[:] = [found]
            return [emit.as_tracer(result, "vmap") for result in results]

        size = _size([value.shape[0] for value in wide], axis_size)
        results = _for_all_rows(one, wide, size, lambda: _spread(out_axes, made[0], "out_axes"))
        return unflatten(made[0], results)

    return update_wrapper(traced, function)


def _for_all_rows(
    one: Callable[[list[Tracer]], list[Tracer]],
    wide: Sequence[Tracer],
    size: int,
    out_dims: Callable[[], list[int | None]],
) -> list[Tracer]:
    """The program for one row is written beside the other, then into it for all rows, and forgotten."""
    trace = emit.trace_now()
    region = regions.region_of([_Row(value.shape[1:], value.dtype) for value in wide], one)
    sources = frozenset(value for op in region.walk() if isinstance(op, GradientOp) for value in op.sources)
    rows = Rows(trace, size, dict(zip(region.block.args, regions.raw(wide), strict=True)), sources)
    rows.origin = region.block.first_op
    for value in dict.fromkeys(free_values(region.block)):
        if value in sources:
            rows.note(value, value)  # all rows share it, and a tape in the function watches it
    written = rows.write(region.block)
    pairs = list(zip(returned(region.block), written, out_dims(), strict=True))
    results = [_back(rows, value, Tracer(trace, found), dim) for value, found, dim in pairs]
    region.drop_all_references()
    return results


def _front(leaf: Any, dim: int) -> Tracer:
    """An argument with the mapped dim in front."""
    value = emit.as_tracer(leaf, "vmap")
    if not -value.ndim <= dim < value.ndim:
        raise _unfit(f"in_axes names dim {dim} of an argument of shape {list(value.shape)}", _IN_AXES)
    first = dim % value.ndim
    return emit.transpose(value, [first, *(other for other in range(value.ndim) if other != first)])


def _back(rows: Rows, value: SSAValue, found: Tracer, dim: int | None) -> Tracer:
    """A result with the mapped dim where it belongs; what all rows share is repeated, or stays without one."""
    varies = rows.varies(value)
    if dim is None:
        if varies:
            raise _unfit("out_axes is None for a result that differs from row to row", "name the dim of the rows")
        return found
    rank = len(shape_of(value)) + 1
    if not -rank <= dim < rank:
        raise _unfit(f"out_axes names dim {dim} of a result of {rank} dims", "count dims from 0, or from the end")
    wide = found if varies else emit.broadcast_in_dim(found, (rows.size, *found.shape), range(1, rank))
    order = list(range(1, rank))
    order.insert(dim % rank, 0)
    return emit.transpose(wide, order)


def _size(sizes: Sequence[int], given: int | None) -> int:
    found = {*sizes, *([] if given is None else [given])}
    if not found:
        raise _unfit("no argument is mapped", "name a dim in in_axes, or give axis_size")
    if len(found) > 1:
        raise _unfit(f"the mapped dims have different sizes: {sorted(found)}", _IN_AXES)
    return found.pop()


def _spread(axes: Any, tree: Tree | Static, what: str) -> list[int | None]:
    """The dim of each array of a tree, of dims for the tree or for its parts."""
    if axes is None or isinstance(axes, int | np.integer):
        return [axes if axes is None else int(axes)] * len(paths(cast("Tree", tree)))
    keys = [] if isinstance(tree, Static) else tree.keys or range(len(tree.parts))
    parts: Sequence[Any] = () if isinstance(tree, Static) else tree.parts
    known = axes.keys() if isinstance(axes, dict) else range(len(axes)) if isinstance(axes, list | tuple) else ()
    if set(known) != set(keys) or not parts:
        raise _unfit(f"{what} is {axes!r}, which is not in the tree of what it is about", _IN_AXES)
    return [dim for key, part in zip(keys, parts, strict=True) for dim in _spread(axes[key], part, what)]


_IN_AXES = "give a dim or None for each argument, or a tree of them for a tree of arrays"


def _unfit(message: str, way_out: str) -> Exception:
    return value_error("SW0526", f"vmap: {message}", help=way_out)
