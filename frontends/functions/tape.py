"""`GradientTape`: gradients of what was computed while it was open."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import reduce
from types import TracebackType
from typing import Any, Self, TypeVar, overload

import numpy as np
from xdsl.ir import SSAValue

from shardwright.compiler.control.gradients import gradient_of
from shardwright.compiler.control.sources import is_differentiable
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.pytree import flatten, unflatten
from shardwright.compiler.tracing.reference import Reference
from shardwright.compiler.tracing.trace import Moment, Trace, Tracer, current_trace
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.functions.dtensor import Tensor
from shardwright.frontends.functions.function import Function
from shardwright.frontends.functions.namespace import ARRAY_FUNCTIONS
from shardwright.frontends.functions.recording import OPEN, Recorded, Watched, replaying

Key = TypeVar("Key")
Leaf = TypeVar("Leaf", bound=Array)


class GradientTape:
    """
    Remembers what is computed in its `with` block, so that it can be differentiated (RFC: `tf.GradientTape`).

    What was computed before the block counts as a constant. Inside of a traced function the program has what the tape
    saw. Outside, the calls that ran on distributed tensors and variables while it was open are traced again for the
    gradient; of tensors without a layout it sees NumPy's operators, too, and refuses what it cannot follow (SW0520).
    Without `persistent`, one gradient can be asked for. Tapes nest, for gradients of gradients.

    >>> import numpy, shardwright
    >>> @shardwright.function
    ... def slope(x):
    ...     with shardwright.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = x * x * x
    ...     return tape.gradient(y, x)
    >>> slope(numpy.array([1.0, 2.0]))
    array([ 3., 12.])
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent = persistent
        self.watch_accessed_variables = watch_accessed_variables
        self._calls: list[Recorded] = []
        self._watched: dict[int, Any] = {}
        self._recording = False
        self._used = False
        self._seen = Watched()
        self._entered = Moment({}, {})

    def __enter__(self) -> Self:
        self._recording = True
        self._begin()
        OPEN.set((*OPEN.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._recording = False
        self._seen.pause()
        OPEN.set(tuple(tape for tape in OPEN.get() if tape is not self))

    def _begin(self) -> None:
        trace = current_trace()
        self._entered = Moment({}, {}) if trace is None else trace.moment()
        self._seen.begin(trace)

    @property
    def is_recording(self) -> bool:
        """Whether the tape takes note of what runs now."""
        return self._recording

    def take(self, call: Recorded) -> None:
        """Notes a call, while the tape records."""
        if self._recording:
            self._calls.append(call)

    @contextmanager
    def stop_recording(self) -> Generator[None]:
        """What runs in this block is not remembered: its results count as constants."""
        before, self._recording = self._recording, False
        in_trace = self._seen.pause()
        try:
            yield
        finally:
            self._recording = before
            if in_trace:
                self._seen.begin(current_trace())

    def reset(self) -> None:
        """Forgets all that was recorded."""
        self._calls.clear()
        self._watched.clear()
        self._used = False
        self._seen.forget()
        if self._recording:
            self._begin()

    def watch(self, tensor: Any) -> None:
        """
        Says that gradients with respect to these arrays, a tree of them, will be asked for.

        Raises `TypeError` (SW0520) for what has no gradient, and outside of traced functions for NumPy arrays: what
        NumPy does with them is not seen.
        """
        for leaf in flatten(tensor, is_traced)[0]:
            if not isinstance(leaf, Array):
                raise type_error(
                    "SW0520",
                    f"a tape cannot follow a {type(leaf).__name__}: its operators belong to NumPy",
                    help="watch it inside of a shardwright.function, or make it a Variable or distribute it first",
                )
            if not is_differentiable(leaf.dtype):
                raise type_error("SW0520", f"{leaf!r} has no gradient", help="watch floating-point arrays")
            self._watched[id(leaf)] = leaf

    def watched_variables(self) -> tuple[Array, ...]:
        """The arrays that were watched, in order."""
        return tuple(self._watched.values())

    @overload
    def gradient(
        self, target: Any, sources: Array, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Array | Any: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: list[Leaf],
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> list[Array | Any]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: tuple[Leaf, ...],
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> tuple[Array | Any, ...]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: dict[Key, Leaf],
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> dict[Key, Array | Any]: ...
    @overload
    def gradient(
        self, target: Any, sources: object, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any: ...
    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any:
        """
        The gradient of `target` (the sum over a tree of arrays) with respect to a tree of sources, shaped like it.

        `output_gradients` weighs the targets. A source on which the target does not depend gets `None`, or zeros with
        `unconnected_gradients="zero"`. Raises `ValueError` (SW0522) when a tape that is not persistent is asked twice,
        and `TypeError` (SW0520) for a target that is a number or an array of NumPy's, which no tape has seen made.
        """
        if unconnected_gradients not in ("none", "zero"):
            raise value_error("SW0522", f"unconnected_gradients={unconnected_gradients!r}", help="say 'none' or 'zero'")
        if self._used and not self.persistent:
            raise value_error(
                "SW0522",
                "a tape gives one gradient, and this one has given it",
                help="use GradientTape(persistent=True), or ask for all sources in one call",
            )
        leaves, tree = flatten(sources, is_traced)
        targets, seeds = flatten(target, is_traced)[0], flatten(output_gradients, is_traced)[0]
        if seeds and len(seeds) != len(targets):
            message = f"output_gradients has {len(seeds)} gradients for {len(targets)} targets"
            raise value_error("SW0522", message, help="give one for each target, in a tree like theirs")
        if current_trace() is None:
            _check_targets(targets)
        self._used = True
        compute = self._traced if current_trace() is not None else self._replayed
        found = compute(targets, seeds, leaves)
        if unconnected_gradients == "zero":
            pairs = zip(found, leaves, strict=True)
            found = [
                ARRAY_FUNCTIONS["zeros_like"](source) if gradient is None else gradient for gradient, source in pairs
            ]
        return unflatten(tree, found)

    def _traced(self, targets: Sequence[Any], seeds: Sequence[Any], sources: Sequence[Any]) -> list[Any]:
        """
        The gradient of values of the program that is being traced.

        For a variable, by all that it held while the tape recorded; what it was assigned of is another matter.
        """
        trace = emit.trace_now()
        ends = [emit.as_tracer(target) for target in targets]
        held = [self._held(trace, source) for source in sources]
        assigned = set(trace.assigned_since(self._entered))
        constants, reached = self._seen.constants(trace, [end.value for end in ends], assigned)
        used = [[one for one in values if one.value in reached and is_differentiable(one.dtype)] for values in held]
        found = iter(gradient_of(ends, _seeds(ends, seeds), [one for values in used for one in values], constants))
        return [reduce(_sum, [next(found) for _ in values]) if values else None for values in used]

    def _held(self, trace: Trace, source: Any) -> list[Tracer]:
        """What stood for a source: itself, or what a variable held; of a number also the one with all digits."""
        if isinstance(source, Reference):
            return trace.held_since(self._entered, source)
        value = emit.as_tracer(source)
        return [value] if value.exact is None else [value.exact, value]

    def _replayed(self, targets: Sequence[Any], seeds: Sequence[Any], sources: Sequence[Any]) -> list[Any]:
        """Runs what was recorded once more, as one traced function with the gradient in it."""
        versions = [self._versions(source) for source in sources]
        connected, calls = self._connected(targets, [version for found in versions for version in found])
        used = [[version for version in found if id(version) in connected] for found in versions]
        if not any(used):
            return [None] * len(sources)
        inputs = _inputs(calls, [version for found in used for version in found])

        def again(given: list[Any], weights: list[Any]) -> list[Any]:
            known = {id(value): tracer for value, tracer in zip(inputs, given, strict=True)}
            with replaying():
                for call in calls:
                    results = flatten(_run(call, known), is_traced)[0]
                    known.update(
                        (id(old), new) for old, new in zip(call.results, results, strict=True) if id(old) not in known
                    )
            trace = emit.trace_now()
            ends = [emit.as_tracer(known.get(id(target), target)) for target in targets]
            assigned = set(trace.assigned_since(Moment({}, {})))
            constants, reached = Watched().constants(trace, [end.value for end in ends], assigned)
            wanted = [
                [*(emit.as_tracer(known[id(version)]) for version in found), *_within(trace, source, reached)]
                for source, found in zip(sources, used, strict=True)
                if found
            ]
            everything = [value for values in wanted for value in values]
            gradients = iter(gradient_of(ends, _seeds(ends, weights), everything, constants))
            return [reduce(_sum, [next(gradients) for _ in each]) for each in wanted]

        totals = iter(Function(again)(inputs, list(seeds)))
        return [next(totals) if found else None for found in used]

    def _versions(self, source: Any) -> list[Any]:
        """The tensors that stood for a source: itself, or what a variable held in each of the calls."""
        if not isinstance(source, Reference):
            return [source]
        held = [call.holding[source] for call in self._calls if source in call.holding]
        return list({id(value): value for value in held}.values())

    def _connected(self, targets: Sequence[Any], sources: Sequence[Any]) -> tuple[set[int], list[Recorded]]:
        """What is made of the sources and of what the targets are made, and the calls that make the targets."""
        reached, needed = {id(source) for source in sources}, {id(target) for target in targets}
        taken = [{id(leaf) for leaf in call.leaves} for call in self._calls]
        made = [{id(result) for result in call.results} for call in self._calls]
        for leaves, results in zip(taken, made, strict=True):
            if leaves & reached:
                reached |= results
        calls = list[Recorded]()
        for call, leaves, results in zip(self._calls[::-1], taken[::-1], made[::-1], strict=True):
            if results & needed:
                needed |= leaves
                calls.append(call)
        return reached & needed, calls[::-1]


def _check_targets(targets: Sequence[Any]) -> None:
    """TypeError (SW0520) for numbers and arrays that no array function gives: the tape cannot know what made them."""
    for target in targets:
        if not isinstance(target, Array | Tensor):
            raise type_error(
                "SW0520",
                f"a tape has not seen how the target was made, a {type(target).__name__}",
                "NumPy's functions of a list of tensors, numpy.asarray and float give what tapes do not follow",
                help="compute it with functions of shardwright: of a list of tensors stack them first",
            )


def _inputs(calls: Sequence[Recorded], sources: Sequence[Any]) -> list[Any]:
    """The sources, and all other arrays that the calls take and did not make themselves."""
    found = {id(source): source for source in sources}
    made: set[int] = set()
    for call in calls:
        taken = [leaf for leaf in call.leaves if isinstance(leaf, Array | np.ndarray)]
        found.update((id(leaf), leaf) for leaf in taken if id(leaf) not in made)
        made.update(id(result) for result in call.results)
    return list(found.values())


def _run(call: Recorded, known: dict[int, Any]) -> Any:
    """Traces a call with what variables held then; what it assigns to them stays in it."""
    leaves, tree = flatten((call.args, call.kwargs), is_traced)
    args, kwargs = unflatten(tree, [known.get(id(leaf), leaf) for leaf in leaves])
    held = [(array, emit.as_tracer(known.get(id(value), value))) for array, value in call.holding.items()]
    with emit.trace_now().assigning(held):
        return call.function(*args, **kwargs)


def _within(trace: Trace, source: Any, reached: set[SSAValue]) -> list[Tracer]:
    """What a variable was assigned in calls that are traced again, as far as it counts."""
    if not isinstance(source, Reference):
        return []
    _, *assigned = trace.held_since(Moment({}, {}), source)
    return [value for value in assigned if value.value in reached and is_differentiable(value.dtype)]


def _seeds(ends: Sequence[Tracer], given: Sequence[Any]) -> list[Tracer]:
    if not given:
        return [emit.constant(1, end.dtype, end.shape) for end in ends]
    return [emit.fit(weight, end.dtype, end.shape) for weight, end in zip(given, ends, strict=True)]


def _sum(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.AddOp, left, emit.convert(right, left.dtype))
