"""Programs of `shardwright.jax.jit` are partitioned once: what was remembered runs alike, and tells the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla
from shardwright.frontends.jax import lowered, remembering
from shardwright.plugins import loading

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
jnp, P = jax.numpy, jax.sharding.PartitionSpec
X, W = (np.random.default_rng(seed).standard_normal((16, 16), np.float32) for seed in (0, 1))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHARDWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(loading._Loaded, "extended", False)  # other tests of this process load plugins
    monkeypatch.setattr(remembering, "FEWEST_CHARACTERS", 0)
    monkeypatch.setattr(remembering, "LEAST_SECONDS", 0.0)
    return tmp_path / "programs"


def put(value: Any, *spec: Any) -> Any:
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))
    return jax.device_put(value, jax.sharding.NamedSharding(mesh, P(*spec)))


def product(x: Any, w: Any) -> Any:
    return jnp.tanh(x @ w) @ w.T


def moved_down(x: Any, w: Any) -> Any:
    return jnp.tanh(x @ w) @ w.T


moved_down.__name__ = "product"


def runs(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[bool, Any, Any]:
    """Whether a fresh `jit` of a function partitions anything, what it lowers to, and its result."""
    ran: list[object] = []
    with pytest.MonkeyPatch.context() as patched:
        partition = lowered.partition_by_hand

        def recorded(*given: Any, **options: Any) -> Any:
            ran.append(given)
            return partition(*given, **options)

        patched.setattr(lowered, "partition_by_hand", recorded)
        found = sw.jax.jit(function, **options).lower(*arguments)
        result = found.compile()(*arguments)
        return bool(ran), found, result


def test_the_second_time_nothing_is_partitioned() -> None:
    arguments = put(X, "data", None), put(W, None, "model")
    fresh, first, wanted = runs(product, *arguments)
    again, second, found = runs(moved_down, *arguments)  # as far as the program goes it is the same one
    assert (fresh, again) == (True, False)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_allclose(found, product(X, W), rtol=1e-5, atol=1e-5)
    assert second.as_text() == first.as_text()
    assert (second.in_shardings, second.out_shardings) == (first.in_shardings, first.out_shardings)
    assert found.sharding == wanted.sharding
    # What it sends, and for which line, is worked out when somebody asks.
    assert second.predicted_bytes == first.predicted_bytes != 0
    for each, function in ((first, product), (second, moved_down)):
        assert function.__code__.co_firstlineno + 1 in {place.line for row in each.predicted for place in row.sources}


def test_what_differs_is_partitioned() -> None:
    x, w = put(X, "data", None), put(W, None, "model")
    assert runs(product, x, w)[0]
    assert runs(product, put(X, None, "model"), w)[0]
    assert runs(product, x, w, out_shardings=w.sharding)[0]
    assert runs(product, put(X, "data", None), w, donate_argnums=0)[0]
    assert not runs(product, put(X, "data", None), w, donate_argnums=0)[0]


def test_what_only_the_mesh_around_or_a_wish_tells_apart_is_partitioned() -> None:
    """The text names no mesh; a program that was found is explained outside of the mesh, too."""
    for shape, options in (
        ((4, 2), {}),
        ((2, 4), {}),
        ((2, 4), {"memory_limit": "1MB"}),
        ((2, 4), {"objective": "bytes"}),
    ):
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(shape), ("data", "model"))
        for fresh in (True, False):
            with jax.set_mesh(mesh):
                ran, found, result = runs(product, X, W, **options)
            assert ran is fresh
            assert found.partitioned.interface.mesh.sizes == dict(mesh.shape)
            assert result.sharding.mesh == mesh
            np.testing.assert_allclose(result, product(X, W), rtol=1e-5, atol=1e-5)


def test_a_change_of_ours_partitions_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = put(X, "data", None), put(W, None, "model")
    runs(product, *arguments)
    monkeypatch.setattr(lowered, "MESSAGE_BYTES", 1)
    assert runs(product, *arguments)[0]


def test_what_calls_this_process_back_is_not_remembered(folder: Path) -> None:
    def add_one(x: Any) -> Any:
        return np.asarray(x) + 1

    def told(x: Any) -> Any:
        return jax.pure_callback(add_one, jax.ShapeDtypeStruct(x.shape, x.dtype), x) * 2

    x = put(X, "data", None)
    for _ in range(2):
        fresh, _, found = runs(told, x)
        assert fresh
        np.testing.assert_array_equal(found, (X + 1) * 2)
    assert not folder.exists()


def test_small_programs_and_fast_ones_are_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = put(X, "data", None), put(W, None, "model")
    with monkeypatch.context() as patched:
        patched.setattr(remembering, "FEWEST_CHARACTERS", 1 << 15)
        runs(product, *arguments)
    with monkeypatch.context() as patched:
        patched.setattr(remembering, "LEAST_SECONDS", 3600.0)
        runs(product, *arguments)
    assert not folder.exists()


def test_a_record_that_was_changed_is_not_believed(folder: Path) -> None:
    arguments = put(X, "data", None), put(W, None, "model")
    runs(product, *arguments)
    (record,) = (path for path in folder.iterdir() if path.name != "key")
    data = bytearray(record.read_bytes())
    data[-1] ^= 1
    record.write_bytes(data)
    assert runs(product, *arguments)[0]
    assert not runs(product, *arguments)[0]
