"""Programs at reduced sizes: of the same structure, verified, proved like the whole ones, and wrong where these are."""

from __future__ import annotations

import random
import time

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.dtensor import layout_of, meshes
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import shape_of
from shardwright.passes.stages import verify_stage
from shardwright.proof.checker import differences
from shardwright.proof.exact import Inexact, make_exact
from shardwright.proof.reduction import Reduced, reduce_programs
from shardwright.proof.structure import same_structure
from tests.support import stored_programs

FAST = ["cumsum_sharded", "einsum_multi", "gather_modes", "mlp_fwd", "pad_sharded", "reshape_split", "sort_pairs"]


def planned(traced: ModuleOp) -> ModuleOp:
    found = traced.clone()
    run_pipeline(found, ["plan"])
    return found


def localized(program: ModuleOp) -> ModuleOp:
    found = program.clone()
    run_pipeline(found, LOCALIZE)
    return found


def reduced(traced: ModuleOp, plan: ModuleOp) -> Reduced:
    found = reduce_programs(traced, plan)
    assert isinstance(found, Reduced), found
    return found


def check_stored(name: str) -> None:
    """A stored program reduces to one of its structure, in all three stages, which is proved."""
    traced = parse_module(stored_programs.text(name), name)
    plan = planned(traced)
    small = reduced(traced, plan)
    local = localized(small.planned)
    assert same_structure(traced, small.traced) is None
    assert same_structure(plan, small.planned) is None
    assert same_structure(localized(plan), local, local=True) is None
    assert all(size <= 4 or size == before for size, before in _axis_sizes(small, plan))
    try:
        make_exact(traced)
    except Inexact:
        return
    assert differences(small.traced, local) == []


def _axis_sizes(small: Reduced, plan: ModuleOp) -> list[tuple[int, int]]:
    whole = {name: size for mesh in meshes(plan).values() for name, size in mesh.sizes.items()}
    return [(size, whole[name]) for name, size in small.axes.items()]


@pytest.mark.parametrize("name", FAST)
def test_stored_programs_are_proved_at_reduced_sizes(name: str) -> None:
    check_stored(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in stored_programs.NAMES if name not in FAST])
def test_all_stored_programs_are_proved_at_reduced_sizes(name: str) -> None:
    check_stored(name)


LAYER = """
sdy.mesh @mesh = <["data"=64, "fsdp"=16, "model"=16]>
func.func @main(
    %x: tensor<2048x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {}]>},
    %w: tensor<16384x6144xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {"model"}]>},
    %g: tensor<16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}
) -> (tensor<2048x32x128xf32>, tensor<2048x8x64xf32>, tensor<2048x16384xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<2048x16384xf32>, tensor<16384x6144xf32>) -> tensor<2048x6144xf32>
  %q = stablehlo.slice %0 [0:2048, 0:4096] : (tensor<2048x6144xf32>) -> tensor<2048x4096xf32>
  %k = stablehlo.slice %0 [0:2048, 4096:5120] : (tensor<2048x6144xf32>) -> tensor<2048x1024xf32>
  %1 = stablehlo.reshape %q : (tensor<2048x4096xf32>) -> tensor<2048x32x128xf32>
  %2 = stablehlo.reshape %k : (tensor<2048x1024xf32>) -> tensor<2048x8x128xf32>
  %3 = stablehlo.slice %2 [0:2048, 0:8, 0:64] : (tensor<2048x8x128xf32>) -> tensor<2048x8x64xf32>
  %4 = stablehlo.slice %x [0:2048, 1:16384] : (tensor<2048x16384xf32>) -> tensor<2048x16383xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.pad %4, %z, low = [0, 0], high = [0, 1], interior = [0, 0]
      : (tensor<2048x16383xf32>, tensor<f32>) -> tensor<2048x16384xf32>
  %6 = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<16384xf32>) -> tensor<2048x16384xf32>
  %7 = stablehlo.subtract %5, %6 : tensor<2048x16384xf32>
  return %1, %3, %7 : tensor<2048x32x128xf32>, tensor<2048x8x64xf32>, tensor<2048x16384xf32>
}
"""


def test_a_layer_on_sixteen_thousand_devices_becomes_small() -> None:
    traced = parse_module(LAYER)
    plan = planned(traced)
    small = reduced(traced, plan)
    sizes = small.sizes
    assert max(sizes[size] for size in (2048, 16384, 6144, 4096)) < 200
    assert sizes[6144] == sizes[4096] + 2 * sizes[1024]
    assert (sizes[4096], sizes[1024]) == (sizes[32] * sizes[128], sizes[8] * sizes[128])
    assert sizes[16383] == sizes[16384] - 1
    assert sizes[128] == 2 * sizes[64]
    (mesh,) = meshes(small.planned).values()
    assert mesh.size <= 64
    for op in small.planned.walk():
        for value in op.results:
            spec = layout_of(value)
            assert spec is not None
            parts = [mesh.group_size(axes) for axes in spec.dims]
            assert all(size % count == 0 for size, count in zip(shape_of(value), parts, strict=True))
    assert differences(small.traced, localized(small.planned)) == []


def mutants(plan: ModuleOp, seed: int, count: int) -> list[ModuleOp]:
    """Copies in which one op takes another value of the same type, or its operands exchanged: well-typed, and wrong."""
    draw, found = random.Random(seed), list[ModuleOp]()
    while len(found) < count:
        copy = plan.clone()
        main = next(op for op in copy.ops if op.name == "func.func")
        known: list[SSAValue] = list(main.regions[0].block.args)
        places = [(op, number) for op in main.regions[0].block.ops for number in range(len(op.operands))]
        op, number = draw.choice(places)
        for before in main.regions[0].block.ops:
            if before is op:
                break
            known += before.results
        others = [
            value for value in known if value.type == op.operands[number].type and value is not op.operands[number]
        ]
        if others:
            op.operands[number] = draw.choice(others)
            found.append(copy)
    return found


def verdict(traced: ModuleOp, plan: ModuleOp) -> bool | None:
    """Whether a plan is proved as it is; None where it is no plan at all."""
    try:
        verify_stage(plan, "planned")
        return differences(traced, localized(plan)) == []
    except ShardwrightError:
        return None


def check_mutants(name: str, seed: int, count: int) -> int:
    """Mutants are wrong at reduced sizes exactly if they are at their own; how many are."""
    traced = parse_module(stored_programs.text(name), name)
    wrong = 0
    for plan in mutants(planned(traced), seed, count):
        whole = verdict(traced, plan)
        if whole is not None:
            small = reduced(traced, plan)
            assert verdict(small.traced, small.planned) == whole
            wrong += not whole
    return wrong


def test_what_is_wrong_is_wrong_at_reduced_sizes() -> None:
    assert check_mutants("mlp_bf16_fwd", 0, 8) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clipped_adam", "embed_features", "heat_stencil", "kmeans_steps", "tblock_fwd_wide"])
def test_what_is_wrong_is_wrong_at_reduced_sizes_in_many_programs(name: str) -> None:
    assert check_mutants(name, 1, 25) >= 10


def test_a_program_that_stays_large_is_refused_with_the_reason() -> None:
    traced = parse_module("""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(
        %x: tensor<2x8192x8192x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>},
        %w: tensor<7x7x3x64xf32>
    ) -> tensor<2x8192x8192x64xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
          window = {pad = [[3, 3], [3, 3]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<2x8192x8192x3xf32>, tensor<7x7x3x64xf32>) -> tensor<2x8192x8192x64xf32>
      return %0 : tensor<2x8192x8192x64xf32>
    }
    """)
    found = reduce_programs(traced, planned(traced))
    assert isinstance(found, str)
    assert found.endswith("steps at reduced sizes still")


ROLLED = """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %by: tensor<i32>) -> tensor<64xf32> {
  %twice = stablehlo.concatenate %x, %x, dim = 0 : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  %n = stablehlo.constant dense<64> : tensor<i32>
  %start = stablehlo.subtract %n, %by : tensor<i32>
  %0 = stablehlo.dynamic_slice %twice, %start, sizes = [64] : (tensor<128xf32>, tensor<i32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
"""


def test_a_careful_reduction_keeps_the_sizes_that_the_program_computes_with() -> None:
    traced = parse_module(ROLLED)
    plan = planned(traced)
    assert reduced(traced, plan).sizes[64] < 64
    small = reduce_programs(traced, plan, careful=True)
    assert isinstance(small, Reduced)
    assert small.sizes[64] == 64
    assert differences(small.traced, localized(small.planned)) == []


RESHARDED = """
sdy.mesh @mesh = <["x"=16, "y"=4, "z"=4]>
func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "z"}, {}]>}) {
  %0 = stablehlo.add %a, %a : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""


def test_axes_that_change_places_keep_their_products() -> None:
    traced = parse_module(RESHARDED)
    plan = planned(traced)
    assert any(op.name == "dtensor.collective_permute" for op in plan.walk())
    small = reduced(traced, plan)
    assert small.axes["x"] == small.axes["y"] * small.axes["z"]
    assert differences(small.traced, localized(small.planned)) == []


PARTS = """
sdy.mesh @mesh = <["x"=32]>
func.func @main(%a: tensor<320xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}]>})
    -> (tensor<320xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(4)8}]>}) {
  %0 = stablehlo.add %a, %a : tensor<320xf32>
  return %0 : tensor<320xf32>
}
"""


def test_each_part_of_an_axis_becomes_its_smallest_factor() -> None:
    traced = parse_module(PARTS)
    plan = planned(traced)
    small = reduced(traced, plan)
    assert small.axes == {"x": 4}
    assert same_structure(plan, small.planned) is None
    assert differences(small.traced, localized(small.planned)) == []


@pytest.mark.slow
def test_a_llama_on_sixteen_thousand_devices_is_proved_within_ten_seconds() -> None:
    traced = parse_module((stored_programs.PROGRAMS.parent / "large" / "llama_scan.mlir").read_text())
    plan = planned(traced)
    started = time.process_time()
    small = reduced(traced, plan)
    local = localized(small.planned)
    assert differences(small.traced, local) == []
    assert same_structure(traced, small.traced) is None
    assert same_structure(plan, small.planned) is None
    assert time.process_time() - started < 10
    assert same_structure(localized(plan), local, local=True) is None
    (wrong,) = mutants(small.planned, 5, 1)
    assert verdict(small.traced, wrong) is not True
