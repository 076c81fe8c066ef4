"""
Random dense programs: every stage verifies and reads back, results are NumPy's, bytes sent are those predicted.

Two styles beyond `test_sharded_equals_unsharded`: chains of linear ops, in which partial results flow and meet, and
larger axes of which layouts use parts. And the decisions do not depend on the order in which independent ops stand.
"""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest
from harness import run
from property.programs import DENSE, LINEAR, PARTS, Program, Style, random_program
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes.program import entry_function

STYLES = {"dense": DENSE, "linear": LINEAR, "parts": PARTS}


def check(program: Program, *, round_trip: bool) -> None:
    """Runs a program on all devices; to the bit where nothing can round."""
    ran = run(program.text, program.inputs, round_trip=round_trip)
    for result, expected in zip(ran.results, program.outputs, strict=True):
        if program.exact:
            np.testing.assert_array_equal(result, expected, err_msg=program.text)
        else:
            np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-4, err_msg=program.text)


@pytest.mark.every(10)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", STYLES)
def test_results_and_bytes(name: str, seed: int) -> None:
    for number in range(10 * seed, 10 * seed + 10):
        check(random_program(number, STYLES[name]), round_trip=number % 5 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", STYLES)
def test_thousands_of_programs(name: str, seed: int) -> None:
    for number in range(10_000 + 100 * seed, 10_100 + 100 * seed):
        check(random_program(number, STYLES[name]), round_trip=False)


def shuffled(program: Program, random: Random) -> str:
    """The program's text with its ops in another order in which each value is still defined before its uses."""
    waiting, lines, defined = list(program.lines), list[str](), {value.name for value in program.arguments}
    while waiting:
        ready = [line for line in waiting if set(re.findall(r"%\w+", line.partition(" = ")[2])) <= defined]
        line = random.choice(ready)
        waiting.remove(line)
        lines.append(line)
        defined.add(line.partition(" = ")[0])
    old = "\n".join(f"    {line}" for line in program.lines)
    return program.text.replace(old, "\n".join(f"    {line}" for line in lines))


def layouts(text: str) -> list[str]:
    """The layouts of the arguments, and of each op's results by what it computes: the same for every order of ops."""
    module = parse_module(text, "program.mlir")
    run_pipeline(module, ["import-sdy", "propagate-layouts"])
    function = entry_function(module)
    names: dict[SSAValue, str] = {value: f"argument {i}" for i, value in enumerate(function.body.block.args)}
    found = [f"{names[value]}: {layout_of(value)}" for value in function.body.block.args]
    for op in function.body.block.ops:
        for result in op.results:
            names[result] = described(op, names)
            found.append(f"{names[result]}: {layout_of(result)}")
    return sorted(found)


def described(op: Operation, names: dict[SSAValue, str]) -> str:
    """What an op computes: its name in the text of the program, or its kind and operands."""
    hint = op.results[0].name_hint
    return hint if hint else f"{op.name}({', '.join(names[value] for value in op.operands)})"


@pytest.mark.every(6)
@pytest.mark.parametrize("seeds", [range(8), range(8, 40)], ids=str)
@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_order_of_independent_ops_does_not_matter(style: Style, seeds: range) -> None:
    for seed in seeds:
        program = random_program(seed, style)
        assert layouts(shuffled(program, Random(seed))) == layouts(program.text), program.text


def test_same_text_same_program() -> None:
    def planned() -> str:
        module: ModuleOp = parse_module(random_program(3, LINEAR).text, "program.mlir")
        run_pipeline(module, ["plan"])
        return str(module)

    assert planned() == planned()
