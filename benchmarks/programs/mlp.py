"""Multi-layer perceptrons: forward passes and training steps under data, tensor and fully sharded parallelism."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
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
    program,
    sgd,
)

Activation = Callable[[jax.Array], jax.Array]
WIDTHS = (128, 512, 128)


def parameters(context: Context, widths: tuple[int, ...] = WIDTHS, dtype: Any = jnp.float32) -> dict[str, jax.Array]:
    """Weights `w1, w2, ...` and biases `b1, b2, ...` of consecutive layers."""
    pairs = list(enumerate(pairwise(widths), 1))
    weights = {f"w{layer}": context.weight(a, b, dtype=dtype) for layer, (a, b) in pairs}
    return weights | {f"b{layer}": context.array(b, scale=0.1, dtype=dtype) for layer, (_, b) in pairs}


def forward(layers: dict[str, jax.Array], value: jax.Array, activation: Activation = jax.nn.relu) -> jax.Array:
    """Every layer in turn, with the activation between layers."""
    count = len(layers) // 2
    for layer in range(1, count + 1):
        value = value @ layers[f"w{layer}"] + layers[f"b{layer}"]
        value = activation(value) if layer < count else value
    return value


def squared_error(
    layers: dict[str, jax.Array], value: jax.Array, target: jax.Array, activation: Activation
) -> jax.Array:
    """The squared error of the network: the sum over features, the mean over rows."""
    return jnp.mean(jnp.sum((forward(layers, value, activation) - target) ** 2, axis=-1))


def tensor_parallel(count: int, axis: str = "model") -> dict[str, P]:
    """Odd layers split their columns over the axis, even layers their rows."""
    specs: dict[str, P] = {}
    for layer in range(1, count + 1):
        specs[f"w{layer}"] = P(None, axis) if layer % 2 else P(axis, None)
        specs[f"b{layer}"] = P(axis) if layer % 2 else P(None)
    return specs


def train_step(activation: Activation = jax.nn.relu) -> Callable[..., Any]:
    """A function of parameters, batch and target: new parameters and the loss."""

    def step(layers: dict[str, jax.Array], value: jax.Array, target: jax.Array) -> Any:
        loss, gradients = jax.value_and_grad(squared_error)(layers, value, target, activation)
        return sgd(layers, gradients), loss

    return step


def batch(context: Context, rows: int = 256, dtype: Any = jnp.float32) -> tuple[jax.Array, jax.Array]:
    """An input and a target for `WIDTHS`."""
    return context.array(rows, WIDTHS[0], dtype=dtype), context.array(rows, WIDTHS[-1], dtype=dtype)


@program(BATCH_MODEL, "mlp", "train", "dp", "tp")
def mlp_deep_train_dptp(context: Context) -> Traceable:
    specs = tensor_parallel(4)
    layers = parameters(context, (128, 512, 256, 512, 128))
    return Traceable(train_step(), (layers, *batch(context)), (specs, P("batch"), P("batch")), (specs, P()))


@program(MODEL_WIDE, "mlp", "train", "dp", "tp", "gelu")
def mlp_gelu_train_wide(context: Context) -> Traceable:
    specs = tensor_parallel(2)
    arguments = (parameters(context), *batch(context))
    return Traceable(train_step(jax.nn.gelu), arguments, (specs, P("batch"), P("batch")), (specs, P()))


@program(BATCH_MODEL, "mlp", "fwd", "dp", "tp", "glu")
def mlp_swiglu_fwd(context: Context) -> Traceable:
    def run(gate: jax.Array, up: jax.Array, down: jax.Array, value: jax.Array) -> jax.Array:
        return (jax.nn.silu(value @ gate) * (value @ up)) @ down

    arguments = (context.weight(128, 512), context.weight(128, 512), context.weight(512, 128), context.array(64, 128))
    return Traceable(run, arguments, (P(None, "model"), P(None, "model"), P("model", None), P("batch")), P("batch"))


def _adam_step(layers: Any, first: Any, second: Any, step: jax.Array, value: jax.Array, target: jax.Array) -> Any:
    loss, gradients = jax.value_and_grad(squared_error)(layers, value, target, jax.nn.relu)
    return adam(layers, gradients, first, second, step), loss


def _adam_arguments(context: Context) -> tuple[Any, ...]:
    layers = parameters(context)
    first = jax.tree.map(lambda one: one * 0.01, layers)
    second = jax.tree.map(lambda one: one * one * 0.01, layers)
    return (layers, first, second, jnp.float32(3), *batch(context))


@program(BATCH_MODEL, "mlp", "train", "dp", "tp", "adam", "donated")
def mlp_adam_dptp(context: Context) -> Traceable:
    specs = tensor_parallel(2)
    in_specs = (specs, specs, specs, P(), P("batch"), P("batch"))
    return Traceable(_adam_step, _adam_arguments(context), in_specs, ((specs, specs, specs), P()), (0, 1, 2))


@program(ONE_AXIS, "mlp", "train", "fsdp", "zero3", "adam")
def mlp_adam_fsdp(context: Context) -> Traceable:
    specs = dict.fromkeys(("w1", "w2", "b1", "b2"), P("x"))
    in_specs = (specs, specs, specs, P(), P("x"), P("x"))
    return Traceable(_adam_step, _adam_arguments(context), in_specs, ((specs, specs, specs), P()))


@program(ONE_AXIS, "mlp", "train", "zero1", "adam")
def mlp_adam_zero1(context: Context) -> Traceable:
    """Parameters everywhere, the optimiser's state split."""
    full, split = dict.fromkeys(("w1", "w2", "b1", "b2"), P()), dict.fromkeys(("w1", "w2", "b1", "b2"), P("x"))
    in_specs = (full, split, split, P(), P("x"), P("x"))
    return Traceable(_adam_step, _adam_arguments(context), in_specs, ((full, split, split), P()))


@program(CUBE, "mlp", "train", "fsdp", "tp", "2d")
def mlp_train_fsdp_tp_cube(context: Context) -> Traceable:
    specs = {"w1": P("fsdp", "model"), "b1": P("model"), "w2": P("model", "fsdp"), "b2": P("fsdp")}
    rows = P(("data", "fsdp"))
    return Traceable(train_step(), (parameters(context), *batch(context)), (specs, rows, rows), (specs, P()))


@program((("fsdp", 4), ("model", 2)), "mlp", "train", "fsdp", "tp")
def mlp_train_fsdp_tp(context: Context) -> Traceable:
    specs = {"w1": P("fsdp", "model"), "b1": P("model"), "w2": P("model", "fsdp"), "b2": P(None)}
    rows = P("fsdp")
    return Traceable(train_step(jnp.tanh), (parameters(context), *batch(context)), (specs, rows, rows), (specs, P()))


@program((("a", 4), ("b", 2)), "mlp", "train", "fsdp", "2d")
def mlp_train_fsdp_2d(context: Context) -> Traceable:
    """Every parameter split over both axes, by rows and columns; the batch over both."""
    specs = {"w1": P("a", "b"), "b1": P(("a", "b")), "w2": P("a", "b"), "b2": P(("a", "b"))}
    rows = P(("a", "b"))
    return Traceable(train_step(), (parameters(context), *batch(context)), (specs, rows, rows), (specs, P()))


@program(BATCH_MODEL, "mlp", "fwd", "bf16", tolerance=(5e-2, 5e-2))
def mlp_bf16_fwd(context: Context) -> Traceable:
    specs = tensor_parallel(2)
    arguments = (parameters(context, dtype=jnp.bfloat16), batch(context, dtype=jnp.bfloat16)[0])
    return Traceable(forward, arguments, (specs, P("batch")), P("batch"))


@program(ONE_AXIS, "mlp", "train", "bf16", "fsdp", "mixed", tolerance=(5e-2, 5e-2))
def mlp_mixed_train_fsdp(context: Context) -> Traceable:
    """Weights kept in f32, multiplied in bf16."""

    def loss_of(layers: Any, value: jax.Array, target: jax.Array) -> jax.Array:
        small = jax.tree.map(lambda one: one.astype(jnp.bfloat16), layers)
        result = forward(small, value.astype(jnp.bfloat16)).astype(jnp.float32)
        return jnp.mean(jnp.sum((result - target) ** 2, axis=-1))

    def step(layers: Any, value: jax.Array, target: jax.Array) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(layers, value, target)
        return sgd(layers, gradients), loss

    specs = dict.fromkeys(("w1", "w2", "b1", "b2"), P("x"))
    return Traceable(step, (parameters(context), *batch(context)), (specs, P("x"), P("x")), (specs, P()))


@program(BATCH_MODEL, "mlp", "train", "dp", "tp", "open-outputs")
def mlp_train_open_outputs(context: Context) -> Traceable:
    """The layouts of the results are left to the partitioner."""
    specs = tensor_parallel(2)
    return Traceable(train_step(), (parameters(context), *batch(context)), (specs, P("batch"), P("batch")))


@program(BATCH_MODEL, "mlp", "fwd", "dp", "tp", "open-inputs")
def mlp_fwd_open_inputs(context: Context) -> Traceable:
    """Only one weight and the batch say how they are split."""
    specs: dict[str, P | None] = {"w1": P(None, "model"), "b1": None, "w2": None, "b2": None}
    return Traceable(forward, (parameters(context), batch(context)[0]), (specs, P("batch")), P("batch"))


@program(ONE_AXIS, "mlp", "train", "dp", "momentum", "clip")
def mlp_momentum_clip_dp(context: Context) -> Traceable:
    def step(layers: Any, speed: Any, value: jax.Array, target: jax.Array) -> Any:
        loss, gradients = jax.value_and_grad(squared_error)(layers, value, target, jax.nn.silu)
        norm = jnp.sqrt(sum(jnp.sum(one * one) for one in jax.tree.leaves(gradients)))
        scale = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
        speed = jax.tree.map(lambda s, g: 0.9 * s + g * scale, speed, gradients)
        return sgd(layers, speed), speed, loss, norm

    layers = parameters(context)
    arguments = (layers, jax.tree.map(jnp.zeros_like, layers), *batch(context))
    return Traceable(step, arguments, (P(), P(), P("x"), P("x")), (P(), P(), P(), P()))


@program(BATCH_MODEL, "mlp", "train", "dp", "tp", "accumulate")
def mlp_accumulate_train(context: Context) -> Traceable:
    """Two batches, one update: their gradients are added before they are reduced, if the partitioner sees it."""

    def step(layers: Any, one: jax.Array, two: jax.Array, target: jax.Array) -> Any:
        first = jax.grad(squared_error)(layers, one, target, jax.nn.relu)
        second = jax.grad(squared_error)(layers, two, target, jax.nn.relu)
        return sgd(layers, jax.tree.map(jnp.add, first, second))

    specs = tensor_parallel(2)
    value, target = batch(context)
    arguments = (parameters(context), value, context.array(256, 128), target)
    return Traceable(step, arguments, (specs, P("batch"), P("batch"), P("batch")), specs)


@program(MODEL_WIDE, "mlp", "train", "weight-decay", "l2")
def mlp_weight_decay_wide(context: Context) -> Traceable:
    def loss_of(layers: Any, value: jax.Array, target: jax.Array) -> jax.Array:
        decay = sum(jnp.sum(one * one) for one in jax.tree.leaves(layers))
        return squared_error(layers, value, target, jnp.tanh) + 1e-3 * decay

    def step(layers: Any, value: jax.Array, target: jax.Array) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(layers, value, target)
        return sgd(layers, gradients), loss

    specs = tensor_parallel(2)
    return Traceable(step, (parameters(context), *batch(context)), (specs, P("batch"), P("batch")), (specs, P()))
