"""MLIR itself, through jaxlib's bindings, reads what we write as the same module, and writes what we write."""

import random
import re
from pathlib import Path

import pytest
from stored_programs import TEXTS
from xdsl.dialects.builtin import StringAttr

from shardwright.dialects.text.literals import dense_body, parse_dense
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.types import dtype_element, tensor

pytestmark = pytest.mark.peers
HERE = Path(__file__).resolve()
LIT = sorted((HERE.parents[2] / "lit" / "dialects").glob("*.mlir"))
DENSE = [path for path in TEXTS if '"dense"' in (path.parent / "meta.json").read_text()]


@pytest.fixture(scope="module")
def mlir():
    """Parses text with MLIR."""
    interpreters = pytest.importorskip("jax._src.interpreters.mlir")
    from jaxlib.mlir import ir

    context = interpreters.make_ir_context()
    return lambda text: ir.Module.parse(text, context)


def same(mlir, text: str) -> None:
    """Whether MLIR reads the text and each of our forms of it as one module."""
    wanted = mlir(text)
    module = parse_module(text, "f.mlir")
    assert str(mlir(print_module(module))) == str(wanted)
    assert str(mlir(print_module(module, generic=True))) == str(wanted)
    theirs = wanted.operation.get_asm(print_generic_op_form=True)
    assert str(mlir(print_module(parse_module(theirs)))) == str(wanted)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_programs(mlir, path):
    same(mlir, path.read_text())


@pytest.mark.parametrize("path", [path for path in LIT if "RUN: %roundtrip" in path.read_text()], ids=lambda p: p.stem)
def test_lit_files(mlir, path):
    text = path.read_text()
    if "dtensor." not in text:
        same(mlir, text)


@pytest.mark.parametrize("path", [path for path in LIT if "RUN: %roundtrip" in path.read_text()], ids=lambda p: p.stem)
def test_every_op_takes_attributes_where_mlir_does(mlir, path):
    """A program that was exported has a sharding on each op."""
    text = path.read_text()
    if "dtensor." in text:
        return
    module = parse_module(text)
    for op in module.walk():
        if op.name not in ("builtin.module", "stablehlo.return", "sdy.return"):
            op.attributes["jax.note"] = StringAttr("x")
    theirs = str(mlir(print_module(module, generic=True)))
    assert str(mlir(print_module(module))) == theirs
    assert str(mlir(print_module(parse_module(theirs)))) == theirs


@pytest.mark.parametrize("path", DENSE[:3], ids=lambda path: path.stem)
def test_locations(mlir, path):
    ours = print_module(parse_module(path.read_text(), path.name), debuginfo=True)
    theirs = mlir(ours).operation.get_asm(enable_debug_info=True)
    assert print_module(parse_module(theirs, "other.mlir"), debuginfo=True) == ours


LOCATIONS = """
#loc1 = loc("f.py":1:2)
module {
func.func @main(%arg0: tensor<f32> loc("x"(#loc1)), %arg1: tensor<f32> {jax.x = 1 : i32} loc("y")) -> tensor<f32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<f32> loc(#loc7)
  %1 = stablehlo.add %arg0, %0 : tensor<f32> loc("f.py":1:2 to :9)
  %2 = stablehlo.add %arg0, %1 : tensor<f32> loc("f.py":1:2 to 3:9)
  %3 = stablehlo.add %arg0, %2 : tensor<f32> loc(callsite("add"(#loc1) at fused<"why">["a.py":1:1, "b"]))
  %4 = stablehlo.add %arg0, %3 : tensor<f32> loc(unknown)
  %5 = stablehlo.reduce(%4 init: %arg0) applies stablehlo.add across dimensions = []
    : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("r.py":5:6)
  %6 = stablehlo.reduce(%4 init: %arg0) across dimensions = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32> loc("a"), %b: tensor<f32> loc("b")) {
     %7 = stablehlo.maximum %a, %b : tensor<f32> loc("s.py":5:6)
     stablehlo.return %7 : tensor<f32> loc("s.py":5:7)
   } loc("r.py":5:6)
  return %6 : tensor<f32> loc("f.py":9:9)
} loc("f.py":1:1)
} loc("f.py":0:0)
#loc8 = loc("g.py":3:4)
#loc7 = loc("name"(#loc8))
"""


@pytest.mark.parametrize("generic", [False, True])
def test_every_kind_of_location(mlir, generic):
    wanted = mlir(LOCATIONS).operation.get_asm(enable_debug_info=True)
    theirs = mlir(LOCATIONS).operation.get_asm(enable_debug_info=True, print_generic_op_form=generic)
    ours = print_module(parse_module(theirs), debuginfo=True, generic=generic)
    assert mlir(ours).operation.get_asm(enable_debug_info=True) == wanted


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_floats_are_written_digit_for_digit(mlir, name):
    import ml_dtypes
    import numpy as np

    dtype = np.dtype(getattr(ml_dtypes, name, name))
    element_type = dtype_element(dtype)
    choose = random.Random(0)
    nice = [choose.uniform(-10, 10) for _ in range(150)] + [10.0**power for power in range(-12, 13)]
    nice += [choose.randrange(10**7) / 8 for _ in range(150)]
    rounded = np.asarray(nice).astype(dtype).tobytes()
    data = rounded + choose.randbytes(300 * dtype.itemsize)
    bits = [data[start : start + dtype.itemsize][::-1].hex() for start in range(0, len(data), dtype.itemsize)]
    lines = [
        f'"stablehlo.optimization_barrier"() {{v = dense<0x{b}> : tensor<{element_type}>}} : () -> ()' for b in bits
    ]
    theirs = re.findall(r"dense<([^>]*)>", str(mlir("module {\n" + "\n".join(lines) + "\n}")))
    ours = [dense_body(parse_dense(f"0x{b}", tensor((), element_type))) for b in bits]
    assert ours == theirs
