"""Random programs with `shard_map` over some axes give through XLA what a simulation of devices gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()


@pytest.mark.parametrize("seed", [*range(16), 37])
def test_random_programs(seed: int) -> None:
    from property.jax_mapped import MappedProgram

    program = MappedProgram.of(seed)
    found = sw.jax.jit(program.function, in_shardings=(program.sharding,))(program.argument)
    for mine, wanted in zip(found, program.expected, strict=True):
        np.testing.assert_array_equal(mine, wanted)
