"""
What `shardwright launch` starts on each process: a program, so that a fault on one process ends all within seconds.

`python -m shardwright.engines.mpi.runner train.py ARGUMENTS`, or `-m MODULE ARGUMENTS`, after `mpiexec` or `srun`.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from dataclasses import replace
from types import TracebackType

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.caller import is_users, line_of
from shardwright.diagnostics.render import render, render_all
from shardwright.engines.mpi.board import own_board
from shardwright.engines.mpi.ending import end
from shardwright.layout.forms.clients import Clients

OUTPUT_VARIABLE = "SHARDWRIGHT_OUTPUT"
"""The environment variable that says, with `first`, that only the first process prints on standard output."""

INTERRUPTED = 130
"""What a process exits with that was interrupted, as shells say it."""


def run(program: list[str]) -> int:
    """Runs a program as Python itself would; returns what to exit with."""
    clients = Clients.found()
    own_board()
    if clients.place and os.environ.pop(OUTPUT_VARIABLE, "") == "first":
        _silence()
    try:
        _execute(program)
    except SystemExit as error:
        return _left(error, clients)
    except KeyboardInterrupt as error:
        return _failed(error, _said(error, "SW0912", "the program was interrupted"), clients, INTERRUPTED)
    except ShardwrightError as error:
        located = [replace(found, location=found.location or line_of(error)) for found in error.diagnostics]
        return _failed(error, render_all(located), clients, 1)
    except BaseException as error:
        # A message may be as long as an array's text: the traceback has all of it.
        first = f"{type(error).__name__}: {error}".split("\n")[0][:200]
        return _failed(error, _traced(error) + _said(error, "SW0910", f"the program raised {first}"), clients, 1)
    return 0


def _execute(program: list[str]) -> None:
    if not sys.flags.safe_path:
        del sys.path[0]  # that of this module
    if program[0] == "-m":
        sys.argv = program[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = program
    if not os.environ.get("PYTHONSAFEPATH"):
        sys.path.insert(0, os.path.dirname(os.path.realpath(program[0])))
    runpy.run_path(program[0], run_name="__main__")


def _left(error: SystemExit, clients: Clients) -> int:
    """The program called `sys.exit`."""
    if error.code is None or isinstance(error.code, int):
        code = (error.code or 0) & 0xFF
        said = f"the program ended with exit code {code}"
    else:
        code, said = 1, f"the program ended: {error.code}"
    return _failed(error, _said(error, "SW0911", said), clients, code) if code else 0


def _failed(error: BaseException, text: str, clients: Clients, code: int) -> int:
    end(clients, text, str(line_of(error) or ""), code)
    return code


def _said(error: BaseException, code: str, message: str) -> str:
    return render(Diagnostic(code, message, line_of(error)))


def _traced(error: BaseException) -> str:
    """The traceback from the user's first line on."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and not is_users(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return "".join(traceback.format_exception(error.with_traceback(trace)))


def _silence() -> None:
    """Only the first process prints."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
