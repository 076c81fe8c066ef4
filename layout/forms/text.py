"""Reading layouts: the IR's form `<@mesh, [{"x"}, {}]>` and the form for people, `f32[16@x, 64]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shardwright.diagnostics import ShardwrightValueError
from shardwright.layout.axes import Axis, unquoted
from shardwright.layout.faults import fault
from shardwright.layout.spec import REDUCTION_KINDS, LayoutSpec

_AXIS = r'"[^"]*"(?::\(\d+\)\d+)?'
_DIM = rf"\{{\s*(?:(?:{_AXIS}|\?)\s*(?:,\s*(?:{_AXIS}|\?)\s*)*)?\}}"
_BODY = re.compile(
    rf"\[\s*(?P<dims>(?:{_DIM}\s*(?:,\s*{_DIM}\s*)*)?)\]"
    rf"(?:\s*,\s*unreduced\s*=\s*(?P<kind>\w+)\s*(?P<partial>{_DIM}))?"
)
_SPEC = re.compile(r'<\s*@(?:(?P<mesh>[\w.$-]+)|"(?P<quoted>[^"]*)")\s*,(?P<body>.*)>')
_AXIS_PARTS = re.compile(r'"(?P<name>[^"]*)"(?::\((?P<pre>\d+)\)(?P<size>\d+))?')
_BRIEF_AXIS = r"[A-Za-z_][\w.$-]*(?::\(\d+\)\d+)?"
_BRIEF_DIM = rf"\d+(?:@{_BRIEF_AXIS})*"
_BRIEF = re.compile(
    rf"(?P<dtype>[A-Za-z]\w*)\[\s*(?P<dims>(?:{_BRIEF_DIM}(?:\s*,\s*{_BRIEF_DIM})*)?)\s*\]"
    rf"(?:\{{(?P<kind>\w+)@(?P<partial>{_BRIEF_AXIS}(?:,{_BRIEF_AXIS})*)\}})?"
)


@dataclass(frozen=True)
class TypeText:
    """A layout with the tensor type around it, as the form for people gives them."""

    dtype: str
    shape: tuple[int, ...]
    spec: LayoutSpec


def read_spec(text: str, mesh: str) -> LayoutSpec:
    """
    Reads what `str(LayoutSpec)` or `LayoutSpec.body()` writes; `mesh` is the symbol to use when the text has none.

    Raises `ValueError` (SW0108) when the text is neither.

    >>> print(read_spec('[{"x", "y":(2)4}, {?}], unreduced=sum{"z"}', "mesh"))
    <@mesh, [{"x", "y":(2)4}, {?}], unreduced=sum{"z"}>
    """
    outer = _SPEC.fullmatch(text.strip())
    named = mesh if outer is None else outer["mesh"] or unquoted(outer["quoted"])
    body = text if outer is None else outer["body"]
    match = _BODY.fullmatch(body.strip())
    if match is None or (match["kind"] or "sum") not in REDUCTION_KINDS:
        raise _bad_text(text)
    dims = re.findall(_DIM, match["dims"])
    open_dims = frozenset(index for index, dim in enumerate(dims) if "?" in dim)
    partial = _axes(match["partial"] or "")
    return LayoutSpec(named, tuple(map(_axes, dims)), open_dims, partial, match["kind"] if partial else "")


def read_type(text: str, mesh: str) -> TypeText:
    """
    Reads what `LayoutSpec.brief` writes.

    Raises `ValueError` (SW0108) when the text is something else.

    >>> read_type("f32[16@batch, 64]", "mesh").shape
    (16, 64)
    """
    match = _BRIEF.fullmatch(text.strip())
    if match is None or (match["kind"] or "sum") not in REDUCTION_KINDS:
        raise _bad_text(text)
    dims = [dim.strip().split("@") for dim in match["dims"].split(",")] if match["dims"] else []
    partial = tuple(_brief_axis(axis) for axis in (match["partial"] or "").split(",") if axis)
    spec = LayoutSpec(
        mesh, tuple(tuple(map(_brief_axis, axes)) for _, *axes in dims), partial=partial, kind=match["kind"] or ""
    )
    return TypeText(match["dtype"], tuple(int(dim[0]) for dim in dims), spec)


def is_type_text(text: str) -> bool:
    """Whether `text` looks like the form for people, which starts with an element type."""
    return text.strip()[:1].isalpha()


def _axes(text: str) -> tuple[Axis, ...]:
    return tuple(_axis(unquoted(match["name"]), match["pre"], match["size"]) for match in _AXIS_PARTS.finditer(text))


def _brief_axis(text: str) -> Axis:
    name, _, part = text.partition(":")
    pre, _, size = part.removeprefix("(").partition(")")
    return _axis(name, pre, size)


def _axis(name: str, pre: str | None, size: str | None) -> Axis:
    return Axis(name, int(pre), int(size)) if pre and size else Axis(name)


def _bad_text(text: str) -> ShardwrightValueError:
    help_text = 'write [{"x"}, {}] as in the IR, or f32[16@x, 64] with the type around it'
    return fault("SW0108", f"{text!r} is no layout", help_text)
