"""`Picture`: which device holds which part of a tensor, to look at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shardwright.layout.axes import Axis
from shardwright.layout.pictures.grid import Grid, grid
from shardwright.layout.pictures.svg import grid_svg
from shardwright.layout.pictures.text import Line, grid_lines, wrapped
from shardwright.layout.spec import LayoutSpec

WIDTH = 100
"""The columns of a text where nobody says how many there are."""


@dataclass(frozen=True, repr=False)
class Picture:
    """
    Which device holds which part of a tensor: boxes with the numbers of the devices, row-major over the mesh.

    `str(picture)` is the text, `picture.svg()` the drawing, which notebooks show; `picture.boxes` is it as data. Of
    many devices, parts and slices only the first and the last are there, and "…" for the others.

    >>> print(picture(LayoutSpec("mesh", ()), {"x": 4}, (), "f32"))
    f32[]
    mesh x=4: devices 0 to 3
    each box is held by 4 devices
    ┌─────────┐
    │ 0 1 2 3 │
    └─────────┘
    """

    title: str
    notes: tuple[str, ...]
    boxes: Grid

    def lines(self, width: int = WIDTH) -> list[Line]:
        """The lines of the text, each in pieces: a text, and the number of the box to which it belongs, if any."""
        words = [line for text in (self.title, *self.notes) for line in wrapped(text, width)]
        return [*([(line, None)] for line in words), *grid_lines(self.boxes, width)]

    def text(self, width: int = WIDTH) -> str:
        """The picture in lines of `width` columns."""
        return "\n".join("".join(text for text, _ in line) for line in self.lines(width))

    def svg(self) -> str:
        """The picture as SVG: the text of a file, or an element of a page."""
        return grid_svg(self.boxes, self.title, self.notes)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Picture({self.title})"

    def _repr_html_(self) -> str:
        return self.svg()


def picture(spec: LayoutSpec, sizes: Mapping[str, int], shape: Sequence[int] | None = None, dtype: str = "") -> Picture:
    """
    The picture of a tensor of this layout on a mesh whose axes have these sizes; without a shape, of any tensor.

    The layout must fit the mesh and the shape (`Layout.local_shape`).

    >>> found = picture(LayoutSpec("mesh", ((Axis("x"),),)), {"x": 1048576})
    >>> [str(box) for box in found.boxes.slices[0].rows[0]][-3:]
    ['5', 'None', '1048575']
    """
    title = spec.body() if shape is None else spec.brief(tuple(shape), dtype)
    found = grid(spec, sizes, shape)
    return Picture(title, tuple(_notes(spec, sizes, found)), found)


def mesh_picture(sizes: Mapping[str, int]) -> Picture:
    """
    The picture of a mesh: where each device stands.

    >>> print(mesh_picture({"x": 2}))
    Mesh(x=2)
    x across
      0   1
    ┌───┬───┐
    │ 0 │ 1 │
    └───┴───┘
    """
    names = list(sizes)
    found = grid(LayoutSpec("mesh", tuple((Axis(name),) for name in sizes)), sizes, list(sizes.values()), names)
    words = [f"{names[dim]} {way}" for dim, way in ((found.down, "down"), (found.across, "across")) if dim is not None]
    title = f"Mesh({', '.join(f'{name}={size}' for name, size in sizes.items())})"
    return Picture(title, (", ".join(words) or "one device",), found)


def _notes(spec: LayoutSpec, sizes: Mapping[str, int], found: Grid) -> Iterator[str]:
    """What boxes and numbers do not say by themselves."""
    devices = math.prod(sizes.values())
    axes = ", ".join(f"{name}={size}" for name, size in sizes.items())
    yield f"mesh {axes}: devices 0 to {devices - 1:,}" if sizes else "no mesh axes: one device"
    drawn = [f"dim {dim} {way}" for dim, way in ((found.down, "down"), (found.across, "across")) if dim is not None]
    if drawn:
        yield ", ".join(drawn)
    counts = [math.prod(axis.size or sizes[axis.name] for axis in dim) for dim in spec.dims]
    for dim, (split, count) in enumerate(zip(spec.dims, counts, strict=True)):
        if split:
            more = ", or more" if dim in spec.open_dims else ""
            yield f"dim {dim}: {count:,} parts over {' and '.join(axis.brief() for axis in split)}{more}"
        elif dim in spec.open_dims:
            yield f"dim {dim}: may still be split"
    copies = devices // math.prod(counts)
    if copies > 1:
        yield f"each box is held by {copies:,} devices"
    if spec.partial:
        names = ", ".join(axis.brief() for axis in spec.partial)
        yield f"partial over {names}: what these devices hold still has to be combined ({spec.kind})"
