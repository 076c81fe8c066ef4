"""Reading text: locations, aliases, layouts, and one coded error for whatever is wrong with it."""

import contextlib
import random

import pytest
from stored_programs import text
from xdsl.dialects.builtin import FileLineColLoc, NameLoc, UnknownLoc
from xdsl.ir import BlockArgument, Operation

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import dtensor, sdy, stablehlo
from shardwright.dialects.text.locations import source_location, where
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.text.xdsl_patches import FileLineColRange

MLP = """\
module @jit_f attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]>
  func.func public @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> tensor<4xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = call @g(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @g(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""  # noqa: E501


def ops(module: Operation, name: str) -> list[Operation]:
    return [op for op in module.walk() if op.name == name]


def error(text: str) -> ShardwrightError:
    with pytest.raises(ShardwrightError) as caught:
        parse_module(text, "f.mlir")
    return caught.value


def in_function(*lines: str) -> str:
    body = "\n".join(lines)
    return f"func.func @main(%x: tensor<4xf32>, %y: tensor<8xf32>) {{\n{body}\nreturn\n}}"


def test_jax_text_is_read_and_written_unchanged():
    assert print_module(parse_module(MLP)) == MLP


def test_generic_text_is_the_same_module():
    module = parse_module(MLP)
    again = parse_module(print_module(module, generic=True))
    assert module.is_structurally_equivalent(again)
    assert print_module(again) == MLP


def test_function_attributes():
    function = parse_module(MLP).body.block.last_op.prev_op
    assert function.sym_visibility.data == "public"
    sharding = function.arg_attrs.data[0].data["sdy.sharding"]
    assert isinstance(sharding, sdy.ShardingAttr)
    assert str(sharding.data) == '<@mesh, [{"batch"}, {}]>'


def test_every_op_and_argument_is_located_in_the_text():
    module = parse_module(MLP, "f.mlir")
    for op in module.walk():
        assert isinstance(op.location, FileLineColLoc)
        for region in op.regions:
            assert all(isinstance(arg.location, FileLineColLoc) for block in region.blocks for arg in block.args)
    (tanh,) = ops(module, "stablehlo.tanh")
    assert str(source_location(tanh.location)) == "f.mlir:10:10"
    assert MLP.split("\n")[9][9:].startswith("stablehlo.tanh")
    (maximum,) = ops(module, "stablehlo.maximum")
    assert source_location(maximum.location).line == 5


def test_an_implied_module_is_located():
    assert str(source_location(parse_module("func.func @f() { return }", "f.mlir").location)) == "f.mlir:1:1"


def test_line_offset_counts_lines_of_a_split_file():
    module = parse_module(MLP, "f.mlir", line_offset=100)
    assert source_location(ops(module, "stablehlo.tanh")[0].location).line == 110
    with pytest.raises(ShardwrightError) as caught:
        parse_module("\n%0 = ", "f.mlir", line_offset=100)
    assert caught.value.diagnostics[0].location.line == 102


def test_explicit_locations_and_aliases_after_their_use():
    module = parse_module(
        """
        func.func @main(%x: tensor<f32> loc("x"(#loc1)), %y: tensor<f32> {jax.donated} loc("y")) {
          %0 = stablehlo.negate %x : tensor<f32> loc(#loc7)
          %1 = "stablehlo.negate"(%x) : (tensor<f32>) -> tensor<f32> loc("f.py":1:2 to :9)
          %2 = stablehlo.negate %x : tensor<f32> loc(callsite("a.py":1:2 at fused<"why">["b.py":3:4, unknown]))
          %3 = stablehlo.negate %x : tensor<f32> loc(unknown)
          return
        }
        #loc7 = loc("jit(f)/neg"(#loc1))
        #loc1 = loc("g.py":3:4)
        """
    )
    first, second, third, fourth = ops(module, "stablehlo.negate")
    assert isinstance(first.location, NameLoc)
    assert str(source_location(first.location)) == "g.py:3:4"
    assert isinstance(second.location, FileLineColRange)
    assert str(source_location(second.location)) == "f.py:1:2"
    assert str(source_location(third.location)) == "a.py:1:2"
    assert isinstance(fourth.location, UnknownLoc)
    function = module.body.block.first_op
    assert [str(source_location(arg.location)) for arg in function.body.block.args] == ["g.py:3:4", "None"]


def test_locations_are_printed_and_read_back():
    text = print_module(parse_module(MLP, "f.mlir"), debuginfo=True)
    assert 'stablehlo.tanh %arg0 : tensor<4xf32> loc("f.mlir":10:10)' in text
    again = parse_module(text, "other.mlir")
    assert print_module(again, debuginfo=True) == text
    assert print_module(again) == MLP


def test_layouts_are_part_of_the_type():
    text = """\
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%x: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {?}]>>) {
  %0 = stablehlo.negate %x : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {?}]>>
  %1 = stablehlo.negate %0 : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {?}]>>) -> tensor<8x8xf32>
  return
}
"""
    module = parse_module(text)
    first, second = ops(module, "stablehlo.negate")
    assert str(dtensor.layout_of(first.results[0])) == '<@mesh, [{"x"}, {?}]>'
    assert dtensor.layout_of(second.results[0]) is None
    assert print_module(module) == "module {\n" + "".join(f"  {line}\n" for line in text.splitlines()) + "}\n"


def test_values_of_functions_do_not_mix():
    found = error(
        "func.func @f() {\n %0 = stablehlo.negate %1 : tensor<f32>\n return\n}\n"
        "func.func @g(%1: tensor<f32>) { return }"
    )
    assert str(found).startswith("f.mlir:2:24: error[SW0202]: %1 is used, but never defined")


def test_unknown_operations_are_listed_at_once():
    found = error(
        in_function(
            "%0 = stablehlo.frob %x : tensor<4xf32>",
            "%1 = stablehlo.tanh %x : tensor<4xf32>",
            '%2 = "other.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>',
            "%3:2 = stablehlo.frob %x : tensor<4xf32>",
        )
    )
    (diagnostic,) = found.diagnostics
    assert diagnostic.code == "SW0203"
    assert diagnostic.message == "2 unknown operations"
    assert str(diagnostic.location) == "f.mlir:2:6"
    assert diagnostic.notes == ("other.op at line 4", "stablehlo.frob at line 2, 5")


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("", "SW0201", "1:1", "no operation begins here"),
        ("func.func @main() {", "SW0201", "1:20", "expected"),
        ('func.func @main() attributes {a = "open', "SW0201", "1:35", "the string is not closed"),
        (in_function("%0 = stablehlo.add %x, %z : tensor<4xf32>"), "SW0202", "2:24", "%z is used, but never defined"),
        (in_function("%0 = stablehlo.add %x, %y : tensor<4xf32>"), "SW0201", "2:24", "%y is used as tensor<4xf32>"),
        (in_function("%x = stablehlo.tanh %x : tensor<4xf32>"), "SW0201", "2:1", "%x is defined twice"),
        (in_function("%0 = stablehlo.tanh %x tensor<4xf32>"), "SW0201", "2:24", "expected ':'"),
        (in_function("%0:2 = stablehlo.tanh %x : tensor<4xf32>"), "SW0201", "2:8", "has 1 results, but 2 names"),
        (in_function("%0 = stablehlo.constant dense<[1.0]> : tensor<2xf32>"), "SW0201", "2:30", "shape"),
        (in_function("%0 = stablehlo.constant dense<1.0> : f32"), "SW0201", "2:38", "static shape"),
        (in_function("%0 = stablehlo.constant dense<1.0"), "SW0201", "2:30", "not closed"),
        (in_function("%0 = stablehlo.tanh %x : tensor<4xfoo>"), "SW0201", "2:35", "type"),
        (in_function("%0 = stablehlo.tanh %x : tensor<99999999999999999999xf32>"), "SW0201", "2:26", "64 bits"),
        (in_function("%0 = stablehlo.compare XX, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"),
         "SW0201", "2:24", "expected EQ, NE, GE, GT, LE or LT, not 'XX'"),
        (in_function("%0 = stablehlo.tanh %x {a = #no} : tensor<4xf32>"), "SW0202", "2:29", "#no is not defined"),
        ("#a = #a\nfunc.func @f() attributes {x = #a} { return }", "SW0202", "1:6", "defined by itself"),
        (in_function("cf.br ^bb7"), "SW0203", "2:1", "unknown operation 'cf.br'"),
        (in_function("%0 = stablehlo.tanh %x {a = #foo.bar<1>} : tensor<4xf32>"), "SW0201", None, "not registered"),
        (in_function("%0 = stablehlo.reduce(%x init: %x) applies stablehlo.subtract across dimensions = [0] : "
                     "(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>"), "SW0201", None, "no commutative"),
    ],
)  # fmt: skip
def test_malformed_text(text, code, place, message):
    (diagnostic,) = error(text).diagnostics
    assert diagnostic.code == code
    assert message in diagnostic.message
    assert diagnostic.location.file == "f.mlir"
    assert diagnostic.help
    if place is not None:
        assert f"{diagnostic.location.line}:{diagnostic.location.column}" == place


def test_deep_nesting_is_an_error():
    assert "nested too deeply" in str(error("module {" * 5000))


def test_an_open_string_does_not_take_forever():
    error('func.func @main() attributes {a = "' + "0" * 100_000)


def damaged(text: str, seed: int) -> str:
    choose = random.Random(seed)
    position = choose.randrange(len(text))
    piece = choose.choice(
        ["", '"', "<", ">", "{", "}", "%", "-", "0x", "9" * 30, "\0", "é", "dense", chr(choose.randrange(32, 127))]
    )
    return text[:position] + piece + text[position + choose.randrange(3) :]


@pytest.mark.parametrize("seeds", [range(100), pytest.param(range(100, 500), marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("generic", [False, True])
def test_damage_never_escapes_as_another_exception(generic, seeds):
    text = print_module(parse_module(MLP), generic=generic, debuginfo=generic)
    for cut in range(0, len(text) - 2, 29):
        error(text[:cut])
    for seed in seeds:
        with contextlib.suppress(ShardwrightError):
            parse_module(damaged(text, seed), "f.mlir")


def test_many_reductions_parse_in_linear_time():
    line = "%{} = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
    body = " reducer(%a: tensor<f32>, %b: tensor<f32>) { stablehlo.return %a : tensor<f32> }\n"
    count = 2000
    text = "".join(line.format(index) + body for index in range(count))
    module = parse_module(f"func.func @main(%x: tensor<4xf32>, %z: tensor<f32>) {{\n{text}return\n}}")
    assert len(ops(module, "stablehlo.reduce")) == count


@pytest.mark.parametrize(
    "name", ["softmax_sharded", "mlp_train_bf16", "tblock_train_sp", "attn_gqa_rope", "einsum_multi"]
)
def test_exported_programs_are_unchanged(name):
    program = text(name)
    module = parse_module(program, f"{name}.mlir")
    assert print_module(module) == program
    assert print_module(parse_module(print_module(module, generic=True))) == program
    for op in module.walk():
        if isinstance(op, stablehlo.ConstantOp) and stablehlo.is_splat(op):
            assert len(op.value.data.data) <= 8


@pytest.mark.parametrize(
    ("literal", "bits"),
    [
        ("dense<nan> : tensor<f32>", "0x7FC00000"),
        ("dense<inf> : tensor<f16>", "0x7C00"),
        ("dense<-inf> : tensor<bf16>", "0xFF80"),
        ("dense<[1.0, -INF]> : tensor<2xf64>", "0xFFF0000000000000"),
    ],
)
def test_special_floats_by_name_are_answered_with_their_bits(literal: str, bits: str):
    (diagnostic,) = error(in_function(f"%0 = stablehlo.constant {literal}")).diagnostics
    assert diagnostic.message.endswith(f"is written by its bits: {bits}")
    assert diagnostic.help is not None
    assert "dense<0x7FC00000>" in diagnostic.help


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        ('"x"=-4', "mesh axis 'x' has the negative size -4"),
        ('"x"=9223372036854775808', "mesh axis 'x' has size 9223372036854775808, more than 64 bits can count"),
    ],
)
@pytest.mark.parametrize("dialect", ["sdy", "dtensor"])
def test_mesh_sizes_that_cannot_be(dialect: str, mesh: str, message: str):
    (diagnostic,) = error(f"{dialect}.mesh @mesh = <[{mesh}]>").diagnostics
    assert (diagnostic.code, diagnostic.message) == ("SW0201", message)


def test_a_byte_order_mark_is_skipped():
    assert print_module(parse_module("\ufeff" + MLP)) == MLP


@pytest.mark.parametrize("sigil", ["%", "#", "!", "^"])
def test_names_in_other_letters(sigil: str):
    (diagnostic,) = error(f"{sigil}\u00e9 = stablehlo.tanh").diagnostics
    expected = f"a name of ASCII letters, digits and $._- must follow '{sigil}', not '\u00e9'"
    assert (diagnostic.code, diagnostic.message) == ("SW0201", expected)


@pytest.mark.parametrize(
    "line",
    [
        f"stablehlo.{'a' * 5000}",
        f"%0 = stablehlo.tanh %{'b' * 5000} : tensor<4xf32>",
        f"%0 = stablehlo.constant dense<{'c' * 5000}> : tensor<4xf32>",
    ],
)
def test_overlong_words_are_cut_in_messages(line: str):
    (diagnostic,) = error(in_function(line)).diagnostics
    assert "..." in diagnostic.message
    assert len(str(diagnostic)) < 500


def test_names_that_are_no_ascii() -> None:
    """MLIR writes them as the bytes of UTF-8, in names of locations and of files."""
    text = r"""
#loc1 = loc("jit(\CF\89)"("/tmp/\CF\89.py":3:4))
func.func public @main(%a: tensor<4xf32> loc("p['\CF\89']")) -> tensor<4xf32> {
  %0 = stablehlo.tanh %a : tensor<4xf32> loc(#loc1)
  return %0 : tensor<4xf32>
}
"""
    module = parse_module(text, "f.mlir")
    (tanh,) = [op for op in module.walk() if op.name == "stablehlo.tanh"]
    assert str(where(tanh)) == "/tmp/ω.py:3:4"
    argument = tanh.operands[0]
    assert isinstance(argument, BlockArgument)
    assert isinstance(argument.location, NameLoc)
    assert argument.location.desc.data == "p['ω']"
    printed = print_module(module, debuginfo=True)
    assert print_module(parse_module(printed, "f.mlir"), debuginfo=True) == printed
