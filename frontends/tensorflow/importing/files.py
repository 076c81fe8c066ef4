"""Graphs and SavedModels from files and messages."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError, Message

from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.serialization.protos import graph_pb2, saved_model_pb2


def read_graph(
    source: str | PathLike[str] | bytes | bytearray | memoryview | Message,
) -> tuple[graph_pb2.GraphDef, str]:
    """A GraphDef, and what to call it: a file (`.pb`, `.cpb`), bytes, or a message of ours or of TensorFlow's."""
    if isinstance(source, graph_pb2.GraphDef):
        return source, "graph"
    found = graph_pb2.GraphDef()
    if isinstance(source, bytes | bytearray | memoryview):
        try:
            found.ParseFromString(bytes(source))
        except DecodeError:
            raise GraphError("SW0886", "these bytes are no GraphDef") from None
        return found, "graph"
    if isinstance(source, Message):
        if source.DESCRIPTOR.name != "GraphDef":
            raise GraphError("SW0891", f"from_graph takes a GraphDef, not a {source.DESCRIPTOR.name}", help=_WAY_OUT)
        found.ParseFromString(source.SerializeToString())
        return found, "graph"
    if not isinstance(source, str | PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        message = f"from_graph takes a GraphDef or a path, not a {type(source).__name__}"
        raise GraphError("SW0891", message, help=_A_GRAPH)
    path = Path(source)
    if path.is_dir():
        raise GraphError("SW0891", f"{str(path)!r} is a directory, not a graph", help=_WAY_OUT)
    _read(path, found)
    return found, path.name


_WAY_OUT = "for a SavedModel: shardwright.from_saved_model(directory)"
_A_GRAPH = "give a GraphDef, or the path of a .pb or .cpb file that has one"
_A_FOLDER = "give the folder that tf.saved_model.save or Keras' model.export wrote"


def read_saved_model(folder: Path) -> saved_model_pb2.SavedModel:
    """The message of a SavedModel: `saved_model.pb`, or in chunks `saved_model.cpb`."""
    files = [file for file in (folder / "saved_model.pb", folder / "saved_model.cpb") if file.is_file()]
    if len(files) != 1:
        both = "both saved_model.pb and saved_model.cpb: one is stale"
        message = f"{str(folder)!r} has {both if files else 'no saved_model.pb or saved_model.cpb'}"
        raise GraphError("SW0891", message, help=_A_FOLDER)
    model = saved_model_pb2.SavedModel()
    _read(files[0], model)
    return model


def _read(path: Path, message: Message) -> None:
    if path.suffix == ".cpb":
        merger: Any = import_module("shardwright.serialization.merging.merger").Merger
        merger.read(path, message)
        return
    if path.exists() and not path.is_file():
        raise GraphError("SW0891", f"{str(path)!r} is no file", help=_A_GRAPH)
    try:
        message.ParseFromString(path.read_bytes())
    except OSError as error:
        raise GraphError("SW0891", f"{str(path)!r} cannot be read: {error.strerror}", help=_A_GRAPH) from None
    except DecodeError:
        raise GraphError("SW0886", f"{str(path)!r} is no {message.DESCRIPTOR.name}") from None
