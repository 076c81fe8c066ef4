"""The JSON of the IOPDDL contest (ASPLOS and EuroSys 2025, github.com/google/iopddl) as a network."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from shardwright.diagnostics.faults import value_error
from shardwright.networks.network import Costs, Memory, Network

__all__ = ["FORBIDDEN", "read_instance"]

FORBIDDEN = 10**18
"""From this cost on a choice, or a pair of choices, must not be taken."""


def read_instance(text: str) -> Network:
    """
    The network that a text describes.

    Raises `ValueError` (SW0740) where it is none, with the place in the data.

    >>> text = '{"problem": {"nodes": {"costs": [[1, 2], [0]]}, "edges": {"nodes": [[0, 1]], "costs": [[5, 3]]}}}'
    >>> read_instance(text).value([1, 0])
    5.0
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        _fail("the text", f"is no JSON: {error}")
    problem = _member(data, "problem", dict, "the text")
    nodes = _member(problem, "nodes", dict, "problem")
    costs = [_costs(each, f"nodes.costs[{at}]") for at, each in enumerate(_member(nodes, "costs", list, "nodes"))]
    edges = _edges(problem.get("edges", {"nodes": [], "costs": []}), [len(each) for each in costs])
    limit = problem.get("usage_limit")
    return Network.build(costs, edges, None if limit is None else _memory(nodes, limit, costs))


def _edges(data: Any, counts: Sequence[int]) -> list[tuple[tuple[int, int], Costs]]:
    ends = _member(data, "nodes", list, "edges")
    costs = _member(data, "costs", list, "edges", len(ends))
    found: list[tuple[tuple[int, int], Costs]] = []
    for at, (pair, each) in enumerate(zip(ends, costs, strict=True)):
        place = f"edges.nodes[{at}]"
        if not isinstance(pair, list) or len(pair) != 2:
            _fail(place, "is no list of two nodes")
        for node in pair:
            if not isinstance(node, int) or not 0 <= node < len(counts):
                _fail(place, f"names {json.dumps(node)}, and nodes are 0 to {len(counts) - 1}")
        a, b = pair
        matrix = _costs(each, f"edges.costs[{at}]", counts[a] * counts[b])
        found.append(((a, b), matrix.reshape(counts[a], counts[b])))
    return found


def _memory(nodes: dict[str, Any], limit: Any, costs: Sequence[Costs]) -> Memory:
    if not isinstance(limit, int | float) or not 0 <= limit < math.inf:
        _fail("usage_limit", "is no number from 0 on")
    usages = [
        _costs(each, f"nodes.usages[{at}]", len(costs[at]))
        for at, each in enumerate(_member(nodes, "usages", list, "nodes", len(costs)))
    ]
    lives: list[tuple[int, int]] = []
    for at, each in enumerate(_member(nodes, "intervals", list, "nodes", len(costs))):
        if not (
            isinstance(each, list) and len(each) == 2 and all(isinstance(time, int) and time >= 0 for time in each)
        ):
            _fail(f"nodes.intervals[{at}]", "is no list of two times, whole numbers from 0 on")
        lives.append((each[0], max(each)))
    # Only the order of times matters, and there may be few of them up to any number.
    times = {time: number for number, time in enumerate(sorted({time for life in lives for time in life}))}
    return Memory(float(limit), tuple(usages), tuple((times[start], times[end]) for start, end in lives))


def _costs(data: Any, place: str, count: int | None = None) -> Costs:
    """Numbers, of which none is negative."""
    if not isinstance(data, list) or not data:
        _fail(place, "is no list of numbers")
    if count is not None and len(data) != count:
        _fail(place, f"has {len(data)} numbers instead of {count}")
    for number in data:
        if not isinstance(number, int | float) or isinstance(number, bool) or not number >= 0:
            _fail(place, f"has {json.dumps(number)}, which is no number from 0 on")
    return np.array([math.inf if number >= FORBIDDEN else float(number) for number in data])


def _member(data: Any, name: str, kind: type, place: str, count: int | None = None) -> Any:
    found = data.get(name) if isinstance(data, dict) else None
    if found is None or not isinstance(found, kind):
        _fail(place, f"has no {'object' if kind is dict else 'list'} '{name}'")
    if count is not None and len(found) != count:
        _fail(f"{place}.{name}", f"has {len(found)} items instead of {count}")
    return found


def _fail(place: str, what: str) -> NoReturn:
    raise value_error(
        "SW0740", f"{place} {what}", help="write the JSON of the IOPDDL contest: a problem with nodes and edges"
    )
