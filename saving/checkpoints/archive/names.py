"""The names of arrays as paths in a zarr group."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

MAX_PATH_BYTES = 1 << 10
"""A path that would be longer is a hash."""

_ODD = re.compile(r"[%\\\0-\x1f\x7f\ud800-\udfff]")
"""A backslash parts names in zarr-python as a slash does."""

_DOCUMENT = "zarr.json"
"""In a group this is what is said of it, and no array."""


def path_of(name: str) -> str:
    """
    The path of an array: its name, unless zarr has no such path; then what is odd in it is written as `%` and digits.

    No two names have one path. None is empty, absolute, or leads upwards.

    >>> [path_of(name) for name in ("layers/0/w", "", "../a", "__x/50%", "/a", "zarr.json")]
    ['layers/0/w', '%', '%2E%2E/a', '%5F_x/50%25', '%/a', 'zarr%2Ejson']
    """
    path = name
    if _ODD.search(name) is not None:
        path = _ODD.sub(_coded, name)
    if not path or "." in path or "__" in path or "//" in path or path[0] == "/" or path[-1] == "/":
        path = "/".join(map(_part, path.split("/")))
    if len(path) > MAX_PATH_BYTES // 4 and len(path.encode()) > MAX_PATH_BYTES:
        return "%%" + hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return path


def groups_of(paths: Collection[str]) -> list[str]:
    """
    The groups in which arrays lie, the outermost first; those that are arrays themselves are left out.

    >>> groups_of(["a/b/c", "a/d"])
    ['', 'a', 'a/b']
    """
    arrays, found = set(paths), {""}
    for path in paths:
        group = path.rpartition("/")[0]
        while group not in found:
            found.add(group)
            group = group.rpartition("/")[0]
    return sorted(group for group in found if group not in arrays)


def _part(part: str) -> str:
    if not part:
        return "%"
    if part.startswith("__"):
        return f"%5F{part[1:]}"
    return part.replace(".", "%2E") if not part.strip(".") or part == _DOCUMENT else part


def _coded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode(errors="surrogatepass"))
