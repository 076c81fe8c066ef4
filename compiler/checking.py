"""
The checks that a program must stand before it leaves the compiler: the ops' own rules, and those of its stage.

What fails here is our fault, whatever the program was: it is said so, and the user's line is where the fault shows, not
whose it is.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import ModuleOp

from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightInternalError
from shardwright.dialects.text.verify import verify_module
from shardwright.passes.stages import verify_recorded_stage


def verify_ours(module: ModuleOp, maker: str) -> None:
    """
    Verifies what `maker`, a pass or an exporter, made: each op, each edge, the stage that the module records.

    Raises `ShardwrightInternalError` (SW0317).

    >>> verify_ours(ModuleOp([]), "localize")
    """
    with answered_for(maker):
        verify_recorded_stage(module, verify_module(module))


@contextmanager
def answered_for(maker: str) -> Generator[None]:
    """Turns the faults that verifiers find inside into one fault of ours."""
    try:
        yield
    except ShardwrightError as error:
        raise wrong_program(f"what {maker} made is wrong", error.diagnostics) from error


def wrong_program(message: str, found: tuple[Diagnostic, ...] = ()) -> ShardwrightInternalError:
    """The fault of ours (SW0317) with the first of what verifiers `found` as its notes."""
    notes: tuple[str, ...] = ()
    if found:
        place = f" (it became of {found[0].location})" if found[0].location is not None else ""
        notes = (f"{found[0].code}: {found[0].message}{place}",)
    help_text = "this is a fault of Shardwright, not of your program: report it with the program"
    return ShardwrightInternalError(Diagnostic("SW0317", message, None, notes, help_text))
