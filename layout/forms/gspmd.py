"""
GSPMD's shardings, as text: `{devices=[2,1,4]<=[8] last_tile_dim_replicate}`, and the mesh axes that they are made of.

A sharding lists devices, tile by tile. The list is read as digits of device numbers, each a stride and a size, which
are then found as axes of a mesh, or make one up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from shardwright.layout.axes import Axis, merge_adjacent
from shardwright.layout.forms.groups import Digits, axes_of_digits, digits_of
from shardwright.layout.mesh import Mesh


@dataclass(frozen=True)
class Tiling:
    """
    One sharding: `tiles` parts along each dim, then groups of devices of each kind in `rest`, in the order of `digits`.

    `whole` names what it is instead: `replicated`, `manual`, `maximal` or `unknown`.

    >>> tiling = Tiling.parse("{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}")
    >>> tiling.tiles, tiling.rest, tiling.digits
    ((2, 1, 4), ('replicated',), ((1, 2), (2, 4)))
    """

    tiles: tuple[int, ...] = ()
    digits: tuple[Digits, ...] = ()
    rest: tuple[str, ...] = ()
    whole: str = ""

    @staticmethod
    def parse(text: str) -> Tiling:
        """Reads a sharding of one value; `ValueError` when it is none."""
        match = _SHARDING.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text} is no sharding")
        if match["whole"]:
            return Tiling(whole=match["whole"])
        tiles = _numbers(match["tiles"])
        rest = tuple(part.strip() for part in match["rest"].split(",")) if match["rest"] else ()
        if match["replicate"]:
            rest = ("replicated",)
        digits = _listed(match["list"]) if match["list"] else _counted(match["iota"], match["order"])
        devices = math.prod(size for _, size in digits)
        if math.prod(tiles) != devices or len(rest) > len(tiles) or not set(rest) <= {"replicated", "manual"}:
            raise ValueError(f"{text} has {math.prod(tiles)} tiles for {devices} devices")
        return Tiling(tiles, digits, rest)

    @property
    def devices(self) -> int:
        """The number of devices; 0 where the sharding does not say."""
        return math.prod(self.tiles) if self.tiles else 0

    def parts(self) -> list[list[Digits]]:
        """The digits of each tile dim, major to minor; `ValueError` where a tile begins inside of a digit."""
        waiting = list(self.digits)
        found: list[list[Digits]] = []
        for tiles in self.tiles:
            mine: list[Digits] = []
            left = tiles
            while left > 1:
                stride, size = waiting.pop(0)
                taken = math.gcd(size, left)
                if taken < size and taken < left:
                    raise ValueError(f"{tiles} tiles begin inside of {size} devices")
                mine.append((stride * (size // taken), taken))
                if taken < size:
                    waiting.insert(0, (stride, size // taken))
                left //= taken
            found.append(mine)
        return found

    def axes(self, mesh: Mesh) -> tuple[list[tuple[Axis, ...]], tuple[Axis, ...]]:
        """The axes of each dim of the value, and the manual ones; `ValueError` when the mesh has no such axes."""
        if self.whole == "manual":
            return [], tuple(map(Axis, mesh.sizes))
        if self.devices not in (0, mesh.size):
            raise ValueError(f"it is for {self.devices} devices, but the mesh {mesh} has {mesh.size}")
        found = [_axes(digits, mesh) for digits in self.parts()]
        rank = len(found) - len(self.rest)
        manual = [axis for kind, axes in zip(self.rest, found[rank:], strict=True) for axis in axes if kind == "manual"]
        return found[:rank], tuple(manual)


def split_tuple(text: str) -> list[str]:
    """
    The shardings of several values.

    >>> split_tuple("{{replicated}, {devices=[2]<=[2]}}"), split_tuple("{replicated}")
    (['{replicated}', '{devices=[2]<=[2]}'], ['{replicated}'])
    """
    inner = text.strip()[1:-1].strip()
    if not inner.startswith("{"):
        return [text.strip()]
    found, depth, start = list[str](), 0, 0
    for at, letter in enumerate(inner):
        depth += (letter == "{") - (letter == "}")
        if letter == "{" and depth == 1:
            start = at
        if letter == "}" and depth == 0:
            found.append(inner[start : at + 1])
    return found


def mesh_of_tilings(tilings: Iterable[Tiling], name: str = "mesh") -> Mesh:
    """
    The mesh with the fewest axes that all shardings can be written on; `ValueError` when there is none.

    >>> mesh_of_tilings([Tiling.parse("{devices=[4,2]<=[8]}"), Tiling.parse("{devices=[8,1]<=[8]}")])
    Mesh(axis0=4, axis1=2)
    """
    marks, devices = {1}, set[int]()
    for tiling in tilings:
        devices |= {tiling.devices} - {0}
        marks |= {mark for digits in tiling.parts() for stride, size in digits for mark in (stride, stride * size)}
    if len(devices) > 1:
        raise ValueError(f"shardings are for different numbers of devices: {', '.join(map(str, sorted(devices)))}")
    ordered = sorted(marks, reverse=True)
    sizes: list[int] = []
    for high, low in pairwise(ordered):
        if high % low:
            raise ValueError(f"shardings count devices in steps of {high} and of {low}, which do not nest")
        sizes.append(high // low)
    return Mesh([(f"axis{number}", size) for number, size in enumerate(sizes)], name=name)


def _axes(digits: Sequence[Digits], mesh: Mesh) -> tuple[Axis, ...]:
    found: list[Axis] = []
    for stride, size in digits:
        axes = axes_of_digits(stride, size, mesh)
        if axes is None:
            raise ValueError(f"no axes of the mesh {mesh} count {size} devices in steps of {stride}")
        found += axes
    return merge_adjacent(found, mesh.sizes)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


def _counted(iota: str, order: str | None) -> tuple[Digits, ...]:
    """The digits of `[4,2]T(1,0)`: the numbers from 0 on in that shape, transposed."""
    shape = _numbers(iota)
    places = _numbers(order) if order else tuple(range(len(shape)))
    if sorted(places) != list(range(len(shape))):
        raise ValueError(f"({order}) does not order the dims of [{iota}]")
    return tuple((math.prod(shape[place + 1 :]), shape[place]) for place in places)


def _listed(text: str) -> tuple[Digits, ...]:
    """The digits of a list of all devices."""
    devices = _numbers(text)
    digits = digits_of(devices) if devices[0] == 0 else None
    if digits is None or sorted(devices) != list(range(len(devices))):
        raise ValueError(f"the devices {text} do not count in regular steps from 0")
    return tuple(reversed(digits))


_SHARDING = re.compile(
    r"\{(?:(?P<whole>replicated|manual|unknown|maximal)(?: device=\d+)?"
    r"|devices=\[(?P<tiles>[\d,]+)\](?:<=\[(?P<iota>[\d,]+)\](?:T\((?P<order>[\d,]+)\))?|(?P<list>[\d,]+))"
    r"(?P<replicate> last_tile_dim_replicate)?(?: last_tile_dims=\{(?P<rest>[^{}]*)\})?)\}"
)
