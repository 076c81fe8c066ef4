"""`Layout`: constructors, text forms both ways, and what each mistake says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from shardwright.diagnostics import ShardwrightTypeError, ShardwrightValueError
from shardwright.layout import Axis, Layout, LayoutSpec, Mesh

MESH = Mesh([("batch", 4), ("model", 2)])


def error(call: Any) -> str:
    """The code and text of the coded ValueError that `call` raises."""
    with pytest.raises(ShardwrightValueError) as caught:
        call()
    return str(caught.value)


def test_constructor_takes_names_tuples_and_unsharded() -> None:
    layout = Layout(["batch", Mesh.UNSHARDED, None, ()], MESH)
    assert layout.spec == LayoutSpec("mesh", ((Axis("batch"),), (), (), ()))
    both = LayoutSpec("mesh", ((Axis("batch"), Axis("model")),))
    assert Layout([("batch", "model")], MESH).spec == both
    assert Layout([["batch", "model"]], MESH).spec == both
    assert Layout("batch", MESH) == Layout(["batch"], MESH)
    assert Layout(["batch:(2)2"], MESH).spec.dims == ((Axis("batch", 2, 2),),)


def test_short_specs_leave_dims_unsharded() -> None:
    layout = Layout(["batch"], MESH)
    assert layout.local_shape((8, 6, 5)) == (2, 6, 5)
    assert layout.for_rank(3) == Layout(["batch", None, None], MESH)
    assert Layout(Mesh.UNSHARDED, MESH).local_shape(()) == ()
    assert Layout(Mesh.UNSHARDED, MESH).local_shape((3, 3)) == (3, 3)


def test_rfc_example_of_a_component() -> None:
    # RFC: a 5 x 4 x 6 tensor, unsharded, x and y on a 2 x 3 mesh, has components of 5 x 2 x 2.
    mesh = Mesh({"x": 2, "y": 3})
    layout = Layout([Mesh.UNSHARDED, "x", "y"], mesh)
    assert layout.local_shape([5, 4, 6]) == (5, 2, 2)
    assert layout.global_shape([5, 2, 2]) == (5, 4, 6)


def test_named_constructors() -> None:
    assert Layout.replicated(MESH, rank=2) == Layout([None, None], MESH)
    assert Layout.replicated(MESH, rank=2).is_replicated
    assert Layout.batch_sharded(MESH, "batch", rank=3) == Layout(["batch", None, None], MESH)
    assert "SW0106" in error(lambda: Layout.batch_sharded(MESH, "batch", rank=0))


def test_repr_can_be_evaluated() -> None:
    for layout in (
        Layout(["batch", None], MESH),
        Layout([("batch", "model")], MESH),
        Layout(["batch:(1)2"], MESH),
        Layout.from_string('[{"batch"}], unreduced=sum{"model"}', MESH),
        Layout.from_string('[{"batch", ?}]', MESH),
    ):
        assert eval(repr(layout)) == layout


def test_forms_for_people() -> None:
    layout = Layout(["batch"], MESH)
    assert layout.describe((16, 64), "f32") == "f32[16@batch, 64]"
    assert Layout.from_string("f32[16@batch, 64]", MESH) == layout.for_rank(2)
    assert Layout.from_string("bf16[]", MESH) == Layout([], MESH)
    partial = Layout.from_string("f32[16@batch]{max@model}", MESH)
    assert (partial.spec.partial, partial.spec.kind) == ((Axis("model"),), "max")


axes = st.permutations(["batch", "model"]).flatmap(
    lambda names: st.lists(st.sampled_from([(names[0],), (names[1],), tuple(names), ()]), max_size=4).filter(
        lambda dims: sorted(axis for dim in dims for axis in dim) == sorted({axis for dim in dims for axis in dim})
    )
)


@given(axes)
def test_text_forms_read_back(dims: list[tuple[str, ...]]) -> None:
    layout = Layout(dims, MESH)
    assert Layout.from_string(str(layout), MESH) == layout
    assert Layout.from_string(layout.spec.body(), MESH) == layout
    assert Layout.from_string(layout.describe([8] * layout.rank, "f32"), MESH) == layout


@given(axes)
def test_sharding_specs_are_what_the_constructor_takes(dims: list[tuple[str, ...]]) -> None:
    layout = Layout(dims, MESH)
    assert Layout(layout.sharding_specs, MESH) == layout
    assert hash(Layout(layout.sharding_specs, MESH)) == hash(layout)


@pytest.mark.parametrize(
    "text", ["", "[", "[{x}]", '[{"x"} {"y"}]', '[{"batch"}], unreduced=mean{"model"}', "f32[16@]", "f32[a]", "f32[2"]
)
def test_malformed_text(text: str) -> None:
    assert "error[SW0108]" in error(lambda: Layout.from_string(text, MESH))


def test_unknown_axis_names_those_there_are() -> None:
    message = error(lambda: Layout(["rows"], MESH))
    assert "error[SW0102]" in message
    assert "'rows'" in message
    assert "batch=4, model=2" in message


def test_axis_used_twice_says_where() -> None:
    message = error(lambda: Layout(["batch", ("model", "batch")], MESH))
    assert "error[SW0105]: axis 'batch' is used twice: by dim 0 and by dim 1" in message


def test_uneven_shape_lists_sizes_and_axes_that_fit() -> None:
    message = error(lambda: Layout(["batch"], MESH).local_shape((6, 8)))
    assert "error[SW0104]: dim 0 has 6 elements and does not split evenly over batch=4" in message
    assert "axes that divide 6: model=2, batch:(1)2; sizes that fit: 4, 8" in message
    assert "SW0104" in error(lambda: Layout.from_string("f32[6@batch]", MESH))


def test_layout_of_higher_rank_than_the_tensor() -> None:
    assert "error[SW0106]" in error(lambda: Layout(["batch", None], MESH).local_shape((8,)))


@pytest.mark.parametrize("entry", [3, ["batch", 2], "no axis", {"batch": 1}])
def test_entries_that_are_no_sharding(entry: Any) -> None:
    assert "error[SW0109]" in error(lambda: Layout([entry], MESH))


def test_parts_of_axes_must_divide() -> None:
    assert "error[SW0107]" in error(lambda: Layout(["batch:(1)3"], MESH))


def test_on_another_mesh() -> None:
    assert Layout(["batch"], MESH).on(Mesh(batch=8)) == Layout(["batch"], Mesh(batch=8))
    assert "SW0102" in error(lambda: Layout(["batch"], MESH).on(Mesh(x=8)))


def test_equality_needs_the_same_mesh() -> None:
    assert Layout(["batch"], MESH) != Layout(["batch"], Mesh(batch=4))
    assert Layout(["batch"], MESH) != "batch"


def test_equality_needs_the_same_dims_and_the_same_sums() -> None:
    spec = LayoutSpec("mesh", ((Axis("batch"),), ()))
    summed = Layout.from_spec(spec.with_partial((Axis("model"),), "sum"), MESH)
    largest = Layout.from_spec(spec.with_partial((Axis("model"),), "max"), MESH)
    rows = Layout(["batch", None], MESH)
    assert rows == Layout(["batch", None], MESH) != Layout([None, "batch"], MESH)
    assert len({rows, summed, largest}) == 3
    assert summed != largest
    # The same sums of other parts.
    assert summed != Layout.from_spec(LayoutSpec("mesh", ((), ())).with_partial((Axis("model"),), "sum"), MESH)


def test_a_batch_is_the_first_dim() -> None:
    assert Layout.batch_sharded(MESH, "batch", 1) == Layout(["batch"], MESH)
    assert Layout.batch_sharded(MESH, "model", 3) == Layout(["model", None, None], MESH)
    assert "SW0106" in error(lambda: Layout.batch_sharded(MESH, "batch", 0))


def test_dims_are_added_and_never_dropped() -> None:
    rows = Layout(["batch", None], MESH)
    assert rows.for_rank(2) is rows
    assert "has 2 dims, but the tensor has 1" in error(lambda: rows.for_rank(1))


def test_a_sharding_moves_to_a_mesh_of_the_same_axes_only() -> None:
    rows, whole = Layout(["batch"], MESH), Layout([None], MESH)
    same, turned = Mesh([("batch", 4), ("model", 2)]), Mesh([("model", 2), ("batch", 4)])
    assert rows.moved_to(same) == Layout(["batch"], same)
    assert whole.moved_to(Mesh(z=3)) == Layout([None], Mesh(z=3))
    assert "SW0119" in error(lambda: rows.moved_to(turned))
    assert "SW0119" in error(lambda: rows.moved_to(Mesh(batch=4)))
    assert "SW0102" in error(lambda: rows.moved_to(Mesh(model=2)))


def test_mesh_and_entries_in_the_wrong_places() -> None:
    for wrong, words in (((MESH, ["batch"]), "is not a mesh"), ((3, MESH), "is not a list with an entry for each dim")):
        with pytest.raises(ShardwrightTypeError, match=rf"SW0109.*{words}"):
            Layout(*wrong)  # pyright: ignore
    with pytest.raises(ShardwrightTypeError, match=r"SW0109.*Mesh\(batch=4, model=2\) is not a list"):
        Layout(MESH, MESH)  # pyright: ignore


def test_unknown_axes_are_named_before_anything_else() -> None:
    assert "SW0102" in error(lambda: Layout([("missing", "batch")], MESH))
    assert "SW0102" in error(lambda: Layout(["batch", ("batch", "missing")], MESH))


def test_priorities_are_shown_where_they_are_not_zero() -> None:
    assert LayoutSpec("mesh", ((Axis("batch"),), ()), priorities=(2, 0)).body() == '[{"batch"}p2, {}]'


def test_axes_of_a_mesh() -> None:
    for call, words in (
        (lambda: MESH.dim_size("z"), "its axes are batch, model"),
        (lambda: Mesh().dim_size("z"), "it has no axes"),
        (lambda: MESH.submesh(batch=4), "axis 'batch' of size 4 has nothing at 4"),
        (lambda: Mesh([("x", 2), ("x", 2)]), "an axis name is repeated in ['x', 'x']"),
    ):
        assert words in error(call)
    with pytest.raises(ShardwrightValueError) as caught:
        Mesh(x=0)
    assert caught.value.diagnostics[0].code == "SW0101"
    assert (MESH == "mesh", Mesh(batch=4, model=2) == MESH, Mesh(batch=2, model=4) == MESH) == (False, True, False)


ARRAY = np.ones(2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Layout(["batch"], MESH, uneven=ARRAY), "uneven is .* neither True nor False"),  # pyright: ignore
        (lambda: Layout(["batch"], MESH, uneven=2), "uneven is 2, which is neither True nor False"),  # pyright: ignore
        (lambda: Layout(["batch"], MESH).describe(4, "f32"), "4 is no shape"),  # pyright: ignore
        (lambda: Mesh.distributed({"x": 2}, num_clients="2", client_id=0), "num_clients is '2'"),  # pyright: ignore
        (lambda: Mesh.distributed({"x": 2}, num_clients=2, client_id=[1]), r"client_id is \[1\]"),  # pyright: ignore
    ],
)
def test_other_kinds_of_settings(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ShardwrightTypeError, match=f"SW0109.*{words}"):
        call()


def test_arrays_name_no_axes() -> None:
    assert "SW0109" in error(lambda: Layout([ARRAY], MESH))  # pyright: ignore
    assert "SW0109" in error(lambda: Layout.batch_sharded(MESH, ARRAY, rank=2))  # pyright: ignore
