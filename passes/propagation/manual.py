"""
What manual computations reserve: the mesh axes that layouts inside may not name.

Inside, devices hold different tensors along the manual axes, which no layout says. A value is inside when it comes from
a cast into a manual computation, or from an op that handles devices itself; it is outside again after the cast back.
"""

from __future__ import annotations

from collections.abc import Iterable

from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.dtensor.hints import GroupOp
from shardwright.dialects.dtensor.manual import FromManualOp, manual_axes
from shardwright.dialects.text.locations import fault
from shardwright.layout.axes import Axis
from shardwright.passes.program import Axes, Node, Program


def reserve_axes(program: Program) -> None:
    """
    Fills in `Node.reserved` and `Program.reserved`.

    Raises SW0462 for a layout that names an axis reserved at its value, and SW0463 for a result of the program that
    differs between devices of a manual axis.
    """
    own = [manual_axes(node.op) for node in program.nodes]
    if not any(own):
        return
    found: list[frozenset[Axis]] = [frozenset()] * len(program.values)
    changed = True
    while changed:
        # Only what loops carry makes a second round necessary.
        changed = False
        for node, mine in zip(program.nodes, own, strict=True):
            changed = _visit(program, node, mine, found) or changed
    for number, axes in enumerate(found):
        program.reserved[number] = _in_order(axes, program)
        _check_layout(program, number)
    for node, mine in zip(program.nodes, own, strict=True):
        node.reserved = _in_order({*mine, *(axis for at in node.operands for axis in program.reserved[at])}, program)
    _check_results(program)


def _in_order(axes: Iterable[Axis], program: Program) -> Axes:
    """Axes as the mesh has them: sets have no order that two runs share."""
    order = list(program.mesh.sizes)
    return tuple(sorted(axes, key=lambda axis: (order.index(axis.name), axis)))


def _visit(program: Program, node: Node, mine: Axes, found: list[frozenset[Axis]]) -> bool:
    axes = frozenset(mine).union(*(found[value] for value in node.operands))
    left = axes
    if isinstance(node.op, FromManualOp):
        left = frozenset(axis for axis in axes if not program.overlaps([axis], mine))
    values = [value for value in (*node.results, *_decided(program, node)) if not left <= found[value]]
    for value in values:
        found[value] |= left
    return bool(values)


def _decided(program: Program, node: Node) -> list[int]:
    """What depends on a part without results: the value that it ties, or all results of the branch that it chooses."""
    if node.results or isinstance(node.op, GroupOp):
        return []
    if node.uses[-1] is None:
        return [node.operands[-1]]
    return [program.numbers[result] for result in node.op.results if result in program.numbers]


def _check_layout(program: Program, number: int) -> None:
    spec, reserved = layout_of(program.values[number]), program.reserved[number]
    for axis in spec.axes() if spec is not None and reserved else ():
        if program.overlaps([axis], reserved):
            raise fault(
                "SW0462",
                f"a layout names {axis}, a manual axis of the computation around it",
                program.values[number],
                word=str(axis),
                notes=(f"the layout is {spec}",),
                help="inside of a manual computation layouts may name its other axes only",
            )


def _check_results(program: Program) -> None:
    for place, value in enumerate(program.return_op.operands):
        reserved = program.reserved[program.numbers[value]]
        if reserved:
            raise fault(
                "SW0463",
                f"result {place} of the program differs between devices along "
                f"{', '.join(axis.brief() for axis in reserved)}",
                value,
                notes=("partition_id and explicit collectives mean something in manual computations only",),
                help="make these axes manual axes of the sdy.manual_computation (shard_map) around the op",
            )
