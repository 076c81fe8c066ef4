"""What `shardwright export` writes, run by JAX on eight host devices: equal results, and MLIR reads the text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stored_programs import PROGRAMS, RUNNABLE, assert_right, inputs

from shardwright.benchmarks import xla
from shardwright.compiler.layouts.unsharded import unsharded_module
from shardwright.compiler.pipelines import run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.dtensor import layout_of, meshes
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import native_array
from shardwright.engines.dtensor_value import DTensorValue, stack
from shardwright.engines.jax.asking import sent_by_xla
from shardwright.layout import Layout
from shardwright.passes.stages import verify_recorded_stage
from shardwright.runtime.executable import compile_module
from shardwright.tools.main import main
from shardwright.tools.programs.signature import entry_function, entry_signature

pytestmark = pytest.mark.peers
jax = pytest.importorskip("jax")

Array = np.ndarray[Any, Any]


def exported(path: Path, form: str, tmp_path: Path) -> str:
    """The text that the command writes."""
    target = tmp_path / f"{form}.mlir"
    assert main(["export", str(path), "--to", form, "-o", str(target)]) == 0
    return target.read_text()


def result_layouts(path: Path) -> list[Layout]:
    """The layouts of the program's results."""
    module = parse_module(path.read_text(), path.name)
    run_pipeline(module, ["propagate"])
    mesh = next(iter(meshes(module).values()))
    returned = entry_function(module).get_return_op()
    assert returned is not None
    return [Layout.from_spec(spec, mesh) for value in returned.operands if (spec := layout_of(value)) is not None]


def run_with_jax(text: str, inputs: list[Array], layouts: list[Layout]) -> list[Array]:
    """The global results that JAX computes on as many devices as the mesh has."""
    xla.prepare()
    loaded = xla.compile_text(text, layouts[0].mesh.size)
    parts = loaded.loaded.execute_sharded(loaded.place(inputs)).disassemble_into_single_device_arrays()
    whole = [
        DTensorValue(stack([native_array(np.asarray(part)) for part in result], layout), layout).numpy()
        for result, layout in zip(parts, layouts, strict=True)
    ]
    return whole


OLD = tuple(int(part) for part in jax.__version__.split(".")[:2]) < (0, 12)
WRONG_IN_XLA = {("dynamic_slices_clamped", "sdy"): "XLA's own partitioner clamps the starts of slices on each device"}


@pytest.mark.parametrize("form", ["sdy", "stablehlo"])
@pytest.mark.parametrize("name", RUNNABLE)
def test_stored_programs(name: str, form: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if OLD and (name, form) in WRONG_IN_XLA:
        request.applymarker(pytest.mark.xfail(reason=WRONG_IN_XLA[name, form], strict=True))
    path = PROGRAMS / name / f"{name}.mlir"
    assert_right(name, run_with_jax(exported(path, form, tmp_path), inputs(name), result_layouts(path)))


@pytest.mark.parametrize("form", ["sdy", "stablehlo"])
@pytest.mark.parametrize("name", ["export_manual", "export"])
def test_lit_programs(name: str, form: str, tmp_path: Path) -> None:
    """Programs of the text tests: results of whole numbers are those of our own run, which is checked elsewhere."""
    path = Path(__file__).resolve().parents[1] / "lit" / "pipeline" / f"{name}.mlir"
    signature = entry_signature(parse_module(path.read_text(), path.name))
    random = np.random.default_rng(0)
    inputs = [random.integers(-3, 4, one.shape).astype(one.dtype) for one in signature.arguments]
    results = run_with_jax(exported(path, form, tmp_path), inputs, result_layouts(path))
    expected = compile_module(unsharded_module(parse_module(path.read_text(), path.name))).run(inputs)
    for actual, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-6)


PLANNED = """\
module attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=4, "y"=2]>
  func.func public @main(%a: ARGUMENT) -> RESULT {
    OPS
    return %r : RESULT
  }
}
"""
GLOBAL = "tensor<16x8xf32, #dtensor.layout<@mesh, {}>>"


def planned(ops: str, source: str, target: str) -> str:
    """A planned program of some collectives, from one layout to another."""
    text = PLANNED.replace("OPS", ops)
    return text.replace("ARGUMENT", GLOBAL.format(source)).replace("RESULT", GLOBAL.format(target))


def moved(kind: str, source: str, target: str) -> str:
    """A program that is one exchange or permute."""
    signature = f"({GLOBAL.format(source)}) -> {GLOBAL.format(target)}"
    return planned(f"%r = dtensor.{kind} <@mesh, {source}> to <@mesh, {target}> %a : {signature}", source, target)


SIDES = [
    '[{"x"}, {"y"}]', '[{"y"}, {"x"}]', '[{"x", "y"}, {}]', '[{"y", "x"}, {}]', '[{}, {"x"}]', '[{"x"}, {}]',
    '[{"y"}, {}]', '[{"x":(1)2}, {"x":(2)2}]', '[{"x":(2)2, "y"}, {"x":(1)2}]', '[{}, {"y", "x"}]', "[{}, {}]",
    '[{"x":(2)2}, {}]', '[{"x":(1)2, "x":(2)2}, {}]',
]  # fmt: skip


def run_planned(text: str) -> tuple[Array, list[Array]]:
    """The argument, and what JAX makes of a planned program with one argument."""
    from shardwright.compiler.exporting.manual import export_stablehlo
    from shardwright.dialects.text.printing import print_module
    from shardwright.dialects.text.verify import verify_module

    module = parse_module(text, "planned.mlir")
    verify_module(module)
    verify_recorded_stage(module)
    function = entry_function(module)
    mesh = next(iter(meshes(module).values()))
    returned = function.get_return_op()
    assert returned is not None
    spec = layout_of(returned.operands[0])
    assert spec is not None
    run_pipeline(module, ["localize"])
    export_stablehlo(module)
    verify_module(module)
    value = np.arange(16 * 8, dtype=np.float32).reshape(16, 8)
    return value, run_with_jax(print_module(module), [value], [Layout.from_spec(spec, mesh)])


@pytest.mark.parametrize("source", SIDES)
def test_exchanges(source: str) -> None:
    for target in SIDES:
        if target != source:
            value, results = run_planned(moved("exchange", source, target))
            np.testing.assert_array_equal(results[0], value, err_msg=f"{source} to {target}")


@pytest.mark.parametrize("source", SIDES)
def test_relayouts(source: str, tmp_path: Path) -> None:
    """What the planner makes of a change of layout: slices, gathers, all-to-alls and permutes."""
    for target in SIDES:
        path = tmp_path / "relayout.mlir"
        types = [GLOBAL.format(side) for side in (source, target)]
        body = f"%r = dtensor.relayout %a : {types[0]} -> {types[1]}"
        path.write_text(planned(body, source, target).replace("planned", "traced"))
        value = np.arange(16 * 8, dtype=np.float32).reshape(16, 8)
        results = run_with_jax(exported(path, "stablehlo", tmp_path), [value], result_layouts(path))
        np.testing.assert_array_equal(results[0], value, err_msg=f"{source} to {target}")


@pytest.mark.parametrize("form", ["sdy", "stablehlo"])
@pytest.mark.parametrize("axes", ['"x":(1)2, "x":(2)2', '"y", "x":(1)2, "x":(2)2', '"x":(2)2, "x":(1)2'])
def test_parts_of_an_axis_that_follow_each_other(axes: str, form: str, tmp_path: Path) -> None:
    """Shardy writes them as one; in our text they may be two."""
    path, given = tmp_path / "parts.mlir", GLOBAL.format(f"[{{{axes}}}, {{}}]")
    path.write_text(
        PLANNED.replace("planned", "traced")
        .replace("OPS", f"%r = stablehlo.negate %a : {given}")
        .replace("ARGUMENT", given)
        .replace("RESULT", given)
    )
    value = np.arange(16 * 8, dtype=np.float32).reshape(16, 8)
    results = run_with_jax(exported(path, form, tmp_path), [value], result_layouts(path))
    np.testing.assert_array_equal(results[0], -value)


WINDOWS = [
    (-1, 1, 16),
    (3, 1, 16),
    (0, -1, 16),
    (15, -1, 16),
    (1, 2, 8),
    (14, -2, 8),
    (2, 1, 8),
    (-2, 1, 24),
    (5, 1, 4),
]
"""First element, stride and number of elements along a dim of sixteen."""


@pytest.mark.parametrize("axes", ['"x"', '"y"', '"y", "x"', '"x":(2)2'])
@pytest.mark.parametrize("second", [(0, 8), (-1, 8), (2, 4)])
def test_windows(axes: str, second: tuple[int, int]) -> None:
    for first, stride, count in WINDOWS:
        other = "" if "y" in axes else '"y"'
        layout = f"[{{{axes}}}, {{{other}}}]"
        if count % 8 and axes == '"y", "x"':
            continue
        result = GLOBAL.format(layout).replace("16x8", f"{count}x{second[1]}")
        op = f"%r = dtensor.window @mesh {layout} [{first}, {second[0]}] by [{stride}, 1] %a"
        op += f" {{padding = dense<7.0> : tensor<f32>}} : ({GLOBAL.format(layout)}) -> {result}"
        text = PLANNED.replace("OPS", op).replace("ARGUMENT", GLOBAL.format(layout)).replace("RESULT", result)
        value, results = run_planned(text)
        np.testing.assert_array_equal(results[0], windowed(value, first, stride, count, *second), err_msg=op)


@pytest.mark.parametrize(
    "numbers", ["[-1, 0] by [1, 1] dilated [2, 1]", "[-1, 0] by [1, 1] frames [6, 0] every [4, 0]"]
)
def test_windows_with_holes_and_halos(numbers: str) -> None:
    layout = '[{"x"}, {"y"}]'
    rows = 32 if "dilated" in numbers else 24
    result = GLOBAL.format(layout).replace("16x8", f"{rows}x8")
    op = f"%r = dtensor.window @mesh {layout} {numbers} %a {{padding = dense<7.0> : tensor<f32>}}"
    op += f" : ({GLOBAL.format(layout)}) -> {result}"
    text = PLANNED.replace("OPS", op).replace("ARGUMENT", GLOBAL.format(layout)).replace("RESULT", result)
    value, results = run_planned(text)
    places = np.arange(32) - 1 if rows == 32 else 2 * np.concatenate([np.arange(-1, 5) + 4 * part for part in range(4)])
    inside = (places % 2 == 0) & (places >= 0) & (places < 32)
    np.testing.assert_array_equal(results[0], np.where(inside[:, None], value[np.clip(places // 2, 0, 15)], 7))


def windowed(value: Array, first: int, stride: int, count: int, start: int, columns: int) -> Array:
    """Each element by its index, 7 outside."""
    rows, cols = first + stride * np.arange(count), start + np.arange(columns)
    inside = ((rows >= 0) & (rows < value.shape[0]))[:, None] & ((cols >= 0) & (cols < value.shape[1]))
    found = value[np.clip(rows, 0, value.shape[0] - 1)][:, np.clip(cols, 0, value.shape[1] - 1)]
    return np.where(inside, found, np.float32(7))


SCATTERED = """\
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<16x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}, \
%b: tensor<16x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}) \
-> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] \
: (tensor<16x512xf32>, tensor<16x512xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
"""


def test_a_sum_scattered_over_two_dims(tmp_path: Path) -> None:
    path = tmp_path / "scattered.mlir"
    path.write_text(SCATTERED)
    random = np.random.default_rng(0)
    inputs = [random.integers(-4, 4, (16, 512)).astype(np.float32) for _ in range(2)]
    text = exported(path, "stablehlo", tmp_path)
    assert text.count('"stablehlo.reduce_scatter"') == 1
    assert "all_reduce" not in text
    results = run_with_jax(text, inputs, result_layouts(path))
    np.testing.assert_array_equal(results[0], inputs[0] @ inputs[1].T)


MATRIX_PRODUCT = """\
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, \
%b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) \
-> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : \
(tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""


@pytest.mark.parametrize(("form", "theirs", "said"), [("stablehlo", 64.0, "the same"), ("sdy", 128.0, "2.00 times")])
def test_what_xla_sends(form: str, theirs: float, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of 4x8 partial sums on two devices, we send half and XLA's own partitioner, which reduces them whole, all."""
    path = tmp_path / "product.mlir"
    path.write_text(MATRIX_PRODUCT)
    assert main(["export", str(path), "--to", form, "--ask-xla", "--json"]) == 0
    output = capfd.readouterr()
    found = json.loads(output.out)
    assert (found["bytes_per_device"], found["xla"]["bytes_per_device"]) == (64.0, theirs)
    assert not found["xla"]["depends_on_data"]
    assert said in output.err


def test_what_xla_does_not_compile() -> None:
    with pytest.raises(ShardwrightError, match=r"SW0575.*custom op 'nonsense\.op'"):
        sent_by_xla("func.func @main() { nonsense.op }", 2)


@pytest.mark.parametrize("form", ["sdy", "stablehlo"])
def test_who_is_sent_nothing_has_zeros(form: str, tmp_path: Path) -> None:
    """A shift by one part, and the third part for itself and the fourth."""
    path = Path(__file__).resolve().parents[1] / "lit" / "pipeline" / "export_fetch.mlir"
    x = np.random.default_rng(0).standard_normal((16, 8), np.float32)
    shifted, copied = run_with_jax(exported(path, form, tmp_path), [x], result_layouts(path))
    np.testing.assert_array_equal(shifted, np.concatenate([np.zeros_like(x[:4]), x[:12]]))
    np.testing.assert_array_equal(copied, np.concatenate([np.zeros_like(x[:8]), x[8:12], x[8:12]]))


@pytest.mark.parametrize(("rows", "form", "said"), [(10, "sdy", True), (12, "sdy", False), (10, "stablehlo", False)])
def test_shardings_that_cannot_be_said_are_missed_aloud(
    rows: int, form: str, said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten rows on four devices: an argument in uneven parts, which Shardy's form has no sharding for."""
    given = f"tensor<{rows}x8xf32>"
    path = tmp_path / "rows.mlir"
    path.write_text(
        'sdy.mesh @mesh = <["x"=4]>\n'
        f'func.func public @main(%a: {given} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) -> {given} {{\n'
        f"  %0 = stablehlo.tanh %a : {given}\n  return %0 : {given}\n}}\n"
    )
    assert main(["export", str(path), "--to", form, "--ask-xla"]) == 0
    assert ("split unevenly at the program's borders has no sharding" in capsys.readouterr().err) == said
