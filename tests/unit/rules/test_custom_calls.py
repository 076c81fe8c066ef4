"""Custom calls of users: what their rule means, proved by brute force, run on eight devices, exported for Shardy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import shardwright as sw
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.sdy.rules import OpShardingRule, OpShardingRuleAttr
from shardwright.dialects.stablehlo import CustomCallOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.layout import Mesh
from shardwright.rules import check_op, rule_for
from shardwright.rules.families.custom_calls import CALLS, rule_of, written_for_shardy
from shardwright.rules.rule import PASS
from shardwright.runtime.executable import compile_module
from shardwright.runtime.kernels.custom_calls import FUNCTIONS

TYPES = "(tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>"
CALL = f"stablehlo.custom_call @my.product(%x, %y) {{mhlo.backend_config = {{scale = 2.0 : f32}}}} : {TYPES}"
PLAIN = f"""func.func public @main(%x: tensor<4x8xf32>, %y: tensor<8x6xf32>) -> tensor<4x6xf32> {{
  %0 = {CALL}
  return %0 : tensor<4x6xf32>
}}"""
SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}'
MESH = 'sdy.mesh @mesh = <["x"=4, "y"=2]>\n'
TEXT = MESH + PLAIN.replace("4x8xf32>,", f"4x8xf32> {SPLIT},", 1)
RULE = "i k, k j -> i j"


def product(x: Any, y: Any, scale: float) -> Any:
    return np.float32(scale) * (x @ y)


@pytest.fixture(autouse=True)
def _() -> Iterator[None]:
    """What a test registers goes with it."""
    before = dict(CALLS), dict(FUNCTIONS)
    yield
    for registry, kept in zip((CALLS, FUNCTIONS), before, strict=True):
        registry.clear()
        registry.update(kept)


def load(text: str, folder: Path) -> Any:
    (folder / "program.mlir").write_text(text)
    return sw.load_mlir(folder / "program.mlir")


def compiled(module: ModuleOp) -> Any:
    return compile_module(module, namespace="plain_numpy").run


def call_in(text: str) -> CustomCallOp:
    return next(op for op in parse_module(text).walk() if isinstance(op, CustomCallOp))


def test_the_kernel_computes_each_devices_part(tmp_path: Path) -> None:
    seen: list[tuple[int, ...]] = []

    def watched(x: Any, y: Any, scale: float) -> Any:
        seen.append(x.shape)
        return product(x, y, scale)

    sw.register_custom_call("my.product", RULE, watched, k="sum", linear=[(0,), (1,)])
    x, y = (np.random.default_rng(0).integers(-4, 5, shape).astype(np.float32) for shape in ((4, 8), (8, 6)))
    stage = load(TEXT, tmp_path).partition()
    np.testing.assert_array_equal(np.asarray(stage.compile()(x, y)), 2 * x @ y)
    assert set(seen) == {(1, 4)}
    assert len(seen) == 8
    assert [row.kind for row in stage.predicted] == ["all_reduce"]


def test_a_right_rule_stands_brute_force_and_a_wrong_one_does_not() -> None:
    sw.register_custom_call("my.product", RULE, product, k="sum", linear=[(0,), (1,)])
    assert check_op(PLAIN, Mesh(x=2, y=2), compiled) == []
    sw.register_custom_call("my.product", RULE, lambda x, y, scale: product(x, y, scale) + 1, k="sum")
    assert check_op(PLAIN, Mesh(x=2), compiled)


def test_the_rule_is_written_for_shardy_and_read_again(tmp_path: Path) -> None:
    sw.register_custom_call("my.product", RULE, product, k="sum")
    op = call_in(PLAIN)
    written = written_for_shardy(op)
    assert str(written) == "([i, j], [j, k])->([i, k]) {i=4, j=8, k=6} reduction={j}, custom"
    assert str(OpShardingRuleAttr(written)) in load(TEXT, tmp_path).propagate().to_sdy()
    assert str(rule_of(written, ((4, 8), (8, 6)), ((4, 6),))) == "i k, k j -> i j  k=sum"


def test_dims_of_size_one_have_factors_of_their_own_for_shardy() -> None:
    sw.register_custom_call("my.scaled", "i j, k -> i j", None, k="replicate")
    op = call_in(
        "func.func @main(%x: tensor<1x4xf32>, %y: tensor<3xf32>) {\n"
        "%0 = stablehlo.custom_call @my.scaled(%x, %y) : (tensor<1x4xf32>, tensor<3xf32>) -> tensor<1x4xf32>\nreturn\n}"
    )
    written = written_for_shardy(op)
    assert str(written) == "([k, i], [j])->([l, i]) {i=4, j=3, k=1, l=1} need_replication={j}, custom"


@pytest.mark.parametrize(
    ("groups", "rule"),
    [
        ((), "i j, k -> i j  k=replicate"),
        ((("need_replication", ("i",)),), "i j, k -> i j  i=replicate  k=replicate"),
        ((("permutation", ("j",)),), "i j, k -> i j  j=permute  k=replicate"),
        ((("blocked_propagation", ("j",)),), "i j, k -> i j  j=replicate  k=replicate"),
        ((("reduction", ("k",)),), "i j, k -> i j  k=sum"),
    ],
)
def test_each_kind_of_factor_of_shardys(groups: Any, rule: str) -> None:
    written = OpShardingRule((("i", "j"), ("k",)), (("i", "j"),), (("i", 4), ("j", 6), ("k", 3)), groups)
    assert str(rule_of(written, ((4, 6), (3,)), ((4, 6),))) == rule


def test_a_program_with_shardys_rule_is_partitioned_and_not_run(tmp_path: Path) -> None:
    rule = "sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=4, j=6, k=8} reduction={k}, custom>"
    text = TEXT.replace("{mhlo.backend_config", f"{{{rule}, mhlo.backend_config")
    stage = load(text, tmp_path).partition()
    assert [row.kind for row in stage.predicted] == ["reduce_scatter"]
    with pytest.raises(ShardwrightError, match=r"SW0431.*@my.product is known by its name only"):
        stage.compile()
    sw.register_custom_call("my.product", None, product)
    x, y = np.ones((4, 8), np.float32), np.ones((8, 6), np.float32)
    np.testing.assert_array_equal(np.asarray(stage.compile()(x, y)), np.full((4, 6), 16))


def test_a_rule_for_other_shapes_is_refused_at_the_call(tmp_path: Path) -> None:
    rule = "sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=4, j=5, k=8} reduction={k}, custom>"
    text = TEXT.replace("{mhlo.backend_config", f"{{{rule}, mhlo.backend_config")
    with pytest.raises(
        ShardwrightError, match=r"program.mlir:3:8: error\[SW0402\].*'j' do not make up a dim of size 6"
    ):
        load(text, tmp_path).partition()


def test_without_any_rule_nothing_is_split(tmp_path: Path) -> None:
    sw.register_custom_call("my.product", None, product)
    stage = load(TEXT, tmp_path).partition()
    assert [row.kind for row in stage.predicted] == ["all_gather"]


@pytest.mark.parametrize(
    ("call", "shared"),
    [
        ("@QrDecompositionBlock(%a) : (tensor<6x5x3xf32>) -> (tensor<6x5x3xf32>, tensor<6x3xf32>)", 1),
        ("@Cholesky(%a) : (tensor<6x3x3xf32>) -> tensor<6x3x3xf32>", 1),
        ("@CompactWyHelper(%a) : (tensor<3x3xf32>) -> tensor<3x3xf32>", 0),
        ("@xla.megascale.provide_metadata(%a) : (tensor<6x3xf32>) -> tensor<6x3xf32>", 2),
    ],
)
def test_calls_of_xlas_compiler_keep_whole_what_is_computed_as_one(call: str, shared: int) -> None:
    argument, results = call[call.index("(tensor") + 1 : call.index(") ->")], "uv"[: call.count("tensor") - 1]
    names = ", ".join(f"%{name}" for name in results)
    op = call_in(f"func.func @main(%a: {argument}) {{\n{names} = stablehlo.custom_call {call}\nreturn\n}}")
    rule = rule_for(op)
    first, *others = ([dim if rule.kinds[dim[0]] == PASS else () for dim in tensor] for tensor in rule.tensors())
    assert [bool(dim) for dim in first] == [True] * shared + [False] * (len(first) - shared)
    assert all(other[:shared] == first[:shared] and not any(other[shared:]) for other in others)


def test_a_call_on_one_device_is_made_with_whole_tensors(tmp_path: Path) -> None:
    only = "sdy.mesh @only = <[], device_ids=[5]>\n"
    there = "sdy.sharding = #sdy.sharding_per_value<[<@only, []>]>"
    text = only + TEXT.replace("{mhlo.backend_config", f"{{{there}, mhlo.backend_config")
    stage = load(text, tmp_path).partition()
    assert [row.kind for row in stage.predicted] == ["all_gather"]
    sw.register_custom_call("my.product", None, product)
    x, y = (np.random.default_rng(0).integers(-4, 5, shape).astype(np.float32) for shape in ((4, 8), (8, 6)))
    np.testing.assert_array_equal(np.asarray(stage.compile()(x, y)), 2 * x @ y)


def test_results_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    sw.register_custom_call("my.product", RULE, lambda x, y, scale: (x @ y).astype(np.float64), k="replicate")
    said = r"SW0434\]: the kernel of @my.product gives float64\[1, 6\], but the program says float32\[1, 6\]"
    with pytest.raises(ShardwrightError, match=said):
        load(TEXT, tmp_path).compile()(np.ones((4, 8), np.float32), np.ones((8, 6), np.float32))


def test_names_that_are_taken_and_rules_that_say_nothing() -> None:
    for name in ("lapack_sgetrf_ffi", "Sharding", "mhlo.erf"):
        with pytest.raises(ValueError, match=f"SW0435.*@{name} is built in"):
            sw.register_custom_call(name, "i -> i", np.sin)
    with pytest.raises(ValueError, match=r"SW0402.*'@my.sum': no result has factor 'j'"):
        sw.register_custom_call("my.sum", "i j -> i", np.sin)


def test_a_schur_form_needs_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    config = "{mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}}"
    types = "tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>"
    text = f"""func.func public @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  %0:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {config} : (tensor<4x4xf32>) -> ({types})
  return %0#0 : tensor<4x4xf32>
}}"""
    monkeypatch.setattr("shardwright.runtime.lowering.calls.find_spec", lambda name: None)
    with pytest.raises(ShardwrightError) as raised:
        compile_module(parse_module(text, "schur.mlir"))
    assert str(raised.value).splitlines()[0] == (
        "schur.mlir:2:10: error[SW0431]: the custom call @lapack_sgees_ffi is computed by SciPy, which is not installed"
    )
    assert "help: pip install 'shardwright[solver]'" in str(raised.value)
    sorted_ = parse_module(text.replace("sort = 78", "sort = 83"), "schur.mlir")
    with pytest.raises(ShardwrightError, match="is known by its name only"):
        compile_module(sorted_)
