"""What travels between a controller and its workers: what goes in comes out, and nothing else is taken for a frame."""

from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from shardwright.engines.workers.courier import Courier, Stream
from shardwright.engines.workers.frames import MARK as FRAME, PREFIX, FrameError, frame, read_frame
from shardwright.engines.workers.starting.door import GREETING, MARK
from shardwright.engines.workers.starting.job import welcome

TOKEN = "a" * 64


def sent(header: dict[str, Any], *arrays: Any) -> bytes:
    return b"".join(bytes(buffer) for buffer in frame(header, arrays))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int64).reshape(2, 3).T,
        np.array(2.5, np.float32),
        np.zeros((0, 3), np.float64),
        np.array([1, 2], ml_dtypes.bfloat16),
        np.array([[True], [False]]),
        np.array([1 + 2j], np.complex64),
        np.array([-3, 5], ml_dtypes.int4),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_an_array_arrives_as_it_was(array: Any) -> None:
    found = read_frame(io.BytesIO(sent({"do": "hold"}, array, np.arange(3))))
    assert found is not None
    header, (came, after) = found
    assert header == {"do": "hold"}
    assert (came.dtype, came.shape) == (array.dtype, array.shape)
    assert came.tobytes() == array.tobytes()
    assert after.tolist() == [0, 1, 2]


def test_a_stream_ends_between_frames() -> None:
    stream = io.BytesIO(sent({"do": "one"}) + sent({"do": "two"}))
    assert [read_frame(stream), read_frame(stream), read_frame(stream)] == [
        ({"do": "one"}, []),
        ({"do": "two"}, []),
        None,
    ]


def made(header: bytes, length: int = 0, rest: bytes = b"", mark: bytes = FRAME) -> bytes:
    return PREFIX.pack(mark, len(header), length) + header + rest


def described(*arrays: Any) -> bytes:
    return json.dumps({"arrays": arrays}).encode()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"SWF1", "ends within a frame"),
        (made(b"{}", mark=b"HTTP"), "begins with b'HTTP'"),
        (PREFIX.pack(FRAME, 1 << 31, 0), "too long"),
        (made(b"{}")[:-1], "ends within a header"),
        (made(b"{"), "no JSON"),
        (made(b"[" * 200_000), "no JSON"),
        (made(b"\xff"), "no JSON"),
        (made(b"[]"), "no object"),
        (made(b'{"arrays": 3}'), "does not list"),
        (made(described(["float32"])), "describes no array"),
        (made(described(["float32", [-1]])), "describes no array"),
        (made(described(["float32", [True]])), "describes no array"),
        (made(described(["float32", [1.0]])), "describes no array"),
        (made(described(["float32", [1] * 65]), 4), "describes no array"),
        (made(described(["object", [1]]), 8), "no element type"),
        (made(described(["float32", [2]]), 4, bytes(4)), "do not fit"),
        (made(described(["float32", [1 << 62]]), 1 << 64 - 1), "do not fit"),
        (made(described(["float32", [2]]), 8, bytes(7)), "ends within an array"),
    ],
)
def test_anything_else_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(FrameError, match=why):
        read_frame(io.BytesIO(data))


def test_what_does_not_fit_is_refused_before_memory_is_taken() -> None:
    """The machine does not have these bytes; asking NumPy for them would be another error."""
    size = 1 << 60
    with pytest.raises(FrameError, match="or this machine"):
        read_frame(io.BytesIO(made(described(["uint8", [size]]), size)))


def test_what_comes_behind_a_frame_is_kept_for_the_next() -> None:
    left, right = socket.socketpair()
    with left, right:
        stream = Stream(left)
        right.sendall(sent({"do": "one"}, np.arange(4)) + sent({"do": "two"}) + sent({"do": "three"}, np.ones(9))[:-5])
        found = [read_frame(stream), read_frame(stream)]
        assert found[0] is not None
        assert found[0][1][0].tolist() == [0, 1, 2, 3]
        assert found[1] == ({"do": "two"}, [])
        assert stream.held
        right.sendall(sent({"do": "three"}, np.ones(9))[-5:])
        last = read_frame(stream)
        assert last is not None
        assert last[1][0].tolist() == [1] * 9
        assert not stream.held


def test_an_array_that_is_larger_than_what_is_taken_at_once() -> None:
    left, right = socket.socketpair()
    array = np.arange(1 << 18)
    with left, right, ThreadPoolExecutor(1) as pool:
        done = pool.submit(right.sendall, sent({"do": "hold"}, array))
        found = read_frame(Stream(left))
        done.result()
    assert found is not None
    np.testing.assert_array_equal(found[1][0], array)


class Served:
    """The other ends of a courier's sockets, and what it hears from them."""

    def __init__(self, count: int) -> None:
        pairs = [socket.socketpair() for _ in range(count)]
        self.ends = [there for _, there in pairs]
        self.streams = [Stream(there) for there in self.ends]
        self.heard: list[tuple[int, Any]] = []
        self.all_heard = threading.Event()
        self._due = count
        self.courier = Courier([here for here, _ in pairs], self._hear, lambda place, why: None)

    def _hear(self, place: int, header: Any, arrays: Any) -> None:
        self.heard.append((place, header["to"]))
        if len(self.heard) == self._due:
            self.all_heard.set()


def test_commands_in_line_go_out_together_and_in_order() -> None:
    served = Served(3)
    same = [frame({"do": "give", "to": number}) for number in range(50)]
    for number, buffers in enumerate(same):
        served.courier.put([buffers] * 3)
        if number == 20:  # one with arrays, another for each
            served.courier.put([frame({"do": "hold"}, [np.full(2, place)]) for place in range(3)])
    for place, stream in enumerate(served.streams):
        found = [read_frame(stream) for _ in range(51)]
        assert [each[0].get("to", "array") for each in found if each] == [*range(21), "array", *range(21, 50)]
        assert found[21] is not None
        assert found[21][1][0].tolist() == [place, place]
        served.ends[place].sendall(b"".join(bytes(buffer) for buffer in frame({"to": place})))
    assert served.all_heard.wait(20)
    assert sorted(served.heard) == [(0, 0), (1, 1), (2, 2)]
    served.courier.end()


def greeting(token: str = TOKEN, count: int = 2, place: int = 0, mark: bytes = MARK) -> bytes:
    return GREETING.pack(mark, token.encode(), count, place, 1000 + place)


def test_only_workers_with_the_token_come_in(tmp_path: Any) -> None:
    """Strangers of all sorts come first and between; each of them finds the door closed."""
    strangers = [
        greeting(token="b" * 64),
        greeting(token="\0" * 64),
        greeting(mark=b"HTTP"),
        greeting(count=3),
        greeting(place=2),
        b"",
        greeting()[:-1],
    ]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "door"))
    listener.listen(20)

    def knock(data: bytes, end: bool = False) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(tmp_path / "door"))
        connection.sendall(data)
        if end:
            connection.shutdown(socket.SHUT_WR)
        return connection

    refused = [knock(data, end=True) for data in strangers]
    second, again, first = knock(greeting(place=1)), knock(greeting(place=1)), knock(greeting(place=0))
    found = in_time(lambda: welcome(listener, TOKEN, 2, lambda: None))
    assert [number for _, number in found] == [1000, 1001]
    for connection, mine in zip([each for each, _ in found], [first, second], strict=True):
        connection.sendall(b"!")
        assert mine.recv(1) == b"!"
    assert [connection.recv(1) for connection in (*refused, again)] == [b""] * (len(refused) + 1)
    for connection in (listener, first, second, again, *refused, *(each for each, _ in found)):
        connection.close()


def in_time(work: Callable[[], Any]) -> Any:
    """What `work` gives, within seconds."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(30)
    assert found, "it is still waiting"
    return found[0]
