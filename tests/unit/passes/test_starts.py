"""Which arguments may lead: each class of those that share an axis, with the user's constraints."""

from __future__ import annotations

from shardwright.dialects.text.parsing import parse_module
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.propagation.starts import leaders

TEXT = """
dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %rows: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>,
    %columns: tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>,
    %bias: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>,
    %whole: tensor<8xf32, #dtensor.layout<@mesh, [{}]>>,
    %places: tensor<8xi32, #dtensor.layout<@mesh, [{"y"}]>>,
    %open: tensor<8x8xf32>
  ) -> tensor<8x8xf32> {
  %0 = stablehlo.exponential %open : tensor<8x8xf32>
  %1 = dtensor.constraint %0 : tensor<8x8xf32> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
  %2 = stablehlo.negate %1 : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
"""


def test_classes_that_share_an_axis_lead_with_the_constraints() -> None:
    program = build_program(parse_module(TEXT))
    constraint = program.numbers[program.nodes[1].op.results[0]]
    # Matrices and vectors of floats are split by x; the integers by y alone. What is whole or open leads nobody.
    assert leaders(program) == [frozenset({0, 1, constraint}), frozenset({2, constraint})]


def test_a_class_alone_has_nobody_to_lead() -> None:
    text = TEXT.replace('[{"x"}]', '[{"y"}]').replace('[{"y"}]>>,\n    %open', "[{}]>>,\n    %open")
    assert leaders(build_program(parse_module(text))) == []
