"""Reading a saved directory: everything is compared with its hashes before anything is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shardwright.layout import Layout, Mesh
from shardwright.saving.checkpoints.checkpoint import check_version
from shardwright.saving.checkpoints.manifest import read_manifest
from shardwright.saving.checkpoints.reading import read_arrays
from shardwright.saving.checkpoints.transfers import Transfers
from shardwright.saving.directory.fingerprints import check_rest, read_fingerprint
from shardwright.saving.directory.folders import (
    FINGERPRINT,
    MODEL,
    VARIABLES,
    VERSION,
    check_whole,
    file_hash,
    model_file,
)
from shardwright.saving.faults import SavingError, malformed
from shardwright.saving.objects.restoring import Restorer, Wanted
from shardwright.saving.programs.placement import AxisNames
from shardwright.saving.team import Team
from shardwright.serialization.files.reading import real_path
from shardwright.serialization.merging import Merger
from shardwright.serialization.protos import graph_pb2, program_pb2, saved_model_pb2


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
            fault = f"{folder} has a graph, which has no mesh"
            raise SavingError("SW0883", fault, help="give layouts of its variables")
        return _graph_program(folder, message, graph, layouts)
    restorer = Restorer(message.shardwright, mesh, axes, layouts, classes)
    return restorer.restore(lambda wanted: _read_arrays(folder / VARIABLES, wanted))


def _graph_program(
    folder: Path,
    message: saved_model_pb2.SavedModel,
    graph: graph_pb2.GraphDef | None,
    layouts: Mapping[str, Layout] | None,
) -> Any:
    """TensorFlow's graph as a program; of several signatures a dict by their names."""
    from shardwright.frontends.tensorflow.importing.importing import from_graph, from_saved_model

    if graph is not None:
        return from_graph(graph, layouts=layouts, name=real_path(folder).name)
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
    if print_ is not None and file_hash(model) != print_.saved_model_checksum:
        raise SavingError("SW0870", f"{model} is not the file that was saved")
    message = saved_model_pb2.SavedModel()
    Merger.read(folder / MODEL, message)
    saved = message.shardwright if message.HasField("shardwright") else None
    if print_ is None:
        if saved is not None:
            raise SavingError("SW0869", f"{folder} has no {FINGERPRINT} of the programs in it")
        return message
    if saved is not None:
        _check_files(folder, model, saved)
    check_rest(print_, folder, model, message)
    return message


def _check_files(folder: Path, model: Path, saved: program_pb2.Saved) -> None:
    if saved.version > VERSION:
        raise SavingError("SW0881", f"{model} is of version {saved.version}")
    assets = {file.path: (file.size, file.hash) for file in saved.files}
    if len(assets) != len(saved.files):
        raise malformed("two assets have one name")
    has_variables = any(item.WhichOneof("kind") in ("variable", "array") for item in saved.objects)
    check_whole(folder, model, assets, has_variables)


def _read_arrays(folder: Path, wanted: Wanted) -> dict[str, Any]:
    """
    The arrays of a checkpoint, each in its layout; they are those that are wanted, and no others.

    Of a mesh over several processes each reads its own part.
    """
    if not wanted:
        return {}
    manifest = read_manifest(folder)
    entries = manifest.arrays
    expected = {name: (shape, dtype.name) for name, (shape, dtype, _) in wanted.items()}
    if {name: (entry.shape, entry.dtype) for name, entry in entries.items()} != expected:
        raise SavingError("SW0870", f"{folder} has not the variables that were saved")
    due = [(entries[name], layout) for name, (_, _, layout) in wanted.items()]
    with Team.over((layout for _, layout in due), f"loading {str(folder)!r}") as team:
        check_version(team, manifest, folder)
        fault = f"{folder} is not what was saved"
        arrays = read_arrays(folder, manifest, due, Transfers(), "SW0870", fault, everything=team.is_first)
    return dict(zip(wanted, arrays, strict=True))
