"""Results that take the memory of donated arguments have their shardings."""

from __future__ import annotations

from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.frontends.jax.donation import lay_out_donated
from shardwright.passes.program import entry_function

SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
OTHER = "{sdy.sharding = #sdy.sharding<@mesh, [{}]>}"


def laid_out(results: str, *donated: int) -> list[bool]:
    """Which results of a program of three arguments, the first two of them split, are split in the end."""
    text = (
        'sdy.mesh @mesh = <["x"=2]>\n'
        f"func.func public @main(%a: tensor<8xf32> {SPLIT}, %b: tensor<8xf32> {SPLIT}, %c: tensor<4xf32>)"
        f" -> ({results}) {{\n"
        "return %b, %c, %a, %b : tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>\n}"
    )
    module = parse_module(text, "f.mlir")
    lay_out_donated(entry_function(module), donated)
    header = next(line for line in print_module(module).splitlines() if "@main" in line)
    return ['[{"x"}]' in part for part in header.split("->")[1].split("tensor<")[1:]]


def test_each_donated_argument_takes_the_first_result_of_its_type() -> None:
    plain = "tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>"
    assert laid_out(plain) == [False] * 4
    assert laid_out(plain, 0) == [True, False, False, False]
    assert laid_out(plain, 0, 1) == [True, False, True, False]
    assert laid_out(plain, 2) == [False] * 4  # it has no sharding to give


def test_a_sharding_that_was_given_stays() -> None:
    given = f"tensor<8xf32> {OTHER}, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>"
    assert laid_out(given, 0) == [False] * 4
    assert laid_out(given, 0, 1) == [False, False, True, False]
