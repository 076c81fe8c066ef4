"""What each collective makes of a layout; expected layouts written by hand."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from shardwright.layout.axes import Axis, parse_axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import algebra
from shardwright.layout.spec import LayoutSpec

MESH = Mesh(x=8, y=2, z=2, one=1)


def axes(text: str) -> tuple[Axis, ...]:
    return tuple(map(parse_axis, text.split()))


def parts(found: Iterable[algebra.Digits]) -> tuple[Axis, ...]:
    return tuple(MESH.part(*digits) for digits in found)


def layout(*dims: str, partial: str = "", kind: str = "sum") -> LayoutSpec:
    return LayoutSpec("mesh", tuple(map(axes, dims)), frozenset(), axes(partial), kind if partial else "")


def test_canonical_joins_neighbours_orders_partial_axes_and_drops_size_one() -> None:
    spelled = layout("x:(1)2 x:(2)4 one", "", partial="z y one")
    assert algebra.canonical(spelled, MESH) == layout("x", "", partial="y z")
    assert algebra.canonical(layout("", partial="one"), MESH) == layout("")


def test_canonical_drops_parts_of_size_one() -> None:
    assert algebra.canonical(layout("x:(2)1 y"), MESH) == layout("y")


def test_canonical_keeps_what_is_not_adjacent_in_order() -> None:
    spelled = layout("x:(2)4 x:(1)2")
    assert algebra.canonical(spelled, MESH) is spelled


def test_partial_axes_are_put_in_order_and_dims_left_as_they_are() -> None:
    spelled = layout("x:(1)2 x:(2)4", partial="z one y")
    assert algebra.tidy_partial(spelled, MESH) == layout("x:(1)2 x:(2)4", partial="y z")
    assert algebra.tidy_partial(layout("x", partial="one"), MESH) == layout("x")
    # The mesh's order, and that of the digits; not that of the names.
    mesh = Mesh(b=8, a=2)
    assert algebra.tidy_partial(layout("", partial="a b"), mesh) == layout("", partial="b a")
    assert algebra.tidy_partial(layout("", partial="b:(4)2 b:(1)2"), mesh) == layout("", partial="b:(1)2 b:(4)2")


def test_all_reduce_takes_part_of_a_partial_axis() -> None:
    reduced = algebra.all_reduce(layout("", partial="x y"), axes("x:(2)2"), MESH)
    assert reduced == layout("", partial="x:(1)2 x:(4)2 y")
    assert algebra.all_reduce(reduced, axes("y x:(4)2 x:(1)2 one"), MESH) == layout("")


def test_reduce_scatter_appends_minor_and_joins() -> None:
    before = layout("x:(1)2", "", partial="x:(2)4 y")
    assert algebra.reduce_scatter(before, [axes("x:(2)4"), axes("y")], MESH) == layout("x", "y")


def test_all_gather_removes_parts_from_the_minor_end_of_several_dims() -> None:
    assert algebra.all_gather(layout("x", "z y"), [axes("x:(2)4"), axes("y")], MESH) == layout("x:(1)2", "z")
    assert algebra.all_gather(layout("y x"), [axes("y x")], MESH) == layout("")


def test_all_slice_appends_and_joins() -> None:
    assert algebra.all_slice(layout("x:(1)2", ""), [axes("x:(2)4"), axes("y")], MESH) == layout("x", "y")
    assert algebra.all_slice(layout("", ""), [(), ()], MESH) == layout("", "")


def test_all_to_all_moves_minor_parts() -> None:
    assert algebra.all_to_all(layout("y x", "z"), axes("x:(4)2"), 0, 1, MESH) == layout("y x:(1)4", "z x:(4)2")


def test_results_are_closed() -> None:
    open_spec = LayoutSpec("mesh", (axes("x"), ()), frozenset({1}))
    assert algebra.all_gather(open_spec, [axes("x"), ()], MESH) == layout("", "")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: algebra.all_reduce(layout("x"), axes("y"), MESH), r'"y" is not partial in \[{"x"}\]'),
        (lambda: algebra.all_reduce(layout("", partial="x:(1)2"), axes("x"), MESH), '"x" is not partial'),
        (lambda: algebra.reduce_scatter(layout("", "", partial="x"), [axes("x"), axes("x")], MESH), "is not partial"),
        (lambda: algebra.all_gather(layout("x y"), [axes("x")], MESH), '"x" is not at the minor end of dim 0'),
        (lambda: algebra.all_gather(layout("x"), [axes("x:(1)2")], MESH), r'"x":\(1\)2 is not at the minor end'),
        (lambda: algebra.all_gather(layout("x"), [axes("x"), ()], MESH), r'given for 2 dims, but \[{"x"}\] has 1'),
        (lambda: algebra.all_gather(layout("y"), [axes("w")], MESH), "has no axis 'w'"),
        (lambda: algebra.all_gather(layout("x"), [[Axis("x", 3, 2)]], MESH), "is no part of an axis of size 8"),
        (lambda: algebra.all_slice(layout("x", ""), [(), axes("x:(2)2")], MESH), 'uses "x" already'),
        (lambda: algebra.all_slice(layout("", "", partial="y"), [(), axes("y")], MESH), 'uses "y" already'),
        (lambda: algebra.all_slice(layout("", ""), [axes("y"), axes("y")], MESH), "cannot slice dim 1"),
        (lambda: algebra.all_slice(layout(""), [[Axis("x", 3, 2)]], MESH), "is no part of an axis of size 8"),
        (lambda: algebra.all_slice(layout(""), [[Axis("w")]], MESH), "has no axis 'w'"),
        (lambda: algebra.all_to_all(layout("x", ""), axes("x"), 0, 0, MESH), "two different dims"),
        (lambda: algebra.all_to_all(layout("x", ""), axes("x"), 0, 2, MESH), "there is no dim 2"),
        (lambda: algebra.all_to_all(layout("x y", ""), axes("x"), 0, 1, MESH), "not at the minor end of dim 0"),
        (lambda: algebra.check_permute(layout("y"), layout("x"), MESH), "2 parts .* and 8 in"),
        (lambda: algebra.check_permute(layout("y"), layout("z", partial="x"), MESH), "only a reduction"),
        (lambda: algebra.all_gather(layout("", "y"), [axes("y"), ()], MESH), '"y" is not at the minor end of dim 0'),
        (lambda: algebra.all_gather(layout("y", ""), [axes("z"), ()], MESH), '"z" is not at the minor end of dim 0'),
        (lambda: algebra.check_exchange(layout("y"), layout("y", ""), MESH), "1 and 2 dims"),
        (lambda: algebra.check_exchange(layout("y"), LayoutSpec("other", (axes("y"),)), MESH), "different meshes"),
        (lambda: algebra.local_shape(layout("x"), (12,), MESH), "does not split evenly into 8 parts"),
        (lambda: algebra.local_shape(layout("x"), (8, 8), MESH), "has 1 dims, but the tensor has 2"),
        (lambda: algebra.reduce_scatter(layout("", partial="x"), [axes("x"), ()], MESH), "axes are given for 2 dims"),
        (lambda: algebra.all_slice(layout(""), [axes("x"), ()], MESH), "axes are given for 2 dims"),
        (lambda: algebra.all_slice(layout(""), [[Axis("x", 0, 2)]], MESH), "is no part of an axis of size 8"),
        (lambda: algebra.check_permute(layout("y"), layout("y", ""), MESH), "1 and 2 dims"),
        (lambda: algebra.check_exchange(layout("w"), layout("y"), MESH), "has no axis 'w'"),
        (lambda: algebra.check_exchange(layout("y"), layout("x:(3)2"), MESH), "is no part of an axis of size 8"),
    ],
)
def test_illegal_collectives_say_why(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()


def test_a_part_that_crosses_is_not_at_the_minor_end() -> None:
    # "x":(2)3 are the digits [2, 6) of 6, and "x":(3)2 are [3, 6): what would be left, [2, 3), is no whole digit.
    mesh, crossed = Mesh(x=6), layout("x:(2)3", "")
    for take in (
        lambda: algebra.all_gather(crossed, [axes("x:(3)2"), ()], mesh),
        lambda: algebra.all_to_all(crossed, axes("x:(3)2"), 0, 1, mesh),
    ):
        with pytest.raises(ValueError, match=r'"x":\(3\)2 is not at the minor end of dim 0'):
            take()


def test_permutes_may_rename_reorder_and_trade_axes_of_equal_size() -> None:
    algebra.check_permute(layout("y", ""), layout("z", ""), MESH)
    algebra.check_permute(layout("y x"), layout("x y"), MESH)
    algebra.check_permute(layout("y", "z"), layout("z", "x:(4)2"), MESH)


def test_atoms_are_the_common_refinement_in_mesh_order() -> None:
    specs = layout("y x"), layout("x:(2)2", partial="z")
    found = algebra.atom_digits(specs, MESH)
    assert parts(found) == axes("x:(1)2 x:(2)2 x:(4)2 y z")
    numbers = algebra.spelled(specs[0].dims[0], found, MESH)
    assert parts(found[number] for number in numbers) == axes("y x:(1)2 x:(2)2 x:(4)2")


def test_atoms_leave_out_digits_that_nobody_uses() -> None:
    assert parts(algebra.atom_digits([layout("x:(1)2", "x:(4)2")], MESH)) == axes("x:(1)2 x:(4)2")


def test_crossing_parts_have_no_atoms() -> None:
    mesh = Mesh(x=6)
    specs = layout("x:(1)2"), layout("x:(1)3")
    assert algebra.crossing_axes(specs, mesh) == {"x"}
    with pytest.raises(ValueError, match="cut after 2 and after 3"):
        algebra.atom_digits(specs, mesh)


def test_local_shape_and_shards() -> None:
    spec = layout("x", "y z", "")
    assert algebra.local_shape(spec, (16, 12, 5), MESH) == (2, 3, 5)
    assert algebra.shards(spec, MESH) == 32
