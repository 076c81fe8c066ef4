"""Writing a program's operations as TensorFlow's: the walk, names, and the functions of regions."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from xdsl.dialects.builtin import NameLoc
from xdsl.ir import Block, Operation, SSAValue

from shardwright.diagnostics import Diagnostic
from shardwright.diagnostics.registry import coded
from shardwright.dialects.building import captured_by
from shardwright.dialects.stablehlo import ConstantOp, ReturnOp, is_splat, splat_value
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.frontends.tensorflow.exporting.kernels import TYPES
from shardwright.frontends.tensorflow.exporting.nodes import Builder, Graph, Node, Refusal, Tensor

Handler: TypeAlias = "Callable[[Emitter, Any, list[Tensor]], Sequence[Tensor]]"
"""Writes an operation of one class: takes it with its operands, gives its results."""

Parts: TypeAlias = "np.ndarray[tuple[Any, ...], np.dtype[Any]]"
"""The tensors of a value that differs between devices, by their places; see `devices`."""


class SpreadWriter(Protocol):
    """Writes operations of a manual computation."""

    def write(self, e: Emitter, op: Operation) -> list[Parts] | None:
        """The results for each device; None for an operation that does not differ between devices."""
        ...


HANDLERS: dict[str, Handler] = {}
"""What writes each operation, by its name."""


def handler(*names: str) -> Callable[[Handler], Handler]:
    """Registers what writes these operations."""

    def register(function: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names, function))
        return function

    return register


@dataclass
class Library:
    """What all functions of one graph share: the functions, and what TensorFlow could not say."""

    functions: dict[str, Graph] = field(default_factory=dict[str, Graph])
    faults: list[Diagnostic] = field(default_factory=list[Diagnostic])
    devices: SpreadWriter | None = None

    def add(self, name: str, graph: Graph) -> str:
        """Keeps a function under a name that no other has."""
        free, number = name, 0
        while free in self.functions:
            number += 1
            free = f"{name}_{number}"
        self.functions[free] = graph
        return free


class Emitter(Builder):
    """
    Writes the operations of blocks into one graph.

    `values` are the tensors of the program's values, `parts` those of values that differ between devices. In an inner
    function they are the arguments that stand for them.
    """

    def __init__(self, library: Library, graph: Graph | None = None) -> None:
        super().__init__(graph)
        self.library = library
        self.values: MutableMapping[SSAValue, Tensor] = {}
        self.parts: MutableMapping[SSAValue, Parts] = {}

    def keep(self, value: SSAValue, parts: Parts) -> None:
        """Keeps what a value is for each device: one tensor where it is the same for all."""
        if parts.size == 1:
            self.values[value] = parts.reshape(-1)[0]
        else:
            self.parts[value] = parts

    def block(self, block: Block, arguments: Sequence[Tensor]) -> list[Tensor]:
        """Writes a block's operations; what it returns."""
        self.values.update(zip(block.args, arguments, strict=True))
        returned = self.run(block)
        if any(value in self.parts for value in returned):
            raise Refusal("what it returns differs between devices")
        return [self.values[value] for value in returned]

    def run(self, block: Block) -> Sequence[SSAValue]:
        """Writes a block's operations; the values that it returns."""
        for op in block.ops:
            if isinstance(op, ReturnOp) or op.name == "func.return":
                return op.operands
            self._operation(op)
        raise AssertionError("a block ends with a return")

    def pointwise(self, block: Block, arguments: Sequence[Tensor]) -> list[Tensor]:
        """A block on scalars, written for whole tensors at once; a Refusal where one of its operations is no such."""
        inner = Emitter(self.library, self.graph)
        inner.scope = self.scope
        inner.values.update(self.values)
        for op in block.ops:
            scalar = all(not shape_of(result) for result in op.results)
            if not scalar or (op.regions and op.name != "stablehlo.reduce_precision"):
                raise Refusal(f"its body holds {op.name}")
        return inner.block(block, arguments)

    def repeat_constants(self, blocks: Sequence[Block]) -> None:
        """Writes again the constants of one number that blocks use from outside: handing them over costs more."""
        for value in captured_by(blocks):
            number = _number(value)
            if number is not None:
                self.values[value] = self.splat(splat_value(number), element_dtype(value.type), shape_of(value))

    def _operation(self, op: Operation) -> None:
        outer, self.scope = self.scope, _scope(op)
        before = len(self.graph.nodes)
        try:
            spread = None if self.library.devices is None else self.library.devices.write(self, op)
            if spread is None:
                self.values.update(zip(op.results, self._results(op, before), strict=False))
            else:
                for value, parts in zip(op.results, spread, strict=True):
                    self.keep(value, parts)
        except Refusal as refusal:
            why = f": {refusal}" if str(refusal) else ""
            message = f"TensorFlow cannot say {op.name}{why}"
            self.library.faults.append(coded("SW0893", message, location=where(op)))
            self.values.update((result, missing(result)) for result in op.results)
        self.scope = outer

    def _results(self, op: Operation, before: int) -> Sequence[Tensor]:
        """The results of an operation; their nodes, of those after `before`, get the names that the program gives."""
        check_types(op)
        results = HANDLERS[op.name](self, op, [self.values[operand] for operand in op.operands])
        new = self.graph.nodes[before:]
        for value, tensor in zip(op.results, results, strict=False):
            if tensor.node in new and tensor.node.name is None and tensor.node.kind != "Const":
                hint = value.name_hint or ""
                is_number = re.fullmatch(r"(cst|c|arg)?_?\d*", hint)
                tensor.node.name = ("" if is_number else legal(hint)) or self.scope
        return results


def check_types(op: Operation) -> None:
    """Refuses an operation that nothing writes, and element types that TensorFlow's kernels do not know."""
    if op.name not in HANDLERS:
        raise Refusal("")
    for value in (*op.operands, *op.results):
        if element_dtype(value.type).name not in TYPES:
            raise Refusal(f"TensorFlow has no kernels for {value.type}")


def missing(value: SSAValue) -> Tensor:
    """A tensor of a value's type that no node makes."""
    shape = shape_of(value)
    return Tensor(Node("Argument", (), {}, ""), 0, element_dtype(value.type), shape, shape)


def captured(blocks: Sequence[Block]) -> list[SSAValue]:
    """The values from outside that blocks use and that are handed over to them, in the order of their first use."""
    return [value for value in captured_by(blocks) if _number(value) is None]


def _number(value: SSAValue) -> ConstantOp | None:
    """The constant of one number that a value is."""
    owner = value.owner
    return owner if isinstance(owner, ConstantOp) and is_splat(owner) else None


def _scope(op: Operation) -> str:
    """The name of an operation: of its place as JAX names it, or of what it does."""
    base, location = op.name.partition(".")[2], op.location
    if not isinstance(location, NameLoc):
        return base
    parts = [part for part in location.desc.data.split("/") if not re.search(r"[()]", part)]
    return legal("/".join(parts)) or base


def legal(text: str) -> str:
    """
    A text as the name of a node.

    >>> legal("params['w'][0]"), legal("0/x y"), legal("block-1/x")
    ('params_w_0', 'n0/x_y', 'block-1/x')
    """
    if re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_.>-]*(/[A-Za-z0-9_.>-]+)*", text):
        return text
    words = "/".join(re.sub(r"[^A-Za-z0-9_.]+", "_", part).strip("_") for part in text.split("/"))
    words = re.sub(r"/+", "/", words).strip("/")
    return words if not words or words[0].isalpha() else f"n{words}"
