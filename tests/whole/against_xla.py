"""
The reference against XLA, unsharded: `python tests/whole/against_xla.py SEED COUNT [STYLE]`.

Prints each seed before its program runs, since XLA aborts on some, and exits with 1 when a result differs.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from shardwright.benchmarks import xla
from whole.build import Program
from whole.draw import random_program
from whole.styles import STYLES
from whole.verdict import difference


def unsharded_text(program: Program) -> str:
    """The program without mesh and layouts."""
    text = re.sub(r" \{sdy\.sharding = #sdy\.sharding<@mesh, [^>]*>\}", "", program.text)
    text = re.sub(
        r"sdy\.(?:sharding_constraint|reshard) (%\S+) <@mesh, .*?> :", r"stablehlo.optimization_barrier \1 :", text
    )
    text = re.sub(r"sdy\.propagation_barrier (%\S+) \S+ :", r"stablehlo.optimization_barrier \1 :", text)
    return re.sub(r"  sdy\.mesh .*\n", "", text)


def run(program: Program) -> list[Any]:
    """What XLA gives on one device."""
    jax: Any = import_module("jax")
    numpy: Any = import_module("numpy")
    compiler: Any = import_module("jax._src.compiler")
    mlir: Any = import_module("jax._src.interpreters.mlir")
    ir: Any = import_module("jaxlib.mlir.ir")
    jax.config.update("jax_enable_x64", True)
    devices = import_module("jaxlib._jax").DeviceList(tuple(jax.devices()[:1]))
    with mlir.make_ir_context():
        module = ir.Module.parse(unsharded_text(program))
        loaded = jax.devices()[0].client.compile_and_load(module, devices, compiler.get_compile_options(1, 1))
    placed = [jax.device_put(array) for array in program.inputs]
    parts = loaded.execute_sharded(placed).disassemble_into_single_device_arrays()
    return [numpy.asarray(part[0]) for part in parts]


def main(first: int, count: int, style: str = "small") -> int:
    """Compare the programs of consecutive seeds in a style."""
    xla.prepare()
    wrong = 0
    for seed in range(first, first + count):
        program = random_program(seed, style=STYLES[style])
        if "manual_computation" in program.text:
            continue
        print(seed, flush=True)
        for found, value in zip(run(program), program.results, strict=True):
            if problem := difference(found, value):
                wrong += 1
                print(f"seed {seed}: {value.name} {problem}\n{program.text}", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
