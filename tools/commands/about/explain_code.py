"""`shardwright explain-code`: what the code of an error means, from the registry of the installed version."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.registry import ENTRIES, area
from shardwright.diagnostics.suggestions import propose
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_report

DESCRIPTION = "Say what the code of an error means, why it is one, and what to do about it."

EPILOG = """examples:
  shardwright explain-code SW0104
  shardwright explain-code --all --json
"""

WIDTH = 100


def command_line() -> CodedArgumentParser:
    """The options of `shardwright explain-code`."""
    parser = CodedArgumentParser(prog="shardwright explain-code", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("code", nargs="?", help="the code, as in error[SW0104]")
    parser.add_argument("--all", action="store_true", help="every code")
    parser.add_argument("--json", action="store_true", help="as JSON on standard output")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright explain-code`; returns the exit code."""
    parser = command_line()
    options = parser.parse_args(arguments)
    if bool(options.code) == options.all:
        parser.error("give a code, or --all")
    codes = list(ENTRIES) if options.all else [_known(options.code)]
    data = [{"code": code, "area": area(code), **vars(ENTRIES[code])} for code in sorted(codes)]
    write_report(data if options.all else data[0], None if options.json else "\n\n".join(map(_text, sorted(codes))))
    return DONE


def _known(text: str) -> str:
    """A code, however it was written."""
    code = text.strip().upper().removeprefix("ERROR").strip("[]:")
    code = f"SW{code}" if code.isdecimal() else code
    if code not in ENTRIES:
        help_text = propose(code, ENTRIES, "shardwright explain-code --all lists them")
        raise ShardwrightError(Diagnostic("SW0730", f"there is no code '{text}'", help=help_text))
    return code


def _text(code: str) -> str:
    entry = ENTRIES[code]
    return "\n\n".join(
        [f"{code}: {entry.title} ({area(code)})", fill(entry.explanation, WIDTH), fill(f"help: {entry.help}", WIDTH)]
    )
