"""`shardwright run`: partition a program, run it over its mesh, and compare its results."""

from __future__ import annotations

import argparse
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.checking import wrong_program
from shardwright.diagnostics import ShardwrightError
from shardwright.tools.programs.arrays import (
    Array,
    Comparison,
    all_nan,
    compare,
    load_archive,
    mismatch,
    random_inputs,
    select,
)
from shardwright.tools.programs.program import parse, program_text
from shardwright.tools.programs.run_report import Report
from shardwright.tools.programs.signature import Signature, check_memory, entry_signature
from shardwright.tools.terminal.arguments import CodedArgumentParser, tolerance
from shardwright.tools.terminal.guard import DONE, USER_ERROR, CommandState, report_diagnostics
from shardwright.tools.terminal.output import write_report
from shardwright.views.explanation.places import brief_places

if TYPE_CHECKING:
    from shardwright.compiler.report import Prediction

DESCRIPTION = """Partition a program, run it on all devices of its mesh (simulated in this process), and report
what was sent. Inputs and expected results are global arrays named in_0, in_1, ... and out_0, out_1, ... ."""

UNSHARDED = "the unsharded run"

EPILOG = """examples:
  shardwright run model.mlir --check                          random inputs, against the unsharded run
  shardwright run model.mlir --inputs x.npz --expect y.npz    given inputs and results
  shardwright run model.mlir --trace out.json                 what ran when, for Perfetto
  shardwright run model.mlir --json > report.json             the figures as data
"""


def _parser() -> CodedArgumentParser:
    parser = CodedArgumentParser(prog="shardwright run", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("file", help="the program: StableHLO text with layouts; '-' is standard input")
    add("--inputs", metavar="X.npz", help="the arguments in_0, in_1, ...; seeded random ones without it")
    add("--expect", metavar="X.npz", help="the results out_0, out_1, ... that must come out")
    add("--check", action="store_true", help="compare with the unsharded run of the same program")
    add("--rtol", type=tolerance, help="relative tolerance (default: by element type; float32 1e-4)")
    add("--atol", type=tolerance, help="absolute tolerance (default: of the result's root mean square, at least 1)")
    add("--seed", type=_seed, default=0, help="seed of the random inputs (default 0)")
    add("--trace", metavar="OUT.json", help="write what ran when, and what it sent, for Perfetto")
    add("--json", action="store_true", help="print the report as JSON on standard output")
    return parser


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a seed: give a whole number from 0")
    return int(text)


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright run`; returns the exit code."""
    options = _parser().parse_args(arguments)
    with program_text(options.file, state) as (name, text):
        _load_layers()
        report = _run_program(options, text, name)
    write_report(report.as_data(), None if options.json else brief_places(report.as_text(), name))
    wrong = [mismatch(comparison) for comparison in report.comparisons if not comparison.ok]
    if found := [*report.warnings, *wrong]:
        report_diagnostics(ShardwrightError(found), state.sources)
    return USER_ERROR if wrong else DONE


def _run_program(options: argparse.Namespace, text: str, name: str) -> Report:
    """Partition, run and compare the program `text`, as the command line says."""
    from shardwright.runtime.executable import compile_module

    seconds: dict[str, float] = {}
    with _stage(seconds, "parse"):
        module = parse(text, name)
    signature = entry_signature(module)
    check_memory(module)
    if options.inputs is None:
        inputs = random_inputs(signature.arguments, options.seed)
    else:
        inputs = select(load_archive(options.inputs), options.inputs, signature.arguments)
    predicted = _partition(module, seconds)
    with _stage(seconds, "compile"):
        executable = compile_module(module)
    with _stage(seconds, "run"), _traced(options.trace, predicted):
        results = executable.run(inputs)
    expected, sent = predicted.total(executable.ledger.runs), executable.ledger.sent_bytes
    if expected is not None and sent != expected:  # the design's first principle: anything else is our fault
        raise wrong_program(f"predicted {expected} bytes per device, but the ledger counts {sent}")
    references: References = {}
    if options.expect is not None:
        references[f"'{options.expect}'"] = select(load_archive(options.expect), options.expect, signature.results)
    if options.check:
        references[UNSHARDED] = _run_unsharded(text, name, inputs)
    comparisons = _compare_results(options, signature, results, references)
    if options.check:
        # The engine folds a split product and its all-reduce into one global product, which alone would prove little.
        unfused = compile_module(module, fused=False).run(list(inputs))
        whole = {f"{UNSHARDED}, with nothing fused": references[UNSHARDED]}
        comparisons += _compare_results(options, signature, unfused, whole)
    nan = all_nan(signature.arguments, inputs), all_nan(signature.results, results)
    return Report(comparisons, list(references), executable.ledger.as_dict(), executable.peak_bytes, seconds, *nan)


@contextmanager
def _traced(path: str | None, predicted: Prediction) -> Generator[None]:
    """Writes a trace of what runs inside, if one was asked for."""
    if path is None:
        yield
        return
    from shardwright.views.traces.profiling import write_trace
    from shardwright.views.traces.recording import recorded

    with recorded() as recording:
        yield
    write_trace(recording, path, predicted.total())


@contextmanager
def _stage(seconds: dict[str, float], name: str) -> Generator[None]:
    """Adds the time inside to that of a stage."""
    started = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - started


def _load_layers() -> None:
    """Import what is loaded on first use, so that the seconds by stage do not count it."""
    from shardwright.passes import all_passes

    import_module("shardwright.runtime.executable")

    for factory in all_passes().values():
        factory()


def _partition(module: ModuleOp, seconds: dict[str, float]) -> Prediction:
    """Partition a module in place; the bytes that each device will send."""
    from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
    from shardwright.compiler.report import prediction

    with _stage(seconds, "partition"):
        run_pipeline(module, ["plan"])
    predicted = prediction(module)
    with _stage(seconds, "partition"):
        run_pipeline(module, LOCALIZE)
    return predicted


References = dict[str, Sequence[Array]]
"""The expected results, by what messages call them."""


def _compare_results(
    options: argparse.Namespace, signature: Signature, results: Sequence[Array], references: References
) -> list[Comparison]:
    return [
        compare(declared, actual, expected, against, options.rtol, options.atol)
        for against, reference in references.items()
        for declared, actual, expected in zip(signature.results, results, reference, strict=True)
    ]


def _run_unsharded(text: str, name: str, inputs: Sequence[Array]) -> list[Array]:
    """The results of the same program on one device, without layouts; of its collectives, only those that it writes."""
    from shardwright.compiler.unsharded import unsharded_module
    from shardwright.dialects.dtensor import meshes
    from shardwright.runtime.executable import compile_module

    module = unsharded_module(parse(text, name))
    return compile_module(module, fused=not meshes(module)).run(list(inputs))
