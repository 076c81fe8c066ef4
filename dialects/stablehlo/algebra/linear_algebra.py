"""Ops on whole vectors and matrices: Fourier transforms, Cholesky factors and triangular systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, ComplexType, DenseArrayBase, IntegerAttr, TensorType, i1, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from shardwright.dialects.stablehlo.parts import forms, shapes, syntax
from shardwright.dialects.types import (
    AnyTensor,
    Integers,
    element_of,
    integers,
    is_complex,
    is_float,
    plain,
    shape_of,
    tensor,
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


def _fft_type(operand: AnyTensor, fft_type: FftTypeAttr, fft_length: Integers) -> AnyTensor:
    kind, length = fft_type.data, fft_length.get_values()
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
class FftOp(forms.WrittenOp, forms.ShapedOp):
    """
    A discrete Fourier transform of the last one to three dims.

    `stablehlo.fft %x, type = RFFT, length = [16] : (tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>>`
    """

    name = "stablehlo.fft"
    operand = operand_def(TensorType)
    fft_type = prop_def(FftTypeAttr)
    fft_length = prop_def(DenseArrayBase.constr(i64))
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS,
        forms.Field("fft_type", forms.one_of(FftTypeAttr), ", type = "),
        forms.Field("fft_length", forms.DIMS, ", length = "),
    )
    RULE: ClassVar[forms.TypeRule] = staticmethod(_fft_type)

    def __init__(self, operand: SSAValue | Operation, kind: FftType, length: Sequence[int]):
        self.make([operand], {"fft_type": FftTypeAttr(kind), "fft_length": integers(tuple(length))})

    @property
    def kind(self) -> FftType:
        """Which transform."""
        return self.fft_type.data

    @property
    def length(self) -> tuple[int, ...]:
        """The number of elements of each transformed dim, before a real transform halves the last one."""
        return self.fft_length.get_values()


def _check_square(a: AnyTensor, what: str) -> None:
    shape, element = shape_of(a), a.element_type
    if not (is_float(element) or is_complex(element)):
        raise VerifyException(f"elements must be floats or complex numbers, not {element}")
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise VerifyException(f"{what} must hold square matrices in its last two dims, not {shapes.text(shape)}")


def _cholesky_type(a: AnyTensor, lower: Attribute | None = None) -> AnyTensor:
    _check_square(a, "the operand")
    return plain(a)


_TRUE = forms.Spelling(
    lambda parser: BoolAttr(parser.parse_boolean(), i1), lambda found: "true" if syntax.truth(found) else ""
)


@irdl_op_definition
class CholeskyOp(forms.WrittenOp, forms.ShapedOp):
    """
    The triangular factor of Hermitian positive definite matrices.

    `stablehlo.cholesky %x, lower = true : tensor<4x4xf32>`: `a = l @ l^H` (lower) or `a = u^H @ u`. Only that triangle
    of the operand is read; the other one of the result is 0.
    """

    name = "stablehlo.cholesky"
    a = operand_def(TensorType)
    lower = opt_prop_def(IntegerAttr)
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, forms.Field("lower", _TRUE, ", lower = ", optional=True), types=forms.ONE_OR_SIGNATURE
    )
    RULE: ClassVar[forms.TypeRule] = staticmethod(_cholesky_type)

    def __init__(self, a: SSAValue | Operation, *, lower: bool = False):
        self.make([a], {"lower": IntegerAttr(int(lower), i1)})

    @property
    def is_lower(self) -> bool:
        """Whether the factor is the lower triangle."""
        return syntax.truth(self.lower)


def _solution_type(
    a: AnyTensor, b: AnyTensor, left_side: Attribute, transpose_a: TransposeAttr, **_: Attribute
) -> AnyTensor:
    _check_square(a, "operand a")
    if transpose_a.data is Transpose.TRANSPOSE_INVALID:
        raise VerifyException("transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT")
    if b.element_type != a.element_type:
        raise VerifyException(f"operand element types differ: {element_of(a)}, {element_of(b)}")
    matrix, right = shape_of(a), shape_of(b)
    side, solved = ("rows", -2) if syntax.truth(left_side) else ("columns", -1)
    if len(matrix) != len(right) or matrix[:-2] != right[:-2] or matrix[-1] != right[solved]:
        raise VerifyException(
            f"a of {shapes.text(matrix)} solves for b with as many {side}, not for {shapes.text(right)}"
        )
    return plain(b)


@irdl_op_definition
class TriangularSolveOp(forms.ShapedOp):
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
    RULE: ClassVar[forms.TypeRule] = staticmethod(_solution_type)

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
        flags = {"left_side": left_side, "lower": lower, "unit_diagonal": unit_diagonal}
        properties: dict[str, Attribute] = {name: IntegerAttr(int(flag), i1) for name, flag in flags.items()}
        self.make([a, b], properties | {"transpose_a": TransposeAttr(transpose_a)})

    @property
    def is_left(self) -> bool:
        """Whether the matrix stands to the left of the solution."""
        return syntax.truth(self.left_side)


LINEAR_ALGEBRA_OPS: tuple[type[Operation], ...] = (FftOp, CholeskyOp, TriangularSolveOp)
LINEAR_ALGEBRA_ATTRIBUTES: tuple[type[Attribute], ...] = (FftTypeAttr, TransposeAttr)
