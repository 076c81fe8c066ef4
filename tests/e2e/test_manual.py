"""
Manual computations against a simulation in plain NumPy: a dictionary of arrays, one for each device.

Each body is StableHLO with explicit collectives; its simulation says in Python loops what each device ends with.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from harness import Array, partitioned, run, run_unsharded

from shardwright.diagnostics import ShardwrightError
from shardwright.runtime.executable import compile_module

SIZES = {"x": 4, "y": 2}
Device = tuple[int, ...]
Grid = dict[Device, Array]
DEVICES: list[Device] = list(itertools.product(*(range(size) for size in SIZES.values())))
NUMBERS = {device: number for number, device in enumerate(DEVICES)}
Dims = Sequence[Sequence[str]]


def place(device: Device, axes: Sequence[str]) -> int:
    """A device's number over some axes, major to minor."""
    number = 0
    for axis in axes:
        number = number * SIZES[axis] + device[list(SIZES).index(axis)]
    return number


def group(device: Device, axes: Sequence[str]) -> list[Device]:
    """The devices that differ from `device` along `axes` only, in the order of their numbers over them."""
    kept = [at for at, axis in enumerate(SIZES) if axis not in axes]
    same = [other for other in DEVICES if all(other[at] == device[at] for at in kept)]
    return sorted(same, key=lambda other: place(other, axes))


def cut(array: Array, dims: Dims) -> Grid:
    """Each device's part of a global array."""
    parts: Grid = {}
    for device in DEVICES:
        part = array
        for dim, axes in enumerate(dims):
            count = int(np.prod([SIZES[axis] for axis in axes], dtype=int))
            part = np.split(part, count, axis=dim)[place(device, axes)]
        parts[device] = part
    return parts


def join(parts: Grid, dims: Dims) -> Array:
    """The global array of parts; along axes that split no dim they must be equal."""
    local = next(iter(parts.values()))
    counts = [int(np.prod([SIZES[axis] for axis in axes], dtype=int)) for axes in dims]
    whole = np.zeros([extent * count for extent, count in zip(local.shape, counts, strict=True)], local.dtype)
    seen: dict[Device, Array] = {}
    for device, part in parts.items():
        at = tuple(place(device, axes) for axes in dims)
        np.testing.assert_array_equal(seen.setdefault(at, part), part)
        index = [slice(a * n, (a + 1) * n) for a, n in zip(at, local.shape, strict=True)]
        whole[tuple(index)] = part
    return whole


@dataclass(frozen=True)
class Case:
    """A body, the shardings of what goes in and out, what each device does, and the bytes that it sends."""

    name: str
    shape: tuple[int, ...]
    dims: Dims
    body: str
    result: str
    out: Dims
    simulate: Callable[[Grid], Grid]
    sent: Fraction | int
    dtype: str = "f32"


def sharding(dims: Dims) -> str:
    """`<@mesh, [{"x"}, {}]>`."""
    return "<@mesh, [" + ", ".join("{" + ", ".join(f'"{axis}"' for axis in axes) + "}" for axes in dims) + "]>"


def tensor(shape: Sequence[int], dtype: str) -> str:
    """`tensor<2x4xf32>`."""
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{dtype}>"


def text_of(case: Case) -> str:
    """The program: one manual computation over both axes."""
    local = next(iter(cut(np.zeros(case.shape), case.dims).values())).shape
    result = join(case.simulate(cut(np.zeros(case.shape, np.float32), case.dims)), case.out)
    whole, inner, after = tensor(case.shape, case.dtype), tensor(local, case.dtype), tensor(result.shape, case.dtype)
    return f"""
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: {whole}) -> {after} {{
  %0 = sdy.manual_computation(%a) in_shardings=[{sharding(case.dims)}] out_shardings=[{sharding(case.out)}]
      manual_axes={{"x", "y"}} (%b: {inner}) {{
    {case.body}
    sdy.return %r : {case.result}
  }} : ({whole}) -> {after}
  return %0 : {after}
}}
"""


CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"


def axes_text(*axes: str) -> str:
    """Groups as mesh axes."""
    refs = ", ".join(f'#stablehlo.axis_ref<name = "{axis}">' for axis in axes)
    return f"replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [{refs}]>"


def listed(*axes: str) -> str:
    """The same groups as a list of devices."""
    rows = sorted({tuple(NUMBERS[other] for other in group(device, axes)) for device in DEVICES})
    values = ", ".join(str(list(row)) for row in rows)
    return f"replica_groups = dense<[{values}]> : tensor<{len(rows)}x{len(rows[0])}xi64>"


def reducer(op: str, dtype: str = "f32") -> str:
    """The body that combines two elements."""
    return (
        f"{{\n^bb0(%p: tensor<{dtype}>, %q: tensor<{dtype}>):\n%s = stablehlo.{op} %p, %q : tensor<{dtype}>\n"
        f"stablehlo.return %s : tensor<{dtype}>\n}}"
    )


def combined(parts: Grid, axes: Sequence[str], function: Callable[[Sequence[Array]], Array]) -> Grid:
    """All-reduce: each device has what its group's values combine to."""
    return {device: function([parts[other] for other in group(device, axes)]) for device in DEVICES}


def total(values: Sequence[Array]) -> Array:
    """The sum, in the values' dtype."""
    return np.sum(np.stack(values), axis=0, dtype=values[0].dtype)


def reduce_case(
    name: str, op: str, axes: Sequence[str], groups: str, function: Callable[[Sequence[Array]], Array]
) -> Case:
    """An all-reduce of a split matrix."""
    size = int(np.prod([SIZES[axis] for axis in axes], dtype=int))
    return Case(
        f"all_reduce-{name}",
        (8, 8),
        (("x",), ("y",)),
        f'%r = "stablehlo.all_reduce"(%b) <{{{CHANNEL}, {groups}, use_global_device_ids}}> ({reducer(op)}) : '
        "(tensor<2x4xf32>) -> tensor<2x4xf32>",
        "tensor<2x4xf32>",
        (tuple(set("x") - set(axes)), tuple(set("y") - set(axes))),
        lambda parts: combined(parts, axes, function),
        Fraction(2 * (size - 1) * 32, size),
    )


def gathered(parts: Grid, axes: Sequence[str], dim: int) -> Grid:
    """All-gather: the group's values side by side."""
    return {device: np.concatenate([parts[other] for other in group(device, axes)], dim) for device in DEVICES}


def gather_case(name: str, axes: Sequence[str], groups: str, dim: int, out: Dims) -> Case:
    """An all-gather along a dim."""
    size = int(np.prod([SIZES[axis] for axis in axes], dtype=int))
    shape = [2, 4]
    shape[dim] *= size
    return Case(
        f"all_gather-{name}",
        (8, 8),
        (("x",), ("y",)),
        f'%r = "stablehlo.all_gather"(%b) <{{all_gather_dim = {dim} : i64, {CHANNEL}, {groups}, '
        f"use_global_device_ids}}> : (tensor<2x4xf32>) -> {tensor(shape, 'f32')}",
        tensor(shape, "f32"),
        out,
        lambda parts: gathered(parts, axes, dim),
        (size - 1) * 32,
    )


def scattered(parts: Grid, axes: Sequence[str], dim: int) -> Grid:
    """Reduce-scatter: each device has its part of the sum."""
    sums = combined(parts, axes, total)
    return {device: np.split(sums[device], len(group(device, axes)), dim)[place(device, axes)] for device in DEVICES}


def scatter_case(name: str, axes: Sequence[str], groups: str, dim: int, out: Dims) -> Case:
    """A reduce-scatter of a matrix that every device along the axes has a version of."""
    size = int(np.prod([SIZES[axis] for axis in axes], dtype=int))
    shape = [8, 8]
    shape[dim] //= size
    return Case(
        f"reduce_scatter-{name}",
        (32, 16),
        (("x",), ("y",)),
        f'%r = "stablehlo.reduce_scatter"(%b) <{{{CHANNEL}, {groups}, scatter_dimension = {dim} : i64, '
        f"use_global_device_ids}}> ({reducer('add')}) : (tensor<8x8xf32>) -> {tensor(shape, 'f32')}",
        tensor(shape, "f32"),
        out,
        lambda parts: scattered(parts, axes, dim),
        Fraction((size - 1) * 256, size),
    )


def traded(parts: Grid, axes: Sequence[str], split: int, concat: int) -> Grid:
    """All-to-all: part `i` of dim `split` goes to device `i`, which joins what it gets along dim `concat`."""
    found: Grid = {}
    for device in DEVICES:
        peers = group(device, axes)
        mine = [np.split(parts[peer], len(peers), split)[place(device, axes)] for peer in peers]
        found[device] = np.concatenate(mine, concat)
    return found


def trade_case(name: str, axes: Sequence[str], groups: str, split: int, concat: int) -> Case:
    """An all-to-all whose result is split as its operand, so that each device's part shows."""
    size = int(np.prod([SIZES[axis] for axis in axes], dtype=int))
    shape = [8, 8]
    shape[split] //= size
    shape[concat] *= size
    return Case(
        f"all_to_all-{name}",
        (32, 16),
        (("x",), ("y",)),
        f'%r = "stablehlo.all_to_all"(%b) <{{{CHANNEL}, concat_dimension = {concat} : i64, {groups}, '
        f"split_count = {size} : i64, split_dimension = {split} : i64}}> : (tensor<8x8xf32>) -> {tensor(shape, 'f32')}",
        tensor(shape, "f32"),
        (("x",), ("y",)),
        lambda parts: traded(parts, axes, split, concat),
        Fraction((size - 1) * 256, size),
    )


def sent_along(parts: Grid, pairs: Mapping[int, int]) -> Grid:
    """Collective-permute: who is no target has zeros."""
    sources = {target: source for source, target in pairs.items()}
    return {
        device: parts[DEVICES[sources[number]]] if number in sources else np.zeros_like(parts[device])
        for device, number in NUMBERS.items()
    }


def permute_case(name: str, pairs: Mapping[int, int]) -> Case:
    """A collective-permute along pairs of device numbers."""
    listed_pairs = ", ".join(f"[{source}, {target}]" for source, target in pairs.items())
    moved = sum(source != target for source, target in pairs.items())
    return Case(
        f"collective_permute-{name}",
        (8, 8),
        (("x",), ("y",)),
        f'%r = "stablehlo.collective_permute"(%b) <{{{CHANNEL}, source_target_pairs = dense<[{listed_pairs}]> : '
        f"tensor<{len(pairs)}x2xi64>}}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
        "tensor<2x4xf32>",
        (("x",), ("y",)),
        lambda parts: sent_along(parts, pairs),
        Fraction(moved * 32, 8),
    )


def numbered(parts: Grid) -> Grid:
    """Each device adds its number, and a hundred times its number along x."""
    return {
        device: parts[device] + np.float32(NUMBERS[device]) + np.float32(100 * place(device, ["x"]))
        for device in DEVICES
    }


NUMBERS_BODY = """
    %c2 = stablehlo.constant dense<2> : tensor<ui32>
    %c4 = stablehlo.constant dense<4> : tensor<ui32>
    %c100 = stablehlo.constant dense<100> : tensor<ui32>
    %id = stablehlo.partition_id : tensor<ui32>
    %q = stablehlo.divide %id, %c2 : tensor<ui32>
    %x = stablehlo.remainder %q, %c4 : tensor<ui32>
    %h = stablehlo.multiply %x, %c100 : tensor<ui32>
    %n = stablehlo.add %h, %id : tensor<ui32>
    %f = stablehlo.convert %n : (tensor<ui32>) -> tensor<f32>
    %w = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %r = stablehlo.add %b, %w : tensor<2x4xf32>"""

RING = {number: (number + 2) % 8 for number in range(8)}

CASES = [
    reduce_case("add-y", "add", ["y"], axes_text("y"), total),
    reduce_case("add-x-listed", "add", ["x"], listed("x"), total),
    reduce_case("add-both", "add", ["x", "y"], axes_text("x", "y"), total),
    reduce_case("add-both-listed-otherwise", "add", ["x", "y"], listed("y", "x"), total),
    reduce_case("maximum-x", "maximum", ["x"], axes_text("x"), lambda values: np.max(np.stack(values), 0)),
    reduce_case("minimum-y", "minimum", ["y"], listed("y"), lambda values: np.min(np.stack(values), 0)),
    reduce_case("multiply-x", "multiply", ["x"], axes_text("x"), lambda values: np.prod(np.stack(values), 0)),
    gather_case("x", ["x"], axes_text("x"), 0, ((), ("y",))),
    gather_case("y-along-0", ["y"], listed("y"), 0, (("x",), ())),
    gather_case("both", ["x", "y"], axes_text("x", "y"), 1, ((), ())),
    gather_case("both-minor-first", ["y", "x"], listed("y", "x"), 1, ((), ())),
    scatter_case("x", ["x"], axes_text("x"), 0, (("x",), ("y",))),
    scatter_case("y-along-1", ["y"], listed("y"), 1, (("x",), ("y",))),
    scatter_case("both", ["y", "x"], axes_text("y", "x"), 0, (("y", "x"), ())),
    trade_case("x-1-to-0", ["x"], axes_text("x"), 1, 0),
    trade_case("y-0-to-1", ["y"], listed("y"), 0, 1),
    trade_case("x-along-one-dim", ["x"], listed("x"), 0, 0),
    trade_case("both-along-one-dim", ["x", "y"], axes_text("x", "y"), 1, 1),
    trade_case("both-minor-first", ["y", "x"], axes_text("y", "x"), 0, 1),
    permute_case("ring", RING),
    permute_case("open-chain", {0: 2, 2: 4, 1: 3, 3: 5}),
    permute_case("irregular", {0: 5, 3: 3, 6: 1}),
    permute_case("swap", {0: 1, 1: 0, 2: 3, 3: 2, 4: 5, 5: 4, 6: 7, 7: 6}),
    Case("numbers", (8, 8), (("x",), ("y",)), NUMBERS_BODY, "tensor<2x4xf32>", (("x",), ("y",)), numbered, 0),
    Case(
        "collective_broadcast",
        (8, 8),
        (("x",), ("y",)),
        f'%r = "stablehlo.collective_broadcast"(%b) <{{{CHANNEL}, '
        "replica_groups = dense<[[2, 0, 4, 6], [3, 1, 5, 7]]> : tensor<2x4xi64>}> "
        ": (tensor<2x4xf32>) -> tensor<2x4xf32>",
        "tensor<2x4xf32>",
        ((), ("y",)),
        lambda parts: {device: parts[1, device[1]] for device in DEVICES},
        Fraction(3 * 32, 4),
    ),
]


def inputs(case: Case) -> Array:
    """Small whole numbers: sums are exact in any order."""
    return np.random.default_rng(7).integers(-3, 4, case.shape).astype(np.float32)


@pytest.mark.parametrize("engine", ["plain_numpy", "numpy"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_collectives(case: Case, engine: str) -> None:
    array = inputs(case)
    ran = run(text_of(case), [array], namespace=engine)
    np.testing.assert_array_equal(ran.results[0], join(case.simulate(cut(array, case.dims)), case.out))
    assert ran.predicted == case.sent


@pytest.mark.parametrize("case", CASES[::5], ids=lambda case: case.name)
def test_the_reference_of_check_keeps_the_manual_part(case: Case) -> None:
    array = inputs(case)
    expected = join(case.simulate(cut(array, case.dims)), case.out)
    np.testing.assert_array_equal(run_unsharded(text_of(case), [array])[0], expected)


PARTS = """
sdy.mesh @mesh = <["x"=8]>
func.func public @main(%a: tensor<16xf32>) -> tensor<16xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x"} (%b: tensor<2xf32>) {
    %r = "stablehlo.all_reduce"(%b) <{CHANNEL, GROUPS, use_global_device_ids}> (BODY)
        : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %r : tensor<2xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
""".replace("CHANNEL", CHANNEL).replace("BODY", reducer("add"))


@pytest.mark.parametrize(
    "rows", [[[0, 1], [2, 3], [4, 5], [6, 7]], [[0, 4], [1, 5], [2, 6], [3, 7]], [[0, 2, 1, 3], [4, 6, 5, 7]]]
)
def test_groups_along_parts_of_an_axis(rows: list[list[int]]) -> None:
    groups = f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"
    array = np.arange(16, dtype=np.float32)
    shards = array.reshape(8, 2)
    expected = np.zeros_like(shards)
    for row in rows:
        expected[row] = shards[row].sum(0)
    ran = run(PARTS.replace("GROUPS", groups), [array])
    np.testing.assert_array_equal(ran.results[0], expected.reshape(16))
    assert ran.predicted == Fraction(2 * (len(rows[0]) - 1) * 8, len(rows[0]))


PARTIAL = (
    """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                       %w: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [WEIGHTS]>}) -> tensor<8x6xf32> {
  %0 = sdy.manual_computation(%a, %w) in_shardings=[<@mesh, [{"x", ?}, {?}]>, <@mesh, [{?}, {?}]>]
      out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%b: tensor<2x8xf32>, %v: tensor<8x6xf32>) {
    %1 = stablehlo.dot_general %b, %v, contracting_dims = [1] x [0]
        : (tensor<2x8xf32>, tensor<8x6xf32>) -> tensor<2x6xf32>
    %2 = "stablehlo.all_reduce"(%1) <{CHANNEL, GROUPS}> (BODY) : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x6xf32>
    sdy.return %3 : tensor<2x6xf32>
  } : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
""".replace("CHANNEL", CHANNEL)
    .replace("GROUPS", axes_text("x"))
    .replace("BODY", reducer("add"))
)


@pytest.mark.parametrize(
    ("weights", "sent"),
    [
        ("{}, {}", Fraction(2 * 3 * 48, 4)),
        # Columns split over the free axis: half of the product to reduce over x.
        ('{}, {"y"}', Fraction(2 * 3 * 24, 4)),
        # Rows split: partial sums over y, all of it over x, one sum of them over y.
        ('{"y"}, {}', Fraction(2 * 3 * 48, 4) + 48),
    ],
)
def test_free_axes_propagate_through_a_manual_computation(weights: str, sent: Fraction) -> None:
    random = np.random.default_rng(3)
    a, w = (random.integers(-3, 4, shape).astype(np.float32) for shape in ((8, 8), (8, 6)))
    products = (a @ w).reshape(4, 2, 6)
    ran = run(PARTIAL.replace("WEIGHTS", weights), [a, w])
    np.testing.assert_array_equal(ran.results[0], (products + products.sum(0)).reshape(8, 6))
    assert ran.predicted == sent


CONSTANT = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<16xi32>) -> (tensor<16xi32>, tensor<4xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %s = sdy.sharding_constraint %i <@mesh, [{"x"}]> : tensor<4xi32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x"} (%b: tensor<4xi32>) {
    %j = stablehlo.iota dim = 0 : tensor<4xi32>
    %c = stablehlo.multiply %j, %j : tensor<4xi32>
    %r = stablehlo.add %b, %c : tensor<4xi32>
    sdy.return %r : tensor<4xi32>
  } : (tensor<16xi32>) -> tensor<16xi32>
  %t = stablehlo.multiply %s, %s : tensor<4xi32>
  return %0, %t : tensor<16xi32>, tensor<4xi32>
}
"""


def test_what_is_split_outside_is_whole_inside() -> None:
    """The same constant is split over x outside of the computation; inside, every device along x needs all of it."""
    array = np.arange(16, dtype=np.int32) * 10
    ran = run(CONSTANT, [array])
    squares = np.arange(4, dtype=np.int32) ** 2
    np.testing.assert_array_equal(ran.results[0], array + np.tile(squares, 4))
    np.testing.assert_array_equal(ran.results[1], squares)


NESTED = (
    """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", ?}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>]
      manual_axes={"x"} (%b: tensor<2x8xf32>) {
    %1 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>]
        manual_axes={"y"} (%c: tensor<2x4xf32>) {
      %2 = "stablehlo.all_reduce"(%c) <{CHANNEL, GROUPS}> (BODY) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      sdy.return %2 : tensor<2x4xf32>
    } : (tensor<2x8xf32>) -> tensor<2x8xf32>
    %3 = stablehlo.subtract %b, %1 : tensor<2x8xf32>
    sdy.return %3 : tensor<2x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
""".replace("CHANNEL", CHANNEL)
    .replace("GROUPS", axes_text("y"))
    .replace("BODY", reducer("add"))
)


def test_one_manual_computation_in_another() -> None:
    array = np.random.default_rng(5).integers(-9, 9, (8, 8)).astype(np.float32)
    halves = array[:, :4] + array[:, 4:]
    ran = run(NESTED, [array])
    np.testing.assert_array_equal(ran.results[0], array - np.concatenate([halves, halves], 1))


LOOP = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8xi32>) -> tensor<8xi32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x", "y"} (%b: tensor<2xi32>) {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<2xi32>
    %1:3 = stablehlo.while(%i = %c0, %sum = %zero, %v = %b) : tensor<i32>, tensor<2xi32>, tensor<2xi32>
    cond {
      %2 = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.add %sum, %v : tensor<2xi32>
      %3 = "stablehlo.collective_permute"(%v) <{CHANNEL, source_target_pairs = dense<PAIRS> : tensor<8x2xi64>}>
          : (tensor<2xi32>) -> tensor<2xi32>
      %4 = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %4, %2, %3 : tensor<i32>, tensor<2xi32>, tensor<2xi32>
    }
    sdy.return %1#1 : tensor<2xi32>
  } : (tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
""".replace("CHANNEL", CHANNEL).replace("PAIRS", str([list(pair) for pair in RING.items()]))


def test_a_ring_in_a_loop() -> None:
    array = np.arange(8, dtype=np.int32) ** 2
    shards = array.reshape(4, 2)
    expected = sum(np.roll(shards, step, axis=0) for step in range(3))
    executable = compile_module(partitioned(LOOP)[1])
    np.testing.assert_array_equal(executable.run([array])[0], np.asarray(expected).reshape(8))
    assert executable.ledger.sent_bytes == 3 * 8


def test_a_general_body_is_refused() -> None:
    body = reducer("add").replace("%p, %q", "%p, %p")
    text = PARTS.replace(reducer("add"), body).replace("GROUPS", axes_text("x"))
    with pytest.raises(ShardwrightError, match="SW0461"):
        run(text, [np.zeros(16, np.float32)])


# Each device adds its number to its part; what is said about the parts, a mesh axis of one device or a part of an axis,
# decides which part that is.
NUMBERED = """
sdy.mesh @mesh = <[MESH]>
func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [DIMS, {}]>] out_shardings=[<@mesh, [DIMS, {}]>]
      manual_axes={AXES} (%b: tensor<ROWSx4xf32>) {
    %i = stablehlo.partition_id : tensor<ui32>
    %p = stablehlo.constant dense<PART> : tensor<ui32>
    %j = stablehlo.divide %i, %p : tensor<ui32>
    %f = stablehlo.convert %j : (tensor<ui32>) -> tensor<f32>
    %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<ROWSx4xf32>
    %1 = stablehlo.add %b, %g : tensor<ROWSx4xf32>
    sdy.return %1 : tensor<ROWSx4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""


@pytest.mark.parametrize(
    ("mesh", "axes", "dims", "rows", "part", "order"),
    [
        ('"x"=4, "y"=1', '"x", "y"', '{"y", "x"}', 2, 1, [0, 1, 2, 3]),
        ('"x"=1, "y"=4', '"x", "y"', '{"y", "x"}', 2, 1, [0, 1, 2, 3]),
        ('"x"=4', '"x"', '{"x":(2)2, "x":(1)2}', 2, 1, [0, 2, 1, 3]),
        ('"x"=4', '"x"', '{"x":(1)2}', 4, 2, [0, 1]),
    ],
    ids=["one device, major", "one device, minor", "parts exchanged", "a major part"],
)
def test_shardings_name_axes_of_one_device_and_parts_of_axes(
    mesh: str, axes: str, dims: str, rows: int, part: int, order: list[int]
) -> None:
    text = NUMBERED
    for name, value in {"MESH": mesh, "DIMS": dims, "AXES": axes, "ROWS": rows, "PART": part}.items():
        text = text.replace(name, str(value))
    given = np.arange(32, dtype=np.float32).reshape(8, 4)
    numbers = np.repeat(order, rows).astype(np.float32)[:, None]
    np.testing.assert_array_equal(run(text, [given]).results[0], given + numbers)
