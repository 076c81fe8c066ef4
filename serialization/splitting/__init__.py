"""
Messages into chunks: RFC "Unbound SavedModel", Proto-splitting library.

>>> from shardwright.serialization.protos import graph_pb2
>>> graph = graph_pb2.GraphDef(node=[{"name": f"node{number}"} for number in range(100)])
>>> chunks, chunked = splitter_for(graph, max_size=500).split()
>>> len(chunks), len(chunked.chunked_fields)
(2, 1)
"""

from shardwright.serialization.errors import SplitError, SplitTypeError
from shardwright.serialization.fields import FieldTagError, FieldTypes
from shardwright.serialization.splitting.graph import (
    ConstantNodeDefSplitter,
    FunctionDefLibrarySplitter,
    FunctionDefSplitter,
    GraphDefSplitter,
    MessageSplitter,
    RepeatedMessageSplitter,
    SavedModelSplitter,
    register_splitter,
    splitter_for,
)
from shardwright.serialization.splitting.limits import default_sizes
from shardwright.serialization.splitting.splitter import ComposableSplitter, Splitter

__all__ = [
    "ComposableSplitter",
    "ConstantNodeDefSplitter",
    "FieldTagError",
    "FieldTypes",
    "FunctionDefLibrarySplitter",
    "FunctionDefSplitter",
    "GraphDefSplitter",
    "MessageSplitter",
    "RepeatedMessageSplitter",
    "SavedModelSplitter",
    "SplitError",
    "SplitTypeError",
    "Splitter",
    "default_sizes",
    "register_splitter",
    "splitter_for",
]
