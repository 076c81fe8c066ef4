"""Layouts with open dims: a traced function decides them, and what is there has one that says all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh(x=2, y=2)
ROWS, BOTH, WHOLE = sw.Layout(["x", None], MESH), sw.Layout(["x", "y"], MESH), sw.Layout([None, None], MESH)
ANY, OPEN_ROWS = (sw.Layout.from_string(text, MESH) for text in ("[{?}, {?}]", '[{"x", ?}, {?}]'))
X = np.arange(32.0).reshape(8, 4)


def random(layout: sw.Layout) -> Any:
    return sw.random.normal((8, 4), seed=(1, 2), layout=layout)


@pytest.mark.parametrize(
    "make",
    [
        lambda layout: sw.relayout(X, layout),
        lambda layout: sw.constraint(X, layout),
        lambda layout: sw.asarray(X, layout=layout),
        lambda layout: sw.zeros((8, 4), "float64", layout=layout),
        lambda layout: sw.pack([X] * 4 if layout == ANY else [X[:4], X[:4], X[4:], X[4:]], layout),
        lambda layout: sw.Variable(X, layout=layout),
        random,
    ],
)  # fmt: skip
@pytest.mark.parametrize(("layout", "closed"), [(ANY, WHOLE), (OPEN_ROWS, ROWS)])
def test_what_is_made_is_split_as_far_as_its_layout_says(
    make: Callable[[sw.Layout], Any], layout: sw.Layout, closed: sw.Layout
) -> None:
    made = make(layout)
    assert made.layout == closed
    assert repr(made.layout) == repr(closed)
    held = np.asarray(made)
    assert np.array_equal(made + sw.relayout(X.astype(held.dtype), BOTH), held + X.astype(held.dtype))


def test_open_dims_of_what_is_distributed_stay_as_they_lie() -> None:
    """Outside of traced functions as in them."""
    rows, moved = sw.relayout(X, ROWS), sw.function(lambda x: sw.relayout(x, ANY) + 1)
    assert sw.relayout(rows, ANY).layout == sw.constraint(rows, ANY).layout == moved(rows).layout == ROWS
    assert moved(sw.relayout(X, WHOLE)).layout == WHOLE
    assert moved.trace(rows).partition().predicted_bytes == 0


def test_a_variable_takes_what_lies_as_it_does() -> None:
    variable = sw.Variable(sw.relayout(X, OPEN_ROWS), layout=OPEN_ROWS)
    variable.assign(sw.relayout(X * 2, ROWS))
    variable.set_layout(sw.Layout([None, "y"], MESH))
    variable.set_layout(ANY)
    assert variable.layout == sw.Layout([None, "y"], MESH)
    assert np.array_equal(variable, X * 2)


def test_an_open_argument_gets_a_layout_when_the_program_does() -> None:
    """It is told apart by that one from then on: what lies otherwise is refused."""
    spec = sw.TensorSpec(X.shape, "float64", ANY)
    traced = sw.function(lambda x, y: x + y).trace(spec, sw.TensorSpec(X.shape, "float64", BOTH))
    assert [str(each.layout) for each in traced.interface.parameters] == [str(ANY), str(BOTH)]
    partitioned = traced.partition()
    assert [each.layout for each in partitioned.interface.parameters] == [BOTH, BOTH]
    assert repr(partitioned).startswith("Partitioned(<lambda>(x: f64[8@x, 4@y], y: f64[8@x, 4@y])")
    compiled, both = partitioned.compile(), sw.relayout(X, BOTH)
    assert np.array_equal(compiled(both, both), X + X)
    with pytest.raises(TypeError, match="SW0508"):
        compiled(sw.relayout(X, ROWS), both)


def test_a_signature_takes_what_splits_its_open_dims_further() -> None:
    signature = [sw.TensorSpec(X.shape, "float64", OPEN_ROWS)]
    same = sw.function(lambda x: x + 0, input_signature=signature)
    assert same(X).layout == ROWS
    assert same(sw.relayout(X, ROWS)).layout == ROWS
    assert same(sw.relayout(X, BOTH)).layout == BOTH
    parts = sw.Layout.from_string('[{"x"}, {}], unreduced=sum{"y"}', MESH)
    for layout in (WHOLE, sw.Layout(["y"], MESH), sw.Layout(["x"], sw.Mesh(x=2)), parts):
        with pytest.raises(TypeError, match="SW0533"):
            same(sw.relayout(X, layout))


def test_a_spec_is_split_evenly_or_says_otherwise() -> None:
    for layout in (ROWS, OPEN_ROWS, sw.Layout.from_string(str(ROWS), MESH)):
        with pytest.raises(ValueError, match="SW0104"):
            sw.TensorSpec((9, 4), layout=layout)
        with pytest.raises(ValueError, match="SW0104"):
            sw.TensorSpec((9, None), layout=layout)
        assert sw.TensorSpec((None, 3), layout=layout).layout == layout
    uneven = sw.TensorSpec((9, 4), layout=sw.Layout(["x"], MESH, uneven=True))
    assert np.array_equal(
        sw.function(sw.square).trace(uneven).partition().compile()(np.full((9, 4), 3, "f")), np.full((9, 4), 9)
    )
