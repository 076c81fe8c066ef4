"""The IR: StableHLO, CHLO, Shardy and our own `dtensor` dialect, their text both ways, and their verifier."""

from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Dialect

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects import dtensor
from shardwright.dialects.chlo import CHLO
from shardwright.dialects.dtensor import gradients, hints, manual, roll, transfers
from shardwright.dialects.func import Func
from shardwright.dialects.sdy.ops import Sdy
from shardwright.dialects.stablehlo import StableHLO
from shardwright.plugins import extend, load_plugins

_OURS = (dtensor, manual, hints, roll, gradients, transfers)
DTensor = Dialect("dtensor", [op for module in _OURS for op in module.OPS], list(dtensor.ATTRIBUTES))
DIALECTS = (Builtin, Func, StableHLO, CHLO, Sdy, DTensor)
_ADDED: dict[str, Dialect] = {}
"""What plugins added."""


def add_dialect(dialect: Dialect) -> None:
    """
    Lets programs have the ops, attributes and types of another dialect, in every command and every function.

    Raises SW0732 where there is another one of its name.

    >>> add_dialect(Dialect("mine", [], []))
    >>> "mine" in [dialect.name for dialect in make_context().loaded_dialects]
    True
    >>> del _ADDED["mine"]
    """
    if dialect.name in {each.name for each in (*DIALECTS, *_ADDED.values())}:
        raise ShardwrightError(Diagnostic("SW0732", f"there is a dialect '{dialect.name}' already"))
    extend()
    _ADDED[dialect.name] = dialect


def make_context() -> Context:
    """
    A context with every dialect that our programs use.

    >>> make_context().get_op("stablehlo.add").__name__
    'AddOp'
    """
    load_plugins()
    context = _ours().clone()
    for dialect in _ADDED.values():
        context.load_dialect(dialect)
    return context


@cache
def _ours() -> Context:
    """A context to be copied: to look at each op of our dialects again would take as long as a small pass."""
    context = Context()
    for dialect in DIALECTS:
        context.load_dialect(dialect)
    return context


__all__ = ["DIALECTS", "add_dialect", "make_context"]
