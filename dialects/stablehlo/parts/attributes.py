"""The attributes of StableHLO that dense programs use: enums, dot dimension numbers and algorithms, accuracies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import f64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from shardwright.dialects.text.data import Reader, TextAttr, Writer


class Precision(StrEnum):
    """How exact a dot or convolution must be."""

    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"


class ComparisonDirection(StrEnum):
    """The relation that `compare` tests."""

    EQ = "EQ"
    NE = "NE"
    GE = "GE"
    GT = "GT"
    LE = "LE"
    LT = "LT"


class ComparisonType(StrEnum):
    """The order in which `compare` ranks its elements."""

    NOTYPE = "NOTYPE"
    FLOAT = "FLOAT"
    TOTALORDER = "TOTALORDER"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"


class AccuracyMode(StrEnum):
    """How a result accuracy is stated."""

    DEFAULT = "DEFAULT"
    HIGHEST = "HIGHEST"
    TOLERANCE = "TOLERANCE"


@irdl_attr_definition
class PrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<precision DEFAULT>`."""

    name = "stablehlo.precision"


@irdl_attr_definition
class ComparisonDirectionAttr(EnumAttribute[ComparisonDirection], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<comparison_direction GT>`."""

    name = "stablehlo.comparison_direction"


@irdl_attr_definition
class ComparisonTypeAttr(EnumAttribute[ComparisonType], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<comparison_type FLOAT>`."""

    name = "stablehlo.comparison_type"


def _parse_mode(parser: AttrParser) -> AccuracyMode:
    return parser.parse_str_enum(AccuracyMode)


@irdl_attr_definition
class AccuracyModeAttr(TextAttr[AccuracyMode]):
    """`#stablehlo.result_accuracy_mode<HIGHEST>`."""

    name = "stablehlo.result_accuracy_mode"
    READ: ClassVar[Reader] = staticmethod(_parse_mode)
    ANGLED: ClassVar[bool] = True


@dataclass(frozen=True)
class Accuracy:
    """The largest error that the user allows in the result of a transcendental function."""

    mode: AccuracyMode
    absolute: float = 0.0
    relative: float = 0.0
    units: int = 0


@irdl_attr_definition
class ResultAccuracyAttr(Data[Accuracy]):
    """`#stablehlo.result_accuracy<atol = 1.0e-5, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>`."""

    name = "stablehlo.result_accuracy"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Accuracy:
        fields = parse_fields(parser, {"atol": _number, "rtol": _number, "ulps": _number, "mode": _mode})
        return Accuracy(
            fields.get("mode", AccuracyMode.DEFAULT),
            float(fields.get("atol", 0.0)),
            float(fields.get("rtol", 0.0)),
            int(fields.get("ulps", 0)),
        )

    def print_parameter(self, printer: Printer) -> None:
        parts: list[str] = []
        for key, value in (("atol", self.data.absolute), ("rtol", self.data.relative)):
            if value:
                parts.append(f"{key} = {_float_text(value)}")
        if self.data.units:
            parts.append(f"ulps = {self.data.units}")
        parts.append(f"mode = #stablehlo.result_accuracy_mode<{self.data.mode.value}>")
        printer.print_string(f"<{', '.join(parts)}>")


def _float_text(value: float) -> str:
    from shardwright.dialects.text.literals import element_text, encode_float

    return element_text(encode_float(value, f64), f64)


def _number(parser: AttrParser) -> float:
    return parser.parse_number()


def parse_integer(parser: AttrParser) -> int:
    """Reads an integer, no boolean."""
    return parser.parse_integer(allow_boolean=False)


def _mode(parser: AttrParser) -> AccuracyMode:
    position = parser.pos
    attribute = parser.parse_attribute()
    if not isinstance(attribute, AccuracyModeAttr):
        parser.raise_error("expected #stablehlo.result_accuracy_mode<...>", position)
    return attribute.data


def parse_fields(parser: AttrParser, readers: dict[str, Any]) -> dict[str, Any]:
    """Reads `<key = value, ...>`, each key of `readers` at most once, in any order."""
    fields: dict[str, Any] = {}

    def field() -> None:
        position = parser.pos
        key = parser.parse_identifier()
        if key not in readers or key in fields:
            parser.raise_error(f"unexpected field '{key}': expected one of {', '.join(readers)}, each once", position)
        parser.parse_punctuation("=")
        fields[key] = readers[key](parser)

    parser.parse_comma_separated_list(parser.Delimiter.ANGLE, field)
    return fields


def fields_text(fields: Mapping[str, int | tuple[int, ...]], *, empty: bool = False) -> str:
    """What `parse_fields` reads; upstream leaves out lists without entries and zeros, unless `empty` ones belong."""
    texts = {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}
    return f"<{', '.join(f'{key} = {value}' for key, value in texts.items() if value or empty)}>"


@dataclass(frozen=True)
class DotDimensions:
    """Which dims of a `dot_general`'s operands pair up: batching dims stay, contracting dims are summed over."""

    lhs_batching: tuple[int, ...] = ()
    rhs_batching: tuple[int, ...] = ()
    lhs_contracting: tuple[int, ...] = ()
    rhs_contracting: tuple[int, ...] = ()

    def free(self, lhs_rank: int, rhs_rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """
        The dims of each operand that are neither batching nor contracting, in order.

        >>> DotDimensions((0,), (0,), (2,), (1,)).free(3, 3)
        ((1,), (2,))
        """
        lhs = set(self.lhs_batching) | set(self.lhs_contracting)
        rhs = set(self.rhs_batching) | set(self.rhs_contracting)
        return tuple(d for d in range(lhs_rank) if d not in lhs), tuple(d for d in range(rhs_rank) if d not in rhs)


_DOT_FIELDS = {
    "lhs_batching_dimensions": "lhs_batching",
    "rhs_batching_dimensions": "rhs_batching",
    "lhs_contracting_dimensions": "lhs_contracting",
    "rhs_contracting_dimensions": "rhs_contracting",
}


def parse_dims(parser: AttrParser) -> tuple[int, ...]:
    """Reads `[0, 2]`."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_integer(parser)))


def _parse_dot(parser: AttrParser) -> DotDimensions:
    fields = parse_fields(parser, dict.fromkeys(_DOT_FIELDS, parse_dims))
    return DotDimensions(**{_DOT_FIELDS[key]: value for key, value in fields.items()})


def _dot_text(dims: DotDimensions) -> str:
    return fields_text({key: getattr(dims, field) for key, field in _DOT_FIELDS.items()})


@irdl_attr_definition
class DotDimensionsAttr(TextAttr[DotDimensions]):
    """`#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>`."""

    name = "stablehlo.dot"
    READ: ClassVar[Reader] = staticmethod(_parse_dot)
    TEXT: ClassVar[Writer] = staticmethod(_dot_text)


@dataclass(frozen=True)
class DotAlgorithm:
    """The arithmetic that a `dot_general` must use: types of the parts and of the accumulator."""

    lhs_precision_type: Attribute
    rhs_precision_type: Attribute
    accumulation_type: Attribute
    lhs_component_count: int
    rhs_component_count: int
    num_primitive_operations: int
    allow_imprecise_accumulation: bool


_ALGORITHM_READERS: dict[str, Any] = {
    "lhs_precision_type": AttrParser.parse_type,
    "rhs_precision_type": AttrParser.parse_type,
    "accumulation_type": AttrParser.parse_type,
    "lhs_component_count": parse_integer,
    "rhs_component_count": parse_integer,
    "num_primitive_operations": parse_integer,
    "allow_imprecise_accumulation": AttrParser.parse_boolean,
}


@irdl_attr_definition
class DotAlgorithmAttr(Data[DotAlgorithm]):
    """`#stablehlo.dot_algorithm<lhs_precision_type = tf32, ...>`."""

    name = "stablehlo.dot_algorithm"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DotAlgorithm:
        fields = parse_fields(parser, _ALGORITHM_READERS)
        missing = [key for key in _ALGORITHM_READERS if key not in fields]
        if missing:
            parser.raise_error(f"the algorithm lacks {', '.join(missing)}")
        return DotAlgorithm(**fields)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string("<")
        for index, key in enumerate(_ALGORITHM_READERS):
            value = getattr(self.data, key)
            printer.print_string(f"{', ' if index else ''}{key} = ")
            if isinstance(value, Attribute):
                printer.print_attribute(value)
            else:
                printer.print_string(str(value).lower())
        printer.print_string(">")


@irdl_attr_definition
class BoundsAttr(Data[tuple[int | None, ...]]):
    """The largest size of each dim of a tensor whose sizes are not known: `#stablehlo.bounds<8, ?>`."""

    name = "stablehlo.bounds"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int | None, ...]:
        return tuple(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _parse_bound(parser)))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{', '.join('?' if bound is None else str(bound) for bound in self.data)}>")


def _parse_bound(parser: AttrParser) -> int | None:
    return None if parser.parse_optional_punctuation("?") is not None else parse_integer(parser)


ATTRIBUTES: list[type[Attribute]] = [
    PrecisionAttr,
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    AccuracyModeAttr,
    ResultAccuracyAttr,
    DotDimensionsAttr,
    DotAlgorithmAttr,
    BoundsAttr,
]
