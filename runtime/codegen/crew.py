"""A crew of threads that share blocks of element-wise work and halves of matrix products."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEEP_BYTES = 1 << 30
_LARGEST_MMAP_THRESHOLD = 1 << 25  # glibc refuses more

THREADS_VARIABLE = "SHARDWRIGHT_THREADS"
"""The environment variable that says how many threads a process computes with: one for each core unless it is set."""

_SMALLEST_PART = 128
"""Rows or columns of a product below which it is not cut further, so that a busy core holds up less."""


_PATIENCE = 0.1
"""Seconds after which a thread that is not done is woken again."""

Product: TypeAlias = "tuple[int, Any, Any, Any]"
"""The dim of the result to cut, the two operands, and the result."""

Link: TypeAlias = "Callable[[int, int], None]"
"""Runs one thread's part of a unit: `link(thread, threads)`."""


class _Task:
    """A job that every thread does once, and what was raised there."""

    def __init__(self, job: Callable[[int], None]) -> None:
        self.job = job
        self.errors: list[BaseException] = []


class Crew:
    """
    `size` threads, the caller being one; the others sleep between jobs.

    >>> crew = Crew(2)
    >>> done = []
    >>> crew.share(lambda thread: done.append(thread))
    >>> sorted(done)
    [0, 1]
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._task = _Task(_nothing)
        self._finished = [self._task] * (size - 1)
        self._wake = [threading.Lock() for _ in range(size - 1)]
        self._done = [threading.Lock() for _ in range(size - 1)]
        self._busy = threading.Lock()
        for index in range(size - 1):
            self._wake[index].acquire()
            self._done[index].acquire()
            threading.Thread(target=self._work, args=(index,), daemon=True, name=f"shardwright-{index + 1}").start()

    def _work(self, index: int) -> None:
        with np.errstate(all="ignore"):
            while True:
                self._wake[index].acquire()
                if (task := self._task) is not self._finished[index]:
                    try:
                        task.job(index + 1)
                    except BaseException as error:  # handed to the caller, which raises it
                        task.errors.append(error)
                    self._finished[index] = task
                    _ring(self._done[index])

    def share(self, job: Callable[[int], None]) -> None:
        """
        Runs `job(thread)` once on every thread and waits for all; callers from several threads take turns.

        Signals may interrupt it anywhere: it waits for the others all the same, up to a second signal (see `finish`).
        """
        with self._busy:
            self._settle()
            task = self._task = _Task(job)
            try:
                for lock in self._wake:
                    _ring(lock)
                job(0)
                self._settle()
            finally:
                self._settle()
        if task.errors:
            raise task.errors[0]

    def finish(self) -> None:
        """Returns when no thread is at a job any more, which one may be after two signals."""
        with self._busy:
            self._settle()

    def _settle(self) -> None:
        """The same, for who has the crew: another caller's job must not be taken for the last one."""
        task = self._task
        if task.job is _nothing:
            return
        for index, bell in enumerate(self._done):
            while self._finished[index] is not task:
                if not bell.acquire(True, _PATIENCE):
                    _ring(self._wake[index])  # a signal may have come before it was woken
        task.job = _nothing

    def tiles(
        self, tile: Callable[..., None], outer: int, rows: int, block: int, scratch: Sequence[Any], *arrays: Any
    ) -> None:
        """Runs `tile(at, low, high, scratch, *arrays)` over all blocks, each thread taking the next one."""
        blocks = -(-rows // block)
        total, ticket = outer * blocks, count()

        def job(thread: int) -> None:
            mine = scratch[thread]
            for at in ticket:
                if at >= total:
                    return
                index, part = divmod(at, blocks)
                low = part * block
                tile(index, low, min(low + block, rows), mine, *arrays)

        self.share(job) if total > 1 and self.size > 1 else job(0)

    def chain(self, *links: Link) -> None:
        """Runs the links in order on every thread, each with its own part; threads wait only at the end."""

        def job(thread: int) -> None:
            for link in links:
                link(thread, self.size)

        self.share(job)

    def matmul(self, *products: Product) -> None:
        """
        Matrix products `(axis, lhs, rhs, out)`, none of which reads another's result.

        Each result is cut along its `axis`; every thread takes the next part of any product.
        """
        rounds = 1 if len(products) > 1 else 2
        tasks = [task for product in products for task in _parts(product, self.size, rounds)]
        ticket = count()

        def job(thread: int) -> None:
            for at in ticket:
                if at >= len(tasks):
                    return
                lhs, rhs, out = tasks[at]
                np.matmul(lhs, rhs, out=out)

        self.share(job)


def _parts(product: Product, threads: int, rounds: int) -> list[tuple[Any, Any, Any]]:
    """The operands and results of the parts into which a product is cut: one or two for each thread."""
    axis, _, _, out = product
    extent, dims = out.shape[axis], out.ndim
    wanted = extent // _SMALLEST_PART if axis >= dims - 2 else extent
    number = min(extent, max(threads, min(rounds * threads, wanted)))
    return [_part(product, at, number) for at in range(number)]


def _part(product: Product, at: int, number: int) -> tuple[Any, Any, Any]:
    """The operands and the result of one of a number of parts."""
    axis, lhs, rhs, out = product
    extent, dims = out.shape[axis], out.ndim
    index = (*(slice(None),) * axis, slice(extent * at // number, extent * (at + 1) // number))
    cut_left, cut_right = axis != dims - 1 and lhs.shape[axis] > 1, axis != dims - 2 and rhs.shape[axis] > 1
    return lhs[index] if cut_left else lhs, rhs[index] if cut_right else rhs, out[index]


def product_link(axis: int, lhs: Any, rhs: Any, out: Any) -> Link:
    """The link of a matrix product whose result is cut along `axis`."""

    def link(thread: int, threads: int) -> None:
        left, right, result = _part((axis, lhs, rhs, out), thread, threads)
        np.matmul(left, right, out=result)

    return link


def tile_link(
    axis: int, tile: Callable[..., None], outer: int, rows: int, block: int, scratch: Sequence[Any], *arrays: Any
) -> Link:
    """The link of a tile's blocks (see `Crew.tiles`), cut along the outer dim (0) or along the rows (1)."""

    def link(thread: int, threads: int) -> None:
        mine = scratch[thread]
        first, last = outer * thread // threads, outer * (thread + 1) // threads
        start, stop = 0, rows
        if axis == 1:
            first, last, start, stop = 0, outer, rows * thread // threads, rows * (thread + 1) // threads
        for index in range(first, last):
            for low in range(start, stop, block):
                tile(index, low, min(low + block, stop), mine, *arrays)

    return link


def _nothing(thread: int) -> None:
    return None


def _ring(bell: threading.Lock) -> None:
    """Lets who waits at the bell go on, or who comes there next: rung twice is rung once."""
    if bell.locked():
        bell.release()


@cache
def shared_crew(size: int | None = None) -> Crew:
    """The process' crew of that size (by default one thread for each usable core)."""
    _tune_allocator()
    return Crew(size or _usable_cores())


def _usable_cores() -> int:
    """The cores that this process may use: several processes on one machine share them."""
    told = os.environ.get(THREADS_VARIABLE, "")
    if told.isdecimal() and int(told):
        return int(told)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Generator[None]:
    """BLAS computes with one thread inside, since the crew shares its products."""
    others = [(library, threads) for library in _blas_libraries() if (threads := library.get_num_threads()) != 1]
    for library, _ in others:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, threads in others:
            library.set_num_threads(threads)


@cache
def _blas_libraries() -> list[Any]:
    """The controllers of the BLAS libraries of this process; warns once when BLAS was told to run old code."""
    if os.environ.get("OPENBLAS_CORETYPE"):
        core = os.environ["OPENBLAS_CORETYPE"]
        warnings.warn(
            f"OPENBLAS_CORETYPE={core} is set: OpenBLAS runs code for that processor, which can be half as fast; "
            "unset it for full speed",
            RuntimeWarning,
            stacklevel=2,
        )
    return ThreadpoolController().select(user_api="blas").lib_controllers


@cache
def _tune_allocator() -> None:
    """
    Tells glibc to keep freed memory, once for the process (a no-op elsewhere).

    Fresh pages cost more than the arithmetic on them: results that are allocated anew in each run come from memory
    that the last run freed. Up to 1 GiB stays with the process instead of going back to the system.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return
    mallopt(_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
    mallopt(_TRIM_THRESHOLD, _KEEP_BYTES)


def scratch_arrays(backing: Sequence[Any], slots: Sequence[tuple[int, tuple[int, ...], Any]]) -> list[list[Any]]:
    """For each thread's flat memory an array for each (byte offset, shape, dtype)."""
    return [[np.ndarray(shape, dtype, memory, offset) for offset, shape, dtype in slots] for memory in backing]
