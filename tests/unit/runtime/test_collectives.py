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
    ('dtensor.unscatter sum @mesh [{"x"}, {}]', spec((X,), ()), spec((), (), partial=(X,), kind="sum"), Fraction(0)),
    (
        'dtensor.unscatter max @mesh [{"x":(2)2}, {"y"}]',
        spec((X,), (Y,)),
        spec((X_MAJOR,), (), partial=(X_MINOR, Y), kind="max"),
        Fraction(0),
    ),
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


def scattered(table: int = 0, body: str = "add", combiner: str = "sum", twice: bool = False) -> Executable:
    """Each device adds its rows of updates to a table of its own, and all add up the tables; or the like."""
    whole, rows = "tensor<3x5xi32>", 'dtensor.layout = #dtensor.layout<@mesh, [{"x"}, {}]>'
    result = f"{whole} {{dtensor.layout = #dtensor.layout<@mesh, [{{}}, {{}}]>, dtensor.global_type = {whole}}}"
    text = f"""
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%i: tensor<2x1xi32> {{{rows}, dtensor.global_type = tensor<8x1xi32>}},
    %u: tensor<2x3xi32> {{{rows}, dtensor.global_type = tensor<8x3xi32>}})
    -> ({result}{f", {result}" if twice else ""}) {{
  %table = stablehlo.constant dense<{table}> : tensor<5x3xi32>
  %0 = "stablehlo.scatter"(%table, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%old: tensor<i32>, %new: tensor<i32>):
    %both = stablehlo.{body} %old, %new : tensor<i32>
    stablehlo.return %both : tensor<i32>
  }}) : (tensor<5x3xi32>, tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<5x3xi32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<5x3xi32>) -> {whole}
  %2 = dtensor.all_reduce {combiner} @mesh {{"x"}} %1 : ({whole}) -> {whole}
  {f'%3 = dtensor.all_reduce max @mesh {{"x"}} %1 : ({whole}) -> {whole}' if twice else ""}
  return %2{", %3" if twice else ""} : {whole}{f", {whole}" if twice else ""}
}}
"""
    return compile_module(parse_module(text, "test.mlir"))


INDICES = np.array([[0], [3], [3], [3], [9], [1], [3], [0]], np.int32)
UPDATES = np.arange(24, dtype=np.int32).reshape(8, 3)


def tables(start: int, combine: np.ufunc) -> np.ndarray:
    """The table of each device, one after the other; what lies beyond it is left out."""
    found = np.full((4, 5, 3), start, np.int32)
    for row, (target,) in enumerate(INDICES):
        if target < 5:
            found[row // 2, target] = combine(found[row // 2, target], UPDATES[row])
    return found.transpose(0, 2, 1)


def test_a_scatter_adds_what_all_devices_have_to_one_table() -> None:
    executable = scattered()
    np.testing.assert_array_equal(executable.run([INDICES, UPDATES])[0], tables(0, np.add).sum(0))
    assert "(0,), out=" in executable.source  # along x
    assert executable.ledger.sent_bytes == 2 * 3 * 60 / 4  # an all-reduce of 60 bytes among four
    assert executable.peak_bytes < 4 * 60 + 96 + 32  # four tables, updates and indices


@pytest.mark.parametrize(
    ("table", "body", "combiner", "combine", "total"),
    [
        (1, "add", "sum", np.add, np.add),
        (0, "maximum", "sum", np.maximum, np.add),
        (0, "add", "max", np.add, np.maximum),
    ],
)
def test_other_scatters_are_made_on_each_device(
    table: int, body: str, combiner: str, combine: np.ufunc, total: np.ufunc
) -> None:
    executable = scattered(table, body, combiner)
    np.testing.assert_array_equal(executable.run([INDICES, UPDATES])[0], total.reduce(tables(table, combine)))
    assert "(0,), out=" not in executable.source


def test_a_table_that_something_else_reads_is_made_on_each_device() -> None:
    executable = scattered(twice=True)
    total, largest = executable.run([INDICES, UPDATES])
    np.testing.assert_array_equal(total, tables(0, np.add).sum(0))
    np.testing.assert_array_equal(largest, tables(0, np.add).max(0))
