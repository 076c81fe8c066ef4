"""What a checkpoint holds: the variables, arrays and plain values that are reached from some objects, by name."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import setitem
from typing import Any, cast

import numpy as np

from shardwright.frontends.arrays import random
from shardwright.frontends.arrays.random._keys import seeds
from shardwright.frontends.functions.dtensor import DTensor
from shardwright.frontends.training.modules import Module
from shardwright.frontends.training.optimizers import Optimizer
from shardwright.frontends.training.variables import Variable
from shardwright.layout import Layout
from shardwright.saving.faults import SavingError
from shardwright.saving.objects.walking import joined, parts_of

Put = Callable[[Any], None]

_PLAIN = (bool, int, float, complex, str, type(None))
_SLOTS = "slots"

DEPTH = 100
"""How deep containers may be nested."""

LINE = 80
"""How much of a name a fault shows."""


@dataclass(frozen=True)
class Leaf:
    """A value with a name, and what puts another one in its place."""

    value: Any
    put: Put

    @property
    def is_plain(self) -> bool:
        """Whether it is a number, text or None, not an array."""
        return type(self.value) in _PLAIN

    @property
    def layout(self) -> Layout | None:
        """The layout that an array has here, whatever it is in a checkpoint."""
        return self.value.layout if isinstance(self.value, Variable | DTensor) else None


@dataclass
class Found:
    """The leaves by name; `optimizers` and `variables` by the paths to them."""

    leaves: dict[str, Leaf] = field(default_factory=dict[str, Leaf])
    optimizers: dict[str, Optimizer] = field(default_factory=dict[str, Optimizer])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    faults: list[str] = field(default_factory=list[str])
    _seen: set[int] = field(default_factory=set[int])
    _open: list[int] = field(default_factory=list[int])

    @property
    def layouts(self) -> list[Layout]:
        """The layouts of all arrays that have one here."""
        return [leaf.layout for leaf in self.leaves.values() if leaf.layout is not None]

    def add(self, name: str, value: Any, put: Put) -> None:
        """Takes in a leaf; two of one name are a fault."""
        if name in self.leaves:
            self.faults.append(f"{name!r} is the name of two values")
        self.leaves[name] = Leaf(value, put)

    def first_time(self, item: Any) -> bool:
        """Whether an object was not reached before."""
        new = id(item) not in self._seen
        self._seen.add(id(item))
        return new

    @contextmanager
    def inside(self, container: Any, path: str) -> Generator[bool]:
        """While a container is looked through; whether that may be: it is in none of its own, and not too deep."""
        fault = "contains itself" if id(container) in self._open else None
        if len(self._open) >= DEPTH:
            fault = f"is nested more than {DEPTH} levels deep"
        if fault is not None:
            self.faults.append(f"{path[:LINE]!r} {fault}")
        self._open.append(id(container))
        try:
            yield fault is None
        finally:
            self._open.pop()


def find(objects: MutableMapping[str, Any], root: Any = None) -> Found:
    """
    Everything that is reached from named objects, and from a root whose parts have no name in front.

    Modules give their variables, under the names of `Module.named_variables`; dicts, lists and tuples also give arrays,
    numbers, text and None. Slashes in names are written `~1`, and `~` as `~0` (as JSON pointers do). What is reached
    twice counts once. Raises `ValueError` (SW0875) for anything else, all at once.
    """
    found = Found()
    if root is not None:
        _walk(found, "", root, _cannot_put, False)
    for name, item in objects.items():
        _walk(found, escaped(name), item, partial(objects.__setitem__, name), False)
    for path, optimizer in found.optimizers.items():
        _add_slots(found, path, optimizer)
    if found.faults:
        raise SavingError("SW0875", f"{len(found.faults)} values cannot be saved or restored", *found.faults)
    return found


def named(arrays: Mapping[str, Any]) -> Found:
    """Arrays that have the names of a checkpoint already; nothing can be restored into them."""
    return Found({name: Leaf(array, _cannot_put) for name, array in arrays.items()})


def build_slots(found: Found, names: Mapping[str, Any]) -> bool:
    """Lets optimizers make the states that a checkpoint has of variables, if they have made none; whether one did."""
    built = False
    for path, optimizer in found.optimizers.items():
        prefix = joined(path, _SLOTS) + "/"
        paths = dict.fromkeys(name[len(prefix) :].partition("/")[2] for name in names if name.startswith(prefix))
        known = {id(variable) for slots in optimizer.slots.values() for variable in slots}
        wanted = [found.variables[name] for name in paths if name in found.variables]
        new = [variable for variable in wanted if id(variable) not in known]
        optimizer.build(new)
        built = built or bool(new)
    return built


def _walk(found: Found, path: str, item: Any, put: Put, in_module: bool) -> None:
    """Takes in what an object holds; modules may have any other attributes, which are not looked at."""
    if isinstance(item, Variable):
        if found.first_time(item):
            found.variables[path] = item
            found.add(path, item, item.keep)
    elif isinstance(item, Module):
        if found.first_time(item):
            _walk_module(found, path, item)
    elif isinstance(item, Mapping | list | tuple):
        _walk_container(found, path, cast("Any", item), put, in_module)
    elif in_module:
        return
    elif item is random:
        found.add(joined(path, "seed"), seeds.seed, partial(setattr, seeds, "seed"))
        found.add(joined(path, "drawn"), seeds.drawn, partial(setattr, seeds, "drawn"))
    elif type(item) in _PLAIN or (
        isinstance(item, np.ndarray | DTensor | np.generic) and not isinstance(item, np.ma.MaskedArray)
    ):
        found.add(path, item, partial(_put_array, item, put) if isinstance(item, np.ndarray | np.generic) else put)
    else:
        found.faults.append(f"{path!r} is a {type(item).__name__}")


def _walk_module(found: Found, path: str, module: Module) -> None:
    own: tuple[str, ...] = ()
    if isinstance(module, Optimizer):
        found.optimizers[path] = module
        own = ("_slots", "_places")
    for name, part in parts_of(module):
        if name not in own:
            _walk(found, joined(path, escaped(name)), part, _cannot_put, True)


def _walk_container(found: Found, path: str, item: Any, put: Put, in_module: bool) -> None:
    with found.inside(item, path) as may:
        if not may:
            return
        if isinstance(item, tuple):  # equal ones may be one object, and yet be replaced one by one
            parts = list(cast("tuple[Any, ...]", item))
            put_part = partial(_put_in_tuple, type(item), parts, put)
        elif found.first_time(item):
            put_part = partial(setitem, item)
        else:
            return
        for key, part in parts_of(item):
            _walk(found, joined(path, escaped(str(key))), part, partial(put_part, key), in_module)


def _add_slots(found: Found, path: str, optimizer: Optimizer) -> None:
    """The states of an optimizer, named by the variables that they belong to, not by the order of their making."""
    names = {id(variable): name for name, variable in found.variables.items()}
    for slot, states in optimizer.slots.items():
        for place, (variable, state) in enumerate(states.items()):
            name = names.get(id(variable), f"#{place}")
            found.add("/".join((joined(path, _SLOTS), escaped(slot), name)), state, state.keep)


def _put_in_tuple(kind: Any, parts: list[Any], put: Put, index: int, value: Any) -> None:
    """A tuple cannot be changed: another one takes its place."""
    parts[index] = value
    put(kind(*parts) if hasattr(kind, "_fields") else kind(parts))


def _put_array(array: Any, put: Put, value: Any) -> None:
    """Arrays that can be written to are, so that everybody who has them sees it; others are replaced."""
    if isinstance(array, np.ndarray) and array.flags.writeable:
        array[...] = value
    else:
        put(value if isinstance(array, np.ndarray) else value[()])


def _cannot_put(value: Any) -> None:
    raise AssertionError("only what is held by a container can be replaced in it")


def escaped(name: str) -> str:
    """A part of a name, without the slashes that part names."""
    return name.replace("~", "~0").replace("/", "~1")
