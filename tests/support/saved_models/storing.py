"""
Some of the models as files: `python -m saved_models.storing` in `tests/support` writes them to `tests/data/graphs`.

So that the default tests, which have no TensorFlow, see what only whole models show: lists that grow, steps of
optimizers, control flow of TensorFlow 1, tables and texts.
"""

from __future__ import annotations

import os
import sys
import tarfile
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

DATA = Path(__file__).resolve().parents[2] / "data" / "graphs"

NAMES = (
    "tensor_array",
    "growing_tensor_array",
    "sparse_state",
    "gradients_of_branches",
    "gradients_of_loops",
    "step_of_old_operations",
    "old_branches",
    "old_loops",
    "old_nested_loops",
    "old_loop_in_a_branch",
    "old_gradients",
    "string_lookup_with_several_unknown",
    "names_of_classes",
    "integer_lookup_counts",
    "text_vectorization",
    "text_vectorization_tf_idf",
    "text_vectorization_of_pairs",
    "text_vectorization_of_letters",
    "hashing_of_numbers_with_salt",
    "table_with_unknown_words",
    "tables_that_changed",
    "tables_of_files",
    "ragged_words",
    "chosen_rows",
)
"""The models that are stored."""


@cache
def unpacked() -> Path:
    """A folder with the stored models, a directory each."""
    folder = Path(mkdtemp(prefix="shardwright-saved-"))
    with tarfile.open(DATA / "saved.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def calls(name: str) -> list[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """The arrays of each call of a stored model, and what TensorFlow computed of them."""
    with np.load(DATA / "saved.npz") as file:
        found = {key.split("/", 1)[1]: file[key] for key in file.files if key.startswith(f"{name}/")}
    count = 1 + max(int(key.split("/")[0]) for key in found)
    return [tuple(_of_kind(found, f"{place}/{kind}/") for kind in ("in", "out")) for place in range(count)]


def _of_kind(found: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Arrays by name; texts, which files hold with a certain length, as objects."""
    return {
        key.removeprefix(prefix): value.astype(object) if value.dtype.kind == "S" else value
        for key, value in found.items()
        if key.startswith(prefix)
    }


def write() -> None:
    from saved_models.making import computed, made_by_name

    folder, arrays = Path(mkdtemp()), dict[str, np.ndarray]()
    for name in NAMES:
        made = made_by_name(name)
        made.save(folder / name)
        for unused in ("fingerprint.pb", "assets"):
            path = folder / name / unused
            path.rmdir() if path.is_dir() and not any(path.iterdir()) else path.is_file() and path.unlink()
        for place, (given, due) in enumerate(zip(made.calls, computed(made, folder / name), strict=True)):
            for kind, values in (("in", given), ("out", due)):
                for key, value in values.items():
                    arrays[f"{name}/{place}/{kind}/{key}"] = _plain(value)
    np.savez_compressed(DATA / "saved.npz", **arrays)
    with tarfile.open(DATA / "saved.tar.xz", "w:xz") as archive:
        archive.add(folder, ".")
    sys.stdout.write(f"{[(path.name, path.stat().st_size) for path in DATA.glob('saved.*')]}\n")


def _plain(value: np.ndarray) -> np.ndarray:
    if value.dtype != object:
        return value
    return np.array([text if isinstance(text, bytes) else text.encode() for text in value.flat]).reshape(value.shape)


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = "tensorflow"
    write()
