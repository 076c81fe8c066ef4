"""
Programs that are remembered on disk, so that they are compiled or partitioned once and not at every start.

A record says what runs, so none is believed because it lies there: each is signed with a key that only this user can
read (HMAC-SHA-256), and stands under the hash of all that it depends on. What is missing, damaged, signed by somebody
else or made by other code of ours is compiled anew. All of it may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from shardwright._version import __version__
from shardwright.diagnostics.folders import memory_folder
from shardwright.plugins import extended
from shardwright.runtime.codegen.native import is_there

MAGIC = b"shardwright program 2\n"
KEPT_BYTES = 2 << 30
"""What all records may take on disk; the ones that nobody asked for the longest go first."""

LARGEST = 1 << 30
"""Bytes of one record, at most."""

LEAST_SECONDS = 0.5
"""What took less is not kept."""

_ROOMS = (
    "compiler", "diagnostics", "dialects", "engines", "frontends", "layout", "networks", "passes", "rules", "runtime",
)  # fmt: skip
"""The code that a program depends on."""

Found = TypeVar("Found")


def remembers() -> bool:
    """Whether anything is remembered here."""
    return memory_folder("programs") is not None and not extended()


def key_of(text: str, *facts: object) -> str:
    """The name of the record of a program with this text."""
    return hashlib.sha256("\n".join([_versions(), *map(str, facts), text]).encode()).hexdigest()


def recall(name: str, read: Callable[[bytes], Found]) -> Found | None:
    """What `read` makes of the bytes that were remembered under a name, if these are ours."""
    folder = memory_folder("programs")
    if folder is None:
        return None
    path = folder / name
    try:
        if path.stat().st_size > LARGEST:
            return None
        data = path.read_bytes()
        signature, content = data[len(MAGIC) :][:32], data[len(MAGIC) + 32 :]
        if not data.startswith(MAGIC) or not hmac.compare_digest(signature, _signed(folder, name, content)):
            return None
        os.utime(path)
        return read(content)
    except (OSError, ValueError, TypeError, KeyError, EOFError, zlib.error):
        return None  # no memory, or none that can be read: it is compiled anew


def remember(name: str, content: bytes) -> None:
    """Keeps some bytes under a name, where they can be kept."""
    folder = memory_folder("programs")
    if folder is None or len(content) > LARGEST:
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = folder / f"{name}.{os.getpid()}"
        draft.write_bytes(MAGIC + _signed(folder, name, content) + content)
        draft.replace(folder / name)
        _forget_the_oldest(folder)
    except OSError:
        return  # a full disk or a folder of others keeps nobody from compiling


def _signed(folder: Path, name: str, content: bytes) -> bytes:
    """The signature of a record: with its name, so that none stands for another."""
    return hmac.digest(_secret(folder), name.encode() + content, "sha256")


def _secret(folder: Path) -> bytes:
    """This user's key, made where there is none; raises `PermissionError` for one that others could have written."""
    path = folder / "key"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
    except FileExistsError:
        pass
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        foreign = hasattr(os, "getuid") and found.st_uid != os.getuid()
        if foreign or stat.S_IMODE(found.st_mode) & 0o077:
            raise PermissionError(f"{path} is not this user's alone")
        secret = file.read()
    if len(secret) != 32:
        raise PermissionError(f"{path} is no key")
    return secret


def _forget_the_oldest(folder: Path) -> None:
    records = [(path.stat(), path) for path in folder.iterdir() if path.name != "key"]
    taken = sum(found.st_size for found, _ in records)
    for found, path in sorted(records, key=lambda each: each[0].st_mtime):
        if taken <= KEPT_BYTES:
            break
        path.unlink(missing_ok=True)
        taken -= found.st_size


@cache
def _versions() -> str:
    """What a compiled program depends on beside its text: our code, Python, NumPy, and how they were built."""
    root = Path(__file__).parents[2]
    files = sorted(path for room in _ROOMS for path in (root / room).rglob("*.py"))
    ours = [f"{path.relative_to(root)} {(found := path.stat()).st_size} {found.st_mtime_ns}" for path in files]
    return "\n".join([__version__, sys.version, np.__version__, sys.byteorder, f"loops: {is_there()}", *ours])
