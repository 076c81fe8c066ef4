"""Every row of the sharding table, proved by brute force; and the proof itself, on rows that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from shardwright.dialects import dtensor
from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import canonical
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.collectives.localize import LocalizePass
from shardwright.passes.stages import set_stage, verify_stage
from shardwright.rules import ROWS, Finding, add_row, check_op, missed_placements
from shardwright.rules.fit import misfit
from shardwright.rules.local.hooks import HOOKS
from shardwright.rules.proof.check import MISSED, WRONG, offered_placements
from shardwright.rules.proof.trial import Placement, Trial, agree
from shardwright.runtime.executable import compile_module

from .ops import CASES, GROUPS, Case

SQUARE = Mesh([("x", 2), ("y", 2)])


def compiled(module: ModuleOp) -> Callable[[Sequence[Any]], list[Any]]:
    """The kernels: the runtime on one device."""
    return compile_module(module, namespace="plain_numpy").run


def faults(case: Case, mesh: Mesh, limit: int | None = None) -> list[str]:
    """What is wrong with the case's row, as text."""
    return [f"{case.name}: {fault}" for fault in check_op(case.text, mesh, compiled, draw=case.draw, limit=limit)]


@pytest.mark.every(5)
@pytest.mark.parametrize("group", GROUPS)
def test_rows_are_right(group: str) -> None:
    assert [fault for case in GROUPS[group]() for fault in faults(case, SQUARE, limit=8)] == []


@pytest.mark.parametrize("group", ["reshapes", "movers", "broadcasts", "creation"])
def test_rows_are_right_where_axes_are_cut(group: str) -> None:
    assert [fault for case in GROUPS[group]() for fault in faults(case, Mesh(x=4), limit=8)] == []


@pytest.mark.slow
@pytest.mark.parametrize("mesh", [Mesh(x=2), Mesh(x=4), Mesh(x=3), SQUARE, Mesh(x=4, y=2), Mesh(x=1, y=2)], ids=str)
@pytest.mark.parametrize("group", GROUPS)
def test_rows_are_right_in_every_placement(group: str, mesh: Mesh) -> None:
    assert [fault for case in GROUPS[group]() for fault in faults(case, mesh, limit=2000)] == []


SPLITS = {
    "stablehlo.optimization_barrier": "its pairs are independent: the strategist follows each pair, whatever others do",
}
"""Ops of which a row misses placements without partial operands, and why."""

SUMS = {
    "stablehlo.optimization_barrier": "a barrier stands where values are to be there, not on their way",
    "stablehlo.convert": "each part would be rounded, wrap around, or be a bit: right only for small numbers",
    "stablehlo.imag": "of real numbers it is zero",
    "stablehlo.pad": "nothing is padded, which canonicalize finds; or the padding is an argument that is partial, too",
    "stablehlo.reduce_window": "a body that only picks elements, which nobody analyses; or windows of one element",
    "stablehlo.reduce": "the initial value is partial, too; or a body that only picks elements, which nobody analyses",
    "stablehlo.dynamic_slice": "starts that are outside anyhow, whatever they sum to",
    "stablehlo.dynamic_update_slice": "starts that are outside anyhow, whatever they sum to",
    "stablehlo.scatter": "bodies that are linear in other ways than sums, or two operands of which one is partial",
    "stablehlo.shift_left": "a product with a power of two: shifts do random bits, which are never partial",
    "chlo.next_after": "a step so small that it is lost in rounding",
}
"""Ops of which a row misses that partial sums pass, and why."""

OTHER_KINDS = {
    "max min": (
        "add asinh atan bitcast_convert cbrt ceil clamp conj convert divide erf exponential exponential_minus_one "
        "floor imag logistic maximum minimum next_after power real reduce reduce_precision round_nearest_afz "
        "round_nearest_even select shift_left shift_right_arithmetic shift_right_logical sign sinh subtract tanh "
        "concatenate pad optimization_barrier reduce_window select_and_scatter",
        "increasing functions keep the order, and a finished operand counts as its own maximum; both are rare next to "
        "a reduction by max, which is finished where it stands",
    ),
    "min": ("acosh log log_plus_one sqrt", "increasing functions that make NaN of what is small"),
    "prod": (
        "abs cbrt conj convert divide dot_general imag next_after optimization_barrier pad power real reduce sign "
        "square reduce_window select_and_scatter",
        "what keeps products; programs have next to none",
    ),
    "max min prod and or": (
        "dynamic_slice dynamic_update_slice scatter",
        "starts that are outside anyhow; combiners that keep the order; one of two operands",
    ),
    "and or": (
        "add and convert maximum minimum multiply or reduce select shift_left shift_right_arithmetic "
        "shift_right_logical sign reduce_window",
        "they distribute over each other and over what moves bits; masks are finished where they are reduced",
    ),
}
"""By kind of partial results the ops whose rows miss that these pass, and why."""


def missed_by(cases: Sequence[Case]) -> list[Finding]:
    """All that the rows of some ops miss along an axis of size two."""
    return [finding for case in cases for finding in missed_placements(case.text, 2, compiled, draw=case.draw)]


@pytest.fixture(scope="module")
def missed() -> list[Finding]:
    """All that the rows miss."""
    return missed_by(CASES)


def test_what_a_sample_misses_is_explained() -> None:
    for finding in missed_by(CASES[::64]):
        known = {"": set(SPLITS), "sum": set(SUMS)}.get(finding.kind, {finding.op})
        assert finding.op in known, str(finding)


@pytest.mark.slow
def test_missed_splits_are_explained(missed: list[Finding]) -> None:
    assert {finding.op for finding in missed if not finding.kind} == set(SPLITS)


@pytest.mark.slow
def test_missed_sums_are_explained(missed: list[Finding]) -> None:
    assert {finding.op for finding in missed if finding.kind == "sum"} == set(SUMS)


@pytest.mark.slow
def test_other_missed_kinds_are_explained(missed: list[Finding]) -> None:
    known = {(name, kind) for kinds, (ops, _) in OTHER_KINDS.items() for kind in kinds.split() for name in ops.split()}
    found = {(finding.op.partition(".")[2], finding.kind) for finding in missed if finding.kind not in ("", "sum")}
    assert found - known == set()


@pytest.mark.parametrize("cases", [CASES[::3], pytest.param(CASES, marks=pytest.mark.slow)], ids=["some", "all"])
def test_offered_placements_fit_the_rule(cases: list[Case]) -> None:
    """Two pieces of code say what a rule allows: one enumerates, the other checks the aligned stage."""
    unfit: list[str] = []
    for case in cases:
        trial = Trial(parse_module(case.text, "op.mlir"), SQUARE, compiled, case.draw)
        for placement in offered_placements(trial, SQUARE):
            problem = misfit(trial.rule, placement.operands, placement.results, SQUARE, frozenset())
            if problem is not None:
                unfit.append(f"{case.name} {placement}: {problem}")
    assert unfit == []


def planned_module(case: Case, placement: Placement) -> ModuleOp:
    """The case's program in the planned stage, with the layouts of a placement."""
    module = parse_module(case.text, "op.mlir")
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    ops = list(function.body.block.ops)
    for op in ops[:-2]:
        relaid(op.results[0], LayoutSpec("mesh", ()))
    for value, spec in zip(
        (*ops[-2].operands, *ops[-2].results), (*placement.operands, *placement.results), strict=True
    ):
        relaid(value, canonical(spec, SQUARE))
    module.body.block.insert_op_before(dtensor.MeshOp("mesh", list(SQUARE.sizes.items())), function)
    function.update_function_type()
    set_stage(module, "planned")
    return module


def relaid(value: Any, spec: LayoutSpec) -> None:
    """Gives a value's type a layout, in place."""
    value._type = dtensor.with_layout(value.type, spec)


def samples(case: Case) -> Iterator[Placement]:
    """A few of the placements that a case's row offers."""
    trial = Trial(parse_module(case.text, "op.mlir"), SQUARE, compiled, case.draw)
    offered = [placement for placement in offered_placements(trial, SQUARE) if placement.uses_axes]
    yield from offered[:: max(1, len(offered) // 2)]


@pytest.mark.every(5)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("group", [name for name in GROUPS if name != "others"])
def test_localize_does_what_the_trial_did(group: str) -> None:
    """The pass that makes local types, and the runtime, agree with the brute-force run."""
    for case in GROUPS[group]():
        trial = Trial(parse_module(case.text, "op.mlir"), SQUARE, compiled, case.draw)
        for placement in samples(case):
            module = planned_module(case, placement)
            verify_stage(module, "planned")
            LocalizePass().apply(Context(), module)
            parts, whole = trial.run_whole([spec.with_partial((), "") for spec in placement.operands], seed=0)
            inputs = [parts[place][0] for place, at in enumerate(trial.arguments) if at is not None]
            results = compiled(module)(inputs)
            for found, expected in zip(results, whole, strict=True):
                assert agree(found, expected, trial.tolerance), f"{case.name} {placement}"


WRONG_ROWS: list[tuple[str, dict[str, Any]]] = [
    ("exponential f32", {"linear": [(0,)]}),
    ("maximum f32", {"flows": [("min", (0, 1))]}),
    ("subtract f32", {"linear": [(0,)]}),
    ("multiply f32", {"linear": [(0, 1)]}),
    ("divide f32", {"linear": [(1,)]}),
    ("divide i32", {"linear": [(0,)]}),
    ("convert f32 i32", {"linear": [(0,)]}),
    ("convert i8 i32", {"linear": [(0,)]}),
    ("reverse [0]", {}),
    ("transpose 4x4 [1, 0]", {}),
]


@pytest.mark.parametrize(("name", "arguments"), WRONG_ROWS, ids=lambda value: value if isinstance(value, str) else "")
def test_wrong_rows_are_found(name: str, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in CASES if case.name == name)
    monkeypatch.setitem(ROWS, case.op, ROWS[case.op])
    count = len(parse_module(case.text, "op.mlir").body.block.first_op.body.block.args)  # pyright: ignore
    add_row(case.op, f"{', '.join(['...'] * count)} -> ...", **arguments)
    found = check_op(case.text, SQUARE, compiled, draw=case.draw)
    assert {finding.severity for finding in found} == {WRONG}
    assert f"wrong: {case.op} " in str(found[0])


def test_row_that_replicates_too_much_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in CASES if case.name == "tanh f32")
    monkeypatch.setitem(ROWS, case.op, ROWS[case.op])
    add_row(case.op, "i j -> i j", j="replicate")
    every = missed_placements(case.text, 2, compiled)
    assert all(bool(finding.kind) == any(spec.partial for spec in finding.placement.operands) for finding in every)
    # It is increasing: the largest and the smallest part of the operand are those of the result.
    assert {finding.kind for finding in every} == {"", "max", "min"}
    found = [finding for finding in every if not finding.kind]
    assert [str(finding) for finding in found] == [
        'missed: stablehlo.tanh [{}, {"x"}] -> [{}, {"x"}]: the rule does not offer it'
    ]
    assert found[0].severity == MISSED


@pytest.mark.parametrize("name", ["iota 0 f32", "slice [1:4:2, 0:6]"])
def test_missing_hook_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in CASES if case.name == name)
    monkeypatch.delitem(HOOKS, case.op)
    found = check_op(case.text, SQUARE, compiled)
    assert {finding.severity for finding in found} == {WRONG}


@pytest.mark.parametrize(
    "body",
    [
        "return %a : tensor<4xf32>",
        "%0 = stablehlo.add %a, %a : tensor<4xf32>\n return %0 : tensor<4xf32>",
        "%k = stablehlo.constant dense<1.0> : tensor<4xf32>\n %0 = stablehlo.add %a, %k : tensor<4xf32>\n"
        " return %0 : tensor<4xf32>",
    ],
)
def test_what_a_trial_cannot_split_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match=r"a trial needs|must be the function's arguments"):
        check_op(f"func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{\n {body}\n}}", SQUARE, compiled)
