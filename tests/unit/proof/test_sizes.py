"""Sizes that shrink: what holds between them before holds after, whatever was asked."""

from __future__ import annotations

import math
import random

import pytest

from shardwright.proof.sizes import Count, Sizes


def test_a_product_stays_one_in_whatever_ways_it_is_written() -> None:
    sizes = Sizes()
    for left, right in [([768], [12, 64]), ([768], [6, 128]), ([36, 64], [Count(3), 768]), ([2048, 768], [1536, 1024])]:
        sizes.product(left, right)
    found = sizes.solve([36, 2048, 1536, 1024])
    assert found[768] == found[12] * found[64] == found[6] * found[128]
    assert found[36] * found[64] == 3 * found[768]
    assert found[2048] * found[768] == found[1536] * found[1024]
    assert all(2 <= new <= old for old, new in found.items() if old >= 2)
    assert found[768] < 768


def test_a_sum_stays_one_and_falls_into_the_parts_that_are_asked_for() -> None:
    sizes = Sizes()
    sizes.sum(6144, [4096, 1024, 1024])
    sizes.sum(4096, [1, 4095])
    sizes.divisible(6144, 4)
    found = sizes.solve([])
    assert found[6144] == found[4096] + 2 * found[1024]
    assert found[4096] == found[4095] + 1
    assert found[6144] % 4 == 0
    assert found[6144] < 6144


def test_equal_parts_are_a_multiple() -> None:
    sizes = Sizes()
    sizes.sum(2304, [768, 768, 768])
    assert (found := sizes.solve([]))[2304] == 3 * found[768] < 2304


def test_what_stays_stays_with_its_factors() -> None:
    sizes = Sizes()
    sizes.pin(768)
    sizes.product([768], [12, 64])
    assert sizes.solve([])[64] == 64


def test_a_smaller_size_stays_smaller() -> None:
    sizes = Sizes()
    sizes.divisible(100, 8)
    sizes.below(100, 1000)
    found = sizes.solve([])
    assert found[100] < found[1000]


def test_free_sizes_differ_so_that_exchanged_dims_are_told_apart() -> None:
    wanted = [1 << power for power in range(4, 10)]
    found = Sizes().solve(wanted)
    assert len({found[size] for size in wanted}) == len(wanted)
    assert any(found[size] % 2 for size in wanted)


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(40))
def test_random_systems_hold(seed: int) -> None:
    """Equations that hold of the sizes hold of what these become, and so do parts and orders."""
    draw = random.Random(seed)
    sizes, products, sums, parts, orders = Sizes(), [], [], [], []
    for _ in range(draw.randint(1, 8)):
        factors = [draw.choice([2, 3, 4, 6, 8, 12, 16, 64, 100]) for _ in range(draw.randint(2, 3))]
        products.append((math.prod(factors), factors))
        terms = [draw.choice([1, 2, 5, 16, 63, 64, 100]) for _ in range(draw.randint(2, 3))]
        sums.append((sum(terms), terms))
        size = draw.choice([16, 64, 96, 384])
        parts.append((size, draw.choice([2, 4, 8])))
        orders.append(tuple(sorted(draw.sample([5, 16, 63, 64, 100, 384], 2))))
    for whole, factors in products:
        sizes.product([whole], factors)
    for whole, terms in sums:
        sizes.sum(whole, terms)
    for size, count in parts:
        sizes.divisible(size, count)
    for smaller, larger in orders:
        sizes.below(smaller, larger)
    found = sizes.solve([1])
    assert all(found[whole] == math.prod(found[factor] for factor in factors) for whole, factors in products)
    assert all(found[whole] == sum(found[term] for term in terms) for whole, terms in sums)
    assert all(found[size] % count == 0 for size, count in parts)
    assert all(found[smaller] < found[larger] for smaller, larger in orders)
    assert all(min(old, 2) <= new <= old for old, new in found.items())
