"""Rows of custom calls: those that users register, those whose programs bring Shardy's rule along, and LAPACK's."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache

from shardwright.diagnostics import ShardwrightValueError
from shardwright.dialects.sdy.rules import KEPT_RULE, KINDS, SHARDY_RULE, OpShardingRule, OpShardingRuleAttr
from shardwright.dialects.stablehlo.calls.custom_calls import CustomCallOp, unknown_call
from shardwright.dialects.text.locations import where
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.families.linear_algebra import batched_rule, lapack_rule
from shardwright.rules.rule import PASS, PERMUTE, REPLICATE, Dim, Rule, Tensor
from shardwright.rules.sharding import Row, Shape, add_row, bad_row, operand_shapes, result_shapes

CALLS: dict[str, Row | None] = {}
"""The rows of calls that users registered, by target; None for those that leave it to Shardy's rule in the program."""

EFFECTS: set[str] = set()
"""The calls of which it is known what happens in them: they are done once, with whole tensors, where they stand."""


MATRICES = frozenset(
    """
    Qr QrDecompositionBlock ProductOfElementaryHouseholderReflectors CompactWyHelper LuDecomposition Eigh Cholesky
    InvertDiagBlocksLowerTriangular InvertDiagBlocksUpperTriangular
    """.split()
)
"""
The factorisations that JAX calls on TPUs, and XLA's steps of them, which its compiler there knows: dims before a
matrix's are a batch's.
"""

POINTWISE = frozenset({"xla.megascale.provide_metadata"})
"""Calls of XLA's compiler that Shardy splits like functions of each element: all tensors have the same dims."""


def is_known(op: CustomCallOp) -> bool:
    """Whether somebody says how a call may be split, and what happens in it besides, if anything does."""
    return (not op.effects or op.target in EFFECTS) and (
        op.target in (CALLS.keys() | MATRICES | POINTWISE) or shardys(op) is not None or op.routine is not None
    )


def shardys(op: CustomCallOp) -> OpShardingRule | None:
    """The rule for Shardy that the program gives a call."""
    found = op.attributes.get(KEPT_RULE) or op.attributes.get(SHARDY_RULE)
    return found.data if isinstance(found, OpShardingRuleAttr) else None


def _custom_call(op: CustomCallOp) -> Rule:
    """What was registered for it, the rule for Shardy that it has, or LAPACK's: batch dims pass, factors have parts."""
    shapes = operand_shapes(op), result_shapes(op)
    if (row := CALLS.get(op.target)) is not None:
        return row.rule(op)
    if op.routine is not None:
        return lapack_rule(op)
    if (written := shardys(op)) is not None:
        try:
            return rule_of(written, *shapes)
        except ValueError as error:
            raise bad_row(f"@{op.target}", f"Shardy's rule does not fit this call: {error}", where(op)) from error
    if op.target in MATRICES and op.operands:
        return batched_rule(*shapes, len(shapes[0][0]) - 2)
    if op.target in POINTWISE and op.operands:
        return batched_rule(*shapes, len(shapes[0][0]))
    if op.target in CALLS:
        return batched_rule(*shapes, 0)
    raise ShardwrightValueError(unknown_call(op))


@cache
def rule_of(written: OpShardingRule, operands: tuple[Shape, ...], results: tuple[Shape, ...]) -> Rule:
    """
    One of Shardy's rules as ours, for tensors of these shapes; `ValueError` where it does not fit them.

    What Shardy reduces it sums. A factor that no result has, or no operand, is whole on every device: nobody says how
    a part of it would be computed.

    >>> sizes = (("i", 4), ("j", 8), ("k", 2))
    >>> written = OpShardingRule((("i", "j"), ("k",)), (("i",),), sizes, (("reduction", ("j",)),))
    >>> print(rule_of(written, ((4, 8), (2,)), ((4,),)))
    i j, k -> i  j=sum  k=replicate
    """
    sizes, kinds = dict(written.sizes), _kinds(written)
    builder, known = RuleBuilder(), dict[str, Dim]()

    def dim(text: str, size: int) -> Dim:
        names = factors_of(text)
        if math.prod(sizes.get(name, 0) for name in names) != size:
            raise ValueError(f"its factors {text!r} do not make up a dim of size {size}")
        for name in names:
            if name not in known:
                known[name] = builder.factor(sizes[name], kinds[name])
        return tuple(factor for name in names for factor in known[name])

    def side(tensors: Sequence[tuple[str, ...]], shapes: Sequence[Shape]) -> list[Tensor]:
        if [len(tensor) for tensor in tensors] != [len(shape) for shape in shapes]:
            raise ValueError("it has other tensors")
        return [tuple(map(dim, *pair)) for pair in zip(tensors, shapes, strict=True)]

    given = side(written.operands, operands)
    return builder.rule(given, side(written.results, results), heavy=True)


def whole_rule(op: CustomCallOp) -> OpShardingRule:
    """The rule for Shardy by which no dim of a call is split."""
    sizes: list[tuple[str, int]] = []

    def side(shapes: Sequence[Shape]) -> tuple[tuple[str, ...], ...]:
        start = len(sizes)
        sizes.extend((_name(start + at), size) for at, size in enumerate(size for shape in shapes for size in shape))
        names = iter(name for name, _ in sizes[start:])
        return tuple(tuple(next(names) for _ in shape) for shape in shapes)

    operands, results = side(operand_shapes(op)), side(result_shapes(op))
    groups = (("need_replication", tuple(name for name, _ in sizes)),) if sizes else ()
    return OpShardingRule(operands, results, tuple(sizes), groups, True)


def _kinds(written: OpShardingRule) -> dict[str, str]:
    """The kind of each factor."""
    said = {name: kind for kind, names in written.groups for name in names}
    taken, given = (set(_all_names(side)) for side in (written.operands, written.results))
    return {name: _kind(said.get(name, ""), name in taken, name in given) for name, _ in written.sizes}


def _kind(said: str, taken: bool, given: bool) -> str:
    match said:
        case "reduction":
            return REPLICATE if given else "sum"
        case "permutation":
            return PERMUTE
        case "need_replication" | "blocked_propagation":
            return REPLICATE
        case _:
            return PASS if taken and given else REPLICATE


def factors_of(text: str) -> list[str]:
    """
    The factors of a dim: `ij` are two of them, and so are `z_1z_2`.

    >>> factors_of("iz_1"), factors_of("")
    (['i', 'z_1'], [])
    """
    return re.findall(r"[a-z](?:_\d+)?", text)


def _all_names(tensors: Sequence[tuple[str, ...]]) -> Iterator[str]:
    return (name for tensor in tensors for text in tensor for name in factors_of(text))


def written_for_shardy(op: CustomCallOp) -> OpShardingRule | None:
    """
    The rule of a call that users registered, as Shardy writes it; None where they registered none.

    Shardy sums what it reduces, so a factor that is reduced otherwise is whole there.
    """
    row = CALLS.get(op.target)
    if row is None:
        return None
    rule, sizes = row.rule(op), list(row.rule(op).sizes)

    def text(dim: Dim) -> str:
        if not dim:  # a dim of size one has a factor of its own there
            sizes.append(1)
            return _name(len(sizes) - 1)
        return "".join(map(_name, dim))

    operands, results = (tuple(tuple(map(text, tensor)) for tensor in side) for side in (rule.operands, rule.results))
    groups: dict[str, tuple[str, ...]] = {}
    for factor, kind in enumerate(rule.kinds):
        if kind != PASS:
            group = _GROUPS.get(kind, "need_replication")
            groups[group] = (*groups.get(group, ()), _name(factor))
    listed = tuple((group, groups[group]) for group in KINDS if group in groups)
    return OpShardingRule(operands, results, tuple((_name(at), size) for at, size in enumerate(sizes)), listed, True)


_GROUPS = {"sum": "reduction", PERMUTE: "permutation"}
_LETTERS = 18


def _name(factor: int) -> str:
    """Shardy's factors are i to z, then z_1, z_2 and so on."""
    return chr(ord("i") + factor) if factor < _LETTERS else f"z_{factor - _LETTERS + 1}"


add_row("stablehlo.custom_call", _custom_call)
