"""Loops that halve a range of a split row: the first elements of parts tell in which one each ends."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from harness import Array, partitioned, run

import shardwright as sw
from shardwright.compiler.report import predicted_bytes
from shardwright.dialects.stablehlo import WhileOp
from shardwright.passes.stages import MESSAGE_BYTES

COUNT = 64


def program(
    row: str = '[{"x"}]', queries: str = "[{}]", size: int = COUNT, number: int = 12, rounds: int = 0, **changed: str
) -> str:
    """What `jnp.searchsorted` is: `rounds` times `low, high` become `low, middle` or `middle, high`."""
    words = {"mesh": '"x"=4, "y"=2', "taken": "%low, %4", "half": "%3", "also": "", "query": "%q"} | changed
    shape = f"{number}xi32" if number else "i32"
    kind, truth = f"tensor<{shape}>", f"tensor<{shape[:-2]}1>"
    places = f"tensor<{number}x1xi32>" if number else "tensor<1xi32>"
    numbers = f"collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = {int(number > 0)}"
    queries = queries if number else "[]"
    return f"""
sdy.mesh @mesh = <[{words["mesh"]}]>
func.func public @main(
    %a: tensor<{size}xi32> {{sdy.sharding = #sdy.sharding<@mesh, {row}>}},
    %q: {kind} {{sdy.sharding = #sdy.sharding<@mesh, {queries}>}}
  ) -> ({kind} {{sdy.sharding = #sdy.sharding<@mesh, {queries}>}}) {{
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<{rounds or size.bit_length()}> : tensor<i32>
  %two = stablehlo.constant dense<2> : {kind}
  %zero = stablehlo.constant dense<0> : {kind}
  %all = stablehlo.constant dense<{size}> : {kind}
  {words["also"]}
  %0:3 = stablehlo.while(%i = %c, %low = %zero, %high = %all) : tensor<i32>, {kind}, {kind}
  cond {{
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
    %2 = stablehlo.subtract %high, %low : {kind}
    %3 = stablehlo.divide %2, %two : {kind}
    %4 = stablehlo.add %low, {words["half"]} : {kind}
    %5 = stablehlo.reshape %4 : ({kind}) -> {places}
    %6 = "stablehlo.gather"(%a, %5) <{{dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = array<i64: 1>}}>
        : (tensor<{size}xi32>, {places}) -> {kind}
    %7 = stablehlo.compare LE, {words["query"]}, %6 : ({kind}, {kind}) -> {truth}
    %8 = stablehlo.select %7, {words["taken"]} : {truth}, {kind}
    %9 = stablehlo.select %7, %4, %high : {truth}, {kind}
    %10 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %10, %8, %9 : tensor<i32>, {kind}, {kind}
  }}
  return %0#2 : {kind}
}}
"""


def searched(row: Array, queries: Array, rounds: int) -> Array:
    """The loop, one query after the other."""
    found = np.zeros(queries.shape, np.int32)
    for at, query in np.ndenumerate(queries):
        low, high = 0, len(row)
        for _ in range(rounds):
            middle = low + (high - low) // 2
            low, high = (low, middle) if query <= row[middle] else (middle, high)
        found[at] = high
    return found


def draw(size: int, number: int, seed: int = 0) -> list[Array]:
    random = np.random.default_rng(seed)
    return [random.integers(-50, 50, shape).astype(np.int32) for shape in (size, number or ())]


@pytest.mark.parametrize("number", [12, 0])
@pytest.mark.parametrize("rounds", [2, 7, 9])
def test_each_element_is_read_that_the_loop_would_read(rounds: int, number: int) -> None:
    """In whatever order the row is, and however often the range is halved."""
    row, queries = draw(COUNT, number, rounds)
    for given in (row, np.sort(row)):
        ran = run(program(number=number, rounds=rounds), [given, queries])
        np.testing.assert_array_equal(ran.results[0], searched(given, queries, rounds))
    np.testing.assert_array_equal(searched(np.sort(row), queries, 7), np.searchsorted(np.sort(row), queries))


def test_one_element_of_each_part_is_sent_and_one_sum() -> None:
    ran = run(program(size=1024), draw(1024, 12))
    assert ran.predicted == 3 * 4 + 2 * Fraction(3, 4) * 12 * 4
    assert ran.executable.ledger.messages == 2


def test_queries_may_be_split_by_other_axes() -> None:
    row, queries = draw(1024, 12)
    ran = run(program(size=1024, queries='[{"y"}]'), [row, queries])
    assert ran.predicted == 3 * 4 + 2 * Fraction(3, 4) * 6 * 4
    np.testing.assert_array_equal(ran.results[0], searched(row, queries, 11))


UNLIKE = {
    "each device has queries of its own": {"queries": '[{"x"}]', "number": 256, "size": 4096},
    "few elements": {"size": 16},
    "no power of two of parts": {"mesh": '"x"=3, "y"=2', "size": 960},
    "another range": {"taken": "%low, %3"},
    "another middle": {"half": "%2"},
}


@pytest.mark.parametrize("name", UNLIKE)
def test_other_loops_stay(name: str) -> None:
    """Or are what sends less."""
    planned, _ = partitioned(program(**UNLIKE[name]))  # pyright: ignore[reportArgumentType]
    assert sum(isinstance(op, WhileOp) for op in planned.walk()) == 1


def test_a_message_may_weigh_more_than_it_saves() -> None:
    text = program()
    heavy = f"module attributes {{{MESSAGE_BYTES} = 256 : i64}} {{{text}}}"
    assert predicted_bytes(partitioned(text)[0]) == 3 * 4 + 2 * Fraction(3, 4) * 12 * 4
    assert predicted_bytes(partitioned(heavy)[0]) == 3 * 16 * 4


def test_queries_may_be_sums_that_are_to_be_finished() -> None:
    """Parts of a sum are compared with nothing."""
    also = """%w = stablehlo.iota dim = 0 : tensor<12x1024xi32>
  %sum = stablehlo.dot_general %w, %a, contracting_dims = [1] x [0]
      : (tensor<12x1024xi32>, tensor<1024xi32>) -> tensor<12xi32>"""
    row, queries = draw(1024, 12)
    row[0] -= row.sum() - 3
    ran = run(program(size=1024, also=also, query="%sum"), [row, queries])
    np.testing.assert_array_equal(ran.results[0], searched(row, 3 * np.arange(12), 11))
    assert sum(isinstance(op, WhileOp) for op in ran.planned.walk()) == 2


def test_our_own_search_is_one() -> None:
    """`searchsorted`, on both sides of equal elements, of a row with NaNs at its end."""
    row, queries = (np.float32(values) for values in draw(1024, 12))
    row[:3] = np.nan
    x = sw.relayout(np.sort(row), sw.Layout(["x"], sw.Mesh(x=4)))
    for side in ("left", "right"):
        search = sw.function(partial(sw.searchsorted, side=side))
        np.testing.assert_array_equal(search(x, queries), np.searchsorted(np.sort(row), queries, side))
        assert search.trace(x, queries).partition().predicted_bytes == 3 * 4 + 2 * Fraction(3, 4) * 12 * 4


@pytest.mark.parametrize("weight", [0, 4096])
def test_first_elements_are_sent_once_for_all_searches_of_a_loop(weight: int) -> None:
    """Whether the row would be looked up in each round of each search, or be gathered in front of the loop."""
    row, queries = np.sort(draw(1 << 14, 0)[0]), draw(1, 60)[1].reshape(5, 12)
    x = sw.relayout(row, sw.Layout(["x"], sw.Mesh(x=4)))
    search = sw.function(lambda a, q: sw.scan(lambda none, one: (none, sw.searchsorted(a, one)), np.int32(0), q)[1])
    partitioned = search.trace(x, queries).weigh_messages(weight).partition()
    assert partitioned.predicted_bytes == 3 * 4 + 5 * 2 * Fraction(3, 4) * 12 * 4
    np.testing.assert_array_equal(search(x, queries), np.searchsorted(row, queries))
