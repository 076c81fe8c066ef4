"""The report: figures that follow from arithmetic, what is folded, and names that want to be markup."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.report import CollectiveRow, Repetition
from shardwright.compiler.stages import Compiled, Partitioned
from shardwright.diagnostics import SourceLocation
from shardwright.tools.main import main
from shardwright.views.report.memory import points
from shardwright.views.report.program import Fold, OpLine, cut, program_nodes
from shardwright.views.report.source import source_files

ROOT = Path(__file__).resolve().parents[3]
MESH = sw.Mesh(model=4)
LAYERS = 3


def laid(shape: tuple[int, ...], *specs: str | None) -> sw.dtensor.DTensor:
    """Ones, laid out so."""
    return sw.relayout(np.ones(shape, np.float32), sw.Layout(list(specs), MESH))


def model(x: sw.dtensor.DTensor, weights: list[sw.dtensor.DTensor]) -> sw.dtensor.DTensor:
    """Equal layers, each of which leaves partial sums."""
    for weight in weights:
        x = sw.tanh(sw.relayout(x @ weight, sw.Layout([None, None], MESH)))
        x = sw.relayout(x, sw.Layout([None, "model"], MESH))
    return x


def partitioned() -> Partitioned:
    """The model's program."""
    return sw.function(model).trace(laid((8, 16), None, "model"), [laid((16, 16), "model")] * LAYERS).partition()


def page_of(stage: Partitioned | Compiled, folder: Path) -> str:
    """The text of a stage's report."""
    stage.report(folder / "page.html")
    return (folder / "page.html").read_text()


def row(line: int, sent: int | None, times: int = 1, within: str = "") -> CollectiveRow:
    """A collective for a line of `a.py`."""
    size = None if sent is None else Fraction(sent)
    places = (SourceLocation("a.py", line, 1),)
    return CollectiveRow("all_gather", "", ("x",), (), size, places, (), Repetition(times, within=within))


def test_bytes_stand_beside_their_lines() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 101))
    rows = [row(50, 10), row(50, 5, times=4), row(70, 7, within="per round of a loop"), row(90, None)]
    (file,) = source_files(rows, {"a.py": text}, {("a.py", 50): 2e-3, ("b.py", 70): 1.0})
    assert {line.number: line.seconds for line in file.lines if line.seconds} == {50: "2 ms"}
    found = {line.number: line.bytes for line in file.lines if line.bytes}
    assert found == {50: "30", 70: "7 or more", 90: "0 or more"}
    assert [line.number for line in file.lines] == [*range(46, 55), *range(66, 75), *range(86, 95)]
    assert [line.number for line in file.lines if line.gap] == [66, 86]
    assert next(line.text for line in file.lines if line.number == 50) == "line 50"


def test_files_that_are_no_sources_are_not_copied(tmp_path: Path) -> None:
    """A program says itself where it was written; its report must not carry any file of the reader's machine away."""
    secret = tmp_path / "secret.key"
    secret.write_text("hunter2\n")
    place = SourceLocation(str(secret), 1, 1)
    (file,) = source_files([CollectiveRow("all_gather", "", (), (), Fraction(1), (place,), ())], {})
    assert [line.text for line in file.lines] == [""]
    assert file.note == "the file's text is not here"


def test_equal_layers_are_folded() -> None:
    nodes, count = program_nodes(partitioned().planned)
    (fold,) = [node for node in nodes if isinstance(node, Fold)]
    assert fold.times == LAYERS
    assert [node.op for node in fold.inner if isinstance(node, OpLine)] == [
        "stablehlo.dot_general",
        "dtensor.all_reduce",
        "stablehlo.tanh",
        "dtensor.all_slice",
    ]
    assert count == len(fold.inner) * LAYERS + sum(isinstance(node, OpLine) for node in nodes)
    assert cut(nodes, 2)[1] == 2


def test_memory_is_that_of_values_from_first_to_last_use() -> None:
    def add(x: sw.dtensor.DTensor) -> sw.dtensor.DTensor:
        y = sw.tanh(x)
        z = sw.exp(y)
        return sw.sin(z)

    local = sw.function(add).trace(np.ones(100, "float32")).partition().module
    found = memory_of(local)
    # The argument and two values: each is made while the one before it is still there.
    assert found.levels == (800, 1200, 1200, 800)
    assert (found.peak, found.largest[0].bytes) == (1200, 400)
    assert [point.split(",")[1] for point in points(found).split()] == ["74.7", "24.0", "24.0", "74.7"]


def test_predicted_and_measured(tmp_path: Path) -> None:
    stage = partitioned()
    # An all-reduce of f32[8, 16] over four devices: each sends twice three quarters of it, in each layer.
    expected = LAYERS * 2 * 3 * 8 * 16 * 4 // 4
    before = page_of(stage, tmp_path)
    assert f"predicted</dt><dd>{expected:,}</dd>" in before
    assert "no run was counted" in before
    compiled = stage.compile()
    assert "no run was counted" in page_of(compiled, tmp_path)
    compiled(laid((8, 16), None, "model"), [laid((16, 16), "model")] * LAYERS)
    assert f"measured</dt><dd>{expected:,}</dd>" in page_of(compiled, tmp_path)


def test_hostile_names_are_text(tmp_path: Path) -> None:
    evil = "</script><script>window.bad=1</script><img src=x onerror=window.bad=1>"
    mesh = sw.Mesh([(evil, 2)])

    def named(values: dict[str, sw.dtensor.DTensor]) -> sw.dtensor.DTensor:
        return sw.sum(values[evil])

    named.__name__ = evil
    x = sw.relayout(np.ones(4, "float32"), sw.Layout([evil], mesh))
    page = page_of(sw.function(named).trace({evil: x}).partition(), tmp_path)
    assert "<img" not in page
    assert page.count("<script") == page.count("</script>") == 2
    data = re.search(r'(?s)<script type="application/json" id="data">(.*?)</script>', page)
    assert data is not None
    assert "<" not in data[1]
    assert any(evil in text for text in json.loads(data[1])["texts"])


def test_stages_show_themselves_in_notebooks() -> None:
    stage = partitioned()
    assert stage.traced._repr_html_().startswith("<pre>Traced(model(x: f32[8, 16@model]")  # pyright: ignore[reportPrivateUsage]
    assert "def " in stage.compile()._repr_html_()  # pyright: ignore[reportPrivateUsage]
    shown = stage._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "<pre>Partitioned(" in shown
    assert "#1 3 times all_reduce model: 768 bytes per device" in shown


def test_the_page_needs_no_network(tmp_path: Path) -> None:
    page = page_of(partitioned(), tmp_path).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", page)
    assert "default-src 'none'" in page


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "mlp.html"
    assert main(["report", str(ROOT / "tests/lit/run/mlp.mlir"), "-o", str(page)]) == 0
    text = page.read_text()
    assert "predicted</dt><dd>1,024</dd>" in text
    assert "stablehlo.dot_general" in text
    assert main(["report", str(ROOT / "tests/lit/run/mlp.mlir"), "-o", str(tmp_path / "none" / "a.html")]) == 1
    assert "SW0704" in capsys.readouterr().err
    with pytest.raises(TypeError, match=r"SW0704.*cannot write 3: a page's path is a text or a pathlib.Path"):
        partitioned().report(3)  # type: ignore[arg-type]
    page.write_text("mine")
    (tmp_path / "bad.mlir").write_text("func.func @main() { wrong }")
    assert main(["report", str(tmp_path / "bad.mlir"), "-o", str(page)]) == 1
    assert page.read_text() == "mine"


def test_loaded_programs_have_no_report(tmp_path: Path) -> None:
    compiled = partitioned().compile()
    with pytest.raises(ValueError, match="SW0577"):
        Compiled(compiled.executable, compiled.interface, None).report(tmp_path / "page.html")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (["a", None], ["a:(1)2", None]),
        ([("a", "b"), None], ["b", None]),
        ([("a", "b"), "c"], [("a", "c"), None]),
        ([("b", "a"), None], [("b", "c", "a"), None]),
        ([("a:(1)2", "c"), "a:(2)2"], [("a:(1)2", "b"), ("a:(2)2", "c")]),
        ([("a", "b"), "c"], [("b", "a"), "c"]),
    ],
    ids=str,
)
def test_what_is_predicted_and_what_is_counted_goes_along_the_same_axes(source: list[Any], target: list[Any]) -> None:
    """The page sets one beside the other by kind and axes: those that move, and the parts of axes that do."""
    mesh = sw.Mesh(a=4, b=2, c=2)
    x = sw.TensorSpec((16, 16), "float32", layout=sw.Layout(source, mesh))
    stage = sw.function(lambda x: sw.relayout(x, sw.Layout(target, mesh))).trace(x).partition()
    compiled = stage.compile()
    compiled(np.zeros((16, 16), np.float32))
    predicted = {(row.kind, *sorted(row.axes)) for row in stage.predicted if row.bytes_per_device}
    assert predicted
    assert predicted == {(each["kind"], *sorted(each["axes"])) for each in compiled.ledger.as_dict()["collectives"]}
