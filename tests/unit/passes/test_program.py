"""`Program`: numbers, bytes and free values; errors for what cannot be partitioned."""

import pytest

from shardwright.compiler.pipelines import run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes.program import entry_function, the_mesh
from shardwright.passes.propagation.numbering import build_program

TEXT = """
dtensor.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x8xbf16> {
  %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %t = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.add %a, %c : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.add %0, %0 : tensor<4x8xf32>
  %2 = stablehlo.convert %1 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %2 : tensor<4x8xbf16>
}
"""


def test_values_are_numbered_in_order() -> None:
    program = build_program(parse_module(TEXT))
    assert [node.op.name.partition(".")[2] for node in program.nodes] == [
        "constant",
        "constant",
        "add",
        "add",
        "convert",
    ]
    assert [node.values for node in program.nodes] == [(1,), (2,), (0, 1, 3), (3, 3, 4), (4, 5)]
    assert program.shapes == [(4, 8), (4, 8), (2,), (4, 8), (4, 8), (4, 8)]
    assert program.bytes == [128, 128, 8, 128, 128, 64]


def test_users_are_listed_once() -> None:
    program = build_program(parse_module(TEXT))
    assert [[user.index for user in users] for users in program.users] == [[2], [2], [], [3], [4], []]
    assert program.producers[0] is None
    assert program.producers[5] is program.nodes[4]


def test_only_splats_are_free() -> None:
    assert build_program(parse_module(TEXT)).free == [False, True, False, False, False, False]


def test_layouts_of_the_user() -> None:
    program = build_program(parse_module(TEXT))
    assert str(program.given[0]) == '<@mesh, [{"x"}, {}]>'
    assert program.given[1:] == [None] * 5
    assert [str(spec) for spec in program.layouts()[:2]] == ['<@mesh, [{"x"}, {}]>', "<@mesh, [{}, {}]>"]


LOOP = """
dtensor.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %first = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %first, %h = %a) : tensor<i32>, tensor<4xf32>
  cond {
    %last = stablehlo.constant dense<64> : tensor<i32>
    %more = stablehlo.compare LT, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %g = stablehlo.multiply %h, %b : tensor<4xf32>
    stablehlo.return %next, %g : tensor<i32>, tensor<4xf32>
  }
  %1 = stablehlo.subtract %0#1, %b : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


def test_what_comes_from_outside_of_a_loop_is_relaid_once_and_what_it_carries_in_every_round() -> None:
    program = build_program(parse_module(LOOP))
    shares = {node.op.name.partition(".")[2]: node.shares for node in program.nodes}
    assert shares["multiply"] == (1.0, 1 / 64)
    assert shares["subtract"] == (1.0, 1.0)


def error_of(text: str) -> str:
    """The code of the error that building a program gives."""
    with pytest.raises(ShardwrightError) as caught:
        build_program(parse_module(text))
    return caught.value.diagnostics[0].code


def test_no_main() -> None:
    assert error_of("func.func @other() { return }") == "SW0404"


@pytest.mark.parametrize("visibility", ["", "public "])
def test_second_public_function(visibility: str) -> None:
    text = f"func.func public @main() {{ return }}\nfunc.func {visibility}@g() {{ return }}"
    with pytest.raises(ShardwrightError) as caught:
        build_program(parse_module(text, "f.mlir"))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, str(diagnostic.location)) == ("SW0408", "f.mlir:2:1")
    assert "@g" in diagnostic.message
    assert diagnostic.help == "make @g private or remove it"


def test_private_functions_may_stand_beside_main() -> None:
    text = "func.func private @g() { return }\nfunc.func public @main() { return }"
    assert build_program(parse_module(text)).function.sym_name.data == "main"


def test_a_public_function_that_is_called_is_no_second_entry() -> None:
    text = """
    func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = func.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    """
    module = parse_module(text)
    assert entry_function(module).sym_name.data == "main"
    run_pipeline(module, ["import"])
    assert [op.name for op in build_program(module).function.body.walk()] == ["stablehlo.add", "func.return"]


def test_several_meshes() -> None:
    text = 'dtensor.mesh @a = <["x"=2]>\ndtensor.mesh @b = <["x"=2]>\nfunc.func public @main() { return }'
    assert error_of(text) == "SW0405"


def test_without_a_mesh_there_is_one_device() -> None:
    assert the_mesh(parse_module("func.func public @main() { return }")).shape == ()


def test_what_is_computed_of_splats_is_free_as_far_as_it_is_made_anew() -> None:
    # One constant and 31 ops behind it are 32 ops one after the other.
    lines = [f"%{i} = stablehlo.negate %{i - 1 if i else 'c'} : tensor<8xf32>" for i in range(40)]
    text = "\n".join(["%c = stablehlo.constant dense<1.0> : tensor<8xf32>", *lines, "return %39 : tensor<8xf32>"])
    program = build_program(
        parse_module(f'dtensor.mesh @mesh = <["x"=2]>\nfunc.func public @main() -> tensor<8xf32> {{\n{text}\n}}')
    )
    assert program.free == [True] * 32 + [False] * 9


def test_a_loop_asks_once_more_than_it_runs() -> None:
    weights = {node.op.name: node.scope.weight for node in build_program(parse_module(LOOP)).nodes if node.results}
    assert weights["stablehlo.compare"] == 65
    assert weights["stablehlo.multiply"] == 64


def test_one_error_names_all_ops_without_a_rule_in_branches_and_loops_too() -> None:
    # Nothing is known of what comes of the first one: the choice, and what the loop carries, included.
    text = """
func.func private @g(%a: tensor<i1>) -> tensor<i1> { return %a : tensor<i1> }
func.func public @main(%a: tensor<i1>, %v: tensor<4xf32>) -> tensor<i1> {
  %p = call @g(%a) : (tensor<i1>) -> tensor<i1>
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.unary_einsum %v, config = "i->i" : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %a : tensor<i1>
  }, {
    stablehlo.return %a : tensor<i1>
  }) : (tensor<i1>) -> tensor<i1>
  %2 = stablehlo.while(%q = %p) : tensor<i1>
  cond {
    stablehlo.return %q : tensor<i1>
  } do {
    %3 = stablehlo.einsum %v, %v, config = "i,i->i" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %q : tensor<i1>
  }
  return %2 : tensor<i1>
}"""
    with pytest.raises(ShardwrightError) as caught:
        build_program(parse_module(text))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["SW0311", "SW0401", "SW0401"]
