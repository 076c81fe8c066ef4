"""On which numbers two programs are compared, how often, and with which decisions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from shardwright.dialects import stablehlo
from shardwright.dialects.trip_count import trip_count
from shardwright.dialects.types import element_dtype, element_of, is_boolean, shape_of
from shardwright.proof.exact import PRIME, is_number
from shardwright.proof.work import EASY

TRIALS = 8
"""How often programs are compared: what integers decide, they decide otherwise on other numbers. Few, more often."""

FEW = 16
"""Elements of an array that is drawn more often, for it holds few places."""


def draw(
    generator: np.random.Generator,
    shape: Sequence[int],
    element: Attribute,
    extents: Sequence[int] = (40,),
    tame: bool = False,
) -> np.ndarray[Any, Any]:
    """
    Random elements: any number of the field for floats; for integers places in dims of these `extents`.

    One integer in eight lies beyond its dim, on either side; in small arrays, one in two. Tame floats are few small
    numbers, all of one sign or of both: what is compared with a constant is not always larger.
    """
    dtype = element_dtype(element)
    if is_number(element):
        low, high = ((-3, 3), (-3, 0), (0, 3))[generator.integers(3)] if tame else (-(PRIME // 2), PRIME // 2)
        return generator.integers(low, high + 1, shape).astype(np.float64)
    if is_boolean(element):
        return generator.integers(0, 2, shape).astype(bool)
    limits = (0, 1) if dtype.name.endswith(("int2", "int4")) else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    extent = np.asarray(generator.choice(extents, shape))
    places = (generator.random(shape) * extent).astype(np.int64)
    beyond = np.where(generator.random(shape) < 0.5, extent + places, -1 - places)
    often = 0.5 if extent.size < FEW else 0.125
    return np.where(generator.random(shape) < often, beyond, places).clip(*limits).astype(dtype)


def extents_of(module: ModuleOp) -> list[int]:
    """The numbers that integers are places among: the extents of dims, and how many branches a choice has."""
    shapes = {shape_of(value) for op in module.walk() for value in op.results if isinstance(value.type, TensorType)}
    branches = {len(op.regions) for op in module.walk() if isinstance(op, stablehlo.CaseOp)}
    return sorted({extent for shape in shapes for extent in shape if extent > 1} | branches | {2})


def turns(module: ModuleOp) -> int:
    """How often a program runs with other decisions: each branch is taken, numbers are finite or not, loops go on."""
    most = 1
    for op in module.walk():
        if isinstance(op, stablehlo.CaseOp | stablehlo.IfOp):
            most = max(most, min(len(op.regions), 4))
        elif isinstance(op, stablehlo.IsFiniteOp):
            most = max(most, 2)
        elif isinstance(op, stablehlo.WhileOp) and trip_count(op) is None:
            most = max(most, 4)
    return most


def trials_of(main: FuncOp, cost: float, turns: int) -> int:
    """How often to compare in each turn: wild numbers and tame ones, at least, where that takes no long time."""
    few = any(not is_number(element_of(v)) and math.prod(shape_of(v)) < FEW for v in main.body.block.args)
    return max(1 + (cost <= EASY), min(8 * TRIALS if few else TRIALS, int(EASY // cost)) // turns)
