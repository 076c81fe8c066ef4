"""How a model is made, saved, run by TensorFlow, imported, and judged. Needs TensorFlow and Keras 3."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import shardwright as sw

FILES = ("layers", "words", "functions", "steps", "old")
"""The modules of models."""

Arrays = dict[str, np.ndarray[Any, Any]]

TOLERANCES = {"float64": 1e-10, "complex128": 1e-10, "float32": 2e-5, "complex64": 2e-5, "float16": 2e-3}
"""
What two right programs may differ by, as a share of the largest element of a result: sums of at most a few thousand
numbers, each rounded once (2**-53, 2**-24), in another order. A wrong element differs by about the whole.
"""


@dataclass(frozen=True)
class Made:
    """A model: what saves it, and one or more calls of its signature."""

    save: Callable[[Path], None]
    calls: tuple[Arrays, ...]
    tolerance: float = 1.0
    """How many times the tolerance of its type results may differ: for what is badly conditioned."""
    holder: Any = None
    """What is saved, where more than variables belongs to it."""


CASES: dict[str, Callable[[], Made]] = {}
"""All models by name; `case` adds to them."""


def case(make: Callable[[], Made]) -> Callable[[], Made]:
    """Puts a model into the table, under the name of its function."""
    CASES[make.__name__] = make
    return make


def numbers(*shape: int, seed: int = 0, dtype: str = "float32", low: float | None = None, high: float = 1.0) -> Any:
    """Random numbers: normal ones, or between `low` and `high`."""
    random = np.random.default_rng((seed, *shape))
    return (random.standard_normal(shape) if low is None else random.uniform(low, high, shape)).astype(dtype)


def keras_model(model: Any, *calls: Mapping[str, Any] | np.ndarray[Any, Any], tolerance: float = 1.0) -> Made:
    """A Keras model with weights that are no zeros and ones, and calls: arrays by name, or the only one."""
    random = np.random.default_rng(1)
    for variable in model.variables:
        if "float" in variable.dtype and "normalization_mean" not in variable.path:
            low = 0.5 if "variance" in variable.path or "gamma" in variable.path else -0.5
            variable.assign(random.uniform(low, low + 1.0, variable.shape))
    name = model.inputs[0].name
    given = tuple(dict(one) if isinstance(one, Mapping) else {name: one} for one in calls)
    return Made(lambda path: model.export(path, verbose=False), given, tolerance)


def module(function: Callable[..., Any], *calls: Mapping[str, Any], tolerance: float = 1.0, **variables: Any) -> Made:
    """
    A function of TensorFlow, of its `variables` and the arrays of a call by name, as a module with one signature.

    Sizes of the first dims stay open where calls differ in them.
    """
    import tensorflow as tf

    holder = tf.Module()
    holder.held = {name: tf.Variable(value, name=name) for name, value in variables.items()}
    given = tuple({name: np.asarray(value) for name, value in call.items()} for call in calls)
    specs = [tf.TensorSpec(_shape([call[name] for call in given]), _type(given[0][name]), name) for name in given[0]]
    traced = tf.function(lambda *values: _named(function(*values, **holder.held)), input_signature=specs)
    holder.run = traced
    return Made(lambda path: tf.saved_model.save(holder, str(path), signatures=traced), given, tolerance, holder)


def _shape(values: list[Any]) -> list[int | None]:
    return [
        sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*(value.shape for value in values), strict=True)
    ]


def _type(value: Any) -> Any:
    return "string" if value.dtype.kind in "OSU" else value.dtype


def _named(result: Any) -> Any:
    if isinstance(result, dict):
        return result
    results = result if isinstance(result, tuple | list) else (result,)
    return {f"output_{place}": value for place, value in enumerate(results)}


def names() -> list[str]:
    """The names of all models, without TensorFlow."""
    sources = [Path(__file__).with_name(f"{name}.py").read_text() for name in FILES]
    return [name for source in sources for name in re.findall(r"^@case\ndef (\w+)", source, re.MULTILINE)]


def made_by_name(name: str) -> Made:
    """The model of this name."""
    for file in FILES:
        import_module(f"saved_models.{file}")
    return CASES[name]()


def computed(made: Made, folder: Path) -> list[Arrays]:
    """What TensorFlow computes with a saved model, for each of its calls."""
    import tensorflow as tf

    signature = tf.saved_model.load(str(folder)).signatures["serving_default"]
    found = (signature(**{name: tf.constant(value) for name, value in call.items()}) for call in made.calls)
    return [{key: value.numpy() for key, value in one.items()} for one in found]


def verdict(made: Made, folder: Path) -> str:
    """`equal`, or `refused: CODE message`, or `wrong: ...`, for one model."""
    made.save(folder)
    due = computed(made, folder)
    try:
        program = sw.from_saved_model(folder)
        found = [program(**call) for call in made.calls]
    except sw.ShardwrightError as error:
        return f"refused: {error.args[0]!s}"
    wrong = [text for one, other in zip(found, due, strict=True) for text in differences(one, other, made.tolerance)]
    return f"wrong: {'; '.join(wrong)}" if wrong else "equal"


def differences(found: Mapping[str, Any], due: Mapping[str, Any], times: float = 1.0) -> list[str]:
    """What differs between two results by name."""
    if set(found) != set(due):
        return [f"results {sorted(found)} where {sorted(due)} are due"]
    return [f"{key}: {text}" for key in due if (text := _difference(np.asarray(found[key]), due[key], times))]


def _difference(found: Any, due: Any, times: float) -> str:
    if found.shape != due.shape or (found.dtype != due.dtype and due.dtype.kind not in "OSU"):
        return f"{found.dtype}{list(found.shape)} where {due.dtype}{list(due.shape)} is due"
    if due.dtype.kind not in "fc":
        return "" if np.array_equal(found, due) else f"{found.reshape(-1)[:8]} where {due.reshape(-1)[:8]} is due"
    same = np.equal(found, due) | (np.isnan(found) & np.isnan(due))
    gap = np.max(np.where(same, 0, np.abs(found - due)), initial=0.0)
    room = (
        times * TOLERANCES[due.dtype.name] * max(1.0, float(np.max(np.abs(due), initial=0.0, where=np.isfinite(due))))
    )
    return "" if gap <= room else f"differs by {gap:.3g}, of {room:.3g}"
