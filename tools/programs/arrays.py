"""Arrays for a program: reading `.npz` archives, drawing random inputs, comparing results."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ml_dtypes import bfloat16, finfo

from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation
from shardwright.tools.programs.files import read_bytes

Array = np.ndarray[Any, np.dtype[Any]]
BFLOAT16 = np.dtype(bfloat16)

_MAGICS = (b"PK", np.lib.format.MAGIC_PREFIX)
"""How archives and single arrays start."""

_KEY = re.compile(r"(in|out)_\d+")


@dataclass(frozen=True)
class Declared:
    """An argument or result as the program declares it; `key` is its name in an archive."""

    key: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    location: SourceLocation | None


def load_archive(path: str) -> dict[str, Array]:
    """The arrays of a `.npz` file, all read; never unpickles."""
    data = read_bytes(path)
    try:
        if not data.startswith(_MAGICS):
            raise ValueError("it is no .npz archive")
        archive = np.load(io.BytesIO(data), allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it holds a single array, not an archive of named ones")
        with archive:
            return {key: archive[key] for key in archive.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        # NumPy would have its users load what holds objects unsafely.
        objects = "allow_pickle" in str(error)
        why = "it holds Python objects" if objects else str(error).split("\n")[0] or type(error).__name__
        message, location = f"cannot read arrays from '{path}': {why}", SourceLocation(path, 1, 1)
        help_text = "write it with numpy.savez(path, in_0=..., in_1=...)"
        raise ShardwrightError(Diagnostic("SW0709", message, location, help=help_text)) from error


def select(archive: dict[str, Array], path: str, wanted: Sequence[Declared]) -> list[Array]:
    """The array for each declared value, in order; all mistakes are reported at once, and arrays left over named."""
    findings: list[Diagnostic] = []
    arrays: list[Array] = []
    for declared in wanted:
        array = archive.get(declared.key)
        fault = _missing(declared, archive, path) if array is None else _misfit(declared, array, path)
        if fault is not None:
            findings.append(fault)
        elif array is not None:
            arrays.append(_reinterpret(array, declared.dtype))
    if findings:
        raise ShardwrightError(findings)
    _warn_of_others(archive, path, wanted)
    return arrays


def random_inputs(wanted: Sequence[Declared], seed: int) -> list[Array]:
    """
    Seeded arrays: normal numbers, small integers, coin flips.

    Numbers with two dims or more are scaled as weights are initialised, so that products of many of them stay near 1:
    with large ones a softmax picks single elements, and rounding alone changes which.
    """
    generator = np.random.default_rng(seed)
    return [_draw(generator, declared) for declared in wanted]


def default_tolerance(dtype: np.dtype[Any]) -> float:
    """
    The relative error that rounding in another order may cause in elements of `dtype`.

    >>> default_tolerance(np.dtype("int32")), default_tolerance(np.dtype("float32"))
    (0.0, 0.0001)
    """
    if dtype.kind in "biu":
        return 0.0
    real = np.dtype(f"float{dtype.itemsize * 4}") if dtype.kind == "c" else dtype
    if real.name in _TOLERANCES:
        return _TOLERANCES[real.name]
    try:
        # Eight units in the last place of the small float types.
        return 8 * float(finfo(real).eps)
    except ValueError:
        return 0.0


_TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}


def default_absolute(dtype: np.dtype[Any], expected: Array) -> float:
    """
    The absolute error to allow: relative to the root mean square of the expected values, or to 1 if that is larger.

    Where large numbers cancel, an element's own size says nothing about how exactly it can be known.

    >>> default_absolute(np.dtype("float32"), np.float32([400, -400]))
    0.04
    """
    finite = expected[np.isfinite(expected)]
    scale = float(np.sqrt(np.mean(np.abs(finite) ** 2))) if finite.size else 0.0
    return default_tolerance(dtype) * max(1.0, scale)


def all_nan(wanted: Sequence[Declared], arrays: Sequence[Array]) -> list[Declared]:
    """
    The values with floating elements, if each of these elements is a NaN; else none.

    >>> one, two = (Declared(key, (2,), np.dtype("float32"), None) for key in ("in_0", "in_1"))
    >>> [found.key for found in all_nan([one, two], [np.float32([np.nan, np.nan])] * 2)]
    ['in_0', 'in_1']
    >>> all_nan([one, two], [np.float32([np.nan, np.nan]), np.float32([np.nan, 0])])
    []
    """
    # Only elements that rounding can change have a tolerance; the others cannot be NaN.
    pairs = [
        (declared, array)
        for declared, array in zip(wanted, arrays, strict=True)
        if array.size and default_tolerance(declared.dtype)
    ]
    return [declared for declared, _ in pairs] if all(bool(np.isnan(array).all()) for _, array in pairs) else []


@dataclass(frozen=True)
class Comparison:
    """How far one result is from the expected one: how many elements were compared, how many are NaN in both."""

    key: str
    dtype: np.dtype[Any]
    elements: int
    nan_in_both: int
    rtol: float
    atol: float
    max_abs_error: float
    ok: bool
    worst: tuple[int, ...]
    actual: float | complex
    expected: float | complex
    against: str
    location: SourceLocation | None


def compare(
    declared: Declared, actual: Array, expected: Array, against: str, rtol: float | None, atol: float | None
) -> Comparison:
    """
    Compare a result with what was expected, within `atol + rtol * |expected|`; a NaN equals only a NaN.

    >>> one = Declared("out_0", (2,), np.dtype("float32"), None)
    >>> compare(one, np.float32([1, 2]), np.float32([1, 2.5]), 'them', 0.1, 0.0).worst
    (1,)
    """
    wide = np.complex128 if declared.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        left, right = np.asarray(actual).astype(wide), np.asarray(expected).astype(wide)
    relative = default_tolerance(declared.dtype) if rtol is None else rtol
    with np.errstate(invalid="ignore", over="ignore"):
        absolute = default_absolute(declared.dtype, right) if atol is None else atol
        nan_in_both = np.isnan(left) & np.isnan(right)
        same = (np.asarray(actual) == np.asarray(expected)) | nan_in_both
        # Unequal 64-bit integers may be equal as floats: they still differ by one at least.
        least = 1.0 if declared.dtype.kind in "iu" else 0.0
        error = np.where(same, 0.0, np.maximum(np.abs(left - right), least))
        error = np.where(np.isnan(error), np.inf, error)
        excess = error - (absolute + relative * np.nan_to_num(np.abs(right), posinf=0.0))
    compared = declared.key, declared.dtype, error.size, int(nan_in_both.sum()), relative, absolute
    if error.size == 0:
        return Comparison(*compared, 0.0, True, (), 0.0, 0.0, against, declared.location)
    worst = tuple(int(index) for index in np.unravel_index(int(np.argmax(excess)), error.shape))
    ok = not bool((excess > 0).any())
    pair = left[worst].item(), right[worst].item()
    return Comparison(*compared, float(error.max()), ok, worst, *pair, against, declared.location)


def mismatch(comparison: Comparison) -> Diagnostic:
    """The diagnostic for a result that differs."""
    place = "".join(f"[{index}]" for index in comparison.worst)
    message = (
        f"{comparison.key} differs from {comparison.against}: {comparison.key}{place} is {comparison.actual!r}, "
        f"expected {comparison.expected!r}; the largest difference is {comparison.max_abs_error:.3g}"
    )
    return Diagnostic("SW0713", message, comparison.location, help="--rtol and --atol set the tolerance")


def _reinterpret(array: Array, dtype: np.dtype[Any]) -> Array:
    return array.view(dtype) if dtype == BFLOAT16 and array.dtype == np.uint16 else array


def _warn_of_others(archive: dict[str, Array], path: str, wanted: Sequence[Declared]) -> None:
    """Name the arrays that nothing takes; one archive may hold inputs and results."""
    known = {declared.key for declared in wanted}
    kinds = {key.partition("_")[0] for key in known}
    others = [key for key in archive if key not in known]
    others = [key for key in others if not _KEY.fullmatch(key) or key.partition("_")[0] in kinds]
    if others:
        warnings.warn(f"'{path}' holds {', '.join(sorted(others))}, which the program does not name", stacklevel=3)


def _missing(declared: Declared, archive: dict[str, Array], path: str) -> Diagnostic:
    holds = ", ".join(sorted(archive)) or "nothing"
    message = f"'{path}' has no array '{declared.key}'"
    return Diagnostic("SW0710", message, declared.location, (f"it holds {holds}",), f"save it as {declared.key}=...")


def _misfit(declared: Declared, array: Array, path: str) -> Diagnostic | None:
    if array.shape != declared.shape:
        message = f"'{declared.key}' in '{path}' has shape {array.shape}; the program declares {declared.shape}"
        return Diagnostic("SW0711", message, declared.location, help="give the global, unsharded array")
    if _reinterpret(array, declared.dtype).dtype != declared.dtype:
        message = f"'{declared.key}' in '{path}' holds {array.dtype}; the program declares {declared.dtype}"
        return Diagnostic("SW0712", message, declared.location, help=f"save it as {declared.dtype}")
    return None


def _draw(generator: np.random.Generator, declared: Declared) -> Array:
    kind = "f" if declared.dtype == BFLOAT16 else declared.dtype.kind
    if kind == "b":
        return generator.integers(0, 2, declared.shape).astype(np.bool_)
    if kind in "iu":
        return generator.integers(0, 8, declared.shape).astype(declared.dtype)
    values = generator.standard_normal(declared.shape)
    if kind == "c":
        values = values + 1j * generator.standard_normal(declared.shape)
    fan_in = declared.shape[0] if len(declared.shape) > 1 else 1
    return (values / np.sqrt(max(fan_in, 1))).astype(declared.dtype)
