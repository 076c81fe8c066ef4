"""Our programs as graphs that TensorFlow runs: GraphDef messages and files, and SavedModel directories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from shardwright.compiler.layouts.unsharded import strip_layouts
from shardwright.compiler.pipelines import IMPORT, run_pipeline
from shardwright.compiler.stages import Propagated, Traced
from shardwright.compiler.tracing.pytree import Tree, is_mapping, paths
from shardwright.compiler.tracing.reference import held
from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.registry import coded
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.dtensor.transfers import TransferOp
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.frontends.functions.function import Function
from shardwright.frontends.tensorflow.exporting.devices import Devices, atoms_of
from shardwright.frontends.tensorflow.exporting.emitter import Emitter, Library, legal, missing
from shardwright.frontends.tensorflow.exporting.kernels import TYPES
from shardwright.frontends.tensorflow.exporting.messages import reference, write_graph
from shardwright.frontends.tensorflow.exporting.nodes import DType, Refusal, Tensor
from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.passes import rewriter
from shardwright.passes.stages import stage_of
from shardwright.serialization.protos import graph_pb2

__all__ = ["ExportedGraph", "Port", "export_graph", "export_module", "to_graph_def"]


@dataclass(frozen=True)
class Port:
    """An argument or result of an exported graph: its name for people, its tensor in the graph, and its type."""

    name: str
    tensor: str
    shape: tuple[int, ...]
    dtype: DType


@dataclass(frozen=True)
class ExportedGraph:
    """A graph with its arguments and results, in the program's order."""

    graph_def: graph_pb2.GraphDef
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    signature: str = ""
    """The name of the signature that the program was, if it was one."""


def to_graph_def(stage: Traced | Propagated | Function[..., Any]) -> graph_pb2.GraphDef:
    """
    The global program as a `GraphDef`, which TensorFlow runs with equal results; layouts are left out.

    Arguments are `Placeholder` nodes named as the function's parameters (`params['w']` is `params_w`), results are
    `Identity` nodes named `result`, or `result_0`, `result_1`, ...; those in a dict by its keys. Inputs and outputs of
    an imported graph keep their names. Variables that the program reads are constants named as they are, with what they
    hold now; what it assigns to them are more results, named as the variables.

    Takes a traced or propagated stage, or a function with an input signature. Raises `ShardwrightError` (SW0893) that
    lists all operations that TensorFlow cannot say, and `ValueError` (SW0894) for stages that are no global programs.

    >>> import numpy, shardwright
    >>> graph = to_graph_def(shardwright.function(lambda x: x * 2 + 1).trace(numpy.ones(3, "float32")))
    >>> [(node.name, node.op) for node in graph.node if node.op != "Const"]
    [('x', 'Placeholder'), ('multiply', 'Mul'), ('add', 'AddV2'), ('result', 'Identity')]
    """
    return export_graph(stage).graph_def


def export_graph(
    stage: Traced | Propagated | Function[..., Any], into: graph_pb2.GraphDef | None = None
) -> ExportedGraph:
    """
    The graph of `to_graph_def` with the names of its arguments and results; written `into` a message if one is given.

    >>> import numpy, shardwright
    >>> exported = export_graph(shardwright.function(lambda x: x * 2).trace(numpy.ones(3, "float32")))
    >>> exported.inputs[0].tensor, exported.outputs[0].name
    ('x:0', 'result')
    """
    if isinstance(stage, Function):
        stage = stage.trace()
    if not isinstance(stage, Traced | Propagated):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise GraphError("SW0894", f"a {type(stage).__name__} is no global program")
    interface = stage.interface
    count = len(interface.parameters)
    results = list(interface.outputs) or _result_names(interface.results)
    results += [variable.name for variable in interface.updated]
    fixed = {count + place: (held(array), getattr(array, "name", "")) for place, array in enumerate(interface.captured)}
    names = [parameter.name for parameter in interface.parameters]
    return replace(export_module(stage.module.clone(), names, results, fixed, into), signature=interface.signature)


def export_module(
    module: ModuleOp,
    parameters: list[str] | None = None,
    results: list[str] | None = None,
    fixed: dict[int, tuple[Any, str]] | None = None,
    into: graph_pb2.GraphDef | None = None,
) -> ExportedGraph:
    """
    The graph of a module's `@main`; the module is used up. `fixed` are arguments, by place, that become constants: what
    each holds, and its name.

    Names that are not given are those of the program's values: `arg0`, `result_0`, ...
    """
    if len(meshes(module)) > 1:
        for op in list(module.walk()):
            if isinstance(op, TransferOp):  # copies to another mesh are left out, and with them all meshes
                rewriter.replace(op, [op.operand])
        strip_layouts(module)
    if stage_of(module) != "propagated":
        run_pipeline(module, IMPORT)
    function = _entry(module)
    atoms = atoms_of(module)
    strip_layouts(module)
    library = Library(devices=None if atoms is None else Devices(atoms))
    emitter = Emitter(library)
    try:
        taken, inputs = _arguments(emitter, function, parameters, fixed or {})
        outputs = _results(emitter, emitter.block(function.body.block, taken), results)
    except Refusal as refusal:
        message, place = f"TensorFlow cannot say this program: {refusal}", where(function)
        raise ShardwrightError([*library.faults, Diagnostic("SW0893", message, place)]) from None
    if library.faults:
        raise ShardwrightError(library.faults)
    message = graph_pb2.GraphDef() if into is None else into
    write_graph(emitter.graph, library, [*inputs, *outputs], message)
    taken_in, given_back = (
        tuple(Port(name, f"{reference(x, in_function=False)}:0", x.shape, x.dtype) for name, x in side)
        for side in (inputs, outputs)
    )
    return ExportedGraph(message, taken_in, given_back)


def _result_names(results: Tree) -> list[str]:
    """What results are called: those of a dict by their keys, others `result`."""
    if not is_mapping(results.kind):
        return paths(results, "result")
    parts = zip(results.keys, results.parts, strict=True)
    return [path for key, part in parts for path in (paths(part, str(key)) if isinstance(part, Tree) else ())]


def _entry(module: ModuleOp) -> FuncOp:
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main" and op.body.blocks:
            return op
    raise GraphError("SW0894", "the program has no function @main with a body")


def _arguments(
    emitter: Emitter, function: FuncOp, names: list[str] | None, fixed: dict[int, tuple[Any, str]]
) -> tuple[list[Tensor], list[tuple[str, Tensor]]]:
    taken: list[Tensor] = []
    ports: list[tuple[str, Tensor]] = []
    for place, value in enumerate(function.args):
        dtype, shape = element_dtype(value.type), shape_of(value)
        if place in fixed:
            array, named = fixed[place]
            taken.append(emitter.named_constant(np.asarray(array), legal(named)))
            continue
        hint = value.name_hint or f"arg{place}"
        name = names[place] if names is not None else hint if hint[0].isalpha() else f"arg{place}"
        if dtype.name not in TYPES:
            message = f"TensorFlow cannot take argument {name}: it has no kernels for {value.type}"
            emitter.library.faults.append(coded("SW0893", message, location=where(value)))
            taken.append(missing(value))
            continue
        tensor = emitter.node("Placeholder", (), shape, dtype, shape=shape)
        tensor.node.name = legal(name) or f"arg{place}"
        taken.append(tensor)
        ports.append((name, tensor))
    return taken, ports


def _results(emitter: Emitter, values: list[Tensor], names: list[str] | None) -> list[tuple[str, Tensor]]:
    """Each result under its own name, also where two are the same value or one is an argument."""
    ports: list[tuple[str, Tensor]] = []
    for place, value in enumerate(values):
        name = names[place] if names is not None else "result" if len(values) == 1 else f"result_{place}"
        tensor = emitter.node("Identity", (emitter.whole(value),), value.shape, value.dtype)
        tensor.node.name = legal(name) or f"result_{place}"
        ports.append((name, tensor))
    emitter.graph.outputs = [tensor for _, tensor in ports]
    return ports
