"""Lines that repeat are read once, and make the ops that each would make alone."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import make_context
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.text.xdsl_patches import LocatedParser


def program(*lines: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %i: tensor<4xi32>) {{\n{body}\n  return\n}}"


SUM = "%{} = stablehlo.add %{}, %{} : tensor<4xf32>"
SPLIT = "%{}:2 = stablehlo.optimization_barrier %{}, %{} : tensor<4xf32>, tensor<4xf32>"
PROGRAMS = {
    "equal": program(SUM.format(0, "a", "b"), SUM.format(1, 0, "b"), SUM.format(2, 1, 0)),
    "other names": program(SUM.format("sum", "a", "b"), SUM.format("c.x", "sum", "a"), SUM.format(7, "c.x", "sum")),
    "several results": program(SPLIT.format(0, "a", "b"), SPLIT.format(1, "0#1", "0#0"), SUM.format(2, "1#1", "0#1")),
    "attributes": program(*[f"%{n} = stablehlo.iota dim = 0 : tensor<4xf32>" for n in range(3)]),
    "locations": program(*[f'{SUM.format(n, "a", "b")} loc("f":{n}:1)' for n in range(3)]),
    "aliases": program(*[f"{SUM.format(n, 'a', 'b')} loc(#at{n % 2})" for n in range(4)])
    + '\n#at0 = loc("f":1:2)\n#at1 = loc("why"(#at0))',
    "locations in comments": program(*[f"{SUM.format(n, 'a', 'b')} // loc(#at{n})" for n in range(3)]),
    "locations in texts": program(
        *[f'%{n} = stablehlo.negate %a {{why = " loc(#at{n})"}} : tensor<4xf32>' for n in "12"]
    ),
    "comments": program(*[f"{SUM.format(n, 'a', 'b')} // as %{n} says" for n in range(3)]),
    "texts": program(*[f'%{n} = stablehlo.negate %a {{why = "%{n} of %b"}} : tensor<4xf32>' for n in range(3)]),
    "broken lines": program(
        *[f"%{n} = stablehlo.constant dense<[1.0, 2.0,\n  3.0, {n}.0]> : tensor<4xf32>" for n in range(3)]
    ),
    "regions": program(
        *[
            f"%{n} = stablehlo.constant dense<{n}.0> : tensor<f32>\n"
            f"  %r{n} = stablehlo.reduce(%a init: %{n}) applies stablehlo.add across dimensions = [0] : "
            "(tensor<4xf32>, tensor<f32>) -> tensor<f32>"
            for n in range(3)
        ]
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_made_is_what_each_line_says(name: str) -> None:
    ours = parse_module(PROGRAMS[name], "f.mlir")
    alone = LocatedParser(make_context(), PROGRAMS[name], "f.mlir").parse_module()
    texts = [print_module(module, generic=True, debuginfo=True) for module in (ours, alone)]
    assert texts[0] == texts[1]


def test_equal_lines_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    parse = LocatedParser.parse_operation

    def noting(self: LocatedParser) -> Operation:
        read.append(self.pos)
        return parse(self)

    monkeypatch.setattr(LocatedParser, "parse_operation", noting)
    few = program(*[SUM.format(n, "a", "b") for n in range(2)])
    many = program(*[SUM.format(n, "a", "b") for n in range(200)])
    for text in (few, many):
        read.clear()
        parse_module(text)
        assert len(read) == 3  # the function, the first line and the return


@pytest.mark.parametrize(
    ("line", "code", "found"),
    [
        (SUM.format(2, "a", "i"), "SW0201", "%i is used as tensor<4xf32>, but is defined as tensor<4xi32>"),
        (SUM.format(2, "a", "missing"), "SW0202", "%missing is used, but never defined"),
        (SUM.format(1, "a", "b"), "SW0201", "%1 is defined twice"),
        (SUM.format("2:2", "a", "b"), "SW0201", "has 1 results, but 2 names"),
        (SUM.format(2, "a", "b") + " nonsense", "SW0203", "unknown operation 'nonsense'"),
    ],
)
def test_faults_are_those_of_the_line(line: str, code: str, found: str) -> None:
    text = program(SUM.format(0, "a", "b"), SUM.format(1, "a", "b"), line)
    with pytest.raises(ShardwrightError) as caught:
        parse_module(text, "f.mlir")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, str(diagnostic.location).split(":")[1]) == (code, "4")
    assert found in diagnostic.message
