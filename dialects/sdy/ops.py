"""The Shardy dialect's ops beyond meshes and constraints: manual and named computations, and hints to propagation."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TypeVar

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, StringAttr, TensorType, i32, i64
from xdsl.ir import Attribute, Data, Dialect, OpaqueSyntaxAttribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects import sdy
from shardwright.dialects.sdy import Sharding, ShardingAttr, ShardingPerValueAttr, parse_sharding
from shardwright.dialects.sdy.rules import OpShardingRuleAttr
from shardwright.dialects.types import shape_of


class Direction(IntEnum):
    """The ways in which propagation may go through a barrier, as Shardy numbers them."""

    NONE = 0
    FORWARD = 1
    BACKWARD = 2
    BOTH = 3


@irdl_attr_definition
class ManualAxesAttr(Data[tuple[str, ...]], OpaqueSyntaxAttribute):
    """The mesh axes that a manual computation handles itself: `#sdy<manual_axes{"x"}>`."""

    name = "sdy.manual_axes"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, ...]:
        return _parse_names(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(_names_text(self.data))


def _parse_names(parser: AttrParser) -> tuple[str, ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.BRACES, parser.parse_str_literal))


def _names_text(names: Sequence[str]) -> str:
    return "{" + ", ".join(f'"{name}"' for name in names) + "}"


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends the body of a manual or named computation: `sdy.return %0, %1 : t, t`."""

    name = "sdy.return"
    inputs = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())

    @classmethod
    def parse(cls, parser: Parser) -> ReturnOp:
        attributes = parser.parse_optional_attr_dict()
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        if not operands:
            return cls.create(attributes=attributes)
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return cls.create(operands=parser.resolve_operands(operands, types, position), attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        if self.inputs:
            printer.print_string(" ")
            printer.print_list(self.inputs, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list([value.type for value in self.inputs], printer.print_attribute)


class _ComputationOp(IRDLOperation):
    """A body with shardings for what goes in and what comes out."""

    inputs = var_operand_def()
    outputs = var_result_def()
    body = region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect())

    @property
    def returned(self) -> tuple[SSAValue, ...]:
        """What the body returns."""
        last = self.body.block.last_op
        assert isinstance(last, ReturnOp)
        return tuple(last.operands)

    def shardings(self, name: str, count: int) -> tuple[Sharding, ...] | None:
        """The property `in_shardings` or `out_shardings`, one sharding for each of `count` values; None without it."""
        found = self.properties.get(name)
        if found is None:
            return None
        assert isinstance(found, ShardingPerValueAttr)
        if len(found.data) != count:
            raise VerifyException(f"{name} has {len(found.data)} shardings for {count} values")
        return found.data

    def check_frame(self) -> None:
        """`VerifyException` unless the body's arguments, what it returns and the shardings match the op's values."""
        self.shardings("in_shardings", len(self.inputs))
        self.shardings("out_shardings", len(self.outputs))
        block = self.body.block
        if not isinstance(block.last_op, ReturnOp):
            raise VerifyException("the body must end in sdy.return")
        for name, inside, outside in (("argument", block.args, self.inputs), ("result", self.returned, self.outputs)):
            if len(inside) != len(outside):
                raise VerifyException(f"the body has {len(inside)} {name}s, the op {len(outside)}")


def _parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)


def _parse_shardings(parser: Parser, name: str) -> ShardingPerValueAttr | None:
    """Reads `in_shardings=[<...>, ...]` where it stands."""
    if parser.parse_optional_keyword(name) is None:
        return None
    parser.parse_punctuation("=")
    found = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_sharding(parser))
    return ShardingPerValueAttr(tuple(found))


def _parse_body(
    parser: Parser, op: type[_ComputationOp], operands: list[UnresolvedOperand], properties: dict[str, Attribute]
) -> _ComputationOp:
    """Reads `(%a: t) { ... } attributes : (t) -> t`."""
    arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_argument(parser))
    body = parser.parse_region(arguments)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    position = parser.pos
    signature = parser.parse_function_type()
    return op.create(
        operands=parser.resolve_operands(operands, list(signature.inputs), position),
        result_types=list(signature.outputs),
        properties=properties,
        attributes=attributes,
        regions=[body],
    )


def _parse_argument(parser: Parser) -> Parser.Argument:
    argument = parser.parse_argument()
    argument.location = parser.parse_optional_location()
    return argument


def _print_shardings(printer: Printer, op: _ComputationOp, name: str) -> None:
    found = op.properties.get(name)
    if isinstance(found, ShardingPerValueAttr):
        printer.print_string(f" {name}=[{', '.join(map(str, found.data))}]")


def _print_body(printer: Printer, op: _ComputationOp) -> None:
    printer.print_string(" (")
    printer.print_list(op.body.block.args, printer.print_block_argument)
    printer.print_string(") ")
    printer.print_region(op.body, print_entry_block_args=False)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_function_type(op.operand_types, op.result_types)


def _print_operands(printer: Printer, op: _ComputationOp) -> None:
    printer.print_string("(")
    printer.print_list(op.inputs, printer.print_ssa_value)
    printer.print_string(")")


@irdl_op_definition
class ManualComputationOp(_ComputationOp):
    """
    A body that is written for one device along `manual_axes`; its values are local along them.

    `sdy.manual_computation(%x) in_shardings=[...] out_shardings=[...] manual_axes={"x"} (%y: t) { ... } : (t) -> t`
    """

    name = "sdy.manual_computation"
    in_shardings = prop_def(ShardingPerValueAttr)
    out_shardings = prop_def(ShardingPerValueAttr)
    manual_axes = prop_def(ManualAxesAttr)

    @classmethod
    def parse(cls, parser: Parser) -> _ComputationOp:
        operands = _parse_operands(parser)
        found = {name: _parse_shardings(parser, name) for name in ("in_shardings", "out_shardings")}
        if None in found.values():
            parser.raise_error("expected in_shardings=[...] and out_shardings=[...]")
        parser.parse_keyword("manual_axes")
        parser.parse_punctuation("=")
        axes = ManualAxesAttr(_parse_names(parser))
        given = {name: value for name, value in found.items() if value is not None}
        return _parse_body(parser, cls, operands, {**given, "manual_axes": axes})

    def print(self, printer: Printer) -> None:
        _print_operands(printer, self)
        _print_shardings(printer, self, "in_shardings")
        _print_shardings(printer, self, "out_shardings")
        printer.print_string(f" manual_axes={_names_text(self.manual_axes.data)}")
        _print_body(printer, self)

    def verify_(self) -> None:
        self.check_frame()


@irdl_op_definition
class NamedComputationOp(_ComputationOp):
    """
    A body with a name; its shardings are those of its arguments and results.

    `sdy.named_computation<"f">(%x) in_shardings=[...] out_shardings=[...] (%y: t) { ... } : (t) -> t`
    """

    name = "sdy.named_computation"
    computation = prop_def(StringAttr, prop_name="name")
    in_shardings = opt_prop_def(ShardingPerValueAttr)
    out_shardings = opt_prop_def(ShardingPerValueAttr)

    @classmethod
    def parse(cls, parser: Parser) -> _ComputationOp:
        with parser.in_angle_brackets():
            properties: dict[str, Attribute] = {"name": StringAttr(parser.parse_str_literal(" naming the computation"))}
        operands = _parse_operands(parser)
        for name in ("in_shardings", "out_shardings"):
            found = _parse_shardings(parser, name)
            if found is not None:
                properties[name] = found
        return _parse_body(parser, cls, operands, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_attribute(self.computation)
        printer.print_string(">")
        _print_operands(printer, self)
        _print_shardings(printer, self, "in_shardings")
        _print_shardings(printer, self, "out_shardings")
        _print_body(printer, self)

    def verify_(self) -> None:
        self.check_frame()
        block = self.body.block
        pairs = [*zip(block.args, self.inputs, strict=True), *zip(self.returned, self.outputs, strict=True)]
        for inside, outside in pairs:
            if inside.type != outside.type:
                raise VerifyException(f"the body's {inside.type} stands for the op's {outside.type}")


@irdl_op_definition
class ReshardOp(IRDLOperation):
    """Moves a value to a sharding: `sdy.reshard %x <@mesh, [{"x"}, {}]> : t`."""

    name = "sdy.reshard"
    input = operand_def(TensorType)
    sharding = prop_def(ShardingAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> ReshardOp:
        operand = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {"sharding": ShardingAttr(parse_sharding(parser))}
        return _parse_one_type(parser, cls, operand, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(f" {self.sharding.data}")
        _print_one_type(printer, self, self.input)

    def verify_(self) -> None:
        _check_same(self.input, self.result)
        rank, dims = len(shape_of(self.input)), self.sharding.data.dims
        if len(dims) != rank:
            raise VerifyException(f"the sharding has {len(dims)} dims, but the tensor has {rank}")


@irdl_op_definition
class PropagationBarrierOp(IRDLOperation):
    """Lets propagation through in some directions: `sdy.propagation_barrier %x allowed_direction=NONE : t`."""

    name = "sdy.propagation_barrier"
    input = operand_def(TensorType)
    allowed_direction = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def direction(self) -> Direction:
        """Where propagation may go."""
        return Direction(self.allowed_direction.value.data)

    @classmethod
    def parse(cls, parser: Parser) -> PropagationBarrierOp:
        operand = parser.parse_unresolved_operand()
        parser.parse_keyword("allowed_direction")
        parser.parse_punctuation("=")
        word = parser.parse_keyword_in(tuple(Direction.__members__))
        return _parse_one_type(parser, cls, operand, {"allowed_direction": IntegerAttr(Direction[word], i32)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(f" allowed_direction={self.direction.name}")
        _print_one_type(printer, self, self.input)

    def verify_(self) -> None:
        _check_same(self.input, self.result)
        if self.allowed_direction.value.data not in list(Direction):
            raise VerifyException(f"allowed_direction must be 0 to 3, not {self.allowed_direction.value.data}")


@irdl_op_definition
class ShardingGroupOp(IRDLOperation):
    """Makes a value a member of a group whose members get one sharding: `sdy.sharding_group %x group_id=1 : t`."""

    name = "sdy.sharding_group"
    input = operand_def(TensorType)
    group_id = prop_def(IntegerAttr)

    @property
    def group(self) -> int:
        """The number of the group."""
        return self.group_id.value.data

    @classmethod
    def parse(cls, parser: Parser) -> ShardingGroupOp:
        operand = parser.parse_unresolved_operand()
        parser.parse_keyword("group_id")
        parser.parse_punctuation("=")
        number = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        return _parse_one_type(parser, cls, operand, {"group_id": number}, results=False)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(f" group_id={self.group}")
        _print_one_type(printer, self, self.input)


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A constant that Shardy does not split: `sdy.constant dense<1.0> : tensor<4xf32>`."""

    name = "sdy.constant"
    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error("expected dense<...> : tensor<...>", position)
        return cls.create(properties={"value": value}, result_types=[value.type], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)


@irdl_op_definition
class DataFlowEdgeOp(IRDLOperation):
    """One value of a region op's carried values: `sdy.data_flow_edge %x sharding=<@mesh, [{"x"}]> : t`."""

    name = "sdy.data_flow_edge"
    input = operand_def(TensorType)
    sharding = opt_prop_def(ShardingAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> DataFlowEdgeOp:
        operand = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("sharding") is not None:
            parser.parse_punctuation("=")
            properties["sharding"] = ShardingAttr(parse_sharding(parser))
        return _parse_one_type(parser, cls, operand, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        if self.sharding is not None:
            printer.print_string(f" sharding={self.sharding.data}")
        _print_one_type(printer, self, self.input)

    def verify_(self) -> None:
        _check_same(self.input, self.result)


OpT = TypeVar("OpT", bound=IRDLOperation)


def _parse_one_type(
    parser: Parser,
    op: type[OpT],
    operand: UnresolvedOperand,
    properties: dict[str, Attribute],
    *,
    results: bool = True,
) -> OpT:
    """Reads `attributes : t`, the type of the operand and of the result."""
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    only = parser.parse_type()
    return op.create(
        operands=[parser.resolve_operand(operand, only)],
        result_types=[only] if results else [],
        properties=properties,
        attributes=attributes,
    )


def _print_one_type(printer: Printer, op: Operation, value: SSAValue) -> None:
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(value.type)


def _check_same(operand: SSAValue, result: SSAValue) -> None:
    if operand.type != result.type:
        raise VerifyException(f"the result must be {operand.type}, not {result.type}")


OPS: tuple[type[Operation], ...] = (
    *sdy.OPS,
    ManualComputationOp,
    NamedComputationOp,
    ReturnOp,
    ReshardOp,
    PropagationBarrierOp,
    ShardingGroupOp,
    ConstantOp,
    DataFlowEdgeOp,
)

Sdy = Dialect("sdy", list(OPS), [*sdy.ATTRIBUTES, OpShardingRuleAttr, ManualAxesAttr])
