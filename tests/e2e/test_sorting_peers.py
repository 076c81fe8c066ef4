"""Sorting, selection and joining as JAX exports them, on eight devices: JAX's results, and no more bytes than XLA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from harness import Array, run

jax = pytest.importorskip("jax")
from jax import lax, numpy as jnp  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

from shardwright.engines.jax.hlo import collectives  # noqa: E402

pytestmark = pytest.mark.peers

BOTH = ("x", "y")


@dataclass(frozen=True)
class Program:
    """A function of arrays of these shapes and dtypes, and which axes split them."""

    function: Callable[..., Any]
    arguments: tuple[str, ...]
    specs: tuple[tuple[Any, ...], ...]
    result: tuple[Any, ...] | None = None
    mesh: tuple[int, int] = (4, 2)


def same(function: Callable[..., Any], shape: str = "f32[64,16]", *more: str) -> Program:
    """All arguments and the result split alike, by both axes."""
    return Program(function, (shape, *more), (BOTH,) * (1 + len(more)), BOTH)


def free(function: Callable[..., Any], shape: str = "f32[64,16]", *more: str) -> Program:
    """All arguments split alike, by both axes, and results as they come."""
    return Program(function, (shape, *more), (BOTH,) * (1 + len(more)))


def _narrow(x: Any) -> Any:
    narrow = x.astype(jnp.bfloat16)
    return jnp.sort(narrow, 1).astype(jnp.float32), jnp.argsort(narrow, 0), lax.top_k(narrow, 3)[1]


def _sorted_pairs(x: Any, i: Any, y: Any) -> Any:
    return lax.sort((x, i, y), dimension=0, num_keys=2)


def _weighted(x: Any) -> Any:
    return (jnp.sort(x, 0) * jnp.arange(64.0)[:, None]).sum()


def _largest(x: Any) -> Any:
    return (lax.top_k(x, 3)[0] * jnp.arange(3.0)).sum()


PROGRAMS: dict[str, Program] = {
    "sort": same(lambda x: jnp.sort(x, 0)),
    "sort in descending order": same(lambda x: jnp.sort(x, 1, descending=True)),
    "sort a vector": Program(jnp.sort, ("f32[1024]",), ((BOTH,),), (BOTH,)),
    "argsort a vector": Program(jnp.argsort, ("nan[4096]",), ((BOTH,),), (BOTH,)),
    "median of a vector": Program(jnp.median, ("f32[4096]",), ((BOTH,),)),
    "argsort": same(lambda x: jnp.argsort(x, axis=0)),
    "argsort in descending order": same(lambda x: jnp.argsort(x, axis=1, descending=True)),
    "sort by two keys": free(_sorted_pairs, "f32[64,16]", "i32[64,16]", "f32[64,16]"),
    "sort small integers": same(lambda x: jnp.sort(x, 0), "i8[64,16]"),
    "sort complex numbers": same(lambda x, y: jnp.sort(x + 1j * y, 0).imag, "f32[64,16]", "f32[64,16]"),
    "lexsort": free(lambda x, y: jnp.lexsort((x, y), axis=0), "f32[64,16]", "f32[64,16]"),
    "bfloat16": free(_narrow),
    "gradient of sort": same(jax.grad(_weighted)),
    "top_k along the last dim": free(lambda x: lax.top_k(x, 5), "f32[64,128]"),
    "top_k along the first dim": free(lambda x: lax.top_k(x, 5, axis=0), "f32[64,128]"),
    "top_k of a vocabulary": Program(lambda x: lax.top_k(x, 4), ("f32[16,512]",), ((None, BOTH),)),
    "gradient of top_k": same(jax.grad(_largest)),
    "argmin and argmax": free(lambda x: (jnp.argmin(x, 0), jnp.argmin(x, 1), jnp.argmax(x)), "f32[64,128]"),
    "argmax with NaN": free(lambda x: (jnp.argmax(x, 0), jnp.argmax(x, 1)), "nan[64,128]"),
    "nanargmax": free(lambda x: (jnp.nanargmax(x, 0), jnp.nanargmin(x, 1)), "nan[64,128]"),
    "greedy decoding": Program(lambda x: jnp.argmax(x, -1), ("f32[16,512]",), ((None, BOTH),)),
    "median and percentile": free(lambda x: (jnp.median(x, 0), jnp.percentile(x, 30, axis=1)), "f32[64,128]"),
    "unique": Program(lambda x: jnp.unique(x, size=16), ("i32[64]",), (("x",),)),
    "searchsorted by sorting": Program(
        lambda a, v: jnp.searchsorted(jnp.sort(a), v, method="sort"), ("f32[64]", "f32[32]"), (("x",), ("y",))
    ),
    "searchsorted in a loop": Program(
        lambda a, v: lax.map(lambda row: jnp.searchsorted(a, row), v),
        ("nan[4096]", "f32[5,8]"),
        ((BOTH,), (None, None)),
    ),
    "searchsorted in parts": Program(
        lambda a, v: jnp.searchsorted(jnp.sort(a), v), ("nan[4096]", "f32[24]"), ((BOTH,), (None,))
    ),
    "roll": same(lambda x: jnp.roll(x, 3, 0) + jnp.roll(x, -17, 1), "f32[64,128]"),
    "roll by more than a shard": same(lambda x: jnp.roll(x, (40, 5), (0, 1)), "f32[64,128]"),
    "roll everything": same(lambda x: jnp.roll(x, 7), "f32[64,128]"),
    "token shift": same(lambda x: jnp.concatenate([jnp.zeros_like(x[:1]), x[:-1]], 0) * x),
    "rotate halves": same(lambda x: jnp.concatenate([-x[:, 8:], x[:, :8]], -1) * x),
    "wrap": free(lambda x: jnp.pad(x, ((1, 1), (0, 0)), mode="wrap")),
    "concatenate three layouts": Program(
        lambda a, b, c: jnp.concatenate([a, b, c], 0),
        ("f32[32,16]", "f32[16,16]", "f32[16,16]"),
        (BOTH, (None, "y"), (BOTH, None)),
        BOTH,
    ),
    "stack": Program(lambda a, b: jnp.stack([a, b], 1), ("f32[32,16]", "f32[32,16]"), (BOTH, ("y", None))),
    "tile and repeat": free(lambda x: (jnp.tile(x, (2, 3)), jnp.repeat(x, 3, axis=0)), "f32[32,16]"),
}


def draw(text: str, random: np.random.Generator) -> Array:
    """Few different numbers, so that there are ties; `nan` is f32 with NaN in between."""
    kind, _, sizes = text.removesuffix("]").partition("[")
    shape = tuple(map(int, sizes.split(",")))
    dtype = {"f32": np.float32, "nan": np.float32, "i32": np.int32, "i8": np.int8}[kind]
    array = random.integers(-20, 20, shape).astype(dtype)
    return np.where(random.random(shape) < 0.1, np.float32(np.nan), array) if kind == "nan" else array


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_and_bytes(name: str) -> None:
    program = PROGRAMS[name]
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(program.mesh), BOTH)
    shardings = tuple(NamedSharding(mesh, PartitionSpec(*spec)) for spec in program.specs)
    options = {} if program.result is None else {"out_shardings": NamedSharding(mesh, PartitionSpec(*program.result))}
    random = np.random.default_rng(6)
    arrays = [draw(text, random) for text in program.arguments]
    lowered = jax.jit(program.function, in_shardings=shardings, **options).lower(*arrays)
    ran = run(lowered.as_text(), arrays)
    for actual, expected in zip(ran.results, jax.tree.leaves(jax.jit(program.function)(*arrays)), strict=True):
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, np.asarray(expected), rtol=1e-6, atol=1e-6)
    theirs = sum(found.sent_bytes for found in collectives(lowered.compile().as_text(), 8))
    assert ran.predicted <= theirs, f"{float(ran.predicted)} against {float(theirs)}"
