"""
`Rule`: what an op means for sharding, as a mapping from dims to factors.

A *factor* is one loop index of the op. Each dim of each operand and result is a product of factors, major to minor; a
dim of size one has none. Splitting a factor over mesh axes splits every dim that it stands in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import REDUCTION_KINDS

if TYPE_CHECKING:
    from shardwright.rules.expansion import Expansion

PASS = "pass"
"""A factor that every tensor having it may split alike."""

REPLICATE = "replicate"
"""A factor that every device needs whole."""

PERMUTE = "permute"
"""A factor along which elements meet or move (slice, sort, argmax): whole, or split by the rule's expansion."""

ANY = "any"
"""Stands for every kind of partial result in `Rule.flows`."""

Dim = tuple[int, ...]
Tensor = tuple[Dim, ...]
Way = tuple[tuple[Tensor, ...], tuple[Tensor, ...]]
"""The operands and the results of an op, written in factors."""

Axes = tuple[Axis, ...]
Flows = Sequence[tuple[str, tuple[int, ...]]]
"""For kinds of partial results the groups of operands that let them pass."""

FactorAxes = tuple[Axes, ...]
"""For each factor of a rule, the axes that split it."""


@dataclass(frozen=True, eq=False, slots=True)
class Rule:
    """
    Factors of one op at given shapes; equal ops share one instance, so identity serves as equality.

    `sizes` and `kinds` are per factor; a kind is `PASS`, `REPLICATE`, `PERMUTE` or one of `REDUCTION_KINDS`, for a
    factor that the results lack because the op combines over it. `flows` lists, for each kind of partial result, the
    groups of operands through which it may pass: all of a group partial, all others finished.
    """

    sizes: tuple[int, ...]
    operands: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    kinds: tuple[str, ...]
    flows: tuple[tuple[str, tuple[int, ...]], ...] = ()
    pairwise: bool = field(default=False)
    """Whether operand and result number `i` are alike and all pairs independent."""
    heavy: bool = field(default=False)
    """Whether the op is so much work that no device may do what another does already, to save bytes."""

    expansion: Expansion | None = None
    """What the op becomes when a factor is split that its devices cannot do alone."""

    fixed: tuple[tuple[int, Axes], ...] = ()
    """Factors that these axes split, and nothing else: where a manual computation begins or ends."""

    others: tuple[Way, ...] = ()
    """
    Other ways to write the tensors, in factors that the first way lacks: the op is done in one that has all that are
    split. Layouts spread by the first.
    """

    @property
    def work(self) -> int:
        """The multiplications of a heavy op; none of any other."""
        return math.prod(self.sizes) if self.heavy else 0

    @property
    def free(self) -> bool:
        """Whether any device can make the result in any layout, from nothing."""
        return not self.operands and all(kind == PASS for kind in self.kinds)

    def tensors(self) -> tuple[Tensor, ...]:
        """Operands, then results."""
        return self.operands + self.results

    def ways(self) -> tuple[Way, ...]:
        """All ways to write the tensors: operands, and results."""
        return ((self.operands, self.results), *self.others)

    def way(self, factors: Iterable[int]) -> Way | None:
        """The first way to write the tensors that has all these factors; None where there is none."""
        if not self.others:
            return self.operands, self.results
        wanted = set(factors)
        return next((way for way in self.ways() if wanted.issubset(_factors_of(way))), None)

    def splittable(self, factor: int) -> bool:
        """Whether axes may split `factor` of the op as it is."""
        return self.kinds[factor] not in (REPLICATE, PERMUTE) and not self.expands(factor)

    def expands(self, factor: int) -> bool:
        """Whether splitting `factor` takes the op's expansion."""
        return self.expansion is not None and factor in self.expansion.factors

    def movable(self, factor: int) -> bool:
        """Whether axes may split `factor`, if need be by expanding the op."""
        return self.splittable(factor) or self.expands(factor)

    def reduces(self, factor: int) -> bool:
        """Whether splitting `factor` leaves partial results."""
        return self.kinds[factor] in REDUCTION_KINDS

    def __str__(self) -> str:
        """As a row writes it, with letters for factors: first those of the results, then the others."""
        order = [factor for operands, results in self.ways() for factor in _factors_of((results, operands))]
        names = dict(zip(dict.fromkeys([*order, *range(len(self.sizes))]), factor_names(len(self.sizes)), strict=True))
        ways = [
            " -> ".join(", ".join(_tensor_text(tensor, names) for tensor in side) for side in way)
            for way in self.ways()
        ]
        kinds = "".join(f"  {names[i]}={kind}" for i, kind in enumerate(self.kinds) if kind != PASS)
        fixed = "".join(f"  {names[i]}@{'@'.join(axis.brief() for axis in axes)}" for i, axes in self.fixed)
        return f"{'  or  '.join(ways)}{kinds}{fixed}{flows_text(self.flows)}".strip()


def _factors_of(way: Way) -> list[int]:
    return [factor for side in way for tensor in side for dim in tensor for factor in dim]


def flows_text(flows: Flows) -> str:
    """The flows of a row, as `add_row` takes them."""
    linear = [group for kind, group in flows if kind == "sum"]
    others = [(kind, group) for kind, group in flows if kind != "sum"]
    return (f"  linear={linear}" if linear else "") + (f"  flows={others}" if others else "")


def factor_names(count: int) -> list[str]:
    """Letters for factors, from `i` on."""
    letters = "ijklmnopqrstuvwxyzabcdefgh"
    return [letters[i % 26] + (str(i // 26) if i >= 26 else "") for i in range(count)]


def _tensor_text(tensor: Tensor, names: Mapping[int, str]) -> str:
    def dim(factors: Dim) -> str:
        text = " ".join(names[factor] for factor in factors)
        return text if len(factors) == 1 else f"({text})" if factors else "1"

    return " ".join(dim(factors) for factors in tensor) or "()"


def project(dims: Sequence[Axes], tensor: Tensor, sizes: Sequence[int], mesh: Mesh) -> tuple[dict[int, Axes], bool]:
    """
    The axes of each factor of one tensor, given its dims' axes, and whether they say all that the dims say.

    A compound dim hands its axes to its factors major to minor; an axis that covers more than a factor is cut in two.
    Axes that fit no factor evenly are dropped, which the flag reports.
    """
    found: dict[int, Axes] = {}
    exact = True
    for axes, factors in zip(dims, tensor, strict=True):
        if not axes:
            continue
        if len(factors) == 1 and sizes[factors[0]] % mesh.group_size(axes) == 0:
            found[factors[0]] = axes
            continue
        exact = _fill(axes, factors, sizes, mesh, found) and exact
    return found, exact


def _fill(axes: Axes, factors: Dim, sizes: Sequence[int], mesh: Mesh, found: dict[int, Axes]) -> bool:
    waiting = list(axes)
    for factor in factors:
        room, taken = sizes[factor], list[Axis]()
        while waiting and room > 1:
            axis = waiting[0]
            size = mesh.axis_size(axis)
            fits = math.gcd(size, room)
            if fits == size:
                taken.append(waiting.pop(0))
            elif fits == room:
                start, stop = mesh.span(axis)
                taken.append(mesh.part(axis.name, start, start * fits))
                waiting[0] = mesh.part(axis.name, start * fits, stop)
            else:
                break
            room //= fits
        if taken:
            found[factor] = tuple(taken)
        if room > 1:
            break
    return not waiting


def assemble(factor_axes: Mapping[int, Axes], tensor: Tensor, sizes: Sequence[int], mesh: Mesh) -> tuple[Axes, ...]:
    """
    The axes of each dim of one tensor, given its factors' axes: the inverse of `project`.

    In a compound dim a factor's axes count only when all factors before it are split completely.
    """
    dims: list[Axes] = []
    for factors in tensor:
        if len(factors) == 1:
            dims.append(factor_axes.get(factors[0], ()))
            continue
        axes: list[Axis] = []
        for factor in factors:
            mine = factor_axes.get(factor, ())
            axes += mine
            if mesh.group_size(mine) != sizes[factor]:
                break
        dims.append(tuple(axes))
    return tuple(dims)


@dataclass(frozen=True)
class Pattern:
    """
    A row's einsum-like text, parsed.

    Names are factors, `...` is all remaining dims (the same ones wherever it stands), `(i j)` is a compound dim, `1` a
    dim of size one, and `()` a scalar.

    >>> Pattern.parse("i k, k j -> i j").operands
    ((('i',), ('k',)), (('k',), ('j',)))
    """

    operands: tuple[tuple[tuple[str, ...], ...], ...]
    results: tuple[tuple[tuple[str, ...], ...], ...]

    @staticmethod
    def parse(text: str) -> Pattern:
        """Reads `i k, k j -> i j`; `ValueError` for anything else."""
        sides = text.split("->")
        if len(sides) != 2:
            raise ValueError(f"{text!r}: write operands -> results, like 'i k, k j -> i j'")
        operands, results = (
            tuple(_parse_tensor(tensor) for tensor in side.split(",") if tensor.strip()) for side in sides
        )
        return Pattern(operands, results)

    def check(self, kinds: Mapping[str, str], flows: Flows) -> None:
        """`ValueError` when kinds or flows do not fit the pattern."""
        results, operands = _names(self.results), _names(self.operands)
        for name, kind in kinds.items():
            if kind not in (PASS, REPLICATE, PERMUTE, *REDUCTION_KINDS):
                raise ValueError(f"{kind!r} is no kind of factor")
            if name not in operands | results:
                raise ValueError(f"it has no factor {name!r}")
            if kind in REDUCTION_KINDS and name in results:
                raise ValueError(f"factor {name!r} is reduced, but the results have it")
        lost = sorted(name for name in operands - results if kinds.get(name, PASS) == PASS)
        if lost:
            raise ValueError(f"no result has factor {lost[0]!r}: say how it is reduced, or that it is replicated")
        for kind, group in flows:
            if kind not in (ANY, *REDUCTION_KINDS):
                raise ValueError(f"{kind!r} is no kind of partial results")
            if not group or not set(group) <= set(range(len(self.operands))):
                raise ValueError(f"{group} is no group of its {len(self.operands)} operands")

    def rule(
        self,
        operand_shapes: Sequence[tuple[int, ...]],
        result_shapes: Sequence[tuple[int, ...]],
        kinds: Mapping[str, str],
        flows: tuple[tuple[str, tuple[int, ...]], ...],
    ) -> Rule:
        """The rule at given shapes; `ValueError` when the pattern does not fit them."""
        return _pattern_rule(self, tuple(operand_shapes), tuple(result_shapes), tuple(sorted(kinds.items())), flows)


def _names(tensors: Iterable[tuple[tuple[str, ...], ...]]) -> set[str]:
    return {name for tensor in tensors for dim in tensor for name in dim}


_DIM = re.compile(r"\s*(?:\((?P<compound>[^()]*)\)|(?P<name>\.\.\.|1|[A-Za-z_]\w*))(?=[\s(]|$)\s*")


def _parse_tensor(text: str) -> tuple[tuple[str, ...], ...]:
    if text.strip() == "()":
        return ()
    dims: list[tuple[str, ...]] = []
    position = 0
    while position < len(text):
        match = _DIM.match(text, position)
        if match is None:
            raise ValueError(f"{text.strip()!r} is no tensor: name its dims, like 'i j', '...' or '(i j) k'")
        name = match["name"]
        dims.append(() if name == "1" else (name,) if name else tuple(match["compound"].split()))
        position = match.end()
    return tuple(dims)


@lru_cache(maxsize=4096)
def _pattern_rule(
    pattern: Pattern,
    operand_shapes: tuple[tuple[int, ...], ...],
    result_shapes: tuple[tuple[int, ...], ...],
    kinds: tuple[tuple[str, str], ...],
    flows: tuple[tuple[str, tuple[int, ...]], ...],
) -> Rule:
    builder = _PatternBuilder(dict(kinds))
    operands = builder.side(pattern.operands, operand_shapes)
    results = builder.side(pattern.results, result_shapes)
    return Rule(tuple(builder.sizes), operands, results, tuple(builder.factor_kinds), flows)


class _PatternBuilder:
    """Numbers the factors of a pattern in order of appearance and infers their sizes."""

    def __init__(self, kinds: Mapping[str, str]):
        self.kinds = kinds
        self.numbers: dict[str, int] = {}
        self.sizes: list[int] = []
        self.factor_kinds: list[str] = []

    def side(
        self, tensors: tuple[tuple[tuple[str, ...], ...], ...], shapes: tuple[tuple[int, ...], ...]
    ) -> tuple[Tensor, ...]:
        if len(tensors) != len(shapes):
            raise ValueError(f"the rule names {len(tensors)} tensors where the op has {len(shapes)}")
        return tuple(self.tensor(tensor, shape) for tensor, shape in zip(tensors, shapes, strict=True))

    def tensor(self, dims: tuple[tuple[str, ...], ...], shape: tuple[int, ...]) -> Tensor:
        spread = len(shape) - sum(dim != ("...",) for dim in dims)
        names = [
            name
            for dim in dims
            for name in ([(f"...{index}",) for index in range(spread)] if dim == ("...",) else [dim])
        ]
        if len(names) != len(shape):
            raise ValueError(f"the rule names {len(names)} dims where a tensor has {len(shape)}")
        return tuple(self.dim(factors, size) for factors, size in zip(names, shape, strict=True))

    def dim(self, factors: tuple[str, ...], size: int) -> Dim:
        if size == 1:
            return ()
        unknown = [name for name in factors if name not in self.numbers]
        known = math.prod(self.sizes[self.numbers[name]] for name in factors if name in self.numbers)
        if len(unknown) > 1 or size % (known or 1) or (not unknown and known != size):
            raise ValueError(f"factors {factors} do not make up a dim of size {size}")
        for name in unknown:
            self.numbers[name] = len(self.sizes)
            self.sizes.append(size // (known or 1))
            self.factor_kinds.append(self.kinds.get(name, PASS))
        return tuple(self.numbers[name] for name in factors)
