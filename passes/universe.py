"""What `xdsl-opt` and other drivers of xDSL find of ours: dialects, and passes as `shardwright-NAME`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from shardwright.dialects import CHLO, DTensor, Sdy, StableHLO
from shardwright.passes import all_passes

_DIALECTS = {each.name: each for each in (StableHLO, CHLO, Sdy, DTensor)}

PREFIX = "shardwright-"
"""xDSL has a `canonicalize` and a `cse` of its own."""


def _dialect(name: str) -> Dialect:
    return _DIALECTS[name]


def _pass(name: str, load: Callable[[], type[ModulePass]]) -> type[ModulePass]:
    """The pass under the name that xDSL knows it by."""
    found = load()
    return type(found.__name__, (found,), {"name": name})


UNIVERSE = Universe(
    all_dialects={name: partial(_dialect, name) for name in _DIALECTS},
    all_passes={PREFIX + name: partial(_pass, PREFIX + name, load) for name, load in all_passes().items()},
)
