"""Layouts are chosen by what comes of them: the best of those that a chooser only counts are partitioned."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from stored_programs import text
from xdsl.dialects.builtin import ModuleOp

import shardwright as sw
from shardwright.benchmarks.quality import both_ways, finished
from shardwright.compiler.layouts import trials
from shardwright.compiler.layouts.automatic import Goal, chosen, on_mesh
from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.layouts.unsharded import strip_layouts
from shardwright.compiler.pipelines import IMPORT, run_pipeline
from shardwright.compiler.report import CollectiveRow, Repetition
from shardwright.compiler.stages import Partitioned
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes.choosing.choose_layouts import Choice


def bare(name: str) -> ModuleOp:
    """A stored program on its mesh, without layouts."""
    module = parse_module(text(name), name)
    run_pipeline(module, IMPORT)
    strip_layouts(module, keep_mesh=True)
    return module


@pytest.mark.parametrize("name", ["argmax_sharded", "complex_arithmetic"])
def test_no_more_is_sent_than_in_layouts_by_hand_that_hold_as_much(name: str) -> None:
    """What these hold, and send, comes out otherwise than a chooser counts it."""
    own, automatic = both_ways(text(name), name)
    assert automatic is not None
    assert automatic.held <= own.held
    assert automatic.sent <= own.sent


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["pad_interior_grad", "mapped_rows", "while_cg", "robust_statistics"])
def test_no_longer_is_taken_than_in_layouts_by_hand_that_hold_as_much(name: str) -> None:
    """Reductions are counted as if each went alone, or all together; here some do."""
    own, automatic = both_ways(text(name), name, "seconds")
    assert automatic is not None
    assert automatic.held <= own.held
    assert automatic.seconds <= own.seconds


def test_an_argument_may_be_whole_where_what_is_made_of_it_is_split() -> None:
    """By hand all are split, and gathered to be sorted; one of two messages is saved in as much memory."""
    own, automatic = both_ways(text("sort_pairs"), "sort_pairs", "seconds")
    assert automatic is not None
    assert automatic.held <= own.held
    assert automatic.seconds <= 0.51 * own.seconds


def test_what_is_counted_as_a_little_more_than_the_limit_may_fit() -> None:
    """Layouts by hand send ten messages one after the other, these five in as much memory."""
    own, automatic = both_ways(text("graph_message_passing"), "graph_message_passing", "seconds")
    assert automatic is not None
    assert automatic.held <= own.held
    assert automatic.seconds <= 0.51 * own.seconds


@pytest.mark.parametrize("name", ["smap_partial_manual", "xent_onehot"])
def test_without_a_limit_as_well(name: str) -> None:
    """Layouts by hand of these send 65,542 and 627,847 bytes."""
    found = finished(chosen(bare(name), None, None))
    assert found.sent <= {"smap_partial_manual": 6, "xent_onehot": 140_000}[name]


def partitioned(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Partitioned:
    """A function of arrays of these shapes in layouts that send least on four devices."""
    traced = sw.function(function).trace(*[sw.TensorSpec(shape) for shape in shapes])
    return traced.lay_out(sw.Mesh(x=4)).partition()


def test_an_argument_may_be_whole_also_where_bytes_decide() -> None:
    """Both dims of a product of a value with itself have one name; the devices share the work of it all the same."""
    rows, columns, hidden = 64, 32, 128

    def gram(x: Any, w: Any, v: Any) -> Any:
        return x.T @ x @ w + v

    shapes = (rows, columns), (columns, hidden), (columns, hidden)
    found = partitioned(gram, *shapes)
    products = columns * rows * columns + columns * columns * hidden
    assert found.predicted_bytes == 0
    assert found.price().flops == (2 * products + columns * hidden) / 4
    random = np.random.default_rng(0)
    given = [random.integers(-2, 3, shape).astype(np.float32) for shape in shapes]
    assert np.asarray(found.compile()(*given)).tolist() == gram(*given).tolist()


def test_no_argument_is_whole_where_all_devices_would_do_the_same() -> None:
    """The sum of its columns' exponentials is sent, of four devices with a quarter of the rows each."""
    found = partitioned(lambda x: sw.sum(sw.exp(x), axis=0), (1024, 3))
    assert found.predicted_bytes == 2 * 3 / 4 * 3 * 4


@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "devices"), [("heat_stencil", 8), ("newton_root", 8)])
@pytest.mark.parametrize("goal", ["bytes", "seconds"])
def test_bytes_do_not_make_all_devices_do_the_same(name: str, devices: int, goal: Goal) -> None:
    """That would send nothing, and is what takes least time here; one of them is a loop that depends on data."""
    once = finished(chosen(bare(name), None, None, "seconds")).held
    found = finished(chosen(bare(name), None, None, goal))
    assert (found.held <= 1.1 * once / devices) == (goal == "bytes")


@pytest.mark.parametrize("large", [False, True])
def test_a_program_that_takes_long_to_partition_is_not_partitioned_to_choose(
    large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    partitioned: list[Choice] = []
    original = trials.LaidOut.of

    def of(self: trials.LaidOut, choice: Choice) -> tuple[ModuleOp, trials.Tried]:
        partitioned.append(choice)
        return original(self, choice)

    monkeypatch.setattr(trials, "OPS", 10 if large else 800)
    monkeypatch.setattr(trials.LaidOut, "of", of)
    chosen(bare("complex_arithmetic"), None, None)
    assert (not partitioned) == large


def test_what_nobody_counted_costs_more_than_anything() -> None:
    """A round of a loop that depends on data counts; what would take too long to count is no reason to choose it."""

    def row(sent: int | None, times: int = 1) -> CollectiveRow:
        share = None if sent is None else Fraction(sent)
        return CollectiveRow("all_gather", "", ("x",), (), share, (), (), Repetition(times, "loop", ("0",)))

    assert trials.counted([]) == 0
    assert trials.counted([row(8), row(3, times=4)]) == 20
    assert trials.counted([row(8), row(None)]) == math.inf


class Lazy:
    """A chooser that finds what holds less only where much less is asked for than what it finds else holds."""

    program = SimpleNamespace(nodes=())

    def __init__(self, held: tuple[float, float]) -> None:
        self.much, self.little = (Choice(((("x",),),) * place, each, 0.0) for place, each in enumerate(held))
        self.search = SimpleNamespace(holds_least=held[0] <= held[1])
        self.asked: list[float] = []

    def choose(self, limit: float) -> Choice:
        """The choice for a limit."""
        self.asked.append(limit)
        return self.much if limit > 60 else self.little

    def known(self, held: float, near: float) -> list[object]:
        """None besides."""
        return []


@pytest.mark.parametrize(("held", "fits"), [((100, 50), True), ((100, 100), False)])
def test_the_same_layouts_come_twice_where_others_hold_less(held: tuple[float, float], fits: bool) -> None:
    """Then less is asked for again; where nothing holds less, the second time is the last."""
    chooser = Lazy(held)
    program: Any = SimpleNamespace(choosers=[chooser], topology=None, candidates=0)

    def of(choice: Choice) -> tuple[Any, Any]:
        return None, SimpleNamespace(memory=SimpleNamespace(peak=choice.held), cost=0.0, choice=choice)

    def made_again(self: trials.Trials, aligned: object, kept: Any) -> Any:
        return kept

    program.of = of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials.Trials, "_with_values_made_again", made_again)
        found = trials.Trials(program, 70)
    assert (found.best is not None) == fits
    assert len(chooser.asked) == 2 or fits


def test_what_runs_a_program_may_need_room_beside_its_values() -> None:
    """Gathered, the values fit, but not what runs them, a tenth more: so the factor comes part by part."""
    mesh = sw.Mesh(x=8)
    size, rows = 256, sw.TensorSpec((256, 256), layout=sw.Layout(["x"], mesh))
    module = on_mesh(sw.function(lambda a, b: a @ b).trace(rows, rows).module, mesh)
    whole = size * size * 4
    gathered = whole + 3 * whole // 8  # the arguments and the result, each an eighth
    limit = gathered * 21 // 20

    def holds(local: ModuleOp) -> int:
        return memory_of(local).peak * 11 // 10

    best = trials.Trials(trials.LaidOut(module, None, running=trials.Running(holds, limit)), limit).best
    assert best is not None
    assert best.memory.running <= limit
    assert best.memory.values < gathered
    assert best.sent == 7 / 8 * whole  # the same bytes
