"""Ops that move a window over their operands: convolution, reduce_window and select_and_scatter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.algebra.contractions import (
    ReducingOp,
    ReturnOp,
    as_body,
    check_body,
    check_precision,
)
from shardwright.dialects.stablehlo.parts import forms, shapes, syntax
from shardwright.dialects.stablehlo.parts.attributes import Precision, PrecisionAttr
from shardwright.dialects.stablehlo.parts.constants import constant_value, make_dense
from shardwright.dialects.text.data import Reader, TextAttr, Writer
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
from shardwright.layout.planning.sweep import Sweep

Pairs = Sequence[Sequence[int]]


@dataclass(frozen=True)
class ConvDimensions:
    """What each dim of a convolution's operands and of its result is: batch, features, or a place in space."""

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input: int
    kernel_output: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]

    @property
    def sides(self) -> tuple[tuple[tuple[int, ...], str], ...]:
        """For input, kernel and output the dims in the order of their letters, and these two letters."""
        return (
            ((self.input_batch, self.input_feature, *self.input_spatial), "bf"),
            ((self.kernel_input, self.kernel_output, *self.kernel_spatial), "io"),
            ((self.output_batch, self.output_feature, *self.output_spatial), "bf"),
        )


def _side_text(dims: Sequence[int], letters: str) -> str:
    names = [*letters, *map(str, range(len(dims) - 2))]
    return f"[{', '.join(names[dims.index(dim)] for dim in range(len(dims)))}]"


def conv_text(numbers: ConvDimensions) -> str:
    """
    As StableHLO writes it.

    >>> conv_text(ConvDimensions(0, 2, (1,), 1, 2, (0,), 0, 2, (1,)))
    '[b, 0, f]x[0, i, o]->[b, 0, f]'
    """
    lhs, rhs, out = (_side_text(*side) for side in numbers.sides)
    return f"{lhs}x{rhs}->{out}"


def _parse_side(parser: AttrParser, letters: str) -> tuple[int, int, tuple[int, ...]]:
    """Reads `[b, 0, 1, f]`: the places of both letters, then those of the spatial dims."""

    def item() -> str:
        number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        return parser.parse_identifier() if number is None else str(number)

    position = parser.pos
    names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, item)
    wanted = [*letters, *map(str, range(len(names) - 2))]
    if sorted(names) != sorted(wanted):
        parser.raise_error(f"expected the dims {', '.join(wanted)} in any order, each once", position)
    places = [names.index(name) for name in wanted]
    return places[0], places[1], tuple(places[2:])


def _parse_sides(parser: AttrParser) -> ConvDimensions:
    lhs = _parse_side(parser, "bf")
    if parser.parse_optional_keyword("x") is None:
        parser.raise_error("expected x between the dims of the operands")
    rhs = _parse_side(parser, "io")
    parser.parse_punctuation("->")
    return ConvDimensions(*lhs, *rhs, *_parse_side(parser, "bf"))


@irdl_attr_definition
class ConvDimensionsAttr(TextAttr[ConvDimensions]):
    """`#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`."""

    name = "stablehlo.conv"
    READ: ClassVar[Reader] = staticmethod(_parse_sides)
    TEXT: ClassVar[Writer] = staticmethod(conv_text)
    ANGLED: ClassVar[bool] = True


WINDOW_ATTRIBUTES: list[type[Attribute]] = [ConvDimensionsAttr]

_FIELDS = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}
"""The words of `window = {...}` and the properties that they stand for."""


def _parse_window(parser: Parser) -> dict[str, Attribute]:
    """Reads `{stride = [1], pad = [[2, 2]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]}`; all optional."""
    found: dict[str, Attribute] = {}

    def numbers() -> list[int]:
        return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)

    def field() -> None:
        position = parser.pos
        word = parser.parse_identifier()
        if word not in _FIELDS or _FIELDS[word] in found:
            parser.raise_error(f"unexpected field '{word}': expected one of {', '.join(_FIELDS)}, each once", position)
        parser.parse_punctuation("=")
        if word == "pad":
            value: Attribute = pairs(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, numbers))
        elif word == "reverse":
            value = booleans([bool(number) for number in numbers()])
        else:
            value = integers(tuple(numbers()))
        found[_FIELDS[word]] = value

    parser.parse_comma_separated_list(parser.Delimiter.BRACES, field)
    return found


def _window_text(word: str, attribute: Any) -> str:
    if word == "pad":
        return str(_pairs_of(attribute, 0))
    values = attribute.get_values()
    return f"[{', '.join(str(bool(v)).lower() if word == 'reverse' else str(v) for v in values)}]"


def pairs(rows: Pairs) -> Attribute:
    """The attribute `dense<[[1, 2]]> : tensor<1x2xi64>`."""
    return make_dense([list(row) for row in rows] or 0, i64, (len(rows), 2))


def booleans(values: Sequence[bool]) -> Attribute:
    """The attribute `array<i1: false, true>`."""
    return DenseArrayBase.from_list(i1, [int(value) for value in values])


def _pairs_of(attribute: DenseIntOrFPElementsAttr[Any] | None, count: int) -> list[list[int]]:
    return [[0, 0]] * count if attribute is None else constant_value(attribute).tolist()


def _numbers_of(op: IRDLOperation, name: str, count: int, default: int = 1) -> tuple[int, ...]:
    """The numbers of a property, one for each of `count` dims where it is left out."""
    found = op.properties.get(name)
    return (default,) * count if found is None else tuple(map(int, cast(Integers, found).get_values()))


def _sweeps(op: IRDLOperation, sizes: Sequence[int], stride: str, base: str, dilation: str) -> tuple[Sweep, ...]:
    """How an op's window moves, by the properties of these names."""
    count = len(sizes)
    edges = _pairs_of(cast("DenseIntOrFPElementsAttr[Any] | None", op.properties.get("padding")), count)
    lists = [_numbers_of(op, name, count) for name in (stride, base, dilation)]
    backwards = map(bool, _numbers_of(op, "window_reversal", count, 0))
    return tuple(
        Sweep(size, step, low, high, apart, spread, reverse)
        for size, step, (low, high), apart, spread, reverse in zip(
            sizes, lists[0], edges, lists[1], lists[2], backwards, strict=True
        )
    )


def _check_sweeps(sweeps: Sequence[Sweep]) -> None:
    for dim, sweep in enumerate(sweeps):
        for value, what in (
            (sweep.size, "window size"),
            (sweep.stride, "stride"),
            (sweep.base, "base dilation"),
            (sweep.dilation, "window dilation"),
        ):
            if value < 1:
                raise VerifyException(f"{what} {value} of window dim {dim} must be at least 1")


def _check_lengths(op: IRDLOperation, rank: int, *names: str) -> None:
    """Checks that lists of numbers have one for each of `rank` dims, and the padding a low and a high edge."""
    for name in names:
        shapes.check_count(_numbers_of(op, name, rank), rank, name)
    padding = op.properties.get("padding")
    if padding is not None and shape_of(cast(DenseIntOrFPElementsAttr[Any], padding).type) != (rank, 2):
        raise VerifyException(f"padding must be a tensor<{rank}x2xi64>, not {cast(Any, padding).type}")


@irdl_op_definition
class ConvolutionOp(forms.TensorOp):
    """
    Sums of products over a window that moves over the input's spatial dims, and over input features.

    `stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (...) -> ...`
    """

    name = "stablehlo.convolution"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    window_strides = opt_prop_def(DenseArrayBase.constr(i64))
    padding = opt_prop_def(DenseIntOrFPElementsAttr)
    lhs_dilation = opt_prop_def(DenseArrayBase.constr(i64))
    rhs_dilation = opt_prop_def(DenseArrayBase.constr(i64))
    window_reversal = opt_prop_def(DenseArrayBase.constr(i1))
    dimension_numbers = prop_def(ConvDimensionsAttr)
    feature_group_count = prop_def(IntegerAttr)
    batch_group_count = prop_def(IntegerAttr)
    precision_config = opt_prop_def(ArrayAttr)

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        numbers: ConvDimensions,
        sweeps: Sequence[Sweep],
        *,
        feature_groups: int = 1,
        batch_groups: int = 1,
        element_type: Attribute | None = None,
        precision: Sequence[Precision] | None = None,
    ):
        left, right = SSAValue.get(lhs), SSAValue.get(rhs)
        groups = feature_groups, batch_groups
        types = tensor_type(left), tensor_type(right)
        result = syntax.infer(self.name, lambda: _conv_type(*types, numbers, tuple(sweeps), groups, element_type))
        properties = sweep_properties(sweeps) | {
            "dimension_numbers": ConvDimensionsAttr(numbers),
            "feature_group_count": IntegerAttr(feature_groups, i64),
            "batch_group_count": IntegerAttr(batch_groups, i64),
        }
        if precision is not None:
            properties["precision_config"] = ArrayAttr([PrecisionAttr(item) for item in precision])
        super().__init__(operands=[left, right], properties=properties, result_types=[result])

    @property
    def numbers(self) -> ConvDimensions:
        """What each dim is."""
        return self.dimension_numbers.data

    @property
    def groups(self) -> tuple[int, int]:
        """How many groups the features fall into, and how many the batch does; at most one is above 1."""
        return self.feature_group_count.value.data, self.batch_group_count.value.data

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """How the window moves, for each spatial dim."""
        sizes = [shape_of(self.rhs)[dim] for dim in self.numbers.kernel_spatial]
        return _sweeps(self, sizes, "window_strides", "lhs_dilation", "rhs_dilation")

    def moved(self, image: SSAValue, kernel: SSAValue, sweeps: Sequence[Sweep]) -> ConvolutionOp:
        """The same convolution of others, whose windows move otherwise."""
        features, batches = self.groups
        made = ConvolutionOp(
            image,
            kernel,
            self.numbers,
            sweeps,
            feature_groups=features,
            batch_groups=batches,
            element_type=element_of(self.results[0]),
        )
        if self.precision_config is not None:
            made.properties["precision_config"] = self.precision_config
        return made

    @classmethod
    def parse(cls, parser: Parser) -> ConvolutionOp:
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        parser.parse_keyword("dim_numbers")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {"dimension_numbers": ConvDimensionsAttr(_parse_sides(parser))}
        parser.parse_punctuation(",")
        parser.parse_keyword("window")
        parser.parse_punctuation("=")
        properties |= _parse_window(parser)
        return syntax.parse_rest(parser, cls, operands, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_list(self.operands, printer.print_ssa_value)
        words = {word: self.properties[name] for word, name in _FIELDS.items() if name in self.properties}
        fields = ", ".join(f"{word} = {_window_text(word, attribute)}" for word, attribute in words.items())
        printer.print_string(f") dim_numbers = {conv_text(self.numbers)}, window = {{{fields}}}")
        syntax.print_attributes(printer, self, "batch_group_count", "feature_group_count", "precision_config")
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        numbers, result = self.numbers, tensor_type(self.result)
        _check_numbers(numbers)
        rank = len(numbers.input_spatial) + 2
        for value, what in ((self.lhs, "lhs"), (self.rhs, "rhs")):
            if len(shape_of(value)) != rank:
                raise VerifyException(f"{what} must have {rank} dims, as dim_numbers does, not {len(shape_of(value))}")
        _check_lengths(self, rank - 2, "window_strides", "lhs_dilation", "rhs_dilation", "window_reversal")
        types = tensor_type(self.lhs), tensor_type(self.rhs)
        syntax.check_result(self, _conv_type(*types, numbers, self.sweeps, self.groups, result.element_type))
        check_precision(self.precision_config)


def sweep_properties(sweeps: Sequence[Sweep]) -> dict[str, Attribute]:
    """The properties of a convolution with these windows."""
    return {
        "window_strides": integers(tuple(sweep.stride for sweep in sweeps)),
        "padding": pairs([(sweep.low, sweep.high) for sweep in sweeps]),
        "lhs_dilation": integers(tuple(sweep.base for sweep in sweeps)),
        "rhs_dilation": integers(tuple(sweep.dilation for sweep in sweeps)),
        "window_reversal": booleans([sweep.reverse for sweep in sweeps]),
    }


def _check_numbers(numbers: ConvDimensions) -> None:
    ranks = [len(dims) for dims, _ in numbers.sides]
    if len(set(ranks)) != 1:
        raise VerifyException(f"dim_numbers must name as many spatial dims on each side: {conv_text(numbers)}")
    for (dims, _), what in zip(numbers.sides, ("input dim", "kernel dim", "output dim"), strict=True):
        shapes.check_dims(dims, ranks[0], what)


def _check_groups(lhs: shapes.Shape, rhs: shapes.Shape, numbers: ConvDimensions, groups: tuple[int, int]) -> None:
    feature_groups, batch_groups = groups
    if min(groups) < 1 or (feature_groups > 1 and batch_groups > 1):
        raise VerifyException(
            f"feature_group_count {feature_groups} and batch_group_count {batch_groups} must be at least 1, "
            "and one of them 1"
        )
    batch, features = lhs[numbers.input_batch], lhs[numbers.input_feature]
    inputs, outputs = rhs[numbers.kernel_input], rhs[numbers.kernel_output]
    if batch % batch_groups or outputs % batch_groups or outputs % feature_groups:
        raise VerifyException(
            f"{batch} batch elements and {outputs} kernel outputs must divide by batch_group_count {batch_groups} "
            f"and feature_group_count {feature_groups}"
        )
    if inputs * feature_groups != features:
        raise VerifyException(
            f"{features} input features in {feature_groups} groups must match the kernel's {inputs} inputs"
        )


def _conv_type(
    lhs: AnyTensor,
    rhs: AnyTensor,
    numbers: ConvDimensions,
    sweeps: tuple[Sweep, ...],
    groups: tuple[int, int],
    element_type: Attribute | None,
) -> AnyTensor:
    _check_numbers(numbers)
    left, right = shape_of(lhs), shape_of(rhs)
    _check_sweeps(sweeps)
    _check_groups(left, right, numbers, groups)
    result = [0] * len(left)
    result[numbers.output_batch] = left[numbers.input_batch] // groups[1]
    result[numbers.output_feature] = right[numbers.kernel_output]
    for sweep, source, target in zip(sweeps, numbers.input_spatial, numbers.output_spatial, strict=True):
        result[target] = sweep.result(left[source])
    return tensor(tuple(result), element_type or lhs.element_type)


@irdl_op_definition
class ReduceWindowOp(ReducingOp):
    """
    Combines the elements of each window by a function, from an initial value: n inputs, n initial values, n results.

    `"stablehlo.reduce_window"(%x, %0) <{window_dimensions = array<i64: 1, 2>, ...}> ({...}) : (...) -> ...`

    The body takes n accumulated values, then n elements, all scalars; elements of the padding are initial values.
    """

    name = "stablehlo.reduce_window"
    window_dimensions = prop_def(DenseArrayBase.constr(i64))
    window_strides = opt_prop_def(DenseArrayBase.constr(i64))
    base_dilations = opt_prop_def(DenseArrayBase.constr(i64))
    window_dilations = opt_prop_def(DenseArrayBase.constr(i64))
    padding = opt_prop_def(DenseIntOrFPElementsAttr)

    def __init__(
        self,
        inputs: Sequence[SSAValue | Operation],
        init_values: Sequence[SSAValue | Operation],
        sweeps: Sequence[Sweep],
        body: Region | type[Operation],
    ):
        moves = tuple(sweeps)
        self.make(inputs, init_values, window_properties(moves), lambda found: _swept_type(found, moves), body)

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """How the window moves, for each dim."""
        sizes = _numbers_of(self, "window_dimensions", 0)
        return _sweeps(self, sizes, "window_strides", "base_dilations", "window_dilations")

    def verify_(self) -> None:
        types = self.check_inputs()
        names = "window_dimensions", "window_strides", "base_dilations", "window_dilations"
        _check_lengths(self, len(shape_of(types[0])), *names)
        for index, found in enumerate(types):
            _check_scalar(self.init_values[index], found, f"initial value {index}")
            self.check_shape(index, _swept_type(found, self.sweeps))
        check_body(self.body.block, [tensor_type(value) for value in self.outputs])


def window_properties(sweeps: Sequence[Sweep]) -> dict[str, Attribute]:
    """The properties of a reduction over these windows."""
    return {
        "window_dimensions": integers(tuple(sweep.size for sweep in sweeps)),
        "window_strides": integers(tuple(sweep.stride for sweep in sweeps)),
        "base_dilations": integers(tuple(sweep.base for sweep in sweeps)),
        "window_dilations": integers(tuple(sweep.dilation for sweep in sweeps)),
        "padding": pairs([(sweep.low, sweep.high) for sweep in sweeps]),
    }


def _swept_type(operand: AnyTensor, sweeps: tuple[Sweep, ...]) -> AnyTensor:
    shape = shape_of(operand)
    shapes.check_count([sweep.size for sweep in sweeps], len(shape), "the window")
    _check_sweeps(sweeps)
    return tensor(tuple(sweep.result(n) for sweep, n in zip(sweeps, shape, strict=True)), operand.element_type)


def _check_scalar(value: SSAValue, like: AnyTensor, what: str) -> None:
    if plain(value.type) != tensor((), like.element_type):
        raise VerifyException(f"{what} must be {tensor((), like.element_type)}, not {value.type}")


@irdl_op_definition
class SelectAndScatterOp(IRDLOperation):
    """
    Adds each element of `source` to the element of `operand`'s window that a comparison selects (max-pool's gradient).

    `"stablehlo.select_and_scatter"(%x, %dy, %0) <{window_dimensions = array<i64: 2>, ...}> ({...}, {...}) : ...`

    `select` takes the selected element so far and another and says whether the first stays; `scatter` combines.
    """

    name = "stablehlo.select_and_scatter"
    operand = operand_def(TensorType)
    source = operand_def(TensorType)
    init_value = operand_def(TensorType)
    window_dimensions = opt_prop_def(DenseArrayBase.constr(i64))
    window_strides = opt_prop_def(DenseArrayBase.constr(i64))
    padding = opt_prop_def(DenseIntOrFPElementsAttr)
    result = result_def(TensorType)
    select = region_def("single_block")
    scatter = region_def("single_block")
    traits = traits_def(Pure(), RecursiveMemoryEffect())

    def __init__(
        self,
        operand: SSAValue | Operation,
        source: SSAValue | Operation,
        init_value: SSAValue | Operation,
        sweeps: Sequence[Sweep],
        select: Region,
        scatter: Region | type[Operation],
    ):
        values = [SSAValue.get(value) for value in (operand, source, init_value)]
        found = tensor_type(values[0])
        names = ("window_dimensions", "window_strides", "padding")
        properties = window_properties(sweeps)
        super().__init__(
            operands=values,
            properties={name: properties[name] for name in names},
            result_types=[plain(found)],
            regions=[select, as_body(scatter, found.element_type)],
        )

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """How the window moves, for each dim."""
        sizes = _numbers_of(self, "window_dimensions", len(shape_of(self.operand)))
        return _sweeps(self, sizes, "window_strides", "base_dilations", "window_dilations")

    def verify_(self) -> None:
        found = tensor_type(self.operand)
        _check_lengths(self, len(shape_of(found)), "window_dimensions", "window_strides")
        expected = _swept_type(found, self.sweeps)
        if plain(self.source.type) != expected:
            raise VerifyException(f"the source must be {expected}, not {self.source.type}")
        _check_scalar(self.init_value, found, "the initial value")
        syntax.check_result(self, plain(found))
        check_body(self.scatter.block, [found], "scatter")
        self._verify_select(found)

    def _verify_select(self, found: AnyTensor) -> None:
        block = self.select.block
        scalar = tensor((), found.element_type)
        if [plain(arg.type) for arg in block.args] != [scalar, scalar]:
            raise VerifyException(f"select must take two values of type {scalar}")
        last = block.last_op
        if not isinstance(last, ReturnOp) or len(last.operands) != 1:
            raise VerifyException("select must end in stablehlo.return of one scalar")
        answer = tensor_type(last.operands[0])
        if shape_of(answer) or not is_boolean(answer.element_type):
            raise VerifyException(f"select must return tensor<i1>, not {answer}")


WINDOW_OPS: tuple[type[Operation], ...] = (ConvolutionOp, ReduceWindowOp, SelectAndScatterOp)
"""The ops of this module."""
