"""Random programs of JAX give under `shardwright.jax.jit` what they give op by op, where XLA rewrites nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    from property.jax_programs import JaxProgram

    program = JaxProgram.of(seed)
    with jax.disable_jit():
        wanted = jax.tree.leaves(program.function(*map(jax.numpy.asarray, program.arguments)))
    found = jax.tree.leaves(sw.jax.jit(program.function, in_shardings=program.shardings)(*program.arguments))
    for mine, theirs in zip(found, map(np.asarray, wanted), strict=True):
        largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=1e-3)
        np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=2e-3 * largest)
