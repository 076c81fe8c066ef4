"""What gradient tapes are told of calls that run at once, and what they see of a program that is being traced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from shardwright.compiler.control.sources import is_differentiable
from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.pytree import flatten, unflatten
from shardwright.compiler.tracing.reference import Reference, held
from shardwright.compiler.tracing.trace import Trace, setting
from shardwright.diagnostics.faults import type_error
from shardwright.dialects import stablehlo
from shardwright.dialects.building import blocks_in, free_values, returned
from shardwright.dialects.dtensor.gradients import WithGradientOp
from shardwright.dialects.types import element_dtype, element_of

Holding = dict[Array, Any]
"""What calls took besides their arguments, and what it held: a variable some tensor, any other array itself."""


@dataclass(frozen=True)
class Recorded:
    """
    One call that ran while a tape was open: what was called with what, and what it gave.

    `holding` is what the variables held that it used, and the arrays that it found outside of its arguments.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: list[Any]
    holding: Holding

    @property
    def leaves(self) -> list[Any]:
        """The arrays and numbers that it took, for variables what they held."""
        given = [leaf for leaf in flatten((self.args, self.kwargs), is_traced)[0] if not isinstance(leaf, Reference)]
        return [*given, *self.holding.values()]


class Tape(Protocol):
    """Takes note of calls."""

    @property
    def is_recording(self) -> bool:
        """Whether it does so now."""
        ...

    def take(self, call: Recorded) -> None:
        """Notes a call."""
        ...


OPEN: ContextVar[tuple[Tape, ...]] = ContextVar("shardwright_tapes", default=())
"""The tapes that are open, outermost first."""


def record(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], value: Any, holding: Holding
) -> None:
    """
    Notes a call that ran at once for all open tapes; `function` can be traced with the same arguments.

    What it gave cannot be written to any more, and of arrays of others copies are noted: a gradient is of what was.
    """
    if not is_recording():
        return
    results = flatten(value, is_traced)[0]
    for result in results:
        if isinstance(result, np.ndarray):
            result.flags.writeable = False
    leaves, tree = flatten((args, kwargs), is_traced)
    kept_args, kept_kwargs = unflatten(tree, [_kept(leaf) for leaf in leaves])
    for tape in OPEN.get():
        tape.take(Recorded(function, kept_args, kept_kwargs, results, holding))


def _kept(leaf: Any) -> Any:
    """An argument that nobody changes: of an array a copy, unless it is a tensor of ours that cannot be written to."""
    if not isinstance(leaf, np.ndarray) or (hasattr(leaf, "layout") and not leaf.flags.writeable):
        return leaf
    return leaf.copy()


def holding(arrays: Iterable[Array]) -> Holding:
    """What the arrays hold now, if a tape wants to know."""
    return {array: held(array) for array in arrays} if is_recording() else {}


_replaying = ContextVar("shardwright_replaying", default=False)


def replaying() -> AbstractContextManager[bool]:
    """While calls that a tape noted are traced again."""
    return setting(_replaying, True)


def tells_versions_apart() -> bool:
    """Whether what a variable is assigned has to be told from what it was computed of: for a tape."""
    return is_recording() or _replaying.get()


def is_recording() -> bool:
    """Whether a tape takes note of what runs now."""
    return any(tape.is_recording for tape in OPEN.get())


def note_read(reference: Reference) -> None:
    """Notes for all open tapes that somebody took what a variable holds."""
    if is_recording():
        for tape in OPEN.get():
            tape.take(Recorded(tuple, (), {}, [], {reference: reference.held}))


def check_unseen(name: str, results: Any) -> None:
    """TypeError (SW0520) where a tape records and NumPy gives what has a gradient: the tape would not know of it."""
    if not is_recording():
        return
    for result in flatten(results, is_traced)[0]:
        if isinstance(result, np.ndarray | np.generic) and is_differentiable(result.dtype):
            raise type_error(
                "SW0520",
                f"a tape cannot follow what {name} makes of a tensor",
                help="use functions of shardwright, or give it numpy.asarray(x), which counts as a constant",
            )


Point = tuple[Block, Operation | None]
"""A place in a block: after an op, or at its start."""


class Watched:
    """The stretches of a program while a tape recorded."""

    def __init__(self) -> None:
        self._stretches: list[tuple[Point, Operation | None]] = []
        self._began: Point | None = None

    def begin(self, trace: Trace | None) -> None:
        """From here on the tape records."""
        self._began = None if trace is None else (trace.block, trace.block.last_op)

    def pause(self) -> bool:
        """From here on it does not; whether it did until now, in a program that is being traced."""
        began, self._began = self._began, None
        if began is not None:
            self._stretches.append((began, began[0].last_op))
        return began is not None

    def forget(self) -> None:
        """What was recorded so far does not count."""
        self._stretches.clear()
        self._began = None

    def constants(
        self, trace: Trace, ends: Sequence[SSAValue], cut: set[SSAValue]
    ) -> tuple[list[SSAValue], set[SSAValue]]:
        """
        Of what `ends` are computed: the constants, and all on which they depend as far as gradients go.

        Constants are what the tape did not see computed, and what is to be `cut`. A source may be one: its gradient is
        wanted, and what it was computed of is not looked at.
        """
        seen, blocks = self._seen()
        constants, waiting = list[SSAValue](), list(ends)
        reached, followed = set[SSAValue](), set[Operation]()
        while waiting:
            value = waiting.pop()
            if value in reached:
                continue
            reached.add(value)
            block, op = _place_of(value, trace.open_blocks)
            if value in cut:
                constants.append(value)
            elif not blocks or op in seen or _is_inside(block, blocks, trace.open_blocks):
                if op is not None and op not in followed:
                    followed.add(op)
                    waiting += free_values(op)
            elif _is_computed(value):
                constants.append(value)
        return constants, _counted(ends, set(constants), followed, trace.open_blocks)

    def _seen(self) -> tuple[set[Operation], set[Block]]:
        """The ops of all stretches, and the blocks in which these are; none where the tape began outside of it all."""
        stretches = [*self._stretches, *([(self._began, self._began[0].last_op)] if self._began else [])]
        found = set[Operation]()
        for (block, after), last in stretches:
            op = block.first_op if after is None else after.next_op
            while op is not None and last is not None and after is not last:
                found.add(op)
                op = None if op is last else op.next_op
        return found, {block for (block, _), _ in stretches}


def _place_of(value: SSAValue, written: Sequence[Block]) -> tuple[Block | None, Operation | None]:
    """The block that is being written in which a value is, and the op there that makes it, or that holds it."""
    owner = value.owner
    if isinstance(owner, Block):
        if owner in written:
            return owner, None
        owner = owner.parent_op()
    while owner is not None and owner.parent not in written:
        owner = owner.parent_op()
    return (None, None) if owner is None else (owner.parent, owner)


def _counted(
    ends: Sequence[SSAValue], constants: set[SSAValue], followed: set[Operation], written: Sequence[Block]
) -> set[SSAValue]:
    """All on which `ends` depend by the ops that are followed, as far as gradients go, up to the constants."""
    reached, waiting = set[SSAValue](), list(ends)
    while waiting:
        value = waiting.pop()
        if value not in reached:
            reached.add(value)
            ends_here = value in constants or not is_differentiable(element_dtype(element_of(value)))
            op = None if ends_here else _place_of(value, written)[1]
            if op is not None and op in followed:
                followed.remove(op)
                waiting += _counting(op)
    return reached


def _counting(op: Operation) -> list[SSAValue]:
    """The values from outside to which an op's gradients go: in regions none to what a variable was assigned."""
    if isinstance(op, WithGradientOp):
        return list(op.inputs)
    if not op.regions:
        return list(op.operands)
    needed = set[SSAValue]()
    for block in blocks_in(op):
        needed.update(returned(block))
        for inner in reversed(block.ops):
            if any(result in needed for result in inner.results):
                needed.update(_counting(inner))
    return [*op.operands, *(value for value in free_values(op) if value in needed)]


def _is_inside(block: Block | None, blocks: set[Block], written: Sequence[Block]) -> bool:
    """Whether a block is of a region that was begun while the tape recorded: what is in there is looked through."""
    depths = [written.index(each) for each in blocks if each in written]
    return bool(depths) and block in written[max(depths) + 1 :]


def _is_computed(value: SSAValue) -> bool:
    """Whether a value may depend on others: by an op, or by the rounds of a loop."""
    made = value.owner
    known = isinstance(made, stablehlo.ConstantOp) or (isinstance(made, Block) and isinstance(made.parent_op(), FuncOp))
    return not known and is_differentiable(element_dtype(element_of(value)))
