"""Single edits of programs: each is a kind, a place, and a change to one op of a copy; `mutants` lists them."""

from __future__ import annotations

import random
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

Change = Callable[[Operation], None]
"""What is done to an op in place; it looks its neighbours up anew, for it works on a copy."""

Edit = tuple[str, Change]
"""A kind of mistake, and the change that makes it."""

Source = Callable[[Operation], Iterator[Edit]]
"""The edits that one sort of mistake can make at an op."""


@dataclass(frozen=True)
class Mutant:
    """One edit of one program in one stage."""

    stage: str
    kind: str
    number: int
    place: str
    change: Change

    @property
    def name(self) -> str:
        """What was done, and where."""
        return f"{self.stage}: {self.kind} at {self.place} (op {self.number})"

    def made_of(self, module: ModuleOp) -> ModuleOp:
        """A copy of the program with the mistake."""
        copy = module.clone()
        self.change(list(copy.walk())[self.number])
        return copy


def mutants(module: ModuleOp, stage: str, sources: tuple[Source, ...], most: int, seed: str) -> list[Mutant]:
    """At most so many mutants of a program, each kind in its turn; which ones follows from the `seed`."""
    kinds: dict[str, list[Mutant]] = defaultdict(list)
    for number, op in enumerate(module.walk()):
        if isinstance(op, ModuleOp | FuncOp) or op.name == "dtensor.mesh":
            continue
        for source in sources:
            for kind, change in source(op):
                kinds[kind].append(Mutant(stage, kind, number, op.name, change))
    order = random.Random(zlib.crc32(seed.encode()))
    for found in kinds.values():
        order.shuffle(found)
    chosen: list[Mutant] = []
    while len(chosen) < most and any(kinds.values()):
        for kind in sorted(kinds):
            if kinds[kind] and len(chosen) < most:
                chosen.append(kinds[kind].pop())
    return chosen


def earlier(op: Operation, like: SSAValue) -> list[SSAValue]:
    """The other values of the same type that an op could take instead: those before it in its block."""
    block = op.parent_block()
    assert isinstance(block, Block)
    found = list[SSAValue](block.args)
    for other in block.ops:
        if other is op:
            break
        found += other.results
    return [value for value in found if value.type == like.type and value is not like]


def replace_with(value: SSAValue, other: SSAValue, but: Operation | None = None) -> None:
    """Lets all that read a value, but for one op, read another."""
    value.replace_uses_with_if(other, lambda use: use.operation is not but)
