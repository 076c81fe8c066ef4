"""Why a message cannot be put together: one exception with a code and the places that it is about."""

from __future__ import annotations

from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.diagnostics.registry import ENTRIES
from shardwright.serialization.riegeli import RiegeliError

HELP = {
    "SW0802": "get the whole file",
    "SW0803": "get the file again",
    "SW0804": "get the file again",
    "SW0805": "write the message again",
    "SW0807": "if you trust the file: Merger.read(prefix, message, limits=Limits(always=1 << 40))",
}
"""What helps with faults of records where a recovery of single records does not."""


class MergeError(ShardwrightValueError):
    """
    A message that cannot be put together: `file`, `chunk` (its number) and `path` say where, as far as that is known.

    >>> print(MergeError("SW0836", "no chunk has this number", file="a.cpb", chunk=7, path="node[3]", help="write it"))
    error[SW0836]: a.cpb, chunk 7, node[3]: no chunk has this number
      help: write it
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        file: str | None = None,
        chunk: int | None = None,
        path: str | None = None,
        help: str = "",
    ) -> None:
        self.code, self.message = code, message
        self.file, self.chunk, self.path = file, chunk, path
        places = (file, None if chunk is None else f"chunk {chunk}", path)
        where = ", ".join(place for place in places if place)
        text = f"{where}: {message}" if where else message
        super().__init__(Diagnostic(code, text, help=help or HELP.get(code) or ENTRIES[code].help))


class ElementError(MergeError, IndexError, KeyError):
    """An element of a list, or an entry of a map, that is not there."""

    def __str__(self) -> str:
        return Exception.__str__(self)


def damaged(error: RiegeliError, chunk: int | None = None, path: str | None = None) -> MergeError:
    """A fault of the records, with its own code and what the record was for."""
    place = "" if error.offset is None else f"byte {error.offset}: "
    return MergeError(error.code, place + error.message, file=error.file, chunk=chunk, path=path)
