"""Random calls give what the same function gives without a mesh, in the containers and shardings that are asked for."""

from __future__ import annotations

from typing import Any

import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]
jax: Any = pytest.importorskip("jax")
xla.prepare()


@pytest.mark.parametrize("seed", range(24))
def test_random_calls(seed: int) -> None:
    from property.jax_calls import CallProgram

    program = CallProgram.of(seed)
    assert list(program.faults(*program.found(sw.jax.jit), program.wanted())) == []
