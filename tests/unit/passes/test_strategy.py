"""Strategies of single ops: which there are, and what they cost by the closed forms."""

from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

import shardwright as sw
from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.axes import Axis
from shardwright.layout.planning.topology import Link, Topology
from shardwright.passes.choosing.objective import TimedStrategist
from shardwright.passes.program import Node, Program
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.propagation.strategy import Strategist, Strategy

X, Y = (Axis("x"),), (Axis("y"),)


def product(lhs: str, rhs: str, result: str) -> tuple[Program, Strategist, Node]:
    """The product of 64x128 and 128x32 matrices of f32 on a 4x2 mesh, with these layouts."""
    text = f"""
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(
    %a: tensor<64x128xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{lhs}]>}},
    %b: tensor<128x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{rhs}]>}}
  ) -> (tensor<64x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{result}]>}}) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}}"""
    module: ModuleOp = parse_module(text, "product.mlir")
    run_pipeline(module, ["import", "propagate-layouts"])
    program = build_program(module)
    return program, Strategist(program), next(node for node in program.nodes if node.rule.heavy)


def chosen(lhs: str, rhs: str, result: str) -> tuple[float, Strategy]:
    program, strategist, node = product(lhs, rhs, result)
    return strategist.best(node, [spec.dims for spec in program.layouts()])


def test_layouts_that_agree_cost_nothing() -> None:
    cost, strategy = chosen('{"x"}, {}', '{}, {"y"}', '{"x"}, {"y"}')
    assert cost == 0
    assert strategy.degree == 8
    assert (strategy.operands, strategy.results) == (((X, ()), ((), Y)), ((X, Y),))


def test_a_split_contraction_leaves_partial_sums() -> None:
    cost, strategy = chosen('{}, {"x"}', '{"x"}, {}', "{}, {}")
    assert (strategy.partial, strategy.kind) == (X, "sum")
    # An all-reduce of the result: 2 * 3/4 of 64 * 32 * 4 bytes.
    assert cost == 2 * 3 / 4 * 64 * 32 * 4


def test_the_smaller_operand_is_gathered() -> None:
    cost, strategy = chosen('{"x"}, {}', '{}, {"x"}', '{"x"}, {}')
    assert strategy.operands == ((X, ()), ((), ()))
    # Three quarters of 128 * 32 * 4 bytes, against 64 * 128 * 4 for the other one.
    assert cost == 3 / 4 * 128 * 32 * 4


def test_at_an_even_price_more_devices_share_the_work() -> None:
    # Nothing is sent either way: the operands are sliced before the product, or the product after it.
    cost, strategy = chosen("{}, {}", "{}, {}", '{"x"}, {}')
    assert (cost, strategy.degree) == (0, 4)


def test_among_equals_the_first_factor_of_the_rule_is_split() -> None:
    # A square product, its operands split by rows and by columns: either way one of them is gathered, and the result.
    # What is chosen must not depend on chance.
    text = """
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}"""
    program = build_program(parse_module(text, "square.mlir"))
    cost, strategy = Strategist(program).best(program.nodes[0], [(X, ()), ((), X), ((), ())])
    assert cost == 2 * 3 / 4 * 64 * 64 * 4
    assert strategy.operands == ((X, ()), ((), ()))


def test_an_axis_that_two_tensors_have_is_never_left_out() -> None:
    program, strategist, node = product('{"x"}, {}', '{"x"}, {}', "{}, {}")
    dims = [spec.dims for spec in program.layouts()]
    assert all(option.degree >= 4 for option in strategist.options(node, dims))


def test_neighbours_move_one_axis() -> None:
    program, strategist, node = product('{"x"}, {}', '{}, {"y"}', '{"x"}, {"y"}')
    _, strategy = strategist.best(node, [spec.dims for spec in program.layouts()])
    neighbours = strategist.neighbours(node, strategy)
    # Two axes, each to either of the two other factors.
    assert len(neighbours) == 4
    assert {option.degree for option in neighbours} == {8}
    # A factor that an axis has left is not split, and not named.
    assert all(axes for option in neighbours for _, axes in option.factors)


@pytest.mark.parametrize(("rows", "splits"), [(8, True), (6, False)])
def test_a_dim_that_does_not_divide_is_not_split(rows: int, splits: bool) -> None:
    text = f"""
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %a: tensor<{rows}x8xf32>, %b: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}
  ) -> tensor<{rows}x8xf32> {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<{rows}x8xf32>, tensor<8x8xf32>) -> tensor<{rows}x8xf32>
  return %0 : tensor<{rows}x8xf32>
}}"""
    module = parse_module(text, "uneven.mlir")
    run_pipeline(module, ["import", "propagate-layouts"])
    program = build_program(module)
    strategist = Strategist(program)
    node = next(node for node in program.nodes if node.rule.heavy)
    _, strategy = strategist.best(node, [spec.dims for spec in program.layouts()])
    rows_factor = node.rule.operands[0][0][0]
    moved = {factor for option in strategist.neighbours(node, strategy) for factor, _ in option.factors}
    assert (rows_factor in moved) == splits


@pytest.mark.slow
def test_with_many_axes_a_heavy_op_still_keeps_those_that_it_must() -> None:
    # Ten axes over two factors are too many assignments to try them all. All ten split the rows of %a and the
    # columns of %b: none of them may be left out.
    names = [f"a{index}" for index in range(10)]
    axes = ", ".join(f'"{name}"' for name in names)
    sizes = ", ".join(f'"{name}"=2' for name in names)
    text = f"""
sdy.mesh @mesh = <[{sizes}]>
func.func public @main(
    %a: tensor<1024x1024xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{{axes}}}, {{}}]>}},
    %b: tensor<1024x1024xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{{axes}}}]>}}
  ) -> tensor<1024x1024xf32> {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}}"""
    module = parse_module(text, "many.mlir")
    run_pipeline(module, ["import", "propagate-layouts"])
    program = build_program(module)
    strategist = Strategist(program)
    node = next(node for node in program.nodes if node.rule.heavy)
    options = strategist.options(node, [spec.dims for spec in program.layouts()])
    assert options
    assert {option.degree for option in options} == {1024}


@pytest.mark.parametrize(("named", "crosses"), [("(1)2", False), ("(1)3", True)])
def test_parts_that_cross_the_users_say_nothing(named: str, crosses: bool) -> None:
    # Two rows of three by an axis of six: cut after 2, which crosses a cut after 3.
    text = f"""
dtensor.mesh @mesh = <["x"=6]>
func.func public @main(
    %a: tensor<2x3xf32>, %b: tensor<6xf32, #dtensor.layout<@mesh, [{{"x":{named}}}]>>
  ) -> tensor<6xf32> {{
  %0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}}"""
    program = build_program(parse_module(text, "crossing.mlir"))
    found, exact = Strategist(program).project(program.nodes[0].rule, 1, (X,))
    parts = {0: (Axis("x", 1, 2),), 1: (Axis("x", 2, 3),)}
    assert (found, exact) == (({}, False) if crosses else (parts, True))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (["x"], ["y"]),
        (["x"], ["x:(1)2"]),
        (["x:(2)2"], [None]),
        ([("x", "y")], [("y", "x")]),
        ([("x", "y")], ["y"]),
        ([("y", "x")], ["y"]),
    ],
    ids=str,
)
def test_seconds_of_relayouts_are_those_that_price_says(source: list[Any], target: list[Any]) -> None:
    """Layouts are chosen by what is priced in the end: along parts of axes, around, in rounds."""
    mesh = sw.Mesh(x=4, y=2)
    on = Topology({"x": Link(1e-6, 1e9), "y": Link(2e-6, 3e9)}, flops=1e12, memory=1e12)
    before, after = sw.Layout(source, mesh), sw.Layout(target, mesh)
    x = sw.TensorSpec((64,), "float32", layout=before)
    stage = sw.function(lambda x: sw.relayout(x, after)).trace(x).partition()
    assert stage.predicted_bytes
    text = """
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.negate %a : tensor<64xf32>
  return %0 : tensor<64xf32>
}"""
    program = build_program(parse_module(text, "negate.mlir"))
    strategist = TimedStrategist(program, on, together=False)
    found = strategist.move(0, before.for_rank(1).spec.dims, after.for_rank(1).spec.dims)
    assert found / 3e9 == pytest.approx(stage.price(on).collective_seconds)


@pytest.mark.parametrize(("flops", "devices"), [(1e12, 1), (1e3, 2)])
def test_who_counts_seconds_may_multiply_on_all_devices_alike(flops: float, devices: int) -> None:
    """Two columns and two rows are 1 KiB, what they make is 16: to sum that takes longer, unless devices are slow."""
    text = """
dtensor.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<64x2xf32>, %b: tensor<2x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<64x2xf32>, tensor<2x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}"""
    program = build_program(parse_module(text, "outer.mlir"))
    dims = [((), X), (X, ()), ((), ())]
    on = Topology({"x": Link(1e-9, 1e9)}, flops=flops, memory=1e12)
    assert TimedStrategist(program, on, together=False).best(program.nodes[0], dims)[1].degree == devices
    assert Strategist(program).best(program.nodes[0], dims)[1].degree == 2
