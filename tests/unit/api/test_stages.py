"""The stages of a program: each prints, parses back, and leads to the next; text from elsewhere gives the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.text.verify import verify_module
from shardwright.passes.stages import stage_of, verify_recorded_stage

MESH = sw.Mesh([("batch", 4), ("model", 2)])
RNG = np.random.default_rng(3)
X, UP, DOWN = (RNG.standard_normal(shape).astype("float32") for shape in ((16, 32), (32, 64), (64, 8)))


def mlp(x: Any, up: Any, down: Any) -> Any:
    """Two layers."""
    return sw.nn.relu(x @ up) @ down


def arguments() -> tuple[sw.DTensor, sw.DTensor, sw.DTensor]:
    """Batches over one axis, hidden units over the other."""
    return (
        sw.relayout(X, sw.Layout(["batch"], MESH)),
        sw.relayout(UP, sw.Layout([None, "model"], MESH)),
        sw.relayout(DOWN, sw.Layout(["model"], MESH)),
    )


def stages() -> list[Any]:
    """The program in each stage that has a module."""
    traced = sw.function(mlp).trace(*arguments())
    propagated = traced.propagate()
    return [traced, propagated, propagated.partition()]


@pytest.mark.parametrize("place", range(3), ids=["traced", "propagated", "local"])
def test_each_stage_verifies_prints_and_parses_back(place: int) -> None:
    stage = stages()[place]
    assert stage_of(stage.module) == ["traced", "propagated", "local"][place]
    for text in (stage.as_text(), stage.as_text(debuginfo=True)):
        module = parse_module(text, "stage.mlir")
        verify_module(module)
        verify_recorded_stage(module)
        assert print_module(module) == stage.as_text()


def test_stages_leave_earlier_ones_alone() -> None:
    traced = sw.function(mlp).trace(*arguments())
    text = traced.as_text()
    propagated = traced.propagate()
    later = propagated.as_text()
    propagated.partition().compile()
    assert (traced.as_text(), propagated.as_text()) == (text, later)


def test_every_operation_is_located_in_this_file() -> None:
    module = sw.function(mlp).trace(*arguments()).module
    inside = [op for op in module.walk() if op.name.startswith("stablehlo.")]
    assert len(inside) > 3
    code = mlp.__code__
    for op in inside:
        assert f'"{__file__}":{code.co_firstlineno + 2}:' in str(op.location)


def test_megatron_mlp_sends_one_reduction() -> None:
    # Column-split, then row-split weights: the hidden units never travel, the result is summed over one axis.
    partitioned = sw.function(mlp).trace(*arguments()).partition()
    assert [row.axes for row in partitioned.predicted] == [("model",)]
    whole = 16 * 8 * 4 // 4  # each group of devices holds a quarter of the rows, as float32
    assert partitioned.predicted_bytes in (whole // 2, whole)
    assert all(row.reasons and row.sources for row in partitioned.predicted)


def test_compiled_program_takes_global_arrays_and_distributed_tensors() -> None:
    partitioned = sw.function(mlp).trace(*arguments()).partition()
    compiled = partitioned.compile()
    expected = np.maximum(X @ UP, 0) @ DOWN
    for given in (arguments(), (X, UP, DOWN)):
        result = compiled(*given)
        assert isinstance(result, sw.DTensor)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-4)
        assert compiled.ledger.sent_bytes == partitioned.predicted_bytes
    assert compiled.as_text() == compiled.source
    assert "def main(" in compiled.source
    assert compiled.peak_bytes > 0


def test_layouts_say_where_they_come_from() -> None:
    rows = sw.function(mlp).trace(*arguments()).propagate().layouts
    assert [row.layout for row in rows if row.op == "argument"] == [
        "f32[16@batch, 32]",
        "f32[32, 64@model]",
        "f32[64@model, 8]",
    ]
    assert all(row.chain for row in rows)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((X, UP), "was compiled for other arguments"),
        ((X, UP, "down"), "was compiled for other arguments"),
        ((X, UP, DOWN[:, :4]), r"argument down is f32\[64, 4\]"),
        ((X, UP, DOWN.astype("float64")), r"argument down is f64\[64, 8\]"),
        ((X, UP, sw.relayout(DOWN, sw.Layout(["batch"], MESH))), r"argument down is f32\[64@batch, 8\]"),
    ],
)
def test_compiled_program_refuses_other_arguments(given: Any, words: str) -> None:
    compiled = sw.function(mlp).trace(*arguments()).compile()
    with pytest.raises(TypeError, match=rf"(?s)SW0508.*{words}"):
        compiled(*given)


def test_a_compiled_program_loses_no_mask() -> None:
    compiled = sw.function(lambda x: x * 2).trace(sw.TensorSpec((2,), "float32")).compile()
    with pytest.raises(TypeError, match=r"SW0507\]: argument x takes no masked arrays"):
        compiled(np.ma.masked_array(np.ones(2, "float32"), [True, False]))


TEXT = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %rows: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %1: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<8x6xf32> {
  %2 = stablehlo.dot_general %rows, %1, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}
"""


def test_text_from_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(TEXT)
    traced = sw.load_mlir(path)
    assert [str(parameter) for parameter in traced.interface.parameters] == [
        "rows: f32[8@x, 4]",
        "arg1: f32[4, 6@y]",
    ]
    left, right = np.ones((8, 4), "float32"), np.arange(24, dtype="float32").reshape(4, 6)
    result = traced.compile()(left, right)
    assert repr(result).endswith(" f32[8@x, 6@y], Mesh(x=2, y=2))")
    assert np.array_equal(result, left @ right)
    with pytest.raises(TypeError, match="SW0508"):
        traced.compile()(left)


def test_arguments_without_a_layout_get_one(tmp_path: Path) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(TEXT.replace(' {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}', ""))
    traced = sw.load_mlir(path)
    assert traced.interface.parameters[1].layout is None
    compiled = traced.compile()
    chosen = compiled.interface.parameters[1].layout
    assert chosen is not None
    left, right = np.ones((8, 4), "float32"), np.arange(24, dtype="float32").reshape(4, 6)
    assert np.array_equal(compiled(left, sw.relayout(right, chosen)), left @ right)


def test_text_without_a_mesh_runs_on_one_device(tmp_path: Path) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(
        "func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
        "  return %x, %x : tensor<2xf32>, tensor<2xf32>\n}\n"
    )
    first, second = sw.load_mlir(path).compile()(np.float32([1, 2]))
    assert isinstance(first, np.ndarray)
    assert first.tolist() == second.tolist() == [1, 2]


def test_callbacks_are_left_out_by_choice(tmp_path: Path) -> None:
    path = tmp_path / "print.mlir"
    call = "stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {has_side_effect = true} : (tensor<2xf32>) -> ()"
    path.write_text(
        f"func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {{\n{call}\nreturn %x : tensor<2xf32>\n}}"
    )
    with pytest.raises(sw.ShardwrightError, match=r"SW0431\]: a callback calls Python back"):
        sw.load_mlir(path).compile()
    x = np.float32([1, 2])
    np.testing.assert_array_equal(np.asarray(sw.load_mlir(path, callbacks="drop").compile()(x)), x)
    way: Any = "keep"
    with pytest.raises(ValueError, match=r"SW0436\]: callbacks='keep' says nothing\n  help: 'drop' leaves them out"):
        sw.load_mlir(path, callbacks=way)


def test_text_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"SW0702.*the text of a program was given where the path"):
        sw.load_mlir("module {\n}\n")
    with pytest.raises(ValueError, match=r"SW0702.*cannot read 'a\\x00b': a name has no NUL"):
        sw.load_mlir("a\0b")
    with pytest.raises(ValueError, match="SW0702"):
        sw.load_mlir(tmp_path / "missing.mlir")
    path = tmp_path / "helper.mlir"
    path.write_text("func.func private @helper() {\n  return\n}\n")
    with pytest.raises(ValueError, match="SW0716"):
        sw.load_mlir(path)
    path.write_text("func.func @main(%x: tensor<2xf32) {\n  return\n}\n")
    with pytest.raises(sw.ShardwrightError, match=r"helper.mlir:1:\d+: error\[SW02"):
        sw.load_mlir(path)


def test_each_stage_is_one_line_in_interactive_use() -> None:
    traced, propagated, partitioned = stages()
    head = "(mlp(x: f32[16@batch, 32], up: f32[32, 64@model], down: f32[64@model, 8]), Mesh(batch=4, model=2), "
    assert repr(traced).startswith("Traced" + head)
    assert repr(traced).endswith(" operations)")
    assert repr(propagated).startswith("Propagated" + head)
    sent = partitioned.predicted_bytes
    assert repr(partitioned) == f"Partitioned{head}1 collective, {sent} bytes sent per device)"
    compiled = partitioned.compile()
    assert repr(compiled).startswith("Compiled" + head)
    compiled(*arguments())
    assert repr(compiled.ledger) == f"Ledger({sent} bytes sent per device in 1 messages)"
    many = sw.function(lambda *args: args[0]).trace(*[X[:1]] * 6)
    assert ", and 2 more), Mesh(), " in repr(many)


def test_stages_are_written_for_others() -> None:
    mesh = sw.Mesh(x=2)
    x = sw.relayout(np.ones((4, 2), np.float32), sw.Layout([None, "x"], mesh))
    propagated = sw.function(lambda x: sw.sum(x, axis=1)).trace(x).propagate()
    before = propagated.as_text()
    assert '#sdy.sharding<@mesh, [{}, {"x"}]>' in propagated.to_sdy()
    partitioned = propagated.partition()
    assert "sdy.manual_computation" in partitioned.to_stablehlo()
    bare = partitioned.to_stablehlo(bare=True)
    assert "func.func public @main(%x: tensor<4x1xf32>) -> tensor<4xf32>" in bare
    assert '"stablehlo.all_reduce"' in bare
    assert propagated.as_text() == before
