"""What `shardwright.jax.jit` remembers of a partitioned program, so that the next start partitions nothing."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from shardwright.engines.jax.internals import devices_of, host_callbacks
from shardwright.frontends.jax.calls.by_hand import BY_HAND
from shardwright.layout.forms.plain import mesh_of, plain_mesh, plain_spec, spec_of
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.codegen.memory import LEAST_SECONDS, key_of, recall, remember, remembers

FEWEST_CHARACTERS = 1 << 15
"""Programs of less text are partitioned about as fast as they would be found."""

_PLACE = re.compile(r" loc\((#loc\d*)\)")
_DECLARED = re.compile(r"^(#loc\d*) = loc\((.*)\)\n", re.MULTILINE)
_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"\(')
"""Where ops were written, and what they are called there."""


@dataclass(frozen=True)
class Local:
    """
    All that JAX has to know of a program that is partitioned.

    The text that XLA gets and the program's name, its mesh, and of arguments and of results the layouts and in which
    memory they lie (`memories_of`).
    """

    text: str
    name: str
    mesh: Mesh
    inputs: Sequence[LayoutSpec]
    outputs: Sequence[LayoutSpec]
    taken: Sequence[str | None]
    given: Sequence[str | None]


def name_of(text: str, theirs: Any, *facts: object) -> str | None:
    """
    The name under which a program of JAX's text is remembered; None for one that is not.

    Small ones are not, nor are those that call Python functions of this process, or of `custom_partitioning`.
    """
    if len(text) < FEWEST_CHARACTERS or not remembers() or host_callbacks(theirs) or BY_HAND in text:
        return None
    versions = [import_module(name).__version__ for name in ("jax", "jaxlib")]
    first = devices_of(theirs)[0]
    return key_of(without_places(text), "jax", *versions, first.platform, first.default_memory().kind, *facts)


def without_places(text: str) -> str:
    """The text with what ops are called, and not where they were written: what differs in that alone is the same."""
    named = {place: found[1] if (found := _NAME.match(said)) else "" for place, said in _DECLARED.findall(text)}
    return _PLACE.sub(lambda found: f" {named.get(found[1], '')}", _DECLARED.sub("", text))


def recalled(name: str | None) -> Local | None:
    """What was remembered under a name."""
    return None if name is None else recall(name, _read)


def keep(name: str | None, local: Local, seconds: float) -> None:
    """Remembers what took so long to partition, if that is worth it."""
    if name is not None and seconds >= LEAST_SECONDS:
        remember(name, _written(local))


def _written(local: Local) -> bytes:
    sides = [[plain_spec(spec) for spec in side] for side in (local.inputs, local.outputs)]
    record = [local.text, local.name, plain_mesh(local.mesh), *sides, local.taken, local.given]
    return zlib.compress(json.dumps(record).encode(), 1)


def _read(content: bytes) -> Local:
    text, name, mesh, inputs, outputs, taken, given = json.loads(zlib.decompress(content))
    return Local(text, name, mesh_of(mesh), [*map(spec_of, inputs)], [*map(spec_of, outputs)], taken, given)
