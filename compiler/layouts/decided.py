"""`Layouts`: what propagation decided for a function, for its user to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from shardwright.compiler.report import ValueRow
from shardwright.compiler.stages import Propagated
from shardwright.compiler.tracing.pytree import paths, unflatten
from shardwright.compiler.tracing.reference import Reference
from shardwright.compiler.values import border_layouts
from shardwright.dialects.dtensor import meshes
from shardwright.layout import Layout
from shardwright.passes.program import entry_function


@dataclass(frozen=True)
class Layouts:
    """
    The layouts of a function for some arguments; None where there is no mesh.

    `arguments` and `variables` are by name (`w`, `w (2)` and so on where names repeat), `results` has the form of the
    function's result, and `values` lists everything in between, with what it got its layout from. `rows` has all but
    these in one list, by name.
    """

    arguments: dict[str, Layout | None]
    variables: dict[str, Layout | None]
    results: Any
    values: list[ValueRow]
    rows: list[tuple[str, Layout | None]]

    def __str__(self) -> str:
        return "\n".join(f"{name}: {'on one device' if layout is None else layout}" for name, layout in self.rows)


def layouts_of(propagated: Propagated) -> Layouts:
    """The layouts that a propagated program has."""
    interface, module = propagated.interface, propagated.module
    main = entry_function(module)
    arguments, left = (
        [None if layout is None or not layout.mesh.axis_names else layout for layout in side]
        for side in border_layouts(main, meshes(module))
    )
    count = len(left) - len(interface.updated)
    names = [parameter.name for parameter in interface.parameters]
    captured = zip(interface.captured, arguments[len(names) :], strict=True)
    given = dict(zip(names, arguments, strict=False))
    variables = _by_name((array.name, layout) for array, layout in captured if isinstance(array, Reference))
    results = left[:count]
    named = zip(paths(interface.results, "result"), results, strict=True)
    rows = [*given.items(), *variables.items(), *named]
    return Layouts(given, variables, unflatten(interface.results, results), propagated.layouts, rows)


def _by_name(pairs: Iterable[tuple[str, Layout | None]]) -> dict[str, Layout | None]:
    """
    The layouts by names that are different.

    >>> _by_name([("w", None), ("w", None), ("b", None)])
    {'w': None, 'w (2)': None, 'b': None}
    """
    found: dict[str, Layout | None] = {}
    counts: Counter[str] = Counter()
    for name, layout in pairs:
        counts[name] += 1
        found[name if counts[name] == 1 else f"{name} ({counts[name]})"] = layout
    return found
