"""Ops that other ops make up: read here, and taken apart by the pass `decompose` before anything else looks at them."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    TupleType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    IRDLOperation,
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
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.algebra.contractions import PRECISION, dot_type
from shardwright.dialects.stablehlo.parts import forms, shapes, syntax
from shardwright.dialects.stablehlo.parts.attributes import DotDimensions
from shardwright.dialects.types import AnyTensor, element_of, is_float, plain, shape_of, tensor, tensor_type


@irdl_op_definition
class CompositeOp(forms.WrittenOp):
    """A function of this module under a name: `stablehlo.composite "my.op" %x {decomposition = @f} : (...) -> ...`."""

    name = "stablehlo.composite"
    inputs = var_operand_def()
    composite_name = prop_def(StringAttr, prop_name="name")
    composite_attributes = opt_prop_def(DictionaryAttr)
    decomposition = prop_def(FlatSymbolRefAttrConstr)
    version = opt_prop_def(IntegerAttr)
    outputs = var_result_def()
    traits = traits_def(Pure())
    FORM: ClassVar[forms.Form] = forms.Form(forms.Field("name", forms.TEXT), forms.OPERANDS)


class BatchNormOp(IRDLOperation, ABC):
    """Normalisation by the mean and variance of each feature, which is an index along one dim."""

    epsilon = prop_def(FloatAttr)
    feature_index = prop_def(IntegerAttr)
    traits = traits_def(Pure())

    FEATURES: ClassVar[tuple[int, ...]]
    """Which operands have one element for each feature; the others have the shape of the first."""

    @property
    def feature(self) -> int:
        """The dim of the features."""
        return self.feature_index.value.data

    def verify_(self) -> None:
        whole = tensor_type(self.operands[0])
        shapes.check_dims([self.feature], len(shape_of(whole)), "feature index")
        if not is_float(whole.element_type):
            raise VerifyException(f"elements must be floats, not {whole.element_type}")
        each = tensor((shape_of(whole)[self.feature],), whole.element_type)
        for index, value in enumerate(self.operands):
            expected = each if index in self.FEATURES else plain(whole)
            if plain(value.type) != expected:
                raise VerifyException(f"operand {index} must be {expected}, not {value.type}")
        for index in range(len(self.results)):
            syntax.check_result(self, each if index else plain(whole), index)


@irdl_op_definition
class BatchNormInferenceOp(BatchNormOp):
    """`(x - mean) / sqrt(variance + epsilon) * scale + offset`, by given means and variances."""

    name = "stablehlo.batch_norm_inference"
    operand = operand_def(TensorType)
    scale = operand_def(TensorType)
    offset = operand_def(TensorType)
    mean = operand_def(TensorType)
    variance = operand_def(TensorType)
    result = result_def(TensorType)
    FEATURES: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)


@irdl_op_definition
class BatchNormTrainingOp(BatchNormOp):
    """The same by the operand's own means and variances, which are results as well."""

    name = "stablehlo.batch_norm_training"
    operand = operand_def(TensorType)
    scale = operand_def(TensorType)
    offset = operand_def(TensorType)
    output = result_def(TensorType)
    batch_mean = result_def(TensorType)
    batch_var = result_def(TensorType)
    FEATURES: ClassVar[tuple[int, ...]] = (1, 2)


@irdl_op_definition
class BatchNormGradOp(BatchNormOp):
    """The gradients of `batch_norm_training` by operand, scale and offset."""

    name = "stablehlo.batch_norm_grad"
    operand = operand_def(TensorType)
    scale = operand_def(TensorType)
    mean = operand_def(TensorType)
    variance = operand_def(TensorType)
    grad_output = operand_def(TensorType)
    grad_operand = result_def(TensorType)
    grad_scale = result_def(TensorType)
    grad_offset = result_def(TensorType)
    FEATURES: ClassVar[tuple[int, ...]] = (1, 2, 3)


@irdl_op_definition
class MapOp(IRDLOperation):
    """A function of scalars applied to every element. Upstream has no pretty form of this op."""

    name = "stablehlo.map"
    inputs = var_operand_def(TensorType)
    dimensions = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    computation = region_def("single_block")
    traits = traits_def(Pure(), RecursiveMemoryEffect())

    def verify_(self) -> None:
        if not self.inputs:
            raise VerifyException("needs at least one operand")
        shape = shapes.equal([shape_of(value) for value in self.inputs])
        if self.dimensions.get_values() != tuple(range(len(shape))):
            raise VerifyException(f"dimensions must be all dims in order, not {list(self.dimensions.get_values())}")
        if shape_of(self.result) != shape:
            raise VerifyException(f"the result must have the operands' shape {shapes.text(shape)}")
        block = self.computation.block
        expected = [tensor((), element_of(value)) for value in self.inputs]
        if [plain(arg.type) for arg in block.args] != expected:
            raise VerifyException("the computation must take one scalar of each operand")
        returned = list(block.last_op.operand_types) if block.last_op is not None else []
        if returned != [tensor((), element_of(self.result))]:
            raise VerifyException("the computation must return one scalar of the result")


@irdl_op_definition
class DotOp(forms.WrittenOp, forms.TensorOp):
    """An older matrix product: `stablehlo.dot %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>`."""

    name = "stablehlo.dot"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    precision_config = opt_prop_def(ArrayAttr)
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, forms.Field("precision_config", PRECISION, ", precision = ", optional=True)
    )

    @property
    def dims(self) -> DotDimensions:
        """The dims that are contracted: the last one of lhs, the first one of rhs."""
        return DotDimensions(lhs_contracting=(len(shape_of(self.lhs)) - 1,), rhs_contracting=(0,))

    def verify_(self) -> None:
        if not all(1 <= len(shape_of(value)) <= 2 for value in self.operands):
            raise VerifyException("operands must be vectors or matrices")
        syntax.check_result(
            self, dot_type(tensor_type(self.lhs), tensor_type(self.rhs), self.dims, element_of(self.result))
        )


class EinsumBaseOp(forms.WrittenOp, ABC):
    """Sums of products, written with one letter for each index."""

    einsum_config = prop_def(StringAttr)
    traits = traits_def(Pure())
    FORM: ClassVar[forms.Form] = forms.Form(forms.OPERANDS, forms.Field("einsum_config", forms.TEXT, ", config = "))

    @property
    def letters(self) -> tuple[list[str], str]:
        """The letters of each operand, and of the result."""
        left, arrow, right = self.einsum_config.data.replace(" ", "").partition("->")
        operands = left.split(",")
        if (
            not arrow
            or len(operands) != len(self.operands)
            or not all(map(str.isalpha, filter(None, [*operands, right])))
        ):
            raise VerifyException(f"config \"{self.einsum_config.data}\" must be letters, like 'ij,jk->ik'")
        return operands, right

    def verify_(self) -> None:
        operands, result = self.letters
        sizes: dict[str, int] = {}
        for letters, value in zip(operands, self.operands, strict=True):
            shapes.check_count(range(len(letters)), len(shape_of(value)), f'"{letters}"')
            if len(set(letters)) != len(letters):
                raise VerifyException(f'"{letters}" names an index twice: take the diagonal another way')
            for letter, size in zip(letters, shape_of(value), strict=True):
                if sizes.setdefault(letter, size) != size:
                    raise VerifyException(f"index {letter} has {sizes[letter]} and {size} elements")
        if len(set(result)) != len(result) or not set(result) <= set(sizes):
            raise VerifyException(f'result "{result}" must name indices of the operands, each once')
        syntax.check_result(self, tensor(tuple(sizes[letter] for letter in result), element_of(self.operands[0])))


@irdl_op_definition
class EinsumOp(EinsumBaseOp):
    """`stablehlo.einsum %x, %y, config = "ij,jk->ik" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>`."""

    name = "stablehlo.einsum"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)


@irdl_op_definition
class UnaryEinsumOp(EinsumBaseOp):
    """`stablehlo.unary_einsum %x, config = "ij->j" : (tensor<2x3xf32>) -> tensor<3xf32>`."""

    name = "stablehlo.unary_einsum"
    operand = operand_def(TensorType)
    result = result_def(TensorType)


class DimensionSizeOp(forms.WrittenOp, ABC):
    """Reads or sets the size of one dim."""

    dimension = prop_def(IntegerAttr)
    traits = traits_def(Pure())
    FORM: ClassVar[forms.Form] = forms.Form(forms.OPERANDS, forms.Field("dimension", forms.NUMBER, ", dim = "))

    @property
    def dim(self) -> int:
        """The dim."""
        return self.dimension.value.data

    def verify_(self) -> None:
        shapes.check_dims([self.dim], len(shape_of(self.operands[0])), "dimension")
        syntax.check_result(self, self.expected())

    def expected(self) -> AnyTensor:
        """The result type."""
        return plain(self.operands[0].type)


@irdl_op_definition
class GetDimensionSizeOp(DimensionSizeOp):
    """The size of a dim as a value: `stablehlo.get_dimension_size %x, dim = 0 : (tensor<4xf32>) -> tensor<i32>`."""

    name = "stablehlo.get_dimension_size"
    operand = operand_def(TensorType)
    result = result_def(TensorType)

    def expected(self) -> AnyTensor:
        """The result type."""
        return tensor((), i32)


@irdl_op_definition
class SetDimensionSizeOp(DimensionSizeOp):
    """Cuts a dim to a computed size: `stablehlo.set_dimension_size %x, %n, dim = 0 : (...) -> tensor<4xf32>`."""

    name = "stablehlo.set_dimension_size"
    operand = operand_def(TensorType)
    size = operand_def(TensorType)
    result = result_def(TensorType)


@irdl_op_definition
class TupleOp(IRDLOperation):
    """Several values as one: `stablehlo.tuple %x, %y : tuple<tensor<4xf32>, tensor<i32>>`."""

    name = "stablehlo.tuple"
    inputs = var_operand_def()
    result = result_def(TupleType)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> TupleOp:
        operands = forms.OPERANDS.read(parser, cls)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        result = parser.parse_type()
        if not isinstance(result, TupleType):
            parser.raise_error("expected a tuple type", position)
        values = parser.resolve_operands(operands, list(result.types), position)
        return cls.create(operands=values, result_types=[result], attributes=attributes)

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        syntax.print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if [value.type for value in self.inputs] != list(self.result.type.types):
            raise VerifyException(f"the result must be a tuple of the operands' types, not {self.result.type}")


def _parse_place(parser: Parser) -> Attribute:
    with parser.in_square_brackets():
        return IntegerAttr(parser.parse_integer(allow_boolean=False), i32)


_PLACE = forms.Spelling(_parse_place, lambda place: f"[{place.value.data}]")


@irdl_op_definition
class GetTupleElementOp(forms.WrittenOp):
    """One value of a tuple: `stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>`."""

    name = "stablehlo.get_tuple_element"
    operand = operand_def(TupleType)
    index = prop_def(IntegerAttr)
    result = result_def()
    traits = traits_def(Pure())
    FORM: ClassVar[forms.Form] = forms.Form(forms.OPERANDS, forms.Field("index", _PLACE, ""))

    def verify_(self) -> None:
        source, index = self.operand.type, self.index.value.data
        types = list(source.types) if isinstance(source, TupleType) else []
        if not 0 <= index < len(types) or types[index] != self.result.type:
            raise VerifyException(f"{source} has no element {index} of type {self.result.type}")


COMPOSED_OPS: tuple[type[Operation], ...] = (
    CompositeOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
    BatchNormGradOp,
    MapOp,
    DotOp,
    EinsumOp,
    UnaryEinsumOp,
    GetDimensionSizeOp,
    SetDimensionSizeOp,
    TupleOp,
    GetTupleElementOp,
)
