"""Fourier transforms: `shardwright.fft`, the extension of the array API standard."""

from shardwright.frontends.arrays.fft import _frequencies, _transforms
from shardwright.frontends.arrays.fft._frequencies import *
from shardwright.frontends.arrays.fft._transforms import *

__all__: list[str] = []
__all__ += _frequencies.__all__
__all__ += _transforms.__all__
