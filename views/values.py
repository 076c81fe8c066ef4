"""The elements of a distributed tensor as NumPy writes them, abbreviated as NumPy does, and nothing fetched for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shardwright.engines.dtensor_value import DTensorValue
from shardwright.engines.owned.parts import Parts
from shardwright.runtime.stacking import from_stacked


def elements_text(value: DTensorValue, prefix: str) -> str | None:
    """
    The elements as `numpy.array2string` writes them after `prefix`; None where some are not in this process.

    Of a large tensor only the elements at the corners are looked at.
    """
    if value.mesh.num_clients > 1 or isinstance(value.held, Parts):
        return None
    options = np.get_printoptions()
    if math.prod(value.shape) <= options["threshold"]:
        return np.array2string(value.numpy(), separator=", ", prefix=prefix)
    edge = int(options["edgeitems"])
    return np.array2string(_corners(value, edge), separator=", ", prefix=prefix, threshold=0)


def _corners(value: DTensorValue, edge: int) -> np.ndarray[Any, Any]:
    """The tensor with only the ends of its long dims, and one index between them, for which NumPy writes dots."""
    lead = len(value.mesh.axis_names)
    stacked = value.held
    assert isinstance(stacked, np.ndarray)
    if value.layout.global_shape(stacked.shape[lead:]) == value.shape:
        for dim in range(lead, stacked.ndim):
            stacked = np.take(stacked, _ends(stacked.shape[dim], edge), axis=dim)
        whole = from_stacked(stacked, value.layout.spec, value.mesh)
    else:  # the last part ends where nothing says so
        whole = value.numpy()
    for dim, size in enumerate(whole.shape):
        whole = np.take(whole, _ends(size, edge), axis=dim)
    return whole


def _ends(size: int, edge: int) -> list[int]:
    """
    The indices that stand for all in a long dim.

    >>> _ends(4, 1), _ends(100, 1)
    ([0, 1, 3], [0, 1, 99])
    """
    return list(range(size)) if size <= 2 * edge + 1 else [*range(edge + 1), *range(size - edge, size)]
