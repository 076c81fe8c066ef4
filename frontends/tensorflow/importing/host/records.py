"""Records that are texts: lines of comma-separated values, and TensorFlow's examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.evaluate import Call
from shardwright.frontends.tensorflow.importing.host.ragged import checked_room
from shardwright.frontends.tensorflow.importing.table import host_row
from shardwright.frontends.tensorflow.importing.tensors import numpy_dtype
from shardwright.serialization.wire import DELIMITED, WireFault, fields, read_varint

_NUMBER = re.compile(rb"\s*[+-]?\d+\s*")
_FLOAT = re.compile(rb"\s*[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf(?:inity)?|nan)\s*", re.IGNORECASE)


@host_row("DecodeCSV")
def _lines(call: Call, records: Any, *defaults: Any) -> tuple[Any, ...]:
    """Each column of lines, as what its default is; that stands where a cell is empty."""
    chosen = call["select_cols"] or range(len(defaults))
    count, more = max(chosen) + 1, 0 if call["select_cols"] else 1
    rows = [list(islice(_cells(call, text), count + more)) for text in records.reshape(-1)]
    for text, row in zip(records.reshape(-1), rows, strict=True):
        if len(row) != count:
            raise call.fault(f"the line {text[:40]!r} has not {count} cells", "SW0898")
    return tuple(
        _column(call, [row[place] for row in rows], default, records.shape)
        for place, default in zip(chosen, defaults, strict=True)
    )


def _cells(call: Call, text: bytes) -> Iterator[bytes]:
    """The cells of a line. One in quotes may hold anything, and quotes twice; line ends stand before cells only."""
    between, quotes, place = call["field_delim"].encode(), call["use_quote_delim"], 0
    plain = re.compile(b"[^\r\n" + re.escape(between) + (b'"' if quotes else b"") + b"]*")
    while place < len(text):
        if text[place] in b"\r\n":
            place += 1
            continue
        quoted = quotes and text[place] == ord('"')
        match = (_QUOTED if quoted else plain).match(text, place)
        if match is None or text[match.end() : match.end() + 1] not in (b"", between):
            raise call.fault(f"the line {text[:40]!r} has quotes or line ends inside of a cell", "SW0898")
        yield match[1].replace(b'""', b'"') if quoted else match[0]
        place = match.end() + 1
    if text.endswith(between):
        yield b""


_QUOTED = re.compile(rb'"((?:[^"]|"")*)"')


def _column(call: Call, cells: Sequence[bytes], default: Any, shape: tuple[int, ...]) -> Any:
    found = np.empty(len(cells), default.dtype)
    for place, cell in enumerate(cells):
        if cell not in (b"", call["na_value"].encode()):
            found[place] = _read(call, cell, default.dtype)
        elif default.size:
            found[place] = default.reshape(-1)[0]
        else:
            raise call.fault("a cell is empty for which there is no default", "SW0898")
    return found.reshape(shape)


def _read(call: Call, cell: bytes, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "O":
        return cell
    pattern = _FLOAT if dtype.kind == "f" else _NUMBER
    if not pattern.fullmatch(cell):
        raise call.fault(f"{cell[:40]!r} is no {dtype.name}", "SW0898")
    number = float(cell) if dtype.kind == "f" else int(cell)
    if dtype.kind == "i" and not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
        raise call.fault(f"{cell[:40]!r} does not fit {dtype.name}", "SW0898")
    return number


Features = dict[bytes, list[Any]]
"""What an example holds, by name: each a list of texts, floats or whole numbers."""


@dataclass(frozen=True)
class _Wanted:
    """What is read of examples: names, types, and for those of known shapes these and what stands for missing ones."""

    sparse: list[tuple[bytes, np.dtype[Any]]]
    dense: list[tuple[bytes, np.dtype[Any], Any, Any]]
    ragged: list[tuple[bytes, np.dtype[Any], np.dtype[Any]]]


@host_row("ParseExampleV2")
def _examples(call: Call, serialized: Any, names: Any, sparse: Any, dense: Any, ragged: Any, *defaults: Any) -> Any:
    values, splits = _types(call, "ragged_value_types"), _types(call, "ragged_split_types")
    wanted = _Wanted(
        list(zip(sparse, _types(call, "sparse_types"), strict=True)),
        list(zip(dense, _types(call, "Tdense"), call["dense_shapes"], defaults, strict=True)),
        list(zip(ragged, values, splits, strict=True)),
    )
    return _parsed(call, serialized, wanted)


@host_row("ParseExample")
def _old_examples(call: Call, serialized: Any, names: Any, *given: Any) -> Any:
    sparse, dense = call["Nsparse"], call["Ndense"]
    keys = [key.reshape(-1)[0] for key in given[: sparse + dense]]
    columns = zip(keys[sparse:], _types(call, "Tdense"), call["dense_shapes"], given[sparse + dense :], strict=True)
    wanted = _Wanted(list(zip(keys[:sparse], _types(call, "sparse_types"), strict=True)), list(columns), [])
    return _parsed(call, serialized, wanted)


def _types(call: Call, name: str) -> list[np.dtype[Any]]:
    return [numpy_dtype(each, str(call.node)) for each in call[name]]


def _parsed(call: Call, serialized: Any, wanted: _Wanted) -> tuple[Any, ...]:
    if serialized.ndim != 1:
        raise call.fault(f"examples of shape {list(serialized.shape)} are not read, those in a row are", "SW0885")
    rows = [_features(call, text) for text in serialized]
    apart = [_apart(call, rows, *each) for each in wanted.sparse]
    whole = [_whole(call, rows, *each) for each in wanted.dense]
    ragged = [_ragged(call, rows, *each) for each in wanted.ragged]
    columns = [[each[part] for each in apart] for part in range(3)]
    return (*columns[0], *columns[1], *columns[2], *whole, *(each[0] for each in ragged), *(each[1] for each in ragged))


def _apart(call: Call, rows: Sequence[Features], key: bytes, dtype: np.dtype[Any]) -> tuple[Any, Any, Any]:
    """The elements of a feature that has any number of them: where they stand, what they are, and the shape."""
    found = [_of(call, row, key, dtype) or [] for row in rows]
    places = [(row, place) for row, each in enumerate(found) for place in range(len(each))]
    shape = (len(rows), max(map(len, found), default=0))
    return np.array(places, np.int64).reshape(-1, 2), _made(found, dtype), np.array(shape, np.int64)


def _ragged(
    call: Call, rows: Sequence[Features], key: bytes, dtype: np.dtype[Any], ends: np.dtype[Any]
) -> tuple[Any, Any]:
    found = [_of(call, row, key, dtype) or [] for row in rows]
    return _made(found, dtype), np.cumsum([0, *map(len, found)]).astype(ends)


def _whole(call: Call, rows: Sequence[Features], key: bytes, dtype: np.dtype[Any], shape: Any, default: Any) -> Any:
    """A feature of one shape in all examples, or whose first dim is as long as it is in the longest."""
    open_ended = bool(shape) and shape[0] is None
    inner = prod(shape[1:] if open_ended else shape)
    found = [_of(call, row, key, dtype) for row in rows]
    longest = max((len(each or []) for each in found), default=0) if open_ended else inner
    filling = default.reshape(-1).tolist()
    lines: list[list[Any]] = []
    for each in found:
        if each is None and not open_ended and len(filling) != inner:
            raise call.fault(f"an example has no feature {key!r}", "SW0898")
        given = filling if each is None and not open_ended else each or []
        if len(given) != inner if not open_ended else inner and len(given) % inner:
            raise call.fault(f"the feature {key!r} has {len(given)} elements in an example", "SW0898")
        lines.append([*given, *(filling or [_empty(dtype)]) * (longest - len(given))])
    sizes = (longest // max(inner, 1), *shape[1:]) if open_ended else tuple(shape)
    return _made(lines, dtype).reshape(checked_room(call, (len(rows), *sizes), dtype))


def _empty(dtype: np.dtype[Any]) -> Any:
    return b"" if dtype.kind == "O" else 0


def _made(lists: Sequence[Sequence[Any]], dtype: np.dtype[Any]) -> Any:
    whole = [item for each in lists for item in each]
    found = np.empty(len(whole), dtype)
    found[:] = whole
    return found


def _of(call: Call, row: Features, key: bytes, dtype: np.dtype[Any]) -> list[Any] | None:
    """A feature of an example, None where it has none; it must be of the kind that is read."""
    found = row.get(key)
    if found and not isinstance(found[0], {"O": bytes, "f": float, "i": int}[dtype.kind]):
        raise call.fault(f"the feature {key!r} of an example is no {dtype.name}", "SW0898")
    return found


def _features(call: Call, text: bytes) -> Features:
    """
    The message `tf.train.Example`: in a field of its first field, entries of names and features; the last one of a name
    counts.
    """
    data, found = memoryview(text), Features()
    try:
        for features in _inside(data, 1):
            for entry in _inside(features, 1):
                key = b"".join(bytes(part) for part in list(_inside(entry, 1))[-1:])
                lists = [_list(kind, part) for feature in _inside(entry, 2) for kind, part in _parts(feature)]
                found.pop(key, None)
                if lists:
                    found[key] = lists[-1]
    except WireFault as fault:
        raise call.fault(f"{bytes(text[:40])!r} is no example: {fault.message}", "SW0898") from None
    return found


def _inside(data: memoryview, number: int) -> Iterator[memoryview]:
    return (part for at, part in _parts(data) if at == number)


def _parts(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    for tag, _, _, start, end in fields(data):
        yield tag >> 3, data[start:end]


def _list(kind: int, data: memoryview) -> list[Any]:
    """A list of texts, of floats or of whole numbers, of which each field holds one or many."""
    if kind == 1:
        return [bytes(part) for part in _inside(data, 1)]
    if kind == 2:
        return np.frombuffer(b"".join(_inside(data, 1)), "<f4").tolist()
    found: list[int] = []
    for tag, _, start, inside, end in fields(data):
        place = inside if tag & 7 == DELIMITED else start
        while place < end:
            number, place = read_varint(data, place)
            found.append(number - (number >> 63 << 64))
    return found
