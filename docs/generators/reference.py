"""The reference of the API: a page for each namespace, made of what Python knows of its names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import shardwright

PLACES = {
    "Meshes, layouts, tensors": ("layout", "compiler.tracing.array"),
    "Functions, gradients, control flow": ("frontends.functions",),
    "Arrays": ("frontends.arrays", "compiler"),
    "Training and data": ("frontends.training",),
    "Saving": ("saving", "frontends.tensorflow"),
    "JAX, workers, GPUs": ("frontends.jax", "engines"),
    "Views": ("views",),
    "Mistakes": ("diagnostics",),
}
"""Headings of the first page, and the modules whose names stand below each."""

LONGEST = 80
"""Characters of a signature on one line."""

_PROMPT = re.compile(r"(?m)^>>> ")
_OBJECT_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def reference() -> dict[str, str]:
    """
    The pages by their names.

    >>> sorted(reference())[:3]
    ['distribute', 'dtensor', 'fft']
    """
    modules = {name: value for name, value in _named(shardwright) if inspect.ismodule(value)}
    pages = {name: _page(f"shardwright.{name}", module) for name, module in modules.items()}
    return {**pages, "shardwright": _first_page(sorted(modules))}


def _named(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in sorted(module.__all__, key=str.lower):
        yield name, getattr(module, name)


def _first_page(modules: list[str]) -> str:
    callables = [(name, value) for name, value in _named(shardwright) if callable(value)]
    groups = {heading: [item for item in callables if _group(item[1]) == heading] for heading in PLACES}
    links = ", ".join(f"[`shardwright.{name}`]({name}.md)" for name in modules)
    parts = ["# `shardwright`", f"Namespaces: {links}."]
    for heading, items in groups.items():
        parts += [f"## {heading}", *(_entry(name, value, 3) for name, value in items)]
    return "\n\n".join(parts) + "\n"


def _group(value: Any) -> str:
    """The heading whose modules come nearest to that of a value: the longest name counts."""
    home = getattr(value, "__module__", "").removeprefix("shardwright.")
    fitting = [
        (len(place), heading) for heading, places in PLACES.items() for place in places if home.startswith(place)
    ]
    return max(fitting, default=(0, "Arrays"))[1]


def _page(path: str, module: ModuleType) -> str:
    parts = [f"# `{path}`", _prose(module.__doc__)]
    parts += [_entry(name, value, 2) for name, value in _named(module) if callable(value)]
    return "\n\n".join(parts) + "\n"


def _entry(name: str, value: Any, level: int) -> str:
    parts = [_described(name, value, level)]
    if inspect.isclass(value) and not issubclass(value, BaseException):
        parts += [_described(f".{each}", member, level + 1) for each, member in _members(value)]
    return "\n\n".join(parts)


def _members(value: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class of ours defines, with what each says of itself."""
    for name, member in vars(value).items():
        if not name.startswith("_") and (callable(member) or isinstance(member, property | classmethod | staticmethod)):
            yield name, getattr(member, "__func__", member)


def _described(name: str, value: Any, level: int) -> str:
    """A heading, how it is called, and its docstring."""
    call = "" if isinstance(value, property) else f"```python\n{name}{_signature(value)}\n```"
    return "\n\n".join(filter(None, (f"{'#' * level} `{name}`", call, _prose(inspect.getdoc(value)))))


def _signature(value: Any) -> str:
    """How it is called, as short as a reader needs it: without the modules of types, a long one line by line."""
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(...)"
    text = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z]\w*)", "", text)
    text = _OBJECT_ADDRESS.sub("", text).replace("'", "").replace("(self, ", "(").replace("(self)", "()")
    return text if len(text) <= LONGEST else _unfolded(text)


def _unfolded(signature: str) -> str:
    """
    A signature with a line for each parameter.

    >>> print(_unfolded("(x: tuple[int, ...], *, y: int = 0) -> int"))
    (
        x: tuple[int, ...],
        *,
        y: int = 0,
    ) -> int
    """
    lines, depth = [""], 0
    for character in signature:
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character == ")":
            lines[-1] += ","
            lines.append("")
        lines[-1] += character
        if depth == 1 and character in "(,":
            lines.append("    ")
    return "\n".join("    " + line.strip() if line.startswith("    ") else line for line in lines)


def _prose(text: str | None) -> str:
    """
    A docstring as Markdown: its examples are blocks of code.

    >>> _prose("Adds.\\n\\n>>> 1 + 1\\n2").split("\\n")
    ['Adds.', '', '```pycon', '>>> 1 + 1', '2', '```']
    """
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(f"```pycon\n{each}\n```" if _PROMPT.match(each) else each for each in paragraphs)
