"""Rows of the sharding table whose dims depend on the op's attributes or on its element types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, cast

from xdsl.dialects.builtin import ComplexType, IntegerType, TensorType
from xdsl.ir import Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.types import element_dtype
from shardwright.rules.reductions import is_zero, splits
from shardwright.rules.rule import ANY, PASS, PERMUTE, REPLICATE, Dim, Rule, Tensor
from shardwright.rules.sharding import Shape, add_row, operand_shapes, shape_of

_SCALAR: Tensor = ()


class _Builder:
    """Numbers factors as dims ask for them."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.kinds: list[str] = []

    def factor(self, size: int, kind: str = PASS) -> Dim:
        """A new factor as a dim; dims of size one have none."""
        if size == 1:
            return ()
        self.sizes.append(size)
        self.kinds.append(kind)
        return (len(self.sizes) - 1,)

    def tensor(self, shape: Sequence[int], kind: str = PASS) -> Tensor:
        """A new factor for each dim."""
        return tuple(self.factor(size, kind) for size in shape)

    def rule(
        self,
        operands: Sequence[Tensor],
        results: Sequence[Tensor],
        flows: Sequence[tuple[str, tuple[int, ...]]] = (),
        *,
        identity: bool = False,
        pairwise: bool = False,
        heavy: bool = False,
    ) -> Rule:
        """The finished rule."""
        sizes, kinds = tuple(self.sizes), tuple(self.kinds)
        return Rule(sizes, tuple(operands), tuple(results), kinds, tuple(flows), identity, pairwise, heavy)


@cache
def _creation(shape: Shape, kind: str) -> Rule:
    builder = _Builder()
    return builder.rule((), (builder.tensor(shape, kind),))


def _constant(op: Operation) -> Rule:
    assert isinstance(op, stablehlo.ConstantOp)
    return _creation(shape_of(op.results[0].type), PASS if stablehlo.is_splat(op) else REPLICATE)


def _iota(op: Operation) -> Rule:
    return _creation(shape_of(op.results[0].type), PASS)


@cache
def _pairwise(shapes: tuple[Shape, ...]) -> Rule:
    builder = _Builder()
    tensors = [builder.tensor(shape) for shape in shapes]
    return builder.rule(tensors, tensors, pairwise=True)


def _optimization_barrier(op: Operation) -> Rule:
    return _pairwise(operand_shapes(op))


@cache
def _elementwise(shapes: tuple[Shape, ...], result: Shape, flows: tuple[tuple[str, tuple[int, ...]], ...]) -> Rule:
    builder = _Builder()
    dims = builder.tensor(result)
    operands = [dims if shape == result else _SCALAR for shape in shapes]
    return builder.rule(operands, (dims,), flows, identity=all(shape == result for shape in shapes))


def _select(op: Operation) -> Rule:
    return _elementwise(operand_shapes(op), shape_of(op.results[0].type), ((ANY, (1, 2)),))


def _clamp(op: Operation) -> Rule:
    return _elementwise(operand_shapes(op), shape_of(op.results[0].type), ())


def _divide(op: Operation) -> Rule:
    """Partial sums may be divided, except where division rounds (integers)."""
    exact = not isinstance(_element_type(op.results[0].type), IntegerType)
    flows = (("sum", (0,)),) if exact else ()
    return _elementwise(operand_shapes(op), shape_of(op.results[0].type), flows)


def _convert(op: Operation) -> Rule:
    """Partial sums pass through a conversion that loses nothing, all else through one that keeps the order as well."""
    source, target = _element_type(op.operands[0].type), _element_type(op.results[0].type)
    flows = (("sum", (0,)), ("max", (0,)), ("min", (0,))) if _widens(source, target) else ()
    return _elementwise(operand_shapes(op), shape_of(op.results[0].type), flows)


def _element_type(type_: object) -> object:
    return cast("TensorType[Any]", type_).element_type


def _widens(source: object, target: object) -> bool:
    if source == target:
        return True
    if isinstance(source, IntegerType | ComplexType) or isinstance(target, IntegerType | ComplexType):
        return False
    return element_dtype(cast(Any, source)).itemsize < element_dtype(cast(Any, target)).itemsize


@cache
def _bitcast_rule(source: Shape, target: Shape) -> Rule:
    builder = _Builder()
    shared = builder.tensor(source[: min(len(source), len(target))])
    operand = shared + builder.tensor(source[len(shared) :], REPLICATE)
    result = shared + builder.tensor(target[len(shared) :], REPLICATE)
    return builder.rule((operand,), (result,))


def _bitcast_convert(op: Operation) -> Rule:
    return _bitcast_rule(shape_of(op.operands[0].type), shape_of(op.results[0].type))


@cache
def _broadcast_rule(source: Shape, target: Shape, dims: tuple[int, ...]) -> Rule:
    builder = _Builder()
    result = builder.tensor(target)
    operand = tuple(result[dim] if size == target[dim] else () for size, dim in zip(source, dims, strict=True))
    return builder.rule((operand,), (result,), ((ANY, (0,)),), identity=operand == result)


def _broadcast_in_dim(op: Operation) -> Rule:
    assert isinstance(op, stablehlo.BroadcastInDimOp)
    return _broadcast_rule(shape_of(op.operands[0].type), shape_of(op.results[0].type), op.dims)


@cache
def _transpose_rule(source: Shape, permutation: tuple[int, ...]) -> Rule:
    builder = _Builder()
    operand = builder.tensor(source)
    return builder.rule((operand,), (tuple(operand[dim] for dim in permutation),), ((ANY, (0,)),))


def _transpose(op: Operation) -> Rule:
    assert isinstance(op, stablehlo.TransposeOp)
    return _transpose_rule(shape_of(op.operands[0].type), op.dims)


@cache
def _reshape_rule(source: Shape, target: Shape) -> Rule:
    """
    Splits both shapes into the factors that they share: `(8, 32) -> 256` is `i j -> (i j)`.

    Within a stretch of dims whose products agree, the factors are the steps of the merged running products, as long as
    each divides the next; where they don't, the stretch has to be whole.
    """
    builder = _Builder()
    operand: list[Dim] = []
    result: list[Dim] = []
    for left, right in _stretches(source, target):
        left_steps, right_steps = _running(left), _running(right)
        steps = sorted({*left_steps, *right_steps})
        nests = all(big % small == 0 for small, big in pairwise(steps))
        if not nests:
            operand += builder.tensor(left, REPLICATE)
            result += builder.tensor(right, REPLICATE)
            continue
        factors = {step: builder.factor(step // before) for before, step in zip([1, *steps], steps, strict=False)}
        operand += _compound(left_steps, steps, factors)
        result += _compound(right_steps, steps, factors)
    return builder.rule((tuple(operand),), (tuple(result),), ((ANY, (0,)),))


def _running(sizes: Sequence[int]) -> list[int]:
    return [math.prod(sizes[: index + 1]) for index in range(len(sizes))]


def _compound(mine: Sequence[int], steps: Sequence[int], factors: dict[int, Dim]) -> list[Dim]:
    dims: list[Dim] = []
    before = 1
    for stop in mine:
        dims.append(tuple(factor for step in steps if before < step <= stop for factor in factors[step]))
        before = stop
    return dims


def _stretches(source: Shape, target: Shape) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The shortest stretches of dims of both shapes with equal products; empty tensors make one stretch."""
    if 0 in source:
        return [(source, target)] if source == target else [((0,) * len(source), (0,) * len(target))]
    stretches: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    i = j = 0
    while i < len(source) or j < len(target):
        i0, j0 = i, j
        left = right = 1
        if i < len(source) and j < len(target):
            left, right = source[i], target[j]
            i, j = i + 1, j + 1
        elif i < len(source):
            i += 1
        else:
            j += 1
        while left != right:
            if left < right:
                left, i = left * source[i], i + 1
            else:
                right, j = right * target[j], j + 1
        stretches.append((source[i0:i], target[j0:j]))
    return stretches


def _reshape(op: Operation) -> Rule:
    return _reshape_rule(shape_of(op.operands[0].type), shape_of(op.results[0].type))


@cache
def _moved_rule(operands: tuple[Shape, ...], result: Shape, moved: tuple[bool, ...], flows: tuple[Any, ...]) -> Rule:
    """Dims that stay pass; dims along which elements move have factors of their own in each tensor."""
    builder = _Builder()
    shared = [() if move else builder.factor(size) for size, move in zip(result, moved, strict=True)]

    def tensor(shape: Shape) -> Tensor:
        if len(shape) != len(moved):
            return builder.tensor(shape, REPLICATE)
        return tuple(
            builder.factor(size, PERMUTE) if move else shared[dim]
            for dim, (size, move) in enumerate(zip(shape, moved, strict=True))
        )

    return builder.rule([tensor(shape) for shape in operands], (tensor(result),), flows)


def _slice(op: Operation) -> Rule:
    source, target = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    return _moved_rule((source,), target, tuple(a != b for a, b in zip(source, target, strict=True)), ((ANY, (0,)),))


def _reverse(op: Operation) -> Rule:
    assert isinstance(op, stablehlo.ReverseOp)
    shape = shape_of(op.operands[0].type)
    return _moved_rule((shape,), shape, tuple(dim in op.dims for dim in range(len(shape))), ((ANY, (0,)),))


def _pad(op: Operation) -> Rule:
    assert isinstance(op, stablehlo.PadOp)
    edges = zip(*op.amounts, strict=True)
    flows = (("sum", (0,)),) if is_zero(op.operands[1]) else ()
    return _moved_rule(operand_shapes(op), shape_of(op.results[0].type), tuple(map(any, edges)), flows)


def _concatenate(op: Operation) -> Rule:
    assert isinstance(op, stablehlo.ConcatenateOp)
    shape = shape_of(op.results[0].type)
    everyone = tuple(range(len(op.operands)))
    moved = tuple(dim == op.dim for dim in range(len(shape)))
    return _moved_rule(operand_shapes(op), shape, moved, ((ANY, everyone),))


@cache
def _dot_rule(
    lhs: Shape, rhs: Shape, batching: tuple[tuple[int, ...], ...], contracting: tuple[tuple[int, ...], ...]
) -> Rule:
    builder = _Builder()
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
    return builder.rule(operands, (result,), (("sum", (0,)), ("sum", (1,))), heavy=True)


def _dot_general(op: Operation) -> Rule:
    assert isinstance(op, stablehlo.DotGeneralOp)
    lhs, rhs = operand_shapes(op)
    return _dot_rule(lhs, rhs, op.batching_dims, op.contracting_dims)


@cache
def _reduce_rule(shapes: tuple[Shape, ...], dims: tuple[int, ...], kind: str) -> Rule:
    builder = _Builder()
    inputs = builder.tensor(shapes[0])
    for dim in dims:
        for factor in inputs[dim]:
            builder.kinds[factor] = kind
    result = tuple(factors for dim, factors in enumerate(inputs) if dim not in dims)
    count = len(shapes) // 2
    flows = ((kind, tuple(range(count))),) if kind != REPLICATE else ()
    return builder.rule([inputs] * count + [_SCALAR] * count, [result] * count, flows)


def _reduce(op: Operation) -> Rule:
    """Splittable over the reduced dims when the body is one combiner and the initial value is its identity."""
    assert isinstance(op, stablehlo.ReduceOp)
    return _reduce_rule(operand_shapes(op), op.dims, splits(op) or REPLICATE)


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
    "reverse": _reverse,
    "pad": _pad,
    "concatenate": _concatenate,
    "dot_general": _dot_general,
    "reduce": _reduce,
}.items():
    add_row(f"stablehlo.{_name}", _compute)
