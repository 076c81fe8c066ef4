"""`visualize`: which device holds which part of a tensor, in the terminal, in notebooks and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.dtypes import brief
from shardwright.compiler.tracing.emit import check_layout
from shardwright.compiler.tracing.reference import held
from shardwright.compiler.tracing.settings import shape_argument
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.cells import in_notebook
from shardwright.diagnostics.faults import type_error
from shardwright.layout import Layout, Mesh
from shardwright.layout.pictures.picture import Picture
from shardwright.layout.pictures.svg import COLOURS, INK

if TYPE_CHECKING:
    from rich.text import Text


def visualize(x: Any, shape: Sequence[int] | None = None, *, show: bool = True) -> Picture:
    """
    Prints which device holds which part of a tensor, of a layout or of a mesh, and returns the picture.

    A layout is drawn for a tensor of `shape`, or without one for any. Boxes have the row-major numbers of the devices
    that hold them; of many devices, parts and slices only some are there. The picture shows itself in notebooks,
    `.svg()` is it as SVG, `str()` as text; with `show=False` nothing is printed. No element is looked at. Raises
    `TypeError` (SW0576) for anything else, (SW0510) for what is no shape, and `ValueError` for a shape that the layout
    does not fit (SW0104, SW0106) and for layouts that the compiler is still to choose (SW0584).

    >>> import shardwright
    >>> mesh = shardwright.Mesh(x=2, y=2)
    >>> picture = shardwright.visualize(shardwright.ones((4, 2), layout=shardwright.Layout(["x", "y"], mesh)))
    f32[4@x, 2@y]
    mesh x=2, y=2: devices 0 to 3
    dim 0 down, dim 1 across
    dim 0: 2 parts over x
    dim 1: 2 parts over y
          0   1
        ┌───┬───┐
    0:2 │ 0 │ 1 │
        ├───┼───┤
    2:4 │ 2 │ 3 │
        └───┴───┘
    >>> picture.svg()[:4]
    '<svg'
    """
    picture = _picture(held(x), shape)
    if show and not in_notebook():
        _print(picture)
    return picture


def _picture(x: Any, shape: Sequence[int] | None) -> Picture:
    if isinstance(x, Mesh) and shape is None:
        return x.picture()
    if isinstance(x, Layout):
        check_layout(x, "visualize")
        return x.picture(None if shape is None else shape_argument(shape, "visualize"))
    if isinstance(x, Array) and x.layout is not None and shape is None:
        check_layout(x.layout, "visualize")
        return x.layout.picture(shape_argument(x.shape, "visualize"), brief(x.dtype))
    if isinstance(x, Array | Mesh):
        without = (
            "a traced value, whose layout is not decided" if isinstance(x, Tracer) else "a tensor without a layout"
        )
        what = "a shape with it" if shape is not None else without
        raise type_error(
            "SW0576",
            f"visualize was given {what}",
            help="give a distributed tensor or a mesh alone, or a layout with the shape of a tensor",
        )
    raise type_error(
        "SW0576",
        f"visualize draws distributed tensors, layouts and meshes, not a {type(x).__name__}",
        help="give a layout with the shape of the array: shardwright.visualize(layout, x.shape)",
    )


def _print(picture: Picture) -> None:
    """The picture on standard output, as wide as that is, with colours where it is a terminal."""
    from rich.console import Console

    from shardwright.diagnostics.render import in_letters_of

    console = Console(highlight=False, markup=False)
    for line in picture.lines(console.width):
        plain = [(in_letters_of(console.encoding, text), box) for text, box in line]
        console.print(_coloured(plain), no_wrap=True, crop=False, overflow="ignore")


def _coloured(line: Sequence[tuple[str, int | None]]) -> Text:
    from rich.text import Text

    styles = [None if box is None else f"{INK} on {COLOURS[box % len(COLOURS)]}" for _, box in line]
    return Text.assemble(*((text, style or "") for (text, _), style in zip(line, styles, strict=True)))
