"""Loops and branches, as functions of the library for `StatelessWhile`, `StatelessIf` and `StatelessCase`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Block, SSAValue

from shardwright.dialects import stablehlo
from shardwright.frontends.tensorflow.exporting.emitter import Emitter, captured, handler, missing
from shardwright.frontends.tensorflow.exporting.nodes import BOOL, INT32, FunctionName, Tensor

Step: TypeAlias = "Callable[..., list[Tensor]]"
"""One round: takes the emitter, the round's number, the state and what does not change; gives the next state."""

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
    first = e.node(kind, inputs, (), outputs[0].dtype if outputs else INT32, **attributes)
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

    def test(inner: Emitter, arguments: Sequence[Tensor]) -> Tensor:
        return inner.call("Less", arguments[0], inner.splat(rounds, INT32), result=BOOL)

    def body(inner: Emitter, arguments: Sequence[Tensor]) -> list[Tensor]:
        return [inner.call("AddV2", arguments[0], inner.splat(1, INT32)), *step(inner, *arguments)]

    return loop(e, name, [e.splat(0, INT32), *state], fixed, test, body)[1:]


def _written(
    inner: Emitter, block: Block, arguments: Sequence[Tensor], free: Sequence[SSAValue], fixed: Sequence[Tensor]
) -> list[Tensor]:
    """What a block returns inside of a function, where `fixed` stand for the values from outside."""
    inner.repeat_constants([block])
    inner.values.update(zip(free, fixed, strict=True))
    return inner.block(block, arguments)


@handler("stablehlo.while")
def _while(emitter: Emitter, op: stablehlo.WhileOp, operands: list[Tensor]) -> list[Tensor]:
    """What a round leaves as it is goes in beside the state."""
    condition, body = op.condition.block, op.body.block
    changed = [at for at, value in enumerate(op.next_values) if value is not body.args[at]]
    constant = [at for at in range(len(operands)) if at not in changed]
    free = captured([condition, body])
    fixed = [*(operands[at] for at in constant), *(emitter.values[value] for value in free)]
    order = [*changed, *constant]

    def written(inner: Emitter, block: Block, arguments: Sequence[Tensor]) -> list[Tensor]:
        values = [arguments[order.index(at)] for at in range(len(order))]
        return _written(inner, block, values, free, arguments[len(order) :])

    def test(inner: Emitter, arguments: Sequence[Tensor]) -> Tensor:
        return inner.whole(written(inner, condition, arguments)[0])

    def following(inner: Emitter, arguments: Sequence[Tensor]) -> list[Tensor]:
        made = written(inner, body, arguments)
        return [made[at] for at in changed]

    ends = loop(emitter, emitter.scope or "while", [operands[at] for at in changed], fixed, test, following)
    known = dict(zip(changed, ends, strict=True))
    return [known.get(at, value) for at, value in enumerate(operands)]


@handler("stablehlo.if", "stablehlo.case")
def _branch(emitter: Emitter, op: stablehlo.IfOp | stablehlo.CaseOp, operands: list[Tensor]) -> list[Tensor]:
    blocks = [region.block for region in op.regions]
    free = captured(blocks)

    def body(inner: Emitter, block: Block, arguments: Sequence[Tensor]) -> list[Tensor]:
        return _written(inner, block, [], free, arguments)

    outputs = [missing(result) for result in op.results]
    return branches(emitter, op, operands[0], [emitter.values[value] for value in free], outputs, body)


def branches(
    e: Emitter,
    op: stablehlo.IfOp | stablehlo.CaseOp,
    index: Tensor,
    captured: Sequence[Tensor],
    outputs: Sequence[Tensor],
    body: Callable[[Emitter, Block, Sequence[Tensor]], Sequence[Tensor]],
) -> list[Tensor]:
    """The results of the branch that an index chooses, which are like `outputs`; `body` writes a branch's block."""

    def function(block: Block) -> FunctionName:
        def whole(inner: Emitter, arguments: Sequence[Tensor]) -> list[Tensor]:
            return [inner.whole(value) for value in body(inner, block, arguments)]

        return _function(e, f"{e.scope or 'branch'}_branch", captured, whole)

    functions = [function(region.block) for region in op.regions]
    attributes: dict[str, Any] = {
        "Tin": [value.dtype for value in captured],
        "Tout": [value.dtype for value in outputs],
        "output_shapes": [value.shape for value in outputs],
    }
    inputs = [e.whole(index), *captured]
    if isinstance(op, stablehlo.CaseOp):
        return _calls(e, "StatelessCase", inputs, outputs, branches=functions, **attributes)
    on_true, on_false = functions
    return _calls(
        e, "StatelessIf", inputs, outputs, then_branch=on_true, else_branch=on_false, Tcond=BOOL, **attributes
    )
