"""Results that take the memory of donated arguments have their shardings, given or chosen."""

from __future__ import annotations

from shardwright.dialects.sdy import DimSharding, Sharding, ShardingAttr
from shardwright.dialects.sdy.ops import ShardingGroupOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.frontends.jax.donation import keep_with_donated, lay_out_donated
from shardwright.layout.axes import Axis
from shardwright.passes.program import entry_function

SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
OTHER = "{sdy.sharding = #sdy.sharding<@mesh, [{}]>}"


def laid_out(results: str, *donated: int) -> list[bool]:
    """Which results of a program of three arguments, the first two of them split, are split in the end."""
    text = (
        'sdy.mesh @mesh = <["x"=2]>\n'
        f"func.func public @main(%a: tensor<8xf32> {SPLIT}, %b: tensor<8xf32> {SPLIT}, %c: tensor<4xf32>)"
        f" -> ({results}) {{\n"
        "return %b, %c, %a, %b : tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>\n}"
    )
    module = parse_module(text, "f.mlir")
    lay_out_donated(entry_function(module), donated)
    header = next(line for line in print_module(module).splitlines() if "@main" in line)
    return ['[{"x"}]' in part for part in header.split("->")[1].split("tensor<")[1:]]


def test_each_donated_argument_takes_the_first_result_of_its_type() -> None:
    plain = "tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>"
    assert laid_out(plain) == [False] * 4
    assert laid_out(plain, 0) == [True, False, False, False]
    assert laid_out(plain, 0, 1) == [True, False, True, False]
    assert laid_out(plain, 2) == [False] * 4  # it has no sharding to give


def test_a_sharding_that_was_given_stays() -> None:
    given = f"tensor<8xf32> {OTHER}, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>"
    assert laid_out(given, 0) == [False] * 4
    assert laid_out(given, 0, 1) == [False, False, True, False]


def test_a_result_whose_type_promises_another_sharding_gets_that_one() -> None:
    """Explicit are the axes that its sharding names, split or `replicated`: here y."""

    def result(argument: str, promise: Sharding | None) -> str:
        text = (
            'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'
            f"func.func public @main(%a: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{argument}]>}})"
            " -> tensor<8xf32> {\nreturn %a : tensor<8xf32>\n}"
        )
        module = parse_module(text, "f.mlir")
        lay_out_donated(entry_function(module), [0], [None if promise is None else ShardingAttr(promise)])
        header = next(line for line in print_module(module).splitlines() if "@main" in line)
        return header.split("->")[1]

    by_y = Sharding("mesh", (DimSharding((Axis("y"),), is_open=True),))
    by_none = Sharding("mesh", (DimSharding(is_open=True),), replicated=(Axis("y"),))
    for promise in (None, by_y):
        assert '[{"x", "y"}]' in result('{"x", "y"}', promise)
    for given in ('{"x"}', "{}"):
        assert '[{"y", ?}]' in result(given, by_y)
        assert f"[{given}]" in result(given, by_none)
    assert '[{?}], replicated={"y"}' in result('{"x", "y"}', by_none)


def test_what_nobody_laid_out_is_in_a_group_with_its_argument() -> None:
    """Only pairs of which neither has a sharding; the numbers are those that no other group has."""
    text = (
        'sdy.mesh @mesh = <["x"=2]>\n'
        f"func.func public @main(%a: tensor<8xf32>, %b: tensor<4xf32> {SPLIT}, %c: tensor<2xf32>, %d: tensor<6xf32>)"
        f" -> (tensor<2xf32>, tensor<4xf32>, tensor<8xf32>, tensor<6xf32> {OTHER}) {{\n"
        "%e = stablehlo.negate %a : tensor<8xf32>\n"
        "sdy.sharding_group %e group_id=4 : tensor<8xf32>\n"
        "%f = stablehlo.negate %c : tensor<2xf32>\n"
        "return %f, %b, %e, %d : tensor<2xf32>, tensor<4xf32>, tensor<8xf32>, tensor<6xf32>\n}"
    )
    module = parse_module(text, "f.mlir")
    function = entry_function(module)
    keep_with_donated(function, [0, 1, 2, 3])
    last = function.get_return_op()
    assert last is not None
    groups = {(op.input, op.group) for op in module.walk() if isinstance(op, ShardingGroupOp)}
    a, _, c, _ = function.args
    f, _, e, _ = last.operands
    assert groups == {(e, 4), (a, 5), (e, 5), (c, 6), (f, 6)}
