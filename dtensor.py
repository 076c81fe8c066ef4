"""`shardwright.dtensor`: what the RFC calls `tf.dtensor`, and TensorFlow `tf.experimental.dtensor`, by its names."""

from typing import NoReturn as _NoReturn

from shardwright.frontends import arrays as _arrays  # noqa: F401  # what the operators of tensors call
from shardwright.frontends.functions import DTensor, pack, relayout, relayout_like, unpack
from shardwright.frontends.functions.naming.tensorflow import (
    UNSHARDED,
    check_layout,
    client_id,
    copy_to_mesh,
    create_mesh,
    fetch_layout,
    is_dtensor,
    no_dtensor_name as _no_dtensor_name,
    num_clients,
)
from shardwright.frontends.training import Variable as DVariable
from shardwright.layout import Layout, Mesh
from shardwright.layout.forms.op_sharding import XlaOpSharding

LayoutLike = Layout
"""What a `layout` argument takes (RFC); an `XlaOpSharding` is one, too."""

__all__ = [
    "UNSHARDED",
    "DTensor",
    "DVariable",
    "Layout",
    "LayoutLike",
    "Mesh",
    "XlaOpSharding",
    "check_layout",
    "client_id",
    "copy_to_mesh",
    "create_mesh",
    "fetch_layout",
    "is_dtensor",
    "num_clients",
    "pack",
    "relayout",
    "relayout_like",
    "unpack",
]


def __getattr__(name: str) -> _NoReturn:
    if name.startswith("_"):
        raise AttributeError(f"module 'shardwright.dtensor' has no attribute {name!r}")
    _no_dtensor_name(name, __all__)
