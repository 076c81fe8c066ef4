"""`drop-callbacks`: calls back into Python are left out where nothing needs their results."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects.stablehlo import CustomCallOp
from shardwright.dialects.stablehlo.calls.custom_calls import unknown_call
from shardwright.passes.rewriter import erase


@dataclass(frozen=True)
class DropCallbacksPass(ModulePass):
    """
    Erases prints and other effects in Python, which a program's results do not depend on; refuses the rest (SW0431).

    Before:
        %0 = stablehlo.add %x, %x : tensor<4xf32>
        stablehlo.custom_call @xla_ffi_python_cpu_callback(%0) {has_side_effect = true} : (tensor<4xf32>) -> ()
        return %0 : tensor<4xf32>
    After:
        %0 = stablehlo.add %x, %x : tensor<4xf32>
        return %0 : tensor<4xf32>
    """

    name = "drop-callbacks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        needed: list[Diagnostic] = []
        for inner in list(op.walk()):
            if isinstance(inner, CustomCallOp) and inner.is_callback:
                if any(result.uses for result in inner.results):
                    needed += [unknown_call(inner)]
                else:
                    erase(inner)
        if needed:
            raise ShardwrightError(needed)
