"""
The compressions of riegeli: brotli, zstd and snappy, each from its own package, loaded when it is first needed.

A compressed buffer is a varint, the size before compression, and the compressed bytes. That size is only a hint, also
for C++; decompression stops as soon as more comes out than may.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.registry import coded
from shardwright.serialization.riegeli.streams.source import allocate
from shardwright.serialization.wire import WireFault, read_varint, varint

NONE, BROTLI, ZSTD, SNAPPY = 0, ord("b"), ord("z"), ord("s")
NAMES = {NONE: "none", BROTLI: "brotli", ZSTD: "zstd", SNAPPY: "snappy"}
PACKAGES = {BROTLI: "brotli", ZSTD: "zstandard", SNAPPY: "cramjam"}

PIECE = 1 << 16
BROTLI_WINDOW, BROTLI_MAX_WINDOW = 22, 24
ZSTD_MAX_WINDOW = 1 << 31
ZSTD_MAGIC = 0xFD2FB528

Buffer = bytes | bytearray | memoryview


def package(kind: int) -> Any:
    """The package that does a compression; without it, an error that says what to install."""
    try:
        return import_module(PACKAGES[kind])
    except ImportError:
        message = f"{NAMES[kind]} needs the package {PACKAGES[kind]}, which is not installed"
        raise ShardwrightError(coded("SW0808", message)) from None


def compress(kind: int, parts: Sequence[Buffer], level: int, window_log: int | None = None) -> list[Buffer]:
    """The parts as one compressed buffer, its size in front; without compression the parts themselves."""
    if kind == NONE:
        return list(parts)
    size = sum(map(len, parts))
    whole = parts[0] if len(parts) == 1 else b"".join(parts)
    if kind == SNAPPY:
        packed = _snappy(whole) if size else b"\0"
    elif kind == BROTLI:
        window = min(window_log or BROTLI_WINDOW, BROTLI_MAX_WINDOW)
        packed = package(BROTLI).compress(whole, quality=level, lgwin=window)
    else:
        packed = _zstd(size, level, window_log).compress(whole)
    return [varint(size), packed]


def _snappy(whole: Buffer) -> memoryview:
    """Snappy's own format; it goes into a buffer of large pages, which is faster than one that the library makes."""
    module = package(SNAPPY).snappy
    out = allocate(module.compress_raw_max_len(whole))
    return out[: module.compress_raw_into(whole, out)]


def _zstd(size: int, level: int, window_log: int | None) -> Any:
    module = package(ZSTD)
    if window_log is None:
        return module.ZstdCompressor(level=level)
    settings = module.ZstdCompressionParameters.from_level(level, window_log=window_log, source_size=size)
    return module.ZstdCompressor(compression_params=settings)


def decompress(kind: int, data: memoryview, most: int, out: memoryview | None = None) -> memoryview:
    """
    The bytes of a buffer, at most `most`; the whole of `data` must be used up. What is compressed comes out at the
    front of `out`, if it is given: a buffer of `most` bytes.

    >>> bytes(decompress(NONE, memoryview(b"abc"), 3))
    b'abc'
    """
    if kind not in NAMES:
        raise WireFault(f"unknown compression {kind}", "SW0806")
    if kind == NONE:
        return data
    _, place = read_varint(data, 0)
    body = data[place:]
    if kind == SNAPPY:
        return _unsnappy(body, most, out)
    return _unbrotli(body, most, out) if kind == BROTLI else _unzstd(body, most, out)


def _too_much(kind: int, most: int) -> WireFault:
    return WireFault(f"{NAMES[kind]} data expands to more than the {most} bytes that it should")


def _unsnappy(body: memoryview, most: int, out: memoryview | None) -> memoryview:
    """Snappy states its own size first; it must fit before memory is taken."""
    size, _ = read_varint(body, 0, 32)
    if size > most:
        raise _too_much(SNAPPY, most)
    out = allocate(size) if out is None else out[:size]
    if not size:
        if len(body) != 1:
            raise WireFault("snappy data does not end where it should")
        return out
    try:
        written = package(SNAPPY).snappy.decompress_raw_into(body, out)
    except Exception as error:
        raise WireFault(f"snappy data cannot be decompressed ({error})") from None
    if written != size:
        raise WireFault("snappy data ends too early")
    return out


def _unbrotli(body: memoryview, most: int, into: memoryview | None) -> memoryview:
    """Brotli, a piece at a time, so that nothing grows beyond `most`."""
    module = package(BROTLI)
    stream, out, place = module.Decompressor(), bytearray(), 0
    try:
        while not stream.is_finished():
            piece = b""
            if stream.can_accept_more_data():
                piece = body[place : place + PIECE]
                if not piece:
                    raise WireFault("brotli data ends too early")
                place += len(piece)
            out += stream.process(piece, output_buffer_limit=max(PIECE, min(most - len(out) + 1, 1 << 24)))
            if len(out) > most:
                raise _too_much(BROTLI, most)
    except module.error as error:
        raise WireFault(f"brotli data cannot be decompressed ({error})") from None
    if place < len(body):
        raise WireFault("brotli data does not end where it should")
    if into is None:
        return memoryview(out)
    into[: len(out)] = out
    return into[: len(out)]


def _unzstd(body: memoryview, most: int, out: memoryview | None) -> memoryview:
    """Zstd straight into one buffer; the frame's own blocks say where it must end."""
    module = package(ZSTD)
    try:
        size = module.get_frame_parameters(body[:18]).content_size
        if zstd_frame_size(body) != len(body):
            raise WireFault("zstd data does not end where it should")
        if size not in (module.CONTENTSIZE_UNKNOWN, module.CONTENTSIZE_ERROR) and size > most:
            raise _too_much(ZSTD, most)
        out, filled = allocate(most) if out is None else out, 0
        stream = module.ZstdDecompressor(max_window_size=ZSTD_MAX_WINDOW).stream_reader(body)
        while filled < most and (count := stream.readinto(out[filled:most])):
            filled += count
        if filled == most and stream.read(1):
            raise _too_much(ZSTD, most)
    except module.ZstdError as error:
        raise WireFault(f"zstd data cannot be decompressed ({error})") from None
    return out[:filled]


def zstd_frame_size(body: memoryview) -> int:
    """How long the zstd frame is that `body` begins with, from the headers of its blocks; decompresses nothing."""
    if len(body) < 5 or int.from_bytes(body[:4], "little") != ZSTD_MAGIC:
        raise WireFault("zstd data does not begin as it should")
    descriptor = body[4]
    single = descriptor >> 5 & 1
    place = 5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
    last = 0
    while not last:
        if place + 3 > len(body):
            raise WireFault("zstd data ends too early")
        header = int.from_bytes(body[place : place + 3], "little")
        last, kind, size = header & 1, header >> 1 & 3, header >> 3
        place += 3 + (1 if kind == 1 else size)
    return place + (4 if descriptor & 4 else 0)
