"""An array where programs run: as it came, or as programs take and make it."""

from __future__ import annotations

from typing import Any

from shardwright.runtime.ports import Port

Array = Any
"""An array of the namespace in which programs run."""


class Kept:
    """
    This process's block of an array, in stacked form until a program takes it, then as the program's base.

    Unless the layout is partial, that base is the one of all programs: arrays that go from call to call are never
    converted. `lead` is the number of leading dims, which a program that names no axis knows nothing of.
    """

    __slots__ = ("_array", "_lead", "_port")

    def __init__(self, stacked: Array) -> None:
        self._array = stacked
        self._port: Port | None = None
        self._lead = 0

    @staticmethod
    def made(base: Any, port: Port, lead: int) -> Kept:
        """The result of a program."""
        kept = Kept(base)
        kept._port, kept._lead = port, lead
        if port.spec.partial:
            kept._array, kept._port = kept.stacked, None
        return kept

    @property
    def stacked(self) -> Array:
        """The stacked form, a leading dim for each mesh axis."""
        if self._port is None:
            return self._array
        stacked = self._port.stacked_of(self._array)
        return stacked if self._port.atoms.count else stacked.reshape((1,) * self._lead + stacked.shape)

    def base(self, port: Port, lead: int) -> Array:
        """The array as a program takes it at one of its ports."""
        if self._port is not None and not port.spec.partial:
            return self._array
        stacked = self.stacked
        base = port.base_of_stacked(stacked if port.atoms.count else stacked.reshape(stacked.shape[lead:]))
        if not port.spec.partial:
            self._array, self._port, self._lead = base, port, lead
        return base

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        return self._array.nbytes
