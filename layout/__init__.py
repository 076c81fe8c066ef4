"""Meshes and layouts as plain data: axes, layouts as the IR and as users write them, costs and plans of relayouts."""

from shardwright.layout.axes import Axis
from shardwright.layout.forms.op_sharding import XlaOpSharding
from shardwright.layout.layout import Layout
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.topology import Link, Topology
from shardwright.layout.spec import LayoutSpec

__all__ = ["Axis", "Layout", "LayoutSpec", "Link", "Mesh", "Topology", "XlaOpSharding"]
