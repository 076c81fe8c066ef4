"""Transformer blocks: attention in several forms, under data, tensor, sequence and fully sharded parallelism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

from shardwright.benchmarks.programs.catalogue import (
    BATCH_MODEL,
    CUBE,
    MODEL_WIDE,
    ONE_AXIS,
    Context,
    Traceable,
    adam,
    layer_norm,
    program,
    rms_norm,
    sgd,
)
from shardwright.benchmarks.programs.sizes import Shape

Tree = dict[str, Any]


SMALL = Shape()
GROUPED = Shape(heads=8, groups=2)


def parameters(context: Context, shape: Shape = SMALL, dtype: Any = jnp.float32) -> Tree:
    """The weights of one block; heads are a dim of their own."""
    width, head = shape.width, shape.head
    return {
        "wq": context.weight(width, shape.heads, head, dtype=dtype),
        "wk": context.weight(width, shape.groups, head, dtype=dtype),
        "wv": context.weight(width, shape.groups, head, dtype=dtype),
        "wo": context.array(shape.heads, head, width, scale=width**-0.5, dtype=dtype),
        "gate": context.weight(width, shape.hidden, dtype=dtype),
        "up": context.weight(width, shape.hidden, dtype=dtype),
        "down": context.weight(shape.hidden, width, dtype=dtype),
        "norm1": 1 + context.array(width, scale=0.1, dtype=dtype),
        "norm2": 1 + context.array(width, scale=0.1, dtype=dtype),
    }


def tensor_parallel(axis: str = "model") -> dict[str, P]:
    """Heads and hidden units split over the axis; norms everywhere."""
    heads = dict.fromkeys(("wq", "wk", "wv"), P(None, axis, None))
    rest = {"gate": P(None, axis), "up": P(None, axis), "down": P(axis, None), "norm1": P(), "norm2": P()}
    return {**heads, "wo": P(axis, None, None), **rest}


def rope(value: jax.Array) -> jax.Array:
    """Rotary position embedding over (batch, length, heads, head)."""
    half = value.shape[-1] // 2
    angles = jnp.arange(value.shape[1])[:, None] * (10000.0 ** (-jnp.arange(half) / half))[None, :]
    cosine, sine = (fn(angles)[None, :, None, :].astype(value.dtype) for fn in (jnp.cos, jnp.sin))
    left, right = value[..., :half], value[..., half:]
    return jnp.concatenate([left * cosine - right * sine, right * cosine + left * sine], axis=-1)


def attention(layer: Tree, value: jax.Array, positions: bool = True, causal: bool = True) -> jax.Array:
    """Grouped-query attention: every group of query heads shares one key and value head."""
    query = jnp.einsum("btd,dhk->bthk", value, layer["wq"])
    key = jnp.einsum("btd,dgk->btgk", value, layer["wk"])
    values = jnp.einsum("btd,dgk->btgk", value, layer["wv"])
    if positions:
        query, key = rope(query), rope(key)
    batch, length, heads, head = query.shape
    groups = key.shape[2]
    query = query.reshape(batch, length, groups, heads // groups, head)
    scores = jnp.einsum("btgrk,bsgk->bgrts", query, key) * head**-0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
    mixed = jnp.einsum("bgrts,bsgk->btgrk", jax.nn.softmax(scores), values)
    return jnp.einsum("bthk,hkd->btd", mixed.reshape(batch, length, heads, head), layer["wo"])


def feed_forward(layer: Tree, value: jax.Array) -> jax.Array:
    """The gated feed-forward half."""
    return (jax.nn.silu(value @ layer["gate"]) * (value @ layer["up"])) @ layer["down"]


def block(layer: Tree, value: jax.Array) -> jax.Array:
    """Norm, attention, norm, feed-forward, with residuals."""
    value = value + attention(layer, rms_norm(value, layer["norm1"]))
    return value + feed_forward(layer, rms_norm(value, layer["norm2"]))


def post_norm_block(layer: Tree, value: jax.Array) -> jax.Array:
    """Norms after the residuals; no positions, no mask."""
    value = layer_norm(value + attention(layer, value, positions=False, causal=False), layer["norm1"], layer["norm2"])
    return layer_norm(value + feed_forward(layer, value), layer["norm1"], layer["norm2"])


def biased_parameters(context: Context, shape: Shape = SMALL) -> Tree:
    """The weights of a block with layer norms and biases."""
    width, hidden = shape.width, shape.hidden
    sizes = {"shift1": width, "shift2": width, "up_bias": hidden, "down_bias": width}
    plain = {name: one for name, one in parameters(context, shape).items() if name != "gate"}
    return plain | {name: context.array(size, scale=0.1) for name, size in sizes.items()}


def biased_tensor_parallel(axis: str = "model") -> dict[str, P]:
    """As `tensor_parallel`; the hidden biases are split with the hidden units."""
    plain = {name: spec for name, spec in tensor_parallel(axis).items() if name != "gate"}
    return plain | {"shift1": P(), "shift2": P(), "up_bias": P(axis), "down_bias": P()}


def biased_block(layer: Tree, value: jax.Array) -> jax.Array:
    """Layer norm, attention, layer norm, a feed-forward half with GELU and biases, with residuals."""
    value = value + attention(layer, layer_norm(value, layer["norm1"], layer["shift1"]))
    normed = layer_norm(value, layer["norm2"], layer["shift2"])
    hidden = jax.nn.gelu(normed @ layer["up"] + layer["up_bias"])
    return value + hidden @ layer["down"] + layer["down_bias"]


def squared_error(value: jax.Array, target: jax.Array) -> jax.Array:
    """The sum over features, the mean over tokens."""
    return jnp.mean(jnp.sum((value - target) ** 2, axis=-1))


def train_step(run: Callable[[Tree, jax.Array], jax.Array]) -> Callable[..., Any]:
    """One step of gradient descent on the squared error of `run`."""

    def step(layer: Tree, value: jax.Array, target: jax.Array) -> Any:
        loss, gradients = jax.value_and_grad(lambda one: squared_error(run(one, value), target))(layer)
        return sgd(layer, gradients), loss

    return step


def tokens(context: Context, shape: Shape = SMALL, dtype: Any = jnp.float32) -> jax.Array:
    """Seeded activations of shape (batch, length, width)."""
    return context.array(shape.batch, shape.length, shape.width, dtype=dtype)


def training(context: Context, specs: Any, rows: P, shape: Shape = SMALL, run: Any = block) -> Traceable:
    """The training step of one block."""
    arguments = (parameters(context, shape), tokens(context, shape), tokens(context, shape))
    return Traceable(train_step(run), arguments, (specs, rows, rows), (specs, P()))


@program(BATCH_MODEL, "transformer", "train", "gqa", "rope", "rmsnorm", "swiglu", tolerance=(2e-3, 2e-4))
def tblock_gqa_train(context: Context) -> Traceable:
    return training(context, tensor_parallel(), P("batch"), GROUPED)


@program(MODEL_WIDE, "transformer", "fwd", "tp")
def tblock_fwd_wide(context: Context) -> Traceable:
    return Traceable(block, (parameters(context), tokens(context)), (tensor_parallel(), P("batch")), P("batch"))


@program(MODEL_WIDE, "transformer", "fwd", "mqa", "replicated-kv")
def tblock_mqa_fwd(context: Context) -> Traceable:
    """One key and value head for all queries: it cannot be split, so it is kept everywhere."""
    shape = Shape(heads=4, groups=1)
    specs = tensor_parallel() | dict.fromkeys(("wk", "wv"), P())
    return Traceable(block, (parameters(context, shape), tokens(context)), (specs, P("batch")), P("batch"))


def _sequence_parallel(context: Context) -> Callable[[Tree, jax.Array], jax.Array]:
    def run(layer: Tree, value: jax.Array) -> jax.Array:
        split, whole = ("batch", "model", None), ("batch", None, None)
        normed = context.constrain(rms_norm(value, layer["norm1"]), *whole)
        value = value + context.constrain(attention(layer, normed), *split)
        normed = context.constrain(rms_norm(value, layer["norm2"]), *whole)
        return value + context.constrain(feed_forward(layer, normed), *split)

    return run


@program(BATCH_MODEL, "transformer", "fwd", "seqparallel", "constraints")
def tblock_sp_fwd(context: Context) -> Traceable:
    rows = P("batch", "model", None)
    arguments = (parameters(context), tokens(context))
    return Traceable(_sequence_parallel(context), arguments, (tensor_parallel(), rows), rows)


@program(BATCH_MODEL, "transformer", "train", "seqparallel", "constraints", tolerance=(2e-3, 2e-4))
def tblock_sp_train(context: Context) -> Traceable:
    return training(context, tensor_parallel(), P("batch", "model", None), run=_sequence_parallel(context))


@program(MODEL_WIDE, "transformer", "train", "seqparallel", "constraints", tolerance=(2e-3, 2e-4))
def tblock_sp_train_wide(context: Context) -> Traceable:
    return training(context, tensor_parallel(), P("batch", "model", None), run=_sequence_parallel(context))


@program(ONE_AXIS, "transformer", "train", "fsdp", "zero3", tolerance=(2e-3, 2e-4))
def tblock_fsdp_train(context: Context) -> Traceable:
    wide = dict.fromkeys(("wq", "wk", "wv", "gate", "up", "down", "norm1", "norm2"), P("x"))
    return training(context, wide | {"wo": P(None, None, "x")}, P("x"))


@program(CUBE, "transformer", "train", "fsdp", "tp", tolerance=(2e-3, 2e-4))
def tblock_fsdp_tp_train(context: Context) -> Traceable:
    heads = dict.fromkeys(("wq", "wk", "wv"), P("fsdp", "model", None))
    specs = {
        **heads,
        "wo": P("model", None, "fsdp"),
        "gate": P("fsdp", "model"),
        "up": P("fsdp", "model"),
        "down": P("model", "fsdp"),
        "norm1": P(),
        "norm2": P(),
    }
    return training(context, specs, P(("data", "fsdp")))


@program(BATCH_MODEL, "transformer", "fwd", "bf16", tolerance=(5e-2, 5e-2))
def tblock_bf16_fwd(context: Context) -> Traceable:
    arguments = (parameters(context, dtype=jnp.bfloat16), tokens(context, dtype=jnp.bfloat16))
    return Traceable(block, arguments, (tensor_parallel(), P("batch")), P("batch"))


@program(BATCH_MODEL, "transformer", "train", "post-norm", "layernorm", tolerance=(2e-3, 2e-4))
def tblock_post_norm_train(context: Context) -> Traceable:
    return training(context, tensor_parallel(), P("batch"), run=post_norm_block)


@program(BATCH_MODEL, "transformer", "train", "remat", "optimization-barrier", tolerance=(2e-3, 2e-4))
def tblock_remat_train(context: Context) -> Traceable:
    return training(context, tensor_parallel(), P("batch"), run=jax.checkpoint(block))


@program(BATCH_MODEL, "transformer", "train", "stack", "adam", tolerance=(2e-3, 2e-4))
def tstack_adam_train(context: Context) -> Traceable:
    """Two blocks and Adam."""

    def step(layers: list[Tree], first: Any, second: Any, count: jax.Array, value: jax.Array, target: jax.Array) -> Any:
        def loss_of(stack: list[Tree]) -> jax.Array:
            return squared_error(block(stack[1], block(stack[0], value)), target)

        loss, gradients = jax.value_and_grad(loss_of)(layers)
        return adam(layers, gradients, first, second, count), loss

    layers = [parameters(context), parameters(context)]
    first = jax.tree.map(lambda one: one * 0.01, layers)
    second = jax.tree.map(lambda one: one * one * 0.01 + 1e-4, layers)
    specs = [tensor_parallel(), tensor_parallel()]
    arguments = (layers, first, second, jnp.float32(5), tokens(context), tokens(context))
    in_specs = (specs, specs, specs, P(), P("batch"), P("batch"))
    return Traceable(step, arguments, in_specs, ((specs, specs, specs), P()))


@program(BATCH_MODEL, "transformer", "train", "lm", "onehot", "vocab-sharded", tolerance=(2e-3, 2e-4))
def lm_onehot_train(context: Context) -> Traceable:
    """One-hot embedding, a block, logits over a split vocabulary, cross entropy."""
    vocabulary = 256

    def loss_of(layer: Tree, words: jax.Array, labels: jax.Array) -> jax.Array:
        value = jax.nn.one_hot(words, vocabulary) @ layer["embed"]
        logits = block(layer, value) @ layer["embed"].T
        chosen = jnp.sum(jax.nn.one_hot(labels, vocabulary) * jax.nn.log_softmax(logits), axis=-1)
        return -jnp.mean(chosen)

    def step(layer: Tree, words: jax.Array, labels: jax.Array) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(layer, words, labels)
        return sgd(layer, gradients), loss

    layer = parameters(context) | {"embed": context.weight(vocabulary, SMALL.width)}
    specs = tensor_parallel() | {"embed": P("model", None)}
    words = context.integers(vocabulary, SMALL.batch, SMALL.length)
    labels = context.integers(vocabulary, SMALL.batch, SMALL.length)
    return Traceable(step, (layer, words, labels), (specs, P("batch"), P("batch")), (specs, P()))


@program(BATCH_MODEL, "attention", "fwd", "context-parallel")
def attention_context_parallel(context: Context) -> Traceable:
    """The length of queries is split, keys and values are gathered."""

    def run(layer: Tree, value: jax.Array) -> jax.Array:
        return attention(layer, value, causal=False)

    rows = P("batch", "model", None)
    layer = {name: one for name, one in parameters(context).items() if name.startswith("w")}
    return Traceable(run, (layer, tokens(context)), (P(), rows), rows)
