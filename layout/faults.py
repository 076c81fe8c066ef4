"""The coded errors of meshes and layouts: what is wrong, and what to write instead."""

from __future__ import annotations

from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.diagnostics.caller import caller


def fault(code: str, message: str, help: str) -> ShardwrightValueError:
    """The `ValueError` with this diagnostic, at the user's line; raise it."""
    return ShardwrightValueError(Diagnostic(code, message, caller(), help=help))
