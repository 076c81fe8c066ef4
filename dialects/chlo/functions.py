"""The CHLO dialect: mathematical functions that JAX emits next to StableHLO, and which no StableHLO op computes."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from shardwright.dialects.chlo.selection import TopKOp
from shardwright.dialects.stablehlo.elementwise import ElementwiseOp
from shardwright.dialects.stablehlo.parts import syntax
from shardwright.dialects.types import tensor_type


class ChloOp(ElementwiseOp, ABC):
    """A pointwise function: `chlo.erf %x : tensor<4xf32> -> tensor<4xf32>`."""

    KINDS: ClassVar[str] = "fc"

    @classmethod
    def parse(cls, parser: Parser) -> ChloOp:
        operands = syntax.parse_operands(parser, len(cls.get_irdl_definition().operands))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        inputs = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        values = parser.resolve_operands(operands, inputs, position)
        return cls.create(operands=values, result_types=[result], attributes=attributes)

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        syntax.print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def _build(self, operands: Sequence[SSAValue | Operation]) -> None:
        values = [SSAValue.get(operand) for operand in operands]
        result = syntax.infer(self.name, lambda: self.result_type([tensor_type(value) for value in values]))
        super().__init__(operands=values, result_types=[result])


class ChloUnaryOp(ChloOp, ABC):
    """A function of one operand."""

    operand = operand_def(TensorType)

    def __init__(self, operand: SSAValue | Operation):
        self._build([operand])


class ChloBinaryOp(ChloOp, ABC):
    """A function of two operands: `chlo.zeta %x, %q : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>`."""

    KINDS: ClassVar[str] = "f"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        self._build([lhs, rhs])


class ChloPredicateOp(ChloUnaryOp, ABC):
    """A test of one operand: the result is i1."""

    KINDS: ClassVar[str] = "f"

    @classmethod
    def result_element(cls, element_type: Attribute) -> Attribute:
        return i1


@irdl_op_definition
class AcosOp(ChloUnaryOp):
    """The inverse cosine."""

    name = "chlo.acos"


@irdl_op_definition
class AcoshOp(ChloUnaryOp):
    """The inverse hyperbolic cosine."""

    name = "chlo.acosh"


@irdl_op_definition
class AsinOp(ChloUnaryOp):
    """The inverse sine."""

    name = "chlo.asin"


@irdl_op_definition
class AsinhOp(ChloUnaryOp):
    """The inverse hyperbolic sine."""

    name = "chlo.asinh"


@irdl_op_definition
class AtanOp(ChloUnaryOp):
    """The inverse tangent."""

    name = "chlo.atan"


@irdl_op_definition
class AtanhOp(ChloUnaryOp):
    """The inverse hyperbolic tangent."""

    name = "chlo.atanh"


@irdl_op_definition
class BesselI1eOp(ChloUnaryOp):
    """The exponentially scaled modified Bessel function of order one."""

    name = "chlo.bessel_i1e"


@irdl_op_definition
class ConjOp(ChloUnaryOp):
    """The complex conjugate."""

    name = "chlo.conj"


@irdl_op_definition
class CoshOp(ChloUnaryOp):
    """The hyperbolic cosine."""

    name = "chlo.cosh"


@irdl_op_definition
class DigammaOp(ChloUnaryOp):
    """The derivative of the logarithm of the gamma function."""

    name = "chlo.digamma"


@irdl_op_definition
class ErfOp(ChloUnaryOp):
    """The error function."""

    name = "chlo.erf"


@irdl_op_definition
class ErfInvOp(ChloUnaryOp):
    """The inverse of the error function."""

    name = "chlo.erf_inv"


@irdl_op_definition
class ErfcOp(ChloUnaryOp):
    """One minus the error function, exact far from zero."""

    name = "chlo.erfc"


@irdl_op_definition
class LgammaOp(ChloUnaryOp):
    """The logarithm of the absolute value of the gamma function."""

    name = "chlo.lgamma"


@irdl_op_definition
class SinhOp(ChloUnaryOp):
    """The hyperbolic sine."""

    name = "chlo.sinh"


@irdl_op_definition
class SquareOp(ChloUnaryOp):
    """The square."""

    name = "chlo.square"


@irdl_op_definition
class TanOp(ChloUnaryOp):
    """The tangent."""

    name = "chlo.tan"


@irdl_op_definition
class IsInfOp(ChloPredicateOp):
    """Whether the operand is infinite."""

    name = "chlo.is_inf"


@irdl_op_definition
class IsNegInfOp(ChloPredicateOp):
    """Whether the operand is minus infinity."""

    name = "chlo.is_neg_inf"


@irdl_op_definition
class IsPosInfOp(ChloPredicateOp):
    """Whether the operand is plus infinity."""

    name = "chlo.is_pos_inf"


@irdl_op_definition
class MulhiOp(ChloBinaryOp):
    """The upper half of the bits of a product of integers."""

    name = "chlo.mulhi"
    KINDS: ClassVar[str] = "i"


@irdl_op_definition
class NextAfterOp(ChloBinaryOp):
    """The float next to lhs in the direction of rhs."""

    name = "chlo.next_after"


@irdl_op_definition
class PolygammaOp(ChloBinaryOp):
    """The derivative of order lhs of the digamma function at rhs."""

    name = "chlo.polygamma"


@irdl_op_definition
class ZetaOp(ChloBinaryOp):
    """The Hurwitz zeta function."""

    name = "chlo.zeta"


UNARY_OPS: tuple[type[ChloOp], ...] = (
    AcosOp,
    AcoshOp,
    AsinOp,
    AsinhOp,
    AtanOp,
    AtanhOp,
    BesselI1eOp,
    ConjOp,
    CoshOp,
    DigammaOp,
    ErfOp,
    ErfInvOp,
    ErfcOp,
    LgammaOp,
    SinhOp,
    SquareOp,
    TanOp,
    IsInfOp,
    IsNegInfOp,
    IsPosInfOp,
)
BINARY_OPS: tuple[type[ChloOp], ...] = (MulhiOp, NextAfterOp, PolygammaOp, ZetaOp)
ELEMENTWISE: dict[type[Operation], int] = {**dict.fromkeys(UNARY_OPS, 1), **dict.fromkeys(BINARY_OPS, 2)}
"""Each pointwise function and its number of operands."""

SELECTION_OPS: tuple[type[Operation], ...] = (TopKOp,)
"""Ops that are no element-wise functions."""

CHLO = Dialect("chlo", [*UNARY_OPS, *BINARY_OPS, *SELECTION_OPS], [])
