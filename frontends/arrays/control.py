"""Control flow in traced functions: `cond`, `switch`, `while_loop`, `scan`; `jacobian`, which goes row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar, TypeVarTuple

import numpy as np
from xdsl.ir import Operation, Region

from shardwright.compiler.control import regions
from shardwright.compiler.control.gradients import rows_of
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import BOOLEAN, WIDE, DType, brief, kind_of
from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.pytree import LEAF, IsLeaf, Static, Tree, arranged, flatten, unflatten
from shardwright.compiler.tracing.settings import settled
from shardwright.compiler.tracing.trace import Tracer, current_trace
from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo import ConvertOp
from shardwright.dialects.types import AnyTensor, element_dtype, element_of
from shardwright.frontends.arrays.shapes import stack
from shardwright.frontends.functions.function import Function

__all__ = ["cond", "jacobian", "scan", "switch", "vmap", "while_loop"]

Carry = TypeVar("Carry")
Row = TypeVar("Row")
Made = TypeVar("Made")
Operands = TypeVarTuple("Operands")

Axes: TypeAlias = "int | Sequence[Any] | dict[Any, Any] | None"
"""A dim for each array, None where there is none; one for a whole tree stands for all of its arrays."""

INT32 = np.dtype("int32")
KINDS = ("integer", "float", "complex")
"""Kinds of numbers, each of which the next ones hold."""

EXACT = (WIDE["float"], WIDE["complex"])
"""The types that have all digits of a number that is no whole one."""


Make = Callable[[Sequence[Region], Sequence[AnyTensor]], Operation]
"""Makes an op of its branches and the types of its results."""

Step = Callable[[list[Tracer], list[Tracer]], tuple[list[Tracer], list[Tracer]]]
"""One round of a scan: the next state and the results, of the state and one row of each input."""


class _Flags(Exception):
    """Trees differ in nothing but truth values: these are no constants of Python's, but values of the program."""


def _is_value(leaf: Any) -> bool:
    """What steps and branches compute: truth values as well, which steer Python elsewhere."""
    return type(leaf) is bool or is_traced(leaf)


@settled
def cond(
    pred: ArrayLike, true_fn: Callable[[*Operands], Made], false_fn: Callable[[*Operands], Made], *operands: *Operands
) -> Made:
    """
    One of two functions of the operands, chosen by a scalar truth value; only that one runs.

    Both must return trees of the same shapes and types (`TypeError`, SW0521), and may assign to variables. Outside of a
    traced function the chosen one is simply called.

    >>> import numpy, shardwright
    >>> halve = shardwright.function(lambda x: shardwright.cond(x > 10, lambda y: y / 2, lambda y: y, x))
    >>> halve(numpy.array(16.0)), halve(numpy.array(4.0))
    (array(8.), array(4.))
    """
    if current_trace() is None:
        return true_fn(*operands) if _holds(pred, "the condition of cond") else false_fn(*operands)
    chosen = _scalar(pred, "the condition of cond")
    if chosen.dtype != BOOLEAN:
        raise _mismatch(f"the condition of cond is {brief(chosen.dtype)}, not a truth value", "compare it: x > 0")
    return _branch([true_fn, false_fn], operands, lambda bodies, types: _if(chosen, bodies, types))


@settled
def switch(index: ArrayLike, branches: Sequence[Callable[[*Operands], Made]], *operands: *Operands) -> Made:
    """
    One of several functions of the operands, chosen by a scalar whole number, which is clamped to those there are.

    >>> import numpy, shardwright
    >>> pick = shardwright.function(lambda i: shardwright.switch(i, [lambda: 1.0, lambda: 2.0, lambda: 3.0]))
    >>> float(pick(numpy.array(1))), float(pick(numpy.array(7)))
    (2.0, 3.0)
    """
    if not branches:
        raise value_error("SW0521", "switch needs at least one branch", help="give a list of functions")
    if current_trace() is None:
        _check_place(emit.dtype_of(index, "switch"), emit.shape_of(index))
        return branches[min(max(int(np.asarray(index)), 0), len(branches) - 1)](*operands)
    chosen = emit.as_tracer(index, "switch")
    _check_place(chosen.dtype, chosen.shape)
    low, high = emit.constant(0, chosen.dtype), emit.constant(len(branches) - 1, chosen.dtype)
    clamped = emit.trace_now().emit(stablehlo.ClampOp(low.value, chosen.value, high.value))
    place = emit.convert(clamped, INT32)
    return _branch(branches, operands, lambda bodies, types: stablehlo.CaseOp(place.value, bodies, types))


def _if(chosen: Tracer, bodies: Sequence[Region], types: Sequence[AnyTensor]) -> Operation:
    on_true, on_false = bodies
    return stablehlo.IfOp(chosen.value, on_true, on_false, types)


@settled
def while_loop(cond_fn: Callable[[Carry], ArrayLike], body_fn: Callable[[Carry], Carry], init: Carry) -> Carry:
    """
    Applies `body_fn` to a tree of arrays for as long as `cond_fn` of it holds.

    The body must return a tree of the same shapes and types (`TypeError`, SW0521). A gradient needs a loop that counts
    up to a constant.

    >>> import numpy, shardwright
    >>> doubled = lambda x: shardwright.while_loop(lambda y: y < 100, lambda y: y * 2, x)
    >>> shardwright.function(doubled)(numpy.array(3.0))
    array(192.)
    """
    if current_trace() is None:
        value = init
        while _holds(cond_fn(value), "the condition of while_loop"):
            value = body_fn(value)
        return value
    try:
        return _while_traced(cond_fn, body_fn, init, is_traced)
    except _Flags:
        return _while_traced(cond_fn, body_fn, init, _is_value)


def _while_traced(cond_fn: Callable[[Any], Any], body_fn: Callable[[Any], Any], init: Any, is_leaf: IsLeaf) -> Any:
    leaves, tree = flatten(init, is_leaf)

    def follow(values: list[Tracer]) -> Sequence[Any]:
        cond_fn(unflatten(tree, values))
        return flatten(arranged(body_fn(unflatten(tree, values)), tree), is_leaf)[0]

    start = _met(leaves, [emit.as_tracer(leaf, "while_loop") for leaf in leaves], follow)
    form = _Form(tree, start, is_leaf)

    def test(values: list[Tracer]) -> list[Tracer]:
        found = _scalar(cond_fn(unflatten(tree, values)), "the condition of while_loop")
        if found.dtype != BOOLEAN:
            raise _mismatch(f"the condition of while_loop is {brief(found.dtype)}", "return a comparison: x > 0")
        return [found]

    def body(values: list[Tracer]) -> list[Tracer]:
        return _fitting(body_fn(unflatten(tree, values)), form, "the body of while_loop", "its initial value")

    return unflatten(tree, regions.loop(start, test, body))


@settled
def scan(
    f: Callable[[Carry, Row], tuple[Carry, Made]],
    init: Carry,
    xs: Row | None = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Carry, Made]:
    """
    Folds `f` over the first dim of a tree of arrays: `carry, y = f(carry, x)`; the last carry and all `y`, stacked.

    `length` says how often when there is nothing to fold over; `reverse` goes from the last element to the first.
    Raises `TypeError` (SW0521) when `f` changes the carry's shapes or types, `ValueError` for different lengths.

    >>> import numpy, shardwright
    >>> running = shardwright.function(lambda x: shardwright.scan(lambda s, y: (s + y, s + y), 0.0, x))
    >>> running(numpy.array([1.0, 2.0, 3.0]))
    (array(6.), array([1., 3., 6.]))
    """
    leaves, tree = flatten(xs, is_traced)
    count = _length(leaves, length)
    if current_trace() is None:
        if count:
            return _scan_now(f, init, leaves, tree, count, reverse)

        def folded(init: Carry, xs: Row | None) -> Any:
            return scan(f, init, xs, length, reverse)

        return Function(folded)(init, xs)  # a trace knows what `f` would make
    inputs = [emit.as_tracer(leaf, "scan") for leaf in leaves]
    try:
        return _scan_of(f, init, is_traced, inputs, tree, count, reverse)
    except _Flags:
        return _scan_of(f, init, _is_value, inputs, tree, count, reverse)


def _scan_of(
    f: Callable[[Any, Any], Any],
    init: Any,
    is_leaf: IsLeaf,
    inputs: list[Tracer],
    tree: Tree,
    count: int,
    reverse: bool,
) -> tuple[Any, Any]:
    carry, carry_tree = flatten(init, is_leaf)

    def follow(values: list[Tracer]) -> Sequence[Any]:
        rows = [emit.constant(0, each.dtype, each.shape[1:]) for each in inputs]
        following = _pair(f(unflatten(carry_tree, values), unflatten(tree, rows)))[0]
        return flatten(arranged(following, carry_tree), is_leaf)[0]

    start = _met(carry, [_settled(leaf, inputs) for leaf in carry], follow)
    form, shapes = _Form(carry_tree, start, is_leaf), list[Tree]()

    def step(values: list[Tracer], rows: list[Tracer]) -> tuple[list[Tracer], list[Tracer]]:
        carry, result = _pair(f(unflatten(carry_tree, values), unflatten(tree, rows)))
        following = _fitting(carry, form, "the carry of scan", "its initial value")
        made, made_tree = flatten(result, _is_value)
        shapes[:] = [made_tree]
        return following, [emit.as_tracer(value, "scan") for value in made]

    results, stacks = _scan_traced(step, start, inputs, count, reverse)
    return unflatten(carry_tree, results), unflatten(shapes[0], stacks)


@settled
def jacobian(function: Callable[..., Any], argnum: int = 0) -> Function[..., Any]:
    """
    The function that gives the derivative of every element of a function's results by every element of an argument.

    The dims of a result come first, then those of the argument; of trees it is a tree of results of trees of
    arguments. Row by row, one gradient for each element of the results, in a loop: what all of them need is computed
    once. `jacobian(grad(f))` has the second derivatives. Raises `TypeError` (SW0520) for arguments and results that
    are no floats.

    >>> import numpy, shardwright
    >>> shardwright.jacobian(lambda x: x * x)(numpy.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return Function(rows_of(function, argnum, _each))


@settled
def vmap(
    function: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0, *, axis_size: int | None = None
) -> Function[..., Any]:
    """
    The function that does for all rows of its arguments what `function` does for one (as `jax.vmap`).

    `in_axes` says for each positional argument along which dim its rows lie, None for one that all rows share;
    `out_axes` where they lie in the results. Either may be one for all, or a tree of them for a tree of arrays. Named
    arguments are mapped along their first dim. The rows are one dim of whole arrays, as if it had been written so: it
    is split, differentiated and mapped again like any other. `axis_size` is the number of rows where no argument says.

    Raises `ValueError` (SW0526) for dims that do not fit, `TypeError` (SW0526) for operations that have no form for all
    rows, such as a layout for one row.

    >>> import numpy, shardwright
    >>> dots = shardwright.vmap(lambda x, y: shardwright.sum(x * y), in_axes=(0, None))
    >>> dots(numpy.array([[1.0, 2.0], [3.0, 4.0]]), numpy.array([1.0, 10.0]))
    array([21., 43.])
    """
    # Only who maps needs the rules.
    from shardwright.compiler.control.batching.mapping import mapped

    return Function(mapped(function, in_axes, out_axes, axis_size))


def _each(row: Callable[[Tracer], list[Tracer]], count: int) -> list[Tracer]:
    """What a function gives for each number below `count`, stacked."""
    numbers = emit.iota(INT32, (count,), 0)
    return _scan_traced(lambda state, rows: (state, row(rows[0])), [], [numbers], count, False)[1]


def _settled(leaf: Any, inputs: Sequence[Tracer]) -> Tracer:
    """An initial value; a Python number takes the type of the arrays that are folded, as far as these can hold it."""
    kind = emit.weak_kind(leaf)
    if kind == "boolean":
        return emit.as_tracer(leaf, "scan")
    # Whole numbers that are counted through say nothing of a float that is carried.
    fit = {"float": ("float", "complex"), "complex": ("complex",)}.get(kind or "")
    met = [each for each in inputs if fit is None or kind_of(each.dtype) in fit]
    if kind is None or not met:
        return emit.as_tracer(leaf, "scan")
    return emit.fit(leaf, emit.result_dtype("scan", leaf, *met), ())


def _met(leaves: Sequence[Any], start: list[Tracer], follow: Callable[[list[Tracer]], Sequence[Any]]) -> list[Tracer]:
    """
    The initial values of a loop: numbers have all their digits where they meet floats that have as many.

    `follow` makes of the values of a round those of the next: it is written once more for each step, and thrown away.
    """
    found, places = list(start), [at for at, leaf in enumerate(leaves) if emit.weak_kind(leaf) in ("float", "complex")]
    numbers = [place for place in places if start[place].dtype not in EXACT]
    met = set(numbers)
    while met:
        try:
            met, fits = _meeting(numbers, found, follow)
        except ShardwrightError:
            return start  # what is wrong is said of the types that the numbers have by themselves
        if not met and not fits:
            return start
        for place in met:
            numbers.remove(place)
            found[place] = emit.fit(leaves[place], WIDE[kind_of(found[place].dtype)], ())
    return found


def _meeting(
    numbers: Sequence[int], start: Sequence[Tracer], follow: Callable[[list[Tracer]], Sequence[Any]]
) -> tuple[set[int], bool]:
    """Which numbers meet floats with more digits in a round, or become such; and whether all keep their types."""
    met, fits = set[int](), list[bool]()

    def body(values: list[Tracer]) -> list[Tracer]:
        following = follow(values)
        # Numbers take the type that is due, which is the one that they had.
        pairs = zip(following, start, strict=False)
        become = [due.dtype if emit.weak_kind(each) else emit.dtype_of(each, "a loop") for each, due in pairs]
        for place in numbers:
            readers = [use.operation for use in values[place].value.uses]
            made = [element_dtype(element_of(each.results[0])) for each in readers if isinstance(each, ConvertOp)]
            if any(dtype in EXACT for dtype in (*made, *become[place : place + 1])):
                met.add(place)
        fits[:] = [all(dtype == value.dtype for dtype, value in zip(become, start, strict=False))]
        return []

    regions.region_of(start, body, {})
    return met, all(fits)


def _scan_traced(
    step: Step, start: list[Tracer], inputs: list[Tracer], count: int, reverse: bool
) -> tuple[list[Tracer], list[Tracer]]:
    kinds = _kinds(step, start, inputs)
    stacks = [emit.constant(0, dtype, (count, *shape)) for shape, dtype in kinds]
    if count == 0:
        return start, stacks
    carried = [emit.constant(0, INT32), *start, *stacks]

    def test(values: list[Tracer]) -> list[Tracer]:
        return [emit.compare("LT", values[0], emit.constant(count, INT32))]

    def body(values: list[Tracer]) -> list[Tracer]:
        index, state, piles = values[0], values[1 : 1 + len(start)], values[1 + len(start) :]
        place = emit.binary(stablehlo.SubtractOp, emit.constant(count - 1, INT32), index) if reverse else index
        following, made = step(state, [_row(value, place) for value in inputs])
        piles = [_stored(pile, row, place) for pile, row in zip(piles, made, strict=True)]
        return [emit.binary(stablehlo.AddOp, index, emit.constant(1, INT32)), *following, *piles]

    results = regions.loop(carried, test, body)
    return results[1 : 1 + len(start)], results[1 + len(start) :]


def _kinds(step: Step, start: list[Tracer], inputs: list[Tracer]) -> list[tuple[tuple[int, ...], Any]]:
    """The shapes and types of one step's results: the step is written once for them, and thrown away."""
    found: list[tuple[tuple[int, ...], Any]] = []

    def body(values: list[Tracer]) -> list[Tracer]:
        _, made = step(values, [emit.constant(0, value.dtype, value.shape[1:]) for value in inputs])
        found[:] = [(value.shape, value.dtype) for value in made]
        return made

    regions.region_of(start, body, {})
    return found


def _row(stack: Tracer, index: Tracer) -> Tracer:
    shape = stack.shape[1:]
    starts = [index.value, *[emit.constant(0, INT32).value for _ in shape]]
    row = emit.trace_now().emit(stablehlo.DynamicSliceOp(stack.value, starts, (1, *shape)))
    return emit.reshape(row, shape)


def _stored(stack: Tracer, row: Tracer, index: Tracer) -> Tracer:
    starts = [index.value, *[emit.constant(0, INT32).value for _ in row.shape]]
    update = emit.reshape(row, (1, *row.shape))
    return emit.trace_now().emit(stablehlo.DynamicUpdateSliceOp(stack.value, update.value, starts))


def _scan_now(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Any, leaves: Sequence[Any], tree: Tree, count: int, reverse: bool
) -> tuple[Any, Any]:
    carry, rows = init, list[Any]()
    for place in reversed(range(count)) if reverse else range(count):
        carry, made = _pair(f(carry, unflatten(tree, [leaf[place] for leaf in leaves])))
        rows.append(made)
    rows = rows[::-1] if reverse else rows
    parts = [flatten(row, _is_value) for row in rows]
    stacked = [stack(list(column)) for column in zip(*(part for part, _ in parts), strict=True)]
    return carry, unflatten(parts[0][1], stacked)


def _pair(found: Any) -> tuple[Any, Any]:
    """The next carry and the result of one step of a scan."""
    if not isinstance(found, tuple) or len(found) != 2:  # pyright: ignore[reportUnknownArgumentType]
        raise _mismatch("the function of scan must return a pair", "return the next carry and one result")
    return found


def _length(leaves: Sequence[Any], length: int | None) -> int:
    shapes = [leaf.shape if isinstance(leaf, Array) else np.shape(leaf) for leaf in leaves]
    if not all(shapes):
        raise value_error("SW0521", "scan folds over first dims, and a scalar has none", help="give arrays in xs")
    found = {shape[0] for shape in shapes} | ({length} if length is not None else set[int]())
    if len(found) != 1:
        what = f"different lengths: {sorted(found)}" if found else "no length"
        raise value_error("SW0521", f"scan was given {what}", help="give xs of one length, or length= without xs")
    return found.pop()


@dataclass(frozen=True)
class _Form:
    """What results have to be like: a tree, its leaves, and what is a leaf."""

    tree: Tree
    leaves: Sequence[Tracer]
    is_leaf: IsLeaf


def _branch(
    branches: Sequence[Callable[..., Any]], operands: Sequence[Any], make: Make, is_leaf: IsLeaf = is_traced
) -> Any:
    forms: list[_Form] = []

    def write(branch: Callable[..., Any], number: int, _: Sequence[Tracer]) -> list[Tracer]:
        value = branch(*operands)
        if not forms:
            leaves, tree = flatten(value, is_leaf)
            forms.append(_Form(tree, [emit.as_tracer(leaf, "a branch") for leaf in leaves], is_leaf))
            return list(forms[0].leaves)
        return _fitting(value, forms[0], f"branch {number}", "branch 0")

    try:
        bodies, variables = regions.branches_of([partial(write, each, number) for number, each in enumerate(branches)])
    except _Flags:
        return _branch(branches, operands, make, _is_value)
    types = [*regions.types_of(forms[0].leaves), *regions.types_of(map(emit.as_tracer, variables))]
    return unflatten(forms[0].tree, regions.assigned_after(regions.put(make(bodies, types)), variables))


def _fitting(value: Any, form: _Form, what: str, other: str) -> list[Tracer]:
    """The leaves of a value of a form; Python numbers take the type that is due, where it holds their kind."""
    leaves, found = flatten(arranged(value, form.tree), form.is_leaf)
    if found != form.tree:
        if form.is_leaf is is_traced and _loose(found) == _loose(form.tree):
            raise _Flags
        raise _mismatch(f"{what} returns another tree than {other}", "return the same dicts, lists and tuples")
    made: list[Tracer] = []
    for leaf, due in zip(leaves, form.leaves, strict=True):
        kind = emit.weak_kind(leaf)
        takes = kind is not None and _takes(due.dtype, kind)
        result = emit.fit(leaf, due.dtype, due.shape) if takes else emit.as_tracer(leaf, what)
        if (result.shape, result.dtype) != (due.shape, due.dtype):
            raise _mismatch(
                f"{what} returns {brief(result.dtype)}{list(result.shape)} where {other} has "
                f"{brief(due.dtype)}{list(due.shape)}",
                "convert or reshape it (shardwright.astype, shardwright.reshape)",
            )
        made.append(result)
    return made


def _loose(tree: Tree | Static) -> Tree | Static:
    """A tree in which truth values are leaves, too."""
    if isinstance(tree, Static):
        return LEAF if type(tree.value) is bool else tree
    return tree._replace(parts=tuple(map(_loose, tree.parts)))


def _takes(dtype: DType, kind: str) -> bool:
    """Whether a type holds Python numbers of a kind, without a fraction that is cut off."""
    due = kind_of(dtype)
    if "boolean" in (due, kind):
        return due == kind
    return KINDS.index(kind) <= KINDS.index(due)


def _scalar(value: ArrayLike, what: str) -> Tracer:
    found = emit.as_tracer(value, what)
    _check_lone(found.shape, what)
    return found


def _holds(value: ArrayLike, what: str) -> bool:
    """Whether a condition holds that is known."""
    _check_lone(emit.shape_of(value), what)
    return bool(value)


def _check_lone(shape: tuple[int, ...], what: str) -> None:
    if shape:
        raise _mismatch(f"{what} has shape {list(shape)}", "make it one: shardwright.all, shardwright.any")


def _check_place(dtype: DType, shape: tuple[int, ...]) -> None:
    _check_lone(shape, "the index of switch")
    if kind_of(dtype) != "integer":
        raise _mismatch(f"the index of switch is {brief(dtype)}, not a whole number", "convert it to int32")


def _mismatch(message: str, way_out: str) -> Exception:
    return type_error("SW0521", message, help=way_out)
