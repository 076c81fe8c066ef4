"""`shardwright launch`: one program on many processes."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_report, write_talk

if TYPE_CHECKING:
    from shardwright.engines.mpi.launching import Start, Wanted

DESCRIPTION = """Run a Python program on several processes that hold the devices of its meshes together. When one fails,
all end, and it is said which one, where, and why."""

EPILOG = """examples:
  shardwright launch -n 4 train.py --epochs 3
  shardwright launch -n 2 -m package.train
  shardwright launch -n 8 --hosts hosts.txt train.py
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright launch`."""
    parser = CodedArgumentParser(prog="shardwright launch", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("-n", type=_count, required=True, metavar="COUNT", help="how many processes")
    add("--hosts", metavar="FILE", help="machines to run on, a line each, as HOST or HOST:COUNT; else this one alone")
    add("--timeout", type=_seconds, metavar="SECONDS", help="how long a process may wait for others (300)")
    add("--threads", type=_count, metavar="COUNT", help="threads of each process: its share of the cores, at least 1")
    about = "whose standard output is shown: that of the first process, of all, or of all with their numbers"
    add("--output", choices=("first", "all", "labelled"), default="first", help=about)
    add("--trace", metavar="FILE", help="write when each process ran and waited, as events that Perfetto shows")
    add("--dry-run", action="store_true", help="say what would be run, and with which environment")
    add("--json", action="store_true", help="say so as JSON")
    add("-m", dest="module", action="store_true", help="the program is a module")
    add("program", metavar="PROGRAM", help="a Python file, or with -m a module")
    add("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENTS", help="what the program is given")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright launch`; returns the exit code of the first process that failed, else 0."""
    parser = command_line()
    options = parser.parse_args(arguments)
    from shardwright.engines.jobs.timeline import joined
    from shardwright.engines.mpi.job import Job
    from shardwright.engines.mpi.launching import start_of

    if options.json and not options.dry_run:
        parser.error("--json is for --dry-run: else the program says what it says")
    start = start_of(_wanted(options), os.environ)
    if options.dry_run:
        write_report(_as_data(start), None if options.json else _as_text(start))
        return DONE
    with nullcontext() if options.trace is None else joined(Path(options.trace), start.count):
        outcome = Job(start).run()
    for text in outcome.texts:
        write_talk(text)
    return outcome.code


def _wanted(options: Any) -> Wanted:
    from shardwright.engines.mpi.launching import Wanted

    for file in (options.hosts, None if options.module else options.program):
        if file is not None and not os.path.exists(file):
            raise ShardwrightError(Diagnostic("SW0702", f"cannot read '{file}': there is no such file"))
    program = (*(("-m",) if options.module else ()), options.program, *options.arguments)
    return Wanted(program, options.n, options.hosts, options.timeout, options.threads, options.output, options.trace)


def _as_data(start: Start) -> dict[str, Any]:
    return {
        "command": list(start.command),
        "processes": start.count,
        "started_by": "shardwright" if start.by_us else "mpiexec",
        "environment": dict(sorted(start.environment.items())),
    }


def _as_text(start: Start) -> str:
    settings = [f"{name}={shlex.quote(value)}" for name, value in sorted(start.environment.items())]
    times = f"  # {start.count} times\n" if start.by_us and start.count > 1 else "\n"
    return " \\\n  ".join([*settings, shlex.join(start.command)]) + times


def _count(text: str) -> int:
    """
    A number of processes or threads.

    >>> _count("4")
    4
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    """
    A time to wait.

    >>> _seconds("2.5")
    2.5
    """
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return found
