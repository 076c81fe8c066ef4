"""`LayoutMap`: layouts for variables by patterns of their names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from shardwright.diagnostics import Diagnostic, SourceLocation
from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.layout import Layout, Mesh


@dataclass(frozen=True)
class ResolvedVariable:
    """One variable of a model: its path, what it holds, and the pattern that it meets, if any."""

    path: str
    shape: tuple[int, ...]
    layout: Layout | None
    pattern: str | None
    variable: Any


@dataclass(frozen=True)
class Resolution:
    """The layouts of a model's variables; prints as a table."""

    rows: tuple[ResolvedVariable, ...]

    def __str__(self) -> str:
        texts = [("variable", "shape", "layout", "pattern")]
        texts += [(row.path, str(list(row.shape)), _shown(row.layout), row.pattern or "-") for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in texts]
        return "\n".join(line.rstrip() for line in lines)


class LayoutMap(MutableMapping[str, Layout]):
    """
    Layouts for variables by patterns of their names (RFC: `tf.LayoutMap`).

    Keys are regular expressions, searched anywhere in the name or path of a variable; a name that is itself a key
    meets that key, otherwise the first key that is found counts. Values are layouts, or, with `mesh`, lists of what
    splits the dims. `get` also takes a variable.

    Raises `ValueError` (SW0553) for keys that are no regular expressions and for lists without a mesh.

    >>> import shardwright
    >>> mesh = shardwright.Mesh(batch=4, model=2)
    >>> layouts = shardwright.LayoutMap({"kernel": [None, "model"], "^out": shardwright.Layout(["model"], mesh)}, mesh)
    >>> layouts.get("dense/kernel")
    Layout(['unsharded', 'model'], Mesh(batch=4, model=2))
    >>> layouts.get("dense/bias") is None
    True
    """

    def __init__(self, layouts: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), mesh: Mesh | None = None) -> None:
        self._mesh = mesh
        self._layouts: dict[str, Layout] = {}
        try:
            given = dict(layouts)
        except (TypeError, ValueError) as error:
            shown = type(layouts).__name__
            raise type_error("SW0553", f"a {shown} is no map of layouts: {error}", help="give a dict") from error
        for pattern, layout in given.items():
            self[pattern] = layout

    def __setitem__(self, pattern: str, layout: Any) -> None:
        try:
            re.compile(pattern)
        except (re.error, TypeError) as error:
            raise value_error("SW0553", f"the key {pattern!r} is no regular expression: {error}") from error
        self._layouts[pattern] = self._layout(pattern, layout)

    def __getitem__(self, name: Any) -> Layout:
        found = self.patterns(name)
        if not found:
            raise KeyError(name)
        return self._layouts[found[0]]

    def get(self, name: Any, default: Any = None, /) -> Any:
        """The layout of the first key that a name or a variable meets, else `default`."""
        found = self.patterns(name)
        return self._layouts[found[0]] if found else default

    def __delitem__(self, pattern: str) -> None:
        del self._layouts[pattern]

    def __iter__(self) -> Iterator[str]:
        return iter(self._layouts)

    def __len__(self) -> int:
        return len(self._layouts)

    def __repr__(self) -> str:
        return f"LayoutMap({self._layouts!r})"

    def patterns(self, *names: Any) -> list[str]:
        """
        The keys that any of these names and variables meets; the first one counts.

        >>> import shardwright
        >>> replicated = shardwright.Layout([], shardwright.Mesh(x=2))
        >>> shardwright.LayoutMap({"w": replicated, "out.w": replicated}).patterns("out/w")
        ['w', 'out.w']
        """
        texts = [text for name in names for text in _texts(name)]
        if texts[:1] and texts[0] in self._layouts:
            return texts[:1]
        return [pattern for pattern in self._layouts if any(re.search(pattern, text) for text in texts)]

    def resolve(self, model: Any) -> Resolution:
        """
        The layout of each variable of a model (of ours or of Keras), or of a dict or list of variables, as a table.

        Variables that meet no pattern keep their layout. Warns (SW0553) about patterns that no variable meets, and
        about variables that meet several with different layouts.

        >>> import shardwright
        >>> w = shardwright.Variable(shardwright.ones((8, 4)), name="w")
        >>> print(shardwright.LayoutMap({"w": ["x"]}, shardwright.Mesh(x=2)).resolve([w]))
        variable  shape   layout             pattern
        w         [8, 4]  [{"x"}] Mesh(x=2)  w
        """
        variables = named(model)
        found = [self.patterns(path, variable) for path, variable in variables]
        paths = [path for path, _ in variables]
        for path, patterns in zip(paths, found, strict=True):
            self.warn_several(path, patterns)
        self.warn_unmet({pattern for patterns in found for pattern in patterns}, paths)
        return Resolution(tuple(self._row(*pair, patterns) for pair, patterns in zip(variables, found, strict=True)))

    def apply(self, model: Any) -> Resolution:
        """Moves each variable of a model to the layout of the pattern that it meets, and tells like `resolve`."""
        resolution = self.resolve(model)
        for row in resolution.rows:
            if row.pattern is not None:
                row.variable.set_layout(row.layout)
        return resolution

    def warn_unmet(self, met: set[str], paths: Sequence[str], place: SourceLocation | None = None) -> None:
        """Warns of patterns that none of some variables meets, at `place` or where the caller is."""
        unmet = [pattern for pattern in self._layouts if pattern not in met]
        if unmet and paths:
            few = ", ".join(paths[:8]) + (", ..." if len(paths) > 8 else "")
            _warn(f"no variable meets {', '.join(map(repr, unmet))}", f"there are {few}", place)

    def warn_several(self, path: str, patterns: Sequence[str]) -> None:
        """Warns of a variable that meets patterns with different layouts."""
        if len({self._layouts[pattern] for pattern in patterns}) > 1:
            _warn(f"{path} meets {', '.join(map(repr, patterns))}; the first one counts", "make the others narrower")

    def _row(self, path: str, variable: Any, found: Sequence[str]) -> ResolvedVariable:
        layout = self._layouts[found[0]] if found else getattr(variable, "layout", None)
        return ResolvedVariable(path, tuple(variable.shape), layout, found[0] if found else None, variable)

    def _layout(self, pattern: str, layout: Any) -> Layout:
        if isinstance(layout, Layout):
            return layout
        if self._mesh is None or not isinstance(layout, str | list | tuple):
            raise value_error(
                "SW0553",
                f"the layout of {pattern!r} is {layout!r}",
                help="give a Layout, or a list of what splits the dims and the mesh: LayoutMap({...}, mesh)",
            )
        return Layout(cast("Any", layout), self._mesh)


def named(model: Any) -> list[tuple[str, Any]]:
    """The variables of a module, a Keras model, a dict or a list, with their paths."""
    if hasattr(model, "named_variables"):
        return list(model.named_variables().items())
    if isinstance(model, Mapping):
        return [(str(key), variable) for key, variable in cast("Mapping[Any, Any]", model).items()]
    variables = getattr(model, "variables", model)
    if not isinstance(variables, Iterable):
        raise type_error("SW0507", f"a {type(model).__name__} has no variables", help="give a model or a list of them")
    return [(_name(variable), variable) for variable in cast("Iterable[Any]", variables)]


def _name(variable: Any) -> str:
    """The path or the name of a variable; SW0507 for what has neither, such as an array."""
    texts = _texts(variable)
    if not texts or isinstance(variable, str):
        raise type_error(
            "SW0507",
            f"a {type(variable).__name__} is no variable",
            help="give variables, or a dict of what has no name",
        )
    return texts[0]


def _texts(name: Any) -> list[str]:
    """What patterns are searched in: a name, or the path and the name of a variable."""
    if isinstance(name, str):
        return [name]
    return [text for text in (getattr(name, "path", None), getattr(name, "name", None)) if isinstance(text, str)]


def _shown(layout: Layout | None) -> str:
    return "-" if layout is None else f"{layout.spec.body()} {layout.mesh}"


def _warn(message: str, help: str, place: SourceLocation | None = None) -> None:
    place = place or caller() or SourceLocation("<unknown>", 1, 1)
    diagnostic = Diagnostic("SW0553", message, help=help, severity="warning")
    warnings.warn_explicit(str(diagnostic), UserWarning, place.file, place.line)
