"""Large buffers that cost nothing until they are filled."""

from __future__ import annotations

import mmap

MAPPED_FROM = 1 << 22


def allocate(size: int) -> memoryview:
    """
    A buffer of zeros. A large one comes from the system, which makes its pages, large ones, when they are written.

    >>> len(allocate(3)), bytes(allocate(MAPPED_FROM)[-1:])
    (3, b'\\x00')
    """
    if size < MAPPED_FROM:
        return memoryview(bytearray(size))
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return memoryview(pages)
