"""
Sorting, selection and joining under even layouts of arguments and results on a 2x2 mesh, to the last bit.

Inputs have many equal elements, zeros of both signs and NaN, so that what is not stable, sums replicas or loses a sign
is found out.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from harness import Array, run
from layout_cases import Case, combinations, shape_and_dtype

MOST, MOST_SLOW = 4, 200


def argmax_text(
    operation: str, source: str, index: str, shape: str, dim: int, result: str, names: tuple[str, str]
) -> str:
    """What jnp.argmax and jnp.argmin export: a reduction of values and places; ties go to the lower place."""
    worst, direction = ("0xFF800000", "GT") if operation == "argmax" else ("0x7F800000", "LT")
    return f"""
    %{index} = stablehlo.iota dim = {dim} : tensor<{shape}xi32>
    %worst = stablehlo.constant dense<{worst}> : tensor<f32>
    %first = stablehlo.constant dense<0> : tensor<i32>
    %best:2 = stablehlo.reduce(%{source} init: %worst), (%{index} init: %first) across dimensions = [{dim}]
      : (tensor<{shape}xf32>, tensor<{shape}xi32>, tensor<f32>, tensor<i32>)
      -> (tensor<{result}f32>, tensor<{result}i32>)
     reducer(%v: tensor<f32>, %w: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {{
      %2 = stablehlo.compare {direction}, %v, %w, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %v, %v, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %v, %w, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %v, %w : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }}
    %{names[0]} = stablehlo.optimization_barrier %best#0 : tensor<{result}f32>
    %{names[1]} = stablehlo.optimization_barrier %best#1 : tensor<{result}i32>"""


def argmax(a: Array, dim: int) -> tuple[Array, Array]:
    places = np.argmax(a, dim).astype(np.int32)
    return np.take_along_axis(a, np.expand_dims(places, dim), dim).squeeze(dim), places


def argmin(a: Array, dim: int) -> tuple[Array, Array]:
    places = np.argmin(a, dim).astype(np.int32)
    return np.take_along_axis(a, np.expand_dims(places, dim), dim).squeeze(dim), places


def sort_text(names: list[str], results: list[str], types: list[str], shape: str, dim: int, body: str) -> str:
    pairs = ", ".join(f"%x{at}: tensor<{type_}>, %y{at}: tensor<{type_}>" for at, type_ in enumerate(types))
    tensors = ", ".join(f"tensor<{shape}x{type_}>" for type_ in types)
    made = [
        f"    %{name} = stablehlo.optimization_barrier %sorted#{at} : tensor<{shape}x{type_}>"
        for at, (name, type_) in enumerate(zip(results, types, strict=True))
    ]
    return "\n".join(
        [
            f'    %sorted:{len(types)} = "stablehlo.sort"({", ".join("%" + name for name in names)})',
            f"      <{{dimension = {dim} : i64, is_stable = true}}> ({{",
            f"    ^bb0({pairs}):",
            body,
            "      stablehlo.return %z : tensor<i1>",
            f"    }}) : ({tensors}) -> ({tensors})",
            *made,
        ]
    )


ABSOLUTE = """      %p = stablehlo.abs %x0 : tensor<f32>
      %q = stablehlo.abs %y0 : tensor<f32>
      %z = stablehlo.compare LT, %p, %q, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>"""
DIFFERENCE = """      %d = stablehlo.subtract %x0, %y0 : tensor<i32>
      %n = stablehlo.constant dense<0> : tensor<i32>
      %z = stablehlo.compare GT, %d, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>"""


def by_absolute(a: Array, b: Array, dim: int) -> tuple[Array, Array]:
    order = np.argsort(np.abs(a), dim, kind="stable")
    return np.take_along_axis(a, order, dim), np.take_along_axis(b, order, dim)


def descending(a: Array, dim: int) -> Array:
    return -np.sort(-a, dim)


def top_k(a: Array, k: int) -> tuple[Array, Array]:
    """NaN first, +0 before -0: the total order of floats, descending."""
    bits = np.where(np.isnan(a), np.float32(np.nan), a).view(np.int32)
    keys = np.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    order = np.argsort(~keys, -1, kind="stable")[..., :k]
    return np.take_along_axis(a, order, -1), order.astype(np.int32)


def roll(amount: int, dim: int) -> str:
    """What jnp.roll exports: the end, then the beginning."""
    cut = 8 - amount
    ends = [f"{cut}:8, 0:8", f"0:{cut}, 0:8"] if dim == 0 else [f"0:8, {cut}:8", f"0:8, 0:{cut}"]
    shapes = [f"{size}x8xf32" if dim == 0 else f"8x{size}xf32" for size in (amount, cut)]
    slices = [
        f"    %{name} = stablehlo.slice %a [{end}] : (tensor<8x8xf32>) -> tensor<{shape}>\n"
        for name, end, shape in zip("bc", ends, shapes, strict=True)
    ]
    return "".join(slices) + join(shapes, "8x8xf32", dim, "bc")


def join(shapes: list[str], result: str, dim: int, names: str = "abc") -> str:
    operands = ", ".join(f"%{name}" for name in names[: len(shapes)])
    types = ", ".join(f"tensor<{shape}>" for shape in shapes)
    return f"    %r0 = stablehlo.concatenate {operands}, dim = {dim} : ({types}) -> tensor<{result}>"


CASES: dict[str, Case] = {
    **{
        f"{name} of dim {dim}": Case(
            ("4x8xf32",),
            (f"{size}xf32", f"{size}xi32"),
            argmax_text(name, "a", "k", "4x8", dim, f"{size}x", ("r0", "r1")),
            lambda a, function=function, dim=dim: function(a, dim),
        )
        for name, function in (("argmax", argmax), ("argmin", argmin))
        for dim, size in ((0, 8), (1, 4))
    },
    "argmax of a vector": Case(
        ("8xf32",),
        ("f32", "i32"),
        argmax_text("argmax", "a", "k", "8", 0, "", ("r0", "r1")),
        lambda a: argmax(a, 0),
    ),
    "exclusive or of two dims": Case(
        ("4x4x8xi32",),
        ("4xi32",),
        "    %none = stablehlo.constant dense<0> : tensor<i32>\n"
        "    %r0 = stablehlo.reduce(%a init: %none) applies stablehlo.xor across dimensions = [0, 2]"
        " : (tensor<4x4x8xi32>, tensor<i32>) -> tensor<4xi32>",
        lambda a: np.bitwise_xor.reduce(a.transpose(1, 0, 2).reshape(4, -1), 1),
    ),
    "reduction that starts elsewhere": Case(
        ("4x8xi32",),
        ("4xi32",),
        "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
        "    %r0 = stablehlo.reduce(%a init: %one) applies stablehlo.xor across dimensions = [1]"
        " : (tensor<4x8xi32>, tensor<i32>) -> tensor<4xi32>",
        lambda a: np.bitwise_xor.reduce(a, 1) ^ 1,
    ),
    **{
        f"sort dim {dim} with what belongs to it": Case(
            ("4x8xf32", "4x8xi32"),
            ("4x8xf32", "4x8xi32"),
            sort_text(["a", "b"], ["r0", "r1"], ["f32", "i32"], "4x8", dim, ABSOLUTE),
            lambda a, b, dim=dim: by_absolute(a, b, dim),
        )
        for dim in (0, 1)
    },
    "sort by any comparator": Case(
        ("8x2xi32",),
        ("8x2xi32",),
        sort_text(["a", "a"], ["r0", "r9"], ["i32", "i32"], "8x2", 0, DIFFERENCE),
        lambda a: descending(a, 0),
    ),
    "sort a vector": Case(
        ("8xf32", "8xi32"),
        ("8xf32", "8xi32"),
        sort_text(["a", "b"], ["r0", "r1"], ["f32", "i32"], "8", 0, ABSOLUTE),
        lambda a, b: by_absolute(a, b, 0),
    ),
    "sort a long vector": Case(
        ("144xf32", "144xi32"),
        ("144xf32", "144xi32"),
        sort_text(["a", "b"], ["r0", "r1"], ["f32", "i32"], "144", 0, ABSOLUTE),
        lambda a, b: by_absolute(a, b, 0),
    ),
    **{
        f"top {k} of {shape}": Case(
            (f"{shape}xf32",),
            (f"{short}xf32", f"{short}xi32"),
            f"    %r0, %r1 = chlo.top_k(%a, k = {k}) : tensor<{shape}xf32>"
            f" -> (tensor<{short}xf32>, tensor<{short}xi32>)",
            lambda a, k=k: top_k(a, k),
        )
        for shape, k, short in (("4x8", 2, "4x2"), ("2x16", 6, "2x6"), ("8", 3, "3"))
    },
    "join along dim 0": Case(
        ("4x4xf32", "8x4xf32"),
        ("12x4xf32",),
        join(["4x4xf32", "8x4xf32"], "12x4xf32", 0),
        lambda a, b: np.concatenate([a, b], 0),
    ),
    "join three along dim 1": Case(
        ("2x4xf32", "2x8xf32", "2x4xf32"),
        ("2x16xf32",),
        join(["2x4xf32", "2x8xf32", "2x4xf32"], "2x16xf32", 1),
        lambda a, b, c: np.concatenate([a, b, c], 1),
    ),
    "join what does not divide": Case(
        ("3x4xf32", "5x4xf32"),
        ("8x4xf32",),
        join(["3x4xf32", "5x4xf32"], "8x4xf32", 0),
        lambda a, b: np.concatenate([a, b], 0),
    ),
    "join with a constant": Case(
        ("4x4xf32",),
        ("8x4xf32",),
        "    %b = stablehlo.constant dense<-0.0> : tensor<4x4xf32>\n" + join(["4x4xf32", "4x4xf32"], "8x4xf32", 0),
        lambda a: np.concatenate([a, np.full((4, 4), -0.0, np.float32)], 0),
    ),
    "join with itself": Case(
        ("4x4xf32",),
        ("8x4xf32",),
        join(["4x4xf32", "4x4xf32"], "8x4xf32", 0, "aa"),
        lambda a: np.concatenate([a, a], 0),
    ),
    "join with a sum": Case(
        ("4x8xi32", "8x4xi32", "4x4xi32"),
        ("8x4xi32",),
        "    %s = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<4x8xi32>, tensor<8x4xi32>) -> tensor<4x4xi32>\n" + join(["4x4xi32", "4x4xi32"], "8x4xi32", 0, "cs"),
        lambda a, b, c: np.concatenate([c, a @ b], 0),
    ),
    **{
        f"roll dim {dim} by {amount}": Case(
            ("8x8xf32",),
            ("8x8xf32",),
            roll(amount, dim),
            lambda a, amount=amount, dim=dim: np.roll(a, amount, dim),
        )
        for dim in (0, 1)
        for amount in (1, 4, 7)
    },
}


LOOSE = ("argmax", "argmin")
"""Which of two zeros is the largest is not said, only where the first one is."""


def inputs(case: Case) -> list[Array]:
    """Small whole numbers, many of them equal; half of the zeros are negative, and a few elements are NaN."""
    random = np.random.default_rng(7)
    arrays: list[Array] = []
    for shape, dtype in map(shape_and_dtype, case.arguments):
        array = random.integers(-2, 3, shape).astype(dtype)
        if dtype == "float32":
            array = np.where((array == 0) & (random.random(shape) < 0.5), np.float32(-0.0), array)
            array = np.where(random.random(shape) < 0.05, np.float32(np.nan), array)
        arrays.append(array)
    return arrays


def run_case(name: str, most: int) -> None:
    """Runs at most so many combinations of layouts, spread over all."""
    case = CASES[name]
    arrays, every = inputs(case), combinations(case)
    results = case.numpy(*arrays)
    expected = results if isinstance(results, tuple) else (results,)
    for layouts in Random(name).sample(every, min(most, len(every))):
        text = case.text(layouts)
        for actual, wanted in zip(run(text, arrays).results, expected, strict=True):
            assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape), text
            np.testing.assert_array_equal(actual, wanted, err_msg=text)
            if not name.startswith(LOOSE):
                np.testing.assert_array_equal(np.signbit(actual), np.signbit(wanted), err_msg=text)


SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'


def on_eight(body: str, rows: int, result: int, others: str = "") -> str:
    """A program on eight devices that split the rows of argument and result."""
    return f"""module {{
      sdy.mesh @mesh = <["x"=8]>
      func.func public @main(%a: tensor<{rows}x4xf32> {SPLIT}{others}) -> (tensor<{result}x4xf32> {SPLIT}) {{
        {body}
        return %r0 : tensor<{result}x4xf32>
      }}
    }}"""


@pytest.mark.parametrize("amount", [1, 3, 8, 13, 24, 60])
def test_a_roll_moves_what_changes_hands(amount: int) -> None:
    """Of 64 rows of 16 bytes, eight to a device: an amount below that much is a halo, eight and more are all rows."""
    cut = 64 - amount
    body = f"""%0 = stablehlo.slice %a [{cut}:64, 0:4] : (tensor<64x4xf32>) -> tensor<{amount}x4xf32>
        %1 = stablehlo.slice %a [0:{cut}, 0:4] : (tensor<64x4xf32>) -> tensor<{cut}x4xf32>
        %r0 = stablehlo.concatenate %0, %1, dim = 0 :
          (tensor<{amount}x4xf32>, tensor<{cut}x4xf32>) -> tensor<64x4xf32>"""
    rows = np.arange(256, dtype=np.float32).reshape(64, 4)
    ran = run(on_eight(body, 64, 64), [rows], round_trip=True)
    np.testing.assert_array_equal(ran.results[0], np.roll(rows, amount, 0))
    assert ran.predicted == 16 * min(amount, 8, 64 - amount)


def test_a_shift_is_a_pad() -> None:
    """Each device but the first receives one row."""
    body = """%zero = stablehlo.constant dense<0.0> : tensor<1x4xf32>
        %0 = stablehlo.slice %a [0:63, 0:4] : (tensor<64x4xf32>) -> tensor<63x4xf32>
        %r0 = stablehlo.concatenate %zero, %0, dim = 0 : (tensor<1x4xf32>, tensor<63x4xf32>) -> tensor<64x4xf32>"""
    rows = np.arange(256, dtype=np.float32).reshape(64, 4)
    ran = run(on_eight(body, 64, 64), [rows])
    np.testing.assert_array_equal(ran.results[0], np.concatenate([np.zeros((1, 4), np.float32), rows[:-1]]))
    assert ran.predicted == 14


def test_joining_what_is_whole_sends_nothing() -> None:
    """Every device has all that is joined, and takes its rows of the result."""
    whole = ", %b: tensor<24x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}"
    body = """%1 = stablehlo.concatenate %b, %b, dim = 0 : (tensor<24x4xf32>, tensor<24x4xf32>) -> tensor<48x4xf32>
        %r0 = stablehlo.add %a, %1 : tensor<48x4xf32>"""
    rows, other = np.arange(192, dtype=np.float32).reshape(48, 4), np.ones((24, 4), np.float32)
    ran = run(on_eight(body, 48, 48, whole), [rows, other])
    np.testing.assert_array_equal(ran.results[0], rows + np.concatenate([other, other]))
    assert ran.predicted == 0


def test_joining_sends_what_is_lacking() -> None:
    """
    64 rows join the 32 behind them, twelve to a device: counted row by row below.

    Device d has rows 8d to 8d+8 and 64+4d to 64+4d+4, and needs 12d to 12d+12.
    """
    other = ', %b: tensor<32x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
    body = "%r0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<64x4xf32>, tensor<32x4xf32>) -> tensor<96x4xf32>"
    rows = np.arange(384, dtype=np.float32).reshape(96, 4)
    ran = run(on_eight(body, 64, 96, other), [rows[:64], rows[64:]])
    np.testing.assert_array_equal(ran.results[0], rows)
    lacking = 0
    for device in range(8):
        mine = {*range(8 * device, 8 * device + 8), *range(64 + 4 * device, 64 + 4 * device + 4)}
        lacking += len(set(range(12 * device, 12 * device + 12)) - mine)
    assert ran.predicted == lacking * 16 / 8


@pytest.mark.every(4)
@pytest.mark.parametrize("name", CASES)
def test_layouts(name: str) -> None:
    run_case(name, MOST)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_layout(name: str) -> None:
    run_case(name, MOST_SLOW)
