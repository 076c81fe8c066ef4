"""`Image`: a program as the code generator leaves it, all of what runs but its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from shardwright.layout.mesh import Mesh
from shardwright.runtime.codegen import fused as codegen_numpy, plain as codegen
from shardwright.runtime.planning.plan import Held, held_by, make_plan
from shardwright.runtime.ports import Port
from shardwright.runtime.processes.crossing import Exchange, Reduction
from shardwright.runtime.program import VIEWS, Program

GENERATED = "<shardwright: generated>"
"""The file of generated functions."""


@dataclass(frozen=True)
class Image:
    """
    What runs: Python text, compiled, and the objects that its names stand for; `fused` says which engine it is for.

    `mesh` is None where no axis is named. `peak_bytes` are the most that intermediate values take at once, of which
    `largest` name a few; `arena_bytes` and `scratch_bytes` are what the engine has to take for them.
    """

    mesh: Mesh | None
    inputs: Sequence[Port]
    outputs: Sequence[Port]
    fused: bool
    source: str
    code: CodeType
    constants: Mapping[str, Any]
    peak_bytes: int
    largest: tuple[Held, ...]
    arena_bytes: int = 0
    scratch_bytes: int = 0

    @property
    def orders(self) -> list[tuple[int, ...]]:
        """The orders of dims in which elements travel between processes, step by step."""
        return [item.order for item in self.constants.values() if isinstance(item, Exchange | Reduction)]

    @property
    def result_bytes(self) -> int:
        """The bytes of all results, all devices together."""
        return sum(port.base_bytes for port in self.outputs)


def plain_image(program: Program, mesh: Mesh | None, inputs: Sequence[Port], outputs: Sequence[Port]) -> Image:
    """One array call for each step."""
    emitted = codegen.generate(program)
    largest = held_by(result for step in program.steps if step.kind not in VIEWS for result in step.results)
    peak = codegen.peak_bytes(program)
    code = _compiled(emitted.source)
    return Image(mesh, inputs, outputs, False, emitted.source, code, emitted.constants, peak, largest)


def fused_image(
    program: Program, mesh: Mesh | None, inputs: Sequence[Port], outputs: Sequence[Port], threads: int
) -> Image:
    """Planned buffers and fused blocks, for NumPy and so many threads."""
    plan = make_plan(program, [port.window() for port in inputs], [port.window() for port in outputs], threads)
    emitted = codegen_numpy.generate(program, plan, [(port.base_shape, port.dtype) for port in outputs])
    text = (emitted.source, _compiled(emitted.source), emitted.constants)
    peak, largest = plan.peak_bytes, plan.largest
    return Image(mesh, inputs, outputs, True, *text, peak, largest, plan.arena_bytes, emitted.scratch_bytes)


def planned_peak(program: Program, inputs: Sequence[Port], outputs: Sequence[Port]) -> int:
    """The `peak_bytes` of such an image, without the image; the program is used up."""
    return make_plan(program, [port.window() for port in inputs], [port.window() for port in outputs]).peak_bytes


def _compiled(source: str) -> CodeType:
    return compile(source, GENERATED, "exec")
