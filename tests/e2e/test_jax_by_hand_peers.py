"""Functions of `custom_partitioning` under `shardwright.jax.jit`: what one device computes, or a coded refusal."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.jax.calls.by_hand import keep_together

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
jnp, P = jax.numpy, jax.sharding.PartitionSpec
MESH = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("x", "y"))


def sharding(*spec: Any) -> Any:
    return jax.sharding.NamedSharding(MESH, P(*spec))


def put(shape: tuple[int, ...], *spec: Any) -> Any:
    return jax.device_put(np.random.default_rng(0).standard_normal(shape, np.float32), sharding(*spec))


def by_hand(function: Callable[..., Any], rule: str, parts: Callable[..., Any], **options: Any) -> Any:
    made: Any = import_module("jax.experimental.custom_partitioning").custom_partitioning(function)
    made.def_partition(partition=parts, sharding_rule=rule, **options)
    return made


def as_given(function: Callable[..., Any]) -> Callable[..., Any]:
    """A device computes the same of its parts, wherever these are."""
    return lambda mesh, takes, gives: (mesh, function, gives.sharding, tuple(each.sharding for each in takes))


def double(a: Any) -> Any:
    return a * 2


def spectrum(a: Any) -> Any:
    return jnp.abs(jnp.fft.fft(a))


def rows_whole(mesh: Any, takes: Any, gives: Any) -> Any:
    """The last dim may not be split, whatever the rule says."""
    whole = jax.sharding.NamedSharding(mesh, P(*takes[0].sharding.spec[:1]))
    return mesh, spectrum, whole, (whole,)


def centred(a: Any) -> Any:
    return a - a.mean(0, keepdims=True)


def centred_parts(mesh: Any, takes: Any, gives: Any) -> Any:
    """Devices send each other what no rule says."""
    axes = takes[0].sharding.spec[:1]

    def part(a: Any) -> Any:
        mean = a.mean(0, keepdims=True)
        return a - (jax.lax.pmean(mean, axes[0]) if axes and axes[0] else mean)

    return mesh, part, takes[0].sharding, (takes[0].sharding,)


def both(a: Any, b: Any) -> Any:
    return a @ b, {"double": a * 2}


DOUBLE = by_hand(double, "i j -> i j", as_given(double))
SPECTRUM = by_hand(spectrum, "i j -> i j", rows_whole)
CENTRED = by_hand(centred, "i j -> i j", centred_parts)
PRODUCT = by_hand(lambda a, b: a @ b, "i k, k j -> i j", as_given(lambda a, b: a @ b))
BOTH = by_hand(
    both,
    "i k, k j -> i j, i k",
    lambda mesh, takes, gives: (
        mesh,
        both,
        jax.tree.map(lambda each: each.sharding, gives),
        tuple(each.sharding for each in takes),
    ),
    need_replication_factors=("k",),
)


@jax.custom_vjp
def squared(a: Any) -> Any:
    return CENTRED(a) ** 2


squared.defvjp(lambda a: (squared(a), a), lambda a, slope: (CENTRED(2 * CENTRED(a) * slope),))

inner = jax.jit(lambda a: CENTRED(a))
X, Y = put((8, 16), "x", "y"), put((16, 8), "y")
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "alone": (lambda a: DOUBLE(a) + 1, (X,)),
    "kept whole": (lambda a: SPECTRUM(a * 2), (X,)),
    "with messages of its own": (lambda a: CENTRED(a * 2), (X,)),
    "twice": (lambda a: CENTRED(DOUBLE(CENTRED(a))), (X,)),
    "a product": (lambda a, b: PRODUCT(a, b) * 2, (X, Y)),
    "several results": (lambda a, b: BOTH(a, b), (X, Y)),
    "in a loop": (lambda a: jax.lax.scan(lambda c, _: (CENTRED(c * 2), c.sum()), a, length=3), (X,)),
    "in a branch": (lambda a: jax.lax.cond(a.sum() > 0, CENTRED, DOUBLE, a), (X,)),
    "in a function that is called twice, with other layouts": (
        lambda a, b: (inner(a), inner(b)),
        (X, put((8, 16), None, "x")),
    ),
    "under a gradient": (lambda a: jax.grad(lambda b: squared(b).sum())(a), (X,)),
    "in a shard_map": (lambda a: jax.shard_map(DOUBLE, mesh=MESH, in_specs=P("x"), out_specs=P("x"))(a), (X,)),
    "of what is whole": (lambda a: CENTRED(a), (put((8, 16)),)),
}


PLAIN: dict[str, Callable[..., Any]] = {"in a shard_map": lambda a: a * 2}
"""What names the mesh runs nowhere else."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_one_device(name: str) -> None:
    function, given = PROGRAMS[name]
    ours = sw.jax.jit(function)
    alone = [jax.device_put(np.asarray(each), jax.devices()[0]) for each in given]
    wanted = jax.tree.leaves(PLAIN.get(name, function)(*alone))
    for found in (ours(*given), ours.lower(*given).compile()(*given)):
        for one, due in zip(jax.tree.leaves(found), wanted, strict=True):
            np.testing.assert_allclose(one, due, rtol=1e-4, atol=1e-4)
    assert "CustomSPMDPartitioning" not in ours.lower(*given).as_text()


def test_only_what_the_function_wants_whole_is_gathered() -> None:
    """The rows stay split over all devices: each sends what the others need of its columns."""
    lowered = sw.jax.jit(SPECTRUM).lower(X)
    assert lowered.out_shardings[0].spec in (P(("x", "y")), P("x"))
    assert lowered.predicted_bytes <= 8 * 16 * 4 / 8  # as much as a device has
    assert sw.jax.jit(lambda a: DOUBLE(a) + 1).lower(X).predicted_bytes == 0


def test_collectives_have_channels_of_their_own() -> None:
    text = sw.jax.jit(lambda a: CENTRED(a) * CENTRED(a * 3).sum()).lower(X).as_text()
    handles = [part.partition(",")[0] for part in text.split("channel_handle<handle = ")[1:]]
    assert len(handles) == len(set(handles)) > 2


def refused(function: Callable[..., Any], message: str, help_text: str) -> None:
    def more(a: Any) -> Any:
        return function(a) + 1

    with pytest.raises(sw.ShardwrightError) as caught:
        sw.jax.jit(more)(X)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.message, diagnostic.help) == ("SW0431", message, help_text)
    assert diagnostic.location is not None
    assert (diagnostic.location.file, diagnostic.location.line) == (__file__, more.__code__.co_firstlineno + 1)
    with pytest.warns(RuntimeWarning, match="SW0431"):
        found = sw.jax.jit(more, fallback="xla")(X)
    np.testing.assert_allclose(found, jax.jit(more)(X), rtol=1e-6)


def test_without_a_rule_nobody_knows_how_it_may_be_split() -> None:
    """JAX refuses such a function itself, but for GSPMD."""
    text = """func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.custom_call @CustomSPMDPartitioning(%x) {backend_config = "1"} : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    with pytest.raises(sw.ShardwrightError) as caught:
        keep_together(parse_module(text, "gspmd.mlir"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "a function of custom_partitioning has no rule by which it may be split"
    assert diagnostic.help == (
        'give def_partition a sharding_rule, call the function in a shard_map, or take fallback="xla"'
    )


def test_who_wants_what_the_rule_denies_is_refused() -> None:
    def swapped(mesh: Any, takes: Any, gives: Any) -> Any:
        other = jax.sharding.NamedSharding(mesh, P("y", "x"))
        return mesh, double, other, (other,)

    refused(
        by_hand(double, "i j -> i j", swapped),
        "a function of custom_partitioning wants other layouts than its rule allows",
        'call it in a shard_map, or take fallback="xla"',
    )


def test_each_call_of_a_function_has_layouts_of_its_own() -> None:
    lowered = sw.jax.jit(lambda a, b: (inner(a), inner(b) * 2)).lower(X, put((8, 16), None, "x"))
    assert [each.spec for each in lowered.out_shardings] == [P("x", "y"), P(None, "x")]
    assert lowered.predicted_bytes == 0
