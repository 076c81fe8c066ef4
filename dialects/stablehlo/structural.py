"""Ops that make or move elements without computing: constants, iota, broadcasts, reshapes, slices, pads."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.parts import shapes, syntax
from shardwright.dialects.text.literals import DenseAttr, dense_body
from shardwright.dialects.types import (
    AnyTensor,
    element_of,
    integers,
    is_boolean,
    plain,
    shape_of,
    tensor,
    tensor_type,
)


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A literal: `stablehlo.constant dense<1.0> : tensor<4xf32>`."""

    name = "stablehlo.constant"
    value = prop_def(DenseIntOrFPElementsAttr)
    output = result_def(TensorType)
    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: DenseAttr):
        super().__init__(properties={"value": value}, result_types=[value.type])

    @property
    def result(self) -> SSAValue:
        """The op's only result."""
        return self.results[0]

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error("expected a literal like dense<1.0> : tensor<4xf32>", position)
        result = parser.parse_type() if parser.parse_optional_punctuation("->") else value.type
        return cls.create(properties={"value": value}, result_types=[result], attributes=attributes)

    def print(self, printer: Printer) -> None:
        syntax.print_attributes(printer, self)
        printer.print_string(" ")
        if self.output.type is self.value.type or self.output.type == self.value.type:
            printer.print_attribute(self.value)
            return
        printer.print_string(f"dense<{dense_body(self.value)}> : ")
        printer.print_attribute(self.value.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.output.type)

    def verify_(self) -> None:
        syntax.check_result(self, tensor_type(self.value.type))


@irdl_op_definition
class IotaOp(IRDLOperation):
    """Each element is its index along one dim: `stablehlo.iota dim = 0 : tensor<4xi32>`."""

    name = "stablehlo.iota"
    iota_dimension = prop_def(IntegerAttr)
    output = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, dim: int, result_type: AnyTensor):
        super().__init__(properties={"iota_dimension": IntegerAttr(dim, i64)}, result_types=[result_type])

    @property
    def result(self) -> SSAValue:
        """The op's only result."""
        return self.results[0]

    @property
    def dim(self) -> int:
        """The dim along which elements count up."""
        return self.iota_dimension.value.data

    @classmethod
    def parse(cls, parser: Parser) -> IotaOp:
        parser.parse_keyword("dim")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {
            "iota_dimension": IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        }
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(properties=properties, result_types=[parser.parse_type()], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" dim = {self.dim}")
        syntax.print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.output.type)

    def verify_(self) -> None:
        shapes.check_dims([self.dim], len(shape_of(self.output)), "iota dimension")
        if is_boolean(element_of(self.output)):
            raise VerifyException("elements must be numbers, not i1")


@irdl_op_definition
class BroadcastInDimOp(IRDLOperation):
    """
    Repeats elements: operand dim `i` becomes result dim `dims[i]`.

    `stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>`
    """

    name = "stablehlo.broadcast_in_dim"
    operand = operand_def(TensorType)
    broadcast_dimensions = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, dims: Sequence[int], result_type: AnyTensor):
        value = SSAValue.get(operand)
        syntax.infer(self.name, lambda: _broadcast_type(tensor_type(value), tuple(dims), result_type))
        super().__init__(
            operands=[value],
            properties={"broadcast_dimensions": integers(tuple(dims))},
            result_types=[result_type],
        )

    @property
    def dims(self) -> tuple[int, ...]:
        """For each operand dim its place in the result."""
        return self.broadcast_dimensions.get_values()

    @classmethod
    def parse(cls, parser: Parser) -> BroadcastInDimOp:
        operand = parser.parse_unresolved_operand()
        dims = syntax.parse_named_dims(parser, "dims")
        return syntax.parse_rest(parser, cls, [operand], {"broadcast_dimensions": dims})

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        printer.print_string(syntax.dims_text("dims", self.dims))
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        syntax.check_result(self, _broadcast_type(tensor_type(self.operand), self.dims, tensor_type(self.result)))


def _broadcast_type(operand: AnyTensor, dims: tuple[int, ...], result: AnyTensor) -> AnyTensor:
    shapes.check_broadcast(shape_of(operand), dims, shape_of(result))
    return tensor(shape_of(result), operand.element_type)


@irdl_op_definition
class ReshapeOp(IRDLOperation):
    """The same elements, row-major, in another shape: `stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>`."""

    name = "stablehlo.reshape"
    operand = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, result_type: AnyTensor):
        value = SSAValue.get(operand)
        syntax.infer(self.name, lambda: _reshape_type(tensor_type(value), result_type))
        super().__init__(operands=[value], result_types=[result_type])

    @classmethod
    def parse(cls, parser: Parser) -> ReshapeOp:
        return syntax.parse_rest(parser, cls, [parser.parse_unresolved_operand()], {})

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        syntax.check_result(self, _reshape_type(tensor_type(self.operand), tensor_type(self.result)))


def _reshape_type(operand: AnyTensor, result: AnyTensor) -> AnyTensor:
    shapes.check_reshape(shape_of(operand), shape_of(result))
    return tensor(shape_of(result), operand.element_type)


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """Result dim `i` is operand dim `dims[i]`: `stablehlo.transpose %x, dims = [1, 0] : (...) -> ...`."""

    name = "stablehlo.transpose"
    operand = operand_def(TensorType)
    permutation = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, permutation: Sequence[int]):
        value = SSAValue.get(operand)
        result = syntax.infer(self.name, lambda: _transpose_type(tensor_type(value), tuple(permutation)))
        super().__init__(
            operands=[value], properties={"permutation": integers(tuple(permutation))}, result_types=[result]
        )

    @property
    def dims(self) -> tuple[int, ...]:
        """For each result dim the operand dim that it was."""
        return self.permutation.get_values()

    @classmethod
    def parse(cls, parser: Parser) -> TransposeOp:
        operand = parser.parse_unresolved_operand()
        dims = syntax.parse_named_dims(parser, "dims")
        return syntax.parse_rest(parser, cls, [operand], {"permutation": dims})

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        printer.print_string(syntax.dims_text("dims", self.dims))
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        syntax.check_result(self, _transpose_type(tensor_type(self.operand), self.dims))


def _transpose_type(operand: AnyTensor, permutation: tuple[int, ...]) -> AnyTensor:
    return tensor(shapes.transpose(shape_of(operand), permutation), operand.element_type)


@irdl_op_definition
class SliceOp(IRDLOperation):
    """A box with strides: `stablehlo.slice %x [0:4:2, 1:8] : (tensor<4x8xf32>) -> tensor<2x7xf32>`."""

    name = "stablehlo.slice"
    operand = operand_def(TensorType)
    start_indices = prop_def(DenseArrayBase.constr(i64))
    limit_indices = prop_def(DenseArrayBase.constr(i64))
    strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue | Operation,
        starts: Sequence[int],
        limits: Sequence[int],
        strides: Sequence[int] | None = None,
    ):
        value = SSAValue.get(operand)
        bounds = tuple(starts), tuple(limits), tuple(strides if strides is not None else (1,) * len(starts))
        result = syntax.infer(self.name, lambda: _slice_type(tensor_type(value), *bounds))
        super().__init__(operands=[value], properties=_slice_properties(*bounds), result_types=[result])

    @property
    def bounds(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Starts, limits and strides, one of each for each dim."""
        return self.start_indices.get_values(), self.limit_indices.get_values(), self.strides.get_values()

    @classmethod
    def parse(cls, parser: Parser) -> SliceOp:
        operand = parser.parse_unresolved_operand()
        ranges = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_range(parser))
        starts, limits, strides = zip(*ranges, strict=True) if ranges else ((), (), ())
        return syntax.parse_rest(parser, cls, [operand], _slice_properties(starts, limits, strides))

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        ranges = [
            f"{start}:{limit}" + (f":{stride}" if stride != 1 else "")
            for start, limit, stride in zip(*self.bounds, strict=True)
        ]
        printer.print_string(f" [{', '.join(ranges)}]")
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        syntax.check_result(self, _slice_type(tensor_type(self.operand), *self.bounds))


def _slice_type(
    operand: AnyTensor, starts: tuple[int, ...], limits: tuple[int, ...], strides: tuple[int, ...]
) -> AnyTensor:
    return tensor(shapes.slice_(shape_of(operand), starts, limits, strides), operand.element_type)


def _slice_properties(
    starts: tuple[int, ...], limits: tuple[int, ...], strides: tuple[int, ...]
) -> dict[str, Attribute]:
    return {
        "start_indices": integers(starts),
        "limit_indices": integers(limits),
        "strides": integers(strides),
    }


def _parse_range(parser: Parser) -> tuple[int, int, int]:
    start = parser.parse_integer(allow_boolean=False)
    parser.parse_punctuation(":")
    limit = parser.parse_integer(allow_boolean=False)
    stride = parser.parse_integer(allow_boolean=False) if parser.parse_optional_punctuation(":") else 1
    return start, limit, stride


@irdl_op_definition
class ConcatenateOp(IRDLOperation):
    """Operands end to end along one dim: `stablehlo.concatenate %x, %y, dim = 0 : (...) -> ...`."""

    name = "stablehlo.concatenate"
    inputs = var_operand_def(TensorType)
    dimension = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, inputs: Sequence[SSAValue | Operation], dim: int):
        values = [SSAValue.get(value) for value in inputs]
        result = syntax.infer(self.name, lambda: _concatenate_type([tensor_type(value) for value in values], dim))
        super().__init__(operands=[values], properties={"dimension": IntegerAttr(dim, i64)}, result_types=[result])

    @property
    def dim(self) -> int:
        """The dim along which operands are joined."""
        return self.dimension.value.data

    @classmethod
    def parse(cls, parser: Parser) -> ConcatenateOp:
        operands = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        while (operand := parser.parse_optional_unresolved_operand()) is not None:
            operands.append(operand)
            parser.parse_punctuation(",")
        parser.parse_keyword("dim")
        parser.parse_punctuation("=")
        dimension = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        return syntax.parse_rest(parser, cls, operands, {"dimension": dimension})

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        printer.print_string(f", dim = {self.dim}")
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        syntax.check_result(self, _concatenate_type([tensor_type(value) for value in self.inputs], self.dim))


def _concatenate_type(operands: Sequence[AnyTensor], dim: int) -> AnyTensor:
    shape = shapes.concatenate([shape_of(operand) for operand in operands], dim)
    if any(operand.element_type != operands[0].element_type for operand in operands):
        raise VerifyException("operand element types differ")
    return tensor(shape, operands[0].element_type)


@irdl_op_definition
class PadOp(IRDLOperation):
    """
    A value before, after and between the elements of each dim; negative edges cut.

    `stablehlo.pad %x, %v, low = [0, 1], high = [0, 1], interior = [0, 0] : (...) -> ...`
    """

    name = "stablehlo.pad"
    operand = operand_def(TensorType)
    padding_value = operand_def(TensorType)
    edge_padding_low = prop_def(DenseArrayBase.constr(i64))
    edge_padding_high = prop_def(DenseArrayBase.constr(i64))
    interior_padding = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue | Operation,
        padding_value: SSAValue | Operation,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int] | None = None,
    ):
        values = SSAValue.get(operand), SSAValue.get(padding_value)
        amounts = tuple(low), tuple(high), tuple(interior if interior is not None else (0,) * len(low))
        result = syntax.infer(self.name, lambda: _pad_type(tensor_type(values[0]), tensor_type(values[1]), *amounts))
        super().__init__(operands=values, properties=_pad_properties(*amounts), result_types=[result])

    @property
    def amounts(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Low, high and interior padding, one of each for each dim."""
        return (
            self.edge_padding_low.get_values(),
            self.edge_padding_high.get_values(),
            self.interior_padding.get_values(),
        )

    @classmethod
    def parse(cls, parser: Parser) -> PadOp:
        operands = syntax.parse_operands(parser, 2)
        low, high, interior = (syntax.parse_named_dims(parser, word) for word in ("low", "high", "interior"))
        properties = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
        return syntax.parse_rest(parser, cls, operands, properties)

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        for word, amounts in zip(("low", "high", "interior"), self.amounts, strict=True):
            printer.print_string(syntax.dims_text(word, amounts))
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        syntax.check_result(self, _pad_type(tensor_type(self.operand), tensor_type(self.padding_value), *self.amounts))


def _pad_type(
    operand: AnyTensor, value: AnyTensor, low: tuple[int, ...], high: tuple[int, ...], interior: tuple[int, ...]
) -> AnyTensor:
    if plain(value) != tensor((), operand.element_type):
        raise VerifyException(f"the padding value must be {tensor((), operand.element_type)}, not {value}")
    return tensor(shapes.pad(shape_of(operand), low, high, interior), operand.element_type)


def _pad_properties(low: tuple[int, ...], high: tuple[int, ...], interior: tuple[int, ...]) -> dict[str, Attribute]:
    return {
        "edge_padding_low": integers(low),
        "edge_padding_high": integers(high),
        "interior_padding": integers(interior),
    }


@irdl_op_definition
class ReverseOp(IRDLOperation):
    """The elements of some dims back to front: `stablehlo.reverse %x, dims = [0] : tensor<4x8xf32>`."""

    name = "stablehlo.reverse"
    operand = operand_def(TensorType)
    dimensions = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, dims: Sequence[int]):
        value = SSAValue.get(operand)
        result = syntax.infer(self.name, lambda: _reverse_type(tensor_type(value), tuple(dims)))
        super().__init__(operands=[value], properties={"dimensions": integers(tuple(dims))}, result_types=[result])

    @property
    def dims(self) -> tuple[int, ...]:
        """The reversed dims."""
        return self.dimensions.get_values()

    @classmethod
    def parse(cls, parser: Parser) -> ReverseOp:
        operand = parser.parse_unresolved_operand()
        dims = syntax.parse_named_dims(parser, "dims")
        return syntax.parse_rest(parser, cls, [operand], {"dimensions": dims}, short=lambda only: ([only], [only]))

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        printer.print_string(syntax.dims_text("dims", self.dims))
        syntax.print_attributes(printer, self)
        syntax.print_type_or_signature(printer, self)

    def verify_(self) -> None:
        syntax.check_result(self, _reverse_type(tensor_type(self.operand), self.dims))


def _reverse_type(operand: AnyTensor, dims: tuple[int, ...]) -> AnyTensor:
    shapes.check_dims(dims, len(shape_of(operand)), "reversed dimension")
    return plain(operand)
