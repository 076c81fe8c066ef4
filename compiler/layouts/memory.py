"""What a device holds while its program runs, operation by operation."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.report import value_name
from shardwright.dialects.text.locations import where
from shardwright.passes.collectives.holding import Holding, bytes_of

LARGEST = 8
"""How many of the values that are held at the highest moment are named."""


@dataclass(frozen=True)
class Held:
    """A value that is held at the highest moment: its name or its op, its bytes, and where it was written."""

    name: str
    bytes: int
    place: str


@dataclass(frozen=True)
class Memory:
    """
    The bytes that a device holds after each operation has begun, and the largest values of the highest moment.

    `running` are the most that it holds for what runs the program, as far as that is known.
    """

    levels: tuple[int, ...]
    largest: tuple[Held, ...]
    running: int = 0

    @property
    def peak(self) -> int:
        """The most bytes held at once."""
        return max(self.values, self.running)

    @property
    def values(self) -> int:
        """The most bytes of values held at once."""
        return max(self.levels, default=0)


def memory_of(local: ModuleOp) -> Memory:
    """
    What each device holds while a local program runs, were every value to have memory of its own.

    Arguments are held from start to end, other values from where they are made to their last use. What is one number
    everywhere takes no memory, and a value that is another in a new shape none but the other's.
    """
    function = next(op for op in local.ops if isinstance(op, FuncOp) and op.sym_name.data == "main" and op.body.blocks)
    found = Holding.of(function.body.block)
    held = sorted([*found.highest, *function.args], key=bytes_of, reverse=True)[:LARGEST]
    return Memory(found.levels, tuple(map(_held, held)))


def _held(value: SSAValue) -> Held:
    place = where(value)
    made = value.owner.name if isinstance(value.owner, Operation) else "argument"
    name = value_name(value) or made
    return Held(name if name == made else f"{name} ({made})", bytes_of(value), str(place) if place else "")
