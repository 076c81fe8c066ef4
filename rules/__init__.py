"""
The sharding table: what each op means for layouts, and how that is proved.

Everything that the partitioner knows about an op follows from its row. `add_row` adds one, and `check_op` proves it.
"""

from shardwright.rules.check import Finding, check_op, missed_placements
from shardwright.rules.rule import Rule
from shardwright.rules.table import ROWS, add_row, describe, rule_for

__all__ = ["ROWS", "Finding", "Rule", "add_row", "check_op", "describe", "missed_placements", "rule_for"]
