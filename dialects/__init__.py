"""The IR: StableHLO, CHLO, Shardy and our own `dtensor` dialect, their text both ways, and their verifier."""

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Dialect

from shardwright.dialects import dtensor
from shardwright.dialects.chlo import CHLO
from shardwright.dialects.dtensor import gradients, hints, manual, roll, transfers
from shardwright.dialects.func import Func
from shardwright.dialects.sdy.ops import Sdy
from shardwright.dialects.stablehlo import StableHLO

_OURS = (dtensor, manual, hints, roll, gradients, transfers)
DTensor = Dialect("dtensor", [op for module in _OURS for op in module.OPS], list(dtensor.ATTRIBUTES))
DIALECTS = (Builtin, Func, StableHLO, CHLO, Sdy, DTensor)


def make_context() -> Context:
    """
    A context with every dialect that our programs use.

    >>> make_context().get_op("stablehlo.add").__name__
    'AddOp'
    """
    context = Context()
    for dialect in DIALECTS:
        context.load_dialect(dialect)
    return context


__all__ = ["DIALECTS", "make_context"]
