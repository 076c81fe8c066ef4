"""
From an array program to Python text: one line for each step, each value freed after its last use.

No text of the module becomes code: names are made here, attributes become numbers, and constants go into a table.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shardwright.runtime.kernels import table as pointwise
from shardwright.runtime.kernels.table import dtype_text
from shardwright.runtime.program import VIEWS, Kind, Program, Step, Value

FOLDS = ("fold", "fold_extreme", "fold_window", "scatter_fold")
"""The kernels that give a tuple, of one array too."""


@dataclass
class Emitted:
    """Python text and the objects that its names stand for."""

    source: str
    constants: dict[str, Any]
    scratch_bytes: int = 0


@dataclass
class Table:
    """The objects that names in the text stand for; `names` holds those of objects with a key."""

    constants: dict[str, Any] = field(default_factory=dict[str, Any])
    names: dict[Any, str] = field(default_factory=dict[Any, str])

    def constant(self, item: Any, key: Any = None) -> str:
        """The name of an object: a new one, or the one that its key has."""
        if key in self.names:
            return self.names[key]
        name = f"c{len(self.constants)}"
        self.constants[name] = item
        if key is not None:
            self.names[key] = name
        return name

    def scalar(self, value: Value) -> str:
        """The name of a splat's scalar."""
        return self.constant(value.splat, (value.dtype, value.splat.tobytes()))

    def legend(self) -> Iterator[str]:
        """A comment on each object."""
        for name, item in self.constants.items():
            if isinstance(item, np.ndarray) and item.shape != ():
                yield f"# {name}: {item.dtype}{list(item.shape)}"
            elif isinstance(item, str) and "\n" in item:
                yield f"# {name}: a loop of {item.count(chr(10))} lines for LLVM"
            else:
                yield f"# {name} = {item!r}"


def comment(location: str) -> str:
    """What the end of a line says about where it comes from."""
    return f"  # {location}" if location else ""


def branch_head(index: str, number: int, last: int) -> str:
    """The line before one of several branches: the last one is for every number that no other is for."""
    if number < last:
        return f"    {'el' if number else ''}if {index} == {number}:"
    return "    else:" if last else "    if True:"


@dataclass
class _Writer(Table):
    """Names the values, too."""

    values: dict[Value, str] = field(default_factory=dict[Value, str])

    def operand(self, value: Value) -> str:
        """A value where any broadcastable operand will do."""
        return self.scalar(value) if value.splat is not None else self.values[value]

    def array(self, value: Value) -> str:
        """A value where an array of its own shape is needed."""
        if value.splat is not None:
            return f"xp.broadcast_to({self.scalar(value)}, {value.shape})"
        return self.values[value]

    def new(self, value: Value, prefix: str = "v") -> str:
        self.values[value] = name = f"{prefix}{len(self.values)}"
        return name


def generate(program: Program) -> Emitted:
    """The Python text of a program's function `main` and the reducers that it calls."""
    writer = _Writer()
    for value, array in program.arrays.items():
        writer.values[value] = writer.constant(array)
    lines = [line for name, body in program.bodies.items() for line in body_lines(name, body, writer.constants)]
    arguments = [writer.new(value, "a") for value in program.inputs]
    lines.append(f"def main({', '.join(['ledger', 'communicator', *arguments])}):")
    lines += _lines(program, writer, {*program.inputs, *_made(program)})
    lines.append(f"    return [{', '.join(writer.array(value) for value in program.outputs)}]")
    return Emitted("\n".join([*writer.legend(), *lines]) + "\n", writer.constants)


def body_lines(name: str, body: Program, constants: dict[str, Any]) -> Iterator[str]:
    """The function of a reducer; its constants go into the table."""
    writer = _Writer(constants=constants)
    arguments = [writer.new(value, "e") for value in body.inputs]
    yield f"def {name}({', '.join(arguments)}):"
    for step in body.steps:
        assert step.kind is Kind.POINTWISE or step.name == "bitcast_convert", "scalar code is element-wise"
        yield f"    {writer.new(step.results[0], 'e')} = {_expression(step, writer)}"
    yield f"    return {', '.join(writer.operand(value) for value in body.outputs)},"


def _lines(program: Program, writer: _Writer, own: Container[Value]) -> Iterator[str]:
    """The lines of a program, each of its `own` values freed after its last use."""
    for step, dead in zip(program.steps, _last_uses(program), strict=True):
        yield from _step_lines(step, [value for value in dead if value in own], writer)


def _made(program: Program) -> set[Value]:
    return {result for step in program.steps for result in step.results}


def _step_lines(step: Step, dead: Iterable[Value], writer: _Writer) -> Iterator[str]:
    match step.kind:
        case Kind.LOOP:
            yield from _loop_lines(step, writer)
        case Kind.BRANCH:
            yield from _branch_lines(step, writer)
        case Kind.TEST:
            yield f"    if not {writer.operand(step.operands[0])}.any(): break"
        case Kind.FENCE:
            pass
        case _:
            yield _call_line(step, writer)
    gone = [writer.values[value] for value in dead if value in writer.values]
    if gone:
        yield f"    del {', '.join(gone)}"


def _loop_lines(step: Step, writer: _Writer) -> Iterator[str]:
    """What is carried has one name each: before, in and behind the loop."""
    program = step.programs[0]
    starts = step.operands[: len(program.inputs)]
    first = _assignment([writer.new(value) for value in program.inputs], map(writer.array, starts))
    rounds = f"n{len(writer.values)}"
    yield from first
    yield f"    {rounds} = 0"
    yield f"    while True:{comment(step.location)}"
    yield from _indented(_lines(program, writer, _made(program)))
    names = [writer.values[value] for value in program.inputs]
    yield from _indented(_assignment(names, map(writer.array, program.outputs)))
    yield f"        {rounds} += 1"
    yield f"    ledger.ran({writer.constant(step.static[0])}, 'rounds', {rounds})"
    writer.values.update(zip(step.results, names, strict=True))


def _branch_lines(step: Step, writer: _Writer) -> Iterator[str]:
    index = f"n{len(writer.values)}"
    yield f"    {index} = {writer.array(step.operands[0])}.item(){comment(step.location)}"
    names = [writer.new(value) for value in step.results]
    last = len(step.programs) - 1
    for number, program in enumerate(step.programs):
        yield branch_head(index, number, last)
        yield from _indented(_lines(program, writer, _made(program)))
        yield from _indented(_assignment(names, map(writer.array, program.outputs)))
        yield f"        ledger.ran({writer.constant(step.static[0])}, 'branch {step.static[1][number]}')"


def _assignment(names: Sequence[str], values: Iterable[str]) -> list[str]:
    return [f"    {', '.join(names)}, = {', '.join(values)},"] if names else []


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def _call_line(step: Step, writer: _Writer) -> str:
    expression = _expression(step, writer)
    left = "".join(f"{writer.new(result)}, " for result in step.results)
    single = len(step.results) == 1 and step.name not in FOLDS  # a fold gives a tuple, of one array too
    assign = f"{left.removesuffix(', ') if single else left.rstrip()} = " if step.results else ""
    return f"    {assign}{expression}{comment(step.location)}"


def _expression(step: Step, writer: _Writer) -> str:
    # In one piece: a case for each kind of step that is one expression, most of them one line.
    match step.kind:
        case Kind.POINTWISE:
            name = writer.operand if _arrays_span(step) else writer.array
            operands = [(name(operand), operand.dtype) for operand in step.operands]
            return pointwise.expression(step.name, operands, step.results[0].dtype, step.static)
        case Kind.RESHAPE:
            return f"{writer.array(step.operands[0])}.reshape({step.results[0].shape})"
        case Kind.TRANSPOSE:
            return f"{writer.array(step.operands[0])}.transpose({step.static[0]})"
        case Kind.BROADCAST:
            return f"xp.broadcast_to({writer.operand(step.operands[0])}, {step.results[0].shape})"
        case Kind.SLICE:
            return f"{writer.array(step.operands[0])}[{', '.join(_range_text(*item) for item in step.static[0])}]"
        case Kind.REDUCE:
            return f"k.reduce(xp, {writer.array(step.operands[0])}, {step.name!r}, {step.static[0]})"
        case Kind.DOT:
            lhs, rhs = (writer.array(operand) for operand in step.operands)
            return f"k.dot(xp, {lhs}, {rhs}, {step.static[0].batch}, {step.static[0].contract})"
        case Kind.COUNT:
            buffers = ", ".join(writer.array(operand) for operand in step.operands)
            return f"ledger.count({writer.constant(step.static[0])}, {buffers})"
        case Kind.CALL:
            return kernel_call(step, [writer.array(operand) for operand in step.operands])
        case Kind.SEND:
            return f"communicator.{step.name}({writer.constant(step.static[0])}, {writer.array(step.operands[0])})"
        case _:
            raise AssertionError(step.kind)


def _arrays_span(step: Step) -> bool:
    """Whether the operands that are arrays give the result its shape, so that scalars will do for the splats."""
    return np.broadcast_shapes(*(v.shape for v in step.operands if v.splat is None)) == step.results[0].shape


def _range_text(start: int, stop: int, step: int) -> str:
    end = "" if step < 0 and stop < 0 else str(stop)
    return f"{start}:{end}" if step == 1 else f"{start}:{end}:{step}"


def kernel_call(step: Step, operands: list[str]) -> str:
    """The call of a kernel on named operands."""
    match step.name:
        case "concatenate":
            return f"k.concatenate(xp, [{', '.join(operands)}], {step.static[0]})"
        case "fold" | "fold_extreme" | "fold_window":
            half, (body, *static) = len(operands) // 2, step.static
            inputs, starts = ", ".join(operands[:half]), ", ".join(operands[half:])
            return f"k.{step.name}(xp, {body}, [{inputs}], [{starts}], {', '.join(map(repr, static))})"
        case "scatter_fold":
            half, (body, *static) = len(operands) // 2, step.static
            inputs, updates = ", ".join(operands[:half]), ", ".join(operands[half + 1 :])
            arrays = f"[{inputs}], {operands[half]}, [{updates}]"
            return f"k.scatter_fold(xp, {body}, {arrays}, {', '.join(map(repr, static))})"
        case "ordered":
            return f"k.ordered(xp, [{', '.join(operands)}], {step.static[0]}, {step.static[1]})"
        case "compared":
            return f"k.compared(xp, {step.static[0]}, [{', '.join(operands)}], {step.static[1]})"
        case "select_and_scatter":
            select, scatter, sweeps = step.static
            return f"k.select_and_scatter(xp, {select}, {scatter}, {', '.join(operands)}, {sweeps})"
        case "bitcast_convert":
            return f"k.bitcast_convert(xp, {operands[0]}, {dtype_text(step.static[0])})"
        case _:
            return f"k.{step.name}(xp, {', '.join([*operands, *map(repr, step.static)])})"


def _last_uses(program: Program) -> list[list[Value]]:
    """For each step the values, other than results of the program, that nothing uses after it."""
    kept = set(program.outputs) | set(program.arrays)
    seen: set[Value] = set()
    dead: list[list[Value]] = []
    for step in reversed(program.steps):
        last = [value for value in dict.fromkeys((*step.results, *step.operands)) if value not in seen]
        seen.update(last)
        dead.append([value for value in last if value not in kept and value.splat is None])
    return dead[::-1]


def evaluate(step: Step, arrays: Mapping[Value, Any], program: Program) -> Any:
    """The result of a step on constants, by the line that `generate` would write for it."""
    writer = _Writer()
    for operand in step.operands:
        if operand.splat is None:
            writer.values[operand] = writer.constant(arrays[operand])
    code = _expression(step, writer)
    with np.errstate(all="ignore"):
        return np.asarray(eval(code, writer.constants | pointwise.runtime_scope(np)))


def peak_bytes(program: Program) -> int:
    """The most bytes of intermediate values alive at once when every step makes a new array."""
    return _peak(program, {*program.inputs, *program.arrays, *program.outputs})


def _peak(program: Program, kept: Container[Value]) -> int:
    alive = peak = 0
    own = {value for value in _made(program) if value not in kept and _takes_memory(value)}
    for step, dead in zip(program.steps, _last_uses(program), strict=True):
        alive += sum(result.nbytes for result in step.results if result in own)
        inside = max((_peak(inner, {*inner.arrays}) for inner in step.programs), default=0)
        peak = max(peak, alive + inside)
        alive -= sum(value.nbytes for value in dead if value in own)
    return peak


def _takes_memory(value: Value) -> bool:
    return value.producer is not None and value.producer.kind not in VIEWS
