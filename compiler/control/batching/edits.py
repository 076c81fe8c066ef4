"""How the attributes of ops change when their operands and results have one more dim in front."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute

from shardwright.dialects.stablehlo.parts.constants import constant_value
from shardwright.dialects.stablehlo.windows import pairs
from shardwright.dialects.types import integers

Edit: TypeAlias = "Callable[[Any, int], Attribute]"
"""The attribute for a dim of some size in front."""


def _counted_on(attribute: Any, size: int) -> Attribute:
    """The number of a dim."""
    return IntegerAttr(attribute.value.data + 1, i64)


def _all_counted_on(attribute: Any, size: int) -> Attribute:
    """Numbers of dims."""
    return integers(tuple(dim + 1 for dim in attribute.get_values()))


def _led(attribute: Any, size: int) -> Attribute:
    """For each dim the number of one: the first stays the first."""
    return integers((0, *(dim + 1 for dim in attribute.get_values())))


def _preceded(number: int) -> Edit:
    """A number for each dim."""
    return lambda attribute, size: integers((number, *attribute.get_values()))


def _whole(attribute: Any, size: int) -> Attribute:
    """For each dim where it ends."""
    return integers((size, *attribute.get_values()))


def _unpadded(attribute: Any, size: int) -> Attribute:
    """For each dim what stands before and behind it."""
    return pairs([[0, 0], *constant_value(attribute).tolist()])


_WINDOWS: Mapping[str, Edit] = {
    "window_dimensions": _preceded(1),
    "window_strides": _preceded(1),
    "base_dilations": _preceded(1),
    "window_dilations": _preceded(1),
    "padding": _unpadded,
}

EDITS: Mapping[str, Mapping[str, Edit]] = {
    "dtensor.roll": {"dimension": _counted_on},
    "stablehlo.broadcast_in_dim": {"broadcast_dimensions": _led},
    "stablehlo.concatenate": {"dimension": _counted_on},
    "stablehlo.pad": dict.fromkeys(("edge_padding_low", "edge_padding_high", "interior_padding"), _preceded(0)),
    "stablehlo.reduce": {"dimensions": _all_counted_on},
    "stablehlo.reduce_window": _WINDOWS,
    "stablehlo.reverse": {"dimensions": _all_counted_on},
    "stablehlo.select_and_scatter": _WINDOWS,
    "stablehlo.slice": {"start_indices": _preceded(0), "limit_indices": _whole, "strides": _preceded(1)},
    "stablehlo.sort": {"dimension": _counted_on},
    "stablehlo.transpose": {"permutation": _led},
}
"""For each op that has attributes about dims, how these change. Whether that is right its sharding row is asked."""

DIMLESS = frozenset(
    """
comparison_direction compare_type result_accuracy exponent_bits mantissa_bits operandSegmentSizes is_stable
k fft_type fft_length lower left_side unit_diagonal transpose_a call_target_name backend_config
api_version by
""".split()
)
"""Attributes that say nothing about dims, or count them from the end."""

SCALARS: Mapping[str, bool] = {
    "stablehlo.clamp": True,
    "stablehlo.pad": False,
    "stablehlo.reduce": False,
    "stablehlo.reduce_window": False,
    "stablehlo.select": True,
    "stablehlo.select_and_scatter": False,
}
"""Ops with scalars beside other operands, and whether there may be an array in the place of such a scalar."""
