"""What each stage allows, and what its verifier says of the rest."""

import pytest
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, UnknownLoc
from xdsl.dialects.func import FuncOp

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import make_context
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes import all_passes
from shardwright.passes.stages import (
    require_stage,
    set_stage,
    stage_of,
    verify_recorded_stage,
    verify_stage,
)

MESH = 'dtensor.mesh @mesh = <["x"=4, "y"=2]>\n'
SPLIT = 'tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>'
WHOLE = "tensor<8xf32, #dtensor.layout<@mesh, [{}]>>"
PARTIAL = 'tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"y"}>>'


def function(body: str, argument: str = "tensor<8xf32>", attributes: str = "") -> ModuleOp:
    """A module with the mesh and one function whose argument is %x."""
    return parse_module(f"{MESH}func.func public @main(%x: {argument}{attributes}) {{\n{body}\nreturn\n}}", "f.mlir")


def code(module: ModuleOp, stage: str) -> str:
    """The code and line of the fault that keeps `module` from being in `stage`."""
    with pytest.raises(ShardwrightError) as caught:
        verify_stage(module, stage)
    found = caught.value.diagnostics[0]
    return f"{found.code}:{found.location.line if found.location else '?'}"


def test_traced_has_layouts_where_the_user_gave_them() -> None:
    body = f"%0 = stablehlo.negate %x : tensor<8xf32>\n%1 = dtensor.constraint %0 : tensor<8xf32> -> {SPLIT}"
    verify_stage(function(body), "traced")
    verify_stage(function("", 'tensor<8xf32, #dtensor.layout<@mesh, [{"x", ?}]>>'), "traced")


@pytest.mark.parametrize("stage", ["propagated", "aligned", "planned"])
def test_every_tensor_has_a_closed_layout(stage: str) -> None:
    good = f"%0 = stablehlo.negate %x : {SPLIT}"
    verify_stage(function(good, SPLIT), stage)
    assert code(function(f"%0 = stablehlo.negate %x : ({SPLIT}) -> tensor<8xf32>", SPLIT), stage) == "SW0313:3"
    assert code(function("", 'tensor<8xf32, #dtensor.layout<@mesh, [{"x", ?}]>>'), stage) == "SW0313:2"


def test_a_reductions_body_needs_no_layouts() -> None:
    body = (
        "%c = stablehlo.constant dense<0.0> : tensor<f32> -> tensor<f32, #dtensor.layout<@mesh, []>>\n"
        "%0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : "
        f"({SPLIT}, tensor<f32, #dtensor.layout<@mesh, []>>) -> "
        'tensor<f32, #dtensor.layout<@mesh, [], unreduced=sum{"x"}>>'
    )
    verify_stage(function(body, SPLIT), "aligned")


def test_what_needs_no_layout_in_a_body_needs_one_outside() -> None:
    body = (
        "%c = stablehlo.constant dense<0.0> : tensor<f32> -> tensor<f32, #dtensor.layout<@mesh, []>>\n"
        "%0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : "
        f"({SPLIT}, tensor<f32, #dtensor.layout<@mesh, []>>) -> tensor<f32, #dtensor.layout<@mesh, []>>\n"
        "reducer(%p: tensor<f32>, %q: tensor<f32>) {\n"
        "%k = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "%s = stablehlo.add %p, %k : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}"
    )
    verify_stage(function(body, SPLIT), "propagated")
    outside = body + "\n%k = stablehlo.constant dense<0.0> : tensor<f32>"
    assert code(function(outside, SPLIT), "propagated") == "SW0313:10"


@pytest.mark.parametrize(
    ("op", "legal"),
    [
        (f"%0 = dtensor.relayout %x : {SPLIT} -> {WHOLE}", {"traced", "propagated", "aligned"}),
        (f'%0 = dtensor.all_gather @mesh [{{"x"}}] %x : ({SPLIT}) -> {WHOLE}', {"planned"}),
    ],
)
def test_legal_ops(op: str, legal: set[str]) -> None:
    for stage in ("traced", "propagated", "aligned", "planned"):
        if stage in legal:
            verify_stage(function(op, SPLIT), stage)
        else:
            assert code(function(op, SPLIT), stage) == "SW0312:3"


def test_calls_are_legal_only_when_traced() -> None:
    module = function(f"%0 = call @f(%x) : ({SPLIT}) -> {SPLIT}", SPLIT)
    verify_stage(module, "traced")
    assert code(module, "propagated") == "SW0312:3"


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ('<@other, [{"x"}]>', "SW0103"),
        ('<@mesh, [{"z"}]>', "SW0102"),
        ('<@mesh, [{"x", "x"}]>', "SW0105"),
        ('<@mesh, [{"x"}, {}]>', "SW0106"),
        ('<@mesh, [{"x":(1)3}]>', "SW0107"),
        ('<@mesh, [{"x", "y"}]>', ""),
    ],
)
def test_layouts_fit_their_tensors_in_every_stage(layout: str, expected: str) -> None:
    module = function("", f"tensor<8xf32, #dtensor.layout{layout}>")
    for stage in ("traced", "planned"):
        if expected:
            assert code(module, stage) == f"{expected}:2"
        else:
            verify_stage(module, stage)


def test_local_types_have_no_layouts() -> None:
    assert code(function("", SPLIT), "local") == "SW0314:2"


def test_local_arguments_state_their_global_side() -> None:
    sides = ' {dtensor.layout = #dtensor.layout<@mesh, [{"x"}]>, dtensor.global_type = tensor<8xf32>}'
    verify_stage(function("", "tensor<2xf32>", sides), "local")
    assert code(function("", "tensor<4xf32>", sides), "local") == "SW0315:2"
    assert code(function("", "tensor<2xf32>"), "local") == "SW0315:2"


@pytest.mark.parametrize("listed", [0, 1])
def test_a_local_function_that_lists_fewer_sides_than_values_is_refused(listed: int) -> None:
    side = '{dtensor.layout = #dtensor.layout<@mesh, [{"x"}]>, dtensor.global_type = tensor<8xf32>}'
    two = f"{MESH}func.func public @main(%x: tensor<2xf32> {side}, %y: tensor<2xf32> {side}) {{\nreturn\n}}"
    module = parse_module(two, "f.mlir")
    verify_stage(module, "local")
    (main,) = (op for op in module.ops if isinstance(op, FuncOp))
    assert main.arg_attrs is not None
    main.properties["arg_attrs"] = ArrayAttr(main.arg_attrs.data[:listed])
    assert code(module, "local") == "SW0315:2"


def test_a_module_records_its_stage() -> None:
    module = function("", SPLIT)
    assert stage_of(module) is None
    verify_recorded_stage(module)
    set_stage(module, "local")
    assert stage_of(module) == "local"
    with pytest.raises(ShardwrightError, match="SW0314"):
        verify_recorded_stage(module)


def test_unknown_stage() -> None:
    assert code(function(""), "finished").startswith("SW0310")


def test_a_pass_names_the_stages_that_it_takes() -> None:
    module = function("")
    with pytest.raises(ShardwrightError, match="in no stage yet") as caught:
        require_stage(module, "localize", "planned")
    assert caught.value.diagnostics[0].code == "SW0311"
    set_stage(module, "planned")
    require_stage(module, "localize", "planned")


def test_verify_locations_counts_at_most_ten() -> None:
    module = function("\n".join(f"%{i} = stablehlo.negate %x : tensor<8xf32>" for i in range(12)))
    for op in module.walk():
        op.location = UnknownLoc()
    with pytest.raises(ShardwrightError) as caught:
        all_passes()["verify-locations"]()().apply(make_context(), module)
    assert [found.code for found in caught.value.diagnostics] == ["SW0320"] * 10


def test_a_sum_of_a_partial_and_of_a_finished_value_fits_where_that_is_zero() -> None:
    """The second addition has the types and properties of the first one, but adds ones, on each device."""
    zero, one = (f"%{name} = stablehlo.constant dense<{name}.0> : tensor<8xf32> -> {WHOLE}" for name in "01")
    adding = [f"%s{name} = stablehlo.add %x, %{name} : ({PARTIAL}, {WHOLE}) -> {PARTIAL}" for name in "01"]
    verify_stage(function("\n".join([zero, one, adding[0]]), PARTIAL), "aligned")
    assert code(function("\n".join([zero, one, *adding]), PARTIAL), "aligned") == "SW0316:6"


def test_layouts_that_do_not_fit_the_rule() -> None:
    x, y = '#dtensor.layout<@mesh, [{"x"}]>', "#dtensor.layout<@mesh, [{}]>"
    module = parse_module(
        f"""
dtensor.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4xf32, {x}>, %b: tensor<4xf32, {y}>) -> tensor<4xf32, {x}> {{
  %0 = stablehlo.add %a, %b : (tensor<4xf32, {x}>, tensor<4xf32, {y}>) -> tensor<4xf32, {x}>
  func.return %0 : tensor<4xf32, {x}>
}}""",
        "fit.mlir",
    )
    verify_stage(module, "propagated")
    with pytest.raises(ShardwrightError, match=r"SW0316.*'stablehlo.add'"):
        verify_stage(module, "aligned")


@pytest.mark.parametrize("name", ["hoist-invariants", "expand-gradients", "canonicalize", "import-sdy"])
def test_passes_on_the_users_layouts_refuse_chosen_ones(name: str) -> None:
    module = parse_module(f'module attributes {{dtensor.stage = "planned"}} {{ {MESH} }}', "planned.mlir")
    with pytest.raises(ShardwrightError, match=f"{name} cannot run on a program that is in the planned stage"):
        all_passes()[name]()().apply(make_context(), module)
