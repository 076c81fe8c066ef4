"""Reading a saved directory: everything is compared with its hashes before anything is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shardwright.layout import Layout, Mesh
from shardwright.saving.checkpoints.manifest import read_manifest
from shardwright.saving.checkpoints.store import ArrayStore, Transfers
from shardwright.saving.directory.fingerprints import check_model, check_rest, read_fingerprint
from shardwright.saving.directory.folders import FINGERPRINT, MODEL, VARIABLES, check_whole, model_file
from shardwright.saving.faults import SavingError, malformed
from shardwright.saving.objects.restoring import Restorer, Wanted
from shardwright.saving.programs.placement import AxisNames
from shardwright.serialization.merging import Merger
from shardwright.serialization.protos import graph_pb2, program_pb2, saved_model_pb2

VERSION = 1
"""The version of what is saved; a newer one is refused."""


def load_directory(
    folder: Path,
    mesh: Mesh | Mapping[str, Mesh] | None,
    axes: AxisNames | None,
    layouts: Mapping[str, Layout] | None,
    classes: Iterable[type[Any]],
) -> Any:
    """What was saved in a directory, on the meshes where it shall be."""
    message = read_directory(folder)
    graph = graph_in(message)
    if graph is not None or not message.HasField("shardwright"):
        if mesh is not None or axes is not None:
            raise SavingError(
                "SW0883", f"{folder} has a graph, which has no mesh", help="give layouts of its variables"
            )
        return _graph_program(folder, message, graph, layouts)

    def read(wanted: Wanted) -> dict[str, Any]:
        return _read_arrays(folder / VARIABLES, wanted)

    return Restorer(message.shardwright, mesh, axes, layouts, classes).restore(read)


def _graph_program(
    folder: Path,
    message: saved_model_pb2.SavedModel,
    graph: graph_pb2.GraphDef | None,
    layouts: Mapping[str, Layout] | None,
) -> Any:
    """TensorFlow's graph as a program; of several signatures a dict by their names."""
    from shardwright.frontends.tensorflow.importing.importing import from_graph, from_saved_model

    if graph is not None:
        return from_graph(graph, layouts=layouts, name=folder.name)
    names = [key for meta in message.meta_graphs[:1] for key in meta.signature_def if not key.startswith("__")]
    if not names:
        raise SavingError("SW0869", f"{folder} has no signature to run", help="read_message gives the message itself")
    tags = list(message.meta_graphs[0].meta_info_def.tags)
    programs = {name: from_saved_model(folder, name, tags=tags, layouts=layouts) for name in sorted(names)}
    return next(iter(programs.values())) if len(programs) == 1 else programs


def graph_in(message: saved_model_pb2.SavedModel) -> graph_pb2.GraphDef | None:
    """The GraphDef that was saved as such; None if something else was."""
    objects = message.shardwright.objects if message.HasField("shardwright") else ()
    is_graph = bool(objects) and objects[0].WhichOneof("kind") == "graph" and bool(message.meta_graphs)
    return message.meta_graphs[0].graph_def if is_graph else None


def read_directory(folder: Path) -> saved_model_pb2.SavedModel:
    """
    The message in a saved directory, ours or TensorFlow's; all hashes of ours are checked.

    Raises `SavingError` as `load` does.
    """
    model = model_file(folder)
    print_ = read_fingerprint(folder)
    if print_ is not None:
        check_model(print_, model)
    message = saved_model_pb2.SavedModel()
    Merger.read(folder / MODEL, message)
    saved = message.shardwright if message.HasField("shardwright") else None
    if print_ is None:
        if saved is not None:
            raise SavingError("SW0869", f"{folder} has no {FINGERPRINT} of the programs in it")
        return message
    if saved is not None and saved.version > VERSION:
        raise SavingError("SW0881", f"{model} is of version {saved.version}")
    if saved is not None:
        _check_files(folder, model, saved)
    check_rest(print_, folder, model, message)
    return message


def _check_files(folder: Path, model: Path, saved: program_pb2.Saved) -> None:
    assets = {file.path: (file.size, file.hash) for file in saved.files}
    if len(assets) != len(saved.files):
        raise malformed("two assets have one name")
    has_variables = any(item.WhichOneof("kind") in ("variable", "array") for item in saved.objects)
    check_whole(folder, model, assets, has_variables)


def _read_arrays(folder: Path, wanted: Wanted) -> dict[str, Any]:
    """The arrays of a checkpoint, each in its layout; they are those that are wanted, and no others."""
    if not wanted:
        return {}
    entries = read_manifest(folder).arrays
    due = {name: (shape, dtype.name) for name, (shape, dtype, _) in wanted.items()}
    if {name: (entry.shape, entry.dtype) for name, entry in entries.items()} != due:
        raise SavingError("SW0870", f"{folder} has not the variables that were saved")
    store = ArrayStore(folder)
    faults = [fault for entry in entries.values() for fault in store.faults(entry)]
    if faults:
        raise SavingError("SW0870", f"{folder} is not what was saved", *faults)
    return {name: store.read(entries[name], layout, Transfers()) for name, (_, _, layout) in wanted.items()}
