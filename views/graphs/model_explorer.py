"""
A program as Model Explorer reads it, with layouts and what is sent as overlays.

The format is that tool's own JSON ("graph collections"): nodes with `incomingEdges`, `attrs`, `outputsMetadata`, and a
`namespace` by which layers fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shardwright.views.graphs.nodes import Node


def model_explorer_data(nodes: Sequence[Node], name: str) -> dict[str, Any]:
    """
    One collection with one graph.

    >>> data = model_explorer_data([Node("n0", "%a", ("layer",), outputs=["f32[8@x]"])], "model.mlir")
    >>> data["graphs"][0]["nodes"][0]["namespace"]
    'layer'
    """
    return {"label": name, "graphs": [{"id": "main", "nodes": [_node(node) for node in nodes]}]}


def _node(node: Node) -> dict[str, Any]:
    style = {} if node.collective is None else {"style": {"backgroundColor": "#ffd9b3"}}
    return {
        "id": node.id,
        "label": node.label,
        "namespace": "/".join(scope.replace("/", "|") for scope in node.scopes),
        "attrs": _pairs(node.attributes),
        "incomingEdges": [
            {"sourceNodeId": edge.source, "sourceNodeOutputId": str(edge.output), "targetNodeInputId": str(number)}
            for number, edge in enumerate(node.takes)
        ],
        "outputsMetadata": [
            {"id": str(number), "attrs": _pairs({"tensor_shape": type})} for number, type in enumerate(node.outputs)
        ],
        **style,
    }


def _pairs(attributes: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in attributes.items()]
