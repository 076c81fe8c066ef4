"""`fit-borders`: arguments and results of padded programs come and leave as large as their layouts make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.types import shape_of
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import whole_shape
from shardwright.layout.spec import replicated_spec
from shardwright.passes.padding.site import FILLING, Shape, resized_type
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before, retype
from shardwright.passes.stages import GLOBAL_TYPE_ARGUMENT, require_stage


@dataclass(frozen=True)
class FitBordersPass(ModulePass):
    """
    Where an argument or a result has more padding than its layout asks for, a pad makes up for it.

    What callers hold of a global type in a layout is one thing, whatever other layouts met it inside of a program.

    Before:
        #r = #dtensor.layout<@mesh, [{}]>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #r> {dtensor.global_type = tensor<3xf32>})
            -> (tensor<4xf32, #r> {dtensor.global_type = tensor<3xf32>}) {
          func.return %a : tensor<4xf32, #r>
        }
    After:
        #r = #dtensor.layout<@mesh, [{}]>
        #s = #dtensor.layout<@mesh, []>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<3xf32, #r> {dtensor.global_type = tensor<3xf32>})
            -> (tensor<3xf32, #r> {dtensor.global_type = tensor<3xf32>}) {
          %0 = stablehlo.constant dense<0.0> : tensor<f32> -> tensor<f32, #s>
          %a_0 = stablehlo.pad %a, %0, low = [0], high = [1], interior = [0]
              : (tensor<3xf32, #r>, tensor<f32, #s>) -> tensor<4xf32, #r>
          %2 = stablehlo.constant dense<0.0> : tensor<f32> -> tensor<f32, #s>
          %3 = stablehlo.pad %a_0, %2, low = [0], high = [-1], interior = [0]
              : (tensor<4xf32, #r>, tensor<f32, #s>) -> tensor<3xf32, #r>
          func.return %3 : tensor<3xf32, #r>
        }
    """

    name = "fit-borders"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Runs the pass on a module."""
        require_stage(op, self.name, "propagated")
        known = dtensor.meshes(op)
        fit_borders(entry_function(op), lambda value, whole: _as_large(value, whole, known))


def fit_borders(function: FuncOp, at_border: Callable[[SSAValue, Attribute], Attribute]) -> None:
    """
    Lets an entry function take and give values of other sizes; pads inside make up for them.

    `at_border` gives the type at the border of a value that has padding, from the value and its global type.
    """
    block = function.body.block
    first, last = block.first_op, block.last_op
    assert first is not None
    assert last is not None
    for argument, whole in zip(block.args, _global_types(function.arg_attrs), strict=False):
        border = argument.type if whole is None else at_border(argument, whole)
        if border != argument.type:
            made = _resized(first, argument, argument.type, shape_of(border))
            argument.replace_uses_with_if(made, lambda use, pad=made.owner: use.operation is not pad)
            retype(argument, border)
    for place, whole in enumerate(_global_types(function.res_attrs)):
        result = last.operands[place]
        border = result.type if whole is None else at_border(result, whole)
        if border != result.type:
            last.operands[place] = _resized(last, result, border, shape_of(result))
    function.update_function_type()


def _global_types(attributes: ArrayAttr[DictionaryAttr] | None) -> list[Attribute | None]:
    return [entry.data.get(GLOBAL_TYPE_ARGUMENT) for entry in attributes or ()]


def _as_large(value: SSAValue, whole: Attribute, known: Mapping[str, Mesh]) -> Attribute:
    """The type of a value that is as large as its layout makes one of a global type."""
    spec = dtensor.layout_of(value)
    assert spec is not None
    return resized_type(value.type, whole_shape(spec, shape_of(whole), known[spec.mesh]))


def _resized(place: Operation, value: SSAValue, wanted: Attribute, size: Shape) -> SSAValue:
    """In front of an op the value, which has or will have so many elements in each dim, as one of another type."""
    build = Builder(lambda new: insert_before(place, new))
    zero, spec = build.scalar(FILLING, value), dtensor.layout_of(value)
    assert spec is not None
    retype(zero, dtensor.with_layout(zero.type, replicated_spec(spec.mesh, 0)))
    high = [new - old for new, old in zip(shape_of(wanted), size, strict=True)]
    return retype(build.put(stablehlo.PadOp(value, zero, [0] * len(high), high)), wanted)
