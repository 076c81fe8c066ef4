"""Random programs on parts of sums give what they give without a mesh, and results are as they are asked for."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore:Some donated buffers")]
jax: Any = pytest.importorskip("jax")
xla.prepare()


@pytest.mark.parametrize("seed", range(20))
def test_random_programs(seed: int) -> None:
    from property.jax_parts import PartsProgram

    program = PartsProgram.of(seed)
    with nullcontext() if program.named else jax.set_mesh(program.mesh):
        types = program.types(*program.put())
        asked = program.ask(types)
        found = sw.jax.jit(lambda *given: program.function(*given), **program.options)(*program.put())
    wanted = jax.jit(program.alone)(*(jax.device_put(each, jax.devices()[0]) for each in program.arguments))
    assert list(program.faults(found, wanted, types, asked)) == []
