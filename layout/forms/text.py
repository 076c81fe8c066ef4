"""Reading layouts: the IR's form `<@mesh, [{"x"}, {}]>` and the form for people, `f32[16@x, 64]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shardwright.diagnostics import ShardwrightValueError
from shardwright.layout.axes import BRIEF_NAME, Axis, unquoted
from shardwright.layout.faults import fault
from shardwright.layout.spec import AUTO, REDUCTION_KINDS, LayoutSpec

_QUOTED = r'"[^"]*"'
_PART = r"(?::\(\d+\)\d+)?"
_AXIS = _QUOTED + _PART
_DIM = rf"\{{\s*(?:(?:{_AXIS}|\?)\s*(?:,\s*(?:{_AXIS}|\?)\s*)*)?\}}"
_RANKED_DIM = rf"{_DIM}(?:p\d+)?"
_BODY = re.compile(
    rf"\[\s*(?P<dims>(?:{_RANKED_DIM}\s*(?:,\s*{_RANKED_DIM}\s*)*)?)\]"
    rf"(?:\s*,\s*unreduced\s*=\s*(?P<kind>\w+)\s*(?P<partial>{_DIM}))?"
    rf"(?:\s*,\s*replicated\s*=\s*(?P<withheld>{_DIM}))?"
)
_SPEC = re.compile(r'<\s*@(?:(?P<mesh>[\w.$-]+)|"(?P<quoted>[^"]*)")\s*,(?P<body>.*)>')
_AXIS_PARTS = re.compile(r'"(?P<name>[^"]*)"(?::\((?P<pre>\d+)\)(?P<size>\d+))?')
_BRIEF_AXIS = rf"(?:{_QUOTED}|{BRIEF_NAME.pattern}){_PART}"
_BRIEF_PARTS = re.compile(rf'(?:"(?P<quoted>[^"]*)"|(?P<name>{BRIEF_NAME.pattern}))(?::\((?P<pre>\d+)\)(?P<size>\d+))?')
_BRIEF_DIM = rf"(?:\d+|None)(?:@{_BRIEF_AXIS})*(?:@\?)?"
_BRIEF_DIMS = re.compile(rf"(?P<size>\d+|None)(?P<axes>(?:@{_BRIEF_AXIS})*)(?P<open>@\?)?")
_BRIEF = re.compile(
    rf"(?P<dtype>[A-Za-z]\w*(?:<\w+>)?)\[\s*(?P<dims>(?:{_BRIEF_DIM}(?:\s*,\s*{_BRIEF_DIM})*)?)\s*\]"
    rf"(?:\{{(?:(?P<auto>auto)|(?P<kind>\w+)@(?P<partial>{_BRIEF_AXIS}(?:,{_BRIEF_AXIS})*))\}})?"
)


@dataclass(frozen=True)
class TypeText:
    """
    A layout with the tensor type around it, as the form for people gives them.

    None is a dim of any size; an `auto` layout is one that is to be chosen.
    """

    dtype: str
    shape: tuple[int | None, ...]
    spec: LayoutSpec
    auto: bool


def read_spec(text: str, mesh: str) -> LayoutSpec:
    """
    Reads what `str(LayoutSpec)` or `LayoutSpec.body()` writes; `mesh` is the symbol to use when the text has none.

    Raises `ValueError` (SW0108) when the text is neither.

    >>> print(read_spec('[{"x", "y":(2)4}, {?}], unreduced=sum{"z"}', "mesh"))
    <@mesh, [{"x", "y":(2)4}, {?}], unreduced=sum{"z"}>
    """
    named, body = _without_mesh(text, mesh)
    match = _BODY.fullmatch(body)
    if match is None or (match["kind"] or "sum") not in REDUCTION_KINDS:
        raise _bad_text(text)
    dims = re.findall(_RANKED_DIM, match["dims"])
    open_dims = frozenset(index for index, dim in enumerate(dims) if "?" in _AXIS_PARTS.sub("", dim))
    priorities = tuple(int(dim.rpartition("}p")[2]) if dim[-1] != "}" else 0 for dim in dims)
    partial = _axes(match["partial"] or "")
    return LayoutSpec(
        named,
        tuple(map(_axes, dims)),
        open_dims,
        partial,
        match["kind"] if partial else "",
        _axes(match["withheld"] or ""),
        priorities if any(priorities) else (),
    )


def _without_mesh(text: str, mesh: str) -> tuple[str, str]:
    """The symbol of a text's mesh, `mesh` where it has none, and what follows it."""
    outer = _SPEC.fullmatch(text.strip())
    if outer is None:
        return mesh, text.strip()
    return outer["mesh"] or unquoted(outer["quoted"]), outer["body"].strip()


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
    dims = list(_BRIEF_DIMS.finditer(match["dims"]))
    shape = tuple(None if dim["size"] == "None" else int(dim["size"]) for dim in dims)
    open_dims = frozenset(index for index, dim in enumerate(dims) if dim["open"])
    axes = tuple(_brief_axes(dim["axes"]) for dim in dims)
    spec = LayoutSpec(mesh, axes, open_dims, _brief_axes(match["partial"] or ""), match["kind"] or "")
    if match["auto"] and (any(axes) or open_dims):
        raise _bad_text(text)
    return TypeText(match["dtype"], shape, spec, match["auto"] is not None)


def is_auto_text(text: str) -> bool:
    """
    Whether `text` is what is written of a layout that the compiler is to choose, with or without its mesh.

    >>> is_auto_text("<@mesh, auto>"), is_auto_text("f32[8]")
    (True, False)
    """
    return _without_mesh(text, "")[1] == AUTO


def is_type_text(text: str) -> bool:
    """Whether `text` looks like the form for people, which starts with an element type."""
    return text.strip()[:1].isalpha()


def _axes(text: str) -> tuple[Axis, ...]:
    return tuple(_axis(unquoted(match["name"]), match["pre"], match["size"]) for match in _AXIS_PARTS.finditer(text))


def _brief_axes(text: str) -> tuple[Axis, ...]:
    found = _BRIEF_PARTS.finditer(text)
    return tuple(_axis(each["name"] or unquoted(each["quoted"]), each["pre"], each["size"]) for each in found)


def _axis(name: str, pre: str | None, size: str | None) -> Axis:
    return Axis(name, int(pre), int(size)) if pre and size else Axis(name)


def _bad_text(text: str) -> ShardwrightValueError:
    help_text = 'write [{"x"}, {}] as in the IR, or f32[16@x, 64] with the type around it'
    return fault("SW0108", f"{text!r} is no layout", help_text)
