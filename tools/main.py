"""The `shardwright` command: run programs and explain how they were partitioned."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.suggestions import propose
from shardwright.tools.terminal.guard import DONE, CommandState, guarded
from shardwright.tools.terminal.output import write_data
from shardwright.views.progress import progress

COMMANDS = {
    "run": "partition a program, run it on simulated devices, and compare its results",
    "explain": "show each collective of the partitioned program: its bytes, who asked for it, and why",
    "report": "write a page of HTML about the program: source, collectives, layouts, memory, passes",
    "price": "say what a run would cost in seconds: computing, sending along each axis, memory",
    "calibrate": "fit the seconds that price foretells to programs that run on this machine",
    "solve": "find the cheapest choices of a cost network, in the format of the IOPDDL contest, with a bound",
    "check": "see whether a program keeps a budget of bytes and memory, and moves nothing that nobody wrote",
    "certify": "prove that the partitioned program computes what was written, or read such a proof again",
    "export": "print the program for others: StableHLO with collectives, Shardy's annotations, TensorFlow's graph",
    "inspect": "show what is in a stored message: its chunks, and the sizes of its fields",
    "split": "write a message or program of any size, in chunks if it is large",
    "merge": "write a message that is in chunks in one piece",
    "convert": "write a checkpoint's arrays as safetensors, or safetensors as a checkpoint",
    "verify": "check every byte of a stored message, directory or checkpoint",
    "explain-code": "say what the code of an error means, and what to do",
    "doctor": "see whether this installation and this machine are fit for use",
    "completion": "print what bash, zsh or tcsh need to complete these commands",
    "launch": "run a Python program on several processes, which end together when one of them fails",
}
"""Each subcommand and the line about it."""

FOLDERS = {
    "stored": ("inspect", "split", "merge", "convert", "verify"),
    "about": ("explain-code", "doctor", "completion", "calibrate"),
}
"""Those whose modules have a folder of their own: about stored messages, and about Shardwright and this machine."""

HELP = """usage: shardwright COMMAND [OPTIONS]

Partition a StableHLO program over a mesh of devices, run it, and see why each byte moves; store programs, variables and
messages of any size.

commands:
{commands}

  shardwright COMMAND --help    what the command takes
  shardwright --version         the installed version
  shardwright-opt --help        the compiler's passes, one by one

examples:
  shardwright run model.mlir --check
  shardwright explain model.mlir
  shardwright check model.mlir --max-bytes 2GB
  shardwright certify model.mlir
  shardwright export model.mlir --to sdy
  shardwright launch -n 4 train.py

exit codes: 0 done, 1 a mistake in the input or a result that differs, 2 an internal error, 130 interrupted by Ctrl-C;
launch: those of its program
"""


def command_module(name: str) -> ModuleType:
    """
    The module of a subcommand: its `command_line` has the options, its `command` does the work.

    >>> command_module("explain-code").command_line().prog
    'shardwright explain-code'
    """
    folder = next((f"{folder}." for folder, names in FOLDERS.items() if name in names), "")
    return import_module(f"shardwright.tools.commands.{folder}{name.replace('-', '_')}")


def _installed_version() -> str:
    try:
        return version("shardwright")
    except PackageNotFoundError:
        return "not installed (running from a source tree)"


def _dispatch(arguments: Sequence[str], state: CommandState) -> int:
    """Run the subcommand that `arguments` names."""
    name = arguments[0] if arguments else "--help"
    if name in ("--help", "-h", "help"):
        write_data(HELP.format(commands="\n".join(f"  {name:<12} {line}" for name, line in COMMANDS.items())))
        return DONE
    if name == "--version":
        write_data(f"shardwright {_installed_version()}")
        return DONE
    if name not in COMMANDS:
        known = propose(name, COMMANDS, f"the commands are {', '.join(COMMANDS)}")
        raise ShardwrightError(Diagnostic("SW0715", f"shardwright has no command '{name}'", help=known))
    command: Callable[[Sequence[str], CommandState], int] = command_module(name).command
    with nullcontext() if name == "launch" else progress():  # what it launches writes what it likes
        return command(arguments[1:], state)


def main(argv: Sequence[str] | None = None) -> int:
    """The command `shardwright`; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    state = CommandState(shlex.join(["shardwright", *arguments]))
    return guarded(state, lambda state: _dispatch(arguments, state))


if __name__ == "__main__":
    sys.exit(main())
