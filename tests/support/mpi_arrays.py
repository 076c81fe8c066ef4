"""What communicators do with arrays, on one of several processes: `mpiexec -n 3 python -m mpi4py mpi_arrays.py`."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np

import shardwright as sw
from shardwright.engines.processes import communicator_of
from shardwright.layout.forms.clients import Clients
from shardwright.runtime.processes.communicator import Communicator
from shardwright.runtime.processes.crossing import Group, Piece, Reduction


def connected() -> Communicator:
    """What connects the processes of the job."""
    clients = Clients.found()
    found = communicator_of(sw.Mesh.distributed({"all": clients.count}))
    assert found is not None
    return found


def reductions() -> None:
    """Every kind and element type, whether MPI combines it or not, as NumPy does: small whole numbers are exact."""
    communicator = connected()
    count, place = communicator.clients.count, communicator.clients.place
    everyone = Group.of_all(communicator.clients)
    kinds: dict[str, Any] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
    dtypes = [np.int8, np.int64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64]
    for dtype in dtypes:
        parts = [(np.arange(11) % 3 + at % 2 - 1).astype(dtype) for at in range(count)]
        for kind in ("sum", "prod") if dtype is np.complex64 else kinds:
            whole = parts[0]
            for part in parts[1:]:
                whole = kinds[kind](whole, part).astype(dtype)
            found = communicator.all_reduce(Reduction(everyone, kind), parts[place])
            np.testing.assert_array_equal(found.astype(np.complex128), whole.astype(np.complex128))
    ones = np.array([np.nan if place == 1 else 1.0, float(place)], np.float32)
    np.testing.assert_array_equal(communicator.all_reduce(Reduction(everyone, "max"), ones), [np.nan, count - 1])
    bits = np.array([place > 0, True])
    assert communicator.all_reduce(Reduction(everyone, "and"), bits).tolist() == [False, True]
    rows = np.arange(count * 3, dtype=np.int32).reshape(count, 3) + place
    due = np.arange(place * 3, place * 3 + 3) * count + sum(range(count))
    np.testing.assert_array_equal(communicator.reduce_scatter(Reduction(everyone, "sum"), rows), due)


def pieces() -> None:
    """Each sends its neighbour pieces in long runs, in short ones, in one, and by index, from any order into any."""
    communicator = connected()
    everyone = Group.of_all(communicator.clients)
    behind, ahead = (everyone.place - 1) % everyone.count, (everyone.place + 1) % everyone.count
    whole = slice(0, 6), slice(0, 64), slice(0, 96)
    indices: list[Any] = [
        whole,
        (slice(2, 5), *whole[1:]),
        (whole[0], slice(10, 30), whole[2]),
        (*whole[:2], slice(3, 5)),
        (np.array([0, 3, 4]), *whole[1:]),
        (*whole[:2], np.array([1, 5, 9])),
    ]
    orders = list(itertools.permutations(range(3)))
    for dtype, index, (before, after) in itertools.product(
        (np.int8, ml_dtypes.bfloat16, np.float64), indices, zip(orders, [*orders[1:], orders[0]], strict=True)
    ):
        source, due, found = (ordered(np.zeros((6, 64, 96), dtype), order) for order in (before, after, after))
        source[...] = numbered(everyone.place).astype(dtype)
        communicator.swap(everyone, [Piece(ahead, index)], source, [Piece(behind, index)], found)
        selector = Piece(behind, index).selector
        due[selector] = numbered(behind).astype(dtype)[selector]
        np.testing.assert_array_equal(found, due)


def numbered(place: int) -> Any:
    """Other numbers on each process, which every type has."""
    return (np.arange(6 * 64 * 96).reshape(6, 64, 96) + 7 * place) % 100


def ordered(array: Any, order: tuple[int, ...]) -> Any:
    """An array whose dims lie in this order in memory, major to minor."""
    return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))


if __name__ == "__main__":
    reductions()
    pieces()
    print("done", flush=True)
