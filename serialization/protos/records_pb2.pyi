from google.protobuf import descriptor_pb2 as _descriptor_pb2
from shardwright.serialization.protos import chunk_pb2 as _chunk_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RecordsMetadata(_message.Message):
    __slots__ = ("file_comment", "record_type_name", "file_descriptor", "record_writer_options", "num_records", "chunked_file")
    FILE_COMMENT_FIELD_NUMBER: _ClassVar[int]
    RECORD_TYPE_NAME_FIELD_NUMBER: _ClassVar[int]
    FILE_DESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    RECORD_WRITER_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    NUM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    CHUNKED_FILE_FIELD_NUMBER: _ClassVar[int]
    file_comment: str
    record_type_name: str
    file_descriptor: _containers.RepeatedCompositeFieldContainer[_descriptor_pb2.FileDescriptorProto]
    record_writer_options: str
    num_records: int
    chunked_file: ChunkedFile
    def __init__(self, file_comment: _Optional[str] = ..., record_type_name: _Optional[str] = ..., file_descriptor: _Optional[_Iterable[_Union[_descriptor_pb2.FileDescriptorProto, _Mapping]]] = ..., record_writer_options: _Optional[str] = ..., num_records: _Optional[int] = ..., chunked_file: _Optional[_Union[ChunkedFile, _Mapping]] = ...) -> None: ...

class ChunkedFile(_message.Message):
    __slots__ = ("runs", "supersedes")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDES_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Runs]
    supersedes: Sibling
    def __init__(self, runs: _Optional[_Iterable[_Union[Runs, _Mapping]]] = ..., supersedes: _Optional[_Union[Sibling, _Mapping]] = ...) -> None: ...

class Runs(_message.Message):
    __slots__ = ("message", "field", "chunk_index", "first", "length")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    CHUNK_INDEX_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    message: _containers.RepeatedCompositeFieldContainer[_chunk_pb2.FieldIndex]
    field: int
    chunk_index: _containers.RepeatedScalarFieldContainer[int]
    first: _containers.RepeatedScalarFieldContainer[int]
    length: int
    def __init__(self, message: _Optional[_Iterable[_Union[_chunk_pb2.FieldIndex, _Mapping]]] = ..., field: _Optional[int] = ..., chunk_index: _Optional[_Iterable[int]] = ..., first: _Optional[_Iterable[int]] = ..., length: _Optional[int] = ...) -> None: ...

class Sibling(_message.Message):
    __slots__ = ("size", "hash")
    SIZE_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    size: int
    hash: int
    def __init__(self, size: _Optional[int] = ..., hash: _Optional[int] = ...) -> None: ...
