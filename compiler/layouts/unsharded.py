"""The same program for one device: what a partitioned run is compared with."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from shardwright.compiler.pipelines import ALIGN, IMPORT, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.values import drop_layouts
from shardwright.dialects.dtensor import ConstraintOp, MeshOp, RelayoutOp
from shardwright.dialects.dtensor.hints import BarrierOp, GroupOp
from shardwright.dialects.dtensor.manual import manual_axes
from shardwright.passes.rewriter import erase, replace


def strip_layouts(module: ModuleOp, *, keep_mesh: bool = False) -> None:
    """
    Turn a traced module into one that knows of no mesh: no layouts, constraints or relayouts.

    ```
    dtensor.mesh @mesh = <["x"=4]>                                  (gone)
    %1 = dtensor.constraint %0 : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>   (%0 instead)
    %2 = stablehlo.add %1, %1 : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>    tensor<4xf32>
    ```
    """
    for op in list(module.walk()):
        if isinstance(op, ConstraintOp | RelayoutOp | BarrierOp):
            replace(op, [op.operand])
        elif isinstance(op, GroupOp) or (isinstance(op, MeshOp) and not keep_mesh):
            erase(op)
        else:
            drop_layouts(op)
    for op in module.ops:
        if isinstance(op, FuncOp) and op.body.blocks:
            op.update_function_type()


def unsharded_module(module: ModuleOp) -> ModuleOp:
    """
    The program of `module` for a single device; `module` itself is used up.

    A manual computation means something on its mesh only: such a program keeps it, and splits nothing else.
    """
    run_pipeline(module, IMPORT)
    is_manual = any(manual_axes(op) for op in module.walk())
    strip_layouts(module, keep_mesh=is_manual)
    if is_manual:
        run_pipeline(module, (*PROPAGATE, *ALIGN, *PLAN, *LOCALIZE))
    return module
