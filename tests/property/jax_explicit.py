"""Random programs of JAX on meshes with explicit axes, and the same programs where there is no mesh."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from random import Random
from typing import Any, TypeAlias

import numpy as np

jax: Any = import_module("jax")
jnp, lax = jax.numpy, jax.lax
NamedSharding, P = jax.sharding.NamedSharding, jax.sharding.PartitionSpec
AxisType = jax.sharding.AxisType
Step: TypeAlias = Callable[["Place", Random, str, Any, Any], Any]
"""A step on one value, maybe with another; its path is the key of what it draws."""

MESHES = ((4, 2), (2, 4), (8,), (2, 2, 2), (1, 8), (4, 1, 2), (3, 2), (2, 1), (2, 3))
EXTENTS = (2, 3, 4, 6, 8, 8, 12, 16)
MOST_ELEMENTS = 384
TYPES = ("float32", "float32", "float32", "bfloat16", "int8", "int32", "complex64", "bool")


@dataclass
class Place:
    """Where a program runs: on a mesh, or without one, where every layout is none."""

    mesh: Any
    plain: bool
    skipped: set[str]
    auto: tuple[str, ...] = ()
    """Axes that are explicit ones of the mesh and automatic here."""

    named: bool = False
    """Whether specs are written as shardings, as outside of `jax.set_mesh`."""

    said: list[str] = field(default_factory=list[str])
    parts: dict[str, bool] | None = None
    """Where values are parts of sums, as the mesh says and the other run does not know; None where none may be."""

    def are_parts(self, path: str, x: Any) -> bool:
        """Whether each device has a part of a sum."""
        if self.parts is None:
            return False
        if not self.plain:
            self.parts[path] = bool(jax.typeof(x).sharding.spec.unreduced)
        return self.parts[path]

    def axes(self, kind: Any) -> list[str]:
        kinds = dict(zip(self.mesh.axis_names, self.mesh.axis_types, strict=True))
        return [name for name in kinds if (AxisType.Auto if name in self.auto else kinds[name]) == kind]

    @property
    def explicit(self) -> list[str]:
        return self.axes(AxisType.Explicit)

    def spec(self, random: Random, shape: Sequence[int], kind: Any = AxisType.Explicit, even: bool = True) -> Any:
        """Axes of this kind along the dims, in any order."""
        axes = self.axes(kind)
        return drawn_spec(random, self.mesh, axes, shape, even)

    def of(self, spec: Any) -> Any:
        if not self.named:
            return spec
        return NamedSharding(jax.sharding.get_abstract_mesh() if self.context else self.mesh, spec)

    @property
    def context(self) -> bool:
        return not jax.sharding.get_abstract_mesh().empty

    def reshard(self, x: Any, spec: Any) -> Any:
        if self.plain or not self.explicit:
            return x
        return jax.sharding.reshard(x, self.of(spec))

    def like(self, x: Any, other: Any) -> Any:
        """With the sharding of another."""
        if self.plain or not self.explicit:
            return x
        sharding = jax.typeof(other).sharding
        return jax.sharding.reshard(x, sharding if self.named else sharding.spec)

    def constrain(self, x: Any, spec: Any) -> Any:
        if self.plain or not self.axes(AxisType.Auto):
            return x
        return lax.with_sharding_constraint(x, self.of(spec))

    def out(self, spec: Any) -> dict[str, Any]:
        return {} if self.plain or not self.explicit else {"out_sharding": self.of(spec)}

    def tried(self, path: str, given: Any, do: Callable[..., Any], *operands: Any) -> Any:
        """What the step gives; of whole values where JAX wants to be told more; `given` where it does not do it."""
        if path in self.skipped:
            return given
        if self.plain:
            return do(*operands)
        wholes = [self.reshard(each, P()) for each in operands]
        for values in (operands, wholes):
            try:
                return do(*values)
            except Exception as error:  # whatever JAX raises
                self.said.append(f"{path}: {type(error).__name__}: {str(error)[:300]}")
        self.skipped.add(path)
        return given


def drawn_spec(random: Random, mesh: Any, names: Sequence[str], shape: Sequence[int], even: bool = True) -> Any:
    axes, entries = random.sample(list(names), len(names)), list[Any]()
    order = list(range(len(shape)))
    chosen: dict[int, list[str]] = {dim: [] for dim in order}
    random.shuffle(order)
    for dim in order:
        while axes and random.random() < 0.6:
            count = math.prod(mesh.shape[name] for name in [*chosen[dim], axes[-1]])
            if (even and shape[dim] % count) or count > shape[dim]:
                break
            chosen[dim].append(axes.pop())
    for dim in range(len(shape)):
        mine = chosen[dim]
        entries.append(None if not mine else mine[0] if len(mine) == 1 else tuple(mine))
    return P(*entries)


def explicit_axes(type_: Any) -> tuple[str, ...]:
    """The axes of its mesh that an array's type may name."""
    return () if type_.sharding.mesh.empty else type_.sharding.mesh.explicit_axes


def small(x: Any) -> Any:
    """Small whole numbers of the same type."""
    if x.dtype == jnp.bool_:
        return x
    if x.dtype == jnp.complex64:
        return lax.complex(jnp.mod(x.real, 4), jnp.mod(x.imag, 4))
    return jnp.mod(x, jnp.asarray(2 if x.dtype == jnp.bfloat16 else 5, x.dtype))


def number(x: Any) -> Any:
    return x.astype(jnp.int32) if x.dtype == jnp.bool_ else x


def unary(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    kind = random.randrange(9)
    dim, shift = random.randrange(x.ndim), random.randrange(1, 4)
    n = number(x)

    def do(n: Any) -> Any:
        return [
            lambda: n * 3 + 1,
            lambda: jnp.flip(n, dim),
            lambda: jnp.roll(n, shift, dim),
            lambda: n + jnp.sum(n, axis=dim, keepdims=True, dtype=n.dtype),
            lambda: jnp.cumsum(n, axis=dim, dtype=n.dtype),
            lambda: jnp.where(n == 0, n + 2, n),
            lambda: n - jnp.sum(n, dtype=n.dtype),
            lambda: jnp.sort(n, axis=dim),
            lambda: n * n,
        ][kind]()

    return small(at.tried(path, n, do, n)).astype(x.dtype)


def binary(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """With another of the same shape, or of whose sum there is one number."""
    spec = at.spec(random, x.shape)
    both = random.random() < 0.5
    o = number(other).astype(number(x).dtype) if other is not None else number(x)

    def do(n: Any, o: Any) -> Any:
        if o.shape != n.shape:
            return n + jnp.sum(o)
        if both:
            n, o = at.reshard(n, spec), at.reshard(o, spec)
        return n * 2 + o

    return small(at.tried(path, number(x), do, number(x), o)).astype(x.dtype)


def resharded(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    spec = at.spec(random, x.shape)
    return at.tried(path, x, lambda x: at.reshard(x, spec), x)


def constrained(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    spec = at.spec(random, x.shape, AxisType.Auto, even=random.random() < 0.5)
    return at.tried(path, x, lambda x: at.constrain(x, spec), x)


def automatic(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """Some steps for which some explicit axes are automatic."""
    spec = at.spec(random, x.shape)
    axes = tuple(random.sample(at.explicit, random.randint(1, len(at.explicit)))) if at.explicit else ()
    everything = random.random() < 0.5
    count = random.randint(1, 3)

    def do(x: Any) -> Any:
        inner = replace(at, auto=(*at.auto, *axes))
        if at.plain or not axes:
            return body(inner, path, count, x)
        inside = lambda x: body(inner, path, count, x)  # noqa: E731
        named = None if everything and len(axes) == len(at.explicit) else axes
        return jax.sharding.auto_axes(inside, axes=named, out_sharding=at.of(spec))(x)

    return at.tried(path, x, do, x)


def made_explicit(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """Some steps for which all axes are explicit."""
    free = at.axes(AxisType.Auto)
    spec = drawn_spec(random, at.mesh, [*at.explicit, *free], x.shape)
    count = random.randint(1, 3)

    def do(x: Any) -> Any:
        kinds = (AxisType.Explicit,) * len(at.mesh.axis_names)
        mesh = jax.sharding.Mesh(at.mesh.devices, at.mesh.axis_names, axis_types=kinds)
        inner = replace(at, mesh=mesh, auto=(), named=False)
        if at.plain:
            return body(inner, path, count, x)
        inside = lambda x: inner.reshard(body(inner, path, count, x), spec)  # noqa: E731
        return jax.sharding.explicit_axes(inside, in_sharding=spec)(x)

    return at.tried(path, x, do, x)


def body(at: Place, path: str, count: int, x: Any) -> Any:
    """Steps that keep shape and type."""
    for step in range(count):
        x = stepped(at, f"{path}/{step}", SAME, x, None)
    return x


def stepped(at: Place, path: str, kinds: Sequence[Step], x: Any, other: Any) -> Any:
    random = Random(path)
    if path.count("/") > 4:
        kinds = SIMPLE
    if at.parts is not None:
        kinds, other = with_parts(at, path, kinds, x, other)
    return random.choice(kinds)(at, random, path, x, other)


def with_parts(at: Place, path: str, kinds: Sequence[Step], x: Any, other: Any) -> tuple[Sequence[Step], Any]:
    """What may be done where values may be parts of sums."""
    from property.jax_parts import OF_PARTS, OF_SCALARS, TO_PARTS

    if other is not None and at.are_parts(f"{path}+", other):
        other = None
    if at.are_parts(path, x):
        return OF_PARTS, other
    if not x.ndim:
        return OF_SCALARS, other
    return (TO_PARTS if Random(f"{path}?").random() < 0.3 else kinds), other


def scanned(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    turns, reverse, kind = random.randint(1, 3), random.random() < 0.3, random.randrange(3)

    def do(x: Any) -> Any:
        def inside(x: Any) -> Any:
            return at.like(small(number(body(at, path, 2, x))).astype(x.dtype), x)

        if kind == 0:
            last, rows = lax.scan(lambda c, _: (inside(c), jnp.max(c)), x, None, length=turns, reverse=reverse)
            return at.like(small(number(last) + jnp.sum(number(rows)).astype(number(last).dtype)).astype(x.dtype), x)
        if kind == 1:
            return lax.fori_loop(0, turns, lambda i, c: inside(c), x)

        def more(state: Any) -> Any:
            return (state[0] < 3) & (jnp.sum(jnp.abs(number(state[1]))).astype(jnp.float32) >= 3)

        return lax.while_loop(more, lambda state: (state[0] + 1, inside(state[1])), (0, x))[1]

    return at.tried(path, x, do, x)


def rows_scanned(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """Over the rows, each of which is another matrix."""
    reverse = random.random() < 0.5

    def do(x: Any) -> Any:
        n = number(x)
        start = n[0] * 0
        last, rows = lax.scan(lambda c, row: ((k := small(c * 2 + row)), k + row), start, n, reverse=reverse)
        return small(rows + last).astype(x.dtype)

    return at.tried(path, x, do, x) if x.ndim > 1 else x


def branched(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    def do(x: Any) -> Any:
        def one(x: Any) -> Any:
            return at.like(body(at, path + "a", 1, x), x)

        def two(x: Any) -> Any:
            return at.like(body(at, path + "b", 2, x), x)

        return lax.cond(jnp.sum(jnp.abs(number(x))).astype(jnp.int32) % 2 == 0, one, two, x)

    return at.tried(path, x, do, x)


def derived(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """The slope of a loss, maybe through a checkpoint; of `vjp` and `jvp` as well."""
    kind, count = random.randrange(5), random.randint(1, 2)
    if x.dtype not in (jnp.float32, jnp.bfloat16):
        return x

    def do(x: Any) -> Any:
        def inside(x: Any) -> Any:
            return body(at, path, count, x)

        if kind == 1:
            inside = jax.checkpoint(inside)
        if kind == 2:
            value, back = jax.vjp(inside, x)
            return at.like(small(back(value)[0]), x)
        if kind == 3:
            return at.like(small(jax.jvp(inside, (x,), (x * 2,))[1]), x)
        if kind == 4:
            inside = jax.checkpoint(inside, policy=jax.checkpoint_policies.dots_saveable)
        return small(jax.grad(lambda x: jnp.sum(inside(x) ** 2))(x))

    return at.tried(path, x, do, x)


def mapped(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """`vmap` over a dim."""
    dim, out = random.randrange(x.ndim), random.randrange(x.ndim)

    def do(x: Any) -> Any:
        made = jax.vmap(lambda row: body(at, path, 1, row), in_axes=dim, out_axes=out)(x)
        return jnp.moveaxis(made, out, dim)

    return at.tried(path, x, do, x) if x.ndim > 1 else x


def nested(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """A `jit` inside."""

    def do(x: Any) -> Any:
        return jax.jit(lambda x: body(at, path, 2, x))(x)

    return at.tried(path, x, do, x)


def by_parts(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """A `shard_map` over some axes, with the sum of all."""
    axes = random.sample(list(at.mesh.axis_names), random.randint(1, len(at.mesh.axis_names)))
    spec = drawn_spec(random, at.mesh, axes, x.shape)
    n = number(x)
    infer = random.random() < 0.3

    def do(n: Any) -> Any:
        if at.plain:
            return n * 2 + jnp.sum(n, dtype=n.dtype)
        used = [name for each in spec if each for name in (each if isinstance(each, tuple) else (each,))]

        def inside(part: Any) -> Any:
            return part * 2 + lax.psum(jnp.sum(part, dtype=part.dtype), used)

        if infer and at.context:
            return jax.shard_map(inside, in_specs=spec, out_specs=spec, axis_names=set(axes))(n)
        mesh = None if at.context else at.mesh
        return jax.shard_map(inside, mesh=mesh, in_specs=spec, out_specs=spec, axis_names=set(axes))(n)

    return small(at.tried(path, n, do, n)).astype(x.dtype)


def product(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """A matrix product with itself, other sharding; or one that is left unreduced, and added later."""
    n = number(x)
    k = x.shape[-1]
    weights = ((np.arange(k * k).reshape(k, k) * 7) % 3).astype(n.dtype)
    spec, unreduced = at.spec(random, x.shape), random.random() < 0.5
    axes = [name for name in at.explicit if k % at.mesh.shape[name] == 0]
    axis = random.choice(axes) if axes else None
    twice = random.random() < 0.5

    def do(n: Any) -> Any:
        w = jnp.asarray(weights)
        if at.plain or not at.explicit:
            made = n @ w
            return made + made if unreduced and axis and twice else made
        if unreduced and axis:
            n = at.reshard(n, P(*(None,) * (n.ndim - 1), axis))
            w = at.reshard(w, P(axis, None))
            made = jnp.einsum("...k,kj->...j", n, w, out_sharding=at.of(P(*(None,) * n.ndim, unreduced={axis})))
            return at.reshard(made + made if twice else made, spec)
        return jnp.matmul(n, w, **at.out(spec))

    return small(at.tried(path, n, do, n)).astype(x.dtype)


def indexed(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """Rows in another order, fetched or put, those of a place that is data."""
    places = np.array([random.randrange(x.shape[0]) for _ in range(x.shape[0])])
    kind, spec = random.randrange(5), at.spec(random, x.shape)
    n = number(x)

    def do(n: Any) -> Any:
        first = jnp.max(jnp.abs(n)).astype(jnp.int32) % n.shape[0]
        if kind == 0:
            return n.at[places].get(**at.out(spec))
        if kind == 1:
            return n.at[places].add(n * 2)
        if kind == 2:
            return lax.dynamic_update_slice_in_dim(n, lax.dynamic_slice_in_dim(n, first, 1, 0) * 3, 0, 0)
        if kind == 3:
            return jnp.take(n, jnp.asarray(places), axis=0)
        return n.at[first].set(n[0] + 1)

    return small(at.tried(path, n, do, n)).astype(x.dtype)


def created(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """With values that are made here, in a layout of their own."""
    spec, kind = at.spec(random, x.shape), random.randrange(4)
    dim = random.randrange(x.ndim)
    n = number(x)

    def do(n: Any) -> Any:
        more = at.out(spec)
        kinds = [
            lambda: lax.broadcasted_iota(jnp.int32, n.shape, dim, **more),
            lambda: jnp.arange(n.size, dtype=jnp.int32).reshape(n.shape, **more),
            lambda: jax.random.randint(jax.random.key(3), n.shape, 0, 9, **more),
            lambda: jnp.ones(n.shape, jnp.int32, **more) if more else jnp.ones(n.shape, jnp.int32),
        ]
        made = kinds[kind]().astype(n.dtype)
        return at.reshard(n, spec) + made

    return small(at.tried(path, n, do, n)).astype(x.dtype)


def transposed(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    order = random.sample(range(x.ndim), x.ndim)
    return at.tried(path, x, lambda x: jnp.transpose(x, order), x)


def reshaped(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    size = x.size
    shapes = [(a, size // a) for a in range(2, size) if size % a == 0]
    shapes += [(a, b, size // a // b) for a in (2, 3, 4) for b in (2, 3, 4, 8) if size % (a * b) == 0]
    if not shapes:
        return x
    shape = random.choice(shapes)
    spec, said = at.spec(random, shape), random.random() < 0.6

    def do(x: Any) -> Any:
        if said and not at.plain and at.explicit:
            return lax.reshape(x, shape, out_sharding=at.of(spec))
        return jnp.reshape(x, shape)

    return at.tried(path, x, do, x)


def reduced(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    if x.ndim < 2:
        return x
    dim, kind = random.randrange(x.ndim), random.choice([0, 3] if x.dtype == jnp.complex64 else range(4))
    n = number(x)

    def do(n: Any) -> Any:
        return (jnp.sum, jnp.max, jnp.argmax, jnp.prod)[kind](n, axis=dim)

    return small(at.tried(path, n, do, n).astype(n.dtype)).astype(x.dtype)


def joined(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    dim, cut = random.randrange(x.ndim), random.randint(1, 3)
    kind = random.randrange(4)

    def do(x: Any) -> Any:
        if kind == 0:
            return jnp.concatenate([x, x], axis=dim)
        if kind == 1:
            return jnp.pad(x, [(cut, 1) if each == dim else (0, 0) for each in range(x.ndim)])
        if kind == 2:
            return lax.slice_in_dim(x, min(cut, x.shape[dim] - 1), x.shape[dim], axis=dim)
        return jnp.stack([x, jnp.flip(x, dim)], axis=dim) if x.ndim < 3 else jnp.repeat(x, 2, axis=dim)

    made = at.tried(path, x, do, x)
    return made if made.size <= MOST_ELEMENTS else x


def cast(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    kind = random.choice(TYPES)

    def do(x: Any) -> Any:
        return (x.real if x.dtype == jnp.complex64 and kind != "complex64" else x).astype(kind)

    made = at.tried(path, x, do, x)
    return small(made)


def outer(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """A product of a matrix with itself, transposed."""
    if x.ndim != 2 or x.shape[0] ** 2 > MOST_ELEMENTS:
        return x
    shape = (x.shape[0], x.shape[0])
    spec = at.spec(random, shape)
    n = number(x)
    made = at.tried(path, n, lambda n: jnp.einsum("ik,jk->ij", n, n, **at.out(spec)), n)
    return small(made).astype(x.dtype)


SIMPLE: tuple[Step, ...] = (unary, unary, resharded, constrained, product, created)
SAME: tuple[Step, ...] = (
    unary, unary, binary, resharded, resharded, constrained, constrained, automatic, automatic, made_explicit, scanned,
    rows_scanned, branched, derived, derived, mapped, nested, by_parts, product, product, indexed, created,
)  # fmt: skip
ANY: tuple[Step, ...] = (*SAME, transposed, reshaped, reduced, joined, cast, outer, transposed, reshaped, reduced)


@dataclass(frozen=True)
class ExplicitProgram:
    """A function of some arrays on a mesh, and what it gives without one."""

    seed: int
    mesh: Any
    arguments: list[Any]
    shardings: tuple[Any, ...]
    options: dict[str, Any]
    named: bool
    skipped: set[str] = field(default_factory=set[str])
    said: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, seed: int) -> ExplicitProgram:
        """The program of a seed."""
        random = Random(seed)
        sizes = random.choice(MESHES)
        names = random.sample("xyz", len(sizes))
        how = random.random()
        kinds = [AxisType.Explicit] * len(sizes)
        if how > 0.45:
            kinds = [random.choice([AxisType.Explicit, AxisType.Auto]) for _ in sizes]
        devices = np.array(jax.devices()[: math.prod(sizes)]).reshape(sizes)
        mesh = jax.sharding.Mesh(devices, tuple(names), axis_types=tuple(kinds))
        shapes = [tuple(random.choices(EXTENTS, k=random.choice([1, 2, 2, 2, 3]))) for _ in range(random.randint(1, 2))]
        shapes = [shape if math.prod(shape) <= MOST_ELEMENTS else shape[:2] for shape in shapes]
        numbers = np.random.default_rng(seed)
        arguments = [numbers.integers(0, 2, shape).astype(jnp.dtype(random.choice(TYPES))) for shape in shapes]
        shardings = tuple(NamedSharding(mesh, drawn_spec(random, mesh, names, shape)) for shape in shapes)
        options: dict[str, Any] = {}
        if random.random() < 0.3:
            options["in_shardings"] = shardings
        if random.random() < 0.3:
            options["donate_argnums"] = tuple(range(random.randint(1, len(shapes))))
        return cls(seed, mesh, arguments, shardings, options, random.random() < 0.3)

    def run(self, at: Place, *arguments: Any) -> Any:
        random, values = Random(self.seed), list(arguments)
        for step in range(random.randint(1, 7)):
            x, other = random.choice(values[-3:]), random.choice(values)
            values.append(stepped(at, f"{self.seed}/{step}", ANY, x, other))
        return tuple(values[-random.randint(1, 3) :])

    def put(self) -> list[Any]:
        """The arguments on the mesh."""
        return list(map(jax.device_put, self.arguments, self.shardings))

    def types(self, *arguments: Any) -> list[Any]:
        """The types of the results, when it is known which steps JAX does not do."""
        while True:
            known = len(self.skipped)
            traced = jax.jit(lambda *given: self.function(*given), **self.options).trace(*arguments)  # and not again
            if len(self.skipped) == known:
                return jax.tree.leaves(traced.out_avals)

    def function(self, *arguments: Any) -> Any:
        """On the mesh."""
        return self.run(Place(self.mesh, False, self.skipped, (), self.named, self.said), *arguments)

    def alone(self, *arguments: Any) -> Any:
        """Without a mesh; after `function` was traced."""
        return self.run(Place(self.mesh, True, self.skipped), *arguments)
