"""Modules as messages: exact both ways, for all that MLIR can say."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, cast

import pytest
from ir_cases import LIT, assert_round_trip, assert_same, lit_modules
from stored_programs import TEXTS as PROGRAMS
from whole.draw import random_program
from xdsl.context import Context
from xdsl.dialects import builtin, test as foreign
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    FloatData,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region

from shardwright.compiler.pipelines import ALIGN, IMPORT, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import make_context
from shardwright.dialects.text import literals
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import tensor
from shardwright.serialization.ir import kinds as ir_kinds
from shardwright.serialization.ir.proto import IrProtoError, module_from_proto, module_to_proto
from shardwright.serialization.protos import ir_pb2

STAGES = (IMPORT, PROPAGATE, ALIGN, PLAN, LOCALIZE)


def with_attributes(**attributes: Attribute) -> ModuleOp:
    """An empty module that has these attributes."""
    return ModuleOp([], attributes)


def read_back(attribute: Attribute) -> Attribute:
    """An attribute through a message."""
    return module_from_proto(module_to_proto(with_attributes(a=attribute))).attributes["a"]


def test_every_op_and_attribute_of_the_dialects() -> None:
    seen: set[str] = set()
    for _, module in lit_modules("dialects"):
        seen |= {op.name for op in module.walk()}
        assert_round_trip(module)
    assert len(seen) > 150


@pytest.mark.slow
@pytest.mark.parametrize("folder", [path.name for path in LIT.iterdir() if path.is_dir()])
def test_every_program_of_the_text_tests(folder: str) -> None:
    for _, module in lit_modules(folder):
        assert_round_trip(module)


SAMPLE = ("mlp_train_dptp", "while_cg", "smap_ring_matmul", "resnet_fwd_spatial")


def programs() -> list[Any]:
    """The programs that JAX exported, most of them for the long suite."""
    return [
        pytest.param(path, id=path.stem, marks=() if path.stem in SAMPLE else pytest.mark.slow) for path in PROGRAMS
    ]


@pytest.mark.parametrize("path", programs())
def test_every_stage_of_the_programs_of_jax(path: Any) -> None:
    module = parse_module(path.read_text(), path.name)
    assert_round_trip(module)
    for stage in STAGES:
        run_pipeline(module, stage)
        assert_round_trip(module)


@pytest.mark.parametrize("seed", range(5))
def test_random_programs(seed: int) -> None:
    module = parse_module(random_program(seed).text)
    assert_round_trip(module)
    for stage in STAGES:
        run_pipeline(module, stage)
        assert_round_trip(module)


NANS = (0x7FF8000000000000, 0xFFF8000000000001, 0x7FF0000000000001, 0x7FFDEADBEEF00001)


@pytest.mark.parametrize("bits", [*NANS, 0x8000000000000000, 0x7FF0000000000000, 1, 0x3FF0000000000000])
def test_floats_keep_every_bit(bits: int) -> None:
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    read = cast(FloatData, read_back(FloatData(value)))
    assert struct.unpack("<Q", struct.pack("<d", read.data)) == (bits,)
    for kind in (builtin.f64, builtin.f32, builtin.bf16, builtin.f8E5M2):
        attribute = cast("FloatAttr[Any]", FloatAttr(value, kind))
        assert read_back(attribute) == attribute


@pytest.mark.parametrize("value", [0, 1, -1, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**64, -(2**127), 10**40])
def test_integers_of_any_size(value: int) -> None:
    assert cast("IntAttr[int]", read_back(IntAttr(value))).data == value
    attribute = IntegerAttr(value, builtin.IntegerType(256))
    assert read_back(attribute) == attribute


TEXTS = ("", "x", "äöü 漢字 🎲", 'quote " and \\', "line\nbreak\0zero", "\udc80 alone", "x" * 5000)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_texts_and_bytes(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    assert cast(StringAttr, read_back(StringAttr(text))).data == text
    assert cast(BytesAttr, read_back(BytesAttr(data))).data == data


ELEMENTS = ("bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "i1", "i4", "ui8", "i64", "complex<f32>", "complex<f64>", "f64")


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", [(), (3,), (7, 300)])
def test_constants_of_every_type_keep_their_bytes(element: str, shape: tuple[int, ...]) -> None:
    text = "x".join([*map(str, shape), element])
    attribute = parse_module(f"module attributes {{a = tensor<{text}>}} {{}}").attributes["a"]
    kind = cast(Any, attribute)
    count = 1
    for extent in shape:
        count *= extent
    size = literals.element_size(kind.element_type)
    data = bytes(range(1, 252)) * (count * size // 251 + 1)
    constant = literals.dense(
        kind, bytes(byte & 1 for byte in data[:count]) if element == "i1" else data[: count * size]
    )
    message = assert_round_trip(with_attributes(a=constant))
    assert len(message.blobs) == int(len(constant.data.data) > 1024)


def test_a_splat_of_any_size_is_one_element() -> None:
    text = "func.func @f() { %0 = stablehlo.constant dense<-0.0> : tensor<100000x100000xbf16> return }"
    message = assert_round_trip(parse_module(text))
    assert message.ByteSize() < 500


def test_a_resource_is_named() -> None:
    assert_round_trip(parse_module("module attributes {a = dense_resource<big> : tensor<4xf32>} {}"))


def test_dictionaries_and_properties_keep_their_order() -> None:
    entries = {name: UnitAttr() for name in ("z", "a", "m")}
    read = read_back(DictionaryAttr(entries))
    assert list(cast(DictionaryAttr, read).data) == ["z", "a", "m"]
    module = with_attributes(**entries)
    assert_round_trip(module)
    assert list(module_from_proto(module_to_proto(module)).attributes) == ["z", "a", "m"]


def test_defaults_that_are_not_there_stay_away() -> None:
    module = parse_module("func.func @f(%x: tensor<2xf32>) { %0 = stablehlo.exponential %x : tensor<2xf32> return }")
    exponential = next(op for op in module.walk() if op.name == "stablehlo.exponential")
    exponential.properties.clear()
    message = module_to_proto(module)
    read = next(op for op in module_from_proto(message).walk() if op.name == "stablehlo.exponential")
    assert read.properties == {}


LOCATIONS = """
#a = loc("f.py":1:2 to 3:4)
#b = loc(callsite("g"("g.py":7:1) at #a))
module attributes {here = loc("n"(#a))} {
  func.func @f(%x: tensor<2xf32> loc("argument"(#a))) {
    %0 = stablehlo.negate %x : tensor<2xf32> loc(fused<"why">[#b, "h.py":9:9, unknown])
    return loc(unknown)
  } loc(#b)
} loc("m.py":1:1)
"""


def test_locations_of_every_kind() -> None:
    assert_round_trip(parse_module(LOCATIONS))


def test_blocks_successors_and_values_that_are_used_before_they_are_defined() -> None:
    text = """
    "func.func"() <{sym_name = "f", function_type = (i1) -> ()}> ({
    ^start(%c: i1):
      "cf.br"(%later)[^second] : (i32) -> ()
    ^second(%a: i32):
      %later = "my.op"() : () -> i32
      "cf.br"(%a, %c)[^start, ^third] : (i32, i1) -> ()
    ^third:
      "my.end"() : () -> ()
    }) : () -> ()
    """
    context = make_context()
    context.allow_unregistered = True
    message = assert_round_trip(parse_module(text, context=context), context)
    assert [list(operation.successors) for operation in message.operations if operation.successors] == [[1], [0, 2]]
    with pytest.raises(IrProtoError, match=r"SW0854.*'cf.br'"):
        module_from_proto(message)


def test_names_with_two_numbers_stay() -> None:
    module = parse_module("func.func @f(%x_1_2: tensor<f32>) { %y = stablehlo.negate %x_1_2 : tensor<f32> return }")
    assert_round_trip(module)


def test_unregistered_attributes_need_a_context() -> None:
    context = make_context()
    context.allow_unregistered = True
    module = parse_module("module attributes {a = #my.thing<3>, b = !my.type} {}", context=context)
    message = assert_round_trip(module, context)
    with pytest.raises(IrProtoError, match=r"SW0855.*'my.thing'"):
        module_from_proto(message)


def test_dialects_of_others_come_with_a_context() -> None:
    context = Context()
    context.load_dialect(builtin.Builtin)
    context.load_op(foreign.TestOp)
    inner = foreign.TestOp(result_types=[builtin.i32])
    module = ModuleOp(
        [foreign.TestOp(regions=[Region([Block([inner]), Block([foreign.TestOp([inner.res[0]])])]), Region()])]
    )
    assert_same(module, module_from_proto(module_to_proto(module, context), context))


def nested(depth: int) -> ModuleOp:
    """Modules in modules."""
    module = ModuleOp([])
    for _ in range(depth):
        module = ModuleOp([module])
    return module


def test_regions_are_as_deep_as_they_like() -> None:
    assert_round_trip(nested(60))
    message = module_to_proto(nested(5000))
    assert module_to_proto(module_from_proto(ir_pb2.Module.FromString(message.SerializeToString()))) == message


def test_equal_attributes_are_written_once() -> None:
    values = [literals.dense(tensor((512,), builtin.f32), bytes(range(256)) * 8) for _ in range(3)]
    assert values[0].data.data is not values[1].data.data
    message = assert_round_trip(with_attributes(a=values[0], b=values[1], c=ArrayAttr([*values, UnitAttr()])))
    assert [len(blob.data) for blob in message.blobs] == [2048]


def test_large_data_that_differ_in_one_byte_stay_apart() -> None:
    data = bytearray(range(256)) * 400
    first = BytesAttr(bytes(data))
    data[70001] ^= 1
    message = assert_round_trip(with_attributes(a=first, b=BytesAttr(bytes(data)), c=BytesAttr(bytes(first.data))))
    assert [len(blob.data) for blob in message.blobs] == [102400, 102400]


def test_large_data_are_cut_and_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shardwright.serialization.ir.writing.LARGEST_BLOB", 3000)
    array = DenseArrayBase(builtin.i8, BytesAttr(bytes(range(250)) * 40))
    message = assert_round_trip(with_attributes(a=array, b=StringAttr("漢" * 2000)))
    assert [len(blob.data) for blob in message.blobs] == [3000, 3000, 3000, 1000, 3000, 3000]


def test_the_same_module_gives_the_same_message() -> None:
    texts = [path.read_text() for path in sorted((LIT / "pipeline").rglob("*.mlir"))[:3]]
    for text in texts:
        assert module_to_proto(parse_module(text)) == module_to_proto(parse_module(text))


def test_what_cannot_be_written() -> None:
    inner = foreign.TestOp(result_types=[builtin.i32])
    with pytest.raises(IrProtoError, match=r"SW0857.*uses a value"):
        module_to_proto(ModuleOp([foreign.TestOp([inner.res[0]])]))
    elsewhere = Block()
    jump = foreign.TestOp()
    jump.successors = [elsewhere]
    with pytest.raises(IrProtoError, match=r"SW0857.*block of another region"):
        module_to_proto(ModuleOp([jump]))
    with pytest.raises(IrProtoError, match=r"SW0857.*no Unicode"):
        module_to_proto(with_attributes(**{"\udc80": UnitAttr()}))


def test_text_that_says_too_little_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    other = parse_module('dtensor.mesh @m = <["y"=2]>').body.block.first_op
    monkeypatch.setattr("shardwright.serialization.ir.writing.text_of", lambda _: '#dtensor.mesh<["x"=2]>')
    module = ModuleOp([cast(Operation, other).clone()])
    with pytest.raises(IrProtoError, match=r"SW0857.*says less than it holds"):
        module_to_proto(module)


def edited(edit: Callable[[ir_pb2.Module], object]) -> ir_pb2.Module:
    """The message of a small module, changed."""
    text = "func.func @f(%x: tensor<2xf32>) { %y = stablehlo.negate %x : tensor<2xf32> return }"
    message = module_to_proto(parse_module(text))
    edit(message)
    return message


def place_of(message: ir_pb2.Module, kind: str) -> int:
    """The first attribute of a kind."""
    return [message.names[attribute.kind] for attribute in message.attributes].index(kind)


def attribute_of(message: ir_pb2.Module, kind: str) -> ir_pb2.Attribute:
    """The first attribute of a kind."""
    return message.attributes[place_of(message, kind)]


def chain(message: ir_pb2.Module, count: int, kind: str, copies: int) -> None:
    """Attributes that each consist of so many of the one before."""
    message.names.append(kind)
    for _ in range(count):
        last = len(message.attributes) - 1
        message.attributes.add(kind=len(message.names) - 1, parts=[last] * copies)


def share(message: ir_pb2.Module, depth: int) -> None:
    """Many operations with the same dictionary, which holds one large array."""
    chain(message, depth, "#array", 2)
    place, name = len(message.attributes), attribute_of(message, "#dictionary").kind
    message.attributes.add(kind=name, keys=[1], parts=[place - 1])
    message.operations[1].regions[0].blocks[0].operations += 1000
    for _ in range(1000):
        message.operations.add().CopyFrom(message.operations[2])
        message.operations[-1].attributes = place


def large_part(message: ir_pb2.Module) -> None:
    """A type with a part that takes long to print."""
    chain(message, 12, "#array", 2)
    tensor_type = attribute_of(message, "!tensor")
    message.attributes.add(kind=tensor_type.kind, parts=[len(message.attributes) - 1, *tensor_type.parts[1:]])


HOSTILE: dict[str, tuple[str, Callable[[ir_pb2.Module], object]]] = {
    "newer version": ("SW0850", lambda message: setattr(message, "version", 2)),
    "no version": ("SW0850", lambda message: message.ClearField("version")),
    "location out of range": ("SW0851", lambda message: setattr(message.operations[2], "location", 10**6)),
    "location that is a type": (
        "SW0851",
        lambda message: setattr(message.operations[2], "location", place_of(message, "!tensor")),
    ),
    "type that is a location": (
        "SW0851",
        lambda message: message.operations[2].result_types.__setitem__(0, place_of(message, "#file_line_loc")),
    ),
    "name out of range": ("SW0851", lambda message: setattr(message.operations[2], "name", 10**6)),
    "value out of range": ("SW0851", lambda message: message.operations[2].operands.__setitem__(0, 4_000_000_000)),
    "block out of range": ("SW0851", lambda message: message.operations[2].successors.append(1)),
    "block of the module": ("SW0851", lambda message: message.operations[0].successors.append(0)),
    "properties that are none": ("SW0851", lambda message: setattr(message.operations[1], "properties", 0)),
    "name of a value that is none": (
        "SW0851",
        lambda message: message.operations[2].result_names.__setitem__(0, attribute_of(message, "!tensor").kind),
    ),
    "kind out of range": ("SW0851", lambda message: setattr(message.attributes[0], "kind", 10**6)),
    "attribute of itself": (
        "SW0852",
        lambda message: message.attributes[place_of(message, "!tensor")].parts.append(place_of(message, "!tensor")),
    ),
    "attribute of a later one": ("SW0852", lambda message: message.attributes[0].parts.append(10**6)),
    "too many operations": ("SW0853", lambda message: message.operations.add().CopyFrom(message.operations[2])),
    "too few operations": ("SW0853", lambda message: message.operations.pop()),
    "no operations": ("SW0853", lambda message: message.ClearField("operations")),
    "huge block": (
        "SW0853",
        lambda message: setattr(message.operations[1].regions[0].blocks[0], "operations", 4_000_000_000),
    ),
    "argument without a location": (
        "SW0853",
        lambda message: message.operations[1].regions[0].blocks[0].ClearField("argument_locations"),
    ),
    "too many names": ("SW0853", lambda message: message.operations[2].result_names.extend([0, 0])),
    "root without a block": ("SW0853", lambda message: message.operations.__delitem__(slice(1, None))),
    "unknown operation": ("SW0854", lambda message: message.names.__setitem__(message.operations[2].name, "my.op")),
    "operation without a name": ("SW0854", lambda message: setattr(message.operations[2], "name", 0)),
    "unknown attribute": (
        "SW0855",
        lambda message: message.names.__setitem__(attribute_of(message, "!tensor").kind, "!my.tensor"),
    ),
    "attribute without a sign": (
        "SW0855",
        lambda message: message.names.__setitem__(attribute_of(message, "!tensor").kind, "tensor"),
    ),
    "type without parameters": ("SW0856", lambda message: attribute_of(message, "!tensor").ClearField("parts")),
    "type of the wrong parameters": (
        "SW0856",
        lambda message: attribute_of(message, "!tensor").parts.__setitem__(0, place_of(message, "#none")),
    ),
    "location of the wrong parts": (
        "SW0856",
        lambda message: attribute_of(message, "#file_line_loc").parts.__setitem__(0, 1),
    ),
    "text that is no text": ("SW0856", lambda message: setattr(attribute_of(message, "#string"), "data", b"\xff")),
    "integer without a value": ("SW0856", lambda message: attribute_of(message, "#builtin.int").ClearField("value")),
    "array with a value": ("SW0856", lambda message: setattr(attribute_of(message, "#array"), "integer", 3)),
    "string with parts": ("SW0856", lambda message: attribute_of(message, "#dictionary").keys.pop()),
    "deep": ("SW0858", lambda message: chain(message, 2000, "#array", 1)),
    "exponential": ("SW0858", lambda message: chain(message, 60, "#array", 2)),
    "exponential types": ("SW0858", lambda message: chain(message, 60, "#array", 50)),
    "many operations that share an attribute": ("SW0858", lambda message: share(message, 14)),
    "large part": ("SW0856", lambda message: large_part(message)),
    "blob of nobody": ("SW0859", lambda message: message.blobs.add(data=b"x")),
    "blob that is not there": ("SW0859", lambda message: attribute_of(message, "#string").blobs.append(0)),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_messages_are_refused_by_name(case: str) -> None:
    code, edit = HOSTILE[case]
    message = edited(edit)
    with pytest.raises(IrProtoError, match=code):
        module_from_proto(message)


def test_a_module_that_does_not_verify() -> None:
    message = edited(lambda message: message.operations[2].ClearField("operands"))
    module_from_proto(message)
    with pytest.raises(ShardwrightError, match="SW0302"):
        module_from_proto(message, verify=True)
    with pytest.raises(IrProtoError, match=r"SW0860.*recursion"):
        module_from_proto(module_to_proto(nested(2000)), verify=True)


def test_the_names_of_kinds_never_change() -> None:
    """They are in files."""
    expected = {
        "#string",
        "#array",
        "#dense_array",
        "#bytes",
        "#dictionary",
        "!tensor",
        "#file_line_loc",
        "#builtin.int",
    }
    assert expected <= set(ir_kinds.BUILTIN)
    assert len(set(ir_kinds.BUILTIN.values())) == len(ir_kinds.BUILTIN)
