"""What travels between a controller and its workers: what goes in comes out, and nothing else is taken for a frame."""

from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from shardwright.engines.workers.courier import Stream
from shardwright.engines.workers.door import GREETING, MARK
from shardwright.engines.workers.frames import MARK as FRAME, PREFIX, FrameError, frame, read_frame
from shardwright.engines.workers.job import welcome

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


def test_a_socket_is_read_as_far_as_it_is_asked() -> None:
    left, right = socket.socketpair()
    with left, right:
        right.sendall(sent({"do": "one"}, np.arange(4)) + b"rest")
        found = read_frame(Stream(left))
        assert found is not None
        assert found[1][0].tolist() == [0, 1, 2, 3]
        assert left.recv(10) == b"rest"


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
