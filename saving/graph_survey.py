"""What a graph needs, looked at as a whole before anything of it is evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from shardwright.saving.graph_faults import GraphError
from shardwright.saving.graph_nodes import Library, Node, longest_first
from shardwright.saving.graph_table import ROWS, reason

MAX_NODES = 10_000_000
"""The most nodes to which calls of functions may expand."""

MAX_DEPTH = 64
"""The most functions that may be called inside of each other."""


def survey(order: Sequence[Node], library: Library) -> list[Node]:
    """
    All nodes that a graph's outputs need, also in functions, each once.

    Raises `GraphError`: SW0885 with all operations that are not supported; SW0886 for functions that there are not,
    that call themselves, or that expand without end.
    """
    reached: dict[str, None] = {}
    nodes = list(order)
    waiting = _called(order, library)
    while waiting:
        name, wanted_by = waiting.pop()
        if name not in reached:
            reached[name] = None
            inner = library.function(name, wanted_by).order
            nodes += inner
            waiting += _called(inner, library)
    _check_supported(nodes, library)
    _check_expansion(order, library, list(reached))
    return nodes


def _called(order: Sequence[Node], library: Library) -> list[tuple[str, str]]:
    return [(name, str(node)) for node in order for name in _functions(node, library)][::-1]


def _functions(node: Node, library: Library) -> list[str]:
    return library.called_by(node) if node.op in ROWS or node.op in library else []


def _check_supported(nodes: Sequence[Node], library: Library) -> None:
    first: dict[str, Node] = {}
    missing = [node for node in nodes if node.op not in ROWS and node.op not in library]
    for node in missing:
        first.setdefault(node.op, node)
    if first:
        counts = Counter(node.op for node in missing)
        what = "an operation that is" if len(first) == 1 else f"{len(first)} operations that are"
        notes = (_described(op, counts[op], first[op]) for op in sorted(first))
        raise GraphError("SW0885", f"the graph has {what} not supported: {', '.join(sorted(first))}", *notes)


def _described(op: str, count: int, node: Node) -> str:
    place = f" of function {node.home!r}" if node.home else ""
    times = "once, in" if count == 1 else f"{count} times, first in"
    why = reason(op)
    return f"{op}: {times} node {node.name!r}{place}{f': {why}' if why else ''}"


def _check_expansion(order: Sequence[Node], library: Library, functions: Sequence[str]) -> None:
    """GraphError (SW0886) for graphs that are small, and enormous once each call is replaced by the function's body."""

    def inner(name: str) -> Iterator[str]:
        return (callee for node in library.function(name, name).order for callee in _functions(node, library))

    sizes: dict[str, int] = {}
    depths: dict[str, int] = {}
    for name in longest_first(functions, lambda name: list(dict.fromkeys(inner(name)))):
        callees = list(inner(name))
        sizes[name] = len(library.function(name, name).order) + sum(sizes[callee] for callee in callees)
        depths[name] = 1 + max((depths[callee] for callee in callees), default=0)
    total = len(order) + sum(sizes[callee] for node in order for callee in _functions(node, library))
    if total > MAX_NODES:
        raise GraphError(
            "SW0886", f"the graph's calls of functions expand to {total} nodes, and {MAX_NODES} are allowed"
        )
    deepest = max(depths, key=depths.__getitem__, default="")
    if deepest and depths[deepest] > MAX_DEPTH:
        raise GraphError(
            "SW0886", f"functions call each other {depths[deepest]} deep, from {deepest!r} on; {MAX_DEPTH} are allowed"
        )
