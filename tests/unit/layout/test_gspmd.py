"""GSPMD's shardings against the devices that they list."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from shardwright.layout.axes import Axis
from shardwright.layout.forms.gspmd import Tiling, mesh_of_tilings, split_tuple
from shardwright.layout.mesh import Mesh

MESH = Mesh([("x", 4), ("y", 2), ("z", 3)])


def devices(axes: list[tuple[str, ...]]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The devices of each tile, when these axes split the dims: the remaining axes come last."""
    names = list(MESH.axis_names)
    used = [name for dim in axes for name in dim]
    order = [names.index(name) for name in (*used, *(name for name in names if name not in used))]
    tiles = [MESH.group_size(map(Axis, dim)) for dim in axes]
    return np.arange(MESH.size).reshape(MESH.shape).transpose(order).reshape([*tiles, -1])


CHOICES = [
    [tuple(dim) for dim in ([*rest[:at]], [*rest[at:]])]
    for count in range(4)
    for rest in itertools.permutations(MESH.axis_names, count)
    for at in range(count + 1)
]


@pytest.mark.parametrize("axes", CHOICES, ids=str)
def test_a_list_of_devices_names_its_axes(axes: list[tuple[str, ...]]) -> None:
    tiles = devices(axes)
    listed = ",".join(map(str, tiles.ravel().tolist()))
    tiling = Tiling.parse(f"{{devices=[{','.join(map(str, tiles.shape))}]{listed} last_tile_dim_replicate}}")
    found, manual = tiling.axes(MESH)
    assert found == [tuple(map(Axis, dim)) for dim in axes]
    assert manual == ()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_a_counted_list_is_the_list(order: tuple[int, ...]) -> None:
    listed = np.arange(24).reshape(4, 2, 3).transpose(order).ravel().tolist()
    counted = Tiling.parse(f"{{devices=[24]<=[4,2,3]T({','.join(map(str, order))})}}")
    assert counted.axes(MESH) == Tiling.parse(f"{{devices=[24]{','.join(map(str, listed))}}}").axes(MESH)


def test_groups_behind_the_tiles_are_replicated_or_manual() -> None:
    tiling = Tiling.parse("{devices=[1,2,4,3]<=[4,2,3]T(1,0,2) last_tile_dims={manual, replicated}}")
    assert tiling.axes(MESH) == ([(), (Axis("y"),)], (Axis("x"),))
    assert Tiling.parse("{manual}").axes(MESH) == ([], (Axis("x"), Axis("y"), Axis("z")))
    assert Tiling.parse("{replicated}").axes(MESH) == ([], ())


def test_all_tiles_may_be_groups() -> None:
    assert Tiling.parse("{devices=[24]<=[24] last_tile_dims={replicated}}").axes(MESH) == ([], ())
    assert Tiling.parse("{devices=[1,24]<=[1,24] last_tile_dims={manual}}").axes(MESH)[0] == [()]


def test_tiles_may_take_a_part_of_an_axis() -> None:
    assert Tiling.parse("{devices=[2,12]<=[24]}").axes(MESH)[0] == [
        (Axis("x", 1, 2),),
        (Axis("x", 2, 2), Axis("y"), Axis("z")),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no sharding"),
        ("{devices=[2]}", "is no sharding"),
        ("{devices=[3,8]<=[24]}", "count 3 devices in steps of 8"),
        ("{devices=[2]<=[2]}", "for 2 devices, but the mesh"),
        ("{devices=[5]<=[4]}", "5 tiles for 4 devices"),
        ("{devices=[4]0,2,1,1}", "do not count in regular steps"),
        ("{devices=[4]1,2,3,0}", "do not count in regular steps"),
        ("{devices=[2,2]<=[2,2]T(0,0)}", "does not order the dims"),
        ("{devices=[2]<=[2] last_tile_dims={manual, replicated}}", "2 tiles for 2 devices"),
        ("{devices=[24]<=[24] last_tile_dims={other}}", "24 tiles for 24 devices"),
        # The first tiles would be counted by three devices, or by six, which two and four do not cut.
        ("{devices=[2,3,4]<=[4,2,3]T(2,1,0)}", "2 tiles begin inside of 3 devices"),
        ("{devices=[4,6]<=[4,6]T(1,0)}", "4 tiles begin inside of 6 devices"),
    ],
)
def test_what_cannot_be_read(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("(", r"\(")):
        Tiling.parse(text).axes(MESH)


def test_a_mesh_of_tiles_has_the_axes_of_all() -> None:
    tilings = [Tiling.parse(text) for text in ("{devices=[4,6]<=[24]}", "{devices=[8,3]<=[24]}", "{replicated}")]
    mesh = mesh_of_tilings(tilings)
    assert list(mesh.sizes.items()) == [("axis0", 4), ("axis1", 2), ("axis2", 3)]
    assert tilings[0].axes(mesh)[0] == [(Axis("axis0"),), (Axis("axis1"), Axis("axis2"))]
    assert mesh_of_tilings([Tiling.parse("{replicated}")]).size == 1
    with pytest.raises(ValueError, match="different numbers of devices: 4, 8"):
        mesh_of_tilings([Tiling.parse("{devices=[8]<=[8]}"), Tiling.parse("{devices=[4]<=[4]}")])
    with pytest.raises(ValueError, match="in steps of 3 and of 2, which do not nest"):
        mesh_of_tilings([Tiling.parse("{devices=[2,3]<=[6]}"), Tiling.parse("{devices=[3,2]<=[6]}")])


def test_tuples_hold_one_sharding_for_each_value() -> None:
    assert split_tuple("{{devices=[1,2]<=[2] last_tile_dims={manual}}, {manual}}") == [
        "{devices=[1,2]<=[2] last_tile_dims={manual}}",
        "{manual}",
    ]
