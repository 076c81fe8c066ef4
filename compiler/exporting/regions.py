"""Manual computations as Shardy writes them: what stands between the casts goes back into a region of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from shardwright.compiler.exporting.values import sharding
from shardwright.dialects import sdy
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.dtensor.manual import CastOp, FromManualOp, ToManualOp
from shardwright.dialects.sdy import ops as sdy_ops
from shardwright.dialects.text.locations import fault
from shardwright.passes.purity import is_pure
from shardwright.passes.rewriter import erase, locate


def regroup(module: ModuleOp) -> list[sdy_ops.ManualComputationOp]:
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
        made += [_build(block, group) for group in _groups(block)]
    return made


@dataclass
class _Group:
    """The casts of one computation and the ops between them, in order."""

    entries: list[ToManualOp] = field(default_factory=list[ToManualOp])
    inside: list[Operation] = field(default_factory=list[Operation])
    exits: list[FromManualOp] = field(default_factory=list[FromManualOp])

    def add(self, op: Operation) -> None:
        """One more op, behind the others."""
        if isinstance(op, ToManualOp):
            self.entries.append(op)
        elif isinstance(op, FromManualOp):
            self.exits.append(op)
        else:
            self.inside.append(op)


def _blocks_with_casts(module: ModuleOp) -> list[Block]:
    casts = [op for op in module.walk() if isinstance(op, CastOp)]
    return list(dict.fromkeys(op.parent for op in casts if op.parent is not None))


def _groups(block: Block) -> list[_Group]:
    """The computations of a block: casts and ops that are connected by values."""
    leader: dict[Operation, Operation] = {}

    def find(op: Operation) -> Operation:
        while leader[op] is not op:
            leader[op] = leader[leader[op]]
            op = leader[op]
        return op

    for op in block.ops:
        if isinstance(op, ToManualOp):
            if op.operand.owner in leader and not isinstance(op.operand.owner, FromManualOp):
                raise _nested(op)
            leader[op] = op
            continue
        owners = [owner for value in _used(op) if (owner := _owner(value, block)) is not None]
        inner = [owner for owner in owners if owner in leader and not isinstance(owner, FromManualOp)]
        if inner or isinstance(op, FromManualOp):
            leader[op] = op
            for owner in inner:
                leader[find(owner)] = find(op)
    found: dict[Operation, _Group] = {}
    for op in leader:
        group = found.setdefault(find(op), _Group())
        place = (
            group.entries
            if isinstance(op, ToManualOp)
            else group.exits
            if isinstance(op, FromManualOp)
            else group.inside
        )
        place.append(op)  # pyright: ignore[reportArgumentType]
    return [group for group in found.values() if group.exits]


def _used(op: Operation) -> Iterator[SSAValue]:
    """What an op and the regions inside of it use."""
    for inner in op.walk():
        yield from inner.operands


def _owner(value: SSAValue, block: Block) -> Operation | None:
    """The op of the block itself that makes a value."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.parent is block else None


def _nested(op: Operation) -> Exception:
    return fault(
        "SW0723",
        "a manual computation inside of another one cannot be exported with annotations",
        op,
        help="export the program of each device instead: --to stablehlo",
    )


def _build(block: Block, group: _Group) -> sdy_ops.ManualComputationOp:
    anchor = _anchor(block, group)
    axes = {axis.name: None for cast in (*group.entries, *group.exits) for axis in cast.manual.data}
    body = Block(arg_types=[cast.result.type for cast in group.entries])
    for argument, cast in zip(body.args, group.entries, strict=True):
        argument.name_hint, argument.location = cast.result.name_hint, cast.location
    _copy_free(block, group)
    computation = sdy_ops.ManualComputationOp.create(
        operands=[cast.operand for cast in group.entries],
        result_types=[cast.result.type for cast in group.exits],
        properties={
            "in_shardings": _per_value([cast.operand for cast in group.entries], anchor),
            "out_shardings": _per_value([cast.result for cast in group.exits], anchor),
            "manual_axes": sdy_ops.ManualAxesAttr(tuple(axes)),
        },
        regions=[Region(body)],
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


def _per_value(values: Sequence[SSAValue], place: Operation) -> sdy.ShardingPerValueAttr:
    specs = [layout_of(value) for value in values]
    return sdy.ShardingPerValueAttr(tuple(sharding(spec, place) for spec in specs if spec is not None))


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
    outside = [value for value in _used(op) if _owner(value, block) is None and not _within(value, op)]
    if outside or not is_pure(op) or isinstance(op, FromManualOp):
        raise fault(
            "SW0723",
            f"a manual computation uses the result of '{op.name}' op from outside of it",
            op,
            help="export the program of each device instead: --to stablehlo",
        )
    copy = op.clone()
    copies[op] = copy
    for old, new in zip(op.walk(), copy.walk(), strict=True):
        new.location = old.location
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


def _within(value: SSAValue, op: Operation) -> bool:
    """Whether a value is made inside of the regions of an op."""
    blocks: Iterable[Block] = (block for inner in op.walk() for region in inner.regions for block in region.blocks)
    return any(value.owner is block for block in blocks) or any(value.owner is inner for inner in op.walk())
