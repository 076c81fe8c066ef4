"""`LayoutSpec`: what the IR says of one tensor's distribution, with the mesh as a symbol."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from shardwright.layout.axes import Axis, symbol

REDUCTION_KINDS = ("sum", "max", "min", "prod", "and", "or")
"""How partial results over mesh axes combine."""


AUTO = "auto"
"""What is written for a layout that is to be chosen."""


@dataclass(frozen=True, slots=True)
class LayoutSpec:
    """
    For each dim the mesh axes that split it, major to minor, and the axes that hold partial results.

    `mesh` is the mesh's symbol name. `open_dims` may still be split further by propagation. `partial` axes
    hold values that `kind` (one of `REDUCTION_KINDS`) still has to combine. An axis in neither place is
    replicated. Instances are immutable and hash once.

    Two fields guide propagation only, and are gone afterwards: `withheld` axes (written `replicated`) may not be added
    to open dims; `priorities`, one number for each dim where any is given, say in which round a dim starts to spread.

    >>> print(LayoutSpec("mesh", ((Axis("batch"),), ()), partial=(Axis("model"),), kind="sum"))
    <@mesh, [{"batch"}, {}], unreduced=sum{"model"}>
    """

    mesh: str
    dims: tuple[tuple[Axis, ...], ...]
    open_dims: frozenset[int] = frozenset()
    partial: tuple[Axis, ...] = ()
    kind: str = ""
    withheld: tuple[Axis, ...] = ()
    priorities: tuple[int, ...] = ()
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        content = (self.mesh, self.dims, self.open_dims, self.partial, self.kind, self.withheld, self.priorities)
        object.__setattr__(self, "_hash", hash(content))

    def __hash__(self) -> int:
        return self._hash

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.dims)

    @property
    def closed(self) -> bool:
        """Whether propagation has nothing left to decide."""
        return not self.open_dims

    @property
    def replicated(self) -> bool:
        """Whether every device holds the whole, finished value."""
        return not self.partial and not any(self.dims)

    def axes(self) -> tuple[Axis, ...]:
        """Every axis that splits a dim or is partial, in the order written."""
        return tuple(axis for dim in self.dims for axis in dim) + self.partial

    def with_dims(self, dims: tuple[tuple[Axis, ...], ...]) -> LayoutSpec:
        """The same mesh and partial axes with other dims, closed."""
        return LayoutSpec(self.mesh, dims, frozenset(), self.partial, self.kind)

    def with_partial(self, partial: tuple[Axis, ...], kind: str) -> LayoutSpec:
        """The same dims with other partial axes."""
        kind = kind if partial else ""
        return LayoutSpec(self.mesh, self.dims, self.open_dims, partial, kind, self.withheld, self.priorities)

    def close(self) -> LayoutSpec:
        """The same layout with no open dims, and nothing else that guides propagation."""
        if not (self.open_dims or self.withheld or self.priorities):
            return self
        return LayoutSpec(self.mesh, self.dims, frozenset(), self.partial, self.kind)

    def __str__(self) -> str:
        return f"<{symbol(self.mesh)}, {self.body()}>"

    def body(self) -> str:
        """The part after the mesh: `[{"batch"}, {?}], unreduced=sum{"model"}`."""
        dims = [_dim_text(dim, index in self.open_dims) for index, dim in enumerate(self.dims)]
        if self.priorities:
            pairs = zip(dims, self.priorities, strict=True)
            dims = [dim + (f"p{priority}" if priority else "") for dim, priority in pairs]
        text = f"[{', '.join(dims)}]"
        if self.partial:
            text += f", unreduced={self.kind}{{{', '.join(map(str, self.partial))}}}"
        if self.withheld:
            text += f", replicated={{{', '.join(map(str, self.withheld))}}}"
        return text

    def brief(self, shape: tuple[int | None, ...], dtype: str) -> str:
        """
        The form for people; `?` says that a dim may still be split further, None is a dim of any size.

        >>> LayoutSpec("mesh", ((Axis("batch"),), ()), frozenset([1])).brief((16, 64), "f32")
        'f32[16@batch, 64@?]'
        """
        dims = [
            "@".join([str(size), *(axis.brief() for axis in axes), *(["?"] if index in self.open_dims else [])])
            for index, (size, axes) in enumerate(zip(shape, self.dims, strict=True))
        ]
        partial = f"{{{self.kind}@{','.join(axis.brief() for axis in self.partial)}}}" if self.partial else ""
        return f"{dtype}[{', '.join(dims)}]{partial}"


def _dim_text(axes: tuple[Axis, ...], is_open: bool) -> str:
    items = [str(axis) for axis in axes] + (["?"] if is_open else [])
    return "{" + ", ".join(items) + "}"


@cache
def replicated_spec(mesh: str, rank: int) -> LayoutSpec:
    """The closed layout that splits nothing."""
    return LayoutSpec(mesh, ((),) * rank)
