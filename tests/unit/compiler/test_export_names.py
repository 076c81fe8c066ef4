"""Names of ops in an export, and in what tells programs of JAX apart: what was written where does not matter."""

from __future__ import annotations

from shardwright.compiler.exporting.xla.names import keep_names
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.frontends.jax.remembering import without_places

TEXT = """
module {
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
    %0 = stablehlo.sine %arg0 : tensor<4xf32> loc(#loc3)
    %1 = stablehlo.negate %0 : tensor<4xf32> loc(#loc4)
    %2 = stablehlo.cosine %1 : tensor<4xf32> loc(#loc1)
    return %2 : tensor<4xf32> loc(#loc5)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc1 = loc("model.py":LINE:24)
#loc3 = loc("jit(f)/SCOPE/sin"(#loc1))
#loc4 = loc("neg"(#loc1))
#loc5 = loc("jit(f)"(#loc1))
"""


def text(line: int, scope: str) -> str:
    return TEXT.lstrip().replace("LINE", str(line)).replace("SCOPE", scope)


def test_names_stay_without_the_function_and_without_places() -> None:
    module = parse_module(text(3, "layer"), "f.mlir")
    keep_names(module)
    printed = print_module(module, debuginfo=True)
    assert '"layer/sin"(unknown)' in printed
    assert '"neg"(unknown)' in printed
    assert "model.py" not in printed
    assert "jit(f)" not in printed
    plain = print_module(parse_module(text(3, "layer"), "f.mlir"))
    assert print_module(parse_module(printed, "f.mlir")) == plain


def test_programs_are_the_same_wherever_they_stand_and_others_by_their_names() -> None:
    assert without_places(text(3, "layer")) == without_places(text(7, "layer"))
    assert without_places(text(3, "layer")) != without_places(text(3, "other"))
    assert "model.py" not in without_places(text(3, "layer"))
