"""Scans: running sums and their kin as windows that grow, all others as loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import Builder, appending, body_of, returned
from shardwright.dialects.chlo.along import ScanOp, applied
from shardwright.dialects.types import element_of, shape_of
from shardwright.layout.planning.sweep import Sweep
from shardwright.passes.decomposing.parts import Decomposition, Site
from shardwright.rules.reductions import MONOIDS, Monoid, identity_of


def _scan(op: ScanOp, site: Site) -> Sequence[SSAValue]:
    """Windows that grow where one op combines, else a loop."""
    only = applied(op)
    monoid = None if only is None else MONOIDS.get(type(only))
    if not shape_of(op.inputs[0])[op.dim]:
        return [*(site.zeros(output) for output in op.outputs), *op.inits]
    return _loop(op, site) if monoid is None else _running(op, monoid, site)


def _running(op: ScanOp, monoid: Monoid, site: Site) -> Sequence[SSAValue]:
    """Each element combined with all before it, which is how JAX writes it for CPUs; and the last of them."""
    (value,), (init,), dim = op.inputs, op.inits, op.dim
    shape = shape_of(value)
    extent = shape[dim]
    growing = Sweep(extent, high=extent - 1) if op.reverse else Sweep(extent, low=extent - 1)
    sweeps = [growing if at == dim else Sweep(1) for at in range(len(shape))]
    neutral = site.literal(identity_of(monoid, value), element_of(value))
    found = site.put(stablehlo.ReduceWindowOp([value], [neutral], sweeps, monoid.combiner))
    if not _is_neutral(init, monoid):
        start = site.broadcast(init, shape, [at for at in range(len(shape)) if at != dim])
        found = site.put(monoid.combiner.create(operands=[start, found], result_types=[found.type]))
    last = 0 if op.reverse else extent - 1
    return [found, _element(found, dim, last, site) if any(op.carries[0].uses) else init]


def _is_neutral(init: SSAValue, monoid: Monoid) -> bool:
    made = init.owner
    if isinstance(made, stablehlo.BroadcastInDimOp):
        made = made.operand.owner
    if not isinstance(made, stablehlo.ConstantOp) or not stablehlo.is_splat(made):
        return False
    return bool(stablehlo.splat_value(made) == identity_of(monoid, init)[()])


def _element(value: SSAValue, dim: int, place: int, build: Builder) -> SSAValue:
    shape = shape_of(value)
    starts, limits = [0] * len(shape), list(shape)
    starts[dim], limits[dim] = place, place + 1
    return build.reshape(build.slice(value, starts, limits), (*shape[:dim], *shape[dim + 1 :]))


def _loop(op: ScanOp, site: Site) -> Sequence[SSAValue]:
    """A loop over the places along the dim, which carries what the body carries and the outputs so far."""
    count = shape_of(op.inputs[0])[op.dim]
    carried = [site.literal(0, i32), *op.inits, *(site.zeros(output) for output in op.outputs)]
    types = [value.type for value in carried]
    condition, body = Block(arg_types=types), Block(arg_types=types)
    test = appending(condition)
    condition.add_op(stablehlo.ReturnOp(test.compare(condition.args[0], "LT", test.literal(count, i32))))
    _write_round(op, body, count)
    loop = site.insert(stablehlo.WhileOp(carried, Region(condition), Region(body)))
    split = 1 + len(op.inits)
    return [*loop.results[split:], *loop.results[1:split]]


def _write_round(op: ScanOp, block: Block, count: int) -> None:
    build, (number, *rest) = appending(block), block.args
    state, outputs = rest[: len(op.inits)], rest[len(op.inits) :]
    place = build.subtract(build.literal(count - 1, i32), number) if op.reverse else number
    values: dict[SSAValue, SSAValue] = dict(
        zip(op.body.block.args, [*(_taken(value, op.dim, place, build) for value in op.inputs), *state], strict=True)
    )
    for inner in body_of(op.body.block):
        block.add_op(inner.clone(values))
    made = [values.get(value, value) for value in returned(op.body.block)]
    written = [_put(*pair, op.dim, place, build) for pair in zip(outputs, made, strict=False)]
    following = build.add(number, build.literal(1, i32))
    block.add_op(stablehlo.ReturnOp(following, *made[len(outputs) :], *written))


def _taken(value: SSAValue, dim: int, place: SSAValue, build: Builder) -> SSAValue:
    shape = shape_of(value)
    row = build.window(value, _starts(value, dim, place, build), (*shape[:dim], 1, *shape[dim + 1 :]))
    return build.reshape(row, (*shape[:dim], *shape[dim + 1 :]))


def _put(whole: SSAValue, element: SSAValue, dim: int, place: SSAValue, build: Builder) -> SSAValue:
    shape = shape_of(whole)
    row = build.reshape(element, (*shape[:dim], 1, *shape[dim + 1 :]))
    return build.update(whole, row, _starts(whole, dim, place, build))


def _starts(value: SSAValue, dim: int, place: SSAValue, build: Builder) -> list[SSAValue]:
    return [place if at == dim else build.literal(0, i32) for at in range(len(shape_of(value)))]


SCANS: Mapping[type[Operation], Decomposition] = {ScanOp: _scan}
