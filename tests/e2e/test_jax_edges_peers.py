"""`shardwright.jax.jit` where programs are unusual: the results of `jax.jit`, or a refusal that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from random import Random
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
jnp, P = jax.numpy, jax.sharding.PartitionSpec


def mesh() -> Any:
    """Four times two devices."""
    return jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))


def sharding(*spec: Any, **kind: Any) -> Any:
    return jax.sharding.NamedSharding(mesh(), P(*spec), **kind)


def put(shape: tuple[int, ...], *spec: Any) -> Any:
    """Seeded numbers on the devices."""
    return jax.device_put(np.random.default_rng(0).standard_normal(shape, np.float32), sharding(*spec))


EMPTY: dict[str, Callable[[Any], Any]] = {
    "cut": lambda x: x[:0],
    "joined": lambda x: jnp.concatenate([x[:0], x]),
    "summed": lambda x: x[:0].sum(0),
    "sorted": lambda x: jnp.sort(x[:0], 0),
    "product": lambda x: x[:0].T @ x[:0],
    "widened": lambda x: jnp.zeros((0, 8)) + x.sum(0),
    "asked for": lambda x: jax.lax.with_sharding_constraint(x[:0] * 2, sharding()),
}


@pytest.mark.parametrize("name", EMPTY)
def test_arrays_without_elements(name: str) -> None:
    """Nothing is sent for them, and they come back whole: JAX cannot read what is split and empty."""
    x, function = put((16, 8), "data", "model"), EMPTY[name]
    found = sw.jax.jit(function)(x)
    np.testing.assert_allclose(found, jax.jit(function)(x), rtol=1e-5)
    assert found.size or found.sharding.spec == P()


def test_an_empty_result_has_the_sharding_that_is_asked_for() -> None:
    ours = sw.jax.jit(EMPTY["cut"], out_shardings=sharding(None, "model"))
    assert ours.lower(put((16, 8), "data")).out_shardings[0].spec == P(None, "model")


@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("name", ["int4", "uint4"])
def test_bits_of_less_than_a_byte(name: str, split: bool) -> None:
    """On JAX's devices and on the NumPy engine, there and back."""
    layout = sharding("data" if split else None)
    value = np.arange(-64, 64, dtype=np.int8).reshape(16, 8)
    x = jax.device_put(value, layout)
    there = jax.jit(partial(jax.lax.bitcast_convert_type, new_dtype=getattr(jnp, name)))
    back = jax.jit(partial(jax.lax.bitcast_convert_type, new_dtype=jnp.int8))
    halves = there(x)
    for found in (sw.jax.jit(there)(x), sw.from_jax(there, x).compile()(value)):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(halves))
    np.testing.assert_array_equal(sw.from_jax(back, halves).compile()(np.asarray(halves)), value)


LARGEST: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: jax.lax.approx_max_k(x, 3),
    "min": lambda x: jax.lax.approx_min_k(x, 3),
    "all of them": lambda x: jax.lax.approx_max_k(x, 3, aggregate_to_topk=False),
    "along the split dim": lambda x: jax.lax.approx_max_k(x, 3, reduction_dimension=0),
}


@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_about(name: str) -> None:
    """JAX gives the comparator as a public function, which nobody calls from outside."""
    x, jitted = put((16, 64), "data", "model"), jax.jit(LARGEST[name])
    wanted = jitted(x)
    for found in (sw.jax.jit(LARGEST[name])(x), sw.from_jax(jitted, x).compile()(np.asarray(x))):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


def to_host(x: Any) -> Any:
    return jax.device_put(x, jax.memory.Space.Host)


HOST = {"memory_kind": "pinned_host"}
PLACED: dict[str, tuple[Callable[[Any], Any], bool, bool]] = {
    "a result asked for": (jnp.sin, False, True),
    "a result put there inside": (lambda x: to_host(x * 2), False, False),
    "an argument as it is": (lambda x: x, True, False),
    "an argument fetched": (lambda x: jax.device_put(x, jax.memory.Space.Device) + 1, True, False),
    "there and back": (lambda x: jax.device_put(x, jax.memory.Space.Device) @ jnp.ones((8, 8)), True, True),
}
"""Functions, whether their argument lies in the host's memory, and whether the result shall."""


@pytest.mark.skipif(jax.__version_info__ < (0, 10, 2), reason="its XLA has no memory but the device's on CPUs")
@pytest.mark.parametrize("name", PLACED)
def test_arrays_in_the_memory_of_the_host(name: str) -> None:
    function, there, back = PLACED[name]
    x = jax.device_put(put((16, 8)), sharding("data", **HOST if there else {}))
    options: dict[str, Any] = {"out_shardings": sharding("data", **HOST)} if back else {}
    wanted, ours = jax.jit(function, **options)(x), sw.jax.jit(function, **options)
    for found in (ours(x), ours.lower(x).compile()(x)):
        assert found.sharding.memory_kind == wanted.sharding.memory_kind
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5)


def doubled_if_finite(x: Any) -> Any:
    """A condition of Python on a value, which no tracer has."""
    return x * 2 if np.isfinite(float(x.sum())) else x


def test_without_jit_a_function_is_called_as_it_is() -> None:
    ours, x = sw.jax.jit(doubled_if_finite), put((16, 8), "data")
    with jax.disable_jit():
        np.testing.assert_array_equal(ours(x), np.asarray(x) * 2)
    with pytest.raises(jax.errors.ConcretizationTypeError):
        ours(x)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_results_lie_in_memory_as_they_are_asked_to(order: tuple[int, int]) -> None:
    layout: Any = import_module("jax.experimental.layout")
    asked = layout.Format(layout.Layout(order), sharding("data", "model"))
    ours = sw.jax.jit(lambda x: (x * 2, x.T), out_shardings=(asked, None))
    x = put((16, 8), "data")
    for results in (ours(x), ours.lower(x).compile()(x)):
        assert results[0].format.layout.major_to_minor == order
        assert results[0].sharding == asked.sharding
        np.testing.assert_array_equal(results[0], np.asarray(x) * 2)
        np.testing.assert_array_equal(results[1], np.asarray(x).T)


def devices_as(**sizes: int) -> Any:
    """The eight devices in a mesh of such axes."""
    return jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(tuple(sizes.values())), tuple(sizes))


MESHES = [
    devices_as(data=4, model=2),
    devices_as(all=8),
    devices_as(rows=2, columns=4),
    devices_as(a=2, b=2, c=2),
    devices_as(model=2, data=4),
]


@pytest.mark.parametrize("seed", range(12))
def test_meshes_of_other_axes(seed: int) -> None:
    """Each array, constraint and result on a mesh of its own, or one that another is on."""
    choose = Random(seed)

    def placed() -> Any:
        mesh = choose.choice(MESHES)
        axes = choose.sample(mesh.axis_names, choose.randint(1, len(mesh.axis_names)))
        cut = choose.randint(0, len(axes))
        return jax.sharding.NamedSharding(mesh, P(*(tuple(each) or None for each in (axes[:cut], axes[cut:]))))

    within, result, left, right = (placed() for _ in range(4))

    def function(a: Any, b: Any) -> tuple[Any, Any]:
        product = jax.lax.with_sharding_constraint(a @ b, within)
        return product * 2, (a + b).sum(0)

    numbers = np.arange(64, dtype=np.float32).reshape(8, 8) % 7
    a, b = jax.device_put(numbers, left), jax.device_put(numbers, right)
    first, second = sw.jax.jit(function, out_shardings=(result, None))(a, b)
    np.testing.assert_array_equal(first, numbers @ numbers * 2)
    np.testing.assert_array_equal(second, (numbers * 2).sum(0))
    assert first.sharding.mesh == result.mesh
    assert first.sharding.is_equivalent_to(result, 2)


@pytest.mark.parametrize("at", range(len(MESHES)))
def test_a_manual_computation_on_a_mesh_of_its_own(at: int) -> None:
    """Its axes are whole ones, whatever mesh its operand is on."""
    mesh, axes = MESHES[at], MESHES[at].axis_names

    def part(x: Any) -> Any:
        return x + jax.lax.psum(x, axes) * jax.lax.axis_index(axes[-1])

    numbers = np.arange(16, dtype=np.float32)
    x = jax.device_put(numbers, jax.sharding.NamedSharding(MESHES[at - 1], P(MESHES[at - 1].axis_names)))
    function = jax.shard_map(part, mesh=mesh, in_specs=P(axes), out_specs=P(axes))
    sums, last = numbers.reshape(8, 2).sum(0), mesh.shape[axes[-1]]
    wanted = numbers.reshape(8, 2) + sums * (np.arange(8) % last)[:, None]
    np.testing.assert_array_equal(sw.jax.jit(function)(x), wanted.reshape(16))


def test_a_layout_of_another_mesh_is_said_as_it_was_given() -> None:
    """Not by a mesh of parts that nobody has heard of."""
    cube = jax.sharding.NamedSharding(MESHES[3], P("b"))
    x, y = put((8, 8), "data", "model"), jax.device_put(np.ones((8, 8), np.float32), cube)
    found = sw.jax.jit(lambda x, y: (x.sum(), y * 2))(x, y)[1]
    assert found.sharding == cube


def test_meshes_whose_axes_are_no_parts_of_others_are_refused() -> None:
    """Six devices as two by three and as three by two; the page says so."""
    two, three = (jax.sharding.Mesh(np.array(jax.devices()[:6]).reshape(n, 6 // n), ("a", "b")) for n in (2, 3))
    a, b = (jax.device_put(np.ones((6, 6)), jax.sharding.NamedSharding(mesh, P("a"))) for mesh in (two, three))

    def added(a: Any, b: Any) -> Any:
        return a + b

    place = f"{__file__}:{added.__code__.co_firstlineno}:1: error[SW0405]: "
    asked: list[Callable[[], Any]] = [
        lambda: sw.jax.jit(added)(a, b),
        lambda: sw.jax.shardings(jax.jit(added), a, b),
        lambda: sw.from_jax(jax.jit(added), a, b),
    ]
    for ask in asked:
        with pytest.raises(sw.ShardwrightError) as caught:
            ask()
        assert str(caught.value).startswith(place)
    with pytest.raises(sw.ShardwrightError) as caught:  # nobody wrote it: the line that calls it
        sw.jax.jit(jnp.add)(a, b)
    assert str(caught.value).startswith(f"{__file__}:")


def test_a_slice_that_begins_too_late_is_split_over_devices() -> None:
    """XLA of jaxlib 0.10 makes one slice of two, and forgets that the first one begins earlier."""
    x, at = np.arange(12, dtype=np.float32), np.int32(11)
    ours = sw.jax.jit(lambda x, at: jax.lax.dynamic_slice(x, (at,), (8,)), out_shardings=sharding("data"))
    np.testing.assert_array_equal(ours(jax.device_put(x, sharding()), at), x[4:])


def test_a_key_is_whole_under_a_mesh_that_nothing_else_names() -> None:
    """JAX lays out keys that came from outside of the mesh on one without axes."""
    key, x = jax.random.key(3), np.ones((16, 8), np.float32)

    def dropped(key: Any, x: Any) -> Any:
        return jax.random.bernoulli(key, 0.5, x.shape) * x, key

    with jax.set_mesh(mesh()):
        plain = sw.jax.jit(dropped)(key, x)
        chosen = sw.jax.jit(dropped, memory_limit="1MB")(key, x)
    for found, kept in (plain, chosen):
        np.testing.assert_array_equal(found, dropped(key, x)[0])
        np.testing.assert_array_equal(jax.random.key_data(kept), jax.random.key_data(key))


@pytest.mark.parametrize("spec", [("data", None), ("data",), (None, None), ()])
def test_results_have_their_shardings_in_the_words_of_arguments(spec: tuple[str | None, ...]) -> None:
    """As after `jax.jit`: `P("data", None)` and `P("data")` say the same, and are not equal."""
    x = put((16, 8), *spec)
    found = sw.jax.jit(lambda x: x * 2)(x)
    assert found.sharding == jax.jit(lambda x: x * 2)(x).sharding == x.sharding


def test_results_have_their_shardings_in_the_words_of_whom_asked() -> None:
    x, asked = put((16, 8), "data"), sharding("data", None)
    assert sw.jax.jit(lambda x: x * 2, out_shardings=asked)(x).sharding == asked


@pytest.mark.parametrize("kinds", [("Explicit", "Explicit"), ("Explicit", "Auto")])
def test_results_on_explicit_axes_have_an_entry_for_each_dim(kinds: tuple[str, str]) -> None:
    """As their types have, and those of `jax.jit`: where some axes are not explicit, since JAX 0.10.2."""
    types = tuple(getattr(jax.sharding.AxisType, kind) for kind in kinds)

    def several(x: Any) -> Any:
        return x * 2, x.sum(0), x.sum(), x[:, None], jnp.zeros((3, 4))

    with jax.set_mesh(jax.make_mesh((4, 2), ("data", "model"), axis_types=types)):
        x = jax.device_put(np.ones((16, 8), np.float32), P("data"))
        found, wanted = sw.jax.jit(several)(x), jax.jit(several)(x)
    assert [len(one.sharding.spec) for one in found] == [one.ndim for one in found]
    for one, other in zip(found, wanted, strict=True):
        assert one.sharding.is_equivalent_to(other.sharding, one.ndim)
        assert "Auto" in kinds or one.sharding == other.sharding


def test_results_are_laid_out_as_their_types_say_where_some_axes_are_explicit() -> None:
    """Also where a donated argument of another layout, or a part of an axis, would do; and of one device."""
    kinds = [jax.sharding.AxisType.Auto, jax.sharding.AxisType.Explicit]

    def same_types(function: Any, mesh: Any, array: Any, spec: Any) -> Any:
        with jax.set_mesh(mesh):
            x = jax.device_put(array, jax.sharding.NamedSharding(mesh, spec))
            found = sw.jax.jit(function, donate_argnums=0)(x)
            wanted = jax.tree.leaves(jax.jit(function).trace(x).out_avals)[0]
        assert jax.typeof(found) == wanted
        assert found.sharding.mesh == mesh
        np.testing.assert_array_equal(found, 2 * array.reshape(found.shape))
        return found.sharding.spec

    def doubled(x: Any) -> Any:
        return jax.sharding.reshard(x * 2, P("z", None))

    mesh = jax.make_mesh((4, 2), ("x", "z"), axis_types=tuple(kinds))
    array = np.arange(64, dtype=np.float32).reshape(8, 8)
    assert same_types(doubled, mesh, array, P(None, "x"))[0] == "z"
    assert same_types(doubled, mesh, array, P("z", "x")) == P("z", "x")  # what was donated has the types' layout
    assert same_types(doubled, mesh, array, P(None, "z"))[0] == "z"
    assert same_types(doubled, mesh, array, P(("x", "z"))) == P(("x", "z"), None)
    asked = jax.sharding.NamedSharding(mesh, P(None, "z"))
    with jax.set_mesh(mesh):  # who asks for another layout gets that one
        assert sw.jax.jit(doubled, out_shardings=asked)(jnp.asarray(array)).sharding == asked
    alone = jax.make_mesh((8, 1), ("x", "z"), axis_types=tuple(kinds))
    assert same_types(doubled, alone, array, P(None, ("z", "x")))[0] == "z"
    assert same_types(lambda x: x.reshape(4, 2, 8) * 2, alone, array, P("x")) == P(None, None, None)


def test_parts_of_sums_come_in_and_go_out() -> None:
    """Each device has what it has under `jax.jit`, for nothing sent, until somebody wants the sum."""
    explicit = jax.make_mesh((4, 2), ("x", "z"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    parts = P(None, None, unreduced={"z"})

    def product(a: Any, b: Any) -> Any:
        return jnp.einsum("ik,kj->ij", a, b, out_sharding=parts)

    def slope(w: Any, x: Any) -> Any:
        return jax.grad(lambda w: jnp.sum((x @ w) ** 2))(w)

    def same_parts(function: Any, *arguments: Any) -> Any:
        assert sw.jax.jit(function).lower(*arguments).predicted_bytes == 0
        found, wanted = sw.jax.jit(function)(*arguments), jax.jit(function)(*arguments)
        assert found.sharding == wanted.sharding == jax.sharding.NamedSharding(explicit, parts)
        for one, other in zip(found.addressable_shards, wanted.addressable_shards, strict=True):
            np.testing.assert_array_equal(one.data, other.data)
        return found

    a, b = np.arange(32, dtype=np.float32).reshape(4, 8), np.ones((8, 4), np.float32)
    with jax.set_mesh(explicit):
        left, right = jax.device_put(a, P(None, "z")), jax.device_put(b, P("z"))
        made = same_parts(product, left, right)
        twice = same_parts(lambda y: y + y, same_parts(lambda y: y, made))
        same_parts(slope, jax.device_put(b, P(None, None, reduced={"z"})), jax.device_put(a, P("z")))
        added = sw.jax.jit(lambda y: jax.sharding.reshard(y, P("z", None)), donate_argnums=0)
        assert [row.kind for row in added.lower(twice).predicted] == ["reduce_scatter"]
        found = added(twice)
    assert found.sharding.spec == P("z", None)
    np.testing.assert_array_equal(found, 2 * a @ b)


@pytest.mark.parametrize("sizes", [(4, 2), (8, 1)])
def test_parts_of_sums_are_asked_of_a_result(sizes: tuple[int, int]) -> None:
    """Where no type says so; an axis of one device is named as well."""
    explicit = jax.make_mesh(sizes, ("x", "z"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    asked = jax.sharding.NamedSharding(explicit, P("x", None, unreduced={"z"}))
    array = np.arange(64, dtype=np.float32).reshape(8, 8)
    with jax.set_mesh(explicit):
        found = sw.jax.jit(lambda x: x * 2, out_shardings=asked)(jax.device_put(array, P("x")))
        typed = sw.jax.jit(lambda x: x + x)(found)
        assert found.sharding == typed.sharding == asked
        np.testing.assert_array_equal(sw.jax.jit(lambda x: jax.sharding.reshard(x, P("x")))(typed), 4 * array)


def test_parts_of_sums_at_the_border_of_a_shard_map() -> None:
    """What a device has is told from what all have: a sum of copies was several times too much, one block no sum."""
    explicit = jax.make_mesh((4, 2), ("x", "z"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    parts, array = P(None, None, unreduced={"x"}), np.arange(64, dtype=np.float32).reshape(8, 8)

    @partial(jax.shard_map, in_specs=P("x"), out_specs=parts)
    def blocks(x: Any) -> Any:
        return jax.lax.pcast(x, "x", to="unreduced")

    @partial(jax.shard_map, in_specs=parts, out_specs=P())
    def total(x: Any) -> Any:
        return jax.lax.psum(x, "x")

    @partial(jax.shard_map, in_specs=(P(None, None, reduced={"x"}), P("x")), out_specs=P("x"))
    def product(w: Any, x: Any) -> Any:
        return x @ w

    def slope(w: Any, x: Any) -> Any:
        return jax.grad(lambda w: jnp.sum(product(jax.sharding.reshard(w, P(None, None, reduced={"x"})), x) ** 2))(w)

    with jax.set_mesh(explicit):
        rows, w = jax.device_put(array, P("x")), jax.device_put(array / 64, P())
        assert sw.jax.jit(blocks).lower(rows).predicted_bytes == 0
        found = sw.jax.jit(blocks)(rows)
        assert jax.typeof(found) == jax.typeof(jax.jit(blocks)(rows))
        np.testing.assert_array_equal(sw.jax.jit(total)(found), array.reshape(4, 2, 8).sum(0))
        np.testing.assert_allclose(sw.jax.jit(slope)(w, rows), 2 * array.T @ array @ array / 64, rtol=1e-5)


@pytest.mark.skipif(not hasattr(jax.sharding, "UnreducedKind"), reason="JAX knows parts of sums alone")
@pytest.mark.parametrize("kind", ["max", "min"])
def test_parts_of_maxima_come_in_and_go_out(kind: str) -> None:
    """As under `jax.jit`, until somebody wants what is largest of them."""
    explicit = jax.make_mesh((4, 2), ("x", "z"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    spec = P(None, None, unreduced={"x"}, unreduced_kind=jax.sharding.UnreducedKind[kind])
    sharding = jax.sharding.NamedSharding(explicit, spec)
    rows = np.random.default_rng(0).normal(size=(8, 4, 8)).astype(np.float32)
    rows[1::2] = rows[::2]  # of the devices along `z`, which have the same
    held = [jax.device_put(row, device) for row, device in zip(rows, explicit.devices.flat, strict=True)]
    with jax.set_mesh(explicit):
        parts = jax.make_array_from_single_device_arrays((4, 8), sharding, held)
        found = sw.jax.jit(lambda x: x.T)(parts)
        assert jax.typeof(found) == jax.typeof(jax.jit(lambda x: x.T)(parts))
        for shard, row in zip(found.addressable_shards, rows, strict=True):
            np.testing.assert_array_equal(shard.data, row.T)
        whole = sw.jax.jit(lambda x: jax.sharding.reshard(x, P(None, "z")))(found)
    np.testing.assert_array_equal(whole, getattr(rows, kind)(0).T)


@pytest.mark.skipif(jax.__version_info__ < (0, 10, 2), reason="its results are no parts of sums there")
def test_parts_of_sums_where_not_all_axes_are_explicit() -> None:
    """JAX raises an assertion of its own, or of a spec that it iterates."""
    kinds = jax.sharding.AxisType
    mixed = jax.make_mesh((4, 2), ("x", "z"), axis_types=(kinds.Explicit, kinds.Auto))
    sharding = jax.sharding.NamedSharding(mixed, P(None, None, unreduced={"x"}))
    array = np.arange(16, dtype=np.float32).reshape(4, 4)
    held = [jax.device_put(array, device) for device in mixed.devices.flat]

    def added(x: Any) -> Any:
        return x + x

    def product(x: Any) -> Any:
        return jnp.einsum("ik,jk->ij", x, x, out_sharding=sharding.spec)

    def finished(x: Any) -> Any:
        return jax.sharding.reshard(x, P("x"))

    with jax.set_mesh(mixed):
        parts = jax.make_array_from_single_device_arrays((4, 4), sharding, held)
        np.testing.assert_array_equal(sw.jax.jit(finished)(parts), 4 * array)
        for function, x in ((added, parts), (product, jax.device_put(array, P(None, "x")))):
            with pytest.raises(ValueError, match="SW0591") as caught:
                sw.jax.jit(function)(x)
            assert str(caught.value).partition("error")[2] == (
                f"[SW0591]: {function.__name__} takes or gives parts of sums, {sharding.spec}, "
                "where not all axes of the mesh are explicit\n"
                "  note: JAX itself does nothing with them there but jax.sharding.reshard\n"
                "  help: reshard it first, to a layout without unreduced; or make all axes of the mesh explicit"
            )
    with jax.set_mesh(mixed), pytest.raises(AssertionError, match="of the function's own"):
        sw.jax.jit(refused)(parts)


def refused(x: Any) -> Any:
    raise AssertionError("of the function's own")


@pytest.mark.parametrize("count", [8, 7])
def test_a_mesh_of_which_only_left_out_values_know(count: int) -> None:
    """JAX lowers for its devices, and no op of the text has a sharding: it ended with a `ValueError` of NumPy's."""
    line = jax.sharding.Mesh(np.array(jax.devices()[:count]), ("x",))
    whole = jax.sharding.NamedSharding(line, P())

    def added(x: Any, y: Any) -> Any:
        """In a loop of no rounds, whose body is not in the text."""
        return jax.lax.map(lambda row: jax.lax.with_sharding_constraint(row, whole), x[:0]).sum() + y

    x, y = np.ones((count, 1), np.float32), jnp.arange(3)
    found, wanted = sw.jax.jit(added)(x, y), jax.jit(added)(x, y)
    np.testing.assert_array_equal(found, np.arange(3))
    assert len(found.addressable_shards) == len(wanted.addressable_shards) == count


def test_a_compiled_program_answers_in_the_containers_of_the_call() -> None:
    """Of what XLA has compiled, which takes and gives flat lists, it says what `jax.stages.Compiled` says."""

    def product(params: Any, unused: Any, x: Any) -> Any:
        return {"sum": x @ params["w"], "rest": (x,)}

    given = {"w": put((8, 4), "model")}, np.ones(3, np.float32), put((16, 8), "data")
    jitted = jax.jit(product, donate_argnums=2)
    ours, theirs = (each.lower(*given).compile() for each in (sw.jax.jit(product, donate_argnums=2), jitted))
    for name in ("in_tree", "out_tree", "in_avals", "donate_argnums"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.input_shardings[0][0] == theirs.input_shardings[0][0] == {"w": sharding("model")}
    assert ours.output_shardings["rest"] == (sharding("data"),)
    assert str(ours.args_info) == str(theirs.args_info)
    assert ours.input_formats[0][2].sharding == sharding("data")
    for name in ("output_formats", "out_info"):
        assert jax.tree.structure(getattr(ours, name)) == jax.tree.structure(getattr(theirs, name)), name


@pytest.mark.parametrize("kind", ["Auto", "Explicit"])
def test_shardings_that_are_chosen_for_keys(kind: str) -> None:
    """A key has one dim less than the numbers that it is made of."""
    types = (getattr(jax.sharding.AxisType, kind),) * 2
    given = jax.random.key(0), jax.random.split(jax.random.key(1), 16), np.ones((16, 8), np.float32)

    def drawn(key: Any, keys: Any, x: Any) -> Any:
        rows = jax.vmap(lambda key, row: jax.random.normal(key, row.shape) * row)(keys, x)
        return rows + jax.random.normal(key, (8,)), key, keys

    found = sw.jax.auto_shardings(drawn, jax.make_mesh((4, 2), ("data", "model"), axis_types=types), *given)
    laid_out = jax.device_put(given, found.arguments)
    rows, key, keys = jax.jit(drawn, in_shardings=found.arguments, out_shardings=found.results)(*laid_out)
    np.testing.assert_allclose(rows, jax.jit(drawn)(*given)[0], rtol=1e-6)
    assert key.sharding.is_equivalent_to(found.results[1], 0)
    assert keys.sharding.is_equivalent_to(found.results[2], 1)


@pytest.mark.parametrize("mesh", [sw.Mesh(data=4, model=2), 8, jax.sharding.AbstractMesh((4, 2), ("data", "model"))])
def test_shardings_are_chosen_over_a_mesh_of_jax(mesh: Any) -> None:
    with pytest.raises(TypeError, match="SW0510") as caught:
        sw.jax.auto_shardings(lambda x: x * 2, mesh, np.ones(8, np.float32))
    assert f"auto_shardings: the mesh cannot be {mesh!r}" in str(caught.value)
    assert "it is a jax.sharding.Mesh, which has devices" in str(caught.value)


@pytest.mark.parametrize("donated", [(), (0,)])
def test_a_nan_is_said_to_be_of_the_operation_that_made_it(donated: tuple[int, ...]) -> None:
    """With `jax_debug_nans`; the program of all devices is one operation to JAX."""

    def product(x: Any) -> Any:
        return jnp.log(x - 100) * 2

    ours = sw.jax.jit(product, donate_argnums=donated)
    with jax.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        ours(put((16, 8), "data", "model"))
    assert str(caught.value).splitlines()[0] == "invalid value (nan) encountered in log"
    assert any(entry.name == "product" for entry in caught.traceback)
