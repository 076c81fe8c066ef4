"""In which memory of a device arguments and results lie: JAX says it of each, and they keep it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

MEMORY = "mhlo.memory_kind"
"""What an argument or a result says of its memory."""


def memories_of(function: FuncOp, device: Any) -> tuple[list[str | None], list[str | None]]:
    """The memories of a local function's arguments and results; None for the one that the device computes in."""
    own, sides = device.default_memory().kind, (function.arg_attrs, function.res_attrs)
    takes, gives = ([_other(entry.data.get(MEMORY), own) for entry in side or ()] for side in sides)
    return takes, gives


def _other(kind: Attribute | None, own: str) -> str | None:
    return kind.data if isinstance(kind, StringAttr) and kind.data != own else None


def placed(sharding: Any, kind: str | None) -> Any:
    """A sharding in a memory; itself where no other is asked for."""
    return sharding if kind is None else sharding.with_memory_kind(kind)


def near(value: Any, sharding: Any, device: Any) -> Any:
    """An argument of this sharding in the memory that the device computes in."""
    own = device.default_memory().kind
    if sharding.memory_kind in (None, own):
        return value
    return import_module("jax").device_put(value, sharding.with_memory_kind(own))
