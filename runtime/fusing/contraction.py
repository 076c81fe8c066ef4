"""
Sums over devices folded into what makes the partial results: matrix products, and scatters onto zeros.

A product whose operands both vary along a mesh atom, summed over that atom by an all-reduce and used nowhere else, is
one product whose sum also runs over the atom: the partial results are never stored. The ledger still counts them. A
scatter that adds up, say the gradient of an embedding, likewise adds the updates of all devices to one table.

```
%0 = dot %a, %b            : (8 devices) x [256, 1024]      %0 = dot %a, %b, summed over devices too
%1 = transpose %0          : (8 devices) x [1024, 256]  ->  %1 = transpose %0
%2 = reduce sum over devices %1                             (gone: %1 takes its place)
```
"""

from __future__ import annotations

from shardwright.runtime.program import Dot, Kind, Program, Step, Value


def fold_device_sums(program: Program, replaced: dict[Value, Value] | None = None) -> None:
    """
    Rewrites the program in place, and those of its loops and branches, in one walk.

    `replaced` holds the values that others have taken the place of, in the programs around this one.
    """
    readers = _reader_counts(program)
    replaced = {} if replaced is None else replaced
    kept: list[Step] = []
    for step in program.steps:
        step.operands = tuple(replaced.get(operand, operand) for operand in step.operands)
        for inner in step.programs:
            fold_device_sums(inner, replaced)
        chain = _partial_chain(step, program.lead, readers)
        if chain is None:
            kept.append(step)
            continue
        _sum_inside(chain, step.static[0])
        replaced[step.results[0]] = step.operands[0]
        readers[step.operands[0]] = readers[step.results[0]]
    program.steps = kept
    program.outputs = [replaced.get(value, value) for value in program.outputs]


def _partial_chain(step: Step, lead: int, readers: dict[Value, int]) -> list[Step] | None:
    """The product or the scatter, then the views, that lead to a sum over devices, if nothing else reads them."""
    if step.kind is not Kind.REDUCE or step.name != "sum" or any(dim >= lead for dim in step.static[0]):
        return None
    chain: list[Step] = []
    value = step.operands[0]
    while value.producer is not None and readers.get(value) == 1:
        chain.append(value.producer)
        if value.producer.kind is Kind.DOT:
            return chain if _sums_over(value.producer, step.static[0]) else None
        if value.producer.kind is Kind.CALL:
            return chain if _adds_up(value.producer, step.static[0]) else None
        if not _keeps_lead(value.producer, lead):
            return None
        value = value.producer.operands[0]
    return None


def _keeps_lead(step: Step, lead: int) -> bool:
    if step.kind is Kind.TRANSPOSE:
        return step.static[0][:lead] == tuple(range(lead))
    return step.kind is Kind.RESHAPE and step.operands[0].shape[:lead] == step.results[0].shape[:lead]


def _sums_over(product: Step, dims: tuple[int, ...]) -> bool:
    """Whether both operands of a product vary along all of these leading dims."""
    dot = product.static[0]
    assert isinstance(dot, Dot)
    return all((dim, dim) in dot.batch and all(operand.shape[dim] > 1 for operand in product.operands) for dim in dims)


def _adds_up(step: Step, dims: tuple[int, ...]) -> bool:
    """Whether a call is a scatter that adds numbers to zeros, others along all of these leading dims."""
    if step.name != "scatter" or step.static[1] != "sum":
        return False
    table, *given = step.operands
    zeros = table.splat is not None and table.dtype.kind != "b" and not table.splat
    return zeros and all(any(operand.shape[dim] > 1 for operand in given) for dim in dims)


def _sum_inside(chain: list[Step], dims: tuple[int, ...]) -> None:
    first = chain[-1]
    if first.kind is Kind.CALL:
        lead, kind, numbers, *over = first.static
        first.static = (lead, kind, numbers, tuple(sorted({*dims, *(over[0] if over else ())})))
    else:
        dot = first.static[0]
        first.static = (Dot(dot.batch, (*((dim, dim) for dim in dims), *dot.contract)),)
    for step in chain:
        value = step.results[0]
        value.shape = tuple(1 if dim in dims else extent for dim, extent in enumerate(value.shape))


def _reader_counts(program: Program) -> dict[Value, int]:
    """How often each value that the program makes is read, by steps other than the ledger's and as a result."""
    counts: dict[Value, int] = {result: 0 for step in program.steps for result in step.results}
    reads = [value for step in program.steps if step.kind not in (Kind.COUNT, Kind.FENCE) for value in step.operands]
    for value in (*reads, *program.outputs):
        if value in counts:
            counts[value] += 1
    return counts
