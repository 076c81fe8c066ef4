"""`shardwright export`: the partitioned program in a form that other tools read."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from shardwright.diagnostics import ShardwrightError
from shardwright.tools.programs.program import parsed, program_text
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState, report_diagnostics
from shardwright.tools.terminal.output import STANDARD_OUTPUT, write_output

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

DESCRIPTION = """Partition a program and print it for other tools. With --to sdy it stays the global program, and says
each layout that was chosen as a Shardy annotation. With --to stablehlo it is the program that each device runs, with
StableHLO's collectives, inside of a manual computation over the global arguments. With --to graphdef it is the global
program as TensorFlow's graph, without layouts. With --to graphviz or model-explorer it is a drawing of the program with
its collectives, layouts and bytes."""

GRAPH = "graphdef"
"""The form that TensorFlow reads."""

EPILOG = """examples:
  shardwright export model.mlir --to sdy                       the global program with its layouts
  shardwright export model.mlir --to sdy --ask-xla -o a.mlir   and what XLA sends with it, on standard error
  shardwright export model.mlir --to stablehlo -o device.mlir  the program of each device, in a file
  shardwright export model.mlir --to stablehlo --json          with its layouts and bytes as data
  shardwright export model.mlir --to graphviz | dot -Tsvg      a drawing
  shardwright export model.mlir --to graphdef -o model.pb      for TensorFlow; as text on standard output and in .pbtxt
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright export`."""
    parser = CodedArgumentParser(prog="shardwright export", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    parser.add_program()
    parser.add_callbacks()
    parser.add_automatic()
    add("--to", choices=[*FORMS, GRAPH, *DRAWINGS], required=True, help="the form to write")
    add("--bare", action="store_true", help="with stablehlo: @main takes and gives what one device holds")
    about = "with stablehlo: what XLA is to compile it for, as JAX says it"
    add("--platform", choices=("cpu", "gpu", "cuda", "rocm", "tpu"), help=about)
    add("--ask-xla", action="store_true", help="have the installed JAX compile it and say what XLA sends")
    add("-o", dest="output", metavar="OUT", help="write there, in one step; without it, on standard output")
    add("--json", action="store_true", help="print the layouts, the bytes and the text as JSON")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright export`; returns the exit code."""
    parser = command_line()
    options = parser.parse_args(arguments)
    if (options.bare or options.platform) and options.to != "stablehlo":
        parser.error("--bare and --platform are for --to stablehlo")
    if options.ask_xla and (options.to not in FORMS or options.bare):
        parser.error("--ask-xla is for what XLA compiles: --to sdy, or --to stablehlo without --bare")
    from shardwright.compiler.pipelines import run_pipeline
    from shardwright.dialects.dtensor import meshes
    from shardwright.tools.programs.signature import entry_function

    with program_text(options.file, state) as (name, text):
        module = parsed(text, name, options)
        entry_function(module)
        if options.to in DRAWINGS:
            run_pipeline(module, ["plan"])
            shown = _drawing(module, options.to, name)
        elif options.to == GRAPH:
            shown = _exported_graph(module, options)
        else:
            report = _segments(module, options, state) if len(meshes(module)) > 1 else _exported(module, options, state)
            shown = json.dumps(report, indent=2) + "\n" if options.json else str(report["text"])
    if shown is None:
        return DONE
    write_output(options.output, shown)
    return DONE


def _segments(module: ModuleOp, options: argparse.Namespace, state: CommandState) -> dict[str, object]:
    """The same of a program on several meshes: a program for each segment, and what goes in between."""
    from shardwright.compiler.layouts.segments import Segments
    from shardwright.compiler.layouts.several import TransferRow
    from shardwright.compiler.pipelines import READ, run_pipeline

    run_pipeline(module, READ)
    found = Segments(module, [])
    reports = [_exported(part.traced, options, state) for part in found.parts]
    return {
        "to": options.to,
        "segments": reports,
        "transfers": [TransferRow.of(transfer).data() for transfer in found.transfers],
        "text": "// -----\n".join(str(report["text"]) for report in reports),
    }


def _exported(module: ModuleOp, options: argparse.Namespace, state: CommandState) -> dict[str, object]:
    """The text of a program in the form that was asked for, with its layouts and bytes; `module` is used up."""
    from shardwright.compiler.pipelines import ALIGN, PLAN, run_pipeline
    from shardwright.compiler.report import predicted_bytes
    from shardwright.dialects.text.printing import print_module
    from shardwright.tools.programs.signature import entry_function

    run_pipeline(module, ["propagate"])
    function = entry_function(module)
    returned = function.get_return_op()
    mesh = _devices(module)
    report: dict[str, object] = {
        "to": options.to,
        "mesh": mesh,
        "arguments": [_described(value) for value in function.args],
        "results": [_described(value) for value in returned.operands] if returned is not None else [],
    }
    planned = module.clone()
    run_pipeline(planned, [*ALIGN, *PLAN])
    sent = predicted_bytes(planned)
    report["bytes_per_device"] = None if sent is None else float(sent)
    uneven = options.to == "sdy" and _is_uneven(module)
    if options.to == "sdy":
        _say_doubts(module, state)
    written = FORMS[options.to](module, planned, options)
    text = print_module(written)
    if options.ask_xla:
        report |= _asked(text, sent, mesh)
        if uneven:
            print(_UNSAID, file=sys.stderr)
    return report | {"text": text}


def _say_doubts(propagated: ModuleOp, state: CommandState) -> None:
    """Says on standard error what XLA's own partitioner is known to get wrong."""
    from shardwright.compiler.exporting.doubts import doubts

    if found := doubts(propagated):
        report_diagnostics(ShardwrightError(found), state.sources)


_UNSAID = (
    "What is split unevenly at the program's borders has no sharding in this form, and XLA decides it: --to stablehlo "
    "keeps ours"
)


def _is_uneven(module: ModuleOp) -> bool:
    """Whether a propagated program takes or gives something in uneven parts."""
    from shardwright.compiler.values import border_layouts
    from shardwright.dialects.dtensor import meshes
    from shardwright.tools.programs.signature import entry_function

    sides = border_layouts(entry_function(module), meshes(module))
    return any(layout is not None and layout.uneven for side in sides for layout in side)


def _asked(text: str, ours: Fraction | None, mesh: dict[str, int]) -> dict[str, object]:
    """What XLA sends with an exported program, also said on standard error beside what we send."""
    from shardwright.engines.jax.asking import sent_by_xla

    theirs = sent_by_xla(text, math.prod(mesh.values()))
    print(
        f"XLA: each device sends {theirs}{' or more, by the data' if theirs.depends_on_data else ''}", file=sys.stderr
    )
    print(f"Shardwright: {_beside(ours, theirs.bytes_per_device)}", file=sys.stderr)
    return {"xla": asdict(theirs)}


def _beside(ours: Fraction | None, theirs: float) -> str:
    """
    Our bytes beside XLA's.

    >>> _beside(Fraction(64), 96.0)
    '64 bytes; XLA sends 1.50 times as much'
    """
    if ours is None:
        return "bytes that depend on the data"
    found = f"{float(ours):,.0f} bytes"
    if float(ours) == theirs:
        return f"{found}, the same"
    return f"{found}; XLA sends {theirs / float(ours):.2f} times as much" if ours else f"{found}, nothing"


def _devices(module: ModuleOp) -> dict[str, int]:
    """The axes of a program's mesh."""
    from shardwright.dialects.dtensor import meshes

    return {name: size for mesh in meshes(module).values() for name, size in mesh.sizes.items()}


def _exported_graph(module: ModuleOp, options: argparse.Namespace) -> str | None:
    """The global program as TensorFlow's graph, in text or JSON; None where it went into a file already."""
    from shardwright.frontends.tensorflow.exporting.files import text_of, write_graph_def
    from shardwright.frontends.tensorflow.exporting.graphs import export_module

    graph = export_module(module)
    if options.json:
        ports = {"arguments": graph.inputs, "results": graph.outputs}
        tensors = {side: {port.name: port.tensor for port in found} for side, found in ports.items()}
        return json.dumps({"to": GRAPH, **tensors, "text": text_of(graph.graph_def)}, indent=2) + "\n"
    if options.output in (None, STANDARD_OUTPUT):
        return text_of(graph.graph_def)
    written = write_graph_def(graph.graph_def, options.output)
    if written.name != Path(options.output).name:
        print(f"written to {written}", file=sys.stderr)
    return None


def _described(value: SSAValue) -> str:
    """A value's type with its layout, as people read it."""
    from xdsl.dialects.builtin import TensorType

    from shardwright.dialects.dtensor import layout_of
    from shardwright.dialects.types import element_of, shape_of

    spec = layout_of(value)
    if spec is None or not isinstance(value.type, TensorType):
        return str(value.type)
    return spec.brief(shape_of(value), str(element_of(value)))


def _to_sdy(propagated: ModuleOp, planned: ModuleOp, options: argparse.Namespace) -> ModuleOp:
    """The global program with Shardy's annotations."""
    from shardwright.compiler.exporting.sdy import export_sdy

    export_sdy(propagated)
    return propagated


def _to_stablehlo(propagated: ModuleOp, planned: ModuleOp, options: argparse.Namespace) -> ModuleOp:
    """The program that each device runs."""
    from shardwright.compiler.exporting.manual import export_stablehlo
    from shardwright.compiler.pipelines import LOCALIZE, run_pipeline

    run_pipeline(planned, LOCALIZE)
    export_stablehlo(planned, bare=options.bare, platform=options.platform)
    return planned


DRAWINGS = ("graphviz", "model-explorer")
"""The forms that draw the planned program, with its collectives, layouts and bytes."""


def _drawing(planned: ModuleOp, form: str, name: str) -> str:
    from shardwright.views.graphs.nodes import nodes_of

    nodes = nodes_of(planned)
    if form == "graphviz":
        from shardwright.views.graphs.graphviz import graphviz_text

        return graphviz_text(nodes) + "\n"
    from shardwright.views.graphs.model_explorer import model_explorer_data

    return json.dumps(model_explorer_data(nodes, name), indent=2) + "\n"


FORMS: dict[str, Callable[[ModuleOp, ModuleOp, argparse.Namespace], ModuleOp]] = {
    "sdy": _to_sdy,
    "stablehlo": _to_stablehlo,
}
"""Each form, and what makes it of the propagated and the planned program."""
