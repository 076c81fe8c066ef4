"""Writing a saved directory: the message, the checkpoint, the assets, and last the fingerprint."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

from shardwright._version import __version__
from shardwright.layout import Mesh
from shardwright.saving.checkpoints.writing import write_arrays
from shardwright.saving.directory import folders
from shardwright.saving.directory.fingerprints import fingerprint
from shardwright.saving.directory.folders import ASSETS, FINGERPRINT, MODEL, VARIABLES, VERSION, Assets
from shardwright.saving.faults import SavingError
from shardwright.saving.objects.collecting import Collector, is_function
from shardwright.saving.objects.views import object_graph
from shardwright.saving.shared_folder import SharedFolder
from shardwright.saving.team import Team
from shardwright.serialization.files.reading import real_path
from shardwright.serialization.protos import saved_model_pb2
from shardwright.serialization.splitting import splitter_for

TAG = "serve"
"""TensorFlow's name for the graph that is there to be run."""


def write_directory(
    obj: Any, target: Path, signatures: Any, assets: Assets | None, overwrite: bool, max_size: int
) -> None:
    """
    Writes an object into a directory, which is there when all is on the disk, and not before.

    Of what lies on meshes over several processes each of them writes its part, the first one all the rest.
    """
    message, arrays, meshes = _message(obj, signatures)
    with Team.over(meshes, f"saving {str(target)!r}") as team, _writing(target):
        target = real_path(target, follow=False)
        files = dict[str, Path]()
        team.first(lambda: files.update(folders.named_assets(assets)))
        check = partial(folders.check_target, overwrite=overwrite)
        with SharedFolder(team, target, overwrite, check) as folder:
            _write(folder.inside, message, arrays, files, max_size, team)


@contextmanager
def _writing(target: Path) -> Generator[None]:
    """What the system refuses is an error with a code."""
    try:
        yield
    except OSError as error:
        fault = f"{target} cannot be written: {error.strerror or error}"
        raise SavingError("SW0867", fault, help="choose another path") from error


def _message(obj: Any, signatures: Any) -> tuple[saved_model_pb2.SavedModel, dict[str, Any], list[Mesh]]:
    """What goes into the SavedModel, what into the checkpoint, and the meshes of all that."""
    if isinstance(obj, saved_model_pb2.SavedModel):
        return obj, {}, []
    given: Any = {"": signatures} if signatures is not None and is_function(obj) else signatures or {}
    if not isinstance(given, Mapping):
        fault = "signatures of several functions are a mapping from their paths"
        raise SavingError("SW0866", fault, help="signatures={'step': ...}")
    message = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    message.shardwright.version = VERSION
    collector = Collector(message.shardwright, cast("Mapping[str, Any]", given))
    collector.collect(obj)
    graph = message.meta_graphs.add()
    graph.meta_info_def.meta_graph_version = f"shardwright {__version__}"
    graph.meta_info_def.tags.append(TAG)
    if collector.graph is not None:
        graph.graph_def.CopyFrom(collector.graph)
    for key, signature in collector.signatures.items():
        graph.signature_def[key].CopyFrom(signature)
    graph.object_graph_def.CopyFrom(object_graph(message.shardwright))
    return message, collector.arrays, collector.meshes


def _write(
    folder: Path,
    message: saved_model_pb2.SavedModel,
    arrays: Mapping[str, Any],
    files: Mapping[str, Path],
    limit: int,
    team: Team,
) -> None:
    def make() -> None:
        for name in (VARIABLES, ASSETS):
            (folder / name).mkdir()

    team.first(make)
    if arrays:
        write_arrays(folder / VARIABLES, arrays, team=team)
    team.first(lambda: _write_model(folder, message, files, limit))


def _write_model(folder: Path, message: saved_model_pb2.SavedModel, files: Mapping[str, Path], limit: int) -> None:
    """Writes the assets and the message, and last the fingerprint."""
    copied = list(folders.copy_assets(files, folder / ASSETS))
    if message.HasField("shardwright"):
        for name, size, digest in copied:
            message.shardwright.files.add(path=name, size=size, hash=digest)
            message.meta_graphs[0].asset_file_def.add(filename=name)
    splitter_for(message, max_size=limit).write(str(folder / MODEL))
    model = folders.model_file(folder)
    (folder / FINGERPRINT).write_bytes(fingerprint(folder, model, message).SerializeToString(deterministic=True))
