"""What processes are given whole is compared: equal arrays are equal, and other ones are told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shardwright.engines.dtensor_value import scatter
from shardwright.engines.jobs.given import Given, given_to
from shardwright.layout import Layout, Mesh
from shardwright.layout.forms.clients import Clients


def check(*arrays: Any) -> bytes:
    given = Given()
    for array in arrays:
        given.note(array)
    return given.taken()[0]


@pytest.mark.parametrize("shape", [(), (3,), (100_000,), (300, 400), (40, 50, 60), (9, 9, 9, 9, 9), (0, 4)])
def test_arrays_drawn_without_a_seed_are_told_apart(shape: tuple[int, ...]) -> None:
    one, other = (np.asarray(np.random.default_rng(seed).standard_normal(shape)) for seed in (1, 2))
    assert check(one) == check(one.copy(order="F"))
    assert (check(one) == check(other)) == (0 in shape)
    assert check(one) != check(one.astype(np.float32))
    assert check(one, other) != check(other, one) or 0 in shape


def test_shapes_and_their_order_count() -> None:
    assert check(np.zeros((2, 3))) != check(np.zeros((3, 2)))
    assert check() != check(np.zeros(1))


def test_what_is_given_is_told_once() -> None:
    given = Given()
    for extent in range(6):
        given.note(np.zeros(extent, np.int8))
    told = given.taken()[1]
    assert [f"int8[{extent}]" in told for extent in range(6)] == [False, False, True, True, True, True]
    assert given.taken() == (bytes(4), "")


def test_only_what_several_processes_share_is_noted() -> None:
    several, alone = Clients(2, 1), Clients()
    given_to(several).taken()
    given_to(alone).taken()
    scatter(np.ones(4), Layout(["x"], Mesh(x=2)))
    assert given_to(alone).taken() == (bytes(4), "")
    scatter(np.ones(4), Layout(["x"], Mesh(x=2).seen_by(several)))
    assert "given float64[4]" in given_to(several).taken()[1]
