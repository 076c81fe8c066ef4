from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class VersionDef(_message.Message):
    __slots__ = ("splitter_version", "join_version", "bad_consumers")
    SPLITTER_VERSION_FIELD_NUMBER: _ClassVar[int]
    JOIN_VERSION_FIELD_NUMBER: _ClassVar[int]
    BAD_CONSUMERS_FIELD_NUMBER: _ClassVar[int]
    splitter_version: int
    join_version: int
    bad_consumers: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, splitter_version: _Optional[int] = ..., join_version: _Optional[int] = ..., bad_consumers: _Optional[_Iterable[int]] = ...) -> None: ...
