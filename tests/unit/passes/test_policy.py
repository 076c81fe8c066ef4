"""Policy: what is chosen where several choices are right, on programs where the opposite choice sends more."""

from fractions import Fraction

import numpy as np
from harness import run
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.pipelines import run_pipeline
from shardwright.compiler.report import predicted_bytes
from shardwright.dialects import make_context
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes.propagation.alignment import bytes_sent
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.propagation.propagate_layouts import PropagateLayoutsPass
from shardwright.passes.propagation.strategy import Strategist

F32 = 4


def sent(text: str, *, refine: bool = True, together: bool = True) -> Fraction | None:
    """The bytes that each device sends for a program."""
    module = parse_module(text, "program.mlir")
    run_pipeline(module, ["import"])
    PropagateLayoutsPass(refine=refine, together=together).apply(make_context(), module)
    return planned(module)


def planned(module: ModuleOp) -> Fraction | None:
    """The bytes that each device sends for a program whose layouts are given."""
    run_pipeline(module, ["insert-relayouts", "lower-relayouts", "optimize-collectives"], verify_each=True)
    return predicted_bytes(module)


# Both the large tensor and the small one would like %e split their way: its columns and its rows.
LARGE_AND_SMALL = """
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %a: tensor<64x64xf32>,
    %large: tensor<64x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>},
    %small: tensor<2x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}
  ) -> (tensor<64x64x64xf32>, tensor<2x64xf32>) {
  %e = stablehlo.exponential %a : tensor<64x64xf32>
  %b = stablehlo.broadcast_in_dim %e, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<64x64x64xf32>
  %0 = stablehlo.add %b, %large : tensor<64x64x64xf32>
  %1 = stablehlo.dot_general %small, %e, contracting_dims = [1] x [0]
      : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
  return %0, %1 : tensor<64x64x64xf32>, tensor<2x64xf32>
}
"""


def test_where_layouts_meet_at_a_value_more_bytes_win() -> None:
    # Propagation alone, since refinement would mend the start. %e goes along with the large tensor, and the small one
    # is gathered: three quarters of 2 x 64. The other way round %e itself would trade its dims: 3/16 of 64 x 64.
    assert sent(LARGE_AND_SMALL, refine=False) == Fraction(3, 4) * 2 * 64 * F32


# One factor, split by different axes in the two operands of one op: the product of each batch goes along with one.
BATCHES = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %small: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
    %large: tensor<4x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {}]>}
  ) -> tensor<4x8x64xf32> {
  %0 = stablehlo.dot_general %small, %large, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<4x8x8xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
  return %0 : tensor<4x8x64xf32>
}
"""


def test_where_layouts_meet_at_an_op_more_bytes_win() -> None:
    # Each device holds half of the small tensor and needs another half: two of four devices have it already.
    assert sent(BATCHES, refine=False) == Fraction(1, 2) * Fraction(1, 2) * 4 * 8 * 8 * F32


# The product may go along with %a, or with its own rows; %a itself stays where %doubled keeps it.
TWO_WISHES = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(
    %w: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %a: tensor<128x2xf32>
  ) -> (tensor<128x4xf32>, tensor<128x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0]
      : (tensor<128x2xf32>, tensor<2x4xf32>) -> tensor<128x4xf32>
  %doubled = stablehlo.add %a, %a : tensor<128x2xf32>
  return %0, %doubled : tensor<128x4xf32>, tensor<128x2xf32>
}
"""


def test_of_the_refinements_of_an_op_the_best_is_kept() -> None:
    # Rows by x: the weight is gathered, and a quarter of the rows of %a. The other wish, a product that contracts y,
    # leaves partial sums of 128 x 1 elements on each device, half of which is sent: 256 bytes.
    gathered_weight = Fraction(3, 4) * 2 * 4 * F32
    gathered_rows = Fraction(1, 2) * (128 // 4) * 2 * F32
    assert sent(TWO_WISHES, together=False) == gathered_weight + gathered_rows == 152


# A sum of 8 elements, which a broadcast makes 512.
BROADCAST = """
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %a: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
  ) -> (tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}
"""


def test_a_sum_is_finished_before_it_grows() -> None:
    assert sent(BROADCAST) == sent(BROADCAST, refine=False) == 2 * Fraction(3, 4) * 8 * F32


# In each of 64 rounds a small partial sum becomes a large one, which is added to what the loop carries.
GROWING = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
  ) -> tensor<8x4x4xf32> {
  %none = stablehlo.constant dense<0.0> : tensor<8x4x4xf32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %first, %h = %a, %total = %none) : tensor<i32>, tensor<4x8xf32>, tensor<8x4x4xf32>
  cond {
    %last = stablehlo.constant dense<64> : tensor<i32>
    %more = stablehlo.compare LT, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %g = stablehlo.tanh %h : tensor<4x8xf32>
    %p = stablehlo.dot_general %g, %b, contracting_dims = [1] x [0]
        : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %q = stablehlo.broadcast_in_dim %p, dims = [1, 2] : (tensor<4x4xf32>) -> tensor<8x4x4xf32>
    %sum = stablehlo.add %total, %q : tensor<8x4x4xf32>
    stablehlo.return %next, %g, %sum : tensor<i32>, tensor<4x8xf32>, tensor<8x4x4xf32>
  }
  return %0#2 : tensor<8x4x4xf32>
}
"""


def test_what_a_loop_adds_up_is_finished_once_although_it_is_larger_then() -> None:
    # Two devices send their all: 8 x 4 x 4 once, not 4 x 4 in each of 64 rounds. Refinement would move the sum away.
    assert sent(GROWING, refine=False) == 8 * 4 * 4 * F32
    assert 64 * 4 * 4 * F32 > 8 * 4 * 4 * F32


# Each of eight rounds puts the sum of what it carries in its place.
STACKING = """
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<SIZExf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %first, %h = %a, %sums = %none) : tensor<i32>, tensor<SIZExf32>, tensor<8xf32>
  cond {
    %last = stablehlo.constant dense<8> : tensor<i32>
    %more = stablehlo.compare LT, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %g = stablehlo.tanh %h : tensor<SIZExf32>
    %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<SIZExf32>, tensor<f32>) -> tensor<f32>
    %row = stablehlo.reshape %sum : (tensor<f32>) -> tensor<1xf32>
    %all = stablehlo.dynamic_update_slice %sums, %row, %i : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
    stablehlo.return %next, %g, %all : tensor<i32>, tensor<SIZExf32>, tensor<8xf32>
  }
  return %0#2 : tensor<8xf32>
}
"""


def test_what_a_loop_stacks_is_whole_until_it_ends_where_it_is_no_more_than_the_arguments() -> None:
    # A device holds all eight sums, and as much of the argument: they are reduced and split once.
    assert sent(STACKING.replace("SIZE", "32")) == Fraction(3, 4) * 8 * F32
    # Half as much of the argument: each device keeps its two, and each is finished in its round.
    assert sent(STACKING.replace("SIZE", "16")) == 8 * 2 * Fraction(3, 4) * F32


# A sum over x that is wanted split by x and y first, and then as it was laid out, split by y.
TWO_USERS = """
!home = tensor<32x2xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>
!rows = tensor<32x2xf32, #dtensor.layout<@mesh, [{"x", "y"}, {}]>>
!a = tensor<32x128xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
!b = tensor<128x2xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
module attributes {dtensor.stage = "propagated"} {
  dtensor.mesh @mesh = <["x"=4, "y"=2]>
  func.func public @main(%a: !a, %b: !b) -> (!rows, !home) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (!a, !b) -> !home
    %1 = dtensor.constraint %0 : !home -> !rows
    %2 = stablehlo.exponential %0 : !home
    return %1, %2 : !rows, !home
  }
}
"""


# Both want the same rows, and nobody the whole sum that propagation had in mind.
SAME_ROWS = """
!home = tensor<32x2xf32, #dtensor.layout<@mesh, [{}, {}]>>
!rows = tensor<32x2xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
!a = tensor<32x128xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
!b = tensor<128x2xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
module attributes {dtensor.stage = "propagated"} {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: !a, %b: !b) -> (!rows, !rows) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (!a, !b) -> !home
    %1 = dtensor.constraint %0 : !home -> !rows
    %2 = dtensor.constraint %0 : !home -> !rows
    return %1, %2 : !rows, !rows
  }
}
"""


def test_a_sum_is_not_finished_where_nobody_wants_it() -> None:
    # A reduce-scatter sends three quarters of 32 x 2, an all-reduce twice that: no less than both users on their own.
    assert planned(parse_module(SAME_ROWS)) == Fraction(3, 4) * 32 * 2 * F32


def test_a_sum_with_two_users_is_finished_where_both_find_it() -> None:
    column = 32 * 1 * F32
    # Each device holds one of the two columns. Finished first, then sliced for the first user, y traded for rows.
    shared = 2 * Fraction(3, 4) * column + Fraction(1, 2) * Fraction(1, 4) * column
    # Straight to the first user, and from its four rows of two columns back: 28 of 32 elements are missing.
    alone = Fraction(3, 4) * column + Fraction(1, 2) * Fraction(1, 4) * column + Fraction(28, 32) * column
    assert planned(parse_module(TWO_USERS)) == shared < alone


# Two halves laid end to end: each device holds a quarter of each, and its quarter of the whole is half of one.
END_TO_END = """
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %b: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
  ) -> (tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
"""


def test_what_ops_exchange_is_counted_before_it_is_sent() -> None:
    module = parse_module(END_TO_END)
    run_pipeline(module, ["propagate"])
    program = build_program(module)
    dims = [spec.dims for spec in program.layouts()]
    counted = bytes_sent(program, Strategist(program), dims, program.steps)
    # Eight elements for each of four devices, of which the first and the last hold four already, the others none.
    assert counted == sent(END_TO_END) == Fraction(4 + 8 + 8 + 4, 4) * F32


# The candidates of the halves are traded, so that each device finds the largest of half of the rows: as the result is.
LARGEST = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [RESULT]>}) {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %places = stablehlo.iota dim = 1 : tensor<8x64xi32>
  %0:2 = stablehlo.reduce(%a init: %least), (%places init: %zero) across dimensions = [1]
      : (tensor<8x64xf32>, tensor<8x64xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
   reducer(%b: tensor<f32>, %c: tensor<f32>) (%d: tensor<i32>, %e: tensor<i32>) {
    %1 = stablehlo.compare GE, %b, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %b, %c : tensor<i1>, tensor<f32>
    %3 = stablehlo.select %1, %d, %e : tensor<i1>, tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  }
  return %0#1 : tensor<8xi32>
}
"""


def test_what_an_expansion_relaid_last_is_used_as_it_was_before() -> None:
    # Half of the values and half of the places go to the other device, and nothing comes back.
    assert sent(LARGEST.replace("RESULT", '{"x"}')) == (4 + 4) * 4
    # Where all want them, half of the places come back.
    assert sent(LARGEST.replace("RESULT", "{}")) == (4 + 4) * 4 + 4 * 4


# Rows come one after the other; who gets one row split by columns in each of 64 rounds needs the rows by columns.
ROWS_BY_AND_BY = """
sdy.mesh @mesh = <["x"=8]>
func.func public @main(%a: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<128xf32>, tensor<64x128xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<64> : tensor<i32>
  %h = stablehlo.constant dense<0.0> : tensor<128xf32>
  %y = stablehlo.constant dense<0.0> : tensor<64x128xf32>
  %w:3 = stablehlo.while(%i = %zero, %s = %h, %o = %y) : tensor<i32>, tensor<128xf32>, tensor<64x128xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 128]
      : (tensor<64x128xf32>, tensor<i32>, tensor<i32>) -> tensor<1x128xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x128xf32>) -> tensor<128xf32>
    %3 = stablehlo.add %s, %2 : tensor<128xf32>
    %4 = stablehlo.tanh %3 : tensor<128xf32>
    %5 = stablehlo.reshape %4 : (tensor<128xf32>) -> tensor<1x128xf32>
    %6 = stablehlo.dynamic_update_slice %o, %5, %i, %zero
      : (tensor<64x128xf32>, tensor<1x128xf32>, tensor<i32>, tensor<i32>) -> tensor<64x128xf32>
    %7 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %7, %4, %6 : tensor<i32>, tensor<128xf32>, tensor<64x128xf32>
  }
  return %w#1, %w#2 : tensor<128xf32>, tensor<64x128xf32>
}
"""


def test_what_a_loop_reads_by_and_by_is_split_by_another_dim_before() -> None:
    """An all-to-all of the rows, an eighth of what gathering them sends; no column has to be split anywhere before."""
    assert sent(ROWS_BY_AND_BY) == Fraction(7, 8) * 8 * 128 * F32


def test_what_is_made_of_nothing_is_made_again_where_somebody_laid_it_out() -> None:
    """Explicit axes of JAX lay out each value: constants, what is computed of them, and that once more."""
    rows, columns = '[{"x"}, {}]', '[{}, {"x"}]'
    text = f"""
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {columns}>}}) -> tensor<8x8xf32> {{
  %c = stablehlo.constant dense<3.0> : tensor<8x8xf32>
  %i = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %c <@mesh, {rows}> : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %i <@mesh, {rows}> : tensor<8x8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8x8xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, {rows}> : tensor<8x8xf32>
  %4 = sdy.sharding_constraint %3 <@mesh, {columns}> : tensor<8x8xf32>
  %5 = stablehlo.add %a, %4 : tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}}
"""
    assert sent(text) == 0
    a = np.arange(64, dtype="float32").reshape(8, 8)
    np.testing.assert_array_equal(run(text, [a]).results[0], a + 3 * np.arange(8, dtype="float32")[:, None])
