"""What a function is called with: which arguments are static, which arrays are in the others, and of what kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from shardwright.engines.jax.shardings import entries
from shardwright.frontends.functions.dtensor import DTensor, refuse_to_gather

Names = str | Iterable[str] | None
Numbers = int | Iterable[int] | None


@dataclass(frozen=True)
class Call:
    """The arrays of a call, how they are held in its arguments, and its static arguments, which are compared."""

    leaves: list[Any]
    tree: Any
    static: Hashable


class Static:
    """
    The arguments of a function that are static; as with `jax.jit`, numbers and names stand for each other.

    >>> Static(lambda x, n: x, None, "n").positions, Static(lambda x, n: x, -1, None).names
    ({1}, {'n'})
    """

    def __init__(self, function: Callable[..., Any], numbers: Numbers, names: Names) -> None:
        parameters = _positional(function)
        given = {numbers} if isinstance(numbers, int) else {*(numbers or ())}
        self.positions = {at + len(parameters) if at < 0 else at for at in given}
        self.names = {names} if isinstance(names, str) else {*(names or ())}
        if numbers is None:
            self.positions |= {at for at, name in enumerate(parameters) if name in self.names}
        if names is None:
            self.names |= {name for at, name in enumerate(parameters) if at in self.positions}

    def split(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
        """A call's arrays, in JAX's order, apart from its static arguments."""
        # 1, 1.0 and True are equal, and make other programs.
        fixed = tuple((at, type(arg), arg) for at, arg in enumerate(args) if at in self.positions)
        named = tuple((name, type(kwargs[name]), kwargs[name]) for name in sorted(self.names & kwargs.keys()))
        rest = tuple(arg for at, arg in enumerate(args) if at not in self.positions)
        others = {name: value for name, value in kwargs.items() if name not in self.names}
        leaves, tree = import_module("jax").tree.flatten((rest, others))
        return Call(leaves, tree, (fixed, named))


Kinds = tuple[tuple[Any, Any], ...]
"""The abstract value of each array, and the sharding of each that has been placed."""


def refuse_ours(leaves: Iterable[Any]) -> None:
    """Raises SW0579 for a distributed tensor, which JAX has no array for."""
    for leaf in leaves:
        if isinstance(leaf, DTensor):
            refuse_to_gather(leaf)


def kinds(leaves: Iterable[Any]) -> Kinds:
    """What a program depends on of its arrays."""
    typeof = import_module("jax").typeof
    found: list[tuple[Any, Any]] = []
    for leaf in leaves:
        placed = getattr(leaf, "committed", None)  # only JAX's arrays say so
        if placed is None:
            refuse_ours((leaf,))
        sharding = leaf.sharding if placed else None if placed is False else getattr(leaf, "sharding", None)
        found.append((typeof(leaf) if placed is None else leaf.aval, sharding))
    return tuple(found)


def spelled_alike(found: Kinds) -> Hashable:
    """The same for shardings that are written otherwise and mean the same, as `P("x")` and `P("x", None)` do."""
    return tuple((aval, _spelled(sharding, aval.ndim)) for aval, sharding in found)


def _spelled(sharding: Any, rank: int) -> Hashable:
    if not hasattr(sharding, "spec"):
        return sharding
    spec = sharding.spec
    axes = [(axes,) if isinstance(axes, str) else axes or () for axes in entries(spec)]
    return sharding.mesh, sharding.memory_kind, (*axes, *[()] * (rank - len(axes))), spec.unreduced, spec.reduced


def _positional(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters that may be given by position; none where the function does not say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in parameters if each.kind in kinds]
