"""The CHLO dialect: mathematical functions that JAX emits next to StableHLO, and which no StableHLO op computes."""

from xdsl.ir import Dialect, Operation

from shardwright.dialects.chlo.along import ScanOp, TopKOp
from shardwright.dialects.chlo.functions import *
from shardwright.dialects.chlo.shared import ChloBinaryOp, ChloOp, ChloUnaryOp

SELECTION_OPS: tuple[type[Operation], ...] = (TopKOp,)
"""Ops that choose among elements."""

CHLO = Dialect("chlo", [*UNARY_OPS, *BINARY_OPS, *SELECTION_OPS, ScanOp], [])

__all__ = ["CHLO", "SELECTION_OPS", "ChloBinaryOp", "ChloOp", "ChloUnaryOp", "ScanOp", "TopKOp"]
