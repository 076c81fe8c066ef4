"""
The sharding table: one row per op, from which everything else about the op's sharding follows.

A row is either text, `add_row("my.matmul", "i k, k j -> i j", k="sum", linear=[(0,), (1,)])`, or a function from the op
to its `Rule` where dims depend on attributes. Users add rows by the same call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation

from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.dialects.locations import where
from shardwright.layout.spec import REDUCTION_KINDS
from shardwright.rules.rule import ANY, PASS, PERMUTE, REPLICATE, Pattern, Rule

Groups = Sequence[tuple[int, ...]]
Shape = tuple[int, ...]


@dataclass
class Row:
    """One op's entry: a pattern or a function, and the partial results that may flow through the op."""

    name: str
    pattern: Pattern | None = None
    compute: Callable[[Operation], Rule] | None = None
    kinds: dict[str, str] = field(default_factory=dict[str, str])
    flows: tuple[tuple[str, tuple[int, ...]], ...] = ()
    cache: dict[tuple[tuple[Shape, ...], tuple[Shape, ...]], Rule] = field(
        default_factory=dict[tuple[tuple[Shape, ...], tuple[Shape, ...]], Rule]
    )

    def rule(self, op: Operation) -> Rule:
        """The rule of `op`, which has this row's name."""
        if self.compute is not None:
            return self.compute(op)
        shapes = operand_shapes(op), result_shapes(op)
        rule = self.cache.get(shapes)
        if rule is None:
            assert self.pattern is not None
            rule = self.cache[shapes] = self.pattern.rule(*shapes, self.kinds, self.flows)
        return rule


ROWS: dict[str, Row] = {}
"""The table, by op name."""


def add_row(
    name: str,
    pattern: str | Callable[[Operation], Rule],
    *,
    linear: Groups = (),
    flows: Iterable[tuple[str, tuple[int, ...]]] = (),
    **kinds: str,
) -> None:
    """
    Adds or replaces the row of the op called `name`.

    `linear` lists operand groups through which partial sums pass, `flows` the same for other kinds (`"max"`, `"any"`);
    keywords give the kind of a factor: a reduction (`k="sum"`), `"replicate"` or `"permute"`. Raises `ValueError`
    (SW0402) for a pattern or a kind that cannot be read.

    >>> add_row("my.matmul", "i k, k j -> i j", k="sum", linear=[(0,), (1,)])
    >>> ROWS.pop("my.matmul").pattern.results
    ((('i',), ('j',)),)
    """
    bad = [kind for kind in kinds.values() if kind not in (PASS, REPLICATE, PERMUTE, *REDUCTION_KINDS)]
    if bad:
        raise _bad_row(name, f"{bad[0]!r} is no kind of factor")
    passing = (*(("sum", tuple(group)) for group in linear), *flows)
    if callable(pattern):
        ROWS[name] = Row(name, compute=pattern, flows=passing)
        return
    try:
        ROWS[name] = Row(name, Pattern.parse(pattern), kinds=dict(kinds), flows=passing)
    except ValueError as error:
        raise _bad_row(name, str(error)) from error


def _bad_row(name: str, message: str) -> ShardwrightValueError:
    kinds = ", ".join((PASS, REPLICATE, PERMUTE, *REDUCTION_KINDS))
    return ShardwrightValueError(
        Diagnostic("SW0402", f"the sharding row of '{name}': {message}", help=f"kinds of factors are {kinds}")
    )


def rule_for(op: Operation) -> Rule:
    """The rule of an op; `ValueError` (SW0401) with the line that would add one when the table lacks it."""
    row = ROWS.get(op.name)
    if row is None:
        raise ShardwrightValueError(missing_row(op))
    return row.rule(op)


def missing_row(op: Operation) -> Diagnostic:
    """The error for an op without a row."""
    operands = ", ".join(["..."] * len(op.operands))
    results = ", ".join(["..."] * len(op.results))
    return Diagnostic(
        "SW0401",
        f"'{op.name}' has no sharding rule",
        where(op),
        help=f'add one, for example shardwright.rules.add_row("{op.name}", "{operands} -> {results}")',
    )


def shape_of(type_: Attribute) -> Shape:
    """The shape of a tensor type."""
    return cast("TensorType[Attribute]", type_).get_shape()


def operand_shapes(op: Operation) -> tuple[Shape, ...]:
    """The shapes of an op's operands."""
    return tuple(cast("TensorType[Any]", value.type).get_shape() for value in op.operands)


def result_shapes(op: Operation) -> tuple[Shape, ...]:
    """The shapes of an op's results."""
    return tuple(cast("TensorType[Any]", value.type).get_shape() for value in op.results)


_UNARY = """
abs cbrt ceil cosine count_leading_zeros exponential exponential_minus_one floor is_finite log log_plus_one logistic not
popcnt reduce_precision round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh
""".split()
_BINARY = """
and atan2 compare or power remainder shift_left shift_right_arithmetic shift_right_logical xor
""".split()
_CHLO_UNARY = """
acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc is_inf is_neg_inf is_pos_inf lgamma sinh
square
""".split()
_CHLO_BINARY = "next_after polygamma zeta".split()

for _name in _UNARY:
    add_row(f"stablehlo.{_name}", "... -> ...")
for _name in _BINARY:
    add_row(f"stablehlo.{_name}", "..., ... -> ...")
for _name in _CHLO_UNARY:
    add_row(f"chlo.{_name}", "... -> ...")
for _name in _CHLO_BINARY:
    add_row(f"chlo.{_name}", "..., ... -> ...")

add_row("stablehlo.add", "..., ... -> ...", linear=[(0, 1)])
add_row("stablehlo.subtract", "..., ... -> ...", linear=[(0, 1)])
add_row("stablehlo.complex", "..., ... -> ...", linear=[(0, 1)])
add_row("stablehlo.multiply", "..., ... -> ...", linear=[(0,), (1,)])
add_row("stablehlo.negate", "... -> ...", linear=[(0,)])
add_row("stablehlo.real", "... -> ...", linear=[(0,)])
add_row("stablehlo.imag", "... -> ...", linear=[(0,)])
add_row("stablehlo.maximum", "..., ... -> ...", flows=[("max", (0, 1))])
add_row("stablehlo.minimum", "..., ... -> ...", flows=[("min", (0, 1))])
add_row("dtensor.relayout", "... -> ...", flows=[(ANY, (0,))])
add_row("dtensor.constraint", "... -> ...", flows=[(ANY, (0,))])
