"""Programs from JAX: jitted functions with their trees, and bytecode in each of its wrappings."""

from __future__ import annotations

import io
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright
from shardwright.benchmarks import xla
from shardwright.dialects.text.locations import where
from shardwright.tools.main import main

pytestmark = pytest.mark.peers
jax = pytest.importorskip("jax")
xla.prepare()

Array = np.ndarray[Any, Any]
Capture = pytest.CaptureFixture[str]


def sharding(*spec: Any) -> Any:
    """A sharding over four times two devices."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("x", "y"))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))


def step(params: dict[str, Any], batch: Any, scale: float = 1.0, *, flag: bool = False) -> Any:
    """A product, a bias and a sum; `batch` has a part that nothing uses."""
    hidden = jax.numpy.tanh(batch["x"] @ params["w"]) * scale
    return {"z": hidden, "a": [hidden.sum(), -params["b"] if flag else params["b"]]}


def arguments() -> tuple[dict[str, Array], dict[str, Array]]:
    """Seeded arrays."""
    random = np.random.default_rng(0)
    params = {"w": random.standard_normal((8, 16), np.float32), "b": np.float32(3)}
    return params, {"x": random.standard_normal((4, 8), np.float32), "unused": np.zeros((2, 3), np.int32)}


def structs(params: Any, batch: Any) -> tuple[Any, Any]:
    """The same as shapes with shardings."""
    struct = jax.ShapeDtypeStruct
    shapes = {"w": struct((8, 16), "float32", sharding=sharding(None, "y")), "b": struct((), "float32")}
    return shapes, {"x": struct((4, 8), "float32", sharding=sharding("x")), "unused": struct((2, 3), "int32")}


def check(actual: Any, wanted: Any) -> None:
    """Equal trees of close arrays."""
    assert list(actual) == sorted(wanted)
    np.testing.assert_allclose(actual["z"], wanted["z"], rtol=1e-5)
    np.testing.assert_allclose(actual["a"], wanted["a"], rtol=1e-4)


def test_a_jitted_function_with_shardings_on_shapes() -> None:
    params, batch = arguments()
    traced = shardwright.from_jax(jax.jit(step), *structs(params, batch))
    assert [str(parameter) for parameter in traced.interface.parameters] == [
        "params['b']: f32[]",
        "params['w']: f32[8, 16@y]",
        "arg2: i32[2, 3]",
        "batch['x']: f32[4@x, 8]",
    ]
    compiled = traced.compile()
    check(compiled(params, batch), step(params, batch))
    assert compiled.ledger.sent_bytes > 0


def test_keywords_static_arguments_and_lowered_functions() -> None:
    params, batch = arguments()
    jitted = jax.jit(step, static_argnames="flag")
    lowered = jitted.lower(params, batch, flag=True, scale=2.0)
    for traced in (shardwright.from_jax(jitted, params, batch, scale=2.0, flag=True), shardwright.from_jax(lowered)):
        check(traced.compile()(params, batch, scale=np.float32(2)), step(params, batch, 2.0, flag=True))


def test_shardings_of_jit_and_of_arrays() -> None:
    value = jax.device_put(np.arange(32, dtype=np.float32).reshape(8, 4), sharding("x", "y"))
    jitted = jax.jit(lambda x: (x.T, x.sum(0)), out_shardings=(sharding("y", "x"), sharding()))
    compiled = shardwright.from_jax(jitted, value).compile()
    transposed, total = compiled(np.asarray(value))
    assert repr(transposed).endswith(" f32[4@y, 8@x], Mesh(x=4, y=2))")
    np.testing.assert_array_equal(transposed, np.asarray(value).T)
    np.testing.assert_array_equal(total, np.asarray(value).sum(0))


def test_without_shardings_there_is_one_device() -> None:
    compiled = shardwright.from_jax(jax.jit(lambda x: x + 1), np.zeros(3, np.float32)).compile()
    assert isinstance(compiled(np.zeros(3, np.float32)), np.ndarray)


def test_operations_have_their_place_in_the_python_file() -> None:
    traced = shardwright.from_jax(jax.jit(lambda x: jax.numpy.sin(x)), np.zeros(3, np.float32))
    place = next(where(op) for op in traced.module.walk() if op.name == "stablehlo.sine")
    assert place is not None
    assert Path(place.file).name == Path(__file__).name


@pytest.mark.parametrize("wrong", [step, 3, "text"])
def test_what_is_not_jitted(wrong: Any) -> None:
    with pytest.raises(TypeError, match="SW0518"):
        shardwright.from_jax(wrong, 1.0)


@pytest.mark.parametrize("kind", [OrderedDict, dict, partial(defaultdict, list)])
def test_dicts_of_all_kinds(kind: Any) -> None:
    """The leaves of ordered ones go in their order, those of others by their keys."""
    given = kind([("b", np.float32([1, 2])), ("a", np.float32([10, 20]))])
    jitted = jax.jit(lambda state: {"state": state, "difference": state["a"] - state["b"]})
    found, due = shardwright.from_jax(jitted, given).compile()(given), jitted(given)
    assert type(found["state"]) is type(due["state"])
    assert found["difference"].tolist() == due["difference"].tolist() == [9, 18]
    assert {key: value.tolist() for key, value in found["state"].items()} == {"a": [10, 20], "b": [1, 2]}


def test_containers_that_only_jax_knows() -> None:
    @dataclass
    class Node:
        value: Any
        other: Any

    jax.tree_util.register_pytree_node(Node, lambda n: ((n.other, n.value), None), lambda _, parts: Node(*parts[::-1]))
    with pytest.raises(TypeError, match="SW0518"):
        shardwright.from_jax(jax.jit(lambda node: node.value), Node(np.zeros(2), np.zeros(3)))


def forms() -> dict[str, bytes]:
    """One program as bytecode of MLIR, as a portable artifact, and inside of another file."""
    params, batch = arguments()
    jitted = jax.jit(step)
    stream = io.BytesIO()
    jitted.lower(*structs(params, batch)).compiler_ir("stablehlo").operation.write_bytecode(stream)
    portable = jax.export.export(jitted)(*structs(params, batch)).mlir_module_serialized
    inside = b"\x10\x00\x00\x00header" + len(portable).to_bytes(4, "little") + portable + b"\x00tail"
    return {"bytecode": stream.getvalue(), "portable": portable, "inside": inside}


@pytest.mark.parametrize("form", ["bytecode", "portable", "inside"])
def test_bytecode(form: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "program.mlirbc"
    path.write_bytes(forms()[form])
    assert main(["run", str(path), "--check"]) == 0
    assert main(["explain", str(path)]) == 0
    assert "all_reduce" in capsys.readouterr().out
    assert main(["export", str(path), "--to", "sdy"]) == 0
    params, batch = arguments()
    results = shardwright.load_mlir(path).compile()(params["b"], params["w"], batch["x"])
    wanted = step(params, batch)
    np.testing.assert_allclose(results[0], wanted["a"][0], rtol=1e-4)
    np.testing.assert_allclose(results[2], wanted["z"], rtol=1e-5)


def test_serialized_exports_are_read(tmp_path: Path) -> None:
    pytest.importorskip("flatbuffers")
    params, batch = arguments()
    path = tmp_path / "program.jax"
    path.write_bytes(jax.export.export(jax.jit(step))(*structs(params, batch)).serialize())
    assert main(["run", str(path), "--check"]) == 0


@pytest.mark.parametrize("size", [6, 40, 300])
def test_bytecode_that_is_not_complete(size: int, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "program.mlirbc"
    path.write_bytes(forms()["portable"][:size])
    assert main(["run", str(path)]) == 1
    assert f"{path}:1:1: error[SW0722]" in capsys.readouterr().err


def test_bytecode_whose_names_are_damaged(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    portable = forms()["portable"]
    assert b"tanh_v" in portable
    path = tmp_path / "program.mlirbc"
    path.write_bytes(portable.replace(b"tanh_v", b"t\xffnh_v"))
    assert main(["run", str(path)]) == 1
    told = capfd.readouterr().err
    assert told.startswith(f"{path}:1:1: error[SW0722]: this is MLIR bytecode that jaxlib cannot read\n")
    assert "note: it has a name that is no text" in told
    assert "Traceback" not in told
