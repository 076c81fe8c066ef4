"""
Arrays that every process is given whole: they have to be the same, and a sample of each is compared.

Arrays that are drawn without a seed, or read from other files, would make replicas that differ without a word. What is
noted here goes along with the next agreement of the processes, at no message of its own.
"""

from __future__ import annotations

import zlib
from collections import deque
from typing import Any

import numpy as np

from shardwright.layout.forms.clients import Clients

_SHOWN = 4
"""How many arrays are named where processes disagree: those given last."""

_PLACES = (4096, 64, 16)
"""About how many elements of an array are looked at along each dim, of one, two and three dims; 4 of more."""


class Given:
    """What some processes were given since they last agreed."""

    def __init__(self) -> None:
        self._check, self._texts = 0, deque[str](maxlen=_SHOWN)

    def note(self, array: np.ndarray[Any, Any]) -> None:
        """Adds an array: its type, its shape, and some of its elements."""
        about = f"{array.dtype.name}{list(array.shape)}"
        check = zlib.crc32(_sample(array), zlib.crc32(about.encode()))
        self._check = zlib.crc32(check.to_bytes(4, "big"), self._check)
        self._texts.append(f"{about} with check {check:08x}")

    def taken(self) -> tuple[bytes, str]:
        """What is compared, and what people are told of it; forgotten afterwards."""
        found = self._check.to_bytes(4, "big"), "".join(f"; given {text}" for text in self._texts)
        self._check = 0
        self._texts.clear()
        return found


def given_to(clients: Clients) -> Given:
    """What these processes were given."""
    return _GIVEN.setdefault(clients, Given())


_GIVEN = dict[Clients, Given]()


def _sample(array: np.ndarray[Any, Any]) -> bytes:
    """Some elements from all over an array, the same of equal arrays: no more than a few thousand."""
    most = _PLACES[array.ndim - 1] if 0 < array.ndim <= len(_PLACES) else 4
    return array[tuple(slice(None, None, max(1, extent // most)) for extent in array.shape)].tobytes()
