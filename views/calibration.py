"""A topology that foretells the seconds of one machine: fitted to programs that ran there, and judged by others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from shardwright.compiler.layouts.timing import Work
from shardwright.compiler.stages import Partitioned
from shardwright.layout import Link, Topology
from shardwright.layout.planning.topology import ANY
from shardwright.views.pricing import price_of

__all__ = ["Accuracy", "Sample", "accuracy", "fitted"]

UNBOUNDED = 1e30
"""Operations or bytes in a second, where the programs do not show that they take any time."""

ROUNDS = 20
"""How often ops are told apart by what bounds them, and programs weighed by how far the last fit was off."""


@dataclass(frozen=True)
class Sample:
    """A program, and the seconds that a run of it took."""

    name: str
    stage: Partitioned
    seconds: float

    def foretold(self, topology: Topology) -> float:
        """The seconds by a topology."""
        return price_of(self.stage, topology).seconds


@dataclass(frozen=True)
class Accuracy:
    """
    How well seconds are foretold: the mean error as a share, and Kendall's tau.

    That is 1 where the order is all right, and 0 where there is none.
    """

    error: float
    tau: float


def fitted(samples: Sequence[Sample], *, by_axis: bool) -> Topology:
    """
    The topology by which the seconds of programs are least off, as a share of each, on average.

    Each axis has a link of its own, if the programs' meshes have the same, or all have one. The latter has no axis of
    anybody's name: it holds for all.
    """
    axes = sorted({axis for sample in samples for axis in sample.stage.interface.mesh.sizes}) if by_axis else [ANY]
    topology = Topology({axis: Link(1e-6, 1e9) for axis in axes}, flops=1e9, memory=1e9)
    off = np.ones(len(samples))
    for _ in range(ROUNDS):
        found = _solved(samples, topology, axes, 1 / np.sqrt(np.maximum(off, 1e-3)))
        off = np.array([abs(sample.foretold(found) / sample.seconds - 1) for sample in samples])
        if found == topology:
            break
        topology = found
    return topology


def accuracy(samples: Sequence[Sample], topology: Topology) -> Accuracy:
    """How well a topology foretells the seconds of programs."""
    stats: Any = import_module("scipy.stats")
    foretold = np.array([sample.foretold(topology) for sample in samples])
    took = np.array([sample.seconds for sample in samples])
    tau = float(stats.kendalltau(foretold, took)[0])  # no number, where all are foretold the same
    return Accuracy(float(np.mean(np.abs(foretold / took - 1))), 0.0 if np.isnan(tau) else tau)


def _solved(samples: Sequence[Sample], topology: Topology, axes: Sequence[str], weights: Any) -> Topology:
    """The topology with the least squares of weighed errors, where each op is bound by what it is bound by now."""
    optimize: Any = import_module("scipy.optimize")
    rows = np.array([_counted(sample, topology, axes) for sample in samples])
    rows *= (weights / [sample.seconds for sample in samples])[:, None]
    scale = np.maximum(rows.max(axis=0), 1e-300)
    found = optimize.nnls(rows / scale, weights)[0] / scale
    start, launch, flops, memory, *links = map(float, found)
    per_axis = zip(axes, links[::2], links[1::2], strict=True)
    return replace(
        topology,
        links={axis: Link(latency, _rate(seconds)) for axis, latency, seconds in per_axis},
        flops=_rate(flops),
        memory=_rate(memory),
        launch=launch,
        start=start,
    )


def _rate(seconds: float) -> float:
    return min(1 / seconds, UNBOUNDED) if seconds > 0 else UNBOUNDED


def _counted(sample: Sample, topology: Topology, axes: Sequence[str]) -> list[float]:
    """A run, its launches, operations and bytes of memory that count, and messages and bytes by axis."""
    works = price_of(sample.stage, topology).works
    found = [1.0, *_computed(works, topology), *[0.0] * (2 * len(axes))]
    for axis, messages, sent in (each for work in works for each in work.traffic):
        place = 4 + 2 * (axes.index(axis) if axis in axes else 0)
        found[place] += messages
        found[place + 1] += sent
    return found


def _computed(works: Iterable[Work], topology: Topology) -> tuple[float, float, float]:
    launches = flops = touched = 0.0
    for work in works:
        if work.row is None:
            launches += work.launches
            if work.flops / topology.flops >= work.touched_bytes / topology.memory:
                flops += work.flops
            else:
                touched += work.touched_bytes
    return launches, flops, touched
