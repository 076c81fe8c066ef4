"""Topologies fitted to programs: where the seconds are those of a topology, that is what is found."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import pytest

import shardwright as sw
from shardwright.compiler.stages import Partitioned
from shardwright.views.calibration import Sample, accuracy, fitted

pytest.importorskip("scipy")
MESH = sw.Mesh(data=4, model=2)
SLOW, FAST = sw.Link(latency=3e-4, bandwidth=2e8), sw.Link(latency=1e-5, bandwidth=3e9)
TRUE = sw.Topology({"data": SLOW, "model": FAST}, flops=4e9, memory=7e8, launch=2e-5, start=1e-4)


def spec(*shape: int, axes: list[str | None]) -> sw.TensorSpec:
    return sw.TensorSpec(shape, "float32", layout=sw.Layout(axes, MESH))


def samples(topology: sw.Topology) -> list[Sample]:
    """Programs of several sizes, with the seconds by a topology."""
    samples = (Sample(name, stage, 0.0) for name, stage in programs().items())
    return [replace(sample, seconds=sample.foretold(topology)) for sample in samples]


@cache
def programs() -> dict[str, Partitioned]:
    """Products, sums, gathers and elementwise programs of several sizes."""
    made: dict[str, Partitioned] = {}
    for size, axis in product((16, 64, 256), ("data", "model")):
        rows, square = spec(size, size, axes=[axis, None]), spec(size, size, axes=[None, None])
        traced = {
            "product": sw.function(lambda x, w: x @ w).trace(rows, square),
            "sum": sw.function(lambda x: sw.sum(x, axis=0)).trace(rows),
            "gather": sw.function(lambda x: sw.relayout(x, sw.Layout.replicated(MESH, 2))).trace(rows),
            "chain": sw.function(lambda x: sw.tanh(sw.exp(x))).trace(square),
            "gradient": sw.function(lambda x, w: sw.tanh(x.T @ (x @ w))).trace(rows, square),
        }
        made |= {f"{name} of {size} along {axis}": stage.partition() for name, stage in traced.items()}
    return made


@pytest.mark.parametrize("by_axis", [True, False])
def test_the_topology_is_found_again(by_axis: bool) -> None:
    true = TRUE if by_axis else replace(TRUE, links={"any axis": SLOW})
    known, others = samples(true)[::2], samples(true)[1::2]
    found = fitted(known, by_axis=by_axis)
    assert accuracy(known, found).error < 1e-6
    assert accuracy(others, found).error < 1e-6
    assert accuracy(others, found).tau == pytest.approx(1)
    assert found.start == pytest.approx(true.start, rel=1e-6)
    assert found.launch == pytest.approx(true.launch, rel=1e-6)
    assert found.memory == pytest.approx(true.memory, rel=1e-6)
    links = [found.links["data"], found.links["model"]] if by_axis else [found.links["any axis"]]
    for link, wanted in zip(links, [SLOW, FAST] if by_axis else [SLOW], strict=True):
        assert (link.latency, link.bandwidth) == pytest.approx((wanted.latency, wanted.bandwidth), rel=1e-6)


def test_one_link_for_all_axes_holds_for_those_of_any_name() -> None:
    found = fitted(samples(replace(TRUE, links={"any axis": FAST})), by_axis=False)
    assert found.link("some axis") == found.links["any axis"]


def test_a_program_that_is_far_off_does_not_pull_the_others() -> None:
    """The average of errors is least, not that of their squares: one of thirty that took ten times as long is one."""
    known = samples(TRUE)
    known[7] = replace(known[7], seconds=10 * known[7].seconds)
    found = fitted(known, by_axis=True)
    assert accuracy(samples(TRUE), found).error < 0.01


def test_what_takes_no_time_is_not_bounded() -> None:
    """Nothing is sent: links are as fast as can be, and what is foretold is a number."""
    quiet = [sample for sample in samples(TRUE) if sample.name.startswith("chain")]
    found = fitted(quiet, by_axis=True)
    assert all(link.latency == 0 and link.bandwidth == 1e30 for link in found.links.values())
    assert accuracy(quiet, found).error < 1e-6


def test_accuracy_is_the_mean_error_and_the_order() -> None:
    """Twice as long as foretold is half off; a pair of three programs in the wrong order is a third of them."""
    three = samples(TRUE)[:3]
    seconds = sorted(sample.seconds for sample in three)
    assert len(set(seconds)) == 3
    three = [replace(sample, seconds=2 * sample.seconds) for sample in sorted(three, key=lambda each: each.seconds)]
    assert accuracy(three, TRUE).error == pytest.approx(0.5)
    assert accuracy(three, TRUE).tau == pytest.approx(1)
    swapped = [replace(three[0], seconds=three[1].seconds), replace(three[1], seconds=three[0].seconds), three[2]]
    assert accuracy(swapped, TRUE).tau == pytest.approx(1 / 3)
    assert accuracy([three[0]] * 3, TRUE).tau == 0  # equal ones have no order
