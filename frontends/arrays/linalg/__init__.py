"""
Linear algebra: `shardwright.linalg`, the extension of the array API standard.

Matrices stand in the last two dims, all dims before are batch and may be split. Factors are those of LAPACK.
"""

from shardwright.frontends.arrays.linalg import _factors, _norms, _products, _solving
from shardwright.frontends.arrays.linalg._factors import *
from shardwright.frontends.arrays.linalg._norms import *
from shardwright.frontends.arrays.linalg._products import *
from shardwright.frontends.arrays.linalg._solving import *

__all__: list[str] = []
__all__ += _factors.__all__
__all__ += _norms.__all__
__all__ += _products.__all__
__all__ += _solving.__all__
