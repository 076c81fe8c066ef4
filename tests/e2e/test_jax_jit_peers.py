"""`shardwright.jax.jit` in the place of `jax.jit`: the same results, the layouts that were decided, what it refuses."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
jnp, P = jax.numpy, jax.sharding.PartitionSpec


def mesh(axis_types: Any = None) -> Any:
    """Four times two devices."""
    devices = np.array(jax.devices()[:8]).reshape(4, 2)
    return jax.sharding.Mesh(devices, ("data", "model"), axis_types=axis_types)


def sharding(*spec: Any) -> Any:
    return jax.sharding.NamedSharding(mesh(), P(*spec))


def put(shape: tuple[int, ...], *spec: Any, seed: int = 0) -> Any:
    """Seeded numbers on the devices."""
    return jax.device_put(np.random.default_rng(seed).standard_normal(shape, np.float32), sharding(*spec))


def loss_of(params: Any, x: Any, y: Any) -> Any:
    return ((jax.nn.relu(x @ params["in"]) @ params["out"] - y) ** 2).mean()


def step(params: Any, x: Any, y: Any, rate: float = 0.01) -> Any:
    loss, slopes = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, g: p - rate * g, params, slopes), loss


def training() -> tuple[Any, Any, Any]:
    params = {"in": put((16, 32), None, "model"), "out": put((32, 8), "model", seed=1)}
    return params, put((16, 16), "data", seed=2), put((16, 8), "data", seed=3)


def same(found: Any, wanted: Any, rtol: float = 1e-5) -> None:
    """Equal trees of close arrays; sums of sixteen floats come in any order."""
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert (one.shape, one.dtype, one.weak_type) == (other.shape, other.dtype, other.weak_type)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-6)


def test_a_message_counts_where_jax_runs_the_program() -> None:
    """Sums of 16 numbers over four devices: one message of 96 bytes, where bytes alone would take two of 80 in all."""
    a, v = put((64, 16), "data"), put((16,), seed=1)

    def power(a: Any, v: Any) -> Any:
        return a @ ((a.T @ (a @ v)) * v)

    lowered = sw.jax.jit(power).lower(a, v)
    assert [row.kind for row in lowered.predicted if row.bytes_per_device] == ["all_reduce"]
    assert lowered.predicted_bytes == 96
    same(sw.jax.jit(power)(a, v), jax.jit(power)(a, v), rtol=1e-4)


def test_on_cpus_places_of_extremes_are_found_in_two_steps() -> None:
    x = put((64, 16), "data", "model").at[3, 5].set(np.nan)

    def places(x: Any) -> Any:
        return x.argmax(1), jnp.argmin(x.round(), 0)

    compiled = sw.jax.jit(places).lower(x).compile()
    several = re.compile(r"= \([^)]*\) reduce\(")
    assert not several.search(compiled.as_text())
    assert several.search(jax.jit(places).lower(x).compile().as_text())
    same(sw.jax.jit(places)(x), jax.jit(places)(x))


def test_under_a_mesh_what_nobody_laid_out_is_whole() -> None:
    """Arrays of NumPy within `jax.set_mesh`: JAX lowers for all of its devices, and names no mesh."""
    given = jax.tree.map(np.asarray, training())
    with jax.set_mesh(mesh()):
        lowered = sw.jax.jit(step).lower(*given)
        found = sw.jax.jit(step)(*given)
    same(found, jax.jit(step)(*given))
    assert lowered.predicted_bytes == 0  # outside of the mesh by now
    assert {str(leaf.sharding.mesh) for leaf in jax.tree.leaves(found)} == {str(mesh())}


def test_scopes_are_in_the_compiled_program_and_not_in_its_text_unless_asked_for() -> None:
    """Profiles of XLA's are read by them; what is sent has the name of the op that needs it."""

    def scoped(x: Any) -> Any:
        with jax.named_scope("my_layer"):
            hidden = jnp.log(x @ x.T)
        return hidden.sum(1)

    lowered = sw.jax.jit(scoped).lower(put((16, 8), "data"))
    names = set(re.findall(r'op_name="([^"]*)"', lowered.compile().as_text()))
    assert {"jit(scoped)/call_exported/my_layer/log", "jit(scoped)/call_exported/my_layer/dot_general"} <= names
    assert '"my_layer/log"(unknown)' in lowered.as_text(debug_info=True)
    assert "my_layer" not in lowered.as_text()
    assert "HloModule" in lowered.as_text("hlo")


@pytest.mark.parametrize("closed_over", [True, False])
def test_a_reference_from_outside_is_refused_and_goes_to_xla_if_asked(closed_over: bool) -> None:
    """One that is made inside is a variable."""

    def doubled(held: Any) -> None:
        held[...] = held[...] * 2

    def inside(x: Any) -> Any:
        held = jax.new_ref(x)
        doubled(held)
        return held[...]

    x = put((16, 8), "data")
    same(sw.jax.jit(inside)(x), x * 2)
    held = jax.new_ref(x)
    function, given = ((lambda: doubled(held)), ()) if closed_over else (doubled, (held,))
    with pytest.raises(TypeError) as caught:
        sw.jax.jit(function)(*given)
    assert str(caught.value).split(": ", 1)[1] == (
        f"error[SW0588]: {sw.jax.jit(function)!r} reads or writes a jax.Ref that was made outside of it\n"
        "  note: what it holds is memory of its own, and a partitioned program takes and gives arrays\n"
        "  help: give the array to the function and take the new one back, donated if need be; "
        "a Ref that is made inside of the function is no other than a variable"
    )
    with pytest.warns(RuntimeWarning, match="SW0588"):
        sw.jax.jit(function, fallback="xla")(*given)
    same(held[...], x * 2)


def test_options_of_xla_go_to_xla() -> None:
    """One that it does not know is refused by it, with or without others given before."""
    lowered = sw.jax.jit(step, compiler_options={"xla_cpu_enable_fast_math": False}).lower(*training())
    same(lowered.compile({"xla_cpu_enable_fast_min_max": True})(*training()), jax.jit(step)(*training()))
    with pytest.raises(jax.errors.JaxRuntimeError, match="xla_no_such_option"):
        lowered.compile(compiler_options={"xla_no_such_option": True})


def test_on_cpus_transforms_go_through_rows_whatever_is_gathered_of_them() -> None:
    """XLA hands on to a transform that a gather wants another dim outermost, and `jax.jit` fails as this runs."""

    def halves(x: Any) -> Any:
        back = jnp.fft.irfft(jnp.fft.rfft(x) * 0.5, n=8)
        return jax.lax.all_gather(back, "data", axis=1, tiled=True)

    gathered = jax.shard_map(halves, mesh=mesh(), in_specs=P(None, "data"), out_specs=P(), check_vma=False)
    x = put((4, 8, 8), None, "data")
    np.testing.assert_allclose(sw.jax.jit(gathered)(x), np.asarray(x) / 2, atol=1e-5)


def test_a_step_gives_what_jax_gives_in_the_layouts_that_were_decided() -> None:
    ours = sw.jax.jit(step)
    given = training()
    found = ours(*given)
    same(found, jax.jit(step)(*given))
    lowered = ours.lower(*given)
    assert [leaf.sharding for leaf in jax.tree.leaves(found)] == list(lowered.out_shardings)
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(found))


def test_a_donated_argument_is_gone_and_its_result_lies_as_it_did() -> None:
    given = training()
    wanted = jax.jit(step)(*given)
    ours = sw.jax.jit(step, donate_argnums=0)
    before = {name: value.sharding for name, value in given[0].items()}
    compiled = ours.lower(*given).compile()
    params, loss = ours(*given)
    same((params, loss), wanted)
    assert {name: value.is_deleted() for name, value in given[0].items()} == {"in": True, "out": True}
    assert all(params[name].sharding.is_equivalent_to(before[name], 2) for name in params)
    memory = compiled.memory_analysis()
    assert memory.alias_size_in_bytes == (16 * 32 + 32 * 8) * 4 // 2  # both are split in two
    ours(params, *given[1:])
    assert len(ours._programs) == 1


def test_a_program_is_compiled_once_for_each_kind_of_arguments() -> None:
    traced: list[tuple[int, ...]] = []

    def double(x: Any, n: int) -> Any:
        traced.append(x.shape)
        return x * n

    ours = sw.jax.jit(double, static_argnames="n")
    for x, n in (
        (put((8, 4), "data"), 2),
        (put((8, 4), "data", seed=1), 2),
        (put((8, 4)), 2),
        (put((4, 4), "data"), 2),
    ):
        np.testing.assert_array_equal(ours(x, n), np.asarray(x) * n)
    assert traced[:2] == [(8, 4), (4, 4)]  # JAX itself keeps what it traced for another sharding
    assert len(ours._programs) == 3
    np.testing.assert_array_equal(ours(put((8, 4), "data"), n=3), np.asarray(put((8, 4))) * 3)
    np.testing.assert_array_equal(ours(put((8, 4), "data"), 3), np.asarray(put((8, 4))) * 3)
    assert len(ours._programs) == 5


CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any], tuple[Any, ...]]] = {
    "keywords and containers": (lambda x, **more: {"y": (x + more["z"]["a"], None)}, {}, ()),
    "static by number": (lambda x, n, z: x * n + z["a"], {"static_argnums": 1}, (3,)),
    "static from the end": (lambda x, z, n: (x * n, z), {"static_argnums": -1}, ()),
    "kept unused": (lambda x, z: x, {"keep_unused": True}, ()),
    "unused": (lambda x, z: x + 1, {}, ()),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_are_taken_as_jax_takes_them(name: str) -> None:
    function, options, middle = CALLS[name]
    x, z = put((8, 4), "data"), {"a": put((8, 4), None, "model", seed=1), "b": np.float32(2)}
    args: tuple[Any, ...] = (x, *middle, z) if name != "static from the end" else (x, z, 3)
    kwargs = {}
    if name.startswith("keywords"):
        args, kwargs = (x,), {"z": z}
    same(sw.jax.jit(function, **options)(*args, **kwargs), jax.jit(function, **options)(*args, **kwargs))


def test_random_keys_go_in_and_out() -> None:
    def draw(key: Any, x: Any) -> Any:
        key, own = jax.random.split(key)
        return key, x + jax.random.bits(own, x.shape, "uint8")

    given = jax.random.key(3), put((8, 4), "data")
    key, drawn = sw.jax.jit(draw)(*given)
    wanted_key, wanted = jax.jit(draw)(*given)
    np.testing.assert_array_equal(jax.random.key_data(key), jax.random.key_data(wanted_key))
    np.testing.assert_array_equal(drawn, wanted)


def test_shardings_by_the_mesh_in_context() -> None:
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    with jax.set_mesh(mesh()):
        ours = sw.jax.jit(lambda a: a.T * 2, in_shardings=P("data"), out_shardings=P(None, "model"))
        found = ours(x)
    np.testing.assert_array_equal(found, x.T * 2)
    assert found.sharding == sharding(None, "model")


def test_meshes_whose_axes_are_explicit() -> None:
    explicit = mesh((jax.sharding.AxisType.Explicit,) * 2)
    x = jax.device_put(
        np.arange(64.0, dtype=np.float32).reshape(8, 8), jax.sharding.NamedSharding(explicit, P("data", "model"))
    )

    def total(a: Any) -> Any:
        return a.sum(0) * 2

    found, wanted = sw.jax.jit(total)(x), jax.jit(total)(x)
    np.testing.assert_array_equal(found, wanted)
    assert jax.typeof(found) == jax.typeof(wanted)


def test_what_is_inside_of_a_function() -> None:
    x = put((8, 4), "data")
    inner = sw.jax.jit(lambda a: jnp.sin(a))

    @jax.checkpoint
    def block(a: Any, w: Any) -> Any:
        return jax.lax.with_sharding_constraint(inner(a) @ w, sharding("data", "model"))

    def whole(a: Any, ws: Any) -> Any:
        total = jax.shard_map(lambda v: jax.lax.psum(v, "data"), mesh=mesh(), in_specs=P("data"), out_specs=P())(a)
        out, _ = jax.lax.scan(lambda carry, w: (block(carry, w), None), a, ws)
        return (out**2).sum() + total.sum()

    ws = np.random.default_rng(5).standard_normal((3, 4, 4), np.float32)
    gradient = jax.value_and_grad(whole, argnums=(0, 1))
    reference = jax.jit(jax.value_and_grad(_reference, argnums=(0, 1)))(np.asarray(x), ws)
    same(sw.jax.jit(gradient)(x, ws), reference, 1e-4)


def _reference(a: Any, ws: Any) -> Any:
    """The same on one device, without hints."""
    out = a
    for w in ws:
        out = jnp.sin(out) @ w
    return (out**2).sum() + a.reshape(4, 2, 4).sum(0).sum()


@pytest.mark.parametrize("around", [jax.jit, jax.grad, jax.vmap], ids=["jit", "grad", "vmap"])
def test_inside_of_jaxs_own_it_says_what_to_do(around: Any) -> None:
    ours = sw.jax.jit(lambda x: (x * x).sum())
    with pytest.raises(sw.ShardwrightTypeError, match=r"SW0570(.|\n)*outermost") as caught:
        around(ours)(np.ones(4, np.float32))
    place = caught.value.diagnostics[0].location
    assert place is not None
    assert place.file.endswith("test_jax_jit_peers.py")


def uneven(x: Any) -> Any:
    y = jnp.sin(x)
    six = jax.lax.with_sharding_constraint(y[:6], sharding("data"))
    return six, jax.nn.softmax(six, axis=0), six.T @ six


def test_what_is_uneven_inside_is_even_at_the_border() -> None:
    """JAX takes uneven constraints, but no uneven results."""
    x = put((8, 4), "data")
    same(sw.jax.jit(uneven)(x), jax.jit(uneven)(x))
    lowered = sw.jax.jit(uneven).lower(x)
    assert lowered.out_shardings[0].spec == P()  # six rows are not split by four devices
    for each, shape in zip(lowered.out_shardings, ((6, 4), (6, 4), (4, 4)), strict=True):
        each.shard_shape(shape)  # raises where it does not divide
    assert any("which JAX takes in even parts" in each.text for row in lowered.predicted for each in row.reasons)


def called_back(x: Any) -> Any:
    jax.experimental.io_callback(lambda _: None, None, x, ordered=True)
    return jnp.sin(x)


def test_what_is_refused_names_the_users_line_and_may_go_to_xla() -> None:
    x = put((8, 4), "data")
    with pytest.raises(sw.ShardwrightError, match="SW0431") as caught:
        sw.jax.jit(called_back)(x)
    place = caught.value.diagnostics[0].location
    assert place is not None
    assert (place.file, place.line) == (__file__, called_back.__code__.co_firstlineno + 1)
    ours = sw.jax.jit(called_back, fallback="xla")
    with pytest.warns(RuntimeWarning, match=r"XLA's partitioner takes shardwright.jax.jit\(called_back\).*SW0431"):
        found = ours(x)
    np.testing.assert_allclose(found, np.sin(np.asarray(x)), rtol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours(x)  # said once
    struct = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding)
    for lower in (lambda: ours.lower(struct), lambda: ours.trace(struct).lower()):
        with pytest.warns(RuntimeWarning, match="SW0431") as said:
            lowered = lower()
        assert {each.filename for each in said} == {__file__}
        assert isinstance(lowered, jax.stages.Lowered)
        np.testing.assert_allclose(lowered.compile()(x), np.sin(np.asarray(x)), rtol=1e-6)
    with pytest.raises(sw.ShardwrightError, match="SW0431"):
        sw.jax.shardings(ours, struct)  # what XLA decides nobody knows
    with pytest.raises(sw.ShardwrightValueError, match="SW0571"):
        sw.jax.jit(called_back, fallback="gspmd")


def test_it_answers_before_anything_runs() -> None:
    struct = jax.ShapeDtypeStruct
    x = struct((16, 8), np.float32, sharding=sharding("data"))
    lowered = sw.jax.jit(lambda a: a.sum(0), out_shardings=sharding()).lower(x)
    # A ring over four devices sends three quarters of 32 bytes, twice.
    assert [(row.kind, row.axes, row.bytes_per_device) for row in lowered.predicted] == [("all_reduce", ("data",), 48)]
    assert lowered.predicted_bytes == 48
    # Four of 16 rows of eight numbers, their sum, and that of all devices.
    assert lowered.peak_bytes == (4 * 8 + 8 + 8) * 4
    text = str(lowered.explain())
    assert f"{Path(__file__).name}:" in text
    assert "bytes" in text
    assert lowered.out_info.shape == (8,)
    compiled = lowered.compile()
    value = put((16, 8), "data")
    np.testing.assert_allclose(compiled(value), np.asarray(value).sum(0), rtol=1e-5)
    assert "all-reduce" in compiled.as_text()
    with pytest.raises(sw.ShardwrightTypeError, match="SW0508"):
        compiled(value, value)


def test_a_compiled_program_says_which_argument_does_not_fit() -> None:
    struct = jax.ShapeDtypeStruct
    arguments = struct((16, 8), np.float32, sharding=sharding("data")), {"w": struct((8,), np.float32)}
    compiled = sw.jax.jit(lambda a, b, *, scale: a @ b["w"] * scale).lower(
        *arguments, scale=struct((), np.float32)
    ).compile()  # fmt: skip
    value, one = put((16, 8), "data"), np.float32(1)
    with pytest.raises(TypeError, match=r"Argument 'args\[1\]\['w'\]' compiled with float32\[8\] and called with fl"):
        compiled(value, {"w": np.ones(9, np.float32)}, scale=one)
    with pytest.raises(TypeError, match=r"Argument 'kwargs\['scale'\]' compiled with float32\[\] and called with int"):
        compiled(value, {"w": np.ones(8, np.float32)}, scale=np.int32(1))
    with pytest.raises(ValueError, match=r"Argument args\[0\] with shape float32\[16,8\]"):
        compiled(jax.device_put(value, sharding()), {"w": np.ones(8, np.float32)}, scale=one)


def test_one_device_is_jaxs_own() -> None:
    ours = sw.jax.jit(uneven_on_one)
    np.testing.assert_array_equal(ours(np.arange(7)), np.arange(7) + 1)


def test_one_device_ahead_of_time() -> None:
    compiled = sw.jax.jit(lambda x: x + 1).lower(jax.ShapeDtypeStruct((3,), np.int32)).compile()
    np.testing.assert_array_equal(compiled(np.arange(3, dtype=np.int32)), [1, 2, 3])
    assert (compiled.predicted, compiled.predicted_bytes) == ((), 0)


def test_the_stages_of_jax_one_by_one() -> None:
    given = training()
    ours, theirs = sw.jax.jit(step).trace(*given), jax.jit(step).trace(*given)
    assert (str(ours.jaxpr), ours.fun_name, ours.out_info) == (str(theirs.jaxpr), "step", theirs.out_info)
    lowered = ours.lower()
    assert lowered.predicted == sw.jax.jit(step).lower(*given).predicted != ()
    same(lowered.compile()(*given), jax.jit(step)(*given))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = ours.no_such_name


def cube() -> Any:
    return jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(2, 2, 2), ("x", "y", "z"))


@pytest.mark.parametrize("manual", "xyz")
def test_parts_of_a_computation_that_is_manual_over_one_axis_stay_with_it(manual: str) -> None:
    """Along the manual axis devices have other rows, so nobody may send what another has in its place."""
    one, other = sorted({*"xyz"} - {manual})
    axes = cube().abstract_mesh.update_axis_types({manual: jax.sharding.AxisType.Manual})

    def moved(rows: Any) -> Any:
        before, after = (jax.sharding.NamedSharding(axes, P(names)) for names in (one, (other, one)))
        rows = jnp.sin(jax.lax.with_sharding_constraint(rows, before))
        return jax.lax.with_sharding_constraint(rows, after)

    x = np.arange(16, dtype=np.float32)
    with jax.set_mesh(cube()):
        mapped = jax.shard_map(moved, in_specs=P(manual), out_specs=P(manual), axis_names={manual})
        ours = sw.jax.jit(mapped)
        assert [row.kind for row in ours.lower(x).predicted] == ["exchange"]
        np.testing.assert_allclose(ours(x), np.sin(x), rtol=1e-5, atol=1e-6)


def test_parts_of_sums_are_moved_apart_from_each_other() -> None:
    """What is not added up yet goes to another layout: a device has a part that no other of its rows has."""
    values = np.random.default_rng(0).integers(0, 9, (4, 4, 8, 8)).astype(np.uint32)
    x = jax.device_put(values, jax.sharding.NamedSharding(cube(), P("x", "y")))

    def total(x: Any) -> Any:
        rows = x.sum((1, 2, 3), dtype=jnp.uint32)
        return jax.lax.with_sharding_constraint(rows, jax.sharding.NamedSharding(cube(), P(("z", "x"))))

    ours = sw.jax.jit(total)
    assert [row.kind for row in ours.lower(x).predicted] == ["exchange", "all_reduce"]
    np.testing.assert_array_equal(ours(x), values.sum((1, 2, 3)))


def test_what_is_exported_is_partitioned_where_it_is_loaded() -> None:
    export, x = import_module("jax.export"), put((16, 8), "data")

    def total(a: Any) -> Any:
        return jnp.tanh(a).sum(0)

    ours = sw.jax.jit(total)
    with pytest.raises(sw.ShardwrightTypeError) as caught:
        export.export(ours)(x)
    place, *rest = str(caught.value).splitlines()
    assert [place[place.index("error") :], *rest] == [
        f"error[SW0590]: {ours!r} is lowered for the devices at hand, and not as lowering_platforms, "
        "_private_parameters say",
        "  note: so jax.export lowers what it exports",
        "  help: export jax.jit(function), and give what is loaded to us: shardwright.jax.jit(exported.call)",
    ]
    loaded = export.export(jax.jit(total))(jax.ShapeDtypeStruct((16, 8), np.float32))
    same(sw.jax.jit(loaded.call)(x), jax.jit(total)(x))
    assert sw.jax.jit(loaded.call).lower(x).predicted_bytes == sw.jax.jit(total).lower(x).predicted_bytes > 0


def test_a_function_that_is_inlined_is_so_where_it_is_called() -> None:
    x = put((8, 4), "data")

    def traced(jit: Any, inline: bool) -> str:
        inner = jit(lambda a: a.sum(0), inline=inline)
        return str(jit(lambda a: a + inner(a)).trace(x).jaxpr)

    for inline in (False, True):
        assert traced(sw.jax.jit, inline) == traced(jax.jit, inline)
    inner = sw.jax.jit(lambda a: a.sum(0), inline=True)
    np.testing.assert_allclose(sw.jax.jit(lambda a: a + inner(a))(x), x + x.sum(0), rtol=1e-5)
    np.testing.assert_allclose(inner(x), np.asarray(x).sum(0), rtol=1e-5)


def test_what_is_called_with_arrays_that_are_there_is_part_of_what_is_traced() -> None:
    x, inner = put((8, 4), "data"), sw.jax.jit(lambda a: a.sum(0))
    found = sw.jax.jit(lambda a: a + inner(x))(x)
    np.testing.assert_allclose(found, np.asarray(x) + np.asarray(x).sum(0), rtol=1e-5)
    assert len(inner._programs) == 0
    with pytest.raises(sw.ShardwrightTypeError, match="SW0570"):
        jax.jit(lambda a: a + inner(x))(x)


def test_equal_static_arguments_of_other_types_are_others() -> None:
    ours, x = sw.jax.jit(lambda x, n: x.astype(type(n)), static_argnums=1), put((8, 4), "data")
    assert [ours(x, n).dtype for n in (1, True, 1.0)] == [np.int32, np.bool_, np.float32]


def test_static_arguments_that_cannot_be_compared_are_refused_by_jax() -> None:
    with pytest.raises(ValueError, match="Non-hashable static arguments"):
        sw.jax.jit(lambda x, n: x, static_argnums=1)(put((8, 4), "data"), [1])


def uneven_on_one(x: Any) -> Any:
    jax.debug.callback(lambda _: None, x, ordered=True)  # which we do not partition
    return x + 1


def test_methods_and_decorators() -> None:
    class Model:
        scale = 3

        @sw.jax.jit(static_argnums=0)
        def __call__(self, x: Any) -> Any:
            """Scales."""
            return x * self.scale

    x = put((8, 4), "data")
    np.testing.assert_array_equal(Model()(x), np.asarray(x) * 3)
    assert Model.__call__.__doc__ == "Scales."


def test_names_within_functions_and_loops_and_functions_that_are_jitted_already() -> None:
    @jax.jit
    def inner(h: Any, w: Any) -> Any:
        with jax.named_scope("called"):
            return h @ w

    def net(w: Any, x: Any, n: int) -> Any:
        def body(h: Any, _: None) -> tuple[Any, None]:
            with jax.named_scope("round"):
                h = jnp.tanh(h @ w)
            return h, None

        with jax.named_scope("outer"):
            h = inner(x, w)
        return jax.lax.scan(body, h, None, length=n)[0] * 2

    w, x = put((8, 8)), put((8, 8), "data")
    plain = sw.jax.shardings(lambda w, x: net(w, x, 3), w, x)
    jitted = [sw.jax.shardings(jit(net, static_argnums=2), w, x, 3) for jit in (jax.jit, sw.jax.jit)]
    for found in (plain, *jitted):
        assert list(found.named) == ["outer", "outer/called", "round"]
        assert found.named["outer/called"].spec[0] == found.named["round"].spec[0] == "data"


def test_the_advisor_says_what_would_be_decided() -> None:
    def net(params: Any, x: Any) -> Any:
        with jax.named_scope("hidden"):
            hidden = jnp.tanh(x @ params["in"])
        return hidden @ params["out"]

    struct = jax.ShapeDtypeStruct
    params = {"in": struct((16, 32), np.float32), "out": struct((32, 8), np.float32, sharding=sharding("model"))}
    found = sw.jax.shardings(net, params, struct((16, 16), np.float32, sharding=sharding("data")))
    assert found.arguments[0]["in"].spec == P(None, "model")
    assert found.arguments[1].spec == P("data")
    assert found.named["hidden"].spec == P("data", "model")
    given = {"in": put((16, 32)), "out": put((32, 8), seed=1)}, put((16, 16), seed=2)
    given = jax.device_put(given, found.arguments)
    theirs = jax.jit(net, in_shardings=found.arguments, out_shardings=found.results)(*given)
    same(sw.jax.jit(net)(*given), theirs)


def test_shardings_are_chosen_for_a_function_without_any() -> None:
    struct = jax.ShapeDtypeStruct
    rows, width, hidden = 1024, 16, 32
    params = {"in": struct((width, hidden), np.float32), "out": struct((hidden, width), np.float32)}
    x = struct((rows, width), np.float32)
    found = sw.jax.auto_shardings(step, mesh(), params, x, x, memory_limit="1MB")
    # Many rows and few weights: data parallelism, over both axes or over one.
    assert found.arguments[1].spec[0] in ("data", ("data", "model"))
    assert found.arguments[1].mesh == mesh()
    given = {"in": put((width, hidden)), "out": put((hidden, width), seed=1)}, *[put((rows, width), seed=2)] * 2
    laid_out = jax.device_put(given, found.arguments)
    jitted = sw.jax.jit(step, in_shardings=found.arguments, out_shardings=found.results)
    wanted = jax.jit(step)(*given)
    theirs = jax.jit(step, in_shardings=found.arguments, out_shardings=found.results)
    same(theirs(*laid_out), wanted, rtol=1e-4)
    same(jitted(*laid_out), wanted, rtol=1e-4)
    # One sum of gradients and one of the loss, no more than over all eight devices.
    assert jitted.lower(*laid_out).predicted_bytes <= 2 * 7 / 8 * (2 * width * hidden + 1) * 4


def test_no_shardings_fit_into_too_little() -> None:
    x = jax.ShapeDtypeStruct((64, 64), np.float32)
    with pytest.raises(sw.ShardwrightError, match="SW0469"):
        sw.jax.auto_shardings(lambda x: x @ x, mesh(), x, memory_limit="1kB")


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    namespace = _of_page()
    assert "bytes sent per device" in capsys.readouterr().out
    assert namespace["params"]["in"].sharding.spec == P(None, "model")
    assert namespace["found"].named["hidden"].spec == P("data", "model")
    assert 0 < float(namespace["loss"]) < 1.2  # labels of variance one
    assert float(namespace["squares"]) == (28**2 + 92**2 + 156**2 + 220**2) / 4


def test_the_pages_models_are_trained_and_asked_as_their_libraries_do() -> None:
    nnx, optax, eqx = (pytest.importorskip(name) for name in ("flax.nnx", "optax", "equinox"))
    page = _of_page("import equinox")
    rngs = nnx.Rngs(0)
    layers = nnx.Linear(64, 128, rngs=rngs), nnx.BatchNorm(128, rngs=rngs), nnx.Linear(128, 32, rngs=rngs)
    model = nnx.Sequential(*layers)
    optimizer = nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)
    train = nnx.jit(page["train"])
    wanted = [float(train(model, optimizer, page["x"], page["y"])) for _ in range(3)]
    np.testing.assert_allclose(page["losses"], wanted, rtol=1e-4)
    assert wanted[2] < wanted[0]
    for name in ("kernel", "bias"):
        ours, theirs = (getattr(each.layers[2], name)[...] for each in (page["model"], model))
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
    mine, its = (each.layers[1].mean[...] for each in (page["model"], model))
    np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-6)
    asked = eqx.filter_jit(jax.vmap(page["layers"]))(page["x"])
    np.testing.assert_allclose(page["predicted"], asked, rtol=1e-4, atol=1e-6)


def _of_page(last: str | None = None) -> dict[str, Any]:
    """The names of the page on all this, once its blocks (of libraries that are there) have run down to the `last`."""
    page = Path(__file__).resolve().parents[2] / "docs" / "jax.md"
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in re.findall(r"(?ms)^```py\n(.*?)^```", page.read_text()):
        if all(find_spec(library) for library in ("flax", "equinox") if library in block):
            exec(compile(block, str(page), "exec"), namespace)
        if last is not None and last in block:
            break
    return namespace


def test_limits_bind_here_too() -> None:
    x = put((8, 8), "data")
    total = sw.jax.jit(lambda a: a.sum(0))  # two rows of 32 bytes on each of four devices: three quarters, twice
    assert total.lower(x).predicted_bytes == 48
    with sw.budget(max_bytes=47), pytest.raises(ValueError, match=r"SW0580.*sends 48 bytes, where 47 are allowed"):
        total(x)
    with sw.budget(max_bytes=48):
        np.testing.assert_array_equal(total(x), jax.jit(lambda a: a.sum(0))(x))
    with sw.budget(max_peak=10), pytest.raises(ValueError, match=r"SW0580.*where 10 are allowed"):
        total.lower(x).compile()
    gathers = sw.jax.jit(lambda a: jnp.sort(a, axis=0), fallback="xla")
    with sw.explicit(), pytest.raises(ValueError, match="SW0581"):
        gathers(x)
    unknown = sw.jax.jit(called_back, fallback="xla")
    with sw.budget(max_bytes="1GB"), pytest.raises(sw.ShardwrightError, match="SW0431"):
        unknown(x)


def test_a_jit_of_a_jit_has_options_of_its_own() -> None:
    """The outer one gives its argument away, the inner one does not."""
    inner = sw.jax.jit(lambda a: a + 1)
    outer = sw.jax.jit(inner, donate_argnums=0)
    x, kept = put((8, 8), "data"), put((8, 8), "data")
    expected = np.asarray(kept) + 1  # whose memory NumPy looks at, JAX does not give away
    np.testing.assert_array_equal(inner(kept), expected)
    np.testing.assert_array_equal(outer(x), expected)
    assert (x.is_deleted(), kept.is_deleted()) == (True, False)
