"""Graphs with nodes of about the sizes that TensorFlow's tests of its splitter use."""

import math
from random import Random
from typing import Any

from shardwright.serialization.protos import graph_pb2


def graph_of_constants(sizes: list[int], **functions: list[int]) -> Any:
    """A graph of float32 constants whose nodes have about so many bytes each, and functions of such nodes."""
    graph, random = graph_pb2.GraphDef(), Random(7)
    count = 0

    def add(nodes: Any, sizes: list[int]) -> None:
        nonlocal count
        for size in sizes:
            node = nodes.add(name=f"Const_{count}", op="Const")
            tensor = node.attr["value"].tensor
            tensor.dtype = graph_pb2.DT_FLOAT
            tensor.tensor_shape.SetInParent()
            tensor.float_val.append(1.0)
            length = math.ceil((size - node.ByteSize()) / 4)
            assert length >= 0
            tensor.ClearField("float_val")
            tensor.tensor_shape.dim.add(size=length)
            if length == 1:
                tensor.float_val.append(0.5)
            else:
                tensor.tensor_content = random.randbytes(4 * length)
            count += 1

    add(graph.node, sizes)
    for name, inside in functions.items():
        function = graph.library.function.add()
        function.signature.name = name
        add(function.node_def, inside)
    return graph
