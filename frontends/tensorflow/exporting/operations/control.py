"""Loops and branches, as functions of the library for `StatelessWhile`, `StatelessIf` and `StatelessCase`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.frontends.tensorflow.exporting.emitter import (
    Emitter,
    again,
    free_values,
    handler,
    is_small_constant,
    missing,
)
from shardwright.frontends.tensorflow.exporting.nodes import BOOL, INT32, FunctionName, Tensor

Step: TypeAlias = Callable[[Emitter, Tensor, Sequence[Tensor], Sequence[Tensor]], "list[Tensor]"]
"""One round: takes the round's number, the state and what does not change; gives the next state."""

Test: TypeAlias = Callable[[Emitter, Sequence[Tensor]], Tensor]
Body: TypeAlias = Callable[[Emitter, Sequence[Tensor]], Sequence[Tensor]]


def _function(e: Emitter, name: str, arguments: Sequence[Tensor], body: Body) -> FunctionName:
    """A function of the library, with one argument for each tensor."""
    inner = Emitter(e.library)
    taken = [inner.argument(f"arg{place}", like) for place, like in enumerate(arguments)]
    inner.graph.outputs = list(body(inner, taken))
    return FunctionName(e.library.add(name, inner.graph))


def _calls(
    e: Emitter, kind: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor], **attributes: Any
) -> list[Tensor]:
    """The results of an operation that calls functions; `outputs` are like them."""
    first = e.node(
        kind, inputs, outputs[0].stored if outputs else (), outputs[0].dtype if outputs else INT32, **attributes
    )
    return [Tensor(first.node, place, like.dtype, like.stored, like.shape) for place, like in enumerate(outputs)]


def loop(
    e: Emitter, name: str, state: Sequence[Tensor], fixed: Sequence[Tensor], test: Test, body: Body
) -> list[Tensor]:
    """The last state: `test` and `body` take the state, then what does not change. The state is whole."""
    state = [e.whole(value) for value in state]
    carried, count = [*state, *fixed], len(state)

    def following(inner: Emitter, arguments: Sequence[Tensor]) -> list[Tensor]:
        return [*map(inner.whole, body(inner, arguments)), *arguments[count:]]

    functions = {
        "cond": _function(e, f"{name}_cond", carried, lambda inner, arguments: [test(inner, arguments)]),
        "body": _function(e, f"{name}_body", carried, following),
    }
    shapes = [value.stored for value in carried]
    types = [value.dtype for value in carried]
    made = _calls(
        e, "StatelessWhile", carried, carried, T=types, output_shapes=shapes, parallel_iterations=10, **functions
    )
    return made[:count]


def counted_loop(
    e: Emitter, name: str, rounds: int, state: Sequence[Tensor], fixed: Sequence[Tensor], step: Step
) -> list[Tensor]:
    """The state after so many rounds."""
    count = len(state)

    def test(inner: Emitter, arguments: Sequence[Tensor]) -> Tensor:
        return inner.call("Less", arguments[0], inner.splat(rounds, INT32), result=BOOL)

    def body(inner: Emitter, arguments: Sequence[Tensor]) -> list[Tensor]:
        turn, current, rest = arguments[0], arguments[1 : count + 1], arguments[count + 1 :]
        return [inner.call("AddV2", turn, inner.splat(1, INT32)), *step(inner, turn, current, rest)]

    return loop(e, name, [e.splat(0, INT32), *state], fixed, test, body)[1:]


def _outside(e: Emitter, blocks: Sequence[Block]) -> tuple[list[SSAValue], list[Tensor]]:
    """The values from outside that blocks use, without those that are written again, and their tensors."""
    free = [value for value in free_values(blocks) if not is_small_constant(value)]
    return free, [e.values[value] for value in free]


def _written(
    inner: Emitter, block: Block, arguments: Sequence[Tensor], free: Sequence[SSAValue], fixed: Sequence[Tensor]
) -> list[Tensor]:
    """What a block returns inside of a function, where `fixed` stand for the values from outside."""
    for value in free_values([block]):
        if is_small_constant(value):
            inner.values[value] = again(inner, value)
    inner.values.update(zip(free, fixed, strict=True))
    return inner.block(block, arguments)


@handler("stablehlo.while")
def _while(emitter: Emitter, op: Operation, operands: list[Tensor]) -> list[Tensor]:
    """What a round leaves as it is goes in beside the state."""
    assert isinstance(op, stablehlo.WhileOp)
    condition, body = op.condition.block, op.body.block
    changed = [at for at, value in enumerate(op.next_values) if value is not body.args[at]]
    constant = [at for at in range(len(operands)) if at not in changed]
    free, captured = _outside(emitter, [condition, body])
    fixed = [*(operands[at] for at in constant), *captured]
    split = len(changed) + len(constant)

    def arranged(arguments: Sequence[Tensor]) -> tuple[list[Tensor], Sequence[Tensor]]:
        place = {at: number for number, at in enumerate([*changed, *constant])}
        return [arguments[place[at]] for at in range(len(operands))], arguments[split:]

    def test(inner: Emitter, arguments: Sequence[Tensor]) -> Tensor:
        values, rest = arranged(arguments)
        return inner.whole(_written(inner, condition, values, free, rest)[0])

    def following(inner: Emitter, arguments: Sequence[Tensor]) -> list[Tensor]:
        values, rest = arranged(arguments)
        made = _written(inner, body, values, free, rest)
        return [made[at] for at in changed]

    ends = loop(emitter, emitter.scope or "while", [operands[at] for at in changed], fixed, test, following)
    known = dict(zip(changed, ends, strict=True))
    return [known.get(at, value) for at, value in enumerate(operands)]


@handler("stablehlo.if", "stablehlo.case")
def _branch(emitter: Emitter, op: Operation, operands: list[Tensor]) -> list[Tensor]:
    assert isinstance(op, stablehlo.IfOp | stablehlo.CaseOp)
    blocks = [region.block for region in op.regions]
    free, captured = _outside(emitter, blocks)

    def body(block: Block) -> Body:
        def run(inner: Emitter, arguments: Sequence[Tensor]) -> list[Tensor]:
            return [inner.whole(value) for value in _written(inner, block, [], free, arguments)]

        return run

    outputs = [missing(result) for result in op.results]
    return branches(emitter, op, operands[0], captured, outputs, [body(block) for block in blocks])


def branches(
    e: Emitter,
    op: stablehlo.IfOp | stablehlo.CaseOp,
    index: Tensor,
    captured: Sequence[Tensor],
    outputs: Sequence[Tensor],
    bodies: Sequence[Body],
) -> list[Tensor]:
    """The results of the branch that an index chooses, which are like `outputs`."""
    name = f"{e.scope or 'branch'}_branch"
    functions = [_function(e, name, captured, body) for body in bodies]
    types = {"Tin": [value.dtype for value in captured], "Tout": [value.dtype for value in outputs]}
    shapes = [value.shape for value in outputs]
    inputs = [e.whole(index), *captured]
    if isinstance(op, stablehlo.IfOp):
        both = {"then_branch": functions[0], "else_branch": functions[1], "Tcond": BOOL}
        return _calls(e, "StatelessIf", inputs, outputs, output_shapes=shapes, **types, **both)
    return _calls(e, "StatelessCase", inputs, outputs, output_shapes=shapes, branches=functions, **types)
