"""Norms, softmaxes, losses, einsums and reductions over dims that are split."""

from __future__ import annotations

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
    layer_norm,
    program,
    rms_norm,
)


@program(BATCH_MODEL, "norm", "rmsnorm", "grad", "feature-sharded")
def rmsnorm_grad_sharded(context: Context) -> Traceable:
    def run(value: jax.Array, scale: jax.Array, weight: jax.Array) -> Any:
        return jax.value_and_grad(lambda x, s: jnp.sum(rms_norm(x, s) * weight), argnums=(0, 1))(value, scale)

    arguments = (context.array(64, 256), context.array(256), context.array(64, 256))
    both = P("batch", "model")
    return Traceable(run, arguments, (both, P("model"), both), (P(), (both, P("model"))))


@program(ONE_AXIS, "norm", "layernorm", "grad", "batch-sharded")
def layernorm_grad_batch(context: Context) -> Traceable:
    def run(value: jax.Array, scale: jax.Array, bias: jax.Array) -> Any:
        return jax.grad(lambda *a: jnp.sum(jnp.tanh(layer_norm(*a))), argnums=(0, 1, 2))(value, scale, bias)

    arguments = (context.array(64, 256), context.array(256), context.array(256))
    return Traceable(run, arguments, (P("x"), P(), P()), (P("x"), P("x"), P()))


@program(MODEL_WIDE, "softmax", "grad", "sharded-dim")
def softmax_grad_sharded(context: Context) -> Traceable:
    def run(value: jax.Array, weight: jax.Array) -> jax.Array:
        return jax.grad(lambda x: jnp.sum(jax.nn.softmax(x) * weight))(value)

    both = P("batch", "model")
    return Traceable(run, (context.array(64, 512), context.array(64, 512)), (both, both), both)


@program(MODEL_WIDE, "xent", "logsumexp", "fwd", "vocab-sharded")
def logsumexp_xent_fwd(context: Context) -> Traceable:
    def run(value: jax.Array, weight: jax.Array, labels: jax.Array) -> jax.Array:
        logits = value @ weight
        chosen = jnp.sum(jnp.where(labels[:, None] == jnp.arange(1024)[None, :], logits, 0.0), axis=-1)
        return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - chosen)

    arguments = (context.array(128, 64), context.weight(64, 1024), context.integers(1024, 128))
    return Traceable(run, arguments, (P("batch"), P(None, "model"), P("batch")), P())


@program(BATCH_MODEL, "xent", "label-smoothing", "train", "vocab-sharded")
def xent_smoothing_train(context: Context) -> Traceable:
    def loss_of(weight: jax.Array, value: jax.Array, labels: jax.Array) -> jax.Array:
        target = jax.nn.one_hot(labels, 512) * 0.9 + 0.1 / 512
        return -jnp.mean(jnp.sum(target * jax.nn.log_softmax(value @ weight), axis=-1))

    def run(weight: jax.Array, value: jax.Array, labels: jax.Array) -> Any:
        loss, gradient = jax.value_and_grad(loss_of)(weight, value, labels)
        return weight - 0.1 * gradient, loss

    arguments = (context.weight(64, 512), context.array(128, 64), context.integers(512, 128))
    return Traceable(run, arguments, (P(None, "model"), P("batch"), P("batch")), (P(None, "model"), P()))


@program(BATCH_MODEL, "einsum", "chain")
def einsum_chain(context: Context) -> Traceable:
    def run(a: jax.Array, b: jax.Array, c: jax.Array) -> jax.Array:
        return jnp.einsum("abc,cbd->ad", a, b) @ c

    arguments = (context.array(32, 16, 32), context.array(32, 16, 64, scale=512**-0.5), context.weight(64, 32))
    in_specs = (P(None, "batch", "model"), P("model", "batch", None), P(None, "model"))
    return Traceable(run, arguments, in_specs, P("batch", "model"))


@program(CUBE, "einsum", "multi-contracting", "batch-dims")
def einsum_batch_contract(context: Context) -> Traceable:
    def run(a: jax.Array, b: jax.Array) -> jax.Array:
        return jnp.einsum("nhij,nhjki->nhk", a, b)

    arguments = (context.array(8, 4, 16, 32), context.array(8, 4, 32, 8, 16))
    in_specs = (P("data", "model", "fsdp"), P("data", None, "fsdp"))
    return Traceable(run, arguments, in_specs, P("data", "model"))


@program(BATCH_MODEL, "einsum", "outer", "transpose")
def einsum_outer(context: Context) -> Traceable:
    def run(a: jax.Array, b: jax.Array, c: jax.Array) -> jax.Array:
        return jnp.einsum("i,j->ji", a, b) @ c.T + jnp.einsum("ki->k", c)[None, :]

    arguments = (context.array(64), context.array(128), context.array(32, 64))
    return Traceable(run, arguments, (P("batch"), P("model"), P("model", "batch")), P("batch", "model"))


@program(BATCH_MODEL, "matmul", "2d", "grad")
def matmul_2d_grad(context: Context) -> Traceable:
    def run(a: jax.Array, b: jax.Array) -> Any:
        return jax.grad(lambda x, y: jnp.sum(jnp.tanh(x @ y)), argnums=(0, 1))(a, b)

    both = P("batch", "model")
    return Traceable(run, (context.array(256, 256), context.weight(256, 256)), (both, both), (both, both))


@program(BATCH_MODEL, "matmul", "contracting-mismatch")
def matmul_axis_conflict(context: Context) -> Traceable:
    """Both operands split their kept dim over the same axis, and the result asks for the other."""

    def run(a: jax.Array, b: jax.Array) -> jax.Array:
        return a @ b

    arguments = (context.array(128, 64), context.weight(64, 256))
    return Traceable(run, arguments, (P("batch"), P(None, "batch")), P("model", "batch"))


@program(ONE_AXIS, "matmul", "transpose", "relayout")
def matmul_gram(context: Context) -> Traceable:
    def run(a: jax.Array) -> Any:
        return a.T @ a, a @ a.T

    return Traceable(run, (context.array(128, 64),), (P("x"),), (P(None, "x"), P(None, "x")))


@program(BATCH_MODEL, "reduce", "sharded-dim", "statistics")
def reduce_statistics(context: Context) -> Traceable:
    def run(a: jax.Array) -> Any:
        return a.sum(0), a.max(1), a.min(), a.mean((0, 2)), jnp.var(a, axis=2), jnp.any(a > 2, axis=0)

    arguments = (context.array(16, 32, 64),)
    return Traceable(run, arguments, (P("batch", None, "model"),))


@program(CUBE, "reshape", "transpose", "heads")
def split_merge_heads(context: Context) -> Traceable:
    def run(a: jax.Array) -> jax.Array:
        heads = a.reshape(8, 32, 8, 16).transpose(0, 2, 1, 3)
        return jnp.exp(heads * 0.1).transpose(0, 2, 1, 3).reshape(8, 32, 128) + a

    return Traceable(run, (context.array(8, 32, 128),), (P("data", "fsdp", "model"),), P("data", "fsdp", "model"))


@program(BATCH_MODEL, "reshape", "merge", "flatten")
def flatten_rows(context: Context) -> Traceable:
    def run(a: jax.Array, w: jax.Array) -> jax.Array:
        return (a.reshape(-1, 64) @ w).reshape(8, 16, 32)

    arguments = (context.array(8, 16, 64), context.weight(64, 32))
    return Traceable(run, arguments, (P("batch", "model"), P()), P("batch", "model"))


@program(BATCH_MODEL, "slice", "concatenate", "pad", "unsharded-dim")
def shape_ops(context: Context) -> Traceable:
    def run(a: jax.Array, b: jax.Array) -> jax.Array:
        left, right = jnp.split(a, 2, axis=-1)
        joined = jnp.concatenate([-right, left, b[:, ::-1]], axis=-1)
        return jnp.pad(joined, ((0, 0), (1, 2))).clip(-1.0, 1.0)[:, 1:-2:2]

    return Traceable(run, (context.array(32, 64), context.array(32, 16)), (P("batch"), P("batch")), P("batch"))


@program(BATCH_MODEL, "element-wise", "integers", "select")
def pointwise_mixture(context: Context) -> Traceable:
    def run(a: jax.Array, b: jax.Array, n: jax.Array) -> Any:
        even = (n % 2 == 0) & (n > 3)
        mixed = jnp.where(even, jnp.sin(a) * jnp.exp(-b * b), jnp.log1p(jnp.abs(a)) + jnp.sqrt(jnp.abs(b)))
        return jnp.logaddexp(mixed, b), jnp.left_shift(n, 2) ^ n, jax.nn.softplus(a).astype(jnp.float16)

    both = P("batch", "model")
    arguments = (context.array(32, 64), context.array(32, 64), context.integers(16, 32, 64))
    return Traceable(run, arguments, (both, both, P("batch")), (both, P("model"), P(None, "model")))
