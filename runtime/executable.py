"""`Executable`: a compiled module that takes and returns global arrays, and counts what it sends."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright._collector import collector_paused
from shardwright.diagnostics import (
    Diagnostic,
    ShardwrightError,
    ShardwrightInternalError,
    ShardwrightTypeError,
    ShardwrightValueError,
)
from shardwright.dialects import dtensor
from shardwright.dialects.building import ops_in
from shardwright.dialects.dtensor.attributes import LayoutAttr
from shardwright.dialects.text.locations import where
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.types import element_dtype, native_array, shape_of
from shardwright.layout.forms.clients import ALONE, Clients
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import whole_shape
from shardwright.layout.spec import replicated_spec
from shardwright.runtime.atoms import Atoms
from shardwright.runtime.codegen.arena import out_of_memory
from shardwright.runtime.codegen.crew import Crew, shared_crew
from shardwright.runtime.codegen.engines import Engine, FusedEngine, PlainEngine
from shardwright.runtime.codegen.images import Image, fused_image, plain_image, planned_peak
from shardwright.runtime.codegen.plain import peak_bytes
from shardwright.runtime.ledger import Ledger
from shardwright.runtime.lowering import calls, collectives, control, ops, sorting
from shardwright.runtime.lowering.emitters import check_supported, lower_function
from shardwright.runtime.lowering.named_axes import axes_named, entries
from shardwright.runtime.ports import Port
from shardwright.runtime.processes.communicator import Communicator
from shardwright.runtime.program import Program

__all__ = ["EMITTER_MODULES", "Executable", "Interface", "compile_module", "held_by_each", "interface_of"]

EMITTER_MODULES = (calls, collectives, control, ops, sorting)
"""The modules whose import registers the emitters."""


def _has_empty(ops: Sequence[Operation]) -> bool:
    """
    Whether a tensor has no elements: windows on buffers without bytes are not bounded by NumPy (it takes a length of 0
    for one that is not known), so such programs run without planned buffers.
    """
    types = {id(value.type): value.type for op in ops for value in (*op.results, *_arguments(op))}
    return any(isinstance(type_, TensorType) and 0 in type_.get_shape() for type_ in types.values())


def _arguments(op: Operation) -> list[SSAValue]:
    return [argument for region in op.regions for block in region.blocks for argument in block.args]


@dataclass(frozen=True)
class Interface:
    """
    What a program takes and gives, on which mesh; `mesh` is `None` where no axis is named.

    It is known without compiling anything.
    """

    function: FuncOp
    mesh: Mesh | None
    atoms: Atoms
    inputs: list[Port]
    outputs: list[Port]


def interface_of(module: ModuleOp, clients: Clients = ALONE, ops: Sequence[Operation] | None = None) -> Interface:
    """What the program in a module takes and gives on each of its processes; `ops` are all of its ops, if at hand."""
    function = _entry(module)
    mesh, atoms = _mesh_atoms(module, ops_in(module) if ops is None else ops, clients)
    types = function.function_type
    inputs = _ports(types.inputs, function.arg_attrs, atoms, function)
    return Interface(function, mesh, atoms, inputs, _ports(types.outputs, function.res_attrs, atoms, function))


class Executable:
    """
    One generated Python function over stacked arrays, with its arguments' and results' layouts.

    `ledger` holds the figures of the last run, and `seconds` how long it took (without scattering and gathering).
    """

    def __init__(
        self,
        image: Image,
        namespace: str = "numpy",
        crew: Crew | None = None,
        *,
        communicator: Communicator | None = None,
        text: str = "",
    ) -> None:
        self.image = image
        self._communicator = communicator
        self.mesh, self.inputs, self.outputs = image.mesh, list(image.inputs), list(image.outputs)
        self.ledger = Ledger()
        self.seconds = 0.0
        self._engine: Engine = (
            FusedEngine(image, crew or shared_crew(None))
            if image.fused
            else PlainEngine(image, importlib.import_module(namespace))
        )
        # The text of a program, and how elements travel, is what the processes that run it have in common.
        self._digest = sha256(f"{text}{self.travels}".encode()).hexdigest()[:16]

    @property
    def source(self) -> str:
        """The generated Python text."""
        return self.image.source

    @property
    def travels(self) -> list[tuple[int, ...]]:
        """For each step between processes the dims, major to minor, in which elements travel; empty as they are."""
        return self.image.orders

    @property
    def peak_bytes(self) -> int:
        """
        The most bytes that the run holds at once, all devices together: its results and its intermediate values.

        Results count in full from start to end. Arguments and constants are not the run's.
        """
        return self.image.peak_bytes + self.image.result_bytes

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """
        The global results for global arguments.

        Raises SW0602 when an argument's shape or dtype is not the function's.
        """
        inputs = [native_array(array) for array in inputs]
        self._check_inputs(inputs)
        bases = [port.base_of(array) for array, port in zip(inputs, self.inputs, strict=True)]
        return [port.global_of(_here(base)) for base, port in zip(self._call(bases), self.outputs, strict=True)]

    def run_stacked(self, inputs: Sequence[Any]) -> list[Any]:
        """The same on stacked forms (see `runtime.stacking`); those that a run returned are taken without a copy."""
        bases = [port.base_of_stacked(array) for array, port in zip(inputs, self.inputs, strict=True)]
        return [port.stacked_of(_here(base)) for base, port in zip(self._call(bases), self.outputs, strict=True)]

    def run_bases(self, bases: Sequence[Any]) -> list[Any]:
        """
        The same on bases (see `runtime.ports`), which stay where the namespace has its arrays.

        Where a layout is not partial the base is the same for all programs of a process, and needs no conversion.
        """
        return self._call(bases)

    def _call(self, bases: Sequence[Any]) -> list[Any]:
        self.ledger.reset()
        start = time.perf_counter()
        together = nullcontext() if self._communicator is None else self._communicator.running(self._digest)
        with together, np.errstate(all="ignore"):  # StableHLO defines what overflow and division by zero give
            try:
                results = self._engine.call(self.ledger, bases, self._communicator)
            except MemoryError as error:
                raise out_of_memory(self.peak_bytes, self.image.largest, error) from error
        self.seconds = time.perf_counter() - start
        return results

    def _check_inputs(self, inputs: Sequence[Any]) -> None:
        if len(inputs) != len(self.inputs):
            raise ShardwrightTypeError(
                Diagnostic("SW0602", f"the program takes {len(self.inputs)} arguments, but {len(inputs)} were given")
            )
        for index, (array, port) in enumerate(zip(inputs, self.inputs, strict=True)):
            found = tuple(np.shape(array)), np.dtype(getattr(array, "dtype", type(array)))
            if found != (port.whole, port.dtype):
                raise ShardwrightValueError(
                    Diagnostic(
                        "SW0602",
                        f"argument {index} is {_array_text(*found)}, but the program takes "
                        f"{_array_text(port.whole, port.dtype)}",
                        port.location,
                        help="convert the array, or compile the program for this shape and type",
                    )
                )


def compile_module(
    module: ModuleOp,
    *,
    namespace: str = "numpy",
    threads: int | None = None,
    fused: bool = True,
    communicator: Communicator | None = None,
) -> Executable:
    """
    Compiles a local-stage module, or an unsharded one, to an `Executable` over the array namespace.

    `namespace` is the module whose functions are called: `numpy`, or one with its manners. `threads` is the number of
    threads that share large steps (by default one for each core). With `fused=False` nothing is folded or fused: each
    op is one array call, and each collective works on the devices' own values as it is written. That is slower, and the
    independent second opinion of `shardwright run --check`.

    With a `communicator` this process is one of several, each with a block of the mesh (see `runtime.processes`).
    """
    with collector_paused():
        clients = ALONE if communicator is None else communicator.clients
        ops = ops_in(module)
        interface, program = _lowered(module, ops, clients)
        mesh, inputs, outputs = interface.mesh, interface.inputs, interface.outputs
        crew = shared_crew(threads)
        image = (
            fused_image(program, mesh, inputs, outputs, crew.size)
            if namespace == "numpy" and fused and not _has_empty(ops)
            else plain_image(program, mesh, inputs, outputs)
        )
        text = "" if communicator is None else print_module(module)
        return Executable(image, namespace, crew, communicator=communicator, text=text)


@collector_paused()
def held_by_each(module: ModuleOp, *, fused: bool = True) -> int:
    """
    The bytes that each device holds at the most where it has a process of its own that runs a local-stage module.

    These are its arguments and results from start to end, and what the program's steps hold in between: not only its
    values, but the order that a sort finds first as well. Where nothing is `fused`, each step has a new array. Of what
    no process could run nothing is known: 0, nor of what moves along so `LONG` a dim, as planning lists its places.
    """
    ops = ops_in(module)
    if any(map(_is_long, ops)):
        return 0
    size = math.prod(mesh.size for mesh in dtensor.meshes(module).values())
    try:
        interface, program = _lowered(module, ops, Clients(size))
    except ShardwrightInternalError:
        raise
    except ShardwrightError:
        return 0  # whoever runs it is told
    inputs, outputs = interface.inputs, interface.outputs
    is_planned = fused and not _has_empty(ops)
    peak = planned_peak(program, inputs, outputs) if is_planned else peak_bytes(program)
    return peak + sum(port.base_bytes for port in (*inputs, *outputs))


LONG = 1 << 25
"""A list of the places of a dim of so many elements takes 256 MiB."""


def _is_long(op: Operation) -> bool:
    """Whether an op is a collective along a dim of too many elements."""
    types = [value.type for value in (*op.operands, *op.results)] if op.name.startswith("dtensor.") else []
    return any(max(each.get_shape(), default=0) > LONG for each in types if isinstance(each, TensorType))


def _lowered(module: ModuleOp, ops: Sequence[Operation], clients: Clients) -> tuple[Interface, Program]:
    """What a module, all of whose ops these are, takes and gives, and the steps that a process does."""
    check_supported(ops)
    interface = interface_of(module, clients, ops)
    inputs, outputs = interface.inputs, interface.outputs
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}
    program = lower_function(interface.function, interface.atoms, functions, inputs, outputs)
    _check_results(program.outputs, outputs)
    return interface, program


def _here(array: Any) -> Any:
    """An array of any namespace as NumPy's: CuPy's have to be fetched from their device."""
    return array.get() if hasattr(array, "get") else array


def _array_text(shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    return f"{dtype.name}{list(shape)}"


def _entry(module: ModuleOp) -> FuncOp:
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.sym_name.data == "main":
            return function
    raise ShardwrightValueError(
        Diagnostic(
            "SW0605",
            "the module has no function @main to run",
            where(module),
            notes=(f"it has {', '.join('@' + f.sym_name.data for f in functions) or 'no functions'}",),
            help="name the entry function main",
        )
    )


def _mesh_atoms(module: ModuleOp, ops: Sequence[Operation], clients: Clients) -> tuple[Mesh | None, Atoms]:
    """The mesh that the module runs on, cut at the borders of all parts of axes that it names."""
    declared = dtensor.meshes(module)
    used = {(mesh, axis) for op in ops for mesh, axis in axes_named(op)}
    names = {mesh for mesh, _ in used}
    if not names:
        return None, Atoms(Mesh(), ())
    found = [declared[name] for name in sorted(names)]
    if any(mesh != found[0] for mesh in found):
        raise ShardwrightValueError(
            Diagnostic(
                "SW0603",
                f"the program runs on several different meshes: {', '.join(f'@{name}' for name in sorted(names))}",
                where(module),
                help="express all layouts on one mesh",
            )
        )
    return found[0], Atoms.spanning(found[0], (axis for _, axis in sorted(used)), clients)


def _ports(types: ArrayAttr[Attribute], attributes: Attribute | None, atoms: Atoms, function: FuncOp) -> list[Port]:
    """The arguments or results of a function; those alike are one `Port`, which works out once how it is cut."""
    ports: list[Port] = []
    known: dict[tuple[Attribute, Attribute | None], Port] = {}
    for kind, entry in zip(types, entries(attributes, len(types)), strict=True):
        layout, whole = entry.get("dtensor.layout"), entry.get("dtensor.global_type", kind)
        if (whole, layout) not in known:
            known[whole, layout] = _port(whole, layout, atoms, function)
        ports.append(known[whole, layout])
    return ports


def _port(whole: Attribute, layout: Attribute | None, atoms: Atoms, function: FuncOp) -> Port:
    shape = shape_of(whole)
    spec = layout.data if isinstance(layout, LayoutAttr) else replicated_spec(atoms.mesh.name, len(shape))
    padded = whole_shape(spec, shape, atoms.mesh)
    own, unpadded = atoms.fitting(spec.axes()), None if padded == shape else shape
    return Port(padded, element_dtype(whole), spec, own, where(function), unpadded)


def _check_results(values: Sequence[Any], ports: Sequence[Port]) -> None:
    """Refuses a result that may differ between devices where its layout says that it is the same."""
    for index, (value, port) in enumerate(zip(values, ports, strict=True)):
        atoms, allowed = port.atoms, set(port.positions)
        varies = [at for at in range(atoms.count) if value.shape[at] > 1 or at in value.across]
        extra = [atoms.axes[at] for at in varies if at not in allowed]
        if extra:
            raise ShardwrightValueError(
                Diagnostic(
                    "SW0606",
                    f"result {index} varies along {', '.join(axis.brief() for axis in extra)}, but its layout "
                    f"{port.spec.body()} does not name that",
                    port.location,
                    help="reduce or gather it over these axes, or name them in the layout",
                )
            )
