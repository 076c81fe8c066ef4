"""From the local module's IR to an array program: one emitter for each op, found by the op's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects.dtensor import CollectivePermuteOp, ExchangeOp
from shardwright.dialects.func import CallOp, FuncOp
from shardwright.dialects.text.locations import where
from shardwright.dialects.trip_count import control_names
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.layout.axes import Axis
from shardwright.plugins import extend
from shardwright.runtime.atoms import Atoms
from shardwright.runtime.codegen.plain import FOLDS
from shardwright.runtime.kernels import table as pointwise
from shardwright.runtime.lowering.named_axes import axes_named
from shardwright.runtime.ports import Port
from shardwright.runtime.processes.crossing import Exchange
from shardwright.runtime.program import Builder, Kind, Program, Shape, Value, joint_shape

Emitter: TypeAlias = "Callable[[Lowering, Operation, list[Value]], Sequence[Value]]"

EMITTERS: dict[str, Emitter] = {}
"""The emitter of each op by its name; element-wise ops without attributes need none."""


def emitter(*names: str) -> Callable[[Emitter], Emitter]:
    """Registers the emitter of these ops."""

    def register(function: Emitter) -> Emitter:
        extend()
        EMITTERS.update(dict.fromkeys(names, function))
        return function

    return register


@dataclass
class Lowering:
    """
    The state of one lowering: the builder, the functions that may be called, and the values so far.

    `names` are those of loops and branches; `mask` says which devices asked for what is lowered, where not all did;
    `plans` are those of exchanges, by all that they depend on.
    """

    builder: Builder
    atoms: Atoms
    functions: dict[str, FuncOp]
    values: MutableMapping[SSAValue, Value] = field(default_factory=dict[SSAValue, Value])
    calling: list[str] = field(default_factory=list[str])
    names: Mapping[Operation, str] = field(default_factory=dict[Operation, str])
    mask: Value | None = None
    plans: dict[Any, Exchange] = field(default_factory=dict[Any, Exchange])

    def block(self, block: Block, arguments: Iterable[Value]) -> list[Value]:
        """Emits a block's ops and gives the values that its terminator returns."""
        self.values.update(zip(block.args, arguments, strict=True))
        for op in block.ops:
            operands = [self.values[operand] for operand in op.operands]
            if op.name in ("func.return", "stablehlo.return"):
                return operands
            self._emit(op, operands)
        raise AssertionError("a block ends with a return: the verifier checked it")

    def fronts(self, operands: Sequence[Value]) -> Shape:
        """The leading dims of what is made of these values."""
        return joint_shape([operand.shape[: self.builder.lead] for operand in operands])

    def kernel(self, name: str, op: Operation, operands: Sequence[Value], *static: Any) -> list[Value]:
        """The call of a kernel that makes all results of an op, which vary along the mesh as any operand does."""
        shapes = [self.fronts(operands) + shape_of(result) for result in op.results]
        dtypes = [element_dtype(result.type) for result in op.results]
        if len(shapes) > 1 or name in FOLDS:
            return self.builder.call_many(name, operands, shapes, dtypes, *static)
        return [self.builder.call(name, operands, shapes[0], dtypes[0], *static)]

    def converted(self, value: Value, dtype: np.dtype[Any]) -> Value:
        """The value in another type."""
        return value if value.dtype == dtype else self.builder.pointwise("convert", [value], dtype)

    def refitted(self, value: Value, before: Atoms, after: Atoms) -> Value:
        """A value with the leading dims of other atoms, that cut the axes whose parts cross in another way."""
        if before.axes == after.axes:
            return value
        full, shape = before.refitting(value.shape, after)
        result = self.builder.reshape(self.builder.broadcast(value, full), shape)
        differs = before.differing(value.across, after)
        return result if differs == result.across else self.builder.differing(result, differs)

    def narrowed(self, value: Value, atoms: Atoms, axes: Iterable[Axis]) -> Value:
        """A value that differs along these axes alone, where `refitted` has repeated it along more."""
        kept = set(atoms.positions(axes)) if atoms.stretches else set[int]()
        alike = {at for stretch in atoms.stretches for at in stretch.positions if at not in kept}
        narrow = self.builder.slice(value, [(0, 1 if at in alike else size, 1) for at, size in enumerate(value.shape)])
        return narrow if narrow.across.isdisjoint(alike) else self.builder.differing(narrow, narrow.across - alike)

    def _emit(self, op: Operation, operands: list[Value]) -> None:
        self.builder.location = location_text(op)
        if op.name == CallOp.name and isinstance(op, CallOp):
            results: Sequence[Value] = self._call(op, operands)
        elif (emit := EMITTERS.get(op.name)) is not None:
            results = self._emitted(emit, op, operands)
        else:
            results = [self.builder.pointwise(op.name.partition(".")[2], operands, result_dtype(op))]
        self.values.update(zip(op.results, results, strict=True))

    def _emitted(self, emit: Emitter, op: Operation, operands: list[Value]) -> Sequence[Value]:
        """What an op's emitter makes, where parts of an axis cross with the atoms that the op names."""
        if not self.atoms.stretches or not op.name.startswith("dtensor."):
            return emit(self, op, operands)
        if isinstance(op, CollectivePermuteOp | ExchangeOp):  # each side may need its own
            return emit(self, op, operands)
        atoms = self.atoms.fitting(axis for _, axis in axes_named(op))
        seen = [self.refitted(operand, self.atoms, atoms) for operand in operands]
        return [self.refitted(result, atoms, self.atoms) for result in emit(replace(self, atoms=atoms), op, seen)]

    def _call(self, op: CallOp, operands: list[Value]) -> list[Value]:
        """The callee's ops in place of the call: values are freed at their last use across functions, too."""
        name = op.callee.root_reference.data
        if name in self.calling:
            chain = " -> ".join([*self.calling, name])
            raise ShardwrightError(
                Diagnostic(
                    "SW0604",
                    f"@{name} calls itself ({chain})",
                    where(op),
                    help="write the repetition as a loop, or unroll it",
                )
            )
        self.calling.append(name)
        results = self.block(self.functions[name].body.block, operands)
        self.calling.pop()
        return results

    def values_of(self, wanted: Sequence[SSAValue], arguments: Mapping[SSAValue, Value]) -> list[Value]:
        """Emits those ops of a region that some of its values need, on whole arrays in place of its scalars."""
        self.values.update(arguments)
        waiting, needed = [value.owner for value in wanted], set[Operation]()
        while waiting:
            owner = waiting.pop()
            if isinstance(owner, Operation) and owner not in needed:
                needed.add(owner)
                waiting += [operand.owner for operand in owner.operands]
        block = wanted[0].owner if isinstance(wanted[0].owner, Block) else wanted[0].owner.parent
        for op in block.ops if block is not None else ():
            if op in needed:
                self._emit(op, [self.values[operand] for operand in op.operands])
        return [self.values[value] for value in wanted]

    def region(self, block: Block) -> str:
        """A reducer's block as a function of its own; its name."""
        inner = Lowering(Builder(0), self.atoms, {})
        arguments = [inner.builder.input((), element_dtype(argument.type)) for argument in block.args]
        inner.builder.program.outputs = inner.block(block, arguments)
        _check_scalar(inner.builder.program, block)
        bodies = self.builder.program.bodies
        name = f"body{len(bodies)}"
        bodies[name] = inner.builder.program
        return name


def _check_scalar(body: Program, block: Block) -> None:
    """Scalar code is element-wise: it is run on arrays, many scalars at once (else SW0601)."""
    for step in body.steps:
        if step.kind is not Kind.POINTWISE and step.name != "bitcast_convert":
            owner = block.parent_op()
            raise ShardwrightError(
                Diagnostic(
                    "SW0601",
                    f"the runtime has no kernel for {step.name} inside of {owner.name if owner else 'a region'}",
                    where(owner) if owner else None,
                    help="use element-wise ops alone in reducers and comparators",
                )
            )


def location_text(op: Operation) -> str:
    """Where the op was written, for a comment: nothing that could end a line of Python."""
    place = where(op)
    text = "" if place is None else str(place)
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def check_supported(ops: Iterable[Operation]) -> None:
    """Raises one `ShardwrightError` (SW0601) that names every op without a kernel."""
    faults = [
        Diagnostic(
            "SW0601",
            f"the runtime has no kernel for {op.name}",
            where(op),
            help="remove the op, or add an emitter in runtime/lowering/ops.py",
        )
        for op in ops
        if not _is_supported(op)
    ]
    if faults:
        raise ShardwrightError(faults)


_STRUCTURE = frozenset(
    {"builtin.module", "func.func", "func.call", "func.return", "stablehlo.return", "dtensor.mesh", "sdy.mesh"}
)


def _is_supported(op: Operation) -> bool:
    """Whether the runtime can run this op."""
    if op.name in _STRUCTURE or op.name in EMITTERS:
        return True
    dialect, _, name = op.name.partition(".")
    return dialect in ("stablehlo", "chlo") and pointwise.is_known(name)


def lower_function(
    function: FuncOp, atoms: Atoms, functions: dict[str, FuncOp], inputs: Sequence[Port], outputs: Sequence[Port]
) -> Program:
    """The program of one function with these arguments and results."""
    names = control_names(functions.values())
    lowering = Lowering(Builder(atoms.count), atoms, functions, calling=[function.sym_name.data], names=names)
    block = function.body.block
    arguments = [
        lowering.builder.input(port.stacked_shape, port.dtype, port.atoms.across.intersection(port.positions))
        for port in inputs
    ]
    seen = [lowering.refitted(value, port.atoms, atoms) for value, port in zip(arguments, inputs, strict=True)]
    lowering.builder.program.outputs = [
        lowering.narrowed(lowering.refitted(value, atoms, port.atoms), port.atoms, port.spec.axes())
        for value, port in zip(lowering.block(block, seen), outputs, strict=True)
    ]
    return lowering.builder.program


def integers(op: Operation, name: str) -> tuple[int, ...]:
    """The integers of an op's attribute `array<i64: ...>`; empty when absent."""
    attribute: Any = op.properties.get(name)
    return () if attribute is None else tuple(int(item) for item in attribute.get_values())


def data(op: Operation, name: str) -> Any:
    """What an op's attribute holds; of an integer or a boolean, the number."""
    attribute: Any = op.properties[name]
    return attribute.value.data if isinstance(attribute, IntegerAttr) else attribute.data


def result_dtype(op: Operation) -> np.dtype[Any]:
    """The dtype of an op's first result."""
    return element_dtype(op.results[0].type)


def result_shape(op: Operation) -> tuple[int, ...]:
    """The per-device shape of an op's first result."""
    return shape_of(op.results[0])


def dense_array(attribute: DenseIntOrFPElementsAttr[Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """
    The elements of a dense attribute: flat, and only one when they are all equal.

    Booleans take one byte each.
    """
    data = attribute.data.data
    if dtype.kind == "b":
        return np.frombuffer(data, np.uint8) != 0
    return np.frombuffer(data, dtype)
