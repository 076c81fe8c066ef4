"""Steps of random programs on arrays of any type: what they compute is the same on a mesh and without one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from random import Random
from typing import Any, TypeAlias

import numpy as np

jax: Any = import_module("jax")
jnp, lax = jax.numpy, jax.lax
NamedSharding, P = jax.sharding.NamedSharding, jax.sharding.PartitionSpec
Step: TypeAlias = Callable[["Place", Random, str, Any], Any]
"""A step on one value; its path is the key of what it draws."""

DEEPEST = 4
MOST_ELEMENTS = 512


@dataclass(frozen=True)
class Place:
    """Where a program runs: on a mesh of automatic axes, or without one."""

    mesh: Any
    plain: bool
    within: bool
    """Whether `jax.set_mesh` is around, so that specs say it all."""

    taken: tuple[str, ...] = ()
    """Axes that belong to `vmap`."""

    def of(self, spec: Any) -> Any:
        return spec if self.within else NamedSharding(self.mesh, spec)

    def spec(self, random: Random, shape: Sequence[int], even: bool = True) -> Any:
        names = [name for name in self.mesh.axis_names if name not in self.taken]
        return drawn_spec(random, self.mesh, names, shape, even)


def drawn_spec(random: Random, mesh: Any, names: Sequence[str], shape: Sequence[int], even: bool = True) -> Any:
    """Axes along the dims, in any order, where they divide them."""
    axes = random.sample(list(names), len(names))
    chosen: list[list[str]] = [[] for _ in shape]
    for dim in random.sample(range(len(shape)), len(shape)):
        while axes and random.random() < 0.6:
            count = math.prod(mesh.shape[name] for name in [*chosen[dim], axes[-1]])
            if (even and shape[dim] % count) or count > shape[dim]:
                break
            chosen[dim].append(axes.pop())
    entries = [None if not mine else mine[0] if len(mine) == 1 else tuple(mine) for mine in chosen]
    while entries and entries[-1] is None and random.random() < 0.5:
        entries.pop()
    return P(*entries)


def is_key(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def is_inexact(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.inexact)


def tame(x: Any) -> Any:
    """Small numbers of the same type, by what is smooth where numbers are not whole."""
    if is_inexact(x):
        return 2 * x / (1 + jnp.real(x * jnp.conj(x)))
    return x if is_key(x) or x.dtype == jnp.bool_ else jnp.mod(x, jnp.asarray(5, x.dtype))


def number(x: Any) -> Any:
    return x.astype(jnp.int32) if x.dtype == jnp.bool_ else x


def as_type(x: Any, dtype: Any) -> Any:
    """Of a complex number the real part, where the type has no other."""
    return (jnp.real(x) if jnp.iscomplexobj(x) and not jnp.issubdtype(dtype, jnp.complexfloating) else x).astype(dtype)


def elementwise(at: Place, random: Random, path: str, x: Any) -> Any:
    kind, n = random.randrange(6), number(x)
    made = [
        lambda: n * 3 + 1,
        lambda: n * n,
        lambda: jnp.where(n == 0, n + 2, n),
        lambda: n - jnp.asarray(2, n.dtype),
        lambda: jnp.exp(-n * n) + n if is_inexact(n) else n ^ 3,
        lambda: -n,
    ][kind]()
    return as_type(tame(made), x.dtype)


def moved(at: Place, random: Random, path: str, x: Any) -> Any:
    if not x.ndim:
        return x
    dim = random.randrange(x.ndim)
    places = np.array([random.randrange(x.shape[dim] or 1) for _ in range(x.shape[dim])], np.int32)
    shift = random.randrange(-3, 4)
    kinds: list[Callable[[], Any]] = [
        lambda: jnp.flip(x, dim),
        lambda: jnp.roll(x, shift, dim),
        lambda: jnp.take(x, places, axis=dim),
        lambda: jnp.swapaxes(jnp.swapaxes(x, 0, dim), 0, dim),
        lambda: (
            lax.slice_in_dim(jnp.concatenate([x, x], dim), x.shape[dim] // 2, x.shape[dim] * 3 // 2, axis=dim)
            if x.shape[dim] % 2 == 0
            else x
        ),
    ]
    return random.choice(kinds)()


def gathered(at: Place, random: Random, path: str, x: Any) -> Any:
    """Each element with something of all others along a dim."""
    if not x.ndim or not x.size:
        return x
    dim, n = random.randrange(x.ndim), number(x)
    kinds: list[Callable[[], Any]] = [
        lambda: n + jnp.sum(n, axis=dim, keepdims=True, dtype=n.dtype),
        lambda: n - jnp.sum(n, dtype=n.dtype),
        lambda: jnp.cumsum(n, axis=dim, dtype=n.dtype),
        lambda: lax.associative_scan(jnp.add, n, axis=dim, reverse=random.random() < 0.5),
        lambda: lax.associative_scan(lambda a, b: tame(a * b), n, axis=dim) if not is_inexact(n) else n,
    ]
    if not jnp.iscomplexobj(n):
        kinds += [
            lambda: jnp.sort(n, axis=dim),
            lambda: n + jnp.max(n, axis=dim, keepdims=True),
            lambda: jax.nn.softmax(n, axis=dim) if is_inexact(n) else jnp.argsort(n, axis=dim).astype(n.dtype),
            lambda: lax.cummax(n, axis=dim),
        ]
    return as_type(tame(random.choice(kinds)()), x.dtype)


def multiplied(at: Place, random: Random, path: str, x: Any) -> Any:
    if x.ndim < 1 or not x.size:
        return x
    n, k = number(x), x.shape[-1]
    weights = ((np.arange(k * k).reshape(k, k) * 7) % 3).astype(n.dtype)
    kinds: list[Callable[[], Any]] = [
        lambda: n @ weights,
        lambda: jnp.einsum("...k,...j->...j", n, n) if x.ndim > 1 else n,
        lambda: n @ (n.T @ n) if x.ndim == 2 else n,
    ]
    return as_type(tame(random.choice(kinds)()), x.dtype)


def indexed(at: Place, random: Random, path: str, x: Any) -> Any:
    if not x.ndim or not x.size:
        return x
    places = np.array([random.randrange(x.shape[0]) for _ in range(x.shape[0])], np.int32)
    n = number(x)
    first = (jnp.sum(jnp.arange(3)) if is_inexact(n) else jnp.abs(n.ravel()[0]).astype(jnp.int32)) % n.shape[0]
    kinds: list[Callable[[], Any]] = [
        lambda: n.at[places].add(n * 2),
        lambda: lax.dynamic_update_slice_in_dim(n, lax.dynamic_slice_in_dim(n, first, 1, 0) * 3, 0, 0),
        lambda: n.at[first].set(n[0] + 1),
        lambda: jax.ops.segment_sum(n, places, num_segments=x.shape[0]),
    ]
    return as_type(tame(random.choice(kinds)()), x.dtype)


def constrained(at: Place, random: Random, path: str, x: Any) -> Any:
    spec = at.spec(random, x.shape, even=random.random() < 0.6)
    if random.random() < 0.3 and x.ndim:
        spec = P(*(P.UNCONSTRAINED if each is None and random.random() < 0.5 else each for each in spec))
    return x if at.plain else lax.with_sharding_constraint(x, at.of(spec))


def by_parts(at: Place, random: Random, path: str, x: Any) -> Any:
    """A `shard_map` over some axes, with the sum of all."""
    free = [name for name in at.mesh.axis_names if name not in at.taken]
    axes = random.sample(free, random.randint(1, len(free))) if free else []
    spec, n = drawn_spec(random, at.mesh, axes, x.shape), number(x)
    if at.plain or not axes or at.taken:
        return as_type(tame(n * 2 + jnp.sum(n, dtype=n.dtype)), x.dtype)
    used = [name for each in spec if each for name in (each if isinstance(each, tuple) else (each,))]

    def inside(part: Any) -> Any:
        total = jnp.sum(part, dtype=part.dtype)
        return part * 2 + (lax.psum(total, used) if used else total)

    mesh = None if at.within else at.mesh
    made = jax.shard_map(inside, mesh=mesh, in_specs=spec, out_specs=spec, axis_names=set(axes))(n)
    return as_type(tame(made), x.dtype)


def drawn_at_random(at: Place, random: Random, path: str, x: Any) -> Any:
    """With numbers of a key that is written in the program."""
    drawn = jax.random.randint(jax.random.key(random.randrange(9)), x.shape, 0, 5, jnp.int32)
    return as_type(tame(number(x) + as_type(drawn, number(x).dtype)), x.dtype)


def rounded(at: Place, random: Random, path: str, x: Any) -> Any:
    """Through another type and back."""
    if x.dtype not in (jnp.float32, jnp.int32, jnp.uint32):
        return x
    kind = random.choice(["bfloat16", "float16", "complex64"] if x.dtype == jnp.float32 else ["float32", "int8"])
    return as_type(as_type(x, kind), x.dtype)


def body(at: Place, path: str, count: int, x: Any) -> Any:
    """Steps that keep shape and type."""
    for number in range(count):
        x = stepped(at, f"{path}/{number}", SAME, x)
    return x


def stepped(at: Place, path: str, kinds: Sequence[Step], x: Any) -> Any:
    random = Random(path)
    return random.choice(SIMPLE if path.count("/") > DEEPEST else kinds)(at, random, path, x)


def forward_alone(path: str) -> bool:
    """Whether a step is differentiated, and nowhere backwards."""
    return "forward" in path and "backward" not in path


def looped(at: Place, random: Random, path: str, x: Any) -> Any:
    turns, kind, reverse = random.randint(0, 3), random.randrange(4), random.random() < 0.3
    unroll = random.choice([1, 1, 2])

    def inside(x: Any) -> Any:
        return body(at, path, 2, x)

    if kind == 0:
        last, rows = lax.scan(
            lambda c, i: ((made := inside(c)), made), x, jnp.arange(turns), reverse=reverse, unroll=unroll
        )
        n = number(last)
        return as_type(tame(n + jnp.sum(number(rows), axis=0, dtype=n.dtype)), x.dtype)
    if kind == 1:
        return lax.fori_loop(0, turns, lambda i, c: inside(c), x)
    if kind == 2:  # which is differentiated forward alone
        stop = jnp.asarray(turns) if is_inexact(x) else jnp.max(jnp.abs(number(x)).astype(jnp.int32), initial=0) % 4
        return lax.fori_loop(0, stop, lambda i, c: inside(c), x) if forward_alone(path) else inside(x)

    def more(state: Any) -> Any:
        return (state[0] < turns) & (jnp.sum(number(state[1]).astype(jnp.float32).real) < 1e6)

    return lax.while_loop(more, lambda s: (s[0] + 1, inside(s[1])), (0, x))[1] if forward_alone(path) else inside(x)


def rows_looped(at: Place, random: Random, path: str, x: Any) -> Any:
    """Over the rows: a scan, or a map, maybe of several at once."""
    if x.ndim < 2 or not x.shape[0]:
        return x
    kind, reverse = random.randrange(3), random.random() < 0.5
    size = random.randint(1, 3)
    if kind == 0:
        n = number(x)
        step = lambda c, row: ((made := tame(c * 2 + row)), as_type(made + row, n.dtype))  # noqa: E731
        last, rows = lax.scan(step, n[0] * 0, n, reverse=reverse)
        return as_type(tame(rows + last), x.dtype)
    return lax.map(lambda row: body(at, path, 1, row), x, batch_size=size if kind == 1 else None)


def branched(at: Place, random: Random, path: str, x: Any) -> Any:
    count = random.randint(2, 3)
    which = jnp.sum(number(x)).astype(jnp.int32) if not is_inexact(x) else jnp.int32(random.randrange(4))
    if not at.plain and random.random() < 0.3:
        which = lax.optimization_barrier(which)
    arms = [lambda x, i=i: body(at, f"{path}{i}", i, x) for i in range(count)]
    if count == 2:
        return lax.cond(which % 2 == 0, arms[0], arms[1], x)
    return lax.switch(which % 4, arms, x)


def derived(at: Place, random: Random, path: str, x: Any) -> Any:
    """Slopes, of what may be computed again, in all ways that there are."""
    if not is_inexact(x):
        return x
    kind, count = random.randrange(8), random.randint(1, 2)
    path = {3: "forward", 4: "forward backward ", 5: "forward backward "}.get(kind, "backward ") + path
    holomorphic = jnp.iscomplexobj(x)
    inside = lambda x: body(at, path, count, x)  # noqa: E731
    if random.random() < 0.4:
        policy = random.choice([None, jax.checkpoint_policies.dots_saveable, jax.checkpoint_policies.nothing_saveable])
        inside = jax.checkpoint(inside, policy=policy)
    loss = lambda x: jnp.sum(jnp.real(inside(x) * jnp.conj(inside(x))))  # noqa: E731
    if kind == 0:
        return tame(jax.grad(loss)(x))
    if kind == 1:
        value, slope = jax.value_and_grad(loss)(x)
        return tame(slope + tame(value).astype(x.dtype))
    if kind == 2:
        value, back = jax.vjp(inside, x)
        return tame(back(value)[0])
    if kind == 3:
        return tame(sum(jax.jvp(inside, (x,), (x * 2,))))
    if kind == 4:
        value, push = jax.linearize(inside, x)
        return tame(push(value) + value)
    if kind == 5 and x.size <= 24 and not holomorphic:
        made = random.choice([jax.jacfwd, jax.jacrev])(inside)(x)
        return tame(jnp.sum(made, axis=tuple(range(x.ndim))))
    if kind == 6:
        return tame(jax.grad(loss)(x) + inside(x))
    return tame(jax.grad(lambda x: jnp.sum(jnp.real(jax.grad(loss)(x))))(x))


def with_own_slope(at: Place, random: Random, path: str, x: Any) -> Any:
    """Custom derivatives, and a slope through them."""
    both = "forward" in path
    path = f"forward backward {path}"
    inside = lambda x: body(at, path, 1, x)  # noqa: E731
    if random.random() < 0.5 or both:  # what has a rule for backwards has none for forwards
        own = jax.custom_jvp(inside)
        own.defjvp(lambda primals, tangents: (inside(*primals), tangents[0] * 2))
    else:
        own = jax.custom_vjp(inside)
        own.defvjp(lambda x: (inside(x), x), lambda x, g: (g * 2 + tame(x),))
    if not is_inexact(x) or random.random() < 0.3:
        return own(x)
    return tame(jax.grad(lambda x: jnp.sum(jnp.real(own(x) * own(x))))(x))


def mapped(at: Place, random: Random, path: str, x: Any) -> Any:
    """`vmap` over a dim, which may be along an axis of the mesh."""
    if not x.ndim or not x.size:
        return x
    dim, out = random.randrange(x.ndim), random.randrange(x.ndim)
    free = [name for name in at.mesh.axis_names if name not in at.taken and x.shape[dim] % at.mesh.shape[name] == 0]
    axes = tuple(random.sample(free, min(len(free), random.randint(1, 2)))) if random.random() < 0.5 else ()
    if math.prod(at.mesh.shape[name] for name in axes) > x.shape[dim]:
        axes = ()
    inner = replace(at, taken=(*at.taken, *axes))
    named = {} if at.plain or not axes else {"spmd_axis_name": axes[0] if len(axes) == 1 else axes}
    made = jax.vmap(lambda row: body(inner, path, 1, row), in_axes=dim, out_axes=out, **named)(x)
    return jnp.moveaxis(made, out, dim)


def jitted_inside(at: Place, random: Random, path: str, x: Any) -> Any:
    """A `jit` inside, maybe with shardings of its own."""
    options: dict[str, Any] = {}
    for name in ("in_shardings", "out_shardings"):
        spec = at.spec(random, x.shape)
        if random.random() < 0.4 and not at.taken:
            options[name] = at.of(spec)
    inline = random.random() < 0.3
    return jax.jit(lambda x: body(at, path, 2, x), inline=inline, **({} if at.plain else options))(x)


def transposed(at: Place, random: Random, path: str, x: Any) -> Any:
    return jnp.transpose(x, random.sample(range(x.ndim), x.ndim))


def reshaped(at: Place, random: Random, path: str, x: Any) -> Any:
    size = x.size
    shapes = [(size,), *((a, size // a) for a in range(1, size + 1) if size % a == 0)]
    shapes += [(a, b, size // a // b) for a in (2, 3, 4) for b in (1, 2, 3, 5) if size and size % (a * b) == 0]
    return jnp.reshape(x, random.choice(shapes))


def reduced(at: Place, random: Random, path: str, x: Any) -> Any:
    if not x.ndim:
        return x
    dim, n = random.randrange(x.ndim), number(x)
    kinds: list[Callable[[], Any]] = [
        lambda: jnp.sum(n, axis=dim),
        lambda: jnp.sum(n),
        lambda: jnp.mean(n, axis=dim) if n.shape[dim] and is_inexact(n) else jnp.sum(n, axis=dim, dtype=n.dtype),
        lambda: jnp.any(n != 0, axis=dim) if not is_inexact(n) else jnp.sum(n, axis=dim),
        lambda: jnp.prod(tame(n) + 1 if is_inexact(n) else n, axis=dim),
    ]
    if n.size and not jnp.iscomplexobj(n):
        kinds += [lambda: jnp.max(n, axis=dim), lambda: jnp.min(n, axis=dim)]
        kinds += [] if is_inexact(n) else [lambda: jnp.argmax(n, axis=dim), lambda: jnp.argmin(n)]
    return tame(random.choice(kinds)())


def joined(at: Place, random: Random, path: str, x: Any) -> Any:
    if not x.ndim:
        return jnp.stack([x, x, x])
    dim, cut = random.randrange(x.ndim), random.randint(1, 3)
    kinds: list[Callable[[], Any]] = [
        lambda: jnp.concatenate([x, x], axis=dim),
        lambda: jnp.pad(x, [(cut, 1) if each == dim else (0, 0) for each in range(x.ndim)]),
        lambda: lax.slice_in_dim(x, min(cut, x.shape[dim]), x.shape[dim], axis=dim),
        lambda: jnp.broadcast_to(x[None], (cut, *x.shape)) if x.ndim < 4 else x,
        lambda: x[:0],
        lambda: x[0] if x.shape[0] else x,
    ]
    made = random.choice(kinds)()
    return made if made.size <= MOST_ELEMENTS else x


def cast(at: Place, random: Random, path: str, x: Any) -> Any:
    wider = ["float32", "bfloat16", "float16", "complex64"]
    kinds = wider if is_inexact(x) else [*wider, "int8", "int32", "uint32", "bool", "int16", "uint8"]
    return as_type(x, random.choice(kinds))


def spread(at: Place, random: Random, path: str, x: Any) -> Any:
    """What is not data of anything: numbers that are counted, of weak types or not."""
    shape = tuple(random.choices([2, 4, 6, 8], k=random.randint(0, 2)))
    return [
        lambda: jnp.arange(math.prod(shape)).reshape(shape),
        lambda: jnp.full(shape, 2),
        lambda: jnp.zeros(shape, x.dtype),
        lambda: jnp.ones_like(x),
        lambda: x * 0 if x.dtype != jnp.bool_ else x,
    ][random.randrange(5)]()


def of_key(at: Place, random: Random, path: str, key: Any) -> Any:
    """Another key, or numbers."""
    if key.ndim:
        kinds: list[Callable[[], Any]] = [
            lambda: jnp.flip(key, 0),
            lambda: key.reshape(-1)[: random.randint(1, 4)],
            lambda: jax.vmap(lambda key: jax.random.uniform(key, (3,)))(key.reshape(-1)),
            lambda: key.reshape(-1)[0],
            lambda: jnp.concatenate([key, key]) if key.size < 64 else key,
            lambda: jnp.where(jnp.arange(key.shape[-1]) % 2 == 0, key, key[..., ::-1]),
            lambda: jax.random.key_data(key),
            lambda: constrained(at, random, path, key),
        ]
        return random.choice(kinds)()
    shape = tuple(random.choices([2, 4, 6, 8], k=random.randint(0, 2)))
    kinds = [
        lambda: jax.random.split(key, random.choice([2, 4, 6, 8])),
        lambda: jax.random.split(key, (2, 4)),
        lambda: jax.random.fold_in(key, random.randrange(9)),
        lambda: jax.random.randint(key, shape, 0, 9),
        lambda: tame(jax.random.normal(key, shape)),
        lambda: jax.random.permutation(key, 12),
        lambda: jax.random.bernoulli(key, 0.4, shape),
    ]
    return random.choice(kinds)()


SIMPLE: tuple[Step, ...] = (elementwise, moved, gathered, constrained, multiplied)
SAME: tuple[Step, ...] = (
    elementwise, moved, gathered, gathered, multiplied, indexed, constrained, constrained, by_parts, drawn_at_random,
    rounded, looped, looped, rows_looped, branched, derived, derived, derived, with_own_slope, mapped, mapped,
    jitted_inside,
)  # fmt: skip
ANY: tuple[Step, ...] = (*SAME, transposed, reshaped, reduced, joined, cast, spread, reduced, reshaped)
