"""
Random calls of jitted functions: what they take and give, how it is held and placed, and what `jit` is told of it.

The values are those of the same function without a mesh, and each device has its part of them or its copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from random import Random
from typing import Any, NamedTuple

import numpy as np
from property.jax_steps import ANY, Place, as_type, is_key, number, of_key, stepped, tame
from property.jax_varied import slope_of_varied, varied

jax: Any = import_module("jax")
EVERYTHING = (*ANY, *[varied] * 12, *[slope_of_varied] * 4)
jnp, P = jax.numpy, jax.sharding.PartitionSpec
MESHES = ((4, 2), (2, 4), (8,), (2, 2, 2), (1, 8), (4, 1, 2), (3, 2), (2, 3), (2, 1), (5,), (7,), (6,), (2, 2), (3,))
EXTENTS = (1, 2, 3, 4, 5, 6, 8, 8, 12, 16)
TYPES = ("float32",) * 5 + ("bfloat16", "float16", "int8", "int32", "uint32", "bool", "complex64", "int16", "uint8")
WIDE = ("float64", "int64", "complex128", "uint64")
MOST_ELEMENTS = 384


class Pair(NamedTuple):
    left: Any
    right: Any


@jax.tree_util.register_dataclass
@dataclass
class Held:
    """A container of one's own; what is written on it is no array."""

    inner: Any
    written: str = field(metadata={"static": True}, default="")


@dataclass
class Leaf:
    """An array before it is placed, or a number; and how it shall be placed."""

    value: Any
    kind: str
    """numpy, whole (an array of JAX's that is not committed), placed, number"""

    spec: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(np.shape(self.value))


def leaf(random: Random, numbers: Any, mesh: Any, wide: bool) -> Leaf:
    shape = tuple(random.choices(EXTENTS, k=random.choice([0, 1, 1, 2, 2, 2, 3])))
    if shape and random.random() < 0.08:
        shape = (0, *shape[1:])
    shape = shape if math.prod(shape) <= MOST_ELEMENTS else shape[:2]
    kind = random.choice(["numpy", "whole", "placed", "placed", "placed", "number"])
    if kind == "number":
        kind = random.choice(["number", "number", "whole"])  # an array of a number has a weak type
        return Leaf(random.choice([2, 1.5, True, 1 + 2j, np.float32(0.5), np.int8(3), np.bool_(False)]), kind)
    if random.random() < 0.12:
        key = jax.random.key(random.randrange(9), impl=random.choice([None, None, "rbg"]))
        value = jax.random.split(key, shape) if shape and math.prod(shape) else key
        kind = "placed" if kind == "placed" else "whole"
    else:
        name = random.choice(TYPES + WIDE if wide else TYPES)
        value = numbers.integers(0, 4, shape).astype(jnp.dtype(name))
        if value.dtype.kind in "fc" or name in ("bfloat16", "float16"):
            value = (value / 4 + numbers.normal(size=shape)).astype(value.dtype)
    return Leaf(value, kind, Place(mesh, False, True).spec(random, np.shape(value)))


def tree(random: Random, make: Callable[[], Any], depth: int = 0) -> Any:
    """Something made, or containers of such."""
    kind = random.randrange(8 if depth < 2 else 4)
    parts = [lambda: tree(random, make, depth + 1)] * random.randint(1, 3)
    if kind < 3:
        return make()
    if kind == 3:
        return None if random.random() < 0.3 else make()
    if kind == 4:
        return {random.choice("abcdef"): part() for part in parts}
    if kind == 5:
        return random.choice([tuple, list])([part() for part in parts])
    if kind == 6:
        return Pair(parts[0](), parts[0]())
    return Held(parts[0](), random.choice(["", "x"]))


def is_leaf(x: Any) -> bool:
    return isinstance(x, Leaf)


def is_asked(x: Any) -> bool:
    """Whether it is what a prefix of shardings says of all arrays below."""
    return x is None or isinstance(x, P)


def shardings_of(random: Random, at: Place, value: Any, wanted: Callable[[Any], bool], chance: float = 0.6) -> Any:
    """
    A prefix of a tree of arrays: shardings that fit, and None; a sharding may stand for all arrays below.

    Arrays that are not `wanted` get none.
    """
    leaves = jax.tree.leaves(value, is_leaf=is_leaf)
    if not leaves:
        return None
    alone = len(leaves) == 1 and leaves[0] is value
    if not all(map(wanted, leaves)) and alone:
        return None
    if random.random() < (1 - chance) / (1 if alone else 3):
        return None
    if all(map(wanted, leaves)) and (alone or random.random() < 0.3):
        return at.of(common(random, at, [each.shape for each in leaves]))
    return jax.tree.map(
        lambda each: shardings_of(random, at, each, wanted, chance),
        value,
        is_leaf=lambda each: each is not value,
    )


def common(random: Random, at: Place, shapes: list[tuple[int, ...]]) -> Any:
    """A spec that fits all of some shapes."""
    rank = min(map(len, shapes))
    shape = [math.gcd(*(each[dim] for each in shapes)) for dim in range(rank)]
    return at.spec(random, shape)


@dataclass
class CallProgram:
    """A function of three trees of arrays, a number that is static and keywords; and how it is called."""

    seed: int
    mesh: Any
    at: Place
    wide: bool
    arguments: list[Any]
    more: Any
    static: dict[str, Any]
    options: dict[str, Any]
    how: str
    """called, lowered (and compiled, and called), or called again after arguments that were placed otherwise"""

    @classmethod
    def of(cls, seed: int) -> CallProgram:
        """The program of a seed."""
        random, numbers = Random(seed), np.random.default_rng(seed)
        mesh = drawn_mesh(random)
        at = Place(mesh, False, random.random() < 0.4)
        wide = random.random() < 0.25
        make = lambda: leaf(random, numbers, mesh, wide)  # noqa: E731
        arguments = [tree(random, make) for _ in range(3)]
        more = tree(random, make) if random.random() < 0.3 else None
        static = {"turns": random.randint(1, 3), "how": random.choice(["list", "dict", "pair", "held"])}
        how = random.choice(["called", "called", "called", "lowered", "again"])
        program = cls(seed, mesh, at, wide, arguments, more, static, {}, how)
        program.options = program.drawn_options(random)
        return program

    def drawn_options(self, random: Random) -> dict[str, Any]:
        options: dict[str, Any] = {}
        named = random.random() < 0.5
        options["static_argnames" if named else "static_argnums"] = ("turns", "how") if named else (3, 4)
        if random.random() < 0.4:
            options["in_shardings"] = self.drawn_in_shardings(random)
            self.more = None
        if random.random() < 0.5:
            with self.around():
                alone = partial(self.alone, **self.static)
                gives = jax.eval_shape(alone, *self.taken(False)[:3], **self.keywords(False))
            options["out_shardings"] = shardings_of(random, self.at, gives, lambda each: True)
        if random.random() < 0.3:
            options["donate_argnums"] = tuple(random.sample(range(3), random.randint(1, 2)))
        elif self.more is not None and random.random() < 0.5:
            options["donate_argnames"] = "more"
        if random.random() < 0.2:
            options["keep_unused"] = True
        return options

    def drawn_in_shardings(self, random: Random) -> Any:
        """Arguments for which one is given are not placed by another one."""

        def wanted(each: Leaf) -> bool:
            return each.kind != "number" and (each.kind != "placed" or random.random() < 0.5)

        found = tuple(shardings_of(random, self.at, each, lambda each: True) for each in self.arguments)

        def unplaced(sharding: Any, below: Any) -> Any:
            for each in jax.tree.leaves(below, is_leaf=is_leaf):
                if sharding is not None and each.kind == "placed":
                    if wanted(each):
                        each.kind = random.choice(["numpy", "whole"]) if isinstance(each.value, np.ndarray) else "whole"
                    else:
                        each.spec = sharding if self.at.within else sharding.spec
            return sharding

        for sharding, argument in zip(found, self.arguments, strict=True):
            jax.tree.map(unplaced, sharding, argument, is_leaf=is_asked)
        return found

    def around(self) -> AbstractContextManager[Any]:
        stack = ExitStack()
        stack.enter_context(jax.enable_x64(self.wide))
        if self.at.within:
            stack.enter_context(jax.set_mesh(self.mesh))
        return stack

    def put(self, each: Leaf, on_mesh: bool, placed: bool = True) -> Any:
        if each.kind == "placed" and on_mesh and not placed and isinstance(each.value, np.ndarray):
            return each.value
        if each.kind == "number" or (each.kind == "numpy" and on_mesh):
            return each.value
        if each.kind == "placed" and on_mesh:
            return jax.device_put(each.value, jax.sharding.NamedSharding(self.mesh, each.spec))
        return jax.device_put(each.value, jax.devices()[0]) if not on_mesh else jnp.asarray(each.value)

    def taken(self, on_mesh: bool, placed: bool = True) -> list[Any]:
        """The arguments by position."""
        given = jax.tree.map(lambda each: self.put(each, on_mesh, placed), self.arguments, is_leaf=is_leaf)
        return [*given, self.static["turns"], self.static["how"]]

    def keywords(self, on_mesh: bool) -> dict[str, Any]:
        if self.more is None:
            return {}
        return {"more": jax.tree.map(lambda each: self.put(each, on_mesh), self.more, is_leaf=is_leaf)}

    def run(self, at: Place, turns: int, how: str, values: list[Any]) -> Any:
        random, values = Random(self.seed), [jnp.asarray(each) for each in values] or [jnp.arange(4)]
        for step in range(random.randint(0, 3) + turns):
            path, x = f"{self.seed}/{step}", random.choice(values[-4:] if random.random() < 0.6 else values)
            if is_key(x):
                values.append(of_key(at, random, path, x))
                continue
            other = random.choice(values)
            if random.random() < 0.25 and not is_key(other):
                x = with_other(x, other)
            values.append(stepped(at, path, EVERYTHING, x))
        return held(random, how, values)

    def function(self, a: Any, b: Any, c: Any, turns: int, how: str, more: Any = None) -> Any:
        """On the mesh."""
        return self.run(self.at, turns, how, jax.tree.leaves((a, b, c, more)))

    def alone(self, a: Any, b: Any, c: Any, turns: int, how: str, more: Any = None) -> Any:
        """Without one."""
        return self.run(Place(self.mesh, True, False), turns, how, jax.tree.leaves((a, b, c, more)))

    def wanted(self) -> Any:
        names = ("turns", "how")
        with jax.enable_x64(self.wide):
            return jax.jit(self.alone, static_argnames=names)(*self.taken(False), **self.keywords(False))

    def found(self, jit: Any, **options: Any) -> Any:
        """What comes of it with such a `jit`, with options of its own, and the arguments as it left them."""
        with jax.enable_x64(self.wide):  # arrays that are made within a mesh are on it
            args, kwargs = self.taken(True), self.keywords(True)
        with self.around():
            jitted = jit(self.function, **self.options, **options)
            if self.how == "again":
                jitted(*self.taken(True, placed=False), **self.keywords(True))
            if self.how == "lowered":
                return jitted.lower(*args, **kwargs).compile()(*args[:3], **kwargs), args[:3]
            return jitted(*args, **kwargs), args[:3]

    def faults(self, result: Any, args: list[Any], wanted: Any) -> Iterator[str]:
        """What is wrong with a result."""
        if jax.tree.structure(result) != jax.tree.structure(wanted):
            yield f"containers: {jax.tree.structure(result)}, not {jax.tree.structure(wanted)}"
            return
        asked: list[Any] = []

        def asks(sharding: Any, below: Any) -> None:
            asked.extend([sharding] * len(jax.tree.leaves(below)))

        jax.tree.map(asks, self.options.get("out_shardings"), wanted, is_leaf=is_asked)
        for at, (mine, whole, sharding) in enumerate(zip(*map(jax.tree.leaves, (result, wanted)), asked, strict=True)):
            for fault in self.differences(mine, whole, sharding):
                yield f"result {at}: {fault}"
        donated = self.options.get("donate_argnums", ())
        for at, (argument, now) in enumerate(zip(self.arguments, args, strict=True)):
            if at not in donated:
                both = (jax.tree.leaves(each, is_leaf=is_leaf) for each in (argument, now))
                for before, after in zip(*both, strict=True):
                    if np.size(after) and not np.array_equal(data(before.value), data(after)):
                        yield f"argument {at} is not what it was"

    def differences(self, mine: Any, whole: Any, sharding: Any) -> Iterator[str]:
        if str(mine.aval) != str(whole.aval) or mine.dtype != whole.dtype:
            yield f"{mine.aval} is not {whole.aval}"
            return
        if sharding is not None:
            sharding = jax.sharding.NamedSharding(self.mesh, sharding) if isinstance(sharding, P) else sharding
            if not mine.sharding.is_equivalent_to(sharding, mine.ndim) or mine.sharding.mesh != sharding.mesh:
                yield f"{mine.sharding} is not {sharding}"
        expected = data(whole)
        if mine.size and not close(data(mine), expected):  # JAX reads no array that is split and empty
            yield f"{data(mine)} is not {expected}"
        for shard in mine.addressable_shards:
            if not close(data(shard.data), expected[shard.index]):
                yield f"device {shard.device} has {data(shard.data)}, not {expected[shard.index]}"
                return


def data(x: Any) -> Any:
    return np.asarray(jax.random.key_data(x) if isinstance(x, jax.Array) and is_key(x) else x)


def close(mine: Any, whole: Any) -> bool:
    """Whole numbers are equal, others about."""
    if mine.shape != whole.shape:
        return False
    if not jnp.issubdtype(mine.dtype, jnp.inexact):
        return bool(np.array_equal(mine, whole))
    exact = np.complex128 if jnp.issubdtype(mine.dtype, jnp.complexfloating) else np.float64
    mine, about = mine.astype(exact), float(jnp.finfo(mine.dtype).eps) ** 0.5 * 4
    return bool(np.allclose(mine, whole.astype(exact), rtol=about, atol=about, equal_nan=True))


def with_other(x: Any, other: Any) -> Any:
    """An array with the sum of another in it."""
    total = jnp.sum(number(other))
    return as_type(tame(number(x) + as_type(tame(total), number(x).dtype)), x.dtype)


def held(random: Random, how: str, values: list[Any]) -> Any:
    """The last values, and maybe one of the first as it came, in containers."""
    last = values[-random.randint(1, 3) :]
    if random.random() < 0.3:
        last.append(values[0])
    if how == "list":
        return last
    if how == "dict":
        return {"made": dict(enumerate(last)), "none": None}
    return Pair(last[0], (last[1:], None)) if how == "pair" else Held([Pair(each, 2) for each in last], "made")


def drawn_mesh(random: Random) -> Any:
    """Of some devices, maybe in an order of its own."""
    sizes = random.choice(MESHES)
    devices, count = list(jax.devices()), math.prod(sizes)
    chosen = random.sample(devices, count) if random.random() < 0.35 else devices[:count]
    kinds = (jax.sharding.AxisType.Auto,) * len(sizes)
    return jax.sharding.Mesh(np.array(chosen).reshape(sizes), tuple(random.sample("xyz", len(sizes))), axis_types=kinds)
