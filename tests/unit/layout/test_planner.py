"""Plans written by hand: which collectives, over which axes, and what they send."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from fractions import Fraction

import pytest

from shardwright.layout.axes import Axis, parse_axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.cost import ENUMERATION_LIMIT
from shardwright.layout.planning.planner import Plan, cost_share, plan
from shardwright.layout.spec import LayoutSpec

MESH = Mesh(x=4, y=2, z=2)
SHAPE = (64, 64)


def axes(text: str) -> tuple[Axis, ...]:
    return tuple(map(parse_axis, text.split()))


def layout(*dims: str, partial: str = "", kind: str = "sum") -> LayoutSpec:
    return LayoutSpec("mesh", tuple(map(axes, dims)), frozenset(), axes(partial), kind if partial else "")


def told(found: Plan) -> list[str]:
    return [f"{step.kind} {step.result.body()}" for step in found.steps]


CASES: list[tuple[LayoutSpec, LayoutSpec, list[str], Fraction | int]] = [
    (layout("x", ""), layout("x", ""), [], 0),
    (layout("", ""), layout("x", "y"), ['all_slice [{"x"}, {"y"}]'], 0),
    (layout("x", "y"), layout("", ""), ["all_gather [{}, {}]"], Fraction(7, 8)),
    (layout("x y", ""), layout("x", ""), ['all_gather [{"x"}, {}]'], Fraction(1, 8)),
    (layout("x", ""), layout("", "x"), ['all_to_all [{}, {"x"}]'], Fraction(3, 16)),
    (layout("y", ""), layout("z", ""), ['collective_permute [{"z"}, {}]'], Fraction(1, 4)),
    (layout("x", ""), layout("", "y"), ['all_slice [{"x"}, {"y"}]', 'all_gather [{}, {"y"}]'], Fraction(3, 8)),
    (layout("x", "y"), layout("y", "x"), ['exchange [{"y"}, {"x"}]'], Fraction(3, 32)),
    (layout("", "", partial="x"), layout("", ""), ["all_reduce [{}, {}]"], Fraction(3, 2)),
    (layout("", "", partial="x"), layout("", "x"), ['reduce_scatter [{}, {"x"}]'], Fraction(3, 4)),
    (layout("", "", partial="x y"), layout("y", "x"), ['reduce_scatter [{"y"}, {"x"}]'], Fraction(7, 8)),
    (layout("", "", partial="y x"), layout("", "", partial="x"), ['all_reduce [{}, {}], unreduced=sum{"x"}'], 1),
    (
        layout("", "", partial="x"),
        layout("", "y"),
        ['all_slice [{}, {"y"}], unreduced=sum{"x"}', 'all_reduce [{}, {"y"}]'],
        Fraction(3, 4),
    ),
    (
        layout("", "", partial="y x"),
        layout("", "z"),
        ['all_slice [{}, {"z"}], unreduced=sum{"x", "y"}', 'all_reduce [{}, {"z"}]'],
        Fraction(7, 8),
    ),
    (
        layout("", "", partial="x"),
        layout("x y", ""),
        [
            'all_slice [{"y"}, {}], unreduced=sum{"x"}',
            'reduce_scatter [{"y", "x"}, {}]',
            'collective_permute [{"x", "y"}, {}]',
        ],
        Fraction(3, 8) + Fraction(3, 4) / 8,
    ),
    (
        layout("", "", partial="x y"),
        layout("x", ""),
        ['reduce_scatter [{"x"}, {}], unreduced=sum{"y"}', 'all_reduce [{"x"}, {}]'],
        Fraction(3, 4) + Fraction(1, 4),
    ),
    (
        layout("y", "", partial="x"),
        layout("", "x"),
        ['reduce_scatter [{"y"}, {"x"}]', 'all_gather [{}, {"x"}]'],
        Fraction(3, 8) + Fraction(1, 8),
    ),
    (
        layout("y", "", partial="x"),
        layout("", "", partial="x"),
        ['all_gather [{}, {}], unreduced=sum{"x"}'],
        Fraction(1, 2),
    ),
    (layout("x", ""), layout("x:(1)2", ""), ['all_gather [{"x":(1)2}, {}]'], Fraction(1, 4)),
    (layout("x:(1)2", ""), layout("x", ""), ['all_slice [{"x"}, {}]'], 0),
]


@pytest.mark.parametrize(("source", "target", "expected", "share"), CASES)
def test_plans(source: LayoutSpec, target: LayoutSpec, expected: list[str], share: Fraction) -> None:
    found = plan(source, target, SHAPE, MESH)
    assert told(found) == expected
    assert found.share == share == sum(step.share for step in found.steps)
    assert cost_share(source, target, SHAPE, MESH) == float(share)


def test_steps_carry_the_arguments_of_their_ops() -> None:
    gathered = plan(layout("x z", "y"), layout("x", ""), SHAPE, MESH).steps[0]
    assert gathered.dim_axes == (axes("z"), axes("y"))
    traded = plan(layout("y x", ""), layout("y", "x"), SHAPE, MESH).steps[0]
    assert (traded.axes, traded.source_dim, traded.target_dim) == (axes("x"), 0, 1)
    reduced = plan(layout("", "", partial="z x"), layout("", ""), SHAPE, MESH).steps[0]
    assert reduced.axes == axes("x z")
    assert (reduced.source, reduced.result) == (layout("", "", partial="z x"), layout("", ""))


def test_the_kind_of_partial_results_is_kept() -> None:
    found = plan(layout("", "", partial="x y", kind="max"), layout("x", ""), SHAPE, MESH)
    assert found.steps[0].result == layout("x", "", partial="y", kind="max")


def test_spellings_of_one_layout_differ_by_an_empty_slice() -> None:
    split, whole = layout("x:(1)2 x:(2)2", ""), layout("x", "")
    (step,) = plan(split, whole, SHAPE, MESH).steps
    assert (step.kind, step.dim_axes, step.result, step.share) == ("all_slice", ((), ()), whole, 0)


def test_the_last_result_is_the_target_as_spelled() -> None:
    target = layout("", "x:(1)2 x:(2)2")
    assert plan(layout("x", ""), target, SHAPE, MESH).steps[-1].result == target


def test_axes_of_size_one_move_for_nothing() -> None:
    mesh = Mesh(x=4, one=1)
    (step,) = plan(layout("one", ""), layout("", ""), SHAPE, mesh).steps
    assert (step.kind, step.share) == ("all_slice", 0)


def test_no_state_is_larger_than_both_ends() -> None:
    found = plan(layout("x", "y", ""), layout("", "z", "x"), (64, 64, 64), MESH)
    assert all(any(step.result.dims) for step in found.steps)


def test_dims_that_are_too_small_rule_a_way_out() -> None:
    # Scattering x under y would need 8 parts of dim 0, which has 4 elements.
    found = plan(layout("y", "", partial="x"), layout("x", ""), (4, 2), MESH)
    assert [step.kind for step in found.steps] == ["all_reduce", "exchange"]


def test_a_sum_is_scattered_where_its_parts_move_on_for_less() -> None:
    # Eighths after the scatter along columns. Of its quarter of the rows a device then has a quarter of the columns,
    # where those rows are in its half at all, and lacks the rest. To finish the sum everywhere first sends 7/8.
    found = plan(layout("y", "", partial="x"), layout("x", ""), (4, 64), MESH)
    assert [step.kind for step in found.steps] == ["reduce_scatter", "exchange"]
    assert found.share == Fraction(8 - 2, 8 * 2) + Fraction(1, 4) - Fraction(1, 2) * Fraction(1, 4 * 4)


def test_parts_that_cross_are_exchanged() -> None:
    found = plan(layout("x:(1)2", "y"), layout("x:(1)3", ""), (12, 12), Mesh(x=6, y=2))
    assert [(step.kind, step.result) for step in found.steps] == [("exchange", layout("x:(1)3", ""))]
    # A third of the rows, of which it has half the columns of five sixths: 2/6 want half of another third.
    assert found.share == Fraction(1, 3) * (1 - Fraction(1, 2) * Fraction(5, 6))


def test_a_sum_is_finished_before_parts_that_cross_are_exchanged() -> None:
    mesh = Mesh(x=6, y=2)
    scattered = plan(layout("x:(1)2", partial="y"), layout("x:(1)3"), (12,), mesh)
    assert told(scattered) == ['reduce_scatter [{"x":(1)2, "y"}]', 'exchange [{"x":(1)3}]']
    # Quarters after the scatter. A device has half of its quarter's half of what it wants, on average: 5/6 of a third.
    assert scattered.share == Fraction(1, 4) + Fraction(1, 3) - Fraction(5, 6) * Fraction(1, 3) * Fraction(1, 2)
    # What is finished along the axis itself goes on as a whole, of which each device keeps its own part.
    whole = plan(layout("", partial="x:(1)2"), layout("x:(1)3"), (12,), mesh)
    assert told(whole) == ['reduce_scatter [{"x":(1)2}]', 'exchange [{"x":(1)3}]']
    assert whole.share == Fraction(1, 2) + Fraction(1, 18)


def test_where_parts_that_cross_cannot_be_counted_the_plan_goes_by_way_of_the_whole_axis() -> None:
    mesh = Mesh(x=6 << 20, y=2)
    found = plan(layout(f"x:(1){2 << 20}", "y"), layout(f"x:(1){3 << 20}", ""), (mesh.size, mesh.size), mesh)
    assert [step.kind for step in found.steps] == ["all_gather", "all_slice", "all_gather"]
    assert found.steps[0].result == layout("", "y")


def test_where_an_exchange_cannot_be_counted_the_plan_gathers_and_slices() -> None:
    mesh = Mesh(x=3 << 19, y=2)
    assert mesh.size > ENUMERATION_LIMIT
    found = plan(layout("x y"), layout("y x"), (mesh.size,), mesh)
    assert told(found) == ["all_gather [{}]", 'all_slice [{"y", "x"}]']
    assert found.share == 1 - Fraction(1, mesh.size)


def test_crossing_parts_leave_other_partial_axes_alone() -> None:
    source, target = layout("x:(1)2", partial="y"), layout("x:(1)3", partial="y")
    found = plan(source, target, (12,), Mesh(x=6, y=2))
    assert [(step.kind, step.result) for step in found.steps] == [("exchange", target)]
    assert found.share == Fraction(1, 18)


def test_where_an_exchange_cannot_be_counted_two_messages_keep_the_memory_bound() -> None:
    # Either end has x parts at least: dim 0 may be gathered while z splits dim 1, and z only once x splits dim 0 again.
    mesh = Mesh(x=3 << 19, y=2, z=1 << 21)
    found = plan(layout("y x", "z"), layout("x", ""), (mesh.size, mesh.size), mesh)
    assert told(found) == ['all_gather [{}, {"z"}]', 'all_slice [{"x"}, {"z"}]', 'all_gather [{"x"}, {}]']
    x, z = mesh.sizes["x"], mesh.sizes["z"]
    assert found.share == Fraction(1, z) - Fraction(1, 2 * x * z) + Fraction(1, x) - Fraction(1, x * z)


@pytest.mark.parametrize(
    ("source", "target", "shape", "message"),
    [
        (layout("x"), LayoutSpec("other", ((),)), (8,), "different meshes"),
        (layout("x"), layout(""), (6,), "does not split evenly"),
        (layout("x"), layout("", ""), (8,), "2 dims, but the tensor has 1"),
    ],
)
def test_impossible_relayouts_are_refused(
    source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        plan(source, target, shape, MESH)


@pytest.mark.parametrize(
    ("source", "target", "steps"),
    [
        (layout("x"), layout("x", partial="y"), ['unreduce [{"x"}], unreduced=sum{"y"}']),
        (layout("x"), layout("", partial="x"), ['unscatter [{}], unreduced=sum{"x"}']),
        (layout("x"), layout("x:(1)2", partial="x:(2)2"), ['unscatter [{"x":(1)2}], unreduced=sum{"x":(2)2}']),
        (
            layout("x"),
            layout("", partial="x y"),
            ['unscatter [{}], unreduced=sum{"x"}', 'unreduce [{}], unreduced=sum{"x", "y"}'],
        ),
        (layout("x"), layout("y", partial="x"), ['exchange [{"y", "x"}]', 'unscatter [{"y"}], unreduced=sum{"x"}']),
        (layout("", partial="x"), layout("", partial="x y"), ['unreduce [{}], unreduced=sum{"x", "y"}']),
        (
            layout("", partial="x:(1)2"),
            layout("", partial="x:(2)2"),
            ["all_reduce [{}]", 'unreduce [{}], unreduced=sum{"x":(2)2}'],
        ),
        (
            layout("", partial="y"),
            layout("", partial="y", kind="max"),
            ["all_reduce [{}]", 'unreduce [{}], unreduced=max{"y"}'],
        ),
    ],
)
def test_what_is_finished_becomes_partial_and_nothing_is_sent_for_it(
    source: LayoutSpec, target: LayoutSpec, steps: list[str]
) -> None:
    found = plan(source, target, (8,), MESH)
    assert told(found) == steps
    last = found.steps[-1]
    assert last.share == 0
    assert found.messages == sum(not text.startswith(("un", "all_slice")) for text in steps)


@pytest.mark.parametrize("shape", [(8, 12), (24, 36), (6, 48), (4, 2), (0, 12), (1, 12)])
def test_a_share_is_that_of_the_plan_whatever_the_size(shape: tuple[int, int]) -> None:
    """Sizes that the same numbers of parts divide share a plan: each share is what a plan for the shape says."""
    mesh = Mesh(x=2, y=2, z=3)
    x, y, z = map(Axis, "xyz")
    dims: list[tuple[Axis, ...]] = [(), (x,), (y,), (z,), (x, y), (y, x), (x, z)]
    specs = [LayoutSpec("mesh", (one, other)) for one in dims for other in dims if not {*one} & {*other}]
    fit = [
        spec
        for spec in specs
        if not any(size % mesh.group_size(axes) for size, axes in zip(shape, spec.dims, strict=True))
    ]
    for source in fit:
        for target in fit:
            assert cost_share(source, target, shape, mesh) == float(plan(source, target, shape, mesh).share)


def test_the_share_of_a_sum_is_that_of_the_plan_whatever_its_axes_are_called() -> None:
    """Changes that differ by the names of axes of one size, or by the order of dims, share a plan."""
    mesh = Mesh(x=2, y=2, z=3)
    sides = [("", ""), ("x", ""), ("", "y"), ("y", "z"), ("z", "x"), ("y x", "")]
    for first, second in sides:
        for partial in ("x", "y", "z", "x y"):
            if {*partial.split()} & {*first.split(), *second.split()}:
                continue
            source = layout(first, second, partial=partial)
            for target in (layout(*side) for side in sides):
                assert cost_share(source, target, (24, 12), mesh) == float(plan(source, target, (24, 12), mesh).share)


def test_open_dims_do_not_matter() -> None:
    open_spec = LayoutSpec("mesh", (axes("x"), ()), frozenset({1}))
    assert plan(open_spec, layout("x", ""), SHAPE, MESH).steps == ()


def test_plans_do_not_depend_on_hash_order() -> None:
    program = (
        "from shardwright.layout.planning.planner import plan; from shardwright.layout.spec import LayoutSpec as L;"
        "from shardwright.layout.axes import Axis as A; from shardwright.layout.mesh import Mesh;"
        "a, b, c, d = map(A, 'abcd');"
        "print(plan(L('m', ((a, b), (c,), ()), partial=(d,), kind='sum'), L('m', ((c,), (d,), (a,))),"
        "(16, 16, 16), Mesh(a=2, b=2, c=2, d=2)))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert "reduce_scatter" in outputs.pop()


def test_a_million_devices_are_planned_as_fast_as_eight() -> None:
    mesh = Mesh(a=1 << 7, b=1 << 7, c=1 << 6)
    shape = (1 << 20, 1 << 20)
    pairs = [
        (layout("a b", "c"), layout("c", "a b")),
        (layout("a", "", partial="b c"), layout("b", "a")),
        (layout("", "", partial="a b c"), layout("c a", "b")),
    ]
    plan.cache_clear()
    begin = time.process_time()
    for source, target in pairs:
        plan(source, target, shape, mesh)
    assert time.process_time() - begin < 0.1


def test_memory_of_plans() -> None:
    plan.cache_clear()
    first = plan(layout("x", ""), layout("", "x"), SHAPE, MESH)
    assert plan(layout("x", ""), layout("", "x"), SHAPE, MESH) is first
