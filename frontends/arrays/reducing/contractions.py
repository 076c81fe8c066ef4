"""The functions of the array API standard that multiply matrices, and `einsum`: all of them become `dot_general`."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import reduce

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DEFAULT_INTEGER, check_kind, kind_of
from shardwright.compiler.tracing.settings import dim_of, one_or_more
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import chlo, stablehlo
from shardwright.frontends.arrays.reducing.reductions import summed
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["einsum", "matmul", "tensordot", "vecdot"]

NUMERIC = ("integer", "float", "complex")
Numbers = int | Sequence[int]
_TERM = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")


class Term:
    """A value with a letter for each of its dims, as in einsum's notation."""

    def __init__(self, value: Tracer, labels: str) -> None:
        self.value = value
        self.labels = labels

    def size(self, label: str) -> int:
        """The size of the dim called `label`; 1 where there is none."""
        return self.value.shape[self.labels.index(label)] if label in self.labels else 1

    def dims(self, labels: Sequence[str]) -> tuple[int, ...]:
        """The dims called `labels`, in that order."""
        return tuple(self.labels.index(label) for label in labels)

    def summed_to(self, kept: str) -> Term:
        """The term with the dims that are not in `kept` summed over."""
        dims = self.dims([label for label in self.labels if label not in kept])
        value = summed(self.value, stablehlo.AddOp, dims, keepdims=False)
        return Term(value, "".join(label for label in self.labels if label in kept))

    def diagonal(self) -> Term:
        """The term with each letter once: of dims of one letter the elements at equal places."""
        again = next((at for at, label in enumerate(self.labels) if label in self.labels[:at]), None)
        if again is None:
            return self
        first, shape = self.labels.index(self.labels[again]), self.value.shape
        rows, columns = (emit.iota(DEFAULT_INTEGER, shape, dim) for dim in (first, again))
        zero = emit.constant(0, self.value.dtype, shape)
        kept = emit.select(emit.compare("EQ", rows, columns), self.value, zero)
        value = summed(kept, stablehlo.AddOp, (again,), keepdims=False)
        return Term(value, self.labels[:again] + self.labels[again + 1 :]).diagonal()

    def without_ones(self, other: Term) -> Term:
        """The term without the dims of size 1 along which `other` has more: a product repeats it there anyway."""
        kept = "".join(label for label in self.labels if self.size(label) != 1 or other.size(label) == 1)
        return Term(emit.reshape(self.value, [self.size(label) for label in kept]), kept)

    def ordered(self, labels: str) -> Tracer:
        """The value with its dims in this order."""
        return emit.transpose(self.value, self.dims(labels))


def product(left: Term, right: Term, kept: str) -> Term:
    """The product of two terms, summed over all labels that are not in `kept`."""
    left = left.summed_to(kept + right.labels)
    right = right.summed_to(kept + left.labels)
    left, right = left.without_ones(right), right.without_ones(left)
    batch = [label for label in left.labels if label in right.labels and label in kept]
    contracted = [label for label in left.labels if label in right.labels and label not in kept]
    dims = stablehlo.DotDimensions(left.dims(batch), right.dims(batch), left.dims(contracted), right.dims(contracted))
    free = [label for label in left.labels + right.labels if label not in batch and label not in contracted]
    return Term(emit.dot(left.value, right.value, dims), "".join(batch + free))


def _operands(what: str, *values: ArrayLike) -> list[Tracer]:
    """The values with their common type and their own shapes."""
    dtype = emit.result_dtype(what, *values)
    check_kind(dtype, NUMERIC, what)
    return [emit.typed(value, dtype, what) for value in values]


@array_function
def matmul(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """
    The matrix product over the last two dims; the dims before broadcast. `x1 @ x2` is the same.

    >>> import shardwright, numpy
    >>> shardwright.matmul(numpy.eye(2), numpy.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 2.],
           [3., 4.]])
    """
    left, right = _operands("matmul", x1, x2)
    if not left.ndim or not right.ndim:
        raise value_error("SW0504", "matmul needs tensors with dims", help="numbers multiply with *")
    _check_pair("matmul", left, left.ndim - 1, right, max(right.ndim - 2, 0))
    batch = emit.broadcast_shape("matmul", left.shape[:-2], right.shape[:-2])
    names = string.ascii_lowercase[: len(batch)]
    rows, columns = "M" if left.ndim > 1 else "", "N" if right.ndim > 1 else ""
    left_term = Term(left, names[len(names) - max(left.ndim - 2, 0) :] + rows + "K")
    right_term = Term(right, names[len(names) - max(right.ndim - 2, 0) :] + "K" + columns)
    kept = names + rows + columns
    return product(left_term, right_term, kept).ordered(kept)


@array_function
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The sum of products along dim `axis`, which both have, of the conjugate of `x1`; the other dims broadcast."""
    left, right = emit.operands("vecdot", x1, x2)
    check_kind(left.dtype, NUMERIC, "vecdot")
    if kind_of(left.dtype) == "complex":
        left = emit.unary(chlo.ConjOp, left)
    dim = dim_of(axis, left.ndim, "vecdot")
    _check_both_have("vecdot", left.ndim - dim, emit.shape_of(x1), emit.shape_of(x2))
    names = string.ascii_lowercase[: left.ndim]
    kept = names[:dim] + names[dim + 1 :]
    return product(Term(left, names), Term(right, names), kept).ordered(kept)


@array_function
def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: int | tuple[Numbers, Numbers] = 2) -> Array:
    """The sum of products over pairs of dims: the last `axes` of one and the first of the other, or two lists."""
    left, right = _operands("tensordot", x1, x2)
    pairs = _paired(left.ndim, right.ndim, axes)
    for one, two in pairs:
        _check_pair("tensordot", left, one, right, two)
    left_names = string.ascii_lowercase[: left.ndim]
    right_names = list(string.ascii_uppercase[: right.ndim])
    for one, two in pairs:
        right_names[two] = left_names[one]
    right_term = Term(right, "".join(right_names))
    contracted = {left_names[one] for one, _ in pairs}
    kept = "".join(label for label in left_names + right_term.labels if label not in contracted)
    return product(Term(left, left_names), right_term, kept).ordered(kept)


def _paired(left: int, right: int, axes: int | tuple[Numbers, Numbers]) -> list[tuple[int, int]]:
    """The dims of two tensors of so many dims that are summed over together."""
    if isinstance(axes, int) and axes < 0:
        raise value_error("SW0510", f"tensordot: no {axes} dims can be summed over", help="give a number from 0 on")
    last, first = (range(left - axes, left), range(axes)) if isinstance(axes, int) else axes
    ones = [dim_of(dim, left, "tensordot") for dim in one_or_more(last)]
    twos = [dim_of(dim, right, "tensordot") for dim in one_or_more(first)]
    if not len(ones) == len(twos) == len(set(ones)) == len(set(twos)):
        raise value_error("SW0510", f"tensordot: {axes} does not pair up dims", help="give two lists of one length")
    return [*zip(ones, twos, strict=True)]


@array_function
def einsum(equation: str, /, *operands: ArrayLike) -> Array:
    """
    Products summed as Einstein's notation says; operands are multiplied from left to right.

    A letter that an operand has twice means its diagonal.

    >>> import shardwright, numpy
    >>> shardwright.einsum("ij,j->i", numpy.ones((2, 3)), numpy.arange(3.0))
    array([3., 3.])
    """
    values = _operands("einsum", *operands)
    inputs, result = _read(equation, [value.ndim for value in values])
    given = [Term(value, labels) for value, labels in zip(values, inputs, strict=True)]
    _check_sizes(equation, given)
    terms = [term.diagonal() for term in given]
    last = reduce(
        lambda done, place: product(done, terms[place], result + "".join(inputs[place + 1 :])),
        range(1, len(terms)),
        terms[0],
    )
    return last.summed_to(result).ordered(result)


def _read(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The labels of each operand and of the result, with letters instead of `...`."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        raise _notation(equation, f"names {len(inputs)} operands, but there are {len(ranks)}")
    spare = [letter for letter in string.ascii_letters if letter not in equation]
    dots = max((_hidden(equation, term, rank) for term, rank in zip(inputs, ranks, strict=True)), default=0)
    hidden = "".join(spare[:dots])
    names = [
        term.replace("...", hidden[dots - _hidden(equation, term, rank) :])
        for term, rank in zip(inputs, ranks, strict=True)
    ]
    every = "".join(names)
    result = (
        right.replace("...", hidden)
        if arrow
        else hidden + "".join(sorted(label for label in set(every) - set(hidden) if every.count(label) == 1))
    )
    if len(set(result)) != len(result):
        raise _notation(equation, f"names a dim twice in {result!r}")
    if not set(result) <= set(every) or not _TERM.fullmatch(right):
        raise _notation(equation, f"has a result {right!r} that its operands do not make")
    return names, result


def _hidden(equation: str, term: str, rank: int) -> int:
    """The number of dims that `...` stands for."""
    if not _TERM.fullmatch(term):
        raise _notation(equation, f"has an operand {term!r} that is no row of letters")
    named = len(term.replace("...", ""))
    if named > rank or ("..." not in term and named != rank):
        raise _notation(equation, f"names {named} dims in {term!r}, but the tensor has {rank}")
    return rank - named


def _check_sizes(equation: str, terms: Sequence[Term]) -> None:
    sizes: dict[str, int] = {}
    for term in terms:
        for label, size in zip(term.labels, term.value.shape, strict=True):
            twice = term.labels.count(label) > 1 and size != sizes.get(label, size)
            if twice or (1 not in (size, sizes.setdefault(label, size)) and size != sizes[label]):
                raise _notation(equation, f"gives {label!r} the sizes {sizes[label]} and {size}")
            sizes[label] = max(size, sizes[label])


def _notation(equation: str, problem: str) -> Exception:
    return value_error("SW0511", f"einsum: {equation!r} {problem}", help="write it like 'bij,bjk->bik'")


def _check_both_have(what: str, back: int, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """Refuses sizes that would broadcast in the dim, counted from the end, that is summed over."""
    sizes = [shape[-back] if len(shape) >= back else None for shape in (left, right)]
    if sizes[0] != sizes[1]:
        raise value_error(
            "SW0504",
            f"{what} does not fit shapes {list(left)} and {list(right)}",
            f"dim -{back} is summed over, and not of the same size in both",
            help="these two must be equal",
        )


def _check_pair(what: str, left: Tracer, left_dim: int, right: Tracer, right_dim: int) -> None:
    if left.shape[left_dim] != right.shape[right_dim]:
        raise value_error(
            "SW0504",
            f"{what} does not fit shapes {list(left.shape)} and {list(right.shape)}",
            f"dim {left_dim} of the left has size {left.shape[left_dim]}, "
            f"dim {right_dim} of the right {right.shape[right_dim]}",
            help="these two must be equal",
        )
