"""`Layout.auto`: where it may stand, and what becomes of the arrays for which it does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.tools.main import main

MESH = sw.Mesh(data=2, model=2)
AUTO = sw.Layout.auto(MESH)
RANDOM = np.random.default_rng(0)
SHAPES = [(64, 256), (256, 64), (32, 64)]


def arrays() -> list[Any]:
    return [RANDOM.standard_normal(shape, np.float32) for shape in SHAPES]


def step(w: Any, v: Any, x: Any) -> Any:
    by_w, by_v = sw.grad(lambda w, v: sw.mean((sw.maximum(x @ w, 0) @ v - x) ** 2), argnums=(0, 1))(w, v)
    return w - 0.1 * by_w, v - 0.1 * by_v


def expected(w: Any, v: Any, x: Any) -> list[Any]:
    """The same by the chain rule."""
    hidden = np.maximum(x @ w, 0)
    by_y = 2 * (hidden @ v - x) / x.size
    return [w - 0.1 * x.T @ ((by_y @ v.T) * (hidden > 0)), v - 0.1 * hidden.T @ by_y]


def test_a_function_lays_out_what_has_no_layout() -> None:
    function = sw.function(step, input_signature=[sw.TensorSpec(shape, "float32", AUTO) for shape in SHAPES])
    given = arrays()
    found = function(*given)
    for one, due in zip(found, expected(*given), strict=True):
        assert isinstance(one, sw.dtensor.DTensor)
        np.testing.assert_allclose(one.numpy(), due, rtol=1e-4, atol=1e-5)
    # What came out goes in again, as it is, and comes out like that.
    further = function(*found, given[2])
    assert [one.layout for one in further] == [one.layout for one in found]
    for one, due in zip(further, expected(found[0].numpy(), found[1].numpy(), given[2]), strict=True):
        np.testing.assert_allclose(one.numpy(), due, rtol=1e-4, atol=1e-5)
    function(*given)
    assert len(function.specialisations) == 2


def test_a_compiled_program_takes_plain_arrays() -> None:
    function = sw.function(step)
    compiled = function.trace(*[sw.TensorSpec(shape) for shape in SHAPES]).lay_out(MESH, memory_limit="1MB").compile()
    given = arrays()
    for one, due in zip(compiled(*given), expected(*given), strict=True):
        np.testing.assert_allclose(one.numpy(), due, rtol=1e-4, atol=1e-5)
    assert compiled.traced is not None
    assert compiled.ledger.sent_bytes == compiled.traced.partition().predicted_bytes


@pytest.mark.parametrize(
    ("what", "wrong"),
    [
        ("relayout", lambda: sw.relayout(np.ones(4), AUTO)),
        ("pack", lambda: sw.pack([np.ones(1)] * 4, AUTO)),
        ("Variable", lambda: sw.Variable(np.ones(4), layout=AUTO)),
        ("constraint", lambda: sw.function(lambda x: sw.constraint(x, AUTO))(np.ones(4))),
    ],
)
def test_elsewhere_a_layout_is_a_layout(what: str, wrong: Any) -> None:
    with pytest.raises(sw.ShardwrightError) as caught:
        wrong()
    assert isinstance(caught.value, ValueError)
    (found,) = caught.value.diagnostics
    assert found.code == "SW0584"
    assert found.message == f"{what}: Layout.auto(Mesh(data=2, model=2)) says only that the compiler is to choose"
    assert found.help == ("give it to a TensorSpec, for which a function is traced; for other values write the layout")


def test_it_is_of_any_rank_and_equal_to_itself_alone() -> None:
    assert AUTO.is_auto
    assert AUTO == sw.Layout.auto(MESH) != sw.Layout([], MESH)
    assert hash(AUTO) == hash(sw.Layout.auto(MESH))
    assert AUTO.for_rank(2) == AUTO.for_rank(2) != sw.Layout([None, None], MESH)
    assert not AUTO.is_replicated
    assert repr(AUTO) == repr(AUTO.for_rank(3)) == "Layout.auto(Mesh(data=2, model=2))"


def test_why(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Who asks for a reason is told that nobody gave the layout, and with which argument's dims it goes."""
    program = tmp_path / "program.mlir"
    program.write_text(
        "func.func public @main(%a: tensor<8x64xf32>, %b: tensor<64x2xf32>) -> tensor<8x2xf32> {\n"
        "  %0 = stablehlo.tanh %a : tensor<8x64xf32>\n"
        "  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : "
        "(tensor<8x64xf32>, tensor<64x2xf32>) -> tensor<8x2xf32>\n"
        "  return %1 : tensor<8x2xf32>\n}\n"
    )
    assert main(["run", str(program), "--auto", "x=4", "--memory-limit", "4kB", "--check"]) == 0
    assert "sent per device: 0 bytes" in capsys.readouterr().out
    assert main(["explain", str(program), "--auto", "x=4", "--why", "%a"]) == 0
    assert "%a is f32[8@x, 64], chosen automatically: rows over x" in capsys.readouterr().out


def test_values_are_computed_again_where_nothing_fits_otherwise(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(
        "func.func public @main(%a: tensor<64xf32>) -> tensor<64xf32> {\n"
        "  %0 = stablehlo.exponential %a : tensor<64xf32>\n"
        "  %1 = stablehlo.tanh %0 : tensor<64xf32>\n"
        "  %2 = stablehlo.sine %1 : tensor<64xf32>\n"
        "  %3 = stablehlo.cosine %2 : tensor<64xf32>\n"
        "  %4 = stablehlo.add %3, %1 : tensor<64xf32>\n"
        "  %5 = stablehlo.add %4, %0 : tensor<64xf32>\n"
        "  return %5 : tensor<64xf32>\n}\n"
    )
    # The argument and three more, each device an eighth; without it a fourth one.
    command = ["run", str(program), "--auto", "x=8", "--memory-limit", "128"]
    assert main(command) == 1
    found = capsys.readouterr().err
    assert "with recompute=True (values are computed again) each device holds 128 bytes at most, sends 0 and" in found
    assert main([*command, "--recompute", "--check"]) == 0


def test_a_limit_counts_what_a_sort_needs_beside_its_values(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What is sorted, what comes of it, and places of eight bytes for each element."""
    program = tmp_path / "program.mlir"
    program.write_text(
        "func.func public @main(%a: tensor<1024x8xf32>) -> tensor<1024x8xf32> {\n"
        '  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({\n'
        "  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
        "    %p = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "    stablehlo.return %p : tensor<i1>\n"
        "  }) : (tensor<1024x8xf32>) -> tensor<1024x8xf32>\n"
        "  return %0 : tensor<1024x8xf32>\n}\n"
    )
    command = ["price", str(program), "--auto", "x=8", "--memory-limit"]
    assert main([*command, "8192"]) == 1
    assert "SW0469" in capsys.readouterr().err
    assert main([*command, "16384", "--json"]) == 0
    assert 4 * 1024 * (1 + 1 + 2) <= json.loads(capsys.readouterr().out)["peak_bytes"] <= 16384


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--auto", "x4"], "shardwright price: argument --auto: 'x4' is not AXIS=SIZE,..., such as data=2,model=4"),
        (["--auto", "x=0"], "shardwright price: argument --auto: 'x=0' gives an axis no devices"),
        (["--memory-limit", "1GB"], "--memory-limit is for layouts to choose"),
        (["--recompute"], "--recompute is for layouts to choose"),
        (["--microbatches"], "--microbatches is for layouts to choose"),
        (["--auto", "x=4", "--recompute"], "--recompute is for what does not fit into a --memory-limit"),
        (["--auto", "x=4", "--microbatches"], "--microbatches is for what does not fit into a --memory-limit"),
        (
            ["--auto", "x=4", "--memory-limit", "much"],
            "shardwright price: argument --memory-limit: 'much' is no number",
        ),
    ],
)
def test_wrong_options(options: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text("func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n  return %a : tensor<8xf32>\n}\n")
    assert main(["price", str(program), *options]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["recompute", "microbatches"])
def test_what_does_nothing_without_a_limit_is_refused(name: str) -> None:
    asked: dict[str, Any] = {name: True}
    with pytest.raises(ValueError, match="SW0510") as caught:
        sw.function(sw.tanh).trace(sw.TensorSpec((8,))).lay_out(sw.Mesh(x=2), **asked)
    assert str(caught.value).split(": ", 1)[1] == (
        f"error[SW0510]: lay_out: {name}=True does nothing without a memory_limit\n"
        f'  help: give a limit, memory_limit="16GB", or leave {name} out'
    )


def test_a_topology_is_refused_where_bytes_decide() -> None:
    mesh = sw.Mesh(x=2)
    with pytest.raises(ValueError, match="SW0510") as caught:
        sw.function(sw.tanh).trace(sw.TensorSpec((8,))).lay_out(mesh, topology=sw.Topology.of(mesh))
    assert str(caught.value).split(": ", 1)[1] == (
        "error[SW0510]: lay_out: a topology says nothing where bytes decide\n"
        '  help: choose for objective="seconds", or leave topology out'
    )


def test_one_device_is_a_mesh_to_choose_over(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text("func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n  return %a : tensor<8xf32>\n}\n")
    assert main(["explain", str(program), "--auto", "x=1"]) == 0
    assert capsys.readouterr().out == "%a: f32[8]\nno collectives: nothing is sent\n"
