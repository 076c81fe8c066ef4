"""Pipelines by name: what they run, in which order, and that each gets time and observers."""

import gc

import pytest
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.pipelines import COMPOSED, IMPORT, PIPELINES, run_pipeline
from shardwright.diagnostics import ShardwrightValueError
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes import all_passes
from shardwright.passes.stages import stage_of

TEXT = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1]
    : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_every_name_in_a_pipeline_is_a_pass() -> None:
    for names in PIPELINES.values():
        assert set(names) <= set(all_passes())


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("import", "traced"),
        ("propagate", "propagated"),
        ("align", "aligned"),
        ("plan", "planned"),
        ("partition", "local"),
    ],
)
def test_each_pipeline_leads_to_its_stage(name: str, stage: str) -> None:
    module = parse_module(TEXT)
    times = run_pipeline(module, [name], verify_each=True)
    assert stage_of(module) == stage
    assert [item.name for item in times] == list(PIPELINES[name])
    assert all(item.seconds >= 0 for item in times)


def test_observers_see_the_module_after_each_pass() -> None:
    seen: list[tuple[str, str | None]] = []
    run_pipeline(parse_module(TEXT), ["import"], observer=lambda name, module: seen.append((name, stage_of(module))))
    assert seen == [(name, None if name in COMPOSED else "traced") for name in IMPORT]


def test_unknown_names_are_refused_before_anything_runs() -> None:
    module = parse_module(TEXT)
    with pytest.raises(ShardwrightValueError, match="SW0705") as caught:
        run_pipeline(module, ["import", "fuse"])
    assert "propagate" in (caught.value.diagnostics[0].help or "")
    assert stage_of(module) is None


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before(enabled: bool) -> None:
    was = gc.isenabled()
    during: list[bool] = []
    try:
        gc.enable() if enabled else gc.disable()
        run_pipeline(ModuleOp([]), ["dce"], observer=lambda name, module: during.append(gc.isenabled()))
        assert gc.isenabled() is enabled
    finally:
        gc.enable() if was else gc.disable()
    assert during == [False]
