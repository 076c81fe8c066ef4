"""The op `ramp.multiply`."""

from xdsl.dialects.builtin import IntegerAttr, TensorType, i64
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects import add_dialect
from shardwright.dialects.types import shape_of


@irdl_op_definition
class MultiplyOp(IRDLOperation):
    """Multiplies the elements along `dim` by `start`, `start + 1`, ..."""

    name = "ramp.multiply"
    operand = operand_def(TensorType)
    start = operand_def(TensorType)
    dim = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, start: SSAValue, dim: int):
        properties = {"dim": IntegerAttr(dim, i64)}
        super().__init__(operands=[operand, start], result_types=[operand.type], properties=properties)

    def verify_(self) -> None:
        """The dim is one of the operand's."""
        if not 0 <= self.dim.value.data < len(shape_of(self.operand)):
            raise VerifyException(f"{self.operand.type} has no dim {self.dim.value.data}")


add_dialect(Dialect("ramp", [MultiplyOp], []))
