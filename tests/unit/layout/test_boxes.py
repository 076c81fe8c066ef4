"""Boxes against NumPy's own splitting of index grids."""

from __future__ import annotations

import numpy as np

from shardwright.layout.axes import Axis
from shardwright.layout.boxes import box, linear_index
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec

MESH = Mesh(x=4, y=2)


def test_each_device_holds_the_chunk_that_numpy_splits_off() -> None:
    spec = LayoutSpec("mesh", ((Axis("y"), Axis("x")), ()))
    chunks = np.split(np.arange(24), 8)
    for x in range(4):
        for y in range(2):
            (start, stop), columns = box(spec, (24, 3), MESH, {"x": x, "y": y})
            np.testing.assert_array_equal(np.arange(start, stop), chunks[np.ravel_multi_index((y, x), (2, 4))])
            assert columns == (0, 3)


def test_parts_of_an_axis_are_its_digits_major_to_minor() -> None:
    for x in range(4):
        high, low = np.unravel_index(x, (2, 2))
        place = {"x": x, "y": 0}
        assert linear_index([Axis("x", 1, 2)], MESH, place) == high
        assert linear_index([Axis("x", 2, 2)], MESH, place) == low
        assert linear_index([Axis("x", 2, 2), Axis("x", 1, 2)], MESH, place) == 2 * low + high


def test_where_a_dim_does_not_divide_the_last_boxes_are_shorter_or_empty() -> None:
    for size in range(14):
        boxes = [box(LayoutSpec("mesh", ((Axis("x"),),)), (size,), MESH, {"x": x, "y": 0})[0] for x in range(4)]
        assert [n for start, stop in boxes for n in range(start, stop)] == list(range(size))
        assert boxes[0] == (0, -(-size // 4))
