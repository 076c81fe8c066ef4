"""Ops that combine elements: dot_general and reduce; and the region's return and the optimisation barrier."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, LocationAttr, TensorType, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.parts import forms, shapes, syntax
from shardwright.dialects.stablehlo.parts.attributes import (
    DotAlgorithmAttr,
    DotDimensions,
    DotDimensionsAttr,
    Precision,
    PrecisionAttr,
    parse_dims,
)
from shardwright.dialects.stablehlo.pointwise import AddOp, AndOp, MaximumOp, MinimumOp, MultiplyOp, OrOp, XorOp
from shardwright.dialects.text.xdsl_patches import IMPLIED_LOCATION
from shardwright.dialects.types import AnyTensor, integers, plain, shape_of, tensor, tensor_type

COMMUTATIVE_OPS = (AddOp, AndOp, MaximumOp, MinimumOp, MultiplyOp, OrOp, XorOp)
"""The ops that a reduction can apply without writing a body."""


@irdl_op_definition
class DotGeneralOp(forms.TensorOp):
    """
    Sums of products over contracting dims, for each index of the batching dims.

    `stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>`
    """

    name = "stablehlo.dot_general"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    dot_dimension_numbers = prop_def(DotDimensionsAttr)
    precision_config = opt_prop_def(ArrayAttr)
    algorithm = opt_prop_def(DotAlgorithmAttr)

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        dims: DotDimensions,
        element_type: Attribute | None = None,
        precision: Sequence[Precision] | None = None,
    ):
        left, right = SSAValue.get(lhs), SSAValue.get(rhs)
        result = syntax.infer(self.name, lambda: dot_type(tensor_type(left), tensor_type(right), dims, element_type))
        properties: dict[str, Attribute] = {"dot_dimension_numbers": DotDimensionsAttr(dims)}
        if precision is not None:
            properties["precision_config"] = ArrayAttr([PrecisionAttr(item) for item in precision])
        super().__init__(operands=[left, right], properties=properties, result_types=[result])

    @property
    def dims(self) -> DotDimensions:
        """Which dims pair up."""
        return self.dot_dimension_numbers.data

    @property
    def batching_dims(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The batching dims of both operands."""
        return self.dims.lhs_batching, self.dims.rhs_batching

    @property
    def contracting_dims(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The contracting dims of both operands."""
        return self.dims.lhs_contracting, self.dims.rhs_contracting

    @classmethod
    def parse(cls, parser: Parser) -> DotGeneralOp:
        operands = syntax.parse_operands(parser, 2)
        parser.parse_punctuation(",")
        batching = ((), ())
        if parser.parse_optional_keyword("batching_dims") is not None:
            batching = _parse_pair(parser)
            parser.parse_punctuation(",")
        parser.parse_keyword("contracting_dims")
        contracting = _parse_pair(parser)
        properties: dict[str, Attribute] = {
            "dot_dimension_numbers": DotDimensionsAttr(DotDimensions(*batching, *contracting))
        }
        while parser.parse_optional_punctuation(",") is not None:
            properties |= _parse_dot_option(parser)
        return syntax.parse_rest(parser, cls, operands, properties)

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        left, right = self.batching_dims
        if left or right:
            printer.print_string(f", batching_dims = {list(left)} x {list(right)}")
        left, right = self.contracting_dims
        printer.print_string(f", contracting_dims = {list(left)} x {list(right)}")
        if self.precision_config is not None:
            printer.print_string(f", precision = {PRECISION.text(self.precision_config)}")
        if self.algorithm is not None:
            printer.print_string(", algorithm = ")
            self.algorithm.print_parameter(printer)
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        lhs, rhs, result = map(tensor_type, (*self.operands, *self.results))
        syntax.check_result(self, dot_type(lhs, rhs, self.dims, result.element_type))
        check_precision(self.precision_config)
        asked = self.precision_config.data if self.precision_config is not None else ()
        if self.algorithm is not None and any(item != PrecisionAttr(Precision.DEFAULT) for item in asked):
            raise VerifyException("an algorithm says how exact the products are: every precision must be DEFAULT")


def check_precision(precision: ArrayAttr[Attribute] | None) -> None:
    """Checks that a precision is given for each of two operands, or for none."""
    if precision is not None and not (
        len(precision.data) in (0, 2) and all(isinstance(item, PrecisionAttr) for item in precision.data)
    ):
        raise VerifyException("precision_config must hold one precision for each operand")


def dot_type(lhs: AnyTensor, rhs: AnyTensor, dims: DotDimensions, element_type: Attribute | None = None) -> AnyTensor:
    """The plain result type of a dot; its element type is that of lhs unless given."""
    shape = shapes.dot_general(shape_of(lhs), shape_of(rhs), dims)
    return tensor(shape, element_type or lhs.element_type)


def _parse_pair(parser: Parser) -> tuple[tuple[int, ...], tuple[int, ...]]:
    parser.parse_punctuation("=")
    left = parse_dims(parser)
    parser.parse_keyword("x")
    return left, parse_dims(parser)


def _parse_precision(parser: Parser) -> Attribute:
    return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _PRECISE.read(parser)))


def _precision_text(precision: ArrayAttr[Attribute]) -> str:
    return f"[{', '.join(map(_PRECISE.text, precision.data))}]"


_PRECISE = forms.one_of(PrecisionAttr)
PRECISION = forms.Spelling(_parse_precision, _precision_text)
"""`[DEFAULT, HIGH]`."""


def _parse_dot_option(parser: Parser) -> dict[str, Attribute]:
    option = parser.parse_keyword_in(("precision", "algorithm"))
    parser.parse_punctuation("=")
    if option == "algorithm":
        return {"algorithm": DotAlgorithmAttr(DotAlgorithmAttr.parse_parameter(parser))}
    return {"precision_config": PRECISION.read(parser)}


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a region: `stablehlo.return %0 : tensor<f32>`."""

    name = "stablehlo.return"
    operands_ = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())

    def __init__(self, *operands: SSAValue | Operation):
        super().__init__(operands=[[SSAValue.get(operand) for operand in operands]])

    @classmethod
    def parse(cls, parser: Parser) -> ReturnOp:
        operands = forms.OPERANDS.read(parser, cls)
        attributes = parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        position = parser.pos
        if operands:
            parser.parse_punctuation(":")
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return cls.create(operands=parser.resolve_operands(operands, types, position), attributes=attributes)

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        syntax.print_attributes(printer, self)
        if self.operands:
            printer.print_string(" : ")
            printer.print_list(self.operand_types, printer.print_attribute)


@irdl_op_definition
class OptimizationBarrierOp(IRDLOperation):
    """Passes values through unchanged; nothing moves across it: `stablehlo.optimization_barrier %x : tensor<f32>`."""

    name = "stablehlo.optimization_barrier"
    inputs = var_operand_def()
    outputs = var_result_def()
    traits = traits_def(Pure())

    def __init__(self, inputs: Sequence[SSAValue | Operation]):
        values = [SSAValue.get(value) for value in inputs]
        super().__init__(operands=[values], result_types=[[value.type for value in values]])

    @classmethod
    def parse(cls, parser: Parser) -> OptimizationBarrierOp:
        attributes = parser.parse_optional_attr_dict()
        if parser.parse_optional_punctuation("(") is not None:
            parser.parse_punctuation(")")
            return cls.create(attributes=attributes)
        operands = forms.OPERANDS.read(parser, cls)
        parser.parse_punctuation(":")
        position = parser.pos
        if (first := syntax.parse_tensor(parser)) is not None:
            inputs = [first]
            while parser.parse_optional_punctuation(",") is not None:
                inputs.append(parser.parse_type())
            outputs = inputs
        else:
            inputs, outputs = syntax.parse_signature(parser)
        return cls.create(
            operands=parser.resolve_operands(operands, inputs, position), result_types=outputs, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        syntax.print_attributes(printer, self)
        if not self.operands:
            printer.print_string(" ()")
            return
        syntax.print_operands(printer, self.operands)
        if list(self.operand_types) != list(self.result_types):
            syntax.print_signature(printer, self)
            return
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)

    def verify_(self) -> None:
        if len(self.inputs) != len(self.outputs):
            raise VerifyException(f"{len(self.inputs)} operands do not make {len(self.outputs)} results")
        for index, (operand, result) in enumerate(zip(self.inputs, self.outputs, strict=True)):
            if isinstance(operand.type, TensorType) and isinstance(result.type, TensorType):
                syntax.check_result(self, plain(operand.type), index)
            elif operand.type != result.type:
                raise VerifyException(f"result {index} must be {operand.type}, not {result.type}")


class ReducingOp(IRDLOperation, ABC):
    """Combines elements by a function, from an initial value: n inputs, n initial values, n results."""

    arguments = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(Pure(), RecursiveMemoryEffect())

    def make(
        self,
        inputs: Sequence[SSAValue | Operation],
        init_values: Sequence[SSAValue | Operation],
        properties: dict[str, Attribute],
        rule: Callable[[AnyTensor], AnyTensor],
        body: Region | type[Operation],
    ) -> None:
        """Makes the op; `rule` makes a result's type of an input's, and a binary op stands for the body of it."""
        values = [SSAValue.get(value) for value in (*inputs, *init_values)]
        types = [tensor_type(value) for value in values[: len(inputs)]]
        results = [syntax.infer(self.name, lambda found=found: rule(found)) for found in types]
        super().__init__(
            operands=[values],
            properties=properties,
            result_types=[results],
            regions=[as_body(body, types[0].element_type)],
        )

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        """The tensors to reduce."""
        return tuple(self.operands[: len(self.operands) // 2])

    @property
    def init_values(self) -> tuple[SSAValue, ...]:
        """The initial value for each input."""
        return tuple(self.operands[len(self.operands) // 2 :])

    def check_inputs(self) -> list[AnyTensor]:
        """The inputs' types; `VerifyException` unless all have one shape, an initial value and a result."""
        count = len(self.results)
        if len(self.operands) != 2 * count or not count:
            raise VerifyException("needs one initial value and one result for each input, and at least one input")
        types = [*map(tensor_type, self.inputs)]
        if count > 1:
            shapes.equal([*map(shape_of, types)])
        return types

    def check_shape(self, index: int, expected: AnyTensor) -> None:
        """Checks a result's shape: its element type may be wider than the input's."""
        found = tensor_type(self.results[index])
        if found.shape != expected.shape:
            syntax.check_result(self, tensor(shape_of(expected), found.element_type), index)


@irdl_op_definition
class ReduceOp(ReducingOp):
    """
    Combines the elements of some dims by a function, from an initial value: n inputs, n initial values, n results.

    `stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1] : (...) -> tensor<4xf32>`

    The body takes n accumulated values, then n elements, all scalars.
    """

    name = "stablehlo.reduce"
    dimensions = prop_def(DenseArrayBase.constr(i64))

    def __init__(
        self,
        inputs: Sequence[SSAValue | Operation],
        init_values: Sequence[SSAValue | Operation],
        dims: Sequence[int],
        body: Region | type[Operation],
    ):
        reduced = tuple(dims)
        self.make(
            inputs, init_values, {"dimensions": integers(reduced)}, lambda found: _reduce_type(found, reduced), body
        )

    @property
    def dims(self) -> tuple[int, ...]:
        """The reduced dims."""
        return self.dimensions.get_values()

    @property
    def applied(self) -> Operation | None:
        """The one binary op that the body consists of, as in `applies stablehlo.add`; else None."""
        block = self.body.blocks.first
        if block is None or len(block.args) != 2 or (first := block.first_op) is None:
            return None
        last = first.next_op
        if not isinstance(last, ReturnOp) or last.next_op is not None or first.attributes or first.properties:
            return None
        if tuple(first.operands) != block.args or tuple(last.operands) != tuple(first.results) or last.attributes:
            return None
        return first if isinstance(first, COMMUTATIVE_OPS) and _all_equal(first) else None

    @classmethod
    def parse(cls, parser: Parser) -> ReduceOp:
        pairs = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: _parse_input(parser))
        position = parser.pos
        applied = parser.parse_identifier() if parser.parse_optional_keyword("applies") is not None else None
        parser.parse_keyword("across")
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {"dimensions": integers(parse_dims(parser))}
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        inputs, outputs = syntax.parse_signature(parser)
        operands = [pair[0] for pair in pairs] + [pair[1] for pair in pairs]
        values = parser.resolve_operands(operands, inputs, position)
        body = _parse_reducer(parser, len(pairs)) if applied is None else _applied(parser, applied, inputs, position)
        return cls.create(
            operands=values, result_types=outputs, properties=properties, attributes=attributes, regions=[body]
        )

    def print(self, printer: Printer) -> None:
        for index, (value, init) in enumerate(zip(self.inputs, self.init_values, strict=True)):
            printer.print_string(", (" if index else "(")
            printer.print_ssa_value(value)
            printer.print_string(" init: ")
            printer.print_ssa_value(init)
            printer.print_string(")")
        applied = self.applied
        if applied is not None and printer.print_debuginfo and applied.location != self.location:
            applied = None
        if applied is not None:
            printer.print_string(f" applies {applied.name}")
        printer.print_string(f" across dimensions = {list(self.dims)}")
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)
        if applied is None:
            self._print_reducer(printer)

    def _print_reducer(self, printer: Printer) -> None:
        printer.print_string("\n reducer")
        args = self.body.block.args
        count = len(args) // 2
        for index in range(count):
            printer.print_string("(")
            printer.print_list((args[index], args[index + count]), printer.print_block_argument)
            printer.print_string(") ")
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    def verify_(self) -> None:
        for index, (found, init) in enumerate(zip(self.check_inputs(), self.init_values, strict=True)):
            if shape_of(init):
                raise VerifyException(
                    f"initial value {index} must be {tensor((), found.element_type)}, not {init.type}"
                )
            self.check_shape(index, _reduce_type(found, self.dims))
        check_body(self.body.block, [*map(tensor_type, self.results)])


def check_body(block: Block, results: Sequence[AnyTensor], what: str = "the body") -> None:
    """Checks a region of two scalars for each result that returns one scalar for each."""
    if len(block.args) != 2 * len(results):
        raise VerifyException(f"{what} must take {2 * len(results)} scalars, not {len(block.args)} values")
    for arg in block.args:
        if not isinstance(arg.type, TensorType) or shape_of(arg):
            raise VerifyException(f"{what}'s arguments must be scalars, not {arg.type}")
    last = block.last_op
    if not isinstance(last, ReturnOp) or len(last.operands) != len(results):
        raise VerifyException(f"{what} must end in stablehlo.return of {len(results)} scalars")
    for value, result in zip(last.operands, results, strict=True):
        wanted = tensor((), result.element_type)
        if plain(value.type) != wanted:
            raise VerifyException(f"{what} must return {wanted}, not {value.type}")


def _all_equal(op: Operation) -> bool:
    types = [value.type for value in (*op.operands, *op.results)]
    return len(types) == 3 and all(found == types[0] for found in types)


def _reduce_type(operand: AnyTensor, dims: tuple[int, ...]) -> AnyTensor:
    return tensor(shapes.reduce(shape_of(operand), dims), operand.element_type)


def combiner(op: type[Operation], element_type: Attribute, location: LocationAttr | None = None) -> Region:
    """The body that applies one binary op to its two scalars."""
    scalar = tensor((), element_type)
    block = Block(arg_types=[scalar, scalar])
    applied = op.create(operands=block.args, result_types=[scalar], location=location)
    block.add_ops([applied, ReturnOp.create(operands=applied.results, location=location)])
    return Region(block)


def as_body(body: Region | type[Operation], element_type: Attribute) -> Region:
    """A body as it is given, or the one that applies a binary op."""
    return body if isinstance(body, Region) else combiner(body, element_type)


def _parse_input(parser: Parser) -> tuple[UnresolvedOperand, UnresolvedOperand]:
    parser.parse_punctuation("(")
    value = parser.parse_unresolved_operand()
    parser.parse_keyword("init")
    parser.parse_punctuation(":")
    init = parser.parse_unresolved_operand()
    parser.parse_punctuation(")")
    return value, init


def _applied(parser: Parser, name: str, inputs: Sequence[Attribute], position: int) -> Region:
    op = next((op for op in COMMUTATIVE_OPS if op.name == name), None)
    found = inputs[0] if inputs else None
    if op is None or not isinstance(found, TensorType):
        parser.raise_error(f"'{name}' is no commutative binary op that a reduction can apply", position)
    return combiner(op, cast(AnyTensor, found).element_type, IMPLIED_LOCATION)


def _parse_reducer(parser: Parser, count: int) -> Region:
    parser.parse_keyword("reducer")
    groups = [
        parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: syntax.parse_argument(parser))
        for _ in range(count)
    ]
    position = parser.pos
    if any(len(group) != 2 for group in groups):
        parser.raise_error("each group of reducer arguments must be an accumulated value and an element", position)
    return parser.parse_region([group[0] for group in groups] + [group[1] for group in groups])


def scalar_arguments(op: ReduceOp) -> tuple[tuple[BlockArgument, ...], tuple[BlockArgument, ...]]:
    """The body's accumulated values and its elements."""
    args = op.body.block.args
    return args[: len(args) // 2], args[len(args) // 2 :]
