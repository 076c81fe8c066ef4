"""Rows whose sizes and prices are worked out, by closed forms."""

from __future__ import annotations

import pytest

from shardwright.layout.planning.window import Window
from shardwright.rules.families.gathering import Meeting
from shardwright.rules.families.linear_algebra import _product_rule
from shardwright.rules.rule import PASS, REPLICATE, factor_names
from shardwright.rules.windows.moves import WindowExpansion


def test_a_dim_with_room_is_shared_out() -> None:
    meeting = Meeting((6, 8), (None, 0))
    # Four devices: 6 does not divide, 8 does. Each sends three quarters of its candidates, and of its results.
    assert meeting.place({}, 4, 0.5) == 1
    assert meeting.price({}, 4, 0.5, 100) == 3 / 4 * 1.5 * 100
    # Split by four already, two are left on each device: all receive everything, from three others.
    assert meeting.place({0: 4}, 4, 0.5) is None
    assert meeting.price({0: 4}, 4, 0.5, 100) == 300
    # Two devices exchange all as cheaply as shares.
    assert meeting.place({}, 2, 1.0) is None
    assert meeting.place({}, 2, 0.5) == 0


@pytest.mark.parametrize(("left", "kinds"), [(True, [REPLICATE, PASS]), (False, [PASS, REPLICATE])])
def test_a_product_with_reflectors_splits_the_other_side(left: bool, kinds: list[str]) -> None:
    rule = _product_rule((2, 8, 3), (2, 3), (2, 8, 5), left)
    (batch,), (rows,), (columns,) = rule.results[0]
    assert [rule.sizes[factor] for factor in (batch, rows, columns)] == [2, 8, 5]
    assert [rule.kinds[rows], rule.kinds[columns]] == kinds
    assert (rule.kinds[batch], rule.heavy, rule.flows) == (PASS, True, (("sum", (2,)),))
    assert rule.operands[0][0] == rule.operands[1][0] == (batch,)


def test_a_move_is_priced_by_what_each_device_lacks() -> None:
    # Eight elements shifted by one over four devices: each but the first lacks one of eight, 32 bytes in all.
    shifted = Window(8, 8, -1)
    assert WindowExpansion(((0, 0, shifted),)).price({0: 4}, [32]) == 3 / 4 * 4
    # Nothing is sent along a dim that is whole, nor along one that nothing can split.
    assert WindowExpansion(((0, 0, shifted),)).price({0: 1}, [32]) == 0
    assert WindowExpansion(((None, 0, shifted),)).price({0: 4}, [32]) == 0
    # Another factor splits the rest of the tensor.
    assert WindowExpansion(((0, 0, shifted),)).price({0: 4, 1: 2}, [64]) == 3 / 4 * 4
    assert WindowExpansion(((0, 0, shifted),), frozenset({1})).price({0: 4, 1: 2}, [64]) is None


def test_letters_for_factors_go_on_with_numbers() -> None:
    names = factor_names(60)
    assert (names[0], names[25], names[26], names[51], names[52]) == ("i", "h", "i1", "h1", "i2")
    assert len(set(names)) == 60
