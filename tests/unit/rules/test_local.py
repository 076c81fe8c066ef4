"""The local hooks, against NumPy."""

import ml_dtypes
import numpy as np
import pytest

from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import compile_module


@pytest.mark.parametrize(
    ("element", "dtype"), [("bf16", ml_dtypes.bfloat16), ("f16", np.float16), ("f32", np.float32), ("i8", np.int8)]
)
def test_a_split_iota_rounds_once(element: str, dtype: type) -> None:
    module = parse_module(
        f"""
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main() -> (tensor<4096x{element}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y", "x"}}]>}}) {{
  %0 = stablehlo.iota dim = 0 : tensor<4096x{element}>
  return %0 : tensor<4096x{element}>
}}""",
        "iota.mlir",
    )
    run_pipeline(module, ["partition"], verify_each=True)
    (result,) = compile_module(module).run([])
    np.testing.assert_array_equal(result, np.arange(4096).astype(dtype))
