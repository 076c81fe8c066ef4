"""Which dims a gather takes from where, and a scatter puts where: the numbers that both ops carry as attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from shardwright.dialects.stablehlo.parts.attributes import parse_dims, parse_fields, parse_integer

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


_GATHER_FIELDS = (
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
)
_SCATTER_FIELDS = (
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
)


def _parse_numbers(parser: AttrParser, names: Sequence[str], make: type[NumbersT]) -> NumbersT:
    return make(**parse_fields(parser, dict.fromkeys(names, parse_dims) | {"index_vector_dim": parse_integer}))


def _numbers_text(numbers: GatherDimensions | ScatterDimensions, names: Sequence[str]) -> str:
    """The fields that are not empty, and not zero: upstream leaves the others out."""
    lists = [(name, list(getattr(numbers, name))) for name in names]
    parts = [f"{name} = {dims}" for name, dims in lists if dims]
    parts += [f"index_vector_dim = {numbers.index_vector_dim}"] if numbers.index_vector_dim else []
    return f"<{', '.join(parts)}>"


@irdl_attr_definition
class GatherDimensionsAttr(Data[GatherDimensions]):
    """`#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], ...>`."""

    name = "stablehlo.gather"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> GatherDimensions:
        return _parse_numbers(parser, _GATHER_FIELDS, GatherDimensions)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(_numbers_text(self.data, _GATHER_FIELDS))


@irdl_attr_definition
class ScatterDimensionsAttr(Data[ScatterDimensions]):
    """`#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], ...>`."""

    name = "stablehlo.scatter"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ScatterDimensions:
        return _parse_numbers(parser, _SCATTER_FIELDS, ScatterDimensions)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(_numbers_text(self.data, _SCATTER_FIELDS))


INDEXING_ATTRIBUTES: list[type[Attribute]] = [GatherDimensionsAttr, ScatterDimensionsAttr]
