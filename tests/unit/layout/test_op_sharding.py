"""`XlaOpSharding`: JAX's shardings, frozen, as layouts; and those that have none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from shardwright.diagnostics import ShardwrightValueError
from shardwright.layout import Axis, Layout, Mesh
from shardwright.layout.forms.op_sharding import XlaOpSharding

MESH = Mesh(x=4, y=2)
JAX: list[tuple[list[Any], str, str]] = [
    (["x", "y"], "{devices=[4,2]<=[8]}", "08031a0204024a0108520100"),
    (["y", "x"], "{devices=[2,4]<=[4,2]T(1,0)}", "08031a0202044a02040252020100"),
    ([None, "y"], "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}", "08031a0301020430014a02040252020100"),
    ([("y", "x"), None], "{devices=[8,1]<=[4,2]T(1,0)}", "08031a0208014a02040252020100"),
    (["x", None], "{devices=[4,1,2]<=[8] last_tile_dim_replicate}", "08031a0304010230014a0108520100"),
    ([], "{replicated}", ""),
]
"""What jax 0.10.2 writes for `NamedSharding(mesh of 4x2, PartitionSpec(...))`: the text, and the message in bytes."""


@dataclass
class Message:
    """Stands for an `OpSharding` of some protocol buffer library."""

    type: int = 3
    tile_assignment_dimensions: tuple[int, ...] = ()
    tile_assignment_devices: tuple[int, ...] = ()
    replicate_on_last_tile_dim: bool = False
    last_tile_dims: tuple[int, ...] = ()
    iota_reshape_dims: tuple[int, ...] = ()
    iota_transpose_perm: tuple[int, ...] = ()
    tuple_shardings: list[Any] = field(default_factory=list[Any])


@pytest.mark.parametrize(("specs", "text", "message"), JAX, ids=[text for _, text, _ in JAX])
def test_shardings_of_jax(specs: list[Any], text: str, message: str) -> None:
    layout = Layout(specs, MESH)
    assert XlaOpSharding(text, MESH) == layout
    assert XlaOpSharding(bytes.fromhex(message), MESH) == layout
    assert isinstance(XlaOpSharding(text, MESH), Layout)


def test_listed_devices_and_counted_ones_say_the_same() -> None:
    listed = tuple(np.arange(8).reshape(4, 2).T.ravel().tolist())
    v1 = Message(tile_assignment_dimensions=(2, 4), tile_assignment_devices=listed)
    v2 = Message(tile_assignment_dimensions=(2, 4), iota_reshape_dims=(4, 2), iota_transpose_perm=(1, 0))
    text = f"{{devices=[2,4]{','.join(map(str, listed))}}}"
    assert XlaOpSharding(v1, MESH) == XlaOpSharding(v2, MESH) == XlaOpSharding(text, MESH) == Layout(["y", "x"], MESH)
    assert XlaOpSharding(text.strip("{}"), MESH) == Layout(["y", "x"], MESH)


def test_groups_behind_the_tiles() -> None:
    partial = Message(tile_assignment_dimensions=(2, 4), last_tile_dims=(0,), iota_reshape_dims=(8,))
    assert XlaOpSharding(partial, MESH).spec.dims == ((Axis("x", 1, 2),),)
    replicated = Message(tile_assignment_dimensions=(4, 2), replicate_on_last_tile_dim=True, iota_reshape_dims=(8,))
    assert XlaOpSharding(replicated, MESH) == Layout(["x"], MESH)
    assert XlaOpSharding("{devices=[4,2]<=[8] last_tile_dims={replicated}}", MESH) == Layout(["x"], MESH)


@pytest.mark.parametrize(("specs", "text", "message"), JAX, ids=[text for _, text, _ in JAX])
def test_a_mesh_is_made(specs: list[Any], text: str, message: str) -> None:
    """Each device holds under the made layout what it holds under JAX's."""
    made, known = XlaOpSharding(bytes.fromhex(message)), Layout(specs, MESH)
    if text != "{replicated}":
        assert made.mesh.size == 8
        assert _held(made) == _held(known)
    assert made.is_replicated == known.is_replicated


def _held(layout: Layout) -> list[tuple[int, ...]]:
    """For each device, the first element of its tile of an 8x8 tensor."""
    whole = np.stack(np.meshgrid(range(8), range(8), indexing="ij"), -1)
    found: list[tuple[int, ...]] = []
    for device in range(layout.mesh.size):
        at = dict(zip(layout.mesh.axis_names, np.unravel_index(device, layout.mesh.shape), strict=True))
        corner: list[int] = []
        for dim, axes in enumerate(layout.for_rank(2).spec.dims):
            parts = place = 1
            place = 0
            for axis in axes:
                pre, size = axis.pre, layout.mesh.axis_size(axis)
                digit = int(at[axis.name]) // (layout.mesh.dim_size(axis.name) // (pre * size)) % size
                place, parts = place * size + digit, parts * size
            corner.append(place * whole.shape[dim] // parts)
        found.append(tuple(corner))
    return found


def test_one_device() -> None:
    assert XlaOpSharding(Message(type=1, tile_assignment_devices=(0,)), Mesh(x=1)).is_replicated
    assert XlaOpSharding("{maximal device=3}").mesh.size == 1
    assert XlaOpSharding("{devices=[1,1]<=[1]}").mesh.sizes == {"axis0": 1}
    assert XlaOpSharding("{devices=[2,1]<=[2]}").mesh.sizes == {"axis0": 2}
    assert XlaOpSharding("{replicated}").mesh.sizes == {"axis0": 1}
    with pytest.raises(ShardwrightValueError, match=r"SW0118.*one device"):
        XlaOpSharding("{maximal device=0}", Mesh(x=2))
    with pytest.raises(ShardwrightValueError, match=r"SW0118.*one device"):
        XlaOpSharding(Message(type=1, tile_assignment_devices=(0,)), MESH)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (Message(type=2), "is a TUPLE of shardings"),
        (Message(type=7), "number 7"),
        (Message(iota_reshape_dims=(8,)), "no tile assignment"),
        (Message(tile_assignment_dimensions=(-8,), iota_reshape_dims=(8,)), "no tile assignment"),
        (Message(type=4), "MANUAL"),
        (Message(type=5), "UNKNOWN"),
        (Message(type=6), "UNREDUCED"),
        (Message(type=9), "number 9"),
        (Message(), "no tile assignment"),
        (Message(tile_assignment_dimensions=(4,)), "no tile assignment"),
        (Message(tile_assignment_dimensions=(4,), iota_reshape_dims=(8,)), "4 tiles for 8 devices"),
        (Message(tile_assignment_dimensions=(8,), tile_assignment_devices=(0, 1, 3, 2, 4, 5, 6, 7)), "in steps of 3"),
        (Message(tile_assignment_dimensions=(4, 2), last_tile_dims=(4,), iota_reshape_dims=(8,)), "manual"),
        (Message(tile_assignment_dimensions=(8,), iota_reshape_dims=(4, 2), iota_transpose_perm=(0, 0)), "order"),
        (Message(tile_assignment_dimensions=(4,), iota_reshape_dims=(4,)), "for 4 devices"),
        (b"\x08\x02", "TUPLE"),
        (b"\xff", "no OpSharding"),
        (7, "no OpSharding"),
        ("{manual}", "manual"),
        ("{unknown}", "unknown"),
        ("{{replicated}, {replicated}}", "tuple"),
        ("{devices=[8]}", "no sharding"),
        ("", "tuple"),
    ],
    ids=str,
)
def test_no_layout(given: object, why: str) -> None:
    with pytest.raises(ShardwrightValueError, match=rf"(?s)SW0118.*{why}"):
        XlaOpSharding(given, MESH)


def test_of_a_field_that_comes_twice_the_last_counts() -> None:
    # type: MAXIMAL, then type: OTHER, and the tiles of the first sharding above.
    assert XlaOpSharding(bytes.fromhex("0801" + JAX[0][2]), MESH) == Layout(["x", "y"], MESH)


def test_the_code_of_a_sharding_without_layout() -> None:
    with pytest.raises(ShardwrightValueError) as caught:
        XlaOpSharding("{manual}", MESH)
    assert caught.value.diagnostics[0].code == "SW0118"


def test_devices_that_are_no_axes_of_the_mesh() -> None:
    with pytest.raises(ShardwrightValueError, match="SW0118"):
        XlaOpSharding("{devices=[2,3]<=[6]}", Mesh(x=3, y=2))
    assert XlaOpSharding("{devices=[2,3]<=[6]}").mesh.shape == (2, 3)
