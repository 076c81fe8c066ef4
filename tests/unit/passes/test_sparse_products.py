"""Sparse matrices by their rows times dense ones, as JAX calls them on CPUs (BCSR): what NumPy gives, however split."""

from __future__ import annotations

import numpy as np
import pytest

from shardwright.compiler.stages import read_module
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.functions.dtensor import BACKEND

# Row 1 is empty; two elements stand before the first start, and one behind the last.
STARTS, COLUMNS = np.array([2, 4, 4, 7], np.int32), np.array([0, 3, 5, 1, 0, 5, 5, 2], np.int32)


def _last_dim_split(kind: str) -> str:
    dims = ["{}"] * (kind.count("x") - 1) + ['{"x"}']
    return f" {{sdy.sharding = #sdy.sharding<@mesh, [{', '.join(dims)}]>}}"


@pytest.mark.parametrize("shape", [(6,), (6, 4)])
@pytest.mark.parametrize("split", ["%elements", "%starts", "%columns", "%x", ""])
def test_a_sparse_product(split: str, shape: tuple[int, ...]) -> None:
    types = {"%elements": "8xf64", "%starts": "4xi32", "%columns": "8xi32", "%x": "x".join([*map(str, shape), "f64"])}
    said = ", ".join(
        f"{name}: tensor<{kind}>{_last_dim_split(kind) if name == split else ''}" for name, kind in types.items()
    )
    result = "x".join(["3", *map(str, shape[1:]), "f64"])
    operands = ", ".join(f"tensor<{kind}>" for kind in types.values())
    text = f"""
sdy.mesh @mesh = <["x"=2]>
func.func public @main({said}) -> tensor<{result}> {{
  %0 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi({", ".join(types)}) : ({operands}) -> tensor<{result}>
  return %0 : tensor<{result}>
}}"""
    elements = np.arange(1.0, 9.0)
    x = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    dense = np.zeros((3, 6))
    for row in range(3):
        for at in range(STARTS[row], STARTS[row + 1]):
            dense[row, COLUMNS[at]] += elements[at]
    program = read_module(parse_module(text, "sparse.mlir"), "sparse.mlir", BACKEND).compile()
    np.testing.assert_array_equal(program(elements, STARTS, COLUMNS, x), dense @ x)
