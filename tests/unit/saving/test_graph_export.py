"""Exported graphs: names, structure, and their values by what TensorFlow's operations mean (`graph_numpy`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_numpy import evaluate
from property.test_manual_programs import program as manual_program
from whole.draw import random_program
from whole.verdict import difference

import shardwright as sw
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.tensorflow.exporting.files import saved_model, text_of, write_graph_def
from shardwright.frontends.tensorflow.exporting.graphs import ExportedGraph, export_graph, export_module
from shardwright.frontends.tensorflow.exporting.kernels import KERNELS
from shardwright.serialization.merging.merger import Merger
from shardwright.serialization.protos import graph_pb2, saved_model_pb2
from shardwright.serialization.splitting.limits import default_sizes
from shardwright.tools.main import main

Array = np.ndarray[Any, Any]
MESH = sw.Mesh(x=2)


def run(exported: ExportedGraph, *arrays: Any) -> list[Array]:
    names = [port.tensor.removesuffix(":0") for port in exported.inputs]
    inputs = {name: np.asarray(array) for name, array in zip(names, arrays, strict=True)}
    return evaluate(exported.graph_def, inputs, [port.tensor for port in exported.outputs])


def program(body: str, *types: str, result: str) -> str:
    arguments = ", ".join(f"%x{place}: tensor<{kind}>" for place, kind in enumerate(types))
    return f"func.func @main({arguments}) -> tensor<{result}> {{\n{body}\n  return %r : tensor<{result}>\n}}"


def pointwise(op: str, dtype: str, *arrays: Any, result: str | None = None) -> Any:
    """What an element-wise op gives for arrays of one type."""
    count, names = len(arrays[0]), ", ".join(f"%x{place}" for place in range(len(arrays)))
    kinds = [f"{count}x{dtype}"] * len(arrays)
    made = f"{count}x{result or dtype}"
    types = ", ".join(f"tensor<{kind}>" for kind in kinds)
    body = f'  %r = "{op}"({names}) : ({types}) -> tensor<{made}>'
    return run(export_module(parse_module(program(body, *kinds, result=made))), *arrays)[0].tolist()


def kinds(graph: graph_pb2.GraphDef) -> list[tuple[str, str, list[str]]]:
    return [(node.name, node.op, list(node.input)) for node in graph.node if node.op != "Const"]


def test_a_layer_is_what_tensorflow_users_would_write() -> None:
    def layer(params: dict[str, Any], x: Any) -> Any:
        return {"out": sw.tanh(x @ params["w"] + params["b"])}

    shapes = {"w": np.ones((4, 3), "float32"), "b": np.ones(3, "float32")}
    graph = sw.to_graph_def(sw.function(layer).trace(shapes, np.ones((2, 4), "float32")))
    assert kinds(graph) == [
        ("params_w", "Placeholder", []),
        ("params_b", "Placeholder", []),
        ("x", "Placeholder", []),
        ("dot_general", "MatMul", ["x", "params_w"]),
        ("add", "AddV2", ["dot_general", "params_b"]),
        ("tanh", "Tanh", ["add"]),
        ("out", "Identity", ["tanh"]),
    ]
    assert [dim.size for dim in graph.node[0].attr["shape"].shape.dim] == [4, 3]
    assert graph.versions.producer > 0


@pytest.mark.every(3)
@pytest.mark.parametrize("block", range(6))
def test_random_programs(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        drawn = random_program(seed)
        exported = export_module(parse_module(drawn.text))
        for found, value in zip(run(exported, *drawn.inputs), drawn.results, strict=True):
            assert not difference(np.asarray(found), value), f"seed {seed}\n{drawn.text}"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_a_thousand_programs(block: int) -> None:
    for seed in range(20_000 + 50 * block, 20_050 + 50 * block):
        drawn = random_program(seed)
        exported = export_module(parse_module(drawn.text))
        for found, value in zip(run(exported, *drawn.inputs), drawn.results, strict=True):
            assert not difference(np.asarray(found), value), f"seed {seed}\n{drawn.text}"


def test_names_are_legal_and_given_once() -> None:
    def twice(x: Any) -> Any:
        return sw.sum(x + 1), sw.sum(x + 1.5) * sw.sum(x + 2), x

    graph = sw.to_graph_def(sw.function(twice).trace(np.ones((2, 3), "float32")))
    names = [node.name for node in graph.node]
    assert len({name.lower() for name in names}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*", name) for name in names)
    assert [name for name in names if name.startswith("result")] == ["result_0", "result_1", "result_2"]


def test_no_name_is_made_up_that_a_result_has_of_its_own() -> None:
    def results(x: Any) -> Any:
        return {"x": x * 3, "x_1": x * 4, "b": [x * 5], "b_0": x * 6}

    traced = sw.function(results).trace(np.ones(1, "float32"))
    exported = export_graph(traced)
    assert [port.tensor for port in exported.outputs] == ["x_2:0", "x_1:0", "b_0_1:0", "b_0:0"]
    assert [made.tolist() for made in run(exported, np.ones(1, "float32"))] == [[3], [4], [5], [6]]
    signature = saved_model(traced).meta_graphs[0].signature_def["serving_default"]
    due = {"x": "x_2:0", "x_1": "x_1:0", "b_0_1": "b_0_1:0", "b_0": "b_0:0"}
    assert {key: info.name for key, info in signature.outputs.items()} == due


def test_minus_an_unsigned_integer_is_no_difference() -> None:
    for dtype in ("uint8", "uint16", "uint32", "uint64"):
        x = np.array([0, 1, np.iinfo(dtype).max], dtype)
        exported = export_graph(sw.function(sw.negative).trace(x))
        assert not {node.op for node in exported.graph_def.node} & {"Sub", "Neg"}
        assert np.array_equal(run(exported, x)[0], -x)


def test_every_node_has_the_attributes_and_types_that_its_kernel_needs() -> None:
    for seed in range(40):
        graph = export_module(parse_module(random_program(seed).text)).graph_def
        for node in [*graph.node, *(node for function in graph.library.function for node in function.node_def)]:
            assert set(KERNELS[node.op].types) <= set(node.attr)


def test_arguments_that_nothing_uses_stay() -> None:
    exported = export_graph(sw.function(lambda x, y: x + 1).trace(np.ones(2), np.ones(3)))
    assert [port.name for port in exported.inputs] == ["x", "y"]
    assert [node.name for node in exported.graph_def.node if node.op == "Placeholder"] == ["x", "y"]


def test_equal_elements_of_a_constant_are_one() -> None:
    graph = sw.to_graph_def(
        sw.function(lambda x: x + sw.full((1000, 1000), 2.5, "float32")).trace(np.ones((1000, 1000), "float32"))
    )
    assert len(graph.SerializeToString()) < 1000


def test_a_large_constant_is_its_bytes() -> None:
    table = np.arange(60_000, dtype="float32").reshape(200, 300)
    held_in = sw.Variable(table)
    exported = export_graph(sw.function(lambda x: x + held_in).trace(np.ones((200, 300), "float32")))
    held = [node.attr["value"].tensor for node in exported.graph_def.node if node.op == "Const"]
    assert [tensor.tensor_content for tensor in held] == [table.tobytes()]
    assert np.array_equal(run(exported, np.ones((200, 300), "float32"))[0], table + 1)


def test_variables_are_constants_and_what_is_assigned_comes_out() -> None:
    count = sw.Variable(np.float32(3), name="count")

    def step(x: Any) -> Any:
        count.assign_add(1)
        return x * count

    exported = export_graph(sw.function(step).trace(np.ones(2, "float32")))
    assert [port.name for port in exported.outputs] == ["result", "count"]
    made, after = run(exported, np.array([1, 2], "float32"))
    assert (made.tolist(), after.tolist()) == ([4, 8], 4)


def test_layouts_are_left_out() -> None:
    x = sw.relayout(np.ones((4, 4), "float32"), sw.Layout(["x"], MESH))
    traced = sw.function(lambda x: sw.relayout(x @ x, sw.Layout([None, "x"], MESH))).trace(x)
    for stage in (traced, traced.propagate()):
        assert [op for _, op, _ in kinds(sw.to_graph_def(stage))] == ["Placeholder", "MatMul", "Identity"]


def test_copies_to_other_meshes_are_left_out() -> None:
    other = sw.Mesh(y=2)
    x = sw.relayout(np.ones((4, 4), "float32"), sw.Layout(["x"], MESH))
    traced = sw.function(lambda x: sw.relayout(x + 1, sw.Layout(["y"], other)) * 2).trace(x)
    assert np.array_equal(run(export_graph(traced), np.ones((4, 4), "float32"))[0], np.full((4, 4), 4))


def test_loops_and_branches_are_functions() -> None:
    def newton(x: Any) -> Any:
        found = sw.while_loop(lambda s: s[0] < 20, lambda s: (s[0] + 1, (s[1] + x / s[1]) / 2), (0, x))[1]
        return sw.cond(x > 100, lambda: found, lambda: -found)

    exported = export_graph(sw.function(newton).trace(np.float32(2)))
    used = {node.op for node in exported.graph_def.node}
    assert "StatelessWhile" in used
    assert used & {"StatelessIf", "StatelessCase"}
    assert np.allclose(run(exported, np.float32(2)), -np.sqrt(2))
    assert np.allclose(run(exported, np.float32(144)), 12)


def test_gradients() -> None:
    def loss(w: Any, x: Any) -> Any:
        return sw.sum(sw.tanh(x @ w) ** 2)

    random = np.random.default_rng(0)
    w, x = random.standard_normal((3, 4)), random.standard_normal((5, 3))
    exported = export_graph(sw.function(sw.value_and_grad(loss)).trace(w, x))
    value, slope = run(exported, w, x)
    hidden = np.tanh(x @ w)
    assert np.allclose(value, (hidden**2).sum())
    assert np.allclose(slope, x.T @ (2 * hidden * (1 - hidden**2)))


def test_integers_divide_shift_and_wrap_as_stablehlo_says() -> None:
    low = -(2**31)
    x, y = np.array([-7, 7, 5, low, low], "int32"), np.array([2, -2, 0, -1, 0], "int32")
    assert pointwise("stablehlo.divide", "i32", x, y) == [-3, -3, -1, low, -1]
    assert pointwise("stablehlo.remainder", "i32", x, y) == [-1, 1, 5, 0, low]
    bits, amount = np.array([-1, -1, 1, -8], "int8"), np.array([1, 8, 7, -1], "int8")
    assert pointwise("stablehlo.shift_right_logical", "i8", bits, amount) == [127, 0, 0, 0]
    assert pointwise("stablehlo.shift_right_arithmetic", "i8", bits, amount) == [-1, -1, 0, -1]
    assert pointwise("stablehlo.shift_left", "i8", bits, amount) == [-2, 0, -128, 0]
    base, exponent = np.array([2, -1, 2, 1], "int32"), np.array([10, -3, -1, -9], "int32")
    assert pointwise("stablehlo.power", "i32", base, exponent) == [1024, -1, 0, 1]
    assert pointwise("stablehlo.count_leading_zeros", "i16", np.array([0, 1, -1, 256], "int16")) == [16, 15, 0, 7]
    assert pointwise("chlo.mulhi", "ui64", *np.array([[2**63, 3], [4, 5]], "uint64")) == [2, 0]


def test_floats_become_integers_saturating_and_nan_becomes_zero() -> None:
    x = np.array([1e9, -1.5, np.nan, -np.inf, 126.9], "float32")
    assert pointwise("stablehlo.convert", "f32", x, result="i8") == [127, -1, 0, -128, 126]
    assert pointwise("stablehlo.convert", "f32", x, result="ui16") == [65535, 0, 0, 0, 126]
    assert pointwise("stablehlo.convert", "f32", x, result="i1") == [True] * 5


def test_floats_round_and_compare_in_total_order() -> None:
    x = np.array([0.5, -2.5, 0.49999997, 1.5], "float32")
    assert pointwise("stablehlo.round_nearest_afz", "f32", x) == [1, -3, 0, 2]
    text = program(
        "  %r = stablehlo.compare LT, %x0, %x1, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        "4xf32",
        "4xf32",
        result="4xi1",
    )
    left, right = np.array([-0.0, 0.0, 1, np.nan], "float32"), np.array([0.0, -0.0, np.nan, np.inf], "float32")
    assert run(export_module(parse_module(text)), left, right)[0].tolist() == [True, False, True, False]
    text = program("  %r = stablehlo.reduce_precision %x0, format = e5m2 : tensor<4xf32>", "4xf32", result="4xf32")
    given = np.array([1.1, 1.125, 1e6, 1e-6], "float32")
    assert run(export_module(parse_module(text)), given)[0].tolist() == [1.0, 1.0, np.inf, 0.0]


def test_lu_and_qr_factors() -> None:
    matrix = np.array([[0.0, 2, 1], [4, 1, 3], [2, 2, 5]])
    traced = sw.function(lambda x: (sw.linalg.det(x), sw.linalg.inv(x), *sw.linalg.qr(x))).trace(matrix)
    det, inverse, q, r = run(export_graph(traced), matrix)
    assert np.allclose(det, np.linalg.det(matrix))
    assert np.allclose(inverse, np.linalg.inv(matrix))
    assert np.allclose(q @ r, matrix)
    assert np.allclose(q.T @ q, np.eye(3))
    with pytest.raises(sw.ShardwrightError, match=r"SW0893.*@lapack_dgesdd_ffi has no counterpart"):
        sw.to_graph_def(sw.function(sw.linalg.svd).trace(matrix))


@pytest.mark.parametrize(
    ("algorithm", "state", "following", "bits"),
    [
        ("PHILOX", [5, 7], [5, 8], [1957188081, 3299040168]),
        ("THREE_FRY", [0, 0], [0, 1], [1797259609, 2579123966]),  # as Random123 gives for key and counter zero
    ],
)
def test_random_bits(algorithm: str, state: list[int], following: list[int], bits: list[int]) -> None:
    text = (
        "func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>) {\n"
        f"  %a, %b = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : (tensor<2xui64>) -> "
        "(tensor<2xui64>, tensor<2xui32>)\n  return %a, %b : tensor<2xui64>, tensor<2xui32>\n}"
    )
    made = run(export_module(parse_module(text)), np.array(state, "uint64"))
    assert [each.tolist() for each in made] == [following, bits]


def test_arguments_and_results_that_tensorflow_cannot_hold() -> None:
    arguments = "%a: tensor<4xi4>, %b: tensor<4xf32>, %c: tensor<2xui2>"
    text = f"func.func @main({arguments}) -> tensor<4xi4> {{ return %a : tensor<4xi4> }}"
    with pytest.raises(sw.ShardwrightError) as caught:
        export_module(parse_module(text, "p.mlir"))
    found = [(each.code, each.message) for each in caught.value.diagnostics]
    assert found == [
        ("SW0893", "TensorFlow cannot take argument a: it has no kernels for tensor<4xi4>"),
        ("SW0893", "TensorFlow cannot take argument c: it has no kernels for tensor<2xui2>"),
        ("SW0893", "TensorFlow cannot say this program: Identity has no kernel for int4"),
    ]


def test_all_that_tensorflow_cannot_say_is_listed_at_once() -> None:
    text = program(
        "  %0 = chlo.next_after %x0, %x0 : tensor<2x2xbf16>, tensor<2x2xbf16> -> tensor<2x2xbf16>\n"
        "  %1 = stablehlo.convert %0 : (tensor<2x2xbf16>) -> tensor<2x2xf8E4M3FNUZ>\n"
        "  %2 = stablehlo.convert %1 : (tensor<2x2xf8E4M3FNUZ>) -> tensor<2x2xbf16>\n"
        "  %r = stablehlo.add %0, %2 : tensor<2x2xbf16>",
        "2x2xbf16",
        result="2x2xbf16",
    )
    with pytest.raises(sw.ShardwrightError) as caught:
        export_module(parse_module(text, "p.mlir"))
    found = [(each.code, str(each.location), each.message) for each in caught.value.diagnostics]
    assert [code for code, _, _ in found] == ["SW0893"] * 3
    assert found[0][1].startswith("p.mlir:2")
    assert "chlo.next_after: NextAfter has no kernel for bfloat16" in found[0][2]
    assert "stablehlo.convert: TensorFlow has no kernels for tensor<2x2xf8E4M3FNUZ>" in found[1][2]


@pytest.mark.parametrize("block", range(4))
def test_manual_computations_are_written_for_each_device(block: int) -> None:
    for seed in range(15 * block, 15 * block + 15):
        text, array, expected = manual_program(seed)
        (found,) = run(export_module(parse_module(text)), array)
        np.testing.assert_array_equal(found, expected, err_msg=text)


MANUAL = """
sdy.mesh @mesh = <["x"=SIZE]>
func.func @main(%x: tensor<SIZExi32>) -> tensor<SIZExi32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x"} (%y: tensor<1xi32>) {
    BODY
    sdy.return %r : tensor<1xi32>
  } : (tensor<SIZExi32>) -> tensor<SIZExi32>
  return %0 : tensor<SIZExi32>
}
"""

ROUNDS = """%one = stablehlo.constant dense<1> : tensor<1xi32>
    %start = stablehlo.constant dense<0> : tensor<1xi32>
    %n, %r = stablehlo.while(%i = INIT, %v = %start) : tensor<1xi32>, tensor<1xi32>
    cond {
      %limit = stablehlo.constant dense<3> : tensor<1xi32>
      %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
      %p = stablehlo.reshape %c : (tensor<1xi1>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<1xi32>
      %w = stablehlo.add %v, %y : tensor<1xi32>
      stablehlo.return %j, %w : tensor<1xi32>, tensor<1xi32>
    }"""


def test_loops_of_devices_carry_what_differs() -> None:
    text = MANUAL.replace("BODY", ROUNDS).replace("INIT", "%start").replace("SIZE", "4")
    exported = export_module(parse_module(text))
    assert run(exported, np.arange(4, dtype="int32"))[0].tolist() == [0, 3, 6, 9]
    (loop,) = [node for node in exported.graph_def.node if node.op == "StatelessWhile"]
    assert len(loop.input) == 1 + 4 + 4  # the counter, the sum of each device, and what each adds


def test_devices_that_disagree_are_refused() -> None:
    text = MANUAL.replace("BODY", ROUNDS).replace("INIT", "%y").replace("SIZE", "4")
    with pytest.raises(sw.ShardwrightError, match=r"SW0893.*stablehlo.while: its condition differs between devices"):
        export_module(parse_module(text))
    body = "%r = stablehlo.add %y, %y : tensor<1xi32>"
    with pytest.raises(sw.ShardwrightError, match=r"SW0893.*what each of 128 devices does"):
        export_module(parse_module(MANUAL.replace("BODY", body).replace("SIZE", "128")))


def test_programs_of_devices_are_no_graphs() -> None:
    traced = sw.function(lambda x: x + 1).trace(np.ones(2))
    for stage in (traced.partition(), traced.compile(), 3):
        with pytest.raises(ValueError, match="SW0894"):
            sw.to_graph_def(stage)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="SW0894"):
        export_module(parse_module("func.func @other() {\n  return\n}"))


def test_a_function_with_a_signature_is_exported_as_it_is() -> None:
    function = sw.function(lambda x: x * 2, input_signature=[sw.TensorSpec((3,), "float32")])
    assert [name for name, _, _ in kinds(sw.to_graph_def(function))] == ["x", "multiply", "result"]


def test_saved_models(tmp_path: Path) -> None:
    traced = sw.function(lambda x: (x + 1, x * 2)).trace(np.ones((2, 3), "float32"))
    sw.to_saved_model(traced, tmp_path / "deep" / "model")
    read = saved_model_pb2.SavedModel()
    read.ParseFromString((tmp_path / "deep" / "model" / "saved_model.pb").read_bytes())
    assert read == saved_model(traced)
    (graph,) = read.meta_graphs
    assert list(graph.meta_info_def.tags) == ["serve"]
    signature = graph.signature_def["serving_default"]
    assert {name: info.name for name, info in signature.inputs.items()} == {"x": "x:0"}
    assert {name: info.name for name, info in signature.outputs.items()} == {
        "result_0": "result_0:0",
        "result_1": "result_1:0",
    }
    assert [dim.size for dim in signature.inputs["x"].tensor_shape.dim] == [2, 3]


def test_what_is_too_large_for_a_message_is_written_in_chunks(tmp_path: Path) -> None:
    table = sw.Variable(np.arange(60_000, dtype="float32"))
    traced = sw.function(lambda x: x + table).trace(np.ones(60_000, "float32"))
    graph, found = sw.to_graph_def(traced), graph_pb2.GraphDef()
    (tmp_path / "graph.pb").write_bytes(b"stale")
    with default_sizes(max_size=10_000):
        written = write_graph_def(graph, tmp_path / "graph.pb")
        sw.to_saved_model(traced, tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == [written.name, "model"] == ["graph.cpb", "model"]
    Merger.read(written, found)
    assert found == graph
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["saved_model.cpb"]


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 50), marks=pytest.mark.slow)], ids=str)
def test_the_graph_comes_back_as_a_program(seeds: range) -> None:
    """Of the operations that exported graphs have, the importer knows most."""
    back, codes = 0, set[str]()
    for seed in seeds:
        drawn = random_program(seed)
        exported = export_module(parse_module(drawn.text))
        names = {side: [port.tensor for port in getattr(exported, side)] for side in ("inputs", "outputs")}
        try:
            program = sw.from_graph(exported.graph_def, **names)
        except sw.ShardwrightError as error:
            codes.update(each.code for each in error.diagnostics)
            continue
        for found, value in zip(program(*drawn.inputs), drawn.results, strict=True):
            assert not difference(np.asarray(found), value), f"seed {seed}\n{drawn.text}"
        back += 1
    assert back > len(seeds) * 3 // 4
    assert codes <= {"SW0885"}


def test_what_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    traced = sw.function(lambda x: x + 1).trace(np.ones(2))
    with pytest.raises(sw.ShardwrightError, match="SW0704"):
        sw.to_saved_model(traced, tmp_path / "file" / "model")
    with pytest.raises(sw.ShardwrightError, match="SW0704"):
        write_graph_def(sw.to_graph_def(traced), tmp_path / "none" / "graph.pb")


def test_the_command_writes_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "p.mlir"
    source.write_text(program("  %r = stablehlo.tanh %x0 : tensor<3xf32>", "3xf32", result="3xf32"))
    assert main(["export", str(source), "--to", "graphdef"]) == 0
    text = capsys.readouterr().out
    assert main(["export", str(source), "--to", "graphdef", "-o", str(tmp_path / "g.pb")]) == 0
    assert main(["export", str(source), "--to", "graphdef", "-o", str(tmp_path / "g.pbtxt")]) == 0
    graph = graph_pb2.GraphDef()
    graph.ParseFromString((tmp_path / "g.pb").read_bytes())
    assert text_of(graph) == text == (tmp_path / "g.pbtxt").read_text()
    assert [name for name, _, _ in kinds(graph)] == ["x0", "r", "result"]


def test_a_saved_model_takes_no_other_models_place(tmp_path: Path) -> None:
    double = sw.function(lambda x: x * 2)
    double(np.ones(3))
    place = sw.save({"double": double, "given": np.ones(3)}, tmp_path / "saved")
    with pytest.raises(ShardwrightError, match=r"SW0704\]: cannot write .*it holds another model, with .*variables"):
        sw.to_saved_model(double.trace(np.ones(3)), place)
    assert np.array_equal(sw.load(place)["double"](np.ones(3)), [2, 2, 2])
    for factor in (3, 4):  # one of its own is written anew
        sw.to_saved_model(sw.function(lambda x, factor=factor: x * factor).trace(np.ones(3)), tmp_path / "own")
    assert np.array_equal(sw.from_saved_model(tmp_path / "own")(np.ones(3))["result"], [4, 4, 4])
