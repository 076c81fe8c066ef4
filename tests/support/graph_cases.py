"""Graphs with nodes of about the sizes that TensorFlow's tests of its splitter use."""

import math
from random import Random
from typing import Any

from shardwright.serialization.protos import graph_pb2, saved_model_pb2


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


def full_saved_model() -> Any:
    """A SavedModel in which every kind of field is large."""
    model = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    for _ in range(2):
        meta = model.meta_graphs.add()
        meta.meta_info_def.tags.extend(f"tag {number}" for number in range(30))
        inputs = [{"name": f"i{number}"} for number in range(60)]
        meta.meta_info_def.stripped_op_list.op.add(name="op", input_arg=inputs)
        meta.graph_def.CopyFrom(graph_of_constants([100] * 30, fn=[700, 50]))
        function = meta.graph_def.library.function[0]
        for number in range(40):
            function.arg_attr[number + (1 << 31)].attr["a"].list.s.extend([bytes(30)] * (number + 1))
            function.ret[f"r{number}"] = "x" * 20
            meta.object_graph_def.nodes.add().children.add(node_id=number, local_name=f"child {number}")
            meta.object_graph_def.concrete_functions[f"f{number}"].bound_inputs.extend(range(30 * number))
        meta.graph_def.debug_info.frames_by_id[1 << 40].line = 5
        meta.collection_def["names"].node_list.value.extend(f"a name {number}" for number in range(60))
        meta.collection_def["bytes"].bytes_list.value.extend(bytes(20) for _ in range(60))
        meta.collection_def["numbers"].int64_list.value.extend(range(-1000, 1000))
        meta.signature_def["serve"].inputs["x"].coo_sparse.values_tensor_name = "v" * 300
        meta.MergeFromString(b"\xf8\xff\x03\x05" * 50)
    return model
