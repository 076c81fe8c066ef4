"""What a loop carries, what is made of nothing and what is empty: right, and refused on every road where it is not."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from harness import Array, run

from shardwright.diagnostics import ShardwrightInternalError
from shardwright.passes.propagation import alignment
from shardwright.passes.propagation.readers import partial_flow
from shardwright.tools import opt
from shardwright.tools.main import main

X = np.arange(128, dtype=np.float32).reshape(8, 16)
S = X[::-1].copy()
Step = Callable[[Array, Array], Array]


def accumulating(body: str, shape: str = "16", mesh: str = '"data"=4') -> str:
    """A loop of five rounds over a state and a sum that starts from zero; the body makes `%t` and `%a` of `%v`."""
    return f"""
sdy.mesh @mesh = <[{mesh}]>
func.func public @main(%x: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}},
                       %s: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}})
    -> (tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}},
        tensor<{shape}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}]>}}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<{shape}xf32>
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %r:4 = stablehlo.while(%i = %i0, %state = %s, %sum = %zeros, %v = %x)
      : tensor<i32>, tensor<8x16xf32>, tensor<{shape}xf32>, tensor<8x16xf32>
    cond {{
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
      %k = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.negate %v : tensor<8x16xf32>
{body}
      stablehlo.return %k, %t, %a, %w : tensor<i32>, tensor<8x16xf32>, tensor<{shape}xf32>, tensor<8x16xf32>
    }}
  return %r#1, %r#2 : tensor<8x16xf32>, tensor<{shape}xf32>
}}"""


GATHERED = """
      %f = sdy.sharding_constraint %w <@mesh, [{}, {}]> : tensor<8x16xf32>
      %t = stablehlo.add %state, %f : tensor<8x16xf32>"""
REDUCED = """
      %p = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>"""


def rounds(step: Step, start: Array) -> tuple[Array, Array]:
    """The loop in NumPy: `step` makes the next sum of the last one and of the value."""
    state, total, value = S, start, X
    for _ in range(5):
        value = -value
        state, total = state + value, step(total, value)
    return state, total


CARRIES: dict[str, tuple[str, Step]] = {
    # What is gathered for one op must not serve the reduction whose result the loop carries partial.
    "a sum beside a copy that is whole": (
        GATHERED + REDUCED + "\n      %a = stablehlo.add %sum, %p : tensor<16xf32>",
        lambda total, value: total + value.sum(0),
    ),
    "behind an op that lets sums through": (
        GATHERED
        + REDUCED
        + "\n      %m = stablehlo.negate %p : tensor<16xf32>\n      %a = stablehlo.add %sum, %m : tensor<16xf32>",
        lambda total, value: total - value.sum(0),
    ),
    "two sums that meet": (
        GATHERED
        + REDUCED
        + """
      %q = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
      %m = stablehlo.subtract %p, %q : tensor<16xf32>
      %a = stablehlo.add %sum, %m : tensor<16xf32>""",
        lambda total, value: total + 2 * value.sum(0),
    ),
    "a product that is accumulated": (
        GATHERED
        + """
      %ones = stablehlo.constant dense<1.0> : tensor<8xf32>
      %p = stablehlo.dot_general %ones, %w, contracting_dims = [0] x [0]
          : (tensor<8xf32>, tensor<8x16xf32>) -> tensor<16xf32>
      %a = stablehlo.add %sum, %p : tensor<16xf32>""",
        lambda total, value: total + value.sum(0),
    ),
}


@pytest.fixture
def each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each op does what is best for it alone: with a plan, a reduction takes the copy that is gathered anyhow."""
    monkeypatch.setattr(alignment, "plan_copies", alignment.no_copies)


@pytest.mark.parametrize("name", list(CARRIES)[:2])
def test_a_reduction_in_a_loop_may_take_what_is_gathered_for_another_op(name: str) -> None:
    body, step = CARRIES[name]
    ran = run(accumulating(body), [X, S])
    for found, expected in zip(ran.results, rounds(step, np.zeros(16, np.float32)), strict=True):
        np.testing.assert_array_equal(found, expected)
    # In each of five rounds three quarters of 8 x 16 numbers are gathered, and no sum is left to be reduced.
    assert ran.predicted == 5 * 3 / 4 * 8 * 16 * 4


@pytest.mark.usefixtures("each_alone")
@pytest.mark.parametrize("name", CARRIES)
def test_what_a_loop_carries_partial_comes_around_partial(name: str) -> None:
    body, step = CARRIES[name]
    ran = run(accumulating(body), [X, S])
    for found, expected in zip(ran.results, rounds(step, np.zeros(16, np.float32)), strict=True):
        np.testing.assert_array_equal(found, expected)  # whole numbers: exact in any order
    # The sum is reduced once, after the loop: 2 * 3/4 of its 64 bytes, and not in each of five rounds.
    sums = [op for op in ran.planned.walk() if op.name == "dtensor.all_reduce"]
    assert len(sums) == 1
    assert sums[0].parent_op() is not None
    assert sums[0].parent_op().name == "func.func"  # pyright: ignore[reportOptionalMemberAccess]


AXES = ["", '"x"', '"y"', '"x", "y"']


@pytest.mark.parametrize(
    ("first", "second"),
    [pair for pair in itertools.product(AXES, AXES) if not set(pair[0]) & set(pair[1]) - set('", ')],
)
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("%1 = stablehlo.reshape %0 : (tensor<96xi32>) -> tensor<8x12xi32>", np.arange(96).reshape(8, 12)),
        (
            "%2 = stablehlo.reshape %0 : (tensor<96xi32>) -> tensor<12x8xi32>\n"
            "    %1 = stablehlo.transpose %2, dims = [1, 0] : (tensor<12x8xi32>) -> tensor<8x12xi32>",
            np.arange(96).reshape(12, 8).T,
        ),
        (
            "%2 = stablehlo.add %0, %0 : tensor<96xi32>\n"
            "    %3 = stablehlo.reshape %2 : (tensor<96xi32>) -> tensor<4x2x12xi32>\n"
            "    %1 = stablehlo.reshape %3 : (tensor<4x2x12xi32>) -> tensor<8x12xi32>",
            2 * np.arange(96).reshape(8, 12),
        ),
    ],
)
def test_what_is_made_of_nothing_is_made_in_any_layout(made: str, expected: Array, first: str, second: str) -> None:
    layout = f"{{sdy.sharding = #sdy.sharding<@mesh, [{{{first}}}, {{{second}}}]>}}"
    ran = run(
        f"""
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x12xi32> {layout}) -> (tensor<8x12xi32> {layout}) {{
    %0 = stablehlo.iota dim = 0 : tensor<96xi32>
    {made}
    %4 = stablehlo.add %a, %1 : tensor<8x12xi32>
    return %4 : tensor<8x12xi32>
  }}""",
        [np.full((8, 12), 1000, np.int32)],
    )
    np.testing.assert_array_equal(ran.results[0], expected + 1000)
    assert ran.predicted == 0


@pytest.mark.parametrize("batched", ["%a", "%k"])
@pytest.mark.parametrize(
    ("stride", "pad", "size"), [(3, "-1, 0", 4), (1, "0, -1", 4), (2, "-2, -1", 4), (1, "0, 0", 5)]
)
def test_convolutions_without_results(batched: str, stride: int, pad: str, size: int) -> None:
    split = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}' if size % 2 == 0 else ""
    image = '{sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}' if batched == "%a" else ""
    ran = run(
        f"""
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<1x4x1xf32> {image}, %k: tensor<{size}x1x1xf32> {split}) -> tensor<1x0x1xf32> {{
    %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {{stride = [{stride}], pad = [[{pad}]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
        : (tensor<1x4x1xf32>, tensor<{size}x1x1xf32>) -> tensor<1x0x1xf32>
    return %0 : tensor<1x0x1xf32>
  }}""",
        [np.ones((1, 4, 1), np.float32), np.ones((size, 1, 1), np.float32)],
    )
    assert ran.results[0].shape == (1, 0, 1)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, each_alone: None) -> str:
    """A compiler that forgets on which ops a carried sum counts, and a program that it gets wrong."""

    def forgets(self: object, *_: object) -> frozenset[int]:
        return frozenset()

    monkeypatch.setattr(partial_flow._Planner, "_bound", forgets)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = tmp_path / "carry.mlir"
    path.write_text(accumulating(CARRIES["a sum beside a copy that is whole"][0]))
    return str(path)


@pytest.mark.parametrize(
    "road",
    [["run"], ["export", "--to", "stablehlo"], ["explain"], ["opt", "-p", "plan"], ["opt", "-p", "partition"]],
    ids=" ".join,
)
def test_every_road_out_refuses_a_wrong_program(
    road: list[str], faulty: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out"
    written = [] if road[0] in ("run", "explain") else ["-o", str(target)]
    command = opt.main if road[0] == "opt" else main
    assert command([*(road[1:] if road[0] == "opt" else road), faulty, *written]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error[SW0317]: what ")
    assert "unreduced=sum" in output.err
    assert "a fault of Shardwright" in output.err
    (saved,) = tmp_path.glob("shardwright-reproducer-*.mlir")
    assert str(saved) in output.err
    assert Path(faulty).read_text() in saved.read_text()
    assert not target.exists()


def test_the_api_refuses_a_wrong_program(faulty: str) -> None:
    import shardwright

    traced = shardwright.load_mlir(faulty)
    with pytest.raises(ShardwrightInternalError, match="SW0317"):
        traced.compile()
