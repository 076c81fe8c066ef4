"""Damaged programs: each error stands under the word that is wrong, and says what is due there in our words."""

from __future__ import annotations

import re

import pytest
from xdsl.utils.exceptions import VerifyException

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.verify import verify_message

GOOD = """sdy.mesh @m = <["x"=2, "y"=2]>
func.func public @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.add %x, %x : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
"""
ADD = "stablehlo.add %x, %x : tensor<4x8xf32>"
FIRST = "%x: tensor<4x8xf32>"
LEAKED = re.compile(
    r"parse |token|bare[-_ ]?ident|BARE|GREATER|builtin|SSA|delimiter|Attr\b|xdsl|object at|<class|Traceback|Error\b"
    r"|expect symbol|type expected|attribute expected|literal expected|operand expected|entire input"
    r"|!$|`|\bhere as part"
)
"""Words of the parser, of Python, and of xDSL's way to say things."""


def argument(attributes: str) -> tuple[str, str]:
    """The argument with attributes."""
    return FIRST, f"{FIRST} {{{attributes}}}"


def sharded(sharding: str) -> tuple[str, str]:
    """The argument with a sharding."""
    return argument(f"sdy.sharding = #sdy.sharding<{sharding}>")


DAMAGED: list[tuple[tuple[str, str], str, str]] = [
    (("stablehlo.add", "stablehlo.ad"), "stablehlo.ad", "unknown operation 'stablehlo.ad'"),
    (("stablehlo.add", "foo.add"), "foo.add", "unknown operation 'foo.add'"),
    (("8xf32", "8xf33"), "f33", "expected an element type like f32 at the end of the shape, not 'f33'"),
    (("tensor", "tensr"), "tensr", "expected a type, not 'tensr'"),
    (("tensor<4x8xf32>", "!foo.bar"), "foo.bar", "'foo.bar' is not registered"),
    (("tensor<4x8xf32>", "!foo"), "!foo", "the alias !foo is not defined"),
    (("4x8xf32", "4xaxf32"), "axf32", "expected an element type"),
    (("4x8xf32", "4x-8xf32"), "-", "expected an element type"),
    (("4x8xf32", "4x8"), ">", "expected 'x' and an element type, as in tensor<4x8xf32>, not '>'"),
    (("4x8xf32>", "4x8xf32"), ")", "expected '>' at the end of the type, not ')'"),
    (("%x, %x", "%x"), ":", "expected ',', not ':'"),
    (("%x, %x", "%x, %x, %x"), ",", "expected ':', not ','"),
    (("%x, %x", ""), ":", "expected an operand like %x, not ':'"),
    (("%x, %x", "%x %x"), "%x", "expected ',', not '%x'"),
    (("%x, %x", "%, %x"), "%", "must follow '%', not ','"),
    (("%x, %x", "%x, %z"), "%z", "%z is used, but never defined"),
    (("%x :", "%x"), "tensor", "expected ':', not 'tensor'"),
    (("%x : tensor<4x8xf32>", "%x :"), "return", "expected a type, not 'return'"),
    (("%0 =", "%0"), "stablehlo.add", "expected '=' behind the names of the results, not 'stablehlo.add'"),
    (("%0 =", "%0 = ="), "=", "expected an operation"),
    ((ADD, f"{ADD} loc(foo)"), "foo", "expected a location"),
    ((ADD, f'{ADD} loc("a.py":x:1)'), "x", "expected a whole number, not 'x'"),
    ((ADD, f'{ADD} loc("a.py":-3:1)'), "-", "expected a whole number, not '-'"),
    ((ADD, f"{ADD} loc(#none)"), "#none", "the alias #none is not defined"),
    ((ADD, f'{ADD} loc(fused["a")'), ")", "expected ']', not ')'"),
    ((ADD, f'{ADD} loc(callsite("a" to "b"))'), "to", "expected 'at', not 'to'"),
    (("\n}\n", "\n}\n}\n"), "}", "no operation begins here"),
    (("\n}\n", "\n"), "", "expected an operation or '}'"),
    (("> {", "> {{"), "{", "expected an operation or '}'"),
    (("f32>)", "f32>"), "->", "expected ')', not '->'"),
    (("stablehlo.add", "'stablehlo.add'"), "'", "no program has the character ''' here"),
    (("stablehlo.add", '"stablehlo.add'), '"', "the string is not closed"),
    (('"x"=2', '"x"=two'), "two", "expected a whole number, not 'two'"),
    (('"x"=2', '"x"=2.5'), "2.5", "expected a whole number, not '2.5'"),
    (('"x"=2', "x=2"), "x", "expected the name of a mesh axis in double quotes, not 'x'"),
    (("2]>", "2>"), ">", "expected ']', not '>'"),
    (("@m ", "m "), "m", "expected a name like @main, not 'm'"),
    (sharded("@m, [{x}, {}]"), "x", "expected the name of a mesh axis in double quotes, not 'x'"),
    (sharded('@m [{"x"}, {}]'), "[", "expected ',', not '['"),
    (sharded('@m, {"x"}, {}'), "{", "expected '[', not '{'"),
    (sharded('@m, [{"x", }, {}]'), "}", "expected the name of a mesh axis in double quotes, not '}'"),
    (argument("sdy.sharding = #sdy.shardin<@m, []>"), "sdy.shardin", "'sdy.shardin' is not registered"),
    (argument("a = "), "}", "expected a value like 1"),
    (argument("= 1"), "=", "expected the name of an attribute, not '='"),
    (argument("a = 1, a = 2"), "a", "the attribute 'a' is given twice"),
    (argument("a = 1.e"), "e", "expected '}', not 'e'"),
    (argument("a = #foo.bar<1>"), "foo.bar", "'foo.bar' is not registered"),
    (argument("a = foo"), "foo", "not 'foo'"),
    (argument("a = array<i64: 1, b>"), "b", "expected a whole number, not 'b'"),
    (argument('a = opaque<"x">'), "}", "opaque<...> takes two texts in double quotes"),
    (argument("a = strided<[1, x]>"), "x", "expected a whole number or '?'"),
    (argument("a = 99999999999 : i32"), "}", "99999999999 is out of range for i32"),
    ((ADD, "stablehlo.constant dens<1> : tensor<2xi32>"), "dens", "not 'dens'"),
    ((ADD, "stablehlo.transpose %x, dim = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>"), "dim",
     "expected 'dims', not 'dim'"),
    ((ADD, "stablehlo.compare EQQ, %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>"), "EQQ",
     "expected EQ, NE, GE, GT, LE or LT, not 'EQQ'"),
    ((ADD, '"stablehlo.abs"(%x)'), "return", "expected ':' and the types of operands and results, not 'return'"),
    ((ADD, '"stablehlo.abs"(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>'), "(", "there are 2 types for 1 operands"),
    ((ADD, '"stablehlo.abs"(%x) : (tensor<4x8xf32>) -> ()'), '"stablehlo.abs"', "has 0 results, but 1 names"),
    ((ADD, "call g(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>"), "g", "not 'g'"),
    ((ADD, "stablehlo.iota dim 0 : tensor<4xf32>"), "0", "expected '=', not '0'"),
    ((ADD, "sdy.sharding_constraint %x <@m, [{}, {}], replicatd={}> : tensor<4x8xf32>"), "replicatd",
     "not 'replicatd'"),
    (("@main", "main"), "main", "expected a name like @main, not 'main'"),
    (("@main", "@"), "@", "must follow '@'"),
    (("%x: ", "x: "), "x", "expected an argument like %x, or a type, not 'x'"),
    (("%x: ", "%x "), "tensor", "expected ':' behind the name of the argument, not 'tensor'"),
    (("->", "=>"), "=", "no operation begins here"),
    (("32>\n  return", "32>; return"), ";", "no program has the character ';' here"),
    ((GOOD, "<html></html>"), "<", "no operation begins here"),
    ((GOOD, '{"a": 1}'), "{", "no operation begins here"),
    ((GOOD, "module a {}"), "a", "expected a region in braces, not 'a'"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "word", "says"), DAMAGED, ids=[says for *_, says in DAMAGED])
def test_an_error_stands_under_the_word_and_says_what_is_due(change: tuple[str, str], word: str, says: str) -> None:
    text = GOOD.replace(*change, 1)
    assert text != GOOD
    with pytest.raises(ShardwrightError) as caught:
        parse_module(text, "f.mlir")
    (diagnostic,) = caught.value.diagnostics
    assert says in diagnostic.message
    assert diagnostic.help
    assert not LEAKED.search(f"{diagnostic.message} {diagnostic.help}")
    place = diagnostic.location
    assert place is not None
    lines = [*text.split("\n"), ""]
    assert lines[place.line - 1][place.column - 1 :].startswith(word)


def test_a_program_that_is_cut_off_leaks_nothing() -> None:
    line = GOOD.index("\n")
    for end in [*range(1, line), *range(GOOD.index("> {\n") + 3, len(GOOD) - 2)]:
        with pytest.raises(ShardwrightError) as caught:
            parse_module(GOOD[:end], "f.mlir")
        assert not LEAKED.search(str(caught.value)), GOOD[:end]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("Operation does not verify: Expected 2 operands, but got 1", "takes 2 operands, and has 1"),
        ("property 'permutation' expected in operation 'stablehlo.transpose'", "lacks its attribute 'permutation'"),
        ('"a" should be of base attribute array', 'has "a" where a list like array<i64: 1, 0> is due'),
    ],
)
def test_verifiers_speak_in_our_words_too(theirs: str, ours: str) -> None:
    assert verify_message(VerifyException(theirs)) == ours
