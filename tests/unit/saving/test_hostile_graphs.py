"""Graphs that are small and would become large: refused by name, or kept as small as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hostile import bounded, outcome

import shardwright
from shardwright.serialization.protos import graph_pb2

FLOAT, INT32, INT64 = graph_pb2.DT_FLOAT, graph_pb2.DT_INT32, graph_pb2.DT_INT64
GraphDef = graph_pb2.GraphDef


def constant(graph: GraphDef, name: str, values: Sequence[float], shape: Sequence[int], kind: int = FLOAT) -> None:
    node = graph.node.add(name=name, op="Const")
    node.attr["dtype"].type = node.attr["value"].tensor.dtype = kind  # type: ignore[assignment]
    tensor = node.attr["value"].tensor
    for size in shape:
        tensor.tensor_shape.dim.add(size=size)
    field = {FLOAT: tensor.float_val, INT32: tensor.int_val, INT64: tensor.int64_val}[kind]  # type: ignore[index]
    field.extend(values)  # type: ignore[arg-type]


def add(graph: GraphDef, name: str, op: str, inputs: Sequence[str], types: dict[str, int], **numbers: int) -> None:
    node = graph.node.add(name=name, op=op, input=inputs)
    for key, kind in types.items():
        node.attr[key].type = kind  # type: ignore[assignment]
    for key, number in numbers.items():
        node.attr[key].i = number


def elements_left_out(graph: GraphDef) -> None:
    for number in range(50):
        constant(graph, f"c{number}", [1, 2], [2 << 20])
    add(graph, "sum", "AddN", [f"c{number}" for number in range(50)], {"T": FLOAT}, N=50)


def many_elements_left_out(graph: GraphDef) -> None:
    constant(graph, "c", [1, 2], [1 << 40])
    add(graph, "negative", "Neg", ["c"], {"T": FLOAT})


def many_dims(graph: GraphDef) -> None:
    constant(graph, "c", [1], [1] * 200)
    add(graph, "negative", "Neg", ["c"], {"T": FLOAT})


def many_bytes(graph: GraphDef) -> None:
    constant(graph, "c", [1], [1 << 62])
    add(graph, "negative", "Neg", ["c"], {"T": FLOAT})


def nothing_of_much(graph: GraphDef) -> None:
    constant(graph, "c", [], [1 << 62, 1 << 62, 0])
    add(graph, "negative", "Neg", ["c"], {"T": FLOAT})


def a_long_range(graph: GraphDef) -> None:
    for name, value in (("start", 0), ("limit", 1 << 40), ("delta", 1)):
        constant(graph, name, [value], [], INT64)
    add(graph, "range", "Range", ["start", "limit", "delta"], {"Tidx": INT64})


def many_outputs(graph: GraphDef) -> None:
    constant(graph, "axis", [0], [], INT32)
    constant(graph, "x", [1], [1 << 20])
    add(graph, "parts", "Split", ["axis", "x"], {"T": FLOAT}, num_split=1 << 20)


def rows_without_end(graph: GraphDef) -> None:
    constant(graph, "x", [1], [1 << 40])
    add(graph, "rows", "Unpack", ["x"], {"T": FLOAT}, num=1 << 40)


def functions_that_call_two(graph: GraphDef) -> None:
    for number in range(40):
        function = graph.library.function.add()
        function.signature.name = f"f{number}"
        function.signature.input_arg.add(name="x", type=FLOAT)
        function.signature.output_arg.add(name="y", type=FLOAT)
        for name, source in (("a", "x"), ("b", "a:y:0")):
            function.node_def.add(name=name, op=f"f{number + 1}" if number < 39 else "Neg", input=[source])
        function.ret["y"] = "b:y:0"
    constant(graph, "c", [1], [1])
    graph.node.add(name="call", op="f0", input=["c"])


def concatenated_with_itself(graph: GraphDef) -> None:
    constant(graph, "axis", [0], [], INT32)
    constant(graph, "x0", [1, 2], [2])
    for number in range(70):
        add(graph, f"x{number + 1}", "ConcatV2", [f"x{number}"] * 2 + ["axis"], {"T": FLOAT, "Tidx": INT32}, N=2)


def tiled(graph: GraphDef) -> None:
    constant(graph, "x0", [1, 2], [2])
    constant(graph, "count", [4096], [1], INT32)
    for number in range(4):
        add(graph, f"x{number + 1}", "Tile", [f"x{number}", "count"], {"T": FLOAT, "Tmultiples": INT32})


def filled(graph: GraphDef) -> None:
    constant(graph, "shape", [1 << 20] * 2, [2], INT64)
    constant(graph, "one", [1], [])
    add(graph, "fill", "Fill", ["shape", "one"], {"T": FLOAT, "index_type": INT64})


CASES: list[tuple[Callable[[GraphDef], None], str | None]] = [
    (elements_left_out, "SW0888"),
    (many_elements_left_out, "SW0888"),
    (many_dims, "SW0888"),
    (many_bytes, "SW0888"),
    (nothing_of_much, "SW0888"),
    (a_long_range, None),
    (many_outputs, "SW0887"),
    (rows_without_end, None),
    (functions_that_call_two, "SW0886"),
    (concatenated_with_itself, None),
    (tiled, None),
    (filled, None),
]
"""What would be large, and the code of the refusal where there has to be one; the others may stay small."""


@pytest.mark.parametrize(("build", "code"), CASES)
def test_small_graphs_stay_small(build: Callable[[GraphDef], None], code: str | None) -> None:
    graph, warm = GraphDef(), GraphDef()
    constant(warm, "c", [1], [1])
    add(warm, "n", "Neg", ["c"], {"T": FLOAT})
    shardwright.from_graph(warm).trace()
    build(graph)
    with bounded(build.__name__):
        found, _ = outcome(lambda: shardwright.from_graph(graph).trace())
    assert code is None or found == code
