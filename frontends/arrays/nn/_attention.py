"""Attention, and the lookup of embeddings."""

from __future__ import annotations

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import BOOLEAN, DEFAULT_FLOAT, DEFAULT_INTEGER, check_kind
from shardwright.compiler.tracing.trace import Tracer
from shardwright.frontends.arrays.indexing.functions import gather
from shardwright.frontends.arrays.nn._losses import softmax
from shardwright.frontends.arrays.nn._parts import misfit, operand
from shardwright.frontends.arrays.reducing.contractions import einsum
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["embedding_lookup", "scaled_dot_product_attention"]


@array_function
def embedding_lookup(params: ArrayLike, ids: ArrayLike, /) -> Array:
    """
    The rows of `params` at whole numbers of any shape (RFC: distributed embeddings).

    A number outside counts as the nearest one inside, negative ones count from the end, as in `gather`. Where the rows
    are split each device looks up those that it has, and one sum brings them together.

    >>> import shardwright, numpy
    >>> shardwright.nn.embedding_lookup(numpy.eye(3), numpy.array([2, 0]))
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    return gather(params, ids)


@array_function
def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    /,
    *,
    mask: ArrayLike | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Array:
    """
    The means of values, weighted by the softmax of the products of queries and keys.

    Queries are (batch, time, heads, depth), keys and values (batch, time, groups, depth), where each group serves as
    many heads, next to each other. `mask` broadcasts to (batch, heads, query time, key time): truth values say what
    may be seen, floats are added to the products. `causal` hides keys that come after their query. `scale` is one over
    the root of the depth if it is not given. Raises `ValueError` (SW0541) for shapes that do not fit.

    >>> import shardwright, numpy
    >>> x = numpy.ones((1, 4, 2, 8))
    >>> shardwright.nn.scaled_dot_product_attention(x, x, x, causal=True).shape
    (1, 4, 2, 8)
    """
    q, k, v = (operand(x, "attention") for x in (query, key, value))
    _check(q, k, v)
    batch, time, heads, depth = q.shape
    groups = k.shape[2]
    grouped = emit.reshape(q, (batch, time, groups, heads // groups, depth))
    factor = max(depth, 1) ** -0.5 if scale is None else float(scale)
    scores: Tracer = emit.as_tracer(einsum("btghd,bsgd->bghts", grouped * factor, k))
    kept = scores.dtype
    wide = emit.convert(scores, DEFAULT_FLOAT) if kept.itemsize < 4 else scores
    wide = _masked(wide, mask, causal)
    weights = emit.convert(emit.as_tracer(softmax(wide)), kept)
    mixed: Tracer = emit.as_tracer(einsum("bghts,bsgd->btghd", weights, v))
    return emit.reshape(mixed, (batch, time, heads, v.shape[3]))


def _check(q: Tracer, k: Tracer, v: Tracer) -> None:
    shapes = [list(value.shape) for value in (q, k, v)]
    fits = all(len(shape) == 4 for shape in shapes)
    fits = fits and shapes[0][0] == shapes[1][0] and shapes[0][3] == shapes[1][3] and shapes[1][:3] == shapes[2][:3]
    if not fits or shapes[0][2] % max(shapes[1][2], 1) or not shapes[1][2]:
        raise misfit(
            "attention",
            f"queries {shapes[0]}, keys {shapes[1]} and values {shapes[2]} do not fit",
            "they are (batch, time, heads, depth), and the heads of queries are a multiple of the others'",
        )


def _masked(scores: Tracer, mask: ArrayLike | None, causal: bool) -> Tracer:
    """The products with what may not be seen as low as can be."""
    batch, groups, share, time, keys = scores.shape
    hidden = emit.constant(_LOW, scores.dtype, scores.shape)
    if mask is not None:
        given = emit.as_tracer(mask, "attention")
        check_kind(given.dtype, ("boolean", "float"), "attention (its mask)")
        due = (batch, groups * share, time, keys)
        if emit.broadcast_shape("attention", given.shape, due) != due:
            raise misfit("attention", f"a mask of {list(given.shape)} does not broadcast to {list(due)}")
        wide = emit.reshape(emit.broadcast(given, due), scores.shape)
        if given.dtype == BOOLEAN:
            scores = emit.select(wide, scores, hidden)
        else:
            scores += emit.convert(wide, scores.dtype)
    if causal:
        rows, columns = (emit.iota(DEFAULT_INTEGER, (time, keys), dim) for dim in (0, 1))
        seen = emit.compare("LE", columns, rows)
        scores = emit.select(emit.broadcast(seen, scores.shape), scores, hidden)
    return scores


_LOW = -1e30
"""Lower than any product, and finite, so that rows of which nothing may be seen are no NaNs."""
