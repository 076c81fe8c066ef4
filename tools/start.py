"""Where the commands begin: what they load may be interrupted, too."""

from __future__ import annotations

import sys
from importlib import import_module

INTERRUPTED = 130
"""The exit code that shells give to what Ctrl-C has ended, as `tools/terminal/guard.py` has it."""


def main() -> int:
    """The command `shardwright`; returns the exit code."""
    return _started("shardwright.tools.main")


def opt() -> int:
    """The command `shardwright-opt`; returns the exit code."""
    return _started("shardwright.tools.opt")


def _started(module: str) -> int:
    try:
        return import_module(module).main()
    except KeyboardInterrupt:
        if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
            print("interrupted", file=sys.stderr)
        return INTERRUPTED
