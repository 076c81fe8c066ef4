"""Builds the `Rule` of a computed row: factors are numbered as dims ask for them."""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.layout.axes import Axis
from shardwright.rules.expansion import Expansion
from shardwright.rules.rule import PASS, Dim, Rule, Tensor, Way

SCALAR: Tensor = ()


class RuleBuilder:
    """
    Numbers factors as dims ask for them.

    >>> builder = RuleBuilder()
    >>> rows = builder.tensor((4, 8))
    >>> print(builder.rule([rows], [rows]))
    i j -> i j
    """

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.kinds: list[str] = []

    def factor(self, size: int, kind: str = PASS) -> Dim:
        """A new factor as a dim; dims of size one have none."""
        if size == 1:
            return ()
        self.sizes.append(size)
        self.kinds.append(kind)
        return (len(self.sizes) - 1,)

    def tensor(self, shape: Sequence[int], kind: str = PASS) -> Tensor:
        """A new factor for each dim."""
        return tuple(self.factor(size, kind) for size in shape)

    def rule(
        self,
        operands: Sequence[Tensor],
        results: Sequence[Tensor],
        flows: Sequence[tuple[str, tuple[int, ...]]] = (),
        *,
        pairwise: bool = False,
        heavy: bool = False,
        expansion: Expansion | None = None,
        fixed: Sequence[tuple[int, tuple[Axis, ...]]] = (),
        others: Sequence[Way] = (),
    ) -> Rule:
        """The finished rule."""
        sizes, kinds, sides = tuple(self.sizes), tuple(self.kinds), (tuple(operands), tuple(results))
        return Rule(sizes, *sides, kinds, tuple(flows), pairwise, heavy, expansion, tuple(fixed), tuple(others))
