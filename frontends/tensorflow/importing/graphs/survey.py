"""What a graph needs, looked at as a whole before anything of it is evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.frontends.tensorflow.importing.graphs.nodes import Library, Node, longest_first
from shardwright.frontends.tensorflow.importing.table import reason, supported

MAX_NODES = 4_000_000
"""The most nodes to which calls of functions may expand."""

MAX_DEPTH = 64
"""The most functions that may be called inside of each other."""


def survey(order: Sequence[Node], library: Library) -> list[Node]:
    """
    All nodes that a graph's outputs need, also in functions, each once.

    Raises `GraphError`: SW0885 with all operations that are not supported; SW0886 for functions that there are not,
    that call themselves, or that expand without end.
    """

    def called_by(node: Node) -> list[str]:
        return library.called_by(node) if supported(node.op) or node.op in library else []

    reached = check_calls(order, library, called_by)
    nodes = [*order, *(node for name in reached for node in library.function(name, name).order)]
    _check_supported(nodes, library)
    return nodes


def check_calls(order: Sequence[Node], library: Library, called_by: Callable[[Node], list[str]]) -> list[str]:
    """
    The functions that nodes call, and those call in turn.

    Raises `GraphError` (SW0886) for functions that there are not, that call themselves, or that are small, and enormous
    once each call is replaced by the function's body.
    """
    calls: dict[str, list[str]] = {}
    waiting = [(name, str(node)) for node in order for name in called_by(node)][::-1]
    while waiting:
        name, wanted_by = waiting.pop()
        if name not in calls:
            inside = library.function(name, wanted_by).order
            found = [(inner, str(node)) for node in inside for inner in called_by(node)]
            calls[name] = [inner for inner, _ in found]
            waiting += reversed(found)
    _check_expansion([name for node in order for name in called_by(node)], len(order), calls, library)
    return list(calls)


def _check_supported(nodes: Sequence[Node], library: Library) -> None:
    first: dict[str, Node] = {}
    missing = [node for node in nodes if not supported(node.op) and node.op not in library]
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


def _check_expansion(first: Sequence[str], own: int, calls: dict[str, list[str]], library: Library) -> None:
    sizes: dict[str, int] = {}
    depths: dict[str, int] = {}
    for name in longest_first(calls, lambda name: list(dict.fromkeys(calls[name]))):
        sizes[name] = len(library.function(name, name).order) + sum(sizes[callee] for callee in calls[name])
        depths[name] = 1 + max((depths[callee] for callee in calls[name]), default=0)
    total = own + sum(sizes[callee] for callee in first)
    if total > MAX_NODES:
        message = f"the graph's calls of functions expand to {total} nodes, and {MAX_NODES} are allowed"
        raise GraphError("SW0886", message)
    deepest = max(depths, key=depths.__getitem__, default="")
    if deepest and depths[deepest] > MAX_DEPTH:
        message = f"functions call each other {depths[deepest]} deep, from {deepest!r} on; {MAX_DEPTH} are allowed"
        raise GraphError("SW0886", message)
