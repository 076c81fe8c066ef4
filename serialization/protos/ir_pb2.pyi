from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Module(_message.Message):
    __slots__ = ("version", "names", "attributes", "operations", "blobs")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    BLOBS_FIELD_NUMBER: _ClassVar[int]
    version: int
    names: _containers.RepeatedScalarFieldContainer[str]
    attributes: _containers.RepeatedCompositeFieldContainer[Attribute]
    operations: _containers.RepeatedCompositeFieldContainer[Operation]
    blobs: _containers.RepeatedCompositeFieldContainer[Blob]
    def __init__(self, version: _Optional[int] = ..., names: _Optional[_Iterable[str]] = ..., attributes: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ..., operations: _Optional[_Iterable[_Union[Operation, _Mapping]]] = ..., blobs: _Optional[_Iterable[_Union[Blob, _Mapping]]] = ...) -> None: ...

class Attribute(_message.Message):
    __slots__ = ("kind", "parts", "keys", "integer", "float_bits", "data", "blobs")
    KIND_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    FLOAT_BITS_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    BLOBS_FIELD_NUMBER: _ClassVar[int]
    kind: int
    parts: _containers.RepeatedScalarFieldContainer[int]
    keys: _containers.RepeatedScalarFieldContainer[int]
    integer: int
    float_bits: int
    data: bytes
    blobs: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, kind: _Optional[int] = ..., parts: _Optional[_Iterable[int]] = ..., keys: _Optional[_Iterable[int]] = ..., integer: _Optional[int] = ..., float_bits: _Optional[int] = ..., data: _Optional[bytes] = ..., blobs: _Optional[_Iterable[int]] = ...) -> None: ...

class Blob(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class Operation(_message.Message):
    __slots__ = ("name", "location", "operands", "result_types", "result_names", "properties", "attributes", "successors", "regions")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LOCATION_FIELD_NUMBER: _ClassVar[int]
    OPERANDS_FIELD_NUMBER: _ClassVar[int]
    RESULT_TYPES_FIELD_NUMBER: _ClassVar[int]
    RESULT_NAMES_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    SUCCESSORS_FIELD_NUMBER: _ClassVar[int]
    REGIONS_FIELD_NUMBER: _ClassVar[int]
    name: int
    location: int
    operands: _containers.RepeatedScalarFieldContainer[int]
    result_types: _containers.RepeatedScalarFieldContainer[int]
    result_names: _containers.RepeatedScalarFieldContainer[int]
    properties: int
    attributes: int
    successors: _containers.RepeatedScalarFieldContainer[int]
    regions: _containers.RepeatedCompositeFieldContainer[Region]
    def __init__(self, name: _Optional[int] = ..., location: _Optional[int] = ..., operands: _Optional[_Iterable[int]] = ..., result_types: _Optional[_Iterable[int]] = ..., result_names: _Optional[_Iterable[int]] = ..., properties: _Optional[int] = ..., attributes: _Optional[int] = ..., successors: _Optional[_Iterable[int]] = ..., regions: _Optional[_Iterable[_Union[Region, _Mapping]]] = ...) -> None: ...

class Region(_message.Message):
    __slots__ = ("blocks",)
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    blocks: _containers.RepeatedCompositeFieldContainer[Block]
    def __init__(self, blocks: _Optional[_Iterable[_Union[Block, _Mapping]]] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("operations", "argument_types", "argument_locations", "argument_names", "name")
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENT_TYPES_FIELD_NUMBER: _ClassVar[int]
    ARGUMENT_LOCATIONS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENT_NAMES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    operations: int
    argument_types: _containers.RepeatedScalarFieldContainer[int]
    argument_locations: _containers.RepeatedScalarFieldContainer[int]
    argument_names: _containers.RepeatedScalarFieldContainer[int]
    name: int
    def __init__(self, operations: _Optional[int] = ..., argument_types: _Optional[_Iterable[int]] = ..., argument_locations: _Optional[_Iterable[int]] = ..., argument_names: _Optional[_Iterable[int]] = ..., name: _Optional[int] = ...) -> None: ...
