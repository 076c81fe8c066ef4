"""Gathers, scatters, dynamic slices and their updates, for the check of their rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shardwright.rules.proof.trial import draw_small

from .op_case import Case, case

FIELDS = {
    "offset": "offset_dims",
    "collapsed": "collapsed_slice_dims",
    "batching": "operand_batching_dims",
    "with": "start_indices_batching_dims",
    "map": "start_index_map",
    "window": "update_window_dims",
    "inserted": "inserted_window_dims",
    "paired": "input_batching_dims",
    "by": "scatter_indices_batching_dims",
    "target": "scatter_dims_to_operand_dims",
    "vector": "index_vector_dim",
}
"""The fields of dimension numbers, and what they are called here."""


def numbers_text(short: str) -> str:
    """`offset 1, map 0 2, vector 1` as StableHLO writes it."""
    fields = [field.split() for field in short.split(", ") if field]
    values = [(FIELDS[name], dims[0] if name == "vector" else f"[{', '.join(dims)}]") for name, *dims in fields]
    return ", ".join(f"{name} = {value}" for name, value in values)


def draw_near(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Indices of small tensors, some of them outside: just so, or as far as the type goes."""
    if dtype.kind not in "iu":
        return draw_small(generator, shape, dtype)
    limits = np.iinfo(dtype)
    near = generator.integers(max(-1, limits.min), 7, shape)
    far = np.array([limits.max, limits.min], dtype)[generator.integers(0, 2, shape)]
    return np.where(generator.integers(0, 8, shape) == 0, far, near.astype(dtype))


def draw_bits(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """The same, and booleans that are mostly false."""
    return generator.random(shape) < 0.2 if dtype.kind == "b" else draw_near(generator, shape, dtype)


def _dynamic_slices() -> Iterator[Case]:
    for operand, sizes, index in (
        ("8xf32", "[2]", "i32"),
        ("8xf32", "[8]", "i32"),
        ("8xf32", "[5]", "ui8"),
        ("8x4xf32", "[1, 4]", "i64"),
        ("8x4xf32", "[3, 2]", "ui64"),
        ("4x8xi32", "[4, 4]", "i8"),
        ("4x8xi1", "[4, 4]", "i32"),
        ("4x8xcomplex<f32>", "[2, 8]", "i32"),
        ("1x4xbf16", "[1, 2]", "ui32"),
        ("0x4xf32", "[0, 2]", "i32"),
    ):
        rank = sizes.count(",") + 1
        starts = ", ".join(f"%{letter}" for letter in "bcd"[:rank])
        line = f"stablehlo.dynamic_slice %a, {starts}, sizes = {sizes} : TYPES"
        element = operand.split("x", rank)[-1]
        result = "x".join([*sizes.strip("[]").split(", "), element])
        yield case(
            f"dynamic_slice {operand} {sizes} {index}", line, [operand, *[index] * rank], [result], draw=draw_bits
        )


def _dynamic_updates() -> Iterator[Case]:
    for operand, update, index in (
        ("8xf32", "2xf32", "i32"),
        ("8xf32", "8xf32", "i32"),
        ("8xf32", "5xf32", "ui8"),
        ("8x4xf32", "1x4xf32", "i64"),
        ("8x4xf32", "3x2xf32", "ui64"),
        ("4x8xi32", "4x4xi32", "i8"),
        ("4x8xi1", "4x4xi1", "i32"),
        ("0x4xf32", "0x2xf32", "i32"),
    ):
        rank = operand.count("x")
        starts = ", ".join(f"%{letter}" for letter in "cde"[:rank])
        line = f"stablehlo.dynamic_update_slice %a, %b, {starts} : TYPES"
        operands = [operand, update, *[index] * rank]
        yield case(f"dynamic_update_slice {operand} {update} {index}", line, operands, [operand], draw=draw_bits)


GATHERS = (
    ("rows", "8x4xf32", "6x1xi32", "offset 1, collapsed 0, map 0, vector 1", "1, 4", "6x4xf32"),
    ("rows of booleans", "8x4xi1", "6x1xi32", "offset 1, collapsed 0, map 0, vector 1", "1, 4", "6x4xi1"),
    ("rows of a kept dim", "8x4xi32", "6xui8", "offset 0 2, map 0, vector 1", "1, 4", "1x6x4xi32"),
    ("elements", "8x4xf32", "2x6xi64", "collapsed 0 1, map 1 0", "1, 1", "6xf32"),
    ("slices", "8x4xf32", "6x2xui64", "offset 0 1, map 0 1, vector 1", "3, 4", "3x4x6xf32"),
    ("slices of both dims", "8x4xf32", "6x2xi8", "offset 1 2, map 0 1, vector 1", "2, 2", "6x2x2xf32"),
    ("part of another dim", "8x4xf32", "6x1xi32", "offset 1, collapsed 0, map 0, vector 1", "1, 2", "6x2xf32"),
    ("batch", "4x8x2xf32", "6x4x1xi32", "offset 2, collapsed 1, batching 0, with 1, map 1, vector 2", "1, 1, 2",
     "6x4x2xf32"),
    ("numbers", "4x8xf32", "4xui32", "collapsed 1, batching 0, with 0, map 1, vector 1", "1, 1", "4xf32"),
    ("one slice", "8x4xbf16", "1xi32", "offset 0, collapsed 0, map 0", "1, 4", "4xbf16"),
    ("nothing", "8x4xf32", "0x1xi32", "offset 1, collapsed 0, map 0, vector 1", "1, 4", "0x4xf32"),
)  # fmt: skip
"""Name, operand, indices, dimension numbers, slice sizes and result."""


def _gathers() -> Iterator[Case]:
    for name, operand, indices, numbers, sizes, result in GATHERS:
        line = (
            f'"stablehlo.gather"(%a, %b) <{{dimension_numbers = #stablehlo.gather<{numbers_text(numbers)}>, '
            f"slice_sizes = array<i64: {sizes}>}}> : TYPES"
        )
        yield case(f"gather {name}", line, [operand, indices], [result], draw=draw_bits)


ROWS = "window 1, inserted 0, target 0, vector 1"
SCATTERS = (
    ("elements", "8x4", "2x12xi64", "12", "inserted 0 1, target 1 0"),
    ("kept dim", "8x4", "6xui8", "1x6x4", "window 0 2, target 0, vector 1"),
    ("windows", "8x4", "6x2xui64", "3x4x6", "window 0 1, target 0 1, vector 1"),
    ("windows of both dims", "8x4", "3x2xi8", "3x2x2", "window 1 2, target 0 1, vector 1"),
    ("part of another dim", "8x4", "6x1xi32", "6x2", ROWS),
    ("batches", "4x8x2", "6x4x1xi32", "6x4x2", "window 2, inserted 1, paired 0, by 1, target 1, vector 2"),
    ("one window", "8x4", "1xi32", "4", "window 0, inserted 0, target 0"),
    ("no dim of vectors", "8", "6xui32", "6", "inserted 0, target 0, vector 1"),
    ("nothing", "8x4", "0x1xi32", "0x4", ROWS),
)  # fmt: skip
"""Name, operand's shape, indices, the updates' shape and dimension numbers."""

BODIES = {
    "set": "stablehlo.return %q : tensor<ELEMENT>",
    **{
        name: f"%0 = stablehlo.{name} %p, %q : tensor<ELEMENT>\nstablehlo.return %0 : tensor<ELEMENT>"
        for name in ("add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor")
    },
    "back to front": "%0 = stablehlo.subtract %q, %p : tensor<ELEMENT>\nstablehlo.return %0 : tensor<ELEMENT>",
    "average": """%h = stablehlo.constant dense<0.5> : tensor<ELEMENT>
        %0 = stablehlo.add %p, %q : tensor<ELEMENT>
        %1 = stablehlo.multiply %0, %h : tensor<ELEMENT>
        stablehlo.return %1 : tensor<ELEMENT>""",
}


def scatter_line(numbers: str, body: str, element: str, operands: str = "%a, %b, %c", flags: str = "") -> str:
    """A scatter of one operand by a body of `BODIES`."""
    text = BODIES[body].replace("ELEMENT", element)
    return (
        f'"stablehlo.scatter"({operands}) <{{{flags}scatter_dimension_numbers = '
        f"#stablehlo.scatter<{numbers_text(numbers)}>}}> ({{\n"
        f"^bb0(%p: tensor<{element}>, %q: tensor<{element}>):\n{text}\n}}) : TYPES"
    )


def _scatter(name: str, shape: str, indices: str, updates: str, numbers: str, body: str, element: str) -> Case:
    operands = [f"{shape}x{element}", indices, f"{updates}x{element}"]
    line = scatter_line(numbers, body, element)
    return case(f"scatter {body} {name} {element}", line, operands, operands[:1], draw=draw_bits)


def _scatters() -> Iterator[Case]:
    for entry in SCATTERS:
        yield _scatter(*entry, "add", "f32")
    yield _scatter(*SCATTERS[2], "set", "f32")


ELEMENTS = {"and": "i32", "or": "i1", "xor": "i32", "subtract": "complex<f32>", "maximum": "bf16", "multiply": "i32"}
"""The elements that are combined, where they are no f32."""


def _combiners() -> Iterator[Case]:
    for body in BODIES:
        yield _scatter("rows", "8x4", "6x1xi32", "6x4", ROWS, body, ELEMENTS.get(body, "f32"))
    for element in ("i8", "i1"):
        yield _scatter("rows", "8x4", "6x1xi32", "6x4", ROWS, "add", element)
    yield case(
        "scatter both",
        _BOTH,
        ["8xf32", "8xi32", "6x1xi32", "6xf32", "6xi32"],
        ["8xf32", "8xi32"],
        draw=draw_bits,
    )
    yield case(
        "scatter the larger with its place",
        _LARGER,
        ["8xf32", "8xi32", "6x1xi32", "6xf32", "6xi32"],
        ["8xf32", "8xi32"],
        draw=draw_bits,
    )


_BOTH = f"""\"stablehlo.scatter\"(%a, %b, %c, %d, %e) <{{scatter_dimension_numbers =
      #stablehlo.scatter<{numbers_text("inserted 0, target 0, vector 1")}>}}> ({{
    ^bb0(%p: tensor<f32>, %q: tensor<i32>, %s: tensor<f32>, %t: tensor<i32>):
      stablehlo.return %s, %t : tensor<f32>, tensor<i32>
    }}) : TYPES"""

_LARGER = """\"stablehlo.scatter\"(%a, %b, %c, %d, %e) <{scatter_dimension_numbers =
      #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<i32>, %s: tensor<f32>, %t: tensor<i32>):
      %0 = stablehlo.compare GT, %s, %p : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.select %0, %s, %p : tensor<i1>, tensor<f32>
      %2 = stablehlo.select %0, %t, %q : tensor<i1>, tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }) : TYPES"""

GROUPS: dict[str, Callable[[], Iterator[Case]]] = {
    "dynamic slices": _dynamic_slices,
    "dynamic updates": _dynamic_updates,
    "gathers": _gathers,
    "scatters": _scatters,
    "combiners": _combiners,
}
