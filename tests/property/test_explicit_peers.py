"""
Random programs on meshes with explicit axes give what they give where there is no mesh, laid out as their types say.

Every device has its part of the result, or its copy.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore:Some donated buffers")]
jax: Any = pytest.importorskip("jax")
xla.prepare()


@pytest.mark.parametrize("seed", [120, 187, 232, 392, 434, 482, 582, *range(6)])
def test_random_programs(seed: int) -> None:
    from property.jax_explicit import ExplicitProgram, explicit_axes

    program = ExplicitProgram.of(seed)
    with nullcontext() if program.named else jax.set_mesh(program.mesh):
        types = program.types(*program.put())
        found = sw.jax.jit(program.function, **program.options)(*program.put())
    wanted = jax.jit(program.alone)(*(jax.device_put(each, jax.devices()[0]) for each in program.arguments))
    for mine, whole, type_ in zip(found, map(np.asarray, wanted), types, strict=True):
        assert (mine.dtype, mine.shape, mine.weak_type) == (whole.dtype, whole.shape, type_.weak_type)
        assert len(mine.addressable_shards) == program.mesh.size
        for shard in mine.addressable_shards:
            np.testing.assert_array_equal(shard.data, whole[shard.index])
        if explicit_axes(type_):
            assert jax.typeof(mine) == type_
