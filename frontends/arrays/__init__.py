"""The array namespace: functions of the array API standard, and what TensorFlow and NumPy have beside them."""

from shardwright.frontends.arrays import control, creation, nn, random, shapes
from shardwright.frontends.arrays.control import *
from shardwright.frontends.arrays.creation import *
from shardwright.frontends.arrays.elementwise import functions, special
from shardwright.frontends.arrays.elementwise.functions import *
from shardwright.frontends.arrays.elementwise.special import *
from shardwright.frontends.arrays.indexing import functions as choosing, searching
from shardwright.frontends.arrays.indexing.functions import *
from shardwright.frontends.arrays.indexing.searching import *
from shardwright.frontends.arrays.nn._norms import batch_norm_layer as batch_norm
from shardwright.frontends.arrays.reducing import accumulating, contractions, reductions
from shardwright.frontends.arrays.reducing.accumulating import *
from shardwright.frontends.arrays.reducing.contractions import *
from shardwright.frontends.arrays.reducing.reductions import *
from shardwright.frontends.arrays.shapes import *
from shardwright.frontends.arrays.types import dtypes, inspection
from shardwright.frontends.arrays.types.dtypes import *
from shardwright.frontends.arrays.types.inspection import *

__all__ = ["batch_norm", "nn", "random"]
__all__ += control.__all__
__all__ += creation.__all__
__all__ += functions.__all__
__all__ += special.__all__
__all__ += choosing.__all__
__all__ += searching.__all__
__all__ += accumulating.__all__
__all__ += contractions.__all__
__all__ += reductions.__all__
__all__ += shapes.__all__
__all__ += dtypes.__all__
__all__ += inspection.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
