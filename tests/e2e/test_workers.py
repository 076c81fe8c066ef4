"""One controller and its workers, with real processes: results, order, faults, ends. Expected values are NumPy's."""

from __future__ import annotations

import contextlib
import copy
import gc
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ended import all_ended, descendants
from hanging import no_longer_than
from ports import listening

import shardwright as sw
from shardwright.diagnostics import ShardwrightProcessError
from shardwright.engines.workers import courier, link
from shardwright.engines.workers.starting import door

pytest.importorskip("mpi4py", reason="workers are connected by MPI")

ROOT = Path(__file__).resolve().parents[2]

SECONDS = 60
"""Nothing here may take longer: what hangs is a failure."""


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    """Ends a test that waits for ever."""
    with no_longer_than(SECONDS):
        yield


@pytest.fixture(scope="module", params=["here", pytest.param("ray", marks=pytest.mark.slow)])
def workers(request: pytest.FixtureRequest) -> Iterator[sw.Workers]:
    """Two workers: processes of this machine, or actors of a Ray that is started for them."""
    if request.param == "ray":
        pytest.importorskip("ray", reason="needs the extra ray: make ray")
    with sw.Workers(2) if request.param == "here" else sw.Workers.ray(2) as started:
        yield started


LOOPBACK = {4: "0100007F", 6: "0000000000000000FFFF00000100007F"}
"""How the kernel writes 127.0.0.1, over either protocol."""


def line_of(code: Callable[..., Any], text: str) -> int:
    """The line of this file on which a function has a text."""
    lines = Path(__file__).read_text().splitlines()
    start = code.__code__.co_firstlineno - 1
    return next(number for number, line in enumerate(lines[start:], start + 1) if text in line)


def random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


LAYOUTS = [
    (["x", "y"], ["y", "x"]),
    (["x", None], [None, "y"]),
    ([None, "x"], ["x", None]),
    ([None, None], [("x", "y"), None]),
]


@pytest.mark.parametrize(("left", "right"), LAYOUTS)
def test_results_are_those_of_numpy(workers: sw.Workers, left: Any, right: Any) -> None:
    mesh = workers.mesh(x=2, y=2)
    a, b = random(8, 12), random(12, 4)
    x, y = sw.relayout(a, sw.Layout(left, mesh)), sw.relayout(b, sw.Layout(right, mesh))

    @sw.function
    def program(x: Any, y: Any) -> Any:
        product = x @ y
        return product, sw.sum(product, axis=0), sw.max(x)

    product, total, most = program(x, y)
    np.testing.assert_allclose(product.numpy(), a @ b, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(sw.fetch(total), (a @ b).sum(0), rtol=1e-4, atol=1e-4)
    assert float(most) == a.max()
    assert x.numpy().tolist() == a.tolist()
    assert np.asarray(product)[3, 2] == product[3, 2].numpy()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for sockets in /proc")
def test_nothing_listens_on_a_network(workers: sw.Workers, request: pytest.FixtureRequest) -> None:
    """Workers here have no port at all, nor has who starts them; what Ray opens for its own is on loopback."""
    mesh = workers.mesh(x=2)
    assert sw.relayout(sw.relayout(np.arange(4.0), sw.Layout(["x"], mesh)), sw.Layout([None], mesh)).numpy()[3] == 3
    own = descendants(os.getpid())
    assert set(workers.process_ids) < set(own)
    on_loopback = set(LOOPBACK.values()) if request.node.callspec.params["workers"] == "ray" else set[str]()
    assert {each.rpartition(":")[0] for each in listening([os.getpid(), *own])} == on_loopback
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert f"{LOOPBACK[4]}:{server.getsockname()[1]:04X}" in listening([os.getpid()])


def test_components_are_those_of_each_device(workers: sw.Workers) -> None:
    mesh = workers.mesh({"x": 2, "y": 2})
    a = np.arange(16, dtype=np.float32).reshape(4, 4)
    split = sw.relayout(a, sw.Layout(["y", None], mesh))
    assert [part.tolist() for part in sw.unpack(split)] == [a[:2].tolist(), a[2:].tolist()] * 2
    parts = [np.full((2, 2), device) for device in range(4)]
    packed = sw.pack(parts, sw.Layout(["x", "y"], mesh))
    assert [part.tolist() for part in packed.components()] == [part.tolist() for part in parts]
    assert packed.numpy().tolist() == np.block([[parts[0], parts[1]], [parts[2], parts[3]]]).tolist()


def test_arrays_numbers_and_types_travel(workers: sw.Workers) -> None:
    mesh = workers.mesh(x=2)
    x = sw.relayout(np.arange(4, dtype=np.int32), sw.Layout(["x"], mesh))
    given = np.array([1, 2, 3, 4], np.int32)
    scaled = sw.function(lambda x, y, by: (x + y) * by)(x, given, 3)
    given[:] = 0  # it was sent, or it was copied
    assert scaled.numpy().tolist() == [3, 9, 15, 21]
    half = sw.astype(x, sw.float16)
    assert (half.numpy().dtype, half.numpy().tolist()) == (np.float16, [0, 1, 2, 3])
    ones = sw.ones((6,), layout=sw.Layout(["x"], mesh))
    assert ones.numpy().tolist() == [1] * 6


def test_meshes_of_others_are_others(workers: sw.Workers) -> None:
    assert workers.mesh(x=2) == workers.mesh(x=2)
    assert workers.mesh(x=2) != sw.Mesh(x=2)
    with pytest.raises(ValueError, match="SW0120"):
        workers.mesh(x=3)
    with pytest.raises(ValueError, match="SW0116"):
        sw.Workers(0)


def test_tensors_move_between_here_and_there(workers: sw.Workers) -> None:
    here, there = sw.Layout(["x"], sw.Mesh(x=4)), sw.Layout(["y"], workers.mesh(y=2))
    x = sw.relayout(np.arange(8.0), here)

    @sw.function
    def both(x: Any) -> Any:
        away = sw.relayout(x * 2, there)
        return sw.relayout(away + 1, here) + x, away

    home, away = both(x)
    assert home.numpy().tolist() == (np.arange(8.0) * 3 + 1).tolist()
    assert (away.mesh, away.numpy().tolist()) == (there.mesh, (np.arange(8.0) * 2).tolist())
    assert sw.relayout(away, here).mesh == here.mesh


def test_calls_run_in_the_order_in_which_they_are_asked_for(workers: sw.Workers) -> None:
    state = sw.Variable(np.zeros(4, np.int64), layout=sw.Layout(["x"], workers.mesh(x=2)))

    @sw.function
    def step(by: Any) -> None:
        state.assign(state * 3 + by)

    expected = np.zeros(4, np.int64)
    for number in range(200):
        step(np.int64(number % 5))
        expected = expected * 3 + number % 5  # wraps like theirs
    assert state.numpy().tolist() == expected.tolist()


def test_a_model_trains_as_in_numpy(workers: sw.Workers) -> None:
    """Linear regression with momentum: the losses of thirty steps."""
    mesh = workers.mesh(batch=2, model=2)
    inputs, weights = random(32, 8).astype(np.float64), random(8, 4).astype(np.float64)
    targets = inputs @ weights
    variable = sw.Variable(np.zeros((8, 4)), layout=sw.Layout([None, "model"], mesh), name="weights")
    optimizer = sw.optimizers.SGD(0.0625, momentum=0.75)
    x, y = sw.relayout(inputs, sw.Layout(["batch"], mesh)), sw.relayout(targets, sw.Layout(["batch", "model"], mesh))

    @sw.function
    def step(x: Any, y: Any) -> Any:
        with sw.GradientTape() as tape:
            loss = sw.mean(sw.square(x @ variable - y))
        optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])
        return loss

    losses = [step(x, y) for _ in range(30)]
    w, velocity, expected = np.zeros((8, 4)), np.zeros((8, 4)), list[float]()
    for _ in range(30):
        wrong = inputs @ w - targets
        expected.append(float((wrong**2).mean()))
        velocity = 0.75 * velocity + inputs.T @ wrong * (2 / wrong.size)
        w = w - 0.0625 * velocity
    np.testing.assert_allclose([float(loss) for loss in losses], expected, rtol=1e-9)
    np.testing.assert_allclose(variable.numpy(), w, rtol=1e-9)


def test_figures_are_those_of_one_process(workers: sw.Workers) -> None:
    """A sum over four devices in two processes: a ring sends 2 * 3/4 of the buffer from each device."""
    x = sw.relayout(random(8, 16), sw.Layout(["x"], workers.mesh(x=4)))
    total = sw.function(lambda x: sw.sum(x, axis=0))
    total(x)
    compiled = total.compiled(x)
    assert compiled.ledger.sent_bytes == 2 * 3 * 16 * 4 // 4
    assert compiled.ledger.messages == 1
    assert "def " in compiled.source
    assert compiled.peak_bytes >= 2 * 16 * 4


def test_what_a_device_holds_is_what_its_worker_holds(workers: sw.Workers) -> None:
    """Two workers with a device each hold together twice what was said of one, beside the arguments."""
    x = sw.relayout(random(256, 64), sw.Layout([None, "x"], workers.mesh(x=2)))
    ordered = sw.function(lambda x: sw.sort(x, axis=0))
    assert (ordered(x).numpy() == np.sort(x.numpy(), axis=0)).all()
    said = ordered.trace(x).partition().price().peak_bytes
    assert ordered.compiled(x).peak_bytes == 2 * (said - x.numpy().nbytes // 2)


def test_what_nobody_needs_is_let_go(workers: sw.Workers) -> None:
    gc.collect()
    before = workers.held_bytes
    layout = sw.Layout(["x"], workers.mesh(x=2))
    x = sw.relayout(np.zeros(1000), layout)
    whole = sw.relayout(np.zeros(10), sw.Layout([None], workers.mesh(x=2)))
    assert [now - then for now, then in zip(workers.held_bytes, before, strict=True)] == [4080, 4080]
    for _ in range(5):
        x = x + 1.0
    del whole
    assert [now - then for now, then in zip(workers.held_bytes, before, strict=True)] == [4000, 4000]
    del x
    assert workers.held_bytes == before


def test_a_call_that_fails_everywhere_says_where_and_harms_nothing_before_it(workers: sw.Workers) -> None:
    mesh = workers.mesh(x=2)
    layout = sw.Layout(["x"], mesh)
    x = sw.relayout(np.arange(4.0), layout)
    huge = sw.function(lambda x: sw.sum(x) + sw.ones((1 << 24, 1 << 24), layout=layout))
    lost = huge(x)  # this one
    behind = lost + 1.0
    with pytest.raises(RuntimeError, match="SW0921") as error:
        behind.numpy()
    found = error.value
    assert isinstance(found, ShardwrightProcessError)
    assert found.diagnostics[0].location is not None
    assert found.diagnostics[0].location.file == __file__
    here = test_a_call_that_fails_everywhere_says_where_and_harms_nothing_before_it
    assert found.diagnostics[0].location.line == line_of(here, "# this one")
    assert f"of 2, on {socket.gethostname()}" in str(found)
    assert "SW0609" in str(found)
    assert (x + 1.0).numpy().tolist() == [1, 2, 3, 4]
    workers.wait()  # who was told of it is not told again
    del lost, behind
    huge(x)
    with pytest.raises(RuntimeError, match="SW0609"):
        workers.wait()


def test_who_is_told_of_a_failed_call_can_go_on_at_once(workers: sw.Workers) -> None:
    """One worker alone is asked for what all have; the other one, stopped, has not failed when that one answers."""
    mesh = workers.mesh(x=2)
    x = sw.relayout(np.arange(4.0), sw.Layout(["x"], mesh))
    assert (x + 1.0).numpy().tolist() == [1, 2, 3, 4]
    os.kill(workers.process_ids[1], signal.SIGSTOP)
    lost = sw.ones((1 << 24, 1 << 24), layout=sw.Layout([None, None], mesh))
    timer = threading.Timer(0.5, os.kill, [workers.process_ids[1], signal.SIGCONT])
    timer.start()
    with pytest.raises(ShardwrightProcessError, match=r"SW0921.*worker 0 of 2(.|\n)*SW0609"):
        lost.numpy()
    assert (x + 1.0).numpy().tolist() == [1, 2, 3, 4]
    timer.join()


def test_a_call_fails_while_there_is_no_room_in_line(workers: sw.Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells the workers to go on waits for no room, which their own end of the line has to make."""
    monkeypatch.setattr(courier, "MOST_WAITING", 1 << 10)
    layout = sw.Layout(["x"], workers.mesh(x=2))
    for process in workers.process_ids:
        os.kill(process, signal.SIGSTOP)
    lost = sw.ones((1 << 24, 1 << 24), layout=layout)
    large = sw.relayout(np.ones(1 << 21), layout)
    for process in workers.process_ids:
        os.kill(process, signal.SIGCONT)
    with pytest.raises(ShardwrightProcessError, match=r"SW0921(.|\n)*SW0609"):
        lost.numpy()
    assert float(sw.sum(large)) == 1 << 21


def test_a_wait_can_be_interrupted(workers: sw.Workers) -> None:
    """The signal comes while the workers are stopped, so that the wait cannot be over before."""
    x = sw.relayout(np.arange(4.0), sw.Layout(["x"], workers.mesh(x=2)))
    for process in workers.process_ids:
        os.kill(process, signal.SIGSTOP)
    try:
        timer = threading.Timer(0.2, signal.pthread_kill, [threading.get_ident(), signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            (x * 2.0).numpy()
    finally:
        for process in workers.process_ids:
            os.kill(process, signal.SIGCONT)
    assert (x * 3.0).numpy().tolist() == [0, 3, 6, 9]


def test_calls_do_not_wait(workers: sw.Workers) -> None:
    """While the workers are stopped, calls and arrays that nobody looks at go on; afterwards all is there."""
    x = sw.relayout(np.zeros(4), sw.Layout(["x"], workers.mesh(x=2)))
    (x + 1.0).numpy()
    for process in workers.process_ids:
        os.kill(process, signal.SIGSTOP)
    try:
        for _ in range(300):
            x = x + 1.0
        large = sw.relayout(np.ones((4, 1 << 20)), sw.Layout([None, "x"], workers.mesh(x=2)))
    finally:
        for process in workers.process_ids:
            os.kill(process, signal.SIGCONT)
    assert x.numpy().tolist() == [300.0] * 4
    assert float(sw.sum(large)) == 1 << 22


def test_what_workers_hold_is_shared_by_copies_and_in_no_pickle(workers: sw.Workers) -> None:
    x = sw.relayout(np.arange(4.0), sw.Layout(["x"], workers.mesh(x=2)))
    for held in (x, x.layout, x.mesh, sw.Variable(x)):
        with pytest.raises(TypeError, match=r"SW0537.*cannot be pickled"):
            pickle.dumps(held)
    assert np.asarray(copy.deepcopy(x) + 1).tolist() == [1, 2, 3, 4]
    assert copy.deepcopy(x.mesh) == x.mesh


def test_a_death_ends_all_and_new_workers_can_be_started() -> None:
    workers = sw.Workers(2)
    x = sw.relayout(np.arange(4.0), sw.Layout(["x"], workers.mesh(x=2)))
    (x + 1.0).numpy()
    os.kill(workers.process_ids[1], signal.SIGKILL)
    gone = rf"SW0922.*worker 1 of 2, on {socket.gethostname()}, is gone(.|\n)*code 137"
    with pytest.raises(ShardwrightProcessError, match=gone):
        until_it_fails(lambda: (x + 1.0).numpy())
    with pytest.raises(ShardwrightProcessError, match=gone):
        x + 2.0
    with pytest.raises(ShardwrightProcessError, match=gone):
        workers.wait()
    assert all_ended(workers.process_ids)
    workers.close()
    with sw.Workers(1) as others:
        y = sw.relayout(np.arange(4.0), sw.Layout(["x"], others.mesh(x=2)))
        assert (y + 1.0).numpy().tolist() == [1, 2, 3, 4]
    assert all_ended(others.process_ids)
    with pytest.raises(ShardwrightProcessError, match=r"SW0922.*they were closed"):
        y.numpy()


def until_it_fails(work: Callable[[], Any]) -> None:
    """Repeats until there is an error, which the alarm would be in the end."""
    while True:
        work()


@pytest.mark.slow
def test_a_death_names_the_call_that_ran() -> None:
    with sw.Workers(1) as workers:
        x = sw.relayout(np.ones((1024, 1024), np.float32), sw.Layout([None, None], workers.mesh(x=1)))

        @sw.function
        def turn(x: Any) -> Any:
            for _ in range(500):
                x = x @ x / 1024
            return x

        compiled = turn.compiled(x)
        assert "def " in compiled.source  # it is there, and has only to run
        result = turn(x)  # this one
        time.sleep(0.2)
        os.kill(workers.process_ids[0], signal.SIGKILL)
        with pytest.raises(ShardwrightProcessError) as error:
            result.numpy()
        place = error.value.diagnostics[0].location
        assert place is not None
        assert (place.file, place.line) == (__file__, line_of(test_a_death_names_the_call_that_ran, "# this one"))
        with pytest.raises(ShardwrightProcessError, match="SW0922"):
            workers.wait()
        with pytest.raises(ShardwrightProcessError, match="SW0922"):
            print(workers.held_bytes)
        workers.close()  # then the end of the block has nothing to wait for


@pytest.mark.slow
def test_an_error_in_the_block_ends_the_workers_at_once() -> None:
    processes: list[int] = []

    def work() -> None:
        with sw.Workers(1) as workers:
            processes.extend(workers.process_ids)
            os.kill(processes[0], signal.SIGSTOP)  # it would not leave when it is asked to
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert all_ended(processes)


CONTROLLER = """
import os, signal, time, numpy, shardwright as sw
workers = sw.Workers(2)
x = sw.relayout(numpy.arange(4.0), sw.Layout(["x"], workers.mesh(x=2)))
print(*workers.process_ids, (x + 1.0).numpy().sum(), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "end",
    [
        "",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os._exit(3)",
        "raise SystemExit(4)",
        # The other worker waits for the one that is stopped, in a call of MPI, when the controller is killed.
        "os.kill(workers.process_ids[1], signal.SIGSTOP); sw.sum(x); time.sleep(0.5); "
        "os.kill(os.getpid(), signal.SIGKILL)",
    ],
    ids=["returns", "killed", "exits", "raises", "killed in a call"],
)
def test_nothing_is_left_when_the_controller_ends(end: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CONTROLLER + end],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    *processes, total = done.stdout.split()
    assert (float(total), len(processes)) == (10, 2)
    assert all_ended([int(process) for process in processes])


@pytest.mark.slow
def test_what_is_no_frame_is_refused() -> None:
    workers = sw.Workers(1)
    connection: Any = workers._link
    connection._courier.put([[b"GET / HTTP/1.1\r\nHost: localhost\r\n"]])
    refused = r"SW0922(.|\n)*code 71(.|\n)*refuses what it was sent: a frame begins with"
    with pytest.raises(ShardwrightProcessError, match=refused):
        workers.wait()
    assert all_ended(workers.process_ids)
    workers.close()


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    with pytest.raises(
        RuntimeError, match=r"SW0923.*need Ray, which does not load(.|\n)*pip install 'shardwright\[ray\]'"
    ):
        sw.Workers.ray(2)
    for seconds in ("60", float("nan"), 0):
        with pytest.raises(ValueError, match=rf"SW0914.*seconds={seconds!r} is no number of seconds"):
            sw.Workers(2, seconds=seconds)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"SW0116.*there cannot be 0 workers"):
        sw.Workers.ray(0)


def test_workers_that_cannot_start_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "__file__", "/nowhere/door.py")
    with pytest.raises(
        RuntimeError, match=r"SW0920.*\n  note: error\[SW0913\]: 1,000,000 processes are more than this"
    ):
        sw.Workers(1_000_000)
    with pytest.raises(RuntimeError, match=r"SW0920.*ended with code(.|\n)*/nowhere/door.py"):
        sw.Workers(1)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(RuntimeError, match=r"SW0920.*/nowhere/python cannot be started: No such file"):
        sw.Workers(1)


@pytest.mark.slow
def test_a_call_that_fails_on_one_worker_ends_all() -> None:
    """One worker may take no more memory: the others, which do not fail, are not left waiting for it."""
    workers = sw.Workers(2)
    x = sw.relayout(np.ones((8, 1 << 10)), sw.Layout(["x"], workers.mesh(x=2)))

    @sw.function
    def program(x: Any) -> Any:
        wide = sw.tile(x, (1, 1 << 14))
        return sw.sum(wide * 2.0), sw.sqrt(wide)

    (x + 1.0).numpy()
    used = int(Path(f"/proc/{workers.process_ids[1]}/statm").read_text().split()[0]) * resource.getpagesize()
    resource.prlimit(workers.process_ids[1], resource.RLIMIT_AS, (used + (64 << 20), used + (64 << 20)))
    total, _ = program(x)
    with pytest.raises(ShardwrightProcessError, match=r"SW0921.*worker 1 of 2(.|\n)*SW0609(.|\n)*all were ended"):
        float(total)
    assert all_ended(workers.process_ids)
    workers.close()


@pytest.mark.slow
def test_interrupts_at_any_moment_leave_the_session_whole(workers: sw.Workers) -> None:
    """Three hundred times calls, arrays and waits are broken off anywhere: what runs afterwards is right."""
    layout = sw.Layout(["x"], workers.mesh(x=2))
    x = sw.relayout(np.arange(4.0), layout)
    step = sw.function(lambda x: x * 2 + 1)
    step(x).numpy()
    moments = np.random.default_rng(0).random(300) * 0.01
    armed, over = threading.Event(), threading.Event()

    def shoot() -> None:
        for moment in moments:
            armed.wait()
            time.sleep(moment)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            armed.clear()
        over.set()
        armed.set()

    def rounds() -> None:
        while not over.is_set():
            armed.set()
            y = x
            for _ in range(5):
                y = step(y)
            sw.relayout(np.ones((2, 50_000)), layout)
            assert y.numpy().tolist() == [31, 63, 95, 127]

    thread = threading.Thread(target=shoot)
    thread.start()
    while not over.is_set():
        with contextlib.suppress(KeyboardInterrupt):
            rounds()
    thread.join()
    assert step(x).numpy().tolist() == [1, 3, 5, 7]
    workers.wait()


@pytest.mark.slow
def test_who_has_yet_to_come_to_a_failing_call_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker is stopped in an earlier call while the other one fails: it fails as well, later, and all go on."""
    monkeypatch.setattr(link, "GRACE", 0.2)
    with sw.Workers(2) as workers:
        layout = sw.Layout(["x"], workers.mesh(x=2))
        x = sw.relayout(np.ones((2, 512, 512), np.float32), layout)

        @sw.function
        def turn(x: Any) -> Any:
            for _ in range(200):
                x = x @ x / 512
            return x

        assert "def " in turn.compiled(x).source
        turned = turn(x)
        time.sleep(0.3)
        os.kill(workers.process_ids[1], signal.SIGSTOP)
        lost = sw.ones((1 << 24, 1 << 24), layout=layout)
        timer = threading.Timer(4, os.kill, [workers.process_ids[1], signal.SIGCONT])
        timer.start()
        with pytest.raises(ShardwrightProcessError, match=r"SW0921.*SW0609"):
            lost.numpy()
        timer.join()
        assert turned.numpy()[0, 0, 0] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_any_number_of_workers_computes_the_same(count: int) -> None:
    a, b = random(16, 24), random(24, 8)
    with sw.Workers(count) as workers:
        mesh = workers.mesh(x=4, y=2)
        for left, right in LAYOUTS:
            x, y = sw.relayout(a, sw.Layout(left, mesh)), sw.relayout(b, sw.Layout(right, mesh))
            whole = sw.Layout(["y", "x"], mesh)
            np.testing.assert_allclose(sw.relayout(x @ y, whole).numpy(), a @ b, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(sw.sort(x, axis=0).numpy(), np.sort(a, axis=0))
    assert all_ended(workers.process_ids)


CHAIN = [
    ["x", "y"],
    ["y", "x"],
    [("x", "y"), None],
    [None, ("y", "x")],
    ["x:(1)2", "x:(2)2"],
    ["x:(2)2", "y"],
    [None, None],
    [("y", "x:(2)2"), "x:(1)2"],
    ["x:(2)2", None],
    [None, "x:(1)2"],
]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_an_array_goes_from_layout_to_layout(count: int) -> None:
    """Each result is the next program's argument as it was made, and every other one is fetched in between."""
    a = np.arange(16 * 24).reshape(16, 24)
    with sw.Workers(count) as workers:
        mesh = workers.mesh(x=4, y=2)
        for step in (1, 3):
            x = sw.relayout(a, sw.Layout(CHAIN[0], mesh))
            for number in range(1, 2 * len(CHAIN)):
                x = sw.relayout(x, sw.Layout(CHAIN[number * step % len(CHAIN)], mesh))
                if number % 2:
                    assert x.numpy().tolist() == a.tolist(), CHAIN[number * step % len(CHAIN)]
                    simulated = sw.relayout(a, x.layout.on(sw.Mesh(x=4, y=2)))
                    assert [c.tolist() for c in x.components()] == [c.tolist() for c in simulated.components()]


@pytest.mark.slow
def test_a_checkpoint_is_written_and_read(tmp_path: Path) -> None:
    pytest.importorskip("tensorstore")
    with sw.Workers(2) as workers:
        layout = sw.Layout(["x"], workers.mesh(x=4))
        table = sw.Variable(np.arange(16.0).reshape(8, 2), layout=layout, name="table")
        path = sw.Checkpoint(table=table).save(str(tmp_path / "saved"))
        other = sw.Variable(np.zeros((8, 2)), layout=sw.Layout([None, "x"], workers.mesh(x=2)), name="table")
        sw.Checkpoint(table=other).restore(path)
        assert other.numpy().tolist() == np.arange(16.0).reshape(8, 2).tolist()
