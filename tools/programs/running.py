"""What `shardwright run` does: partition, run, and compare with what must come out."""

from __future__ import annotations

import argparse
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.checking import wrong_program
from shardwright.diagnostics.telling import lasting
from shardwright.tools.programs.arrays import (
    Array,
    Comparison,
    all_nan,
    compare,
    load_archive,
    random_inputs,
    select,
)
from shardwright.tools.programs.program import parse, parsed
from shardwright.tools.programs.run_report import Report
from shardwright.tools.programs.signature import Signature, check_memory, entry_signature

if TYPE_CHECKING:
    from shardwright.compiler.report import Prediction
    from shardwright.views.pricing import Price

UNSHARDED = "the unsharded run"


def run_program(options: argparse.Namespace, text: str, name: str) -> Report:
    """Partition, run and compare the program `text`, as the command line says."""
    from shardwright.runtime.executable import compile_module

    _load_layers()
    seconds: dict[str, float] = {}
    with _stage(seconds, "parse"):
        module = parsed(text, name, options)
    signature = entry_signature(module)
    check_memory(module)
    if options.inputs is None:
        inputs = random_inputs(signature.arguments, options.seed)
    else:
        inputs = select(load_archive(options.inputs), options.inputs, signature.arguments)
    predicted, price = _partition(module, seconds, priced=options.trace is not None)
    with _stage(seconds, "compile"):
        executable = compile_module(module)
    with lasting("running"), _stage(seconds, "run"), _traced(options.trace, predicted, price):
        results = executable.run(inputs)
    expected, sent = predicted.total(executable.ledger.runs), executable.ledger.sent_bytes
    if expected is not None and sent != expected:  # the design's first principle: anything else is our fault
        raise wrong_program(f"predicted {expected} bytes per device, but the ledger counts {sent}")
    references: References = {}
    if options.expect is not None:
        references[f"'{options.expect}'"] = select(load_archive(options.expect), options.expect, signature.results)
    if options.check:
        references[UNSHARDED] = _run_unsharded(parse(text, name, options.callbacks), inputs)
    comparisons = _compare_results(options, signature, results, references)
    if options.check:
        # The engine folds a split product and its all-reduce into one global product, which alone would prove little.
        unfused = compile_module(module, fused=False).run(list(inputs))
        whole = {f"{UNSHARDED}, with nothing fused": references[UNSHARDED]}
        comparisons += _compare_results(options, signature, unfused, whole)
    nan = all_nan(signature.arguments, inputs), all_nan(signature.results, results)
    return Report(comparisons, list(references), executable.ledger.as_dict(), executable.peak_bytes, seconds, *nan)


@contextmanager
def _traced(path: str | None, predicted: Prediction, price: Price | None) -> Generator[None]:
    """Writes a trace of what runs inside, if one was asked for."""
    if path is None:
        yield
        return
    from shardwright.views.traces.profiling import write_trace
    from shardwright.views.traces.recording import recorded

    with recorded() as recording:
        yield
    write_trace(recording, path, predicted.total(), price)


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


def _partition(module: ModuleOp, seconds: dict[str, float], *, priced: bool) -> tuple[Prediction, Price | None]:
    """Partition a module in place; the bytes that each device will send, and if asked for the price of a run."""
    from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
    from shardwright.compiler.report import collective_rows, prediction
    from shardwright.dialects.dtensor import meshes
    from shardwright.layout import Mesh

    with _stage(seconds, "partition"):
        run_pipeline(module, ["plan"])
    predicted, rows = prediction(module), collective_rows(module) if priced else []
    mesh = next(iter(meshes(module).values()), Mesh({}))
    with _stage(seconds, "partition"):
        run_pipeline(module, LOCALIZE)
    if not priced:
        return predicted, None
    from shardwright.runtime.executable import held_by_each
    from shardwright.views.pricing import priced as price_of

    return predicted, price_of(rows, module, mesh, held=held_by_each(module))


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


def _run_unsharded(program: ModuleOp, inputs: Sequence[Array]) -> list[Array]:
    """The results of the same program on one device, without layouts; of its collectives, only those that it writes."""
    from shardwright.compiler.layouts.unsharded import unsharded_module
    from shardwright.dialects.dtensor import meshes
    from shardwright.runtime.executable import compile_module

    module = unsharded_module(program)
    return compile_module(module, fused=not meshes(module)).run(list(inputs))
