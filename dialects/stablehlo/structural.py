"""Ops that make or move elements without computing: constants, iota, broadcasts, reshapes, slices, pads."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerAttr, IntegerType, TensorType, i64
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

from shardwright.dialects.stablehlo.parts import forms, shapes, syntax
from shardwright.dialects.stablehlo.parts.attributes import parse_integer
from shardwright.dialects.text.literals import DenseAttr, dense_body
from shardwright.dialects.types import (
    AnyTensor,
    Integers,
    element_of,
    integers,
    is_boolean,
    plain,
    shape_of,
    tensor,
    tensor_type,
)


class _OutputOp(IRDLOperation, ABC):
    """An op of one result, which upstream calls its output."""

    output = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def result(self) -> SSAValue:
        """The op's only result."""
        return self.results[0]


@irdl_op_definition
class ConstantOp(_OutputOp):
    """A literal: `stablehlo.constant dense<1.0> : tensor<4xf32>`."""

    name = "stablehlo.constant"
    value = prop_def(DenseIntOrFPElementsAttr)
    traits = traits_def(ConstantLike())

    def __init__(self, value: DenseAttr):
        super().__init__(properties={"value": value}, result_types=[value.type])

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
class IotaOp(forms.WrittenOp, _OutputOp):
    """Each element is its index along one dim: `stablehlo.iota dim = 0 : tensor<4xi32>`."""

    name = "stablehlo.iota"
    iota_dimension = prop_def(IntegerAttr)
    FORM: ClassVar[forms.Form] = forms.Form(forms.Field("iota_dimension", forms.NUMBER, " dim = "), types=forms.ONE)

    def __init__(self, dim: int, result_type: AnyTensor):
        super().__init__(properties={"iota_dimension": IntegerAttr(dim, i64)}, result_types=[result_type])

    @property
    def dim(self) -> int:
        """The dim along which elements count up."""
        return self.iota_dimension.value.data

    def verify_(self) -> None:
        shapes.check_dims([self.dim], len(shape_of(self.output)), "iota dimension")
        if is_boolean(element_of(self.output)):
            raise VerifyException("elements must be numbers, not i1")


@irdl_op_definition
class BroadcastInDimOp(forms.WrittenOp, forms.TensorOp):
    """
    Repeats elements: operand dim `i` becomes result dim `dims[i]`.

    `stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>`
    """

    name = "stablehlo.broadcast_in_dim"
    operand = operand_def(TensorType)
    broadcast_dimensions = prop_def(DenseArrayBase.constr(i64))
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, forms.Field("broadcast_dimensions", forms.DIMS, ", dims = ")
    )

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

    def verify_(self) -> None:
        syntax.check_result(self, _broadcast_type(tensor_type(self.operand), self.dims, tensor_type(self.result)))


def _broadcast_type(operand: AnyTensor, dims: tuple[int, ...], result: AnyTensor) -> AnyTensor:
    shapes.check_broadcast(shape_of(operand), dims, shape_of(result))
    return tensor(shape_of(result), operand.element_type)


@irdl_op_definition
class ReshapeOp(forms.WrittenOp, forms.TensorOp):
    """The same elements, row-major, in another shape: `stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>`."""

    name = "stablehlo.reshape"
    operand = operand_def(TensorType)
    FORM: ClassVar[forms.Form] = forms.Form(forms.OPERANDS)

    def __init__(self, operand: SSAValue | Operation, result_type: AnyTensor):
        value = SSAValue.get(operand)
        syntax.infer(self.name, lambda: _reshape_type(tensor_type(value), result_type))
        super().__init__(operands=[value], result_types=[result_type])

    def verify_(self) -> None:
        syntax.check_result(self, _reshape_type(tensor_type(self.operand), tensor_type(self.result)))


def _reshape_type(operand: AnyTensor, result: AnyTensor) -> AnyTensor:
    shapes.check_reshape(shape_of(operand), shape_of(result))
    return tensor(shape_of(result), operand.element_type)


def _transpose_type(operand: AnyTensor, permutation: Integers) -> AnyTensor:
    return tensor(shapes.transpose(shape_of(operand), permutation.get_values()), operand.element_type)


@irdl_op_definition
class TransposeOp(forms.WrittenOp, forms.ShapedOp):
    """Result dim `i` is operand dim `dims[i]`: `stablehlo.transpose %x, dims = [1, 0] : (...) -> ...`."""

    name = "stablehlo.transpose"
    operand = operand_def(TensorType)
    permutation = prop_def(DenseArrayBase.constr(i64))
    FORM: ClassVar[forms.Form] = forms.Form(forms.OPERANDS, forms.Field("permutation", forms.DIMS, ", dims = "))
    RULE: ClassVar[forms.TypeRule] = staticmethod(_transpose_type)

    def __init__(self, operand: SSAValue | Operation, permutation: Sequence[int]):
        self.make([operand], {"permutation": integers(tuple(permutation))})

    @property
    def dims(self) -> tuple[int, ...]:
        """For each result dim the operand dim that it was."""
        return self.permutation.get_values()


def _slice_type(operand: AnyTensor, start_indices: Integers, limit_indices: Integers, strides: Integers) -> AnyTensor:
    bounds = start_indices.get_values(), limit_indices.get_values(), strides.get_values()
    return tensor(shapes.slice_(shape_of(operand), *bounds), operand.element_type)


@irdl_op_definition
class SliceOp(forms.ShapedOp):
    """A box with strides: `stablehlo.slice %x [0:4:2, 1:8] : (tensor<4x8xf32>) -> tensor<2x7xf32>`."""

    name = "stablehlo.slice"
    operand = operand_def(TensorType)
    start_indices = prop_def(DenseArrayBase.constr(i64))
    limit_indices = prop_def(DenseArrayBase.constr(i64))
    strides = prop_def(DenseArrayBase.constr(i64))
    RULE: ClassVar[forms.TypeRule] = staticmethod(_slice_type)

    def __init__(
        self,
        operand: SSAValue | Operation,
        starts: Sequence[int],
        limits: Sequence[int],
        strides: Sequence[int] | None = None,
    ):
        self.make([operand], _slice_properties(starts, limits, (1,) * len(starts) if strides is None else strides))

    @property
    def bounds(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Starts, limits and strides, one of each for each dim."""
        return self.start_indices.get_values(), self.limit_indices.get_values(), self.strides.get_values()

    @classmethod
    def parse(cls, parser: Parser) -> SliceOp:
        operand = parser.parse_unresolved_operand()
        ranges = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_range(parser))
        bounds = zip(*ranges, strict=True) if ranges else ((), (), ())
        return syntax.parse_rest(parser, cls, [operand], _slice_properties(*bounds))

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        ranges = [
            f"{start}:{limit}" + (f":{stride}" if stride != 1 else "")
            for start, limit, stride in zip(*self.bounds, strict=True)
        ]
        printer.print_string(f" [{', '.join(ranges)}]")
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)


def _slice_properties(*bounds: Sequence[int]) -> dict[str, Attribute]:
    names = ("start_indices", "limit_indices", "strides")
    return {name: integers(tuple(values)) for name, values in zip(names, bounds, strict=True)}


def _parse_range(parser: Parser) -> tuple[int, int, int]:
    start = parse_integer(parser)
    parser.parse_punctuation(":")
    limit = parse_integer(parser)
    return start, limit, parse_integer(parser) if parser.parse_optional_punctuation(":") else 1


def _concatenate_type(*operands: AnyTensor, dimension: IntegerAttr[IntegerType]) -> AnyTensor:
    shape = shapes.concatenate([shape_of(operand) for operand in operands], dimension.value.data)
    if any(operand.element_type != operands[0].element_type for operand in operands):
        raise VerifyException("operand element types differ")
    return tensor(shape, operands[0].element_type)


@irdl_op_definition
class ConcatenateOp(forms.WrittenOp, forms.ShapedOp):
    """Operands end to end along one dim: `stablehlo.concatenate %x, %y, dim = 0 : (...) -> ...`."""

    name = "stablehlo.concatenate"
    inputs = var_operand_def(TensorType)
    dimension = prop_def(IntegerAttr)
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.Operands(followed=True), forms.Field("dimension", forms.NUMBER, " dim = ")
    )
    RULE: ClassVar[forms.TypeRule] = staticmethod(_concatenate_type)

    def __init__(self, inputs: Sequence[SSAValue | Operation], dim: int):
        self.make(inputs, {"dimension": IntegerAttr(dim, i64)})

    @property
    def dim(self) -> int:
        """The dim along which operands are joined."""
        return self.dimension.value.data


def _pad_type(operand: AnyTensor, value: AnyTensor, **padding: Integers) -> AnyTensor:
    if plain(value) != tensor((), operand.element_type):
        raise VerifyException(f"the padding value must be {tensor((), operand.element_type)}, not {value}")
    amounts = [padding[name].get_values() for name in _PADDING.values()]
    return tensor(shapes.pad(shape_of(operand), *amounts), operand.element_type)


_PADDING = {"low": "edge_padding_low", "high": "edge_padding_high", "interior": "interior_padding"}
"""The words for the amounts, and the properties that they stand for."""


@irdl_op_definition
class PadOp(forms.WrittenOp, forms.ShapedOp):
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
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, *(forms.Field(name, forms.DIMS, f", {word} = ") for word, name in _PADDING.items())
    )
    RULE: ClassVar[forms.TypeRule] = staticmethod(_pad_type)

    def __init__(
        self,
        operand: SSAValue | Operation,
        padding_value: SSAValue | Operation,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int] | None = None,
    ):
        amounts = low, high, (0,) * len(low) if interior is None else interior
        pairs = zip(_PADDING.values(), amounts, strict=True)
        self.make([operand, padding_value], {name: integers(tuple(values)) for name, values in pairs})

    @property
    def amounts(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Low, high and interior padding, one of each for each dim."""
        return (
            self.edge_padding_low.get_values(),
            self.edge_padding_high.get_values(),
            self.interior_padding.get_values(),
        )


def _reverse_type(operand: AnyTensor, dimensions: Integers) -> AnyTensor:
    shapes.check_dims(dimensions.get_values(), len(shape_of(operand)), "reversed dimension")
    return plain(operand)


@irdl_op_definition
class ReverseOp(forms.WrittenOp, forms.ShapedOp):
    """The elements of some dims back to front: `stablehlo.reverse %x, dims = [0] : tensor<4x8xf32>`."""

    name = "stablehlo.reverse"
    operand = operand_def(TensorType)
    dimensions = prop_def(DenseArrayBase.constr(i64))
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, forms.Field("dimensions", forms.DIMS, ", dims = "), types=forms.ONE_OR_SIGNATURE
    )
    RULE: ClassVar[forms.TypeRule] = staticmethod(_reverse_type)

    def __init__(self, operand: SSAValue | Operation, dims: Sequence[int]):
        self.make([operand], {"dimensions": integers(tuple(dims))})

    @property
    def dims(self) -> tuple[int, ...]:
        """The reversed dims."""
        return self.dimensions.get_values()
