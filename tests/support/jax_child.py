"""One of several processes of JAX, whose devices a mesh spans: `python jax_child.py PORT COUNT PLACE SCENARIO`."""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import partial
from typing import Any

DEVICES = 8


def main(port: str, count: int, place: int, scenario: str) -> None:
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES // count}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    if count > 1:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(f"127.0.0.1:{port}", count, place, initialization_timeout=60)
    SCENARIOS[scenario](jax, place)


def train(jax: Any, place: int, rows: int = 4) -> None:
    """A training step, five times: what it sends, the losses, and which parts of a parameter are here."""
    import numpy as np

    import shardwright as sw

    spec, named = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(rows, -1), ("data", "model"))
    random = np.random.default_rng(0)

    def put(shape: tuple[int, ...], *axes: str | None) -> Any:
        values = random.standard_normal(shape, np.float32) / 8
        return jax.make_array_from_callback(shape, named(mesh, spec(*axes)), values.__getitem__)

    def loss_of(params: Any, x: Any, y: Any) -> Any:
        return ((jax.nn.relu(x @ params["in"]) @ params["out"] - y) ** 2).mean()

    @sw.jax.jit(donate_argnums=0)
    def step(params: Any, x: Any, y: Any) -> Any:
        loss, slopes = jax.value_and_grad(loss_of)(params, x, y)
        return jax.tree.map(lambda p, slope: p - 0.1 * slope, params, slopes), loss

    params = {"in": put((64, 128), None, "model"), "out": put((128, 32), "model")}
    x, y = put((32, 64), "data"), put((32, 32), "data")
    sent, losses = step.lower(params, x, y).predicted_bytes, list[float]()
    for _ in range(5):
        params, loss = step(params, x, y)
        losses.append(float(loss))
    parts = {str(shard.index): float(np.asarray(shard.data).sum()) for shard in params["in"].addressable_shards}
    print(json.dumps({"sent": int(sent or 0), "losses": losses, "parts": parts}), flush=True)


def train_apart(jax: Any, place: int) -> None:
    """One process has another mesh than the others."""
    train(jax, place, rows=2 if place else 4)


def killed(jax: Any, place: int, victim: int) -> None:
    """One process is killed after a first program; the others go on with programs that need it."""
    train(jax, place)
    if place == victim:
        os.kill(os.getpid(), signal.SIGKILL)
    for _ in range(1000):
        train(jax, place)


SCENARIOS = {
    "train": train,
    "apart": train_apart,
    "coordinator killed": partial(killed, victim=0),
    "peer killed": partial(killed, victim=1),
}

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
