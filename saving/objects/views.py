"""What TensorFlow's tools see of saved programs: signatures, and the graph of objects."""

from __future__ import annotations

from typing import Any, cast

from shardwright.compiler.stages import Traced
from shardwright.compiler.tracing.pytree import paths
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.frontends.tensorflow.importing.tensors import data_type
from shardwright.passes.program import entry_function
from shardwright.saving.objects.values import dtype_named
from shardwright.serialization.protos import graph_pb2, program_pb2, saved_model_pb2

PREDICT = "tensorflow/serving/predict"
"""TensorFlow's name for a signature that takes and gives tensors."""

_CONTAINERS = {
    program_pb2.Container.LIST: "trackable_list_wrapper",
    program_pb2.Container.TUPLE: "trackable_tuple_wrapper",
    program_pb2.Container.DICT: "trackable_dict_wrapper",
}


def signature_def(traced: Traced, key: str) -> saved_model_pb2.SignatureDef:
    """The arrays that a program takes and gives, by name; captured variables are no part of it."""
    message = saved_model_pb2.SignatureDef(method_name=PREDICT)
    for parameter in traced.interface.parameters:
        info = message.inputs[parameter.name]
        _describe(info, f"{key}_{parameter.name}:0", parameter.shape, parameter.dtype)
    function = entry_function(traced.module)
    last = function.get_return_op()
    names = paths(traced.interface.results, "result")
    for number, (name, value) in enumerate(zip(names, last.operands if last is not None else (), strict=False)):
        _describe(message.outputs[name], f"{key}:{number}", shape_of(value), element_dtype(value.type))
    return message


def _describe(info: saved_model_pb2.TensorInfo, name: str, shape: tuple[int, ...], dtype: Any) -> None:
    info.name = name
    info.dtype = _number(dtype)
    info.tensor_shape.dim.extend([graph_pb2.TensorShapeProto.Dim(size=size) for size in shape])


def _number(dtype: Any) -> graph_pb2.DataType:
    """TensorFlow's number of a type; that of no type for those that it lacks."""
    try:
        return cast(graph_pb2.DataType, data_type(dtype))
    except GraphError:
        return graph_pb2.DT_INVALID


def object_graph(saved: program_pb2.Saved) -> saved_model_pb2.SavedObjectGraph:
    """Modules, containers, variables and functions as TensorFlow's nodes, with the same numbers."""
    graph = saved_model_pb2.SavedObjectGraph()
    for item in saved.objects:
        _add_node(graph.nodes.add(), item, saved)
    for program in saved.programs:
        graph.concrete_functions[program.signature].bound_inputs.extend(program.captured)
    return graph


def _add_node(node: saved_model_pb2.SavedObject, item: program_pb2.Object, saved: program_pb2.Saved) -> None:
    kind = item.WhichOneof("kind")
    if kind == "variable":
        node.variable.dtype = _number(dtype_named(item.variable.dtype))
        node.variable.shape.dim.extend([graph_pb2.TensorShapeProto.Dim(size=size) for size in item.variable.shape])
        node.variable.trainable, node.variable.name = item.variable.trainable, item.variable.name
    elif kind == "function":
        node.function.concrete_functions.extend([saved.programs[number].signature for number in item.function.programs])
    else:
        node.user_object.identifier = "_generic_user_object"
        node.user_object.version.producer = node.user_object.version.min_consumer = 1
        if kind == "container":
            node.user_object.identifier = _CONTAINERS[item.container.kind]
        members = item.module.members if kind == "module" else item.container.members
        for member in members if kind in ("module", "container") else ():
            node.children.add(node_id=member.object, local_name=_local_name(member.key))


def _local_name(key: program_pb2.Value) -> str:
    kind = key.WhichOneof("kind")
    return str(getattr(key, str(kind))).strip() if kind in ("text", "integer", "truth", "float_number") else str(kind)
