"""
Expansions: what an op becomes when a factor is split that its devices cannot do alone.

A rule may carry one. It prices splitting some of the rule's factors, and when a strategy takes that offer, alignment
replaces the op by other ops on global types, each of which fits a rule of its own. So nothing about layouts is left to
believe: the aligned program run unsharded gives the same answer, and every op in it is checked (SW0316).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.types import tensor_type
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import tidy_partial
from shardwright.layout.spec import LayoutSpec

Axes = tuple[Axis, ...]
Dims = tuple[Axes, ...]


class Expansion(Protocol):
    """How an op is done when some of its rule's factors are split, and at what price."""

    @property
    def factors(self) -> frozenset[int]:
        """The factors that may be split only by expanding the op; their kind is `permute`, or that of a reduction."""
        ...

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """
        The bytes that each device sends when factor `f` is split into `parts[f]` parts; None when that cannot be done.

        `parts` lists all factors that are split, those of the rule's other kinds as well; `sizes` are the bytes of the
        global operands, then results.
        """
        ...

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """The values that take the place of the op's results, made by ops that are put in front of it."""
        ...


@runtime_checkable
class InRounds(Protocol):
    """What an expansion has that sends more than once: one thing after the other, each of which is waited for."""

    def messages(self, parts: Mapping[int, int]) -> int:
        """How often each device sends when factor `f` is split into `parts[f]` parts."""
        ...


@runtime_checkable
class HandingOn(Protocol):
    """What an expansion has in which one device has something for all others: they hand it on among themselves."""

    def rounds(self, parts: Mapping[int, int]) -> int:
        """How often a device waits for another one, when factor `f` is split into `parts[f]` parts."""
        ...


def rounds_of(expansion: Expansion | None, parts: Mapping[int, int]) -> int:
    """How often a device waits for others, where factors are split into so many parts."""
    if isinstance(expansion, HandingOn):
        return expansion.rounds(parts)
    return expansion.messages(parts) if isinstance(expansion, InRounds) else 1


def rounds_to_all(count: int) -> int:
    """
    The rounds in which all of so many devices have what one has, where whoever has it hands it on.

    >>> list(map(rounds_to_all, (1, 2, 5, 8)))
    [0, 1, 3, 3]
    """
    return (count - 1).bit_length()


@dataclass(frozen=True)
class Site:
    """
    Where an op is expanded: its strategy's layouts, and how to put ops in front of it.

    The op's operands are already as the strategy needs them; `op.operands[i]` has dims `operands[i]`.
    """

    mesh: Mesh
    operands: tuple[Dims, ...]
    results: tuple[Dims, ...]
    factors: Mapping[int, Axes]
    """The axes of each factor that is split."""
    reason: str
    insert: Callable[[Operation], Operation]
    """Puts an op in front of the one that is expanded and gives it its location."""

    def parts(self, factor: int) -> int:
        """The number of parts into which a factor is split."""
        return self.mesh.group_size(self.factors.get(factor, ()))

    @property
    def numbers(self) -> dict[int, int]:
        """The number of parts of each factor that is split."""
        return {factor: self.parts(factor) for factor in self.factors}

    def put(self, op: Operation, *dims: Dims, partial: Axes = (), kind: str = "") -> tuple[SSAValue, ...]:
        """
        Puts `op` in place with these dims for each result; returns the results.

        Results are partial as the op's operands are, and over `partial`, the axes of reductions of its own.
        """
        flowing = next((spec for value in op.operands if (spec := self.spec(value)).partial), None)
        axes = (flowing.partial if flowing is not None else ()) + partial
        kind = flowing.kind if flowing is not None else kind
        for result, each in zip(op.results, dims, strict=True):
            spec = tidy_partial(LayoutSpec(self.mesh.name, each, frozenset(), axes, kind if axes else ""), self.mesh)
            result._type = dtensor.with_layout(result.type, spec)  # pyright: ignore[reportPrivateUsage]
        return tuple(self.insert(op).results)

    def loop(
        self,
        start: Sequence[SSAValue],
        rounds: int,
        body: Callable[[Site, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """
        A loop that carries `start`, in its layouts: what it has after so many rounds.

        `body` makes the ops of a round, at a site inside, of its number and of what is carried, and gives what goes on.
        """
        carried = [self.building(()).literal(0, i32), *start]
        types = [tensor_type(value) for value in carried]
        condition, block = Block(arg_types=types), Block(arg_types=types)
        asks, inside = self._inside(condition), self._inside(block)
        end = asks.building(()).literal(rounds, i32)
        asks.insert(stablehlo.ReturnOp(asks.building(()).compare(condition.args[0], "LT", end)))
        following = body(inside, block.args[0], block.args[1:])
        count = inside.building(())
        inside.insert(stablehlo.ReturnOp(count.add(block.args[0], count.literal(1, i32)), *following))
        loop = self.insert(stablehlo.WhileOp(carried, Region(condition), Region(block), types))
        for inner in (op for each in (condition, block) for op in each.walk()):
            inner.location = loop.location
        return loop.results[1:]

    def _inside(self, block: Block) -> Site:
        """The same site at the end of a block."""

        def insert(op: Operation) -> Operation:
            block.add_op(op)
            return op

        return replace(self, insert=insert)

    def building(self, dims: Dims) -> Builder:
        """Builds ops of one result, which has these dims."""

        def insert(op: Operation) -> Operation:
            self.put(op, dims)
            return op

        return Builder(insert)

    def relayout(self, value: SSAValue, dims: Dims) -> SSAValue:
        """The value in other dims, as partial as before; what it takes is planned and counted later."""
        spec = self.spec(value)
        wanted = LayoutSpec(self.mesh.name, dims, frozenset(), spec.partial, spec.kind)
        if spec == wanted:
            return value
        return self.insert(dtensor.RelayoutOp(value, wanted, self.reason)).results[0]

    def spec(self, value: SSAValue) -> LayoutSpec:
        """The layout of a value: that of an aligned op's operand, or of what was put in place."""
        spec = dtensor.layout_of(value)
        assert spec is not None
        return spec
