"""Graphs evaluated node by node, on traced values and on what is known: the program is written on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, NameLoc, StringAttr

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics import ShardwrightError
from shardwright.frontends import arrays
from shardwright.frontends.tensorflow.importing.attributes import Signature
from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.frontends.tensorflow.importing.graphs.nodes import Library, Node, Reference
from shardwright.frontends.tensorflow.importing.table import ROWS, definitions, row
from shardwright.frontends.tensorflow.importing.tensors import (
    data_type_name,
    is_repeated,
    numpy_dtype,
    static_shape,
    tensor_array,
)
from shardwright.frontends.training.variables import Variable
from shardwright.serialization.protos import graph_pb2

FOLDED = 4096
"""The most elements of a known value that is computed with while the graph is read."""

EXPANSION = 1024
"""How many times its message a constant may be large without any limit."""

SILENT = {"Const", "Identity", "IdentityN", "NoOp", "Snapshot", "VarHandleOp"}
"""Operations that write nothing into the program, so that their nodes need no places."""


@dataclass(frozen=True)
class Resource:
    """What a handle stands for: a variable by its name."""

    name: str
    variable: Variable


@dataclass(frozen=True)
class Rows:
    """
    A list of tensors of one shape and type, as the rows of one array; None as long as no element's shape is known.

    What is not written yet is zero, as in TensorFlow.
    """

    dtype: np.dtype[Any]
    count: int
    array: Any = None


@dataclass(frozen=True)
class Items:
    """A list of tensors that grows: its elements, which may differ in shape; None where none was set."""

    items: tuple[Value | None, ...]


@dataclass(frozen=True)
class Perhaps:
    """A value that a branch has, and None where it was not taken; gradients of branches hold them."""

    value: Value | None


@dataclass
class Table:
    """A table from keys to values of one shape, on the host; None as long as nothing has filled it."""

    name: str
    keys: np.dtype[Any]
    values: np.dtype[Any]
    rows: dict[Any, Any] | None = None
    shape: tuple[int, ...] = ()
    reserved: tuple[Any, ...] = ()
    """Keys that stand for something else in the table, so that nobody may look them up."""


Handle = Resource | Rows | Items | Perhaps | Table
"""What stands for something else than one tensor."""

Value = np.ndarray[Any, Any] | Tracer | Handle
"""What flows from node to node: known arrays (also of strings), traced values, handles of variables, lists."""


@dataclass
class State:
    """What all evaluations of one graph share: its functions, variables, and the constants that became variables."""

    library: Library
    label: str
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    wide: Mapping[tuple[str, str], Variable] = field(default_factory=dict[tuple[str, str], Variable])
    constants: dict[tuple[str, str], np.ndarray[Any, Any]] = field(
        default_factory=dict[tuple[str, str], np.ndarray[Any, Any]]
    )
    tables: dict[str, Table] = field(default_factory=dict[str, Table])
    stored: Mapping[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = field(
        default_factory=dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]
    )
    """The keys and values of tables that the model's checkpoint fills, by their names."""
    assets: Mapping[bytes, Path] = field(default_factory=dict[bytes, Path])
    """The files of the model that its graph may read, by what the graph calls them."""
    room: int = 16 << 20
    """Bytes that constants may still have beyond what is listed of them."""

    def constant(self, node: Node) -> np.ndarray[Any, Any]:
        """The elements of a `Const`."""
        key = node.home, node.name
        if key not in self.constants:
            proto = node.proto.attr["value"].tensor
            found = self.constants[key] = tensor_array(proto, str(node))
            if any(found.strides):
                self.room -= max(0, found.nbytes - EXPANSION * proto.ByteSize())
            if self.room < 0:
                raise GraphError("SW0888", f"{node} and constants before it leave out too many repeated elements")
        return self.constants[key]


class Call:
    """One node being evaluated: its attributes by name, and what its operation needs to know."""

    def __init__(self, signature: Signature, interpreter: Interpreter, *, folding: bool) -> None:
        self._signature = signature
        self.interpreter = interpreter
        self.node = signature.node
        self.folding = folding
        self.xp: Any = np if folding else arrays
        self.most: float = FOLDED
        """The most elements of a value that is computed with while the program is made."""

    def __getitem__(self, name: str) -> Any:
        return self._signature[name]

    def has(self, name: str) -> bool:
        """Whether the operation has this attribute: older versions of it may not."""
        return any(item.name == name for item in self._signature.definition.attr)

    def dtype(self, name: str) -> np.dtype[Any]:
        """The NumPy dtype that an attribute names."""
        return numpy_dtype(self[name], str(self.node))

    def fault(self, message: str, code: str = "SW0886") -> GraphError:
        """The error of this node with that message; raise it."""
        return GraphError(code, f"{self.node}: {message}")

    def known(self, value: Value, what: str) -> np.ndarray[Any, Any]:
        """A value that must be known while the program is made; GraphError (SW0890) for traced ones."""
        if isinstance(value, np.ndarray):
            if value.size > self.most:
                raise self.fault(f"its {what} is made of {value.size} numbers, which is more than any has")
            return value
        raise GraphError(
            "SW0890",
            f"{self.node}: its {what} must be known before the program runs, and comes from data",
            "shapes are decided before a program runs",
        )

    def number(self, value: Value, what: str) -> int:
        """A whole number that must be known."""
        array = self.known(value, what)
        if array.size != 1:
            raise self.fault(f"its {what} has shape {list(array.shape)} where one number is due")
        return int(array.reshape(-1)[0])

    def numbers(self, value: Value, what: str) -> list[int]:
        """Whole numbers that must be known."""
        return [int(item) for item in self.known(value, what).reshape(-1)]

    def dim(self, value: Any, place: int, *, scalars: bool = False) -> int:
        """A dim of a value, from 0 on; with `scalars`, what has no dims has dim 0."""
        rank = max(value.ndim, 1) if scalars else value.ndim
        if not -value.ndim <= place < rank:
            raise self.fault(f"there is no dim {place} in a value of shape {list(value.shape)}")
        return place % rank


Short = (
    Callable[[Call], Any]
    | Callable[[Call, Any], Any]
    | Callable[[Call, Any, Any], Any]
    | Callable[[Call, Any, Any, Any], Any]
    | Callable[[Call, Any, Any, Any, Any], Any]
)


def rows(evaluations: Mapping[str, Short], *, folds: bool = False) -> None:
    """Puts operations into the table that are one expression, or one function, of their inputs."""
    for op, evaluate in evaluations.items():
        row(op, folds=folds)(evaluate)


class Frame:
    """The values of one graph, or of one call of a function, while it is evaluated."""

    def __init__(self, arguments: Mapping[str, Value], fed: Mapping[tuple[str, int], Value]) -> None:
        self.arguments = arguments
        self.fed = fed
        self.values: dict[str, tuple[Value, ...]] = {}
        self.signatures: dict[str, Signature] = {}

    def value(self, ref: Reference, wanted_by: str) -> Value:
        """The value that a reference names; GraphError (SW0886) where the node has no such output."""
        if self.fed and (ref.node, ref.index) in self.fed:
            return self.fed[ref.node, ref.index]
        if ref.node in self.arguments and not ref.index:
            return self.arguments[ref.node]
        place = self.signatures[ref.node].place(ref.output, ref.index) if ref.output else ref.index
        outputs = self.values[ref.node]
        if place >= len(outputs):
            raise GraphError("SW0886", f"{wanted_by} takes '{ref}', and there are {len(outputs)} outputs")
        return outputs[place]


class Interpreter:
    """Evaluates nodes, one after the other, into the program that is being traced."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.trace = emit.trace_now()
        self.base = self.trace.location

    def run(self, order: Sequence[Node], frame: Frame) -> Frame:
        """Evaluates nodes in an order in which each stands behind what it takes."""
        for node in order:
            inputs = [frame.value(ref, str(node)) for ref in node.inputs]
            signature = frame.signatures[node.name] = self.signature(node)
            frame.values[node.name] = self._evaluated(node, signature, inputs)
        return frame

    def call(self, name: str, arguments: Sequence[Value], wanted_by: Node) -> tuple[Value, ...]:
        """The results of a function of the graph's library, of the types that it says."""
        definition = self.state.library.function(name, str(wanted_by))
        names = definition.body.arguments
        if len(names) != len(arguments):
            given = f"{len(arguments)} arguments to {name!r}, which has {len(names)}"
            raise GraphError("SW0886", f"{wanted_by} gives {given}")
        self._check_types(wanted_by, [argument.type for argument in definition.signature.input_arg], arguments)
        frame = self.run(definition.order, Frame(dict(zip(names, arguments, strict=True)), {}))
        found = tuple(frame.value(ref, f"function {name!r}") for ref in definition.results)
        for argument, value in zip(definition.signature.output_arg, found, strict=True):
            if not argument.type_attr:
                _check_type(f"the result {argument.name!r} of function {name!r}", argument.type, value)
        return found

    def signature(self, node: Node) -> Signature:
        """What the node takes and gives: as TensorFlow defines its operation, or as the function that it calls says."""
        library = self.state.library
        if node.op in library:
            return Signature(node, library.function(node.op, str(node)).signature)
        return Signature(node, definitions()[node.op])

    def _evaluated(self, node: Node, signature: Signature, inputs: list[Value]) -> tuple[Value, ...]:
        try:
            signature.check()
            self._check_types(node, signature.input_types, inputs)
            if node.op in SILENT:
                return self._settled(node, signature, self._outputs(node, signature, inputs))
            with self._located(node), np.errstate(all="ignore"):
                return self._settled(node, signature, self._outputs(node, signature, inputs))
        except ShardwrightError as error:
            _point_at(error, node)
            raise
        except (ValueError, TypeError, IndexError, OverflowError, ArithmeticError, KeyError) as error:
            raise GraphError("SW0886", f"{node} cannot be evaluated: {error}") from error

    def _outputs(self, node: Node, signature: Signature, inputs: list[Value]) -> Any:
        if node.op in self.state.library:
            return self.call(node.op, inputs, node)
        meaning = ROWS[node.op]
        folding = meaning.folds and _folds(inputs)
        given = inputs if folding else [self.prepared(value, node, at) for at, value in enumerate(inputs)]
        return meaning.evaluate(Call(signature, self, folding=folding), *given)

    def prepared(self, value: Value, node: Node, place: int) -> Value:
        """A known value that is too large for a constant, as a traced one."""
        if not isinstance(value, np.ndarray) or value.nbytes <= emit.LITERAL_LIMIT or value.dtype.kind == "O":
            return value
        if is_repeated(value):
            return unrolled(value)
        what = f"'{node.inputs[place]}', known numbers of {value.nbytes} bytes that are no constant"
        raise GraphError("SW0890", f"{node} takes {what}")

    def _settled(self, node: Node, signature: Signature, outputs: Any) -> tuple[Value, ...]:
        """The outputs, with the types and shapes that the graph says."""
        given: tuple[Any, ...] = outputs if isinstance(outputs, tuple) else () if outputs is None else (outputs,)
        types = signature.output_types
        if len(given) != len(types):
            raise GraphError("SW0886", f"{node} has {len(given)} outputs, and says that it has {len(types)}")
        found = tuple(_typed(value, kind, node) for value, kind in zip(given, types, strict=True))
        if "_output_shapes" in node.proto.attr:
            _check_shapes(node, found)
        return found

    def _check_types(self, node: Node, types: Sequence[int], inputs: Sequence[Value]) -> None:
        for place, (kind, value) in enumerate(zip(types, inputs, strict=True)):
            if kind:
                _check_type(f"input {place} of {node}", kind, value)

    def _located(self, node: Node) -> AbstractContextManager[object]:
        return self.trace.located(self._location(node))

    def _location(self, node: Node) -> LocationAttr:
        """The node as a place: its name, in the graph, at its number."""
        place = FileLineColLoc(StringAttr(f"{self.state.label}:{node.name}"), IntAttr(node.ordinal), IntAttr(1))
        return NameLoc(StringAttr(node.name), place)


def _folds(inputs: Sequence[Value]) -> bool:
    """Whether all inputs are known, and little also after they have been broadcast against each other."""
    shapes: list[tuple[int, ...]] = []
    for value in inputs:
        if not isinstance(value, np.ndarray) or value.size > FOLDED:
            return False
        shapes.append(value.shape)
    rank = max(map(len, shapes), default=0)
    widest = [max((shape[-dim] for shape in shapes if len(shape) >= dim), default=1) for dim in range(1, rank + 1)]
    return math.prod(widest) <= 16 * FOLDED


def _check_type(what: str, kind: int, value: Value) -> None:
    if isinstance(value, Resource | Table):
        fits = kind == graph_pb2.DT_RESOURCE
    elif isinstance(value, Rows | Items | Perhaps):
        fits = kind == graph_pb2.DT_VARIANT
    else:
        fits = kind not in (graph_pb2.DT_RESOURCE, graph_pb2.DT_VARIANT) and numpy_dtype(kind, what) == value.dtype
    if not fits:
        raise GraphError("SW0886", f"{what} is {_described(value)} where {data_type_name(kind)} is due")


def _described(value: Value) -> str:
    if isinstance(value, Resource | Table):
        return "a handle"
    return "a list of tensors" if isinstance(value, Rows | Items | Perhaps) else value.dtype.name


def _typed(value: Any, kind: int, node: Node) -> Value:
    if isinstance(value, Handle):
        return value
    array: Any = value if isinstance(value, Array) else np.asarray(value)
    array = emit.as_tracer(array) if isinstance(array, Variable) else array
    due = numpy_dtype(kind, str(node))
    if array.dtype == due:
        return array
    return array.astype(due) if isinstance(array, np.ndarray) else emit.as_tracer(arrays.astype(array, due))


def _check_shapes(node: Node, outputs: Sequence[Value]) -> None:
    """GraphError (SW0886) where TensorFlow worked out another shape (`_output_shapes`)."""
    for place, (proto, value) in enumerate(zip(node.proto.attr["_output_shapes"].list.shape, outputs, strict=False)):
        said = static_shape(proto, str(node))
        if said is None or isinstance(value, Handle):
            continue
        if not fits(value.shape, said):
            shown = ["?" if size is None else size for size in said]
            raise GraphError("SW0886", f"{node}: output {place} is {list(value.shape)}, and the graph says {shown}")


def unrolled(value: np.ndarray[Any, Any]) -> Any:
    """A known array that repeats one element without memory, made in the program; a small array as it is."""
    if value.nbytes <= emit.LITERAL_LIMIT:
        return value
    return arrays.broadcast_to(np.array(value[(0,) * value.ndim]), value.shape)


def fits(shape: Sequence[int | None], said: Sequence[int | None]) -> bool:
    """
    Whether a shape can be one of those that are said, where None is any size.

    >>> fits((2, 3), (None, 3)), fits((2, 3), (2,))
    (True, False)
    """
    return len(shape) == len(said) and all(
        None in (size, due) or size == due for size, due in zip(shape, said, strict=True)
    )


def _point_at(error: ShardwrightError, node: Node) -> None:
    """Lets an error name the node in which it arose, the innermost one."""
    note = f"in {node}"
    noted = any(text.startswith("in node ") for one in error.diagnostics for text in one.notes)
    named = any(str(node) in one.message for one in error.diagnostics)
    if noted or named or (isinstance(error, GraphError) and "node '" in error.message):
        return
    error.note(note)
