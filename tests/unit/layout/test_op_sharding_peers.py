"""`XlaOpSharding` against JAX's own shardings: each device holds the same part."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from shardwright.layout import Layout, Mesh
from shardwright.layout.forms.op_sharding import XlaOpSharding

pytestmark = pytest.mark.peers

SHAPE = (4, 2)
SPECS: list[tuple[Any, ...]] = [
    dims
    for dims in itertools.product([None, "x", "y", ("x", "y"), ("y", "x")], repeat=2)
    if len([axis for dim in dims if dim for axis in (dim if isinstance(dim, tuple) else (dim,))])
    == len({axis for dim in dims if dim for axis in (dim if isinstance(dim, tuple) else (dim,))})
]


@pytest.mark.parametrize("dims", SPECS, ids=str)
def test_jax_and_we_agree(dims: tuple[Any, ...]) -> None:
    jax = pytest.importorskip("jax")
    if jax.device_count() < 8:
        pytest.skip("needs eight devices")
    names = ("x", "y")
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(SHAPE), names)
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*dims))
    found = sharding._to_xla_hlo_sharding(2)
    ours = Mesh(x=4, y=2)
    expected = Layout(list(dims), ours)
    for given in (found, found.to_proto(), found.to_proto().SerializeToString(), str(found)):
        assert XlaOpSharding(given, ours).for_rank(2) == expected.for_rank(2)
        made = XlaOpSharding(given)
        assert made.local_shape((16, 16)) == sharding.shard_shape((16, 16))
