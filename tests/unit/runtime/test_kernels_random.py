"""Random bits: as XLA makes them on CPUs, by frozen vectors and, with JAX, by running XLA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shardwright.runtime.kernels.random import BLOCK, join_words, philox, random_bits, split_words, threefry

VECTORS: tuple[tuple[str, list[int], tuple[int, ...], str, list[int], Any], ...] = (
    (
        "PHILOX",
        [5, 7],
        (3, 2),
        "uint32",
        [5, 9],
        [[1957188081, 3299040168], [2189429415, 2942269241], [4036186172, 3451158193]],
    ),
    ("PHILOX", [5, 7], (3,), "uint64", [5, 9], [14169269631707533809, 12636950168311171751, 14822611576293642300]),
    (
        "PHILOX",
        [2**64 - 1, 2**64 - 1, 3],
        (5,),
        "uint32",
        [2**64 - 1, 1, 4],
        [3188308669, 2396378229, 2593511412, 1337287899, 1473511946],
    ),
    ("PHILOX", [5, 7], (4,), "uint8", [5, 8], [241, 168, 167, 57]),
    (
        "THREE_FRY",
        [5, 7],
        (3, 2),
        "uint32",
        [5, 10],
        [[4000641395, 1063621336], [10964293, 2057536082], [3804237681, 1604586794]],
    ),
    (
        "THREE_FRY",
        [5, 7],
        (3, 3),
        "uint32",
        [5, 13],
        [[4000641395, 10964293, 3804237681], [1063621336, 2057536082, 1604586794], [3127050898, 25868247, 1140191436]],
    ),
    ("THREE_FRY", [5, 7], (), "uint32", [5, 8], 4000641395),
    (
        "THREE_FRY",
        [5, 2**64 - 2],
        (3,),
        "uint64",
        [5, 1],
        [1041443056896289615, 5699853503226913561, 1356859863320810339],
    ),
    ("THREE_FRY", [5, 7], (4,), "uint16", [5, 9], [61811, 37592, 19781, 33362]),
)
"""Algorithm, state, shape and dtype; the next state and the bits, from jaxlib 0.12 on a CPU."""


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector[0]} {vector[3]}{list(vector[2])}")
def test_bits_are_those_of_xla(vector: tuple[str, list[int], tuple[int, ...], str, list[int], Any]) -> None:
    algorithm, state, shape, name, following, expected = vector
    with np.errstate(all="ignore"):
        found = random_bits(np, np.array(state, np.uint64), algorithm, shape, name)
    assert found[0].tolist() == following
    assert found[1].dtype == name
    assert found[1].tolist() == expected


def test_the_generators_known_answers() -> None:
    """The vectors of the paper's own library (Random123, kat_vectors)."""
    ones = np.array([0xFFFFFFFF], np.uint32)
    zero = np.array([0], np.uint32)
    with np.errstate(all="ignore"):
        assert [int(word[0]) for word in threefry(np, (zero, zero), (zero, zero))] == [0x6B200159, 0x99BA4EFE]
        assert [int(word[0]) for word in threefry(np, (ones, ones), (ones, ones))] == [0x1CB996FC, 0xBB002BE7]
        assert [int(word[0]) for word in philox((zero, zero), (zero,) * 4)] == [
            0x6627E8D5,
            0xE169C58D,
            0xBC57AC4C,
            0x9B00DBD8,
        ]
        assert [int(word[0]) for word in philox((ones, ones), (ones,) * 4)] == [
            0x408F276D,
            0x41C83B0E,
            0xA20BC7C6,
            0x6D5451FD,
        ]


def test_words_of_64_bits_have_two_halves() -> None:
    words = np.array([0x0123456789ABCDEF, 1, 2**63], np.uint64)
    low, high = split_words(words)
    assert [hex(int(low[0])), hex(int(high[0]))] == ["0x89abcdef", "0x1234567"]
    np.testing.assert_array_equal(join_words(low, high), words)


@pytest.mark.parametrize("algorithm", ["PHILOX", "THREE_FRY"])
def test_states_that_differ_between_devices_are_taken_one_by_one(algorithm: str) -> None:
    states = np.array([[5, 7], [6, 2**64 - 1]], np.uint64)
    with np.errstate(all="ignore"):
        together = random_bits(np, states, algorithm, (3, 4), "uint32")
        alone = [random_bits(np, state, algorithm, (3, 4), "uint32") for state in states]
    for part in (0, 1):
        np.testing.assert_array_equal(together[part], np.stack([found[part] for found in alone]))


def test_bits_depend_on_their_counter_alone() -> None:
    """What lies in another block of counters is what a later state starts with."""
    with np.errstate(all="ignore"):
        _, long = random_bits(np, np.array([5, 7], np.uint64), "PHILOX", (4 * BLOCK + 12,), "uint32")
        _, late = random_bits(np, np.array([5, 7 + BLOCK, 5], np.uint64), "PHILOX", (12,), "uint32")
        _, wide = random_bits(np, np.array([5, 7], np.uint64), "THREE_FRY", (BLOCK + 5,), "uint64")
        _, last = random_bits(np, np.array([5, 7 + BLOCK], np.uint64), "THREE_FRY", (5,), "uint64")
    np.testing.assert_array_equal(long[-12:], late)
    np.testing.assert_array_equal(wide[-5:], last)


@pytest.mark.parametrize("algorithm", ["PHILOX", "THREE_FRY"])
def test_no_bits_leave_the_state(algorithm: str) -> None:
    following, bits = random_bits(np, np.array([[5, 7], [5, 8]], np.uint64), algorithm, (0, 4), "uint32")
    assert following.tolist() == [[5, 7], [5, 8]]
    assert bits.shape == (2, 0, 4)


SHAPES = ((), (7,), (3, 5), (3, 4), (5, 2, 3))
"""Without even dims, with one that is not the first, and none at all."""


@pytest.mark.peers
@pytest.mark.parametrize("algorithm", ["DEFAULT", "PHILOX", "THREE_FRY"])
@pytest.mark.parametrize("element", ["ui4", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"])
def test_xla_makes_the_same_bits(algorithm: str, element: str) -> None:
    """Every shape of up to three dims that the generators treat apart, and counters that overflow."""
    jax = pytest.importorskip("jax")
    from shardwright.benchmarks import xla

    xla.prepare()
    states = [[5, 7], [2**64 - 1, 2**64 - 3]] + ([[3, 2**64 - 2, 2**64 - 1]] if algorithm != "THREE_FRY" else [])
    name = element.replace("u", "uint") if element[0] == "u" else element.replace("i", "int")
    name = name.replace("uinti", "uint")
    for state in states:
        for shape in SHAPES if element in ("ui32", "ui64") else SHAPES[2:3]:
            size = f"{len(state)}xui64"
            result = "x".join([*map(str, shape), element])
            text = (
                f"func.func public @main(%s: tensor<{size}>) -> (tensor<{size}>, tensor<{result}>) {{\n"
                f"  %a, %b = stablehlo.rng_bit_generator %s, algorithm = {algorithm} :"
                f" (tensor<{size}>) -> (tensor<{size}>, tensor<{result}>)\n"
                f"  return %a, %b : tensor<{size}>, tensor<{result}>\n}}"
            )
            with jax.enable_x64(True), np.errstate(all="ignore"):
                loaded = xla.compile_text(text)
                ran = loaded.loaded.execute_sharded(loaded.place([np.array(state, np.uint64)]))
                expected = [np.asarray(part[0]) for part in ran.disassemble_into_single_device_arrays()]
                found = random_bits(np, np.array(state, np.uint64), algorithm, shape, name)
            np.testing.assert_array_equal(found[0], expected[0])
            mask = 2 ** int("".join(filter(str.isdigit, element))) - 1
            wide = [
                np.asarray(bits).astype(np.int64).astype(np.uint64) & np.uint64(mask)
                for bits in (found[1], expected[1])
            ]
            np.testing.assert_array_equal(*wide, err_msg=f"{algorithm} {state} {result}")
