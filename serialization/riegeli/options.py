"""What a writer can be told, as fields or as riegeli's option text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from shardwright.serialization.errors import StorageError
from shardwright.serialization.riegeli.chunks.blocks import BLOCK
from shardwright.serialization.riegeli.chunks.codecs import BROTLI, BROTLI_MAX_WINDOW, NONE, SNAPPY, ZSTD

LEVELS = {NONE: (0, 0, 0), BROTLI: (0, 11, 6), ZSTD: (-131072, 22, 3), SNAPPY: (1, 2, 1)}
"""For each compression the lowest, the highest and the default level."""

WINDOWS = {BROTLI: (10, BROTLI_MAX_WINDOW), ZSTD: (10, 31)}
KINDS = {"uncompressed": NONE, "brotli": BROTLI, "zstd": ZSTD, "snappy": SNAPPY}
SUFFIXES = {"B": 0, "k": 10, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}
MOST_THREADS = (1 << 31) - 1

Number = TypeVar("Number", int, float)


def refuse(message: str) -> StorageError:
    """An option that cannot be."""
    return StorageError("SW0809", message)


@dataclass(frozen=True)
class RecordWriterOptions:
    """
    How a file is written; the defaults are riegeli's (brotli at level 6, chunks of 1 MiB, no padding).

    `chunk_size` is the desired size of a chunk before compression (by default 1 MiB, 4 KiB without compression).
    With `transpose`, messages are taken apart and the values of each field put together, which compresses better; a
    bucket, which is compressed as one, has the part `bucket_fraction` of a chunk's size.
    `initial_padding` and `final_padding` take the file to a multiple of so many bytes. `metadata` is a serialised
    `RecordsMetadata`. Raises SW0809 for values out of range.

    >>> RecordWriterOptions.parse("zstd:5,chunk_size:64k,padding").final_padding
    65536
    """

    compression: str = "brotli"
    level: int | None = None
    window_log: int | None = None
    chunk_size: int | None = None
    transpose: bool = False
    bucket_fraction: float = 1.0
    initial_padding: int = 1
    final_padding: int = 1
    metadata: bytes | None = None

    def __post_init__(self) -> None:
        if self.compression not in KINDS:
            raise refuse(f"there is no compression {self.compression!r}; there are {', '.join(KINDS)}")
        low, high, _ = LEVELS[self.kind]
        if self.level is not None and not low <= self.level <= high:
            raise refuse(f"{self.compression} has levels from {low} to {high}, not {self.level}")
        if self.window_log is not None:
            if self.kind not in WINDOWS:
                raise refuse(f"{self.compression} has no window_log")
            low, high = WINDOWS[self.kind]
            if not low <= self.window_log <= high:
                raise refuse(f"window_log of {self.compression} goes from {low} to {high}, not {self.window_log}")
        for name in ("chunk_size", "initial_padding", "final_padding"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise refuse(f"{name} is at least 1, not {value}")
        if not 0 <= self.bucket_fraction <= 1:
            raise refuse(f"bucket_fraction goes from 0 to 1, not {self.bucket_fraction}")

    @property
    def kind(self) -> int:
        """The compression's byte in a file."""
        return KINDS[self.compression]

    @property
    def effective_level(self) -> int:
        """The level, or the default of the compression."""
        return LEVELS[self.kind][2] if self.level is None else self.level

    @property
    def desired_size(self) -> int:
        """The size before compression that a chunk should have."""
        return self.chunk_size or (4096 if self.kind == NONE else 1 << 20)

    @property
    def bucket_size(self) -> int:
        """The size before compression that a bucket of a transposed chunk should have."""
        return max(1, int(self.desired_size * self.bucket_fraction + 0.5))

    @staticmethod
    def parse(text: str, metadata: bytes | None = None) -> RecordWriterOptions:
        """Riegeli's option text, of any version: `brotli:9,window_log:20,chunk_size:2M,padding:64k`."""
        options, seen = RecordWriterOptions(metadata=metadata), set[str]()
        changes: dict[str, object] = {}
        for part in filter(None, text.split(",")):
            name, _, value = part.partition(":")
            names = {"compression"} if name in KINDS else {name}
            if names & seen or "default" in seen or (name == "default" and (seen or value)):
                raise refuse(f"{part!r} does not go with the options before it")
            seen |= names
            changes |= _one(name, value, part)
        return replace(options, **changes)  # type: ignore[arg-type]


def _compression(name: str, value: str, part: str) -> dict[str, object]:
    if name == "uncompressed" and value:
        raise refuse(f"{part!r}: it takes no level")
    return {"compression": name, "level": _number(int, value, part) if value else None}


def _one(name: str, value: str, part: str) -> dict[str, object]:
    if name in KINDS:
        return _compression(name, value, part)
    if name in ("window_log", "chunk_size") and value == "auto":
        return {name: None}
    if name == "window_log":
        return {name: _number(int, value, part)}
    if name == "chunk_size":
        return {name: _size(value, part)}
    if name in ("padding", "initial_padding", "final_padding"):
        size = _size(value, part) if value else BLOCK
        return dict.fromkeys(PADDINGS[name], size)
    if name in ENUMS and value in ENUMS[name]:
        return ENUMS[name][value]
    if name == "bucket_fraction":
        return {name: _number(float, value, part)}
    if name == "parallelism":
        if not 0 <= _number(int, value, part) <= MOST_THREADS:
            raise refuse(f"{part!r} is out of range")
        return {}
    raise refuse(f"{part!r} is not an option, or not a value that it takes")


PADDINGS = {
    "padding": ("initial_padding", "final_padding"),
    "initial_padding": ("initial_padding",),
    "final_padding": ("final_padding",),
}

BOTH = {"initial_padding": BLOCK, "final_padding": BLOCK}
NEITHER = {"initial_padding": 1, "final_padding": 1}

ENUMS: dict[str, dict[str, dict[str, object]]] = {
    "default": {"": {}},
    "transpose": {"": {"transpose": True}, "true": {"transpose": True}, "false": {"transpose": False}},
    "brotli_encoder": {"rbrotli_or_cbrotli": {}, "cbrotli": {}},
    "pad_to_block_boundary": {
        "": {**BOTH},
        "true": {**BOTH},
        "false": {**NEITHER},
        "initially": {"initial_padding": BLOCK, "final_padding": 1},
    },
}


def _number(kind: type[Number], value: str, part: str) -> Number:
    try:
        return kind(value)
    except ValueError:
        what = "an integer" if kind is int else "a number"
        raise refuse(f"{part!r}: {value!r} is not {what}") from None


def _size(value: str, part: str) -> int:
    """A size as riegeli writes it: a real number and perhaps a suffix."""
    scale = SUFFIXES.get(value[-1:], 0)
    number = _number(float, value[:-1] if value[-1:] in SUFFIXES else value, part)
    if not 0 <= number * (1 << scale) < 1 << 64:
        raise refuse(f"{part!r} is out of range")
    return round(number * (1 << scale))
