"""Changes of layout, and plain arrays made distributed tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import as_dtype, listed
from shardwright.compiler.tracing.emit import as_numpy, check_layout, check_unmasked, is_key_of_jax, is_traced_by_jax
from shardwright.compiler.tracing.settings import settled
from shardwright.compiler.tracing.trace import current_trace
from shardwright.diagnostics import Diagnostic, ShardwrightBufferError
from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.frontends.functions.dispatch import array_function
from shardwright.frontends.functions.dtensor import DTensor, as_dtensor, distributed, is_ours, stacked, tensor_of
from shardwright.layout import Layout, Mesh


def relayout(source: ArrayLike | Sequence[Any], mesh_or_layout: Layout | Mesh) -> Array:
    """
    The same tensor in another layout (RFC: `tf.dtensor.relayout`); a NumPy array is distributed.

    With a mesh instead of a layout, the sharding stays and the mesh must have the same axes. Works in traced functions,
    where it is an operation like any other, and outside. Open dims are for the compiler of a traced function to decide;
    outside of one they stay as they lie, and those of what is not distributed yet are split as far as is written.

    >>> import shardwright
    >>> mesh = shardwright.Mesh(x=2)
    >>> x = shardwright.ones((2, 4), layout=shardwright.Layout(["x"], mesh))
    >>> shardwright.relayout(x, shardwright.Layout([None, "x"], mesh))
    DTensor([[1., 1., 1., 1.],
             [1., 1., 1., 1.]], f32[2, 4@x], Mesh(x=2))
    """
    layout, source = mesh_or_layout, stacked(source)
    if isinstance(layout, Mesh):
        if current_trace() is not None and getattr(source, "layout", None) is None:
            return emit.to_mesh(emit.as_tracer(source, "relayout"), layout, "shardwright.relayout")
        known: Layout | None = getattr(source, "layout", None)
        return relayout(source, Layout(Mesh.UNSHARDED, layout) if known is None else known.moved_to(layout))
    check_layout(layout, "relayout")
    if current_trace() is not None or is_ours(source):
        return _relayout(cast("ArrayLike", source), layout)
    # A copy: the tensor must not change when the caller's array does.
    plain = isinstance(source, bool | int | float | complex) and not hasattr(source, "dtype")
    if plain or isinstance(source, list | tuple):
        array = listed(source, as_dtype(type(source)) if plain else None, "relayout")
    else:
        refused = is_traced_by_jax(source) or is_key_of_jax(source)
        array = source if refused else np.array(source, subok=True)
    return distributed(as_numpy(array, "relayout"), layout)


def constraint(x: ArrayLike | Sequence[Any], layout: Layout) -> Array:
    """
    The same tensor, which is to be in a layout already where it is made: a request that spreads backwards.

    `relayout` changes the layout of a value that is there, and says nothing of how it came to be. This says where it
    belongs, as JAX's `with_sharding_constraint` does: what it is computed of is laid out to suit, as far as nobody said
    otherwise. Outside of traced functions every value is there, so that it is `relayout`.

    Args:
        x: a value of a traced function, of any shape and dtype; outside also what `relayout` takes.
        layout: one for the rank of `x`, on its mesh.

    Returns:
        The tensor in that layout. Its gradient comes back as it is, with no layout asked of it.

    Raises:
        ValueError: the layout is on another mesh (SW0505), or the shape cannot be split so.
        TypeError: `layout` is no layout (SW0515).

    Each device computes its rows only; with `relayout` it would compute them all, and keep its own:

    >>> import numpy, shardwright
    >>> rows = shardwright.Layout(["x", None], shardwright.Mesh(x=2))
    >>> halves = shardwright.function(lambda x: shardwright.constraint(shardwright.exp(x), rows))
    >>> halves(numpy.zeros((4, 3), "float32")).layout == rows
    True
    >>> text = halves.trace(numpy.zeros((4, 3), "float32")).partition().as_text()
    >>> next(line.split()[-1] for line in text.splitlines() if "exponential" in line and "= stablehlo" in line)
    'tensor<2x3xf32>'
    """
    check_layout(layout, "constraint")
    if current_trace() is None:
        return relayout(x, layout)
    return _constraint(cast("ArrayLike", x), layout)


@settled
def from_dlpack(
    x: Any, /, *, device: str | None = None, copy: bool | None = None, layout: Layout | None = None
) -> Array:
    """
    The array of another library, by way of DLPack; its memory is shared unless `copy` or `layout` is given.

    As for all functions that make arrays, the result is distributed with `layout` and a `Tensor` without it; what is
    distributed already stays so. Raises `TypeError` (SW0507) for what does not speak DLPack, and `BufferError` for what
    cannot be exchanged.

    >>> import shardwright, numpy
    >>> shardwright.from_dlpack(numpy.arange(3.0))
    array([0., 1., 2.])
    >>> shardwright.from_dlpack(numpy.ones(4), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
    DTensor([1., 1., 1., 1.], f64[4@x], Mesh(x=2))
    """
    if not hasattr(x, "__dlpack__") or isinstance(x, type):
        raise type_error(
            "SW0507", f"from_dlpack takes arrays that have __dlpack__, not {type(x).__name__}", help="use asarray"
        )
    if device not in (None, "cpu"):
        raise value_error("SW0517", f"there is no device {device!r}", help="the one device is called cpu")
    if isinstance(x, DTensor):
        return x if layout is None else relayout(x, layout)
    check_unmasked(x, "from_dlpack")
    try:
        array = np.from_dlpack(x, copy=copy)
    except BufferError as error:
        message = f"from_dlpack cannot take this {type(x).__name__}: {error}"
        raise ShardwrightBufferError(Diagnostic("SW0506", message, caller(), help="use asarray")) from error
    return tensor_of(array, None) if layout is None else relayout(array, layout)


@settled
def relayout_like(source: ArrayLike | Sequence[Any], reference: Array, use_mesh_only: bool = False) -> Array:
    """
    The same tensor in the layout of `reference`, or only on its mesh (RFC: `tf.dtensor.relayout_like`).

    In traced functions the reference may be any value: where its layout is still to be decided, both get the same.

    Args:
        source: what `relayout` takes, of any shape and dtype.
        reference: a distributed tensor, or a value of the traced function; of the shape of `source` if its layout
            is not decided yet.
        use_mesh_only: only the mesh changes; the sharding stays as far as that mesh has the same axes.

    Raises:
        ValueError: the reference is on no mesh, or gets its layout later and has another shape (SW0502); the shape
            cannot be split so.

    >>> import shardwright, numpy
    >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
    >>> shardwright.relayout_like(numpy.zeros(6), x)
    DTensor([0., 0., 0., 0., 0., 0.], f64[6@x], Mesh(x=2))
    >>> function = shardwright.function(lambda x, y: shardwright.relayout_like(y, shardwright.exp(x)))
    >>> function(x, numpy.zeros(4)).layout == x.layout
    True
    """
    layout: Layout | None = getattr(reference, "layout", None)
    if layout is None and current_trace() is not None:
        return _relayout_like(cast("ArrayLike", source), reference, use_mesh_only)
    if layout is None:
        raise value_error(
            "SW0502", "relayout_like: the reference is not a distributed tensor", help="give the layout to relayout"
        )
    return relayout(source, layout.mesh if use_mesh_only else layout)


def fetch(x: Array) -> np.ndarray[Any, Any]:
    """
    The whole of a distributed tensor as a NumPy array, on every process of the job.

    On one process it is `x.numpy()`; of several each gets what it lacks, and all have to call this, also those that
    have no part of its mesh. Raises `ValueError`
    (SW0502) for anything but a distributed tensor.

    >>> import shardwright
    >>> shardwright.fetch(shardwright.ones(4, layout=shardwright.Layout(["x"], shardwright.Mesh(x=2))))
    array([1., 1., 1., 1.], dtype=float32)
    """
    x = as_dtensor(x, "fetch", "an array is here as it is; inside of a traced function there is nothing to fetch")
    if x.mesh.num_clients > 1:
        x = relayout(x, Layout.replicated(x.mesh, rank=len(x.shape)))
    if x.mesh.num_clients < x.mesh.clients.everyone.count:
        x = relayout(x, Layout.replicated(Mesh(everywhere=1), rank=len(x.shape)))
    return x.numpy()


@array_function
def _relayout(source: ArrayLike, layout: Layout) -> Array:
    return emit.relayout(emit.as_tracer(source, "relayout"), layout, "shardwright.relayout")


@array_function
def _constraint(x: ArrayLike, layout: Layout) -> Array:
    return emit.constrain(emit.as_tracer(x, "constraint"), layout, "constraint", "shardwright.constraint")


@array_function
def _relayout_like(source: ArrayLike, reference: Array, use_mesh_only: bool) -> Array:
    value, model = (emit.as_tracer(each, "relayout_like") for each in (source, reference))
    return emit.relayout_like(value, model, "shardwright.relayout_like", mesh_only=use_mesh_only)
