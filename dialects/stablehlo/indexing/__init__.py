"""Ops that find elements by computed indices, the numbers that they carry, and the ops that they make up."""

from shardwright.dialects.stablehlo.indexing.ops import (
    INDEXING_OPS,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    GatherOp,
    ScatterOp,
    Shape,
    check_indices,
    check_scatter,
    gather_shape,
)

__all__ = [
    "INDEXING_OPS",
    "DynamicSliceOp",
    "DynamicUpdateSliceOp",
    "GatherOp",
    "ScatterOp",
    "Shape",
    "check_indices",
    "check_scatter",
    "gather_shape",
]
