"""What is taken from JAX that it does not promise: each thing is there, and means what it is taken for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from shardwright.benchmarks import xla
from shardwright.compiler.reading.bytecode_child import answered
from shardwright.engines.jax import internals
from shardwright.engines.jax.shardings import JaxMesh
from shardwright.layout import Layout, Mesh
from shardwright.layout.boxes import box

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
P = jax.sharding.PartitionSpec


def lowered() -> Any:
    """A program on eight devices in another order, the second of whose three arguments nothing uses."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8])[::-1].reshape(4, 2), ("x", "y"))
    within = jax.sharding.NamedSharding(mesh, P("x"))
    jitted = jax.jit(lambda a, b, c: a + c, in_shardings=(within, None, None))
    return jitted.lower(*[np.zeros(8, np.float32)] * 3)


def test_kept_arguments() -> None:
    assert internals.kept_arguments(lowered()) == [0, 2]
    assert internals.kept_arguments(object()) is None


def test_functions_that_a_program_calls_back() -> None:
    def program(x: Any) -> Any:
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(np.sin, shape, jax.pure_callback(np.cos, shape, x))

    first, second = internals.host_callbacks(jax.jit(program).lower(np.zeros(3, np.float32)))
    np.testing.assert_allclose(first(np.ones(3, np.float32))[0], np.cos(np.ones(3)), 1e-6)
    np.testing.assert_allclose(second(np.ones(3, np.float32))[0], np.sin(np.ones(3)), 1e-6)
    assert internals.host_callbacks(lowered()) == internals.host_callbacks(object()) == []


def test_devices_in_the_order_of_the_mesh() -> None:
    assert internals.devices_of(lowered()) == tuple(jax.devices()[:8][::-1])


def test_shardings_that_were_given() -> None:
    given = [each.spec for each in internals.shardings_of(lowered()) if hasattr(each, "spec")]
    assert given == [P("x")]


def test_shardings_of_the_arguments_that_are_taken() -> None:
    first, last = internals.shardings_of_arguments(lowered())
    assert first.spec == P("x")
    assert not hasattr(last, "spec")


def test_what_results_were_asked_to_have() -> None:
    given = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(jax.devices()[:8]), ("x",)), P("x"))
    jitted = jax.jit(lambda a: (a, a + 1), out_shardings=(None, given))
    first, second = internals.asked_of_results(jitted.lower(np.zeros(8, np.float32)))
    assert not hasattr(first, "spec")
    assert second == given


def test_how_results_shall_lie_in_memory() -> None:
    layout: Any = import_module("jax.experimental.layout")
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]), ("x",))
    given = layout.Format(layout.Layout((1, 0)), jax.sharding.NamedSharding(mesh, P("x")))
    jitted = jax.jit(lambda a: (a, a + 1), out_shardings=(None, given))
    first, second = internals.layouts_of_results(jitted.lower(np.zeros((8, 8), np.float32)))
    assert first is None
    assert second.major_to_minor == (1, 0)


def test_the_context_of_a_trace_changes_with_settings() -> None:
    before = internals.trace_context()
    assert before == internals.trace_context()
    with jax.default_matmul_precision("float32"):
        assert internals.trace_context() != before
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]), ("x",))
    with jax.set_mesh(mesh):
        assert internals.trace_context() != before


def test_whether_a_function_is_traced() -> None:
    assert not internals.is_tracing()
    seen: list[bool] = []
    jax.jit(lambda x: seen.append(internals.is_tracing()) or x)(1.0)
    assert seen == [True]
    assert not internals.is_tracing()


def test_another_program_in_an_exported_function() -> None:
    text = jax.jit(lambda a, b: (a - b, a * b)).lower(np.float32(0), np.float32(0)).as_text()
    of = jax.typeof(np.float32(0))
    call = internals.exported(text, "name", [of, of], [of, of]).call
    found = jax.jit(call)(np.float32(5), np.float32(3))
    assert list(map(float, found)) == [2, 15]
    for platform in ("cuda", "rocm", "tpu"):  # whatever devices there are: JAX calls those of the first two "gpu"
        lowered = jax.jit(call).trace(np.float32(5), np.float32(3)).lower(lowering_platforms=(platform,))
        assert "stablehlo.subtract" in lowered.as_text()


def test_functions_that_an_exported_program_calls_back() -> None:
    """By the numbers that its text gives; XLA gets them with the program that calls it."""

    def plain(a: Any) -> Any:
        return jax.pure_callback(np.sin, a, a) - jax.pure_callback(np.cos, a, a)

    lowered = jax.jit(plain).lower(np.zeros(3, np.float32))
    of = jax.typeof(np.zeros(3, np.float32))
    program = internals.exported(lowered.as_text(), "name", [of], [of])
    call = internals.calling(program, internals.host_callbacks(lowered))
    (found,) = jax.jit(call)(np.ones(3, np.float32))
    np.testing.assert_allclose(found, np.sin(np.ones(3)) - np.cos(np.ones(3)), rtol=1e-6)
    assert internals.calling(program, []) == program.call


def test_functions_of_custom_partitioning_are_asked() -> None:
    """What a device computes, how results are wanted, and how operands, by what the call names."""
    from jax.experimental.custom_partitioning import custom_partitioning

    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("x", "y"))
    split = jax.sharding.NamedSharding(mesh, P("x"))
    double = custom_partitioning(lambda a, factor: a * factor, static_argnums=(1,))
    double.def_partition(
        partition=lambda factor, mesh, takes, gives: (mesh, lambda a: a * factor, gives.sharding, (takes[0].sharding,)),
        sharding_rule="i -> i",
    )
    lowered = jax.jit(lambda a: double(a, 3), in_shardings=split).lower(np.zeros(8, np.float32))
    (line,) = [line for line in lowered.as_text().splitlines() if "CustomSPMDPartitioning" in line]
    info = internals.partitioned_functions()[line.split('backend_config = "')[1].partition('"')[0].encode()]
    of = jax.ShapeDtypeStruct((8,), np.float32, sharding=split)
    _, function, gives, takes = info.partition(
        *info.static_args, mesh, info.in_tree.unflatten([of]), info.out_tree.unflatten([of])
    )
    assert info.in_tree.flatten_up_to(takes) == info.out_tree.flatten_up_to(gives) == [split]
    assert function(np.ones(2)).tolist() == [3, 3]


def test_reflectors_are_those_of_lapack() -> None:
    given = np.random.default_rng(0).normal(size=(5, 3))
    packed, scales = map(np.asarray, internals.reflectors(given.astype(np.float32)))
    due, expected = np.linalg.qr(given, "raw")
    np.testing.assert_allclose(packed, due.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scales, expected, rtol=1e-4, atol=1e-5)


def test_files_that_are_no_places() -> None:
    import os

    def traced(x: Any) -> Any:
        return x + 1

    assert __file__ in jax.jit(traced).lower(1.0).as_text(debug_info=True)
    from jax._src import source_info_util

    before = list(source_info_util._exclude_paths)
    try:
        internals.leave_out_of_places(os.path.dirname(__file__))
        assert __file__ not in jax.jit(lambda x: traced(x) * 2).lower(1.0).as_text(debug_info=True)
    finally:
        source_info_util._exclude_paths[:] = before
        source_info_util._exclude_path_regex.cache_clear()
        source_info_util.is_user_filename.cache_clear()


@pytest.mark.parametrize("dims", [["x", "y"], [None, "x"], ["x:(1)2", None], ["x:(2)2", ("y", "x:(1)2")], [None, None]])
def test_layouts_as_shardings(dims: Sequence[Any]) -> None:
    ours = Mesh(x=4, y=2)
    devices = jax.devices()[:8]
    found = JaxMesh(ours, devices).sharding(Layout(dims, ours).spec).devices_indices_map((16, 8))
    for number, device in enumerate(devices):
        place = {"x": number // 2, "y": number % 2}
        wanted = box(Layout(dims, ours).spec, (16, 8), ours, place)
        sides = zip(found[device], (16, 8), strict=True)
        assert tuple((side.start or 0, size if side.stop is None else side.stop) for side, size in sides) == wanted


def test_a_text_compiled_for_some_devices() -> None:
    text = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> \
{sdy.sharding = #sdy.sharding<@mesh, [{}]>}) { return %a : tensor<4xf32> }"""
    compiled = internals.compiled_for(text, 2).hlo_modules()[0].to_string()
    assert "all-gather" in compiled


def test_bytecode_is_text_again() -> None:
    text = 'func.func public @main(%a: tensor<8xf32> loc("rows")) -> tensor<8xf32> {\n return %a : tensor<8xf32>\n}'
    found = answered(internals.portable(text))["text"]
    assert "func.func public @main(%arg0: tensor<8xf32>" in found
    assert 'loc("rows")' in found
    assert all(isinstance(each, str) for each in answered(b"no bytecode")["said"])


def test_who_raised_an_error() -> None:
    """One of JAX's modules, or a function that they called."""

    def refused(x: Any) -> Any:
        raise ValueError(x)

    for function, theirs in ((lambda x: x.reshape(3, 5), True), (refused, False)):
        with pytest.raises((TypeError, ValueError)) as caught:
            jax.jit(function).trace(np.zeros(8, np.float32))
        assert internals.is_of_jax(caught.value) == theirs
