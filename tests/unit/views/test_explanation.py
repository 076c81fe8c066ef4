"""What a stage says of itself: order, groups, chains, questions, and what would be otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import shardwright
from shardwright.diagnostics import ShardwrightError
from shardwright.tools.main import main
from shardwright.views.explanation.explanation import Explanation

Capture = pytest.CaptureFixture[str]
Parameters = dict[str, shardwright.dtensor.DTensor]
MESH = shardwright.Mesh(data=2, model=4)
ROW = shardwright.Mesh(data=2)
"""With no other axis along which the work could be divided further."""

WIDTH, ROWS = 16, 8


def laid(shape: tuple[int, ...], *specs: str | None, mesh: shardwright.Mesh = MESH) -> shardwright.dtensor.DTensor:
    """Ones, laid out so."""
    return shardwright.relayout(np.ones(shape, np.float32), shardwright.Layout(list(specs), mesh))


def parameters() -> Parameters:
    """Weights whose products leave partial sums over `model`, and a vector that does so with fewer bytes."""
    return {f"w{layer}": laid((WIDTH, WIDTH), "model", None) for layer in range(3)}


def layers(p: Parameters, x: shardwright.dtensor.DTensor) -> shardwright.dtensor.DTensor:
    """Each layer's partial sums are needed whole for the next one's nonlinear function."""
    for layer in range(3):
        x = shardwright.relayout(shardwright.tanh(x @ p[f"w{layer}"]), shardwright.Layout(["data", "model"], MESH))
    return shardwright.sum(x)


def explained() -> Explanation:
    return shardwright.function(layers).trace(parameters(), laid((ROWS, WIDTH), "data", "model")).partition().explain()


def test_the_dearest_come_first_and_alike_ones_together() -> None:
    explanation = explained()
    sent = [entry.sent for entry in explanation.entries]
    assert sent == sorted(sent, reverse=True)
    first = explanation.entries[0]
    # 4x16 partial sums over four devices: three quarters of 256 bytes.
    assert [each.row.kind for each in first.alike] == ["reduce_scatter"] * 3
    assert first.sent == 3 * 192
    assert first.heading == "3 times reduce_scatter model: 192 bytes per device"
    assert sum(len(entry.alike) for entry in explanation.entries) == len(explanation.collectives)


def test_the_chain_ends_with_what_the_user_gave() -> None:
    (value,) = explained().why("p['w1']").values
    assert value.chain == ("p['w1'] is f32[16@model, 16], given by the user",)
    place = f"{Path(__file__).name}:{explained().entries[0].first.row.sources[0].line}"
    assert f"stablehlo.tanh at {place}" in str(explained())
    answer = explained().why(place)
    chains = [value.chain for value in answer.values if value.op == "stablehlo.tanh"]
    # Adding up and splitting sends half of what adding up alone does, 384 bytes.
    saved, without = "to send 192 bytes less per device", "without that it would be rows over data"
    assert [(saved in chain[0], chain[0].endswith(without)) for chain in chains] == [(True, True)] * 3
    assert {each.row.kind for each in answer.collectives} == {"reduce_scatter"}


def test_a_layout_that_the_user_asks_for_is_named_by_its_line() -> None:
    traced = shardwright.function(lambda x: shardwright.relayout(x, x.layout)).trace(laid((8,), "data"))
    assert not traced.partition().explain().collectives
    moved = shardwright.function(lambda x: shardwright.relayout(x, shardwright.Layout([None], MESH)))
    (row,) = moved.trace(laid((8,), "data")).partition().predicted
    assert row.reasons[0].asked_by == f"shardwright.relayout at {row.sources[0]}"
    assert row.sources[0].file == __file__


def test_what_a_layout_was_chosen_over() -> None:
    """The larger operand's layout wins, and the other one is named with its bytes."""
    a, b = laid((8, 16), "data", None, mesh=ROW), laid((16, 64), None, "data", mesh=ROW)
    stage = shardwright.function(lambda a, b: a @ b).trace(a, b).partition()
    found = [value.chain for value in stage.explain().values if value.op == "stablehlo.dot_general"]
    assert found[0][0] == (
        "from argument 1, its operand; chosen over rows over data, from argument 0, of 512 bytes against 4,096"
    )
    assert found[0][1] == "b is f32[16, 64@data], given by the user"


def test_what_an_op_in_a_loop_would_send_is_said_to_be_of_each_round() -> None:
    def running(x: shardwright.dtensor.DTensor) -> object:
        return shardwright.scan(lambda total, row: (total + shardwright.sum(row), total), 0.0, x)

    explanation = shardwright.function(running).trace(laid((8, 4), "data", mesh=ROW)).partition().explain()
    (row,) = explanation.rows
    # Gathered once, before the loop; by columns each row would have to change its layout for itself.
    assert (row.kind, row.plain_bytes) == ("all_gather", 8 * 4 * 4 // 2)
    assert row.reasons[0].alternative.endswith(" bytes per device in each round")
    outside = shardwright.function(lambda x: x @ x.T).trace(laid((8, 4), "data", mesh=ROW)).partition().explain()
    assert "in each round" not in str(outside)


def test_gradients_are_told_apart() -> None:
    def loss(w: shardwright.dtensor.DTensor, x: shardwright.dtensor.DTensor) -> shardwright.dtensor.DTensor:
        with shardwright.GradientTape() as tape:
            tape.watch(w)
            y = shardwright.sum(shardwright.tanh(x @ w))
        return tape.gradient(y, w)

    w, x = laid((16, 8), None, None, mesh=ROW), laid((8, 16), "data", None, mesh=ROW)
    rows = shardwright.function(loss).trace(w, x).partition().explain().collectives
    # The gradient of a weight that all have is a sum over the rows, which `data` splits.
    assert [(each.row.kind, each.row.axes, each.row.backward) for each in rows] == [("reduce_scatter", ("data",), True)]


def test_ten_are_shown_unless_all_are_asked_for() -> None:
    """Twelve gathers of different sizes."""
    arrays = [laid((8, 2 + number), "data", None) for number in range(12)]
    whole = shardwright.Layout.replicated(MESH, rank=2)
    gather = shardwright.function(lambda xs: [shardwright.relayout(shardwright.tanh(x), whole) for x in xs])
    explanation = gather.trace(arrays).partition().explain()
    assert "and 2 more collectives" in str(explanation)
    assert "more collectives" not in explanation.text(all=True)


@pytest.mark.parametrize("width", [80, 200])
def test_lines_are_as_wide_as_the_terminal(width: int) -> None:
    lines = explained().text(width=width).splitlines()
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("question", "message", "help_text"),
    [
        ("p['w9']", "no value is called", r"did you mean p\['w"),
        ("#99", "there is no collective #99", "from #1 on"),
        ("other.py:3", "nothing of the program was written in 'other.py'", "it was written in"),
        ("test_explanation.py:1", "line 1 defines no value", "lines nearby that define values"),
    ],
)
def test_questions_about_nothing(question: str, message: str, help_text: str) -> None:
    with pytest.raises(ShardwrightError, match=f"(?s)SW0714.*{message}.*{help_text}"):
        explained().why(question)


def test_a_question_is_a_text() -> None:
    with pytest.raises(ShardwrightError, match=r"(?s)SW0714.*12 is no question.*ask by a text: a line"):
        explained().why(12)  # type: ignore[arg-type]


def test_the_command_says_what_the_stage_does(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "layers.mlir"
    stage = shardwright.function(layers).trace(parameters(), laid((ROWS, WIDTH), "data", "model"))
    path.write_text(stage.as_text(debuginfo=True))
    assert main(["explain", str(path)]) == 0
    assert capsys.readouterr().out == str(shardwright.load_mlir(path).partition().explain())
    assert main(["explain", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["collectives"][0]["bytes_per_device"] == 192


def test_what_would_be_sent_otherwise() -> None:
    w, x = laid((16, 8), "model", None), laid((8, 16), None, "model")
    stage = shardwright.function(lambda w, x: shardwright.tanh(x @ w)).trace(w, x).partition()
    found = stage.what_if(layouts={"w": "-,-", "x": "data,-"}, mesh={"model": 2}).outcomes
    # As it is, the rows are divided over `data`, and 4x8 partial sums are added up and split over four devices: three
    # quarters of 128 bytes. Over two: half.
    assert [outcome.label for outcome in found] == ["as it is", "w = -,-", "x = data,-", "mesh model=2", "all of these"]
    assert [found[0].bytes_per_device, found[3].bytes_per_device, found[4].bytes_per_device] == [96, 64, 0]
    assert all(outcome.peak_bytes > 0 for outcome in found)
    text = str(stage.what_if(layouts={"x": "nothing,-"}))
    assert "SW0102: mesh @mesh has no axis 'nothing'" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--layout", "%a=q,-"], "SW0102: mesh @mesh has no axis 'q'"),
        (["--layout", "%a=x,x"], "SW0105: axis 'x' is used twice: by dim 0 and by dim 1"),
        (["--mesh", "x=0"], "SW0101: mesh axis 'x' has size 0"),
        (["--mesh", "x=2,x=4"], "SW0701"),
        (["--layout", "%a=x,-", "--layout", "%a=-,x"], "--layout gives an argument two layouts"),
        (["--why", "%0", "--mesh", "x=2"], "--why is about the program as it is"),
    ],
)
def test_a_change_that_is_refused_ends_in_an_error(
    arguments: list[str], said: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "program.mlir"
    path.write_text("""sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}""")
    assert main(["explain", str(path), *arguments]) == 1
    assert said in " ".join("".join(capsys.readouterr()).split())
    assert main(["explain", str(path), "--mesh", "x=2"]) == 0


def test_without_a_line_that_asks_for_a_layout() -> None:
    x = laid((8, 16), "data", None)

    def moved(x: shardwright.dtensor.DTensor) -> shardwright.dtensor.DTensor:
        turned = shardwright.relayout(shardwright.tanh(x), shardwright.Layout([None, "data"], MESH))
        return shardwright.relayout(shardwright.exp(turned), shardwright.Layout(["data"], MESH))

    stage = shardwright.function(moved).trace(x).partition()
    line = moved.__code__.co_firstlineno + 1
    found = stage.what_if(without=[f"test_explanation.py:{line}"]).outcomes
    # An all-to-all of each half there and back: of 4x16 numbers half stay.
    assert [outcome.bytes_per_device for outcome in found] == [2 * 4 * 16 * 4 // 2, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"without": ["test_explanation.py:1"]}, "no layout is asked for at test_explanation.py:1"),
        ({"without": ["w"]}, "'w' is no line"),
        ({"layouts": {"v": "-,-"}}, "no argument is called 'v'"),
        ({"layouts": {"w": "-"}}, "a layout of 1 dims, and w has 2"),
        ({"layouts": {"w": "3,-"}}, "'3,-' is no layout"),
        ({"mesh": {"rows": 2}}, "the mesh has no axis rows"),
        ({"without": "model.py:18"}, "without is a list of lines, not 'model.py:18'"),
        ({"without": [18]}, "18 is no line"),
        ({"layouts": [("w", "-,-")]}, "layouts is a dict, not"),
        ({"layouts": {"w": shardwright.Layout([None], MESH)}}, "the layout of 'w' is no text, but Layout"),
        ({"layouts": {3: "-,-"}}, "no argument is called 3"),
        ({"mesh": MESH}, r"mesh is a dict of the sizes of axes, not Mesh\("),
        ({"mesh": {3: 2}}, "the mesh has no axis 3"),
    ],
)
def test_changes_of_what_is_not_there(changes: dict[str, object], message: str) -> None:
    w, x = laid((16, 8), "model", None), laid((8, 16), None, "model")
    stage = shardwright.function(lambda w, x: shardwright.tanh(x @ w)).trace(w, x).partition()
    with pytest.raises(ShardwrightError, match=f"SW0729.*{message}"):
        stage.what_if(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [["--mesh", "data"], ["--layout", "w"], ["--mesh", "data=x"]])
def test_wrong_options(options: list[str], capsys: Capture) -> None:
    assert main(["explain", "f.mlir", *options]) == 1
    assert "error[SW0701]" in capsys.readouterr().err
