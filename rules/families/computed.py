"""Rows of the sharding table whose dims depend on the op's attributes or on its element types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from xdsl.dialects.builtin import ComplexType, IntegerType
from xdsl.ir import Attribute, Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.types import element_dtype, element_of, is_integer, shape_of
from shardwright.layout.planning.window import Window
from shardwright.rules.builder import SCALAR, RuleBuilder
from shardwright.rules.families.indexing import picking_kind
from shardwright.rules.families.selection import fold_rule
from shardwright.rules.reductions import is_zero, splits
from shardwright.rules.rule import ANY, PASS, PERMUTE, REPLICATE, Dim, Rule, Tensor, Way
from shardwright.rules.sharding import Shape, add_row, operand_shapes
from shardwright.rules.windows.moves import WindowExpansion, windows_of


@cache
def _creation(shape: Shape, kind: str) -> Rule:
    builder = RuleBuilder()
    return builder.rule((), (builder.tensor(shape, kind),))


def _constant(op: stablehlo.ConstantOp) -> Rule:
    """Any device can make any part of a splat, or of no elements; other constants are whole everywhere."""
    shape = shape_of(op.results[0].type)
    return _creation(shape, PASS if stablehlo.is_splat(op) or 0 in shape else REPLICATE)


def _iota(op: Operation) -> Rule:
    """Any device can make any part: it counts from its own offset."""
    return _creation(shape_of(op.results[0].type), PASS)


@cache
def _pairwise(shapes: tuple[Shape, ...]) -> Rule:
    builder = RuleBuilder()
    tensors = [builder.tensor(shape) for shape in shapes]
    return builder.rule(tensors, tensors, pairwise=True)


def _optimization_barrier(op: Operation) -> Rule:
    """Each operand is the result of the same number."""
    return _pairwise(operand_shapes(op))


@cache
def _elementwise(shapes: tuple[Shape, ...], result: Shape, flows: tuple[tuple[str, tuple[int, ...]], ...]) -> Rule:
    builder = RuleBuilder()
    dims = builder.tensor(result)
    operands = [dims if shape == result else SCALAR for shape in shapes]
    return builder.rule(operands, (dims,), flows)


def _select(op: Operation) -> Rule:
    """Element-wise, but a scalar predicate is whole; partial results pass through both choices together."""
    return _elementwise(operand_shapes(op), shape_of(op.results[0].type), ((ANY, (1, 2)),))


def _clamp(op: Operation) -> Rule:
    """Element-wise, but scalar bounds are whole."""
    return _elementwise(operand_shapes(op), shape_of(op.results[0].type), ())


def _divide(op: Operation) -> Rule:
    """Element-wise; partial sums may be divided, except where division rounds (integers)."""
    flows = () if isinstance(element_of(op.results[0]), IntegerType) else (("sum", (0,)),)
    return _elementwise(operand_shapes(op), shape_of(op.results[0].type), flows)


def _convert(op: Operation) -> Rule:
    """Element-wise; partial results pass through a conversion that loses nothing."""
    source, target = element_of(op.operands[0]), element_of(op.results[0])
    flows = (("sum", (0,)), ("max", (0,)), ("min", (0,))) if _widens(source, target) else ()
    return _elementwise(operand_shapes(op), shape_of(op.results[0].type), flows)


def _widens(source: Attribute, target: Attribute) -> bool:
    if source == target:
        return True
    if isinstance(source, IntegerType | ComplexType) or isinstance(target, IntegerType | ComplexType):
        return False
    return element_dtype(source).itemsize < element_dtype(target).itemsize


@cache
def _bitcast_rule(source: Shape, target: Shape) -> Rule:
    builder = RuleBuilder()
    shared = builder.tensor(source[: min(len(source), len(target))])
    operand = shared + builder.tensor(source[len(shared) :], REPLICATE)
    result = shared + builder.tensor(target[len(shared) :], REPLICATE)
    return builder.rule((operand,), (result,))


def _bitcast_convert(op: Operation) -> Rule:
    """Element-wise; a dim that is made of bits, or becomes bits, is whole."""
    return _bitcast_rule(shape_of(op.operands[0].type), shape_of(op.results[0].type))


@cache
def _broadcast_rule(source: Shape, target: Shape, dims: tuple[int, ...]) -> Rule:
    builder = RuleBuilder()
    result = builder.tensor(target)
    operand = tuple(result[dim] if size == target[dim] else () for size, dim in zip(source, dims, strict=True))
    return builder.rule((operand,), (result,), ((ANY, (0,)),))


def _broadcast_in_dim(op: stablehlo.BroadcastInDimOp) -> Rule:
    """Operand dims split with the result dims that they become; repeated ones are split in the result alone."""
    return _broadcast_rule(shape_of(op.operands[0].type), shape_of(op.results[0].type), op.dims)


@cache
def _transpose_rule(source: Shape, permutation: tuple[int, ...]) -> Rule:
    builder = RuleBuilder()
    operand = builder.tensor(source)
    return builder.rule((operand,), (tuple(operand[dim] for dim in permutation),), ((ANY, (0,)),))


def _transpose(op: stablehlo.TransposeOp) -> Rule:
    """Dims change places."""
    return _transpose_rule(shape_of(op.operands[0].type), op.dims)


@cache
def _reshape_rule(source: Shape, target: Shape) -> Rule:
    """
    Splits both shapes into the factors that they share: `(8, 32) -> 256` is `i j -> (i j)`.

    Within a stretch of dims whose products agree, these are the steps by which the running products of both shapes
    grow alike. Where they part (`(2, 3) -> (3, 2)`), what is left of the stretch has to be whole.
    """
    builder = RuleBuilder()
    operand: list[Dim] = []
    result: list[Dim] = []
    for left, right in stretches(source, target):
        before, after = _stretch(builder, left, right)
        operand += before
        result += after
    return builder.rule((tuple(operand),), (tuple(result),), ((ANY, (0,)),))


def _stretch(builder: RuleBuilder, left: Shape, right: Shape) -> tuple[Sequence[Dim], Sequence[Dim]]:
    """The dims of both sides of a stretch; where there are no elements, only equal sides share anything."""
    if left == right:
        dims = builder.tensor(left)
        return dims, dims
    if 0 in left or math.prod(left) != math.prod(right):
        return [()] * len(left), [()] * len(right)
    left_steps, right_steps = _running(left), _running(right)
    steps = _common_steps(left_steps, right_steps)
    shared = {step: builder.factor(step // before) for before, step in pairwise([1, *steps])}
    return _compound(builder, left_steps, shared), _compound(builder, right_steps, shared)


def _running(sizes: Sequence[int]) -> list[int]:
    return [math.prod(sizes[: index + 1]) for index in range(len(sizes))]


def _common_steps(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """Products of leading factors, each dividing the next, by which both sides can be split."""
    steps: list[int] = []
    reached = 1
    while left and right and reached < left[-1]:
        step = math.gcd(*(next(product for product in side if product > reached) for side in (left, right)))
        if step == reached:
            break
        steps.append(step)
        reached = step
    return steps


def _compound(builder: RuleBuilder, mine: Sequence[int], shared: dict[int, Dim]) -> list[Dim]:
    """The dims with these running products, of shared factors as far as these reach."""
    steps = sorted({*shared, *mine} - {0, 1})
    rest = {step: step // before for before, step in pairwise([1, *steps]) if step not in shared}
    factors = shared | {step: builder.factor(size, REPLICATE) for step, size in rest.items()}
    dims: list[Dim] = []
    before = 1
    for stop in mine:
        dims.append(tuple(factor for step in steps if before < step <= stop for factor in factors[step]))
        before = stop
    return dims


def stretches(source: Shape, target: Shape) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The shortest stretches of dims of both shapes with equal products."""
    if 0 in source:
        return _around_empty_dims(source, target)
    stretches: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    i = j = 0
    while i < len(source) or j < len(target):
        i0, j0 = i, j
        i, j = min(i + 1, len(source)), min(j + 1, len(target))
        while (left := math.prod(source[i0:i])) != (right := math.prod(target[j0:j])):
            if left < right:
                i += 1
            else:
                j += 1
        stretches.append((source[i0:i], target[j0:j]))
    return stretches


def _around_empty_dims(source: Shape, target: Shape) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """
    The stretches before the first and behind the last dim of size 0, and what is between.

    Beside empty dims products need not agree.
    """
    first, last = (source.index(0), target.index(0)), (_behind(source), _behind(target))
    middle = source[first[0] : last[0]], target[first[1] : last[1]]
    sides = (source[: first[0]], target[: first[1]]), (source[last[0] :], target[last[1] :])
    heads, tails = (
        stretches(left, right) if math.prod(left) == math.prod(right) else [(left, right)] for left, right in sides
    )
    return [*heads, middle, *tails]


def _behind(shape: Shape) -> int:
    """The place behind the last dim of size 0."""
    return len(shape) - shape[::-1].index(0)


def _reshape(op: Operation) -> Rule:
    """Dims split into the factors that both shapes share."""
    return _reshape_rule(shape_of(op.operands[0].type), shape_of(op.results[0].type))


@cache
def _moved_rule(operands: tuple[Shape, ...], result: Shape, moved: tuple[bool, ...], flows: tuple[Any, ...]) -> Rule:
    """
    Dims that stay pass; dims along which elements move have factors of their own in each tensor.

    Where a dim that stays has different sizes, each element of the smaller one stands for a block of the larger one.
    """
    builder = RuleBuilder()
    sizes = tuple(map(min, operands[0], result))
    shared = [() if move else builder.factor(size) for size, move in zip(sizes, moved, strict=True)]

    def tensor(shape: Shape) -> Tensor:
        if len(shape) != len(moved):
            return builder.tensor(shape, REPLICATE)
        return tuple(
            builder.factor(size, PERMUTE)
            if move
            else shared[dim] + builder.factor(size // (sizes[dim] or 1), REPLICATE)
            for dim, (size, move) in enumerate(zip(shape, moved, strict=True))
        )

    return builder.rule([tensor(shape) for shape in operands], (tensor(result),), flows)


@cache
def _window_rule(windows: tuple[Window, ...], scalars: int, flows: tuple[Any, ...], cuts: str = "") -> Rule:
    """
    Dims that stay pass; those that move may be split into parts whose number divides both sizes.

    A dim stays, too, when the result has one element of each block of the operand, the same one everywhere: `x[1::2]`,
    or a block for each element. Where `cuts` says how parts combine, each device may instead give what it holds of what
    is cut out, `x[:, 3]`: the only way where no parts of both sizes pair up, and another one where some do.
    """
    builder = RuleBuilder()
    moved: list[tuple[Dim, Dim]] = []
    held: list[tuple[Dim, Dim]] = []
    found: list[tuple[int | None, int, Window]] = []
    cut: set[int] = set()
    for dim, window in enumerate(windows):
        if (blocks := window.blocks) is not None:
            stays = builder.factor(blocks)
            moved.append((stays, stays))
            held.append(moved[-1])
            continue
        common = builder.factor(window.common, PERMUTE)
        found.append((common[0] if common else None, dim, window))
        alone = common, common
        if cuts and 0 < window.result < window.operand:
            alone = builder.factor(window.operand, cuts), builder.factor(window.result, REPLICATE)
            cut.update(alone[0])
        held.append(alone)
        moved.append((common, common) if common else alone)
    first, other = (_way(dims, scalars) for dims in (moved, held))
    expansion = WindowExpansion(tuple(found), frozenset(cut)) if found else None
    return builder.rule(*first, flows, expansion=expansion, others=[other] if held != moved else [])


def _way(dims: Sequence[tuple[Dim, Dim]], scalars: int) -> Way:
    """The tensors of an op of one operand and some scalars, whose dims are these of the operand and of the result."""
    operand, result = (tuple(side) for side in zip(*dims, strict=True)) if dims else ((), ())
    return (operand, *[SCALAR] * scalars), (result,)


def _window(op: Operation, cuts: str = "") -> Rule:
    """Elements move and nothing else happens to them: a split dim exchanges what its devices lack."""
    windows = windows_of(op)
    assert windows is not None
    return _window_rule(windows, 0, ((ANY, (0,)),), cuts)


def _slice(op: stablehlo.SliceOp) -> Rule:
    """Elements move: of a split dim devices exchange what they lack, or each gives what it holds, and zeros."""
    return _window(op, picking_kind(element_of(op.operands[0])))


def _pad(op: stablehlo.PadOp) -> Rule:
    """A split dim exchanges what its devices lack; it lacks nothing where every element becomes a block of one size."""
    flows = (("sum", (0,)),) if is_zero(op.operands[1]) else ()
    windows = windows_of(op)
    if windows is not None:
        return _window_rule(windows, 1, flows)
    amounts = zip(*op.amounts, strict=True)
    moved = tuple(low < 0 or high < 0 or low + high != interior for low, high, interior in amounts)
    return _moved_rule(operand_shapes(op), shape_of(op.results[0].type), moved, flows)


@cache
def _dot_rule(
    lhs: Shape,
    rhs: Shape,
    batching: tuple[tuple[int, ...], ...],
    contracting: tuple[tuple[int, ...], ...],
    flows: tuple[tuple[str, tuple[int, ...]], ...],
) -> Rule:
    builder = RuleBuilder()
    left: dict[int, Dim] = {}
    right: dict[int, Dim] = {}
    for kind, (left_dims, right_dims) in ((PASS, batching), ("sum", contracting)):
        for i, j in zip(left_dims, right_dims, strict=True):
            left[i] = right[j] = builder.factor(lhs[i], kind)
    batch = [left[i] for i in batching[0]]
    left_free = [left.setdefault(i, builder.factor(size)) for i, size in enumerate(lhs) if i not in left]
    right_free = [right.setdefault(j, builder.factor(size)) for j, size in enumerate(rhs) if j not in right]
    operands = tuple(left[i] for i in range(len(lhs))), tuple(right[j] for j in range(len(rhs)))
    result = tuple(batch + left_free + right_free)
    return builder.rule(operands, (result,), flows, heavy=True)


def _dot_general(op: stablehlo.DotGeneralOp) -> Rule:
    """Batch dims, the free dims of each side, and contracted dims, which leave partial sums."""
    lhs, rhs = operand_shapes(op)
    # Sums of narrow integers wrap around; in a wider result their parts would not.
    result = element_of(op.result)
    wraps = any(is_integer(element_of(value)) and element_of(value) != result for value in op.operands)
    flows = () if wraps else (("sum", (0,)), ("sum", (1,)))
    return _dot_rule(lhs, rhs, op.batching_dims, op.contracting_dims, flows)


@cache
def _reduce_rule(shapes: tuple[Shape, ...], dims: tuple[int, ...], kind: str) -> Rule:
    builder = RuleBuilder()
    inputs = builder.tensor(shapes[0])
    for dim in dims:
        for factor in inputs[dim]:
            builder.kinds[factor] = kind
    result = tuple(factors for dim, factors in enumerate(inputs) if dim not in dims)
    count = len(shapes) // 2
    return builder.rule([inputs] * count + [SCALAR] * count, [result] * count, ((kind, tuple(range(count))),))


def _reduce(op: stablehlo.ReduceOp) -> Rule:
    """Reduced dims leave partial results when the body is one combiner; other bodies reduce parts, which then meet."""
    kind = splits(op)
    return fold_rule(op) if kind is None else _reduce_rule(operand_shapes(op), op.dims, kind)


for _name, _compute in {
    "constant": _constant,
    "iota": _iota,
    "optimization_barrier": _optimization_barrier,
    "select": _select,
    "clamp": _clamp,
    "divide": _divide,
    "convert": _convert,
    "bitcast_convert": _bitcast_convert,
    "broadcast_in_dim": _broadcast_in_dim,
    "transpose": _transpose,
    "reshape": _reshape,
    "slice": _slice,
    "reverse": _window,
    "pad": _pad,
    "dot_general": _dot_general,
    "reduce": _reduce,
}.items():
    add_row(f"stablehlo.{_name}", _compute)
