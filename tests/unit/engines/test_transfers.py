"""Copies between meshes that lie on different processes of a job: everybody gets what it lacks, once, and no more."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from processes import on_processes

from shardwright.diagnostics import ShardwrightError
from shardwright.engines import transfer
from shardwright.engines.dtensor_value import DTensorValue, scatter, stack
from shardwright.layout import Layout, Mesh
from shardwright.layout.boxes import box
from shardwright.layout.forms.clients import Clients
from shardwright.runtime.processes.communicator import Communicator

MESH = Mesh(a=2, b=2, c=2)
ARRAY = np.arange(8 * 12, dtype=np.float32).reshape(8, 12)
UNEVEN = np.arange(7 * 3, dtype=np.float32).reshape(7, 3)
"""No axis divides its dims: some devices have less than others, or nothing."""

PARTS: list[dict[str, Any]] = [{}, {"a": 0}, {"a": 1}, {"a": 1, "b": 0}, {"a": 0, "b": 1, "c": slice(0, 1)}]
"""Parts of the mesh that four or eight processes hold in boxes."""

DIMS = [[None, None], ["c", None], [None, "c"], [("c", "b"), None], ["b", "a"]]


def mesh_of(part: dict[str, Any], clients: Clients) -> Mesh:
    whole = MESH.seen_by(clients)
    return whole.submesh(part) if part else whole


def layout_on(mesh: Mesh, dims: list[Any]) -> Layout:
    """The layout without axes that the mesh lacks."""
    kept = [
        tuple(axis for axis in ([entry] if isinstance(entry, str) else entry or ()) if axis in mesh.sizes)
        for entry in dims
    ]
    return Layout([entry or None for entry in kept], mesh, uneven=True)


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> threading.local:
    """Where each thread finds its communicator of the whole job."""
    own = threading.local()
    monkeypatch.setattr(transfer, "communicator_of_all", lambda _: own.communicator)
    return own


def held(layout: Layout, number: int, array: np.ndarray[Any, Any]) -> set[float]:
    """The elements that a process of the job holds, by their values."""
    clients = layout.mesh.clients
    place = number - clients.first
    if clients.everyone.count > 1 and not 0 <= place < clients.count:
        return set()
    devices = range(layout.mesh.size) if clients.everyone.count == 1 else on(layout.mesh, place)
    found: set[float] = set()
    for device in devices:
        found.update(array[slices(layout, device, array.shape)].ravel().tolist())
    return found


def on(mesh: Mesh, place: int) -> range:
    here = mesh.size // mesh.num_clients
    return range(here * place, here * (place + 1))


def slices(layout: Layout, device: int, shape: tuple[int, ...]) -> tuple[slice, ...]:
    at = dict(zip(layout.mesh.axis_names, map(int, np.unravel_index(device, layout.mesh.shape)), strict=True))
    part = box(layout.for_rank(2).spec, shape, layout.mesh, at)
    return tuple(slice(start, stop) for start, stop in part)


@pytest.mark.every(3)
@pytest.mark.parametrize("count", [4, 8])
@pytest.mark.parametrize("target", range(len(PARTS)))
@pytest.mark.parametrize("source", range(1, len(PARTS)))
@pytest.mark.parametrize("array", [ARRAY, UNEVEN], ids=["even", "uneven"])
def test_every_copy_moves_what_is_missing(
    connected: threading.local, array: np.ndarray[Any, Any], source: int, target: int, count: int
) -> None:
    def work(communicator: Communicator) -> int:
        connected.communicator = communicator
        clients = communicator.clients
        sent = 0
        for dims, others in zip(DIMS, [*DIMS[1:], DIMS[0]], strict=True):
            before = layout_on(mesh_of(PARTS[source], clients), dims)
            after = layout_on(mesh_of(PARTS[target], clients), others)
            value = DTensorValue(scatter(array, before), before, array.shape)
            start = communicator.sent_bytes
            found = DTensorValue(transfer.moved(value, after), after, array.shape)
            assert (found.shape, found.dtype) == (array.shape, array.dtype)
            for device, component in zip(after.mesh.local_device_ids, found.components(), strict=True):
                np.testing.assert_array_equal(component, array[slices(after, device, array.shape)])
            sent += communicator.sent_bytes - start
            sent -= 4 * len(held(after, clients.place, array) - held(before, clients.place, array))
        return sent

    assert sum(on_processes(count, work)) == 0


def test_a_copy_to_a_mesh_of_each_process_goes_to_all(connected: threading.local) -> None:
    def work(communicator: Communicator) -> Any:
        connected.communicator = communicator
        before = layout_on(mesh_of({"a": 1}, communicator.clients), ["c", "b"])
        everywhere = Layout([None, None], Mesh(all=1))
        value = DTensorValue(scatter(ARRAY, before), before)
        return DTensorValue(transfer.moved(value, everywhere), everywhere).numpy()

    for whole in on_processes(4, work):
        np.testing.assert_array_equal(whole, ARRAY)


def test_numbers_move_too(connected: threading.local) -> None:
    def work(communicator: Communicator) -> float:
        connected.communicator = communicator
        before = Layout([], mesh_of({"a": 1}, communicator.clients))
        after = Layout([], mesh_of({"a": 0}, communicator.clients))
        found = DTensorValue(transfer.moved(DTensorValue(scatter(np.array(2.5), before), before), after), after)
        return sum(float(part) for part in found.components())

    assert on_processes(4, work) == [5.0, 5.0, 0.0, 0.0]


def test_who_has_nothing_says_where_it_is() -> None:
    mesh = MESH.seen_by(Clients(4, 0)).submesh(a=1)
    value = DTensorValue(scatter(ARRAY, Layout(["b", None], mesh)), Layout(["b", None], mesh))
    assert value.components() == []
    assert mesh.local_device_ids == ()
    with pytest.raises(ShardwrightError, match=r"SW0903.*processes 2 to 3 of 4.*number 0"):
        value.stacked  # noqa: B018
    with pytest.raises(ShardwrightError, match=r"SW0512.*no device of Mesh\(b=2, c=2\) is in this process"):
        stack([], Layout(["b", None], mesh))


def test_a_part_lies_on_the_processes_that_have_its_devices() -> None:
    seen = [MESH.seen_by(Clients(4, place)).submesh(a=1) for place in range(4)]
    assert [mesh.local_device_ids for mesh in seen] == [(), (), (0, 1), (2, 3)]
    assert [mesh.clients.everyone for mesh in seen] == [Clients(4, place) for place in range(4)]
    alone = MESH.seen_by(Clients(2, 1)).submesh(a=1)
    assert (alone.num_clients, alone.local_device_ids) == (1, (0, 1, 2, 3))
    assert alone != MESH.submesh(a=1)
    assert alone.submesh(b=0).clients == alone.clients
    again = MESH.seen_by(Clients(8, 5)).submesh(a=1).submesh(b=0)
    assert (again.clients.first, again.num_clients, again.local_device_ids) == (4, 2, (1,))
    assert MESH.seen_by(Clients(4, 3)).submesh(c=0).clients == Clients(4, 3)
    for part in ({"b": 0}, {"a": slice(None, None, -1)}):
        with pytest.raises(ShardwrightError, match=r"SW0120.*follow each other"):
            MESH.seen_by(Clients(8, 0)).submesh(part)
