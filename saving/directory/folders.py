"""What lies in a saved directory: names that stay inside of it, whole files, and nothing else."""

from __future__ import annotations

import os
import shutil
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from shardwright.saving.faults import SavingError, is_working_directory
from shardwright.serialization.hashing import HighwayHash64

Assets: TypeAlias = "Mapping[str, str | os.PathLike[str]] | Sequence[str | os.PathLike[str]]"
"""Files to be stored along: by the names that they get, or under their own."""

MODEL = "saved_model"
FINGERPRINT = "fingerprint.pb"
VARIABLES = "variables"
ASSETS = "assets"

VERSION = 1
"""The version of what is saved; a newer one is refused."""

LARGEST_MESSAGE = (1 << 31) - 1
"""The most bytes of a message in one piece."""

PIECE = 1 << 22
"""The bytes that are read at once."""


def check_name(name: str) -> str:
    """
    A relative name of a file, if it is one everywhere; `SavingError` (SW0868) otherwise.

    >>> check_name("vocabulary/words.txt")
    'vocabulary/words.txt'
    """
    parts = name.split("/")
    fault = None
    if not all(parts) or name.startswith("/"):
        fault = "is absolute or has empty parts"
    elif any(not part.strip(".") for part in parts):
        fault = "leaves its folder"
    elif "\\" in name or ":" in name or any(unicodedata.category(letter)[0] == "C" for letter in name):
        fault = "has letters that names of files cannot have"
    elif any(part != part.strip() or part.endswith(".") or len(part.encode()) > 255 for part in parts):
        fault = "has a part that some systems change"
    if fault:
        raise SavingError("SW0868", f"the asset {name!r} {fault}")
    return name


def check_names(names: Iterable[str]) -> None:
    """`SavingError` (SW0868) for names that leave the directory, and for two that some systems take for one."""
    seen: dict[str, str] = {}
    for name in names:
        check_name(name)
        for end in range(1, len(name.split("/")) + 1):
            part = "/".join(name.split("/")[:end])
            same = seen.setdefault(unicodedata.normalize("NFC", part).casefold(), part)
            if same != part:
                raise SavingError("SW0868", f"the assets {same!r} and {part!r} are one file on some systems")


def named_assets(assets: Assets | None) -> dict[str, Path]:
    """The files to be stored, by their names; `SavingError` (SW0868) for what is no plain file, or no plain name."""
    if assets is None:
        return {}
    if isinstance(assets, str | os.PathLike):
        raise SavingError("SW0868", "assets is one path", help="give a list of paths, or a dict of names and paths")
    pairs: list[tuple[Any, Any]] = (
        list(assets.items()) if isinstance(assets, Mapping) else [(Path(path).name, path) for path in assets]
    )
    found: dict[str, Path] = {}
    for name, path in pairs:
        if not isinstance(name, str):
            raise SavingError("SW0868", f"an asset is called {name!r}", help="give names that are texts")
        if name in found:
            raise SavingError("SW0868", f"two assets are called {name!r}", help="name them: assets={'name': path}")
        if "\0" in os.fspath(path) or not _is_file(Path(path)):
            raise SavingError("SW0868", f"the asset {os.fspath(path)!r} is no file", help="give paths of plain files")
        found[name] = Path(path)
    check_names(found)
    return found


def _is_file(path: Path) -> bool:
    """Whether a path is a file and no link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def copy_assets(assets: Mapping[str, Path], folder: Path) -> Iterator[tuple[str, int, int]]:
    """Copies files into a folder; the name, size and hash of each."""
    for name, source in assets.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        yield name, target.stat().st_size, file_hash(target)


def file_hash(path: Path) -> int:
    """The HighwayHash64 of a file's bytes, which are read piece by piece."""
    hasher = HighwayHash64()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(PIECE):
            hasher.update(piece)
    return hasher.digest()


def _models(folder: Path) -> list[Path]:
    """The files in a folder, ours or TensorFlow's, that may have the SavedModel."""
    return [path for ending in ("pb", "cpb") if _is_file(path := folder / f"{MODEL}.{ending}")]


def check_target(path: Path, overwrite: bool) -> None:
    """`SavingError` (SW0867) where a directory cannot be put."""
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_dir():
        raise SavingError("SW0867", f"{path} is there, and is no folder", help="choose another path")
    if is_working_directory(path):
        fault = f"{path} is the working directory, which would be another one afterwards"
        raise SavingError("SW0867", fault, help="choose another path")
    if any(path.iterdir()) and not _models(path):
        raise SavingError("SW0867", f"{path} is there, and is no saved directory", help="choose another path")
    if not overwrite:
        raise SavingError("SW0867", f"{path} is there already")


def model_file(folder: Path) -> Path:
    """The one file with the SavedModel; `SavingError` (SW0869) where there is none, or two."""
    if not os.path.isdir(folder):
        raise SavingError("SW0869", f"{folder} is no directory", help="give the path that save was given")
    found = _models(folder)
    if not found:
        raise SavingError("SW0869", f"{folder} has no {MODEL}.pb and no {MODEL}.cpb")
    if len(found) > 1:
        raise SavingError("SW0869", f"{folder} has a {MODEL}.pb and a {MODEL}.cpb, of which one is from another save")
    if found[0].suffix == ".pb" and found[0].stat().st_size > LARGEST_MESSAGE:
        raise SavingError("SW0870", f"{found[0]} has more than the 2 GiB that a message can have")
    return found[0]


def check_whole(folder: Path, model: Path, assets: Mapping[str, tuple[int, Any]], has_variables: bool) -> None:
    """
    `SavingError` for files that were not saved, or are no longer there (SW0869), and for others than those (SW0870).

    The files of variables are the checkpoint's own business, but for links.
    """
    check_names(assets)
    known = {model.name, FINGERPRINT, VARIABLES, ASSETS}
    strangers = [name for name in sorted(os.listdir(folder)) if name not in known]
    for top in (ASSETS, VARIABLES):
        if (folder / top).is_symlink():
            raise SavingError("SW0869", f"{folder / top} is a link", help="copy the directory with its files")
    there = set(_files(folder / ASSETS))
    strangers += [f"{ASSETS}/{name}" for name in sorted(there - set(assets))]
    if not has_variables:
        strangers += [f"{VARIABLES}/{name}" for name in _files(folder / VARIABLES)]
    missing = [f"{ASSETS}/{name}" for name in assets if name not in there]
    if strangers:
        raise SavingError("SW0869", f"{folder} has {strangers[0]!r}, which was not saved", *strangers[1:])
    if missing:
        raise SavingError("SW0869", f"{folder} lacks {missing[0]!r}", *missing[1:])
    for name, (size, expected) in assets.items():
        path = folder / ASSETS / name
        if path.stat().st_size != size or file_hash(path) != expected:
            raise SavingError("SW0870", f"{path} is not the file that was saved")


def _files(folder: Path) -> Iterator[str]:
    """The names of all files below a folder, with slashes; links are named like files and never followed."""
    for root, folders, files in os.walk(folder):
        inner = Path(root).relative_to(folder)
        links = [name for name in folders if (Path(root) / name).is_symlink()]
        for name in (*files, *links):
            path = Path(root) / name
            if not _is_file(path):
                raise SavingError("SW0869", f"{path} is no plain file", help="copy the directory with its files")
            yield (inner / name).as_posix()


def asset_file(folder: Path, name: str) -> Path:
    """Where an asset of a saved directory is; `SavingError` (SW0868, SW0869) for a name that it does not have."""
    file = folder / ASSETS / check_name(name)
    if not _is_file(file):
        raise SavingError("SW0869", f"{folder} has no asset {name!r}", help="the assets are those that were saved")
    return file
