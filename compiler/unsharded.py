"""The same program for one device: what a partitioned run is compared with."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from shardwright.compiler.pipelines import IMPORT, run_pipeline
from shardwright.dialects.dtensor import ConstraintOp, MeshOp, RelayoutOp
from shardwright.dialects.types import plain
from shardwright.passes.rewriter import erase, replace, retype


def strip_layouts(module: ModuleOp) -> None:
    """
    Turn a traced module into one that knows of no mesh: no layouts, constraints or relayouts.

    ```
    dtensor.mesh @mesh = <["x"=4]>                                  (gone)
    %1 = dtensor.constraint %0 : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>   (%0 instead)
    %2 = stablehlo.add %1, %1 : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>    tensor<4xf32>
    ```
    """
    for op in list(module.walk()):
        if isinstance(op, ConstraintOp | RelayoutOp):
            replace(op, [op.operand])
        elif isinstance(op, MeshOp):
            erase(op)
        else:
            _strip_op(op)


def unsharded_module(module: ModuleOp) -> ModuleOp:
    """The program of `module` for a single device; `module` itself is used up."""
    run_pipeline(module, IMPORT)
    strip_layouts(module)
    return module


def _strip_op(op: Operation) -> None:
    for result in op.results:
        retype(result, _stripped(result.type))
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                retype(argument, _stripped(argument.type))
    if isinstance(op, FuncOp):
        kind = op.function_type
        op.function_type = FunctionType.from_lists(
            [_stripped(type_) for type_ in kind.inputs], [_stripped(type_) for type_ in kind.outputs]
        )


def _stripped(type_: Attribute) -> Attribute:
    return plain(type_) if isinstance(type_, TensorType) else type_
