"""What a planned program will send, and why: report data, read from the IR alone."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, TypeGuard

from xdsl.dialects.builtin import ModuleOp, NameLoc, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from shardwright.compiler.values import layout_at
from shardwright.diagnostics import SourceLocation
from shardwright.dialects import dtensor
from shardwright.dialects.dtensor import CollectiveOp, layout_of
from shardwright.dialects.dtensor.attributes import AxesAttr, DimAxesAttr
from shardwright.dialects.dtensor.manual import Explicit, explicit_bytes, manual_axes
from shardwright.dialects.stablehlo import CaseOp, IfOp, WhileOp
from shardwright.dialects.stablehlo.collectives import GroupedOp
from shardwright.dialects.text.locations import is_backward, source_locations, where
from shardwright.dialects.trip_count import control_names, trip_count
from shardwright.dialects.types import element_dtype, element_of, shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import moved_axes
from shardwright.layout.planning.cost import sent_share
from shardwright.passes.stages import GLOBAL_TYPE_ARGUMENT, WHY


@dataclass(frozen=True)
class Reason:
    """
    Why a collective is there, in parts; `rule` and `alternative` are empty where there was no choice.

    `left_by` is the op that left a result partial, where that is why.
    """

    text: str
    asked_by: str
    rule: str
    alternative: str
    left_by: str = ""


Runs: TypeAlias = Mapping[str, Mapping[str, int]]
"""How often the parts of each loop and branch ran, by its name: a ledger's `runs`."""


@dataclass(frozen=True)
class Repetition:
    """
    How often an op runs: `times` in all, or `times` in each run of `parts` (of `owner`, a loop or a branch).

    `within` says the latter for people; it is empty where the number is known.
    """

    times: int = 1
    owner: str = ""
    parts: tuple[str, ...] = ()
    within: str = ""

    def known(self) -> Repetition:
        """The same in one run of the parts."""
        return Repetition(self.times)

    def count(self, runs: Runs) -> int:
        """The number, when the parts of loops and branches ran as often as `runs` says."""
        if not self.parts:
            return self.times
        found = runs.get(self.owner, {})
        return self.times * sum(found.get(part, 0) for part in self.parts)


@dataclass(frozen=True)
class CollectiveRow:
    """
    One collective of a planned program.

    `bytes_per_device` is what each device sends (on average) when it runs once, None where an exact count would take
    too long; `repetition` says how often it runs. `sources` are the user's places that it serves, the asker's first;
    `backward` says that it serves a gradient.
    """

    kind: str
    arguments: str
    axes: tuple[str, ...]
    tensors: tuple[str, ...]
    bytes_per_device: Fraction | None
    sources: tuple[SourceLocation, ...]
    reasons: tuple[Reason, ...]
    repetition: Repetition = Repetition()
    backward: bool = False

    @property
    def plain_bytes(self) -> int | float | None:
        """`bytes_per_device` as a plain number: an int where it is whole."""
        value = self.bytes_per_device
        if value is None or value.denominator != 1:
            return None if value is None else float(value)
        return value.numerator


@dataclass(frozen=True)
class ValueRow:
    """One value of a propagated program: its layout for people, and how it came to have it, step by step."""

    name: str
    op: str
    layout: str
    source: SourceLocation | None
    chain: tuple[str, ...]


AnyCollective: TypeAlias = CollectiveOp | GroupedOp
"""Ours, and those that the user wrote."""

_REASON = re.compile(
    r"(?P<asked>.*?) needs it(?: finished, and (?P<left>.*?) left it partial)? by its rule (?P<rule>.*?)"
    r"(?:; the alternative (?P<other>.*))?"
)
_FROM = re.compile(
    r"from (?:argument (?P<argument>\d+)|(?P<op>\S+) at (?P<place>\S+)), (?P<side>its operand|which uses it)"
)


def _reasons(text: str) -> tuple[Reason, ...]:
    """
    The reasons of a collective, each in its parts; several where collectives were combined into one.

    >>> text = "stablehlo.add at f:1:2 needs it by its rule i -> i; the alternative [j=x] would send 8 bytes; result 0"
    >>> [(reason.asked_by, reason.rule) for reason in _reasons(text)]
    [('stablehlo.add at f:1:2', 'i -> i'), ('result 0', '')]
    """
    reasons: list[Reason] = []
    for part in filter(None, re.split("; (?!the alternative )", text)):
        match = _REASON.fullmatch(part)
        found = (part, "", "") if match is None else match.group("asked", "rule", "other", "left")
        reasons.append(Reason(part, *(each or "" for each in found)))
    return tuple(reasons)


@dataclass(frozen=True)
class Prediction:
    """The bytes that each device sends in one run of each collective, with how often that is."""

    entries: tuple[tuple[Fraction | None, Repetition], ...]

    def total(self, runs: Runs | None = None) -> Fraction | None:
        """
        The bytes of a run of the program in which loops and branches ran as `runs` says.

        None where one collective's exact figure is unknown, or where it depends on `runs` and they are not given.
        """
        total = Fraction()
        for sent, repetition in self.entries:
            if sent is None or (runs is None and sent and repetition.parts):
                return None
            total += sent * repetition.count(runs or {})
        return total


def collective_rows(module: ModuleOp) -> list[CollectiveRow]:
    """Each collective of a planned module, in program order."""
    return [row for _, row in collectives_with_rows(module)]


def collectives_with_rows(module: ModuleOp) -> list[tuple[AnyCollective, CollectiveRow]]:
    """The same, each with its op."""
    meshes = dtensor.meshes(module)
    return [(op, _row(op, meshes[op.mesh_name], repetition)) for op, repetition in _collectives(module)]


def prediction(module: ModuleOp) -> Prediction:
    """What each device will send, as far as the program's text tells."""
    meshes = dtensor.meshes(module)
    return Prediction(tuple((_sent_by(op, meshes[op.mesh_name]), often) for op, often in _collectives(module)))


def predicted_bytes(module: ModuleOp) -> Fraction | None:
    """The bytes that each device will send; None where that is unknown, or depends on data (see `prediction`)."""
    return prediction(module).total()


def _sent_by(op: AnyCollective, mesh: Mesh) -> Fraction | None:
    """The bytes that each device sends for one planned collective."""
    if isinstance(op, Explicit):
        return explicit_bytes(op, mesh)
    if isinstance(op, dtensor.WindowOp):
        return op.sent_bytes(mesh)
    total = Fraction()
    for operand, result in zip(op.inputs, op.outputs, strict=True):
        share = sent_share(_kind(op), layout_at(operand), layout_at(result), mesh)
        if share is None:
            return None
        total += share * element_dtype(operand.type).itemsize * math.prod(shape_of(operand))
    return total


def value_rows(module: ModuleOp) -> list[ValueRow]:
    """Each argument and result of a module's ops that has a layout, in program order, with the reasons for it."""
    rows: list[ValueRow] = []
    for op in module.walk():
        if isinstance(op, FuncOp):
            entries = [entry.data for entry in op.arg_attrs] if op.arg_attrs is not None else [{}] * len(op.args)
            rows += [
                ValueRow(value_name(arg), "argument", _given(arg, entry), where(arg), chain(arg))
                for arg, entry in zip(op.args, entries, strict=True)
            ]
        rows += [
            ValueRow(value_name(result), op.name, shown(result), where(op), chain(result))
            for result in op.results
            if layout_of(result) is not None and not isinstance(op, CollectiveOp)
        ]
    return rows


def _given(argument: SSAValue, entry: Mapping[str, Attribute]) -> str:
    """An argument as its callers know it, without padding."""
    whole = entry.get(GLOBAL_TYPE_ARGUMENT)
    if whole is None or layout_of(argument) is None:
        return shown(argument)
    return layout_at(argument).brief(shape_of(whole), str(element_of(whole)))


def value_name(value: SSAValue) -> str:
    """What people call a value: an argument as its function does (`params['w']`), another by its name in the text."""
    if isinstance(value, BlockArgument):
        if isinstance(value.location, NameLoc):
            return value.location.desc.data
        return f"%{value.name_hint or f'arg{value.index}'}"
    return f"%{value.name_hint}" if value.name_hint else ""


def chain(value: SSAValue) -> tuple[str, ...]:
    """
    The reasons for a value's layout: that of the op which makes it, then that of the value it names, and so on to the
    layout that the user gave. What a collective brings has that of what the collective takes.
    """
    steps: list[str] = []
    seen: set[SSAValue] = set()
    current: SSAValue | None = _moved(value)
    while current is not None and current not in seen:
        seen.add(current)
        text, current = _step(current)
        steps.append(text)
    return tuple(steps)


def _step(value: SSAValue) -> tuple[str, SSAValue | None]:
    """Why a value has its layout, and the value from which it has it."""
    owner = value.owner
    if isinstance(value, BlockArgument):
        chosen = _chosen(value)
        return f"{value_name(value)} is {shown(value)}, {chosen or 'given by the user'}", None
    assert isinstance(owner, Operation)
    why = owner.attributes.get(WHY)
    if isinstance(why, StringAttr):
        return why.data, _origin(owner, why.data)
    if isinstance(owner, dtensor.ConstraintOp | dtensor.RelayoutOp):
        return f"given by the user at {where(owner)}", None
    if not owner.operands:
        return "each device makes what it needs of it", None
    if not shape_of(value):
        return "a single number: there is nothing to split", None
    return "no layout reached it: every device holds all of it", None


def _chosen(argument: BlockArgument) -> str:
    """Why an argument has its layout, where that was chosen."""
    function = argument.block.parent_op()
    if not isinstance(function, FuncOp) or function.arg_attrs is None:
        return ""
    why = function.arg_attrs.data[argument.index].data.get(WHY)
    return why.data if isinstance(why, StringAttr) else ""


def _origin(op: Operation, why: str) -> SSAValue | None:
    """The value from which an op's result has its layout: an operand, or a result of an op that uses it."""
    match = _FROM.match(why)
    if match is None:
        return None
    near = [_moved(operand) for operand in op.operands] if match["side"] == "its operand" else _used_by(op)
    return next((value for value in near if _is_meant(value, match)), None)


def _is_meant(value: SSAValue, match: re.Match[str]) -> bool:
    if isinstance(value, BlockArgument):
        return str(value.index) == match["argument"]
    owner = value.owner
    return isinstance(owner, Operation) and owner.name == match["op"] and str(where(owner)) == match["place"]


def _moved(value: SSAValue) -> SSAValue:
    """What collectives and relayouts that we put in have made this value of."""
    while isinstance(op := value.owner, CollectiveOp) or (isinstance(op, dtensor.RelayoutOp) and op.reason):
        value = op.operands[list(op.results).index(value)]  # pyright: ignore[reportArgumentType]
    return value


def asker_of(collective: Operation, asked_by: str) -> SSAValue | None:
    """What the op that asked for a collective makes of what it brings; None where the program or the user asked."""
    for value in _used_by(collective):
        owner = value.owner
        if isinstance(owner, Operation) and layout_of(value) and f"{owner.name} at {where(owner)}" == asked_by:
            return value
    return None


def _used_by(op: Operation) -> list[SSAValue]:
    """The results of the ops that use an op's results, also behind collectives."""
    found: list[SSAValue] = []
    for use in (use for result in op.results for use in result.uses):
        moved = isinstance(use.operation, CollectiveOp)
        found += _used_by(use.operation) if moved else use.operation.results
    return found


def _collectives(module: ModuleOp) -> Iterator[tuple[AnyCollective, Repetition]]:
    """The collectives of a module, in program order, with how often they run."""
    for op, repetition in repeated_operations(module):
        if is_collective(op):
            yield op, repetition


def is_collective(op: Operation) -> TypeGuard[AnyCollective]:
    """Whether an op is a collective, ours or one that the user wrote."""
    return isinstance(op, CollectiveOp | GroupedOp)


def repeated_operations(module: ModuleOp) -> Iterator[tuple[Operation, Repetition]]:
    """All operations of a module, in program order, with how often they run."""
    names = control_names(op for op in module.ops if isinstance(op, FuncOp))

    def inside(op: Operation, repetition: Repetition) -> Iterator[tuple[Operation, Repetition]]:
        yield op, repetition
        for number, region in enumerate(op.regions):
            inner = _repeated(op, number, repetition, names)
            for block in region.blocks:
                for child in block.ops:
                    yield from inside(child, inner)

    return inside(module, Repetition())


def _repeated(op: Operation, region: int, outer: Repetition, names: Mapping[Operation, str]) -> Repetition:
    """How often a region runs when the op that holds it runs `outer`."""
    if isinstance(op, CaseOp | IfOp):
        part = f"branch {region}"
        return Repetition(1, names[op], (part,), f"in {part} of {names[op]}")
    if not isinstance(op, WhileOp):
        return outer
    rounds, is_test = trip_count(op), op.regions[region] is op.condition
    if rounds is not None:
        return replace(outer, times=outer.times * (rounds + is_test))
    parts = ("rounds", "starts") if is_test else ("rounds",)
    return Repetition(1, names[op], parts, f"per {'test' if is_test else 'round'} of {names[op]}")


def _kind(op: AnyCollective) -> str:
    return op.name.partition(".")[2]


def _row(op: AnyCollective, mesh: Mesh, repetition: Repetition) -> CollectiveRow:
    written = op.properties.get("reason")
    reason = written.data if isinstance(written, StringAttr) else ""
    return CollectiveRow(
        kind=_kind(op),
        arguments=op.arguments_text(),
        axes=tuple(axis.brief() for axis in axes_of(op, mesh)),
        tensors=tuple(_brief(value) for value in op.operands),
        bytes_per_device=_sent_by(op, mesh),
        sources=source_locations(op.location),
        reasons=_reasons("written by the user" if isinstance(op, GroupedOp) else reason),
        repetition=repetition,
        backward=is_backward(op.location),
    )


def axes_of(op: AnyCollective, mesh: Mesh) -> tuple[Axis, ...]:
    """The axes along which a collective sends, and the parts of axes; on global and per-device types."""
    if isinstance(op, Explicit):
        return manual_axes(op)
    if isinstance(op, dtensor.CollectivePermuteOp | dtensor.ExchangeOp):
        return moved_axes(op.source.data, op.target.data, mesh)
    named = op.properties.get("dim_axes") or op.properties.get("axes")
    if isinstance(named, DimAxesAttr):
        return tuple(axis for axes in named.data for axis in axes)
    assert isinstance(named, AxesAttr)
    return named.data


def shown(value: SSAValue) -> str:
    """A value's type, with its layout where it has one."""
    return _brief(value) if layout_of(value) is not None else str(value.type)


def _brief(value: SSAValue) -> str:
    return layout_at(value).brief(shape_of(value), str(element_of(value)))
