"""How `ramp.multiply` may be split, what a device does with its part, and its gradient."""

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.types import shape_of
from shardwright.rules import add_row
from shardwright.rules.gradients.vjp import Gradient, Site, vjp_of_one
from shardwright.rules.local.hooks import HOOKS, Local
from shardwright_ramp.op import MultiplyOp

# Every dim may be split, `start` is a number, and partial sums of the first operand may flow through.
add_row("ramp.multiply", "..., () -> ...", linear=[(0,)])


def from_its_own_start(op: MultiplyOp, local: Local) -> None:
    """Along a split dim a device counts from where its part begins."""
    dim = op.dim.value.data
    if axes := local.operands[0].dims[dim]:
        index = local.put(dtensor.AxisIndexOp(local.spec.mesh, axes))
        size = local.put(stablehlo.make_constant(shape_of(op.operand)[dim], i32, ()))
        op.operands[1] = local.put(stablehlo.AddOp(op.start, local.put(stablehlo.MultiplyOp(index, size))))


HOOKS["ramp.multiply"] = from_its_own_start


@vjp_of_one("ramp.multiply")
def ramp_gradient(op: MultiplyOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """The same factors again; the start is an integer and has none."""
    return [site.put(MultiplyOp(gradient, op.start, op.dim.value.data)), None]
