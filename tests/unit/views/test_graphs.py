"""Drawings of programs: what is in them, and that the tools they are for read them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.tools.main import main
from shardwright.views.graphs.graphviz import graphviz_text
from shardwright.views.graphs.nodes import Edge, Node, nodes_of

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parents[3]
FILES = {path: path.read_text() for path in sorted((ROOT / "tests" / "lit" / "run").glob("*.mlir"))}
PROGRAMS = [path for path, text in FILES.items() if "func.func public @main" in text and "--callbacks" not in text]
"""Those with callbacks leave out what no program has."""

MLP = ROOT / "tests" / "lit" / "run" / "mlp.mlir"


def nodes(path: Path) -> list[Node]:
    module = parse_module(path.read_text(), path.name)
    run_pipeline(module, ["plan"])
    return nodes_of(module)


@pytest.mark.every(4)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_node_takes_from_those_before(path: Path) -> None:
    seen: dict[str, int] = {}
    for node in nodes(path):
        assert all(edge.output < seen[edge.source] for edge in node.takes)
        assert node.id not in seen
        seen[node.id] = len(node.outputs)


def test_a_drawing_says_layouts_and_bytes() -> None:
    found = nodes(MLP)
    assert [node.label for node in found] == [
        *("%x", "%w", "%v", "dot_general", "tanh", "dot_general", "all_reduce", "results"),
    ]
    reduced = found[6]
    assert reduced.takes == [Edge(found[5].id, 0, "f32[16@batch, 64]{sum@model}")]
    assert reduced.attributes["bytes per device"] == "1024"
    assert "needs it finished" in reduced.attributes["because"]


def test_scopes_that_jax_names_are_kept() -> None:
    text = """
func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %a : tensor<4xf32> loc("jit(f)/jvp(block)/hidden/tanh")
  return %0 : tensor<4xf32>
}
"""
    module = parse_module(text, "f.mlir")
    run_pipeline(module, ["plan"])
    (tanh,) = [node for node in nodes_of(module) if node.label == "tanh"]
    assert tanh.scopes == ("block", "hidden")
    assert 'label="block/hidden";' in graphviz_text([tanh])


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", ["mlp.mlir", "loop_of_known_rounds.mlir"])
def test_graphviz_draws_it(name: str, capsys: Capture) -> None:
    assert main(["export", str(MLP.with_name(name)), "--to", "graphviz"]) == 0
    drawn = subprocess.run(["dot", "-Tsvg"], input=capsys.readouterr().out, capture_output=True, text=True, check=True)
    assert "all_reduce" in drawn.stdout
    assert not drawn.stderr


def test_graphviz_gets_any_name() -> None:
    text = graphviz_text([Node("n0", 'p["w\\1"]\n')])
    assert 'label="p[\\"w\\\\1\\"]\\n"' in text


def test_model_explorer_finds_its_own_words(capsys: Capture) -> None:
    """Each node has the fields of that tool's JSON, with numbers as text; edges name nodes and outputs that exist."""
    assert main(["export", str(MLP), "--to", "model-explorer"]) == 0
    data = json.loads(capsys.readouterr().out)
    (graph,) = data["graphs"]
    outputs = {node["id"]: [each["id"] for each in node["outputsMetadata"]] for node in graph["nodes"]}
    for node in graph["nodes"]:
        assert {"id", "label", "namespace", "attrs", "incomingEdges", "outputsMetadata"} <= set(node)
        assert all(isinstance(pair[key], str) for pair in node["attrs"] for key in ("key", "value"))
        for number, edge in enumerate(node["incomingEdges"]):
            assert edge["sourceNodeOutputId"] in outputs[edge["sourceNodeId"]]
            assert edge["targetNodeInputId"] == str(number)


def test_drawings_are_not_for_xla(capsys: Capture) -> None:
    assert main(["export", str(MLP), "--to", "graphviz", "--ask-xla"]) == 1
    assert "error[SW0701]" in capsys.readouterr().err
