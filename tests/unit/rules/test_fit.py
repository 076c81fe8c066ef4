"""What the check of the aligned stage refuses: layouts that an op's rule does not allow, partial sums included."""

from __future__ import annotations

import re

import pytest

from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.fit import misfit
from shardwright.rules.rule import ANY, REPLICATE, Rule

MESH = Mesh(x=2, y=2)
X, Y = (Axis("x"),), (Axis("y"),)


def spec(*dims: tuple[Axis, ...], partial: tuple[Axis, ...] = (), kind: str = "sum") -> LayoutSpec:
    return LayoutSpec("mesh", dims, partial=partial, kind=kind if partial else "")


def pointwise(*flows: tuple[str, tuple[int, ...]]) -> Rule:
    """Two operands of eight elements and a result."""
    builder = RuleBuilder()
    tensor = builder.tensor((8,))
    return builder.rule([tensor, tensor], [tensor], flows)


ADD = pointwise(("sum", (0, 1)))
MULTIPLY = pointwise(("sum", (0,)), ("sum", (1,)))
SELECT = pointwise((ANY, (0, 1)))


@pytest.mark.parametrize(
    ("rule", "operands", "result", "zeros"),
    [
        (ADD, [spec(X), spec(X)], spec(X), ()),
        (ADD, [spec((), partial=X), spec((), partial=X)], spec((), partial=X), ()),
        (ADD, [spec((), partial=X), spec(())], spec((), partial=X), (1,)),
        (MULTIPLY, [spec((), partial=X), spec(())], spec((), partial=X), ()),
        (SELECT, [spec((), partial=X, kind="max")] * 2, spec((), partial=X, kind="max"), ()),
    ],
)
def test_what_fits(rule: Rule, operands: list[LayoutSpec], result: LayoutSpec, zeros: tuple[int, ...]) -> None:
    assert misfit(rule, tuple(operands), (result,), MESH, frozenset(zeros)) is None


@pytest.mark.parametrize(
    ("rule", "operands", "result", "zeros", "why"),
    [
        (ADD, [spec(X), spec(Y)], spec(X), (), "operand 1 .* splits a factor otherwise"),
        (ADD, [spec(X), spec(X)], spec(()), (), "result 0 .* splits a factor otherwise"),
        # One addend finished, the other partial: the finished one would be counted twice.
        (ADD, [spec((), partial=X), spec(())], spec((), partial=X), (), r"may not pass through operands \[0\]"),
        # Parts over x and parts over y are not parts of one sum.
        (ADD, [spec((), partial=X), spec((), partial=Y)], spec((), partial=X), (), r"operands \[0, 1\]"),
        (ADD, [spec((), partial=Y), spec((), partial=X)], spec((), partial=Y), (), r"operands \[0, 1\]"),
        (SELECT, [spec((), partial=X), spec((), partial=X, kind="max")], spec((), partial=X), (), "may not pass"),
        (ADD, [spec((), partial=X, kind="max")] * 2, spec((), partial=X, kind="max"), (), r"\(max\) may not pass"),
        (SELECT, [spec((), partial=X, kind="max"), spec(())], spec((), partial=X, kind="max"), (1,), "may not pass"),
        # A product of sums is no sum of products.
        (MULTIPLY, [spec((), partial=X)] * 2, spec((), partial=X), (), "may not pass"),
        (ADD, [spec((), partial=X)] * 2, spec(()), (), "result 0 must be .*unreduced=sum"),
        (ADD, [spec(())] * 2, spec((), partial=X), (), "result 0 must be"),
    ],
)
def test_what_does_not(
    rule: Rule, operands: list[LayoutSpec], result: LayoutSpec, zeros: tuple[int, ...], why: str
) -> None:
    found = misfit(rule, tuple(operands), (result,), MESH, frozenset(zeros))
    assert found is not None
    assert re.search(why, found), found


def two_ways() -> Rule:
    """A slice of two of eight elements: parts of both sizes pair up, or each device gives what it holds."""
    builder = RuleBuilder()
    together, held, whole = builder.factor(2), builder.factor(8, "sum"), builder.factor(2, REPLICATE)
    return builder.rule([(together,)], [(together,)], others=[(((held,),), ((whole,),))])


def test_an_op_fits_in_any_of_its_ways_and_in_no_mixture() -> None:
    rule = two_ways()
    assert str(rule) == "i -> i  or  k -> j  k=sum  j=replicate"
    assert [way is None for way in map(rule.way, ([], [0], [1], [0, 1]))] == [False, False, False, True]
    for operand, result in ((spec(X), spec(X)), (spec(X), spec((), partial=X)), (spec(()), spec(()))):
        assert misfit(rule, (operand,), (result,), MESH, frozenset()) is None
    for operand, result in ((spec(X), spec(())), (spec(()), spec(X)), (spec((*X, *Y)), spec(X, partial=Y))):
        assert misfit(rule, (operand,), (result,), MESH, frozenset()) is not None
