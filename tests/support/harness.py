"""
Partition a program with every check on, run all devices, and compare: what the tests of whole programs share.

Test modules reach it through `pyproject.toml`, which puts this folder on the path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from shardwright.compiler.layouts.unsharded import unsharded_module
from shardwright.compiler.pipelines import LOCALIZE, PIPELINES, run_pipeline
from shardwright.dialects.dtensor import CollectiveOp, WindowOp, layout_of, meshes
from shardwright.dialects.dtensor.manual import FetchOp, explicit_bytes
from shardwright.dialects.stablehlo import WhileOp
from shardwright.dialects.stablehlo.collectives import GroupedOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.trip_count import control_names
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.cost import sent_share
from shardwright.runtime.executable import Executable, compile_module

PLAIN = "plain_numpy"
"""The runtime's simplest engine, so that tests of the passes test the passes."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Ran:
    """A partitioned program that ran: its planned module, its results, and what compiler and ledger say it sent."""

    planned: ModuleOp
    executable: Executable
    results: list[Array]
    predicted: Fraction

    @property
    def collectives(self) -> list[str]:
        """The kinds of the planned collectives, in program order."""
        return [op.name.partition(".")[2] for op in self.planned.walk() if isinstance(op, CollectiveOp)]


def partitioned(text: str, *, round_trip: bool = False) -> tuple[ModuleOp, ModuleOp]:
    """The planned and the local module of a program, verified after each pass; with `round_trip`, read back as well."""

    def reads_back(name: str, module: ModuleOp) -> None:
        printed = print_module(module)
        assert print_module(parse_module(printed, "printed.mlir")) == printed, f"after {name}"

    module = parse_module(text, "program.mlir")
    observer = reads_back if round_trip else None
    run_pipeline(module, PIPELINES["plan"], verify_each=True, observer=observer)
    planned = module.clone()
    run_pipeline(module, LOCALIZE, verify_each=True, observer=observer)
    return planned, module


def predicted_bytes(planned: ModuleOp, runs: Mapping[str, Mapping[str, int]]) -> Fraction:
    """What each device sends, summed over the planned collectives by the cost model alone, as often as each ran."""
    total = Fraction()
    named, names = meshes(planned), control_names(op for op in planned.ops if isinstance(op, FuncOp))
    for op in planned.walk():
        if isinstance(op, CollectiveOp | GroupedOp | FetchOp):
            total += _bytes_of(op, named[op.mesh_name]) * _times(op, names, runs)
    return total


def _bytes_of(op: CollectiveOp | GroupedOp | FetchOp, mesh: Mesh) -> Fraction:
    if isinstance(op, GroupedOp | FetchOp):
        return explicit_bytes(op, mesh)
    if isinstance(op, WindowOp):
        return op.sent_bytes(mesh)
    total = Fraction()
    for operand, result in zip(op.inputs, op.outputs, strict=True):
        before, after = layout_of(operand), layout_of(result)
        assert before is not None
        assert after is not None
        share = sent_share(op.name.partition(".")[2], before, after, mesh)
        assert share is not None
        total += share * int(np.prod(shape_of(operand))) * element_dtype(operand.type).itemsize
    return total


def _times(op: Operation, names: Mapping[Operation, str], runs: Mapping[str, Mapping[str, int]]) -> int:
    """How often an op ran: as often as the part of the loop or branch that it is in."""
    region = op.parent_region()
    while region is not None and (owner := region.parent) is not None:
        found = runs.get(names.get(owner, ""), {})
        if isinstance(owner, WhileOp):
            return found.get("rounds", 0) + (found.get("starts", 0) if region is owner.condition else 0)
        if owner in names:
            return found.get(f"branch {list(owner.regions).index(region)}", 0)
        region = owner.parent_region()
    return 1


def run(text: str, inputs: Sequence[Array], *, round_trip: bool = False, namespace: str = PLAIN) -> Ran:
    """Partitions and runs a program on all devices of its mesh; the bytes predicted must be those that were sent."""
    planned, local = partitioned(text, round_trip=round_trip)
    executable = compile_module(local, namespace=namespace)
    results = executable.run(list(inputs))
    predicted = predicted_bytes(planned, executable.ledger.runs)
    assert executable.ledger.sent_bytes == predicted, text
    return Ran(planned, executable, results, predicted)


def run_unsharded(text: str, inputs: Sequence[Array]) -> list[Array]:
    """The results of the same program on one device."""
    module = unsharded_module(parse_module(text, "program.mlir"))
    return compile_module(module, namespace=PLAIN).run(list(inputs))
