"""The Shardy dialect: its meshes, shardings and constraints; its other ops are in `ops`."""

from shardwright.dialects.sdy.meshes import (
    ATTRIBUTES,
    OPS,
    DimSharding,
    MeshAttr,
    MeshOp,
    SdyMesh,
    Sharding,
    ShardingAttr,
    ShardingConstraintOp,
    ShardingPerValueAttr,
    parse_axis,
    parse_mesh,
    parse_mesh_axis,
    parse_priority,
    parse_sharding,
)

__all__ = [
    "ATTRIBUTES",
    "OPS",
    "DimSharding",
    "MeshAttr",
    "MeshOp",
    "SdyMesh",
    "Sharding",
    "ShardingAttr",
    "ShardingConstraintOp",
    "ShardingPerValueAttr",
    "parse_axis",
    "parse_mesh",
    "parse_mesh_axis",
    "parse_priority",
    "parse_sharding",
]
