"""What is printed of layouts reads back: `str`, `repr`, the form for people, and TensorFlow's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from shardwright.diagnostics import ShardwrightValueError
from shardwright.layout import Axis, Layout, LayoutSpec, Mesh
from shardwright.layout.spec import REDUCTION_KINDS

MESH = Mesh(x=4, y=2, z=3)
NAMES = ["x", "a-b", "a.b", "é", "data axis", "?", "auto", "1", "}, {", "@y", 'say "x"', "None", "name", "class"]
"""Names of axes, of which most people would write the first."""


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Any layout over any mesh: parts of axes, open dims, parts of sums, uneven ones, and what guides propagation."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    mesh = Mesh(
        {name: draw(st.sampled_from([1, 2, 4, 6])) for name in names}, name=draw(st.sampled_from(["mesh", "a b"]))
    )
    if draw(st.integers(0, 9)) == 0:
        return Layout.auto(mesh)
    pieces = [piece for name, size in mesh.sizes.items() for piece in draw(st.sampled_from(cuts(name, size)))]
    rank = draw(st.integers(0, 3))
    places = draw(st.lists(st.integers(0, rank + 2), min_size=len(pieces), max_size=len(pieces)))
    held: list[list[Axis]] = [[] for _ in range(rank + 3)]
    for piece, place in zip(pieces, places, strict=True):
        held[place].append(piece)
    *dims, partial, withheld, _ = map(tuple, held)
    ranks = draw(st.lists(st.integers(0, 2), min_size=rank, max_size=rank))
    spec = LayoutSpec(
        mesh.name,
        tuple(dims),
        frozenset(dim for dim in range(rank) if draw(st.booleans())),
        partial,
        draw(st.sampled_from(REDUCTION_KINDS)) if partial else "",
        withheld,
        tuple(ranks) if any(ranks) else (),
    )
    return Layout.from_spec(spec, mesh, uneven=draw(st.booleans()))


def cuts(name: str, size: int) -> list[list[Axis]]:
    """Ways to use an axis: as a whole, as parts, or one part of it."""
    if size not in (4, 6):
        return [[Axis(name)]]
    major, minor = Axis(name, 1, 2), Axis(name, 2, size // 2)
    return [[Axis(name)], [major, minor], [minor]]


def same(found: Layout, layout: Layout) -> bool:
    return (found, hash(found), found.uneven, found.is_auto) == (layout, hash(layout), layout.uneven, layout.is_auto)


def read(text: str, layout: Layout) -> Layout:
    return Layout.from_string(text, layout.mesh, uneven=layout.uneven)


@given(layouts())
def test_the_form_of_the_ir_says_all(layout: Layout) -> None:
    for text in (str(layout), str(layout).split(", ", 1)[1][:-1]):
        found = read(text, layout)
        assert same(found, layout)
        assert (str(found), found.spec) == (str(layout), layout.spec)


@given(layouts())
def test_a_repr_is_an_expression(layout: Layout) -> None:
    found = eval(repr(layout))
    assert same(found, layout)
    assert repr(found) == repr(layout)


@given(layouts(), st.data())
def test_the_form_for_people_says_what_counts(layout: Layout, data: st.DataObject) -> None:
    """All but what guides propagation; of a shape that splits, of one that may not, and of one that nobody knows."""
    rank = data.draw(st.integers(0, 3)) if layout.is_auto else layout.rank
    whole = layout.for_rank(rank)
    fitting = [2 * size for size in whole.global_shape([1] * rank)]
    shapes: list[list[Any]] = [fitting, [data.draw(st.sampled_from([size, None])) for size in fitting]]
    if layout.uneven:
        shapes.append([size + 1 for size in fitting])
    for shape in shapes:
        for element in ("f32", "f8E4M3FN", "complex<f32>"):
            text = whole.describe(shape, element)
            found = read(text, layout)
            assert same(found, layout)
            assert found.describe(shape, element) == text


@given(layouts())
def test_tensorflow_s_form_says_all_that_it_can(layout: Layout) -> None:
    """Whole axes, one for each dim at most; all else is refused, and not left out."""
    spec, plain = layout.spec, [name for name in layout.mesh.axis_names if name.isidentifier()]
    if (
        spec.partial
        or spec.open_dims
        or layout.is_auto
        or any(len(dim) > 1 or not axis.whole for dim in spec.dims for axis in dim)
    ):
        with pytest.raises(ShardwrightValueError, match="SW0117"):
            layout.to_string()
    elif len(plain) == len(layout.mesh.axis_names):
        found = read(layout.to_string(), layout)
        assert same(found, layout)
        assert found.to_string() == layout.to_string()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("f32[64@x@?, 8@?]", '<@mesh, [{"x", ?}, {?}]>'),
        ("f32[64@x:(1)2@?]{sum@y,z}", '<@mesh, [{"x":(1)2, ?}], unreduced=sum{"y", "z"}>'),
        ("f32[None@x, None]", '<@mesh, [{"x"}, {}]>'),
        ('c64[8@"x"]', '<@mesh, [{"x"}]>'),
        ('[{"x", ?}p2, {}]', '<@mesh, [{"x", ?}p2, {}]>'),
        ('[{?}], replicated={"x"}', '<@mesh, [{?}], replicated={"x"}>'),
        ("auto", "<@mesh, auto>"),
        ("f32[8, 4]{auto}", "<@mesh, auto>"),
    ],
)
def test_what_is_open_is_said(text: str, written: str) -> None:
    assert str(Layout.from_string(text, MESH)) == written


@pytest.mark.parametrize("text", ["f32[8@x]{auto}", "f32[8@?@x]", "f32[?]", "f32[8@?]{auto}", "f32[8]{}", '[{"x"}p]'])
def test_what_is_open_is_not_said_so(text: str) -> None:
    with pytest.raises(ShardwrightValueError, match="SW0108"):
        Layout.from_string(text, MESH)


def test_an_uneven_text_is_read_where_that_is_asked_for() -> None:
    rows = Layout(["x"], MESH, uneven=True)
    assert rows.describe((10,), "f32") == "f32[10@x]"
    assert Layout.from_string("f32[10@x]", MESH, uneven=True).local_shape((10,)) == (3,)
    assert Layout.from_string(rows.to_string(), uneven=True).uneven
    assert repr(Layout.from_string('[{"x"}], unreduced=sum{"y"}', MESH, uneven=True)).endswith(", uneven=True)")
    with pytest.raises(ShardwrightValueError, match="SW0104"):
        Layout.from_string("f32[10@x]", MESH)


def test_meshes_with_names_that_are_no_keywords_are_expressions() -> None:
    for name in NAMES:
        assert eval(repr(Mesh({name: 2}))) == Mesh({name: 2})
    assert repr(MESH) == "Mesh(x=4, y=2, z=3)"
    assert repr(Mesh({"name": 2})) == "Mesh({'name': 2})"
