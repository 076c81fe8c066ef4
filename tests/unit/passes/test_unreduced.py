"""Partial results that who wrote the program asks for: values as without, nothing finished for them, nothing sent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.pipelines import run_pipeline
from shardwright.compiler.report import predicted_bytes
from shardwright.compiler.tracing.dtypes import as_dtype
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.proof import certify
from shardwright.runtime.executable import compile_module

MESH = sw.Mesh(x=4, y=2)


def layout(*dims: str, over: str, kind: str = "sum") -> str:
    return f"#dtensor.layout<@mesh, [{', '.join(f'{{{dim}}}' for dim in dims)}], unreduced={kind}{{{over}}}>"


def program(body: str, *arguments: str, result: str = "tensor<8x8xf32>") -> str:
    listed = ", ".join(f"%{name}: {type_}" for name, type_ in zip("ab", arguments, strict=False))
    return f"""
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main({listed}) -> {result} {{
{body}
}}
"""


def ran(text: str, *inputs: np.ndarray) -> tuple[list[np.ndarray], Fraction | None, str]:
    """The results of a program, the bytes that it is said to send, which are those counted, and its local text."""
    module = parse_module(text, "program.mlir")
    run_pipeline(module, ["plan"], verify_each=True)
    predicted = predicted_bytes(module)
    run_pipeline(module, ["localize"], verify_each=True)
    executable = compile_module(module)
    plain = compile_module(module, fused=False)
    found = executable.run(list(inputs))
    for one, other in zip(found, plain.run(list(inputs)), strict=True):
        np.testing.assert_allclose(one.astype("complex128"), other.astype("complex128"), rtol=1e-5, atol=1e-5)
    assert executable.ledger.sent_bytes == predicted
    return found, predicted, str(module)


ROWS = 'tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>'
PLAIN = "tensor<8x8xf32>"
SUM_X = layout("", "", over='"x"')


def constraint(name: str, source: str, asked: str, type_: str = PLAIN) -> str:
    return f"  %{name} = dtensor.constraint %{source} : {type_} -> {type_[:-1]}, {asked}>\n"


def returned(name: str, asked: str, type_: str = PLAIN) -> str:
    return f"  return %{name} : {type_[:-1]}, {asked}>"


A, B = (np.random.default_rng(seed).standard_normal((8, 8)).astype("float32") for seed in range(2))

GRADIENT = f"  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : ({ROWS}, {ROWS}) -> {PLAIN}\n"


def test_a_program_without_ops_finishes_what_comes_in_parts() -> None:
    partly = f"{PLAIN[:-1]}, {SUM_X}>"
    (found,), sent, local = ran(program(f"  return %a : {partly}", partly, result=partly), A)
    assert np.array_equal(found, A)
    assert sent == 2 * Fraction(3, 4) * A.nbytes
    assert local.count("all_reduce") == 1


def test_a_sum_that_is_asked_for_in_parts_is_not_finished() -> None:
    text = program(
        GRADIENT + constraint("1", "0", SUM_X) + returned("1", SUM_X), ROWS, ROWS, result=f"{PLAIN[:-1]}, {SUM_X}>"
    )
    (found,), sent, local = ran(text, A, B)
    np.testing.assert_allclose(found, A.T @ B, rtol=1e-5, atol=1e-5)
    assert sent == 0
    assert "all_reduce" not in local


def test_what_another_reader_needs_finished_is_finished_once() -> None:
    body = GRADIENT + constraint("1", "0", SUM_X) + f"  %2 = stablehlo.tanh %0 : {PLAIN}\n"
    text = program(
        body + f"  return %1, %2 : {PLAIN[:-1]}, {SUM_X}>, {PLAIN}",
        ROWS,
        ROWS,
        result=f"({PLAIN[:-1]}, {SUM_X}>, {PLAIN})",
    )
    (found, other), sent, _ = ran(text, A, B)
    np.testing.assert_allclose(found, A.T @ B, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(other, np.tanh(A.T @ B), rtol=1e-5, atol=1e-5)
    assert sent is not None
    assert sent <= Fraction(2 * 3, 4) * 8 * 8 * 4


@pytest.mark.parametrize(
    ("asked", "least"),
    [
        (SUM_X, 0),
        (layout("", "", over='"y"'), Fraction(2 * 3, 4) * 256),
        (layout("", "", over='"x", "y"'), 0),
        (layout("", "", over='"x":(2)2'), Fraction(2, 2) * 256),
        (layout('"y"', "", over='"x"'), 0),
        (layout("", '"x":(1)2', over='"x":(2)2'), Fraction(1, 2) * 256),
    ],
)
def test_a_sum_over_other_axes_is_finished_over_those_alone_that_are_not_asked_for(asked: str, least: Fraction) -> None:
    text = program(
        GRADIENT + constraint("1", "0", asked) + returned("1", asked), ROWS, ROWS, result=f"{PLAIN[:-1]}, {asked}>"
    )
    (found,), sent, _ = ran(text, A, B)
    np.testing.assert_allclose(found, A.T @ B, rtol=1e-5, atol=1e-5)
    assert sent is not None
    assert sent <= least


ELEMENTS = {
    "f32": "float32",
    "f64": "float64",
    "bf16": "bfloat16",
    "i32": "int32",
    "ui8": "uint8",
    "i1": "bool",
    "complex<f64>": "complex128",
}


INTEGERS = ("i32", "ui8", "i1")
COMBINING = [
    *((kind, element) for kind in ("sum", "prod") for element in ELEMENTS),
    *((kind, element) for kind in ("max", "min") for element in ELEMENTS if not element.startswith("complex")),
    *((kind, element) for kind in ("and", "or") for element in INTEGERS),
]


@pytest.mark.parametrize(("kind", "element"), COMBINING)
def test_what_is_finished_becomes_parts_of_each_kind(kind: str, element: str) -> None:
    """One device has the value, the others what adds nothing."""
    floating = element not in INTEGERS
    type_ = f"tensor<4x{element}>"
    asked = layout("", over='"x", "y"', kind=kind)
    text = program(
        constraint("0", "a", asked, type_) + returned("0", asked, type_), type_, result=f"{type_[:-1]}, {asked}>"
    )
    numbers = [0.0, 1e30, 2.0, -3.5] if element.startswith("complex") else [0.0, np.nan, np.inf, -3.5]
    given = np.array(numbers if floating else [0, 1, 3, 200])
    given = given.astype(as_dtype(ELEMENTS[element]))
    (found,), sent, _ = ran(text, given)
    assert sent == 0
    np.testing.assert_array_equal(found.astype("complex128"), given.astype("complex128"))


def test_constants_and_positions_are_counted_once() -> None:
    body = f"  %0 = stablehlo.iota dim = 1 : {PLAIN}\n" + constraint("1", "0", SUM_X) + returned("1", SUM_X)
    (found,), sent, _ = ran(program(body, result=f"{PLAIN[:-1]}, {SUM_X}>"))
    np.testing.assert_array_equal(found, np.broadcast_to(np.arange(8, dtype="float32"), (8, 8)))
    assert sent == 0


def test_sums_are_added_up_in_parts_and_reduced_once() -> None:
    """As gradients of microbatches are: a function adds to parts, and only who wants the sum sends anything."""
    rows, parts = sw.Layout(["x", None], MESH), sw.Layout.from_string('[{}, {}], unreduced=sum{"x"}', MESH)

    @sw.function
    def add(total: sw.Array, x: sw.Array, y: sw.Array) -> sw.Array:
        return sw.constraint(total + x.T @ y, parts)

    x, y = (sw.relayout(each, rows) for each in (A, B))
    total = sw.relayout(np.zeros((8, 8), "float32"), parts)
    assert total.layout == parts
    for _ in range(3):
        total = add(total, x, y)
    assert add.trace(total, x, y).partition().predicted_bytes == 0
    np.testing.assert_allclose(np.asarray(total), 3 * (A.T @ B), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(np.asarray(sw.relayout(total, sw.Layout([], MESH))), 3 * (A.T @ B), rtol=1e-5, atol=1e-4)


def test_parts_asked_for_inside_of_a_loop() -> None:
    def shifted(x: sw.Array) -> sw.Array:
        parts = sw.Layout.from_string('[{}, {}], unreduced=sum{"x"}', MESH)
        rows = sw.Layout(["x", None], MESH)

        def body(carry: Any) -> Any:
            at, held = carry
            return at + 1, sw.relayout(sw.tanh(sw.constraint(held.T @ held, parts)), rows)

        return sw.while_loop(lambda carry: carry[0] < 3, body, (0, x))[1]

    rows = sw.Layout(["x", None], MESH)
    expected = A
    for _ in range(3):
        expected = np.tanh(expected.T @ expected)
    found = sw.function(shifted)(sw.relayout(A, rows))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-4)


SHARDY = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}, tensor<8x8xf32>) {
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {"y"}], unreduced={"x"}> : tensor<8x8xf32>
  %1 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %2 = stablehlo.tanh %1 : tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
"""


@pytest.mark.parametrize(("target", "sent"), [('[{}, {"y"}]', 0), ("[{}, {}]", 256 // 8)])
def test_axes_of_dims_become_those_of_partial_results_where_they_are(target: str, sent: int) -> None:
    """Whoever has an eighth lacks another one along the columns, if anything; never the rows of others."""
    text = f"""
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}})
    -> (tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {target}, unreduced={{"x"}}>}}) {{
  %0 = sdy.sharded_to_unreduced [{{"x"}}, {{}}] %a out_sharding=<@mesh, [{{}}, {{"y"}}], unreduced={{"x"}}>
      : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}
"""
    (found,), predicted, local = ran(text, A)
    np.testing.assert_array_equal(found, A)
    assert predicted == sent
    assert "dtensor.unscatter" in local


def test_what_shardy_leaves_unreduced() -> None:
    (parts, whole), _, _ = ran(SHARDY, A)
    np.testing.assert_array_equal(parts, A)
    np.testing.assert_allclose(whole, np.tanh(A), rtol=1e-6)


@pytest.mark.parametrize("over", ['"x"', '"y"', '"x", "y"'])
def test_parts_that_are_asked_for_are_proved(over: str) -> None:
    asked = layout("", "", over=over)
    text = program(
        GRADIENT + constraint("1", "0", asked) + returned("1", asked), ROWS, ROWS, result=f"{PLAIN[:-1]}, {asked}>"
    )
    traced = parse_module(text, "program.mlir")
    planned = traced.clone()
    run_pipeline(planned, ["plan"], verify_each=True)
    local = planned.clone()
    run_pipeline(local, ["localize"], verify_each=True)
    proof = certify(traced, planned, local)
    assert proof.proved, proof


LOOP = """
sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func public @main(%n: tensor<i32>, %a: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %r0, %r1 = stablehlo.while(%i = %n, %h = %a) : tensor<i32>, tensor<2x8xf32>
  cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %more = stablehlo.compare LT, %zero, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %0 = sdy.reshard %h <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<2x8xf32>
    %1 = sdy.reshard %0 <@mesh, [{}, {"x"}], unreduced={"y"}> : tensor<2x8xf32>
    %2 = stablehlo.tanh %1 : tensor<2x8xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.return %next, %2 : tensor<i32>, tensor<2x8xf32>
  }
  return %r1 : tensor<2x8xf32>
}
"""


def test_one_request_behind_another_in_a_loop() -> None:
    """Random programs (loops 8100549) found that why it is finished could not be told."""
    given = A[:2]
    module = parse_module(LOOP, "loop.mlir")
    run_pipeline(module, ["partition"], verify_each=True)
    (found,) = compile_module(module).run([np.int32(2), given])
    np.testing.assert_allclose(found, np.tanh(np.tanh(given)), rtol=1e-5)
    assert "needs it finished, and it is asked for in parts at loop.mlir:11:10" in str(module)


def test_who_runs_a_program_by_the_whole_gets_whole_results() -> None:
    """What others run has no partial results: in their form they are combined, and read again they are there."""
    text = program(
        GRADIENT + constraint("1", "0", SUM_X) + returned("1", SUM_X), ROWS, ROWS, result=f"{PLAIN[:-1]}, {SUM_X}>"
    )
    module = parse_module(text, "program.mlir")
    run_pipeline(module, ["partition"], verify_each=True)
    export_stablehlo(module)
    (found,), _, _ = ran(print_module(module), A, B)
    np.testing.assert_allclose(found, A.T @ B, rtol=1e-5, atol=1e-5)


def test_what_comes_in_parts_goes_out_so_where_that_is_asked_for() -> None:
    """Nothing is finished between an argument and the result that it is."""
    sharding = '{sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}'
    text = f"""
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: {PLAIN} {sharding}) -> ({PLAIN} {sharding}) {{
  return %a : {PLAIN}
}}
"""
    module = parse_module(text, "handed_on.mlir")
    run_pipeline(module, ["plan"], verify_each=True)
    assert predicted_bytes(module) == 0
    assert f"-> {PLAIN[:-1]}, {SUM_X}>" in str(module)


GIVES_PARTS = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x8xf32>) -> (tensor<2x8xf32>{asked}) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>]
      out_shardings=[<@mesh, [{}, {}], unreduced=KIND{"x"}>] manual_axes={"x", "y"} (%b: tensor<2x8xf32>) {
    sdy.return %b : tensor<2x8xf32>
  } : (tensor<8x8xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
"""


@pytest.mark.parametrize(("kind", "combine"), [("", np.add), ("max", np.maximum), ("min", np.minimum)])
def test_a_manual_computation_that_gives_parts(kind: str, combine: np.ufunc) -> None:
    """Of a result that may stay so nothing is sent."""
    text = GIVES_PARTS.replace("KIND", kind)
    (found,), _, _ = ran_from_sdy(text.replace("{asked}", ""), A)
    np.testing.assert_allclose(found, combine.reduce(A.reshape(4, 2, 8), axis=0), rtol=1e-5)
    asked = f' {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}], unreduced={kind}{{"x"}}>}}'
    module = parse_module(text.replace("{asked}", asked), "program.mlir")
    run_pipeline(module, ["plan"], verify_each=True)
    assert predicted_bytes(module) == 0


TAKES_PARTS = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x8xf32>{given}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}], unreduced=KIND{"x"}>]
      out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x", "y"} (%b: tensor<8x8xf32>) {
    %1 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%c: tensor<f32>, %d: tensor<f32>):
        %2 = stablehlo.COMBINE %c, %d : tensor<f32>
        stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""


@pytest.mark.parametrize("given", ["", ' {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=KIND{"x"}>}'])
@pytest.mark.parametrize(("kind", "combine"), [("", "add"), ("max", "maximum"), ("min", "minimum")])
def test_a_manual_computation_that_takes_parts(kind: str, combine: str, given: str) -> None:
    """What it combines itself is what there was, whole or in parts."""
    text = TAKES_PARTS.replace("{given}", given).replace("KIND", kind).replace("COMBINE", combine)
    (found,), _, _ = ran_from_sdy(text, A)
    np.testing.assert_allclose(found, A, rtol=1e-5)


def ran_from_sdy(text: str, *inputs: np.ndarray) -> tuple[list[np.ndarray], Fraction | None, str]:
    """As `ran`, of a program in Shardy's words."""
    module = parse_module(text, "program.mlir")
    run_pipeline(module, ["import-sdy"], verify_each=True)
    return ran(print_module(module), *inputs)
