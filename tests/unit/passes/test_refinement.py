"""Refinement sends fewer bytes, and never by letting devices do the same work twice."""

import math
from pathlib import Path
from typing import Any

import pytest
import stored_programs

from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.axes import Axis
from shardwright.passes.program import Program
from shardwright.passes.propagation import refinement
from shardwright.passes.propagation.alignment import bytes_sent
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.propagation.refinement import Ground, _Refiner, refine
from shardwright.passes.propagation.spreading import propagate
from shardwright.passes.propagation.strategy import Strategist
from shardwright.passes.propagation.structure.ordering import structural_marks, structural_order

ROOT = Path(__file__).parents[3]

# A small batch under large weights: with every activation gathered once and all work repeated on the four devices of
# `batch`, the fewest bytes would be sent. Nobody wants that.
SMALL_BATCH = """
sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(
    %x: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>},
    %w: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %v: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}
  ) -> (
    tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}
  ) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
  %1 = stablehlo.tanh %0 : tensor<8x256xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
      : (tensor<8x256xf32>, tensor<256x64xf32>) -> tensor<8x64xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [0] x [0]
      : (tensor<8x256xf32>, tensor<8x64xf32>) -> tensor<256x64xf32>
  %4 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0]
      : (tensor<8x64xf32>, tensor<8x256xf32>) -> tensor<64x256xf32>
  return %4, %3 : tensor<64x256xf32>, tensor<256x64xf32>
}
"""

# Fully sharded: gathering the weight sends sixteen times what trading the activation's dims does.
FULLY_SHARDED = """
sdy.mesh @mesh = <["x"=8]>
func.func public @main(
    %h: tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %w: tensor<1024x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
  ) -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.tanh %h : tensor<64x1024xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
      : (tensor<64x1024xf32>, tensor<1024x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
"""

PROGRAMS = {
    "small batch": SMALL_BATCH,
    "fully sharded": FULLY_SHARDED,
    "transformer": (ROOT / "examples" / "transformer_train.mlir").read_text(),
}


def heavy_work(program: Program, strategist: Strategist, dims: list) -> float:
    """The multiplications that each device does."""
    return sum(
        math.prod(node.rule.sizes) / strategist.best(node, dims)[1].degree for node in program.nodes if node.rule.heavy
    )


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_fewer_bytes_but_no_more_work(text: str) -> None:
    module = parse_module(text, "program.mlir")
    run_pipeline(module, ["import"])
    program = build_program(module)
    strategist = Strategist(program)
    state = propagate(program, strategist)
    order = structural_order(program, structural_marks(program))
    before = list(state.dims)
    refine(program, strategist, state)
    assert bytes_sent(program, strategist, state.dims, order) <= bytes_sent(program, strategist, before, order)
    assert heavy_work(program, strategist, state.dims) <= heavy_work(program, strategist, before)


def test_moving_activations_beats_gathering_weights() -> None:
    module = parse_module(FULLY_SHARDED, "program.mlir")
    run_pipeline(module, ["plan"])
    kinds = [op.name for op in module.walk() if op.name.startswith("dtensor.") and op.name != "dtensor.mesh"]
    # 64x1024 trades its rows for columns, then 64x64 partial sums are scattered: 7/8 of 32 KiB and of 16 KiB.
    assert kinds == ["dtensor.all_to_all", "dtensor.reduce_scatter"]


def accumulation(count: int) -> str:
    """Partial sums of `count` products added up one after the other: one long stretch on which every product pays."""
    arguments = ", ".join(
        f'%b{i}: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}]>}}' for i in range(count)
    )
    lines = [
        'sdy.mesh @mesh = <["x"=2]>',
        'func.func public @main(%s: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},'
        f" {arguments}) -> tensor<8x8xf32> {{",
    ]
    for i in range(count):
        total = f"%s{i - 1}" if i else "%s"
        lines += [
            f"%d{i} = stablehlo.dot_general %b{i}, %s, contracting_dims = [1] x [0]"
            " : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
            f"%s{i} = stablehlo.add {total}, %d{i} : tensor<8x8xf32>",
        ]
    return "\n".join([*lines, f"return %s{count - 1} : tensor<8x8xf32>", "}"])


def looks(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many values refinement looks at in all its moves."""
    seen = 0
    tried = _Refiner._tried

    def counting(self: _Refiner, changes: dict) -> Any:
        nonlocal seen
        seen += len(changes)
        return tried(self, changes)

    monkeypatch.setattr(_Refiner, "_tried", counting)
    module = parse_module(accumulation(count), "accumulation.mlir")
    run_pipeline(module, ["propagate"])
    monkeypatch.undo()
    return seen


def test_refinement_is_linear_in_the_length_of_a_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert looks(200, monkeypatch) <= 2.2 * looks(100, monkeypatch)


def test_wide_moves_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may touch the whole program, so a sweep tries a fixed number of them, for the ops that pay most."""
    wide, sweeps = 0, 0
    spread, sweep = _Refiner._spread, _Refiner.sweep

    def counted_spread(self: _Refiner, wishes: Any, along: Any = None) -> Any:
        nonlocal wide
        wide += along is not None
        return spread(self, wishes, along)

    def counted_sweep(self: _Refiner) -> bool:
        nonlocal sweeps
        sweeps += 1
        return sweep(self)

    monkeypatch.setattr(refinement, "WIDE_TRIES", 2)
    monkeypatch.setattr(_Refiner, "_spread", counted_spread)
    monkeypatch.setattr(_Refiner, "sweep", counted_sweep)
    run_pipeline(parse_module(stored_programs.text("moe_fwd")), ["propagate"])
    assert 0 < wide <= 2 * sweeps


def test_a_move_that_would_split_a_value_twice_leaves_it() -> None:
    text = """
dtensor.mesh @mesh = <["y"=2]>
func.func public @main(%a: tensor<8xf32>, %b: tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>) -> tensor<8x8xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %0, %b : (tensor<8x8xf32>, tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}"""
    program = build_program(parse_module(text, "twice.mlir"))
    strategist = Strategist(program)
    state = propagate(program, strategist)
    rows = ((Axis("y"),),)
    # Its rows by y as well as its columns: that is no layout.
    assert state.dims[2] == ((), (Axis("y"),))
    refiner = _Refiner(program, strategist, state, Ground(program))
    assert refiner._spread({0: rows}, refiner.ground.light) == {0: rows}


def test_a_value_may_move_to_axes_that_are_not_manual_around_it() -> None:
    text = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"}
      (%b: tensor<4xf32>) {
    %1 = stablehlo.negate %b : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
    module = parse_module(text, "inside.mlir")
    run_pipeline(module, ["import"])
    program = build_program(module)
    strategist = Strategist(program)
    refiner = _Refiner(program, strategist, propagate(program, strategist), Ground(program))
    (inside,) = (node.results[0] for node in program.nodes if node.op.name == "stablehlo.negate")
    assert refiner._may_become(inside, ((Axis("y"),),))
    assert not refiner._may_become(inside, ((Axis("x"),),))
    assert not refiner._may_become(inside, ((Axis("y"), Axis("x")),))
