"""A planned program as plain nodes and edges: what every drawing of it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from shardwright.compiler.report import CollectiveRow, collectives_with_rows, shown, value_name
from shardwright.dialects.text.locations import where
from shardwright.dialects.text.scopes import scopes_of
from shardwright.passes.program import entry_function


@dataclass(frozen=True)
class Edge:
    """What a node takes: output `output` of node `source`, a tensor of type `type` with its layout."""

    source: str
    output: int
    type: str


@dataclass
class Node:
    """
    An argument, an op, or the results of a program.

    `scopes` are those in which it was written, from the outermost; `outputs` the types that it gives, with layouts;
    `collective` says what it sends, if it does.
    """

    id: str
    label: str
    scopes: tuple[str, ...] = ()
    takes: list[Edge] = field(default_factory=list[Edge])
    outputs: list[str] = field(default_factory=list[str])
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    collective: CollectiveRow | None = None


def nodes_of(planned: ModuleOp) -> list[Node]:
    """The nodes of a planned program, each after those from which it takes; bodies of loops and branches among them."""
    return list(_Graph(planned).nodes())


class _Graph:
    def __init__(self, planned: ModuleOp) -> None:
        self.function = entry_function(planned)
        self.rows: dict[Operation, CollectiveRow] = dict(collectives_with_rows(planned))
        self.places: dict[SSAValue, tuple[str, int]] = {}
        self.ids = (f"n{number}" for number in count())

    def nodes(self) -> Iterator[Node]:
        for argument in self.function.args:
            yield self._argument(argument, ())
        yield from self._inside(self.function, ())

    def _argument(self, argument: BlockArgument, scopes: tuple[str, ...]) -> Node:
        node = Node(next(self.ids), value_name(argument), scopes, outputs=[shown(argument)])
        self.places[argument] = node.id, 0
        return node

    def _inside(self, owner: Operation, scopes: tuple[str, ...]) -> Iterator[Node]:
        for op in (op for region in owner.regions for block in region.blocks for op in block.ops):
            if _has_body(op):
                inner = (*scopes, f"{_label(op)} {next(self.ids)}")
                arguments = [each for region in op.regions for block in region.blocks for each in block.args]
                yield from [self._argument(each, inner) for each in arguments]
                yield from self._inside(op, inner)
            yield self._node(op, scopes or scopes_of(op.location))

    def _node(self, op: Operation, scopes: tuple[str, ...]) -> Node:
        node = Node(next(self.ids), _label(op), scopes, outputs=[shown(result) for result in op.results])
        for operand in op.operands:
            source, output = self.places[operand]
            node.takes.append(Edge(source, output, shown(operand)))
        for number, result in enumerate(op.results):
            self.places[result] = node.id, number
        place = where(op)
        node.attributes = {} if place is None else {"written at": str(place)}
        node.collective = self.rows.get(op)
        if node.collective is not None:
            sent = node.collective.plain_bytes
            node.attributes["bytes per device"] = "unknown" if sent is None else str(sent)
            node.attributes["because"] = "; ".join(reason.text for reason in node.collective.reasons)
        return node


def _has_body(op: Operation) -> bool:
    """Whether an op's regions are worth drawing: those of loops and branches, not what a reduction does with two."""
    return bool(op.regions) and op.name in ("stablehlo.while", "stablehlo.case", "stablehlo.if")


def _label(op: Operation) -> str:
    return "results" if isinstance(op, ReturnOp) and isinstance(op.parent_op(), FuncOp) else op.name.partition(".")[2]
