"""An order of a program's nodes that depends on what they compute, not on the order of the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from zlib import crc32

from shardwright.passes.program import Closing, Node, Opening, Program, Step


def structural_marks(program: Program) -> list[int]:
    """
    A number for each node that says where it stands in the graph, whatever the order of the text.

    It mixes the op's name and shapes with those of everything that it comes from and goes to. Whole numbers hash alike
    in every process, which strings do not.
    """
    names: dict[str, int] = {}
    values: list[int] = list(range(len(program.values)))
    marks: list[int] = []
    for node in program.nodes:
        name = names.setdefault(node.op.name, crc32(node.op.name.encode()))
        shapes = tuple(program.shapes[value] for value in node.results)
        marks.append(hash((name, shapes, tuple(values[value] for value in node.operands))))
        for place, value in enumerate(node.results):
            values[value] = hash((marks[-1], place))
    for node in reversed(program.nodes):
        onwards = sorted(marks[user.index] for value in node.results for user in program.users[value])
        marks[node.index] = hash((marks[node.index], *onwards))
    return marks


def structural_order(program: Program, marks: list[int]) -> list[Step]:
    """The steps, operands before users, in an order that does not depend on that of the text: by depth, then mark."""
    depths: list[int] = [0] * len(program.values)
    return list(_ordered(program.steps, depths, marks))


def _ordered(steps: Sequence[Step], depths: list[int], marks: list[int]) -> Iterator[Step]:
    ranked: list[tuple[int, int, int, list[Step]]] = []
    for number, unit in enumerate(_units(steps)):
        nodes = [step for step in unit if isinstance(step, Node)]
        depth = max((depths[value] for node in nodes for value in node.operands), default=0)
        for value in _made(unit):
            depths[value] = depth + 1
        mark = marks[nodes[0].index] if len(nodes) == 1 else hash(tuple(sorted(marks[node.index] for node in nodes)))
        ranked.append((depth, mark, number, unit))
    for *_, unit in sorted(ranked, key=lambda item: item[:3]):
        yield from unit if len(unit) == 1 else _ordered_inside(unit, depths, marks)


def _made(unit: Sequence[Step]) -> Iterator[int]:
    for step in unit:
        if isinstance(step, Node):
            yield from step.results
        elif isinstance(step, Closing):
            yield from (number for number, _ in step.scope.results)


def _units(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Single nodes, and all steps of each loop or branch together."""
    numbered = enumerate(steps)
    level = 0
    keys: list[object] = []
    for index, step in numbered:
        level -= isinstance(step, Closing)
        if level == 0:
            owner = step.op if isinstance(step, Node) else step.scope.owner
            composite = isinstance(step, Opening | Closing) or not step.results or step.op.regions
            keys.append(owner if composite else index)
        else:
            keys.append(keys[-1])
        level += isinstance(step, Opening)
    for _, group in groupby(zip(keys, steps, strict=True), key=lambda pair: pair[0]):
        yield [step for _, step in group]


def _ordered_inside(unit: Sequence[Step], depths: list[int], marks: list[int]) -> Iterator[Step]:
    """A loop or branch with each of its scopes in order."""
    inner: list[Step] = []
    level = 0
    for step in unit:
        level -= isinstance(step, Closing)
        if level == 0:
            yield from _ordered(inner, depths, marks)
            inner = []
            yield step
        else:
            inner.append(step)
        level += isinstance(step, Opening)
