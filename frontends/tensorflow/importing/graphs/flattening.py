"""Calls replaced by what they call, so that a graph with all its functions is one row of nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from shardwright.frontends.tensorflow.importing.attributes import Signature
from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.frontends.tensorflow.importing.graphs.nodes import Library, Node, Reference
from shardwright.frontends.tensorflow.importing.table import definitions

CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def flattened(
    order: Sequence[Node], library: Library, fed: Collection[tuple[str, int]] = ()
) -> tuple[list[Node], dict[Reference, Reference]]:
    """
    The nodes in the order in which they are evaluated, without calls; and where the results of calls come from.

    A node of a function is named after the call: `call/node`. What is `fed` is not looked into.
    """
    flat = _Flat(library, fed)
    flat.add(order, "", {})
    return flat.nodes, flat.results


class _Flat:
    def __init__(self, library: Library, fed: Collection[tuple[str, int]]) -> None:
        self.library, self.fed = library, fed
        self.nodes: list[Node] = []
        self.known: dict[str, Node] = {}
        self.results: dict[Reference, Reference] = {}

    def add(self, order: Sequence[Node], prefix: str, arguments: Mapping[str, Reference]) -> None:
        """Adds the nodes of one graph or function; `arguments` are what the call gave."""
        for node in order:
            inputs = tuple(self.source(ref, prefix, arguments) for ref in node.inputs)
            name = _called(node, self.library)
            if name is None:
                flat = replace(node, name=prefix + node.name, inputs=inputs, controls=(), home="")
                self.nodes.append(flat)
                self.known[flat.name] = flat
            else:
                self._add_call(node, name, prefix, inputs)

    def _add_call(self, node: Node, name: str, prefix: str, inputs: Sequence[Reference]) -> None:
        definition = self.library.function(name, str(node))
        names = definition.body.arguments
        if len(names) != len(inputs):
            given = f"{len(inputs)} arguments to {name!r}, which has {len(names)}"
            raise GraphError("SW0886", f"{node} gives {given}")
        inside = f"{prefix}{node.name}/"
        given_by_name = dict(zip(names, inputs, strict=True))
        self.add(definition.order, inside, given_by_name)
        for place, ref in enumerate(definition.results):
            found = self.source(ref, inside, given_by_name)
            self.results[Reference(prefix + node.name, "", place)] = found
            if node.op in self.library:  # its results have names of their own
                self.results[Reference(prefix + node.name, definition.signature.output_arg[place].name, 0)] = found
            else:
                self.results[Reference(prefix + node.name, "output", place)] = found

    def source(self, ref: Reference, prefix: str, arguments: Mapping[str, Reference]) -> Reference:
        """What a reference of a function means outside of it, by its place among all outputs of its node."""
        if ref.node in arguments and not ref.index:
            return arguments[ref.node]
        outside = replace(ref, node=prefix + ref.node)
        if outside in self.results or not ref.output:
            return self.results.get(outside, outside)
        node = self.known[outside.node]
        return Reference(outside.node, "", Signature(node, definitions()[node.op]).place(ref.output, ref.index))


def _called(node: Node, library: Library) -> str | None:
    if node.op in library:
        return node.op
    if node.op in CALLS and "f" in node.proto.attr:
        return node.proto.attr["f"].func.name
    return None
