"""
`save` and `load`: programs, modules and graphs in directories (RFC: the layout of a SavedModel).

`saved_model.pb`, or `saved_model.cpb` where it had to be split, has the programs and the objects around them,
`variables/` is a checkpoint, `assets/` has files that belong to it, and `fingerprint.pb` the hashes of all that. A
directory is written beside its place and renamed, so it is there whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from shardwright import __version__
from shardwright.compiler.trace import current_trace
from shardwright.layout import Layout, Mesh
from shardwright.saving.checkpoint_manifest import read_manifest
from shardwright.saving.checkpoint_store import ArrayStore, Transfers, write_arrays
from shardwright.saving.collecting import Collector, is_function
from shardwright.saving.faults import SavingError, malformed
from shardwright.saving.fingerprints import check_model, check_rest, fingerprint, read_fingerprint
from shardwright.saving.folders import (
    ASSETS,
    FINGERPRINT,
    MODEL,
    VARIABLES,
    Assets,
    check_name,
    check_target,
    check_whole,
    copy_assets,
    model_file,
    named_assets,
)
from shardwright.saving.placement import AxisNames
from shardwright.saving.restoring import Restorer, Wanted
from shardwright.saving.views import object_graph
from shardwright.serialization.atomic_folder import AtomicFolder
from shardwright.serialization.protos import graph_pb2, program_pb2, saved_model_pb2

VERSION = 1
"""The version of what is saved; a newer one is refused."""

TAG = "serve"
"""TensorFlow's name for the graph that is there to be run."""

CHUNK_SIZE = 1 << 30
"""The largest message that is written in one piece, unless told otherwise."""


def save(
    obj: Any,
    path: str | os.PathLike[str],
    *,
    signatures: Any = None,
    assets: Assets | None = None,
    overwrite: bool = False,
    max_size: int = CHUNK_SIZE,
) -> str:
    """
    Saves a function, a stage, a module, or a dict, list or tuple of them in the directory `path`, which is returned.

    Of a function all programs are saved to which it was compiled, or those for `signatures`: a tuple of arguments
    (arrays or `TensorSpec`s), a dict of named ones, or a list of such calls; for modules and dicts a mapping from paths
    (`"step"`, `"layers/0/__call__"`), which can name plain methods as well. Of a module its variables are saved, its
    traced methods and attributes, and the modules in it. `assets` are files to be copied along. A TensorFlow
    `SavedModel` or `GraphDef` message is stored as it is. Messages of more than `max_size` bytes are split.

    Raises `ValueError`: SW0865 for what cannot be stored, by its name, SW0866 for functions without a program, SW0867
    for a path that is taken (`overwrite` replaces saved directories, in one step), SW0868 for names of assets.

    >>> import numpy, shardwright, tempfile
    >>> rows = shardwright.Layout(["x"], shardwright.Mesh(x=4))
    >>> double = shardwright.function(lambda x: x * 2)
    >>> y = double(shardwright.ones(8, layout=rows))
    >>> place = shardwright.save(double, tempfile.mkdtemp() + "/double")
    >>> shardwright.load(place)(numpy.arange(8, dtype="float32"))
    DTensor(f32[8@x], Mesh(x=4))
    """
    if current_trace() is not None:
        raise SavingError("SW0865", "nothing can be saved in a traced function, which runs only once")
    target = Path(os.path.abspath(path))
    check_target(target, overwrite)
    files = named_assets(assets)
    message, arrays = _message(obj, signatures)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with AtomicFolder(target, replace=overwrite) as pending:
            _write(pending.folder, message, arrays, files, max_size)
    except OSError as error:
        raise SavingError(
            "SW0867", f"{target} cannot be written: {error.strerror or error}", help="choose another path"
        ) from error
    return os.fspath(path)


def _message(obj: Any, signatures: Any) -> tuple[saved_model_pb2.SavedModel, dict[str, Any]]:
    """What goes into the SavedModel, and what into the checkpoint."""
    if isinstance(obj, saved_model_pb2.SavedModel):
        return obj, {}
    given: Any = {"": signatures} if signatures is not None and is_function(obj) else signatures or {}
    if not isinstance(given, Mapping):
        raise SavingError(
            "SW0866", "signatures of several functions are a mapping from their paths", help="signatures={'step': ...}"
        )
    collector = Collector(cast("Mapping[str, Any]", given))
    saved = collector.collect(obj)
    message = saved_model_pb2.SavedModel(saved_model_schema_version=1, shardwright=saved)
    graph = message.meta_graphs.add()
    graph.meta_info_def.meta_graph_version = f"shardwright {__version__}"
    graph.meta_info_def.tags.append(TAG)
    if collector.graph is not None:
        graph.graph_def.CopyFrom(collector.graph)
    for key, signature in collector.signatures.items():
        graph.signature_def[key].CopyFrom(signature)
    graph.object_graph_def.CopyFrom(object_graph(saved))
    return message, collector.arrays


def _write(
    folder: Path, message: saved_model_pb2.SavedModel, arrays: Mapping[str, Any], files: Mapping[str, Path], limit: int
) -> None:
    for name in (VARIABLES, ASSETS):
        (folder / name).mkdir()
    if arrays:
        write_arrays(folder / VARIABLES, arrays)
    copied = list(copy_assets(files, folder / ASSETS))
    if message.HasField("shardwright"):
        for name, size, digest in copied:
            message.shardwright.files.add(path=name, size=size, hash=digest)
            message.meta_graphs[0].asset_file_def.add(filename=name)
    (folder / f"{MODEL}.pb").write_bytes(message.SerializeToString(deterministic=True))
    model = model_file(folder)
    (folder / FINGERPRINT).write_bytes(fingerprint(folder, model, message).SerializeToString(deterministic=True))


def load(
    path: str | os.PathLike[str],
    *,
    mesh: Mesh | Mapping[str, Mesh] | None = None,
    axes: AxisNames | None = None,
    layouts: Mapping[str, Layout] | None = None,
    classes: Iterable[type[Any]] = (),
) -> Any:
    """
    What was saved in the directory `path`: functions that can be called, modules with variables and such functions.

    Without `mesh`, programs run on the meshes for which they were saved, and no pass runs. With another mesh (for
    several, a mapping from the names of the saved ones) they are partitioned for that; `axes` says which of its axes
    takes the place of a saved one (a name, several, or None for none). `layouts` gives variables other layouts, by the
    names that `shardwright.list_variables` gives for `path/variables`. Results in dataclasses and named tuples are of
    the `classes` given, by their names, else of new classes with the same fields.

    Raises `ValueError`: SW0869 for a directory that is not whole, SW0870 for files that are not those that were saved,
    SW0871 for messages that contradict themselves, SW0881 for newer versions, SW0883 for a mesh that does not fit.

    >>> import numpy, shardwright, tempfile
    >>> class Scale(shardwright.Module):
    ...     def __init__(self):
    ...         self.by = shardwright.Variable([1.0, 2.0])
    ...     @shardwright.function
    ...     def __call__(self, x):
    ...         return x * self.by
    >>> scale = Scale()
    >>> y = scale(numpy.ones(2, "float32"))
    >>> loaded = shardwright.load(shardwright.save(scale, tempfile.mkdtemp() + "/scale"))
    >>> z = loaded.by.assign([3.0, 4.0])
    >>> loaded(numpy.ones(2, "float32"))
    array([3., 4.], dtype=float32)
    """
    folder = Path(path)
    message = read_directory(folder)
    if not message.HasField("shardwright"):
        return message
    saved = message.shardwright
    if saved.objects and saved.objects[0].WhichOneof("kind") == "graph":
        return message.meta_graphs[0].graph_def

    def read(wanted: Wanted) -> dict[str, Any]:
        return _read_arrays(folder / VARIABLES, wanted)

    return Restorer(saved, mesh, axes, layouts, classes).restore(read)


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
    try:
        message.ParseFromString(model.read_bytes())
    except Exception as error:  # protobuf's DecodeError, of which each implementation has its own
        raise SavingError("SW0870", f"{model} is no SavedModel") from error
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


def asset(path: str | os.PathLike[str], name: str) -> Path:
    """
    Where an asset of a saved directory is; `SavingError` (SW0868, SW0869) for a name that it does not have.

    The directory's own hashes are checked by `load`.
    """
    file = Path(path) / ASSETS / check_name(name)
    if file.is_symlink() or not file.is_file():
        raise SavingError("SW0869", f"{os.fspath(path)} has no asset {name!r}")
    return file


def read_message(path: str | os.PathLike[str]) -> saved_model_pb2.SavedModel | graph_pb2.GraphDef:
    """The SavedModel message of a directory, or the GraphDef that was saved as such."""
    message = read_directory(Path(path))
    saved = message.shardwright if message.HasField("shardwright") else None
    if saved is not None and saved.objects and saved.objects[0].WhichOneof("kind") == "graph":
        return message.meta_graphs[0].graph_def
    return message
