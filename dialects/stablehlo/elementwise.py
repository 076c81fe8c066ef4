"""
What pointwise ops share, and those that carry attributes or whose operands differ; the rest are rows in `pointwise`.

Each element of a result depends on the same element of the operands.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, TypeVar

from xdsl.dialects.builtin import ComplexType, IntegerAttr, IntegerType, TensorType, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
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

from shardwright.dialects.stablehlo.parts import shapes, syntax
from shardwright.dialects.stablehlo.parts.attributes import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
    ResultAccuracyAttr,
)
from shardwright.dialects.types import (
    AnyTensor,
    bit_width,
    element_of,
    is_boolean,
    is_complex,
    is_float,
    is_integer,
    shape_of,
    tensor,
    tensor_type,
)

_KINDS = {
    "b": (is_boolean, "i1"),
    "i": (is_integer, "integers"),
    "f": (is_float, "floats"),
    "c": (is_complex, "complex numbers"),
}


Op = TypeVar("Op", bound="ElementwiseOp")


def check_kind(element_type: Attribute, kinds: str) -> None:
    """Checks that an element type is one of `kinds`: b(oolean), i(nteger), f(loat), c(omplex)."""
    if not _is_of_kind(element_type, kinds):
        names = " or ".join(_KINDS[kind][1] for kind in kinds)
        raise VerifyException(f"elements must be {names}, not {element_type}")


@cache
def _is_of_kind(element_type: Attribute, kinds: str) -> bool:
    return any(_KINDS[kind][0](element_type) for kind in kinds)


@dataclass(frozen=True)
class Facts:
    """
    What later rooms need to know of a pointwise op, told where the op is.

    `ufunc` is the function of the array namespace that computes it, else `kernel` is one of `runtime/kernels`, by
    default that with the op's own name. `graph` is TensorFlow's operation that means the same. Partial sums pass
    through operand groups in which the op is `linear`, partial results of other kinds through `flows`.
    """

    ufunc: str = ""
    kernel: str = ""
    graph: str = ""
    linear: Sequence[tuple[int, ...]] = ()
    flows: Sequence[tuple[str, tuple[int, ...]]] = ()


class ElementwiseOp(IRDLOperation, ABC):
    """
    A pointwise op; `KINDS` says which element types its first operand may have (see `check_kind`).

    `FACTS` is None for what is no function of one element: a bitcast may split elements or join them.
    """

    KINDS: ClassVar[str] = "bifc"
    FACTS: ClassVar[Facts | None] = None
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def result_type(cls, operands: Sequence[AnyTensor]) -> AnyTensor:
        """The plain result type for operand types; `VerifyException` when they do not fit."""
        for other in operands[1:]:
            if other.element_type != operands[0].element_type:
                raise VerifyException(f"operand element types differ: {operands[0]} and {other}")
        check_kind(operands[0].element_type, cls.KINDS)
        shape = shapes.equal([shape_of(operand) for operand in operands])
        return tensor(shape, cls.result_element(operands[0].element_type))

    @classmethod
    def result_element(cls, element_type: Attribute) -> Attribute:
        """The result's element type for the operands' element type."""
        return element_type

    def verify_(self) -> None:
        syntax.check_result(self, self.result_type([*map(tensor_type, self.operands)]))

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        syntax.print_attributes(printer, self, "result_accuracy")
        syntax.print_type_or_signature(printer, self)


def _same(count: int) -> Callable[[Attribute], tuple[list[Attribute], list[Attribute]]]:
    return lambda only: ([only] * count, [only])


_ONE, _TWO, _THREE = _same(1), _same(2), _same(3)


class UnaryOp(ElementwiseOp, ABC):
    """A pointwise op of one operand: `stablehlo.negate %x : tensor<4xf32>`."""

    operand = operand_def(TensorType)

    def __init__(self, operand: SSAValue | Operation):
        value = SSAValue.get(operand)
        result = syntax.infer(self.name, lambda: self.result_type([tensor_type(value)]))
        super().__init__(operands=[value], result_types=[result])

    @classmethod
    def parse(cls, parser: Parser) -> UnaryOp:
        return syntax.parse_rest(parser, cls, [parser.parse_unresolved_operand()], {}, short=_ONE)


class BinaryOp(ElementwiseOp, ABC):
    """A pointwise op of two operands: `stablehlo.add %x, %y : tensor<4xf32>`."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        left, right = SSAValue.get(lhs), SSAValue.get(rhs)
        result = syntax.infer(self.name, lambda: self.result_type([tensor_type(left), tensor_type(right)]))
        super().__init__(operands=[left, right], result_types=[result])

    @classmethod
    def parse(cls, parser: Parser) -> BinaryOp:
        return syntax.parse_rest(parser, cls, syntax.parse_operands(parser, 2), {}, short=_TWO)


class TranscendentalOp(UnaryOp, ABC):
    """A unary op whose result may be asked to be more exact."""

    KINDS: ClassVar[str] = "fc"
    result_accuracy = opt_prop_def(ResultAccuracyAttr)


def real_element(element_type: Attribute) -> Attribute:
    """The type of a complex number's parts; other types are their own."""
    return element_type.element_type if isinstance(element_type, ComplexType) else element_type


def truth_value(element_type: Attribute) -> Attribute:
    """The type of a test's results."""
    return i1


def pointwise(
    base: type[Op],
    name: str,
    meaning: str,
    kinds: str | None = None,
    result: Callable[[Attribute], Attribute] | None = None,
    **facts: Any,
) -> type[Op]:
    """
    The class of a pointwise op that differs from others in its name, its types and its `Facts` only.

    `kinds` are the element types of its operands, if not those of `base`; `result` gives the result's, if another.
    """
    body: dict[str, Any] = {"name": name, "__doc__": meaning, "__module__": __name__, "FACTS": Facts(**facts)}
    body["__annotations__"] = {"KINDS": ClassVar[str], "FACTS": ClassVar[Facts]}
    if kinds is not None:
        body["KINDS"] = kinds
    if result is not None:

        def result_element(cls: type[ElementwiseOp], element_type: Attribute) -> Attribute:
            return result(element_type)

        body["result_element"] = classmethod(result_element)
    words = name.partition(".")[2].split("_")
    return irdl_op_definition(type(base)(f"{''.join(map(str.capitalize, words))}Op", (base,), body))


def unary(name: str, meaning: str, **more: Any) -> type[UnaryOp]:
    """The class of an op of one operand; see `pointwise`."""
    return pointwise(UnaryOp, name, meaning, **more)


def transcendental(name: str, meaning: str, **more: Any) -> type[TranscendentalOp]:
    """The class of a function of one operand whose accuracy can be asked for; see `pointwise`."""
    return pointwise(TranscendentalOp, name, meaning, **more)


def binary(name: str, meaning: str, **more: Any) -> type[BinaryOp]:
    """The class of an op of two operands; see `pointwise`."""
    return pointwise(BinaryOp, name, meaning, **more)


@irdl_op_definition
class ComplexOp(BinaryOp):
    """The complex number lhs + i rhs: `stablehlo.complex %x, %y : tensor<4xcomplex<f32>>`."""

    name = "stablehlo.complex"
    KINDS: ClassVar[str] = "f"
    FACTS: ClassVar[Facts | None] = Facts(kernel="complex_number", linear=[(0, 1)])

    @classmethod
    def result_element(cls, element_type: Attribute) -> Attribute:
        return ComplexType(element_type)  # pyright: ignore[reportArgumentType]

    @classmethod
    def parse(cls, parser: Parser) -> ComplexOp:
        return syntax.parse_rest(parser, cls, syntax.parse_operands(parser, 2), {}, short=_parts_of)

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        syntax.print_attributes(printer, self)
        inputs, _ = _parts_of(self.result.type)
        if inputs != [value.type for value in self.operands]:
            syntax.print_signature(printer, self)
            return
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


def _parts_of(result: Attribute) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    complex_type = tensor_type(result)
    part = TensorType(real_element(complex_type.element_type), complex_type.shape, complex_type.encoding)
    return [part, part], [result]


class _TypedUnaryOp(UnaryOp, ABC):
    """A unary op whose result's element type is a choice: the constructor takes it."""

    def __init__(self, operand: SSAValue | Operation, element_type: Attribute):
        value = SSAValue.get(operand)
        result = syntax.infer(self.name, lambda: self.converted(tensor_type(value), element_type))
        IRDLOperation.__init__(self, operands=[value], result_types=[result])

    @classmethod
    def converted(cls, operand: AnyTensor, element_type: Attribute) -> AnyTensor:
        """The result type for a result element type."""
        return tensor(shape_of(operand), element_type)

    def verify_(self) -> None:
        operand = tensor_type(self.operand)
        syntax.check_result(self, self.converted(operand, element_of(self.result)))


@irdl_op_definition
class ConvertOp(_TypedUnaryOp):
    """The same values in another element type: `stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>`."""

    name = "stablehlo.convert"
    FACTS: ClassVar[Facts | None] = Facts()


@irdl_op_definition
class BitcastConvertOp(_TypedUnaryOp):
    """
    The same bits in another element type: `stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi32>`.

    A narrower type adds a minor dim, a wider one removes it.
    """

    name = "stablehlo.bitcast_convert"

    @classmethod
    def converted(cls, operand: AnyTensor, element_type: Attribute) -> AnyTensor:
        shape = shape_of(operand)
        before, after = bit_width(operand.element_type), bit_width(element_type)
        if is_complex(operand.element_type) != is_complex(element_type):
            raise VerifyException("complex numbers and others do not share bits")
        if before > after and before % after == 0:
            return tensor((*shape, before // after), element_type)
        if before < after:
            if not shape or shape[-1] * before != after:
                raise VerifyException(f"the last dim must hold the {after // before} parts of each {element_type}")
            return tensor(shape[:-1], element_type)
        if before != after:
            raise VerifyException(f"{before} bits do not divide into {after}")
        return tensor(shape, element_type)

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)


@irdl_op_definition
class ReducePrecisionOp(UnaryOp):
    """Rounds to fewer exponent and mantissa bits: `stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>`."""

    name = "stablehlo.reduce_precision"
    KINDS: ClassVar[str] = "f"
    FACTS: ClassVar[Facts | None] = Facts()
    exponent_bits = prop_def(IntegerAttr)
    mantissa_bits = prop_def(IntegerAttr)

    def __init__(self, operand: SSAValue | Operation, exponent_bits: int, mantissa_bits: int):
        value = SSAValue.get(operand)
        result = syntax.infer(self.name, lambda: self.result_type([tensor_type(value)]))
        properties = {
            "exponent_bits": IntegerAttr(exponent_bits, i32),
            "mantissa_bits": IntegerAttr(mantissa_bits, i32),
        }
        IRDLOperation.__init__(self, operands=[value], result_types=[result], properties=properties)

    @classmethod
    def parse(cls, parser: Parser) -> ReducePrecisionOp:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("format")
        parser.parse_punctuation("=")
        position = parser.pos
        exponent, _, mantissa = parser.parse_identifier().removeprefix("e").partition("m")
        if not (exponent.isdecimal() and mantissa.isdecimal()):
            parser.raise_error("expected a format like e5m10", position)
        properties: dict[str, Attribute] = {
            "exponent_bits": IntegerAttr(int(exponent), i32),
            "mantissa_bits": IntegerAttr(int(mantissa), i32),
        }
        return syntax.parse_rest(parser, cls, [operand], properties, short=_ONE)

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        printer.print_string(f", format = e{self.exponent_bits.value.data}m{self.mantissa_bits.value.data}")
        syntax.print_attributes(printer, self)
        syntax.print_type_or_signature(printer, self)

    def verify_(self) -> None:
        super().verify_()
        if self.exponent_bits.value.data < 1 or self.mantissa_bits.value.data < 0:
            raise VerifyException("the format needs at least one exponent bit and no fewer than zero mantissa bits")


@irdl_op_definition
class CompareOp(BinaryOp):
    """Whether a relation holds: `stablehlo.compare GT, %x, %y, FLOAT : (tensor<4xf32>, ...) -> tensor<4xi1>`."""

    name = "stablehlo.compare"
    FACTS: ClassVar[Facts | None] = Facts()
    comparison_direction = prop_def(ComparisonDirectionAttr)
    compare_type = opt_prop_def(ComparisonTypeAttr)

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        direction: ComparisonDirection | str,
        compare_type: ComparisonType | None = None,
    ):
        left, right = SSAValue.get(lhs), SSAValue.get(rhs)
        result = syntax.infer(self.name, lambda: self.result_type([tensor_type(left), tensor_type(right)]))
        kind = compare_type or natural_comparison(element_of(left))
        properties = {
            "comparison_direction": ComparisonDirectionAttr(ComparisonDirection(direction)),
            "compare_type": ComparisonTypeAttr(kind),
        }
        IRDLOperation.__init__(self, operands=[left, right], result_types=[result], properties=properties)

    @property
    def direction(self) -> str:
        """The relation: EQ, NE, GE, GT, LE or LT."""
        return self.comparison_direction.data.value

    @property
    def order(self) -> str:
        """The order that applies: FLOAT, TOTALORDER, SIGNED or UNSIGNED."""
        stated = self.compare_type
        if stated is None or stated.data is ComparisonType.NOTYPE:
            return natural_comparison(element_of(self.lhs)).value
        return stated.data.value

    @classmethod
    def result_element(cls, element_type: Attribute) -> Attribute:
        return i1

    @classmethod
    def parse(cls, parser: Parser) -> CompareOp:
        properties: dict[str, Attribute] = {
            "comparison_direction": ComparisonDirectionAttr(parser.parse_str_enum(ComparisonDirection))
        }
        parser.parse_punctuation(",")
        operands = syntax.parse_operands(parser, 2)
        if parser.parse_optional_punctuation(",") is not None:
            properties["compare_type"] = ComparisonTypeAttr(parser.parse_str_enum(ComparisonType))
        return syntax.parse_rest(parser, cls, operands, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.direction},")
        syntax.print_operands(printer, self.operands)
        if self.compare_type is not None:
            printer.print_string(f", {self.compare_type.data.value}")
        syntax.print_attributes(printer, self)
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        super().verify_()
        element_type = element_of(self.lhs)
        if self.order == natural_comparison(element_type).value:
            return
        if not (self.order == "TOTALORDER" and is_float(element_type)):
            raise VerifyException(f"{self.order} does not order elements of type {element_type}")


def natural_comparison(element_type: Attribute) -> ComparisonType:
    """The order in which `compare` ranks elements of this type unless it says otherwise."""
    if isinstance(element_type, IntegerType):
        unsigned = element_type.signedness.data.name == "UNSIGNED" or is_boolean(element_type)
        return ComparisonType.UNSIGNED if unsigned else ComparisonType.SIGNED
    return ComparisonType.FLOAT


@irdl_op_definition
class SelectOp(ElementwiseOp):
    """Elements of `on_true` where `pred` holds, else of `on_false`; `pred` may be a scalar."""

    name = "stablehlo.select"
    FACTS: ClassVar[Facts | None] = Facts()
    pred = operand_def(TensorType)
    on_true = operand_def(TensorType)
    on_false = operand_def(TensorType)

    def __init__(self, pred: SSAValue | Operation, on_true: SSAValue | Operation, on_false: SSAValue | Operation):
        values = [SSAValue.get(value) for value in (pred, on_true, on_false)]
        result = syntax.infer(self.name, lambda: self.result_type([tensor_type(value) for value in values]))
        super().__init__(operands=values, result_types=[result])

    @classmethod
    def result_type(cls, operands: Sequence[AnyTensor]) -> AnyTensor:
        pred, on_true, on_false = operands
        if not is_boolean(pred.element_type):
            raise VerifyException(f"the predicate's elements must be i1, not {pred.element_type}")
        result = super().result_type([on_true, on_false])
        if shape_of(pred) not in ((), shape_of(result)):
            raise VerifyException(f"the predicate must be a scalar or {shapes.text(shape_of(result))}, not {pred}")
        return result

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        operands = syntax.parse_operands(parser, 3)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        if (pred := syntax.parse_tensor(parser)) is not None:
            parser.parse_punctuation(",")
            result = parser.parse_type()
            inputs, outputs = [pred, result, result], [result]
        else:
            inputs, outputs = syntax.parse_signature(parser)
        return cls.create(
            operands=parser.resolve_operands(operands, inputs, position), result_types=outputs, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        syntax.print_attributes(printer, self)
        if not self.on_true.type == self.on_false.type == self.result.type:
            syntax.print_signature(printer, self)
            return
        printer.print_string(" : ")
        printer.print_attribute(self.pred.type)
        printer.print_string(", ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class ClampOp(ElementwiseOp):
    """`operand` limited to `min` and `max`, which may be scalars."""

    name = "stablehlo.clamp"
    KINDS: ClassVar[str] = "bif"
    FACTS: ClassVar[Facts | None] = Facts()
    min = operand_def(TensorType)
    operand = operand_def(TensorType)
    max = operand_def(TensorType)

    def __init__(self, min: SSAValue | Operation, operand: SSAValue | Operation, max: SSAValue | Operation):
        values = [SSAValue.get(value) for value in (min, operand, max)]
        result = syntax.infer(self.name, lambda: self.result_type([tensor_type(value) for value in values]))
        super().__init__(operands=values, result_types=[result])

    @classmethod
    def result_type(cls, operands: Sequence[AnyTensor]) -> AnyTensor:
        low, operand, high = operands
        result = super().result_type([operand])
        for bound in (low, high):
            if bound.element_type != operand.element_type or shape_of(bound) not in ((), shape_of(operand)):
                raise VerifyException(f"a bound must be a scalar or {operand}, not {bound}")
        return result

    @classmethod
    def parse(cls, parser: Parser) -> ClampOp:
        return syntax.parse_rest(parser, cls, syntax.parse_operands(parser, 3), {}, short=_THREE)
