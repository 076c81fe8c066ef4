"""
The sharding table: what each op means for layouts, and how that is proved.

Everything that the partitioner knows about an op follows from its row; `add_row` adds one.
"""

from shardwright.rules.sharding import add_row, rule_for
from shardwright.rules.table import ROWS

__all__ = ["ROWS", "add_row", "rule_for"]
