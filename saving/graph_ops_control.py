"""TensorFlow's variables, calls of functions, branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import shardwright
from shardwright.compiler import emit
from shardwright.compiler.trace import Tracer
from shardwright.saving.graph_evaluate import Call, Resource, Value
from shardwright.saving.graph_table import row


@row("VarHandleOp")
def _handle(call: Call) -> Resource:
    name = call["shared_name"] or call.node.name
    variable = call.interpreter.state.variables.get(name)
    if variable is None:
        raise call.fault(f"the variable {name!r} has no value", "SW0892")
    return Resource(name, variable)


@row("VariableV2", "Variable")
def _variable(call: Call) -> Any:
    name = call["shared_name"] or call.node.name
    variable = call.interpreter.state.variables.get(name)
    if variable is None:
        raise call.fault(f"the variable {name!r} has no value", "SW0892")
    return variable.traced()


@row("ReadVariableOp")
def _read(call: Call, resource: Resource) -> Tracer:
    return resource.variable.traced()


@row("AssignVariableOp")
def _assign(call: Call, resource: Resource, value: Any) -> None:
    resource.variable.assign(value)


@row("AssignAddVariableOp")
def _assign_add(call: Call, resource: Resource, value: Any) -> None:
    resource.variable.assign_add(value)


@row("AssignSubVariableOp")
def _assign_sub(call: Call, resource: Resource, value: Any) -> None:
    resource.variable.assign_sub(value)


@row("VarIsInitializedOp")
def _is_initialized(call: Call, resource: Resource) -> Value:
    return np.array(True)


@row("VariableShape")
def _variable_shape(call: Call, resource: Resource) -> Value:
    return np.array(resource.variable.shape, call.dtype("out_type"))


@row("PartitionedCall", "StatefulPartitionedCall")
def _partitioned_call(call: Call, *values: Value) -> tuple[Value, ...]:
    return tuple(call.interpreter.call(call["f"].name, values, call.node))


@row("If", "StatelessIf")
def _if(call: Call, condition: Any, *values: Value) -> Any:
    branches = [call["else_branch"].name, call["then_branch"].name]
    if isinstance(condition, np.ndarray):
        return tuple(call.interpreter.call(branches[bool(condition)], values, call.node))
    chosen = condition if condition.dtype == np.bool_ else shardwright.any(shardwright.not_equal(condition, 0))
    on_false, on_true = (_branch(call, name, values) for name in branches)
    return shardwright.cond(chosen, on_true, on_false)


@row("Case", "StatelessCase")
def _case(call: Call, index: Any, *values: Value) -> Any:
    branches = [branch.name for branch in call["branches"]]
    last = len(branches) - 1
    if isinstance(index, np.ndarray):
        chosen = int(index) if 0 <= index <= last else last
        return tuple(call.interpreter.call(branches[chosen], values, call.node))
    inside = shardwright.logical_and(shardwright.greater_equal(index, 0), shardwright.less_equal(index, last))
    place = shardwright.where(inside, index, last)
    return shardwright.switch(place, [_branch(call, name, values) for name in branches])


def _branch(call: Call, name: str, values: Sequence[Value]) -> Callable[[], tuple[Any, ...]]:
    """A branch as a function without arguments; what it gives back is traced, since another one may be taken."""

    def run() -> tuple[Any, ...]:
        return tuple(_traced(call, value) for value in call.interpreter.call(name, values, call.node))

    return run


def _traced(call: Call, value: Value) -> Tracer:
    if isinstance(value, Resource) or value.dtype.kind == "O":
        raise call.fault("handles and strings cannot go through branches and loops", "SW0889")
    return value if isinstance(value, Tracer) else emit.as_tracer(_splat(value), call.node.op)


def _splat(value: np.ndarray[Any, Any]) -> Any:
    """A known array that repeats one element without memory, made in the program."""
    if value.nbytes <= emit.LITERAL_LIMIT:
        return value
    return shardwright.broadcast_to(np.array(value[(0,) * value.ndim]), value.shape)


@row("While", "StatelessWhile")
def _while(call: Call, *values: Value) -> tuple[Value, ...]:
    """What the body gives back as it came, handles and sizes above all, does not go round with the loop."""
    body = call.interpreter.state.library.function(call["body"].name, str(call.node))
    if len(body.results) != len(values):
        raise call.fault(f"its body gives {len(body.results)} values for {len(values)}")
    moving = [place for place in range(len(values)) if not body.unchanged(place)]

    def whole(state: Sequence[Any]) -> list[Value]:
        given = list(values)
        for place, value in zip(moving, state, strict=True):
            given[place] = value
        return given

    def test(state: Sequence[Any]) -> Any:
        (found,) = call.interpreter.call(call["cond"].name, whole(state), call.node)
        traced = _traced(call, found)
        return traced if traced.dtype == np.bool_ else shardwright.any(shardwright.not_equal(traced, 0))

    def step(state: Sequence[Any]) -> tuple[Any, ...]:
        results = call.interpreter.call(body.name, whole(state), call.node)
        return tuple(_traced(call, results[place]) for place in moving)

    start = tuple(_traced(call, values[place]) for place in moving)
    return tuple(whole(shardwright.while_loop(test, step, start) if moving else ()))
