"""Pads that become part of windows, and slices by steps of pads, keep every element."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from xdsl.context import Context

from shardwright.dialects import stablehlo
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes.canonical.canonicalize import CanonicalizePass
from shardwright.runtime.executable import compile_module


def both(text: str, *arrays: np.ndarray) -> tuple[set[str], np.ndarray, np.ndarray]:
    """The ops that are left, and the results without and with canonical forms."""
    module = parse_module(text, "program.mlir")
    (before,) = compile_module(module, fused=False).run(list(arrays))
    CanonicalizePass().apply(Context(), module)
    (after,) = compile_module(module, fused=False).run(list(arrays))
    return {op.name.partition(".")[2] for op in module.walk()}, before, after


@pytest.mark.parametrize("seed", range(80))
def test_slices_by_steps_of_pads(seed: int) -> None:
    choose = Random(seed)
    size, stride = choose.randint(1, 12), choose.randint(2, 4)
    low, high = choose.randint(-size, 5), choose.randint(-2, 5)
    padded = size + low + high
    if padded < 1:
        return
    start = choose.randint(0, padded - 1)
    limit = choose.randint(start, padded)
    count = -(-(limit - start) // stride)
    array = np.arange(1, size + 1, dtype=np.int32)
    expected = [array[at - low] if 0 <= at - low < size else 7 for at in range(padded)][start:limit:stride]
    _, before, after = both(
        f"""func.func @main(%a: tensor<{size}xi32>) -> tensor<{count}xi32> {{
          %v = stablehlo.constant dense<7> : tensor<i32>
          %0 = stablehlo.pad %a, %v, low = [{low}], high = [{high}], interior = [0]
            : (tensor<{size}xi32>, tensor<i32>) -> tensor<{padded}xi32>
          %1 = stablehlo.slice %0 [{start}:{limit}:{stride}] : (tensor<{padded}xi32>) -> tensor<{count}xi32>
          return %1 : tensor<{count}xi32>
        }}""",
        array,
    )
    assert before.tolist() == after.tolist() == expected


@pytest.mark.parametrize("seed", range(60))
def test_pads_in_front_of_windows(seed: int) -> None:
    choose = Random(seed)
    size, interior = choose.randint(3, 6), choose.randint(0, 2)
    low, high = choose.randint(-1, 2), choose.randint(-1, 2)
    padded = (size - 1) * (interior + 1) + 1 + low + high
    more, window, stride = (choose.randint(-1, 2), choose.randint(0, 2)), choose.randint(1, 2), choose.randint(1, 2)
    total = padded + sum(more)
    count = (total - window) // stride + 1
    names, before, after = both(
        f"""func.func @main(%a: tensor<{size}xi32>) -> tensor<{count}xi32> {{
          %v = stablehlo.constant dense<0> : tensor<i32>
          %0 = stablehlo.pad %a, %v, low = [{low}], high = [{high}], interior = [{interior}]
            : (tensor<{size}xi32>, tensor<i32>) -> tensor<{padded}xi32>
          %1 = "stablehlo.reduce_window"(%0, %v) <{{window_dimensions = array<i64: {window}>,
            window_strides = array<i64: {stride}>, padding = dense<[[{more[0]}, {more[1]}]]> : tensor<1x2xi64>}}> ({{
            ^bb0(%x: tensor<i32>, %y: tensor<i32>):
              %2 = stablehlo.add %x, %y : tensor<i32>
              stablehlo.return %2 : tensor<i32>
          }}) : (tensor<{padded}xi32>, tensor<i32>) -> tensor<{count}xi32>
          return %1 : tensor<{count}xi32>
        }}""",
        np.arange(1, size + 1, dtype=np.int32) ** 2,
    )
    assert before.tolist() == after.tolist()
    assert (names & {"pad", "slice"} == set()) == (not (low < 0 < more[0]) and not (high < 0 < more[1]))


@pytest.mark.parametrize("seed", range(40))
def test_pads_in_front_of_convolutions(seed: int) -> None:
    choose, generator = Random(seed), np.random.default_rng(seed)
    interior, low, high = choose.randint(0, 2), choose.randint(-1, 2), choose.randint(-1, 2)
    padded = 4 * (interior + 1) + 1 + low + high
    count = padded
    names, before, after = both(
        f"""func.func @main(%a: tensor<2x5x3xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x{count}x4xf32> {{
          %v = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.pad %a, %v, low = [0, {low}, 0], high = [0, {high}, 0], interior = [0, {interior}, 0]
            : (tensor<2x5x3xf32>, tensor<f32>) -> tensor<2x{padded}x3xf32>
          %1 = stablehlo.convolution(%0, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{pad = [[0, 1]]}}
            {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
            : (tensor<2x{padded}x3xf32>, tensor<2x3x4xf32>) -> tensor<2x{count}x4xf32>
          return %1 : tensor<2x{count}x4xf32>
        }}""",
        generator.integers(-4, 5, (2, 5, 3)).astype(np.float32),
        generator.integers(-4, 5, (2, 3, 4)).astype(np.float32),
    )
    assert before.tolist() == after.tolist()
    assert bool(names & {"pad", "slice"}) == (high == -1)


def test_a_layout_between_pad_and_window_stays() -> None:
    """What the user fixed stands in the type of the pad's result: it is not folded away."""
    text = """
      dtensor.mesh @mesh = <["x"=2]>
      func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
        %v = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.pad %a, %v, low = [1], high = [1], interior = [0]
          : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>
        %1 = "stablehlo.reduce_window"(%0, %v) <{window_dimensions = array<i64: 3>}> ({
          ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            %2 = stablehlo.add %x, %y : tensor<f32>
            stablehlo.return %2 : tensor<f32>
        }) : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<f32>) -> tensor<8xf32>
        return %1 : tensor<8xf32>
      }"""
    module = parse_module(text, "program.mlir")
    CanonicalizePass().apply(Context(), module)
    assert any(isinstance(op, stablehlo.PadOp) for op in module.walk())


@pytest.mark.parametrize("seed", range(60))
def test_what_is_computed_on_cut_tensors_is_computed_on_whole_ones(seed: int) -> None:
    """Joined, padded, updated or scattered: what comes out is the same."""
    choose, random = Random(seed), np.random.default_rng(seed)
    cut, kind = choose.choice([1, 2]), choose.choice(["join", "join both", "pad", "update", "set", "add"])
    sides = cut * (2 if kind == "join both" else 1)
    part = 16 - sides
    low = choose.randint(0, cut) if kind in ("pad", "update", "set", "add") else (0 if kind == "join" else cut)
    first, second = choose.randint(0, sides), choose.randint(0, sides)
    strided = choose.choice([1, 2])
    size = 16 * strided
    start = choose.randint(0, size - ((part - 1) * strided + 1))
    stop = start + (part - 1) * strided + 1
    tails = {
        "join": f"""%h = stablehlo.slice %b [0:{cut}] : (tensor<16xf32>) -> tensor<{cut}xf32>
          %r = stablehlo.concatenate %e, %h, dim = 0 : (tensor<{part}xf32>, tensor<{cut}xf32>) -> tensor<16xf32>""",
        "join both": f"""%h = stablehlo.slice %b [3:{3 + cut}] : (tensor<16xf32>) -> tensor<{cut}xf32>
          %t = stablehlo.negate %h : tensor<{cut}xf32>
          %r = stablehlo.concatenate %h, %e, %t, dim = 0
            : (tensor<{cut}xf32>, tensor<{part}xf32>, tensor<{cut}xf32>) -> tensor<16xf32>""",
        "pad": f"""%v = stablehlo.constant dense<7.0> : tensor<f32>
          %r = stablehlo.pad %e, %v, low = [{low}], high = [{cut - low}], interior = [0]
            : (tensor<{part}xf32>, tensor<f32>) -> tensor<16xf32>""",
        "update": f"""%i = stablehlo.constant dense<{choose.choice([low, 9])}> : tensor<i32>
          %r = stablehlo.dynamic_update_slice %b, %e, %i
            : (tensor<16xf32>, tensor<{part}xf32>, tensor<i32>) -> tensor<16xf32>""",
        "set": scattered(part, low, "stablehlo.return %y : tensor<f32>"),
        "add": scattered(part, low, "%s = stablehlo.add %x, %y : tensor<f32> stablehlo.return %s : tensor<f32>"),
    }
    names, before, after = both(
        f"""func.func @main(%a: tensor<{size}xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {{
          %c = stablehlo.slice %a [{start}:{stop}:{strided}] : (tensor<{size}xf32>) -> tensor<{part}xf32>
          %p = stablehlo.slice %b [{first}:{first + part}] : (tensor<16xf32>) -> tensor<{part}xf32>
          %q = stablehlo.slice %b [{second}:{second + part}] : (tensor<16xf32>) -> tensor<{part}xf32>
          %k = stablehlo.constant dense<3.0> : tensor<{part}xf32>
          %d = stablehlo.multiply %p, %k : tensor<{part}xf32>
          %g = stablehlo.compare GT, %d, %c : (tensor<{part}xf32>, tensor<{part}xf32>) -> tensor<{part}xi1>
          %e = stablehlo.select %g, %d, %q : tensor<{part}xi1>, tensor<{part}xf32>
          {tails[kind]}
          return %r : tensor<16xf32>
        }}""",
        random.normal(size=size).astype(np.float32),
        random.normal(size=16).astype(np.float32),
    )
    assert before.tolist() == after.tolist()
    assert not names & {"concatenate", "dynamic_update_slice", "scatter"}


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_computed_and_its_ends_are_put_together_along_both_dims(seed: int, mode: str) -> None:
    """As `jnp.pad` does with differences of neighbours, which asks for no dim of an odd size then."""
    choose, random = Random(seed), np.random.default_rng(seed)
    cuts = [(choose.randint(0, 2), choose.randint(0, 2)) for _ in range(3)]
    at = 0 if mode == "edge" else 1
    slices = "\n".join(
        f"%x{number} = stablehlo.slice %a [{row}:{row + 6}, {column}:{column + 14}]"
        " : (tensor<8x16xf32>) -> tensor<6x14xf32>"
        for number, (row, column) in enumerate(cuts)
    )
    array = random.normal(size=(8, 16)).astype(np.float32)
    names, before, after = both(
        f"""func.func @main(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {{
          {slices}
          %d = stablehlo.subtract %x0, %x1 : tensor<6x14xf32>
          %e = stablehlo.multiply %d, %x2 : tensor<6x14xf32>
          %f = stablehlo.slice %e [{at}:{at + 1}, 0:14] : (tensor<6x14xf32>) -> tensor<1x14xf32>
          %l = stablehlo.slice %e [{5 - at}:{6 - at}, 0:14] : (tensor<6x14xf32>) -> tensor<1x14xf32>
          %g = stablehlo.concatenate %f, %e, %l, dim = 0
            : (tensor<1x14xf32>, tensor<6x14xf32>, tensor<1x14xf32>) -> tensor<8x14xf32>
          %h = stablehlo.slice %g [0:8, {at}:{at + 1}] : (tensor<8x14xf32>) -> tensor<8x1xf32>
          %m = stablehlo.slice %g [0:8, {13 - at}:{14 - at}] : (tensor<8x14xf32>) -> tensor<8x1xf32>
          %r = stablehlo.concatenate %h, %g, %m, dim = 1
            : (tensor<8x1xf32>, tensor<8x14xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
          return %r : tensor<8x16xf32>
        }}""",
        array,
    )
    one, two, three = (array[row : row + 6, column : column + 14] for row, column in cuts)
    expected = np.pad((one - two) * three, 1, mode=mode)
    assert before.tolist() == after.tolist() == expected.tolist()
    assert "concatenate" not in names


def scattered(part: int, low: int, body: str) -> str:
    """One window scattered at a known place."""
    return f"""%i = stablehlo.constant dense<{low}> : tensor<1xi32>
          %r = "stablehlo.scatter"(%b, %i, %e) <{{scatter_dimension_numbers = #stablehlo.scatter<
            update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}}> ({{
            ^bb0(%x: tensor<f32>, %y: tensor<f32>): {body}
          }}) : (tensor<16xf32>, tensor<1xi32>, tensor<{part}xf32>) -> tensor<16xf32>"""


@pytest.mark.parametrize("seed", range(60))
def test_slices_of_what_is_computed_from_pads(seed: int) -> None:
    """As in the gradient of a stencil: the borders are cut off what it is computed from."""
    choose, random = Random(seed), np.random.default_rng(seed)
    edges = [choose.choice([(0, 2), (1, 1), (2, 0)]) for _ in range(3)]
    cut = choose.randint(0, 2)
    as_pad = choose.random() < 0.5
    tail = (
        f"%r = stablehlo.pad %f, %v, low = [{-cut}], high = [{cut - 2}], interior = [0]"
        " : (tensor<18xf32>, tensor<f32>) -> tensor<16xf32>"
        if as_pad
        else f"%r = stablehlo.slice %f [{cut}:{cut + 16}] : (tensor<18xf32>) -> tensor<16xf32>"
    )
    pads = "\n".join(
        f"%p{at} = stablehlo.pad %a, %v, low = [{low}], high = [{high}], interior = [0]"
        " : (tensor<16xf32>, tensor<f32>) -> tensor<18xf32>"
        for at, (low, high) in enumerate(edges)
    )
    array = random.normal(size=16).astype(np.float32)
    _, before, after = both(
        f"""func.func @main(%a: tensor<16xf32>) -> tensor<16xf32> {{
          %v = stablehlo.constant dense<2.0> : tensor<f32>
          {pads}
          %d = stablehlo.add %p0, %p1 : tensor<18xf32>
          %e = stablehlo.multiply %d, %p2 : tensor<18xf32>
          %f = stablehlo.add %e, %d : tensor<18xf32>
          {tail}
          return %r : tensor<16xf32>
        }}""",
        array,
    )
    one, two, three = (np.pad(array, edge, constant_values=2) for edge in edges)
    expected = ((one + two) * three + (one + two))[cut : cut + 16]
    assert before.tolist() == after.tolist() == expected.tolist()


@pytest.mark.parametrize("seed", range(40))
def test_pads_between_elements_of_what_is_computed_from_cut_tensors(seed: int) -> None:
    choose, random = Random(seed), np.random.default_rng(seed)
    low, gap = choose.randint(0, 3), choose.randint(1, 2)
    high = choose.randint(0, 3)
    total = low + 6 * (gap + 1) + 1 + high
    start = choose.randint(0, 1)
    array = random.normal(size=8).astype(np.float32)
    _, before, after = both(
        f"""func.func @main(%a: tensor<8xf32>) -> tensor<{total}xf32> {{
          %v = stablehlo.constant dense<2.0> : tensor<f32>
          %c = stablehlo.slice %a [{start}:{start + 7}] : (tensor<8xf32>) -> tensor<7xf32>
          %e = stablehlo.multiply %c, %c : tensor<7xf32>
          %r = stablehlo.pad %e, %v, low = [{low}], high = [{high}], interior = [{gap}]
            : (tensor<7xf32>, tensor<f32>) -> tensor<{total}xf32>
          return %r : tensor<{total}xf32>
        }}""",
        array,
    )
    expected = np.full(total, 2, np.float32)
    expected[low : low + 6 * (gap + 1) + 1 : gap + 1] = array[start : start + 7] ** 2
    assert before.tolist() == after.tolist() == expected.tolist()
