"""
Chunked messages put together again, or read where they lie.

>>> import tempfile, pathlib
>>> from shardwright.serialization.protos import graph_pb2
>>> path = pathlib.Path(tempfile.mkdtemp()) / "graph.pb"
>>> _ = path.write_bytes(graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name="a")]).SerializeToString())
>>> Merger.read(path.with_suffix(""), graph := graph_pb2.GraphDef())
>>> graph.node[0].name
'a'
"""

from shardwright.serialization.errors import ElementError, MergeError
from shardwright.serialization.merging.lazy.messages import LazyMessage, open_message
from shardwright.serialization.merging.merger import Merger, read_metadata
from shardwright.serialization.merging.verifying import Report, verify

__all__ = ["ElementError", "LazyMessage", "MergeError", "Merger", "Report", "open_message", "read_metadata", "verify"]
