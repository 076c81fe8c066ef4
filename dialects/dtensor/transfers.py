"""What takes a tensor from one mesh to another."""

from __future__ import annotations

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def

from shardwright.dialects.dtensor import Relaid
from shardwright.dialects.dtensor.attributes import mesh_symbol
from shardwright.layout.spec import LayoutSpec


@irdl_op_definition
class TransferOp(Relaid):
    """
    Copies a tensor to another mesh: the result's layout names the mesh, and where its dims are open, the copy decides.

    Programs on several meshes are taken apart at these ops before layouts are decided; `source` is the operand's mesh.
    """

    name = "dtensor.transfer"
    source = opt_prop_def(SymbolRefAttr)

    def __init__(self, operand: SSAValue, spec: LayoutSpec, source: str, reason: str | None = None):
        super().__init__(operand, spec, reason)
        self.properties["source"] = mesh_symbol(source)


OPS: tuple[type[Operation], ...] = (TransferOp,)
