"""NumPy under another name: for any namespace but `numpy`, the runtime makes one array call for each step."""

import sys

import numpy as np

sys.modules[__name__] = np
