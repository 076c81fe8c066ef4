"""The fuzzer itself: what it draws, that it notices what is wrong, and what it writes about it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness import partitioned
from processes import Threads
from whole import fuzz, verdict
from whole.build import Program
from whole.draw import random_program
from whole.reproducer import kind_of, write_reproducer
from whole.run_one import Record, op_names, program_of, records, spreadable, style_of
from whole.spread import examine_everywhere, spread_problem
from whole.styles import SHARES, STYLES
from whole.traced import SMOOTH, Traced, random_traced
from whole.verdict import CRASHED, REFUSED, RIGHT, WRONG, Outcome, examine

from shardwright.compiler.exporting.writer import Writer
from shardwright.compiler.report import predicted_bytes
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.processes.communicator import Array
from shardwright.runtime.processes.crossing import Group, Piece


@pytest.mark.every(4)
@pytest.mark.parametrize("style", sorted(SHARES))
def test_each_style_comes_out_right(style: str) -> None:
    assert examine(program_of(style, 1), round_trip=True).state == RIGHT


@pytest.mark.parametrize("processes", [2, 4, pytest.param(8, marks=pytest.mark.slow)])
def test_random_programs_on_several_processes(processes: int) -> None:
    """One of each kind: a device for each process, and several."""
    for program in spreadable(processes, 2):
        assert spread_problem(program, processes) == ""


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 4, 8])
def test_thirty_random_programs_on_several_processes(processes: int) -> None:
    for program in spreadable(processes, 30):
        assert spread_problem(program, processes) == "", program.seed


def test_processes_that_say_otherwise_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An element that went astray between processes, and bytes that nobody predicted."""
    program = next(program for program in spreadable(2, 8) if predicted_bytes(partitioned(program.text)[0]))
    swap = Threads.swap

    def wrong(
        self: Threads,
        group: Group,
        sends: Sequence[Piece],
        source: Array,
        receives: Sequence[Piece],
        target: Array,
        *more: Any,
    ) -> None:
        swap(self, group, sends, source, receives, target, *more)
        for piece in receives:
            target[piece.selector] += 1

    monkeypatch.setattr(Threads, "swap", wrong)
    found = examine_everywhere(program)
    assert (found.state, "one process gives on process" in found.detail) == (WRONG, True)
    monkeypatch.setattr(Threads, "swap", lambda self, *parts: (setattr(self, "sent_bytes", 10**6), swap(self, *parts)))
    assert examine_everywhere(program).detail.startswith("bytes: 2000000 sent between 2 processes")


@pytest.fixture(scope="module")
def drawn() -> list[Program]:
    """Four hundred programs of all styles that are drawn as text."""
    numbers = [number for number in range(440) if style_of(number) in STYLES][:400]
    return [random_program(number, style=STYLES[style_of(number)]) for number in numbers]


def test_many_kinds_of_ops_are_drawn(drawn: list[Program]) -> None:
    kinds = Counter(name for program in drawn for name in op_names(program.text))
    assert len([name for name, count in kinds.items() if count > 1]) >= 60


def test_all_sorts_of_meshes_and_layouts_are_drawn(drawn: list[Program]) -> None:
    assert {int(np.prod(list(program.mesh.values()))) for program in drawn} >= {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16}
    layouts = [layout for program in drawn for layout in program.layouts.values()]
    for sign in ('":(', "?", "}p", "replicated="):
        assert sum(sign in layout for layout in layouts) > 20
    shapes = [value.shape for program in drawn for op in program.ops for value in op.results]
    assert sum(0 in shape for shape in shapes) > 50
    assert any("f64" in program.text for program in drawn)


@pytest.mark.parametrize("style", ["loops", "recurrent"])
def test_loops_carry_several_values(style: str) -> None:
    programs = [random_program(seed, style=STYLES[style]) for seed in range(10)]
    loops = [op for program in programs for op in program.ops if "stablehlo.while" in op.text]
    assert max(len(op.results) for op in loops) > 4
    assert any(op.text.count("stablehlo.reduce(") + op.text.count("stablehlo.dot_general") > 2 for op in loops)


def test_gradients_are_those_of_differences_where_a_step_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A derivative that is not the function's is noticed without JAX."""
    one = Traced(0, {"x": 2}, 4, (("doubled", 0, 1),), ((("x",), None), (None, None)), graded=True)
    monkeypatch.setattr("whole.traced.jax", lambda: None)
    monkeypatch.setitem(SMOOTH, "doubled", lambda p, a, b: a * 2)
    monkeypatch.setattr("whole.traced.STEPS", SMOOTH)
    assert examine(one).state == RIGHT
    monkeypatch.setitem(SMOOTH, "doubled", lambda p, a, b: a + p.still(a))
    wrong = Traced(0, {"x": 2}, 4, (("doubled", 0, 1),), ((("x",), None), (None, None)), graded=True)
    found = examine(wrong)
    assert found.state == WRONG
    assert "NumPy" in found.detail


def test_a_traced_program_stands_for_its_number() -> None:
    assert random_traced(5).text == random_traced(5).text != random_traced(6).text


def test_one_device_that_says_otherwise_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And what is written about it is small, can be read, and names the commands that show it."""
    program = next(p for p in map(random_program, range(30)) if "stablehlo.add" in p.text and p.results[0].array.size)
    alone = verdict.run_unsharded

    def wrong(text: str, inputs: Sequence[Any]) -> list[Any]:
        found = alone(text, inputs)
        return [~array if array.dtype == bool else array + 1 for array in found] if "stablehlo.add" in text else found

    monkeypatch.setattr(verdict, "run_unsharded", wrong)
    found = examine(program)
    assert (found.state, "one device" in found.detail) == (WRONG, True)
    record = Record(program.seed, "small", found.state, found.detail, 2, [], "")
    path = write_reproducer(record, tmp_path)
    text = path.read_text()
    assert f"python tests/whole --style small --seed {program.seed} --shrink" in text
    assert f"shardwright run {path} --inputs" in text
    assert [op.name for op in parse_module(text, "found.mlir").walk()].count("stablehlo.add") == 1
    assert len(np.load(path.with_suffix(".inputs.npz")).files) == text.count("%arg", 0, text.index("->"))


def test_an_export_that_says_otherwise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here permutes are left out."""
    program = next(p for p in map(random_program, range(60)) if '"stablehlo.collective_permute"' in _exported(p))
    assert examine(program, exported=True).state == RIGHT
    monkeypatch.setattr(Writer, "permute", lambda own, value, pairs: value)
    found = examine(program, exported=True)
    assert (found.state, "as exported" in found.detail) == (WRONG, True)


def _exported(program: Program) -> str:
    local = verdict.partitioned(program.text)[1]
    verdict.export_stablehlo(local)
    return verdict.print_module(local)


def test_bytes_that_differ_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    program = random_program(0)
    before = verdict.prediction

    class More:
        def __init__(self, planned: Any) -> None:
            self.found = before(planned)

        def total(self, runs: Any) -> Any:
            return self.found.total(runs) + 1

    monkeypatch.setattr(verdict, "prediction", More)
    assert examine(program).detail.startswith("bytes")


def test_an_error_that_is_no_refusal_is_a_fault() -> None:
    program = random_program(0)
    broken = replace(program, layouts={**program.layouts, program.arguments[0].name: "[{}, {}, {}, {}, {}, {}]"})
    found = examine(broken)
    assert found.state == CRASHED
    assert kind_of(found).startswith("crashed SW0")
    assert kind_of(Outcome(RIGHT)) == ""


def test_texts_that_differ_by_hash_seed_and_dead_processes_are_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    def process(arguments: Sequence[str], hash_seed: int) -> tuple[list[dict[str, Any]], str]:
        first, count = int(arguments[1]), int(arguments[2])
        if arguments[0] == "--digests":
            return [{"seed": 0, "digest": "same"}, {"seed": 8, "digest": "other"}], ""
        ended = "exit -6: " if first <= 4 < first + count else ""
        last = 4 if ended else first + count
        return [vars(Record(at, "small", RIGHT, "", 2, [], "same")) for at in range(first, last)], ended

    monkeypatch.setattr(fuzz, "process", process)
    found, twice = fuzz.batch(0, 10, "")
    assert twice == 2
    assert [record.seed for record in found] == list(range(10))
    assert {record.seed: record.state for record in found if record.state != RIGHT} == {4: CRASHED, 8: WRONG}


def test_refusals_are_counted_by_code() -> None:
    tally = fuzz.Tally()
    tally.take(Record(0, "odd", REFUSED, "error[SW0603]: parts cross", 6, ["stablehlo.add"], ""))
    tally.take(next(records(3, 1)))
    assert "SW0603 1" in tally.table()
    assert not tally.failures


@pytest.mark.slow
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--runs", "3", "--seed", "8", "--workers", "1", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [fuzz.__file__, *arguments])
    code, said = fuzz.main(), capsys.readouterr().out
    assert code == 0, said
    assert "runs             3" in said
    assert "internal errors  0" in said
    assert "two hash seeds   1" in said
    assert list(tmp_path.iterdir()) == []
