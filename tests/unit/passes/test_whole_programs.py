"""What went wrong once when several passes met: small programs, partitioned with every check on, and run."""

import numpy as np
from harness import run


def test_a_window_may_be_the_result() -> None:
    text = """
    module {
      sdy.mesh @mesh = <["x"=2]>
      func.func public @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
          -> tensor<4x4xf32> {
        %0 = stablehlo.reverse %a, dims = [0] : tensor<4x4xf32>
        return %0 : tensor<4x4xf32>
      }
    }"""
    a = np.arange(16, dtype=np.float32).reshape(4, 4)
    np.testing.assert_array_equal(run(text, [a]).results[0], a[::-1])


def test_a_strided_dim_stays_local_next_to_a_window() -> None:
    """Rows 2 and 3 come from the second device; every second column is where it was."""
    text = """
    module {
      sdy.mesh @mesh = <["x"=2, "y"=2]>
      func.func public @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
          -> (tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
        %0 = stablehlo.slice %a [2:4, 0:4:2] : (tensor<4x4xf32>) -> tensor<2x2xf32>
        return %0 : tensor<2x2xf32>
      }
    }"""
    a = np.arange(16, dtype=np.float32).reshape(4, 4)
    np.testing.assert_array_equal(run(text, [a]).results[0], a[2:4, 0:4:2])


def test_an_axis_of_size_one_next_to_partial_sums() -> None:
    text = """
    module {
      sdy.mesh @mesh = <["x"=2, "y"=1]>
      func.func public @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
          -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      }
    }"""
    a = np.arange(16, dtype=np.float32).reshape(4, 4)
    np.testing.assert_array_equal(run(text, [a]).results[0], a.sum(0))


def test_three_narrow_sums_meet_in_a_wider_type() -> None:
    """One all-reduce of 64 bytes, not three of 32: the last operand's even price must not stop the flow."""
    dots = "\n".join(
        f"%{name} = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        f" : (tensor<4x8xf16>, tensor<8x4xf16>) -> tensor<4x4xf16>\n"
        f"%{name}w = stablehlo.convert %{name} : (tensor<4x4xf16>) -> tensor<4x4xf32>"
        for name in "pqr"
    )
    dots = dots.replace("%b", "%p_b", 1).replace("%b", "%q_b", 1)
    text = f"""
    module {{
      sdy.mesh @mesh = <["x"=2]>
      func.func public @main(
          %a: tensor<4x8xf16> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}]>}},
          %p_b: tensor<8x4xf16> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}},
          %q_b: tensor<8x4xf16> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}},
          %b: tensor<8x4xf16> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}})
          -> (tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
        {dots}
        %0 = stablehlo.add %pw, %qw : tensor<4x4xf32>
        %1 = stablehlo.add %0, %rw : tensor<4x4xf32>
        return %1 : tensor<4x4xf32>
      }}
    }}"""
    a = np.arange(32, dtype=np.float16).reshape(4, 8) % 5
    b = np.arange(32, dtype=np.float16).reshape(8, 4) % 3
    ran = run(text, [a, b, b + 1, b + 2])
    np.testing.assert_array_equal(ran.results[0], (a @ (3 * b + 3)).astype(np.float32))
    assert ran.collectives == ["all_reduce"]
    assert ran.predicted == 64
