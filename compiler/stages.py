"""The stages of a program as objects: traced, propagated, partitioned, compiled. Each prints itself."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from shardwright._collector import collector_paused
from shardwright.compiler.checking import wrong_program
from shardwright.compiler.pipelines import (
    ALIGN,
    IMPORT,
    LOCALIZE,
    PLAN,
    PROPAGATE,
    READ,
    WITHOUT_CALLBACKS,
    run_pipeline,
)
from shardwright.compiler.report import CollectiveRow, ValueRow, collective_rows, predicted_bytes, value_rows
from shardwright.compiler.running import Executable, Remembered, RememberedFile
from shardwright.compiler.tracing.interface import (
    Interface,
    decided,
    interface_of,
    is_argument,
    laid_out,
    matched,
    with_elements,
)
from shardwright.compiler.tracing.pytree import arranged, flatten, unflatten
from shardwright.compiler.tracing.reference import held
from shardwright.compiler.tracing.settings import settled
from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.diagnostics.faults import attribute_error, no_pickle, value_error
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.text.printing import print_module
from shardwright.layout import Layout, Mesh, Topology
from shardwright.passes.stages import weigh_messages

if TYPE_CHECKING:
    from shardwright.compiler.answers import Comparison, Explanation, Ledger, Price, Proof
    from shardwright.compiler.layouts.several import SegmentsExplanation, SegmentsProof, TransferRow

Callbacks: TypeAlias = Literal["drop"] | None
"""What becomes of calls back into Python whose results nothing needs."""


class Views(Protocol):
    """Shows stages to people."""

    def explain(self, stage: Partitioned, /) -> Explanation:
        """What a program sends, why, and for which line."""
        ...

    @property
    def limited(self) -> bool:
        """Whether there are limits that programs must keep."""
        ...

    def allow(self, stage: Partitioned, peak_bytes: Callable[[], int], /) -> None:
        """Refuses a program that breaks the limits of the blocks around; what it holds is asked where that counts."""
        ...

    def what_if(
        self,
        stage: Partitioned,
        /,
        without: Sequence[str] = (),
        layouts: Mapping[str, str] | None = None,
        mesh: Mapping[str, int] | None = None,
    ) -> Comparison:
        """What a program would send and hold if it were written otherwise."""
        ...

    def price(self, stage: Partitioned, topology: Topology | None, /) -> Price:
        """What a run costs each device."""
        ...

    def report(self, stage: Partitioned, path: str | Path, compiled: Compiled | None = None, /) -> None:
        """Writes a page about a program, and about its last run if it is given compiled."""
        ...


class Backend(Protocol):
    """Runs programs, proves them, and has what shows them."""

    @property
    def views(self) -> Views:
        """What shows stages to people."""
        ...

    def __call__(self, module: ModuleOp, known: Sequence[Mesh], /) -> Executable:
        """What runs a local program, on meshes whose devices are known."""
        ...

    def held(self, module: ModuleOp, known: Sequence[Mesh], /) -> int:
        """The bytes that each device holds at the most while a local program runs; 0 where that is not known."""
        ...

    def remembered(self, traced: ModuleOp, known: Sequence[Mesh], file: RememberedFile | None, /) -> Remembered | None:
        """What may be remembered of a traced program, as it stands in a file if this is said; None: nothing is."""
        ...

    def remembered_file(self, content: bytes, *facts: object) -> RememberedFile | None:
        """What may be remembered of what a file holds; None where nothing is."""
        ...

    def certify(self, traced: ModuleOp, planned: ModuleOp, local: ModuleOp, /) -> Proof:
        """The proof that a local program, made of the planned one, computes what the traced one does."""
        ...


@dataclass(frozen=True)
class _Stage:
    """What all stages before the last one share: the program, what it takes and gives, and what will run it."""

    module: ModuleOp
    interface: Interface
    backend: Backend

    def __repr__(self) -> str:
        return _summary(type(self).__name__, self.interface, self._figures)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """What a later stage has: AttributeError (SW0516) that says which."""
            kind = type(self).__name__
            for step, later in (("partition", Partitioned), ("compile", Compiled)):
                if not name.startswith("_") and hasattr(type(self), step) and hasattr(later, name):
                    raise attribute_error("SW0516", f"a {kind} has no {name} yet", help=f"write .{step}().{name}")
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def __reduce__(self) -> NoReturn:
        no_pickle(f"a stage ({type(self).__name__})")

    @property
    def _figures(self) -> str:
        count = sum(len(op.body.block.ops) - 1 for op in self.module.ops if isinstance(op, FuncOp) and op.body.blocks)
        return f"{count} operations"

    def as_text(self, *, debuginfo: bool = False) -> str:
        """
        The program's text; with `debuginfo`, each operation says where it was written.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> "stablehlo.multiply" in traced.as_text()
        True
        """
        return print_module(self.module, debuginfo=debuginfo)


@dataclass(frozen=True, repr=False)
class Traced(_Stage):
    """
    The global program as it was written, with layouts only where the user gave them.

    >>> import shardwright, numpy
    >>> traced = shardwright.function(lambda x: x + 1).trace(numpy.zeros(3, "float32"))
    >>> print(traced.as_text().splitlines()[0])
    module attributes {dtensor.stage = "traced"} {
    """

    @settled
    def lay_out(
        self,
        mesh: Mesh | None = None,
        *,
        memory_limit: int | str | None = None,
        objective: Literal["bytes", "seconds"] = "bytes",
        topology: Topology | None = None,
        recompute: bool = False,
        microbatches: bool = False,
    ) -> Traced:
        """
        Chooses a layout for all that has none yet: those that send least with all devices at work.

        With the objective "seconds", those with which `price` says least on `topology` (by default one of the usual
        orders of magnitude): small programs may then be done by every device as a whole.

        On `mesh`, where the program has none itself. A device then holds at most `memory_limit` bytes at once, by an
        account of values and by that of what runs it (`price().peak_bytes`). What has a closed layout keeps it; the
        chosen layouts are those of the `parameters` of the new stage's interface, and each says why it is there.

        Where nothing fits into the memory, and `recompute` allows it, values are computed again instead of kept until
        the backward pass: what frees most for the least work. With `microbatches`, the batch is done in as few parts as
        will do, one after the other, and what they give is added up: sums then round otherwise.

        Raises `ShardwrightError` where there is no mesh (SW0468), another one already (SW0405), or nothing was found
        that fits into the memory (SW0469), and `ValueError` for a limit that is no number of bytes (SW0582), another
        objective (SW0585), what does nothing without another setting (SW0510), or a topology without a link for one of
        the axes (SW0121).

        >>> import shardwright
        >>> spec = shardwright.TensorSpec((64, 8)), shardwright.TensorSpec((8, 2))
        >>> traced = shardwright.function(lambda x, w: x @ w).trace(*spec)
        >>> chosen = traced.lay_out(shardwright.Mesh(data=4), memory_limit="1MB")
        >>> [parameter.layout.sharding_specs for parameter in chosen.interface.parameters]
        [['data', 'unsharded'], ['unsharded', 'unsharded']]
        >>> chosen.partition()
        Partitioned(<lambda>(x: f32[64@data, 8], w: f32[8, 2]), Mesh(data=4), 0 collectives, 0 bytes sent per device)
        """
        from shardwright.compiler.layouts.automatic import chosen, limit_of  # only for who asks for it

        allowed = {"recompute": recompute, "microbatches": microbatches}
        limit = limit_of("lay_out", memory_limit, objective, topology, **allowed)
        on = self.interface.meshes if mesh is None else (*self.interface.meshes, mesh)
        module = chosen(
            self.module, mesh, limit, objective, topology, **allowed, holds=lambda local: self.backend.held(local, on)
        )
        known = next(iter(meshes(module).values()))
        mesh = self.interface.mesh if self.interface.mesh.axis_names else mesh or known
        return Traced(module, decided(replace(self.interface, mesh=mesh, meshes=(mesh,)), module), self.backend)

    def least_sent(self, mesh: Mesh | None = None) -> float | None:
        """
        The bytes below which each device sends with no layouts of the kind that `lay_out` chooses among.

        These are assignments of axes to named dims that keep all devices at work; None where there are none.

        >>> import shardwright
        >>> spec = shardwright.TensorSpec((64, 8)), shardwright.TensorSpec((8, 2))
        >>> shardwright.function(lambda x, w: shardwright.sum(x @ w)).trace(*spec).least_sent(shardwright.Mesh(data=4))
        6.0
        """
        from shardwright.compiler.layouts.automatic import least_sent_by_any

        return least_sent_by_any(self.module, mesh)

    @property
    def _is_open(self) -> bool:
        """Whether the layout of an argument is to be chosen."""
        return any(each.layout is not None and each.layout.is_auto for each in self.interface.parameters)

    def weigh_messages(self, message_bytes: int) -> Traced:
        """
        The same program, for which a message counts as so many bytes, next to those that it sends.

        Where layouts are chosen and relayouts are planned bytes alone decide otherwise, and two messages are taken for
        one where that saves a byte. Raises `ValueError` (SW0318) for what is no number of bytes.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> traced.weigh_messages(256).partition()
        Partitioned(<lambda>(x: f32[2]), Mesh(), 0 collectives, 0 bytes sent per device)
        """
        number: Any = message_bytes
        if not isinstance(number, int) or not 0 <= number < 1 << 63:
            help_text = "give a whole number of bytes, from 0 to what 64 bits hold"
            raise value_error("SW0318", f"a message cannot weigh {number!r}", help=help_text)
        module = self.module.clone()
        weigh_messages(module, message_bytes)
        return Traced(module, self.interface, self.backend)

    def propagate(self) -> Propagated:
        """
        Decides the layout of every value.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> traced.propagate()
        Propagated(<lambda>(x: f32[2]), Mesh(), 2 operations)
        """
        if self._is_open:
            return self.lay_out().propagate()
        module = self.module.clone()
        run_pipeline(module, IMPORT + PROPAGATE)
        return Propagated(module, decided(self.interface, module), self.backend, self)

    @collector_paused()
    def partition(self) -> Partitioned:
        """
        Decides the layouts and turns the program into the one that each device runs.

        A program on several meshes becomes a `PartitionedSegments`: a program for each mesh, and what goes between.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> traced.partition()
        Partitioned(<lambda>(x: f32[2]), Mesh(), 0 collectives, 0 bytes sent per device)
        """
        if len(meshes(self.module)) > 1:
            return PartitionedSegments.of(self)
        propagated = self.propagate()
        return _turned(propagated, propagated.module)  # which nobody else has

    @collector_paused()
    def compile(self, *, certify: bool = False) -> Compiled:
        """
        Makes the program ready to run on its mesh, or on its meshes; with `certify`, once it is proved.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> traced.compile()(numpy.ones(2, "float32"))
        array([2., 2.], dtype=float32)
        """
        return self._compiled(certify, None)

    def _compiled(self, certify: bool, file: RememberedFile | None) -> Compiled:
        """The same of a program that stands in a file as it is, if that is given."""
        if self._is_open:
            return self.lay_out().compile(certify=certify)
        if len(meshes(self.module)) > 1:
            return self.partition().compile(certify=certify)
        memory = None if self._is_asked(certify) else self.backend.remembered(self.module, self.interface.meshes, file)
        if memory is None:
            return self.partition().compile(certify=certify)
        found, started = memory.recall(), time.perf_counter()
        if found is not None:
            return self._found(*found)
        compiled = self.partition().compile()
        memory.keep(compiled.executable, self.interface, time.perf_counter() - started)
        return compiled

    def _is_asked(self, certify: bool) -> bool:
        """Whether the partitioned program is needed: a proof is of it, and limits are about it."""
        return certify or self.backend.views.limited

    def _found(self, executable: Executable, layouts: Sequence[Layout]) -> Compiled:
        return Compiled(executable, laid_out(self.interface, layouts), self)


@dataclass(frozen=True, repr=False)
class Propagated(_Stage):
    """The global program with a layout on every value; `traced` is the program as it was written."""

    traced: Traced

    def to_sdy(self) -> str:
        """
        The global program with its layouts as Shardy's annotations, as JAX reads it.

        Warns (SW0735) of what XLA's own partitioner is known to compute wrongly.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> "stablehlo.multiply" in traced.propagate().to_sdy()
        True
        """
        from shardwright.compiler.exporting.doubts import doubts
        from shardwright.compiler.exporting.sdy import export_sdy

        for doubt in doubts(self.module):
            warnings.warn(str(doubt), RuntimeWarning, stacklevel=2)
        module = self.module.clone()
        export_sdy(module)
        return print_module(module)

    @property
    def layouts(self) -> list[ValueRow]:
        """
        Each value with its layout, and how it came to have it.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> traced.propagate().layouts[0].name
        'x'
        """
        return value_rows(self.module)

    def partition(self) -> Partitioned:
        """
        Inserts the collectives and turns the program into the one that each device runs.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> len(traced.propagate().partition().predicted)
        0
        """
        return _turned(self, self.module.clone())


def _turned(stage: Propagated, module: ModuleOp) -> Partitioned:
    """`module`, which is that of the stage or a copy of it, made into what each device runs, in place."""
    run_pipeline(module, ALIGN + PLAN)
    rows, sent = collective_rows(module), predicted_bytes(module)
    planned = module.clone()
    run_pipeline(module, LOCALIZE)
    return Partitioned(module, stage.interface, stage.backend, planned, tuple(rows), sent, stage.traced)


@dataclass(frozen=True, repr=False)
class Partitioned(_Stage):
    """
    The program that each device runs.

    `predicted` lists its collectives with their bytes and reasons, `predicted_bytes` is what each device sends in all;
    `planned` is the program just before, with the same collectives on global tensors, `traced` the one as it was
    written.
    """

    planned: ModuleOp
    predicted: tuple[CollectiveRow, ...]
    predicted_bytes: Fraction | None
    traced: Traced

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}<pre>{escape(self.explain().text())}</pre>"

    @property
    def _figures(self) -> str:
        sent = "" if self.predicted_bytes is None else f", {self.predicted_bytes} bytes sent per device"
        return f"{len(self.predicted)} collective{'' if len(self.predicted) == 1 else 's'}{sent}"

    def to_stablehlo(
        self, *, bare: bool = False, platform: str | None = None, names: bool = False, partial: bool = False
    ) -> str:
        """
        The program of each device with StableHLO's collectives, in a manual computation of the global arrays.

        With `bare`, it takes and gives what one device holds; with `partial`, parts of sums as well. For a `platform`
        (JAX's names) it is written as XLA is fast there. With `names`, ops say what they were called, as profiles do.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> assert "stablehlo.multiply" in traced.partition().to_stablehlo()
        """
        from shardwright.compiler.exporting.manual import export_stablehlo
        from shardwright.compiler.exporting.xla.names import keep_names

        self._ask_one_mesh("to_stablehlo")
        with collector_paused():
            module = self.module.clone()
            export_stablehlo(module, bare=bare, platform=platform, partial=partial)
            if names:
                keep_names(module)
            return print_module(module, debuginfo=names)

    def explain(self) -> Explanation:
        """
        What is sent, why, and for which line, as `shardwright explain` says it.

        Print it, ask it (`.why("model.py:18")`, `.why("p['w1']")`, `.why("#3")`), or take its `.data()`.

        >>> import shardwright, numpy
        >>> x = shardwright.relayout(numpy.ones(4, "float32"), shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> stage = shardwright.function(lambda x: shardwright.sum(x)).trace(x).partition()
        >>> "all_reduce" in str(stage.explain())
        True
        """
        return self.backend.views.explain(self)

    def what_if(
        self,
        *,
        without: Sequence[str] = (),
        layouts: Mapping[str, str] | None = None,
        mesh: Mapping[str, int] | None = None,
    ) -> Comparison:
        """
        What the program would send and hold with each of these changes, and with all of them, beside what it does.

        `without` are lines (`"model.py:18"`) whose constraints and relayouts go; `layouts` gives arguments, by their
        names, the axes of each dim (`{"p['w1']": "data+model,-"}`); `mesh` gives axes other sizes. Nothing runs. Raises
        `ShardwrightError` (SW0729) for what the program does not have; a way that is refused says why.

        >>> import shardwright, numpy
        >>> mesh = shardwright.Mesh(x=2)
        >>> x = shardwright.relayout(numpy.ones((4, 2), "float32"), shardwright.Layout(["x"], mesh))
        >>> stage = shardwright.function(lambda x: shardwright.sum(x)).trace(x).partition()
        >>> [outcome.bytes_per_device for outcome in stage.what_if(layouts={"x": "-,-"}, mesh={"x": 4}).outcomes]
        [4, 0, 6, 0]
        """
        self._ask_one_mesh("what_if")
        return self.backend.views.what_if(self, without, layouts, mesh)

    @settled
    def price(self, topology: Topology | None = None) -> Price:
        """
        What one run costs each device in seconds, before it runs: computing, sending along each axis, memory.

        `topology` says what links and devices can do; without one, it is of the usual orders of magnitude for such a
        mesh (`shardwright.Topology.of`), which tells plans apart and foretells no clock. SW0121 where it lacks a link.

        >>> import shardwright
        >>> mesh = shardwright.Mesh(x=2)
        >>> links = {"x": shardwright.Link(latency=1e-6, bandwidth=1e9)}
        >>> topology = shardwright.Topology(links, flops=1e12, memory=1e12)
        >>> x = shardwright.TensorSpec((4000, 1000), layout=shardwright.Layout(["x"], mesh))
        >>> price = shardwright.function(lambda x: shardwright.sum(x, axis=0)).trace(x).partition().price(topology)
        >>> price.bytes_by_axes, round(price.compute_seconds * 1e6, 2), round(price.collective_seconds * 1e6, 2)
        ({'x': 4000.0}, 8.0, 6.0)
        """
        self._ask_one_mesh("price")
        return self.backend.views.price(self, topology)

    def report(self, path: str | Path) -> None:
        """
        Writes one page of HTML about the program, which needs no network: `docs/views.md` says what is on it.

        Raises `ShardwrightError` (SW0704) where the file cannot be written.

        >>> import shardwright, numpy, tempfile, pathlib
        >>> place = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> shardwright.function(lambda x: x + 1).trace(numpy.ones(4)).partition().report(place)
        >>> place.read_text()[:15]
        '<!doctype html>'
        """
        self._ask_one_mesh("report")
        self.backend.views.report(self, path)

    def _ask_one_mesh(self, name: str) -> None:
        """Raises `ValueError` (SW0405) on several meshes: the answer would be about one."""
        if len(meshes(self.module)) > 1:
            help_text = f"ask each segment: stage.segments[0].{name}(...)"
            raise value_error("SW0405", f"{name} is about one mesh, and the program is on several", help=help_text)

    def certify(self) -> Proof:
        """
        The proof that each device's program computes its part of what was written: a `shardwright.proof.Proof`.

        Both are run on random integers modulo a prime, where rounding hides nothing, and types and collectives are
        checked on the way (DESIGN, section 9; `docs/proof.md`). Takes a few times as long as a run. Raises
        `ShardwrightInternalError` (SW0317) where they differ; what cannot be proved is in `unproved`, with its reason.

        >>> import shardwright, numpy
        >>> mesh = shardwright.Mesh(x=2)
        >>> x = shardwright.relayout(numpy.ones(4, "float32"), shardwright.Layout(["x"], mesh))
        >>> shardwright.function(lambda x: shardwright.sum(x * x)).trace(x).partition().certify().proved
        True
        """
        proof = self.backend.certify(self.traced.module, self.planned, self.module)
        if proof.faults:
            raise wrong_program("the partitioned program computes something else: " + "; ".join(proof.faults))
        return proof

    def compile(self, *, certify: bool = False) -> Compiled:
        """
        Makes the program ready to run on its mesh; with `certify`, once it is proved (SW0332 where it cannot be).

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> traced.partition().compile(certify=True)(numpy.ones(2, "float32"))
        array([2., 2.], dtype=float32)
        """
        if certify and (unproved := self.certify().unproved):
            raise ShardwrightValueError(
                Diagnostic("SW0332", "the program cannot be proved", None, tuple(unproved), "compile it uncertified")
            )
        executable = self.backend(self.module, self.interface.meshes)
        self.backend.views.allow(self, lambda: executable.peak_bytes)
        return Compiled(executable, self.interface, self.traced)


@dataclass(frozen=True, repr=False)
class PartitionedSegments(Partitioned):
    """
    A program on several meshes: `segments` run one after the other, each on one, and `transfers` go in between.

    `predicted` has the collectives of all segments, and `predicted_bytes` is what a device sends in them and receives
    in all transfers, as the ledger of a run counts it. What is about one mesh (`price`, `report`, `what_if`,
    `to_stablehlo`) is asked of a segment; of all it is refused (SW0405).

    >>> import shardwright, numpy
    >>> one, other = shardwright.Mesh(x=2), shardwright.Mesh(y=2, devices=["GPU:0", "GPU:1"])
    >>> x = shardwright.relayout(numpy.ones(4, "float32"), shardwright.Layout(["x"], one))
    >>> there = shardwright.function(lambda x: shardwright.relayout(x * 2, shardwright.Layout(["y"], other)))
    >>> stage = there.trace(x).partition()
    >>> len(stage.segments), len(stage.transfers), stage.predicted_bytes
    (1, 1, Fraction(8, 1))
    """

    segments: tuple[Partitioned, ...]
    transfers: tuple[TransferRow, ...]

    @classmethod
    def of(cls, traced: Traced) -> PartitionedSegments:
        """A traced program on several meshes, partitioned."""
        from shardwright.compiler.layouts.segments import Segments  # only for programs on several meshes
        from shardwright.compiler.layouts.several import TransferRow, total

        known = {mesh.name: mesh for mesh in traced.interface.meshes}
        found, parts = Segments(traced.module, list(known.values())), list[Partitioned]()
        for number, part in enumerate(found.parts, 1):
            name = f"{traced.interface.name}, segment {number} of {len(found.parts)}"
            own = interface_of(part.traced, name, [known[part.mesh]] if part.mesh in known else [])
            written = Traced(part.traced, own, traced.backend)
            rows, sent = tuple(collective_rows(part.planned)), predicted_bytes(part.planned)
            parts.append(Partitioned(part.local, written.interface, traced.backend, part.planned, rows, sent, written))
        transfers = tuple(map(TransferRow.of, found.transfers))
        sent = total([*(part.predicted_bytes for part in parts), *(row.bytes_per_device for row in transfers)])
        rows, own = tuple(row for part in parts for row in part.predicted), (traced.interface, traced.backend)
        return cls(traced.module, *own, traced.module, rows, sent, traced, tuple(parts), transfers)

    def as_text(self, *, debuginfo: bool = False) -> str:
        """The programs of all segments, one after the other."""
        return "\n".join(f"// {part!r}\n{part.as_text(debuginfo=debuginfo)}" for part in self.segments)

    def explain(self) -> SegmentsExplanation:
        """What is sent within meshes and between them, why, and for which line."""
        from shardwright.compiler.layouts.several import SegmentsExplanation

        said = [(repr(segment.interface.mesh), segment.explain()) for segment in self.segments]
        return SegmentsExplanation(tuple(said), self.transfers)

    def certify(self) -> SegmentsProof:
        """The proofs of all segments (see `Partitioned.certify`)."""
        from shardwright.compiler.layouts.several import SegmentsProof

        return SegmentsProof(tuple(segment.certify() for segment in self.segments))


@dataclass(frozen=True)
class Compiled:
    """
    A program that runs: call it with what the function was traced for, global arrays or distributed tensors.

    Global arrays are distributed as the program's arguments are; a distributed tensor must have that layout already.
    `traced` is the program as it was written, None for one that was loaded and runs as it was saved.
    """

    executable: Executable
    interface: Interface
    traced: Traced | None

    def __repr__(self) -> str:
        return _summary("Compiled", self.interface, f"at most {self.peak_bytes:,} bytes held at once")

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}\n\n{escape(self.source)}</pre>"

    def __reduce__(self) -> NoReturn:
        no_pickle("a compiled program")

    @property
    def source(self) -> str:
        """
        The Python function that runs.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> "def " in traced.compile().source
        True
        """
        return self.executable.source

    @property
    def ledger(self) -> Ledger:
        """
        What the last run sent: messages and bytes by collective and axes.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> traced.compile().ledger
        Ledger(0 bytes sent per device in 0 messages)
        """
        return self.executable.ledger

    @property
    def peak_bytes(self) -> int:
        """
        The most bytes that a run holds at once: its results and its intermediate values, all devices together.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> traced.compile().peak_bytes > 0
        True
        """
        return self.executable.peak_bytes

    def as_text(self) -> str:
        """
        The Python function that runs.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> compiled = traced.compile()
        >>> compiled.as_text() == compiled.source
        True
        """
        return self.source

    def report(self, path: str | Path) -> None:
        """
        Writes the page that `Partitioned.report` writes, with what the last run sent beside what was predicted.

        Raises `ShardwrightError` (SW0704) where the file cannot be written, and `ValueError` (SW0577) for a program
        that was loaded: only what each device does was saved.

        >>> import shardwright, numpy, tempfile, pathlib
        >>> place = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> shardwright.function(lambda x: x + 1).compiled(numpy.ones(4)).report(place)
        >>> place.read_text()[:15]
        '<!doctype html>'
        """
        if self.traced is None:
            raise ShardwrightValueError(
                Diagnostic(
                    "SW0577",
                    f"{self.interface.name} was loaded as it runs: what was written is not there to report on",
                    help="report on the function that was saved, before it is saved",
                )
            )
        self.traced.backend.views.report(self.traced.partition(), path, self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, tree = flatten(arranged((args, kwargs), self.interface.arguments), is_argument)
        return self.run(matched(leaves, tree, self.interface))

    def run(self, arguments: Sequence[Any]) -> Any:
        """
        The results for the array arguments in order, already known to fit.

        >>> import shardwright, numpy
        >>> traced = shardwright.function(lambda x: x * 2).trace(numpy.ones(2, "float32"))
        >>> traced.compile().run([numpy.ones(2, "float32")])
        array([2., 2.], dtype=float32)
        """
        taken = [with_elements(*pair) for pair in zip(arguments, self.interface.parameters, strict=True)]
        results = self.executable([*taken, *map(held, self.interface.captured)])
        count = len(results) - len(self.interface.updated)
        for variable, value in zip(self.interface.updated, results[count:], strict=True):
            variable.keep(value)
        return unflatten(self.interface.results, results[:count])


LISTED = 4
"""How many parameters a stage's one-line summary lists."""


def _summary(stage: str, interface: Interface, figures: str) -> str:
    """One line about a stage, for interactive use: `Traced(step(x: f32[8@batch]), Mesh(batch=4), 2 operations)`."""
    shown = [str(parameter) for parameter in interface.parameters[:LISTED]]
    if len(interface.parameters) > LISTED:
        shown.append(f"and {len(interface.parameters) - LISTED} more")
    return f"{stage}({interface.name}({', '.join(shown)}), {interface.mesh!r}, {figures})"


def read_module(module: ModuleOp, name: str, backend: Backend, callbacks: Callbacks = None) -> Traced:
    """
    The program in a module as somebody else wrote it, which is used up; `name` is what errors call it.

    With `callbacks="drop"`, calls back into Python whose results nothing needs are left out.
    """
    if callbacks not in (None, "drop"):
        raise ShardwrightValueError(
            Diagnostic(
                "SW0436", f"callbacks={callbacks!r} says nothing", help="'drop' leaves them out; None keeps them"
            )
        )
    run_pipeline(module, [*WITHOUT_CALLBACKS, *READ] if callbacks == "drop" else READ)
    return Traced(module, interface_of(module, name), backend)
