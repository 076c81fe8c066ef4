"""
TensorFlow: checkpoints of `tf.train.Checkpoint`, of `tf.keras.Model.save_weights` and of TensorFlow 1, and the
variables of a SavedModel.

A checkpoint is an index, a sorted table that says of each tensor its type, shape and place, and files of data beside
it. Read without TensorFlow; nothing in them is code. Format: tensorflow/core/protobuf/tensor_bundle.proto.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.tensors import numpy_dtype
from shardwright.layout.boxes import Box
from shardwright.saving.faults import SavingError
from shardwright.saving.tensors.stored import Stored
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.tables.tensor_bundle import TensorBundle

INDEX, STATE = ".index", "checkpoint"
LONGEST_STATE = 1_000_000
"""Bytes of the file that says which checkpoint of a folder is the latest."""

_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
"""What TensorFlow 2 writes behind the path of each variable."""

_LATEST = re.compile(r'^model_checkpoint_path: "((?:[^"\\]|\\.)*)"', re.MULTILINE)


@dataclass(frozen=True)
class InBundle(Stored):
    """A tensor of a checkpoint, called `key` there."""

    key: str
    bundle: TensorBundle = field(repr=False)

    def part(self, box: Box) -> np.ndarray[Any, Any]:
        """The elements in a box; all of the tensor is read for it, as its checksum is that of all."""
        (found,) = self.parts([box])
        return found

    def parts(self, boxes: Iterable[Box]) -> Iterator[np.ndarray[Any, Any]]:
        """The elements in each of some boxes: the tensor is read once for all of them."""
        whole = self.bundle.tensor(self.key, self.dtype)
        for box in boxes:
            yield np.asarray(whole[tuple(slice(*piece) for piece in box)], self.dtype)


def is_tensorflow(path: str) -> bool:
    """
    Whether a path leads to a checkpoint of TensorFlow: its prefix, its index, a folder with some, or a SavedModel.

    >>> is_tensorflow("checkpoint")
    False
    """
    return bool(_prefixes(path))


def read_tensorflow(path: str) -> dict[str, Stored]:
    """
    The tensors at a path by the paths of their variables; nothing but the index is read. Strings are left out.

    Raises `ValueError`: SW0892 for what is not whole, or is of another form, and for a folder with several of which it
    does not say which is the latest.
    """
    found = _prefixes(path)
    if len(found) > 1:
        names = [prefix.name for prefix in found]
        raise SavingError("SW0892", f"{path} has {len(found)} checkpoints", *names, help="give the path of one")
    bundle = TensorBundle(found[0])
    tensors: dict[str, Stored] = {}
    for key in bundle.keys:
        entry = bundle.entry(key)
        if entry.dtype == graph_pb2.DT_STRING:
            continue  # the graph of objects, and texts
        name = key.removesuffix(_VALUE)
        if name in tensors:
            raise SavingError("SW0892", f"{found[0]} has two tensors for {name!r}")
        dtype = numpy_dtype(entry.dtype, f"tensor {key!r}")
        tensors[name] = InBundle(name, dtype, bundle.shape(key, dtype), key, bundle)
    return tensors


def _prefixes(path: str) -> list[Path]:
    """The checkpoints at a path: itself, the latest of a folder, else all that are there."""
    given = Path(path)
    if path.endswith(INDEX) and os.path.isfile(path):
        return [Path(path.removesuffix(INDEX))]
    if os.path.isfile(f"{path}{INDEX}"):
        return [given]
    if not os.path.isdir(path):
        return []
    latest = _latest(given)
    if latest is not None:
        return [latest]
    inside = sorted(given.glob(f"*{INDEX}")) or sorted(given.glob(f"variables/variables{INDEX}"))
    return [Path(str(index).removesuffix(INDEX)) for index in inside]


def _latest(folder: Path) -> Path | None:
    """The checkpoint that TensorFlow's own file calls the latest, if it is in the folder."""
    state = folder / STATE
    try:
        if not state.is_file() or state.stat().st_size > LONGEST_STATE:
            return None
        named = _LATEST.search(state.read_text("utf-8", "replace"))
    except OSError:
        return None
    # It may name a path on the machine that wrote it: only the last part says which file it is here.
    prefix = None if named is None else folder / Path(named[1]).name
    return prefix if prefix is not None and os.path.isfile(f"{prefix}{INDEX}") else None
