"""
The splitter for any message, those for TensorFlow's graphs and SavedModels, and which one is for which type.

The latter plan like `MessageSplitter`, which finds large constants, nodes and functions wherever they are. Each is for
one type, of our package or of TensorFlow's, and gives a message of another type back by name.
"""

from __future__ import annotations

from typing import Any, ClassVar

from google.protobuf.message import Message

from shardwright.serialization.errors import SplitError, SplitTypeError
from shardwright.serialization.fields import FieldTypes, format_path, get_field, key_of, resolve, type_of
from shardwright.serialization.protos import graph_pb2, saved_model_pb2
from shardwright.serialization.splitting.splitter import ComposableSplitter, Splitter


class MessageSplitter(ComposableSplitter):
    """
    Splits a message of any type: every message chunk has at most `max_size` bytes, exactly, and the message stays as it
    is.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> graph = graph_pb2.GraphDef(node=[{"name": f"node{number}"} for number in range(100)])
    >>> chunks, chunked = MessageSplitter(graph, max_size=500).split()
    >>> [len(chunk.node) for chunk in chunks], len(graph.node)
    ([51, 49], 100)
    """

    def build_chunks(self) -> int:
        """Make the chunks; returns how many bytes went into them."""
        return self._add_plan()


REGISTERED: dict[str, type[Splitter]] = {}


def register_splitter(message_type: type[Message], splitter: type[Splitter]) -> None:
    """
    Say which splitter is for a type of message, instead of the one that is for it now.

    Raises SW0816 for what is no type of message or no `Splitter`.
    """
    if not (isinstance(message_type, type) and issubclass(message_type, Message)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SplitTypeError(f"a splitter is for a type of message, not for {message_type!r}")
    if not (isinstance(splitter, type) and issubclass(splitter, Splitter)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SplitTypeError(f"{splitter!r} is no subclass of Splitter")
    REGISTERED[message_type.DESCRIPTOR.full_name] = splitter


def splitter_for(message: Message, **options: Any) -> Splitter:
    """
    The splitter of a message's type, made for the message; `MessageSplitter` for a type that none is registered for.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> type(splitter_for(graph_pb2.OpList(), max_size=1000)).__name__
    'MessageSplitter'
    """
    known = isinstance(message, Message)  # pyright: ignore[reportUnnecessaryIsInstance]
    kind: Any = REGISTERED.get(type_of(message).full_name, MessageSplitter) if known else MessageSplitter
    return kind(message, **options)


class TypedSplitter(MessageSplitter):
    """A splitter for messages of one type; SW0816 for others."""

    message_type: ClassVar[str]

    def __init__(self, proto: Any, **options: Any) -> None:
        found = type_of(proto).full_name if isinstance(proto, Message) else type(proto).__name__
        packages = ("shardwright.tensorflow", "tensorflow")
        if found not in [f"{package}.{self.message_type}" for package in packages]:
            raise SplitTypeError(f"{type(self).__name__} can only split {self.message_type} type protos, not {found}")
        super().__init__(proto, **options)


class GraphDefSplitter(TypedSplitter):
    """
    Splits a graph: large constants into chunks of bytes, large nodes and functions into chunks of their own, and what
    is left into runs of nodes.

    >>> nodes = [{"name": "c", "op": "Const", "attr": {"value": {"tensor": {"tensor_content": bytes(1000)}}}}]
    >>> graph = graph_pb2.GraphDef(node=nodes)
    >>> chunks, chunked = GraphDefSplitter(graph, max_size=500).split()
    >>> chunks[1] == bytes(1000), graph.node[0].attr["value"].tensor.tensor_content == bytes(1000)
    (True, True)
    """

    message_type = "GraphDef"


class FunctionDefSplitter(TypedSplitter):
    """Splits a function like a graph."""

    message_type = "FunctionDef"


class FunctionDefLibrarySplitter(TypedSplitter):
    """Splits a library: large functions into chunks of their own, the others into runs."""

    message_type = "FunctionDefLibrary"


class ConstantNodeDefSplitter(TypedSplitter):
    """
    Splits a node: the contents of a constant into a chunk of bytes; values in lists of numbers or strings stay in such
    lists, in several chunks, so that the very same message comes back.
    """

    message_type = "NodeDef"


class SavedModelSplitter(TypedSplitter):
    """Splits a SavedModel: all of its graphs, object graphs and collections."""

    message_type = "SavedModel"


class RepeatedMessageSplitter(MessageSplitter):
    """
    Splits a single list of messages: large ones into chunks of their own, the others into runs. What else is in the
    message stays in its own chunk.

    Args:
        proto: the message with the list.
        repeated_field: the way to the list.

    Raises SW0812 for a field that is no list of messages.

    >>> graph = graph_pb2.GraphDef(node=[{"name": f"node{number}"} for number in range(100)])
    >>> len(RepeatedMessageSplitter(graph, "node", max_size=500).split()[0])
    2
    """

    def __init__(self, proto: Any, repeated_field: FieldTypes, **options: Any) -> None:
        super().__init__(proto, **options)
        self._list = resolve(type_of(proto), repeated_field)
        if not self._list or not self._list[-1].is_list_of_messages:
            where = f"{format_path(self._list) or 'the message'} of {type_of(proto).full_name}"
            raise SplitError("SW0812", f"RepeatedMessageSplitter can only be used on lists of messages, not on {where}")

    def build_chunks(self) -> int:
        """Make the chunks; returns how many bytes went into them."""
        *way, last = self._list
        if not way:
            return self._add_plan(only=last.field)
        inner, _ = get_field(self._proto, key_of(way))
        if inner is None:
            return 0
        return type(self)(inner, last.field.number, parent_splitter=self, fields_in_parent=key_of(way)).build_chunks()


for kind, splitter in (
    (graph_pb2.GraphDef, GraphDefSplitter),
    (graph_pb2.FunctionDef, FunctionDefSplitter),
    (graph_pb2.FunctionDefLibrary, FunctionDefLibrarySplitter),
    (graph_pb2.NodeDef, ConstantNodeDefSplitter),
    (saved_model_pb2.SavedModel, SavedModelSplitter),
):
    register_splitter(kind, splitter)
