"""Loops and branches in both engines, against the same loops and branches in Python."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import Executable, compile_module, held_by_each

COUNT = """cond {{
    %p = stablehlo.compare LT, %i, {limit} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>"""


@pytest.fixture(params=[True, False], ids=["fused", "plain"])
def fused(request: pytest.FixtureRequest) -> bool:
    """With fused blocks, and one call for each op."""
    return request.param


def compiled(text: str, fused: bool, threads: int | None = None) -> Executable:
    return compile_module(parse_module(text, "test.mlir"), fused=fused, threads=threads)


def check(executable: Executable, inputs, expected) -> None:
    """Runs twice: buffers are used again, and arguments stay as they are."""
    given = [np.array(array) for array in inputs]
    for _ in range(2):
        found = executable.run(given)
        for one, wanted in zip(found, expected, strict=True):
            assert one.shape == np.shape(wanted)
            assert one.dtype == np.asarray(wanted).dtype
            np.testing.assert_allclose(one.astype(np.float64), np.asarray(wanted, np.float64), rtol=1e-5)
        for before, after in zip(inputs, given, strict=True):
            np.testing.assert_array_equal(np.asarray(before), after)


def counting(signature: str, carried: str, types: str, body: str, result: str, limit: str = "%n") -> str:
    """A function that counts `%i` from 0 to `limit`, with other values carried along."""
    return f"""
func.func public @main{signature} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:{types.count("tensor") + 1} = stablehlo.while(%i = %zero, {carried}) : tensor<i32>, {types}
  {COUNT.format(limit=limit)}
    {body}
  }}
  {result}
}}"""


@pytest.mark.parametrize("rounds", [0, 1, 7])
def test_a_counter_and_a_sum(rounds: int, fused: bool) -> None:
    text = counting(
        "(%n: tensor<i32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>)",
        "%a = %x",
        "tensor<4xf32>",
        "%b = stablehlo.add %a, %a : tensor<4xf32>\nstablehlo.return %j, %b : tensor<i32>, tensor<4xf32>",
        "return %0#1, %0#0 : tensor<4xf32>, tensor<i32>",
    )
    x = np.arange(4, dtype=np.float32)
    executable = compiled(text, fused)
    check(executable, [np.int32(rounds), x], [x * 2**rounds, np.int32(rounds)])
    assert executable.ledger.runs == {"stablehlo.while at test.mlir:4:10": {"rounds": rounds, "starts": 1}}


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
@pytest.mark.parametrize("shape", [(), (5,), (0,), (3, 70000)])
def test_values_trade_places(rounds: int, shape: tuple[int, ...], fused: bool) -> None:
    kind = f"tensor<{''.join(f'{extent}x' for extent in shape)}f32>"
    text = counting(
        f"(%n: tensor<i32>, %x: {kind}, %y: {kind}) -> ({kind}, {kind})",
        "%a = %x, %b = %y",
        f"{kind}, {kind}",
        f"stablehlo.return %j, %b, %a : tensor<i32>, {kind}, {kind}",
        f"return %0#1, %0#2 : {kind}, {kind}",
    )
    x, y = np.full(shape, 1, np.float32), np.full(shape, 2, np.float32)
    check(compiled(text, fused), [np.int32(rounds), x, y], [x, y] if rounds % 2 == 0 else [y, x])


@pytest.mark.parametrize("limit", ["%n", "%c9"])
def test_fibonacci(limit: str, fused: bool) -> None:
    text = counting(
        "(%n: tensor<i32>, %x: tensor<3xi32>, %y: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>)",
        "%a = %x, %b = %y",
        "tensor<3xi32>, tensor<3xi32>",
        """%c = stablehlo.add %a, %b : tensor<3xi32>
    stablehlo.return %j, %b, %c : tensor<i32>, tensor<3xi32>, tensor<3xi32>""",
        "return %0#1, %0#2 : tensor<3xi32>, tensor<3xi32>",
        limit,
    ).replace("%zero =", "%c9 = stablehlo.constant dense<9> : tensor<i32>\n  %zero =", 1)
    a, b = np.array([0, 1, 5], np.int32), np.array([1, 1, -2], np.int32)
    inputs = [np.int32(9), a, b]
    for _ in range(9):
        a, b = b, a + b
    check(compiled(text, fused), inputs, [a, b])


def test_each_of_three_depends_on_the_others(fused: bool) -> None:
    kind = "tensor<2x3xf32>"
    text = counting(
        f"(%n: tensor<i32>, %x: {kind}, %y: {kind}, %z: {kind}) -> ({kind}, {kind}, {kind})",
        "%a = %x, %b = %y, %c = %z",
        f"{kind}, {kind}, {kind}",
        f"""%d = stablehlo.subtract %b, %c : {kind}
    %e = stablehlo.add %a, %c : {kind}
    %f = stablehlo.slice %a [0:2, 1:3] : ({kind}) -> tensor<2x2xf32>
    %g = stablehlo.slice %b [0:2, 0:1] : ({kind}) -> tensor<2x1xf32>
    %h = stablehlo.concatenate %f, %g, dim = 1 : (tensor<2x2xf32>, tensor<2x1xf32>) -> {kind}
    stablehlo.return %j, %d, %e, %h : tensor<i32>, {kind}, {kind}, {kind}""",
        f"return %0#1, %0#2, %0#3 : {kind}, {kind}, {kind}",
    )
    generator = np.random.default_rng(0)
    a, b, c = inputs = [generator.standard_normal((2, 3)).astype(np.float32) for _ in range(3)]
    for _ in range(4):
        a, b, c = b - c, a + c, np.concatenate([a[:, 1:], b[:, :1]], 1)
    check(compiled(text, fused), [np.int32(4), *inputs], [a, b, c])


def test_products_and_captured_values(fused: bool) -> None:
    text = counting(
        "(%n: tensor<i32>, %w: tensor<64x64xf32>, %x: tensor<8x64xf32>) -> tensor<8x64xf32>",
        "%h = %x",
        "tensor<8x64xf32>",
        """%0 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0]
        : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %1 = stablehlo.add %0, %x : tensor<8x64xf32>
    %2 = stablehlo.tanh %1 : tensor<8x64xf32>
    stablehlo.return %j, %2 : tensor<i32>, tensor<8x64xf32>""",
        "return %0#1 : tensor<8x64xf32>",
    )
    generator = np.random.default_rng(1)
    w, x = generator.standard_normal((64, 64)).astype(np.float32) / 8, generator.standard_normal((8, 64), np.float32)
    h = x
    for _ in range(6):
        h = np.tanh(h @ w + x)
    check(compiled(text, fused, threads=2), [np.int32(6), w, x], [h])


def test_what_a_loop_does_not_change_is_what_it_was(fused: bool) -> None:
    text = counting(
        "(%n: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)",
        "%a = %x, %b = %y",
        "tensor<4xf32>, tensor<4xf32>",
        """%c = stablehlo.multiply %a, %b : tensor<4xf32>
    stablehlo.return %j, %c, %b : tensor<i32>, tensor<4xf32>, tensor<4xf32>""",
        "return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>",
    )
    x, y = np.arange(4, dtype=np.float32), np.full(4, 3, np.float32)
    check(compiled(text, fused), [np.int32(3), x, y], [x * 27, y])


def test_the_condition_may_depend_on_data(fused: bool) -> None:
    text = """
func.func public @main(%x: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<f32>, tensor<i32>
  cond {
    %limit = stablehlo.constant dense<100.0> : tensor<f32>
    %most = stablehlo.constant dense<10> : tensor<i32>
    %1 = stablehlo.compare LT, %a, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.and %1, %2 : tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %a, %a : tensor<f32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}"""
    executable = compiled(text, fused)
    check(executable, [np.float32(3)], [np.float32(192), np.int32(6)])
    check(executable, [np.float32(0.001)], [np.float32(1.024), np.int32(10)])
    check(executable, [np.float32(100)], [np.float32(100), np.int32(0)])


NESTED = """
func.func public @main(%n: tensor<i32>, %m: tensor<i32>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %s = %zero) : tensor<i32>, tensor<3xf32>, tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %1:3 = stablehlo.while(%k = %i, %b = %a, %t = %s) : tensor<i32>, tensor<3xf32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %k, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %l = stablehlo.add %k, %j : tensor<i32>
      %f = stablehlo.convert %k : (tensor<i32>) -> tensor<f32>
      %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %c = stablehlo.add %b, %g : tensor<3xf32>
      %d = stablehlo.add %c, %a : tensor<3xf32>
      %u = stablehlo.add %t, %one : tensor<i32>
      stablehlo.return %l, %d, %u : tensor<i32>, tensor<3xf32>, tensor<i32>
    }
    stablehlo.return %j, %1#1, %1#2 : tensor<i32>, tensor<3xf32>, tensor<i32>
  }
  return %0#1, %0#2 : tensor<3xf32>, tensor<i32>
}"""


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0), (4, 9), (1, 1)])
def test_loops_in_loops(n: int, m: int, fused: bool) -> None:
    x = np.array([0.5, -1, 2], np.float32)
    a, total = x, 0
    for i in range(n):
        b, k = a, i
        while k < m:
            b, k, total = b + np.float32(k) + a, k + i + 1, total + 1
        a = b
    executable = compiled(NESTED, fused)
    check(executable, [np.int32(n), np.int32(m), x], [a, np.int32(total)])
    assert executable.ledger.runs.get("stablehlo.while at test.mlir:11:12", {"rounds": 0})["rounds"] == total


CASE = """
func.func public @main(%i: tensor<i32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = stablehlo.add %x, %x : tensor<4xf32>
  %0:2 = "stablehlo.case"(%i) ({
    stablehlo.return %x, %y : tensor<4xf32>, tensor<4xf32>
  }, {
    %1 = stablehlo.negate %y : tensor<4xf32>
    stablehlo.return %1, %1 : tensor<4xf32>, tensor<4xf32>
  }, {
    %c = stablehlo.constant dense<7.0> : tensor<4xf32>
    %1 = stablehlo.reverse %y, dims = [0] : tensor<4xf32>
    stablehlo.return %c, %1 : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}"""


@pytest.mark.parametrize("index", [-2, 0, 1, 2, 3, 1000])
def test_an_index_out_of_range_takes_the_last_branch(index: int, fused: bool) -> None:
    x = np.arange(4, dtype=np.float32)
    results = [(x, 2 * x), (-2 * x, -2 * x), (np.full(4, 7, np.float32), 2 * x[::-1])]
    executable = compiled(CASE, fused)
    taken = index if 0 <= index < 3 else 2
    check(executable, [np.int32(index), x], results[taken])
    assert executable.ledger.runs == {"stablehlo.case at test.mlir:4:10": {f"branch {taken}": 1}}


@pytest.mark.parametrize("index", [-2, 0, 1, 2, 3])
def test_a_constant_index_leaves_no_choice(index: int, fused: bool) -> None:
    text = CASE.replace("(%i: tensor<i32>, ", "(").replace(
        "%y =", f"%i = stablehlo.constant dense<{index}> : tensor<i32>\n  %y =", 1
    )
    x = np.arange(4, dtype=np.float32)
    results = [(x, 2 * x), (-2 * x, -2 * x), (np.full(4, 7, np.float32), 2 * x[::-1])]
    executable = compiled(text, fused)
    check(executable, [x], results[index if 0 <= index < 3 else 2])
    assert "if" not in executable.source


@pytest.mark.parametrize("truth", [True, False])
def test_if(truth: bool, fused: bool) -> None:
    text = """
func.func public @main(%p: tensor<i1>, %x: tensor<4xbf16>, %q: tensor<4xi1>) -> (tensor<4xbf16>, tensor<4xi1>) {
  %0:2 = "stablehlo.if"(%p) ({
    %1 = stablehlo.add %x, %x : tensor<4xbf16>
    stablehlo.return %1, %q : tensor<4xbf16>, tensor<4xi1>
  }, {
    %1 = stablehlo.not %q : tensor<4xi1>
    stablehlo.return %x, %1 : tensor<4xbf16>, tensor<4xi1>
  }) : (tensor<i1>) -> (tensor<4xbf16>, tensor<4xi1>)
  return %0#0, %0#1 : tensor<4xbf16>, tensor<4xi1>
}"""
    x, q = np.array([1, 2, 3.5, -1], ml_dtypes.bfloat16), np.array([True, False, True, True])
    check(compiled(text, fused), [np.bool_(truth), x, q], [x + x, q] if truth else [x, ~q])


@pytest.mark.parametrize("rounds", [0, 1, 6])
def test_branches_in_loops_and_loops_in_branches(rounds: int, fused: bool) -> None:
    text = counting(
        "(%n: tensor<i32>, %x: tensor<4xbf16>) -> tensor<4xbf16>",
        "%a = %x",
        "tensor<4xbf16>",
        """%three = stablehlo.constant dense<3> : tensor<i32>
    %r = stablehlo.remainder %i, %three : tensor<i32>
    %0 = "stablehlo.case"(%r) ({
      %1 = stablehlo.add %a, %x : tensor<4xbf16>
      stablehlo.return %1 : tensor<4xbf16>
    }, {
      stablehlo.return %a : tensor<4xbf16>
    }, {
      %1:2 = stablehlo.while(%k = %i, %b = %a) : tensor<i32>, tensor<4xbf16>
      cond {
        %five = stablehlo.constant dense<5> : tensor<i32>
        %2 = stablehlo.compare LT, %k, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %2 : tensor<i1>
      } do {
        %2 = stablehlo.add %k, %one : tensor<i32>
        %3 = stablehlo.negate %b : tensor<4xbf16>
        %4 = stablehlo.add %3, %x : tensor<4xbf16>
        stablehlo.return %2, %4 : tensor<i32>, tensor<4xbf16>
      }
      stablehlo.return %1#1 : tensor<4xbf16>
    }) : (tensor<i32>) -> tensor<4xbf16>
    stablehlo.return %j, %0 : tensor<i32>, tensor<4xbf16>""",
        "return %0#1 : tensor<4xbf16>",
    )
    x = a = np.array([1, -2, 0.5, 4], ml_dtypes.bfloat16)
    for i in range(rounds):
        if i % 3 == 0:
            a = a + x
        elif i % 3 == 2:
            for _ in range(i, 5):
                a = -a + x
    check(compiled(text, fused), [np.int32(rounds), x], [a])


def test_nothing_is_carried(fused: bool) -> None:
    text = """
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.while() cond {
    %p = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return
  }
  return %x : tensor<4xf32>
}"""
    x = np.arange(4, dtype=np.float32)
    check(compiled(text, fused), [x], [x])


def test_reductions_with_bodies_in_loops(fused: bool) -> None:
    text = counting(
        "(%n: tensor<i32>, %x: tensor<4x6xf32>) -> tensor<4x6xf32>",
        "%a = %x",
        "tensor<4x6xf32>",
        """%low = stablehlo.constant dense<-100.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %low) across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
     reducer(%e: tensor<f32>, %f: tensor<f32>) {
      %1 = stablehlo.compare GT, %e, %f : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %e, %f : tensor<i1>, tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }
    %b = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
    %c = stablehlo.subtract %a, %b : tensor<4x6xf32>
    %t = stablehlo.transpose %c, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %r = stablehlo.reshape %t : (tensor<6x4xf32>) -> tensor<4x6xf32>
    stablehlo.return %j, %r : tensor<i32>, tensor<4x6xf32>""",
        "return %0#1 : tensor<4x6xf32>",
    )
    a = x = np.random.default_rng(2).standard_normal((4, 6)).astype(np.float32)
    for _ in range(3):
        a = np.ascontiguousarray((a - a.max(1, keepdims=True)).T).reshape(4, 6)
    check(compiled(text, fused), [np.int32(3), x], [a])


SPREAD = """
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%x: tensor<2xf32> {dtensor.layout = #dtensor.layout<@mesh, [{"x"}]>,
                                          dtensor.global_type = tensor<8xf32>})
    -> (tensor<2xf32> {dtensor.layout = #dtensor.layout<@mesh, [{"x"}]>, dtensor.global_type = tensor<8xf32>}) {
  BODY
}"""


def test_what_is_carried_varies_as_what_the_body_makes_of_it(fused: bool) -> None:
    """The sum starts the same on all devices and differs from the second round on."""
    text = SPREAD.replace(
        "BODY",
        """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %start = stablehlo.constant dense<1.0> : tensor<2xf32>
  %other = stablehlo.constant dense<2.0> : tensor<2xf32>
  %0:3 = stablehlo.while(%i = %zero, %a = %start, %b = %other) : tensor<i32>, tensor<2xf32>, tensor<2xf32>
  """
        + COUNT.format(limit="%n")
        + """
    %c = stablehlo.add %b, %x : tensor<2xf32>
    stablehlo.return %j, %b, %c : tensor<i32>, tensor<2xf32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>""",
    )
    x = np.arange(8, dtype=np.float32)
    check(compiled(text, fused), [x], [2 + 2 * x])


DIFFERING = SPREAD.replace(
    "BODY",
    """
  %sum = stablehlo.constant dense<0.0> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %d = dtensor.axis_index @mesh {"x"} : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %p = stablehlo.compare LT, %i, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %b = stablehlo.add %a, %a : tensor<2xf32>
    MORE
    stablehlo.return %j, %b : tensor<i32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>""",
)


def test_a_condition_that_differs_between_devices(fused: bool) -> None:
    """Device d doubles its part d times."""
    x = np.arange(8, dtype=np.float32)
    check(compiled(DIFFERING.replace("MORE", ""), fused), [x], [x * 2 ** (np.arange(8, dtype=np.float32) // 2)])


def test_collectives_that_not_all_devices_reach_are_refused(fused: bool) -> None:
    more = '%r = dtensor.all_reduce sum @mesh {"x"} %b : (tensor<2xf32>) -> tensor<2xf32>'
    with pytest.raises(ShardwrightError, match="SW0608"):
        compiled(DIFFERING.replace("MORE", more), fused)
    # What nobody can run is refused there, and not where it is only asked what it would hold.
    assert held_by_each(parse_module(DIFFERING.replace("MORE", more), "test.mlir"), fused=fused) == 0
    assert held_by_each(parse_module(DIFFERING.replace("MORE", ""), "test.mlir"), fused=fused) > 0


def test_an_index_that_differs_between_devices(fused: bool) -> None:
    """Devices 0 to 3 take branches 0, 1, 2 and, out of range, 2 again; the loop of branch 1 would not end elsewhere."""
    text = SPREAD.replace(
        "BODY",
        """
  %d = dtensor.axis_index @mesh {"x"} : tensor<i32>
  %0 = "stablehlo.case"(%d) ({
    %1 = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }, {
    %1:2 = stablehlo.while(%i = %d, %a = %x) : tensor<i32>, tensor<2xf32>
    cond {
      %c = stablehlo.constant dense<5> : tensor<i32>
      %p = stablehlo.compare NE, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %j = stablehlo.add %i, %two : tensor<i32>
      %b = stablehlo.add %a, %a : tensor<2xf32>
      stablehlo.return %j, %b : tensor<i32>, tensor<2xf32>
    }
    stablehlo.return %1#1 : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>""",
    )
    x = np.arange(8, dtype=np.float32)
    check(compiled(text, fused), [x], [x * np.array([-1, -1, 4, 4, 1, 1, 1, 1], np.float32)])


def test_collectives_count_in_each_round(fused: bool) -> None:
    """Three rounds of an all-reduce of 2 floats over 4 devices: 2 * 3/4 * 8 bytes each."""
    text = SPREAD.replace(
        "BODY",
        """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2xf32>
  """
        + COUNT.format(limit="%n")
        + """
    %b = dtensor.all_reduce sum @mesh {"x"} %a : (tensor<2xf32>) -> tensor<2xf32>
    %c = stablehlo.add %b, %x : tensor<2xf32>
    stablehlo.return %j, %c : tensor<i32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>""",
    )
    executable = compiled(text, fused)
    x = a = np.arange(8, dtype=np.float32).reshape(4, 2)
    for _ in range(3):
        a = a.sum(0, keepdims=True) + x
    check(executable, [x.reshape(8)], [a.reshape(8)])
    assert executable.ledger.sent_bytes == 3 * 12
    assert executable.ledger.messages == 3


CHOSEN = SPREAD.replace(
    "BODY",
    """
  %i = stablehlo.constant dense<1> : tensor<i32>
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    %a = dtensor.all_reduce sum @mesh {"x"} %x : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>""",
)


def test_a_branch_that_sends_is_noted_though_its_index_is_constant(fused: bool) -> None:
    executable = compiled(CHOSEN, fused)
    x = np.arange(8, dtype=np.float32)
    check(executable, [x], [np.tile(x.reshape(4, 2).sum(0), 4)])
    assert executable.ledger.runs == {"stablehlo.case at test.mlir:8:8": {"branch 1": 1}}
    assert executable.ledger.sent_bytes == 12


def test_collectives_of_a_test_run_once_more_than_the_rest(fused: bool) -> None:
    text = SPREAD.replace(
        "BODY",
        """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2xf32>
  """
        + COUNT.format(limit="%n").replace(
            "stablehlo.return",
            '%s = dtensor.all_reduce sum @mesh {"x"} %a : (tensor<2xf32>) -> tensor<2xf32>\n    stablehlo.return',
        )
        + """
    stablehlo.return %j, %a : tensor<i32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>""",
    )
    executable = compiled(text, fused)
    x = np.arange(8, dtype=np.float32)
    check(executable, [x], [x])
    assert executable.ledger.sent_bytes == 4 * 12


def test_counters_of_known_loops_are_not_computed() -> None:
    text = counting(
        "(%x: tensor<4xf32>) -> tensor<4xf32>",
        "%a = %x",
        "tensor<4xf32>",
        "%b = stablehlo.add %a, %a : tensor<4xf32>\nstablehlo.return %j, %b : tensor<i32>, tensor<4xf32>",
        "return %0#1 : tensor<4xf32>",
        "%n",
    ).replace("%zero =", "%n = stablehlo.constant dense<9> : tensor<i32>\n  %zero =", 1)
    executable = compiled(text, fused=True)
    assert "range(9)" in executable.source
    assert "less" not in executable.source
    x = np.arange(4, dtype=np.float32)
    check(executable, [x], [x * 512])


def test_element_wise_loops_copy_nothing() -> None:
    text = counting(
        "(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32>",
        "%a = %x",
        "tensor<4xf32>",
        "%b = stablehlo.add %a, %x : tensor<4xf32>\nstablehlo.return %j, %b : tensor<i32>, tensor<4xf32>",
        "return %0#1 : tensor<4xf32>",
    )
    source = compiled(text, fused=True).source
    assert "copyto" not in source[source.index("for ") :]


SCAN = """
func.func public @main(%x: M, %s: I) -> (V, M, M) {
  %zero = stablehlo.constant dense<0> : I
  %one = stablehlo.constant dense<1> : I
  %n = stablehlo.constant dense<6> : I
  %h = stablehlo.constant dense<1.0> : V
  %y = stablehlo.constant dense<0.0> : M
  %0:4 = stablehlo.while(%i = %zero, %a = %h, %b = %y, %c = %x) : I, V, M, M
  cond {
    %p = stablehlo.compare LT, %i, %n : (I, I) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 5] : (M, I, I) -> ROW
    %2 = stablehlo.reshape %1 : (ROW) -> V
    %3 = stablehlo.add %a, %2 : V
    %4 = stablehlo.reshape %3 : (V) -> ROW
    %5 = stablehlo.add %i, %s : I
    %6 = stablehlo.dynamic_update_slice %b, %4, %5, %zero : (M, ROW, I, I) -> M
    %7 = stablehlo.dynamic_slice %c, %5, %one, sizes = [1, 3] : (M, I, I) -> PART
    %8 = stablehlo.dynamic_update_slice %c, %7, %i, %i : (M, PART, I, I) -> M
    %9 = stablehlo.dynamic_update_slice %8, %7, %zero, %zero : (M, PART, I, I) -> M
    %j = stablehlo.add %i, %one : I
    stablehlo.return %j, %3, %6, %9 : I, V, M, M
  }
  return %0#1, %0#2, %0#3 : V, M, M
}"""
for short, long in {"M": "6x5xf32", "V": "5xf32", "ROW": "1x5xf32", "PART": "1x3xf32", "I": "i32"}.items():
    SCAN = re.sub(rf"\b{short}\b", f"tensor<{long}>", SCAN)


@pytest.mark.parametrize("shift", [0, -2, 3, 100])
def test_slices_and_updates_in_loops(shift: int, fused: bool) -> None:
    """Starts are clamped, whatever they are; each round reads what the one before wrote."""
    x = np.random.default_rng(3).standard_normal((6, 5)).astype(np.float32)
    h, y, c = np.ones(5, np.float32), np.zeros((6, 5), np.float32), x.copy()
    for i in range(6):
        at = min(max(i + shift, 0), 5)
        h = h + x[i]
        y[at] = h
        part = c[at, 1:4].copy()
        c[i, min(i, 2) : min(i, 2) + 3] = part
        c[0, 0:3] = part
    check(compiled(SCAN, fused), [x, np.int32(shift)], [h, y, c])


def test_updates_of_what_is_carried_are_in_place() -> None:
    source = compiled(SCAN, fused=True).source
    loop = source[source.index("for ") :]
    assert loop.count("copyto") == 2  # the two slices that are read


def test_an_update_of_what_is_read_again_is_a_copy(fused: bool) -> None:
    text = """
func.func public @main(%x: tensor<6xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = stablehlo.add %x, %x : tensor<6xf32>
  %1 = stablehlo.dynamic_update_slice %0, %u, %i : (tensor<6xf32>, tensor<2xf32>, tensor<i32>) -> tensor<6xf32>
  %2 = stablehlo.subtract %1, %0 : tensor<6xf32>
  %3 = stablehlo.dynamic_update_slice %1, %u, %i : (tensor<6xf32>, tensor<2xf32>, tensor<i32>) -> tensor<6xf32>
  %4 = stablehlo.negate %3 : tensor<6xf32>
  return %2, %4 : tensor<6xf32>, tensor<6xf32>
}"""
    x, u = np.arange(6, dtype=np.float32), np.array([50, 60], np.float32)
    wanted = x + x
    wanted[3:5] = u
    check(compiled(text, fused), [x, u, np.int32(3)], [wanted - 2 * x, -wanted])
