"""
Small programs, and every even layout of their arguments and results on a 2x2 mesh: what tests of layouts share.

Test modules reach it through `pyproject.toml`, which puts this folder on the path.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A program's arguments and results as `4x8xf32`, its ops, and the same in NumPy."""

    arguments: tuple[str, ...]
    results: tuple[str, ...]
    body: str
    numpy: Callable[..., Any]

    def text(self, layouts: tuple[str, ...]) -> str:
        """The program with a layout for each argument, then each result."""
        types = [f"tensor<{name}>" for name in (*self.arguments, *self.results)]
        marked = [
            f"{type_} {{sdy.sharding = #sdy.sharding<@mesh, {layout}>}}"
            for type_, layout in zip(types, layouts, strict=True)
        ]
        count = len(self.arguments)
        arguments = ", ".join(f"%{name}: {text}" for name, text in zip("abc", marked[:count], strict=False))
        return (
            'module {\n  sdy.mesh @mesh = <["x"=2, "y"=2]>\n'
            f"  func.func public @main({arguments}) -> ({', '.join(marked[count:])}) {{\n"
            f"{self.body}\n    return {', '.join(f'%r{i}' for i in range(len(self.results)))}"
            f" : {', '.join(types[count:])}\n  }}\n}}\n"
        )


def shape_and_dtype(text: str) -> tuple[Shape, str]:
    """`4x8xf32` as data."""
    *sizes, element = text.split("x")
    return tuple(map(int, sizes)), {"f32": "float32", "i32": "int32"}[element]


def even_layouts(shape: Shape) -> list[str]:
    """Every layout over axes x and y that splits `shape` evenly, both orders of axes in a dim included."""
    places = [None, *range(len(shape))]
    found: list[str] = []
    for x, y in itertools.product(places, places):
        for order in ("xy", "yx") if x == y and x is not None else ("xy",):
            dims = [[axis for axis in order if {"x": x, "y": y}[axis] == dim] for dim in range(len(shape))]
            if all(size % 2 ** len(axes) == 0 for size, axes in zip(shape, dims, strict=True)):
                found.append("[" + ", ".join("{" + ", ".join(f'"{a}"' for a in axes) + "}" for axes in dims) + "]")
    return found


def combinations(case: Case) -> list[tuple[str, ...]]:
    """All layouts of all arguments and results."""
    return list(itertools.product(*(even_layouts(shape_and_dtype(t)[0]) for t in (*case.arguments, *case.results))))
