"""One worker goes wrong, in each way and at each moment: all end, and the controller says which, where, and goes on."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hanging import no_longer_than

import shardwright as sw
from shardwright.diagnostics import ShardwrightProcessError

pytest.importorskip("mpi4py", reason="workers are connected by MPI")
if not sys.platform.startswith("linux"):
    pytest.skip("looks for processes in /proc", allow_module_level=True)

pytestmark = [pytest.mark.slow]

LONGEST = 120
"""Seconds after which a fault hangs, on a machine that has much else to do."""

DEATHS = {"kill": (signal.SIGKILL, 137), "crash": (signal.SIGSEGV, 139), "abort": (signal.SIGABRT, 134)}
MOMENTS = ("idle", "running", "in line")


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    """Ends a test that waits for ever."""
    with no_longer_than(LONGEST):
        yield


def gone(processes: list[int]) -> bool:
    """Whether processes end, now or soon."""
    end = time.monotonic() + LONGEST / 2
    while time.monotonic() < end:
        if all(ended(each) for each in processes):
            return True
        time.sleep(0.05)
    return False


def ended(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except OSError:
        return True


def matrix(workers: sw.Workers) -> sw.DTensor:
    """An array of which each worker has some rows."""
    mesh = workers.mesh(x=workers.count)
    return sw.relayout(np.ones((64, 64), np.float32), sw.Layout(["x", None], mesh))


@sw.function
def turns(x: Any) -> Any:
    """Hours of products for which workers need each other's rows."""
    return sw.while_loop(lambda pair: pair[0] < 10**9, lambda pair: (pair[0] + 1, pair[1] @ pair[1] / 64), (0, x))[1]


def at_work(workers: sw.Workers, moment: str) -> sw.DTensor:
    """Brings the workers to a moment; something that will not be there when they are gone."""
    x = matrix(workers)
    assert float(sw.sum(x)) == 1 << 12
    if moment == "idle":
        return x
    result = turns(x)
    job = workers._link._job
    while not all(job.progress(place)[0] for place in range(workers.count)):
        time.sleep(0.01)  # not all have begun
    if moment == "running":
        return result
    for _ in range(50):
        result = result + 1.0
    return result


def look_until_it_fails(result: sw.DTensor) -> None:
    """Workers that are idle may be asked before anybody sees that one is gone."""
    while True:
        (result + 1.0).numpy()


def assert_a_later_run_works(count: int) -> None:
    with sw.Workers(count) as workers:
        assert float(sw.sum(matrix(workers))) == 1 << 12
    assert gone(workers.process_ids)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(("kind", "count"), [*((kind, 2) for kind in DEATHS), ("kill", 4)])
def test_one_death_ends_all(kind: str, moment: str, count: int) -> None:
    number, code = DEATHS[kind]
    workers = sw.Workers(count)
    result = at_work(workers, moment)
    os.kill(workers.process_ids[-1], number)
    with pytest.raises(ShardwrightProcessError) as error:
        look_until_it_fails(result)
    text = str(error.value)
    assert "SW0922" in text
    assert f"worker {count - 1} of {count}, on {socket.gethostname()}, is gone" in text
    assert f"code {code}" in text
    assert f"{Path(__file__).name}:" in text or moment == "idle"
    assert gone(workers.process_ids)
    workers.close()


@pytest.mark.parametrize("count", [2, 4])
def test_a_worker_that_stands_still_is_not_waited_for(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARDWRIGHT_TIMEOUT", "4")
    workers = sw.Workers(count)
    result = at_work(workers, "idle")
    os.kill(workers.process_ids[-1], signal.SIGSTOP)
    with pytest.raises(ShardwrightProcessError) as error:
        turns(result).numpy()
    text = str(error.value)
    assert "SW0922" in text
    assert f"of {count}, on {socket.gethostname()}, is gone" in text
    assert "waited 4 seconds for the others" in text
    assert f"{Path(__file__).name}:" in text
    assert gone(workers.process_ids)
    workers.close()
    assert_a_later_run_works(count)


@pytest.mark.parametrize("count", [2, 4])
def test_memory_that_runs_out_on_one_worker_ends_all(count: int) -> None:
    workers = sw.Workers(count)
    x = matrix(workers)
    assert float(sw.sum(x)) == 1 << 12
    used = int(Path(f"/proc/{workers.process_ids[-1]}/statm").read_text().split()[0]) * resource.getpagesize()
    resource.prlimit(workers.process_ids[-1], resource.RLIMIT_AS, (used + (64 << 20), used + (64 << 20)))
    wide = sw.function(lambda x: sw.sum(sw.sqrt(sw.tile(x, (1, 1 << 15)) * 2.0)))
    total = wide(x)
    with pytest.raises(ShardwrightProcessError) as error:
        float(total)
    text = str(error.value)
    assert "SW0921" in text
    assert f"worker {count - 1} of {count}, on {socket.gethostname()}" in text
    assert "SW0609" in text
    assert f"{Path(__file__).name}:" in text
    assert gone(workers.process_ids)
    workers.close()
    assert_a_later_run_works(count)
