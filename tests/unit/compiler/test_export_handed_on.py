"""What one device has for all others is handed on in an export: as many bytes, the logarithm of as many messages."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.pipelines import run_pipeline
from shardwright.compiler.report import predicted_bytes
from shardwright.dialects.stablehlo.collectives import CollectivePermuteOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.runtime.executable import compile_module

ROWS = 48
SOLVE = """
#rows = #dtensor.layout<@mesh, [{"x"}, {}]>
dtensor.mesh @mesh = <["x"=PARTS]>
func.func public @main(%a: tensor<48x48xf32, #rows>, %b: tensor<48x1xf32, #rows>) -> tensor<48x1xf32, #rows> {
  %0 = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  } : (tensor<48x48xf32, #rows>, tensor<48x1xf32, #rows>) -> tensor<48x1xf32, #rows>
  return %0 : tensor<48x1xf32, #rows>
}
"""


def partitioned(text: str) -> ModuleOp:
    module = parse_module(text, "test.mlir")
    run_pipeline(module, ["partition"])
    return module


@pytest.mark.parametrize("parts", [2, 3, 6, 8])
def test_blocks_that_all_others_need_take_few_messages(parts: int) -> None:
    text = SOLVE.replace("PARTS", str(parts))
    planned = parse_module(text, "test.mlir")
    run_pipeline(planned, ["plan"])
    predicted = predicted_bytes(planned)
    own = partitioned(text)
    export_stablehlo(own)
    permutes = [op for op in own.walk() if isinstance(op, CollectivePermuteOp)]
    assert len(permutes) == (parts - 1) * ceil(log2(parts))  # all blocks but the last one
    moved = [np.array(op.source_target_pairs.get_values()).reshape(-1, 2) for op in permutes]
    assert all(len(set(pairs[:, 0])) == len(set(pairs[:, 1])) == len(pairs) for pairs in moved)
    assert predicted is not None
    assert predicted * parts == sum(len(pairs) for pairs in moved) * (ROWS // parts) * 4
    generator = np.random.default_rng(parts)
    a = np.tril(generator.standard_normal((ROWS, ROWS), "float32") * np.float32(0.1)) + np.eye(ROWS, dtype=np.float32)
    b = generator.standard_normal((ROWS, 1), "float32")
    (found,) = compile_module(partitioned(print_module(own))).run([a, b])
    np.testing.assert_allclose(found, np.linalg.solve(a, b), rtol=1e-3, atol=1e-4)
