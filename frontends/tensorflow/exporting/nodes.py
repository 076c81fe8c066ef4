"""
The nodes of a graph to export while it grows, and what an operation's writer sees of it.

A `Tensor` is an output of a node. What is broadcast is so only where somebody needs it whole: until then `stored` is
the smaller shape that the node gives, which broadcasts to `shape`; a splat constant has one element.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from shardwright.frontends.tensorflow.exporting.kernels import KERNELS, RESULT, working

DType = np.dtype[Any]
Shape: TypeAlias = tuple[int, ...]

BOOL, INT32, INT64, FLOAT32 = (np.dtype(name) for name in ("bool", "int32", "int64", "float32"))


class Refusal(Exception):
    """What an operation is, as far as TensorFlow cannot say it; `str` is the reason."""


@dataclass(frozen=True)
class FunctionName:
    """An attribute that names a function of the graph's library."""

    name: str


@dataclass(frozen=True)
class Literal:
    """A constant as the program holds it: its bytes are copied into the graph once."""

    dtype: DType
    shape: Shape
    data: bytes


@dataclass(eq=False)
class Node:
    """One operation; its name is decided when the graph is written."""

    kind: str
    inputs: tuple[Tensor, ...]
    attributes: dict[str, Any]
    scope: str
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Tensor:
    """An output of a node, or an argument of a function (`node` has the kind `Argument`)."""

    node: Node
    index: int
    dtype: DType
    stored: Shape
    shape: Shape

    @property
    def is_splat(self) -> bool:
        """Whether one element stands for all."""
        return self.stored == ()


@dataclass
class Graph:
    """The nodes of the graph itself, or of one function of its library."""

    nodes: list[Node] = field(default_factory=list[Node])
    arguments: list[Tensor] = field(default_factory=list[Tensor])
    outputs: list[Tensor] = field(default_factory=list[Tensor])
    constants: dict[tuple[object, ...], Tensor] = field(default_factory=dict[tuple[object, ...], Tensor])


SHARED_BYTES = 4096
"""Up to this size equal constants become one node."""


class Builder:
    """Adds nodes to a graph, one scope of names at a time."""

    def __init__(self, graph: Graph | None = None) -> None:
        self.graph = graph or Graph()
        self.scope = ""

    def node(
        self,
        kind: str,
        inputs: Sequence[Tensor],
        stored: Sequence[int],
        dtype: DType,
        shape: Sequence[int] | None = None,
        /,
        **attributes: Any,
    ) -> Tensor:
        """The first output of a new node, whose operands are taken as they are stored; a Refusal without a kernel."""
        kernel = KERNELS[kind]
        source = next((source for name, source in kernel.types.items() if name != "Tidx" and source != RESULT), 0)
        own = inputs[int(source)].dtype if inputs else dtype
        if kernel.types and own.name not in kernel.dtypes:
            raise Refusal(f"{kind} has no kernel for {own.name}")
        types: dict[str, Any] = {
            name: dtype if source == RESULT else inputs[int(source)].dtype for name, source in kernel.types.items()
        }
        if kernel.count is not None:
            types[kernel.count] = len(inputs) - (kernel.types.get("Tidx") == -1)
        node = Node(kind, tuple(inputs), types | attributes, self.scope)
        self.graph.nodes.append(node)
        return Tensor(node, 0, dtype, tuple(stored), tuple(stored if shape is None else shape))

    def argument(self, name: str, like: Tensor) -> Tensor:
        """An argument of the function that is being written, stored as `like` is."""
        node = Node("Argument", (), {}, self.scope, name)
        found = Tensor(node, 0, like.dtype, like.stored, like.shape)
        self.graph.arguments.append(found)
        return found

    def constant(self, value: Any, dtype: DType | None = None) -> Tensor:
        """A constant; small equal ones are one node."""
        array = np.asarray(value, dtype)
        key = (array.dtype.name, array.shape, array.tobytes()) if array.nbytes <= SHARED_BYTES else (id(array),)
        found = self.graph.constants.get(key)
        if found is None:
            found = self.node("Const", (), array.shape, array.dtype, value=array)
            self.graph.constants[key] = found
        return found

    def named_constant(self, value: Any, name: str) -> Tensor:
        """A constant that is a node of its own, under this name if it is one."""
        array = np.asarray(value)
        found = self.node("Const", (), array.shape, array.dtype, value=array)
        found.node.name = name or None
        return found

    def literal(self, dtype: DType, shape: Shape, data: bytes) -> Tensor:
        """A constant of the program."""
        return self.node("Const", (), shape, dtype, value=Literal(dtype, shape, data))

    def splat(self, value: Any, dtype: DType, shape: Sequence[int] = ()) -> Tensor:
        """One element that stands for a whole shape."""
        one = self.constant(value, dtype)
        return Tensor(one.node, one.index, one.dtype, (), tuple(shape))

    def integers(self, values: Sequence[int]) -> Tensor:
        """A constant list of integers: a shape, a permutation, places."""
        wide = any(not -(2**31) <= value < 2**31 for value in values)
        return self.constant(np.array(values, INT64 if wide else INT32))

    def whole(self, value: Tensor) -> Tensor:
        """The tensor with all its elements."""
        if value.stored == value.shape:
            return value
        kind = "Reshape" if math.prod(value.stored) == math.prod(value.shape) else "BroadcastTo"
        return self.node(kind, (value, self.integers(value.shape)), value.shape, value.dtype)

    def cast(self, value: Tensor, dtype: DType) -> Tensor:
        """The tensor with other elements, as TensorFlow's own `Cast` makes them."""
        if value.dtype == dtype:
            return value
        return self.node("Cast", (value,), value.stored, dtype, value.shape)

    def call(self, kind: str, *operands: Tensor, result: DType | None = None, **attributes: Any) -> Tensor:
        """
        A pointwise operation: operands broadcast as NumPy's do, and come in the type in which TensorFlow computes.

        The result has the first operand's type unless `result` names another.
        """
        own = operands[0].dtype
        dtype = working(kind, own)
        wide = [self.cast(operand, dtype) for operand in operands]
        made = self._pointwise(kind, wide, dtype if result is None else result, **attributes)
        return made if result is not None else self.cast(made, own)

    def select(self, predicate: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
        """Where the predicate holds the first, elsewhere the second."""
        return self._pointwise("SelectV2", (predicate, on_true, on_false), on_true.dtype)

    def _pointwise(self, kind: str, operands: Sequence[Tensor], dtype: DType, **attributes: Any) -> Tensor:
        stored = np.broadcast_shapes(*(operand.stored for operand in operands))
        shape = np.broadcast_shapes(*(operand.shape for operand in operands))
        return self.node(kind, operands, stored, dtype, shape, **attributes)

    def like(self, value: Any, other: Tensor) -> Tensor:
        """A number with the elements of another tensor, for all of its places."""
        return self.splat(value, other.dtype)

    def reshape(self, value: Tensor, shape: Sequence[int]) -> Tensor:
        """The same elements, row-major, in another shape."""
        shape = tuple(shape)
        if value.shape == shape:
            return value
        if value.is_splat and math.prod(shape):
            return self.broadcast(value, shape)
        return self.node("Reshape", (self.whole(value), self.integers(shape)), shape, value.dtype)

    def transpose(self, value: Tensor, order: Sequence[int]) -> Tensor:
        """Dims in another order: dim `i` of the result is `order[i]` of the operand."""
        order = tuple(order)
        if order == tuple(range(len(order))):
            return value
        shape = tuple(value.shape[dim] for dim in order)
        if value.is_splat:
            return self.broadcast(value, shape)
        moved = [dim for dim in order if value.shape[dim] != 1]
        if moved == sorted(moved):
            return self.reshape(value, shape)
        return self.node("Transpose", (self.whole(value), self.integers(order)), shape, value.dtype)

    def broadcast(self, value: Tensor, shape: Sequence[int]) -> Tensor:
        """The tensor read as one of a larger shape, to which its own broadcasts as NumPy's do."""
        return Tensor(value.node, value.index, value.dtype, value.stored, tuple(shape))

    def slice(self, value: Tensor, starts: Sequence[int], limits: Sequence[int], steps: Sequence[int]) -> Tensor:
        """A box with positive steps."""
        shape = tuple(
            max(0, -(-(limit - start) // step)) for start, limit, step in zip(starts, limits, steps, strict=True)
        )
        if shape == value.shape:
            return value
        if value.is_splat and math.prod(shape):
            return self.broadcast(value, shape)
        if 0 in shape:
            return self.splat(0, value.dtype, shape)
        bounds = [self.integers(numbers) for numbers in (starts, limits, steps)]
        return self.node("StridedSlice", (self.whole(value), *bounds), shape, value.dtype)

    def cut(self, value: Tensor, dim: int, start: int, limit: int, step: int = 1) -> Tensor:
        """Part of one dim."""
        rank = len(value.shape)
        starts, limits, steps = [0] * rank, list(value.shape), [1] * rank
        starts[dim], limits[dim], steps[dim] = start, limit, step
        return self.slice(value, starts, limits, steps)

    def reverse(self, value: Tensor, dims: Sequence[int]) -> Tensor:
        """Some dims back to front."""
        if value.is_splat or not dims:
            return value
        return self.node("ReverseV2", (self.whole(value), self.integers(dims)), value.shape, value.dtype)

    def concatenate(self, values: Sequence[Tensor], dim: int) -> Tensor:
        """Tensors end to end along a dim."""
        shape = list(values[0].shape)
        shape[dim] = sum(value.shape[dim] for value in values)
        kept = [self.whole(value) for value in values if value.shape[dim]]
        if len(kept) < 2:
            return kept[0] if kept else values[0]
        return self.node("ConcatV2", (*kept, self.constant(dim, INT32)), shape, values[0].dtype)

    def gather(self, value: Tensor, places: Tensor, dim: int, batch_dims: int = 0) -> Tensor:
        """What lies at these places of a dim; leading batch dims are those of both."""
        shape = (*value.shape[:dim], *places.shape[batch_dims:], *value.shape[dim + 1 :])
        inputs = (self.whole(value), self.whole(places), self.constant(dim, INT32))
        return self.node("GatherV2", inputs, shape, value.dtype, batch_dims=batch_dims)

    def pack(self, scalars: Sequence[Tensor]) -> Tensor:
        """Scalars as a list."""
        return self.node("Pack", scalars, (len(scalars),), scalars[0].dtype, axis=0)

    def pad(self, value: Tensor, padding: Tensor, low: Sequence[int], high: Sequence[int]) -> Tensor:
        """A value before and after the elements of each dim."""
        if not any(low) and not any(high):
            return value
        shape = [n + a + b for n, a, b in zip(value.shape, low, high, strict=True)]
        if value.is_splat and value.node is padding.node and value.index == padding.index:
            return self.broadcast(value, shape)
        amounts = self.constant(np.array(list(zip(low, high, strict=True)), INT32))
        return self.node("PadV2", (self.whole(value), amounts, padding), shape, value.dtype)

    def iota(self, count: int, dtype: DType = INT32) -> Tensor:
        """0, 1, 2, ... as a list."""
        known = dtype if dtype.name in KERNELS["Range"].dtypes else INT64
        key = ("iota", count, known.name)
        found = self.graph.constants.get(key)
        if found is None:
            bounds = [self.constant(number, known) for number in (0, count, 1)]
            found = self.graph.constants[key] = self.node("Range", bounds, (count,), known)
        return self.cast(found, dtype)

    def counted(self, shape: Sequence[int], dim: int, dtype: DType = INT32) -> Tensor:
        """The index along one dim, for all elements of a shape."""
        placed = (shape[dim], *(1,) * (len(shape) - dim - 1))
        return self.broadcast(self.reshape(self.iota(shape[dim], dtype), placed), shape)
