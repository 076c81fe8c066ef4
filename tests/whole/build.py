"""Random programs over the whole table: values with what NumPy says that they are, ops, and what draws them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
from property.layouts import Shape, closed_layout, random_layout, rich_layout

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]
"""Arrays in, an array or a tuple of arrays out, all of them wide: int64, uint64, float64, complex128 or bool."""

ELEMENTS: dict[str, Any] = {
    "f32": np.dtype("float32"), "f64": np.dtype("float64"), "f16": np.dtype("float16"),
    "bf16": np.dtype(ml_dtypes.bfloat16), "i32": np.dtype("int32"), "i64": np.dtype("int64"),
    "i16": np.dtype("int16"), "i8": np.dtype("int8"), "ui8": np.dtype("uint8"), "ui32": np.dtype("uint32"),
    "i1": np.dtype("bool"), "complex<f32>": np.dtype("complex64"),
}  # fmt: skip

FLOATS = ("f32", "f64", "f16", "bf16")
INTEGERS = ("i32", "i64", "i16", "i8", "ui8", "ui32")
SIGNED = ("i32", "i64", "i16", "i8")

LARGEST = {"f32": 2.0**18, "f64": 2.0**30, "f16": 256.0, "bf16": 32.0, "complex<f32>": 2.0**16}
"""Exact values are whole numbers up to this."""

LARGEST_SUM = {"f32": 2.0**24, "f64": 2.0**53, "f16": 2.0**11, "bf16": 2.0**8, "complex<f32>": 2.0**24}
"""The sum of the magnitudes of all that is added may reach this: then no order of additions rounds."""

LARGEST_ROUNDED = 1e3
"""Values that were rounded stay below this, so that an absolute tolerance says something."""

LARGEST_SIZE = 2048
"""The most elements of a value."""


@dataclass(frozen=True)
class Style:
    """
    What programs are drawn from: meshes, sizes of dims, the share of arguments that have a layout.

    With `ops`, steps of these ops only; with `specials`, arguments of floats hold infinities and NaNs; with `empty`,
    steps take values without elements too; with `rich`, layouts have sub-axes of any cut, priorities, axes withheld.
    `uneven` is the share of axes, of rich layouts, that split a dim whether it divides or not.
    `made` is the share of new values that are made from iotas and constants, `opening` what every program begins with.
    """

    meshes: tuple[tuple[int, ...], ...] = ((2,), (4,), (8,), (2, 2), (4, 2), (2, 4), (2, 1), (2, 2, 2), (2, 2, 2))
    extents: tuple[int, ...] = (1, 2, 2, 3, 4, 4, 4, 6, 8, 8)
    laid_out: float = 0.75
    ops: tuple[str, ...] = ()
    specials: bool = False
    empty: bool = False
    rich: bool = False
    made: float = 0.0
    uneven: float = 0.0
    opening: str = ""
    steps: tuple[int, int] = (2, 8)
    results: int = 3


class UnfitError(Exception):
    """A step does not suit the values at hand: it is left out."""


@dataclass(frozen=True, eq=False)
class Value:
    """
    An SSA value: its name, what NumPy computed for it, and whether no rounding was involved.

    Nothing but the run on one device says what a result is that is not `known`.
    """

    name: str
    array: Array
    element: str
    exact: bool = True
    known: bool = True

    @property
    def shape(self) -> Shape:
        """The global shape."""
        return self.array.shape

    @property
    def rank(self) -> int:
        """The number of dims."""
        return self.array.ndim

    @property
    def type(self) -> str:
        """The MLIR type."""
        return tensor(self.shape, self.element)


@dataclass(frozen=True, eq=False)
class Op:
    """One op: its text, the values that it uses (those used in its regions too), and how NumPy computes it."""

    text: str
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    function: Function
    magnitude: Function | None = None
    helpers: tuple[str, ...] = ()

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """The results for other operands, in their element types."""
        wides = [wide(array) for array in arrays]
        if self.magnitude is not None and self.results[0].exact:
            check_magnitude(self.results[0].element, self.magnitude(*wides))
        found = results_of(self.function, wides)
        specials = have_specials(wides)
        return [
            stored(array, value.element, value.exact, specials)
            for array, value in zip(found, self.results, strict=True)
        ]


@dataclass
class Scope:
    """A block: the function's body, or a region's."""

    values: list[Value] = field(default_factory=list[Value])
    ops: list[Op] = field(default_factory=list[Op])

    def run(self, arguments: Sequence[Value], arrays: Sequence[Array], results: Sequence[Value]) -> list[Array]:
        """What the block gives for other arguments."""
        known = {value.name: array for value, array in zip(arguments, arrays, strict=True)}
        for op in self.ops:
            found = op.run([known.get(value.name, value.array) for value in op.operands])
            known |= {value.name: array for value, array in zip(op.results, found, strict=True)}
        return [known.get(value.name, value.array) for value in results]

    def captured(self, arguments: Sequence[Value], results: Sequence[Value]) -> tuple[Value, ...]:
        """The values from outside that the block uses, each once."""
        own = {value.name for value in (*arguments, *(made for op in self.ops for made in op.results))}
        used = [*(value for op in self.ops for value in op.operands), *results]
        return tuple({value.name: value for value in used if value.name not in own}.values())

    @property
    def helpers(self) -> tuple[str, ...]:
        """The functions that its ops call."""
        return tuple(text for op in self.ops for text in op.helpers)

    def lines(self, terminator: str, results: Sequence[Value]) -> str:
        """The block's text with its last op."""
        names, types = ", ".join(v.name for v in results), ", ".join(v.type for v in results)
        last = f"{terminator} {names} : {types}" if results else terminator
        return "\n".join([*(op.text for op in self.ops), last])


WEIGHED = 3
"""Every so many-th program says what a message counts as."""


@dataclass
class Program:
    """A program: its mesh, arguments, ops, results, and the layouts of arguments and results by name or number."""

    seed: int
    mesh: dict[str, int]
    arguments: list[Value]
    ops: list[Op]
    results: list[Value]
    layouts: dict[str, str]

    @property
    def inputs(self) -> list[Array]:
        """The global arguments."""
        return [value.array for value in self.arguments]

    @property
    def text(self) -> str:
        """The module, as JAX would export it."""
        axes = ", ".join(f'"{name}"={size}' for name, size in self.mesh.items())
        arguments = ", ".join(f"{v.name}: {v.type}{self._attribute(v.name)}" for v in self.arguments)
        results = ", ".join(f"{v.type}{self._attribute(f'result {i}')}" for i, v in enumerate(self.results))
        body = "\n".join(op.text for op in self.ops)
        helpers = "".join(f"{text}\n" for text in dict.fromkeys(text for op in self.ops for text in op.helpers))
        names, types = ", ".join(v.name for v in self.results), ", ".join(v.type for v in self.results)
        return (
            f"module @program_{self.seed} {self._weight}{{\n  sdy.mesh @mesh = <[{axes}]>\n"
            f"  func.func public @main({arguments}) -> ({results}) {{\n{indented(body, 4)}\n"
            f"    return {names} : {types}\n  }}\n{indented(helpers, 2)}}}\n"
        )

    @property
    def _weight(self) -> str:
        """For every so many-th program what a message counts as, as `shardwright.jax.jit` says it."""
        return "attributes {dtensor.message_bytes = 512 : i64} " if self.seed % WEIGHED == 0 else ""

    def _attribute(self, key: str) -> str:
        layout = self.layouts.get(key)
        return "" if layout is None else f" {{sdy.sharding = #sdy.sharding<@mesh, {layout}>}}"


def indented(text: str, width: int) -> str:
    """Every line moved to the right."""
    return re.sub(r"(?m)^(?=.)", " " * width, text)


def tensor(shape: Shape, element: str) -> str:
    """The MLIR text of a tensor type."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def wide(array: Array) -> Array:
    """The same numbers in the widest type of their kind."""
    kind = "f" if array.dtype == ELEMENTS["bf16"] else array.dtype.kind
    return array.astype({"f": np.float64, "i": np.int64, "u": np.uint64, "c": np.complex128, "b": np.bool_}[kind])


def have_specials(arrays: Sequence[Array]) -> bool:
    """Whether there are infinities or NaNs."""
    return not all(np.isfinite(array).all() for array in arrays)


def stored(array: Array, element: str, exact: bool, specials: bool) -> Array:
    """The numbers in an element type: integers wrap, exact numbers must be whole and small; specials come from some."""
    if element not in INTEGERS and element != "i1":
        finite = array[np.isfinite(array)]
        largest = LARGEST[element] if exact else LARGEST_ROUNDED
        if (finite.size < array.size and not specials) or np.abs(finite).max(initial=0) > largest:
            raise UnfitError
        if exact and not np.array_equal(finite, np.round(finite)):
            raise UnfitError
    with np.errstate(invalid="ignore"):
        return array.astype(ELEMENTS[element])


def results_of(function: Function, arrays: Sequence[Array]) -> list[Array]:
    """The results of a function as a list."""
    with np.errstate(all="ignore"):
        found = function(*arrays)
    return [np.asarray(array) for array in (found if isinstance(found, tuple) else (found,))]


def check_magnitude(element: str, magnitude: Any) -> None:
    """`UnfitError` where additions could round."""
    if element in LARGEST_SUM and np.max(np.abs(magnitude), initial=0.0) > LARGEST_SUM[element]:
        raise UnfitError


class Builder:
    """Appends ops to a program, computing each with NumPy at once."""

    def __init__(self, random: Random, mesh: dict[str, int], style: Style) -> None:
        self.random = random
        self.mesh = mesh
        self.style = style
        self.arguments: list[Value] = []
        self.layouts: dict[str, str] = {}
        self.scope = Scope()
        self.depth = 0
        self.closed = False
        self.numbers = 0
        self.descending = self._descending() if style.rich else False

    # Drawing.

    def _descending(self) -> bool | None:
        """Whether axes are cut by their largest prime first; in one of five programs now so and now not."""
        drawn = self.random.random()
        return None if 0.4 <= drawn < 0.6 else drawn < 0.5

    def chance(self, share: float) -> bool:
        """True in a share of all cases."""
        return self.random.random() < share

    def pick(self, options: Sequence[Any]) -> Any:
        """One of several."""
        return self.random.choice(options)

    def shape(self, rank: int) -> Shape:
        """A random shape, not too large."""
        sizes = [self.pick(self.style.extents) for _ in range(rank)]
        while math.prod(sizes) > LARGEST_SIZE:
            sizes[sizes.index(max(sizes))] = self.pick(self.style.extents)
        return tuple(sizes)

    def element(self) -> str:
        """An element type for an argument: mostly f32."""
        names = ("f32", "i32", "bf16", "f16", "f64", "i8", "ui8", "ui32", "i64", "i16", "i1", "complex<f32>")
        return self.random.choices(names, (50, 18, 6, 3, 3, 3, 3, 3, 3, 1, 4, 3))[0]

    def layout(self, shape: Shape, *, priorities: bool = False, even: bool = False) -> str:
        """A random layout of a shape, which must be `even` or may not be; priorities are for arguments and results."""
        if self.style.rich:
            uneven, descending = 0.0 if even else self.style.uneven, self.descending
            return rich_layout(
                self.random, self.mesh, shape, priorities=priorities, descending=descending, uneven=uneven
            )
        return random_layout(self.random, self.mesh, shape)

    def closed_layout(self, shape: Shape) -> str:
        """A random layout to which nothing can be added."""
        return closed_layout(self.layout(shape))

    def numbers_of(self, shape: Shape, element: str, low: int = -2, high: int = 2) -> Array:
        """Small whole numbers."""
        low = 0 if element in ("ui8", "ui32", "i1") else low
        high = 1 if element == "i1" else high
        draw = lambda: [self.random.randint(low, high) for _ in range(math.prod(shape))]  # noqa: E731
        if element == "complex<f32>":
            return (np.array(draw()) + 1j * np.array(draw())).astype(np.complex64).reshape(shape)
        return np.array(draw(), np.int64).astype(ELEMENTS[element]).reshape(shape)

    # Values.

    def name(self) -> str:
        """A fresh value name."""
        self.numbers += 1
        return f"%v{self.numbers}"

    def argument(self, shape: Shape, element: str, array: Array | None = None, *, exact: bool = True) -> Value:
        """A new argument of the program, perhaps with a layout; not where a region may not reach outside."""
        if self.closed or math.prod(shape) > LARGEST_SIZE:
            raise UnfitError
        if array is None:
            array = self.numbers_of(shape, element)
            if self.style.specials and element in FLOATS and array.size:
                array.flat[self.random.randrange(array.size)] = self.pick((np.inf, -np.inf, np.nan))
        self.numbers += 1
        value = Value(f"%arg{self.numbers}", array, element, exact)
        self.arguments.append(value)
        if self.chance(self.style.laid_out):
            self.layouts[value.name] = self.layout(shape, priorities=True)
        self.scope.values.append(value)
        return value

    def some(self, elements: Sequence[str], ranks: Sequence[int] = (1, 2, 3), *, exact: bool = False) -> Value:
        """A value of one of some element types and ranks: mostly one that is there, else a new argument."""
        fitting = [
            v
            for v in self.scope.values
            if v.element in elements
            and v.rank in ranks
            and (v.exact or not exact)
            and (self.style.empty or 0 not in v.shape)
        ]
        if fitting and (self.closed or self.chance(0.85)):
            # The newest values are the likeliest: programs become chains.
            return self.random.choices(fitting, range(1, len(fitting) + 1))[0]
        return self.fresh(self.shape(self.pick(ranks)), self.pick(elements))

    def fresh(self, shape: Shape, element: str) -> Value:
        """A new value: an argument, or in some styles one that is made from iotas and constants."""
        if self.style.made and element in ("f32", "f64", "i32", "i64") and self.chance(self.style.made):
            return self._made(shape, element)
        return self.argument(shape, element)

    def _made(self, shape: Shape, element: str) -> Value:
        """An iota over all elements, or along a dim, modulo a small number; or a constant that is spread."""
        if self.chance(0.25):
            return self.splat(shape, element, self.random.randint(-2, 2))
        count, divisor = math.prod(shape), self.pick((2, 3, 5))
        flat = self.chance(0.6) or not shape
        dim = 0 if flat else self.random.randrange(len(shape))
        made = (count,) if flat else shape
        along = [1] * len(made)
        along[dim] = made[dim]
        ramp = lambda: np.broadcast_to(np.arange(made[dim]).reshape(along), made)  # noqa: E731
        value = self.emit(f"stablehlo.iota dim = {dim} : RESULT", [], ramp, element)
        by = self.splat(made, element, divisor)
        value = self.emit(f"stablehlo.remainder {value.name}, {by.name} : RESULT", [value, by], np.remainder)
        if made == shape:
            return value
        text = f"stablehlo.reshape {value.name} : ({value.type}) -> RESULT"
        return self.emit(text, [value], lambda a: a.reshape(shape))

    def partner(self, value: Value) -> Value:
        """Another value of the same type: one that is there, a new argument, or a spread constant."""
        same = [other for other in self.scope.values if other.type == value.type]
        choice = self.random.randint(0, 2)
        if same and (choice == 0 or (self.closed and choice == 1)):
            return self.pick(same)
        if choice == 1:
            return self.fresh(value.shape, value.element)
        return self.splat(value.shape, value.element, self.random.randint(0 if value.element[:1] == "u" else -2, 2))

    def scalar(self, number: float, element: str) -> Value:
        """A scalar constant."""
        array = np.array(number).astype(ELEMENTS[element])
        value = Value(self.name(), array, element)
        text = f"{value.name} = stablehlo.constant dense<{literal(array, element)}> : {value.type}"
        self.scope.ops.append(Op(text, (), (value,), lambda: wide(array)))
        return value

    def splat(self, shape: Shape, element: str, number: float) -> Value:
        """A scalar spread over a shape."""
        scalar = self.scalar(number, element)
        text = f"stablehlo.broadcast_in_dim {scalar.name}, dims = [] : ({scalar.type}) -> RESULT"
        return self.emit(text, [scalar], partial(np.broadcast_to, shape=shape))

    def emit(self, text: str, operands: Sequence[Value], function: Function, element: str = "", **how: Any) -> Value:
        """Append an op with one result; `RESULT` in the text becomes its type."""
        return self.emit_all(text, operands, function, [element or operands[0].element], **how)[0]

    def emit_all(
        self,
        text: str,
        operands: Sequence[Value],
        function: Function,
        elements: Sequence[str],
        *,
        exact: bool = True,
        magnitude: Function | None = None,
        helpers: tuple[str, ...] = (),
    ) -> list[Value]:
        """Append an op; `RESULT` in the text becomes the type of its result, or the list of types in brackets."""
        exact = exact and all(value.exact for value in operands)
        if not exact and {"bf16", "f16"} & set(elements):
            raise UnfitError  # such rounding would hide mistakes
        wides = [wide(value.array) for value in operands]
        if magnitude is not None and exact:
            check_magnitude(elements[0], magnitude(*wides))
        found = results_of(function, wides)
        if any(array.size > LARGEST_SIZE for array in found):
            raise UnfitError
        results = [
            Value(
                self.name(),
                stored(array, element, exact, have_specials(wides)),
                element,
                exact or element in (*INTEGERS, "i1"),
            )
            for array, element in zip(found, elements, strict=True)
        ]
        types = results[0].type if len(results) == 1 else f"({', '.join(value.type for value in results)})"
        line = f"{', '.join(value.name for value in results)} = {text.replace('RESULT', types)}"
        self.scope.ops.append(Op(line, tuple(operands), tuple(results), function, magnitude, helpers))
        self.scope.values += results
        return results

    # Regions and attempts.

    @contextmanager
    def region(self, arguments: Sequence[Value], *, closed: bool) -> Generator[Scope]:
        """A block with arguments; where it is `closed` it uses nothing from outside."""
        outer, was_closed = self.scope, self.closed
        reachable = [] if closed else [value for value in outer.values if value.rank]
        self.scope, self.closed, self.depth = Scope([*reachable, *arguments]), closed or was_closed, self.depth + 1
        try:
            yield self.scope
        finally:
            self.scope, self.closed, self.depth = outer, was_closed, self.depth - 1

    def attempt(self, step: Callable[[Builder], Any]) -> bool:
        """Run a step; when it does not fit, nothing of it stays."""
        scope, counts = self.scope, (len(self.arguments), len(self.scope.ops), len(self.scope.values))
        try:
            step(self)
        except UnfitError:
            del self.arguments[counts[0] :], scope.ops[counts[1] :], scope.values[counts[2] :]
            return False
        return True


def literal(array: Array, element: str) -> str:
    """One number as MLIR writes it in a dense literal."""
    if element == "i1":
        return "true" if array else "false"
    if element == "complex<f32>":
        return f"({array.real:e}, {array.imag:e})"
    if element in INTEGERS:
        return str(int(array))
    number = float(array)
    return f"{number:e}" if np.isfinite(number) else {"f32": "0x7F800000", "f64": "0x7FF0000000000000"}[element]
