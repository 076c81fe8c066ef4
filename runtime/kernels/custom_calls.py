"""Custom calls whose kernel is a user's own function, called for the part of each device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.runtime.kernels.elementwise import Array

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""What was registered, by the target of the call."""


def custom_call(xp: Any, *given: Any) -> Any:
    """
    What a registered function gives for operands, of which it sees one device's part at a time.

    After the operands come the target, how many dims stand for devices, shape and dtype of each result, and what the
    call says besides. Raises SW0434 for results of other shapes or types.

    >>> FUNCTIONS["twice"] = lambda part: part * 2
    >>> custom_call(np, np.ones((2, 1, 3)), "twice", 2, (((3,), "float64"),), {}).tolist()
    [[[2.0, 2.0, 2.0]], [[2.0, 2.0, 2.0]]]
    >>> del FUNCTIONS["twice"]
    """
    *operands, target, lead, types, options = given
    fronts = np.broadcast_shapes((1,) * lead, *(operand.shape[:lead] for operand in operands))
    results = [xp.empty((*fronts, *shape), np.dtype(dtype)) for shape, dtype in types]
    for place in np.ndindex(fronts):
        found = _called(target, [_part(operand, place) for operand in operands], types, options)
        for result, part in zip(results, found, strict=True):
            result[place] = part
    return results if len(results) != 1 else results[0]


custom_effect = custom_call
"""The same for functions that are called for what happens in them."""


def _part(operand: Array, place: Sequence[int]) -> Array:
    """One device's part; where a value is the same along an axis, there is one for all."""
    return operand[tuple(min(index, extent - 1) for index, extent in zip(place, operand.shape, strict=False))]


def _called(
    target: str, parts: Sequence[Array], types: Sequence[tuple[Any, str]], options: Mapping[str, Any]
) -> Sequence[Array]:
    """The results for one device, of the shapes and types that the program says."""
    if target not in FUNCTIONS:
        help_text = f"register it before it runs: shardwright.register_custom_call({target!r}, rule, kernel)"
        raise ShardwrightError(Diagnostic("SW0431", f"the custom call @{target} has no kernel", help=help_text))
    found = FUNCTIONS[target](*parts, **options)
    results = [*found] if isinstance(found, tuple | list) else [found]
    gives = [(tuple(np.shape(one)), str(getattr(one, "dtype", type(one).__name__))) for one in results]
    wanted = [(tuple(shape), str(np.dtype(dtype))) for shape, dtype in types]
    if gives != wanted:
        raise ShardwrightError(
            Diagnostic(
                "SW0434",
                f"the kernel of @{target} gives {_listed(gives)}, but the program says {_listed(wanted)}",
                help="a kernel gives each device's part of each result: as arrays, several in a tuple",
            )
        )
    return results


def _listed(types: Sequence[tuple[tuple[int, ...], str]]) -> str:
    return ", ".join(f"{dtype}{list(shape)}" for shape, dtype in types) or "nothing"
