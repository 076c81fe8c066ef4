"""Messages with fields of every kind, in proto2 and proto3, and random ones of them."""

from __future__ import annotations

from random import Random
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor as F
from google.protobuf.message import Message

SCALARS = "double float int64 uint64 int32 fixed64 fixed32 bool string bytes uint32 sfixed32 sfixed64 sint32 sint64"
KEYS = "int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string".split()
TYPES = {name: getattr(F, f"TYPE_{name.upper()}") for name in SCALARS.split()}
VALUES = ["string", "Every", "bytes", "double", "Colour"]
PROTO = descriptor_pb2.FieldDescriptorProto


class _Type:
    """One message type being described."""

    def __init__(self, file: Any, name: str) -> None:
        self.proto, self.package, self.number = file.message_type.add(name=name), file.package, 0

    def add(self, name: str, kind: str, label: int = PROTO.LABEL_OPTIONAL, number: int = 0, **more: Any) -> Any:
        """A field; a large gap now and then gives tags of more than one byte."""
        self.number = number or self.number + (1 if self.number % 7 else 20)
        field = self.proto.field.add(name=name, number=self.number, label=label, **more)
        describe(field, self.package, kind)
        return field

    def map(self, name: str, key: str, value: str) -> None:
        """A map field with its entry type."""
        entry = self.proto.nested_type.add(name="".join(map(str.capitalize, name.split("_"))) + "Entry")
        entry.options.map_entry = True
        for number, (part, kind) in enumerate((("key", key), ("value", value)), 1):
            describe(entry.field.add(name=part, number=number, label=PROTO.LABEL_OPTIONAL), self.package, kind)
        field = self.add(name, "Every", PROTO.LABEL_REPEATED)
        field.type_name = f".{self.package}.{self.proto.name}.{entry.name}"


def describe(field: Any, package: str, kind: str) -> None:
    """A field's type: a scalar, an enum or a message."""
    if kind in TYPES:
        field.type = TYPES[kind]
    else:
        field.type = F.TYPE_ENUM if kind in ("Colour", "Closed") else F.TYPE_MESSAGE
        field.type_name = f".{package}.{kind}"


def _every(file: Any) -> None:
    """proto3: scalars, optional scalars, lists packed and not, a oneof, maps of every key and value, itself."""
    kind = _Type(file, "Every")
    for name in [*TYPES, "Colour", "Every"]:
        kind.add(f"one_{name.lower()}", name)
        kind.add(f"many_{name.lower()}", name, PROTO.LABEL_REPEATED)
        if name not in ("string", "bytes", "Every"):
            kind.add(f"loose_{name.lower()}", name, PROTO.LABEL_REPEATED).options.packed = False
    for name in ["int32", "string", "bytes", "Every"]:
        kind.add(f"choice_{name.lower()}", name, oneof_index=0)
    kind.proto.oneof_decl.add(name="choice")
    for number, key in enumerate(KEYS):
        for value in dict.fromkeys((VALUES[number % len(VALUES)], "Every")):
            kind.map(f"map_{key}_{value.lower()}", key, value)
    for name in TYPES:
        kind.add(f"maybe_{name}", name, proto3_optional=True, oneof_index=len(kind.proto.oneof_decl))
        kind.proto.oneof_decl.add(name=f"_maybe_{name}")


def _old(file: Any) -> None:
    """proto2: required fields, defaults, groups, extensions of every label, a message set."""
    kind = _Type(file, "Old")
    kind.add("must_int", "int32", PROTO.LABEL_REQUIRED)
    kind.add("must_bytes", "bytes", PROTO.LABEL_REQUIRED)
    kind.add("with_default", "string", default_value="default")
    kind.add("closed", "Closed", PROTO.LABEL_REPEATED)
    kind.add("packed", "sint64", PROTO.LABEL_REPEATED).options.packed = True
    kind.add("old", "Old", PROTO.LABEL_REPEATED)
    kind.add("one_old", "Old")
    kind.add("any_set", "Set")
    kind.map("map_string_old", "string", "Old")
    for name, label in (("One", PROTO.LABEL_OPTIONAL), ("Many", PROTO.LABEL_REPEATED)):
        group = kind.proto.nested_type.add(name=f"Group{name}")
        for number, part in enumerate(("bytes", "Old"), 1):
            describe(group.field.add(name=part.lower(), number=number, label=label), file.package, part)
        field = kind.add(f"group{name.lower()}", "Old", label)
        field.type, field.type_name = F.TYPE_GROUP, f".{file.package}.Old.Group{name}"
    kind.proto.extension_range.add(start=1000, end=5000)
    for number, (part, label) in enumerate(
        [("Old", 1), ("Old", 3), ("bytes", 1), ("string", 3), ("sint32", 3), ("double", 1)], 1001
    ):
        extension = file.extension.add(name=f"ext{number}", number=number, label=label, extendee=f".{file.package}.Old")
        describe(extension, file.package, part)
    members = file.message_type.add(name="Set")
    members.options.message_set_wire_format = True
    members.extension_range.add(start=4, end=2147483647)
    member = file.extension.add(name="member", number=70000, label=1, extendee=f".{file.package}.Set")
    describe(member, file.package, "Old")


POOL: Any = descriptor_pool.DescriptorPool()


def _build() -> dict[str, type[Message]]:
    """The message classes by name."""
    new = descriptor_pb2.FileDescriptorProto(name="every_field_new.proto", package="every_field", syntax="proto3")
    colour = new.enum_type.add(name="Colour")
    for name, number in (("NONE", 0), ("RED", 1), ("BLUE", 300), ("BELOW", -5)):
        colour.value.add(name=name, number=number)
    _every(new)
    old = descriptor_pb2.FileDescriptorProto(name="every_field_old.proto", package="every_field.old", syntax="proto2")
    closed = old.enum_type.add(name="Closed")
    for name, number in (("SEVEN", 7), ("MINUS", -7)):
        closed.value.add(name=name, number=number)
    _old(old)
    for file in (new, old):
        POOL.AddSerializedFile(file.SerializeToString())
    types = ("every_field.Every", "every_field.old.Old", "every_field.old.Set")
    return {name.split(".")[-1]: message_factory.GetMessageClass(POOL.FindMessageTypeByName(name)) for name in types}


CLASSES = _build()
Every: Any = CLASSES["Every"]
Old: Any = CLASSES["Old"]
EXTENSIONS = [POOL.FindExtensionByName(f"every_field.old.ext{number}") for number in range(1001, 1007)]
MEMBER = POOL.FindExtensionByName("every_field.old.member")

BITS = {"int32": 32, "sint32": 32, "sfixed32": 32, "int64": 64, "sint64": 64, "sfixed64": 64}
UNSIGNED = {"uint32": 32, "fixed32": 32, "uint64": 64, "fixed64": 64}
NAMES = {number: name for name, number in TYPES.items()}


def random_scalar(random: Random, field: Any, length: int) -> Any:
    """A value of a scalar field; strings and bytes of up to `length`."""
    kind = NAMES.get(field.type)
    if kind in BITS:
        return random.choice((1, -1)) * (random.getrandbits(random.randrange(BITS[kind])) or 1) + random.choice(
            (0, 0, -1)
        )
    if kind in UNSIGNED:
        return random.getrandbits(random.randrange(1, UNSIGNED[kind] + 1))
    if kind == "bool":
        return random.random() < 0.5
    if kind == "bytes":
        return random.randbytes(random.randrange(length + 1))
    if kind == "string":
        return "".join(random.choices("abc é€\U0001f600\n", k=random.randrange(length + 1)))
    if kind in ("double", "float"):
        return random.choice((0.0, -0.0, 1.5, float("inf"), random.randrange(-9, 9) / 4))
    return random.choice([value.number for value in field.enum_type.values])


def fill(random: Random, message: Any, budget: int, length: int = 12, density: float = 0.1) -> int:
    """Set random fields of a message, about `budget` in all at any depth; returns what is left of it."""
    fields = list(message.DESCRIPTOR.fields)
    if message.DESCRIPTOR.name == "Old":
        fields += EXTENSIONS
    if message.DESCRIPTOR.name == "Set":
        fields = [MEMBER]
    random.shuffle(fields)
    for field in sorted(fields, key=lambda each: not each.is_required):
        if field.is_required or (budget > 0 and random.random() < density):
            budget = fill_field(random, message, field, budget, length, density)
    if random.random() < 0.2:
        add_unknown(random, message, length)
    return budget


def fill_field(random: Random, message: Any, field: Any, budget: int, length: int, density: float) -> int:
    """Set one field: a few elements of a list or map."""
    count = random.choice((1, 1, 2, 5, 20)) if field.is_repeated else 1
    for _ in range(count):
        if budget <= 0 and not field.is_required:
            break
        budget -= 1
        budget = fill_one(random, message, field, budget, length, density)
    return budget


def fill_one(random: Random, message: Any, field: Any, budget: int, length: int, density: float) -> int:
    container = message.Extensions if field.is_extension else None
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        key, value = kind.fields_by_number[1], kind.fields_by_number[2]
        place = getattr(message, field.name)
        name = random_scalar(random, key, 5)
        if value.message_type is not None:
            return fill(random, place[name], budget // 2, length, density) + budget - budget // 2
        place[name] = random_scalar(random, value, length)
        return budget
    target = container[field] if container is not None and (kind or field.is_repeated) else None
    target = getattr(message, field.name) if container is None and (kind or field.is_repeated) else target
    if kind is None:
        value = random_scalar(random, field, length)
        if field.is_repeated:
            target.append(value)
        elif container is not None:
            container[field] = value
        else:
            setattr(message, field.name, value)
        return budget
    child = target.add() if field.is_repeated else target
    child.SetInParent()
    return fill(random, child, budget // 2, length, density) + budget - budget // 2


def add_unknown(random: Random, message: Any, length: int) -> None:
    """Fields that the message's type does not have."""
    if message.DESCRIPTOR.name == "Set":
        return
    raw = b"\xf8\xff\x03" + bytes((random.randrange(128),))  # field 8191, varint
    raw += b"\xfa\xff\x03" + bytes((min(length, 100),)) + random.randbytes(min(length, 100))
    raw += b"\xfd\xff\x03" + random.randbytes(4) + b"\xf9\xff\x03" + random.randbytes(8)
    raw += b"\xfb\xff\x03" + b"\x08\x05" + b"\xfc\xff\x03"
    message.MergeFromString(raw)


def random_message(seed: int, budget: int = 60, length: int = 12) -> Any:
    """A random message, of proto3 or proto2 by turns."""
    random = Random(seed)
    message = (Every, Old)[seed % 2]()
    fill(random, message, budget, length, density=random.choice((0.05, 0.2, 0.6)))
    return message
