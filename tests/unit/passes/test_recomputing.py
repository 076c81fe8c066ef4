"""Values that are computed again where memory is short: what is offered, what goes first, and that nothing changes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.layouts.automatic import on_mesh
from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.layouts.trials import LaidOut, Trials
from shardwright.compiler.stages import Partitioned, Traced
from shardwright.passes.choosing.choose_layouts import Choice, Chooser
from shardwright.passes.stages import RECOMPUTE

LAYERS, ROWS, SIZE, PARTS = 6, 64, 16, 4
MESH = sw.Mesh(x=PARTS)
F32 = 4
LAYER = ROWS * SIZE * F32 // PARTS
"""The bytes that a device holds of what a layer makes, its rows split."""


def layers(x: Any, weights: Any) -> Any:
    for weight in weights:
        x = sw.tanh(sw.sin(sw.exp(x @ weight)))
    return sw.sum(x)


def stage(function: Any = layers, size: int = SIZE) -> Traced:
    """Data parallelism: there is no other way to hold less."""
    rows, whole = sw.Layout(["x"], MESH), sw.Layout.replicated(MESH, 2)
    spec = sw.TensorSpec((ROWS, size), layout=rows), [sw.TensorSpec((size, size), layout=whole)] * LAYERS
    return sw.function(sw.grad(function)).trace(*spec)


def given() -> tuple[Any, list[Any]]:
    numbers = np.random.default_rng(0)
    draw = numbers.standard_normal
    return draw((ROWS, SIZE), "float32"), [draw((SIZE, SIZE), "float32") / 4 for _ in range(LAYERS)]


def done_again(partitioned: Partitioned) -> list[str]:
    return [op.name for op in partitioned.planned.walk() if RECOMPUTE in op.attributes and op.name != "builtin.module"]


def peak(partitioned: Partitioned) -> int:
    return memory_of(partitioned.module).peak


def offered(diagnostic: sw.Diagnostic) -> str:
    return next(note for note in diagnostic.notes if "recompute=True" in note)


def test_what_is_offered_is_what_one_gets() -> None:
    """The figures of the error are those of the program that it speaks of."""
    free = stage().lay_out().partition()
    limit = peak(free) - 8 * LAYER
    with pytest.raises(sw.ShardwrightError) as caught:
        stage().lay_out(memory_limit=limit)
    (found,) = caught.value.diagnostics
    tight = stage().lay_out(memory_limit=limit, recompute=True).partition()
    assert peak(tight) <= limit < peak(free)
    assert tight.predicted_bytes == free.predicted_bytes == 0
    again = done_again(tight)
    place = f"{__file__}:{layers.__code__.co_firstlineno + 2}"
    assert offered(found).startswith(
        f"with recompute=True (values are computed again) each device holds {peak(tight):,} bytes at most, sends 0 and "
    )
    assert offered(found).endswith(f"% more operations; {len(again)} are done again, of {place}")
    assert (found.help or "").startswith("lay out with recompute=True, ")


@pytest.mark.parametrize(("topology", "more"), [(None, False), (sw.Topology.of(MESH), True)])
def test_where_bytes_decide_the_first_layouts_that_fit_stay(
    topology: sw.Topology | None, more: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What sends least is tried first; to compute again takes time, for which others may have less to do."""
    spec = sw.TensorSpec((ROWS, SIZE)), [sw.TensorSpec((SIZE, SIZE))] * LAYERS
    program = LaidOut(on_mesh(sw.function(sw.grad(layers)).trace(*spec).module, MESH), topology)
    limit = program.of(program.choosers[0].choose(math.inf))[1].memory.peak - 4 * LAYER
    budgets: list[float] = []
    choose = Chooser.choose

    def choosing(self: Chooser, budget: float) -> Choice:
        budgets.append(budget)
        return choose(self, budget)

    monkeypatch.setattr(Chooser, "choose", choosing)
    best = Trials(program, limit, recompute=True).best
    assert best is not None
    assert best.again
    assert best.memory.peak <= limit
    assert (len(budgets) > len(program.choosers)) == more


def test_nothing_changes_but_memory() -> None:
    free, tight = stage().lay_out(), stage().lay_out(memory_limit="13kB", recompute=True)
    arrays = given()
    expected = free.compile()(*arrays).numpy()
    compiled = tight.compile(certify=True)
    np.testing.assert_array_equal(compiled(*arrays).numpy(), expected)
    assert compiled.peak_bytes < free.compile().peak_bytes


def test_what_fits_is_not_computed_again() -> None:
    held = peak(stage().lay_out().partition())
    assert not done_again(stage().lay_out(memory_limit=held, recompute=True).partition())


def test_cheap_values_go_before_products() -> None:
    """What elementwise operations make is computed again; only where that is not enough, products are."""
    wide = stage(size=512)
    held, value = peak(wide.lay_out().partition()), LAYER * 512 // SIZE
    some = done_again(wide.lay_out(memory_limit=held - 3 * value, recompute=True).partition())
    assert some
    assert "stablehlo.dot_general" not in some
    most = done_again(wide.lay_out(memory_limit=held - 8 * value, recompute=True).partition())
    assert "stablehlo.dot_general" in most


def test_a_value_in_another_shape_is_computed_again() -> None:
    def turned(x: Any, weights: Any) -> Any:
        for weight in weights:
            x = sw.reshape(sw.tanh(sw.reshape(sw.exp(x @ weight), (-1,))), x.shape)
        return sw.sum(x)

    free = stage(turned).lay_out()
    tight = stage(turned).lay_out(memory_limit=peak(free.partition()) - 5 * LAYER, recompute=True)
    assert done_again(tight.partition())
    arrays = given()
    np.testing.assert_array_equal(tight.compile()(*arrays).numpy(), free.compile()(*arrays).numpy())


def test_what_is_too_little_says_what_is_least() -> None:
    with pytest.raises(sw.ShardwrightError) as caught:
        stage().lay_out(memory_limit="6kB", recompute=True)
    (found,) = caught.value.diagnostics
    assert found.code == "SW0469"
    assert ", which is too much as well, sends 0 and does " in offered(found)
    assert found.help == "raise the limit, or use more devices"
