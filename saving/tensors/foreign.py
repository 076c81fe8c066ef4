"""Arrays that other libraries wrote: which reader takes a path."""

from __future__ import annotations

import os
from collections.abc import Mapping

from shardwright.saving.checkpoints.manifest import MANIFEST
from shardwright.saving.tensors.stored import Stored


def foreign_arrays(path: str) -> Mapping[str, Stored] | None:
    """The arrays at a path in safetensors, or in a checkpoint of Orbax, TensorFlow or Keras; None for anything else."""
    from shardwright.saving.tensors import keras, orbax, safetensors, tensorflow

    if os.path.isfile(os.path.join(path, MANIFEST)):
        return None
    if safetensors.is_safetensors(path):
        return safetensors.read_safetensors(path)
    if keras.is_keras(path):
        return keras.read_keras(path)
    if tensorflow.is_tensorflow(path):
        return tensorflow.read_tensorflow(path)
    return orbax.read_orbax(path) if orbax.is_orbax(path) else None
