"""
The variables and tables of a SavedModel: which tensors of its checkpoint each one gets, as its restoring graph says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.frontends.tensorflow.importing.graphs.nodes import Body, Library, Node, Reference, reference
from shardwright.frontends.tensorflow.importing.graphs.survey import check_calls
from shardwright.frontends.tensorflow.importing.tensors import STRING, numpy_dtype, tensor_array
from shardwright.serialization.protos import graph_pb2, saved_model_pb2
from shardwright.serialization.tables.tensor_bundle import TensorBundle

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The tensor of a checkpoint that says which object each of its tensors belongs to."""

_VALUE = "VARIABLE_VALUE"
"""What a checkpoint calls the elements of a variable."""

HANDLES = ("VarHandleOp", "VariableV2", "Variable")
CHANGING_TABLES = tuple(
    f"Mutable{kind}{version}"
    for kind in ("HashTable", "HashTableOfTensors", "DenseHashTable")
    for version in ("", "V2")
)
"""Tables that a model may change, so that what they hold is in its checkpoint."""


@dataclass(frozen=True)
class Stored:
    """A variable's tensor in a checkpoint, and what the model calls it."""

    name: str
    trainable: bool
    value: np.ndarray[Any, Any]


@dataclass(frozen=True)
class _Handle:
    name: str


@dataclass(frozen=True)
class _Restored:
    key: str


_Value = np.ndarray[Any, Any] | _Handle | _Restored | None


def stored_variables(
    prefix: Path, meta_graph: saved_model_pb2.MetaGraphDef, body: Body, library: Library, wanted: Collection[str]
) -> dict[str, Stored]:
    """
    The tensors of the variables in `wanted`, by the names of their handles.

    Raises `ShardwrightValueError` (SW0892) where the checkpoint cannot be read or lacks one of them.
    """
    if not wanted:
        return {}
    keys = _restored_keys(meta_graph.saver_def.restore_op_name, body, library)
    bundle = TensorBundle(prefix)
    objects = _objects(bundle)
    if any(handle not in keys for handle in wanted):
        keys = _keys_by_objects(meta_graph.object_graph_def, objects, body, library) | keys
    names = {item.checkpoint_key: item.full_name for node in objects.nodes for item in node.attributes}
    known = [node for node in meta_graph.object_graph_def.nodes if node.WhichOneof("kind") == "variable"]
    fixed = {node.variable.name for node in known if not node.variable.trainable}
    found: dict[str, Stored] = {}
    for handle in wanted:
        key = keys.get(handle)
        if key is None:
            raise GraphError("SW0892", f"the model restores no variable {handle!r}")
        name = names.get(key) or handle
        value = bundle.tensor(key, numpy_dtype(bundle.entry(key).dtype, f"variable {handle!r}"))
        found[handle] = Stored(name, name not in fixed, value)
    return found


def stored_tables(
    prefix: Path, meta_graph: saved_model_pb2.MetaGraphDef, body: Body, library: Library, wanted: Collection[str]
) -> dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """
    The keys and values of the tables in `wanted` that the model restores, by the names of their handles.

    Raises `ShardwrightValueError` (SW0892) where the checkpoint cannot be read.
    """
    restore = meta_graph.saver_def.restore_op_name
    if not wanted or not restore:
        return {}
    filled = _restoring(restore, body, library).tables
    found = {handle: filled[handle] for handle in wanted if handle in filled}
    bundle = TensorBundle(prefix) if found else None
    return {
        handle: (_elements(bundle, keys, handle), _elements(bundle, values, handle))
        for handle, (keys, values) in found.items()
        if bundle is not None
    }


def _elements(bundle: TensorBundle, key: str, handle: str) -> np.ndarray[Any, Any]:
    dtype = numpy_dtype(bundle.entry(key).dtype, f"table {handle!r}")
    return bundle.texts(key) if dtype == STRING else bundle.tensor(key, dtype)


def _objects(bundle: TensorBundle) -> saved_model_pb2.TrackableObjectGraph:
    """Which object each tensor of a checkpoint belongs to, and its name in the model; empty for TensorFlow 1."""
    if OBJECT_GRAPH not in bundle.keys:
        return saved_model_pb2.TrackableObjectGraph()
    try:
        return saved_model_pb2.TrackableObjectGraph.FromString(bundle.text(OBJECT_GRAPH))
    except DecodeError:
        raise GraphError("SW0892", f"the tensor {OBJECT_GRAPH} of the checkpoint is no message") from None


def _keys_by_objects(
    model: saved_model_pb2.SavedObjectGraph,
    checkpoint: saved_model_pb2.TrackableObjectGraph,
    body: Body,
    library: Library,
) -> dict[str, str]:
    """
    The key of each variable that a saved function holds, by the name of its handle: as TensorFlow 2 restores a model.

    Its restoring graph may fill copies of the variables alone, which nothing reads: for Keras' variables it does.
    """
    keys = _keys_of_objects(model, checkpoint)
    found: dict[str, str] = {}
    for caller in body.of_kind(("PartitionedCall", "StatefulPartitionedCall")):
        node = body.node(caller, body.described)
        for name in library.called_by(node):
            held = list(model.concrete_functions[name].bound_inputs) if name in model.concrete_functions else []
            for place, ref in zip(reversed(held), reversed(node.inputs), strict=False):
                handle = body.node(ref.node, str(node))
                if handle.op in HANDLES and place in keys:
                    found[handle_name(handle.proto)] = keys[place]
    return found


def _keys_of_objects(
    model: saved_model_pb2.SavedObjectGraph, checkpoint: saved_model_pb2.TrackableObjectGraph
) -> dict[int, str]:
    """The key of each variable of a model: from the root, both graphs call the way to an object by the same names."""
    found: dict[int, str] = {}
    waiting, seen = [(0, 0)], {0}
    while waiting:
        here, there = waiting.pop()
        if not (0 <= here < len(model.nodes) and 0 <= there < len(checkpoint.nodes)):
            continue
        values = [item for item in checkpoint.nodes[there].attributes if item.name == _VALUE]
        if values and model.nodes[here].WhichOneof("kind") == "variable":
            found[here] = values[0].checkpoint_key
        children = {child.local_name: child.node_id for child in checkpoint.nodes[there].children}
        following = [child for child in model.nodes[here].children if child.local_name in children]
        waiting += [(one.node_id, children[one.local_name]) for one in following if one.node_id not in seen]
        seen.update(one.node_id for one in following)
    return found


def _restored_keys(restore: str, body: Body, library: Library) -> dict[str, str]:
    """The key in the checkpoint of each variable: what the graph that restores them assigns."""
    if not restore:
        raise GraphError("SW0892", "the model does not say how its variables are restored")
    return _restoring(restore, body, library).keys


def _restoring(restore: str, body: Body, library: Library) -> _Restoring:
    """What the graph that restores a model assigns, and to what."""
    order = body.order([reference(restore.removeprefix("^")).node])
    check_calls(order, library, library.called_by)
    reader = _Restoring(library)
    reader.run(order, {})
    return reader


class _Restoring:
    """Follows keys from `RestoreV2` to the variables to which they are assigned, and to the tables that they fill."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.keys: dict[str, str] = {}
        self.tables: dict[str, tuple[str, str]] = {}

    def run(self, order: Sequence[Node], arguments: Mapping[str, _Value]) -> dict[str, Sequence[_Value]]:
        values: dict[str, Sequence[_Value]] = {}
        for node in order:
            inputs = [_looked_up(ref, arguments, values) for ref in node.inputs]
            values[node.name] = self._outputs(node, inputs)
        return values

    def _outputs(self, node: Node, inputs: list[_Value]) -> Sequence[_Value]:
        if node.op in ("Identity", "IdentityN"):
            return inputs
        if node.op == "Const" and "value" in node.proto.attr:
            return [tensor_array(node.proto.attr["value"].tensor, str(node))]
        if node.op in HANDLES or node.op in CHANGING_TABLES:
            return [_Handle(handle_name(node.proto))]
        if node.op == "RestoreV2":
            return _restored(node, inputs)
        if node.op in ("AssignVariableOp", "Assign") and len(inputs) == 2:
            target, value = inputs
            if isinstance(target, _Handle) and isinstance(value, _Restored):
                self.keys[target.name] = value.key
            return [target]
        if node.op in ("LookupTableImportV2", "LookupTableImport") and len(inputs) == 3:
            table, keys, values = inputs
            if isinstance(table, _Handle) and isinstance(keys, _Restored) and isinstance(values, _Restored):
                self.tables[table.name] = keys.key, values.key
            return []
        return [value for name in self._library.called_by(node) for value in self._called(name, node, inputs)]

    def _called(self, name: str, node: Node, inputs: list[_Value]) -> list[_Value]:
        function = self._library.function(name, str(node))
        arguments = dict(zip(function.body.arguments, inputs, strict=False))
        values = self.run(function.order, arguments)
        return [_looked_up(ref, arguments, values) for ref in function.results]


def _looked_up(ref: Reference, arguments: Mapping[str, _Value], values: Mapping[str, Sequence[_Value]]) -> _Value:
    if ref.node in arguments:
        return arguments[ref.node]
    outputs = values.get(ref.node, ())
    return outputs[ref.index] if ref.index < len(outputs) else None


def _restored(node: Node, inputs: list[_Value]) -> list[_Value]:
    names, slices = inputs[1:3] if len(inputs) == 3 else (None, None)
    count = len(node.proto.attr["dtypes"].list.type) if "dtypes" in node.proto.attr else 0
    texts = [one for one in (names, slices) if isinstance(one, np.ndarray) and one.dtype.kind == "O"]
    if len(texts) != 2 or any(one.shape != (count,) for one in texts):
        raise GraphError("SW0892", f"{node} does not say which tensors it restores")
    for name, part in zip(*texts, strict=True):
        if part:
            raise GraphError("SW0892", f"{node} restores a part of {name.decode('utf-8', 'replace')!r}: {part!r}")
    return [_Restored(name.decode("utf-8", "replace")) for name in texts[0]]


def handle_name(node: graph_pb2.NodeDef) -> str:
    """The name by which handles of one variable are the same."""
    shared = node.attr["shared_name"].s if "shared_name" in node.attr else b""  # asking a map makes an entry
    return shared.decode("utf-8", "replace") or node.name
