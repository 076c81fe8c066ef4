"""Random programs of JAX on parts of sums: as arguments, in between and as results, asked for or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from random import Random
from typing import Any

import numpy as np
from property import jax_steps as automatic
from property.jax_calls import close
from property.jax_explicit import (
    ANY,
    MOST_ELEMENTS,
    TYPES,
    ExplicitProgram,
    Place,
    Step,
    binary,
    drawn_spec,
    explicit_axes,
    number,
    resharded,
    small,
    stepped,
)
from property.jax_varied import slope_of_varied, varied

jax: Any = import_module("jax")
jnp, lax = jax.numpy, jax.lax
NamedSharding, P = jax.sharding.NamedSharding, jax.sharding.PartitionSpec
MESHES = ((4, 2), (2, 4), (8,), (2, 2, 2), (1, 8), (4, 1, 2), (3, 2), (2, 1), (2, 3), (5,))
EXTENTS = (2, 3, 4, 6, 8, 8, 12, 16)


def parts_spec(random: Random, mesh: Any, names: list[str], shape: tuple[int, ...], parts: float = 1) -> Any:
    """Axes along dims, and others over which there are parts of a sum."""
    axes = random.sample(names, len(names))
    count = random.randint(1, len(axes)) if random.random() < parts else 0
    spec = drawn_spec(random, mesh, axes[count:], shape)
    return P(*spec, *[None] * (len(shape) - len(spec)), unreduced=set(axes[:count]))


def whole_spec(x: Any) -> Any:
    """How a type says that dims are split, without parts of sums."""
    return P(*jax.typeof(x).sharding.spec.partitions)


def added(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """Linear steps on parts."""
    dim, cut, order = random.randrange(x.ndim or 1), random.randint(1, 2), random.sample(range(x.ndim), x.ndim)
    turns, kind = random.randint(0, 3), random.randrange(14)
    kinds: list[Callable[[Any], Any]] = [
        lambda x: x + x,
        lambda x: jnp.transpose(x, order),
        lambda x: jnp.sum(x, axis=dim, dtype=x.dtype) if x.ndim else x,
        lambda x: jnp.sum(x, dtype=x.dtype),
        lambda x: lax.slice_in_dim(x, min(cut, x.shape[dim] - 1), x.shape[dim], axis=dim) if x.ndim else x,
        lambda x: jnp.concatenate([x, x], dim) if x.ndim and x.size * 2 < MOST_ELEMENTS else x,
        lambda x: lax.fori_loop(0, turns, lambda i, c: c + x, x),
        lambda x: lax.scan(lambda c, _: (c + c, None), x, None, length=turns)[0],
        lambda x: lax.cond(turns % 2 == 0, lambda x: x, lambda x: x + x, x),
        lambda x: jnp.where(np.arange(x.shape[-1]) % 2 == 0, x, x + x) if x.ndim else x,
        lambda x: jax.jit(lambda x: x + x)(x),
        lambda x: jax.checkpoint(lambda x: x + x)(x),
        lambda x: lax.broadcast_in_dim(x, (2, *x.shape), range(1, x.ndim + 1)) if x.size < 99 else x,
        lambda x: jnp.zeros_like(x) + x,
    ]
    return at.tried(path, x, kinds[kind], x)


def finished(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    spec = at.spec(random, x.shape)
    return at.tried(path, x, lambda x: at.reshard(x, spec), x)


def finished_in_part(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """Over some axes; or over none, and split along others."""
    keep = random.random()

    def do(x: Any) -> Any:
        if at.plain:
            return x
        axes = sorted(jax.typeof(x).sharding.spec.unreduced)
        kept = [name for name in axes if Random(f"{path}{name}").random() < keep]
        spec = drawn_spec(Random(path), at.mesh, [name for name in at.explicit if name not in kept], x.shape)
        return at.reshard(x, P(*spec, *[None] * (x.ndim - len(spec)), unreduced=set(kept)))

    return at.tried(path, x, do, x)


def derived_of_parts(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """A slope along parts, whose sum is squared; or one that is pulled back to them."""
    if x.dtype not in (jnp.float32, jnp.bfloat16):
        return finished(at, random, path, x, other)
    spec, kind = at.spec(random, x.shape), random.randrange(3)

    def do(x: Any) -> Any:
        def squares(x: Any) -> Any:
            return jnp.sum(small(at.reshard(x + x, spec)) ** 2)

        if kind == 0:
            return jax.grad(squares)(x)
        if kind == 1:
            value, push = jax.jvp(lambda x: at.reshard(x + x, spec), (x,), (x,))
            return small(value + push)
        value, back = jax.vjp(lambda x: at.reshard(x, spec), x)
        return back(value)[0]

    return at.tried(path, x, do, x)


def mapped_from_parts(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """A `shard_map` that takes parts, and adds them up itself or gives others."""
    up, twice = random.random() < 0.6, random.random() < 0.5

    def do(x: Any) -> Any:
        if at.plain:
            return x + x if twice else x
        spec = jax.typeof(x).sharding.spec
        out = P(*spec.partitions) if up else spec

        def inside(part: Any) -> Any:
            part = part + part if twice else part
            return lax.psum(part, tuple(sorted(spec.unreduced))) if up else part

        return jax.shard_map(inside, mesh=None if at.context else at.mesh, in_specs=spec, out_specs=out)(x)

    return at.tried(path, x, do, x)


def mapped_to_parts(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """A `shard_map` that gives blocks of rows as parts of their sum."""
    axes = [name for name in at.explicit if x.ndim and x.shape[0] % at.mesh.shape[name] == 0]
    if not axes or at.auto or x.dtype == jnp.bool_:
        return x
    axis = random.choice(axes)
    count = at.mesh.shape[axis]

    def do(x: Any) -> Any:
        if at.plain:
            return jnp.sum(jnp.reshape(x, (count, x.shape[0] // count, *x.shape[1:])), axis=0, dtype=x.dtype)
        x = at.reshard(x, P(axis))
        out = P(*[None] * x.ndim, unreduced={axis})
        inside = lambda part: lax.pcast(part, axis, to="unreduced")  # noqa: E731
        return jax.shard_map(inside, mesh=None if at.context else at.mesh, in_specs=P(axis), out_specs=out)(x)

    return at.tried(path, x, do, x)


def parted(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """A whole value as parts of a sum, of which most are zeros."""
    free = at.explicit
    if not free or at.auto:
        return x
    spec = parts_spec(random, at.mesh, free, x.shape)
    return at.tried(path, x, lambda x: at.reshard(x, spec), x)


def product_in_parts(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    n, k = number(x), x.shape[-1] if x.ndim else 0
    axes = [name for name in at.explicit if k and k % at.mesh.shape[name] == 0]
    if not axes or at.auto:
        return x
    axis, rest = random.choice(axes), None
    spec = drawn_spec(random, at.mesh, [name for name in at.explicit if name != axis], x.shape[:-1])
    rest = [*spec, *[None] * (x.ndim - 1 - len(spec))]
    weights = ((np.arange(k * k).reshape(k, k) * 7) % 3).astype(n.dtype)

    def do(n: Any) -> Any:
        w = jnp.asarray(weights)
        if at.plain:
            return n @ w
        n, w = at.reshard(n, P(*rest, axis)), at.reshard(w, P(axis, None))
        return jnp.einsum("...k,kj->...j", n, w, out_sharding=at.of(P(*rest, None, unreduced={axis})))

    return at.tried(path, n, do, n)


def slope_in_parts(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """The gradient of weights that all devices of an axis have, of rows that it splits."""
    if x.ndim != 2 or x.dtype not in (jnp.float32, jnp.bfloat16) or not at.explicit or at.auto:
        return x
    axis, several = random.choice(at.explicit), random.randint(1, 2)
    count = at.mesh.shape[axis] * several
    rows = (np.arange(count * x.shape[0]).reshape(count, x.shape[0]) % 3).astype(x.dtype)
    again = random.random() < 0.3

    def do(x: Any) -> Any:
        w = x if at.plain else at.reshard(x, P(None, None, reduced={axis}))
        y = jnp.asarray(rows) if at.plain else at.reshard(jnp.asarray(rows), P(axis, None))
        loss = lambda w: jnp.sum(small(y @ w) ** 2)  # noqa: E731
        return jax.grad(jax.checkpoint(loss) if again else loss)(w)

    return at.tried(path, x, do, x)


def shared(at: Place, random: Random, path: str, x: Any, other: Any) -> Any:
    """What is whole on all devices of an axis, and whose gradient would not be: `reduced`."""
    if not at.explicit or at.auto:
        return x
    spec = parts_spec(random, at.mesh, at.explicit, x.shape)
    said = P(*spec.partitions, reduced=spec.unreduced)
    kind = random.randrange(3)

    def do(x: Any) -> Any:
        made = at.reshard(x, said)
        return [lambda: made, lambda: made + made, lambda: at.reshard(made, P(*spec.partitions))][kind]()

    return at.tried(path, x, do, x)


def anything_else(at: Place, path: str, x: Any) -> Any:
    """What the libraries have beside, of which nothing else is made: numbers are no whole ones any more."""
    random = Random(f"{path}!")
    way, plain = random.choice([varied, varied, slope_of_varied]), automatic.Place(at.mesh, True, False)
    if random.random() < 0.5 or at.are_parts(f"{path}!", x):
        return None
    return at.tried(f"{path}!", x, lambda x: way(plain, Random(path), path, x), x)


OF_PARTS: tuple[Step, ...] = (
    added, added, added, finished, finished_in_part, derived_of_parts, mapped_from_parts,
)  # fmt: skip
OF_SCALARS: tuple[Step, ...] = (binary, resharded, parted, shared)
TO_PARTS: tuple[Step, ...] = (
    parted, product_in_parts, product_in_parts, slope_in_parts, shared, mapped_to_parts,
)  # fmt: skip


@dataclass(frozen=True)
class PartsProgram(ExplicitProgram):
    """A program whose arguments and results may be parts of sums, and whose results may be asked for otherwise."""

    parts: dict[str, bool] | None = field(default_factory=dict[str, bool])

    @classmethod
    def of(cls, seed: int) -> PartsProgram:
        """The program of a seed; `ask` then draws what is asked of its results."""
        random = Random(f"{seed} in parts")
        sizes = random.choice(MESHES)
        names, count = random.sample("xyz", len(sizes)), int(np.prod(sizes))
        devices = random.sample(jax.devices(), count) if random.random() < 0.3 else jax.devices()[:count]
        kind = jax.sharding.AxisType
        kinds = [kind.Explicit] * len(sizes)
        if random.random() < 0.35:
            kinds = [random.choice([kind.Explicit, kind.Auto]) for _ in sizes]
        mesh = jax.sharding.Mesh(np.array(devices).reshape(sizes), tuple(names), axis_types=tuple(kinds))
        mixed = kind.Auto in kinds
        shapes = [tuple(random.choices(EXTENTS, k=random.choice([1, 2, 2, 2, 3]))) for _ in range(random.randint(1, 3))]
        shapes = [shape if np.prod(shape) <= MOST_ELEMENTS else shape[:2] for shape in shapes]
        numbers = np.random.default_rng(seed)
        arguments = [numbers.integers(0, 2, shape).astype(jnp.dtype(random.choice(TYPES))) for shape in shapes]
        chances = [0.0 if mixed or each.dtype == np.bool_ else 0.5 for each in arguments]
        specs = [parts_spec(random, mesh, names, *each) for each in zip(shapes, chances, strict=True)]
        shardings = tuple(NamedSharding(mesh, spec) for spec in specs)
        options: dict[str, Any] = {}
        if random.random() < 0.3:
            options["in_shardings"] = shardings
        if random.random() < 0.3:
            options["donate_argnums"] = tuple(range(random.randint(1, len(shapes))))
        program = cls(seed, mesh, arguments, shardings, options, random.random() < 0.3)
        return replace(program, parts=None) if mixed else program

    def put(self) -> list[Any]:
        """The arguments on the mesh."""
        return [self._put(*each) for each in zip(range(9), self.arguments, self.shardings, strict=False)]

    def _put(self, at: int, array: Any, sharding: Any) -> Any:
        """An array, or parts that add up to it: of an earlier program."""
        random, axes = Random(f"{self.seed}/{at}"), sorted(sharding.spec.unreduced)
        whole = NamedSharding(self.mesh, P(*sharding.spec.partitions))
        if not axes:
            return jax.device_put(array, whole)
        count = int(np.prod([self.mesh.shape[name] for name in axes]))
        parts = np.random.default_rng(self.seed).integers(0, 3, (count, *array.shape)).astype(array.dtype)
        parts[-1] += array - parts.sum(0, dtype=array.dtype)
        if random.random() < 0.3:
            parts = np.stack([array, *np.zeros_like(parts[1:])])
        places = whole.devices_indices_map(array.shape)
        grid = {device: at for at, device in np.ndenumerate(self.mesh.devices)}
        order = [self.mesh.axis_names.index(name) for name in axes]

        def held(device: Any) -> Any:
            at = np.ravel_multi_index([grid[device][dim] for dim in order], [self.mesh.shape[name] for name in axes])
            return jax.device_put(parts[at][places[device]], device)

        return jax.make_array_from_single_device_arrays(array.shape, sharding, list(map(held, places)))

    def ask(self, types: list[Any]) -> list[Any]:
        """What is asked of each result, or None; kept in the options."""
        random = Random(f"{self.seed} asked")
        asked: list[Any] = [None] * len(types)
        if random.random() < 0.5:
            names = list(self.mesh.axis_names)
            for at, each in enumerate(types):
                none = self.parts is None or each.dtype == jnp.bool_
                spec = parts_spec(random, self.mesh, names, each.shape, 0.0 if none else 0.2)
                if random.random() < 0.7:
                    asked[at] = NamedSharding(self.mesh, spec)
            self.options["out_shardings"] = tuple(
                each.spec if each is not None and not self.named and random.random() < 0.5 else each for each in asked
            )
        return asked

    def run(self, at: Place, *arguments: Any) -> Any:
        random, values, others = Random(self.seed), list(arguments), list[Any]()
        for step in range(random.randint(1, 7)):
            path, x, other = f"{self.seed}/{step}", random.choice(values[-3:]), random.choice(values)
            others.append(anything_else(at, path, x))
            values.append(stepped(at, path, ANY, x, other))
        return (*values[-random.randint(1, 3) :], *(each for each in others if each is not None))

    def function(self, *arguments: Any) -> Any:
        """On the mesh."""
        return self.run(Place(self.mesh, False, self.skipped, (), self.named, self.said, self.parts), *arguments)

    def alone(self, *arguments: Any) -> Any:
        """Without a mesh; after `function` was traced."""
        return self.run(Place(self.mesh, True, self.skipped, parts=self.parts), *arguments)

    def faults(self, found: Any, wanted: Any, types: list[Any], asked: list[Any]) -> Iterator[str]:
        """What is wrong with results."""
        for at, (mine, whole, type_, sharding) in enumerate(zip(found, wanted, types, asked, strict=True)):
            for fault in self._differences(mine, np.asarray(whole), type_, sharding):
                yield f"result {at}: {fault}"

    def _differences(self, mine: Any, whole: Any, type_: Any, sharding: Any) -> Iterator[str]:
        if (mine.dtype, mine.shape, mine.weak_type) != (whole.dtype, whole.shape, type_.weak_type):
            yield f"{mine.aval}, not {type_}"
            return
        if sharding is None and explicit_axes(type_) and jax.typeof(mine) != type_:
            yield f"{jax.typeof(mine)}, not {type_}"
        if sharding is not None and not alike(mine.sharding, sharding, mine.ndim):
            yield f"{mine.sharding}, not {sharding}"
        if len(mine.addressable_shards) != self.mesh.size and not type_.sharding.mesh.empty:
            yield f"on {len(mine.addressable_shards)} devices"
            return
        for index, shards in added_up(mine):
            total = sum(shards[1:], start=shards[0]).astype(whole.dtype)
            if not close(total, whole[index]):
                yield f"{index} is {total}, not {whole[index]}"
                return


def alike(mine: Any, sharding: Any, rank: int) -> bool:
    """Whether two shardings are the same, however they are written."""
    entries = [[*each.spec.partitions, *[None] * (rank - len(each.spec.partitions))] for each in (mine, sharding)]
    flat = [[(e,) if isinstance(e, str) else e or () for e in each] for each in entries]
    same = mine.mesh == sharding.mesh and flat[0] == flat[1]
    return same and mine.spec.unreduced == sharding.spec.unreduced


def added_up(x: Any) -> Iterator[tuple[Any, list[Any]]]:
    """For each device, or each group that holds parts of a sum, which part of the array that is, and what they have."""
    mesh, spec = x.sharding.mesh, x.sharding.spec
    places = NamedSharding(mesh, P(*spec.partitions)).devices_indices_map(x.shape)
    data = {shard.device: np.asarray(shard.data) for shard in x.addressable_shards}
    parts = [at for at, name in enumerate(mesh.axis_names) if name in spec.unreduced]
    others = [at for at in range(mesh.devices.ndim) if at not in parts]
    count = int(np.prod([mesh.devices.shape[at] for at in others]))
    for group in mesh.devices.transpose(*others, *parts).reshape(count, -1):
        yield places[group[0]], [data[device] for device in group]
