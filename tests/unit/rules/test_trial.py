"""What the proof of the table trusts: drawing, combining and comparing numbers, and the placements that it tries."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.proof.check import offered_placements
from shardwright.rules.proof.trial import Placement, Trial, agree, combine, draw_small, rounding

from .op_case import case
from .test_check import compiled


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("bool", 0, 1), ("uint8", 0, 249), ("int8", -120, 119), ("float32", -800 / 256, 799 / 256), ("complex64", 0, 0)],
)
def test_numbers_are_drawn_so_that_sums_are_exact(dtype: str, low: float, high: float) -> None:
    found = draw_small(np.random.default_rng(3), (200, 100), np.dtype(dtype))
    assert (found.shape, found.dtype) == ((200, 100), np.dtype(dtype))
    parts = [found.real, found.imag] if dtype == "complex64" else [found]
    for part in parts:
        assert len(np.unique(part)) == {"bool": 2, "uint8": 250, "int8": 240}.get(dtype, 1600)
        if dtype != "complex64":
            assert (part.min(), part.max()) == (low, high)
        if part.dtype.kind == "f":
            assert np.array_equal(part * 256, np.round(part * 256))


@pytest.mark.parametrize(
    ("kind", "dtype", "expected"),
    [
        ("sum", "int8", [-1, 100 + 100 - 256]),  # wraps around in its own type
        ("prod", "int32", [-12, 10000]),
        ("max", "float32", [3, 100]),
        ("min", "float32", [-4, 100]),
        ("and", "uint8", [3 & 252, 100]),
        ("or", "bool", [True, True]),
    ],
)
def test_partial_results_are_combined_in_their_type(kind: str, dtype: str, expected: list[Any]) -> None:
    parts = np.array([[3, 100], [-4, 100]]).astype(dtype)
    found = combine(parts, kind)
    assert found.dtype == parts.dtype
    assert found.tolist() == expected
    assert combine(parts[:1], "").tolist() == parts[0].tolist()


def test_results_agree_but_for_what_is_small_next_to_the_largest() -> None:
    expected = np.array([1000.0, 0.0, -np.inf, np.nan])
    assert agree(expected + np.array([0.9, 0.9, 0, 0]), expected, 1e-3)
    assert not agree(expected + np.array([0, 1.1, 0, 0]), expected, 1e-3)
    assert not agree(np.where(np.isnan(expected), 0.0, expected), expected, 1e-3)
    assert not agree(-expected, expected, 1e-3)
    assert not agree(expected[:1], expected, 1e-3)
    assert not agree(expected.astype("float32"), expected, 1e-3)
    assert agree(np.array([2 + 3j]), np.array([2 + 3j]), 1e-3)
    assert not agree(np.array([1j]), np.array([1 + 1j]), 1e-3)
    # Numbers smaller than one are compared with one.
    assert agree(np.array([0.0005]), np.array([0.0]), 1e-3)
    # Integers agree when they are the same.
    assert not agree(np.array([1000001]), np.array([1000000]), 1e-3)


@pytest.mark.parametrize(
    ("line", "operand", "result", "expected"),
    [
        ("stablehlo.convert %a", "4xbf16", "4xf32", 8 * float(ml_dtypes.finfo(ml_dtypes.bfloat16).eps)),
        ("stablehlo.convert %a", "4xi32", "4xf64", 8 * np.finfo(np.float64).eps),
        ("stablehlo.negate %a", "4xi32", "4xi32", 0.0),
    ],
)
def test_the_coarsest_type_says_how_much_results_may_differ(
    line: str, operand: str, result: str, expected: float
) -> None:
    text = f"func.func @main(%a: tensor<{operand}>) -> tensor<{result}> {{\n %r = {line} : (tensor<{operand}>) -> "
    trial = Trial(parse_module(f"{text}tensor<{result}>\n return %r : tensor<{result}>\n}}"), Mesh(x=2), compiled)
    assert rounding(trial.op) == expected


def negation(mesh: Mesh, shape: str = "4x6xf32") -> Trial:
    text = f"func.func @main(%a: tensor<{shape}>) -> tensor<{shape}> {{\n %r = stablehlo.negate %a : tensor<{shape}>\n"
    return Trial(parse_module(f"{text} return %r : tensor<{shape}>\n}}"), mesh, compiled)


def test_every_placement_is_offered_once() -> None:
    mesh = Mesh(x=4)
    offered = [str(placement.operands[0].body()) for placement in offered_placements(negation(mesh), mesh)]
    assert len(set(offered)) == len(offered)
    assert set(offered) == {
        *("[{}, {}]", '[{"x"}, {}]', '[{}, {}], unreduced=sum{"x"}'),
        # The axis cut in two: each half on either dim, in either order, on none, or with parts of a sum.
        *('[{"x":(1)2}, {}]', '[{"x":(2)2}, {}]', '[{}, {"x":(1)2}]', '[{}, {"x":(2)2}]'),
        *('[{"x":(1)2, "x":(2)2}, {}]', '[{"x":(2)2, "x":(1)2}, {}]'),
        *('[{"x":(1)2}, {"x":(2)2}]', '[{"x":(2)2}, {"x":(1)2}]'),
        *('[{"x":(1)2}, {}], unreduced=sum{"x":(2)2}', '[{"x":(2)2}, {}], unreduced=sum{"x":(1)2}'),
        *('[{}, {"x":(1)2}], unreduced=sum{"x":(2)2}', '[{}, {"x":(2)2}], unreduced=sum{"x":(1)2}'),
        '[{}, {}], unreduced=sum{"x":(1)2, "x":(2)2}',
    }


@pytest.mark.parametrize(
    ("element", "kinds"),
    [
        ("f32", {"sum", "prod", "max", "min"}),
        ("i32", {"sum", "prod", "max", "min", "and", "or"}),
        ("ui8", {"sum", "prod", "max", "min", "and", "or"}),
        ("i1", {"and", "or"}),
        ("complex<f32>", {"sum", "prod"}),
    ],
)
def test_what_lets_any_kind_pass_is_tried_with_every_kind_of_its_type(element: str, kinds: set[str]) -> None:
    line, types = "stablehlo.reshape %a : TYPES", ([f"4x{element}"], [f"2x2x{element}"])
    trial = Trial(parse_module(case("reshape", line, *types).text, "op.mlir"), Mesh(x=2), compiled)
    offered = offered_placements(trial, Mesh(x=2))
    assert {placement.operands[0].kind for placement in offered} == {"", *kinds}


def test_each_device_runs_its_own_part_of_an_op_that_asks_where_it_is() -> None:
    mesh = Mesh(x=2, y=2)
    iota = case("iota", "stablehlo.iota dim = 0 : tensor<4xi32>", [], ["4xi32"])
    trial = Trial(parse_module(iota.text, "op.mlir"), mesh, compiled)
    (x, y), at = (Axis("x"), Axis("y")), {}
    for axes in ((x,), (y,), (x, y), (y, x), ()):
        placement = Placement((), (LayoutSpec("mesh", (axes,)),))
        at[axes] = [part.tolist() for (part,) in trial.run_parts(placement, seed=0) or []]
    low, high = [0, 1], [2, 3]
    assert at[x,] == [low, low, high, high]
    assert at[y,] == [low, high, low, high]
    assert at[x, y] == [[0], [1], [2], [3]]
    assert at[y, x] == [[0], [2], [1], [3]]
    assert at[()] == [[0, 1, 2, 3]] * 4


def test_parts_make_up_a_result_when_shapes_fit_and_replicas_agree() -> None:
    mesh = Mesh(x=2, y=2)
    trial = negation(mesh)
    split = LayoutSpec("mesh", ((Axis("y"),), ()))
    low, high = np.zeros((2, 6), "float32"), np.ones((2, 6), "float32")
    found = trial.assemble([low, high, low, high], split, (4, 6))
    assert found is not None
    assert np.array_equal(found, np.repeat([0.0, 1.0], 12).reshape(4, 6))
    assert trial.assemble([low, high, low, low], split, (4, 6)) is None
    assert trial.assemble([low, high, low, high[:, :3]], split, (4, 6)) is None
    nan = np.full((2, 6), np.nan, "float32")
    assert trial.assemble([nan, high, nan, high], split, (4, 6)) is not None
    summed = LayoutSpec("mesh", ((), ())).with_partial((Axis("x"),), "sum")
    parts = [np.full((4, 6), number, "float32") for number in (1, 1, 5, 5)]
    found = trial.assemble(parts, summed, (4, 6))
    assert found is not None
    assert np.array_equal(found, np.full((4, 6), 6.0))
