"""One program on several processes: each has its part of what one process computes, and sends no more than it must."""

from __future__ import annotations

import operator
from functools import reduce
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from harness import partitioned
from processes import on_processes
from stored_programs import RUNNABLE, SHARED, inputs, meta, outputs, text

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.axes import Axis
from shardwright.layout.forms.clients import Clients
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.executable import Executable, compile_module
from shardwright.runtime.processes.communicator import Communicator
from shardwright.runtime.stacking import component, local_shape, to_stacked

MESH = Mesh([("x", 4), ("y", 2)])
X, Y, X_MAJOR, X_MINOR = Axis("x"), Axis("y"), Axis("x", 1, 2), Axis("x", 2, 2)


def spec(*dims: tuple[Axis, ...], partial: tuple[Axis, ...] = (), kind: str = "") -> LayoutSpec:
    return LayoutSpec("mesh", dims, partial=partial, kind=kind)


def module_of(op: str, shape: tuple[int, ...], source: LayoutSpec, target: LayoutSpec, element: str = "i32") -> Any:
    """A module of one collective from `source` to `target`, on MESH."""

    def tensor(extents: tuple[int, ...]) -> str:
        return f"tensor<{'x'.join([*map(str, extents), element])}>"

    before, after = (tensor(local_shape(shape, layout, MESH)) for layout in (source, target))
    return parse_module(
        f"""
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: {before} {{dtensor.layout = #dtensor.layout{source}, dtensor.global_type = {tensor(shape)}}})
    -> ({after} {{dtensor.layout = #dtensor.layout{target}, dtensor.global_type = {tensor(shape)}}}) {{
  %0 = {op} %a : ({before}) -> {after}
  return %0 : {after}
}}
""",
        "test.mlir",
    )


def ran(module: Any, arrays: list[Any], count: int, *, fused: bool = False) -> list[tuple[list[Any], Any, int]]:
    """What a module gives on each of so many processes: its part of the results, its ledger, and the bytes it sent."""

    def work(communicator: Communicator) -> tuple[list[Any], Any, int]:
        executable = compile_module(module, fused=fused, communicator=communicator, threads=1)
        assert executable.mesh is not None
        mine = executable.mesh.seen_by(communicator.clients)
        own = [to_stacked(array, port.spec, mine) for array, port in zip(arrays, executable.inputs, strict=True)]
        travels.append(executable.travels)
        results = [np.array(result) for result in executable.run_stacked(own)]
        return results, executable.ledger.as_dict(), communicator.sent_bytes

    travels: list[Any] = []
    found = on_processes(count, work)
    assert all(each == travels[0] for each in travels)
    return found


def assert_parts(found: list[Any], whole: Any, target: LayoutSpec, mesh: Mesh, **tolerance: Any) -> None:
    """Each process has its devices' parts of an array."""
    for place, part in enumerate(found):
        mine = mesh.seen_by(Clients(len(found), place))
        everything = to_stacked(whole, target, mesh)
        for device in mine.local_device_ids:
            held, due = component(part, mine, device), component(everything, mesh, device)
            if tolerance:
                np.testing.assert_allclose(held.astype(np.complex128), due.astype(np.complex128), **tolerance)
            else:
                np.testing.assert_array_equal(held, due)


LAYOUTS = [
    spec((), ()),
    spec((X,), ()),
    spec((), (Y,)),
    spec((X,), (Y,)),
    spec((Y,), (X,)),
    spec((X, Y), ()),
    spec((Y, X), ()),
    spec((X_MINOR, Y), (X_MAJOR,)),
    spec((), (X_MINOR, X_MAJOR)),
]


@pytest.mark.every(4)
@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize(("source", "target"), list(product(LAYOUTS, LAYOUTS))[1:])
def test_every_exchange_moves_what_is_missing_and_no_more(count: int, source: LayoutSpec, target: LayoutSpec) -> None:
    array = np.arange(16 * 24, dtype=np.int32).reshape(16, 24)
    found = ran(module_of(f"dtensor.exchange {source} to {target}", (16, 24), source, target), [array], count)
    assert_parts([results[0] for results, _, _ in found], array, target, MESH)
    missing = sum(
        len(np.setdiff1d(elements(array, target, count, at), elements(array, source, count, at))) for at in range(count)
    )
    assert sum(sent for _, _, sent in found) == 4 * missing


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("over", [(X,), (X_MINOR, Y)])
def test_parts_in_their_places_are_sent_to_nobody(count: int, over: tuple[Axis, ...]) -> None:
    rest = () if over == (X,) else (X_MAJOR,)
    source, target = spec((*rest, *over), ()), spec(rest, (), partial=over, kind="sum")
    array = np.arange(16 * 24, dtype=np.int32).reshape(16, 24)
    listed = ", ".join(map(str, over))
    found = ran(
        module_of(f"dtensor.unscatter sum @mesh [{{{listed}}}, {{}}]", (16, 24), source, target), [array], count
    )
    parts = to_stacked(array, source, MESH)
    for place, (results, ledger, sent) in enumerate(found):
        mine = MESH.seen_by(Clients(count, place))
        for device in mine.local_device_ids:
            held, part = component(results[0], mine, device), component(parts, MESH, device)
            size, at = len(part), device // 2 if over == (X,) else device % 4  # its place along the axes
            np.testing.assert_array_equal(held[at * size : (at + 1) * size], part)
            assert np.count_nonzero(held) == np.count_nonzero(part)
        assert (ledger["sent_bytes"], sent) == (0, 0)


def elements(array: Any, layout: LayoutSpec, count: int, place: int) -> Any:
    """The elements that one of several processes holds."""
    return np.unique(to_stacked(array, layout, MESH.seen_by(Clients(count, place))))


def test_a_process_of_an_odd_mesh_holds_a_box() -> None:
    mesh = Mesh(x=3, y=4)
    assert mesh.seen_by(Clients(6, 5)).client_shape == (1, 2)
    assert mesh.seen_by(Clients(6, 5)).local_device_ids == (10, 11)
    with pytest.raises(ShardwrightError, match="SW0120"):
        mesh.client_borders(4)
    with pytest.raises(ShardwrightError, match="SW0120"):
        mesh.client_borders(24)


def test_an_axis_of_one_device_crosses_nothing() -> None:
    """Processes cannot differ along it, so it names no layout of a result."""
    text = """
sdy.mesh @mesh = <["x"=2, "one"=1, "y"=2]>
func.func public @main(%a: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"one"}, {"y"}]>})
    -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.add %a, %a : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
"""
    array = np.arange(16, dtype=np.int32).reshape(4, 4)
    found = ran(partitioned(text)[1], [array], 4)
    assert_parts(
        [results[0] for results, _, _ in found], array * 2, spec((), (Y,)), Mesh([("x", 2), ("one", 1), ("y", 2)])
    )


SAME_EVERYWHERE = """
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<4xi32> {dtensor.layout = #dtensor.layout<@mesh, [{}]>})
    -> (tensor<4xi32> {dtensor.layout = #dtensor.layout<@mesh, [{}]>}) {
  %0 = dtensor.all_reduce sum @mesh {"x"} %a : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
"""


@pytest.mark.parametrize("count", [1, 4, 8])
def test_what_is_the_same_everywhere_is_sent_as_the_plan_says(count: int) -> None:
    found = ran(parse_module(SAME_EVERYWHERE, "test.mlir"), [np.arange(4, dtype=np.int32)], count)
    for results, _, _ in found:
        np.testing.assert_array_equal(results[0].reshape(4), np.arange(4) * 4)
    assert sum(sent for _, _, sent in found) == {1: 0, 4: 1, 8: 2}[count] * 2 * 3 * 16  # to who combines, and back


NUMBERS = np.random.default_rng(0)

REDUCTIONS = [
    *(("sum", name, np.add) for name in ("i8", "i32", "f16", "bf16", "f32", "f64", "complex<f32>")),
    ("prod", "f32", np.multiply),
    ("max", "f32", np.maximum),
    ("min", "i32", np.minimum),
    ("and", "i1", np.bitwise_and),
    ("or", "i32", np.bitwise_or),
]

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i32": np.int32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "complex<f32>": np.complex64,
}


def device_parts(kind: str, shape: tuple[int, ...], dtype: Any) -> list[Any]:
    """A small whole number for each element of each device: sums and products of them are exact."""
    low, high = (1, 3) if kind == "prod" else (0, 2) if dtype == np.bool_ else (-3, 4)
    return [NUMBERS.integers(low, high, shape).astype(dtype) for _ in range(MESH.size)]


def spread(parts: list[Any], place: int, count: int) -> Any:
    """The stacked form of a process's devices, which all differ."""
    mine = MESH.seen_by(Clients(count, place))
    own = np.stack([parts[device] for device in mine.local_device_ids])
    return own.reshape(mine.client_shape + parts[0].shape)


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize(("kind", "element", "function"), REDUCTIONS)
def test_reductions_combine_all_devices(kind: str, element: str, function: Any, count: int) -> None:
    source, target = spec((), partial=(X, Y), kind=kind), spec(())
    parts = device_parts(kind, (7,), DTYPES[element])
    module = module_of(f'dtensor.all_reduce {kind} @mesh {{"x", "y"}}', (7,), source, target, element)
    whole = reduce(function, parts)
    found = reduced(module, parts, count)
    for result, _ in found:
        np.testing.assert_array_equal(result.reshape(7), whole)
    assert sum(sent for _, sent in found) == 2 * (count - 1) * parts[0].nbytes  # to those who combine, and back


@pytest.mark.parametrize("count", [2, 4, 8])
def test_reduce_scatter_leaves_each_process_its_part(count: int) -> None:
    source, target = spec((), (Y,), partial=(X,), kind="sum"), spec((X_MINOR,), (Y, X_MAJOR))
    parts = device_parts("sum", (8, 6), np.int32)
    op = 'dtensor.reduce_scatter sum @mesh [{"x":(2)2}, {"x":(1)2}]'
    whole = np.concatenate([reduce(operator.add, parts[y::2]) for y in range(2)], axis=1)
    found = reduced(module_of(op, (8, 12), source, target), parts, count)
    assert_parts([result for result, _ in found], whole, target, MESH)


def reduced(module: Any, parts: list[Any], count: int) -> list[tuple[Any, int]]:
    def work(communicator: Communicator) -> tuple[Any, int]:
        executable = compile_module(module, fused=False, communicator=communicator)
        result = executable.run_stacked([spread(parts, communicator.clients.place, count)])[0]
        return np.array(result), communicator.sent_bytes

    return on_processes(count, work)


LOOP = """
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<i32> {dtensor.layout = #dtensor.layout<@mesh, []>})
    -> (tensor<1xi32> {dtensor.layout = #dtensor.layout<@mesh, [{"x"}]>, dtensor.global_type = tensor<4xi32>}) {
  %i = dtensor.axis_index @mesh {"x"} : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%k = %i, %s = %a) : tensor<i32>, tensor<i32>
    cond {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %go = stablehlo.compare GT, %k, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %less = stablehlo.subtract %k, %one : tensor<i32>
      %more = stablehlo.add %s, %BODY : tensor<i32>
      stablehlo.return %less, %more : tensor<i32>, tensor<i32>
    }
  %r = stablehlo.reshape %0#1 : (tensor<i32>) -> tensor<1xi32>
  return %r : tensor<1xi32>
}
"""


@pytest.mark.parametrize("count", [1, 2, 4])
def test_loops_run_as_long_as_each_process_says(count: int) -> None:
    module = parse_module(LOOP.replace("%BODY", "%k"), "loop.mlir")
    found = ran(module, [np.int32(10)], count)
    # Device i adds i + (i - 1) + ... + 1.
    assert_parts([results[0] for results, _, _ in found], np.array([10, 11, 13, 16]), spec((X,)), Mesh(x=4))


def test_collectives_under_a_condition_that_differs_are_refused_on_all_processes() -> None:
    body = '%sum = dtensor.all_reduce sum @mesh {"x"} %k : (tensor<i32>) -> tensor<i32>\n      %more'
    module = parse_module(LOOP.replace("%more =", f"{body} =", 1).replace("%BODY", "%sum"), "loop.mlir")
    with pytest.raises(ShardwrightError, match="SW0608"):
        ran(module, [np.int32(10)], 4)


def test_a_result_that_differs_between_processes_is_refused() -> None:
    text = LOOP.replace('[{"x"}]>, dtensor.global_type = tensor<4xi32>', "[{}]>").replace("%BODY", "%k")
    with pytest.raises(ShardwrightError, match="SW0606"):
        ran(parse_module(text, "loop.mlir"), [np.int32(10)], 4)


def assert_program(name: str, count: int, *, fused: bool) -> None:
    """A program on several processes gives what JAX gave, and all count the bytes that one process counts."""
    _, local = partitioned(text(name))
    alone: Executable = compile_module(local, fused=False)
    alone.run(inputs(name))
    mesh, found = Mesh(meta(name)["mesh"]), ran(local, inputs(name), count, fused=fused)
    for at, (port, whole) in enumerate(zip(alone.outputs, outputs(name), strict=True)):
        assert_parts([results[at] for results, _, _ in found], whole, port.spec, mesh, **meta(name)["tol"])
    assert all(ledger == alone.ledger.as_dict() for _, ledger, _ in found)
    total = sum(sent for _, _, sent in found)
    assert total <= alone.ledger.sent_bytes * mesh.size
    if count == mesh.size:
        assert total == alone.ledger.sent_bytes * count


@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "count"), SHARED)
def test_programs(name: str, count: int) -> None:
    assert_program(name, count, fused=count < 8)


@pytest.mark.slow
@pytest.mark.parametrize("fused", [False, True], ids=["plain", "fused"])
@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("name", RUNNABLE)
def test_every_program(name: str, count: int, fused: bool) -> None:
    if Mesh(meta(name)["mesh"]).size % count == 0:
        assert_program(name, count, fused=fused)
