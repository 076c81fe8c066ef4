"""`shardwright.jax.jit` that chooses layouts: JAX's values, within the memory, and the same from step to step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
jnp, P = jax.numpy, jax.sharding.PartitionSpec
LAYERS, ROWS, WIDTH, HIDDEN, F32 = 3, 1024, 32, 128, 4


def mesh() -> Any:
    """Four times two devices."""
    return jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))


def loss_of(params: Any, x: Any, y: Any) -> Any:
    for w, v in params:
        x = x + jnp.tanh(x @ w) @ v
    return ((x - y) ** 2).mean()


def step(params: Any, x: Any, y: Any) -> Any:
    loss, slopes = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, g: p - g, params, slopes), loss


def training() -> tuple[Any, Any, Any]:
    generator = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return generator.standard_normal(shape, np.float32) * np.float32(0.1)

    params = [(draw(WIDTH, HIDDEN), draw(HIDDEN, WIDTH)) for _ in range(LAYERS)]
    return params, draw(ROWS, WIDTH), draw(ROWS, WIDTH)


def same(found: Any, wanted: Any) -> None:
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def spec(sharding: Any) -> Any:
    return sharding.spec


@pytest.mark.parametrize(
    ("limit", "ways"),
    [
        (2_000_000, {}),
        (620_000, {"recompute": True}),
        (420_000, {"microbatches": True}),
        (300_000, {"recompute": True, "microbatches": True}),
    ],
)
def test_a_step_fits_and_its_parameters_come_back_as_they_went(limit: int, ways: Any) -> None:
    """Nobody gave a sharding: the mesh is that of the context; a second step takes what the first one gave."""
    given = training()
    wanted = jax.jit(step)(*given)
    fitting = sw.jax.jit(step, donate_argnums=0, memory_limit=limit, **ways)
    with jax.set_mesh(mesh()):
        lowered = fitting.lower(*given)
        found = fitting(*given)
        same(found, wanted)
        again = fitting(found[0], *given[1:])
    same(again, jax.jit(step)(wanted[0], *given[1:]))
    places = list(map(spec, lowered.in_shardings))
    assert places[: 2 * LAYERS] == list(map(spec, lowered.out_shardings[: 2 * LAYERS]))
    assert [spec(leaf.sharding) for leaf in jax.tree.leaves(again[0])] == places[: 2 * LAYERS]
    assert any(place != P() for place in places)
    if "microbatches" in ways:
        memory = lowered.compile().memory_analysis()
        assert memory.argument_size_in_bytes + memory.temp_size_in_bytes <= limit
        whole = jax.jit(step).lower(*given).compile().memory_analysis()
        assert whole.argument_size_in_bytes + whole.temp_size_in_bytes > 3 * limit


def test_parts_of_a_batch_where_layers_say_how_they_lie() -> None:
    """A scan over layers with constraints inside, each computed again going back, as large models are written."""
    say = jax.lax.with_sharding_constraint

    def layer(x: Any, weights: Any) -> Any:
        hidden = say(jnp.tanh(x @ weights[0]), P("data", "model"))
        return say(x + hidden @ weights[1], P("data", None)), None

    def improved(params: Any, x: Any, y: Any) -> Any:
        def lost(params: Any) -> Any:
            found, _ = jax.lax.scan(jax.checkpoint(layer), say(x, P("data", None)), params)
            return ((found - y) ** 2).mean()

        loss, slopes = jax.value_and_grad(lost)(params)
        return jax.tree.map(lambda p, g: p - g, params, slopes), loss

    params, x, y = training()
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *params)
    with jax.set_mesh(mesh()):
        wanted = jax.jit(improved)(stacked, x, y)
        lowered = sw.jax.jit(improved, memory_limit="300kB", microbatches=True).lower(stacked, x, y)
        same(sw.jax.jit(improved, memory_limit="300kB", microbatches=True)(stacked, x, y), wanted)
        with pytest.raises(sw.ShardwrightError, match="SW0469"):
            sw.jax.jit(improved, memory_limit="300kB").lower(stacked, x, y)
    assert max(row.repetition.times for row in lowered.predicted) > LAYERS


def test_layouts_are_chosen_around_a_vocabulary_that_does_not_divide() -> None:
    """Scores of 101 words over the two devices of `model`, as the program says; JAX holds equal parts alone."""
    words = 101
    generator = np.random.default_rng(0)
    table, head = (generator.standard_normal(shape, np.float32) for shape in ((words, WIDTH), (WIDTH, words)))
    tokens = generator.integers(0, words, ROWS, np.int32)

    def loss_of(parameters: Any, tokens: Any) -> Any:
        scores = jnp.tanh(parameters[0][tokens]) @ parameters[1]
        scores = jax.lax.with_sharding_constraint(scores, P("data", "model"))
        return -jnp.take_along_axis(jax.nn.log_softmax(scores), tokens[:, None], 1).mean()

    def step(parameters: Any, tokens: Any) -> Any:
        loss, slopes = jax.value_and_grad(loss_of)(parameters, tokens)
        return jax.tree.map(lambda p, g: p - g, parameters, slopes), loss

    given = [table, head], tokens
    fitting = sw.jax.jit(step, donate_argnums=0, memory_limit=450_000)
    with jax.set_mesh(mesh()):
        wanted = jax.jit(step)(*given)
        lowered = fitting.lower(*given)
        same(fitting(*given), wanted)
    parts = [place.shard_shape(leaf.shape) for place, leaf in zip(lowered.in_shardings, [table, head], strict=False)]
    assert {words} <= set(parts[0]) & set(parts[1])
    assert sum(map(math.prod, parts)) < table.size + head.size


def test_a_result_that_takes_an_argument_s_memory_lies_as_it_does() -> None:
    """Turned around it would send less: the product of the argument, and a result that knows nothing of it."""

    def outer(w: Any, x: Any) -> Any:
        return x[:, None] * x[None, :], w @ x

    given = np.ones((512, 512), np.float32), np.ones(512, np.float32)
    with jax.set_mesh(mesh()):
        kept = sw.jax.jit(outer, donate_argnums=0, objective="bytes").lower(*given)
        free = sw.jax.jit(outer, objective="bytes").lower(*given)
    assert spec(kept.in_shardings[0]) == spec(kept.out_shardings[0])
    assert spec(free.in_shardings[0]) != spec(free.out_shardings[0])


def test_what_fits_nowhere_says_what_would_help() -> None:
    with jax.set_mesh(mesh()), pytest.raises(sw.ShardwrightError) as caught:
        sw.jax.jit(step, memory_limit="400kB", fallback="xla")(*training())
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.location)) == ("SW0469", f"{__file__}:{step.__code__.co_firstlineno}:1")
    assert "microbatches=True" in str(caught.value)


def test_what_is_too_much_in_any_way_is_said_of_the_function() -> None:
    """Also of one that jit was used on twice over, and where the layouts alone are asked for."""
    place = f"{__file__}:{step.__code__.co_firstlineno}:1: error[SW0469]: no layouts fit: "
    given = training()
    with jax.set_mesh(mesh()):
        for function in (step, jax.jit(step)):
            with pytest.raises(sw.ShardwrightError) as caught:
                sw.jax.jit(function, memory_limit="1kB").lower(*given)
            assert str(caught.value).startswith(place)
    with pytest.raises(sw.ShardwrightError) as caught:
        sw.jax.auto_shardings(step, mesh(), *given, memory_limit="1kB")
    assert str(caught.value).startswith(place)
    traced = sw.from_jax(jax.jit(step), *given)
    with pytest.raises(sw.ShardwrightError) as caught:
        traced.lay_out(sw.Mesh(data=4), memory_limit="1kB")
    assert str(caught.value).startswith(place)


@pytest.mark.parametrize(("slow", "fast"), [("data", "model"), ("model", "data")])
def test_seconds_decide_on_a_topology(slow: str, fast: str) -> None:
    """Next to nothing crosses the slow axis, where the fewest bytes would; and the plan takes less time there."""
    given = training()
    links = {slow: sw.Link(1e-4, 1e6), fast: sw.Link(1e-7, 1e12)}
    topology = sw.Topology(links, flops=1e9, memory=1e12)
    with jax.set_mesh(mesh()):
        timed = sw.jax.jit(step, topology=topology).lower(*given)
        counted = sw.jax.jit(step, objective="bytes").lower(*given)
    crossing = [
        sum(row.bytes_per_device or 0 for row in each.predicted if slow in row.axes) for each in (timed, counted)
    ]
    assert crossing[0] < crossing[1] / 10
    assert timed.partitioned.price(topology).seconds < counted.partitioned.price(topology).seconds


def test_a_topology_has_a_link_for_each_axis() -> None:
    links = {"dta": sw.Link(1e-4, 1e6), "model": sw.Link(1e-7, 1e12)}
    topology = sw.Topology(links, flops=1e9, memory=1e12)
    with jax.set_mesh(mesh()):
        ways: list[Any] = [
            lambda: sw.jax.jit(step, topology=topology).lower(*training()),
            lambda: sw.jax.auto_shardings(step, mesh(), *training(), objective="seconds", topology=topology),
        ]
        for way in ways:
            with pytest.raises(sw.ShardwrightError, match="did you mean 'data' by 'dta'") as caught:
                way()
            assert caught.value.diagnostics[0].code == "SW0121"


def test_what_somebody_laid_out_stays() -> None:
    given = training()
    rows = jax.sharding.NamedSharding(mesh(), P("model"))
    ours = sw.jax.jit(step, in_shardings=(None, rows, None), memory_limit="2MB")
    assert spec(ours.lower(*given).in_shardings[2 * LAYERS]) == P("model")
    same(ours(*given), jax.jit(step)(*given))


def test_without_a_mesh_there_is_nothing_to_choose_over() -> None:
    with pytest.raises(ValueError, match="SW0468") as caught:
        sw.jax.jit(step, objective="bytes")(*training())
    assert str(caught.value).split(": ", 1)[1] == (
        "error[SW0468]: there is no mesh over which layouts could be chosen\n"
        "  help: call the function within `with jax.set_mesh(mesh):`, or give an argument a NamedSharding"
    )


def test_on_explicit_axes_everything_is_laid_out() -> None:
    explicit = jax.make_mesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    with jax.set_mesh(explicit), pytest.raises(ValueError, match="SW0586") as caught:
        sw.jax.jit(step, memory_limit="2MB")(*training())
    assert str(caught.value).split(": ", 1)[1] == (
        f"error[SW0586]: the axes of {explicit!r} are explicit: each array has the sharding that its type says\n"
        "  help: make the mesh with axis_types=(jax.sharding.AxisType.Auto,) for each axis"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory_limit": "2 furlongs"}, "error[SW0582]: '2 furlongs' is no number of bytes"),
        ({"memory_limit": True}, "error[SW0510]: {}: memory_limit cannot be True"),
        ({"objective": "joules"}, "error[SW0585]: layouts cannot be chosen for 'joules'"),
        ({"topology": 3}, "error[SW0510]: {}: topology cannot be 3"),
        (
            {"topology": sw.Topology.of(sw.Mesh(data=4)), "objective": "bytes"},
            "error[SW0510]: {}: a topology says nothing where bytes decide",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(options: Any, message: str) -> None:
    """Before the function is looked at, at the line that asks for it."""

    def untraced(x: Any) -> Any:
        raise AssertionError

    with pytest.raises((TypeError, ValueError), match="SW0") as caught:
        sw.jax.jit(untraced, **options)
    assert message.format("jit") in str(caught.value)
    with pytest.raises((TypeError, ValueError), match="SW0") as caught:
        sw.jax.auto_shardings(untraced, mesh(), np.ones(8, np.float32), **options)
    assert message.format("auto_shardings") in str(caught.value)
    place = caught.value.diagnostics[0].location
    assert place is not None
    assert place.file == __file__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recompute": True}, "jit: recompute=True does nothing without a memory_limit"),
        ({"microbatches": True}, "jit: microbatches=True does nothing without a memory_limit"),
        ({"memory_limit": "1GB", "recompute": "yes"}, "jit: recompute cannot be 'yes'"),
        ({"memory_limit": "1GB", "microbatches": 3}, "jit: microbatches cannot be 3"),
        ({"microbatches": 3}, "jit: microbatches cannot be 3"),
    ],
)
def test_what_jit_alone_is_asked_for_is_refused_at_once(options: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match="SW0510") as caught:
        sw.jax.jit(**options)
    assert f"error[SW0510]: {message}\n" in str(caught.value)


def test_numbers_of_numpy_are_limits() -> None:
    with jax.set_mesh(mesh()):
        lowered = sw.jax.jit(step, memory_limit=np.int64(2_000_000), recompute=np.True_).lower(*training())
    assert lowered.peak_bytes <= 2_000_000
