"""Programs run by the fused engine and by the plain one, against NumPy."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import Executable, compile_module

plain = types.ModuleType("plain_numpy")
plain.__dict__.update(vars(np))


@pytest.fixture(params=["numpy", "plain_numpy"])
def namespace(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """NumPy with fused blocks, and NumPy as any other namespace: one call for each op."""
    monkeypatch.setitem(__import__("sys").modules, "plain_numpy", plain)
    return request.param


def compiled(signature: str, body: str, namespace: str = "numpy", threads: int | None = None) -> Executable:
    """A function `@main` with this signature and body."""
    text = f"func.func public @main{signature} {{\n{body}\n}}\n"
    return compile_module(parse_module(text, "test.mlir"), namespace=namespace, threads=threads)


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def check(executable: Executable, inputs: Sequence[Any], expected: Sequence[Any], rtol: float = 2e-5) -> None:
    """Runs twice: buffers are used again."""
    for _ in range(2):
        for found, wanted in zip(executable.run(inputs), expected, strict=True):
            assert found.shape == np.shape(wanted)
            np.testing.assert_allclose(found.astype(np.float64), np.asarray(wanted, np.float64), rtol=rtol, atol=1e-4)


@pytest.mark.parametrize("rows", [3, 300, 3000])
def test_softmax(rows: int, namespace: str) -> None:
    executable = compiled(
        f"(%x: tensor<{rows}x65xf32>) -> tensor<{rows}x65xf32>",
        f"""
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<{rows}x65xf32>, tensor<f32>) -> tensor<{rows}xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<{rows}xf32>) -> tensor<{rows}x65xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<{rows}x65xf32>
  %3 = stablehlo.exponential %2 : tensor<{rows}x65xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<{rows}x65xf32>, tensor<f32>) -> tensor<{rows}xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<{rows}xf32>) -> tensor<{rows}x65xf32>
  %6 = stablehlo.divide %3, %5 : tensor<{rows}x65xf32>
  return %6 : tensor<{rows}x65xf32>""",
        namespace,
    )
    x = random(rows, 65)
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    check(executable, [x], [powers / powers.sum(1, keepdims=True)])
    if namespace == "numpy" and rows > 3:
        assert executable.source.count("def tile") == 1


def test_rows_columns_and_scalars_meet_in_one_program(namespace: str) -> None:
    executable = compiled(
        "(%x: tensor<500x300xf32>, %b: tensor<300xf32>) -> (tensor<500x300xf32>, tensor<300xf32>, tensor<f32>)",
        """
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<300xf32>
  %0 = stablehlo.multiply %b, %two : tensor<300xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<300xf32>) -> tensor<500x300xf32>
  %2 = stablehlo.add %x, %1 : tensor<500x300xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<500x300xf32>, tensor<f32>) -> tensor<300xf32>
  %4 = stablehlo.subtract %3, %b : tensor<300xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<300xf32>) -> tensor<500x300xf32>
  %6 = stablehlo.multiply %2, %5 : tensor<500x300xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<500x300xf32>, tensor<f32>) -> tensor<f32>
  return %6, %4, %7 : tensor<500x300xf32>, tensor<300xf32>, tensor<f32>""",
        namespace,
    )
    x, b = random(500, 300), random(300, seed=1)
    shifted = x.astype(np.float64) + 2 * b
    columns = shifted.sum(0) - b
    check(executable, [x, b], [shifted * columns, columns, (shifted * columns).sum()], rtol=2e-4)


DOTS: list[tuple[str, tuple[int, ...], tuple[int, ...], str, str]] = [
    ("contracting_dims = [1] x [0]", (64, 96), (96, 80), "64x80", "ik,kj->ij"),
    ("contracting_dims = [0] x [0]", (96, 64), (96, 80), "64x80", "ki,kj->ij"),
    ("contracting_dims = [0] x [1]", (96, 64), (80, 96), "64x80", "ki,jk->ij"),
    ("contracting_dims = [0, 1] x [0, 1]", (8, 16, 5), (8, 16, 7), "5x7", "abi,abj->ij"),
    ("contracting_dims = [1, 0] x [0, 1]", (8, 16, 5), (16, 8, 7), "5x7", "abi,baj->ij"),
    (
        "batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]",
        (2, 9, 3, 4),
        (2, 6, 3, 4),
        "2x3x9x6",
        "aibk,ajbk->abij",
    ),
    ("batching_dims = [0] x [1], contracting_dims = [2] x [0]", (3, 5, 4), (4, 3, 6), "3x5x6", "bik,kbj->bij"),
    ("contracting_dims = [] x []", (5,), (6,), "5x6", "i,j->ij"),
    ("contracting_dims = [0] x [0]", (50,), (50,), "", "k,k->"),
    ("contracting_dims = [1] x [0]", (300, 400), (400, 500), "300x500", "ik,kj->ij"),
]


@pytest.mark.parametrize(("dims", "left", "right", "shape", "einsum"), DOTS)
def test_dot_general(
    dims: str, left: tuple[int, ...], right: tuple[int, ...], shape: str, einsum: str, namespace: str
) -> None:
    lhs, rhs = ("x".join([*map(str, s), "f32"]) for s in (left, right))
    result = f"{shape}xf32" if shape else "f32"
    executable = compiled(
        f"(%a: tensor<{lhs}>, %b: tensor<{rhs}>) -> tensor<{result}>",
        f"""
  %0 = stablehlo.dot_general %a, %b, {dims} : (tensor<{lhs}>, tensor<{rhs}>) -> tensor<{result}>
  return %0 : tensor<{result}>""",
        namespace,
    )
    a, b = random(*left), random(*right, seed=1)
    check(executable, [a, b], [np.einsum(einsum, a.astype(np.float64), b)], rtol=1e-4)


def test_a_product_is_written_in_the_order_of_its_transpose(namespace: str) -> None:
    executable = compiled(
        "(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %w: tensor<48x64xf32>) -> tensor<48x64xf32>",
        """
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<64x48xf32>) -> tensor<48x64xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<48x64xf32>
  return %2 : tensor<48x64xf32>""",
        namespace,
    )
    a, b, w = random(64, 32), random(32, 48, seed=1), random(48, 64, seed=2)
    check(executable, [a, b, w], [w - (a @ b).T], rtol=1e-4)


SHAPE_OPS: list[tuple[str, str, tuple[int, ...], Callable[[Any], Any]]] = [
    ("stablehlo.transpose %x, dims = [1, 2, 0]", "6x5x4", (4, 6, 5), lambda x: x.transpose(1, 2, 0)),
    ("stablehlo.reshape %x", "4x30", (4, 6, 5), lambda x: x.reshape(4, 30)),
    ("stablehlo.slice %x [1:4, 0:6:2, 2:5]", "3x3x3", (4, 6, 5), lambda x: x[1:4, 0:6:2, 2:5]),
    ("stablehlo.reverse %x, dims = [0, 2]", "4x6x5", (4, 6, 5), lambda x: x[::-1, :, ::-1]),
    ("stablehlo.concatenate %x, %x, dim = 1", "4x12x5", (4, 6, 5), lambda x: np.concatenate([x, x], 1)),
    (
        "stablehlo.broadcast_in_dim %x, dims = [2, 0]",
        "5x3x4",
        (4, 5),
        lambda x: np.broadcast_to(x.T[:, None], (5, 3, 4)),
    ),
    (
        "stablehlo.pad %x, %c, low = [1, -1], high = [0, 2], interior = [1, 0]",
        "8x6",
        (4, 5),
        lambda x: np.pad(np.insert(x, [1, 2, 3], 1, 0)[:, 1:], [(1, 0), (0, 2)], constant_values=1),
    ),
]


@pytest.mark.parametrize(("op", "shape", "source", "reference"), SHAPE_OPS)
def test_shape_ops(
    op: str, shape: str, source: tuple[int, ...], reference: Callable[[Any], Any], namespace: str
) -> None:
    operand, result = f"tensor<{'x'.join(map(str, source))}xf32>", f"tensor<{shape}xf32>"
    types_of = operand
    if "concatenate" in op:
        types_of = f"({operand}, {operand}) -> {result}"
    elif "pad" in op:
        types_of = f"({operand}, tensor<f32>) -> {result}"
    elif "reverse" not in op:
        types_of = f"({operand}) -> {result}"
    executable = compiled(
        f"(%x: {operand}) -> ({result}, {result})",
        f"""
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = {op} : {types_of}
  %1 = stablehlo.add %0, %0 : {result}
  return %0, %1 : {result}, {result}""",
        namespace,
    )
    x = random(*source)
    check(executable, [x], [reference(x), 2 * reference(x)])


def test_argmax_folds_any_body(namespace: str) -> None:
    executable = compiled(
        "(%x: tensor<7x13xf32>) -> (tensor<7xf32>, tensor<7xi32>)",
        """
  %i = stablehlo.iota dim = 1 : tensor<7x13xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %low), (%i init: %c) across dimensions = [1]
      : (tensor<7x13xf32>, tensor<7x13xi32>, tensor<f32>, tensor<i32>) -> (tensor<7xf32>, tensor<7xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>)  {
    %2 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
    %4 = stablehlo.select %2, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %3, %4 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<7xf32>, tensor<7xi32>""",
        namespace,
    )
    x = random(7, 13)
    check(executable, [x], [x.max(1), x.argmax(1)])


def test_bfloat16_rounds_after_each_op_and_sums_products_wide(namespace: str) -> None:
    executable = compiled(
        "(%a: tensor<8x64xbf16>, %b: tensor<64x8xbf16>) -> (tensor<8x8xbf16>, tensor<8x64xbf16>)",
        """
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<8x64xbf16>, tensor<64x8xbf16>) -> tensor<8x8xbf16>
  %1 = stablehlo.multiply %a, %a : tensor<8x64xbf16>
  %2 = stablehlo.add %1, %a : tensor<8x64xbf16>
  return %0, %2 : tensor<8x8xbf16>, tensor<8x64xbf16>""",
        namespace,
    )
    a, b = random(8, 64).astype(ml_dtypes.bfloat16), random(64, 8, seed=1).astype(ml_dtypes.bfloat16)
    wide = a.astype(np.float32)
    square = (wide * wide).astype(ml_dtypes.bfloat16).astype(np.float32)
    product = (wide @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    check(executable, [a, b], [product.astype(np.float64), (square + wide).astype(ml_dtypes.bfloat16)], rtol=8e-3)


def test_bytes_multiply_into_wide_integers(namespace: str) -> None:
    executable = compiled(
        "(%a: tensor<3x40xi8>, %b: tensor<40x2xi8>) -> tensor<3x2xi32>",
        """
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<3x40xi8>, tensor<40x2xi8>) -> tensor<3x2xi32>
  return %0 : tensor<3x2xi32>""",
        namespace,
    )
    a, b = np.full((3, 40), 100, np.int8), np.full((40, 2), 100, np.int8)
    check(executable, [a, b], [np.full((3, 2), 400000)])


def test_integers_booleans_and_masks(namespace: str) -> None:
    executable = compiled(
        "(%x: tensor<300x300xf32>, %n: tensor<300xi32>, %p: tensor<i1>)"
        " -> (tensor<300x300xf32>, tensor<300xi32>, tensor<300x300xf32>)",
        """
  %i = stablehlo.iota dim = 0 : tensor<300x300xi32>
  %j = stablehlo.iota dim = 1 : tensor<300x300xi32>
  %0 = stablehlo.compare GE, %i, %j, SIGNED : (tensor<300x300xi32>, tensor<300x300xi32>) -> tensor<300x300xi1>
  %low = stablehlo.constant dense<-1.0e9> : tensor<300x300xf32>
  %1 = stablehlo.select %0, %x, %low : tensor<300x300xi1>, tensor<300x300xf32>
  %c = stablehlo.constant dense<7> : tensor<300xi32>
  %2 = stablehlo.divide %n, %c : tensor<300xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<300x300xf32>
  %3 = stablehlo.compare GT, %x, %zero, FLOAT : (tensor<300x300xf32>, tensor<300x300xf32>) -> tensor<300x300xi1>
  %4 = stablehlo.select %3, %x, %zero : tensor<300x300xi1>, tensor<300x300xf32>
  %5 = stablehlo.select %p, %4, %1 : tensor<i1>, tensor<300x300xf32>
  return %1, %2, %5 : tensor<300x300xf32>, tensor<300xi32>, tensor<300x300xf32>""",
        namespace,
    )
    x, n = random(300, 300), np.arange(-150, 150, dtype=np.int32)
    tril = np.where(np.tril(np.ones((300, 300), bool)), x, np.float32(-1e9))
    check(executable, [x, n, np.bool_(True)], [tril, np.trunc(n / 7), np.maximum(x, 0)])
    check(executable, [x, n, np.bool_(False)], [tril, np.trunc(n / 7), tril])


def test_results_may_be_arguments_constants_and_views(namespace: str) -> None:
    executable = compiled(
        "(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>, tensor<4xi32>, tensor<2xi8>, tensor<2x3xf32>)",
        """
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %2 = stablehlo.constant dense<5> : tensor<2xi8>
  return %x, %0, %1, %2, %x : tensor<2x3xf32>, tensor<3x2xf32>, tensor<4xi32>, tensor<2xi8>, tensor<2x3xf32>""",
        namespace,
    )
    x = random(2, 3)
    check(executable, [x], [x, x.T, [1, 2, 3, 4], [5, 5], x])
    assert not any(np.shares_memory(result, x) for result in executable.run([x]))


def test_calls_run_in_place(namespace: str) -> None:
    text = """
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
    executable = compile_module(parse_module(text, "test.mlir"), namespace=namespace)
    check(executable, [np.float32([1, 2, 3, 4])], [[4, 8, 12, 16]])


def test_one_thread_gives_the_same_as_two() -> None:
    signature = "(%x: tensor<400x400xf32>) -> tensor<400x400xf32>"
    body = """
  %0 = stablehlo.tanh %x : tensor<400x400xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0]
      : (tensor<400x400xf32>, tensor<400x400xf32>) -> tensor<400x400xf32>
  return %1 : tensor<400x400xf32>"""
    x = random(400, 400)
    one, two = (compiled(signature, body, threads=threads).run([x])[0] for threads in (1, 2))
    np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-5)


def test_what_is_made_of_one_number_is_shared_out() -> None:
    """An operation on single elements before it leaves a wide one its blocks: two threads take half of them each."""
    executable = compiled(
        "(%x: tensor<400x400xf32>, %s: tensor<f32>) -> tensor<400x400xf32>",
        """
  %0 = stablehlo.exponential %s : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<400x400xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<400x400xf32>
  %3 = stablehlo.tanh %2 : tensor<400x400xf32>
  return %3 : tensor<400x400xf32>""",
        threads=2,
    )
    x = random(400, 400)
    check(executable, [x, np.float32(0.5)], [np.tanh(x * np.exp(np.float64(0.5)))])
    assert re.findall(r"crew\.tiles\(tile\d+, (\d+), (\d+), (\d+)", executable.source) == [("1", "160000", "80000")]


def error_of(action: Callable[[], Any]) -> str:
    with pytest.raises(ShardwrightError) as caught:
        action()
    return str(caught.value)


def test_wrong_arguments_are_named() -> None:
    executable = compiled("(%x: tensor<2x3xf32>) -> tensor<2x3xf32>", "  return %x : tensor<2x3xf32>")
    text = error_of(lambda: executable.run([np.zeros((3, 2), np.float32)]))
    assert "SW0602" in text
    assert "argument 0 is float32[3, 2], but the program takes float32[2, 3]" in text
    assert "SW0602" in error_of(lambda: executable.run([]))


def test_all_ops_without_a_kernel_are_named_at_once() -> None:
    body = """
  %0 = "stablehlo.first_of_two"(%x) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = "stablehlo.second_of_two"(%x) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>"""
    from xdsl.parser import Parser

    from shardwright.dialects import make_context

    context = make_context()
    context.allow_unregistered = True
    text = f"func.func public @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {{{body}\n}}"
    module = Parser(context, text).parse_module()
    message = error_of(lambda: compile_module(module))
    assert message.count("SW0601") == 2


def test_a_recursive_function_is_refused() -> None:
    text = """
func.func public @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @main(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""
    assert "SW0604" in error_of(lambda: compile_module(parse_module(text, "test.mlir")))


def test_a_module_without_main_is_refused() -> None:
    text = "func.func private @other(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n"
    assert "SW0605" in error_of(lambda: compile_module(parse_module(text, "test.mlir")))


def test_a_result_that_varies_where_its_layout_does_not_is_refused() -> None:
    text = """
dtensor.mesh @mesh = <["x"=4]>
func.func public @main() -> tensor<i32> {
  %0 = dtensor.axis_index @mesh {"x"} : tensor<i32>
  return %0 : tensor<i32>
}
"""
    assert "SW0606" in error_of(lambda: compile_module(parse_module(text, "test.mlir")))


SPLIT_PRODUCT = """
dtensor.mesh @mesh = <["x"=2]>
func.func public @main(
    %a: tensor<4x2xf32> {dtensor.layout = #dtensor.layout<@mesh, [{}, {"x"}]>, dtensor.global_type = tensor<4x4xf32>},
    %b: tensor<2x8xf32> {dtensor.layout = #dtensor.layout<@mesh, [{"x"}, {}]>, dtensor.global_type = tensor<4x8xf32>})
    -> (tensor<4x8xf32> {dtensor.layout = #dtensor.layout<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %1 = dtensor.all_reduce sum @mesh {"x"} %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
"""


def test_unfused_every_device_makes_its_own_partial_product() -> None:
    module = parse_module(SPLIT_PRODUCT, "test.mlir")
    fused, unfused = compile_module(module), compile_module(module, fused=False)
    a, b = random(4, 4), random(4, 8, seed=1)
    for executable in (fused, unfused):
        check(executable, [a, b], [a @ b])
        assert executable.ledger.sent_bytes == 4 * 8 * 4
    # The partial sums of device 0 overflow upwards and those of device 1 downwards: only their sum shows it.
    a, b = np.full((4, 4), 3e38, np.float32), np.ones((4, 8), np.float32)
    a[:, 2:] *= -1
    assert np.isnan(unfused.run([a, b])[0]).all()


def test_peak_bytes_counts_results_and_intermediates() -> None:
    size = 512 * 512 * 4
    one = (
        "(%x: tensor<512x512xf32>) -> tensor<512x512xf32>",
        ("  %0 = stablehlo.add %x, %x : tensor<512x512xf32>\n  return %0 : tensor<512x512xf32>"),
    )
    product = (
        one[0],
        (
            "  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]"
            " : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>\n"
            "  %1 = stablehlo.dot_general %0, %0, contracting_dims = [0] x [1]"
            " : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>\n"
            "  return %1 : tensor<512x512xf32>"
        ),
    )
    for fused in (True, False):
        for (signature, body), expected in ((one, size), (product, 2 * size)):
            module = parse_module(f"func.func public @main{signature} {{\n{body}\n}}\n", "test.mlir")
            assert compile_module(module, fused=fused).peak_bytes == expected


@pytest.mark.parametrize(
    ("left", "right", "result", "dims"),
    [
        ((0, 8), (0, 8), (8, 8), "contracting_dims = [0] x [0]"),
        ((5, 0), (0, 3), (5, 3), "contracting_dims = [1] x [0]"),
        ((4, 6, 0), (4, 6, 0), (6, 0, 6, 0), "contracting_dims = [0] x [0]"),
        ((3, 0), (0,), (3,), "contracting_dims = [1] x [0]"),
        ((2, 3, 0), (2, 3, 0), (2,), "batching_dims = [0] x [0], contracting_dims = [1, 2] x [1, 2]"),
        ((0, 3, 2), (0, 3, 2), (0, 3, 3), "batching_dims = [0] x [0], contracting_dims = [2] x [2]"),
    ],
)
def test_a_sum_of_no_products_is_zero(
    left: tuple[int, ...], right: tuple[int, ...], result: tuple[int, ...], dims: str, namespace: str
) -> None:
    a, b, c = (f"tensor<{''.join(f'{extent}x' for extent in shape)}" for shape in (left, right, result))
    executable = compiled(
        f"(%a: {a}i8>, %b: {b}i8>) -> ({c}i32>, {c}i32>)",
        f"""
  %0 = stablehlo.dot_general %a, %b, {dims} : ({a}i8>, {b}i8>) -> {c}i32>
  %1 = stablehlo.add %0, %0 : {c}i32>
  return %0, %1 : {c}i32>, {c}i32>""",
        namespace,
    )
    check(executable, [np.ones(left, np.int8), np.ones(right, np.int8)], [np.zeros(result)] * 2)


def test_a_scalar_meets_equal_elements(namespace: str) -> None:
    executable = compiled(
        "(%none: tensor<0x4xf32>, %low: tensor<f32>, %take: tensor<i1>) -> (tensor<4xf32>, tensor<3xf32>)",
        """
  %0 = stablehlo.reduce(%none init: %low) applies stablehlo.maximum across dimensions = [0]
      : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<3xf32>
  %two = stablehlo.constant dense<2.0> : tensor<3xf32>
  %1 = stablehlo.select %take, %one, %two : tensor<i1>, tensor<3xf32>
  return %0, %1 : tensor<4xf32>, tensor<3xf32>""",
        namespace,
    )
    check(executable, [np.empty((0, 4), np.float32), np.float32(3), np.bool_(True)], [np.full(4, 3), np.ones(3)])


@pytest.mark.parametrize("kind", ["i8", "i32", "i64", "ui8", "ui32"])
def test_shifts_by_any_amount(kind: str, namespace: str) -> None:
    """Amounts count as unsigned: from the width on nothing is left, or the sign."""
    dtype, width = np.dtype({"u": "uint", "i": "int"}[kind[0]] + kind.lstrip("ui")), int(kind.lstrip("ui"))
    names = ["left", "right_arithmetic", "right_logical"]
    lines = [f"%{at} = stablehlo.shift_{name} %x, %a : tensor<4xKIND>" for at, name in enumerate(names)]
    types = ", ".join(["tensor<4xKIND>"] * 3)
    body = "\n".join([*lines, f"return %0, %1, %2 : {types}"]).replace("KIND", kind)
    signature = f"(%x: tensor<4xKIND>, %a: tensor<4xKIND>) -> ({types})".replace("KIND", kind)
    executable = compiled(signature, body, namespace)
    limits = np.iinfo(dtype)
    x = np.array([limits.max, limits.min, 5, limits.max // 3], dtype)
    for amount in (0, 1, width - 1, width, limits.max, limits.min):
        by = amount % (1 << width)
        bits, signed = [int(v) % (1 << width) for v in x], x.astype(f"i{width // 8}")
        wanted = [
            [(v << by) % (1 << width) if by < width else 0 for v in bits],
            [int(v) >> min(by, width - 1) for v in signed],
            [v >> by if by < width else 0 for v in bits],
        ]
        for found, right in zip(executable.run([x, np.full(4, amount, dtype)]), wanted, strict=True):
            assert [int(v) % (1 << width) for v in found] == [v % (1 << width) for v in right]
