"""
Random manual computations over two axes of a cube, with layouts over the third, against a simulation of each device.

The simulation keeps one array for each device of the manual axes and loops over devices; the free axis never shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from harness import Array, run

from shardwright.compiler.pipelines import ALIGN, IMPORT, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.report import collective_rows, predicted_bytes
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.text.parsing import parse_module
from shardwright.views.pricing import priced

MANUAL = ("a", "b")
DEVICES = list(itertools.product(range(2), range(2)))
Grid = dict[tuple[int, ...], Array]
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
ADD = """({
^bb0(%p: tensor<i32>, %q: tensor<i32>):
  %s = stablehlo.add %p, %q : tensor<i32>
  stablehlo.return %s : tensor<i32>
})"""


def number(device: tuple[int, ...], axes: Sequence[str]) -> int:
    """A device's place in its group."""
    return int("".join(str(device[MANUAL.index(axis)]) for axis in axes), 2)


def peers(device: tuple[int, ...], axes: Sequence[str]) -> list[tuple[int, ...]]:
    """The group's devices, in the order of their places."""
    same = [d for d in DEVICES if all(d[i] == device[i] for i, axis in enumerate(MANUAL) if axis not in axes)]
    return sorted(same, key=lambda d: number(d, axes))


def tensor(shape: Sequence[int]) -> str:
    """`tensor<2x4xi32>`."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}i32>"


def groups(axes: Sequence[str], random: np.random.Generator) -> str:
    """Groups of devices of the whole cube (the free axis is the most minor), as axes or as a list."""
    if random.random() < 0.5:
        refs = ", ".join(f'#stablehlo.axis_ref<name = "{axis}">' for axis in axes)
        return f"replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [{refs}]>"
    rows = [
        [4 * peer[0] + 2 * peer[1] + free for peer in peers(device, axes)]
        for device in DEVICES
        if number(device, axes) == 0
        for free in range(2)
    ]
    return f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"


@dataclass
class Draft:
    """The body so far: its text, and what each device holds of each value."""

    random: np.random.Generator
    lines: list[str] = field(default_factory=list[str])
    values: list[tuple[str, Grid]] = field(default_factory=list[tuple[str, Grid]])

    def shape(self, value: Grid) -> tuple[int, ...]:
        """A value's local shape."""
        return value[0, 0].shape

    def pick(self) -> tuple[str, Grid]:
        """Some value."""
        return self.values[int(self.random.integers(len(self.values)))]

    def axes(self) -> tuple[str, ...]:
        """One or both manual axes, in some order."""
        return tuple(self.random.permutation(MANUAL)[: int(self.random.integers(1, 3))].tolist())

    def add(self, text: str, made: Grid) -> None:
        """One more line, `%n = text`."""
        name = f"%v{len(self.values)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, made))

    def step(self) -> None:
        """One random op that fits."""
        kinds = (self.reduce, self.gather, self.scatter, self.trade, self.permute, self.combine, self.hint, self.index)
        kinds[int(self.random.integers(len(kinds)))]()

    def reduce(self) -> None:
        (name, value), axes = self.pick(), self.axes()
        made = {d: sum((value[p] for p in peers(d, axes)), np.zeros_like(value[d])) for d in DEVICES}
        kind = tensor(self.shape(value))
        attributes = f"{CHANNEL}, {groups(axes, self.random)}, use_global_device_ids"
        self.add(f'"stablehlo.all_reduce"({name}) <{{{attributes}}}> {ADD} : ({kind}) -> {kind}', made)

    def gather(self) -> None:
        (name, value), axes, dim = self.pick(), self.axes(), int(self.random.integers(2))
        if self.shape(value)[dim] > 8:
            return
        made = {d: np.concatenate([value[p] for p in peers(d, axes)], dim) for d in DEVICES}
        attributes = f"all_gather_dim = {dim} : i64, {CHANNEL}, {groups(axes, self.random)}, use_global_device_ids"
        kinds = f"({tensor(self.shape(value))}) -> {tensor(self.shape(made))}"
        self.add(f'"stablehlo.all_gather"({name}) <{{{attributes}}}> : {kinds}', made)

    def scatter(self) -> None:
        (name, value), axes, dim = self.pick(), self.axes(), int(self.random.integers(2))
        count = 2 ** len(axes)
        if self.shape(value)[dim] % count:
            return
        sums = {d: sum((value[p] for p in peers(d, axes)), np.zeros_like(value[d])) for d in DEVICES}
        made = {d: np.split(sums[d], count, dim)[number(d, axes)] for d in DEVICES}
        attributes = f"{CHANNEL}, {groups(axes, self.random)}, scatter_dimension = {dim} : i64, use_global_device_ids"
        kinds = f"({tensor(self.shape(value))}) -> {tensor(self.shape(made))}"
        self.add(f'"stablehlo.reduce_scatter"({name}) <{{{attributes}}}> {ADD} : {kinds}', made)

    def trade(self) -> None:
        (name, value), axes = self.pick(), self.axes()
        split, concat = (int(dim) for dim in self.random.integers(2, size=2))
        count = 2 ** len(axes)
        if self.shape(value)[split] % count or self.shape(value)[concat] > 8:
            return
        made = {
            d: np.concatenate([np.split(value[p], count, split)[number(d, axes)] for p in peers(d, axes)], concat)
            for d in DEVICES
        }
        attributes = f"{CHANNEL}, concat_dimension = {concat} : i64, {groups(axes, self.random)}, "
        attributes += f"split_count = {count} : i64, split_dimension = {split} : i64"
        kinds = f"({tensor(self.shape(value))}) -> {tensor(self.shape(made))}"
        self.add(f'"stablehlo.all_to_all"({name}) <{{{attributes}}}> : {kinds}', made)

    def permute(self) -> None:
        name, value = self.pick()
        moves = list(zip(self.random.permutation(4).tolist(), self.random.permutation(4).tolist(), strict=True))
        moves = moves[: int(self.random.integers(1, 5))]
        source = {DEVICES[target]: DEVICES[start] for start, target in moves}
        made = {d: value[source[d]] if d in source else np.zeros_like(value[d]) for d in DEVICES}
        pairs = [[2 * start + free, 2 * target + free] for start, target in moves for free in range(2)]
        kind = tensor(self.shape(value))
        attributes = f"{CHANNEL}, source_target_pairs = dense<{pairs}> : tensor<{len(pairs)}x2xi64>"
        self.add(f'"stablehlo.collective_permute"({name}) <{{{attributes}}}> : ({kind}) -> {kind}', made)

    def combine(self) -> None:
        name, value = self.pick()
        same = [other for other in self.values if self.shape(other[1]) == self.shape(value)]
        other, second = same[int(self.random.integers(len(same)))]
        made = {d: value[d] - second[d] for d in DEVICES}
        self.add(f"stablehlo.subtract {name}, {other} : {tensor(self.shape(value))}", made)

    def hint(self) -> None:
        name, value = self.pick()
        layouts = ['[{"c"}, {}]', '[{}, {"c"}]', '[{"c", ?}, {?}]', "[{}, {}]", '[{?}, {"c"}]']
        layout = layouts[int(self.random.integers(len(layouts)))]
        dims = layout[1:-1].split("}, ")
        if any('"c"' in dim and size % 2 for dim, size in zip(dims, self.shape(value), strict=True)):
            return
        self.add(f"sdy.sharding_constraint {name} <@mesh, {layout}> : {tensor(self.shape(value))}", dict(value))

    def index(self) -> None:
        name, value = self.pick()
        stride, size = ((4, 2), (2, 2), (2, 4))[int(self.random.integers(3))]
        ids = {d: (4 * d[0] + 2 * d[1]) // stride % size for d in DEVICES}
        kind, tag = tensor(self.shape(value)), len(self.values)
        self.lines += [
            f"%s{tag} = stablehlo.constant dense<{stride}> : tensor<ui32>",
            f"%n{tag} = stablehlo.constant dense<{size}> : tensor<ui32>",
            f"%i{tag} = stablehlo.partition_id : tensor<ui32>",
            f"%d{tag} = stablehlo.divide %i{tag}, %s{tag} : tensor<ui32>",
            f"%r{tag} = stablehlo.remainder %d{tag}, %n{tag} : tensor<ui32>",
            f"%c{tag} = stablehlo.convert %r{tag} : (tensor<ui32>) -> tensor<i32>",
            f"%w{tag} = stablehlo.broadcast_in_dim %c{tag}, dims = [] : (tensor<i32>) -> {kind}",
        ]
        made = {d: value[d] + np.int32(ids[d]) for d in DEVICES}
        self.add(f"stablehlo.add {name}, %w{tag} : {kind}", made)


def program(seed: int) -> tuple[str, Array, Array]:
    """A program, its argument, and what it must give."""
    random = np.random.default_rng(seed)
    array = random.integers(-9, 10, (8, 16)).astype(np.int32)
    draft = Draft(random)
    draft.values.append(("%v0", {d: array[4 * d[0] : 4 * d[0] + 4, 8 * d[1] : 8 * d[1] + 8] for d in DEVICES}))
    for _ in range(int(random.integers(2, 8))):
        draft.step()
    name, value = draft.values[-1]
    rows, columns = draft.shape(value)
    expected = np.concatenate([np.concatenate([value[a, b] for b in range(2)], 1) for a in range(2)], 0)
    choices = ("", *(f" {{sdy.sharding = #sdy.sharding<@mesh, {dims}>}}" for dims in ('[{"a"}, {"c"}]', '[{"c"}, {}]')))
    given = choices[int(random.integers(3))]
    body = "\n    ".join(draft.lines)
    text = f"""
sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func public @main(%x: {tensor((8, 16))}{given}) -> {tensor(expected.shape)} {{
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"a", ?}}, {{"b", ?}}]>]
      out_shardings=[<@mesh, [{{"a", ?}}, {{"b", ?}}]>] manual_axes={{"a", "b"}} (%v0: {tensor((4, 8))}) {{
    {body}
    sdy.return {name} : {tensor((rows, columns))}
  }} : ({tensor((8, 16))}) -> {tensor(expected.shape)}
  return %0 : {tensor(expected.shape)}
}}
"""
    return text, array, expected


def check(seed: int) -> None:
    """Both engines give what the simulation gives; the bytes predicted are those that are sent (`harness.run`)."""
    text, array, expected = program(seed)
    for namespace in ("plain_numpy", "numpy"):
        np.testing.assert_array_equal(run(text, [array], namespace=namespace).results[0], expected, err_msg=text)


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(40))
def test_manual_programs(seed: int) -> None:
    check(seed)


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(40))
def test_manual_programs_have_a_price(seed: int) -> None:
    module = parse_module(program(seed)[0], "manual.mlir")
    run_pipeline(module, [*IMPORT, *PROPAGATE, *ALIGN, *PLAN])
    rows, sent = collective_rows(module), predicted_bytes(module)
    run_pipeline(module, LOCALIZE)
    price = priced(rows, module, next(iter(meshes(module).values())))
    assert [work.row for work in price.works if work.row is not None] == rows
    assert sum(price.bytes_by_axes.values()) == sent


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_manual_programs(block: int) -> None:
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        check(seed)
