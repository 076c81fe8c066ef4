"""Shape arithmetic of StableHLO: result shapes from operand shapes; `VerifyException` says what does not fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.parts.attributes import DotDimensions

Shape = tuple[int, ...]


def text(shape: Sequence[int]) -> str:
    """A shape for messages: `4x8`, or `scalar`."""
    return "x".join(map(str, shape)) or "scalar"


def check_dims(dims: Sequence[int], rank: int, what: str, *, distinct: bool = True) -> None:
    """Checks that dims exist in a tensor of this rank, each at most once."""
    for dim in dims:
        if not 0 <= dim < rank:
            raise VerifyException(f"{what} {dim} is out of range for rank {rank}")
    if distinct and len(set(dims)) != len(dims):
        raise VerifyException(f"{what}s {list(dims)} name a dim twice")


def check_count(values: Sequence[int], rank: int, what: str) -> None:
    """Checks that there is one value for each dim."""
    if len(values) != rank:
        raise VerifyException(f"{what} has {len(values)} entries for rank {rank}")


def equal(shapes: Sequence[Shape]) -> Shape:
    """The shape that all operands share."""
    if any(shape != shapes[0] for shape in shapes):
        raise VerifyException(f"operand shapes differ: {', '.join(map(text, shapes))}")
    return shapes[0]


def check_broadcast(operand: Shape, dims: Sequence[int], result: Shape) -> None:
    """Checks `broadcast_in_dim`: operand dim `i` becomes result dim `dims[i]`, and only extents of 1 grow."""
    check_count(dims, len(operand), "broadcast_dimensions")
    check_dims(dims, len(result), "broadcast dimension")
    for index, dim in enumerate(dims):
        if operand[index] not in (1, result[dim]):
            raise VerifyException(
                f"operand dim {index} has {operand[index]} elements, but result dim {dim} has {result[dim]}"
            )


def check_reshape(operand: Shape, result: Shape) -> None:
    """Checks that a reshape keeps the number of elements."""
    if math.prod(operand) != math.prod(result):
        raise VerifyException(
            f"{text(operand)} has {math.prod(operand)} elements, but {text(result)} has {math.prod(result)}"
        )


def transpose(operand: Shape, permutation: Sequence[int]) -> Shape:
    """The shape after moving dim `permutation[i]` to place `i`."""
    check_count(permutation, len(operand), "permutation")
    check_dims(permutation, len(operand), "permuted dim")
    return tuple(operand[dim] for dim in permutation)


def slice_(operand: Shape, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]) -> Shape:
    """The shape of `operand[start:limit:stride, ...]`."""
    for values, what in ((starts, "start_indices"), (limits, "limit_indices"), (strides, "strides")):
        check_count(values, len(operand), what)
    result: list[int] = []
    for dim, (extent, start, limit, stride) in enumerate(zip(operand, starts, limits, strides, strict=True)):
        if stride < 1:
            raise VerifyException(f"stride {stride} of dim {dim} must be at least 1")
        if not 0 <= start <= limit <= extent:
            raise VerifyException(f"slice {start}:{limit} of dim {dim} does not fit its {extent} elements")
        result.append(-(-(limit - start) // stride))
    return tuple(result)


def pad(operand: Shape, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> Shape:
    """The shape after padding each dim before, after and between its elements; negative edges cut."""
    for values, what in ((low, "edge_padding_low"), (high, "edge_padding_high"), (interior, "interior_padding")):
        check_count(values, len(operand), what)
    result: list[int] = []
    for dim, extent in enumerate(operand):
        if interior[dim] < 0:
            raise VerifyException(f"interior padding {interior[dim]} of dim {dim} is negative")
        padded = extent + max(extent - 1, 0) * interior[dim] + low[dim] + high[dim]
        if padded < 0:
            raise VerifyException(f"padding leaves dim {dim} with {padded} elements")
        result.append(padded)
    return tuple(result)


def concatenate(operands: Sequence[Shape], dim: int) -> Shape:
    """The shape of operands laid end to end along `dim`."""
    if not operands:
        raise VerifyException("needs at least one operand")
    first = operands[0]
    check_dims([dim], len(first), "dimension")
    for shape in operands:
        if shape[:dim] + shape[dim + 1 :] != first[:dim] + first[dim + 1 :]:
            raise VerifyException(f"operands differ outside dim {dim}: {', '.join(map(text, operands))}")
    return (*first[:dim], sum(shape[dim] for shape in operands), *first[dim + 1 :])


def dot_general(lhs: Shape, rhs: Shape, dims: DotDimensions) -> Shape:
    """The result shape: batching dims, then the free dims of each operand."""
    check_dims(dims.lhs_batching + dims.lhs_contracting, len(lhs), "lhs dimension")
    check_dims(dims.rhs_batching + dims.rhs_contracting, len(rhs), "rhs dimension")
    pairs = (
        ("batching", dims.lhs_batching, dims.rhs_batching),
        ("contracting", dims.lhs_contracting, dims.rhs_contracting),
    )
    for what, left, right in pairs:
        if len(left) != len(right):
            raise VerifyException(f"{what} dimensions {list(left)} and {list(right)} must pair up")
        for a, b in zip(left, right, strict=True):
            if lhs[a] != rhs[b]:
                raise VerifyException(
                    f"{what} dimension sizes must match: lhs dim {a} has {lhs[a]}, rhs dim {b} has {rhs[b]}"
                )
    lhs_free, rhs_free = dims.free(len(lhs), len(rhs))
    return (
        *(lhs[dim] for dim in dims.lhs_batching),
        *(lhs[dim] for dim in lhs_free),
        *(rhs[dim] for dim in rhs_free),
    )


def reduce(operand: Shape, dims: Sequence[int]) -> Shape:
    """The shape without the reduced dims."""
    check_dims(dims, len(operand), "reduced dimension")
    gone = set(dims)
    return tuple(extent for dim, extent in enumerate(operand) if dim not in gone)
