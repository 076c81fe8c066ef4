"""Dense literals: exact bytes from text and back, as MLIR reads and writes them; splats keep one element."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, TypeAlias, cast

from xdsl.dialects import builtin
from xdsl.dialects.builtin import BytesAttr, ComplexType, DenseIntOrFPElementsAttr, IndexType, IntegerType, Signedness
from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.types import AnyTensor, bit_width, element_size, shape_of

DenseAttr: TypeAlias = DenseIntOrFPElementsAttr[Any]

HEX_ABOVE = 100
"""Literals with more elements than this are written as hexadecimal blobs, as MLIR does."""

_STRUCT_FORMATS = {builtin.f16: "<e", builtin.f32: "<f", builtin.f64: "<d"}
_NATURAL_DIGITS: dict[Attribute, int] = {builtin.f16: 5, builtin.f32: 9, builtin.f64: 17, builtin.bf16: 4}
_FEWEST_DIGITS = 3
_TOKEN = re.compile(r"[\[\],()]|[^\s\[\],()]+")
_DECIMAL = re.compile(r"-?\d+(\.\d*([eE][+-]?\d+)?)?")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")


def parse_name(parser: AttrParser, what: str = "") -> str:
    """A string in quotes; MLIR writes what is no ASCII as the bytes of UTF-8, which xDSL's parser keeps apart."""
    position = parser.pos
    encoded = parser.parse_optional_bytes_literal()
    if encoded is None:
        return parser.parse_str_literal(what)
    try:
        return encoded.decode()
    except UnicodeDecodeError:
        parser.raise_error("a name must be UTF-8", position)


def dense(tensor_type: AnyTensor, data: bytes) -> DenseAttr:
    """
    The attribute that holds `data`, the elements' little-endian bytes in row-major order.

    Equal elements are stored once: a splat costs the same for every shape, and equal constants are equal attributes.
    Integers of less than a byte are extended to it, whatever its other bits are: arrays and blobs leave them open.

    >>> from shardwright.dialects.types import tensor
    >>> dense(tensor((), IntegerType(4)), bytes([0x08])).data.data.hex()
    'f8'
    """
    element_type = tensor_type.element_type
    size = element_size(element_type)
    if isinstance(element_type, IntegerType) and 1 < element_type.width.data < 8:
        data = data.translate(_extended(element_type))
    if len(data) > size and data == data[:size] * (len(data) // size):
        data = data[:size]
    return DenseIntOrFPElementsAttr(cast(Any, tensor_type), BytesAttr(data))


@cache
def _extended(element_type: IntegerType) -> bytes:
    """For each byte the one that stores the narrow integer in its low bits."""
    modulus = 1 << element_type.width.data
    return b"".join(encode_integer(byte % modulus, element_type, 1) for byte in range(256))


def is_splat(attribute: DenseAttr) -> bool:
    """Whether all elements are equal (an empty literal is no splat)."""
    return len(attribute.data.data) == element_size(attribute.type.element_type)


def parse_dense(body: str, tensor_type: AnyTensor) -> DenseAttr:
    """
    Reads what stands between the angle brackets of `dense<...>`.

    Raises `VerifyException` when it is no literal of this type.

    >>> from shardwright.dialects.types import tensor
    >>> parse_dense("0xFF800000", tensor((2,), builtin.f32)).get_values()
    (-inf,)
    """
    body = body.strip()
    shape = shape_of(tensor_type)
    count = math.prod(shape)
    if not body:
        if count:
            raise VerifyException(f"the literal has no elements, but its type has {count}")
        return dense(tensor_type, b"")
    if body.startswith('"'):
        return dense(tensor_type, _blob(body, tensor_type.element_type, count))
    tokens = _tokens(body)
    data, found = _nested(tokens, next(tokens, ""), tensor_type.element_type)
    if next(tokens, None) is not None:
        raise VerifyException("text follows the end of the literal")
    if found and found != shape:
        raise VerifyException(f"the literal has shape {list(found)}, but its type has {list(shape)}")
    return dense(tensor_type, data if count else b"")


def _tokens(body: str) -> Iterator[str]:
    return (match.group() for match in _TOKEN.finditer(body))


def _nested(tokens: Iterator[str], token: str, element_type: Attribute) -> tuple[bytes, tuple[int, ...]]:
    if token != "[":
        return _element(tokens, token, element_type), ()
    parts: list[bytes] = []
    shapes: set[tuple[int, ...]] = set()
    token = next(tokens, "")
    while token != "]":
        data, shape = _nested(tokens, token, element_type)
        parts.append(data)
        shapes.add(shape)
        token = next(tokens, "")
        if token == ",":
            token = next(tokens, "")
        elif token != "]":
            raise VerifyException("expected ',' or ']' in the literal")
    if len(shapes) > 1:
        raise VerifyException("the literal's parts have different shapes")
    return b"".join(parts), (len(parts), *(shapes.pop() if shapes else ()))


def _element(tokens: Iterator[str], token: str, element_type: Attribute) -> bytes:
    if not isinstance(element_type, ComplexType):
        return encode(token, element_type)
    real, comma, imaginary, end = (next(tokens, "") for _ in range(4))
    if token != "(" or comma != "," or end != ")":
        raise VerifyException("expected a complex element like (1.0, 2.0)")
    part = element_type.element_type
    return encode(real, part) + encode(imaginary, part)


@lru_cache(maxsize=4096)
def encode(text: str, element_type: Attribute) -> bytes:
    """
    The bytes of one element; hexadecimal text is the bits of a float.

    >>> encode("0x7FC00000", builtin.f32).hex()
    '0000c07f'
    """
    if isinstance(element_type, IntegerType | IndexType):
        return _encode_integer(text, element_type)
    size = element_size(element_type)
    if _HEXADECIMAL.fullmatch(text):
        bits = int(text, 16)
        if bits >> bit_width(element_type):
            raise VerifyException(f"{text} has more bits than {element_type}")
        return bits.to_bytes(size, "little")
    if text.lower().lstrip("-") in ("nan", "inf", "infinity") and element_type in _NATURAL_DIGITS:
        bits = int.from_bytes(encode_float(float(text), element_type), "little")
        raise VerifyException(f"{text!r} is written by its bits: 0x{bits:0{2 * size}X}")
    if not _DECIMAL.fullmatch(text):
        raise VerifyException(f"{text!r} is no element of type {element_type}")
    return encode_float(float(text), element_type)


def encode_float(value: float, element_type: Attribute) -> bytes:
    """The bytes of a float, rounded to the nearest of its type."""
    if (form := _STRUCT_FORMATS.get(cast(Any, element_type))) is not None:
        try:
            return struct.pack(form, value)
        except OverflowError:
            return struct.pack(form, math.copysign(math.inf, value))
    assert isinstance(element_type, builtin.AnyFloat)
    return element_type.pack([value])


def _encode_integer(text: str, element_type: IntegerType | IndexType) -> bytes:
    size = element_size(element_type)
    if text in ("true", "false"):
        if not (isinstance(element_type, IntegerType) and element_type.width.data == 1):
            raise VerifyException(f"{text} is only an element of type i1, not {element_type}")
        return b"\1" if text == "true" else b"\0"
    if not re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+", text):
        raise VerifyException(f"{text!r} is no element of type {element_type}")
    value = int(text, 0) if "x" in text else int(text)
    low, high = _range(element_type)
    if not low <= value <= high:
        raise VerifyException(f"{text} is out of range for {element_type}")
    if isinstance(element_type, IntegerType) and element_type.width.data == 1:
        return b"\1" if value else b"\0"
    return encode_integer(value, element_type, size)


def encode_integer(value: int, element_type: IntegerType | IndexType, size: int) -> bytes:
    """The two's complement bytes of an integer; narrow signless types are stored sign-extended."""
    if isinstance(element_type, IntegerType) and element_type.signedness.data is not Signedness.UNSIGNED:
        width = element_type.width.data
        value = (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))
    return value.to_bytes(size, "little", signed=value < 0)


def _range(element_type: IntegerType | IndexType) -> tuple[int, int]:
    if isinstance(element_type, IndexType):
        return -(1 << 63), (1 << 63) - 1
    width = element_type.width.data
    match element_type.signedness.data:
        case Signedness.UNSIGNED:
            return 0, (1 << width) - 1
        case Signedness.SIGNED:
            return -(1 << (width - 1)), (1 << (width - 1)) - 1
        case Signedness.SIGNLESS:
            return -(1 << (width - 1)), (1 << width) - 1


def _blob(body: str, element_type: Attribute, count: int) -> bytes:
    if not re.fullmatch(r'"0x(?:[0-9a-fA-F]{2})*"', body):
        raise VerifyException('expected a hexadecimal blob like "0x0000803F"')
    data = bytes.fromhex(body[3:-1])
    if isinstance(element_type, IntegerType) and element_type.width.data == 1:
        return _boolean_blob(data, count)
    size = element_size(element_type)
    if len(data) not in (size, size * count):
        raise VerifyException(f"the blob has {len(data)} bytes, but its type needs {size * count}")
    return data if count else b""


def _boolean_blob(data: bytes, count: int) -> bytes:
    # Older MLIR packs eight truth values into a byte, newer gives each its own.
    if len(data) == count or (len(data) == 1 and data[0] in (0, 1, 255)):
        return bytes(1 if byte else 0 for byte in data)
    if len(data) != (count + 7) // 8:
        raise VerifyException(f"the blob has {len(data)} bytes, but its type has {count} truth values")
    return bytes(data[index // 8] >> index % 8 & 1 for index in range(count))


def dense_body(attribute: DenseAttr) -> str:
    """What stands between the angle brackets of `dense<...>`, as MLIR writes it."""
    data, element_type = attribute.data.data, attribute.type.element_type
    size = element_size(element_type)
    if not data:
        return ""
    if len(data) == size:
        return element_text(data, element_type)
    if len(data) // size > HEX_ABOVE and bit_width(element_type) != 1:
        return f'"0x{data.hex().upper()}"'
    texts = [element_text(data[start : start + size], element_type) for start in range(0, len(data), size)]
    for extent in reversed(shape_of(cast(AnyTensor, attribute.type))[1:]):
        texts = [f"[{', '.join(texts[start : start + extent])}]" for start in range(0, len(texts), extent)]
    return f"[{', '.join(texts)}]"


@lru_cache(maxsize=4096)
def element_text(data: bytes, element_type: Attribute) -> str:
    """
    One element as MLIR writes it.

    >>> element_text(encode("1.0", builtin.f32), builtin.f32)
    '1.000000e+00'
    """
    if isinstance(element_type, ComplexType):
        half, part = len(data) // 2, element_type.element_type
        return f"({element_text(data[:half], part)},{element_text(data[half:], part)})"
    if isinstance(element_type, IndexType):
        return str(int.from_bytes(data, "little", signed=True))
    if isinstance(element_type, IntegerType):
        if element_type.width.data == 1:
            return "true" if data[0] else "false"
        return str(int.from_bytes(data, "little", signed=element_type.signedness.data is not Signedness.UNSIGNED))
    return _float_text(data, element_type)


def _float_text(data: bytes, element_type: Attribute) -> str:
    assert isinstance(element_type, builtin.AnyFloat)
    value = element_type.unpack(data, 1)[0]
    if math.isfinite(value):
        text = _six_digits(value)
        if encode_float(float(text), element_type) == data:
            return text
        text = _natural(value, _NATURAL_DIGITS.get(element_type, _FEWEST_DIGITS))
        if "." in text and encode_float(float(text), element_type) == data:
            return text
    return f"0x{int.from_bytes(data, 'little'):0{element_size(element_type) * 2}X}"


def _digits(value: float, precision: int) -> tuple[str, int]:
    """
    The significant digits of a positive number and the exponent of the last, rounded as LLVM rounds.

    LLVM drops digits that it surely does not need before it rounds half up, so its last digit can differ from ours.
    """
    significand, denominator = value.as_integer_ratio()
    exponent = -(denominator.bit_length() - 1)
    significand *= 5**-exponent
    surplus = significand.bit_length() - (precision * 196 + 58) // 59
    dropped = surplus * 59 // 196 if surplus > 0 else 0
    text = str(significand // 10**dropped)
    exponent += dropped
    if len(text) > precision:
        exponent += len(text) - precision
        text = str(int(text[:precision]) + (text[precision] >= "5"))
    stripped = text.rstrip("0")
    return stripped or "0", exponent + len(text) - len(stripped)


def _six_digits(value: float) -> str:
    if value == 0:
        return f"{value:.6e}"
    digits, exponent = _digits(abs(value), 6)
    exponent += len(digits) - 1
    return f"{'-' if value < 0 else ''}{digits[0]}.{digits[1:]:0<6}e{'+' if exponent >= 0 else '-'}{abs(exponent):02}"


def _natural(value: float, precision: int) -> str:
    """LLVM's default form: plain near one, else scientific with a capital E; no trailing zeros."""
    sign = "-" if value < 0 else ""
    digits, lowest = _digits(abs(value), precision)
    top = lowest + len(digits) - 1
    if lowest >= 0:
        if lowest <= 3 and len(digits) + lowest <= precision:
            return f"{sign}{digits}{'0' * lowest}"
    elif top >= 0:
        return f"{sign}{digits[: top + 1]}.{digits[top + 1 :]}"
    elif -top <= 3:
        return f"{sign}0.{'0' * (-top - 1)}{digits}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{'+' if top >= 0 else '-'}{abs(top)}"
