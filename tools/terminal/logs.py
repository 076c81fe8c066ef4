"""What commands tell of their work on standard error: Python's logging, for `-v` and the variable `SHARDWRIGHT_LOG`."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from typing import Any

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.suggestions import propose

VARIABLE = "SHARDWRIGHT_LOG"
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
LOGGER = logging.getLogger("shardwright")
"""The logger above all of ours: `shardwright.passes`, ..."""


class _Talk(logging.StreamHandler[Any]):
    """Standard error as it is when something is said."""

    def emit(self, record: logging.LogRecord) -> None:
        import sys

        self.stream = sys.stderr
        super().emit(record)


def show_logs(level: int) -> None:
    """Says on standard error what is logged at this level and above."""
    if not any(isinstance(handler, _Talk) for handler in LOGGER.handlers):
        handler = _Talk()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        LOGGER.addHandler(handler)
    LOGGER.setLevel(min(level, LOGGER.level or level))


def logs_by_variable(value: str | None) -> None:
    """
    Does so where `SHARDWRIGHT_LOG` asks for it: SW0731 for a level that there is not.

    >>> logs_by_variable(None)
    """
    if not value:
        return
    if value.lower() not in LEVELS:
        help_text = propose(value.lower(), LEVELS, f"the levels are {', '.join(LEVELS)}")
        raise ShardwrightError(Diagnostic("SW0731", f"{VARIABLE}={value} is no level", help=help_text))
    show_logs(LEVELS[value.lower()])


class Verbose(argparse.Action):
    """`-v`: what is done; twice, in detail."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        *_: Any,
    ) -> None:
        times = getattr(namespace, self.dest, 0) + 1
        setattr(namespace, self.dest, times)
        show_logs(logging.INFO if times == 1 else logging.DEBUG)
