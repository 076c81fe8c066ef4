"""Calls of Python for what happens there: once each, in the order in which they are written, whoever needs results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from processes import on_processes

import shardwright as sw
from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.rules.families.custom_calls import CALLS, EFFECTS
from shardwright.runtime.executable import compile_module
from shardwright.runtime.kernels.custom_calls import FUNCTIONS
from shardwright.runtime.processes.communicator import Communicator

X = np.arange(8, dtype=np.float32)

PROGRAM = """
#x = #dtensor.layout<@mesh, [{"x"}]>
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%x: tensor<8xf32, #x>) -> tensor<8xf32, #x> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<8xf32, #x>, tensor<f32>) -> tensor<f32>
  %unused = stablehlo.custom_call @test.note(%sum) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %n:2 = stablehlo.while(%i = %c0, %v = %x) : tensor<i32>, tensor<8xf32, #x>
  cond {
    %seen = stablehlo.custom_call @test.note(%i) {has_side_effect = true} : (tensor<i32>) -> tensor<i32>
    %go = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %most = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8xf32, #x>, tensor<f32>) -> tensor<f32>
    stablehlo.custom_call @test.tell(%most) {has_side_effect = true} : (tensor<f32>) -> ()
    %w = stablehlo.add %v, %v : tensor<8xf32, #x>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %j, %w : tensor<i32>, tensor<8xf32, #x>
  }
  stablehlo.custom_call @test.tell() {has_side_effect = true} : () -> ()
  return %x : tensor<8xf32, #x>
}
"""


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What @test.note was called with, which gives it back, and @test.tell, which gives nothing."""
    noted: list[Any] = []

    def note(*parts: Any) -> Any:
        noted.append([part.tolist() for part in parts])
        return tuple(np.array(part) for part in parts)

    for name, kernel in (("test.note", note), ("test.tell", lambda *parts: note(*parts)[:0])):
        monkeypatch.setitem(CALLS, name, None)
        monkeypatch.setitem(FUNCTIONS, name, kernel)
        EFFECTS.add(name)
    yield noted
    EFFECTS.difference_update(("test.note", "test.tell"))


def local(text: str) -> Any:
    module = parse_module(text, "effects.mlir")
    run_pipeline(module, ["partition"])
    return module


@pytest.mark.parametrize("fused", [True, False])
def test_all_of_them_in_order(seen: list[Any], fused: bool) -> None:
    executable = compile_module(local(PROGRAM), fused=fused)
    assert not seen
    for _ in range(2):
        seen.clear()
        np.testing.assert_array_equal(executable.run([X])[0], X)
        rounds = [each for at in range(3) for each in ([at], [float(X.sum()) * 2**at])]
        # The condition is asked once more than there are rounds; the loop itself is for nothing else.
        assert seen == [[28.0], *rounds, [3], []]


def test_without_a_word_they_are_refused(seen: list[Any]) -> None:
    EFFECTS.clear()
    with pytest.raises(sw.ShardwrightError, match=r"SW0431.*the custom call @test.note has side effects"):
        local(PROGRAM)


def test_several_processes_would_all_have_them(seen: list[Any]) -> None:
    module = local(PROGRAM)

    def work(communicator: Communicator) -> str:
        with pytest.raises(ValueError, match="SW0431") as caught:
            compile_module(module, communicator=communicator)
        return str(caught.value)

    for text in on_processes(2, work):
        assert "a callback has effects in Python, and each of several processes would have them" in text
        assert "help: run the program in one process, or leave the call out: callbacks='drop'" in text
    assert not seen


DIFFERS = """
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<1xi32> {dtensor.layout = #dtensor.layout<@mesh, [{"x"}]>, dtensor.global_type = tensor<4xi32>})
    -> (tensor<1xi32> {dtensor.layout = #dtensor.layout<@mesh, [{"x"}]>, dtensor.global_type = tensor<4xi32>}) {
  %i = dtensor.axis_index @mesh {"x"} : tensor<i32>
  %0 = "stablehlo.case"(%i) ({
    stablehlo.custom_call @test.tell(%a) {has_side_effect = true} : (tensor<1xi32>) -> ()
    stablehlo.return %a : tensor<1xi32>
  }, {
    stablehlo.return %a : tensor<1xi32>
  }) : (tensor<i32>) -> tensor<1xi32>
  return %0 : tensor<1xi32>
}
"""  # noqa: E501


def test_a_branch_that_devices_take_differently(seen: list[Any]) -> None:
    with pytest.raises(sw.ShardwrightError) as caught:
        compile_module(parse_module(DIFFERS, "test.mlir"))
    (found,) = caught.value.diagnostics
    assert found.code == "SW0608"
    assert found.message == (
        "stablehlo.case holds calls back, but its index differs between devices: who calls is not said"
    )
    assert found.help == "reduce the index over the devices first, or move the calls back out"
    assert not seen
