"""Ops that choose what runs and how often: while, case and if."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerType, TensorType, i1, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.algebra.contractions import ReturnOp
from shardwright.dialects.stablehlo.calls.custom_calls import TokenType, is_token
from shardwright.dialects.stablehlo.parts import syntax
from shardwright.dialects.text.xdsl_patches import share_name
from shardwright.dialects.types import AnyTensor, element_of, plain, shape_of, tensor, tensor_type


@irdl_op_definition
class WhileOp(IRDLOperation):
    """
    Carries n values through a body for as long as a condition on them holds: n inputs, n results.

    `stablehlo.while(%iterArg = %x) : tensor<i32> cond { ... } do { ... }`

    Both regions take the carried values; the condition returns a `tensor<i1>`, the body the next values. Both may use
    values from outside. Where the layouts of inputs, results and arguments differ, types are written out:
    `stablehlo.while(%x) : (t) -> t cond { ^bb0(%a: t): ... } do { ^bb0(%a: t): ... }`.
    """

    name = "stablehlo.while"
    inputs = var_operand_def(TensorType | TokenType)
    outputs = var_result_def(TensorType | TokenType)
    condition = region_def("single_block")
    body = region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        inputs: Sequence[SSAValue | Operation],
        condition: Region,
        body: Region,
        result_types: Sequence[AnyTensor] | None = None,
    ):
        values = [SSAValue.get(value) for value in inputs]
        types = [tensor_type(value) for value in values] if result_types is None else list(result_types)
        super().__init__(operands=[values], result_types=[types], regions=[condition, body])

    @property
    def next_values(self) -> tuple[SSAValue, ...]:
        """What the body returns: the values that the next round starts with."""
        return returned(self.body.block)

    @property
    def predicate(self) -> SSAValue:
        """What the condition returns."""
        return returned(self.condition.block)[0]

    @classmethod
    def parse(cls, parser: Parser) -> WhileOp:
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_carried(parser))
        position = parser.pos
        inputs, outputs = _parse_carried_types(parser) if pairs else ([], [])
        operands = parser.resolve_operands([operand for _, operand in pairs], inputs, position)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        names = [name for name, _ in pairs if name is not None]
        if names and len(names) != len(pairs):
            parser.raise_error("name all carried values, as in (%iterArg = %x), or none", position)
        arguments = [name.resolve(kind) for name, kind in zip(names, inputs, strict=True)] if names else None
        regions: list[Region] = []
        for keyword in ("cond", "do"):
            parser.parse_keyword(keyword)
            regions.append(parser.parse_region(arguments))
        return cls.create(
            operands=operands,
            result_types=outputs,
            attributes=attributes.data if attributes is not None else {},
            regions=regions,
        )

    def print(self, printer: Printer) -> None:
        uniform = self._is_uniform()
        printer.print_string("(")
        for index, value in enumerate(self.inputs):
            printer.print_string(", " if index else "")
            if uniform:
                argument = self.condition.block.args[index]
                printer.print_ssa_value(argument)
                printer.print_string(" = ")
                share_name(printer, argument, self.body.block.args[index])
            printer.print_ssa_value(value)
        printer.print_string(")")
        if self.operands and uniform:
            printer.print_string(" : ")
            printer.print_list(self.operand_types, printer.print_attribute)
        elif self.operands:
            syntax.print_signature(printer, self)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string("\ncond ")
        printer.print_region(self.condition, print_entry_block_args=not uniform)
        printer.print_string(" do ")
        printer.print_region(self.body, print_entry_block_args=not uniform)

    def _is_uniform(self) -> bool:
        """Whether inputs, results and both regions' arguments have the same types, layouts included."""
        types = tuple(self.operand_types)
        found = (self.condition.block.arg_types, self.body.block.arg_types, self.result_types)
        return all(tuple(item) == types for item in found)

    def verify_(self) -> None:
        types = [_plain(value) for value in self.inputs]
        _check_types("results", [value.type for value in self.outputs], types)
        _check_types("the arguments of the condition", self.condition.block.arg_types, types)
        _check_types("the arguments of the body", self.body.block.arg_types, types)
        _check_types("the results of the condition", _returned_types(self.condition.block), [tensor((), i1)])
        _check_types("the results of the body", _returned_types(self.body.block), types)


def _parse_carried(parser: Parser) -> tuple[Parser.UnresolvedArgument | None, UnresolvedOperand]:
    """Reads `%iterArg = %x`, or `%x` alone."""
    position = parser.pos
    operand = parser.parse_unresolved_operand()
    if parser.parse_optional_punctuation("=") is None:
        return None, operand
    if operand.index:
        parser.raise_error("a carried value's name cannot be numbered", position)
    return Parser.UnresolvedArgument(operand.span), parser.parse_unresolved_operand()


def _parse_carried_types(parser: Parser) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    parser.parse_punctuation(":")
    first = syntax.parse_tensor(parser)
    if first is None:
        return syntax.parse_signature(parser)
    types = [first]
    while parser.parse_optional_punctuation(",") is not None:
        types.append(parser.parse_type())
    return types, types


class _BranchingOp(IRDLOperation):
    """What case and if share: regions without arguments that return what the op results in."""

    def _check_branches(self) -> None:
        types = [_plain(value) for value in self.results]
        for number, region in enumerate(self.regions):
            if region.block.args:
                raise VerifyException(f"branch {number} must be without arguments: it may use values from outside")
            _check_types(f"the results of branch {number}", _returned_types(region.block), types)


@irdl_op_definition
class CaseOp(_BranchingOp):
    """
    Runs the branch that the index names, or the last one when the index is out of range.

    `"stablehlo.case"(%index) ({ ... }, { ... }) : (tensor<i32>) -> tensor<4xf32>`
    """

    name = "stablehlo.case"
    index = operand_def(TensorType)
    outputs = var_result_def(TensorType | TokenType)
    branches = var_region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        index: SSAValue | Operation,
        branches: Sequence[Region],
        result_types: Sequence[AnyTensor] | None = None,
    ):
        types = _branch_types(branches[0]) if result_types is None else list(result_types)
        super().__init__(operands=[SSAValue.get(index)], result_types=[types], regions=[list(branches)])

    def verify_(self) -> None:
        _check_scalar("the index", self.index, i32)
        if not self.branches:
            raise VerifyException("must be given at least one branch")
        self._check_branches()


@irdl_op_definition
class IfOp(_BranchingOp):
    """
    Runs one of two branches.

    `"stablehlo.if"(%predicate) ({ ... }, { ... }) : (tensor<i1>) -> tensor<4xf32>`
    """

    name = "stablehlo.if"
    predicate = operand_def(TensorType)
    outputs = var_result_def(TensorType | TokenType)
    true_branch = region_def("single_block")
    false_branch = region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        predicate: SSAValue | Operation,
        true_branch: Region,
        false_branch: Region,
        result_types: Sequence[AnyTensor] | None = None,
    ):
        types = _branch_types(true_branch) if result_types is None else list(result_types)
        super().__init__(operands=[SSAValue.get(predicate)], result_types=[types], regions=[true_branch, false_branch])

    def verify_(self) -> None:
        _check_scalar("the predicate", self.predicate, i1)
        self._check_branches()


def returned(block: Block) -> tuple[SSAValue, ...]:
    """The values that a region's block returns."""
    assert block.last_op is not None
    return tuple(block.last_op.operands)


def _branch_types(branch: Region) -> list[AnyTensor]:
    return [tensor_type(value) for value in returned(branch.block)]


def _returned_types(block: Block) -> list[Attribute]:
    last = block.last_op
    if not isinstance(last, ReturnOp):
        raise VerifyException("each of its regions must be ended by stablehlo.return")
    return [value.type for value in last.operands]


def _plain(value: SSAValue) -> Attribute:
    """The type of a tensor without its layout; a token's type is itself."""
    return value.type if is_token(value) else plain(value.type)


def _check_types(what: str, found: Sequence[Attribute], wanted: Sequence[Attribute]) -> None:
    """Checks that types are as wanted, layouts aside."""
    plain_types = [plain(cast(AnyTensor, item)) if isinstance(item, TensorType) else item for item in found]
    if plain_types != list(wanted):
        raise VerifyException(f"{what} must be {_type_list(wanted)}, not {_type_list(found)}")


def _type_list(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"


def _check_scalar(what: str, value: SSAValue, element_type: IntegerType) -> None:
    if shape_of(value) or element_of(value) != element_type:
        raise VerifyException(f"{what} must be {tensor((), element_type)}, not {value.type}")
