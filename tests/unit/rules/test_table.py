"""The sharding table is complete, says what it does, and stands in the documents."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.ir import Dialect, Operation

from shardwright.dialects import CHLO, DTensor, StableHLO
from shardwright.dialects.stablehlo import COMPOSED_OPS, INDEX_VARIANT_OPS, TOKEN_OPS
from shardwright.dialects.text.parsing import parse_module
from shardwright.docs.generators.rules import EXAMPLES, example_rule
from shardwright.layout.spec import REDUCTION_KINDS
from shardwright.rules import ROWS, Rule, describe, rule_for
from shardwright.rules.rule import ANY, PASS, PERMUTE, REPLICATE, Pattern

from .ops import CASES, Case, kernel

REGIONS = {"stablehlo.while", "stablehlo.case", "stablehlo.if"}
"""Ops whose regions are numbered with everything else."""

READ = {f"stablehlo.{name}" for name in ("collective_permute", "collective_broadcast", "partition_id", "replica_id")}
"""Ops that import-sdy turns into others."""

STRUCTURE = {
    "stablehlo.return",
    "stablehlo.rng",
    "chlo.scan",
    *(op.name for op in (*COMPOSED_OPS, *INDEX_VARIANT_OPS, *TOKEN_OPS)),
    *REGIONS,
    *READ,
}
"""Ops that need no rule: they end a reducer's region, are refused by name, or are something else before rules count."""

REQUESTS = {"dtensor.relayout", "dtensor.constraint", "dtensor.roll", "dtensor.barrier"}

MANUAL = {"dtensor.fetch", "dtensor.axis_index"}
"""Ops whose devices differ by design: `tests/e2e/test_manual.py` simulates them."""

BORDERS = {"dtensor.to_manual", "dtensor.from_manual"}


def names(dialect: Dialect) -> set[str]:
    """The names of a dialect's ops."""
    return {op.name for op in dialect.operations}


def test_every_op_has_a_row_and_every_row_an_op() -> None:
    assert set(ROWS) == (names(StableHLO) | names(CHLO) | REQUESTS | MANUAL | BORDERS) - STRUCTURE
    assert names(DTensor) >= REQUESTS | MANUAL | BORDERS


def test_every_row_is_checked() -> None:
    """An op that the runtime computes has a case for the brute-force check."""
    assert {case.op for case in CASES} | MANUAL == {name for name in ROWS if kernel(name)}


def subject(case: Case) -> Operation:
    """The op of a case."""
    function = parse_module(case.text, "op.mlir").body.block.first_op
    assert isinstance(function, FuncOp)
    last = function.body.block.last_op
    assert last is not None
    assert last.prev_op is not None
    return last.prev_op


@pytest.fixture(scope="module")
def subjects() -> list[tuple[str, Operation]]:
    """The op of every case."""
    return [(case.name, subject(case)) for case in CASES]


@pytest.fixture
def rules(subjects: list[tuple[str, Operation]]) -> list[tuple[str, Operation, Rule]]:
    """The rule of every case."""
    return [(name, op, rule_for(op)) for name, op in subjects]


def test_kinds_are_valid(rules: list[tuple[str, Operation, Rule]]) -> None:
    for name, op, rule in rules:
        assert set(rule.kinds) <= {PASS, REPLICATE, PERMUTE, *REDUCTION_KINDS}, name
        assert {kind for kind, _ in rule.flows} <= {ANY, *REDUCTION_KINDS}, name
        assert all(group and set(group) <= set(range(len(op.operands))) for _, group in rule.flows), name
        in_results = {factor for tensor in rule.results for dim in tensor for factor in dim}
        for factor, kind in enumerate(rule.kinds):
            assert (kind not in REDUCTION_KINDS) or factor not in in_results, name
            assert kind != PASS or factor in in_results, name


def test_factors_make_up_dims(rules: list[tuple[str, Operation, Rule]]) -> None:
    """A dim is the product of its factors, except where a window or a block leaves the rest whole."""
    moving = {"stablehlo.slice", "stablehlo.reverse", "stablehlo.pad", "stablehlo.concatenate"}
    moving |= {"stablehlo.convolution", "stablehlo.reduce_window", "stablehlo.select_and_scatter"}
    for name, op, rule in rules:
        values = (*op.operands, *op.results)
        for value, tensor in zip(values, rule.tensors(), strict=True):
            shape = value.type.get_shape()  # pyright: ignore
            assert len(shape) == len(tensor), name
            if op.name in moving or 0 in shape:
                continue
            for size, dim in zip(shape, tensor, strict=True):
                product = 1
                for factor in dim:
                    product *= rule.sizes[factor]
                whole_broadcast = dim == () and size >= 1
                assert product == size or whole_broadcast, f"{name}: {rule}"


def test_equal_ops_share_one_rule() -> None:
    for name in ("add f32", "reshape 4x6 8x3", "slice [0:4, 1:5]", "dot ['4x6', '6x2'] contracting_dims = [1] x [0]"):
        case = next(case for case in CASES if case.name == name)
        assert rule_for(subject(case)) is rule_for(subject(case))


@pytest.mark.parametrize(
    ("line", "operands", "result", "expected"),
    [
        (
            "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]",
            ("4x8", "8x2"),
            "4x2",
            "i k, k j -> i j  k=sum  linear=[(0,), (1,)]",
        ),
        ("stablehlo.add %a, %b", ("4x8", "4x8"), "4x8", "i j, i j -> i j  linear=[(0, 1)]"),
        ("stablehlo.reshape %a", ("2x3x4",), "6x4", "i j k -> (i j) k  flows=[('any', (0,))]"),
        ("stablehlo.reshape %a", ("4x3",), "6x2", "(i l) m -> (i j) k  l=replicate  m=replicate"),
        ("stablehlo.slice %a [1:4:2]", ("4",), "2", "i -> i  flows=[('any', (0,))]"),
        ("stablehlo.iota dim = 0", (), "4", "-> i"),
        ("stablehlo.negate %a", ("",), "", "() -> ()  linear=[(0,)]"),
        ("stablehlo.negate %a", ("1x4",), "1x4", "1 i -> 1 i  linear=[(0,)]"),
    ],
)
def test_rules_print_as_rows_are_written(line: str, operands: tuple[str, ...], result: str, expected: str) -> None:
    assert example_rule(line, operands, result).startswith(expected)


def test_what_a_rule_prints_can_be_read_back(rules: list[tuple[str, Operation, Rule]]) -> None:
    for name, _, rule in rules:
        pattern = Pattern.parse(str(rule).partition("  ")[0])
        assert [len(tensor) for tensor in (*pattern.operands, *pattern.results)] == [
            len(tensor) for tensor in rule.tensors()
        ], name


def test_the_table_describes_itself() -> None:
    rows = dict(describe())
    assert list(rows) == sorted(ROWS)
    assert rows["stablehlo.multiply"] == "..., ... -> ...  linear=[(0,), (1,)]  flows=[('prod', (0, 1))]"
    assert rows["stablehlo.transpose"] == "computed: Dims change places"
    assert not [name for name, row in rows.items() if row.startswith("computed: _")]


def test_the_document_shows_every_computed_row() -> None:
    shown = {line.strip('"').split()[0].split("(")[0].strip('"') for line, _, _ in EXAMPLES} | {"stablehlo.select"}
    assert shown == {name for name, row in ROWS.items() if row.compute is not None}
