"""TensorFlow's variables, calls of functions, branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from shardwright.compiler.control.regions import region_of
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.trace import Tracer
from shardwright.frontends import arrays
from shardwright.frontends.tensorflow.importing.evaluate import (
    Call,
    Handle,
    Items,
    Perhaps,
    Resource,
    Rows,
    Value,
    fits,
    rows,
    unrolled,
)
from shardwright.frontends.tensorflow.importing.table import row
from shardwright.frontends.training.variables import Variable
from shardwright.serialization.protos import graph_pb2

MOST_ROUNDS = 4096
"""How often a loop may run that is written round by round."""


@row("VarHandleOp")
def _handle(call: Call) -> Resource:
    return Resource(call["shared_name"] or call.node.name, _known_variable(call))


def _known_variable(call: Call) -> Variable:
    """The variable of a node, which must be of the type and shape that the node says."""
    name = call["shared_name"] or call.node.name
    variable = call.interpreter.state.variables.get(name)
    if variable is None:
        raise call.fault(f"the variable {name!r} has no value", "SW0892")
    dtype, shape = call.dtype("dtype"), call["shape"]
    if variable.dtype != dtype or (shape is not None and not fits(variable.shape, shape)):
        found, due = f"{variable.dtype.name}{list(variable.shape)}", f"{dtype.name}{list(shape or ['...'])}"
        raise call.fault(f"the variable {name!r} is {found}, and the graph says {due}", "SW0892")
    return variable


ASSIGNMENTS = {
    "AssignAddVariableOp": Variable.assign_add,
    "AssignSubVariableOp": Variable.assign_sub,
    "AssignVariableOp": Variable.assign,
}


@row(*ASSIGNMENTS)
def _assign(call: Call, resource: Resource, value: Any) -> None:
    ASSIGNMENTS[call.node.op](resource.variable, value)


@row("If", "StatelessIf")
def _if(call: Call, condition: Any, *values: Value) -> Any:
    branches = [call["else_branch"].name, call["then_branch"].name]
    if isinstance(condition, np.ndarray):
        return call.interpreter.call(branches[bool(condition)], values, call.node)
    chosen = condition if condition.dtype == np.bool_ else arrays.any(arrays.not_equal(condition, 0))
    like = _perhaps(call, branches, values)
    on_false, on_true = (_branch(call, name, values, like) for name in branches)
    found = arrays.cond(chosen, on_true, on_false)
    return tuple(Perhaps(value) if place in like else value for place, value in enumerate(found))


def _perhaps(call: Call, branches: Sequence[str], values: Sequence[Value]) -> dict[int, Tracer]:
    """
    What only one of the branches has, by its place among the results: its type and shape.

    The branches are written once for that, and thrown away.
    """
    library, found = call.interpreter.state.library, dict[int, Tracer]()
    outputs = (library.function(name, str(call.node)).signature.output_arg for name in branches)
    if not any(argument.type == graph_pb2.DT_VARIANT for listed in outputs for argument in listed):
        return found
    for name in branches:

        def write(_: Sequence[Tracer], name: str = name) -> list[Tracer]:
            for place, value in enumerate(call.interpreter.call(name, values, call.node)):
                if isinstance(value, Perhaps) and value.value is not None:
                    found[place] = _traced(call, value.value)
            return []

        region_of([], write, {})
    return found


@row("Case", "StatelessCase")
def _case(call: Call, index: Any, *values: Value) -> Any:
    branches = [branch.name for branch in call["branches"]]
    last = len(branches) - 1
    if isinstance(index, np.ndarray):
        chosen = int(index) if 0 <= index <= last else last
        return call.interpreter.call(branches[chosen], values, call.node)
    inside = arrays.logical_and(arrays.greater_equal(index, 0), arrays.less_equal(index, last))
    place = arrays.where(inside, index, last)
    return arrays.switch(place, [_branch(call, name, values) for name in branches])


def _branch(
    call: Call, name: str, values: Sequence[Value], like: Mapping[int, Tracer] = MappingProxyType({})
) -> Callable[[], tuple[Any, ...]]:
    """
    A branch as a function without arguments; what it gives back is traced, since another one may be taken.

    What it has not, and another one has, is zeros, which nothing reads: whoever takes them asks for the same condition.
    """

    def run() -> tuple[Any, ...]:
        results: list[Any] = list(call.interpreter.call(name, values, call.node))
        if any(isinstance(value, Rows | Items) for value in results):
            raise call.fault("lists of tensors cannot come out of branches", "SW0889")
        for place, other in like.items():
            one = results[place]
            own = one.value if isinstance(one, Perhaps) else one
            results[place] = arrays.zeros(other.shape, dtype=other.dtype) if own is None else own
        return tuple(_traced(call, value) for value in results)

    return run


def _traced(call: Call, value: Value) -> Tracer:
    value = value.array if isinstance(value, Rows) and value.array is not None else value
    if isinstance(value, Handle) or value.dtype.kind == "O":
        raise call.fault("handles, strings and lists of unknown shapes cannot go through branches and loops", "SW0889")
    return value if isinstance(value, Tracer) else emit.as_tracer(unrolled(value), call.node.op)


@row("PartitionedCall", "StatefulPartitionedCall")
def _called(call: Call, *values: Value) -> tuple[Value, ...]:
    return call.interpreter.call(call["f"].name, values, call.node)


@row("While", "StatelessWhile")
def _while(call: Call, *values: Value) -> tuple[Value, ...]:
    return _Loop(call, list(values)).run()


class _Loop:
    """A loop: what its body gives back as it came, handles and sizes above all, does not go round with it."""

    def __init__(self, call: Call, values: list[Value]) -> None:
        self.call = call
        self.values = values
        self.body = call.interpreter.state.library.function(call["body"].name, str(call.node))
        if len(self.body.results) != len(values):
            raise call.fault(f"its body gives {len(self.body.results)} values for {len(values)}")
        self.moving = [place for place in range(len(values)) if not self.body.unchanged(place)]

    def run(self) -> tuple[Value, ...]:
        """What the loop ends with."""
        if not self.moving:
            return tuple(self.values)
        if any(isinstance(value, Items) for value in self.values):
            return self._round_by_round()
        self._fill_lists()
        start = tuple(_traced(self.call, self.values[place]) for place in self.moving)
        return tuple(self._whole(self.moving, arrays.while_loop(self._test, self._step, start)))

    def _round_by_round(self) -> tuple[Value, ...]:
        """A loop in which a list grows: how often it runs must be known."""
        values: Sequence[Value] = self.values
        for _ in range(MOST_ROUNDS):
            (found,) = self.call.interpreter.call(self.call["cond"].name, values, self.call.node)
            if not isinstance(found, np.ndarray):
                way = "a list grows in it, and how often it runs comes from data"
                raise self.call.fault(way, "SW0890")
            if not found.any():
                return tuple(values)
            values = self.call.interpreter.call(self.body.name, values, self.call.node)
        raise self.call.fault(f"a list grows in it, and it runs more than {MOST_ROUNDS} times", "SW0890")

    def _whole(self, places: Sequence[int], state: Sequence[Tracer]) -> list[Value]:
        """All values, those at these places as the loop has them; the array of a list stands for the list."""
        given = list(self.values)
        for place, value in zip(places, state, strict=True):
            before = given[place]
            given[place] = replace(before, array=value) if isinstance(before, Rows) else value
        return given

    def _test(self, state: Sequence[Tracer]) -> Any:
        given = self._whole(self.moving, state)
        (found,) = self.call.interpreter.call(self.call["cond"].name, given, self.call.node)
        traced = _traced(self.call, found)
        return traced if traced.dtype == np.bool_ else arrays.any(arrays.not_equal(traced, 0))

    def _step(self, state: Sequence[Tracer]) -> tuple[Tracer, ...]:
        results = self._results(self.moving, state)
        return tuple(_traced(self.call, results[place]) for place in self.moving)

    def _results(self, places: Sequence[int], state: Sequence[Tracer]) -> tuple[Value, ...]:
        return self.call.interpreter.call(self.body.name, self._whole(places, state), self.call.node)

    def _fill_lists(self) -> None:
        """
        Makes the arrays of lists whose elements have no known shape yet.

        The body is written once for what it puts into them, and thrown away.
        """
        unknown = [place for place in self.moving if _is_unknown(self.values[place])]
        if not unknown:
            return
        others = [place for place in self.moving if place not in unknown]
        found: list[Value] = []

        def write(state: Sequence[Tracer]) -> list[Tracer]:
            found[:] = self._results(others, state)
            return []

        region_of([_traced(self.call, self.values[place]) for place in others], write, {})
        for place in unknown:
            rows = found[place]
            if not isinstance(rows, Rows) or rows.array is None:
                raise self.call.fault("the elements of a list have no known shape", "SW0890")
            self.values[place] = replace(rows, array=arrays.zeros(rows.array.shape, dtype=rows.dtype))


def _is_unknown(value: Value) -> bool:
    return isinstance(value, Rows) and value.array is None


def _value_of(call: Call, given: Perhaps) -> tuple[Value, ...]:
    if given.value is None:
        raise call.fault("the value of a branch that is not taken is asked for")
    return (given.value,)


rows(
    {
        "OptionalFromValue": lambda call, value: Perhaps(value),
        "OptionalGetValue": _value_of,
        "OptionalNone": lambda call: Perhaps(None),
        "ReadVariableOp": lambda call, resource: resource.variable.traced(),
        "VarIsInitializedOp": lambda call, resource: np.array(True),
        "Variable": lambda call: _known_variable(call).traced(),
        "VariableShape": lambda call, resource: np.array(resource.variable.shape, call.dtype("out_type")),
        "VariableV2": lambda call: _known_variable(call).traced(),
    }
)
