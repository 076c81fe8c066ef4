"""Random programs that nobody laid out: with the layouts that are chosen they give what NumPy gives."""

import pytest
from property.programs import Program, random_program
from property.test_sharded_equals_unsharded import check
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.layouts.automatic import chosen
from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.layouts.unsharded import strip_layouts
from shardwright.compiler.pipelines import ALIGN, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.report import prediction
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import compile_module


def run_chosen(seed: int, *, parts: bool) -> None:
    """Without a limit, within nine tenths of what that held, in half with values computed again, and in `parts`."""
    program = random_program(seed)
    bare = parse_module(program.text, f"program_{seed}.mlir")
    run_pipeline(bare, ["import"])
    strip_layouts(bare, keep_mesh=True)
    held = run_within(program, bare, None)
    if held is not None:
        run_within(program, bare, held * 9 // 10)
        run_within(program, bare, held // 2, recompute=True)
        if parts:
            run_within(program, bare, held * 2 // 3, microbatches=True)


def run_within(program: Program, bare: ModuleOp, limit: int | None, **allowed: bool) -> int | None:
    """What a device holds, which is no more than the limit; None where nothing fits."""
    try:
        module = chosen(bare, None, limit, **allowed)
    except ShardwrightError as error:
        codes = [each.code for each in error.diagnostics]
        assert (codes == ["SW0469"] and limit is not None) or codes == ["SW0468"], program.text
        return None
    run_pipeline(module, [*PROPAGATE, *ALIGN, *PLAN], verify_each=True)
    predicted = prediction(module)
    run_pipeline(module, LOCALIZE, verify_each=True)
    held = memory_of(module).peak
    assert limit is None or held <= limit, program.text
    executable = compile_module(module)
    check(program, executable.run(program.inputs))
    assert executable.ledger.sent_bytes == predicted.total(executable.ledger.runs), program.text
    return held


@pytest.mark.every(4)
@pytest.mark.parametrize("seed", range(12))
def test_chosen_equals_numpy(seed: int) -> None:
    run_chosen(seed, parts=False)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_a_thousand_programs(block: int) -> None:
    for seed in range(20_000 + 100 * block, 20_100 + 100 * block):
        run_chosen(seed, parts=True)
