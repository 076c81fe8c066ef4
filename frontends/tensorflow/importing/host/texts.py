"""TensorFlow's operations on texts, which are bytes in arrays of objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.evaluate import Call
from shardwright.frontends.tensorflow.importing.host.fingerprints import fingerprint, keyed
from shardwright.frontends.tensorflow.importing.host.patterns import in_python, is_plain
from shardwright.frontends.tensorflow.importing.table import host_row


def _texts(parts: Iterable[bytes], shape: Any) -> Any:
    found = np.empty(shape, object)
    found.reshape(-1)[:] = list(parts)
    return found


def _each(function: Callable[[bytes], Any], x: Any, dtype: Any = object) -> Any:
    found = np.empty(x.shape, dtype)
    found.reshape(-1)[:] = [function(text) for text in x.reshape(-1)]
    return found


def decoded(call: Call, text: bytes) -> str:
    """A text's characters; GraphError (SW0898) where it is no UTF-8, of which libraries make different things."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        raise call.fault(f"{text[:40]!r} is no UTF-8", "SW0898") from None


CASES: dict[str, tuple[Callable[[bytes], bytes], Callable[[str], str]]] = {
    "StringLower": (bytes.lower, str.lower),
    "StringUpper": (bytes.upper, str.upper),
}
"""How letters change: those of ASCII, or all."""


@host_row(*CASES)
def _other_case(call: Call, x: Any) -> Any:
    plain, whole = CASES[call.node.op]
    if not call["encoding"]:
        return _each(plain, x)
    return _each(lambda text: whole(decoded(call, text)).encode(), x)


@host_row("StringStrip")
def _stripped(call: Call, x: Any) -> Any:
    return _each(bytes.strip, x)


@host_row("StringLength")
def _length(call: Call, x: Any) -> Any:
    if call["unit"] == "BYTE":
        return _each(len, x, np.int32)
    return _each(lambda text: len(decoded(call, text)), x, np.int32)


@host_row("StringJoin")
def _joined(call: Call, *values: Any) -> Any:
    wide = np.broadcast_arrays(*values)
    separator = call["separator"].encode()
    return _texts(
        (separator.join(parts) for parts in zip(*(one.reshape(-1) for one in wide), strict=True)), wide[0].shape
    )


@host_row("ReduceJoin")
def _joined_along(call: Call, x: Any, dims: Any) -> Any:
    axes = sorted({call.dim(x, dim) for dim in call.numbers(dims, "dims")})
    if len(axes) > 1:
        raise call.fault("texts are joined along one dim", "SW0885")
    if not axes:
        return x
    moved, separator = np.moveaxis(x, axes[0], -1), call["separator"].encode()
    lines = moved.reshape(-1, moved.shape[-1])
    found = _texts((separator.join(line) for line in lines), moved.shape[:-1])
    return np.expand_dims(found, axes[0]) if call["keep_dims"] else found


def _words(text: bytes, most: int) -> list[bytes]:
    """The words of a text: behind the last cut that there may be comes what is left, be it nothing."""
    if most == 0:
        return [text]
    words = text.split(None, most)
    return [*words, b""] if len(words) == most else words


@host_row("StringSplitV2")
def _split(call: Call, x: Any, separator: Any) -> tuple[Any, Any, Any]:
    """The parts of each text, where each is, and the shape in which they would all have room."""
    if x.ndim != 1 or separator.size != 1:
        raise call.fault(f"texts of shape {list(x.shape)} are not split, those in a row are")
    between, most = separator.reshape(-1)[0], call["maxsplit"]
    return _in_rows([text.split(between, most) if between else _words(text, most) for text in x])


@host_row("StringSplit")
def _split_at_any(call: Call, x: Any, separators: Any) -> tuple[Any, Any, Any]:
    """The same where each of several bytes cuts; without any, each byte of a text is a part."""
    if x.ndim != 1 or separators.size != 1:
        raise call.fault(f"texts of shape {list(x.shape)} are not split, those in a row are")
    cuts = separators.reshape(-1)[0]
    pattern = re.compile(b"[" + re.escape(cuts) + b"]") if cuts else None
    lines = [_cut_at(pattern, text) for text in x]
    return _in_rows([[part for part in line if part] if call["skip_empty"] else line for line in lines])


def _cut_at(pattern: re.Pattern[bytes] | None, text: bytes) -> list[bytes]:
    return [bytes([one]) for one in text] if pattern is None else pattern.split(text)


def _in_rows(lines: Sequence[Sequence[bytes]]) -> tuple[Any, Any, Any]:
    """Parts of texts: where each is, what they are, and the shape in which they would all have room."""
    places = [(row, column) for row, line in enumerate(lines) for column in range(len(line))]
    parts = _texts((part for line in lines for part in line), len(places))
    shape = (len(lines), max(map(len, lines), default=0))
    return np.array(places, np.int64).reshape(-1, 2), parts, np.array(shape, np.int64)


@host_row("Substr")
def _part(call: Call, x: Any, start: Any, length: Any) -> Any:
    """Bytes or characters from a place on, which counts from the end if it is negative."""
    wide = np.broadcast_arrays(x, start, length)

    def cut(text: bytes, first: int, count: int) -> bytes:
        whole: Any = text if call["unit"] == "BYTE" else decoded(call, text)
        place = first + len(whole) if first < 0 else first
        if not 0 <= place <= len(whole) or count < 0:
            raise call.fault(f"{text[:40]!r} has no place {first}", "SW0898")
        part = whole[place : place + count]
        return part if isinstance(part, bytes) else part.encode()

    return _texts(map(cut, *(one.reshape(-1).tolist() for one in wide)), wide[0].shape)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(in_python(pattern), re.ASCII)


def _substituted(pattern: re.Pattern[str], rewrite: str, text: str, everywhere: bool) -> str:
    """As RE2 substitutes: nothing at all is not found where what was found last ends."""
    parts, at, last = list[str](), 0, -1
    while at <= len(text) and (found := pattern.search(text, at)):
        parts.append(text[at : found.start()])
        at = found.end()
        if found.start() == at == last:
            parts.append(text[at : at + 1])
            at += 1
            continue
        parts.append(rewrite)
        last = at
        if not everywhere:
            break
    return "".join([*parts, text[at:]])


@host_row("StaticRegexReplace")
def _replaced(call: Call, x: Any) -> Any:
    """Patterns of a kind whose search takes no longer than the text is long, and that mean the same everywhere."""
    pattern, rewrite = call["pattern"], call["rewrite"]
    if not is_plain(pattern) or "\\" in rewrite:
        raise call.fault(f"pattern {pattern!r} with {rewrite!r} is not supported", "SW0885")
    found, everywhere = _compiled(pattern), call["replace_global"]
    return _each(lambda text: _substituted(found, rewrite, decoded(call, text), everywhere).encode(), x)


@host_row("StringToHashBucketFast")
def _bucket(call: Call, x: Any) -> Any:
    return _each(lambda text: fingerprint(text) % call["num_buckets"], x, np.int64)


@host_row("StringToHashBucketStrong")
def _keyed_bucket(call: Call, x: Any) -> Any:
    key = call["key"]
    if len(key) != 2:
        raise call.fault(f"a key has two numbers, not {len(key)}")
    words = tuple(word % 2**64 for word in key)
    return _each(lambda text: keyed(text, (words[0], words[1])) % call["num_buckets"], x, np.int64)


@host_row("AsString")
def _as_text(call: Call, x: Any) -> Any:
    if call["precision"] != -1 or call["scientific"] or call["shortest"] or call["width"] != -1 or x.dtype.kind == "c":
        raise call.fault("a format of one's own is not supported", "SW0885")
    if x.dtype.kind == "b":
        return _each(lambda item: b"true" if item else b"false", x)
    form = "%d" if x.dtype.kind in "iu" else "%f"
    return _each(lambda item: (form % item).encode(), x)


_NUMBER = re.compile(rb"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)\s*", re.IGNORECASE)


@host_row("StringToNumber")
def _number(call: Call, x: Any) -> Any:
    target = call.dtype("out_type")
    kind = int if target.kind in "iu" else float

    def read(text: bytes) -> Any:
        try:
            if _NUMBER.fullmatch(text):
                return target.type(kind(text))
        except (ValueError, OverflowError):
            pass
        raise call.fault(f"{text[:40]!r} is no {target.name}", "SW0898")

    return _each(read, x, target)


@host_row("UnicodeDecode")
def _characters(call: Call, x: Any) -> tuple[Any, Any]:
    """Characters as numbers, and where those of each text end."""
    if call["input_encoding"] not in ("UTF-8", "utf-8") or call["replace_control_characters"]:
        raise call.fault("only UTF-8, with all its characters, is supported", "SW0885")
    lines = [[ord(one) for one in decoded(call, text)] for text in x.reshape(-1)]
    ends = np.cumsum([0, *map(len, lines)]).astype(call.dtype("Tsplits"))
    return ends, np.array([one for line in lines for one in line], np.int32)


@host_row("UnicodeEncode")
def _of_characters(call: Call, x: Any, ends: Any) -> Any:
    if call["output_encoding"] not in ("UTF-8", "utf-8"):
        raise call.fault("only UTF-8 is supported", "SW0885")
    try:
        texts = ["".join(map(chr, x[start:end])).encode() for start, end in pairwise(ends)]
    except (ValueError, UnicodeEncodeError):
        raise call.fault("a number is no character", "SW0898") from None
    return _texts(texts, len(texts))


@host_row("StringNGrams")
def _runs(call: Call, x: Any, ends: Any) -> tuple[Any, Any]:
    """Runs of neighbours in each row, joined."""
    if call["preserve_short_sequences"]:
        raise call.fault("keeping short rows is not supported", "SW0885")
    separator, found = call["separator"].encode(), list[bytes]()
    counts = [0]
    for start, end in pairwise(ends):
        for width in call["ngram_widths"]:
            pad = min(width - 1, call["pad_width"] if call["pad_width"] >= 0 else width - 1)
            row = [call["left_pad"].encode()] * pad + list(x[start:end]) + [call["right_pad"].encode()] * pad
            found += [separator.join(row[at : at + width]) for at in range(len(row) - width + 1)]
        counts.append(len(found))
    return _texts(found, len(found)), np.array(counts, ends.dtype)
