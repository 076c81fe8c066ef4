"""`verify-locations`: every op says where in the user's source it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects.text.locations import is_known, where

_SHOWN = 10


@dataclass(frozen=True)
class VerifyLocationsPass(ModulePass):
    """
    Raises SW0320, naming the first ops, when an op has no known location; changes nothing.

    Before:
        %0 = stablehlo.add %x, %x : tensor<4xf32>
        return %0 : tensor<4xf32>
    After:
        %0 = stablehlo.add %x, %x : tensor<4xf32>
        return %0 : tensor<4xf32>
    """

    name = "verify-locations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lost = list(islice((inner for inner in op.walk() if not _is_located(inner)), _SHOWN))
        if lost:
            raise ShardwrightError([_lost_location(inner) for inner in lost])


def _is_located(op: Operation) -> bool:
    if is_known(op.location) or isinstance(op, ModuleOp):
        return True
    # The body of a reduction is where the reduction is.
    parent = op.parent_op()
    return parent is not None and not isinstance(parent, FuncOp | ModuleOp) and _is_located(parent)


def _lost_location(op: Operation) -> Diagnostic:
    neighbour = op.prev_op or op.parent_op()
    nearby = where(neighbour) if neighbour is not None else None
    return Diagnostic(
        "SW0320",
        f"'{op.name}' has no source location",
        notes=(f"it follows the op at {nearby}",) if nearby else (),
        help="give the op the location of what it replaces (passes/rewriter.py does)",
    )
