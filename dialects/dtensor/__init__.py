"""
The `dtensor` dialect: meshes and layouts, relayouts and collectives.

What it says of manual computations, hints, gradients and transfers is beside.
"""

from shardwright.dialects.dtensor.ops import (
    ATTRIBUTES,
    COLLECTIVES,
    OPS,
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    AllToAllOp,
    AxisIndexOp,
    CollectiveOp,
    CollectivePermuteOp,
    ConstraintOp,
    DimAxes,
    ExchangeOp,
    MeshOp,
    ReduceScatterOp,
    Relaid,
    RelayoutOp,
    UnreduceOp,
    UnscatterOp,
    WindowOp,
    layout_of,
    mesh_of,
    meshes,
    with_layout,
)

__all__ = [
    "ATTRIBUTES",
    "COLLECTIVES",
    "OPS",
    "AllGatherOp",
    "AllReduceOp",
    "AllSliceOp",
    "AllToAllOp",
    "AxisIndexOp",
    "CollectiveOp",
    "CollectivePermuteOp",
    "ConstraintOp",
    "DimAxes",
    "ExchangeOp",
    "MeshOp",
    "ReduceScatterOp",
    "Relaid",
    "RelayoutOp",
    "UnreduceOp",
    "UnscatterOp",
    "WindowOp",
    "layout_of",
    "mesh_of",
    "meshes",
    "with_layout",
]
