"""
A program whose batch is done part by part, what the parts give added up: it holds the values of one part at a time.

The parts are found by the compiler itself. Were they the devices of a mesh of their own, it would split what has the
batch, and reduce what is summed over it; the program of such a device, with the number of a round in the place of that
of the device, and sums in the place of reductions, is the body of the loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from enum import Enum
from operator import itemgetter

from xdsl.dialects.builtin import ModuleOp, StringAttr, i32
from xdsl.ir import Block, Operation, SSAValue

from shardwright.compiler.layouts.unsharded import strip_layouts
from shardwright.compiler.pipelines import ALIGN, LOCALIZE, PROPAGATE, run_pipeline
from shardwright.dialects.building import Builder, body_of, counted_loop, free_values, returned
from shardwright.dialects.dtensor import (
    AllReduceOp,
    AllSliceOp,
    AxisIndexOp,
    CollectiveOp,
    ConstraintOp,
    MeshOp,
    RelayoutOp,
    UnreduceOp,
    layout_of,
)
from shardwright.dialects.dtensor.attributes import LayoutAttr
from shardwright.dialects.dtensor.hints import BarrierOp, GroupOp
from shardwright.dialects.dtensor.manual import manual_axes
from shardwright.dialects.stablehlo import OptimizationBarrierOp
from shardwright.dialects.types import element_of, shape_of
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.choosing.assignments import Assigner
from shardwright.passes.choosing.choose_layouts import write_layouts
from shardwright.passes.program import Program, entry_function
from shardwright.passes.propagation.alignment import align
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.propagation.strategy import Strategist
from shardwright.passes.rewriter import erase, insert_before, replace_with, retype
from shardwright.passes.stages import WHY, set_stage, uneven_values
from shardwright.rules.reductions import is_zero

__all__ = ["Microbatches", "fewest_parts"]

PARTS = "microbatch"
"""The axis whose devices the parts would be."""

MANY = 1 << 20
"""So many sums over parts of a batch are better than anything else that would be sent between them."""

REQUESTS = (ConstraintOp, RelayoutOp)
"""The ops that ask for the layout of a value."""


class Microbatches:
    """
    A program in parts of its batch: 2, 3, 4 ... as far as that divides; in none where there is no batch.

    A batch is what can be done part by part: nothing that has it needs what is summed over it. Of several the one that
    most bytes have. Where the program asks for the layout of a value, the parts of that value get it, and numbers of
    parts with which it would split them unevenly are left out. A program of a manual computation, with barriers of
    layouts, or with groups of what it neither takes nor gives, is not taken apart.
    """

    def __init__(self, module: ModuleOp):
        self._module = module
        self._first: tuple[int, int, _Parts] | None = None
        """The named dim that is the batch, the least number of its parts, and these."""
        border = {*entry_function(module).body.block.args, *returned(entry_function(module).body.block)}
        is_bound = any(uneven_values(module)) or any(_is_binding(op, border) for op in module.walk())
        self.counts = [] if is_bound else self._counts()

    def _counts(self) -> list[int]:
        dims = (size for argument in entry_function(self._module).args for size in shape_of(argument))
        for count in sorted({count for size in dict.fromkeys(dims) for count in _divisors(size)}):
            plan = _Splits(self._module, count)
            for name in plan.names:
                parts = plan.split(name)
                if parts is not None:
                    self._first = name, count, parts
                    return [other for other in _divisors(parts.size * count) if other >= count]
        return []

    def of(self, count: int) -> ModuleOp | None:
        """The program in so many parts; None where that cannot be done."""
        assert self._first is not None
        name, first, parts = self._first
        found = parts if count == first else _Splits(self._module, count).split(name)
        if found is None:
            return None
        module = _written(self._module.clone(), found)
        return None if any(uneven_values(module)) else module


def fewest_parts(
    counts: Sequence[int], tried: Callable[[int], float | None], whole: float, stays: float, limit: float
) -> int | None:
    """
    Of some numbers of parts the fewest that hold no more than a limit, else the one that holds least; None without any.

    `tried` says what parts hold, None where there are none, `whole` what one part does, and `stays` what is held at
    least however many there are. More parts hold less, by and large, up to the number from which on they hold more. So
    a number is tried where it is expected to do, as what does not depend on the batch stays and the rest is divided by
    the number; the largest where none is, and before none is said to do.

    >>> fewest_parts([2, 4, 8, 16], lambda count: 10 + 80 / count, 90, 10, 20)
    8
    """
    held: dict[int, float | None] = {}

    def asked(count: int) -> float | None:
        held[count] = tried(count)
        return held[count]

    best = _searched(counts, asked, whole, stays, limit)
    if not counts or counts[-1] in held or (best is not None and (held[best] or 0) <= limit):
        return best
    for count in reversed([each for each in counts if each not in held]):
        if (found := asked(count)) is not None and found > limit:
            break  # what holds more than the limit in more parts does so in fewer
    good = [(count, found) for count, found in held.items() if found is not None]
    fitting = [count for count, found in good if found <= limit]
    return min(fitting, default=min(good, key=itemgetter(1), default=(None,))[0])


def _searched(
    counts: Sequence[int], tried: Callable[[int], float | None], whole: float, stays: float, limit: float
) -> int | None:
    """The fewest parts that do if they hold less and less, and from some number on more and more."""
    best, least, fits = None, math.inf, False
    low, high, known = 1, math.inf, [(math.inf, stays), (1, whole)]
    while left := [count for count in counts if low < count < high]:
        if high == math.inf:
            count = next((each for each in left if _expected(each, known) <= limit), left[-1])
        else:
            count = left[-1] if fits else left[0]
        found = tried(count)
        if found is None:
            counts = [each for each in counts if each != count]
            continue
        known.append((count, found))
        falls = found < min(least, whole)
        if found <= limit or (not fits and found < least):
            best, least = count, found
        if found <= limit:
            fits, high = True, count
        elif fits or falls:
            low = count
        else:
            high = count
    return best


def _expected(count: int, known: Sequence[tuple[float, float]]) -> float:
    """What so many parts hold, by the last two that are known."""
    (few, more), (many, less) = known[-2:]
    divided = (more - less) / (1 / few - 1 / many)
    return less + divided * (1 / count - 1 / many)


def _is_binding(op: Operation, border: Container[SSAValue]) -> bool:
    """Whether an op says something of a layout that cannot be said of parts, or is of a manual computation."""
    if isinstance(op, GroupOp):
        return op.operands[0] not in border
    return isinstance(op, BarrierOp) or bool(manual_axes(op))


def _hide_requests(module: ModuleOp) -> None:
    """
    Puts a barrier, which knows what it stands for, where a layout is asked for: it comes along into the parts.

    ```
    %1 = dtensor.constraint %0 : tensor<8x4xf32> -> tensor<8x4xf32, #rows>
    %1 = stablehlo.optimization_barrier %0 {dtensor.constraint = #rows} : tensor<8x4xf32>
    ```

    What is asked for a result alone is asked for of the whole, in the end.
    """
    last = entry_function(module).get_return_op()
    for op in list(module.walk()):
        if isinstance(op, REQUESTS) and any(use.operation is not last for use in op.result.uses):
            spec = layout_of(op.result)
            assert spec is not None
            barrier = OptimizationBarrierOp([op.operand])
            barrier.attributes |= {op.name: LayoutAttr(spec), "reason": op.reason or StringAttr("")}
            replace_with(op, barrier)


def _show_requests(op: Operation) -> Operation:
    """Asks for layouts again where barriers stand for that, in an op; returns what stands in its place."""
    for inner in list(op.walk()):
        for kind in REQUESTS:
            layout, reason = inner.attributes.get(kind.name), inner.attributes.get("reason")
            if isinstance(layout, LayoutAttr) and isinstance(reason, StringAttr):
                asked = replace_with(inner, kind(inner.operands[0], layout.data, reason.data or None))
                op = asked if inner is op else op
    return op


def _divisors(size: int) -> list[int]:
    """What divides a size, but for one."""
    small = [count for count in range(1, math.isqrt(size) + 1) if size % count == 0]
    return sorted({*small, *(size // count for count in small)} - {1})


class _Summing(Strategist):
    """
    A strategist for which sums cost next to nothing, as those over parts are added up part by part.

    They cost something, so that what a loop adds up is summed after it.
    """

    def relayout(self, value: int, source: LayoutSpec, target: LayoutSpec) -> float:
        """What it costs to bring a value from any layout into any other."""
        found = super().relayout(value, source, target)
        return found / MANY if source.kind == "sum" and not target.partial else found


class _Splits:
    """A program, and how its values are split where a named dim is in so many parts."""

    def __init__(self, module: ModuleOp, parts: int):
        self._parts = parts
        self._bare = module.clone()
        _hide_requests(self._bare)
        strip_layouts(self._bare)
        for op in list(self._bare.ops):
            if isinstance(op, MeshOp):
                erase(op)
        insert_before(entry_function(self._bare), MeshOp("parts", [(PARTS, parts)]))
        program = build_program(self._bare)
        self._assigner = Assigner(program)
        sizes = {name: self._bytes(program, name) for name in self._assigner.names}
        self.names = sorted((name for name in sizes if sizes[name]), key=lambda name: -sizes[name])
        """The named dims of arguments that divide, the heaviest first."""

    def _bytes(self, program: Program, name: int) -> int:
        dims = self._assigner.of_values(self._assigner.layouts(((name,),)))
        arguments = range(len(program.root.block.args))
        if not any(any(dims[argument]) for argument in arguments):
            return 0
        return sum(size for size, each in zip(program.bytes, dims, strict=True) if any(each))

    def split(self, name: int) -> _Parts | None:
        """The parts of a named dim; None where it cannot be done part by part."""
        local = self._bare.clone()
        program = build_program(local)
        dims = self._assigner.of_values(self._assigner.layouts(((name,),)))
        write_layouts(program, dims, [""] * len(dims))
        run_pipeline(local, PROPAGATE)
        program = build_program(local)
        align(program, _Summing(program), [spec.dims for spec in program.layouts()])
        set_stage(local, "aligned")
        run_pipeline(local, (*ALIGN[1:], "lower-relayouts", *LOCALIZE), leaving=False)
        return _Parts.of(entry_function(local).body.block, entry_function(self._bare).body.block, self._parts)


class _Place(Enum):
    """Where an op goes."""

    BEFORE = 0
    INSIDE = 1
    AFTER = 2


@dataclass
class _Parts:
    """The program of one part: where each of its ops goes, which values it takes in parts, and which it adds up."""

    block: Block
    count: int
    size: int
    """How much of the batch a part has."""
    place: dict[SSAValue, _Place] = field(default_factory=dict[SSAValue, _Place])
    ops: dict[Operation, _Place] = field(default_factory=dict[Operation, _Place])
    taken: dict[SSAValue, tuple[SSAValue, int]] = field(default_factory=dict[SSAValue, tuple[SSAValue, int]])
    """What is taken in parts: of which value, along which dim."""
    summed: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Each sum over all parts, and the value of each part."""
    given: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """What the program gives in parts, and along which dim."""

    @classmethod
    def of(cls, block: Block, whole: Block, count: int) -> _Parts | None:
        """Reads the program of a device as that of a part; None where it needs more than sums of the others."""
        pairs = [*zip(block.args, whole.args, strict=True), *zip(returned(block), returned(whole), strict=True)]
        sizes = {shape_of(one)[dim] for one, other in pairs for dim in _split_dims(one, other)}
        if len(sizes) != 1:
            return None
        parts = cls(block, count, sizes.pop())
        for argument, other in zip(block.args, whole.args, strict=True):
            split = _split_dims(argument, other)
            parts.place[argument] = _Place.INSIDE if split else _Place.BEFORE
            if split:
                parts.taken[argument] = argument, split[0]
        return parts if all(map(parts._put, body_of(block))) and parts._give(whole) else None

    @property
    def by_number(self) -> bool:
        """Whether it matters which part is which."""
        return any(isinstance(op, AxisIndexOp) for op in self.block.walk())

    def _put(self, op: Operation) -> bool:
        """Finds the place of an op, if there is one."""
        places = {self.place[value] for value in free_values(op)}
        if isinstance(op, AllReduceOp):
            if places != {_Place.INSIDE} or op.kind.data != "sum":
                return False
            self.summed |= dict(zip(op.results, op.operands, strict=True))
            self._note(op, _Place.AFTER)
        elif isinstance(op, AllSliceOp):
            dims = _split_dims(op.results[0], op.operands[0])
            self.taken[op.results[0]] = op.operands[0], dims[0]
            self._note(op, _Place.INSIDE)
            return places == {_Place.BEFORE} and [shape_of(op.results[0])[dim] for dim in dims] == [self.size]
        elif isinstance(op, UnreduceOp) and is_zero(op.operands[0]):
            self._note(op, _Place.INSIDE)  # each part begins with nothing
        elif isinstance(op, CollectiveOp) or {_Place.INSIDE, _Place.AFTER} <= places:
            return False
        elif any(inner is not op and isinstance(inner, CollectiveOp | AxisIndexOp) for inner in op.walk()):
            return False  # in a loop or a branch
        else:
            first = _Place.INSIDE if isinstance(op, AxisIndexOp) else _Place.BEFORE
            self._note(op, max([first, *places], key=lambda place: place.value))
        return True

    def _note(self, op: Operation, place: _Place) -> None:
        self.ops[op] = place
        self.place |= dict.fromkeys(op.results, place)

    def _give(self, whole: Block) -> bool:
        for value, other in zip(returned(self.block), returned(whole), strict=True):
            if self.place[value] is _Place.INSIDE:
                split = _split_dims(value, other)
                if not split:
                    return False
                self.given[value] = split[0]
        return bool(self.summed or self.given)


def _split_dims(part: SSAValue, whole: SSAValue) -> list[int]:
    pairs = zip(shape_of(part), shape_of(whole), strict=True)
    return [dim for dim, (size, other) in enumerate(pairs) if size != other]


def _written(module: ModuleOp, parts: _Parts) -> ModuleOp:
    """The module, in which the batch is done in parts."""
    function = entry_function(module)
    block = function.body.block
    last = block.last_op
    assert last is not None
    build = Builder(lambda op: insert_before(last, op))
    loop = _Loop(parts, dict(zip(parts.block.args, block.args, strict=True)))
    groups = [op for op in block.ops if isinstance(op, GroupOp)]
    loop.put(build, _Place.BEFORE)
    loop.run(build)
    loop.put(build, _Place.AFTER)
    for at, value in enumerate(returned(parts.block)):
        given = last.operands[at]
        last.operands[at] = found = _laid_out(loop.values[value], given, last)
        for group in groups:
            if group.operands[0] is given:
                _move(group, found, last)
    run_pipeline(module, ("dce", "canonicalize", "cse", "dce"))
    return module


def _laid_out(found: SSAValue, given: SSAValue, last: Operation) -> SSAValue:
    """What the program gives now, in the layout that the user gave for it."""
    if isinstance(given.owner, ConstraintOp):
        _move(given.owner, found, last)
        return given
    if found.type != given.type and isinstance(found.owner, Operation):
        retype(found, given.type)
    return found


def _move(op: Operation, operand: SSAValue, last: Operation) -> None:
    """Lets an op that asks for a layout ask for that of another value, at the end."""
    op.detach()
    insert_before(last, op).operands[0] = operand


class _Loop:
    """Writes the program of all parts; `values` are what stands for those of the program of one."""

    def __init__(self, parts: _Parts, values: dict[SSAValue, SSAValue]):
        self._parts = parts
        self.values = values
        self._taken = [value for value in parts.taken if parts.place[value] is _Place.INSIDE]

    def put(self, build: Builder, place: _Place) -> None:
        """Puts the ops that go to a place, but for those that say what is taken and summed."""
        for op, own in self._parts.ops.items():
            if own is place and isinstance(op, UnreduceOp):
                self.values |= zip(op.results, map(self.values.__getitem__, op.operands), strict=True)
            elif own is place and not isinstance(op, AllReduceOp | AllSliceOp | AxisIndexOp):
                copy = op.clone(self.values)
                for before, after in zip(op.walk(), copy.walk(), strict=True):
                    after.location = before.location
                copy.attributes.pop(WHY, None)  # of the parts nobody speaks any more
                self.values |= zip(op.results, _show_requests(build.insert(copy)).results, strict=True)

    def run(self, build: Builder) -> None:
        """Puts the loop."""
        parts, outside = self._parts, dict(self.values)
        piles = [
            build.reshape(outside[source], self._pile(value, dim))
            for value in self._taken
            for source, dim in [parts.taken[value]]
        ]
        sums = [build.zeros(value) for value in parts.summed.values()]
        whole = [build.literal(0, element_of(value), self._pile(value, dim)) for value, dim in parts.given.items()]

        def body(inside: Builder, carried: Sequence[SSAValue]) -> list[SSAValue]:
            index, totals, given = carried[0], carried[1 : 1 + len(sums)], carried[1 + len(sums) :]
            self.values = dict(outside)
            for value, pile in zip(self._taken, piles, strict=True):
                self.values[value] = self._loaded(pile, value, index, inside)
            for op in parts.ops:
                if isinstance(op, AxisIndexOp):
                    self.values[op.results[0]] = index
            self.put(inside, _Place.INSIDE)
            shares = [self.values[value] for value in parts.summed.values()]
            return [
                *(inside.add(total, share) for total, share in zip(totals, shares, strict=True)),
                *(self._stored(pile, value, index, inside) for pile, value in zip(given, parts.given, strict=True)),
            ]

        results = counted_loop(build, [*sums, *whole], parts.count, body)
        self.values = outside | dict(zip(parts.summed, results[: len(sums)], strict=True))
        for (value, dim), pile in zip(parts.given.items(), results[len(sums) :], strict=True):
            shape = list(shape_of(value))
            shape[dim] *= parts.count
            self.values[value] = build.reshape(pile, shape)

    def _pile(self, value: SSAValue, dim: int) -> list[int]:
        """
        The shape of all parts of a value: which part it is comes after the place in it, where that makes no difference.

        So a batch that is split over devices is taken apart on each of them.
        """
        size, count = self._parts.size, self._parts.count
        shape = list(shape_of(value))
        return [*shape[:dim], *((count, size) if self._parts.by_number else (size, count)), *shape[dim + 1 :]]

    def _starts(self, value: SSAValue, dim: int, index: SSAValue, inside: Builder) -> tuple[list[SSAValue], list[int]]:
        """Where a part begins in the pile, and its shape there."""
        place = dim if self._parts.by_number else dim + 1
        shape = list(shape_of(value))
        shape.insert(place, 1)
        starts = [inside.literal(0, i32)] * len(shape)
        starts[place] = index
        return starts, shape

    def _loaded(self, pile: SSAValue, value: SSAValue, index: SSAValue, inside: Builder) -> SSAValue:
        starts, shape = self._starts(value, self._parts.taken[value][1], index, inside)
        return inside.reshape(inside.window(pile, starts, shape), shape_of(value))

    def _stored(self, pile: SSAValue, value: SSAValue, index: SSAValue, inside: Builder) -> SSAValue:
        starts, shape = self._starts(value, self._parts.given[value], index, inside)
        return inside.update(pile, inside.reshape(self.values[value], shape), starts)
