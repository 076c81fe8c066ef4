"""Random programs of JAX: compositions of what people write, of arguments that are split at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from random import Random
from typing import Any, TypeAlias

import numpy as np

jax: Any = import_module("jax")
jnp, lax = jax.numpy, jax.lax
Step: TypeAlias = Callable[[Random, Sequence[Any], Any], Any]
"""An op on the last argument, maybe with others of those before; None where it has no such form."""

MESHES = ((4, 2), (8,), (2, 2, 2), (2, 4))
EXTENTS = (4, 8, 12, 16)
MOST_ELEMENTS = 1 << 14


@dataclass(frozen=True)
class JaxProgram:
    """A function, its arguments and their shardings; half of all are gradients."""

    function: Callable[..., Any]
    arguments: list[Any]
    shardings: tuple[Any, ...]

    @classmethod
    def of(cls, seed: int) -> JaxProgram:
        """The program of a seed."""
        random = Random(seed)
        sizes = random.choice(MESHES)
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(sizes), tuple("abc"[: len(sizes)]))
        extents = random.choices(EXTENTS, k=3)
        shapes = [tuple(random.choices(extents, k=random.choice([1, 2, 2, 3]))) for _ in range(random.randrange(2, 5))]
        numbers = np.random.default_rng(seed)
        arguments = [numbers.normal(size=shape).astype(np.float32) for shape in shapes]
        shardings = tuple(_sharding(random, mesh, shape) for shape in shapes)
        inner, count = random.random(), random.randrange(3, 14)
        composed = _composed(inner, count)
        return cls(composed if random.random() < 0.5 else _gradient(composed), arguments, shardings)


def _sharding(random: Random, mesh: Any, shape: Sequence[int]) -> Any:
    axes, split = list(mesh.axis_names), list[Any]()
    random.shuffle(axes)
    for extent in shape:
        mine: list[str] = []
        while axes and random.random() < 0.45 and extent % (mesh.shape[axes[-1]] * _count(mesh, mine)) == 0:
            mine.append(axes.pop())
        split.append(tuple(mine) or None)
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*split))


def _count(mesh: Any, axes: Sequence[str]) -> int:
    return int(np.prod([mesh.shape[axis] for axis in axes]))


def _composed(seed: float, count: int) -> Callable[..., Any]:
    """So many tries of ops; which they are depends on shapes alone."""

    def function(*arguments: Any) -> Any:
        random, values = Random(seed), list(arguments)
        for _ in range(count):
            operand = random.choice(values[-4:] if random.random() < 0.7 else values)
            made = random.choice(STEPS)(random, values, operand)
            if made is not None and 0 < made.size <= MOST_ELEMENTS:
                values.append(made)
        return tuple(values[-random.choice([1, 2, 3]) :])

    return function


def _gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    def graded(*arguments: Any) -> Any:
        def loss(*given: Any) -> Any:
            return sum(jnp.mean(jnp.tanh(each)) for each in function(*given))

        return jax.value_and_grad(loss, argnums=tuple(range(len(arguments))))(*arguments)

    return graded


def _alike(random: Random, values: Sequence[Any], x: Any) -> Any:
    return random.choice([each for each in values if each.shape == x.shape])


def _whole_number(random: Random, values: Sequence[Any]) -> Any:
    """A number that only the run knows, often beyond any dim."""
    return lax.stop_gradient(jnp.abs(jnp.sum(random.choice(values))) * 3).astype(jnp.int32)


def _unary(random: Random, values: Sequence[Any], x: Any) -> Any:
    return random.choice([jnp.tanh, jnp.sin, jax.nn.gelu, jax.nn.softplus, jnp.abs, jnp.square])(x)


def _binary(random: Random, values: Sequence[Any], x: Any) -> Any:
    return random.choice([jnp.add, jnp.multiply, jnp.subtract, jnp.maximum])(x, _alike(random, values, x))


def _reduced(random: Random, values: Sequence[Any], x: Any) -> Any:
    reduce = random.choice([jnp.sum, jnp.mean, jnp.max, jnp.std, jax.nn.logsumexp, jnp.prod])
    return reduce(jnp.tanh(x), axis=random.randrange(x.ndim)) if x.ndim else None


def _normed(random: Random, values: Sequence[Any], x: Any) -> Any:
    if not x.ndim:
        return None
    axis = random.randrange(x.ndim)
    centred = (x - x.mean(axis, keepdims=True)) / jnp.sqrt(x.var(axis, keepdims=True) + 0.01)
    return random.choice([centred, jax.nn.softmax(x, axis=axis), jax.nn.log_softmax(x, axis=axis)])


def _transposed(random: Random, values: Sequence[Any], x: Any) -> Any:
    return jnp.transpose(x, random.sample(range(x.ndim), x.ndim))


def _reshaped(random: Random, values: Sequence[Any], x: Any) -> Any:
    if x.ndim >= 2 and random.random() < 0.5:
        dim = random.randrange(x.ndim - 1)
        return x.reshape(*x.shape[:dim], -1, *x.shape[dim + 2 :])
    dim, parts = random.randrange(max(x.ndim, 1)), random.choice([2, 3, 4])
    if not x.ndim or x.shape[dim] % parts or x.ndim > 3:
        return None
    return x.reshape(*x.shape[:dim], parts, -1, *x.shape[dim + 1 :])


def _product(random: Random, values: Sequence[Any], x: Any) -> Any:
    for y in random.sample(values, len(values)):
        for i, j in ((i, j) for i in range(x.ndim) for j in range(y.ndim) if x.shape[i] == y.shape[j]):
            if x.size * y.size <= 8192 * x.shape[i] ** 2:
                return jnp.tanh(jnp.tensordot(x, y, axes=((i,), (j,))) * 0.3)
    return None


def _joined(random: Random, values: Sequence[Any], x: Any) -> Any:
    return jnp.concatenate([x, _alike(random, values, x)], axis=random.randrange(x.ndim)) if x.ndim else None


def _sliced(random: Random, values: Sequence[Any], x: Any) -> Any:
    if not x.ndim:
        return None
    dim = random.randrange(x.ndim)
    start = random.randrange(x.shape[dim])
    return lax.slice_in_dim(x, start, random.randrange(start + 1, x.shape[dim] + 1), random.choice([1, 1, 2, 3]), dim)


def _sliced_later(random: Random, values: Sequence[Any], x: Any) -> Any:
    """A slice, or an update of one, from a place that may be too late."""
    if not x.ndim:
        return None
    dim, start = random.randrange(x.ndim), _whole_number(random, values)
    part = lax.dynamic_slice_in_dim(x, start % (x.shape[dim] + 2), random.randrange(1, x.shape[dim] + 1), axis=dim)
    return random.choice([part, lax.dynamic_update_slice_in_dim(x, part * 2, start % x.shape[dim], axis=dim)])


def _padded(random: Random, values: Sequence[Any], x: Any) -> Any:
    config = [(random.randrange(-1, 4), random.randrange(0, 4), random.choice([0, 0, 1])) for _ in x.shape]
    return lax.pad(x, jnp.float32(0.5), config) if x.ndim <= 2 else None


def _moved(random: Random, values: Sequence[Any], x: Any) -> Any:
    if not x.ndim:
        return None
    axis = random.randrange(x.ndim)
    return random.choice([jnp.flip(x, axis), jnp.roll(x, random.randrange(-5, 6), axis)])


def _running(random: Random, values: Sequence[Any], x: Any) -> Any:
    run = random.choice([lax.cumsum, lax.cumprod, lax.cummax, lax.cumlogsumexp])
    return run(jnp.tanh(x), axis=random.randrange(x.ndim), reverse=random.random() < 0.5) if x.ndim else None


def _sorted(random: Random, values: Sequence[Any], x: Any) -> Any:
    if not x.ndim:
        return None
    axis = random.randrange(x.ndim)
    largest = lax.top_k(jnp.moveaxis(x, axis, -1), 3)[0] if x.shape[axis] >= 3 else x
    return random.choice([jnp.sort(x, axis=axis), largest, jnp.argmax(x, axis=axis).astype(jnp.float32) * 0.1])


def _taken(random: Random, values: Sequence[Any], x: Any) -> Any:
    keys = [each for each in values if each.ndim == 1]
    if not x.ndim or not keys:
        return None
    indices = lax.stop_gradient(jnp.abs(random.choice(keys) * 10)).astype(jnp.int32)
    return jnp.take(x, indices, axis=random.randrange(x.ndim), mode=random.choice(["clip", "wrap"]))


def _scattered(random: Random, values: Sequence[Any], x: Any) -> Any:
    rows = [each for each in values if each.ndim and each.shape[1:] == x.shape[1:]]
    if not x.ndim or not rows:
        return None
    y = random.choice(rows)
    places = lax.stop_gradient(jnp.abs(y.reshape(len(y), -1)[:, 0] * 7)).astype(jnp.int32) % (len(x) + 1)
    added, sums = x.at[places].add(y, mode="drop"), jax.ops.segment_sum(y, places, num_segments=5)
    return random.choice([added, x.at[places].max(y, mode="drop"), sums])


def _scanned(random: Random, values: Sequence[Any], x: Any) -> Any:
    def body(carry: Any, row: Any) -> Any:
        carry = jnp.tanh(carry * 0.5 + row)
        return carry, carry * 0.7

    if not x.ndim or len(x) > 24:
        return None
    return random.choice(lax.scan(body, jnp.zeros(x.shape[1:]), x, reverse=random.random() < 0.3))


def _looped(random: Random, values: Sequence[Any], x: Any) -> Any:
    y = _alike(random, values, x)
    return lax.fori_loop(0, random.randrange(2, 5), lambda i, carry: jnp.tanh(carry + y * (i + 1) * 0.1), x)


def _branched(random: Random, values: Sequence[Any], x: Any) -> Any:
    y = _alike(random, values, x)
    return lax.cond(jnp.sum(x) > 0, lambda a, b: a * 2 - b, lambda a, b: jnp.sin(a) + b, x, y)


def _pooled(random: Random, values: Sequence[Any], x: Any) -> Any:
    if x.ndim < 2:
        return None
    window = [1] * (x.ndim - 1) + [random.choice([2, 3])]
    step = [1] * (x.ndim - 1) + [random.choice([1, 2])]
    return lax.reduce_window(x, -jnp.inf, lax.max, window, step, "SAME")


def _spread(random: Random, values: Sequence[Any], x: Any) -> Any:
    return random.choice([jnp.broadcast_to(x[None], (4, *x.shape)), jnp.broadcast_to(x[..., None], (*x.shape, 8))])


def _repeated(random: Random, values: Sequence[Any], x: Any) -> Any:
    return jax.checkpoint(lambda a, b: jnp.sin(jnp.tanh(a) * b))(x, _alike(random, values, x))


STEPS: list[Step] = [
    _unary, _binary, _reduced, _normed, _transposed, _reshaped, _product, _joined, _sliced, _sliced_later, _padded,
    _moved, _running, _sorted, _taken, _scattered, _scanned, _looped, _branched, _pooled, _spread, _repeated,
]  # fmt: skip
