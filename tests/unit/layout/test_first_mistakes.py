"""What beginners write first: swapped arguments, sizes without names, NumPy's integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shardwright.diagnostics import ShardwrightError, ShardwrightTypeError
from shardwright.layout import Layout, Mesh

MESH = Mesh(batch=4, model=2)


@pytest.mark.parametrize(
    "dims", [[4, 2], "ab", ["ab"], 8, None, np.array(8), [("a", 2, 3)], [("a", 2), "b"], [("a", 1.0)], [(1, 2)]]
)
def test_meshes_without_names_and_sizes(dims: Any) -> None:
    with pytest.raises(ShardwrightError, match="SW0101"):
        Mesh(dims)


def test_sizes_without_names_are_shown_the_way() -> None:
    with pytest.raises(ShardwrightError, match=r"4 is not the name and the size.*\n.*Mesh\(batch=4, model=2\)"):
        Mesh([4, 2])  # pyright: ignore[reportArgumentType]


def test_any_whole_number_is_a_size() -> None:
    sizes = np.array([4, 2])
    mesh = Mesh([("batch", sizes[0])], model=sizes[1])
    assert mesh == MESH
    assert repr(mesh) == "Mesh(batch=4, model=2)"
    assert [type(size) for size in mesh.shape] == [int, int]
    for size in (np.float64(2), True, np.int64(0), "2"):
        with pytest.raises(ShardwrightError, match="SW0101"):
            Mesh(x=size)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((MESH, ["batch"]), r"\['batch'\] is not a mesh"),
        ((["batch"], None), "None is not a mesh"),
        ((None, MESH), "None is not a list"),
        ((3, MESH), "3 is not a list"),
    ],
)
def test_layouts_of_other_things(arguments: tuple[Any, Any], says: str) -> None:
    with pytest.raises(ShardwrightTypeError, match=says) as caught:
        Layout(*arguments)
    assert "SW0109" in str(caught.value)
    assert 'Layout(["batch", None], mesh)' in str(caught.value)
