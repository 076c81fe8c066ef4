"""Why something stored cannot be read or written: exceptions with a code, and with the places that they are about."""

from __future__ import annotations

from shardwright.diagnostics import ShardwrightTypeError, ShardwrightValueError
from shardwright.diagnostics.registry import coded

__all__ = [
    "ElementError",
    "FieldTagError",
    "IrProtoError",
    "MergeError",
    "RiegeliError",
    "SplitError",
    "SplitTypeError",
    "StorageError",
    "TableError",
    "damaged",
]

MERGE_HELP = {
    "SW0802": "get the whole file",
    "SW0803": "get the file again",
    "SW0804": "get the file again",
    "SW0805": "write the message again",
    "SW0807": "if you trust the file: Merger.read(prefix, message, limits=Limits(always=1 << 40))",
}
"""What helps with faults of records where a recovery of single records does not."""


class StorageError(ShardwrightValueError):
    """A fault with a code; `where` says in what it is, for people."""

    def __init__(
        self, code: str, message: str, *, where: str = "", notes: tuple[str, ...] = (), help: str = ""
    ) -> None:
        text = f"{where}: {message}" if where else message
        super().__init__(coded(code, text, *notes, help=help))
        self.code, self.message = code, message


class FieldTagError(StorageError, KeyError):
    """A place that a message of this type does not have: a `KeyError` and a `ValueError`, with diagnostics."""

    __str__ = Exception.__str__


class RiegeliError(StorageError):
    """
    A fault in a file: `file` and `offset` say where; `resume` is where reading may go on, if that is known.

    >>> print(RiegeliError("SW0802", "the file ends inside a chunk", "a.riegeli", 64, help="get it whole"))
    error[SW0802]: a.riegeli, byte 64: the file ends inside a chunk
      help: get it whole
    """

    def __init__(
        self, code: str, message: str, file: str, offset: int | None, *, help: str = "", resume: int | None = None
    ) -> None:
        super().__init__(code, message, where=file if offset is None else f"{file}, byte {offset}", help=help)
        self.file, self.offset, self.resume = file, offset, resume
        self.find_chunk = False
        """Whether `resume` is only a place to look for the next chunk from, not a chunk."""


class MergeError(StorageError):
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
        places = (file, None if chunk is None else f"chunk {chunk}", path)
        super().__init__(code, message, where=", ".join(filter(None, places)), help=help or MERGE_HELP.get(code, ""))
        self.file, self.chunk, self.path = file, chunk, path


class ElementError(MergeError, IndexError, KeyError):
    """An element of a list, or an entry of a map, that is not there."""

    __str__ = Exception.__str__


def damaged(error: RiegeliError, chunk: int | None = None, path: str | None = None) -> MergeError:
    """A fault of the records, with its own code and what the record was for."""
    place = "" if error.offset is None else f"byte {error.offset}: "
    return MergeError(error.code, place + error.message, file=error.file, chunk=chunk, path=path)


class SplitError(StorageError):
    """
    A message, or a call, that a splitter refuses; `path` says which part of the message.

    >>> print(SplitError("SW0814", "a message is nested too deeply", path="node[3]", help="nest it less"))
    error[SW0814]: node[3]: a message is nested too deeply
      help: nest it less
    """

    def __init__(self, code: str, message: str, *, path: str = "", help: str = "") -> None:
        super().__init__(code, message, where=path, help=help)
        self.path = path


class SplitTypeError(ShardwrightTypeError):
    """A message of a type that a splitter is not for, or a chunk that is none."""

    code = "SW0816"

    def __init__(self, message: str) -> None:
        super().__init__(coded(self.code, message))


class TableError(StorageError):
    """A table or checkpoint that cannot be read (SW0892): `file` says which one."""

    def __init__(self, file: str, message: str) -> None:
        super().__init__("SW0892", message, where=file)
        self.file = file


class IrProtoError(StorageError):
    """
    A module that cannot be written as a message, or a message that is no module.

    >>> print(IrProtoError("SW0850", "the message has version 7"))
    error[SW0850]: the message has version 7
      help: install a newer Shardwright
    """
