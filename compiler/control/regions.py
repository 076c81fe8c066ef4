"""Regions of a program that is being traced: Python functions written into blocks of their own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from xdsl.ir import Block, Operation, Region, SSAValue

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dtypes import DType, kind_of
from shardwright.compiler.tracing.reference import Reference
from shardwright.compiler.tracing.trace import Trace, Tracer
from shardwright.diagnostics.faults import type_error
from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.gradients import PrimalOp, WithGradientOp
from shardwright.dialects.types import dtype_element, tensor


@contextmanager
def writing_into(trace: Trace, block: Block) -> Generator[None]:
    """Lets the trace write into a block inside of the one at hand, for as long as the context lasts."""
    trace.open_blocks.append(block)
    try:
        yield
    finally:
        trace.open_blocks.pop()


class Typed(Protocol):
    """What has the shape and the type of an array."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> DType: ...


def region_of(
    like: Sequence[Typed],
    write: Callable[[list[Tracer]], Sequence[Tracer]],
    assigned: dict[Reference, Tracer] | None = None,
    variables: Sequence[Reference] = (),
) -> Region:
    """
    A region that takes values of the types of `like` and returns what `write` makes of them.

    What it assigns to variables goes into `assigned`, and is undone here; TypeError (SW0531) where nobody asks for it.
    The last arguments are what `variables` hold in the region.
    """
    trace = emit.trace_now()
    block = Block(arg_types=types_of(like))
    for argument, given in zip(block.args, like, strict=True):
        argument.location = trace.location
        if isinstance(given, Tracer):
            trace.settle_like([argument], [given.value])
    values = [Tracer(trace, argument) for argument in block.args]
    own, kept = values[: len(values) - len(variables)], values[len(values) - len(variables) :]
    with writing_into(trace, block), trace.assigning(zip(variables, kept, strict=True)) as made:
        results = write(own)
        last = stablehlo.ReturnOp(*[value.value for value in results])
        last.location = trace.location
        block.add_op(last)
    if assigned is not None:
        assigned.update(made)
    elif made:
        raise type_error(
            "SW0531",
            f"{next(iter(made)).name} is assigned to where only values are computed",
            "branches of cond and switch and bodies of while_loop and scan may assign to variables; conditions, "
            "functions that are computed again, and gradient functions may not",
            help="return the new value, and assign it afterwards",
        )
    return Region(block)


def branches_of(
    writes: Sequence[Callable[[Sequence[Tracer]], Sequence[Tracer]]],
) -> tuple[list[Region], list[Reference]]:
    """
    Regions without arguments, one for each branch, and the variables to which any of them assigns.

    Few frames lie between a branch and what is inside of it: graphs have branches within branches, 64 deep.

    What these hold at its end is returned by every branch, after its own results.
    """
    made: list[dict[Reference, Tracer]] = [{} for _ in writes]
    bodies: list[Region] = []
    for write, assigned in zip(writes, made, strict=True):
        bodies.append(region_of([], write, assigned))
    variables = list(dict.fromkeys(variable for assigned in made for variable in assigned))
    for body, assigned in zip(bodies, made, strict=True):
        last = body.block.last_op
        assert last is not None
        kept = [assigned.get(variable, emit.as_tracer(variable)) for variable in variables]
        last.operands = [*last.operands, *raw(kept)]
    return bodies, variables


def told_apart(reference: Reference, value: Tracer) -> Tracer:
    """
    What a variable holds once it is assigned a value, as a value of its own, which no tape follows to that.

    Inside of regions a tape cannot say by which values it asks: what is read there counts for one outside of each,
    which stands for what the variable holds within.
    """
    trace = emit.trace_now()
    if len(trace.open_blocks) == 1 or kind_of(value.dtype) not in ("float", "complex"):
        return emit.as_it_is(value)
    held, stands = emit.as_tracer(reference), None
    for block in trace.open_blocks[:-1]:
        with writing_into(trace, block):
            outer = emit.constant(0, held.dtype, held.shape) if stands is None else stands
            stands = trace.emit(PrimalOp(outer.value))
        trace.settle_like([stands.value], [held.value])
        trace.also_held(reference, stands)
    assert stands is not None
    block = Block(arg_types=types_of([value]))
    block.args[0].location = trace.location
    block.add_op(stablehlo.ReturnOp(block.args[0]))
    return put(WithGradientOp([value.value], [stands.value], Region(block)), [value.value])[0]


def assigned_after(results: Sequence[Tracer], variables: Sequence[Reference]) -> list[Tracer]:
    """The results of an op without the last ones, which are assigned to these variables."""
    count = len(results) - len(variables)
    for variable, value in zip(variables, results[count:], strict=True):
        emit.trace_now().assign(variable, value)
    return list(results[:count])


def put(op: Operation, like: Sequence[SSAValue] | None = None) -> list[Tracer]:
    """Adds an op with regions and any number of results: all on one mesh, or each where what it is `like` is."""
    trace = emit.trace_now()
    op.location = trace.location
    if like is None:
        trace.settle(op)
    else:
        trace.settle_like(op.results, like)
    trace.block.add_op(op)
    return [Tracer(trace, result) for result in op.results]


def types_of(values: Iterable[Typed]) -> list[Any]:
    """The tensor types of arrays."""
    return [tensor(value.shape, dtype_element(value.dtype)) for value in values]


def raw(values: Sequence[Tracer]) -> list[SSAValue]:
    """The values themselves."""
    return [value.value for value in values]


def loop(
    start: Sequence[Tracer],
    test: Callable[[list[Tracer]], Sequence[Tracer]],
    body: Callable[[list[Tracer]], Sequence[Tracer]],
) -> list[Tracer]:
    """
    A while loop over values, and what it ends with.

    Variables to which the body assigns go round with the values: the body is then written a second time, with what they
    hold among its arguments.
    """
    made: dict[Reference, Tracer] = {}
    region = region_of(start, body, made)
    variables = list(made)
    carried = [*start, *map(emit.as_tracer, variables)]
    if variables:
        region = region_of(carried, lambda values: [*body(values), *map(emit.as_tracer, variables)], {}, variables)
    condition = region_of(carried, test, None, variables)
    results = put(stablehlo.WhileOp(raw(carried), condition, region, types_of(carried)))
    return assigned_after(results, variables)
