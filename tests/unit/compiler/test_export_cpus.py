"""What is exported for CPUs in other words: places of extremes in two steps, transforms that go through rows."""

from __future__ import annotations

import numpy as np
import pytest
from extremes import one_by_one, reduction
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.stablehlo.calls.custom_calls import CustomCallOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import compile_module

SPECIAL = (-np.inf, -1, 0, 1, 2, np.inf)


def exported(text: str, platform: str | None = "cpu") -> ModuleOp:
    module = parse_module(text, "test.mlir")
    run_pipeline(module, ["partition"])
    export_stablehlo(module, platform=platform)
    return module


@pytest.mark.parametrize("direction", ["GT", "LT"])
@pytest.mark.parametrize(
    ("kind", "start", "number"),
    [
        ("f32", None, None),
        ("bf16", None, None),
        ("i32", None, None),
        ("f32", "1.0", 1.0),
        ("f32", "0x7F800000", np.inf),
    ],
)
def test_values_and_places(kind: str, start: str | None, number: float | None, direction: str) -> None:
    module = exported(reduction(kind, direction, start=start))
    assert "reducer" not in str(module)
    executable = compile_module(module, fused=False)
    generator = np.random.default_rng(0)
    if number is None:
        number = {"i32": 100}.get(kind, np.inf) * (-1 if direction == "GT" else 1)
    for trial in range(30):
        x = generator.choice(SPECIAL[1:5] if kind == "i32" else SPECIAL, (3, 7))
        if kind != "i32" and trial % 3 == 0:
            x[1, trial % 7] = np.nan
        places = generator.permutation(21).reshape(3, 7).astype(np.int32)
        value, place = executable.run([x.astype(executable.inputs[0].dtype), places])
        for row in range(3):
            wanted = one_by_one(x[row].tolist(), places[row].tolist(), direction, number)
            np.testing.assert_array_equal(value[row].astype(np.float32), np.float32(wanted[0]))
            assert place[row] == wanted[1]


def test_a_start_that_is_nan_another_body_and_other_platforms_keep_what_is_written() -> None:
    for text, platform in [
        (reduction(start="0x7FC00000"), "cpu"),
        (reduction(tie="GT"), "cpu"),
        (reduction(), "cuda"),
        (reduction(), None),
    ]:
        assert "reducer" in str(exported(text, platform))


def test_what_a_fourier_transform_gives_lies_in_rows() -> None:
    """Each reader is given the value of which XLA is told so; without a platform nothing is said."""
    text = """
func.func @main(%x: tensor<4x3x8xcomplex<f32>>) -> (tensor<4x3x8xcomplex<f32>>, tensor<4x3x8xf32>) {
  %f = stablehlo.fft %x, type = FFT, length = [8] : (tensor<4x3x8xcomplex<f32>>) -> tensor<4x3x8xcomplex<f32>>
  %r = stablehlo.real %f : (tensor<4x3x8xcomplex<f32>>) -> tensor<4x3x8xf32>
  return %f, %r : tensor<4x3x8xcomplex<f32>>, tensor<4x3x8xf32>
}
"""
    module = exported(text)
    (transform,) = (op for op in module.walk() if op.name == "stablehlo.fft")
    (use,) = transform.results[0].uses
    assert isinstance(use.operation, CustomCallOp)
    assert "result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>]" in str(use.operation)
    x = np.random.default_rng(0).standard_normal((4, 3, 8)).astype(np.complex64)
    run_pipeline(module, ["decompose"])
    found, real = compile_module(module).run([x])
    np.testing.assert_allclose(found, np.fft.fft(x), atol=1e-4)
    np.testing.assert_allclose(real, np.fft.fft(x).real, atol=1e-4)
    assert "custom_call" not in str(exported(text, None))


DEALT_OUT = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x8xi32>, %p: tensor<i32>) -> tensor<8x8xi32> {
  %0 = sdy.manual_computation(%a, %p) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<2x8xi32>, %q: tensor<i32>) {
    MADE
    %d = "stablehlo.all_to_all"(%c) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64,
        split_dimension = 0 : i64}> : (tensor<8x2xi32>) -> tensor<2x8xi32>
    sdy.return %d : tensor<2x8xi32>
  } : (tensor<8x8xi32>, tensor<i32>) -> tensor<8x8xi32>
  return %0 : tensor<8x8xi32>
}
"""
HALF = "%h = stablehlo.slice %b [0:2, 0:2] : (tensor<2x8xi32>) -> tensor<2x2xi32>"
ROWS = "%c = stablehlo.concatenate %h, %h, %h, %h, dim = 0 : (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, \
tensor<2x2xi32>) -> tensor<8x2xi32>"


@pytest.mark.parametrize(
    ("made", "held"),
    [
        (
            f"{HALF}\n%c = stablehlo.pad %h, %q, low = [2, 0], high = [4, 0], interior = [0, 0] "
            ": (tensor<2x2xi32>, tensor<i32>) -> tensor<8x2xi32>",
            True,
        ),
        (f"{HALF}\n{ROWS}", True),
        (
            f"{HALF}\n%t = stablehlo.reshape %h : (tensor<2x2xi32>) -> tensor<1x4xi32>\n"
            + ROWS.replace("%c", "%u").replace("%h", "%t").replace("2x2xi32", "1x4xi32").replace("8x2xi32", "4x4xi32")
            + "\n%c = stablehlo.reshape %u : (tensor<4x4xi32>) -> tensor<8x2xi32>",
            True,
        ),
        ("%c = stablehlo.reshape %b : (tensor<2x8xi32>) -> tensor<8x2xi32>", False),
    ],
)
def test_what_is_joined_is_held_before_it_is_dealt_out(made: str, held: bool) -> None:
    text = DEALT_OUT.replace("MADE", made)
    assert ("optimization_barrier" in str(exported(text))) == held
    assert "optimization_barrier" not in str(exported(text, None))
