"""Which layouts fit which tensors; a layout that does not fit is refused with the way out."""

from dataclasses import replace

import pytest

from shardwright.layout.axes import Axis
from shardwright.layout.check import check_spec
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec

MESH = Mesh([("x", 8), ("y", 2), ("one", 1)])
X, Y, ONE = Axis("x"), Axis("y"), Axis("one")
MINOR, MAJOR = Axis("x", 2, 4), Axis("x", 1, 2)


def spec(*dims: tuple[Axis, ...], partial: tuple[Axis, ...] = ()) -> LayoutSpec:
    return LayoutSpec("mesh", dims, partial=partial, kind="sum" if partial else "")


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (spec(), ()),
        (spec((), ()), (3, 5)),
        (spec((X, Y)), (16,)),
        (spec((MAJOR,), (MINOR,)), (2, 4)),
        (spec((ONE,), ()), (3, 5)),
        (spec((X,), partial=(Y,)), (8,)),
        (spec((X,)), (0,)),
    ],
)
def test_fits(layout: LayoutSpec, shape: tuple[int, ...]) -> None:
    assert check_spec(layout, shape, MESH) is None


@pytest.mark.parametrize(
    ("layout", "shape", "code", "words"),
    [
        (spec((X,)), (8, 8), "SW0106", "1 dims, but the tensor has 2"),
        (spec((Axis("z"),)), (8,), "SW0102", "no axis 'z'"),
        (spec((), partial=(Axis("z"),)), (8,), "SW0102", "no axis 'z'"),
        (spec((Axis("x", 1, 3),)), (3,), "SW0107", "no part of axis 'x', which has size 8"),
        (spec((Axis("x", 4, 4),)), (4,), "SW0107", "no part"),
        (spec((Axis("x", 0, 2),)), (4,), "SW0107", "no part"),
        (spec((X,), (X,)), (8, 8), "SW0105", "by dim 0 and by dim 1"),
        (spec((X, MINOR)), (64,), "SW0105", "by dim 0 and by dim 0"),
        (spec((X,), partial=(X,)), (8,), "SW0105", "by dim 0 and by the unreduced axes"),
        (
            replace(spec((), partial=(X,)), withheld=(X,)),
            (8,),
            "SW0105",
            "by the replicated axes",
        ),
        (spec((ONE,), (ONE,)), (8, 8), "SW0105", "axis 'one' is used twice"),
        (spec((X,)), (12,), "SW0104", "does not split evenly over x=8"),
        (spec((), (X, Y)), (3, 24), "SW0104", "dim 1 has 24 elements and does not split evenly over x=8 x y=2"),
    ],
)
def test_does_not_fit(layout: LayoutSpec, shape: tuple[int, ...], code: str, words: str) -> None:
    found = check_spec(layout, shape, MESH)
    assert found is not None
    assert (found.code, words in found.message) == (code, True), found


@pytest.mark.parametrize(
    "layout",
    [
        spec((Axis("z", 3, 2), Axis("z", 1, 2))),
        spec((Axis("z", 1, 2),), (Axis("z", 3, 2),)),
        spec((Axis("z", 1, 2),), partial=(Axis("z", 3, 2),)),
    ],
)
def test_parts_that_cross(layout: LayoutSpec) -> None:
    found = check_spec(layout, (8,) * layout.rank, Mesh(z=6))
    assert found is not None
    assert (found.code, "is cut after 2 and after 3" in found.message) == ("SW0107", True), found
    assert found.help == 'cut the axis in one place, as in "z":(1)2 with "z":(2)3 or "z":(1)3 with "z":(3)2'


def test_parts_that_nest_may_leave_gaps() -> None:
    assert check_spec(spec((Axis("z", 6, 2), Axis("z", 1, 2))), (8,), Mesh(z=12)) is None


def test_uneven_split_names_the_axes_that_fit() -> None:
    found = check_spec(spec((X,)), (6,), MESH)
    assert found is not None
    assert found.help == "axes that divide 6: y=2, x:(1)2; sizes that fit: 8"
    found = check_spec(spec((X,)), (5,), MESH)
    assert found is not None
    assert found.help == "no axis divides 5; sizes that fit: 8"


def test_uneven_split_lists_the_sizes_around() -> None:
    found = check_spec(spec((X,)), (19,), MESH)
    assert found is not None
    assert found.help == "no axis divides 19; sizes that fit: 16, 24"


@pytest.mark.parametrize(("full", "sizes"), [(8, "2, 4"), (9, "3"), (12, "2, 3, 4, 6"), (30, "2, 3, 5, 6, 10, 15")])
def test_a_part_that_does_not_divide_is_shown_sizes_that_do(full: int, sizes: str) -> None:
    found = check_spec(spec((Axis("x", 1, 7),)), (7,), Mesh(x=full))
    assert found is not None
    assert found.help == f"sizes that divide {full}: {sizes}"
