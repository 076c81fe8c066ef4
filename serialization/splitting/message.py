"""The splitter for any message, and which splitter is for which type."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message

from shardwright.serialization.errors import SplitTypeError
from shardwright.serialization.fields import type_of
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
