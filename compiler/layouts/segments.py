"""
Programs on several meshes, taken apart into programs on one mesh each, and what goes from mesh to mesh.

Every value lives on one mesh, and `dtensor.transfer` is the only op that crosses. A *segment* is what can run on one
mesh between two transfers: an op's depth is the greatest number of transfers on the way to it, and the ops of one mesh
at one depth are one segment. Segments run in order of depth, with the transfers in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue, Use

from shardwright.compiler.pipelines import run_pipeline
from shardwright.compiler.values import layout_at
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import dtensor
from shardwright.dialects.building import free_values
from shardwright.dialects.dtensor import MeshOp, layout_of, meshes, with_layout
from shardwright.dialects.dtensor.hints import GroupOp
from shardwright.dialects.dtensor.transfers import TransferOp
from shardwright.dialects.stablehlo import OptimizationBarrierOp
from shardwright.dialects.types import shape_of
from shardwright.layout import Layout, Mesh
from shardwright.layout.planning.algebra import whole_shape
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.rewriter import erase, insert_before, retype
from shardwright.passes.stages import set_stage

__all__ = ["Part", "Segment", "Segments", "Transfer", "mixed", "segments_of"]


@dataclass
class Segment:
    """Ops of one mesh that run together: what they take from outside, and what others take from them."""

    mesh: str
    depth: int
    ops: list[Operation] = field(default_factory=list[Operation])
    inputs: list[SSAValue] = field(default_factory=list[SSAValue])
    outputs: list[SSAValue] = field(default_factory=list[SSAValue])


def segments_of(module: ModuleOp) -> list[Segment]:
    """
    The segments of a traced program, in the order in which they run.

    Raises `ValueError` (SW0505) for an op on values of two meshes.
    """
    function = _entry(module)
    home = _Homes(module, function)
    found: dict[tuple[int, str], Segment] = {}
    for op in _ops(function):
        if not isinstance(op, TransferOp) and (op.operands or _leaves(op)):
            key = home.depth(op), home.mesh(op)
            found.setdefault(key, Segment(key[1], key[0])).ops.append(op)
    order = list(home.meshes)
    segments = sorted(found.values(), key=lambda segment: (segment.depth, order.index(segment.mesh)))
    _connect(segments, function)
    return segments


class _Homes:
    """The mesh and the depth of every value; constants belong to whoever uses them."""

    def __init__(self, module: ModuleOp, function: FuncOp) -> None:
        self.meshes = meshes(module)
        self._mesh: dict[SSAValue, str] = {}
        self._depth: dict[SSAValue, int] = {}
        for argument in function.args:
            spec = layout_of(argument)
            self._mesh[argument] = spec.mesh if spec is not None else next(iter(self.meshes))
        self._group_depths: dict[int, int] = {}
        for op in _ops(function):
            for part in self._of_one_mesh(op):
                self._place(part)
        for op in reversed(_ops(function)):
            if not any(result in self._mesh for result in op.results):
                self._place_by_users(op)

    def mesh(self, op: Operation) -> str:
        """Where an op runs."""
        values = op.operands if isinstance(op, GroupOp) else op.results
        return next((self._mesh[value] for value in values if value in self._mesh), next(iter(self.meshes)))

    def depth(self, op: Operation) -> int:
        """How many transfers lead to an op, at most; to any member, where it is of a group of values."""
        depth = max((self._depth.get(value, 0) for value in free_values(op)), default=0)
        return max(depth, self._group_depths.get(op.number, 0)) if isinstance(op, GroupOp) else depth

    def _place_by_users(self, op: Operation) -> None:
        """What is made of constants alone is made on each mesh where it is used."""
        found: dict[str, list[Use]] = {}
        for use in [use for result in op.results for use in result.uses]:
            results = _outermost(use.operation, op.parent).results
            mesh = next((self._mesh[result] for result in results if result in self._mesh), None)
            if mesh is not None:
                found.setdefault(mesh, []).append(use)
        ordered = sorted(found)
        self._mesh.update((result, mesh) for mesh in ordered[:1] for result in op.results)
        for mesh in ordered[1:] if op.operands else ():
            copy = insert_before(op, op.clone())
            for use in found[mesh]:
                value = use.operation.operands[use.index]
                use.operation.operands[use.index] = copy.results[op.results.index(value)]
            self._mesh.update((result, mesh) for result in copy.results)
            self._depth.update((result, self.depth(op)) for result in copy.results)

    def _of_one_mesh(self, op: Operation) -> list[Operation]:
        """An op; of a barrier on values of several meshes one for each, as nothing waits for another mesh."""
        found: dict[str, list[int]] = {}
        for place, value in enumerate(op.operands if isinstance(op, OptimizationBarrierOp) else ()):
            if value in self._mesh:
                found.setdefault(self._mesh[value], []).append(place)
        if len(found) < 2:
            return [op]
        for result, value in zip(op.results, list(op.operands), strict=True):
            if value not in self._mesh:  # whoever uses it makes it
                result.replace_all_uses_with(value)
        parts = [OptimizationBarrierOp([op.operands[place] for place in places]) for places in found.values()]
        for part, places in zip(parts, found.values(), strict=True):
            insert_before(op, part)
            for result, place in zip(part.results, places, strict=True):
                op.results[place].replace_all_uses_with(result)
        erase(op)
        return [*parts]

    def _place(self, op: Operation) -> None:
        depth = self.depth(op)
        if isinstance(op, GroupOp):
            self._group_depths[op.number] = depth
        if isinstance(op, TransferOp | dtensor.RelayoutOp | dtensor.ConstraintOp):
            self._mesh[op.result] = layout_at(op.result).mesh
            self._depth[op.result] = depth + isinstance(op, TransferOp)
            return
        found = dict.fromkeys(self._mesh[value] for value in free_values(op) if value in self._mesh)
        if len(found) > 1:
            raise mixed(op.name, *(self.meshes[name] for name in list(found)[:2]))
        for result in op.results:
            self._depth[result] = depth
            if found:
                self._mesh[result] = next(iter(found))


def mixed(name: str, first: Mesh, second: Mesh) -> Exception:
    """The error for an operation on tensors of two meshes."""
    return value_error(
        "SW0505",
        f"{name} uses tensors of two meshes: {first!r} and {second!r}",
        help="bring them to one mesh first: shardwright.relayout(x, layout), or shardwright.relayout_like(x, other)",
    )


def _connect(segments: Sequence[Segment], function: FuncOp) -> None:
    """Says of each segment what it takes and what others, transfers and the function's results take from it."""
    owner: dict[SSAValue, Segment] = {}
    for segment in segments:
        owner.update((result, segment) for op in segment.ops for result in op.results)
    transferred = [op.operand for op in _ops(function) if isinstance(op, TransferOp)]
    wanted: dict[SSAValue, None] = dict.fromkeys([*_returned(function), *transferred])
    for segment in segments:
        segment.inputs = _taken(segment)
        wanted.update(dict.fromkeys(value for value in segment.inputs if owner.get(value, segment) is not segment))
    for value in wanted:
        if value in owner:
            owner[value].outputs.append(value)


def _taken(segment: Segment) -> list[SSAValue]:
    """What a segment's ops take from outside of it, but for constants, of which each segment has its own."""
    inside = {result for op in segment.ops for result in op.results}
    taken = dict.fromkeys(value for op in segment.ops for value in free_values(op) if value not in inside)
    return [value for value in taken if _constant(value) is None]


@dataclass(frozen=True)
class Part:
    """A segment as a program of its own: as it was written, with its collectives, and as each device runs it."""

    segment: Segment
    traced: ModuleOp
    planned: ModuleOp
    local: ModuleOp

    @property
    def mesh(self) -> str:
        """The mesh on which it runs, by its name in the program."""
        return self.segment.mesh


@dataclass(frozen=True)
class Transfer:
    """A value that goes from one mesh to another: from a layout there to a layout here, of the whole `shape`."""

    op: TransferOp
    shape: tuple[int, ...]
    source: Layout
    target: Layout


class Segments:
    """
    A traced program on several meshes, whose segments are partitioned in order, each after what it takes.

    `known` are meshes with their devices, which the program's text does not name.
    """

    def __init__(self, module: ModuleOp, known: Sequence[Mesh]) -> None:
        self._module = module.clone()
        run_pipeline(self._module, ("decompose", "inline", "expand-gradients", "dce"))
        self.meshes = meshes(self._module) | {mesh.name: mesh for mesh in known}
        self.function = _entry(self._module)
        self._layouts: dict[SSAValue, LayoutSpec] = {
            argument: spec for argument in self.function.args if (spec := layout_of(argument)) is not None
        }
        self.parts = [self._part(segment) for segment in segments_of(self._module)]

    @property
    def results(self) -> Sequence[SSAValue]:
        """What the program gives."""
        return _returned(self.function)

    @property
    def transfers(self) -> list[Transfer]:
        """What goes from mesh to mesh, in the program's order."""
        return [self.transfer(op) for op in _ops(self.function) if isinstance(op, TransferOp) and op.result.uses]

    def transfer(self, op: TransferOp) -> Transfer:
        """The layouts between which a value goes."""
        shape = shape_of(op.operand)
        source = self._layout(self.settled(op.operand), shape)
        return Transfer(op, shape, source, self._layout(self.settled(op.result), shape))

    def _layout(self, spec: LayoutSpec, shape: tuple[int, ...]) -> Layout:
        mesh = self.meshes[spec.mesh]
        return Layout.from_spec(spec, mesh, uneven=whole_shape(spec, shape, mesh) != shape)

    def settled(self, value: SSAValue) -> LayoutSpec:
        """The layout in which a value comes: of a transfer that leaves dims open, that which was found for it."""
        if value not in self._layouts:
            due = self._due(value)
            self._layouts[value] = LayoutSpec(due.mesh, due.dims)
        return self._layouts[value]

    def _due(self, value: SSAValue) -> LayoutSpec:
        """
        The layout in which a segment is given a value.

        Of a transfer that leaves dims open it is that of its source if it fits; else they stay open, and the first
        segment that takes the value decides them: what is split there need not come whole.
        """
        if value in self._layouts:
            return self._layouts[value]
        transfer = value.owner
        assert isinstance(transfer, TransferOp)
        spec, source = layout_at(value), self.settled(transfer.operand)
        same = self.meshes[spec.mesh].sizes == self.meshes[source.mesh].sizes
        return LayoutSpec(spec.mesh, source.dims) if spec.open_dims and same else spec

    def _part(self, segment: Segment) -> Part:
        """A segment with what its devices run."""
        traced = self._module_of(segment)
        planned = traced.clone()
        run_pipeline(planned, ("propagate",))
        function = _entry(planned)
        for value, argument in zip(segment.inputs, function.args, strict=True):
            self._layouts.setdefault(value, layout_at(argument))
        for value, result in zip(segment.outputs, _returned(function), strict=True):
            self._layouts[value] = layout_at(result)
        run_pipeline(planned, ("insert-relayouts", "lower-relayouts", "optimize-collectives"))
        local = planned.clone()
        run_pipeline(local, ("localize",))
        return Part(segment, traced, planned, local)

    def _module_of(self, segment: Segment) -> ModuleOp:
        """The segment as a program of its own."""
        block = Block(arg_types=[value.type for value in segment.inputs])
        mapping: dict[SSAValue, SSAValue] = {}
        for value, argument in zip(segment.inputs, block.args, strict=True):
            mapping[value] = argument
            argument.name_hint = value.name_hint
            argument.location = _place(value)
            retype(argument, with_layout(value.type, self._due(value)))
        for op in segment.ops:
            for value in free_values(op):
                constant = _constant(value)
                if constant is not None and value not in mapping:
                    block.add_op(constant.clone(mapping))
            block.add_op(op.clone(mapping))
        last = ReturnOp(*[mapping[value] for value in segment.outputs])
        last.location = self.function.location
        block.add_op(last)
        types = [argument.type for argument in block.args], [value.type for value in last.operands]
        function = FuncOp("main", types, Region(block), visibility="public")
        declared = MeshOp(segment.mesh, list(self.meshes[segment.mesh].sizes.items()))
        module = ModuleOp([declared, function])
        for op in (declared, function, module):
            op.location = self.function.location
        set_stage(module, "traced")
        return module


def _entry(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def _returned(function: FuncOp) -> Sequence[SSAValue]:
    last = function.get_return_op()
    assert last is not None
    return last.operands


def _ops(function: FuncOp) -> list[Operation]:
    return [op for op in function.body.block.ops if not isinstance(op, ReturnOp)]


def _leaves(op: Operation) -> bool:
    """Whether what an op makes leaves its mesh or the function as it is."""
    return any(isinstance(user, TransferOp | ReturnOp) for user in _users(op))


def _outermost(op: Operation, block: Block | None) -> Operation:
    """The op of a block that is, or holds, another one."""
    while op.parent is not block:
        outer = op.parent_op()
        assert outer is not None
        op = outer
    return op


def _users(op: Operation) -> list[Operation]:
    return [use.operation for result in op.results for use in result.uses]


def _constant(value: SSAValue) -> Operation | None:
    """The op that makes a value of nothing, if one does."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and not owner.operands else None


def _place(value: SSAValue) -> Any:
    owner = value.owner
    return owner.location if isinstance(owner, Operation) else value.location  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
