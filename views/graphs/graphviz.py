"""A program as text of Graphviz's language, with layouts on the edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shardwright.views.graphs.nodes import Node

COLLECTIVE, PLAIN = 'shape=box style=filled fillcolor="#ffd9b3"', "shape=box"


def graphviz_text(nodes: Sequence[Node]) -> str:
    """
    The text that `dot` draws: collectives are filled, edges say types with layouts, scopes are boxes around nodes.

    >>> print(graphviz_text([Node("n0", "%a", outputs=["f32[8@x]"])]))
    digraph program {
      rankdir=TB;
      n0 [label="%a" shape=box];
    }
    """
    lines = ["digraph program {", "  rankdir=TB;"]
    for number, (scopes, inside) in enumerate(_by_scopes(nodes).items()):
        statements = [_node(node) for node in inside]
        if scopes:
            label = _quoted("/".join(scopes))
            statements = [
                f"subgraph cluster_{number} {{",
                f"  label={label};",
                *(f"  {each}" for each in statements),
                "}",
            ]
        lines += [f"  {statement}" for statement in statements]
    lines += [f"  {edge}" for node in nodes for edge in _edges(node)]
    return "\n".join([*lines, "}"])


def _by_scopes(nodes: Sequence[Node]) -> dict[tuple[str, ...], list[Node]]:
    found: dict[tuple[str, ...], list[Node]] = {}
    for node in nodes:
        found.setdefault(node.scopes, []).append(node)
    return found


def _node(node: Node) -> str:
    sent = node.attributes.get("bytes per device")
    label = node.label if sent is None else f"{node.label}\n{sent} bytes"
    return f"{node.id} [label={_quoted(label)} {PLAIN if node.collective is None else COLLECTIVE}];"


def _edges(node: Node) -> Iterator[str]:
    for edge in node.takes:
        yield f"{edge.source} -> {node.id} [label={_quoted(edge.type)}];"


def _quoted(text: str) -> str:
    """
    Text as Graphviz reads it, whatever is in it.

    >>> print(_quoted('p["w"]'))
    "p[\\"w\\"]"
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
