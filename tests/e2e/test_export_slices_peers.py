"""XLA takes parts of parts from where they begin, as they are exported, and leaves out what does not fit."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from part_cases import FIRST, SECOND, sliced_twice

import shardwright as sw
from shardwright.benchmarks import through, xla
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import compile_module

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
jnp, P = jax.numpy, jax.sharding.PartitionSpec


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_parts_of_parts(first: str, second: str) -> None:
    text = sliced_twice(first, second)
    theirs = xla.compile_text(through.partitioned(text).to_stablehlo(platform="cpu"), 1)
    mine = compile_module(parse_module(text, "-"))
    x, u = np.arange(12, dtype=np.int32), np.array([100, 200, 300], np.int32)
    for i, j in product((-4, 0, 3, 5, 9, 100), (-4, 0, 2, 3, 4, 9, 100)):
        inputs = [x, np.asarray(i, np.int32), np.asarray(j, np.int32), u]
        np.testing.assert_array_equal(theirs.parts(inputs)[0][0], mine.run(inputs)[0], err_msg=f"{i} {j}")


def test_what_is_added_nowhere_brings_no_neighbour_along() -> None:
    """Rows that each device takes of what it made, and indices of which some are in none of them."""
    rows = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(jax.devices()[:8]), ("x",)), P("x"))
    at, by = np.array([9, 12, 3, 20, -1], np.int32), np.arange(1, 6, dtype=np.float32)

    def added(at: Any, by: Any) -> Any:
        made = jnp.sin(jnp.arange(45.0)).reshape(5, 9)
        return jax.lax.with_sharding_constraint(made.at[jnp.arange(5), at].add(by), rows)

    expected = np.sin(np.arange(45, dtype=np.float32)).reshape(5, 9)
    expected[2, 3] += 3
    expected[4, 8] += 5
    np.testing.assert_allclose(sw.jax.jit(added)(at, by), expected, rtol=1e-5)
