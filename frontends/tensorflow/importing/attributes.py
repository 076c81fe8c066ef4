"""Attributes of nodes: read as Python's values, of the types that TensorFlow's definition of the operation says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.frontends.tensorflow.importing.graphs.nodes import Node
from shardwright.frontends.tensorflow.importing.tensors import data_type_name, static_shape
from shardwright.serialization.protos import graph_pb2

_FIELDS = {"int": "i", "float": "f", "bool": "b", "string": "s"} | {
    kind: kind for kind in ("type", "shape", "tensor", "func")
}

MOST = 1 << 16
"""The most inputs or outputs of one name."""


def attribute(node: Node, definition: graph_pb2.OpDef.AttrDef) -> Any:
    """
    The value of one attribute, or its default: numbers, texts, shapes as tuples, types as TensorFlow's numbers, lists.

    Raises `GraphError` (SW0887) where it is missing, of another type, or none of the allowed values.
    """
    name = definition.name
    if name in node.proto.attr:
        given = node.proto.attr[name]
    elif definition.HasField("default_value"):
        given = definition.default_value
    else:
        raise GraphError("SW0887", f"{node} has no attribute {name!r}, which is a {definition.type}")
    listed = definition.type.startswith("list(")
    kind = definition.type[5:-1] if listed else definition.type
    field = _FIELDS[kind]
    found = given.WhichOneof("value")
    if found != ("list" if listed else field):
        names = {field: f"a {name}" for name, field in _FIELDS.items()} | {"list": "a list", None: "nothing"}
        shown = names.get(found, f"a {found}")
        raise GraphError("SW0887", f"{node}: attribute {name!r} is {shown} where a {definition.type} is due")
    values: list[Any] = list(getattr(given.list, field)) if listed else [getattr(given, field)]
    if kind in _READERS:
        values = [_READERS[kind](value) for value in values]
    _check_allowed(node, definition, kind, values)
    return values if listed else values[0]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


_READERS: dict[str, Callable[[Any], Any]] = {"string": _text, "shape": static_shape}


def _check_allowed(node: Node, definition: graph_pb2.OpDef.AttrDef, kind: str, values: list[Any]) -> None:
    if definition.has_minimum:
        below = len(values) if definition.type.startswith("list(") else values[0]
        if below < definition.minimum:
            raise GraphError("SW0887", f"{node}: attribute {definition.name!r} is {below}, below {definition.minimum}")
    allowed = definition.allowed_values.list
    known: list[Any] = [*allowed.type] if kind == "type" else [_text(item) for item in allowed.s]
    for value in values:
        if known and kind in ("type", "string") and value not in known:
            shown = data_type_name(value) if kind == "type" else repr(value)
            names = ", ".join(data_type_name(item) if kind == "type" else item for item in known)
            raise GraphError("SW0887", f"{node}: attribute {definition.name!r} is {shown}", f"it may be {names}")


class Signature:
    """What a node takes and gives, after the definition of its operation."""

    def __init__(self, node: Node, definition: graph_pb2.OpDef) -> None:
        self.node = node
        self.definition = definition
        self._attributes = {item.name: item for item in definition.attr}
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = attribute(self.node, self._attributes[name])
        return self._values[name]

    def check(self) -> None:
        """GraphError for a wrong or unknown attribute (SW0887) or another number of inputs (SW0886)."""
        for name in self._attributes:
            self[name]
        for name in self.node.proto.attr:
            if name not in self._attributes and not name.startswith("_") and self.node.op == self.definition.name:
                what = f"an attribute {name!r}, which TensorFlow's operation has not"
                raise GraphError("SW0887", f"{self.node} has {what}")
        due = len(self.input_types)
        if due != len(self.node.inputs):
            raise GraphError("SW0886", f"{self.node} takes {due} inputs and has {len(self.node.inputs)}")
        if len(self.output_types) > MOST:
            raise GraphError("SW0887", f"{self.node} has {len(self.output_types)} outputs, above {MOST}")

    @property
    def input_types(self) -> list[int]:
        """TensorFlow's type of each input."""
        return [kind for argument in self.definition.input_arg for kind in self._types(argument)]

    @property
    def output_types(self) -> list[int]:
        """TensorFlow's type of each output."""
        return [kind for argument in self.definition.output_arg for kind in self._types(argument)]

    def _types(self, argument: graph_pb2.OpDef.ArgDef) -> list[int]:
        if argument.type_list_attr:
            return self[argument.type_list_attr]
        kind = self[argument.type_attr] if argument.type_attr else argument.type
        count = self[argument.number_attr] if argument.number_attr else 1
        if count > MOST:
            raise GraphError("SW0887", f"{self.node}: attribute {argument.number_attr!r} is {count}, above {MOST}")
        return [kind] * count

    def place(self, output: str, index: int) -> int:
        """Which output of the node the one called `output`, number `index` of it, is."""
        start = 0
        for argument in self.definition.output_arg:
            count = len(self._types(argument))
            if argument.name == output and index < count:
                return start + index
            start += count
        raise GraphError("SW0886", f"{self.node} has no output '{output}:{index}'")
