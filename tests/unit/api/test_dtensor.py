"""`DTensor`, `pack`, `unpack`, `relayout`: values, text, exchange with NumPy, and what mistakes say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh([("batch", 4), ("model", 2)])
WHOLE = np.arange(64, dtype="float32").reshape(8, 8)
LAYOUTS = [
    sw.Layout(["batch"], MESH),
    sw.Layout([None, "model"], MESH),
    sw.Layout(["model", "batch"], MESH),
    sw.Layout([("batch", "model")], MESH),
    sw.Layout([("model", "batch")], MESH),
    sw.Layout(["batch:(2)2", "batch:(1)2"], MESH),
    sw.Layout(sw.Mesh.UNSHARDED, MESH),
]


def coordinates(device: int) -> dict[str, int]:
    """Where a device stands in the mesh: row-major."""
    return {"batch": device // 2, "model": device % 2}


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_there_and_back(layout: sw.Layout) -> None:
    x = sw.relayout(WHOLE, layout)
    assert (x.shape, x.dtype, x.ndim, x.size, x.mesh) == ((8, 8), sw.float32, 2, 64, MESH)
    assert x.layout == layout.for_rank(2)
    assert np.array_equal(x.numpy(), WHOLE)
    assert np.array_equal(np.asarray(x), WHOLE)
    assert np.array_equal(np.asarray(x, dtype="int32"), WHOLE)
    assert np.array_equal(np.from_dlpack(x), WHOLE)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_unpack_and_pack(layout: sw.Layout) -> None:
    parts = sw.unpack(sw.relayout(WHOLE, layout))
    assert {part.shape for part in parts} == {layout.local_shape((8, 8))}
    assert np.array_equal(sw.pack(parts, layout).numpy(), WHOLE)


def test_components_are_where_the_layout_says() -> None:
    for device, part in enumerate(sw.unpack(sw.relayout(WHOLE, sw.Layout(["batch", "model"], MESH)))):
        at = coordinates(device)
        rows, columns = slice(2 * at["batch"], 2 * at["batch"] + 2), slice(4 * at["model"], 4 * at["model"] + 4)
        assert np.array_equal(part, WHOLE[rows, columns])


def test_first_axis_of_a_dim_is_major() -> None:
    for device, part in enumerate(sw.unpack(sw.relayout(WHOLE, sw.Layout([("model", "batch")], MESH)))):
        at = coordinates(device)
        assert np.array_equal(part, WHOLE[at["model"] * 4 + at["batch"]][None])


def test_replicated_values_are_held_once() -> None:
    assert sw.relayout(WHOLE, sw.Layout.replicated(MESH, rank=2)).stacked.shape == (1, 1, 8, 8)
    assert sw.relayout(WHOLE, sw.Layout(["batch"], MESH)).stacked.shape == (4, 1, 2, 8)


def test_text_shows_the_layout() -> None:
    small = sw.relayout(np.array([[1.5, 2], [3, 4]]), sw.Layout(["model"], MESH))
    assert repr(small) == "DTensor([[1.5, 2. ],\n         [3. , 4. ]], f64[2@model, 2], Mesh(batch=4, model=2))"
    assert str(sw.relayout(np.float64(1), LAYOUTS[-1])) == "DTensor(1., f64[], Mesh(batch=4, model=2))"


def test_a_tensor_does_not_change_with_its_source() -> None:
    source = WHOLE.copy()
    x = sw.relayout(source, LAYOUTS[0])
    source[:] = 0
    assert np.array_equal(x.numpy(), WHOLE)
    with pytest.raises(ValueError, match="read-only"):
        x.numpy()[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        sw.unpack(x)[0][0, 0] = 1


def test_what_goes_out_by_dlpack_is_a_copy() -> None:
    x = sw.relayout(WHOLE, LAYOUTS[0])
    out = np.array(np.from_dlpack(x))
    out[:] = 0
    assert np.array_equal(x.numpy(), WHOLE)


def test_numbers_of_one_element() -> None:
    x = sw.relayout(np.float32(2.5), LAYOUTS[-1])
    assert (float(x), int(x), bool(x), complex(x)) == (2.5, 2, True, 2.5 + 0j)
    assert [1, 2, 3][sw.relayout(np.int32(1), LAYOUTS[-1])] == 2


@pytest.mark.every(2)
@pytest.mark.parametrize("target", LAYOUTS, ids=str)
@pytest.mark.parametrize("source", LAYOUTS, ids=str)
def test_relayout_between_any_two(source: sw.Layout, target: sw.Layout) -> None:
    moved = sw.relayout(sw.relayout(WHOLE, source), target)
    assert moved.layout == target.for_rank(2)
    assert np.array_equal(moved.numpy(), WHOLE)


def test_relayout_in_a_traced_function() -> None:
    @sw.function
    def move(x: Any) -> Any:
        return sw.relayout(x * 2, LAYOUTS[2])

    moved = move(sw.relayout(WHOLE, LAYOUTS[0]))
    assert moved.layout == LAYOUTS[2]
    assert np.array_equal(moved.numpy(), WHOLE * 2)


def test_relayout_to_a_mesh_keeps_the_sharding() -> None:
    x = sw.relayout(WHOLE, LAYOUTS[0])
    assert sw.relayout(x, MESH).layout == x.layout
    assert sw.relayout(WHOLE, MESH).layout.is_replicated


def test_relayout_like() -> None:
    x = sw.relayout(WHOLE, LAYOUTS[2])
    assert sw.relayout_like(np.ones((4, 4)), x).layout == x.layout
    assert sw.relayout_like(np.ones((3, 3)), x, use_mesh_only=True).layout.is_replicated
    with pytest.raises(ValueError, match="SW0502"):
        sw.relayout_like(x, WHOLE)


def test_operators_with_numpy_on_either_side() -> None:
    x = sw.relayout(WHOLE, LAYOUTS[0])
    assert isinstance(WHOLE + x, sw.DTensor)
    assert np.array_equal(WHOLE - x * 2, -WHOLE)
    assert np.array_equal(WHOLE @ x, WHOLE @ WHOLE)
    assert np.array_equal(np.float32(3) * x, WHOLE * 3)
    assert np.array_equal(x[1:3, ::2], WHOLE[1:3, ::2])
    assert [float(sw.sum(row)) for row in x] == WHOLE.sum(1).tolist()
    assert len(x) == 8


def test_comparison_is_by_element_and_hash_by_identity() -> None:
    x = sw.relayout(WHOLE, LAYOUTS[0])
    assert np.array_equal(x == 3, WHOLE == 3)
    assert (x == "other") is False
    assert x in {x: 1}


def test_unpack_of_anything_else() -> None:
    with pytest.raises(ValueError, match=r"error\[SW0502\]: unpack takes a distributed tensor, not a ndarray"):
        sw.unpack(WHOLE)
    with pytest.raises(ValueError, match=r"error\[SW0502\]: fetch takes a distributed tensor, not a Tensor\n"):
        sw.fetch(sw.Variable(1.0).value)


def test_pack_refuses_what_does_not_fit() -> None:
    layout = LAYOUTS[0]
    with pytest.raises(ValueError, match=r"SW0512\]: pack: 3 components were given for Mesh\(batch=4, model=2\)"):
        sw.pack([np.zeros(2)] * 3, layout)
    with pytest.raises(ValueError, match=r"component 7 is float64\[3\], but component 0 is float64\[2\]"):
        sw.pack([np.zeros(2)] * 7 + [np.zeros(3)], layout)
    with pytest.raises(ValueError, match="component 1 differs from another"):
        sw.pack([np.full(2, device) for device in range(8)], layout)


def test_relayout_of_what_does_not_split() -> None:
    with pytest.raises(ValueError, match="SW0104"):
        sw.relayout(np.ones((6, 8)), LAYOUTS[0])
    with pytest.raises(ValueError, match="SW0106"):
        sw.relayout(np.ones(8), LAYOUTS[1])


def test_bfloat16_and_empty_tensors() -> None:
    x = sw.relayout(np.ones((8, 0), sw.bfloat16), LAYOUTS[0])
    assert (x + 1).shape == (8, 0)
    assert repr(sw.relayout(np.ones(8, sw.bfloat16), LAYOUTS[0])).endswith("1], bf16[8@batch], Mesh(batch=4, model=2))")


@pytest.mark.parametrize("spec", [".3f", ">10.2e", "+", ""])
def test_a_number_is_formatted_as_numpy_formats_it(spec: str) -> None:
    number = np.float32(2.0) / np.float32(3.0)
    x = sw.relayout(number, sw.Layout.replicated(MESH, rank=0))
    for array in (x, sw.Variable(x), sw.Variable(number)):
        assert format(array, spec) == (format(float(number), spec) if spec else str(array))
    assert f"{sw.sum(sw.relayout(WHOLE, LAYOUTS[0])):.1f}" == "2016.0"


def test_more_than_a_number_is_not_formatted() -> None:
    with pytest.raises(TypeError) as caught:
        format(sw.relayout(WHOLE, LAYOUTS[0]), ".3f")
    assert "error[SW0510]: an array of shape [8, 8] is no number that '.3f' could format" in str(caught.value)
    assert "help: format one element, or numpy.array2string(numpy.asarray(x), precision=...)" in str(caught.value)


NUMBERS = [
    (bool, "an array of shape [8, 8] is no truth value", "shardwright.any(x) or shardwright.all(x)"),
    (int, "an array of shape [8, 8] is no number, as int() needs", "take one element, x[0]"),
    (float, "an array of shape [8, 8] is no number, as float() needs", "take one element, x[0]"),
    (complex, "an array of shape [8, 8] is no number, as complex() needs", "take one element, x[0]"),
    (range, "an array of shape [8, 8] is no number, as an index or a size needs", "take one element, x[0]"),
    (lambda x: "ab"[x[0, 0]], "a number of float32 is no index and no size", "int(x) makes a whole number"),
]


@pytest.mark.parametrize(("take", "message", "way_out"), NUMBERS)
def test_more_than_a_number_is_no_number(take: Any, message: str, way_out: str) -> None:
    x = sw.relayout(WHOLE.astype("float32"), LAYOUTS[0])
    for array in (x, sw.Variable(x)):
        with pytest.raises((ValueError, TypeError)) as caught:
            take(array)
        assert f"error[SW0510]: {message}" in str(caught.value)
        assert f"help: {way_out}" in str(caught.value)
    variable = sw.Variable(x)
    with pytest.raises(TypeError, match="SW0503"):  # in a traced function it has no elements to look at
        sw.function(lambda y: take(variable) or y)(np.float32(1))


def test_what_is_traced_is_not_formatted() -> None:
    total = sw.Variable(1.0)

    def closed(x: sw.Array) -> sw.Array:
        return x + len(f"{total:.2f}")

    for function in (lambda x: x + len(f"{x:.2f}"), closed):
        with pytest.raises(TypeError, match=r"SW0503.*cannot be used as a number in a text"):
            sw.function(function)(np.float32(1))
    assert sw.function(lambda x: x + len(f"{x}"))(np.int64(1)) == 1 + len("Traced(i64[])")


ROWS, COLUMNS = sw.Layout(["batch"], MESH), sw.Layout([None, "model"], MESH)


def line_of(name: str, stage: Any) -> str:
    """The line of a program on which an operation stands."""
    return next(line for line in stage.as_text().splitlines() if f"= stablehlo.{name}" in line)


def test_a_constraint_spreads_backwards_and_a_relayout_does_not() -> None:
    @sw.function
    def constrained(x: sw.Array) -> sw.Array:
        return sw.constraint(sw.tanh(x), ROWS)

    @sw.function
    def relaid(x: sw.Array) -> sw.Array:
        return sw.relayout(sw.tanh(x), ROWS)

    whole = sw.relayout(WHOLE, sw.Layout.replicated(MESH, rank=2))
    for function, local in ((constrained, "tensor<2x8xf32>"), (relaid, "tensor<8x8xf32>")):
        y = function(whole)
        assert y.layout == ROWS.for_rank(2)
        np.testing.assert_allclose(y.numpy(), np.tanh(WHOLE), rtol=1e-6)
        assert line_of("tanh", function.trace(whole).partition()).endswith(local)


def test_a_constraint_is_differentiated_as_the_value_itself() -> None:
    def loss(x: sw.Array) -> sw.Array:
        return sw.sum(sw.square(sw.constraint(x * 3, COLUMNS)))

    np.testing.assert_allclose(sw.grad(loss)(sw.relayout(WHOLE, ROWS)).numpy(), 18 * WHOLE)


def test_outside_of_functions_a_constraint_is_a_relayout() -> None:
    assert sw.constraint(WHOLE, ROWS).layout == ROWS.for_rank(2)
    assert np.array_equal(sw.constraint(sw.constraint(WHOLE, ROWS), COLUMNS).numpy(), WHOLE)


def test_mistakes_in_a_constraint() -> None:
    x, there = sw.relayout(WHOLE, ROWS), sw.Layout(["there"], sw.Mesh(there=2))

    def no_layout(x: sw.Array) -> sw.Array:
        return sw.constraint(x, ["batch"])  # pyright: ignore[reportArgumentType]

    def elsewhere(x: sw.Array) -> sw.Array:
        return sw.constraint(x, there)

    with pytest.raises(TypeError, match=r"SW0515\]: constraint: \['batch'\] is not a Layout"):
        sw.function(no_layout)(x)
    with pytest.raises(ValueError, match="SW0505") as error:
        sw.function(elsewhere)(x)
    assert "relayout takes a value to another mesh" in str(error.value)


def test_who_asked_for_a_constraint_is_said() -> None:
    @sw.function
    def turned(x: sw.Array) -> sw.Array:
        return sw.constraint(x, sw.Layout([None, "batch"], MESH))

    stage = turned.trace(sw.relayout(WHOLE, ROWS)).partition()
    assert "asked by  shardwright.constraint at" in str(stage.explain())
