"""The complete sharding table: importing it fills in all rows."""

from shardwright.rules.families import computed as _computed
from shardwright.rules.families import indexing as _indexing
from shardwright.rules.families import joining as _joining
from shardwright.rules.families import linear_algebra as _linear_algebra
from shardwright.rules.families import manual as _manual
from shardwright.rules.families import selection as _selection
from shardwright.rules.families import sorting as _sorting
from shardwright.rules.families import transforms as _transforms
from shardwright.rules.local import indexing as _local_indexing
from shardwright.rules.local import joining as _local_joining
from shardwright.rules.sharding import ROWS, add_row, rule_for
from shardwright.rules.windows import convolution as _convolution
from shardwright.rules.windows import selecting as _selecting
from shardwright.rules.windows import windowed as _windowed

__all__ = ["ROWS", "add_row", "describe", "rule_for"]

assert _computed is not None
assert _convolution is not None
assert _indexing is not None
assert _joining is not None
assert _local_joining is not None
assert _linear_algebra is not None
assert _local_indexing is not None
assert _manual is not None
assert _selecting is not None
assert _selection is not None
assert _sorting is not None
assert _transforms is not None
assert _windowed is not None


def describe() -> list[tuple[str, str]]:
    """
    The name of each op in the table and its row as text, sorted.

    >>> dict(describe())["stablehlo.add"]
    '..., ... -> ...  linear=[(0, 1)]'
    """
    return [(name, str(ROWS[name])) for name in sorted(ROWS)]
