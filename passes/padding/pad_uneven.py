"""`pad-uneven`: dims that layouts split unevenly become ones that divide, with padding at their ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects.building import returned
from shardwright.dialects.dtensor.hints import GroupOp
from shardwright.dialects.types import tensor_type
from shardwright.passes.padding.forms import pad_op
from shardwright.passes.padding.site import Padding, resized_type, site_of
from shardwright.passes.padding.sizes import padded_shapes
from shardwright.passes.program import Program
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.rewriter import retype
from shardwright.passes.stages import GLOBAL_TYPE_ARGUMENT, REGIONS_OF_TENSORS, uneven_values
from shardwright.rules.rule import Rule


@dataclass(frozen=True)
class PadUnevenPass(ModulePass):
    """
    Makes the dims of a program divide by the parts into which its user split them, and all that is bound to them.

    Padding holds anything. Where an op would see it, it is masked, cut off or passed over. Arguments and results keep
    their global type in `dtensor.global_type`: who calls the program knows nothing of it. A program whose layouts all
    divide stays as it is.

    Before:
        #x = #dtensor.layout<@mesh, [{"x"}]>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<3xf32, #x>) -> tensor<f32> {
          %0 = stablehlo.exponential %a : (tensor<3xf32, #x>) -> tensor<3xf32>
          %1 = stablehlo.constant dense<0.0> : tensor<f32>
          %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0]
              : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
          func.return %2 : tensor<f32>
        }
    After:
        #x = #dtensor.layout<@mesh, [{"x"}]>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #x> {dtensor.global_type = tensor<3xf32>}) -> tensor<f32> {
          %0 = stablehlo.exponential %a : (tensor<4xf32, #x>) -> tensor<4xf32>
          %1 = stablehlo.constant dense<0.0> : tensor<f32>
          %2 = stablehlo.iota dim = 0 : tensor<4xi32>
          %3 = stablehlo.constant dense<3> : tensor<4xi32>
          %4 = stablehlo.compare LT, %2, %3, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
          %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xi1>) -> tensor<4xi1>
          %6 = stablehlo.constant dense<0.0> : tensor<4xf32>
          %7 = stablehlo.select %5, %0, %6 : tensor<4xi1>, tensor<4xf32>
          %8 = stablehlo.reduce(%7 init: %1) applies stablehlo.add across dimensions = [0]
              : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
          func.return %8 : tensor<f32>
        }
    """

    name = "pad-uneven"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Runs the pass on a module."""
        if next(uneven_values(op), None) is not None:
            pad_uneven(op)


def pad_uneven(module: ModuleOp) -> dict[SSAValue, SSAValue]:
    """
    Pads the program of a module in which a layout splits a dim unevenly, in place.

    Returns for what other values stand for now what stands for it, which may have become another in turn.
    """
    program = build_program(module)
    padding = _pad_types(program)
    for inner, rule in _ops(program):
        if any(value in padding.valid for value in (*inner.operands, *inner.results)):
            pad_op(inner, site_of(inner, rule, padding))
    block = program.function.body.block
    _record(program.function, "arg_attrs", block.args, padding)
    _record(program.function, "res_attrs", returned(block), padding)
    program.function.update_function_type()
    return padding.became


def _pad_types(program: Program) -> Padding:
    """Gives all values their padded types."""
    padding = Padding()
    for aliases, old, new in zip(program.aliases, program.shapes, padded_shapes(program), strict=True):
        if old != new:
            for value in aliases:
                padding.valid[value] = old
                retype(value, resized_type(value.type, new))
    return padding


def _ops(program: Program) -> Iterator[tuple[Operation, Rule]]:
    """The ops that do something with their operands, in order, each with its rule."""
    seen: set[Operation] = set()
    for node in program.nodes:
        op = node.op
        if (
            op not in seen
            and not node.rule.pairwise
            and op.name not in REGIONS_OF_TENSORS
            and not isinstance(op, GroupOp)
        ):
            seen.add(op)
            yield op, node.rule


def _record(function: FuncOp, side: str, values: Sequence[SSAValue], padding: Padding) -> None:
    """Lets an entry function say the global types of arguments or results that have padding."""
    if not any(value in padding.valid for value in values):
        return
    known = function.properties.get(side)
    entries = [dict(entry.data) for entry in known.data] if isinstance(known, ArrayAttr) else [{} for _ in values]
    for entry, value in zip(entries, values, strict=True):
        if value in padding.valid:
            entry[GLOBAL_TYPE_ARGUMENT] = type(tensor_type(value))(
                tensor_type(value).element_type, padding.valid[value]
            )
    function.properties[side] = ArrayAttr([DictionaryAttr(entry) for entry in entries])
