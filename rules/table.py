"""The complete sharding table: importing it fills in all rows and hooks."""

from shardwright.rules.families import (
    computed,
    custom_calls,
    indexing,
    joining,
    linear_algebra,
    manual,
    selection,
    sorting,
    transforms,
)
from shardwright.rules.local import indexing as local_indexing, joining as local_joining
from shardwright.rules.local.hooks import HOOKS
from shardwright.rules.sharding import ROWS, add_row, rule_for
from shardwright.rules.windows import convolution, selecting, windowed

__all__ = ["HOOKS", "ROWS", "add_row", "describe", "rule_for"]

_MODULES = (
    *(computed, custom_calls, indexing, joining, linear_algebra, manual, selection, sorting, transforms),
    *(local_indexing, local_joining),
    *(convolution, selecting, windowed),
)
"""What is imported for the rows and hooks that it adds."""


def describe() -> list[tuple[str, str]]:
    """
    The name of each op in the table and its row as text, sorted.

    >>> dict(describe())["stablehlo.add"]
    '..., ... -> ...  linear=[(0, 1)]'
    """
    return [(name, str(ROWS[name])) for name in sorted(ROWS)]
