"""Loops in machine code: the bits that NumPy gives, for each step and type, however the operands lie in memory."""

from __future__ import annotations

import re
import struct
from typing import Any

import numpy as np
import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.codegen import native
from shardwright.runtime.executable import Executable, compile_module

pytestmark = pytest.mark.skipif(not native.is_there(), reason="needs llvmlite (the extra fast)")

ROWS, COLUMNS = 300, 301
SHAPE = f"{ROWS}x{COLUMNS}"
TYPES = {
    "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
}  # fmt: skip
FLOATS, INTEGERS = list(TYPES)[:2], list(TYPES)[2:]


def compiled(signature: str, lines: str) -> Executable:
    text = f"func.func public @main{signature} {{\n{lines}\n}}\n"
    return compile_module(parse_module(text, "test.mlir"), threads=2)


def numbers(kind: str, seed: int) -> Any:
    """Numbers of both signs, small and large ones, and what is no number."""
    generator, dtype = np.random.default_rng(seed), TYPES[kind]
    if kind in INTEGERS:
        ends = np.iinfo(dtype)
        found = generator.integers(ends.min, ends.max, (ROWS, COLUMNS), dtype, endpoint=True)
        found[:, ::3] = generator.integers(0, 70, found[:, ::3].shape)  # widths by which one may shift
        found[0, :4] = ends.min, ends.max, 0, 1
        return found
    scale = 10.0 ** generator.integers(-30, 30, (ROWS, COLUMNS))
    found = (generator.standard_normal((ROWS, COLUMNS)) * scale).astype(dtype)
    found[0, :6] = np.nan, np.inf, -np.inf, 1.5, np.finfo(dtype).tiny / 8, 2.5
    return found


def chain(op: str, kind: str) -> str:
    """The op on what five others made, so that there is a loop."""
    binary = not op.startswith("one:")
    name = op.removeprefix("one:")
    call = f"stablehlo.{name} %4, %b" if binary else f"stablehlo.{name} %4"
    t = f"tensor<{SHAPE}x{kind}>"
    return f"""
  %0 = stablehlo.compare NE, %a, %a : ({t}, {t}) -> tensor<{SHAPE}xi1>
  %1 = stablehlo.not %0 : tensor<{SHAPE}xi1>
  %2 = stablehlo.select %1, %a, %b : tensor<{SHAPE}xi1>, {t}
  %3 = stablehlo.select %0, %a, %2 : tensor<{SHAPE}xi1>, {t}
  %4 = stablehlo.select %1, %3, %a : tensor<{SHAPE}xi1>, {t}
  %5 = {call} : {t}
  return %5 : {t}"""


def shifted(function: Any) -> Any:
    """NumPy's shift, by the width and more as by what leaves nothing, or the sign alone."""

    def run(a: Any, b: Any) -> Any:
        width = a.dtype.itemsize * 8
        outside = (b < 0) | (b >= width) if b.dtype.kind == "i" else b >= width
        inside = function(a, np.where(outside, 0, b).astype(b.dtype))
        left = -(a < 0).astype(a.dtype) if function is np.right_shift and a.dtype.kind == "i" else 0
        return np.where(outside, left, inside)

    return run


def logical(a: Any, b: Any) -> Any:
    bits = a.dtype.str.replace("i", "u")
    return shifted(np.right_shift)(a.view(bits), b.view(bits)).astype(bits).view(a.dtype)


OPS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "one:negate": np.negative,
}  # fmt: skip
OF_FLOATS = {
    "divide": np.divide, "one:abs": np.abs, "one:sqrt": np.sqrt, "one:floor": np.floor, "one:ceil": np.ceil,
    "one:round_nearest_even": np.rint,
}  # fmt: skip
OF_INTEGERS = {
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "one:not": np.invert,
    "shift_left": shifted(np.left_shift), "shift_right_arithmetic": shifted(np.right_shift),
    "shift_right_logical": logical,
}  # fmt: skip
CASES = [
    *((op, kind, function) for op, function in OPS.items() for kind in TYPES),
    *((op, kind, function) for op, function in OF_FLOATS.items() for kind in FLOATS),
    *((op, kind, function) for op, function in OF_INTEGERS.items() for kind in INTEGERS),
]


@pytest.mark.every(3)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("op", "kind", "function"), CASES, ids=lambda case: case if isinstance(case, str) else "")
def test_each_op_gives_the_bits_of_numpy(op: str, kind: str, function: Any) -> None:
    t = f"tensor<{SHAPE}x{kind}>"
    executable = compiled(f"(%a: {t}, %b: {t}) -> {t}", chain(op, kind))
    unsigned_shift = op == "shift_right_arithmetic" and kind.startswith("u")
    assert executable.source.count("@native") == (0 if op == "one:abs" and kind in INTEGERS else 1)
    a, b = numbers(kind, 0), numbers(kind, 1)
    if unsigned_shift:  # the sign is the first bit, whatever the type says
        signed = a.dtype.str.replace("u", "i")
        expected = function(a.view(signed), b.view(signed)).astype(signed).view(a.dtype)
    else:
        expected = function(a) if op.startswith("one:") else function(a, b)
    (found,) = executable.run([a, b])
    np.testing.assert_array_equal(found, expected.astype(a.dtype))
    if kind in FLOATS and op not in ("maximum", "minimum"):
        assert np.array_equal(np.signbit(found), np.signbit(expected)) or np.isnan(expected).any()


@pytest.mark.every(4)
@pytest.mark.parametrize("target", [*TYPES, "i1"])
@pytest.mark.parametrize("source", [*TYPES, "i1"])
def test_conversions(source: str, target: str) -> None:
    t, u = f"tensor<{SHAPE}x{source}>", f"tensor<{SHAPE}x{target}>"
    executable = compiled(
        f"(%a: {t}, %b: {t}) -> {u}",
        f"""
  %0 = stablehlo.compare LT, %a, %b : ({t}, {t}) -> tensor<{SHAPE}xi1>
  %1 = stablehlo.not %0 : tensor<{SHAPE}xi1>
  %2 = stablehlo.and %0, %1 : tensor<{SHAPE}xi1>
  %3 = stablehlo.or %2, %0 : tensor<{SHAPE}xi1>
  %4 = stablehlo.select %3, %a, %b : tensor<{SHAPE}xi1>, {t}
  %5 = stablehlo.convert %4 : ({t}) -> {u}
  return %5 : {u}""",
    )
    a, b = ((numbers("i8", at) > 0) if source == "i1" else numbers(source, at) for at in (0, 1))
    if source in FLOATS:
        a, b = (np.clip(np.nan_to_num(each), 0, 100) for each in (a, b))
    kinds = {"i1": np.bool_, **TYPES}
    # Rounding to an integer, and what is no truth value yet, NumPy does in steps of its own; no change is no step.
    cheap = target not in (source, "i1") and not (source in FLOATS and target in INTEGERS)
    assert ("@native" in executable.source) is cheap
    np.testing.assert_array_equal(executable.run([a, b])[0], np.where(a < b, a, b).astype(kinds[target]))


WIDE = f"""
  %0 = stablehlo.broadcast_in_dim %row, dims = [1] : (tensor<{COLUMNS}xf32>) -> tensor<{SHAPE}xf32>
  %1 = stablehlo.broadcast_in_dim %column, dims = [0] : (tensor<{ROWS}xf32>) -> tensor<{SHAPE}xf32>
  %2 = stablehlo.transpose %turned, dims = [1, 0] : (tensor<{COLUMNS}x{ROWS}xf32>) -> tensor<{SHAPE}xf32>
  %half = stablehlo.constant dense<0.5> : tensor<{SHAPE}xf32>
  %3 = stablehlo.multiply %x, %0 : tensor<{SHAPE}xf32>
  %4 = stablehlo.add %3, %1 : tensor<{SHAPE}xf32>
  %5 = stablehlo.multiply %4, %half : tensor<{SHAPE}xf32>
  %6 = stablehlo.subtract %5, %x : tensor<{SHAPE}xf32>
  %7 = stablehlo.divide %6, %1 : tensor<{SHAPE}xf32>
  %8 = stablehlo.maximum %7, %0 : tensor<{SHAPE}xf32>
  %9 = stablehlo.minimum %8, %2 : tensor<{SHAPE}xf32>
  return %9, %6 : tensor<{SHAPE}xf32>, tensor<{SHAPE}xf32>"""
SIGNATURE = (
    f"(%x: tensor<{SHAPE}xf32>, %row: tensor<{COLUMNS}xf32>, %column: tensor<{ROWS}xf32>, "
    f"%turned: tensor<{COLUMNS}x{ROWS}xf32>) -> (tensor<{SHAPE}xf32>, tensor<{SHAPE}xf32>)"
)


def wide_inputs() -> list[Any]:
    generator = np.random.default_rng(0)
    shapes = ((ROWS, COLUMNS), (COLUMNS,), (ROWS,), (COLUMNS, ROWS))
    return [generator.standard_normal(shape).astype(np.float32) for shape in shapes]


def test_rows_columns_and_transposes_meet_in_one_loop() -> None:
    executable = compiled(SIGNATURE, WIDE)
    assert executable.source.count("@native") == 1
    x, row, column, turned = wide_inputs()
    made = (x * row + column[:, None]) * np.float32(0.5) - x
    expected = np.minimum(np.maximum(made / column[:, None], row), turned.T)
    for _ in range(2):
        first, second = executable.run([x, row, column, turned])
        np.testing.assert_array_equal(second, made)
        np.testing.assert_array_equal(first, expected)


def test_what_lacks_a_dim_is_computed_once() -> None:
    """A number for each row lies where it lay before: it is counted on by one, not by one for each column."""
    t, u = f"tensor<{SHAPE}xf32>", f"tensor<{ROWS}xi32>"
    executable = compiled(
        f"(%x: {t}, %n: {u}) -> ({t}, {u})",
        f"""
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %ones = stablehlo.constant dense<1> : {u}
  %half = stablehlo.constant dense<0.5> : {t}
  %0:3 = stablehlo.while(%at = %zero, %w = %x, %c = %n) : tensor<i32>, {t}, {u}
  cond {{
    %1 = stablehlo.compare LT, %at, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
    %1 = stablehlo.add %c, %ones : {u}
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : ({u}) -> tensor<{SHAPE}xi32>
    %3 = stablehlo.convert %2 : (tensor<{SHAPE}xi32>) -> {t}
    %4 = stablehlo.multiply %w, %half : {t}
    %5 = stablehlo.add %4, %3 : {t}
    %6 = stablehlo.subtract %5, %x : {t}
    %7 = stablehlo.maximum %6, %x : {t}
    %8 = stablehlo.add %at, %one : tensor<i32>
    stablehlo.return %8, %7, %1 : tensor<i32>, {t}, {u}
  }}
  return %0#1, %0#2 : {t}, {u}""",
    )
    assert executable.source.count("@native") == 1
    x = np.random.default_rng(0).integers(-8, 8, (ROWS, COLUMNS)).astype(np.float32)
    counts = np.arange(ROWS, dtype=np.int32)
    expected = x
    for turn in range(1, 4):
        expected = np.maximum(expected / 2 + (counts[:, None] + turn).astype(np.float32) - x, x)
    found, counted = executable.run([x, counts])
    np.testing.assert_array_equal(counted, counts + 3)
    np.testing.assert_array_equal(found, expected)


def test_without_llvm_the_same_text_runs_on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    executable = compiled(SIGNATURE, WIDE)
    inputs = wide_inputs()
    expected = executable.run(inputs)
    monkeypatch.setattr(native, "is_there", lambda: False)
    monkeypatch.setattr(native, "_called", lambda text: pytest.fail("there is no LLVM"))
    found = Executable(executable.image).run(inputs)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("lines", "loops"),
    [
        (["add"] * 6, 1),
        (["add"] * 5, 0),  # NumPy's passes over a block cost about as much as one loop's call
        (["add"] * 3 + ["tanh"] + ["add"] * 3, 0),  # a call of a library in machine code as well
    ],
)
def test_where_loops_are_made(lines: list[str], loops: int) -> None:
    t = f"tensor<{SHAPE}xf32>"
    ops = [
        f"  %{at + 1} = stablehlo.{name} %{at}{'' if name == 'tanh' else ', %x'} : {t}" for at, name in enumerate(lines)
    ]
    executable = compiled(f"(%0: {t}, %x: {t}) -> {t}", "\n".join([*ops, f"  return %{len(lines)} : {t}"]))
    assert executable.source.count("@native") == loops


def test_equal_loops_are_one() -> None:
    """Two layers with a product between them: what they add up has one loop, which holds no addresses."""
    t = "tensor<300x300xf32>"

    def layer(name: str) -> str:
        return "\n".join(f"  %{name}{at + 1} = stablehlo.add %{name}{at}, %x : {t}" for at in range(6))

    lines = f"""{layer("a")}
  %b0 = stablehlo.dot_general %a6, %x, contracting_dims = [1] x [0] : ({t}, {t}) -> {t}
{layer("b")}
  return %b6 : {t}"""
    source = compiled(f"(%a0: {t}, %x: {t}) -> {t}", lines).source
    assert source.count("@native") == source.count("def tile") == 1
    assert len(re.findall(r"\btile0, ", source)) == 2


def test_a_loop_is_for_one_place_in_memory() -> None:
    """NumPy's lines for sums of columns and of half rows are the same, but a loop holds the steps from row to row."""
    t, wide = "tensor<300x300xf32>", "tensor<300x600xf32>"
    sums = "\n".join(f"  %{x}{at + 1} = stablehlo.add %{x}{at}, %{x}0 : {t}" for x in "ab" for at in range(6))
    lines = f"""  %a0 = stablehlo.transpose %x, dims = [1, 0] : ({t}) -> {t}
  %b0 = stablehlo.slice %y [0:300, 0:300] : ({wide}) -> {t}
{sums}
  return %a6, %b6 : {t}, {t}"""
    executable = compiled(f"(%x: {t}, %y: {wide}) -> ({t}, {t})", lines)
    assert executable.source.count("@native") == 2
    x, y = (np.arange(300 * width, dtype=np.float32).reshape(300, width) for width in (300, 600))
    for found, expected in zip(executable.run([x, y]), (7 * x.T, 7 * y[:, :300]), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("found", "there"), [("0.44.0", False), ("0.45.0", True), ("0.100", True), (None, False)])
def test_only_versions_that_read_the_text_are_asked(
    found: str | None, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if found is None:
            raise native.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(native, "version", version)
    assert native.is_there.__wrapped__() is there


def test_floats_are_written_exactly() -> None:
    for number in (0.1, -0.0, 1e-45, 3.4028235e38, float("inf"), float("-inf")):
        text = native._literal(np.float32(number), np.dtype(np.float32))  # pyright: ignore[reportPrivateUsage]
        assert struct.unpack(">d", bytes.fromhex(text[2:]))[0] == float(np.float32(number))
