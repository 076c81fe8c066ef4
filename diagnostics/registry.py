"""
Every error code: its title, what it means, and what to do about it.

`docs/errors.md` is generated from here (`make pages`). A code is never
reused for another meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from shardwright.diagnostics.diagnostic import Diagnostic, SourceLocation
from shardwright.diagnostics.entries.api import API
from shardwright.diagnostics.entries.commands import COMMANDS
from shardwright.diagnostics.entries.graphs import GRAPHS
from shardwright.diagnostics.entries.layouts import LAYOUTS
from shardwright.diagnostics.entries.messages import MESSAGES
from shardwright.diagnostics.entries.processes import PROCESSES
from shardwright.diagnostics.entries.programs import PROGRAMS
from shardwright.diagnostics.entries.rules import RULES
from shardwright.diagnostics.entries.running import RUNNING
from shardwright.diagnostics.entries.saving import SAVING

__all__ = ["AREAS", "CODE_PATTERN", "ENTRIES", "Entry", "area", "coded", "read_entries"]

CODE_PATTERN = re.compile(r"SW\d{4}")

AREAS = {
    "SW01": "Meshes and layouts",
    "SW02": "Reading programs",
    "SW03": "Verifying programs",
    "SW04": "Sharding rules and partitioning",
    "SW05": "The Python API",
    "SW06": "Running",
    "SW07": "Commands and files",
    "SW08": "Storage",
    "SW09": "Many processes",
}


@dataclass(frozen=True)
class Entry:
    """One code: a short title, a paragraph that explains it, and the way out."""

    title: str
    explanation: str
    help: str


def read_entries(text: str) -> dict[str, Entry]:
    """
    The entries in a text: a line with the code and its title, and indented below it the explanation and the help.

    >>> read_entries('''
    ... SW0605: nothing to run
    ...     The module has no function main.
    ...     help: name the entry function main
    ... ''')
    {'SW0605': Entry(title='nothing to run', explanation='The module has no function main.', \
help='name the entry function main')}
    """
    found: dict[str, Entry] = {}
    for block in text.rstrip().split("\nSW")[1:]:
        heading, *lines = block.split("\n")
        code, title = f"SW{heading}".split(": ", 1)
        if code in found:
            raise ValueError(f"{code} stands twice in the registry")
        explanation, help = " ".join(line.strip() for line in lines if line).split(" help: ")
        found[code] = Entry(title, explanation, help)
    return found


_TEXTS = LAYOUTS, PROGRAMS, RULES, API, RUNNING, COMMANDS, MESSAGES, SAVING, GRAPHS, PROCESSES
ENTRIES = read_entries("".join(_TEXTS))


def area(code: str) -> str:
    """
    The area that a code belongs to.

    >>> area("SW0701")
    'Commands and files'
    """
    return AREAS[code[:4]]


def coded(
    code: str, message: str, *notes: str, location: SourceLocation | None = None, help: str | None = None
) -> Diagnostic:
    """
    A diagnostic with the help that its code has here, unless another one is given.

    >>> print(coded("SW0605", "the module has no function main"))
    error[SW0605]: the module has no function main
      help: name the entry function main
    """
    return Diagnostic(code, message, location, notes, help or ENTRIES[code].help)
