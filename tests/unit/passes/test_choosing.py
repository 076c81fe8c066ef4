"""Layouts that are chosen: named dims, how axes are assigned to them, and which of these win, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.layouts import trials
from shardwright.compiler.layouts.automatic import chosen
from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.stages import Traced
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.layout.axes import Axis
from shardwright.passes.choosing import choose_layouts
from shardwright.passes.choosing.assignments import Assigner
from shardwright.passes.choosing.named_dims import named_dims
from shardwright.passes.choosing.prices import Price, Prices
from shardwright.passes.program import Program
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.propagation.strategy import Strategist

F32 = 4


def program_of(
    body: str, arguments: str, mesh: str = '"x"=2', results: str = "tensor<f32>", left: str = "%r"
) -> Program:
    return build_program(
        parse_module(
            f"dtensor.mesh @mesh = <[{mesh}]>\n"
            f"func.func public @main({arguments}) -> {results} {{\n{body}\n  return {left} : {results}\n}}"
        )
    )


def traced(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Traced:
    return sw.function(function).trace(*[sw.TensorSpec(shape) for shape in shapes])


def sent(stage: Traced) -> float:
    found = stage.partition().predicted_bytes
    assert found is not None
    return float(found)


def specs(stage: Traced) -> list[Any]:
    return [parameter.layout.sharding_specs for parameter in stage.interface.parameters if parameter.layout]


# Names


LAYER = """
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %t = stablehlo.tanh %h : tensor<8x16xf32>
  %r = stablehlo.dot_general %t, %v, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
"""


def test_what_a_factor_leads_is_one_named_dim() -> None:
    weights = "%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %v: tensor<16x4xf32>"
    program = program_of(LAYER, weights, results="tensor<8x4xf32>")
    x, w, v, h, t, r = named_dims(program)
    (batch, inputs), (hidden, outputs) = x, v
    assert len({batch, inputs, hidden, outputs, None}) == 5
    assert (w, h, t, r) == ((inputs, hidden), (batch, hidden), (batch, hidden), (batch, outputs))
    # The hidden units are in the most bytes.
    assert hidden == 0


def test_a_constant_ties_nothing() -> None:
    program = program_of(
        """
  %c = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %0 = stablehlo.add %a, %c : tensor<8x8xf32>
  %r = stablehlo.add %b, %c : tensor<8x8xf32>""",
        "%a: tensor<8x8xf32>, %b: tensor<8x8xf32>",
        results="tensor<8x8xf32>",
    )
    a, b, constant, first, second = named_dims(program)
    assert (constant, first, second) == ((None, None), a, b)
    # Both additions are of one kind, so their dims go by the same names, rows apart from columns.
    assert a == b
    assert a[0] != a[1]


def test_dims_of_one_element_have_no_name() -> None:
    program = program_of("%r = stablehlo.negate %a : tensor<1x4xf32>", "%a: tensor<1x4xf32>", results="tensor<1x4xf32>")
    assert named_dims(program) == [(None, 0), (None, 0)]


def test_an_argument_that_nothing_reads_has_names() -> None:
    program = program_of(
        "%r = stablehlo.negate %a : tensor<4xf32>", "%a: tensor<4xf32>, %b: tensor<6xf32>", results="tensor<4xf32>"
    )
    assert named_dims(program) == [(0,), (1,), (0,)]


def test_equal_layers_share_names() -> None:
    weights = ", ".join(f"%w{at}: tensor<8x32xf32>, %v{at}: tensor<32x8xf32>" for at in range(3))
    body = "".join(
        f"""
  %h{at} = stablehlo.dot_general {value}, %w{at}, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
  %t{at} = stablehlo.tanh %h{at} : tensor<4x32xf32>
  %d{at} = stablehlo.dot_general %t{at}, %v{at}, contracting_dims = [1] x [0]
      : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %s{at} = stablehlo.add {value}, %d{at} : tensor<4x8xf32>"""
        for at, value in enumerate(("%x", "%s0", "%s1"))
    )
    program = program_of(body, f"%x: tensor<4x8xf32>, {weights}", results="tensor<4x8xf32>", left="%s2")
    names = named_dims(program)
    assert names[1] == names[3] == names[5]
    assert names[2] == names[4] == names[6]
    # A batch, an embedding, hidden units.
    assert len({name for each in names for name in each}) == 3


# Assignments


def test_a_value_is_split_by_the_first_named_dim_that_divides() -> None:
    weights = "%x: tensor<6x4xf32>, %w: tensor<4x16xf32>, %v: tensor<16x4xf32>"
    program = program_of(LAYER.replace("8x", "6x"), weights, '"x"=4, "y"=2', "tensor<6x4xf32>")
    assigner = Assigner(program)
    x, w, *_ = named_dims(program)
    batch, inputs, hidden = x[0], x[1], w[1]
    assert None not in (batch, inputs, hidden)
    dims = assigner.of_values(assigner.layouts(((batch, inputs), (batch, hidden))))
    # Six rows do not divide by four, so x takes the columns; by two they do.
    assert dims[0] == ((Axis("y"),), (Axis("x"),))
    assert dims[1] == ((Axis("x"),), (Axis("y"),))
    # Nothing was said of the outputs: only their rows are split.
    assert dims[5] == ((Axis("y"),), ())


def test_what_the_user_said_stays() -> None:
    given = (
        '%x: tensor<8x4xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>, '
        '%w: tensor<4x16xf32, #dtensor.layout<@mesh, [{}, {"y", ?}]>>, %v: tensor<16x4xf32>'
    )
    body = LAYER.replace(
        "(tensor<8x4xf32>, tensor<4x16xf32>)", f"({', '.join(part.split(': ')[1] for part in given.split(', %')[:2])})"
    )
    program = program_of(body, given, '"x"=2, "y"=2', "tensor<8x4xf32>")
    assigner = Assigner(program)
    x, _, v, *_ = named_dims(program)
    rows, hidden = x[0], v[0]
    assert rows is not None
    assert hidden is not None
    dims = assigner.of_values(assigner.layouts(((rows, hidden), (hidden,))))
    assert dims[0] == ((), (Axis("y"),))  # closed
    assert dims[1] == ((), (Axis("y"), Axis("x")))  # its columns are open
    assert dims[2] == ((Axis("x"), Axis("y")), ())


# Prices


def priced(program: Program, *names: int | None) -> Price:
    """With the one axis given to these names."""
    prices = Prices(program, Strategist(program), Assigner(program))
    return prices.of((tuple(name for name in names if name is not None),))


WHOLE = """
  %f = stablehlo.fft %a, type = {}, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>"""


def test_readers_share_what_is_gathered_and_hold_it() -> None:
    """Two transforms along a split dim: the whole is brought once, and is there beside its part."""
    body = WHOLE.format("FFT") + WHOLE.format("IFFT").replace("%f", "%g") + "\n  %r = stablehlo.add %f, %g : " + ARRAY
    program = program_of(body, f"%a: {ARRAY}", '"x"=4', ARRAY)
    whole = 4 * 8 * 8
    found = priced(program, named_dims(program)[0][1])
    assert found.sent == whole * 3 / 4
    # A quarter of the argument, all of it, and both transforms.
    assert found.held == whole / 4 + 3 * whole
    assert priced(program, named_dims(program)[0][0])[:1] == (0.0,)


ARRAY = "tensor<4x8xcomplex<f32>>"


def test_what_a_loop_reads_lives_as_long_as_it_runs() -> None:
    program = program_of(
        """
  %b = stablehlo.exponential %a : tensor<64xf32>
  %c = stablehlo.reduce(%b init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  %r = stablehlo.while(%s = %c) : tensor<f32>
  cond {
    %t = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %u = stablehlo.reduce(%b init: %s) applies stablehlo.add across dimensions = [0]
        : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
    %v = stablehlo.exponential %a : tensor<64xf32>
    %w = stablehlo.reduce(%v init: %u) applies stablehlo.add across dimensions = [0]
        : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %w : tensor<f32>
  }""",
        "%a: tensor<64xf32>, %z: tensor<f32>",
    )
    # The argument, what the loop reads of it in each round, and what it makes anew, with some numbers.
    vector = 64 * F32
    assert 3 * vector <= priced(program).held <= 3 * vector + 8 * F32


# What wins


def test_no_device_is_idle_though_that_would_send_least() -> None:
    mesh = sw.Mesh(x=4)
    whole = sw.Layout.replicated(mesh, 2)
    inputs = [sw.TensorSpec(shape, layout=sw.Layout.auto(mesh)) for shape in [(1, 64), (64, 3)]]
    # One row and three columns: only the sum can be split, and then it has to be finished everywhere.
    laid_out = sw.function(lambda x, w: sw.relayout(x @ w, whole)).trace(*inputs).lay_out()
    assert specs(laid_out) == [["unsharded", "x"], ["x", "unsharded"]]
    assert sent(laid_out) == 2 * 3 / 4 * 3 * F32


def loss(x: Any, w: Any, v: Any) -> Any:
    return sw.mean((sw.tanh(x @ w) @ v) ** 2)


def step(x: Any, w: Any, v: Any) -> Any:
    value, (by_w, by_v) = sw.value_and_grad(loss, argnums=(1, 2))(x, w, v)
    return value, w - 0.1 * by_w, v - 0.1 * by_v


def test_data_parallelism_where_the_batch_is_large() -> None:
    rows, inputs, hidden = 1024, 16, 32
    laid_out = traced(step, (rows, inputs), (inputs, hidden), (hidden, inputs)).lay_out(sw.Mesh(x=4))
    assert specs(laid_out)[0] == ["x", "unsharded"]
    # Gradients are summed over the devices, and so is the loss.
    assert sent(laid_out) == 2 * 3 / 4 * (2 * inputs * hidden + 1) * F32


def test_tensor_parallelism_where_the_weights_are_large() -> None:
    rows, inputs, hidden = 8, 16, 1024
    laid_out = traced(step, (rows, inputs), (inputs, hidden), (hidden, inputs)).lay_out(sw.Mesh(x=4))
    assert specs(laid_out)[1:] == [["unsharded", "x"], ["x", "unsharded"]]
    # Of each row's outputs the sum over hidden units: everywhere, or in parts that are gathered for the gradient.
    assert sent(laid_out) <= 2 * 3 / 4 * (rows * inputs + 1) * F32


HEADS, WIDTH = 4, 32


def attention(x: Any, q: Any, k: Any, v: Any, o: Any, w: Any, u: Any) -> Any:
    length, width = x.shape

    def heads(m: Any) -> Any:
        return sw.permute_dims(sw.reshape(x @ m, (length, HEADS, width // HEADS)), (1, 0, 2))

    scores = sw.exp(heads(q) @ sw.permute_dims(heads(k), (0, 2, 1)))
    mixed = sw.permute_dims((scores / sw.sum(scores, axis=-1, keepdims=True)) @ heads(v), (1, 0, 2))
    y = x + sw.reshape(mixed, (length, width)) @ o
    return y + sw.tanh(y @ w) @ u


def test_a_layer_is_split_by_heads_and_hidden_units_as_megatron_does() -> None:
    length = 7  # not by rows
    square = [(WIDTH, WIDTH)] * 4
    stage = traced(attention, (length, WIDTH), *square, (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH))
    laid_out = stage.lay_out(sw.Mesh(model=4))
    columns, rows = ["unsharded", "model"], ["model", "unsharded"]
    assert specs(laid_out)[1:] == [columns, columns, columns, rows, columns, rows]
    # One sum after the heads and one after the hidden units; the last may stay in parts.
    one = length * WIDTH * F32
    assert 3 * 3 / 4 * one <= sent(laid_out) <= 4 * 3 / 4 * one


def test_both_axes_of_a_mesh_find_their_place() -> None:
    """Data parallelism over one, tensor parallelism over the other: neither is best for both."""
    rows, inputs, hidden = 256, 64, 256
    laid_out = traced(step, (rows, inputs), (inputs, hidden), (hidden, inputs)).lay_out(sw.Mesh(data=4, model=2))
    both = 2 * 3 / 4 * (2 * inputs * hidden // 2) + 2 * 1 / 2 * rows // 4 * inputs
    assert sent(laid_out) <= (both + 4) * F32


def test_weights_are_gathered_where_they_do_not_fit() -> None:
    """ZeRO: as much as all-gathers of the weights that it splits, no more."""
    shapes = [(512, 16), (16, 16), (16, 16), (16, 16)]
    stage = traced(lambda x, u, v, w: sw.tanh(x @ u @ v @ w), *shapes)
    mesh = sw.Mesh(x=2)
    # Half of three activations, and the weights, whole or in halves but for the one whose turn it is.
    weight, rows = 16 * 16 * F32, 512 * 16 * F32 // 2
    assert sent(stage.lay_out(mesh, memory_limit=3 * rows + 3 * weight)) == 0
    tight = 3 * rows + 3 * weight // 2 + weight
    laid_out = stage.lay_out(mesh, memory_limit=tight)
    assert memory_of(laid_out.partition().module).peak <= tight
    assert 0 < sent(laid_out) <= 3 * weight / 2


def test_sums_that_meet_are_finished_once() -> None:
    """Three products over split hidden units, added: they cost one sum, and so the hidden units are split."""
    mesh = sw.Mesh(x=4)
    whole = sw.Layout.replicated(mesh, 2)

    def summed(x: Any, *weights: Any) -> Any:
        a, b, c, d, e, f = weights
        return sw.relayout(sw.tanh(x @ a) @ b + sw.tanh(x @ c) @ d + sw.tanh(x @ e) @ f, whole)

    shapes = [(5, 6), *[(6, 64), (64, 6)] * 3]
    inputs = [sw.TensorSpec(shape, layout=sw.Layout.auto(mesh)) for shape in shapes]
    laid_out = sw.function(summed).trace(*inputs).lay_out()
    assert sent(laid_out) == 2 * 3 / 4 * 5 * 6 * F32


def test_what_a_loop_adds_up_is_finished_after_it() -> None:
    """A recurrence's gradient by its weights: data parallelism costs one sum, however many rounds there are."""
    length, rows, size = 6, 32, 16

    def recurrent(x: Any, w: Any) -> Any:
        def whole(w: Any) -> Any:
            state, _ = sw.scan(lambda state, row: (sw.tanh(state @ w + row), None), sw.zeros((rows, size)), x)
            return sw.sum(state)

        return sw.grad(whole)(w)

    laid_out = traced(recurrent, (length, rows, size), (size, size)).lay_out(sw.Mesh(x=4))
    assert specs(laid_out)[0] == ["unsharded", "x", "unsharded"]
    assert sent(laid_out) <= 2 * 3 / 4 * size * size * F32


def test_light_work_is_split_where_that_sends_little() -> None:
    laid_out = traced(lambda x: x / sw.sum(x), (256,)).lay_out(sw.Mesh(x=4))
    assert specs(laid_out) == [["x"]]
    # A sum of one number, for a quarter of the quotients.
    assert sent(laid_out) == 2 * 3 / 4 * F32


def test_what_costs_nothing_is_split() -> None:
    laid_out = traced(lambda x, unread: sw.exp(x), (8, 8), (8, 8)).lay_out(sw.Mesh(x=2))
    assert all("x" in spec for spec in specs(laid_out))
    assert sent(laid_out) == 0


def test_an_open_layout_is_one_to_choose_a_closed_one_is_not() -> None:
    mesh = sw.Mesh(x=2)
    auto, columns = sw.Layout.auto(mesh), sw.Layout([None, "x"], mesh)
    function = sw.function(lambda x, w: sw.tanh(x @ w))
    chosen_layouts = function.layouts(sw.TensorSpec((8, 4), layout=auto), sw.TensorSpec((4, 8), layout=columns))
    assert chosen_layouts.arguments["w"] == columns
    assert chosen_layouts.results.sharding_specs == ["unsharded", "x"]


# Memory, and what cannot be


def test_nothing_fits() -> None:
    stage = traced(lambda x: sw.sum(sw.exp(x)), (64, 8))
    with pytest.raises(sw.ShardwrightError) as caught:
        stage.lay_out(sw.Mesh(x=2), memory_limit=1600)
    (found,) = caught.value.diagnostics
    # An argument and its exponential, halved, and a sum.
    assert (found.code, found.message) == (
        "SW0469",
        "no layouts were found with which each device holds at most 1,600 bytes: the least was 2,052",
    )
    assert found.notes[:2] == ("stablehlo.exponential takes 1,024 bytes", "x (argument) takes 1,024 bytes")
    assert found.help == "lay out with microbatches=True, raise the limit, or use more devices"
    in_parts = stage.lay_out(sw.Mesh(x=2), memory_limit=1600, microbatches=True)
    assert memory_of(in_parts.partition().module).peak <= 1600


def test_arguments_and_results_alone_do_not_fit() -> None:
    """Said before anything is tried, and not of what just fits."""
    stage = traced(lambda x, y: sw.sum(x) + sw.sum(y), (8, 8), (4,))
    ways: dict[str, Any] = {"recompute": True, "microbatches": True}
    with pytest.raises(sw.ShardwrightError) as caught:
        stage.lay_out(sw.Mesh(x=2), memory_limit=137, **ways)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == (
        "SW0469",
        "no layouts fit: of the arguments and results alone each device holds 138 bytes however they are split, and it "
        "may hold at most 137",
    )
    assert found.notes == ("x takes 256 bytes", "y takes 16 bytes", "a result takes 4 bytes")
    assert found.help == "raise the limit, or use more devices"
    with pytest.raises(sw.ShardwrightError, match="no layouts were found with which each device holds at most 138"):
        stage.lay_out(sw.Mesh(x=2), memory_limit=138)


def test_one_device_has_everything() -> None:
    stage = traced(lambda x: sw.exp(x), (8, 8))
    chosen = stage.lay_out(sw.Mesh(x=1), memory_limit=512)
    assert [each.layout for each in chosen.interface.parameters] == [sw.Layout.replicated(sw.Mesh(x=1), rank=2)]
    assert stage.least_sent(sw.Mesh(x=1)) == chosen.partition().predicted_bytes == 0
    assert np.array_equal(chosen.compile()(np.zeros((8, 8), np.float32)), np.ones((8, 8)))
    with pytest.raises(sw.ShardwrightError, match="SW0469"):  # an argument and a result of 256 bytes
        stage.lay_out(sw.Mesh(x=1), memory_limit=511)


def test_nothing_fits_where_nothing_may_be_held() -> None:
    with pytest.raises(sw.ShardwrightError, match="at most 0 bytes: the least was "):
        traced(lambda x: x + sw.sum(sw.exp(sw.arange(64, dtype="float32"))), (0,)).lay_out(sw.Mesh(x=2), memory_limit=0)


def test_no_mesh() -> None:
    with pytest.raises(sw.ShardwrightError) as caught:
        traced(lambda x: sw.exp(x), (8, 8)).lay_out()
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("SW0468", "there is no mesh over which layouts could be chosen")
    assert found.help == 'give one: traced.lay_out(Mesh(data=4)), or in the program dtensor.mesh @mesh = <["data"=4]>'


def test_another_mesh() -> None:
    rows = sw.TensorSpec((8, 8), layout=sw.Layout(["x"], sw.Mesh(x=2)))
    stage = sw.function(lambda x: sw.exp(x)).trace(rows)
    with pytest.raises(sw.ShardwrightError) as caught:
        stage.lay_out(sw.Mesh(y=2))
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("SW0405", "the program is on Mesh(x=2) already, not on Mesh(y=2)")


def test_the_given_program_stays() -> None:
    stage = traced(lambda x: sw.exp(x), (8, 8))
    before = stage.as_text()
    chosen(stage.module, sw.Mesh(x=2), None)
    assert stage.as_text() == before


def test_equal_programs_are_laid_out_alike() -> None:
    texts = {
        traced(attention, (8, WIDTH), *[(WIDTH, WIDTH)] * 4, (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH))
        .lay_out(sw.Mesh(data=2, model=2))
        .as_text()
        for _ in range(2)
    }
    assert len(texts) == 1


# What memory is counted


def held(body: str, arguments: str, result: str) -> tuple[int, ...]:
    text = f"func.func public @main({arguments}) -> {result} {{\n{body}\n}}"
    return memory_of(parse_module(text)).levels


def test_one_number_everywhere_takes_no_memory_and_a_reshape_none_of_its_own() -> None:
    vector = 8 * F32
    levels = held(
        """
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1 = stablehlo.add %a, %0 : tensor<8xf32>
  %2 = stablehlo.reshape %1 : (tensor<8xf32>) -> tensor<2x4xf32>
  %3 = stablehlo.negate %a : tensor<8xf32>
  %4 = stablehlo.negate %2 : tensor<2x4xf32>
  return %4 : tensor<2x4xf32>""",
        "%a: tensor<8xf32>",
        "tensor<2x4xf32>",
    )
    # The sum is there as long as its other shape is read.
    assert levels == tuple(count * vector for count in (1, 2, 2, 3, 3, 2))


def test_what_passes_a_barrier_takes_no_memory_of_its_own() -> None:
    levels = held(
        """
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.exponential %a : tensor<8xf32>
  %2:2 = stablehlo.optimization_barrier %0, %1 : tensor<8xf32>, tensor<8xf32>
  %3 = stablehlo.tanh %2#1 : tensor<8xf32>
  %4 = stablehlo.add %2#0, %3 : tensor<8xf32>
  return %4 : tensor<8xf32>""",
        "%a: tensor<8xf32>",
        "tensor<8xf32>",
    )
    # Each operand is there as long as the result of its number: the second one until the tanh is made.
    assert levels == tuple(count * 8 * F32 for count in (2, 3, 3, 4, 4, 2))


def test_a_loop_holds_what_is_alive_in_it() -> None:
    vector = 8 * F32
    levels = held(
        """
  %0 = stablehlo.while(%s = %a) : tensor<8xf32>
  cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1 = stablehlo.negate %s : tensor<8xf32>
    %2 = stablehlo.negate %1 : tensor<8xf32>
    %3 = stablehlo.negate %2 : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>""",
        "%a: tensor<8xf32>",
        "tensor<8xf32>",
    )
    # The argument, the loop's result, and two of the three values inside.
    assert levels[0] == 4 * vector
    assert math.isfinite(levels[-1])


def test_what_a_loop_makes_and_reads_goes_before_the_loop_ends() -> None:
    """Of four values that each round makes one after the other two are there at a time, beside what goes round."""
    vector = 8 * F32
    program = program_of(
        """
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %s = %a) : tensor<i32>, tensor<8xf32>
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %1 = stablehlo.negate %s : tensor<8xf32>
    %2 = stablehlo.tanh %1 : tensor<8xf32>
    %3 = stablehlo.negate %2 : tensor<8xf32>
    %4 = stablehlo.tanh %3 : tensor<8xf32>
    stablehlo.return %j, %4 : tensor<i32>, tensor<8xf32>
  }""",
        "%a: tensor<8xf32>",
        results="tensor<8xf32>",
        left="%r#1",
    )
    held = priced(program).held
    assert 3 * vector <= held < 5 * vector


# Copies that are made again


def test_weights_are_gathered_again_where_they_cannot_stay() -> None:
    """ZeRO-3: a forward and a backward pass through layers whose weights fit one by one, not together."""
    layers, rows, size, parts = 6, 64, 64, 4

    def gradient(x: Any, weights: Any) -> Any:
        def whole(x: Any) -> Any:
            for weight in weights:
                x = sw.tanh(x @ weight)
            return sw.sum(x)

        return sw.grad(whole)(x)

    mesh = sw.Mesh(x=parts)
    by_rows, split = sw.Layout(["x"], mesh), sw.Layout(["x"], mesh)
    specs = sw.TensorSpec((rows, size), layout=by_rows), [sw.TensorSpec((size, size), layout=split)] * layers
    stage = sw.function(gradient).trace(*specs)
    weight = size * size * F32
    kept = stage.lay_out()
    assert sent(kept) == layers * weight * 3 / 4  # each gathered once
    most = memory_of(kept.partition().module).peak
    assert most > layers * weight
    limit = most - (layers - 2) * weight
    laid_out = stage.lay_out(memory_limit=limit)
    assert memory_of(laid_out.partition().module).peak <= limit
    # All but the last, whose backward pass comes at once, at most once more.
    assert sent(kept) < sent(laid_out) <= (2 * layers - 1) * weight * 3 / 4
    numbers = np.random.default_rng(0)
    given = numbers.standard_normal((rows, size)), [numbers.standard_normal((size, size)) / 8 for _ in range(layers)]
    arrays = given[0].astype(np.float32), [each.astype(np.float32) for each in given[1]]
    compiled = laid_out.compile()
    expected = kept.compile()(*arrays).numpy()
    np.testing.assert_array_equal(compiled(*arrays).numpy(), expected)
    assert compiled.ledger.sent_bytes == sent(laid_out)
    np.testing.assert_allclose(expected, chain_rule(*given), rtol=1e-3, atol=1e-4)


def chain_rule(x: np.ndarray[Any, Any], weights: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The gradient of the sum by x, as a person would write it."""
    outputs = []
    for weight in weights:
        x = np.tanh(x @ weight)
        outputs.append(x)
    slope = np.ones_like(x)
    for weight, output in zip(reversed(weights), reversed(outputs), strict=True):
        slope = (slope * (1 - output**2)) @ weight.T
    return slope


# What the search does with prices, and what is said of the result


def test_dims_of_two_elements_have_names() -> None:
    program = program_of("%r = stablehlo.negate %a : tensor<2x4xf32>", "%a: tensor<2x4xf32>", results="tensor<2x4xf32>")
    assert named_dims(program) == [(0, 1), (0, 1)]


def test_idle_is_what_is_done_more_than_once() -> None:
    body = """
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>"""
    program = program_of(body, "%x: tensor<8x6xf32>, %w: tensor<6x4xf32>", '"x"=4', "tensor<8x4xf32>")
    rows, sums = named_dims(program)[0]
    assert (priced(program, rows).idle, priced(program).idle) == (0, 3)  # four devices do what one could
    assert priced(program, sums).idle == 3  # six summands are no four equal parts


def test_a_limit_that_leaves_room_changes_nothing() -> None:
    rows, inputs, hidden = 1024, 16, 32
    stage = traced(step, (rows, inputs), (inputs, hidden), (hidden, inputs))
    mesh = sw.Mesh(x=4)
    free = stage.lay_out(mesh)
    held = memory_of(free.partition().module).peak
    for room in (1.5, 4, 1000):
        assert specs(stage.lay_out(mesh, memory_limit=int(room * held))) == specs(free)


@pytest.mark.parametrize("tight", [False, True])
def test_what_refinement_moves_counts_unless_it_holds_too_much(tight: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsplit(program: Program, _: Strategist, state: Any, **__: Any) -> None:
        state.dims = [((),) * len(shape) for shape in program.shapes]

    monkeypatch.setattr(choose_layouts, "refine", unsplit)
    monkeypatch.setattr(choose_layouts, "improve", lambda *_: None)
    arguments = "%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %v: tensor<16x4xf32>"
    text = f"func.func public @main({arguments}) -> tensor<8x4xf32> {{{LAYER}  return %r : tensor<8x4xf32>\n}}"
    module = parse_module(f'dtensor.mesh @mesh = <["x"=2]>\n{text}')
    chooser = choose_layouts.Chooser(module)
    whole = chooser.prices.held([((),) * len(shape) for shape in chooser.program.shapes])
    choice = chooser.choose(whole - 1 if tight else math.inf)
    chooser.write(choice)
    assert (choice.held < whole) == tight
    assert ('{"x"}' in print_module(module).split("\n", 2)[2]) == tight


def test_each_value_says_with_which_argument_it_is_split() -> None:
    laid_out = traced(step, (1024, 16), (16, 32), (32, 16)).lay_out(sw.Mesh(x=4))
    text = print_module(laid_out.module)
    assert 'dtensor.why = "chosen automatically: rows over x, with rows of argument 0"' in text
    assert 'chosen automatically: rows over x"' in text  # that argument itself


def test_what_fits_sends_least_it_need_not_hold_least() -> None:
    """Weights in halves are enough: in quarters they would hold less, and send half as much again."""
    stage = traced(lambda x, u, v, w: sw.tanh(x @ u @ v @ w), (512, 16), (16, 16), (16, 16), (16, 16))
    weight, rows = 16 * 16 * F32, 512 * 16 * F32 // 4
    enough = 3 * rows + 3 * weight // 2 + weight
    laid_out = stage.lay_out(sw.Mesh(x=2, y=2), memory_limit=enough)
    assert memory_of(laid_out.partition().module).peak <= enough
    assert 0 < sent(laid_out) <= 3 * weight / 2


# Seconds


def topology(slow: float = 1e-9, fast: float = 1e-9, *, wide: float = 1e9, narrow: float = 1e9) -> sw.Topology:
    """An axis `x` that starts slowly or is narrow, and an axis `y`."""
    links = {"x": sw.Link(slow, narrow), "y": sw.Link(fast, wide)}
    return sw.Topology(links, flops=1e12, memory=1e12)


def seconds(stage: Traced, on: sw.Topology) -> float:
    return stage.partition().price(on).seconds


def test_what_is_sent_most_goes_along_the_fast_axis() -> None:
    """Sums of gradients along one axis, sums of rows along the other: the more bytes take the link that has more."""
    rows, inputs, hidden = 256, 16, 512
    stage = traced(step, (rows, inputs), (inputs, hidden), (hidden, inputs))
    by_bytes = stage.lay_out(sw.Mesh(x=2, y=2))
    for narrow, wide in ((1e9, 1e7), (1e7, 1e9)):
        on = topology(narrow=narrow, wide=wide)
        laid_out = stage.lay_out(sw.Mesh(x=2, y=2), objective="seconds", topology=on)
        by_axes = laid_out.partition().price(on).bytes_by_axes
        fast, slow = ("x", "y") if narrow > wide else ("y", "x")
        assert by_axes.get(fast, 0.0) >= by_axes.get(slow, 0.0)
        assert seconds(laid_out, on) <= seconds(by_bytes, on)


@pytest.mark.parametrize(("latency", "split"), [(1e-9, True), (1.0, False)])
def test_a_message_that_takes_longer_than_the_work_is_not_sent(latency: float, split: bool) -> None:
    stage = traced(lambda x, w: sw.sum(sw.tanh(x @ w)), (512, 256), (256, 128))
    on = topology(latency, latency)
    laid_out = stage.lay_out(sw.Mesh(x=2), objective="seconds", topology=on)
    assert (sent(laid_out) > 0) == split
    # Two devices multiply half each, or both all.
    assert laid_out.partition().price(on).flops >= 2 * 512 * 256 * 128 / (2 if split else 1)


def test_messages_that_go_together_are_no_reason_to_split_weights() -> None:
    """Scattered one by one, gradients would take a message each; reduced together, they take one."""

    def gradients(x: Any, weights: list[Any]) -> list[Any]:
        def loss(weights: list[Any]) -> Any:
            value = x
            for weight in weights:
                value = sw.tanh(value @ weight)
            return sw.sum(value)

        return sw.grad(loss)(weights)

    stage = sw.function(gradients).trace(sw.TensorSpec((4096, 8)), [sw.TensorSpec((8, 8))] * 6)
    on = topology(3e-7, 3e-7)
    laid_out = stage.lay_out(sw.Mesh(x=2), objective="seconds", topology=on)
    rows = laid_out.partition().predicted
    assert [(row.kind, len(row.tensors)) for row in rows if row.bytes_per_device] == [("all_reduce", 6)]


def test_seconds_within_a_limit() -> None:
    stage = traced(lambda x, u, v, w: sw.tanh(x @ u @ v @ w), (512, 16), (16, 16), (16, 16), (16, 16))
    mesh, on = sw.Mesh(x=2), topology()
    free = stage.lay_out(mesh, objective="seconds", topology=on)
    peak = memory_of(free.partition().module).peak
    tight = stage.lay_out(mesh, objective="seconds", topology=on, memory_limit=peak - 1)
    assert memory_of(tight.partition().module).peak < peak
    assert seconds(free, on) < seconds(tight, on)
    with pytest.raises(sw.ShardwrightError, match="holds at most 40,000 bytes: the least"):
        stage.lay_out(mesh, objective="seconds", topology=on, memory_limit=40_000)


@pytest.mark.parametrize("large", [False, True])
def test_a_large_program_has_fewer_tries(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []
    original = choose_layouts.Chooser.choose
    monkeypatch.setattr(trials, "LARGE", 0 if large else 1000)
    monkeypatch.setattr(choose_layouts.Chooser, "choose", lambda *each: tried.append(each) or original(*each))
    traced(step, (64, 16), (16, 32), (32, 16)).lay_out(sw.Mesh(x=2, y=2), objective="seconds")
    assert (len(tried) == 3) == large


def test_the_search_ends_where_nothing_holds_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Free, halved, and once more for less than halves hold; each time a fifth less, it would be tried eight times."""
    limits: list[float] = []
    original = choose_layouts.Chooser.choose

    def choose(self: choose_layouts.Chooser, limit: float) -> choose_layouts.Choice:
        limits.append(limit)
        return original(self, limit)

    monkeypatch.setattr(choose_layouts.Chooser, "choose", choose)
    stage = traced(lambda x: sw.sum(sw.exp(x)), (8, 8))
    with pytest.raises(sw.ShardwrightError, match="the least was 260"):
        stage.lay_out(sw.Mesh(x=2), memory_limit=200)
    plain = limits[: limits.index(math.inf, 1)]
    assert len(plain) == 3


def test_an_objective_that_nobody_knows() -> None:
    with pytest.raises(sw.ShardwrightError) as caught:
        traced(sw.tanh, (8,)).lay_out(sw.Mesh(x=2), objective="money")  # pyright: ignore[reportArgumentType]
    (found,) = caught.value.diagnostics
    assert isinstance(caught.value, ValueError)
    assert (found.code, found.message) == ("SW0585", "layouts cannot be chosen for 'money'")
    assert found.help == 'choose for "bytes", or for "seconds"'


def test_layouts_are_chosen_around_a_dim_that_somebody_split_unevenly() -> None:
    """Of 101 columns each device of y makes 51; what comes and goes is in equal parts: 101 is a prime number."""
    mesh, shapes = sw.Mesh(x=4, y=2), ((64, 32), (32, 64), (64, 101))
    x, w, v = (np.arange(rows * columns, dtype=np.float32).reshape(rows, columns) % 5 for rows, columns in shapes)
    scores = x @ w @ v

    def step(x: Any, w: Any, v: Any) -> Any:
        scores = sw.constraint(x @ w @ v, sw.Layout(["x", "y"], mesh, uneven=True))
        return sw.sum(scores), sw.sum(scores, axis=0)

    traced = sw.function(step).trace(*(sw.TensorSpec(shape, layout=sw.Layout.auto(mesh)) for shape in shapes))
    free, tight = traced.lay_out(mesh), traced.lay_out(mesh, memory_limit=40_000)
    for stage in (free, tight):
        partitioned = stage.partition()
        sides = [(each.shape, each.layout) for each in partitioned.interface.parameters]
        total, columns = partitioned.compile()(x, w, v)
        sides += [(each.shape, each.layout) for each in (total, columns)]
        assert not any(layout.splits_unevenly(shape) for shape, layout in sides)
        assert float(total) == scores.sum()
        assert columns.numpy().tolist() == scores.sum(0).tolist()
    # A whole v takes 25,856 bytes, and as much again where its columns are taken.
    rows, columns = tight.interface.parameters[2].layout.sharding_specs
    assert (rows != "unsharded", columns) == (True, "unsharded")
    assert sent(free) < sent(tight)


def test_what_divides_an_argument_but_not_its_padding_does_not_split_it() -> None:
    """Two columns, three with padding for the three devices of x: the two of y would split the argument alone."""
    mesh = sw.Mesh(x=3, y=2)
    x = np.arange(338, dtype=np.float32).reshape(13, 13, 2)

    def columns(x: Any) -> Any:
        return sw.constraint(sw.square(x), sw.Layout(["unsharded", "unsharded", "x"], mesh, uneven=True))

    traced = sw.function(columns).trace(sw.TensorSpec(x.shape, layout=sw.Layout.auto(mesh)))
    assert np.array_equal(traced.lay_out(mesh, memory_limit=6_000).partition().compile()(x), x * x)
    with pytest.raises(sw.ShardwrightError, match="SW0469"):  # what holds least was looked for among all splits
        traced.lay_out(mesh, memory_limit=1_000)
