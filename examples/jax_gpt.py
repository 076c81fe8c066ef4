"""
A small GPT in flax, trained with optax on eight devices of JAX: Shardwright partitions each step, XLA runs it.

The text is the beginning of this repository's README, which the model learns by heart. The same step is trained with
data parallelism, tensor parallelism and FSDP; one run is stopped, and goes on from its checkpoint on another mesh.
Run it as `python examples/jax_gpt.py`; it needs `pip install 'shardwright[jax]' flax optax`.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

# Eight devices on a machine without accelerators; JAX reads this when it starts.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import shardwright as sw

WIDTH, HEADS, LAYERS, WINDOW, BATCH = 64, 4, 2, 32, 32
STEPS, STOP = 200, 100

TEXT = (Path(__file__).resolve().parent.parent / "README.md").read_text()[:600]
LETTERS = sorted(set(TEXT))
VOCABULARY = -(-len(LETTERS) // 8) * 8
"""So many that they can be split over the axes of the mesh, whatever the text is; some stand for no letter."""

CODES = np.array([LETTERS.index(letter) for letter in TEXT], np.int32)


class Block(nnx.Module):
    """Attention to what came before, and two layers for each place."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norms = nnx.List([nnx.LayerNorm(WIDTH, rngs=rngs) for _ in range(2)])
        self.query, self.key, self.value, self.out = (nnx.Linear(WIDTH, WIDTH, rngs=rngs) for _ in range(4))
        self.up, self.down = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs), nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        heads = (*x.shape[:2], HEADS, WIDTH // HEADS)
        normed = self.norms[0](x)
        query, key, value = (layer(normed).reshape(heads) for layer in (self.query, self.key, self.value))
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / heads[-1] ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((WINDOW, WINDOW), bool)), scores, -1e9)
        x = x + self.out(jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value).reshape(x.shape))
        return x + self.down(jax.nn.gelu(self.up(self.norms[1](x))))


class Gpt(nnx.Module):
    """Letters in, scores of the next letters out."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.letters, self.places = nnx.Embed(VOCABULARY, WIDTH, rngs=rngs), nnx.Embed(WINDOW, WIDTH, rngs=rngs)
        self.blocks = nnx.List([Block(rngs) for _ in range(LAYERS)])
        self.norm, self.head = nnx.LayerNorm(WIDTH, rngs=rngs), nnx.Linear(WIDTH, VOCABULARY, rngs=rngs)

    def __call__(self, letters: jax.Array) -> jax.Array:
        x = self.letters(letters) + self.places(jnp.arange(WINDOW))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


GRAPH, MADE = nnx.split(Gpt(nnx.Rngs(0)))
FRESH = jax.tree.map(np.asarray, MADE)  # on the host: each run donates its own
OPTIMIZER = optax.adam(3e-3)


def step(params: Any, state: Any, letters: jax.Array) -> tuple[Any, Any, jax.Array]:
    """One step, in any layout: there is nothing about devices in it."""

    def loss_of(params: Any) -> jax.Array:
        scores = nnx.merge(GRAPH, params)(letters[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(scores, letters[:, 1:]).mean()

    loss, slopes = jax.value_and_grad(loss_of)(params)
    updates, state = OPTIMIZER.update(slopes, state)
    return optax.apply_updates(params, updates), state, loss


def over_all(path: tuple[str, ...], shape: tuple[int, ...], mesh: Mesh) -> P:
    """FSDP: the first dim that divides is split over all devices."""
    dims = (dim for dim, extent in enumerate(shape) if extent % mesh.size == 0)
    dim = next(dims, None)
    return P() if dim is None else P(*[None] * dim, mesh.axis_names)


def by_heads(path: tuple[str, ...], shape: tuple[int, ...], mesh: Mesh) -> P:
    """Tensor parallelism: layers that widen are split by columns over `model`, those behind them by rows."""
    if "kernel" in path and {"query", "key", "value", "up"} & set(path):
        return P(None, "model")
    return P("model") if "kernel" in path and {"out", "down"} & set(path) else P()


def everywhere(path: tuple[str, ...], shape: tuple[int, ...], mesh: Mesh) -> P:
    """Data parallelism: every device has all parameters."""
    return P()


LAYOUTS = {"data": (everywhere, ("data", "model")), "tensor": (by_heads, "data"), "fsdp": (over_all, ("data", "model"))}
"""How parameters are split, and over which axes the batch is."""


class Run:
    """A training run on a mesh, in one of the layouts."""

    def __init__(self, layout: str, mesh: Mesh) -> None:
        split, self.batch_axes = LAYOUTS[layout]
        self.mesh = mesh

        def place(path: Any, leaf: Any) -> Any:
            names = tuple(str(getattr(part, "key", getattr(part, "name", part))) for part in path)
            return jax.device_put(leaf, NamedSharding(mesh, split(names, np.shape(leaf), mesh)))

        self.params = jax.tree_util.tree_map_with_path(place, FRESH)
        self.state = jax.tree_util.tree_map_with_path(place, OPTIMIZER.init(FRESH))
        self.step = sw.jax.jit(step, donate_argnums=(0, 1))

    def what_a_step_sends(self) -> str:
        """What is known before anything runs."""
        placed = NamedSharding(self.mesh, P(self.batch_axes))
        letters = jax.ShapeDtypeStruct((BATCH, WINDOW + 1), np.int32, sharding=placed)
        lowered = self.step.lower(self.params, self.state, letters)
        return f"{len(lowered.predicted)} collectives send {float(lowered.predicted_bytes):,.0f} bytes from each device"

    def train(self, first: int, last: int) -> float:
        """The steps from one number up to another; the loss before the last."""
        loss = jnp.inf
        for number in range(first, last):
            starts = np.random.default_rng(number).integers(0, len(CODES) - WINDOW, BATCH)
            letters = np.stack([CODES[start : start + WINDOW + 1] for start in starts])
            letters = jax.device_put(letters, NamedSharding(self.mesh, P(self.batch_axes)))
            self.params, self.state, loss = self.step(self.params, self.state, letters)
            jax.block_until_ready(loss)  # few cores play eight devices: not too many steps at once
        return float(loss)

    def save(self, path: Path) -> None:
        """All arrays, whole."""
        leaves = jax.tree.leaves((self.params, self.state))
        np.savez(path.with_suffix(".npz"), *[np.asarray(leaf) for leaf in leaves])

    def restore(self, path: Path) -> None:
        """The arrays of another run, wherever its devices were, where those of this one are."""
        leaves, tree = jax.tree.flatten((self.params, self.state))
        with np.load(path.with_suffix(".npz")) as saved:
            placed = [jax.device_put(saved[f"arr_{n}"], leaf.sharding) for n, leaf in enumerate(leaves)]
        self.params, self.state = jax.tree.unflatten(tree, placed)


def main() -> float:
    """Train in each layout; returns the largest loss at the end, in nats for a letter."""
    devices = np.array(jax.devices()[:8])
    two_by_four = Mesh(devices.reshape(2, 4), ("data", "model"))
    losses = dict[str, float]()
    with tempfile.TemporaryDirectory() as folder:
        for layout in LAYOUTS:
            run = Run(layout, two_by_four)
            print(f"{layout}: {run.what_a_step_sends()}")
            run.train(0, STOP)
            run.save(Path(folder) / layout)
            losses[layout] = run.train(STOP, STEPS)
            print(f"{layout}: loss {losses[layout]:.4f} after {STEPS} steps")
        resumed = Run("tensor", Mesh(devices.reshape(4, 2), ("data", "model")))
        resumed.restore(Path(folder) / "fsdp")
    losses["resumed"] = resumed.train(STOP, STEPS)
    print(f"resumed on 4x2 with tensor parallelism, after {STOP} steps of FSDP: loss {losses['resumed']:.4f}")
    return max(losses.values())


if __name__ == "__main__":
    main()
