"""A program while it is being written: `Trace` collects its operations, `Tracer` stands for a value in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from xdsl.dialects.builtin import LocationAttr, NameLoc, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from shardwright.compiler.tracing.array import Array, ArrayLike, Index, Namespace, TypedArray
from shardwright.compiler.tracing.dtypes import DType, brief
from shardwright.compiler.tracing.reference import Reference
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.dtensor.hints import GroupOp
from shardwright.dialects.text.locations import caller_location
from shardwright.dialects.types import dtype_element, element_dtype, shape_of, tensor
from shardwright.layout import Layout, Mesh


@dataclass(frozen=True)
class Moment:
    """A point of a program: what variables hold there, and how often something was assigned to each."""

    held: dict[int, Tracer]
    counts: dict[int, int]


class Trace:
    """
    A program being written: its entry block, its mesh, and the arrays that it uses without taking them as arguments.

    Operations get the location at which the outermost array function was called.
    """

    def __init__(self, name: str, namespace: Namespace) -> None:
        self.name = name
        self.namespace = namespace
        self.entry = Block()
        self.open_blocks: list[Block] = [self.entry]
        """The blocks that are being written, outermost first: the function's, and those of regions inside."""
        self.meshes: list[Mesh] = []
        """The meshes that the program uses, under different names; the first one is where plain values go."""
        self.homes: dict[SSAValue, Mesh] = {}
        """The mesh of each value; values made of constants alone have none until they meet another."""
        self.layouts: dict[BlockArgument, Layout] = {}
        self.captured: list[Array] = []
        self._arguments: dict[int, Tracer] = {}
        self._captures: dict[int, Tracer] = {}
        self._assigned: dict[int, Reference] = {}
        self._history: dict[int, list[Tracer]] = {}
        """By variable all that was assigned to it, in order."""
        self._location: LocationAttr | None = None
        self._groups = 0
        """How many groups of values with one layout there are."""

    def argument(self, name: str, shape: tuple[int, ...], dtype: DType, location: LocationAttr) -> Tracer:
        """A new argument of the program."""
        value = self.entry.insert_arg(tensor(shape, dtype_element(dtype)), len(self.entry.args))
        value.name_hint = _identifier(name)
        value.location = NameLoc(StringAttr(name), location)
        return Tracer(self, value)

    def lay_out(self, argument: Tracer, layout: Layout) -> None:
        """Gives an argument its layout."""
        assert isinstance(argument.value, BlockArgument)
        self.homes[argument.value] = self.use_mesh(layout.mesh)
        self.layouts[argument.value] = layout.for_rank(argument.ndim)

    def capture(self, array: Array) -> Tracer:
        """
        An array that the Python function found outside of its arguments: one more argument, taken once.

        For a variable, what it holds at this point of the program.
        """
        if id(array) not in self._captures:
            self.captured.append(array)
            name = array.name if isinstance(array, Reference) else f"captured{len(self.captured)}"
            argument = self.argument(name, array.shape, array.dtype, self.location)
            if array.layout is not None:
                self.lay_out(argument, array.layout)
            self._arguments[id(array)] = self._captures[id(array)] = argument
        return self._captures[id(array)]

    def argument_of(self, array: Array) -> Tracer:
        """The argument that a captured array became."""
        return self._arguments[id(array)]

    def moment(self) -> Moment:
        """What variables hold at this point of the program, for `held_since`."""
        return Moment(dict(self._captures), {place: len(given) for place, given in self._history.items()})

    def held_since(self, moment: Moment, reference: Reference) -> list[Tracer]:
        """What a variable held at an earlier point of the program, and since then, in blocks that are still open."""
        place, now = id(reference), self.capture(reference)
        first = moment.held.get(place, self._arguments.get(place, now))
        since = self._history.get(place, [])[moment.counts.get(place, 0) :]
        return [first, *(value for value in since if value.value is not first.value and self._is_open(value.value))]

    def assigned_since(self, moment: Moment) -> list[SSAValue]:
        """All that was assigned to variables since an earlier point of the program."""
        pairs = ((given, moment.counts.get(place, 0)) for place, given in self._history.items())
        return [value.value for given, before in pairs for value in given[before:]]

    def _is_open(self, value: SSAValue) -> bool:
        owner = value.owner
        return (owner if isinstance(owner, Block) else owner.parent) in self.open_blocks

    def assign(self, reference: Reference, value: Tracer) -> None:
        """Lets a variable hold another value from this point of the program on."""
        self.capture(reference)
        self._captures[id(reference)] = value
        self._assigned[id(reference)] = reference
        self.also_held(reference, value)

    def also_held(self, reference: Reference, value: Tracer) -> None:
        """Says that a value stands for what a variable held, though nobody who reads the variable gets it."""
        self._history.setdefault(id(reference), []).append(value)

    @property
    def assigned(self) -> dict[Reference, Tracer]:
        """What the variables hold to which something was assigned, at this point of the program."""
        return {reference: self._captures[place] for place, reference in self._assigned.items()}

    @contextmanager
    def assigning(self, entered: Iterable[tuple[Array, Tracer]]) -> Generator[dict[Reference, Tracer]]:
        """
        Gathers what is assigned to variables inside of the context; after it, they hold what they held before.

        Inside, the variables and other arrays in `entered` begin with these values.
        """
        before, known = dict(self._captures), dict(self._assigned)
        made: dict[Reference, Tracer] = {}
        self._assigned = {}
        self._captures.update((id(array), value) for array, value in entered)
        try:
            yield made
        finally:
            made.update(self.assigned)
            self._captures = {**self._arguments, **before}
            self._assigned = known

    @property
    def mesh(self) -> Mesh | None:
        """The program's mesh; the first of several."""
        return self.meshes[0] if self.meshes else None

    def use_mesh(self, mesh: Mesh) -> Mesh:
        """A mesh of the program, under the name that it has there."""
        known = next((other for other in self.meshes if other == mesh), None)
        if known is None:
            names = {other.name for other in self.meshes}
            fresh = (f"{mesh.name}_{number}" for number in count())
            name = mesh.name if mesh.name not in names else next(name for name in fresh if name not in names)
            known = mesh if name == mesh.name else mesh.named(name)
            self.meshes.append(known)
        return known

    def settle(self, op: Operation) -> None:
        """Gives the results of an op the mesh of what it takes; ValueError (SW0505) when that is on two meshes."""
        used = [value for inner in op.walk() for value in inner.operands] if op.regions else op.operands
        found = {id(home): home for value in used if (home := self.homes.get(value)) is not None}
        if len(found) > 1:
            first, second, *_ = found.values()
            raise value_error(
                "SW0505",
                f"{op.name.partition('.')[2]} uses tensors of two meshes: {first!r} and {second!r}",
                help="a loop or a branch is on one mesh: bring what it takes there before it, and take its "
                "results away after it"
                if op.regions
                else "bring them to one mesh first: shardwright.relayout(x, layout), or relayout_like(x, other)",
            )
        for home in found.values():
            plain = (value for value in used if isinstance(value, BlockArgument))
            self.homes.update(dict.fromkeys((*plain, *op.results), home))

    def settle_like(self, values: Sequence[SSAValue], others: Sequence[SSAValue]) -> None:
        """Gives each value the mesh of another one, if that has one."""
        pairs = zip(values, others, strict=True)
        self.homes.update((value, home) for value, other in pairs if (home := self.homes.get(other)) is not None)

    @property
    def block(self) -> Block:
        """Where operations go."""
        return self.open_blocks[-1]

    @property
    def location(self) -> LocationAttr:
        """Where the user wrote what is being traced."""
        return self._location if self._location is not None else caller_location()

    @contextmanager
    def located(self, location: LocationAttr) -> Generator[None]:
        """Lets all operations in this context come from a place: a node of a graph that is read, for instance."""
        before, self._location = self._location, location
        try:
            yield
        finally:
            self._location = before

    def calling(self) -> bool:
        """
        Notes that an array function is called, so that all its operations come from the user's line.

        Whether this is the outermost such call, which has to say `returned` at its end.
        """
        if self._location is not None:
            return False
        self._location = caller_location()
        return True

    def returned(self) -> None:
        """Notes that the outermost array function is done."""
        self._location = None

    def emit(self, op: Operation) -> Tracer:
        """Adds an operation with one result."""
        location = op.location = self.location
        for region in op.regions:
            for inner in region.walk():
                inner.location = location
            for argument in region.block.args:
                argument.location = location
        self.settle(op)
        self.block.add_op(op)
        return Tracer(self, op.results[0])

    def group(self, values: Sequence[SSAValue]) -> None:
        """Gives values one layout, whichever that will be."""
        for value in values:
            op = GroupOp(value, self._groups)
            op.location = self.location
            self.block.add_op(op)
        self._groups += 1

    def layout_of(self, value: SSAValue) -> Layout | None:
        """The layout that the user gave: an argument, or a value by a relayout or a constraint; None where none."""
        if isinstance(value, BlockArgument):
            return self.layouts.get(value)
        spec = layout_of(value)
        return Layout.from_spec(spec, self.homes[value]) if spec is not None and spec.closed else None


def _refusing(use: str, way_out: str) -> Callable[..., Any]:
    """A method that refuses (SW0503), since there are no elements yet."""

    def refuse(self: Tracer, *arguments: object, **options: object) -> NoReturn:
        raise type_error(
            "SW0503",
            f"a traced value has no elements yet and cannot be used as {use}",
            "the Python function runs once, to write down the program; the program runs later",
            help=way_out,
        )

    return refuse


class Tracer(TypedArray):
    """
    A value of a program that is being traced: it has a shape and a dtype, but no elements yet.

    `scalar_kind` is set for what came from a Python scalar: such a value takes the type of the array that it meets. Of
    an argument that is a number, `exact` is the same value with all its digits, for arrays that have as many.
    """

    __slots__ = ("exact", "scalar_kind", "trace", "value")

    def __init__(self, trace: Trace, value: SSAValue, scalar_kind: str | None = None) -> None:
        self.trace = trace
        self.value = value
        self.scalar_kind = scalar_kind
        self.exact: Tracer | None = None
        self._shape = shape_of(value)
        self._dtype = element_dtype(value.type)

    @property
    def namespace(self) -> Namespace:
        return self.trace.namespace

    @property
    def layout(self) -> Layout | None:
        """The layout that the user gave; None where propagation will decide."""
        return self.trace.layouts.get(self.value) if isinstance(self.value, BlockArgument) else None

    def __repr__(self) -> str:
        return f"Traced({brief(self.dtype)}{list(self.shape)})"

    if TYPE_CHECKING:  # whatever a traced value meets, the result is traced

        def __getitem__(self, index: Index) -> Tracer: ...
        def __neg__(self) -> Tracer: ...
        def __abs__(self) -> Tracer: ...
        def __invert__(self) -> Tracer: ...
        def __eq__(self, other: object) -> Tracer: ...
        def __ne__(self, other: object) -> Tracer: ...
        def _operator(self, other: ArrayLike, /) -> Tracer: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _operator
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _operator
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _operator
        __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _operator
        __lt__ = __le__ = __gt__ = __ge__ = _operator

    __bool__ = _refusing(
        "a Python condition",
        "shardwright.cond(condition, f, g) runs one of two functions, shardwright.where(condition, x, y) chooses "
        "between values, element by element",
    )
    __float__ = _refusing("float()", "keep it an array, or call float() on the function's result")
    __int__ = _refusing("int()", "keep it an array, or call int() on the function's result")
    __complex__ = _refusing("complex()", "keep it an array, or call complex() on the function's result")
    __index__ = _refusing(
        "a Python integer (a size, an index, a dim)",
        "if it comes from an argument, name that argument in shardwright.function(..., static=[...])",
    )
    __array__ = _refusing(
        "a NumPy array", "use shardwright's functions in traced code: shardwright.exp instead of numpy.exp"
    )
    __dlpack__ = _refusing("DLPack", "export the function's result instead")
    _formatted = _refusing("a number in a text", "format the function's result")

    def __format__(self, spec: str) -> str:
        return self._formatted(spec) if spec else str(self)

    numpy = _refusing("a NumPy array", "call .numpy() on the function's result, or return the value to look at it")


_current: ContextVar[Trace | None] = ContextVar("shardwright_trace", default=None)


def current_trace() -> Trace | None:
    """The program that is being traced in this thread, or None."""
    return _current.get()


T = TypeVar("T")


@contextmanager
def setting(variable: ContextVar[T], value: T) -> Generator[T]:
    """A context in which a variable has this value."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def tracing(trace: Trace | None) -> AbstractContextManager[Trace | None]:
    """Makes `trace` the current one."""
    return setting(_current, trace)


def outside() -> AbstractContextManager[Trace | None]:
    """Runs what is in this context at once, also while a program is being traced, of which it becomes no part."""
    return tracing(None)


def check_alive(tracer: Tracer, trace: Trace) -> None:
    """TypeError (SW0513) for a value that escaped from the function in which it was traced."""
    if tracer.trace is not trace:
        raise type_error(
            "SW0513",
            f"a value traced in {tracer.trace.name} is used in {trace.name}",
            "it was kept beyond its function, in a global, an attribute or a closure",
            help="return it from its function instead, or pass it as an argument",
        )
    owner = tracer.value.owner
    home = owner if isinstance(owner, Block) else owner.parent
    if home not in trace.open_blocks:
        raise type_error(
            "SW0513",
            f"a value of a loop or branch in {trace.name} is used outside of it",
            "what a body or branch computes is there for its own operations only",
            help="return it from the body or branch",
        )


def _identifier(name: str) -> str | None:
    cleaned = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    return cleaned if cleaned and not cleaned[0].isdigit() else None
