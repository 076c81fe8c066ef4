"""
What `columns`, `states` and `machine` do, compiled with numba: on arrays, with the same results.

Import it only where it pays (`engine` does): numba takes most of a second to load, and compiling, once per machine,
some ten; the compiled code is kept in numba's cache.
"""

from shardwright.serialization.riegeli.transposed.compiled.joining import join, pairs
from shardwright.serialization.riegeli.transposed.compiled.running import run
from shardwright.serialization.riegeli.transposed.compiled.taking import take

__all__ = ["join", "pairs", "run", "take"]
