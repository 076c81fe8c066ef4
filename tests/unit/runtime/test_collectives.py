"""Collectives on stacked arrays: a relayout keeps the global value, a reduction sums over devices, bytes are exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.executable import Executable, compile_module
from shardwright.runtime.stacking import component, from_stacked, local_shape, stack_components, to_stacked

MESH = Mesh([("x", 4), ("y", 2)])
X, Y, X_MAJOR, X_MINOR = Axis("x"), Axis("y"), Axis("x", 1, 2), Axis("x", 2, 2)


def spec(*dims: tuple[Axis, ...], partial: tuple[Axis, ...] = (), kind: str = "") -> LayoutSpec:
    return LayoutSpec("mesh", dims, partial=partial, kind=kind)


def tensor(shape: tuple[int, ...]) -> str:
    return f"tensor<{'x'.join([*map(str, shape), 'f32'])}>"


def relaid(op: str, shape: tuple[int, ...], source: LayoutSpec, target: LayoutSpec) -> Executable:
    """A module of one collective from `source` to `target`."""
    before, after = (tensor(local_shape(shape, layout, MESH)) for layout in (source, target))
    whole = tensor(shape)
    text = f"""
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: {before} {{dtensor.layout = #dtensor.layout{source}, dtensor.global_type = {whole}}})
    -> ({after} {{dtensor.layout = #dtensor.layout{target}, dtensor.global_type = {whole}}}) {{
  %0 = {op} %a : ({before}) -> {after}
  return %0 : {after}
}}
"""
    return compile_module(parse_module(text, "test.mlir"))


RELAYOUTS = [
    ('dtensor.all_gather @mesh [{"x"}, {}]', spec((X,), ()), spec((), ()), Fraction(3, 4)),
    ('dtensor.all_gather @mesh [{"y"}, {}]', spec((X, Y), ()), spec((X,), ()), Fraction(1, 8)),
    ('dtensor.all_gather @mesh [{"x":(2)2}, {"y"}]', spec((X,), (Y,)), spec((X_MAJOR,), ()), Fraction(3, 8)),
    ('dtensor.all_slice @mesh [{"y", "x"}, {}]', spec((), ()), spec((Y, X), ()), Fraction(0)),
    ('dtensor.all_slice @mesh [{"x":(2)2}, {"y"}]', spec((X_MAJOR,), ()), spec((X,), (Y,)), Fraction(0)),
    ('dtensor.all_to_all @mesh {"x"} 0 to 1', spec((X,), ()), spec((), (X,)), Fraction(3, 16)),
    ('dtensor.all_to_all @mesh {"x":(2)2} 0 to 1', spec((X,), ()), spec((X_MAJOR,), (X_MINOR,)), Fraction(1, 8)),
    ('dtensor.all_to_all @mesh {"x", "y"} 1 to 0', spec((), (X, Y)), spec((X, Y), ()), Fraction(7, 64)),
    (None, spec((X_MAJOR,), (Y,)), spec((Y,), (X_MAJOR,)), Fraction(1, 2) / 4),
    (None, spec((X_MAJOR,), ()), spec((Y,), ()), Fraction(1, 2) / 2),
    (None, spec((X, Y), ()), spec((Y, X), ()), Fraction(6, 8) / 8),
]


@pytest.mark.parametrize(("op", "source", "target", "share"), RELAYOUTS)
def test_relayout_keeps_the_global_value_and_counts_its_bytes(
    op: str | None, source: LayoutSpec, target: LayoutSpec, share: Fraction
) -> None:
    shape = (16, 24)
    executable = relaid(op or f"dtensor.collective_permute {source} to {target}", shape, source, target)
    array = np.arange(16 * 24, dtype=np.float32).reshape(shape)
    np.testing.assert_array_equal(executable.run([array])[0], array)
    assert executable.ledger.sent_bytes == share * array.nbytes
    assert executable.ledger.messages == (1 if share else 0)


EXCHANGES = [
    (spec((X,), (Y,)), spec((Y,), (X,))),
    (spec((X, Y), ()), spec((), (Y,))),
    (spec((X_MAJOR,), (X_MINOR, Y)), spec((X_MINOR, X_MAJOR), ())),
    (spec((Y,), ()), spec((X,), (Y,))),
]


@pytest.mark.parametrize(("source", "target"), EXCHANGES)
def test_exchange_sends_each_missing_element_once(source: LayoutSpec, target: LayoutSpec) -> None:
    shape = (16, 24)
    executable = relaid(f"dtensor.exchange {source} to {target}", shape, source, target)
    array = np.arange(16 * 24, dtype=np.float32).reshape(shape)
    np.testing.assert_array_equal(executable.run([array])[0], array)
    before, after = to_stacked(array, source, MESH), to_stacked(array, target, MESH)
    missing = sum(len(np.setdiff1d(component(after, MESH, at), component(before, MESH, at))) for at in range(MESH.size))
    assert executable.ledger.sent_bytes == Fraction(4 * missing, MESH.size)


@pytest.mark.parametrize(
    ("kind", "function"),
    [("sum", np.add), ("max", np.maximum), ("min", np.minimum), ("prod", np.multiply)],
)
def test_all_reduce_combines_over_devices(kind: str, function: np.ufunc) -> None:
    source, target = spec((Y,), partial=(X,), kind=kind), spec((Y,))
    executable = relaid(f'dtensor.all_reduce {kind} @mesh {{"x"}}', (6,), source, target)
    partial = np.random.default_rng(0).standard_normal((4, 2, 3)).astype(np.float32)
    (result,) = executable.run_stacked([partial])
    np.testing.assert_allclose(result, function.reduce(partial, axis=0, keepdims=True), rtol=1e-6)
    assert executable.ledger.as_dict() == {
        "sent_bytes": 18,
        "messages": 1,
        "collectives": [{"kind": "all_reduce", "axes": ["x"], "messages": 1, "sent_bytes": 18}],
        "runs": {},
    }


def test_reduce_scatter_combines_and_slices() -> None:
    source, target = spec((), (), partial=(X,), kind="sum"), spec((), (X,))
    executable = relaid('dtensor.reduce_scatter sum @mesh [{}, {"x"}]', (3, 8), source, target)
    partial = np.random.default_rng(0).standard_normal((4, 1, 3, 8)).astype(np.float32)
    (result,) = executable.run_stacked([partial])
    np.testing.assert_allclose(from_stacked(result, target, MESH), partial.sum((0, 1)), rtol=1e-5)
    assert executable.ledger.sent_bytes == Fraction(3, 4) * 3 * 8 * 4


def test_a_sum_over_devices_that_agree_multiplies() -> None:
    source, target = spec((), partial=(X,), kind="sum"), spec(())
    text = """
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = dtensor.all_reduce sum @mesh {"x"} %a : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
    executable = compile_module(parse_module(text, "test.mlir"))
    np.testing.assert_array_equal(executable.run([np.float32([1, 2])])[0], [4, 8])
    assert source.with_partial((), "") == target


def test_combined_all_reduce_is_one_message() -> None:
    text = """
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<2xf32>, %b: tensor<3xf64>) -> (tensor<2xf32>, tensor<3xf64>) {
  %0, %1 = dtensor.all_reduce max @mesh {"x", "y"} %a, %b
      : (tensor<2xf32>, tensor<3xf64>) -> (tensor<2xf32>, tensor<3xf64>)
  return %0, %1 : tensor<2xf32>, tensor<3xf64>
}
"""
    executable = compile_module(parse_module(text, "test.mlir"))
    executable.run([np.zeros(2, np.float32), np.zeros(3)])
    assert executable.ledger.messages == 1
    assert executable.ledger.sent_bytes == Fraction(2 * 7, 8) * (8 + 24)


def test_axis_index_counts_major_to_minor() -> None:
    target = spec((X, Y))
    text = f"""
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main() -> (tensor<1xi32> {{dtensor.layout = #dtensor.layout{target},
    dtensor.global_type = tensor<8xi32>}}) {{
  %0 = dtensor.axis_index @mesh {{"x", "y"}} : tensor<i32>
  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  return %1 : tensor<1xi32>
}}
"""
    executable = compile_module(parse_module(text, "test.mlir"))
    np.testing.assert_array_equal(executable.run([])[0], np.arange(8))


@pytest.mark.parametrize("layout", [spec((X,), (Y,)), spec((Y, X), ()), spec((X_MINOR,), (Y,)), spec((), ())])
def test_components_round_trip(layout: LayoutSpec) -> None:
    array = np.arange(16 * 24).reshape(16, 24)
    stacked = to_stacked(array, layout, MESH)
    parts = [component(stacked, MESH, at) for at in range(MESH.size)]
    assert {part.shape for part in parts} == {local_shape((16, 24), layout, MESH)}
    np.testing.assert_array_equal(from_stacked(stacked, layout, MESH), array)
    np.testing.assert_array_equal(from_stacked(stack_components(parts, layout, MESH), layout, MESH), array)


def test_partial_layouts_scatter_to_one_device_and_combine_back() -> None:
    layout = spec((Y,), partial=(X,), kind="max")
    array = np.arange(-3, 3, dtype=np.float32)
    np.testing.assert_array_equal(from_stacked(to_stacked(array, layout, MESH), layout, MESH), array)


def test_relayouts_of_empty_arrays_send_nothing() -> None:
    source, target = spec((X,), ()), spec((Y,), ())
    for op in ("exchange", "collective_permute"):
        executable = relaid(f"dtensor.{op} {source} to {target}", (0, 2), source, target)
        assert executable.run([np.empty((0, 2), np.float32)])[0].shape == (0, 2)
        assert executable.ledger.sent_bytes == 0


def test_a_product_of_constants_sums_over_devices() -> None:
    text = """
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main() -> tensor<3x3xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<8x3xi32>
  %1 = dtensor.all_slice @mesh [{"x"}, {}] %0 : (tensor<8x3xi32>) -> tensor<2x3xi32>
  %2 = stablehlo.dot_general %1, %1, contracting_dims = [0] x [0]
      : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<3x3xi32>
  %3 = dtensor.all_reduce sum @mesh {"x"} %2 : (tensor<3x3xi32>) -> tensor<3x3xi32>
  return %3 : tensor<3x3xi32>
}
"""
    executable = compile_module(parse_module(text, "test.mlir"))
    squares = sum(index * index for index in range(8))
    np.testing.assert_array_equal(executable.run([])[0], np.full((3, 3), squares))
