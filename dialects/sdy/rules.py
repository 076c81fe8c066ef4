"""Shardy's sharding rules, which JAX writes on custom calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser

from shardwright.dialects.text.data import Reader, TextAttr

SHARDY_RULE, KEPT_RULE = "sdy.sharding_rule", "dtensor.sharding_rule"
"""The attribute of a custom call that has its rule for Shardy, and its name while the program is ours."""

KINDS = ("reduction", "need_replication", "permutation", "blocked_propagation")
"""The groups of factors that a rule may name, in the order in which they are written."""

Tensor = tuple[str, ...]
"""The factors of each dim of one tensor, as text: `ij` is a dim of two factors."""


@dataclass(frozen=True)
class OpShardingRule:
    """
    Factors of an op's dims, einsum-like.

    >>> print(OpShardingRule((("i", "j"),), (("i",),), (("i", 4), ("j", 8)), (("reduction", ("j",)),), True))
    ([i, j])->([i]) {i=4, j=8} reduction={j}, custom
    """

    operands: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    sizes: tuple[tuple[str, int], ...]
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    custom: bool = False

    def __str__(self) -> str:
        sides = [", ".join(f"[{', '.join(dims)}]" for dims in side) for side in (self.operands, self.results)]
        sizes = f" {{{', '.join(f'{name}={size}' for name, size in self.sizes)}}}" if self.sizes else ""
        groups = "".join(f" {kind}={{{', '.join(names)}}}" for kind, names in self.groups)
        custom = ", custom" if self.custom else ""
        return f"({sides[0]})->({sides[1]}){sizes}{groups}{custom}"


def _parse_rule(parser: AttrParser) -> OpShardingRule:
    operands = _parse_side(parser)
    parser.parse_punctuation("->")
    results = _parse_side(parser)
    sizes = parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, lambda: _parse_size(parser)) or []
    groups: list[tuple[str, tuple[str, ...]]] = []
    while (kind := parser.parse_optional_keyword_in(KINDS)) is not None:
        parser.parse_punctuation("=")
        names = parser.parse_comma_separated_list(parser.Delimiter.BRACES, parser.parse_identifier)
        groups.append((kind, tuple(names)))
    custom = parser.parse_optional_punctuation(",") is not None
    if custom:
        parser.parse_keyword("custom")
    return OpShardingRule(operands, results, tuple(sizes), tuple(groups), custom)


def _parse_side(parser: AttrParser) -> tuple[Tensor, ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_tensor(parser)))


def _parse_tensor(parser: AttrParser) -> Tensor:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier))


def _parse_size(parser: AttrParser) -> tuple[str, int]:
    name = parser.parse_identifier()
    parser.parse_punctuation("=")
    return name, parser.parse_integer(allow_boolean=False, allow_negative=False)


@irdl_attr_definition
class OpShardingRuleAttr(TextAttr[OpShardingRule]):
    """`#sdy.op_sharding_rule<([i, j])->([i]) {i=4, j=8} reduction={j}, custom>`."""

    name = "sdy.op_sharding_rule"
    READ: ClassVar[Reader] = staticmethod(_parse_rule)
    ANGLED: ClassVar[bool] = True
