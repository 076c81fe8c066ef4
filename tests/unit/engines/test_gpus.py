"""GPUs by the stand-ins for CuPy and NCCL, which are stricter than they. Expected values are JAX's and NumPy's."""

from __future__ import annotations

import operator
import sys
from functools import reduce
from typing import Any

import gpu_child
import ml_dtypes
import nccl_stand_in
import numpy as np
import pytest
from cupy_stand_in import cupy, ndarray, seeing
from on_gpus import installed, on_gpus
from processes import ThreadJob, on_job
from stored_programs import RUNNABLE, SHARED

import shardwright as sw
from shardwright.engines.cupy import communicator as nccl_side, namespace
from shardwright.engines.cupy.device import Seen, assigned, chosen
from shardwright.engines.jobs.job import Alone
from shardwright.layout.forms.clients import Clients
from shardwright.runtime.processes.crossing import Group, Piece, Reduction

LONG = (
    "tblock_fsdp_train",
    "moe_onehot_train",
    "gru_scan_train",
    "smap_pipeline",
    "mlp_mixed_train_fsdp",
    "strided_reversed",
)
"""Of the programs that share, those that take a second to prepare."""


@pytest.mark.parametrize(
    ("name", "count"),
    [
        *(pytest.param(*each, marks=[pytest.mark.slow] if each[0] in LONG else []) for each in SHARED),
        ("wavenet_causal", 1),
    ],
)
def test_programs(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = on_gpus(monkeypatch, count, lambda make: gpu_child.program(make, name))
    ledgers = [ran.ledger.as_dict() for ran, _ in found]
    assert all(ledger == ledgers[0] for ledger in ledgers)
    assert (sum(sent for _, sent in found) > 0) == (count > 1)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 4, 8])
@pytest.mark.parametrize("name", RUNNABLE)
def test_every_program(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    on_gpus(monkeypatch, count, lambda make: gpu_child.programs(make, [name], count))


@pytest.mark.parametrize("count", [1, 2, pytest.param(8, marks=pytest.mark.slow)])
def test_the_api(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    on_gpus(monkeypatch, count, lambda make: gpu_child.api(make, count))


def test_a_process_that_is_alone_needs_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, nccl=False)
    with seeing(5, 6):
        mesh = sw.gpu_mesh({"x": 4})
        assert mesh == sw.gpu_mesh({"x": 4}) != sw.Mesh(x=4)
        x = sw.relayout(np.arange(8), sw.Layout(["x"], mesh))
        assert [part.tolist() for part in x.components()] == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_arrays_stay_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    moved: list[str] = []
    get, array = ndarray.get, cupy.array
    with seeing(1):
        mesh = sw.gpu_mesh({"x": 4})
        double = sw.function(lambda x: x * 2)
        x = sw.relayout(np.arange(8.0), sw.Layout(["x"], mesh))
        double(x)

        def uploaded(given: Any, **options: Any) -> Any:
            if not isinstance(given, ndarray):
                moved.append("up")
            return array(given, **options)

        monkeypatch.setattr(cupy, "array", uploaded)
        monkeypatch.setattr(ndarray, "get", lambda self: (moved.append("down"), get(self))[1])
        for _ in range(3):
            x = double(x)
        assert moved == []
        assert x.numpy().tolist() == (np.arange(8.0) * 8).tolist()
        assert moved == ["down"]


KINDS: dict[str, Any] = {
    "sum": operator.add,
    "prod": operator.mul,
    "max": np.maximum,
    "min": np.minimum,
    "and": operator.and_,
    "or": operator.or_,
}
FLOATS = ("sum", "prod", "max", "min")
CASES = [
    *((kind, np.bool_) for kind in ("and", "or", "max", "min")),
    *((kind, dtype) for dtype in (np.int8, np.int16, np.uint32, np.int64) for kind in KINDS),
    *((kind, dtype) for dtype in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64) for kind in FLOATS),
    *((kind, np.complex64) for kind in ("sum", "prod")),
]


def combined(monkeypatch: pytest.MonkeyPatch, kind: str, parts: list[Any]) -> list[tuple[Any, Any, int]]:
    """Each process' part of all, twice: by `all_reduce` and (rows of) `reduce_scatter`; and the bytes it sent."""
    count = len(parts)

    def work(make: gpu_child.Make) -> tuple[Any, Any, int]:
        mesh = make({"x": count})
        owner: Any = mesh.owner
        plan = Reduction(Group.of_all(mesh.clients), kind)
        with owner.device:
            array = cupy.array(parts[mesh.clients.place])
            whole = owner.communicator.all_reduce(plan, array)
            part = owner.communicator.reduce_scatter(plan, array)
            return whole.get(), part.get(), owner.communicator.sent_bytes

    return on_gpus(monkeypatch, count, work)


@pytest.mark.parametrize(("kind", "dtype"), CASES, ids=str)
def test_reductions_are_numpys(kind: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    parts = [draw.integers(0, 2 if dtype is np.bool_ else 4, (3, 5)).astype(dtype) for _ in range(3)]
    if kind in ("max", "min") and np.dtype(dtype).kind in "fV":
        parts[1][0, 2] = np.nan  # NCCL would lose it
    with np.errstate(invalid="ignore"):
        due = reduce(KINDS[kind], parts)
    for place, (whole, part, sent) in enumerate(combined(monkeypatch, kind, parts)):
        assert whole.dtype == part.dtype == due.dtype
        np.testing.assert_array_equal(whole.astype(np.complex128), due.astype(np.complex128))
        np.testing.assert_array_equal(part.astype(np.complex128), due[place].astype(np.complex128))
        # All but a third, there and back; then two rows of three.
        assert sent == 4 * due.nbytes // 3 + 2 * due.nbytes // 3


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_sums_of_16_bit_floats_are_rounded_once(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    half = float(ml_dtypes.finfo(dtype).eps) / 2  # one and a half step is one: ties go to even
    parts = [np.full((3, 1), each, dtype) for each in (1, half, half)]
    for whole, part, _ in combined(monkeypatch, "sum", parts):
        assert float(whole[0, 0]) == float(part[0]) == 1 + 2 * half


@pytest.mark.parametrize("kind", ["max", "min", "and", "or", "prod"])
def test_what_cupys_ufuncs_lack(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    array = np.random.default_rng(1).integers(-5, 6, (4, 7, 3))
    name = {"max": "maximum", "min": "minimum", "and": "bitwise_and", "or": "bitwise_or", "prod": "multiply"}[kind]
    function, reference = getattr(namespace, name), getattr(np, name)
    given = cupy.array(array)
    for axes, keepdims in (((0, 2), True), ((1,), False)):
        due = reference.reduce(array, axis=axes, keepdims=keepdims)
        np.testing.assert_array_equal(function.reduce(given, axis=axes, keepdims=keepdims).get(), due)
    np.testing.assert_array_equal(function.accumulate(given, axis=1).get(), reference.accumulate(array, axis=1))
    targets, new = np.array([5, 1, 5, 5, 0, 1, 5]), array[0, :, 0]
    flat, due = cupy.array(array[1, :, 1]), array[1, :, 1].copy()
    function.at(flat, cupy.array(targets), cupy.array(new))
    reference.at(due, targets, new)
    np.testing.assert_array_equal(flat.get(), due)


def test_subtractions_take_away_all(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    flat = cupy.array(np.array([10, 20]))
    namespace.subtract.at(flat, cupy.array(np.array([1, 1, 1])), cupy.array(np.array([1, 2, 3])))
    assert flat.get().tolist() == [10, 14]


def test_communicators_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl_side, "LIMIT", 2)
    monkeypatch.setattr(nccl_stand_in, "made", [])
    groups = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)), ((0, 1, 2, 3),)]

    def work(make: gpu_child.Make) -> list[int]:
        mesh = make({"x": 4})
        owner: Any = mesh.owner
        place = mesh.clients.place
        found: list[int] = []
        with owner.device:
            for split in groups * 2:
                members = next(one for one in split if place in one)
                group = Group(members[0], (len(members),), (members[1] - members[0],), members.index(place))
                plan = Reduction(group, "sum")
                found.append(int(owner.communicator.all_reduce(plan, cupy.array(np.array([10**place])))[0]))
        return found

    for place, sums in enumerate(on_gpus(monkeypatch, 4, work)):
        mine = [next(one for one in split if place in one) for split in groups * 2]
        assert sums == [sum(10**each for each in members) for members in mine]
    assert sum(not comm.destroyed for comm in nccl_stand_in.made) == 2 * 4
    assert len(nccl_stand_in.made) == 8 * 4


def test_a_member_with_nothing_to_send_or_take_comes_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A communicator is made by all its members, or by none."""

    def work(make: gpu_child.Make) -> Any:
        mesh = make({"x": 3})
        owner: Any = mesh.owner
        place = mesh.clients.place
        column = (np.array([0, 1]), slice(1, 2))
        with owner.device:
            array = cupy.array(np.arange(6).reshape(2, 3) * (place == 0))
            sends = [Piece(1, column)] if place == 0 else []
            receives = [Piece(0, column)] if place == 1 else []
            owner.communicator.swap(Group.of_all(mesh.clients), sends, array, receives, array)
            return array.get().tolist()

    assert on_gpus(monkeypatch, 3, work) == [[[0, 1, 2], [3, 4, 5]], [[0, 1, 0], [0, 4, 0]], [[0] * 3] * 2]


def test_what_nccl_refuses_is_told_with_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Any, *_: Any) -> None:
        raise nccl_stand_in.NcclError("NCCL_ERROR_REMOTE_ERROR: remote process exited")

    monkeypatch.setattr(nccl_stand_in.NcclCommunicator, "allReduce", refused)
    with pytest.raises(RuntimeError, match=r"SW0932.*a reduction on process \d \(.*\): NCCL_ERROR_REMOTE_ERROR"):
        combined(monkeypatch, "sum", [np.ones((2, 2))] * 2)


def test_an_error_that_nccl_finds_late_is_told_before_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(self: Any) -> None:
        raise nccl_stand_in.NcclError("NCCL_ERROR_UNHANDLED_CUDA_ERROR: late")

    monkeypatch.setattr(nccl_stand_in.NcclCommunicator, "check_async_error", late)
    with pytest.raises(RuntimeError, match=r"SW0932.*the program that ran"):
        on_gpus(monkeypatch, 2, lambda make: gpu_child.program(make, "heat_stencil"))


def test_elements_that_cupy_lacks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    with seeing(0):
        mesh = sw.gpu_mesh({"x": 2})
        with pytest.raises(TypeError, match=r"SW0933.*float8_e4m3fn"):
            sw.relayout(np.zeros(4, ml_dtypes.float8_e4m3fn), sw.Layout(["x"], mesh))
        with pytest.raises(TypeError, match=r"SW0933.*int4"):
            gpu_child.program(sw.gpu_mesh, "bit_tricks")


@pytest.mark.parametrize(
    ("seen", "numbers"),
    [
        ([Seen("a", ("p", "q")), Seen("a", ("p", "q"))], [0, 1]),
        ([Seen("a", ("p",)), Seen("a", ("q",))], [0, 0]),  # CUDA_VISIBLE_DEVICES gives each its own
        ([Seen("a", ("p", "q")), Seen("b", ("p", "q")), Seen("a", ("p", "q"))], [0, 0, 1]),
        ([Seen("a", ("p", "q", "r")), Seen("a", ("p", "q")), Seen("a", ("p",))], [2, 1, 0]),
    ],
)
def test_each_process_has_a_device_of_its_own(seen: list[Seen], numbers: list[int]) -> None:
    assert assigned(seen) == numbers


def test_processes_choose_together(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)

    def work(clients: Clients) -> int:
        from shardwright.engines import processes

        with seeing(7, 3, 4):
            return chosen(processes.job_of([sw.Mesh(x=6).seen_by(clients)]))

    assert on_job(monkeypatch, 3, work) == [0, 1, 2]
    with pytest.raises(ValueError, match=r"SW0931.*6 processes on .* see 3 GPUs"):
        on_job(monkeypatch, 6, work)


def test_who_lacks_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal() -> str:
        with pytest.raises(ValueError, match="SW0930") as caught:
            sw.gpu_mesh({"x": 2})
        return str(caught.value)

    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "cupy", None)
        assert "CuPy does not load" in refusal()
    with monkeypatch.context() as patch:
        installed(patch, version="13.6.0")
        assert "CuPy is of version 13.6.0" in refusal()
    with monkeypatch.context() as patch, seeing():
        installed(patch)
        assert "CUDA finds no device" in refusal()
    with monkeypatch.context() as patch:
        installed(patch, nccl=False)
        job = ThreadJob(Clients(2, 0), None)  # type: ignore[arg-type]
        patch.setattr(job, "gather", lambda data, what: [data] * 2)
        patch.setattr(job, "broadcast", lambda data, what: data)
        with pytest.raises(ValueError, match=r"SW0930.*NCCL does not load"):
            chosen(job)
        with seeing(1):
            assert chosen(Alone()) == 0  # one process needs no NCCL
