"""How the axes of dims become those of factors and back: against arithmetic of where blocks begin, and by NumPy."""

from __future__ import annotations

import itertools
import math
from itertools import accumulate, pairwise

import numpy as np
import pytest

from shardwright.layout.axes import Axis, merge_adjacent
from shardwright.layout.mesh import Mesh
from shardwright.rules.rule import Axes, assemble, project

FACTORS = [sizes for count in (1, 2, 3) for sizes in itertools.product((2, 3, 4, 6), repeat=count)]
AXES = [sizes for count in (1, 2, 3) for sizes in itertools.product((2, 3, 4), repeat=count)]


def products(sizes: tuple[int, ...]) -> list[int]:
    return list(accumulate(sizes, lambda left, right: left * right, initial=1))


def divides(low: int, middle: int, high: int) -> bool:
    return middle % low == 0 and high % middle == 0


def follows(axes: tuple[int, ...], factors: tuple[int, ...]) -> bool:
    """Whether axes of these sizes split a dim so that each factor is split evenly, by whole axes or parts of them."""
    cuts, ends = products(axes), products(factors)
    parts = cuts[-1]
    inside = [end for end in ends if end < parts]
    if len(inside) == len(ends) and parts != ends[-1]:
        return False
    met = all(any(divides(low, end, high) for low, high in pairwise(cuts)) for end in inside)
    return met and any(divides(low, parts, high) for low, high in pairwise(ends))


def places(mesh: Mesh, axes: Axes) -> np.ndarray:
    """For each device of the mesh, in order, the number of its part along some axes."""
    found = np.zeros(math.prod(mesh.shape), int)
    coordinates = dict(zip(mesh.axis_names, np.indices(mesh.shape).reshape(len(mesh.shape), -1), strict=True))
    for axis in axes:
        start, stop = mesh.span(axis)
        size = mesh.sizes[axis.name]
        digit = coordinates[axis.name] // (size // stop) % (stop // start)
        found = found * (stop // start) + digit
    return found


def blocks(mesh: Mesh, axes: Axes, size: int) -> np.ndarray:
    """For each device which of the elements of a dim it holds."""
    parts = mesh.group_size(axes)
    return np.arange(size) // (size // parts) == places(mesh, axes)[:, None]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_axes_of_a_dim_are_those_of_its_factors(count: int) -> None:
    for factors, axes in itertools.product(FACTORS, AXES):
        total = math.prod(factors)
        if len(axes) != count or total % math.prod(axes) or total > 72:
            continue
        mesh = Mesh(list(zip("xyz", axes, strict=False)))
        dim = tuple(Axis(name) for name in mesh.axis_names)
        tensor = (tuple(range(len(factors))),)
        found, exact = project([dim], tensor, factors, mesh)
        assert exact == follows(axes, factors), (axes, factors)
        # Whatever is found says which digits of an element's number a device holds.
        digits = np.unravel_index(np.arange(total), factors)
        held = np.ones((math.prod(axes), total), bool)
        for factor, mine in found.items():
            held &= blocks(mesh, mine, factors[factor])[:, digits[factor]]
        whole = blocks(mesh, dim, total)
        assert (held == whole).all() if exact else (held >= whole).all()
        if exact:
            (back,) = assemble(found, tensor, factors, mesh)
            assert merge_adjacent(back, mesh.sizes) == dim


def test_axes_of_a_factor_count_when_those_before_it_are_split_completely() -> None:
    mesh, (x, y) = Mesh(x=2, y=2), (Axis("x"), Axis("y"))
    by_factor = {0: (x,), 1: (y,)}
    assert assemble(by_factor, ((0, 1), (1,), ()), (4, 4), mesh) == ((x,), (y,), ())
    assert assemble(by_factor, ((0, 1), (1,), ()), (2, 4), mesh) == ((x, y), (y,), ())
    assert assemble({1: (y,)}, ((0, 1),), (2, 4), mesh) == ((),)
