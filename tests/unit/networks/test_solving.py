"""Cost networks: brute force agrees, bounds hold, and the same network always has the same solution."""

import itertools
import math
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest

from shardwright.networks import Memory, Network, programming, solve
from shardwright.networks.elimination import Elimination
from shardwright.networks.messages import Messages
from shardwright.networks.search import search
from shardwright.networks.solving import eliminated

INF = math.inf


def random_network(generator: np.random.Generator, *, memory: bool, most_nodes: int = 7) -> Network:
    """A few nodes with up to three choices, half of the edges, a tenth of the pairs forbidden."""
    count = int(generator.integers(1, most_nodes + 1))
    sizes = generator.integers(1, 4, count)
    edges = []
    for a, b in itertools.permutations(range(count), 2):
        if generator.random() < 0.5:
            matrix = generator.integers(0, 20, (sizes[a], sizes[b])).astype(float)
            matrix[generator.random(matrix.shape) < 0.1] = INF
            edges.append(((a, b), matrix))
    limit = None
    if memory:
        usages = tuple(generator.integers(0, 10, size).astype(float) for size in sizes)
        starts = generator.integers(0, 5, count)
        lives = tuple((int(start), int(start + generator.integers(0, 4))) for start in starts)
        limit = Memory(float(generator.integers(5, 25)), usages, lives)
    return Network.build([generator.integers(0, 20, size) for size in sizes], edges, limit)


def least(network: Network) -> float:
    """By trying all choices."""
    everything = itertools.product(*(range(len(cost)) for cost in network.costs))
    return min((network.value(choices) for choices in everything if network.fits(choices)), default=INF)


def grid(rows: int, columns: int, generator: np.random.Generator, choices: int = 3) -> Network:
    """Nodes in rows and columns, each with an edge to the next one in both."""
    at = np.arange(rows * columns).reshape(rows, columns)
    pairs = [*zip(at[:, :-1].flat, at[:, 1:].flat, strict=True), *zip(at[:-1].flat, at[1:].flat, strict=True)]
    edges = [((int(a), int(b)), generator.integers(0, 50, (choices, choices))) for a, b in pairs]
    return Network.build([generator.integers(0, 50, choices) for _ in range(at.size)], edges)


@pytest.mark.every(3)
@pytest.mark.parametrize("memory", [False, True], ids=["", "memory"])
@pytest.mark.parametrize("seed", range(4))
def test_brute_force_agrees(seed: int, memory: bool) -> None:
    generator = np.random.default_rng(seed)
    for _ in range(40):
        network = random_network(generator, memory=memory)
        solution, best = solve(network), least(network)
        assert solution.proved
        assert solution.gap == 0
        assert solution.value == solution.bound == best
        if math.isinf(best):
            assert solution.choices is None
        else:
            assert solution.choices is not None
            assert network.value(solution.choices) == best
            assert network.fits(solution.choices)


@pytest.mark.parametrize(
    ("limit", "unit"), [(None, 2.0**-10), (None, 2.0**30), (0.0, 1.0)], ids=["parts", "GiB", "none"]
)
def test_limits_of_any_size_are_kept(limit: float | None, unit: float) -> None:
    generator = np.random.default_rng(0)
    for _ in range(40):
        network = random_network(generator, memory=True)
        assert network.memory is not None
        usages = tuple(usage * unit for usage in network.memory.usages)
        most = network.memory.limit * unit if limit is None else limit
        network = replace(network, memory=Memory(most, usages, network.memory.lives))
        with warnings.catch_warnings(action="error"):
            solution = solve(network)
        assert solution.proved
        assert solution.value == least(network)


def test_without_scipy_the_answer_is_allowed_and_the_bound_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programming, "find_spec", lambda name: None)
    generator, proved = np.random.default_rng(0), 0
    for _ in range(60):
        network = random_network(generator, memory=True)
        solution, best = solve(network), least(network)
        assert solution.bound <= best + 1e-9
        assert solution.value >= best
        assert solution.choices is None or network.fits(solution.choices)
        proved += solution.proved
    # Where the limit does not bind; most of the others are solved as well, but that is not known.
    assert proved >= 20


def test_a_narrow_network_is_solved_by_elimination_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows of two hundred nodes: 3 ** 600 choices, and no table has more than 81 entries."""
    network = grid(3, 200, np.random.default_rng(1))
    found, rest = eliminated(network, 60_000)
    assert not found.tables
    assert rest.costs == ()
    solution = solve(network)
    assert solution.proved
    # Column by column is another way to the same sum.
    assert solution.value == by_columns(network, 3, 200)


def by_columns(network: Network, rows: int, columns: int) -> float:
    """The least of a grid, column after column: the sum so far for all choices of the last one."""
    at = np.arange(rows * columns).reshape(rows, columns)
    states = list(itertools.product(range(3), repeat=rows))

    def inside(column: int, state: tuple[int, ...]) -> float:
        alone = sum(network.costs[at[row, column]][state[row]] for row in range(rows))
        return alone + sum(
            network.edges[int(at[row, column]), int(at[row + 1, column])][state[row], state[row + 1]]
            for row in range(rows - 1)
        )

    sums = {state: inside(0, state) for state in states}
    for column in range(1, columns):
        ways = [network.edges[int(at[row, column - 1]), int(at[row, column])] for row in range(rows)]
        sums = {
            state: inside(column, state)
            + min(
                value + sum(way[a, b] for way, a, b in zip(ways, before, state, strict=True))
                for before, value in sums.items()
            )
            for state in states
        }
    return float(min(sums.values()))


def test_the_bound_of_messages_holds_and_never_falls() -> None:
    generator = np.random.default_rng(2)
    for _ in range(30):
        network = random_network(generator, memory=False)
        messages, best = Messages(network, 1000.0), least(network)
        bounds = [messages.bound(), *(messages.sweep() for _ in range(8))]
        assert all(after >= before - 1e-9 for before, after in itertools.pairwise(bounds))
        assert bounds[-1] <= best + 1e-9


def test_on_a_tree_messages_reach_the_optimum() -> None:
    generator = np.random.default_rng(3)
    edges = [((int(generator.integers(0, node)), node), generator.integers(0, 99, (4, 4))) for node in range(1, 40)]
    network = Network.build([generator.integers(0, 99, 4) for _ in range(40)], edges)
    messages = Messages(network, 1e6)
    assert [messages.sweep() for _ in range(30)][-1] == pytest.approx(solve(network).value)
    assert network.value(messages.decode()) == solve(network).value


def test_a_wide_network_has_a_good_answer_and_a_bound() -> None:
    network = grid(12, 12, np.random.default_rng(4))
    found = search(network, time.monotonic() + 60, rounds=20)
    exact = solve(network)
    assert exact.proved
    assert found.bound <= exact.value <= found.value
    assert found.gap < 0.02
    again = search(network, time.monotonic() + 60, rounds=20)
    assert again == found


def test_a_choice_that_is_never_better_goes() -> None:
    network = Network.build([[1, 2, 0], [0, 0]], [((0, 1), [[0, 4], [1, 4], [9, 0]])])
    elimination = Elimination(network)
    assert elimination.drop_dominated()
    assert elimination.kept[0].tolist() == [0, 2]
    # With less memory it may be needed.
    elimination = Elimination(network)
    assert not elimination.drop_dominated([np.array([5.0, 1.0, 5.0]), np.zeros(2)])


def test_what_may_not_be_chosen_is_not() -> None:
    network = Network.build([[0, 5], [0, 7]], [((0, 1), [[INF, INF], [INF, 0]])])
    assert solve(network).choices == (1, 1)
    nothing = solve(Network.build([[0], [0]], [((0, 1), [[INF]])]))
    assert (nothing.choices, nothing.value, nothing.proved) == (None, INF, True)


def test_edges_add_up_and_one_to_itself_belongs_to_its_node() -> None:
    network = Network.build([[0, 0], [0, 0]], [((1, 0), [[1, 2], [3, 4]]), ((0, 1), [[10, 20], [30, 40]])])
    assert network.edges[0, 1].tolist() == [[11, 23], [32, 44]]
    assert Network.build([[1, 1]], [((0, 0), [[5, 9], [9, 6]])]).costs[0].tolist() == [6, 7]


def test_memory_is_what_lives_at_a_time() -> None:
    memory = Memory(
        7, (np.array([3.0]), np.array([4.0]), np.array([5.0]), np.array([9.0])), ((0, 2), (1, 3), (2, 4), (3, 3))
    )
    assert memory.profile([0, 0, 0, 0]).tolist() == [3, 7, 9, 5]
    assert memory.peak([0, 0, 0, 0]) == 9
    # At time 1 the first two live, at 2 the second and the third; before and after, less of the same does.
    assert memory.moments() == [1, 2]
