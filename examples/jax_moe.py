"""
A mixture of experts on eight devices of JAX: Shardwright finds where tokens have to travel, and says what it costs.

Tokens are split over `data`, experts over `expert`; each token goes to the expert that a router chooses, as far as that
has room. Nothing in the function says how tokens get there. Run it as `python examples/jax_moe.py`; it needs
`pip install 'shardwright[jax]'`.
"""

from __future__ import annotations

import os
from typing import Any

# Eight devices on a machine without accelerators; JAX reads this when it starts.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import shardwright as sw

GROUPS, TOKENS, WIDTH, EXPERTS, ROOM, STEPS = 8, 64, 32, 4, 24, 60

Params = dict[str, jax.Array]


def mixture(params: Params, x: jax.Array) -> jax.Array:
    """What the chosen expert makes of each token (group, token, width), weighted by how sure the router is."""
    sure = jax.nn.softmax(x @ params["router"])
    chosen = jax.nn.one_hot(sure.argmax(-1), EXPERTS)
    seat = jnp.cumsum(chosen, 1) * chosen - 1  # the place of a token in its expert's queue
    sent = jax.nn.one_hot(seat.astype(jnp.int32), ROOM) * chosen[..., None]  # (group, token, expert, seat)
    queues = jnp.einsum("gtes,gtw->egsw", sent, x)
    with jax.named_scope("experts"):
        hidden = jax.nn.relu(jnp.einsum("egsw,ewh->egsh", queues, params["up"]))
        answers = jnp.einsum("egsh,ehw->egsw", hidden, params["down"])
    return jnp.einsum("gtes,egsw->gtw", sent * (sure * chosen)[..., None], answers)


def loss_of(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
    return ((mixture(params, x) - y) ** 2).mean()


def step(params: Params, x: jax.Array, y: jax.Array) -> tuple[Params, jax.Array]:
    """One step of gradient descent."""
    loss, slopes = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, slope: p - slope, params, slopes), loss


def arrays() -> tuple[Params, Any, Any]:
    """Seeded parameters and tokens, and what is to be learnt: another mixture of experts."""
    random = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return random.standard_normal(shape, np.float32) / shape[-2] ** 0.5

    def experts() -> Params:
        return {
            "router": draw(WIDTH, EXPERTS),
            "up": draw(EXPERTS, WIDTH, 2 * WIDTH),
            "down": draw(EXPERTS, 2 * WIDTH, WIDTH),
        }

    x = random.standard_normal((GROUPS, TOKENS, WIDTH), np.float32)
    return experts(), x, np.asarray(mixture(experts(), x))


def main() -> float:
    """Train on eight devices and on one; returns the largest difference between their losses, relative to the first."""
    params, x, y = arrays()
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "expert"))

    def put(value: Any, *spec: str | tuple[str, ...] | None) -> jax.Array:
        return jax.device_put(value, NamedSharding(mesh, P(*spec)))

    placed = {name: put(value, *(() if name == "router" else ("expert",))) for name, value in params.items()}
    tokens = put(x, ("data", "expert")), put(y, ("data", "expert"))
    ours = sw.jax.jit(step, donate_argnums=0)
    found = sw.jax.shardings(step, placed, *tokens)
    print("decided for what goes from the experts:", found.named["experts"].spec)
    lowered = ours.lower(placed, *tokens)
    for kind in sorted({row.kind for row in lowered.predicted}):
        rows = [row for row in lowered.predicted if row.kind == kind]
        print(
            f"{len(rows)} {kind}: {sum(float(row.bytes_per_device or 0) for row in rows):,.0f} bytes from each device"
        )
    alone, plain, losses = params, jax.jit(step), list[tuple[float, float]]()
    for _ in range(STEPS):
        placed, loss = ours(placed, *tokens)
        alone, wanted = plain(alone, x, y)
        losses.append((float(loss), float(wanted)))
    print(f"loss {losses[0][0]:.4f} to {losses[-1][0]:.4f} on eight devices, to {losses[-1][1]:.4f} on one")
    return max(abs(one - other) / losses[0][1] for one, other in losses)


if __name__ == "__main__":
    main()
