"""What is made once serves all who read it: programs on which each reader alone would send more."""

from fractions import Fraction

from shardwright.compiler.pipelines import run_pipeline
from shardwright.compiler.report import predicted_bytes
from shardwright.dialects.text.parsing import parse_module

F32 = 4
C64 = 8


def sent(body: str, mesh: str = '"batch"=4, "model"=2') -> Fraction | None:
    """The bytes that each device sends for the function of a module with one mesh."""
    module = parse_module(f"sdy.mesh @mesh = <[{mesh}]>\n{body}", "program.mlir")
    run_pipeline(module, ["plan"], verify_each=True)
    return predicted_bytes(module)


def product(dtype: str, results: list[str], body: str) -> str:
    """A function of the product of 16 x 16 by 16 x 16, split by what is summed over; its rows are split by batch."""
    kind, rows = f"tensor<16x16x{dtype}>", 'sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>'
    return f"""
    func.func public @main(
        %x: {kind} {{sdy.sharding = #sdy.sharding<@mesh, [{{"batch"}}, {{"model"}}]>}},
        %w: {kind} {{sdy.sharding = #sdy.sharding<@mesh, [{{"model"}}, {{}}]>}},
        %m: tensor<16x16xi1> {{{rows}}}
      ) -> ({", ".join(f"tensor<16x16x{each}> {{{rows}}}" for each in results)}) {{
      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({kind}, {kind}) -> {kind}
      {body}
    }}
    """


# Two devices each send half of what they have, and then half of what they get.
ROWS = 2 * Fraction(1, 2) * 4 * 16


def test_what_is_linear_in_a_sum_that_is_needed_finished_takes_the_finished_one() -> None:
    real = """
      %r = stablehlo.real %y : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
      %t = stablehlo.tanh %r : tensor<16x16xf32>
      return %y, %t : tensor<16x16xcomplex<f32>>, tensor<16x16xf32>"""
    assert sent(product("complex<f32>", ["complex<f32>", "f32"], real)) == ROWS * C64
    select = """
      %n = stablehlo.negate %y : tensor<16x16xf32>
      %s = stablehlo.select %m, %y, %n : tensor<16x16xi1>, tensor<16x16xf32>
      %t = stablehlo.tanh %s : tensor<16x16xf32>
      %u = stablehlo.tanh %y : tensor<16x16xf32>
      return %t, %u : tensor<16x16xf32>, tensor<16x16xf32>"""
    assert sent(product("f32", ["f32", "f32"], select)) == ROWS * F32


def test_a_part_of_a_sum_that_nobody_needs_whole_is_finished_alone() -> None:
    real = """
      %r = stablehlo.real %y : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
      %t = stablehlo.tanh %r : tensor<16x16xf32>
      return %t : tensor<16x16xf32>"""
    assert sent(product("complex<f32>", ["f32"], real)) == ROWS * F32


def test_of_sums_that_meet_twice_both_are_finished_and_not_what_they_make() -> None:
    # Of two sums p and q someone needs p - q, p + q and their product: two are finished, of whichever three.
    meet = """
      %v = stablehlo.negate %w : tensor<16x16xf32>
      %q = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0]
          : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      %a = stablehlo.add %y, %q : tensor<16x16xf32>
      %b = stablehlo.subtract %y, %q : tensor<16x16xf32>
      %c = stablehlo.multiply %y, %q : tensor<16x16xf32>
      return %a, %b, %c : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>"""
    assert sent(product("f32", ["f32", "f32", "f32"], meet)) == 2 * ROWS * F32
