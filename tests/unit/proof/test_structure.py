"""The checker's walk: what is one but for sizes passes, every other edit is named."""

from __future__ import annotations

import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.proof.structure import same_structure

WHOLE = """
module {
  dtensor.mesh @mesh = <["x"=8, "y"=4]>
  func.func @main(
      %a: tensor<64x32xf32, #dtensor.layout<@mesh, [{"x":(1)2}, {"y"}]>>, %b: tensor<64x32xf32>, %p: tensor<i1>
  ) -> tensor<32x64xf32> {
    %c = stablehlo.constant dense<2.0> : tensor<64x32xf32>
    %0 = stablehlo.subtract %b, %c : tensor<64x32xf32>
    %1 = "stablehlo.if"(%p) ({
      %5 = stablehlo.exponential %0 : tensor<64x32xf32>
      stablehlo.return %5 : tensor<64x32xf32>
    }, {
      stablehlo.return %0 : tensor<64x32xf32>
    }) : (tensor<i1>) -> tensor<64x32xf32>
    %2 = stablehlo.slice %1 [0:32, 0:32] : (tensor<64x32xf32>) -> tensor<32x32xf32>
    %3 = stablehlo.concatenate %2, %2, dim = 1 : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x64xf32>
    return %3 : tensor<32x64xf32>
  }
}
"""

SMALL = (
    WHOLE.replace("64", "6")
    .replace("0:32", "0:3")
    .replace("32", "3")
    .replace('"x"=8', '"x"=4')
    .replace('"y"=4', '"y"=2')
).replace("f3", "f32")


def difference(*edits: tuple[str, str]) -> str | None:
    """What differs when the small program is edited."""
    text = SMALL
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    return same_structure(parse_module(WHOLE), parse_module(text))


def test_smaller_sizes_on_a_smaller_mesh_are_no_difference() -> None:
    assert difference() is None


@pytest.mark.parametrize(
    ("edits", "found"),
    [
        ([("subtract", "add")], "stablehlo.subtract became stablehlo.add"),
        ([("subtract %b, %c", "subtract %c, %b")], "stablehlo.subtract takes other values"),
        ([("dense<2.0>", "dense<3.0>")], "stablehlo.constant has value"),
        ([("[0:3, 0:3]", "[3:6, 0:3]")], "stablehlo.slice has start_indices"),
        ([('{"x":(1)2}', '{"x":(2)2}')], "func.func has"),
        ([('{"y"}', '{"x":(2)2}')], "func.func has"),
        ([('"y"=2', '"y"=1')], "dtensor.mesh has axes"),
        (
            [("%5 = stablehlo.exponential %0", "%5 = stablehlo.exponential %c")],
            "stablehlo.exponential takes other values",
        ),
        ([("return %5 :", "return %0 :")], "stablehlo.return takes other values"),
        ([("%b: tensor<6x3xf32>", "%b: tensor<6x3xf32> {jax.buffer_donor = true}")], "func.func has other properties"),
        ([("f32", "f64")], "func.func has"),
    ],
)
def test_every_other_edit_is_named(edits: list[tuple[str, str]], found: str) -> None:
    message = difference(*edits)
    assert message is not None
    assert message.startswith(found)


@pytest.mark.parametrize("small", ["2xf32>, %b: tensor<4xf32", "1xf32>, %b: tensor<1xf32", "0xf32>, %b: tensor<0xf32"])
def test_equal_sizes_stay_equal_and_more_than_one(small: str) -> None:
    texts = [f"func.func @main(%a: tensor<{sizes}>) {{ return }}" for sizes in ("8xf32>, %b: tensor<8xf32", small)]
    assert same_structure(*map(parse_module, texts)) is not None


def test_a_local_program_may_have_other_places() -> None:
    whole = """
    func.func @main() -> tensor<4xi32> {
      %c = stablehlo.constant dense<15> : tensor<4xi32>
      return %c : tensor<4xi32>
    }"""
    small = whole.replace("15", "7").replace("4x", "2x")
    assert same_structure(parse_module(whole), parse_module(small), local=True) is None
    assert same_structure(parse_module(whole), parse_module(small)) is not None
    real = small.replace("i32", "f32").replace("dense<7>", "dense<7.0>")
    assert same_structure(
        parse_module(whole.replace("i32", "f32").replace("15", "15.0")), parse_module(real), local=True
    )
