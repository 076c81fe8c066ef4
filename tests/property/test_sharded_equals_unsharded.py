"""Random dense programs with random layouts, partitioned and run on all devices, give what NumPy gives."""

import numpy as np
import pytest
from property.programs import Program, random_program

from shardwright.compiler.layouts.unsharded import unsharded_module
from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import compile_module


def check(program: Program, results: list[np.ndarray]) -> None:
    """Compares `results` with NumPy's: to the bit where nothing can round."""
    assert len(results) == len(program.outputs)
    for result, expected in zip(results, program.outputs, strict=True):
        if program.exact:
            np.testing.assert_array_equal(result, expected, err_msg=program.text)
        else:
            np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-4, err_msg=program.text)


def run_partitioned(program: Program) -> None:
    """Partitions with every verifier on, runs all devices, and compares."""
    module = parse_module(program.text, f"program_{program.seed}.mlir")
    run_pipeline(module, ["partition", "verify-locations"], verify_each=True)
    check(program, compile_module(module).run(program.inputs))


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(60))
def test_sharded_equals_numpy(seed: int) -> None:
    run_partitioned(random_program(seed))


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(60, 80))
def test_unsharded_equals_numpy(seed: int) -> None:
    program = random_program(seed)
    module = unsharded_module(parse_module(program.text, f"program_{seed}.mlir"))
    check(program, compile_module(module).run(program.inputs))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_two_thousand_programs(block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        run_partitioned(random_program(seed))
