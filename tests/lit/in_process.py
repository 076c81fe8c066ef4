"""
The `// RUN:` lines of lit files, executed in this process: 300 files in seconds.

The language is the part of lit's that the project's files use: `%s`, `%S`, `%t` and the names in `SUBSTITUTIONS`,
`not`, pipes, `&&`, `< file`, `> file`, `2>&1`, `2>/dev/null`, and lines continued with a backslash. Plain `lit`
understands the same files (`lit.cfg.py`).
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

SUBSTITUTIONS = {
    "%roundtrip": "shardwright-opt %s --split-input-file --print-op-generic"
    " | shardwright-opt --split-input-file | filecheck %s",
}
"""Names for longer texts; `%roundtrip` is generic print, parse, pretty print, check."""

_RUN = re.compile(r"^\s*(?://|#)\s*RUN:\s*(.*?)\s*$")
_HIDDEN_CHECK = re.compile(r"(?:COM|RUN).*\bCHECK[A-Z-]*(?:-COUNT-\d+)?:")
_TOKEN = re.compile(r"(?P<redirect>2>&1|2>\s*/dev/null|&&|\||>|<)|(?P<space>\s+)")
Command = Callable[[list[str], str], tuple[int, str, str]]
"""Arguments and standard input to exit code, standard output and standard error."""


class RunFailure(Exception):
    """A RUN line failed: the text says which, how, and what was printed."""


@dataclass
class Stage:
    """One command of a pipe."""

    words: list[str] = field(default_factory=list[str])
    merge_errors: bool = False
    drop_errors: bool = False
    input_file: str | None = None
    output_file: str | None = None


def run_lines(text: str) -> list[str]:
    r"""
    The commands of a file, continued lines joined.

    >>> run_lines("// RUN: a | \\\n// RUN: b\n// RUN: c")
    ['a | b', 'c']
    """
    commands: list[str] = []
    open_line = ""
    for line in text.splitlines():
        match = _RUN.match(line)
        if match is None:
            continue
        open_line += match[1]
        if open_line.endswith("\\"):
            open_line = open_line[:-1]
        else:
            commands.append(open_line)
            open_line = ""
    return commands


def run_file(path: Path, scratch: Path) -> None:
    """Execute every RUN line of `path`; raises `RunFailure`."""
    text = path.read_text(encoding="utf-8")
    _refuse_hidden_checks(path, text)
    commands = run_lines(text)
    if not commands:
        raise RunFailure(f"{path} has no RUN line")
    for number, command in enumerate(commands, start=1):
        line = substitute(command, path, scratch / f"{path.stem}.tmp")
        try:
            run_line(line)
        except RunFailure as failure:
            raise RunFailure(f"RUN line {number} failed: {line}\n{failure}") from None


def substitute(command: str, path: Path, temporary: Path) -> str:
    """`command` with lit's names replaced."""
    for name, text in SUBSTITUTIONS.items():
        command = re.sub(rf"{re.escape(name)}\b", lambda _, text=text: text, command)
    for name, value in {"%s": path, "%S": path.parent, "%t": temporary}.items():
        command = re.sub(rf"{name}(?![A-Za-z_])", lambda _, value=value: str(value), command)
    return command


def run_line(line: str) -> None:
    """Execute one line: pipes joined by `&&`."""
    for pipe in _parse(line):
        _run_pipe(pipe)


def _run_pipe(stages: list[Stage]) -> None:
    text = ""
    log: list[str] = []
    for number, stage in enumerate(stages):
        if stage.input_file is not None:
            text = Path(stage.input_file).read_text(encoding="utf-8")
        code, output, errors = _call(stage.words, text)
        if stage.merge_errors:
            output, errors = output + errors, ""
        if errors and not stage.drop_errors:
            log.append(f"--- {shlex.join(stage.words)} (standard error)\n{errors.rstrip()}")
        if code != 0:
            shown = output if number == len(stages) - 1 else text
            log.append(f"--- {shlex.join(stage.words)} gave exit code {code}; text at that point:\n{shown.rstrip()}")
            raise RunFailure("\n".join(log))
        if stage.output_file is not None:
            Path(stage.output_file).write_text(output, encoding="utf-8")
            output = ""
        text = output


def _call(words: list[str], standard_input: str) -> tuple[int, str, str]:
    if words[0] == "not":
        code, output, errors = _call(words[1:], standard_input)
        # Like LLVM's `not`: an internal error (2) is no expected failure.
        return (0 if code == 1 else max(code, 1)), output, errors
    command = COMMANDS.get(words[0])
    if command is None:
        raise RunFailure(f"the in-process shell knows {', '.join(COMMANDS)} and not, but no '{words[0]}'")
    return command(words[1:], standard_input)


def _parse(line: str) -> list[list[Stage]]:
    """The pipes of a line, each a list of stages."""
    pipes = [[Stage()]]
    tokens = iter(_tokens(line))
    for token, operator in tokens:
        stage = pipes[-1][-1]
        if not operator:
            stage.words.append(token)
        elif token == "&&":
            pipes.append([Stage()])
        elif token == "|":
            pipes[-1].append(Stage())
        elif token == "2>&1":
            stage.merge_errors = True
        elif token.startswith("2>"):
            stage.drop_errors = True
        elif token == "<":
            stage.input_file = next(tokens)[0]
        else:
            stage.output_file = next(tokens)[0]
    if any(not stage.words for pipe in pipes for stage in pipe):
        raise RunFailure(f"an empty command in: {line}")
    return pipes


def _tokens(line: str) -> list[tuple[str, bool]]:
    """Words and operators; quotes protect operators."""
    tokens: list[tuple[str, bool]] = []
    word = ""
    position = 0
    while position < len(line):
        quote = line[position] if line[position] in "'\"" else None
        match = _TOKEN.match(line, position)
        if quote:
            end = line.index(quote, position + 1) + 1
            word += line[position:end]
            position = end
        elif match and (not word or not (match["redirect"] or "").startswith("2")):
            tokens += [(shlex.split(word)[0], False)] if word else []
            tokens += [(match["redirect"].replace(" ", ""), True)] if match["redirect"] else []
            word, position = "", match.end()
        else:
            word += line[position]
            position += 1
    return tokens + ([(shlex.split(word)[0], False)] if word else [])


def _refuse_hidden_checks(path: Path, text: str) -> None:
    """filecheck skips a line with COM or RUN in front of a CHECK without a word: such a check never runs."""
    for number, line in enumerate(text.splitlines(), start=1):
        if _HIDDEN_CHECK.search(line) and not re.match(r"\s*//\s*(RUN|COM):", line):
            raise RunFailure(f"{path}:{number}: filecheck ignores this CHECK, because COM or RUN stands before it")


def _python_command(main: Callable[[list[str]], int]) -> Command:
    def command(arguments: list[str], standard_input: str) -> tuple[int, str, str]:
        output, errors = io.StringIO(), io.StringIO()
        saved = sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(standard_input.encode()), encoding="utf-8")
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
                code = _exit_code(main, arguments)
        finally:
            sys.stdin = saved
        return code, output.getvalue(), errors.getvalue()

    return command


def _exit_code(main: Callable[[list[str]], int], arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except Exception:
        traceback.print_exc()
        return 2


def _filecheck(arguments: list[str], standard_input: str) -> tuple[int, str, str]:
    options = parse_argv_options(["filecheck", *arguments])
    text = standard_input if options.input_file == "-" else Path(options.input_file).read_text(encoding="utf-8")
    errors = io.StringIO()
    matcher = Matcher(options, FInput("<stdin>", FInput.canonicalize_line_ends(text)), Parser.from_opts(options))
    matcher.stderr = errors
    with contextlib.redirect_stderr(errors):
        code = matcher.run()
    return code, standard_input if code else "", errors.getvalue()


def _opt(arguments: list[str]) -> int:
    from shardwright.tools.opt import main

    return main(arguments)


def _shardwright(arguments: list[str]) -> int:
    from shardwright.tools.main import main

    return main(arguments)


def _cat(arguments: list[str]) -> int:
    sys.stdout.write("".join(Path(name).read_text(encoding="utf-8") for name in arguments))
    return 0


COMMANDS: dict[str, Command] = {
    "shardwright-opt": _python_command(_opt),
    "shardwright": _python_command(_shardwright),
    "filecheck": _filecheck,
    "cat": _python_command(_cat),
}
