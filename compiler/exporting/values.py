"""Layouts and attributes as Shardy writes them."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import sdy
from shardwright.dialects.text.locations import fault
from shardwright.layout.spec import LayoutSpec

SHARDING = "sdy.sharding"
"""The attribute that holds shardings, on arguments, results and ops."""

OURS = "dtensor."
"""Attributes of this dialect mean nothing to other readers."""


def sharding(spec: LayoutSpec, place: Operation | SSAValue) -> sdy.Sharding:
    """A layout as Shardy writes it; SW0720 for partial results that are no sums."""
    if spec.partial and spec.kind != "sum":
        raise fault(
            "SW0720",
            f"the layout {spec} has partial results of kind {spec.kind}, which Shardy cannot state",
            place,
            help="give the value a layout without partial results",
        )
    dims = tuple(sdy.DimSharding(axes, number in spec.open_dims) for number, axes in enumerate(spec.dims))
    return sdy.Sharding(spec.mesh, dims, unreduced=spec.partial)
