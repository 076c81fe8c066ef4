"""Random layouts that split evenly: axes in any order, whole or in parts, dims open now and then."""

from __future__ import annotations

import re
from random import Random

Shape = tuple[int, ...]


def random_layout(random: Random, mesh: dict[str, int], shape: Shape) -> str:
    """A random layout of a shape, in Shardy's text."""
    pieces = [piece for name, size in mesh.items() for piece in _pieces(random, name, size)]
    random.shuffle(pieces)
    dims: list[list[str]] = [[] for _ in shape]
    parts = [1 for _ in shape]
    for text, size in pieces:
        first_part = text.replace(f":(2){size}", ":(1)2")  # Shardy wants the two parts in a row as one
        fitting = [
            dim
            for dim, extent in enumerate(shape)
            if extent % (parts[dim] * size) == 0 and dims[dim][-1:] != [first_part]
        ]
        if fitting and random.random() < 0.7:
            dim = random.choice(fitting)
            dims[dim].append(text)
            parts[dim] *= size
    return f"[{', '.join(_dim(random, names) for names in dims)}]"


def _pieces(random: Random, name: str, size: int) -> list[tuple[str, int]]:
    """A mesh axis as a whole, or cut into two sub-axes, each with its size."""
    if size < 4 or size % 2 or random.random() < 0.6:
        return [(f'"{name}"', size)]
    return [(f'"{name}":(1)2', 2), (f'"{name}":(2){size // 2}', size // 2)]


def _dim(random: Random, names: list[str]) -> str:
    """One dim of a layout, now and then open."""
    items = names + ["?"] * (random.random() < 0.2)
    return "{" + ", ".join(items) + "}"


def rich_layout(
    random: Random,
    mesh: dict[str, int],
    shape: Shape,
    *,
    priorities: bool = False,
    descending: bool | None = False,
    uneven: float = 0.0,
) -> str:
    """
    A random layout with all that Shardy can say: sub-axes of any cut, open dims, priorities, axes withheld.

    Axes are cut by their smallest prime first, or with `descending` by their largest, so that any two cuts nest; where
    it is None, now in one way and now in the other, so that parts cross. So many of the axes as `uneven` says split a
    dim whether it divides or not.

    >>> rich_layout(Random(3), {"x": 12, "y": 2}, (12, 4))
    '[{"x":(1)3}, {"y", "x":(3)2}]'
    """
    largest = random.random() < 0.5 if descending is None else descending
    cuts = [(name, before, size) for name, whole in mesh.items() for before, size in _cuts(random, whole, largest)]
    random.shuffle(cuts)
    dims: list[list[tuple[str, int, int]]] = [[] for _ in shape]
    parts = [1 for _ in shape]
    for name, before, size in cuts:
        anywhere = uneven > 0 and random.random() < uneven
        fitting = [
            dim
            for dim, extent in enumerate(shape)
            if (anywhere or extent % (parts[dim] * size) == 0) and not _goes_on(dims[dim], name, before)
        ]
        if fitting and random.random() < 0.7:
            dim = random.choice(fitting)
            dims[dim].append((name, before, size))
            parts[dim] *= size
    used = {name for dim in dims for name, _, _ in dim}
    written = [_rich_dim(random, [_axis(mesh, *item) for item in dim], priorities) for dim in dims]
    free = [name for name in mesh if name not in used and random.random() < 0.15]
    withheld = f", replicated={{{', '.join(_quoted(free))}}}" if free else ""
    return f"[{', '.join(written)}]{withheld}"


def closed_layout(layout: str) -> str:
    """
    A layout without what propagation may add or what steers it.

    >>> closed_layout('[{"x", ?}, {?}p1], replicated={"y"}')
    '[{"x"}, {}]'
    """
    text = layout.partition(", replicated=")[0]
    return re.sub(r"\}p\d", "}", text).replace(", ?}", "}").replace("{?}", "{}")


def _cuts(random: Random, size: int, descending: bool) -> list[tuple[int, int]]:
    """An axis as a whole or in sub-axes: what is before each, and its size."""
    cuts, before, taken = list[tuple[int, int]](), 1, 1
    for prime in sorted(_primes(size), reverse=descending):
        taken *= prime
        if random.random() < 0.25:
            cuts.append((before, taken))
            before, taken = before * taken, 1
    return [*cuts, (before, taken)] if taken > 1 or not cuts else cuts


def _primes(size: int) -> list[int]:
    """The prime factors of a size."""
    for prime in range(2, size + 1):
        if size % prime == 0:
            return [prime, *_primes(size // prime)]
    return []


def _goes_on(dim: list[tuple[str, int, int]], name: str, before: int) -> bool:
    """Whether a sub-axis follows its own major neighbour: Shardy wants the two as one."""
    return bool(dim) and dim[-1][0] == name and dim[-1][1] * dim[-1][2] == before


def _axis(mesh: dict[str, int], name: str, before: int, size: int) -> str:
    return f'"{name}"' if size == mesh[name] else f'"{name}":({before}){size}'


def _quoted(names: list[str]) -> list[str]:
    return [f'"{name}"' for name in names]


def _rich_dim(random: Random, names: list[str], priorities: bool) -> str:
    items = names + ["?"] * (random.random() < 0.3)
    priority = f"p{random.randint(0, 2)}" if priorities and items and random.random() < 0.2 else ""
    return f"{{{', '.join(items)}}}{priority}"
