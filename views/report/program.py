"""The operations of a program by the module they were written in, with what repeats folded: equal layers once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePath
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp, NameLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.compiler.report import value_name
from shardwright.dialects.dtensor import CollectiveOp, layout_of
from shardwright.dialects.stablehlo import CaseOp, IfOp, WhileOp
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_of, shape_of
from shardwright.passes.program import entry_function

MOST_NODES = 3000
"""How many operations are listed at most, once those that repeat are folded."""

FARTHEST = 2000
"""Operations after which equal ones are no longer taken for a repetition."""

HOLDERS = (FuncOp, WhileOp, CaseOp, IfOp)
"""What holds operations of the program; others hold functions of single elements, such as what a reduction applies."""

LEAST = 6
"""How many operations a repetition has at least, all together, for it to be folded."""

TRIED = 24
"""How many lengths of a repetition are tried at a place."""


@dataclass(frozen=True)
class OpLine:
    """One operation: what it makes, its name, its layout, where it was written, and whether it sends."""

    made: str
    op: str
    layout: str
    place: str
    module: str
    sends: bool

    @property
    def kind(self) -> tuple[str, str]:
        """What equal operations have in common."""
        return self.op, self.layout


@dataclass(frozen=True)
class Fold:
    """Operations that stand together: a module's, or some that follow each other `times` times."""

    title: str
    times: int
    inner: tuple[OpLine | Fold, ...]


Node: TypeAlias = OpLine | Fold
"""What the program is made of."""


def program_nodes(planned: ModuleOp) -> tuple[tuple[Node, ...], int]:
    """The operations of a planned program, folded, and how many of them there are."""
    ops = [op for op in entry_function(planned).body.walk() if op.results and isinstance(op.parent_op(), HOLDERS)]
    lines = [_line(op) for op in ops]
    return tuple(_by_module(_folded(lines))), len(lines)


def _line(op: Operation) -> OpLine:
    place = where(op)
    return OpLine(
        ", ".join(filter(None, map(value_name, op.results))),
        op.name,
        ", ".join(map(_type, op.results)),
        f"{PurePath(place.file).name}:{place.line}" if place else "",
        _module(op.location),
        isinstance(op, CollectiveOp),
    )


def _type(value: SSAValue) -> str:
    spec = layout_of(value)
    return str(value.type) if spec is None else spec.brief(shape_of(value), str(element_of(value)))


def _module(location: Attribute) -> str:
    """
    The module in which JAX says that an op was written; nothing where it says nothing.

    >>> from xdsl.dialects.builtin import StringAttr, UnknownLoc
    >>> _module(NameLoc(StringAttr("jit(step)/jvp(Model)/Dense_0/dot_general"), UnknownLoc()))
    'Dense_0'
    """
    if not isinstance(location, NameLoc):
        return ""
    return "/".join(part for part in location.desc.data.split("/")[:-1] if "(" not in part)


def _folded(lines: Sequence[OpLine]) -> list[Node]:
    """
    The lines with each run of equal ones as one fold.

    >>> two = [OpLine("", name, "", "", "", False) for name in ("a", "b")]
    >>> [(fold.times, len(fold.inner)) for fold in _folded([*two, *two, *two]) if isinstance(fold, Fold)]
    [(3, 2)]
    """
    ids: dict[object, int] = {}
    keys = [ids.setdefault(line.kind, len(ids)) for line in lines]
    places: dict[int, list[int]] = {}
    for at, key in enumerate(keys):
        places.setdefault(key, []).append(at)
    nodes: list[Node] = []
    at = 0
    while at < len(lines):
        length, times = _repetition(keys, places[keys[at]], at)
        if times == 1:
            nodes.append(lines[at])
        else:
            inner = lines[at : at + length] if length == 1 else _folded(lines[at : at + length])
            nodes.append(Fold(f"{length:,} {'operation' if length == 1 else 'operations'}", times, tuple(inner)))
        at += length * times
    return nodes


def _repetition(keys: Sequence[int], equal: Sequence[int], at: int) -> tuple[int, int]:
    """How many keys from `at` on repeat, and how often they stand there: what covers most; `(1, 1)` where none do."""
    best, covered = (1, 1), LEAST - 1
    first = bisect_right(equal, at)
    for next_place in equal[first : first + TRIED]:
        length, times = next_place - at, 1
        if length > FARTHEST:
            break
        while keys[at : at + length] == keys[at + length * times : at + length * (times + 1)]:
            times += 1
        if times > 1 and length * times > covered:
            best, covered = (length, times), length * times
    return best


def _by_module(nodes: Sequence[Node]) -> Iterator[Node]:
    """The nodes with neighbours of one module together."""
    for module, group in groupby(nodes, lambda node: node.module if isinstance(node, OpLine) else ""):
        found = tuple(group)
        if module and len(found) > 1:
            yield Fold(module, 1, found)
        else:
            yield from (
                replace(node, inner=tuple(_by_module(node.inner))) if isinstance(node, Fold) else node for node in found
            )


def cut(nodes: Sequence[Node], most: int = MOST_NODES) -> tuple[tuple[Node, ...], int]:
    """The first nodes with at most so many operations in all, and how many operations these are."""
    kept: list[Node] = []
    left = most
    for node in nodes:
        if left == 0:
            break
        if isinstance(node, Fold):
            inner, used = cut(node.inner, left)
            kept.append(replace(node, inner=inner))
            left -= used
        else:
            kept.append(node)
            left -= 1
    return tuple(kept), most - left
