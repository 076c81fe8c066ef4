"""Calls fit their callees up to layouts."""

import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.text.verify import verify_module

CALL = """
dtensor.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
  %0 = call @CALLEE(%x) : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<RESULTxf32>
  return
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
"""


def call(callee: str, result: str) -> str:
    return CALL.replace("CALLEE", callee).replace("RESULT", result)


def test_layouts_do_not_count() -> None:
    module = parse_module(call("f", "4"))
    verify_module(module)
    assert "call @f(%x)" in print_module(module)


@pytest.mark.parametrize(
    ("callee", "result", "words"), [("f", "8", "result types do not fit"), ("g", "4", "no function")]
)
def test_types_and_names_do(callee: str, result: str, words: str) -> None:
    with pytest.raises(ShardwrightError, match=words) as caught:
        verify_module(parse_module(call(callee, result), "f.mlir"))
    assert str(caught.value).startswith("f.mlir:4:8: error[SW0302]: 'func.call' op")
