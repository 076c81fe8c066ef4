"""Which dims a gather takes from where, and a scatter puts where: the numbers that both ops carry as attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar, TypeVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser

from shardwright.dialects.stablehlo.parts.attributes import fields_text, parse_dims, parse_fields, parse_integer
from shardwright.dialects.text.data import Reader, TextAttr, Writer

NumbersT = TypeVar("NumbersT", "GatherDimensions", "ScatterDimensions")


@dataclass(frozen=True)
class GatherDimensions:
    """
    Which dims a gather takes from where.

    `offset_dims` are the result's dims that run within a slice; the others run over the indices. The operand's
    collapsed and batching dims are not among them: slices have one element along these.
    """

    offset_dims: tuple[int, ...] = ()
    collapsed_slice_dims: tuple[int, ...] = ()
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()
    start_index_map: tuple[int, ...] = ()
    index_vector_dim: int = 0

    def window_dims(self, rank: int) -> tuple[int, ...]:
        """
        The operand's dims that `offset_dims` stand for, in their order.

        >>> GatherDimensions(offset_dims=(2,), collapsed_slice_dims=(0,)).window_dims(2)
        (1,)
        """
        gone = {*self.collapsed_slice_dims, *self.operand_batching_dims}
        return tuple(dim for dim in range(rank) if dim not in gone)

    def batch_dims(self, rank: int) -> tuple[int, ...]:
        """The dims of a result of this rank that run over the indices, in the order of the indices' dims."""
        return tuple(dim for dim in range(rank) if dim not in self.offset_dims)


@dataclass(frozen=True)
class ScatterDimensions:
    """
    Which dims a scatter puts where: the inverse of a gather.

    `update_window_dims` are the updates' dims that run within a window; the others run over the indices. The inputs'
    inserted and batching dims are not among them: windows have one element along these.
    """

    update_window_dims: tuple[int, ...] = ()
    inserted_window_dims: tuple[int, ...] = ()
    input_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()
    scatter_dims_to_operand_dims: tuple[int, ...] = ()
    index_vector_dim: int = 0

    def window_dims(self, rank: int) -> tuple[int, ...]:
        """The inputs' dims that `update_window_dims` stand for, in their order."""
        gone = {*self.inserted_window_dims, *self.input_batching_dims}
        return tuple(dim for dim in range(rank) if dim not in gone)

    def batch_dims(self, rank: int) -> tuple[int, ...]:
        """The dims of updates of this rank that run over the indices, in the order of the indices' dims."""
        return tuple(dim for dim in range(rank) if dim not in self.update_window_dims)


def _reader(make: type[NumbersT]) -> Callable[[AttrParser], NumbersT]:
    """Reads a dataclass whose fields are lists of dims, and the one `index_vector_dim`."""
    readers = dict.fromkeys((field.name for field in fields(make)), parse_dims) | {"index_vector_dim": parse_integer}
    return lambda parser: make(**parse_fields(parser, readers))


def _text(numbers: GatherDimensions | ScatterDimensions) -> str:
    return fields_text(vars(numbers))


@irdl_attr_definition
class GatherDimensionsAttr(TextAttr[GatherDimensions]):
    """`#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], ...>`."""

    name = "stablehlo.gather"
    READ: ClassVar[Reader] = staticmethod(_reader(GatherDimensions))
    TEXT: ClassVar[Writer] = staticmethod(_text)


@irdl_attr_definition
class ScatterDimensionsAttr(TextAttr[ScatterDimensions]):
    """`#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], ...>`."""

    name = "stablehlo.scatter"
    READ: ClassVar[Reader] = staticmethod(_reader(ScatterDimensions))
    TEXT: ClassVar[Writer] = staticmethod(_text)


INDEXING_ATTRIBUTES: list[type[Attribute]] = [GatherDimensionsAttr, ScatterDimensionsAttr]
