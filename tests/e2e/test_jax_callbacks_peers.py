"""Programs of JAX that call Python back: run where a value is all that they compute, left out by choice, or named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.jax.calls.called_back import hold_calls_back
from shardwright.tools.main import main

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()

from jax.experimental import checkify, io_callback  # noqa: E402

MESH = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))
X = np.arange(32, dtype=np.float32).reshape(8, 4)
SHAPE = jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=jax.sharding.NamedSharding(MESH, jax.P("data")))
SCALAR = jax.ShapeDtypeStruct((), np.float32)


def printing(x: Any) -> Any:
    jax.debug.print("the sum is {}", x.sum())
    return x * 2


def effects_in_a_loop(x: Any) -> Any:
    def body(_: Any, v: Any) -> Any:
        io_callback(lambda total: None, None, v.sum(), ordered=True)
        return v * 2

    return jax.lax.fori_loop(0, 3, body, x)


def reading(x: Any) -> Any:
    return x + io_callback(lambda total: np.float32(1), SCALAR, x.sum(), ordered=True)


def sines(x: Any) -> Any:
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x * 2) + x


def two_results(x: Any) -> Any:
    shapes = jax.ShapeDtypeStruct((4,), x.dtype), jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda a: (a.sum(0), a * 2), shapes, x)


def row_by_row(x: Any) -> Any:
    shape = jax.ShapeDtypeStruct((4,), x.dtype)
    return jax.vmap(lambda row: jax.pure_callback(np.sort, shape, -row, vmap_method="sequential"))(x)


def in_a_branch(x: Any) -> Any:
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.lax.cond(x.sum() > 0, lambda v: jax.pure_callback(np.cos, shape, v), lambda v: v, x)


@pytest.mark.parametrize("function", [sines, two_results, row_by_row, in_a_branch])
def test_callbacks_without_effects_run(function: Any) -> None:
    found = sw.from_jax(jax.jit(function), SHAPE).compile()(X)
    wanted = jax.jit(function)(X)
    jax.tree.map(lambda ours, theirs: np.testing.assert_allclose(np.asarray(ours), theirs, 1e-6), found, wanted)


def test_a_callback_is_called_once_for_each_run_with_the_whole_array() -> None:
    seen: list[Any] = []

    def watched(a: Any) -> Any:
        seen.append(np.array(a))
        return np.float32(a.sum())

    compiled = sw.from_jax(jax.jit(lambda x: x + jax.pure_callback(watched, SCALAR, x)), SHAPE).compile()
    assert seen == []
    np.testing.assert_array_equal(np.asarray(compiled(X)), X + X.sum())
    np.testing.assert_array_equal(seen, [X])


def test_checks_of_equinox_raise_where_they_fail_and_not_elsewhere() -> None:
    equinox: Any = pytest.importorskip("equinox")
    for limit, fails in ((1000, False), (10, True)):
        checked = jax.jit(lambda x, limit=limit: equinox.error_if(x, x.sum() > limit, "too large", on_error="raise"))
        compiled = sw.from_jax(checked, SHAPE).compile()
        if fails:
            with pytest.raises(RuntimeError, match="too large"):
                compiled(X)
        else:
            np.testing.assert_array_equal(np.asarray(compiled(X)), X)


def test_checks_of_checkify_are_results() -> None:
    def checked(x: Any) -> Any:
        checkify.check(x.sum() > 1000, "too small")
        return x

    error, value = sw.from_jax(jax.jit(checkify.checkify(checked)), SHAPE).compile()(X)
    np.testing.assert_array_equal(np.asarray(value), X)
    assert [bool(np.asarray(failed)) for failed in jax.tree.leaves(error)[:1]] == [True]


@pytest.mark.parametrize("function", [printing, effects_in_a_loop])
def test_effects_are_left_out_by_choice(function: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jitted = jax.jit(function)
    wanted = np.asarray(jitted(X))
    np.testing.assert_array_equal(np.asarray(sw.from_jax(jitted, SHAPE, callbacks="drop").compile()(X)), wanted)
    text = tmp_path / "program.mlir"
    text.write_text(jitted.lower(SHAPE).as_text(debug_info=True))
    np.testing.assert_array_equal(np.asarray(sw.load_mlir(text, callbacks="drop").compile()(X)), wanted)
    np.savez(tmp_path / "arrays.npz", in_0=X, out_0=wanted)
    arrays = str(tmp_path / "arrays.npz")
    given = ["run", str(text), "--inputs", arrays, "--expect", arrays, "--check"]
    assert main([*given, "--callbacks", "drop"]) == 0
    assert main(given) == 1
    name = "debug_print" if function is printing else "io_callback"
    assert f"error[SW0431]: {name} calls Python back in the middle of the program" in capsys.readouterr().err


def test_what_the_program_needs_is_not_left_out(tmp_path: Path) -> None:
    found = sw.from_jax(jax.jit(reading), SHAPE, callbacks="drop").compile()(X)
    np.testing.assert_array_equal(np.asarray(found), X + 1)
    (tmp_path / "program.mlir").write_text(jax.jit(sines).lower(SHAPE).as_text())
    with pytest.raises(sw.ShardwrightError, match=r"(?s)SW0431.*its result is needed"):
        sw.load_mlir(tmp_path / "program.mlir", callbacks="drop")


SPLIT = jax.sharding.NamedSharding(MESH, jax.P("data", "model"))
PARTS = jax.P("data", "model")
CALLS: list[Any] = []


def noted(value: Any) -> Any:
    """Takes note of what it is called with; how many calls there were."""
    CALLS.append(np.array(value))
    return np.float32(len(CALLS))


def in_each(function: Any, x: Any) -> Any:
    return jax.shard_map(function, mesh=MESH, in_specs=PARTS, out_specs=PARTS)(x)


def and_then(call: Any, x: Any) -> Any:
    call(x)
    return x * 2


JITTED: dict[str, Any] = {
    "a value": lambda x: jax.pure_callback(np.sin, x, x) * 2,
    "two values": lambda x: jax.pure_callback(np.sin, x, x) - jax.pure_callback(np.cos, x, x),
    "an effect": lambda x: and_then(lambda y: jax.debug.callback(noted, y + 1), x),
    "effects of which one is small": lambda x: and_then(
        lambda y: (jax.debug.callback(noted, y), jax.debug.callback(noted, y.sum())), x
    ),
    "an effect with a result": lambda x: x + io_callback(noted, SCALAR, x),
    "several results": lambda x: io_callback(
        lambda y: (noted(y), y[0] > 3), (SCALAR, jax.ShapeDtypeStruct((4,), bool)), x
    ),
    "in a loop": lambda x: jax.lax.scan(
        lambda c, _: (and_then(lambda y: jax.debug.callback(noted, y), c), None), x, length=3
    ),
    "in a branch": lambda x: jax.lax.cond(
        x.sum() > 0, lambda y: and_then(lambda z: jax.debug.callback(noted, z), y), lambda y: y, x
    ),
    "in a branch that is not taken": lambda x: jax.lax.cond(
        x.sum() < 0, lambda y: and_then(lambda z: jax.debug.callback(noted, z), y), lambda y: y, x
    ),
    "a value of each device": lambda x: in_each(lambda y: jax.pure_callback(np.cos, y, y), x),
    "an effect of each device": lambda x: in_each(lambda y: and_then(lambda z: jax.debug.callback(noted, z), y), x),
}


@pytest.mark.parametrize("name", JITTED)
def test_jit_calls_what_jax_calls(name: str) -> None:
    """The same results, and the same calls with the same arrays, in whatever order."""
    x, seen = jax.device_put(X, SPLIT), list[Any]()
    for jit in (sw.jax.jit, jax.jit):
        CALLS.clear()
        found = jax.block_until_ready(jit(JITTED[name])(x))
        jax.effects_barrier()
        calls = sorted((call.shape, call.ravel().tolist()) for call in CALLS)
        seen.append(([np.asarray(leaf) for leaf in jax.tree.leaves(found)], calls))
    (ours, mine), (theirs, due) = seen
    assert mine == due
    for one, wanted in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-6)


def test_each_run_of_jit_calls_again() -> None:
    x, jitted = jax.device_put(X, SPLIT), sw.jax.jit(JITTED["an effect"])
    CALLS.clear()
    for _ in range(3):
        jax.block_until_ready(jitted(x))
    jax.block_until_ready(jitted.lower(x).compile()(x))
    assert len(CALLS) == 4
    assert jitted.lower(x).predicted_bytes == X.nbytes * 7 / 8  # each device needs what it has not


def test_jit_prints_once(capfd: pytest.CaptureFixture[str]) -> None:
    jax.block_until_ready(sw.jax.jit(printing)(jax.device_put(X, SPLIT)))
    assert capfd.readouterr().out == "the sum is 496.0\n"


@pytest.mark.parametrize("jit", [jax.jit, sw.jax.jit])
def test_prints_in_order_jax_itself_refuses_on_several_devices(jit: Any) -> None:
    def in_order(x: Any) -> Any:
        jax.debug.print("{}", x.sum(), ordered=True)
        return x

    with pytest.raises(ValueError, match="ordered effects are not supported for more than 1 device"):
        jit(in_order)(jax.device_put(X, SPLIT))


def test_jit_keeps_no_order_between_calls() -> None:
    with pytest.raises(sw.ShardwrightError) as caught:
        sw.jax.jit(effects_in_a_loop)(jax.device_put(X, SPLIT))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("SW0431", "a callback is to be called in the order of others")
    assert diagnostic.help == 'let it be called without ordered=True, or take fallback="xla"'
    assert diagnostic.location is not None
    assert diagnostic.location.file == __file__


def test_jit_refuses_calls_where_only_some_axes_are_manual() -> None:
    text = """
    sdy.mesh @mesh = <["x"=2, "y"=2]>
    func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
          manual_axes={"x"} (%y: tensor<2xf32>) {
        %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%y) {mhlo.backend_config = {index = 0 : ui64}}
          : (tensor<2xf32>) -> tensor<2xf32>
        sdy.return %1 : tensor<2xf32>
      } : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    with pytest.raises(sw.ShardwrightError) as caught:
        hold_calls_back(parse_module(text, "partly.mlir"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "a callback stands where some axes are manual and others are not"
    assert diagnostic.help == 'make all axes manual in the shard_map around it, or take fallback="xla"'


LOG: list[Any] = []


def note(name: str, result: Any = None) -> Any:
    """A function that writes down what it is called with."""

    def noted(*values: Any) -> Any:
        LOG.append((name, *[np.asarray(value).tolist() for value in values]))
        return result

    return noted


def in_order(x: Any) -> Any:
    """Effects between sums that could wait for each other, in loops of both kinds and in a branch."""
    io_callback(note("first"), None, x.sum(), ordered=True)

    def body(_: Any, v: Any) -> Any:
        more = io_callback(note("round", np.float32(2)), SCALAR, v.sum(), ordered=True)
        return v * 2 + more

    x = jax.lax.fori_loop(0, 3, body, x)
    yes, no = ((lambda v, name=name: io_callback(note(name), None, v.max(), ordered=True)) for name in ("yes", "no"))
    jax.lax.cond(x.sum() > 0, yes, no, x)

    def step(count: Any) -> Any:
        io_callback(note("while"), None, count, ordered=True)
        return count + 1

    jax.lax.while_loop(lambda count: count < 2, step, 0)
    return x


def without_operands(x: Any) -> Any:
    io_callback(note("nothing"), None, ordered=True)
    io_callback(note("constant"), None, np.float32(3), ordered=True)
    return x


def whole_arrays(x: Any) -> Any:
    io_callback(note("x"), None, x, ordered=True)
    io_callback(note("columns"), None, (x * 2).T, x.sum(0), ordered=True)
    return x


def unordered(x: Any) -> Any:
    jax.debug.callback(note("debug"), x.sum())
    return x


def row_by_row_effects(x: Any) -> Any:
    return jax.vmap(lambda row: (io_callback(note("row"), None, row.sum(), ordered=False), row * 2)[1])(x)


@pytest.mark.parametrize("function", [in_order, without_operands, whole_arrays, unordered, row_by_row_effects])
def test_effects_happen_in_the_order_in_which_they_are_written(function: Any) -> None:
    compiled = sw.from_jax(jax.jit(function), SHAPE).compile()
    LOG.clear()
    found = [np.asarray(compiled(X)) for _ in range(2)]
    ours = list(LOG)
    LOG.clear()
    wanted = [np.asarray(jax.jit(function)(X)) for _ in range(2)]
    jax.effects_barrier()
    np.testing.assert_array_equal(found, wanted)
    assert ours == LOG
    assert ours


def test_what_is_kept_of_a_call_is_not_written_over() -> None:
    kept: list[Any] = []
    compiled = sw.from_jax(jax.jit(lambda x: (jax.debug.callback(kept.append, x * 2), x + 1)[1]), SHAPE).compile()
    compiled(X)
    compiled(X + 1)
    np.testing.assert_array_equal(kept, [X * 2, X * 2 + 2])


def test_prints_are_seen(capsys: pytest.CaptureFixture[str]) -> None:
    sw.from_jax(jax.jit(printing), SHAPE).compile()(X)
    assert capsys.readouterr().out == "the sum is 496.0\n"


def test_a_manual_computation_calls_back_for_each_part() -> None:
    """Once for each part that differs: the devices along model hold the same."""

    def by_part(x: Any) -> Any:
        return jax.shard_map(
            lambda part: (jax.debug.callback(note("part"), part.sum()), part)[1],
            mesh=MESH,
            in_specs=jax.P("data"),
            out_specs=jax.P("data"),
        )(x)

    LOG.clear()
    sw.from_jax(jax.jit(by_part), SHAPE).compile()(X)
    assert [("part", float(X[2 * at : 2 * at + 2].sum())) for at in range(4)] == LOG


def test_a_proof_calls_nothing() -> None:
    LOG.clear()
    proof = sw.from_jax(jax.jit(in_order), SHAPE).partition().certify()
    assert not proof.proved
    assert not LOG


def test_other_ways_to_treat_callbacks_are_refused() -> None:
    with pytest.raises(ValueError, match=r"SW0436.*callbacks='keep' says nothing"):
        sw.from_jax(jax.jit(printing), SHAPE, callbacks="keep")
