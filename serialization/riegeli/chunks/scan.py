"""Finding and reading chunks: headers and data with every hash checked, and the way back after a fault."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from shardwright.serialization.errors import RiegeliError
from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.hashing.highway import BackgroundHash
from shardwright.serialization.riegeli.chunks import blocks
from shardwright.serialization.riegeli.chunks.blocks import BLOCK, BLOCK_HEADER, CHUNK_HEADER
from shardwright.serialization.riegeli.chunks.chunks import ChunkHeader, unpack_header
from shardwright.serialization.riegeli.streams.source import Source, allocate
from shardwright.serialization.riegeli.streams.stream import Stream

BLOCKS_AT_ONCE = 64, 256
"""Blocks of a chunk that are read before they are hashed: the fewest, and the most of a large chunk."""

PIECES = 16
TAKEN_ON_TRUST = 1 << 24
FEW_BLOCKS = 16

FILE_SIGNATURE = bytes.fromhex(
    "83af70d10d884a3f0000000000000000400000000000000091bac23c9287e1a9"
    "0000000000000000e19f13c0e9b1c37273000000000000000000000000000000"
)
"""The first 64 bytes of every file: the header of the first block and that of an empty chunk."""


class ChunkScanner:
    """The chunks of a source, by place."""

    def __init__(self, source: Source | Stream, strict: bool = False) -> None:
        self.source, self.strict = source, strict

    def header(self, begin: int) -> ChunkHeader | None:
        """The header of the chunk at a place, or None if the file ends there."""
        end = blocks.add_overhead(begin, CHUNK_HEADER)
        raw = self.source.read(begin, end - begin)
        if not raw:
            return None
        if not begin and raw != FILE_SIGNATURE[: len(raw)]:
            self._fail("SW0801", "it does not begin with riegeli's signature", begin, end)
        cut, block = blocks.remaining_in_block(begin), None
        if begin + cut < end:
            block = self._block_header(begin + cut, raw[cut : cut + BLOCK_HEADER], begin)
            raw = raw[:cut] + raw[cut + BLOCK_HEADER :]
        if len(raw) < CHUNK_HEADER:
            self._truncated(begin)
        header, stated, actual = unpack_header(raw)
        if stated != actual:
            self._fail("SW0803", f"the chunk header's hash is {actual:#018x}, not {stated:#018x}", begin, end)
        if block is not None and begin + cut + block[1] != header.end(begin):
            self._fail("SW0804", f"the block header at {begin + cut} and the chunk header disagree", begin, end)
        return header

    def data(self, begin: int, header: ChunkHeader) -> memoryview:
        """The data of a chunk, hash checked."""
        self._check_end(begin, header)
        if header.data_size > TAKEN_ON_TRUST and not self.source.seekable:
            return self._grow(begin, header)
        out = allocate(header.data_size)
        self.fill(begin, header, (out,))
        return out

    def _grow(self, begin: int, header: ChunkHeader) -> memoryview:
        """The data of a chunk of which it is not known whether they are there: memory is taken as they come."""
        out = bytearray()

        def pieces() -> Iterator[memoryview]:
            while (done := len(out)) < header.data_size:
                out.extend(bytes(min(header.data_size - done, TAKEN_ON_TRUST)))
                with memoryview(out) as whole, whole[done:] as piece:
                    yield piece

        self._stream(begin, header, pieces(), BackgroundHash(0))
        return memoryview(out)

    def fill(self, begin: int, header: ChunkHeader, outs: Sequence[memoryview]) -> None:
        """The data of a chunk into buffers, one after the other, hash checked; on a fault they hold anything."""
        self._check_end(begin, header)
        fewest, most = BLOCKS_AT_ONCE
        size = min(most, max(fewest, header.data_size // (PIECES * BLOCK))) * blocks.USABLE
        pieces = (out[done : done + size] for out in outs for done in range(0, len(out), size))
        self._stream(begin, header, pieces, BackgroundHash(header.data_size))

    def front(self, begin: int, size: int) -> bytes:
        """The first bytes of a chunk's data, not checked; fewer at the end of the file."""
        start = blocks.add_overhead(begin, CHUNK_HEADER)
        place = start + BLOCK_HEADER * (start % BLOCK == 0)
        raw, cut = self.source.read(place, size + BLOCK_HEADER), blocks.remaining_in_block(place) or BLOCK
        return (raw[:cut] + raw[cut + BLOCK_HEADER :])[:size]

    def check(self, begin: int, header: ChunkHeader) -> None:
        """The data of a chunk, hash checked, not kept."""
        self._check_end(begin, header)
        step = FEW_BLOCKS * blocks.USABLE
        out = allocate(min(header.data_size, step))
        pieces = (out[: header.data_size - done] for done in range(0, header.data_size, step))
        self._stream(begin, header, pieces, BackgroundHash(0))

    def _check_end(self, begin: int, header: ChunkHeader) -> None:
        """The file must hold the chunk to its end, before memory is taken for it."""
        end = header.end(begin)
        if end > self.source.size:
            self._check_blocks(begin, end)
            self._truncated(begin)

    def _stream(self, begin: int, header: ChunkHeader, pieces: Iterable[memoryview], hasher: BackgroundHash) -> None:
        """Read data into pieces and check the hash and the block headers among them."""
        end, place = header.end(begin), blocks.add_overhead(begin, CHUNK_HEADER)
        try:
            for piece in pieces:
                place = self._piece(begin, end, place, piece)
                hasher.update(piece)
            actual = hasher.digest()
        finally:
            hasher.close()
        if self.strict and place < end:
            self._check_zeros(begin, end, place)
        if actual != header.data_hash:
            message = f"the hash of the chunk's data is {actual:#018x}, not {header.data_hash:#018x}"
            raise RiegeliError("SW0803", message, self.source.name, begin, resume=end)

    def _piece(self, begin: int, end: int, place: int, piece: memoryview) -> int:
        """Read the data from a place on, around the block headers, which must be right; returns the place after it."""
        start, first, done = place, place + blocks.remaining_in_block(place), 0
        headers = memoryview(bytearray(BLOCK_HEADER * (len(piece) // blocks.USABLE + 2)))
        used, views = 0, list[memoryview]()
        while done < len(piece):
            if not place % BLOCK:
                views.append(headers[used : used + BLOCK_HEADER])
                used, place = used + BLOCK_HEADER, place + BLOCK_HEADER
            step = min(len(piece) - done, blocks.remaining_in_block(place))
            views.append(piece[done : done + step])
            done, place = done + step, place + step
        if self.source.scatter(start, views) < place - start:
            self._truncated(begin)
        found = bytes(headers[:used])
        if used and found != blocks.block_headers(begin, end, first, used // BLOCK_HEADER):
            self._diagnose(begin, end, first, found)
        return place

    def _diagnose(self, begin: int, end: int, first: int, headers: bytes) -> NoReturn:
        """Say which of the block headers is not what it must be, and how."""
        for offset in range(0, len(headers), BLOCK_HEADER):
            block = first + offset // BLOCK_HEADER * BLOCK
            _, following = self._block_header(block, headers[offset : offset + BLOCK_HEADER], begin)
            if block + following != end:
                message = f"the block header at {block} ends the chunk at {block + following}, its header at {end}"
                self._fail("SW0804", message, begin, block + BLOCK_HEADER)
        raise AssertionError("block headers that differ from the right ones are all right")

    def _block_header(self, block: int, raw: bytes, begin: int | None) -> tuple[int, int]:
        """Distances to the chunk's begin and end from a block header, which must belong to the chunk at `begin`."""
        if len(raw) < BLOCK_HEADER:
            self._truncated(block if begin is None else begin)
        stated, previous, following = struct.unpack("<3Q", raw)
        actual = highwayhash64(raw[8:])
        where = block if begin is None else begin
        if stated != actual:
            message = f"the hash of the block header at {block} is {actual:#018x}, not {stated:#018x}"
            self._fail("SW0803", message, where, block + BLOCK_HEADER)
        if begin is not None and previous != block - begin:
            message = f"the block header at {block} says that the chunk around it begins at {block - previous}"
            error = RiegeliError("SW0804", message, self.source.name, where, resume=block + following)
            error.find_chunk = following > BLOCK
            if error.find_chunk:
                error.resume = block + BLOCK_HEADER
            raise error
        return previous, following

    def _check_blocks(self, begin: int, end: int) -> None:
        """The block headers of a chunk that the file does not hold whole; a foreign one is what is wrong then."""
        for block in range(begin + blocks.remaining_in_block(begin), min(end, self.source.size), BLOCK):
            raw = self.source.read(block, BLOCK_HEADER)
            if len(raw) == BLOCK_HEADER and raw != blocks.block_headers(begin, end, block, 1):
                self._diagnose(begin, end, block, raw)

    def _check_zeros(self, begin: int, end: int, place: int) -> None:
        """What follows the data up to the chunk's end: zeros, and block headers in their places."""
        while place < end:
            if not place % BLOCK:
                raw = self.source.read(place, BLOCK_HEADER)
                if raw != blocks.block_headers(begin, end, place, 1):
                    self._diagnose(begin, end, place, raw)
                place += BLOCK_HEADER
            size = min(end - place, blocks.remaining_in_block(place))
            if any(self.source.read(place, size)):
                self._fail("SW0805", "there are bytes other than zero after the chunk's data", begin, end)
            place += size

    def _truncated(self, begin: int) -> NoReturn:
        message = f"the file ends inside the chunk, after {self.source.size} bytes"
        raise RiegeliError("SW0802", message, self.source.name, begin, resume=self.source.size)

    def _fail(self, code: str, message: str, begin: int, resume: int) -> NoReturn:
        """A fault after which a chunk must be looked for."""
        error = RiegeliError(code, message, self.source.name, begin, resume=resume)
        error.find_chunk = True
        raise error

    def find(self, place: int) -> int:
        """The next chunk at or after a place that a whole block header tells of, or the end of the file."""
        place = max(place, self.source.earliest)
        while True:
            place += blocks.remaining_in_block(place)
            if place >= (size := self.source.size):
                return size
            try:
                previous, following = self._block_header(place, self.source.read(place, BLOCK_HEADER), None)
            except RiegeliError:
                place += BLOCK_HEADER
                continue
            if not previous:
                return place
            if following and blocks.is_boundary(place + following):
                return min(place + following, size)
            place += max(following, BLOCK_HEADER)

    def around(self, place: int) -> int:
        """A chunk that begins at or before a place, near it: from the block header before it."""
        block = place - place % BLOCK
        previous, following = self._block_header(block, self.source.read(block, BLOCK_HEADER), None)
        begin = block if not previous else block + following
        if begin > place:
            begin = block - previous
        if begin < 0 or not blocks.is_boundary(begin):
            self._fail("SW0804", f"its block header says that a chunk begins at {begin}", block, block + BLOCK_HEADER)
        return begin
