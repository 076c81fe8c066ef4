"""The attributes of the `dtensor` dialect: layouts, meshes, axis lists and enums, over plain Python data."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from shardwright.dialects.sdy import parse_mesh_axis, parse_priority
from shardwright.layout.axes import Axis
from shardwright.layout.spec import REDUCTION_KINDS, LayoutSpec


def parse_axis(parser: AttrParser) -> Axis:
    """Reads `"x"` or `"x":(2)4`."""
    name = parser.parse_str_literal(" naming a mesh axis")
    if parser.parse_optional_punctuation(":") is None:
        return Axis(name)
    with parser.in_parens():
        pre = parser.parse_integer(allow_negative=False)
    return Axis(name, pre, parser.parse_integer(allow_negative=False))


def parse_axes(parser: AttrParser) -> tuple[Axis, ...]:
    """Reads `{"x", "y"}`."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.BRACES, lambda: parse_axis(parser)))


def axes_text(axes: Sequence[Axis]) -> str:
    """What `parse_axes` reads."""
    return "{" + ", ".join(map(str, axes)) + "}"


def parse_dim_axes(parser: AttrParser) -> tuple[tuple[Axis, ...], ...]:
    """Reads `[{"x"}, {}]`, one entry for each dim."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_axes(parser)))


def dim_axes_text(dims: Sequence[Sequence[Axis]]) -> str:
    """What `parse_dim_axes` reads."""
    return "[" + ", ".join(map(axes_text, dims)) + "]"


def _parse_open_dim(parser: AttrParser) -> tuple[tuple[Axis, ...], bool, int]:
    is_open = False
    axes: list[Axis] = []

    def item() -> None:
        nonlocal is_open
        if parser.parse_optional_punctuation("?") is not None:
            is_open = True
        elif is_open:
            parser.raise_error("'?' must come last in a dim")
        else:
            axes.append(parse_axis(parser))

    parser.parse_comma_separated_list(parser.Delimiter.BRACES, item)
    return tuple(axes), is_open, parse_priority(parser) or 0


def parse_kind(parser: AttrParser) -> str:
    """Reads how partial results combine: one of `REDUCTION_KINDS`."""
    kind = parser.parse_identifier(" naming a reduction")
    if kind not in REDUCTION_KINDS:
        parser.raise_error(f"unknown reduction '{kind}': expected one of {', '.join(REDUCTION_KINDS)}")
    return kind


def parse_spec(parser: AttrParser) -> LayoutSpec:
    """Reads `<@mesh, [{"x"}, {?}p1], unreduced=sum{"y"}, replicated={"z"}>`, as `LayoutSpec.__str__` writes it."""
    with parser.in_angle_brackets():
        mesh = parser.parse_symbol_name().data
        parser.parse_punctuation(",")
        dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_open_dim(parser))
        found: dict[str, tuple[Axis, ...]] = {}
        kind = ""
        while parser.parse_optional_punctuation(",") is not None:
            word = parser.parse_keyword_in(("unreduced", "replicated"))
            parser.parse_punctuation("=")
            kind = parse_kind(parser) if word == "unreduced" else kind
            found[word] = parse_axes(parser)
    open_dims = frozenset(index for index, (_, is_open, _) in enumerate(dims) if is_open)
    priorities = tuple(priority for _, _, priority in dims)
    return LayoutSpec(
        mesh,
        tuple(axes for axes, _, _ in dims),
        open_dims,
        found.get("unreduced", ()),
        kind,
        found.get("replicated", ()),
        priorities if any(priorities) else (),
    )


@irdl_attr_definition
class LayoutAttr(Data[LayoutSpec]):
    """A layout as a tensor type's encoding: `#dtensor.layout<@mesh, [{"batch"}, {}]>`."""

    name = "dtensor.layout"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> LayoutSpec:
        return parse_spec(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(str(self.data))


@irdl_attr_definition
class MeshAttr(Data[tuple[tuple[str, int], ...]]):
    """A mesh's axes and sizes: `#dtensor.mesh<["batch"=4, "model"=2]>`."""

    name = "dtensor.mesh"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, int], ...]:
        with parser.in_angle_brackets():
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_mesh_axis(parser)))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string("<[" + ", ".join(f'"{name}"={size}' for name, size in self.data) + "]>")


@irdl_attr_definition
class AxesAttr(Data[tuple[Axis, ...]]):
    """Mesh axes, major to minor: `#dtensor.axes<{"x", "y"}>`."""

    name = "dtensor.axes"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Axis, ...]:
        with parser.in_angle_brackets():
            return parse_axes(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{axes_text(self.data)}>")


@irdl_attr_definition
class DimAxesAttr(Data[tuple[tuple[Axis, ...], ...]]):
    """Mesh axes for each dim: `#dtensor.dim_axes<[{"x"}, {}]>`."""

    name = "dtensor.dim_axes"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[Axis, ...], ...]:
        with parser.in_angle_brackets():
            return parse_dim_axes(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{dim_axes_text(self.data)}>")


@irdl_attr_definition
class KindAttr(Data[str]):
    """How partial results combine: `#dtensor.kind<sum>`."""

    name = "dtensor.kind"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return parse_kind(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


def mesh_symbol(name: str) -> SymbolRefAttr:
    """The symbol reference `@name`."""
    return SymbolRefAttr(name)
