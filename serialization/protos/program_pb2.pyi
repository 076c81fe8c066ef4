from shardwright.serialization.protos import ir_pb2 as _ir_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Saved(_message.Message):
    __slots__ = ("version", "meshes", "objects", "programs", "files")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    MESHES_FIELD_NUMBER: _ClassVar[int]
    OBJECTS_FIELD_NUMBER: _ClassVar[int]
    PROGRAMS_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    version: int
    meshes: _containers.RepeatedCompositeFieldContainer[Mesh]
    objects: _containers.RepeatedCompositeFieldContainer[Object]
    programs: _containers.RepeatedCompositeFieldContainer[Program]
    files: _containers.RepeatedCompositeFieldContainer[File]
    def __init__(self, version: _Optional[int] = ..., meshes: _Optional[_Iterable[_Union[Mesh, _Mapping]]] = ..., objects: _Optional[_Iterable[_Union[Object, _Mapping]]] = ..., programs: _Optional[_Iterable[_Union[Program, _Mapping]]] = ..., files: _Optional[_Iterable[_Union[File, _Mapping]]] = ...) -> None: ...

class File(_message.Message):
    __slots__ = ("path", "size", "hash")
    PATH_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    path: str
    size: int
    hash: int
    def __init__(self, path: _Optional[str] = ..., size: _Optional[int] = ..., hash: _Optional[int] = ...) -> None: ...

class Mesh(_message.Message):
    __slots__ = ("name", "axes", "devices", "clients", "job", "first")
    NAME_FIELD_NUMBER: _ClassVar[int]
    AXES_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    CLIENTS_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    name: str
    axes: _containers.RepeatedCompositeFieldContainer[MeshAxis]
    devices: _containers.RepeatedScalarFieldContainer[str]
    clients: int
    job: int
    first: int
    def __init__(self, name: _Optional[str] = ..., axes: _Optional[_Iterable[_Union[MeshAxis, _Mapping]]] = ..., devices: _Optional[_Iterable[str]] = ..., clients: _Optional[int] = ..., job: _Optional[int] = ..., first: _Optional[int] = ...) -> None: ...

class MeshAxis(_message.Message):
    __slots__ = ("name", "size")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    name: str
    size: int
    def __init__(self, name: _Optional[str] = ..., size: _Optional[int] = ...) -> None: ...

class Layout(_message.Message):
    __slots__ = ("mesh", "text", "uneven", "automatic")
    MESH_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    UNEVEN_FIELD_NUMBER: _ClassVar[int]
    AUTOMATIC_FIELD_NUMBER: _ClassVar[int]
    mesh: int
    text: str
    uneven: bool
    automatic: bool
    def __init__(self, mesh: _Optional[int] = ..., text: _Optional[str] = ..., uneven: bool = ..., automatic: bool = ...) -> None: ...

class Object(_message.Message):
    __slots__ = ("module", "container", "variable", "array", "function", "value", "graph")
    MODULE_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    VARIABLE_FIELD_NUMBER: _ClassVar[int]
    ARRAY_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    module: Module
    container: Container
    variable: Variable
    array: Array
    function: Function
    value: Value
    graph: Nothing
    def __init__(self, module: _Optional[_Union[Module, _Mapping]] = ..., container: _Optional[_Union[Container, _Mapping]] = ..., variable: _Optional[_Union[Variable, _Mapping]] = ..., array: _Optional[_Union[Array, _Mapping]] = ..., function: _Optional[_Union[Function, _Mapping]] = ..., value: _Optional[_Union[Value, _Mapping]] = ..., graph: _Optional[_Union[Nothing, _Mapping]] = ...) -> None: ...

class Nothing(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Member(_message.Message):
    __slots__ = ("key", "object")
    KEY_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    key: Value
    object: int
    def __init__(self, key: _Optional[_Union[Value, _Mapping]] = ..., object: _Optional[int] = ...) -> None: ...

class Module(_message.Message):
    __slots__ = ("class_name", "members", "left_out")
    class LeftOutEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CLASS_NAME_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    class_name: str
    members: _containers.RepeatedCompositeFieldContainer[Member]
    left_out: _containers.ScalarMap[str, str]
    def __init__(self, class_name: _Optional[str] = ..., members: _Optional[_Iterable[_Union[Member, _Mapping]]] = ..., left_out: _Optional[_Mapping[str, str]] = ...) -> None: ...

class Container(_message.Message):
    __slots__ = ("kind", "members")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LIST: _ClassVar[Container.Kind]
        TUPLE: _ClassVar[Container.Kind]
        DICT: _ClassVar[Container.Kind]
    LIST: Container.Kind
    TUPLE: Container.Kind
    DICT: Container.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    kind: Container.Kind
    members: _containers.RepeatedCompositeFieldContainer[Member]
    def __init__(self, kind: _Optional[_Union[Container.Kind, str]] = ..., members: _Optional[_Iterable[_Union[Member, _Mapping]]] = ...) -> None: ...

class Variable(_message.Message):
    __slots__ = ("name", "trainable", "dtype", "shape", "layout", "key")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TRAINABLE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    name: str
    trainable: bool
    dtype: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    layout: Layout
    key: str
    def __init__(self, name: _Optional[str] = ..., trainable: bool = ..., dtype: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., layout: _Optional[_Union[Layout, _Mapping]] = ..., key: _Optional[str] = ...) -> None: ...

class Array(_message.Message):
    __slots__ = ("dtype", "shape", "layout", "key")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    dtype: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    layout: Layout
    key: str
    def __init__(self, dtype: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., layout: _Optional[_Union[Layout, _Mapping]] = ..., key: _Optional[str] = ...) -> None: ...

class Function(_message.Message):
    __slots__ = ("name", "signature", "static_names", "programs", "instance")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    STATIC_NAMES_FIELD_NUMBER: _ClassVar[int]
    PROGRAMS_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    name: str
    signature: Signature
    static_names: _containers.RepeatedScalarFieldContainer[str]
    programs: _containers.RepeatedScalarFieldContainer[int]
    instance: int
    def __init__(self, name: _Optional[str] = ..., signature: _Optional[_Union[Signature, _Mapping]] = ..., static_names: _Optional[_Iterable[str]] = ..., programs: _Optional[_Iterable[int]] = ..., instance: _Optional[int] = ...) -> None: ...

class Signature(_message.Message):
    __slots__ = ("parameters",)
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    parameters: _containers.RepeatedCompositeFieldContainer[PythonParameter]
    def __init__(self, parameters: _Optional[_Iterable[_Union[PythonParameter, _Mapping]]] = ...) -> None: ...

class PythonParameter(_message.Message):
    __slots__ = ("name", "kind", "optional")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        POSITIONAL_ONLY: _ClassVar[PythonParameter.Kind]
        POSITIONAL_OR_KEYWORD: _ClassVar[PythonParameter.Kind]
        VAR_POSITIONAL: _ClassVar[PythonParameter.Kind]
        KEYWORD_ONLY: _ClassVar[PythonParameter.Kind]
        VAR_KEYWORD: _ClassVar[PythonParameter.Kind]
    POSITIONAL_ONLY: PythonParameter.Kind
    POSITIONAL_OR_KEYWORD: PythonParameter.Kind
    VAR_POSITIONAL: PythonParameter.Kind
    KEYWORD_ONLY: PythonParameter.Kind
    VAR_KEYWORD: PythonParameter.Kind
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    OPTIONAL_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: PythonParameter.Kind
    optional: bool
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[PythonParameter.Kind, str]] = ..., optional: bool = ...) -> None: ...

class Program(_message.Message):
    __slots__ = ("name", "signature", "arguments", "parameters", "results", "captured", "updated", "meshes", "traced", "local")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    CAPTURED_FIELD_NUMBER: _ClassVar[int]
    UPDATED_FIELD_NUMBER: _ClassVar[int]
    MESHES_FIELD_NUMBER: _ClassVar[int]
    TRACED_FIELD_NUMBER: _ClassVar[int]
    LOCAL_FIELD_NUMBER: _ClassVar[int]
    name: str
    signature: str
    arguments: Tree
    parameters: _containers.RepeatedCompositeFieldContainer[Parameter]
    results: Tree
    captured: _containers.RepeatedScalarFieldContainer[int]
    updated: _containers.RepeatedScalarFieldContainer[int]
    meshes: _containers.RepeatedCompositeFieldContainer[ProgramMesh]
    traced: _ir_pb2.Module
    local: _ir_pb2.Module
    def __init__(self, name: _Optional[str] = ..., signature: _Optional[str] = ..., arguments: _Optional[_Union[Tree, _Mapping]] = ..., parameters: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ..., results: _Optional[_Union[Tree, _Mapping]] = ..., captured: _Optional[_Iterable[int]] = ..., updated: _Optional[_Iterable[int]] = ..., meshes: _Optional[_Iterable[_Union[ProgramMesh, _Mapping]]] = ..., traced: _Optional[_Union[_ir_pb2.Module, _Mapping]] = ..., local: _Optional[_Union[_ir_pb2.Module, _Mapping]] = ...) -> None: ...

class ProgramMesh(_message.Message):
    __slots__ = ("name", "mesh", "known")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MESH_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    name: str
    mesh: int
    known: bool
    def __init__(self, name: _Optional[str] = ..., mesh: _Optional[int] = ..., known: bool = ...) -> None: ...

class Parameter(_message.Message):
    __slots__ = ("name", "dtype", "shape", "layout", "decided")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_FIELD_NUMBER: _ClassVar[int]
    name: str
    dtype: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    layout: Layout
    decided: Layout
    def __init__(self, name: _Optional[str] = ..., dtype: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., layout: _Optional[_Union[Layout, _Mapping]] = ..., decided: _Optional[_Union[Layout, _Mapping]] = ...) -> None: ...

class Tree(_message.Message):
    __slots__ = ("kind", "class_name", "keys", "parts", "value")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LEAF: _ClassVar[Tree.Kind]
        NONE: _ClassVar[Tree.Kind]
        LIST: _ClassVar[Tree.Kind]
        TUPLE: _ClassVar[Tree.Kind]
        DICT: _ClassVar[Tree.Kind]
        NAMED_TUPLE: _ClassVar[Tree.Kind]
        DATACLASS: _ClassVar[Tree.Kind]
        STATIC: _ClassVar[Tree.Kind]
    LEAF: Tree.Kind
    NONE: Tree.Kind
    LIST: Tree.Kind
    TUPLE: Tree.Kind
    DICT: Tree.Kind
    NAMED_TUPLE: Tree.Kind
    DATACLASS: Tree.Kind
    STATIC: Tree.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    CLASS_NAME_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    kind: Tree.Kind
    class_name: str
    keys: _containers.RepeatedCompositeFieldContainer[Value]
    parts: _containers.RepeatedCompositeFieldContainer[Tree]
    value: Value
    def __init__(self, kind: _Optional[_Union[Tree.Kind, str]] = ..., class_name: _Optional[str] = ..., keys: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., parts: _Optional[_Iterable[_Union[Tree, _Mapping]]] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("none", "truth", "integer", "large_integer", "float_number", "complex_number", "text", "raw", "list_items", "tuple_items", "slice_parts", "range_parts", "ellipsis", "dict_items", "named_tuple", "dataclass", "dtype", "scalar_class", "python_class", "scalar", "layout", "mesh_number", "object_number", "function")
    NONE_FIELD_NUMBER: _ClassVar[int]
    TRUTH_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    LARGE_INTEGER_FIELD_NUMBER: _ClassVar[int]
    FLOAT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    COMPLEX_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    LIST_ITEMS_FIELD_NUMBER: _ClassVar[int]
    TUPLE_ITEMS_FIELD_NUMBER: _ClassVar[int]
    SLICE_PARTS_FIELD_NUMBER: _ClassVar[int]
    RANGE_PARTS_FIELD_NUMBER: _ClassVar[int]
    ELLIPSIS_FIELD_NUMBER: _ClassVar[int]
    DICT_ITEMS_FIELD_NUMBER: _ClassVar[int]
    NAMED_TUPLE_FIELD_NUMBER: _ClassVar[int]
    DATACLASS_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SCALAR_CLASS_FIELD_NUMBER: _ClassVar[int]
    PYTHON_CLASS_FIELD_NUMBER: _ClassVar[int]
    SCALAR_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    MESH_NUMBER_FIELD_NUMBER: _ClassVar[int]
    OBJECT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    none: Nothing
    truth: bool
    integer: int
    large_integer: bytes
    float_number: float
    complex_number: Complex
    text: str
    raw: bytes
    list_items: Values
    tuple_items: Values
    slice_parts: Values
    range_parts: Values
    ellipsis: Nothing
    dict_items: Pairs
    named_tuple: Record
    dataclass: Record
    dtype: str
    scalar_class: str
    python_class: str
    scalar: Scalar
    layout: Layout
    mesh_number: int
    object_number: int
    function: str
    def __init__(self, none: _Optional[_Union[Nothing, _Mapping]] = ..., truth: bool = ..., integer: _Optional[int] = ..., large_integer: _Optional[bytes] = ..., float_number: _Optional[float] = ..., complex_number: _Optional[_Union[Complex, _Mapping]] = ..., text: _Optional[str] = ..., raw: _Optional[bytes] = ..., list_items: _Optional[_Union[Values, _Mapping]] = ..., tuple_items: _Optional[_Union[Values, _Mapping]] = ..., slice_parts: _Optional[_Union[Values, _Mapping]] = ..., range_parts: _Optional[_Union[Values, _Mapping]] = ..., ellipsis: _Optional[_Union[Nothing, _Mapping]] = ..., dict_items: _Optional[_Union[Pairs, _Mapping]] = ..., named_tuple: _Optional[_Union[Record, _Mapping]] = ..., dataclass: _Optional[_Union[Record, _Mapping]] = ..., dtype: _Optional[str] = ..., scalar_class: _Optional[str] = ..., python_class: _Optional[str] = ..., scalar: _Optional[_Union[Scalar, _Mapping]] = ..., layout: _Optional[_Union[Layout, _Mapping]] = ..., mesh_number: _Optional[int] = ..., object_number: _Optional[int] = ..., function: _Optional[str] = ...) -> None: ...

class Complex(_message.Message):
    __slots__ = ("real", "imaginary")
    REAL_FIELD_NUMBER: _ClassVar[int]
    IMAGINARY_FIELD_NUMBER: _ClassVar[int]
    real: float
    imaginary: float
    def __init__(self, real: _Optional[float] = ..., imaginary: _Optional[float] = ...) -> None: ...

class Scalar(_message.Message):
    __slots__ = ("dtype", "raw")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    dtype: str
    raw: bytes
    def __init__(self, dtype: _Optional[str] = ..., raw: _Optional[bytes] = ...) -> None: ...

class Values(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Value]
    def __init__(self, items: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...

class Pairs(_message.Message):
    __slots__ = ("keys", "values")
    KEYS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedCompositeFieldContainer[Value]
    values: _containers.RepeatedCompositeFieldContainer[Value]
    def __init__(self, keys: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...

class Record(_message.Message):
    __slots__ = ("class_name", "names", "values")
    CLASS_NAME_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    class_name: str
    names: _containers.RepeatedScalarFieldContainer[str]
    values: _containers.RepeatedCompositeFieldContainer[Value]
    def __init__(self, class_name: _Optional[str] = ..., names: _Optional[_Iterable[str]] = ..., values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...
