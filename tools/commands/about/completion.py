"""`shardwright completion`: what a shell needs to complete the commands and their options."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence

from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_data

DESCRIPTION = "Print the script with which a shell completes shardwright and shardwright-opt."

EPILOG = """examples:
  eval "$(shardwright completion bash)"                                  in ~/.bashrc
  shardwright completion zsh > "${fpath[1]}/_shardwright"                zsh
  shardwright completion zsh --of opt > "${fpath[1]}/_shardwright-opt"
"""

SHELLS = ("bash", "zsh", "tcsh")
FOLDERS = ("print_ir_tree_dir",)
FILES = frozenset(
    "file load input_file output_file inputs expect output trace verify descriptors hosts program".split()
)
"""The options and arguments, by what argparse stores them as, that take a file."""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright completion`."""
    parser = CodedArgumentParser(prog="shardwright completion", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("shell", choices=SHELLS, help="for which shell")
    parser.add_argument("--of", choices=("shardwright", "opt"), default="shardwright", help="opt: of shardwright-opt")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright completion`; returns the exit code."""
    options = command_line().parse_args(arguments)
    import shtab

    parser = _of_opt() if options.of == "opt" else _of_all()
    write_data(shtab.complete(parser, options.shell))
    return DONE


def _of_all() -> argparse.ArgumentParser:
    """All commands of `shardwright` as one parser."""
    from shardwright.diagnostics.registry import ENTRIES
    from shardwright.tools.main import COMMANDS, command_module

    parser = argparse.ArgumentParser(prog="shardwright")
    parser.add_argument("--version", action="store_true", help="the installed version")
    commands = parser.add_subparsers(dest="command")
    for name, about in COMMANDS.items():
        options = command_module(name).command_line()
        _complete(options, {"code": ENTRIES} if name == "explain-code" else {})
        commands.add_parser(name, help=about, parents=[options], add_help=False)
    return parser


def _of_opt() -> argparse.ArgumentParser:
    from shardwright.compiler.pipelines import PIPELINES
    from shardwright.passes import all_passes
    from shardwright.tools.opt import command_line as options_of_opt

    parser, names = options_of_opt(), sorted(all_passes())
    _complete(parser, {"passes": [*PIPELINES, *names], "print_ir_before": names, "print_ir_after": names})
    return parser


def _complete(parser: argparse.ArgumentParser, words: Mapping[str, Iterable[str]]) -> None:
    """Gives the arguments of a parser what a shell shall propose for them."""
    import shtab

    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]  # argparse has no other list of them
        if action.dest in words:
            action.choices = list(words[action.dest])
        elif action.dest in FILES and action.choices is None:
            action.complete = shtab.FILE  # pyright: ignore[reportAttributeAccessIssue]  # where shtab looks
        elif action.dest in FOLDERS:
            action.complete = shtab.DIRECTORY  # pyright: ignore[reportAttributeAccessIssue]
