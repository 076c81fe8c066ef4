"""Training steps of the libraries with `shardwright.jax.jit` in the place of `jax.jit`, against JAX on one device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw
from corpus.catalogue import LIBRARIES, programs
from corpus.checking import LAYOUTS

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("module", "name"), programs(*LIBRARIES))
def test_a_step(module: str, name: str, layout: str) -> None:
    pytest.importorskip(LIBRARIES[module])
    with jax.enable_x64(True):
        from corpus.exporting import shardings_of, step_of

        step = step_of(module, name)
        training = step.training
        split = shardings_of(training, layout)
        ours = sw.jax.jit(training.function, in_shardings=split, out_shardings=(split[0], None, None))
        found = ours(training.state, training.batch)
        assert jax.tree.structure(found) == jax.tree.structure(step.results)
        for one, wanted in zip(jax.tree.leaves(found), jax.tree.leaves(step.results), strict=True):
            one, wanted = (jax.random.key_data(v) if _is_key(v) else v for v in (one, wanted))
            np.testing.assert_allclose(one, wanted, rtol=step.tolerance, atol=step.tolerance)


def _is_key(value: Any) -> bool:
    return jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key)
