"""Into how many parts the layouts that the user gave split a dim of a traced value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from shardwright.compiler.tracing.emit import trace_now
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import dtensor
from shardwright.rules.sharding import ROWS, rule_for


def batch_parts(value: Tracer, dim: int) -> int | None:
    """
    The number of parts of a dim, None where no layout says so.

    Where a value has no layout yet, the dims of the operands from which this one comes are asked, as their ops' rules
    say: a batch that is split stays split.
    """
    known: int | None = None
    seen: set[tuple[SSAValue, int]] = set()
    waiting = [(value.value, dim)]
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        parts = _given(*place)
        if parts is None:
            waiting += _sources(*place)
        elif parts > 1:
            return parts
        else:
            known = 1
    return known


def _given(value: SSAValue, dim: int) -> int | None:
    """The parts of a dim where the layout of the value is given."""
    if isinstance(value, BlockArgument):
        layout = trace_now().layouts.get(value)
        spec, mesh = (None, None) if layout is None else (layout.spec, layout.mesh)
    else:
        spec = dtensor.layout_of(value)
        mesh = None if spec is None else next((mesh for mesh in trace_now().meshes if mesh.name == spec.mesh), None)
    if spec is None or mesh is None or dim in spec.open_dims:
        return None
    return math.prod(axis.size or mesh.sizes[axis.name] for axis in spec.dims[dim])


def _sources(value: SSAValue, dim: int) -> Iterator[tuple[SSAValue, int]]:
    """The dims of other values that go together with a dim of this one."""
    if isinstance(value, BlockArgument):
        around = value.block.parent_op()
        return _alike(value, [] if around is None else around.operands[value.index : value.index + 1], dim)
    assert isinstance(value, OpResult)
    op = value.op
    if op.name in ROWS and not op.regions:
        return _by_rule(value, op, dim)
    ends = [block.last_op for region in op.regions for block in region.blocks]
    inner = [end.operands[value.index] for end in ends if end is not None and value.index < len(end.operands)]
    return _alike(value, [*inner, *op.operands[value.index : value.index + 1]], dim)


def _alike(value: SSAValue, others: Sequence[SSAValue], dim: int) -> Iterator[tuple[SSAValue, int]]:
    """Values that go into a loop, a branch or a wrapper, or come out of it, and have the same shape."""
    return ((other, dim) for other in others if other.type == value.type)


def _by_rule(value: OpResult, op: Operation, dim: int) -> Iterator[tuple[SSAValue, int]]:
    """The dims of operands that share the first factor of a dim of the result."""
    rule = rule_for(op)
    factors = rule.results[value.index][dim]
    for operand, dims in zip(op.operands, rule.operands, strict=True):
        for at, other in enumerate(dims):
            if factors and other and other[0] == factors[0]:
                yield operand, at
