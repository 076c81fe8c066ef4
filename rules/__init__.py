"""
The sharding table: what each op means for layouts, and how that is proved.

Everything that the partitioner knows about an op follows from its row. `add_row` adds one, and `check_op` proves it.
The table loads when something of it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shardwright.rules.proof.check import Finding, check_op, missed_placements
    from shardwright.rules.rule import Rule
    from shardwright.rules.table import ROWS, add_row, describe, rule_for

__all__ = ["ROWS", "Finding", "Rule", "add_row", "check_op", "describe", "missed_placements", "rule_for"]

_HOMES = {"Finding": "proof.check", "check_op": "proof.check", "missed_placements": "proof.check", "Rule": "rule"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'table')}"), name)
