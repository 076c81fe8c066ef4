"""Values that a program puts into the host's memory in between, in what is exported: XLA is told, as JAX told us."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.exporting.sdy import export_sdy
from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.stablehlo import CustomCallOp, ReshapeOp
from shardwright.dialects.stablehlo.calls.custom_calls import custom_calls, memory_of
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.passes.rewriter import insert_before
from shardwright.runtime.executable import compile_module

PUT = """stablehlo.custom_call @annotate_device_placement(OPERAND) {has_side_effect = true, \
mhlo.frontend_attributes = {_xla_buffer_placement = "MEMORY"}} : (tensor<8xf32>) -> tensor<8xf32>"""


def put(operand: str, memory: str) -> str:
    return PUT.replace("OPERAND", operand).replace("MEMORY", memory)


OFFLOADED = f"""sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) -> tensor<8xf32> {{
  %0 = stablehlo.sine %x : tensor<8xf32>
  %1 = {put("%0", "pinned_host")}
  %2 = {put("%1", "device")}
  %3 = stablehlo.add %2, %0 : tensor<8xf32>
  return %3 : tensor<8xf32>
}}
"""

FROM_THE_HOST = f"""sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}})
    -> (tensor<8xf32>, tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}]>}}) {{
  %0 = {put("%x", "pinned_host")}
  return %0, %0 : tensor<8xf32>, tensor<8xf32>
}}
"""
"""What is put into the host's memory is wanted whole: that is gathered among devices."""


def local(text: str) -> ModuleOp:
    module = parse_module(text)
    run_pipeline(module, ["partition"])
    return module


def placed(module: ModuleOp) -> list[tuple[str, str]]:
    """Who makes what is put into a memory, and which it is."""
    found: list[tuple[str, str]] = []
    for call in custom_calls(module):
        memory = memory_of(call)
        assert memory is not None
        assert call.effects
        found.append((getattr(call.operands[0].owner, "name", "argument"), memory.data))
    return found


@pytest.mark.parametrize("bare", [False, True])
def test_what_is_put_aside_and_fetched_is_so_for_xla(bare: bool) -> None:
    module = local(OFFLOADED)
    export_stablehlo(module, bare=bare)
    assert placed(module) == [("stablehlo.sine", "pinned_host"), (CustomCallOp.name, "device")]
    assert "dtensor." not in print_module(module)


def test_shardy_reads_it_with_its_layout() -> None:
    module = parse_module(OFFLOADED)
    run_pipeline(module, ["propagate"])
    export_sdy(module)
    assert placed(module) == [("stablehlo.sine", "pinned_host"), (CustomCallOp.name, "device")]
    assert all('[{"x"}]' in str(call.attributes["sdy.sharding"]) for call in custom_calls(module))
    assert "dtensor." not in print_module(module)


@pytest.mark.parametrize("reshaped", [False, True])
def test_what_is_sent_is_fetched_first(reshaped: bool) -> None:
    """A device sends from its own memory, a value in another shape as well."""
    module = local(FROM_THE_HOST)
    (gather,) = [op for op in module.walk() if op.name == "dtensor.all_gather"]
    if reshaped:
        same = ReshapeOp(gather.operands[0], gather.operands[0].type)
        insert_before(gather, same)
        gather.operands[0] = same.results[0]
    export_stablehlo(module)
    (gathered,) = [op for op in module.walk() if op.name == "stablehlo.all_gather"]
    fetched = gathered.operands[0].owner
    assert isinstance(fetched, CustomCallOp)
    assert str(memory_of(fetched)) == '"device"'
    assert placed(module) == [
        ("argument", "pinned_host"),
        ("stablehlo.reshape" if reshaped else CustomCallOp.name, "device"),
    ]


def test_a_memory_changes_no_value_here() -> None:
    x = np.arange(8, dtype=np.float32)
    (found,) = compile_module(local(OFFLOADED)).run([x])
    np.testing.assert_allclose(found, 2 * np.sin(x), rtol=1e-6)
