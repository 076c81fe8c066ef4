"""Shardy's attributes and ops: text both ways, and the data behind it."""

import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import sdy
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.text.verify import verify_module
from shardwright.layout.axes import Axis

TEXT = """\
module {
  sdy.mesh @mesh = <["x"=8, "y"=2, "z"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  sdy.mesh @one = <[], device_ids=[3]>
  sdy.mesh @other = <["a"=4], device_ids=[3, 2, 1, 0]>
  func.func public @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}], replicated={"y"}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "x":(4)2}p1], unreduced={"z"}>}) -> (tensor<16x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}p0, {?}p2]> : tensor<16x8xf32>
    %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<16x8xf32>
    %2 = sdy.sharding_constraint %1 <mesh<["a"=2, "b"=2]>, [{"a"}, {"b"}]> : tensor<16x8xf32>
    %cst = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1.000000e+00> : tensor<f32>
    return %2 : tensor<16x8xf32>
  }
}
"""  # noqa: E501


def test_text_goes_both_ways():
    module = parse_module(TEXT)
    verify_module(module)
    assert print_module(module) == TEXT
    assert print_module(parse_module(print_module(module, generic=True))) == TEXT


def test_data():
    function = parse_module(TEXT).body.block.last_op
    first, second = (entry.data["sdy.sharding"].data for entry in function.arg_attrs.data)
    assert first == sdy.Sharding(
        "mesh", (sdy.DimSharding((Axis("x"),), is_open=True), sdy.DimSharding()), replicated=(Axis("y"),)
    )
    assert second.dims[0] == sdy.DimSharding((Axis("x", 1, 2), Axis("x", 4, 2)), priority=1)
    assert second.unreduced == (Axis("z"),)
    constraint, add, inline = list(function.body.block.ops)[:3]
    assert constraint.sharding.data.dims[1] == sdy.DimSharding(is_open=True, priority=2)
    assert len(add.attributes["sdy.sharding"].data) == 1
    assert inline.sharding.data.mesh == sdy.SdyMesh((("a", 2), ("b", 2)))


def test_meshes():
    meshes = [op.mesh.data for op in parse_module(TEXT).body.block.ops if isinstance(op, sdy.MeshOp)]
    assert [mesh.sizes for mesh in meshes] == [{"x": 8, "y": 2, "z": 2}, {}, {"a": 4}]
    assert meshes[2].device_ids == (3, 2, 1, 0)


def test_constructors():
    sharding = sdy.Sharding("mesh", (sdy.DimSharding((Axis("x"),)), sdy.DimSharding()))
    value = parse_module(TEXT).body.block.last_op.body.block.args[0]
    assert sdy.ShardingConstraintOp(value, sharding).result.type == value.type
    assert str(sdy.MeshOp("mesh", sdy.SdyMesh((("x", 4),)))) == 'sdy.mesh @mesh = <["x"=4]>'


@pytest.mark.parametrize(
    ("sharding", "message"),
    [
        ('<@mesh, [{"x"}, {?, "y"}]>', "'?' must come last"),
        ('<@mesh, [{"x"}q1, {}]>', "expected a priority like p0"),
        ('<@mesh, [{"x"}, {}], sharded={"y"}>', "replicated"),
        ('<mush<["a"=2]>, [{}, {}]>', "mesh"),
        ("<@mesh, [{x}, {}]>", "the name of a mesh axis in double quotes"),
    ],
)
def test_malformed_sharding(sharding, message):
    line = f"%0 = sdy.sharding_constraint %x {sharding} : tensor<4x4xf32>"
    text = f"func.func @f(%x: tensor<4x4xf32>) {{\n{line}\nreturn\n}}"
    with pytest.raises(ShardwrightError) as caught:
        parse_module(text, "f.mlir")
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.location.line == 2


@pytest.mark.parametrize(
    ("mesh", "message"), [('<["x"=2, "x"=4]>', "names an axis twice"), ('<["x"=0]>', "size below 1")]
)
def test_bad_mesh(mesh, message):
    with pytest.raises(ShardwrightError, match=message):
        verify_module(parse_module(f"sdy.mesh @mesh = {mesh}"))


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        ('<["x"=2, "y"=2], device_ids=[0, 1, 1, 2]>', "device_ids name device 1 more than once"),
        ('<["x"=2, "y"=2], device_ids=[0, 1, 2]>', "a mesh of 4 devices has 4 device_ids, not 3"),
        ('<["x"=2, "y"=2], device_ids=[0, 1, 2, 4]>', "a mesh of 4 devices has the device_ids 0 to 3, and no 4"),
        ("<[], device_ids=[7, 8]>", "a mesh of 1 devices has 1 device_ids, not 2"),
    ],
)
def test_device_ids_are_those_of_all_devices(mesh: str, message: str):
    """As Shardy's own verifier has it."""
    with pytest.raises(ShardwrightError, match=f"SW0201.*{message}"):
        parse_module(f"sdy.mesh @mesh = {mesh}")
    sharding = f"#sdy.sharding<mesh{mesh}, [{{}}]>"
    with pytest.raises(ShardwrightError, match=f"SW0201.*{message}"):
        parse_module(f"func.func private @f(tensor<4xf32> {{sdy.sharding = {sharding}}})")
