"""What random programs found, as small as it gets: each of these was wrong, crashed or was refused once."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from harness import Array, run


@dataclass(frozen=True)
class Found:
    """A program's mesh, arguments and results with their layouts, its ops, and the same in NumPy."""

    mesh: str
    arguments: str
    results: str
    body: str
    inputs: tuple[Array, ...]
    numpy: Callable[..., Any]

    @property
    def text(self) -> str:
        """The module; `LAYOUT[...]` stands for an attribute."""
        marked = f"({self.arguments}) -> ({self.results})".replace("LAYOUT", "{sdy.sharding = #sdy.sharding<@mesh, ")
        return (
            f"module {{\n  sdy.mesh @mesh = <[{self.mesh}]>\n  func.func public @main{marked.replace(']!', ']>}')} {{\n"
            f"{self.body}\n  }}\n}}\n"
        )


def ramp(*shape: int) -> Array:
    """Whole numbers from one."""
    return np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


FOUND: dict[str, Found] = {
    # A step on constants whose kernel leaves out leading dims was folded to too small a constant.
    "an update of equal elements": Found(
        '"x"=8',
        "%a: tensor<4xf32>",
        'tensor<8xf32> LAYOUT[{"x"}]!',
        """    %two = stablehlo.constant dense<2.0> : tensor<8xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %two, %a, %one : (tensor<8xf32>, tensor<4xf32>, tensor<i32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>""",
        (ramp(4),),
        lambda a: np.concatenate([[2], a, [2, 2, 2]]).astype(np.float32),
    ),
    # The three elements of the slice took a third of the axis, of which the result takes a half.
    "parts of an axis that do not nest": Found(
        '"x"=12',
        '%a: tensor<6x24xf32> LAYOUT[{}, {"x"}]!',
        'tensor<6x3xf32> LAYOUT[{"x":(1)2}, {}]!',
        """    %0 = stablehlo.slice %a [0:6, 21:24] : (tensor<6x24xf32>) -> tensor<6x3xf32>
    return %0 : tensor<6x3xf32>""",
        (ramp(6, 24),),
        lambda a: a[:, 21:],
    ),
    # What is made of constants alone is made in any layout, but the joined dim of a concatenation may have no factor.
    "joined constants": Found(
        '"x"=2',
        "",
        'tensor<2xf32> LAYOUT[{"x"}]!',
        """    %two = stablehlo.constant dense<2.0> : tensor<1xf32>
    %three = stablehlo.constant dense<3.0> : tensor<1xf32>
    %0 = stablehlo.concatenate %two, %three, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>""",
        (),
        lambda: np.array([2, 3], np.float32),
    ),
    # Axes of size one have nothing to move.
    "a window over one device": Found(
        '"x"=2, "y"=1',
        '%a: tensor<4x8xf32>, %b: tensor<8x8xf32> LAYOUT[{"y"}, {"x"}]!',
        'tensor<4x8xf32> LAYOUT[{"y"}, {"x"}]!',
        """    %dot = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %0 = stablehlo.reverse %dot, dims = [1] : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>""",
        (ramp(4, 8), ramp(8, 8)),
        lambda a, b: (a @ b)[:, ::-1],
    ),
    # No window lies anywhere: the split dim was taken apart into frames, and no layout of no elements fitted them.
    "windows of which none fits": Found(
        '"x"=2',
        '%a: tensor<2xf32> LAYOUT[{"x"}]!',
        "tensor<0xf32>",
        """    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%a, %zero) <{padding = dense<[[0, -1]]> : tensor<1x2xi64>,
      window_dimensions = array<i64: 2>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<0xf32>
    return %0 : tensor<0xf32>""",
        (ramp(2),),
        lambda a: a[:0],
    ),
    # The dims of a reshape beside one without elements are split like those of any other.
    "windows beside a dim without elements": Found(
        '"x"=2, "y"=2',
        '%a: tensor<0x4x2xf32> LAYOUT[{"y"}, {}, {"x"}]!',
        "tensor<0x4x1xf32>",
        """    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%a, %zero) <{window_dimensions = array<i64: 1, 1, 2>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<0x4x2xf32>, tensor<f32>) -> tensor<0x4x1xf32>
    return %0 : tensor<0x4x1xf32>""",
        (ramp(0, 4, 2),),
        lambda a: a[:, :, :1],
    ),
    # Groups of an empty batch cannot be counted by its parts: each device took them all.
    "groups of an empty batch": Found(
        '"x"=2',
        '%a: tensor<0x3x1xf32>, %k: tensor<2x1x2xf32> LAYOUT[{}, {}, {"x"}]!',
        "tensor<0x2x2xf32>",
        """    %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]}
      {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
      : (tensor<0x3x1xf32>, tensor<2x1x2xf32>) -> tensor<0x2x2xf32>
    return %0 : tensor<0x2x2xf32>""",
        (ramp(0, 3, 1), ramp(2, 1, 2)),
        lambda a, k: np.zeros((0, 2, 2), np.float32),
    ),
    # Spatial parts went into the batch, which has no elements to be told apart by.
    "a split convolution of an empty batch": Found(
        '"x"=3',
        '%a: tensor<6x0x1xf32> LAYOUT[{"x"}, {}, {}]!, %k: tensor<3x1x2xf32>',
        "tensor<6x2x0xf32>",
        """    %0 = stablehlo.convolution(%a, %k) dim_numbers = [0, b, f]x[0, i, o]->[0, f, b],
      window = {stride = [1], pad = [[2, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<6x0x1xf32>, tensor<3x1x2xf32>) -> tensor<6x2x0xf32>
    return %0 : tensor<6x2x0xf32>""",
        (ramp(6, 0, 1), ramp(3, 1, 2)),
        lambda a, k: np.zeros((6, 2, 0), np.float32),
    ),
    # Places among no elements are folded to a constant, which is nobody's splat but everybody's.
    "the largest of no elements": Found(
        '"x"=3',
        '%a: tensor<0x3xi32> LAYOUT[{}, {"x"}]!',
        "tensor<0x3xi32>",
        """    %0, %1 = chlo.top_k(%a, k = 3) : tensor<0x3xi32> -> (tensor<0x3xi32>, tensor<0x3xi32>)
    return %1 : tensor<0x3xi32>""",
        (np.zeros((0, 3), np.int32),),
        lambda a: a,
    ),
    # A value that a loop only reads has the layout that it had, next to one that it changes.
    "a loop that carries one value twice": Found(
        '"x"=2',
        "%a: tensor<4xf32> LAYOUT[{}]!",
        "tensor<4xf32>, tensor<4xf32>",
        """    %start = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%i = %start, %same = %a, %b = %a) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    cond {
      %limit = stablehlo.constant dense<3> : tensor<i32>
      %more = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %twice = stablehlo.add %b, %b : tensor<4xf32>
      stablehlo.return %next, %same, %twice : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    }
    return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>""",
        (ramp(4),),
        lambda a: (a, 8 * a),
    ),
}


@pytest.mark.parametrize("namespace", ["numpy", "plain_numpy"])
@pytest.mark.parametrize("name", FOUND)
def test_found(name: str, namespace: str) -> None:
    found = FOUND[name]
    ran = run(found.text, found.inputs, namespace=namespace, round_trip=True)
    expected = found.numpy(*found.inputs)
    for result, wanted in zip(ran.results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_array_equal(result, wanted)
