"""Pictures of layouts: every box has the devices that hold it, whatever the rank, and the picture stays small."""

from __future__ import annotations

import io
import math
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import shardwright as sw
from shardwright.layout.boxes import box
from shardwright.layout.pictures.grid import holders
from shardwright.layout.pictures.text import wrapped

MESH = sw.Mesh(a=4, b=2, c=3)
CASES = [
    ([], ()),
    (["a"], (8,)),
    (["b", "a"], (4, 8)),
    ([("c", "a"), None, "b"], (12, 5, 2)),
    (["a:(2)2", "a:(1)2", "c"], (2, 2, 3)),
    ([None, "a", "b", "c"], (2, 4, 2, 3)),
]


@pytest.mark.parametrize(("entries", "shape"), CASES, ids=str)
def test_holders_are_the_devices_whose_box_it_is(entries: list[object], shape: tuple[int, ...]) -> None:
    """The same as asking each device for its box, which `layout.boxes` answers on its own."""
    layout = sw.Layout(entries, MESH)  # pyright: ignore[reportArgumentType]
    spec = layout.for_rank(len(shape)).spec
    expected: dict[object, list[int]] = {}
    for device, at in enumerate(np.ndindex(*MESH.shape)):
        expected.setdefault(box(spec, shape, MESH, dict(zip(MESH.sizes, at, strict=True))), []).append(device)
    local = layout.local_shape(shape)
    counts = [size // part for size, part in zip(shape, local, strict=True)]
    for places in np.ndindex(*counts):
        ranges = tuple((at * size, (at + 1) * size) for at, size in zip(places, local, strict=True))
        assert list(holders(spec, MESH.sizes, places)) == expected[ranges]


def test_two_dims() -> None:
    text = """f32[4@x, 6@y]{sum@z}
mesh x=2, y=3, z=2: devices 0 to 11
dim 0 down, dim 1 across
dim 0: 2 parts over x
dim 1: 3 parts over y
each box is held by 2 devices
partial over z: what these devices hold still has to be combined (sum)
      0:2     2:4     4:6
    ┌───────┬───────┬───────┐
0:2 │ 0 1   │ 2 3   │ 4 5   │
    ├───────┼───────┼───────┤
2:4 │ 6 7   │ 8 9   │ 10 11 │
    └───────┴───────┴───────┘"""
    layout = sw.Layout.from_string('[{"x"}, {"y"}], unreduced=sum{"z"}', sw.Mesh(x=2, y=3, z=2))
    assert str(layout.picture((4, 6), "f32")) == text


def test_a_million_devices_make_a_small_picture() -> None:
    mesh = sw.Mesh(x=1024, y=1024)
    picture = sw.Layout([("x", "y"), None], mesh).picture((1 << 20, 8), "f32")
    assert "1048575" in str(picture)
    assert "…" in str(picture)
    assert len(picture.svg()) < 10_000
    held = sw.Layout([None, None], mesh).picture((4, 4), "f32")
    assert "0 1 … (1,048,576)" in str(held)
    cube = sw.Layout(["a", "b", "c"], sw.Mesh(a=64, b=64, c=64)).picture((64, 64, 64), "f32")
    assert "… and 60 more slices like these" in str(cube)
    assert len(cube.svg()) < 60_000


@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_fit_the_terminal(width: int) -> None:
    picture = sw.Layout(["a", "b"], sw.Mesh(a=8, b=64)).picture((8, 64), "f32")
    assert max(map(len, picture.text(width).splitlines())) <= width
    if width == 200:
        assert len(picture.boxes.columns) == 8


def test_uneven_shapes_are_refused_as_everywhere() -> None:
    with pytest.raises(ValueError, match="SW0104"):
        sw.Layout(["a"], MESH).picture((5,))


@pytest.mark.parametrize("size", [3, 7, 9, 10, 11])
@pytest.mark.parametrize("axes", ["x", ("x", "y")])
def test_of_what_does_not_divide_the_last_parts_have_less(axes: str | tuple[str, ...], size: int) -> None:
    """As devices hold it: parts as long as the first, until nothing is left."""
    layout = sw.Layout([axes], sw.Mesh(x=4, y=2), uneven=True)
    length = len(sw.unpack(sw.relayout(np.arange(size), layout))[0])
    parts = [range(size)[length * at : length * (at + 1)] for at in range(4 if axes == "x" else 8)]
    expected = [f"{part[0]}:{part[-1] + 1}" if len(part) > 1 else str(*part) or "nothing" for part in parts]
    assert [str(part) for part in layout.picture((size,)).boxes.columns] == expected


def test_svg_is_xml_whatever_axes_are_called() -> None:
    mesh = sw.Mesh([("<script>alert(1)</script>", 2), ('"&\x00', 2)])
    for picture in (sw.Layout(["<script>alert(1)</script>"], mesh).picture(), mesh.picture()):
        root = ElementTree.fromstring(picture.svg())
        assert not [each for each in root.iter() if each.tag.endswith("script")]
        assert picture.svg() == picture._repr_html_()  # pyright: ignore[reportPrivateUsage]


def test_layouts_and_meshes_show_themselves_in_notebooks() -> None:
    x = sw.relayout(np.arange(4.0), sw.Layout(["a"], MESH))
    for shown in (x, x.layout, MESH):
        assert "<svg " in shown._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "<pre>DTensor([0., 1., 2., 3.], f64[4@a]" in x._repr_html_()


def test_visualize_prints_without_colours_where_nobody_sees_them(capsys: pytest.CaptureFixture[str]) -> None:
    layout = sw.Layout(["b"], MESH)
    picture = sw.visualize(layout, (4, 2))
    printed = capsys.readouterr().out
    assert printed.splitlines() == picture.text(80).splitlines()
    assert "\x1b" not in printed
    assert sw.visualize(layout, (4, 2), show=False).boxes == picture.boxes
    assert capsys.readouterr().out == ""


def test_visualize_draws_with_the_letters_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(taken, "ascii", write_through=True))
    sw.visualize(sw.relayout(np.arange(4), sw.Layout(["x"], sw.Mesh(x=2))))
    printed = taken.getvalue().decode("ascii").splitlines()
    assert printed[-3:] == ["+-----+-----+", "| 0   | 1   |", "+-----+-----+"]


def test_visualize_colours_terminals(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    sw.visualize(sw.Layout(["b"], MESH), (4, 2))
    assert "\x1b[38;2;22;24;29;48;2;207;227;255m" in capsys.readouterr().out


def test_visualize_refuses_what_has_no_layout() -> None:
    with pytest.raises(TypeError, match=r"SW0576.*not a ndarray"):
        sw.visualize(np.ones(3))
    with pytest.raises(TypeError, match=r"SW0576.*a shape with it"):
        sw.visualize(MESH, (3,))
    with pytest.raises(TypeError, match=r"SW0576.*a traced value"):
        sw.function(lambda x: sw.visualize(x)).trace(np.ones(3))
    with pytest.raises(TypeError, match=r"SW0576.*a tensor without a layout"):
        sw.visualize(sw.Variable(np.ones(3)))


def test_what_the_compiler_is_to_choose_is_not_drawn() -> None:
    automatic = sw.Layout.auto(MESH)
    for drawn in (automatic, sw.TensorSpec((4, 2), layout=automatic)):
        with pytest.raises(ValueError, match="SW0584"):
            sw.visualize(drawn)
    assert automatic._repr_html_() is None  # notebooks then show its text


@pytest.mark.parametrize("shape", [(-2, 2), (4.0, 2), "42", 2.5, (None, 2)])
def test_shapes_of_pictures_are_whole_numbers(shape: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="SW0510"):
        sw.visualize(sw.Layout(["b", None], MESH), shape)


def test_words_are_wrapped() -> None:
    assert wrapped("a bb cc", 4) == ["a bb", "cc"]


@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (1001,), (40, 40), (2, 600), (9, 9, 16)], ids=str)
@pytest.mark.parametrize("partial", [False, True])
def test_elements_are_written_as_numpy_writes_them(shape: tuple[int, ...], partial: bool) -> None:
    mesh = sw.Mesh(x=2, y=2)
    whole = np.arange(math.prod(shape), dtype="float32").reshape(shape)
    layout = sw.Layout(["x" if size % 2 == 0 else None for size in shape[-1:]], mesh)
    dims = [None] * (len(shape) - 1) + layout.sharding_specs if shape else []
    given = sw.Layout(dims, mesh)
    text = given.spec.body() + (', unreduced=sum{"y"}' if partial else "")
    x = sw.relayout(whole, sw.Layout.from_string(text, mesh))
    expected = np.array2string(whole, separator=", ", prefix="DTensor(")
    assert repr(x).startswith(f"DTensor({expected}, ") or repr(x).startswith(f"DTensor({expected},\n        f32[")


def test_elements_elsewhere_stay_there() -> None:
    mesh = sw.Mesh.distributed({"x": 2}, num_clients=2, client_id=0)
    x = sw.DTensor(np.zeros((1, 2)), sw.Layout(["x"], mesh))
    assert repr(x) == "DTensor(f64[4@x], Mesh(x=2))"
