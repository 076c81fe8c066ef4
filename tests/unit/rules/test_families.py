"""Rows whose sizes and prices are worked out, by closed forms."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntegerType, i32, i64

from shardwright.dialects.text.parsing import parse_module
from shardwright.docs.generators.rules import EXAMPLES, example_op, example_rule
from shardwright.layout.axes import Axis
from shardwright.layout.planning.sweep import Sweep
from shardwright.layout.planning.window import Window
from shardwright.rules import rule_for
from shardwright.rules.families.gathering import Meeting
from shardwright.rules.families.joining import JoinExpansion
from shardwright.rules.families.linear_algebra import _product_rule
from shardwright.rules.families.manual import _alike, _border
from shardwright.rules.local.indexing import _position_type
from shardwright.rules.rule import PASS, PERMUTE, REPLICATE, factor_names
from shardwright.rules.windows.moves import WindowExpansion
from shardwright.rules.windows.selecting import frames_of


def test_a_dim_with_room_is_shared_out() -> None:
    meeting = Meeting((6, 8), (None, 0))
    # Four devices: 6 does not divide, 8 does. Each sends three quarters of its candidates, and of its results.
    assert meeting.place({}, 4, 0.5) == 1
    assert meeting.price({}, 4, 0.5, 100) == 3 / 4 * 1.5 * 100
    # Split by four already, two are left on each device: all receive everything, from three others.
    assert meeting.place({0: 4}, 4, 0.5) is None
    assert meeting.price({0: 4}, 4, 0.5, 100) == 300
    # Two devices exchange all as cheaply as shares.
    assert meeting.place({}, 2, 1.0) is None
    assert meeting.place({}, 2, 0.5) == 0


@pytest.mark.parametrize(("left", "kinds"), [(True, [REPLICATE, PASS]), (False, [PASS, REPLICATE])])
def test_a_product_with_reflectors_splits_the_other_side(left: bool, kinds: list[str]) -> None:
    rule = _product_rule((2, 8, 3), (2, 3), (2, 8, 5), left)
    (batch,), (rows,), (columns,) = rule.results[0]
    assert [rule.sizes[factor] for factor in (batch, rows, columns)] == [2, 8, 5]
    assert [rule.kinds[rows], rule.kinds[columns]] == kinds
    assert (rule.kinds[batch], rule.heavy, rule.flows) == (PASS, True, (("sum", (2,)),))
    assert rule.operands[0][0] == rule.operands[1][0] == (batch,)


@pytest.mark.parametrize("line", ["sort", "cholesky", "triangular_solve"])
def test_layouts_do_not_go_through_what_is_done_in_parts_only_where_it_pays(line: str) -> None:
    """A gradient of a system that is solved in blocks because its right-hand side is split sends half as much again."""
    rule = next(rule_for(op) for op in (example_op(*each) for each in EXAMPLES) if op.name == f"stablehlo.{line}")
    assert rule.expansion is not None
    first = {factor for tensor in rule.tensors() for dim in tensor for factor in dim}
    assert first.isdisjoint(rule.expansion.factors)
    for factor in rule.expansion.factors:
        assert rule.way([factor]) in rule.others


def test_a_move_is_priced_by_what_each_device_lacks() -> None:
    # Eight elements shifted by one over four devices: each but the first lacks one of eight, 32 bytes in all.
    shifted = Window(8, 8, -1)
    assert WindowExpansion(((0, 0, shifted),)).price({0: 4}, [32]) == 3 / 4 * 4
    # Nothing is sent along a dim that is whole, nor along one that nothing can split.
    assert WindowExpansion(((0, 0, shifted),)).price({0: 1}, [32]) == 0
    assert WindowExpansion(((None, 0, shifted),)).price({0: 4}, [32]) == 0
    # Another factor splits the rest of the tensor.
    assert WindowExpansion(((0, 0, shifted),)).price({0: 4, 1: 2}, [64]) == 3 / 4 * 4
    assert WindowExpansion(((0, 0, shifted),), frozenset({1})).price({0: 4, 1: 2}, [64]) is None


@pytest.mark.parametrize(
    ("low", "high", "interior", "result", "expected"),
    [
        # Moved, or not: nothing crosses where every element becomes a block of one size.
        ([1, 0], [1, 0], [0, 0], "6x8", "k j, () -> i j"),
        ([0, 2], [0, 0], [1, 2], "7x24", "l j, () -> i (j k)"),
        ([0, 1], [2, 1], [2, 2], "12x24", "i k, () -> (i j) (k l)"),
        ([0, -1], [0, 3], [0, 2], "4x24", "i k, () -> i j"),
        ([0, 1], [-1, 0], [0, 0], "3x9", "k l, () -> i j"),
    ],
)
def test_a_pad_by_an_argument_moves_nothing_between_devices(
    low: list[int], high: list[int], interior: list[int], result: str, expected: str
) -> None:
    line = f"stablehlo.pad %a, %b, low = {low}, high = {high}, interior = {interior}"
    rule = example_rule(line, ("4x8", ""), result)
    assert rule.partition("  ")[0] == expected
    assert "linear" not in rule


def windows_that_reach(sweep: Sweep, begin: int, end: int) -> list[int]:
    """The windows that hold any of the elements `begin` ... `end` of an operand without ends, by trying them."""
    starts = {at: at * sweep.stride - sweep.low for at in range(-40, 41)}
    return [at for at, start in starts.items() if start < end and start + sweep.size > begin]


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_frames_of_selections_hold_what_reaches_a_part_and_no_more(size: int, stride: int) -> None:
    parts, count = 3, 4
    for low in range(-2, size):
        sweep = Sweep(size, stride, low)
        windows = windows_that_reach(sweep, 0, count * stride)
        found = frames_of(sweep, parts * count * stride, parts * count, parts)
        first, last = windows[0], windows[-1]
        begin, end = first * stride - low, last * stride - low + size
        start, stop = min(begin, 0), max(end, count * stride)
        width, number = stop - start, last - first + 1
        assert found.source == Window(parts * count, parts * number, first, frame=number, step=count)
        assert found.operand == Window(parts * count * stride, parts * width, start, frame=width, step=count * stride)
        assert (found.first, found.size) == (-start, count * stride)
        # In its frame, the first window stands where it stood, and so does the last.
        assert found.sweep == Sweep(size, stride, start - begin, end - stop)


@pytest.mark.parametrize(
    ("shapes", "result", "moves"),
    [
        (("4x6",), "4x6", False),
        (("0x6", "4x6"), "4x6", False),
        (("0x6", "0x6"), "0x6", False),
        (("4x6", "0x6", "2x6"), "6x6", True),
    ],
)
def test_what_is_joined_with_nothing_does_not_move(shapes: tuple[str, ...], result: str, moves: bool) -> None:
    types, arguments = [f"tensor<{shape}xf32>" for shape in shapes], ["%a", "%b", "%c"][: len(shapes)]
    line = f"stablehlo.concatenate {', '.join(arguments)}, dim = 0 : ({', '.join(types)}) -> tensor<{result}xf32>"
    listed = ", ".join(f"{name}: {type_}" for name, type_ in zip(arguments, types, strict=True))
    text = f"func.func @main({listed}) -> tensor<{result}xf32> {{\n %r = {line}\n return %r : tensor<{result}xf32>\n}}"
    (op,) = [op for op in parse_module(text, "op.mlir").walk() if op.name == "stablehlo.concatenate"]
    rule = rule_for(op)
    assert (rule.expansion is not None) == moves
    assert rule.kinds[0] == (PERMUTE if moves else PASS)


def test_what_is_joined_costs_nothing_where_all_of_it_is_alike() -> None:
    text = """func.func @main(%a: tensor<4xf32>) -> tensor<12xf32> {
  %made = stablehlo.negate %a : tensor<4xf32>
  %alike = stablehlo.constant dense<2.0> : tensor<2xf32>
  %other = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = stablehlo.concatenate %a, %made, %alike, %other, dim = 0 :
    (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}"""
    (op,) = [op for op in parse_module(text, "op.mlir").walk() if op.name == "stablehlo.concatenate"]
    expansion = rule_for(op).expansion
    assert isinstance(expansion, JoinExpansion)
    assert expansion.splats == (False, False, True, False)
    assert expansion.offsets == (0, 4, 8, 10)


def test_collectives_of_one_operand_are_linear_and_those_of_more_are_pairs() -> None:
    assert _alike(((4,),), True).flows == (("sum", (0,)),)
    assert _alike(((4,),), False).flows == ()
    assert not _alike(((4,),), True).pairwise
    assert _alike(((4,), (6,)), True).pairwise


def test_at_a_border_without_elements_nothing_is_split() -> None:
    assert _border((0,), (0,), ((Axis("x"),),), True).fixed == ()
    rule = _border((8, 6), (4, 6), ((Axis("x"),), ()), True)
    assert (str(rule).partition("  ")[0], rule.fixed) == ("(k i) j -> i j", ((0, (Axis("x"),)),))
    assert rule.sizes == (2, 4, 6)


@pytest.mark.parametrize(
    ("shape", "index", "expected"),
    [((2**31 - 1,), i32, i32), ((4, 2**31), i32, i64), ((4,), i64, i64), ((), i32, i32), ((2**30,), i32, i32)],
)
def test_positions_are_counted_in_the_narrowest_integers_that_hold_them(
    shape: tuple[int, ...], index: IntegerType, expected: IntegerType
) -> None:
    assert _position_type(index, shape) == expected


def test_letters_for_factors_go_on_with_numbers() -> None:
    names = factor_names(60)
    assert (names[0], names[25], names[26], names[51], names[52]) == ("i", "h", "i1", "h1", "i2")
    assert len(set(names)) == 60
