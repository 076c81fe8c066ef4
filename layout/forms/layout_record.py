"""Layouts as TensorFlow's DTensor writes them: the text `sharding_specs:x,unsharded, mesh:...`, and `LayoutProto`."""

from __future__ import annotations

from dataclasses import dataclass

from shardwright.layout.forms.mesh_record import (
    MeshRecord,
    content_of,
    form_error,
    mesh_message,
    record_of_message,
    record_of_text,
    text_of,
)
from shardwright.layout.forms.wire import bytes_field, messages, read_fields, texts

_SPECS, _MESH = "sharding_specs:", "mesh:"


@dataclass(frozen=True)
class LayoutRecord:
    """What TensorFlow's forms say of a layout: an axis or `unsharded` for each dim, and the mesh."""

    specs: tuple[str, ...]
    mesh: MeshRecord


def is_record_text(text: str) -> bool:
    """Whether `text` is written as TensorFlow's DTensor does."""
    return text.lstrip().startswith(_SPECS)


def layout_text(record: LayoutRecord) -> str:
    """The text form."""
    return f"{_SPECS}{''.join(f'{spec},' for spec in record.specs)} {_MESH}{text_of(record.mesh)}"


def record_of_layout_text(text: str) -> LayoutRecord:
    """
    Reads the text form, also without the comma behind the last dim; `ValueError` (SW0117) for other text.

    >>> record_of_layout_text("sharding_specs:x,unsharded, mesh:|x=2|*CPU").specs
    ('x', 'unsharded')
    """
    specs, found, mesh = text.strip().removeprefix(_SPECS).partition(_MESH)
    if not found:
        raise form_error(f"{text!r} is no layout: it has no mesh:")
    entries = [item.strip() for item in specs.split(",")]
    if not entries[-1]:
        entries.pop()
    return LayoutRecord(_split_dims(entries), record_of_text(mesh))


def layout_message(record: LayoutRecord) -> bytes:
    """The bytes of a `LayoutProto`."""
    specs = [bytes_field(1, bytes_field(2, spec)) for spec in record.specs]
    return b"".join([*specs, bytes_field(2, mesh_message(record.mesh))])


def record_of_layout_message(message: object) -> LayoutRecord:
    """Reads a `LayoutProto`; `ValueError` (SW0117) for what is none."""
    try:
        fields = read_fields(content_of(message))
        specs = ["".join(texts(read_fields(spec), 2)[-1:]) for spec in messages(fields, 1)]
        meshes = messages(fields, 2)
    except ValueError as error:
        raise form_error(f"this is no LayoutProto: {error}") from None
    if not meshes:
        raise form_error("this LayoutProto has no mesh")
    return LayoutRecord(_split_dims(specs), record_of_message(meshes[-1]))


def _split_dims(entries: list[str]) -> tuple[str, ...]:
    """The entries of the dims: TensorFlow writes a scalar's as the one entry `scalar`."""
    return () if entries == ["scalar"] else tuple(entries)
