"""Five whole models at the widths that people train, a layer or two deep: a training step of each as StableHLO text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from shardwright.benchmarks import xla
from shardwright.benchmarks.programs.catalogue import rms_norm, sgd
from shardwright.benchmarks.programs.sizes import Shape
from shardwright.benchmarks.programs.transformer import (
    biased_block,
    biased_parameters,
    biased_tensor_parallel,
    block,
    parameters,
)

Tree = dict[str, Any]

GPT2 = Shape(batch=8, length=64, width=768, heads=12, groups=12, hidden=3072)
LLAMA = Shape(batch=8, length=64, width=2048, heads=32, groups=8, hidden=5632)
VIT = Shape(batch=8, length=196, width=768, heads=12, groups=12, hidden=3072)


class _Shapes:
    """Stands in for a `Context`: arrays without numbers."""

    def array(self, *shape: int, scale: float = 1.0, dtype: Any = jnp.float32) -> Any:
        del scale
        return jnp.zeros(shape, dtype)

    weight = array


def _shapes_of(build: Callable[[Any], Tree]) -> Tree:
    return jax.eval_shape(lambda: build(_Shapes()))


def _tokens(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def _floats(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1)
    return -jnp.mean(chosen)


def _step(loss_of: Callable[..., jax.Array]) -> Callable[..., Any]:
    def step(weights: Tree, *data: jax.Array) -> Any:
        loss, slopes = jax.value_and_grad(loss_of)(weights, *data)
        return sgd(weights, slopes, 1e-3), loss

    return step


def _lowered(
    axes: dict[str, int], loss_of: Callable[..., jax.Array], weights: Tree, specs: Tree, data: tuple[Any, ...], rows: P
) -> str:
    mesh = Mesh(np.array(jax.devices()[: xla.DEVICES]).reshape(tuple(axes.values())), tuple(axes))
    within, batch = jax.tree.map(partial(NamedSharding, mesh), specs), NamedSharding(mesh, rows)
    jitted = jax.jit(
        _step(loss_of),
        in_shardings=(within, *(batch for _ in data)),
        out_shardings=(within, NamedSharding(mesh, P())),
    )
    return jitted.lower(weights, *data).as_text()


def gpt2() -> str:
    """GPT-2 small, two layers, tied embeddings: data over 4, heads, hidden units and vocabulary over 2."""
    vocabulary, layers = 50304, 2

    def loss_of(weights: Tree, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        value = weights["words"][tokens] + weights["places"]
        for layer in weights["layers"]:
            value = biased_block(layer, value)
        return _cross_entropy(rms_norm(value, weights["norm"]) @ weights["words"].T, labels)

    weights = {
        "words": _floats(vocabulary, GPT2.width),
        "places": _floats(GPT2.length, GPT2.width),
        "norm": _floats(GPT2.width),
        "layers": [_shapes_of(lambda context: biased_parameters(context, GPT2))] * layers,
    }
    specs = {"words": P("model"), "places": P(), "norm": P(), "layers": [biased_tensor_parallel()] * layers}
    data = (_tokens(GPT2.batch, GPT2.length),) * 2
    return _lowered({"batch": 4, "model": 2}, loss_of, weights, specs, data, P("batch"))


def llama() -> str:
    """One layer of Llama's 1B shape with its embeddings, fully sharded over 8."""
    vocabulary = 32000

    def loss_of(weights: Tree, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        value = block(weights["layer"], weights["words"][tokens])
        return _cross_entropy(rms_norm(value, weights["norm"]) @ weights["out"], labels)

    weights = {
        "words": _floats(vocabulary, LLAMA.width),
        "norm": _floats(LLAMA.width),
        "layer": _shapes_of(lambda context: parameters(context, LLAMA)),
        "out": _floats(LLAMA.width, vocabulary),
    }
    specs = jax.tree.map(lambda _: P("x"), weights)
    data = (_tokens(LLAMA.batch, LLAMA.length),) * 2
    return _lowered({"x": 8}, loss_of, weights, specs, data, P("x"))


def vision_transformer() -> str:
    """ViT-B/16, two layers on images of 224 by 224: data over 8, weights everywhere."""

    def loss_of(weights: Tree, images: jax.Array, labels: jax.Array) -> jax.Array:
        numbers = ("NHWC", "HWIO", "NHWC")
        patches = jax.lax.conv_general_dilated(images, weights["patches"], (16, 16), "VALID", dimension_numbers=numbers)
        value = patches.reshape(VIT.batch, VIT.length, VIT.width) + weights["places"]
        for layer in weights["layers"]:
            value = biased_block(layer, value)
        return _cross_entropy(value.mean(1) @ weights["classes"], labels)

    weights = {
        "patches": _floats(16, 16, 3, VIT.width),
        "places": _floats(VIT.length, VIT.width),
        "layers": [_shapes_of(lambda context: biased_parameters(context, VIT))] * 2,
        "classes": _floats(VIT.width, 1000),
    }
    data = (_floats(VIT.batch, 224, 224, 3), _tokens(VIT.batch))
    return _lowered({"x": 8}, loss_of, weights, jax.tree.map(lambda _: P(), weights), data, P("x"))


def mixture_of_experts() -> str:
    """Eight experts of width 1024, two for each token, with a bounded number of tokens each: experts over 8."""
    width, hidden, experts, count, room = 1024, 2816, 8, 1024, 256

    def loss_of(weights: Tree, tokens: jax.Array, wanted: jax.Array) -> jax.Array:
        scores = jax.nn.softmax(tokens @ weights["router"])
        gates, chosen = jax.lax.top_k(scores, 2)
        picked = jax.nn.one_hot(chosen, experts)
        place = (jnp.cumsum(picked.reshape(-1, experts), 0) - 1).reshape(count, 2, experts)
        seats = jax.nn.one_hot(place, room) * picked[..., None]
        sent = jnp.einsum("tkes,td->esd", seats, tokens)
        done = jax.nn.silu(jnp.einsum("esd,edh->esh", sent, weights["up"]))
        back = jnp.einsum("esh,ehd->esd", done, weights["down"])
        return jnp.mean((jnp.einsum("tkes,tk,esd->td", seats, gates, back) - wanted) ** 2)

    weights = {
        "router": _floats(width, experts),
        "up": _floats(experts, width, hidden),
        "down": _floats(experts, hidden, width),
    }
    specs = {"router": P(), "up": P("x"), "down": P("x")}
    data = (_floats(count, width), _floats(count, width))
    return _lowered({"x": 8}, loss_of, weights, specs, data, P("x"))


def recurrent() -> str:
    """A language model with an LSTM of width 1024: data over 4, the gates over 2."""
    width, length, batch, vocabulary = 1024, 24, 32, 10000

    def loss_of(weights: Tree, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        def turn(state: tuple[jax.Array, jax.Array], word: jax.Array) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
            memory, output = state
            gates = jnp.einsum("bd,dgh->gbh", word, weights["in"]) + jnp.einsum("bd,dgh->gbh", output, weights["again"])
            keep, write, show = jax.nn.sigmoid(gates[:3])
            memory = keep * memory + write * jnp.tanh(gates[3])
            output = show * jnp.tanh(memory)
            return (memory, output), output

        nothing = jnp.zeros((batch, width))
        words = jnp.swapaxes(weights["words"][tokens], 0, 1)
        _, outputs = jax.lax.scan(turn, (nothing, nothing), words)
        return _cross_entropy(outputs @ weights["out"], labels.T)

    weights = {
        "words": _floats(vocabulary, width),
        "in": _floats(width, 4, width),
        "again": _floats(width, 4, width),
        "out": _floats(width, vocabulary),
    }
    gates = P(None, None, "model")
    specs = {"words": P("model"), "in": gates, "again": gates, "out": P(None, "model")}
    data = (_tokens(batch, length),) * 2
    return _lowered({"batch": 4, "model": 2}, loss_of, weights, specs, data, P("batch"))


MODELS: dict[str, Callable[[], str]] = {
    "gpt2 768": gpt2,
    "llama 2048": llama,
    "vit 768": vision_transformer,
    "experts 1024": mixture_of_experts,
    "lstm 1024": recurrent,
}
"""By name and width."""
