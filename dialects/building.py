"""
The one builder of StableHLO ops on SSA values: gradients, decompositions, expansions, local hooks and tracing use it.

It spells out what their ops need again and again (result types, neutral elements, constants like another value), and
leaves out ops that would change nothing. Where ops go, and what location they get, is its caller's to say. Below it
stands what is asked of blocks: what they hold, return, and take from outside without its being handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.types import element_of, plain, shape_of, tensor, tensor_type

__all__ = [
    "Builder",
    "appending",
    "blocks_in",
    "body_of",
    "captured_by",
    "counted_loop",
    "free_values",
    "only_op",
    "returned",
]


@dataclass(frozen=True)
class Builder:
    """
    Makes ops of values and puts them in place; each method gives the one result.

    >>> from shardwright.dialects.types import element_type_named
    >>> block = Block()
    >>> build = appending(block)
    >>> two = build.literal(2, element_type_named("float32"), (4,))
    >>> build.scale(two, 3).type == two.type, [op.name for op in block.ops][1:]
    (True, ['stablehlo.constant', 'stablehlo.multiply'])
    """

    insert: Callable[[Operation], Operation]
    """Puts an op in its place, and gives it back."""

    def put(self, op: Operation) -> SSAValue:
        """Puts an op in place; its first result."""
        return self.insert(op).results[0]

    def literal(self, value: Any, element: Attribute, shape: Sequence[int] = ()) -> SSAValue:
        """A constant of an array, or of one number everywhere."""
        return self.put(stablehlo.make_constant(value, element, tuple(shape)))

    def constant(self, number: complex, like: SSAValue) -> SSAValue:
        """A value of the shape and type of `like`, all elements equal."""
        return self.literal(number, element_of(like), shape_of(like))

    def scalar(self, number: complex, like: SSAValue) -> SSAValue:
        """A scalar of the element type of `like`."""
        return self.literal(number, element_of(like))

    def zeros(self, like: SSAValue) -> SSAValue:
        """Zeros in the shape and type of `like`."""
        return self.constant(0, like)

    def iota(self, dim: int, shape: Sequence[int], element: Attribute = i32) -> SSAValue:
        """Each element's index along `dim`."""
        return self.put(stablehlo.IotaOp(dim, tensor(tuple(shape), element)))

    def add(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """`left + right`."""
        return self.put(stablehlo.AddOp(left, right))

    def subtract(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """`left - right`."""
        return self.put(stablehlo.SubtractOp(left, right))

    def multiply(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """`left * right`."""
        return self.put(stablehlo.MultiplyOp(left, right))

    def divide(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """`left / right`."""
        return self.put(stablehlo.DivideOp(left, right))

    def power(self, value: SSAValue, exponent: SSAValue) -> SSAValue:
        """`value ** exponent`."""
        return self.put(stablehlo.PowerOp(value, exponent))

    def negate(self, value: SSAValue) -> SSAValue:
        """`-value`."""
        return self.put(stablehlo.NegateOp(value))

    def scale(self, value: SSAValue, number: complex) -> SSAValue:
        """`value * number`."""
        return self.multiply(value, self.constant(number, value))

    def both(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """`left and right`."""
        return self.put(stablehlo.AndOp(left, right))

    def compare(self, left: SSAValue, direction: str, right: SSAValue) -> SSAValue:
        """Whether a relation (EQ, NE, LT, LE, GT, GE) holds, for each element."""
        return self.put(stablehlo.CompareOp(left, right, direction))

    def select(self, condition: SSAValue, on_true: SSAValue, on_false: SSAValue) -> SSAValue:
        """Elements of one value or the other; the condition may be a scalar."""
        return self.put(stablehlo.SelectOp(condition, on_true, on_false))

    def clamp(self, low: SSAValue, value: SSAValue, high: SSAValue) -> SSAValue:
        """The value moved into `low` ... `high`."""
        return self.put(stablehlo.ClampOp(low, value, high))

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The value in another element type."""
        return value if element_of(value) == element else self.put(stablehlo.ConvertOp(value, element))

    def convert(self, value: SSAValue, like: SSAValue) -> SSAValue:
        """The value in the element type of `like`."""
        return self.cast(value, element_of(like))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements, row-major, in another shape."""
        target = tuple(shape)
        if shape_of(value) == target:
            return value
        return self.put(stablehlo.ReshapeOp(value, tensor(target, element_of(value))))

    def transpose(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Dim `i` of the result is dim `order[i]`."""
        same = tuple(order) == tuple(range(len(order)))
        return value if same else self.put(stablehlo.TransposeOp(value, tuple(order)))

    def broadcast(self, value: SSAValue, shape: Sequence[int], dims: Sequence[int]) -> SSAValue:
        """Dim `i` of the value becomes dim `dims[i]` of the shape."""
        target = tensor(tuple(shape), element_of(value))
        return self.put(stablehlo.BroadcastInDimOp(value, tuple(dims), target))

    def slice(
        self, value: SSAValue, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None = None
    ) -> SSAValue:
        """A box of the elements, of every `strides`-th one."""
        return self.put(stablehlo.SliceOp(value, starts, limits, strides))

    def window(self, value: SSAValue, starts: Sequence[SSAValue], sizes: Sequence[int]) -> SSAValue:
        """A box of the elements that begins at computed places."""
        return self.put(stablehlo.DynamicSliceOp(value, starts, sizes))

    def update(self, value: SSAValue, box: SSAValue, starts: Sequence[SSAValue]) -> SSAValue:
        """The value with a box written into it at computed places."""
        return self.put(stablehlo.DynamicUpdateSliceOp(value, box, starts))

    def pad(
        self,
        value: SSAValue,
        fill: SSAValue,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int] | None = None,
    ) -> SSAValue:
        """The value with `fill` around it, and between its elements."""
        return self.put(stablehlo.PadOp(value, fill, low, high, interior))

    def sum(self, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """The sum over some dims, which disappear."""
        if not dims:
            return value
        zero = self.scalar(0, value)
        return self.put(stablehlo.ReduceOp([value], [zero], tuple(dims), stablehlo.AddOp))

    def every(self, mask: SSAValue, dims: Sequence[int]) -> SSAValue:
        """Whether a mask holds everywhere along some dims, which disappear."""
        true = self.scalar(True, mask)
        return self.put(stablehlo.ReduceOp([mask], [true], tuple(dims), stablehlo.AndOp))


def appending(block: Block) -> Builder:
    """Puts ops at the end of a block."""

    def insert(op: Operation) -> Operation:
        block.add_op(op)
        return op

    return Builder(insert)


def counted_loop(
    build: Builder,
    start: Sequence[SSAValue],
    rounds: int,
    body: Callable[[Builder, Sequence[SSAValue]], Sequence[SSAValue]],
) -> Sequence[SSAValue]:
    """
    A loop that carries `start`: what it has after so many rounds.

    `body` makes the ops of a round, of its number and of what is carried, and gives what is carried on.
    """
    carried = [build.literal(0, i32), *start]
    types = [plain(tensor_type(value)) for value in carried]
    condition, block = Block(arg_types=types), Block(arg_types=types)
    asks, inside = appending(condition), appending(block)
    asks.insert(stablehlo.ReturnOp(asks.compare(condition.args[0], "LT", asks.literal(rounds, i32))))
    following = body(inside, block.args)
    inside.insert(stablehlo.ReturnOp(inside.add(block.args[0], inside.literal(1, i32)), *following))
    loop = stablehlo.WhileOp(carried, Region(condition), Region(block), types)
    return build.insert(loop).results[1:]


def returned(block: Block) -> Sequence[SSAValue]:
    """What a block's terminator returns."""
    assert block.last_op is not None
    return block.last_op.operands


def body_of(block: Block) -> Iterator[Operation]:
    """The ops of a block, but for its terminator."""
    return (op for op in block.ops if op is not block.last_op)


def blocks_in(op: Operation) -> Iterator[Block]:
    """The blocks of an op's regions."""
    return (block for region in op.regions for block in region.blocks)


def ops_in(op: Operation) -> list[Operation]:
    """The op and all ops in it, in the order of `walk`, which asks each op for its place at ten times the price."""
    found = [op]
    for block in blocks_in(op):
        inner = block.first_op
        while inner is not None:
            found += ops_in(inner) if inner.regions else (inner,)
            inner = inner.next_op
    return found


def only_op(block: Block) -> Operation | None:
    """The op whose results a block returns, if it has no other: what a reducer is made of, as a rule."""
    first, last = block.first_op, block.last_op
    if first is None or last is None or first.next_op is not last:
        return None
    return first if list(last.operands) == list(first.results) else None


def free_values(inside: Operation | Block) -> list[SSAValue]:
    """The values from outside that an op or a block, at any depth, uses, in order and as often as it does."""
    if isinstance(inside, Operation) and not inside.regions:
        return list(inside.operands)
    used: list[SSAValue] = []
    made: set[SSAValue] = set(inside.args) if isinstance(inside, Block) else set()
    for op in inside.walk():
        used += op.operands
        made.update(op.results, *(block.args for block in blocks_in(op)))
    return [value for value in used if value not in made]


def captured_by(blocks: Iterable[Block]) -> list[SSAValue]:
    """The values from outside that blocks, which are no part of each other, use, each once, in order of first use."""
    return list(dict.fromkeys(value for block in blocks for value in free_values(block)))
