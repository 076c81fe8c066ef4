"""The same program for one device: what a partitioned run is compared with."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from shardwright.compiler.pipelines import IMPORT, run_pipeline
from shardwright.dialects.dtensor import ConstraintOp, MeshOp, RelayoutOp
from shardwright.dialects.types import plain
from shardwright.passes.rewriter import erase, replace


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
    """The local program of `module` on a single device; `module` itself is used up."""
    run_pipeline(module, IMPORT)
    strip_layouts(module)
    run_pipeline(module, ("propagate-layouts", "insert-relayouts", "lower-relayouts", "localize"))
    return module


def _strip_op(op: Operation) -> None:
    for result in tuple(op.results):
        _strip_value(result)
    for region in op.regions:
        for block in region.blocks:
            for argument in tuple(block.args):
                _strip_value(argument)
    if isinstance(op, FuncOp):
        kind = op.function_type
        op.function_type = FunctionType.from_lists(
            [_stripped(type_) for type_ in kind.inputs], [_stripped(type_) for type_ in kind.outputs]
        )


def _strip_value(value: SSAValue) -> None:
    stripped = _stripped(value.type)
    if stripped is value.type:
        return
    new = Rewriter.replace_value_with_new_type(value, stripped)
    if isinstance(value, BlockArgument) and isinstance(new, BlockArgument):
        new.location = value.location


def _stripped(type_: Attribute) -> Attribute:
    return plain(type_) if isinstance(type_, TensorType) else type_
