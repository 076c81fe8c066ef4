"""
Smaller sizes for the dims of programs: one function of the size, under what the ops ask of it.

A size is *pinned* (it stays), a product or a sum of others, or free. Free ones become as small as the parts into which
they are split allow, and as different from each other as is cheap, so that dims that are exchanged are told apart. What
cannot be solved is pinned: right, only larger.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, permutations
from typing import TypeAlias

ROUNDS = 2000
"""How often a system is mended before all is pinned."""

ORDERS = 6
"""In how many orders the factors of a product are looked at, on each side."""

CHOICES = 8
"""How many values are tried for a free size before it may be equal to another."""


@dataclass(frozen=True)
class Count:
    """A factor that stays what it is, such as the number of equal parts."""

    number: int


Term: TypeAlias = "int | Count"
Terms: TypeAlias = tuple[Term, ...]


def _value(term: Term) -> int:
    return term.number if isinstance(term, Count) else term


@dataclass
class Sizes:
    """
    What the ops of programs ask of the sizes of dims.

    >>> sizes = Sizes()
    >>> sizes.product([768], [12, 64])
    >>> sizes.divisible(12, 4)
    >>> sizes.pin(3)
    >>> found = sizes.solve([3, 12, 64, 768])
    >>> found[3], found[12] % 4, found[768] == found[12] * found[64], found[768] < 768
    (3, 0, True, True)
    """

    pinned: set[int] = field(default_factory=set[int])
    products: dict[int, Terms] = field(default_factory=dict[int, Terms])
    sums: dict[tuple[Terms, Terms], None] = field(default_factory=dict[tuple[Terms, Terms], None])
    parts: dict[int, int] = field(default_factory=dict[int, int])
    """By what each size must be divisible."""
    exact: dict[int, int] = field(default_factory=dict[int, int])
    """What sizes should become: those of which every device holds one element."""
    orders: dict[tuple[int, int], None] = field(default_factory=dict[tuple[int, int], None])
    """Pairs of sizes of which the first stays the smaller one."""

    def pin(self, *sizes: int) -> None:
        """These sizes stay, and with them what they are products of."""
        for size in sizes:
            self.pinned.add(size)
            self.pin(*[term for term in self.products.get(size, ()) if not isinstance(term, Count)])

    def divisible(self, size: int, parts: int) -> None:
        """The size falls into so many equal parts."""
        if parts > 1:
            self.parts[size] = math.lcm(self.parts.get(size, 1), parts)

    def below(self, smaller: int, larger: int) -> None:
        """One size stays smaller than the other, or equal to it."""
        if smaller != larger:
            self.orders[smaller, larger] = None

    def product(self, left: Sequence[Term], right: Sequence[Term]) -> None:
        """The products of both sides are equal, and stay so."""
        first, second = Counter(self._atoms(left)), Counter(self._atoms(right))
        both = first & second
        ours, theirs = list((first - both).elements()), list((second - both).elements())
        for term, factors in min(_refinements(ours, theirs), key=self._harm):
            if isinstance(term, Count):
                if any(not isinstance(factor, Count) for factor in factors):
                    self.pin(*[_value(factor) for factor in factors])
            else:
                self._define(term, factors)

    def _harm(self, refined: list[tuple[Term, Terms]]) -> tuple[int, int]:
        """How many sizes fall apart that should not, and how many there are then."""
        broken = [term for term, factors in refined if len(factors) > 1 and term in self.exact]
        return len(broken), len({factor for _, factors in refined for factor in factors})

    def _define(self, size: int, factors: Terms) -> None:
        if factors == (size,):
            return
        if size in self.products:
            self.product(self.products[size], factors)
            return
        self.products[size] = factors
        if size in self.pinned:
            self.pin(size)

    def _atoms(self, terms: Iterable[Term]) -> list[Term]:
        found: list[Term] = []
        for term in terms:
            if not isinstance(term, Count) and term in self.products:
                found += self._atoms(self.products[term])
            elif _value(term) != 1:
                found.append(term)
        return found

    def sum(self, whole: int, parts: Sequence[int]) -> None:
        """A size is the sum of others; of equal parts, a multiple."""
        parts = [part for part in parts if part]
        if len(parts) > 1 and len(set(parts)) == 1:
            self.product([whole], [Count(len(parts)), parts[0]])
        elif parts != [whole]:
            self.sums[(whole,), tuple(sorted(parts))] = None

    def solve(self, wanted: Iterable[int]) -> dict[int, int]:
        """What each of these sizes becomes."""
        everything = {0, 1, *wanted, *self.parts, *self.products}
        everything |= {_value(term) for sides in self.sums for side in sides for term in side}
        everything |= {_value(term) for terms in self.products.values() for term in terms}
        everything |= {size for pair in self.orders for size in pair}
        attempt = _Attempt(self, sorted(everything))
        for _ in range(ROUNDS):
            if attempt.is_right():
                return attempt.values
        return {size: size for size in everything}


def _refinements(left: Sequence[Term], right: Sequence[Term]) -> Iterator[list[tuple[Term, Terms]]]:
    """Ways in which two equal products share factors, by the order in which they are taken."""
    for first in islice(permutations(left), ORDERS):
        for second in islice(permutations(right), ORDERS):
            yield _refined(first, second)


def _refined(left: Sequence[Term], right: Sequence[Term]) -> list[tuple[Term, Terms]]:
    """
    The terms of two equal products, each as the product of what it shares with those of the other side.

    >>> _refined([12, 64], [6, 128])
    [(12, (6, 2)), (64, (64,)), (6, (6,)), (128, (2, 64))]
    """
    rest = [_value(term) for term in right]
    columns: list[list[Term]] = [[] for _ in right]
    rows: list[tuple[Term, Terms]] = []
    for term in left:
        remaining, row = _value(term), list[Term]()
        for place, other in enumerate(right):
            shared = math.gcd(remaining, rest[place])
            if shared > 1:
                counted = Count(shared) if isinstance(term, Count) or isinstance(other, Count) else shared
                row.append(counted)
                columns[place].append(counted)
                remaining, rest[place] = remaining // shared, rest[place] // shared
        rows.append((term, tuple(row)))
    return [*rows, *((term, tuple(column)) for term, column in zip(right, columns, strict=True))]


class _Attempt:
    """One solution, mended until it is right."""

    def __init__(self, sizes: Sizes, everything: list[int]) -> None:
        self.sizes = sizes
        self.everything = everything
        self.parts: dict[int, int] = {}
        self.least: dict[int, int] = {}
        self.exact = dict(sizes.exact)
        self.values: dict[int, int] = {}
        self.linear: dict[int, tuple[Terms, Terms]] = {}

    def is_right(self) -> bool:
        """Makes values, and whether nothing had to be mended."""
        self.linear = {}
        self._choose_unknowns()
        self.values = {}
        free = self._assigned()
        if free is not None:
            self._pin(free)
            return False
        for size in self.everything:
            self._evaluate(size)
        return not (self._mended_parts() or self._mended_bounds() or self._mended_sums())

    def _is_free(self, size: int) -> bool:
        return size > 2 and not (size in self.sizes.pinned or size in self.sizes.products or size in self.linear)

    def _choose_unknowns(self) -> None:
        """For each sum the size that follows from the others."""
        for left, right in self.sizes.sums:
            count = Counter(self._numbers(left))
            count.subtract(self._numbers(right))
            unknowns = [size for size, times in count.items() if abs(times) == 1 and self._is_free(size)]
            for size in sorted(unknowns, key=lambda size: (size in self.exact, -size)):
                others = [other for other, times in count.items() if times and other != size]
                if not any(size in self._below(other) for other in others):
                    sides: tuple[list[Term], list[Term]] = ([], [])
                    for other in others:
                        sides[(count[other] > 0) == (count[size] > 0)].extend([other] * abs(count[other]))
                    self.linear[size] = (tuple(sides[0]), tuple(sides[1]))
                    break

    @staticmethod
    def _numbers(terms: Terms) -> list[int]:
        return [_value(term) for term in terms]

    def _under(self, size: int) -> list[int]:
        """The sizes of which a size is made, one step down."""
        if size in self.sizes.pinned:
            return []
        terms = self.sizes.products.get(size)
        if terms is None and size in self.linear:
            terms = (*self.linear[size][0], *self.linear[size][1])
        return [term for term in terms or () if not isinstance(term, Count)]

    def _below(self, size: int) -> set[int]:
        """All sizes of which a size is made, itself among them."""
        found, stack = {size}, [size]
        while stack:
            new = [other for other in self._under(stack.pop()) if other not in found]
            found.update(new)
            stack += new
        return found

    def _leaves(self, size: int) -> list[int]:
        """The free sizes of which a size is made, largest first."""
        return sorted((other for other in self._below(size) if self._is_free(other)), reverse=True)

    def _assigned(self) -> int | None:
        """Values for the free sizes; a size for which there is none."""
        used = {size for size in self.sizes.pinned if size > 1}
        for size in self.everything:
            if not self._is_free(size):
                continue
            parts = math.lcm(self.parts.get(size, 1), self.sizes.parts.get(size, 1))
            least = max(self.least.get(size, 2), min(2 * parts, size))
            first = -(-least // parts) * parts
            choices = [value for value in range(first, first + CHOICES * parts, parts) if value <= size]
            if size in self.exact:
                choices = [self.exact[size]]
            if not choices:
                return size
            self.values[size] = next((value for value in choices if value not in used), choices[0])
            used.add(self.values[size])
        return None

    def _evaluate(self, size: int) -> int:
        if size not in self.values:
            if size <= 2 or size in self.sizes.pinned:
                self.values[size] = size
            elif size in self.sizes.products:
                self.values[size] = math.prod(map(self._term, self.sizes.products[size]))
            else:
                plus, minus = self.linear[size]
                self.values[size] = sum(map(self._term, plus)) - sum(map(self._term, minus))
        return self.values[size]

    def _term(self, term: Term) -> int:
        return term.number if isinstance(term, Count) else self._evaluate(term)

    def _pin(self, *sizes: int) -> None:
        for size in sizes:
            self.exact.pop(size, None)
            self.sizes.pin(size)

    def _mended_parts(self) -> bool:
        """Whether a size had to be made divisible."""
        mended = False
        for size, parts in self.sizes.parts.items():
            missing = parts // math.gcd(parts, self.values[size])
            if missing == 1:
                continue
            mended = True
            leaves = self._leaves(size)
            if not leaves or any(leaf in self.exact for leaf in leaves):
                self._forget(size, leaves)
            elif size in self.sizes.products:
                leaf = next((one for one in leaves if one % (self.parts.get(one, 1) * missing) == 0), leaves[0])
                self.parts[leaf] = self.parts.get(leaf, 1) * missing
            else:
                self.parts.update((leaf, math.lcm(self.parts.get(leaf, 1), parts)) for leaf in leaves)
        return mended

    def _forget(self, size: int, leaves: Sequence[int]) -> None:
        """Gives up what sizes should be; or the size."""
        wished = [leaf for leaf in leaves if leaf in self.exact]
        for leaf in wished:
            del self.exact[leaf]
        if not wished:
            self._pin(size, *self._below(size))

    def _mended_bounds(self) -> bool:
        """Whether a size had to grow: to two elements, or beyond another."""
        small = [(size, 2) for size in self.everything if size > 1 and self.values[size] < 2]
        small += [(b, self.values[a] + 1) for a, b in self.sizes.orders if self.values[a] >= self.values[b]]
        for size, least in small:
            leaves = self._growing(size)
            if not leaves or leaves[0] in self.exact:
                self._forget(size, leaves)
                continue
            leaf = leaves[0]
            self.least[leaf] = min(leaf, max(self.values[leaf] + 1, least if leaf == size else 2 * self.values[leaf]))
            if self.values[leaf] == leaf:
                self._pin(size, *(a for a, b in self.sizes.orders if b == size), *self._below(size))
        return bool(small)

    def _growing(self, size: int) -> list[int]:
        """The free sizes with which a size grows, largest first."""
        if size in self.linear:
            plus, minus = self.linear[size]
            less = {leaf for term in minus for leaf in self._leaves(_value(term))}
            more = {leaf for term in plus for leaf in self._leaves(_value(term))}
            return sorted(more - less or more, reverse=True)
        return self._leaves(size)

    def _mended_sums(self) -> bool:
        """Whether a sum does not hold, or only with a size that grew: its sizes are pinned."""
        wrong = [
            (left, right)
            for left, right in self.sizes.sums
            if sum(map(self._term, left)) != sum(map(self._term, right))
            or any(self._term(term) > _value(term) for term in (*left, *right))
        ]
        for left, right in wrong:
            self._pin(*self._numbers(left), *self._numbers(right))
        return bool(wrong)
