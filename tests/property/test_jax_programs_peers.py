"""
Random programs of JAX give under `shardwright.jax.jit` what they give op by op, where XLA rewrites nothing.

In the layouts that they were given, and in those that are chosen within a memory limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()


def same(program: Any, compiled: Any) -> None:
    with jax.disable_jit():
        wanted = jax.tree.leaves(program.function(*map(jax.numpy.asarray, program.arguments)))
    found = jax.tree.leaves(compiled(*program.arguments))
    for mine, theirs in zip(found, map(np.asarray, wanted), strict=True):
        largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=1e-3)
        np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=2e-3 * largest)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    from property.jax_programs import JaxProgram

    program = JaxProgram.of(seed)
    same(program, sw.jax.jit(program.function, in_shardings=program.shardings))


@pytest.mark.parametrize("seed", range(0, 60, 4))
def test_random_programs_in_chosen_layouts(seed: int) -> None:
    """Within four times what the arguments take."""
    from property.jax_programs import JaxProgram

    program = JaxProgram.of(seed)
    limit = 4 * sum(argument.nbytes for argument in program.arguments)
    chosen = sw.jax.jit(program.function, memory_limit=limit, recompute=True, microbatches=seed % 8 == 0)
    with jax.set_mesh(program.shardings[0].mesh):
        same(program, chosen)
