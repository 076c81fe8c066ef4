"""
Stacked recurrences and their gradients, written out as JAX exports them: a loop forward, a loop backward for each.

Whole numbers throughout: gates and states are clamped instead of squashed, so that every sum is exact.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from whole.build import Builder, Value
from whole.registry import Make
from whole.steps_loops import clamped, combined, constrained, counted_loop, product, row, spread, summed, with_row


@dataclass
class Cell:
    """A layer's parameters: kernel of the input, kernel of the state, bias; `gated` has two of each, side by side."""

    kernel: Value
    recurrent: Value
    bias: Value
    gated: bool

    @property
    def parameters(self) -> list[Value]:
        """As loops carry them."""
        return [self.kernel, self.recurrent, self.bias]


@dataclass
class Kept:
    """What a forward loop leaves for the backward one, each a row per round."""

    inputs: Value
    states: Value
    outputs: Value
    sums: Value


def _cell(build: Builder, inputs: int, features: int) -> Cell:
    gated = build.chance(0.5)
    wide = features * (2 if gated else 1)
    matrix = lambda *shape: build.argument(shape, "f32", build.numbers_of(shape, "f32", -1, 1))  # noqa: E731
    if gated and build.chance(0.5):  # as flax: a kernel for each gate, joined before the loop
        halves = [[matrix(rows, features) for _ in range(2)] for rows in (inputs, features)]
        return Cell(_joined(build, halves[0]), _joined(build, halves[1]), matrix(wide), gated)
    return Cell(matrix(inputs, wide), matrix(features, wide), matrix(wide), gated)


def _joined(build: Builder, parts: list[Value]) -> Value:
    names, types = ", ".join(v.name for v in parts), ", ".join(v.type for v in parts)
    last = parts[0].rank - 1
    text = f"stablehlo.concatenate {names}, dim = {last} : ({types}) -> RESULT"
    return build.emit(text, parts, lambda *arrays: np.concatenate(arrays, last), parts[0].element)


def _half(build: Builder, value: Value, which: int) -> Value:
    """One of the two gates."""
    rows, wide = value.shape
    first, last = which * wide // 2, (which + 1) * wide // 2
    text = f"stablehlo.slice {value.name} [0:{rows}, {first}:{last}] : ({value.type}) -> RESULT"
    return build.emit(text, [value], lambda a: a[:, first:last])


def _zeros(build: Builder, like: tuple[int, ...]) -> Value:
    return build.splat(like, "f32", 0)


def _next_state(build: Builder, total: Value, state: Value, gated: bool) -> Value:
    """The clamped sum; or gate * state + (1 - gate) * candidate."""
    if not gated:
        return clamped(build, total, -2, 2)
    gate, candidate = clamped(build, _half(build, total, 0), 0, 1), clamped(build, _half(build, total, 1), -2, 2)
    rest = combined(build, "subtract", build.splat(gate.shape, "f32", 1), gate)
    return combined(
        build, "add", combined(build, "multiply", gate, state), combined(build, "multiply", rest, candidate)
    )


def _forward(build: Builder, cell: Cell, inputs: Value, captures: bool) -> Kept:
    """The loop over the rows of the inputs; states before each round and sums are kept."""
    turns, batch, _ = inputs.shape
    features = cell.recurrent.shape[0]
    empty = [_zeros(build, (turns, batch, width)) for width in (features, features, cell.bias.shape[0])]
    state = _zeros(build, (batch, features))
    read = [] if captures else [inputs, *cell.parameters]

    def body(counter: Value, carried: list[Value]) -> list[Value]:
        h, states, outputs, sums, *rest = carried
        xs, kernel, recurrent, bias = rest or [inputs, *cell.parameters]
        x = row(build, xs, counter)
        total = combined(build, "add", product(build, x, kernel, (1, 0)), product(build, h, recurrent, (1, 0)))
        total = combined(build, "add", total, spread(build, bias, total, [1]))
        following = constrained(build, _next_state(build, total, h, cell.gated))
        kept = [(states, h), (outputs, following), (sums, total)]
        return [following, *(with_row(build, rows, new, counter) for rows, new in kept), *rest]

    found = counted_loop(build, [state, *empty, *read], turns, body, captures)
    return Kept(inputs, found[1], found[2], found[3])


def _inside(build: Builder, value: Value, low: int, high: int, slope: Value) -> Value:
    """A slope where a value was not clamped, zero elsewhere."""
    middle = clamped(build, value, low, high)
    text = f"stablehlo.compare EQ, {middle.name}, {value.name}, FLOAT : ({value.type}, {value.type}) -> RESULT"
    kept = build.emit(text, [middle, value], np.equal, "i1")
    zeros = _zeros(build, value.shape)
    text = f"stablehlo.select {kept.name}, {slope.name}, {zeros.name} : {kept.type}, RESULT"
    return build.emit(text, [kept, slope, zeros], np.where, "f32")


def _slopes(build: Builder, cell: Cell, total: Value, state: Value, slope: Value) -> tuple[Value, Value | None]:
    """The slope of the sum; and what reaches the state past it."""
    if not cell.gated:
        return _inside(build, total, -2, 2, slope), None
    sums = [_half(build, total, which) for which in range(2)]
    gate, candidate = clamped(build, sums[0], 0, 1), clamped(build, sums[1], -2, 2)
    difference = combined(build, "subtract", state, candidate)
    rest = combined(build, "subtract", build.splat(gate.shape, "f32", 1), gate)
    by_gate = _inside(build, sums[0], 0, 1, combined(build, "multiply", slope, difference))
    by_candidate = _inside(build, sums[1], -2, 2, combined(build, "multiply", slope, rest))
    return _joined(build, [by_gate, by_candidate]), combined(build, "multiply", slope, gate)


def _backward(build: Builder, cell: Cell, kept: Kept, slopes: Value, captures: bool) -> Value:
    """The loop backwards; it adds up the gradients of the parameters and gives those of the inputs."""
    turns = kept.inputs.shape[0]
    sums = [_zeros(build, value.shape) for value in cell.parameters]
    state, by_inputs = _zeros(build, kept.outputs.shape[1:]), _zeros(build, kept.inputs.shape)
    saved = [kept.inputs, kept.states, kept.sums, slopes]
    read = [] if captures else [*saved, *cell.parameters[:2]]

    def body(counter: Value, carried: list[Value]) -> list[Value]:
        d_state, d_kernel, d_recurrent, d_bias, d_inputs, *rest = carried
        xs, states, totals, ys, kernel, recurrent = rest or [*saved, *cell.parameters[:2]]
        place = combined(build, "subtract", build.scalar(turns - 1, "i32"), counter)
        x, state, total = (row(build, rows, place) for rows in (xs, states, totals))
        slope = combined(build, "add", row(build, ys, place), d_state)
        by_total, past = _slopes(build, cell, total, state, slope)
        back = product(build, by_total, recurrent, (1, 1))
        back = back if past is None else combined(build, "add", back, past)
        return [
            back,
            combined(build, "add", d_kernel, product(build, x, by_total, (0, 0))),
            combined(build, "add", d_recurrent, product(build, state, by_total, (0, 0))),
            constrained(build, combined(build, "add", d_bias, summed(build, by_total, [0]))),
            with_row(build, d_inputs, product(build, by_total, kernel, (1, 1)), place),
            *rest,
        ]

    return counted_loop(build, [state, *sums, by_inputs, *read], turns, body, captures)[4]


def recurrences(build: Builder) -> None:
    """One to three layers over a few rounds, most of them with gradients of all parameters."""
    turns, batch = build.pick((1, 2, 3)), build.pick((1, 2, 4, 8))
    widths = [build.pick((2, 4, 4, 8)) for _ in range(build.pick((2, 2, 3, 4)))]
    value = build.argument((turns, batch, widths[0]), "f32", build.numbers_of((turns, batch, widths[0]), "f32", -1, 1))
    captures = build.chance(0.4)
    layers: list[tuple[Cell, Kept]] = []
    for inputs, features in pairwise(widths):
        cell = _cell(build, inputs, features)
        kept = _forward(build, cell, value, captures)
        layers.append((cell, kept))
        value = kept.outputs
    if build.chance(0.15):
        return
    slopes = build.argument(value.shape, "f32", build.numbers_of(value.shape, "f32", -1, 1))
    if build.chance(0.3):  # only the last state is asked for, as a classifier does
        slopes = _last_only(build, value.shape)
    for cell, kept in reversed(layers):
        slopes = _backward(build, cell, kept, slopes, captures)


def _last_only(build: Builder, shape: tuple[int, ...]) -> Value:
    last = build.argument(shape[1:], "f32", build.numbers_of(shape[1:], "f32", -1, 1))
    return with_row(build, _zeros(build, shape), last, build.scalar(shape[0] - 1, "i32"))


OPENINGS: tuple[Make, ...] = (recurrences,)
