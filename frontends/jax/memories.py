"""In which memory of a device arguments and results lie: JAX says it of each, and they keep it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute

from shardwright.dialects.stablehlo import CustomCallOp
from shardwright.dialects.text.locations import fault

MEMORY = "mhlo.memory_kind"
"""What an argument or a result says of its memory."""

PLACEMENT, PLACE, ATTRIBUTES = "annotate_device_placement", "_xla_buffer_placement", "mhlo.frontend_attributes"
"""The custom call that puts a value into a memory, and where it says into which."""


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


def refuse_moves_between(module: ModuleOp, own: str) -> None:
    """Raises SW0578 for a value that leaves the memory `own` inside of a program: only results stay where they are."""
    for op in module.walk():
        if not isinstance(op, CustomCallOp) or op.target != PLACEMENT or (kind := _placement(op, own)) is None:
            continue
        if any(not isinstance(use.operation, ReturnOp) for use in op.results[0].uses):
            raise fault(
                "SW0578",
                f"a value in between is put into {kind}, and would stay in {own}",
                op,
                help='return it, and the caller has it there, or give the program to XLA with fallback="xla"',
            )


def _placement(op: CustomCallOp, own: str) -> str | None:
    said = op.attributes.get(ATTRIBUTES) or op.properties.get(ATTRIBUTES)
    return _other(said.data.get(PLACE), own) if isinstance(said, DictionaryAttr) else None
