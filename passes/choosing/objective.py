"""What chosen layouts make least: the bytes that each device sends, or the seconds that it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shardwright.layout.planning.algebra import moved_axes
from shardwright.layout.planning.planner import Step, plan
from shardwright.layout.planning.topology import Topology
from shardwright.layout.planning.traffic import exchange_traffic
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import Axes, Dims, Node, Program
from shardwright.passes.propagation.strategy import Strategist, Strategy
from shardwright.rules.rule import Rule

__all__ = ["Objective", "TimedStrategist"]

ACCESSES = 2
"""How often memory is touched for each byte that is made: it is written, and read by who needs it."""


@dataclass(frozen=True, slots=True)
class Objective:
    """
    What it costs to make a byte, to hold one, and to do all heavy work once on one device, in bytes sent.

    `working` is None where bytes decide: then no device is to do what another one does.
    """

    making: float
    holding: float
    working: float | None = None

    @classmethod
    def of_bytes(cls) -> Objective:
        """Bytes sent decide, and what is made and held only where they are the same."""
        return cls(making=0.01, holding=1e-4)

    @classmethod
    def of_seconds(cls, topology: Topology, work: float) -> Objective:
        """The seconds of a topology, of a program with so many multiplications, as bytes of its fastest link."""
        unit = fastest(topology)
        return cls(ACCESSES * unit / topology.memory, 1e-6, 2 * work * unit / topology.flops)


def fastest(topology: Topology) -> float:
    """The bytes that are worth a second."""
    return max((link.bandwidth for link in topology.links.values()), default=topology.memory)


class TimedStrategist(Strategist):
    """
    A strategist for which what is sent costs its seconds, told as the bytes that the fastest link sends in them.

    Where reductions go `together`, as those of gradients do in the end, to start one takes no time. What a heavy op
    takes longer on fewer devices is counted as well, so that it may be done on fewer where that takes less: a product
    of two vectors by all devices alike, rather than a sum over them.
    """

    keeps_devices = False

    def __init__(self, program: Program, topology: Topology, *, together: bool):
        super().__init__(program)
        self.topology = topology
        self.together = topology.without_latency() if together else topology
        self.unit = fastest(topology)
        self._seconds: dict[tuple[LayoutSpec, LayoutSpec, tuple[int, ...], int], float] = {}

    def _price(
        self, node: Node, option: Strategy, fetch: Callable[[int, Dims], float], dims: Sequence[Dims], most: float
    ) -> float:
        """What a strategy costs, with the work beyond what each device does where all are at work."""
        idle = 2 * node.rule.work * (1 / option.degree - 1 / self.mesh.size) * self.unit / self.topology.flops
        return idle + super()._price(node, option, fetch, dims, most - idle)

    def move(self, value: int, have: Dims, want: Dims) -> float:
        """What it costs to relayout a finished value."""
        return 0.0 if have == want else self._relayout(value, self.program.spec(have), want)

    def finish(self, value: int, made: Dims, partial: Axes, kind: str, want: Dims) -> float:
        """What it costs to bring a value, partial over some axes, into finished dims."""
        if not partial:
            return self.move(value, made, want)
        return self._relayout(value, self.partial_spec(made, partial, kind), want)

    def _relayout(self, value: int, source: LayoutSpec, want: Dims) -> float:
        shape, size = self.program.shapes[value], self.program.bytes[value]
        key = source, self.program.spec(want), shape, size
        found = self._seconds.get(key)
        if found is None:
            steps = plan(*key[:3], self.mesh).steps
            found = self._seconds[key] = self.unit * sum(self._step(step, size) for step in steps)
        return found

    def _step(self, step: Step, size: int) -> float:
        sent = float(step.share) * size
        if step.kind == "exchange":
            return self.topology.seconds(exchange_traffic(step.source, step.result, self.mesh, self.topology, sent))
        named = (*step.axes, *(axis for axes in step.dim_axes for axis in axes))
        axes = named or moved_axes(step.source, step.result, self.mesh)
        groups = [(axis.name, self.mesh.axis_size(axis)) for axis in axes]
        topology = self.together if step.kind == "all_reduce" else self.topology
        return topology.collective_seconds(step.kind, groups, sent)

    def _exchanged(self, rule: Rule, by_factor: dict[int, Axes], weights: Sequence[int]) -> float | None:
        """What the op's expansion costs, in messages along the slowest of its axes; None where there is none."""
        sent = super()._exchanged(rule, by_factor, weights)
        if not sent:
            return sent
        links = [self.topology.link(axis.name) for axes in by_factor.values() for axis in axes]
        rounds = self.rounds(rule, by_factor)
        return self.unit * max(link.seconds(rounds, sent) for link in links)
