"""What each op asks of the sizes of its dims, and how its numbers follow when sizes shrink."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.chlo.along import TopKOp
from shardwright.dialects.dtensor import WindowOp
from shardwright.dialects.dtensor.roll import RollOp
from shardwright.dialects.stablehlo.windows import window_properties
from shardwright.dialects.types import Integers, integers, shape_of
from shardwright.layout.planning.window import Window
from shardwright.proof.sizes import Count, Sizes

New: TypeAlias = Mapping[int, int]
"""What each size becomes."""

Numbers: TypeAlias = Callable[[New], dict[str, Attribute]]
"""The properties of an op that follow the sizes."""


@dataclass
class Asked:
    """What all ops of the programs ask of sizes; the places where dims are cut; and the numbers that follow."""

    sizes: Sizes = field(default_factory=Sizes)
    cuts: dict[tuple[SSAValue, int], list[int]] = field(default_factory=dict[tuple[SSAValue, int], list[int]])
    spans: list[Span] = field(default_factory=list["Span"])
    numbers: dict[Operation, Numbers] = field(default_factory=dict[Operation, Numbers])

    def add(self, op: Operation) -> None:
        """What an op asks."""
        handler = _ASKS.get(op.name)
        if handler is not None:
            numbers = handler(op, self)
            if numbers is not None:
                self.numbers[op] = numbers
        elif not _is_indifferent(op):
            self.pin_all(op)

    def pin_all(self, op: Operation) -> None:
        """All sizes of an op stay."""
        for value in (*op.operands, *op.results):
            if isinstance(value.type, TensorType):
                self.sizes.pin(*shape_of(value))

    def span(self, value: SSAValue, dim: int, start: int, result: int) -> Span:
        """The `result` places from `start` on along a dim, which may reach beyond its ends."""
        size = shape_of(value)[dim]
        inside = min(max(start, 0), size), min(max(start + result, 0), size)
        found = Span(self, value, dim, *inside, max(0, -start), max(0, start + result - size))
        places = self.cuts.setdefault((value, dim), [0, size])
        for place in inside:
            if place not in places:
                insort(places, place)
        self.spans.append(found)
        return found

    def finish(self) -> None:
        """What follows from all cuts of a dim together: it is the sum of its pieces."""
        for (value, dim), places in self.cuts.items():
            self.sizes.sum(shape_of(value)[dim], _pieces(places))
        for span in self.spans:
            self.sizes.sum(span.size, span.pieces())


def _pieces(places: Sequence[int]) -> list[int]:
    return [after - before for before, after in pairwise(places)]


@dataclass(frozen=True)
class Span:
    """What a slice, a pad or a window takes of a dim: from one place to another, and what it adds before and behind."""

    asked: Asked
    value: SSAValue
    dim: int
    start: int
    stop: int
    low: int
    high: int

    @property
    def size(self) -> int:
        """How many elements it gives."""
        return self.low + self.stop - self.start + self.high

    def pieces(self) -> list[int]:
        """The sizes that it is the sum of."""
        places = self.asked.cuts[self.value, self.dim]
        return [self.low, *_pieces([place for place in places if self.start <= place <= self.stop]), self.high]

    def place(self, at: int, new: New) -> int:
        """Where a cut lies when sizes shrink."""
        places = self.asked.cuts[self.value, self.dim]
        return sum(new[piece] for piece in _pieces([place for place in places if place <= at]))

    def first(self, new: New) -> int:
        """The first place, below zero if it lies before the dim."""
        return self.place(self.start, new) - new[self.low]

    def beyond(self, new: New) -> int:
        """How many places behind the dim it reaches; below zero if it ends before."""
        size = self.asked.cuts[self.value, self.dim][-1]
        return self.place(self.stop, new) + new[self.high] - self.place(size, new)


def _is_indifferent(op: Operation) -> bool:
    """Whether any sizes do that fit the op's types."""
    if op.name == "stablehlo.custom_call":
        return str(op.properties.get("call_target_name")) == '"Sharding"'
    return op.name in _INDIFFERENT or op.name.startswith(("dtensor.", "sdy.", "func.", "builtin.")) or _is_pointwise(op)


def _is_pointwise(op: Operation) -> bool:
    shapes = {shape_of(value) for value in (*op.operands, *op.results) if isinstance(value.type, TensorType)}
    return isinstance(op, stablehlo.ElementwiseOp) and len(shapes - {()}) <= 1


_INDIFFERENT = frozenset(
    f"stablehlo.{name}"
    for name in """
    broadcast_in_dim transpose reduce dot_general dot einsum iota select clamp sort reverse while if case return
    optimization_barrier dynamic_update_slice cholesky triangular_solve map torch_index_select batch_norm_training
    batch_norm_inference batch_norm_grad rng_bit_generator after_all create_token tuple get_tuple_element
    """.split()
)


def _constant(op: Operation, asked: Asked) -> None:
    if not stablehlo.is_splat(op):
        asked.sizes.pin(*shape_of(op.results[0]))


def _reshape(op: Operation, asked: Asked) -> None:
    """Dims that become one, or one that becomes several, as far as their products go together."""
    before, after = (list(shape_of(value)) for value in (op.operands[0], op.results[0]))
    if 0 in before:
        return
    while before or after:
        left, right, ours, theirs = 1, 1, list[int](), list[int]()
        while not (ours or theirs) or left != right:
            if before and (left <= right or not after):
                ours.append(before.pop(0))
                left *= ours[-1]
            else:
                theirs.append(after.pop(0))
                right *= theirs[-1]
        asked.sizes.product(ours, theirs)


def _concatenate(op: Operation, asked: Asked) -> None:
    assert isinstance(op, stablehlo.ConcatenateOp)
    dim = op.dim
    asked.sizes.sum(shape_of(op.results[0])[dim], [shape_of(value)[dim] for value in op.operands])


def _slice(op: Operation, asked: Asked) -> Numbers:
    assert isinstance(op, stablehlo.SliceOp)
    starts, limits, strides = (_numbers(op, name) for name in ("start_indices", "limit_indices", "strides"))
    shapes = shape_of(op.operands[0]), shape_of(op.results[0])
    spans: dict[int, Span] = {}
    whole: dict[int, int] = {}
    for dim, (start, limit, stride) in enumerate(zip(starts, limits, strides, strict=True)):
        size, result = shapes[0][dim], shapes[1][dim]
        if stride == 1:
            spans[dim] = asked.span(op.operands[0], dim, start, limit - start)
        elif result * stride == size and start < stride and limit > size - stride:
            asked.sizes.product([size], [Count(stride), result])
            whole[dim] = size
        else:
            asked.sizes.pin(size, result)

    def numbers(new: New) -> dict[str, Attribute]:
        first, last = list(starts), list(limits)
        for dim, span in spans.items():
            first[dim], last[dim] = span.place(span.start, new), span.place(span.stop, new)
        for dim, size in whole.items():
            last[dim] = new[size]
        return {"start_indices": integers(tuple(first)), "limit_indices": integers(tuple(last))}

    return numbers


def _pad(op: Operation, asked: Asked) -> Numbers:
    low, high, interior = (
        _numbers(op, f"{name}") for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    )
    shapes = shape_of(op.operands[0]), shape_of(op.results[0])
    spans: dict[int, Span] = {}
    for dim, (size, result) in enumerate(zip(*shapes, strict=True)):
        if interior[dim] or -low[dim] > size or -high[dim] > size:
            asked.sizes.pin(size, result)
        else:
            spans[dim] = asked.span(op.operands[0], dim, -low[dim], result)

    def numbers(new: New) -> dict[str, Attribute]:
        before, behind = list(low), list(high)
        for dim, span in spans.items():
            before[dim], behind[dim] = -span.first(new), span.beyond(new)
        return {"edge_padding_low": integers(tuple(before)), "edge_padding_high": integers(tuple(behind))}

    return numbers


def _window(op: Operation, asked: Asked) -> Numbers:
    """Ours, of slices and pads along split dims; halos, and what is dilated, pin their dims."""
    assert isinstance(op, WindowOp)
    starts, strides = _numbers(op, "starts"), _numbers(op, "strides")
    shapes = shape_of(op.operands[0]), shape_of(op.results[0])
    spans: dict[int, Span] = {}
    reversed_: set[int] = set()
    for dim, (size, result) in enumerate(zip(*shapes, strict=True)):
        window = _window_along(op, dim)
        if window == Window(size, result, starts[dim], 1):
            spans[dim] = asked.span(op.operands[0], dim, starts[dim], result)
        elif window == Window(size, size, size - 1, -1):
            reversed_.add(dim)
        elif window == Window(size, result, starts[dim], strides[dim]) and _is_every(window):
            asked.sizes.product([size], [Count(strides[dim]), result])
        else:
            asked.sizes.pin(size, result)

    def numbers(new: New) -> dict[str, Attribute]:
        found = list(starts)
        for dim, span in spans.items():
            found[dim] = span.first(new)
        for dim in reversed_:
            found[dim] = new[shapes[0][dim]] - 1
        return {"starts": integers(tuple(found))}

    return numbers


def _is_every(window: Window) -> bool:
    """Whether a window takes one of each `stride` elements."""
    return window.stride > 1 and window.result * window.stride == window.operand and 0 <= window.start < window.stride


def _window_along(op: WindowOp, dim: int) -> Window:
    lists = [op.starts, op.strides, op.dilations, op.frames, op.steps]
    found = [
        default if item is None else _values(item)[dim] for item, default in zip(lists, (0, 1, 1, 0, 0), strict=True)
    ]
    return Window(shape_of(op.inputs[0])[dim], shape_of(op.outputs[0])[dim], *found)


def _roll(op: Operation, asked: Asked) -> Numbers:
    assert isinstance(op, RollOp)
    size = shape_of(op.operand)[op.dim]
    span = asked.span(op.operand, op.dim, size - op.amount, op.amount)
    return lambda new: {"by": IntegerAttr(span.place(size, new) - span.place(span.start, new), i64)}


def _gather(op: Operation, asked: Asked) -> Numbers:
    assert isinstance(op, stablehlo.GatherOp)
    indices = shape_of(op.start_indices)
    if op.numbers.index_vector_dim < len(indices):
        asked.sizes.pin(indices[op.numbers.index_vector_dim])
    return _sizes(op, asked)


def _dynamic_slice(op: Operation, asked: Asked) -> Numbers:
    """A start that is written in the program is a place: its dim stays, unless it is the first or the last one."""
    starts = op.operands[1:]
    shapes = shape_of(op.operands[0]), shape_of(op.results[0])
    for start, size, result in zip(starts, *shapes, strict=True):
        owner = start.owner
        if isinstance(owner, stablehlo.ConstantOp) and 0 < int(stablehlo.constant_value(owner)) < size - result:
            asked.sizes.pin(size, result)
    return _sizes(op, asked)


def _sizes(op: Operation, asked: Asked) -> Numbers:
    sizes = _numbers(op, "slice_sizes")
    for size, whole in zip(sizes, shape_of(op.operands[0]), strict=True):
        asked.sizes.below(size, whole)
    return lambda new: {"slice_sizes": integers(tuple(new[size] for size in sizes))}


def _dynamic_update_slice(op: Operation, asked: Asked) -> None:
    for size, whole in zip(shape_of(op.operands[1]), shape_of(op.operands[0]), strict=True):
        asked.sizes.below(size, whole)


def _scatter(op: Operation, asked: Asked) -> None:
    assert isinstance(op, stablehlo.ScatterOp)
    operand, indices, updates = (shape_of(side) for side in (op.inputs[0], op.scatter_indices, op.updates[0]))
    if op.numbers.index_vector_dim < len(indices):
        asked.sizes.pin(indices[op.numbers.index_vector_dim])
    for dim, update in zip(op.numbers.window_dims(len(operand)), op.numbers.update_window_dims, strict=True):
        asked.sizes.below(updates[update], operand[dim])


def _top_k(op: Operation, asked: Asked) -> Numbers:
    assert isinstance(op, TopKOp)
    asked.sizes.below(op.count, shape_of(op.operand)[-1])
    return lambda new: {"k": IntegerAttr(new[op.count], i64)}


def _reduce_window(op: Operation, asked: Asked) -> Numbers | None:
    """Windows over all that is before, or behind, grow with their dims; others pin them."""
    assert isinstance(op, stablehlo.ReduceWindowOp)
    shapes = shape_of(op.operands[0]), shape_of(op.results[0])
    whole: dict[int, int] = {}
    for dim, (sweep, size, result) in enumerate(zip(op.sweeps, *shapes, strict=True)):
        plain = (sweep.stride, sweep.base, sweep.dilation) == (1, 1, 1)
        if plain and sweep.size == size and (sweep.low, sweep.high) in ((size - 1, 0), (0, size - 1), (0, 0)):
            whole[dim] = size
        elif not (plain and (sweep.size, sweep.low, sweep.high) == (1, 0, 0)):
            asked.sizes.pin(size, result)

    def numbers(new: New) -> dict[str, Attribute]:
        sweeps = list(op.sweeps)
        for dim, size in whole.items():
            moved = {name: new[size] - 1 for name in ("low", "high") if getattr(sweeps[dim], name)}
            sweeps[dim] = replace(sweeps[dim], size=new[size], **moved)
        found = window_properties(sweeps)
        return {name: found[name] for name in found if name in op.properties}

    return numbers


def _select_and_scatter(op: Operation, asked: Asked) -> None:
    assert isinstance(op, stablehlo.SelectAndScatterOp)
    for sweep, size, result in zip(op.sweeps, shape_of(op.operand), shape_of(op.source), strict=True):
        if (sweep.size, sweep.stride, sweep.low, sweep.high) != (1, 1, 0, 0):
            asked.sizes.pin(size, result)


def _convolution(op: Operation, asked: Asked) -> None:
    """Space stays as it is, and so do features in groups."""
    assert isinstance(op, stablehlo.ConvolutionOp)
    if op.groups != (1, 1):
        asked.pin_all(op)
        return
    numbers = op.numbers
    spatial = numbers.input_spatial, numbers.kernel_spatial, numbers.output_spatial
    for value, dims in zip((op.lhs, op.rhs, op.results[0]), spatial, strict=True):
        asked.sizes.pin(*[shape_of(value)[dim] for dim in dims])


def _fft(op: Operation, asked: Asked) -> None:
    assert isinstance(op, stablehlo.FftOp)
    for value in (op.operands[0], op.results[0]):
        asked.sizes.pin(*shape_of(value)[-len(op.length) :])


def _bits(op: Operation, asked: Asked) -> None:
    asked.sizes.pin(*shape_of(op.operands[0]))


def _bitcast(op: Operation, asked: Asked) -> None:
    if shape_of(op.operands[0]) != shape_of(op.results[0]):
        asked.pin_all(op)


def _parts(op: Operation, asked: Asked) -> None:
    """The border of a manual computation, or what its devices send: one size is a multiple of the other."""
    for value, result in zip(op.operands, op.results, strict=False):
        for size, other in zip(shape_of(value), shape_of(result), strict=True):
            small, large = sorted((size, other))
            if small == large:
                continue
            if small and large % small == 0:
                asked.sizes.product([large], [Count(large // small), small])
            else:
                asked.sizes.pin(size, other)


def _numbers(op: Operation, name: str) -> tuple[int, ...]:
    return _values(op.properties[name])


def _values(attribute: Attribute) -> tuple[int, ...]:
    return tuple(cast(Integers, attribute).get_values())


_ASKS: dict[str, Callable[[Any, Asked], Numbers | None]] = {
    "stablehlo.constant": _constant,
    "stablehlo.reshape": _reshape,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.slice": _slice,
    "stablehlo.pad": _pad,
    "stablehlo.gather": _gather,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.scatter": _scatter,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.select_and_scatter": _select_and_scatter,
    "stablehlo.convolution": _convolution,
    "stablehlo.fft": _fft,
    "stablehlo.rng_bit_generator": _bits,
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.all_gather": _parts,
    "stablehlo.all_to_all": _parts,
    "stablehlo.reduce_scatter": _parts,
    "dtensor.to_manual": _parts,
    "dtensor.from_manual": _parts,
    "dtensor.window": _window,
    "dtensor.roll": _roll,
    "chlo.top_k": _top_k,
}
"""The ops that ask something, or whose numbers follow; what is neither here nor indifferent pins all its sizes."""
