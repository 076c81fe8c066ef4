"""Modules into chunks without their messages: constants are written from where they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from typing import Any, cast

from google.protobuf.message import Message
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from shardwright._collector import collector_paused
from shardwright.serialization.ir.writing import ModuleWriter
from shardwright.serialization.protos import chunk_pb2, ir_pb2
from shardwright.serialization.riegeli import RecordWriterOptions
from shardwright.serialization.splitting.parts import serialised
from shardwright.serialization.splitting.plan import measured
from shardwright.serialization.splitting.sizes import FieldSize, Size, Sized, framer, sizer
from shardwright.serialization.splitting.splitter import ComposableSplitter
from shardwright.serialization.splitting.writing import Progress, write_pieces
from shardwright.serialization.wire import delimited

BLOBS: Any = ir_pb2.Module.DESCRIPTOR.fields_by_name["blobs"]
DATA: Any = ir_pb2.Blob.DESCRIPTOR.fields_by_name["data"]


class IrSplitter(ComposableSplitter):
    """
    Splits a module as `MessageSplitter` splits its message, which is never made: the chunks and the file are the same.

    Args:
        module: the module.
        context: the dialects of the module, if they are not ours.
        max_size: the most bytes that a message chunk has, and a module that is not split (1 GiB).
        chunk_size: what message chunks should have (4 MiB, never more than `max_size`).

    >>> from shardwright.dialects.text.parsing import parse_module
    >>> chunks, _ = IrSplitter(parse_module("func.func @main() { return }"), max_size=100).split()
    >>> max(chunk.ByteSize() for chunk in chunks) <= 100
    True
    """

    def __init__(
        self,
        module: ModuleOp,
        context: Context | None = None,
        *,
        max_size: int | None = None,
        chunk_size: int | None = None,
    ) -> None:
        with collector_paused():
            writer = ModuleWriter(module, context)
        super().__init__(writer.message, max_size=max_size, chunk_size=chunk_size)
        self._payloads = [_Blob(payload) for payload in writer.payloads]
        self._size = self._measured()

    def build_chunks(self) -> int:
        """Make the chunks; returns how many bytes went into them."""
        return self._add_plan(self._size)

    def split(self) -> tuple[Sequence[Message | bytes], chunk_pb2.ChunkedMessage]:
        """The chunks as messages and bytes, all in memory, and how they become one message again."""
        if not self._is_large():
            self._take_in()
        chunks, chunked = cast(
            "tuple[Sequence[Message | bytes | memoryview], chunk_pb2.ChunkedMessage]", super().split()
        )
        return [_as_bytes(chunk) if isinstance(chunk, memoryview) else chunk for chunk in chunks], chunked

    def write(
        self,
        file_prefix: str | os.PathLike[str],
        writer_options: RecordWriterOptions | str | None = None,
        *,
        on_progress: Progress | None = None,
    ) -> str:
        """Write the module to `file_prefix` plus `.pb`, or `.cpb` if it was split; returns the path."""
        if self._is_large():
            return super().write(file_prefix, writer_options, on_progress=on_progress)
        if isinstance(writer_options, str):
            RecordWriterOptions.parse(writer_options)
        pieces = [serialised(self._proto), *chain.from_iterable(blob.pieces() for blob in self._payloads)]
        return write_pieces(os.fspath(file_prefix), self._proto, pieces, self.version_def, on_progress)

    def _is_large(self) -> bool:
        return self._size.size > self._limits.max_size

    def _measured(self) -> Sized:
        """The size of the whole message, with details if it is large, like `measure`."""
        details = self._limits.small
        sizes = [framer(DATA)(len(blob.data)) for blob in self._payloads]
        total = sum(framer(BLOBS)(size) for size in sizes)
        if total <= details:
            self._take_in()
            return measured(self._proto, self._limits)
        size = measured(self._proto, self._limits)
        parts: list[Size] = [
            each if each <= details else Sized(cast(Message, blob), each, [FieldSize(DATA, blob.data, each)], [])
            for blob, each in zip(self._payloads, sizes, strict=True)
        ]
        fields = [*_field_sizes(size, details), FieldSize(BLOBS, self._payloads, total, parts)]
        return Sized(self._proto, size.size + total, fields, [])

    def _take_in(self) -> None:
        """Copy the data into the message, which is small."""
        for blob in self._payloads:
            self._proto.blobs.add(data=blob.bytes())
        self._payloads.clear()


class _Blob:
    """Stands for a message `Blob` whose data are somewhere else."""

    __slots__ = ("data",)

    def __init__(self, data: memoryview) -> None:
        self.data = data

    def bytes(self) -> bytes:
        """The data."""
        return _as_bytes(self.data)

    def pieces(self) -> tuple[bytes, memoryview]:
        """The blob in a serialised module: its tags and lengths, and its data."""
        size = len(self.data)
        head = delimited(DATA.number, size)
        return delimited(BLOBS.number, len(head) + size) + head, self.data

    def SerializePartialToString(self, deterministic: bool = False) -> bytes:
        """The message's bytes, as protobuf's method of this name gives them."""
        return ir_pb2.Blob(data=self.bytes()).SerializePartialToString(deterministic=deterministic)


def _as_bytes(view: memoryview) -> bytes:
    """The bytes under a view, not copied if it shows all of them."""
    whole = view.obj
    return whole if isinstance(whole, bytes) and len(whole) == len(view) else bytes(view)


def _field_sizes(sized: Sized, details: int) -> list[FieldSize]:
    """The sizes of the fields of a message, of a small one too."""
    found = list(sized.fields)
    if not found:
        for field, value in sized.message.ListFields():
            size: Any = sizer(field)(value, details, 1)
            found.append(size if isinstance(size, FieldSize) else FieldSize(field, value, size))
    return found
