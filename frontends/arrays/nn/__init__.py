"""
Functions of neural networks: `shardwright.nn`.

All are composed of the same operations as the rest, so that each dim may be split: a softmax over a split dim exchanges
one maximum and one sum for each row.
"""

from shardwright.frontends.arrays.nn import _activations, _attention, _convolution, _losses, _norms, _pooling, _resizing
from shardwright.frontends.arrays.nn._activations import *
from shardwright.frontends.arrays.nn._attention import *
from shardwright.frontends.arrays.nn._convolution import *
from shardwright.frontends.arrays.nn._losses import *
from shardwright.frontends.arrays.nn._norms import *
from shardwright.frontends.arrays.nn._pooling import *
from shardwright.frontends.arrays.nn._resizing import *
from shardwright.frontends.arrays.random._keys import dropout

__all__ = ["dropout"]
__all__ += _activations.__all__
__all__ += _attention.__all__
__all__ += _convolution.__all__
__all__ += _losses.__all__
__all__ += _norms.__all__
__all__ += _pooling.__all__
__all__ += _resizing.__all__
