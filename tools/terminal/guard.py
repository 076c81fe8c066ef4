"""What every command does with exceptions: coded text for a user's mistake, a reproducer for ours."""

from __future__ import annotations

import hashlib
import os
import tempfile
import traceback
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightInternalError
from shardwright.diagnostics.render import render_all
from shardwright.plugins import failure_of_plugin
from shardwright.saving.faults import missing_package
from shardwright.serialization.files.text import write_atomically
from shardwright.tools.terminal.logs import VARIABLE, logs_by_variable
from shardwright.tools.terminal.output import talks_in_colour, talks_to_a_terminal, write_talk

DONE, USER_ERROR, INTERNAL_ERROR, INTERRUPTED = 0, 1, 2, 130
"""Exit codes; the last is what shells give to what Ctrl-C has ended."""

LONGEST_MESSAGE = 200
"""Characters of an internal error's message that are shown; the reproducer has all of it."""


@dataclass
class CommandState:
    """What a command has read so far: shown under errors, saved when it fails internally."""

    command: str
    sources: dict[str, str] = field(default_factory=dict[str, str])


def guarded(state: CommandState, body: Callable[[CommandState], int]) -> int:
    """
    Run `body` and return the command's exit code.

    A `ShardwrightError` is printed on standard error and gives 1, and so does what a plugin raised. A
    `ShardwrightInternalError` and any other exception are ours: the input is saved with the traceback, standard error
    names the file, and the code is 2. Ctrl-C gives a line and 130.

    >>> def wrong(state: CommandState) -> int:
    ...     raise ShardwrightError(Diagnostic("SW0702", "cannot read 'f'"))
    >>> guarded(CommandState("shardwright run f"), wrong)
    1
    """
    try:
        with _plain_warnings():
            logs_by_variable(os.environ.get(VARIABLE))
            return body(state)
    except BrokenPipeError:
        # The reader of our output (`| head`) left: nothing more can be said.
        return USER_ERROR
    except KeyboardInterrupt:
        write_talk("interrupted")
        return INTERRUPTED
    except Exception as error:
        mistake = _mistake(error)
        if mistake is None and (failure := failure_of_plugin(error)) is not None:
            way_out = f"mend it, or leave it out; {_save_reproducer(state, error)} holds the input and the traceback"
            mistake = ShardwrightError(replace(failure, help=way_out))
        if mistake is None:
            _report_internal(state, error)
            return INTERNAL_ERROR
        report_diagnostics(mistake, state.sources)
        return USER_ERROR


def _mistake(error: Exception) -> ShardwrightError | None:
    """What the user can do something about; None for a fault of ours."""
    if isinstance(error, MemoryError):
        why = str(error).split("\n")[0].rstrip(".") or "an allocation failed"
        help_text = "run a smaller program, or only partition it: shardwright-opt -p partition"
        return ShardwrightError(Diagnostic("SW0717", f"this machine's memory is too small: {why}", help=help_text))
    if isinstance(error, FileNotFoundError) and not _has_working_directory():
        gone = Diagnostic("SW0702", "the working directory is gone", help="change to a folder that is there: cd ~")
        return ShardwrightError(gone)
    if isinstance(error, ShardwrightInternalError):
        return None
    found = missing_package(error) if isinstance(error, ModuleNotFoundError) else error
    return found if isinstance(found, ShardwrightError) else None


def _has_working_directory() -> bool:
    """Without one, Python itself finds no modules that are not loaded yet."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _plain_warnings() -> Generator[None]:
    """Warnings raised inside are one line each on standard error, without the line of our source that Python adds."""

    def show(message: Warning | str, *_: object) -> None:
        write_talk(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def report_diagnostics(error: ShardwrightError, sources: Mapping[str, str]) -> None:
    """Print what went wrong on standard error; on a terminal in colour, and with where to read more."""
    write_talk(render_all(error.diagnostics, sources, colour=talks_in_colour()))
    codes = sorted({diagnostic.code for diagnostic in error.diagnostics})
    if talks_to_a_terminal() and codes:
        write_talk(f"  more: shardwright explain-code {codes[0]}")


def _report_internal(state: CommandState, error: Exception) -> None:
    """Save a reproducer and print the coded text of an internal error."""
    help_text = f"report it with {_save_reproducer(state, error)}, which holds the input and the traceback"
    if isinstance(error, ShardwrightInternalError):
        own = "this is a fault of Shardwright, not of your program"
        write_talk("\n".join(str(replace(found, help=f"{own}: {help_text}")) for found in error.diagnostics))
        return
    first_line = (str(error) or "no message").split("\n")[0][:LONGEST_MESSAGE]
    message = f"internal error: {type(error).__name__}: {first_line}"
    write_talk(str(Diagnostic("SW0799", message, help=help_text)))


def _save_reproducer(state: CommandState, error: Exception) -> Path:
    """Write input, command and traceback to one file that `shardwright-opt` can read; return its path."""
    trace = "".join(traceback.format_exception(error))
    parts = [f"// {line}" for line in (f"command: {state.command}", *trace.rstrip().split("\n"))]
    for name, text in state.sources.items():
        parts += [f"// input: {name}", text]
    # Names of files may have bytes that are no UTF-8, of which Python makes characters that are none.
    content = ("\n".join(parts) + "\n").encode("utf-8", "backslashreplace")
    digest = hashlib.sha256(content).hexdigest()[:12]
    path = Path(tempfile.gettempdir()) / f"shardwright-reproducer-{digest}.mlir"
    write_atomically(str(path), content.decode("utf-8"))
    return path
