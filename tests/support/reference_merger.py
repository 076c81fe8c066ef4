"""
A tiny merger, written from the RFC's text alone (Chunked Proto Specification), to judge the splitter by.

A chunk is merged into the message; then each field in order: along its tags to the message or field that they name,
lists and maps growing on the way, where its own chunked message is merged in the same way.
"""

from typing import Any


def merge(chunks: Any, chunked: Any, message: Any) -> Any:
    """The message that chunks (messages, or bytes) become."""
    if chunked.HasField("chunk_index"):
        message.MergeFromString(raw(chunks[chunked.chunk_index]))
    for field in chunked.chunked_fields:
        put(chunks, field.message, message, list(field.field_tag))
    return message


def put(chunks: Any, chunked: Any, message: Any, tags: list[Any]) -> None:
    """Merge what belongs to a place."""
    if not tags:
        merge(chunks, chunked, message)
        return
    number = tags.pop(0).field
    kind = message.DESCRIPTOR
    field = kind.fields_by_number.get(number) or kind.file.pool.FindExtensionByNumber(kind, number)
    value = message.Extensions if field.is_extension else None
    if not field.is_repeated and field.message_type is None:
        assert not tags
        assert not chunked.chunked_fields
        data = raw(chunks[chunked.chunk_index])
        content = data.decode() if field.type == field.TYPE_STRING else data
        if value is not None:
            value[field] = content
        else:
            setattr(message, field.name, content)
        return
    inner = value[field] if value is not None else getattr(message, field.name)
    if field.is_repeated:
        tag = tags.pop(0)
        if tag.WhichOneof("kind") == "map_key":
            inner = inner[getattr(tag.map_key, tag.map_key.WhichOneof("type"))]
        else:
            assert tag.index <= len(inner)
            inner = inner.add() if tag.index == len(inner) else inner[tag.index]
    inner.SetInParent()
    put(chunks, chunked, inner, tags)


def raw(chunk: Any) -> bytes:
    """A chunk's bytes."""
    return chunk if isinstance(chunk, bytes) else chunk.SerializePartialToString()


def tensorflow_order(chunked: Any) -> None:
    """Check what TensorFlow's merger needs: fields in the order in which it takes them, and no fields below a run."""
    keys = [order(field) for field in chunked.chunked_fields]
    assert keys == sorted(keys), keys
    for field in chunked.chunked_fields:
        assert field.message.HasField("chunk_index")
        assert field.field_tag or not field.message.chunked_fields
        tensorflow_order(field.message)
    values = [[str(tag) for tag in field.field_tag] for field in chunked.chunked_fields]
    ways = ["".join(way).partition("}")[0] for way in values if "map_key" in "".join(way)]
    assert len(set(ways)) == len(ways)


def shuffled(random: Any, chunked: Any) -> Any:
    """The same as TensorFlow's merger might sort it: fields that it takes for equal are in any order."""
    copy = type(chunked)()
    copy.CopyFrom(chunked)
    fields = list(copy.chunked_fields)
    random.shuffle(fields)
    fields.sort(key=order)
    inner = [(list(field.field_tag), shuffled(random, field.message)) for field in fields]
    del copy.chunked_fields[:]
    for tags, message in inner:
        copy.chunked_fields.add(field_tag=tags, message=message)
    return copy


def order(field: Any) -> Any:
    """Where TensorFlow's merger takes a field: by numbers and indices up to a map's key, then by chunk."""
    key = []
    for tag in field.field_tag:
        if tag.WhichOneof("kind") == "map_key":
            return (key, 0)
        key.append(tag.field or tag.index)
    return (key, field.message.chunk_index)
