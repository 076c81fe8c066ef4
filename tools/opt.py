"""`shardwright-opt`: read a program, run passes over it, print it."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.xdsl_opt_main import xDSLOptMain

from shardwright.diagnostics import ShardwrightError
from shardwright.tools.programs.expected import check_expectations
from shardwright.tools.programs.files import STANDARD_INPUT, display_name, read_text, write_atomically
from shardwright.tools.programs.pipeline_spec import (
    Catalogue,
    load_catalogue,
    option_texts,
    parse_passes,
    pipeline_text,
    summary,
)
from shardwright.tools.programs.program import placed
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, USER_ERROR, CommandState, guarded, report_diagnostics
from shardwright.tools.terminal.output import write_data, write_talk

SEPARATOR = "// -----"
DESCRIPTION = "Read a program in MLIR text, run passes over it, and print the result."
EPILOG = """examples:
  shardwright-opt model.mlir                          parse, verify and print
  shardwright-opt model.mlir -p partition             the whole partitioner
  shardwright-opt model.mlir -p import-sdy,inline,cse --print-between-passes
  shardwright-opt --list-passes                       every pass and pipeline, one line each

exit codes: 0 done, 1 a mistake in the input, 2 an internal error (a reproducer file is named)
"""


@dataclass(frozen=True)
class Chunk:
    """A piece of the input, with as many empty lines in front as it needs to keep its line numbers."""

    text: str


class OptMain(xDSLOptMain):
    """xDSL's driver with our dialects, parser, verifiers and coded errors."""

    def __init__(self, arguments: Sequence[str], state: CommandState) -> None:
        # The base's __init__ parses with plain argparse, which leaves with code 2 and a usage dump.
        self.state = state
        self.exit_code = DONE
        self.available_frontends = {}
        self.available_passes = {}
        self.available_targets = {}
        self.catalogue = Catalogue({}, {})
        self.register_all_dialects()
        self.register_all_passes()
        parser = CodedArgumentParser(prog="shardwright-opt", description=DESCRIPTION, epilog=EPILOG)
        self.register_all_arguments(parser)
        self.args = parser.parse_args(arguments)
        self.pass_seconds: list[tuple[str, float]] = []
        self.between: list[str] = []
        self.setup_pipeline()

    def register_all_dialects(self) -> None:
        """Load the project's dialects and no others."""
        from shardwright.dialects import make_context

        self.ctx = make_context()

    def register_all_passes(self) -> None:
        """Register the project's passes and pipelines and no others."""
        self.catalogue = load_catalogue()
        for name, factory in self.catalogue.passes.items():
            self.register_pass(name, factory)

    def register_all_targets(self) -> None:
        """No targets besides `--emit`: our printers are not xDSL's."""

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        """The command line."""
        flag: dict[str, Any] = {"action": "store_true"}
        add = arg_parser.add_argument
        add("input_file", nargs="?", default=STANDARD_INPUT, help="the program; standard input without it or with '-'")
        add("-p", "--passes", default="", metavar="PIPELINE", help="passes and pipelines: 'a,b{x=1 y=true}'")
        add("-o", "--output-file", metavar="FILE", help="write there (in one step) instead of standard output")
        add("--emit", choices=["mlir", "python"], default="mlir", help="python: the function a local program runs as")
        add("--list-passes", **flag, help="print each pass and pipeline with a line about it")
        add("--json", **flag, help="with --list-passes: as JSON")
        add("--print-between-passes", **flag, help="print the program after each pass but the last")
        add("--time-passes", **flag, help="print each pass's seconds on standard error")
        add("--split-input-file", **flag, help=f"treat the parts between '{SEPARATOR}' lines as separate programs")
        add("--verify-diagnostics", **flag, help="check the errors against '// expected-error @+1 {{...}}' comments")
        add("--disable-verify", **flag, help="do not verify after each pass")
        add("--print-op-generic", **flag, help="print the generic form")
        add("--print-debuginfo", **flag, help="print locations")

    def setup_pipeline(self) -> None:
        """Build the passes, with our verifier and printing between them."""
        self.pipeline = PassPipeline(parse_passes(self.args.passes, self.catalogue), self._between)
        self._started = time.perf_counter()

    def run(self) -> None:
        """Process each chunk; `exit_code` says how that went."""
        if self.args.list_passes:
            write_data(list_passes(self.catalogue, self.args.json))
            return
        name = display_name(self.args.input_file)
        text = read_text(self.args.input_file)
        self.state.sources[name] = text
        outputs: list[str] = []
        failed = False
        for chunk in split_chunks(text) if self.args.split_input_file else [Chunk(text)]:
            diagnostics: ShardwrightError | None = None
            try:
                outputs.append(self.process(chunk))
            except ShardwrightError as error:
                diagnostics = error
            failed |= self._settle(name, chunk, diagnostics)
        self._write(f"{SEPARATOR}\n".join(outputs))
        self._report_times()
        self.exit_code = USER_ERROR if failed else DONE

    def process(self, chunk: Chunk) -> str:
        """Parse one chunk, run the passes and give the printed result."""
        self.between = []
        module = self.parse_chunk(BytesIO(chunk.text.encode()), "mlir")
        self.apply_passes(module)
        return "".join(self.between) + self.output_resulting_program(module)

    def parse_chunk(self, chunk: IO[bytes], file_extension: str, start_offset: int = 0) -> ModuleOp:
        """Parse with the project's parser, which locates every op."""
        from shardwright.dialects.text.parsing import parse_module

        text = "\n" * start_offset + chunk.read().decode()
        return parse_module(text, display_name(self.args.input_file))

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """The program as MLIR, or as the Python function it runs as."""
        if self.args.emit == "python":
            from shardwright.runtime.executable import compile_module

            return compile_module(prog).source.rstrip("\n") + "\n"
        return self._print(prog)

    def _print(self, module: ModuleOp) -> str:
        from shardwright.dialects.text.printing import print_module

        text = print_module(module, generic=self.args.print_op_generic, debuginfo=self.args.print_debuginfo)
        return text.rstrip("\n") + "\n"

    def _between(self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
        if previous is not None:
            self.pass_seconds.append((previous.name, time.perf_counter() - self._started))
        if not self.args.disable_verify:
            verify(module)
        if previous is not None and following is not None and self.args.print_between_passes:
            self.between.append(f"// after {previous.name}:\n{self._print(module)}")
        self._started = time.perf_counter()

    def _settle(self, name: str, chunk: Chunk, error: ShardwrightError | None) -> bool:
        """Report what one chunk caused; whether that is a failure."""
        if self.args.verify_diagnostics:
            try:
                check_expectations(name, chunk.text, error.diagnostics if error else ())
            except ShardwrightError as mismatch:
                error = mismatch
            else:
                return False
        if error is not None:
            report_diagnostics(placed(error, name), self.state.sources)
        return error is not None

    def _write(self, text: str) -> None:
        if self.args.output_file:
            write_atomically(self.args.output_file, text)
        else:
            write_data(text)

    def _report_times(self) -> None:
        if self.args.time_passes:
            for name, seconds in self.pass_seconds:
                write_talk(f"{name:<24} {seconds * 1000:10.2f} ms")


def verify(module: ModuleOp) -> None:
    """Verify the ops, and the stage that the module records."""
    from shardwright.dialects.text.verify import verify_module
    from shardwright.passes.stages import verify_recorded_stage

    verify_module(module)
    verify_recorded_stage(module)


def split_chunks(text: str) -> list[Chunk]:
    """
    The parts of `text` between `// -----` lines, each keeping its line numbers.

    >>> [chunk.text for chunk in split_chunks("a\\n// -----\\nb")]
    ['a\\n', '\\n\\nb']
    """
    chunks: list[Chunk] = []
    lines: list[str] = []
    start = 0
    all_lines = text.split("\n")
    for number, line in enumerate([*all_lines, SEPARATOR]):
        if line.strip() != SEPARATOR:
            lines.append(line)
            continue
        body = "\n".join(lines) + ("\n" if number < len(all_lines) else "")
        chunks.append(Chunk("\n" * start + body))
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


def main(argv: Sequence[str] | None = None) -> int:
    """The command `shardwright-opt`; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return guarded(CommandState(shlex.join(["shardwright-opt", *arguments])), lambda state: _run(arguments, state))


def _run(arguments: Sequence[str], state: CommandState) -> int:
    driver = OptMain(arguments, state)
    driver.run()
    return driver.exit_code


if __name__ == "__main__":
    sys.exit(main())
