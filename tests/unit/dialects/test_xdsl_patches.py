"""
The private overrides of xDSL: each test shows a fault of stock xDSL that we cover, or an internal that we rely on.

When xDSL changes under us, these fail first and say what to look at in `dialects/text/xdsl_patches.py`.
"""

import inspect
import io
import math

import pytest
import xdsl
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, DenseIntOrFPElementsAttr, FileLineColLoc, StringAttr, UnknownLoc
from xdsl.dialects.func import Func
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import make_context
from shardwright.dialects.text import literals
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.text.verify import verify_module
from shardwright.dialects.text.xdsl_patches import (
    LocatedParser,
    MlirPrinter,
    _FastLexer,
    _own_verifiers,
    file_location,
    restore_name,
)

MINUS_INFINITY = "dense<0xFF800000> : tensor<f32>"


def stock() -> Context:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Func)
    return context


def test_the_versions_that_the_overrides_were_written_for():
    assert str(xdsl.__version__).startswith(("0.74.", "0.75."))


@pytest.mark.parametrize(
    "name",
    [
        "_parse_location", "parse_optional_location", "_parse_alias_def", "_parse_extended_type_or_attribute",
        "_parse_optional_builtin_type", "_parse_builtin_dense_attr", "_register_ssa_definition", "resolve_operand",
        "parse_optional_region", "_parse_optional_block_arg_list", "parse_operation", "parse_module",
    ],
)  # fmt: skip
def test_overridden_parser_methods_have_the_stock_signature(name):
    ours, theirs = (list(inspect.signature(getattr(cls, name)).parameters) for cls in (LocatedParser, Parser))
    assert ours == theirs


@pytest.mark.parametrize(
    "name",
    [
        "print_string", "print_string_literal", "print_attribute", "print_ssa_value", "_print_results", "print_op",
        "print_block_argument",
    ],
)  # fmt: skip
def test_overridden_printer_methods_have_the_stock_signature(name):
    ours, theirs = (list(inspect.signature(getattr(cls, name)).parameters) for cls in (MlirPrinter, Printer))
    assert ours == theirs


@pytest.mark.parametrize(
    "name",
    ["_parse_op_result_list", "_parse_generic_operation", "_parse_block", "_parse_block_body", "_resume_from"],
)
def test_used_internals_exist(name):
    assert callable(getattr(Parser, name))


@pytest.mark.parametrize(
    "text", ["plain", "", 'a "b"', "back\\slash", "line\nfeed", "tab\t", "\x7f", "\u00e4\u2028", " ~"]
)
def test_texts_are_written_as_the_stock_printer_writes_them(text):
    streams = [io.StringIO(), io.StringIO()]
    MlirPrinter(streams[0], generic=False, debuginfo=False).print_string_literal(text)
    Printer(streams[1]).print_string_literal(text)
    assert streams[0].getvalue() == streams[1].getvalue()


def test_hexadecimal_floats():
    wrong = Parser(stock(), MINUS_INFINITY).parse_attribute()
    assert isinstance(wrong, DenseIntOrFPElementsAttr)
    assert wrong.get_values() == (4286578688.0,), "xDSL reads hexadecimal floats now: an override may go"
    right = LocatedParser(stock(), MINUS_INFINITY).parse_attribute()
    assert right.get_values() == (-math.inf,)


def test_splats_keep_one_element():
    text = "dense<1.0> : tensor<64x64xf32>"
    assert len(Parser(stock(), text).parse_attribute().data.data) == 64 * 64 * 4
    assert len(LocatedParser(stock(), text).parse_attribute().data.data) == 4


def test_stock_printer_and_verifier_accept_one_element_splats():
    attribute = literals.parse_dense("1.0", LocatedParser(stock(), "tensor<64x64xf32>").parse_type())
    attribute.verify()
    assert str(attribute) == "dense<1.000000e+00> : tensor<64x64xf32>"


def test_late_aliases_and_ranges():
    late = "func.func @f() { func.return loc(#loc1) }\n#loc1 = loc(unknown)"
    ranged = 'func.func @f() { func.return loc("f":1:2 to :9) }'
    for text in (late, ranged):
        with pytest.raises(ParseError):
            Parser(stock(), text).parse_module()
        LocatedParser(stock(), text).parse_module()


def test_positions_become_locations():
    text = "func.func @f() {\n  func.return\n}"
    (function,) = LocatedParser(stock(), text, "f.mlir").parse_module().body.block.ops
    assert function.body.block.first_op.location == file_location("f.mlir", 2, 3)
    (function,) = Parser(stock(), text, "f.mlir").parse_module().body.block.ops
    assert isinstance(function.body.block.first_op.location, UnknownLoc)


def test_unchecked_attributes_equal_checked_ones():
    attribute = file_location("f.mlir", 2, 3)
    again = LocatedParser(stock(), 'loc("f.mlir":2:3)').parse_attribute()
    assert isinstance(attribute, FileLineColLoc)
    assert attribute == again
    assert hash(attribute) == hash(again)
    attribute.verify()


def test_redefinition_across_functions_and_regions():
    text = "func.func @f() { %0 = stablehlo.iota dim = 0 : tensor<4xi32> return }\n"
    module = parse_module(text + text.replace("@f", "@g"))
    assert len(list(module.body.block.ops)) == 2


def tokens(lexer: MLIRLexer) -> list[tuple[MLIRTokenKind, str, int, int]]:
    found = []
    while not found or found[-1][0] is not MLIRTokenKind.EOF:
        token = lexer.lex()
        found.append((token.kind, token.text, token.span.start, token.span.end))
    return found


@pytest.mark.parametrize(
    "text",
    [
        "%0 = stablehlo.add %a_b, %1#2 : tensor<4x8xf32> // comment\n",
        '#loc = loc("f.py":1:2) !t ^bb0(%x: i1) -> @main @"quoted name"',
        "dense<[1.0, -2.5e-3, 0x7F, 10, 1.]> {-# #-} ... [](){}<>=+-*/?|,",
        r'"escaped \22 string" "\F0\9F" ""',
        "  // only a comment",
        "",
        "0x 0xg 1x2 4x8xf32",
    ],
)
def test_lexer_agrees_with_the_stock_one(text):
    assert tokens(_FastLexer(Input(text, "f"))) == tokens(MLIRLexer(Input(text, "f")))


@pytest.mark.parametrize("text", ["&", "..", "@ ", '"open', "%", "\0", '@"open'])
def test_lexer_refuses_what_the_stock_one_refuses(text):
    for lexer in (_FastLexer, MLIRLexer):
        with pytest.raises(ParseError):
            tokens(lexer(Input(text, "f")))


def test_names_of_values():
    text = """\
module {
  func.func @f(%arg0: tensor<f32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0:2 = stablehlo.optimization_barrier %cst, %cst_0 : tensor<f32>, tensor<f32>
    %1 = stablehlo.add %0#0, %0#1 : tensor<f32>
    return
  }
}
"""
    assert print_module(parse_module(text)) == text


def test_default_dialect_holds_only_directly_in_a_function():
    assert "func.return" in print_module(parse_module("func.func @f() { return }"), generic=True)
    context = make_context()
    assert context.get_optional_op("return", dialect_stack=["builtin", "func"]) is not None


def test_one_printer_renders_an_attribute_once():
    line = 'stablehlo.negate %x {note = "said"} : tensor<f32>'
    text = f"func.func @f(%x: tensor<f32>) {{\n%0 = {line}\n%1 = {line}\nreturn\n}}"
    assert print_module(parse_module(text)).count('{note = "said"}') == 2


def test_a_name_with_two_numbers_is_restored():
    block = parse_module("func.func @f(%x_1_2: tensor<f32>) { return }").body.block.first_op.regions[0].block
    assert block.args[0].name_hint == "x_1"
    block.args[0].name_hint = "x_1"
    assert block.args[0].name_hint == "x"
    restore_name(block.args[0], "x_1")
    assert block.args[0].name_hint == "x_1"


NEGATION = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def test_each_ops_own_verifier_is_found() -> None:
    """xDSL keeps it in a closure; traits that verify something are kept apart."""
    function = parse_module(NEGATION).body.block.first_op
    assert function is not None
    own, traits = _own_verifiers(type(function))
    assert own.__qualname__ == "FuncOp.verify_"
    assert own is not type(function).verify_
    assert "SymbolOpInterface" in {type(trait).__name__ for trait in traits}


def test_what_a_definition_asks_for_is_asked_of_each_form() -> None:
    """A form that was right once is not looked at again; one that was never seen is."""
    module = parse_module(NEGATION)
    verify_module(module)
    (op,) = (op for op in module.walk() if op.name == "stablehlo.negate")
    op.properties["surprise"] = StringAttr("no property of this op")
    with pytest.raises(ShardwrightError, match="surprise"):
        verify_module(module)
