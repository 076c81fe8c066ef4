"""Rows that users add: they work like ours, and what is wrong with them is said at once."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from shardwright.compiler.pipelines import LOCALIZE, PIPELINES, run_pipeline
from shardwright.diagnostics import ShardwrightError, ShardwrightValueError
from shardwright.dialects.dtensor import CollectiveOp, MeshOp, with_layout
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.rules import ROWS, Rule, add_row, check_op, missed_placements, rule_for

SQUARE = Mesh([("x", 2), ("y", 2)])
X, Y = (Axis("x"),), (Axis("y"),)


class TestOp(IRDLOperation):
    """An op of somebody else's dialect."""

    __test__ = False
    inputs = var_operand_def(TensorType)
    output = result_def(TensorType)
    traits = traits_def(Pure())


@irdl_op_definition
class MatmulOp(TestOp):
    """A matrix product."""

    name = "test.matmul"


@irdl_op_definition
class CumulateOp(TestOp):
    """Sums of all elements before, along the last dim."""

    name = "test.cumulate"


KERNELS: dict[str, Callable[..., Any]] = {"test.matmul": np.matmul, "test.cumulate": lambda x: np.cumsum(x, -1)}


def program(
    ops: Sequence[tuple[type[TestOp], tuple[int, ...]]], arguments: Sequence[tuple[tuple[int, ...], Any]]
) -> ModuleOp:
    """A function of ops in a row, each on the result before and the arguments that are left."""
    types = [
        with_layout(TensorType(f32, shape), LayoutSpec("mesh", dims)) if dims is not None else TensorType(f32, shape)
        for shape, dims in arguments
    ]
    block = Block(arg_types=types)
    waiting = list(block.args)
    for line, (op_class, shape) in enumerate(ops, 1):
        count = 2 if op_class is MatmulOp else 1
        op = op_class.create(operands=waiting[:count], result_types=[TensorType(f32, shape)])
        op.location = FileLineColLoc(StringAttr("user.py"), IntAttr(line), IntAttr(1))
        block.add_op(op)
        waiting = [op.results[0], *waiting[count:]]
    block.add_op(ReturnOp(waiting[0]))
    function = FuncOp("main", (types, [waiting[0].type]), Region(block), visibility="public")
    return ModuleOp([function])


def on_mesh(module: ModuleOp) -> ModuleOp:
    """The program with its mesh declared."""
    block = module.body.block
    assert block.first_op is not None
    block.insert_op_before(MeshOp("mesh", list(SQUARE.sizes.items())), block.first_op)
    return module


def compiled(module: ModuleOp) -> Callable[[Sequence[Any]], list[Any]]:
    """The kernels of our test ops."""
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    op = function.body.block.first_op
    assert op is not None
    return lambda arrays: [KERNELS[op.name](*arrays)]


@pytest.fixture(autouse=True)
def _clean_table() -> Iterator[None]:
    before = dict(ROWS)
    yield
    ROWS.clear()
    ROWS.update(before)


MATRICES = (((4, 8), None), ((8, 6), None))


def test_a_row_makes_an_op_partitionable() -> None:
    """Contracting a split dim leaves partial sums, as for our own dot."""
    add_row("test.matmul", "i k, k j -> i j", k="sum", linear=[(0,), (1,)])
    module = on_mesh(program([(MatmulOp, (4, 6))], [((4, 8), (Y, X)), ((8, 6), (X, ()))]))
    run_pipeline(module, PIPELINES["plan"], verify_each=True)
    sent = [op.name for op in module.walk() if isinstance(op, CollectiveOp)]
    assert sent == ["dtensor.all_reduce"]
    run_pipeline(module, LOCALIZE, verify_each=True)
    (local,) = [op for op in module.walk() if isinstance(op, MatmulOp)]
    assert [shape_of(value) for value in (*local.operands, *local.results)] == [(2, 4), (4, 6), (2, 6)]


def test_a_row_can_be_proved() -> None:
    module = program([(MatmulOp, (4, 6))], MATRICES)
    add_row("test.matmul", "i k, k j -> i j", k="sum", linear=[(0,), (1,)])
    assert check_op(module, SQUARE, compiled) == []
    assert {finding.kind for finding in missed_placements(module, 2, compiled)} <= {"prod", "max", "min"}


def test_a_wrong_row_is_disproved() -> None:
    module = program([(CumulateOp, (4, 6))], [((4, 6), None)])
    add_row("test.cumulate", "... -> ...", linear=[(0,)])
    wrong = {str(finding) for finding in check_op(module, Mesh(x=2), compiled)}
    assert wrong == {'wrong: test.cumulate [{}, {"x"}] -> [{}, {"x"}]: result 0 is wrong'}
    add_row("test.cumulate", "... j -> ... j", j="replicate", linear=[(0,)])
    assert check_op(module, SQUARE, compiled) == []


def test_a_row_may_be_a_function() -> None:
    def halves(op: Any) -> Rule:
        """Only the first dim passes."""
        (rows, columns) = shape_of(op.operands[0])
        dims = ((0,), (1,))
        return Rule((rows, columns), (dims,), (dims,), ("pass", "replicate"))

    add_row("test.cumulate", halves)
    module = program([(CumulateOp, (4, 6))], [((4, 6), None)])
    assert check_op(module, SQUARE, compiled) == []
    assert str(ROWS["test.cumulate"]) == "computed: Only the first dim passes"


def test_all_ops_without_a_row_are_named_at_once() -> None:
    module = on_mesh(
        program(
            [(MatmulOp, (4, 6)), (CumulateOp, (4, 6)), (CumulateOp, (4, 6))],
            [((4, 8), (X, ())), ((8, 6), ((), ()))],
        )
    )
    with pytest.raises(ShardwrightError) as caught:
        run_pipeline(module, ["propagate-layouts"])
    assert [(str(found.location), found.code, found.message) for found in caught.value.diagnostics] == [
        ("user.py:1:1", "SW0401", "'test.matmul' has no sharding rule"),
        ("user.py:2:1", "SW0401", "'test.cumulate' has no sharding rule"),
    ]


def test_the_line_in_the_message_is_right() -> None:
    """Pasted as it stands, it adds a row that is right for any op."""
    module = program([(MatmulOp, (4, 6))], MATRICES)
    with pytest.raises(ShardwrightValueError) as caught:
        check_op(module, SQUARE, compiled)
    help_text = caught.value.diagnostics[0].help
    assert help_text is not None
    line = re.sub(r"^add one, for example: ", "", help_text)
    assert line == (
        'from shardwright.rules import add_row; add_row("test.matmul", "i j, k l -> m n", i="replicate", '
        'j="replicate", k="replicate", l="replicate", m="replicate", n="replicate")'
    )
    exec(line, {})
    assert check_op(module, SQUARE, compiled) == []


def test_the_line_in_the_message_works_in_a_new_process() -> None:
    line = 'from shardwright.rules import add_row; add_row("my.scale", "(), i -> j", i="replicate", j="replicate")'
    other = 'import shardwright; shardwright.rules.add_row("my.other", "... -> ...")'
    subprocess.run([sys.executable, "-c", f"{line}\n{other}"], check=True)


BAD_ROWS: list[tuple[str, dict[str, Any], str]] = [
    ("i k, k j", {}, "write operands -> results"),
    ("i -> i -> i", {}, "write operands -> results"),
    ("i [k] -> i", {}, "'i [k]' is no tensor"),
    ("(i j -> i j", {}, "'(i j' is no tensor"),
    ("i.j -> i", {}, "'i.j' is no tensor"),
    ("i 2 -> i", {}, "'i 2' is no tensor"),
    ("i k, k j -> i j", {"k": "total"}, "'total' is no kind of factor"),
    ("i k, k j -> i j", {}, "no result has factor 'k'"),
    ("i k, k j -> i j", {"k": "sum", "l": "sum"}, "it has no factor 'l'"),
    ("i -> i", {"i": "sum"}, "factor 'i' is reduced, but the results have it"),
    ("i -> i", {"linear": [(1,)]}, r"(1,) is no group of its 1 operands"),
    ("i -> i", {"linear": [()]}, r"() is no group of its 1 operands"),
    ("i -> i", {"flows": [("mean", (0,))]}, "'mean' is no kind of partial results"),
]


@pytest.mark.parametrize(("pattern", "arguments", "message"), BAD_ROWS, ids=[row[2] for row in BAD_ROWS])
def test_bad_rows_are_refused(pattern: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ShardwrightValueError, match=re.escape(message)) as caught:
        add_row("test.matmul", pattern, **arguments)
    (found,) = caught.value.diagnostics
    assert found.code == "SW0402"
    assert found.message.startswith("the sharding row of 'test.matmul': ")
    assert "test.matmul" not in ROWS


def test_a_function_takes_no_kinds() -> None:
    with pytest.raises(ShardwrightValueError, match="a function gives the kinds of factors and the flows itself"):
        add_row("test.matmul", rule_for, k="sum")


@pytest.mark.parametrize(
    ("pattern", "kinds", "message"),
    [
        ("i -> i", {}, "the rule names 1 tensors where the op has 2"),
        ("i j k, j k -> i k", {"j": "sum"}, "the rule names 3 dims where a tensor has 2"),
        ("i j, i k -> j k", {"i": "sum"}, "factors ('i',) do not make up a dim of size 8"),
        ("(a b) k, k j -> a j", {"k": "sum", "b": "replicate"}, "do not make up a dim of size 4"),
    ],
)
def test_a_row_that_does_not_fit_the_op_says_where(pattern: str, kinds: dict[str, str], message: str) -> None:
    add_row("test.matmul", pattern, **kinds)
    with pytest.raises(ShardwrightValueError, match=re.escape(message)) as caught:
        check_op(program([(MatmulOp, (4, 6))], MATRICES), SQUARE, compiled)
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.location)) == ("SW0402", "user.py:1:1")
