"""Each op with each element type against XLA; what agrees is what `docs/coverage.md` calls tested."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.runtime.dtype_cases import CASES, program

from shardwright.benchmarks import xla
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import native_array
from shardwright.runtime.executable import compile_module
from shardwright.tools.programs.signature import entry_signature

pytestmark = pytest.mark.peers
jax = pytest.importorskip("jax")

Array = np.ndarray[Any, Any]
RECORD = Path(__file__).resolve().parents[2] / "data" / "tested_dtypes.json"
RTOL = {"f8E4M3FN": 0.13, "f8E5M2": 0.26, "bf16": 2e-2, "f16": 3e-3, "f32": 1e-4, "complex<f32>": 1e-4}
PAIRS = [(op, element) for op, (_, elements) in CASES.items() for element in elements]


def inputs(text: str) -> list[Array]:
    """Seeded arguments: small numbers of both signs, positions within the operand."""
    random = np.random.default_rng(0)
    found: list[Array] = []
    for declared in entry_signature(parse_module(text)).arguments:
        dtype = np.dtype(declared.dtype)
        if dtype.kind in "fc" or dtype.name.startswith(("bfloat", "float8")):
            real, imaginary = random.uniform(0.1, 0.9, (2, *declared.shape))
            found.append((real + 1j * imaginary if dtype.kind == "c" else real).astype(dtype))
        else:
            limit = 2 if dtype.kind == "b" else 3
            found.append(random.integers(1 if dtype.kind != "b" else 0, limit, declared.shape).astype(dtype))
    return found


@cache
def client() -> Any:
    """XLA's client for the CPU."""
    xla.prepare()
    return jax.devices("cpu")[0].client


def run_xla(text: str, arguments: list[Array]) -> Array:
    """The first result of a program on one device."""
    compiler, mlir = import_module("jax._src.compiler"), import_module("jax._src.interpreters.mlir")
    ir, runtime = import_module("jaxlib.mlir.ir"), import_module("jaxlib._jax")
    device = jax.devices("cpu")[0]
    options = compiler.get_compile_options(1, 1, device_assignment=np.array([[device.id]]))
    with jax.enable_x64(True):
        module = ir.Module.parse(text, mlir.make_ir_context())
        loaded = client().compile_and_load(module, runtime.DeviceList((device,)), options)
        placed = [jax.device_put(argument, device) for argument in arguments]
        parts = loaded.execute_sharded(placed).disassemble_into_single_device_arrays()
        return native_array(np.asarray(parts[0][0]))


@pytest.mark.parametrize(("op", "element"), PAIRS, ids=lambda value: value)
def test_agrees_with_xla(op: str, element: str) -> None:
    text = program(op, element)
    arguments = inputs(text)
    ours = compile_module(parse_module(text)).run(arguments)[0]
    theirs = run_xla(text, arguments)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    wide = [np.asarray(one).astype(np.complex128 if one.dtype.kind == "c" else np.float64) for one in (ours, theirs)]
    rtol = RTOL.get(element, 1e-9 if "f64" in element else 0)
    np.testing.assert_allclose(*wide, rtol=rtol, atol=rtol)


def test_record_is_current() -> None:
    """Write it with `python tests/unit/runtime/test_dtypes_peers.py`."""
    assert json.loads(RECORD.read_text()) == {op: list(elements) for op, (_, elements) in CASES.items()}


if __name__ == "__main__":
    RECORD.write_text(json.dumps({op: list(CASES[op][1]) for op in sorted(CASES)}, indent=1) + "\n")
