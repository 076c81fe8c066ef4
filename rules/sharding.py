"""
The sharding table: one row per op, from which everything else about the op's sharding follows.

A row is either text, `add_row("my.matmul", "i k, k j -> i j", k="sum", linear=[(0,), (1,)])`, or a function from the op
to its `Rule` where dims depend on attributes. Users add rows by the same call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from xdsl.ir import Operation

from shardwright.diagnostics import Diagnostic, ShardwrightValueError, SourceLocation
from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.stablehlo.elementwise import ElementwiseOp
from shardwright.dialects.text.locations import where
from shardwright.dialects.text.xdsl_patches import operands_of
from shardwright.dialects.types import shape_of
from shardwright.layout.spec import REDUCTION_KINDS
from shardwright.plugins import extend
from shardwright.rules.rule import PASS, PERMUTE, REPLICATE, Pattern, Rule, factor_names, flows_text

Groups = Sequence[tuple[int, ...]]
Shape = tuple[int, ...]

Compute: TypeAlias = Callable[[Any], Rule]
"""Gives the rule of an op; its parameter may be of the op's class, since a row is asked for ops of its name only."""


@dataclass
class Row:
    """One op's entry: a pattern or a function, and the partial results that may flow through the op."""

    name: str
    text: str
    pattern: Pattern | None = None
    compute: Compute | None = None
    kinds: dict[str, str] = field(default_factory=dict[str, str])
    flows: tuple[tuple[str, tuple[int, ...]], ...] = ()
    cache: dict[tuple[tuple[Shape, ...], tuple[Shape, ...]], Rule] = field(
        default_factory=dict[tuple[tuple[Shape, ...], tuple[Shape, ...]], Rule]
    )

    def rule(self, op: Operation) -> Rule:
        """The rule of `op`, which has this row's name; `ValueError` (SW0402) when the row does not fit it."""
        if self.compute is not None:
            return self.compute(op)
        shapes = operand_shapes(op), result_shapes(op)
        rule = self.cache.get(shapes)
        if rule is None:
            assert self.pattern is not None
            try:
                rule = self.cache[shapes] = self.pattern.rule(*shapes, self.kinds, self.flows)
            except ValueError as error:
                raise bad_row(self.name, f"it does not fit this op: {error}", where(op)) from error
        return rule

    def __str__(self) -> str:
        kinds = "".join(f"  {factor}={kind}" for factor, kind in self.kinds.items())
        return f"{self.text}{kinds}{flows_text(self.flows)}"


ROWS: dict[str, Row] = {}
"""The table, by op name."""


def add_row(
    name: str,
    pattern: str | Compute,
    *,
    linear: Groups = (),
    flows: Iterable[tuple[str, tuple[int, ...]]] = (),
    **kinds: str,
) -> None:
    """
    Adds or replaces the row of the op called `name`.

    `linear` lists operand groups through which partial sums pass, `flows` the same for other kinds (`"max"`, `"any"`);
    keywords give the kind of a factor: a reduction (`k="sum"`), `"replicate"` or `"permute"`. A function gives the
    whole `Rule` of an op instead. Raises `ValueError` (SW0402) for a row that cannot be read or contradicts itself.

    >>> add_row("my.matmul", "i k, k j -> i j", k="sum", linear=[(0,), (1,)])
    >>> print(ROWS.pop("my.matmul"))
    i k, k j -> i j  k=sum  linear=[(0,), (1,)]
    """
    extend()
    ROWS[name] = row_of(name, pattern, linear, flows, kinds)


def row_of(
    name: str,
    pattern: str | Compute,
    linear: Groups = (),
    flows: Iterable[tuple[str, tuple[int, ...]]] = (),
    kinds: Mapping[str, str] | None = None,
) -> Row:
    """The row that `add_row` adds; `ValueError` (SW0402) for one that cannot be read or contradicts itself."""
    passing = (*(("sum", tuple(group)) for group in linear), *((kind, tuple(group)) for kind, group in flows))
    if callable(pattern):
        if passing or kinds:
            raise bad_row(name, "a function gives the kinds of factors and the flows itself")
        return Row(name, f"computed: {_first_line(pattern)}", compute=pattern)
    try:
        parsed = Pattern.parse(pattern)
        parsed.check(kinds or {}, passing)
    except ValueError as error:
        raise bad_row(name, str(error)) from error
    return Row(name, pattern, parsed, kinds=dict(kinds or {}), flows=passing)


def _first_line(function: Compute) -> str:
    return (function.__doc__ or function.__name__).strip().splitlines()[0].rstrip(".")


def bad_row(name: str, message: str, location: SourceLocation | None = None) -> ShardwrightValueError:
    kinds = ", ".join((PASS, REPLICATE, PERMUTE, *REDUCTION_KINDS))
    return ShardwrightValueError(
        Diagnostic("SW0402", f"the sharding row of '{name}': {message}", location, help=f"kinds of factors are {kinds}")
    )


def rule_for(op: Operation) -> Rule:
    """The rule of an op; `ValueError` (SW0401) with the line that would add one when the table lacks it."""
    row = ROWS.get(op.name)
    if row is None:
        raise ShardwrightValueError(missing_row(op))
    return row.rule(op)


def missing_row(op: Operation) -> Diagnostic:
    """The error for an op without a row; calls have none, since layouts spread within one function."""
    if op.name == "func.call":
        return Diagnostic(
            "SW0311",
            f"a call of {op.properties.get('callee')} is left: layouts spread within one function",
            where(op),
            help="inline calls first: -p import-sdy,inline,propagate-layouts, or -p propagate",
        )
    return Diagnostic(
        "SW0401",
        f"'{op.name}' has no sharding rule",
        where(op),
        notes=("a row says which dims may be split together; with this one every device computes the whole op",),
        help=f"add one, for example: from shardwright.rules import add_row; {_example_row(op)}",
    )


def _example_row(op: Operation) -> str:
    """The row that is right for any op: no dim is split."""
    letters = iter(factor_names(sum(map(len, (*operand_shapes(op), *result_shapes(op))))))
    sides = [
        ", ".join(" ".join(next(letters) for _ in shape) or "()" for shape in shapes)
        for shapes in (operand_shapes(op), result_shapes(op))
    ]
    pattern = " -> ".join(sides).strip()
    kinds = "".join(f', {name}="replicate"' for name in re.findall(r"\w+", pattern))
    return f'add_row("{op.name}", "{pattern}"{kinds})'


def operand_shapes(op: Operation) -> tuple[Shape, ...]:
    """The shapes of an op's operands."""
    return tuple(map(shape_of, operands_of(op)))


def result_shapes(op: Operation) -> tuple[Shape, ...]:
    """The shapes of an op's results."""
    return tuple(map(shape_of, op.results))


_PATTERNS = {1: "... -> ...", 2: "..., ... -> ...", 3: "..., ..., ... -> ..."}

for _op, _count in (stablehlo.ELEMENTWISE | chlo.ELEMENTWISE).items():
    _facts = cast("type[ElementwiseOp]", _op).FACTS
    if _facts is not None:
        add_row(_op.name, _PATTERNS[_count], linear=_facts.linear, flows=_facts.flows)

add_row("dtensor.relayout", "... -> ...")
add_row("dtensor.constraint", "... -> ...")
