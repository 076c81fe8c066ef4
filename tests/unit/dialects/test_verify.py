"""Verification: each op's rules with its place, and definitions before uses."""

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import f32

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.stablehlo import NegateOp
from shardwright.dialects.text.locations import where
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.verify import verify_dominance, verify_module
from shardwright.dialects.types import tensor

F = "tensor<4x8xf32>"
ARGUMENTS = (
    f"%a: {F}, %b: tensor<4xf32>, %i: tensor<4x8xi32>, %p: tensor<4x8xi1>, %s: tensor<f32>, "
    "%c: tensor<4x8xcomplex<f32>>"
)


def module_of(*lines: str):
    body = "\n".join(lines)
    return parse_module(f"func.func @main({ARGUMENTS}) {{\n{body}\nreturn\n}}", "f.mlir")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"stablehlo.add %a, %b : ({F}, tensor<4xf32>) -> {F}", "operand shapes differ: 4x8, 4"),
        (f"stablehlo.add %a, %i : ({F}, tensor<4x8xi32>) -> {F}", "operand element types differ"),
        (f"stablehlo.negate %a : ({F}) -> tensor<8x4xf32>", "the result must be tensor<4x8xf32>, not tensor<8x4xf32>"),
        ("stablehlo.sine %i : tensor<4x8xi32>", "elements must be floats or complex numbers, not i32"),
        (f"stablehlo.popcnt %a : {F}", "elements must be integers, not f32"),
        ("stablehlo.abs %c : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>", "must be tensor<4x8xf32>"),
        (f"stablehlo.is_finite %a : ({F}) -> {F}", "must be tensor<4x8xi1>"),
        (f"stablehlo.compare GT, %a, %a, SIGNED : ({F}, {F}) -> tensor<4x8xi1>", "SIGNED does not order"),
        (f"stablehlo.compare GT, %a, %a : ({F}, {F}) -> {F}", "must be tensor<4x8xi1>"),
        (f"stablehlo.select %i, %a, %a : tensor<4x8xi32>, {F}", "predicate's elements must be i1"),
        ("stablehlo.select %p, %b, %b : tensor<4x8xi1>, tensor<4xf32>", "predicate must be a scalar or 4"),
        (f"stablehlo.clamp %b, %a, %s : (tensor<4xf32>, {F}, tensor<f32>) -> {F}", "a bound must be a scalar"),
        (f"stablehlo.convert %a : ({F}) -> tensor<8xbf16>", "must be tensor<4x8xbf16>"),
        (f"stablehlo.bitcast_convert %a : ({F}) -> tensor<4x8xf64>", "the last dim must hold the 2 parts"),
        (f"stablehlo.bitcast_convert %a : ({F}) -> tensor<4x8xi16>", "must be tensor<4x8x2xi16>"),
        (f"stablehlo.reduce_precision %a, format = e0m3 : {F}", "at least one exponent bit"),
        (f"stablehlo.iota dim = 2 : {F}", "iota dimension 2 is out of range for rank 2"),
        ("stablehlo.iota dim = 0 : tensor<4xi1>", "elements must be numbers"),
        (f"stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> {F}", "operand dim 0 has 4 elements"),
        (f"stablehlo.broadcast_in_dim %b, dims = [] : (tensor<4xf32>) -> {F}", "broadcast_dimensions has 0 entries"),
        (f"stablehlo.broadcast_in_dim %a, dims = [0, 0] : ({F}) -> {F}", "name a dim twice"),
        (f"stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<4xf32>) -> {F}", "out of range"),
        (f"stablehlo.reshape %a : ({F}) -> tensor<33xf32>", "has 32 elements, but 33 has 33"),
        (f"stablehlo.transpose %a, dims = [0, 0] : ({F}) -> {F}", "name a dim twice"),
        (f"stablehlo.transpose %a, dims = [0] : ({F}) -> {F}", "permutation has 1 entries for rank 2"),
        (f"stablehlo.slice %a [0:5, 0:8] : ({F}) -> tensor<5x8xf32>", "slice 0:5 of dim 0 does not fit its 4"),
        (f"stablehlo.slice %a [0:4:0, 0:8] : ({F}) -> {F}", "stride 0 of dim 0"),
        (f"stablehlo.concatenate %a, %b, dim = 0 : ({F}, tensor<4xf32>) -> {F}", "operands differ outside dim 0"),
        (f"stablehlo.concatenate %a, dim = 2 : ({F}) -> {F}", "dimension 2 is out of range"),
        (f"stablehlo.pad %a, %b, low = [0, 0], high = [0, 0], interior = [0, 0] : ({F}, tensor<4xf32>) -> {F}",
         "the padding value must be tensor<f32>"),
        (f"stablehlo.pad %a, %s, low = [-5, 0], high = [0, 0], interior = [0, 0] : ({F}, tensor<f32>) -> {F}",
         "leaves dim 0 with -1 elements"),
        (f"stablehlo.pad %a, %s, low = [0, 0], high = [0, 0], interior = [-1, 0] : ({F}, tensor<f32>) -> {F}",
         "interior padding -1"),
        (f"stablehlo.reverse %a, dims = [2] : {F}", "reversed dimension 2 is out of range"),
        (f"stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : ({F}, {F}) -> {F}",
         "contracting dimension sizes must match: lhs dim 1 has 8, rhs dim 0 has 4"),
        (f"stablehlo.dot_general %a, %a, contracting_dims = [1] x [] : ({F}, {F}) -> {F}", "must pair up"),
        (f"stablehlo.dot_general %a, %a, contracting_dims = [7] x [0] : ({F}, {F}) -> {F}", "lhs dimension 7"),
        (f"stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [0] x [0] : ({F}, {F}) -> {F}",
         "name a dim twice"),
        (f"stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : ({F}, {F}) -> {F}", "must be tensor<4x4xf32>"),
        (f"stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [2] : ({F}, tensor<f32>) -> {F}",
         "reduced dimension 2"),
        (f"stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : ({F}, tensor<f32>) -> {F}",
         "the result must be tensor<4xf32>"),
        (f"stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : ({F}, tensor<4xf32>)"
         " -> tensor<4xf32>", "initial value 0 must be tensor<f32>"),
        (f'sdy.sharding_constraint %a <@mesh, [{{"x"}}]> : {F}', "the sharding has 1 dims, but the tensor has 2"),
    ],
)  # fmt: skip
def test_op_that_breaks_its_rules(line, message):
    module = module_of(f"%0 = {line}")
    with pytest.raises(ShardwrightError) as caught:
        verify_module(module)
    (diagnostic,) = caught.value.diagnostics
    name = line.split(" ")[0].split("(")[0]
    assert diagnostic.code == "SW0302"
    assert str(diagnostic.location) == "f.mlir:2:6"
    assert diagnostic.message.startswith(f"'{name}' op ")
    assert message in diagnostic.message
    assert not getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%2 = stablehlo.add %x, %x : tensor<f32>\nstablehlo.return %2, %2 : tensor<f32>, tensor<f32>", "of 1 scalars"),
        ("stablehlo.return %i : tensor<4x8xi32>", "the body must return tensor<f32>, not tensor<4x8xi32>"),
    ],
)
def test_body_of_a_reduction(body, message):
    module = module_of(
        f"%0 = stablehlo.reduce(%a init: %s) across dimensions = [1] : ({F}, tensor<f32>) -> tensor<4xf32>",
        f"reducer(%x: tensor<f32>, %y: tensor<f32>) {{\n{body}\n}}",
    )
    with pytest.raises(ShardwrightError, match=message):
        verify_module(module)


@pytest.mark.parametrize(
    "body",
    [
        "%2 = stablehlo.add %x, %s : tensor<f32>\nstablehlo.return %2 : tensor<f32>",
        "stablehlo.return %s : tensor<f32>",
    ],
)
def test_body_of_a_reduction_may_read_from_outside(body):
    verify_module(
        module_of(
            f"%0 = stablehlo.reduce(%a init: %s) across dimensions = [1] : ({F}, tensor<f32>) -> tensor<4xf32>",
            f"reducer(%x: tensor<f32>, %y: tensor<f32>) {{\n{body}\n}}",
        )
    )


def test_body_of_a_reduction_may_hold_constants():
    body = "%k = stablehlo.constant dense<1.0> : tensor<f32>\n%2 = stablehlo.add %x, %k : tensor<f32>"
    verify_module(
        module_of(
            f"%0 = stablehlo.reduce(%a init: %s) across dimensions = [1] : ({F}, tensor<f32>) -> tensor<4xf32>",
            f"reducer(%x: tensor<f32>, %y: tensor<f32>) {{\n{body}\nstablehlo.return %2 : tensor<f32>\n}}",
        )
    )


def test_all_faults_come_at_once():
    module = module_of("%0 = stablehlo.popcnt %a : tensor<4x8xf32>", "%1 = stablehlo.sine %i : tensor<4x8xi32>")
    with pytest.raises(ShardwrightError) as caught:
        verify_module(module)
    assert [diagnostic.location.line for diagnostic in caught.value.diagnostics] == [2, 3]


def test_missing_property():
    module = module_of(f'%0 = "stablehlo.transpose"(%a) : ({F}) -> {F}')
    with pytest.raises(ShardwrightError, match=r"f.mlir:2:6: error\[SW0302\]: 'stablehlo.transpose' op .*permutation"):
        verify_module(module)


def test_block_without_terminator():
    with pytest.raises(ShardwrightError, match=r"'func\.func' op has a block without a terminator"):
        verify_module(parse_module("func.func @main(%x: tensor<4xf32>) {\n}"))
    with pytest.raises(ShardwrightError, match=r"'stablehlo\.negate' op ends its block, but is no terminator"):
        verify_module(parse_module("func.func @main(%x: tensor<f32>) {\n%0 = stablehlo.negate %x : tensor<f32>\n}"))


def test_an_op_that_ends_its_block_is_not_excused_by_one_like_it():
    lines = "%0 = stablehlo.negate %x : tensor<f32>\n%1 = stablehlo.negate %0 : tensor<f32>"
    with pytest.raises(ShardwrightError, match="ends its block, but is no terminator") as caught:
        verify_module(parse_module(f"func.func @main(%x: tensor<f32>) {{\n{lines}\n}}", "f.mlir"))
    assert [diagnostic.location.line for diagnostic in caught.value.diagnostics] == [3]


def test_ops_that_are_alike_stand_together():
    module = module_of(
        "%0 = stablehlo.negate %a : tensor<4x8xf32>",
        "%1 = stablehlo.negate %i : tensor<4x8xi32>",
        "%2 = stablehlo.negate %0 : tensor<4x8xf32>",
        "%3 = stablehlo.sine %a : tensor<4x8xf32>",
    )
    found = [
        [str(where(op)) for op in alike.ops] for alike in verify_module(module) if "stablehlo" in alike.ops[0].name
    ]
    assert found == [["f.mlir:2:6", "f.mlir:4:6"], ["f.mlir:3:6"], ["f.mlir:5:6"]]


def test_each_of_ops_that_are_alike_is_at_fault():
    faulty = ["stablehlo.popcnt %a : tensor<4x8xf32>", "stablehlo.sine %i : tensor<4x8xi32>"] * 2
    with pytest.raises(ShardwrightError) as caught:
        verify_module(module_of(*(f"%{place} = {line}" for place, line in enumerate(faulty))))
    assert [diagnostic.location.line for diagnostic in caught.value.diagnostics] == [2, 3, 4, 5]


def test_a_fault_does_not_print_the_module():
    lines = [f"%{index} = stablehlo.popcnt %a : tensor<4x8xf32>" for index in range(500)]
    module = module_of(*lines)
    with pytest.raises(ShardwrightError) as caught:
        verify_module(module)
    assert len(caught.value.diagnostics) == 500


def test_layouts_are_ignored():
    layout = '#dtensor.layout<@mesh, [{"x"}, {}]>'
    module = parse_module(
        f"""
        dtensor.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<4x8xf32, {layout}>, %b: tensor<4x8xf32>) {{
          %0 = stablehlo.add %a, %b : (tensor<4x8xf32, {layout}>, tensor<4x8xf32>) -> tensor<4x8xf32>
          %1 = stablehlo.add %a, %a : tensor<4x8xf32, {layout}>
          return
        }}
        """
    )
    verify_module(module)


def test_use_before_definition():
    module = module_of("%1 = stablehlo.negate %0 : tensor<4x8xf32>", "%0 = stablehlo.negate %a : tensor<4x8xf32>")
    with pytest.raises(ShardwrightError) as caught:
        verify_dominance(module)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "SW0303"
    assert str(diagnostic.location) == "f.mlir:2:6"
    assert [str(label) for label in diagnostic.labels] == ["f.mlir:3:6: it is defined here"]


def test_value_of_a_closed_region():
    module = module_of(
        f"%0 = stablehlo.reduce(%a init: %s) across dimensions = [1] : ({F}, tensor<f32>) -> tensor<4xf32>",
        "reducer(%x: tensor<f32>, %y: tensor<f32>) { stablehlo.return %x : tensor<f32> }",
        "%1 = stablehlo.negate %s : tensor<f32>",
    )
    verify_module(module)
    reduce = module.body.block.first_op.body.block.first_op
    reduce.next_op.operands[0] = reduce.body.block.args[0]
    with pytest.raises(ShardwrightError, match="not defined before it"):
        verify_module(module)


def test_operand_outside_the_module():
    module = module_of("%0 = stablehlo.negate %a : tensor<4x8xf32>")
    stray = test.TestOp.create(result_types=[tensor((4, 8), f32)])
    module.body.block.first_op.body.block.first_op.operands[0] = stray.results[0]
    with pytest.raises(ShardwrightError, match="not defined before it"):
        verify_module(module)


def test_value_of_another_function():
    module = parse_module(
        "func.func @f(%x: tensor<f32>) { return }\n"
        "func.func @g(%x: tensor<f32>) {\n%0 = stablehlo.negate %x : tensor<f32>\nreturn\n}"
    )
    first, second = module.body.block.ops
    second.body.block.first_op.operands[0] = first.body.block.args[0]
    with pytest.raises(ShardwrightError, match="not defined before it"):
        verify_module(module)


def test_a_constructors_fault_is_the_callers():
    stray = test.TestOp.create(result_types=[tensor((4,), f32)])
    assert NegateOp(stray).result.type == tensor((4,), f32)
