"""Archives, random inputs and comparisons."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from ml_dtypes import bfloat16

from shardwright.diagnostics import ShardwrightError, SourceLocation
from shardwright.tools.programs.arrays import (
    Comparison,
    Declared,
    compare,
    default_tolerance,
    load_archive,
    mismatch,
    random_inputs,
    select,
)

PLACE = SourceLocation("f.mlir", 3, 1)


def declared(dtype: object, *shape: int, key: str = "in_0") -> Declared:
    return Declared(key, shape, np.dtype(dtype), PLACE)


def difference(actual: object, expected: object, rtol: float = 0.0, atol: float = 0.0) -> Comparison:
    left, right = np.asarray(actual), np.asarray(expected)
    return compare(Declared("out_0", left.shape, left.dtype, None), left, right, "them", rtol, atol)


def test_bfloat16_comes_from_its_bits() -> None:
    values = np.array([1.5, -2.0], bfloat16)
    (array,) = select({"in_0": values.view(np.uint16)}, "x.npz", [declared(bfloat16, 2)])
    assert array.dtype == bfloat16
    np.testing.assert_array_equal(array, values)


def test_integers_are_not_taken_for_bits_of_other_types() -> None:
    with pytest.raises(ShardwrightError, match="SW0712"):
        select({"in_0": np.zeros(2, np.uint16)}, "x.npz", [declared(np.float16, 2)])


def test_all_mistakes_are_reported_at_once() -> None:
    wanted = [declared("f4", 2, key=f"in_{number}") for number in range(3)]
    with pytest.raises(ShardwrightError) as caught:
        select({"in_1": np.zeros(3, "f4"), "in_2": np.zeros(2, "f8")}, "x.npz", wanted)
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["SW0710", "SW0711", "SW0712"]
    assert all(diagnostic.location == PLACE for diagnostic in caught.value.diagnostics)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x80\x04 no archive", "it is no .npz archive"),
        (b"", "it is no .npz archive"),
        (None, "it holds Python objects"),
    ],
)
def test_what_is_no_archive_is_refused_in_our_words(data: bytes | None, why: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    if data is None:
        np.savez(path, in_0=np.array([None, {}]))
    else:
        path.write_bytes(data)
    with pytest.raises(ShardwrightError) as caught:
        load_archive(str(path))
    assert caught.value.diagnostics[0].message == f"cannot read arrays from '{path}': {why}"


def test_archives_read_back_what_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, in_0=np.arange(3), in_1=np.float32(2))
    found = load_archive(str(path))
    np.testing.assert_array_equal(found["in_0"], [0, 1, 2])
    assert found["in_1"].shape == ()


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", bfloat16, "i4", "u1", "?", "c8"])
def test_random_inputs_depend_on_the_seed_alone(dtype: object) -> None:
    wanted = [declared(dtype, 64), declared(dtype)]
    first, again, other = (random_inputs(wanted, seed) for seed in (1, 1, 2))
    assert [array.dtype for array in first] == [np.dtype(dtype)] * 2
    assert [array.shape for array in first] == [(64,), ()]
    np.testing.assert_array_equal(first[0], again[0])
    assert (first[0] != other[0]).any()


def test_tolerances_grow_with_coarser_types() -> None:
    kinds = [np.int32, np.float64, np.float32, np.float16, bfloat16, ml_dtypes.float8_e4m3fn]
    values = [default_tolerance(np.dtype(kind)) for kind in kinds]
    assert values == sorted(values)
    assert values[0] == 0.0
    assert default_tolerance(np.dtype("c8")) == default_tolerance(np.dtype("f4"))


def test_compares_within_atol_plus_rtol_times_expected() -> None:
    assert difference([1.0, 10.5], [1.0, 10.0], rtol=0.05).ok
    found = difference([1.0, 10.6], [1.0, 10.0], rtol=0.05)
    assert not found.ok
    assert found.worst == (1,)
    assert found.max_abs_error == pytest.approx(0.6)
    assert difference([0.2], [0.0], atol=0.2).ok


def test_default_tolerances_follow_the_size_of_the_whole_result() -> None:
    expected = np.float32([1000, -1000, 0])
    declaration = Declared("out_0", (3,), np.dtype("f4"), None)
    assert compare(declaration, expected + np.float32(0.01), expected, "them", None, None).ok
    assert not compare(declaration, expected + np.float32(0.2), expected, "them", None, None).ok
    assert not compare(declaration, expected + np.float32(0.01), expected, "them", None, 1e-4).ok
    small = np.float32([1e-3, 0, 0])
    assert not compare(declaration, small + np.float32(3e-4), small, "them", None, None).ok


@pytest.mark.parametrize(
    ("actual", "expected", "ok"),
    [
        (np.nan, np.nan, True),
        (np.nan, 1.0, False),
        (1.0, np.nan, False),
        (np.inf, np.inf, True),
        (np.inf, -np.inf, False),
        (1.0, np.inf, False),
        (np.inf, 1.0, False),
        (True, False, False),
        (1 + 2j, 1 + 2j, True),
        (1 + 2j, 1 - 2j, False),
    ],
)
def test_special_values(actual: object, expected: object, ok: bool) -> None:
    found = difference(np.array([actual]), np.array([expected]), rtol=0.1, atol=0.1)
    assert found.ok is ok


def test_empty_arrays_are_equal() -> None:
    assert difference(np.zeros((0, 3)), np.zeros((0, 3))).ok


def test_large_integers_are_compared_exactly() -> None:
    big = 2**53
    assert not difference(np.array([big + 1]), np.array([big])).ok


def test_a_mismatch_names_the_worst_element() -> None:
    found = compare(declared("f4", 2, key="out_1"), np.float32([0, 3]), np.float32([0, 1]), "them", None, None)
    assert mismatch(found).message == (
        "out_1 differs from them: out_1[1] is 3.0, expected 1.0; the largest difference is 2"
    )


@pytest.mark.parametrize(
    ("others", "named"), [(["in_9", "foo"], "foo, in_9"), (["out_0", "in_01"], "in_01"), (["in_0_copy"], "in_0_copy")]
)
def test_arrays_that_nothing_takes_are_named(others: list[str], named: str) -> None:
    archive = {key: np.zeros(2, "f4") for key in ("in_0", *others)}
    with pytest.warns(UserWarning, match=f"^'x.npz' holds {named}, which the program does not name$"):
        select(archive, "x.npz", [declared("f4", 2)])


def test_inputs_and_results_may_share_an_archive(recwarn: pytest.WarningsRecorder) -> None:
    select({key: np.zeros(2, "f4") for key in ("in_0", "out_0", "out_1")}, "x.npz", [declared("f4", 2)])
    assert not recwarn.list
