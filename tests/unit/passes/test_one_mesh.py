"""Meshes of other axes over the same devices: what is said of them is said of one."""

from __future__ import annotations

import pytest

from shardwright.compiler.pipelines import run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.dtensor import layout_of, meshes
from shardwright.dialects.stablehlo.collectives import AllReduceOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes.program import entry_function

GRID = 'sdy.mesh @grid = <["x"=4, "y"=2]>'


def layouts(other: str, sharding: str) -> list[str]:
    """How an argument on the grid and one on another mesh are laid out when the program is read."""
    module = parse_module(f"""
    {GRID}
    sdy.mesh @other = {other}
    func.func public @main(
      %a: tensor<16x16xf32> {{sdy.sharding = #sdy.sharding<@grid, [{{"x"}}, {{}}]>}},
      %b: tensor<16x16xf32> {{sdy.sharding = #sdy.sharding<@other, {sharding}>}}) -> tensor<16x16xf32> {{
      return %a : tensor<16x16xf32>
    }}
    """)
    run_pipeline(module, ["import"])
    assert list(meshes(module)) == ["grid"]
    return [spec.body() for value in entry_function(module).args if (spec := layout_of(value)) is not None]


@pytest.mark.parametrize(
    ("other", "sharding", "said"),
    [
        ('<["all"=8]>', '[{"all"}, {}]', '[{"x", "y"}, {}]'),
        ('<["all"=8]>', '[{"all":(2)4}, {"all":(1)2}]', '[{"x":(2)2, "y"}, {"x":(1)2}]'),
        ('<["p"=2, "q"=4]>', '[{"q"}, {"p"}]', '[{"x":(2)2, "y"}, {"x":(1)2}]'),
        ('<["p"=2, "q"=4]>', '[{"p", "q"}, {}]', '[{"x", "y"}, {}]'),
        ('<["y"=4, "x"=2]>', '[{"x"}, {"y"}]', '[{"y"}, {"x"}]'),
        ('<["one"=1, "p"=2, "none"=1, "q"=4]>', '[{"one"}, {"none", "p"}]', '[{}, {"x":(1)2}]'),
        ('<["p"=2, "q"=4], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]>', '[{"p"}, {"q"}]', '[{"y"}, {"x"}]'),
        ('<["p"=4, "q"=2], device_ids=[0, 2, 1, 3, 4, 6, 5, 7]>', '[{"p"}, {"q"}]', '[{"x":(1)2, "y"}, {"x":(2)2}]'),
        ('<["p"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>', "[{}, {}]", "[{}, {}]"),
        ('<["x"=4, "y"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>', '[{"y"}, {}]', '[{"y"}, {}]'),
        ('<["p"=2, "q"=4]>', '[{"p", ?}, {?}], replicated={"q"}', '[{"x":(1)2, ?}, {?}], replicated={"x":(2)2, "y"}'),
    ],
)
def test_axes_are_said_as_axes_and_parts_of_axes(other: str, sharding: str, said: str) -> None:
    assert layouts(other, sharding) == ['[{"x"}, {}]', said]


@pytest.mark.parametrize("other", ['<["x"=4, "y"=4]>', '<["x"=2, "y"=2]>'])
def test_other_devices_are_refused(other: str) -> None:
    with pytest.raises(ShardwrightError, match="SW0405"):
        layouts(other, "[{}, {}]")


def test_an_order_that_counts_in_no_steps_is_refused() -> None:
    with pytest.raises(ShardwrightError, match="SW0405"):
        layouts('<["p"=8, "q"=1], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>', '[{"p"}, {}]')


def test_axes_that_cut_each_other_are_refused() -> None:
    with pytest.raises(ShardwrightError, match="SW0405"):
        run_pipeline(
            parse_module("""
            sdy.mesh @a = <["x"=2, "y"=3]>
            sdy.mesh @b = <["x"=3, "y"=2]>
            func.func public @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>},
              %b: tensor<6xf32> {sdy.sharding = #sdy.sharding<@b, [{"x"}]>}) -> tensor<6xf32> {
              return %a : tensor<6xf32>
            }
            """),
            ["import"],
        )


MANUAL = """
sdy.mesh @parts = <["p"=2, "q"=4]>
sdy.mesh @grid = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@parts, [{"q"}]>}) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@grid, [{"x"}]>] out_shardings=[<@grid, [{"x"}]>] \
manual_axes={"x", "y"} (%b: tensor<2xf32>) {
    %1 = stablehlo.negate %b : tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def test_the_mesh_of_manual_computations_is_the_one() -> None:
    module = parse_module(MANUAL)
    run_pipeline(module, ["import"])
    assert list(meshes(module)) == ["grid"]
    (spec,) = (layout_of(value) for value in entry_function(module).args)
    assert spec is not None
    assert spec.body() == '[{"x":(2)2, "y"}]'


def test_manual_axes_that_are_parts_of_others_are_refused() -> None:
    """Two computations, each with whole axes of its own."""
    second = MANUAL[MANUAL.index("  %0 =") : MANUAL.index("  return")]
    renamed = {"%0": "%2", "%1": "%3", "@grid": "@parts", '"x", "y"': '"p"', '"x"': '"p"', "%a": "%0"}
    for old, new in renamed.items():
        second = second.replace(old, new)
    text = MANUAL.replace("  return", second.replace("tensor<2xf32>", "tensor<4xf32>") + "  return")
    with pytest.raises(ShardwrightError, match="SW0405"):
        run_pipeline(parse_module(text), ["import"])


def test_a_mesh_of_the_same_axes_and_another_name_is_the_one() -> None:
    """And groups of devices that go by its axes, or by those of another mesh, go by those of the one."""
    groups = "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @MESH, axes = [AXES]>"
    sums = [
        f"""%{number} = "stablehlo.all_reduce"(%{number - 1}) <{{{groups}}}> ({{
          ^bb0(%l: tensor<f32>, %r: tensor<f32>):
            %s = stablehlo.add %l, %r : tensor<f32>
            stablehlo.return %s : tensor<f32>
        }}) : (tensor<2xf32>) -> tensor<2xf32>
        """.replace("MESH", mesh).replace("AXES", f'#stablehlo.axis_ref<name = "{axis}">')
        for number, mesh, axis in ((2, "again", "y"), (3, "parts", "p"))
    ]
    text = MANUAL.replace(GRID, f"{GRID}\n{GRID.replace('grid', 'again')}")
    text = text.replace("@parts, [", "@again, [").replace('{"q"}', '{"y"}')
    text = text.replace("sdy.return %1", "".join(sums) + "sdy.return %3")
    module = parse_module(text)
    run_pipeline(module, ["import"])
    assert list(meshes(module)) == ["grid"]
    (spec,) = (layout_of(value) for value in entry_function(module).args)
    assert spec is not None
    assert (spec.mesh, spec.body()) == ("grid", '[{"y"}]')
    found = [op.groups for op in module.walk() if isinstance(op, AllReduceOp)]
    assert [str(each) for each in found] == [
        'mesh = @grid, axes = [#stablehlo.axis_ref<name = "y">]',
        'mesh = @grid, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]',
    ]
