"""The hashes by which TensorFlow puts texts into buckets: FarmHash's fingerprint of 64 bits, and SipHash with a key."""

from __future__ import annotations

MASK = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _word(text: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(text[at : at + size], "little")


def _turned(value: int, places: int) -> int:
    value &= MASK
    return (value >> places | value << (64 - places)) & MASK


def _folded(value: int) -> int:
    value &= MASK
    return value ^ value >> 47


def _mixed(first: int, second: int, factor: int) -> int:
    """Two words as one."""
    low = _folded((first ^ second) * factor)
    high = _folded(((second & MASK) ^ low) * factor)
    return high * factor & MASK


def fingerprint(text: bytes) -> int:
    """
    FarmHash's `Fingerprint64`, which never changes.

    >>> hex(fingerprint(b"red"))
    '0xdc1119c86e561f6'
    """
    size = len(text)
    if size <= 16:
        return _of_few(text, size)
    if size <= 32:
        return _of_some(text, size)
    return _of_more(text, size) if size <= 64 else _of_many(text, size)


def _of_few(text: bytes, size: int) -> int:
    factor = K2 + 2 * size
    if size >= 8:
        first, last = _word(text, 0) + K2, _word(text, size - 8)
        left = _turned(last, 37) * factor + first
        right = (_turned(first, 25) + last) * factor
        return _mixed(left & MASK, right & MASK, factor)
    if size >= 4:
        return _mixed(size + (_word(text, 0, 4) << 3), _word(text, size - 4, 4), factor)
    if not size:
        return K2
    low, high = text[0] + (text[size >> 1] << 8), size + (text[-1] << 2)
    return _folded((low * K2 & MASK) ^ (high * K0 & MASK)) * K2 & MASK


def _of_some(text: bytes, size: int) -> int:
    factor = K2 + 2 * size
    a, b = _word(text, 0) * K1, _word(text, 8)
    c, d = _word(text, size - 8) * factor, _word(text, size - 16) * K2
    left = _turned(a + b, 43) + _turned(c, 30) + d
    return _mixed(left & MASK, (a + _turned(b + K2, 18) + c) & MASK, factor)


def _of_more(text: bytes, size: int) -> int:
    factor = K2 + 2 * size
    a, b = _word(text, 0) * K2, _word(text, 8)
    c, d = _word(text, size - 8) * factor, _word(text, size - 16) * K2
    y = (_turned(a + b, 43) + _turned(c, 30) + d) & MASK
    z = _mixed(y, (a + _turned(b + K2, 18) + c) & MASK, factor)
    e, f = _word(text, 16) * factor, _word(text, 24)
    g, h = (y + _word(text, size - 32)) * factor, (z + _word(text, size - 24)) * factor
    left = _turned(e + f, 43) + _turned(g, 30) + h
    return _mixed(left & MASK, (e + _turned(f + a, 18) + g) & MASK, factor)


Pair = tuple[int, int]


def _seeded(text: bytes, at: int, a: int, b: int) -> Pair:
    """Four words and two seeds as two words."""
    w, x, y, z = (_word(text, at + 8 * place) for place in range(4))
    a += w
    b = _turned(b + a + z, 21)
    start, a = a, a + x + y
    return (a + z) & MASK, (b + _turned(a, 44) + start) & MASK


def _of_many(text: bytes, size: int) -> int:
    x, y = 81, 81 * K1 + 113
    z = _folded(y * K2 + 113) * K2
    v, w = (0, 0), (0, 0)
    x = x * K2 + _word(text, 0)
    whole = (size - 1) // 64 * 64
    for at in range(0, whole, 64):
        x, y, z, v, w = _round(text, at, x, y, z, v, w, K1, 1)
    factor = K1 + ((z & 0xFF) << 1)
    first_w = (w[0] + ((size - 1) & 63)) & MASK
    first_v = (v[0] + first_w) & MASK
    w, v = ((first_w + first_v) & MASK, w[1]), (first_v, v[1])
    x, y, z, v, w = _round(text, size - 64, x, y, z, v, w, factor, 9)
    left = _mixed(v[0], w[0], factor) + _folded(y) * K0 + z
    return _mixed(left & MASK, (_mixed(v[1], w[1], factor) + x) & MASK, factor)


def _round(
    text: bytes, at: int, x: int, y: int, z: int, v: Pair, w: Pair, factor: int, times: int
) -> tuple[int, int, int, Pair, Pair]:
    """64 bytes; the last ones count some of the state nine times."""
    x = _turned(x + y + v[0] + _word(text, at + 8), 37) * factor & MASK
    y = _turned(y + v[1] + _word(text, at + 48), 42) * factor & MASK
    x ^= w[1] * times & MASK
    y = (y + v[0] * times + _word(text, at + 40)) & MASK
    z = _turned(z + w[0], 33) * factor & MASK
    v = _seeded(text, at, v[1] * factor, x + w[0])
    w = _seeded(text, at + 32, z + w[1], y + _word(text, at + 16))
    return z, y, x, v, w


def keyed(text: bytes, key: Pair) -> int:
    """
    SipHash-2-4 under a key of two words.

    >>> hex(keyed(bytes(range(15)), (0x0706050403020100, 0x0F0E0D0C0B0A0908)))
    '0xa129ca6149be45e5'
    """
    starts = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    state = [start ^ key[place % 2] for place, start in enumerate(starts)]
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) & 0xFF])
    for at in range(0, len(padded), 8):
        word = _word(padded, at)
        state[3] ^= word
        _sip(state, 2)
        state[0] ^= word
    state[2] ^= 0xFF
    _sip(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip(state: list[int], rounds: int) -> None:
    a, b, c, d = state
    for _ in range(rounds):
        a, c = (a + b) & MASK, (c + d) & MASK
        b, d = _turned(b, 51) ^ a, _turned(d, 48) ^ c
        a = _turned(a, 32)
        c, a = (c + b) & MASK, (a + d) & MASK
        b, d = _turned(b, 47) ^ c, _turned(d, 43) ^ a
        c = _turned(c, 32)
    state[:] = a, b, c, d


def joined(first: int, second: int) -> int:
    """
    One fingerprint of two, in this order (TensorFlow's `FingerprintCat64`).

    >>> joined(1, 2) == joined(2, 1)
    False
    """
    factor = 0xC6A4A7935BD1E995
    found = (first ^ factor ^ _folded(second * factor) * factor) & MASK
    return _folded(_folded(found * factor) * factor)
