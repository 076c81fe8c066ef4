"""
`save` and `load`: programs, modules and graphs in directories (RFC: the layout of a SavedModel).

`saved_model.pb`, or `saved_model.cpb` where it had to be split, has the programs and the objects around them,
`variables/` is a checkpoint, `assets/` has files that belong to it, and `fingerprint.pb` the hashes of all that. A
directory is written beside its place and renamed, so it is there whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardwright.compiler.tracing.trace import current_trace
from shardwright.layout import Layout, Mesh
from shardwright.saving.faults import MissingPackageError, SavingError, checked_path, wrong_option
from shardwright.serialization.files.reading import reading, real_path

if TYPE_CHECKING:
    from shardwright.saving.directory.folders import Assets
    from shardwright.saving.programs.placement import AxisNames
    from shardwright.serialization.protos import graph_pb2, saved_model_pb2

MAX_SIZE = 1 << 30
"""The largest message that is written in one piece, unless told otherwise."""

HELP = "Python's help(shardwright.save), or of load, says what it takes"


def save(
    obj: Any,
    path: str | os.PathLike[str],
    *,
    signatures: Any = None,
    assets: Assets | None = None,
    overwrite: bool = False,
    max_size: int = MAX_SIZE,
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
    DTensor([ 0.,  2.,  4.,  6.,  8., 10., 12., 14.], f32[8@x], Mesh(x=4))
    """
    _check_packages()
    from shardwright.saving.directory.writing import write_directory

    _check_kind("assets", assets, Mapping | Sequence, "a list of paths, or a dict of paths by the names of the files")
    for item in assets.values() if isinstance(assets, Mapping) else assets or ():
        _check_kind("assets", item, str | os.PathLike, "a list or dict of paths")
    if current_trace() is not None:
        raise SavingError("SW0865", "nothing can be saved in a traced function, which runs only once")
    write_directory(obj, Path(_checked(path)), signatures, assets, overwrite, max_size)
    return os.fspath(path)


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
    _check_packages()
    from shardwright.saving.directory.reading import load_directory

    _check_kind("mesh", mesh, Mesh | Mapping, "a mesh, or a dict of meshes by the names of the saved ones")
    _check_kind("axes", axes, Mapping, "a dict from axes of the saved meshes to those of the new one, or None")
    _check_kind("layouts", layouts, Mapping, "a dict of layouts by the names of variables, or a LayoutMap")
    _check_kind("classes", classes, Iterable, "a list of dataclasses and named tuples")
    for name, given in (("mesh", mesh), ("layouts", layouts)):
        for value in given.values() if isinstance(given, Mapping) else ():
            _check_kind(name, value, Mesh if name == "mesh" else Layout, f"a dict of {name.removesuffix('s')} objects")
    for value in axes.values() if axes is not None else ():
        _check_kind("axes", value, str | Sequence, "a dict of names of axes, lists of them, and None")
    with reading(_checked(path), "SW0869") as folder:
        return load_directory(folder, mesh, axes, layouts, classes)


def read_message(path: str | os.PathLike[str]) -> saved_model_pb2.SavedModel | graph_pb2.GraphDef:
    """The SavedModel in a directory, or the GraphDef that was saved as such; raises `ValueError` as `load` does."""
    _check_packages()
    from shardwright.saving.directory.reading import graph_in, read_directory

    with reading(_checked(path), "SW0869") as folder:
        message = read_directory(folder)
    graph = graph_in(message)
    return message if graph is None else graph


def asset(path: str | os.PathLike[str], name: str) -> Path:
    """
    Where an asset of a saved directory is; `ValueError` (SW0868, SW0869) for a name that it does not have.

    Whether it is what was saved, `load` says.
    """
    _check_packages()
    from shardwright.saving.directory.folders import asset_file

    return asset_file(real_path(_checked(path)), name)


def _checked(path: Any) -> str:
    """A path as text; TypeError (SW0878) for what is none, and SW0867 for one that nothing can have."""
    found = checked_path(path, "directory", HELP)
    if not found or "\0" in found:
        raise SavingError("SW0867", f"no directory can have the path {found!r}", help="give another path")
    return found


def _check_kind(name: str, value: Any, kinds: Any, due: str) -> None:
    if value is not None and (not isinstance(value, kinds) or (kinds is Iterable and isinstance(value, str))):
        raise wrong_option(f"{name} is {due}, not {value!r}", HELP)


def _check_packages() -> None:
    if find_spec("google") is None or find_spec("google.protobuf") is None:
        raise MissingPackageError("SW0884", "save and load need the package protobuf")
