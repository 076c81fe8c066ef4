"""What several expansions do: a dim cut into the parts that devices hold, and small results brought together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.types import shape_of, tensor, tensor_type
from shardwright.rules.expansion import Axes, Dims, Site


def in_parts(site: Site, value: SSAValue, dims: Dims, cut: Mapping[int, int]) -> tuple[SSAValue, Dims]:
    """
    The value with each dim of `cut` made two: its parts, which take the dim's axes, and what is in a part.

    `cut` gives the number of parts.
    """
    shape: list[int] = []
    new: list[Axes] = []
    for dim, (size, axes) in enumerate(zip(shape_of(value), dims, strict=True)):
        parts = cut.get(dim)
        shape += [size] if parts is None else [parts, size // parts]
        new += [axes] if parts is None else [axes, ()]
    op = stablehlo.ReshapeOp(value, tensor(tuple(shape), tensor_type(value).element_type))
    return site.put(op, tuple(new))[0], tuple(new)


@dataclass(frozen=True)
class Meeting:
    """
    How partial results of the same dims, one on each of many devices, are brought together to be combined.

    Every device may be sent all of them; or, where a dim that stays has room, each device a share of that dim, which
    it combines for the others. Then half of what is sent are results.
    """

    sizes: tuple[int, ...]
    """The dims that stay."""
    factors: tuple[int | None, ...]
    """Their factors."""

    def place(self, parts: Mapping[int, int], count: int, share: float) -> int | None:
        """
        The dim that is shared out over `count` devices, or None when all receive everything.

        `share` is what the results weigh that a device needs, next to its candidates.
        """
        if 1 + share >= count:
            return None
        for dim, (size, factor) in enumerate(zip(self.sizes, self.factors, strict=True)):
            if (size // (1 if factor is None else parts.get(factor, 1))) % count == 0:
                return dim
        return None

    def price(self, parts: Mapping[int, int], count: int, share: float, candidates: float) -> float:
        """Bytes sent per device, from those of its candidates."""
        if self.place(parts, count, share) is None:
            return (count - 1) * candidates
        return (count - 1) / count * (1 + share) * candidates

    def spread(self, dims: Sequence[Axes], place: int | None, axes: Axes) -> Dims:
        """The dims that stay while results are combined."""
        return tuple((*mine, *axes) if dim == place else tuple(mine) for dim, mine in enumerate(dims))
