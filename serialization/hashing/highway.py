"""The hash that callers use: streaming, and choosing between plain Python and compiled code."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from shardwright.serialization.hashing import pure

RIEGELI_KEY: pure.Key = (0x2F696C6567656952, 0x0A7364726F636572, 0x2F696C6567656952, 0x0A7364726F636572)
"""The bytes `Riegeli/records\\n`, twice."""

KERNEL, NATIVE = (f"shardwright.serialization.hashing.{name}" for name in ("kernel", "native"))

PATIENCE = 1 << 16
"""Bytes that plain Python hashes, in all, before the numba kernel is loaded: about as long as loading takes."""

WORTH_A_THREAD = 1 << 23
"""Bytes of a piece from which on a thread hashes it: the kernel runs without the GIL."""

Data = bytes | bytearray | memoryview


class _Engine:
    """
    Which code mixes packets: the extension in C if it was built; else plain Python until enough data has come by, and
    then the numba kernel, if numba is installed.
    """

    kernel: Any = None
    patience = PATIENCE
    has_native = find_spec(NATIVE) is not None
    has_numba = find_spec("numba") is not None

    def __init__(self) -> None:
        self.states: dict[tuple[Any, pure.Key], Any] = {}

    def compiled(self, size: int) -> bool:
        """Whether `size` more bytes go through compiled code, which is loaded the first time that it pays."""
        if self.kernel is None:
            self.patience -= size
            if self.has_native:
                self.kernel = import_module(NATIVE)
            elif self.patience < 0 and self.has_numba:
                self.kernel = import_module(KERNEL)
        return self.kernel is not None

    def new_state(self, words: Sequence[int]) -> Any:
        """A state as the compiled code wants it."""
        if self.kernel.__name__ == KERNEL:
            return self.kernel.new_state(words)
        return bytearray(struct.pack("<16Q", *words))

    def fresh(self, key: pure.Key) -> Any:
        """The state before any data, as the compiled code wants it, one for each key."""
        state = self.states.get((self.kernel, key))
        if state is None:
            state = self.states[self.kernel, key] = self.new_state(pure.fresh_state(key))
        return state


ENGINE = _Engine()


class HighwayHash64:
    """
    The hash of data that comes in pieces.

    >>> hasher = HighwayHash64()
    >>> hasher.update(b"Riegeli")
    >>> hasher.update(b"/records")
    >>> hasher.digest() == highwayhash64(b"Riegeli/records")
    True
    """

    def __init__(self, key: pure.Key = RIEGELI_KEY) -> None:
        self._state: Any = pure.fresh_state(key)
        self._tail = b""

    def update(self, data: Data) -> None:
        """Take the next bytes; the buffer is not kept."""
        view = memoryview(data).cast("B")
        if self._tail:
            head, view = view[: pure.PACKET - len(self._tail)], view[pure.PACKET - len(self._tail) :]
            self._tail += head
            if len(self._tail) < pure.PACKET:
                return
            self._absorb(memoryview(self._tail))
            self._tail = b""
        whole = len(view) - len(view) % pure.PACKET
        if whole:
            self._absorb(view[:whole])
        self._tail = bytes(view[whole:])

    def digest(self) -> int:
        """The hash of all bytes so far; more may follow."""
        if not isinstance(self._state, list):
            return ENGINE.kernel.finish(self._state, self._tail)
        return pure.finish(list(self._state), self._tail)

    def _absorb(self, packets: memoryview) -> None:
        if not ENGINE.compiled(len(packets)):
            pure.absorb_all(self._state, packets)
            return
        if isinstance(self._state, list):
            self._state = ENGINE.new_state(self._state)  # pyright: ignore[reportUnknownArgumentType]
        ENGINE.kernel.absorb_all(self._state, packets)


def highwayhash64(data: Data, key: pure.Key = RIEGELI_KEY) -> int:
    """
    The hash of one buffer.

    >>> hex(highwayhash64(bytes(33)))
    '0x83c6bc5db558753'
    """
    view = memoryview(data).cast("B")
    if ENGINE.compiled(len(view)):
        return ENGINE.kernel.one_shot(ENGINE.fresh(key), view)
    hasher = HighwayHash64(key)
    hasher.update(view)
    return hasher.digest()


class BackgroundHash:
    """
    A hash of about `size` bytes that come in pieces; large ones are hashed beside the caller's own work.

    The pieces must stay as they are until `digest`.

    >>> hasher = BackgroundHash(3)
    >>> hasher.update(b"abc")
    >>> hasher.digest() == HighwayHash64().digest()
    False
    """

    def __init__(self, size: int) -> None:
        self._hasher = HighwayHash64()
        self._thread = ThreadPoolExecutor(1) if size >= WORTH_A_THREAD and ENGINE.compiled(size) else None
        self._pending: list[Future[None]] = []

    def update(self, data: Data) -> None:
        """Take the next piece."""
        if self._thread is None:
            self._hasher.update(data)
        else:
            self._pending.append(self._thread.submit(self._hasher.update, data))

    def digest(self) -> int:
        """The hash, when all pieces are through."""
        for piece in self._pending:
            piece.result()
        self.close()
        return self._hasher.digest()

    def close(self) -> None:
        """End the thread; what it was given is finished first."""
        if self._thread is not None:
            self._thread.shutdown()
