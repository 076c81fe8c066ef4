"""The Shardy dialect's meshes, shardings and sharding constraints; `sdy_ops` has its other ops."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Data, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.text.xdsl_patches import LARGEST_EXTENT
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import Axis


@dataclass(frozen=True)
class SdyMesh:
    """
    Axis names and sizes, major to minor, and the devices' ids where they are not in order.

    >>> print(SdyMesh((("x", 4), ("y", 2))))
    <["x"=4, "y"=2]>
    """

    axes: tuple[tuple[str, int], ...]
    device_ids: tuple[int, ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each axis, by name."""
        return dict(self.axes)

    def __str__(self) -> str:
        axes = ", ".join(f'"{name}"={size}' for name, size in self.axes)
        ids = f", device_ids=[{', '.join(map(str, self.device_ids))}]" if self.device_ids else ""
        return f"<[{axes}]{ids}>"


@dataclass(frozen=True)
class DimSharding:
    """The axes that split one dim; an open dim may be split further; a lower priority number goes first."""

    axes: tuple[Axis, ...] = ()
    is_open: bool = False
    priority: int | None = None

    def __str__(self) -> str:
        items = [str(axis) for axis in self.axes] + (["?"] if self.is_open else [])
        return "{" + ", ".join(items) + "}" + ("" if self.priority is None else f"p{self.priority}")


@dataclass(frozen=True)
class Sharding:
    """
    A tensor's sharding over a mesh, which is named or written in place.

    >>> print(Sharding("mesh", (DimSharding((Axis("x"),)), DimSharding(is_open=True)), replicated=(Axis("y"),)))
    <@mesh, [{"x"}, {?}], replicated={"y"}>
    """

    mesh: str | SdyMesh
    dims: tuple[DimSharding, ...] = ()
    replicated: tuple[Axis, ...] = ()
    unreduced: tuple[Axis, ...] = ()
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.mesh, self.dims, self.replicated, self.unreduced)))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        mesh = f"@{self.mesh}" if isinstance(self.mesh, str) else f"mesh{self.mesh}"
        text = f"<{mesh}, [{', '.join(map(str, self.dims))}]"
        for word, axes in (("replicated", self.replicated), ("unreduced", self.unreduced)):
            if axes:
                text += f", {word}={{{', '.join(map(str, axes))}}}"
        return text + ">"


def parse_axis(parser: AttrParser) -> Axis:
    """Reads `"x"` or `"x":(2)4`."""
    name = parser.parse_str_literal(" naming a mesh axis")
    if parser.parse_optional_punctuation(":") is None:
        return Axis(name)
    with parser.in_parens():
        pre = parser.parse_integer(allow_boolean=False, allow_negative=False)
    return Axis(name, pre, parser.parse_integer(allow_boolean=False, allow_negative=False))


def _parse_axes(parser: AttrParser) -> tuple[Axis, ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.BRACES, lambda: parse_axis(parser)))


def _parse_dim(parser: AttrParser) -> DimSharding:
    axes: list[Axis] = []
    is_open = False

    def item() -> None:
        nonlocal is_open
        if is_open:
            parser.raise_error("'?' must come last in a dim")
        if parser.parse_optional_punctuation("?") is not None:
            is_open = True
        else:
            axes.append(parse_axis(parser))

    parser.parse_comma_separated_list(parser.Delimiter.BRACES, item)
    return DimSharding(tuple(axes), is_open, parse_priority(parser))


def parse_priority(parser: AttrParser) -> int | None:
    """Reads `p1` where it stands."""
    position = parser.pos
    word = parser.parse_optional_identifier()
    if word is None:
        return None
    if not (word.startswith("p") and word[1:].isdecimal()):
        parser.raise_error(f"expected a priority like p0, not '{word}'", position)
    return int(word[1:])


def parse_mesh_axis(parser: AttrParser) -> tuple[str, int]:
    """Reads `"x"=4`."""
    name = parser.parse_str_literal(" naming a mesh axis")
    parser.parse_punctuation("=")
    position = parser.pos
    size = parser.parse_integer(allow_boolean=False)
    if size < 0:
        parser.raise_error(f"mesh axis '{name}' has the negative size {size}", position)
    if size > LARGEST_EXTENT:
        parser.raise_error(f"mesh axis '{name}' has size {size}, more than 64 bits can count", position)
    return name, size


def parse_mesh(parser: AttrParser) -> SdyMesh:
    """Reads `<["x"=4, "y"=2], device_ids=[...]>`."""
    with parser.in_angle_brackets():
        axes = tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_mesh_axis(parser)))
        ids: tuple[int, ...] = ()
        if parser.parse_optional_punctuation(",") is not None:
            parser.parse_keyword("device_ids")
            parser.parse_punctuation("=")
            found = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False, allow_negative=False)
            )
            ids = tuple(found)
    return SdyMesh(axes, ids)


def parse_sharding(parser: AttrParser) -> Sharding:
    """Reads `<@mesh, [{"x"}, {?}p1], replicated={"y"}, unreduced={"z"}>`."""
    with parser.in_angle_brackets():
        symbol = parser.parse_optional_symbol_name()
        if symbol is None:
            parser.parse_keyword("mesh")
        mesh = symbol.data if symbol is not None else parse_mesh(parser)
        parser.parse_punctuation(",")
        dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_dim(parser))
        extra: dict[str, tuple[Axis, ...]] = {}
        while parser.parse_optional_punctuation(",") is not None:
            word = parser.parse_keyword_in(("replicated", "unreduced"))
            parser.parse_punctuation("=")
            extra[word] = _parse_axes(parser)
    return Sharding(mesh, tuple(dims), extra.get("replicated", ()), extra.get("unreduced", ()))


@irdl_attr_definition
class MeshAttr(Data[SdyMesh]):
    """`#sdy.mesh<["x"=4, "y"=2]>`."""

    name = "sdy.mesh"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> SdyMesh:
        return parse_mesh(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(str(self.data))


@irdl_attr_definition
class ShardingAttr(Data[Sharding]):
    """`#sdy.sharding<@mesh, [{"x"}, {}]>`."""

    name = "sdy.sharding"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Sharding:
        return parse_sharding(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(str(self.data))


@irdl_attr_definition
class ShardingPerValueAttr(Data[tuple[Sharding, ...]]):
    """One sharding for each result: `#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>`."""

    name = "sdy.sharding_per_value"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Sharding, ...]:
        with parser.in_angle_brackets():
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_sharding(parser)))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<[{', '.join(map(str, self.data))}]>")


@irdl_op_definition
class MeshOp(IRDLOperation):
    """Declares a mesh: `sdy.mesh @mesh = <["x"=4, "y"=2]>`."""

    name = "sdy.mesh"
    sym_name = prop_def(StringAttr)
    mesh = prop_def(MeshAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, mesh: SdyMesh):
        super().__init__(properties={"sym_name": StringAttr(name), "mesh": MeshAttr(mesh)})

    @classmethod
    def parse(cls, parser: Parser) -> MeshOp:
        name = parser.parse_symbol_name()
        parser.parse_punctuation("=")
        mesh = MeshAttr(parse_mesh(parser))
        attributes = parser.parse_optional_attr_dict()
        return cls.create(properties={"sym_name": name, "mesh": mesh}, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" = {self.mesh.data}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        names = [name for name, _ in self.mesh.data.axes]
        if len(set(names)) != len(names):
            raise VerifyException(f"mesh @{self.sym_name.data} names an axis twice: {names}")
        if any(size < 1 for _, size in self.mesh.data.axes):
            raise VerifyException(f"mesh @{self.sym_name.data} has an axis of size below 1")


@irdl_op_definition
class ShardingConstraintOp(IRDLOperation):
    """Fixes the sharding of a value: `sdy.sharding_constraint %x <@mesh, [{"x"}, {}]> : tensor<4x8xf32>`."""

    name = "sdy.sharding_constraint"
    input = operand_def(TensorType)
    sharding = prop_def(ShardingAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue | Operation, sharding: Sharding):
        operand = SSAValue.get(value)
        super().__init__(
            operands=[operand], properties={"sharding": ShardingAttr(sharding)}, result_types=[operand.type]
        )

    @classmethod
    def parse(cls, parser: Parser) -> ShardingConstraintOp:
        operand = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {"sharding": ShardingAttr(parse_sharding(parser))}
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        only = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(operand, only)],
            result_types=[only],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(f" {self.sharding.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if self.input.type != self.result.type:
            raise VerifyException(f"the result must be {self.input.type}, not {self.result.type}")
        rank, dims = len(shape_of(self.input)), self.sharding.data.dims
        if len(dims) != rank:
            raise VerifyException(f"the sharding has {len(dims)} dims, but the tensor has {rank}")


OPS: tuple[type[Operation], ...] = (MeshOp, ShardingConstraintOp)
ATTRIBUTES: tuple[type[Attribute], ...] = (MeshAttr, ShardingAttr, ShardingPerValueAttr)
