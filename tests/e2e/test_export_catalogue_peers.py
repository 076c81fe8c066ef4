"""Some programs of the catalogue, of every family: as exported they are run by JAX with the results of one device."""

from __future__ import annotations

import re

import numpy as np
import pytest
from e2e.test_export_peers import Array, run_with_jax

from shardwright.benchmarks.files import ROOT
from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.exporting.sdy import export_sdy
from shardwright.compiler.pipelines import ALIGN, LOCALIZE, PLAN, run_pipeline
from shardwright.dialects.dtensor import layout_of, meshes
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.layout import Layout
from shardwright.tools.programs.signature import entry_function

pytestmark = pytest.mark.peers
jax = pytest.importorskip("jax")

STEP = 8
"""One program in so many: all take a quarter of an hour, and have been run."""

XLA_IS_WRONG = {"dynamic_slices_clamped", "numerical_analysis", "cumulative_mixture", "fft2_filter_grad"}
"""XLA's own partitioner gives other results for these, or none, from JAX's text as well."""


def names() -> list[str]:
    """Every so many of the catalogue's names, read from its text: importing it would import JAX."""
    text = "".join(path.read_text() for path in sorted((ROOT / "benchmarks" / "programs").glob("*.py")))
    found = re.findall(r"(?ms)^@(?:program|whole)\(.*?^def (\w+)", text)
    return [name for name in found[::STEP] if name not in XLA_IS_WRONG]


def close(actual: Array, expected: Array, tolerance: tuple[float, float]) -> bool:
    """Within the program's tolerance of the size of the expected elements."""
    pair = [
        np.asarray(one).astype(np.complex128 if one.dtype.kind == "c" else np.float64) for one in (actual, expected)
    ]
    finite = pair[1][np.isfinite(pair[1])]
    size = max(1.0, float(np.sqrt(np.mean(np.abs(finite) ** 2)))) if finite.size else 1.0
    rtol, atol = (max(limit, 2e-3) for limit in tolerance)
    return bool(np.allclose(*pair, rtol=rtol, atol=atol * size, equal_nan=True))


@pytest.mark.parametrize("name", names())
def test_program(name: str) -> None:
    from shardwright.benchmarks import export_programs as exports
    from shardwright.benchmarks.programs.catalogue import Context

    program = exports.PROGRAMS[name]
    reference = exports._reference(program, program.build(Context(exports._mesh(program))))
    inputs = [np.asarray(leaf) for leaf in jax.tree.leaves(reference.arguments)]
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(reference.function)(*reference.arguments))]
    module = parse_module(exports.lowered_text(program), name)
    run_pipeline(module, ["propagate"])
    mesh = next(iter(meshes(module).values()))
    returned = entry_function(module).get_return_op()
    assert returned is not None
    layouts = [Layout.from_spec(spec, mesh) for value in returned.operands if (spec := layout_of(value)) is not None]
    local = module.clone()
    run_pipeline(local, [*ALIGN, *PLAN, *LOCALIZE])
    for one, export in ((module, export_sdy), (local, export_stablehlo)):
        export(one)
        results = run_with_jax(print_module(one), inputs, layouts)
        right = [close(*pair, program.tolerance) for pair in zip(results, expected, strict=True)]
        assert all(right), right
