"""Batches of datasets: what is in them, who reads what, and what happens at the end."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.tracing.pytree import flatten

MESH = sw.Mesh([("batch", 4), ("model", 2)])
ROWS = sw.Layout(["batch", sw.Mesh.UNSHARDED], MESH)


def elements(count: int, rows: int = 2) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Elements whose rows are numbered through: images of three numbers, and labels."""
    numbers = np.arange(count * rows).reshape(count, rows)
    return [(np.stack([one] * 3, axis=1).astype("float32"), one) for one in numbers]


def labels(batches: Any) -> list[list[int]]:
    """The labels of every batch."""
    return [np.asarray(batch[1]).tolist() for batch in batches]


def no_threads() -> bool:
    """Whether every thread of ours ends soon."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not any(thread.name == "shardwright-prefetch" for thread in threading.enumerate()):
            return True
        time.sleep(0.005)
    return False


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_elements_stand_one_behind_the_other(prefetch: int) -> None:
    batches = sw.create_dtensor_iterable(elements(8), ROWS, "batch", 4, prefetch=prefetch)
    assert len(batches) == 2
    for _ in range(2):  # a list can be read again
        found = list(batches)
        assert labels(found) == [list(range(8)), list(range(8, 16))]
        images, numbers = found[0]
        assert images.layout == ROWS
        assert numbers.layout == sw.Layout(["batch"], MESH)
        assert images.dtype == np.float32
        assert [part.shape for part in sw.unpack(images)] == [(2, 3)] * 8


@dataclass
class Example:
    x: Any
    y: Any


@pytest.mark.parametrize(
    ("element", "layouts"),
    [
        ({"x": np.ones((4, 2)), "y": None}, {"x": ROWS, "y": None}),
        ({"x": np.ones((4, 2)), "y": [np.zeros(4)]}, {"y": ROWS, "x": ROWS}),
        ([np.ones((4, 2)), np.zeros(4)], (ROWS, sw.Layout(["batch"], MESH))),
        (Example(np.ones((4, 2)), np.zeros(4)), ROWS),
        (np.ones((4, 2)), sw.Layout([("batch",), "model"], MESH)),
    ],
)
def test_trees(element: Any, layouts: Any) -> None:
    (batch,) = sw.create_dtensor_iterable([element], layouts, "batch")
    leaves, tree = flatten(batch)
    expected, wanted = flatten(element)
    assert tree == wanted
    assert all(isinstance(leaf, sw.DTensor) for leaf in leaves)
    assert all(np.array_equal(*pair) for pair in zip(leaves, expected, strict=True))


class Loaded:
    """A tensor of another library."""

    def __init__(self, array: np.ndarray[Any, Any], seen: list[int]) -> None:
        self.shape = array.shape
        self._array = array
        self._seen = seen

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        self._seen.append(int(self._array.flat[0]))
        return np.array(self._array, dtype=dtype)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("per_batch", [2, 4, 8])
def test_every_process_reads_its_part(count: int, per_batch: int) -> None:
    whole = np.arange(64).reshape(32, 2)
    parts: list[np.ndarray[Any, Any]] = []
    for process in range(count):
        seen: list[int] = []
        size = 16 // per_batch
        data = [Loaded(whole[at : at + size], seen) for at in range(0, 32, size)]
        batches = sw.create_dtensor_iterable(
            data, ROWS, "batch", per_batch, num_processes=count, process_id=process, prefetch=0
        )
        found = list(batches)
        assert len(found) == 2
        assert all(
            one.mesh == MESH.submesh(batch=slice(4 * process // count, 4 * (process + 1) // count)) or count == 1
            for one in found
        )
        assert len(seen) == max(2 * per_batch // count, 2)
        parts.append(np.stack([np.asarray(one) for one in found]))
    assert np.array_equal(np.concatenate(parts, axis=1), whole.reshape(2, 16, 2))


def test_processes_of_a_distributed_mesh() -> None:
    mesh = sw.Mesh.distributed({"batch": 4}, ["CPU:0", "CPU:1"], num_clients=2, client_id=1)
    batches = sw.create_dtensor_iterable([np.arange(4), np.arange(4, 8)], sw.Layout(["batch"], mesh), "batch", 2)
    (batch,) = batches
    assert (batch.shape, batch.mesh) == ((8,), mesh)
    assert [part.tolist() for part in batch.components()] == [[4, 5], [6, 7]]


def test_processes_that_do_not_share_out_the_rows_read_them_all() -> None:
    mesh = sw.Mesh.distributed({"model": 2, "batch": 2}, num_clients=2, client_id=1)
    layout = sw.Layout(["batch", "model"], mesh)
    (batch,) = sw.create_dtensor_iterable([np.arange(8).reshape(4, 2)], layout, "batch")
    assert [part.tolist() for part in batch.components()] == [[[1], [3]], [[5], [7]]]


def test_without_a_batch_dimension_all_is_everywhere() -> None:
    batches = sw.create_dtensor_iterable(elements(3), sw.Layout(sw.Mesh.UNSHARDED, MESH), None, 3)
    assert labels(batches) == [list(range(6))]


@pytest.mark.parametrize(
    ("ragged", "expected"), [("drop", [list(range(8))]), ("smaller", [list(range(8)), [8, 9, 10, 11]])]
)
def test_ragged_batches(ragged: str, expected: list[list[int]]) -> None:
    data = [*elements(6), (np.full((1, 3), 12, "float32"), np.array([12]))]
    batches = sw.create_dtensor_iterable(data, ROWS, "batch", 4, ragged=ragged)
    assert labels(batches) == expected
    assert len(batches) == len(expected)


def test_ragged_batches_can_be_errors() -> None:
    batches = iter(sw.create_dtensor_iterable(elements(5), ROWS, "batch", 4, ragged="error"))
    next(batches)
    with pytest.raises(ValueError, match="SW0551"):
        next(batches)
    with pytest.raises(StopIteration):
        next(batches)


@pytest.mark.parametrize("ragged", ["drop", "smaller", "error"])
def test_first_batch_must_split(ragged: str) -> None:
    with pytest.raises(ValueError, match="SW0551"):
        list(sw.create_dtensor_iterable(elements(8, rows=1), ROWS, "batch", 3, ragged=ragged))
    assert list(sw.create_dtensor_iterable([], ROWS, "batch", 3, ragged=ragged)) == []


@pytest.mark.parametrize("prefetch", [0, 2])
def test_errors_of_the_dataset_come_at_their_element(prefetch: int) -> None:
    def broken() -> Iterator[Any]:
        yield from elements(3, rows=4)
        raise OSError("the disk is gone")

    batches = iter(sw.create_dtensor_iterable(broken(), ROWS, "batch", prefetch=prefetch))
    assert labels([next(batches) for _ in range(3)]) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    with pytest.raises(OSError, match="the disk is gone"):
        next(batches)


def test_coded_errors_are_at_the_line_that_asks() -> None:
    batches = iter(sw.create_dtensor_iterable([3.0], ROWS, "batch"))
    with pytest.raises(sw.ShardwrightTypeError) as caught:
        next(batches)
    place = caught.value.diagnostics[0].location
    assert place is not None
    assert place.file == __file__


def test_prefetching_is_bounded_and_ends_when_dropped() -> None:
    made: list[int] = []
    closed = threading.Event()

    def endless() -> Iterator[Any]:
        try:
            while True:
                made.append(1)
                yield np.zeros((4, 1))
        finally:
            closed.set()

    batches = iter(sw.create_dtensor_iterable(endless(), ROWS, "batch", prefetch=3))
    next(batches)
    time.sleep(0.1)
    assert len(made) <= 4
    del batches
    gc.collect()
    assert closed.wait(5)
    assert no_threads()


def test_a_generator_is_read_once() -> None:
    batches = sw.create_dtensor_iterable(iter(elements(4, rows=4)), ROWS, "batch")
    assert labels([next(iter(batches)), next(iter(batches))]) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert labels(batches) == [[8, 9, 10, 11], [12, 13, 14, 15]]
    assert list(batches) == []
    assert no_threads()


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("SW0550", (3, ROWS, "batch")),
        ("SW0550", ([np.ones((4, 2))], ROWS, "batch", 0)),
        *[("SW0550", ([np.ones((4, 2))], ROWS, "batch", count)) for count in (1.0, "1", None)],
        ("SW0507", ([np.ma.masked_array(np.ones((4, 2)), np.eye(4, 2))], ROWS, "batch")),
        ("SW0550", ([np.ones((4, 2)), (np.ones((4, 2)),)], ROWS, "batch")),
        ("SW0550", ([(np.ones((4, 2)), np.ones(3))], ROWS, "batch")),
        ("SW0550", ([np.float32(1)], ROWS, "batch")),
        ("SW0550", ([()], ROWS, "batch")),
        ("SW0550", ([np.ones((4, 2)), np.ones((4, 3))], ROWS, "batch", 2)),
        ("SW0550", ([np.ones((4, 2))], (ROWS, ROWS), "batch")),
        ("SW0515", ([np.ones((4, 2))], ["batch"], "batch")),
        ("SW0102", ([np.ones((4, 2))], ROWS, "rows")),
        ("SW0106", ([np.ones(8)], sw.Layout(["batch", "model"], MESH), "batch")),
        ("SW0552", ([np.ones((4, 2))], [ROWS, sw.Layout([], sw.Mesh(x=2))], "batch")),
    ],
)
def test_mistakes(code: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(sw.ShardwrightError, match=code):
        list(sw.create_dtensor_iterable(*arguments))


@pytest.mark.parametrize(
    ("layout", "axis", "processes", "process"),
    [(ROWS, "batch", 2, 2), (ROWS, "batch", 8, 0), (ROWS, None, 2, 0), (ROWS, "model", 2, 0), (ROWS, "batch", 3, 0)],
)
def test_processes_that_do_not_share_out_the_mesh(layout: Any, axis: Any, processes: int, process: int) -> None:
    with pytest.raises(ValueError, match="SW0552"):
        sw.create_dtensor_iterable([], layout, axis, num_processes=processes, process_id=process)


def test_rows_that_processes_share() -> None:
    layout = sw.Layout([("model", "batch")], MESH)
    batches = sw.create_dtensor_iterable([np.arange(8)], layout, "batch", num_processes=2, process_id=0)
    with pytest.raises(ValueError, match="SW0552"):
        next(iter(batches))


def test_unknown_words() -> None:
    with pytest.raises(ValueError, match="SW0550"):
        sw.create_dtensor_iterable([], ROWS, "batch", ragged="keep")
