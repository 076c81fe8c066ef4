"""Which nodes run on the host, before the program or after it, and which the program consists of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from shardwright.frontends.tensorflow.importing.attributes import Signature
from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.frontends.tensorflow.importing.graphs.nodes import Library, Node, Reference
from shardwright.frontends.tensorflow.importing.table import KNOWN, definitions, on_host, only_on_host
from shardwright.serialization.protos import graph_pb2

UNSEEN = ("Assert", "NoOp", "Print", "PrintV2")
"""Operations that compute nothing, texts or not."""


@dataclass(frozen=True)
class Stages:
    """
    A graph in three parts, each in order: on the host, the program, on the host again.

    `given` is what the program takes of the graph's inputs and of the host, `wanted` what it gives to the host and to
    the outputs.
    """

    before: Sequence[Node]
    program: Sequence[Node]
    after: Sequence[Node]
    given: Sequence[Reference]
    wanted: Sequence[Reference]


def needs_host(nodes: Sequence[Node]) -> bool:
    """Whether some nodes are on texts or tables, or of shapes that come from data, so that no program has them."""
    return any(only_on_host(node.op) or _takes_texts(node) for node in nodes)


def _takes_texts(node: Node) -> bool:
    """Whether a node makes something of texts, be it of those that the graph has itself; but for what nobody sees."""
    return node.op in definitions() and node.op not in (*UNSEEN, "Const") and _has_texts(node)


def staged(
    nodes: Sequence[Node], library: Library, fed: Collection[tuple[str, int]], outputs: Sequence[Reference]
) -> Stages:
    """
    The parts of a graph whose calls are flattened.

    On the host are nodes that no program has, and what they need. Where they need what the host has not, above all
    variables, they come after the program, with all that needs them. Raises `GraphError`: SW0885 for operations that
    must be on the host and are not, SW0898 for loops and branches with such nodes.
    """
    kinds = _Kinds(nodes, library, fed)
    before = kinds.before()
    after = kinds.after(before)
    program = [
        node for node in nodes if node.name not in after and (node.name not in before or node.name in kinds.fixed)
    ]
    program = _needed(program, [*outputs, *(ref for node in nodes if node.name in after for ref in node.inputs)])
    inside = {node.name for node in program}
    given = dict.fromkeys(ref for node in program for ref in node.inputs if ref.node not in inside)
    later = [*outputs, *(ref for node in nodes if node.name in after for ref in node.inputs)]
    wanted = dict.fromkeys(ref for ref in later if ref.node in inside and ref.node not in before)
    first, last = ([node for node in nodes if node.name in part] for part in (before, after))
    _check_capable(last)
    return Stages(first, program, last, list(given), list(wanted))


def _needed(nodes: Sequence[Node], roots: Sequence[Reference]) -> list[Node]:
    """The nodes of a program that something needs, or that change variables."""
    wanted = {ref.node for ref in roots}
    kept: list[Node] = []
    for node in reversed(nodes):
        if node.name in wanted or definitions()[node.op].is_stateful:
            kept.append(node)
            wanted.update(ref.node for ref in node.inputs)
    return kept[::-1]


class _Kinds:
    """What each node needs, one look at each in order."""

    def __init__(self, nodes: Sequence[Node], library: Library, fed: Collection[tuple[str, int]]) -> None:
        self.nodes, self.library = nodes, library
        sources = {name for name, _ in fed}
        self.fixed: set[str] = set()
        """Nodes that need no input and no variable, and that a program has."""
        self.bound: set[str] = set()
        """Nodes that need what only a program has."""
        self.wordy: set[str] = set()
        """Nodes that only the host has."""
        for node in nodes:
            self._look(node, sources)

    def _look(self, node: Node, sources: Collection[str]) -> None:
        needs = [ref.node for ref in node.inputs]
        if not on_host(node.op) or any(name in self.bound for name in needs):
            self.bound.add(node.name)
        due = KNOWN.get(node.op)
        open_size = due is not None and needs[due] not in self.fixed
        if only_on_host(node.op) or _has_texts(node) or open_size:
            if node.op not in UNSEEN:
                self.wordy.add(node.name)
        elif on_host(node.op) and all(name in self.fixed and name not in sources for name in needs):
            self.fixed.add(node.name)
        _check_inside(node, self.library)

    def before(self) -> set[str]:
        """What runs on the host first: nodes that only it has, and what they need."""
        found: set[str] = set()
        for node in reversed(self.nodes):
            if node.name in found or (node.name in self.wordy and node.name not in self.bound):
                found.add(node.name)
                found.update(ref.node for ref in node.inputs)
        return found & {node.name for node in self.nodes}

    def after(self, before: Collection[str]) -> set[str]:
        """What runs on the host last: nodes that only it has and that need the program, and all that needs them."""
        found: set[str] = set()
        for node in self.nodes:
            late = node.name in self.wordy and node.name not in before
            if late or any(ref.node in found for ref in node.inputs):
                found.add(node.name)
        return found


def _has_texts(node: Node) -> bool:
    signature = Signature(node, definitions()[node.op])
    return graph_pb2.DT_STRING in (*signature.input_types, *signature.output_types)


def _check_inside(node: Node, library: Library) -> None:
    """GraphError for a loop or branch that holds what only the host has."""
    waiting, seen = list(library.called_by(node)), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for inner in library.function(name, str(node)).order:
            if only_on_host(inner.op):
                what = f"holds {inner.op}, which runs on the host, and the loop or branch does not"
                raise GraphError("SW0898", f"{node} {what}")
            waiting += library.called_by(inner)


def _check_capable(nodes: Sequence[Node]) -> None:
    for node in nodes:
        if not on_host(node.op) and node.op not in UNSEEN:
            what = "comes after texts or tables that need the program, and the host has no such operation"
            raise GraphError("SW0898", f"{node} {what}")
