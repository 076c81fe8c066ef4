"""Tensors that go to other meshes: of the same and other shapes, apart and overlapping; `pack` and its mistakes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import dtensor

WHOLE = np.arange(16 * 24, dtype="float32").reshape(16, 24)
GRID = sw.Mesh({"x": 4, "y": 2}, devices=["GPU:i" for _ in range(8)])
SAME = sw.Mesh({"x": 4, "y": 2}, devices=["CPU:i" for _ in range(8)])
TURNED = sw.Mesh({"x": 2, "y": 4})
LINE = sw.Mesh(z=8)
PLACES: list[sw.Layout] = [
    sw.Layout(["x", "y"], GRID),
    sw.Layout([None, ("y", "x")], GRID),
    sw.Layout(["y"], SAME),
    sw.Layout(["x", "y"], TURNED),
    sw.Layout(["z"], LINE),
    sw.Layout(["x"], GRID.submesh(y=0)),
    sw.Layout([None, "x"], GRID.submesh(y=1)),
    sw.Layout(["y", "x"], GRID.submesh(x=slice(1, 3))),
    sw.Layout([], GRID.submesh(x=slice(2, 3), y=1)),
    sw.Layout(sw.Mesh.UNSHARDED, sw.Mesh({"one": 1}, devices=["/worker:0/GPU:1"])),
]


def part(layout: sw.Layout, device: int) -> np.ndarray[Any, Any]:
    """What a device holds of `WHOLE`: each dim cut by its axes, major to minor."""
    mesh = layout.mesh
    at = dict(zip(mesh.axis_names, np.unravel_index(device, mesh.shape), strict=True)) if mesh.axis_names else {}
    found = WHOLE
    for dim, entry in enumerate(layout.for_rank(2).sharding_specs):
        for axis in [entry] if isinstance(entry, str) else entry:
            if axis != sw.Mesh.UNSHARDED:
                found = np.split(found, mesh.dim_size(axis), dim)[int(at[axis])]
    return found


@pytest.mark.every(3)
@pytest.mark.parametrize(("source", "target"), [*itertools.product(PLACES, PLACES)], ids=str)
def test_to_every_mesh(source: sw.Layout, target: sw.Layout) -> None:
    moved = sw.relayout(sw.relayout(WHOLE, source), target)
    assert moved.layout == target.for_rank(2)
    for device, held in enumerate(sw.unpack(moved)):
        assert np.array_equal(held, part(target, device))
    assert np.array_equal(moved, WHOLE)


@pytest.mark.parametrize("layout", PLACES[:2], ids=str)
def test_a_mesh_of_the_same_axes_keeps_the_sharding(layout: sw.Layout) -> None:
    x = sw.relayout(WHOLE, layout)

    def moved(x: Any) -> Any:
        return sw.relayout(x, SAME)

    for found in (moved(x), sw.function(moved)(x)):
        assert found.layout == layout.for_rank(2).on(SAME)
        assert np.array_equal(found, WHOLE)


def test_a_mesh_of_other_axes_does_not() -> None:
    x = sw.relayout(WHOLE, PLACES[0])
    swapped = sw.Mesh({"y": 2, "x": 4})
    for mesh, code in ((TURNED, "SW0119"), (swapped, "SW0119"), (LINE, "SW0102"), (GRID.submesh(y=0), "SW0102")):
        with pytest.raises(sw.ShardwrightValueError, match=code):
            sw.relayout(x, mesh)
        whole = sw.relayout(sw.relayout(WHOLE, sw.Layout([], GRID)), mesh)
        assert whole.layout == sw.Layout.replicated(mesh, 2)


def test_the_example_of_the_rfc() -> None:
    mesh1, mesh2 = sw.Mesh({"batch": 2}, ["CPU:0", "CPU:1"]), sw.Mesh({"batch": 2}, ["CPU:2", "CPU:3"])
    a = sw.ones((16, 3), layout=dtensor.Layout([], mesh1))
    x = sw.ones((4, 3), layout=dtensor.Layout(["batch"], mesh2))
    y = dtensor.relayout_like(a, reference=x)
    z = dtensor.relayout_like(a, reference=x, use_mesh_only=True)
    assert y.layout == sw.Layout(["batch", None], mesh2)
    assert z.layout == sw.Layout.replicated(mesh2, 2)
    with pytest.raises(sw.ShardwrightValueError, match="SW0106"):
        dtensor.relayout_like(sw.ones(4), x)
    with pytest.raises(sw.ShardwrightValueError, match="SW0502"):
        dtensor.relayout_like(x, WHOLE)


@pytest.mark.parametrize("layout", PLACES, ids=str)
def test_components_make_the_tensor(layout: sw.Layout) -> None:
    components = [part(layout, device) for device in range(layout.mesh.size)]
    found = sw.pack(components, layout)
    assert found.layout == layout.for_rank(2)
    assert np.array_equal(found, WHOLE)
    components[0][:] = 0
    WHOLE[:] = np.arange(WHOLE.size).reshape(WHOLE.shape)
    assert np.array_equal(found, WHOLE)


def test_numbers_and_lists_are_components() -> None:
    line = sw.Mesh(x=2)
    assert sw.pack([1.5, 1.5], sw.Layout([], line)).numpy().dtype == "float32"
    assert np.array_equal(sw.pack([[1, 2], [3, 4]], sw.Layout(["x"], line)), [1, 2, 3, 4])
    nothing = np.full(3, np.nan)
    assert np.isnan(sw.pack([nothing, nothing], sw.Layout([], line)).numpy()).all()
    parts = [sw.relayout(np.ones(2), sw.Layout([], line))] * 2
    assert sw.pack(parts, sw.Layout(["x"], line)).shape == (4,)


def _packed_in_a_function() -> Any:
    def packed(x: Any) -> Any:
        return sw.pack([x] * 8, PLACES[0])

    return sw.function(packed)(WHOLE)


def _unpacked_in_a_function() -> Any:
    def unpacked(x: Any) -> Any:
        return sw.unpack(x)[0]

    return sw.function(unpacked)(sw.relayout(WHOLE, PLACES[0]))


MISTAKES: list[tuple[str, Callable[[], Any]]] = [
    ("SW0512", lambda: sw.pack([], PLACES[0])),
    ("SW0512", lambda: sw.pack([WHOLE] * 7, PLACES[0])),
    ("SW0512", lambda: sw.pack([WHOLE] * 7 + [WHOLE[1:]], PLACES[0])),
    ("SW0512", lambda: sw.pack([WHOLE] * 7 + [WHOLE.astype("float64")], PLACES[0])),
    ("SW0512", lambda: sw.pack([WHOLE + device for device in range(8)], sw.Layout(["x"], GRID))),
    ("SW0106", lambda: sw.pack([1.0] * 8, PLACES[0])),
    ("SW0507", lambda: sw.pack([object()] * 8, PLACES[0])),  # pyright: ignore[reportArgumentType]
    ("SW0507", lambda: sw.pack([[[1], [1, 2]]] * 8, PLACES[0])),
    ("SW0507", lambda: sw.pack(5, PLACES[0])),  # pyright: ignore[reportArgumentType]
    ("SW0507", lambda: sw.pack("components", PLACES[0])),
    ("SW0515", lambda: sw.pack([WHOLE] * 8, GRID)),  # pyright: ignore[reportArgumentType]
    ("SW0503", _packed_in_a_function),
    ("SW0502", lambda: sw.unpack(WHOLE)),
    ("SW0502", lambda: sw.unpack(None)),
    ("SW0502", _unpacked_in_a_function),
    ("SW0515", lambda: sw.relayout(WHOLE, ["x"])),  # pyright: ignore[reportArgumentType]
    ("SW0104", lambda: sw.relayout(WHOLE[:6], PLACES[0])),
    ("SW0106", lambda: sw.relayout(WHOLE[0], PLACES[0])),
]


@pytest.mark.parametrize(("code", "call"), MISTAKES)
def test_mistakes(code: str, call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=code):
        call()
