"""
Reading MLIR bytecode and StableHLO's portable artifacts, with what jaxlib brings along (the extra `jax`).

Both become text with their locations, and are read like any other text from there on.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightValueError, SourceLocation

MAGIC = b"ML\xefR"
"""How MLIR bytecode starts."""

CHILD = Path(__file__).with_name("bytecode_child.py")
"""The program that reads bytecode, in a process of its own: what is damaged can end it."""

LENGTH_BYTES = 4
"""The size of the length in front of the bytecode inside of `jax.export`'s own files."""


def payload(data: bytes) -> bytes | None:
    """
    The bytecode in the bytes of a file: all of them, or the program inside of what `Exported.serialize()` gave.

    >>> payload(MAGIC + b"rest") == payload(b"header" + (8).to_bytes(4, "little") + MAGIC + b"rest and more")
    True
    >>> payload(b"module {}") is None
    True
    """
    at = data.find(MAGIC)
    if at <= 0:
        return data if at == 0 else None
    size = int.from_bytes(data[max(0, at - LENGTH_BYTES) : at], "little")
    return data[at : at + size] if at >= LENGTH_BYTES and len(MAGIC) < size <= len(data) - at else None


def text_of(bytecode: bytes, name: str) -> str:
    """
    The program in MLIR bytecode or a portable artifact, as text with locations; `name` is what errors call it.

    Raises SW0721 without jaxlib, and SW0722 for bytes that it cannot read.
    """
    place = SourceLocation(name, 1, 1)
    required("jaxlib", name, place)
    command = [sys.executable, "-P", str(CHILD)]
    ran = subprocess.run(command, input=bytecode, capture_output=True, check=False)
    answer = _answer(ran.stdout) if ran.returncode == 0 else None
    if answer is None:
        said = [_end(ran.returncode)]
    elif "missing" in answer:
        raise _missing(name, answer["missing"], place)
    elif "text" in answer:
        return answer["text"]
    else:
        said = answer["said"]
    raise ShardwrightValueError(
        Diagnostic(
            "SW0722",
            "this is MLIR bytecode that jaxlib cannot read",
            place,
            notes=tuple(said),
            help="check that the file is complete, and that jaxlib is as new as what wrote it",
        )
    )


def _answer(output: bytes) -> dict[str, Any] | None:
    """What the process that reads bytecode said, if it came to that."""
    try:
        return json.loads(output)
    except ValueError:
        return None


def _end(code: int) -> str:
    """How a process ended that said nothing."""
    with suppress(ValueError):
        return f"jaxlib was ended by {signal.Signals(-code).name} while it read it"
    return f"jaxlib ended with exit code {code} while it read it"


def required(module: str, name: str, place: SourceLocation | None = None) -> Any:
    """A module of the extra `jax`; SW0721 where that is not installed and `name` needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise _missing(name, error.name or module, place) from error


def _missing(name: str, module: str, place: SourceLocation | None) -> ShardwrightError:
    return ShardwrightError(
        Diagnostic(
            "SW0721",
            f"{name} needs JAX, which is not installed",
            place,
            notes=(f"there is no module {module}",),
            help="pip install 'shardwright[jax]'; a program as StableHLO text needs nothing",
        )
    )
