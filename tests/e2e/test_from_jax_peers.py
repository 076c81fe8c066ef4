"""Coming from `jax.jit`: each row of the page's table is tried, next to `jax.jit` where that does the same."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla
from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
jnp, P = jax.numpy, jax.sharding.PartitionSpec
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "jax.md").read_text()
TABLE = PAGE[PAGE.index("| of `jax.jit` | here |") :].partition("\n\n")[0]
ROWS = [first for first, _ in re.findall(r"(?m)^\| (.*?) \| (.*) \|$", TABLE)][1:]
MESH = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))
CHECKS: dict[str, Callable[[], None]] = {}


def row(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Says which row a check is of."""

    def kept(check: Callable[[], None]) -> Callable[[], None]:
        CHECKS[name] = check
        return check

    return kept


def sharding(*spec: Any) -> Any:
    return jax.sharding.NamedSharding(MESH, P(*spec))


def put(*spec: Any, shape: tuple[int, ...] = (8, 8)) -> Any:
    """Small whole numbers on the devices, whose sums are exact."""
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 7
    return jax.device_put(values, sharding(*spec))


def same(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What `shardwright.jax.jit` makes of a function, which `jax.jit` makes of it as well."""
    found, wanted = sw.jax.jit(function, **options)(*args), jax.jit(function, **options)(*args)
    jax.tree.map(lambda ours, theirs: np.testing.assert_allclose(ours, theirs, rtol=1e-5), found, wanted)
    return found


@row("`in_shardings`, `out_shardings`")
def _() -> None:
    x = np.ones((8, 8), np.float32)
    found = same(lambda a: a.T * 2, x, in_shardings=sharding("data"), out_shardings=sharding(None, "model"))
    assert found.sharding == sharding(None, "model")
    with jax.set_mesh(MESH):
        assert same(lambda a: a + 1, x, in_shardings=P("data"), out_shardings=P("model")).sharding == sharding("model")
    layout: Any = import_module("jax.experimental.layout")
    columns = layout.Format(layout.Layout((1, 0)), sharding("data"))
    found = same(lambda a: a + 1, jax.device_put(x, columns), in_shardings=columns, out_shardings=columns)
    assert found.format.layout.major_to_minor == (1, 0)
    decided = sw.jax.jit(lambda a: a + 1, in_shardings=sharding("data")).lower(x)
    assert decided.out_shardings[0].spec == P("data")


@row("shardings of the arrays, `with_sharding_constraint`, meshes with explicit axes")
def _() -> None:
    assert same(lambda a: a * 2, put("data", "model")).sharding == sharding("data", "model")
    constrained = same(lambda a: jax.lax.with_sharding_constraint(a, sharding("model")), put())
    assert constrained.sharding.spec == P("model")
    explicit = jax.sharding.Mesh(MESH.devices, MESH.axis_names, axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    x = jax.device_put(np.ones((8, 8), np.float32), jax.sharding.NamedSharding(explicit, P("data")))
    assert jax.typeof(same(lambda a: a.sum(1), x)).sharding.spec == P("data")


@row('parts of sums: `P(..., unreduced={"x"})`, `reduced`; from JAX 0.12 on those of maxima and minima')
def _() -> None:
    explicit = jax.sharding.Mesh(MESH.devices, MESH.axis_names, axis_types=(jax.sharding.AxisType.Explicit,) * 2)

    def product(a: Any, b: Any) -> Any:
        return jnp.einsum("ik,kj->ij", a, b, out_sharding=P(None, None, unreduced={"data"}))

    numbers = np.arange(64, dtype=np.float32).reshape(8, 8) % 7
    with jax.set_mesh(explicit):
        parts = sw.jax.jit(product)(jax.device_put(numbers, P(None, "data")), jax.device_put(numbers, P("data")))
        assert parts.sharding.spec == P(None, None, unreduced={"data"})
        found = same(lambda parts: jax.sharding.reshard(parts, P("data", None)), parts)
    np.testing.assert_array_equal(found, numbers @ numbers)


@row("`static_argnums`, `static_argnames`, `keep_unused`, `inline`, `compiler_options`")
def _() -> None:
    same(lambda a: a + 1, put("data"), inline=True)
    same(lambda a, n: a * n, put("data"), 3, static_argnums=1)
    same(lambda a, b: a + 1, put("data"), put(), keep_unused=True)
    same(lambda a: a + 1, put("data"), compiler_options={"xla_cpu_enable_fast_math": False})
    np.testing.assert_array_equal(sw.jax.jit(lambda a, n: a * n, static_argnames="n")(put("data"), n=3), put() * 3)


@row("`donate_argnums`, `donate_argnames`")
def _() -> None:
    for options in ({"donate_argnums": 0}, {"donate_argnames": "a"}):
        x = put("model", "data")
        found = sw.jax.jit(lambda a, b: a + a @ b, **options)(x, put("data"))
        assert x.is_deleted()
        assert found.sharding == sharding("model", "data")


@row("`scan`, `while_loop`, `cond`, `checkpoint`, `shard_map`, custom derivatives, random keys")
def _() -> None:
    @jax.custom_jvp
    def cube(a: Any) -> Any:
        return a**3

    cube.defjvp(lambda given, slopes: (cube(given[0]), 3 * given[0] ** 2 * slopes[0]))

    def all_of_them(a: Any, key: Any) -> Any:
        a, _ = jax.lax.scan(lambda c, _: (c / 2 + 1, None), a, length=3)
        a = jax.lax.while_loop(lambda c: c.sum() < 100, lambda c: c + 1, a)
        a = jax.lax.cond(a.sum() > 0, lambda c: c * 2, lambda c: c, a)
        part = jax.shard_map(lambda c: c - jax.lax.pmean(c, "data"), mesh=MESH, in_specs=P("data"), out_specs=P("data"))
        slope = jax.grad(jax.checkpoint(lambda c: jnp.tanh(cube(c / 9)).sum()))(a)
        return part(a) + slope + jax.random.bits(key, a.shape, "uint8")

    same(all_of_them, put("data"), jax.random.key(1))


@row("`trace(...)`, `lower(...)`, `compile(options)`, `as_text`, `jax.ShapeDtypeStruct`")
def _() -> None:
    shape = jax.ShapeDtypeStruct((8, 8), np.float32, sharding=sharding("data"))
    traced = sw.jax.jit(lambda a: a.sum(0)).trace(shape)
    assert traced.out_info.shape == (8,)
    lowered = traced.lower()
    assert lowered.as_text() == sw.jax.jit(lambda a: a.sum(0)).lower(shape).as_text()
    assert lowered.predicted_bytes > 0
    np.testing.assert_array_equal(lowered.compile()(put("data")), np.asarray(put()).sum(0))
    lowered.compile({"xla_cpu_enable_fast_min_max": True})
    assert "HloModule" in lowered.as_text("hlo")
    with pytest.raises(TypeError, match="SW0590"):
        importlib.import_module("jax.export").export(sw.jax.jit(lambda a: a.sum(0)))(shape)


@row("`jax_debug_nans`, `jax_debug_infs`")
def _() -> None:
    x = put("data") - 1  # the logarithm of minus one
    for flag in (jax.debug_nans, jax.debug_infs):
        with flag(True), pytest.raises(FloatingPointError, match="encountered in log"):
            sw.jax.jit(lambda a: jnp.log(a) + 1)(x)


@row("`jax.named_scope`")
def _() -> None:
    def scoped(a: Any) -> Any:
        with jax.named_scope("layer"):
            return jnp.sin(a)

    assert "call_exported/layer/sin" in sw.jax.jit(scoped).lower(put("data")).compile().as_text()


@row("`jax.Ref`")
def _() -> None:
    def inside(a: Any) -> Any:
        held = jax.new_ref(a)
        held[0] = held[1]
        return held[...]

    same(inside, put("data"))
    held = jax.new_ref(put("data"))
    with pytest.raises(TypeError, match="SW0588"):
        sw.jax.jit(lambda: held[...])()


@row("`step.eval_shape(...)`, `clear_cache`, `jax.disable_jit`")
def _() -> None:
    ours, theirs = sw.jax.jit(lambda a: a.sum(0)), jax.jit(lambda a: a.sum(0))
    with pytest.raises(TypeError, match="SW0570"):
        jax.eval_shape(ours, put("data"))
    assert ours.eval_shape(put("data")).shape == theirs.eval_shape(put("data")).shape == (8,)
    ours(put("data"))
    ours.clear_cache()
    np.testing.assert_array_equal(ours(put("data")), theirs(put("data")))
    with jax.disable_jit():  # Python sees the elements
        assert sw.jax.jit(lambda a: float(a.sum()))(put("data")) == float(put("data").sum())


@row("arguments, results and constraints on several meshes of the same devices")
def _() -> None:
    row = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(jax.devices()[:8]), ("all",)), P("all"))
    other = jax.device_put(np.asarray(put()), row)
    assert same(lambda a, b: a + b, put("data"), other, out_shardings=row).sharding == row
    same(lambda a, b: jax.lax.with_sharding_constraint(a @ b, row), put("data", "model"), other)
    pair, triple = (
        jax.device_put(np.ones((6, 6)), jax.sharding.NamedSharding(mesh, P(*mesh.axis_names)))
        for mesh in (jax.sharding.Mesh(np.array(jax.devices()[:6]).reshape(n, 6 // n), ("a", "b")) for n in (2, 3))
    )
    with pytest.raises(sw.ShardwrightError, match="SW0405"):
        sw.jax.jit(jnp.add)(pair, triple)


def _put_aside() -> None:
    """What JAX lowers for GPUs: on CPUs it drops what is put aside in between."""
    named = import_module("jax.ad_checkpoint").checkpoint_name
    put_aside = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["held"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def loss(weights: Any, x: Any) -> Any:
        def layer(x: Any, weight: Any) -> Any:
            return jnp.sin(named(jnp.tanh(x @ weight), "held")), None

        return jax.lax.scan(jax.checkpoint(layer, policy=put_aside), x, weights)[0].sum()

    traced = jax.jit(jax.grad(loss)).trace(put(None, None, "model", shape=(3, 8, 8)), put("data"))
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    module = parse_module(text)
    run_pipeline(module, ["partition"])
    export_stablehlo(module)
    for placement in ('_xla_buffer_placement = "pinned_host"', '_xla_buffer_placement = "device"'):
        assert print_module(module).count(placement) == text.count(placement) == 1


@row("memory kinds")
def _() -> None:
    _put_aside()
    there = jax.sharding.NamedSharding(MESH, P("data"), memory_kind="pinned_host")
    try:
        jax.jit(lambda a: a + 1, out_shardings=there)(put("data"))
    except jax.errors.JaxRuntimeError:
        assert jax.__version_info__ < (0, 10, 2)
        pytest.skip("XLA of this version has no memory but the device's on CPUs")
    assert same(lambda a: a + 1, put("data"), out_shardings=there).sharding.memory_kind == "pinned_host"


@row("kernels: Pallas, `jax.ffi.ffi_call`")
def _() -> None:
    lapack: Any = import_module("jaxlib.lapack")
    kernels = {name: kernel for name, kernel, *_ in lapack.registrations()["cpu"]}
    lapack.prepare_lapack_call("potrf", np.float32)
    jax.ffi.register_ffi_target("test_factor", kernels["lapack_spotrf_ffi"], platform="cpu")

    def factor(a: Any) -> Any:
        types = jax.ShapeDtypeStruct(a.shape, a.dtype), jax.ShapeDtypeStruct(a.shape[:-2], np.int32)
        return jax.ffi.ffi_call("test_factor", types)(a, uplo=np.uint8(ord("L")))[0]

    @jax.jit
    def more(a: Any) -> Any:
        return jnp.tril(factor(a)) * 2

    x = put("data") + 9 * np.eye(8, dtype=np.float32)
    x = jax.device_put(np.stack([x @ x.T] * 8), sharding(("data", "model")))
    parts = P(("data", "model"))
    same(lambda a: jax.shard_map(more, mesh=MESH, in_specs=parts, out_specs=parts)(a) + 1, x)
    with pytest.raises(sw.ShardwrightError, match="SW0431"):
        sw.jax.jit(factor)(x)
    some = jax.shard_map(factor, mesh=MESH, in_specs=P("data"), out_specs=P("data"), axis_names={"data"})
    with pytest.raises(sw.ShardwrightError, match="SW0431"):
        sw.jax.jit(some)(x)


@row("`custom_partitioning`")
def _() -> None:
    by_hand: Any = import_module("jax.experimental.custom_partitioning").custom_partitioning(lambda a: a * 2)
    by_hand.def_partition(
        partition=lambda mesh, takes, gives: (mesh, lambda a: a * 2, gives.sharding, (takes[0].sharding,)),
        sharding_rule="i j -> i j",
    )
    same(lambda a: by_hand(a) + 1, put("data"))


@row("asynchronous dispatch, one compilation for each kind of arguments")
def _() -> None:
    traced: list[Any] = []

    def double(a: Any) -> Any:
        traced.append(a.shape)
        return a * 2

    ours = sw.jax.jit(double)
    for _ in range(3):
        jax.block_until_ready(ours(put("data")))
    assert traced == [(8, 8)]


@row("a call inside of another function of `shardwright.jax.jit`")
def _() -> None:
    inner = sw.jax.jit(lambda a: a * 2)
    np.testing.assert_array_equal(sw.jax.jit(lambda a: inner(a) + 1)(put("data")), put() * 2 + 1)


@row("a call inside of `jax.jit`, `jax.grad`, `jax.vmap`")
def _() -> None:
    inner = sw.jax.jit(lambda a: (a * a).sum())
    for around in (jax.jit, jax.grad, jax.vmap):
        with pytest.raises(TypeError, match="SW0570"):
            around(inner)(put("data"))
    np.testing.assert_array_equal(sw.jax.jit(jax.grad(lambda a: (a * a).sum()))(put("data")), put() * 2)


@row("programs of one device")
def _() -> None:
    found = same(lambda a: a + 1, np.ones(3, np.float32))
    assert len(found.sharding.device_set) == 1


@row("`device`, `backend`")
def _() -> None:
    for name in ("device", "backend"):
        with pytest.raises(TypeError, match=name):
            sw.jax.jit(lambda a: a, **{name: None})


@pytest.mark.parametrize("name", ROWS)
def test_each_row_of_the_table_is_so(name: str) -> None:
    CHECKS[name]()


def test_the_table_has_a_row_for_each_check() -> None:
    assert set(CHECKS) == set(ROWS)
