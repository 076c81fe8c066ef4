"""Reading the program that a command is given."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightInternalError, SourceLocation
from shardwright.tools.programs.files import display_name, read_text
from shardwright.tools.terminal.guard import CommandState

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from shardwright.layout import Topology


def parse(text: str, name: str, callbacks: str | None = None) -> ModuleOp:
    """The verified program in `text`, without tokens, and without callbacks if they are to be dropped."""
    from shardwright.compiler.pipelines import WITHOUT_CALLBACKS, run_pipeline
    from shardwright.dialects.text.parsing import parse_module
    from shardwright.dialects.text.verify import verify_module

    module = parse_module(text, name)
    verify_module(module)
    run_pipeline(module, WITHOUT_CALLBACKS if callbacks else WITHOUT_CALLBACKS[:1])
    return module


def parsed(text: str, name: str, options: Namespace) -> ModuleOp:
    """
    The same as a command line says, with layouts chosen if that asks for them (`add_automatic`).

    Raises `ShardwrightError` (SW0701) for what only such a choice needs, where nothing is to be chosen.
    """
    _check_automatic(options)
    module = parse(text, name, getattr(options, "callbacks", None))
    if options.auto is None:
        return module
    from shardwright.compiler.layouts.automatic import chosen
    from shardwright.compiler.pipelines import READ, run_pipeline
    from shardwright.layout import Mesh
    from shardwright.runtime.executable import held_by_each

    run_pipeline(module, READ)
    topology = read_topology(options.topology)
    goal, limit = options.objective or "bytes", options.memory_limit
    return chosen(
        module,
        Mesh(options.auto),
        limit,
        goal,
        topology,
        recompute=options.recompute,
        microbatches=options.microbatches,
        holds=held_by_each,
    )


def _check_automatic(options: Namespace) -> None:
    """Raises `ShardwrightError` (SW0701) for options that do nothing without others."""
    if options.topology is not None and options.objective != "seconds" and not getattr(options, "priced", False):
        help_text = "add --objective seconds, or see shardwright price"
        raise ShardwrightError(Diagnostic("SW0701", "--topology is for layouts to choose by seconds", help=help_text))
    allowed = [f"--{name}" for name in ("recompute", "microbatches") if getattr(options, name)]
    if options.auto is not None:
        if allowed and options.memory_limit is None:
            message = f"{allowed[0]} is for what does not fit into a --memory-limit"
            raise ShardwrightError(Diagnostic("SW0701", message, help="add --memory-limit 16GB, or leave it out"))
        return
    if options.memory_limit is not None:
        help_text = "add --auto data=4,model=2, or leave the limit out; shardwright check has --max-peak"
        raise ShardwrightError(Diagnostic("SW0701", "--memory-limit is for layouts to choose", help=help_text))
    if allowed:
        help_text = "add --auto data=4,model=2 and --memory-limit 16GB, or leave it out"
        raise ShardwrightError(Diagnostic("SW0701", f"{allowed[0]} is for layouts to choose", help=help_text))
    if options.objective is not None:
        help_text = "add --auto data=4,model=2, or leave the objective out"
        raise ShardwrightError(Diagnostic("SW0701", "--objective is for layouts to choose", help=help_text))


def read_topology(path: str | None) -> Topology | None:
    """The links and devices that a file of JSON describes, also among what `shardwright price --json` prints."""
    from shardwright.layout import Topology

    if path is None:
        return None
    text = read_text(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    try:
        return Topology.from_dict(data["topology"] if isinstance(data, dict) and "topology" in data else data)
    except ShardwrightError as error:
        raise ShardwrightError(replace(error.diagnostics[0], location=SourceLocation(path, 1, 1))) from error


def placed(error: ShardwrightError, name: str) -> ShardwrightError:
    """The same error; what names no place is about the whole program, and gets its first line. Our faults get none."""
    if isinstance(error, ShardwrightInternalError):
        return error
    whole = SourceLocation(name, 1, 1)
    return ShardwrightError(replace(item, location=item.location or whole) for item in error.diagnostics)


@contextmanager
def program_text(path: str, state: CommandState) -> Generator[tuple[str, str]]:
    """The name and the text of the program at a path; mistakes found inside are about it."""
    name = display_name(path)
    text = state.sources[name] = read_text(path)
    try:
        yield name, text
    except ShardwrightError as error:
        raise placed(error, name) from error
