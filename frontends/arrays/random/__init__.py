"""Random numbers that a seed defines: `shardwright.random`, with the names of `tf.random`."""

from shardwright.frontends.arrays.random import _keys
from shardwright.frontends.arrays.random._keys import *

__all__: list[str] = []
__all__ += _keys.__all__
