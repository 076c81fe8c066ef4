"""The Shardy dialect's meshes, shardings and sharding constraints; `sdy_ops` has its other ops."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import AttrParser
from xdsl.traits import SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.calls.custom_calls import TokenType, is_token
from shardwright.dialects.stablehlo.parts import forms
from shardwright.dialects.text.data import Reader, TextAttr, Writer
from shardwright.dialects.text.literals import parse_name
from shardwright.dialects.types import LARGEST_EXTENT, shape_of
from shardwright.layout.axes import Axis, quoted, symbol


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

    @property
    def order(self) -> tuple[int, ...]:
        """The number of each device, as many as there are."""
        return self.device_ids or tuple(range(math.prod(size for _, size in self.axes)))

    def __str__(self) -> str:
        axes = ", ".join(f"{quoted(name)}={size}" for name, size in self.axes)
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
    kind: str = "sum"
    """How what is unreduced is still to be reduced."""
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.mesh, self.dims, self.replicated, self.unreduced, self.kind)))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        mesh = symbol(self.mesh) if isinstance(self.mesh, str) else f"mesh{self.mesh}"
        text = f"<{mesh}, [{', '.join(map(str, self.dims))}]"
        kind = "" if self.kind == "sum" else self.kind
        for word, axes in (("replicated=", self.replicated), (f"unreduced={kind}", self.unreduced)):
            if axes:
                text += f", {word}{{{', '.join(map(str, axes))}}}"
        return text + ">"


def parse_axis(parser: AttrParser) -> Axis:
    """Reads `"x"` or `"x":(2)4`."""
    name = parse_name(parser, " naming a mesh axis")
    if parser.parse_optional_punctuation(":") is None:
        return Axis(name)
    with parser.in_parens():
        pre = parser.parse_integer(allow_boolean=False, allow_negative=False)
    return Axis(name, pre, parser.parse_integer(allow_boolean=False, allow_negative=False))


def parse_axes(parser: AttrParser) -> tuple[Axis, ...]:
    """Reads `{"x", "y"}`."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.BRACES, lambda: parse_axis(parser)))


def parse_dim(parser: AttrParser) -> DimSharding:
    """Reads `{"x", ?}p1`."""
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
    name = parse_name(parser, " naming a mesh axis")
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
            position = parser.pos
            found = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False, allow_negative=False)
            )
            ids = tuple(found)
            if (wrong := _wrong_ids(axes, ids)) is not None:
                parser.raise_error(wrong, position)
    return SdyMesh(axes, ids)


def _wrong_ids(axes: Sequence[tuple[str, int]], ids: Sequence[int]) -> str | None:
    """What keeps numbers from being those of a mesh's devices; a mesh without axes is any one device."""
    count = math.prod(size for _, size in axes)
    if len(ids) != count:
        return f"a mesh of {count} devices has {count} device_ids, not {len(ids)}"
    if axes and (wrong := next((each for each in ids if each >= count), None)) is not None:
        return f"a mesh of {count} devices has the device_ids 0 to {count - 1}, and no {wrong}"
    if len(set(ids)) < count:
        return f"device_ids name device {next(each for each in ids if ids.count(each) > 1)} more than once"
    return None


def parse_sharding(parser: AttrParser) -> Sharding:
    """Reads `<@mesh, [{"x"}, {?}p1], replicated={"y"}, unreduced={"z"}>`."""
    with parser.in_angle_brackets():
        named = parser.parse_optional_symbol_name()
        if named is None:
            parser.parse_keyword("mesh")
        mesh = named.data if named is not None else parse_mesh(parser)
        parser.parse_punctuation(",")
        dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_dim(parser))
        extra: dict[str, tuple[Axis, ...]] = {}
        kind = None
        while parser.parse_optional_punctuation(",") is not None:
            word = parser.parse_keyword_in(("replicated", "unreduced"))
            parser.parse_punctuation("=")
            if word == "unreduced":
                kind = parser.parse_optional_keyword_in(("sum", "max", "min"))
            extra[word] = parse_axes(parser)
    return Sharding(mesh, tuple(dims), extra.get("replicated", ()), extra.get("unreduced", ()), kind or "sum")


def _parse_shardings(parser: AttrParser) -> tuple[Sharding, ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_entry(parser)))


def _parse_entry(parser: AttrParser) -> Sharding:
    """Reads `<@mesh, [...]>`, or with its name, `#sdy.sharding<@mesh, [...]>`, or an alias of that."""
    position, named = parser.pos, parser.parse_optional_attribute()
    if named is None:
        return parse_sharding(parser)
    if not isinstance(named, ShardingAttr):
        parser.raise_error(f"expected a sharding, not {named}", position)
    return named.data


def _shardings_text(shardings: Sequence[Sharding]) -> str:
    return f"[{', '.join(map(str, shardings))}]"


@irdl_attr_definition
class MeshAttr(TextAttr[SdyMesh]):
    """`#sdy.mesh<["x"=4, "y"=2]>`."""

    name = "sdy.mesh"
    READ: ClassVar[Reader] = staticmethod(parse_mesh)


@irdl_attr_definition
class ShardingAttr(TextAttr[Sharding]):
    """`#sdy.sharding<@mesh, [{"x"}, {}]>`."""

    name = "sdy.sharding"
    READ: ClassVar[Reader] = staticmethod(parse_sharding)


@irdl_attr_definition
class ShardingPerValueAttr(TextAttr[tuple[Sharding, ...]]):
    """One sharding for each result: `#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>`."""

    name = "sdy.sharding_per_value"
    READ: ClassVar[Reader] = staticmethod(_parse_shardings)
    TEXT: ClassVar[Writer] = staticmethod(_shardings_text)
    ANGLED: ClassVar[bool] = True


@irdl_op_definition
class MeshOp(forms.WrittenOp):
    """Declares a mesh: `sdy.mesh @mesh = <["x"=4, "y"=2]>`."""

    name = "sdy.mesh"
    sym_name = prop_def(StringAttr)
    mesh = prop_def(MeshAttr)
    traits = traits_def(SymbolOpInterface())
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.Field("sym_name", forms.SYMBOL), forms.Field("mesh", forms.spelled(MeshAttr), " = "), types=None
    )

    def __init__(self, name: str, mesh: SdyMesh):
        super().__init__(properties={"sym_name": StringAttr(name), "mesh": MeshAttr(mesh)})

    def verify_(self) -> None:
        check_mesh(self.sym_name.data, self.mesh.data.axes)


def check_mesh(mesh: str, axes: Sequence[tuple[str, int]]) -> None:
    """`VerifyException` unless each axis has its own name and at least one device."""
    names = [name for name, _ in axes]
    if len(set(names)) != len(names):
        raise VerifyException(f"mesh {symbol(mesh)} names an axis twice: {names}")
    if any(size < 1 for _, size in axes):
        raise VerifyException(f"mesh {symbol(mesh)} has an axis of size below 1")


class SameTypeOp(forms.WrittenOp, forms.TensorOp, ABC):
    """One tensor in, the same out: `name %x ... : t`."""

    input = operand_def(TensorType)

    def verify_(self) -> None:
        if self.input.type != self.result.type:
            raise VerifyException(f"the result must be {self.input.type}, not {self.result.type}")


class ShardedOp(SameTypeOp, ABC):
    """The same tensor, or token, with a sharding: `name %x <@mesh, [{"x"}, {}]> : t`."""

    input = operand_def(TensorType | TokenType)
    result = result_def(TensorType | TokenType)
    sharding = prop_def(ShardingAttr)
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, forms.Field("sharding", forms.spelled(ShardingAttr)), types=forms.ONE
    )

    def verify_(self) -> None:
        super().verify_()
        rank = 0 if is_token(self.input) else len(shape_of(self.input))
        dims = self.sharding.data.dims
        if dims and len(dims) != rank:  # none, of whatever rank: the value is on the one device of its mesh
            raise VerifyException(f"the sharding has {len(dims)} dims, but the tensor has {rank}")


@irdl_op_definition
class ShardingConstraintOp(ShardedOp):
    """Fixes the sharding of a value: `sdy.sharding_constraint %x <@mesh, [{"x"}, {}]> : tensor<4x8xf32>`."""

    name = "sdy.sharding_constraint"

    def __init__(self, value: SSAValue | Operation, sharding: Sharding):
        operand = SSAValue.get(value)
        super().__init__(
            operands=[operand], properties={"sharding": ShardingAttr(sharding)}, result_types=[operand.type]
        )


OPS: tuple[type[Operation], ...] = (MeshOp, ShardingConstraintOp)
ATTRIBUTES: tuple[type[Attribute], ...] = (MeshAttr, ShardingAttr, ShardingPerValueAttr)
