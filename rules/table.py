"""The complete sharding table: importing it fills in all rows."""

from shardwright.rules import computed as _computed
from shardwright.rules.sharding import ROWS, add_row, rule_for

__all__ = ["ROWS", "add_row", "rule_for"]

assert _computed is not None
