"""Message types by name: ours, TensorFlow's as we know them, and those of a descriptor set that the user gives."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.registry import coded
from shardwright.diagnostics.suggestions import propose
from shardwright.tools.programs.files import read_bytes
from shardwright.tools.terminal.output import write_talk

if TYPE_CHECKING:
    from google.protobuf.message import Message

SCHEMAS = ("graph", "saved_model", "ir", "program", "chunk", "layout", "xla_data")
"""The modules of `serialization.protos` whose messages files may hold."""

USUAL = {"saved_model": "SavedModel", "fingerprint": "FingerprintDef"}
"""Names of files, without their ends, that say what is in them."""


@cache
def _known_types() -> dict[str, type[Message]]:
    """Every message type of ours by its full name."""
    modules: list[Any] = [import_module(f"shardwright.serialization.protos.{schema}_pb2") for schema in SCHEMAS]
    types = [getattr(module, name) for module in modules for name in module.DESCRIPTOR.message_types_by_name]
    return {kind.DESCRIPTOR.full_name: kind for kind in types}


@contextmanager
def telling_what_goes(prefix: str) -> Generator[None]:
    """Says on standard error which file of two endings is gone after the block: one takes the place of the other."""
    before = [path for path in (f"{prefix}.pb", f"{prefix}.cpb") if os.path.lexists(path)]
    yield
    for path in before:
        if not os.path.lexists(path):
            write_talk(f"{path} is gone: {prefix}{'.cpb' if path.endswith('.pb') else '.pb'} takes its place")


def find_type(name: str, descriptors: str | None = None) -> type[Message]:
    """
    The message type that a user names: in full, without its package, or in TensorFlow's package.

    Raises SW0724 for a name that is not known, or known twice.

    >>> find_type("tensorflow.GraphDef") is find_type("GraphDef")
    True
    >>> find_type("GraphDef").DESCRIPTOR.full_name
    'shardwright.tensorflow.GraphDef'
    """
    types = _known_types() if descriptors is None else types_of(descriptors)
    matching = [types[full] for full in _spellings(name, types)]
    if len(matching) == 1:
        return matching[0]
    known = sorted(full.rpartition(".")[2] for full in types)
    what = "is no message type" if not matching else "could be several message types: give its package too"
    help_text = propose(name.rpartition(".")[2], known, "give --descriptors FILE for a type of your own")
    raise ShardwrightError(Diagnostic("SW0724", f"'{name}' {what}", help=help_text))


def type_for(path: str, given: str | None, recorded: str | None, descriptors: str | None) -> type[Message] | None:
    """
    The type of the message in a file: as the user says, as the file says, or as its name says; None if nothing does.

    Raises SW0724 where user and file say different types.

    >>> type_for("model/saved_model.pb", None, None, None).DESCRIPTOR.name
    'SavedModel'
    >>> type_for("x.pb", None, None, None) is None
    True
    """
    if given is not None:
        found = find_type(given, descriptors)
        if recorded and recorded.rpartition(".")[2] != found.DESCRIPTOR.name:
            message = f"'{path}' holds a {recorded}, not a {found.DESCRIPTOR.full_name}"
            raise ShardwrightError(Diagnostic("SW0724", message, help="leave --type out: the file says what it is"))
        return found
    types = _known_types() if descriptors is None else types_of(descriptors)
    if recorded and len(names := _spellings(recorded, types)) == 1:
        return types[names[0]]
    usual = USUAL.get(Path(path).name.partition(".")[0])
    return find_type(usual) if usual and descriptors is None else None


def _spellings(name: str, types: dict[str, Any]) -> list[str]:
    """The full names that a name may stand for."""
    candidates = (name, f"shardwright.{name}")
    exact = [full for full in candidates if full in types]
    return exact[:1] or [full for full in types if "." not in name and full.rpartition(".")[2] == name]


def types_of(path: str) -> dict[str, type[Message]]:
    """
    The message types in a descriptor set, as `protoc --include_imports --descriptor_set_out=FILE` writes it.

    Raises SW0725 for a file that is none.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.message import DecodeError

    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(read_bytes(path))
        pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            pool.AddSerializedFile(file.SerializeToString())
        found = [pool.FindMessageTypeByName(name) for file in files.file for name in _messages(file, file.package)]
        return {descriptor.full_name: message_factory.GetMessageClass(descriptor) for descriptor in found}
    except (DecodeError, TypeError, KeyError, ValueError) as error:
        why = str(error).strip().split("\n")[0]
        raise ShardwrightError(coded("SW0725", f"'{path}' is no descriptor set: {why}")) from error


def _messages(scope: Any, prefix: str) -> Iterator[str]:
    """The full names of the messages in a file or message, nested ones included."""
    for message in scope.nested_type if hasattr(scope, "nested_type") else scope.message_type:
        name = f"{prefix}.{message.name}" if prefix else message.name
        if not message.options.map_entry:
            yield name
            yield from _messages(message, name)


def read_type(path: str, given: str | None, descriptors: str | None) -> type[Message]:
    """The type of the message in a file; SW0724 if neither the user nor the file nor its name says it."""
    found = type_for(path, given, recorded_type(path), descriptors)
    if found is None:
        message = f"'{path}' does not say what message it is"
        help_text = "give --type NAME, for instance GraphDef, and --descriptors FILE for a type of your own"
        raise ShardwrightError(Diagnostic("SW0724", message, help=help_text))
    return found


def recorded_type(path: str) -> str | None:
    """The name of the type that a file of chunks says it has; None for other files."""
    from google.protobuf.message import DecodeError

    from shardwright.serialization.merging.reading.files import CHUNKED, find_file
    from shardwright.serialization.protos import records_pb2
    from shardwright.serialization.riegeli import RecordReader

    found = find_file(path)
    if found.suffix != CHUNKED:
        return None
    with RecordReader(found) as reader:
        metadata = reader.metadata
    try:
        return records_pb2.RecordsMetadata.FromString(metadata or b"").record_type_name or None
    except DecodeError:
        return None


def read_message(path: str, kind: type[Message]) -> Message:
    """The message in a file, whole or in chunks, every byte checked."""
    from shardwright.serialization.merging import Merger

    message = kind()
    Merger.read(path, message)
    return message
