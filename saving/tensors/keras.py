"""
Keras: weights as Keras 3 and 2 save them, in HDF5 (`.weights.h5`, `.h5`) or in an archive of it (`.keras`).

Read with h5py, and without Keras: nothing of a model's configuration is looked at, in which Keras has found code to
run. Names are the paths of the datasets. Links to other files are not followed.
"""

from __future__ import annotations

import zipfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from shardwright.dialects.types import dtype_element
from shardwright.layout.boxes import Box
from shardwright.saving.faults import MissingPackageError, SavingError
from shardwright.saving.tensors.stored import Stored

ENDINGS, ARCHIVE, WEIGHTS = (".h5", ".hdf5"), ".keras", "model.weights.h5"


@dataclass(frozen=True)
class InDatasets(Stored):
    """An array that is a dataset of a file."""

    path: str = field(repr=False)
    plain: bool
    """Whether its elements are of a type that HDF5 knows: bfloat16 is written as two bytes without a meaning."""

    def part(self, box: Box) -> np.ndarray[Any, Any]:
        """The elements in a box, as far as HDF5 keeps them apart."""
        with _opened(self.path) as file:
            try:
                found = np.asarray(file[self.name][tuple(slice(*piece) for piece in box)])
            except (OSError, KeyError, ValueError, TypeError) as error:
                raise malformed(self.path, f"{self.name!r} cannot be read: {error}") from error
        if found.shape != tuple(high - low for low, high in box):
            raise malformed(self.path, f"{self.name!r} has changed while it was read")
        return found.astype(self.dtype, copy=False) if self.plain else found.view(self.dtype)


def is_keras(path: str) -> bool:
    """
    Whether a path is that of weights of Keras, by its ending.

    >>> is_keras("model.weights.h5"), is_keras("model.keras"), is_keras("model.safetensors")
    (True, True, False)
    """
    return path.endswith((*ENDINGS, ARCHIVE))


def read_keras(path: str) -> dict[str, Stored]:
    """
    The arrays in a file by the paths of their datasets; nothing but what they are is read. Texts are left out.

    Raises `ValueError` (SW0899) for what is no such file, or leads to others, and `ImportError` (SW0877) without h5py.
    """
    found = dict[str, Stored]()
    with _opened(path) as file:
        try:
            for name, dataset in _datasets(file, ""):
                if dataset.is_virtual or dataset.external:
                    raise malformed(path, f"{name!r} lies in another file")
                told = dataset.attrs.get("dtype") == "bfloat16"
                if dataset.dtype.kind in "OSU" or (dataset.dtype.kind == "V" and not told):
                    continue  # texts, and records
                dtype = np.dtype(ml_dtypes.bfloat16) if told else dataset.dtype.newbyteorder("=")
                dtype_element(dtype)
                found[name] = InDatasets(name, dtype, tuple(dataset.shape), path, dataset.dtype.kind != "V")
        except SavingError:
            raise
        except (OSError, KeyError, RuntimeError, TypeError, ValueError) as error:  # names that are no text, for one
            raise malformed(path, str(error)) from error
    return found


def malformed(path: str, fault: str) -> SavingError:
    """The error for a file that is not what its name says."""
    return SavingError("SW0899", f"{path} has no weights of Keras that can be read: {fault}")


def _datasets(group: Any, above: str) -> Iterator[tuple[str, Any]]:
    """All datasets below a group, by their paths; links are not followed."""
    h5py: Any = import_module("h5py")
    for name in group:
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            raise malformed(group.file.filename, f"'{above}{name}' is a link to somewhere else")
        inside = group[name]
        if isinstance(inside, h5py.Group):
            yield from _datasets(inside, f"{above}{name}/")
        elif isinstance(inside, h5py.Dataset):
            yield f"{above}{name}", inside


@contextmanager
def _opened(path: str) -> Generator[Any]:
    """The HDF5 file at a path, or in an archive there."""
    try:
        h5py: Any = import_module("h5py")
    except ImportError:
        raise MissingPackageError("SW0877", "weights of Keras are read with h5py") from None
    with ExitStack() as stack:
        try:
            found: Any = path
            if path.endswith(ARCHIVE):
                archive = stack.enter_context(zipfile.ZipFile(Path(path)))
                found = stack.enter_context(archive.open(WEIGHTS))
            file = stack.enter_context(h5py.File(found, "r"))
        except (OSError, KeyError, zipfile.BadZipFile, RuntimeError) as error:
            # An archive may lack the member (KeyError), or be locked or packed in an unknown way (RuntimeError).
            raise malformed(path, str(error)) from error
        yield file
