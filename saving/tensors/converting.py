"""`convert`: arrays from one kind of storage to another."""

from __future__ import annotations

import os

from shardwright.saving.checkpoints.checkpoint import load_variables, write_checkpoint
from shardwright.saving.checkpoints.objects import named
from shardwright.saving.faults import SavingError, checked_path
from shardwright.saving.team import Team
from shardwright.saving.tensors.safetensors import ENDING, INDEX, write_safetensors

FILE_BYTES = 5_000_000_000
"""What a file of a model has at most, unless told otherwise: as Hugging Face's libraries do."""


def convert(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, max_file_bytes: int = FILE_BYTES
) -> list[str]:
    """
    Writes arrays as safetensors, or as a checkpoint; returns what was written.

    `source` is what `load_variables` takes: a checkpoint (ours, Orbax, TensorFlow, Keras), a `.safetensors` file, its
    index, or a folder that has either; `target` is a path that ends in `.safetensors`, of which there are several files
    and an index where they would be larger than `max_file_bytes`, or the folder of a checkpoint. Names, shapes and
    element types stay: bfloat16 and fp8 are what they were. All arrays are in memory at a time. Raises `ValueError` for
    what cannot be read (what `load_variables` raises), for types that safetensors lacks (SW0875), and for a place that
    cannot be written, or where a checkpoint would take the place of something else (SW0876).

    >>> import tempfile, numpy, shardwright
    >>> folder = tempfile.mkdtemp()
    >>> path = shardwright.Checkpoint({"layer.weight": numpy.arange(4.0)}).save(folder + "/one")
    >>> files = shardwright.convert(path, folder + "/model.safetensors")
    >>> shardwright.load_variables(files[0])
    {'layer.weight': array([0., 1., 2., 3.])}
    """
    place = checked_path(target)
    if place.endswith(INDEX):
        place = place.removesuffix(INDEX) + ENDING
    if not place.endswith(ENDING) and os.path.lexists(place):
        fault = f"there is something at {place!r}, which a checkpoint would replace"
        raise SavingError("SW0876", fault, help="name a folder that is not there yet")
    arrays = load_variables(source)
    if not place.endswith(ENDING):
        with Team.over((), f"saving {place!r}") as team:
            write_checkpoint(place, named(arrays), team)
        return [place]
    try:
        return [str(file) for file in write_safetensors(place, arrays, max_file_bytes)]
    except OSError as error:
        raise SavingError("SW0876", f"cannot write {place!r}: {error.strerror or error}") from error
