"""Arrays distributed in several ways over a 4x2 mesh, and the check of what functions make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh(x=4, y=2)
STYLES = ("first", "last", "both", "together")

EVERYWHERE = pytest.mark.parametrize(
    "styles", [STYLES[2:], pytest.param(STYLES[:2], marks=pytest.mark.slow)], ids=" and ".join
)
"""All styles; by default those that split most."""


def entries(shape: Sequence[int], style: str) -> list[Any]:
    """The axes of each dim: x on the first one that divides, y on the last, both, or both on one dim."""
    found: list[Any] = [None] * len(shape)
    wanted = {"first": ["x"], "last": ["y"], "both": ["x", "y"], "together": [("x", "y")]}[style]
    order = list(range(len(shape)))[:: -1 if style == "last" else 1]
    for axes in wanted:
        parts = 8 if isinstance(axes, tuple) else MESH.sizes[axes]
        dim = next((dim for dim in order if found[dim] is None and shape[dim] and shape[dim] % parts == 0), None)
        if dim is not None:
            found[dim] = axes
    return found


def place(array: np.ndarray[Any, Any], style: str) -> sw.DTensor:
    """The array in the layout that a style means."""
    return sw.relayout(array, sw.Layout(entries(array.shape, style), MESH))


def check(found: Any, expected: Any, tolerance: float = 2e-5) -> None:
    """Same structure, shapes and close values."""
    if isinstance(expected, tuple):
        assert isinstance(found, tuple)
        for one, other in zip(found, expected, strict=True):
            check(one, other, tolerance)
        return
    wanted = np.asarray(expected)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


def check_everywhere(
    function: Callable[..., Any], expected: Any, arrays: Sequence[Any], styles: Sequence[str] = STYLES
) -> None:
    """The function on one device, and on the mesh with all arguments in each style that places them otherwise."""
    check(sw.function(function)(*arrays), expected)
    seen: list[list[list[Any]]] = []
    for style in styles:
        layouts = [entries(array.shape, style) for array in arrays]
        if layouts not in seen:
            check(sw.function(function)(*[place(array, style) for array in arrays]), expected)
        seen.append(layouts)
