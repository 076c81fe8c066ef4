"""Manual computations as Shardy writes them: what stands between the casts goes back into a region of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import networkx as nx
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from shardwright.compiler.exporting.values import manual_computation, shardings
from shardwright.dialects.building import free_values
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.dtensor.manual import CastOp, FromManualOp, ToManualOp
from shardwright.dialects.purity import is_pure
from shardwright.dialects.sdy import ops as sdy_ops
from shardwright.dialects.text.locations import fault
from shardwright.layout.mesh import Mesh
from shardwright.passes.rewriter import erase, locate

_WAY_OUT = "export the program of each device instead: --to stablehlo"


def regroup(module: ModuleOp, mesh: Mesh) -> list[sdy_ops.ManualComputationOp]:
    """
    Puts the ops between `dtensor.to_manual` and `dtensor.from_manual` into `sdy.manual_computation`s; returns these.

    ```
    %1 = dtensor.to_manual @mesh [{"x"}] manual {"x"} %0
    %2 = stablehlo.negate %1
    %3 = dtensor.from_manual @mesh [{"x"}] manual {"x"} %2
    ```
    becomes `%3 = sdy.manual_computation(%0) ... manual_axes={"x"} (%1) { %2 = stablehlo.negate %1 sdy.return %2 }`.
    Ops on nothing but constants are copied to where they are used. Raises SW0723 for computations inside of others.
    """
    made: list[sdy_ops.ManualComputationOp] = []
    for block in _blocks_with_casts(module):
        made += [_build(block, group, mesh) for group in _groups(block)]
    return made


@dataclass
class _Group:
    """The casts of one computation and the ops between them, in order."""

    entries: list[ToManualOp]
    inside: list[Operation]
    exits: list[FromManualOp]

    @classmethod
    def of(cls, ops: Sequence[Operation]) -> _Group:
        """The group that these ops are."""
        return cls(
            [op for op in ops if isinstance(op, ToManualOp)],
            [op for op in ops if not isinstance(op, CastOp)],
            [op for op in ops if isinstance(op, FromManualOp)],
        )


def _blocks_with_casts(module: ModuleOp) -> list[Block]:
    casts = [op for op in module.walk() if isinstance(op, CastOp)]
    return list(dict.fromkeys(op.parent for op in casts if op.parent is not None))


def _groups(block: Block) -> list[_Group]:
    """The computations of a block: casts and ops that are connected by values."""
    connected = _connected(block)
    place = {op: number for number, op in enumerate(connected)}
    components: Iterable[set[Operation]] = nx.connected_components(connected)
    groups = [_Group.of(sorted(members, key=place.__getitem__)) for members in components]
    return [group for group in groups if group.exits]


def _connected(block: Block) -> nx.Graph[Operation]:
    """The casts of a block and what they lead to, each op with those inside that make its values."""
    connected: nx.Graph[Operation] = nx.Graph()
    for op in block.ops:
        makers = [owner for value in free_values(op) if (owner := _owner(value, block)) is not None]
        inside = [owner for owner in makers if owner in connected and not isinstance(owner, FromManualOp)]
        if inside and isinstance(op, ToManualOp):
            raise fault(
                "SW0723",
                "a manual computation inside of another one cannot be exported with annotations",
                op,
                help=_WAY_OUT,
            )
        if inside or isinstance(op, CastOp):
            connected.add_node(op)
            connected.add_edges_from((owner, op) for owner in inside)
    return connected


def _owner(value: SSAValue, block: Block) -> Operation | None:
    """The op of the block itself that makes a value."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.parent is block else None


def _build(block: Block, group: _Group, mesh: Mesh) -> sdy_ops.ManualComputationOp:
    anchor = _anchor(block, group)
    axes = {axis.name: None for cast in (*group.entries, *group.exits) for axis in cast.manual.data}
    body = Block(arg_types=[cast.result.type for cast in group.entries])
    for argument, cast in zip(body.args, group.entries, strict=True):
        argument.name_hint, argument.location = cast.result.name_hint, cast.location
    _copy_free(block, group)
    sides = (
        shardings([layout_of(cast.operand) for cast in group.entries], mesh, anchor),
        shardings([layout_of(cast.result) for cast in group.exits], mesh, anchor),
    )
    computation = manual_computation(
        [cast.operand for cast in group.entries],
        [cast.result.type for cast in group.exits],
        sides,
        tuple(axes),
        body,
    )
    block.insert_op_before(locate(computation, anchor), anchor)
    for op in group.inside:
        op.detach()
        body.add_op(op)
    for argument, cast in zip(body.args, group.entries, strict=True):
        cast.result.replace_all_uses_with(argument)
    body.add_op(locate(sdy_ops.ReturnOp.create(operands=[cast.operand for cast in group.exits]), group.exits[-1]))
    for result, cast in zip(computation.outputs, group.exits, strict=True):
        result.name_hint = cast.result.name_hint
        cast.result.replace_all_uses_with(result)
    for cast in (*group.exits, *group.entries):
        erase(cast)
    return computation


def _anchor(block: Block, group: _Group) -> Operation:
    """The op in front of which the computation goes: the first that stays behind the last of what goes in."""
    members = {*group.inside, *group.entries, *group.exits}
    following = group.entries[-1] if group.entries else group.exits[0]
    while following in members:
        assert following.next_op is not None
        following = following.next_op
    return following


def _copy_free(block: Block, group: _Group) -> None:
    """Gives the computation its own copies of the ops outside of it that it uses, if they take nothing themselves."""
    inside = {*group.inside, *group.entries}
    copies: dict[Operation, Operation] = {}
    first: list[Operation] = []
    for op in (*group.inside, *group.exits):
        for inner in op.walk():
            for place, value in enumerate(inner.operands):
                owner = _owner(value, block)
                if isinstance(owner, Operation) and owner not in inside:
                    copy = _copy(owner, block, copies, first)
                    inner.operands[place] = _same(value, copy)
    group.inside[:0] = first


def _copy(op: Operation, block: Block, copies: dict[Operation, Operation], made: list[Operation]) -> Operation:
    if op in copies:
        return copies[op]
    outside = [value for value in free_values(op) if _owner(value, block) is None]
    if outside or not is_pure(op) or isinstance(op, FromManualOp):
        raise fault(
            "SW0723",
            f"a manual computation uses the result of '{op.name}' op from outside of it",
            op,
            help=_WAY_OUT,
        )
    copy = op.clone()
    copies[op] = copy
    for old, new in zip(op.walk(), copy.walk(), strict=True):
        for place, value in enumerate(old.operands):
            owner = _owner(value, block)
            if owner is not None:
                source = _copy(owner, block, copies, made)
                new.operands[place] = _same(value, source)
    assert op.parent is not None
    op.parent.insert_op_before(copy, op)
    made.append(copy)
    return copy


def _same(value: SSAValue, copy: Operation) -> SSAValue:
    """The result of a copy that stands for one of the original."""
    assert isinstance(value, OpResult)
    return copy.results[value.index]
