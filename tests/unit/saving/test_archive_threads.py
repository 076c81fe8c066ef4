"""Work in threads, and bytes at places of a file: all or none, whatever fails."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from shardwright.saving.checkpoints.archive import file as files
from shardwright.saving.checkpoints.archive.file import flushing, read_at, write_at
from shardwright.saving.checkpoints.archive.threads import MAX_THREADS, thread_count, work_off


@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_job_is_done_once(count: int) -> None:
    done = list[int]()
    work_off(iter(range(1000)), lambda: done.append, count)
    assert sorted(done) == list(range(1000))


@pytest.mark.parametrize("error", [OSError("full"), StopIteration(), KeyboardInterrupt()])
def test_the_first_error_is_raised_when_nobody_works_any_more(error: BaseException) -> None:
    working, most = set[int](), list[int]()

    def work(job: int) -> None:
        working.add(threading.get_ident())
        most.append(job)
        if job == 3:
            raise error
        time.sleep(0.001)
        working.discard(threading.get_ident())

    with pytest.raises(type(error)):
        work_off(range(10_000), lambda: work, 4)
    assert len(working) == 1  # the one that failed
    assert len(most) < 1000


def test_what_hands_out_jobs_may_fail() -> None:
    def jobs() -> Any:
        yield 1
        raise MemoryError

    done = list[int]()
    with pytest.raises(MemoryError):
        work_off(jobs(), lambda: done.append, 3)
    assert done == [1]


def test_threads_have_little_memory_in_all() -> None:
    assert thread_count(1 << 40) == 1
    assert 1 <= thread_count(1) <= MAX_THREADS
    assert thread_count(16 << 20) * 16 <= 32


def test_short_writes_and_reads_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    descriptor = os.open(tmp_path / "a", os.O_RDWR | os.O_CREAT)
    write, writev, readv = os.pwrite, os.pwritev, os.preadv
    monkeypatch.setattr(os, "pwritev", lambda to, pieces, at: writev(to, [b"".join(pieces)[:3]], at))
    monkeypatch.setattr(os, "pwrite", lambda to, data, at: write(to, data[:2], at))
    monkeypatch.setattr(os, "preadv", lambda of, targets, at: readv(of, [targets[0][:2]], at))
    write_at(descriptor, [b"0123", memoryview(b"456789")], 5)
    assert (tmp_path / "a").read_bytes() == bytes(5) + b"0123456789"
    found = memoryview(bytearray(10))
    assert read_at(descriptor, found, 5)
    assert bytes(found) == b"0123456789"
    assert not read_at(descriptor, found, 6)
    os.close(descriptor)


def test_a_disk_that_fails_while_it_is_written_to_is_not_overheard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fdatasync(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fdatasync)
    monkeypatch.setattr(files, "_FLUSH_SECONDS", 0.001)
    with pytest.raises(OSError, match="Input/output"), flushing(os.open(tmp_path / "a", os.O_RDWR | os.O_CREAT)):
        time.sleep(0.1)
