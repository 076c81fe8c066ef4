"""What is put into another memory inside of a program of `shardwright.jax.jit`."""

from __future__ import annotations

import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.jax.memories import refuse_moves_between

OFFLOADED = """func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @annotate_device_placement(%x) {has_side_effect = true, \
mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  return RESULT : tensor<8xf32>
}
"""


def test_what_is_put_aside_inside_is_refused() -> None:
    """JAX writes so for accelerators alone; as a result it is kept."""
    with pytest.raises(ShardwrightError) as caught:
        refuse_moves_between(parse_module(OFFLOADED.replace("RESULT", "%1"), "model.mlir"), "device")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, str(diagnostic.location)) == ("SW0578", "model.mlir:2:8")
    assert diagnostic.help == 'return it, and the caller has it there, or give the program to XLA with fallback="xla"'
    assert diagnostic.message == "a value in between is put into pinned_host, and would stay in device"
    given = OFFLOADED.replace("  %1 = stablehlo.add %0, %0 : tensor<8xf32>\n", "").replace("RESULT", "%0")
    refuse_moves_between(parse_module(given), "device")
    refuse_moves_between(parse_module(OFFLOADED.replace("RESULT", "%1")), "pinned_host")
