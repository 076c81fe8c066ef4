"""Nodes as messages: names that no two nodes of a graph share, references between them, and attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from shardwright.frontends.tensorflow.exporting.emitter import Library
from shardwright.frontends.tensorflow.exporting.kernels import KERNELS
from shardwright.frontends.tensorflow.exporting.nodes import SHARED_BYTES, FunctionName, Graph, Literal, Node, Tensor
from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.frontends.tensorflow.importing.tensors import MAX_BYTES, data_type, shape_proto, tensor_proto
from shardwright.serialization.protos import graph_pb2

PRODUCER = 2000
"""The version of TensorFlow's graphs that this writes: all operations are as they were then, and still are."""

MIN_CONSUMER = 12
"""The oldest version of TensorFlow's graphs that knows functions as they are written here."""


class Names:
    """Names that are each given once, whatever the case of their letters."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def free(self, wanted: str) -> str:
        """
        The wanted name, or that with a number behind it.

        >>> names = Names()
        >>> [names.free(name) for name in ("add", "Add", "add_1")]
        ['add', 'Add_1', 'add_1_1']
        """
        number, name = self._next.get(wanted.lower(), 0), wanted
        while name.lower() in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._next[wanted.lower()] = number
        self._taken.add(name.lower())
        return name

    def assigned(self, wanted: Sequence[str], own: Sequence[str]) -> list[str]:
        """
        Names for several at once, of which none is made up that another has of its own: wants it and is called so.

        >>> Names().assigned(["x", "x", "b_0", "x_1", "b_0"], ["x", "x", "b[0]", "x_1", "b_0"])
        ['x', 'x_2', 'b_0_1', 'x_1', 'b_0']
        """
        found: dict[int, str] = {}
        for place, (name, called) in enumerate(zip(wanted, own, strict=True)):
            if name == called and name.lower() not in self._taken:
                found[place] = self.free(name)
        return [found.get(place) or self.free(name) for place, name in enumerate(wanted)]


def _reachable(graph: Graph, kept: Sequence[Tensor]) -> list[Node]:
    """The nodes that the outputs and `kept` need, in an order in which each comes after its inputs."""
    needed: set[Node] = set()
    pending = [tensor.node for tensor in (*graph.outputs, *kept)]
    while pending:
        node = pending.pop()
        if node not in needed:
            needed.add(node)
            pending += [tensor.node for tensor in node.inputs]
    return [node for node in graph.nodes if node in needed]


def write_graph(
    graph: Graph, library: Library, ports: Sequence[tuple[str, Tensor]], message: graph_pb2.GraphDef
) -> None:
    """Fills a message with the graph and the functions that it calls; `ports` are arguments and results, as called."""
    message.versions.producer, message.versions.min_consumer = PRODUCER, MIN_CONSUMER
    names = Names()
    nodes = [tensor.node for _, tensor in ports]
    wanted = [node.name or node.kind for node in nodes]
    for node, name in zip(nodes, names.assigned(wanted, [called for called, _ in ports]), strict=True):
        node.name = name  # before all others
    _write_nodes(graph, [tensor for _, tensor in ports], names, message.node)
    for name, function in library.functions.items():
        _write_function(name, function, message.library.function.add())


def _write_function(name: str, graph: Graph, message: graph_pb2.FunctionDef) -> None:
    names = Names()
    message.signature.name = name
    for place, argument in enumerate(graph.arguments):
        argument.node.name = names.free(f"arg{place}")
        message.signature.input_arg.add(name=argument.node.name, type=cast(Any, data_type(argument.dtype)))
    _write_nodes(graph, (), names, message.node_def, in_function=True)
    for place, output in enumerate(graph.outputs):
        key = f"out{place}"
        message.signature.output_arg.add(name=key, type=cast(Any, data_type(output.dtype)))
        message.ret[key] = reference(output, in_function=True)


def reference(tensor: Tensor, *, in_function: bool) -> str:
    """How a node names its input: `matmul`, `topk:1`; inside of functions `matmul:product:0`, `topk:indices:0`."""
    node = tensor.node
    assert node.name is not None
    if node.kind == "Argument":
        return node.name
    if not in_function:
        return f"{node.name}:{tensor.index}" if tensor.index else node.name
    kernel = KERNELS[node.kind]
    if kernel.is_list:
        return f"{node.name}:{kernel.outputs[0]}:{tensor.index}"
    return f"{node.name}:{kernel.outputs[tensor.index]}:0"


def _write_nodes(
    graph: Graph, kept: Sequence[Tensor], names: Names, messages: Any, *, in_function: bool = False
) -> None:
    first = {tensor.node for tensor in (*kept, *graph.outputs)} if not in_function else set[Node]()
    for node in _reachable(graph, kept):
        if node not in first:
            node.name = names.free(node.name or "/".join(filter(None, (node.scope, node.kind))))
        message = messages.add(name=node.name, op=node.kind)
        message.input.extend(reference(tensor, in_function=in_function) for tensor in node.inputs)
        for key, value in node.attributes.items():
            _set(message.attr[key], value, f"the constant {node.name}")


def _set(message: graph_pb2.AttrValue, value: Any, what: str) -> None:
    """Every kind of attribute that an exported graph has."""
    match value:
        case bool():
            message.b = value
        case int():
            message.i = value
        case str():
            message.s = value.encode()
        case np.dtype():
            message.type = cast(Any, data_type(cast("np.dtype[Any]", value)))
        case FunctionName():
            message.func.name = value.name
        case Literal():
            _set_literal(message.tensor, value, what)
        case np.ndarray():
            array = cast("np.ndarray[Any, Any]", value)
            # What is large is written in its place: copied twice it would take twice the memory.
            if SHARED_BYTES < array.nbytes <= MAX_BYTES:
                _set_literal(message.tensor, Literal(array.dtype, array.shape, array.tobytes()), what)
            else:
                message.tensor.CopyFrom(tensor_proto(array, what))
        case tuple():
            message.shape.CopyFrom(shape_proto(cast("tuple[int, ...]", value)))
        case _:
            _set_list(message.list, cast("Sequence[Any]", value))


def _set_literal(message: graph_pb2.TensorProto, value: Literal, what: str) -> None:
    """The bytes of the program's constant, which are those of TensorFlow's tensors."""
    if len(value.data) > MAX_BYTES:
        raise GraphError("SW0888", f"{what} has {len(value.data)} bytes, and one field of a message holds {MAX_BYTES}")
    message.dtype = cast(Any, data_type(value.dtype))
    message.tensor_shape.CopyFrom(shape_proto(value.shape))
    message.tensor_content = value.data


def _set_list(message: graph_pb2.AttrValue.ListValue, values: Sequence[Any]) -> None:
    message.SetInParent()
    for value in values:
        match value:
            case int():
                message.i.append(value)
            case np.dtype():
                message.type.append(cast(Any, data_type(cast("np.dtype[Any]", value))))
            case FunctionName():
                message.func.add(name=value.name)
            case _:
                message.shape.add().CopyFrom(shape_proto(cast("tuple[int, ...]", value)))
