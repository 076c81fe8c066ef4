"""Who sends what to whom among many processes: found by arithmetic, with work for this process's partners alone."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from processes import on_processes

from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.axes import Axis
from shardwright.layout.forms.clients import Clients
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.atoms import Atoms
from shardwright.runtime.executable import compile_module
from shardwright.runtime.processes.communicator import Communicator
from shardwright.runtime.processes.crossing import (
    Exchange,
    Group,
    Piece,
    Side,
    Wanted,
    plan_exchange,
    plan_recut,
    plan_transfer,
)
from shardwright.runtime.stacking import to_stacked

MESH = Mesh([("x", 4), ("y", 2)])
X, Y = Axis("x"), Axis("y")


def spec(*dims: tuple[Axis, ...]) -> LayoutSpec:
    return LayoutSpec("mesh", dims)


def planned(mesh: Mesh, source: LayoutSpec, target: LayoutSpec, extents: tuple[int, ...], place: int) -> Exchange:
    """What one process, of as many as the mesh has devices, does to change a layout."""
    atoms = Atoms.cut(mesh, [*source.axes(), *target.axes()], Clients(mesh.size, place))
    before, after = atoms.dims(source), atoms.dims(target)
    crossing = [position for positions in before for position in positions if position in atoms.across]
    return plan_exchange((1,) * atoms.count, before, crossing, Wanted(extents, after, atoms))


def calls_of(work: Callable[[], object]) -> int:
    """How many functions Python calls."""
    count = 0

    def note(_: Any, event: str, __: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("source", "target"), [(spec((X, Y), ()), spec((X,), (Y,))), (spec((X,), (Y,)), spec((X,), ()))]
)
def test_planning_costs_the_same_among_a_million_processes_as_among_eight(
    source: LayoutSpec, target: LayoutSpec
) -> None:
    def work(count: int) -> Exchange:
        return planned(Mesh(x=count // 4, y=4), source, target, (8 * count, 64), count // 2 + 1)

    for count in (8, 1 << 20):
        work(count)  # what is found once for a mesh and remembered
        plan = work(count)
        assert sorted(piece.peer for piece in plan.sends) == sorted(piece.peer for piece in plan.receives)
        assert len(plan.sends) == 3
    assert calls_of(lambda: work(1 << 20)) <= calls_of(lambda: work(8)) + 10


def test_planning_grows_with_the_partners() -> None:
    def work(count: int) -> Exchange:
        return planned(Mesh(x=count), spec((X,), ()), spec((), (X,)), (count, count), 1)

    assert len(work(1024).sends) == 1023
    assert calls_of(lambda: work(1024)) < 17 * calls_of(lambda: work(64))


@pytest.mark.parametrize("place", [0, 517, 1023])
def test_a_gather_among_1024_processes_takes_from_each_its_rows(place: int) -> None:
    plan = planned(Mesh(x=1024), spec((X,), ()), spec((), ()), (8192, 3), place)
    assert {piece.peer: piece.index[1:] for piece in plan.receives} == {
        peer: (slice(8 * peer, 8 * peer + 8), slice(0, 3)) for peer in range(1024) if peer != place
    }
    assert [(piece.peer, piece.shape) for piece in plan.sends] == [
        (peer, (1, 8, 3)) for peer in range(1024) if peer != place
    ]
    assert plan.kept is not None
    assert plan.kept[1].index[1:] == (slice(8 * place, 8 * place + 8), slice(0, 3))


MESHES = [MESH, Mesh([("x", 2), ("z", 1), ("y", 4)])]
TRANSFERS = [spec((), ()), spec((X,), ()), spec((Y,), (X,)), spec((), (Y,)), spec((X, Y), ())]


@pytest.mark.every(2)
@pytest.mark.parametrize(("source", "target"), list(product(TRANSFERS, TRANSFERS)))
@pytest.mark.parametrize("meshes", [(0, 1), (1, 0)])
def test_a_transfer_gives_each_process_what_it_lacks_once(
    source: LayoutSpec, target: LayoutSpec, meshes: tuple[int, int]
) -> None:
    array = np.arange(64).reshape(8, 8)
    plans = [transfer(MESHES[meshes[0]], source, MESHES[meshes[1]], target, place) for place in range(8)]
    for place, plan in enumerate(plans):
        had, due = own(array, MESHES[meshes[0]], source, place), own(array, MESHES[meshes[1]], target, place)
        came = np.full(due.shape, -1)
        if plan.kept is not None:
            came[plan.kept[1].selector] = had[plan.kept[0].selector]
        for piece in plan.receives:
            sent = [each for each in plans[piece.peer].sends if each.peer == place]
            assert len(sent) == 1
            came[piece.selector] = own(array, MESHES[meshes[0]], source, piece.peer)[sent[0].selector]
        np.testing.assert_array_equal(came, due)
        lacking = np.setdiff1d(due, had).size
        assert sum(piece.size for piece in plan.receives) == lacking
    assert sum(len(plan.sends) for plan in plans) == sum(len(plan.receives) for plan in plans)


def parts(random: Random, mesh: Mesh) -> LayoutSpec:
    """A layout of two dims by axes, and parts of axes, in any order; some split nothing."""
    atoms: list[Axis] = []
    for name, size in mesh.sizes.items():
        atoms += [Axis(name, 1, 2), Axis(name, 2, 2)] if size == 4 and random.random() < 0.4 else [Axis(name)]
    random.shuffle(atoms)
    dims: list[list[Axis]] = [[], [], []]
    for atom in atoms:
        random.choice(dims).append(atom)
    return LayoutSpec("mesh", tuple(map(tuple, dims[:2])))


def least_crossed(mesh: Mesh, held: list[set[int]], due: list[set[int]]) -> Counter[int]:
    """The elements that processes lack, by the first axis that each has to cross from whoever has it."""
    found: Counter[int] = Counter()
    for receiver, wanted in enumerate(due):
        for element in wanted - held[receiver]:
            found[max(first_apart(mesh, one, receiver) for one in range(mesh.size) if element in held[one])] += 1
    return found


def first_apart(mesh: Mesh, one: int, other: int) -> int:
    places = (np.unravel_index(number, mesh.shape) for number in (one, other))
    return next((axis for axis, (a, b) in enumerate(zip(*places, strict=True)) if a != b), len(mesh.shape))


@pytest.mark.parametrize("mesh", [Mesh(a=2, b=4), Mesh(a=2, b=2, c=2), Mesh(a=4, b=2, c=2)], ids=repr)
@pytest.mark.parametrize("within", [True, False], ids=["in a program", "between arrays"])
def test_what_processes_send_crosses_the_first_axes_no_more_than_it_must(mesh: Mesh, within: bool) -> None:
    """By any order of the axes: the sender differs from the receiver along those alone that say who holds it."""
    random, array = Random(5), np.arange(256).reshape(16, 16)

    def sides(layout: LayoutSpec) -> list[set[int]]:
        blocks = (to_stacked(array, layout, mesh.seen_by(Clients(mesh.size, place))) for place in range(mesh.size))
        return [set(block.reshape(-1).tolist()) for block in blocks]

    for _ in range(25):
        source, target = parts(random, mesh), parts(random, mesh)
        found: Counter[int] = Counter()
        for place in range(mesh.size):
            ends = [(Atoms.cut(mesh, layout.axes(), Clients(mesh.size, place)), layout) for layout in (source, target)]
            before, after = (Side.of_all(atoms, atoms.dims(layout)) for atoms, layout in ends)
            plan = planned(mesh, source, target, (16, 16), place) if within else plan_transfer((16, 16), before, after)
            for piece in plan.sends:
                peer = plan.group.member(piece.peer)
                found[first_apart(mesh, place, peer)] += piece.size
        assert found == least_crossed(mesh, sides(source), sides(target))


@pytest.mark.parametrize("mesh", [Mesh(a=6, b=2), Mesh(b=2, a=6), Mesh(b=2, a=12)], ids=repr)
def test_parts_that_cross_come_from_the_nearest_as_well(mesh: Mesh) -> None:
    """Halves against thirds of an axis: several devices have each, and of these the one in the same row gives it."""
    extents, a, b = (72, 8), mesh.sizes["a"], Axis("b")
    array = np.arange(72 * 8).reshape(extents)
    halves, thirds, ninth = Axis("a", 1, 2), Axis("a", 1, 3), Axis("a", 3, a // 3)
    for source, target in [(spec((halves,), ()), spec((thirds,), (b,))), (spec((halves, b), ()), spec((), (ninth,)))]:
        found: Counter[int] = Counter()
        for place in range(mesh.size):
            atoms = Atoms.spanning(mesh, [*source.axes(), *target.axes()], Clients(mesh.size, place))
            ends = [(atoms.fitting(layout.axes()), layout) for layout in (source, target)]
            moving = [tuple(sorted(each.across)) for each, _ in ends]
            before, after = (
                Side.along(positions, each, each.dims(layout))
                for positions, (each, layout) in zip(moving, ends, strict=True)
            )
            group = Group.along(moving[0], ends[0][0])
            plan = plan_recut((1,) * ends[0][0].count, extents, before, after, group)
            for piece in plan.sends:
                found[first_apart(mesh, place, group.member(piece.peer))] += piece.size
        sides = [
            [
                set(to_stacked(array, layout, mesh.seen_by(Clients(mesh.size, at))).reshape(-1).tolist())
                for at in range(mesh.size)
            ]
            for layout in (source, target)
        ]
        assert found == least_crossed(mesh, *sides)


def side(mesh: Mesh, layout: LayoutSpec, place: int) -> Side:
    atoms = Atoms.cut(mesh, layout.axes(), Clients(8, place))
    return Side.of_all(atoms, atoms.dims(layout))


def transfer(before: Mesh, source: LayoutSpec, after: Mesh, target: LayoutSpec, place: int) -> Exchange:
    return plan_transfer((8, 8), side(before, source, place), side(after, target, place))


def own(array: Any, mesh: Mesh, layout: LayoutSpec, place: int) -> Any:
    """One device's part, as a block."""
    return to_stacked(array, layout, mesh.seen_by(Clients(8, place))).reshape(
        tuple(len(side(mesh, layout, place).own(dim, 8)) for dim in range(2))
    )


def test_pieces_are_those_of_arrays_with_their_dims_in_the_order_in_which_elements_travel() -> None:
    plan = planned(MESH, spec((X,), ()), spec((), (X,)), (16, 24), 3)
    turned = plan.ordered((0, 1, 3, 2))
    assert turned.order == (0, 1, 3, 2)
    assert turned.result_shape == plan.result_shape

    def swapped(piece: Piece) -> tuple[Any, ...]:
        return (*piece.index[:2], piece.index[3], piece.index[2])

    assert [piece.index for piece in turned.sends] == [swapped(piece) for piece in plan.sends]
    assert [piece.index for piece in turned.receives] == [swapped(piece) for piece in plan.receives]
    assert plan.ordered((0, 1, 2, 3)) is plan


TURNED = """
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<4x24xf32> {dtensor.layout = #dtensor.layout<@mesh, [{"x"}, {}]>,
                                             dtensor.global_type = tensor<16x24xf32>})
    -> (tensor<24x16xf32> {dtensor.layout = #dtensor.layout<@mesh, [{}, {}]>}) {
  %0 = stablehlo.exponential %a : tensor<4x24xf32>
  %1 = dtensor.exchange <@mesh, [{"x"}, {}]> to <@mesh, [{}, {}]> %0 : (tensor<4x24xf32>) -> tensor<16x24xf32>
  %2 = stablehlo.negate %1 : tensor<16x24xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<16x24xf32>) -> tensor<24x16xf32>
  return %3 : tensor<24x16xf32>
}
"""


def test_what_travels_lies_in_the_order_in_which_its_reader_wants_it() -> None:
    """The result is transposed: so is what crosses, on all processes, and nothing is read against its order."""
    array = np.random.default_rng(0).standard_normal((16, 24)).astype(np.float32)

    def work(communicator: Communicator) -> tuple[list[tuple[int, ...]], Any]:
        executable = compile_module(parse_module(TURNED, "test.mlir"), communicator=communicator, threads=1)
        assert executable.mesh is not None
        mine = to_stacked(array, executable.inputs[0].spec, executable.mesh.seen_by(communicator.clients))
        return executable.travels, executable.run_stacked([mine])[0]

    for orders, found in on_processes(4, work):
        assert orders == [(0, 1, 3, 2)]
        np.testing.assert_allclose(found.reshape(24, 16), -np.exp(array).T, rtol=1e-6)
