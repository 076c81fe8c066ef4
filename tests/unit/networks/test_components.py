"""What is tied together, next to networkx."""

from __future__ import annotations

from random import Random

import networkx

from shardwright.networks.components import Components


def test_they_are_those_of_networkx() -> None:
    draw = Random(0)
    for count in range(1, 40):
        pairs = [(draw.randrange(count), draw.randrange(count)) for _ in range(draw.randrange(count))]
        tied, graph = Components(range(count)), networkx.Graph(pairs)
        graph.add_nodes_from(range(count))
        for pair in pairs:
            tied.tie(*pair)
        expected = sorted(map(sorted, networkx.connected_components(graph)))
        assert tied.sets() == expected


def test_who_was_no_member_is_one_once_tied() -> None:
    tied = Components("ba")
    tied.tie("d", "c", "b")
    tied.tie("e")
    assert tied.sets() == [["b", "d", "c"], ["a"], ["e"]]
