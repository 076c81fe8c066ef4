"""`shardwright.dtensor`: what the RFC calls `tf.dtensor`, under the same names."""

from shardwright.frontends.functions import DTensor, pack, relayout, relayout_like, unpack
from shardwright.layout import Layout, Mesh
from shardwright.layout.forms.op_sharding import XlaOpSharding

LayoutLike = Layout
"""What a `layout` argument takes (RFC); an `XlaOpSharding` is one, too."""

__all__ = ["DTensor", "Layout", "LayoutLike", "Mesh", "XlaOpSharding", "pack", "relayout", "relayout_like", "unpack"]
