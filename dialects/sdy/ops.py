"""The Shardy dialect's ops beyond meshes and constraints: computations, hints to propagation, collectives."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, StringAttr, TensorType, i32
from xdsl.ir import Attribute, Dialect, OpaqueSyntaxAttribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects import sdy
from shardwright.dialects.sdy import Sharding, ShardingAttr, ShardingPerValueAttr
from shardwright.dialects.sdy.meshes import SameTypeOp, ShardedOp, parse_axes, parse_axis
from shardwright.dialects.sdy.rules import OpShardingRuleAttr
from shardwright.dialects.stablehlo.parts import forms
from shardwright.dialects.stablehlo.parts.syntax import parse_argument
from shardwright.dialects.text.data import Reader, TextAttr, Writer
from shardwright.dialects.text.literals import parse_name
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import Axis, quoted


class Direction(IntEnum):
    """The ways in which propagation may go through a barrier, as Shardy numbers them."""

    NONE = 0
    FORWARD = 1
    BACKWARD = 2
    BOTH = 3


def _parse_names(parser: AttrParser) -> tuple[str, ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.BRACES, lambda: parse_name(parser)))


def _names_text(names: Sequence[str]) -> str:
    return "{" + ", ".join(map(quoted, names)) + "}"


@irdl_attr_definition
class ManualAxesAttr(TextAttr[tuple[str, ...]], OpaqueSyntaxAttribute):
    """The mesh axes that a manual computation handles itself: `#sdy<manual_axes{"x"}>`."""

    name = "sdy.manual_axes"
    READ: ClassVar[Reader] = staticmethod(_parse_names)
    TEXT: ClassVar[Writer] = staticmethod(_names_text)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends the body of a manual or named computation: `sdy.return %0, %1 : t, t`."""

    name = "sdy.return"
    inputs = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())

    @classmethod
    def parse(cls, parser: Parser) -> ReturnOp:
        attributes = parser.parse_optional_attr_dict()
        operands = forms.OPERANDS.read(parser, cls)
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


class _ComputationOp(IRDLOperation, ABC):
    """A body with shardings for what goes in and what comes out."""

    FORM: ClassVar[forms.Form]
    """What stands before the body."""

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

    def verify_(self) -> None:
        """The body's arguments, what it returns and the shardings must match the op's values."""
        self.shardings("in_shardings", len(self.inputs))
        self.shardings("out_shardings", len(self.outputs))
        block = self.body.block
        if not isinstance(block.last_op, ReturnOp):
            raise VerifyException("the body must end in sdy.return")
        for name, inside, outside in (("argument", block.args, self.inputs), ("result", self.returned, self.outputs)):
            if len(inside) != len(outside):
                raise VerifyException(f"the body has {len(inside)} {name}s, the op {len(outside)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Reads `... (%a: t) { ... } attributes : (t) -> t`."""
        operands, properties = cls.FORM.read_parts(parser, cls)
        body = parser.parse_region(
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_argument(parser))
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        inputs, outputs = forms.FUNCTION.read(parser, cls)
        return cls.create(
            operands=parser.resolve_operands(operands, inputs, position),
            result_types=outputs,
            properties=properties,
            attributes=attributes,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        self.FORM.write_parts(printer, self)
        printer.print_string(" (")
        printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(") ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)
        forms.FUNCTION.write(printer, self)


def _sharding_fields(*, optional: bool) -> list[forms.Field]:
    spelling = forms.spelled(ShardingPerValueAttr)
    return [forms.Field(name, spelling, f" {name}=", optional=optional) for name in ("in_shardings", "out_shardings")]


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
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.Operands(parens=True),
        *_sharding_fields(optional=False),
        forms.Field("manual_axes", forms.spelled(ManualAxesAttr), " manual_axes="),
    )


def _parse_name(parser: Parser) -> StringAttr:
    with parser.in_angle_brackets():
        return StringAttr(parse_name(parser, " naming the computation"))


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
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.Field("name", forms.Spelling(_parse_name, lambda name: f"<{name}>"), ""),
        forms.Operands(parens=True),
        *_sharding_fields(optional=True),
    )

    def verify_(self) -> None:
        super().verify_()
        block = self.body.block
        pairs = [*zip(block.args, self.inputs, strict=True), *zip(self.returned, self.outputs, strict=True)]
        for inside, outside in pairs:
            if inside.type != outside.type:
                raise VerifyException(f"the body's {inside.type} stands for the op's {outside.type}")


@irdl_op_definition
class ReshardOp(ShardedOp):
    """Moves a value to a sharding: `sdy.reshard %x <@mesh, [{"x"}, {}]> : t`."""

    name = "sdy.reshard"


_DIRECTION = forms.Spelling(
    lambda parser: IntegerAttr(Direction[parser.parse_keyword_in(tuple(Direction.__members__))], i32),
    lambda direction: Direction(direction.value.data).name,
)


@irdl_op_definition
class PropagationBarrierOp(SameTypeOp):
    """Lets propagation through in some directions: `sdy.propagation_barrier %x allowed_direction=NONE : t`."""

    name = "sdy.propagation_barrier"
    allowed_direction = prop_def(IntegerAttr)
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, forms.Field("allowed_direction", _DIRECTION, " allowed_direction="), types=forms.ONE
    )

    @property
    def direction(self) -> Direction:
        """Where propagation may go."""
        return Direction(self.allowed_direction.value.data)

    def verify_(self) -> None:
        super().verify_()
        if self.allowed_direction.value.data not in list(Direction):
            raise VerifyException(f"allowed_direction must be 0 to 3, not {self.allowed_direction.value.data}")


@irdl_op_definition
class ShardingGroupOp(forms.WrittenOp):
    """Makes a value a member of a group whose members get one sharding: `sdy.sharding_group %x group_id=1 : t`."""

    name = "sdy.sharding_group"
    input = operand_def(TensorType)
    group_id = prop_def(IntegerAttr)
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, forms.Field("group_id", forms.NUMBER, " group_id="), types=forms.ONE
    )

    @property
    def group(self) -> int:
        """The number of the group."""
        return self.group_id.value.data


@irdl_op_definition
class ConstantOp(forms.TensorOp):
    """A constant that Shardy does not split: `sdy.constant dense<1.0> : tensor<4xf32>`."""

    name = "sdy.constant"
    value = prop_def(DenseIntOrFPElementsAttr)

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
class DataFlowEdgeOp(SameTypeOp):
    """One value of a region op's carried values: `sdy.data_flow_edge %x sharding=<@mesh, [{"x"}]> : t`."""

    name = "sdy.data_flow_edge"
    sharding = opt_prop_def(ShardingAttr)
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS,
        forms.Field("sharding", forms.spelled(ShardingAttr), " sharding=", optional=True),
        types=forms.ONE,
    )


@irdl_op_definition
class FuncDataFlowEdgeOp(SameTypeOp):
    """One argument or result of a function that is called: `sdy.func_data_flow_edge %x : t`."""

    name = "sdy.func_data_flow_edge"
    FORM: ClassVar[forms.Form] = forms.Form(forms.OPERANDS, types=forms.ONE)


Axes = tuple[Axis, ...]


@dataclass(frozen=True)
class Move:
    """Axes that go from one dim to another: `{"x"}: 0->1`."""

    axes: Axes
    source: int
    target: int

    def __str__(self) -> str:
        return f"{_axes_text(self.axes)}: {self.source}->{self.target}"


def _axes_text(axes: Axes) -> str:
    return "{" + ", ".join(map(str, axes)) + "}"


def _parse_lists(parser: AttrParser) -> tuple[Axes, ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_axes(parser)))


def _lists_text(lists: tuple[Axes, ...]) -> str:
    return f"[{', '.join(map(_axes_text, lists))}]"


def _parse_moves(parser: AttrParser) -> tuple[Move, ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_move(parser)))


def _parse_move(parser: AttrParser) -> Move:
    axes = parse_axes(parser)
    parser.parse_punctuation(":")
    source = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_punctuation("->")
    return Move(axes, source, parser.parse_integer(allow_boolean=False, allow_negative=False))


def _moves_text(moves: tuple[Move, ...]) -> str:
    return f"[{', '.join(map(str, moves))}]"


@irdl_attr_definition
class AxisRefListAttr(TextAttr[Axes], OpaqueSyntaxAttribute):
    """Axes: `#sdy<axis_ref_list{"x"}>`."""

    name = "sdy.axis_ref_list"
    READ: ClassVar[Reader] = staticmethod(parse_axes)
    TEXT: ClassVar[Writer] = staticmethod(_axes_text)


@irdl_attr_definition
class ListOfAxisRefListsAttr(TextAttr[tuple[Axes, ...]], OpaqueSyntaxAttribute):
    """Axes for each dim: `#sdy<list_of_axis_ref_lists[{"x"}, {}]>`."""

    name = "sdy.list_of_axis_ref_lists"
    READ: ClassVar[Reader] = staticmethod(_parse_lists)
    TEXT: ClassVar[Writer] = staticmethod(_lists_text)


@irdl_attr_definition
class AllToAllParamListAttr(TextAttr[tuple[Move, ...]], OpaqueSyntaxAttribute):
    """Axes that go to other dims: `#sdy<all_to_all_param_list[{"x"}: 0->1]>`."""

    name = "sdy.all_to_all_param_list"
    READ: ClassVar[Reader] = staticmethod(_parse_moves)
    TEXT: ClassVar[Writer] = staticmethod(_moves_text)


@dataclass(frozen=True)
class Edge:
    """How an axis came to values: `"x" = operand-0 -> [result-0]`."""

    axis: Axis
    source: str
    targets: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.axis} = {self.source} -> [{', '.join(self.targets)}]"


Steps = tuple[tuple[int, tuple[Edge, ...]], ...]


def _parse_steps(parser: AttrParser) -> Steps:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_step(parser)))


def _parse_step(parser: AttrParser) -> tuple[int, tuple[Edge, ...]]:
    with parser.in_braces():
        step = _parse_numbered(parser, "step")
        parser.parse_punctuation("=")
        edges = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_edge(parser))
    return int(step.removeprefix("step-")), tuple(edges)


def _parse_edge(parser: AttrParser) -> Edge:
    with parser.in_braces():
        axis = parse_axis(parser)
        parser.parse_punctuation("=")
        source = _parse_numbered(parser, "operand", "result")
        parser.parse_punctuation("->")
        targets = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: _parse_numbered(parser, "operand", "result")
        )
    return Edge(axis, source, tuple(targets))


def _parse_numbered(parser: AttrParser, *words: str) -> str:
    """Reads `operand-0`: a word and a number, whose hyphen reads as its sign."""
    return f"{parser.parse_keyword_in(words)}-{abs(parser.parse_integer(allow_boolean=False))}"


def _steps_text(steps: Steps) -> str:
    texts = (f"step-{step} = [{', '.join(f'{{{edge}}}' for edge in edges)}]" for step, edges in steps)
    return f"[{', '.join(f'{{{text}}}' for text in texts)}]"


@irdl_attr_definition
class PropagationEdgesAttr(TextAttr[Steps]):
    """Shardy's record of how axes came to a value: `#sdy.propagation_edges<[{step-0 = [...]}]>`."""

    name = "sdy.propagation_edges"
    READ: ClassVar[Reader] = staticmethod(_parse_steps)
    TEXT: ClassVar[Writer] = staticmethod(_steps_text)
    ANGLED: ClassVar[bool] = True


class CollectiveOp(SameTypeOp, ABC):
    """The same value in `out_sharding`, moved there as the op says: `name [...] %x out_sharding=<...> : t`."""

    out_sharding = prop_def(ShardingAttr)

    def verify_(self) -> None:
        super().verify_()
        rank, dims = len(shape_of(self.input)), len(self.out_sharding.data.dims)
        if dims != rank:
            raise VerifyException(f"the sharding has {dims} dims, but the tensor has {rank}")


_OUT = forms.Field("out_sharding", forms.spelled(ShardingAttr), " out_sharding=")


def _form(name: str, attribute: type[TextAttr[Any]], *before: forms.Field) -> forms.Form:
    return forms.Form(*before, forms.Field(name, forms.spelled(attribute)), forms.OPERANDS, _OUT, types=forms.ONE)


class _Reduction(forms.Field):
    """`reduction_op`, numbered as in Shardy: a word that stands first, unless it is the sum."""

    WORDS = ("sum", "max", "min")

    def read(self, parser: Parser, found: dict[str, Attribute]) -> None:
        word = parser.parse_optional_keyword_in(self.WORDS)
        if word is not None and word != self.WORDS[0]:
            found[self.name] = IntegerAttr(self.WORDS.index(word), i32)

    def text(self, op: Operation) -> str:
        found = op.properties.get(self.name)
        number = found.value.data if isinstance(found, IntegerAttr) else 0
        return f" {self.WORDS[number]}" if number else ""


_REDUCTION = _Reduction("reduction_op", forms.NUMBER)


class CombiningOp(CollectiveOp, ABC):
    """Partial results are finished, as sums unless the op says otherwise."""

    reduction_op = opt_prop_def(IntegerAttr)

    @property
    def kind(self) -> str:
        """How they are combined: `sum`, `max` or `min`."""
        return _Reduction.WORDS[0 if self.reduction_op is None else self.reduction_op.value.data]

    def verify_(self) -> None:
        super().verify_()
        if self.reduction_op is not None and self.reduction_op.value.data not in range(len(_Reduction.WORDS)):
            raise VerifyException(f"reduction_op must be 0 to 2, not {self.reduction_op.value.data}")


@irdl_op_definition
class AllGatherOp(CollectiveOp):
    """Axes leave dims: `sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<4x8xf32>`."""

    name = "sdy.all_gather"
    gathering_axes = prop_def(ListOfAxisRefListsAttr)
    FORM: ClassVar[forms.Form] = _form("gathering_axes", ListOfAxisRefListsAttr)


@irdl_op_definition
class AllSliceOp(CollectiveOp):
    """Axes join dims: `sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x8xf32>`."""

    name = "sdy.all_slice"
    slicing_axes = prop_def(ListOfAxisRefListsAttr)
    FORM: ClassVar[forms.Form] = _form("slicing_axes", ListOfAxisRefListsAttr)


@irdl_op_definition
class AllToAllOp(CollectiveOp):
    """Axes go to other dims: `sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x8xf32>`."""

    name = "sdy.all_to_all"
    params = prop_def(AllToAllParamListAttr)
    FORM: ClassVar[forms.Form] = _form("params", AllToAllParamListAttr)


@irdl_op_definition
class CollectivePermuteOp(CollectiveOp):
    """Axes change places: `sdy.collective_permute %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<4x8xf32>`."""

    name = "sdy.collective_permute"
    FORM: ClassVar[forms.Form] = forms.Form(forms.OPERANDS, _OUT, types=forms.ONE)


@irdl_op_definition
class AllReduceOp(CombiningOp):
    """Partial results are finished: `sdy.all_reduce max {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<4x8xf32>`."""

    name = "sdy.all_reduce"
    reduction_axes = prop_def(AxisRefListAttr)
    FORM: ClassVar[forms.Form] = _form("reduction_axes", AxisRefListAttr, _REDUCTION)


@irdl_op_definition
class ReduceScatterOp(CombiningOp):
    """Partial results are finished in parts: `sdy.reduce_scatter [{"x"}, {}] %0 out_sharding=... : tensor<4x8xf32>`."""

    name = "sdy.reduce_scatter"
    reduce_scatter_axes = prop_def(ListOfAxisRefListsAttr)
    FORM: ClassVar[forms.Form] = _form("reduce_scatter_axes", ListOfAxisRefListsAttr, _REDUCTION)


@irdl_op_definition
class ShardedToUnreducedOp(CollectiveOp):
    """Axes of dims become those of partial results: `sdy.sharded_to_unreduced [{"x"}] %0 out_sharding=... : t`."""

    name = "sdy.sharded_to_unreduced"
    axes = prop_def(ListOfAxisRefListsAttr)
    FORM: ClassVar[forms.Form] = _form("axes", ListOfAxisRefListsAttr)


@irdl_op_definition
class ReplicatedToUnreducedOp(CollectiveOp):
    """Axes that split nothing become those of partial results: `sdy.replicated_to_unreduced {"x"} %0 ... : t`."""

    name = "sdy.replicated_to_unreduced"
    axes = prop_def(AxisRefListAttr)
    FORM: ClassVar[forms.Form] = _form("axes", AxisRefListAttr)


COLLECTIVES: tuple[type[Operation], ...] = (
    AllGatherOp,
    AllSliceOp,
    AllToAllOp,
    CollectivePermuteOp,
    AllReduceOp,
    ReduceScatterOp,
    ShardedToUnreducedOp,
    ReplicatedToUnreducedOp,
)


OPS: tuple[type[Operation], ...] = (
    *sdy.OPS,
    *COLLECTIVES,
    ManualComputationOp,
    NamedComputationOp,
    ReturnOp,
    ReshardOp,
    PropagationBarrierOp,
    ShardingGroupOp,
    ConstantOp,
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
)

Sdy = Dialect(
    "sdy",
    list(OPS),
    [
        *sdy.ATTRIBUTES,
        AxisRefListAttr,
        ListOfAxisRefListsAttr,
        AllToAllParamListAttr,
        OpShardingRuleAttr,
        ManualAxesAttr,
        PropagationEdgesAttr,
    ],
)
