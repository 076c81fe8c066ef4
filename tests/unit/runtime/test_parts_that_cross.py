"""Parts of an axis that cross, as the thirds and halves of six devices do: what moves, and that results are right."""

from __future__ import annotations

import itertools
import math
import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from harness import partitioned, run
from processes import on_processes

from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
from shardwright.diagnostics import ShardwrightError, ShardwrightValueError
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.layout.axes import Axis
from shardwright.layout.boxes import box
from shardwright.layout.forms.clients import Clients
from shardwright.layout.forms.text import read_spec
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.proof.prover import certify
from shardwright.runtime.atoms import Atoms
from shardwright.runtime.executable import compile_module
from shardwright.runtime.stacking import component, to_stacked

SHAPE = (24, 12)
WHOLE = np.arange(math.prod(SHAPE), dtype=np.int32).reshape(SHAPE)

SIX = Mesh(y=2, x=6)
SIDES = [
    '[{"x":(1)3}, {}]',
    '[{"x":(1)2}, {}]',
    '[{"x":(3)2, "y"}, {"x":(1)3}]',
    '[{"x":(2)3}, {"x":(1)2, "y"}]',
    '[{"y", "x":(1)2}, {"x":(2)3}]',
]
PAIRS = list(itertools.permutations(SIDES, 2))


def type_of(layout: str) -> str:
    return f"tensor<24x12xi32, #dtensor.layout<@mesh, {layout}>>"


def relayout(before: str, after: str, mesh: str = '"y"=2, "x"=6') -> str:
    return f"""
dtensor.mesh @mesh = <[{mesh}]>
func.func public @main(%a: {type_of(before)}) -> {type_of(after)} {{
  %0 = dtensor.relayout %a : {type_of(before)} -> {type_of(after)}
  return %0 : {type_of(after)}
}}
"""


def spec(layout: str) -> LayoutSpec:
    return read_spec(layout, "mesh")


def lacking(before: str, after: str, mesh: Mesh) -> list[int]:
    """How many elements each device lacks of its part, counted box by box."""
    found = list[int]()
    for place in itertools.product(*map(range, mesh.shape)):
        at = dict(zip(mesh.axis_names, place, strict=True))
        held, due = (box(spec(layout), SHAPE, mesh, at) for layout in (before, after))
        common = [max(0, min(a[1], b[1]) - max(a[0], b[0])) for a, b in zip(held, due, strict=True)]
        found.append(math.prod(stop - start for start, stop in due) - math.prod(common))
    return found


@pytest.mark.every(2)
@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_each_device_receives_what_it_lacks(before: str, after: str) -> None:
    ran = run(relayout(before, after), [WHOLE])
    np.testing.assert_array_equal(ran.results[0], WHOLE)
    assert ran.predicted == Fraction(4 * sum(lacking(before, after, SIX)), SIX.size)
    fused = compile_module(partitioned(relayout(before, after))[1])
    np.testing.assert_array_equal(fused.run([WHOLE])[0], WHOLE)


@pytest.mark.every(3)
@pytest.mark.parametrize("count", [2, 12])
@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_each_process_is_sent_what_it_lacks(before: str, after: str, count: int) -> None:
    """By halves of the mesh, where parts cross in each of them, and by devices."""
    _, local = partitioned(relayout(before, after))

    def work(communicator: Any) -> tuple[Any, int]:
        executable = compile_module(local.clone(), communicator=communicator, threads=1)
        mine = SIX.seen_by(communicator.clients)
        return np.array(executable.run_stacked([to_stacked(WHOLE, spec(before), mine)])[0]), communicator.sent_bytes

    found = on_processes(count, work)
    whole = to_stacked(WHOLE, spec(after), SIX)
    for place, (part, _) in enumerate(found):
        mine = SIX.seen_by(Clients(count, place))
        for device in mine.local_device_ids:
            np.testing.assert_array_equal(component(part, mine, device), component(whole, SIX, device))
    if count == SIX.size:
        assert sum(sent for _, sent in found) == 4 * sum(lacking(before, after, SIX))


PROGRAM = """
sdy.mesh @mesh = <["x"=12]>
func.func @main(%a: tensor<12x24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}, {"x":(4)3}]>},
                %b: tensor<12x24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)6}, {"x":(6)2}]>})
    -> (tensor<24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>},
        tensor<12xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)3}]>}) {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [0]
      : (tensor<12x24xi32>, tensor<i32>) -> tensor<24xi32>
  %2 = stablehlo.reduce(%b init: %0) applies stablehlo.add across dimensions = [1]
      : (tensor<12x24xi32>, tensor<i32>) -> tensor<12xi32>
  return %1, %2 : tensor<24xi32>, tensor<12xi32>
}
"""
"""Sums over parts of an axis, into parts that cross those by which the operands are split."""


def arguments() -> list[Any]:
    chance = np.random.default_rng(0)
    return [chance.integers(-9, 9, (12, 24)).astype(np.int32) for _ in "ab"]


def test_sums_are_right_in_one_process_and_in_twelve() -> None:
    a, b = arguments()
    expected = a.sum(0), b.sum(1)
    ran = run(PROGRAM, [a, b])
    for result, sums in zip(ran.results, expected, strict=True):
        np.testing.assert_array_equal(result, sums)
    _, local = partitioned(PROGRAM)
    mesh = Mesh(x=12)

    def work(communicator: Any) -> tuple[list[Any], int]:
        executable = compile_module(local.clone(), fused=False, communicator=communicator, threads=1)
        mine = mesh.seen_by(communicator.clients)
        own = [to_stacked(array, port.spec, mine) for array, port in zip((a, b), executable.inputs, strict=True)]
        return [np.array(result) for result in executable.run_stacked(own)], communicator.sent_bytes

    found = on_processes(12, work)
    for place, (parts, _) in enumerate(found):
        mine = mesh.seen_by(Clients(12, place))
        for part, sums, port in zip(parts, expected, ran.executable.outputs, strict=True):
            held = component(part, mine, place)
            np.testing.assert_array_equal(held, component(to_stacked(sums, port.spec, mesh), mesh, place))
    assert sum(sent for _, sent in found) == ran.predicted * 12


def test_such_a_program_is_proved_and_exported(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "SHARDWRIGHT_CACHE", str(tmp_path))
    traced = parse_module(PROGRAM)
    planned = traced.clone()
    run_pipeline(planned, ["plan"])
    local = planned.clone()
    run_pipeline(local, LOCALIZE)
    assert certify(traced, planned, local).proved
    a, b = arguments()
    export_stablehlo(local)
    again = compile_module(partitioned(print_module(local))[1]).run([a, b])
    np.testing.assert_array_equal(again[0], a.sum(0))
    np.testing.assert_array_equal(again[1], b.sum(1))


def test_atoms_of_parts_that_cross_have_as_many_pieces() -> None:
    halves, thirds = Axis("x", 1, 2), Axis("x", 1, 3)
    atoms = Atoms.spanning(Mesh(y=2, x=12), [halves, thirds, Axis("x", 6, 2)])
    assert (atoms.sizes, atoms.positions([halves]), atoms.positions([Axis("x")])) == ((2, 2, 3, 1, 2), (1,), (1, 2, 4))
    other = atoms.fitting([thirds])
    assert (other.sizes, other.positions([thirds]), other.positions([Axis("x", 6, 2)])) == ((2, 3, 2, 1, 2), (1,), (4,))
    assert atoms.refitting((2, 2, 1, 1, 1, 5), other) == ((2, 2, 3, 1, 1, 5), (2, 3, 2, 1, 1, 5))
    assert atoms.refitting((2, 1, 1, 1, 2, 5), other) == ((2, 1, 1, 1, 2, 5),) * 2
    assert atoms.fitting([halves]) is atoms
    assert Atoms.spanning(Mesh(x=12), [halves, Axis("x", 2, 3)]) == Atoms.cut(Mesh(x=12), [halves, Axis("x", 2, 3)])


def test_the_block_of_a_process_is_no_half_of_a_part() -> None:
    _, local = partitioned(relayout('[{"x":(1)3}, {}]', '[{"x":(1)2}, {}]', '"x"=6'))

    def work(communicator: Any) -> None:
        compile_module(local.clone(), communicator=communicator)

    with pytest.raises(ShardwrightError) as caught:
        on_processes(2, work)
    assert caught.value.diagnostics[0].code == "SW0603"
    assert str(caught.value).splitlines() == [
        "error[SW0603]: parts of axis 'x' cross: one ends after 2 digits and another after 3, and 2 does not divide 3",
        "  note: the mesh is Mesh(x=6)",
        "  help: use parts of the axis that nest, such as (1)2 and (2)4, or one process for each device",
    ]
    with pytest.raises(ShardwrightValueError, match="SW0603"):
        Atoms.cut(Mesh(x=6), [Axis("x", 1, 2), Axis("x", 1, 3)])
