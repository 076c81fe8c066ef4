"""Coded errors: the data (`Diagnostic`), the exceptions that carry it, and the registry of codes."""

from shardwright.diagnostics.diagnostic import (
    Diagnostic,
    Label,
    ShardwrightAttributeError,
    ShardwrightBufferError,
    ShardwrightError,
    ShardwrightIndexError,
    ShardwrightInternalError,
    ShardwrightProcessError,
    ShardwrightTypeError,
    ShardwrightValueError,
    SourceLocation,
)

__all__ = [
    "Diagnostic",
    "Label",
    "ShardwrightAttributeError",
    "ShardwrightBufferError",
    "ShardwrightError",
    "ShardwrightIndexError",
    "ShardwrightInternalError",
    "ShardwrightProcessError",
    "ShardwrightTypeError",
    "ShardwrightValueError",
    "SourceLocation",
]
