"""`localize`: global types become per-device types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects import dtensor
from shardwright.dialects.building import blocks_in, returned
from shardwright.dialects.types import plain, tensor, tensor_type
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import algebra
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before, retype
from shardwright.passes.stages import (
    GLOBAL_TYPE_ARGUMENT,
    LAYOUT_ARGUMENT,
    REGIONS_OF_TENSORS,
    require_stage,
    set_stage,
)
from shardwright.rules.local.hooks import Local, run_hook
from shardwright.rules.local.manual import ALWAYS
from shardwright.rules.table import HOOKS

Specs = tuple[LayoutSpec, ...]


@dataclass(frozen=True)
class LocalizePass(ModulePass):
    """
    Rewrites every type to its shard's, and the few ops whose attributes hold sizes or positions by their hooks.

    The global side of arguments and results stays in `dtensor.layout` and `dtensor.global_type`.

    Before:
        #x = #dtensor.layout<@mesh, [{"x"}]>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #x>) -> tensor<4xf32, #x> {
          %0 = stablehlo.negate %a : tensor<4xf32, #x>
          func.return %0 : tensor<4xf32, #x>
        }
    After:
        #x = #dtensor.layout<@mesh, [{"x"}]>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(
            %a: tensor<2xf32> {dtensor.layout = #x, dtensor.global_type = tensor<4xf32>}
          ) -> (
            tensor<2xf32> {dtensor.layout = #x, dtensor.global_type = tensor<4xf32>}
          ) {
          %0 = stablehlo.negate %a : tensor<2xf32>
          func.return %0 : tensor<2xf32>
        }
    """

    name = "localize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_stage(op, self.name, "planned")
        function = entry_function(op)
        _Localizer(dtensor.meshes(op)).run(function)
        set_stage(op, "local")


class _Localizer:
    def __init__(self, meshes: dict[str, Mesh]):
        self.meshes = meshes
        self.types: dict[Attribute, Attribute] = {}
        self.sides: dict[Operation, tuple[Specs, Specs]] = {}
        """The layouts of the operands and results of each op with a hook, from before any types change."""

    def run(self, function: FuncOp) -> None:
        block = function.body.block
        function.properties["arg_attrs"] = _with_global_side(function.arg_attrs, block.args)
        function.properties["res_attrs"] = _with_global_side(function.res_attrs, returned(block))
        self.sides = {op: (_specs(op.operands), _specs(op.results)) for op in block.walk() if op.name in HOOKS}
        self._localize(block)
        function.update_function_type()

    def _localize(self, block: Block) -> None:
        for argument in block.args:
            self._retype(argument)
        for op in list(block.ops):
            self._visit(op)

    def _visit(self, op: Operation) -> None:
        if op.name in REGIONS_OF_TENSORS:
            for block in blocks_in(op):
                self._localize(block)
        for result in op.results:
            self._retype(result)
        if op.name not in HOOKS:
            return
        operands, results = self.sides[op]
        local = Local(lambda new: insert_before(op, new), operands, results, self.meshes[results[0].mesh])
        if local.split or op.name in ALWAYS:
            run_hook(op, local)

    def _retype(self, value: SSAValue) -> None:
        old = value.type
        new = self.types.get(old)
        if new is None:
            new = self.types[old] = self._local_type(value)
        retype(value, new)

    def _local_type(self, value: SSAValue) -> Attribute:
        spec = dtensor.layout_of(value)
        if spec is None:
            return value.type
        whole = tensor_type(value)
        shape = algebra.local_shape(spec, whole.get_shape(), self.meshes[spec.mesh])
        return tensor(shape, whole.element_type)


def _specs(values: Sequence[SSAValue]) -> Specs:
    return tuple(spec for value in values if (spec := dtensor.layout_of(value)) is not None)


def _with_global_side(
    attributes: ArrayAttr[DictionaryAttr] | None, values: Sequence[SSAValue]
) -> ArrayAttr[DictionaryAttr]:
    entries: list[DictionaryAttr] = []
    for number, value in enumerate(values):
        rest = dict(attributes.data[number].data if attributes is not None else {})
        encoding = tensor_type(value).encoding
        assert isinstance(value.type, TensorType)
        whole = rest.pop(GLOBAL_TYPE_ARGUMENT, plain(value.type))  # with padding it is said already
        entries.append(DictionaryAttr({**rest, LAYOUT_ARGUMENT: encoding, GLOBAL_TYPE_ARGUMENT: whole}))
    return ArrayAttr(entries)
