"""What is made once serves all who read it: programs on which each reader alone would send more."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from shardwright.compiler.pipelines import run_pipeline
from shardwright.compiler.report import predicted_bytes
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes.program import Program
from shardwright.passes.propagation import refinement

F32 = 4
C64 = 8


X4 = '"x"=4'


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


SLICES = """
func.func public @main(
    %a: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %at: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}
  ) -> (RESULTS) {
  BODY
}
"""
WHOLE = "tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}"
GATHERED = Fraction(3, 4) * 32 * F32


def slices(results: list[str], body: str) -> Fraction | None:
    """What a function of 32 numbers, split by four, sends."""
    return sent(SLICES.replace("RESULTS", ", ".join(results)).replace("BODY", body), X4)


def test_one_gather_serves_several_readers() -> None:
    # A slice at a place that is computed is as dear as the gather: each by itself would leave partial results.
    two = """
  %next = stablehlo.add %at, %at : tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %at, sizes = [16] : (tensor<32xf32>, tensor<i32>) -> tensor<16xf32>
  %1 = stablehlo.dynamic_slice %a, %next, sizes = [16] : (tensor<32xf32>, tensor<i32>) -> tensor<16xf32>
  return %0, %1 : tensor<16xf32>, tensor<16xf32>"""
    assert slices([WHOLE, WHOLE], two) == GATHERED < 2 * (2 * Fraction(3, 4) * 16 * F32)


def test_what_grows_is_made_of_a_gathered_operand() -> None:
    grown = """
  %n = stablehlo.negate %a : tensor<32xf32>
  %b = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  return %b : tensor<32x64xf32>"""
    assert slices(["tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}"], grown) == GATHERED


MATRIX = """
func.func public @main(
    %x: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}
  ) -> (RESULTS) {
  BODY
}
"""
COLUMNS = 'tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}]>}'
TURNED = 'tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"batch"}]>}'


def relaid(results: list[str], body: str) -> Fraction | None:
    """What a function of 16 x 16 numbers, split by batch and model, sends."""
    return sent(MATRIX.replace("RESULTS", ", ".join(results)).replace("BODY", body))


# Each device has 4 x 8. Of the 16 x 4 of a column it has 16, if it has of its rows; of 8 x 4 as well.
TO_COLUMNS = (16 * 4 - 8) * F32
TO_TURNED = (8 * 4 - 8) * F32


def test_relayouts_in_a_row_are_one_where_nothing_reads_what_is_between() -> None:
    chain = """
  %y = sdy.sharding_constraint %x <@mesh, [{}, {"batch"}]> : tensor<16x16xf32>
  return %y : tensor<16x16xf32>"""
    assert relaid([TURNED], chain) == TO_TURNED
    longer = """
  %y = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<16x16xf32>
  %z = sdy.sharding_constraint %y <@mesh, [{}, {"model"}]> : tensor<16x16xf32>
  return %z : tensor<16x16xf32>"""
    assert relaid([TURNED], longer) == TO_TURNED


def test_what_a_reader_needs_between_two_relayouts_is_made_and_serves_the_second() -> None:
    read = """
  %y = sdy.sharding_constraint %x <@mesh, [{}, {"batch"}]> : tensor<16x16xf32>
  %z = sdy.sharding_constraint %y <@mesh, [{"model"}, {"batch"}]> : tensor<16x16xf32>
  return %y, %z : tensor<16x16xf32>, tensor<16x16xf32>"""
    assert relaid([COLUMNS, TURNED], read) == TO_COLUMNS


def test_an_op_does_not_go_round_the_constraint_that_it_reads() -> None:
    sine = """
  %y = sdy.sharding_constraint %x <@mesh, [{}, {"batch"}]> : tensor<16x16xf32>
  %z = stablehlo.sine %y : tensor<16x16xf32>
  return %z : tensor<16x16xf32>"""
    assert relaid([TURNED], sine) == TO_COLUMNS


# One product would like %e split by columns, the other by rows. The first gathers it, to move %w and not the sum.
TWO_PRODUCTS = """
func.func public @main(
    %a: tensor<16x16xf32>,
    %w: tensor<16x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %u: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}
  ) -> (tensor<16x256xf32>, tensor<8x16xf32>) {
  %e = stablehlo.exponential %a : tensor<16x16xf32>
  %0 = stablehlo.dot_general %e, %w, contracting_dims = [1] x [0]
      : (tensor<16x16xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
  %1 = stablehlo.dot_general %u, %e, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %0, %1 : tensor<16x256xf32>, tensor<8x16xf32>
}
"""
W_BY_COLUMNS = Fraction(3, 16) * 16 * 256 * F32
E_GATHERED = Fraction(3, 4) * 16 * 16 * F32
U_BY_ROWS = Fraction(3, 16) * 8 * 16 * F32
SECOND_SUMMED = Fraction(3, 4) * 8 * 16 * F32


def test_what_only_counting_shows_is_found_by_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    # With %e gathered for the first product, the second does best by rows; alone it would sum what each device has.
    assert sent(TWO_PRODUCTS, X4) == W_BY_COLUMNS + E_GATHERED + U_BY_ROWS
    monkeypatch.setattr(refinement, "COUNTED", 0)
    assert sent(TWO_PRODUCTS, X4) == W_BY_COLUMNS + E_GATHERED + SECOND_SUMMED


@pytest.mark.parametrize("layers", [1, 8])
def test_counting_takes_no_longer_in_a_larger_program(layers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    aligned: list[int] = []

    def counted(program: Program, *_: object) -> SimpleNamespace:
        aligned.append(len(program.nodes))
        return SimpleNamespace(sent=0.0)

    monkeypatch.setattr(refinement, "counted", counted)
    head, tail = TWO_PRODUCTS.split("  return", 1)
    more = "".join(
        f"  %{2 * n} = stablehlo.tanh %{2 * n - 2} : tensor<16x256xf32>\n"
        f"  %{2 * n + 1} = stablehlo.dot_general %{2 * n - 1}, %e, contracting_dims = [1] x [0]"
        " : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>\n"
        for n in range(1, layers)
    )
    last = tail.replace("%0, %1", f"%{2 * layers - 2}, %{2 * layers - 1}")
    sent(f"{head}{more}  return{last}", X4)
    # The state at hand is counted as well, before the first try.
    assert 0 < sum(aligned[1:]) <= refinement.COUNTED
