"""`chlo.scan`, in which JAX writes running sums for GPUs: its text, what is wrong with it, and its values by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Block, Region

import shardwright as sw
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import stablehlo
from shardwright.dialects.chlo import ScanOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.text.verify import verify_module
from shardwright.dialects.types import element_type_named, tensor

X = np.random.default_rng(0).integers(-4, 5, (8, 4)).astype(np.float32)
INIT = {0: np.arange(4, dtype=np.float32), 1: np.arange(8, dtype=np.float32)}


def text(body: str, dim: int, *, reverse: bool = False, layout: str = "", init: str = "") -> str:
    order = f"is_reverse = {str(reverse).lower()}"
    part = f"tensor<{8 if dim else 4}xf32>"
    return f"""
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%x: tensor<8x4xf32>{layout}, %i: {part}) -> (tensor<8x4xf32>, {part}) {{
  %zero = stablehlo.constant dense<{init or "0.0"}> : tensor<f32>
  %c = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> {part}
  %0:2 = chlo.scan(%x) inits({"%c" if init else "%i"}) dimension={dim} attributes {{is_associative = true, {order}}} {{
  ^bb0(%a: {part}, %b: {part}):
    {body.replace("T", part)}
  }} : (tensor<8x4xf32>, {part}) -> (tensor<8x4xf32>, {part})
  return %0#0, %0#1 : tensor<8x4xf32>, {part}
}}"""


def one(op: str) -> str:
    return f"%1 = stablehlo.{op} %a, %b : T\n    stablehlo.return %1, %1 : T, T"


def due(function: Callable[[Any, Any], Any], start: Any, dim: int, reverse: bool) -> tuple[Any, Any]:
    rows = list(np.moveaxis(X, dim, 0))
    found, carried = [], start
    for row in reversed(rows) if reverse else rows:
        carried = function(row, carried)
        found.append(carried)
    return np.stack(found[::-1] if reverse else found, dim), carried


@pytest.mark.every(3)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize(
    ("op", "function", "neutral"),
    [
        ("add", np.add, "0.0"),
        ("multiply", np.multiply, "1.0"),
        ("maximum", np.maximum, "0xFF800000"),
        ("minimum", np.minimum, "0x7F800000"),
    ],
)
def test_what_combines_is_a_window(
    op: str, function: Any, neutral: str, dim: int, reverse: bool, tmp_path: Path
) -> None:
    path = tmp_path / "scan.mlir"
    starts = {"": INIT[dim], neutral: np.full_like(INIT[dim], function.identity or 0)}
    if op in ("maximum", "minimum"):
        starts[neutral] = np.full_like(INIT[dim], -np.inf if op == "maximum" else np.inf)
    for init, start in starts.items():
        for layout in ("", ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'):
            path.write_text(text(one(op), dim, reverse=reverse, init=init, layout=layout))
            program = sw.load_mlir(path)
            assert "stablehlo.while" not in program.propagate().as_text()
            for found, expected in zip(
                program.compile()(X, INIT[dim]), due(function, start, dim, reverse), strict=True
            ):
                np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_anything_else_is_a_loop(dim: int, reverse: bool, tmp_path: Path) -> None:
    body = "%1 = stablehlo.subtract %a, %b : T\n    %2 = stablehlo.add %b, %b : T\n    stablehlo.return %2, %1 : T, T"
    rows, found, carried = list(np.moveaxis(X, dim, 0)), list[Any](), INIT[dim]
    for row in reversed(rows) if reverse else rows:
        found.append(carried * 2)
        carried = row - carried
    for layout in ("", ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'):
        path = tmp_path / "scan.mlir"
        path.write_text(text(body, dim, reverse=reverse, layout=layout))
        outputs, last = sw.load_mlir(path).compile()(X, INIT[dim])
        np.testing.assert_array_equal(outputs, np.stack(found[::-1] if reverse else found, dim))
        np.testing.assert_array_equal(last, carried)


def test_nothing_to_go_along(tmp_path: Path) -> None:
    path = tmp_path / "scan.mlir"
    path.write_text(text(one("add"), 0).replace("8x4", "0x4"))
    outputs, last = sw.load_mlir(path).compile()(X[:0], INIT[0])
    assert outputs.shape == (0, 4)
    np.testing.assert_array_equal(last, INIT[0])


def test_both_forms_are_read_and_one_is_written() -> None:
    pretty = print_module(parse_module(text(one("add"), 1, reverse=True), "scan.mlir"))
    assert "chlo.scan(%x) inits(%i) dimension=1 attributes {is_associative = true, is_reverse = true} {" in pretty
    assert print_module(parse_module(pretty, "scan.mlir")) == pretty
    generic = """
func.func @main(%x: tensor<8x4xf32>, %i: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %0:2 = "chlo.scan"(%x, %i) <{dimension = 0 : i64,
      operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %1 = stablehlo.add %a, %b : tensor<4xf32>
    stablehlo.return %1, %1 : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<8x4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<8x4xf32>, tensor<4xf32>
}"""
    assert "chlo.scan(%x) inits(%i) dimension=0 {" in print_module(parse_module(generic, "scan.mlir"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("dimension=0", "dimension=2", "needs inputs that have dim 2"),
        ("%a: tensor<4xf32>", "%a: tensor<4xf64>", "the body must take tensor<4xf32>, tensor<4xf32>"),
        (
            "stablehlo.return %1, %1 : tensor<4xf32>, tensor<4xf32>",
            "stablehlo.return %1 : tensor<4xf32>",
            "must return",
        ),
    ],
)
def test_what_is_wrong_is_said(old: str, new: str, said: str) -> None:
    source = text(one("add"), 0).replace("stablehlo.add %a, %b", "stablehlo.add %b, %b")
    assert old in source
    module = parse_module(source.replace(old, new), "scan.mlir")
    with pytest.raises(ShardwrightError, match=said):
        verify_module(module)


def test_it_can_be_built() -> None:
    element = element_type_named("float32")
    block = Block(arg_types=[tensor((4,), element)] * 2)
    total = stablehlo.AddOp(*block.args)
    block.add_ops([total, stablehlo.ReturnOp(total.result, total.result)])
    outer = Block(arg_types=[tensor((8, 4), element), tensor((4,), element)])
    op = ScanOp([outer.args[0]], [outer.args[1]], 0, Region(block))
    op.verify()
    assert [result.type for result in op.results] == [tensor((8, 4), element), tensor((4,), element)]
    assert (op.dim, op.reverse) == (0, False)
