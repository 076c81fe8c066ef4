"""Exported graphs in files and in SavedModel directories, as TensorFlow opens them."""

from __future__ import annotations

import os
import re
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.frontends.tensorflow.exporting.graphs import Port, export_graph
from shardwright.frontends.tensorflow.exporting.messages import Names
from shardwright.frontends.tensorflow.importing.tensors import data_type, shape_proto
from shardwright.serialization.files.atomic import AtomicFile
from shardwright.serialization.files.text import cannot_write
from shardwright.serialization.protos import graph_pb2, saved_model_pb2
from shardwright.serialization.splitting.graph import GraphDefSplitter, SavedModelSplitter

if TYPE_CHECKING:
    from shardwright.compiler.stages import Propagated, Traced
    from shardwright.frontends.functions.function import Function

__all__ = ["saved_model", "text_of", "to_saved_model", "write_graph_def"]

SERVING = "serving_default"
"""The signature's name that TensorFlow's tools look for."""

CHUNKED = (".pb", ".cpb")
"""Endings of files that may be either, a message or its chunks."""

OTHERS = frozenset({"variables", "assets", "fingerprint.pb", "keras_metadata.pb"})
"""What models have beside their programs, and a program without variables has not."""

SCHEMA_VERSION = 1
"""The version of SavedModel that TensorFlow writes."""


def to_saved_model(
    stage: Traced | Propagated | Function[..., Any], path: str | os.PathLike[str], *, signature: str | None = None
) -> None:
    """
    Writes the global program as a SavedModel directory, whose `signature` TensorFlow runs: if none is named, the one
    that the program was when `from_saved_model` read it, else `serving_default`.

    The signature takes and gives tensors by the names that `to_graph_def` gives to arguments and results. The graph is
    that of `to_graph_def`, and so are the errors; SW0704 where the directory cannot be written, or has a model that has
    variables or assets (of TensorFlow, or of `save`), which would lose its programs. The message is in
    `saved_model.pb`, and above what one message can hold in `saved_model.cpb` (RFC "Unbound SavedModel").

    >>> import numpy, os, shardwright, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "doubled")
    >>> to_saved_model(shardwright.function(lambda x: x * 2).trace(numpy.ones(3, "float32")), folder)
    >>> os.listdir(folder)
    ['saved_model.pb']
    """
    folder = Path(path)
    message = saved_model(stage, signature)
    try:
        is_new = not folder.exists()
        _check_own(folder)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            SavedModelSplitter(message).write(str(folder / "saved_model"))
            (folder / "saved_model.pbtxt").unlink(missing_ok=True)
        except BaseException:
            if is_new:
                folder.rmdir()
            raise
    except OSError as error:
        raise cannot_write(folder, error) from error


def _check_own(folder: Path) -> None:
    """Raises SW0704 for the directory of a model that is more than this writes."""
    others = sorted({path.name for path in folder.iterdir()} & OTHERS) if folder.is_dir() else []
    if others:
        message = f"cannot write {str(folder)!r}: it holds another model, with {', '.join(others)}"
        raise ShardwrightError(Diagnostic("SW0704", message, help="name a directory that is not there yet"))


def saved_model(
    stage: Traced | Propagated | Function[..., Any], called: str | None = None
) -> saved_model_pb2.SavedModel:
    """
    The message of a SavedModel with one signature.

    >>> import numpy, shardwright
    >>> stage = shardwright.function(lambda x: x * 2).trace(numpy.ones(3, "float32"))
    >>> list(saved_model(stage).meta_graphs[0].signature_def["serving_default"].inputs)
    ['x']
    """
    message = saved_model_pb2.SavedModel(saved_model_schema_version=SCHEMA_VERSION)
    graph = message.meta_graphs.add()
    graph.meta_info_def.tags.append("serve")
    exported = export_graph(stage, graph.graph_def)
    signature = graph.signature_def[called or exported.signature or SERVING]
    signature.method_name = "tensorflow/serving/predict"
    for ports, infos in ((exported.inputs, signature.inputs), (exported.outputs, signature.outputs)):
        keys = Names().assigned([_key(port) for port in ports], [port.name for port in ports])
        for key, port in zip(keys, ports, strict=True):
            info = infos[key]
            info.name, info.dtype = port.tensor, cast(Any, data_type(port.dtype))
            info.tensor_shape.CopyFrom(shape_proto(port.shape))
    return message


def _key(port: Port) -> str:
    """
    What a signature calls a tensor: as the program does, but for what only Python can spell (`params['w']`).

    TensorFlow opens no model one of whose inputs is called by a keyword of Python, such as `class`: that is `class_`.
    """
    if re.search(r"[\[\]'\"]", port.name):
        return port.tensor.partition(":")[0].replace("/", "_")
    return f"{port.name}_" if iskeyword(port.name) else port.name


def write_graph_def(graph: graph_pb2.GraphDef, path: str | os.PathLike[str]) -> Path:
    """
    Writes a graph, whole or not at all, and returns the file that was written.

    As text where the file is called `.pbtxt`. What is called `.pb` and is too large for one message becomes a `.cpb` of
    chunks, which TensorFlow's merger reads; a stale file of the other kind is removed.

    >>> import tempfile
    >>> graph = graph_pb2.GraphDef(versions=graph_pb2.VersionDef(producer=2000))
    >>> print(write_graph_def(graph, tempfile.mkdtemp() + "/graph.pbtxt").read_text(), end="")
    versions {
      producer: 2000
    }
    """
    path = Path(path)
    try:
        if path.suffix in CHUNKED:
            return Path(GraphDefSplitter(graph).write(str(path.with_suffix(""))))
        data = text_of(graph).encode() if path.suffix == ".pbtxt" else graph.SerializeToString(deterministic=True)
        with AtomicFile(path) as file, open(file.descriptor, "wb", closefd=False) as stream:
            stream.write(data)
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def text_of(message: Any) -> str:
    """A message as protobuf's text."""
    from google.protobuf import text_format

    return text_format.MessageToString(message)
