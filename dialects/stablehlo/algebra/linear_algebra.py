"""Ops on whole vectors and matrices: Fourier transforms, Cholesky factors and triangular systems."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ComplexType, DenseArrayBase, IntegerAttr, TensorType, i1, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from shardwright.dialects.stablehlo.parts import shapes, syntax
from shardwright.dialects.stablehlo.parts.attributes import parse_dims
from shardwright.dialects.types import (
    AnyTensor,
    element_of,
    integers,
    is_complex,
    is_float,
    shape_of,
    tensor,
    tensor_type,
)


class FftType(StrEnum):
    """Which Fourier transform: forward or inverse, of complex or of real numbers."""

    FFT = "FFT"
    IFFT = "IFFT"
    RFFT = "RFFT"
    IRFFT = "IRFFT"


class Transpose(StrEnum):
    """What is done to the matrix of a triangular system before it is solved."""

    TRANSPOSE_INVALID = "TRANSPOSE_INVALID"
    NO_TRANSPOSE = "NO_TRANSPOSE"
    TRANSPOSE = "TRANSPOSE"
    ADJOINT = "ADJOINT"


@irdl_attr_definition
class FftTypeAttr(EnumAttribute[FftType], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<fft_type RFFT>`."""

    name = "stablehlo.fft_type"


@irdl_attr_definition
class TransposeAttr(EnumAttribute[Transpose], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<transpose ADJOINT>`."""

    name = "stablehlo.transpose"


@irdl_op_definition
class FftOp(IRDLOperation):
    """
    A discrete Fourier transform of the last one to three dims.

    `stablehlo.fft %x, type = RFFT, length = [16] : (tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>>`
    """

    name = "stablehlo.fft"
    operand = operand_def(TensorType)
    fft_type = prop_def(FftTypeAttr)
    fft_length = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, kind: FftType, length: Sequence[int]):
        value = SSAValue.get(operand)
        result = syntax.infer(self.name, lambda: _fft_type(tensor_type(value), kind, tuple(length)))
        super().__init__(
            operands=[value],
            properties={"fft_type": FftTypeAttr(kind), "fft_length": integers(tuple(length))},
            result_types=[result],
        )

    @property
    def kind(self) -> FftType:
        """Which transform."""
        return self.fft_type.data

    @property
    def length(self) -> tuple[int, ...]:
        """The number of elements of each transformed dim, before a real transform halves the last one."""
        return self.fft_length.get_values()

    @classmethod
    def parse(cls, parser: Parser) -> FftOp:
        operand = parser.parse_unresolved_operand()
        kind = FftTypeAttr(syntax.parse_named_enum(parser, "type", FftType))
        length = syntax.parse_named(parser, "length", parse_dims)
        return syntax.parse_rest(parser, cls, [operand], {"fft_type": kind, "fft_length": integers(length)})

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        printer.print_string(f", type = {self.kind.value}")
        printer.print_string(syntax.dims_text("length", self.length))
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        syntax.check_result(self, _fft_type(tensor_type(self.operand), self.kind, self.length))


def _fft_type(operand: AnyTensor, kind: FftType, length: tuple[int, ...]) -> AnyTensor:
    shape, element = shape_of(operand), operand.element_type
    if not 1 <= len(length) <= 3 or len(length) > len(shape):
        raise VerifyException(f"length {list(length)} must name the last one to three dims of rank {len(shape)}")
    real = kind is FftType.RFFT
    if not (is_float(element) if real else is_complex(element)):
        raise VerifyException(f"{kind.value} takes {'floats' if real else 'complex numbers'}, not {element}")
    half = (*length[:-1], length[-1] // 2 + 1)
    expected, found = half if kind is FftType.IRFFT else length, shape[-len(length) :]
    if found != expected:
        raise VerifyException(
            f"{kind.value} of length {list(length)} transforms dims of sizes {list(expected)}, not {list(found)}"
        )
    batch = shape[: -len(length)]
    if isinstance(element, ComplexType):
        number = element.element_type if kind is FftType.IRFFT else element
        return tensor((*batch, *length), number)
    return tensor((*batch, *half), syntax.complex_of(element))


@irdl_op_definition
class CholeskyOp(IRDLOperation):
    """
    The triangular factor of Hermitian positive definite matrices.

    `stablehlo.cholesky %x, lower = true : tensor<4x4xf32>`: `a = l @ l^H` (lower) or `a = u^H @ u`. Only that triangle
    of the operand is read; the other one of the result is 0.
    """

    name = "stablehlo.cholesky"
    a = operand_def(TensorType)
    lower = opt_prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, a: SSAValue | Operation, *, lower: bool = False):
        value = SSAValue.get(a)
        result = syntax.infer(self.name, lambda: _cholesky_type(tensor_type(value)))
        super().__init__(operands=[value], properties={"lower": IntegerAttr(int(lower), i1)}, result_types=[result])

    @property
    def is_lower(self) -> bool:
        """Whether the factor is the lower triangle."""
        return syntax.truth(self.lower)

    @classmethod
    def parse(cls, parser: Parser) -> CholeskyOp:
        operand = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_punctuation(",") is not None:
            parser.parse_keyword("lower")
            parser.parse_punctuation("=")
            properties["lower"] = IntegerAttr(int(parser.parse_boolean()), i1)
        return syntax.parse_rest(parser, cls, [operand], properties, short=lambda only: ([only], [only]))

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        if self.is_lower:
            printer.print_string(", lower = true")
        syntax.print_attributes(printer, self)
        syntax.print_type_or_signature(printer, self)

    def verify_(self) -> None:
        syntax.check_result(self, _cholesky_type(tensor_type(self.a)))


def _cholesky_type(a: AnyTensor) -> AnyTensor:
    _check_square(a, "the operand")
    return tensor(shape_of(a), a.element_type)


def _check_square(a: AnyTensor, what: str) -> None:
    shape, element = shape_of(a), a.element_type
    if not (is_float(element) or is_complex(element)):
        raise VerifyException(f"elements must be floats or complex numbers, not {element}")
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise VerifyException(f"{what} must hold square matrices in its last two dims, not {shapes.text(shape)}")


@irdl_op_definition
class TriangularSolveOp(IRDLOperation):
    """
    Solves `op(a) @ x = b` (left) or `x @ op(a) = b` for triangular matrices `a`.

    `transpose_a` says what `op` is. Upstream has no pretty form of this op.
    """

    name = "stablehlo.triangular_solve"
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    left_side = prop_def(IntegerAttr)
    lower = prop_def(IntegerAttr)
    unit_diagonal = prop_def(IntegerAttr)
    transpose_a = prop_def(TransposeAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(
        self,
        a: SSAValue | Operation,
        b: SSAValue | Operation,
        *,
        left_side: bool = True,
        lower: bool = True,
        unit_diagonal: bool = False,
        transpose_a: Transpose = Transpose.NO_TRANSPOSE,
    ):
        values = SSAValue.get(a), SSAValue.get(b)
        result = syntax.infer(
            self.name, lambda: _solution_type(tensor_type(values[0]), tensor_type(values[1]), left_side, transpose_a)
        )
        flags = {"left_side": left_side, "lower": lower, "unit_diagonal": unit_diagonal}
        properties: dict[str, Attribute] = {name: IntegerAttr(int(flag), i1) for name, flag in flags.items()}
        properties["transpose_a"] = TransposeAttr(transpose_a)
        super().__init__(operands=values, properties=properties, result_types=[result])

    @property
    def is_left(self) -> bool:
        """Whether the matrix stands to the left of the solution."""
        return syntax.truth(self.left_side)

    def verify_(self) -> None:
        kind = self.transpose_a.data
        syntax.check_result(self, _solution_type(tensor_type(self.a), tensor_type(self.b), self.is_left, kind))


def _solution_type(a: AnyTensor, b: AnyTensor, left: bool, kind: Transpose) -> AnyTensor:
    _check_square(a, "operand a")
    if kind is Transpose.TRANSPOSE_INVALID:
        raise VerifyException("transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT")
    if b.element_type != a.element_type:
        raise VerifyException(f"operand element types differ: {element_of(a)}, {element_of(b)}")
    matrix, right = shape_of(a), shape_of(b)
    solved = -2 if left else -1
    if len(matrix) != len(right) or matrix[:-2] != right[:-2] or matrix[-1] != right[solved]:
        side = "rows" if left else "columns"
        raise VerifyException(
            f"a of {shapes.text(matrix)} solves for b with as many {side}, not for {shapes.text(right)}"
        )
    return tensor(right, b.element_type)


LINEAR_ALGEBRA_OPS: tuple[type[Operation], ...] = (FftOp, CholeskyOp, TriangularSolveOp)
LINEAR_ALGEBRA_ATTRIBUTES: tuple[type[Attribute], ...] = (FftTypeAttr, TransposeAttr)
