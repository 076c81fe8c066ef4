"""The attributes of the `dtensor` dialect: layouts, meshes, axis lists and enums, over plain Python data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser

from shardwright.dialects.sdy.meshes import parse_axes, parse_dim, parse_mesh_axis
from shardwright.dialects.stablehlo.parts import forms
from shardwright.dialects.text.data import Reader, TextAttr, Writer
from shardwright.layout.axes import Axis, quoted, symbol
from shardwright.layout.spec import REDUCTION_KINDS, LayoutSpec

MeshSizes: TypeAlias = tuple[tuple[str, int], ...]
"""The axes of a mesh, major to minor: names and sizes."""


def axes_text(axes: Sequence[Axis]) -> str:
    """What `parse_axes` reads."""
    return "{" + ", ".join(map(str, axes)) + "}"


def _parse_dim_axes(parser: AttrParser) -> tuple[tuple[Axis, ...], ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_axes(parser)))


def _dim_axes_text(dims: Sequence[Sequence[Axis]]) -> str:
    return "[" + ", ".join(map(axes_text, dims)) + "]"


def _parse_kind(parser: AttrParser) -> str:
    kind = parser.parse_identifier(context_msg=" naming a reduction")
    if kind not in REDUCTION_KINDS:
        parser.raise_error(f"unknown reduction '{kind}': expected one of {', '.join(REDUCTION_KINDS)}")
    return kind


def parse_spec(parser: AttrParser) -> LayoutSpec:
    """Reads `<@mesh, [{"x"}, {?}p1], unreduced=sum{"y"}, replicated={"z"}>`, as `LayoutSpec.__str__` writes it."""
    with parser.in_angle_brackets():
        mesh = parser.parse_symbol_name().data
        parser.parse_punctuation(",")
        dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_dim(parser))
        found: dict[str, tuple[Axis, ...]] = {}
        kind = ""
        while parser.parse_optional_punctuation(",") is not None:
            word = parser.parse_keyword_in(("unreduced", "replicated"))
            parser.parse_punctuation("=")
            kind = _parse_kind(parser) if word == "unreduced" else kind
            found[word] = parse_axes(parser)
    open_dims = frozenset(index for index, dim in enumerate(dims) if dim.is_open)
    priorities = tuple(dim.priority or 0 for dim in dims)
    return LayoutSpec(
        mesh,
        tuple(dim.axes for dim in dims),
        open_dims,
        found.get("unreduced", ()),
        kind,
        found.get("replicated", ()),
        priorities if any(priorities) else (),
    )


def _parse_sizes(parser: AttrParser) -> MeshSizes:
    with parser.in_angle_brackets():
        return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_mesh_axis(parser)))


def _sizes_text(sizes: MeshSizes) -> str:
    return "<[" + ", ".join(f"{quoted(name)}={size}" for name, size in sizes) + "]>"


@irdl_attr_definition
class LayoutAttr(TextAttr[LayoutSpec]):
    """A layout as a tensor type's encoding: `#dtensor.layout<@mesh, [{"batch"}, {}]>`."""

    name = "dtensor.layout"
    READ: ClassVar[Reader] = staticmethod(parse_spec)


@irdl_attr_definition
class MeshAttr(TextAttr[MeshSizes]):
    """A mesh's axes and sizes: `#dtensor.mesh<["batch"=4, "model"=2]>`."""

    name = "dtensor.mesh"
    READ: ClassVar[Reader] = staticmethod(_parse_sizes)
    TEXT: ClassVar[Writer] = staticmethod(_sizes_text)


@irdl_attr_definition
class AxesAttr(TextAttr[tuple[Axis, ...]]):
    """Mesh axes, major to minor: `#dtensor.axes<{"x", "y"}>`."""

    name = "dtensor.axes"
    READ: ClassVar[Reader] = staticmethod(parse_axes)
    TEXT: ClassVar[Writer] = staticmethod(axes_text)
    ANGLED: ClassVar[bool] = True


@irdl_attr_definition
class DimAxesAttr(TextAttr[tuple[tuple[Axis, ...], ...]]):
    """Mesh axes for each dim: `#dtensor.dim_axes<[{"x"}, {}]>`."""

    name = "dtensor.dim_axes"
    READ: ClassVar[Reader] = staticmethod(_parse_dim_axes)
    TEXT: ClassVar[Writer] = staticmethod(_dim_axes_text)
    ANGLED: ClassVar[bool] = True


@irdl_attr_definition
class KindAttr(TextAttr[str]):
    """How partial results combine: `#dtensor.kind<sum>`."""

    name = "dtensor.kind"
    READ: ClassVar[Reader] = staticmethod(_parse_kind)
    ANGLED: ClassVar[bool] = True


def _parse_mesh_name(parser: Parser) -> SymbolRefAttr:
    return mesh_symbol(parser.parse_symbol_name().data)


MESH = forms.Field("mesh", forms.Spelling(_parse_mesh_name, lambda mesh: symbol(mesh.root_reference.data)))
AXES = forms.Field("axes", forms.spelled(AxesAttr))
DIM_AXES = forms.Field("dim_axes", forms.spelled(DimAxesAttr))
KIND = forms.Field("kind", forms.spelled(KindAttr))
"""Properties as several ops write them."""


def mesh_symbol(name: str) -> SymbolRefAttr:
    """The symbol reference `@name`."""
    return SymbolRefAttr(name)
