"""What `shardwright-opt` does: read programs, run passes over them, print them."""

from __future__ import annotations

import json
import time
from itertools import chain
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from shardwright.diagnostics import ShardwrightError, ShardwrightInternalError
from shardwright.tools.programs.expected import check_expectations
from shardwright.tools.programs.files import SEPARATOR, display_name, read_text
from shardwright.tools.programs.pipeline_spec import (
    Catalogue,
    load_catalogue,
    option_texts,
    parse_passes,
    pipeline_text,
    summary,
)
from shardwright.tools.programs.printed_passes import PrintedPasses, Wanted, chosen
from shardwright.tools.programs.program import placed
from shardwright.tools.terminal.guard import DONE, USER_ERROR, CommandState, report_diagnostics
from shardwright.tools.terminal.output import write_data, write_output, write_talk


class Driver:
    """Reads programs, runs passes over them and prints them, as a command line says."""

    def __init__(self, options: Any, state: CommandState) -> None:
        from shardwright.dialects import make_context

        self.state = state
        self.context = make_context()
        self.catalogue = load_catalogue()
        self.options = options
        self.pass_seconds: list[tuple[str, float]] = []
        parts = [parse_passes(text, self.catalogue) for text in self.options.passes]
        self.pipeline = PassPipeline(tuple(chain.from_iterable(parts)), self._between)
        self.printed = PrintedPasses(_wanted(self.options, [each.name for each in self.pipeline.passes]))
        self._started = time.perf_counter()

    def run(self) -> int:
        """Process each chunk; the exit code says how that went."""
        if self.options.list_passes:
            write_data(list_passes(self.catalogue, self.options.json))
            return DONE
        name = display_name(self.options.input_file)
        text = self.state.sources[name] = read_text(self.options.input_file)
        outputs: list[str] = []
        failed = False
        for chunk in split_chunks(text) if self.options.split_input_file else [text]:
            diagnostics: ShardwrightError | None = None
            try:
                outputs.append(self._process(chunk, name))
            except ShardwrightInternalError:
                raise
            except ShardwrightError as error:
                diagnostics = error
            failed |= self._settle(name, chunk, diagnostics)
        printed = f"{SEPARATOR}\n".join(outputs)
        if not (failed and self.options.output_file):
            write_output(self.options.output_file, printed)
        for pass_name, seconds in self.pass_seconds if self.options.time_passes else ():
            write_talk(f"{pass_name:<24} {seconds * 1000:10.2f} ms")
        return USER_ERROR if failed else DONE

    def _process(self, chunk: str, name: str) -> str:
        """Parse one chunk, run the passes and give the printed result."""
        from shardwright.dialects.text.parsing import parse_module

        module = parse_module(chunk, name)
        self.pipeline.apply(self.context, module)
        if self.options.emit == "mlir":
            return self._print(module)
        from shardwright.runtime.executable import compile_module

        return compile_module(module).source.rstrip("\n") + "\n"

    def _print(self, module: ModuleOp) -> str:
        from shardwright.dialects.text.printing import print_module

        text = print_module(module, generic=self.options.print_op_generic, debuginfo=self.options.print_debuginfo)
        return text.rstrip("\n") + "\n"

    def _between(self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
        if previous is not None:
            self.pass_seconds.append((previous.name, time.perf_counter() - self._started))
        if not self.options.disable_verify:
            _verify(module, previous)
        before, after = (None if each is None else each.name for each in (previous, following))
        self.printed.between(before, after, lambda: self._print(module))
        self._started = time.perf_counter()

    def _settle(self, name: str, chunk: str, error: ShardwrightError | None) -> bool:
        """Report what one chunk caused; whether that is a failure."""
        if self.options.verify_diagnostics:
            try:
                check_expectations(name, chunk, error.diagnostics if error else ())
            except ShardwrightError as mismatch:
                error = mismatch
            else:
                return False
        if error is not None:
            report_diagnostics(placed(error, name), self.state.sources)
        return error is not None


def _wanted(options: Any, passes: list[str]) -> Wanted:
    """What the options `--print-ir-...` ask for, of the passes that run."""
    before = chosen("--print-ir-before", options.print_ir_before, options.print_ir_before_all, passes)
    after = chosen("--print-ir-after", options.print_ir_after, options.print_ir_after_all, passes)
    return Wanted(before, after, options.print_ir_diff, options.print_ir_tree_dir)


def _verify(module: ModuleOp, made_by: ModulePass | None) -> None:
    """Verify the ops, and the stage that the module records: the user's program, or what a pass made of it."""
    from shardwright.compiler.checking import verify_ours
    from shardwright.dialects.text.verify import verify_module
    from shardwright.passes.stages import verify_recorded_stage

    if made_by is not None:
        verify_ours(module, made_by.name)
    else:
        verify_recorded_stage(module, verify_module(module))


def split_chunks(text: str) -> list[str]:
    """
    The parts of `text` between `// -----` lines, each with empty lines in front that keep its line numbers.

    >>> split_chunks("a\\n// -----\\nb")
    ['a\\n', '\\n\\nb']
    """
    chunks: list[str] = []
    lines: list[str] = []
    start = 0
    all_lines = text.split("\n")
    for number, line in enumerate([*all_lines, SEPARATOR]):
        if line.strip() != SEPARATOR:
            lines.append(line)
            continue
        body = "\n".join(lines) + ("\n" if number < len(all_lines) else "")
        chunks.append("\n" * start + body)
        lines, start = [], number + 1
    return chunks


def list_passes(catalogue: Catalogue, as_json: bool) -> str:
    """The passes and pipelines, for people or as JSON."""
    passes = {name: factory() for name, factory in sorted(catalogue.passes.items())}
    pipelines = {name: pipeline_text(steps) for name, steps in sorted(catalogue.pipelines.items())}
    if as_json:
        rows = [{"name": name, "doc": summary(cls), "options": option_texts(cls)} for name, cls in passes.items()]
        named = [{"name": name, "passes": text} for name, text in pipelines.items()]
        return json.dumps({"passes": rows, "pipelines": named}, indent=2)
    lines = ["passes:"]
    for name, cls in passes.items():
        lines.append(f"  {name:<22} {summary(cls)}")
        lines += [f"  {'':<22}   {option}" for option in option_texts(cls)]
    lines += ["pipelines:", *(f"  {name:<22} {text}" for name, text in pipelines.items())]
    return "\n".join(lines)
