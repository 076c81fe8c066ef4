"""Where partial sums are finished, against every way there is."""

import itertools
import random

import pytest

from shardwright.passes.propagation.readers import finishing
from shardwright.passes.propagation.readers.finishing import Sum, finished_ops


def graph(chance: random.Random) -> list[Sum]:
    """Values 0 to 9: some partial of themselves, others made of one or two before them by an op of their number."""
    count = chance.randint(2, 10)
    reads = [chance.sample(range(made), min(made, chance.randint(0, 2))) for made in range(count)]
    takers = [tuple(op for op in range(count) if value in reads[op]) for value in range(count)]
    sums: list[Sum] = []
    for value in range(count):
        flows, own = bool(reads[value]), chance.random() < 0.2
        price = chance.randint(0, 4) if own or not flows else 0
        more = chance.randint(0, 4) if flows else 0
        needed = chance.random() < 0.3
        sums.append(Sum(value if flows else None, price, more, takers[value], flows and not own, needed))
    return sums


def ways(sums: list[Sum]) -> list[set[int]]:
    """Every set of ops that may run on finished operands together."""
    ops = sorted({op for each in sums for op in each.takers})
    picked = (set(pick) for size in range(len(ops) + 1) for pick in itertools.combinations(ops, size))
    return [way for way in picked if all(_holds(each, way) for each in sums)]


def _holds(each: Sum, way: set[int]) -> bool:
    return not (each.handed and each.maker in way) or way.issuperset(each.takers)


def cost(sums: list[Sum], way: set[int]) -> float:
    """What finishing sends: once for each value that is needed finished, by whoever."""
    due = [each for each in sums if each.needed or not way.isdisjoint(each.takers)]
    return sum(each.price + (each.more if each.maker is not None and each.maker not in way else 0) for each in due)


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(150))
def test_no_way_costs_less(seed: int) -> None:
    sums = graph(random.Random(seed))
    found, every = finished_ops(sums), ways(sums)
    assert found in every
    assert cost(sums, found) == min(cost(sums, way) for way in every)


def test_at_an_even_price_the_earliest_is_finished() -> None:
    chain = [Sum(None, 8, 0, (1,)), Sum(1, 0, 8, (2,), handed=True), Sum(2, 0, 8, (), handed=True, needed=True)]
    assert finished_ops(chain) == {1, 2}
    assert finished_ops([Sum(None, 9, 0, (1,)), *chain[1:]]) == {2}


def test_what_nobody_needs_stays_partial() -> None:
    assert finished_ops([Sum(None, 8, 0, (1,)), Sum(1, 0, 8, (), handed=True)]) == set()


def test_a_loop_carries_a_partial_sum_if_nobody_inside_needs_it_finished() -> None:
    # Op 2 adds what op 1 leaves partial, in each of four rounds, to what op 3 carries.
    added, summed = Sum(None, 32, 0, (2,)), Sum(2, 0, 32, (3,), handed=True)
    assert finished_ops([added, summed, Sum(3, 0, 8, (2,), handed=True, needed=True, kept=(2,))]) == set()
    broken = Sum(3, 0, 8, (2,), handed=True, needed=True, kept=(2,), broken=True)
    assert finished_ops([added, summed, broken]) == {2, 3}


def test_equal_parts_are_cut_once() -> None:
    """Layers repeat themselves: what is decided for the sums of one is decided for those of all."""

    def layer(op: int) -> list[Sum]:
        one, other = Sum(None, 8, 0, (op,)), Sum(None, 8, 0, (op,))
        return [one, other, Sum(op, 0, 8, (), handed=True, needed=True)]

    finishing._finished_side.cache_clear()
    assert finished_ops(each for op in range(50) for each in layer(op)) == set()
    assert finishing._finished_side.cache_info().misses == 1
