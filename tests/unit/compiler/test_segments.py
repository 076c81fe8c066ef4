"""Programs on several meshes as stages: segments, transfers, bytes, proofs, and what is asked of one mesh alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.stages import PartitionedSegments, Traced
from shardwright.diagnostics.registry import coded
from shardwright.tools.main import main

MESH = sw.Mesh([("batch", 4), ("model", 2)])
TABLES = sw.Mesh([("embedding", 2)], ["/worker:0/GPU:0", "/worker:0/GPU:1"])
F32 = 4


def at(array: Any, entries: Any, mesh: sw.Mesh = MESH) -> Any:
    return sw.relayout(array, sw.Layout(entries, mesh))


def loss(table: Any, w: Any, x: Any) -> Any:
    return sw.sum(sw.square((sw.relayout_like(table[:8], x) + x) @ w))


def arguments() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    table, w, x = (rng.standard_normal(shape).astype(np.float32) for shape in ((16, 6), (6, 4), (8, 6)))
    return at(table, [None, "embedding"], TABLES), at(w, [None, "model"]), at(x, ["batch"])


def traced() -> Traced:
    return sw.function(sw.value_and_grad(loss, argnums=(0, 1))).trace(*arguments())


def partitioned() -> PartitionedSegments:
    stage = traced().partition()
    assert isinstance(stage, PartitionedSegments)
    return stage


def test_each_segment_is_on_one_mesh_and_values_go_in_between() -> None:
    stage = partitioned()
    assert {segment.interface.mesh for segment in stage.segments} == {TABLES, MESH}
    there, back = stage.transfers
    assert (there.tensor, back.tensor) == ("f32[8, 6]", "f32[8, 6]")
    # Rows in four parts, of which the tables' devices have none; and all of a gradient on each of these.
    assert there.bytes_per_device == 8 * 6 * F32 / 4
    assert back.bytes_per_device == 8 * 6 * F32
    assert repr(MESH) in there.target
    assert repr(TABLES) in back.target


def test_what_is_predicted_is_what_a_run_counts() -> None:
    stage, given = partitioned(), arguments()
    compiled = stage.compile()
    value, (by_table, by_w) = compiled(*given)
    assert compiled.ledger.sent_bytes == stage.predicted_bytes
    table, w, x = map(np.asarray, given)
    rows = (table[:8] + x) @ w
    np.testing.assert_allclose(float(value), np.sum(rows**2), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(by_w), 2 * (table[:8] + x).T @ rows, rtol=1e-4)
    np.testing.assert_allclose(np.asarray(by_table)[:8], 2 * rows @ w.T, rtol=1e-4)
    assert by_table.mesh == TABLES


def test_each_segment_is_proved() -> None:
    proof = partitioned().certify()
    assert proof.proved
    assert (proof.faults, proof.unproved) == ([], [])
    assert len(proof.segments) == len(partitioned().segments)
    np.testing.assert_allclose(float(traced().compile(certify=True)(*arguments())[0]), float(loss(*arguments())), 1e-5)


def test_what_is_not_proved_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unproved:
        proved, faults, unproved = False, (), ("an op",)

    stage = partitioned()

    def certify(*_: Any) -> Unproved:
        return Unproved()

    monkeypatch.setattr(type(stage.backend), "certify", certify)
    with pytest.raises(ValueError, match="SW0332") as caught:
        stage.compile(certify=True)
    assert caught.value.diagnostics[0].notes == ("an op",) * len(stage.segments)  # pyright: ignore


def test_it_explains_all_of_it() -> None:
    stage = partitioned()
    explanation = stage.explain()
    text = str(explanation)
    for number, segment in enumerate(stage.segments, 1):
        assert f"segment {number} of {len(stage.segments)}, on {segment.interface.mesh!r}" in text
    assert "2 transfers from mesh to mesh" in text
    assert f"f32[8, 6] goes from {stage.transfers[0].source} to {stage.transfers[0].target}: 48 bytes" in text
    assert [row.kind for row in explanation.rows] == [row.kind for row in stage.predicted]
    assert any("table" in row.name for row in explanation.arguments)
    assert "given by the user" in str(explanation.why("table"))
    with pytest.raises(sw.ShardwrightError, match="SW0714"):
        explanation.why("nobody")
    data = explanation.data()
    assert [each["mesh"] for each in data["segments"]] == [repr(each.interface.mesh) for each in stage.segments]
    assert [each["bytes_per_device"] for each in data["transfers"]] == [48.0, 192.0]
    json.dumps(data)
    assert "<pre>segment 1" in explanation._repr_html_()  # pyright: ignore[reportPrivateUsage]


def test_a_fault_in_answering_is_no_missing_name(monkeypatch: pytest.MonkeyPatch) -> None:
    explanation = partitioned().explain()

    def broken(*_: Any) -> Any:
        raise sw.ShardwrightError(coded("SW0799", "a fault of ours"))

    monkeypatch.setattr(type(explanation.segments[0][1]), "why", broken)
    with pytest.raises(sw.ShardwrightError, match="SW0799"):
        explanation.why("table")


def test_where_values_only_go_to_another_mesh_nothing_has_a_name() -> None:
    moved = sw.function(lambda x: sw.relayout(x, sw.Layout(["embedding"], TABLES)))
    stage = moved.trace(at(np.ones(8, np.float32), ["batch"])).partition()
    assert isinstance(stage, PartitionedSegments)
    assert (len(stage.segments), len(stage.transfers)) == (0, 1)
    assert "1 transfer from mesh to mesh" in str(stage.explain())
    with pytest.raises(sw.ShardwrightError, match=r"SW0714.*there is nothing called 'x': nothing is computed"):
        stage.explain().why("x")


def test_its_text_has_all_programs() -> None:
    text = partitioned().as_text()
    assert text.count("func.func public @main") == len(partitioned().segments)
    assert "segment 1 of 4(" in text


@pytest.mark.parametrize("name", ["price", "report", "what_if", "to_stablehlo"])
def test_what_is_about_one_mesh_is_asked_of_a_segment(name: str, tmp_path: Path) -> None:
    stage = partitioned()
    given = [tmp_path / "page.html"] if name == "report" else []
    with pytest.raises(ValueError, match="SW0405") as caught:
        getattr(stage, name)(*given)
    (found,) = caught.value.diagnostics  # pyright: ignore
    assert found.message == f"{name} is about one mesh, and the program is on several"
    assert found.help == f"ask each segment: stage.segments[0].{name}(...)"
    getattr(stage.segments[2], name)(*given)


def test_bytes_that_depend_on_data_are_not_known() -> None:
    def there(x: Any) -> Any:
        x = sw.while_loop(lambda v: sw.sum(v) < 100, lambda v: v + sw.sum(v), x)
        return sw.relayout(x, sw.Layout(["embedding"], TABLES))

    stage = sw.function(there).trace(at(np.ones(8, np.float32), ["batch"])).partition()
    assert stage.predicted_bytes is None


def test_a_number_goes_to_any_mesh_as_it_is() -> None:
    def scaled(table: Any, x: Any, rate: Any) -> Any:
        return sw.relayout_like(table[:8] * rate, x) * sw.relayout(rate, sw.Layout([], MESH))

    table, _, x = arguments()
    rate = np.float32(2)
    stage = sw.function(scaled).trace(table, x, rate).partition()
    assert isinstance(stage, PartitionedSegments)
    compiled = stage.compile()
    np.testing.assert_allclose(np.asarray(compiled(table, x, rate)), 4 * np.asarray(table)[:8])
    assert compiled.ledger.sent_bytes == stage.predicted_bytes


def test_the_command_explains_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(traced().as_text())
    assert main(["explain", str(program)]) == 0
    text = capsys.readouterr().out
    assert "segment 1 of " in text
    assert "2 transfers from mesh to mesh" in text
    assert main(["explain", str(program), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["transfers"]) == 2
    assert main(["explain", str(program), "--why", "table"]) == 0
    assert "given by the user" in capsys.readouterr().out


TWO = """
dtensor.mesh @a = <["x"=2]>
dtensor.mesh @b = <["y"=4]>
func.func public @main(%v: tensor<8xf32, #dtensor.layout<@a, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@b, [{"y"}]>> {
  %0 = stablehlo.tanh %v : tensor<8xf32, #dtensor.layout<@a, [{"x"}]>>
  %1 = dtensor.transfer %0 : tensor<8xf32, #dtensor.layout<@a, [{"x"}]>> -> tensor<8xf32, #dtensor.layout<@b, [{"y"}]>>
  %2 = stablehlo.negate %1 : tensor<8xf32, #dtensor.layout<@b, [{"y"}]>>
  return %2 : tensor<8xf32, #dtensor.layout<@b, [{"y"}]>>
}
"""


@pytest.mark.parametrize("form", ["stablehlo", "sdy"])
def test_the_command_exports_a_program_for_each(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(TWO)
    assert main(["export", str(program), "--to", form]) == 0
    first, second = capsys.readouterr().out.split("// -----\n")
    assert "stablehlo.tanh" in first
    assert "stablehlo.negate" in second
    assert '["x"=2]' in first
    assert '["y"=4]' in second
    assert main(["export", str(program), "--to", form, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [each["mesh"] for each in data["segments"]] == [{"x": 2}, {"y": 4}]
    # Devices without names are numbered: two of the four have half of what they are to have.
    assert [each["bytes_per_device"] for each in data["transfers"]] == [(1 * 0 + 3 * 8) / 4]


def test_the_command_prices_each_segment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(TWO)
    assert main(["price", str(program)]) == 0
    text = capsys.readouterr().out
    assert "on Mesh(x=2)" in text
    assert "on Mesh(y=4)" in text
    assert main(["price", str(program), "--json"]) == 0
    assert [each["flops"] for each in json.loads(capsys.readouterr().out)["segments"]] == [4, 2]
