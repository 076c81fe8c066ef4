"""
Checkpoints: what variables hold, written as shards and read into any other layout and mesh.

A checkpoint is a folder that is there whole or not at all. Every device writes the parts that it holds, replicas take
turns, and every device reads what its own box needs, straight into its place; no global array is made on the way.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shardwright.compiler.tracing.trace import current_trace
from shardwright.diagnostics.faults import noted
from shardwright.diagnostics.suggestions import also
from shardwright.layout import Layout
from shardwright.layout.layout_map import LayoutMap
from shardwright.saving.checkpoints.archive.hashes import HASHES
from shardwright.saving.checkpoints.archive.places import ARCHIVE
from shardwright.saving.checkpoints.entries import ArrayEntry
from shardwright.saving.checkpoints.manifest import MANIFEST, SECOND, Manifest, Plain, read_manifest
from shardwright.saving.checkpoints.objects import Found, Leaf, build_slots, find
from shardwright.saving.checkpoints.reading import open_arrays, read_arrays
from shardwright.saving.checkpoints.second.entries import ARRAYS
from shardwright.saving.checkpoints.second.reading import strangers
from shardwright.saving.checkpoints.transfers import Transfers
from shardwright.saving.checkpoints.writing import write_arrays
from shardwright.saving.faults import SavingError, checked_path, is_working_directory, no_place, wrong_option
from shardwright.saving.shared_folder import SharedFolder
from shardwright.saving.team import Team
from shardwright.saving.tensors.foreign import foreign_arrays
from shardwright.serialization.files.reading import reading, real_path


@dataclass(frozen=True)
class RestoreReport:
    """
    What a restore did: names that got what was saved, and those that did not.

    `missing` names are not in the checkpoint, `unexpected` ones only there, `unfit` ones have another shape or type
    there. `transfers` counts what was read, array by array.
    """

    restored: tuple[str, ...]
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    transfers: Transfers = field(default_factory=Transfers)

    @property
    def complete(self) -> bool:
        """Whether everything here and everything there found its counterpart."""
        return not (self.missing or self.unexpected or self.unfit)

    def faults(self) -> list[str]:
        """What did not fit, a line each."""
        missing = [f"{name!r} is not in the checkpoint" for name in self.missing]
        unexpected = [f"{name!r} is only in the checkpoint" for name in self.unexpected]
        return [*missing, *unexpected, *self.unfit]

    def assert_consumed(self) -> RestoreReport:
        """The report itself; `ValueError` (SW0879) if anything, here or there, was left (as TensorFlow's)."""
        if not self.complete:
            raise SavingError("SW0879", f"{len(self.faults())} values do not fit", *self.faults())
        return self

    def assert_existing_objects_matched(self) -> RestoreReport:
        """The report itself; `ValueError` (SW0879) if anything here found no counterpart (as TensorFlow's)."""
        replace(self, unexpected=()).assert_consumed()
        return self


class Checkpoint:
    """
    What some objects hold, saved in a folder and restored from it (as `tf.train.Checkpoint` is).

    Modules give their variables, optimizers also their states, by the variables that these belong to; dicts, lists and
    tuples of variables, arrays, numbers, text and `None` are gone through. The objects are attributes of the
    checkpoint: what is restored into a number is found there. `shardwright.random` is the seeds of this process. A
    module or a dict given first has no name in front of its parts.

    Raises `ValueError` (SW0875) that lists all values that cannot be saved.

    >>> import tempfile, shardwright
    >>> layout = shardwright.Layout(["x"], shardwright.Mesh(x=4))
    >>> w = shardwright.Variable([1.0, 2.0, 3.0, 4.0], layout=layout)
    >>> path = shardwright.Checkpoint(w=w, step=7).save(tempfile.mkdtemp() + "/first")
    >>> other = shardwright.Variable(shardwright.zeros(4), layout=shardwright.Layout([], shardwright.Mesh(y=2)))
    >>> checkpoint = shardwright.Checkpoint(w=other, step=0)
    >>> report = checkpoint.restore(path)
    >>> report.restored, checkpoint.step, other.numpy().tolist()
    (('w', 'step'), 7, [1.0, 2.0, 3.0, 4.0])
    """

    _objects: dict[str, Any]
    _root: Any

    def __init__(self, root: Any = None, /, **objects: Any) -> None:
        for name in objects:
            self._check_free(name)
        self.__dict__.update(_objects=objects, _root=root)
        if root is not None or objects:
            find(objects, root)

    def __getattr__(self, name: str) -> Any:
        objects: dict[str, Any] = self.__dict__.get("_objects", {})
        if name not in objects:
            raise AttributeError(f"the checkpoint has no object {name!r}")
        return objects[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._check_free(name)
        self._objects[name] = value

    def _check_free(self, name: str) -> None:
        if name.startswith("_") or hasattr(type(self), name):
            raise wrong_option(f"{name!r} cannot name an object of a checkpoint: it is a name of the checkpoint's own")

    def save(self, path: str | os.PathLike[str]) -> str:
        """
        Writes a checkpoint into the folder `path`, which is there when all is on the disk, and not before.

        An older checkpoint of that path is exchanged for it in one step. The path is returned. Raises `ValueError` for
        something else at that path (SW0876) and for what cannot be saved (SW0875), `ImportError` (SW0877) without
        blake3. Of what lies on a mesh over several processes each of them writes a part: all of them save, and
        where one fails, all do (SW0895).
        """
        found = self.found("saved")
        with Team.over(found.layouts, f"saving {checked_path(path)!r}") as team:
            write_checkpoint(path, found, team)
        return os.fspath(path)

    def write(self, path: str | os.PathLike[str]) -> str:
        """The same as `save`, under TensorFlow's name for writing to exactly this path."""
        return self.save(path)

    def restore(self, path: str | os.PathLike[str], *, strict: bool = True) -> RestoreReport:
        """
        Reads what the checkpoint at `path` has into the objects, each variable in its own layout, on its own mesh.

        Nothing changes before everything was read. Raises `ValueError` for a path that is no checkpoint (SW0872), for
        a damaged one (SW0873, SW0874), and, with all of them listed, for names, shapes and types that do not fit
        (SW0879); with `strict=False` what fits is restored, and the report has the rest. Of a mesh over several
        processes each reads its own part; all restore, or none does (SW0895).
        """
        found = self.found("restored")
        with Team.over(found.layouts, f"restoring {checked_path(path)!r}") as team, _reading(path) as folder:
            manifest = read_manifest(folder)
            check_version(team, manifest, folder)
            if build_slots(found, manifest.arrays):
                found = self.found("restored")
            plan = _compare(found, manifest)
            if strict and not plan.complete:
                faults = plan.faults()
                message = f"{len(faults)} values do not fit between {folder} and the objects"
                raise SavingError("SW0879", message, *faults)
            return _restore(plan, found, manifest, folder, team)

    def read(self, path: str | os.PathLike[str], *, strict: bool = True) -> RestoreReport:
        """The same as `restore`, under TensorFlow's name for reading what `write` wrote."""
        return self.restore(path, strict=strict)

    def found(self, what: str) -> Found:
        """All values with their names, which now are to be `what`, saved or restored."""
        if current_trace() is not None:
            raise SavingError("SW0875", f"nothing can be {what} in a traced function, which runs only once")
        return find(self._objects, self._root)


def write_checkpoint(path: str | os.PathLike[str], found: Found, team: Team, sequence: int = 0) -> Transfers:
    """Writes what was found as a checkpoint at `path`; what this process wrote, array by array."""
    arrays = {name: leaf.value for name, leaf in found.leaves.items() if not leaf.is_plain}
    values = {name: leaf.value for name, leaf in found.leaves.items() if leaf.is_plain}
    target = Path(checked_path(path))
    try:
        target = real_path(target, follow=False)
        with SharedFolder(team, target, True, _check_place) as folder:
            return write_arrays(folder.inside, arrays, values, sequence=sequence, time=time.time(), team=team)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL):
            raise no_place(target, f"something is there, and cannot be replaced: {error.strerror}") from error
        raise no_place(target, error) from error


def _check_place(target: Path) -> None:
    """A checkpoint and an empty folder may be replaced, nothing else."""
    if "\0" in str(target):
        raise no_place(target, "a name has no NUL")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise no_place(target, "something is there, and is no folder")
    if is_working_directory(target):
        raise no_place(target, "it is the working directory, which would be another one afterwards")
    if target.is_dir() and any(target.iterdir()) and not (target / MANIFEST).is_file():
        raise no_place(target, "something is there, and is no checkpoint")


def check_version(team: Team, manifest: Manifest, folder: Path) -> None:
    """Raises `ValueError` (SW0880) on all processes where one has opened another version of a checkpoint."""
    if team.vote(manifest.digest, lambda given: b"" if len(set(given)) == 1 else b"several"):
        fault = f"{folder} was replaced while the processes opened it, or they gave different paths"
        raise SavingError("SW0880", fault)


def _compare(found: Found, manifest: Manifest) -> RestoreReport:
    """What of a checkpoint goes where, and what does not."""
    saved: dict[str, ArrayEntry | Plain] = {**manifest.arrays, **manifest.values}
    pairs = {name: (leaf, saved[name]) for name, leaf in found.leaves.items() if name in saved}
    unfit = {name: fault for name, (leaf, item) in pairs.items() if (fault := _misfit(name, leaf, item))}
    return RestoreReport(
        tuple(name for name in pairs if name not in unfit),
        tuple(name for name in found.leaves if name not in saved),
        tuple(name for name in saved if name not in found.leaves),
        tuple(unfit.values()),
    )


def _misfit(name: str, leaf: Leaf, saved: ArrayEntry | Plain) -> str | None:
    """Why something saved cannot take the place of a leaf."""
    if leaf.is_plain and not isinstance(saved, ArrayEntry):
        fits = leaf.value is None or saved is None or type(saved) is type(leaf.value)
        return None if fits else f"{name!r} is {saved!r} in the checkpoint, but {leaf.value!r} here"
    if leaf.is_plain or not isinstance(saved, ArrayEntry):
        plain = "a Python value (a NumPy number is an array)"
        there, here = ("an array", plain) if isinstance(saved, ArrayEntry) else (plain, "an array")
        return f"{name!r} is {there} in the checkpoint, but {here} here"
    if leaf.value.shape != saved.shape or leaf.value.dtype.name != saved.dtype:
        there, here = f"{saved.dtype}{list(saved.shape)}", f"{leaf.value.dtype.name}{list(leaf.value.shape)}"
        return f"{name!r} is {there} in the checkpoint, but {here} here"
    if leaf.layout is not None and leaf.layout.spec.partial:
        return f"{name!r} has partial results here, which nothing can be read into"
    return None


def _restore(plan: RestoreReport, found: Found, manifest: Manifest, folder: Path, team: Team) -> RestoreReport:
    """Reads everything, and only when all processes have puts it in its place."""
    wanted = [(manifest.arrays[name], found.leaves[name]) for name in plan.restored if name in manifest.arrays]
    transfers = Transfers()
    arrays = _read(folder, manifest, [(entry, leaf.layout) for entry, leaf in wanted], transfers)
    team.vote()
    for name in plan.restored:
        if name in manifest.values:
            found.leaves[name].put(manifest.values[name])
    for (_, leaf), value in zip(wanted, arrays, strict=True):
        leaf.put(value)
    return replace(plan, transfers=transfers)


def _read(
    folder: Path, manifest: Manifest, wanted: Sequence[tuple[ArrayEntry, Layout | None]], transfers: Transfers
) -> list[Any]:
    return read_arrays(folder, manifest, wanted, transfers, "SW0873", f"{folder} lacks files, or has wrong ones")


def load_variables(path: str | os.PathLike[str], layouts: Mapping[str, Layout] | None = None) -> dict[str, Any]:
    """
    The arrays of a checkpoint by name, without any objects: distributed tensors where `layouts` has one, else arrays.

    `path` may also be a `.safetensors` file, the index of several, a folder that has either, or what Orbax, TensorFlow
    or Keras wrote. `layouts` is a dict by name, or a `LayoutMap`. Raises what `Checkpoint.restore` raises, and
    `ValueError` for names in a dict that are not in the checkpoint (SW0879), for layouts that do not fit (SW0104,
    SW0106), and for what others wrote and is not whole (SW0892, SW0896, SW0897, SW0899). Of a mesh over several
    processes each reads its own part.

    >>> import tempfile, numpy, shardwright
    >>> path = shardwright.Checkpoint(table=numpy.arange(4.0), step=3).save(tempfile.mkdtemp() + "/one")
    >>> shardwright.load_variables(path, {"table": shardwright.Layout(["x"], shardwright.Mesh(x=2))})
    {'table': DTensor([0., 1., 2., 3.], f64[4@x], Mesh(x=2))}
    """
    given = _checked_layouts(layouts)
    stored = foreign_arrays(checked_path(path))
    if stored is not None:
        _check_names(given, stored, path)
        fitting = _fitting(given, {name: entry.shape for name, entry in stored.items()})
        return {name: entry.read(fitting[name]) for name, entry in stored.items()}
    with Team.over(given.values(), f"reading {checked_path(path)!r}") as team, _reading(path) as folder:
        manifest = read_manifest(folder)
        check_version(team, manifest, folder)
        entries = manifest.arrays
        _check_names(given, entries, folder)
        fitting = _fitting(given, {name: entry.shape for name, entry in entries.items()})
        wanted = [(entry, fitting[name]) for name, entry in entries.items()]
        return dict(zip(entries, _read(folder, manifest, wanted, Transfers()), strict=True))


def _checked_layouts(layouts: object) -> Mapping[str, Layout]:
    """The layouts as a dict; TypeError (SW0878) for what is none, or has other things in it."""
    if layouts is None:
        return {}
    help = "Python's help(shardwright.load_variables) says what it takes"
    if not isinstance(layouts, Mapping):
        raise wrong_option(
            f"layouts is a dict of layouts by the names of arrays, or a LayoutMap, not {layouts!r}", help
        )
    for name, layout in layouts.items():
        if not isinstance(layout, Layout | None):
            raise wrong_option(f"the layout of {name!r} is no shardwright.Layout, but {layout!r}", help)
    return layouts


def _check_names(layouts: Mapping[str, Layout], names: Collection[str], path: str | os.PathLike[str]) -> None:
    """Refuses layouts for arrays that are not there."""
    unknown = [name for name in layouts if name not in names]
    if unknown and not isinstance(layouts, LayoutMap):  # whose names are patterns
        notes = [f"{name!r} is not in the checkpoint" for name in unknown]
        message = f"{os.fspath(path)} has no arrays for {len(unknown)} layouts"
        help_text = also(unknown[0], names, "list_variables(path) has its names, and those of a LayoutMap are patterns")
        raise SavingError("SW0879", message, *notes, help=help_text)


def _fitting(layouts: Mapping[str, Layout], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Layout | None]:
    """The layout that each array shall come in; raises where one does not fit it, or is of partial results (SW0879)."""
    found = {name: layouts.get(name) for name in shapes}
    for name, layout in found.items():
        if layout is not None:
            with noted(f"the array is {name!r}"):
                layout.local_shape(shapes[name])
    partial = [f"{name!r}: {to}" for name, to in found.items() if to is not None and to.spec.partial]
    if partial:
        help_text = "give a layout without partial axes"
        raise SavingError("SW0879", "nothing can be read into partial results", *partial, help=help_text)
    return found


def list_variables(path: str | os.PathLike[str]) -> list[tuple[str, tuple[int, ...]]]:
    """
    The names and shapes of the arrays in a checkpoint, or in what `load_variables` takes (as TensorFlow's does).

    >>> import tempfile, numpy, shardwright
    >>> shardwright.list_variables(shardwright.Checkpoint(w=numpy.zeros((2, 3))).save(tempfile.mkdtemp() + "/one"))
    [('w', (2, 3))]
    """
    stored = foreign_arrays(checked_path(path))
    if stored is not None:
        return [(name, entry.shape) for name, entry in stored.items()]
    with _reading(path) as folder:
        return [(name, entry.shape) for name, entry in read_manifest(folder).arrays.items()]


def _reading(path: str | os.PathLike[str]) -> AbstractContextManager[Path]:
    return reading(checked_path(path), "SW0873")


def verify_checkpoint(path: str | os.PathLike[str]) -> int:
    """
    Reads everything in a checkpoint and compares it with its checksums; the number of bytes in its arrays.

    Raises `ValueError` (SW0872, SW0873, SW0874) that lists every file that is missing, damaged or does not belong
    there.

    >>> import tempfile, numpy, shardwright
    >>> shardwright.verify_checkpoint(shardwright.Checkpoint(w=numpy.zeros((2, 3))).save(tempfile.mkdtemp() + "/one"))
    48
    """
    with _reading(path) as folder:
        manifest = read_manifest(folder)
        faults = [f"{name}: nothing of that name was written" for name in _strangers(folder, manifest)]
        store = open_arrays(folder, manifest)
        faults += store.faults() or store.damages()
        if faults:
            raise SavingError("SW0873", f"{folder} is damaged", *faults)
        return sum(entry.nbytes for entry in manifest.arrays.values())


def _strangers(folder: Path, manifest: Manifest) -> list[str]:
    """What lies there and was not written."""
    second = manifest.version == SECOND
    known = {MANIFEST, HASHES, ARRAYS if second else ARCHIVE}
    others = sorted(path.name for path in folder.iterdir() if path.name not in known)
    return others + (strangers(folder, len(manifest.arrays)) if second else [])
