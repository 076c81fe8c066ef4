"""Workers that are actors of a Ray cluster: who joins what, what runs where, and how each end is told."""

from __future__ import annotations

import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ended import all_ended, descendants
from hanging import no_longer_than
from hosts import ADDRESSES, Hosts, two_hosts

import shardwright as sw
from shardwright.diagnostics import ShardwrightProcessError
from shardwright.engines.workers.ray import job

ray: Any = pytest.importorskip("ray", reason="needs the extra ray: make ray")
pytest.importorskip("mpi4py", reason="workers are connected by MPI")
if not sys.platform.startswith("linux"):
    pytest.skip("looks for processes in /proc", allow_module_level=True)

pytestmark = [pytest.mark.slow]

LONGEST = 150
"""Seconds after which something hangs, on a machine that has much else to do."""

AT_ONCE = 10
"""Seconds within which an end is told."""


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    """Ends a test that waits for ever."""
    with no_longer_than(LONGEST):
        yield


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two nodes of Ray on this machine, with a core each; this process has not joined them."""
    utils = pytest.importorskip("ray.cluster_utils")
    own = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
    found = utils.Cluster(initialize_head=True, head_node_args=own)
    try:
        found.add_node(num_cpus=1, object_store_memory=80 << 20)
        yield found
    finally:
        ray.shutdown()
        found.shutdown()


def array(workers: sw.Workers) -> sw.DTensor:
    """An array of which each worker has a row."""
    mesh = workers.mesh(x=workers.count)
    return sw.relayout(np.arange(2.0 * workers.count).reshape(-1, 2), sw.Layout(["x", None], mesh))


def assert_right(workers: sw.Workers) -> None:
    given = np.arange(2.0 * workers.count).reshape(-1, 2)
    assert (array(workers) @ given.T).numpy().tolist() == (given @ given.T).tolist()
    assert float(sw.sum(array(workers))) == given.sum()


def shared_memory(process: int) -> list[str]:
    """The files by which MPI's processes share memory, with what Linux says of those that nobody finds any more."""
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    return [line[line.index("/dev/shm/") :] for line in lines if "/dev/shm/mpich_shm_" in line]


def error_of(x: sw.DTensor) -> ShardwrightProcessError:
    """What is raised in the end, soon enough, by calls on workers of which one is gone."""
    begun = time.monotonic()
    with pytest.raises(ShardwrightProcessError) as error:
        until_it_fails(x)
    assert time.monotonic() - begun < AT_ONCE
    return error.value


def until_it_fails(x: sw.DTensor) -> None:
    """Repeats until there is an error, which the alarm would be in the end."""
    while True:
        (x + 1.0).numpy()


def test_a_ray_is_started_on_loopback_and_ends_with_its_workers() -> None:
    before = set(descendants(os.getpid()))
    with sw.Workers.ray(2, cpus=0.5) as workers:
        assert ray.is_initialized()
        assert_right(workers)
        own = set(descendants(os.getpid())) - before
        assert set(workers.process_ids) < own
        shared = [file for process in workers.process_ids for file in shared_memory(process)]
        assert shared
        assert all(file.endswith("(deleted)") for file in shared)  # who is killed leaves nothing behind
        with sw.Workers.ray(1, cpus=0.5) as others:  # on the same Ray, which outlives them
            assert_right(others)
        assert all_ended(others.process_ids)
        assert_right(workers)
    assert all_ended(own)
    assert not ray.is_initialized()


def test_workers_lie_on_the_nodes_of_a_cluster(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    with sw.Workers.ray(2) as workers:
        assert_right(workers)
        nodes = {each["Address"]["NodeID"] for each in ray._private.state.actors().values()}
        assert len(nodes) == 2
        processes = workers.process_ids
    assert all_ended(processes)
    assert not ray.is_initialized()
    ray.init(address=cluster.address, log_to_driver=False)
    with sw.Workers.ray(2) as workers:
        assert_right(workers)
    assert all_ended(workers.process_ids)
    assert ray.is_initialized()  # who has joined before stays


def test_a_cluster_that_is_too_small_says_so(cluster: Any) -> None:
    with pytest.raises(
        RuntimeError, match=r"SW0920.*3 of them take 3 cores, and the Ray cluster has 2(.|\n)*start fewer"
    ):
        sw.Workers.ray(3, address=cluster.address)
    with pytest.raises(RuntimeError, match=r"SW0920.*not placed all 1 within 3 seconds(.|\n)*2 cores of one node"):
        sw.Workers.ray(1, address=cluster.address, cpus=2, seconds=3)
    with sw.Workers.ray(3, address=cluster.address, cpus=0.5) as workers:
        assert_right(workers)
    assert all_ended(workers.process_ids)


def test_a_cluster_that_is_not_there_says_so() -> None:
    with pytest.raises(RuntimeError, match=r"SW0923.*'127.0.0.1:1' cannot be joined(.|\n)*ray start --head"):
        sw.Workers.ray(1, address="127.0.0.1:1")
    with pytest.raises(RuntimeError, match=r"SW0923.*'auto' cannot be joined(.|\n)*ray start --head"):
        sw.Workers.ray(1, address="auto")


def test_where_workers_come_to(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with sw.Workers.ray(2, address=cluster.address, listen="127.0.0.1") as workers:
        assert_right(workers)
    with pytest.raises(RuntimeError, match=r"SW0920.*cannot listen on '192.0.2.77'(.|\n)*an address of this machine"):
        sw.Workers.ray(2, address=cluster.address, listen="192.0.2.77")
    monkeypatch.setattr(job, "machine", lambda: "another")
    with pytest.raises(RuntimeError, match=r"SW0920.*cannot come to(.|\n)*listen='its address'"):
        sw.Workers.ray(2, address=cluster.address)


def test_an_actor_that_cannot_serve_says_why(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Without(job.Actor):
        def serve(self, *_: object) -> None:
            raise ModuleNotFoundError("No module named 'mpi4py'")

    monkeypatch.setattr(job, "Actor", Without)
    with pytest.raises(RuntimeError, match=r"SW0920.*has ended(.|\n)*No module named 'mpi4py'(.|\n)*pip install"):
        sw.Workers.ray(2, address=cluster.address)


@pytest.mark.parametrize("how", ["SIGKILL", "ray.kill", "the node"])
def test_a_death_ends_all_and_new_workers_can_be_started(cluster: Any, how: str) -> None:
    ray.init(address=cluster.address, log_to_driver=False)
    workers = sw.Workers.ray(2)
    x = array(workers)
    assert_right(workers)
    link: Any = workers._link
    if how == "SIGKILL":
        os.kill(workers.process_ids[1], signal.SIGKILL)
    elif how == "ray.kill":
        ray.kill(link._job.actors[1])
    else:
        (node,) = (each for each in cluster.list_all_nodes() if not each.is_head())
        cluster.remove_node(node, allow_graceful=False)
    error = error_of(x)
    assert "SW0922" in str(error)
    assert f"of 2, on {socket.gethostname()}, is gone" in str(error)
    assert "actor" in str(error)
    assert all_ended(workers.process_ids)
    with pytest.raises(ShardwrightProcessError, match="SW0922"):
        workers.wait()
    workers.close()
    with sw.Workers.ray(2, cpus=0.5) as others:
        assert_right(others)
    assert all_ended(others.process_ids)


def test_a_death_names_the_call_that_ran(cluster: Any) -> None:
    @sw.function
    def turns(x: Any) -> Any:
        forever = sw.while_loop(lambda pair: pair[0] < 10**9, lambda pair: (pair[0] + 1, pair[1] * 0.5), (0, x))
        return forever[1]

    workers = sw.Workers.ray(2, address=cluster.address)
    result = turns(array(workers))  # this one
    time.sleep(3)
    os.kill(workers.process_ids[0], signal.SIGKILL)
    begun = time.monotonic()
    with pytest.raises(ShardwrightProcessError, match=r"SW0922.*worker 0 of 2.*while it ran this call") as error:
        result.numpy()
    assert time.monotonic() - begun < AT_ONCE
    line = next(at for at, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "# this one" in text)
    place = error.value.diagnostics[0].location
    assert place is not None
    assert (place.file, place.line) == (__file__, line)
    assert all_ended(workers.process_ids)
    workers.close()


def test_a_worker_that_stands_still_is_not_waited_for(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the others say before they end is told, too."""
    monkeypatch.setenv("SHARDWRIGHT_TIMEOUT", "2")
    workers = sw.Workers.ray(2, address=cluster.address)
    x = array(workers)
    assert_right(workers)
    os.kill(workers.process_ids[1], signal.SIGSTOP)
    with pytest.raises(ShardwrightProcessError, match=r"SW0922.*is gone(.|\n)*waited 2 seconds for the others"):
        sw.sum(x).numpy()
    assert all_ended(workers.process_ids)
    workers.close()


@pytest.mark.parametrize("part", ["raylet", "gcs_server"])
def test_the_end_of_a_ray_of_our_own_is_told(part: str) -> None:
    """In another process: Ray may end it when its cluster is gone, and it shall not."""
    code = CONTROLLER + END_OF_RAY
    said = run(code, part)
    assert said[-1] == "went on"
    if part == "raylet":
        assert "SW0922" in said[-2]


CONTROLLER = """
import os, signal, sys, time, numpy, shardwright as sw
from pathlib import Path
workers = sw.Workers.ray(2, address=os.environ.get("CLUSTER"))
x = sw.relayout(numpy.arange(4.0), sw.Layout(["x"], workers.mesh(x=2)))
assert (x + 1.0).numpy().sum() == 10
print(*workers.process_ids, flush=True)
"""

END_OF_RAY = """
sys.path[:0] = [sys.argv[2]]
from ended import descendants
own = descendants(os.getpid())
(target,) = [each for each in own if sys.argv[1] == Path(f"/proc/{each}/comm").read_text().strip()]
os.kill(target, signal.SIGKILL)
begun = time.monotonic()
try:
    while time.monotonic() - begun < 10:
        (x + 1.0).numpy()
    print("it still works")
except RuntimeError as error:
    print(str(error).splitlines()[0], time.monotonic() - begun)
    assert time.monotonic() - begun < 10
workers.close()
print("went on")
"""


def run(code: str, *arguments: str) -> list[str]:
    """The lines that a controller prints; none of its processes is left."""
    mark = secrets.token_hex(8)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments, str(Path(__file__).parents[1] / "support")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "SHARDWRIGHT_TEST_RAY": mark},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert all_ended(marked(mark)), done.stderr
    assert done.stdout, done.stderr
    return done.stdout.splitlines()


AGENTS = ("ray::DashboardA", "ray::RuntimeEnv")
"""Two processes of each node of Ray's, which look for a minute for a cluster that was killed."""


def marked(mark: str) -> list[int]:
    """The processes that have a mark in their environment."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            agent = (folder / "comm").read_text().startswith(AGENTS)
            if not agent and f"SHARDWRIGHT_TEST_RAY={mark}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


ENDS = {
    "returns": "",
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "killed in a call": "os.kill(workers.process_ids[1], signal.SIGSTOP); sw.sum(x); time.sleep(0.5); "
    "os.kill(os.getpid(), signal.SIGKILL)",
    "exits": "os._exit(3)",
    "raises": "raise SystemExit(4)",
}


@pytest.mark.parametrize("end", ENDS)
def test_nothing_is_left_when_the_controller_ends(end: str) -> None:
    assert len(run(CONTROLLER + ENDS[end])[0].split()) == 2


@pytest.mark.parametrize("end", ["killed", "killed in a call"])
def test_a_cluster_goes_on_when_the_controller_ends(end: str, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTER", cluster.address)
    processes = [int(each) for each in run(CONTROLLER + ENDS[end])[0].split()]
    assert len(processes) == 2
    assert all_ended(processes)
    with sw.Workers.ray(2, address=cluster.address) as workers:
        assert_right(workers)


def test_a_wait_for_workers_that_start_can_be_interrupted(cluster: Any) -> None:
    """While Ray looks for a place that there is not."""
    timer = threading.Timer(4, signal.pthread_kill, [threading.get_ident(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sw.Workers.ray(1, address=cluster.address, cpus=2)
    assert not ray.is_initialized()


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    with two_hosts(tmp_path) as found:
        yield found


def test_a_cluster_of_two_machines(hosts: Hosts, tmp_path: Path) -> None:
    """Hosts with a name, a network and shared memory of their own: MPI goes over the cable, which is cut in the end."""
    left, right = ADDRESSES.values()
    (tmp_path / "token").write_text(secrets.token_hex(32))
    variables = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(tmp_path / "token")}
    start = f"{sys.executable} -m ray.scripts.scripts start --num-cpus 1 --object-store-memory {80 << 20}"
    head = f"{start} --disable-usage-stats --head --include-dashboard false --port 6379 --node-ip-address {left}"
    driver = Path(__file__).parents[1] / "support" / "ray_driver.py"
    for on, command in (("left", head), ("right", f"{start} --address {left}:6379 --node-ip-address {right}")):
        with hosts.started(f"{command} 2>&1", on=on, **variables) as starting:
            told, _ = starting.communicate(timeout=LONGEST)
        assert starting.returncode == 0, told
    with hosts.started(f"{sys.executable} {driver} {left}:6379 {left}", **variables) as controller:
        assert controller.stdout is not None
        assert controller.stdout.readline() == "left right 6.0\n"
        hosts.cut()
        said, _ = controller.communicate(timeout=LONGEST)
    assert "SW0922" in said
    assert "of 2, on right, is gone" in said
    # Ray may have said something of its own before.
    (took,) = re.findall(r"^(\d+\.\d) ", said, flags=re.MULTILINE)
    assert float(took) < 2 * AT_ONCE
    actors = [each for each in hosts.left_over() if "Actor" in Path(f"/proc/{each}/comm").read_text()]
    assert all_ended(actors)
