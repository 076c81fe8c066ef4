"""The programs that mutants are made of: small, and of all sorts; with loops, windows, gathers and scatters."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent

_RUN = """
    all_to_all axis_swap blocks branch_that_sends clamped_starts loop_of_known_rounds loop_until_small mlp not_linear
    partial_sums_meet parts_nest pieces_of_an_axis positions reduce_scatter replicated_result shifted
    softmax_over_two_axes sum_from_two three_axes vocabulary windows
"""
_DATA = """
    pad_sharded reshape_merge_minor reshard_axis_swap concat_sharded conv1d_halo conv_transpose_spatial einsum_multi
    dynamic_slice_sharded cumsum_sharded einsum_outer cond_clip scatter_set concat_uneven_parts mlp_fwd_open_inputs
    pad_interior_grad conv_channels sort_pairs strided_reversed pool_spatial dynamic_slices_clamped roll_far
    ragged_experts cumsum_grad power_iteration take_along_sharded sparse_product histogram_counts while_cg
    argmax_sharded scan_over_split_time switch_branches scatter_drop loss_scaled_train nested_loops
    graph_message_passing scatter_min_mul collatz_lengths pagerank heat_stencil
"""

PROGRAMS = [
    *(TESTS / "lit" / "run" / f"{name}.mlir" for name in _RUN.split()),
    *(TESTS / "data" / "programs" / name / f"{name}.mlir" for name in _DATA.split()),
]
"""The files."""

SIGNS = {
    ("nested_loops", "local: collective doubled at dtensor.all_reduce (op 23)"),
    ("loop_until_small", "local: constant at stablehlo.constant (op 3)"),
    ("argmax_sharded", "local: constant at stablehlo.constant (op 9)"),
    ("graph_message_passing", "local: constant at stablehlo.constant (op 21)"),
}
"""
Mutants that change no result, and are refused: of a value nothing matters but whether it is larger than another, as
eight times the sum and 101 for 100 are too; a field has no order that would know. The last two are places from which
a largest starts: no float that was drawn is as low as its start.
"""

ROUNDED = {("pagerank", "planned: collective moved down at dtensor.all_reduce (op 44)")}
"""Mutants that are right, and change how often a loop runs: it ends where floats no longer move, by their last bits."""
