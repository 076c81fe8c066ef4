"""
The array program between the IR and Python: values with static shapes, steps in order, and the builder.

A `Value` is a stacked array: the leading dims (`Program.lead` of them) are those of the mesh's atoms, of size 1 where
the value does not vary. Shapes are static, so variance is read off the shape. Values whose elements are all equal are
not arrays at all: they are *splats*, folded while building.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from shardwright.runtime.kernels import table as pointwise
from shardwright.runtime.kernels.elementwise import working_dtype
from shardwright.runtime.ledger import Message
from shardwright.runtime.stacking import identity

Shape = tuple[int, ...]


class Kind(StrEnum):
    """What sort of thing a step does."""

    POINTWISE = "pointwise"
    RESHAPE = "reshape"
    TRANSPOSE = "transpose"
    BROADCAST = "broadcast_to"
    SLICE = "slice"
    REDUCE = "reduce"
    DOT = "dot"
    CALL = "call"
    COUNT = "count"
    FENCE = "fence"
    SEND = "send"
    LOOP = "loop"
    TEST = "test"
    BRANCH = "branch"


EFFECT = "custom_effect"
"""The name of calls of Python for what happens there."""

VIEWS = frozenset({Kind.RESHAPE, Kind.TRANSPOSE, Kind.BROADCAST, Kind.SLICE})
"""The steps that move no data (a reshape may still have to)."""


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """An integer of a loop's program that is `start + step * round`, rounds counted from 0."""

    start: int
    step: int
    rounds: int
    program: Program

    def stays_within(self, low: int, high: int) -> bool:
        """Whether the number is in this range, ends included, in every round."""
        return all(low <= self.start + self.step * at <= high for at in (0, self.rounds - 1))


@dataclass(slots=True, eq=False)
class Value:
    """
    One stacked array, the scalar that all its elements equal (`splat`), or a number that the round gives.

    `across` are the leading dims, of size 1 here, along which it differs between processes.
    """

    shape: Shape
    dtype: np.dtype[Any]
    producer: Step | None = None
    splat: Any = None
    constant: bool = False
    counter: Counter | None = None
    across: frozenset[int] = frozenset()

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes that it takes when it has an array of its own."""
        return self.size * self.dtype.itemsize


LARGEST_CONSTANT = 1 << 26
"""Bytes above which a value that depends on no input is computed in each run all the same."""


@dataclass(slots=True, eq=False)
class Step:
    """
    One line of the program: `results = name(operands, static)`; what loops and branches run is in `programs`.

    A loop's operands are what it starts with, then the values from outside that its program uses. That program's
    inputs are the values carried, its outputs those of the next round; it ends the loop at its `TEST` step, whose
    operand says whether to go on. A branch's operands are its index, then what its programs use.
    """

    kind: Kind
    name: str
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    static: tuple[Any, ...] = ()
    location: str = ""
    number: int = 0
    programs: tuple[Program, ...] = ()

    @property
    def has_effects(self) -> bool:
        """Whether it is done for what happens in it, whoever needs its results."""
        return self.name == EFFECT


@dataclass
class Program:
    """
    The steps of one function, in order; `bodies` are the regions that general reductions call.

    The program of a loop or a branch uses values of the programs around it, and shares their `bodies` and `arrays`.
    """

    lead: int = 0
    inputs: list[Value] = field(default_factory=list[Value])
    outputs: list[Value] = field(default_factory=list[Value])
    steps: list[Step] = field(default_factory=list[Step])
    bodies: dict[str, Program] = field(default_factory=dict[str, "Program"])
    arrays: dict[Value, Any] = field(default_factory=dict[Value, Any])


def joint_shape(shapes: Sequence[Shape]) -> Shape:
    """The shape of what is made of arrays of these shapes, which most often have the same."""
    return shapes[0] if shapes and shapes.count(shapes[0]) == len(shapes) else np.broadcast_shapes(*shapes)


def root_of(value: Value) -> Value:
    """The value that a chain of views shows, or the value itself."""
    while value.producer is not None and value.producer.kind in VIEWS:
        value = value.producer.operands[0]
    return value


def values_from_outside(program: Program) -> list[Value]:
    """The values, other than constants, that a loop's or a branch's program takes from the programs around it."""
    own = {*program.inputs, *(result for step in program.steps for result in step.results)}
    used = [value for step in program.steps for value in step.operands] + program.outputs
    return [
        value
        for value in dict.fromkeys(used)
        if value not in own and value.splat is None and value not in program.arrays and not _counts(value, program)
    ]


def _counts(value: Value, program: Program) -> bool:
    return value.counter is not None and value.counter.program is program


def all_steps(program: Program) -> Iterator[Step]:
    """The steps of a program and of the programs in it."""
    for step in program.steps:
        yield step
        for inner in step.programs:
            yield from all_steps(inner)


@dataclass(frozen=True, slots=True)
class Dot:
    """
    The dims of a dot over stacked operands, leading dims included.

    `batch` pairs up dims of both operands that stay, `contract` those that are summed; a pair in both (a sum over
    devices) is summed and keeps size 1. The result has the leading dims, then the other batch dims, then the free dims
    of each operand in order.
    """

    batch: tuple[tuple[int, int], ...]
    contract: tuple[tuple[int, int], ...]


def _rank(name: str, operand: Value) -> int:
    """
    Which zero comes last among the operands of a maximum or minimum.

    Of two zeros NumPy takes the last one, and the maximum is +0.0, the minimum -0.0.
    """
    if operand.splat is None or operand.splat != 0 or working_dtype(operand.dtype).kind != "f":
        return 1
    return 2 if bool(np.signbit(float(operand.splat))) is (name == "minimum") else 0


class Builder:
    """Adds steps to a program, folding what is known while building."""

    def __init__(self, lead: int, around: Program | None = None) -> None:
        self.program = Program(lead) if around is None else Program(lead, bodies=around.bodies, arrays=around.arrays)
        self.location = ""

    @property
    def lead(self) -> int:
        """The number of leading dims."""
        return self.program.lead

    def input(self, shape: Shape, dtype: np.dtype[Any], across: Iterable[int] = ()) -> Value:
        """A new input of this stacked shape."""
        value = Value(shape, dtype, across=frozenset(across))
        self.program.inputs.append(value)
        return value

    def splat(self, scalar: Any, shape: Shape, dtype: np.dtype[Any]) -> Value:
        """A value whose elements all equal `scalar`."""
        return Value(shape, dtype, splat=dtype.type(scalar), constant=True)

    def array(self, array: np.ndarray[Any, Any], across: Iterable[int] = ()) -> Value:
        """A constant array, leading dims included."""
        value = Value(array.shape, array.dtype, constant=True, across=frozenset(across))
        self.program.arrays[value] = array
        return value

    def local(self, value: Value) -> Shape:
        """The per-device shape."""
        return value.shape[self.lead :]

    def _step(
        self,
        kind: Kind,
        name: str,
        operands: Sequence[Value],
        results: Sequence[Value],
        *static: Any,
        programs: Sequence[Program] = (),
    ) -> list[Value]:
        at = len(self.program.steps)
        step = Step(kind, name, tuple(operands), tuple(results), static, self.location, at, tuple(programs))
        differing = [operand.across for operand in operands if operand.across]
        for result in results:
            result.producer = step
            result.across = result.across.union(*differing)
        self.program.steps.append(step)
        return list(results)

    def _made(
        self, kind: Kind, name: str, operands: Sequence[Value], shape: Shape, dtype: np.dtype[Any], *static: Any
    ) -> Value:
        result = Value(shape, dtype, constant=all(operand.constant for operand in operands))
        return self._step(kind, name, operands, [result], *static)[0]

    def _view(self, kind: Kind, value: Value, shape: Shape, *static: Any) -> Value:
        if value.splat is not None:
            return self.splat(value.splat, shape, value.dtype)
        return self._made(kind, str(kind), [value], shape, value.dtype, *static)

    def pointwise(self, name: str, operands: Sequence[Value], dtype: np.dtype[Any], *static: Any) -> Value:
        """An element-wise function of operands that broadcast against each other."""
        shape = joint_shape([operand.shape for operand in operands])
        if name in ("maximum", "minimum"):
            operands = sorted(operands, key=lambda operand: _rank(name, operand))
        if all(operand.splat is not None for operand in operands):
            with np.errstate(all="ignore"):
                folded = pointwise.evaluate(name, [operand.splat for operand in operands], dtype, static)
            return self.splat(folded, shape, dtype)
        return self._made(Kind.POINTWISE, name, operands, shape, dtype, *static)

    def reshape(self, value: Value, shape: Shape) -> Value:
        """The same elements in row-major order under another shape."""
        return value if value.shape == shape else self._view(Kind.RESHAPE, value, shape)

    def transpose(self, value: Value, order: Sequence[int]) -> Value:
        """Dim `i` of the result is dim `order[i]`."""
        if tuple(order) == tuple(range(len(value.shape))):
            return value
        return self._view(Kind.TRANSPOSE, value, tuple(value.shape[dim] for dim in order), tuple(order))

    def broadcast(self, value: Value, shape: Shape) -> Value:
        """Dims of size 1 repeated up to `shape`."""
        return value if value.shape == shape else self._view(Kind.BROADCAST, value, shape)

    def slice(self, value: Value, ranges: Sequence[tuple[int, int, int]]) -> Value:
        """The elements `start:stop:step` of each dim; a negative step ends at `stop` exclusive (-1: at the start)."""
        shape = tuple(len(range(*item)) for item in ranges)
        if shape == value.shape and all(step > 0 for _, _, step in ranges):
            return value
        return self._view(Kind.SLICE, value, shape, tuple(ranges))

    def reduce(self, kind: str, value: Value, dims: Sequence[int]) -> Value:
        """Combines the elements along `dims`, which keep size 1."""
        shape = tuple(1 if dim in dims else extent for dim, extent in enumerate(value.shape))
        if not dims:
            return value
        if value.splat is not None and value.size and kind != "sum" and kind != "prod":
            return self.splat(value.splat, shape, value.dtype)
        if not value.size:
            return self.splat(identity(kind, value.dtype), shape, value.dtype)
        if value.shape == shape:
            return value
        return self._made(Kind.REDUCE, kind, [value], shape, value.dtype, tuple(dims))

    def dot(self, lhs: Value, rhs: Value, dims: Dot, shape: Shape, dtype: np.dtype[Any]) -> Value:
        """A general matrix product; see `Dot`."""
        return self._made(Kind.DOT, "dot", [lhs, rhs], shape, dtype, dims)

    def call(self, name: str, operands: Sequence[Value], shape: Shape, dtype: np.dtype[Any], *static: Any) -> Value:
        """A kernel of `runtime.kernels`."""
        return self._made(Kind.CALL, name, operands, shape, dtype, *static)

    def call_many(
        self, name: str, operands: Sequence[Value], shapes: Sequence[Shape], dtypes: Sequence[Any], *static: Any
    ) -> list[Value]:
        """A kernel with several results; they are never computed while planning, which keeps one array for a step."""
        results = [Value(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
        return self._step(Kind.CALL, name, operands, results, *static)

    def send(self, name: str, value: Value, plan: object, shape: Shape, across: Iterable[int]) -> Value:
        """What a `Communicator` makes of the arrays of several processes; `across` is where results differ."""
        result = Value(shape, value.dtype)
        self._step(Kind.SEND, name, [value], [result], plan)
        result.across = frozenset(across)
        return result

    def differing(self, value: Value, across: Iterable[int]) -> Value:
        """The same value, said to differ between processes along these leading dims."""
        seen = self._made(Kind.RESHAPE, str(Kind.RESHAPE), [value], value.shape, value.dtype, value.shape)
        seen.across = frozenset(across)
        return seen

    def test(self, predicate: Value) -> None:
        """The end of the loop that this program is the program of, unless `predicate` holds somewhere."""
        self._step(Kind.TEST, "test", [predicate], [])

    def loop(self, starts: Sequence[Value], program: Program, *static: Any) -> list[Value]:
        """A loop of this program, from these values; the values that it ends with."""
        return self._control(Kind.LOOP, starts, [program], static)

    def branch(self, index: Value, programs: Sequence[Program], *static: Any) -> list[Value]:
        """One of these programs, whose outputs have the same shapes: the one with this index, or the last."""
        return self._control(Kind.BRANCH, [index], programs, static)

    def _control(
        self, kind: Kind, own: Sequence[Value], programs: Sequence[Program], static: Sequence[Any]
    ) -> list[Value]:
        used = dict.fromkeys(value for program in programs for value in values_from_outside(program))
        columns = zip(*(program.outputs for program in programs), strict=True)
        across = [frozenset[int]().union(*(value.across for value in column)) for column in columns]
        results = [Value(value.shape, value.dtype) for value in programs[0].outputs]
        found = self._step(kind, str(kind), [*own, *used], results, *static, programs=programs)
        for result, differs in zip(found, across, strict=True):
            result.across = differs
        return found

    def absorb(self, program: Program) -> None:
        """Takes over the steps of a program that was built inside of this one."""
        for step in program.steps:
            step.number = len(self.program.steps)
            self.program.steps.append(step)

    def fence(self, value: Value) -> None:
        """What makes a value is not done together with what follows."""
        self._step(Kind.FENCE, "fence", [value], [])

    def count(self, message: Message, buffers: Sequence[Value]) -> None:
        """An entry in the ledger for these buffers."""
        self._step(Kind.COUNT, message.kind, buffers, [], message)
