"""
HighwayHash64 compiled with numba: the packets of one buffer at a time, without the GIL.

Import it only where it pays (`highway` does): numba takes most of a second to load, and compiling, once per machine,
some five; the compiled code is kept in numba's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

U64 = np.uint64
LOW = U64(0xFFFFFFFF)


def _load8(typing_context: Any, address: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        return builder.zext(builder.load(pointer), ir.IntType(64))

    return types.uint64(types.uint64), generate


def _store64(typing_context: Any, address: Any, value: Any) -> Any:
    """Write 64 bits to an address, which need not be aligned."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store(arguments[1], pointer).align = 1
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), generate


load8: Any = intrinsic(_load8)
store64: Any = intrinsic(_store64)


# Within 16 bytes, which byte of two lanes goes where: `pure.zipper` as one shuffle.
ZIPPER = (3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7)

WORD, BYTE = ir.IntType(64), ir.IntType(8)
LANES, BYTES = ir.VectorType(WORD, 4), ir.VectorType(BYTE, 32)
ORDER = ir.Constant(ir.VectorType(ir.IntType(32), 32), [16 * half + place for half in range(2) for place in ZIPPER])


def _splat(value: int) -> Any:
    return ir.Constant(LANES, [value] * 4)


def _lanes(builder: Any, address: Any, offset: int) -> Any:
    return builder.inttoptr(builder.add(address, ir.Constant(WORD, offset)), LANES.as_pointer())


def _product(builder: Any, low: Any, high: Any) -> Any:
    """The low halves of one vector's lanes times the high halves of another's."""
    return builder.mul(builder.and_(low, _splat(0xFFFFFFFF)), builder.lshr(high, _splat(32)))


def _zipped(builder: Any, lanes: Any) -> Any:
    whole = builder.bitcast(lanes, BYTES)
    return builder.bitcast(builder.shuffle_vector(whole, whole, ORDER), LANES)


def _mixed(builder: Any, state: list[Any], packet: Any) -> list[Any]:
    """The state after one packet, as `pure.absorb`, four lanes at once."""
    v0, v1, mul0, mul1 = state
    v1 = builder.add(v1, builder.add(mul0, packet))
    mul0 = builder.xor(mul0, _product(builder, v1, v0))
    v0 = builder.add(v0, mul1)
    mul1 = builder.xor(mul1, _product(builder, v0, v1))
    v0 = builder.add(v0, _zipped(builder, v1))
    v1 = builder.add(v1, _zipped(builder, v0))
    return [v0, v1, mul0, mul1]


def _absorb(typing_context: Any, state: Any, address: Any, packets: Any) -> Any:
    """Mix packets from an address into the state at another; the state stays in registers in between."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        state, address, packets = arguments
        before = builder.block
        head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
        start = [builder.load(_lanes(builder, state, 32 * index), align=8) for index in range(4)]
        builder.branch(head)
        builder.position_at_end(head)
        first = [*start, address, packets]
        phis = [builder.phi(value.type) for value in first]
        builder.cbranch(builder.icmp_unsigned("==", phis[5], ir.Constant(WORD, 0)), after, body)
        builder.position_at_end(body)
        packet = builder.load(_lanes(builder, phis[4], 0), align=1)
        following = _mixed(builder, phis[:4], packet)
        following += [builder.add(phis[4], ir.Constant(WORD, 32)), builder.sub(phis[5], ir.Constant(WORD, 1))]
        builder.branch(head)
        for phi, value, later in zip(phis, first, following, strict=True):
            phi.add_incoming(value, before)
            phi.add_incoming(later, body)
        builder.position_at_end(after)
        for index in range(4):
            builder.store(phis[index], _lanes(builder, state, 32 * index), align=8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64), generate


absorb: Any = intrinsic(_absorb)


@njit("void(uint64[::1], uint64, int64)", nogil=True, cache=True)
def absorb_at(state: Any, address: Any, packets: Any) -> None:
    """Mix `packets` packets of 32 bytes from an address into the state of 16 words."""
    absorb(U64(state.ctypes.data), address, U64(packets))


@njit("uint64(uint64)", inline="always", cache=True)
def half_swap(value: Any) -> Any:
    """As `pure.half_swap`."""
    return value >> U64(32) | value << U64(32)


@njit("void(uint64[::1], uint64, uint64)", nogil=True, cache=True)
def absorb_tail(state: Any, address: Any, size: Any) -> None:
    """Mix the 1 to 31 bytes after the last whole packet, as `pure.last_packet` lays them out."""
    turn = size & U64(31)
    for lane in range(4):
        state[lane] += (size << U64(32)) + size
        low, high = state[4 + lane] & LOW, state[4 + lane] >> U64(32)
        low = (low << turn | low >> (U64(32) - turn)) & LOW
        high = (high << turn | high >> (U64(32) - turn)) & LOW
        state[4 + lane] = low | high << U64(32)
    packet, odd = np.zeros(4, np.uint64), size & U64(3)
    for place in range(size - odd):
        packet[place >> 3] |= load8(address + U64(place)) << U64(8 * (place & 7))
    if size & U64(16):
        for place in range(28, 32):
            packet[3] |= load8(address + size + U64(place) - U64(32)) << U64(8 * (place & 7))
    elif odd:
        rest = address + size - odd
        packet[2] |= load8(rest) | load8(rest + (odd >> U64(1))) << U64(8) | load8(rest + odd - U64(1)) << U64(16)
    absorb_at(state, U64(packet.ctypes.data), 1)
    packet[0] = U64(0)  # numba frees an array after its last use, which an address does not count as


@njit("uint64(uint64[::1], uint64, uint64)", nogil=True, cache=True)
def finish_at(state: Any, address: Any, size: Any) -> Any:
    """As `pure.finish`, the tail given by its address; uses the state up."""
    if size:
        absorb_tail(state, address, size)
    packet = np.empty(4, np.uint64)
    for _ in range(4):
        packet[0], packet[1] = half_swap(state[2]), half_swap(state[3])
        packet[2], packet[3] = half_swap(state[0]), half_swap(state[1])
        absorb_at(state, U64(packet.ctypes.data), 1)
    packet[0] = U64(0)  # as above
    return state[0] + state[4] + state[8] + state[12]


@njit("uint64(uint64[::1], uint64, uint64)", nogil=True, cache=True)
def one_shot_at(fresh: Any, address: Any, size: Any) -> Any:
    """The hash of one buffer from the state before any data, which is kept."""
    state = fresh.copy()
    absorb_at(state, address, size >> U64(5))
    return finish_at(state, address + (size & ~U64(31)), size & U64(31))


@njit("void(uint64[::1], uint64, uint64, uint64, uint64, uint64)", nogil=True, cache=True)
def headers_at(fresh: Any, begin: Any, end: Any, first: Any, count: Any, address: Any) -> None:
    """Write to an address the headers of `count` blocks from `first`, within the chunk from `begin` to `end`."""
    for _ in range(count):
        store64(address + U64(8), first - begin)
        store64(address + U64(16), end - first)
        store64(address, one_shot_at(fresh, address + U64(8), U64(16)))
        first, address = first + U64(65536), address + U64(24)


def new_state(words: Sequence[int]) -> Any:
    """The state of 16 words, as the functions below take it."""
    return np.array(words, np.uint64)


def _address(data: Any) -> int:
    """Where the bytes of a buffer are; valid as long as `data` lives."""
    return np.frombuffer(data, np.uint8).__array_interface__["data"][0] if data else 0


def absorb_all(state: Any, packets: Any) -> None:
    """Mix a buffer of whole packets into a state."""
    absorb_at(state, _address(packets), len(packets) >> 5)


def finish(state: Any, tail: Any) -> int:
    """As `pure.finish`; the state stays as it is."""
    return finish_at(state.copy(), _address(tail), len(tail))


def one_shot(fresh: Any, data: Any) -> int:
    """The hash of one buffer from the state before any data."""
    return one_shot_at(fresh, _address(data), len(data))


def block_headers(fresh: Any, begin: int, end: int, first: int, count: int) -> bytes:
    """The headers of `count` blocks from `first`, within the chunk from `begin` to `end`."""
    out = bytearray(24 * count)
    headers_at(fresh, begin, end, first, count, _address(out))
    return bytes(out)
